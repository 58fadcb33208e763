// SPDX-License-Identifier: Apache-2.0
// isa/view.ts: the listing with what each instruction cost, what it waited for, where branches went, and which loops it is in.
import { App, Panel } from '../../app';
import { bucketText, paintBuckets, paintChip } from '../../base/bars';
import { button, choose, fill, h, notice, setText } from '../../base/dom';
import { baseName, count, cycles, cyclesWith, share, unitName } from '../../base/format';
import { Palette } from '../../base/palette';
import { Column, Table } from '../../base/table';
import { State } from '../../state';
import { Changed, countColumn, cyclesColumn, diffColumns, diffParts, facts, filterBox, hex, scaled, sum, View } from '../common';
import { DiffPart, Edge, Hot, HotRow, Isa, IsaRow, Loop } from '../types';
import { Arrow, Gutter, Lanes, layout, say, width } from './gutter';

interface Line { at: number; row: IsaRow | null; label: { row: number; address: number; text: string; index: number } | null; loop: Loop | null; edges: Edge[]; hot: HotRow | null }
type Basis = 'sum' | 'mean' | 'max' | 'wave';
const ROW = 22;

class IsaView extends View {
	private table: Table<Line> | null = null;
	private lines: Line[] = [];
	private byNumber = new Map<number, Line>();
	private lanes: Lanes = { count: 0, lanes: [], left: 0 };
	private isa!: Isa;
	private basis: Basis = 'sum';
	private most = 1;
	private whole = 1;
	private folded = new Set<number>();
	private readonly top = h('div', { class: 'panel-bar' });
	private isSampled = false;
	private palette: Palette = this.app.palette();
	private wave: number | null = null;
	/** position of the selected row, or -1 */
	private chosen = -1;
	/** what changed against the other capture, by row number; empty without a comparison */
	private diffs = new Map<string, DiffPart>();

	constructor(host: HTMLElement, app: App) {
		super(host, app, 'isa');
		this.ask();
	}

	private ask(): void {
		const where: Record<string, number> = {};
		const coord = this.wave === null ? null : this.app.trace.tracks[this.wave]?.coord;
		if (coord) this.app.trace.levels.forEach((level, i) => (where[level] = coord[i]));
		const isa = this.app.verb<Isa>('isa', where);
		const hot = coord ? Promise.resolve(null) : this.app.verb<Hot>('hot', { by: 'instr', top: 'all' }).catch(() => null);
		const diffs = coord ? Promise.resolve(new Map<string, DiffPart>()) : diffParts(this.app, 'instr');
		this.load(Promise.all([isa, hot, diffs]), ([a, b, c]) => {
			this.diffs = c;
			this.show(a.data, b?.data.rows ?? []);
		});
	}

	private show(isa: Isa, hot: HotRow[]): void {
		this.isa = isa;
		if (!isa.rows.length) {
			fill(this.body, notice('No code in this capture', 'The capture holds no instruction table: nothing was traced, or its code object was not saved.',
				this.app.trace.vendor === 'amd' ? 'Capture again with the code object saved beside it (rocprofv3 does so by itself).' : 'Capture again with its code.'));
			return;
		}
		this.isSampled = isa.rows.some((r) => r.samples !== undefined);
		this.build(isa, hot);
		this.table?.close();
		const gutter = this.lanes.count ? new Gutter(this.lanes, ROW) : undefined;
		const table = this.own(new Table<Line>({
			label: 'Instructions', columns: this.columns(), key: (l) => (l.row ?? l.label)!.index, sort: undefined, rowHeight: ROW, csv: 'isa.csv',
			rowClass: (l) => (l.label ? 'label-row' : l.row!.hit || l.row!.samples ? '' : 'never') + (l.loop ? ' loop-head' : ''),
			rowTitle: (l) => this.hint(l),
			pick: (l) => this.app.select({ kind: 'code', code: (l.row ?? l.label)!.index }),
			empty: 'No instruction matches.', acts: { source: (l) => this.toSource(l), fold: (l) => l.loop && this.fold(l.loop) },
			beside: gutter && { element: gutter.element, draw: (first, last) => this.drawGutter(gutter, first, last) },
		}));
		this.table = table;
		table.rows(this.lines);
		this.drawBar();
		fill(this.body, this.top, table.element);
		this.mark(this.app.store.get(), true);
		if (!this.app.store.get().selection && isa.hottest_row !== null) {
			const at = this.lines.findIndex((l) => l.row?.row === isa.hottest_row);
			if (at >= 0) requestAnimationFrame(() => this.table === table && table.reveal(at));
		}
	}

