// SPDX-License-Identifier: Apache-2.0
// isa/view.ts: the listing with what each instruction cost, what it waited for, where branches went, and which loops and blocks it is
// in; these fold into one line with what they cost.
import { App, Panel } from '../../app';
import { bucketText, paintBuckets, paintChip } from '../../base/bars';
import { button, choose, fill, h, notice, paintPlace, setText } from '../../base/dom';
import { baseName, count, cycles, cyclesWith, largest, share, unitName } from '../../base/format';
import { Latest } from '../../base/latest';
import { Palette } from '../../base/palette';
import { Column, Table } from '../../base/table';
import { Selection, State } from '../../state';
import { Changed, countColumn, cyclesColumn, diffColumns, diffParts, facts, filterBox, hasPipes, heatColumn, hex, LIFETIME, Measured, scaled, View } from '../common';
import { Buckets, DiffPart, Isa, IsaRow } from '../types';
import { askCosts, askExecution, Basis } from './basis';
import { early } from './early';
import { allGroups, Cost, foldOf, Group, groupCost, Line, Listing, listing, onFoldWish, takeFoldWish, visible } from './fold';
import { Arrow, dearest, Gutter, Lanes, layout, say, width } from './gutter';

const ROW = 22;

class IsaView extends View {
	private table: Table<Line> | null = null;
	private list: Listing = { lines: [], byNumber: new Map(), groups: new Map(), blocks: [] };
	private seen: Line[] = [];
	private lanes: Lanes = { count: 0, lanes: [], left: 0 };
	private isa!: Isa;
	private basis: Basis = 'sum';
	/** of one wave or execution; null: of all */
	private costs: Map<number, Cost> | null = null;
	private rest: Buckets | null = null;
	private wave = -1;
	private execution = 0;
	/** what the hottest row took, in what rows are measured by; the longest bar; what 100 % is */
	private hottest = 1;
	private most = 1;
	private whole = 1;
	private readonly folded = new Set<string>();
	private readonly top = h('div', { class: 'panel-bar' });
	private isSampled = false;
	private palette: Palette = this.app.palette();
	private chosen = -1; // position of the selected row
	/** what changed against the other capture, by row number; empty without a comparison */
	private diffs = new Map<string, DiffPart>();
	private readonly reckoned = new Latest();

	constructor(host: HTMLElement, app: App) {
		super(host, app, 'isa');
		this.own(onFoldWish(() => this.seen.length && takeFoldWish() && this.foldAll(true)));
		this.ask();
		early(app, this.body);
	}

	private ask(): void {
		this.load(Promise.all([this.app.verb<Isa>('isa'), diffParts(this.app, 'instr')]), ([a, b]) => {
			if (this.app.store.get().range && this.costs) Object.assign(this, { basis: 'sum', costs: null, wave: -1, execution: 0 });
			this.diffs = b;
			this.show(a.data);
		});
	}

	private show(isa: Isa): void {
		this.isa = isa;
		if (!isa.rows.length) {
			fill(this.body, notice('No code in this capture', 'The capture holds no instruction table: nothing was traced, or its code object was not saved.',
				this.app.trace.vendor === 'amd' ? 'Capture again with the code object saved beside it (rocprofv3 does so by itself).' : 'Capture again with its code.'));
			return;
		}
		this.isSampled = isa.rows.some((r) => r.samples !== undefined);
		this.list = listing(isa);
		this.lanes = layout(this.arrows());
		this.measure();
		if (takeFoldWish()) for (const id of allGroups(this.list)) this.folded.add(id);
		this.seen = visible(this.list, this.folded);
		this.table?.close();
		const gutter = this.lanes.count ? new Gutter(this.lanes, ROW) : undefined;
		const table = this.own(new Table<Line>({
			label: 'Instructions', columns: this.columns(), key: (l) => l.key, sort: undefined, rowHeight: ROW, csv: 'isa.csv',
			rowClass: (l) => (l.fold ? 'folded' : l.label ? 'label-row' : l.row!.hit || l.row!.samples ? '' : 'never') + (l.loop ? ' loop-head' : ''),
			rowTitle: (l) => this.hint(l),
			pick: (l) => (l.fold ? (this.toggle(l.fold.id), false) : this.app.select({ kind: 'code', code: (l.row ?? l.label)!.index })),
			empty: 'No instruction matches.',
			acts: { source: (l) => this.toSource(l), loop: (l) => this.toggle(l.fold?.id ?? 'l' + l.loop?.header_row), block: (l) => this.toggle((l.fold ?? l.block)?.id) },
			press: (l, e) => this.press(l, e),
			beside: gutter && { element: gutter.element, draw: (first, last) => this.drawGutter(gutter, first, last) },
		}));
		this.table = table;
		table.rows(this.seen);
		this.drawBar();
		fill(this.body, this.top, table.element);
		this.mark(this.app.store.get(), true);
		if (!this.app.store.get().selection && isa.hottest_row !== null) {
			const at = this.seen.findIndex((l) => l.row?.row === isa.hottest_row);
			if (at >= 0) requestAnimationFrame(() => this.table === table && !this.app.store.get().selection && table.reveal(at));
		}
	}

