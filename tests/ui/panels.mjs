// SPDX-License-Identifier: Apache-2.0
// panels.mjs: what a window shows when a capture is opened, and what each of its panels shows to a person who looks for figures.
import { CHECKLIST, count, equal, truth, verb } from './lib.mjs';

/** Opens a capture or its report: title, evidence, number of lanes and banner say what `incore info` and `incore check` say. */
export async function opens(bench, name) {
	const page = await bench.page(name), info = verb('info', name), check = verb('check', name);
	equal((await page.title()).replace(/ - incore$/, ''), info.kernel || 'unknown kernel', 'title of the page');
	equal(await page.textContent('.title-bar .evidence'), info.evidence, 'evidence');
	equal(await page.$$eval('.title-bar .tracks', (all) => all.map((e) => e.textContent)), info.waves ? [`${count(info.waves)} ${info.vendor === 'ascend' ? 'pipe' : 'wave'}${info.waves === 1 ? '' : 's'}`] : [], 'tracks');
	equal(await page.evaluate(() => window.incore.app().trace.tracks.length), info.waves ?? 0, 'tracks of the trace');
	await page.waitForFunction(() => !/Checking/.test(document.querySelector('.banner')?.textContent ?? 'Checking'));
	const banner = await page.innerText('.banner');
	truth(banner.startsWith(check.verdict), `banner "${banner}" does not begin with ${check.verdict}`);
	const [worst] = check.findings;
	if (worst) truth(banner.includes(worst.message), `banner "${banner}" does not tell ${worst.message}`);
	const words = { 'vendor-simulator': /simulator, not from hardware/, estimate: /estimate of the embedded model, not a measurement/ }[info.evidence];
	if (words) truth(words.test(banner), 'the banner hides what kind of evidence it is');
	return page;
}

/** Runs in the page: what a panel shows to a person who looks for figures: its own words, pictures, rows; and what is missing. */
export function look(host) {
	const CONTROLS = 'button, select, option, input, label, .table-head, .panel-head, .panel-tools, textarea, script';
	const isSeen = (e) => e.getClientRects().length > 0;
	const words = (root, skip) => {
		const out = [], walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
		for (let n = walk.nextNode(); n; n = walk.nextNode()) if (n.data.trim() && isSeen(n.parentElement) && !(skip && n.parentElement.closest(skip))) out.push(n.data.trim());
		return out.join(' ');
	};
	const faults = [], said = words(host, CONTROLS), plots = [...host.querySelectorAll('canvas, svg')].filter(isSeen);
	if (said.length < 20 && !plots.length) faults.push(`says nothing but "${said}"`);
	for (const c of plots) if (c.tagName === 'CANVAS' && !(c.getAttribute('aria-label') ?? c.closest('[aria-label]')?.getAttribute('aria-label') ?? '').trim()) faults.push('a picture without words');
	for (const s of host.querySelectorAll('.panel-section')) {
		const title = s.querySelector('h3')?.textContent ?? '';
		if (isSeen(s) && words(s, CONTROLS).length < 3 && ![...s.querySelectorAll('canvas, svg')].some(isSeen)) faults.push(`section "${title}" is empty`);
	}
	for (const t of host.querySelectorAll('.table')) {
		const n = Number(t.getAttribute('aria-rowcount')) - 1;
		if (isSeen(t) && n === 0 && words(t, '.table-head').length < 22) faults.push(`table "${t.getAttribute('aria-label')}" has no rows and gives no reason: "${words(t, '.table-head')}"`);
	}
	const all = words(host), odd = /.{0,30}(undefined|NaN|\[object|Infinity).{0,20}/s.exec(all);
	if (odd) faults.push(`shows "${odd[0]}"`);
	const nodes = document.querySelectorAll('*').length;
	if (nodes > 3000) faults.push(`${nodes} elements in the page`);
	return { faults, said, all };
}

/** Runs in the page: opens one panel and waits until it has all its answers. */
export async function openTab(id) {
	const frame = () => new Promise((f) => requestAnimationFrame(f));
	document.querySelector(`.tab[data-panel="${id}"]`).click();
	for (const until = performance.now() + 120000; performance.now() < until; await frame()) {
		const host = document.querySelector(`.panel[data-panel="${id}"]`);
		if (host?.querySelector('.table, .notice:not([role=status]), .screen, .summary, .plot, canvas, .plain, .facts') && !host.querySelector('.notice[role=status]') && !window.incore.stats().waiting) {
			await frame();
			if (window.incore.stats().waiting) continue;
			await frame();
			return host;
		}
	}
	throw new Error(`${id} stays blank: "${document.querySelector(`.panel[data-panel="${id}"]`)?.innerText}"`);
}

/** Every panel of the checklist, in turn: nothing blank; the text of each. */
export async function everyPanel(page, name) {
	const tabs = await page.$$eval('.tab', (all) => all.map((t) => t.dataset.panel));
	for (const p of CHECKLIST.panels.filter((x) => !x.only)) truth(tabs.includes(p.id), `${name} has no panel ${p.id}`);
	const seen = {};
	for (const id of tabs) {
		const host = await page.evaluateHandle(openTab, id);
		seen[id] = await host.evaluate(look);
	}
	equal(Object.entries(seen).flatMap(([id, s]) => s.faults.map((f) => `${id}: ${f}`)), [], `panels of ${name}`);
	return Object.fromEntries(Object.entries(seen).map(([id, s]) => [id, s.all]));
}

