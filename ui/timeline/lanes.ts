// SPDX-License-Identifier: Apache-2.0
// lanes.ts: which lanes there are, in which order, how high, and where. Pure: from the tracks and the state alone.
import { isTimeline, Track, TraceInfo } from '../source';
import { LaneSort, State } from '../state';

export interface Lane {
	/** its first track: how state and links name it */
	id: number;
	/** tracks it shows, one after the other in time (a slot's waves) */
	tracks: number[];
	label: string;
	/** smaller words beside the label */
	detail: string;
	group: string;
	isPinned: boolean;
	/** sub-lanes, for pipes whose slices overlap */
	lanes: number;
	/** colour slots it shows, issue alone; null: everything */
	only: ReadonlySet<number> | null;
	/** what it shows is no measurement */
	isModelled: boolean;
}

export interface Row {
	kind: 'group' | 'lane';
	top: number;
	height: number;
	lane: Lane | null;
	/** path of the group ("0.1"), its words, how many lanes */
	group: string;
	label: string;
	count: number;
	isFolded: boolean;
	isOdd: boolean;
}

export interface Layout { rows: Row[]; height: number; pinned: number; hiddenCount: number }

export const GROUP_HEIGHT = 24;

const SHORT: Record<string, string> = { se: 'SE', cu: 'CU', simd: 'SIMD', slot: 'slot ', wave: 'wave ', core: 'core ', unit: 'unit ', pipe: 'pipe ' };

function word(level: string, n: number): string {
	return (SHORT[level] ?? level + ' ') + n;
}

/** Do tracks bear names of their producer's, "group/lane"? Waves are called by where they ran. */
function isNamed(trace: TraceInfo): boolean {
	return trace.has_pipes || isTimeline(trace);
}

/** Levels that make up a group's head; the rest names the lane. */
function groupDepth(trace: TraceInfo, isMerged: boolean): number {
	if (isTimeline(trace)) return 1;
	if (trace.has_pipes) return Math.max(1, trace.levels.length - 1);
	return Math.max(1, Math.min(2, trace.levels.length - (isMerged ? 2 : 1)));
}

/** "SE0 CU1", "core0.veccore1" or "python (pid 7)". */
export function groupLabel(trace: TraceInfo, t: Track, depth: number): string {
	const slash = t.name.indexOf('/');
	if (isNamed(trace) && slash > 0) return t.name.slice(0, slash);
	return t.coord.slice(0, depth).map((c, i) => word(trace.levels[i], c)).join(' ');
}

function laneLabel(trace: TraceInfo, t: Track, depth: number, isMerged: boolean): string {
	const slash = t.name.indexOf('/'), nested = isTimeline(trace) ? t.coord[trace.levels.length - 1] : 0;
	if (nested) return `[${nested}]`; // below its thread
	if (isNamed(trace)) return slash > 0 ? t.name.slice(slash + 1) : t.name;
	const end = isMerged ? trace.levels.length - 1 : trace.levels.length;
	return t.coord.slice(depth, end).map((c, i) => word(trace.levels[depth + i], c)).join(' ') || t.name;
}

/** Full name of a track, as panels and tooltips say it: "SE0 CU1 SIMD2 slot 0 wave 3". */
export function trackName(trace: TraceInfo, index: number): string {
	const t = trace.tracks[index];
	if (!t) return 'track ' + index;
	if (isNamed(trace)) return t.name;
	return t.coord.slice(0, trace.levels.length).map((c, i) => word(trace.levels[i], c)).join(' ');
}

/** Tracks of one slot that do not overlap share a lane; those that do each get one. */
export function makeLanes(trace: TraceInfo, isMerged: boolean, scope: number | null): Lane[] {
	const depth = groupDepth(trace, isMerged), out: Lane[] = [];
	const shown = trace.tracks.filter((t) => scope === null || t.kernel === scope || t.kernel === null);
	let last: Lane | null = null, lastEnd = 0, lastKey = '';
	for (const t of shown) {
		const key = isMerged && !isNamed(trace) ? t.coord.slice(0, trace.levels.length - 1).join('.') : String(t.index);
		if (last && key === lastKey && t.begin >= lastEnd) {
			last.tracks.push(t.index);
			last.detail = `${last.tracks.length} waves`;
		} else {
			last = {
				id: t.index, tracks: [t.index], label: laneLabel(trace, t, depth, isMerged), detail: '', group: t.coord.slice(0, depth).join('.'),
				isPinned: false, lanes: t.lanes, only: null, isModelled: false,
			};
			out.push(last);
		}
		lastEnd = Math.max(t.end, t.begin);
		lastKey = key;
	}
	return out;
}

/** Waves of slots may share lanes, and SIMDs have units to be lanes. */
export function hasSlots(trace: TraceInfo): boolean {
	return trace.levels.includes('slot');
}
export function hasUnits(trace: TraceInfo): boolean {
	return trace.levels.includes('simd');
}

