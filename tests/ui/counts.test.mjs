// SPDX-License-Identifier: Apache-2.0
// What keeps the viewer fast, as exact counts on 20 million slices: tiles and bytes of a viewport, requests while panning, drawing calls,
// elements of the page, the cache. No time is measured.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { altered, comes, equal, maker, panel, scratch, truth } from './lib.mjs';
import { openTab } from './panels.mjs';
import { still } from './select.test.mjs';

const CELLS = 512, ROWS = 64, TIMES = Number(process.env.TIMES ?? 1);

/** A packed trace of 20 million slices: 1,024 waves, so many of them in each slot. */
function many(waves) {
	const dir = path.join(scratch, `many-${waves}`), file = path.join(dir, 'many.incore');
	if (!existsSync(file)) {
		mkdirSync(dir, { recursive: true });
		execFileSync(maker(), ['20', String(waves), file]);
	}
	return file;
}

/** A page whose lanes are 1,920 pixels wide, 60 of them in sight. */
async function wide(bench, file) {
	const page = await bench.page(file, { viewport: { width: 2626, height: 1500 } });
	page.isHeld = true; // the verbs of 20 million slices take their time, and nothing here reads them
	await page.waitForFunction(() => document.querySelector('.panel-isa .table-row') && !/Checking/.test(document.querySelector('.banner')?.textContent ?? 'Checking'));
	await page.evaluate(() => window.incore.app().store.set({ isBottomOpen: false }));
	await still(page);
	const [lanes, high, across] = await page.evaluate(() => {
		const { view } = window.incore.pane(), rows = view.visible().filter((r) => r.lane);
		return [rows.length, rows[0].height, document.querySelector('.lanes-stage canvas').width];
	});
	await page.setViewportSize({ width: 2626 + 1920 - across, height: 1500 - Math.max(0, Math.round((lanes - 60) * high)) });
	await still(page);
	const seen = await page.evaluate(() => [window.incore.pane().view.visible().filter((r) => r.lane).length, document.querySelector('.lanes-stage canvas').width]);
	truth(seen[0] >= 58 && seen[0] <= 64 && seen[1] === 1920, `lanes in sight and their width: ${seen}`);
	return page;
}

async function show(page, t0, t1) {
	await page.evaluate(([a, b]) => window.incore.app().store.set({ t0: a, t1: b }), [t0, t1]);
	await still(page);
	return page.evaluate(() => window.incore.stats());
}

/** Whichever waves a lane shows, and in whichever order the lanes are. */
async function viewport(bench, waves, sort) {
	const page = await wide(bench, many(waves)), asked = [];
	await page.evaluate((by) => window.incore.app().store.set({ sort: by }), sort);
	if (sort === 'stall') await page.waitForFunction(() => window.incore.pane().view.stalls.of(0) > 0);
	await still(page);
	page.on('response', (r) => {
		const u = new URL(r.url());
		if (u.pathname === '/api/1/tile') asked.push({ level: Number(u.searchParams.get('level')), i: Number(u.searchParams.get('i')), lanes: u.searchParams.get('lanes').split(',').length, bytes: Number(r.headers()['content-length']) });
	});
	const end = await page.evaluate(() => window.incore.app().trace.span.end);
	equal(await page.evaluate(() => window.incore.app().trace.counts.slices), 19999744, 'slices');
	let most = 0, exact = 0;
	for (const [part, at] of [[0.5, 0.1], [0.24, 0.31], [0.1, 0.77], [0.049, 0.5], [0.011, 0.13], [0.0004, 0.61]]) {
		asked.length = 0;
		const before = await page.evaluate(() => window.incore.stats().tile_requests), t0 = end * at, t1 = end * (at + part), s = await show(page, t0, t1);
		exact += s.is_exact;
		truth(s.dom_nodes <= 3000, `${s.dom_nodes} elements`);
		truth(s.draw_calls <= (s.is_exact ? 4000 + 2 * s.rows : 4 * s.rows), `${s.draw_calls} drawing calls for ${s.rows} lanes, ${s.is_exact ? 'slices' : 'tiles'}`);
		if (s.is_exact) {
			equal(s.tile_requests, before, 'single slices need no tile');
			continue;
		}
		await comes(() => asked.length >= s.tile_requests - before);
		const size = CELLS * 2 ** s.level, own = asked.filter((a) => a.level === s.level), seen = own.filter((a) => a.i * size < t1 && (a.i + 1) * size > t0);
		truth(size / CELLS >= (t1 - t0) / 1920 && size / CELLS <= (2 * (t1 - t0)) / 1920, `a cell of ${size / CELLS} cycles for ${(t1 - t0) / 1920} a pixel`);
		truth(seen.length >= 2 && seen.length <= 5, `${part} of the trace: ${seen.length} tiles in sight`);
		truth(own.length <= 15, `${part} of the trace: ${own.length} tiles with both neighbours`);
		const bytes = seen.reduce((n, a) => n + a.bytes, 0);
		truth((bytes / ROWS) * 60 <= 0.62e6, `${part} of the trace: ${bytes} bytes for ${ROWS} lanes`);
		truth(own.every((a) => a.lanes <= ROWS), `lanes of a tile: ${own.map((a) => a.lanes)}`);
		equal(s.tile_requests - before, own.length, `every request is of this level: ${JSON.stringify(asked)}`);
		most = Math.max(most, seen.length);
		const { by_path: quiet } = s, span = t1 - t0;
		for (const by of [0.02, 0.5, 0.98, 0, -0.98, 0]) {
			const a = Math.max(0, Math.min(end - span, t0 + by * span));
			await show(page, a, a + span);
		}
		equal((await page.evaluate(() => window.incore.stats())).by_path, quiet, `${part} of the trace: requests while a pan stays within the neighbours`);
		if (t1 + 1.5 * span > end) continue;
		truth((await show(page, t0 + 1.5 * span, t1 + 1.5 * span)).by_path.tile > quiet.tile, 'beyond them there is something to ask for');
	}
	truth(most >= 3 && exact >= 1, `tiles in sight at most ${most}; single slices at ${exact} zooms`);
	for (const id of ['isa', 'waves']) {
		await page.evaluate(() => window.incore.app().store.set({ isBottomOpen: true }));
		await page.evaluate(openTab, id);
		const nodes = await page.evaluate(() => window.incore.stats().dom_nodes);
		truth(nodes <= 3000, `${id}: ${nodes} elements in the page`);
	}
	await page.evaluate(() => window.incore.app().store.set({ arrows: 'visible', t0: 0, t1: 40000, isBottomOpen: false }));
	await page.waitForFunction(() => window.incore.pane().overlay.arrows.links.length > 0);
	const [drawn, more] = await page.evaluate(() => [window.incore.pane().overlay.arrows.links.length, window.incore.pane().overlay.arrows.more]);
	truth(drawn <= 2000 && more > 0, `${drawn} arrows, ${more} more told`);
}

