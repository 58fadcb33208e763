// SPDX-License-Identifier: Apache-2.0
// draw.ts: slices as rectangles. What is narrower than 3 pixels is folded into one block that says how many it holds; what a slice lost
// (stalled, or waiting) is hatched under its text, unknown code is hatched crosswise, and a slice wide enough carries its text.
import { ink, luminance, Palette, rgb } from '../base/palette';
import { short } from '../base/format';
import { CodeTable, NO_CODE, sliceRow, Slices, SLICE_LINKED, SLICE_WAITS, Track, TraceInfo } from '../source';
import { firstAfter } from './exact';

/** flag of a slice whose code is not known */
const SLICE_UNKNOWN = 16;
/** height of what stands in the margin above a lane */
const ABOVE = 2;

export interface Scale { t0: number; t1: number; width: number }

export function xOf(s: Scale, t: number): number {
	return ((t - s.t0) / (s.t1 - s.t0)) * s.width;
}

export function tOf(s: Scale, x: number): number {
	return s.t0 + (x / s.width) * (s.t1 - s.t0);
}

export interface Look {
	palette: Palette;
	trace: TraceInfo;
	code: CodeTable | null;
	/** colour of a slice in the current mode, by its slot */
	colour: (slot: number) => string;
	/** the lost part of a slice in the colour of its bucket */
	isBucket: boolean;
	/** class letters before the text */
	isLettered: boolean;
	hatch: Hatch;
	/** of unknown code */
	noteHatch: CanvasPattern | null;
	/** rows to bring out: of the selection, of a search */
	isMarked: (code: number) => boolean;
	calls: number;
	/** device pixels a pixel */
	ratio: number;
}

const MIN = 3, TEXT = 24;
/** slices before the window that may reach into it: on sub-lanes many are in flight, on a wave the last few overlap by some cycles */
const BEFORE = 256, BEFORE_ALONE = 8;

/** On whole pixels of the screen: sharp, and half as dear to fill. */
function snap(look: Look, x: number): number {
	return Math.round(x * look.ratio) / look.ratio;
}

/** Lines on a bright or very dark ground, and on one between: on the far side of what its text is written in, or faint enough. */
export interface Hatch { dark: CanvasPattern | null; light: CanvasPattern | null }

export function lostHatch(g: CanvasRenderingContext2D): Hatch {
	return { dark: makeHatch(g, 'rgba(0,0,0,.34)'), light: makeHatch(g, 'rgba(255,255,255,.5)') };
}

const isMiddling = new Map<string, boolean>();
function hatchOf(look: Look, colour: string): CanvasPattern | null {
	let is = isMiddling.get(colour);
	if (is === undefined) {
		const l = luminance(colour);
		isMiddling.set(colour, is = l > 0.179 && l < 0.42);
	}
	return is ? look.hatch.light : look.hatch.dark;
}

/** A hatch of 45 degrees; crosswise, over a ground half covered, where one is given. */
export function makeHatch(g: CanvasRenderingContext2D, colour: string, behind = ''): CanvasPattern | null {
	const tile = document.createElement('canvas');
	tile.width = tile.height = 6;
	const c = tile.getContext('2d')!;
	if (behind) {
		c.globalAlpha = 0.5;
		c.fillStyle = behind;
		c.fillRect(0, 0, 6, 6);
		c.globalAlpha = 1;
	}
	c.strokeStyle = colour;
	c.lineWidth = 1.4;
	c.beginPath();
	for (const d of [-6, 0, 6]) {
		c.moveTo(d, 6);
		c.lineTo(d + 6, 0);
		if (!behind) continue;
		c.moveTo(d, 0);
		c.lineTo(d + 6, 6);
	}
	c.stroke();
	return g.createPattern(tile, 'repeat');
}

interface Fold { from: number; to: number; n: number; colour: string; widest: number }

