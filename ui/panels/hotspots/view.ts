// SPDX-License-Identifier: Apache-2.0
// hotspots/view.ts: where the cycles go, ranked by instruction, line, opcode, class, cause or producer, and as a histogram over the code.
import { App, Panel } from '../../app';
import { bucketText, paintBuckets, paintChip, shareBar } from '../../base/bars';
import { choose, fill, h, s } from '../../base/dom';
import { count, cyclesWith, largest, share } from '../../base/format';
import { BUCKETS } from '../../base/palette';
import { Column, Table } from '../../base/table';
import { State } from '../../state';
import { bucketChip, Changed, chip, codeColumn, countColumn, cyclesColumn, diffColumns, diffParts, facts, filterBox, hasPipes, LIFETIME, pairKey, placeColumn, scaled, section, shareColumn, textColumn, toRow, View } from '../common';
import { splitKey } from '../source/view';
import { DiffPart, Hot, HotCause, HotGroup, HotProducer, HotRow, Isa, IsaRow, Pair } from '../types';
import { against, otherData, PER_WAIT } from '../versus';
import { Bin, binRows } from './bins';

type By = 'instr' | 'line' | 'opcode' | 'class' | 'cause' | 'producer';
const NAMES: Record<By, string> = { instr: 'instruction', line: 'source line', opcode: 'opcode', class: 'class', cause: 'cause', producer: 'producer' };

function costOf(r: IsaRow): number {
	return r.cycles || r.samples || 0;
}

/** By class: a kind of instructions, and what one execution of it costs. */
interface CostRow { kind: string; class: string; rows: number; hit: number; mean: number | null; mean_stall: number | null; median: number; p99: number }
interface Any { close(): void; element: HTMLElement; refresh(): void; tools(): HTMLElement; mark(k: Iterable<string | number>, s: boolean): void }

const COSTS = 'What one execution costs, by kind';
const EMPTY = 'This capture has no instruction that was executed or sampled.';

class HotspotView extends View {
	private by: By = 'instr';
	private bins = 40;
	private isNear = false;
	private table: Any | null = null;
	private costs: Table<CostRow> | null = null;
	private isa: Isa | null = null;
	private hot!: Hot;
	private diffs = new Map<string, DiffPart>();
	/** by producer: of the other capture */
	private base: Hot | null = null;
	private readonly bar = h('div', { class: 'panel-bar' });
	private readonly picture = h('div', { class: 'histogram' });
	private readonly space = h('div', { class: 'panel-fill' });

	constructor(host: HTMLElement, app: App) {
		super(host, app, 'hotspots');
		this.ask();
	}

	private ask(): void {
		const hot = this.app.verb<Hot>('hot', { by: this.by, top: 'all' });
		const isBy = this.by === 'producer', diffs = isBy ? new Map<string, DiffPart>() : diffParts(this.app, this.by), other = isBy ? otherData<Hot>(this.app, 'hot', { by: this.by, top: 'all' }) : null;
		this.load(Promise.all([hot, this.app.verb<Isa>('isa').catch(() => null), diffs, other]), ([a, b, c, d]) => {
			this.diffs = c;
			this.base = d;
			this.hot = a.data;
			this.isa = b?.data ?? null;
			this.show();
		});
	}

	private whole(): number {
		return this.hot.accounting?.duration || this.hot.totals.latency + this.hot.totals.idle || (this.hot.totals.samples ?? 0);
	}

	private show(): void {
		this.table?.close();
		this.table = this.makeTable();
		this.drawBar();
		this.drawPicture();
		this.costs?.close();
		this.costs = this.by === 'class' ? this.costTable() : null;
		fill(this.space, this.table.element, this.costs && section(COSTS, this.costs.tools(), this.costs.element));
		fill(this.body, this.bar, this.picture, this.space);
		this.mark(this.app.store.get());
	}

	private makeTable(): Any {
		const h = this.hot;
		if (this.by === 'instr') return this.rowTable(h.rows ?? []);
		if (this.by === 'cause') return this.causeTable((h.groups ?? []) as HotCause[]);
		if (this.by === 'producer') return h.pairs ? this.pairTable(h.pairs) : this.producerTable((h.groups ?? []) as HotProducer[]);
		return this.groupTable((h.groups ?? []) as HotGroup[]);
	}

