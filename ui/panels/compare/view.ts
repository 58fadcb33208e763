// SPDX-License-Identifier: Apache-2.0
// compare/view.ts: two captures, figure by figure. Everything is per execution, so that captures of unequal length compare; what lies inside
// the noise floor is grey, and without repeats nothing is claimed.
import { App, Panel } from '../../app';
import { choose, fill, h, notice } from '../../base/dom';
import { count, share } from '../../base/format';
import { BUCKETS } from '../../base/palette';
import { Column, Table } from '../../base/table';
import { State } from '../../state';
import { baseline, capture, Changed, codeColumn, countColumn, facts, filterBox, placeColumn, section, textColumn, View } from '../common';
import { Diff, DiffPart as Part, DiffValue as Value, Summary } from '../types';
import { captureNames } from '../../source';
import { change, diffAnswer, Figure, figures, headline, isNoise, otherData, Pair, SHARE, sideChip } from '../versus';

const VERDICTS: Record<string, string> = {
	'no-claim': 'no claim: there is no repeat to measure the noise with', 'within-noise': 'no change beyond the noise', 'beyond-noise': 'changed beyond the noise', 'not-comparable': 'not comparable',
};

/** The unit of a figure, as `incore diff` prints it: a share is a part of 1 in the answer and per cent on the screen. */
const isShare = (name: string) => name.endsWith('_share');
const isCount = (name: string) => /^(duration|latency|stall|idle|hit|waves)$/.test(name);
const unitOf = (name: string) => (isShare(name) ? '%' : name.endsWith('_per_hit') ? 'cyc/exec' : name.endsWith('_per_wave') ? 'cyc/wave' : /^(hit|waves)$/.test(name) ? '' : 'cycles');

/** Cycles are lost or spent; executions, waves and clocks are neither good nor bad. */
const SENSE = (name: string) => (/^issue_share|^hit$|^waves$|clock/.test(name) ? 0 : 1);

class CompareView extends View {
	private by = 'instr';
	private data!: Diff;
	private tables: { refresh(): void }[] = [];
	private list: Table<Part> | null = null;

	constructor(host: HTMLElement, app: App) {
		super(host, app, 'compare');
		this.ask();
	}

	/** Number of the other capture, or -1. */
	private other(): number {
		const t = this.app.trace, chosen = baseline(this.app);
		if (chosen >= 0) return chosen;
		const mine = capture(this.app) ?? 0;
		return t.captures.length > 1 ? (mine === 0 ? 1 : 0) : -1;
	}

	private ask(): void {
		const base = this.other();
		if (base < 0) {
			this.load(Promise.resolve(null), () => fill(this.body, notice('Nothing to compare with', 'This session has one capture.', 'Start with two: incore view A B. Equal code is matched row by row, changed code by its text or source lines.')));
			return;
		}
		this.load(diffAnswer<Diff>(this.app, this.by, base).catch((e: Error) => e), (d) => {
			if (d instanceof Error) this.sideBySide(d);
			else {
				this.data = d;
				this.show();
			}
		});
	}

	/** Different code: no row has a partner, but shares of the lifetime stand beside each other. */
	private sideBySide(why: Error): void {
		const shares = h('div');
		fill(this.body, notice('These two cannot be compared', why.message, 'Choose another capture to compare with. What both lose their time to can be set side by side:'), shares);
		void Promise.all([this.app.verb<Summary>('summary'), otherData<Summary>(this.app, 'summary')]).then(([{ data: a }, b]) => b && a.accounting?.duration && b.accounting?.duration && fill(shares, section('Shares of the lifetime of all waves', null,
			figures('Shares of both captures', BUCKETS.map((k): [string, Pair, Figure] => [k, { a: a.accounting_shares[k], b: b.accounting_shares[k] }, SHARE])))), () => undefined);
	}

	private show(): void {
		const d = this.data;
		this.tables = [];
		fill(this.body, h('div', { class: 'panel-columns' }, this.factSection(d), this.valueSection(d.values), this.partSection(d)));
		this.mark(this.app.store.get());
	}

	private factSection(d: Diff): HTMLElement {
		const t = this.app.trace, base = this.other();
		return section('Verdict', choose('With', t.captures.map((c, i) => ({ value: c.hash ?? '', label: captureNames(t.captures)[i], disabled: c.index === t.index || c.hash === null })), t.captures[base]?.hash ?? '', (hash) => this.app.store.set({ base: hash })),
			h('p', null, sideChip(this.app, 'A'), sideChip(this.app, 'B', base)), d.by === 'instr' && h('p', { class: 'verdict moved' }, headline(d.parts) ?? 'nothing moved'), h('p', { class: 'verdict' }, VERDICTS[d.verdict] ?? d.verdict), h('p', { class: 'dim' }, d.noise.statement),
			facts(['matched', `${count(d.alignment.matched)} of ${count(d.alignment.rows_a)} and ${count(d.alignment.rows_b)} rows, by ${d.alignment.kind}`], ['of latency', share(d.alignment.latency_share, 1)],
				['executions', `${count(d.hits.a)} and ${count(d.hits.b)}${d.hits.is_uniform ? ', the same ratio everywhere: the same work' : ''}`], ['clocks', d.clocks.a_mhz && d.clocks.b_mhz ? `${count(d.clocks.a_mhz, 1)} and ${count(d.clocks.b_mhz, 1)} MHz${d.clocks.is_alike ? '' : ': not alike'}` : null],
				['A, before', t.captures[capture(this.app) ?? 0]?.path ?? ''], ['B, after', t.captures[base]?.path ?? '']));
	}