/** However much is looked at, the cache keeps at most 64 MB, and what is in sight stays in it. */
async function cache(bench) {
	const page = await wide(bench, many(8)), end = await page.evaluate(() => window.incore.app().trace.span.end);
	let most = 0, asked = 0;
	page.on('response', (r) => {
		if (new URL(r.url()).pathname === '/api/1/tile') asked += Number(r.headers()['content-length']);
	});
	for (let i = 0; i < 80 * TIMES || (asked <= 80 << 20 && i < 800); i++) {
		const part = [0.3, 0.05, 0.03, 0.012][i % 4], t0 = end * ((i * 0.137) % (1 - part));
		await page.evaluate((mode) => window.incore.app().store.set({ mode }), ['class', 'bucket', 'kernel'][i % 3]);
		const s = await show(page, t0, t0 + end * part);
		most = Math.max(most, s.tile_bytes);
		truth(s.tile_bytes <= 64 << 20, `${s.tile_bytes} bytes of tiles`);
		truth(s.dom_nodes <= 3000, `${s.dom_nodes} elements`);
	}
	truth(asked > 64 << 20, `only ${asked} bytes were ever asked for, at most ${most} kept: nothing is tested`);
}

/** A listing of 100,000 rows has a handful of them in the page, and shows the one that is asked for. */
async function longListing(bench) {
	const dir = altered('gemm', 'long', (text, name) => {
		if (name !== 'code.json') return text;
		const d = JSON.parse(text), last = d.code[d.code.length - 1];
		for (let i = 1; i <= 100000; i++) d.code.push(['s_nop 0', 0, last[2] + i, '', last[4], last[5] + 4 * i, 0, 0, 0, 0]);
		return JSON.stringify(d);
	});
	const page = await bench.page(dir);
	await panel(page, 'isa');
	await page.waitForSelector('.panel-isa .table-row');
	const all = Number(await page.getAttribute('.panel-isa .table', 'aria-rowcount'));
	truth(all > 100000, `${all} rows`);
	for (const part of [0.25, 0.5, 1]) {
		await page.evaluate((p) => { const t = document.querySelector('.panel-isa .table'); t.scrollTop = p * t.scrollHeight; }, part);
		await page.waitForFunction((at) => [...document.querySelectorAll('.panel-isa .table-row')].some((r) => Math.abs(Number(r.dataset.index) - at) < 60), Math.floor(part * (all - 2)));
		truth((await page.evaluate(() => window.incore.stats().dom_nodes)) <= 3000, 'too many elements');
	}
	await page.evaluate(() => window.incore.app().select({ kind: 'code', code: 90000 }));
	await page.waitForSelector('.panel-isa .table-row.marked[data-key="90000"]');
}

export const tests = [
	{ name: 'counts: a viewport of 20 million slices', run: (bench) => viewport(bench, 1, 'track') },
	{ name: 'counts: a viewport, eight waves in each slot', run: (bench) => viewport(bench, 8, 'track') },
	{ name: 'counts: a viewport, lanes in another order', run: (bench) => viewport(bench, 2, 'stall') },
	{ name: 'counts: the cache of tiles', run: cache },
	{ name: 'counts: a listing of 100,000 rows', run: longListing },
];
