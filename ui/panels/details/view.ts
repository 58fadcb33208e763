// SPDX-License-Identifier: Apache-2.0
// details/view.ts: tables that the producer gives and nobody interprets: base information, core occupancy, memory and compute workload,
// roofline points, stall reasons, cache lines. Numbers stand as they were written; unknown columns are columns like any other.
import { App, Panel } from '../../app';
import { shareBar } from '../../base/bars';
import { button, Child, choose, fill, h, notice } from '../../base/dom';
import { count, largest } from '../../base/format';
import { colourOf } from '../../base/palette';
import { Column, Table } from '../../base/table';
import { State } from '../../state';
import { askJson } from '../../source';
import { baseline, capture, Changed, facts, filterBox, hasPipes, section, View } from '../common';
import { NamedTable, Summary } from '../types';
import { Figure, figures, otherData, Pair, versusColumns } from '../versus';
import { cacheCells, coreCells, Found, heatMap, memoryGraph, rooflines, valuesOf } from './pictures';
import { filled, inOrder, isNumeric, pivot, shown, TITLES, UNITS } from './tables';
import { digitsOf, NAMES, number, Twins, twins } from './twins';

/** Codes of the producer's own unit column. */
const CODES: Record<string, string> = { 0: 'µs', 1: 'instructions', 2: 'bytes', 3: '%' };
/** `cells` of the columns shown, `all` as the producer gave it. */
type Row = { i: number; cells: (string | null)[]; all: (string | null)[] };

class DetailsView extends View {
	private tables: Table<Row>[] = [];
	private shownTables: NamedTable[] = [];
	/** of the other capture */
	private base: NamedTable[] | null = null;

	constructor(host: HTMLElement, app: App) {
		super(host, app, 'details');
		this.ask();
	}

	private ask(): void {
		const all = { top: 'all' }, base = baseline(this.app);
		// of pipes the summary has them; of samples nobody but the capture itself
		const given = (c: number | undefined) => askJson<{ tables: NamedTable[] }>(this.app.source, 'tables', { c }).then((a) => a.tables);
		const here = hasPipes(this.app) ? this.app.verb<Summary>('summary', all).then((a) => a.data.tables) : given(capture(this.app));
		const there = hasPipes(this.app) ? otherData<Summary>(this.app, 'summary', all).then((b) => b && (b.tables ?? [])) : base < 0 ? null : given(base || undefined).catch(() => null);
		this.load(Promise.all([here, there]), ([a, b]) => {
			this.base = b && inOrder(b);
			this.show(inOrder(a ?? []));
		});
	}

	/** The table of the other capture that says the same: of several of a name the one at its place. */
	private twin(t: NamedTable): NamedTable | undefined {
		const of = (all: NamedTable[]) => all.filter((x) => x.name === t.name);
		return this.base ? of(this.base)[of(this.shownTables).indexOf(t)] : undefined;
	}

	private show(tables: NamedTable[]): void {
		this.shownTables = tables;
		for (const t of this.tables.splice(0)) t.close();
		if (!tables.length) fill(this.body, notice('No details', 'The producer of this capture gives no tables of its own.'));
		else fill(this.body, this.base && h('p', { class: 'against' }, 'Here A and B are what each producer states: neither per execution nor shares.'), h('div', { class: 'panel-columns' }, tables.map((t) => this.one(t))));
	}

	private one(t: NamedTable): HTMLElement {
		const title = TITLES[t.name] ?? t.name, cells = t.cells ?? [];
		if (!t.cells) return section(title, null, h('p', { class: 'dim' }, `${count(t.rows)} rows of ${t.columns.join(', ')}${t.origin === null ? '' : ` in ${t.origin}`}`));
		const there = this.twin(t), list = (x: NamedTable) => h('ul', null, (x.cells ?? []).map((c) => h('li', null, c[0])));
		if (t.name === 'advice') return section(title, null, list(t), this.base && [h('p', { class: 'dim' }, there ? 'Of the other capture:' : 'The other capture has none.'), there && list(there)]);
		if (t.columns.length === 2 && t.columns[0] === 'key') return section(title, null, facts(...cells.map((c) => [c[0] ?? '', c[1] === null ? '-' : [c[1], UNITS[c[0] ?? ''] ? ` ${UNITS[c[0] ?? '']}` : ''].join('')] as [string, Child])), there && pairsOf(t, there, title));
		if (t.name === 'memory-table') return this.turned(t, there, title);
		const turn = (x: NamedTable) => (x.name === 'memory-cores' ? pivot(x, ['core_no'], ['unit', 'name'], 'value') : x), [table, measure] = this.table(turn(t), there?.cells && turn(there), title);
		return section(title, [measure, filterBox(table, 'Filter', (r) => r.cells.join(' ')), table.tools()],
			h('p', { class: 'dim clip', title: t.origin ?? '' }, `${count(t.rows)} rows${t.origin === null ? '' : ` from ${t.origin}`}${cells.length < t.rows ? `, the first ${count(cells.length)} are shown` : ''}`), this.picture(t), h('div', { class: 'panel-fill' }, table.element));
	}