	private costColumns<R extends { buckets: HotGroup['buckets']; cycles: number; hit: number; samples?: number; stalled_samples?: number }>(rows: R[]): Column<R>[] {
		const app = this.app, palette = app.palette(), most = largest(rows, (r) => (this.hot.accounting ? r.cycles : r.samples ?? 0));
		if (!this.hot.accounting) return [countColumn('samples', 'samples', (r) => r.samples ?? 0), countColumn('stalled', 'stalled', (r) => r.stalled_samples ?? 0),
			shareColumn('share', 'share', (r) => r.samples ?? 0, () => this.whole(), 'samples'),
			{ id: 'bar', head: '', width: 'minmax(8rem, 1fr)', isFixed: true, isDecor: true, value: (r) => r.samples ?? 0, cell: (r) => shareBar(r.samples ?? 0, most, app.palette().accent, 'the largest') }];
		return [countColumn('hit', 'hits', (r) => r.hit), cyclesColumn(scaled(app, () => this.whole()), 'cycles', 'cycles', (r) => r.cycles, 'issue, stall, wait, idle and drain together'),
			shareColumn('share', 'share', (r) => r.cycles, () => this.whole()),
			...BUCKETS.map((b) => cyclesColumn<R>(scaled(app, () => this.whole()), b, b, (r) => r.buckets[b])),
			{ id: 'bar', head: 'split', title: 'where the cycles go: issue, stall, wait, idle, drain', width: 'minmax(8rem, 1fr)', isFixed: true, value: (r) => r.cycles, paint: (cell, r) => paintBuckets(cell, r.buckets, most, palette), drawn: () => '', hint: (r) => bucketText(r.buckets) }];
	}

	/** What most of the lost cycles of a line were lost to, where the answer says so. */
	private lossColumns(rows: HotGroup[]): Column<HotGroup>[] {
		const of = (r: HotGroup) => r as { cause?: string | null; cause_share?: number | null };
		return !rows.some((r) => of(r).cause) ? [] : [textColumn('cause', 'mostly lost to', (r) => of(r).cause, 'minmax(8rem, 1fr)'),
			{ ...countColumn<HotGroup>('cause-share', 'of it', (r) => of(r).cause_share, 'its share of the lost cycles of the line', 1), unit: () => '% of lost' }];
	}

	/** A, B and the change while two captures are compared. */
	private compared<R>(key: (row: R) => string): Column<R>[] {
		return this.diffs.size ? diffColumns<R>((r) => this.diffs.get(key(r))) : [];
	}

	/** What one execution costs, by kind of instruction; null where the answer does not say. */
	private costTable(): Table<CostRow> | null {
		const rows = (this.hot as { costs?: CostRow[] }).costs ?? [], each = (id: 'mean' | 'mean_stall' | 'median' | 'p99', head: string, title: string) => cyclesColumn<CostRow>(this.app, id, head, (r) => r[id], title);
		if (!rows.length) return null;
		const t = new Table<CostRow>({
			label: COSTS, key: (r) => r.kind, csv: 'costs.csv', pick: (k) => this.pickWhere((r) => r.class === k.class),
			columns: [textColumn('kind', 'kind', (r) => r.kind, 'minmax(9rem, 2fr)', 'class, direction, bytes that a lane moves'), countColumn('rows', 'rows', (r) => r.rows), countColumn('hit', 'hits', (r) => r.hit),
				each('mean', 'mean', 'latency of one execution'), each('mean_stall', 'of it stall', 'stall of one execution'), each('median', 'p50', 'latency of one execution, median'), each('p99', 'p99', 'latency of one execution, 99th percentile')],
		});
		t.rows(rows);
		return t;
	}

	private rowTable(rows: HotRow[]): Any {
		const palette = this.app.palette();
		const t = new Table<HotRow>({
			label: 'Hottest instructions', key: (r) => r.row ?? -1, csv: 'hot.csv', empty: EMPTY, pick: (r) => r.row !== null && this.app.select({ kind: 'code', code: this.app.codeOfRow(r.row) }),
			columns: [{ id: 'row', head: '#', isNumber: true, width: '3.6rem', value: (r) => r.row }, codeColumn('isa', 'instruction', (r) => r.isa, 'minmax(14rem, 3fr)'),
				{ id: 'class', head: 'class', width: '7.2rem', value: (r) => r.class, paint: (cell, r) => paintChip(cell, r.class, palette.slots[this.app.trace.classes.find((c) => c.name === r.class)?.slot ?? 11]), drawn: () => '' },
				...this.costColumns(rows), ...this.compared<HotRow>((r) => String(r.row)), textColumn('cause', 'main cause', (r) => r.cause, 'minmax(8rem, 1fr)'),
				textColumn('waits', 'waits for', (r) => (r.waits_for ? `row ${r.waits_for.row} ${r.waits_for.isa}` : null), 'minmax(8rem, 1fr)')],
		});
		t.rows(rows);
		return t;
	}

