// SPDX-License-Identifier: Apache-2.0
// paper.ts: what the page of a store is on paper: all rows of both lists, written out, and the history that is shown; nothing is cut by a window.
import { Child, h } from '../base/dom';
import { count } from '../base/format';
import { gateWords, Line, minute, nameOf, Overview, percentText, Regression, stateWords } from './types';

export interface Written { store: string; overview: Overview | null; lines: Line[]; regressions: Regression[]; detail: Child }

/** letters of a cell that may be broken */
const LONG = 22;

function table(heads: string[], rows: Child[][]): HTMLElement {
	return h('table', null, h('thead', null, h('tr', null, heads.map((x) => h('th', null, x)))), h('tbody', null, rows.map((r) => h('tr', null, r.map((x) => h('td', { class: typeof x === 'string' && x.length > LONG ? 'long' : '' }, x))))));
}

/** Stands in the document for as long as the browser prints. */
export function paper(written: () => Written): void {
	let page: HTMLElement | null = null;
	addEventListener('beforeprint', () => {
		const w = written(), o = w.overview;
		page = h('main', { class: 'written' }, h('h1', null, w.store), o && h('p', null, gateWords(o), `; ${count(o.captures)} captures`),
			table(['Gate', 'Kernel', 'Labels', 'Arch', 'Evidence', 'Latest (cycles)', 'Change', 'Noise %', 'Newest'], w.lines.map((l) => [l.verdict, nameOf(l), l.labels, l.arch ?? '', l.evidence, l.value === null ? '-' : count(l.value), percentText(l.change_pct), l.noise_pct === null ? '-' : l.noise_pct.toFixed(2), minute(l.time)])),
			w.regressions.length > 0 && [h('h2', null, 'What got worse'), table(['Since', 'Change', 'Kernel', 'Labels', 'Evidence', 'Before', 'After', 'Cost', 'State'], w.regressions.map((r) => [minute(r.time), percentText(r.change_pct), nameOf(r), r.labels, r.evidence, count(r.before), count(r.after), r.kind === 'over' ? '-' : count(r.cost), `${r.kind}, ${stateWords(r)}`]))], w.detail);
		document.body.appendChild(page);
		document.documentElement.classList.add('printing');
	});
	addEventListener('afterprint', () => {
		document.documentElement.classList.remove('printing');
		page?.remove();
		page = null;
	});
}