	private arrows(): Arrow[] {
		const arrows: Arrow[] = [], at = this.list.byNumber;
		for (const e of this.isa.edges) {
			const wait = at.get(e.wait), producer = at.get(e.producer);
			if (wait && producer && e.dominating) arrows.push({ from: wait.at, to: producer.at, kind: 'wait', weight: e.cycles, title: `row ${e.wait} waits for row ${e.producer}` });
		}
		for (const b of this.isa.branches) {
			const from = at.get(b.row), to = at.get(b.target);
			if (from && to && (b.taken + b.not_taken > 0 || !this.isa.accounting)) arrows.push({ from: from.at, to: to.at, kind: 'branch', weight: b.taken, title: `branch from row ${b.row} to row ${b.target}, taken ${b.taken} of ${b.taken + b.not_taken}` });
		}
		return arrows;
	}

	private measure(): void {
		const isa = this.isa, track = this.app.trace.tracks[this.wave];
		this.most = this.costs ? largest(this.costs.values(), (c) => c.cycles) : largest(isa.rows, (r) => r.cycles);
		this.hottest = this.isSampled && !isa.accounting ? largest(isa.rows, (r) => r.samples ?? 0) : this.most;
		this.whole = this.costs && track ? track.end - track.begin : this.isSampled && !isa.accounting ? isa.totals.samples ?? 0 : isa.accounting?.duration ?? isa.totals.latency + isa.totals.idle;
	}

	/** Sums are parts of all lifetimes, or of the one that is looked at. */
	private measured(): Measured {
		return scaled(this.app, () => this.whole, () => (this.costs ? `this ${hasPipes(this.app) ? 'pipe' : 'wave'}` : this.isa.accounting ? LIFETIME : 'samples'));
	}

	private costOf(l: Line): Cost | null {
		if (l.label) return null;
		if (this.costs) return l.fold ? groupCost(l.fold, this.costs) : this.costs.get(l.row!.index) ?? null;
		const c = l.fold?.sums ?? l.row!;
		return { hit: c.hit, buckets: c.buckets, cycles: c.cycles, max: l.row?.execution?.max ?? null };
	}

	/** Cycles of a line on the basis chosen; a group is entered so often, a row runs so often. */
	private cost(l: Line): number | null {
		const c = this.costOf(l);
		if (!c) return null;
		if (this.basis === 'mean') return (l.fold ? l.fold.sums.per_execution : l.row!.per_hit) ?? null;
		if (this.basis === 'meanwave') return (l.fold ? l.fold.sums : l.row!).cycles_per_wave ?? null;
		if (this.basis === 'max') return c.max;
		return this.isa.accounting ? c.cycles : l.row ? l.row.latency + l.row.idle : l.fold!.sums.latency;
	}

	private total(l: Line): number {
		const c = this.costOf(l);
		return !c ? 0 : this.isSampled && !this.isa.accounting ? (l.fold ? l.fold.sums.samples : l.row!.samples ?? 0) : c.cycles;
	}

