// SPDX-License-Identifier: Apache-2.0
// plot.ts: curves over time on a canvas: lines, min-max bands, steps, stacked areas. Time is in double precision, axes carry their unit,
// and the same facts stand in a text summary beside the picture.
import { count, short, ticks, Units, cycles, unitName } from './format';
import { Palette } from './palette';
import { framed, h } from './dom';

export interface Series {
	name: string;
	colour: string;
	/** points: x ascending; a step holds until the next x */
	x: ArrayLike<number>;
	y: ArrayLike<number>;
	/** band around y, of the same length */
	low?: ArrayLike<number>;
	high?: ArrayLike<number>;
	kind: 'line' | 'step' | 'area';
	/** dashes tell curves apart without colour */
	dash?: number[];
}

export interface PlotOptions {
	label: string;
	unit: string;
	isStacked?: boolean;
	/** fixed top of the axis; without it the largest value seen */
	top?: number;
	/** dragging chooses a stretch of time, the wheel zooms: what the caller does with it */
	zoom?: (t0: number, t1: number) => void;
	pick?: (t: number, series: Series | null) => void;
	/** where the pointer is, or null when it left: plots above each other share it */
	hover?: (t: number | null) => void;
	height?: number;
	formatY?: (v: number) => string;
}

const LEFT = 58, RIGHT = 10, TOP = 8, BOTTOM = 20;

export class Plot {
	readonly element: HTMLElement;
	private readonly canvas: HTMLCanvasElement;
	private readonly tip: HTMLElement;
	private readonly legend: HTMLElement;
	private series: Series[] = [];
	private hidden = new Set<string>();
	private t0 = 0;
	private t1 = 1;
	private cursor: number | null = null;
	private drag: number | null = null;
	private palette: Palette;
	private units: Units = { unit: 'cyc', mhz: null, scope: 1 };
	private readonly later: () => void;
	private readonly watcher: ResizeObserver;

	constructor(private readonly o: PlotOptions, palette: Palette) {
		this.palette = palette;
		this.canvas = h('canvas', { role: 'img', tabIndex: 0, attrs: { 'aria-label': o.label } });
		this.tip = h('div', { class: 'plot-tip', hidden: true });
		this.legend = h('div', { class: 'legend' });
		this.element = h('div', { class: 'plot', style: { '--plot-height': (o.height ?? 140) + 'px' } }, this.canvas, this.tip, this.legend);
		this.later = framed(() => this.draw());
		this.watcher = new ResizeObserver(this.later);
		this.watcher.observe(this.element);
		this.listen();
	}

	close(): void {
		this.watcher.disconnect();
		this.element.remove();
	}

	show(series: Series[], t0: number, t1: number): void {
		this.series = series;
		this.t0 = t0;
		this.t1 = Math.max(t1, t0 + 1);
		this.drawLegend();
		this.canvas.setAttribute('aria-label', this.summary());
		this.later();
	}

	look(palette: Palette, units: Units): void {
		this.palette = palette;
		this.units = units;
		this.later();
	}

	/** The common cursor, or null. */
	point(t: number | null): void {
		this.cursor = t;
		this.later();
	}

	/** "Waves per SE: SE0 0 to 8, mean 5.1" */
	summary(): string {
		const parts = this.series.slice(0, 12).map((s) => {
			let low = Infinity, high = -Infinity, n = 0;
			for (let i = 0; i < s.y.length; i++) {
				const v = s.y[i];
				if (Number.isNaN(v)) continue;
				low = Math.min(low, s.low ? s.low[i] : v);
				high = Math.max(high, s.high ? s.high[i] : v);
				n++;
			}
			return n ? `${s.name} ${short(low)} to ${short(high)}` : `${s.name} no data`;
		});
		return `${this.o.label} (${this.o.unit}): ${parts.join('; ') || 'no data'}`;
	}

	/** Last value at or before t; NaN if none. */
	valueAt(s: Series, t: number): number {
		let low = 0, high = s.x.length;
		while (low < high) {
			const mid = (low + high) >> 1;
			if (s.x[mid] <= t) low = mid + 1;
			else high = mid;
		}
		return low ? s.y[low - 1] : NaN;
	}

	/** "SE0: 12 %" of every curve in sight, at t. */
	read(t: number): string[] {
		return this.seen().slice(0, 16).map((s) => `${s.name}: ${this.format(this.valueAt(s, t))}`);
	}

	private seen(): Series[] {
		return this.series.filter((s) => !this.hidden.has(s.name));
	}

