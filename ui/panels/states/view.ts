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
import { bucketChip, Changed, cyclesColumn, facts, noTracks, scaled, section, shareColumn, View } from '../common';
import { Waves } from '../types';

const STATES = ['EXEC', 'WAIT', 'STALL', 'IDLE'] as const;
const BUCKET_OF: Record<string, number> = { EXEC: 0, STALL: 1, WAIT: 2, IDLE: 3 };
const WHY: Record<string, string> = {
	EXEC: 'the hardware also counts gaps between instructions here', WAIT: 'the hardware counts the end of a wave (drain) and barriers here',
	STALL: 'an instruction that was ready but could not issue', IDLE: 'before the first instruction',
};
interface Row { name: string; kind: 'state' | 'bucket'; cycles: number; why: string }

class StatesView extends View {
	private plot: Plot | null = null;
	private tables: Table<Row>[] = [];
	private data!: Waves;
	private wave: number | null = null;
	private readonly tools = h('span');

	constructor(host: HTMLElement, app: App) {
		super(host, app, 'states');
		this.ask();
	}

	private ask(): void {
		const where: Record<string, number> = {}, coord = this.wave === null ? null : this.app.trace.tracks[this.wave]?.coord;
		if (coord) this.app.trace.levels.forEach((level, i) => (where[level] = coord[i]));
		this.load(this.app.verb<Waves>('waves', { bins: 240, top: 'all', ...where }), (a) => this.show(a.data));
	}

	/** All waves, or the one that is selected. */
	private chooser(): HTMLElement {
		const track = this.app.store.get().selection?.track;
		return choose('Waves', [{ value: 'all', label: 'all' }, { value: 'one', label: this.wave === null ? 'the selected one' : this.app.trace.tracks[this.wave]?.name ?? '', disabled: this.app.source.kind === 'report' || (track === undefined && this.wave === null), title: 'select a wave in the timeline first' }],
			this.wave === null ? 'all' : 'one', (v) => {
				this.wave = v === 'one' ? this.app.store.get().selection?.track ?? null : null;
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
		const width = s.bin_cycles, n = (s.EXEC as number[]).length;
		const x = Float64Array.from({ length: n }, (_, i) => i * width);
		const series: Series[] = STATES.map((name) => ({ name, colour: p.buckets[BUCKET_OF[name]], x, y: Float64Array.from(s[name] as number[], (v) => v / width), kind: 'area' }));
		this.plot!.look(p, this.app.units());
		this.plot!.show(series, 0, n * width);
	}

	private table(label: string, rows: Row[], whole: number): Table<Row> {
		const app = this.app;
		const t = this.own(new Table<Row>({
			label, key: (r) => r.name, columns: [
				{ id: 'name', head: label, width: '7rem', value: (r) => r.name, cell: (r) => bucketChip(app, r.kind === 'bucket' ? r.name : BUCKETS[BUCKET_OF[r.name]], r.name) },
				cyclesColumn(scaled(app, () => whole), 'cycles', 'cycles', (r) => r.cycles), shareColumn('share', 'share', (r) => r.cycles, () => whole),
				{ id: 'bar', head: '', width: 'minmax(6rem, 1fr)', isFixed: true, value: (r) => r.cycles, cell: (r) => shareBar(r.cycles, whole, app.palette().buckets[r.kind === 'bucket' ? BUCKETS.findIndex((b) => b === r.name) : BUCKET_OF[r.name]]) },
				{ id: 'why', head: 'note', width: 'minmax(12rem, 2fr)', isFixed: true, value: (r) => r.why, cell: (r) => h('span', { class: 'clip dim', title: r.why }, r.why) }],
		}));
		t.rows(rows);
		this.tables.push(t);
		return t;
	}

	private shareSection(): HTMLElement {
		const d = this.data, states = d.states!, a = d.accounting, u = scaled(this.app, () => a.duration).units();
		const whole = Object.values(states).reduce((n, v) => n + v, 0);
		const first = this.table('state', STATES.map((name) => ({ name, kind: 'state', cycles: states[name] ?? 0, why: WHY[name] })), whole);
		const second = this.table('bucket', BUCKETS.map((name) => ({ name, kind: 'bucket', cycles: a[name], why: '' })), a.duration);
		return section('Hardware states against the conserved accounting', null,
			facts(['states', cyclesWith(whole, u)], ['accounting', cyclesWith(a.duration, u)], ['difference', `${cyclesWith(whole - a.duration, u)} (${share(Math.abs(whole - a.duration), a.duration)})`]),
			h('p', { class: 'dim' }, 'The two differ by construction: the hardware calls the drain at the end of a wave WAIT and the gaps between instructions EXEC. The buckets below count each cycle once and add up to the lifetime of the waves.'),
			h('div', { class: 'panel-fill small' }, first.element), h('div', { class: 'panel-fill small' }, second.element));
	}

	protected update(_state: Readonly<State>, keys: Changed): void {
		if (keys.has('selection')) fill(this.tools, this.chooser());
		if (keys.has('unit') || keys.has('theme')) {
			if (this.plot) this.draw();
			for (const t of this.tables) t.refresh();
		}
		if (keys.has('scope')) this.ask();
	}
}

export const panel: Panel = {
	id: 'states', title: 'States', hint: 'wave states over time, against the conserved accounting',
	missing: noTracks, open: (host, app) => new StatesView(host, app),
};
