// SPDX-License-Identifier: Apache-2.0
// view.ts: the timeline. Draws in an animation frame and only when something changed; rows outside the window are neither drawn nor in
// the page. Two canvases: the lanes, and over them what follows the mouse.
import { App } from '../app';
import { framed, h } from '../base/dom';
import { colourOf } from '../base/palette';
import { baseCapture, CodeTable, NO_CODE, TraceInfo } from '../source';
import { Key, State } from '../state';
import { drawSlices, Look, makeHatch, Scale } from './draw';
import { Exact } from './exact';
import { autoHeight, GROUP_HEIGHT, Lane, Layout, layOut, makeLanes, makeUnits, Row, rowAt, slotOf } from './lanes';
import { Labels } from './labels';
import { Other } from './other';
import { Lut, makeLut, pixelsOf, rasterTile, Span } from './raster';
import { levelOf, Tiles, tilesOf, TRACKS } from './tiles';

/** Rectangles that are drawn one by one; beyond, cells. */
const EXACT_LIMIT = 4000;

export interface FrameStats { frames: number; last_ms: number; worst_ms: number; times: number[]; calls: number; rows: number; isExact: boolean; level: number }

export class Timeline {
	readonly scroller: HTMLElement;
	readonly over: HTMLCanvasElement;
	readonly stats: FrameStats = { frames: 0, last_ms: 0, worst_ms: 0, times: [], calls: 0, rows: 0, isExact: false, level: 0 };
	layout: Layout = { rows: [], height: 0, pinned: 0, hiddenCount: 0 };
	lanes: Lane[] = [];
	/** called after each drawing, with the rows seen */
	drawn: () => void = () => undefined;
	/** called once everything in sight is drawn from its own data */
	settled: () => void = () => undefined;
	code: CodeTable | null = null;
	readonly tiles: Tiles;
	readonly exact: Exact;
	private readonly base: HTMLCanvasElement;
	private readonly strip = document.createElement('canvas');
	private readonly space: HTMLElement;
	private readonly labels: Labels;
	private rowOf = new Map<number, Row>();
	private lut: Lut | null = null;
	private otherLut: Lut | null = null;
	private look: Look | null = null;
	private other: Other | null = null;
	private stalls = new Map<string, number>();
	private width = 0;
	private height = 0;
	private readonly watcher: ResizeObserver;
	readonly redraw: () => void;

	constructor(readonly app: App, readonly labelWidth: number, wrong: (e: unknown) => void) {
		this.base = h('canvas', { attrs: { 'aria-hidden': 'true' } });
		this.over = h('canvas', { class: 'over', attrs: { 'aria-hidden': 'true' } });
		this.space = h('div', { class: 'lanes-space' });
		this.scroller = h('div', {
			class: 'lanes', role: 'grid', tabIndex: 0,
			attrs: { 'aria-label': 'Lanes. Arrow keys move by slice and lane, Enter opens the instruction.', 'aria-roledescription': 'timeline' },
		}, h('div', { class: 'lanes-stage' }, this.base, this.over), this.space);
		this.labels = new Labels(this, this.space);
		this.redraw = framed(() => this.draw());
		this.tiles = new Tiles((q, signal) => app.source.ask('tile', { ...q, h: app.trace.hash, c: app.trace.index || undefined, base: q.mode === 'diff' ? this.baseIndex() : undefined }, signal), this.redraw, wrong);
		this.exact = new Exact((track, t0, t1, signal) => app.source.ask('slices', { c: app.trace.index || undefined, track, t0, t1 }, signal), this.redraw, wrong);
		this.scroller.addEventListener('scroll', this.redraw, { passive: true });
		this.watcher = new ResizeObserver(() => {
			this.arrange();
			this.redraw();
		});
		this.watcher.observe(this.scroller);
		void app.code().then((c) => {
			this.code = c;
			this.look = null;
			this.redraw();
		}, () => undefined);
	}

	close(): void {
		this.watcher.disconnect();
	}

	private baseIndex(): number | undefined {
		return baseCapture(this.app.trace, this.app.store.get().base)?.index;
	}

