// SPDX-License-Identifier: Apache-2.0
// dispatches/view.ts: what was launched: kernels by name, dispatches with their registers and memory, events of the hardware, and other
// captures beside this one. Choosing a kernel narrows every other panel to it.
import { App, Panel } from '../../app';
import { shareBar } from '../../base/bars';
import { button, Child, fill, h, notice } from '../../base/dom';
import { bytes, count, cyclesWith, largest } from '../../base/format';
import { Table } from '../../base/table';
import { State } from '../../state';
import { Changed, countColumn, cyclesColumn, facts, filterBox, scaled, section, textColumn, View } from '../common';
import { Dispatch, Held, Info, Occupancy, OccupancyUnit } from '../types';
import { against, Figure, figures, otherData, Pair } from '../versus';

type Launch = Held<Info['launch']>;
type Sibling = Held<Info['siblings']>;

const EVENTS: Record<string, string> = {
	'packet-loss': 'the trace lost packets here', 'trace-stall-begin': 'the trace buffer was full', 'trace-stall-end': 'the trace buffer took data again',
};

class DispatchView extends View {
	private kernels: Table<OccupancyUnit> | null = null;
	private others: { refresh(): void }[] = [];
	private data: Occupancy | null = null;
	/** of the other capture */
	private base: Occupancy | null = null;
	private readonly scope = h('p', { class: 'scope-line' });

	constructor(host: HTMLElement, app: App) {
		super(host, app, 'dispatches');
		this.ask();
	}

	private ask(): void {
		const { app } = this, all = { bins: 240, top: 'all', k: undefined };
		this.load(Promise.all([app.verb<Occupancy>('occupancy', all).catch(() => null), app.verb<Info>('info'), otherData<Occupancy>(app, 'occupancy', all), otherData<Info>(app, 'info')]), ([a, b, c, d]) => {
			this.base = c;
			this.show(a?.data ?? null, b.data, d);
		});
	}

	private show(d: Occupancy | null, info: Info, other: Info | null): void {
		this.data = d;
		this.others = [];
		const parts: Child[] = [this.launchSection(info, other)];
		if (d?.kernels?.length) parts.push(this.kernelSection(d.kernels));
		if (d?.dispatches?.length) parts.push(this.dispatchSection(d.dispatches));
		else parts.push(section('Dispatches', null, notice('No dispatch events', 'This format records none; what is known of the launch stands on the left.')));
		const events = Object.entries(d?.hardware_events ?? {});
		if (events.length) parts.push(section('Hardware events', null, h('table', { class: 'plain' }, h('tbody', null, events.map(([name, n]) => h('tr', null, h('th', { attrs: { scope: 'row' } }, name), h('td', { class: 'num' }, count(n)), h('td', { class: 'dim' }, EVENTS[name] ?? '')))))));
		if (info.siblings?.length) parts.push(this.siblingSection(info.siblings));
		fill(this.body, h('div', { class: 'panel-columns' }, parts));
		this.mark(this.app.store.get());
	}

	private launchSection(info: Info, other: Info | null): HTMLElement {
		const l: Partial<Launch> = info.launch ?? {}, n = (v: number | null | undefined, digits = 0) => (v === undefined || v === null ? null : count(v, digits)), dim = (v: number[] | null | undefined) => v?.join(' × ') ?? null;
		const size = (v: number | null | undefined) => (v === undefined || v === null ? null : bytes(v)), us = n(l.duration_ns === null || l.duration_ns === undefined ? null : l.duration_ns / 1000, 2);
		const all = facts(['kernel', info.kernel ?? '(no name in the capture)'], ['launch', n(l.launch_index) && n(l.launch_count) && `${l.launch_index} of ${l.launch_count}`], ['grid', dim(l.grid)], ['workgroup', dim(l.workgroup)],
			['workgroups', n(l.workgroups)], ['waves', n(l.waves)], ['VGPRs', n(l.vgprs)], ['accumulation VGPRs', n(l.accum_vgprs)], ['SGPRs', n(l.sgprs)], ['LDS', size(l.lds_bytes)], ['scratch', size(l.scratch_bytes)],
			['duration', us && `${us} µs${l.is_other_run ? ' (of another run)' : ''}`], ['command', l.command ?? null]);
		return section('Launch', null, this.scope, all, other && this.launches(info, other));
	}

	/** What was launched here and there: facts, not figures of speed. */
	private launches(here: Info, there: Info): Child {
				const rows = ([['workgroups', 'workgroups'], ['waves', 'waves'], ['VGPRs', 'vgprs'], ['accumulation VGPRs', 'accum_vgprs'], ['SGPRs', 'sgprs'], ['LDS, bytes', 'lds_bytes'], ['scratch, bytes', 'scratch_bytes']] as const)
			.map(([name, key]): [string, Pair, Figure] => [name, { a: here.launch?.[key] ?? null, b: there.launch?.[key] ?? null }, { unit: '', title: 'of the launch', digits: 0, sense: 0 }]).filter(([, p]) => p.a !== null || p.b !== null);
		return [rows.length > 0 && figures('Launch against the other capture', rows), h('p', { class: 'dim' }, 'Dispatches are not compared one by one: their cycles are of each file’s own clock.')];
	}

