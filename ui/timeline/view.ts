// SPDX-License-Identifier: Apache-2.0
// view.ts: the timeline. Draws in an animation frame and only when something changed; rows outside the window are neither drawn nor in
// the page. Two canvases: the lanes, and over them what follows the mouse.
import { App } from '../app';
import { framed, h } from '../base/dom';
import { baseCapture, CodeTable, NO_CODE, Query } from '../source';
import { Key, Mode, State } from '../state';
import { drawEdges, drawSlices, drawUnread, Look, lostHatch, makeHatch, Scale } from './draw';
import { Exact } from './exact';
import { autoHeight, cellsOf, GROUP_HEIGHT, hasUnits, isUnread, Lane, Layout, layOut, makeLanes, makeUnits, namesAround, Row, rowAt, slicesIn, tileName, tracksIn, UNIT_ROWS, unitOf } from './lanes';
import { Labels } from './labels';
import { Other } from './other';
import { busyOf, Lut, makeLut, modeColours, pixel, Span } from './raster';
import { Stalls } from './stalls';
import { LanePicture, Picture, Strips } from './strips';
import { CELLS, levelOf, ROWS, SMALL, TileQuery, Tiles, Window } from './tiles';

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
	private readonly strips = new Strips();
	/** busy cycles of the units of each SIMD; executions of what a search found */
	private readonly units: Tiles;
	private readonly found: Tiles;
	private question: Query | null = null;
	private readonly space: HTMLElement;
	private readonly labels: Labels;
	private rowOf = new Map<number, Row>();
	private lut: Lut | null = null;
	private otherLut: Lut | null = null;
	private look: Look | null = null;
	private other: Other | null = null;
	private readonly stalls: Stalls;
	private width = 0;
	private height = 0;
	/** kept, because to ask for them makes the browser lay out the page: once a frame, not once a lane */
	private top = 0;
	/** how often the rows were laid out anew */
	arranged = 0;
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
		this.stalls = new Stalls(app);
		const c = app.trace.index || undefined, rest = (q: TileQuery) => ({ c, level: q.level, i: q.i, kernel: q.scope ?? undefined }), arrived = this.redraw;
		this.tiles = new Tiles((q, signal) => app.source.ask('tile', { ...rest(q), mode: q.mode, lanes: q.names, h: app.trace.hash, base: q.mode === 'diff' ? this.baseIndex() : undefined }, signal), { arrived, wrong });
		this.found = new Tiles((q, signal) => app.source.ask('found', { ...rest(q), ...this.question, lanes: q.names }, signal), { arrived, budget: SMALL });
		this.units = new Tiles((q, signal) => app.source.ask('units', { ...rest(q), simds: q.names }, signal), { arrived, wrong, budget: SMALL, magic: 'ICU1', per: UNIT_ROWS });
		this.exact = new Exact((track, t0, t1, signal) => app.source.ask('slices', { c: app.trace.index || undefined, track, t0, t1 }, signal), this.redraw, wrong);
		this.scroller.addEventListener('scroll', () => {
			this.top = this.scroller.scrollTop;
			this.redraw();
		}, { passive: true });
		this.watcher = new ResizeObserver(() => {
			this.measure();
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
		if (has('isMerged', 'scope', 'hash', 'kind')) this.lanes = state.kind === 'units' && hasUnits(this.app.trace) ? makeUnits(this.app.trace, state.scope) : makeLanes(this.app.trace, state.isMerged, state.scope);
		if (has('theme', 'mode')) this.lut = this.look = null;
		if (has('sort') && state.sort === 'stall')
			this.stalls.read(() => {
				this.arrange();
				this.redraw();
			});
		if (has('isMerged', 'scope', 'hash', 'kind', 'sort', 'pins', 'hidden', 'order', 'folded', 'size', 'base', 'isStacked')) this.arrange();
		if (has('base', 'isStacked')) this.openOther(state.isStacked ? null : state.base);
		if (has('selection', 'query', 'isLettered')) this.look = null;
		this.redraw();
	}

	private measure(): void {
		this.top = this.scroller.scrollTop;
		this.width = Math.max(0, this.scroller.clientWidth - this.labelWidth);
		this.height = this.scroller.clientHeight;
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
		this.layout = layOut(this.app.trace, this.lanes, s, Math.round(height), (i) => this.stalls.of(i));
		this.arranged++;
		this.space.style.height = this.layout.height + 'px';
		this.top = this.scroller.scrollTop;
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
		return row.lane?.isPinned ? row.top : row.top - this.top;
	}

	/** The row under a point of the canvas. */
	rowUnder(y: number): Row | null {
		const at = rowAt(this.layout.rows, y < this.layout.pinned ? y : y + this.top);
		return at < 0 ? null : this.layout.rows[at];
	}

	/** Rows in sight, pinned ones first. */
	visible(): Row[] {
		const rows = this.layout.rows, top = this.top + this.layout.pinned, out: Row[] = [];
		for (const r of rows) {
			if (r.lane?.isPinned) out.push(r);
			else break;
		}
		let i = Math.max(out.length, rowAt(rows, top));
		for (; i < rows.length && rows[i].top < this.top + this.height; i++) out.push(rows[i]);
		return out;
	}

	/** Brings a row into sight. */
	reveal(row: Row): void {
		if (row.lane?.isPinned) return;
		const from = this.scroller.scrollTop + this.layout.pinned, to = this.scroller.scrollTop + this.height;
		if (row.top < from) this.scroller.scrollTop = Math.max(0, row.top - this.layout.pinned - GROUP_HEIGHT);
		else if (row.top + row.height > to) this.scroller.scrollTop = row.top + row.height - this.height + 4;
		this.top = this.scroller.scrollTop;
	}

	/** Pixels of a picture that is saved; 0: of the screen. */
	private pictureRatio = 0;

	/** What is in sight, so many pixels a pixel, drawn at once from what is at hand; the screen is drawn again afterwards. */
	snapshot(ratio: number, use: (lanes: HTMLCanvasElement, over: HTMLCanvasElement) => void): void {
		this.pictureRatio = ratio;
		this.draw();
		use(this.base, this.over);
		this.pictureRatio = 0;
		this.draw();
	}

	/** Device pixels a pixel. */
	ratio(): number {
		return this.pictureRatio || window.devicePixelRatio || 1;
	}

	private fit(): number {
		const ratio = this.ratio(), { width, height } = this;
		for (const c of [this.base, this.over]) {
			if (c.width !== Math.round(width * ratio) || c.height !== Math.round(height * ratio)) {
				c.width = Math.round(width * ratio);
				c.height = Math.round(height * ratio);
				c.style.width = width + 'px';
				c.style.height = height + 'px';
			}
		}
		return ratio;
	}

	private prepare(g: CanvasRenderingContext2D): Look {
		const p = this.app.palette(), s = this.app.store.get();
		if (!this.lut) {
			this.lut = makeLut(p, this.colours(), s.mode === 'class');
			// asked of B the change runs from B to A: its colours are swapped, so that a row has one colour on both sides
			this.otherLut = s.mode === 'diff' ? makeLut(p, modeColours(p, 'diff', true), false) : this.lut;
		}
		if (this.look) return this.look;
		const trace = this.app.trace, sel = s.selection;
		const matches = this.matches;
		const isBucket = s.mode === 'bucket';
		const colour = isBucket ? (slot: number) => p.buckets[slot === 10 ? 4 : 0] : (slot: number) => p.slots[slot];
		const wanted = sel && sel.kind !== 'box' && sel.kind !== 'range' ? sel.code : undefined;
		const line = sel?.kind === 'line' ? sel : null;
		this.look = {
			palette: p, trace, code: this.code, colour, isBucket, isLettered: s.isLettered, hatch: lostHatch(g), noteHatch: makeHatch(g, p.worse, p.background), calls: 0, ratio: 1,
			isMarked: (code) => code !== NO_CODE && (code === wanted || matches.has(code) ||
				(!!line && this.code !== null && this.code.source[code] === line.source && this.code.line[code] === line.line)),
		};
		return this.look;
	}

	/** Code rows that a search found, tracks whose name it found, and the question whose answer shows their executions on the lanes. */
	matches = new Set<number>();
	named = new Set<number>();
	setMatches(codes: Iterable<number>, question: Query | null, tracks: Iterable<number>): void {
		this.matches = new Set(codes);
		this.named = new Set(tracks);
		this.question = question;
		this.found.clear();
		this.arranged++;
		this.look = null;
		this.redraw();
	}

	/** What the cells of the colour mode are drawn in. */
	colours(): readonly string[] {
		return modeColours(this.app.palette(), this.app.store.get().mode);
	}

	private draw(): void {
		const began = performance.now(), ratio = this.fit();
		const g = this.base.getContext('2d');
		if (!g || !this.width || !this.height) return;
		const rows = this.visible(), p = this.app.palette(), s = this.app.store.get();
		const look = this.prepare(g);
		Object.assign(look, { calls: 0, ratio });
		g.setTransform(ratio, 0, 0, ratio, 0, 0);
		g.fillStyle = p.background;
		g.fillRect(0, 0, this.width, this.height);
		g.font = '11px ui-monospace, "DejaVu Sans Mono", monospace';
		g.textBaseline = 'middle';
		const isExact = slicesIn(this.app.trace, rows, s.t0, s.t1, EXACT_LIMIT) <= EXACT_LIMIT && (s.mode === 'class' || s.mode === 'bucket');
		const lanes = rows.filter((r) => r.lane);
		this.backgrounds(g, rows);
		this.exact.begin();
		const asCells = isExact ? lanes.filter((r) => r.lane!.isModelled) : lanes;
		if (asCells.length) this.wantTiles(asCells);
		this.drawLanes(g, lanes, isExact, ratio, look);
		if (this.exact.isCut) this.wantTiles(lanes);
		if (this.question) this.drawFound(g, lanes, ratio);
		this.labels.draw(rows);
		Object.assign(this.stats, { calls: look.calls, rows: rows.length, isExact, level: levelOf((s.t1 - s.t0) / Math.max(1, this.base.width)) });
		this.drawn();
		const shown = s.kind === 'units' && lanes[0]?.lane!.only ? this.units : this.tiles;
		if (isExact ? this.exact.isQuiet() : shown.count() > 0 && !shown.waiting()) this.settled();
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
			g.fillStyle = r.kind === 'group' ? p.surface : r.isOdd ? p.stripe : p.background;
			g.fillRect(0, this.yOf(r), this.width, r.height);
			if (r.kind === 'group' || r.isOdd) {
				g.fillStyle = p.grid;
				g.fillRect(0, this.yOf(r) + (r.isOdd ? r.height - 0.5 : 0), this.width, r.isOdd ? 0.5 : 1);
			}
			g.restore();
		}
		if (this.layout.pinned) {
			g.fillStyle = p.accent;
			g.fillRect(0, this.layout.pinned - 1, this.width, 1);
		}
	}

	/** What is wanted of the lanes in sight; beside them, those above and below. */
	private wanted(lanes: Row[]): Window {
		const s = this.app.store.get(), isUnits = lanes.some((r) => r.lane!.only);
		return {
			t0: s.t0, t1: s.t1, level: levelOf((s.t1 - s.t0) / Math.max(1, this.base.width)), mode: isUnits ? 'class' : s.mode, scope: s.scope,
			names: [...new Set(lanes.map((r) => tileName(r.lane!)))], around: () => namesAround(this.layout.rows, lanes, ROWS), end: this.app.trace.span.end,
		};
	}

	private wantTiles(lanes: Row[]): void {
		const w = this.wanted(lanes);
		(lanes.some((r) => r.lane!.only) ? this.units : this.tiles).want(w);
	}

	private picture(rows: Row[], ratio: number, g: CanvasRenderingContext2D, fill: Picture['fill']): Picture {
		const scale = this.scale(), width = Math.max(1, this.base.width);
		const span: Span = { t0: scale.t0, perPixel: (scale.t1 - scale.t0) / width, width };
		return { rows, span, ratio, palette: this.app.palette(), yOf: (r) => this.yOf(r), clip: (r) => this.clipBelowPins(g, r), fill };
	}

	private drawFound(g: CanvasRenderingContext2D, lanes: Row[], ratio: number): void {
		const rows = lanes.filter((r) => !r.lane!.only), colour = pixel(this.app.palette().accent);
		if (!rows.length) return;
		this.found.want({ ...this.wanted(rows), mode: 'class' });
		const layer = Tiles.layer('class', this.app.store.get().scope);
		const p = this.picture(rows, ratio, g, (at, r) => this.strips.fillFound(at, p.span, this.found, layer, cellsOf(this.app.trace, r.lane!), colour));
		this.look!.calls += this.strips.found(g, p);
	}

	/** The busy share of a unit in the pixel at a time, as C counted it: cycles of how many. */
	busyAt(lane: Lane, t: number): { busy: number; of: number } | null {
		const strip = this.units.nearest(Tiles.layer('class', this.app.store.get().scope), this.stats.level, tileName(lane), t), of = strip ? 2 ** strip.tile.level : 1;
		return strip ? { busy: busyOf(strip.tile, strip.row + unitOf(lane), Math.floor(t / of) - strip.tile.i * CELLS), of } : null;
	}

	private drawLanes(g: CanvasRenderingContext2D, lanes: Row[], isExact: boolean, ratio: number, look: Look): void {
		const scale = this.scale(), rest: Row[] = [], { tracks } = this.app.trace;
		const t0 = Math.max(0, Math.floor(scale.t0)), t1 = Math.ceil(scale.t1);
		for (const r of isExact ? lanes : []) {
			const lane = r.lane!, band = { y: this.yOf(r) + 2, height: (r.height - 4) * (this.other ? 0.6 : 1), lanes: lane.lanes, only: lane.only };
			const shown = tracksIn(this.app.trace, lane, scale.t0, scale.t1), slices = shown.map((i) => this.exact.get(i, t0, t1));
			if (!lane.isModelled && slices.every((s) => s)) {
				this.clipBelowPins(g, r);
				for (const s of slices) drawSlices(g, s!, scale, band, look);
				if (!lane.only) drawEdges(g, shown.map((i) => tracks[i]), scale, band, look);
				g.restore();
				if (!this.other) continue;
			}
			rest.push(r);
		}
		this.drawCells(g, isExact ? rest : lanes, ratio, isExact);
		for (const r of this.app.trace.counts.unread_tracks ? lanes : []) drawUnread(g, r.lane!.tracks.filter((i) => isUnread(this.app.trace, i)).map((i) => tracks[i]), scale, { y: this.yOf(r) + 2, height: r.height - 4 }, look);
	}

	private drawCells(g: CanvasRenderingContext2D, rows: Row[], ratio: number, isExact: boolean): void {
		const { mode, scope } = this.app.store.get(), { trace } = this.app, p = this.app.palette(), bars = rows.filter((r) => r.lane!.only), plain = rows.filter((r) => !r.lane!.only);
		if (bars.length) {
			const of = this.picture(bars, ratio, g, (at, r) => this.strips.fillBusy(at, of.span, this.units, Tiles.layer('class', scope), cellsOf(trace, r.lane!), unitOf(r.lane!), pixel(p.slots[[...r.lane!.only!][0]])));
			this.look!.calls += this.strips.bars(g, of);
		}
		if (!plain.length) return;
		this.other?.want(plain.flatMap((r) => r.lane!.tracks), this.scale(), this.base.width, mode);
		const of: LanePicture = { ...this.picture(plain, ratio, g, (at, r) => {
			if (this.other) this.fillOther(at + 3 * of.span.width, of.span, r.lane!, mode);
			return this.strips.fillCells(at, of.span, this.tiles, Tiles.layer(mode, scope), cellsOf(trace, r.lane!), this.lut!);
		}), isOwn: !(isExact && this.other), hasOther: !!this.other, hasStrip: !!this.lut!.strip, hatch: this.look!.noteHatch, note: this.lut!.note };
		this.look!.calls += this.strips.lanes(g, of);
	}

	/** B's lane under its partner, moved as the user lines them up. */
	private fillOther(at: number, span: Span, lane: Lane, mode: Mode): void {
		const o = this.other!, { align } = this.app.store.get();
		for (const i of lane.tracks) {
			const partner = o.partner(i);
			if (partner !== undefined) this.strips.fillCells(at, { ...span, t0: span.t0 - o.shift(i, partner, align) }, o.tiles, mode, { ...o.trace.tracks[partner], name: String(partner) }, this.otherLut!);
		}
	}
}
