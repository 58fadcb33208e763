// SPDX-License-Identifier: Apache-2.0
// versus.test.mjs: A and B of every table are what --json of each of the two captures says, and the change is what lies between; server and report.
import { count, equal, open, panel, report, rows, truth, verb } from './lib.mjs';

const A = 'repeated/ui_output_agent_1000_dispatch_7', B = 'repeated/ui_output_agent_1000_dispatch_9';

/** Both ways to see two captures; what cannot be compared row by row is refused with an error status, which is an answer. */
async function* pages(bench, a, b) {
	for (const page of [await bench.page([a, b]), await open(await bench.blank(), report(b, a))]) {
		page.isAllowed = true;
		await page.evaluate(() => {
			const app = window.incore.app();
			app.store.set({ base: app.trace.captures.find((c) => c.index !== app.trace.index).hash });
		});
		yield page;
		truth(!page.bad.some((x) => /exception|foreign/.test(x)), page.bad.join('\n'));
	}
}

/** The cells that a pair of figures has to make. */
function cells(a, b, digits = 2, times = 1) {
	const d = a === null || b === null ? null : b - a, one = (v) => (v === null ? '-' : count(v * times, digits));
	return [one(a), one(b), one(d).replace(/^-(?=\d)/, '')];
}

function shown(r) {
	return [r['diff-a'], r['diff-b'], r.diff.replace(/^[^\d]*(?=\d)/, '')];
}

/** Rows of a table by key, each with its figure here and there. */
async function same(page, label, key, here, there, figure, { digits = 2, times = 1 } = {}) {
	await page.waitForSelector(`.table[aria-label="${label}"] .table-row [data-column="diff"]`);
	const seen = await rows(page, label), other = new Map(there.map((r) => [key.of(r), r])), by = new Map(seen.map((r) => [key.shown(r), r]));
	let met = 0;
	equal(seen.length, here.length, `${label}: rows`);
	for (const r of here) {
		const b = other.get(key.of(r));
		met += !!b;
		truth(by.has(key.of(r)), `${label}: no row ${key.of(r)}`);
		equal(shown(by.get(key.of(r))), cells(figure(r) ?? null, (b && figure(b)) ?? null, digits, times), `${label}: ${key.of(r)}`);
	}
	truth(met > 0, `${label}: nothing met`);
}

async function producers(bench) {
	const [a, b] = [A, B].map((c) => verb('hot', '--by', 'producer', '--top', 'all', c).groups);
	for await (const page of pages(bench, A, B)) {
		await panel(page, 'hotspots');
		await page.selectOption('.panel-hotspots select[aria-label="Rank by"]', 'producer');
		await same(page, 'Producers of waits', { of: (r) => r.key, shown: (r) => r.key }, a, b, (r) => r.per_wait);
		truth((await rows(page, 'Producers of waits')).some((r) => !/^0?(\.0+)?$/.test(r.diff)), 'the two differ');
	}
}

const PIPES = ['ascend_matmul', 'ascend_a5'];
const PIPE = { of: (p) => `${p.core}/${p.pipe}`, shown: (r) => `${r.core}/${r.pipe}` };
const PAIR = { of: (p) => `${p.producer_pipe ?? '(unmatched)'} ${p.consumer_pipe} ${p.is_cross_core ? 'yes' : 'no'}`, shown: (r) => `${r.producer} ${r.consumer} ${r.cross}` };

async function pipes(bench) {
	const [hot, there] = PIPES.map((c) => verb('hot', '--by', 'producer', '--top', 'all', c).pairs), [a, b] = PIPES.map((c) => verb('waves', '--top', 'all', c)), [sa, sb] = PIPES.map((c) => verb('summary', c));
	for await (const page of pages(bench, ...PIPES)) {
		await panel(page, 'hotspots');
		await page.selectOption('.panel-hotspots select[aria-label="Rank by"]', 'producer');
		await same(page, 'Pipes that wait for pipes', PAIR, hot, there, (r) => r.per_wait);
		await panel(page, 'utilization');
		await same(page, 'Utilization by pipe', PIPE, a.pipes, b.pipes, (p) => p.busy_share, { times: 100 });
		await panel(page, 'waves');
		await same(page, 'Pipes', PIPE, a.pipes, b.pipes, (p) => p.busy_share, { times: 100 });
		await panel(page, 'occupancy');
		await same(page, 'Cores', { of: (c) => c.core, shown: (r) => r.core }, a.cores, b.cores, (c) => c.busy_share, { times: 100 });
		await panel(page, 'summary');
		await page.waitForSelector('.summary [data-versus="a"]');
		const got = await page.$$eval('.summary tbody tr', (all) => all.filter((r) => r.querySelector('[data-versus="a"]')).map((r) => [r.children[0].textContent, r.querySelector('[data-versus="a"]').textContent, r.querySelector('[data-versus="b"]').textContent]));
		const busy = [...sa.pipes].sort((x, y) => y.busy - x.busy)[0], other = sb.pipes.find((p) => PIPE.of(p) === PIPE.of(busy));
		equal(got.find((r) => r[0] === `${busy.core} ${busy.pipe}`)?.slice(1), cells(busy.busy_share, other?.busy_share ?? null, 2, 100).slice(0, 2), 'summary: the busiest pipe');
		await panel(page, 'source');
		await page.waitForSelector('.panel-source .facts');
		const text = await page.innerText('.panel-source .panel-bar');
		truth(text.includes(`${count(sa.source.mapped_rows)} of ${count(sa.source.rows)}`), `source: mapping of pipes: ${text}`);
	}
}

