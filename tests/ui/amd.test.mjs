// SPDX-License-Identifier: Apache-2.0
// A range is a range everywhere, a wait has the colour of what it waited for, files are a tree whose names can be read, and deep code stays in sight.
import { altered, count, cycles, equal, panel, quiet, rows, truth, verb } from './lib.mjs';
import { slicesOf } from './timeline.test.mjs';

const size = (width, height = 900, colorScheme = 'light') => ({ viewport: { width, height }, colorScheme });
const SLOWEST = ['vmem', 'store', 'smem', 'lds', 'cross-lane', 'other'];

/** Each executed wait, on the lanes: the slot of the slowest kind that the answer `at` says it waited for; sync where that is none. */
async function waits(bench, name) {
	const page = await bench.page(name), app = await page.evaluate(() => ({ slots: window.incore.app().trace.slots, classes: window.incore.app().trace.classes, tracks: window.incore.app().trace.tracks.length })), seen = new Map();
	for (let track = 0; track < Math.min(4, app.tracks); track++) {
		const waiting = (await slicesOf(page, track)).filter((s) => app.classes[s.cls].name === 'WAIT');
		const told = await page.evaluate(([t, list]) => Promise.all(list.map(async (slice) => {
			const a = window.incore.app(), text = new TextDecoder(), info = JSON.parse(text.decode(await a.source.ask('at', { track: t, slice }))), code = await a.code();
			return { slot: info.slot, of: info.producers.map((p) => a.trace.slots[a.trace.classes[code.class[p.code]].slot]) };
		})), [track, waiting.map((s) => s.slice)]);
		waiting.forEach((s, i) => {
			const want = SLOWEST.find((w) => told[i].of.includes(w)) ?? 'sync';
			equal([app.slots[s.slot], app.slots[told[i].slot]], [want, want], `slice ${s.slice} of track ${track}, which waited for ${told[i].of}`);
			seen.set(want, (seen.get(want) ?? 0) + 1);
		});
	}
	truth([...seen.keys()].filter((w) => w !== 'sync').length >= 2, `waits seen: ${JSON.stringify([...seen])}`);
}

/** Shares under "of lifetime" are of the lifetime. */
async function lost(bench) {
	const page = await bench.page('gemm', size(1600)), d = verb('summary', 'gemm'), host = await panel(page, 'utilization');
	const said = await host.locator('.facts > div', { hasText: 'of lifetime' }).locator('dd').innerText(), four = Object.entries(d.families).sort((a, b) => b[1].cycles - a[1].cycles).slice(0, 4);
	equal(said, four.map(([name, f]) => `${name} ${((100 * f.cycles) / d.accounting.duration).toFixed(1)} %`).join(', '), 'families of lost cycles');
}

/** Every panel that follows a range shows what its verb says of it. */
async function follows(page, words) {
	const of = (name, ...more) => verb(name, ...more, ...words, 'gemm'), hot = of('hot', '--by', 'instr', '--top', 'all'), line = of('hot', '--by', 'line', '--top', 'all'), sum = of('summary'), waves = of('waves');
	const isa = of('isa').rows.filter((r) => r.cycles);
	await panel(page, 'isa');
	equal((await rows(page, 'Instructions')).filter((r) => /[1-9]/.test(r.cycles ?? '')).map((r) => [r.row, r.cycles]), isa.map((r) => [String(r.row), cycles(r.cycles)]), `ISA of ${words}`);
	await panel(page, 'hotspots');
	equal((await rows(page, 'Hottest instructions')).map((r) => [r.row, r.cycles]), hot.rows.map((r) => [String(r.row), cycles(r.cycles)]), `Hotspots of ${words}`);
	const bins = await page.$$eval('.panel-hotspots .bin title', (all) => all.map((t) => Number(/: ([\d.]+) %/.exec(t.textContent)?.[1] ?? 0)).reduce((a, b) => a + b, 0));
	truth(Math.abs(bins - 100) < 3, `the histogram of ${words} holds ${bins} %`);
	await panel(page, 'source');
	const costs = new Map(line.groups.filter((g) => g.cycles).map((g) => [g.key.split(':').pop(), cycles(g.cycles)]));
	equal((await rows(page, 'Source of gemm.py')).filter((r) => costs.has(r.line)).map((r) => r.cycles), [...costs].filter(([n]) => /^\d+$/.test(n)).sort((a, b) => a[0] - b[0]).map(([, v]) => v), `Source of ${words}`);
	await panel(page, 'summary');
	equal(await page.$$eval('.panel-summary [data-bucket]', (all) => all.map((e) => e.textContent)), ['issue', 'stall', 'wait', 'idle', 'drain', 'duration'].map((b) => cycles(sum.accounting[b])), `Summary of ${words}`);
	await panel(page, 'utilization');
	equal((await rows(page, 'Utilization by SIMD')).map((r) => r.resident), [sum.utilization, ...sum.utilization_by_simd.map((s) => s.cycles)].map((s) => cycles(s.resident)), `Utilization of ${words}`);
	await panel(page, 'states');
	equal((await rows(page, 'state')).map((r) => r.cycles), ['EXEC', 'WAIT', 'STALL', 'IDLE'].map((s) => cycles(waves.states[s])), `States of ${words}`);
}

