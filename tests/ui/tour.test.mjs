// SPDX-License-Identifier: Apache-2.0
// A tour of twelve stops at two window sizes, kept as pictures in BUILD/tour, to be looked at by a person. PICTURES=1 also makes those of
// docs/pictures, which the README shows.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { comes, equal, panel, programFile, report, ROOT, truth } from './lib.mjs';

const SIZES = [{ width: 1600, height: 1000 }, { width: 1280, height: 720 }];
const REPEATED = ['repeated/ui_output_agent_1000_dispatch_7', 'repeated/ui_output_agent_1000_dispatch_9'];

/** Selects the longest instance of a row; what waits for it is drawn. */
async function row(page, n) {
	await page.evaluate((r) => {
		const app = window.incore.app();
		app.select({ kind: 'code', code: app.codeOfRow(r) });
	}, n);
}

/** A box over the first lanes. */
async function box(page) {
	await page.evaluate(() => window.incore.app().select({ kind: 'box', t0: 1500, t1: 3500, tracks: [0, 1, 2] }));
	await page.waitForSelector('.box-statistics [role=row]');
}

const stops = [
	{ name: '01-first-view', on: 'gemm', picture: 'view', act: (page) => row(page, 13) },
	{ name: '02-first-view-dark', on: 'gemm', dark: true, act: (page) => row(page, 17) },
	{ name: '03-box', on: 'gemm', act: box },
	{ name: '04-source', on: 'gemm', panel: 'source' },
	{ name: '05-hotspots-dark', on: 'gemm', panel: 'hotspots', dark: true },
	{ name: '06-waits', on: 'gemm', panel: 'waits' },
	{ name: '07-occupancy', on: 'gemm', panel: 'occupancy' },
	{ name: '08-summary-dark', on: 'gemm', panel: 'summary', dark: true },
	{ name: '09-compare', on: REPEATED, panel: 'compare', picture: 'compare', act: (page) => page.evaluate(() => {
		const app = window.incore.app();
		app.store.set({ base: app.trace.captures.find((c) => c.index !== app.trace.index).hash });
	}) },
	{ name: '10-pipes', on: 'ascend_matmul' },
	{ name: '11-report', on: 'report:gemm' },
	{ name: '12-written-report', on: 'report:gemm', picture: 'report', isPaper: true },
];

async function picture(page, name) {
	const cdp = await page.context().newCDPSession(page), shot = await cdp.send('Page.captureScreenshot', { format: 'webp', quality: 40 });
	mkdirSync(path.join(ROOT, 'docs', 'pictures'), { recursive: true });
	writeFileSync(path.join(ROOT, 'docs', 'pictures', name + '.webp'), Buffer.from(shot.data, 'base64'));
}

/** How many colours there are among some thousand pixels of a picture: an empty page has one. */
function colours(page, png) {
	return page.evaluate(async (data) => {
		const image = await createImageBitmap(await (await fetch('data:image/png;base64,' + data)).blob()), g = new OffscreenCanvas(image.width, image.height).getContext('2d');
		g.drawImage(image, 0, 0);
		const p = new Uint32Array(g.getImageData(0, 0, image.width, image.height).data.buffer);
		return new Set(p.filter((_, i) => i % 97 === 0)).size;
	}, png.toString('base64'));
}

async function visit(bench, stop) {
	const options = { viewport: SIZES[0], colorScheme: stop.dark ? 'dark' : 'light' }, dir = path.join(path.dirname(programFile()), 'tour');
	const page = stop.isPaper ? await bench.blank({ ...options, javaScriptEnabled: false }) : await bench.page(stop.on, options);
	if (stop.isPaper) await page.goto(report(stop.on.slice(7)));
	await stop.act?.(page);
	if (stop.panel) await panel(page, stop.panel);
	mkdirSync(dir, { recursive: true });
	const blank = await bench.blank();
	for (const size of SIZES) {
		await page.setViewportSize(size);
		if (!stop.isPaper) truth(await comes(() => page.evaluate(() => window.incore.stats().tiles_waiting === 0 && !document.querySelector('.panel .notice[role=status]'))), 'the page does not come to rest');
		if (process.env.PICTURES && stop.picture && size === SIZES[0]) await picture(page, stop.picture);
		const png = await page.screenshot({ path: path.join(dir, `${stop.name}-${size.width}x${size.height}.png`) });
		equal([png.readUInt32BE(16), png.readUInt32BE(20)], [size.width, size.height], 'size of the picture');
		equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, `${stop.name} at ${size.width}: wider than the window`);
		truth((await colours(blank, png)) > 8, `${stop.name} at ${size.width} is empty`);
	}
}

export const tests = stops.map((stop) => ({ name: `tour: ${stop.name}`, run: (bench) => visit(bench, stop) }));
