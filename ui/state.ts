// SPDX-License-Identifier: Apache-2.0
// state.ts: the one store, and its link. Everything that a shared address restores is here; panels read it and are told what changed.
import { UNITS, Unit } from './base/format';
import { Latest, Still } from './base/latest';
import { parseRanges, ranges } from './source';

export type Mode = 'class' | 'bucket' | 'cause' | 'kernel' | 'diff';
export const MODES: readonly Mode[] = ['class', 'bucket', 'cause', 'kernel', 'diff'];
export type Arrows = 'none' | 'selection' | 'visible';
export const ARROWS: readonly Arrows[] = ['none', 'selection', 'visible'];
/** one lane a slot or pipe, one a SIMD and execution unit, or every wave of every CU */
export type LaneKind = 'waves' | 'units' | 'machine';
/** how the lanes of a compared capture line up: begin of the trace, of each lane, or first execution of the selected row */
export type Align = 'trace' | 'start' | 'row';
export const ALIGNS: readonly Align[] = ['trace', 'start', 'row'];
export type LaneSort = 'track' | 'start' | 'duration' | 'stall';
export const SORTS: readonly LaneSort[] = ['track', 'start', 'duration', 'stall'];

export interface Marker { t: number; dur: number; name: string; colour: number }

/**
 * One selection for all panels. A slice also names its code row and source line, a row its line, once they are known: a panel marks
 * whatever part it shows and does not care where the selection was made.
 */
export interface Selection {
	kind: 'slice' | 'code' | 'line' | 'track' | 'box' | 'range';
	track?: number;
	slice?: number;
	code?: number;
	source?: number;
	line?: number;
	t0?: number;
	t1?: number;
	tracks?: number[];
}

/**
 * The part of the trace that all figures are of: cycles [t0, t1), as `--from` and `--until` of the verbs, of the tracks that `where` names as
 * their options do (`se`: "0,2-3"); {}: of all. A selection marks, a range narrows.
 */
export interface Range { t0: number; t1: number; where: Record<string, string> }

export interface State {
	/** content hash of the capture shown, and of the one it is compared with */
	hash: string;
	base: string | null;
	panel: string;
	/** the panel that stands beside it, or null */
	beside: string | null;
	/** the window, in cycles */
	t0: number;
	t1: number;
	selection: Selection | null;
	mode: Mode;
	unit: Unit;
	arrows: Arrows;
	sort: LaneSort;
	isMerged: boolean;
	kind: LaneKind;
	align: Align;
	/** lanes of the compared capture under all of this one's, not each beside its partner */
	isStacked: boolean;
	/** waves in flight and their states, above the lanes */
	isGlobalOpen: boolean;
	/** the cost of inlined code stands at the line that called it */
	isCalled: boolean;
	/** slices carry the letter of their class */
	isLettered: boolean;
	/** lanes by their first track */
	pins: number[];
	hidden: number[];
	order: number[];
	/** groups of the tree that are folded, by their path ("0.1") */
	folded: string[];
	query: string;
	markers: Marker[];
	/** dispatch that everything is narrowed to, or null */
	scope: number | null;
	/** part of the trace that everything is narrowed to, or null */
	range: Range | null;
	isBottomOpen: boolean;
	isSideOpen: boolean;
	isInspectorOpen: boolean;
}

export type Key = keyof State;
export type Listener = (state: Readonly<State>, changed: ReadonlySet<Key>) => void;

export function initialState(): State {
	return {
		hash: '', base: null, panel: 'verdict', beside: null, t0: 0, t1: 1, selection: null, mode: 'class', unit: 'cyc', arrows: 'selection', sort: 'track',
		isMerged: true, kind: 'waves', align: 'start', isStacked: false, isGlobalOpen: false, isLettered: false, isCalled: false, pins: [], hidden: [], order: [], folded: [], query: '', markers: [], scope: null, range: null,
		isBottomOpen: true, isSideOpen: true, isInspectorOpen: true,
	};
}

/** Views that Backspace goes back to. */
interface View { t0: number; t1: number; scope: number | null }
const HISTORY = 100;

export class Store {
	private listeners: Listener[] = [];
	private readonly back: View[] = [];
	private readonly forth: View[] = [];
	private settled: View | null = null;
	private readonly choices = new Latest();
	/** told of every view that came to rest */
	rested: () => void = () => undefined;

	constructor(private state: State = initialState()) {}

	get(): Readonly<State> {
		return this.state;
	}

