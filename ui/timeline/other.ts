// SPDX-License-Identifier: Apache-2.0
// other.ts: the capture that is compared with: its tiles, the partner of each lane, and how its time is moved so that both line up.
import { App } from '../app';
import { askCode, askJson, askTrace, CaptureInfo, CodeTable, SliceInfo, TraceInfo } from '../source';
import { Align, Mode } from '../state';
import { levelOf, Tiles } from './tiles';

type Part = { row_a: number | null; row_b: number | null };

/** The code row of B that the program aligned with one of A, or -1. */
export function partnerRow(parts: readonly Part[], a: CodeTable, b: CodeTable, code: number): number {
	const row = parts.find((p) => p.row_a === a.row[code])?.row_b ?? null;
	return row === null || a.label[code] ? -1 : b.row.findIndex((r, i) => r === row && !b.label[i]);
}

export class Other {
	readonly tiles: Tiles;
	private readonly partners: Map<string, number>;
	private readonly starts = new Map<string, number | null>();

	private constructor(private readonly app: App, private readonly capture: number, readonly trace: TraceInfo, private readonly redraw: () => void) {
		this.tiles = new Tiles(({ level, i, mode, names }, signal) => app.source.ask('tile', { lanes: names, level, i, mode, h: trace.hash, c: capture, base: mode === 'diff' ? app.trace.index : undefined }, signal), { arrived: redraw });
		this.partners = new Map(trace.tracks.map((t) => [t.coord.join('.'), t.index]));
	}

	static async open(app: App, c: CaptureInfo, redraw: () => void): Promise<Other> {
		return new Other(app, c.index, await askTrace(app.source, c.index), redraw);
	}

	/** The track of B with the coordinates of A's, or undefined. */
	partner(track: number): number | undefined {
		return this.partners.get(this.app.trace.tracks[track].coord.join('.'));
	}

	/** Asks for all that the partners of these tracks need, at once: what is not named is given up. */
	want(tracks: readonly number[], s: { t0: number; t1: number }, width: number, mode: Mode): void {
		const { align } = this.app.store.get(), pairs: [number, number][] = [];
		for (const i of tracks) {
			const partner = this.partner(i);
			if (partner !== undefined) pairs.push([partner, this.shift(i, partner, align)]);
		}
		this.ask(pairs, s.t0, s.t1, width, mode);
	}

	/** Cells of these tracks of B, each moved by so much, in a window on A's time. Each is a row of its own: no two need move alike. */
	ask(moved: readonly [number, number][], t0: number, t1: number, width: number, mode: Mode): void {
		const { tracks, span } = this.trace, wide = t1 - t0;
		const shown = moved.filter(([i, by]) => tracks[i].end + by > t0 - wide && tracks[i].begin + by < t1 + wide);
		if (!shown.length) return;
		const from = t0 - Math.max(...shown.map(([, by]) => by)), to = t1 - Math.min(...shown.map(([, by]) => by));
		this.tiles.want({ t0: from, t1: Math.min(to, from + 4 * wide), level: levelOf(wide / Math.max(1, width)), mode, scope: null, names: shown.map(([i]) => String(i)), around: () => [], end: span.end });
	}

	/** What is added to B's time on the lane of a track of A. */
	shift(track: number, partner: number, align: Align): number {
		if (align === 'trace') return 0;
		const byStart = this.app.trace.tracks[track].begin - this.trace.tracks[partner].begin;
		const row = this.app.store.get().selection?.code;
		if (align === 'start' || row === undefined) return byStart;
		const a = this.start(this.app.trace.index, track, row), at = this.rowOf(row);
		const b = at < 0 ? undefined : this.start(this.capture, partner, at);
		return a === undefined || b === undefined || a === null || b === null ? byStart : a - b;
	}

	/** by code row of A; asked for with the first */
	private rows: Map<number, number> | null = null;
	private partnerOf: (code: number) => number = () => -1;
	private rowOf(code: number): number {
		if (!this.rows) {
			this.rows = new Map();
			void Promise.all([this.app.verb<{ parts: Part[] }>('diff', { base: this.capture, by: 'instr', top: 'all' }), this.app.code(), askCode(this.app.source, this.capture)]).then(([d, a, b]) => {
				this.partnerOf = (row) => partnerRow(d.data.parts, a, b, row);
				this.rows = new Map();
				this.redraw();
			}, () => this.app.say('The rows of the two captures cannot be aligned: lanes line up at their start'));
		}
		if (!this.rows.has(code)) this.rows.set(code, this.partnerOf(code));
		return this.rows.get(code)!;
	}

	/** Start of the first execution of a row on a track; null where it never ran, undefined until it is known. */
	private start(capture: number, track: number, row: number): number | null | undefined {
		const key = `${capture}/${track}/${row}`;
		if (this.starts.has(key)) return this.starts.get(key) ?? undefined;
		this.starts.set(key, null);
		askJson<SliceInfo>(this.app.source, 'at', { c: capture || undefined, track, code: row, execution: 1 }).then((s) => {
			if (s.slice !== null) this.starts.set(key, s.start);
			this.redraw();
		}, () => undefined);
		return undefined;
	}
}
