// SPDX-License-Identifier: Apache-2.0
// columns.ts: which columns of a table are shown and how wide: as wide as what stands in them until the user says otherwise, which is kept.
import { button, Child, fill, h } from './dom';
import { csvCell } from './format';
import { keep, kept } from './keep';

export interface Column<R> {
	id: string;
	head: string;
	/** second line of the head: "cycles", "%" */
	unit?: () => string;
	title?: string;
	/** what sorting uses; what is copied and saved is what is shown */
	value: (row: R) => number | string | null;
	/** what is shown; the value itself without it */
	cell?: (row: R) => Child;
	/** writes the cell in place; it is handed back as it left it, with another row in it: nothing is made anew */
	paint?: (cell: HTMLElement, row: R) => void;
	/** what `paint` writes, as text, '' for a picture that keeps within its cell; null, and without this: it may need to be cut */
	drawn?: (row: R) => string | null;
	/** stands in letters of one width */
	isMono?: boolean;
	/** what the pointer is told over the cell, asked for when it is there; the row's own without it */
	hint?: (row: R, event: MouseEvent) => string;
	isNumber?: boolean;
	/** CSS width: "6rem", "1fr"; a number takes more where it needs more */
	width?: string;
	/** not sortable by a click */
	isFixed?: boolean;
	/** drawn beside what other columns say in figures: always shown, never copied or saved */
	isDecor?: boolean;
	/** left out of a narrow table, unless it is chosen */
	isExtra?: boolean;
	/** left empty while the thumb is dragged over more than is in sight at once: nobody reads it then */
	isLate?: boolean;
}

/** What a cell says: its text; where it has none, what its picture is called. */
export function words(e: Node): string {
	const text = read(e, false);
	return (text || read(e, true)).replace(/\s+/g, ' ').trim();
}

function read(n: Node, isPictures: boolean): string {
	if (n instanceof Text) return isPictures ? '' : n.data;
	if (!(n instanceof Element) || (n instanceof HTMLElement && n.hidden)) return '';
	if (n.getAttribute('role') === 'img') return isPictures ? n.getAttribute('aria-label') ?? '' : '';
	let out = '';
	for (const child of n.childNodes) {
		const part = read(child, isPictures);
		out += out && part && child instanceof HTMLButtonElement ? ' ' + part : part;
	}
	return out;
}

const LEAST = 28, ROOM = 18, MOST = 460, SAMPLES = 80;
let pen: CanvasRenderingContext2D | null = null, family = '', isPenBold = false;

function wide(text: string, isBold = false): number {
	const isNew = !pen;
	pen ??= document.createElement('canvas').getContext('2d')!;
	if (isNew) family = getComputedStyle(document.body).fontFamily;
	if (isNew || isPenBold !== isBold) pen.font = `${(isPenBold = isBold) ? '600 ' : ''}12.5px ${family}`;
	return pen.measureText(text).width;
}

const advances: (Float32Array | undefined)[] = [];

/** The width of each letter of ASCII, none smaller than it is drawn; a tab goes to the next fourth column at most. */
function lettersOf(isMono: boolean): Float32Array {
	const known = advances[Number(isMono)];
	if (known) return known;
	const g = document.createElement('canvas').getContext('2d')!, style = getComputedStyle(document.body);
	g.font = `600 12.5px ${isMono ? style.getPropertyValue('--mono') : style.fontFamily}`;
	const out = Float32Array.from({ length: 127 }, (_, i) => (i < 32 ? Infinity : g.measureText(String.fromCharCode(i)).width));
	out[9] = 4 * out[32];
	return (advances[Number(isMono)] = out);
}

/** Does a text stand in so many pixels for sure? A cell that is not cut needs no clip, and clips are what frames of many cells are made of. */
export function fits(text: string, room: number, isMono: boolean): boolean {
	const letters = lettersOf(isMono);
	let w = 0;
	for (let i = 0; i < text.length && w <= room; i++) w += letters[text.charCodeAt(i)] ?? Infinity;
	return w <= room;
}

