// SPDX-License-Identifier: Apache-2.0
// The lanes: marks above and below them, search at every zoom, busy shares, arrows, measures, markers, looks, pictures and print.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { count, equal, report, rests, scratch, truth, verb } from './lib.mjs';
import { get, still } from './select.test.mjs';

/** Both ways to look at a capture. */
const both = (run) => async (bench) => {
	for (const prefix of ['', 'report:']) await run(bench, prefix);
};
export const view = (page, t0, t1) => page.evaluate(([a, b]) => window.incore.app().store.set({ t0: a, t1: b }), [t0, t1]);
export const set = (page, patch) => page.evaluate((p) => window.incore.app().store.set(p), patch);
export const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
export const like = (a, b, by = 12) => a.every((v, i) => Math.abs(v - b[i]) <= by);
export const palette = (page) => page.evaluate(() => window.incore.app().palette());

/** An answer, as the page itself gets it: from the server or from the report's own core. */
export async function ask(page, question) {
	const text = await page.evaluate(async (q) => { // as text: a list of numbers takes the driver seconds
		const [name, words] = q.split('?'), query = Object.fromEntries(new URLSearchParams(words ?? '')), bytes = new Uint8Array(await window.incore.app().source.ask(name, query));
		let out = '';
		for (let i = 0; i < bytes.length; i += 8192) out += String.fromCharCode(...bytes.subarray(i, i + 8192));
		return btoa(out);
	}, question);
	return Buffer.from(text, 'base64');
}

/** Rows of `slices` of a track. */
export async function slicesOf(page, track) {
	const v = await ask(page, `slices?track=${track}&t0=0&t1=100000000`), out = [], base = Number(v.readBigUInt64LE(16));
	for (let i = 0, at = 32; i < v.readUInt32LE(12); i++, at += 20) out.push({ slice: v.readUInt32LE(24) + i, start: base + v.readUInt32LE(at), dur: v.readUInt32LE(at + 4), code: v.readUInt32LE(at + 12), cls: v[at + 16], slot: v[at + 19] });
	return out;
}

/** Pixels of the lanes: [r, g, b] at device column x, `dy` below the top of a track's lane. */
export async function pixels(page, track, places) {
	return page.evaluate(([k, all]) => {
		const view = window.incore.pane().view, row = view.rowOfTrack(k), canvas = document.querySelector('.lanes-stage canvas'), ratio = canvas.width / canvas.clientWidth;
		const copy = new OffscreenCanvas(canvas.width, canvas.height), g = copy.getContext('2d', { willReadFrequently: true });
		g.drawImage(canvas, 0, 0);
		return all.map(([x, dy]) => [...g.getImageData(x, Math.round((view.yOf(row) + (dy < 0 ? row.height + dy : dy)) * ratio), 1, 1).data].slice(0, 3));
	}, [track, places]);
}

export const columnOf = (page, t) => page.evaluate((time) => {
	const { t0, t1 } = window.incore.stats().state;
	return Math.floor(((time - t0) / (t1 - t0)) * document.querySelector('.lanes-stage canvas').width);
}, t);

let made = '';
/**
 * 40 waves that load and wait 60 times. The first one instead has two slices of 12,000 cycles with one of a single cycle between them, and
 * one whose row nobody knows.
 */
export function wide() {
	if (made) return made;
	const dir = path.join(scratch, 'wide-lanes'), out = path.join(dir, 'ui_output_agent_1_dispatch_1'), write = (file, value) => writeFileSync(path.join(out, file), JSON.stringify(value));
	mkdirSync(out, { recursive: true });
	const texts = ['; wide', 'v_add_u32_e32 v1, v1, v2', 's_add_u32 s4, s4, 64', 'buffer_load_dwordx4 v[12:15], v0, s[4:7], 0 offen', 's_waitcnt vmcnt(0)', 'v_mfma_f32_16x16x16_f16 a[0:3], v[8:9], v[10:11], a[0:3]', 's_endpgm'];
	const code = texts.map((t, i) => [t, 0, i, i ? `/k/wide.py:${i}` : '', 1, 4096 + 8 * i, 0, 0, 0, 0]), listed = {};
	for (let w = 0; w < 40; w++) {
		const begin = 1000 + 40 * w, list = [], waitcnt = [];
		let t = begin;
		const put = (type, stall, dur, row) => {
			list.push([t, type, stall, dur, row]);
			if (code[row]) [1, dur, stall].forEach((n, k) => (code[row][6 + k] += n));
			t += dur;
		};
		if (w === 0) for (const [type, dur, row] of [[6, 12000, 1], [2, 1, 2], [6, 12000, 1], [6, 900, 99]]) put(type, 0, dur, row);
		else
			for (let k = 0; k < 60; k++) {
				put(3, 0, 4, 3);
				put(6, 0, 4 + (k % 3), 1);
				put(9, 200 + 8 * k, 200 + 8 * k, 4);
				put(6, 0, 16, 5);
			}
		put(11, 0, 100, 6);
		const file = `se0_sm${w % 4}_sl${w >> 2}_wv0.json`;
		write(file, { duration: t - begin, name: 'SE0', num_insts: list.length, num_stitched: list.length, wave: { begin, cu: 1, end: t, id: 0, instructions: list, simd: w % 4, slot: w >> 2, timeline: [], waitcnt } });
		((listed[0] ??= {})[w % 4] ??= {})[w >> 2] = { 0: [file, begin, t] };
	}
	write('code.json', { code, header: 'ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle', version: '3.0.0' });
	write('filenames.json', { counter_names: [], gfxip: 9, gfxv: 'vega', global_begin_time: 0, synthetic: true, version: '3.0.0', wave_filenames: listed });
	write('occupancy.json', { dispatches: {}, version: '3.0.0' });
	return (made = dir);
}

