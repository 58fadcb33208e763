// SPDX-License-Identifier: Apache-2.0
// waves/view.ts: wave by wave (or pipe by pipe): durations, where their cycles went, which path they took, and how evenly work was spread.
import { App, Panel } from '../../app';
import { bucketBar, shareBar } from '../../base/bars';
import { Child, choose, fill, h, notice } from '../../base/dom';
import { count, cyclesWith, largest, share } from '../../base/format';
import { BUCKETS, colourOf } from '../../base/palette';
import { Table } from '../../base/table';
import { State } from '../../state';
import { Changed, countColumn, cyclesColumn, facts, filterBox, fit, hasPipes, noTracks, scaled, section, shareColumn, textColumn, toTrack, trackAt, View } from '../common';
import { Balance, Cluster, Pipe, Wave, Waves } from '../types';
import { against, otherData } from '../versus';
import { boxPlot } from './box';

type Group = 'se' | 'simd' | 'slot' | 'phase';
const GROUPS: Record<Group, string> = { se: 'shader engine', simd: 'SIMD', slot: 'slot', phase: 'phase in the slot' };
const PHASE = 'first: nothing ran in its slot before; steady: others before and after it; tail: the last of several';
const STATES = ['EXEC', 'WAIT', 'STALL', 'IDLE'] as const;

function waveName(w: { se: number; cu: number; simd: number; slot: number; wave: number }): string {
	return `SE${w.se} CU${w.cu} SIMD${w.simd} slot ${w.slot} wave ${w.wave}`;
}

class WavesView extends View {
	private table: Table<Wave> | null = null;
	private pipes: Table<Pipe> | null = null;
	private others: { refresh(): void }[] = [];
	private data!: Waves;
	/** of the other capture */
	private base: Waves | null = null;
	private group: Group = 'simd';
	private readonly balance = h('div', { class: 'panel-fill' });

	constructor(host: HTMLElement, app: App) {
		super(host, app, 'waves');
		this.ask();
	}

	private ask(): void {
		const all = { bins: 240, top: 'all' };
		this.load(Promise.all([this.app.verb<Waves>('waves', all), otherData<Waves>(this.app, 'waves', all)]), ([a, b]) => {
			this.base = b;
			this.show(a.data);
		});
	}

	private show(d: Waves): void {
		this.data = d;
		const why = noTracks(this.app);
		if (why) {
			fill(this.body, notice('No waves', why));
			return;
		}
		fill(this.body, h('div', { class: 'panel-columns' }, d.pipes ? [this.pipeSection(d.pipes)] : [this.waveSection(d.waves ?? []), this.clusterSection(d.clusters ?? []), this.balanceSection()]));
		this.mark(this.app.store.get(), true);
	}

	private track(w: Wave): number {
		return trackAt(this.app, [w.se, w.cu, w.simd, w.slot, w.wave]);
	}

	private waveSection(rows: Wave[]): HTMLElement {
		const longest = rows.map(waveName).reduce((m, name) => (name.length > m.length ? name : m), '');
		const app = this.app, most = rows.reduce((m, w) => Math.max(m, w.duration), 1), d = this.data.duration, u = app.units();
		const t = this.own(new Table<Wave>({
			label: 'Waves', key: (w) => w.file, csv: 'waves.csv', sort: { id: 'duration', isDown: true }, pick: (w) => toTrack(app, this.track(w)),
			columns: [
				{ id: 'wave', head: 'wave', width: `minmax(${fit(longest)}, 1fr)`, value: (w) => waveName(w) }, // its end tells it from others
				cyclesColumn(app, 'duration', 'duration', (w) => w.duration), { id: 'bar', head: 'split', title: 'where the cycles go: issue, stall, wait, idle, drain', width: 'minmax(9.5rem, 1fr)', isFixed: true, value: (w) => w.duration, cell: (w) => bucketBar({ ...w.accounting }, most, app.palette()) },
				...BUCKETS.map((b) => cyclesColumn<Wave>(app, b, b, (w) => w.accounting[b])),
				{ id: 'cluster', head: 'path', isNumber: true, value: (w) => w.cluster, title: 'waves that executed the same instructions have the same number', cell: (w) => h('span', { class: 'chip' }, h('span', { class: 'swatch', style: { background: colourOf(app.palette(), w.cluster) } }), String(w.cluster)) },
				textColumn('phase', 'phase', (w) => w.phase, '5rem', PHASE), countColumn('instructions', 'instructions', (w) => w.instructions), countColumn('rows', 'rows', (w) => w.rows, 'distinct instructions it executed'), countColumn('barriers', 'barriers', (w) => w.barriers),
				cyclesColumn(app, 'barrier', 'at barriers', (w) => w.barrier_cycles), textColumn('end', 'ends', (w) => (w.ends_in_endpgm ? 's_endpgm' : 'cut off'), '6rem'),
				...STATES.map((k) => cyclesColumn<Wave>(app, `state-${k}`, k, (w) => w.states?.[k], 'as the hardware says; the States panel sets it against the buckets')),
			],
		}));
		t.rows(rows);
		this.table = t;
		return section('Waves', [filterBox(t, 'Filter', (w) => `${waveName(w)} path ${w.cluster} ${w.phase}`), t.tools()],
			d && facts(['waves', count(rows.length)], ['shortest', cyclesWith(d.min, u)], ...(['p5', 'p25', 'median', 'p75', 'p95', 'p99'] as const).map((k): [string, Child] => [k, cyclesWith(d[k], u)]), ['longest', cyclesWith(d.max, u)], ['deviation', d.deviation === null ? null : cyclesWith(Math.round(d.deviation), u)],
				['spread', boxPlot(d, d.min, d.max, `durations: min ${d.min}, p25 ${d.p25}, median ${d.median}, p75 ${d.p75}, max ${d.max} cycles`)]),
			this.base && h('p', { class: 'dim' }, 'Waves are not compared one by one: which wave runs where, and how often it loops, differs from run to run. Paths and balance are, below.'),
			h('div', { class: 'panel-fill' }, t.element));
	}