function flush(g: CanvasRenderingContext2D, f: Fold, y: number, height: number, look: Look): void {
	const from = snap(look, f.from), w = Math.max(1, snap(look, f.to) - from);
	g.fillStyle = f.colour;
	g.globalAlpha = 0.75;
	g.fillRect(from, y, w, height);
	g.globalAlpha = 1;
	look.calls++;
	const words = '×' + short(f.n);
	if (f.n > 1 && w >= TEXT && height >= 12) text(g, words, from, y, w, height, f.colour);
}

function text(g: CanvasRenderingContext2D, words: string, x: number, y: number, w: number, height: number, on: string): void {
	const room = Math.floor((w - 6) / 6.2);
	if (room < 1) return;
	const shown = words.length > room ? words.slice(0, Math.max(1, room - 1)) + (room > 2 ? '…' : '') : words;
	g.fillStyle = ink(on);
	g.fillText(shown, x + 3, y + height / 2 + 0.5);
}

/** Draws one track's slices into a band; returns how many rectangles that were. */
export function drawSlices(g: CanvasRenderingContext2D, s: Slices, scale: Scale, band: { y: number; height: number; lanes: number; only: ReadonlySet<number> | null }, look: Look): void {
	const step = band.height / Math.max(1, band.lanes);
	const folds: (Fold | null)[] = [];
	let i = 0;
	if (s.n > 64) i = Math.max(0, firstAfter(s, scale.t0) - (band.lanes > 1 ? BEFORE : BEFORE_ALONE));
	for (; i < s.n; i++) {
		const r = sliceRow(s, i);
		if (r.start >= scale.t1) break;
		if (band.only) {
			if (!band.only.has(look.trace.classes[r.cls]?.slot ?? 11)) continue;
			Object.assign(r, { start: r.start + r.stall, dur: r.dur - r.stall, stall: 0 });
		}
		const end = r.start + r.dur;
		if (end < scale.t0) continue;
		const lane = Math.min(r.lane, band.lanes - 1), y = band.y + lane * step, height = Math.max(2, step - (band.lanes > 1 ? 2 : 0));
		const x0 = xOf(scale, Math.max(r.start, scale.t0)), x1 = xOf(scale, Math.min(end, scale.t1));
		const colour = look.colour(r.slot);
		const open = folds[lane] ?? null;
		if (x1 - x0 < MIN) {
			if (open && x0 - open.to < 1.5) {
				open.to = Math.max(open.to, x1);
				open.n++;
				if (x1 - x0 > open.widest) [open.widest, open.colour] = [x1 - x0, colour];
			} else {
				if (open) flush(g, open, band.y + lane * step, height, look);
				folds[lane] = { from: x0, to: Math.max(x1, x0 + 1), n: 1, colour, widest: x1 - x0 };
			}
			continue;
		}
		if (open) {
			flush(g, open, band.y + lane * step, height, look);
			folds[lane] = null;
		}
		rectangle(g, look, { x0: snap(look, x0), x1: snap(look, x1), y, height, colour, stallX: snap(look, xOf(scale, Math.min(r.start + r.stall, scale.t1))), hasStall: r.stall > 0 && r.start + r.stall > scale.t0, isWait: (r.flags & SLICE_WAITS) !== 0, isNote: (r.flags & SLICE_UNKNOWN) !== 0, cls: r.cls, code: r.code });
		if (r.flags & SLICE_LINKED && r.start >= scale.t0) {
			g.fillStyle = look.palette.accent;
			g.fillRect(x0, band.y - ABOVE, Math.min(6, x1 - x0), ABOVE);
		}
	}
	folds.forEach((f, lane) => f && flush(g, f, band.y + lane * step, Math.max(2, step - (band.lanes > 1 ? 2 : 0)), look));
}

/** Where the tracks of a lane begin and end: the same mark that the cells carry. */
export function drawEdges(g: CanvasRenderingContext2D, tracks: readonly Track[], scale: Scale, band: { y: number; height: number }, look: Look): void {
	g.fillStyle = look.palette.text;
	for (const t of tracks)
		for (const at of [t.begin, t.end]) if (at >= scale.t0 && at <= scale.t1) g.fillRect(Math.min(scale.width - 1.5, xOf(scale, at)), band.y - ABOVE, 1.5, band.height + 2 * ABOVE);
}