	/** Something in the store (or the theme) changed. */
	changed(state: Readonly<State>, keys: ReadonlySet<Key | 'theme' | 'size'>): void {
		const has = (...names: (Key | 'theme' | 'size')[]) => names.some((n) => keys.has(n));
		if (has('isMerged', 'scope', 'hash', 'kind')) this.lanes = state.kind === 'units' && !this.app.trace.has_pipes ? makeUnits(this.app.trace, state.scope) : makeLanes(this.app.trace, state.isMerged, state.scope);
		if (has('theme', 'mode')) this.lut = this.look = null;
		if (has('sort') && state.sort === 'stall') this.readStalls();
		if (has('isMerged', 'scope', 'hash', 'kind', 'sort', 'pins', 'hidden', 'order', 'folded', 'size', 'base', 'isStacked')) this.arrange();
		if (has('base', 'isStacked')) this.openOther(state.isStacked ? null : state.base);
		if (has('selection', 'query')) this.look = null;
		this.redraw();
	}

	/** Stalled cycles come from the waves' answer, never from pixels. */
	private readStalls(): void {
		type Wave = Record<string, number> & { accounting?: Record<string, number> };
		type Pipe = { core: string; pipe: string; accounting?: Record<string, number> };
		void this.app.verb<{ waves?: Wave[]; pipes?: Pipe[] }>('waves', { bins: 240, top: 'all' }).then((a) => {
			const lost = (x?: Record<string, number>) => (x?.stall ?? 0) + (x?.wait ?? 0);
			for (const w of a.data.waves ?? []) this.stalls.set(this.app.trace.levels.map((l) => w[l]).join('.'), lost(w.accounting));
			for (const q of a.data.pipes ?? []) this.stalls.set(q.core + '/' + q.pipe, lost(q.accounting));
			this.arrange();
			this.redraw();
		}, () => undefined);
	}

	private stallOf(track: number): number {
		const t = this.app.trace.tracks[track];
		return this.stalls.get(t.name) ?? this.stalls.get(t.coord.slice(0, this.app.trace.levels.length).join('.')) ?? 0;
	}

	private openOther(hash: string | null): void {
		this.other = null;
		const capture = baseCapture(this.app.trace, hash);
		if (capture)
			void Other.open(this.app, capture, this.redraw).then((o) => {
				if (this.app.store.get().base === hash && !this.app.store.get().isStacked) this.other = o;
				this.redraw();
			}, () => this.app.say('The other capture cannot be drawn'));
	}

	arrange(): void {
		const s = this.app.store.get(), seen = this.scroller.clientHeight || 300;
		const groups = new Set(this.lanes.map((l) => l.group)).size;
		const height = autoHeight(this.lanes.length - s.hidden.length, seen - groups * GROUP_HEIGHT) * (s.base && !s.isStacked ? 1.6 : 1);
		this.layout = layOut(this.app.trace, this.lanes, s, Math.round(height), (i) => this.stallOf(i));
		this.space.style.height = this.layout.height + 'px';
		this.rowOf = new Map();
		for (const row of this.layout.rows) for (const t of row.lane?.tracks ?? []) if (!this.rowOf.has(t)) this.rowOf.set(t, row);
	}

	scale(): Scale {
		const { t0, t1 } = this.app.store.get();
		return { t0, t1, width: Math.max(1, this.width) };
	}

	size(): { width: number; height: number } {
		return { width: this.width, height: this.height };
	}

	/** Row of a track, if it is neither hidden nor folded away. */
	rowOfTrack(track: number): Row | undefined {
		return this.rowOf.get(track);
	}

	/** Top of a row within the canvas: pinned ones stay. */
	yOf(row: Row): number {
		return row.lane?.isPinned ? row.top : row.top - this.scroller.scrollTop;
	}

	/** The row under a point of the canvas. */
	rowUnder(y: number): Row | null {
		const at = rowAt(this.layout.rows, y < this.layout.pinned ? y : y + this.scroller.scrollTop);
		return at < 0 ? null : this.layout.rows[at];
	}