/** Above a lane: one cycle between long slices, begin and end; unknown code is hatched, as cells and one by one. */
async function flags(bench, prefix) {
	const page = await bench.page(prefix + wide(), { viewport: { width: 1600, height: 900 } }), p = await palette(page);
	await set(page, { sort: 'start', isBottomOpen: false });
	await still(page);
	truth(!(await page.evaluate(() => window.incore.stats().is_exact)), 'so many slices are drawn as cells');
	const all = await slicesOf(page, 0), [first, tiny, second, unknown] = all;
	equal([first.dur, tiny.dur, second.dur, unknown.code], [12000, 1, 12000, 0xffffffff], 'the capture is as it was written');
	const at = async (t, dy) => (await pixels(page, 0, [[await columnOf(page, t), dy]]))[0];
	truth(like(await at(tiny.start, 0), rgb(p.quiet)), `one cycle between two long slices is not marked: ${await at(tiny.start, 0)}`);
	truth(!like(await at(first.start + 6000, 0), rgb(p.quiet)), 'a single long slice is marked as several');
	truth(like(await at(first.start, 0), rgb(p.text)), 'the begin of the wave is not marked');
	truth(like(await at(unknown.start + 450, 0), rgb(p.worse)), 'unknown code is not marked');
	const from = await columnOf(page, unknown.start + 100), to = await columnOf(page, unknown.start + 800);
	const inside = await pixels(page, 0, Array.from({ length: to - from }, (_, i) => [from + i, 9]));
	truth(inside.some((c) => like(c, rgb(p.worse), 40)) && inside.some((c) => !like(c, rgb(p.worse), 40)), 'unknown code is not hatched');
	await view(page, unknown.start - 200, unknown.start + 400);
	await still(page);
	truth(await page.evaluate(() => window.incore.stats().is_exact), 'few slices are drawn one by one');
	const x = await columnOf(page, unknown.start + 200), near = await pixels(page, 0, Array.from({ length: 40 }, (_, i) => [x + i, 9]));
	truth(near.some((c) => like(c, rgb(p.worse), 40)) && near.some((c) => !like(c, rgb(p.worse), 40)), 'unknown code is not hatched zoomed in');
}

/** A link's end is marked above its lane, as cells and one by one. */
async function linkEnds(bench, prefix) {
	const page = await bench.page(prefix + 'ascend_matmul'), p = await palette(page);
	await still(page);
	const tracks = await page.evaluate(() => window.incore.app().trace.tracks.length), end = await page.evaluate(() => window.incore.app().trace.span.end);
	const level = Math.ceil(Math.log2(end / 512)), tile = await ask(page, `tile?tracks=0-${tracks - 1}&level=${level}&i=0&mode=class`);
	let marked = 0;
	for (let k = 32; k < tile.length; k += 4) marked += tile[k + 3] & 4 ? 1 : 0;
	truth(marked > 0, 'the capture has no link');
	for (const width of [end, end / 8]) {
		await view(page, 0, width);
		await still(page);
		const seen = await page.evaluate((accent) => {
			const view = window.incore.pane().view, canvas = document.querySelector('.lanes-stage canvas'), copy = new OffscreenCanvas(canvas.width, canvas.height), g = copy.getContext('2d', { willReadFrequently: true });
			g.drawImage(canvas, 0, 0);
			let n = 0;
			for (const r of view.visible()) {
				if (!r.lane) continue;
				const d = g.getImageData(0, view.yOf(r), canvas.width, 1).data;
				for (let i = 0; i < d.length; i += 4) n += accent.every((c, k) => Math.abs(d[i + k] - c) < 12) ? 1 : 0;
			}
			return n;
		}, rgb(p.accent));
		truth(seen > 0, `no link end above the lanes with ${Math.round(width)} cycles in sight`);
	}
}

/** Matches stand below the lanes at every zoom, at the executions of the rows found and nowhere else. */
async function found(bench, prefix) {
	const page = await bench.page(prefix + wide(), { viewport: { width: 1600, height: 900 } }), p = await palette(page), end = await page.evaluate(() => window.incore.app().trace.span.end);
	await set(page, { isBottomOpen: false });
	const track = 1, slices = await slicesOf(page, track), code = await page.evaluate(() => window.incore.app().code().then((c) => c.text));
	for (const [place, text, hits] of [['isa', 'mfma', (s) => /mfma/.test(code[s.code])], ['isa', '/v_(mfma|add)/', (s) => /v_(mfma|add)/.test(code[s.code])]]) {
		await page.selectOption('.search select', place);
		await page.fill('.search input', text);
		await page.waitForFunction((t) => window.incore.stats().state.query === t && window.incore.pane().view.matches.size > 0, text);
		truth(await page.evaluate(() => window.incore.pane().ruler.density.some((n) => n > 0)), `${text}: nothing on the axis`);
		const wanted = slices.filter(hits);
		for (const zoom of [1, 4, 16, 64, 256]) {
			const t0 = wanted[20].start - end / zoom / 2, from = Math.max(0, Math.min(end - end / zoom, t0));
			await view(page, from, from + end / zoom);
			await page.waitForFunction(() => !window.incore.pane().view.found.waiting());
			await still(page);
			const inSight = wanted.filter((s) => s.start > from + 1 && s.start + s.dur < from + end / zoom - 1);
			truth(inSight.length > 0, 'nothing to look for');
			const width = await page.evaluate(() => document.querySelector('.lanes-stage canvas').width), cell = 2 ** Math.max(0, Math.ceil(Math.log2(end / zoom / width)));
			const free = slices.find((s) => !hits(s) && s.dur > 4 * cell && s.start > from + cell && s.start + s.dur < from + end / zoom - cell);
			const places = [inSight[0], inSight[inSight.length >> 1], inSight[inSight.length - 1], ...(free ? [free] : [])];
			const colours = await pixels(page, track, places.map((s) => [Math.floor(((s.start + s.dur / 2 - from) / (end / zoom)) * width), -2]));
			places.forEach((s, i) => equal(like(colours[i], rgb(p.accent)), s !== free, `${text} at ${s.start}, zoom ${zoom}: ${colours[i]} below the lane`));
			if (zoom === 4 || zoom === 16) truth(free, `zoom ${zoom}: no place without a match`);
		}
	}
	for (const [place, text] of [['source', ''], ['tracks', 'SIMD2 slot 3'], ['markers', 'here']]) {
		if (place === 'source') continue;
		await set(page, { markers: [{ t: 900, dur: 0, name: 'here', colour: 2 }], t0: 0, t1: end });
		await page.selectOption('.search select', place);
		await page.fill('.search input', text);
		await page.waitForFunction((n) => document.querySelector('.search .count').textContent.includes(n), '1');
		if (place === 'tracks') await page.waitForSelector('.lane-label.found');
		else await page.waitForFunction(() => window.incore.pane().ruler.density.reduce((a, b) => a + b, 0) === 1);
	}
	await page.fill('.search input', '');
	await page.waitForFunction(() => window.incore.pane().view.question === null && !window.incore.pane().ruler.density.length);
}