	private clusterSection(rows: Cluster[]): HTMLElement {
		const app = this.app, whole = this.data.accounting.duration;
		const t = this.own(new Table<Cluster>({
			label: 'Paths', key: (c) => rows.indexOf(c), csv: 'paths.csv', empty: 'No wave executed anything.',
			pick: (c) => {
				const w = (this.data.waves ?? []).find((x) => x.file === c.representative);
				if (w) toTrack(app, this.track(w));
			},
			columns: [{ id: 'path', head: 'path', isNumber: true, value: (c) => rows.indexOf(c), cell: (c) => h('span', { class: 'chip' }, h('span', { class: 'swatch', style: { background: colourOf(app.palette(), rows.indexOf(c)) } }), String(rows.indexOf(c))) },
				...this.pathColumns(rows), countColumn('waves', 'waves', (c) => c.waves), countColumn('rows', 'rows', (c) => c.rows, 'distinct instructions'), countColumn('trips', 'trip variants', (c) => c.trip_variants, 'how many different loop counts'),
				cyclesColumn(scaled(app, () => whole), 'duration', 'cycles', (c) => c.duration), shareColumn('share', 'share', (c) => c.duration, () => whole), cyclesColumn(app, 'min', 'min', (c) => c.duration_min), cyclesColumn(app, 'median', 'median', (c) => c.duration_median), cyclesColumn(app, 'max', 'max', (c) => c.duration_max),
				textColumn('typical', 'typical wave', (c) => c.representative, 'minmax(9rem, 1fr)', 'the wave closest to the median of its path')],
		}));
		t.rows(rows);
		this.others.push(t);
		return section('Paths', t.tools(), h('p', { class: 'dim' }, 'Waves that executed the same set of instructions took the same path. A click shows the typical one.'), h('div', { class: 'panel-fill' }, t.element));
	}

	/** A path is known again by how many instructions it has, where no other has as many. */
	private pathColumns(rows: Cluster[]) {
		const only = (all: Cluster[]) => all.filter((c) => all.filter((x) => x.rows === c.rows).length === 1), there = this.base?.clusters && only(this.base.clusters);
		return against<Cluster>(there, (c) => (only(rows).includes(c) || there!.includes(c) ? c.rows : -1), (c) => c.per_instruction, { unit: 'cyc/exec', title: 'cycles per executed instruction of this path' });
	}

	private balanceSection(): HTMLElement {
		const pick = choose('By', (Object.keys(GROUPS) as Group[]).map((value) => ({ value, label: GROUPS[value] })), this.group, (v) => {
			this.group = v as Group;
			this.drawBalance();
		});
		this.drawBalance();
		return section('Balance', pick, this.balance);
	}

	private drawBalance(): void {
		const app = this.app, rows = this.data.imbalance?.[this.group] ?? [];
		const low = -largest(rows, (r) => -r.duration.min, -Infinity), high = largest(rows, (r) => r.duration.max), most = largest(rows, (r) => r.accounting.duration);
		const name = (r: Balance) => [r.se !== undefined && `SE${r.se}`, r.cu !== undefined && `CU${r.cu}`, r.simd !== undefined && `SIMD${r.simd}`, r.slot !== undefined && `slot ${r.slot}`, r.phase].filter(Boolean).join(' ');
		const t = this.own(new Table<Balance>({
			label: `Balance by ${GROUPS[this.group]}`, key: name, csv: 'balance.csv',
			columns: [textColumn('name', GROUPS[this.group], name, 'minmax(8rem, 1fr)'), ...against<Balance>(this.base?.imbalance?.[this.group], name, (r) => r.lost_share, { unit: 'lost %', title: 'cycles in which its waves did not issue, of their lifetime', sense: 1 }), countColumn('waves', 'waves', (r) => r.waves), { ...cyclesColumn<Balance>(scaled(app, () => this.data.accounting.duration), 'sum', 'sum', (r) => r.duration.sum), width: '6.5rem' }, cyclesColumn(app, 'median', 'median', (r) => r.duration.median),
				cyclesColumn(app, 'max', 'max', (r) => r.duration.max), { id: 'box', head: 'spread', width: '12rem', isFixed: true, value: (r) => r.duration.median, cell: (r) => boxPlot(r.duration, low, high, `${name(r)}: median ${r.duration.median} cycles`) },
				{ id: 'bar', head: 'split', title: 'where the cycles go: issue, stall, wait, idle, drain', width: 'minmax(7rem, 1fr)', isFixed: true, value: (r) => r.accounting.duration, cell: (r) => bucketBar({ ...r.accounting }, most, app.palette()) }],
		}));
		t.rows(rows);
		this.others.push(t);
		fill(this.balance, t.element);
	}