	/** Rows in sight, pinned ones first. */
	visible(): Row[] {
		const rows = this.layout.rows, top = this.scroller.scrollTop + this.layout.pinned, out: Row[] = [];
		for (const r of rows) {
			if (r.lane?.isPinned) out.push(r);
			else break;
		}
		let i = Math.max(out.length, rowAt(rows, top));
		for (; i < rows.length && rows[i].top < this.scroller.scrollTop + this.height; i++) out.push(rows[i]);
		return out;
	}

	/** Brings a row into sight. */
	reveal(row: Row): void {
		if (row.lane?.isPinned) return;
		const from = this.scroller.scrollTop + this.layout.pinned, to = this.scroller.scrollTop + this.height;
		if (row.top < from) this.scroller.scrollTop = Math.max(0, row.top - this.layout.pinned - GROUP_HEIGHT);
		else if (row.top + row.height > to) this.scroller.scrollTop = row.top + row.height - this.height + 4;
	}

	private fit(): number {
		const ratio = window.devicePixelRatio || 1;
		const width = Math.max(0, this.scroller.clientWidth - this.labelWidth), height = this.scroller.clientHeight;
		for (const c of [this.base, this.over]) {
			if (c.width !== Math.round(width * ratio) || c.height !== Math.round(height * ratio)) {
				c.width = Math.round(width * ratio);
				c.height = Math.round(height * ratio);
				c.style.width = width + 'px';
				c.style.height = height + 'px';
			}
		}
		this.width = width;
		this.height = height;
		return ratio;
	}

	/** Slices in the window, by the tracks' own density: enough to choose how to draw. */
	private estimate(rows: Row[]): number {
		const { t0, t1 } = this.scale();
		let n = 0;
		for (const i of new Set(rows.flatMap((r) => r.lane?.tracks ?? []))) {
			const t = this.app.trace.tracks[i], part = Math.min(t1, t.end) - Math.max(t0, t.begin);
			if (part > 0) n += (t.slices * part) / Math.max(1, t.end - t.begin);
		}
		return n;
	}

	private prepare(g: CanvasRenderingContext2D): Look {
		const p = this.app.palette(), s = this.app.store.get();
		if (!this.lut) {
			this.lut = makeLut(p, this.colours());
			this.otherLut = s.mode === 'diff' ? makeLut(p, p.slots) : this.lut;
		}
		if (this.look) return this.look;
		const trace = this.app.trace, sel = s.selection;
		const matches = this.matches;
		const isBucket = s.mode === 'bucket';
		const colour = isBucket ? (cls: number) => p.buckets[trace.classes[cls]?.slot === 10 ? 4 : 0] : (cls: number, track: number) => p.slots[slotOf(trace, cls, track)];
		const wanted = sel && sel.kind !== 'box' && sel.kind !== 'range' ? sel.code : undefined;
		const line = sel?.kind === 'line' ? sel : null;
		this.look = {
			palette: p, trace, code: this.code, colour, isBucket, hatch: makeHatch(g, p), calls: 0,
			isMarked: (code) => code !== NO_CODE && (code === wanted || matches.has(code) ||
				(!!line && this.code !== null && this.code.source[code] === line.source && this.code.line[code] === line.line)),
		};
		return this.look;
	}

	/** Code rows that a search found. */
	matches = new Set<number>();
	setMatches(codes: Iterable<number>): void {
		this.matches = new Set(codes);
		this.look = null;
		this.redraw();
	}

	private colours(): readonly string[] {
		const p = this.app.palette(), mode = this.app.store.get().mode;
		if (mode === 'bucket') return p.buckets;
		if (mode === 'diff') return [p.dim, p.worse, p.better, p.buckets[4]];
		if (mode === 'class') return p.slots;
		return Array.from({ length: 12 }, (_, i) => colourOf(p, i));
	}

