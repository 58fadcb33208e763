// SPDX-License-Identifier: Apache-2.0
// source/view.ts: source files with the cost of each line. Exclusive cost belongs to the innermost line of an instruction and adds up;
// inclusive cost is counted on every line of its inline chain and never summed.
import { App, Panel } from '../../app';
import { bucketText, paintBuckets } from '../../base/bars';
import { button, choose, copyText, fill, h, notice } from '../../base/dom';
import { baseName, count, largest, share, tail } from '../../base/format';
import { Latest } from '../../base/latest';
import { Column, Table } from '../../base/table';
import { askText } from '../../source';
import { keep, kept } from '../../base/keep';
import { State } from '../../state';
import { capture, Changed, countColumn, cyclesColumn, diffColumns, diffParts, facts, hasPipes, heatColumn, LIFETIME, scaled, View } from '../common';
import { DiffPart, Hot, HotGroup, Isa, Summary } from '../types';
import { wishFolded } from '../isa/fold';
import { chargeCallers, chargeSwitch, UNKNOWN } from './charge';
import { CodeScroll, paintCode, spaced } from './code';

/** `shown`: the text with spaces for tabs */
interface Line { line: number; text: string | null; shown: string | null; cost: HotGroup | null }
interface File { source: number; path: string; lines: Map<number, HotGroup>; cycles: number; text: string[] | null; isAsked: boolean }

/** "a/b.py:12" -> its parts; a key without a number is a whole of its own. */
export function splitKey(key: string): { path: string; line: number } | null {
	const m = /^(.*):(\d+)$/.exec(key);
	return m ? { path: m[1], line: Number(m[2]) } : null;
}

/** Addresses that editors listen to. */
const EDITORS: Record<string, string> = { 'VS Code': 'vscode://file%p:%l', VSCodium: 'vscodium://file%p:%l', Cursor: 'cursor://file%p:%l', Zed: 'zed://file%p:%l', JetBrains: 'idea://open?file=%p&line=%l' };
const EDITOR_KEY = 'incore.editor';

/** The address that opens a line in an editor; null where the path does not say which file it is. */
export function editorLink(editor: string, path: string, line: number): string | null {
	const isWindows = /^[A-Za-z]:[\\/]/.test(path);
	if (!path.startsWith('/') && !isWindows) return null;
	const clean = (isWindows ? '/' + path.replace(/\\/g, '/') : path).split('/').map(encodeURIComponent).join('/').replace('%3A', ':');
	return (EDITORS[editor] ?? EDITORS['VS Code']).replace('%p', () => clean).replace('%l', String(line));
}

/** What a group weighs: cycles, or samples where there are no cycles. */
export function weight(g: HotGroup): number {
	return g.cycles || g.samples || g.latency + g.idle;
}

class SourceView extends View {
	private files: File[] = [];
	private at = 0;
	private table: Table<Line> | null = null;
	private unknown: HotGroup | null = null;
	private whole = 1;
	private most = 1;
	private hasInclusive = false;
	/** something is inlined: exclusive and inclusive cost differ */
	private isInlined = false;
	private isSampled = false;
	private diffs = new Map<string, DiffPart>();
	private quality: Summary['source'] | null = null;
	private readonly qualities = new Latest();
	private readonly tabs = h('div', { class: 'file-tabs', role: 'tablist', attrs: { 'aria-label': 'Source files, hottest first' } });
	private readonly bar = h('div', { class: 'panel-bar' });
	private readonly space = h('div', { class: 'panel-fill' });
	private readonly scroll = h('div');
	private code: CodeScroll | null = null;

	constructor(host: HTMLElement, app: App) {
		super(host, app, 'source');
		this.ask();
	}

	private ask(): void {
		const { isCalled } = this.app.store.get(), isa = isCalled ? this.app.verb<Isa>('isa').then((i) => i.data) : null;
		this.load(Promise.all([this.app.verb<Hot>('hot', { by: 'line', top: 'all' }), diffParts(this.app, 'line'), isa]), ([a, b, c]) => {
			this.diffs = c ? new Map() : b;
			this.show(c ? chargeCallers(a.data, c) : a.data);
			this.askQuality();
		});
	}

