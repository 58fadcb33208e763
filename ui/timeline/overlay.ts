// SPDX-License-Identifier: Apache-2.0
// overlay.ts: what lies over the lanes: the cursor, the selection, the box being drawn, a measure, markers and arrows.
import { App } from '../app';
import { count, cyclesWith } from '../base/format';
import { colourOf, Palette } from '../base/palette';
import { Arrows } from './arrows';
import { xOf } from './draw';
import { Timeline } from './view';

export interface Drag { kind: 'box' | 'zoom' | 'measure'; x0: number; y0: number; x1: number; y1: number }

export class Overlay {
	drag: Drag | null = null;
	cursor: { x: number; y: number } | null = null;
	/** a finished measure, in cycles, until Escape */
	measure: { t0: number; t1: number; y: number; slices: number | null } | null = null;

	constructor(private readonly app: App, private readonly view: Timeline, readonly arrows: Arrows) {}

	/** A canvas that is touched is composed anew, even where it stays empty. */
	private isClear = false;
	private hasAnything(): boolean {
		const { markers, selection, range } = this.app.store.get();
		return !!(markers.length || selection || range || this.arrows.links.length || this.measure || this.drag || this.cursor);
	}

	draw(): void {
		const g = this.view.over.getContext('2d'), { width, height } = this.view.size(), isEmpty = !this.hasAnything();
		if (!g || (isEmpty && this.isClear)) return;
		this.isClear = isEmpty;
		const ratio = this.view.ratio(), p = this.app.palette();
		g.setTransform(ratio, 0, 0, ratio, 0, 0);
		g.clearRect(0, 0, width, height);
		this.range(g, p, width, height);
		this.markers(g, p, height);
		this.selection(g, p, height);
		this.arrows.draw(g, p);
		if (this.measure) this.drawMeasure(g, p);
		if (this.drag) this.drawDrag(g, p);
		if (this.cursor && !this.drag) {
			g.strokeStyle = p.dim;
			g.globalAlpha = 0.55;
			g.lineWidth = 1;
			line(g, this.cursor.x, 0, this.cursor.x, height);
			g.globalAlpha = 1;
		}
	}

	/** What no figure is of is veiled. */
	private range(g: CanvasRenderingContext2D, p: Palette, width: number, height: number): void {
		const { range } = this.app.store.get(), scale = this.view.scale();
		if (!range) return;
		const a = Math.max(0, Math.min(width, xOf(scale, range.t0))), b = Math.max(0, Math.min(width, xOf(scale, range.t1)));
		g.fillStyle = p.background;
		g.globalAlpha = 0.5;
		g.fillRect(0, 0, a, height);
		g.fillRect(b, 0, width - b, height);
		g.globalAlpha = 1;
		g.strokeStyle = p.accent;
		g.lineWidth = 1.5;
		for (const x of [a, b]) if (x > 0 && x < width) line(g, x, 0, x, height);
	}

	private markers(g: CanvasRenderingContext2D, p: Palette, height: number): void {
		const scale = this.view.scale();
		for (const m of this.app.store.get().markers) {
			const x = xOf(scale, m.t), colour = colourOf(p, m.colour);
			if (m.dur > 0) {
				g.fillStyle = colour;
				g.globalAlpha = 0.14;
				g.fillRect(x, 0, Math.max(1, xOf(scale, m.t + m.dur) - x), height);
				g.globalAlpha = 1;
			}
			g.strokeStyle = colour;
			g.lineWidth = 1.5;
			g.setLineDash([4, 3]);
			line(g, x, 0, x, height);
			g.setLineDash([]);
		}
	}

