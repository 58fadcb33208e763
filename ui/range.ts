// SPDX-License-Identifier: Apache-2.0
// range.ts: the part of the trace that all figures are of: made of a typed one or of a box, and said in words. Which waves a range is of is
// told to the verbs by the levels of their coordinates, so a box over lanes narrows to them where sets of coordinates name just those.
import { App } from './app';
import { count } from './base/format';
import { parseRanges, ranges, TraceInfo } from './source';
import { Range, Selection } from './state';

/** Levels that verbs have options for, by number. */
const LEVELS = ['se', 'cu', 'simd', 'slot', 'wave'];

/** Sets of coordinates that name these tracks and, of those alive in [t0, t1), no other; null where no sets do. */
export function placeOf(trace: TraceInfo, tracks: readonly number[], t0: number, t1: number, scope: number | null = null): Record<string, string> | null {
	const alive = trace.tracks.filter((t) => t.end > t0 && t.begin < t1 && (scope === null || t.kernel === null || t.kernel === scope)), wanted = new Set(tracks);
	const depth = trace.levels.every((l) => LEVELS.includes(l)) ? trace.levels.length : 0, sets = Array.from({ length: depth }, () => new Set<number>());
	for (const t of alive) if (wanted.has(t.index)) sets.forEach((s, i) => s.add(t.coord[i]));
	if (alive.some((t) => wanted.has(t.index) !== sets.every((s, i) => s.has(t.coord[i])))) return null;
	const where: Record<string, string> = {};
	sets.forEach((s, i) => {
		if (alive.some((t) => !s.has(t.coord[i]))) where[trace.levels[i]] = ranges([...s]);
	});
	return where;
}

/** "1000-2000", "cycles 1,000 to 2,000", "SE0 1000-2000", "SE0 CU1-2 1000-2000"; null: it is no range. */
export function parseRange(text: string): Range | null {
	const m = /^((?:(?:se|cu|simd|slot|wave)\s*[\d,-]+\s+)*)(?:cycles?\s+)?([\d_]{1,16}|\d{1,3}(?:,\d{3})+)\s*(?:-|\u2013|\.\.|to)\s*([\d_]{1,16}|\d{1,3}(?:,\d{3})+)$/i.exec(text.trim());
	if (!m) return null;
	const number = (s: string) => Number(s.replace(/[,_]/g, '')), where: Record<string, string> = {};
	for (const w of m[1].matchAll(/(se|cu|simd|slot|wave)\s*([\d,-]+)/gi)) where[w[1].toLowerCase()] = w[2];
	return { t0: number(m[2]), t1: number(m[3]), where };
}

/** "SE0 CU1-2"; empty: everywhere. */
function placeWords(where: Readonly<Record<string, string>>): string {
	return Object.entries(where).map(([level, set]) => (level.length < 3 || level === 'simd' ? level.toUpperCase() : level + ' ') + set).join(' ');
}

/** "cycles 1,000 to 2,000 of SE0". */
export function rangeWords(r: Range): string {
	return `cycles ${count(r.t0)} to ${count(r.t1)}${Object.keys(r.where).length ? ' of ' + placeWords(r.where) : ''}`;
}

/** Narrows everything to a range; says why where that is not possible. null: to the whole trace again. */
export function narrow(app: App, r: Range | null): string {
	const { trace, store } = app;
	if (r && app.source.kind === 'report') return 'a report carries the figures of the whole trace: incore view narrows them to a range';
	if (r && r.t1 <= r.t0) return `cycle ${count(r.t1)} is not after ${count(r.t0)}`;
	if (r && r.t0 >= trace.span.end) return `the trace ends at cycle ${count(trace.span.end)}`;
	const unknown = r && Object.keys(r.where).find((level) => !trace.levels.includes(level));
	if (unknown) return `the lanes of this capture have no ${unknown.toUpperCase()}: ${trace.levels.join(', ')}`;
	const sets = r && trace.levels.map((level) => (r.where[level] === undefined ? null : new Set(parseRanges(r.where[level]))));
	if (r && sets && !trace.tracks.some((t) => t.end > r.t0 && t.begin < r.t1 && sets.every((set, i) => !set || set.has(t.coord[i])))) return `nothing ran in ${rangeWords(r)}`;
	store.set({ range: r && { ...r, t1: Math.min(r.t1, trace.span.end) } });
	return '';
}

/** The range of a box or of a stretch of time; null: it says none. */
export function rangeOf({ trace, store }: App, s: Selection): Range | null {
	if ((s.kind !== 'box' && s.kind !== 'range') || s.t0 === undefined || s.t1 === undefined || !trace.tracks.length) return null;
	return { t0: s.t0, t1: s.t1, where: s.tracks ? placeOf(trace, s.tracks, s.t0, s.t1, store.get().scope) ?? {} : {} };
}

/** Selects a box or a stretch of time, and narrows everything to it. */
export function chooseRange(app: App, s: Selection): void {
	const range = rangeOf(app, s);
	app.select(s);
	if (range && app.source.kind !== 'report' && !narrow(app, range)) app.say(`Figures are now of ${rangeWords(range)}; Esc twice shows those of the whole trace`, true);
}