const noteOf = (page) => page.evaluate(() => document.querySelector('.panel:not([hidden]) .scope-words:not([hidden])')?.textContent ?? '');

/** Typed with G. */
async function typed(bench) {
	const page = await bench.page('gemm', size(1600));
	const go = async (words) => {
		await page.keyboard.press('g');
		await page.fill('dialog input', words);
		await page.keyboard.press('Enter');
	};
	await page.evaluate(() => window.incore.app().store.set({ beside: null }));
	await go('1000-3000');
	await page.waitForSelector('.range-button');
	await follows(page, ['--from', '1000', '--to', '3000']);
	truth(/^Range: cycles 1,000 to 3,000;/.test(await noteOf(page)), `the panel says: ${await noteOf(page)}`);
	await go('SE1 1,000-3,000');
	await page.waitForFunction(() => /SE1/.test(document.querySelector('.range-button')?.textContent ?? ''));
	await follows(page, ['--se', '1', '--from', '1000', '--to', '3000']);
	await go('SE7 1000-2000');
	await page.waitForFunction(() => /nothing ran in cycles 1,000 to 2,000 of SE7/.test(document.querySelector('dialog [role=status]')?.textContent ?? ''));
	await page.keyboard.press('Escape');
	await page.click('.panel:not([hidden]) .whole-trace');
	await page.waitForFunction(() => !document.querySelector('.range-button'));
	await follows(page, []);
	equal(await noteOf(page), '', 'nothing is narrowed any more');
}

/** Dragged over lanes: time and waves of the box; in a link; undone with Escape. */
async function dragged(bench) {
	const page = await bench.page('gemm', size(1600));
	await page.evaluate(() => window.incore.app().store.set({ beside: null }));
	await quiet(page);
	const box = await page.evaluate(() => {
		const v = window.incore.pane().view, r = v.over.getBoundingClientRect(), row = v.layout.rows.filter((x) => x.lane), at = (t) => r.left + ((t - v.scale().t0) / (v.scale().t1 - v.scale().t0)) * r.width;
		return { x0: at(1000), x1: at(2500), y0: r.top + v.yOf(row[0]) + 4, y1: r.top + v.yOf(row[1]) + 6 };
	});
	await page.mouse.move(box.x0, box.y0);
	await page.mouse.down();
	await page.mouse.move(box.x1, box.y1, { steps: 4 });
	await page.mouse.up();
	await page.waitForSelector('.range-button');
	const { range } = await page.evaluate(() => window.incore.app().store.get());
	truth(Math.abs(range.t0 - 1000) < 20 && Math.abs(range.t1 - 2500) < 20, `the range ${range.t0} to ${range.t1}`);
	equal(range.where, { se: '0', simd: '0-1' }, 'the waves of the two lanes');
	const words = ['--se', '0', '--simd', '0-1', '--from', String(range.t0), '--to', String(range.t1)];
	await follows(page, words);
	const link = await page.evaluate(() => location.hash.slice(1)), other = await bench.page('gemm', { ...size(1600), link });
	await other.waitForFunction((w) => document.querySelector('.range-button')?.textContent === w, await page.textContent('.range-button'));
	await page.keyboard.press('Escape');
	truth(await page.$('.range-button'), 'the first Escape clears the selection alone');
	await page.keyboard.press('Escape');
	await page.waitForFunction(() => !document.querySelector('.range-button'));
}

