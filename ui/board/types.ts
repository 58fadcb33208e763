// SPDX-License-Identifier: Apache-2.0
// types.ts: names for the parts of what the server of a store answers, and words for them. What is in them stands in answers.ts, made from the schemas.
import { StoreAnswer } from '../answers';
import { count } from '../base/format';
import { Held } from '../panels/types';

export interface Answer<T> { input: { store: string; from: number; total: number }; data: T; warnings: string[] }

export type Overview = Extract<StoreAnswer, { arches: unknown }>;
export type NameCount = Held<Overview['arches']>;
/** Of `store gate`, with the newest figure and a small picture. */
export type Line = Held<Overview['series']>;
/** Captures of equal kernel, architecture, evidence and labels. */
export type Series = Pick<Line, 'kernel' | 'arch' | 'evidence' | 'labels' | 'figure' | 'captures' | 'noise' | 'noise_pct' | 'accepted'>;
export type Acceptance = Held<Series['accepted']>;
export type Mover = Held<Line['movers']>;
/** What got worse; `cost` is what the newest captures take above the level before it. */
export type Regression = Held<Extract<StoreAnswer, { is_passed: unknown; regressions: unknown }>['regressions']>;
export type History = Held<Extract<Extract<StoreAnswer, { series: unknown }>['series'], { points: unknown }[]>>;
export type Point = Held<History['points']>;
export type Change = Held<History['changes']>;
export type Shown = Extract<StoreAnswer, { findings: unknown }>;
export type FileRow = Held<Extract<StoreAnswer, { files: unknown }>['files']>;

/** What the gate says, with the figures of `incore store gate`. */
export function gateWords(o: Overview): string {
	const kernels = (n: number) => `${n} ${n === 1 ? 'kernel is' : 'kernels are'}`;
	return o.is_passed ? `Gate passed: no kernel is worse than its noise allows${o.accepted ? `, ${kernels(o.accepted)} accepted as worse` : ''}` : `Gate failed: ${[o.worse > 0 && `${kernels(o.worse)} newly worse`, o.standing > 0 && `${kernels(o.standing)} worse since earlier captures`].filter(Boolean).join(', ')}`;
}

/** Who lets it pass, when and why. */
export function acceptedWords(a: Acceptance): string {
	return `accepted ${minute(a.time)} by ${a.who}, ${a.figure} up to ${count(a.level)} of capture ${a.capture}: ${a.because}`;
}

/** What is known of a regression beside its figures. */
export function stateWords(r: Regression): string {
	const accepted = r.accepted.find((a) => a.acceptance === r.acceptance);
	return `${r.state}${r.is_same_code ? '' : ', other code'}${accepted ? `, ${acceptedWords(accepted)}` : ''}`;
}

/** What the page shows; it stands in the address. */
export interface Place {
	/** a capture of the series that is shown; 0: none */
	series: number;
	/** the capture that a change begins with, or one that is looked at; 0: none */
	change: number;
	point: number;
	/** '': what is worse where something is, else the kernels */
	tab: '' | 'kernels' | 'worse';
	isAll: boolean;
	kernel: string;
	arch: string;
	/** key=value, by comma */
	labels: string;
	figure: string;
}

export const NOWHERE: Place = { series: 0, change: 0, point: 0, tab: '', isAll: false, kernel: '', arch: '', labels: '', figure: '' };

export function encodePlace(p: Place): string {
	const words: string[] = [], put = (key: string, value: string | number) => value && words.push(`${key}=${encodeURIComponent(String(value))}`);
	put('s', p.series);
	put('c', p.change);
	put('x', p.point);
	put('tab', p.tab);
	put('all', p.isAll ? 1 : '');
	put('k', p.kernel);
	put('arch', p.arch);
	put('l', p.labels);
	put('f', p.figure);
	return words.join('&');
}

export function decodePlace(fragment: string): Place {
	const words = new Map<string, string>();
	for (const word of fragment.replace(/^#/, '').split('&')) {
		const at = word.indexOf('=');
		try {
			if (at > 0) words.set(word.slice(0, at), decodeURIComponent(word.slice(at + 1)));
		} catch { /* a broken escape: as if it were not there */ }
	}
	const text = (key: string) => words.get(key) ?? '', number = (key: string) => (/^\d{1,15}$/.test(text(key)) ? Number(text(key)) : 0);
	return { series: number('s'), change: number('c'), point: number('x'), tab: text('tab') === 'worse' || text('tab') === 'kernels' ? (text('tab') as Place['tab']) : '', isAll: text('all') === '1', kernel: text('k'), arch: text('arch'), labels: text('l'), figure: text('f') };
}

/** "+12.30 %"; a missing one is a dash. */
export function percentText(v: number | null): string {
	return v === null ? '-' : `${v > 0 ? '+' : ''}${v.toFixed(2)} %`;
}

/** Colour is never alone: the sign stands before the figure, and an arrow where it is beyond noise. */
export function harm(v: number | null): 'worse' | 'better' | 'same' {
	return v === null || v === 0 ? 'same' : v > 0 ? 'worse' : 'better';
}

/** "2026-11-18 03:53" of "2026-11-18T03:53:44Z". */
export function minute(time: string | null): string {
	return time ? time.slice(0, 16).replace('T', ' ') : '-';
}

export function nameOf(s: Series): string {
	return s.kernel ?? '(no name)';
}

/** "turn on sm_90, hardware-sample, size=2048" */
export function seriesWords(s: Series): string {
	return `${nameOf(s)}${s.arch ? ` on ${s.arch}` : ''}, ${s.evidence}${s.labels ? `, ${s.labels}` : ''}`;
}
