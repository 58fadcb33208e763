// SPDX-License-Identifier: Apache-2.0
// details/view.ts: tables that the producer gives and nobody interprets: base information, core occupancy, memory and compute workload,
// roofline points, stall reasons, cache lines. Numbers stand as they were written; unknown columns are columns like any other.
import { App, Panel } from '../../app';
import { shareBar } from '../../base/bars';
import { Child, choose, fill, h, notice } from '../../base/dom';
import { count, largest } from '../../base/format';
import { colourOf } from '../../base/palette';
import { Column, Table } from '../../base/table';
import { State } from '../../state';
import { Changed, facts, filterBox, hasPipes, section, View } from '../common';
import { NamedTable, Summary } from '../types';
import { coresOf, eventsOf, heatMap, memoryGraph, rooflines } from './pictures';

/** Codes of the producer's own unit column. */
const UNITS: Record<string, string> = { 0: 'µs', 1: 'instructions', 2: 'bytes', 3: '%' };
type Row = { i: number; cells: (string | null)[] };
const TITLES: Record<string, string> = {
	'base-info': 'Base information', 'block-detail': 'Blocks', 'compute-load': 'Compute workload', 'compute-load-table': 'Compute workload, all', 'memory-units': 'Memory workload', 'memory-cores': 'Memory and cycles a core',
	'memory-table': 'Memory tables', 'core-occupancy': 'Core occupancy', roofline: 'Roofline', cacheline: 'Cache lines', 'top-stall': 'Top stall reasons', advice: 'Advice of the producer', blocks: 'Blocks of the file',
	'api-instr': 'Instructions as stated', 'api-file': 'Source lines as stated', 'instr-exe': 'Instructions, CSV', 'code-exe': 'Source lines, CSV', 'summary-log': 'Summary log', 'stated-busy': 'Busy cycles as stated',
};

export function isNumeric(cells: (string | null)[][], column: number): boolean {
	let seen = 0;
	for (const row of cells) {
		const v = row[column];
		if (v === null || v === '' || v === 'NA') continue;
		if (!/^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(v)) return false;
		seen++;
	}
	return seen > 0;
}

class DetailsView extends View {
	private tables: Table<Row>[] = [];

	constructor(host: HTMLElement, app: App) {
		super(host, app, 'details');
		this.load(app.verb<Summary>('summary', { top: 'all' }), (a) => this.show(a.data.tables ?? []));
	}

	private show(tables: NamedTable[]): void {
		if (!tables.length) {
			fill(this.body, notice('No details', 'The producer of this capture gives no tables of its own.'));
			return;
		}
		const seen = new Set<string>();
		const once = tables.filter((t) => {
			const key = t.name + JSON.stringify(t.cells ?? t.origin);
			return !seen.has(key) && !!seen.add(key);
		});
		fill(this.body, h('div', { class: 'panel-columns' }, [...once.filter((t) => t.name !== 'blocks'), ...once.filter((t) => t.name === 'blocks')].map((t) => this.one(t))));
	}

	private one(t: NamedTable): HTMLElement {
		const title = `${TITLES[t.name] ?? t.name}`, cells = t.cells ?? [];
		if (!t.cells) return section(title, null, h('p', { class: 'dim' }, `${count(t.rows)} rows of ${t.columns.join(', ')} in ${t.origin}`));
		if (t.name === 'advice') return section(title, null, h('ul', null, cells.map((c) => h('li', null, (c[0] ?? '').trim()))));
		if (t.columns.length === 2 && t.columns[0] === 'key') return section(title, null, facts(...cells.map((c) => [c[0] ?? '', c[1] ?? '-'] as [string, Child])));
		const table = this.table(t);
		return section(title, [filterBox(table, 'Filter', (r) => r.cells.join(' ')), table.tools()],
			h('p', { class: 'dim clip', title: t.origin }, `${count(t.rows)} rows from ${t.origin}${cells.length < t.rows ? `, the first ${count(cells.length)} are shown` : ''}`), this.picture(t), h('div', { class: 'panel-fill' }, table.element));
	}

	private table(t: NamedTable): Table<Row> {
		const cells = t.cells!, p = this.app.palette(), unit = t.columns.indexOf('unit');
		const isOneUnit = unit < 0 || new Set(cells.map((c) => c[unit])).size < 2;
		const columns: Column<Row>[] = t.columns.map((head, i) => {
			const isUnit = i === unit && cells.every((c) => (c[i] ?? '') in UNITS), isNumber = !isUnit && isNumeric(cells, i);
			const most = isNumber ? largest(cells, (c) => Number(c[i] ?? 0) || 0, 0) : 0;
			const isBar = isNumber && isOneUnit && cells.length > 1 && most > 0 && /rate|ratio|cycle|duration|value|percent|throughput|bandwidth|%|count|request/i.test(head);
			return {
				id: `c${i}`, head, isNumber, width: isBar ? 'minmax(10rem, 1fr)' : isNumber ? `minmax(${Math.max(5.5, head.length * 0.56 + 2).toFixed(1)}rem, 1fr)` : 'minmax(8rem, 2fr)',
				value: (r) => (r.cells[i] === null || r.cells[i] === undefined ? null : isNumber ? Number(r.cells[i]) : r.cells[i]),
				cell: (r) => (isUnit ? UNITS[r.cells[i] ?? ''] : isBar ? h('span', { class: 'bar-cell' }, shareBar(Number(r.cells[i] ?? 0) || 0, most, p.accent), h('span', null, r.cells[i] ?? '-')) : h('span', { class: 'clip', title: r.cells[i] ?? '' }, r.cells[i] ?? '-')),
			};
		});
		const table = this.own(new Table<Row>({ label: TITLES[t.name] ?? t.name, key: (r) => r.i, columns, csv: `${t.name}.csv` }));
		table.rows(cells.map((c, i) => ({ i, cells: c })));
		this.tables.push(table);
		return table;
	}

	/** Some tables are better seen. */
	private picture(t: NamedTable): Child {
		const found = { columns: t.columns, cells: t.cells! };
		if (t.name === 'roofline') return rooflines(found, (i) => colourOf(this.app.palette(), i));
		if (t.name === 'memory-units') return chosen('Core', coresOf(found), (core) => memoryGraph(found, core));
		if (t.name === 'cacheline') return chosen('Event', eventsOf(found), (event) => heatMap(found, event));
		return null;
	}

	protected update(_state: Readonly<State>, keys: Changed): void {
		if (keys.has('theme')) for (const t of this.tables) t.refresh();
	}
}

/** A picture of one of several things, with a list to choose which. */
function chosen(label: string, names: string[], draw: (name: string) => Node | null): Child {
	if (!names.length) return null;
	const place = h('div', null, draw(names[0]));
	return h('figure', { class: 'picture' }, names.length > 1 && choose(label, names.map((value) => ({ value, label: value })), names[0], (v) => fill(place, draw(v))), place);
}

export const panel: Panel = {
	id: 'details', title: 'Details', hint: 'tables of the producer: base information, workloads, roofline, stall reasons, cache lines',
	applies: hasPipes, open: (host, app) => new DetailsView(host, app),
};
