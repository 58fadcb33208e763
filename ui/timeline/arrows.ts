// SPDX-License-Identifier: Apache-2.0
// arrows.ts: what waited for what, the costliest first, each in the colour of what was waited for. Kinds are told apart by dash and label (a
// key names them where there are too many for labels), the last arrival is bold, a candidate is faint; at most 2,000 are asked for and the rest
// is counted aloud. A click on an arrow goes along it.
import { App } from '../app';
import { count, cyclesWith } from '../base/format';
import { Palette } from '../base/palette';
import { Link, LINK_KINDS, Query, ranges, readLinks, sliceRow } from '../source';
import { Timeline } from './view';
import { xOf } from './draw';

/** labels on this many; without a halo and in one stroke a kind beyond so many; a view that moves is asked about when it rests */
const LABELLED = 12, PLAIN = 200, REST_MS = 120;
const DASH: Record<string, number[]> = { wait: [], flag: [7, 3], barrier: [2, 3], 'cross-core': [10, 3, 2, 3], flow: [4, 4], branch: [1, 3] };

export class Arrows {
	links: Link[] = [];
	more = 0;
	private key = '';
	private timer = 0;
	private control: AbortController | null = null;

	constructor(private readonly app: App, private readonly view: Timeline, private readonly changed: () => void) {}

	/** Asks for what the mode and the selection need; the same question once. */
	update(): void {
		const s = this.app.store.get(), sel = s.selection, c = this.app.trace.index || undefined;
		let query: Query | null = null;
		if (s.arrows === 'selection' && sel?.kind === 'slice' && sel.slice !== undefined) query = { c, track: sel.track, slice: sel.slice };
		else if (s.arrows === 'selection' && sel?.kind === 'code') query = { c, code: sel.code, t0: Math.floor(Math.max(0, s.t0)), t1: Math.ceil(s.t1) };
		else if (s.arrows === 'visible') {
			const tracks = this.view.visible().flatMap((r) => r.lane?.tracks ?? []);
			if (tracks.length) query = { c, t0: Math.floor(Math.max(0, s.t0)), t1: Math.ceil(s.t1), tracks: ranges(tracks) };
		}
		const key = JSON.stringify(query);
		if (key === this.key) return;
		this.key = key;
		this.control?.abort();
		if (!query) {
			clearTimeout(this.timer);
			this.links = [];
			this.more = 0;
			this.changed();
			return;
		}
		clearTimeout(this.timer);
		const asked = query;
		if (s.arrows === 'visible') this.timer = window.setTimeout(() => this.ask(asked), REST_MS);
		else this.ask(asked);
	}

	private ask(query: Query): void {
		const control = this.control = new AbortController();
		this.app.source.ask('links', query, control.signal).then((data) => {
			if (control.signal.aborted) return;
			({ links: this.links, more: this.more } = readLinks(data));
			this.changed();
		}, () => {
			if (control.signal.aborted) return;
			this.links = [];
			this.more = 0;
			this.changed();
		});
	}

	/** Within a lane an arrow runs along its upper edge, so that the text of the slices can be read. */
	private place(track: number, t: number, slice: number, isAlong: boolean): { x: number; y: number } | null {
		const row = this.view.rowOfTrack(track), scale = this.view.scale();
		if (!row) return null;
		if (isAlong && row.lane!.lanes === 1) return { x: xOf(scale, t), y: this.view.yOf(row) + 3 };
		const lanes = row.lane!.lanes, step = (row.height - 4) / lanes, near = lanes > 1 && this.view.stats.isExact ? this.view.exact.get(track, Math.max(0, Math.floor(scale.t0)), Math.ceil(scale.t1)) : null;
		const at = near && slice >= near.first && slice < near.first + near.n ? sliceRow(near, slice - near.first).lane : (lanes - 1) / 2;
		return { x: xOf(scale, t), y: this.view.yOf(row) + 2 + (Math.min(at, lanes - 1) + 0.5) * step };
	}

	/** Those in sight, with their ends. */
	private *seen(): Generator<{ l: Link; a: Point; b: Point }> {
		const { width, height } = this.view.size();
		for (const l of this.links) {
			const isAlong = l.fromTrack === l.toTrack, a = this.place(l.fromTrack, l.from, l.fromSlice, isAlong), b = this.place(l.toTrack, l.to, l.toSlice, isAlong);
			if (!a || !b || Math.max(a.x, b.x) < 0 || Math.min(a.x, b.x) > width || Math.max(a.y, b.y) < 0 || Math.min(a.y, b.y) > height) continue;
			yield { l, a, b };
		}
	}

	/** The arrow at a point, away from its ends: there the slices are meant. */
	hit(x: number, y: number): Link | null {
		for (const { l, a, b } of this.seen()) {
			const [c, d] = bend(a, b);
			if (Math.min(Math.hypot(x - a.x, y - a.y), Math.hypot(x - b.x, y - b.y)) < 9) continue;
			for (let k = 1, last = a; k <= 24; k++) {
				const t = k / 24, at = (p: 'x' | 'y') => a[p] * (1 - t) ** 3 + 3 * c[p] * t * (1 - t) ** 2 + 3 * d[p] * t * t * (1 - t) + b[p] * t ** 3, now = { x: at('x'), y: at('y') };
				if (fromSegment({ x, y }, last, now) < 3.5) return l;
				last = now;
			}
		}
		return null;
	}