	private drawLegend(): void {
		while (this.legend.firstChild) this.legend.removeChild(this.legend.firstChild);
		if (this.series.length < 2) return;
		for (const s of this.series.slice(0, 40)) {
			const isOff = this.hidden.has(s.name);
			const item = h('button', { class: 'legend-item' + (isOff ? ' off' : ''), attrs: { 'aria-pressed': !isOff }, title: 'Show or hide ' + s.name },
				h('span', { class: 'swatch', style: { background: s.colour } }), s.name);
			item.addEventListener('click', () => {
				if (!this.hidden.delete(s.name)) this.hidden.add(s.name);
				this.drawLegend();
				this.later();
			});
			this.legend.appendChild(item);
		}
		if (this.series.length > 40) this.legend.appendChild(h('span', { class: 'dim' }, `and ${this.series.length - 40} more`));
	}

	private topOf(series: Series[]): number {
		if (this.o.top !== undefined) return this.o.top;
		let top = 0;
		if (this.o.isStacked) {
			for (const s of series) for (let i = 0; i < s.x.length; i++) top = Math.max(top, this.stackAt(series, series.length, s.x[i]));
		} else
			for (const s of series) for (let i = 0; i < s.y.length; i++) top = Math.max(top, s.high ? s.high[i] || 0 : s.y[i] || 0);
		return top > 0 ? top * 1.06 : 1; // so that the highest value does not lie on the edge
	}

	/** Sum of the first n series at t. */
	private stackAt(series: Series[], n: number, t: number): number {
		let sum = 0;
		for (let i = 0; i < n; i++) sum += this.valueAt(series[i], t) || 0;
		return sum;
	}

	private draw(): void {
		const ratio = devicePixelRatio || 1;
		const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
		if (!width || !height) return;
		if (this.canvas.width !== Math.round(width * ratio)) this.canvas.width = Math.round(width * ratio);
		if (this.canvas.height !== Math.round(height * ratio)) this.canvas.height = Math.round(height * ratio);
		const g = this.canvas.getContext('2d')!;
		g.setTransform(ratio, 0, 0, ratio, 0, 0);
		g.fillStyle = this.palette.background;
		g.fillRect(0, 0, width, height);
		const series = this.seen();
		const top = this.topOf(series);
		const x = (t: number) => LEFT + ((t - this.t0) / (this.t1 - this.t0)) * (width - LEFT - RIGHT);
		const y = (v: number) => height - BOTTOM - (v / top) * (height - TOP - BOTTOM);
		this.axes(g, width, height, top, x, y);
		g.save();
		g.beginPath();
		g.rect(LEFT, 0, width - LEFT - RIGHT, height - BOTTOM + 1);
		g.clip();
		if (this.o.isStacked) this.stack(g, series, x, y, width);
		else for (const s of series) this.curve(g, s, x, y);
		if (this.cursor !== null) {
			g.strokeStyle = this.palette.accent;
			g.setLineDash([]);
			g.lineWidth = 1;
			g.strokeRect(Math.round(x(this.cursor)) + 0.5, 0, 0, height - BOTTOM);
		}
		g.restore();
	}

	private axes(g: CanvasRenderingContext2D, width: number, height: number, top: number, x: (t: number) => number, y: (v: number) => number): void {
		g.font = '11px system-ui, sans-serif';
		g.textBaseline = 'middle';
		g.lineWidth = 1;
		g.textAlign = 'right';
		for (const v of ticks(0, top, Math.max(2, Math.floor(height / 36)))) {
			g.strokeStyle = this.palette.grid;
			line(g, LEFT, y(v), width - RIGHT, y(v));
			g.fillStyle = this.palette.dim;
			g.fillText(this.o.formatY ? this.o.formatY(v) : short(v), LEFT - 6, y(v));
		}
		g.textAlign = 'center';
		for (const t of ticks(this.t0, this.t1, Math.max(2, Math.floor(width / 130)), 1)) {
			g.strokeStyle = this.palette.grid;
			line(g, x(t), height - BOTTOM, x(t), height - BOTTOM + 4);
			g.fillText(cycles(t, this.units), Math.min(width - 24, x(t)), height - 8);
		}
		g.save();
		g.translate(9, (height - BOTTOM) / 2);
		g.rotate(-Math.PI / 2);
		g.fillText(this.o.unit, 0, 0);
		g.restore();
		g.textAlign = 'left';
		g.fillText(unitName(this.units), 4, height - 8);
	}

