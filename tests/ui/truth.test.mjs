// SPDX-License-Identifier: Apache-2.0
// What is shown is true: boxes, strips and hatches by their pixels in light and dark; saved tables equal shown ones; no number is cut; every
// share says of what.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { altered, comes, count, equal, open, panel, report, rows, scratch, truth, verb } from './lib.mjs';
import { still } from './select.test.mjs';
import { ask, columnOf, like, palette, pixels, rgb, set, slicesOf, view, wide } from './timeline.test.mjs';

const THEMES = ['light', 'dark'];
const themed = (bench, capture, colorScheme, more = {}) => bench.page(capture, { viewport: { width: 1600, height: 900 }, colorScheme, ...more });

const made = new Map();
/** Waves one after the other on each of four SIMDs, 24 to a lane, each of so many slices with gaps between them. */
function crowded(slices = 2) {
	if (made.has(slices)) return made.get(slices);
	const dir = path.join(scratch, `crowded-lanes-${slices}`), out = path.join(dir, 'ui_output_agent_1_dispatch_1'), write = (file, value) => writeFileSync(path.join(out, file), JSON.stringify(value)), listed = { 0: {} };
	mkdirSync(out, { recursive: true });
	const code = ['; crowded', 'v_add_u32_e32 v1, v1, v2', 's_endpgm'].map((t, i) => [t, 0, i, i ? `/k/crowded.py:${i}` : '', 1, 4096 + 8 * i, 0, 0, 0, 0]);
	for (let simd = 0; simd < 4; simd++) for (let id = 0; id < 24; id++) {
		const begin = 1000 + 500 * id, one = Math.floor(300 / (slices - 1)), list = [...Array.from({ length: slices - 1 }, (_, k) => [begin + k * one, 6, 0, slices > 2 ? one - 3 : one, 1]), [begin + 300, 11, 0, 90, 2]], file = `se0_sm${simd}_sl0_wv${id}.json`;
		for (const [, , stall, dur, row] of list) [1, dur, stall].forEach((n, k) => (code[row][6 + k] += n));
		write(file, { duration: 400, name: 'SE0', num_insts: slices, num_stitched: slices, wave: { begin, cu: 1, end: begin + 400, id, instructions: list, simd, slot: 0, timeline: [], waitcnt: [] } });
		((listed[0][simd] ??= {})[0] ??= {})[id] = [file, begin, begin + 400];
	}
	write('code.json', { code, header: 'ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle', version: '3.0.0' });
	write('filenames.json', { counter_names: [], gfxip: 9, gfxv: 'vega', global_begin_time: 0, version: '3.0.0', wave_filenames: listed });
	write('occupancy.json', { dispatches: {}, version: '3.0.0' });
	made.set(slices, dir);
	return dir;
}

/** A box over lanes of 24 waves each is as transparent as one over a single wave. */
async function box(bench) {
	for (const theme of THEMES) {
		const page = await themed(bench, crowded(), theme);
		await still(page);
		const at = await page.evaluate(() => {
			const { trace, store } = window.incore.app(), v = window.incore.pane().view;
			store.set({ selection: { kind: 'box', t0: 2000, t1: 9000, tracks: trace.tracks.map((t) => t.index) } });
			return { lanes: v.lanes.map((l) => l.tracks.length), row: v.yOf(v.rowOfTrack(0)) + 5, scale: v.scale() };
		});
		equal(at.lanes, [24, 24, 24, 24], 'waves a lane');
		await page.evaluate(() => window.incore.pane().overlay.draw());
		const alpha = await page.evaluate(({ row, scale }) => {
			const c = document.querySelector('canvas.over'), ratio = c.width / c.clientWidth, x = ((5300 - scale.t0) / (scale.t1 - scale.t0)) * scale.width;
			return c.getContext('2d').getImageData(Math.round(x * ratio), Math.round(row * ratio), 1, 1).data[3];
		}, at);
		truth(Math.abs(alpha - 0.16 * 255) <= 2, `${theme}: a box over 24 waves covers ${alpha} of 255`);
	}
}

