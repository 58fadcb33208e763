// SPDX-License-Identifier: Apache-2.0
// pane.ts: the timeline with its tools, axis and overlay, put together; and the few things that other parts ask of it.
import { App } from '../app';
import { button, choose, fill, h, notice } from '../base/dom';
import { count, cyclesWith, unitName } from '../base/format';
import { Still } from '../base/latest';
import { colourOf } from '../base/palette';
import { askJson, isSampled as sampled, isTimeline, SliceInfo } from '../source';
import { Align, Arrows as ArrowMode, ARROWS, Key, LaneKind, LaneSort, Mode, MODES, SORTS, State } from '../state';
import { Arrows } from './arrows';
import { Global } from './global';
import { spoken, Tip } from './hit';
import { Input } from './input';
import { hasSlots, hasUnits, trackAt } from './lanes';
import { Machine } from './machine';
import { Overlay } from './overlay';
import { Ruler } from './ruler';
import { Stack } from './stack';
import { Timeline } from './view';
import { around } from './zoom';

/** narrow windows keep more room for the lanes */
const labelWidth = () => (innerWidth < 640 ? 104 : 176);

/** What a colour stands for where lanes are pipes. */
const PIPES: Record<string, string> = { scalar: 'SCALAR', smem: 'CACHEMISS', valu: 'VECTOR', matrix: 'CUBE', vmem: 'MTE2', store: 'MTE3', lds: 'MTE1', 'cross-lane': 'FIXP', branch: 'FLOWCTRL', sync: 'flags, barriers', other: 'other' };

export class TimelinePane {
	readonly element: HTMLElement;
	readonly view: Timeline;
	readonly input: Input;
	readonly overlay: Overlay;
	readonly ruler: Ruler;
	private readonly tools: HTMLElement;
	private readonly corner: HTMLElement;
	private readonly range = h('span', { class: 'range' });
	private readonly hiddenNote = h('span');
	private readonly legend = h('div', { class: 'legend-line', role: 'list', attrs: { 'aria-label': 'Colours' } });
	private readonly arrows: Arrows;
	private readonly global: Global;
	private readonly machine: Machine;
	private readonly stack: Stack;
	private readonly tip: Tip;
	/** the slice that was asked for last and is not there yet */
	private going: { track: number; slice: number; still: Still } | null = null;

	constructor(private readonly app: App, wrong: (e: unknown) => void, pickMarker: (i: number) => void) {
		const labels = labelWidth();
		this.view = new Timeline(app, labels, wrong);
		this.arrows = new Arrows(app, this.view, () => this.overlay.draw());
		this.overlay = new Overlay(app, this.view, this.arrows);
		const tip = this.tip = new Tip(app, this.view);
		this.input = new Input(app, this.view, this.overlay, tip, (x) => {
			this.ruler.cursor = x;
			this.ruler.draw();
			this.overlay.draw();
		}, (track, slice) => void this.goSlice(track, slice));
		this.ruler = new Ruler(app, (t0, t1, isDone) => {
			this.input.go({ t0, t1 });
			if (isDone) app.store.settle();
		}, pickMarker, () => this.view.colours());
		this.view.drawn = () => {
			this.arrows.update();
			this.overlay.draw();
		};
		this.tools = h('div', { class: 'timeline-tools', role: 'toolbar', attrs: { 'aria-label': 'Timeline' } });
		this.corner = h('div', { class: 'ruler-corner' });
		this.global = new Global(app);
		this.stack = new Stack(app, labels);
		this.machine = new Machine(app, labels, this.input, wrong);
		this.element = h('section', { class: 'timeline', style: { '--labels': labels + 'px' }, attrs: { 'aria-label': 'Timeline' } }, this.tools, this.corner, this.ruler.element, this.global.element, this.view.scroller, this.machine.element, this.stack.element, h('div', { class: 'timeline-key' }, this.legend, this.hiddenNote, this.range));
		this.view.scroller.addEventListener('keydown', (e) => this.gridKey(e));
		addEventListener('beforeprint', this.printed);
		void app.code().then(() => this.drawLegend(app.store.get().mode), () => undefined);
	}