	/**
	 * To be called by whoever will choose something once an answer is there: it may do so only while nothing else was chosen, nor begun to
	 * be. Each choice of the user ends what was begun before.
	 */
	choose(): Still {
		return this.choices.begin();
	}

	/** Changes some keys and tells everybody which ones really changed. */
	set(patch: Partial<State>): void {
		const changed = new Set<Key>();
		if (patch.selection !== undefined && choice(patch.selection) !== choice(this.state.selection)) this.choices.begin();
		for (const key of Object.keys(patch) as Key[])
			if (!same(this.state[key], patch[key])) changed.add(key);
		if (!changed.size) return;
		this.state = { ...this.state, ...patch };
		for (const f of [...this.listeners]) f(this.state, changed);
	}

	/** Returns a function that ends it. */
	listen(f: Listener): () => void {
		this.listeners.push(f);
		return () => {
			this.listeners = this.listeners.filter((g) => g !== f);
		};
	}

	/** To be called when a view came to rest: it can be gone back to from the next one. */
	settle(): void {
		const { t0, t1, scope } = this.state;
		const now = { t0, t1, scope };
		if (same(now, this.settled)) return;
		if (this.settled) {
			this.back.push(this.settled);
			if (this.back.length > HISTORY) this.back.shift();
			this.forth.length = 0;
		}
		this.settled = now;
		this.rested();
	}

	undo(): boolean {
		return this.step(this.back, this.forth);
	}

	redo(): boolean {
		return this.step(this.forth, this.back);
	}

	private step(from: View[], to: View[]): boolean {
		this.settle();
		const view = from.pop();
		if (!view) return false;
		if (this.settled) to.push(this.settled);
		this.settled = view;
		this.set(view);
		return true;
	}
}

function same(a: unknown, b: unknown): boolean {
	return a === b || (typeof a === 'object' && typeof b === 'object' && JSON.stringify(a) === JSON.stringify(b));
}

// --- the link ---

function number(text: string | undefined): number | undefined {
	return text !== undefined && /^\d{1,16}$/.test(text) ? Number(text) : undefined;
}

function encodeSelection(s: Selection, put: (key: string, value: string) => void): void {
	if (s.kind === 'slice' && s.track !== undefined && s.slice !== undefined) put('s', `${s.track}.${s.slice}`);
	else if (s.kind === 'code' && s.code !== undefined) put('r', String(s.code));
	else if (s.kind === 'line' && s.source !== undefined) put('l', `${s.source}.${s.line ?? 0}`);
	else if (s.kind === 'track' && s.track !== undefined) put('w', String(s.track));
	else if (s.kind === 'box' && s.tracks) put('x', `${s.t0},${s.t1},${ranges(s.tracks)}`);
	else if (s.kind === 'range') put('x', `${s.t0},${s.t1}`);
}

/** What was chosen, as text: equal for a selection and the same one with its line and times filled in later. */
export function choice(s: Selection | null): string {
	let text = '';
	if (s) encodeSelection(s, (key, value) => (text = key + value));
	return text;
}

/** The state as a fragment without '#': no token, nothing about this machine. */
export function encodeLink(s: Readonly<State>): string {
	const words: string[] = ['v=1'];
	const put = (key: string, value: string) => words.push(key + '=' + encodeURIComponent(value).replace(/%2C/g, ',').replace(/%3A/g, ':'));
	const fresh = initialState();
	put('h', s.hash);
	put('p', s.panel);
	put('n', s.beside ?? '-');
	put('t', `${Math.round(s.t0)},${Math.round(s.t1)}`);
	if (s.selection) encodeSelection(s.selection, put);
	put('c', s.mode);
	put('u', s.unit);
	if (s.arrows !== fresh.arrows) put('a', s.arrows);
	if (s.sort !== fresh.sort) put('o', s.sort);
	if (!s.isMerged) put('split', '1');
	if (s.kind !== fresh.kind) put('y', s.kind);
	if (s.align !== fresh.align) put('z', s.align);
	if (s.isStacked) put('k', '1');
	if (s.isGlobalOpen) put('g', '1');
	if (s.isLettered) put('j', '1');
	if (s.isCalled) put('i', '1');
	if (s.pins.length) put('pin', s.pins.join(','));
	if (s.hidden.length) put('hide', ranges(s.hidden));
	if (s.order.length) put('lanes', s.order.join(','));
	if (s.folded.length) put('fold', s.folded.join(','));
	if (s.query) put('q', s.query);
	if (s.markers.length) put('m', s.markers.map((m) => [m.t, m.dur, m.colour, m.name.replace(/[~:]/g, ' ')].join(':')).join('~'));
	if (s.scope !== null) put('d', String(s.scope));
	if (s.range) put('f', [`${s.range.t0},${s.range.t1}`, ...Object.entries(s.range.where).map(([level, set]) => `${level}:${set}`)].join('~'));
	if (s.base) put('b', s.base);
	return words.join('&');
}

