// SPDX-License-Identifier: Apache-2.0
// states/view.ts: what the waves did over time, as the hardware says (idle, exec, wait, stall), and how that compares with the conserved
// accounting, where each cycle is counted once.
import { App, Panel } from '../../app';
import { shareBar } from '../../base/bars';
import { choose, fill, h, notice } from '../../base/dom';
import { cyclesWith, share } from '../../base/format';
import { BUCKETS } from '../../base/palette';
import { Plot, Series } from '../../base/plot';
import { Table } from '../../base/table';
import { State } from '../../state';
import { bucketChip, Changed, cyclesColumn, facts, LIFETIME, noTracks, scaled, section, shareColumn, View } from '../common';
import { Held, Shares, Waves } from '../types';
import { otherData, SHARE, versusColumns } from '../versus';

const STATES = ['EXEC', 'WAIT', 'STALL', 'IDLE'] as const;
const BUCKET_OF: Record<string, number> = { EXEC: 0, STALL: 1, WAIT: 2, IDLE: 3 };
type Explained = Held<Waves['states_explained']>;
interface Row { name: string; kind: 'state' | 'bucket'; cycles: number; records?: number; difference?: number; why: string }

class StatesView extends View {
	private plot: Plot | null = null;
	private tables: Table<Row>[] = [];
	private data!: Waves;
	/** of the other capture */
	private base: Waves | null = null;
	/** waves chosen: all, or the selected one, its SIMD, its shader engine */
	private level = 0;
	private wave: number | null = null;
	private readonly tools = h('span');

	constructor(host: HTMLElement, app: App) {
		super(host, app, 'states');
		this.ask();
	}

	private ask(): void {
		const where: Record<string, number> = {}, coord = this.wave === null ? null : this.app.trace.tracks[this.wave]?.coord;
		if (coord) this.app.trace.levels.slice(0, this.level).forEach((level, i) => (where[level] = coord[i]));
		this.load(Promise.all([this.app.verb<Waves>('waves', { bins: 240, top: 'all', ...where }), coord ? null : otherData<Waves>(this.app, 'waves', { bins: 240, top: 'all' })]), ([a, b]) => {
			this.base = b;
			this.show(a.data);
		});
	}

	/** All waves, or those that share a place with the selected one: how many of its coordinates count. */
	private chooser(): HTMLElement {
		const levels = this.app.trace.levels, track = this.app.store.get().selection?.track ?? this.wave, coord = track === null ? null : this.app.trace.tracks[track]?.coord;
		const isReport = this.app.source.kind === 'report';
		const words = (n: number) => (n === levels.length ? 'the selected wave' : `its ${levels[n - 1].toUpperCase()}`) + (coord ? ` (${coord.slice(0, n).map((v, i) => levels[i].toUpperCase() + v).join(' ')})` : '');
		const title = isReport ? 'a report carries the sums of all waves only; incore view can choose' : 'select a wave in the timeline or the Waves panel first';
		const depths = [...new Set([levels.length, levels.indexOf('simd') + 1, levels.indexOf('se') + 1])].filter((n) => n > 0);
		return choose('Waves', [{ value: '0', label: 'all' }, ...depths.map((n) => ({ value: String(n), label: words(n), disabled: isReport || !coord, title: isReport || !coord ? title : '' }))], String(this.wave === null ? 0 : this.level), (v) => {
			this.level = Number(v);
			this.wave = this.level ? track : null;
			this.ask();
		});
	}

	private show(d: Waves): void {
		this.data = d;
		const why = noTracks(this.app);
		if (why || !d.states || !d.series || !Object.values(d.states).some((v) => v > 0)) {
			fill(this.body, notice('No wave states', why ?? 'The hardware wrote no states for the waves of this capture.', why ? '' : 'The five buckets of Summary and Waves are computed from the instructions and need no states.'));
			return;
		}
		this.plot = this.own(new Plot({ label: 'Waves in each state', unit: 'waves', isStacked: true, height: 190, zoom: (a, b) => this.app.showTime(a, b) }, this.app.palette()));
		this.draw();
		fill(this.tools, this.chooser());
		fill(this.body, h('div', { class: 'panel-columns wide-first' }, section('Waves in each state over time', this.tools, this.plot.element), this.shareSection()));
	}

	/** Mean number of waves in a state in each bin. */
	private draw(): void {
		const s = this.data.series!, p = this.app.palette();
		const width = s.bin_cycles, n = s.EXEC.length;
		const from = s.from_aligned - (this.app.trace.span.origin ?? s.from_aligned);
		const x = Float64Array.from({ length: n }, (_, i) => from + i * width);
		const series: Series[] = STATES.map((name) => ({ name, colour: p.buckets[BUCKET_OF[name]], x, y: Float64Array.from(s[name], (v) => v / width), kind: 'area' }));
		this.plot!.look(p, this.app.units());
		this.plot!.show(series, from, from + n * width);
	}