	private build(isa: Isa, hot: HotRow[]): void {
		const hots = new Map(hot.map((r) => [r.row, r]));
		const loops = new Map(isa.loops.map((l) => [l.header_row, l]));
		const all = [...isa.labels.map((l) => ({ index: l.index, row: null, label: l })), ...isa.rows.map((r) => ({ index: r.index, row: r, label: null }))];
		all.sort((a, b) => a.index - b.index);
		this.lines = all.map((x, at) => ({
			at, row: x.row, label: x.label, loop: x.row ? loops.get(x.row.row) ?? null : null, edges: [], hot: x.row ? hots.get(x.row.row) ?? null : null,
		}));
		this.byNumber = new Map(this.lines.filter((l) => l.row).map((l) => [l.row!.row, l]));
		const arrows: Arrow[] = [];
		for (const e of isa.edges) {
			const wait = this.byNumber.get(e.wait), producer = this.byNumber.get(e.producer);
			if (!wait || !producer) continue;
			wait.edges.push(e);
			if (e.dominating) arrows.push({ from: wait.at, to: producer.at, kind: 'wait', weight: e.stall + e.shared, title: `row ${e.wait} waits for row ${e.producer}` });
		}
		for (const b of isa.branches) {
			const from = this.byNumber.get(b.row), to = this.byNumber.get(b.target);
			if (from && to && (b.taken + b.not_taken > 0 || !isa.accounting)) arrows.push({ from: from.at, to: to.at, kind: 'branch', weight: b.taken, title: `branch from row ${b.row} to row ${b.target}, taken ${b.taken} of ${b.taken + b.not_taken}` });
		}
		this.lanes = layout(arrows);
		this.most = isa.rows.reduce((m, r) => Math.max(m, sum(r.buckets)), 1);
		this.whole = this.isSampled ? isa.rows.reduce((n, r) => n + (r.samples ?? 0), 0) : isa.accounting?.duration ?? isa.totals.latency + isa.totals.idle;
	}

	/** Cycles of a row on the basis chosen. */
	private cost(r: IsaRow): number | null {
		if (this.basis === 'mean') return r.hit ? sum(r.buckets) / r.hit : null;
		if (this.basis === 'max') return r.execution?.max ?? null;
		return this.isa.accounting ? sum(r.buckets) : r.latency + r.idle;
	}

