// SPDX-License-Identifier: Apache-2.0
// tiles.ts: the cells that are drawn. Keeps 64 MB of tiles, least recently used goes first; asks for the window seen and one window on
// each side; until a tile is there, the nearest one of another level stands in for it.
import { Mode } from '../state';

/** all tiles together; what a search found and what units did take a small part of it */
export const CELLS = 512, TRACKS = 64, BUDGET = 64 << 20, SMALL = 4 << 20;
const HEADER = 32;

export interface Tile {
	level: number;
	i: number;
	first: number;
	tracks: number;
	/** 4 bytes a cell: slot, fill, stall, flags */
	cells: Uint8Array;
	used: number;
}

/** Cells of 1 to 2 device pixels; below one cycle a pixel there is nothing finer to ask for. */
export function levelOf(cyclesPerPixel: number): number {
	return Math.max(0, Math.min(52, Math.ceil(Math.log2(Math.max(1, cyclesPerPixel)))));
}

/** Numbers of the tiles that cover [t0, t1). */
export function tilesOf(t0: number, t1: number, level: number): [number, number] {
	const size = CELLS * 2 ** level;
	return [Math.max(0, Math.floor(t0 / size)), Math.max(0, Math.ceil(t1 / size) - 1)];
}

export function readTile(data: ArrayBuffer, magic = 'ICT1'): Omit<Tile, 'used'> {
	const v = new DataView(data);
	if (data.byteLength < HEADER || [...magic].some((c, i) => v.getUint8(i) !== c.charCodeAt(0))) throw new Error('not a tile');
	const level = v.getUint8(7), cells = v.getUint32(16, true), tracks = v.getUint32(20, true);
	if (cells !== CELLS || data.byteLength < HEADER + cells * tracks * 4) throw new Error('a tile of the wrong size');
	return { level, i: Math.round(Number(v.getBigUint64(8, true)) / (CELLS * 2 ** level)), first: v.getUint32(24, true), tracks, cells: new Uint8Array(data, HEADER, cells * tracks * 4) };
}

export interface TileQuery { tracks: string; level: number; i: number; mode: Mode }
export type Fetch = (q: TileQuery, signal: AbortSignal) => Promise<ArrayBuffer>;

export interface Window { t0: number; t1: number; level: number; mode: Mode; blocks: number[]; end: number; tracks: number }

export class Tiles {
	private readonly kept = new Map<string, Tile>();
	private readonly asked = new Map<string, AbortController>();
	private readonly failed = new Set<string>();
	private clock = 0;
	/** what was asked for, with its neighbours */
	private buffered: Window | null = null;
	bytes = 0;
	requests = 0;

	constructor(private readonly fetch: Fetch, private readonly arrived: () => void, private readonly wrong: (e: unknown) => void, private readonly budget = BUDGET - 2 * SMALL, private readonly magic = 'ICT1') {}

	private static key(mode: Mode, level: number, block: number, i: number): string {
		return `${mode}/${level}/${block}/${i}`;
	}

	get(mode: Mode, level: number, block: number, i: number): Tile | undefined {
		const tile = this.kept.get(Tiles.key(mode, level, block, i));
		if (tile) tile.used = ++this.clock;
		return tile;
	}

	/** The tile that covers cycle t at the level nearest to the one wanted, or undefined. */
	nearest(mode: Mode, level: number, block: number, t: number): Tile | undefined {
		if (!this.kept.size) return undefined;
		for (let d = 0; d < 24; d++)
			for (const k of d ? [level + d, level - d] : [level]) {
				if (k < 0) continue;
				const tile = this.get(mode, k, block, Math.floor(t / (CELLS * 2 ** k)));
				if (tile) return tile;
			}
		return undefined;
	}

	/** Asks for what the window needs: itself first, then its neighbours; gives up on what nobody waits for any more. A pan that stays within
	 * them asks for nothing. */
	want(w: Window): void {
		const span = w.t1 - w.t0, b = this.buffered;
		if (b && b.mode === w.mode && b.level === w.level && Math.max(0, w.t0) >= b.t0 && Math.min(w.end, w.t1) <= b.t1 && w.blocks.every((k) => b.blocks.includes(k))) return;
		this.buffered = { ...w, t0: Math.max(0, w.t0 - span), t1: Math.min(w.end, w.t1 + span) };
		const wanted = new Set<string>();
		const parts: [number, number][] = [[w.t0, w.t1], [w.t0 - span, w.t0], [w.t1, w.t1 + span]];
		for (const [a, b] of parts) {
			if (b <= 0 || a >= w.end) continue;
			const [from, to] = tilesOf(Math.max(0, a), Math.min(w.end, b), w.level);
			for (let i = from; i <= to; i++)
				for (const block of w.blocks) {
					wanted.add(Tiles.key(w.mode, w.level, block, i));
					this.ask(w, block, i);
				}
		}
		for (const [key, control] of this.asked)
			if (!wanted.has(key)) {
				control.abort();
				this.asked.delete(key);
			}
	}

	private ask(w: Window, block: number, i: number): void {
		const key = Tiles.key(w.mode, w.level, block, i);
		if (this.kept.has(key) || this.asked.has(key) || this.failed.has(key)) return;
		const control = new AbortController();
		this.asked.set(key, control);
		this.requests++;
		const last = Math.min(w.tracks, (block + 1) * TRACKS) - 1;
		this.fetch({ tracks: `${block * TRACKS}-${last}`, level: w.level, i, mode: w.mode }, control.signal).then((data) => {
			this.asked.delete(key);
			this.keep(key, { ...readTile(data, this.magic), used: ++this.clock });
			this.arrived();
		}, (e: unknown) => {
			if (control.signal.aborted) return;
			this.asked.delete(key);
			this.failed.add(key);
			this.wrong(e);
		});
	}

	private keep(key: string, tile: Tile): void {
		this.kept.set(key, tile);
		this.bytes += tile.cells.byteLength;
		if (this.bytes <= this.budget) return;
		const old = [...this.kept.entries()].sort((a, b) => a[1].used - b[1].used);
		for (const [name, t] of old) {
			if (this.bytes <= this.budget * 0.9) return;
			this.kept.delete(name);
			this.bytes -= t.cells.byteLength;
		}
	}

	/** Everything is asked for anew. */
	clear(): void {
		for (const control of this.asked.values()) control.abort();
		for (const all of [this.kept, this.asked, this.failed]) all.clear();
		this.buffered = null;
		this.bytes = 0;
	}

	/** After a failure that may have passed (the server came back). */
	retry(): void {
		this.failed.clear();
		this.buffered = null;
	}

	count(): number {
		return this.kept.size;
	}

	waiting(): number {
		return this.asked.size;
	}
}