	/** How well code is mapped comes with the summary, which walks all waits: the lines do not wait for it. */
	private askQuality(): void {
		const still = this.qualities.begin();
		void this.app.verb<Summary>('summary').then((b) => {
			if (!still()) return;
			this.quality = b.data.source ?? null;
			const file = this.files[this.at];
			if (file && this.bar.isConnected && this.isCollapsed()) this.draw();
			else if (file && this.bar.isConnected) this.drawBar(file);
		}, () => undefined);
	}

	private show(hot: Hot): void {
		this.hasInclusive = this.isInlined = false;
		this.unknown = null;
		this.isSampled = !hot.accounting;
		this.files = this.app.trace.sources.map((s, source) => ({ source, path: s.path, lines: new Map(), cycles: 0, text: null, isAsked: false }));
		const byPath = new Map(this.files.map((f) => [f.path, f]));
		for (const g of (hot.groups ?? []) as HotGroup[]) {
			const place = splitKey(g.key), file = place && byPath.get(place.path);
			if (g.key === UNKNOWN) this.unknown = g;
			if (!file || !place) continue;
			file.lines.set(place.line, g);
			file.cycles += weight(g);
			this.isInlined ||= !!g.inclusive && (g.inclusive.hit !== g.hit || g.inclusive.latency !== g.latency);
			this.hasInclusive ||= !!g.inclusive && (!hasPipes(this.app) || g.inclusive.hit !== g.hit || g.inclusive.latency !== g.latency);
		}
		this.whole = hot.accounting?.duration ?? (hot.totals.samples || hot.totals.latency + hot.totals.idle);
		this.files = this.files.filter((f) => f.lines.size || this.app.trace.sources[f.source].has_text).sort((a, b) => b.cycles - a.cycles);
		if (!this.files.length) {
			fill(this.body, notice('No source lines', this.unknown
				? `None of the instructions is mapped to a source line; ${share(weight(this.unknown), this.whole)} of the cycles have no line.`
				: 'The capture maps no instruction to a source line.', 'Build the kernel with -g or -gline-tables-only and capture again; the ISA panel shows the instructions meanwhile.'));
			return;
		}
		fill(this.body, this.tabs, this.bar, this.space, this.scroll);
		const s = this.app.store.get().selection;
		const chosen = s?.source === undefined ? -1 : this.files.findIndex((f) => f.source === s.source);
		this.open(Math.max(0, chosen));
	}

	private open(at: number): void {
		this.at = at;
		const file = this.files[at];
		this.drawTabs();
		this.most = largest(file.lines.values(), weight);
		if (this.app.trace.sources[file.source].has_text && !file.isAsked) {
			file.isAsked = true;
			askText(this.app.source, 'source', { file: file.source, c: capture(this.app) }).then((text) => {
				file.text = text.replace(/\n$/, '').split('\n');
				if (this.files[this.at] === file) this.draw();
			}).catch(() => this.files[this.at] === file && this.draw());
		}
		this.draw();
	}

	private drawTabs(): void {
		fill(this.tabs, this.files.slice(0, 60).map((f, i) => {
			const tab = button(baseName(f.path), `${f.path}: ${share(f.cycles, this.whole)} of the ${this.isSampled ? 'samples' : 'cycles'}`, () => this.open(i),
				{ class: 'file-tab' + (i === this.at ? ' current' : ''), role: 'tab', attrs: { 'aria-selected': i === this.at } });
			tab.appendChild(h('span', { class: 'dim' }, ' ' + share(f.cycles, this.whole)));
			return tab;
		}), this.files.length > 60 && h('span', { class: 'dim' }, `and ${this.files.length - 60} more`));
	}