	private kernelSection(rows: OccupancyUnit[]): HTMLElement {
		const app = this.app, most = largest(rows, (r) => r.wave_cycles);
		const t = this.own(new Table<OccupancyUnit>({
			label: 'Kernels', key: (r) => r.name ?? '', csv: 'kernels.csv', pick: (r) => this.narrow(r.name ?? ''),
			columns: [textColumn('name', 'kernel', (r) => r.name, 'minmax(12rem, 2fr)'),
				...against<OccupancyUnit>(this.base?.kernels, (r) => r.name ?? '', (r) => r.mean_while_busy, { unit: 'waves', title: 'waves at once, while there were any', sense: 0 }),
				countColumn('ids', 'ids', (r) => r.ids, 'dispatch ids of this name'), countColumn('starts', 'waves', (r) => r.starts), countColumn('peak', 'peak', (r) => r.peak_waves),
				cyclesColumn(app, 'busy', 'occupied', (r) => r.busy_cycles), cyclesColumn(scaled(app, () => this.data?.all?.wave_cycles ?? 1, 'wave cycles'), 'cycles', 'wave cycles', (r) => r.wave_cycles), { id: 'bar', head: '', width: 'minmax(6rem, 1fr)', isFixed: true, isDecor: true, value: (r) => r.wave_cycles, cell: (r) => shareBar(r.wave_cycles, most, app.palette().accent, 'the largest') }],
		}));
		t.rows(rows);
		this.kernels = t;
		return section('Kernels', [filterBox(t, 'Filter', (r) => r.name ?? ''), t.tools()], h('p', { class: 'dim' }, 'A click narrows all panels to this kernel.'), h('div', { class: 'panel-fill' }, t.element));
	}

	private dispatchSection(rows: Dispatch[]): HTMLElement {
		const app = this.app;
		const t = this.own(new Table<Dispatch>({
			label: 'Dispatches', key: (r) => `${r.cycle}-${r.se}-${r.kernel_id}`, csv: 'dispatches.csv',
			columns: [countColumn('id', 'id', (r) => r.kernel_id), textColumn('name', 'kernel', (r) => r.name ?? '(no name)', 'minmax(10rem, 2fr)'), countColumn('se', 'SE', (r) => r.se), cyclesColumn(app, 'cycle', 'cycle', (r) => r.cycle, 'of the file’s own clock'),
				textColumn('threads', 'workgroup', (r) => r.threads?.join(' × ')), countColumn('vgprs', 'VGPRs', (r) => r.vgprs), countColumn('sgprs', 'SGPRs', (r) => r.sgprs), { id: 'lds', head: 'LDS', isNumber: true, value: (r) => r.lds_bytes, cell: (r) => (r.lds_bytes === null ? '-' : bytes(r.lds_bytes)) }],
		}));
		t.rows(rows);
		this.others.push(t);
		return section('Dispatches', [filterBox(t, 'Filter', (r) => `${r.name} SE${r.se}`), t.tools()], h('div', { class: 'panel-fill' }, t.element));
	}

	private siblingSection(rows: Sibling[]): HTMLElement {
		const t = this.own(new Table<Sibling>({ label: 'Captures beside this one', key: (r) => r.path, columns: [textColumn('path', 'capture', (r) => r.path, 'minmax(14rem, 2fr)'), countColumn('agent', 'agent', (r) => r.agent), countColumn('dispatch', 'dispatch', (r) => r.dispatch), countColumn('waves', 'waves', (r) => r.waves)] }));
		t.rows(rows);
		this.others.push(t);
		return section('Captures beside this one', null, h('p', { class: 'dim' }, 'Open one with incore view, or two of them to compare.'), h('div', { class: 'panel-fill' }, t.element));
	}

	private narrow(name: string): void {
		const id = this.app.trace.kernels.find((k) => k.name === name)?.id;
		const now = this.app.store.get().scope;
		this.app.store.set({ scope: id === undefined || id === now ? null : id });
		this.app.store.settle();
	}

	private mark(state: Readonly<State>): void {
		const kernel = state.scope === null ? null : this.app.trace.kernels.find((k) => k.id === state.scope);
		this.kernels?.mark(kernel ? [kernel.name] : [], false);
		fill(this.scope, kernel ? [`All panels show ${kernel.name} alone. `, button('Show everything', 'Take the scope away', () => this.app.store.set({ scope: null }))] : '');
		const a = this.data?.all;
		if (!kernel && a) fill(this.scope, `${count(a.starts)} waves in ${cyclesWith(a.span, this.app.units())}.`);
	}

	protected update(state: Readonly<State>, keys: Changed): void {
		if (keys.has('scope') || keys.has('unit')) this.mark(state);
		if (keys.has('base')) this.ask();
		if (keys.has('unit') || keys.has('theme')) for (const t of [this.kernels, ...this.others]) t?.refresh();
	}
}

export const panel: Panel = {
	id: 'dispatches', title: 'Dispatches', hint: 'kernels and dispatches, the scope of all panels, hardware events',
	questions: ['info', 'occupancy?bins=240&top=all'],
	open: (host, app) => new DispatchView(host, app),
};
