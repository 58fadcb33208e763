// SPDX-License-Identifier: Apache-2.0
// table.ts: a sortable table of any length. Only the rows in sight are in the page; the arrow keys move a cursor, Enter opens, Ctrl+C
// copies. Rows are the caller's objects and never change; a new list is given with rows().
import { csvCell } from './format';
import { button, Child, copyText, download, fill, framed, h } from './dom';

export interface Column<R> {
	id: string;
	head: string;
	/** second line of the head: "cycles", "%" */
	unit?: () => string;
	title?: string;
	/** what sorting, copying and CSV use */
	value: (row: R) => number | string | null;
	/** what is shown; the value itself without it */
	cell?: (row: R) => Child;
	isNumber?: boolean;
	/** CSS width: "6rem", "1fr" */
	width?: string;
	/** not sortable by a click */
	isFixed?: boolean;
}

export interface TableOptions<R> {
	label: string;
	columns: Column<R>[];
	/** identity of a row: the mark and the cursor survive sorting */
	key: (row: R) => string | number;
	sort?: { id: string; isDown: boolean };
	/** a click or Enter */
	pick?: (row: R, event: MouseEvent | KeyboardEvent) => void;
	/** class names of a row */
	rowClass?: (row: R) => string;
	rowTitle?: (row: R) => string;
	empty?: string;
	rowHeight?: number;
	/** name of the CSV file; without it no CSV button */
	csv?: string;
	/** drawn behind the text of the row when it comes into sight (gutters) */
	decorate?: (element: HTMLElement, row: R) => void;
	/** called after the rows in sight changed */
	drawn?: (first: number, last: number) => void;
}

export class Table<R> {
	readonly element: HTMLElement;
	private readonly body: HTMLElement;
	private readonly head: HTMLElement;
	private readonly space: HTMLElement;
	private readonly foot: HTMLElement;
	private all: R[] = [];
	private shown: R[] = [];
	private marks = new Set<string | number>();
	private cursor = 0;
	private sort: { id: string; isDown: boolean } | null;
	private filter: ((row: R) => boolean) | null = null;
	private first = -1;
	private last = -1;
	/** elements of the rows in sight, by index: scrolling builds only what comes in */
	private readonly drawn = new Map<number, HTMLElement>();
	private readonly height: number;
	private readonly later: () => void;
	private readonly watcher: ResizeObserver;

	constructor(private readonly o: TableOptions<R>) {
		this.height = o.rowHeight ?? 24;
		this.sort = o.sort ?? null;
		this.head = h('div', { class: 'table-head', role: 'row' });
		this.body = h('div', { class: 'table-rows', role: 'rowgroup' });
		this.space = h('div', { class: 'table-space' }, this.body);
		this.foot = h('div', { class: 'table-foot' });
		this.element = h('div', { class: 'table', role: 'grid', tabIndex: 0, attrs: { 'aria-label': o.label } },
			h('div', { class: 'table-top', role: 'rowgroup' }, this.head), this.space);
		this.element.style.setProperty('--row', this.height + 'px');
		this.later = framed(() => this.draw(false));
		this.element.addEventListener('scroll', this.later, { passive: true });
		this.element.addEventListener('keydown', (e) => this.key(e));
		this.body.addEventListener('click', (e) => this.click(e));
		this.watcher = new ResizeObserver(this.later);
		this.watcher.observe(this.element);
		this.drawHead();
	}

	close(): void {
		this.watcher.disconnect();
		this.element.remove();
	}

	rows(rows: R[]): void {
		this.all = rows;
		this.arrange();
	}

	/** Rows as shown: filtered and sorted. */
	list(): readonly R[] {
		return this.shown;
	}

	/** Shows only what passes; null: everything. */
	only(filter: ((row: R) => boolean) | null): void {
		this.filter = filter;
		this.arrange();
	}

	sortBy(id: string, isDown: boolean): void {
		this.sort = { id, isDown };
		this.drawHead();
		this.arrange();
	}

	/** Marks rows by key; scrolls the first into sight when asked. */
	mark(keys: Iterable<string | number>, scroll: boolean): void {
		this.marks = new Set(keys);
		const at = scroll && this.marks.size ? this.shown.findIndex((r) => this.marks.has(this.o.key(r))) : -1;
		if (at >= 0) this.reveal(at);
		else this.draw(true);
	}

