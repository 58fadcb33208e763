// SPDX-License-Identifier: Apache-2.0
// flame/view.ts: the flame graph: kernel, file, inline frames, instructions; width is cycles, what of them is lost or exposed, one bucket, or samples.
import { App, Panel } from '../../app';
import { button, Choice, choose, download, fill, framed, h, notice } from '../../base/dom';
import { baseName, count, cyclesWith, largest, middle, share } from '../../base/format';
import { Bucket, BUCKETS, ink, rgb } from '../../base/palette';
import { isSampled } from '../../source';
import { State } from '../../state';
import { Changed, LIFETIME, scaled, sum, View } from '../common';
import { DiffPart, Hot, Isa, IsaRow } from '../types';
import { chargeSwitch, hasInlined } from '../source/charge';
import { diffParts } from '../versus';
import { Box, boxes, buildTree, exposedOf, folded, Node, Weigh } from './tree';

type Width = 'cycles' | 'lost' | 'exposed' | 'samples' | Bucket;
const ROW = 20;

class FlameView extends View {
	private isa!: Isa;
	private width: Width = 'cycles';
	/** exposed cycles of a row; asked for when they are chosen: the verb walks the capture twice */
	private exposed: Weigh = () => 0;
	private isInverted = false;
	/** what changed against the other capture, by row number; empty without a comparison */
	private diffs = new Map<string, DiffPart>();
	private isDiff = true;
	private root!: Node;
	private zoomed: Node[] = [];
	private query = '';
	private drawn: Box[] = [];
	private focus = 0;
	private readonly bar = h('div', { class: 'panel-bar' });
	private readonly path = h('nav', { class: 'flame-path', attrs: { 'aria-label': 'Part of the graph that is shown' } });
	private readonly canvas = h('canvas', { class: 'flame', tabIndex: 0, role: 'img' });
	private readonly tip = h('div', { class: 'plot-tip', hidden: true });
	private readonly said = h('p', { class: 'dim', attrs: { 'aria-live': 'polite' } });
	private readonly later = framed(() => this.draw());
	private watcher: ResizeObserver | null = null;

	constructor(host: HTMLElement, app: App) {
		super(host, app, 'flame');
		this.listen();
		this.ask();
	}

	private ask(): void {
		const hot = this.width === 'exposed' ? this.app.verb<Hot>('hot', { by: 'instr', exposed: 1, top: 'all' }) : null;
		this.load(Promise.all([this.app.verb<Isa>('isa'), diffParts(this.app, 'instr'), hot]), ([a, b, c]) => {
			this.diffs = b;
			if (c) this.exposed = exposedOf(a.data, c.data.rows ?? []);
			this.show(a.data);
		});
	}

	private show(isa: Isa): void {
		this.isa = isa;
		if (!isa.accounting && isa.rows.some((r) => r.samples)) this.width = 'samples';
		this.rebuild();
		if (!this.root.weight && this.width !== 'exposed') {
			fill(this.body, notice('Nothing to draw', isa.rows.length ? 'No instruction of this capture has a cost.' : 'The capture holds no code.'));
			return;
		}
		fill(this.body, this.bar, this.path, h('div', { class: 'flame-space' }, this.canvas, this.tip), this.said);
		this.watcher ??= new ResizeObserver(this.later);
		this.watcher.observe(this.body);
	}

	private weigh(r: IsaRow): number {
		if (this.width === 'samples') return r.samples ?? 0;
		if (this.width === 'exposed') return this.exposed(r);
		if (this.width === 'cycles') return this.isa.accounting ? r.cycles : r.latency + r.idle;
		return this.width === 'lost' ? r.cycles - r.buckets.issue : r.buckets[this.width];
	}

	private rebuild(): void {
		this.root = buildTree(this.isa, String(this.app.trace.input.kernel ?? '(no name)'), (r) => this.weigh(r), this.isInverted, (r) => this.diffs.get(String(r.row)), this.app.store.get().isCalled);
		this.zoomed = [this.root];
		this.drawBar();
		this.said.textContent = this.width === 'exposed' ? `Exposed: ${count(this.root.weight)} cycles, ${this.exposedBasis()}` : '';
		this.later();
	}

