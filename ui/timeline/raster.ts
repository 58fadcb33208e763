// SPDX-License-Identifier: Apache-2.0
// raster.ts: cells to pixels. One row of pixels a lane for the class and one for the state strip, by table lookup; the caller stretches
// them. A cell that holds anything is never fainter than a third, so that one short slice between long gaps stays in sight.
import { Palette, rgb } from '../base/palette';
import { CELLS, Tile } from './tiles';

const LEAST = 96;
const SYNC = 9, END = 10;
/** flag of a cell that something was lost or guessed in; its strip is dashed */
const NOTE = 2;

export interface Lut { slots: Uint32Array; strip: Uint32Array; note: number }

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

/** Colours for a mode: slot and fill to a pixel. Fill 0 is transparent. */
export function makeLut(p: Palette, colours: readonly string[]): Lut {
	const strip = new Uint32Array(3 * 256);
	const drain = rgb(p.buckets[4]);
	strip.fill(((255 << 24) | (drain[2] << 16) | (drain[1] << 8) | drain[0]) >>> 0, 512);
	const issue = rgb(p.buckets[0]);
	for (const [k, bucket] of [1, 2].entries()) {
		const lost = rgb(p.buckets[bucket]);
		for (let s = 0; s < 256; s++) {
			const mix = (i: number) => Math.round((lost[i] * s + issue[i] * (255 - s)) / 255);
			strip[k * 256 + s] = ((255 << 24) | (mix(2) << 16) | (mix(1) << 8) | mix(0)) >>> 0;
		}
	}
	const [r, g, b] = rgb(p.worse);
	return { slots: table(colours, p.background), strip, note: ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0 };
}

export interface Span { t0: number; perPixel: number; width: number }

/**
 * Fills pixels [from, to) of a row pair (classes in `out` at `at`, strip in `out` at `at + width`) from one track's cells of a tile.
 * Pixels already set stay: a lane's tracks follow one another.
 */
export function rasterTile(out: Uint32Array, at: number, span: Span, tile: Tile, track: number, lut: Lut, from: number, to: number, only: ReadonlySet<number> | null = null): void {
	const cell = 2 ** tile.level, base = tile.i * CELLS, row = (track - tile.first) * CELLS * 4, cells = tile.cells;
	if (track < tile.first || track >= tile.first + tile.tracks) return;
	const step = span.perPixel / cell;
	let c = (span.t0 + (from + 0.5) * span.perPixel) / cell - base;
	for (let x = from; x < to; x++, c += step) {
		const k = Math.floor(c);
		if (k < 0 || k >= CELLS) continue;
		const p = row + k * 4, f = cells[p + 1];
		if (!f || (only && !only.has(cells[p]))) continue;
		out[at + x] = lut.slots[cells[p] * 256 + f];
		out[at + span.width + x] = cells[p + 3] & NOTE && x & 2 ? lut.note : lut.strip[(cells[p] === SYNC ? 256 : cells[p] === END ? 512 : 0) + cells[p + 2]];
	}
}

/** Pixels that a tile covers, within [0, width). */
export function pixelsOf(tile: { level: number; i: number }, span: Span): [number, number] {
	const size = CELLS * 2 ** tile.level;
	const a = (tile.i * size - span.t0) / span.perPixel - 0.5, b = ((tile.i + 1) * size - span.t0) / span.perPixel - 0.5;
	return [Math.max(0, Math.ceil(a)), Math.min(span.width, Math.ceil(b))];
}