interface Kept { w: Record<string, number>; hide: string[]; show: string[] }
/** a table below this width is narrow */
const NARROW = 640;

export class Columns<R> {
	/** those shown */
	shown: Column<R>[] = [];
	private readonly scratch = new Map<string, HTMLElement>();
	private state: Kept = { w: {}, hide: [], show: [] };
	private isNarrow = false;
	private needs = new Map<string, number>();

	constructor(readonly all: readonly Column<R>[], private readonly name: string, private readonly changed: () => void) {
		try {
			const stored = JSON.parse(kept('incore.columns.' + name) ?? '{}') as Partial<Kept>;
			this.state = { w: stored.w ?? {}, hide: stored.hide ?? [], show: stored.show ?? [] };
		} catch { /* another version's */ }
		this.choose();
	}

	private choose(): void {
		const { hide, show } = this.state;
		this.shown = this.all.filter((c) => (c.isDecor || !hide.includes(c.id)) && (!this.isNarrow || !c.isExtra || show.includes(c.id)));
		if (!this.shown.some((c) => !c.isDecor)) this.shown = [...this.all];
	}

	/** How wide the table is; true: other columns are shown now. */
	fit(width: number): boolean {
		const isNarrow = width > 0 && width < NARROW;
		if (isNarrow === this.isNarrow || !this.all.some((c) => c.isExtra)) return false;
		this.isNarrow = isNarrow;
		this.choose();
		return true;
	}

	private save(): void {
		keep('incore.columns.' + this.name, JSON.stringify(this.state));
		this.choose();
		this.changed();
	}

	/** What is shown in a cell, as text. */
	private said(c: Column<R>, row: R): string {
		const content = c.paint ? null : c.cell ? c.cell(row) : c.value(row);
		if (!c.paint && (typeof content !== 'object' || content === null)) return content === null || content === undefined || content === false ? '' : String(content);
		const cell = this.cellOf(c.id);
		if (c.paint) c.paint(cell, row);
		else fill(cell, content);
		return words(cell);
	}

	/** The same to be copied: figures without the commas that make them readable, nothing where there is none. */
	text(c: Column<R>, row: R): string {
		const said = this.said(c, row);
		return c.isNumber ? said.replace(/(\d),(?=\d{3})/g, '$1').replace(/^-$/, '') : said;
	}

	private cellOf(id: string): HTMLElement {
		return this.scratch.get(id) ?? this.scratch.set(id, h('div')).get(id)!;
	}

	/** "waited (cycles)". */
	headOf(c: Column<R>): string {
		const unit = c.unit?.();
		return (c.head || c.id) + (unit ? ` (${unit})` : '');
	}

	/** Heads and cells as they are shown, one list a line. */
	*lines(rows: Iterable<R>): Generator<string[]> {
		const all = this.shown.filter((c) => !c.isDecor);
		yield all.map((c) => this.headOf(c));
		for (const r of rows) yield all.map((c) => this.text(c, r));
	}

	csv(rows: Iterable<R>): string {
		let out = '';
		for (const line of this.lines(rows)) out += line.map(csvCell).join(',') + '\r\n';
		return out;
	}

	/** What each column needs for its head and for what stands in it: some rows of each part of the table, and the largest figure. */
	measure(rows: readonly R[]): void {
		const step = Math.max(1, Math.floor(rows.length / SAMPLES)), few = rows.filter((_, i) => i % step === 0);
		this.needs = new Map();
		for (const c of this.shown) {
			if (c.isDecor || c.paint && !c.isNumber) continue;
			let most: R | null = null, size = -1;
			if (c.isNumber) for (const r of rows) {
				const v = c.value(r), by = typeof v === 'number' ? Math.abs(v) : -1;
				if (by > size) [most, size] = [r, by];
			}
			let need = Math.max(...c.head.split(' ').map((word) => wide(word, true)), wide(c.unit?.() ?? '') * 0.88) + 12;
			for (const r of most === null ? few : [...few, most]) need = Math.max(need, wide(this.said(c, r)));
			this.needs.set(c.id, Math.min(MOST, Math.ceil(need + ROOM)));
		}
	}