	private exposedBasis(): string {
		return isSampled(this.app.trace) ? 'lost cycles in which the scheduler issued nothing (samples × period, an estimate)' : 'lost cycles in which no other wave of the SIMD issued';
	}

	/** Why nobody can tell what was exposed, or null. */
	private exposedMissing(): string | null {
		const { trace } = this.app;
		if (isSampled(trace)) return trace.tracks.length || this.isa.totals.exposed_samples === undefined ? 'samples do not tell' : null;
		if (trace.has_pipes) return 'see Pipes';
		return this.isa.accounting && /^gfx/.test(String(trace.input.arch)) ? null : 'no waves of a SIMD';
	}

	private widths(): Choice[] {
		const missing = this.exposedMissing(), all: Width[] = this.isa.accounting ? ['cycles', 'lost', 'exposed', ...BUCKETS] : ['samples', 'cycles', 'exposed'];
		return all.map((value) => value === 'lost' ? { value, label: 'lost cycles' }
			: value === 'exposed' ? { value, label: missing ? `exposed (${missing})` : 'exposed cycles', disabled: !!missing, title: missing ?? this.exposedBasis() } : { value, label: value });
	}

	private drawBar(): void {
		const search = h('input', { class: 'filter', attrs: { type: 'search', placeholder: 'Search frames', 'aria-label': 'Search frames' } });
		search.value = this.query;
		search.addEventListener('input', () => {
			this.query = search.value.toLowerCase();
			this.later();
		});
		fill(this.bar, choose('Width', this.widths(), this.width, (v) => {
			this.width = v as Width;
			if (v === 'exposed') this.ask();
			else this.rebuild();
		}), button(this.isInverted ? 'Outside first' : 'Invert', 'Turn the graph over: instructions first, or the kernel first', () => {
			this.isInverted = !this.isInverted;
			this.rebuild();
		}), this.diffs.size > 0 && choose('Colour', [{ value: 'diff', label: 'change against the other capture' }, { value: 'bucket', label: 'bucket' }], this.isDiff ? 'diff' : 'bucket', (v) => {
			this.isDiff = v === 'diff';
			this.later();
		}), hasInlined(this.isa) && chargeSwitch(this.app), button('Whole', 'Show the whole graph', () => this.zoom(this.root)), h('span', { class: 'grow' }), search,
		button('Folded', 'Save as folded stacks, which other flame graph tools read', () => download('stacks.folded', new Blob([folded(this.root)], { type: 'text/plain' }))));
	}

	private zoom(n: Node): void {
		const at = this.zoomed.indexOf(n);
		this.zoomed = at >= 0 ? this.zoomed.slice(0, at + 1) : [...this.zoomed, n];
		this.focus = 0;
		this.later();
	}

	private text(n: Node): string {
		const unit = this.width === 'samples' ? count(n.weight) + ' samples' : cyclesWith(n.weight, scaled(this.app, () => this.root.weight, this.width === 'cycles' ? LIFETIME : this.width).units());
		return `${n.name}: ${unit}, ${share(n.weight, this.root.weight)} of ${this.width === 'cycles' ? LIFETIME : this.width}${this.diffs.size ? `; ${this.changeText(n) || 'the same in the other capture'}` : ''}`;
	}

	/** By how much the cost per execution of what is under a node changed, as a part of 1; null: it has no partner. */
	private change(n: Node): number | null {
		return n.versus.cost ? n.versus.change / n.versus.cost : null;
	}

	private changeText(n: Node): string {
		const part = this.change(n), v = n.versus;
		if (part === null) return v.alone ? 'only in this capture' : '';
		if (Math.abs(part) < 0.0005) return '';
		return `${part > 0 ? (v.isBeyond ? '▲ +' : '△ +') : v.isBeyond ? '▼ ' : '▽ '}${share(part, 1)}${v.isWithin && !v.isBeyond ? ' (noise)' : ''}`;
	}

