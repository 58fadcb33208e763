// SPDX-License-Identifier: Apache-2.0
// Every panel's table equals what its verb prints, cell by cell, sorted each way.
import { count, cycles, equal, panel, rows, sameVerdict, sortBy, total, truth, verb } from './lib.mjs';

const BUCKETS = ['issue', 'stall', 'wait', 'idle', 'drain'];

/** Compares some columns of all rows. */
function compare(got, want, what) {
	equal(got.length, want.length, `${what}: rows`);
	want.forEach((w, i) => {
		for (const [k, v] of Object.entries(w)) if (got[i][k] !== String(v)) throw new Error(`${what}, row ${i}, ${k}: on screen "${got[i][k]}", expected "${v}" (${JSON.stringify(got[i])})`);
	});
}

/** Sorted as the table sorts: missing values last, ties in the order given. */
function sorted(list, value, isDown) {
	return list.map((row, i) => ({ row, i, v: value(row) })).sort((a, b) => {
		if (a.v === null || b.v === null) return Number(a.v === null) - Number(b.v === null) || a.i - b.i;
		const d = a.v < b.v ? -1 : a.v > b.v ? 1 : 0;
		return (isDown ? -d : d) || a.i - b.i;
	}).map((x) => x.row);
}

async function isa(bench, name) {
	const page = await bench.page(name), d = verb('isa', name);
	await panel(page, 'isa');
	const listed = [...d.labels.map((l) => ({ index: l.index, label: l })), ...d.rows.map((r) => ({ index: r.index, row: r }))].sort((a, b) => a.index - b.index);
	const cells = ({ row, label }) => (label ? { row: count(label.row).replace(/,/g, ''), isa: label.text } : {
		row: String(row.row), address: '0x' + row.address.toString(16), class: row.class, hit: count(row.hit), cycles: cycles(total(row.buckets)),
		median: cycles(row.execution?.median), p95: cycles(row.execution?.p95), ...(row.live ? { live: row.live.arch + (row.live.accum ? ` + ${row.live.accum}` : '') } : {}),
	});
	const got = await rows(page, 'Instructions');
	compare(got, listed.map(cells), 'isa');
	listed.forEach((x, i) => x.row && truth(got[i].isa.startsWith(x.row.isa), `text of row ${x.row.row}: ${got[i].isa}`));
	for (const [column, value, first] of [['cycles', (x) => (x.row ? total(x.row.buckets) : null), true], ['address', (x) => (x.row ?? x.label).address, false], ['class', (x) => x.row?.class ?? null, false]])
		for (const isDown of [first, !first]) {
			await sortBy(page, 'Instructions', column);
			compare(await rows(page, 'Instructions'), sorted(listed, value, isDown).map(cells), `isa by ${column} ${isDown ? 'down' : 'up'}`);
		}
}

async function hot(bench, name) {
	const page = await bench.page(name);
	await panel(page, 'hotspots');
	const d = verb('hot', '--by', 'instr', '--top', 'all', name);
	compare(await rows(page, 'Hottest instructions'), d.rows.map((r) => ({ row: String(r.row), isa: r.isa, class: r.class, hit: count(r.hit), cycles: cycles(total(r.buckets)), cause: r.cause ?? '-', ...Object.fromEntries(BUCKETS.map((b) => [b, cycles(r.buckets[b])])) })), 'hot by instr');
	for (const by of ['line', 'opcode', 'class', 'cause', 'producer']) {
		await page.selectOption('.panel-hotspots select[aria-label="Rank by"]', by);
		const want = verb('hot', '--by', by, '--top', 'all', name).groups;
		const label = by === 'cause' ? 'Causes' : by === 'producer' ? 'Producers of waits' : `Hottest by ${by === 'line' ? 'source line' : by}`;
		await page.waitForSelector(`.table[aria-label="${label}"]`);
		const cells = by === 'cause' ? (g) => ({ key: g.key, bucket: g.bucket, family: g.family, hit: count(g.hit), cycles: cycles(g.cycles) }) : by === 'producer' ? (g) => ({ key: g.key, waits: count(g.waits), blocked: count(g.blocked), wait: cycles(g.wait) })
			: (g) => ({ key: g.key, rows: count(g.rows), executed: count(g.executed_rows), hit: count(g.hit), cycles: cycles(total(g.buckets)), ...Object.fromEntries(BUCKETS.map((b) => [b, cycles(g.buckets[b])])) });
		compare(await rows(page, label), want.map(cells), `hot by ${by}`);
	}
}