	/** On paper the picture keeps the height that it was drawn for. */
	private readonly printed = () => this.element.style.setProperty('--print-height', this.element.offsetHeight + 'px');

	close(): void {
		removeEventListener('beforeprint', this.printed);
		this.tip.close();
		this.machine.close();
		this.view.close();
		this.ruler.close();
	}

	/** Why there are no lanes, instead of an empty place. */
	static missing(app: App): HTMLElement | null {
		if (app.trace.tracks.length) return null;
		const isSampled = sampled(app.trace), isTables = isSampled && !app.trace.counts.code;
		return h('section', { class: 'timeline lanes-empty', attrs: { 'aria-label': 'Timeline' } }, notice(
			isSampled ? `No timeline: this capture holds ${isTables ? 'tables' : 'samples'} only` : 'No timeline: no wave or pipe was recorded',
			isTables ? 'Summary and Details show what the producer measured.' : isSampled ? 'Samples say how often each instruction was seen and why it stalled, not when. All other panels work.' : 'The banner says what is missing from this capture.',
			isSampled ? ({ ascend: 'Run msprof op simulator to see lanes.', amd: 'Record a thread trace (rocprofv3 --att) to see lanes.' }[String(app.trace.input.vendor)] ?? '') : ''));
	}

	changed(state: Readonly<State>, keys: ReadonlySet<Key | 'theme' | 'size'>): void {
		const has = (...names: (Key | 'theme' | 'size')[]) => names.some((n) => keys.has(n));
		if (has('mode', 'sort', 'isMerged', 'kind', 'align', 'isStacked', 'isGlobalOpen', 'arrows', 'hidden', 'base', 'theme', 'hash')) this.drawTools(state);
		if (has('mode', 'base')) this.ruler.load();
		if (has('theme')) this.ruler.render();
		if (has('t0', 't1', 'unit', 'theme')) {
			// a node that does not change costs no layout: panning goes through here in every frame
			const words = `${cyclesWith(Math.round(state.t1 - state.t0), this.app.units())} in sight`;
			if (this.range.textContent !== words) this.range.textContent = words;
			if (has('unit', 'theme')) fill(this.corner, h('span', null, 'whole trace'), h('span', null, `time, ${unitName(this.app.units())}`));
		}
		if (has('isGlobalOpen', 'theme')) this.global.show(state.isGlobalOpen);
		if (state.isGlobalOpen) this.global.draw();
		if (has('kind')) {
			this.view.scroller.hidden = state.kind === 'machine';
			this.machine.show(state.kind === 'machine');
		} else if (state.kind === 'machine') this.machine.draw();
		this.stack.changed(state, keys);
		this.view.changed(state, keys);
		this.ruler.draw();
		if (has('selection', 'arrows')) this.arrows.update();
		this.overlay.draw();
	}