/** Busy cycles of each unit, and of the passes of the matrix pipe, add up to what `incore summary` says, and are drawn as bars. */
async function units(bench, prefix) {
	const name = 'gemm', page = await bench.page(prefix + name, { viewport: { width: 1600, height: 1000 } }), { utilization_by_simd: simds, matrix } = verb('summary', '--top', 'all', name), ROWS = 9;
	truth(matrix.modelled.by_simd.length === simds.length && matrix.modelled.pipe_cycles > matrix.issue_cycles, 'passes are known, and take longer than to issue');
	for (const level of [2, 6, 9]) {
		const sums = simds.map(() => new Array(ROWS).fill(0)), end = await page.evaluate(() => window.incore.app().trace.span.end);
		for (let i = 0; i * 512 * 2 ** level < end; i++) {
			for (let k = 0; k < simds.length; k += 4) {
				const v = await ask(page, `units?simds=${k}-${k + 1},${k + 2},${k + 3}&level=${level}&i=${i}`);
				equal([v.toString('latin1', 0, 4), v.readUInt32LE(20), v.readUInt32LE(24)], ['ICU1', 4 * ROWS, k * ROWS], 'header');
				for (let r = 0; r < 4 * ROWS; r++) for (let c = 0; c < 512; c++) sums[k + Math.floor(r / ROWS)][r % ROWS] += v.readUInt32LE(32 + (r * 512 + c) * 4);
			}
		}
		simds.forEach((s, k) => equal([0, 1, 3, 4, 7].map((u) => sums[k][u]), ['VALU', 'MATRIX', 'LDS', 'VMEM', 'branch'].map((u) => s.cycles[u]), `level ${level}, SIMD ${k}`));
		matrix.modelled.by_simd.forEach((s, k) => equal(sums[k][2], s.pipe_cycles, `level ${level}, SIMD ${k}: passes`));
	}
	const big = await bench.page(prefix + wide(), { viewport: { width: 1600, height: 900 } }), p = await palette(big);
	await set(big, { kind: 'units', isBottomOpen: false });
	await big.waitForFunction(() => window.incore.pane().view.units.count() && !window.incore.pane().view.units.waiting());
	await still(big);
	truth(!(await big.evaluate(() => window.incore.stats().is_exact)), 'drawn as cells');
	const look = (dy, x) => big.evaluate(([d, at]) => {
		const v = window.incore.pane().view, r = v.visible().find((q) => q.lane?.label === 'VALU'), c = document.querySelector('.lanes-stage canvas'), g = new OffscreenCanvas(1, 1).getContext('2d');
		g.drawImage(c, at, Math.round(v.yOf(r) + (d < 0 ? r.height + d : d)), 1, 1, 0, 0, 1, 1);
		return [...g.getImageData(0, 0, 1, 1).data].slice(0, 3);
	}, [dy, x]);
	const x = await columnOf(big, (await slicesOf(big, 0))[0].start + 6000);
	truth(like(await look(4, x), rgb(p.slots[2])) && like(await look(-4, x), rgb(p.slots[2])), 'a unit that issues all the time is no full bar');
	const level = await big.evaluate(() => window.incore.stats().level), i = Math.floor(26000 / 2 ** level / 512), cells = await ask(big, `units?simds=0-0&level=${level}&i=${i}`);
	const cell = Array.from({ length: 512 }, (_, k) => k).find((k) => { const part = cells.readUInt32LE(32 + 4 * k) / 2 ** level; return part > 0 && part < 0.5; });
	truth(cell !== undefined, 'no cell with some of it');
	const late = await columnOf(big, (512 * i + cell + 0.5) * 2 ** level);
	truth(like(await look(-3, late), rgb(p.slots[2])) && !like(await look(4, late), rgb(p.slots[2])), 'a unit that issues now and then is a full bar');
	const box = await big.locator('.lanes-stage canvas.over').boundingBox(), y = await big.evaluate(() => { const v = window.incore.pane().view, r = v.visible().find((q) => q.lane?.label === 'VALU'); return v.yOf(r) + r.height / 2; });
	await big.mouse.move(box.x + x, box.y + y);
	await big.waitForFunction(() => /issues in .* of .*100\.0 %/.test(document.querySelector('.tooltip')?.textContent ?? ''));
}

/** The strip above the lanes: buckets of every pixel in sight; asked anew when the view moved. */
async function global(bench, prefix) {
	const page = await bench.page(prefix + 'gemm'), a = verb('summary', 'gemm').accounting;
	for (const w of [1, 7, 700]) {
		const v = await ask(page, `buckets?w=${w}`), sums = new Array(5).fill(0);
		equal([v.toString('latin1', 0, 4), v.readUInt32LE(8)], ['ICB1', w], 'header');
		for (let i = 0; i < w * 5; i++) sums[i % 5] += v.readDoubleLE(16 + 8 * i);
		equal(sums, ['issue', 'stall', 'wait', 'idle', 'drain'].map((b) => a[b]), `cycles in ${w} parts`);
	}
	await page.click('.timeline-tools button:has-text("Global")');
	const steps = () => page.evaluate(() => window.incore.pane().global.buckets.steps.map((s) => [s.from, s.to]));
	await page.waitForFunction(() => window.incore.pane().global.buckets.steps.length > 100);
	await view(page, 1000, 1200);
	await page.waitForFunction(() => window.incore.pane().global.buckets.steps.length === 200);
	equal([(await steps())[0], (await steps())[199]], [[1000, 1001], [1199, 1200]], 'a cycle a step');
	const p = await palette(page), seen = await page.evaluate(() => {
		const c = document.querySelector('.global canvas'), d = c.getContext('2d').getImageData(0, c.height * 0.9, c.width, 1).data, all = new Set();
		for (let i = 0; i < d.length; i += 4) all.add([d[i], d[i + 1], d[i + 2]].join());
		return [...all];
	});
	truth(p.buckets.some((b) => seen.includes(rgb(b).join())), `no bucket is drawn: ${seen}`);
}