	private table(label: string, rows: Row[], whole: number): Table<Row> {
		const app = this.app, of = label === 'state' ? 'states' : LIFETIME, all = scaled(app, () => whole, of);
		const t = this.own(new Table<Row>({
			label, key: (r) => r.name, columns: [
				{ id: 'name', head: label, width: '7rem', value: (r) => r.name, cell: (r) => bucketChip(app, r.kind === 'bucket' ? r.name : BUCKETS[BUCKET_OF[r.name]], r.name) },
				cyclesColumn(all, 'cycles', 'cycles', (r) => r.cycles), shareColumn('share', 'share', (r) => r.cycles, () => whole, of), ...this.versus(rows[0]?.kind),
				{ id: 'bar', head: '', width: 'minmax(6rem, 1fr)', isFixed: true, isDecor: true, value: (r) => r.cycles, cell: (r) => shareBar(r.cycles, whole, app.palette().buckets[r.kind === 'bucket' ? BUCKETS.findIndex((b) => b === r.name) : BUCKET_OF[r.name]]) },
				...(rows[0]?.records === undefined ? [] : [cyclesColumn<Row>(all, 'records', 'from records', (r) => r.records, 'what the instructions of the same waves add up to'), cyclesColumn<Row>(all, 'difference', 'difference', (r) => r.difference, 'hardware state less records')]),
				{ id: 'why', head: rows[0]?.kind === 'state' ? 'made of' : 'note', width: 'minmax(12rem, 2fr)', isFixed: true, value: (r) => r.why, cell: (r) => h('span', { class: 'clip dim', title: r.why }, r.why) }],
		}));
		t.rows(rows);
		this.tables.push(t);
		return t;
	}

	/** Shares of all cycles, here and there. */
	private versus(kind: Row['kind']) {
		const of = (w: Waves | null): Shares | undefined => (kind === 'bucket' ? w?.accounting_shares : w?.state_shares), here = of(this.data), there = of(this.base);
		return here && there ? versusColumns<Row>((r) => ({ a: here[r.name] ?? null, b: there[r.name] ?? null }), SHARE) : [];
	}

	private shareSection(): HTMLElement {
		const d = this.data, states = d.states!, a = d.accounting, u = scaled(this.app, () => a.duration).units();
		const whole = d.states_total ?? 0;
		const explained = new Map<string, Explained>((d.states_explained ?? []).map((x) => [x.state, x])), names = states.EMPTY ? ([...STATES, 'EMPTY'] as const) : STATES;
		const first = this.table('state', names.map((name): Row => {
			const x = explained.get(name);
			return { name, kind: 'state', cycles: states[name] ?? 0, records: x?.records, difference: x?.difference, why: x ? x.parts.map((p) => `${p.part} ${cyclesWith(p.cycles, u)}`).join(' + ') : 'no wave' };
		}), whole);
		const second = this.table('bucket', BUCKETS.map((name) => ({ name, kind: 'bucket', cycles: a[name], why: this.inStates(name) })), a.duration);
		return section('Hardware states against the conserved accounting', null,
			facts(['states', cyclesWith(whole, u)], ['accounting', cyclesWith(a.duration, u)], ['difference', `${cyclesWith(whole - a.duration, u)} (${share(Math.abs(whole - a.duration), a.duration)})`]),
			h('p', { class: 'dim' }, 'The two sort the same cycles differently. The hardware counts s_nop and the end of the program as WAIT and the gaps between instructions as EXEC; the buckets count each cycle once, by what it was lost to. What is left after that is a few cycles a wave where records overlap, and the border between EXEC and STALL, which the hardware does not document.'),
			h('div', { class: 'panel-fill small' }, first.element), h('div', { class: 'panel-fill small' }, second.element));
	}

	/** Where the cycles of a bucket stand among the states. */
	private inStates(bucket: string): string {
		const u = scaled(this.app, () => this.data.accounting.duration).units();
		return (this.data.states_explained ?? []).flatMap((x) => x.parts.filter((p) => p.bucket === bucket && p.cycles).map((p) => `${x.state}: ${p.part} ${cyclesWith(p.cycles, u)}`)).join(', ');
	}

	protected update(_state: Readonly<State>, keys: Changed): void {
		if (keys.has('selection')) fill(this.tools, this.chooser());
		if (keys.has('unit') || keys.has('theme')) {
			if (this.plot) this.draw();
			for (const t of this.tables) t.refresh();
		}
		if (keys.has('scope') || keys.has('base')) this.ask();
	}
}

export const panel: Panel = {
	id: 'states', title: 'States', hint: 'wave states over time, against the conserved accounting',
	questions: ['waves?bins=240&top=all'],
	missing: noTracks, open: (host, app) => new StatesView(host, app),
};
