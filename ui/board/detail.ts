// SPDX-License-Identifier: Apache-2.0
// detail.ts: one series: its history as a picture, and beside it what one change or one capture is made of.
import { button, Child, copyText, fill, h, notice } from '../base/dom';
import { evidenceChip } from '../base/evidence';
import { count } from '../base/format';
import { Latest } from '../base/latest';
import { Table } from '../base/table';
import { askJson, Source } from '../source';
import { Chart } from './chart';
import { acceptedWords, Answer, Change, FileRow, harm, History, minute, Mover, nameOf, percentText, Place, seriesWords, Shown } from './types';

const FIGURES = ['duration', 'cycles', 'issue', 'stall', 'wait', 'idle', 'drain', 'per_track'] as const;

export interface DetailActs { go(part: Partial<Place>): void; say(text: string): void }

function moverTable(label: string, evidence: string, isDelta: boolean): Table<Mover> {
	const table = new Table<Mover>({
		label, name: isDelta ? 'store.movers' : 'store.rows', csv: 'instructions.csv', key: (r) => `${r.row} ${r.isa} ${r.cause}`, empty: 'The store has no instruction that moved.',
		columns: [
			{ id: 'change', head: isDelta ? 'Change' : 'Cycles', unit: () => 'cycles', value: (r) => r.change, cell: (r) => (isDelta ? h('span', { class: 'delta ' + harm(r.change) }, (r.change > 0 ? '+' : '') + count(r.change)) : count(r.change)), isNumber: true, width: '7rem', title: `Cycles of all tracks, ${evidence}` },
			{ id: 'cause', head: 'Cause', value: (r) => r.cause, width: 'minmax(10rem, 1fr)' },
			{ id: 'isa', head: 'Instruction', value: (r) => r.isa ?? '(no instruction)', width: 'minmax(8rem, 3fr)', isMono: true, hint: (r) => r.isa ?? '' },
			{ id: 'waits', head: 'Waits for', value: (r) => r.waits_for ?? '', width: 'minmax(6rem, 2fr)', isMono: true, hint: (r) => r.waits_for ?? '' },
			{ id: 'line', head: 'Line', value: (r) => (r.line ?? '').replace(/^.*\//, ''), width: 'minmax(8rem, 1fr)', hint: (r) => r.line ?? '' },
		],
	});
	return table;
}

export class Detail {
	readonly element = h('section', { class: 'detail', attrs: { 'aria-label': 'History of the chosen kernel' } });
	private readonly head = h('div', { class: 'detail-head' });
	private readonly side = h('div', { class: 'detail-side', attrs: { 'aria-live': 'off' } });
	private readonly chart: Chart;
	private readonly asked = new Latest();
	private readonly sideAsked = new Latest();
	private table: Table<Mover> | null = null;
	private shown = '';
	history: History | null = null;
	private total = 0;

	constructor(private readonly source: Source, private readonly acts: DetailActs) {
		this.chart = new Chart({ change: (c) => acts.go({ change: c.capture, point: 0 }), point: (p) => acts.go({ point: p.capture, change: 0 }), say: acts.say });
		fill(this.element, this.head, h('div', { class: 'detail-body' }, this.chart.element, this.side));
	}

	/** What the page shows changed. */
	async show(p: Place): Promise<void> {
		const key = `${p.series} ${p.figure}`, still = this.asked.begin();
		if (!p.series) {
			this.shown = '';
			this.history = null;
			this.chart.element.hidden = true;
			return fill(this.head), this.fillSide(notice('No kernel is chosen', 'Choose one above: its history, what changed and which instructions that came from stand here.'));
		}
		if (this.shown !== key) {
			try {
				const answer = await askJson<Answer<{ series: History[] }>>(this.source, 'store/history', { capture: p.series, figure: p.figure || undefined });
				if (!still()) return;
				this.history = answer.data.series[0];
				this.total = answer.input.total;
				this.shown = key;
			} catch (e) {
				if (!still()) return;
				this.history = null;
				this.shown = '';
				fill(this.head);
				this.chart.element.hidden = true;
				return this.fillSide(notice('The history cannot be shown', (e as Error).message, 'A link may name a capture that was pruned since.'));
			}
		}
		const history = this.history!, wanted = history.changes.find((c) => c.capture === p.change) ?? (p.point ? undefined : history.changes[history.changes.length - 1]);
		this.drawHead(history);
		this.chart.element.hidden = false;
		this.chart.show(history, this.total, wanted?.capture ?? 0, p.point);
		await this.drawSide(history, wanted, p.point);
	}

	/** The store may have more by now: it is asked again. */
	forget(): void {
		this.shown = '';
	}

	/** The change before or after the one that is shown. */
	step(by: number, current: number): void {
		const all = this.history?.changes ?? [], at = all.findIndex((c) => c.capture === current), next = all[Math.max(0, Math.min(all.length - 1, (at < 0 ? all.length - 1 : at) + by))];
		if (next) this.acts.go({ change: next.capture, point: 0 });
	}

	private drawHead(x: History): void {
		const few = x.points.length < this.total ? ` (${count(x.points.length)} of ${count(this.total)} drawn: lows, highs and marks)` : '';
		fill(this.head, h('h2', { class: 'mono', title: nameOf(x) }, nameOf(x)), x.labels && h('span', { class: 'labels' }, x.labels.split(',').map((l) => h('span', { class: 'label' }, l))),
			x.arch && h('span', { class: 'dim' }, x.arch), evidenceChip(x.evidence),
			h('span', { class: 'dim facts' }, `${x.figure} of ${count(this.total)} ${this.total === 1 ? 'capture' : 'captures'}${few}, ${x.noise_pct === null ? 'too few to tell noise from change' : `noise ${x.noise_pct.toFixed(2)} %`}`),
			x.accepted.map((a) => h('p', { class: 'accepted' }, acceptedWords(a))));
	}

	private fillSide(...children: Child[]): void {
		this.table?.close();
		this.table = null;
		fill(this.side, children);
	}

	private async drawSide(history: History, change: Change | undefined, point: number): Promise<void> {
		const still = this.sideAsked.begin();
		if (point) return this.drawPoint(point, still);
		if (!change) return this.fillSide(notice('No change beyond noise', history.noise_pct === null ? 'Fewer than four captures: nothing is claimed.' : 'All captures lie within the band of this series.', 'Click a capture in the picture for its instructions.'));
		const table = moverTable('Instructions that moved', history.evidence, true), files = h('div', { class: 'files', role: 'status' });
		this.fillSide(
			h('div', { class: 'side-head' }, h('h3', null, h('span', { class: 'delta ' + harm(change.change) }, `${(change.change ?? 0) > 0 ? '▲' : '▼'} ${percentText(change.change_pct)}`), ` at capture ${change.capture}`),
				h('p', { class: 'dim' }, `${count(change.before)} → ${count(change.after)} cycles, ${history.evidence}; ${minute(change.time)}${change.revision ? `, revision ${change.revision}` : ''}; ${change.state}${change.is_same_code ? ', same code' : ', other code'}`), files, h('div', { class: 'row' }, h('strong', null, 'Which instructions moved'), h('span', { class: 'spring' }), table.tools())),
			table.element);
		this.table = table;
		table.rows(change.movers);
		await this.drawFiles(files, change, still);
	}

	/** The comparison of the two captures where their files are there, else which is missing; the command in any case. */
	private async drawFiles(host: HTMLElement, c: Change, still: () => boolean): Promise<void> {
		const command = c.command && h('div', { class: 'row' }, h('code', { class: 'command', title: c.command }, c.command), button('Copy', 'Copy the command', () => void copyText(c.command!).then((is) => this.acts.say(is ? 'Command copied' : 'The command could not be copied')), { class: 'button framed' }));
		fill(host, command);
		let files: FileRow[];
		try {
			files = (await askJson<Answer<{ files: FileRow[] }>>(this.source, 'store/files', { before: c.from, after: c.capture })).data.files;
		} catch (e) {
			return still() ? fill(host, h('p', { class: 'missing' }, (e as Error).message), command) : undefined;
		}
		if (!still()) return;
		const gone = files.filter((f) => !f.is_there);
		fill(host, gone.length ? gone.map((f) => h('p', { class: 'missing', title: f.path }, `Capture ${f.capture} is not there any more: `, h('code', null, f.path)))
			: h('p', null, h('a', { class: 'compare', attrs: { href: `/pair/${c.from}-${c.capture}` } }, `Compare capture ${c.from} with ${c.capture}, row by row`)), command);
	}

	private async drawPoint(point: number, still: () => boolean): Promise<void> {
		let x: Shown;
		try {
			x = (await askJson<Answer<Shown>>(this.source, 'store/show', { capture: point })).data;
		} catch (e) {
			return still() ? this.fillSide(notice('The capture cannot be shown', (e as Error).message)) : undefined;
		}
		if (!still()) return;
		const c = x.capture, table = moverTable('Costliest instructions', c.evidence, false);
		const facts: [string, Child][] = [['Taken', minute(c.time)], ['Revision', c.revision ?? '-'], ['Evidence', c.evidence], ['Code', h('code', null, c.code)], ['Read from', h('code', null, c.path)],
			['Cycles', FIGURES.filter((f) => c[f] !== null).map((f) => `${f} ${count(c[f])}`).join(', ')], ['Added by', `incore ${c.incore}`]];
		this.fillSide(h('div', { class: 'side-head' }, h('h3', null, `Capture ${c.capture}`), h('table', { class: 'facts-table' }, h('tbody', null, facts.map(([k, v]) => h('tr', null, h('td', null, k), h('td', null, v))))),
			x.findings.map((f) => h('p', { class: 'finding ' + f.severity }, h('span', { class: 'severity' }, f.severity), f.message)), h('div', { class: 'row' }, h('strong', null, 'Costliest instructions'), h('span', { class: 'spring' }), table.tools())), table.element);
		this.table = table;
		table.rows(x.rows);
	}

	/** What is on screen, in words: for paper. */
	written(place: Place): Child {
		const x = this.history;
		if (!x) return null;
		const change = x.changes.find((c) => c.capture === place.change) ?? x.changes[x.changes.length - 1], picture = this.chart.element.querySelector('svg')?.cloneNode(true);
		return h('section', null, h('h2', null, seriesWords(x)), x.accepted.map((a) => h('p', null, acceptedWords(a))), picture ?? null, x.changes.length > 0 && h('table', null, h('tbody', null, x.changes.map((c) => h('tr', null, h('td', null, minute(c.time)), h('td', null, percentText(c.change_pct)), h('td', null, `${count(c.before)} → ${count(c.after)} cycles`), h('td', null, c.revision ?? ''), h('td', null, c.state))))),
			change && [h('h3', null, `What moved at capture ${change.capture}`), h('table', null, h('tbody', null, change.movers.map((m) => h('tr', null, h('td', { class: 'num' }, count(m.change)), h('td', null, m.cause), h('td', { class: 'long' }, h('code', null, m.isa ?? '')), h('td', { class: 'long' }, m.waits_for ? h('code', null, m.waits_for) : ''), h('td', { class: 'long' }, m.line ?? ''))))), change.command && h('p', null, h('code', null, change.command))]);
	}
}