	/** Many small tables in one: each with its own columns. */
	private turned(t: NamedTable, there: NamedTable | undefined, title: string): HTMLElement {
		const one = (x: NamedTable, name: string) => pivot({ ...x, cells: (x.cells ?? []).filter((c) => c[x.columns.indexOf('table')] === name) }, ['block_id', 'row'], ['column'], 'value');
		return section(title, null, t.origin !== null && h('p', { class: 'dim clip', title: t.origin }, `from ${t.origin}`),
			chosen('Table', valuesOf(t as Found, 'table'), (name) => {
				const [table, measure] = this.table(one(t, name), there && one(there, name), `${title}: ${name}`);
				return h('div', null, measure, table.element);
			}));
	}

	/** The table and, while two captures are compared, what chooses the figure. */
	private table(given: NamedTable, there: NamedTable | undefined, label: string): [Table<Row>, Child] {
		const t = filled(given), cells = t.cells!, p = this.app.palette(), unit = t.columns.indexOf('unit');
		const isOneUnit = unit < 0 || new Set(cells.map((c) => c[unit])).size < 2;
		const columns: Column<Row>[] = t.columns.map((head, i) => {
			const isUnit = i === unit && cells.every((c) => (c[i] ?? '') in CODES), isNumber = !isUnit && isNumeric(cells, i), id = `c${given.columns.indexOf(head)}`;
			const most = isNumber ? largest(cells, (c) => Number(c[i] ?? 0) || 0, 0) : 0;
			const isBar = isNumber && isOneUnit && cells.length > 1 && most > 0 && /rate|ratio|cycle|duration|value|percent|throughput|bandwidth|%|count|request|hit|miss/i.test(head);
			return {
				id, head, isNumber, unit: UNITS[head] ? () => UNITS[head] : undefined, width: isBar ? 'minmax(10rem, 1fr)' : isNumber ? `minmax(${Math.max(5.5, head.length * 0.56 + 2).toFixed(1)}rem, 1fr)` : `minmax(${Math.max(8, head.length * 0.56 + 2).toFixed(1)}rem, 2fr)`,
				value: (r) => (isUnit ? CODES[r.cells[i] ?? ''] : shown(r.cells[i], isNumber).value),
				cell: (r) => {
					const c = shown(r.cells[i], isNumber && !isUnit);
					return isUnit ? CODES[r.cells[i] ?? ''] : isBar ? h('span', { class: 'bar-cell' }, shareBar(Number(c.value ?? 0) || 0, most, p.accent, 'the largest'), h('span', null, c.text)) : h('span', { class: 'clip', title: c.title }, c.text);
				},
			};
		});
		const pair = there && twins(given, there), rows = cells.map((c, i): Row => ({ i, cells: c, all: given.cells![i] })), figure: Figure = { unit: '', title: 'the figure chosen', sense: 0, isRaw: true };
		const compare = pair?.figures.length ? this.compared(given, there!, pair, figure) : null;
		if (compare) columns.splice(t.columns.findIndex((head) => pair!.figures.includes(head)), 0, ...compare.columns);
		const table = new Table<Row>({ label, key: (r) => r.i, columns, csv: `${t.name}.csv`, sort: t.name === 'top-stall' ? { id: 'c1', isDown: true } : undefined });
		table.rows(rows);
		this.tables.push(table);
		return [table, compare && [choose('Compare', pair!.figures.map((value) => ({ value, label: value })), pair!.figures[0], (v) => {
			compare.set(v);
			table.rows(rows);
			table.refresh();
		}), pair!.alone > 0 && h('span', { class: 'dim' }, `${count(pair!.alone)} rows of B have no partner here`)]];
	}

	/** A, B and the change of one figure of each row. */
	private compared(here: NamedTable, there: NamedTable, pair: Twins, figure: Figure): { columns: Column<Row>[]; set(head: string): void } {
		let at = 0;
		const set = (head: string) => {
			at = here.columns.indexOf(head);
			const other = there.columns.indexOf(head);
			Object.assign(figure, { unit: UNITS[head] ?? '', digits: digitsOf([...here.cells!.map((c) => c[at]), ...(there.cells ?? []).map((c) => c[other])]) });
		};
		set(pair.figures[0]);
		return { set, columns: versusColumns<Row>((r) => ({ a: number(r.all[at]), b: number(pair.find(r.all)?.[at]) }), figure) };
	}