const PASSES = 'MATRIX passes';
/** Execution units of a SIMD, by the slots of what they execute; in the order of the answer `units`. A matrix instruction issues in a few cycles and keeps its pipe for many. */
const UNITS: [string, string[]][] = [['VALU', ['valu']], ['MATRIX', ['matrix']], [PASSES, ['matrix']], ['LDS', ['lds', 'cross-lane']], ['VMEM', ['vmem', 'store']], ['SALU', ['scalar']], ['SMEM', ['smem']], ['BRANCH', ['branch']], ['MSG and other', ['other']]];
/** Ids of unit lanes begin here: they share the numbers' space with tracks in links. */
export const UNIT_LANES = 0x1000000;

/** One lane a SIMD and unit, numbered over all SIMDs: when its instructions issued, whichever wave they were of. Stalls are left out. */
export function makeUnits(trace: TraceInfo, scope: number | null): Lane[] {
	const at = trace.levels.indexOf('simd'), simds = new Map<string, Track[]>(), out: Lane[] = [];
	for (const t of trace.tracks) {
		const key = t.coord.slice(0, at + 1).join('.'), had = simds.get(key) ?? simds.set(key, []).get(key)!;
		if (scope === null || t.kernel === null || t.kernel === scope) had.push(t);
	}
	[...simds.values()].forEach((tracks, simd) => {
		if (tracks.length) UNITS.forEach(([label, slots], unit) =>
			(label !== PASSES || trace.has_matrix_passes) && out.push({
				id: UNIT_LANES + simd * UNITS.length + unit, tracks: tracks.map((t) => t.index), label, detail: label === PASSES ? 'modelled' : '', group: tracks[0].coord.slice(0, at + 1).join('.'),
				isPinned: false, lanes: 1, only: new Set(slots.map((s) => trace.slots.indexOf(s))), isModelled: label === PASSES,
			}));
	});
	return out;
}

/** Name of a lane on its own: in a pin, sorted, or in a tooltip. */
export function laneName(trace: TraceInfo, lane: Lane): string {
	const first = trace.tracks[lane.tracks[0]];
	return lane.only ? `${groupLabel(trace, first, trace.levels.indexOf('simd') + 1)} ${lane.label}` : trackName(trace, lane.id);
}

/** Cycles stalled on a track, where the waves' answer gave them. */
export type StallOf = (track: number) => number;

function compare(trace: TraceInfo, sort: LaneSort, stall: StallOf): (a: Lane, b: Lane) => number {
	const sum = (l: Lane, f: (t: Track) => number) => l.tracks.reduce((n, i) => n + f(trace.tracks[i]), 0);
	const first = (l: Lane) => trace.tracks[l.tracks[0]];
	if (sort === 'start') return (a, b) => first(a).begin - first(b).begin || a.id - b.id;
	if (sort === 'duration') return (a, b) => sum(b, (t) => t.end - t.begin) - sum(a, (t) => t.end - t.begin) || a.id - b.id;
	if (sort === 'stall') return (a, b) => sum(b, (t) => stall(t.index)) - sum(a, (t) => stall(t.index)) || a.id - b.id;
	return (a, b) => a.id - b.id;
}

/** The user's own order goes before the sorted one, among the lanes it names. */
function reorder(lanes: Lane[], order: readonly number[]): Lane[] {
	if (!order.length) return lanes;
	const place = new Map(order.map((id, i) => [id, i]));
	const moved = lanes.filter((l) => place.has(l.id)).sort((a, b) => place.get(a.id)! - place.get(b.id)!);
	let next = 0;
	return lanes.map((l) => (place.has(l.id) ? moved[next++] : l));
}

/** Height that lets as many lanes as possible be seen, within what is readable. */
export function autoHeight(lanes: number, seen: number): number {
	return Math.max(18, Math.min(seen > 700 ? 44 : 34, Math.floor(seen / Math.max(1, lanes))));
}

type Want = Pick<State, 'sort' | 'pins' | 'hidden' | 'order' | 'folded'>;