/** Code that is indented deeper than its column is wide can be read; numbers of lines are whole, whatever is scrolled. */
async function deep(bench) {
	const indented = altered('gemm', 'deep-gemm', (text, file) => (/\.py$/.test(file) ? text.split('\n').map((l) => (l ? ' '.repeat(60) + l + ' # ' + 'long '.repeat(30) : l)).join('\n') : text));
	for (const width of [1280, 1600]) {
		const page = await bench.page(indented, size(width)), look = () => page.evaluate(() => {
			const table = document.querySelector('.panel-source .table'), out = { lines: [], shown: 0, columns: [...table.querySelectorAll('.table-head .cell')].map((c) => c.dataset.column), bar: !document.querySelector('.code-scroll').hidden };
			for (const row of table.querySelectorAll('.table-row')) {
				const box = (e) => e.getBoundingClientRect(), line = row.querySelector('[data-column=line]'), cell = row.querySelector('[data-column=text]'), text = cell.querySelector('.code-text');
				if (box(row).bottom > box(table).bottom || box(row).top < box(table).top) continue;
				out.lines.push(line.scrollWidth <= line.clientWidth && box(line).left >= box(table).left);
				const first = text.textContent.search(/\S/), range = document.createRange();
				if (first < 0) continue;
				range.setStart(text.firstChild, first);
				range.setEnd(text.firstChild, first + 1);
				const at = range.getBoundingClientRect();
				out.shown += at.left >= box(cell).left && at.right <= box(cell).right;
			}
			return out;
		});
		await panel(page, 'source');
		await page.evaluate(() => window.incore.app().store.set({ panel: 'isa', beside: 'source' }));
		await page.waitForSelector('.panel-source .code-text');
		await quiet(page);
		const before = await look();
		truth(before.lines.length > 3 && before.lines.every(Boolean), `${width}: numbers of lines are cut`);
		truth(before.shown >= before.lines.length / 2, `${width}: of ${before.lines.length} lines ${before.shown} begin in sight`);
		truth(before.columns.indexOf('text') < before.columns.indexOf('cycles'), `code first: ${before.columns}`);
		truth(before.bar, `${width}: what is longer than the column can be scrolled`);
		await page.evaluate(() => (document.querySelector('.code-scroll').scrollLeft = 200));
		await page.waitForFunction(() => document.querySelector('.panel-source .table').style.getPropertyValue('--scroll') === '-200px');
		const after = await look();
		truth(after.lines.every(Boolean) && after.shown < before.shown, `${width}: the code moves, the numbers do not`);
	}
}

/** Folders and files with what they cost, the dearest first; a name shows its beginning and its end; folded with a click. */
async function tree(bench) {
	const d = verb('hot', '--by', 'line', '--top', 'all', 'inline'), page = await bench.page('inline', size(1600)), files = new Map();
	for (const g of d.groups) files.set(g.key.replace(/:\d+$/, ''), (files.get(g.key.replace(/:\d+$/, '')) ?? 0) + g.cycles);
	await page.waitForSelector('.tree-row[data-node^="s"]:not([data-node="sources"])');
	await quiet(page);
	const list = () => page.$$eval('.tree-row', (all) => all.map((e) => ({ node: e.dataset.node, words: e.querySelector('.label').textContent, title: e.title, level: Number(e.getAttribute('aria-level')), figure: e.querySelector('.figure').textContent, bar: e.querySelector('.share-bar .part')?.style.width ?? '' })).filter((e) => /^(d|s\d)/.test(e.node)));
	const all = await list(), folders = all.filter((e) => e.node[0] === 'd'), leaves = all.filter((e) => e.node[0] === 's');
	truth(folders.length > 0 && leaves.length > 1, `folders ${folders.length}, files ${leaves.length}`);
	for (const leaf of leaves) {
		const path = [...files.keys()].find((f) => leaf.title.startsWith(f)), cost = files.get(path) ?? 0, want = (100 * cost) / d.accounting.duration;
		if (cost) equal([leaf.figure, Number.parseFloat(leaf.bar).toFixed(1)], [`${want.toFixed(1)} %`, want.toFixed(1)], `the cost of ${path}`);
	}
	const costs = leaves.filter((l) => l.level === leaves[0].level).map((l) => Number.parseFloat(l.figure) || 0);
	equal(costs, [...costs].sort((a, b) => b - a), 'the dearest first');
	const cut = await page.$$eval('.tree-row .label', (labels) => labels.map((e) => ({ words: e.textContent, isWhole: e.scrollWidth <= e.clientWidth + 1, room: e.clientWidth })));
	for (const c of cut) truth(c.isWhole, `${c.words} is cut at its end`);
	await page.click(`.tree-row[data-node="${folders[0].node}"]`);
	await page.waitForFunction((n) => document.querySelectorAll('.tree-row').length < n, cut.length);
	truth((await list()).length < all.length, 'a folder folds');
	await page.click(`.tree-row[data-node="${folders[0].node}"]`);
	await page.waitForFunction((n) => document.querySelectorAll('.tree-row').length === n, cut.length);
}