/** The bar of a report, its table and the lanes say the same of the same cycles, whatever the number of slices a wave has. */
async function bar(bench) {
	for (const slices of [2, 16, 17, 32]) {
		const capture = crowded(slices), want = verb('summary', capture).accounting, html = readFileSync(report(capture).replace('file://', ''), 'utf8');
		for (const b of ['issue', 'stall', 'wait', 'idle', 'drain']) {
			const said = new RegExp(`>${b} ([\\d,]+) cycles, ([\\d.]+) %<`).exec(html);
			equal([said?.[1], said?.[2]], [count(want[b]), ((100 * want[b]) / want.duration).toFixed(1)], `${slices} slices a wave: ${b} of the report's bar`);
		}
		const page = await bench.page(capture), sums = await ask(page, `buckets?t0=0&t1=${await page.evaluate(() => window.incore.app().trace.span.end)}&w=1`);
		equal([0, 1, 2, 3, 4].map((k) => sums.readDoubleLE(16 + 8 * k)), ['issue', 'stall', 'wait', 'idle', 'drain'].map((b) => want[b]), `${slices} slices a wave: buckets over the lanes`);
	}
}

/** What a cell shows, as in the page: its text, or what its picture is called. */
const shown = (page, label) => page.evaluate(async (name) => {
	const table = [...document.querySelectorAll('.table')].find((t) => t.getAttribute('aria-label') === name), total = Number(table.getAttribute('aria-rowcount')) - 1, seen = new Map();
	const heads = [...table.querySelectorAll('.table-head .cell')].map((c) => [c.dataset.column, (c.querySelector('.sort span, span:not(.column-grip)')?.textContent ?? ''), c.querySelector('.unit')?.textContent ?? '']).filter(([, head]) => head);
	const say = (cell) => {
		const hidden = [...cell.querySelectorAll('[hidden]')].map((e) => e.textContent).join(''), text = hidden && cell.textContent === hidden ? '' : cell.textContent;
		const said = text || [...cell.querySelectorAll('[role=img]:not([hidden])')].map((e) => e.getAttribute('aria-label')).join('');
		return cell.classList.contains('num') ? said.replace(/(\d),(?=\d{3})/g, '$1').replace(/^\s*-\s*$/, '') : said;
	};
	table.scrollTop = 0;
	for (let guard = 0; guard < 400 && seen.size < total; guard++) {
		await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
		for (const row of table.querySelectorAll('.table-row')) {
			const cells = new Map([...row.querySelectorAll('[data-column]')].map((c) => [c.dataset.column, c]));
			seen.set(Number(row.dataset.index), heads.map(([id]) => say(cells.get(id)).replace(/\s+/g, '')));
		}
		table.scrollTop += Math.max(40, table.clientHeight - 80);
	}
	return { heads: heads.map(([, head, unit]) => head + (unit ? ` (${unit})` : '')), rows: [...seen.keys()].sort((a, b) => a - b).map((k) => seen.get(k)) };
}, label);

/** Lines of a CSV file, cells without spaces. */
function csv(text) {
	const lines = [[]];
	for (const m of text.matchAll(/("(?:[^"]|"")*"|[^,\r\n]*)(,|\r\n)/g)) {
		lines[lines.length - 1].push(m[1].startsWith('"') ? m[1].slice(1, -1).replace(/""/g, '"') : m[1]);
		if (m[2] !== ',') lines.push([]);
	}
	return lines.slice(0, -1);
}

/** Saves every table of the open panel and compares it with what stands there. */
async function saved(page, id) {
	await still(page); // what follows the first answer is there, too
	const labels = await page.$$eval(`.panel[data-panel="${id}"] .table`, (all) => all.map((t) => t.getAttribute('aria-label')));
	let n = 0;
	for (const label of labels) {
		const has = await page.evaluate((name) => {
			const t = [...document.querySelectorAll('.panel .table')].find((x) => x.getAttribute('aria-label') === name), b = [...(t.closest('.panel-section') ?? t.closest('.panel')).querySelectorAll('.tools button')].find((x) => x.textContent === 'CSV');
			b?.click();
			return !!b;
		}, label);
		if (!has) continue;
		const [heads, ...lines] = csv(await page.evaluate(() => window.saved.text())), want = await shown(page, label);
		equal(heads, want.heads, `${id}, ${label}: heads`);
		truth(heads.every((h) => h.trim()), `${id}, ${label}: an empty head among ${heads}`);
		equal(lines.map((l) => l.map((c) => c.replace(/\s+/g, ''))), want.rows, `${id}, ${label}: cells`);
		n++;
	}
	return n;
}