/** Rows from top to bottom: pinned lanes, then the groups. Sorted otherwise than by track there are no groups. */
export function layOut(trace: TraceInfo, all: Lane[], s: Want, laneHeight: number, stall: StallOf): Layout {
	const hidden = new Set(s.hidden), pins = new Map(s.pins.map((id, i) => [id, i]));
	const visible = all.filter((l) => !hidden.has(l.id));
	const pinned = visible.filter((l) => pins.has(l.id)).sort((a, b) => pins.get(a.id)! - pins.get(b.id)!);
	const rest = reorder(visible.filter((l) => !pins.has(l.id)).sort(compare(trace, s.sort, stall)), s.order);
	const rows: Row[] = [];
	let top = 0, odd = false;
	const push = (lane: Lane, isPinned: boolean) => {
		const height = lane.lanes > 1 ? Math.max(laneHeight, Math.min(8, lane.lanes) * 15 + 4) : laneHeight;
		rows.push({ kind: 'lane', top, height, lane: { ...lane, isPinned }, group: lane.group, label: lane.label, count: 1, isFolded: false, isOdd: odd });
		odd = !odd;
		top += height;
	};
	for (const l of pinned) push(l, true);
	const pinnedHeight = top;
	let group = '';
	const isGrouped = s.sort === 'track';
	const counts = new Map<string, number>();
	for (const l of rest) counts.set(l.group, (counts.get(l.group) ?? 0) + 1);
	for (const l of rest) {
		if (isGrouped && (l.group !== group || !rows.length || rows.length === pinned.length)) {
			group = l.group;
			const label = groupLabel(trace, trace.tracks[l.tracks[0]], l.group.split('.').length);
			rows.push({ kind: 'group', top, height: GROUP_HEIGHT, lane: null, group, label, count: counts.get(group)!, isFolded: s.folded.includes(group), isOdd: false });
			top += GROUP_HEIGHT;
			odd = false;
		}
		if (!isGrouped || !s.folded.includes(l.group)) push(l, false);
	}
	return { rows, height: top, pinned: pinnedHeight, hiddenCount: all.length - visible.length };
}

/** Index of the row at a height, or -1. */
export function rowAt(rows: readonly Row[], y: number): number {
	let low = 0, high = rows.length;
	while (low < high) {
		const mid = (low + high) >> 1;
		if (rows[mid].top <= y) low = mid + 1;
		else high = mid;
	}
	return low && y < rows[low - 1].top + rows[low - 1].height ? low - 1 : -1;
}

/** What tiles call a lane, and when it shows anything. */
export interface LaneCells { name: string; begin: number; end: number }

/** Its tracks from first to last, "3" or "3-9"; of a unit its SIMD, which has so many rows. */
export const UNIT_ROWS = UNITS.length;
export function tileName({ id, tracks, only }: Lane): string {
	const last = tracks[tracks.length - 1];
	return only ? String(Math.floor((id - UNIT_LANES) / UNIT_ROWS)) : last > id ? `${id}-${last}` : String(id);
}

export function unitOf(lane: Lane): number {
	return (lane.id - UNIT_LANES) % UNIT_ROWS;
}

export function cellsOf(trace: TraceInfo, lane: Lane): LaneCells {
	const first = trace.tracks[lane.tracks[0]], last = trace.tracks[lane.tracks[lane.tracks.length - 1]];
	return { name: tileName(lane), begin: lane.only ? 0 : first.begin, end: lane.only ? trace.span.end : last.end };
}

/** What tiles call the lanes below and above those in sight, the nearest first. */
export function namesAround(rows: readonly Row[], seen: readonly Row[], n: number): string[] {
	const last = rows.indexOf(seen[seen.length - 1]), first = last - seen.length + 1, out = new Set<string>();
	for (let d = 1; d <= n; d++) for (const r of [rows[last + d], rows[first - d]]) if (r?.lane) out.add(tileName(r.lane));
	return [...out];
}

/** Tracks of a lane that are alive within [t0, t1). One after the other in time, they are found without a look at each; a unit's are not. */
export function tracksIn(trace: TraceInfo, lane: Lane, t0: number, t1: number): number[] {
	const { tracks } = trace, of = lane.tracks;
	if (lane.only) return of.filter((i) => tracks[i].end > t0 && tracks[i].begin < t1);
	let low = 0, high = of.length;
	while (low < high) {
		const mid = (low + high) >> 1;
		if (tracks[of[mid]].end <= t0) low = mid + 1;
		else high = mid;
	}
	for (high = low; high < of.length && tracks[of[high]].begin < t1;) high++;
	return of.slice(low, high);
}

/** A wave that is known to have been there, and of which nothing could be read. */
export function isUnread(trace: TraceInfo, track: number): boolean {
	return (trace.counts.unread_tracks ?? 0) > 0 && trace.tracks[track].slices === 0;
}

/** Slices of the lanes in [t0, t1), by the tracks' own density, or so many that more make no difference: enough to choose how to draw. */
export function slicesIn(trace: TraceInfo, rows: readonly Row[], t0: number, t1: number, most: number): number {
	const seen = new Set<number>();
	let n = 0;
	for (const r of rows) {
		if (n > most) break;
		for (const i of r.lane ? tracksIn(trace, r.lane, t0, t1) : []) {
			const t = trace.tracks[i];
			if (!seen.has(i)) n += (t.slices * (Math.min(t1, t.end) - Math.max(t0, t.begin))) / Math.max(1, t.end - t.begin);
			seen.add(i);
		}
	}
	return n;
}

/** The track of a lane that is alive at a time, else the nearest. */
export function trackAt(trace: TraceInfo, lane: Lane, t: number): number {
	let best = lane.tracks[0], distance = Infinity;
	for (const i of lane.tracks) {
		const k = trace.tracks[i];
		const d = t < k.begin ? k.begin - t : t >= k.end ? t - k.end + 1 : 0;
		if (d < distance) [best, distance] = [i, d];
		if (!d) break;
	}
	return best;
}