	private columns(): Column<Line>[] {
		const app = this.app, all = this.measured(), has = (f: (r: IsaRow) => boolean) => this.isa.rows.some(f);
		const of = <T>(f: (r: IsaRow) => T) => (l: Line) => (l.row ? f(l.row) : null), place = (l: Line) => (l.row ?? l.label)?.address ?? null;
		const out: Column<Line>[] = [
			{ id: 'row', head: '#', isNumber: true, width: '3.2rem', value: (l) => l.fold?.first_row ?? (l.row ?? l.label)!.row, title: 'number of the instruction in the capture' },
		];
		if (this.lanes.count) out.push({
			id: 'gutter', head: '', isFixed: true, isDecor: true, width: width(this.lanes) + 'px', value: () => null, title: 'dashed: a wait and its producer; solid: a branch and its target',
			paint: () => undefined, drawn: () => '', hint: (l) => say(this.lanes, l.at),
		});
		if (this.list.groups.size > 1) out.push({ id: 'fold', head: '', isFixed: true, isDecor: true, width: '1.6rem', value: () => null, title: 'basic blocks: click folds', paint: (cell, l) => this.handle(cell, l), drawn: () => '' });
		out.push(heatColumn((l) => (l.fold ? 0 : this.total(l) / this.hottest), (l) => (this.total(l) ? `${share(this.total(l), this.whole)} of ${this.measured().units().of}` : '')),
			{ id: 'isa', head: 'instruction', width: 'minmax(15rem, 3fr)', isMono: true, value: (l) => this.words(l), paint: (cell, l) => this.text(cell, l), drawn: (l) => (l.loop || l.fold ? null : '  '.repeat(l.row?.loop_depth ?? 0) + this.words(l)) });
		if (this.isSampled) out.push(
			{ ...countColumn<Line>('samples', 'samples', (l) => (l.fold ? l.fold.sums.samples : l.row ? l.row.samples ?? 0 : null)), width: '5rem' },
			{ ...countColumn<Line>('stalled', 'stalled', of((r) => r.stalled_samples ?? 0), 'samples in which the instruction did not issue'), width: '5rem' },
			{ id: 'reason', head: 'stall reasons', width: 'minmax(12rem, 1fr)', title: 'why the instruction did not issue, in parts of its stalled samples', value: (l) => this.reasons(l) });
		if (this.isa.accounting || has((r) => r.hit > 0)) out.push(
			{ ...countColumn<Line>('hit', 'hits', (l) => (l.label ? null : l.fold && !this.costs ? l.fold.executions : this.costOf(l)?.hit ?? 0), 'executions; of what is folded: how often it was entered'), width: '4.5rem', isLate: true },
			{ ...cyclesColumn<Line>({ units: () => (['mean', 'meanwave', 'max'].includes(this.basis) ? app : all).units() }, 'cycles', 'cycles', (l) => this.cost(l), 'issue, stall, wait, idle and drain together'), width: '6rem' },
			{ id: 'share', head: 'share', isLate: true, isNumber: true, unit: () => unitName({ ...all.units(), unit: 'pct' }), width: '4rem', title: 'of all executions, or of those of the one wave that is looked at', value: (l) => (l.label ? null : this.total(l)), cell: (l) => (this.total(l) ? share(this.total(l), this.whole, false) : '') },
			{ id: 'bar', head: 'split', isLate: true, title: 'where the cycles go: issue, stall, wait, idle, drain', width: 'minmax(5.5rem, 1fr)', value: (l) => (l.label ? null : this.total(l)), paint: (cell, l) => paintBuckets(cell, this.total(l) ? this.costOf(l)!.buckets : null, l.fold ? Math.max(this.most, this.total(l)) : this.most, this.palette), drawn: () => '', hint: (l) => (l.label ? '' : bucketText(this.costOf(l)?.buckets ?? {})) });
		if (has((r) => !!r.execution)) out.push(
			{ ...cyclesColumn<Line>(app, 'median', 'median', (l) => this.costs ? null : l.row?.execution?.median ?? (l.fold?.loop?.iterations ? l.fold.loop.median : null), 'of one execution, over all waves (not told of one wave); of a folded loop: of one iteration'), width: '4.6rem', isLate: true },
			{ ...cyclesColumn<Line>(app, 'p95', 'p95', (l) => this.costs ? null : l.row?.execution?.p95 ?? (l.fold?.loop?.iterations ? l.fold.loop.p95 : null), 'of one execution, over all waves (not told of one wave); of a folded loop: of one iteration'), width: '4.6rem', isLate: true });
		if (this.diffs.size) out.push(...diffColumns<Line>((l) => (l.row && !this.costs ? this.diffs.get(String(l.row.row)) : undefined)));
		out.push({ id: 'class', head: 'class', isLate: true, width: '8rem', value: (l) => l.row?.class ?? null, paint: (cell, l) => paintChip(cell, l.row?.class ?? null, this.chipColour(l)), drawn: () => '' },
			{ id: 'address', head: 'address', isLate: true, isMono: true, width: '5.2rem', value: place, cell: (l) => (l.fold ? '' : hex(place(l))) });
		if (has((r) => !!r.live && r.live.arch + r.live.accum > 0)) out.push({
			id: 'live', head: 'live', isLate: true, isNumber: true, width: '4.4rem', unit: () => 'registers', title: 'vector registers that still hold something needed before this instruction, inferred from the text; + accumulation registers',
			value: of((r) => (r.live ? r.live.arch + r.live.accum : null)), cell: (l) => (l.row?.live ? `${l.row.live.arch}${l.row.live.accum ? ` + ${l.row.live.accum}` : ''}` : ''),
		});
		if (has((r) => !!r.stated)) out.push({ ...cyclesColumn<Line>(all, 'stated', 'stated', of((r) => (this.costs ? null : r.stated?.latency)), 'latency that the producer states, where its own records add up to something else'), width: '5.5rem', isLate: true });
		if (this.list.lines.some((l) => this.waits(l) !== null)) out.push({ id: 'waits', head: 'waits for', isLate: true, width: 'minmax(6.5rem, 1fr)', value: (l) => this.waits(l) });
		if (has((r) => r.frames.length > 0 || !!r.source)) out.push({ id: 'source', head: 'source', isLate: true, width: 'minmax(7rem, 1fr)', value: (l) => l.row?.source ?? null, paint: (cell, l) => this.sourceLink(cell, l.row), drawn: (l) => this.place(l.row).join(':') });
		return out;
	}