/** Shares and means of waves. */
async function shares(bench) {
	const [wa, wb] = [A, B].map((c) => verb('waves', '--bins', '240', '--top', 'all', c)), [sa, sb] = [A, B].map((c) => verb('summary', c)), [oa, ob] = [A, B].map((c) => verb('occupancy', '--bins', '240', '--top', 'all', c));
	const simd = (s) => [{ name: 'all SIMDs', shares: s.utilization_shares }, ...s.utilization_by_simd.map((x) => ({ name: `SE${x.se} CU${x.cu} SIMD${x.simd}`, shares: x.shares }))], name = { of: (r) => r.name, shown: (r) => r.name };
	for await (const page of pages(bench, A, B)) {
		await panel(page, 'utilization');
		await same(page, 'Utilization by SIMD', name, simd(sa), simd(sb), (r) => r.shares.any, { times: 100 });
		await panel(page, 'waves');
		const balance = (w) => w.imbalance.simd.map((r) => ({ ...r, name: `SE${r.se} CU${r.cu} SIMD${r.simd}` }));
		await same(page, 'Balance by SIMD', name, balance(wa), balance(wb), (r) => r.lost_share, { times: 100 });
		await same(page, 'Paths', { of: (c) => c.name ?? String(c.rows), shown: (r) => r.rows }, wa.clusters, wb.clusters, (c) => c.per_instruction);
		await panel(page, 'occupancy');
		const unit = (o) => o.ses.map((r) => ({ ...r, name: `SE${r.se}` }));
		await same(page, 'Occupancy by unit', { of: (r) => r.name, shown: (r) => r.name.replace(' (traced)', '') }, unit(oa), unit(ob), (r) => r.mean_while_busy);
		await panel(page, 'states');
		const parts = (all) => Object.entries(all).map(([key, value]) => ({ name: key, value }));
		await same(page, 'state', name, parts(wa.state_shares), parts(wb.state_shares), (r) => r.value, { times: 100 });
		await same(page, 'bucket', name, parts(wa.accounting_shares), parts(wb.accounting_shares), (r) => r.value, { times: 100 });
	}
}

/** The listing's mean of an execution is the program's. */
async function means(bench) {
	for (const capture of ['gemm', 'report:gemm']) {
		const page = await bench.page(capture), d = verb('isa', capture);
		await panel(page, 'isa');
		await page.selectOption('.panel-isa select[aria-label="Basis"]', 'mean');
		const seen = new Map((await rows(page, 'Instructions')).map((r) => [r.row, r.cycles]));
		for (const r of d.rows) equal(seen.get(String(r.row)), r.per_hit === undefined ? '-' : count(r.per_hit, Number.isInteger(r.per_hit) ? 0 : 1), `mean of row ${r.row}`);
	}
}

/** The matrix pipe of each SIMD by its issue and, beside it, by its passes. */
async function passes(bench) {
	const pct = (v) => (v !== 0 && v < 0.001 ? (100 * v).toPrecision(1) : (100 * v).toFixed(1));
	for (const capture of ['gemm', 'report:gemm']) {
		const page = await bench.page(capture), d = verb('summary', capture), m = d.matrix.modelled;
		equal(m.by_simd.reduce((n, s) => n + s.pipe_cycles, 0), m.pipe_cycles, 'the SIMDs add up');
		await panel(page, 'utilization');
		equal((await rows(page, 'Utilization by SIMD')).map((r) => [r.MATRIX, r.passes]), [{ shares: d.utilization_shares, pipe_share: m.pipe_share }, ...d.utilization_by_simd.map((s, i) => ({ ...s, ...m.by_simd[i] }))].map((s) => [pct(s.shares.MATRIX), pct(s.pipe_share)]), 'issue and passes');
	}
	const page = await bench.page('two_waves');
	await panel(page, 'utilization');
	truth(!('passes' in (await rows(page, 'Utilization by SIMD'))[0]), 'passes without a matrix instruction');
}

