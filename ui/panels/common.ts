// SPDX-License-Identifier: Apache-2.0
// common.ts: what panels share: loading with a reason when nothing comes, sums of a row, chips, and the way from a wave to its lane.
import { App, PanelView } from '../app';
import { classChip } from '../base/bars';
import { Child, fill, h, notice, placeText } from '../base/dom';
import { address, count, cycles, share, unitName, Units } from '../base/format';
import { Latest } from '../base/latest';
import { BUCKETS } from '../base/palette';
import { Column, Table } from '../base/table';
import { waitingWords } from '../loading';
import { narrow, rangeWords } from '../range';
import { isSampled } from '../source';
import { Key, State } from '../state';
import { Buckets, DiffPart, Distribution, Pair as PipePair } from './types';
import { baseline, diffAnswer, headline, sideChip } from './versus';

export { baseline, capture, diffColumns, diffParts } from './versus';

export type Changed = ReadonlySet<Key | 'theme' | 'size'>;

/** What these show is of all kernels, whatever the scope. */
const NOT_NARROWED = new Set(['compare', 'counters', 'details']);

/** "kernel NAME, 12 of 40 waves"; empty without a scope. */
export function scopeWords(app: App): string {
	const { scope } = app.store.get(), { tracks, kernels } = app.trace;
	return scope === null ? '' : `kernel ${kernels.find((k) => k.id === scope)?.name ?? scope}, ${count(tracks.filter((t) => t.kernel === scope).length)} of ${count(tracks.length)} ${hasPipes(app) ? 'pipes' : 'waves'}`;
}

/** A panel that asks first and shows then. Whatever fails is said in the panel itself. */
export abstract class View implements PanelView {
	protected readonly body: HTMLElement;
	private isClosed = false;
	private isShown = false;
	private isTold = false;
	/** what changed while the first answer was on its way */
	private readonly missed = new Set<Key | 'theme' | 'size'>();
	private readonly parts: { close(): void }[] = [];
	/** with what it is compared, or why it cannot be */
	private readonly against = h('p', { class: 'against', role: 'note', hidden: true });
	private readonly scoped = h('p', { class: 'scope-words', role: 'note', hidden: true });
	private readonly isNarrowed: boolean;
	private readonly loads = new Latest();
	private readonly bases = new Latest();

	constructor(host: HTMLElement, protected readonly app: App, name: string) {
		this.body = h('div', { class: `panel-body panel-${name}` });
		fill(host, this.scoped, this.against, this.body);
		this.isNarrowed = !NOT_NARROWED.has(name);
	}

	/** Whose figures these are, wherever they are not everybody's. */
	private tellScope(): void {
		const words = scopeWords(this.app), { range } = this.app.store.get(), part = range && rangeWords(range), isCompared = baseline(this.app) >= 0;
		this.scoped.hidden = !words && !part;
		if (this.scoped.hidden) return;
		fill(this.scoped, words && (this.isNarrowed ? `Scope: ${words}. ` : `All kernels: this panel is not narrowed to the scope (${words}). `),
			part && (this.isNarrowed ? `Range: ${part}; shares are of the lifetime within it${isCompared ? ', and A, B and their change are of the whole traces' : ''}. ` : `Whole trace: this panel is not narrowed to the range (${part}). `),
			part && h('button', { class: 'link whole-trace', title: 'Show the figures of the whole trace again', on: { click: () => narrow(this.app, null) } }, 'Whole trace'));
	}

	private tellBase(): void {
		const base = baseline(this.app), still = this.bases.begin();
		this.against.hidden = base < 0;
		if (base < 0) return;
		const tell = (text: Child) => still() && fill(this.against, sideChip(this.app, 'A'), sideChip(this.app, 'B'), text);
		tell('');
		diffAnswer<{ noise: { statement: string }; parts: DiffPart[] }>(this.app, 'instr').then((d) => tell([h('strong', { class: 'moved' }, headline(d.parts) ?? 'nothing moved'), ` Figures are per execution or shares; ${d.noise.statement}.`]),
			(e: Error) => tell(`Their instructions cannot be compared: ${e.message}. Where a panel shows A and B all the same, they are shares.`));
	}

	/** Shows `show` of the answer; until then that it loads, and why not when it fails. Of several the one asked for last is shown. */
	protected load<T>(answer: Promise<T>, show: (value: T) => void): void {
		const still = this.loads.begin();
		const waiting = setTimeout(() => !this.isClosed && !this.isShown && !this.body.firstChild && fill(this.body, h('div', { class: 'notice', role: 'status' }, waitingWords())), 150);
		answer.then((value) => {
			clearTimeout(waiting);
			if (this.isClosed || !still()) return;
			this.isShown = true;
			show(value);
			const missed = new Set(this.missed);
			this.missed.clear();
			if (missed.size) this.update(this.app.store.get(), missed);
		}).catch((e: Error) => {
			clearTimeout(waiting);
			if (!this.isClosed && still()) fill(this.body, notice('This panel has no answer', e.message, 'The other panels still work.'));
		});
	}

