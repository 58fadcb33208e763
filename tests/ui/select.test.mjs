// SPDX-License-Identifier: Apache-2.0
// One selection for all panels; pixels of the lanes; arrows; boxes.
import { readFileSync } from 'node:fs';
import { count, equal, panel, quiet, rests, truth, verb } from './lib.mjs';

const get = (page, path) => page.evaluate((p) => p.split('.').reduce((o, k) => o?.[k], window.incore.stats().state), path);

/** Lanes are drawn when nothing is waited for and the picture stopped changing. */
export async function still(page) {
	await quiet(page);
	await rests(page, async () => {
		const wait = () => new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(f)));
		const a = window.incore.stats();
		await wait();
		await wait();
		const b = window.incore.stats();
		return (b.frames > 0 || !window.incore.pane()) && !b.tiles_waiting && a.frames === b.frames && a.requests === b.requests;
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
		await page.waitForFunction((text) => document.querySelector('.inspector').textContent.includes(text), row.isa);
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

/** Exposed cycles as the width: what `hot --exposed` says, in all and of each instruction; on the server and in the report. */
async function flameExposed(bench, name) {
	const page = await bench.page(name, { acceptDownloads: true }), want = new Map(), width = '.panel-flame select[aria-label="Width"]';
	for (const r of verb('hot', '--exposed', '--top', 'all', name).rows) want.set(r.isa, (want.get(r.isa) ?? 0) + r.exposed);
	const total = [...want.values()].reduce((a, b) => a + b, 0), { accounting } = verb('isa', name);
	truth(total > 0 && total < accounting.duration - accounting.issue, 'some of the lost cycles are exposed, not all');
	await panel(page, 'flame');
	await page.selectOption(width, 'exposed');
	await page.waitForFunction((words) => document.querySelector('.flame')?.getAttribute('aria-label').includes(words), `: ${count(total)} cycles, 100.0 % of exposed`);
	const said = await page.innerText('.panel-flame > p');
	truth(said.startsWith(`Exposed: ${count(total)} cycles, lost cycles in which`), `the basis: "${said}"`);
	const [d] = await Promise.all([page.waitForEvent('download'), page.click('.panel-flame button:has-text("Folded")')]), got = new Map();
	for (const [, stack, n] of readFileSync(await d.path(), 'utf8').matchAll(/^(.*) (\d+)$/gm)) got.set(stack.split(';').pop(), (got.get(stack.split(';').pop()) ?? 0) + Number(n));
	equal([...got].sort(), [...want].filter(([, n]) => n).map(([isa, n]) => [isa.replaceAll(';', ' '), n]).sort(), 'exposed cycles of each instruction');
	await page.selectOption(width, 'lost');
	await page.waitForFunction((words) => document.querySelector('.flame')?.getAttribute('aria-label').includes(words), `: ${count(accounting.duration - accounting.issue)} cycles, 100.0 % of lost`);
}

/** Where nobody can tell, the choice is there, says why, and cannot be taken. */
async function flameUntold(bench) {
	for (const [name, why] of [['ascend_matmul', 'exposed (see Pipes)'], ['pc_sampling', 'exposed (samples do not tell)']]) {
		const page = await bench.page(name);
		await panel(page, 'flame');
		equal(await page.$$eval('.panel-flame select[aria-label="Width"] option', (all) => all.filter((o) => o.disabled).map((o) => o.textContent)), [why], name);
	}
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
	{ name: 'select: explorer', run: explorer, covers: ['part:explorer'] },
	{ name: 'select: flame graph by keyboard', run: flame },
	...['sqtt_gfx9', 'report:inline', 'ncu/kernel.ncu-rep'].map((name) => ({ name: `select: exposed cycles of the flame graph, ${name}`, run: (b) => flameExposed(b, name) })),
	{ name: 'select: why the flame graph has no exposed cycles', run: flameUntold },
];
export { get };
