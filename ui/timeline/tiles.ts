// SPDX-License-Identifier: Apache-2.0
// tiles.ts: the cells that are drawn. A row of cells is a lane, whichever tracks that shows; up to 64 of them are asked for at once: those in
// sight, and where there is room their neighbours. Keeps 64 MB of tiles, least recently used goes first; asks for the window seen and one
// window on each side; until a row is there, the nearest one of another level stands in for it.
import { Mode } from '../state';

/** all tiles together; what a search found and what units did take a small part of it */
export const CELLS = 512, ROWS = 64, BUDGET = 64 << 20, SMALL = 4 << 20;
const HEADER = 32;

export interface Tile {
	level: number;
	i: number;
	first: number;
	rows: number;
	/** 4 bytes a cell: slot, fill, stall, flags */
	cells: Uint8Array;
	used: number;
}

/** A row of a tile. */
export interface Strip { tile: Tile; row: number }

/** Cells of 1 to 2 device pixels; below one cycle a pixel there is nothing finer to ask for. */
export function levelOf(cyclesPerPixel: number): number {
	return Math.max(0, Math.min(52, Math.ceil(Math.log2(Math.max(1, cyclesPerPixel)))));
}

/** Numbers of the tiles that cover [t0, t1). */
export function tilesOf(t0: number, t1: number, level: number): [number, number] {
	const size = CELLS * 2 ** level;
	return [Math.max(0, Math.floor(t0 / size)), Math.max(0, Math.ceil(t1 / size) - 1)];
}

export function readTile(data: ArrayBuffer, magic = 'ICT1'): Tile {
	const v = new DataView(data);
	if (data.byteLength < HEADER || [...magic].some((c, i) => v.getUint8(i) !== c.charCodeAt(0))) throw new Error('not a tile');
	const level = v.getUint8(7), cells = v.getUint32(16, true), rows = v.getUint32(20, true);
	if (cells !== CELLS || data.byteLength < HEADER + cells * rows * 4) throw new Error('a tile of the wrong size');
	return { level, i: Math.round(Number(v.getBigUint64(8, true)) / (CELLS * 2 ** level)), first: v.getUint32(24, true), rows, cells: new Uint8Array(data, HEADER, cells * rows * 4), used: 0 };
}

/** `names`: what the question calls the rows, "3" or "3-9"; `scope`: the kernel whose tracks alone are shown. */
export interface TileQuery { names: string; level: number; i: number; mode: Mode; scope: number | null }
export type Fetch = (q: TileQuery, signal: AbortSignal) => Promise<ArrayBuffer>;

export interface Window {
	t0: number;
	t1: number;
	level: number;
	mode: Mode;
	scope: number | null;
	names: string[];
	/** more of them, the nearest first: asked for where a question has room */
	around: () => string[];
	end: number;
}

interface Options {
	arrived: () => void;
	wrong?: (e: unknown) => void;
	budget?: number;
	magic?: string;
	/** rows that a name has in an answer */
	per?: number;
}

interface Asked { control: AbortController; keys: string[] }

export class Tiles {
	/** by row */
	private readonly kept = new Map<string, Strip>();
	private readonly asked = new Map<string, Asked>();
	private readonly failed = new Set<string>();
	private readonly tiles = new Map<Tile, string[]>();
	private clock = 0;
	/** what was asked for, with its neighbours */
	private buffered: { w: Window; t0: number; t1: number; names: Set<string> } | null = null;
	bytes = 0;
	requests = 0;

	constructor(private readonly fetch: Fetch, private readonly o: Options) {}

	private static key(layer: string, level: number, i: number, name: string): string {
		return `${layer}/${level}/${i}/${name}`;
	}

	/** What a row shows, apart from when: its mode, and of whom. */
	static layer(mode: Mode, scope: number | null): string {
		return scope === null ? mode : mode + scope;
	}

	get(layer: string, level: number, name: string, i: number): Strip | undefined {
		const strip = this.kept.get(Tiles.key(layer, level, i, name));
		if (strip) strip.tile.used = ++this.clock;
		return strip;
	}

	/** The row that covers cycle t at the level nearest to the one wanted, or undefined. */
	nearest(layer: string, level: number, name: string, t: number): Strip | undefined {
		for (const k of this.levelsBy(level)) {
			const strip = this.get(layer, k, name, Math.floor(t / (CELLS * 2 ** k)));
			if (strip) return strip;
		}
		return undefined;
	}

	/** Levels of which there is any tile, the nearest first; of two as near the coarser. Asked for pixel by pixel, so kept. */
	private readonly near = new Map<number, number[]>();
	private levelsBy(level: number): number[] {
		let out = this.near.get(level);
		if (!out) {
			out = [...new Set([...this.tiles.keys()].map((t) => t.level))].sort((a, b) => Math.abs(a - level) - Math.abs(b - level) || b - a);
			this.near.set(level, out);
		}
		return out;
	}

