// SPDX-License-Identifier: Apache-2.0
// global.ts: the whole machine above the lanes, on the same axis: waves in flight on every compute unit, by shader engine, and what the
// traced waves spent their cycles with. For each pixel of what is in sight; where only coarser means are known (a report), it says so.
import { App, Envelope } from '../app';
import { fill, framed, h } from '../base/dom';
import { count, largest, short } from '../base/format';
import { colourOf } from '../base/palette';
import { Occupancy } from '../panels/types';
import { askJson, readBuckets } from '../source';
import { pixel } from './raster';

interface Step { from: number; to: number; values: number[] }
interface Strip { steps: Step[]; most: number; canvas: HTMLCanvasElement; key: string }

function strip(steps: Step[]): Strip {
	return { steps, most: largest(steps, (s) => s.values.reduce((a, b) => a + b, 0), 1e-9), canvas: document.createElement('canvas'), key: '' };
}

const HEIGHT = 74, PART = 34, REST_MS = 200;

export class Global {
	readonly element: HTMLElement;
	readonly draw: () => void;
	private readonly canvas = h('canvas', { role: 'img' });
	private readonly label = h('div', { class: 'global-label' });
	private waves = strip([]);
	private buckets = strip([]);
	private peak = 0;
	private asked = '';
	private timer = 0;
	private isOpen = false;

	constructor(private readonly app: App) {
		this.element = h('div', { class: 'global', hidden: true }, this.label, this.canvas);
		const paint = framed(() => this.paint());
		this.draw = () => {
			paint();
			clearTimeout(this.timer);
			if (this.isOpen) this.timer = window.setTimeout(() => this.ask(), REST_MS);
		};
		new ResizeObserver(this.draw).observe(this.canvas);
	}

	show(isOpen: boolean): void {
		this.isOpen = isOpen;
		this.element.hidden = !isOpen;
		if (isOpen) this.draw();
	}

	/** Asks for what is in sight, a value a pixel, once the view rests; the old one is stretched until then. */
	private ask(): void {
		const s = this.app.store.get(), { trace, source } = this.app, wide = Math.round(this.canvas.clientWidth * (devicePixelRatio || 1));
		const t0 = Math.max(0, Math.floor(s.t0)), t1 = Math.ceil(s.t1), w = Math.max(1, Math.min(2000, wide)), key = [t0, t1, w].join();
		if (key === this.asked || !wide) return;
		this.asked = key;
		const c = trace.index || undefined, origin = trace.span.origin ?? 0;
		void source.ask('buckets', { c, t0, t1, w }).then((data) => {
			if (key !== this.asked) return;
			const { width, buckets, values } = readBuckets(data), edge = (i: number) => t0 + Math.floor(((t1 - t0) * i) / width);
			this.buckets = strip(Array.from({ length: width }, (_, i) => ({ from: edge(i), to: edge(i + 1), values: Array.from(values.subarray(i * buckets, (i + 1) * buckets), (v) => v / (edge(i + 1) - edge(i))) })));
			this.tell();
		}, () => this.tell());
		const isReport = source.kind === 'report';
		if (isReport && this.waves.steps.length) return;
		// a report carries the waves of the whole trace, as many parts as a screen has pixels
		const told = isReport ? this.app.verb<Occupancy>('occupancy', { bins: 1920, top: 'all', k: undefined }) : askJson<Envelope<Occupancy>>(source, 'occupancy', { c, bins: Math.min(w, t1 - t0), from: t0, to: t1 });
		void told.then((a) => {
			if (key !== this.asked && !isReport) return;
			const first = (a.data.all?.first_cycle ?? origin) - origin;
			this.waves = strip((a.data.series ?? []).filter((x) => x.to > x.from).map((x) => ({ from: first + x.from, to: first + x.to, values: x.by_se.map((v) => v ?? 0) })));
			this.peak = Math.max(this.peak, a.data.all?.peak_waves ?? 0);
			this.tell();
		}, () => this.tell());
	}

	private tell(): void {
		const [one] = this.waves.steps, bin = one ? one.to - one.from : 0;
		fill(this.label, h('div', null, 'Global'), h('div', { class: 'dim' }, this.waves.steps.length ? `waves by SE, peak ${count(this.peak)}` : 'no occupancy recorded'),
			h('div', { class: 'dim' }, this.buckets.steps.length ? 'buckets of traced waves' : 'no waves'));
		this.label.title = bin ? `Waves: means over ${count(bin, bin < 10 ? 1 : 0)} cycles. Buckets: each pixel.` : '';
		this.canvas.setAttribute('aria-label', `Waves in flight, at most ${count(this.peak)}, and what traced waves spent their cycles with, over time`);
		this.paint();
	}

	private paint(): void {
		const ratio = devicePixelRatio || 1, width = this.canvas.clientWidth, g = this.canvas.getContext('2d');
		if (!g || !width) return;
		this.canvas.width = Math.round(width * ratio);
		this.canvas.height = Math.round(HEIGHT * ratio);
		g.setTransform(ratio, 0, 0, ratio, 0, 0);
		const p = this.app.palette();
		g.fillStyle = p.background;
		g.fillRect(0, 0, width, HEIGHT);
		this.stack(g, this.waves, width, 2, (i) => colourOf(p, i));
		this.stack(g, this.buckets, width, HEIGHT - PART - 2, (i) => p.buckets[i]);
	}

	/** The strip as a picture of a column a step, made once an answer; a frame only stretches it. */
	private stack(g: CanvasRenderingContext2D, strip: Strip, width: number, top: number, colours: (i: number) => string): void {
		const { t0, t1 } = this.app.store.get(), n = strip.steps.length, ratio = devicePixelRatio || 1, tall = Math.round(PART * ratio);
		if (!n) return;
		const key = this.app.palette().theme + tall;
		if (strip.key !== key) {
			strip.key = key;
			const image = new ImageData(n, tall), out = new Uint32Array(image.data.buffer);
			strip.steps.forEach((s, x) => {
				let below = 0;
				s.values.forEach((v, k) => {
					const from = tall - Math.round((below / strip.most) * tall), to = tall - Math.round(((below += v) / strip.most) * tall), c = pixel(colours(k));
					for (let y = to; y < from; y++) out[y * n + x] = c;
				});
			});
			strip.canvas.width = n;
			strip.canvas.height = tall;
			strip.canvas.getContext('2d')!.putImageData(image, 0, 0);
		}
		const x = (t: number) => ((t - t0) / (t1 - t0)) * width, a = x(strip.steps[0].from), b = x(strip.steps[n - 1].to);
		g.imageSmoothingEnabled = false;
		g.drawImage(strip.canvas, a, top, b - a, PART);
		g.fillStyle = this.app.palette().dim;
		g.font = '10px system-ui, sans-serif';
		g.textBaseline = 'top';
		g.fillText(short(Math.round(strip.most * 10) / 10), 3, top);
	}
}
