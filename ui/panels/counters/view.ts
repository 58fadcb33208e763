// SPDX-License-Identifier: Apache-2.0
// counters/view.ts: hardware counters over time, raw and computed from each other. Definitions are written here and evaluated by the
// program; an error is told with its place and spoils only what needs it.
import { App, Panel } from '../../app';
import { button, choose, fill, h, notice } from '../../base/dom';
import { count } from '../../base/format';
import { Latest } from '../../base/latest';
import { colourOf } from '../../base/palette';
import { Plot, Series } from '../../base/plot';
import { askJson } from '../../source';
import { State } from '../../state';
import { capture, Changed, facts, section, View } from '../common';
import { Waves } from '../types';
import { baseline, Figure, figures, Pair } from '../versus';

interface Row { se?: number; cu?: number; values: (number | null)[] }
interface Raw { name: string; unit: string | null; mean?: number | null; every: number; rows: Row[] }
interface Definition {
	name: string; text: string; default: boolean; hidden: boolean; line: number; error: { code: string; message: string; line: number; column: number } | null;
	min?: number | null; max?: number | null; mean?: number | null; every?: number; rows?: Row[];
}
interface Derived { axes: { first_cycle: number; step: number; coarse: boolean; samples: number; ses: number; cus: number }; counters: Raw[]; definitions: Definition[] }
const SAMPLE = '# one definition a line\nbusy_share := sum[BUSY_CU_CYCLES, axis=[SE,CU]] / max[sum[BUSY_CU_CYCLES, axis=[SE,CU]]]\n';

class CountersView extends View {
	private data!: Derived;
	private origin = 0;
	private shown = new Set<string>();
	private readonly means = h('div', { class: 'counter-means' });
	private layout: 'lines' | 'stack' | 'sum' = 'lines';
	private plots: { plot: Plot; series: Series[]; value: HTMLElement }[] = [];
	private text = '';
	private readonly evaluated = new Latest();
	private readonly compared = new Latest();
	private readonly list = h('div', { class: 'counter-list', role: 'group', attrs: { 'aria-label': 'Counters' } });
	private readonly space = h('div', { class: 'counter-plots' });
	private readonly errors = h('div', { class: 'errors', attrs: { 'aria-live': 'polite' } });
	private readonly editor = h('textarea', { class: 'editor mono', attrs: { rows: 5, spellcheck: false, 'aria-label': 'Definitions of derived counters' } });
	private timer = 0;

	constructor(host: HTMLElement, app: App) {
		super(host, app, 'counters');
		this.text = localText();
		this.editor.value = this.text;
		this.editor.addEventListener('input', () => {
			clearTimeout(this.timer);
			this.timer = window.setTimeout(() => this.evaluate(), 300);
		});
		this.load(Promise.all([this.question(this.text), app.verb<Waves>('waves', { bins: 240, top: 'all' }).catch(() => null)]), ([d, w]) => {
			this.origin = typeof w?.data.series?.from_aligned === 'number' ? w.data.series.from_aligned : d.axes.first_cycle;
			this.show(d);
		});
	}

	private question(text: string): Promise<Derived> {
		const isPlain = this.app.source.kind === 'report' || !text.trim();
		return askJson<{ data: Derived }>(this.app.source, 'derived', { d: isPlain ? undefined : oneLine(text), w: 512, c: capture(this.app) }).then((a) => a.data);
	}

	private show(d: Derived): void {
		this.data = d;
		if (!d.counters.length) {
			fill(this.body, notice('No counters', 'No hardware counter was recorded with this capture.', this.app.trace.vendor === 'amd' ? 'Ask for them when capturing: rocprofv3 --att-perfcounters (or --att-activity on gfx9).' : ''));
			return;
		}
		if (!this.shown.size) {
			const good = d.definitions.filter((x) => !x.hidden && !x.error && (x.max ?? 0) > 0).map((x) => x.name);
			for (const name of good.length ? good.slice(0, 3) : d.counters.slice(0, 2).map((c) => c.name)) this.shown.add(name);
		}
		const bar = h('div', { class: 'panel-bar' }, facts(['counters', count(d.counters.length)], ['samples', count(d.axes.samples)], ['every', `${count(d.axes.step)} cycles${d.axes.coarse ? ' (coarser than recorded)' : ''}`]), h('span', { class: 'grow' }),
			choose('Instances', [{ value: 'lines', label: 'a line each' }, { value: 'stack', label: 'stacked' }, { value: 'sum', label: 'summed' }], this.layout, (v) => {
				this.layout = v as typeof this.layout;
				this.drawPlots();
			}));
		this.compare();
		fill(this.body, bar, this.means, h('div', { class: 'counter-columns' }, this.list, this.space, this.app.source.kind === 'server' ? this.editorSection() : null));
		this.drawList();
		this.drawPlots();
		this.drawErrors();
	}