	private drawTools(s: Readonly<State>): void {
		const named: typeof choose = (label, ...rest) => Object.assign(choose(label, ...rest), { title: label });
		const { store, trace } = this.app;
		const label: Record<string, string> = { class: 'class', bucket: 'bucket', cause: 'cause', kernel: 'kernel', diff: 'difference' };
		const isMachine = s.kind === 'machine', ofLanes = hasUnits(trace) && named('Lanes', [{ value: 'waves', label: 'waves' }, { value: 'units', label: 'utilization' }, { value: 'machine', label: 'all CUs', title: 'every wave of every SE and CU, traced or not, by kernel' }], s.kind,
			(v) => store.set({ kind: v as LaneKind, pins: [], hidden: [], order: [], ...(v === 'machine' ? { isGlobalOpen: true } : {}) }));
		const zooms = h('span', { class: 'zooms' }, button('−', 'Zoom out (S)', () => this.input.zoom(1.6)), button('+', 'Zoom in (W)', () => this.input.zoom(1 / 1.6)), button('Fit', 'Whole trace (0)', () => this.fitAll()));
		const strip = !trace.has_pipes && !isTimeline(trace) && button('Global', 'Waves in flight and their states, above the lanes', () => store.set({ isGlobalOpen: !s.isGlobalOpen }), { class: 'button framed', attrs: { 'aria-pressed': s.isGlobalOpen } });
		if (isMachine) fill(this.tools, ofLanes, strip, named('A lane for each', [{ value: '', label: 'wave slot' }, { value: '1', label: 'CU' }], this.machine.byCu ? '1' : '', (v) => (this.machine.byCu = !!v)), this.machine.note, zooms);
		else fill(this.tools,
			named('Colour', MODES.map((m) => ({ value: m, label: label[m], disabled: m === 'diff' && !s.base })), s.mode, (v) => store.set({ mode: v as Mode })),
			named('Sort', SORTS.map((v) => ({ value: v, label: v })), s.sort, (v) => store.set({ sort: v as LaneSort, order: [] })),
			ofLanes, strip,
			hasSlots(trace) && s.kind === 'waves' && button(s.isMerged ? 'Merged' : 'Split', 'One lane per slot, or one per wave', () => store.set({ isMerged: !s.isMerged }), { class: 'button framed', attrs: { 'aria-pressed': s.isMerged } }),
			named('Arrows', ARROWS.map((v) => ({ value: v, label: v })), s.arrows, (v) => store.set({ arrows: v as ArrowMode })),
			s.base && named('Align', [{ value: 'trace', label: 'trace' }, { value: 'start', label: 'lane start' }, { value: 'row', label: 'selected row' }], s.align, (v) => store.set({ align: v as Align })),
			s.base && named('Lanes of B', [{ value: '', label: 'beside A' }, { value: '1', label: 'stacked' }], s.isStacked ? '1' : '', (v) => store.set({ isStacked: !!v })),
			zooms);
		this.drawLegend(s.mode);
		fill(this.hiddenNote, s.hidden.length > 0 && button(`Show all (${s.hidden.length} hidden)`, 'Show all hidden lanes (Shift+H)', () => store.set({ hidden: [] }), { class: 'button framed' }));
	}

	/** What stands above, below and over a lane. */
	private drawMarks(mode: Mode): HTMLElement[] {
		const p = this.app.palette(), t = this.app.trace, isWaves = this.app.store.get().kind === 'waves' || t.has_pipes;
		const key = (name: string, title: string, style: Record<string, string>) => h('span', { class: 'legend-key', role: 'listitem', title }, h('span', { class: 'swatch', style }), name);
		const strip = (i: number) => key(t.buckets[i], `Strip below a lane: ${t.buckets[i]}; mixed where a pixel holds both`, { background: p.buckets[i], height: '4px', 'border-radius': '0' });
		return [
			...(mode === 'class' && isWaves ? [h('span', { class: 'legend-key', role: 'listitem', attrs: { 'data-key': 'strip' } }, 'strip:'), ...[0, 1, 2, 4].map(strip)] : []),
			...(isWaves && (mode === 'class' || mode === 'bucket') ? [key('lost', 'Hatched: the part of a slice that was stalled or waiting; a wait has the colour of what it waited for, and is sync only where nothing was outstanding', { background: `repeating-linear-gradient(135deg, ${p.quiet} 0 3px, ${p.background} 3px 4px)` })] : []),
			...(this.app.store.get().arrows === 'none' ? [] : [key('arrow', 'Arrows: from what was waited for, in the colour of its class; bold: the last that arrived', { background: p.dim, height: '2px', 'border-radius': '0' })]),
			key('several', 'Line above a lane: more than one slice in this pixel', { background: p.quiet, height: '2px', 'border-radius': '0' }),
			key('begin, end', 'Above a lane: a wave or pipe begins or ends', { background: p.text, width: '2px', 'border-radius': '0' }),
			key('link', 'Above a lane: something waits here for another lane', { background: p.accent, height: '3px', 'border-radius': '0' }),
			key('unknown', 'Hatched crosswise: the record names no known instruction, or the wave could not be read', { background: `repeating-linear-gradient(135deg, ${p.worse} 0 1px, transparent 1px 3px), repeating-linear-gradient(45deg, ${p.worse} 0 1px, ${p.background} 1px 3px)` }),
			key('found', 'Line below a lane: a search matches here', { background: p.accent, height: '3px', 'border-radius': '0' }),
		];
	}

