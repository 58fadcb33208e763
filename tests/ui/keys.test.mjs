// SPDX-License-Identifier: Apache-2.0
// Every key of the checklist does what it says; typing into a field does nothing else.
import { CHECKLIST, equal, panel, truth, verb } from './lib.mjs';
import { get, still } from './select.test.mjs';

const view = async (page) => [await get(page, 't0'), await get(page, 't1')];
const wide = ([a, b]) => b - a;
const until = (page, f, arg) => page.waitForFunction(f, arg);

async function help(bench, kind) {
	const page = await bench.page(kind + 'gemm');
	await page.keyboard.press('?');
	const shown = await page.$$eval('dialog[open] tr[data-key]', (all) => Object.fromEntries(all.map((r) => [r.dataset.key, [...r.querySelectorAll('kbd')].map((k) => k.textContent)])));
	equal(shown, CHECKLIST.keys, 'keys of the help dialog');
	await page.keyboard.press('Escape');
	await until(page, () => !document.querySelector('dialog[open]'));
}

async function zoomAndPan(bench, kind) {
	const page = await bench.page(kind + 'gemm'), all = await view(page);
	await page.keyboard.press('w');
	await page.keyboard.press('+');
	await still(page);
	const near = await view(page);
	truth(wide(near) < wide(all) / 2, `W and + zoom in: ${all} to ${near}`);
	await page.keyboard.press('s');
	truth(wide(await view(page)) > wide(near), 'S zooms out');
	await page.keyboard.press('=');
	const before = await view(page);
	await page.keyboard.press('d');
	await page.keyboard.press('ArrowRight');
	const right = await view(page);
	truth(right[0] > before[0] && Math.abs(wide(right) - wide(before)) < 1e-6 * wide(before), `D and right pan: ${before} to ${right}`);
	await page.keyboard.press('a');
	await page.keyboard.press('ArrowLeft');
	truth(Math.abs((await view(page))[0] - before[0]) < 1e-6 * wide(before), `A and left pan back: ${before} to ${await view(page)}`);
	await page.keyboard.press('-');
	await page.keyboard.press('0');
	equal(await view(page), all, '0 fits everything');
	await still(page);
	const settle = () => page.evaluate(() => window.incore.app().store.settle());
	await settle();
	await page.keyboard.press('w');
	await settle();
	const zoomed = await view(page);
	await page.keyboard.press('0');
	await settle();
	await page.keyboard.press('Backspace');
	equal((await view(page)).map(Math.round), zoomed.map(Math.round), 'Backspace goes back');
	await page.keyboard.press('Shift+Backspace');
	equal(await view(page), all, 'Shift+Backspace goes forward');
}

async function lanes(bench) {
	const page = await bench.page('sqtt_gfx9', { viewport: { width: 1280, height: 420 } });
	const top = () => page.evaluate(() => window.incore.pane().view.scroller.scrollTop);
	await page.keyboard.press('ArrowDown');
	truth((await page.evaluate(() => window.incore.pane().view.scroller.scrollHeight - window.incore.pane().view.scroller.clientHeight)) > 4, 'there is nothing to scroll: nothing is tested');
	truth((await top()) > 0, 'down scrolls the lanes');
	await page.keyboard.press('ArrowUp');
	equal(await top(), 0, 'up scrolls back');
}

async function selection(bench, kind) {
	const page = await bench.page(kind + 'gemm'), all = await view(page);
	await page.evaluate(() => window.incore.pane().goSlice(0, 12));
	await until(page, () => window.incore.stats().state.selection?.code !== undefined);
	const first = await get(page, 'selection');
	await page.keyboard.press('.');
	await until(page, (s) => window.incore.stats().state.selection?.slice !== s.slice, first);
	equal(await get(page, 'selection.code'), first.code, 'the next execution is of the same row');
	await page.keyboard.press(',');
	await until(page, (s) => window.incore.stats().state.selection?.slice === s.slice, first);
	await page.keyboard.press('f');
	truth(wide(await view(page)) < wide(all), 'F fits the selection');
	await page.keyboard.press('Shift+Enter');
	equal(await get(page, 'panel'), 'source', 'Shift+Enter');
	await page.keyboard.press('Enter');
	equal(await get(page, 'panel'), 'isa', 'Enter');
	await page.keyboard.press('m');
	await until(page, () => window.incore.stats().state.selection?.kind === 'range');
	await page.keyboard.press('k');
	await until(page, () => window.incore.stats().state.markers.length === 1);
	await page.keyboard.press('Escape');
	equal(await get(page, 'selection'), null, 'Escape');
}

