// SPDX-License-Identifier: Apache-2.0
// Who waited for whom: producers row by row and instance by instance, barriers and who came last; waves by phase, states against records,
// and what the inspector says of a slice.
import { count, cycles, equal, incore, panel, rows, truth, verb } from './lib.mjs';

const bare = (name) => name.replace(/^report:/, '');
/** An answer of the program itself. */
const get = (name, path) => JSON.parse(incore('view', '--get', '/api/1/' + path, bare(name)));
const until = (page, test, arg) => page.waitForFunction(test, arg);
const selection = (page) => page.evaluate(() => window.incore.stats().state.selection);

function compare(got, want, what) {
	equal(got.length, want.length, `${what}: rows`);
	want.forEach((w, i) => {
		for (const [k, v] of Object.entries(w)) if (got[i][k] !== String(v)) throw new Error(`${what}, row ${i}, ${k}: on screen "${got[i][k]}", expected "${v}" (${JSON.stringify(got[i])})`);
	});
}

/** Every wait: in flight, last of n, iterations ahead; and of each all that it consumed. */
async function producers(bench, name) {
	const page = await bench.page(name), d = verb('isa', name);
	await panel(page, 'waits');
	const pair = (e) => d.waits.find((p) => p.wait === e.wait && p.producer === e.producer);
	const edges = d.edges.map((e, i) => ({ e, i })).sort((a, b) => b.e.stall + b.e.shared - a.e.stall - a.e.shared || a.i - b.i).map((x) => x.e);
	compare(await rows(page, 'Waits and their producers'), edges.map((e) => ({
		wait: `row ${e.wait}`, producer: `row ${e.producer}`, together: count(pair(e).together?.median), flight: count(pair(e).in_flight?.median), ahead: count(pair(e).iterations?.median),
	})), 'waits');
	truth(edges.some((e) => pair(e).iterations?.median === 1), 'this capture has no prefetch to show');
	for (const wait of new Set(edges.map((e) => e.wait))) {
		await page.locator('.table[aria-label="Waits and their producers"] .table-row', { has: page.locator(`[data-column="wait"] button:text-is("row ${wait}")`) }).locator('[data-column="count"]').first().click();
		await until(page, (n) => document.querySelector('.panel-waits')?.textContent.includes(`Producers of row ${n}`), wait);
		const list = d.waits.filter((p) => p.wait === wait), most = Math.max(...list.map((p) => p.last));
		compare(await rows(page, 'Producers of the wait'), list.map((p) => ({
			producer: `row ${p.producer}`, consumed: count(p.consumed), last: (most > 0 && p.last === most ? '● ' : '') + count(p.last), group: count(p.group),
			'slack-median': cycles(p.slack_at_most?.median), 'slack-p95': cycles(p.slack_at_most?.p95), flight: count(p.in_flight?.median), ahead: count(p.iterations?.median),
		})), `producers of ${wait}`);
	}
	const head = await page.locator('.table[aria-label="Producers of the wait"] .table-head [data-column="slack-median"]').innerText();
	truth(/≤/.test(head) && /cycles/.test(head), `the head of the bound: ${head}`);
}

/** The longest execution of a wait, its neighbours, and the way to an instance. */
async function instances(bench, name) {
	const page = await bench.page(name), d = verb('isa', name);
	await panel(page, 'waits');
	const edge = d.edges.reduce((a, b) => (b.stall + b.shared > a.stall + a.shared ? b : a)), code = d.rows.find((r) => r.row === edge.wait).index;
	const longest = get(name, `histogram?code=${code}`).outliers[0];
	const shown = async (s) => {
		await until(page, ([n, all, row]) => document.querySelector('.panel-waits')?.textContent.includes(`Execution ${n} of ${all} of row ${row}`), [count(s.execution), count(s.executions), edge.wait]);
		const several = s.producers.filter((p) => p.is_last).length > 1;
		compare(await rows(page, 'Instances it waited for'), s.producers.map((p) => ({
			isa: p.text, start: cycles(p.start), latency: cycles(p.latency), arrival: !p.is_certain ? 'any order: one of these was last' : !p.is_last ? 'before the last, in order' : several ? '● last of its counter' : '● last to come back',
		})), 'instances');
	};
	const first = get(name, `at?track=${longest.track}&slice=${longest.slice}`);
	truth(first.producers.length > 0, 'the longest wait has no producer');
	await shown(first);
	for (const [button, n] of [['Next', first.next], ['Previous', first.previous]]) {
		if (n === null) continue;
		await page.locator('.panel-waits button', { hasText: button }).click();
		await shown(get(name, `at?track=${first.track}&slice=${n}`));
		await page.locator('.panel-waits button', { hasText: button === 'Next' ? 'Previous' : 'Next' }).click();
		await shown(first);
	}
	await page.locator('.table[aria-label="Instances it waited for"] .table-row [data-column="arrival"]').last().click();
	const last = first.producers[first.producers.length - 1];
	await until(page, ([t, s]) => { const x = window.incore.stats().state.selection; return x?.track === t && x.slice === s; }, [last.track, last.slice]);
	const view = await page.evaluate(() => { const s = window.incore.stats().state; return [s.t0, s.t1]; });
	truth(view[0] <= last.start && view[1] >= first.start + first.duration, `the wait and what it waited for are not in sight: ${view}`);
	await until(page, (text) => document.querySelector('.inspector')?.textContent.includes(text), last.text);
	await page.locator('.panel-waits button', { hasText: 'Show' }).click();
	await until(page, ([t, s]) => { const x = window.incore.stats().state.selection; return x?.track === t && x.slice === s; }, [first.track, first.slice]);
}