	private pipeSection(rows: Pipe[]): HTMLElement {
		const app = this.app, most = largest(rows, (p) => p.accounting.duration), d = this.data;
		const t = this.own(new Table<Pipe>({
			label: 'Pipes', key: (p) => `${p.core}/${p.pipe}`, csv: 'pipes.csv', sort: { id: 'busy', isDown: true }, pick: (p) => this.toPipe(p),
			columns: [textColumn('core', 'core', (p) => p.core, 'minmax(9rem, 1fr)'), textColumn('pipe', 'pipe', (p) => p.pipe), ...against<Pipe>(this.base?.pipes, (p) => `${p.core}/${p.pipe}`, (p) => p.busy_share, { unit: 'busy %', title: 'busy, of the span of its core', sense: 0 }), cyclesColumn(app, 'busy', 'busy', (p) => p.busy, 'union of its instructions: never counted twice'),
				{ id: 'busybar', head: '', width: '6rem', isFixed: true, isDecor: true, value: (p) => p.busy, cell: (p) => shareBar(p.busy_share ?? 0, 1, app.palette().buckets[0]) },
				{ id: 'bar', head: 'split', title: 'where the cycles go: issue, stall, wait, idle, drain', width: 'minmax(8rem, 1fr)', isFixed: true, value: (p) => p.busy, cell: (p) => bucketBar({ ...p.accounting }, most, app.palette()) },
				...BUCKETS.map((b) => cyclesColumn<Pipe>(app, b, b, (p) => p.accounting[b])), countColumn('instructions', 'instructions', (p) => p.instructions), countColumn('sync', 'flags', (p) => p.sync_instructions),
				cyclesColumn(app, 'latency', 'latency sum', (p) => p.latency_sum), countColumn('depth', 'depth', (p) => p.depth_max, 'most instructions in flight at once'), countColumn('mean', 'mean depth', (p) => p.depth_mean, '', 2),
				cyclesColumn(app, 'exposed', 'exposed', (p) => p.exposed, 'busy while no other pipe was'), cyclesColumn(app, 'path', 'critical path', (p) => p.critical_path), countColumn('gaps', 'gaps', (p) => p.gaps?.count), cyclesColumn(app, 'gap', 'longest gap', (p) => p.gaps?.max)],
		}));
		t.rows(rows);
		this.pipes = t;
		const path = d.critical_path, parts: Child[] = [d.bound && h('p', { class: 'verdict' }, d.bound.sentence)];
		if (path) parts.push(facts(['critical path', cyclesWith(path.span, app.units())], ['work', share(path.work, path.span)], ['wait', share(path.wait, path.span)], ['gaps', share(path.gap, path.span)], ['hops', count(path.hops)]));
		return section('Pipes', [filterBox(t, 'Filter', (p) => `${p.core} ${p.pipe}`), t.tools()], parts, h('div', { class: 'panel-fill' }, t.element));
	}

	private toPipe(p: Pipe): void {
		const at = this.app.trace.tracks.findIndex((t) => t.name === `${p.core}/${p.pipe}` || t.name.endsWith(p.pipe) && t.name.startsWith(p.core));
		toTrack(this.app, at);
	}

	private mark(state: Readonly<State>, scroll: boolean): void {
		const track = state.selection?.track;
		const coord = track === undefined ? null : this.app.trace.tracks[track]?.coord;
		if (this.table) {
			const w = coord && (this.data.waves ?? []).find((x) => [x.se, x.cu, x.simd, x.slot, x.wave].every((v, i) => v === coord[i]));
			this.table.mark(w ? [w.file] : [], scroll);
		}
		if (this.pipes) {
			const name = track === undefined ? '' : this.app.trace.tracks[track]?.name ?? '';
			this.pipes.mark(this.pipes.list().map((p) => `${p.core}/${p.pipe}`).filter((k) => k === name), scroll);
		}
	}

	protected update(state: Readonly<State>, keys: Changed): void {
		if (keys.has('selection')) this.mark(state, true);
		if (keys.has('unit') || keys.has('theme')) for (const t of [this.table, this.pipes, ...this.others]) t?.refresh();
		if (keys.has('scope') || keys.has('base')) this.ask();
	}
}

export const panel: Panel = {
	id: 'waves', title: 'Waves', hint: 'wave by wave or pipe by pipe: durations, paths, balance',
	questions: ['waves?bins=240&top=all'],
	titleFor: (app) => (hasPipes(app) ? 'Pipes' : undefined), missing: noTracks, open: (host, app) => new WavesView(host, app),
};