	private colourOf(name: string): string {
		return this.palette.slots[this.app.trace.classes.find((c) => c.name === name)?.slot ?? 11] ?? this.palette.dim;
	}

	/** That of its class; of a wait that of what it waited for most, as on the lanes. */
	private chipColour(l: Line): string {
		const e = l.row?.class === 'WAIT' ? dearest(l.edges) : null;
		return l.row ? this.colourOf((e && this.list.byNumber.get(e.producer)?.row?.class) ?? l.row.class) : 'none';
	}

	private words(l: Line): string {
		return l.fold ? this.foldText(l.fold) : l.row?.isa ?? l.label!.text;
	}

	/** Opcode, operands and, on the head of a loop, what an iteration costs. */
	private text(cell: HTMLElement, l: Line): void {
		if (!cell.firstChild) cell.append(h('span', { class: 'opcode' }, ' '), ' ');
		const opcode = cell.firstChild!.firstChild as Text, rest = cell.childNodes[1] as Text, text = this.words(l), at = text.search(/\s/);
		const depth = String(l.row?.loop_depth ?? (l.fold ? l.fold.chain.length - 1 : 0)), loop = l.loop ?? l.fold?.loop;
		const chip = cell.childNodes[2] as HTMLElement | undefined;
		opcode.data = at < 0 ? text : text.slice(0, at);
		rest.data = at < 0 ? '' : text.slice(at);
		if ((cell.dataset.depth ?? '0') !== depth) cell.style.setProperty('--depth', (cell.dataset.depth = depth));
		if (!loop) chip?.remove();
		else this.loopButton(chip ?? cell.appendChild(h('button', { class: 'loop-chip', attrs: { 'data-do': 'loop' } })), this.list.groups.get('l' + loop.header_row)!, !!l.fold);
	}