/** Who came last at a barrier; a click shows that meeting. */
async function barriers(bench, name) {
	const page = await bench.page(name), b = verb('waves', '--top', 'all', name).barriers.rows;
	await panel(page, 'waits');
	const tracks = await page.evaluate(() => window.incore.app().trace.tracks.map((t) => t.name)), got = await rows(page, 'Barriers');
	truth(b.length > 0 && b[0].widest && b[0].latest, 'no meeting');
	b.forEach((r, i) => truth(!r.latest || got[i].latest.endsWith(`, ${count(r.latest.last)} of ${count(r.latest.meetings)}`), `most often last: ${got[i].latest}`));
	await page.locator('.table[aria-label="Barriers"] .table-row [data-column="widest"] button').first().click();
	await until(page, (t) => window.incore.stats().state.selection?.track === t, tracks.indexOf(b[0].widest.last));
	const origin = await page.evaluate(() => window.incore.app().trace.span.origin), view = await page.evaluate(() => { const s = window.incore.stats().state; return [s.t0, s.t1]; });
	truth(view[0] <= b[0].widest.first_arrival_aligned - origin && view[1] >= b[0].widest.release_aligned - origin, `the meeting is not in sight: ${view}`);
	truth(view[1] - view[0] < 4 * (b[0].widest.release_aligned - b[0].widest.first_arrival_aligned) + 200, `too much in sight: ${view}`);
	await page.locator('.table[aria-label="Barriers"] .table-row [data-column="latest"] button').first().click();
	await until(page, (t) => window.incore.stats().state.selection?.track === t, tracks.indexOf(b[0].latest.wave));
}

/** Phases and hardware states of the waves. */
async function waves(bench, name) {
	const page = await bench.page(name), d = verb('waves', '--top', 'all', name);
	await panel(page, 'waves');
	const list = d.waves.map((w, i) => ({ w, i })).sort((a, b) => b.w.duration - a.w.duration || a.i - b.i).map((x) => x.w);
	compare(await rows(page, 'Waves'), list.map((w) => ({ duration: cycles(w.duration), phase: w.phase, 'state-EXEC': cycles(w.states?.EXEC), 'state-WAIT': cycles(w.states?.WAIT), 'state-STALL': cycles(w.states?.STALL), 'state-IDLE': cycles(w.states?.IDLE) })), 'waves');
	await page.selectOption('.panel-waves select[aria-label="By"]', 'phase');
	compare(await rows(page, 'Balance by phase in the slot'), d.imbalance.phase.map((g) => ({ name: g.phase, waves: count(g.waves), median: cycles(g.duration.median) })), 'phases');
	truth(d.imbalance.phase.length === 3, 'this capture has no three phases to show');
	const text = await page.innerText('.panel-waves');
	for (const k of ['p5', 'p25', 'median', 'p75', 'p95', 'p99']) truth(text.includes(count(d.duration[k])), `no ${k}`);
	equal(await page.locator('.panel-waves .facts .box-plot').count(), 1, 'box plot');
}

