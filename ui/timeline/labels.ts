// SPDX-License-Identifier: Apache-2.0
// labels.ts: names of the lanes in sight, with their buttons; drag moves a lane, a click on a group folds it.
import { button, fill, h } from '../base/dom';
import { isUnread, laneName, Row } from './lanes';
import type { Timeline } from './view';

export class Labels {
	private readonly rows: HTMLElement;
	private readonly pinned: HTMLElement;
	private last = '';
	private dragged: number | null = null;

	constructor(private readonly view: Timeline, space: HTMLElement) {
		this.rows = h('div', { class: 'lane-labels' });
		this.pinned = h('div', { class: 'lane-labels pins' });
		space.append(this.pinned, this.rows);
	}

	draw(rows: Row[]): void {
		const s = this.view.app.store.get(), track = s.selection?.track;
		const first = rows.find((r) => !r.lane?.isPinned);
		const key = [this.view.arranged, first?.top, rows.length, track, s.base, s.isStacked].join();
		if (key === this.last) return;
		this.last = key;
		fill(this.pinned, rows.filter((r) => r.lane?.isPinned).map((r) => this.lane(r)));
		fill(this.rows, rows.filter((r) => !r.lane?.isPinned).map((r) => (r.kind === 'group' ? this.group(r) : this.lane(r))));
	}

	private group(r: Row): HTMLElement {
		const toggle = () => {
			const store = this.view.app.store, folded = store.get().folded;
			store.set({ folded: r.isFolded ? folded.filter((g) => g !== r.group) : [...folded, r.group] });
		};
		const e = h('div', {
			class: 'lane-label group', role: 'row', style: { top: r.top + 'px', height: r.height + 'px' },
			title: `${r.label}: ${r.count} lanes. Click to ${r.isFolded ? 'unfold' : 'fold'}.`, on: { click: toggle },
		}, button(r.isFolded ? '▸' : '▾', `${r.isFolded ? 'Unfold' : 'Fold'} ${r.label}`, () => undefined, { attrs: { 'aria-expanded': !r.isFolded } }),
		h('span', { class: 'words', role: 'rowheader' }, r.label, r.isFolded && h('span', { class: 'dim' }, `${r.count} lanes`)));
		return e;
	}

	private lane(r: Row): HTMLElement {
		const lane = r.lane!, { app } = this.view, isMarked = lane.tracks.includes(app.store.get().selection?.track ?? -1);
		const e = h('div', {
			class: `lane-label${r.isOdd ? ' odd' : ''}${isMarked ? ' marked' : ''}${lane.isPinned ? ' pinned' : ''}${lane.tracks.some((i) => this.view.named.has(i)) ? ' found' : ''}`, role: 'row',
			style: { top: r.top + 'px', height: r.height + 'px', '--depth': lane.isPinned ? '0' : '1' },
			title: laneName(app.trace, lane) + (lane.isModelled ? ': how long the pipe is busy with what was issued, modelled from the shapes of the instructions' : lane.only ? ': when instructions of this unit issued' : lane.tracks.length > 1 ? ` and ${lane.tracks.length - 1} more` : ''),
			attrs: { 'data-lane': lane.id, draggable: true },
			on: { click: () => app.select({ kind: 'track', track: lane.tracks[0] }) },
		}, h('span', { class: 'words', role: 'rowheader' }, lane.isPinned || app.store.get().sort !== 'track' ? laneName(app.trace, lane) : lane.label, lane.detail && h('span', { class: 'dim' }, lane.detail)),
		lane.tracks.some((i) => isUnread(app.trace, i)) && h('span', { class: 'unread', role: 'img', title: 'A wave of this lane could not be read: the banner says why', attrs: { 'aria-label': 'a wave of this lane could not be read' } }, '⚠'),
		app.store.get().base && !app.store.get().isStacked && !lane.only && h('span', { class: 'ab', attrs: { 'aria-hidden': 'true' } }, h('span', { class: 'side-a' }, 'A'), h('span', { class: 'side-b' }, 'B')),
		h('span', { class: 'lane-tools' },
			button(lane.isPinned ? '◉' : '◎', lane.isPinned ? 'Unpin this lane (P)' : 'Pin this lane to the top (P)', () => pinLane(this.view, lane.id)),
			button('×', 'Hide this lane (H)', () => hideLane(this.view, lane.id))));
		e.querySelector('.lane-tools')!.addEventListener('click', (event) => event.stopPropagation());
		this.draggable(e, lane.id, lane.isPinned);
		return e;
	}

	private draggable(e: HTMLElement, id: number, isPinned: boolean): void {
		e.addEventListener('dragstart', (event) => {
			this.dragged = id;
			event.dataTransfer?.setData('text/plain', String(id));
		});
		e.addEventListener('dragover', (event) => {
			if (this.dragged === null) return;
			event.preventDefault();
			e.classList.add('drop');
		});
		e.addEventListener('dragleave', () => e.classList.remove('drop'));
		e.addEventListener('drop', (event) => {
			event.preventDefault();
			if (this.dragged !== null && this.dragged !== id) moveLane(this.view, this.dragged, id, isPinned);
			this.dragged = null;
		});
	}
}

export function pinLane(view: Timeline, id: number): void {
	const { store } = view.app, pins = store.get().pins;
	store.set({ pins: pins.includes(id) ? pins.filter((p) => p !== id) : [...pins, id] });
	view.app.say(pins.includes(id) ? 'Lane unpinned' : 'Lane pinned');
}

/** All lanes of one name ("MTE2" of every core), or none of them when all are pinned already. */
export function pinByName(view: Timeline, id: number): void {
	const name = view.lanes.find((l) => l.id === id)?.label, { store } = view.app, pins = store.get().pins;
	const same = view.lanes.filter((l) => l.label === name).map((l) => l.id);
	const isAll = same.every((s) => pins.includes(s));
	store.set({ pins: isAll ? pins.filter((p) => !same.includes(p)) : [...pins, ...same.filter((s) => !pins.includes(s))] });
	view.app.say(`${same.length} lanes named ${name} ${isAll ? 'unpinned' : 'pinned'}`);
}

export function hideLane(view: Timeline, id: number): void {
	const { store } = view.app;
	store.set({ hidden: [...store.get().hidden, id], pins: store.get().pins.filter((p) => p !== id) });
	view.app.say('Lane hidden; "Show all" brings it back');
}

/** Puts one lane before another; among pinned lanes it becomes pinned. */
export function moveLane(view: Timeline, from: number, before: number, isPinned: boolean): void {
	const { store } = view.app;
	if (isPinned) {
		const pins = store.get().pins.filter((p) => p !== from);
		pins.splice(pins.indexOf(before), 0, from);
		store.set({ pins });
		return;
	}
	const now = view.layout.rows.filter((r) => r.lane && !r.lane.isPinned).map((r) => r.lane!.id).filter((id) => id !== from);
	now.splice(now.indexOf(before), 0, from);
	store.set({ order: now });
}