/** Panning makes no new picture and no new label: what a collector has nothing to do with cannot stop it. */
async function frames(bench) {
	const page = await bench.page(wide(), { viewport: { width: 1920, height: 1080 } });
	await set(page, { isBottomOpen: false, t0: 1000, t1: 22000 });
	await still(page);
	truth(!(await page.evaluate(() => window.incore.stats().is_exact)), 'drawn as cells');
	// the closed panel's room comes with an observer, some frames later
	await rests(page, async () => {
		const { view } = window.incore.pane(), at = view.arranged;
		await new Promise((f) => setTimeout(f, 300));
		return view.arranged === at;
	});
	const same = await page.evaluate(async (frames) => {
		const pane = window.incore.pane(), { strips } = pane.view, before = [strips.image, strips.out], label = document.querySelector('.lane-label:not(.group)'), corner = document.querySelector('.ruler-corner').firstChild;
		for (let i = 0; i < frames; i++) {
			pane.input.pan(i % 40 < 20 ? 0.01 : -0.01);
			await new Promise((f) => requestAnimationFrame(f));
		}
		return [before[0] === strips.image, before[1] === strips.out, label === document.querySelector('.lane-label:not(.group)'), corner === document.querySelector('.ruler-corner').firstChild, before[0] !== null];
	}, 20 * Number(process.env.TIMES ?? 1));
	equal(same, [true, true, true, true, true], 'picture, pixels, labels and corner are kept');
	truth((await page.evaluate(() => window.incore.stats().draw_calls)) <= 3 * 60 + 60, 'draw calls of a frame');
}

/** Sort, merge, split, height: lanes in the order of the figures that the verbs print. */
async function lanes(bench) {
	const page = await bench.page('gemm'), waves = verb('waves', '--top', 'all', 'gemm').waves;
	const order = () => page.evaluate(() => { const p = window.incore.pane(); return p.view.layout.rows.filter((r) => r.lane).map((r) => window.incore.app().trace.tracks[r.lane.tracks[0]].coord.join('.')); });
	const name = (w) => [w.se, w.cu, w.simd, w.slot, w.wave].join('.'), stalled = (w) => w.accounting.stall + w.accounting.wait;
	const by = (f) => [...waves].sort((a, b) => f(a) - f(b)).map(f), figure = async (f) => (await order()).map((o) => f(waves.find((w) => name(w) === o)));
	const begins = await page.evaluate(() => Object.fromEntries(window.incore.app().trace.tracks.map((t) => [t.coord.join('.'), t.begin])));
	for (const [sort, f] of [['start', (w) => begins[name(w)]], ['duration', (w) => -w.duration], ['stall', (w) => -stalled(w)]]) {
		await page.selectOption('.timeline-tools select[aria-label="Sort"]', sort);
		await page.waitForFunction((s) => window.incore.stats().state.sort === s, sort);
		await still(page);
		equal(await figure(f), by(f), `sorted by ${sort}`);
	}
	await page.selectOption('.timeline-tools select[aria-label="Sort"]', 'track');
	const many = await bench.page(wide(), { viewport: { width: 1280, height: 700 } });
	const rows = (p) => p.evaluate(() => window.incore.pane().view.layout.rows.filter((r) => r.lane).map((r) => r.height));
	const few = await rows(page), lots = await rows(many);
	truth(few.every((n) => n >= 18 && n <= 44) && lots.every((n) => n === 18) && few[0] > lots[0], `heights ${few[0]} and ${lots[0]}`);
	const slots = await bench.page('sqtt_gfx9'), merged = (await rows(slots)).length, tracks = await slots.evaluate(() => window.incore.app().trace.tracks.length);
	await slots.click('.timeline-tools button:has-text("Merged")');
	equal((await rows(slots)).length, tracks, 'split: a lane a wave');
	truth(merged <= tracks, 'merged: never more');
}

/** Everything of section 7: text, class, start, issue, stall, duration, execution n of N, wave, source line. */
async function tooltip(bench, prefix) {
	const page = await bench.page(prefix + 'gemm');
	await still(page);
	const s = JSON.parse(await ask(page, 'at?track=0&slice=12')), end = await page.evaluate(() => window.incore.app().trace.span.end);
	await view(page, Math.max(0, s.start - 200), Math.min(end, s.start + s.duration + 200));
	await still(page);
	const place = await page.evaluate((t) => { const v = window.incore.pane().view, { t0, t1, width } = v.scale(), b = v.over.getBoundingClientRect(), r = v.rowOfTrack(0); return [b.x + ((t - t0) / (t1 - t0)) * width, b.y + v.yOf(r) + r.height / 2]; }, s.start + s.duration / 2);
	await page.mouse.move(...place);
	await page.waitForSelector('.tooltip:not([hidden])');
	const text = await page.innerText('.tooltip'), facts = await page.$$eval('.tooltip tr', (all) => Object.fromEntries(all.map((r) => [...r.children].map((c) => c.textContent))));
	truth(text.includes(s.text) && text.includes(s.class), `"${text}" lacks ${s.text} or ${s.class}`);
	const cyc = (n) => `${count(n)} cycle${n === 1 ? '' : 's'}`;
	equal([facts.start, facts.duration, facts.issue, facts.stalled.split(',')[0], facts.execution, facts.source], [cyc(s.start), cyc(s.duration), cyc(s.issue), cyc(s.stall).split(',')[0], `${s.execution} of ${s.executions}`, `${s.frames[0].file.split('/').pop()}:${s.frames[0].line}`], 'facts');
	truth(/SE0 CU1 SIMD\d slot \d wave \d/.test(facts.on), `"${facts.on}" is no wave`);
}