async function tables(bench) {
	let n = 0;
	// every panel of one capture, and of others those whose tables are of another kind there
	for (const [capture, ...some] of [['gemm'], ['ascend_matmul', 'waits', 'waves', 'occupancy', 'utilization'], ['ascend_device', 'details'], ['pc_sampling', 'isa', 'hotspots'], ['v31', 'dispatches', 'occupancy'], ['report:inline', 'isa', 'source']]) {
		const page = await themed(bench, capture, 'light');
		await page.evaluate(() => {
			const make = URL.createObjectURL;
			URL.createObjectURL = (blob) => make.call(URL, (window.saved = blob));
			HTMLAnchorElement.prototype.click = () => undefined;
		});
		await set(page, { beside: null });
		for (const id of some.length ? some : await page.$$eval('.tab', (tabs) => tabs.map((t) => t.dataset.panel))) {
			await panel(page, id);
			await page.waitForFunction((p) => { const v = document.querySelector(`.panel[data-panel="${p}"]`); return v && !v.querySelector('[aria-busy], .notice[role=status]'); }, id);
			n += await saved(page, id);
			for (const by of id === 'hotspots' ? ['line', 'opcode', 'class', 'cause', 'producer'] : []) {
				await page.selectOption('.panel-hotspots select[aria-label="Rank by"]', by);
				await page.waitForFunction((b) => document.querySelector('.panel-hotspots select[aria-label="Rank by"]').value === b && document.querySelector('.panel-hotspots .table').getAttribute('aria-label') !== 'Hottest instructions', by);
				await still(page);
				n += await saved(page, id);
			}
		}
	}
	truth(n > 30, `only ${n} tables were saved`);
}

/** Where there is no room a path gives way, never the number of a line. */
async function places(bench) {
	const long = 'a_file_with_a_name_that_is_too_long_for_any_column_of_any_table_in_the_whole_page.py';
	for (const capture of [altered('gemm', 'long-names', (text) => text.replaceAll('gemm.py', long)), 'report:' + altered('gemm', 'long-names', (text) => text)]) {
		const page = await bench.page(capture, { viewport: { width: 1280, height: 720 } });
		await set(page, { beside: null });
		for (const id of ['isa', 'hotspots', 'summary']) {
			await panel(page, id);
			if (id === 'hotspots') await page.selectOption('.panel-hotspots select[aria-label="Rank by"]', 'line');
			await page.waitForSelector(`.panel[data-panel="${id}"] .place-line`);
			const cut = await page.$$eval(`.panel[data-panel="${id}"] .place`, (all) => all.filter((e) => e.getClientRects().length).map((e) => {
				const line = e.querySelector('.place-line'), a = line.getBoundingClientRect(), b = (e.closest('.cell, td') ?? e).getBoundingClientRect(), name = e.querySelector('.place-name');
				return { text: line.textContent, isIn: a.width > 0 && a.right <= b.right + 0.5 && a.left >= b.left - 0.5, isCut: name.scrollWidth > name.clientWidth, title: e.title || e.closest('[title]')?.title || e.closest('.cell') !== null };
			}));
			truth(cut.length > 0 && cut.every((c) => /^:\d+/.test(c.text) && c.isIn && c.title), `${id}: ${JSON.stringify(cut.find((c) => !c.isIn || !/^:\d/.test(c.text)) ?? cut[0])}`);
			truth(cut.some((c) => c.isCut), `${id}: the name is not too long: nothing is tested`);
		}
	}
}

const legend = (page) => page.$$eval('.legend-line .legend-key', (all) => all.map((e) => e.textContent));