	private draw(): void {
		const began = performance.now(), ratio = this.fit();
		const g = this.base.getContext('2d');
		if (!g || !this.width || !this.height) return;
		const rows = this.visible(), p = this.app.palette(), s = this.app.store.get();
		const look = this.prepare(g);
		look.calls = 0;
		g.setTransform(ratio, 0, 0, ratio, 0, 0);
		g.fillStyle = p.background;
		g.fillRect(0, 0, this.width, this.height);
		g.font = '11px ui-monospace, "DejaVu Sans Mono", monospace';
		g.textBaseline = 'middle';
		const isExact = this.estimate(rows) <= EXACT_LIMIT && (s.mode === 'class' || s.mode === 'bucket');
		const lanes = rows.filter((r) => r.lane);
		this.backgrounds(g, rows);
		this.exact.isCut = false;
		if (!isExact) this.wantTiles(lanes);
		this.drawLanes(g, lanes, isExact, ratio, look);
		if (this.exact.isCut) this.wantTiles(lanes);
		this.labels.draw(rows);
		Object.assign(this.stats, { calls: look.calls, rows: rows.length, isExact, level: levelOf((s.t1 - s.t0) / Math.max(1, this.base.width)) });
		this.drawn();
		if (isExact ? this.exact.isQuiet() : this.tiles.count() > 0 && !this.tiles.waiting()) this.settled();
		const ms = performance.now() - began;
		this.stats.frames++;
		this.stats.last_ms = ms;
		this.stats.worst_ms = Math.max(this.stats.worst_ms, ms);
		this.stats.times.push(ms);
		if (this.stats.times.length > 1000) this.stats.times.shift();
	}

	private clipBelowPins(g: CanvasRenderingContext2D, row: Row): void {
		g.save();
		if (row.lane?.isPinned || !this.layout.pinned) return;
		g.beginPath();
		g.rect(0, this.layout.pinned, this.width, this.height);
		g.clip();
	}

	private backgrounds(g: CanvasRenderingContext2D, rows: Row[]): void {
		const p = this.app.palette();
		for (const r of rows) {
			this.clipBelowPins(g, r);
			g.fillStyle = r.kind === 'group' ? p.stripe : r.isOdd ? p.stripe : p.background;
			g.fillRect(0, this.yOf(r), this.width, r.height);
			if (r.kind === 'group') {
				g.fillStyle = p.grid;
				g.fillRect(0, this.yOf(r), this.width, 1);
			}
			g.restore();
		}
		if (this.layout.pinned) {
			g.fillStyle = p.accent;
			g.fillRect(0, this.layout.pinned - 1, this.width, 1);
		}
	}

	private wantTiles(lanes: Row[]): void {
		const s = this.app.store.get(), level = levelOf((s.t1 - s.t0) / Math.max(1, this.base.width));
		const blocks = new Set<number>();
		for (const r of lanes)
			for (const i of r.lane!.tracks) {
				const t = this.app.trace.tracks[i];
				if (t.end > s.t0 - (s.t1 - s.t0) && t.begin < s.t1 + (s.t1 - s.t0)) blocks.add(Math.floor(i / TRACKS));
			}
		this.tiles.want({ t0: s.t0, t1: s.t1, level, mode: s.mode, blocks: [...blocks], end: this.app.trace.span.end, tracks: this.app.trace.tracks.length });
	}

	private drawLanes(g: CanvasRenderingContext2D, lanes: Row[], isExact: boolean, ratio: number, look: Look): void {
		const scale = this.scale(), pixels = Math.max(1, this.base.width);
		const span: Span = { t0: scale.t0, perPixel: (scale.t1 - scale.t0) / pixels, width: pixels };
		const rasters: Row[] = [], mode = this.app.store.get().mode;
		for (const r of lanes) {
			const lane = r.lane!, share = this.other ? 0.6 : 1;
			const band = { y: this.yOf(r) + 2, height: (r.height - 4) * share, lanes: lane.lanes, only: lane.only };
			const inSight = lane.tracks.filter((i) => this.app.trace.tracks[i].end > scale.t0 && this.app.trace.tracks[i].begin < scale.t1);
			const slices = isExact ? inSight.map((i) => this.exact.get(i, Math.max(0, Math.floor(scale.t0)), Math.ceil(scale.t1))) : [null];
			if (isExact && slices.every((s) => s)) {
				this.clipBelowPins(g, r);
				for (const s of slices) drawSlices(g, s!, scale, band, look);
				g.restore();
				if (!this.other) continue;
			}
			rasters.push(r);
		}
		if (rasters.length) this.drawRasters(g, rasters, span, mode, ratio, isExact);
	}

