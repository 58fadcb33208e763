// SPDX-License-Identifier: Apache-2.0
// arrows.ts: what waited for what. Kinds are told apart by dash and label, the last arrival is bold, a candidate is faint; at most 2,000
// are asked for and the rest is counted aloud.
import { App } from '../app';
import { cyclesWith } from '../base/format';
import { Palette } from '../base/palette';
import { Link, LINK_KINDS, ranges, readLinks, sliceRow } from '../source';
import { Timeline } from './view';
import { xOf } from './draw';

const DASH: Record<string, number[]> = { wait: [], flag: [7, 3], barrier: [2, 3], 'cross-core': [10, 3, 2, 3], flow: [4, 4], branch: [1, 3] };

export class Arrows {
	links: Link[] = [];
	more = 0;
	private key = '';
	private control: AbortController | null = null;

	constructor(private readonly app: App, private readonly view: Timeline, private readonly changed: () => void) {}

	/** Asks for what the mode and the selection need; the same question once. */
	update(): void {
		const s = this.app.store.get(), sel = s.selection, c = this.app.trace.index || undefined;
		let query: Record<string, string | number | undefined> | null = null;
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
			this.links = [];
			this.more = 0;
			this.changed();
			return;
		}
		const control = this.control = new AbortController();
		this.app.source.ask('links', query, control.signal).then((data) => {
			({ links: this.links, more: this.more } = readLinks(data));
			this.changed();
		}, () => {
			if (control.signal.aborted) return;
			this.links = [];
			this.more = 0;
			this.changed();
		});
	}

	private place(track: number, t: number, slice: number): { x: number; y: number } | null {
		const row = this.view.rowOfTrack(track), scale = this.view.scale();
		if (!row) return null;
		const lanes = row.lane!.lanes, step = (row.height - 4) / lanes, near = lanes > 1 && this.view.stats.isExact ? this.view.exact.get(track, Math.max(0, Math.floor(scale.t0)), Math.ceil(scale.t1)) : null;
		const at = near && slice >= near.first && slice < near.first + near.n ? sliceRow(near, slice - near.first).lane : (lanes - 1) / 2;
		return { x: xOf(scale, t), y: this.view.yOf(row) + 2 + (Math.min(at, lanes - 1) + 0.5) * step };
	}

	draw(g: CanvasRenderingContext2D, p: Palette): void {
		const { width, height } = this.view.size();
		const isFew = this.links.length <= 12;
		let drawn = 0;
		g.font = '11px system-ui, sans-serif';
		for (const l of this.links) {
			const a = this.place(l.fromTrack, l.from, l.fromSlice), b = this.place(l.toTrack, l.to, l.toSlice);
			if (!a || !b || Math.max(a.x, b.x) < 0 || Math.min(a.x, b.x) > width || Math.max(a.y, b.y) < 0 || Math.min(a.y, b.y) > height) continue;
			curve(g, a, b, l, p);
			if (isFew) label(g, a, b, `${LINK_KINDS[l.kind] ?? ''} ${cyclesWith(Math.max(0, l.to - l.from), this.app.units())}${l.isLast ? ', last' : ''}`, p, drawn);
			drawn++;
		}
		g.setLineDash([]);
		if (this.more > 0) label(g, { x: width - 190, y: 14 }, { x: width - 10, y: 14 }, `${this.more} more arrows not drawn`, p, 0);
	}
}

type Point = { x: number; y: number };

function bend(a: Point, b: Point): [Point, Point] {
	const lift = a.y === b.y ? -Math.min(46, 14 + Math.abs(b.x - a.x) / 8) : 0;
	const reach = Math.max(10, Math.min(60, Math.abs(b.x - a.x) / 3));
	return [{ x: a.x + reach, y: a.y + lift }, { x: b.x - reach, y: b.y + lift }];
}

function curve(g: CanvasRenderingContext2D, a: Point, b: Point, l: Link, p: Palette): void {
	const [c, d] = bend(a, b);
	g.setLineDash(DASH[LINK_KINDS[l.kind] ?? 'wait'] ?? []);
	g.globalAlpha = l.isSure ? 1 : 0.5;
	for (const [colour, width] of [[p.background, l.isLast ? 5 : 3.5], [p.text, l.isLast ? 2.4 : 1.3]] as [string, number][]) {
		g.strokeStyle = colour;
		g.lineWidth = width;
		g.beginPath();
		g.moveTo(a.x, a.y);
		g.bezierCurveTo(c.x, c.y, d.x, d.y, b.x, b.y);
		g.stroke();
	}
	g.setLineDash([]);
	g.fillStyle = p.text;
	const angle = Math.atan2(b.y - d.y, b.x - d.x), size = l.isLast ? 8 : 6;
	g.beginPath();
	g.moveTo(b.x, b.y);
	for (const turn of [-0.42, 0.42]) g.lineTo(b.x - size * Math.cos(angle + turn), b.y - size * Math.sin(angle + turn));
	g.fill();
	g.globalAlpha = 1;
}

function label(g: CanvasRenderingContext2D, a: Point, b: Point, words: string, p: Palette, nth: number): void {
	const [c, d] = bend(a, b);
	const x = (a.x + 3 * c.x + 3 * d.x + b.x) / 8, y = (a.y + 3 * c.y + 3 * d.y + b.y) / 8 + ((nth % 3) - 1) * 13, w = g.measureText(words).width + 8;
	g.fillStyle = p.background;
	g.globalAlpha = 0.9;
	g.fillRect(x - w / 2, y - 7, w, 14);
	g.globalAlpha = 1;
	g.fillStyle = p.text;
	g.textAlign = 'center';
	g.textBaseline = 'middle';
	g.fillText(words, x, y);
	g.textAlign = 'left';
}
