// SPDX-License-Identifier: Apache-2.0
// occupancy/view.ts: how many waves were on the machine over time, what kept it from more, and how evenly the compute units were filled.
import { App, Panel } from '../../app';
import { heatScale, opacity, shareBar } from '../../base/bars';
import { choose, fill, h, notice, s } from '../../base/dom';
import { bytes, count, cyclesWith, largest, share } from '../../base/format';
import { colourOf } from '../../base/palette';
import { Plot, Series } from '../../base/plot';
import { Column, Table } from '../../base/table';
import { isSampled } from '../../source';
import { State } from '../../state';
import { Changed, countColumn, cyclesColumn, facts, hasPipes, scaled, section, shareColumn, textColumn, View } from '../common';
import { Core, Limits, Occupancy, OccupancyUnit } from '../types';
import { against, Figure, figures, otherData, Pair } from '../versus';

type By = 'se' | 'cu' | 'simd';
const DASHES = [[], [6, 3], [2, 2], [8, 3, 2, 3]];

class OccupancyView extends View {
	private plot: Plot | null = null;
	private data!: Occupancy;
	/** of the other capture */
	private base: Occupancy | null = null;
	private by: By = 'se';
	private table: Table<OccupancyUnit> | null = null;
	private cores: Table<Core> | null = null;
	private readonly space = h('div', { class: 'panel-fill' });

	constructor(host: HTMLElement, app: App) {
		super(host, app, 'occupancy');
		this.ask();
	}

	private ask(): void {
		const all = { bins: 240, top: 'all' };
		this.load(Promise.all([this.app.verb<Occupancy>('occupancy', all), otherData<Occupancy>(this.app, 'occupancy', all)]), ([a, b]) => {
			this.base = b;
			this.show(a.data);
		});
	}

	private show(d: Occupancy): void {
		this.data = d;
		if (d.cores) {
			this.showCores(d.cores);
			return;
		}
		const limits = d.limits ? this.limitSection(d.limits) : null;
		if (!d.all || !d.series?.length) {
			fill(this.body, h('div', { class: 'panel-columns' }, isSampled(this.app.trace) ? notice(`No ${this.app.trace.words.wave}s over time`, `Samples say how often an instruction was seen, not when a ${this.app.trace.words.wave} began or ended. ${limits ? 'What limits how many fit stands below.' : ''}`) : notice('No wave started or ended', 'The capture has neither occupancy events nor waves; only what the code allows can be said.'), limits));
			return;
		}
		this.plot = this.own(new Plot({ label: 'Waves on the machine', unit: 'waves', height: 180, zoom: (a, b) => this.app.showTime(a, b) }, this.app.palette()));
		this.drawPlot();
		fill(this.body, h('div', { class: 'panel-columns wide-first' }, section('Waves over time', null, this.factsOf(d), this.plot.element), this.versus(d), this.tableSection(), limits, this.mapSection()));
	}

	private factsOf(d: Occupancy): HTMLElement {
		const a = d.all!, u = this.app.units(), l = d.limits;
		return facts(['peak', count(a.peak_waves)], ['mean', count(a.mean_waves, 1)], ['per SIMD at most', `${a.peak_per_simd ?? '-'}${l?.waves_per_simd ? ` of ${l.waves_per_simd} possible` : ''}`],
			['below half of the peak', share(a.below_half_peak_share, 1) + ' of the time'], ['tail', cyclesWith(a.tail, u)], ['launch rate', count(a.starts_per_kilocycle, 1) + ' waves per 1,000 cycles'],
			['balance of CUs', count(a.cu_balance, 3)], ['from', a.source === 'events' ? 'occupancy events of all CUs' : 'the traced waves alone'], ['clocks', a.is_aligned ? 'aligned' : h('span', { class: 'warn' }, 'SE clocks are not aligned')]);
	}

