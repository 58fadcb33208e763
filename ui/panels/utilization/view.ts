// SPDX-License-Identifier: Apache-2.0
// utilization/view.ts: how busy each SIMD and pipe was, as a true union of intervals: overlapping work is counted once, so nothing passes
// 100 %. The matrix pipe is also shown by the length of its passes, which is modelled and says so.
import { App, Panel } from '../../app';
import { shareBar } from '../../base/bars';
import { Child, fill, h, notice } from '../../base/dom';
import { count, cyclesWith, share } from '../../base/format';
import { Column, Table } from '../../base/table';
import { State } from '../../state';
import { Changed, cyclesColumn, facts, noTracks, section, shareColumn, textColumn, View } from '../common';
import { Core, Pipe, Ratio, Shares, Summary, Waves } from '../types';
import { against, Figure, figures, otherData } from '../versus';

const UNITS: [string, number][] = [['VALU', 2], ['MATRIX', 3], ['LDS', 6], ['VMEM', 4], ['scalar', 0], ['branch', 8], ['other', 11]];
const BUSY: Figure = { unit: 'issuing %', title: 'cycles in which something issued, of those that waves were there', sense: -1 };
const PASSES = 'cycles in which the matrix pipe was busy by the length of the passes of its instructions, of the cycles that waves were there: modelled, not measured';
interface Simd { name: string; coord: number[]; cycles: Record<string, number>; shares: Shares; passes: Ratio }

class UtilizationView extends View {
	private tables: { refresh(): void }[] = [];
	private isPipes = false;
	/** the other capture's answers */
	private base: Summary | null = null;
	private baseWaves: Waves | null = null;

	constructor(host: HTMLElement, app: App) {
		super(host, app, 'utilization');
		this.ask();
	}

	private ask(): void {
		const all = { bins: 240, top: 'all' };
		this.load(Promise.all([this.app.verb<Summary>('summary'), this.app.verb<Waves>('waves', all), otherData<Summary>(this.app, 'summary'), otherData<Waves>(this.app, 'waves', all)]), ([a, b, c, d]) => {
			this.base = c;
			this.baseWaves = d;
			this.show(a.data, b.data);
		});
	}

	private show(d: Summary, w: Waves): void {
		const why = noTracks(this.app);
		this.tables = [];
		if (why) {
			fill(this.body, notice('No utilization', why));
			return;
		}
		this.isPipes = !!w.pipes;
		fill(this.body, h('div', { class: 'panel-columns' }, this.isPipes ? this.pipeSections(w) : [this.simdSection(d), this.unitSection(d), this.matrixSection(d)]));
	}

	private busyColumn<R>(name: string, slot: number, part: (r: R) => Ratio, title = `cycles in which ${name} instructions issued, of the cycles that waves were there`, of = 'resident'): Column<R> {
		return {
			id: name, head: name, isNumber: true, width: 'minmax(6.5rem, 1fr)', unit: () => `% of ${of}`, value: (r) => part(r), title,
			cell: (r) => h('span', { class: 'bar-cell' }, shareBar(part(r) ?? 0, 1, this.app.palette().slots[slot]), h('span', null, share(part(r) ?? NaN, 1, false))),
		};
	}

	private simds(d: Summary): Simd[] {
		const name = (s: { se: number; cu: number; simd: number }) => `SE${s.se} CU${s.cu} SIMD${s.simd}`, m = d.matrix?.modelled, passes = new Map((m?.by_simd ?? []).map((s) => [name(s), s.pipe_share]));
		const rows: Simd[] = (d.utilization_by_simd ?? []).map((s) => ({ name: name(s), coord: [s.se, s.cu, s.simd], cycles: s.cycles, shares: s.shares, passes: passes.get(name(s)) ?? null }));
		if (d.utilization) rows.unshift({ name: 'all SIMDs', coord: [], cycles: d.utilization, shares: d.utilization_shares ?? {}, passes: m?.pipe_share ?? null });
		return rows;
	}

