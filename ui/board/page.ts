// SPDX-License-Identifier: Apache-2.0
// page.ts: the page of a store: is all well, the kernels and what got worse, and the history of the one that is chosen. What is shown stands in
// the address; figures come from the server, which asks the functions of `incore store`.
import { button, choose, fill, h, notice } from '../base/dom';
import { count } from '../base/format';
import { KeyBinding, Keys } from '../base/keys';
import { Latest } from '../base/latest';
import { Theme } from '../base/palette';
import { Table } from '../base/table';
import { dialog } from '../shell/dialogs_base';
import { chosen, setTheme } from '../shell/theme';
import { askJson, Query, Source, SourceError } from '../source';
import { Detail } from './detail';
import { kernelTable, worseTable } from './lists';
import { paper } from './paper';
import { Answer, decodePlace, encodePlace, gateWords, Line, NameCount, Overview, Place, Regression } from './types';

const FIGURES = ['duration', 'cycles', 'issue', 'stall', 'wait', 'idle', 'drain', 'per_track'];

interface List<R> { rows: R[]; total: number }

export class Page {
	place: Place = decodePlace(location.hash);
	private readonly told = h('div', { class: 'sr-only', role: 'status', attrs: { 'aria-live': 'polite' } });
	private readonly banner = h('div', { class: 'banner', role: 'status' });
	private readonly filter = h('form', { class: 'filter', role: 'search', attrs: { 'aria-label': 'Filter' } });
	private readonly tabs = h('div', { class: 'tabs', role: 'tablist' });
	private readonly list = h('div', { class: 'list', role: 'tabpanel' });
	private readonly kernels: Table<Line>;
	private readonly worse: Table<Regression>;
	private readonly detail: Detail;
	private readonly asked = new Latest();
	private overview: Overview | null = null;
	private lines: List<Line> = { rows: [], total: 0 };
	private regressions: List<Regression> = { rows: [], total: 0 };
	private store = '';

	constructor(private readonly host: HTMLElement, private readonly source: Source) {
		this.detail = new Detail(source, { go: (p) => this.go(p), say: (t) => this.say(t) });
		this.kernels = kernelTable((r) => this.go({ series: r.capture, change: 0, point: 0 }));
		this.worse = worseTable((r) => this.go({ series: r.capture, change: r.capture, point: 0 }));
		this.filter.addEventListener('submit', (e) => e.preventDefault());
		const keys = new Keys(this.bindings());
		addEventListener('keydown', (e) => keys.handle(e));
		addEventListener('hashchange', () => this.moved());
		paper(() => ({ store: this.store, overview: this.overview, lines: this.lines.rows, regressions: this.regressions.rows, detail: this.detail.written(this.place) }));
	}

	private bindings(): KeyBinding[] {
		const key = (id: string, keys: string[], does: string, run: () => void): KeyBinding => ({ id, keys, does, group: 'Store', run });
		return [
			key('kernels', ['1'], 'the kernels', () => this.go({ tab: 'kernels' })), key('worse', ['2'], 'what got worse', () => this.go({ tab: 'worse' })),
			key('filter', ['/'], 'filter by the name of a kernel', () => this.filter.querySelector('input')?.focus()), key('reload', ['R'], 'ask the store again', () => void this.load()),
			key('change-previous', ['['], 'the change before', () => this.detail.step(-1, this.place.change)), key('change-next', [']'], 'the change after', () => this.detail.step(1, this.place.change)),
			key('chart', ['G'], 'to the picture: arrow keys go from capture to capture, Enter shows one', () => this.detail.element.querySelector<SVGElement>('.chart svg')?.focus()),
			key('help', ['?'], 'this list', () => this.help()),
		];
	}

	private help(): void {
		dialog('Keys', h('div', { class: 'keys' }, h('section', null, h('table', null, this.bindings().map((b) => h('tr', { attrs: { 'data-key': b.id } }, h('td', null, b.keys.map((k) => h('kbd', null, k))), h('td', null, b.does)))))),
			h('p', null, 'In a table the arrow keys move, Enter chooses, Ctrl+C copies.'));
	}

	say(text: string): void {
		this.told.textContent = text;
	}

	/** Goes to another place: the address changes, and what depends on it. */
	go(part: Partial<Place>): void {
		this.place = { ...this.place, ...part };
		history.pushState(null, '', location.pathname + '#' + encodePlace(this.place));
		this.changed(part);
	}

	/** The list that is shown: where nothing else is asked for, what is worse. */
	private tab(): 'kernels' | 'worse' {
		return this.place.tab || (this.overview && !this.overview.is_passed ? 'worse' : 'kernels');
	}

	private moved(): void {
		const was = this.place;
		this.place = decodePlace(location.hash);
		this.changed(this.place.kernel !== was.kernel || this.place.arch !== was.arch || this.place.labels !== was.labels || this.place.figure !== was.figure || this.place.isAll !== was.isAll ? { kernel: '' } : {});
	}