	/** Means of both captures, asked for when they are compared. */
	private compare(): void {
		const base = baseline(this.app), isPlain = this.app.source.kind === 'report' || !this.text.trim();
		const still = this.compared.begin();
		if (base < 0) return fill(this.means);
		askJson<{ data: Derived }>(this.app.source, 'derived', { d: isPlain ? undefined : oneLine(this.text), w: 512, c: base || undefined }).then(({ data: b }) => {
			if (!still()) return;
			const a = this.data, isSame = a.axes.step === b.axes.step, row = (name: string, x: number | null | undefined, y: number | null | undefined, unit: string): [string, Pair, Figure] => [name, { a: x ?? null, b: y ?? null }, { unit, title: 'mean over all samples', sense: 0 }];
			const raw = a.counters.map((c) => row(c.name, c.mean, b.counters.find((o) => o.name === c.name)?.mean, 'per sample')), made = a.definitions.filter((x) => !x.hidden && !x.error).map((x) => row(x.name, x.mean, b.definitions.find((o) => o.name === x.name)?.mean, 'mean'));
			fill(this.means, section('Means against the other capture', null, b.counters.length ? figures('Counters against the other capture', [...made, ...(isSame ? raw : [])]) : h('p', { class: 'dim' }, 'The other capture has no counters.'),
				b.counters.length > 0 && !isSame && h('p', { class: 'dim' }, `Raw counters are not compared: a sample is ${count(a.axes.step)} cycles here and ${count(b.axes.step)} there.`)));
		}, (e: Error) => still() && fill(this.means, h('p', { class: 'dim' }, `The counters of the other capture cannot be read: ${e.message}`)));
	}

	private editorSection(): HTMLElement {
		return section('Derived counters', [button('Example', 'Put an example in', () => this.insert(SAMPLE)), button('Clear', 'Remove all definitions', () => this.insert(''))], this.editor, this.errors,
			h('p', { class: 'dim' }, 'name := expression with + - * / < > == & |, sum mean min max [x, axis=[SE,CU]], select[x, i:j], remove[x, i], delta[x], max(a, b), min(a, b). A name that starts with _ is not shown. Built in: *_util, *_TFLOPS.'));
	}

	private insert(text: string): void {
		this.editor.value = text;
		this.evaluate();
	}

	private evaluate(): void {
		this.text = this.editor.value;
		keepText(this.text);
		const still = this.evaluated.begin();
		this.question(this.text).then((d) => {
			if (!still()) return;
			const before = new Set(this.data.definitions.map((x) => x.name));
			this.data = d;
			for (const x of d.definitions) if (!x.default && !x.hidden && !x.error && !before.has(x.name)) this.shown.add(x.name);
			this.drawList();
			this.drawPlots();
			this.drawErrors();
			this.compare();
		}).catch((e: Error) => still() && fill(this.errors, h('p', { class: 'error' }, e.message)));
	}

	private drawErrors(): void {
		const own = this.data.definitions.filter((x) => !x.default && x.error);
		fill(this.errors, own.map((x) => h('p', { class: 'error', attrs: { 'data-code': x.error!.code } }, `line ${x.error!.line}, column ${x.error!.column}: ${x.error!.message}`)));
		this.editor.setAttribute('aria-invalid', String(own.length > 0));
	}

	private item(name: string, title: string, isOff: string | null): HTMLElement {
		const box = h('input', { attrs: { type: 'checkbox' }, disabled: !!isOff });
		box.checked = this.shown.has(name) && !isOff;
		box.addEventListener('change', () => {
			if (box.checked) this.shown.add(name);
			else this.shown.delete(name);
			this.drawPlots();
		});
		return h('label', { class: 'counter-item' + (isOff ? ' off' : ''), title: isOff ?? title }, box, h('span', { class: 'clip' }, name), isOff && h('span', { class: 'dim clip' }, isOff));
	}

	private drawList(): void {
		const d = this.data, derived = d.definitions.filter((x) => !x.hidden);
		const good = derived.filter((x) => !x.error), bad = derived.filter((x) => x.error);
		fill(this.list, h('h4', null, 'Derived'), good.length ? good.map((x) => this.item(x.name, x.text, null)) : h('p', { class: 'dim' }, 'none of the built-in ones has its counters'),
			h('h4', null, 'Raw'), d.counters.map((c) => this.item(c.name, c.unit ?? 'events per sample', null)), bad.length > 0 && h('details', null, h('summary', null, `${bad.length} without a value`), bad.map((x) => this.item(x.name, x.text, x.error!.message))));
	}

