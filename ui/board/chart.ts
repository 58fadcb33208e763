// SPDX-License-Identifier: Apache-2.0
// chart.ts: the figures of a series over its captures, with the band of its noise, its levels and its changes; and the small picture of a
// row. Drawn as SVG: every mark is an element that can be read, reached and printed. Where a mark stands follows from the place of its
// capture in the series, never from time: captures of one night would lie upon each other.
import { fill, framed, h, s } from '../base/dom';
import { count, known, short, ticks } from '../base/format';
import { Change, harm, History, minute, percentText, Point } from './types';

export const MARGIN = { left: 76, right: 18, top: 22, bottom: 26 };
/** more points than this have no dot each */
const DOTS = 250;

interface Frame { x: (index: number) => number; y: (value: number) => number; width: number; height: number; low: number; high: number }

/** The range of an axis: all figures and bands, and a little room. */
function range(history: History): [number, number] {
	let low = Infinity, high = -Infinity;
	const see = (v: number) => {
		low = Math.min(low, v);
		high = Math.max(high, v);
	};
	known(history.points.map((p) => p.value)).forEach(see);
	for (const l of history.levels) {
		if (l.level === null) continue;
		see(l.level - (l.limit ?? 0));
		see(l.level + (l.limit ?? 0));
	}
	const room = (high - low || Math.abs(high) || 1) * 0.06;
	return [Math.max(0, low - room), high + room];
}

function path(points: { x: number; y: number }[]): string {
	return points.map((p, i) => `${i ? 'L' : 'M'}${p.x.toFixed(1)} ${p.y.toFixed(1)}`).join('');
}

export interface ChartActs { change(c: Change): void; point(p: Point): void; say(text: string): void }

export class Chart {
	readonly element = h('div', { class: 'chart', role: 'group' });
	private readonly tip = h('div', { class: 'plot-tip', hidden: true });
	private history: History | null = null;
	private total = 0;
	private cursor = -1;
	private chosen = { change: 0, point: 0 };
	private frame: Frame | null = null;
	private readonly later = framed(() => this.draw());

	constructor(private readonly acts: ChartActs) {
		new ResizeObserver(this.later).observe(this.element);
		this.element.addEventListener('mousemove', (e) => this.hover(e));
		this.element.addEventListener('mouseleave', () => (this.tip.hidden = true));
		this.element.addEventListener('click', (e) => this.click(e));
		this.element.addEventListener('keydown', (e) => this.key(e));
	}

	/** total: captures of the series, of which some stand for others where there are many. */
	show(history: History, total: number, change: number, point: number): void {
		if (this.history !== history) this.cursor = -1;
		this.history = history;
		this.total = total;
		this.chosen = { change, point };
		this.draw();
	}

	/** "cycles of 36 captures, 100 to 250; 2 changes: ..." */
	private words(history: History): string {
		const values = known(history.points.map((p) => p.value)), changes = history.changes.map((c) => `${percentText(c.change_pct)} at capture ${c.capture}, ${minute(c.time)}`);
		return `${history.figure} in cycles of ${count(this.total)} captures, ${history.evidence}: ${values.length ? `${count(Math.min(...values))} to ${count(Math.max(...values))}` : 'none'}; ${changes.length ? `changes: ${changes.slice(-8).join('; ')}` : 'no change beyond noise'}`;
	}