	private groupTable(rows: HotGroup[]): Any {
		const t = new Table<HotGroup>({
			label: `Hottest by ${NAMES[this.by]}`, key: (r) => r.key, csv: `hot-${this.by}.csv`, empty: EMPTY, pick: (r) => this.pickGroup(r),
			columns: [this.by === 'line' ? placeColumn('key', NAMES.line, (r) => r.key) : { id: 'key', head: NAMES[this.by], width: 'minmax(14rem, 2fr)', value: (r) => r.key, cell: (r) => (this.by === 'class' ? chip(this.app, r.key) : h('span', { class: 'clip mono', title: r.key }, r.key)) },
				countColumn('rows', 'rows', (r) => r.rows), countColumn('executed', 'executed', (r) => r.executed_rows, 'rows that ran at least once'), ...this.costColumns(rows), ...this.lossColumns(rows), ...this.compared<HotGroup>((r) => r.key)],
		});
		t.rows(rows);
		return t;
	}

	private causeTable(rows: HotCause[]): Any {
		const most = largest(rows, (r) => r.cycles), p = this.app.palette();
		const t = new Table<HotCause>({
			label: 'Causes', key: (r) => r.key, csv: 'causes.csv', empty: EMPTY, pick: (c) => this.pickWhere((r) => r.cause === c.key),
			columns: [textColumn('key', 'cause', (r) => r.key, 'minmax(12rem, 2fr)'), { id: 'bucket', head: 'bucket', value: (r) => r.bucket, cell: (r) => bucketChip(this.app, r.bucket) },
				textColumn('family', 'family', (r) => r.family), countColumn('hit', 'times', (r) => r.hit), cyclesColumn(scaled(this.app, () => this.whole()), 'cycles', 'cycles', (r) => r.cycles),
				shareColumn('share', 'share', (r) => r.cycles, () => this.whole()), ...this.compared<HotCause>((r) => r.key),
				{ id: 'bar', head: '', width: 'minmax(8rem, 2fr)', isFixed: true, isDecor: true, value: (r) => r.cycles, cell: (r) => shareBar(r.cycles, most, p.buckets[BUCKETS.findIndex((b) => b === r.bucket)] ?? p.dim, 'the largest') }],
		});
		t.rows(rows);
		return t;
	}

	private producerTable(rows: HotProducer[]): Any {
		const most = largest(rows, (r) => r.wait);
		const t = new Table<HotProducer>({
			label: 'Producers of waits', key: (r) => r.key, csv: 'producers.csv', pick: (p) => this.pickWhere((r) => r.class === p.key), empty: 'No wait of this capture has a known producer.',
			columns: [textColumn('key', 'producer', (r) => r.key, 'minmax(12rem, 2fr)'), countColumn('waits', 'waits', (r) => r.waits), countColumn('blocked', 'blocked', (r) => r.blocked, 'waits that really waited'),
				cyclesColumn(scaled(this.app, () => this.whole()), 'wait', 'waited', (r) => r.wait), shareColumn('share', 'share', (r) => r.wait, () => this.whole()),
				...against<HotProducer>(this.base?.groups as HotProducer[] | undefined, (r) => r.key, (r) => r.per_wait, PER_WAIT),
				{ id: 'bar', head: '', width: 'minmax(8rem, 2fr)', isFixed: true, isDecor: true, value: (r) => r.wait, cell: (r) => shareBar(r.wait, most, this.app.palette().buckets[2], 'the largest') }],
		});
		t.rows(rows);
		return t;
	}

