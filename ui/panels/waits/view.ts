// SPDX-License-Identifier: Apache-2.0
// waits/view.ts: who waits for whom, instance by instance: each pair of wait and producer, how long the producer took, how far ahead it
// was asked for, and what barriers cost.
import { App, Panel } from '../../app';
import { shareBar } from '../../base/bars';
import { fill, h, notice } from '../../base/dom';
import { count, cyclesWith, largest, share } from '../../base/format';
import { Table } from '../../base/table';
import { State } from '../../state';
import { trackName } from '../../timeline/lanes';
import { Changed, codeColumn, countColumn, cyclesColumn, facts, filterBox, hasPipes, noTracks, pairKey, rowLink, scaled, section, shareColumn, spreadColumns, textColumn, toTrack, View } from '../common';
import { BarrierRow, Barriers, Edge, Hot, Isa, IsaRow, Latency, Pair, WaitPair, Waves } from '../types';
import { against, diffColumns, diffParts, otherData, PER_WAIT } from '../versus';
import { AHEAD, FLIGHT, Producers, TOGETHER } from './producers';

interface Row { edge: Edge; wait: IsaRow | undefined; producer: IsaRow | undefined; pair: WaitPair | undefined; cycles: number }

class WaitView extends View {
	private edges: Table<Row> | null = null;
	private detail: Producers | null = null;
	private byIndex = new Map<number, IsaRow>();
	private others: { refresh(): void }[] = [];
	private whole = 1;
	/** of the other capture */
	private diffs: Awaited<ReturnType<typeof diffParts>> = new Map();
	private base: Isa | null = null;
	private baseWaves: Waves | null = null;

	constructor(host: HTMLElement, app: App) {
		super(host, app, 'waits');
		this.ask();
	}

	private ask(): void {
		const isa = this.app.verb<Isa>('isa'), waves = this.app.verb<Waves>('waves', { bins: 240, top: 'all' }).catch(() => null);
		const hot = this.app.verb<Hot>('hot', { by: 'producer', top: 'all' }).catch(() => null);
		const other = [diffParts(this.app, 'instr'), otherData<Isa>(this.app, 'isa'), otherData<Waves>(this.app, 'waves', { bins: 240, top: 'all' })] as const;
		this.load(Promise.all([isa, waves, hot, ...other]), ([a, b, c, ...there]) => {
			[this.diffs, this.base, this.baseWaves] = there;
			this.show(a.data, b?.data ?? null, c?.data ?? null);
		});
	}

	private show(isa: Isa, waves: Waves | null, hot: Hot | null): void {
		this.whole = isa.accounting?.duration ?? 0;
		const why = noTracks(this.app);
		if (why) {
			fill(this.body, notice('No waits', why));
			return;
		}
		const byRow = new Map(isa.rows.map((r) => [r.row, r])), pairs = new Map(isa.waits.map((p) => [`${p.wait}-${p.producer}`, p]));
		const rows = isa.edges.map((edge): Row => ({ edge, wait: byRow.get(edge.wait), producer: byRow.get(edge.producer), pair: pairs.get(`${edge.wait}-${edge.producer}`), cycles: edge.cycles }));
		const waiting = new Set<number | null>([...isa.edges, ...isa.waits].map((x) => x.wait));
		this.byIndex = new Map(isa.rows.filter((r) => waiting.has(r.row)).map((r) => [r.index, r]));
		this.others = [];
		this.detail = this.own(new Producers(this.app, isa.waits, byRow));
		const parts = [this.edgeSection(rows, hot), this.detail.element];
		if (hasPipes(this.app)) parts.push(this.pairSection(waves?.pairs ?? []));
		else {
			parts.push(this.latencySection(isa.latency));
			if (waves?.barriers) parts.push(this.barrierSection(waves.barriers, byRow));
		}
		fill(this.body, h('div', { class: 'panel-columns' }, parts));
		this.mark(this.app.store.get());
		const first = this.edges?.list()[0]?.wait;
		if (first) void this.detail.show(this.chosen(this.app.store.get()) ?? first);
	}

	/** The wait that is selected, as a row or as one of its executions. */
	private chosen(state: Readonly<State>): IsaRow | undefined {
		return this.byIndex.get(state.selection?.code ?? -1);
	}