	/** Closed with the panel. */
	protected own<T extends { close(): void }>(part: T): T {
		this.parts.push(part);
		return part;
	}

	changed(state: Readonly<State>, given: Changed): void {
		// what a scope narrows a range narrows, too: one question, with one more condition
		const keys: Changed = given.has('range') ? new Set([...given, 'scope']) : given;
		if (keys.has('base')) this.tellBase();
		if (keys.has('scope') || keys.has('base')) this.tellScope();
		if (this.isShown) this.update(state, keys);
		else if (this.isTold) for (const k of keys) this.missed.add(k);
		this.isTold = true; // the first call comes with opening and has no news
	}

	protected abstract update(state: Readonly<State>, keys: Changed): void;

	close(): void {
		this.isClosed = true;
		for (const part of this.parts.splice(0)) part.close();
		fill(this.body);
	}
}

export function sum(b: Buckets): number {
	return BUCKETS.reduce((n, k) => n + (b[k] ?? 0), 0);
}

export function chip(app: App, name: string): HTMLElement {
	const found = app.trace.classes.find((c) => c.name === name);
	return classChip(name, found ? found.slot : 11, app.palette());
}

/** A word with the colour of its bucket. */
export function bucketChip(app: App, name: string, text = name): HTMLElement {
	const i = BUCKETS.findIndex((b) => b === name);
	return h('span', { class: 'chip' }, h('span', { class: 'swatch', style: { background: app.palette().buckets[i] ?? app.palette().dim } }), text);
}

/** Whoever knows how cycles are shown: the app, or scaled() of it. */
export interface Measured { units(): Units }

/** What sums over all waves (or pipes) are parts of: their lifetimes together. */
export const LIFETIME = 'lifetime';

/** The same units with another 100 %: for sums over waves, which pass the length of the capture. `of` says what it is. */
export function scaled(app: Measured, whole: () => number, of: string | (() => string) = LIFETIME): Measured {
	return { units: () => ({ ...app.units(), scope: Math.max(1, whole()), of: typeof of === 'string' ? of : of() }) };
}

/** Of all waves or pipes together. */
export function lifetime(app: App): Measured {
	return scaled(app, () => app.trace.tracks.reduce((n, t) => n + t.end - t.begin, 0));
}

/** A column of cycles in the unit that is chosen. */
export function cyclesColumn<R>(app: Measured, id: string, head: string, value: (row: R) => number | null | undefined, title = ''): Column<R> {
	return {
		id, head, title, isNumber: true, width: fit(head), unit: () => unitName(app.units()), value: (r) => value(r) ?? null,
		cell: (r) => cycles(value(r), app.units()),
	};
}

/** Wide enough for the head and six digits: columns of a table do not measure their cells. */
/** Room for a text in a column. */
export function fit(head: string): string {
	return Math.max(4.6, head.length * 0.56 + 2).toFixed(1) + 'rem';
}

export function countColumn<R>(id: string, head: string, value: (row: R) => number | null | undefined, title = '', digits = 0): Column<R> {
	return { id, head, title, isNumber: true, width: fit(head), value: (r) => value(r) ?? null, cell: (r) => (value(r) === null || value(r) === undefined ? '-' : count(value(r)!, digits)) };
}

export function textColumn<R>(id: string, head: string, value: (row: R) => string | null | undefined, width = 'minmax(7rem, 1fr)', title = ''): Column<R> {
	return { id, head, title, width, value: (r) => value(r) ?? null, cell: (r) => h('span', { class: 'clip', title: value(r) ?? '' }, value(r) ?? '-') };
}

export function codeColumn<R>(id: string, head: string, value: (row: R) => string | null | undefined, width = 'minmax(12rem, 1fr)'): Column<R> {
	return { ...textColumn(id, head, value, width), cell: (r) => isaText(value(r) ?? '') };
}

/** Share of a whole: the figure in percent, and of what. */
export function shareColumn<R>(id: string, head: string, value: (row: R) => number, whole: () => number, of: string = LIFETIME, title = ''): Column<R> {
	return { id, head, title, isNumber: true, width: fit(head + ' %'), unit: () => `% of ${of}`, value, cell: (r) => share(value(r), whole(), false) };
}

/** A line of a file, "path:12"; anything else as it is. */
export function placeColumn<R>(id: string, head: string, value: (row: R) => string, width = 'minmax(14rem, 2fr)'): Column<R> {
	return { id, head, width, value, cell: (r) => {
		const m = /^(.*):(\d+)$/.exec(value(r));
		return m ? placeText(m[1], m[2]) : value(r);
	} };
}