	/** The widths as CSS. A figure has the room that it needs; a text shares what is left with others, by what each needs. */
	widths(): string[] {
		return this.shown.map((c) => {
			const own = this.state.w[c.id], need = this.needs.get(c.id), given = c.width ?? 'minmax(6rem, 1fr)';
			if (own) return own + 'px';
			if (need === undefined) return given;
			const least = /^minmax\(([\d.]+)rem/.exec(given);
			if (!least) return given.endsWith('rem') ? need + 'px' : given;
			return `minmax(${c.isNumber ? need : Math.min(need, Math.max(LEAST, parseFloat(least[1]) * 13))}px, ${need}fr)`;
		});
	}

	/** A drag of the edge of a head; a double click lets the column find its width again. */
	grip(c: Column<R>, head: HTMLElement): HTMLElement {
		const e = h('span', { class: 'column-grip', title: `Drag: width of ${c.head || c.id}; double click: as wide as what stands in it`, attrs: { 'aria-hidden': 'true' } });
		e.addEventListener('pointerdown', (down) => {
			const from = head.offsetWidth;
			down.preventDefault();
			// of the window: the head is drawn anew at every step
			const move = (m: PointerEvent) => this.resize(c, from + m.clientX - down.clientX);
			addEventListener('pointermove', move);
			addEventListener('pointerup', () => removeEventListener('pointermove', move), { once: true });
		});
		e.addEventListener('dblclick', (event) => {
			event.stopPropagation();
			this.resize(c, null);
		});
		return e;
	}

	private resize(c: Column<R>, width: number | null): void {
		if (width === null) delete this.state.w[c.id];
		else this.state.w[c.id] = Math.round(Math.max(LEAST, width));
		this.save();
	}

	/** Which columns are shown and how wide, as a list to choose from. */
	menu(headWidth: (id: string) => number): HTMLElement {
		const open = button('Columns', 'Choose columns and their width', () => undefined, { attrs: { 'aria-haspopup': 'true' } });
		const list = h('div', { class: 'menu', role: 'group', attrs: { 'aria-label': 'Columns', popover: 'auto' } });
		(open as HTMLButtonElement & { popoverTargetElement: Element }).popoverTargetElement = list;
		list.addEventListener('beforetoggle', (e) => {
			if ((e as Event & { newState: string }).newState !== 'open') return;
			const at = open.getBoundingClientRect();
			this.fillMenu(list, headWidth);
			Object.assign(list.style, { top: Math.min(at.bottom, innerHeight * 0.45) + 'px', left: Math.max(8, Math.min(at.left, innerWidth - 340)) + 'px' });
		});
		return h('span', { class: 'columns-menu' }, open, list);
	}

	private fillMenu(list: HTMLElement, headWidth: (id: string) => number): void {
		const one = (c: Column<R>) => {
			const box = h('input', { attrs: { type: 'checkbox' } }), by = (n: number) => () => this.resize(c, headWidth(c.id) + n);
			box.checked = this.shown.includes(c);
			box.addEventListener('change', () => {
				const others = (ids: string[]) => ids.filter((id) => id !== c.id);
				this.state.hide = others(this.state.hide).concat(box.checked ? [] : [c.id]);
				this.state.show = others(this.state.show).concat(box.checked ? [c.id] : []);
				this.save();
			});
			return h('div', { class: 'columns-item' }, h('label', null, box, this.headOf(c)), button('−', `${this.headOf(c)}: narrower`, by(-16)), button('+', `${this.headOf(c)}: wider`, by(16)));
		};
		fill(list, this.all.filter((c) => !c.isDecor).map(one), button('As at first', 'Show all columns, as wide as what stands in them', () => {
			this.state = { w: {}, hide: [], show: [] };
			this.save();
			this.fillMenu(list, headWidth);
		}));
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