	private edgeSection(rows: Row[], hot: Hot | null): HTMLElement {
		const app = this.app, most = largest(rows, (r) => r.cycles);
		const t = this.own(new Table<Row>({
			label: 'Waits and their producers', key: (r) => `${r.edge.wait}-${r.edge.producer}`, csv: 'waits.csv', sort: { id: 'cycles', isDown: true },
			empty: 'No wait of this capture has a known producer.', pick: (r) => r.wait && app.select({ kind: 'code', code: r.wait.index }),
			columns: [
				{ ...countColumn<Row>('wait', 'wait', (r) => r.edge.wait), width: '5.6rem', cell: (r) => rowLink(app, r.edge.wait) }, codeColumn('wait-isa', 'instruction that waits', (r) => r.wait?.isa, 'minmax(10rem, 1fr)'),
				{ ...countColumn<Row>('producer', 'producer', (r) => r.edge.producer), width: '5.8rem', cell: (r) => rowLink(app, r.edge.producer) }, codeColumn('producer-isa', 'what it waits for', (r) => r.producer?.isa, 'minmax(11rem, 1.4fr)'),
				...this.versus<Row>((r) => r.edge.wait),
				countColumn('count', 'times', (r) => r.edge.count, 'how often this producer came last and released the wait'), countColumn('blocked', 'blocked', (r) => r.edge.blocked, 'how often the wait really waited'),
				cyclesColumn(scaled(app, () => this.whole), 'cycles', 'waited', (r) => r.cycles), shareColumn('share', 'share', (r) => r.cycles, () => this.whole),
				{ id: 'bar', head: '', width: '4rem', isFixed: true, isDecor: true, value: (r) => r.cycles, cell: (r) => shareBar(r.cycles, most, app.palette().buckets[2], 'the largest') },
				...spreadColumns<Row>(app, 'latency', 'latency', (r) => r.edge.latency, 'From the issue of the producer to the release of the wait: exact where the wait blocked, else an upper bound.').map((c) => ({ ...c, width: '8.4rem' })),
				...(hasPipes(app) ? [] : [countColumn<Row>('together', 'last of', (r) => r.pair?.together?.median, TOGETHER), countColumn<Row>('flight', 'in flight', (r) => r.pair?.in_flight?.median, FLIGHT), { ...countColumn<Row>('ahead', 'ahead', (r) => r.pair?.iterations?.median, AHEAD), unit: () => 'iterations' }]),
				countColumn('inexact', 'group', (r) => r.edge.inexact, 'times when one of several that return in any order released it'),
			],
		}));
		t.rows(rows);
		this.edges = t;
		const w = hot && (hot as unknown as { waits?: Record<string, number> }).waits;
		return section('Waits and producers', [filterBox(t, 'Filter', (r) => `${r.wait?.isa} ${r.producer?.isa} ${r.wait?.source}`), t.tools()],
			facts(['pairs', count(rows.length)], ['waited', hot?.wait !== undefined ? `${cyclesWith(hot.wait, scaled(app, () => this.whole).units())} (${share(hot.wait, this.whole)})` : null], ['executed', w ? count(w.executed) : null],
				['blocked', w ? count(w.blocked) : null], ['free', w ? `${count(w.free)} (did not block)` : null], ['barrier', hot?.barrier ? cyclesWith(hot.barrier, scaled(app, () => this.whole).units()) : null], ['sleep', hot?.sleep ? cyclesWith(hot.sleep, scaled(app, () => this.whole).units()) : null]),
			h('div', { class: 'panel-fill' }, t.element));
	}

	/** Cycles per execution of a row, here and there. */
	private versus<R>(row: (r: R) => number | null) {
		return this.diffs.size ? diffColumns<R>((r) => this.diffs.get(String(row(r)))) : [];
	}

	private pairSection(pairs: Pair[]): HTMLElement {
		const app = this.app;
		const t = this.own(new Table<Pair>({
			label: 'Pipes that wait for pipes', key: pairKey, csv: 'pipe-waits.csv', empty: 'No pipe waited for another.',
			columns: [textColumn('consumer', 'pipe that waits', (r) => r.consumer_pipe), textColumn('producer', 'for', (r) => r.producer_pipe ?? '(unmatched)'), textColumn('cross', 'across cores', (r) => (r.is_cross_core ? 'yes' : 'no')),
				...against<Pair>(this.baseWaves?.pairs, pairKey, (r) => r.per_wait, PER_WAIT),
				countColumn('count', 'waits', (r) => r.count), countColumn('blocked', 'blocked', (r) => r.blocked), cyclesColumn(app, 'cycles', 'waited', (r) => r.cycles)],
		}));
		t.rows(pairs);
		this.others.push(t);
		return section('Pipe by pipe', t.tools(), h('div', { class: 'panel-fill' }, t.element));
	}

	private latencySection(rows: Latency[]): HTMLElement {
		const app = this.app;
		const t = this.own(new Table<Latency>({
			label: 'Latency by opcode', key: (r) => `${r.opcode} ${r.counter} ${r.to_lds}`, csv: 'latency.csv', empty: 'No load or store of this capture was waited for.',
			columns: [textColumn('opcode', 'opcode', (r) => r.opcode + (r.to_lds ? ' (to LDS)' : ''), 'minmax(10rem, 1fr)'), textColumn('counter', 'counter', (r) => r.counter),
				...against<Latency>(this.base?.latency, (r) => `${r.opcode} ${r.counter} ${r.to_lds}`, (r) => r.cycles?.median, { unit: 'cycles', title: 'median latency' }),
				countColumn('exact', 'exact', (r) => r.exact), countColumn('bound', 'upper bound', (r) => r.upper_bound), countColumn('group', 'group', (r) => r.group),
				...spreadColumns<Latency>(app, 'cycles', 'latency', (r) => r.cycles, 'from issue to the release of the wait'),
				countColumn('distance', 'distance', (r) => r.distance_instructions?.median, 'instructions between the load and its wait (median): how far ahead it was asked for'),
				cyclesColumn(app, 'ahead', 'ahead', (r) => r.distance_cycles?.median, 'cycles between the load and its wait (median)'),
				countColumn('flight', 'in flight', (r) => r.in_flight?.max, 'most that were outstanding at once in a wave')],
		}));
		t.rows(rows);
		this.others.push(t);
		return section('Latency by opcode', t.tools(), h('div', { class: 'panel-fill' }, t.element));
	}