async function waits(bench, name) {
	const page = await bench.page(name), d = verb('isa', name), w = verb('waves', '--top', 'all', name);
	await panel(page, 'waits');
	const edges = sorted(d.edges, (e) => e.stall + e.shared, true);
	compare(await rows(page, 'Waits and their producers'), edges.map((e) => ({
		wait: `row ${e.wait}`, producer: `row ${e.producer}`, count: count(e.count), blocked: count(e.blocked), cycles: cycles(e.stall + e.shared),
		'latency-min': cycles(e.latency?.min), 'latency-median': cycles(e.latency?.median), 'latency-p95': cycles(e.latency?.p95), 'latency-max': cycles(e.latency?.max), inexact: count(e.inexact),
	})), 'waits');
	compare(await rows(page, 'Latency by opcode'), d.latency.map((l) => ({ counter: l.counter, exact: count(l.exact), 'cycles-median': cycles(l.cycles?.median), distance: count(l.distance_instructions?.median), flight: count(l.in_flight?.max) })), 'latency');
	compare(await rows(page, 'Barriers'), w.barriers.rows.map((b) => ({ executions: count(b.executions), meetings: count(b.meetings), wait: cycles(b.wait), 'skew-max': cycles(b.skew?.max) })), 'barriers');
}

async function waves(bench, name) {
	const page = await bench.page(name), d = verb('waves', '--top', 'all', name);
	await panel(page, 'waves');
	const cells = (w) => ({ wave: `SE${w.se} CU${w.cu} SIMD${w.simd} slot ${w.slot} wave ${w.wave}`, duration: cycles(w.duration), cluster: String(w.cluster), instructions: count(w.instructions), barriers: count(w.barriers), ...Object.fromEntries(BUCKETS.map((b) => [b, cycles(w.accounting[b])])) });
	compare(await rows(page, 'Waves'), sorted(d.waves, (w) => w.duration, true).map(cells), 'waves');
	await sortBy(page, 'Waves', 'duration');
	compare(await rows(page, 'Waves'), sorted(d.waves, (w) => w.duration, false).map(cells), 'waves, shortest first');
	compare(await rows(page, 'Paths'), d.clusters.map((c) => ({ waves: count(c.waves), rows: count(c.rows), duration: cycles(c.duration), median: cycles(c.duration_median), typical: c.representative })), 'paths');
	for (const [by, label] of [['se', 'shader engine'], ['simd', 'SIMD'], ['slot', 'slot']]) {
		await page.selectOption('.panel-waves select[aria-label="By"]', by);
		compare(await rows(page, `Balance by ${label}`), d.imbalance[by].map((g) => ({ waves: count(g.waves), sum: cycles(g.duration.sum), median: cycles(g.duration.median), max: cycles(g.duration.max) })), `balance by ${by}`);
	}
}

async function source(bench, name) {
	const page = await bench.page(name), d = verb('hot', '--by', 'line', '--top', 'all', name);
	await panel(page, 'source');
	const tabs = await page.$$eval('.file-tab', (all) => all.map((t) => t.getAttribute('title').replace(/: [^:]*$/, '')));
	for (const [i, path] of tabs.entries()) {
		await page.locator('.file-tab').nth(i).click();
		await page.waitForFunction(() => document.querySelectorAll('.panel-source .table-row').length > 0);
		const got = await rows(page, `Source of ${path.replace(/^.*\//, '')}`);
		const costs = new Map(d.groups.filter((g) => g.key.startsWith(path + ':')).map((g) => [g.key.slice(path.length + 1), g]));
		truth(costs.size > 0, `no line of ${path} has a cost`);
		for (const [line, g] of costs) {
			const row = got.find((r) => r.line === line);
			truth(row, `line ${line} of ${path} is not shown`);
			equal([row.hit, row.cycles, row.inclusive ?? null], [count(g.hit), cycles(total(g.buckets)), row.inclusive === undefined ? null : cycles(g.inclusive.latency + g.inclusive.idle)], `line ${line} of ${path}`);
		}
		equal(got.filter((r) => r.cycles !== '-').length, costs.size, `lines with a cost in ${path}`);
	}
}

async function occupancy(bench, name) {
	const page = await bench.page(name), d = verb('occupancy', '--bins', '240', '--top', 'all', name);
	const host = await panel(page, 'occupancy');
	for (const [by, list] of [['se', d.ses], ['cu', d.cus], ['simd', d.simds]]) {
		await page.selectOption('.panel-occupancy select[aria-label="By"]', by);
		compare(await rows(page, 'Occupancy by unit'), list.map((u) => ({ starts: count(u.starts), peak: count(u.peak_waves), busy: cycles(u.busy_cycles), cycles: cycles(u.wave_cycles) })), `occupancy by ${by}`);
	}
	const text = await host.innerText();
	for (const words of [d.limits.sentence, d.limits.next_step, count(d.all.mean_waves, 1)]) truth(!words || text.includes(words), `occupancy does not say "${words}"`);
	equal(await host.locator('.map-cu[data-cu]').count(), d.cus.length, 'compute units on the map');
	equal((await host.locator('.plot canvas').getAttribute('aria-label')).split(':')[0], 'Waves on the machine (waves)', 'plot');
}