	private drawLegend(chosen: Mode): void {
		const isMachine = this.app.store.get().kind === 'machine', mode = isMachine ? 'kernel' : chosen;
		const p = this.app.palette(), t = this.app.trace;
		// what the code table does not hold has no colour to explain
		const code = this.view.code, ran = code && new Set(code.class.filter((_, i) => code.hits[i] > 0)), used = new Set(t.classes.filter((c) => !ran || t.has_pipes || ran.has(c.id)).map((c) => c.slot));
		const keys: [string, string][] = mode === 'bucket' ? t.buckets.map((b, i) => [b, p.buckets[i]])
			: mode === 'cause' ? t.causes.slice(0, 12).map((c, i) => [c, colourOf(p, i)])
			: mode === 'kernel' ? t.kernels.slice(0, 8).map((k) => [k.name, colourOf(p, k.id % 12)])
			: mode === 'diff' ? [['same', p.dim], ['▲ worse in B', p.worse], ['▼ better in B', p.better], ['only here', p.buckets[4]]]
			: t.slots.map((s, i) => [t.has_pipes ? PIPES[s] ?? '' : s, p.slots[i]] as [string, string]).filter(([name], i) => name && used.has(i));
		fill(this.legend, keys.map(([name, colour]) => h('span', { class: 'legend-key', role: 'listitem' }, h('span', { class: 'swatch', style: { background: colour } }), name.slice(0, 18))), isMachine ? null : this.drawMarks(mode));
	}

	/** The legend as it stands: each word with its colour; null: a hatch. */
	keys(): { words: string; colour: string | null }[] {
		return [...this.legend.querySelectorAll<HTMLElement>('.legend-key')].map((e) => {
			const swatch = e.querySelector<HTMLElement>('.swatch'), colour = swatch?.style.backgroundColor ?? '';
			return { words: e.textContent ?? '', colour: colour && colour !== 'initial' ? colour : swatch ? null : '' };
		});
	}

	fitAll(): void {
		this.input.go({ t0: 0, t1: this.app.trace.span.end });
		this.app.store.settle();
	}

	/** The selection fills the window; without one, everything. */
	fitSelection(): void {
		const s = this.app.store.get().selection;
		if (s && s.t0 !== undefined && s.t1 !== undefined) this.input.go(around(s.t0, s.t1, this.app.trace.span.end));
		else if (s?.kind === 'track' && s.track !== undefined) this.input.go(around(this.app.trace.tracks[s.track].begin, this.app.trace.tracks[s.track].end, this.app.trace.span.end, 0.02));
		else return this.fitAll();
		this.app.store.settle();
	}

	showTime(t0: number, t1: number): void {
		this.app.store.settle();
		this.input.go(around(t0, t1, this.app.trace.span.end, 0.6));
		this.app.store.settle();
	}

	/** Unhides and unfolds what is in the way, then scrolls there. */
	showTrack(track: number): void {
		const { store } = this.app, s = store.get();
		const lane = this.view.lanes.find((l) => l.tracks.includes(track));
		if (!lane) return;
		if (s.hidden.includes(lane.id)) store.set({ hidden: s.hidden.filter((i) => i !== lane.id) });
		if (s.folded.includes(lane.group)) store.set({ folded: s.folded.filter((g) => g !== lane.group) });
		this.view.arrange();
		const row = this.view.rowOfTrack(track);
		if (row) this.view.reveal(row);
		this.view.redraw();
	}