	private wave(name: string, words: string, title: string, go?: () => void): HTMLElement {
		const app = this.app, track = app.trace.tracks.findIndex((t) => t.name === name);
		return h('button', { class: 'link clip', title, on: { click: (e) => {
			e.stopPropagation();
			toTrack(app, track);
			go?.();
		} } }, track < 0 ? name : trackName(app.trace, track), words);
	}

	/** The widest meeting, from the first that arrived to the release. */
	private meeting(r: BarrierRow): void {
		const origin = this.app.trace.span.origin ?? 0;
		if (r.widest) this.app.showTime(r.widest.first_arrival_aligned - origin, r.widest.release_aligned - origin);
	}

	private barrierSection(b: Barriers, rows: Map<number | null, IsaRow>): HTMLElement {
		const app = this.app;
		const t = this.own(new Table<BarrierRow>({
			label: 'Barriers', key: (r) => r.row ?? -1, csv: 'barriers.csv', empty: 'No barrier was executed.', pick: (r) => r.row !== null && app.select({ kind: 'code', code: app.codeOfRow(r.row) }),
			columns: [{ ...countColumn<BarrierRow>('row', '#', (r) => r.row), width: '5.6rem', cell: (r) => rowLink(app, r.row) }, codeColumn('isa', 'instruction', (r) => (r.row === null ? '' : rows.get(r.row)?.isa), 'minmax(6rem, 1fr)'), ...this.versus<BarrierRow>((r) => r.row), countColumn('executions', 'executions', (r) => r.executions),
				countColumn('meetings', 'meetings', (r) => r.meetings), cyclesColumn(scaled(app, () => this.whole), 'wait', 'waited', (r) => r.wait),
				{ ...textColumn<BarrierRow>('widest', 'last in the widest', (r) => r.widest?.last, '13rem'), title: 'the wave that arrived last in the meeting of the largest spread; a click shows that meeting', cell: (r) => (r.widest ? this.wave(r.widest.last, '', `${count(r.widest.skew)} cycles after ${r.widest.first}`, () => this.meeting(r)) : '-') },
				{ ...textColumn<BarrierRow>('latest', 'most often last', (r) => r.latest?.wave, '16rem'), title: 'the wave that arrived last most often, and in how many of its meetings', cell: (r) => (r.latest ? this.wave(r.latest.wave, `, ${count(r.latest.last)} of ${count(r.latest.meetings)}`, r.latest.wave) : '-') },
				...spreadColumns<BarrierRow>(app, 'skew', 'spread', (r) => r.skew, 'from the first wave that arrived to the last'),
				cyclesColumn(app, 'last', 'last wave', (r) => r.last_wait?.median, 'what the wave that came last waited (median)')],
		}));
		t.rows(b.rows);
		this.others.push(t);
		return section('Barriers', t.tools(), facts(['meetings', count(b.meetings)], ['waited', cyclesWith(b.wait, scaled(app, () => this.whole).units())], ['grouping', b.evidence]), h('div', { class: 'panel-fill' }, t.element));
	}

	private mark(state: Readonly<State>): void {
		const code = state.selection?.code;
		const keys = code === undefined ? [] : (this.edges?.list() ?? []).filter((r) => r.wait?.index === code || r.producer?.index === code).map((r) => `${r.edge.wait}-${r.edge.producer}`);
		this.edges?.mark(keys, true);
	}

	protected update(state: Readonly<State>, keys: Changed): void {
		const wait = this.chosen(state), sel = state.selection;
		if (keys.has('selection')) this.mark(state);
		if (keys.has('selection') && wait) void this.detail?.show(wait, sel?.kind === 'slice' && sel.track !== undefined && sel.slice !== undefined ? { track: sel.track, slice: sel.slice } : undefined);
		if (keys.has('unit') || keys.has('theme')) for (const t of [this.edges, this.detail, ...this.others]) t?.refresh();
		if (keys.has('scope') || keys.has('base')) this.ask();
	}
}

export const panel: Panel = {
	id: 'waits', title: 'Waits', hint: 'each wait and the instruction it waited for, latencies, barriers',
	questions: ['diff?by=instr&top=all', 'hot?by=producer&top=all', 'isa', 'waves?bins=240&top=all'],
	missing: noTracks, open: (host, app) => new WaitView(host, app),
};