	private curve(g: CanvasRenderingContext2D, s: Series, x: (t: number) => number, y: (v: number) => number): void {
		if (s.low && s.high) {
			g.fillStyle = s.colour + '40';
			for (let i = 0; i + 1 < s.x.length; i++) {
				if (Number.isNaN(s.low[i])) continue;
				const a = x(s.x[i]), b = x(s.x[i + 1]);
				g.fillRect(a, y(s.high[i]), Math.max(1, b - a), Math.max(1, y(s.low[i]) - y(s.high[i])));
			}
		}
		g.strokeStyle = s.colour;
		g.lineWidth = 1.5;
		g.setLineDash(s.dash ?? []);
		g.beginPath();
		let isDown = false, last = 0;
		for (let i = 0; i < s.x.length; i++) {
			if (Number.isNaN(s.y[i])) {
				if (isDown && s.kind === 'step') g.lineTo(x(s.x[i]), last);
				isDown = false;
				continue;
			}
			const px = x(s.x[i]), py = y(s.y[i]);
			if (!isDown) g.moveTo(px, py);
			else {
				if (s.kind === 'step') g.lineTo(px, last);
				g.lineTo(px, py);
			}
			isDown = true;
			last = py;
		}
		if (isDown && s.kind === 'step') g.lineTo(x(this.t1), last);
		g.stroke();
		g.setLineDash([]);
	}

	/** One column per pixel: exact at the pixel's left edge, whatever the series' own points are. */
	private stack(g: CanvasRenderingContext2D, series: Series[], x: (t: number) => number, y: (v: number) => number, width: number): void {
		for (let px = LEFT; px < width - RIGHT; px++) {
			const t = this.t0 + ((px - LEFT) / (width - LEFT - RIGHT)) * (this.t1 - this.t0);
			let below = 0;
			for (const s of series) {
				const v = this.valueAt(s, t) || 0;
				if (v > 0) {
					g.fillStyle = s.colour;
					g.fillRect(px, y(below + v), 1, Math.max(0.5, y(below) - y(below + v)));
				}
				below += v;
			}
		}
		void x;
	}

	private time(e: MouseEvent): number {
		const box = this.canvas.getBoundingClientRect();
		const part = (e.clientX - box.left - LEFT) / Math.max(1, box.width - LEFT - RIGHT);
		return this.t0 + Math.max(0, Math.min(1, part)) * (this.t1 - this.t0);
	}

	private listen(): void {
		this.canvas.addEventListener('mousemove', (e) => this.hover(e));
		this.canvas.addEventListener('mouseleave', () => {
			this.tip.hidden = true;
			this.point(null);
			this.o.hover?.(null);
		});
		this.canvas.addEventListener('mousedown', (e) => {
			if (e.button === 0) this.drag = this.time(e);
		});
		this.canvas.addEventListener('mouseup', (e) => {
			const from = this.drag, to = this.time(e);
			this.drag = null;
			if (from === null) return;
			const isMoved = Math.abs(to - from) > (this.t1 - this.t0) / 200;
			if (isMoved) this.o.zoom?.(Math.min(from, to), Math.max(from, to));
			else this.o.pick?.(to, this.nearest(e, to));
		});
		this.canvas.addEventListener('wheel', (e) => {
			if (!e.ctrlKey || !this.o.zoom) return;
			e.preventDefault();
			const t = this.time(e), f = Math.exp(e.deltaY * 0.002);
			this.o.zoom(t - (t - this.t0) * f, t + (this.t1 - t) * f);
		}, { passive: false });
	}

	private nearest(e: MouseEvent, t: number): Series | null {
		const box = this.canvas.getBoundingClientRect();
		const series = this.seen(), top = this.topOf(series);
		const value = ((box.bottom - BOTTOM - e.clientY) / (box.height - TOP - BOTTOM)) * top;
		let best: Series | null = null, distance = Infinity;
		for (const s of series) {
			const d = Math.abs(this.valueAt(s, t) - value);
			if (d < distance) [best, distance] = [s, d];
		}
		return best;
	}

	private hover(e: MouseEvent): void {
		const t = this.time(e);
		this.point(t);
		this.o.hover?.(t);
		this.tip.textContent = [`${cycles(t, this.units)} ${unitName(this.units)}`, ...this.read(t)].join('\n');
		const box = this.element.getBoundingClientRect();
		this.tip.hidden = false;
		this.tip.style.left = Math.min(e.clientX - box.left + 12, box.width - this.tip.offsetWidth - 4) + 'px';
		this.tip.style.top = '4px';
	}

	private format(v: number): string {
		if (Number.isNaN(v)) return '-';
		return (this.o.formatY ? this.o.formatY(v) : count(v, Number.isInteger(v) ? 0 : 2)) + ' ' + this.o.unit;
	}
}

function line(g: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
	g.beginPath();
	g.moveTo(Math.round(x0) + 0.5, Math.round(y0) + 0.5);
	g.lineTo(Math.round(x1) + 0.5, Math.round(y1) + 0.5);
	g.stroke();
}
