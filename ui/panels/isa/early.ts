// SPDX-License-Identifier: Apache-2.0
// early.ts: the code with what is known as soon as the lanes are: executions and cycles. It stands until the listing with all its figures is there.
import { App } from '../../app';
import { fill, h } from '../../base/dom';
import { address, count, cycles, unitName } from '../../base/format';

const ROW = 22;
const GRID = { display: 'grid', 'grid-template-columns': '3.2rem 5.2rem minmax(15rem, 3fr) 5rem 7rem', gap: '8px', height: ROW + 'px', padding: '0 6px', 'align-items': 'center' };

/** One screen of rows about the selected one, else the one that took most; nothing where something stands already. */
export function early(app: App, body: HTMLElement): void {
	if (app.source.kind === 'report') return;
	void app.code().then((c) => {
		if (!c.row.length || body.querySelector('.table, .notice:not([role=status])')) return;
		const n = Math.ceil((body.clientHeight || 400) / ROW), hottest = c.cycles.reduce((m, v, i) => (v > c.cycles[m] ? i : m), 0);
		const from = Math.max(0, Math.min((app.store.get().selection?.code ?? hottest) - (n >> 1), c.row.length - n)), units = app.units();
		/** a capture of samples alone has no executions to tell of */
		const isRun = c.hits.some((n) => n > 0), of = (i: number, text: string) => (c.label[i] || !isRun ? '' : text);
		const line = (cells: (string | HTMLElement)[], isHead = false) => h('div', { class: isHead ? 'dim' : '', style: GRID }, cells.map((x, i) => h('span', { class: i > 2 || i === 0 ? 'num' : 'clip' }, x)));
		fill(body, h('div', { class: 'isa-early', style: { overflow: 'hidden', height: '100%' }, attrs: { 'aria-busy': 'true', 'aria-label': 'Instructions; their figures are on the way' } },
			line(['#', 'address', 'instruction', 'hits', unitName(units)], true),
			c.row.slice(from, from + n).map((row, k) => {
				const i = from + k;
				return line([count(row), address(c.address[i]), h('code', { class: 'isa' }, c.text[i]), of(i, count(c.hits[i])), of(i, cycles(c.cycles[i], units))]);
			})));
	}, () => undefined);
}