	/** Some tables are better seen. */
	private picture(t: NamedTable): Child {
		const found = { columns: t.columns, cells: t.cells! };
		if (t.name === 'roofline') return chosen('Roofline', valuesOf(found, 'title'), (title) => rooflines(found, title, (i) => colourOf(this.app.palette(), i)));
		if (t.name === 'memory-units') return chosen('Core', valuesOf(found, 'core_no'), (core) => memoryGraph(found, core));
		if (t.name === 'core-occupancy') return chosen('Measure', ['cycles', 'throughput', 'L2cache_hit_rate'].filter((m) => valuesOf(found, m).length), (m) => heatMap(coreCells(found, m), `${m} of a core${UNITS[m] ? `, ${UNITS[m]}` : ''}`));
		if (t.name === 'cacheline') return this.cache(found);
		return null;
	}

	/** A click on a line says all about it, and leads to its instructions. */
	private cache(t: Found): Child {
		const said = h('div', { class: 'dim', attrs: { 'aria-live': 'polite' } }, 'Click a line for all its counts.');
		return [chosen('Event', valuesOf(t, 'event'), (event) => {
			const cells = cacheCells(t, event);
			return heatMap(cells, event, (i) => this.line(t, cells[i].name, said));
		}), said];
	}

	private line(t: Found, name: string, place: HTMLElement): void {
		const [line, event, n, ranges] = ['line', 'event', 'count', 'ranges'].map((x) => t.columns.indexOf(x)), rows = t.cells.filter((c) => c[line] === name);
		const spans = [...new Set(rows.flatMap((c) => [...(c[ranges] ?? '').matchAll(/(0x[0-9a-f]+|\d+)"?,"?(0x[0-9a-f]+|\d+)/gi)].map((m) => `${m[1]}-${m[2]}`)))].slice(0, 16);
		fill(place, `line ${name}: ${rows.map((c) => `${c[event]} ${c[n]}`).join(', ')}. `, spans.map((range) => button(range, 'To the instructions at these addresses', () => this.toCode(range), { class: 'link' })));
	}

	private toCode(range: string): void {
		const [from, to] = range.split('-').map(Number);
		const still = this.app.store.choose();
		void this.app.code().then((code) => {
			if (!still()) return;
			const i = code.address.findIndex((a) => Number(a) >= from && Number(a) <= to);
			if (i < 0) return this.app.say('the capture has no instruction at ' + range);
			this.app.select({ kind: 'code', code: i });
			this.app.openPanel('isa');
		});
	}

	protected update(_state: Readonly<State>, keys: Changed): void {
		if (keys.has('theme')) this.show(this.shownTables);
		if (keys.has('base')) this.ask();
	}

	close(): void {
		for (const t of this.tables.splice(0)) t.close();
		super.close();
	}
}

/** Names and values here and there: figures as such, words where they differ. */
function pairsOf(here: NamedTable, there: NamedTable, title: string): Child {
	const other = new Map((there.cells ?? []).map((c) => [c[0], c[1]])), all = (here.cells ?? []).map(([key, a]) => ({ key: key ?? '', a, b: other.get(key) ?? null }));
	const isFigure = (x: { key: string; a: string | null; b: string | null }) => !NAMES.test(x.key) && (x.a ?? x.b) !== null && [x.a, x.b].every((v) => v === null || number(v) !== null);
	const words = all.filter((x) => !isFigure(x) && x.a !== x.b);
	return [figures(`${title} against the other capture`, all.filter(isFigure).map((x): [string, Pair, Figure] => [x.key, { a: number(x.a), b: number(x.b) }, { unit: UNITS[x.key] ?? '', title: x.key, digits: digitsOf([x.a, x.b]), sense: 0, isRaw: true }])),
		words.length > 0 && facts(...words.map((x): [string, Child] => [x.key, `A ${x.a ?? '-'}, B ${x.b ?? '-'}`]))];
}

/** A picture of one of several things, with a list to choose which. */
function chosen(label: string, names: string[], draw: (name: string) => Node | null): Child {
	if (!names.length) return null;
	const place = h('div', null, draw(names[0]));
	return h('figure', { class: 'picture' }, names.length > 1 && choose(label, names.map((value) => ({ value, label: value })), names[0], (v) => fill(place, draw(v))), place);
}

export const panel: Panel = {
	id: 'details', title: 'Details', hint: 'tables of the producer: what its rules say, sections, metrics; base information, workloads, roofline, stall reasons, cache lines',
	questions: ['summary?top=all'],
	applies: (app) => hasPipes(app) || app.trace.input.format === 'ncu', open: (host, app) => new DetailsView(host, app),
};