	private drawRasters(g: CanvasRenderingContext2D, rows: Row[], span: Span, mode: State['mode'], ratio: number, isExact: boolean): void {
		const per = this.other ? 4 : 2;
		const image = new ImageData(span.width, rows.length * per), out = new Uint32Array(image.data.buffer);
		rows.forEach((r, k) => {
			const at = k * per * span.width;
			for (const i of r.lane!.tracks) this.rasterTrack(out, at, span, this.tiles, mode, i, this.app.trace, r.lane!.only);
			if (this.other) this.rasterOther(out, at + 2 * span.width, span, r.lane!);
		});
		if (this.strip.width !== span.width || this.strip.height < rows.length * per) {
			this.strip.width = span.width;
			this.strip.height = Math.max(64, rows.length * per);
		}
		this.strip.getContext('2d')!.putImageData(image, 0, 0);
		g.imageSmoothingEnabled = false;
		rows.forEach((r, k) => {
			this.clipBelowPins(g, r);
			const y = this.yOf(r) + 2, full = (r.height - 4) * (this.other ? 0.58 : 1), strip = Math.max(2, Math.min(5, full * 0.22));
			if (!(isExact && this.other)) {
				g.drawImage(this.strip, 0, k * per, span.width, 1, 0, y, span.width / ratio, full - strip - 1);
				g.drawImage(this.strip, 0, k * per + 1, span.width, 1, 0, y + full - strip, span.width / ratio, strip);
			}
			if (this.other) g.drawImage(this.strip, 0, k * per + 2, span.width, 1, 0, y + full + 2, span.width / ratio, r.height - 4 - full - 2);
			this.look!.calls += this.other ? 3 : 2;
			g.restore();
		});
	}

	/** B's lane under its partner, moved as the user lines them up. */
	private rasterOther(out: Uint32Array, at: number, span: Span, lane: Lane): void {
		const o = this.other!, { mode: own, align } = this.app.store.get(), mode = own === 'diff' ? 'class' : own;
		for (const i of lane.tracks) {
			const partner = o.partner(i);
			if (partner === undefined) continue;
			const moved = { ...span, t0: span.t0 - o.shift(i, partner, align) };
			const block = Math.floor(partner / TRACKS), level = levelOf(span.perPixel);
			o.tiles.want({ t0: moved.t0, t1: moved.t0 + span.perPixel * span.width, level, mode, blocks: [block], end: o.trace.span.end, tracks: o.trace.tracks.length });
			this.rasterTrack(out, at, moved, o.tiles, mode, partner, o.trace, null, this.otherLut!);
		}
	}

	private rasterTrack(out: Uint32Array, at: number, span: Span, tiles: Tiles, mode: State['mode'], track: number, trace: TraceInfo, only: Lane['only'] = null, lut = this.lut!): void {
		const t = trace.tracks[track], t1 = span.t0 + span.perPixel * span.width;
		if (t.end <= span.t0 || t.begin >= t1) return;
		const block = Math.floor(track / TRACKS), level = levelOf(span.perPixel);
		const [from, to] = tilesOf(Math.max(span.t0, t.begin, 0), Math.min(t1, t.end), level);
		for (let i = from; i <= to; i++) {
			const tile = tiles.get(mode, level, block, i);
			const [a, b] = pixelsOf({ level, i }, span);
			if (tile) rasterTile(out, at, span, tile, track, lut, a, b, only);
			else this.standIn(out, at, span, tiles, mode, track, a, b, lut);
		}
	}

	private standIn(out: Uint32Array, at: number, span: Span, tiles: Tiles, mode: State['mode'], track: number, a: number, b: number, lut: Lut): void {
		const level = levelOf(span.perPixel);
		for (let x = a; x < b;) {
			const tile = tiles.nearest(mode, level, Math.floor(track / TRACKS), span.t0 + (x + 0.5) * span.perPixel);
			if (!tile) {
				x += 32;
				continue;
			}
			const end = Math.min(b, Math.max(x + 1, pixelsOf(tile, span)[1]));
			rasterTile(out, at, span, tile, track, lut, x, end);
			x = end;
		}
	}
}