/** Modes, cap, key of kinds, and the way along an arrow. */
async function arrows(bench, prefix) {
	const page = await bench.page(prefix + wide(), { viewport: { width: 1600, height: 900 } });
	await set(page, { isBottomOpen: false, arrows: 'visible', sort: 'start' });
	await page.waitForFunction(() => window.incore.pane().arrows.links.length > 0);
	const all = await page.evaluate(() => { const a = window.incore.pane().arrows; return [a.links.length, a.more]; });
	truth(all[0] === 2000 && all[1] > 0, `${all[0]} arrows, ${all[1]} more`);
	const inks = await page.evaluate(() => { // of the words at the top right, and of the key at the top left
		const c = document.querySelector('canvas.over'), g = new OffscreenCanvas(c.width, 24).getContext('2d', { willReadFrequently: true });
		window.incore.pane().overlay.draw();
		g.drawImage(c, 0, 0);
		const dark = (x, w) => { const d = g.getImageData(x, 6, w, 14).data; let n = 0; for (let i = 0; i < d.length; i += 4) n += d[i + 3] > 200 && d[i] < 90 ? 1 : 0; return n; };
		return [dark(c.width - 180, 160), dark(8, 90)];
	});
	truth(inks[0] > 60 && inks[1] > 20, `the rest and the kinds are not told: ${inks}`);
	await set(page, { arrows: 'none' });
	await page.waitForFunction(() => !window.incore.pane().arrows.links.length);
	let wait = null;
	for (let i = 0; i < 12 && !wait; i++) {
		const s = JSON.parse(await ask(page, `at?track=1&slice=${i}`));
		if (s.producers?.length) wait = s;
	}
	truth(wait, 'no wait with a producer');
	await set(page, { arrows: 'selection' });
	await page.evaluate(([t, i]) => window.incore.pane().goSlice(t, i), [1, wait.slice]);
	await page.waitForFunction(() => window.incore.pane().arrows.links.length > 0);
	const links = await page.evaluate(() => window.incore.pane().arrows.links);
	const [producer] = wait.producers, arrow = links.find((l) => l.fromSlice === producer.slice && l.toSlice === wait.slice);
	truth(arrow && arrow.isLast && links.filter((l) => l.isLast).length === 1, `from ${producer.slice} to ${wait.slice}, the last arrival: ${JSON.stringify(links)}`);
	await view(page, producer.start - 40, wait.start + wait.duration + 40);
	await still(page);
	const middle = await page.evaluate((l) => {
		const pane = window.incore.pane(), b = pane.view.over.getBoundingClientRect(), { width, height } = pane.view.size();
		for (let y = 0; y < height; y += 2) for (let x = 0; x < width; x += 4) {
			const hit = pane.arrows.hit(x, y);
			if (hit && hit.fromSlice === l.fromSlice && hit.toSlice === l.toSlice) return [b.x + x, b.y + y];
		}
		return null;
	}, arrow);
	truth(middle, 'the arrow is nowhere');
	await page.mouse.click(...middle);
	await page.waitForFunction((n) => window.incore.stats().state.selection?.slice === n, producer.slice);
	await page.keyboard.press('Escape');
	await page.waitForFunction(() => !window.incore.pane().arrows.links.length);
	const lone = JSON.parse(await ask(page, 'at?track=0&slice=0'));
	equal([lone.producers.length, (await ask(page, 'links?track=0&slice=0')).readUInt32LE(8)], [0, 0], 'nothing waited for: no arrow');
}

/** Right-drag and two markers tell the same: cycles, microseconds, share, slices. */
async function measure(bench, prefix) {
	const page = await bench.page(prefix + 'gemm'), end = await page.evaluate(() => window.incore.app().trace.span.end), mhz = await page.evaluate(() => window.incore.app().trace.clock.mhz);
	await still(page);
	const box = await page.locator('.lanes-stage canvas.over').boundingBox(), x = (p) => box.x + box.width * p;
	await page.mouse.move(x(0.25), box.y + 45);
	await page.mouse.down({ button: 'right' });
	await page.mouse.move(x(0.75), box.y + 45, { steps: 4 });
	await page.mouse.up({ button: 'right' });
	await page.waitForFunction(() => typeof window.incore.pane().overlay.measure?.slices === 'number');
	const m = await page.evaluate(() => window.incore.pane().overlay.measure), track = await page.evaluate(() => window.incore.pane().view.rowUnder(45).lane.tracks[0]);
	truth(Math.abs(m.t1 - m.t0 - end / 2) < end / 100, `measured ${m.t0} to ${m.t1}`);
	equal(m.slices, JSON.parse(await ask(page, `select?tracks=${track}&t0=${m.t0}&t1=${m.t1}&by=class`)).total.count, 'slices');
	await page.keyboard.press('Escape');
	equal(await page.evaluate(() => window.incore.pane().overlay.measure), null, 'Escape takes it away');
	for (const part of [0.25, 0.75]) {
		await page.mouse.move(x(part), box.y + 45);
		await page.keyboard.press('k');
	}
	await page.waitForFunction(() => window.incore.stats().state.markers.length === 2);
	const [a, b] = await get(page, 'markers'), tracks = await page.evaluate(() => window.incore.app().trace.tracks.length);
	truth(Math.abs(a.t - end / 4) < end / 100, `the marker is at ${a.t}, the pointer at ${end / 4}`);
	await page.click('.title-bar button:has-text("More")');
	await page.click('.menu button:has-text("Markers")');
	const slices = JSON.parse(await ask(page, `select?tracks=0-${tracks - 1}&t0=${a.t}&t1=${b.t}&by=class`)).total.count, n = b.t - a.t;
	await page.waitForFunction((s) => document.querySelector('dialog[open] .measured')?.textContent.includes(s), `${count(slices)} slices`);
	const words = await page.innerText('dialog[open] .measured');
	for (const part of [`${count(n)} cycles`, `${count(n / mhz, 3)} µs`, `${((100 * n) / end).toFixed(2)} %`]) truth(words.includes(part), `"${words}" lacks ${part}`);
}