/** Every wave of every CU is in a lane of its own, in the colour of its kernel, traced or not; of a CU as many as `occupancy` counts. */
async function machine(bench, name) {
	const page = await bench.page(name, size(1600)), d = verb('occupancy', name.replace('report:', ''), '--by', 'cu', '--top', 'all'), isReport = name.startsWith('report:');
	await page.locator('.timeline-tools select[aria-label="Lanes"]').selectOption('machine');
	await page.waitForSelector('.machine .lane-label');
	await quiet(page);
	const { rows: list, waves, is_from_tracks: isTraced } = await page.evaluate(async () => JSON.parse(new TextDecoder().decode(await window.incore.app().source.ask('machine'))));
	equal(isTraced, isReport, 'a report has the traced waves alone');
	if (isReport) return truth(/traced waves only: 8 on 2 CUs/.test(await page.textContent('.machine-note')), await page.textContent('.machine-note'));
	equal(waves, d.all.starts, 'waves');
	const byCu = new Map();
	for (const [se, cu, , , n] of list) byCu.set(`${se}.${cu}`, (byCu.get(`${se}.${cu}`) ?? 0) + n);
	equal([...byCu], d.cus.map((u) => [`${u.se}.${u.cu}`, u.starts]), 'waves of each CU');
	truth(await page.evaluate(() => !document.querySelector('.global').hidden), 'the stack by SE stands above');
	// an untraced wave, in the middle of its life
	const at = list.findIndex((r) => r[5] === 0), { wave } = await page.evaluate(async (row) => {
		const ask = async (t) => JSON.parse(new TextDecoder().decode(await window.incore.app().source.ask('machine', { row, t })));
		for (let t = 0; t < window.incore.app().trace.span.end; t += 50) if ((await ask(t)).wave) return ask(t);
		return { wave: null };
	}, at), mid = (wave.begin + Math.min(wave.end, 1e9)) / 2;
	const dot = await page.evaluate(([row, t]) => {
		const m = document.querySelector('.machine'), c = m.querySelector('canvas'), label = [...m.querySelectorAll('.lane-label:not(.group)')][row], { t0, t1 } = window.incore.app().store.get(), copy = new OffscreenCanvas(c.width, c.height), g = copy.getContext('2d');
		g.drawImage(c, 0, 0);
		return [...g.getImageData(Math.round(((t - t0) / (t1 - t0)) * c.width), Math.round((label.offsetTop + 8) * (c.height / c.clientHeight)), 1, 1).data].slice(0, 3);
	}, [at, mid]), want = await page.evaluate((k) => {
		const p = window.incore.app().palette(), order = [4, 6, 3, 9, 0, 8, 1, 5, 7, 2, 11, 10], hex = p.slots[order[k % 12]];
		return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
	}, wave.kernel);
	equal(dot, want, `the colour of the wave in row ${at}`);
	const legend = await page.evaluate((k) => {
		const name = window.incore.app().trace.kernels.find((x) => x.id === k).name.slice(0, 18), key = [...document.querySelectorAll('.legend-key')].find((e) => e.textContent === name);
		return getComputedStyle(key.querySelector('.swatch')).backgroundColor.match(/\d+/g).slice(0, 3).map(Number);
	}, wave.kernel);
	equal(legend, want, 'the legend says so');
	await page.locator('.timeline-tools select[aria-label="A lane for each"]').selectOption('1');
	await page.waitForFunction((n) => document.querySelectorAll('.machine .lane-label:not(.group)').length <= n && [...document.querySelectorAll('.machine .lane-label .words')].some((e) => /^CU1\d+ waves/.test(e.textContent)), byCu.size);
	await page.locator('.machine .lane-label.traced').first().click();
	await page.waitForFunction(() => window.incore.app().store.get().kind === 'waves' && window.incore.app().store.get().selection?.kind === 'track');
}

