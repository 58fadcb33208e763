// SPDX-License-Identifier: Apache-2.0
// global.ts: the whole machine above the lanes, on the same axis: waves in flight on every compute unit, by shader engine, and in which
// state the traced waves were. From the answers of `occupancy` and `waves`, which also say how coarse they are.
import { App } from '../app';
import { fill, framed, h } from '../base/dom';
import { count, largest, short } from '../base/format';
import { colourOf } from '../base/palette';

interface Step { from: number; to: number; values: number[] }
interface Occupancy { all?: { first_cycle: number; peak_waves: number }; ses?: { se?: number }[]; series?: { from: number; to: number; by_se: number[] }[] }
type Series = { from_aligned: number; bin_cycles: number } & Record<string, number | number[]>;
interface Waves { series?: Series }

const HEIGHT = 74, PART = 34;
/** colours of the states: those of the buckets they are compared with */
const STATES: [string, number][] = [['EXEC', 0], ['STALL', 1], ['WAIT', 2], ['IDLE', 3]];

export class Global {
	readonly element: HTMLElement;
	readonly draw: () => void;
	private readonly canvas = h('canvas', { role: 'img' });
	private readonly label = h('div', { class: 'global-label' });
	private waves: Step[] = [];
	private states: Step[] = [];
	private peak = 0;
	private isAsked = false;

	constructor(private readonly app: App) {
		this.element = h('div', { class: 'global', hidden: true }, this.label, this.canvas);
		this.draw = framed(() => this.paint());
		new ResizeObserver(this.draw).observe(this.canvas);
	}

	show(isOpen: boolean): void {
		this.element.hidden = !isOpen;
		if (isOpen && !this.isAsked) this.ask();
		if (isOpen) this.draw();
	}

	private ask(): void {
		this.isAsked = true;
		const origin = this.app.trace.span.origin ?? 0;
		void this.app.verb<Occupancy>('occupancy', { bins: 240, top: 'all' }).then((a) => {
			const first = (a.data.all?.first_cycle ?? origin) - origin;
			this.waves = (a.data.series ?? []).map((s) => ({ from: first + s.from, to: first + s.to, values: s.by_se }));
			this.peak = a.data.all?.peak_waves ?? 0;
			this.tell();
		}, () => this.tell());
		void this.app.verb<Waves>('waves', { bins: 240, top: 'all' }).then((a) => {
			const s = a.data.series;
			if (!s) return this.tell();
			const n = Math.max(...STATES.map(([name]) => (s[name] as number[] | undefined)?.length ?? 0)), at = s.from_aligned - origin;
			this.states = Array.from({ length: n }, (_, i) => ({ from: at + i * s.bin_cycles, to: at + (i + 1) * s.bin_cycles, values: STATES.map(([name]) => ((s[name] as number[] | undefined)?.[i] ?? 0) / s.bin_cycles) }));
			this.tell();
		}, () => this.tell());
	}

	private tell(): void {
		const bin = this.waves[0] ? this.waves[0].to - this.waves[0].from : 0;
		fill(this.label, h('div', null, 'Global'), h('div', { class: 'dim' }, this.waves.length ? `waves by SE, peak ${count(this.peak)}` : 'no occupancy recorded'),
			h('div', { class: 'dim' }, this.states.length ? 'states of traced waves' : 'no wave states'));
		this.label.title = bin ? `Means over ${count(bin)} cycles` : '';
		this.canvas.setAttribute('aria-label', `Waves in flight, at most ${count(this.peak)}, and states of the traced waves over time`);
		this.draw();
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
		this.stack(g, this.states, width, HEIGHT - PART - 2, (i) => p.buckets[STATES[i][1]]);
	}

	private stack(g: CanvasRenderingContext2D, steps: Step[], width: number, top: number, colour: (i: number) => string): void {
		const { t0, t1 } = this.app.store.get(), most = largest(steps, (s) => s.values.reduce((a, b) => a + b, 0), 1e-9);
		for (const s of steps) {
			if (s.to <= t0 || s.from >= t1) continue;
			const a = ((s.from - t0) / (t1 - t0)) * width, b = ((s.to - t0) / (t1 - t0)) * width;
			let below = 0;
			s.values.forEach((v, i) => {
				const tall = (v / most) * PART;
				g.fillStyle = colour(i);
				if (tall > 0) g.fillRect(a, top + PART - below - tall, Math.max(0.6, b - a), tall);
				below += tall;
			});
		}
		g.fillStyle = this.app.palette().dim;
		g.font = '10px system-ui, sans-serif';
		g.textBaseline = 'top';
		if (steps.length) g.fillText(short(Math.round(most * 10) / 10), 3, top);
	}
}