/** Waves by SE above the lanes of a report: as fine as a screen, each the program's mean. */
async function strip(bench) {
	for (const name of ['gemm', 'two_waves', 'two_kernels']) {
		const page = await bench.page('report:' + name), all = verb('occupancy', '--bins', '1920', '--top', 'all', name).series.filter((x) => x.to > x.from);
		truth(all.length > 1000, `${name}: ${all.length} means`);
		await page.getByRole('button', { name: 'Global', exact: true }).click();
		await page.waitForFunction(() => /^Waves: means/.test(document.querySelector('.global-label')?.title ?? ''));
		const wide = all[0].to - all[0].from;
		equal(await page.getAttribute('.global-label', 'title'), `Waves: means over ${count(wide, wide < 10 ? 1 : 0)} cycles. Buckets: each pixel.`, name);
		const got = await page.evaluate(async () => (await window.incore.app().verb('occupancy', { bins: 1920, top: 'all', k: undefined })).data.series);
		equal(got.filter((x) => x.to > x.from), all, `${name}: the means`);
	}
}

const DETAILS = ['ascend_details', 'ascend_device'];

async function details(bench) {
	const [a, b] = DETAILS.map((c) => verb('summary', '--top', 'all', c).tables), table = (all, name) => all.find((t) => t.name === name);
	const asRows = (t, keys) => t.cells.map((c) => ({ key: keys.map((k) => c[t.columns.indexOf(k)]).join('|'), cell: (head) => c[t.columns.indexOf(head)] }));
	const number = (v) => (v === null || v === undefined || v === 'NA' ? null : Number(v));
	for await (const page of pages(bench, ...DETAILS)) {
		await panel(page, 'details');
		await page.waitForSelector('.panel-details [data-column="diff"]');
		for (const [label, name, keys, measures] of [['Core occupancy', 'core-occupancy', ['core_id', 'subcore_id', 'subcore_type'], ['cycles', 'throughput', 'L2cache_hit_rate']], ['Compute workload', 'compute-load', ['block_id', 'block_type', 'name'], ['value', 'origin_value']], ['Blocks', 'block-detail', ['Block ID'], ['Vector0 Duration (us)']]]) {
			const t = table(a, name), chooser = page.locator('.panel-section', { has: page.locator(`.table[aria-label="${label}"]`) }).locator('select[aria-label="Compare"]');
			for (const measure of measures) {
				await chooser.selectOption(measure);
				const all = [...asRows(t, keys), ...asRows(table(b, name), keys)].map((r) => r.cell(measure)), digits = Math.max(0, ...all.map((v) => (/\.(\d+)$/.exec(v ?? '')?.[1] ?? '').replace(/0+$/, '').length));
				const at = keys.map((k) => `c${t.columns.indexOf(k)}`);
				await same(page, label, { of: (r) => r.key, shown: (r) => at.map((id) => r[id]).join('|') }, asRows(t, keys), asRows(table(b, name), keys), (r) => number(r.cell(measure)), { digits });
			}
		}
		const base = new Map(table(b, 'base-info').cells), got = new Map((await page.$$eval('table[aria-label="Base information against the other capture"] tbody tr', (all) => all.map((r) => [...r.children].map((c) => c.textContent)))).map((r) => [r[0], r]));
		for (const [key, value] of table(a, 'base-info').cells) if (!/id$/.test(key) && Number.isFinite(Number(value)) && Number.isFinite(Number(base.get(key)))) equal(got.get(key)?.slice(1, 3).map((v) => Number(v.replace(/,/g, ''))), [Number(value), Number(base.get(key))], key);
		truth(got.size > 2, 'base information compares');
		truth((await page.innerText('.panel-details')).includes(table(b, 'advice').cells[0][0]), 'advice of the other');
		equal(await page.locator('.panel-section', { has: page.locator('.table[aria-label="Top stall reasons"]') }).locator('[data-column="diff"]').count(), 0, 'a table that the other has not');
	}
}

export const tests = [
	{ name: 'versus: producers of waits equal incore hot of both', run: producers },
	{ name: 'versus: pipes equal incore hot, waves and summary of both', run: pipes },
	{ name: 'versus: shares of waves equal those of both', run: shares },
	{ name: 'versus: means of executions equal incore isa', run: means },
	{ name: 'utilization: the matrix pipe by its passes', run: passes },
	{ name: 'global: waves of a report as fine as a screen', run: strip },
	{ name: 'versus: details equal incore summary of both', run: details },
];
