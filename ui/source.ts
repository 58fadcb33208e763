// SPDX-License-Identifier: Apache-2.0
// source.ts: where answers come from. One interface, two implementations: source_http.ts (a running `incore view`) and source_wasm.ts
// (the report). A panel never knows which one it has. The shapes are those of docs/viewer-api.md.

export type Query = Record<string, string | number | undefined>;

export interface Progress { stage: string; done: number; total: number; eta?: number | null }

export interface Source {
	readonly kind: 'server' | 'report';
	/** One answer as bytes; throws a SourceError. */
	ask(path: string, query?: Query, signal?: AbortSignal): Promise<ArrayBuffer>;
	/** Calls back while the capture loads; returns at once where nothing loads. */
	progress(seen: (p: Progress) => void, signal: AbortSignal): Promise<void>;
	/** How many questions went out, and how many bytes came back. */
	readonly asked: { requests: number; bytes: number; byPath: Record<string, number> };
}

/** status 0: nobody answered (the server is gone); 404: the answer is not in a report. */
export class SourceError extends Error {
	constructor(readonly status: number, readonly code: string, message: string) {
		super(message);
	}
}

/** "hot?by=line&top=all": keys sorted, so that a question has one spelling. */
export function questionOf(path: string, query: Query = {}): string {
	const words = Object.keys(query).filter((k) => query[k] !== undefined).sort()
		.map((k) => encodeURIComponent(k) + '=' + encodeURIComponent(String(query[k])).replace(/%2C/g, ','));
	return words.length ? path + '?' + words.join('&') : path;
}

const utf8 = new TextDecoder();

export async function askJson<T>(source: Source, path: string, query?: Query, signal?: AbortSignal): Promise<T> {
	return JSON.parse(utf8.decode(await source.ask(path, query, signal))) as T;
}

export async function askText(source: Source, path: string, query?: Query, signal?: AbortSignal): Promise<string> {
	return utf8.decode(await source.ask(path, query, signal));
}

// --- the answer `trace` ---

export interface TrackColumns {
	first: number;
	total: number;
	coord: number[][];
	name: string[];
	begin: number[];
	end: number[];
	slices: number[];
	lanes: number[];
	kernel: number[];
	busy?: number[];
}

export interface SourceFile { path: string; lines: number; has_text: boolean; cycles?: number }
export interface CounterInfo { name: string; domain: number; cu: number | null; unit: string | null; samples: number; max: number }
export interface NoteInfo { kind: string; code: string; message: string; count: number; t?: number; track?: number }
export interface CaptureInfo { hash: string; path: string; kernel: string | null; arch: string | null; evidence: string; state: string; error?: string }
export interface MarkerInfo { t: number; dur: number; track: number | null; name: string }

export interface TraceInfo {
	incore: string;
	hash: string;
	captures: CaptureInfo[];
	input: Record<string, unknown>;
	vendor: string;
	evidence: string;
	clock: { mhz: number | null; source: string | null; quantum: number };
	span: { origin: number; cycles: number };
	levels: string[];
	classes: { name: string; slot: number }[];
	slots: string[];
	buckets: string[];
	causes: string[];
	counts: Record<string, number>;
	tracks: TrackColumns;
	sources: SourceFile[];
	kernels: { id: number; name: string }[];
	counters: CounterInfo[];
	markers: MarkerInfo[];
	notes: NoteInfo[];
	colors?: Record<string, string>;
}

/** The trace with all pages of its tracks. */
export async function askTrace(source: Source, hash?: string): Promise<TraceInfo> {
	const info = await askJson<TraceInfo>(source, 'trace', { h: hash });
	const t = info.tracks;
	while (t.coord.length < t.total) {
		const from = t.coord.length;
		const page = await askJson<{ tracks: TrackColumns }>(source, 'trace', { h: hash, tracks: `${from}-${Math.min(t.total, from + 2000) - 1}` });
		if (!page.tracks.coord.length) break;
		const columns = ['coord', 'name', 'begin', 'end', 'slices', 'lanes', 'kernel', 'busy'] as const;
		for (const key of columns) (t[key] as unknown[] | undefined)?.push(...((page.tracks[key] ?? []) as unknown[]));
	}
	return info;
}

// --- code table ---

/** One column per field, for the whole code table; `source` is -1 where nothing is known. */
export interface CodeTable {
	total: number;
	row: number[];
	address: number[];
	text: string[];
	class: number[];
	label: number[];
	source: number[];
	line: number[];
	hits: number[];
	cycles: number[];
}

export async function askCode(source: Source, hash?: string): Promise<CodeTable> {
	const all: CodeTable = { total: 0, row: [], address: [], text: [], class: [], label: [], source: [], line: [], hits: [], cycles: [] };
	for (;;) {
		const page = await askJson<CodeTable & { first: number }>(source, 'code', { h: hash, first: all.row.length, n: 4000 });
		all.total = page.total;
		for (const key of ['row', 'address', 'text', 'class', 'label', 'source', 'line', 'hits', 'cycles'] as const)
			(all[key] as unknown[]).push(...(page[key] as unknown[]));
		if (!page.row.length || all.row.length >= all.total) return all;
	}
}

// --- one slice, a box, a search ---

export interface Partner { track: number; slice: number; t: number; code: number | null; text: string; latency: number; is_last: boolean }

