// SPDX-License-Identifier: Apache-2.0
// compare.test.mjs: two captures: every panel shows A, B and the change, per execution; on the server and in a report of both.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { comes, count, DATA, equal, incore, open, panel, report, rows, scratch, truth, verb } from './lib.mjs';
import { still } from './select.test.mjs';

const A = 'repeated/ui_output_agent_1000_dispatch_7', B = 'repeated/ui_output_agent_1000_dispatch_9';
const PANELS = ['isa', 'source', 'hotspots', 'waits', 'waves', 'occupancy', 'dispatches', 'summary', 'states', 'utilization'];

/** A copy of a capture with some files changed; null takes a file away. */
function copy(name, label, change = (text) => text) {
	const dir = path.join(scratch, 'compare-' + label);
	mkdirSync(dir, { recursive: true });
	cpSync(path.join(DATA, name), dir, { recursive: true });
	const walk = (d) => readdirSync(d, { withFileTypes: true }).forEach((f) => {
		const file = path.join(d, f.name);
		if (f.isDirectory()) return walk(file);
		const text = readFileSync(file, 'utf8'), now = change(text, f.name, d);
		if (now === null) rmSync(file);
		else if (now !== text) writeFileSync(file, now);
	});
	walk(dir);
	return dir;
}

const isWave = (name) => /^se\d.*\.json$/.test(name);

/** gemm whose last instruction takes 100 cycles longer in every wave. */
function slower() {
	return copy('gemm', 'slower', (text, name) => {
		if (!isWave(name)) return text;
		const d = JSON.parse(text), w = d.wave;
		w.instructions[w.instructions.length - 1][3] += 100;
		w.timeline[w.timeline.length - 1][1] += 100;
		w.end += 100;
		d.duration += 100;
		return JSON.stringify(d);
	});
}

/** gemm with the waves of its first engine alone, and with the same waves on both. */
function half() {
	return copy('gemm', 'half', (text, name) => {
		if (/^se1_/.test(name)) return null;
		if (name !== 'filenames.json') return text;
		const d = JSON.parse(text);
		delete d.wave_filenames[1];
		return JSON.stringify(d);
	});
}

function twice() {
	return copy('gemm', 'twice', (text, name, dir) => {
		if (/^se1_/.test(name)) return readFileSync(path.join(dir, name.replace('se1', 'se0')), 'utf8');
		if (name !== 'filenames.json') return text;
		const d = JSON.parse(text);
		for (const simd of Object.keys(d.wave_filenames[1])) {
			const [, begin, end] = d.wave_filenames[0][simd][0][0];
			d.wave_filenames[1][simd][0][0].splice(1, 2, begin, end);
		}
		return JSON.stringify(d);
	});
}

/** A report of both, opened. */
async function reportOf(bench, a, b) {
	return open(await bench.blank(), report(b, a)); // what comes after the first goes before it on the command line
}

async function comparing(page) {
	await page.evaluate(() => {
		const app = window.incore.app(), other = app.trace.captures.find((c) => c.index !== app.trace.index);
		app.store.set({ base: other.hash });
	});
}

/** Every cell that tells a change in the open panel, from all its tables. */
async function changes(page, id) {
	await panel(page, id);
	await page.waitForFunction((p) => document.querySelector(`.panel[data-panel="${p}"] [data-column="diff"], .panel[data-panel="${p}"] [data-versus="change"]`), id);
	return page.evaluate((p) => [...document.querySelectorAll(`.panel[data-panel="${p}"] .table-row [data-column="diff"], .panel[data-panel="${p}"] [data-versus="change"]`)].map((c) => c.textContent.trim()), id);
}

const isZero = (text) => text === '' || text === '-' || /^0(\.0+)?$/.test(text);

async function noChange(page, panels) {
	await comparing(page);
	for (const id of panels) {
		const all = await changes(page, id);
		equal(all.filter((t) => !isZero(t)), [], `${id}: equal captures differ`);
		truth(all.some((t) => /^0/.test(t)), `${id} compares nothing`);
	}
	await panel(page, 'compare');
	await page.waitForSelector('.table[aria-label="Differences, part by part"]');
	for (const label of ['Differences, part by part', 'Figures per execution'])
		for (const r of await rows(page, label)) equal([r.a, isZero(r.change)], [r.b, true], `compare: ${r.key ?? r.name}`);
}

async function equalCaptures(bench) {
	const again = copy('gemm', 'again');
	await noChange(await bench.page(['gemm', again]), PANELS);
	await noChange(await reportOf(bench, 'gemm', again), PANELS);
}

async function equalPipes(bench) {
	const again = copy('ascend_matmul', 'pipes-again');
	await noChange(await bench.page(['ascend_matmul', again]), ['waves', 'occupancy', 'utilization', 'summary']);
}