/** Name and colour are changed in the list, and are in the link, on the server and in the report. */
async function markers(bench, prefix) {
	const page = await bench.page(prefix + 'gemm');
	await page.evaluate(() => window.incore.app().select({ kind: 'range', t0: 1000, t1: 1500 }));
	await page.keyboard.press('k');
	await page.click('.title-bar button:has-text("More")');
	await page.click('.menu button:has-text("Markers")');
	await page.fill('dialog[open] input', 'the slow part');
	await page.click('dialog[open] button:has-text("Colour")');
	await page.keyboard.press('Escape');
	const now = await get(page, 'markers');
	equal(now, [{ t: 1000, dur: 500, name: 'the slow part', colour: 1 }], 'a region with name and colour');
	await page.waitForFunction(() => /&m=1000:500:1:the%20slow%20part/.test(location.hash));
	const link = await page.evaluate(() => location.hash), other = prefix ? await bench.blank() : await bench.page('gemm', { link: link.slice(1) });
	if (prefix) {
		await other.goto(report('gemm') + link);
		await other.waitForSelector('.dock .tab');
	}
	equal((await get(other, 'markers')).map((m) => [m.t, m.dur, m.name, m.colour]), [[1000, 500, 'the slow part', 1]], 'markers of the link');
	await other.click('.title-bar button:has-text("More")');
	await other.click('.menu button:has-text("Markers")');
	await other.click('dialog[open] button:has-text("Delete")');
	equal(await get(other, 'markers'), [], 'deleted');
}

/** Keys do what the table says, exactly. */
async function exactly(bench) {
	const page = await bench.page(wide(), { viewport: { width: 1280, height: 700 } }), now = async () => [await get(page, 't0'), await get(page, 't1')];
	await still(page);
	const box = await page.locator('.lanes-stage canvas.over').boundingBox(), px = 0.3, x = box.x + box.width * px;
	await page.mouse.move(x, box.y + 40);
	const under = async () => { const [a, b] = await now(); return a + (b - a) * ((Math.round(x) - box.x) / box.width); };
	for (const key of ['w', '+', 'w', 's', '-']) {
		const before = await under(), [a, b] = await now();
		await page.keyboard.press(key);
		const [c, d] = await now();
		truth(Math.abs((await under()) - before) < (b - a) / 200, `${key}: the point under the pointer moved from ${before} to ${await under()}`);
		truth(Math.abs((d - c) / (b - a) - (key === 's' || key === '-' ? 1.6 : 1 / 1.6)) < 0.01, `${key}: ${b - a} became ${d - c}`);
	}
	await page.keyboard.down('Control');
	const before = await under(), [, right] = await now();
	await page.mouse.wheel(0, -200);
	await page.waitForFunction((t) => window.incore.stats().state.t1 !== t, right);
	await page.keyboard.up('Control');
	truth(Math.abs((await under()) - before) < 60, 'Ctrl+wheel zooms at the pointer');
	for (const [key, way] of [['d', 1], ['ArrowRight', 1], ['a', -1], ['ArrowLeft', -1]]) {
		await view(page, 8000, 12000);
		await page.keyboard.press(key);
		equal((await now()).map(Math.round), [8000 + way * 800, 12000 + way * 800], `${key} pans by a fifth`);
	}
	const top = () => page.evaluate(() => window.incore.pane().view.scroller.scrollTop);
	truth(await page.evaluate(() => { const s = window.incore.pane().view.scroller; return s.scrollHeight > s.clientHeight + 200; }), 'there is something to scroll');
	await page.keyboard.press('ArrowDown');
	truth((await top()) > 0, 'down scrolls the lanes');
	await page.keyboard.press('ArrowUp');
	equal(await top(), 0, 'up scrolls back');
	await page.mouse.wheel(0, 120);
	await page.waitForFunction(() => window.incore.pane().view.scroller.scrollTop > 0);
	const still0 = await now();
	await page.keyboard.press('Escape');
	await page.keyboard.press('ArrowDown');
	equal(await now(), still0, 'scrolling changes no view');
	// F and M on a slice, exactly its range
	await page.evaluate(() => window.incore.pane().goSlice(1, 2));
	await page.waitForFunction(() => window.incore.stats().state.selection?.code !== undefined);
	const s = await get(page, 'selection');
	await page.keyboard.press('f');
	const [a, b] = await now(), wideOf = Math.max(8, s.t1 - s.t0);
	equal([Math.round(a), Math.round(b)], [Math.round(s.t0 - 0.15 * wideOf), Math.round(s.t0 + 1.15 * wideOf)], 'F fits the selection with a margin');
	await page.keyboard.press('m');
	equal([await get(page, 'selection.kind'), await get(page, 'selection.t0'), await get(page, 'selection.t1')], ['range', s.t0, s.t1], 'M takes its range');
	await page.keyboard.press('Enter');
	await page.evaluate(() => window.incore.pane().goSlice(1, 2));
	await page.waitForFunction(() => window.incore.stats().state.selection?.kind === 'slice');
	await page.keyboard.press('Enter');
	await page.waitForSelector(`.panel-isa .table-row.marked[data-key="${s.code}"]`);
	// each colour, arrow mode and unit, in order, and round again
	for (const [key, state, want] of [['c', 'mode', ['bucket', 'cause', 'kernel', 'class']], ['l', 'arrows', ['visible', 'none', 'selection']]]) {
		const seen = [];
		for (let i = 0; i < want.length; i++) {
			await page.keyboard.press(key);
			seen.push(await get(page, state));
		}
		equal(seen, want, `${key} goes through them in order`);
	}
	await page.evaluate(() => window.incore.pane().goSlice(1, 2));
	await page.waitForFunction(() => window.incore.stats().state.selection?.kind === 'slice');
	for (const [key, list] of [['p', 'pins'], ['h', 'hidden']]) {
		await page.keyboard.press(key);
		equal(await get(page, list), [1], `${key} means the lane of the selection`);
	}
	equal(await get(page, 'pins'), [], 'a hidden lane is not pinned');
	await page.keyboard.press('Shift+H');
	await page.keyboard.press('t');
	await page.waitForSelector('dialog[open] .table .table-row');
	equal(await page.getAttribute('dialog[open]', 'aria-label').then((l) => /^Visible range: [\d,]+ slices$/.test(l)), true, 'T: the visible range');
	await page.keyboard.press('Escape');
	await page.waitForFunction(() => !document.querySelector('dialog[open]'));
}

