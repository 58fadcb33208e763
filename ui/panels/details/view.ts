// SPDX-License-Identifier: Apache-2.0
// details/view.ts: tables that the producer gives and nobody interprets: base information, core occupancy, memory and compute workload,
// roofline points, stall reasons, cache lines. Numbers stand as they were written; unknown columns are columns like any other.
import { App, Panel } from '../../app';
import { shareBar } from '../../base/bars';
import { Child, fill, h, notice, s } from '../../base/dom';
import { count } from '../../base/format';
import { colourOf } from '../../base/palette';
import { Column, Table } from '../../base/table';
import { State } from '../../state';
import { Changed, facts, filterBox, hasPipes, section, View } from '../common';
import { NamedTable, Summary } from '../types';

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
		const told = tables.filter((t) => t.name !== 'blocks'), last = tables.filter((t) => t.name === 'blocks');
		fill(this.body, h('div', { class: 'panel-columns' }, [...told, ...last].map((t) => this.one(t))));
	}

	private one(t: NamedTable): HTMLElement {
		const title = `${TITLES[t.name] ?? t.name}`, cells = t.cells ?? [];
		if (!t.cells) return section(title, null, h('p', { class: 'dim' }, `${count(t.rows)} rows of ${t.columns.join(', ')} in ${t.origin}`));
		if (t.name === 'advice') return section(title, null, h('ul', null, cells.map((c) => h('li', null, c[0] ?? ''))));
		if (t.columns.length === 2 && t.columns[0] === 'key') return section(title, null, facts(...cells.map((c) => [c[0] ?? '', c[1] ?? '-'] as [string, Child])));
		return section(title, null, this.picture(t), this.table(t));
	}

	private table(t: NamedTable): Child {
		const cells = t.cells!, p = this.app.palette();
		const columns: Column<Row>[] = t.columns.map((head, i) => {
			const isNumber = isNumeric(cells, i), most = isNumber ? Math.max(0, ...cells.map((c) => Number(c[i] ?? 0) || 0)) : 0;
			const isBar = isNumber && cells.length > 1 && most > 0 && /rate|ratio|cycle|duration|value|percent|throughput|%|count|request/i.test(head);
			return {
				id: `c${i}`, head, isNumber, width: isNumber ? 'minmax(5.5rem, 1fr)' : 'minmax(8rem, 2fr)', value: (r) => (r.cells[i] === null || r.cells[i] === undefined ? null : isNumber ? Number(r.cells[i]) : r.cells[i]),
				cell: (r) => (isBar ? h('span', { class: 'bar-cell' }, shareBar(Number(r.cells[i] ?? 0) || 0, most, p.accent), h('span', null, r.cells[i] ?? '-')) : h('span', { class: 'clip', title: r.cells[i] ?? '' }, r.cells[i] ?? '-')),
			};
		});
		const table = this.own(new Table<Row>({ label: TITLES[t.name] ?? t.name, key: (r) => r.i, columns, csv: `${t.name}.csv` }));
		table.rows(cells.map((c, i) => ({ i, cells: c })));
		this.tables.push(table);
		return [h('div', { class: 'panel-bar' }, h('span', { class: 'dim clip', title: t.origin }, `${count(t.rows)} rows from ${t.origin}`), h('span', { class: 'grow' }), filterBox(table, 'Filter', (r) => r.cells.join(' ')), table.tools()), h('div', { class: 'panel-fill' }, table.element)];
	}

	/** Roofline points get a picture of their own. */
	private picture(t: NamedTable): Child {
		const at = (name: RegExp) => t.columns.findIndex((c) => name.test(c));
		const x = at(/point.*x|^x$/i), y = at(/point.*y|^y$/i), bw = at(/^bw$/i), peak = at(/^computility$/i), name = at(/title|bw_name/i);
		if (t.name !== 'roofline' || x < 0 || y < 0 || bw < 0 || peak < 0) return null;
		const points = t.cells!.map((c) => ({ x: Number(c[x]), y: Number(c[y]), bw: Number(c[bw]), peak: Number(c[peak]), name: c[name] ?? '' })).filter((p) => p.x > 0 && p.y > 0 && p.bw > 0 && p.peak > 0);
		return points.length ? rooflines(points, (i) => colourOf(this.app.palette(), i)) : null;
	}

	protected update(_state: Readonly<State>, keys: Changed): void {
		if (keys.has('theme')) for (const t of this.tables) t.refresh();
	}
}

interface Point { x: number; y: number; bw: number; peak: number; name: string }

/** Intensity against rate, both logarithmic: the roof of each memory and the point below it. */
function rooflines(points: Point[], colour: (i: number) => string): SVGElement {
	const xs = points.flatMap((p) => [p.x, p.peak / p.bw]), ys = points.flatMap((p) => [p.y, p.peak]);
	const x0 = Math.log10(Math.min(...xs)) - 1, x1 = Math.log10(Math.max(...xs)) + 1, y0 = Math.log10(Math.min(...ys)) - 1, y1 = Math.log10(Math.max(...ys)) + 0.5;
	const X = (v: number) => 50 + ((Math.log10(v) - x0) / (x1 - x0)) * 540, Y = (v: number) => 190 - ((Math.log10(v) - y0) / (y1 - y0)) * 180;
	const svg = s('svg', { class: 'roofline', attrs: { viewBox: '0 0 600 220', role: 'img', 'aria-label': `Roofline: ${points.map((p) => `${p.name} at ${p.x} operations per byte, ${p.y}`).join('; ')}` } },
		s('text', { attrs: { x: 320, y: 216, 'text-anchor': 'middle', class: 'axis' } }, 'operations per byte'), s('text', { attrs: { x: 12, y: 100, 'text-anchor': 'middle', class: 'axis', transform: 'rotate(-90 12 100)' } }, 'rate'));
	points.forEach((p, i) => {
		const left = Math.pow(10, x0), knee = p.peak / p.bw;
		svg.appendChild(s('path', { attrs: { d: `M${X(left)} ${Y(left * p.bw)}L${X(knee)} ${Y(p.peak)}H590`, fill: 'none', stroke: colour(i), 'stroke-width': 1.5 } }, s('title', null, p.name)));
		svg.appendChild(s('circle', { attrs: { cx: X(p.x), cy: Y(p.y), r: 4, fill: colour(i) } }, s('title', null, `${p.name}: ${p.x}, ${p.y}`)));
	});
	return svg;
}

export const panel: Panel = {
	id: 'details', title: 'Details', hint: 'tables of the producer: base information, workloads, roofline, stall reasons, cache lines',
	applies: hasPipes, open: (host, app) => new DetailsView(host, app),
};
