// SPDX-License-Identifier: Apache-2.0
// verdict/view.ts: the first screen, word for word as `incore verdict` prints it; beside it the units by how full they are, and the changes.
import { App, Panel } from '../../app';
import { shareBar } from '../../base/bars';
import { Child, fill, h } from '../../base/dom';
import { count } from '../../base/format';
import { State } from '../../state';
import { Changed, rowLink, section, View } from '../common';
import { Verdict, VerdictChange, VerdictUnit } from '../types';

/** The sentences of the screen, in its order. */
const LINES = [['bound_by', 'Bound by'], ['of_peak', 'Of peak'], ['waits', 'Waits'], ['at', 'At'], ['change', 'Change'], ['gain', 'Gain'], ['sure', 'Sure'], ['other', 'Else'], ['health', 'Health'], ['missing', 'Missing']] as const;
/** of the time: from here on a unit is full */
const FULL = 80;

const percent = (v: number | null | undefined, digits = 0) => (v === null || v === undefined ? '-' : count(v, digits) + ' %');

class VerdictView extends View {
	private data!: Verdict;

	constructor(host: HTMLElement, app: App) {
		super(host, app, 'verdict');
		this.ask();
	}

	private ask(): void {
		this.load(this.app.verb<Verdict>('verdict'), (a) => {
			this.data = a.data;
			this.show();
		});
	}

	private show(): void {
		const s = this.data.screen;
		fill(this.body, h('div', { class: 'screen' }, h('section', { class: 'screen-lines' }, h('p', { class: 'screen-head' }, h('strong', null, s.kernel ?? 'kernel'), ' ', h('span', { class: 'dim' }, s.launch ?? '')),
			h('dl', { class: 'screen-list' }, LINES.filter(([key]) => s[key]).map(([key, head]) => h('div', { class: 'line-' + key.replace('_', '-') }, h('dt', null, head), h('dd', null, key === 'at' ? this.linked(s[key]!) : s[key]))))),
		h('div', { class: 'panel-columns' }, this.data.units.length ? this.units(this.data.units) : null, this.data.changes.length > 1 ? this.changes(this.data.changes) : null)));
	}

	/** The rows that a sentence names lead to the listing. */
	private linked(text: string): Child[] {
		return text.split(/\b(row \d+)\b/).map((part, i) => (i % 2 ? rowLink(this.app, Number(part.slice(4))) : part));
	}

	private units(units: VerdictUnit[]): HTMLElement {
		const p = this.app.palette(), isFull = (u: VerdictUnit) => (u.full_pct ?? 0) >= FULL;
		return section('Units, by the time that each needs', null, h('table', { class: 'plain units' }, h('thead', null, h('tr', null, h('th', null, 'unit'), h('th', { class: 'num' }, 'of time'), h('th', { class: 'num' }, 'of peak'), h('th', { class: 'num' }, 'practical'), h('th', null, ''))),
			h('tbody', null, units.filter((u) => (u.full_pct ?? 0) >= 0.5).map((u) => h('tr', null, h('th', { attrs: { scope: 'row' } }, u.name), h('td', { class: 'num' }, percent(u.full_pct)), h('td', { class: 'num' }, percent(u.peak_pct)), h('td', { class: 'num' }, percent(u.practical_pct)),
				h('td', { class: 'wide' }, shareBar(Math.min(100, u.full_pct ?? 0), 100, isFull(u) ? p.buckets[1] : p.dim, 'all of the time')))))));
	}

	private changes(changes: VerdictChange[]): HTMLElement {
		return section('Changes', null, h('table', { class: 'plain changes' }, h('thead', null, h('tr', null, h('th', { class: 'num' }, 'saves'), h('th', { class: 'num' }, 'interval'), h('th', null, 'change'), h('th', null, 'at'))),
			h('tbody', null, changes.map((c) => h('tr', null, h('td', { class: 'num' }, percent(c.pct)), h('td', { class: 'num' }, c.pct === null ? '-' : `${count(c.least_pct ?? 0)} to ${count(c.most_pct ?? 0)}`), h('td', { class: 'wide', title: c.counted }, c.change), h('td', null, c.where ? rowLink(this.app, c.where.row) : ''))))));
	}

	protected update(_state: Readonly<State>, keys: Changed): void {
		if (keys.has('theme')) this.show();
		if (keys.has('scope')) this.ask();
	}

	summary(): string {
		return this.data?.screen.bound_by ?? '';
	}
}

export const panel: Panel = {
	id: 'verdict', title: 'Verdict', hint: 'what bounds the kernel, and what a change would bring',
	questions: ['verdict'],
	open: (host, app) => new VerdictView(host, app),
};