/** Everything that is clicked is 24 pixels high and wide, also on lanes of 18; the toolbar never scrolls sideways. */
async function targets(bench) {
	const page = await bench.page(wide(), { viewport: { width: 1280, height: 700 } });
	await still(page);
	await page.click('.explorer button[title="Expand all"]');
	for (const over of ['.lane-label:not(.group)', '.lane-label.group', '.explorer .tree-row[data-node^="t"]:not([data-node="tracks"])']) {
		await page.hover(over);
		const small = await page.evaluate(() => [...document.querySelectorAll('.title-bar, .timeline, .explorer')].flatMap((p) => [...p.querySelectorAll('button, select, input, .tree-row')])
			.filter((e) => e.getClientRects().length).map((e) => [e.textContent.slice(0, 20) || e.ariaLabel, e.getBoundingClientRect()]).filter(([, r]) => r.width < 24 || r.height < 23.9).map(([t, r]) => `${t} ${r.width}x${r.height}`));
		equal(small, [], `smaller than 24 pixels, over ${over}`);
		truth((await page.locator('.lane-label:hover button, .tree-row:hover button').count()) > 0 || over.includes('group'), `${over} has no buttons`);
	}
	const again = await bench.page(['gemm', 'two_waves'], { viewport: { width: 1280, height: 800 } });
	await again.keyboard.press('x');
	again.isAllowed = true; // the two have nothing in common, which the server says with an error
	for (const [p, width, height] of [[page, 1280, 800], [again, 1280, 800], [page, 1000, 700], [page, 640, 400], [page, 320, 640], [page, 3840, 2160]]) {
		await p.setViewportSize({ width, height });
		const over = await p.evaluate(() => [document.documentElement.scrollWidth - innerWidth, ...['.timeline-tools', '.title-bar', '.timeline-key'].map((s) => { const e = document.querySelector(s); return e.scrollWidth - e.clientWidth; })]);
		equal(over, [0, 0, 0, 0], `${width} pixels: page, tools, title and key fit`);
	}
}

/** Lanes are as sharp as the screen, at 1 and 2 device pixels a pixel. */
async function sharp(bench) {
	for (const [width, height, deviceScaleFactor] of [[3840, 2160, 1], [1920, 1080, 2]]) {
		const page = await bench.page(wide(), { viewport: { width, height }, deviceScaleFactor });
		await still(page);
		const c = await page.evaluate(() => [...document.querySelectorAll('.lanes-stage canvas, .ruler canvas')].map((e) => [e.width / e.clientWidth, e.height / e.clientHeight]));
		truth(c.length === 3 && c.flat().every((r) => Math.abs(r - deviceScaleFactor) < 0.01), `${c}`);
		const s = await page.evaluate(() => window.incore.stats());
		truth(s.dom_nodes <= 3000, `${s.dom_nodes} elements at ${width}`);
	}
}

/** Each pixel of the overview has the colour of a class, or nothing: no mixtures. */
async function crisp(bench, prefix) {
	const page = await bench.page(prefix + 'gemm', { viewport: { width: 1600, height: 900 } }), p = await palette(page);
	await still(page);
	await page.waitForFunction(() => window.incore.pane().ruler.tiles.length > 0);
	await page.evaluate(() => new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(f))));
	const seen = await page.evaluate(() => {
		const c = document.querySelector('.ruler canvas'), d = c.getContext('2d').getImageData(4, 4, c.width - 8, 20).data, all = {};
		for (let i = 0; i < d.length; i += 4) all[[d[i], d[i + 1], d[i + 2]].join()] = (all[[d[i], d[i + 1], d[i + 2]].join()] ?? 0) + 1;
		return all;
	});
	const allowed = new Set([...p.slots, p.stripe, p.background].map((h) => rgb(h).join()));
	equal(Object.keys(seen).filter((k) => !allowed.has(k)), [], 'colours that are no class');
	truth(Object.keys(seen).length >= 4, 'several classes are seen');
}

function luminance([r, g, b]) {
	const f = (v) => { const c = v / 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
	return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b);
}
const contrast = (a, b) => { const [x, y] = [luminance(a), luminance(b)]; return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05); };

/** Text 4.5 to 1 on every surface it stands on, graphics and borders of fields 3 to 1, in three themes: from the page's own values. */
async function contrasts(bench) {
	const page = await bench.page('gemm');
	for (const theme of ['light', 'dark', 'contrast']) {
		await page.selectOption('.title-bar select[aria-label="Theme"]', theme);
		const vars = await page.evaluate(() => {
			const probe = document.body.appendChild(document.createElement('i')), out = {};
			for (const name of ['bg', 'surface', 'raised', 'stripe', 'mark', 'hover', 'text', 'dim', 'accent', 'on-accent', 'strong-line', 'worse', 'better', 'good', 'warn-bg', 'warn-text', 'bad-bg', 'bad-text', 'info-bg', 'info-text']) {
				probe.style.color = `var(--${name})`;
				out[name] = (getComputedStyle(probe).color.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);
			}
			probe.remove();
			return out;
		});
		const least = (a, b, n, words) => truth(contrast(a, b) >= n, `${theme}: ${words}: ${contrast(a, b).toFixed(2)}, wants ${n}`);
		for (const back of ['bg', 'surface', 'raised', 'stripe', 'mark', 'hover']) for (const text of ['text', 'dim']) least(vars[text], vars[back], 4.5, `${text} on ${back}`);
		for (const back of ['bg', 'surface', 'raised', 'stripe']) {
			for (const text of ['accent', 'worse', 'better', 'good']) least(vars[text], vars[back], 4.5, `${text} on ${back}`);
			least(vars['strong-line'], vars[back], 3, `borders on ${back}`);
		}
		least(vars['on-accent'], vars.accent, 4.5, 'text on the accent');
		for (const kind of ['warn', 'bad', 'info']) least(vars[kind + '-text'], vars[kind + '-bg'], 4.5, kind);
		const p = await palette(page);
		for (const back of [p.background, p.stripe]) for (const c of [...p.slots, ...p.buckets, p.quiet, p.accent, p.worse, p.better]) least(rgb(c), rgb(back), 3, `${c} on ${back}`);
	}
}