	private loopButton(chip: HTMLElement, g: Group, isFolded: boolean): void {
		const loop = g.loop!, u = this.app.units();
		const what = loop.iterations ? `${count(loop.iterations)} × ${cycles(loop.median, u)} ${unitName(u)}` : loop.state === 'sampled' ? `of ${loop.rows} rows` : loop.state;
		const told = loop.state === 'sampled' ? `its first row was executed ${count(loop.executions)} times` : `${count(loop.iterations)} iterations, median ${loop.median}, p95 ${loop.p95} cycles an iteration`;
		chip.title = `Loop of ${loop.rows} rows: ${told}. Click to ${isFolded ? 'unfold' : 'fold'}.`;
		chip.setAttribute('aria-expanded', String(!isFolded));
		setText(chip, isFolded ? '▸ ' + what : '▾ loop ' + what);
	}

	/** What is folded, in words: range, executions; cycles and share stand in their columns. */
	private foldText(g: Group): string {
		const u = this.app.units(), each = g.loop ? null : g.sums.per_execution;
		return `${g.loop ? 'loop' : 'block'} rows ${g.first_row} to ${g.last_row}${each === null ? '' : `, ${cycles(each, u)} ${unitName(u)} each`}`;
	}

	/** The button that folds a block, at its first row. */
	private handle(cell: HTMLElement, l: Line): void {
		const g = l.fold ?? l.block, b = cell.firstChild as HTMLElement | null;
		if (!g) return b?.remove();
		const e = b ?? cell.appendChild(h('button', { class: 'fold-handle', attrs: { 'data-do': 'block' } }));
		setText(e, l.fold ? '▸' : '▾');
		e.setAttribute('aria-label', `${l.fold ? 'Unfold' : 'Fold'} rows ${g.first_row} to ${g.last_row}`);
		e.setAttribute('aria-expanded', String(!l.fold));
	}

	private toggle(id: string | undefined): void {
		if (id === undefined || !this.list.groups.has(id)) return;
		if (!this.folded.delete(id)) this.folded.add(id);
		this.refold(id);
	}

	/** Folds as the set says; the cursor stays with the group or with its first row. */
	private refold(id?: string): void {
		const g = id === undefined ? undefined : this.list.groups.get(id);
		this.seen = visible(this.list, this.folded);
		this.table?.rows(this.seen);
		const at = g ? this.seen.findIndex((l) => l.fold?.id === id || l.row?.index === g.members[0]) : -1;
		this.mark(this.app.store.get(), false);
		if (at >= 0) this.table?.reveal(this.table.indexOf(this.seen[at].key));
	}

	private foldAll(isFolded: boolean): void {
		this.folded.clear();
		if (isFolded) for (const id of allGroups(this.list)) this.folded.add(id);
		this.refold();
	}

	/** Left folds what the row is in, from the inside out; right unfolds; with Shift all. */
	private press(l: Line, e: KeyboardEvent): boolean {
		if ((e.key !== 'ArrowLeft' && e.key !== 'ArrowRight') || e.ctrlKey || e.altKey || e.metaKey) return false;
		const isLeft = e.key === 'ArrowLeft';
		if (e.shiftKey) this.foldAll(isLeft);
		else if (!isLeft) this.toggle(l.fold?.id);
		else {
			const chain = l.fold ? l.fold.chain.slice(0, -1) : l.row?.block !== null && l.row ? this.list.blocks[l.row.block]?.chain ?? [] : [];
			this.toggle([...chain].reverse().find((id) => !this.folded.has(id) && this.list.groups.get(id)!.rows > 1));
		}
		return true;
	}

	private waits(l: Line): string | null {
		const e = dearest(l.edges);
		if (e) return `row ${e.producer}` + (e.latency && !this.costs ? `, ${cyclesWith(e.latency.median, this.app.units())}` : '') + (l.edges.length > 1 ? ` +${l.edges.length - 1}` : '');
		return l.row?.cause && l.row.cause_cycles ? l.row.cause : null;
	}