/** Under a lane stands what its waves did, or nothing: never something else than the lane says; and the legend says what it is. */
async function strip(bench) {
	for (const theme of THEMES) {
		const page = await themed(bench, [wide(), altered(wide(), 'wide-again', (text) => text)], theme), p = await palette(page);
		await set(page, { sort: 'start', isBottomOpen: false, isInspectorOpen: false });
		await still(page);
		const wait = (await slicesOf(page, 1)).find((s) => s.code === 4 && s.dur > 600), at = async (dy) => (await pixels(page, 1, [[await columnOf(page, wait.start + wait.dur / 2), dy]]))[0];
		for (const mode of ['class', 'bucket', 'cause', 'kernel', 'diff']) {
			if (mode === 'diff') await page.evaluate(() => window.incore.app().store.set({ base: window.incore.app().trace.captures[1].hash, isStacked: true }));
			await set(page, { mode });
			await page.waitForFunction((m) => document.querySelector('.timeline-tools select[aria-label="Colour"]').value === m, mode);
			await still(page);
			const middle = await at(8), below = await at(-4), keys = await legend(page);
			if (mode === 'class') {
				truth(like(below, rgb(p.buckets[2])), `${theme}: under a wait the strip is ${below}, not ${p.buckets[2]}`);
				truth(['strip:', 'issue', 'stall', 'wait', 'drain'].every((k) => keys.includes(k)), `${theme}: the legend has no strip: ${keys}`);
			} else {
				equal(below, middle, `${theme}, ${mode}: the strip says something else than the lane`);
				truth(!keys.includes('strip:'), `${theme}, ${mode}: a strip in the legend that is not drawn`);
			}
			if (mode === 'bucket') truth(like(middle, rgb(p.buckets[2])), `${theme}: a wait is ${middle} by bucket`);
		}
	}
}

/** The hatch of what is lost goes on under its text; a short stall is seen; unknown code looks different. */
async function hatch(bench) {
	for (const theme of THEMES) {
		const page = await themed(bench, wide(), theme), p = await palette(page);
		await set(page, { sort: 'start', isBottomOpen: false });
		const slices = await slicesOf(page, 1), wait = slices.find((s) => s.code === 4 && s.dur > 600);
		await view(page, wait.start - 40, wait.start + wait.dur + 40);
		await still(page);
		truth(await page.evaluate(() => window.incore.stats().is_exact), 'drawn one by one');
		const from = await columnOf(page, wait.start), to = await columnOf(page, wait.start + wait.dur), across = (a, n) => pixels(page, 1, Array.from({ length: n }, (_, i) => [a + i, 4]));
		const inks = (list) => new Set(list.map((c) => c.map((v) => Math.round(v / 16)).join())).size;
		const near = await across(from + 6, 60), far = await across(to - 80, 60);
		truth(inks(near) >= 2 && inks(far) >= 2, `${theme}: ${inks(near)} shades above the text, ${inks(far)} beside it`);
		truth(!far.some((c) => like(c, rgb(p.worse), 30)), `${theme}: a wait is hatched like unknown code`);
		const [, , , unknown] = await slicesOf(page, 0);
		await view(page, unknown.start - 40, unknown.start + unknown.dur + 40);
		await still(page);
		const x = await columnOf(page, unknown.start + 300), cross = await pixels(page, 0, Array.from({ length: 24 }, (_, i) => [x + i % 12, 6 + Math.floor(i / 12)]));
		truth(cross.some((c) => like(c, rgb(p.worse), 60)), `${theme}: unknown code is not crossed: ${cross[0]}`);
	}
	const short = altered(wide(), 'short-stall', (text, name) => {
		if (!/^se0_sm0_sl1_/.test(name)) return text;
		const d = JSON.parse(text);
		d.wave.instructions[3] = [...d.wave.instructions[3].slice(0, 2), 1, ...d.wave.instructions[3].slice(3)];
		return JSON.stringify(d);
	});
	for (const theme of THEMES) {
		const page = await themed(bench, short, theme), s = (await slicesOf(page, 1))[3];
		await set(page, { sort: 'start', isBottomOpen: false });
		await view(page, s.start - 300, s.start + 500);
		await still(page);
		const x = await columnOf(page, s.start), row = await pixels(page, 1, Array.from({ length: 10 }, (_, i) => [x + i, 8])), last = row[9];
		truth(row.some((c) => !like(c, last, 6)), `${theme}: a stall of one cycle vanishes: ${row}`);
	}
}