async function laneKeys(bench, kind) {
	const page = await bench.page(kind + 'gemm');
	await page.evaluate(() => window.incore.pane().goSlice(1, 3));
	await until(page, () => window.incore.stats().state.selection?.track === 1);
	await page.keyboard.press('p');
	equal(await get(page, 'pins.length'), 1, 'P pins');
	await page.keyboard.press('p');
	equal(await get(page, 'pins.length'), 0, 'P again unpins');
	await page.keyboard.press('Shift+P');
	equal([...(await get(page, 'pins'))].sort(), [1, 5], 'Shift+P pins all lanes of that name: of both engines');
	equal(await page.evaluate(() => window.incore.pane().view.visible().slice(0, 2).map((r) => [r.lane.id, r.lane.isPinned])), [[1, true], [5, true]], 'pinned lanes come first');
	await page.keyboard.press('Shift+P');
	equal(await get(page, 'pins.length'), 0, 'Shift+P again unpins them');
	await page.keyboard.press('h');
	equal(await get(page, 'hidden'), [1], 'H hides');
	equal(await page.evaluate(() => window.incore.pane().view.visible().some((r) => r.lane?.id === 1)), false, 'the lane is gone');
	await page.keyboard.press('Shift+H');
	equal(await get(page, 'hidden.length'), 0, 'Shift+H shows all');
	const modes = new Set(), arrows = new Set(), units = new Set();
	for (let i = 0; i < 5; i++) {
		modes.add(await get(page, 'mode'));
		arrows.add(await get(page, 'arrows'));
		units.add(await get(page, 'unit'));
		for (const key of ['c', 'l', 'u']) await page.keyboard.press(key);
	}
	equal([...modes].sort(), ['bucket', 'cause', 'class', 'kernel'], 'C goes through the colour modes');
	equal([...arrows].sort(), ['none', 'selection', 'visible'], 'L goes through the arrow modes');
	equal([...units].sort(), ['cyc', 'pct', 'us'], 'U goes through the units');
	await page.keyboard.press('b');
	equal(await get(page, 'isBottomOpen'), false, 'B closes the panel');
	await page.keyboard.press('b');
	await page.keyboard.press('t');
	await page.waitForSelector('dialog[open] .table .table-row');
	await page.keyboard.press('Escape');
}

async function panels(bench, kind) {
	const page = await bench.page(kind + 'gemm');
	for (const p of CHECKLIST.panels.filter((x) => x.key)) {
		await page.keyboard.press(p.key);
		equal(await get(page, 'panel'), p.id, `key ${p.key}`);
	}
}

/** Types into the search field and waits for what is told of it. */
async function seek(page, text, told) {
	await page.keyboard.press('Control+f');
	await page.keyboard.press('Control+a');
	await page.keyboard.type(text);
	await page.keyboard.press('Enter');
	await until(page, (words) => {
		const e = document.querySelector('.search .count');
		return words.includes(e?.textContent ?? '');
	}, [].concat(told));
	await page.evaluate(() => document.activeElement.blur());
}