	/** Unit by unit against the other capture. */
	private unitSection(d: Summary): HTMLElement | null {
		const a: Shares | null | undefined = d.utilization_shares, b: Shares | null | undefined = this.base?.utilization_shares;
		if (!a || !b) return null;
		const m = d.matrix?.modelled.pipe_share ?? null, n = this.base?.matrix?.modelled.pipe_share ?? null;
		return section('Units against the other capture', null, figures('Units against the other capture', [['issuing', { a: a.any, b: b.any }, BUSY],
			...UNITS.map(([name]): [string, { a: number | null; b: number | null }, Figure] => [name, { a: a[name], b: b[name] }, { ...BUSY, sense: 0 }]),
			['matrix pipe, by passes', { a: m, b: n }, BUSY]]));
	}

	private simdSection(d: Summary): HTMLElement {
		const rows = this.simds(d);
		const t = this.own(new Table<Simd>({
			label: 'Utilization by SIMD', key: (r) => r.name, csv: 'utilization.csv', pick: (r) => this.toSimd(r),
			columns: [textColumn('name', 'SIMD', (r) => r.name, 'minmax(9rem, 1fr)'),
				...against<Simd>(this.base && this.simds(this.base), (r) => r.name, (r) => r.shares.any, BUSY),
				cyclesColumn(this.app, 'resident', 'resident', (r) => r.cycles.resident, 'cycles in which at least one wave was there'),
				this.busyColumn('any', 4, (r) => r.shares.any), ...UNITS.flatMap(([n, slot]) => [this.busyColumn<Simd>(n, slot, (r) => r.shares[n]), ...(n === 'MATRIX' && d.matrix?.hits ? [this.busyColumn<Simd>('passes', slot, (r) => r.passes, PASSES)] : [])]),
				cyclesColumn(this.app, 'idle', 'nothing issued', (r) => r.cycles.idle, 'bubbles: waves were there and none issued')],
		}));
		t.rows(rows);
		this.tables.push(t);
		const u = d.utilization_shares;
		return section('Busy by SIMD and unit', t.tools(),
			u && u.any !== null && facts(['issuing', share(u.any, 1) + ' of resident'], ['bubbles', share(u.idle!, 1) + ' of resident'], ['lost cycles by family, of lifetime', this.fillers(d)]), h('div', { class: 'panel-fill' }, t.element));
	}

	/** What the waves did while nothing issued: the lost cycles by family. */
	private fillers(d: Summary): Child {
		const lost = Object.entries(d.families ?? {}).sort((a, b) => b[1].cycles - a[1].cycles).slice(0, 4);
		return lost.map(([name, f]) => `${name} ${share(f.cycles, d.accounting.duration)}`).join(', ');
	}

	private toSimd(r: Simd): void {
		const at = this.app.trace.tracks.findIndex((t) => r.coord.length && r.coord.every((v, i) => t.coord[i] === v));
		if (at >= 0) this.app.showTrack(at);
	}

	private matrixSection(d: Summary): HTMLElement {
		const m = d.matrix, u = this.app.units();
		if (!m || !m.static_rows) return section('Matrix pipe', null, notice('No matrix instruction', 'The code of this capture has none.'));
		const n = (v: number | string | null | undefined) => (typeof v === 'number' ? v : 0);
		return section('Matrix pipe', null, facts(
			['instructions', `${count(n(m.executed_rows))} of ${count(n(m.static_rows))} executed`], ['executions', count(n(m.hits))],
			['issue', `${cyclesWith(n(m.issue_cycles), u)}, ${share(n(m.issue_share), 1)} of ${cyclesWith(n(m.resident_cycles), u)}`],
			['busy by pass length', `${cyclesWith(n(m.modelled.pipe_cycles), u)}, ${share(n(m.modelled.pipe_share), 1)}`], ['multiply-accumulates', count(n(m.modelled.multiply_accumulates))]),
		h('p', { class: 'dim' }, `A matrix instruction issues in a few cycles and then keeps its pipe busy for its passes. The second figure takes the length of the passes from the instruction: it is ${m.modelled.evidence}, not measured`,
			n(m.modelled.unknown_hits) ? `, and ${count(n(m.modelled.unknown_hits))} executions of unknown shape are left out.` : '.'));
	}

