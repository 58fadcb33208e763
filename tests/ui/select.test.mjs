// SPDX-License-Identifier: Apache-2.0
// One selection for all panels; pixels of the lanes; arrows; boxes.
import { count, equal, panel, truth, verb } from './lib.mjs';

const get = (page, path) => page.evaluate((p) => p.split('.').reduce((o, k) => o?.[k], window.incore.stats().state), path);

/** Lanes are drawn when nothing is waited for and the picture stopped changing. */
export async function still(page) {
	await page.waitForFunction(async () => {
		const wait = () => new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(f)));
		const a = window.incore.stats();
		await wait();
		const b = window.incore.stats();
		return !b.tiles_waiting && a.frames === b.frames && a.requests === b.requests;
	});
}

async function sliceByKeys(bench) {
	const page = await bench.page('gemm');
	await page.evaluate(() => window.incore.app().select({ kind: 'track', track: 0 }));
	await page.evaluate(() => window.incore.pane().goSlice(0, 0));
	await page.waitForFunction(() => window.incore.stats().state.selection?.slice === 0);
	const isa = verb('isa', 'gemm');
	for (let i = 0; i < 12; i++) {
		await page.waitForFunction((n) => window.incore.stats().state.selection?.slice === n && window.incore.stats().state.selection.code !== undefined, i);
		const s = await get(page, 'selection');
		const row = isa.rows.find((r) => r.index === s.code);
		await page.waitForSelector(`.panel-isa .table-row.marked[data-key="${s.code}"]`);
		truth((await page.textContent('.inspector')).includes(row.isa), `inspector does not show ${row.isa}`);
		if (row.frames.length) equal([s.source, s.line], row.frames[0], `source line of row ${row.row}`);
		await page.keyboard.press(']');
	}
	await page.keyboard.press('[');
	await page.waitForFunction(() => window.incore.stats().state.selection?.slice === 11);
}

async function firstAndLast(bench) {
	const page = await bench.page('gemm'), isa = verb('isa', 'gemm'), rows = isa.rows;
	await panel(page, 'isa');
	for (const at of [0, rows.length - 1]) {
		const key = rows[at].index;
		await page.evaluate((k) => { const t = document.querySelector('.panel-isa .table'); t.scrollTop = k * 22 - 60; }, key);
		await page.click(`.panel-isa .table-row[data-key="${key}"] [data-column="row"]`);
		equal(await get(page, 'selection.code'), key, `row ${rows[at].row}`);
		equal([await get(page, 'selection.source'), await get(page, 'selection.line')], rows[at].frames[0], 'its line');
		await panel(page, 'source');
		await page.waitForSelector(`.panel-source .table-row.marked[data-key="${rows[at].frames[0][1]}"]`);
		await panel(page, 'isa');
	}
	await page.evaluate(() => (document.querySelector('.panel-isa .table').scrollTop = 0));
	await page.click('.panel-isa .table-row.label-row [data-column="row"]');
	equal(await get(page, 'selection.code'), isa.labels[0].index, 'the label row');
}

async function lineToRows(bench) {
	const page = await bench.page('gemm'), isa = verb('isa', 'gemm');
	await panel(page, 'source');
	await page.waitForSelector('.panel-source .table-row.hot');
	const line = Number(await page.locator('.panel-source .table-row.hot').first().getAttribute('data-key'));
	await page.locator('.panel-source .table-row.hot [data-column="line"]').first().click();
	await panel(page, 'isa');
	const want = isa.rows.filter((r) => r.frames.some((f) => f[1] === line)).map((r) => r.index);
	await page.waitForSelector('.panel-isa .table-row.marked');
	const marked = await page.$$eval('.panel-isa .table-row.marked', (all) => all.map((r) => Number(r.dataset.key)));
	truth(marked.length > 0 && marked.every((k) => want.includes(k)), `marked ${marked}, expected of ${want}`);
}

/** The rows of `slices` for a track. */
async function slicesOf(bench, name, track) {
	const server = await bench.server(name);
	const answer = await fetch(`http://127.0.0.1:${server.port}/api/1/slices?track=${track}&t0=0&t1=1000000`, { headers: { Authorization: 'Bearer ' + server.token } });
	const v = new DataView(await answer.arrayBuffer()), n = v.getUint32(12, true), base = Number(v.getBigUint64(16, true)), out = [];
	for (let i = 0, at = 32; i < n; i++, at += 20) out.push({ start: base + v.getUint32(at, true), dur: v.getUint32(at + 4, true), cls: v.getUint8(at + 16) });
	return out;
}