	private selection(g: CanvasRenderingContext2D, p: Palette, height: number): void {
		const s = this.app.store.get().selection, scale = this.view.scale();
		if (!s) return;
		if (s.t0 !== undefined && s.t1 !== undefined) {
			const a = xOf(scale, s.t0), b = Math.max(a + 2, xOf(scale, s.t1));
			if (s.kind === 'slice' && s.track !== undefined) {
				const row = this.view.rowOfTrack(s.track);
				if (row) frame(g, p.accent, a - 1, this.view.yOf(row) + 0.5, b - a + 2, row.height - 1, 2.5, 0);
			} else if (s.kind === 'box') {
				// a lane may show many waves of the box: each lane is tinted once
				for (const row of new Set((s.tracks ?? []).map((track) => this.view.rowOfTrack(track)))) if (row) frame(g, p.accent, a, this.view.yOf(row), b - a, row.height, 0, 0.16);
				g.strokeStyle = p.accent;
				g.lineWidth = 1;
				line(g, a, 0, a, height);
				line(g, b, 0, b, height);
			} else frame(g, p.accent, a, 0, b - a, height, 1, 0.12);
		} else if (s.kind === 'track' && s.track !== undefined) {
			const row = this.view.rowOfTrack(s.track);
			if (row) frame(g, p.accent, 1, this.view.yOf(row) + 0.5, this.view.size().width - 2, row.height - 1, 1.5, 0.06);
		}
	}

	private drawDrag(g: CanvasRenderingContext2D, p: Palette): void {
		const d = this.drag!, x = Math.min(d.x0, d.x1), w = Math.abs(d.x1 - d.x0), { height } = this.view.size();
		const y = d.kind === 'box' ? Math.min(d.y0, d.y1) : 0, tall = d.kind === 'box' ? Math.abs(d.y1 - d.y0) : height;
		frame(g, d.kind === 'measure' ? p.worse : p.accent, x, y, w, tall, 1, 0.13);
		const scale = this.view.scale(), cycles = Math.round((w / scale.width) * (scale.t1 - scale.t0));
		tag(g, p, x + w / 2, Math.max(10, Math.min(d.y0, d.y1) - 10), cyclesWith(cycles, this.app.units()));
	}

	private drawMeasure(g: CanvasRenderingContext2D, p: Palette): void {
		const m = this.measure!, scale = this.view.scale(), a = xOf(scale, m.t0), b = xOf(scale, m.t1);
		g.strokeStyle = p.text;
		g.lineWidth = 1.5;
		line(g, a, m.y - 8, a, m.y + 8);
		line(g, b, m.y - 8, b, m.y + 8);
		line(g, a, m.y, b, m.y);
		const clock = this.app.trace.clock.mhz, n = m.t1 - m.t0;
		const words = [`${count(n)} cycles`, clock && `${count(n / clock, 3)} µs`, `${((100 * n) / Math.max(1, this.app.trace.span.end)).toFixed(2)} % of the trace`,
			m.slices !== null && `${count(m.slices)} slices`].filter(Boolean).join(' · ');
		tag(g, p, (a + b) / 2, m.y - 16, words);
	}
}

function line(g: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
	g.beginPath();
	g.moveTo(Math.round(x0) + 0.5, Math.round(y0) + 0.5);
	g.lineTo(Math.round(x1) + 0.5, Math.round(y1) + 0.5);
	g.stroke();
}

function frame(g: CanvasRenderingContext2D, colour: string, x: number, y: number, w: number, height: number, border: number, alpha: number): void {
	if (alpha) {
		g.fillStyle = colour;
		g.globalAlpha = alpha;
		g.fillRect(x, y, w, height);
		g.globalAlpha = 1;
	}
	if (!border) return;
	g.strokeStyle = colour;
	g.lineWidth = border;
	g.strokeRect(x, y, w, height);
}

/** Words on a plate, kept inside the canvas. */
function tag(g: CanvasRenderingContext2D, p: Palette, x: number, y: number, words: string): void {
	g.font = '12px system-ui, sans-serif';
	g.textAlign = 'center';
	g.textBaseline = 'middle';
	const w = g.measureText(words).width + 14;
	const at = Math.max(w / 2 + 2, Math.min(g.canvas.clientWidth - w / 2 - 2, x)), top = Math.max(10, y);
	g.fillStyle = p.text;
	g.fillRect(at - w / 2, top - 10, w, 20);
	g.fillStyle = p.background;
	g.fillText(words, at, top + 0.5);
	g.textAlign = 'left';
}
