// SPDX-License-Identifier: Apache-2.0
// producers.ts: all that one wait consumed: row by row over all its executions, and instance by instance in one of them.
import { App } from '../../app';
import { button, Child, fill, h } from '../../base/dom';
import { count, cyclesWith, largest } from '../../base/format';
import { Latest } from '../../base/latest';
import { Table } from '../../base/table';
import { askJson, Partner, SliceInfo } from '../../source';
import { trackName } from '../../timeline/lanes';
import { codeColumn, countColumn, cyclesColumn, facts, rowLink, section, textColumn, toTrack } from '../common';
import { IsaRow, WaitPair } from '../types';

export const AHEAD = 'Loop passes that began between the issue of the producer and the wait, counted in the innermost loop that holds both (median). 0: same iteration; 1: prefetched by one. -: no common loop.';
export const FLIGHT = 'Instructions outstanding on the counter when the wait began (median).';
export const TOGETHER = 'Instructions that the wait consumed at once (median); in order, the youngest comes back last.';
const SLACK = 'How long before the last one this one came back, at most. The trace does not record returns: it came back after its issue, and in order after any older one whose return released a wait. The true slack lies between 0 and this.';

interface Longest { outliers: { track: number; slice: number }[] }
interface Row { pair: WaitPair; producer: IsaRow | undefined }

/** `several`: the wait named two counters, and the last of either may have ended it. */
function arrival(p: Partner, several: boolean): string {
	return p.is_certain === false ? 'any order: one of these was last' : !p.is_last ? 'before the last, in order' : several ? 'last of its counter' : 'last to come back';
}

export class Producers {
	readonly element = h('div', { class: 'panel-parts' });
	private readonly rowsBody = h('div');
	private readonly oneBody = h('div');
	private wait: IsaRow | null = null;
	private slice: SliceInfo | null = null;
	private readonly asked = new Latest();
	private tables: Table<never>[] = [];

	constructor(private readonly app: App, private readonly pairs: WaitPair[], private readonly byRow: Map<number | null, IsaRow>) {}

	close(): void {
		this.asked.begin();
		for (const t of this.tables.splice(0)) t.close();
	}

	refresh(): void {
		if (this.wait) this.draw();
	}

	/** A wait of the code; one execution of it, or its longest. */
	async show(wait: IsaRow, at?: { track: number; slice: number }): Promise<void> {
		if (this.wait === wait && (!at || (this.slice?.track === at.track && this.slice.slice === at.slice))) return;
		const still = this.asked.begin(), c = this.app.trace.index || undefined;
		if (this.wait !== wait) this.slice = null;
		this.wait = wait;
		try {
			at ??= (await askJson<Longest>(this.app.source, 'histogram', { c, code: wait.index })).outliers[0];
			const s = at && still() ? await askJson<SliceInfo>(this.app.source, 'at', { c, track: at.track, slice: at.slice }) : null;
			if (!still()) return;
			this.slice = s;
		} catch {
			if (!still()) return;
			this.slice = null;
		}
		this.draw();
	}

	private draw(): void {
		for (const t of this.tables.splice(0)) t.close();
		fill(this.element, this.rowsBody, this.oneBody);
		this.drawRows(this.wait!);
		this.drawOne(this.wait!);
	}

	private keep<R>(t: Table<R>): Table<R> {
		this.tables.push(t as unknown as Table<never>);
		return t;
	}

