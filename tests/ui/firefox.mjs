// SPDX-License-Identifier: Apache-2.0
// firefox.mjs: a smoke tour of the viewer and of a report in Debian's firefox-esr (FIREFOX names another), over WebDriver BiDi.
//
//	node tests/ui/firefox.mjs BUILD/incore
import puppeteer from 'puppeteer-core';
import { CHECKLIST, clean, equal, PATIENCE_MS, report, sameVerdict, Server, setProgram, truth, verb } from './lib.mjs';

setProgram(process.argv[2]);

/** Opens an address; what the page complains of is kept. */
async function opened(browser, url) {
	const page = await browser.newPage(), bad = [];
	page.setDefaultTimeout(PATIENCE_MS);
	page.on('console', (m) => m.type() === 'error' && bad.push(`console: ${m.text()}`));
	page.on('pageerror', (e) => bad.push(`exception: ${e.stack ?? e.message ?? e}`));
	await page.setViewport({ width: 1280, height: 800 });
	await page.goto(url);
	await page.waitForFunction(() => document.body.dataset.ready === '1' && window.incore.stats().frames > 0 && window.incore.stats().tiles_waiting === 0);
	return { page, bad };
}

/** Lanes have been drawn: the canvas of the timeline holds several colours. */
async function lanes(page) {
	const n = await page.evaluate(() => Math.max(...[...document.querySelectorAll('.timeline canvas')].map((c) => {
		const p = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer);
		return new Set(p.filter((_, i) => i % 31 === 0)).size;
	})));
	truth(n > 4, `the lanes have ${n} colours`);
}

/** Every panel opens and shows something. */
async function panels(page) {
	for (const { id } of CHECKLIST.panels) {
		const tab = await page.$(`.tab[data-panel="${id}"]`);
		if (!tab) continue; // of captures that have what it shows
		await tab.click();
		await page.waitForFunction((p) => document.querySelector(`.panel[data-panel="${p}"]`)?.querySelector('.table, .notice:not([role=status]), .summary, .plot, canvas, .plain, .facts'), {}, id);
	}
}

/** One selection: a row of the listing marks the inspector and the lanes; zooming and going back. */
async function select(page) {
	await page.evaluate(() => {
		const app = window.incore.app();
		app.openPanel('isa');
		app.select({ kind: 'code', code: app.codeOfRow(13) });
	});
	await page.waitForFunction(() => window.incore.stats().state.selection?.kind === 'code' && /s_waitcnt vmcnt\(0\)/.test(document.querySelector('.inspector')?.textContent ?? ''));
	const before = await page.evaluate(() => window.incore.stats().state.t1);
	await page.focus('.timeline');
	await page.keyboard.press('w');
	await page.waitForFunction((t) => window.incore.stats().state.t1 !== t, {}, before);
}

async function visit(browser, url, kind) {
	const { page, bad } = await opened(browser, url), d = verb('summary', 'gemm');
	await lanes(page);
	await panels(page);
	await (await page.$('.tab[data-panel="summary"]')).click();
	await page.waitForSelector('.summary .verdict li');
	sameVerdict(await page.$$eval('.summary .verdict li', (all) => all.map((e) => e.textContent)), d.verdict);
	await select(page);
	equal(bad, [], `what the ${kind} complained of`);
	await page.close();
}

async function main() {
	const browser = await puppeteer.launch({ browser: 'firefox', executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr', headless: true, protocolTimeout: PATIENCE_MS });
	const server = await Server.start('gemm');
	let failed = 0;
	for (const [kind, url] of [['viewer', server.url], ['report', report('gemm')]]) {
		try {
			await visit(browser, url, kind);
			console.log(`ok   firefox: the ${kind}`);
		} catch (e) {
			failed++;
			console.log(`FAIL firefox: the ${kind}\n${e.stack ?? e}`);
		}
	}
	failed += (await server.stop()) ? 1 : 0;
	await browser.close();
	clean();
	console.log(`${2 - Math.min(failed, 2)} passed, ${failed} failed, 0 skipped`);
	return failed;
}

main().then((n) => process.exit(n ? 1 : 0), (e) => {
	console.log(e.stack ?? e);
	console.log('0 passed, 1 failed, 0 skipped');
	process.exit(1);
});