	private pairTable(rows: Pair[]): Any {
		const t = new Table<Pair>({
			label: 'Pipes that wait for pipes', key: pairKey, csv: 'pairs.csv', empty: 'No pipe waited for another.',
			columns: [textColumn('producer', 'producer', (r) => r.producer_pipe ?? '(unmatched)'), textColumn('consumer', 'waits', (r) => r.consumer_pipe), textColumn('cross', 'across cores', (r) => (r.is_cross_core ? 'yes' : 'no')),
				countColumn('count', 'waits', (r) => r.count), countColumn('blocked', 'blocked', (r) => r.blocked), cyclesColumn(scaled(this.app, () => this.whole()), 'cycles', 'waited', (r) => r.cycles),
				shareColumn('share', 'share', (r) => r.cycles, () => this.whole()), ...against<Pair>(this.base?.pairs, pairKey, (r) => r.per_wait, PER_WAIT)],
		});
		t.rows(rows);
		return t;
	}

	/** Selects the costliest row of those meant: it is then marked everywhere. */
	private pickWhere(isMeant: (r: IsaRow) => boolean): void {
		let hottest: IsaRow | null = null;
		for (const r of this.isa?.rows ?? []) if (isMeant(r) && (!hottest || costOf(r) > costOf(hottest))) hottest = r;
		if (hottest) this.app.select({ kind: 'code', code: hottest.index });
	}

	private pickGroup(g: HotGroup): void {
		if (this.by !== 'line') return this.pickWhere((r) => (this.by === 'class' ? r.class : r.opcode) === g.key);
		const place = splitKey(g.key), source = place ? this.app.trace.sources.findIndex((x) => x.path === place.path) : -1;
		if (place && source >= 0) this.app.select({ kind: 'line', source, line: place.line });
	}

	private drawBar(): void {
		const a = this.hot.accounting, u = scaled(this.app, () => this.whole()).units();
		const choices = (Object.keys(NAMES) as By[]).map((value) => ({ value, label: value === 'producer' && hasPipes(this.app) ? 'pipe that waits' : NAMES[value] }));
		fill(this.bar, choose('Rank by', choices, this.by, (v) => {
			this.by = v as By;
			this.ask();
		}), facts(['rows', count(this.hot.found)], ['cycles', a ? cyclesWith(a.duration, u) : null]),
		h('span', { class: 'grow' }),
		h('label', { class: 'choose' }, h('span', { class: 'dim' }, 'Bins'), this.binField()),
		choose('Range', [{ value: 'all', label: 'all code' }, { value: 'near', label: 'around the selection' }], this.isNear ? 'near' : 'all', (v) => {
			this.isNear = v === 'near';
			this.drawPicture();
		}),
		this.table && 'only' in this.table && filterBox(this.table as unknown as Table<Record<string, unknown>>, 'Filter', (r) => Object.values(r).filter((v) => typeof v === 'string').join(' ')), this.table?.tools());
	}

	/** 4 to 100. */
	private binField(): HTMLElement {
		const field = h('input', { class: 'bins', attrs: { type: 'number', min: 4, max: 100, value: this.bins, 'aria-label': 'Bins' } });
		field.addEventListener('change', () => {
			this.bins = Math.max(4, Math.min(100, Math.round(Number(field.value)) || 40));
			field.value = String(this.bins);
			this.drawPicture();
		});
		return field;
	}

	private range(): [number, number] {
		const rows = this.isa!.rows, code = this.app.store.get().selection?.code;
		const at = code === undefined ? -1 : rows.findIndex((r) => r.index === code);
		if (!this.isNear || at < 0) return [0, rows.length];
		const half = Math.max(50, this.bins);
		return [Math.max(0, at - half), Math.min(rows.length, at + half)];
	}

