// SPDX-License-Identifier: Apache-2.0
// machine.ts: every wave of every SE and CU as lanes, on the axis of the timeline and coloured by kernel: also those of the CUs that were not
// traced, of which the capture has starts and ends. A lane is a wave slot, or all slots of a CU. They take the place of the lanes of traced waves.
import { App } from '../app';
import { fill, framed, h } from '../base/dom';
import { count, cyclesWith } from '../base/format';
import { chooseRange } from '../range';
import { askJson } from '../source';
import { tOf, xOf } from './draw';
import { Input } from './input';
import { Row as LaneRow } from './lanes';
import { makeLut, modeColours, Span } from './raster';
import { Strips } from './strips';
import { levelOf, SMALL, Tiles } from './tiles';
import { pan } from './zoom';

export interface MachineAnswer { is_from_tracks: boolean; waves: number; unmatched_ends: number; open: number; left_out: number; rows: [number, number, number, number, number, number][] }
interface WaveAnswer { wave: { begin: number; end: number | null; kernel: number | null } | null }

/** A lane or the head of an SE; first, last: rows of the answer. */
export interface MachineRow { kind: 'se' | 'lane'; top: number; height: number; label: string; detail: string; se: number; first: number; last: number; isTraced: boolean }
const HEAD = 24, LANE = 16, REST_MS = 120;

/** Rows from top to bottom, each SE under its head. */
export function layOutMachine(all: MachineAnswer['rows'], isByCu: boolean, folded: ReadonlySet<number>): MachineRow[] {
	const out: MachineRow[] = [];
	let top = 0, i = 0;
	const push = (r: Omit<MachineRow, 'top'>) => {
		out.push({ ...r, top });
		top += r.height;
	};
	while (i < all.length) {
		const se = all[i][0], from = i;
		while (i < all.length && all[i][0] === se) i++;
		const mine = all.slice(from, i), cus = new Set(mine.map((r) => r[1])).size;
		push({ kind: 'se', height: HEAD, label: `SE${se}`, detail: `${count(cus)} CU${cus === 1 ? '' : 's'}, ${count(mine.reduce((n, r) => n + r[4], 0))} waves`, se, first: from, last: i - 1, isTraced: false });
		for (let k = from; k < i && !folded.has(se);) {
			const first = k, [, cu, simd, slot] = all[k];
			for (k++; isByCu && k < i && all[k][1] === cu; k++);
			const rows = all.slice(first, k), waves = rows.reduce((n, r) => n + r[4], 0);
			push({ kind: 'lane', height: LANE, label: isByCu ? `CU${cu}` : `CU${cu} SIMD${simd} slot ${slot}`, detail: isByCu ? `${count(waves)} waves` : '', se, first, last: k - 1, isTraced: rows.some((r) => r[5] === 1) });
		}
	}
	return out;
}

export class Machine {
	readonly element: HTMLElement;
	/** what there is, in words, for the tools above */
	readonly note = h('span', { class: 'dim machine-note' });
	readonly draw: () => void;
	private readonly canvas = h('canvas', { attrs: { 'aria-hidden': 'true' } });
	private readonly labels = h('div', { class: 'lane-labels' });
	private readonly space = h('div', { class: 'lanes-space' });
	private readonly tip = h('div', { class: 'tooltip', hidden: true, role: 'tooltip' });
	private readonly strips = new Strips();
	private readonly tiles: Tiles;
	private readonly folded = new Set<number>();
	private answer: MachineAnswer | null = null;
	private rows: MachineRow[] = [];
	private isByCu = false;
	private isOpen = false;
	private labelled = '';
	private timer = 0;
	private drag: { x: number; at: number } | null = null;
	private readonly watcher: ResizeObserver;