	private reasons(l: Line): string | null {
		const all = Object.entries(l.row?.stall_reasons ?? {}).sort((a, b) => b[1] - a[1]), n = l.row?.stalled_samples ?? 0;
		return all.length ? all.map(([name, k]) => `${name} ${share(k, n)}`).join(', ') : null;
	}

	private sourceLink(cell: HTMLElement, r: IsaRow | null): void {
		const link = (cell.firstChild ?? cell.appendChild(h('button', { class: 'link place', attrs: { 'data-do': 'source' } }))) as HTMLElement;
		const [name, line, more] = this.place(r);
		if (link.hidden !== !name) link.hidden = !name;
		paintPlace(link, name, line, more);
	}

	/** File, line, and whether it is inlined elsewhere. */
	private place(r: IsaRow | null): [string, string, string] {
		const frame = r?.frames[0], name = frame ? baseName(this.isa.sources[frame[0]] ?? '?') : r?.source ? baseName(r.source).replace(/:\d+$/, '') : '';
		return [name, frame ? String(frame[1]) : /:(\d+)$/.exec(r?.source ?? '')?.[1] ?? '', r && r.frames.length > 1 ? ' +' : ''];
	}

	private toSource(l: Line): void {
		const frame = l.row?.frames[0];
		if (!frame) return;
		this.app.select({ kind: 'line', source: frame[0], line: frame[1] });
		this.app.openPanel('source');
	}

	private hint(l: Line): string {
		if (l.fold) return `${this.foldText(l.fold)}, ${count(l.fold.rows)} instructions, entered ${count(l.fold.executions)} times: ${bucketText(this.costOf(l)?.buckets ?? {})}. Click to unfold.`;
		if (!l.row) return '';
		const chain = l.row.frames.map(([f, n]) => `${this.isa.sources[f] ?? '?'}:${n}`);
		const waits = l.edges.map((e) => `waits for row ${e.producer}: ${cyclesWith(e.cycles, this.app.units())}, ${e.count} times`);
		const stated = l.row.stated;
		return [l.row.isa, ...chain.map((c, i) => (i ? 'inlined at ' : 'at ') + c), ...waits, l.row.cause ? `most cycles: ${l.row.cause}` : '',
			stated && `the producer states ${count(stated.hit)} hits, latency ${count(stated.latency)}, stall ${count(stated.stall)}, idle ${count(stated.idle)}`].filter(Boolean).join('\n');
	}

	private drawBar(): void {
		const a = this.isa.accounting, t = this.isa.totals, u = this.measured().units(), s = this.app.store.get().selection, unit = hasPipes(this.app) ? 'pipe' : 'wave';
		const isPart = this.app.store.get().range !== null, whole = `figures of one ${unit} are not narrowed to a range`, hasWave = s?.track !== undefined || this.costs !== null, hasSlice = s?.slice !== undefined || this.execution > 0;
		const basis = choose('Basis', [
			{ value: 'sum', label: 'sum of all executions' }, { value: 'mean', label: 'mean of an execution' }, { value: 'max', label: 'longest execution' },
			...(hasPipes(this.app) || !a ? [] : [{ value: 'meanwave', label: 'mean wave' }]),
			{ value: 'wave', label: `this ${unit}`, disabled: isPart || !hasWave, title: isPart ? whole : `select a ${unit} in the timeline first` },
			{ value: 'execution', label: 'this execution', disabled: isPart || !hasSlice, title: isPart ? whole : `select an instruction in the timeline first: then each row shows its execution of that number on the same ${unit}` },
		], this.basis, (v) => this.setBasis(v as Basis));
		fill(this.top, facts(
			['instructions', count(t.rows)], ['executed', t.hit || !t.samples ? count(t.hit) : null], ['samples', t.samples && count(t.samples)], ['stalled', t.samples && count(t.stalled_samples!)],
			['cycles', a ? cyclesWith(a.duration, u) : null], ['loops', this.isa.loops.length || null], ['blocks', this.isa.blocks.length || null], ['arrows not drawn', this.lanes.left || null],
			[unit, this.costs ? this.app.trace.tracks[this.wave]?.name : null], ['execution', this.costs && this.execution ? count(this.execution) : null],
			['no instruction', this.costs && this.rest && Object.entries(this.rest).filter(([, n]) => n).map(([b, n]) => `${b} ${cyclesWith(n, u)}`).join(', ')]),
		h('span', { class: 'grow' }), basis,
		this.list.groups.size > 1 && button('Fold all', 'Fold all loops and basic blocks (Shift+← in the list; ← folds what the row is in)', () => this.foldAll(true)),
		this.list.groups.size > 1 && button('Unfold all', 'Show every instruction (Shift+→ in the list; → unfolds one)', () => this.foldAll(false)),
		this.table && filterBox(this.table, 'Filter rows', (l) => (l.fold ? this.foldText(l.fold) : `${l.row?.isa ?? l.label?.text} ${l.row?.class ?? ''} ${l.row?.source ?? ''}`)),
		button('In order', 'Show the rows in the order of the program again', () => this.table?.sortBy('row', false)), this.table?.tools());
	}