/** States from the hardware, and what the records make of them; all waves, or those of a place. */
async function states(bench, name) {
	const page = await bench.page(name), isReport = name.startsWith('report:'), all = verb('waves', '--bins', '240', '--top', 'all', name);
	const table = async (d, what) => compare(await rows(page, 'state'), ['EXEC', 'WAIT', 'STALL', 'IDLE'].map((s) => {
		const x = d.states_explained.find((e) => e.state === s);
		return { name: s, cycles: cycles(x.cycles), records: cycles(x.records), difference: cycles(x.difference), why: x.parts.map((p) => `${p.part} ${cycles(p.cycles)} cycle${p.cycles === 1 ? '' : 's'}`).join(' + ') };
	}), what);
	await panel(page, 'states');
	await table(all, 'states');
	const choices = () => page.locator('.panel-states select[aria-label="Waves"] option').evaluateAll((list) => list.map((o) => [o.value, o.disabled]));
	equal((await choices()).map(([, d]) => d), [false, true, true, true], 'nothing is selected yet');
	await page.evaluate(() => window.incore.app().select({ kind: 'track', track: 3 }));
	await until(page, (off) => [...document.querySelectorAll('.panel-states select[aria-label="Waves"] option')].slice(1).every((o) => o.disabled === off), isReport);
	if (isReport) return;
	const [se, cu, simd, slot, wave] = await page.evaluate(() => window.incore.app().trace.tracks[3].coord);
	for (const [depth, words] of [['1', ['--se', se]], ['3', ['--se', se, '--cu', cu, '--simd', simd]], ['5', ['--se', se, '--cu', cu, '--simd', simd, '--slot', slot, '--wave', wave]]]) {
		const d = verb('waves', '--bins', '240', '--top', 'all', ...words.map(String), name);
		await page.selectOption('.panel-states select[aria-label="Waves"]', depth);
		await until(page, (text) => document.querySelector('.panel-states .table[aria-label="state"] [data-column="cycles"].cell.num:not(.table-head *)')?.textContent === text, cycles(d.states.EXEC));
		await table(d, `states of ${words.join(' ')}`);
	}
}

/** A slice in full, and whether a row costs the same in every wave. */
async function inspector(bench, name) {
	const page = await bench.page(name), s = get(name, bare(name) === 'gemm' ? 'at?track=1&slice=4' : 'at?track=2&slice=3'), d = verb('isa', name);
	await page.evaluate(([t, i]) => window.incore.pane().goSlice(t, i), [s.track, s.slice]);
	await until(page, ([n, all]) => document.querySelector('.inspector')?.textContent.includes(`Execution ${n} of ${all}`), [count(s.execution), count(s.executions)]);
	const text = await page.innerText('.inspector');
	for (const [b, v] of Object.entries(s.buckets)) truth(v === 0 || text.includes(`${b} ${cycles(v)} cycle`), `bucket ${b} ${v} is not in: ${text}`);
	truth(text.includes(s.text) && (s.address === null || text.includes('0x' + s.address.toString(16))), 'text and address');
	for (const f of s.frames) truth(text.includes(`${f.file.split('/').pop()}:${f.line}`), `no frame ${f.line}`);
	for (const v of Object.values(s.raw)) truth(text.includes(typeof v === 'number' ? count(v) : v), `raw field ${v}`);
	truth(s.slice !== null, 'there is no such slice');
	const row = d.rows.find((r) => r.waves);
	if (row) {
		await page.evaluate((code) => window.incore.app().select({ kind: 'code', code }), row.index);
		await until(page, () => /wave by wave/i.test(document.querySelector('.inspector')?.textContent ?? ''));
		const over = await page.innerText('.inspector');
		for (const v of [row.waves.min, row.waves.max]) truth(over.includes(cycles(v)), `${v} is not in: ${over}`);
		await page.locator('.inspector button', { hasText: 'wave' }).last().click();
		await until(page, (file) => { const t = window.incore.stats().state.selection?.track; return t !== undefined && window.incore.app().trace.tracks[t].name === file; }, row.waves.slowest);
	}
	await page.evaluate(([t, i]) => window.incore.pane().goSlice(t, i), [s.track, s.slice]);
	await page.locator('.inspector td button').first().click();
	await until(page, (t) => { const x = window.incore.stats().state; return x.selection?.kind === 'track' && x.selection.track === t && x.panel === 'waves'; }, s.track);
	truth(await selection(page), 'a selection');
}

const CASES = [
	['producers of each wait equal incore isa', producers, ['gemm']],
	['instances of a wait, and the way to them', instances, ['gemm', 'ascend_matmul']],
	['barriers tell who came last', barriers, ['gemm']],
	['waves have phases and states', waves, ['sqtt_gfx9']],
	['states are explained by records', states, ['gemm']],
	['the inspector tells all of a slice', inspector, ['gemm', 'ascend_matmul']],
];

export const tests = CASES.flatMap(([name, run, captures]) => captures.flatMap((c) => ['', 'report:'].map((kind) => ({
	name: `waits: ${name} (${kind}${c})`, run: (b) => run(b, kind + c), covers: kind ? ['part:report'] : [],
}))));