	/** Asks for what the window needs: itself first, then its neighbours; gives up on what nobody waits for any more. A pan that stays within
	 * them asks for nothing. */
	want(w: Window): void {
		const span = w.t1 - w.t0, b = this.buffered;
		if (b && b.w.mode === w.mode && b.w.scope === w.scope && b.w.level === w.level && Math.max(0, w.t0) >= b.t0 && Math.min(w.end, w.t1) <= b.t1 && w.names.every((n) => b.names.has(n))) return;
		this.buffered = { w, t0: Math.max(0, w.t0 - span), t1: Math.min(w.end, w.t1 + span), names: new Set(w.names) };
		const wanted = new Set<Asked>(), near = w.around();
		const parts: [number, number][] = [[w.t0, w.t1], [w.t0 - span, w.t0], [w.t1, w.t1 + span]];
		for (const [a, e] of parts) {
			if (e <= 0 || a >= w.end) continue;
			const [from, to] = tilesOf(Math.max(0, a), Math.min(w.end, e), w.level);
			for (let i = from; i <= to; i++) this.ask(w, near, i, wanted);
		}
		for (const [key, asked] of this.asked)
			if (!wanted.has(asked)) {
				asked.control.abort();
				this.asked.delete(key);
			}
	}

	private isKnown(key: string): boolean {
		return this.kept.has(key) || this.asked.has(key) || this.failed.has(key);
	}

	/** Rows of one stretch of time that are not there yet, in as few questions as can be. */
	private ask(w: Window, near: readonly string[], i: number, wanted: Set<Asked>): void {
		const keyOf = (name: string) => Tiles.key(Tiles.layer(w.mode, w.scope), w.level, i, name), room = Math.floor(ROWS / (this.o.per ?? 1));
		const missing = w.names.filter((n) => !this.isKnown(keyOf(n)));
		for (const n of w.names) {
			const asked = this.asked.get(keyOf(n));
			if (asked) wanted.add(asked);
		}
		for (let k = 0; k < missing.length; k += room) {
			const names = missing.slice(k, k + room);
			for (const n of near) if (names.length < room && !names.includes(n) && !this.isKnown(keyOf(n))) names.push(n);
			wanted.add(this.send(w, names, names.map(keyOf), i));
		}
	}

	private send(w: Window, names: string[], keys: string[], i: number): Asked {
		const asked: Asked = { control: new AbortController(), keys }, { signal } = asked.control;
		const done = () => keys.forEach((k) => this.asked.get(k) === asked && this.asked.delete(k));
		for (const k of keys) this.asked.set(k, asked);
		this.requests++;
		this.fetch({ names: names.join(), level: w.level, i, mode: w.mode, scope: w.scope }, signal).then((data) => {
			if (signal.aborted) return; // of a question that is no longer this one
			done();
			this.keep(keys, readTile(data, this.o.magic));
			this.o.arrived();
		}).catch((e: unknown) => {
			if (signal.aborted) return;
			done();
			for (const k of keys) this.failed.add(k);
			this.o.wrong?.(e);
		});
		return asked;
	}

	private keep(keys: string[], tile: Tile): void {
		const per = this.o.per ?? 1, budget = this.o.budget ?? BUDGET - 2 * SMALL;
		if (tile.rows !== keys.length * per) throw new Error('a tile of the wrong size');
		tile.used = ++this.clock;
		this.near.clear();
		keys.forEach((k, n) => this.kept.set(k, { tile, row: n * per }));
		this.tiles.set(tile, keys);
		this.bytes += tile.cells.byteLength;
		if (this.bytes <= budget) return;
		for (const [old, its] of [...this.tiles].sort((a, b) => a[0].used - b[0].used)) {
			if (this.bytes <= budget * 0.9) return;
			this.tiles.delete(old);
			this.bytes -= old.cells.byteLength;
			for (const k of its) if (this.kept.get(k)?.tile === old) this.kept.delete(k);
		}
	}

	/** Everything is asked for anew. */
	clear(): void {
		for (const asked of this.asked.values()) asked.control.abort();
		for (const all of [this.kept, this.asked, this.failed, this.tiles, this.near]) all.clear();
		this.buffered = null;
		this.bytes = 0;
	}

	/** After a failure that may have passed (the server came back). */
	retry(): void {
		this.failed.clear();
		this.buffered = null;
	}

	count(): number {
		return this.tiles.size;
	}

	/** Questions on their way. */
	waiting(): number {
		return new Set(this.asked.values()).size;
	}
}