/** Colour of the picture at a time on a track's lane, as [r, g, b]. */
async function pixelAt(page, track, t) {
	return page.evaluate(([k, time]) => {
		const view = window.incore.pane().view, row = view.rowOf.get(k), s = window.incore.stats().state;
		const canvas = document.querySelector('.lanes-stage canvas'), ratio = canvas.width / canvas.clientWidth;
		const x = Math.floor(((time - s.t0) / (s.t1 - s.t0)) * canvas.width), y = Math.round((row.top - view.scroller.scrollTop + 3) * ratio);
		const dot = new OffscreenCanvas(1, 1).getContext('2d');
		dot.drawImage(canvas, x, y, 1, 1, 0, 0, 1, 1);
		return [...dot.getImageData(0, 0, 1, 1).data].slice(0, 3);
	}, [track, t]);
}

const near = (a, b, by) => a.every((v, i) => Math.abs(v - b[i]) <= by);
const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

/** Known slices have their colour at five zooms; where no wave is, there is background. */
async function pixels(bench) {
	const page = await bench.page('gemm');
	const { classes, palette, end, ends } = await page.evaluate(() => {
		const app = window.incore.app();
		return { classes: app.trace.classes, palette: app.palette(), end: app.trace.span.end, ends: app.trace.tracks.map((t) => t.end) };
	});
	const name = (s) => classes[s.cls].name, all = await slicesOf(bench, 'gemm', 0);
	const chosen = [...all].filter((s) => !['WAIT', 'BARRIER', 'NOP'].includes(name(s))).sort((a, b) => b.dur - a.dur)[0];
	for (const zoom of [1, 3, 10, 30, 60]) {
		const mid = chosen.start + chosen.dur / 2, half = end / 2 / zoom, t0 = Math.max(0, Math.min(end - 2 * half, mid - half));
		await page.evaluate(([a, b]) => window.incore.app().store.set({ t0: a, t1: b }), [t0, t0 + 2 * half]);
		await still(page);
		const got = await pixelAt(page, 0, mid), want = rgb(palette.slots[classes[chosen.cls].slot]);
		truth(near(got, want, 30), `zoom ${zoom}: ${name(chosen)} at ${mid} is drawn as ${got}, its colour is ${want}`);
	}
	await page.evaluate((b) => window.incore.app().store.set({ t0: 0, t1: b }), end);
	await still(page);
	const short = ends.indexOf(Math.min(...ends));
	if (end - ends[short] > end / 100) {
		const got = await pixelAt(page, short, (end + ends[short]) / 2);
		truth(near(got, rgb(palette.background), 14) || near(got, rgb(palette.stripe), 14), `after the end of a wave: ${got}`);
	}
}

async function box(bench) {
	const page = await bench.page('gemm');
	await page.evaluate(() => window.incore.app().select({ kind: 'box', t0: 0, t1: 1000, tracks: [0, 1] }));
	await page.waitForFunction(() => /union/i.test(document.querySelector('.inspector, .box')?.textContent ?? '') || /union/i.test(document.body.innerText));
	const text = await page.innerText('body');
	const server = await bench.server('gemm');
	const answer = await (await fetch(`http://127.0.0.1:${server.port}/api/1/select?tracks=0-1&t0=0&t1=1000&by=class`, { headers: { Authorization: 'Bearer ' + server.token } })).json();
	truth(text.includes(count(answer.total.sum)) && text.includes(count(answer.total.union)), `the box does not show sum ${answer.total.sum} and union ${answer.total.union}`);
	const pieces = [...(await slicesOf(bench, 'gemm', 0)), ...(await slicesOf(bench, 'gemm', 1))].map((x) => [x.start, Math.min(1000, x.start + x.dur)]).filter(([a, b]) => b > a).sort((a, b) => a[0] - b[0]);
	let union = 0, end = 0;
	for (const [a, b] of pieces) {
		union += Math.max(0, b - Math.max(a, end));
		end = Math.max(end, b);
	}
	equal([answer.total.count, answer.total.sum, answer.total.union], [pieces.length, pieces.reduce((n, [a, b]) => n + b - a, 0), union], 'count, sum and union, counted by hand');
	equal(answer.rows.reduce((n, r) => n + r.sum, 0), answer.total.sum, 'sums of the classes');
	truth(answer.total.union <= 1000 && answer.total.union <= answer.total.sum, 'union');
	await page.keyboard.press('Escape');
	equal(await get(page, 'selection'), null, 'Escape clears');
}

async function explorer(bench) {
	const page = await bench.page('gemm');
	const text = await page.innerText('.explorer');
	for (const word of ['gemm_f16', 'SE0', 'gemm.py']) truth(text.includes(word), `explorer has no ${word}`);
	await page.locator('.explorer .tree-row', { hasText: 'gemm.py' }).first().click();
	await page.waitForFunction(() => window.incore.stats().state.selection?.source === 0 || window.incore.stats().state.panel === 'source');
}

