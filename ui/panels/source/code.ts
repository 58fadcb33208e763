// SPDX-License-Identifier: Apache-2.0
// code.ts: the text of a source file in a column that is narrower than its lines: what all lines in sight are indented by is not shown, and what
// still does not fit is scrolled, by itself: numbers of lines and figures stay where they are.
import { h, setText } from '../../base/dom';
import { largest } from '../../base/format';

const TAB = 4;

/** With spaces for tabs, so that every letter is as wide as the next. */
export function spaced(text: string): string {
	let out = '';
	for (const c of text) out += c === '\t' ? ' '.repeat(TAB - (out.length % TAB)) : c;
	return out;
}

/** How many spaces all of these begin with, but for those with nothing else in them. */
export function indentOf(lines: Iterable<string | null>): number {
	let n = Infinity;
	for (const line of lines) {
		const at = line === null ? -1 : line.search(/\S/);
		if (at >= 0) n = Math.min(n, at);
	}
	return Number.isFinite(n) ? n : 0;
}

/** The text of one line, in a cell that is written again and again. */
export function paintCode(cell: HTMLElement, text: string): void {
	setText(cell.firstChild ?? cell.appendChild(h('span', { class: 'code-text' })), text);
}

export class CodeScroll {
	readonly element: HTMLElement;
	private readonly inner = h('div');
	private longest = 0;
	private strip = 0;
	private readonly watcher: ResizeObserver;

	constructor(private readonly table: HTMLElement, private readonly column: string) {
		this.element = h('div', { class: 'code-scroll', hidden: true, tabIndex: 0, role: 'region', attrs: { 'aria-label': 'Scroll the code sideways' } }, this.inner);
		this.element.addEventListener('scroll', () => this.table.style.setProperty('--scroll', `${-this.element.scrollLeft}px`), { passive: true });
		this.element.addEventListener('keydown', (e) => /^Arrow(Left|Right)$/.test(e.key) && e.stopPropagation());
		table.addEventListener('wheel', (e) => {
			const by = e.shiftKey && !e.deltaX ? e.deltaY : e.deltaX;
			if (this.element.hidden || Math.abs(by) <= Math.abs(e.shiftKey ? 0 : e.deltaY)) return;
			this.element.scrollLeft += by * (e.deltaMode === 1 ? 16 : 1);
			e.preventDefault();
		}, { passive: false });
		this.watcher = new ResizeObserver(() => this.fit());
		this.watcher.observe(table);
	}

	close(): void {
		this.watcher.disconnect();
	}

	lines(all: readonly string[]): void {
		this.longest = largest(all, (l) => l.length, 0);
		this.element.scrollLeft = 0;
		this.fit();
	}

	/** Lines that came into sight. */
	seen(lines: Iterable<string | null>): void {
		const strip = indentOf(lines);
		if (strip === this.strip) return;
		this.strip = strip;
		this.table.style.setProperty('--strip', String(strip));
		this.fit();
	}

	/** As far as the longest line reaches beyond its column. */
	private fit(): void {
		const g = document.createElement('canvas').getContext('2d')!, room = this.table.querySelector<HTMLElement>(`.table-head [data-column="${this.column}"]`)?.clientWidth ?? 0;
		g.font = `12px ${getComputedStyle(document.body).getPropertyValue('--mono')}`;
		const beyond = Math.ceil((this.longest - this.strip) * (g.measureText('0'.repeat(20)).width / 20) + 24 - room);
		this.element.hidden = beyond <= 8 || room === 0;
		this.inner.style.width = `calc(100% + ${Math.max(0, beyond)}px)`;
		this.table.style.setProperty('--scroll', `${-this.element.scrollLeft}px`);
	}
}
