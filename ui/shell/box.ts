// SPDX-License-Identifier: Apache-2.0
// box.ts: statistics of a box over the lanes. Sum and union stand side by side: a sum over waves is not time.
import { App } from '../app';
import { button, choose, fill, h } from '../base/dom';
import { baseName, count, cycles, cyclesWith, unitName } from '../base/format';
import { Latest, Still } from '../base/latest';
import { Table } from '../base/table';
import { askJson, BoxInfo, BoxRow, ranges } from '../source';
import { Selection } from '../state';
import { sliceTable } from './slices';

export class BoxStatistics {
	readonly element = h('div', { class: 'box-statistics' });
	private by = 'class';
	private readonly asked = new Latest();
	private why = '';
	private last: Selection | null = null;

	/** isDocked: with the room of a panel, else in the inspector. */
	constructor(private readonly app: App, private readonly isDocked = false) {
		if (isDocked) this.element.classList.add('docked');
	}

	show(sel: Selection): void {
		this.last = sel;
		const still = this.asked.begin(), c = this.app.trace.index || undefined;
		const tracks = sel.tracks ?? this.app.trace.tracks.map((t) => t.index);
		if (!tracks.length) return fill(this.element, h('div', { class: 'section' }, 'No lane in this box.'));
		const question = { c, tracks: ranges(tracks), t0: sel.t0, t1: sel.t1, by: this.by };
		askJson<BoxInfo>(this.app.source, 'select', question).then((b) => still() && this.draw(b, still, question),
			(e: Error) => still() && fill(this.element, h('div', { class: 'section' }, 'No statistics: ' + e.message)));
	}

	/** What was lost to which cause: asked for after the rest, because the first time all waits of the capture are resolved for it. */
	private addCauses(table: Table<BoxRow>, rows: BoxRow[], still: Still, question: Record<string, string | number | undefined>): void {
		askJson<BoxInfo>(this.app.source, 'select', { ...question, causes: 1 }).then((b) => still() && table.rows(b.rows), (e: Error) => {
			if (!still()) return;
			this.why = e.message;
			table.rows(rows.slice());
		});
	}

	private causes(r: BoxRow): string {
		if (!r.causes) return this.why;
		return Object.entries(r.causes).sort((a, b) => b[1] - a[1]).map(([k, v]) => `${k} ${cycles(v, this.app.units())}`).join(', ') || '\u2013';
	}

	/** The slices behind a row. */
	private list(r: BoxRow, b: BoxInfo): void {
		const tracks = this.last?.tracks ?? this.app.trace.tracks.map((t) => t.index);
		const only = this.by === 'class' ? (s: { cls: string }) => s.cls === r.key : (s: { code: number }) => s.code === r.code;
		void sliceTable(this.app, { title: r.key, tracks: tracks.slice(0, 256), t0: b.t0, t1: b.t1, only }, (t, s) => this.app.goSlice(t, s));
	}

	private draw(b: BoxInfo, still: Still, question: Record<string, string | number | undefined>): void {
		this.why = '\u2026';
		const u = this.app.units(), unit = () => unitName(this.app.units());
		const figure = (id: keyof BoxRow, head: string, title: string) => ({
			id: String(id), head, title, unit, isNumber: true, width: 'minmax(4.8rem, 1fr)', value: (r: BoxRow) => r[id] as number, cell: (r: BoxRow) => cycles(r[id] as number, this.app.units()),
		});
		const table = new Table<BoxRow>({
			label: `Statistics of the box by ${this.by}`, key: (r) => r.key, csv: 'incore-box.csv', sort: { id: 'sum', isDown: true }, empty: 'Nothing ran in this box.',
			columns: [
				{ id: 'key', head: this.by, width: 'minmax(6.4rem, 2fr)', value: (r) => r.key, cell: (r) => h('span', { title: r.key }, this.by === 'line' ? baseName(r.key) : r.key) },
				{ id: 'count', head: 'count', title: 'click lists the slices', isNumber: true, width: 'minmax(3.6rem, 1fr)', value: (r) => r.count, cell: (r) => (this.by === 'class' || this.by === 'row' ? h('button', { class: 'link', title: 'List these slices', on: { click: (e) => {
					e.stopPropagation();
					this.list(r, b);
				} } }, count(r.count)) : count(r.count)) },
				figure('sum', 'sum', 'added over all lanes'), figure('union', 'union', 'time in which at least one ran'), figure('mean', 'mean', ''), figure('min', 'min', ''),
				figure('median', 'median', ''), figure('p95', 'p95', ''), figure('max', 'max', ''), figure('stall', 'stall', 'part of the sum spent stalled'), figure('wait', 'wait', 'part of the sum spent waiting'),
				...(this.by === 'cause' ? [] : [{ id: 'causes', head: 'by cause', title: 'stall and wait, by what caused them', unit, width: 'minmax(8rem, 2fr)', value: (r: BoxRow) => this.causes(r), cell: (r: BoxRow) => h('span', { title: this.causes(r) }, this.causes(r)) }]),
			],
			pick: (r) => {
				if (r.code !== null && r.code !== undefined) this.app.select({ kind: 'code', code: r.code });
				else if (r.source !== null && r.source !== undefined) this.app.select({ kind: 'line', source: r.source, line: r.line ?? 0 });
			},
		});
		const span = b.t1 - b.t0, filter = h('input', { attrs: { type: 'search', placeholder: 'Filter', 'aria-label': 'Filter the statistics' } });
		filter.addEventListener('input', () => table.only(filter.value ? (r) => r.key.toLowerCase().includes(filter.value.toLowerCase()) : null));
		if (!this.isDocked) table.element.style.height = '320px';
		fill(this.element, h('div', { class: 'section' }, h('h3', null, `Box of ${cyclesWith(span, u)}, ${count(b.tracks)} track${b.tracks === 1 ? '' : 's'}`),
			h('p', { class: 'totals' }, `sum ${cycles(b.total.sum, u)} over ${cyclesWith(span, u)}: ${count(b.concurrency, 1)} ${this.app.trace.has_pipes ? 'instructions' : 'waves'} at once`),
			h('p', { class: 'dim' }, `${count(b.total.count)} slices, union ${cyclesWith(b.total.union, u)}, stalled ${cyclesWith(b.total.stall, u)}, waiting ${cyclesWith(b.total.wait, u)}`),
			h('div', { class: 'row' }, choose('By', ['class', 'row', 'line', 'cause'].map((v) => ({ value: v, label: v })), this.by, (v) => {
				this.by = v;
				if (this.last) this.show(this.last);
			}), filter, table.tools(), button('Zoom', 'Zoom to the box (F)', () => this.app.showTime(b.t0, b.t1)), !this.isDocked && button('Wide', 'The same table as a panel, with all its columns in sight', () => this.app.openPanel('box')))),
		table.element, b.left_out > 0 && h('p', { class: 'section dim' }, `${count(b.left_out)} rows left out`));
		table.rows(b.rows);
		if (this.by !== 'cause') this.addCauses(table, b.rows, still, question);
	}
}