	private draw(): void {
		const history = this.history, width = this.element.clientWidth, height = this.element.clientHeight;
		if (!history || width < 100 || height < 60) return;
		const [low, high] = range(history), n = Math.max(1, this.total - 1);
		const frame = (this.frame = {
			width, height, low, high, x: (i: number) => MARGIN.left + (i / n) * (width - MARGIN.left - MARGIN.right),
			y: (v: number) => height - MARGIN.bottom - ((v - low) / (high - low)) * (height - MARGIN.top - MARGIN.bottom),
		});
		const svg = s('svg', { attrs: { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': this.words(history), tabindex: 0 } },
			this.axes(frame, history), this.bands(frame, history), s('path', { class: 'curve', attrs: { d: path(known(history.points.map((p) => p.value === null ? null : { x: frame.x(p.index), y: frame.y(p.value) }))) } }), this.dots(frame, history));
		const hadFocus = this.element.contains(document.activeElement);
		// what can be chosen stands beside the picture: a picture has no parts for a screen reader
		fill(this.element, svg, this.changes(frame, history), this.tip);
		if (hadFocus) svg.focus();
	}

	private axes(f: Frame, history: History): SVGElement {
		const g = s('g', { class: 'axes' });
		for (const v of ticks(f.low, f.high, Math.max(2, Math.floor(f.height / 44)))) {
			g.appendChild(s('line', { attrs: { x1: MARGIN.left, x2: f.width - MARGIN.right, y1: f.y(v), y2: f.y(v) } }));
			g.appendChild(s('text', { attrs: { x: MARGIN.left - 6, y: f.y(v) + 4, 'text-anchor': 'end' } }, short(v)));
		}
		g.appendChild(s('text', { class: 'unit', attrs: { x: MARGIN.left - 6, y: 12, 'text-anchor': 'end' } }, 'cycles'));
		const points = history.points, wanted = Math.max(1, Math.floor((f.width - MARGIN.left) / 130)), isOneDay = points.length > 1 && points[0].time.slice(0, 10) === points[points.length - 1].time.slice(0, 10);
		let last = -Infinity, said = '';
		for (let k = 0; k <= wanted && points.length; k++) {
			const p = points[Math.round((k / wanted) * (points.length - 1))], x = f.x(p.index);
			const words = isOneDay ? p.time.slice(11, 19) : p.time.slice(0, 10);
			if (x - last < 110 || words === said) continue;
			last = x;
			said = words;
			g.appendChild(s('text', { attrs: { x, y: f.height - 8, 'text-anchor': x > f.width - 70 ? 'end' : x < MARGIN.left + 40 ? 'start' : 'middle' } }, words));
		}
		return g;
	}

	/** Of each stretch its level, and how far from it a figure may lie. */
	private bands(f: Frame, history: History): SVGElement {
		const half = (f.x(1) - f.x(0)) / 2;
		return s('g', null, history.levels.map((l) => {
			if (l.level === null) return null;
			const x1 = Math.max(MARGIN.left, f.x(l.index) - half), x2 = Math.min(f.width - MARGIN.right, f.x(l.index + l.captures - 1) + half);
			return [l.limit !== null && s('rect', { class: 'band', attrs: { x: x1, width: Math.max(1, x2 - x1), y: f.y(l.level + l.limit), height: Math.max(1, f.y(l.level - l.limit) - f.y(l.level + l.limit)), 'data-index': l.index } }),
				s('line', { class: 'level', attrs: { x1, x2, y1: f.y(l.level), y2: f.y(l.level) } })];
		}));
	}

	private dots(f: Frame, history: History): SVGElement {
		const g = s('g');
		for (const p of history.points) {
			const isChosen = p.capture === this.chosen.point;
			if (p.value === null || (!isChosen && !p.mark && history.points.length > DOTS)) continue;
			g.appendChild(s('circle', { class: `dot ${p.mark}${isChosen ? ' chosen' : ''}`, attrs: { cx: f.x(p.index), cy: f.y(p.value), r: isChosen ? 5 : p.mark ? 4 : 2.5, 'data-capture': p.capture } }));
		}
		for (const c of history.changes) g.appendChild(s('line', { class: 'changed', attrs: { x1: f.x(c.index), x2: f.x(c.index), y1: MARGIN.top, y2: f.height - MARGIN.bottom } }));
		const at = history.points[this.cursor];
		if (at) g.appendChild(s('line', { class: 'cursor', attrs: { x1: f.x(at.index), x2: f.x(at.index), y1: MARGIN.top, y2: f.height - MARGIN.bottom } }));
		return g;
	}

	/** A line with a flag where the level changed: a button each. */
	private changes(f: Frame, history: History): HTMLElement {
		return h('div', { class: 'flags' }, history.changes.map((c) => {
			const e = h('button', {
				class: `flag ${harm(c.change)}${c.capture === this.chosen.change ? ' chosen' : ''} ${c.state}`, title: `Capture ${c.capture}, ${minute(c.time)}${c.revision ? `, revision ${c.revision}` : ''}: ${count(c.before)} to ${count(c.after)} cycles`,
				style: { left: f.x(c.index) + 'px', bottom: MARGIN.bottom + 'px' }, attrs: { 'data-capture': c.capture, 'aria-pressed': c.capture === this.chosen.change, 'aria-label': `${c.state} change at capture ${c.capture}, ${minute(c.time)}: ${percentText(c.change_pct)}` },
			}, h('span', null, `${(c.change ?? 0) > 0 ? '▲' : '▼'} ${percentText(c.change_pct)}`));
			e.classList.toggle('left', f.x(c.index) > f.width - 110);
			e.addEventListener('click', (event) => {
				event.stopPropagation();
				this.acts.change(c);
			});
			return e;
		}));
	}

	/** The number of the point that is nearest to the pointer, or -1. */
	private nearest(e: MouseEvent): number {
		const points = this.history?.points ?? [], box = this.element.getBoundingClientRect(), f = this.frame;
		if (!f || !points.length) return -1;
		const x = e.clientX - box.left;
		let low = 0, high = points.length - 1;
		while (low < high) {
			const mid = (low + high) >> 1;
			if (f.x(points[mid].index) < x) low = mid + 1;
			else high = mid;
		}
		return low > 0 && x - f.x(points[low - 1].index) < f.x(points[low].index) - x ? low - 1 : low;
	}

	private pointWords(p: Point): string {
		return `Capture ${p.capture}, ${minute(p.time)}${p.revision ? `, revision ${p.revision}` : ''}\n${count(p.value)} cycles, ${percentText(p.off_pct)} from its level of ${count(p.level)}${p.mark ? `\n${p.mark}` : ''}`;
	}

	private hover(e: MouseEvent): void {
		const p = this.history?.points[this.nearest(e)], box = this.element.getBoundingClientRect();
		this.tip.hidden = !p;
		if (!p) return;
		this.tip.textContent = this.pointWords(p);
		this.tip.style.left = Math.max(4, Math.min(e.clientX - box.left + 12, box.width - this.tip.offsetWidth - 4)) + 'px';
		this.tip.style.top = '4px';
	}

	private click(e: MouseEvent): void {
		const p = this.history?.points[this.nearest(e)];
		if (p) this.acts.point(p);
	}

	/** The arrow keys go from capture to capture, Enter shows it. */
	private key(e: KeyboardEvent): void {
		const points = this.history?.points ?? [], steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
		if (!points.length || !(e.target instanceof SVGElement)) return;
		if (e.key in steps) {
			this.cursor = Math.max(0, Math.min(points.length - 1, (this.cursor < 0 ? points.length : this.cursor) + steps[e.key]));
			this.acts.say(this.pointWords(points[this.cursor]));
			this.draw();
		} else if (e.key === 'Enter' && points[this.cursor]) this.acts.point(points[this.cursor]);
		else return;
		e.preventDefault();
		e.stopPropagation();
	}
}

/** Some figures of a series as a line of 120 x 18; its words stand in the table beside it. */
export function sparkline(values: readonly number[], label: string): SVGElement {
	const low = Math.min(...values), high = Math.max(...values), span = high - low || 1, last = values.length - 1;
	const at = values.map((v, i) => ({ x: 2 + (last ? i / last : 1) * 116, y: 16 - ((v - low) / span) * 14 }));
	return s('svg', { class: 'spark', attrs: { viewBox: '0 0 120 18', width: 120, height: 18, role: 'img', 'aria-label': label } },
		s('path', { attrs: { d: path(at) } }), at.length > 0 && s('circle', { attrs: { cx: at[last].x, cy: at[last].y, r: 2 } }));
}