	private columns(): Column<Line>[] {
		const app = this.app, all = scaled(app, () => this.whole), has = (f: (r: IsaRow) => boolean) => this.isa.rows.some(f);
		const of = <T>(f: (r: IsaRow) => T) => (l: Line) => (l.row ? f(l.row) : null);
		const out: Column<Line>[] = [
			{ id: 'row', head: '#', isNumber: true, width: '3.2rem', value: (l) => (l.row ?? l.label)!.row, title: 'number of the instruction in the capture' },
			{ id: 'address', head: 'address', isLate: true, width: '5.2rem', value: (l) => (l.row ?? l.label)!.address, cell: (l) => hex((l.row ?? l.label)!.address) },
		];
		if (this.lanes.count) out.push({
			id: 'gutter', head: '', isFixed: true, width: width(this.lanes) + 'px', value: () => null, title: 'dashed: a wait and its producer; solid: a branch and its target',
			paint: () => undefined, hint: (l) => say(this.lanes, l.at),
		});
		out.push(
			{ id: 'isa', head: 'instruction', width: 'minmax(15rem, 3fr)', value: (l) => l.row?.isa ?? l.label!.text, paint: (cell, l) => this.text(cell, l) },
			{ id: 'class', head: 'class', isLate: true, width: '8rem', value: (l) => l.row?.class ?? null, paint: (cell, l) => paintChip(cell, l.row?.class ?? null, l.row ? this.colourOf(l.row.class) : '') });
		if (this.isSampled) {
			out.push(
				{ ...countColumn<Line>('samples', 'samples', of((r) => r.samples ?? 0)), width: '5rem' },
				{ ...countColumn<Line>('stalled', 'stalled', of((r) => r.stalled_samples ?? 0), 'samples in which the instruction did not issue'), width: '5rem' },
				{ id: 'reason', head: 'main stall reason', width: 'minmax(9rem, 1fr)', value: (l) => this.reason(l) });
		}
		if (this.isa.accounting || has((r) => r.hit > 0)) {
			out.push(
				{ ...countColumn<Line>('hit', 'hits', of((r) => r.hit), 'executions in all selected waves'), width: '4.5rem', isLate: true },
				{ ...cyclesColumn<Line>({ units: () => (this.basis === 'sum' || this.basis === 'wave' ? all : app).units() }, 'cycles', 'cycles', of((r) => this.cost(r)), 'issue, stall, wait, idle and drain together'), width: '6rem' },
				{ id: 'share', head: 'share', isLate: true, isNumber: true, unit: () => '%', width: '4rem', value: of((r) => this.total(r)), cell: (l) => (l.row && this.total(l.row) ? share(this.total(l.row), this.whole, false) : '') },
				{ id: 'bar', head: 'split', title: 'where the cycles go: issue, stall, wait, idle, drain', width: 'minmax(5.5rem, 1fr)', value: of((r) => this.total(r)), paint: (cell, l) => paintBuckets(cell, l.row && this.total(l.row) ? l.row.buckets : null, this.most, this.palette), hint: (l) => (l.row ? bucketText(l.row.buckets) : '') });
		}
		if (has((r) => !!r.execution)) out.push(
			{ ...cyclesColumn<Line>(app, 'median', 'median', of((r) => r.execution?.median), 'of one execution'), width: '4.6rem', isLate: true },
			{ ...cyclesColumn<Line>(app, 'p95', 'p95', of((r) => r.execution?.p95), 'of one execution'), width: '4.6rem', isLate: true });
		if (this.diffs.size) out.push(...diffColumns<Line>((l) => (l.row ? this.diffs.get(String(l.row.row)) : undefined)));
		if (has((r) => !!r.live && r.live.arch + r.live.accum > 0)) out.push({
			id: 'live', head: 'live', isLate: true, isNumber: true, width: '4.4rem', unit: () => 'registers', title: 'vector registers that still hold something needed before this instruction, inferred from the text; + accumulation registers',
			value: of((r) => (r.live ? r.live.arch + r.live.accum : null)), cell: (l) => (l.row?.live ? `${l.row.live.arch}${l.row.live.accum ? ` + ${l.row.live.accum}` : ''}` : ''),
		});
		if (has((r) => !!r.stated)) out.push({ ...cyclesColumn<Line>(all, 'stated', 'stated', of((r) => r.stated?.latency), 'latency that the producer states, where its own records add up to something else'), width: '5.5rem' });
		if (this.lines.some((l) => this.waits(l) !== null)) out.push({ id: 'waits', head: 'waits for', isLate: true, width: 'minmax(6.5rem, 1fr)', value: (l) => this.waits(l) });
		if (has((r) => r.frames.length > 0 || !!r.source)) out.push({ id: 'source', head: 'source', isLate: true, width: 'minmax(7rem, 1fr)', value: (l) => l.row?.source ?? null, paint: (cell, l) => this.sourceLink(cell, l.row) });
		return out;
	}

	private total(r: IsaRow): number {
		return this.isSampled && !this.isa.accounting ? r.samples ?? 0 : sum(r.buckets);
	}

