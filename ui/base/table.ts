// SPDX-License-Identifier: Apache-2.0
// table.ts: a sortable table of any length. Only the rows in sight are in the page: their elements stand in a ring and are written anew
// as one scrolls, and only what differs is written. The arrow keys move a cursor, Enter and a double click go to what the row is about (an
// event `open-row` that bubbles), Ctrl+C copies. Rows are the caller's objects and never change; a new list is given with rows().
import { Column, Columns, fits, least, order } from './columns';
import { button, Child, copyText, download, fill, framed, h, setText } from './dom';

export type { Column } from './columns';

export interface TableOptions<R> {
	label: string;
	/** what its columns are remembered by; its label without it */
	name?: string;
	columns: Column<R>[];
	/** identity of a row: the mark and the cursor survive sorting */
	key: (row: R) => string | number;
	sort?: { id: string; isDown: boolean };
	/** a click or Enter; false: it was about the table alone, and leads nowhere */
	pick?: (row: R, event: MouseEvent | KeyboardEvent) => unknown;
	/** class names of a row */
	rowClass?: (row: R) => string;
	rowTitle?: (row: R) => string;
	empty?: string;
	rowHeight?: number;
	/** name of the CSV file; without it no CSV button */
	csv?: string;
	/** by name: what a click on an element with data-do does, instead of pick */
	acts?: Record<string, (row: R) => void>;
	/** a key on the row of the cursor that the table has no use for; true: it was of use */
	press?: (row: R, event: KeyboardEvent) => boolean;
	/** one element beside the rows, moved with them (gutters): called after the rows in sight changed */
	beside?: { element: Element; draw: (first: number, last: number) => void };
}

