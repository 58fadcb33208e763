// SPDX-License-Identifier: Apache-2.0
// ruler.ts: the time axis, and above it the whole trace with the window in it: drag the window, drag beside it to choose another one. Carries
// markers and the density of search matches.
import { App } from '../app';
import { framed, h } from '../base/dom';
import { count, cycles, largest, ticks } from '../base/format';
import { colourOf } from '../base/palette';
import { overview, pixel } from './raster';
import { baseCapture } from '../source';
import { CELLS, levelOf, readTile, ROWS, Tile } from './tiles';

const OVERVIEW = 30, AXIS = 36;

export class Ruler {
	readonly element: HTMLElement;
	readonly draw: () => void;
	/** search matches over the whole span */
	density: number[] = [];
	/** where the pointer is, in pixels: what it points at changes while the view moves */
	cursor: number | null = null;
	private readonly canvas: HTMLCanvasElement;
	private readonly picture = document.createElement('canvas');
	private tiles: Tile[] = [];
	/** what the tiles were asked for: those of another colour mode that come late are left out */
	private asked = '';
	private watcher: ResizeObserver;
	private drag: { kind: 'move' | 'new' | 'pan'; from: number; t0: number; t1: number } | null = null;

	constructor(private readonly app: App, private readonly zoomTo: (t0: number, t1: number, isDone: boolean) => void, private readonly pickMarker: (i: number) => void, private readonly colours: () => readonly string[]) {
		this.canvas = h('canvas', { tabIndex: -1, role: 'img', attrs: { 'aria-label': 'Whole trace and time axis' } });
		this.element = h('div', { class: 'ruler' }, this.canvas);
		this.draw = framed(() => this.paint());
		this.watcher = new ResizeObserver(this.draw);
		this.watcher.observe(this.element);
		this.canvas.addEventListener('pointerdown', (e) => this.down(e));
		this.canvas.addEventListener('pointermove', (e) => this.move(e));
		this.canvas.addEventListener('pointerup', (e) => this.up(e));
		this.canvas.addEventListener('dblclick', () => this.zoomTo(0, this.app.trace.span.end, true));
	}

	close(): void {
		this.watcher.disconnect();
	}

	/** In the colours of the lanes: at least a cell a pixel of each track; of many tracks evenly chosen blocks of them: the overview shows the shape, the lanes the truth. */
	load(): void {
		const { trace } = this.app, n = trace.tracks.length, end = trace.span.end, { mode, base } = this.app.store.get(), key = `${mode} ${mode === 'diff' ? base : ''}`;
		if (!n || key === this.asked) return;
		this.asked = key;
		let isFirst = true;
		const blocks = Math.ceil(n / ROWS), step = Math.max(1, Math.floor(blocks / 4)), level = levelOf(end / (blocks > 1 ? 2 * CELLS : 4 * CELLS));
		for (let b = 0; b < blocks; b += step)
			for (let i = 0; i * CELLS * 2 ** level < end; i++)
				void this.app.source.ask('tile', { c: trace.index || undefined, h: trace.hash, tracks: `${b * ROWS}-${Math.min(n, (b + 1) * ROWS) - 1}`, level, i, mode, base: mode === 'diff' ? baseCapture(trace, base)?.index : undefined }).then((data) => {
					if (this.asked !== key) return;
					if (isFirst) this.tiles = [];
					isFirst = false;
					this.tiles.push(readTile(data));
					this.render();
					this.draw();
				}, () => undefined);
	}

	/** The overview at the size it is drawn in: each pixel has the class (bucket, cause, kernel) that fills most of what lies under it, unmixed. */
	render(): void {
		const ratio = window.devicePixelRatio || 1, w = Math.round(this.width() * ratio), tall = Math.round((OVERVIEW - 4) * ratio);
		if (!this.tiles.length || w < 2) return;
		this.picture.width = w;
		this.picture.height = tall;
		const colours = Uint32Array.from(this.colours(), pixel);
		const image = new ImageData(w, tall);
		overview(new Uint32Array(image.data.buffer), w, tall, this.tiles, this.app.trace.span.end, colours);
		this.picture.getContext('2d')!.putImageData(image, 0, 0);
	}

	private width(): number {
		return Math.max(1, this.canvas.clientWidth);
	}

	private paint(): void {
		const ratio = window.devicePixelRatio || 1, width = this.width(), height = OVERVIEW + AXIS;
		if (this.canvas.width !== Math.round(width * ratio)) this.canvas.width = Math.round(width * ratio);
		if (this.canvas.height !== Math.round(height * ratio)) this.canvas.height = Math.round(height * ratio);
		const g = this.canvas.getContext('2d')!, p = this.app.palette(), s = this.app.store.get(), end = Math.max(1, this.app.trace.span.end);
		g.setTransform(ratio, 0, 0, ratio, 0, 0);
		g.fillStyle = p.background;
		g.fillRect(0, 0, width, height);
		if (this.picture.width !== Math.round(width * ratio)) this.render();
		g.imageSmoothingEnabled = false;
		if (this.tiles.length) g.drawImage(this.picture, 0, 2, width, OVERVIEW - 4);
		const a = (s.t0 / end) * width, b = (s.t1 / end) * width;
		g.fillStyle = p.background;
		g.globalAlpha = 0.62;
		g.fillRect(0, 0, Math.max(0, a), OVERVIEW);
		g.fillRect(b, 0, Math.max(0, width - b), OVERVIEW);
		g.globalAlpha = 1;
		g.strokeStyle = p.accent;
		g.lineWidth = 1.5;
		g.strokeRect(Math.max(0.75, a), 0.75, Math.max(3, Math.min(width - 1.5, b) - Math.max(0.75, a)), OVERVIEW - 1.5);
		this.axis(g, width);
		this.marks(g, width, end);
	}