async function search(bench, kind) {
	const page = await bench.page(kind + 'gemm'), isa = verb('isa', 'gemm').rows, of = (pattern) => isa.filter((r) => pattern.test(r.isa)), waits = of(/s_waitcnt/);
	const density = () => page.evaluate(() => window.incore.pane().ruler.density.reduce((n, v) => n + v, 0)), live = () => page.textContent('.sr-only[aria-live]');
	await page.keyboard.press('/');
	await page.keyboard.type('s_waitcnt');
	await page.keyboard.press('Enter');
	await until(page, (n) => document.querySelector('.search .count')?.textContent === n, `1 of ${waits.length}`);
	equal(await get(page, 'panel'), kind ? 'summary' : 'isa', 'typing is no command');
	await until(page, (n) => window.incore.pane().ruler.density.reduce((a, v) => a + v, 0) === n, waits.reduce((n, r) => n + r.hit, 0));
	equal(await page.evaluate(() => [...window.incore.pane().view.matches].sort((a, b) => a - b)), waits.map((r) => r.index), 'rows marked on the lanes');
	await page.evaluate(() => document.activeElement.blur());
	const step = async (press, told, code) => {
		await page.keyboard.press(press);
		await until(page, (t) => document.querySelector('.search .count').textContent === t, told);
		equal(await get(page, 'selection.code'), code, `row of match ${told}`);
	};
	for (let i = 1; i < waits.length; i++) await step('n', `${i + 1} of ${waits.length}`, waits[i].index);
	truth(!/starts over/.test(await live()), 'nothing wrapped yet');
	await step('n', `1 of ${waits.length}`, waits[0].index);
	truth(/starts over at the first match/.test(await live()), `wrapping is told: "${await live()}"`);
	await step('Shift+N', `${waits.length} of ${waits.length}`, waits[waits.length - 1].index);
	truth(/starts over at the last match/.test(await live()), `wrapping back is told: "${await live()}"`);
	const some = of(/ds_(read|write)/);
	await seek(page, '/ds_(read|write)/', `1 of ${some.length}`);
	await until(page, (n) => window.incore.pane().ruler.density.reduce((a, v) => a + v, 0) === n, some.reduce((n, r) => n + r.hit, 0));
	if (!kind) await seek(page, '/(?i)S_WAIT(?#of PCRE)CNT\\b/', `1 of ${waits.length}`);
	await seek(page, 'no such thing', 'none');
	equal(await density(), 0, 'nothing found, nothing on the axis');
	await seek(page, '/(/', 'bad pattern');
	equal([await page.locator('.search input.bad').count(), await density()], [1, 0], 'a bad pattern is marked');
	await seek(page, '0x' + isa[20].address.toString(16), '1 of 1');
	equal(await get(page, 'selection.code'), isa[20].index, 'found by its address');
	const places = { source: ['for', (n) => n >= 1], tracks: ['SIMD1', (n) => n === 2], kernels: ['gemm', (n) => n === 1], markers: ['here', (n) => n === 1] };
	await page.evaluate(() => window.incore.app().store.set({ markers: [{ t: 700, dur: 0, name: 'here', colour: 1 }] }));
	for (const [place, [text, isRight]] of Object.entries(places)) {
		await page.selectOption('.search select', place);
		await seek(page, text, Array.from({ length: 200 }, (_, i) => `1 of ${i}`));
		const n = Number(/of (\d+)/.exec(await page.textContent('.search .count'))[1]);
		truth(isRight(n), `${n} matches of ${text} in ${place}`);
	}
	page.isAllowed = true; // an invalid expression is a request that the server refuses
	truth(!page.bad.some((b) => /exception|foreign/.test(b)), page.bad.join('\n'));
}

async function goTo(bench, kind) {
	const page = await bench.page(kind + 'gemm'), row = verb('isa', 'gemm').rows[20];
	const go = async (text) => {
		await page.keyboard.press('g');
		await page.waitForSelector('dialog[open] input');
		await page.fill('dialog[open] input', text);
		await page.keyboard.press('Enter');
		await until(page, () => !document.querySelector('dialog[open]'));
	};
	await page.keyboard.press('w');
	await page.keyboard.press('w');
	await go('3500');
	const [a, b] = await view(page);
	truth(Math.abs((a + b) / 2 - 3500) < 2, `cycle 3500 in the middle of ${a} to ${b}`);
	await go('0x' + row.address.toString(16));
	equal(await get(page, 'selection.code'), row.index, 'address');
	await go('gemm.py:17');
	equal([await get(page, 'selection.line'), await get(page, 'panel')], [17, 'source'], 'line');
	await go('row 5');
	equal(await get(page, 'selection.code'), verb('isa', 'gemm').rows.find((r) => r.row === 5).index, 'row');
	await go('se1_sm2_sl0_wv0');
	equal(await page.evaluate((k) => window.incore.app().trace.tracks[k].coord, await get(page, 'selection.track')), [1, 1, 2, 0, 0], 'wave by its file');
	await go('SE1 CU1 SIMD3 slot 0');
	equal(await page.evaluate((k) => window.incore.app().trace.tracks[k].coord, await get(page, 'selection.track')), [1, 1, 3, 0, 0], 'lane by its name');
	await page.keyboard.press('g');
	truth(await page.evaluate(() => {
		const d = document.querySelector('dialog[open]'), input = d.querySelector('input');
		d.close();
		input.dispatchEvent(new KeyboardEvent('keydown', { key: 'g', bubbles: true }));
		return !!document.querySelector('dialog[open]');
	}), 'a key that comes while a dialog closes is lost');
	await page.keyboard.press('Escape');
	await page.keyboard.press('g');
	for (const [text, wrong] of [['99999999', /the trace ends at/], ['0x1', /no instruction at/], ['nothing.py:3', /no source file/], ['row 999', /no row 999/], ['wave 77', /no lane named/]]) {
		await page.fill('dialog[open] input', text);
		await page.keyboard.press('Enter');
		await until(page, (source) => new RegExp(source).test(document.querySelector('dialog[open] [role=status]')?.textContent ?? ''), wrong.source);
	}
}