	/** The kinds in sight, with their dashes, where labels would lie over one another. */
	private legend(g: CanvasRenderingContext2D, p: Palette, kinds: ReadonlySet<number>): void {
		let x = 8;
		for (const k of [...kinds].sort()) {
			const words = LINK_KINDS[k] ?? 'other', w = g.measureText(words).width + 40;
			g.fillStyle = p.background;
			g.globalAlpha = 0.9;
			g.fillRect(x, 5, w, 16);
			g.globalAlpha = 1;
			g.strokeStyle = g.fillStyle = p.text;
			g.lineWidth = 1.5;
			g.setLineDash(DASH[words] ?? []);
			g.beginPath();
			g.moveTo(x + 4, 13);
			g.lineTo(x + 28, 13);
			g.stroke();
			g.setLineDash([]);
			g.textBaseline = 'middle';
			g.fillText(words, x + 34, 13);
			x += w + 4;
		}
	}

	draw(g: CanvasRenderingContext2D, p: Palette): void {
		const { width } = this.view.size(), isFew = this.links.length <= LABELLED, isMany = this.links.length > PLAIN;
		let drawn = 0;
		const kinds = new Set<number>(), paths = new Map<string, { l: Link; path: Path2D }>();
		g.font = '11px system-ui, sans-serif';
		for (const { l, a, b } of isMany ? this.seen() : [...this.seen()].reverse()) {
			kinds.add(l.kind);
			if (isMany) {
				const key = `${l.kind}${l.isLast}${l.isSure}${l.slot}`, one = paths.get(key) ?? paths.set(key, { l, path: new Path2D() }).get(key)!, [c, d] = bend(a, b);
				one.path.moveTo(a.x, a.y);
				one.path.bezierCurveTo(c.x, c.y, d.x, d.y, b.x, b.y);
				one.path.rect(b.x - 1.5, b.y - 1.5, 3, 3);
				continue;
			}
			curve(g, a, b, l, p);
			if (isFew) label(g, a, b, `${LINK_KINDS[l.kind] ?? ''} ${cyclesWith(Math.max(0, l.to - l.from), this.app.units())}${l.isLast ? ', last' : ''}`, p, drawn);
			drawn++;
		}
		// the costliest come first in the answer: they are drawn last, over the others
		for (const { l, path } of [...paths.values()].reverse()) {
			g.setLineDash(DASH[LINK_KINDS[l.kind] ?? 'wait'] ?? []);
			g.globalAlpha = l.isSure ? 0.85 : 0.45;
			g.strokeStyle = p.slots[l.slot] ?? p.text;
			g.lineWidth = l.isLast ? 2 : 1;
			g.stroke(path);
		}
		g.globalAlpha = 1;
		g.setLineDash([]);
		if (!isFew) this.legend(g, p, kinds);
		if (this.more > 0) plate(g, width - 100, 13, `${count(this.more)} more arrows not drawn`, p);
	}
}

type Point = { x: number; y: number };

function fromSegment(p: Point, a: Point, b: Point): number {
	const dx = b.x - a.x, dy = b.y - a.y, t = Math.max(0, Math.min(1, ((p.x - a.x) * dx + (p.y - a.y) * dy) / (dx * dx + dy * dy || 1)));
	return Math.hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

function bend(a: Point, b: Point): [Point, Point] {
	const lift = a.y === b.y ? -Math.min(46, 14 + Math.abs(b.x - a.x) / 8) : 0;
	const reach = Math.max(10, Math.min(60, Math.abs(b.x - a.x) / 3));
	return [{ x: a.x + reach, y: a.y + lift }, { x: b.x - reach, y: b.y + lift }];
}

function curve(g: CanvasRenderingContext2D, a: Point, b: Point, l: Link, p: Palette): void {
	const [c, d] = bend(a, b);
	g.setLineDash(DASH[LINK_KINDS[l.kind] ?? 'wait'] ?? []);
	g.globalAlpha = l.isSure ? 1 : 0.5;
	for (const [colour, width] of [[p.background, l.isLast ? 5 : 3.5], [p.slots[l.slot] ?? p.text, l.isLast ? 2.6 : 1.6]] as [string, number][]) {
		g.strokeStyle = colour;
		g.lineWidth = width;
		g.beginPath();
		g.moveTo(a.x, a.y);
		g.bezierCurveTo(c.x, c.y, d.x, d.y, b.x, b.y);
		g.stroke();
	}
	g.setLineDash([]);
	g.fillStyle = p.slots[l.slot] ?? p.text;
	const angle = Math.atan2(b.y - d.y, b.x - d.x), size = l.isLast ? 8 : 6;
	g.beginPath();
	g.moveTo(b.x, b.y);
	for (const turn of [-0.42, 0.42]) g.lineTo(b.x - size * Math.cos(angle + turn), b.y - size * Math.sin(angle + turn));
	g.fill();
	g.globalAlpha = 1;
}

function label(g: CanvasRenderingContext2D, a: Point, b: Point, words: string, p: Palette, nth: number): void {
	const [c, d] = bend(a, b);
	const w = g.measureText(words).width + 8, mid = (a.x + 3 * c.x + 3 * d.x + b.x) / 8, x = Math.max(w / 2 + 2, Math.min(g.canvas.clientWidth - w / 2 - 2, mid));
	// where the middle is out of sight, the label stands by the end that is not
	const y = x === mid ? (a.y + 3 * c.y + 3 * d.y + b.y) / 8 + ((nth % 3) - 1) * 13 : (x > mid ? b.y : a.y) - 2;
	plate(g, x, y, words, p);
}

function plate(g: CanvasRenderingContext2D, x: number, y: number, words: string, p: Palette): void {
	const w = g.measureText(words).width + 8;
	g.fillStyle = p.background;
	g.globalAlpha = 0.9;
	g.fillRect(x - w / 2, y - 8, w, 16);
	g.globalAlpha = 1;
	g.fillStyle = p.text;
	g.textAlign = 'center';
	g.textBaseline = 'middle';
	g.fillText(words, x, y);
	g.textAlign = 'left';
}
