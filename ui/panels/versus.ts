// SPDX-License-Identifier: Apache-2.0
// versus.ts: the same figure of two captures: A (shown), B (compared with), Δ and Δ%. Both figures are answers of the program, per execution or
// as a share, so that captures of unequal length compare; only the subtraction happens here, where `incore diff` does not have it. Cycles stay cycles whatever the unit is: two clocks
// may differ.
import { App } from '../app';
import { h } from '../base/dom';
import { count, share } from '../base/format';
import { Column } from '../base/table';
import { baseCapture, captureNames } from '../source';
import { DiffPart } from './types';

export interface Pair { a: number | null; b: number | null; change?: number | null; change_pct?: number | null; verdict?: string }

/** What a figure is: its unit, its digits, and whether more of it is worse (1), better (-1) or neither (0). */
export interface Figure { unit: string; title: string; digits?: number; sense?: number; /** percent as they are, not parts of 1 */ isRaw?: boolean }
const PER_HIT: Figure = { unit: 'cyc/exec', title: 'cycles per execution', digits: 2, sense: 1 };
export const PER_WAIT: Figure = { unit: 'cyc/wait', title: 'cycles waited, per wait' };
/** A part of a whole, as parts of 1. */
export const SHARE: Figure = { unit: '%', title: 'share of the whole', sense: 0 };

/** Number of the capture that comparison was switched on with, or -1. */
export function baseline(app: App): number {
	return baseCapture(app.trace, app.store.get().base)?.index ?? -1;
}

/** A or B with its name, in its own colour. */
export function sideChip(app: App, side: 'A' | 'B', index = side === 'A' ? app.trace.index : baseline(app)): HTMLElement {
	const name = captureNames(app.trace.captures)[index] ?? '';
	return h('span', { class: `side side-${side.toLowerCase()}`, title: app.trace.captures[index]?.path ?? '' }, h('strong', null, side), ' ', name);
}

/** What moved most, in one line; null where nothing did. */
export function headline(parts: readonly DiffPart[]): string | null {
	const top = parts.filter((p) => p.change !== null && p.contribution && Math.abs(p.change) >= 0.005).sort((a, b) => rank(b) - rank(a) || Math.abs(b.contribution!) - Math.abs(a.contribution!))[0];
	if (!top) return null;
	const sign = top.change! > 0 ? '+' : '', what = top.row_a === null ? top.key : `row ${top.row_a}`;
	return `${what}: ${sign}${count(top.change!, Math.abs(top.change!) < 10 ? 2 : 0)} cycles an execution${top.per_hit_a ? `, ${sign}${share(top.change!, top.per_hit_a)}` : ''}${isNoise(top.verdict) ? ', within the noise' : ''}`;
}

const rank = (p: DiffPart) => (p.verdict === 'beyond-noise' ? 2 : isNoise(p.verdict) ? 0 : 1);

/** Number of the capture shown, for questions that are not a verb's; undefined for the first. */
export function capture(app: App): number | undefined {
	return app.trace.index || undefined;
}

/** What the other capture answers to the same question; null while nothing is compared, or where it has no answer. */
export async function otherData<T>(app: App, name: string, query = {}): Promise<T | null> {
	return baseline(app) < 0 ? null : app.baseVerb<T>(name, query).then((a) => a.data, () => null);
}

/** A part that ran on one side only has no figure on the other, and no change: 0 would say that it became free. */
function known(p: DiffPart): DiffPart {
	return p.verdict === 'not-comparable' ? { ...p, per_hit_a: p.hit_a ? p.per_hit_a : null, per_hit_b: p.hit_b ? p.per_hit_b : null, change: null, contribution: null } : p;
}

/** What `incore diff` says, part by part; fails where the two cannot be compared. */
export async function diffAnswer<T>(app: App, by: string, base = baseline(app)): Promise<T> {
	const { data } = await app.verb<T & { parts?: DiffPart[] }>('diff', { base, by, top: 'all' });
	return data.parts ? { ...data, parts: data.parts.map(known) } : data;
}

/** Parts of `incore diff`, by row number (instr) or by key; empty while nothing is compared, or where it cannot be. */
export async function diffParts(app: App, by: string): Promise<Map<string, DiffPart>> {
	const out = new Map<string, DiffPart>();
	const answer = baseline(app) < 0 ? null : await diffAnswer<{ parts: DiffPart[] }>(app, by).catch(() => null);
	for (const p of answer?.parts ?? []) if (by !== 'instr') out.set(p.key, p);
	else if (p.row_a !== null) out.set(String(p.row_a), p);
	return out;
}

export function pairOf(p: DiffPart | undefined): Pair | undefined {
	return p && { a: p.per_hit_a, b: p.per_hit_b, change: p.change, verdict: p.verdict };
}

function changeOf(p: Pair): number | null {
	return p.change !== undefined ? p.change : p.a === null || p.b === null ? null : p.b - p.a;
}

/** Inside the noise floor: grey. */
export function isNoise(verdict: string | undefined): boolean {
	return verdict === 'within-noise';
}