async function summary(bench, name) {
	const page = await bench.page(name), d = verb('summary', name);
	const host = await panel(page, 'summary'), text = await host.innerText();
	sameVerdict(await host.locator('.headline .verdict li').allInnerTexts(), d.verdict);
	for (const words of [d.evidence, `residue ${d.residue}`]) truth(text.includes(words), `summary does not say "${words}"`);
	for (const b of [...BUCKETS, 'duration']) equal(await host.locator(`[data-bucket="${b}"]`).innerText(), cycles(d.accounting[b]), b);
	for (const c of (d.causes ?? []).filter((x) => x.bucket !== 'issue').slice(0, 8)) truth(text.includes(c.cause) && text.includes(cycles(c.cycles)), `summary has no ${c.cause} ${c.cycles}`);
	for (const r of d.rows.slice(0, 5)) truth(text.includes((r.at ?? r).isa), `summary has no row ${(r.at ?? r).isa}`);
	for (const a of (d.advice ?? []).slice(0, 4)) truth(text.includes(a.experiment), `summary has no advice "${a.experiment}"`);
}

async function states(bench, name) {
	const page = await bench.page(name), d = verb('waves', '--bins', '240', '--top', 'all', name);
	await panel(page, 'states');
	compare(await rows(page, 'state'), ['EXEC', 'WAIT', 'STALL', 'IDLE'].map((s) => ({ name: s, cycles: cycles(d.states[s]) })), 'states');
	compare(await rows(page, 'bucket'), BUCKETS.map((b) => ({ name: b, cycles: cycles(d.accounting[b]) })), 'buckets');
}

async function utilization(bench, name) {
	const page = await bench.page(name), d = verb('summary', name);
	await panel(page, 'utilization');
	const want = [{ cycles: d.utilization }, ...d.utilization_by_simd];
	const pct = (a, b) => { const v = (100 * a) / b; return v !== 0 && v < 0.1 ? v.toPrecision(1) : v.toFixed(1); };
	compare(await rows(page, 'Utilization by SIMD'), want.map(({ cycles: c }) => ({ resident: cycles(c.resident), any: pct(c.any, c.resident), VALU: pct(c.VALU, c.resident), MATRIX: pct(c.MATRIX, c.resident), LDS: pct(c.LDS, c.resident), VMEM: pct(c.VMEM, c.resident), idle: cycles(c.idle) })), 'utilization');
}

async function pipes(bench, name) {
	const page = await bench.page(name), d = verb('waves', '--top', 'all', name), o = verb('occupancy', name), i = verb('isa', name);
	await panel(page, 'waves');
	compare(await rows(page, 'Pipes'), sorted(d.pipes, (p) => p.busy, true).map((p) => ({ core: p.core, pipe: p.pipe, busy: cycles(p.busy), latency: cycles(p.latency_sum), depth: count(p.depth_max), exposed: cycles(p.exposed), path: cycles(p.critical_path), ...Object.fromEntries(BUCKETS.map((b) => [b, cycles(p.accounting[b])])) })), 'pipes');
	await panel(page, 'occupancy');
	compare(await rows(page, 'Cores'), o.cores.map((c) => ({ core: c.core, span: cycles(c.span), busy: cycles(c.busy), compute: cycles(c.compute_busy) })), 'cores');
	await panel(page, 'utilization');
	compare(await rows(page, 'Utilization by pipe'), d.pipes.map((p) => ({ pipe: p.pipe, 'busy-cycles': cycles(p.busy) })), 'utilization');
	await panel(page, 'waits');
	compare(await rows(page, 'Waits and their producers'), sorted(i.edges, (e) => e.stall + e.shared, true).map((e) => ({ wait: `row ${e.wait}`, producer: `row ${e.producer}`, cycles: cycles(e.stall + e.shared) })), 'waits');
	compare(await rows(page, 'Pipes that wait for pipes'), d.pairs.map((p) => ({ consumer: p.consumer_pipe, producer: p.producer_pipe ?? '(unmatched)', cycles: cycles(p.cycles), count: count(p.count) })), 'pairs');
}