	/** The machine as a whole, here and there. */
	private versus(d: Occupancy): HTMLElement | null {
		const a = d.all, b = this.base?.all;
		if (!a || !b) return null;
		const row = (name: string, x: number | null | undefined, y: number | null | undefined, unit: string, sense = 0, digits = 2): [string, Pair, Figure] => [name, { a: x ?? null, b: y ?? null }, { unit, title: name, sense, digits }];
		return section('Against the other capture', null, figures('Occupancy against the other capture', [row('mean waves', a.mean_waves, b.mean_waves, 'waves'), row('peak', a.peak_waves, b.peak_waves, 'waves', 0, 0), row('per SIMD at most', a.peak_per_simd, b.peak_per_simd, 'waves', 0, 0),
			row('per SIMD possible', d.limits?.waves_per_simd, this.base?.limits?.waves_per_simd, 'waves', -1, 0), row('below half of the peak', a.below_half_peak_share, b.below_half_peak_share, 'time %', 1), row('launch rate', a.starts_per_kilocycle, b.starts_per_kilocycle, 'waves/kcyc'), row('balance of CUs', a.cu_balance, b.cu_balance, '', 0, 3)]));
	}

	private drawPlot(): void {
		const d = this.data.series!, p = this.app.palette(), ses = this.data.ses ?? [];
		const x = Float64Array.from(d, (b) => b.from);
		const series: Series[] = [{ name: 'all', colour: p.text, x, y: Float64Array.from(d, (b) => b.mean_waves ?? NaN), kind: 'step' }];
		if (ses.length > 1) ses.slice(0, 32).forEach((se, i) => series.push({ name: `SE${se.se}`, colour: colourOf(p, i), x, y: Float64Array.from(d, (b) => b.by_se[i] ?? 0), kind: 'step', dash: DASHES[Math.floor(i / 12) % 4] }));
		this.plot!.look(p, this.app.units());
		this.plot!.show(series, d[0].from, d[d.length - 1].to);
	}

	private limitSection(l: Limits): HTMLElement {
		const n = (v: unknown) => (typeof v === 'number' ? v : null), { words } = this.app.trace;
		const names: Record<string, string> = words.wave === 'wave' ? {} : { waves: words.wave + 's', vgpr: 'registers', lds: words.local_memory };
		const rows = Object.entries(l.by).map(([name, x]) => h('tr', { class: l.limiters.includes(name) ? 'limiter' : '' }, h('th', { attrs: { scope: 'row' } }, names[name] ?? name), h('td', { class: 'num' }, x.waves === null ? '-' : String(x.waves)),
			h('td', { class: 'dim' }, x.state === 'known' ? (l.limiters.includes(name) ? 'this is the limit' : '') : x.state === 'none' ? 'not used' : 'unknown')));
		return section('What limits it', null, h('p', { class: 'verdict' }, l.sentence), l.next_step && h('p', null, h('span', { class: 'dim' }, 'Next step: '), l.next_step),
			h('table', { class: 'plain' }, h('thead', null, h('tr', null, h('th', null, 'limit'), h('th', { class: 'num' }, `${words.wave}s per ${words.simd}`), h('th', null, ''))), h('tbody', null, rows)),
			facts([l.kernel.accum_vgprs || words.wave === 'wave' ? 'VGPRs' : `registers per thread`, n(l.kernel.arch_vgprs) === null ? null : `${l.kernel.arch_vgprs}${l.kernel.accum_vgprs ? ` + ${l.kernel.accum_vgprs} accumulation` : ''}`], [`${words.local_memory} per ${words.workgroup}`, n(l.kernel.lds_bytes_per_workgroup) === null ? null : bytes(n(l.kernel.lds_bytes_per_workgroup)!)],
				[`${words.wave}s per ${words.workgroup}`, n(l.kernel.waves_per_workgroup)], [`launched ${words.wave}s`, n(l.kernel.launched_waves) === null ? null : count(n(l.kernel.launched_waves)!)], ['machine from', String(l.machine.source ?? '-') + (l.machine.assumed_product ? `, assumed ${l.machine.assumed_product}` : '')]));
	}

	private tableSection(): HTMLElement {
		this.drawTable();
		return section('Waves over time by unit', choose('By', [{ value: 'se', label: 'shader engine' }, { value: 'cu', label: 'compute unit' }, { value: 'simd', label: 'SIMD' }], this.by, (v) => {
			this.by = v as By;
			this.drawTable();
		}), this.space);
	}

	/** The rows at once; their waves over time when they come: shader engines have them in the first answer, others are asked for. */
	private drawTable(): void {
		const d = this.data, by = this.by;
		if (by === 'se') return this.fillTable((d.ses ?? []).map((u, i) => ({ ...u, waves: d.series!.map((b) => b.by_se[i] ?? 0) })));
		this.fillTable((by === 'cu' ? d.cus : d.simds) ?? []);
		this.app.verb<Occupancy>('occupancy', { bins: 120, series: by, top: 'all' }).then((a) => {
			if (by === this.by && this.data === d) this.table?.rows((by === 'cu' ? a.data.cus : a.data.simds) ?? []);
		}).catch(() => undefined); // then the column stays empty
	}