	private series(rows: Row[], every: number, name: string): { series: Series[]; isStacked: boolean } {
		const p = this.app.palette(), a = this.data.axes, from = a.first_cycle - this.origin, n = rows[0]?.values.length ?? 0;
		// a point without a value ends the last sample: nothing is claimed beyond it
		const x = Float64Array.from({ length: n + 1 }, (_, i) => from + i * every * a.step);
		if (this.layout === 'sum' && rows.length > 1) {
			const y = new Float64Array(n + 1);
			y[n] = NaN;
			for (const r of rows) r.values.forEach((v, i) => (y[i] += v ?? 0));
			return { series: [{ name: `${name}, summed`, colour: colourOf(p, 0), x, y, kind: 'step' }], isStacked: false };
		}
		const busy = rows.filter((r) => rows.length < 16 || r.values.some((v) => v));
		return {
			series: busy.slice(0, 64).map((r, i) => ({
				name: [r.se !== undefined && `SE${r.se}`, r.cu !== undefined && `CU${r.cu}`].filter(Boolean).join(' ') || name, colour: colourOf(p, i), x, y: Float64Array.from([...r.values, NaN], (v) => v ?? NaN), kind: 'step', dash: i >= 12 ? [5, 3] : [],
			})), isStacked: this.layout === 'stack' && busy.length > 1,
		};
	}

	/** The stretch of time that the lanes show; all there is where there are no lanes. */
	private range(series: Series[]): [number, number] {
		const { t0, t1 } = this.app.store.get(), x = series[0]?.x ?? [0];
		return this.app.trace.tracks.length ? [t0, t1] : [x[0] ?? 0, x[x.length - 1] ?? 1];
	}

	/** One cursor for all plots; beside each name stands what it reads there. */
	private point(t: number | null): void {
		for (const p of this.plots) {
			p.plot.point(t);
			p.value.textContent = t === null ? '' : p.plot.read(t).map((v) => (p.series.length > 1 ? v : v.slice(v.lastIndexOf(': ') + 2))).join(', ');
		}
	}

	private drawPlots(): void {
		for (const p of this.plots.splice(0)) p.plot.close();
		const d = this.data, all = [...d.definitions.filter((x) => !x.error && !x.hidden).map((x) => ({ name: x.name, unit: /util$/i.test(x.name) ? '%' : /TFLOPS/.test(x.name) ? 'TFLOPS' : '', every: x.every ?? 1, rows: x.rows ?? [], what: x.text })),
			...d.counters.map((c) => ({ name: c.name, unit: c.unit ?? 'per sample', every: c.every, rows: c.rows, what: 'as recorded' }))].filter((x) => this.shown.has(x.name));
		fill(this.space, all.length ? all.slice(0, 24).map((x) => {
			const { series, isStacked } = this.series(x.rows, x.every, x.name);
			const plot = new Plot({ label: x.name, unit: x.unit || 'value', isStacked, height: 120, zoom: (a, b) => this.app.showTime(a, b), hover: (t) => this.point(t) }, this.app.palette());
			const value = h('span', { class: 'at-cursor clip' });
			this.plots.push({ plot, series, value });
			plot.look(this.app.palette(), this.app.units());
			plot.show(series, ...this.range(series));
			return h('figure', { class: 'counter-plot', attrs: { 'data-counter': x.name } }, h('figcaption', null, h('strong', null, x.name), value, h('span', { class: 'dim clip', title: x.what }, ' ' + x.what)), plot.element);
		}) : notice('No counter chosen', 'Choose some on the left.'));
	}

	protected update(_state: Readonly<State>, keys: Changed): void {
		if (!this.data?.counters.length) return;
		if (keys.has('base')) this.compare();
		if (keys.has('unit') || keys.has('theme')) this.drawPlots();
		else if (keys.has('t0') || keys.has('t1')) for (const p of this.plots) p.plot.show(p.series, ...this.range(p.series));
	}

	close(): void {
		clearTimeout(this.timer);
		for (const p of this.plots.splice(0)) p.plot.close();
		super.close();
	}
}

/** An address holds no line ends: a semicolon stands for each, and comments stay here. Lines and columns remain what they were. */
export function oneLine(text: string): string {
	return text.split('\n').map((l) => l.replace(/#.*$/, '').trimEnd()).join(';');
}

/** Definitions outlive the page where the browser allows it. */
function localText(): string {
	try {
		return localStorage.getItem('incore.derived') ?? '';
	} catch {
		return '';
	}
}

function keepText(text: string): void {
	try {
		localStorage.setItem('incore.derived', text);
	} catch { /* a file:// page may not keep anything */ }
}

export const panel: Panel = {
	id: 'counters', title: 'Counters', hint: 'hardware counters over time, raw and derived, with an editor for definitions',
	questions: ['derived?w=512', 'waves?bins=240&top=all'],
	open: (host, app) => new CountersView(host, app),
};