	private columns(): Column<Line>[] {
		const app = this.app, all = scaled(app, () => this.whole), palette = app.palette();
		const out: Column<Line>[] = [
			{ id: 'line', head: 'line', isNumber: true, width: '4rem', value: (l) => l.line },
			heatColumn((l) => (l.cost ? weight(l.cost) / this.most : 0), (l) => (l.cost ? `${share(weight(l.cost), this.whole)} of ${this.isSampled ? 'samples' : LIFETIME}` : '')),
			{ id: 'text', head: 'source', isMono: true, width: 'minmax(12rem, 6fr)', value: (l) => l.text, paint: (cell, l) => paintCode(cell, l.shown ?? ''), drawn: () => null, hint: (l) => l.text?.trim() ?? '' },
		];
		if (this.isSampled) out.push({ ...countColumn<Line>('cycles', 'samples', (l) => l.cost?.samples), width: '6rem' });
		else out.push(
			{ ...countColumn<Line>('hit', 'hits', (l) => l.cost?.hit), width: '5rem', isExtra: true },
			{ ...cyclesColumn<Line>(all, 'cycles', 'exclusive', (l) => l.cost?.cycles, this.app.store.get().isCalled ? 'cycles of the instructions whose outermost line this is: adds up to the whole' : 'cycles of the instructions whose innermost line this is: adds up to the whole'), width: '6.5rem' });
		out.push(
			{ id: 'share', head: 'share', isExtra: !this.isSampled, isNumber: true, unit: () => `% of ${this.isSampled ? 'samples' : LIFETIME}`, width: '4.2rem', value: (l) => (l.cost ? weight(l.cost) : null), cell: (l) => (l.cost && weight(l.cost) ? share(weight(l.cost), this.whole, false) : '') });
		// where lines say little, each says how much of the code it is
		if (this.isCollapsed() && !this.isSampled) out.push({ ...countColumn<Line>('rows', 'rows', (l) => l.cost?.executed_rows, 'instructions of this line that ran'), width: '4.5rem' },
			{ ...cyclesColumn<Line>(all, 'latency', 'latency', (l) => l.cost?.latency, 'of the instructions of this line, without the idle time before them'), width: '6rem', isExtra: true });
		if (this.hasInclusive) out.push({ ...cyclesColumn<Line>(all, 'inclusive', 'inclusive', (l) => (l.cost?.inclusive ? l.cost.inclusive.latency + l.cost.inclusive.idle : null), 'latency and idle of everything inlined here as well: never to be summed'), width: '6.5rem', isExtra: true });
		const path = this.files[this.at].path;
		if (this.diffs.size) out.push(...diffColumns<Line>((l) => this.diffs.get(`${path}:${l.line}`)));
		if (!this.isSampled) out.push({ id: 'bar', head: 'split', isLate: true, isExtra: true, title: 'where the cycles go: issue, stall, wait, idle, drain', width: 'minmax(7rem, 1fr)', value: (l) => l.cost?.cycles ?? null, paint: (cell, l) => paintBuckets(cell, l.cost?.cycles ? l.cost.buckets : null, this.most, palette), drawn: () => '', hint: (l) => (l.cost ? bucketText(l.cost.buckets) : '') });
		return out;
	}

	private draw(): void {
		const file = this.files[this.at];
		this.closeTable();
		const lines: Line[] = file.text
			? file.text.map((text, i) => ({ line: i + 1, text, shown: spaced(text), cost: file.lines.get(i + 1) ?? null }))
			: [...file.lines.keys()].sort((a, b) => a - b).map((line) => ({ line, text: null, shown: null, cost: file.lines.get(line)! }));
		const beyond = file.text ? [...file.lines.keys()].filter((n) => n > file.text!.length) : [];
		for (const line of beyond.sort((a, b) => a - b)) lines.push({ line, text: '(beyond the end of the text in the capture)', shown: '(beyond the end of the text in the capture)', cost: file.lines.get(line)! });
		const table: Table<Line> = this.table = new Table<Line>({
			label: `Source of ${baseName(file.path)}`, name: 'Source', columns: this.columns(), key: (l) => l.line, rowHeight: 20, csv: baseName(file.path) + '.csv',
			rowClass: (l) => (l.cost && weight(l.cost) ? 'hot' : ''), beside: { element: h('span', { hidden: true }), draw: (first, last) => this.code?.seen(table.list().slice(first, last).map((l) => l.shown)) }, pick: (l) => this.app.select({ kind: 'line', source: file.source, line: l.line }),
		});
		this.code = file.text && new CodeScroll(table.element, 'text');
		table.rows(lines);
		this.drawBar(file);
		fill(this.space, table.element);
		fill(this.scroll, this.code?.element);
		this.code?.lines(lines.map((l) => l.shown ?? ''));
		this.mark(this.app.store.get(), true);
		const s = this.app.store.get().selection;
		if (s?.source !== file.source || s.line === undefined) this.revealHottest(file);
	}

	private revealHottest(file: File): void {
		let hottest = -1, most = 0;
		for (const [line, g] of file.lines) if (weight(g) > most) [hottest, most] = [line, weight(g)];
		const table = this.table, at = table?.indexOf(hottest) ?? -1;
		const isChosen = () => this.app.store.get().selection?.source === file.source;
		if (table && at >= 0) requestAnimationFrame(() => this.table === table && !isChosen() && table.reveal(at));
	}