/** One element of the ring, and what stands in it. */
interface Slot { e: HTMLElement; cells: HTMLElement[]; at: number; top: number; look: string; isMarked: boolean | null; width: string; cut: boolean[] }
/** rows kept above and below those in sight; how long after the last movement the elements are put in reading order */
const MARGIN = 4, SETTLED_MS = 100;
/** left and right of what stands in a cell */
const PADDING = 16;

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
	private isPicked = false;
	private isPicking = false;
	private sort: { id: string; isDown: boolean } | null;
	private filter: ((row: R) => boolean) | null = null;
	private first = -1;
	private seen = 0;
	/** row i stands in element i - origin modulo their number */
	private ring: Slot[] = [];
	private origin = 0;
	private isHurried = false;
	/** widths of the cells; they changed and the rows are to be written again */
	private sizes: number[] = [];
	private isPlaced = false;
	/** when the rows in sight last changed altogether: again so soon is the thumb being dragged */
	private jumped = -1e9;
	private settling = 0;
	private readonly height: number;
	private readonly later: () => void;
	private readonly watcher: ResizeObserver;
	private readonly columns: Columns<R>;

	constructor(private readonly o: TableOptions<R>) {
		this.height = o.rowHeight ?? 24;
		this.columns = new Columns(o.columns, o.name ?? o.label, () => {
			this.drawHead();
			this.resize(0);
			this.draw(true);
		});
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
		this.body.addEventListener('dblclick', (e) => (e.target as HTMLElement).closest('.table-row') && !(e.target as HTMLElement).closest('button') && this.opened());
		this.body.addEventListener('mouseover', (e) => this.hint(e));
		this.watcher = new ResizeObserver(() => {
			this.seen = this.element.clientHeight;
			if (this.columns.fit(this.element.clientWidth)) this.refresh();
			this.place();
			this.later();
		});
		this.watcher.observe(this.element);
		if (o.beside) this.space.appendChild(o.beside.element);
		this.drawHead();
	}

	close(): void {
		this.watcher.disconnect();
		clearTimeout(this.settling);
		this.element.remove();
	}

	rows(rows: R[]): void {
		this.all = rows;
		this.columns.measure(rows);
		this.drawHead();
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

	/** Marks rows by key; scrolls the first into sight when asked, but never a row from under the pointer that just picked it: a second click may follow. */
	mark(keys: Iterable<string | number>, scroll: boolean): void {
		this.marks = new Set(keys);
		const at = scroll && !this.isPicking && this.marks.size ? this.shown.findIndex((r) => this.marks.has(this.o.key(r))) : -1;
		if (at >= 0) this.reveal(at);
		else this.draw(true);
	}

	/** Draws again with the same rows: unit, theme or figures changed. */
	refresh(): void {
		this.columns.measure(this.all);
		this.drawHead();
		this.resize(0);
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

	/** What is shown, and nothing else: every cell as it stands in the table. */
	csvText(): string {
		return this.columns.csv(this.shown);
	}

	/** Buttons that belong to the table: its columns, copy and CSV. */
	tools(): HTMLElement {
		const file = this.o.csv, width = (id: string) => this.head.querySelector<HTMLElement>(`[data-column="${id}"]`)?.offsetWidth ?? 80;
		return h('span', { class: 'tools' }, this.columns.menu(width),
			button('Copy', 'Copy the table as text with tabs', () => void copyText(this.text(this.shown))),
			file && button('CSV', 'Save the table as a CSV file', () => download(file, new Blob([this.csvText()], { type: 'text/csv' }))));
	}

	private text(rows: readonly R[]): string {
		return [...this.columns.lines(rows)].map((line) => line.join('\t')).join('\n');
	}

	private pick(e: MouseEvent | KeyboardEvent): boolean {
		this.isPicking = true;
		try {
			return !!this.o.pick && this.o.pick(this.shown[this.cursor], e) !== false;
		} finally {
			this.isPicking = false;
		}
	}

	/** To what the row is about: whoever holds the table knows the way from what was picked. */
	private opened(): void {
		if (this.isPicked) this.element.dispatchEvent(new CustomEvent('open-row', { bubbles: true }));
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
		const widths = this.columns.widths();
		this.element.style.setProperty('--columns', widths.join(' '));
		this.element.style.setProperty('--least', least(widths));
		fill(this.head, this.columns.shown.map((c, i) => {
			const isSorted = this.sort?.id === c.id;
			const unit = c.unit?.();
			const label = [h('span', null, c.head), unit && h('span', { class: 'unit' }, unit), isSorted && h('span', { class: 'arrow' }, this.sort!.isDown ? '▼' : '▲')];
			const cell = h('div', {
				class: 'cell' + (c.isNumber ? ' num' : ''), role: 'columnheader', title: c.title ?? '',
				attrs: { 'aria-sort': isSorted ? (this.sort!.isDown ? 'descending' : 'ascending') : 'none', 'aria-colindex': i + 1, 'data-column': c.id },
			}, c.isFixed ? label : h('button', { class: 'sort', on: { click: () => this.sortClick(c) } }, label));
			if (!c.isDecor) cell.appendChild(this.columns.grip(c, cell));
			return cell;
		}));
	}

	private sortClick(c: Column<R>): void {
		const isDown = this.sort?.id === c.id ? !this.sort.isDown : !!c.isNumber;
		this.sortBy(c.id, isDown);
	}

	private draw(isForced: boolean): void {
		this.seen ||= this.element.clientHeight;
		const n = this.shown.length, was = this.first;
		const room = Math.min(n, Math.ceil((this.seen || 400) / this.height) + 2 * MARGIN);
		const first = Math.max(0, Math.min(n - room, Math.floor(this.element.scrollTop / this.height) - MARGIN));
		if (!isForced && !this.isPlaced && first === was && room === this.ring.length) return;
		this.isPlaced = false;
		this.first = first;
		if (isForced || room !== this.ring.length) this.resize(room);
		const isJump = Math.abs(first - was) >= room;
		if (isForced || isJump) {
			this.origin = first;
			this.body.style.transform = `translateY(${first * this.height}px)`;
		}
		const isAgain = isJump && !isForced && performance.now() - this.jumped < SETTLED_MS;
		if (isJump) this.jumped = performance.now();
		this.hurry(isAgain);
		for (let i = first; i < first + room; i++) {
			const slot = this.slotOf(i);
			if (slot.at !== i) this.write(slot, i);
		}
		this.o.beside?.draw(first, first + room);
		clearTimeout(this.settling);
		if (isForced) this.settle();
		else this.settling = window.setTimeout(() => this.settle(), SETTLED_MS);
	}

	/** In a hurry columns that are late stay hidden; afterwards all is written. */
	private hurry(isHurried: boolean): void {
		if (this.isHurried === isHurried) return;
		this.isHurried = isHurried;
		this.body.classList.toggle('hurried', isHurried);
		if (!isHurried) for (const slot of this.ring) slot.at = -1;
	}

	private slotOf(i: number): Slot {
		const n = this.ring.length;
		return this.ring[(((i - this.origin) % n) + n) % n];
	}

	/** As many elements as there is room for; all are to be written. */
	private resize(room: number): void {
		while (this.ring.length > room) this.ring.pop()!.e.remove();
		if (!room || !this.ring.length) fill(this.body, !room && h('div', { class: 'notice' }, this.o.empty ?? 'Nothing to show.'));
		this.origin = this.first;
		while (this.ring.length < room) this.ring.push(this.slot());
		for (const slot of this.ring) slot.at = -1;
		this.place();
	}

	private slot(): Slot {
		const cells = this.columns.shown.map((c) => h('div', { class: 'cell' + (c.isNumber ? ' num' : '') + (c.isLate ? ' late' : ''), role: 'gridcell', attrs: { 'data-column': c.id } }));
		const e = this.body.appendChild(h('div', { class: 'table-row', role: 'row' }, cells));
		return { e, cells, at: -1, top: -1, look: '', isMarked: null, width: '', cut: this.columns.shown.map(() => false) };
	}

	/** Cells stand where those of the head stand: text that changes then moves nothing but itself. */
	private place(): void {
		if (!this.ring.length || !this.element.isConnected) return;
		const widths = getComputedStyle(this.head).gridTemplateColumns;
		if (!widths.endsWith('px')) return;
		const sizes = (this.sizes = widths.split(' ').map(parseFloat)), gutter = this.columns.shown.findIndex((c) => c.id === 'gutter');
		if (this.o.beside && gutter >= 0) (this.o.beside.element as SVGElement).style.left = sizes.slice(0, gutter).reduce((a, b) => a + b, 0) + 'px';
		for (const slot of this.ring) {
			if (slot.width === widths) continue;
			slot.width = widths;
			slot.at = -1;
			this.isPlaced = true;
			slot.cells.forEach((cell, i) => (cell.style.width = sizes[i] + 'px'));
		}
	}

	/** The elements in the order of the rows: what a screen reader and the Tab key follow. Not while one scrolls: it is layout work. */
	private settle(): void {
		if (this.isHurried) {
			this.hurry(false);
			for (let i = this.first; i < this.first + this.ring.length; i++) this.write(this.slotOf(i), i);
		}
		if (this.body.contains(document.activeElement)) return;
		let next = this.body.firstChild;
		for (let i = this.first; i < this.first + this.ring.length; i++) {
			const { e } = this.slotOf(i);
			if (e === next) next = e.nextSibling;
			else this.body.insertBefore(e, next);
		}
	}

	private write(slot: Slot, i: number): void {
		const { e, cells } = slot, row = this.shown[i], key = this.o.key(row), isMarked = this.marks.has(key), top = (i - this.origin) * this.height;
		const look = `table-row${i & 1 ? ' odd' : ''}${isMarked ? ' marked' : ''}${i === this.cursor ? ' cursor' : ''} ${this.o.rowClass?.(row) ?? ''}`;
		// a button in here belongs to the row that leaves
		if (slot.at >= 0 && e.contains(document.activeElement)) this.element.focus({ preventScroll: true });
		slot.at = i;
		if (slot.look !== look) e.className = slot.look = look;
		if (slot.isMarked !== isMarked) e.setAttribute('aria-selected', String((slot.isMarked = isMarked)));
		if (slot.top !== top) e.style.top = (slot.top = top) + 'px';
		e.setAttribute('aria-rowindex', String(i + 2));
		e.setAttribute('data-index', String(i));
		e.setAttribute('data-key', String(key));
		this.columns.shown.forEach((c, k) => {
			const cell = cells[k];
			if (this.isHurried && c.isLate) return;
			if (c.paint) {
				c.paint(cell, row);
				return this.cut(slot, k, c.drawn ? c.drawn(row) : null);
			}
			const content = c.cell ? c.cell(row) : c.value(row), isText = typeof content !== 'object' || content === null;
			const text = !isText || content === null || content === undefined || content === false ? '' : String(content);
			if (isText) setText(cell, text);
			else fill(cell, content);
			this.cut(slot, k, isText ? text : null);
		});
	}

	/** A cell has a clip only where what stands in it may not fit; figures are never cut. In a hurry a clip stays: taking it away costs more. */
	private cut(slot: Slot, k: number, text: string | null): void {
		const c = this.columns.shown[k], isCut = !c.isNumber && (text === null || !fits(text, (this.sizes[k] ?? 0) - PADDING, !!c.isMono));
		if (isCut !== slot.cut[k] && (isCut || !this.isHurried)) slot.cells[k].classList.toggle('cut', (slot.cut[k] = isCut));
	}

	/** Titles are made where the pointer is: a row that passes by needs none. */
	private hint(e: MouseEvent): void {
		const target = e.target as HTMLElement, cell = target.closest<HTMLElement>('.cell'), row = cell && this.shown[Number(cell.parentElement!.dataset.index)];
		if (!row || !cell) return;
		const column = this.o.columns.find((c) => c.id === cell.dataset.column);
		cell.title = (column?.hint ? column.hint(row, e) : this.o.rowTitle?.(row)) ?? '';
	}

	private click(e: MouseEvent): void {
		const row = (e.target as HTMLElement).closest<HTMLElement>('.table-row');
		if (!row || String(getSelection() ?? '')) return;
		this.cursor = Number(row.dataset.index);
		const act = this.o.acts?.[(e.target as HTMLElement).closest<HTMLElement>('[data-do]')?.dataset.do ?? ''];
		if (act) act(this.shown[this.cursor]);
		this.isPicked = !act && this.pick(e);
		this.draw(true);
	}

	private key(e: KeyboardEvent): void {
		if (e.target !== this.element) return;
		const page = Math.max(1, Math.floor(this.element.clientHeight / this.height) - 2);
		const steps: Record<string, number> = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity };
		if (e.key in steps && !e.ctrlKey && !e.altKey) {
			this.reveal(Math.max(0, Math.min(this.shown.length - 1, this.cursor + steps[e.key])));
		} else if ((e.key === 'Enter' || e.key === ' ') && this.shown[this.cursor]) {
			this.isPicked = this.pick(e);
			if (e.key === 'Enter') this.opened();
		} else if (e.key === 'c' && (e.ctrlKey || e.metaKey) && !String(getSelection() ?? '')) {
			const marked = this.shown.filter((r) => this.marks.has(this.o.key(r)));
			void copyText(this.text(marked.length ? marked : this.shown.slice(this.cursor, this.cursor + 1)));
		} else if (!this.shown[this.cursor] || !this.o.press?.(this.shown[this.cursor], e)) return;
		e.preventDefault();
		e.stopPropagation();
	}

	/** A line under the rows (totals). */
	footer(...children: Child[]): void {
		fill(this.foot, children);
		if (!this.foot.isConnected) this.element.appendChild(this.foot);
	}
}