	private fillTable(rows: OccupancyUnit[]): void {
		const app = this.app, top = largest(rows, (r) => r.peak_waves);
		const name = (r: OccupancyUnit) => [`SE${r.se}`, r.cu !== undefined && `CU${r.cu}`, r.simd !== undefined && `SIMD${r.simd}`].filter(Boolean).join(' ');
		const most = largest(rows, (r) => r.wave_cycles);
		const columns: Column<OccupancyUnit>[] = [textColumn('name', 'unit', (r) => name(r) + (r.is_target ? ' (traced)' : ''), 'minmax(8rem, 1fr)'), ...against<OccupancyUnit>(this.base && ((this.by === 'se' ? this.base.ses : this.by === 'cu' ? this.base.cus : this.base.simds) ?? []), name, (r) => r.mean_while_busy, { unit: 'waves', title: 'waves at once, while there were any', sense: 0 }), countColumn('starts', 'waves', (r) => r.starts), countColumn('peak', 'peak', (r) => r.peak_waves),
			countColumn('simd-peak', 'per SIMD', (r) => r.peak_per_simd), cyclesColumn(app, 'busy', 'occupied', (r) => r.busy_cycles, 'cycles with at least one wave'), cyclesColumn(scaled(app, () => this.data.all?.wave_cycles ?? 1, 'wave cycles'), 'cycles', 'wave cycles', (r) => r.wave_cycles),
			{ id: 'bar', head: '', width: 'minmax(5rem, 1fr)', isFixed: true, isDecor: true, value: (r) => r.wave_cycles, cell: (r) => shareBar(r.wave_cycles, most, app.palette().accent, 'the largest') },
			{ id: 'time', head: 'over time', width: 'minmax(14rem, 4fr)', isFixed: true, title: `mean waves from the first start to the last end; full height is ${top}`, value: (r) => (r.waves ?? []).join(' '), cell: (r) => overTime((r.waves ?? []).map((v) => v ?? 0), top, name(r)) }];
		this.table?.close();
		this.table = new Table<OccupancyUnit>({ label: 'Occupancy by unit', key: name, csv: `occupancy-${this.by}.csv`, columns, pick: (r) => this.toUnit(r) });
		this.table.rows(rows);
		fill(this.space, this.table.element);
	}

	private toUnit(r: OccupancyUnit): void {
		const at = this.app.trace.tracks.findIndex((t) => t.coord[0] === r.se && (r.cu === undefined || t.coord[1] === r.cu) && (r.simd === undefined || t.coord[2] === r.simd));
		if (at >= 0) this.app.showTrack(at);
		else this.app.say('no wave of this unit was traced in detail');
	}

	/** All compute units of the traced shader engines, one square each; the stronger its colour, the fuller, on either ground; an empty frame had no wave. */
	private mapSection(): HTMLElement {
		const cus = this.data.cus ?? [], ses = this.data.ses ?? [], p = this.app.palette();
		const most = largest(cus, (c) => c.wave_cycles), columns = largest(cus, (c) => (c.cu ?? 0) + 1, 8), size = 22, left = 40, top = 16;
		const width = columns * size + left, at = new Map(cus.map((c) => [`${c.se} ${c.cu}`, c]));
		const svg = s('svg', { class: 'machine-map', style: { 'max-width': width * 1.2 + 'px' }, attrs: { viewBox: `0 0 ${width} ${ses.length * size + top}`, role: 'img', 'aria-label': `${cus.length} compute units of ${ses.length} shader engines had waves` } });
		for (let i = 0; i < columns; i++) svg.appendChild(s('text', { attrs: { x: left + (i + 0.5) * size, y: 10, 'text-anchor': 'middle', class: 'map-label' } }, String(i)));
		ses.forEach((se, row) => {
			svg.appendChild(s('text', { attrs: { x: 0, y: top + row * size + 14, class: 'map-label' } }, `SE${se.se}`));
			for (let i = 0; i < columns; i++) {
				const c = at.get(`${se.se} ${i}`), text = c ? `SE${c.se} CU${i}: ${count(c.starts)} waves, at most ${c.peak_waves} at once${c.is_target ? ', traced in detail' : ''}` : `SE${se.se} CU${i}: no wave, or no such unit`;
				svg.appendChild(s('rect', { class: 'map-cu' + (c?.is_target ? ' target' : ''), attrs: { ...(c ? { 'data-cu': `${se.se} ${i}` } : {}), x: left + i * size + 1, y: top + row * size + 1, width: size - 3, height: size - 3, rx: 2, fill: c ? p.accent : 'none', 'fill-opacity': opacity((c?.wave_cycles ?? 0) / most) } }, s('title', null, text)));
			}
		});
		svg.addEventListener('click', (e) => {
			const c = at.get((e.target as Element).getAttribute('data-cu') ?? '');
			if (c) this.toUnit(c);
		});
		return section('Machine', null, h('p', { class: 'dim' }, 'One square per compute unit: the stronger the colour, the more wave cycles; an empty one had no wave. A thick frame marks those traced in detail: click one to see its lanes.'), heatScale(0, most, 'wave cycles'), svg);
	}