	constructor(private readonly app: App, private readonly labelWidth: number, private readonly input: Input, wrong: (e: unknown) => void) {
		this.draw = framed(() => this.paint());
		const c = app.trace.index || undefined;
		this.tiles = new Tiles((q, signal) => app.source.ask('resident', { c, rows: q.names, level: q.level, i: q.i, kernel: q.scope ?? undefined }, signal), { arrived: this.draw, wrong, budget: 4 * SMALL });
		this.element = h('div', { class: 'lanes machine', hidden: true, tabIndex: 0, role: 'grid', attrs: { 'aria-label': 'Waves of all compute units' } }, h('div', { class: 'machine-stage' }, this.canvas), this.space);
		this.space.appendChild(this.labels);
		document.body.appendChild(this.tip);
		this.element.addEventListener('scroll', this.draw, { passive: true });
		this.watcher = new ResizeObserver(this.draw);
		this.watcher.observe(this.element);
		this.listen();
	}

	close(): void {
		this.watcher.disconnect();
		clearTimeout(this.timer);
		this.tip.remove();
	}

	show(isOpen: boolean): void {
		this.isOpen = isOpen;
		this.element.hidden = !isOpen;
		this.tip.hidden = true;
		if (!isOpen) return;
		if (!this.answer) void askJson<MachineAnswer>(this.app.source, 'machine', { c: this.app.trace.index || undefined }).then((a) => {
			this.answer = a;
			this.arrange();
		}, (e: Error) => this.app.say(e.message));
		this.draw();
	}

	get byCu(): boolean {
		return this.isByCu;
	}

	set byCu(is: boolean) {
		this.isByCu = is;
		this.arrange();
	}

	private arrange(): void {
		const a = this.answer;
		if (!a) return;
		this.rows = layOutMachine(a.rows, this.isByCu, this.folded);
		const last = this.rows[this.rows.length - 1], cus = new Set(a.rows.map((r) => `${r[0]}.${r[1]}`)).size, traced = new Set(a.rows.filter((r) => r[5]).map((r) => `${r[0]}.${r[1]}`)).size;
		this.space.style.height = (last ? last.top + last.height : 0) + 'px';
		fill(this.note, !a.rows.length ? 'no wave slots in this capture' : a.is_from_tracks ? `traced waves only: ${count(a.waves)} on ${count(cus)} CUs; starts and ends of others are not in ${this.app.source.kind === 'report' ? 'a report' : 'the capture'}`
			: `${count(a.waves)} waves on ${count(cus)} CUs, ${count(traced)} of them traced${a.left_out ? `; ${count(a.left_out)} slots left out` : ''}`);
		this.labelled = '';
		this.draw();
	}

	private scale(): { t0: number; t1: number; width: number } {
		const { t0, t1 } = this.app.store.get();
		return { t0, t1, width: Math.max(1, this.element.clientWidth - this.labelWidth) };
	}

	private visible(): MachineRow[] {
		const top = this.element.scrollTop, bottom = top + this.element.clientHeight;
		return this.rows.filter((r) => r.top + r.height > top && r.top < bottom);
	}