	/** Draws again with the same rows: unit, theme or figures changed. */
	refresh(): void {
		this.drawHead();
		this.draw(true);
	}

	reveal(at: number): void {
		this.cursor = at;
		const top = at * this.height, seen = this.element.clientHeight - this.head.offsetHeight;
		const from = this.element.scrollTop;
		if (top < from || top + this.height > from + seen) this.element.scrollTop = Math.max(0, top - seen / 2);
		this.draw(true);
	}

	/** The row in sight at an index, for gutters: its top within the rows. */
	topOf(at: number): number {
		return at * this.height;
	}

	indexOf(key: string | number): number {
		return this.shown.findIndex((r) => this.o.key(r) === key);
	}

	csvText(): string {
		const heads = this.o.columns.map((c) => csvCell(c.head + (c.unit && c.unit() ? ` (${c.unit()})` : '')));
		const lines = this.shown.map((r) => this.o.columns.map((c) => csvCell(c.value(r) ?? '')).join(','));
		return [heads.join(','), ...lines].join('\r\n') + '\r\n';
	}

	/** Buttons that belong to the table: copy and CSV. */
	tools(): HTMLElement {
		const file = this.o.csv;
		return h('span', { class: 'tools' },
			button('Copy', 'Copy the table as text with tabs', () => void copyText(this.text(this.shown))),
			file && button('CSV', 'Save the table as a CSV file', () => download(file, new Blob([this.csvText()], { type: 'text/csv' }))));
	}

	private text(rows: readonly R[]): string {
		const heads = this.o.columns.map((c) => c.head).join('\t');
		return [heads, ...rows.map((r) => this.o.columns.map((c) => String(c.value(r) ?? '')).join('\t'))].join('\n');
	}

	private arrange(): void {
		const rows = this.filter ? this.all.filter(this.filter) : this.all.slice();
		const column = this.sort && this.o.columns.find((c) => c.id === this.sort!.id);
		if (column) {
			const sign = this.sort!.isDown ? -1 : 1;
			const keyed = rows.map((row, i) => ({ row, i, v: column.value(row) }));
			keyed.sort((a, b) => order(a.v, b.v, sign) || a.i - b.i);
			keyed.forEach((k, i) => (rows[i] = k.row));
		}
		this.shown = rows;
		this.cursor = Math.min(this.cursor, Math.max(0, rows.length - 1));
		this.element.setAttribute('aria-rowcount', String(rows.length + 1));
		this.space.style.height = rows.length * this.height + 'px';
		this.draw(true);
	}

	private drawHead(): void {
		const widths = this.o.columns.map((c) => c.width ?? 'minmax(6rem, 1fr)');
		this.element.style.setProperty('--columns', widths.join(' '));
		this.element.style.setProperty('--least', least(widths));
		fill(this.head, this.o.columns.map((c, i) => {
			const isSorted = this.sort?.id === c.id;
			const unit = c.unit?.();
			const label = [h('span', null, c.head), unit && h('span', { class: 'unit' }, unit), isSorted && h('span', { class: 'arrow' }, this.sort!.isDown ? '▼' : '▲')];
			const cell = h('div', {
				class: 'cell' + (c.isNumber ? ' num' : ''), role: 'columnheader', title: c.title ?? '',
				attrs: { 'aria-sort': isSorted ? (this.sort!.isDown ? 'descending' : 'ascending') : 'none', 'aria-colindex': i + 1, 'data-column': c.id },
			}, c.isFixed ? label : h('button', { class: 'sort', on: { click: () => this.sortClick(c) } }, label));
			return cell;
		}));
	}

	private sortClick(c: Column<R>): void {
		const isDown = this.sort?.id === c.id ? !this.sort.isDown : !!c.isNumber;
		this.sortBy(c.id, isDown);
	}