export interface SliceInfo {
	track: number;
	slice: number | null;
	slices: number;
	name: string;
	start: number;
	dur: number;
	stall: number;
	end: number;
	previous?: number | null;
	next?: number | null;
	code?: number | null;
	row?: number;
	address?: number;
	text?: string;
	opcode?: string;
	class?: string;
	slot?: number;
	execution?: { n: number; of: number; previous: number | null; next: number | null };
	frames?: { source: number; path: string; line: number }[];
	buckets?: Record<string, number>;
	cause?: string;
	producers?: Partner[];
	consumers?: Partner[];
	sub_lane?: number;
	raw?: Record<string, unknown>;
}

export interface BoxRow {
	key: string;
	label: string;
	code?: number;
	slot: number;
	count: number;
	sum: number;
	union: number;
	mean: number;
	min: number;
	median: number;
	p95: number;
	max: number;
	stall: number;
	wait: number;
	causes: Record<string, number>;
}

export interface BoxInfo {
	t0: number;
	t1: number;
	by: string;
	cycles: number;
	tracks: number;
	slices: number;
	sum: number;
	union: number;
	stall: number;
	wait: number;
	at_once: number;
	buckets: Record<string, number>;
	rows: BoxRow[];
	left_out: number;
}

export interface Match { kind: string; code?: number; row?: number; text: string; hits?: number; source?: number; line?: number; track?: number; id?: number; t?: number }
export interface FindInfo { q: string; count: number; matches: Match[]; left_out: number; density: number[] }

// --- binary answers ---

export interface Slices { track: number; first: number; base: number; n: number; isCut: boolean; view: DataView }
const HEADER = 32, ROW = 20, LINK = 24;

function header(data: ArrayBuffer, magic: string): DataView {
	const v = new DataView(data);
	if (data.byteLength < HEADER || magic !== String.fromCharCode(v.getUint8(0), v.getUint8(1), v.getUint8(2), v.getUint8(3)))
		throw new SourceError(500, 'bad-answer', `expected ${magic}, found ${data.byteLength} bytes of something else`);
	return v;
}

/** Decodes `slices`. */
export function readSlices(data: ArrayBuffer): Slices {
	const v = header(data, 'ICS1');
	const n = Math.min(v.getUint32(24, true), Math.floor((data.byteLength - HEADER) / ROW));
	return { track: v.getUint32(8, true), first: v.getUint32(12, true), base: Number(v.getBigUint64(16, true)), n, isCut: (v.getUint16(6, true) & 1) !== 0, view: v };
}

export interface SliceRow { start: number; dur: number; stall: number; code: number; cls: number; flags: number; lane: number }
export const NO_CODE = 0xffffffff;

export function sliceRow(s: Slices, i: number): SliceRow {
	const at = HEADER + i * ROW, v = s.view;
	return {
		start: s.base + v.getUint32(at, true), dur: v.getUint32(at + 4, true), stall: v.getUint32(at + 8, true), code: v.getUint32(at + 12, true),
		cls: v.getUint8(at + 16), flags: v.getUint8(at + 17), lane: v.getUint16(at + 18, true),
	};
}

export const LINK_KINDS = ['wait', 'flag', 'branch', 'flow', 'barrier', 'cross-core'] as const;
export interface Link { fromTrack: number; from: number; toTrack: number; to: number; latency: number; kind: number; isLast: boolean; fromLane: number; toLane: number }

/** Decodes `links`; `more` is how many the cap left out. */
export function readLinks(data: ArrayBuffer): { links: Link[]; more: number } {
	const v = header(data, 'ICL1');
	const n = Math.min(v.getUint32(8, true), Math.floor((data.byteLength - HEADER) / LINK));
	const base = Number(v.getBigUint64(16, true));
	const links: Link[] = [];
	for (let i = 0, at = HEADER; i < n; i++, at += LINK)
		links.push({
			fromTrack: v.getUint32(at, true), from: base + v.getUint32(at + 4, true), toTrack: v.getUint32(at + 8, true), to: base + v.getUint32(at + 12, true),
			latency: v.getUint32(at + 16, true), kind: v.getUint8(at + 20), isLast: (v.getUint8(at + 21) & 1) !== 0,
			fromLane: v.getUint8(at + 22), toLane: v.getUint8(at + 23),
		});
	return { links, more: v.getUint32(12, true) };
}

/** Decodes `counters`: min, max, mean of each pixel; NaN where there is no sample. */
export function readCounter(data: ArrayBuffer): { t0: number; t1: number; width: number; values: Float32Array } {
	const v = header(data, 'ICC1');
	const width = Math.min(v.getUint32(24, true), Math.floor((data.byteLength - HEADER) / 12));
	return { t0: Number(v.getBigUint64(8, true)), t1: Number(v.getBigUint64(16, true)), width, values: new Float32Array(data, HEADER, width * 3) };
}

/** [0, 1, 2, 7] -> "0-2,7". */
export function ranges(numbers: readonly number[]): string {
	const sorted = [...new Set(numbers)].sort((a, b) => a - b);
	const out: string[] = [];
	for (let i = 0; i < sorted.length;) {
		let j = i;
		while (j + 1 < sorted.length && sorted[j + 1] === sorted[j] + 1) j++;
		out.push(i === j ? String(sorted[i]) : `${sorted[i]}-${sorted[j]}`);
		i = j + 1;
	}
	return out.join(',');
}

/** The reverse; garbage and absurd ranges are left out. */
export function parseRanges(text: string, limit = 100000): number[] {
	const out: number[] = [];
	for (const word of text.split(',')) {
		const m = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(word);
		if (!m) continue;
		for (let i = Number(m[1]); i <= Number(m[2] ?? m[1]) && out.length < limit; i++) out.push(i);
	}
	return out;
}
