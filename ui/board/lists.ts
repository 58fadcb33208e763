// SPDX-License-Identifier: Apache-2.0
// lists.ts: the kernels of a store, and what got worse. Figures are cycles, as the store has them; the word of their evidence stands beside each.
import { h } from '../base/dom';
import { count, known, short } from '../base/format';
import { Column, Table } from '../base/table';
import { sparkline } from './chart';
import { harm, Line, minute, nameOf, percentText, Regression, Series, stateWords } from './types';

const SIGNS: Record<Line['verdict'], string> = { worse: '▲ worse', standing: '▲ standing', accepted: '△ accepted', better: '▼ better', passed: '✓ passed', 'no-claim': '· no claim' };

const KINDS: Record<Regression['kind'], string> = { new: '▲ new', standing: '▲ standing', accepted: '△ accepted', over: '✓ over' };

export function verdictCell(v: Line['verdict']): HTMLElement {
	return h('span', { class: 'verdict ' + v }, SIGNS[v]);
}

function percentCell(v: number | null): HTMLElement {
	return h('span', { class: 'delta ' + harm(v) }, percentText(v));
}

function common<R extends Series>(): Column<R>[] {
	return [
		{ id: 'kernel', head: 'Kernel', value: nameOf, width: 'minmax(9rem, 3fr)', isMono: true, hint: nameOf },
		{ id: 'labels', head: 'Labels', value: (r) => r.labels, width: 'minmax(13rem, 2fr)' },
		{ id: 'arch', head: 'Arch', value: (r) => r.arch ?? '', width: '5rem' },
		{ id: 'evidence', head: 'Evidence', value: (r) => r.evidence, width: '8rem', title: 'What the figures rest on' },
	];
}

export function kernelTable(pick: (line: Line) => void): Table<Line> {
	return new Table<Line>({
		label: 'Kernels', name: 'store.kernels', csv: 'kernels.csv', key: (r) => r.capture, pick, empty: 'No kernel is left by the filter.',
		columns: [
			{ id: 'verdict', head: 'Gate', value: (r) => ['worse', 'standing', 'accepted', 'no-claim', 'passed', 'better'].indexOf(r.verdict), cell: (r) => verdictCell(r.verdict), width: '6.5rem', title: 'The newest captures against what stood before them, as incore store gate judges' },
			...common<Line>(),
			{ id: 'value', head: 'Latest', unit: () => 'cycles', value: (r) => r.value, cell: (r) => count(r.value), isNumber: true, width: '7rem', hint: (r) => `${r.figure} of capture ${r.capture}, ${minute(r.time)}, ${r.evidence}` },
			{ id: 'change', head: 'Change', value: (r) => r.change_pct, cell: (r) => percentCell(r.change_pct), isNumber: true, width: '6rem', hint: (r) => `Of the newest ${count(r.captures_new)} against the level before${r.limit_pct === null ? '' : `; beyond ${r.limit_pct.toFixed(2)} % it is none of noise`}${r.noise_pct === null ? '' : `; noise ${r.noise_pct.toFixed(2)} %`}` },
			{ id: 'cost', head: 'Cost', unit: () => 'cycles', value: (r) => r.cost, cell: (r) => count(r.cost), isNumber: true, width: '7rem', title: 'Of the newest captures, above the level before it got worse' },
			{ id: 'spark', head: 'History', value: () => null, isFixed: true, isDecor: true, width: '9rem', cell: (r) => sparkline(known(r.spark), `${short(Math.min(...known(r.spark)))} to ${short(Math.max(...known(r.spark)))} cycles over ${count(r.captures)} captures`) },
			{ id: 'last', head: 'Last change', value: (r) => r.last_at ?? '', cell: (r) => (r.last_at ? [percentCell(r.last_pct), ' ', r.last_at.slice(0, 10)] : '-'), width: '10rem' },
			{ id: 'time', head: 'Newest', value: (r) => r.time ?? '', cell: (r) => (r.time ?? '-').slice(0, 10), width: '6.5rem', hint: (r) => `${minute(r.time)}; ${count(r.captures)} captures` },
			{ id: 'revision', head: 'Revision', value: (r) => r.revision ?? '', width: 'minmax(6rem, 1fr)' },
		],
	});
}

export function worseTable(pick: (r: Regression) => void): Table<Regression> {
	return new Table<Regression>({
		label: 'Regressions', name: 'store.regressions', csv: 'regressions.csv', key: (r) => r.capture, pick, empty: 'Nothing got worse by more than its noise.', rowClass: (r) => (r.kind === 'over' || r.kind === 'accepted' ? 'past' : ''),
		columns: [
			{ id: 'kind', head: 'What', value: (r) => Object.keys(KINDS).indexOf(r.kind), cell: (r) => h('span', { class: `verdict ${r.kind === 'new' ? 'worse' : r.kind}` }, KINDS[r.kind]), width: '6.5rem', title: 'New: begins among the newest captures; standing: since earlier ones; over: back at the level before' },
			{ id: 'cost', head: 'Cost', unit: () => 'cycles', value: (r) => (r.kind === 'over' ? null : r.cost), cell: (r) => (r.kind === 'over' ? '-' : count(r.cost)), isNumber: true, width: '7rem', title: 'Of the newest captures, above the level before it got worse', hint: (r) => percentText(r.cost_pct) },
			{ id: 'time', head: 'Since', unit: () => 'UTC', value: (r) => r.time, cell: (r) => minute(r.time), width: '9rem' },
			{ id: 'change', head: 'Change', value: (r) => r.change_pct, cell: (r) => percentCell(r.change_pct), isNumber: true, width: '6rem' },
			...common<Regression>(),
			{ id: 'before', head: 'Before', unit: () => 'cycles', value: (r) => r.before, cell: (r) => count(r.before), isNumber: true, width: '7rem' },
			{ id: 'after', head: 'After', unit: () => 'cycles', value: (r) => r.after, cell: (r) => count(r.after), isNumber: true, width: '7rem' },
			{ id: 'state', head: 'State', value: stateWords, width: 'minmax(7rem, 1fr)', hint: stateWords },
			{ id: 'revision', head: 'Revision', value: (r) => r.revision ?? '', width: 'minmax(6rem, 1fr)' },
			{ id: 'capture', head: 'Capture', value: (r) => r.capture, isNumber: true, width: '5rem' },
		],
	});
}