	private colour(n: Node): string {
		const p = this.app.palette();
		if (n.kind === 'rest') return p.dim;
		if (this.diffs.size && this.isDiff) {
			const part = this.change(n), v = n.versus;
			if (part === null) return v.alone ? p.buckets[4] : p.dim;
			return Math.abs(part) < 0.0005 || (v.isWithin && !v.isBeyond) ? p.dim : part > 0 ? p.worse : p.better;
		}
		if (n.kind === 'unmapped') return p.dim;
		let best: Bucket = 'issue';
		for (const b of BUCKETS) if (n.buckets[b] > n.buckets[best]) best = b;
		return n.weight && sum(n.buckets) ? p.buckets[BUCKETS.indexOf(best)] : p.accent;
	}

	private draw(): void {
		const wide = (this.canvas.parentElement?.clientWidth ?? 24) - 24, ratio = devicePixelRatio || 1, p = this.app.palette();
		if (wide < 1 || !this.root) return;
		const top = this.zoomed[this.zoomed.length - 1];
		this.drawn = boxes(top, 0.6 / wide);
		const height = (largest(this.drawn, (b) => b.depth, 0) + 1) * ROW;
		this.canvas.width = Math.round(wide * ratio);
		this.canvas.height = Math.round(height * ratio);
		this.canvas.style.width = wide + 'px';
		this.canvas.style.height = height + 'px';
		const g = this.canvas.getContext('2d')!;
		g.setTransform(ratio, 0, 0, ratio, 0, 0);
		g.fillStyle = p.background;
		g.fillRect(0, 0, wide, height);
		g.font = '12px system-ui, sans-serif';
		g.textBaseline = 'middle';
		const chosen = this.app.store.get().selection?.code;
		this.drawn.forEach((b, i) => this.box(g, b, i, wide, chosen));
		fill(this.path, this.zoomed.map((n, i) => h('button', { class: 'link', on: { click: () => this.zoom(n) } }, (i ? '› ' : '') + (n.name.length > 40 ? n.name.slice(0, 39) + '…' : n.name))));
		this.canvas.setAttribute('aria-label', `Flame graph by ${this.width}: ${this.drawn.slice(0, 6).map((b) => this.text(b.node)).join('; ')}`);
	}

	private box(g: CanvasRenderingContext2D, b: Box, i: number, all: number, chosen: number | undefined): void {
		const x = b.x * all, w = Math.max(0.5, b.w * all - 1), y = b.depth * ROW, fillColour = this.colour(b.node);
		const isFound = !!this.query && b.node.name.toLowerCase().includes(this.query), p = this.app.palette();
		const isLeaf = !b.node.children.length;
		const shade = mix(fillColour, p.background, this.query && !isFound ? 0.12 : b.node.kind === 'rest' ? 0.25 : isLeaf ? 0.9 : 0.34 + 0.08 * (b.depth % 2));
		g.fillStyle = shade;
		g.fillRect(x, y, w, ROW - 1);
		if (isFound || i === this.focus && document.activeElement === this.canvas || (b.node.row && b.node.row.index === chosen)) {
			g.strokeStyle = p.text;
			g.lineWidth = 2;
			g.strokeRect(x + 1, y + 1, Math.max(1, w - 2), ROW - 3);
		}
		if (w < 28) return;
		g.fillStyle = ink(shade);
		const changed = this.diffs.size && this.isDiff && b.node.kind !== 'rest' ? this.changeText(b.node) : '', { name, kind } = b.node;
		const wide = (t: string) => g.measureText(t).width, shown = (changed ? `${changed}  ` : '') + name;
		g.fillText(middle(kind === 'file' && wide(shown) > w - 8 ? baseName(name) : shown, w - 8, wide), x + 4, y + ROW / 2);
	}

