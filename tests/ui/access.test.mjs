// SPDX-License-Identifier: Apache-2.0
// For everybody: the tree that a screen reader sees, the order of focus, what is said aloud, contrast, targets, small and zoomed windows.
import { equal, panel, truth, verb } from './lib.mjs';
import { openTab } from './panels.mjs';
import { get, still } from './select.test.mjs';

const INTERACTIVE = new Set(['button', 'link', 'textbox', 'searchbox', 'combobox', 'checkbox', 'slider', 'tab', 'treeitem', 'grid', 'menuitem', 'separator', 'listbox', 'spinbutton', 'radio']);

/** The accessibility tree as the browser makes it: [{role, name}] of what is not ignored. */
export async function tree(page) {
	const client = await page.context().newCDPSession(page), { nodes } = await client.send('Accessibility.getFullAXTree');
	await client.detach();
	return nodes.filter((n) => !n.ignored).map((n) => ({ role: n.role?.value, name: (n.name?.value ?? '').trim(), properties: Object.fromEntries((n.properties ?? []).map((p) => [p.name, p.value.value])) }));
}

async function roles(bench, name) {
	const page = await bench.page(name), tabs = await page.$$eval('.tab', (all) => all.map((t) => t.dataset.panel));
	for (const id of tabs) {
		await page.evaluate(openTab, id);
		const nodes = await tree(page), of = (role) => nodes.filter((n) => n.role === role);
		equal(nodes.filter((n) => INTERACTIVE.has(n.role) && !n.name).map((n) => n.role), [], `${id}: what has no name`);
		equal(await page.$$eval('.dock > .tabs [role=tab][aria-selected=true]', (all) => all.map((t) => t.dataset.panel)), [id], 'the tab that is chosen');
		truth(of('tabpanel').some((p) => p.name), `${id}: the panel is named after its tab`);
		for (const role of ['banner', 'main', 'search', 'tree', 'tablist', 'status']) truth(of(role).length >= 1, `${id}: nothing has the role ${role}: ${[...new Set(nodes.map((n) => n.role))].sort()}`);
		equal(nodes.filter((n) => n.role === 'image' && !n.name).length, 0, `${id}: pictures without words`);
	}
	const wrong = await page.evaluate(() => {
		const out = [];
		for (const i of document.querySelectorAll('[id]')) if (document.querySelectorAll('#' + CSS.escape(i.id)).length > 1) out.push('id twice: ' + i.id);
		if (!document.documentElement.lang) out.push('no lang');
		for (const c of document.querySelectorAll('canvas')) if (c.getClientRects().length && !c.closest('[aria-hidden=true]') && !c.closest('[aria-label]')) out.push('canvas without words');
		return out;
	});
	equal(wrong, [], 'the page');
}

/** Tab goes through the parts of the window as one reads them, and back; the focus can be seen. */
async function focusOrder(bench, name) {
	const page = await bench.page(name), PARTS = ['title-bar', 'banner', 'explorer', 'timeline', 'inspector', 'dock'], order = [], unseen = [];
	await page.evaluate(() => window.incore.pane()?.goSlice(0, 3));
	await page.waitForFunction(() => document.querySelector('.inspector button'));
	await still(page); // an answer that comes draws anew what may have the focus
	await page.evaluate(() => document.activeElement.blur());
	for (let i = 0; i < 160; i++) {
		await page.keyboard.press('Tab');
		const at = await page.evaluate((parts) => {
			const e = document.activeElement, host = parts.find((p) => e.closest('.' + p));
			const rings = (x) => !!x && (getComputedStyle(x).outlineStyle !== 'none' && parseFloat(getComputedStyle(x).outlineWidth) >= 1 || getComputedStyle(x).boxShadow !== 'none');
			const isShown = rings(e) || (e.matches('.tree') && rings(e.querySelector('.cursor'))) || (e.matches('.lanes') && rings(document.querySelector('.timeline-tools')));
			return e === document.body ? null : { host: host ?? e.tagName, isShown, what: e.outerHTML.slice(0, 80) };
		}, PARTS);
		if (!at) break;
		if (!at.isShown) unseen.push(at.what);
		if (order[order.length - 1] !== at.host) order.push(at.host);
		if (order.filter((o) => o === 'title-bar').length > 1) break;
	}
	const parts = order.filter((o) => PARTS.includes(o)), first = PARTS.filter((p) => parts.includes(p));
	equal([...new Set(parts)], first, `order of focus: ${order}`);
	for (const p of ['title-bar', 'explorer', 'timeline', 'inspector', 'dock']) truth(parts.includes(p), `Tab never reaches ${p}: ${order}`);
	equal(unseen, [], 'focus that cannot be seen');
}