/** Cost bars, filter, pin, hide, expand all; a kernel without waves says so and narrows nothing. */
async function explorer(bench) {
	const page = await bench.page('gemm'), row = (text) => page.locator('.explorer .tree-row', { hasText: text });
	await page.waitForSelector('.tree-row[data-node^="f"] .cost');
	equal(await page.innerText('.tree-row[data-node="f0"] .figure'), '100.0 %', 'the share of the only function');
	await page.click('.explorer button[title="Expand all"]');
	const lanes = page.locator('.tree-row[data-node^="t"]:not([data-node="tracks"])');
	await lanes.nth(3).waitFor(); // expand all shows lanes
	await lanes.first().hover();
	await lanes.first().locator('button').first().click();
	equal((await get(page, 'pins')).length, 1, 'pinned from the explorer');
	await lanes.nth(1).hover();
	await lanes.nth(1).locator('button').nth(1).click();
	equal((await get(page, 'hidden')).length, 1, 'hidden from the explorer');
	await page.click('.explorer button[title="Collapse all"]');
	await lanes.first().waitFor({ state: 'detached' }); // collapse all
	await page.fill('.explorer input', 'gemm.py');
	await page.waitForFunction(() => ![...document.querySelectorAll('.tree-row .label')].some((l) => /^SE|Waves/.test(l.textContent)));
	truth((await row('gemm.py').count()) === 1, 'the filter keeps what it names');
	await page.fill('.explorer input', '');
	const names = await page.evaluate(() => { const { trace } = window.incore.app(), has = new Set(trace.tracks.map((t) => t.kernel)); return trace.kernels.filter((k) => !has.has(k.id)).map((k) => k.name); });
	truth(names.length > 0, 'the capture has no kernel without waves');
	await row('without traced waves').waitFor(); // kernels without waves stand apart
	await row('without traced waves').click();
	const other = page.locator('.tree-row[data-node^="k"].tree-row', { hasText: 'unnamed' }).or(row(names[0])).first();
	await other.click();
	equal(await get(page, 'scope'), null, 'there is nothing to narrow to');
	truth(/no wave of it was recorded/.test(await other.getAttribute('title')), 'it says why');
}

/** PNG and SVG of what is in sight, and the page on paper. */
async function pictures(bench, prefix) {
	const page = await bench.page(prefix + 'gemm', { acceptDownloads: true, viewport: { width: 1400, height: 900 } });
	await still(page);
	const save = async (kind) => {
		await page.click('.title-bar button[title^="Save"]');
		const [d] = await Promise.all([page.waitForEvent('download'), page.click(`.menu button:has-text("${kind}")`)]);
		equal(d.suggestedFilename(), `incore-gemm_f16.${kind.toLowerCase()}`, 'name');
		return readFileSync(await d.path());
	};
	const png = await save('PNG'), size = await page.evaluate(() => { const { width, height } = window.incore.pane().view.size(); return [width + window.incore.pane().view.labelWidth, height + 90]; });
	equal([png.toString('latin1', 1, 4), png.readUInt32BE(16)], ['PNG', 2 * size[0]], 'PNG of the lanes, two pixels a pixel');
	truth(png.readUInt32BE(20) > 2 * size[1], 'with the legend below');
	const read = (text) => page.evaluate((svg) => {
		const d = new DOMParser().parseFromString(svg, 'image/svg+xml');
		return { bad: d.querySelectorAll('parsererror').length, rects: d.querySelectorAll('rect > title').length, images: d.querySelectorAll('image').length, text: d.documentElement.textContent };
	}, text);
	const exact = await read((await save('SVG')).toString('utf8')), slices = await page.evaluate(() => window.incore.app().trace.counts.slices);
	equal([exact.bad, exact.images, exact.rects], [0, 0, slices], 'a shape a slice');
	for (const word of ['gemm_f16', 'synthetic', 'SIMD3 slot 0', 'cycles']) truth(exact.text.includes(word), `the SVG lacks ${word}`);
	await set(page, { mode: 'bucket' });
	await still(page);
	truth((await read((await save('SVG')).toString('utf8'))).images > 0, 'other colours are a picture');
	const pdf = await page.pdf({ format: 'A4', landscape: true, printBackground: true });
	truth(pdf.length > 20000 && pdf.toString('latin1', 0, 5) === '%PDF-', 'the page is printed');
	await page.emulateMedia({ media: 'print' });
	await page.setViewportSize({ width: 1000, height: 700 });
	const paper = await page.evaluate(() => {
		const box = (s) => document.querySelector(s).getBoundingClientRect(), c = box('.lanes-stage canvas');
		return { over: document.documentElement.scrollWidth - innerWidth, right: c.right - innerWidth, height: box('.timeline').height, tools: getComputedStyle(document.querySelector('.timeline-tools')).display };
	});
	truth(paper.over <= 0 && paper.right <= 0 && paper.height > 200 && paper.tools === 'none', `on paper: ${JSON.stringify(paper)}`);
}

export const tests = [
	{ name: 'timeline: several, begin and end, unknown code', run: both(flags) },
	{ name: 'timeline: link ends', run: both(linkEnds) },
	{ name: 'timeline: matches on axis and lanes at five zooms', run: both(found) },
	{ name: 'timeline: busy shares of units equal summary', run: both(units) },
	{ name: 'timeline: global strip for each pixel', run: both(global) },
	{ name: 'timeline: a pan makes no new picture', run: frames },
	{ name: 'timeline: sort, merge, height', run: lanes },
	{ name: 'timeline: tooltip has every fact', run: both(tooltip) },
	{ name: 'timeline: arrows, cap, last arrival, jump', run: both(arrows) },
	{ name: 'timeline: measure by mouse and by markers', run: both(measure) },
	{ name: 'timeline: markers with name and colour in the link', run: both(markers) },
	{ name: 'timeline: keys do exactly what the table says', run: exactly },
	{ name: 'timeline: targets of 24 pixels, toolbar fits', run: targets },
	{ name: 'timeline: sharp on 4K and at two pixels a pixel', run: sharp },
	{ name: 'timeline: the overview is crisp', run: both(crisp) },
	{ name: 'timeline: contrast of all colours in three themes', run: contrasts },
	{ name: 'timeline: explorer', run: explorer },
	{ name: 'timeline: pictures and print', run: both(pictures) },
];