	private at(e: MouseEvent): number {
		const r = this.canvas.getBoundingClientRect(), x = (e.clientX - r.left) / r.width, depth = Math.floor((e.clientY - r.top) / ROW);
		return this.drawn.findIndex((b) => b.depth === depth && b.x <= x && x < b.x + b.w);
	}

	private pick(b: Box): void {
		const n = b.node;
		if (n.row && !n.children.length) this.app.select({ kind: 'code', code: n.row.index });
		else if (n.source !== undefined && n.line !== undefined) this.app.select({ kind: 'line', source: n.source, line: n.line });
		this.said.textContent = this.text(n);
	}

	private listen(): void {
		this.canvas.addEventListener('mousemove', (e) => {
			const b = this.drawn[this.at(e)];
			this.tip.hidden = !b;
			if (!b) return;
			this.tip.textContent = `${this.text(b.node)}\n${BUCKETS.filter((k) => b.node.buckets[k]).map((k) => `${k} ${share(b.node.buckets[k], sum(b.node.buckets))}`).join(', ')}`;
			const r = this.canvas.getBoundingClientRect();
			this.tip.style.left = Math.min(e.clientX - r.left + 12, r.width - this.tip.offsetWidth - 4) + 'px';
			this.tip.style.top = e.clientY - r.top + 16 + 'px';
		});
		this.canvas.addEventListener('mouseleave', () => (this.tip.hidden = true));
		this.canvas.addEventListener('click', (e) => {
			const b = this.drawn[this.at(e)];
			if (!b) return;
			this.pick(b);
			if (b.node.children.length) this.zoom(b.node);
		});
		this.canvas.addEventListener('keydown', (e) => this.key(e));
		this.canvas.addEventListener('focus', this.later);
	}

	private key(e: KeyboardEvent): void {
		const here = this.drawn[this.focus];
		if (!here) return;
		const near = (f: (b: Box) => boolean) => this.drawn.findIndex(f);
		let to = -1;
		if (e.key === 'ArrowDown') to = near((b) => b.depth === here.depth + 1 && b.x >= here.x - 1e-9);
		else if (e.key === 'ArrowUp') to = near((b) => b.depth === here.depth - 1 && b.x <= here.x + 1e-9 && here.x < b.x + b.w);
		else if (e.key === 'ArrowRight') to = near((b) => b.depth === here.depth && b.x > here.x + 1e-12);
		else if (e.key === 'ArrowLeft') to = this.drawn.reduce((m, b, i) => (b.depth === here.depth && b.x < here.x - 1e-12 && (m < 0 || b.x > this.drawn[m].x) ? i : m), -1);
		else if (e.key === 'Enter') {
			this.pick(here);
			if (here.node.children.length) this.zoom(here.node);
		} else if (e.key === 'Backspace' && this.zoomed.length > 1) this.zoom(this.zoomed[this.zoomed.length - 2]);
		else return;
		e.preventDefault();
		e.stopPropagation();
		if (to >= 0) {
			this.focus = to;
			this.said.textContent = this.text(this.drawn[to].node);
		}
		this.later();
	}

	protected update(_state: Readonly<State>, keys: Changed): void {
		if (keys.has('unit') || keys.has('theme') || keys.has('selection') || keys.has('size')) this.later();
		if (keys.has('isCalled') && this.isa) this.rebuild();
		if (keys.has('scope') || keys.has('base')) this.ask();
	}

	close(): void {
		this.watcher?.disconnect();
		super.close();
	}
}

/** A colour laid over the background. */
function mix(colour: string, ground: string, part: number): string {
	const a = rgb(colour), b = rgb(ground);
	return '#' + a.map((v, i) => Math.round(v * part + b[i] * (1 - part)).toString(16).padStart(2, '0')).join('');
}

export const panel: Panel = {
	id: 'flame', title: 'Flame', hint: 'kernel, file, inline frames and instructions; width is cycles',
	questions: ['diff?by=instr&top=all', 'hot?by=instr&exposed=1&top=all', 'isa'],
	open: (host, app) => new FlameView(host, app),
};