	private pipeSections(w: Waves): HTMLElement[] {
		const app = this.app, pipes = w.pipes ?? [];
		const t = this.own(new Table<Pipe>({
			label: 'Utilization by pipe', key: (p) => `${p.core}/${p.pipe}`, csv: 'utilization.csv',
			columns: [textColumn('core', 'core', (p) => p.core, 'minmax(9rem, 1fr)'), textColumn('pipe', 'pipe', (p) => p.pipe),
				...against<Pipe>(this.baseWaves?.pipes, (p) => `${p.core}/${p.pipe}`, (p) => p.busy_share, { ...BUSY, title: 'busy, of the span of its core' }),
				this.busyColumn('busy', 4, (p) => p.busy_share, 'busy, of the span of its core', 'core span'),
				cyclesColumn(app, 'busy-cycles', 'busy', (p) => p.busy), cyclesColumn(app, 'bubbles', 'bubbles', (p) => p.gaps?.sum, 'between its first and last instruction'),
				textColumn('filled', 'filled by', (p) => p.waits.slice(0, 2).map((x) => `wait for ${x.producer_pipe ?? 'unmatched'} ${cyclesWith(x.cycles, app.units())}`).join(', ') || null, 'minmax(10rem, 1fr)'),
				shareColumn('wait', 'wait', (p) => p.wait_share ?? 0, () => 1, 'core span'), shareColumn('idle', 'idle', (p) => p.idle_share ?? 0, () => 1, 'core span')],
		}));
		t.rows(pipes);
		this.tables.push(t);
		return [section('Busy by pipe', t.tools(), h('div', { class: 'panel-fill' }, t.element)), ...(w.cores ?? []).slice(0, 8).map((c) => this.overlapSection(c)),
			...((w.cores ?? []).length > 8 ? [h('p', { class: 'dim' }, `and ${(w.cores ?? []).length - 8} more cores`)] : [])];
	}

	/** How long each two pipes worked at the same time. */
	private overlapSection(c: Core): HTMLElement {
		const p = this.app.palette();
		const cell = (v: number, own: number) => {
			const part = own ? v / own : 0;
			return h('td', { class: 'num', title: `${v} cycles`, style: { background: `color-mix(in srgb, ${p.buckets[0]} ${Math.round(part * 55)}%, transparent)` } }, share(v, own, false));
		};
		return section(`Overlap of the pipes of ${c.core}`, null, h('p', { class: 'dim' }, 'Share of the row’s busy time in which the column’s pipe worked, too, in %.'),
			h('table', { class: 'matrix' }, h('thead', null, h('tr', null, h('th', null, ''), c.pipes.map((n) => h('th', { attrs: { scope: 'col' } }, n)))),
				h('tbody', null, c.pipes.map((n, i) => h('tr', null, h('th', { attrs: { scope: 'row' } }, n), (c.overlap[i] ?? []).map((v) => cell(v, c.overlap[i][i])))))));
	}

	protected update(_state: Readonly<State>, keys: Changed): void {
		if (keys.has('theme')) this.ask();
		else if (keys.has('unit')) for (const t of this.tables) t.refresh();
		if (keys.has('scope') || keys.has('base')) this.ask();
	}
}

export const panel: Panel = {
	id: 'utilization', title: 'Utilization', hint: 'how busy each SIMD and pipe was, overlaps counted once',
	questions: ['summary', 'waves?bins=240&top=all'],
	missing: noTracks, open: (host, app) => new UtilizationView(host, app),
};