/** min, median, p95, max as four columns of cycles. */
export function spreadColumns<R>(app: Measured, id: string, head: string, value: (row: R) => Distribution | null | undefined, title = ''): Column<R>[] {
	return (['min', 'median', 'p95', 'max'] as const).map((k) =>
		({ ...cyclesColumn<R>(app, `${id}-${k}`, `${head} ${k}`.trim(), (r) => value(r)?.[k], title), width: fit(`${head} ${k}`) }));
}

/** How hot a row is, beside its text: the stronger, the more of the hottest; a square root, so that a tenth is still seen. */
export function heatColumn<R>(part: (row: R) => number, hint: (row: R) => string): Column<R> {
	return {
		id: 'heat', head: '', isFixed: true, isDecor: true, isLate: true, width: '10px', title: 'the stronger, the more cycles', value: () => null, hint, drawn: () => '', paint: (cell, r) => {
			const p = part(r), heat = String(p > 0 ? Math.max(10, 5 * Math.round(20 * Math.sqrt(Math.min(1, p)))) : 0);
			if (cell.dataset.heat === heat) return;
			cell.dataset.heat = heat;
			cell.style.background = heat === '0' ? '' : `color-mix(in srgb, var(--heat) ${heat}%, transparent)`;
		},
	};
}

/** An instruction: its first word stands out. */
export function isaText(text: string): HTMLElement {
	const at = text.search(/\s/);
	return h('code', { class: 'clip isa', title: text }, h('span', { class: 'opcode' }, at < 0 ? text : text.slice(0, at)), at < 0 ? '' : text.slice(at));
}

/** Something to click that goes to a code row. */
export function rowLink(app: App, row: number | null | undefined, text?: string): Child {
	if (row === null || row === undefined) return text ?? '-';
	return h('button', { class: 'link', title: `To row ${row} of the ISA panel`, on: { click: (e) => {
		e.stopPropagation();
		toRow(app, row);
	} } }, text ?? `row ${row}`);
}

export function toRow(app: App, row: number | null): void {
	const code = row === null ? -1 : app.codeOfRow(row);
	if (code < 0) return;
	app.select({ kind: 'code', code });
	app.openPanel('isa');
}

/** The track at these coordinates, or -1. */
export function trackAt(app: App, coord: number[]): number {
	return app.trace.tracks.findIndex((t) => coord.every((v, i) => t.coord[i] === v));
}

/** Selects the lane of a wave and brings it into sight. */
export function toTrack(app: App, track: number): void {
	const t = app.trace.tracks[track];
	if (!t) return;
	app.select({ kind: 'track', track });
	app.showTrack(track);
	app.showTime(t.begin, t.end);
}

/** A heading with what belongs to it on the right. */
export function section(title: string, tools: Child, ...content: Child[]): HTMLElement {
	return h('section', { class: 'panel-section' }, h('header', { class: 'panel-head' }, h('h3', null, title), h('span', { class: 'panel-tools' }, tools)), content);
}

/** Name and value pairs. */
export function facts(...pairs: [string, Child][]): HTMLElement {
	return h('dl', { class: 'facts' }, pairs.filter(([, v]) => v !== null && v !== undefined && v !== '').map(([k, v]) => h('div', null, h('dt', null, k), h('dd', null, v))));
}

/** A field that narrows a table while one types. */
export function filterBox<R>(table: Table<R>, label: string, texts: (row: R) => string): HTMLElement {
	const box = h('input', { class: 'filter', attrs: { type: 'search', placeholder: label, 'aria-label': label } });
	box.addEventListener('input', () => {
		const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
		table.only(words.length ? (r) => words.every((w) => texts(r).toLowerCase().includes(w)) : null);
	});
	return box;
}

export function hex(n: number | null): string {
	return n === null ? '-' : address(n);
}

/** Does this capture consist of pipes (Ascend)? */
export function hasPipes(app: App): boolean {
	return app.trace.levels.includes('pipe') || app.trace.input.vendor === 'ascend';
}

/** What a row about two pipes is known by. */
export function pairKey(p: PipePair): string {
	return `${p.producer_pipe} ${p.consumer_pipe} ${p.is_cross_core}`;
}

/** Why a panel about waves or pipes is empty, or null. */
export function noTracks(app: App): string | null {
	if (app.trace.tracks.length) return null;
	return isSampled(app.trace)
		? 'This capture has samples only: no wave was traced, so there is no time line. ISA, Source and Hotspots show the samples.'
		: 'No wave was traced in this capture. The health banner says why, and what to capture instead.';
}