async function dispatches(bench, name) {
	const page = await bench.page(name), d = verb('occupancy', name);
	const host = await panel(page, 'dispatches');
	compare(await rows(page, 'Kernels'), d.kernels.map((k) => ({ name: k.name, ids: count(k.ids), starts: count(k.starts), cycles: cycles(k.wave_cycles) })), 'kernels');
	compare(await rows(page, 'Dispatches'), d.dispatches.map((k) => ({ id: count(k.kernel_id), name: k.name, se: count(k.se), cycle: cycles(k.cycle), vgprs: count(k.vgprs), threads: k.threads.join(' × ') })), 'dispatches');
	const text = await host.innerText();
	for (const [event, n] of Object.entries(d.hardware_events)) truth(text.includes(event) && text.includes(count(n)), `no event ${event}`);
}

async function details(bench, name) {
	const page = await bench.page(name), d = verb('summary', '--top', 'all', name);
	const host = await panel(page, 'details'), text = await host.innerText();
	for (const t of d.tables) {
		if (t.columns[0] === 'key' || t.name === 'advice') {
			for (const c of t.cells) for (const cell of c) truth(!cell || text.includes(cell), `${t.name} does not show ${cell}`);
			continue;
		}
		const label = await page.$$eval('.panel-details .table', (all) => all.map((x) => x.getAttribute('aria-label')));
		truth(label.length > 0, 'no table in details');
	}
	const table = d.tables.find((t) => t.name === 'core-occupancy');
	const used = table.columns.map((_, i) => i).filter((i) => table.cells.some((c) => c[i]));
	compare(await rows(page, 'Core occupancy'), table.cells.map((c) => Object.fromEntries(used.map((i) => ['c' + i, c[i] ?? '-']))), 'core occupancy');
}

async function samples(bench, name) {
	const page = await bench.page(name), d = verb('isa', name), h = verb('hot', '--by', 'line', '--top', 'all', name);
	await panel(page, 'isa');
	const got = (await rows(page, 'Instructions')).filter((r) => r.samples !== '-');
	compare(got, d.rows.map((r) => ({ row: String(r.row), samples: count(r.samples ?? 0), stalled: count(r.stalled_samples ?? 0) })), 'samples');
	const told = await page.$$eval('.panel-isa .facts > div', (all) => all.map((e) => [e.children[0].textContent, e.children[1].textContent]));
	equal(told.filter(([k]) => ['executed', 'samples', 'stalled'].includes(k)), [['samples', count(d.totals.samples)], ['stalled', count(d.totals.stalled_samples)]], 'what is known of a sampled capture');
	await panel(page, 'source');
	await page.waitForFunction(() => document.querySelectorAll('.panel-source .table-row').length > 0);
	const lines = await page.$$eval('.file-tab', (all) => all.length);
	truth(lines > 0, 'no source file of a sampled capture');
	const shown = (await rows(page, await page.getAttribute('.panel-source .table', 'aria-label'))).filter((r) => r.cycles !== '-');
	equal(shown.reduce((n, r) => n + Number(r.cycles.replace(/,/g, '')), 0), h.groups.filter((g) => g.key !== '<unknown>').reduce((n, g) => n + (g.samples ?? 0), 0), 'samples of all lines');
}

const TABLES = [
	['ISA equals incore isa', isa, 'gemm'],
	['ISA of an Ascend trace equals incore isa', isa, 'ascend_matmul'],
	['hotspots equal incore hot', hot, 'gemm'],
	['waits equal incore isa and waves', waits, 'gemm'],
	['waves equal incore waves', waves, 'gemm'],
	['source equals incore hot --by line', source, 'gemm'],
	['inlined source equals incore hot --by line', source, 'inline'],
	['occupancy equals incore occupancy', occupancy, 'gemm'],
	['summary equals incore summary', summary, 'gemm'],
	['summary of an Ascend trace', summary, 'ascend_matmul'],
	['states equal incore waves', states, 'gemm'],
	['utilization equals incore summary', utilization, 'gemm'],
	['pipes equal incore waves', pipes, 'ascend_matmul'],
	['dispatches equal incore occupancy', dispatches, 'v31'],
	['details equal incore summary', details, 'ascend_device'],
	['samples equal incore isa', samples, 'pc_sampling'],
];

/** On the server, and on the report that needs none. */
export const tests = ['', 'report:'].flatMap((kind) => TABLES.map(([name, run, capture]) => ({
	name: `tables${kind ? ' of the report' : ''}: ${name}`, run: (b) => run(b, kind + capture), covers: kind ? ['part:report'] : [],
})));