	private axis(g: CanvasRenderingContext2D, width: number): void {
		const p = this.app.palette(), s = this.app.store.get(), units = this.app.units(), y = OVERVIEW;
		const x = (t: number) => ((t - s.t0) / (s.t1 - s.t0)) * width;
		g.font = '11px system-ui, sans-serif';
		g.textBaseline = 'middle';
		const per = units.unit === 'us' && units.mhz ? units.mhz : units.unit === 'pct' ? units.scope / 100 : 1;
		const at = ticks(s.t0 / per, s.t1 / per, Math.max(2, Math.floor(width / 120)), units.unit === 'cyc' ? 1 : 0);
		g.fillStyle = p.dim;
		g.strokeStyle = p.grid;
		g.lineWidth = 1;
		const step = at.length > 1 ? at[1] - at[0] : 1;
		for (const v of at) {
			const px = x(v * per);
			g.beginPath();
			g.moveTo(Math.round(px) + 0.5, y + 18);
			g.lineTo(Math.round(px) + 0.5, y + AXIS);
			g.stroke();
			const digits = Math.max(0, Math.min(6, -Math.floor(Math.log10(step))));
			const words = units.unit === 'cyc' ? cycles(v, units) : count(v, step >= 1 ? 0 : digits);
			g.textAlign = px < 30 ? 'left' : px > width - 30 ? 'right' : 'center';
			g.fillText(words, px < 30 ? Math.max(2, px + 3) : Math.min(width - 2, px), y + 10);
		}
		g.textAlign = 'left';
		if (this.cursor === null) return;
		const words = cycles(Math.round(s.t0 + (this.cursor / width) * (s.t1 - s.t0)), units), w = g.measureText(words).width + 8, px = Math.max(w / 2, Math.min(width - w / 2, this.cursor));
		g.fillStyle = p.text;
		g.fillRect(px - w / 2, y + 20, w, 15);
		g.fillStyle = p.background;
		g.textAlign = 'center';
		g.fillText(words, px, y + 28);
		g.textAlign = 'left';
	}

	private marks(g: CanvasRenderingContext2D, width: number, end: number): void {
		const p = this.app.palette(), s = this.app.store.get();
		const most = largest(this.density, (n) => n);
		if (s.range) {
			g.fillStyle = p.accent;
			g.fillRect((s.range.t0 / end) * width, OVERVIEW - 3, Math.max(2, ((s.range.t1 - s.range.t0) / end) * width), 3);
		}
		this.density.forEach((n, i) => {
			if (!n) return;
			g.fillStyle = p.accent;
			const tall = 3 + (6 * n) / most;
			g.fillRect((i / this.density.length) * width, OVERVIEW - tall, Math.max(1.5, width / this.density.length), tall);
		});
		// those of the capture itself stand at the top of the overview: time, value
		g.fillStyle = p.dim;
		for (const [t] of this.app.trace.markers ?? []) g.fillRect((t / end) * width, 0, 1, 4);
		for (const m of s.markers) {
			g.fillStyle = colourOf(p, m.colour);
			g.fillRect((m.t / end) * width - 1, 0, Math.max(2, (m.dur / end) * width), OVERVIEW);
			const x = ((m.t - s.t0) / (s.t1 - s.t0)) * width;
			if (x < -60 || x > width) continue;
			g.beginPath();
			g.moveTo(x, OVERVIEW + AXIS);
			g.lineTo(x - 5, OVERVIEW + AXIS - 9);
			g.lineTo(x + 5, OVERVIEW + AXIS - 9);
			g.fill();
			g.fillStyle = p.text;
			g.font = '11px system-ui, sans-serif';
			g.fillText(m.name.slice(0, 24), x + 7, OVERVIEW + AXIS - 7);
		}
	}

	private down(e: PointerEvent): void {
		const { t0, t1 } = this.app.store.get(), width = this.width(), x = e.offsetX, end = this.app.trace.span.end;
		this.canvas.setPointerCapture(e.pointerId);
		if (e.offsetY > OVERVIEW) {
			const hit = this.app.store.get().markers.findIndex((m) => Math.abs(((m.t - t0) / (t1 - t0)) * width - x) < 7);
			if (hit >= 0) return this.pickMarker(hit);
			this.drag = { kind: 'pan', from: x, t0, t1 };
			return;
		}
		const t = (x / width) * end;
		const isWhole = t1 - t0 >= end * 0.999;
		this.drag = { kind: !isWhole && t >= t0 && t <= t1 ? 'move' : 'new', from: x, t0, t1 };
	}

	private move(e: PointerEvent): void {
		const d = this.drag, width = this.width(), end = this.app.trace.span.end;
		if (!d) return;
		if (d.kind === 'new') {
			if (Math.abs(e.offsetX - d.from) > 3) this.zoomTo((Math.min(d.from, e.offsetX) / width) * end, (Math.max(d.from, e.offsetX) / width) * end, false);
			return;
		}
		const shift = d.kind === 'move' ? ((e.offsetX - d.from) / width) * end : -((e.offsetX - d.from) / width) * (d.t1 - d.t0);
		this.zoomTo(d.t0 + shift, d.t1 + shift, false);
	}

	private up(e: PointerEvent): void {
		const d = this.drag, { t0, t1 } = this.app.store.get();
		this.drag = null;
		if (!d) return;
		if (d.kind === 'new' && Math.abs(e.offsetX - d.from) <= 3) {
			const t = (e.offsetX / this.width()) * this.app.trace.span.end, half = (t1 - t0) / 2;
			this.zoomTo(t - half, t + half, true);
		} else this.zoomTo(t0, t1, true);
	}
}