	private drawGutter(gutter: Gutter, first: number, last: number): void {
		const all = this.table?.list() ?? [], isInOrder = all.length === this.seen.length && (all.length < 2 || (all[0] === this.seen[0] && all[1] === this.seen[1]));
		const rows = isInOrder ? all.slice(first, last).map((l, i) => ({ at: l.at, until: (all[first + i + 1]?.at ?? this.list.lines.length) - 1 })) : [];
		gutter.draw(rows, first, (a) => a.from === this.chosen || a.to === this.chosen);
	}

	private setBasis(basis: Basis): void {
		this.basis = basis;
		void this.reckon(this.app.store.get().selection);
	}

	/** Asks for the wave or execution of the selection where the basis is one; what is selected without one leaves the last. */
	private async reckon(s: Selection | null): Promise<void> {
		const basis = this.basis, still = this.reckoned.begin();
		try {
			if (basis !== 'wave' && basis !== 'execution') {
				this.costs = null;
				this.wave = -1;
			} else {
				const wave = s?.track ?? this.wave, n = basis === 'wave' ? 0 : s?.track !== undefined && s.slice !== undefined ? await askExecution(this.app, s.track, s.slice) : this.execution;
				if (!still()) return;
				if (wave < 0 || (this.costs && wave === this.wave && n === this.execution)) return;
				const found = await askCosts(this.app, wave, n);
				if (!still()) return;
				Object.assign(this, found, { wave, execution: n });
			}
		} catch (e) {
			if (!still()) return;
			this.app.say((e as Error).message);
			this.basis = 'sum';
			this.costs = null;
		}
		if (!this.costs) this.execution = 0;
		this.measure();
		this.table?.rows(this.seen);
		this.table?.refresh();
		this.drawBar();
	}

	private mark(state: Readonly<State>, scroll: boolean): void {
		const s = state.selection;
		this.chosen = s?.code === undefined ? -1 : this.list.lines.findIndex((l) => l.key === s.code);
		if (!s || !this.table) {
			this.table?.mark([], false);
			return;
		}
		const lines = s.kind === 'line' ? this.list.lines.filter((l) => l.row?.frames.some(([f, n]) => f === s.source && (s.line === undefined || n === s.line))) : this.chosen < 0 ? [] : [this.list.lines[this.chosen]];
		this.table.mark(lines.map((l) => foldOf(l, this.list, this.folded)?.id ?? l.key), scroll);
	}

	protected update(state: Readonly<State>, keys: Changed): void {
		if (keys.has('selection')) {
			this.mark(state, true);
			this.drawBar();
			if (this.basis === 'wave' || this.basis === 'execution') void this.reckon(state.selection);
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
	questions: ['diff?by=instr&top=all', 'isa'],
	open: (host, app) => new IsaView(host, app),
};
