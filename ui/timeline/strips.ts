// SPDX-License-Identifier: Apache-2.0
// strips.ts: lanes as cells: rows of pixels by table lookup, in one picture whose memory stays from frame to frame (a new one each frame is
// a megabyte for the collector, which then stops the page for 40 ms). A lane has three rows: its class, its state strip, and in the margin
// above it where it holds several slices, a link ends, a track begins or ends. Unknown code is hatched.
import { Palette } from '../base/palette';
import { LaneCells, Row } from './lanes';
import { Lut, NOTE, pixelsOf, rasterBusy, rasterFound, rasterTile, Span, STEPS } from './raster';
import { levelOf, Strip, Tiles, tilesOf } from './tiles';

const OWN = 3, WITH_OTHER = 6;
/** height of what lies in the margin above and below a lane */
export const BAND = 2;

export interface Picture {
	rows: Row[];
	span: Span;
	ratio: number;
	palette: Palette;
	yOf: (row: Row) => number;
	clip: (row: Row) => void;
	/** fills the rows of one lane, from a place in `out` on; what it returns says whether there is anything */
	fill: (at: number, row: Row) => number;
}

export interface LanePicture extends Picture {
	/** false: the lanes themselves are drawn slice by slice, and only the other capture is wanted */
	isOwn: boolean;
	hasOther: boolean;
	/** what the waves did stands below the colour */
	hasStrip: boolean;
	hatch: CanvasPattern | null;
	note: number;
}

export class Strips {
	private readonly canvas = document.createElement('canvas');
	private image: ImageData | null = null;
	out = new Uint32Array(0);

	/** Clears the picture, has its rows filled, and makes it ready to be drawn from. */
	private paint(p: Picture, per: number): number[] {
		const w = p.span.width, rows = p.rows.length * per;
		if (!this.image || this.image.width !== w || this.image.height < rows) {
			this.image = new ImageData(w, Math.max(rows, 64));
			this.out = new Uint32Array(this.image.data.buffer);
			this.canvas.width = w;
			this.canvas.height = this.image.height;
		} else this.out.fill(0, 0, w * rows);
		const filled = p.rows.map((r, k) => p.fill(k * per * w, r));
		this.canvas.getContext('2d')!.putImageData(this.image, 0, 0, 0, 0, w, rows);
		return filled;
	}

	private put(g: CanvasRenderingContext2D, p: Picture, row: number, y: number, height: number, rows = 1): void {
		g.drawImage(this.canvas, 0, row, p.span.width, rows, 0, y, p.span.width / p.ratio, height);
	}

	/** All lanes; returns how many calls that were. */
	lanes(g: CanvasRenderingContext2D, p: LanePicture): number {
		const per = p.hasOther ? WITH_OTHER : OWN, flags = this.paint(p, per);
		let calls = 0;
		g.imageSmoothingEnabled = false;
		p.rows.forEach((r, k) => {
			const y = p.yOf(r) + 2, full = (r.height - 4) * (p.hasOther ? 0.58 : 1), strip = p.hasStrip ? Math.max(2, Math.min(5, full * 0.22)) : 0;
			p.clip(r);
			if (p.isOwn) {
				this.put(g, p, k * per, y, full - (strip && strip + 1));
				if (strip) this.put(g, p, k * per + 1, y + full - strip, strip);
				if (flags[k]) this.put(g, p, k * per + 2, y - BAND, BAND);
				if (flags[k] & NOTE) this.hatch(g, p, (k * per + 2) * p.span.width, y, full);
				calls += flags[k] ? 3 : 2;
			}
			if (p.hasOther) this.put(g, p, k * per + 3, y + full + 2, r.height - 4 - full - 2);
			calls += p.hasOther ? 1 : 0;
			g.restore();
		});
		return calls;
	}

	/** Runs of cells that hold unknown code. */
	private hatch(g: CanvasRenderingContext2D, p: LanePicture, row: number, y: number, height: number): void {
		const w = p.span.width;
		g.beginPath();
		for (let x = 0; x < w; x++) {
			const from = x;
			while (x < w && this.out[row + x] === p.note) x++;
			if (x > from) g.rect(from / p.ratio, y, (x - from) / p.ratio, height);
		}
		g.fillStyle = p.hatch ?? p.palette.worse;
		g.fill();
	}

	/** Bars as high as the busy share of each pixel. */
	bars(g: CanvasRenderingContext2D, p: Picture): number {
		this.paint(p, STEPS);
		g.imageSmoothingEnabled = false;
		p.rows.forEach((r, k) => {
			p.clip(r);
			this.put(g, p, k * STEPS, p.yOf(r) + 2, r.height - 4, STEPS);
			g.restore();
		});
		return p.rows.length;
	}

	/** What a search found, in the margin below the lanes, whichever way those are drawn. */
	found(g: CanvasRenderingContext2D, p: Picture): number {
		const found = this.paint(p, 1);
		g.imageSmoothingEnabled = false;
		p.rows.forEach((r, k) => {
			if (!found[k]) return;
			p.clip(r);
			this.put(g, p, k, p.yOf(r) + r.height - BAND - 1, BAND + 1);
			g.restore();
		});
		return p.rows.length;
	}

	/** Cells of a lane that lives in [begin, end). */
	fillCells(at: number, span: Span, tiles: Tiles, layer: string, lane: LaneCells, lut: Lut): number {
		return cells(span, tiles, layer, lane, (strip, a, b) => rasterTile(this.out, at, span, strip, lut, a, b));
	}

	fillFound(at: number, span: Span, tiles: Tiles, layer: string, lane: LaneCells, colour: number): number {
		return cells(span, tiles, layer, lane, (strip, a, b) => rasterFound(this.out, at, span, strip, colour, a, b));
	}

	/** `part`: which row of those that the name has */
	fillBusy(at: number, span: Span, tiles: Tiles, layer: string, lane: LaneCells, part: number, colour: number): number {
		return cells(span, tiles, layer, lane, ({ tile, row }, a, b) => rasterBusy(this.out, at, span, { tile, row: row + part }, colour, a, b));
	}
}

/** Each tile of a lane that is in sight, with its pixels; the nearest of another level where it is not there yet. */
function cells(span: Span, tiles: Tiles, layer: string, { name, begin, end }: LaneCells, put: (strip: Strip, a: number, b: number) => number): number {
	const t1 = span.t0 + span.perPixel * span.width;
	if (end <= span.t0 || begin >= t1) return 0;
	const level = levelOf(span.perPixel), [from, to] = tilesOf(Math.max(span.t0, begin, 0), Math.min(t1, end), level);
	let all = 0;
	for (let i = from; i <= to; i++) {
		const strip = tiles.get(layer, level, name, i), [a, b] = pixelsOf({ level, i }, span);
		if (strip) all |= put(strip, a, b);
		for (let x = a; x < b && !strip;) {
			const near = tiles.nearest(layer, level, name, span.t0 + (x + 0.5) * span.perPixel);
			const stop = near ? Math.min(b, Math.max(x + 1, pixelsOf(near.tile, span)[1])) : x + 32;
			if (near) all |= put(near, x, stop);
			x = stop;
		}
	}
	return all;
}