/** Means of each capture's own answer, and what lies between them. */
async function counters(bench) {
	const means = (c) => JSON.parse(incore('view', '--get', '/api/1/derived?w=512', c)).data.counters.map((x) => [x.name, x.mean]);
	const more = copy('v31', 'counters-more', (text, name) => (name === 'se0_perfcounter.json' ? JSON.stringify({ data: JSON.parse(text).data.map((r) => r.map((v, i) => (i === 3 ? v * 2 : v))) }) : text));
	for (const [other, isSame] of [[copy('v31', 'counters-again'), true], [more, false]]) {
		const page = await bench.page(['v31', other]), there = new Map(means(other));
		await comparing(page);
		equal((await changes(page, 'counters')).every(isZero), isSame, 'changes');
		const shown = new Map((await page.$$eval('table[aria-label="Counters against the other capture"] tbody tr', (list) => list.map((r) => [...r.children].map((c) => c.textContent)))).map((r) => [r[0], r]));
		for (const [name, mean] of means('v31')) equal([shown.get(name)[1], shown.get(name)[2], shown.get(name)[3].replace(/^[^\d-]*/, '')], [count(mean, 2), count(there.get(name), 2), count(there.get(name) - mean, 2)], `mean of ${name}`);
	}
}

/** One instruction changed: one row of code tells it, and the totals that hold it. */
async function oneChange(bench, page) {
	const last = verb('isa', 'gemm').rows.pop();
	await comparing(page);
	await changes(page, 'isa');
	const listed = (await rows(page, 'Instructions')).filter((r) => r.diff !== undefined && !isZero(r.diff));
	equal(listed.map((r) => [r.row, r.diff, r['diff-pct']]), [[String(last.row), '△ +100.00', listed[0]['diff-pct']]], 'the row that changed');
	truth(Number(listed[0]['diff-b'].replace(/,/g, '')) - Number(listed[0]['diff-a'].replace(/,/g, '')) === 100, 'B is A and 100 cycles more');
	await panel(page, 'compare');
	await page.waitForSelector('.table[aria-label="Differences, part by part"]');
	equal((await rows(page, 'Differences, part by part')).filter((r) => !isZero(r.change)).map((r) => r['row-a']), [String(last.row)], 'one part changed');
	await changes(page, 'summary');
	const buckets = await page.$$eval('.accounting tr', (all) => all.map((r) => [r.querySelector('[data-bucket]')?.dataset.bucket, r.querySelector('[data-versus="change"]')?.textContent]).filter(([b]) => b));
	for (const [bucket, change] of buckets) equal(isZero(change), !['drain', 'duration'].includes(bucket), `bucket ${bucket}: ${change}`);
	await panel(page, 'flame');
	await page.waitForFunction(() => /in the other capture|▲|△/.test(document.querySelector('canvas.flame')?.getAttribute('aria-label') ?? ''));
	truth(/△ \+/.test(await page.getAttribute('canvas.flame', 'aria-label')), 'the flame graph tells it');
	await page.selectOption('.timeline-tools select[aria-label="Colour"]', 'diff');
	const look = () => page.evaluate(() => {
		const v = window.incore.pane().view, p = window.incore.app().palette(), row = v.visible().find((r) => r.lane), t = window.incore.app().trace.tracks[row.lane.tracks[0]], s = v.scale();
		const base = document.querySelector('.lanes-stage canvas'), ratio = devicePixelRatio, x = ((t.end - 300 - s.t0) / (s.t1 - s.t0)) * s.width;
		const copy = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true });
		const at = (px) => {
			copy.drawImage(base, -Math.round(px * ratio), -Math.round((v.yOf(row) + 8) * ratio));
			return [...copy.getImageData(0, 0, 1, 1).data].slice(0, 3).map((c) => c.toString(16).padStart(2, '0')).join('');
		};
		return { end: '#' + at(x), worse: p.worse };
	});
	await comes(async () => (await look()).end === (await look()).worse); // tiles of the new colour are asked for first
	const seen = await look();
	equal(seen.end, seen.worse, 'the slice that got worse, in the lanes');
}

async function oneInstruction(bench) {
	const b = slower();
	await oneChange(bench, await bench.page(['gemm', b]));
	await oneChange(bench, await reportOf(bench, 'gemm', b));
}

/** Twice as many waves that do the same: figures per execution stay, whatever the totals do. */
async function unequalWaves(bench) {
	const page = await bench.page([half(), twice()]);
	await comparing(page);
	for (const id of ['isa', 'source', 'hotspots', 'waits', 'summary', 'states']) {
		const all = await changes(page, id);
		equal(all.filter((t) => !isZero(t)), [], `${id}: per execution nothing changed`);
		truth(all.some((t) => /^0/.test(t)), `${id} compares nothing`);
	}
	await panel(page, 'compare');
	await page.waitForSelector('.table[aria-label="Figures per execution"]');
	const figures = new Map((await rows(page, 'Figures per execution')).map((r) => [r.name, r]));
	equal([figures.get('waves').a, figures.get('waves').b], [count(4), count(8)], 'waves');
	equal(figures.get('latency per hit').a, figures.get('latency per hit').b, 'latency per hit');
}