	private valueSection(rows: Value[]): HTMLElement {
		const times = (r: Value) => (isShare(r.name) ? 100 : 1), digits = (r: Value) => (isShare(r.name) ? 2 : isCount(r.name) ? 0 : 3);
		const figure = (id: 'a' | 'b' | 'noise', head: string, title = ''): Column<Value> => ({ id, head, title, isNumber: true, value: (r) => r[id], cell: (r) => (r[id] === null ? '-' : count(r[id]! * times(r), digits(r))) });
		const t = this.own(new Table<Value>({
			label: 'Figures per execution', key: (r) => r.name, csv: 'diff-values.csv', rowClass: (r) => (isNoise(r.verdict) ? 'noise' : ''),
			columns: [textColumn('name', 'figure', (r) => r.name.replace(/_/g, ' '), 'minmax(13rem, 1fr)'), textColumn('unit', 'unit', (r) => unitOf(r.name), '5rem'), figure('a', 'A'), figure('b', 'B'),
				{ id: 'change', head: 'Δ', isNumber: true, title: 'B less A; of shares in percentage points', value: (r) => r.change, cell: (r) => change(r.change === null ? null : r.change * times(r), r.verdict, digits(r), SENSE(r.name)) },
				{ id: 'pct', head: 'Δ', isNumber: true, unit: () => '%', value: (r) => r.change_pct, cell: (r) => (r.change_pct === null ? '-' : (r.change_pct > 0 ? '+' : '') + count(r.change_pct, 2)) },
				figure('noise', 'noise', 'what repeats of the same capture differ by'), textColumn('verdict', 'verdict', (r) => r.verdict)],
		}));
		t.rows(rows);
		this.tables.push(t);
		return section('Figures', t.tools(), h('div', { class: 'panel-fill' }, t.element));
	}

	private partSection(d: Diff): HTMLElement {
		const isCode = d.by === 'instr';
		const t = this.own(new Table<Part>({
			label: 'Differences, part by part', key: (r) => `${r.row_a ?? ''}|${r.row_b ?? ''}|${r.key}`, csv: 'diff.csv', rowClass: (r) => (isNoise(r.verdict) ? 'noise' : ''),
			pick: (r) => r.row_a !== null && isCode && this.app.select({ kind: 'code', code: this.app.codeOfRow(r.row_a) }),
			columns: [isCode ? codeColumn('key', 'instruction', (r) => r.key) : d.by === 'line' ? placeColumn('key', d.by, (r) => r.key, 'minmax(12rem, 1fr)') : textColumn('key', d.by, (r) => r.key, 'minmax(12rem, 1fr)'), ...(isCode ? [countColumn<Part>('row-a', 'row A', (r) => r.row_a), countColumn<Part>('row-b', 'row B', (r) => r.row_b)] : []),
				countColumn('hit-a', 'hits A', (r) => r.hit_a), countColumn('hit-b', 'hits B', (r) => r.hit_b), countColumn('a', 'A', (r) => r.per_hit_a, 'cycles per execution', 2), countColumn('b', 'B', (r) => r.per_hit_b, 'cycles per execution', 2),
				{ id: 'change', head: 'Δ', isNumber: true, value: (r) => r.change, cell: (r) => change(r.change, r.verdict) },
				{ id: 'pct', head: 'Δ', isNumber: true, unit: () => '%', value: (r) => (r.change !== null && r.per_hit_a ? r.change / r.per_hit_a : null), cell: (r) => (r.change !== null && r.per_hit_a ? (r.change > 0 ? '+' : '') + share(r.change, r.per_hit_a, false) : r.per_hit_a === null ? 'added' : r.per_hit_b === null ? 'removed' : '-') },
				{ ...countColumn<Part>('contribution', 'contributes', (r) => r.contribution, 'to the change of one execution of A, all rows together', 4), unit: () => 'cyc/exec' }, countColumn('noise', 'noise', (r) => r.noise, '', 2), textColumn('verdict', 'verdict', (r) => r.verdict)],
		}));
		t.rows(d.parts);
		this.list = t;
		this.tables.push(t);
		return section('Part by part', [choose('By', ['instr', 'line', 'opcode', 'class', 'cause'].map((value) => ({ value, label: value === 'instr' ? 'instruction' : value })), this.by, (v) => {
			this.by = v;
			this.ask();
		}), filterBox(t, 'Filter', (r) => r.key), t.tools()], h('div', { class: 'panel-fill' }, t.element));
	}

	private mark(state: Readonly<State>): void {
		const code = state.selection?.code;
		if (!this.list || code === undefined || this.by !== 'instr') return;
		this.list.mark(this.list.list().filter((r) => r.row_a !== null && this.app.codeOfRow(r.row_a) === code).map((r) => `${r.row_a ?? ''}|${r.row_b ?? ''}|${r.key}`), true);
	}

	protected update(state: Readonly<State>, keys: Changed): void {
		if (keys.has('base')) this.ask();
		if (keys.has('selection')) this.mark(state);
		if (keys.has('theme')) for (const t of this.tables) t.refresh();
	}
}

export const panel: Panel = {
	id: 'compare', title: 'Compare', hint: 'two captures side by side and as difference, per execution',
	questions: ['diff?by=cause&top=all', 'diff?by=class&top=all', 'diff?by=instr&top=all', 'diff?by=line&top=all', 'diff?by=opcode&top=all', 'summary'],
	open: (host, app) => new CompareView(host, app),
};
