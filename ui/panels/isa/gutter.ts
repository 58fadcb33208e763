// SPDX-License-Identifier: Apache-2.0
// gutter.ts: arrows beside the listing: which lane each one runs in, and what a row's piece of the picture is. Waits are dashed and point
// at the producer, branches are solid and point at the target.
import { s } from '../../base/dom';

export interface Arrow {
	/** positions in the listing */
	from: number;
	to: number;
	kind: 'wait' | 'branch';
	weight: number;
	title: string;
}

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

/** The arrow of a lane at a position, or undefined. */
export function arrowAt(lane: readonly Arrow[], at: number): Arrow | undefined {
	let low = 0, high = lane.length;
	while (low < high) {
		const mid = (low + high) >> 1;
		if (ends(lane[mid])[0] <= at) low = mid + 1;
		else high = mid;
	}
	const a = lane[low - 1];
	return a && at <= ends(a)[1] ? a : undefined;
}

export function width(l: Lanes): number {
	return l.count ? l.count * STEP + 12 : 0;
}

/** The piece of all arrows that crosses one row. */
export function piece(l: Lanes, at: number, height: number, isChosen: (a: Arrow) => boolean): SVGElement {
	const w = width(l), mid = height / 2;
	const g = s('svg', { class: 'gutter', attrs: { width: w, height, viewBox: `0 0 ${w} ${height}`, 'aria-hidden': true } });
	l.lanes.forEach((lane, i) => {
		const a = arrowAt(lane, at);
		if (!a) return;
		const x = w - 10 - (i + 1) * STEP + 0.5, [low, high] = ends(a);
		const up = at > low ? 0 : mid, down = at < high ? height : mid;
		const look = `arrow ${a.kind}${isChosen(a) ? ' chosen' : ''}`;
		const d = [`M${x} ${up}V${down}`];
		if (at === a.from || at === a.to) d.push(`M${x} ${mid}H${w - 2}`);
		if (at === a.to) d.push(`M${w - 6} ${mid - 3}L${w - 2} ${mid}L${w - 6} ${mid + 3}`);
		g.appendChild(s('path', { class: look, attrs: { d: d.join('') } }, s('title', null, a.title)));
	});
	return g;
}