	private drawRows(wait: IsaRow): void {
		const app = this.app, rows = this.pairs.filter((p) => p.wait === wait.row).map((pair): Row => ({ pair, producer: this.byRow.get(pair.producer) }));
		if (!rows.length) return fill(this.rowsBody);
		const most = largest(rows, (r) => r.pair.last, 0);
		const t = this.keep(new Table<Row>({
			label: 'Producers of the wait', key: (r) => r.pair.producer, csv: 'producers.csv', pick: (r) => r.producer && app.select({ kind: 'code', code: r.producer.index }),
			rowClass: (r) => (most > 0 && r.pair.last === most ? 'is-last' : ''),
			columns: [
				{ ...countColumn<Row>('producer', 'producer', (r) => r.pair.producer), width: '5.8rem', cell: (r) => rowLink(app, r.pair.producer) }, codeColumn('isa', 'instruction', (r) => r.producer?.isa, 'minmax(8rem, 1fr)'),
				countColumn('consumed', 'times', (r) => r.pair.consumed, 'instances that the wait consumed'),
				{ ...countColumn<Row>('last', 'last', (r) => r.pair.last, 'times it came back last and ended the wait'), cell: (r) => [r.pair.last === most && most > 0 && h('span', { class: 'mark', title: 'most often the last to come back' }, '● '), count(r.pair.last)] },
				countColumn('group', 'any order', (r) => r.pair.group, 'times it was one of several that return in any order: which came last is not known'),
				...(rows.some((r) => r.pair.candidates) ? [countColumn<Row>('candidates', 'possible', (r) => r.pair.candidates, 'times it may have been what the wait waited for: several kinds share the counter, and it was not drained')] : []),
				cyclesColumn(app, 'slack-median', 'slack ≤', (r) => r.pair.slack_at_most?.median, SLACK + ' Median.'), cyclesColumn(app, 'slack-p95', '≤ p95', (r) => r.pair.slack_at_most?.p95, SLACK + ' 95th percentile.'),
				countColumn('together', 'of', (r) => r.pair.together?.median, TOGETHER), countColumn('flight', 'in flight', (r) => r.pair.in_flight?.median, FLIGHT),
				{ ...countColumn<Row>('ahead', 'ahead', (r) => r.pair.iterations?.median, AHEAD), unit: () => 'iterations' },
			],
		}));
		t.rows(rows);
		fill(this.rowsBody, section(`Producers of row ${wait.row}`, t.tools(), h('p', { class: 'dim' }, h('code', null, wait.isa), ', all executions. Slack is an upper bound: the trace does not record when an instruction came back.'), h('div', { class: 'panel-fill' }, t.element)));
	}

	/** The wait and what it waited for, seen on their lane. */
	private go(track: number, slice: number, code: number | null, start: number, end: number): void {
		const s = this.slice!;
		this.app.select({ kind: 'slice', track, slice, code: code ?? undefined, t0: start, t1: end });
		this.app.showTrack(track);
		this.app.showTime(Math.min(s.start, ...s.producers.map((p) => p.start)), s.start + s.duration);
	}

	private drawOne(wait: IsaRow): void {
		const app = this.app, s = this.slice, u = app.units();
		if (!s || s.slice === null) return fill(this.oneBody, section('One execution', null, h('p', { class: 'dim' }, 'This wait was not executed in a lane that is shown.')));
		const step = (n: number | null, words: string, title: string): HTMLElement => button(words, title, () => n !== null && void this.show(wait, { track: s.track, slice: n }), { class: 'button framed', disabled: n === null });
		const several = s.producers.filter((p) => p.is_last).length > 1;
		const t = this.keep(new Table<Partner>({
			label: 'Instances it waited for', key: (p) => `${p.track} ${p.slice}`, csv: 'instances.csv', empty: 'It waited for nothing: everything had come back before.',
			rowClass: (p) => (p.is_last && p.is_certain ? 'is-last' : ''), pick: (p) => this.go(p.track, p.slice, p.code, p.start, p.start),
			columns: [
				codeColumn('isa', 'instance', (p) => p.text, 'minmax(10rem, 1fr)'), ...(s.producers.some((p) => p.track !== s.track) ? [textColumn<Partner>('lane', 'lane', (p) => trackName(app.trace, p.track))] : []),
				cyclesColumn(app, 'start', 'start', (p) => p.start), cyclesColumn(app, 'latency', 'latency', (p) => p.latency, 'From its issue to the release of the wait. Exact for the last one; the others came back earlier, so that it is an upper bound for them.'),
				{ ...textColumn<Partner>('arrival', 'came back', (p) => arrival(p, several), 'minmax(9rem, 1fr)'), cell: (p): Child => [p.is_last && p.is_certain && h('span', { class: 'mark' }, '● '), arrival(p, several)] },
			],
		}));
		t.rows(s.producers);
		fill(this.oneBody, section(`Execution ${count(s.execution)} of ${count(s.executions)} of row ${wait.row}`,
			[step(s.previous, '◂ Previous', 'Previous execution in this lane'), step(s.next, 'Next ▸', 'Next execution in this lane'), button('Show', 'Select it in the timeline, with what it waited for in sight', () => this.go(s.track, s.slice!, s.code, s.start, s.start + s.duration), { class: 'button framed' })],
			facts(['lane', h('button', { class: 'link', title: 'To this lane', on: { click: () => toTrack(app, s.track) } }, trackName(app.trace, s.track))], ['start', cyclesWith(s.start, u)], ['waited', cyclesWith(s.buckets.wait, u)], ['for', s.cause ?? null], ['instances', count(s.producers.length)]),
			h('div', { class: 'panel-fill' }, t.element)));
	}
}
