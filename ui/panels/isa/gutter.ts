// SPDX-License-Identifier: Apache-2.0
// gutter.ts: arrows beside the listing: which lane each one runs in, and what a row's piece of the picture is. Waits are dashed and point
// at the producer, branches are solid and point at the target.
import { s } from '../../base/dom';
import { Edge } from '../types';

export interface Arrow {
	/** positions in the listing */
	from: number;
	to: number;
	kind: 'wait' | 'branch';
	weight: number;
	title: string;
}

/** What a wait waited for most; null: nothing is known. */
export function dearest(edges: readonly Edge[]): Edge | null {
	return edges.reduce<Edge | null>((m, x) => (!m || x.cycles > m.cycles ? x : m), null);
}

/** A row of the list: one position of the listing, or all that is folded into it. */
export interface Stretch { at: number; until: number }

export interface Lanes { count: number; lanes: Arrow[][]; left: number }
const MOST = 7, STEP = 7, CONSIDERED = 1000;

function ends(a: Arrow): [number, number] {
	return a.from < a.to ? [a.from, a.to] : [a.to, a.from];
}

/** The heaviest arrows get a lane; what does not fit is counted in `left`. */
export function layout(arrows: readonly Arrow[], most = MOST): Lanes {
	const lanes: Arrow[][] = [];
	let left = 0;
	const heavy = [...arrows].sort((a, b) => b.weight - a.weight || a.from - b.from || a.to - b.to);
	left += Math.max(0, heavy.length - CONSIDERED);
	for (const a of heavy.slice(0, CONSIDERED)) {
		const [low, high] = ends(a);
		const lane = lanes.findIndex((l) => !l.some((b) => ends(b)[0] <= high && low <= ends(b)[1]));
		if (lane >= 0) lanes[lane].push(a);
		else if (lanes.length < most) lanes.push([a]);
		else left++;
	}
	for (const l of lanes) l.sort((a, b) => ends(a)[0] - ends(b)[0]);
	return { count: lanes.length, lanes, left };
}

/** The last of a sorted list that begins at or before a position, or -1. */
function before<T>(list: readonly T[], at: number, begin: (x: T) => number): number {
	let low = 0, high = list.length;
	while (low < high) {
		const mid = (low + high) >> 1;
		if (begin(list[mid]) <= at) low = mid + 1;
		else high = mid;
	}
	return low - 1;
}

/** The arrow of a lane at a position, or undefined. */
export function arrowAt(lane: readonly Arrow[], at: number): Arrow | undefined {
	const a = lane[before(lane, at, (x) => ends(x)[0])];
	return a && at <= ends(a)[1] ? a : undefined;
}

export function width(l: Lanes): number {
	return l.count ? l.count * STEP + 12 : 0;
}

/** What crosses a row, in words. */
export function say(l: Lanes, at: number): string {
	return l.lanes.map((lane) => arrowAt(lane, at)?.title).filter(Boolean).join('\n');
}

/** All arrows beside the rows in sight, in one picture of four paths. */
export class Gutter {
	readonly element = s('svg', { class: 'gutter', attrs: { 'aria-hidden': true } });
	private readonly paths = new Map<string, SVGPathElement>();

	constructor(private readonly lanes: Lanes, private readonly height: number) {
		for (const look of ['branch', 'wait', 'branch chosen', 'wait chosen'])
			this.paths.set(look, this.element.appendChild(s('path', { class: 'arrow ' + look })));
		this.element.setAttribute('width', String(width(lanes)));
	}

	/** rows: the positions in the listing that each row in sight stands for; row k has its top at (first + k) * height. */
	draw(rows: readonly Stretch[], first: number, isChosen: (a: Arrow) => boolean): void {
		const parts = new Map<string, string[]>(), w = width(this.lanes), tall = this.height, n = rows.length, last = n ? rows[n - 1].until : -1;
		this.lanes.lanes.forEach((lane, i) => {
			const x = w - 10 - (i + 1) * STEP + 0.5;
			for (let k = n ? Math.max(0, before(lane, rows[0].at, (a) => ends(a)[0])) : lane.length; k < lane.length && ends(lane[k])[0] <= last; k++) {
				const a = lane[k], [low, high] = ends(a), from = before(rows, low, (r) => r.at), to = before(rows, high, (r) => r.at);
				if (to < 0 || (from >= 0 && from === to && high <= rows[to].until)) continue; // above, or inside what is folded
				const y = (row: number) => row * tall + tall / 2, look = a.kind + (isChosen(a) ? ' chosen' : '');
				const out = parts.get(look) ?? parts.set(look, []).get(look)!;
				out.push(`M${x} ${from < 0 ? 0 : y(from)}V${high > last ? n * tall : y(to)}`);
				for (const [row, at] of [[from, low], [to, high]] as const) {
					if (row < 0 || at > rows[row].until) continue;
					out.push(`M${x} ${y(row)}H${w - 2}`);
					if (at === a.to) out.push(`M${w - 6} ${y(row) - 3}L${w - 2} ${y(row)}L${w - 6} ${y(row) + 3}`);
				}
			}
		});
		for (const [look, path] of this.paths) path.setAttribute('d', parts.get(look)?.join('') ?? '');
		this.element.setAttribute('height', String(n * tall));
		this.element.style.top = first * tall + 'px';
	}
}