	/** Selects a slice by number, and brings it into sight; isLoud false: for a link, whose view stays as it is; isCentred: to the middle, wide enough to be seen. */
	async goSlice(track: number, slice: number, isLoud = true, isCentred = false): Promise<void> {
		const still = this.app.store.choose();
		this.going = { track, slice, still };
		try {
			const c = this.app.trace.index || undefined;
			const info = await askJson<SliceInfo>(this.app.source, 'at', { c, track, slice });
			if (!still()) return;
			this.going = null;
			if (info.slice === null) return this.app.say('No slice there');
			const s = this.app.store.get();
			this.app.select({ kind: 'slice', track, slice: info.slice, code: info.code ?? undefined, t0: info.start, t1: info.start + info.duration, source: info.frames[0]?.source, line: info.frames[0]?.line });
			if (isCentred || (isLoud && (info.start < s.t0 || info.start + info.duration > s.t1))) {
				const width = isCentred ? Math.min(s.t1 - s.t0, Math.max(400, 30 * info.duration)) : s.t1 - s.t0, mid = info.start + info.duration / 2;
				this.input.go({ t0: mid - width / 2, t1: mid + width / 2 });
			}
			if (isLoud || !s.hidden.includes(track)) this.showTrack(track);
			if (isLoud) this.app.say(spoken(this.app, info), true);
		} catch {
			if (!still()) return;
			this.going = null;
			this.app.say('No slice there');
		}
	}

	/** Previous or next slice of the lane; of the one on its way, where keys come faster than answers. */
	step(by: number): void {
		const s = this.going?.still() ? this.going : this.app.store.get().selection;
		if (!s || s.track === undefined) return this.first();
		const n = (s.slice ?? (by > 0 ? -1 : this.app.trace.tracks[s.track].slices)) + by;
		if (n < 0 || n >= this.app.trace.tracks[s.track].slices) return this.app.say('No more slices on this lane');
		void this.goSlice(s.track, n);
	}

	/** First slice in sight, where nothing is selected yet. */
	private first(): void {
		const row = this.view.visible().find((r) => r.lane);
		if (row) void this.goSlice(trackAt(this.app.trace, row.lane!, this.app.store.get().t0), 0);
	}

	/** The slice at the same time one lane up or down. */
	async stepLane(by: number): Promise<void> {
		const s = this.app.store.get().selection, rows = this.view.layout.rows.filter((r) => r.lane);
		const now = rows.findIndex((r) => r.lane!.tracks.includes(s?.track ?? -1)), next = rows[now + by];
		if (!s || now < 0) return this.first();
		if (!next) return this.app.say('No more lanes');
		const t = s.t0 ?? this.app.store.get().t0, track = trackAt(this.app.trace, next.lane!, t);
		const c = this.app.trace.index || undefined, still = this.app.store.choose();
		const k = this.app.trace.tracks[track];
		try {
			const info = await askJson<SliceInfo>(this.app.source, 'at', { c, track, t: Math.max(k.begin, Math.min(k.end - 1, Math.floor(t))) });
			if (info.slice !== null && still()) return this.goSlice(track, info.slice);
		} catch { /* nothing there: the lane itself */ }
		if (!still()) return;
		this.app.select({ kind: 'track', track });
		this.showTrack(track);
		this.app.say(`${next.label}: nothing at ${count(t)}`);
	}

	/** With the focus in the grid the arrow keys move by slice and lane. */
	private gridKey(e: KeyboardEvent): void {
		if (e.target !== this.view.scroller || e.ctrlKey || e.altKey || e.metaKey) return;
		if (e.key === 'ArrowLeft' || e.key === 'ArrowRight') this.step(e.key === 'ArrowLeft' ? -1 : 1);
		else if (e.key === 'ArrowUp' || e.key === 'ArrowDown') void this.stepLane(e.key === 'ArrowUp' ? -1 : 1);
		else return;
		e.preventDefault();
		e.stopPropagation();
	}
}