	private drawPicture(): void {
		if (!this.isa || !this.isa.rows.length) {
			fill(this.picture);
			return;
		}
		const [from, to] = this.range(), rows = this.isa.rows, bins = binRows(rows, from, to, this.bins);
		const most = largest(bins, (b) => b.weight), w = 1000, height = 100, step = w / bins.length;
		const svg = s('svg', { attrs: { viewBox: `0 0 ${w} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': this.say(bins) } });
		bins.forEach((b, i) => svg.appendChild(this.drawBin(b, i * step, step, height, most)));
		fill(this.picture, h('div', { class: 'histogram-y dim' }, h('span', null, this.hot.accounting ? cyclesWith(most, scaled(this.app, () => this.whole()).units()) : count(most) + ' samples'), h('span', null, '0')), svg,
			h('div', { class: 'histogram-x dim' }, h('span', null, `row ${rows[from].row}`), h('span', null, `${bins.length} bins of ${bins[0].last - bins[0].first + 1} instructions`), h('span', null, `row ${rows[to - 1].row}`)));
	}

	private drawBin(b: Bin, x: number, step: number, height: number, most: number): SVGElement {
		const p = this.app.palette(), rows = this.isa!.rows, code = this.app.store.get().selection?.code;
		const isHere = code !== undefined && rows[b.first].index <= code && code <= rows[b.last].index;
		const text = `rows ${rows[b.first].row} to ${rows[b.last].row}: ${share(b.weight, this.whole())} of ${this.hot.accounting ? LIFETIME : 'samples'}`;
		const g = s('g', { class: 'bin' + (isHere ? ' here' : ''), attrs: { tabindex: 0, role: 'button', 'aria-label': text } }, s('title', null, text),
			s('rect', { class: 'bin-back', attrs: { x, y: 0, width: step, height } }));
		let y = height;
		const parts: [number, string][] = this.hot.accounting ? BUCKETS.map((k, i) => [b.buckets[k], p.buckets[i]]) : [[b.weight, p.accent]];
		for (const [value, colour] of parts) {
			const tall = (value / most) * height;
			y -= tall;
			if (tall > 0) g.appendChild(s('rect', { attrs: { x: x + step * 0.06, y, width: step * 0.88, height: tall, fill: colour } }));
		}
		const go = () => {
			let hottest = b.first;
			for (let i = b.first; i <= b.last; i++) if (costOf(rows[i]) > costOf(rows[hottest])) hottest = i;
			this.app.select({ kind: 'code', code: rows[hottest].index });
		};
		g.addEventListener('click', go);
		g.addEventListener('dblclick', () => toRow(this.app, rows[b.first].row));
		g.addEventListener('keydown', (e) => (e as KeyboardEvent).key === 'Enter' && go());
		return g;
	}

	private say(bins: Bin[]): string {
		const hottest = bins.reduce((m, b) => (b.weight > m.weight ? b : m), bins[0]), rows = this.isa!.rows;
		return `Cost over the code: hottest are rows ${rows[hottest.first].row} to ${rows[hottest.last].row} with ${share(hottest.weight, this.whole())}`;
	}

	private mark(state: Readonly<State>): void {
		const sel = state.selection;
		if (this.by === 'instr') {
			const row = sel?.code === undefined ? undefined : this.isa?.rows.find((r) => r.index === sel.code)?.row;
			this.table?.mark(row === undefined || row === null ? [] : [row], true);
		} else if (this.by === 'line') {
			const file = sel?.source === undefined ? undefined : this.app.trace.sources[sel.source]?.path;
			this.table?.mark(file && sel?.line ? [`${file}:${sel.line}`] : [], true);
		} else if (this.by === 'class' || this.by === 'opcode') {
			const row = sel?.code === undefined ? undefined : this.isa?.rows.find((r) => r.index === sel.code);
			this.table?.mark(row ? [row[this.by]] : [], true);
		}
	}

	protected update(state: Readonly<State>, keys: Changed): void {
		if (keys.has('selection')) {
			this.mark(state);
			this.drawPicture();
		}
		if (keys.has('theme')) this.show();
		else if (keys.has('unit')) {
			this.table?.refresh();
			this.costs?.refresh();
			this.drawBar();
			this.drawPicture();
		}
		if (keys.has('scope') || keys.has('base')) this.ask();
	}

	close(): void {
		this.table?.close();
		this.costs?.close();
		super.close();
	}
}

export const panel: Panel = {
	id: 'hotspots', title: 'Hotspots', hint: 'where the cycles go: ranked tables and a histogram over the code',
	questions: [
		'diff?by=cause&top=all', 'diff?by=class&top=all', 'diff?by=instr&top=all', 'diff?by=line&top=all', 'diff?by=opcode&top=all',
		'hot?by=cause&top=all', 'hot?by=class&top=all', 'hot?by=instr&top=all', 'hot?by=line&top=all', 'hot?by=opcode&top=all',
		'hot?by=producer&top=all', 'isa',
	],
	open: (host, app) => new HotspotView(host, app),
};
