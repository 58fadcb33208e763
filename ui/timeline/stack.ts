// SPDX-License-Identifier: Apache-2.0
// stack.ts: all lanes of the capture that is compared with, under those of the one shown and on the same axis: also those that have no partner.
import { App } from '../app';
import { fill, framed, h } from '../base/dom';
import { sideChip } from '../panels/versus';
import { baseCapture } from '../source';
import { Key, State } from '../state';
import { Lane, laneName, makeLanes } from './lanes';
import { Other } from './other';
import { Lut, makeLut, modeColours, pixelsOf, rasterTile, Span } from './raster';
import { levelOf, tilesOf } from './tiles';

const ROW = 24, HEAD = 24;

export class Stack {
	readonly element: HTMLElement;
	private readonly head = h('div', { class: 'stack-head' });
	private readonly scroller = h('div', { class: 'stack-lanes', tabIndex: 0, role: 'img' });
	private readonly canvas = h('canvas', { attrs: { 'aria-hidden': 'true' } });
	private readonly space = h('div');
	private readonly strip = h('canvas');
	private readonly draw = framed(() => this.paint());
	private other: Other | null = null;
	private opened = '';
	private lanes: Lane[] = [];
	private lut: Lut | null = null;
	private readonly places: Map<string, number>;

	constructor(private readonly app: App, private readonly labels: number) {
		this.places = new Map(app.trace.tracks.map((t) => [t.coord.join('.'), t.index]));
		this.element = h('div', { class: 'stack', hidden: true }, this.head, this.scroller);
		this.scroller.append(this.canvas, this.space);
		this.scroller.addEventListener('scroll', this.draw, { passive: true });
		this.scroller.addEventListener('mousemove', (e) => {
			const lane = this.lanes[Math.floor((e.clientY - this.scroller.getBoundingClientRect().top + this.scroller.scrollTop) / ROW)];
			this.scroller.title = lane && this.other ? laneName(this.other.trace, lane) : '';
		});
	}

	changed(s: Readonly<State>, keys: ReadonlySet<Key | 'theme' | 'size'>): void {
		const c = s.isStacked ? baseCapture(this.app.trace, s.base) : null, wanted = c ? `${c.index} ${s.isMerged}` : '';
		this.element.hidden = !c;
		if (keys.has('theme') || keys.has('mode')) this.lut = null;
		if (c && wanted !== this.opened) void Other.open(this.app, c, this.draw).then((o) => {
			if (this.opened !== wanted) return;
			this.other = o;
			this.lanes = makeLanes(o.trace, s.isMerged, null);
			fill(this.head, sideChip(this.app, 'B', c.index), `: ${this.lanes.length} lanes, ${this.lanes.filter((l) => this.partner(l.tracks[0]) === undefined).length} without a partner above`);
			this.scroller.setAttribute('aria-label', `${this.lanes.length} lanes of ${c.path}, which this capture is compared with`);
			this.draw();
		}, () => this.app.say('The other capture cannot be drawn'));
		this.opened = wanted;
		if (c) this.draw();
	}

	/** The track of A at the same place. */
	private partner(track: number): number | undefined {
		return this.places.get(this.other!.trace.tracks[track].coord.join('.'));
	}

	/** Asked of B the change runs from B to A: its colours are swapped, so that a row has one colour in both. */
	private colours(): Lut {
		const p = this.app.palette(), { mode } = this.app.store.get();
		return this.lut ??= makeLut(p, modeColours(p, mode, true), mode === 'class');
	}

	private paint(): void {
		if (!this.other || this.element.hidden) return;
		const s = this.app.store.get();
		const all = this.element.parentElement?.clientHeight ?? 400, height = Math.min(this.lanes.length * ROW, Math.max(3 * ROW, Math.round(all * 0.4) - HEAD));
		const ratio = devicePixelRatio || 1, wide = this.scroller.clientWidth, g = this.canvas.getContext('2d')!, p = this.app.palette();
		this.scroller.style.height = height + 'px';
		this.space.style.height = this.lanes.length * ROW - height + 'px';
		if (wide <= this.labels) return;
		this.canvas.width = Math.round(wide * ratio);
		this.canvas.height = Math.round(height * ratio);
		this.canvas.style.width = wide + 'px';
		this.canvas.style.height = height + 'px';
		g.setTransform(ratio, 0, 0, ratio, 0, 0);
		g.fillStyle = p.background;
		g.fillRect(0, 0, wide, height);
		g.font = '12px system-ui, sans-serif';
		g.textBaseline = 'middle';
		const top = this.scroller.scrollTop, from = Math.floor(top / ROW), shown = this.lanes.slice(from, Math.ceil((top + height) / ROW));
		const span = { t0: s.t0, perPixel: (s.t1 - s.t0) / Math.round((wide - this.labels) * ratio), width: Math.round((wide - this.labels) * ratio) };
		this.want(shown, span);
		shown.forEach((lane, i) => this.lane(g, lane, span, (from + i) * ROW - top, (from + i) & 1 ? p.stripe : p.background, ratio));
	}

	/** What is added to the time of a track of B. */
	private shift(track: number): number {
		const here = this.partner(track);
		return here === undefined ? 0 : this.other!.shift(here, track, this.app.store.get().align);
	}

	/** Asks for all of them at once: what is not named is given up. */
	private want(lanes: Lane[], span: Span): void {
		const moved = lanes.flatMap((l) => l.tracks).map((i): [number, number] => [i, this.shift(i)]);
		this.other!.ask(moved, span.t0, span.t0 + span.perPixel * span.width, span.width, this.app.store.get().mode);
	}

	private lane(g: CanvasRenderingContext2D, lane: Lane, span: Span, y: number, ground: string, ratio: number): void {
		const { mode } = this.app.store.get(), p = this.app.palette(), o = this.other!, wide = span.width, level = levelOf(span.perPixel);
		const image = new ImageData(wide, 2), out = new Uint32Array(image.data.buffer);
		for (const i of lane.tracks) {
			const moved = { ...span, t0: span.t0 - this.shift(i) }, t = o.trace.tracks[i], end = moved.t0 + span.perPixel * wide;
			if (t.end <= moved.t0 || t.begin >= end) continue;
			const [a, b] = tilesOf(Math.max(moved.t0, t.begin, 0), Math.min(end, t.end), level);
			for (let k = a; k <= b; k++) {
				const strip = o.tiles.get(mode, level, String(i), k), [x0, x1] = pixelsOf({ level, i: k }, moved);
				if (strip) rasterTile(out, 0, moved, strip, this.colours(), x0, x1);
			}
		}
		const strip = this.strip;
		if (strip.width !== wide) Object.assign(strip, { width: wide, height: 2 });
		strip.getContext('2d')!.putImageData(image, 0, 0);
		g.fillStyle = ground;
		g.fillRect(0, y, this.scroller.clientWidth, ROW);
		g.fillStyle = p.text;
		g.fillText(laneName(o.trace, lane), 10, y + ROW / 2, this.labels - 14);
		g.imageSmoothingEnabled = false;
		g.drawImage(strip, 0, 0, wide, 1, this.labels, y + 2, wide / ratio, ROW - (this.colours().strip ? 9 : 4));
		if (this.colours().strip) g.drawImage(strip, 0, 1, wide, 1, this.labels, y + ROW - 6, wide / ratio, 4);
	}
}