	private changed(part: Partial<Place>): void {
		if (['kernel', 'arch', 'labels', 'figure', 'isAll'].some((k) => k in part)) void this.load();
		else this.draw();
	}

	private query(from = 0): Query {
		const p = this.place;
		return { kernel: p.kernel || undefined, arch: p.arch || undefined, label: p.labels || undefined, figure: p.figure || undefined, from: from || undefined };
	}

	/** Asks for both lists; what was there stays until the answers are. */
	async load(): Promise<void> {
		const still = this.asked.begin();
		this.host.setAttribute('aria-busy', 'true');
		try {
			const [series, worse] = await Promise.all([askJson<Answer<Overview>>(this.source, 'store/series', this.query()),
				askJson<Answer<{ regressions: Regression[] }>>(this.source, 'store/regressions', { ...this.query(), all: this.place.isAll ? 1 : undefined })]);
			if (!still()) return;
			this.overview = series.data;
			this.store = series.input.store;
			this.lines = { rows: series.data.series, total: series.input.total };
			this.regressions = { rows: worse.data.regressions, total: worse.input.total };
			this.kernels.rows(this.lines.rows);
			this.worse.rows(this.regressions.rows);
			this.detail.forget();
			this.draw(true);
		} catch (e) {
			if (still()) this.failed(e as SourceError);
		} finally {
			if (still()) this.host.removeAttribute('aria-busy');
		}
	}

	private failed(e: SourceError): void {
		if (e.status === 400 && this.overview) { // a regular expression that is none
			this.filter.querySelector('input')?.classList.add('bad');
			return this.say(e.message);
		}
		document.body.dataset.ready = 'failed';
		fill(this.host, notice('The store cannot be read', e.message ?? String(e), 'incore store ls says the same; a copy that incore store export made is whole.'), h('div', { class: 'notice row' }, button('Retry', 'Ask again', () => location.reload(), { class: 'button framed' })));
	}

	/** isNew: the lists came anew. */
	private draw(isNew = false): void {
		const p = this.place, o = this.overview;
		if (!o) return;
		if (isNew || !this.filter.isConnected) this.drawFrame(o);
		this.drawTabs();
		const isWorse = this.tab() === 'worse', table: Table<Line> | Table<Regression> = isWorse ? this.worse : this.kernels, shown = isWorse ? this.regressions : this.lines;
		const more = shown.rows.length < shown.total && h('p', { class: 'more' }, `The first ${count(shown.rows.length)} of ${count(shown.total)}, what costs most first; filter, or `, button('load more', 'The next of the list', () => void this.more(), { class: 'link' }));
		if (!this.list.contains(table.element) || isNew) fill(this.list, h('div', { class: 'list-tools' }, isWorse && this.pastBox(), table.tools()), table.element, more);
		this.list.setAttribute('aria-label', isWorse ? 'What got worse' : 'Kernels');
		const worst = isWorse ? this.regressions.rows[0] : undefined;
		if (!p.series && worst) [p.series, p.change] = [worst.capture, worst.capture];
		if (!p.series && this.lines.rows.length) p.series = this.lines.rows[0].capture;
		this.markRows();
		void this.detail.show(p).then(() => (document.body.dataset.ready = '1'));
	}

	private markRows(): void {
		const h = this.detail.history, p = this.place, mine = this.lines.rows.find((r) => r.capture === p.series) ?? this.lines.rows.find((r) => h && r.kernel === h.kernel && r.arch === h.arch && r.evidence === h.evidence && r.labels === h.labels);
		this.kernels.mark(mine ? [mine.capture] : [], false);
		this.worse.mark(p.change ? [p.change] : [], false);
	}

	private pastBox(): HTMLElement {
		const box = h('input', { attrs: { type: 'checkbox' } });
		box.checked = this.place.isAll;
		box.addEventListener('change', () => this.go({ isAll: box.checked }));
		return h('label', { class: 'choose' }, box, 'also those that are over');
	}

	private async more(): Promise<void> {
		const isWorse = this.tab() === 'worse', still = this.asked.begin();
		if (isWorse) {
			const next = await askJson<Answer<{ regressions: Regression[] }>>(this.source, 'store/regressions', { ...this.query(this.regressions.rows.length), all: this.place.isAll ? 1 : undefined });
			if (still()) this.worse.rows((this.regressions = { rows: [...this.regressions.rows, ...next.data.regressions], total: next.input.total }).rows);
		} else {
			const next = await askJson<Answer<Overview>>(this.source, 'store/series', this.query(this.lines.rows.length));
			if (still()) this.kernels.rows((this.lines = { rows: [...this.lines.rows, ...next.data.series], total: next.input.total }).rows);
		}
		if (still()) this.draw(true);
	}

