// SPDX-License-Identifier: Apache-2.0
// exact.ts: the slices themselves, for a window so narrow that they can be told apart. Windows are aligned to powers of two, so that a pan
// inside one asks for nothing.
import { readSlices, SliceRow, Slices, sliceRow } from '../source';

const KEEP = 600;
/** Questions on their way at once: a browser sends no more, and to make eighty in one frame takes it longer than two frames may. */
const AT_ONCE = 12;

export type FetchSlices = (track: number, t0: number, t1: number, signal: AbortSignal) => Promise<ArrayBuffer>;

interface Kept { t0: number; t1: number; slices: Slices | null; used: number; control: AbortController }

export class Exact {
	private readonly kept = new Map<string, Kept>();
	private clock = 0;
	private onTheirWay = 0;
	/** since begin() something was not asked for, because enough is on its way: an answer that comes asks for the next drawing */
	private isShort = false;
	requests = 0;
	/** some answer since begin() held only part of its rows: cells must stand in */
	isCut = false;

	constructor(private readonly fetch: FetchSlices, private readonly arrived: () => void, private readonly wrong: (e: unknown) => void) {}

	/** A drawing begins. */
	begin(): void {
		this.isCut = this.isShort = false;
	}

	/** What is known of a track in [t0, t1): the answer that covers it, null while it is on its way or has too many rows. */
	get(track: number, t0: number, t1: number): Slices | null {
		const size = 2 ** Math.ceil(Math.log2(Math.max(64, (t1 - t0) * 2)));
		const at = Math.max(0, Math.floor((t0 - (size - (t1 - t0)) / 2) / (size / 4)) * (size / 4));
		const key = `${track}/${size}/${at}`;
		let k = this.kept.get(key);
		if (!k) {
			for (const other of this.kept.values())
				if (other.slices && other.slices.more === 0 && other.slices.track === track && other.t0 <= t0 && other.t1 >= t1) {
					other.used = ++this.clock;
					return other.slices;
				}
			if (this.onTheirWay >= AT_ONCE) {
				this.isShort = true;
				return null;
			}
			k = { t0: at, t1: at + size * 1.5, slices: null, used: 0, control: new AbortController() };
			this.ask(key, track, k);
		}
		k.used = ++this.clock;
		if (k.slices && k.slices.more > 0) this.isCut = true;
		return k.slices && k.slices.more === 0 ? k.slices : null;
	}

	/** Nothing is on its way, or has still to be asked for. */
	isQuiet(): boolean {
		if (this.isShort) return false;
		for (const k of this.kept.values()) if (!k.slices) return false;
		return true;
	}

	private ask(key: string, track: number, k: Kept): void {
		this.kept.set(key, k);
		this.requests++;
		this.onTheirWay++;
		this.fetch(track, k.t0, k.t1, k.control.signal).finally(() => this.onTheirWay--).then((data) => {
			k.slices = readSlices(data);
			this.arrived();
		}).catch((e: unknown) => {
			this.kept.delete(key);
			if (!k.control.signal.aborted) this.wrong(e);
		});
		if (this.kept.size <= KEEP) return;
		const old = [...this.kept.entries()].sort((a, b) => a[1].used - b[1].used).slice(0, KEEP / 4);
		for (const [name, one] of old) {
			one.control.abort();
			this.kept.delete(name);
		}
	}
}

/** First row that ends after t. Rows are sorted by start; `longest` overlaps of pipes are told apart by their sub-lane. */
export function firstAfter(s: Slices, t: number): number {
	let low = 0, high = s.n;
	while (low < high) {
		const mid = (low + high) >> 1;
		if (sliceRow(s, mid).start <= t) low = mid + 1;
		else high = mid;
	}
	return low;
}

/** The slice at a time (and sub-lane), with its number within the track. */
export function sliceAt(s: Slices, t: number, lane: number): { row: SliceRow; slice: number } | null {
	for (let i = firstAfter(s, t) - 1, tried = 0; i >= 0 && tried < 256; i--, tried++) {
		const row = sliceRow(s, i);
		if (row.lane === lane && t < row.start + Math.max(1, row.dur)) return { row, slice: s.first + i };
		if (row.lane === lane) return null;
	}
	return null;
}