	private colourOf(name: string): string {
		const slot = this.app.trace.classes.find((c) => c.name === name)?.slot ?? 11;
		return this.palette.slots[slot] ?? this.palette.dim;
	}

	/** Opcode, operands and, on the head of a loop, what an iteration costs. */
	private text(cell: HTMLElement, l: Line): void {
		if (!cell.firstChild) cell.append(h('span', { class: 'opcode' }, ' '), ' ');
		const opcode = cell.firstChild!.firstChild as Text, rest = cell.childNodes[1] as Text, text = l.row?.isa ?? l.label!.text, at = text.search(/\s/);
		const depth = String(l.row?.loop_depth ?? 0);
		let chip = cell.childNodes[2] as HTMLElement | undefined;
		opcode.data = at < 0 ? text : text.slice(0, at);
		rest.data = at < 0 ? '' : text.slice(at);
		if ((cell.dataset.depth ?? '0') !== depth) cell.style.setProperty('--depth', (cell.dataset.depth = depth));
		if (!l.loop) chip?.remove();
		else this.loopButton((chip ??= cell.appendChild(h('button', { class: 'loop-chip', attrs: { 'data-do': 'fold' } }))), l.loop);
	}

	private loopButton(chip: HTMLElement, loop: Loop): void {
		const isFolded = this.folded.has(loop.header_row);
		const what = loop.iterations ? `${count(loop.iterations)} × ${cycles(loop.median, this.app.units())} ${unitName(this.app.units())}` : loop.state;
		chip.title = `Loop of ${loop.rows} rows: ${count(loop.iterations)} iterations, median ${loop.median}, p95 ${loop.p95} cycles an iteration. Click to ${isFolded ? 'unfold' : 'fold'}.`;
		chip.setAttribute('aria-expanded', String(!isFolded));
		setText(chip, `${isFolded ? '▸' : '▾'} loop ${what}`);
	}

	private fold(loop: Loop): void {
		if (!this.folded.delete(loop.header_row)) this.folded.add(loop.header_row);
		this.filter();
	}

	private filter(): void {
		const inside = this.isa.loops.filter((l) => this.folded.has(l.header_row)).map((l) => {
			const a = this.byNumber.get(l.header_row)?.at ?? 0, b = this.byNumber.get(l.latch_row)?.at ?? 0;
			return [Math.min(a, b), Math.max(a, b), a];
		});
		this.table?.only(inside.length ? (l) => !inside.some(([a, b, head]) => l.at !== head && l.at >= a && l.at <= b) : null);
	}

	private waits(l: Line): string | null {
		const e = l.edges.reduce<Edge | null>((m, x) => (!m || x.stall + x.shared > m.stall + m.shared ? x : m), null);
		if (e) return `row ${e.producer}` + (e.latency ? `, ${e.latency.median} cycles` : '') + (l.edges.length > 1 ? ` +${l.edges.length - 1}` : '');
		return l.hot?.cause && l.hot.cause_cycles ? l.hot.cause : null;
	}

	private reason(l: Line): string | null {
		const all = Object.entries(l.row?.stall_reasons ?? {}).sort((a, b) => b[1] - a[1]);
		return all.length ? `${all[0][0]} ${share(all[0][1], l.row!.stalled_samples ?? 0)}` : null;
	}

	private sourceLink(cell: HTMLElement, r: IsaRow | null): void {
		const link = (cell.firstChild ?? cell.appendChild(h('button', { class: 'link', attrs: { 'data-do': 'source' } }, ' '))) as HTMLElement;
		const frame = r?.frames[0], text = frame ? `${baseName(this.isa.sources[frame[0]] ?? '?')}:${frame[1]}${r!.frames.length > 1 ? ' +' : ''}` : r?.source ? baseName(r.source) : '';
		if (link.hidden !== !text) link.hidden = !text;
		setText(link, text);
	}

	private toSource(l: Line): void {
		const frame = l.row?.frames[0];
		if (!frame) return;
		this.app.select({ kind: 'line', source: frame[0], line: frame[1] });
		this.app.openPanel('source');
	}