async function hotspotClick(bench) {
	const page = await bench.page('gemm');
	await panel(page, 'hotspots');
	const key = await page.locator('.panel-hotspots .table-row').first().getAttribute('data-key');
	await page.locator('.panel-hotspots .table-row [data-column="row"]').first().click();
	const code = await get(page, 'selection.code');
	equal(verb('isa', 'gemm').rows.find((r) => r.index === code).row, Number(key), 'row selected');
	truth((await page.locator('.bin.here').count()) === 1, 'its bin is marked');
	await page.locator('.bin').last().click();
	const last = await get(page, 'selection.code');
	truth(last > code, 'a click on a bin selects a row in it');
}

async function waveClick(bench) {
	const page = await bench.page('gemm');
	await panel(page, 'waves');
	await page.locator('.panel-waves .table[aria-label="Waves"] .table-row [data-column="wave"]').first().click();
	const track = await get(page, 'selection.track');
	const w = verb('waves', '--top', 'all', 'gemm').waves[0];
	const coord = await page.evaluate((k) => window.incore.app().trace.tracks[k].coord, track);
	equal(coord, [w.se, w.cu, w.simd, w.slot, w.wave], 'track of the longest wave');
}

async function flame(bench) {
	const page = await bench.page('inline');
	await panel(page, 'flame');
	await page.focus('.flame');
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('ArrowDown');
	truth((await page.innerText('.panel-flame > p')).includes('cycles'), 'nothing is said of the box');
	const label = await page.getAttribute('.flame', 'aria-label');
	truth(label.includes('inlined') && label.includes('12,180'), `flame graph says "${label}"`);
	await page.keyboard.press('Enter');
	await page.waitForFunction(() => document.querySelectorAll('.flame-path .link').length > 1); // Enter goes into a box
	await page.click('text=Invert');
	await page.fill('.panel-flame .filter', 's_waitcnt');
	await page.click('text=Whole');
}

/** A wait names the instances it waited for, and leads to them; the last one to arrive is told. */
async function producers(bench, name) {
	const server = await bench.server(name), page = await bench.page(name);
	const at = async (track, slice) => (await fetch(`http://127.0.0.1:${server.port}/api/1/at?track=${track}&slice=${slice}`, { headers: { Authorization: 'Bearer ' + server.token } })).json();
	let found = null, lone = null;
	const tracks = await page.evaluate(() => window.incore.app().trace.tracks.length);
	for (let track = 0; track < tracks && !(found && lone); track++)
		for (let i = 0; i < 40 && !(found && lone); i++) {
			const s = await at(track, i);
			if (s.slice === undefined || s.slice === null || s.error) break;
			if (s.producers?.length) found ??= s;
			else lone ??= s;
		}
	truth(found && lone, 'no slice with and without a producer');
	await page.evaluate(([t, i]) => window.incore.pane().goSlice(t, i), [found.track, found.slice]);
	const last = found.producers.find((p) => p.is_last) ?? found.producers[0];
	await page.waitForFunction((text) => document.querySelector('.inspector')?.textContent.includes(text), last.text);
	truth((await page.innerText('.inspector')).includes(count(last.latency)), `the latency ${last.latency} is not told`);
	await page.locator('.inspector button', { hasText: last.text.split(' ')[0] }).first().click();
	await page.waitForFunction(([t, i]) => window.incore.stats().state.selection?.track === t && window.incore.stats().state.selection?.slice === i, [last.track, last.slice]);
	const links = async (track, slice) => {
		const v = new DataView(await (await fetch(`http://127.0.0.1:${server.port}/api/1/links?track=${track}&slice=${slice}`, { headers: { Authorization: 'Bearer ' + server.token } })).arrayBuffer());
		return v.getUint32(8, true);
	};
	equal((await links(found.track, found.slice)) >= found.producers.length, true, 'arrows of a wait');
	equal((await at(lone.track, lone.slice)).producers ?? [], [], 'nothing was waited for');
}

export const tests = [
	{ name: 'select: a wait leads to its producer', run: (b) => producers(b, 'gemm') },
	{ name: 'select: a flag leads to the pipe that set it', run: (b) => producers(b, 'ascend_matmul') },
	{ name: 'select: slices one after the other mark row, line and inspector', run: sliceByKeys, covers: ['key:slice-next', 'key:slice-previous', 'part:inspector'] },
	{ name: 'select: first, last and label rows', run: firstAndLast },
	{ name: 'select: a source line marks its rows', run: lineToRows },
	{ name: 'select: a hotspot and a bin select rows', run: hotspotClick },
	{ name: 'select: a wave brings its lane up', run: waveClick },
	{ name: 'select: box statistics with sum and union', run: box, covers: ['part:box statistics', 'key:clear'] },
	{ name: 'select: explorer', run: explorer, covers: ['part:explorer'] },
	{ name: 'select: flame graph by keyboard', run: flame },
	{ name: 'pixels: slices have the colour of their class at five zooms', run: pixels, covers: ['part:timeline'] },
];
export { get };