/** The lanes are a grid: arrow keys move by slice and lane, and what is there is said. */
async function spoken(bench, name) {
	const page = await bench.page(name), live = () => page.textContent('.sr-only[aria-live]');
	await still(page);
	await page.focus('.timeline [role=grid]');
	await page.evaluate(() => window.incore.pane().goSlice(0, 4));
	await page.waitForFunction(() => window.incore.stats().state.selection?.slice === 4);
	await page.focus('.timeline [role=grid]');
	const here = async (track, slice) => {
		await page.waitForFunction(([t, s]) => window.incore.stats().state.selection?.track === t && window.incore.stats().state.selection?.slice === s, [track, slice]);
		const s = JSON.parse(await page.evaluate(async ([t, i]) => new TextDecoder().decode(await window.incore.app().source.ask('at', { track: t, slice: i })), [track, slice]));
		await page.waitForFunction(([text, dur]) => { const said = document.querySelector('.sr-only[aria-live]').textContent; return said.includes(text) && said.includes(dur); }, [s.text, `${s.duration.toLocaleString('en')} cycle`]);
		if (s.stall) truth((await live()).includes(`${s.stall.toLocaleString('en')} cycle`) && /stalled/.test(await live()), `"${await live()}" does not tell the stall`);
	};
	await page.keyboard.press('ArrowRight');
	await here(0, 5);
	await page.keyboard.press('ArrowRight');
	await here(0, 6);
	await page.keyboard.press('ArrowLeft');
	await here(0, 5);
	await page.keyboard.press('ArrowDown');
	await page.waitForFunction(() => window.incore.stats().state.selection?.track === 1);
	truth(/SIMD1/.test(await live()), `the lane is told: "${await live()}"`);
	await page.keyboard.press('t');
	await page.waitForSelector('dialog[open] [role=grid] [role=row]');
	const inside = () => page.evaluate(() => !!document.activeElement.closest('dialog[open]'));
	truth(await inside(), 'a dialog takes the focus');
	for (let i = 0; i < 12; i++) {
		await page.keyboard.press('Tab');
		truth((await inside()) || (await page.evaluate(() => document.activeElement === document.body)), 'a dialog keeps the focus');
	}
	await page.keyboard.press('Escape');
	await page.waitForFunction(() => !document.querySelector('dialog[open]'));
	equal(await page.evaluate(() => document.activeElement.getAttribute('role')), 'grid', 'the focus returns to the lanes');
	await panel(page, 'isa');
	await page.focus('.panel-isa .table');
	await page.keyboard.press('Home');
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('Enter');
	equal(await get(page, 'selection.code'), verb('isa', name).rows[0].index, 'a row chosen by keyboard alone');
}

/** What can be clicked is at least 24 pixels each way, or stands alone in its line. */
async function targets(bench, name) {
	const page = await bench.page(name);
	const small = await page.evaluate(() => [...document.querySelectorAll('.title-bar button, .title-bar select, .title-bar input, .timeline button, .timeline select, .dock .tab, .banner button')].filter((e) => e.getClientRects().length)
		.map((e) => ({ box: e.getBoundingClientRect(), what: e.outerHTML.slice(0, 90) })).filter(({ box }) => box.width < 23.5 || box.height < 23.5).map(({ box, what }) => `${Math.round(box.width)} x ${Math.round(box.height)}: ${what}`));
	equal(small, [], 'targets under 24 pixels');
}

function luminance([r, g, b]) {
	const f = (v) => { const c = v / 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
	return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b);
}

/** Text in sight against what lies behind it: what has too little contrast. */
export async function contrastProblems(page) {
	const found = await page.evaluate(() => {
		const parse = (c) => (c.match(/[\d.]+/g) ?? []).map(Number), out = [], done = new Set();
		for (const e of document.querySelectorAll('body *')) {
			if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) || !e.getClientRects().length || e.closest('svg')) continue;
			const style = getComputedStyle(e), colour = parse(style.color);
			let back = null, opacity = 1;
			for (let n = e; n; n = n.parentElement) {
				const s = getComputedStyle(n), c = parse(s.backgroundColor);
				opacity *= Number(s.opacity);
				if (!back && c.length >= 3 && (c[3] ?? 1) === 1) back = c;
			}
			const key = [style.color, back, e.className].join();
			if (done.has(key) || opacity < 0.99 || !back || e.closest('[disabled], .off, .never')) continue;
			done.add(key);
			out.push({ colour: colour.slice(0, 3), back: back.slice(0, 3), text: e.textContent.slice(0, 40), look: String(e.className) });
		}
		return out;
	});
	return found.map((f) => ({ ...f, l: [luminance(f.colour), luminance(f.back)] })).map((f) => ({ ...f, ratio: (Math.max(...f.l) + 0.05) / (Math.min(...f.l) + 0.05) }))
		.filter((f) => f.ratio < 4.5).map((f) => `"${f.text}" (${f.look}): ${f.ratio.toFixed(2)}`);
}

/** Every panel, in three themes. */
async function contrasts(bench) {
	const page = await bench.page('gemm');
	for (const theme of ['light', 'dark', 'contrast']) {
		await page.selectOption('.title-bar select[aria-label="Theme"]', theme);
		for (const p of ['isa', 'summary', 'hotspots', 'occupancy']) {
			await panel(page, p);
			equal(await contrastProblems(page), [], `contrast, ${theme}, ${p}`);
		}
	}
}

async function small(bench) {
	for (const [width, height] of [[640, 400], [320, 640]]) {
		const page = await bench.page('gemm', { viewport: { width, height } });
		await panel(page, 'summary');
		const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
		truth(over <= 0, `${width} pixels: ${over} too wide`);
	}
}

export const tests = [
	...['gemm', 'report:ascend_matmul'].map((name) => ({ name: `accessibility: roles and names of every panel of ${name}`, run: (b) => roles(b, name) })),
	...['gemm', 'report:gemm'].flatMap((name) => [
		{ name: `accessibility: order of focus in ${name}`, run: (b) => focusOrder(b, name) },
		{ name: `accessibility: lanes by keyboard, said aloud, in ${name}`, run: (b) => spoken(b, name) },
	]),
	{ name: 'accessibility: targets', run: (b) => targets(b, 'gemm') },
	{ name: 'accessibility: contrast in three themes', run: contrasts },
	{ name: 'accessibility: 200 % zoom and 320 pixels', run: small },
];