	private hint(l: Line): string {
		if (!l.row) return '';
		const chain = l.row.frames.map(([f, n]) => `${this.isa.sources[f] ?? '?'}:${n}`);
		const waits = l.edges.map((e) => `waits for row ${e.producer}: ${cyclesWith(e.stall + e.shared, this.app.units())}, ${e.count} times`);
		return [l.row.isa, ...chain.map((c, i) => (i ? 'inlined at ' : 'at ') + c), ...waits, l.hot?.cause ? `most cycles: ${l.hot.cause}` : ''].filter(Boolean).join('\n');
	}

	private drawBar(): void {
		const a = this.isa.accounting, u = scaled(this.app, () => this.whole).units(), selection = this.app.store.get().selection;
		const track = selection?.track;
		const basis = choose('Basis', [
			{ value: 'sum', label: 'sum of all executions' }, { value: 'mean', label: 'mean of an execution' }, { value: 'max', label: 'longest execution' },
			{ value: 'wave', label: 'the selected wave', disabled: this.app.source.kind === 'report' || (track === undefined && this.wave === null), title: 'select a wave in the timeline first' },
		], this.basis, (v) => this.setBasis(v as Basis));
		fill(this.top, facts(
			['instructions', count(this.isa.totals.rows)], ['executed', count(this.isa.totals.hit)],
			['cycles', a ? cyclesWith(a.duration, u) : null], ['loops', this.isa.loops.length || null], ['arrows not drawn', this.lanes.left || null],
			['wave', this.wave === null ? null : this.app.trace.tracks[this.wave]?.name]),
		h('span', { class: 'grow' }), basis,
		this.table && filterBox(this.table, 'Filter rows', (l) => `${l.row?.isa ?? l.label?.text} ${l.row?.class ?? ''} ${l.row?.source ?? ''}`),
		button('In order', 'Show the rows in the order of the program again', () => this.table?.sortBy('row', false)), this.table?.tools());
	}

	private drawGutter(gutter: Gutter, first: number, last: number): void {
		const rows = this.isInOrder() ? this.table!.list().slice(first, last).map((l) => ({ at: l.at, until: l.at })) : [];
		gutter.draw(rows, first, (a) => a.from === this.chosen || a.to === this.chosen);
	}

	private setBasis(basis: Basis): void {
		const wasWave = this.wave;
		this.basis = basis;
		this.wave = basis === 'wave' ? this.app.store.get().selection?.track ?? this.wave : null;
		if (this.wave !== wasWave) {
			this.ask();
			return;
		}
		this.table?.refresh();
		this.drawBar();
	}

	private isInOrder(): boolean {
		const rows = this.table?.list();
		return !!rows && rows.length === this.lines.length && (rows.length < 2 || (rows[0].at === 0 && rows[1].at === 1));
	}

	private mark(state: Readonly<State>, scroll: boolean): void {
		const s = state.selection;
		this.chosen = s?.code === undefined ? -1 : this.lines.findIndex((l) => (l.row ?? l.label)!.index === s.code);
		if (!s || !this.table) {
			this.table?.mark([], false);
			return;
		}
		if (s.kind === 'line') {
			const rows = this.lines.filter((l) => l.row?.frames.some(([f, n]) => f === s.source && (s.line === undefined || n === s.line)));
			this.table.mark(rows.map((l) => l.row!.index), scroll);
		} else this.table.mark(s.code === undefined ? [] : [s.code], scroll);
	}

	protected update(state: Readonly<State>, keys: Changed): void {
		if (keys.has('selection')) {
			this.mark(state, true);
			this.drawBar();
		}
		if (keys.has('unit') || keys.has('theme')) {
			this.palette = this.app.palette();
			this.table?.refresh();
			this.drawBar();
		}
		if (keys.has('scope') || keys.has('base')) this.ask();
	}
}

export const panel: Panel = {
	id: 'isa', title: 'ISA', hint: 'the listing: what each instruction cost and what it waited for',
	open: (host, app) => new IsaView(host, app),
};
