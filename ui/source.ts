// SPDX-License-Identifier: Apache-2.0
// source.ts: where answers come from. One interface, two implementations: source_http.ts (a running `incore view`) and source_wasm.ts
// (the report). A panel never knows which one it has. The shapes are those of docs/view-api.md.

import { ViewAnswer } from './answers';

export type Query = Record<string, string | number | undefined>;

export interface Progress { stage: string; done: number; total: number; eta?: number | null; read?: number }

export interface Source {
	readonly kind: 'server' | 'report';
	/** One answer as bytes; throws a SourceError. */
	ask(path: string, query?: Query, signal?: AbortSignal): Promise<ArrayBuffer>;
	/** Calls back while the capture loads; returns at once where nothing loads. */
	/** Tells each news until all is read, or until `seen` says false. */
	progress(seen: (p: Progress) => boolean): Promise<void>;
	/** How many questions went out, how many of them are done, and how many bytes came back. */
	readonly asked: { requests: number; done: number; bytes: number; byPath: Record<string, number> };
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

/** One lane of execution: a wave or a pipe. */
export interface Track {
	index: number;
	coord: number[];
	begin: number;
	end: number;
	slices: number;
	/** sub-lanes: 1 but for pipes whose slices overlap */
	lanes: number;
	kernel: number | null;
	name: string;
	isAligned: boolean;
}

export type TraceAnswer = ViewAnswer;
export type CaptureInfo = ViewAnswer['captures'][number];

type Read = Required<Omit<ViewAnswer, 'colors' | 'tracks' | 'track_columns' | 'next_track'>> & Pick<ViewAnswer, 'colors'>;
/** Of a capture that is read: all that its answer then has, and its tracks. */
export interface TraceInfo extends Read {
	/** which of the captures this is */
	index: number;
	hash: string;
	input: Record<string, unknown>;
	kernels: { id: number; name: string }[];
	tracks: Track[];
	vendor: string;
	evidence: string;
}

/** Counts of samples, no time: so the evidence says, or what is there where a generator made it up. */
export function isSampled(trace: TraceInfo): boolean {
	return trace.evidence === 'hardware-sample' || (trace.has_samples && !trace.tracks.length);
}

/** A timeline of another tool: lanes of threads with slices, but no instructions. */
export function isTimeline(trace: TraceInfo): boolean {
	return trace.levels[0] === 'process';
}

/** The capture that a comparison means: never the one shown, even where both have the same content. */
export function baseCapture(trace: TraceInfo, hash: string | null): CaptureInfo | null {
	return hash === null ? null : trace.captures.find((c) => c.hash === hash && c.index !== trace.index) ?? null;
}

/** What to call captures: the part of their paths that differs, in whole folders; their numbers where nothing does. */
export function captureNames(captures: readonly { path: string }[]): string[] {
	const parts = captures.map((c) => c.path.split('/').filter(Boolean)), [first = []] = parts, short = Math.min(...parts.map((p) => p.length));
	let head = 0, tail = 0;
	while (head < short && parts.every((p) => p[head] === first[head])) head++;
	while (tail < short - head && parts.every((p) => p[p.length - 1 - tail] === first[first.length - 1 - tail])) tail++;
	const names = parts.map((p) => p.slice(head, p.length - tail).join('/') || p[p.length - 1] || '');
	return names.map((n, i) => (names.indexOf(n) !== i || names.lastIndexOf(n) !== i || captures.length < 2 ? `${i + 1}: ${n}` : n));
}

function readTracks(page: TraceAnswer, out: Track[]): void {
	if (!page.tracks) return;
	const at = (name: string) => page.track_columns?.indexOf(name) ?? -1;
	const [coord, begin, end, slices, lanes, kernel, name, aligned] =
		['coord', 'begin', 'end', 'slices', 'lanes', 'kernel', 'name', 'clock_aligned'].map(at);
	for (const row of page.tracks)
		out.push({
			index: out.length, coord: row[coord] as number[], begin: row[begin] as number, end: row[end] as number, slices: row[slices] as number,
			lanes: Math.max(1, row[lanes] as number), kernel: row[kernel] as number | null, name: row[name] as string, isAligned: row[aligned] !== false,
		});
}

/** The trace with all pages of its tracks. */
export async function askTrace(source: Source, capture: number): Promise<TraceInfo> {
	const first = await askJson<TraceAnswer>(source, 'trace', { c: capture || undefined });
	const tracks: Track[] = [], step = first.next_track ?? 0, pages: Promise<TraceAnswer>[] = [];
	readTracks(first, tracks);
	for (let from = step; step && from < (first.counts?.tracks ?? 0); from += step) pages.push(askJson<TraceAnswer>(source, 'trace', { c: capture || undefined, from }));
	for (const page of await Promise.all(pages)) readTracks(page, tracks);
	const input = first.input ?? {}, kernels = (first.kernels ?? []).map((k) => ({ id: k.id, name: k.name ?? '(no name)' }));
	// while the capture is read the answer has no more than its state, and who asked for it looks at nothing else
	return { ...(first as Read), hash: first.hash ?? '', input, kernels, index: capture, tracks, vendor: String(input.vendor ?? ''), evidence: String(input.evidence ?? 'unknown') };
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

const CODE_PAGE = 4000;

export async function askCode(source: Source, capture: number): Promise<CodeTable> {
	const page = (from: number) => askJson<CodeTable>(source, 'code', { c: capture || undefined, from, n: CODE_PAGE });
	const first = await page(0), rest: CodeTable[] = [];
	let from = CODE_PAGE;
	/* two at a time: a browser has six connections, and lanes want some */
	const reader = async () => {
		for (let mine = from; mine < first.total; mine = from) {
			from += CODE_PAGE;
			rest[mine / CODE_PAGE - 1] = await page(mine);
		}
	};
	await Promise.all([reader(), reader()]);
	for (const next of rest)
		for (const key of ['row', 'address', 'text', 'class', 'label', 'source', 'line', 'hits', 'cycles'] as const)
			for (const v of next[key]) (first[key] as unknown[]).push(v);
	return first;
}

// --- one slice, a box, a search ---

export interface Partner { track: number; slice: number; start: number; code: number | null; text: string; latency: number; is_last: boolean; is_certain: boolean }

export interface SliceInfo {
	track: number;
	slice: number | null;
	start: number;
	duration: number;
	stall: number;
	issue: number;
	class: string;
	slot: number;
	code: number | null;
	address: number | null;
	number: number | null;
	text: string;
	/** n of N; previous and next are slices of the same row on this track */
	execution: number;
	executions: number;
	previous: number | null;
	next: number | null;
	wave: number[];
	name: string;
	buckets: Record<string, number>;
	cause?: string | null;
	frames: { file: string; source: number; line: number }[];
	producers: Partner[];
	consumers: Partner[];
	raw: Record<string, unknown>;
}

export interface BoxFigures { count: number; sum: number; union: number; mean: number; min: number; median: number; p95: number; max: number; stall: number; wait: number; causes?: Record<string, number> }
export interface BoxRow extends BoxFigures { key: string; class: string | null; code: number | null; source: number | null; line: number | null; share: number }
export interface BoxInfo { t0: number; t1: number; tracks: number; by: string; total: BoxFigures; concurrency: number; rows: BoxRow[]; left_out: number }

export interface Match {
	kind?: string;
	code?: number;
	text: string;
	hits?: number;
	first?: { track: number; slice: number; t: number } | null;
	source?: number;
	line?: number;
	track?: number;
	kernel?: number;
	t?: number;
}
export interface FindInfo { q: string; in: string; is_regex: boolean; count: number; matches: Match[]; left_out: number; density: number[] }

// --- binary answers ---

const HEADER = 32, ROW = 20, LINK = 24;

function header(data: ArrayBuffer, magic: string, least = HEADER): DataView {
	const v = new DataView(data);
	if (data.byteLength < least || magic !== String.fromCharCode(v.getUint8(0), v.getUint8(1), v.getUint8(2), v.getUint8(3)))
		throw new SourceError(500, 'bad-answer', `expected ${magic}, found ${data.byteLength} bytes of something else`);
	return v;
}

/** `first` is the slice number of row 0 within its track; `more` rows were left out. */
export interface Slices { track: number; first: number; base: number; n: number; more: number; view: DataView }

/** Decodes `slices`. */
export function readSlices(data: ArrayBuffer): Slices {
	const v = header(data, 'ICS1');
	const n = Math.min(v.getUint32(12, true), Math.floor((data.byteLength - HEADER) / ROW));
	return { track: v.getUint32(8, true), first: v.getUint32(24, true), base: Number(v.getBigUint64(16, true)), n, more: v.getUint32(28, true), view: v };
}

export interface SliceRow { start: number; dur: number; stall: number; code: number; cls: number; flags: number; lane: number; /** colour: of its class, of its pipe, or of what it waited for */ slot: number }
export const NO_CODE = 0xffffffff;
export const SLICE_LINKED = 4, SLICE_WAITS = 8;

export function sliceRow(s: Slices, i: number): SliceRow {
	const at = HEADER + i * ROW, v = s.view;
	return {
		start: s.base + v.getUint32(at, true), dur: v.getUint32(at + 4, true), stall: v.getUint32(at + 8, true), code: v.getUint32(at + 12, true),
		cls: v.getUint8(at + 16), flags: v.getUint8(at + 17), lane: v.getUint8(at + 18), slot: v.getUint8(at + 19),
	};
}

export const LINK_KINDS = ['wait', 'flag', 'barrier', 'cross-core', 'flow', 'branch'] as const;
/** From the cause (producer, set, branch) to what waited; `isSure` false: one of several candidates. */
export interface Link { fromTrack: number; fromSlice: number; from: number; toTrack: number; toSlice: number; to: number; kind: number; isLast: boolean; isSure: boolean; slot: number }

/** Decodes `links`; `more` is how many the cap left out. */
export function readLinks(data: ArrayBuffer): { links: Link[]; more: number } {
	const v = header(data, 'ICL1');
	const n = Math.min(v.getUint32(8, true), Math.floor((data.byteLength - HEADER) / LINK));
	const base = Number(v.getBigUint64(16, true));
	const links: Link[] = [];
	for (let i = 0, at = HEADER; i < n; i++, at += LINK) {
		const from = v.getUint32(at, true), to = v.getUint32(at + 4, true), flags = to >>> 24;
		links.push({
			fromTrack: from & 0xffffff, kind: from >>> 24, toTrack: to & 0xffffff, isLast: (flags & 1) !== 0, isSure: (flags & 2) === 0, slot: flags >> 4,
			fromSlice: v.getUint32(at + 8, true), toSlice: v.getUint32(at + 12, true), from: base + v.getUint32(at + 16, true), to: base + v.getUint32(at + 20, true),
		});
	}
	return { links, more: v.getUint32(12, true) };
}

/** Decodes `counters`: per series `width` times min, max, mean; NaN where there is no sample. */
export function readCounters(data: ArrayBuffer): { series: number; width: number; values: Float32Array } {
	const v = header(data, 'ICC1', 16);
	const series = v.getUint32(8, true), width = v.getUint32(12, true);
	const n = Math.min(series * width * 3, Math.floor((data.byteLength - 16) / 4));
	return { series, width, values: new Float32Array(data, 16, n) };
}

/** Decodes `buckets`: per pixel the cycles of all tracks in each bucket. */
export function readBuckets(data: ArrayBuffer): { buckets: number; width: number; values: Float64Array } {
	const v = header(data, 'ICB1', 16), buckets = v.getUint16(6, true), width = v.getUint32(8, true);
	return { buckets, width, values: new Float64Array(data, 16, Math.min(buckets * width, Math.floor((data.byteLength - 16) / 8))) };
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