/** A difference with sign, triangle and colour. Hollow: no repeats, so nobody knows whether it is more than noise. */
export function change(v: number | null, verdict: string | undefined, digits = 2, sense = 1): HTMLElement | string {
	if (v === null) return '-';
	const text = count(v, digits), isSame = Number(text) === 0, isSure = verdict === 'beyond-noise';
	const word = isSame || isNoise(verdict) ? 'same' : !sense ? 'changed' : v * sense > 0 ? 'worse' : 'better';
	const title = isSame ? 'the same' : isNoise(verdict) ? 'inside the noise floor' : isSure ? word : `${word}; no repeat of either capture, so no claim that it is more than noise`;
	return h('span', { class: 'delta ' + word, title }, isSame ? '' : v > 0 ? (isSure ? '▲ ' : '△ ') : isSure ? '▼ ' : '▽ ', (v > 0 && !isSame ? '+' : '') + text);
}

function percent(p: Pair): string {
	const d = changeOf(p);
	if (d === null) return p.change === undefined || (p.a === null) === (p.b === null) ? '-' : p.a === null ? 'added' : 'removed';
	return d === 0 ? '0.0' : p.change_pct ? (d > 0 ? '+' : '') + share(p.change_pct, 100, false) : p.a ? (d > 0 ? '+' : '') + share(d, Math.abs(p.a), false) : '-';
}

/** The four cells of a pair, as they are shown. */
function cells(p: Pair, f: Figure): [string, string, HTMLElement | string, string] {
	const times = f.unit.endsWith('%') && !f.isRaw ? 100 : 1, digits = f.digits ?? 2, d = changeOf(p);
	const one = (v: number | null) => (v === null ? '-' : count(v * times, digits));
	return [one(p.a), one(p.b), change(d === null ? null : d * times, p.verdict, digits, f.sense ?? 1), percent(p)];
}

/** A, B, Δ, Δ% of each row of a table. */
export function versusColumns<R>(pair: (row: R) => Pair | undefined, f: Figure = PER_HIT): Column<R>[] {
	const values: ((p: Pair) => number | null)[] = [(p) => p.a, (p) => p.b, changeOf, (p) => (changeOf(p) !== null && p.a ? changeOf(p)! / p.a : null)];
	const titles = [`${f.title}, here`, `${f.title}, in the other capture`, `change of: ${f.title}; grey inside the noise`, `the change, in % of A`];
	return ['diff-a', 'diff-b', 'diff', 'diff-pct'].map((id, i) => ({
		id, head: ['A', 'B', 'Δ', 'Δ'][i], isNumber: true, width: ['5rem', '5rem', '6rem', '5rem'][i], title: titles[i], unit: () => (i === 3 ? '%' : i === 2 && f.unit.endsWith('%') ? 'points' : f.unit),
		value: (r) => (pair(r) ? values[i](pair(r)!) : null), cell: (r) => (pair(r) ? h('span', { class: isNoise(pair(r)!.verdict) ? 'delta same' : '' }, cells(pair(r)!, f)[i]) : ''),
	}));
}

/** The same from the parts of `incore diff`. */
export function diffColumns<R>(part: (row: R) => DiffPart | undefined): Column<R>[] {
	return versusColumns((r) => pairOf(part(r)));
}

/** Of rows that both captures have, by key; none without rows of the other. */
export function against<R>(there: R[] | null | undefined, key: (row: R) => string | number, figure: (row: R) => number | null | undefined, f: Figure): Column<R>[] {
	if (!there) return [];
	const found = new Map(there.map((r) => [key(r), r]));
	return versusColumns((r) => ({ a: figure(r) ?? null, b: found.has(key(r)) ? figure(found.get(key(r))!) ?? null : null }), f);
}

/** Heads and cells for tables that are written out. */
export function versusHeads(f: Figure = PER_HIT): HTMLElement[] {
	return ['A', 'B', 'Δ', 'Δ %'].map((name) => h('th', { class: 'num', title: f.title }, name, name === 'A' && h('span', { class: 'unit' }, ' ' + f.unit)));
}

export function versusCells(p: Pair | undefined, f: Figure = PER_HIT): HTMLElement[] {
	return (p ? cells(p, f) : ['', '', '', '']).map((c, i) => h('td', { class: 'num' + (p && isNoise(p.verdict) ? ' delta same' : ''), attrs: { 'data-versus': ['a', 'b', 'change', 'pct'][i] } }, c));
}

/** Named figures of both captures. */
export function figures(label: string, rows: [string, Pair, Figure][]): HTMLElement {
	return h('table', { class: 'plain versus', attrs: { 'aria-label': label } }, h('thead', null, h('tr', null, h('th', null, 'figure'), ['A', 'B', 'Δ', 'Δ %'].map((n) => h('th', { class: 'num' }, n)), h('th', null, 'unit'))),
		h('tbody', null, rows.filter(([, p]) => p.a !== null || p.b !== null).map(([name, p, f]) => h('tr', { title: f.title }, h('th', { attrs: { scope: 'row' } }, name), versusCells(p, f), h('td', { class: 'dim' }, f.unit)))));
}