	private paint(): void {
		const g = this.canvas.getContext('2d'), ratio = devicePixelRatio || 1, scale = this.scale(), height = this.element.clientHeight, p = this.app.palette();
		if (!g || !this.isOpen || !height) return;
		this.canvas.width = Math.round(scale.width * ratio);
		this.canvas.height = Math.round(height * ratio);
		Object.assign(this.canvas.style, { width: scale.width + 'px', height: height + 'px' });
		g.setTransform(ratio, 0, 0, ratio, 0, 0);
		g.fillStyle = p.background;
		g.fillRect(0, 0, scale.width, height);
		const seen = this.visible(), top = this.element.scrollTop, lanes = seen.filter((r) => r.kind === 'lane'), { scope } = this.app.store.get(), name = (r: MachineRow) => (r.first === r.last ? String(r.first) : `${r.first}-${r.last}`);
		for (const r of seen) {
			g.fillStyle = r.kind === 'se' ? p.surface : p.grid;
			g.fillRect(0, r.top - top + (r.kind === 'se' ? 0 : r.height - 0.5), scale.width, r.kind === 'se' ? r.height : 0.5);
		}
		if (lanes.length) {
			const per = (scale.t1 - scale.t0) / this.canvas.width, end = this.app.trace.span.end, lut = makeLut(p, modeColours(p, 'kernel'), false);
			this.tiles.want({ t0: scale.t0, t1: scale.t1, level: levelOf(per), mode: 'kernel', scope, names: lanes.map(name), around: () => [], end });
			const span: Span = { t0: scale.t0, perPixel: per, width: this.canvas.width };
			const rows = lanes.map((r): LaneRow & { name: string } => ({ kind: 'lane', top: r.top, height: r.height, lane: null, group: '', label: '', count: 1, isFolded: false, isOdd: false, name: name(r) }));
			this.strips.lanes(g, { rows, span, ratio, palette: p, yOf: (r) => r.top - top, clip: () => g.save(), isOwn: true, hasOther: false, hasStrip: false, hatch: null, note: lut.note,
				fill: (at, r) => this.strips.fillCells(at, span, this.tiles, Tiles.layer('kernel', scope), { name: (r as LaneRow & { name: string }).name, begin: 0, end }, lut) });
		}
		this.range(g, scale, height);
		this.drawLabels(seen);
	}

	/** What all figures are of, and what is being dragged. */
	private range(g: CanvasRenderingContext2D, scale: { t0: number; t1: number; width: number }, height: number): void {
		const { range } = this.app.store.get(), p = this.app.palette(), x = (t: number) => xOf(scale, t);
		const [a, b] = this.drag ? [Math.min(this.drag.x, this.drag.at), Math.max(this.drag.x, this.drag.at)] : range ? [x(range.t0), x(range.t1)] : [0, 0];
		if (b <= a) return;
		g.fillStyle = p.accent;
		g.globalAlpha = 0.12;
		g.fillRect(a, 0, b - a, height);
		g.globalAlpha = 1;
	}

	private drawLabels(seen: MachineRow[]): void {
		const key = `${seen[0]?.top}.${seen.length}.${this.isByCu}.${this.folded.size}`;
		if (key === this.labelled) return;
		this.labelled = key;
		fill(this.labels, seen.map((r) => h('div', {
			class: `lane-label${r.kind === 'se' ? ' group' : ''}${r.isTraced ? ' traced' : ''}`, role: 'row', style: { top: r.top + 'px', height: r.height + 'px', '--depth': r.kind === 'se' ? '0' : '1' },
			title: r.kind === 'se' ? `${r.label}: ${r.detail}. Click to ${this.folded.has(r.se) ? 'unfold' : 'fold'}.` : `SE${r.se} ${r.label}${r.isTraced ? ': its instructions were traced' : ': starts and ends alone, this CU was not traced'}`,
			on: { click: () => (r.kind === 'se' ? this.fold(r.se) : this.toTraced(r)) },
		}, r.kind === 'se' && h('span', { class: 'twist', attrs: { 'aria-hidden': 'true' } }, this.folded.has(r.se) ? '▸ ' : '▾ '), h('span', { class: 'words', role: 'rowheader' }, r.label, r.detail && h('span', { class: 'dim' }, r.detail)))));
	}

	private fold(se: number): void {
		if (!this.folded.delete(se)) this.folded.add(se);
		this.labelled = '';
		this.arrange();
	}

	/** From a traced CU to its lanes with instructions. */
	private toTraced(r: MachineRow): void {
		const { trace, store } = this.app, rows = this.answer!.rows.slice(r.first, r.last + 1), { t0, t1 } = store.get();
		const mine = trace.tracks.filter((t) => rows.some((q) => q.slice(0, 4).every((v, i) => v === t.coord[i]))), track = mine.find((t) => t.end > t0 && t.begin < t1) ?? mine[0];
		if (!track) return this.app.say(`SE${r.se} ${r.label} was not traced: when its waves began and ended is known, not what they did`);
		store.set({ kind: 'waves' });
		this.app.select({ kind: 'track', track: track.index });
		this.app.showTrack(track.index);
	}