/** More is stronger on either ground, and a scale says so. */
async function map(bench) {
	for (const theme of THEMES) {
		const page = await themed(bench, 'v31', theme);
		const host = await panel(page, 'occupancy');
		await host.locator('.machine-map').waitFor();
		truth(!/darker/.test(await host.innerText()), `${theme}: darker is no word for both grounds`);
		truth((await host.locator('.machine-map').evaluate((e) => e.parentElement.querySelectorAll('.heat-key').length)) === 5, 'the map has a scale');
		const got = await host.locator('.map-cu[data-cu]').evaluateAll((all) => all.map((e) => [e.getAttribute('data-cu'), Number(e.getAttribute('fill-opacity'))]));
		const cycles = new Map(verb('occupancy', '--bins', '240', '--top', 'all', 'v31').cus.map((c) => [`${c.se} ${c.cu}`, c.wave_cycles]));
		const order = [...got].sort((a, b) => cycles.get(a[0]) - cycles.get(b[0])).map(([, o]) => o);
		equal([...order].sort((a, b) => a - b), order, `${theme}: strength follows the cycles`);
	}
}

/** A share says of what; one wave changes every figure or takes it away; no unit is mixed. */
async function basis(bench) {
	for (const capture of ['gemm', 'report:gemm']) {
		const page = await themed(bench, capture, 'light'), row = verb('isa', 'gemm').rows.find((r) => r.class === 'WAIT' && r.hit);
		await set(page, { beside: null, unit: 'pct' });
		for (const id of ['isa', 'source', 'hotspots', 'waits', 'waves', 'occupancy', 'states', 'utilization']) {
			await panel(page, id);
			await page.waitForSelector(`.panel[data-panel="${id}"] .table-head`);
			const units = await page.$$eval(`.panel[data-panel="${id}"] .table-head .unit`, (all) => all.map((u) => u.textContent));
			equal(units.filter((u) => u.includes('%') && !/^% of /.test(u)), [], `${id}: a share of what?`);
		}
		await panel(page, 'isa');
		const waits = (await rows(page, 'Instructions')).map((r) => r.waits).filter((w) => /^row/.test(w));
		truth(waits.length > 0 && waits.every((w) => !/cycle/.test(w)), `in % a wait tells cycles: ${waits[0]}`);
		await page.evaluate(() => window.incore.app().select({ kind: 'track', track: 0 }));
		await page.selectOption('.panel-isa select[aria-label="Basis"]', 'wave');
		await page.waitForFunction(() => /this wave/.test(document.querySelector('.panel-isa .table-head [data-column="cycles"] .unit').textContent));
		const one = (await rows(page, 'Instructions')).find((r) => r.row === String(row.row));
		equal([one.median, one.p95, /cycle|%/.test(one.waits)], ['-', '-', false], 'what is of all waves is not told of one');
		const heads = await page.$$eval('.panel-isa .table-head .cell', (all) => Object.fromEntries(all.map((c) => [c.dataset.column, c.querySelector('.unit')?.textContent ?? ''])));
		equal([heads.cycles, heads.share], ['% of this wave', '% of this wave'], 'heads');
	}
}

export const tests = [
	{ name: 'truth: a box over merged lanes is painted once', run: box },
	{ name: 'truth: the bar of a report, its table and the lanes agree', run: bar },
	{ name: 'truth: saved tables equal shown tables', run: tables, isLong: 30 },
	{ name: 'truth: the number of a line is never cut', run: places },
	{ name: 'truth: strip and legend in every colour mode', run: strip },
	{ name: 'truth: hatches under text, short stalls, unknown code', run: hatch },
	{ name: 'truth: machine map in light and dark', run: map },
	{ name: 'truth: one basis, named', run: basis },
];