/** Repeats beside the captures give a noise floor: what lies inside it is grey, what lies beyond is told without doubt. */
async function noise(bench) {
	const dir = path.join(scratch, 'compare-noise');
	mkdirSync(dir, { recursive: true });
	for (const [from, to] of [[A, 'ui_output_agent_1000_dispatch_7'], [B, 'ui_output_agent_1000_dispatch_9']]) cpSync(path.join(DATA, from), path.join(dir, to), { recursive: true });
	const after = slower(), a = path.join(dir, 'ui_output_agent_1000_dispatch_7'), d = verb('diff', '--top', 'all', a, after);
	const page = await bench.page([a, after]);
	await comparing(page);
	await changes(page, 'isa');
	const shown = new Map((await rows(page, 'Instructions')).map((r) => [r.row, r]));
	truth(d.parts.some((p) => p.verdict === 'within-noise') && d.parts.some((p) => p.verdict === 'beyond-noise'), 'the captures have both');
	for (const p of d.parts.filter((x) => x.row_a !== null && Math.abs(x.change) >= 0.005)) {
		const sign = shown.get(String(p.row_a)).diff[0];
		equal('▲▼'.includes(sign), p.verdict === 'beyond-noise', `row ${p.row_a}: ${p.verdict} is shown as ${sign}`);
	}
	const grey = await page.$$eval('.panel-isa .table-row', (all) => all.map((r) => [r.querySelector('[data-column="row"]').textContent, r.querySelector('[data-column="diff"] .delta.same, [data-column="diff"] span span.same') !== null]));
	for (const [row, isGrey] of grey) {
		const p = d.parts.find((x) => String(x.row_a) === row);
		if (p) equal(isGrey, p.verdict === 'within-noise' || Math.abs(p.change) < 0.005, `row ${row} is grey`);
	}
}

async function cannotCompare(bench) {
	for (const page of [await bench.page(['gemm', 'throttled']), await reportOf(bench, 'gemm', 'throttled')]) {
		await comparing(page);
		for (const id of ['isa', 'flame', 'summary', 'states']) {
			await panel(page, id);
			await page.waitForFunction(() => /cannot be compared: .*not of comparable code/.test(document.querySelector('.against')?.textContent ?? ''));
		}
		equal(await page.locator('.panel-isa [data-column="diff"]').count(), 0, 'no figures for rows');
		await panel(page, 'utilization');
		await page.waitForSelector('.panel-utilization [data-column="diff"]');
		await panel(page, 'compare');
		await page.waitForSelector('.panel-compare .notice');
		truth(/not of comparable code/.test(await page.innerText('.panel-compare')), 'the reason is not told');
		page.isAllowed = true; // the refusal is an answer with an error status
		truth(!page.bad.some((x) => /exception|foreign/.test(x)), page.bad.join('\n'));
	}
}

/** Begin of the first lane. */
function begin(capture) {
	const t = JSON.parse(incore('view', '--get', '/api/1/trace', capture));
	return t.tracks[0][t.track_columns.indexOf('begin')];
}

/** Start of a slice of the first lane. */
function start(capture, which) {
	return JSON.parse(incore('view', '--get', `/api/1/at?track=0&${which}`, capture)).start;
}