	private drawFrame(o: Overview): void {
		this.drawBanner(o);
		this.drawFilter(o);
		const isEmpty = !o.captures && !this.place.kernel && !this.place.arch && !this.place.labels;
		if (this.host.querySelector('.title-bar') && isEmpty === !!this.host.querySelector('.empty')) return;
		const title = h('header', { class: 'title-bar' }, h('h1', { class: 'kernel', title: this.store }, this.store.replace(/^.*\//, '')), h('span', { class: 'dim' }, 'incore store'), h('span', { class: 'spring' }),
			choose('Theme', ['system', 'light', 'dark', 'contrast'].map((v) => ({ value: v, label: v })), chosen(), (v) => setTheme(v as Theme | 'system')),
			button('Reload', 'Ask the store again (R)', () => void this.load(), { class: 'button framed' }), button('Print', 'Print what is shown', () => print()), button('?', 'Keys', () => this.help()));
		document.title = `${this.store.replace(/^.*\//, '')} - incore store`;
		fill(this.host, title, this.told, isEmpty ? h('main', { class: 'empty' }, notice('The store is empty', 'No capture was added yet.', `incore store add --store ${this.store} CAPTURE adds one; incore sweep --store does it for a whole plan.`))
			: [this.banner, this.filter, h('main', { class: 'board' }, h('section', { class: 'lists', attrs: { 'aria-label': 'Lists' } }, this.tabs, this.list), this.detail.element)]);
	}

	private drawBanner(o: Overview): void {
		const all = this.lines.total, few = o.no_claim ? `; of ${count(o.no_claim)} nothing is claimed: fewer than four captures before the new` : '';
		const words = `${gateWords(o)}, of ${count(all)}`;
		this.banner.className = `banner ${o.is_passed ? 'ok' : 'bad'}`;
		this.banner.dataset.gate = o.is_passed ? 'passed' : 'failed';
		fill(this.banner, h('div', { class: 'banner-line' }, h('strong', null, o.is_passed ? '✓' : '▲'), h('span', { class: 'words' }, words + few), h('span', null, `${count(o.captures)} captures`)));
	}

	/** One list a key of labels: size, device, and whatever a team has. */
	private labelChoices(labels: NameCount[]): HTMLElement[] {
		const keys = new Map<string, NameCount[]>(), mine = this.place.labels.split(',').filter(Boolean);
		for (const l of [...labels, ...mine.filter((m) => !labels.some((x) => x.name === m)).map((name) => ({ name, count: 0 }))]) {
			const key = l.name.slice(0, Math.max(0, l.name.indexOf('=')));
			keys.set(key, [...(keys.get(key) ?? []), l]);
		}
		return [...keys].slice(0, 8).map(([key, all]) => choose(key, [{ value: '', label: 'all' }, ...all.map((l) => ({ value: l.name, label: `${l.name.slice(key.length + 1)} (${count(l.count)})` }))], mine.find((m) => m.startsWith(key + '=')) ?? '',
			(v) => this.go({ labels: [...mine.filter((m) => !m.startsWith(key + '=')), ...(v ? [v] : [])].sort().join(',') })));
	}

	private drawFilter(o: Overview): void {
		const p = this.place, hadFocus = this.filter.contains(document.activeElement) && document.activeElement instanceof HTMLInputElement;
		const input = h('input', { attrs: { type: 'search', placeholder: 'kernel, a regular expression  (/)', 'aria-label': 'Kernel, a regular expression', spellcheck: 'false' } });
		let timer = 0;
		input.value = p.kernel;
		input.addEventListener('input', () => {
			clearTimeout(timer);
			timer = window.setTimeout(() => this.go({ kernel: input.value }), 250);
		});
		const arches = [...o.arches.map((a) => a.name), ...(p.arch && !o.arches.some((a) => a.name === p.arch) ? [p.arch] : [])];
		fill(this.filter, input, choose('Arch', [{ value: '', label: 'all' }, ...arches.map((a) => ({ value: a, label: a }))], p.arch, (arch) => this.go({ arch })), this.labelChoices(o.labels),
			choose('Figure', [{ value: '', label: 'duration or cycles' }, ...FIGURES.map((f) => ({ value: f, label: f }))], p.figure, (figure) => this.go({ figure })),
			(p.kernel || p.arch || p.labels || p.figure) && button('Clear', 'No filter', () => this.go({ kernel: '', arch: '', labels: '', figure: '' }), { class: 'button framed' }));
		if (hadFocus) {
			input.focus();
			input.setSelectionRange(input.value.length, input.value.length);
		}
	}

	private drawTabs(): void {
		const one = (id: Place['tab'], label: string) => {
			const is = this.tab() === id, b = h('button', { class: 'tab', role: 'tab', tabIndex: is ? 0 : -1, attrs: { 'aria-selected': is, 'data-tab': id } }, label);
			b.addEventListener('click', () => this.go({ tab: id }));
			b.addEventListener('keydown', (e) => {
				if (e.key !== 'ArrowLeft' && e.key !== 'ArrowRight') return;
				e.preventDefault();
				this.go({ tab: id === 'worse' ? 'kernels' : 'worse' });
				this.tabs.querySelector<HTMLElement>('[aria-selected=true]')?.focus();
			});
			return b;
		};
		fill(this.tabs, one('kernels', `Kernels (${count(this.lines.total)})`), one('worse', `Regressions (${count(this.regressions.total)})`));
	}
}