/** Places that were selected, or gone to in time: back, forward, and the list. */
async function places(bench, kind) {
	const page = await bench.page(kind + 'gemm'), code = () => get(page, 'selection.code'), row = verb('isa', 'gemm').rows[20];
	await page.evaluate(() => window.incore.pane().goSlice(1, 3));
	await until(page, () => window.incore.stats().state.selection?.code !== undefined);
	const first = await get(page, 'selection');
	await page.evaluate((i) => window.incore.app().select({ kind: 'code', code: i }), row.index);
	await page.keyboard.press('3');
	await page.keyboard.press('Alt+ArrowLeft');
	equal([await get(page, 'selection.track'), await get(page, 'selection.slice'), await get(page, 'panel')], [1, 3, kind ? 'summary' : 'isa'], 'back to the slice and its panel');
	equal(await code(), first.code, 'what is known of it came along');
	await page.keyboard.press('Alt+ArrowRight');
	equal([await code(), await get(page, 'panel')], [row.index, 'source'], 'forward to the row, as it was left');
	await page.keyboard.press('v');
	await page.waitForSelector('dialog[open] .places button');
	const listed = await page.$$eval('dialog[open] .places button', (all) => all.map((b) => [b.textContent, b.getAttribute('aria-current')]));
	equal(listed[0], [`row ${row.row} ${row.isa}`, 'true'], 'the latest is first');
	truth(listed.length === 3 && /slot|SIMD/.test(listed[1][0]) && /^cycles 0 to /.test(listed[2][0]), `listed: ${JSON.stringify(listed)}`);
	await page.click(`dialog[open] .places button >> nth=1`);
	await until(page, () => !document.querySelector('dialog[open]') && window.incore.stats().state.selection?.slice === 3);
	await page.keyboard.press('Alt+ArrowLeft');
	await page.keyboard.press('Alt+ArrowLeft');
	truth(/No earlier place/.test(await page.textContent('.sr-only[aria-live]')), 'the end of the list is told');
}

async function typing(bench, kind) {
	const page = await bench.page(kind + 'gemm'), before = await get(page, 't1');
	await panel(page, 'isa');
	await page.click('.panel-isa .filter');
	await page.keyboard.type('ws0bhkx?');
	equal([await get(page, 't1'), await get(page, 'isBottomOpen'), await get(page, 'markers.length')], [before, true, 0], 'keys typed into a field');
	equal(await page.locator('dialog[open]').count(), 0, 'no help');
}

async function compareKeys(bench) {
	const page = await bench.page(['gemm', 'throttled']);
	await page.keyboard.press('x');
	truth(await get(page, 'base'), 'X compares');
	const hash = await get(page, 'hash');
	await page.keyboard.press('Shift+X');
	await page.waitForFunction((h) => window.incore?.stats().state && window.incore.stats().state.hash !== h, hash);
	page.isAllowed = true; // the two have nothing in common, which the server says with an error
	truth(!page.bad.some((b) => /exception|foreign/.test(b)), page.bad.join('\n'));
}