	private isCollapsed(): boolean {
		return !!this.quality && this.quality.collapse !== 'no' && this.quality.collapse !== 'no-source';
	}

	/** What the line that most code claims holds: of rows, of their executions, and of their latency. */
	private collapseWords(): string {
		const top = this.quality?.granularity?.top_line, place = splitKey(top?.source ?? ''), all = this.files.flatMap((f) => [...f.lines.values()]), sum = (f: (g: HotGroup) => number) => all.reduce((n, g) => n + f(g), 0);
		const g = place && this.files.find((f) => f.path === place.path)?.lines.get(place.line);
		return !g || !place ? 'collapsed: most code claims one line' : `collapsed: line ${place.line} of ${baseName(place.path)} holds ${count(g.executed_rows)} of ${count(sum((x) => x.executed_rows))} executed rows, ${share(g.hit, sum((x) => x.hit))} of executions, ${share(top?.latency_share ?? null, 1)} of latency`;
	}

	private drawBar(file: File): void {
		const s = this.app.store.get().selection, line = s?.source === file.source ? s.line ?? 1 : 1, q = this.quality;
		const editor = kept(EDITOR_KEY) ?? 'VS Code', link = editorLink(editor, file.path, line);
		fill(this.bar, h('span', { class: 'mono clip', title: file.path }, tail(file.path, 60)), !file.text && h('span', { class: 'warn' },
			this.app.trace.sources[file.source].has_text ? 'loading the text …' : 'the capture has no text of this file: lines with a cost only'),
		facts(['rows mapped', q ? `${count(q.mapped_rows)} of ${count(q.rows)}` : null], ['distinct lines', q ? count(q.distinct_lines) : null],
			['top line', q && q.top_line_latency_share ? share(q.top_line_latency_share, 1) + ' of latency' : null],
			['mapping', this.isCollapsed() ? h('span', { class: 'warn' }, this.collapseWords()) : null],
			['without a line', this.unknown ? `${share(weight(this.unknown), this.whole)} of ${this.isSampled ? 'samples' : LIFETIME}` : null]),
		this.isCollapsed() && button('Blocks and loops', 'The listing by its blocks and loops, which do not depend on lines', () => {
			this.app.openPanel('isa');
			wishFolded();
		}, { class: 'button framed' }), this.isCollapsed() && button('Inline frames', 'The flame graph: functions and inline frames instead of lines', () => this.app.openPanel('flame'), { class: 'button framed' }),
		h('span', { class: 'grow' }), (this.isInlined || this.app.store.get().isCalled) && chargeSwitch(this.app),
		button('Copy path', 'Copy path and line', () => void copyText(`${file.path}:${line}`).then(() => this.app.say('path copied'))),
		link && h('a', { class: 'button', title: `Open line ${line} in ${editor}`, attrs: { href: link } }, 'Open'),
		link && choose('in', Object.keys(EDITORS).map((value) => ({ value, label: value })), editor, (v) => {
			keep(EDITOR_KEY, v);
			this.drawBar(file);
		}),
		this.table?.tools());
	}

	private mark(state: Readonly<State>, scroll: boolean): void {
		const s = state.selection;
		this.table?.mark(s && s.source === this.files[this.at]?.source && s.line !== undefined ? [s.line] : [], scroll);
	}

	protected update(state: Readonly<State>, keys: Changed): void {
		if (!this.files.length) return;
		if (keys.has('selection')) {
			const source = state.selection?.source;
			const at = source === undefined ? -1 : this.files.findIndex((f) => f.source === source);
			if (at >= 0 && at !== this.at) this.open(at);
			else this.mark(state, true);
			this.drawBar(this.files[this.at]);
		}
		if (keys.has('theme')) this.draw();
		else if (keys.has('unit')) this.table?.refresh();
		if (keys.has('scope') || keys.has('base') || keys.has('isCalled')) this.ask();
	}

	private closeTable(): void {
		this.table?.close();
		this.code?.close();
		this.code = null;
	}

	close(): void {
		this.closeTable();
		super.close();
	}
}

export const panel: Panel = {
	id: 'source', title: 'Source', hint: 'source files, hottest first, with exclusive and inclusive cost of each line',
	questions: ['diff?by=line&top=all', 'hot?by=line&top=all', 'isa', 'summary'],
	open: (host, app) => new SourceView(host, app),
};