	private showCores(cores: Core[]): void {
		if (!cores.length) {
			fill(this.body, notice('No core was traced', 'This capture has no pipes; Details shows what the producer states.'));
			return;
		}
		const app = this.app, most = largest(cores, (c) => c.span);
		this.cores = this.own(new Table<Core>({
			label: 'Cores', key: (c) => c.core, csv: 'cores.csv', columns: [textColumn('core', 'core', (c) => c.core, 'minmax(10rem, 1fr)'), ...against<Core>(this.base?.cores, (c) => c.core, (c) => c.busy_share, { unit: 'busy %', title: 'at least one pipe worked, of the span', sense: 0 }), cyclesColumn(app, 'begin', 'begins', (c) => c.begin), cyclesColumn(app, 'span', 'span', (c) => c.span),
				cyclesColumn(app, 'busy', 'busy', (c) => c.busy, 'at least one pipe worked'), shareColumn('share', 'busy', (c) => c.busy_share ?? 0, () => 1, 'core span'), cyclesColumn(app, 'compute', 'compute', (c) => c.compute_busy), shareColumn('compute-share', 'compute', (c) => c.compute_share ?? 0, () => 1, 'core span'),
				{ id: 'bar', head: '', width: 'minmax(8rem, 2fr)', isFixed: true, isDecor: true, value: (c) => c.busy, cell: (c) => shareBar(c.busy, most, app.palette().buckets[0], 'the largest') }],
		}));
		this.cores.rows(cores);
		fill(this.body, h('div', { class: 'panel-columns' }, section('Cores', this.cores.tools(), h('div', { class: 'panel-fill' }, this.cores.element))));
	}

	protected update(_state: Readonly<State>, keys: Changed): void {
		if (keys.has('theme') && !this.cores) this.show(this.data);
		else if (keys.has('unit')) {
			if (this.plot) this.drawPlot();
			this.table?.refresh();
			this.cores?.refresh();
		}
		if (keys.has('scope') || keys.has('base')) this.ask();
	}

	close(): void {
		this.table?.close();
		super.close();
	}
}

/** Waves of one unit as an area; the numbers are in its label. */
function overTime(waves: number[], top: number, name: string): SVGElement | string {
	if (!waves.length) return '-';
	const text = `${name}: ${count(Math.min(...waves), 1)} to ${count(Math.max(...waves), 1)} waves`;
	return s('svg', { class: 'over-time', attrs: { viewBox: `0 0 ${waves.length} 20`, preserveAspectRatio: 'none', role: 'img', 'aria-label': text } }, s('title', null, text),
		s('path', { attrs: { d: 'M0 20' + waves.map((v, i) => `L${i} ${(20 - (20 * v) / top).toFixed(1)}H${i + 1}`).join('') + 'V20z' } }));
}

export const panel: Panel = {
	id: 'occupancy', title: 'Occupancy', hint: 'how full the machine was, and what keeps it from more',
	questions: ['occupancy?bins=120&series=cu&top=all', 'occupancy?bins=120&series=simd&top=all', 'occupancy?bins=240&top=all'],
	missing: (app) => (hasPipes(app) && !app.trace.tracks.length ? 'No core was traced; Details shows what the producer states.' : null),
	open: (host, app) => new OccupancyView(host, app),
};