	private draw(isForced: boolean): void {
		const seen = this.element.clientHeight || 400;
		const first = Math.max(0, Math.floor(this.element.scrollTop / this.height) - 4);
		const last = Math.min(this.shown.length, first + Math.ceil(seen / this.height) + 8);
		if (!isForced && first === this.first && last === this.last) return;
		this.first = first;
		this.last = last;
		this.body.style.transform = `translateY(${first * this.height}px)`;
		if (isForced) {
			this.drawn.clear();
			fill(this.body, !this.shown.length && h('div', { class: 'notice' }, this.o.empty ?? 'Nothing to show.'));
		}
		this.exchange(first, last);
		this.o.drawn?.(first, last);
	}

	/** Takes out the rows that left, puts in those that came; the others stay where they are. */
	private exchange(first: number, last: number): void {
		for (const [i, e] of this.drawn) {
			if (i >= first && i < last) continue;
			e.remove();
			this.drawn.delete(i);
		}
		let next = this.body.firstChild;
		for (let i = first; i < last; i++) {
			const there = this.drawn.get(i);
			if (there) {
				next = there.nextSibling;
				continue;
			}
			const e = this.drawRow(i);
			this.drawn.set(i, e);
			this.body.insertBefore(e, next);
		}
	}

	private drawRow(i: number): HTMLElement {
		const row = this.shown[i], isMarked = this.marks.has(this.o.key(row));
		const extra = this.o.rowClass?.(row) ?? '';
		const e = h('div', {
			class: `table-row${i & 1 ? ' odd' : ''}${isMarked ? ' marked' : ''}${i === this.cursor ? ' cursor' : ''} ${extra}`,
			role: 'row', title: this.o.rowTitle?.(row) ?? '', attrs: { 'aria-rowindex': i + 2, 'data-index': i, 'data-key': this.o.key(row), 'aria-selected': isMarked },
		}, this.o.columns.map((c) => h('div', { class: 'cell' + (c.isNumber ? ' num' : ''), role: 'gridcell', attrs: { 'data-column': c.id } },
			c.cell ? c.cell(row) : c.value(row) ?? '')));
		this.o.decorate?.(e, row);
		return e;
	}

	private click(e: MouseEvent): void {
		const row = (e.target as HTMLElement).closest<HTMLElement>('.table-row');
		if (!row || String(getSelection() ?? '')) return;
		this.cursor = Number(row.dataset.index);
		this.o.pick?.(this.shown[this.cursor], e);
		this.draw(true);
	}

	private key(e: KeyboardEvent): void {
		if (e.target !== this.element) return;
		const page = Math.max(1, Math.floor(this.element.clientHeight / this.height) - 2);
		const steps: Record<string, number> = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity };
		if (e.key in steps && !e.ctrlKey && !e.altKey) {
			this.reveal(Math.max(0, Math.min(this.shown.length - 1, this.cursor + steps[e.key])));
		} else if ((e.key === 'Enter' || e.key === ' ') && this.shown[this.cursor]) {
			this.o.pick?.(this.shown[this.cursor], e);
		} else if (e.key === 'c' && (e.ctrlKey || e.metaKey) && !String(getSelection() ?? '')) {
			const marked = this.shown.filter((r) => this.marks.has(this.o.key(r)));
			void copyText(this.text(marked.length ? marked : this.shown.slice(this.cursor, this.cursor + 1)));
		} else return;
		e.preventDefault();
		e.stopPropagation();
	}

	/** A line under the rows (totals). */
	footer(...children: Child[]): void {
		fill(this.foot, children);
		if (!this.foot.isConnected) this.element.appendChild(this.foot);
	}
}

/** What the columns need at least: head and rows are grids of their own and agree only if both have this much room. */
export function least(widths: readonly string[]): string {
	const parts = widths.map((w) => /^(?:minmax\(\s*)?([\d.]+(?:rem|px))/.exec(w)?.[1]).filter((w): w is string => !!w);
	return parts.length ? `calc(${parts.join(' + ')})` : '0px';
}

/** Numbers before words, missing values last whichever way it sorts. */
export function order(a: number | string | null, b: number | string | null, sign: number): number {
	const isNone = (v: number | string | null) => v === null || (typeof v === 'number' && Number.isNaN(v));
	if (isNone(a) || isNone(b)) return Number(isNone(a)) - Number(isNone(b));
	if (typeof a === 'number' && typeof b === 'number') return sign * (a - b);
	if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
	return sign * (a! < b! ? -1 : a! > b! ? 1 : 0);
}