/** Everything that the mouse does on the lanes. */
async function mouse(bench, kind) {
	const page = await bench.page(kind + 'gemm'), all = await view(page);
	await still(page);
	const box = await page.locator('.lanes-stage canvas.over').boundingBox(), x = (p) => box.x + box.width * p, y = box.y + 45;
	await page.mouse.click(x(0.3), y);
	await until(page, () => window.incore.stats().state.selection?.kind === 'slice');
	await page.keyboard.press('Escape');
	const drag = async (from, to, modifier, button = 'left') => {
		if (modifier) await page.keyboard.down(modifier);
		await page.mouse.move(x(from), y);
		await page.mouse.down({ button });
		await page.mouse.move(x((from + to) / 2), y + 10, { steps: 4 });
		await page.mouse.move(x(to), y + 20, { steps: 4 });
		await page.mouse.up({ button });
		if (modifier) await page.keyboard.up(modifier);
	};
	await drag(0.2, 0.5);
	await until(page, () => window.incore.stats().state.selection?.kind === 'box');
	const chosen = await get(page, 'selection');
	truth(Math.abs(chosen.t0 - all[1] * 0.2) < all[1] * 0.02 && Math.abs(chosen.t1 - all[1] * 0.5) < all[1] * 0.02, `a box of ${chosen.t0} to ${chosen.t1}`);
	await page.keyboard.press('Escape');
	await drag(0.2, 0.5, null, 'right');
	await until(page, () => window.incore.pane().overlay.measure);
	const measured = await page.evaluate(() => window.incore.pane().overlay.measure);
	truth(Math.abs(measured.t0 - all[1] * 0.2) < all[1] * 0.02 && Math.abs(measured.t1 - all[1] * 0.5) < all[1] * 0.02, `measured ${JSON.stringify(measured)}`);
	equal(await view(page), all, 'measuring changes no view');
	await page.keyboard.press('Escape');
	await drag(0.2, 0.5, 'Alt');
	await until(page, (w) => { const s = window.incore.stats().state; return s.t1 - s.t0 < w / 2; }, wide(all));
	await page.keyboard.press('0');
	await page.mouse.move(x(0.5), y);
	await page.keyboard.down('Control');
	await page.mouse.wheel(0, -400);
	await page.keyboard.up('Control');
	await until(page, (w) => { const s = window.incore.stats().state; return s.t1 - s.t0 < w; }, wide(all));
	const zoomed = await view(page);
	await page.keyboard.down('Shift');
	await page.mouse.wheel(0, 120);
	await page.keyboard.up('Shift');
	await until(page, (a) => Math.round(window.incore.stats().state.t0) !== Math.round(a), zoomed[0]);
}

const key = (...ids) => ids.map((i) => 'key:' + i);
export const tests = [
	...['', 'report:'].flatMap((kind) => [
		['help lists the checklist', help, [...key('help'), 'part:help']],
		['zoom, pan, fit, history', zoomAndPan, key('zoom-in', 'zoom-out', 'pan-left', 'pan-right', 'fit-all', 'back', 'forward')],
		['executions, range, marker, panels of the selection', selection, [...key('execution-next', 'execution-previous', 'fit-selection', 'to-isa', 'to-source', 'range', 'marker'), 'part:markers']],
		['pin, hide, colours, arrows, units, table', laneKeys, key('pin', 'pin-name', 'hide', 'show-all', 'arrows', 'colour', 'unit', 'table', 'bottom')],
		['1 to 9 open panels', panels, key(...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => 'panel-' + n))],
		['search, next, previous', search, [...key('search', 'match-next', 'match-previous'), 'part:search']],
		['go to cycle, address, line, row, wave', goTo, [...key('go-to'), 'part:go to']],
		['visited places', places, key('place-back', 'place-forward', 'places')],
		['mouse on the lanes', mouse, ['part:timeline']],
		['typing is no command', typing, []],
	].map(([name, run, covers]) => ({ name: `keys${kind && ', report'}: ${name}`, run: (b) => run(b, kind), covers }))),
	{ name: 'keys: lanes up and down', run: lanes, covers: key('lanes-up', 'lanes-down') },
	{ name: 'keys: compare and swap', run: compareKeys, covers: key('compare', 'compare-swap') },
];