function decodeMarkers(text: string): Marker[] {
	const out: Marker[] = [];
	for (const word of text.split('~')) {
		const [t, dur, colour, ...name] = word.split(':');
		if (number(t) === undefined) continue;
		out.push({ t: Number(t), dur: number(dur) ?? 0, colour: number(colour) ?? 0, name: name.join(':') });
	}
	return out.slice(0, 1000);
}

function decodeSelection(get: (key: string) => string | undefined): Selection | undefined {
	const slice = /^(\d{1,9})\.(\d{1,10})$/.exec(get('s') ?? '');
	if (slice) return { kind: 'slice', track: Number(slice[1]), slice: Number(slice[2]) };
	const row = number(get('r'));
	if (row !== undefined) return { kind: 'code', code: row };
	const line = /^(\d{1,9})\.(\d{1,9})$/.exec(get('l') ?? '');
	if (line) return { kind: 'line', source: Number(line[1]), line: Number(line[2]) };
	const track = number(get('w'));
	if (track !== undefined) return { kind: 'track', track };
	const [a, b, ...rest] = (get('x') ?? '').split(',');
	const t0 = number(a), t1 = number(b);
	if (t0 === undefined || t1 === undefined) return undefined;
	return rest.length ? { kind: 'box', t0, t1, tracks: parseRanges(rest.join(',')) } : { kind: 'range', t0, t1 };
}

/** "1000,2000~se:0-1": as much of it as makes sense. */
function decodeRange(text: string): Range | undefined {
	const [times, ...places] = text.split('~'), [t0, t1] = times.split(',').map(number), where: Record<string, string> = {};
	if (t0 === undefined || t1 === undefined || t1 <= t0) return undefined;
	for (const p of places) {
		const m = /^([a-z]{1,8}):([\d,-]{1,200})$/.exec(p);
		if (m) where[m[1]] = m[2];
	}
	return { t0, t1, where };
}

/** What a fragment says; unknown keys and values that make no sense are left out. */
export function decodeLink(fragment: string): Partial<State> {
	const words = new Map<string, string>();
	for (const word of fragment.replace(/^#/, '').split('&')) {
		const at = word.indexOf('=');
		if (at <= 0) continue;
		try {
			words.set(word.slice(0, at), decodeURIComponent(word.slice(at + 1)));
		} catch { /* a broken escape: as if it were not there */ }
	}
	const get = (key: string) => words.get(key);
	const oneOf = <T extends string>(key: string, all: readonly T[]) => all.find((v) => v === get(key));
	const numbers = (text: string) => text.split(',').map(number).filter((v): v is number => v !== undefined);
	const [t0, t1] = (get('t') ?? '').split(',').map(number);
	const out: Partial<State> = {
		hash: get('h'), base: get('b'), panel: get('p')?.match(/^[a-z]+$/)?.[0], beside: get('n') === '-' ? null : get('n')?.match(/^[a-z]+$/)?.[0], selection: decodeSelection(get), mode: oneOf('c', MODES),
		unit: oneOf('u', UNITS), arrows: oneOf('a', ARROWS), sort: oneOf('o', SORTS), isMerged: get('split') === '1' ? false : undefined, kind: oneOf('y', ['waves', 'units', 'machine'] as const), align: oneOf('z', ALIGNS), isStacked: get('k') === '1' ? true : undefined, isGlobalOpen: get('g') === '1' ? true : undefined, isLettered: get('j') === '1' ? true : undefined, isCalled: get('i') === '1' ? true : undefined,
		pins: get('pin') === undefined ? undefined : numbers(get('pin')!), hidden: get('hide') === undefined ? undefined : parseRanges(get('hide')!),
		order: get('lanes') === undefined ? undefined : numbers(get('lanes')!), folded: get('fold')?.split(',').filter((f) => /^[\d.]+$/.test(f)),
		query: get('q'), markers: get('m') === undefined ? undefined : decodeMarkers(get('m')!), scope: number(get('d')), range: get('f') === undefined ? undefined : decodeRange(get('f')!),
	};
	if (t0 !== undefined && t1 !== undefined && t1 > t0) Object.assign(out, { t0, t1 });
	for (const key of Object.keys(out) as Key[]) if (out[key] === undefined) delete out[key];
	return out;
}