/** Where lines collapse: rows, executions and latency of the top line, as `check` has them, and the way to what remains. */
async function collapsed(bench) {
	const page = await bench.page('collapsed', size(1600)), finding = verb('check', 'collapsed').findings.find((f) => f.id === 'source-collapsed').evidence, d = verb('hot', '--by', 'line', '--top', 'all', 'collapsed');
	await panel(page, 'source');
	await page.waitForSelector('.panel-source .warn');
	await page.evaluate(() => window.incore.app().store.set({ beside: null }));
	const top = d.groups.find((g) => g.key === finding.line), hits = d.groups.reduce((n, g) => n + g.hit, 0);
	equal(await page.textContent('.panel-source .warn'), `collapsed: line ${finding.line.split(':').pop()} of add.py holds ${finding.executed_rows_on_line} of ${finding.executed_mapped_rows} executed rows, ${((100 * top.hit) / hits).toFixed(1)} % of executions, ${(100 * finding.latency_share).toFixed(1)} % of latency`, 'what the top line holds');
	const of = (g) => [g.key.split(':').pop(), count(g.executed_rows), count(g.latency)];
	equal((await rows(page, 'Source of add.py')).filter((r) => /[1-9]/.test(r.rows)).map((r) => [r.line, r.rows, r.latency]), d.groups.filter((g) => g.executed_rows).sort((a, b) => a.key.split(':').pop() - b.key.split(':').pop()).map(of), 'rows and latency of each line');
	await page.click('.panel-source button:has-text("Inline frames")');
	await page.waitForSelector('.panel[data-panel="flame"] canvas');
	await panel(page, 'source');
	await page.click('.panel-source button:has-text("Blocks and loops")');
	await page.waitForSelector('.panel[data-panel="isa"] .table-row.folded');
}

/** By class also what one execution costs, by kind; by line what most of its lost cycles were lost to: as `hot` has them. */
async function costs(bench) {
	const page = await bench.page('gemm', size(1600)), by = (v) => page.locator('.panel-hotspots select[aria-label="Rank by"]').selectOption(v), of = (v) => verb('hot', '--by', v, '--top', 'all', 'gemm'), kinds = of('class').costs ?? [], lines = of('line').groups;
	await panel(page, 'hotspots');
	await by('class');
	await page.waitForSelector('.table[aria-label="Hottest by class"]');
	await quiet(page);
	const label = 'What one execution costs, by kind', has = await page.$$eval('.panel-hotspots .table', (all) => all.map((t) => t.getAttribute('aria-label')));
	equal(has.includes(label), kinds.length > 0, 'there is a table of costs where the answer has costs');
	if (kinds.length) equal((await rows(page, label)).map((r) => [r.kind, r.hit, r.mean, r.median, r.p99]), kinds.map((k) => [k.kind, count(k.hit), cycles(k.mean), cycles(k.median), cycles(k.p99)]), 'costs by kind');
	await by('line');
	await page.waitForSelector('.table[aria-label="Hottest by source line"]');
	await quiet(page);
	equal((await rows(page, 'Hottest by source line')).map((r) => r.cause ?? null), lines.map((l) => (lines.some((x) => x.cause) ? l.cause ?? '-' : null)), 'what lines are lost to');
}

/** What the vendor calls things; samples have no time. */
async function warps(bench) {
	const page = await bench.page('h200/pointer_chase.incore', size(1280)), d = verb('occupancy', 'h200/pointer_chase.incore');
	const host = await panel(page, 'occupancy'), text = await host.innerText();
	truth(/No warps over time/.test(text) && /warps per scheduler/.test(text) && /registers per thread/.test(text) && /shared memory per block/.test(text), `Occupancy says: ${text}`);
	truth(!/wave|LDS|VGPR|accumulation/.test(text), `Occupancy has words of another vendor: ${text}`);
	truth(!/\b0 SEs|span 0|0 of \d/.test(d.coverage.sentence) && /^132 launched warps, sampled/.test(d.coverage.sentence), d.coverage.sentence);
	await panel(page, 'summary');
	truth((await page.innerText('.panel-summary .headline')).includes(d.coverage.sentence), 'the summary says the same');
}

export const tests = [
	{ name: 'amd: waits of gemm have the colour of what they waited for', run: (b) => waits(b, 'gemm') },
	{ name: 'amd: waits of a raw stream, too', run: (b) => waits(b, 'sqtt_gfx9') },
	{ name: 'amd: lost cycles are of the lifetime', run: lost },
	{ name: 'amd: a typed range narrows every panel', run: typed },
	{ name: 'amd: a dragged range narrows every panel', run: dragged },
	{ name: 'amd: deep code beside the listing', run: deep },
	{ name: 'amd: where lines collapse', run: collapsed },
	{ name: 'amd: words of another vendor', run: warps },
	{ name: 'amd: costs by kind', run: costs },
	{ name: 'amd: files as a tree', run: tree },
	{ name: 'amd: every wave of every CU', run: (b) => machine(b, 'gemm') },
	{ name: 'amd: every wave that a report has', run: (b) => machine(b, 'report:gemm') },
];