	private rowAt(e: MouseEvent): MachineRow | undefined {
		const y = e.clientY - this.element.getBoundingClientRect().top + this.element.scrollTop;
		return this.rows.find((r) => y >= r.top && y < r.top + r.height);
	}

	private listen(): void {
		const x = (e: MouseEvent) => e.clientX - this.canvas.getBoundingClientRect().left, t = (e: MouseEvent) => tOf(this.scale(), x(e));
		this.element.addEventListener('wheel', (e) => {
			const { t0, t1 } = this.app.store.get(), by = e.deltaX || e.deltaY;
			if (e.ctrlKey || e.metaKey) {
				this.input.pointerT = t(e);
				this.input.zoom(Math.exp(Math.max(-240, Math.min(240, e.deltaY)) * 0.0035));
			} else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) this.input.go(pan({ t0, t1 }, (by * (t1 - t0)) / this.scale().width, this.app.trace.span.end));
			else return;
			e.preventDefault();
		}, { passive: false });
		this.element.addEventListener('keydown', (e) => {
			if (e.key !== 'ArrowUp' && e.key !== 'ArrowDown') return;
			this.element.scrollTop += e.key === 'ArrowUp' ? -60 : 60;
			e.preventDefault();
			e.stopPropagation();
		});
		this.canvas.addEventListener('pointerdown', (e) => {
			this.canvas.setPointerCapture(e.pointerId);
			if (e.button === 0) this.drag = { x: x(e), at: x(e) };
		});
		this.canvas.addEventListener('pointermove', (e) => {
			this.input.pointerT = t(e);
			this.tip.hidden = true;
			clearTimeout(this.timer);
			if (!this.drag) this.timer = window.setTimeout(() => void this.tell(e, t(e)), REST_MS);
			else {
				this.drag.at = x(e);
				this.draw();
			}
		});
		this.canvas.addEventListener('pointerup', (e) => {
			const d = this.drag, a = d && Math.min(d.x, x(e)), b = d && Math.max(d.x, x(e));
			this.drag = null;
			if (d && b! - a! >= 4) chooseRange(this.app, { kind: 'range', t0: Math.max(0, Math.round(tOf(this.scale(), a!))), t1: Math.round(tOf(this.scale(), b!)) });
			this.draw();
		});
		this.canvas.addEventListener('pointerleave', () => {
			clearTimeout(this.timer);
			this.tip.hidden = true;
			this.input.pointerT = null;
		});
	}

	/** The wave under the pointer. */
	private async tell(e: PointerEvent, t: number): Promise<void> {
		const r = this.rowAt(e), u = this.app.units();
		if (!r || r.kind === 'se') return;
		const a = r.first === r.last ? await askJson<WaveAnswer>(this.app.source, 'machine', { c: this.app.trace.index || undefined, row: r.first, t: Math.max(0, Math.floor(t)) }) : null;
		const w = a?.wave, kernel = w && this.app.trace.kernels.find((k) => k.id === w.kernel)?.name;
		fill(this.tip, h('div', null, `SE${r.se} ${r.label}`), w ? h('div', null, kernel ?? 'unknown kernel') : null,
			h('div', { class: 'dim' }, w ? `from ${cyclesWith(w.begin, u)} ${w.end === null ? 'on; its end is not recorded' : `to ${cyclesWith(w.end, u)}, resident for ${cyclesWith(w.end - w.begin, u)}`}` : a ? 'no wave here' : r.detail),
			h('div', { class: 'dim' }, r.isTraced ? 'traced: click its name for its instructions' : 'not traced: starts and ends alone'));
		this.tip.hidden = !this.isOpen;
		Object.assign(this.tip.style, { left: Math.max(4, Math.min(innerWidth - this.tip.offsetWidth - 8, e.clientX + 14)) + 'px', top: (e.clientY + 18 + this.tip.offsetHeight > innerHeight ? e.clientY - this.tip.offsetHeight - 12 : e.clientY + 18) + 'px' });
	}
}
