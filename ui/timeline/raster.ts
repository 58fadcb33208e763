// SPDX-License-Identifier: Apache-2.0
// raster.ts: cells to pixels. One row of pixels a lane for the class and one for the state strip, by table lookup; the caller stretches
// them. A cell that holds anything is never fainter than a third, so that one short slice between long gaps stays in sight.
import { colourOf, Palette, rgb } from '../base/palette';
import { Mode } from '../state';
import { CELLS, Strip, Tile } from './tiles';

const LEAST = 96;
const END = 10;
/** flags of a cell, in rising weight: several slices, a link ends, a track begins or ends, something is lost or guessed */
const SEVERAL = 1, LINK = 4, EDGE = 8, ABOVE = 15;
/** most of what is stalled is waiting */
const WAITS = 16;
export const NOTE = 2;

/** `flags`: what stands above a lane, by flags of the cell; 0 is nothing. `strip`: what its waves spent a cell with; null where the lane's own colour says so. */
export interface Lut { slots: Uint32Array; strip: Uint32Array | null; flags: Uint32Array; note: number }

export function pixel(hex: string): number {
	const [r, g, b] = rgb(hex);
	return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

function table(colours: readonly string[], background: string): Uint32Array {
	const out = new Uint32Array(256 * 256), n = colours.length, back = rgb(background);
	for (let s = 0; s < n; s++) {
		const c = rgb(colours[s]);
		for (let f = 1; f < 256; f++) {
			const part = Math.max(LEAST, f), mix = (i: number) => Math.round((c[i] * part + back[i] * (255 - part)) / 255);
			out[s * 256 + f] = ((255 << 24) | (mix(2) << 16) | (mix(1) << 8) | mix(0)) >>> 0;
		}
	}
	for (let s = n; s < 256; s++) out.copyWithin(s * 256, (s % n) * 256, (s % n) * 256 + 256);
	return out;
}

/** Colours of the cells of a mode. Asked of B a change runs from B to A: swapped, a row has one colour on both sides. */
export function modeColours(p: Palette, mode: Mode, isSwapped = false): readonly string[] {
	if (mode === 'bucket') return p.buckets;
	if (mode === 'diff') return isSwapped ? [p.dim, p.better, p.worse, p.buckets[4]] : [p.dim, p.worse, p.better, p.buckets[4]];
	if (mode === 'class') return p.slots;
	return Array.from({ length: 12 }, (_, i) => colourOf(p, i));
}

/** The strip: issue mixed with stall or wait by their shares; the end of a program is drain. */
function stripTable(p: Palette): Uint32Array {
	const strip = new Uint32Array(3 * 256);
	strip.fill(pixel(p.buckets[4]), 512);
	const issue = rgb(p.buckets[0]);
	for (const [k, bucket] of [1, 2].entries()) {
		const lost = rgb(p.buckets[bucket]);
		for (let s = 0; s < 256; s++) {
			const mix = (i: number) => Math.round((lost[i] * s + issue[i] * (255 - s)) / 255);
			strip[k * 256 + s] = ((255 << 24) | (mix(2) << 16) | (mix(1) << 8) | mix(0)) >>> 0;
		}
	}
	return strip;
}

/** Colours for a mode: slot and fill to a pixel. Fill 0 is transparent. */
export function makeLut(p: Palette, colours: readonly string[], hasStrip: boolean): Lut {
	const note = pixel(p.worse);
	const words: [number, number][] = [[NOTE, note], [EDGE, pixel(p.text)], [LINK, pixel(p.accent)], [SEVERAL, pixel(p.quiet)]];
	const flags = Uint32Array.from({ length: 16 }, (_, k) => words.find(([bit]) => k & bit)?.[1] ?? 0);
	return { slots: table(colours, p.background), strip: hasStrip ? stripTable(p) : null, flags, note };
}

export interface Span { t0: number; perPixel: number; width: number }

/**
 * Fills pixels [from, to) of three rows (classes in `out` at `at`, strip a width further, flags two) from a row of a tile.
 * Pixels already set stay: tracks of a lane may come one by one. Returns all flags seen.
 */
export function rasterTile(out: Uint32Array, at: number, span: Span, { tile, row }: Strip, lut: Lut, from: number, to: number): number {
	const cell = 2 ** tile.level, base = tile.i * CELLS, begin = row * CELLS * 4, cells = tile.cells, w = span.width;
	const step = span.perPixel / cell;
	let c = (span.t0 + (from + 0.5) * span.perPixel) / cell - base, all = 0;
	for (let x = from; x < to; x++, c += step) {
		const k = Math.floor(c);
		if (k < 0 || k >= CELLS) continue;
		const p = begin + k * 4, f = cells[p + 1], flags = cells[p + 3] & ABOVE;
		if (flags) {
			all |= flags;
			out[at + 2 * w + x] = lut.flags[flags];
		}
		if (!f) continue;
		out[at + x] = lut.slots[cells[p] * 256 + f];
		if (lut.strip) out[at + w + x] = lut.strip[(cells[p] === END ? 512 : cells[p + 3] & WAITS ? 256 : 0) + cells[p + 2]];
	}
	return all;
}

/** heights that a busy share is shown by */
export const STEPS = 8;

/** Busy cycles of a cell. */
export function busyOf(tile: Tile, row: number, cell: number): number {
	return new DataView(tile.cells.buffer, tile.cells.byteOffset).getUint32((row * CELLS + cell) * 4, true);
}

/** Bars of a row of busy cycles (u32 a cell): as high as the share, never less than one step; returns the largest count seen. */
export function rasterBusy(out: Uint32Array, at: number, span: Span, { tile, row }: Strip, colour: number, from: number, to: number): number {
	const cell = 2 ** tile.level, base = tile.i * CELLS;
	let most = 0;
	for (let x = from; x < to; x++) {
		const k = Math.floor((span.t0 + (x + 0.5) * span.perPixel) / cell) - base;
		if (k < 0 || k >= CELLS) continue;
		const n = busyOf(tile, row, k);
		if (!n) continue;
		most = Math.max(most, n);
		for (let y = STEPS - Math.max(1, Math.round((n / cell) * STEPS)); y < STEPS; y++) out[at + y * span.width + x] = colour;
	}
	return most;
}

/** Pixels in which a search found something, in one row; returns how many. */
export function rasterFound(out: Uint32Array, at: number, span: Span, { tile, row }: Strip, colour: number, from: number, to: number): number {
	const cell = 2 ** tile.level, base = tile.i * CELLS;
	let n = 0;
	for (let x = from; x < to; x++) {
		const k = Math.floor((span.t0 + (x + 0.5) * span.perPixel) / cell) - base;
		if (k < 0 || k >= CELLS || !tile.cells[(row * CELLS + k) * 4 + 1]) continue;
		out[at + x] = colour;
		n++;
	}
	return n;
}

/** A whole trace as w x tall pixels: of the cells of all tracks under a pixel, the class that fills most of them. */
export function overview(out: Uint32Array, w: number, tall: number, tiles: readonly Tile[], end: number, colours: Uint32Array): void {
	const firsts = [...new Set(tiles.map((t) => t.first))].sort((a, b) => a - b), places = new Map<number, number>();
	let rows = 0;
	for (const f of firsts) {
		places.set(f, rows);
		rows += tiles.find((t) => t.first === f)!.rows;
	}
	const sums = new Uint32Array(w * tall * 12);
	for (const t of tiles) {
		const cell = 2 ** t.level, top = places.get(t.first)!;
		for (let k = 0; k < CELLS; k++) {
			const a = Math.floor(((t.i * CELLS + k) * cell * w) / end), b = Math.min(w, Math.max(a + 1, Math.floor(((t.i * CELLS + k + 1) * cell * w) / end)));
			for (let r = 0; r < t.rows && a < w; r++) {
				const at = (r * CELLS + k) * 4, fill = t.cells[at + 1];
				if (!fill || t.cells[at] >= 12) continue;
				const y0 = Math.floor(((top + r) * tall) / rows), y1 = Math.max(y0 + 1, Math.floor(((top + r + 1) * tall) / rows));
				for (let y = y0; y < y1; y++) for (let x = a; x < b; x++) sums[(y * w + x) * 12 + t.cells[at]] += fill;
			}
		}
	}
	for (let i = 0; i < w * tall; i++) {
		let best = -1, most = 0;
		for (let s = 0; s < 12; s++) if (sums[i * 12 + s] > most) [best, most] = [s, sums[i * 12 + s]];
		if (best >= 0) out[i] = colours[best];
	}
}

/** Pixels that a tile covers, within [0, width). */
export function pixelsOf(tile: { level: number; i: number }, span: Span): [number, number] {
	const size = CELLS * 2 ** tile.level;
	const a = (tile.i * size - span.t0) / span.perPixel - 0.5, b = ((tile.i + 1) * size - span.t0) / span.perPixel - 0.5;
	return [Math.max(0, Math.ceil(a)), Math.min(span.width, Math.ceil(b))];
}
