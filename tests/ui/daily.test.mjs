// SPDX-License-Identifier: Apache-2.0
// Daily work: listing and source side by side, from any row to its worst instance and back, columns, two captures by name, scope, arrows, boxes.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { altered, comes, count, DATA, equal, open, panel, rows, Server, truth, verb } from './lib.mjs';
import { get, still } from './select.test.mjs';
import { ask, like, palette, rgb, set, view, wide } from './timeline.test.mjs';

const both = (run) => async (bench) => {
	for (const prefix of ['', 'report:']) await run(bench, prefix);
};
const size = (width, height, more = {}) => ({ viewport: { width, height }, ...more });

/** ISA and source stand side by side, each follows the other, both say what is hot; the layout stays. */
async function sideBySide(bench, prefix) {
	const page = await bench.page(prefix + 'gemm', size(1600, 1000)), isa = verb('isa', 'gemm');
	for (const id of ['isa', 'source']) await page.waitForSelector(`.panel[data-panel="${id}"] .table-row`);
	const row = isa.rows.find((r) => r.row === isa.hottest_row), [, line] = row.frames[0];
	await page.locator(`.panel-isa .table-row[data-key="${row.index}"] [data-column="row"]`).click();
	await page.waitForSelector(`.panel-source .table-row.marked[data-key="${line}"]`);
	truth(await page.locator(`.panel-source .table-row.marked[data-key="${line}"]`).isVisible(), 'the line is in sight');
	const other = isa.rows.find((r) => r.frames.length && r.frames[0][1] !== line).frames[0][1];
	await page.evaluate((n) => { const t = document.querySelector('.panel-source .table'); t.scrollTop = Math.max(0, (n - 3) * 20); }, other);
	await page.locator(`.panel-source .table-row[data-key="${other}"] [data-column="line"]`).click();
	await page.waitForFunction((n) => window.incore.stats().state.selection?.line === n, other);
	const want = isa.rows.filter((r) => r.frames.some((f) => f[1] === other)).map((r) => String(r.index));
	await page.waitForFunction((all) => [...document.querySelectorAll('.panel-isa .table-row.marked')].some((r) => all.includes(r.dataset.key)), want);
	await page.evaluate((k) => window.incore.app().select({ kind: 'code', code: k }), row.index);
	await page.waitForSelector(`.panel-isa .table-row.marked[data-key="${row.index}"]`);
	equal(await page.getAttribute(`.panel-isa .table-row[data-key="${row.index}"] [data-column="heat"]`, 'data-heat'), '100', 'the hottest row is the hottest');
	const heats = await page.$$eval('.panel-source .table-row [data-column="heat"]', (all) => all.map((c) => [Number(c.dataset.heat), getComputedStyle(c).backgroundColor]));
	truth(heats.some(([h]) => h === 100) && new Set(heats.map(([, c]) => c)).size > 1, `heat of the lines: ${JSON.stringify(heats)}`);
	const tall = await page.evaluate(() => [document.querySelector('.inspector').offsetHeight, document.querySelector('.work').offsetHeight]);
	equal(tall[0], tall[1], 'the inspector is as tall as the window');
	const lanes = () => page.evaluate(() => document.querySelector('.timeline').offsetWidth), before = await lanes();
	for (const name of ['explorer', 'inspector']) await page.click(`.${name} .pane-fold`);
	truth(await comes(async () => (await lanes()) > before + 300), 'folded panes give room to the lanes');
	await page.keyboard.press('y');
	await page.waitForFunction(() => !document.querySelector('.dock-body.two') && /[#&]n=-/.test(location.hash)); // the address follows with a delay
	await page.reload();
	await page.waitForSelector('.panel-isa .table-row');
	equal(await page.evaluate(() => [!!document.querySelector('.dock-body.two'), !!document.querySelector('.work.no-side.no-inspector')]), [false, true], 'the layout is remembered');
	await page.keyboard.press('y');
	await page.waitForSelector('.beside .panel-source .table-row');
	await page.selectOption('.beside-head select', 'hotspots');
	await page.waitForSelector('.beside .panel-hotspots .table-row');
	await page.click('.beside-head button[title^="Swap"]');
	equal([await get(page, 'panel'), await get(page, 'beside')], ['hotspots', 'isa'], 'swapped');
	await page.click('.beside-head button[title^="Close"]');
	equal(await get(page, 'beside'), null, 'one panel');
}

/** Both are of use in a small window and fill a large one. */
async function sizes(bench) {
	for (const [width, height, least] of [[1280, 720, 6], [3840, 2160, 25]]) {
		const page = await bench.page('gemm', size(width, height));
		await page.waitForSelector('.panel-isa .table-row');
		if (!(await page.locator('.dock-body.two').count())) await page.keyboard.press('y');
		await page.waitForSelector('.panel-source .table-row');
		for (const id of ['isa', 'source']) {
			const seen = await page.evaluate((p) => {
				const t = document.querySelector(`.panel-${p} .table`).getBoundingClientRect(), all = [...document.querySelectorAll(`.panel-${p} .table-row`)].map((r) => r.getBoundingClientRect());
				const text = document.querySelector(`.panel-${p} .table-head [data-column="${p === 'isa' ? 'cycles' : 'cycles'}"]`).getBoundingClientRect();
				return { rows: all.filter((r) => r.top >= t.top && r.bottom <= t.bottom + 1).length, isCostInSight: text.left < t.right - 20 };
			}, id);
			truth(seen.rows >= Math.min(least, id === 'isa' ? 43 : 20) && seen.isCostInSight, `${width}: ${id} shows ${JSON.stringify(seen)}`);
		}
		equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0, `${width}: nothing sticks out`);
	}
}

/** Enter and a double click lead from a row to its instruction and the longest execution of it; the browser's Back undoes it. */
async function toWorst(bench, prefix) {
	const page = await bench.page(prefix + 'gemm', size(1600, 900)), isa = verb('isa', 'gemm');
	const worst = async (code) => JSON.parse(await ask(page, `histogram?code=${code}`)).outliers[0];
	const arrived = async (code, words) => {
		const w = await worst(code);
		await page.waitForFunction(([t, s]) => { const x = window.incore.stats().state.selection; return x?.kind === 'slice' && x.track === t && x.slice === s; }, [w.track, w.slice]);
		const s = await page.evaluate(() => window.incore.stats().state), mid = (s.selection.t0 + s.selection.t1) / 2;
		truth(s.t1 - s.t0 >= await page.evaluate(() => window.incore.app().trace.span.end) - 1 || Math.abs((s.t0 + s.t1) / 2 - mid) <= (s.t1 - s.t0) * 0.3, `${words}: not in the middle: ${s.t0} to ${s.t1}, ${mid}`);
		await page.waitForSelector(`.panel-isa .table-row.marked[data-key="${code}"]`);
	};
	await panel(page, 'hotspots');
	await page.locator('.panel-hotspots .table-row').nth(1).waitFor();
	const code = isa.rows.find((r) => r.row === Number((verb('hot', '--by', 'instr', '--top', 'all', 'gemm').rows[1]).row)).index;
	await page.focus('.panel-hotspots .table');
	await page.keyboard.press('Home');
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('Enter');
	await arrived(code, 'Enter in Hotspots');
	await page.waitForFunction(() => /[#&]s=/.test(location.hash));
	await panel(page, 'waits');
	await page.waitForSelector('.table[aria-label="Waits and their producers"] .table-row');
	const first = (await rows(page, 'Waits and their producers'))[0], wait = isa.rows.find((r) => `row ${r.row}` === first.wait).index;
	await page.evaluate(() => (document.querySelector('.table[aria-label="Waits and their producers"]').scrollTop = 0));
	await page.locator('.table[aria-label="Waits and their producers"] .table-row [data-column="count"]').first().dblclick();
	await arrived(wait, 'double click in Waits');
	const here = await get(page, 'selection.slice');
	await page.waitForFunction((n) => location.hash.includes(`.${n}&`), here);
	const links = await page.evaluate(() => history.length);
	await page.evaluate((k) => window.incore.app().select({ kind: 'code', code: k }), code);
	await page.waitForFunction((n) => history.length > n || /[#&]r=/.test(location.hash), links);
	// What Back asked of the server comes after Forward has been there: an answer too late must not undo it.
	let release, late = 0;
	const held = new Promise((r) => (release = r));
	await page.route('**/api/1/at?*', async (route) => {
		late++;
		await held;
		await route.continue();
	});
	await page.goBack();
	await page.waitForFunction((n) => window.incore.stats().state.selection?.slice === n, here);
	if (!prefix) while (!late) await page.evaluate(() => new Promise(requestAnimationFrame));
	await page.goForward();
	const isCode = (k) => { const s = window.incore.stats().state.selection; return s?.kind === 'code' && s.code === k; };
	await page.waitForFunction(isCode, code);
	const answered = prefix ? null : page.waitForResponse('**/api/1/at?*');
	release();
	await answered;
	for (let frame = 0; frame < 10; frame++) await page.evaluate(() => new Promise(requestAnimationFrame));
	truth(await page.evaluate(isCode, code), 'a late answer took the selection back');
}

/** After Enter the keys are keys again; one Escape leaves the field. */
async function searching(bench) {
	const page = await bench.page('gemm');
	await page.keyboard.press('/');
	await page.keyboard.type('v_mfma');
	await page.keyboard.press('Enter');
	await page.waitForFunction(() => /^1 of/.test(document.querySelector('.search .count').textContent));
	truth(await page.evaluate(() => document.activeElement?.tagName !== 'INPUT'), 'Enter leaves the field');
	await page.keyboard.press('n');
	await page.waitForFunction(() => /^2 of/.test(document.querySelector('.search .count').textContent));
	await page.keyboard.press('Shift+N');
	await page.waitForFunction(() => /^1 of/.test(document.querySelector('.search .count').textContent));
	await page.keyboard.press('/');
	await page.keyboard.type('x');
	await page.keyboard.press('Escape');
	truth(await page.evaluate(() => document.activeElement?.tagName !== 'INPUT'), 'one Escape leaves it');
}

/** No text runs over its neighbour: a cell is cut where what stands in it is wider, and only cells that may be are. */
async function cuts(bench) {
	const page = await bench.page('gemm', size(1600, 1000)), look = () => page.$$eval('.panel-isa .table-row:not(.label-row) .cell:not(.num):not(.chip-cell), .panel-source .table-row .cell:not(.num)', (all) => {
		const wide = (c) => { const r = document.createRange(); r.selectNodeContents(c); return r.getBoundingClientRect().right > c.getBoundingClientRect().right + 0.5; };
		const over = all.filter((c) => c.textContent && wide(c)), isFree = (c) => getComputedStyle(c).overflowX === 'visible';
		return { cut: over.length, free: all.filter(isFree).length, loose: over.filter(isFree).map((c) => c.textContent) };
	});
	await page.waitForSelector('.panel-isa .table-row');
	await page.waitForSelector('.panel-source .table-row');
	for (const width of [1600, 1280, 1600]) {
		await page.setViewportSize({ width, height: 800 });
		await still(page);
		const seen = await look();
		equal(seen.loose, [], `${width}: text over its neighbour`);
		truth(seen.free > 20, `${width}: ${seen.free} cells without a clip`);
	}
	await page.evaluate(() => localStorage.setItem('incore.columns.Instructions', '{"w":{"isa":90},"hide":[]}'));
	await page.reload();
	await page.waitForSelector('.panel-isa .table-row');
	await still(page);
	const narrow = await look();
	truth(narrow.cut > 5, `${narrow.cut} cells cut in a narrow column`);
	equal(narrow.loose, [], 'narrow column: text over its neighbour');
}

/** Columns are as wide as they need, can be moved and hidden, and stay so; no digit is cut; tables use the height there is. */
async function columns(bench) {
	const page = await bench.page('gemm', size(1600, 1000)), width = (id) => page.evaluate((c) => document.querySelector(`.panel-isa .table-head [data-column="${c}"]`)?.offsetWidth ?? 0, id);
	await set(page, { beside: null });
	await page.waitForSelector('.panel-isa .table-row');
	const cut = (p, where) => p.$$eval(`${where} .table-row .cell.num`, (all) => all.filter((c) => c.getClientRects().length && c.scrollWidth > c.clientWidth + 1).map((c) => c.textContent));
	equal(await cut(page, '.panel-isa'), [], 'digits that are cut');
	const before = await width('cycles'), box = await page.locator('.panel-isa .table-head [data-column="cycles"] .column-grip').boundingBox();
	await page.mouse.move(box.x + 3, box.y + 10);
	await page.mouse.down();
	await page.mouse.move(box.x + 63, box.y + 10, { steps: 3 });
	await page.mouse.up();
	equal(await width('cycles'), before + 60, 'dragged');
	await page.click('.panel-isa .tools button:has-text("Columns")');
	await page.locator('.menu[popover] label', { hasText: /^class$/ }).locator('input').uncheck();
	await page.keyboard.press('Escape');
	equal(await width('class'), 0, 'hidden');
	await page.reload();
	await page.waitForSelector('.panel-isa .table-row');
	equal([await width('cycles'), await width('class')], [before + 60, 0], 'remembered');
	await page.locator('.panel-isa .table-head [data-column="cycles"] .column-grip').dblclick();
	equal(await width('cycles'), before, 'as wide as it needs again');
	const two = await bench.page(['repeated/ui_output_agent_1000_dispatch_7', 'repeated/ui_output_agent_1000_dispatch_9'], size(1600, 1000));
	await two.keyboard.press('x');
	for (const id of ['isa', 'compare', 'hotspots']) {
		await panel(two, id);
		await two.waitForSelector(`.panel[data-panel="${id}"] .table-row`);
		equal(await cut(two, `.panel[data-panel="${id}"]`), [], `${id}: digits that are cut`);
	}
	const pipes = await bench.page('ascend_matmul', size(1600, 1400));
	await panel(pipes, 'waves');
	await pipes.waitForSelector('.table[aria-label="Pipes"] .table-row');
	const room = await pipes.evaluate(() => { const t = document.querySelector('.table[aria-label="Pipes"]'), p = document.querySelector('.panel'); return [t.clientHeight, t.scrollHeight, p.clientHeight]; });
	truth(room[0] >= Math.min(room[1], room[2] * 0.55), `a table of ${room[1]} pixels has ${room[0]} of a panel of ${room[2]}`);
}

/** The source does not wait for the summary. */
async function early(bench) {
	const server = await bench.server('gemm'), page = await bench.blank(size(1600, 900));
	let held = 0;
	page.isHeld = true;
	await page.route('**/api/1/summary*', () => void held++); // never answered
	await open(page, server.url);
	await panel(page, 'source');
	await page.waitForSelector('.panel-source .table-row.hot');
	truth(held > 0, 'the summary was asked for and did not come');
	await page.unrouteAll({ behavior: 'ignoreErrors' });
}

/** gemm whose last instruction takes 100 cycles longer in every wave. */
function slower() {
	return altered('gemm', path.join('runs', 'after', 'gemm'), (text, name) => {
		if (!/^se\d.*\.json$/.test(name)) return text;
		const d = JSON.parse(text), w = d.wave;
		w.instructions[w.instructions.length - 1][3] += 100;
		w.timeline[w.timeline.length - 1][1] += 100;
		w.end += 100;
		d.duration += 100;
		return JSON.stringify(d);
	});
}

/** A and B have names and colours of their own; one line says what moved; the difference is seen on both sides. */
async function named(bench) {
	const a = altered('gemm', path.join('runs', 'before', 'gemm'), (text) => text), b = slower();
	const top = verb('diff', '--top', 'all', a, b).parts.filter((p) => p.verdict !== 'not-comparable').sort((x, y) => Math.abs(y.contribution) - Math.abs(x.contribution))[0];
	for (const theme of ['light', 'dark']) {
		const page = await bench.page([a, b], size(1600, 1000, { colorScheme: theme }));
		await page.keyboard.press('x');
		await set(page, { beside: null });
		const seen = new Set();
		for (const id of ['isa', 'summary', 'states']) {
			await panel(page, id);
			const moved = `row ${top.row_a}: +${count(top.change)} cycles an execution, +${((100 * top.change) / top.per_hit_a).toFixed(1)} %`;
			await page.waitForFunction((words) => document.querySelector('.against .moved')?.textContent === words, moved);
			equal(await page.$$eval('.against .side', (all) => all.map((e) => e.textContent)), ['A before', 'B after'], `${id}: names`);
			(await page.$$eval('.against .side', (all) => all.map((e) => getComputedStyle(e).color))).forEach((c, i) => seen.add(`${i} ${c}`));
		}
		equal(seen.size, 2, `${theme}: two colours: ${[...seen]}`);
		await set(page, { mode: 'diff', isBottomOpen: false });
		await still(page);
		const p = await palette(page), end = await page.evaluate(() => window.incore.app().trace.tracks[0].end);
		const colours = () => page.evaluate((t) => {
			const v = window.incore.pane().view, r = v.rowOfTrack(0), s = v.scale(), c = document.querySelector('.lanes-stage canvas'), ratio = c.width / c.clientWidth, x = Math.round(((t - 60 - s.t0) / (s.t1 - s.t0)) * s.width * ratio), y = v.yOf(r) * ratio;
			const g = new OffscreenCanvas(1, Math.round(r.height * ratio)).getContext('2d', { willReadFrequently: true });
			g.drawImage(c, -x, -y);
			const d = g.getImageData(0, 0, 1, Math.round(r.height * ratio)).data;
			return [Math.round(r.height * 0.3 * ratio), Math.round(r.height * 0.8 * ratio)].map((k) => [...d.slice(4 * k, 4 * k + 3)]);
		}, end);
		truth(await comes(async () => (await colours()).every((c) => like(c, rgb(p.worse)))), `${theme}: worse on both sides: ${JSON.stringify(await colours())}`);
	}
	const page = await bench.page([a, altered('gemm', path.join('runs', 'never', 'gemm'), (text, name) => text)], size(1600, 1000));
	await page.keyboard.press('x');
	await panel(page, 'isa');
	await page.waitForFunction(() => document.querySelector('.against .moved')?.textContent === 'nothing moved');
}

/** What ran on one side only has no figure on the other and no change; shares are per cent as `incore diff` prints them. */
async function oneSided(bench) {
	const page = await bench.page(['gemm', slower()], size(1600, 1000)), d = verb('diff', '--top', 'all', 'gemm', slower());
	await page.keyboard.press('x');
	await panel(page, 'compare');
	await page.waitForSelector('.table[aria-label="Figures per execution"] .table-row');
	const values = new Map((await rows(page, 'Figures per execution')).map((r) => [r.name, r]));
	for (const v of d.values) if (/_share$/.test(v.name) && v.a !== null) equal([values.get(v.name.replace(/_/g, ' ')).a, values.get(v.name.replace(/_/g, ' ')).unit], [count(100 * v.a, 2), '%'], v.name);
	const fake = await page.evaluate(async () => {
		const app = window.incore.app(), answer = await app.verb('diff', { base: 1, by: 'instr', top: 'all' }), part = answer.data.parts[0];
		Object.assign(part, { verdict: 'not-comparable', hit_b: 0, per_hit_b: 0, change: 0, contribution: 0 });
		return part.row_a;
	});
	for (const id of ['isa', 'compare']) {
		await panel(page, id === 'isa' ? 'summary' : 'isa');
		await panel(page, id);
		const label = id === 'isa' ? 'Instructions' : 'Differences, part by part', keys = id === 'isa' ? ['diff-b', 'diff', 'diff-pct'] : ['b', 'change', 'pct'];
		await page.waitForFunction((l) => [...document.querySelectorAll('.table')].some((t) => t.getAttribute('aria-label') === l), label);
		const row = (await rows(page, label)).find((r) => (id === 'isa' ? r.row : r['row-a']) === String(fake));
		equal(keys.map((k) => row[k]), ['-', '-', 'removed'], `${id}: a row that B never ran`);
	}
}

/** A scope is named and counted wherever its figures stand. */
async function scope(bench) {
	const page = await bench.page('two_kernels', size(1600, 900)), { id, name, mine, all } = await page.evaluate(() => {
		const { trace } = window.incore.app(), k = trace.kernels.find((x) => trace.tracks.some((t) => t.kernel === x.id));
		return { id: k.id, name: k.name, mine: trace.tracks.filter((t) => t.kernel === k.id).length, all: trace.tracks.length };
	});
	truth(mine < all, 'the scope is less than all');
	await set(page, { scope: id, beside: null });
	const words = `kernel ${name}, ${mine} of ${all} waves`;
	await page.waitForFunction((w) => document.querySelector('.title-bar .scope-button')?.textContent === `Scope: ${w} ×`, words);
	for (const tab of await page.$$eval('.tab:not(.empty)', (tabs) => tabs.map((t) => t.dataset.panel))) {
		await panel(page, tab);
		await page.waitForFunction(([p, w]) => document.querySelector(`.panel[data-panel="${p}"] .scope-words`)?.textContent.includes(w), [tab, words]);
	}
	await page.click('.title-bar .scope-button');
	await page.waitForFunction(() => document.querySelector('.scope-words')?.hidden);
}

/** Arrows come costliest first, in the colour of what was waited for; letters are off until asked for; a box is a table in the dock. */
async function drawn(bench, prefix) {
	const page = await bench.page(prefix + wide(), size(1600, 900)), p = await palette(page);
	await set(page, { isBottomOpen: false, sort: 'start', arrows: 'visible' });
	await page.waitForFunction(() => window.incore.pane().arrows.links.length > 0);
	const links = await page.evaluate(() => window.incore.pane().arrows.links), slices = new Map();
	for (const l of links.slice(0, 40)) slices.set(`${l.toTrack}.${l.toSlice}`, JSON.parse(await ask(page, `at?track=${l.toTrack}&slice=${l.toSlice}`)).duration);
	const costs = links.slice(0, 40).map((l) => slices.get(`${l.toTrack}.${l.toSlice}`));
	equal(costs, [...costs].sort((a, b) => b - a), 'the costliest first');
	truth(links.filter((l) => l.kind === 0).every((l) => l.slot === 4), 'what was waited for is a load');
	const [l] = links;
	await set(page, { arrows: 'selection' });
	await page.evaluate(([t, s]) => window.incore.pane().goSlice(t, s, true, true), [l.toTrack, l.toSlice]);
	await page.waitForFunction(() => window.incore.pane().arrows.links.length > 0);
	await still(page);
	const inks = await page.evaluate(() => {
		window.incore.pane().overlay.draw();
		const c = document.querySelector('canvas.over'), g = new OffscreenCanvas(c.width, c.height).getContext('2d', { willReadFrequently: true }), all = {};
		g.drawImage(c, 0, 0);
		const d = g.getImageData(0, 0, c.width, c.height).data;
		for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 240) { const k = [d[i], d[i + 1], d[i + 2]].join(); all[k] = (all[k] ?? 0) + 1; }
		return all;
	});
	truth((inks[rgb(p.slots[4]).join()] ?? 0) > 20, `no arrow in the colour of a load: ${JSON.stringify(Object.entries(inks).sort((a, b) => b[1] - a[1]).slice(0, 5))}`);
	await view(page, l.from - 60, l.to + 60);
	await still(page);
	const picture = () => page.evaluate(() => document.querySelector('.lanes-stage canvas').toDataURL()), plain = await picture();
	equal(await get(page, 'isLettered'), false, 'letters are off');
	await page.click('.title-bar button:has-text("More")');
	await page.click('.menu button:has-text("Class letters on")');
	await still(page);
	truth((await picture()) !== plain, 'letters on change the picture');
	await page.evaluate(() => window.incore.app().select({ kind: 'box', t0: 1200, t1: 2600, tracks: [1, 2, 3] }));
	await page.waitForSelector('.inspector .box-statistics button:has-text("Wide")');
	await page.click('.inspector .box-statistics button:has-text("Wide")');
	await page.waitForSelector('.panel-box .table-row');
	const want = JSON.parse(await ask(page, 'select?tracks=1-3&t0=1200&t1=2600&by=class')).rows.sort((a, b) => b.sum - a.sum);
	const seen = (await page.$$eval('.panel-box .table-row', (all) => all.map((r) => Object.fromEntries([...r.querySelectorAll('[data-column]')].map((c) => [c.dataset.column, c.textContent])))));
	equal(seen.map((r) => [r.key, r.sum, r.union]), want.map((r) => [r.key, count(r.sum), count(r.union)]), 'the box as a panel');
}

/** The overview has the colours of the lanes. */
async function overview(bench) {
	for (const theme of ['light', 'dark']) {
		const page = await bench.page('gemm', size(1600, 900, { colorScheme: theme }));
		await set(page, { mode: 'bucket' });
		await still(page);
		const p = await palette(page), allowed = new Set([...p.buckets, p.background].map((h) => rgb(h).join()));
		const seen = () => page.evaluate(() => {
			const c = document.querySelector('.ruler canvas'), g = new OffscreenCanvas(c.width, c.height).getContext('2d', { willReadFrequently: true }), all = new Set();
			g.drawImage(c, 0, 0);
			const d = g.getImageData(4, 4, c.width - 8, 20).data;
			for (let i = 0; i < d.length; i += 4) all.add([d[i], d[i + 1], d[i + 2]].join());
			return [...all];
		});
		truth(await comes(async () => { const all = await seen(); return all.length > 2 && all.every((k) => allowed.has(k)); }), `${theme}: ${await seen()}`);
	}
}

/** Inlined code is charged to its own line or to the line that called it; both add up to the same, in Source, Explorer and Flame. */
async function inlined(bench, prefix) {
	const page = await bench.page(prefix + 'inline', size(1600, 1000)), isa = verb('isa', 'inline');
	await set(page, { beside: null });
	const cycles = (r) => Number((r.cycles === '-' ? '0' : r.cycles).replace(/,/g, ''));
	const lines = async () => {
		const out = new Map();
		await panel(page, 'source');
		await page.waitForSelector('.panel-source .table-row');
		for (let i = 0; i < await page.locator('.file-tab').count(); i++) {
			await page.locator('.file-tab').nth(i).click();
			const name = await page.locator('.file-tab').nth(i).evaluate((e) => e.title.replace(/: [^:]*$/, ''));
			await page.waitForFunction((n) => document.querySelector('.panel-source .table')?.getAttribute('aria-label') === 'Source of ' + n.replace(/^.*\//, ''), name);
			for (const r of await rows(page, `Source of ${name.replace(/^.*\//, '')}`)) if (cycles(r)) out.set(`${name}:${r.line}`, cycles(r));
		}
		return out;
	};
	const sum = (m) => [...m.values()].reduce((a, b) => a + b, 0), own = await lines();
	await page.selectOption('.panel-source select[aria-label="Inlined code"]', '1');
	await page.waitForFunction(() => window.incore.stats().state.isCalled);
	const want = new Map();
	for (const r of isa.rows) if (r.frames.length) {
		const [f, n] = r.frames[r.frames.length - 1], key = `${isa.sources[f]}:${n}`;
		want.set(key, (want.get(key) ?? 0) + r.cycles);
	}
	truth(await comes(async () => JSON.stringify([...await lines()].sort()) === JSON.stringify([...want].filter(([, n]) => n).sort())), 'lines that called');
	const called = await lines();
	equal(sum(called), sum(own), 'both add up to the same');
	truth(JSON.stringify([...own].sort()) !== JSON.stringify([...called].sort()), 'the two differ');
	await panel(page, 'flame');
	equal(await page.inputValue('.panel-flame select[aria-label="Inlined code"]'), '1', 'Flame follows');
}

/** Small things: pictures of two pixels a pixel with their legend, selects that show their value, a verdict that is not yellow. */
async function small(bench) {
	const page = await bench.page('gemm', size(1280, 720, { acceptDownloads: true }));
	await still(page);
	await page.click('.title-bar button[title^="Save"]');
	const [d] = await Promise.all([page.waitForEvent('download'), page.click('.menu button:has-text("PNG")')]), png = readFileSync(await d.path());
	const { width, height } = await page.evaluate(() => { const s = window.incore.pane().view.size(); return { width: s.width + window.incore.pane().view.labelWidth, height: s.height + 90 }; });
	equal(png.readUInt32BE(16), 2 * width, 'two pixels a pixel');
	truth(png.readUInt32BE(20) >= 2 * (height + 17), 'room for the legend');
	const cut = await page.evaluate(() => {
		const g = document.createElement('canvas').getContext('2d');
		return [...document.querySelectorAll('select')].filter((s) => s.getClientRects().length).map((s) => {
			const style = getComputedStyle(s);
			g.font = `${style.fontSize} ${style.fontFamily}`;
			return [s.ariaLabel, g.measureText(s.selectedOptions[0]?.textContent ?? '').width, s.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)];
		}).filter(([, text, room]) => text > room + 1).map(([name]) => name);
	});
	equal(cut, [], 'selects that cut their value');
	for (const name of ['gemm', 'ascend_matmul', 'v31']) {
		const p = name === 'gemm' ? page : await bench.page(name);
		await p.waitForFunction(() => !/Checking/.test(document.querySelector('.banner').textContent));
		if (verb('check', name).verdict === 'ok') truth(!(await p.locator('.banner.warn').count()), `${name}: ok is yellow`);
	}
}

/** A wave that cannot be read is marked in its lane, beside its name and where the pointer rests. */
async function unread(bench) {
	for (const theme of ['light', 'dark']) for (const name of ['bad_wave', 'missing_wave']) {
		const page = await bench.page(name, size(1280, 800, { colorScheme: theme })), p = await palette(page);
		await still(page);
		const at = await page.evaluate(() => {
			const v = window.incore.pane().view, { trace } = window.incore.app(), t = trace.tracks.find((x) => x.slices === 0), r = v.rowOfTrack(t.index), s = v.scale(), x = (time) => ((time - s.t0) / (s.t1 - s.t0)) * s.width, b = v.over.getBoundingClientRect();
			const c = document.querySelector('.lanes-stage canvas'), g = new OffscreenCanvas(c.width, c.height).getContext('2d', { willReadFrequently: true });
			g.drawImage(c, 0, 0);
			const from = x(t.begin + (t.end - t.begin) * 0.6), d = g.getImageData(Math.round(from), Math.round(v.yOf(r) + 5), 30, 6).data, inks = [];
			for (let i = 0; i < d.length; i += 4) inks.push([d[i], d[i + 1], d[i + 2]]);
			return { inks, mouse: [b.x + from, b.y + v.yOf(r) + r.height / 2], lane: r.lane.id };
		});
		truth(at.inks.some((c) => like(c, rgb(p.worse), 60)), `${name}, ${theme}: the lane is not hatched: ${at.inks[0]}`);
		truth(await page.locator(`.lane-label[data-lane="${at.lane}"] .unread`).isVisible(), `${name}: no mark beside the name`);
		await page.mouse.move(...at.mouse);
		await page.waitForFunction(() => /could not be read/.test(document.querySelector('.tooltip:not([hidden])')?.textContent ?? ''));
	}
}

/** What loads says so only while there is a server. */
async function gone(bench) {
	const server = await Server.start('gemm'), page = await bench.blank();
	page.isAllowed = page.isHeld = true;
	await page.route('**/api/1/summary*', () => undefined);
	await open(page, server.url);
	await still(page);
	await page.click('.tab[data-panel="summary"]');
	await page.waitForSelector('.panel .notice[role=status]');
	truth(/Loading/.test(await page.innerText('.panel .notice[role=status]')), 'it loads');
	await server.stop();
	await page.evaluate(() => void window.incore.app().source.ask('histogram', { code: 3 }).catch(() => undefined));
	await page.waitForFunction(() => /server is gone/.test(document.querySelector('.panel .notice[role=status]').textContent));
	await page.unrouteAll({ behavior: 'ignoreErrors' });
}

export const tests = [
	{ name: 'daily: ISA and source side by side', run: (b) => sideBySide(b, ''), covers: ['key:beside'] },
	{ name: 'daily: side by side in 1280x720 and in 4K', run: sizes },
	{ name: 'daily: from any row to its worst instance, and back', run: both(toWorst) },
	{ name: 'daily: Enter and Escape leave the search', run: searching },
	{ name: 'daily: columns fit, move, hide and stay', run: columns },
	{ name: 'daily: no text over its neighbour', run: cuts },
	{ name: 'daily: source before the summary', run: early },
	{ name: 'daily: A and B by name, what moved, on both sides', run: named },
	{ name: 'daily: one-sided rows and shares of a comparison', run: oneSided },
	{ name: 'daily: the scope is named and counted', run: scope },
	{ name: 'daily: arrows by cost and colour, letters, a docked box', run: (b) => drawn(b, '') },
	{ name: 'daily: the overview follows the colour mode', run: overview },
	{ name: 'daily: inlined code at its caller', run: both(inlined) },
	{ name: 'daily: pictures, selects, verdict', run: small },
	{ name: 'daily: an unreadable wave is marked in its lane', run: unread },
	{ name: 'daily: loading ends with the server', run: gone },
];