/** B's lanes stacked, moved as asked; tiles of both sides. */
async function stacked(bench) {
	for (const page of [await bench.page([A, B]), await reportOf(bench, A, B)]) {
		await comparing(page);
		await page.selectOption('.timeline-tools select[aria-label="Lanes of B"]', '1');
		await page.waitForFunction(() => /4 lanes, 0 without a partner/.test(document.querySelector('.stack-head')?.textContent ?? ''));
		const ink = () => page.evaluate(() => {
			const c = document.querySelector('.stack-lanes canvas'), g = Object.assign(document.createElement('canvas'), { width: c.width, height: 1 }).getContext('2d', { willReadFrequently: true });
			g.drawImage(c, 0, -8);
			const data = g.getImageData(176 * devicePixelRatio, 0, c.width - 176 * devicePixelRatio, 1).data;
			let first = -1, n = 0;
			for (let i = 0; i < data.length; i += 4) if (data[i] + data[i + 1] + data[i + 2] < 600) {
				if (first < 0) first = i / 4;
				n++;
			}
			return { first, n };
		});
		truth(await comes(async () => (await ink()).n > 100), 'B is drawn');
		await still(page);
		const before = await ink();
		for (const [align, code] of [['trace', null], ['row', 20], ['start', null]]) {
			if (code !== null) await page.evaluate((c) => window.incore.app().select({ kind: 'code', code: c }), code);
			await page.selectOption('.timeline-tools select[aria-label="Align"]', align);
			const { t0, t1, width } = await page.evaluate(() => window.incore.pane().view.scale());
			const first = start(B, 'slice=0') + (align === 'row' ? start(A, 'code=20&execution=1') - start(B, 'code=20&execution=1') : align === 'start' ? begin(A) - begin(B) : 0);
			const isThere = ({ n, first: at }) => n > 100 && Math.abs(at - ((first - t0) / (t1 - t0)) * width) < 3;
			truth(await comes(async () => isThere(await ink())), `aligned by ${align}, B begins at pixel ${(await ink()).first}, not at cycle ${first}`);
		}
		truth(await comes(async () => JSON.stringify(await ink()) === JSON.stringify(before)), 'aligned at the start again');
		await page.waitForFunction(() => /[#&]k=1(&|$)/.test(location.hash)); // the address follows with a delay
		await page.reload();
		await page.waitForSelector('.stack:not([hidden])');
	}
}

async function dropped(bench) {
	for (const [page, words] of [[await bench.page('gemm'), 'incore view gemm \'my capture\''], [await bench.page('report:gemm'), 'incore report gemm \'my capture\' -o both.html']]) {
		await page.evaluate(() => {
			const d = new DataTransfer();
			d.items.add(new File(['x'], 'my capture'));
			document.dispatchEvent(new DragEvent('drop', { dataTransfer: d, bubbles: true, cancelable: true }));
		});
		await page.waitForSelector('dialog[open] code.command');
		truth((await page.$$eval('dialog code.command', (all) => all.map((c) => c.textContent))).includes(words), words);
		await page.keyboard.press('Escape');
		await page.waitForSelector('dialog', { state: 'detached' });
	}
}

/** Cycles of no instruction are in the flame graph, named as such: it adds up to the accounting. */
async function unassigned(bench) {
	const page = await bench.page('ascend_matmul'), d = verb('isa', 'ascend_matmul');
	const rest = d.accounting.duration - d.rows.reduce((n, r) => n + Object.values(r.buckets).reduce((a, b) => a + b, 0), 0);
	await panel(page, 'flame');
	await page.waitForFunction(() => document.querySelector('canvas.flame')?.getAttribute('aria-label'));
	const label = await page.getAttribute('canvas.flame', 'aria-label');
	truth(label.includes(`: ${count(d.accounting.duration)} cycles, 100.0 %`) && label.includes(`[unassigned]: ${count(rest)} cycles`), `flame graph says "${label}"`);
}

/** The report of two captures is the server's two captures: titles, swap, Markdown, the same bytes. */
async function both(bench) {
	const page = await reportOf(bench, A, B);
	equal(await page.$$eval('.title-bar select[aria-label="Capture"] option', (all) => all.length), 2, 'captures to choose from');
	await panel(page, 'waves');
	const first = await rows(page, 'Waves');
	await page.selectOption('.title-bar select[aria-label="Capture"]', '1');
	await page.waitForFunction(() => window.incore.app()?.trace.index === 1);
	await panel(page, 'waves');
	const second = await rows(page, 'Waves');
	truth(JSON.stringify(first) !== JSON.stringify(second), 'the second capture has its own waves');
	equal(second.map((r) => r.duration).sort(), verb('waves', '--top', 'all', B).waves.map((w) => count(w.duration)).sort(), 'waves of the second capture');
	const out = (name) => path.join(scratch, name);
	for (const name of ['1/x.html', '2/x.html']) {
		mkdirSync(path.dirname(out(name)), { recursive: true });
		incore('report', '-q', A, B, '-o', out(name));
	}
	truth(readFileSync(out('1/x.html')).equals(readFileSync(out('2/x.html'))), 'the same input gives other bytes');
}

export const tests = [
	{ name: 'compare: equal captures show no change in any panel', run: equalCaptures },
	{ name: 'compare: equal pipes show no change', run: equalPipes },
	{ name: 'compare: counters by their means', run: counters },
	{ name: 'compare: one changed instruction is one row', run: oneInstruction },
	{ name: 'compare: unequal wave counts leave figures per execution', run: unequalWaves },
	{ name: 'compare: what lies inside the noise floor is grey', run: noise },
	{ name: 'compare: captures that cannot be compared, everywhere', run: cannotCompare },
	{ name: 'compare: lanes of the other stacked', run: stacked },
	{ name: 'compare: a dropped file gets the command', run: dropped },
	{ name: 'compare: a report of two captures', run: both },
	{ name: 'flame: cycles of no instruction', run: unassigned },
];