/** Side by side, not one over the other: what is blended is dear to fill. */
function parts(g: CanvasRenderingContext2D, x: number, y: number, w: number, height: number, first: number, colour: string, rest: string): void {
	if (first > 0) {
		g.fillStyle = colour;
		g.fillRect(x, y, first, height);
	}
	if (first >= w) return;
	g.fillStyle = rest;
	g.fillRect(x + first, y, w - first, height);
}

/** Waves of a lane that could not be read: hatched crosswise, and said. */
export function drawUnread(g: CanvasRenderingContext2D, tracks: readonly Track[], scale: Scale, band: { y: number; height: number }, look: Look): void {
	for (const t of tracks) {
		const x = Math.max(0, xOf(scale, t.begin)), w = Math.min(scale.width, xOf(scale, t.end)) - x;
		if (w <= 0) continue;
		g.fillStyle = look.noteHatch ?? look.palette.worse;
		g.fillRect(x, band.y, w, band.height);
		if (w >= TEXT && band.height >= 12) text(g, 'not read', x, band.y, w, band.height, look.palette.background);
	}
}

const mixes = new Map<string, string>();
function mixed(colour: string, over: string, part: number): string {
	const key = colour + over + part;
	let out = mixes.get(key);
	if (!out) {
		const [a, b] = [rgb(colour), rgb(over)];
		mixes.set(key, out = '#' + a.map((v, i) => Math.round(v * (1 - part) + b[i] * part).toString(16).padStart(2, '0')).join(''));
	}
	return out;
}

interface Rect { x0: number; x1: number; y: number; height: number; colour: string; stallX: number; hasStall: boolean; isWait: boolean; isNote: boolean; cls: number; code: number }

function rectangle(g: CanvasRenderingContext2D, look: Look, r: Rect): void {
	const w = r.x1 - r.x0, gap = 1;
	const lost = r.isWait ? w : Math.min(r.stallX, r.x1) - r.x0, strip = r.height >= 14 && !look.isBucket ? 3 : 0, { buckets, background } = look.palette, lostIn = buckets[r.isWait ? 2 : 1];
	// a stall of less than a pixel is one pixel wide: it is there
	const two = r.hasStall || r.isWait ? Math.max(Math.min(1, w - gap), Math.min(lost, w - gap)) : 0, lostColour = look.isBucket ? lostIn : mixed(r.colour, background, 0.14);
	parts(g, r.x0, r.y, w - gap, r.height - strip, two, lostColour, r.colour);
	const hatch = two && (r.isWait || !look.isBucket) ? hatchOf(look, lostColour) : null;
	if (hatch) {
		g.fillStyle = hatch;
		g.fillRect(r.x0, r.y, two, r.height - strip);
	}
	if (strip) parts(g, r.x0, r.y + r.height - strip, w - gap, strip, two, lostIn, buckets[look.trace.classes[r.cls]?.slot === 10 ? 4 : 0]);
	if (r.isNote && look.noteHatch) {
		g.fillStyle = look.noteHatch;
		g.fillRect(r.x0, r.y, w - gap, r.height);
	}
	look.calls++;
	if (look.isMarked(r.code)) {
		g.strokeStyle = look.palette.text;
		g.lineWidth = 1.5;
		g.strokeRect(r.x0 + 0.75, r.y + 0.75, Math.max(0.5, w - gap - 1.5), r.height - 1.5);
	}
	if (w < 9 || r.height < 10) return;
	const cls = look.trace.classes[r.cls], words = r.code === NO_CODE ? '?' : look.code?.text[r.code] ?? '';
	const height = r.height - (r.height >= 14 ? 3 : 0), on = r.isNote ? background : 2 * two > Math.min(w, 6.2 * words.length) ? lostColour : r.colour;
	if (w >= TEXT) text(g, (look.isLettered && cls?.letter ? cls.letter + ' ' : '') + words, r.x0, r.y, w, height, on);
	else if (look.isLettered) text(g, cls?.letter ?? '', r.x0, r.y, w + 3, height, on);
}
