// SPDX-License-Identifier: Apache-2.0
// session.ts: one capture in one window: implements what panels are handed (app.ts).
import { App, Envelope } from '../app';
import { Units } from '../base/format';
import { override, Palette, PALETTES } from '../base/palette';
import { askCode, askJson, baseCapture, CodeTable, Query, questionOf, Source, TraceInfo } from '../source';
import { Range, Selection, Store } from '../state';
import { theme } from './theme';

/** Verbs that take --kernel, --from and --until: scope and range narrow them, but for a question that says itself which kernel (k; undefined: all). */
const SCOPED = new Set(['hot', 'isa', 'waves', 'occupancy', 'summary', 'verdict']);

export interface Shows { openPanel(id: string): void; showTime(t0: number, t1: number): void; showTrack(track: number): void; goSlice(track: number, slice: number): void; say(text: string, isQuiet?: boolean): void }

export class Session implements App {
	private readonly answers = new Map<string, Promise<Envelope<unknown>>>();
	private codeTable: Promise<CodeTable> | null = null;
	private known: CodeTable | null = null;
	private byRow = new Map<number, number>();
	shows: Shows | null = null;
	private release!: () => void;
	/** The lanes come first: a verb may walk millions of slices. Kept when they are drawn, or after a moment. */
	private readonly first = new Promise<void>((done) => (this.release = done));
	private isInView = false;
	private lastRange: Range | null = null;
	/** questions of the open panel that have no answer yet; the others wait for them, and then go one by one, as the server answers them */
	private pressing = 0;
	private isAsking = false;
	private readonly later: { key: string; ask: () => Promise<unknown> }[] = [];

	constructor(readonly source: Source, readonly store: Store, readonly trace: TraceInfo) {}

	/** The lanes are there: now the rest may ask. */
	painted(): void {
		this.release();
	}

	inView<T>(f: () => T): T {
		const before = this.isInView;
		this.isInView = true;
		try {
			return f();
		} finally {
			this.isInView = before;
		}
	}

	private inTurn<T>(key: string, ask: () => Promise<T>): Promise<T> {
		if (this.isInView) return this.press(ask);
		return new Promise((done, fail) => {
			this.later.push({ key, ask: () => ask().then(done, fail) });
			void this.first.then(() => this.next());
		});
	}

	private press<T>(ask: () => Promise<T>): Promise<T> {
		this.pressing++;
		return this.first.then(ask).finally(() => {
			this.pressing--;
			this.next();
		});
	}

	private next(): void {
		const asked = this.pressing || this.isAsking ? undefined : this.later.shift();
		if (!asked) return;
		this.isAsking = true;
		void asked.ask().finally(() => {
			this.isAsking = false;
			this.next();
		});
	}

	private capture(): number {
		return this.trace.index;
	}

	code(): Promise<CodeTable> {
		if (!this.codeTable)
			this.codeTable = askCode(this.source, this.capture()).then((c) => {
				this.known = c;
				for (let i = c.row.length - 1; i >= 0; i--) if (!c.label[i]) this.byRow.set(c.row[i], i);
				return c;
			});
		return this.codeTable;
	}

	/** Answers about a range that is left are not kept: there may be any number of ranges. */
	private forget(range: Range | null): void {
		if (range === this.lastRange) return;
		this.lastRange = range;
		for (const key of this.answers.keys()) if (/[?&]from=/.test(key)) this.answers.delete(key);
	}

	private ask<T>(name: string, query: Query): Promise<Envelope<T>> {
		const key = questionOf(name, query);
		this.forget(this.store.get().range);
		let answer = this.answers.get(key);
		if (!answer) {
			answer = this.inTurn(key, () => askJson<Envelope<unknown>>(this.source, name, query));
			this.answers.set(key, answer);
			/* what is refused stays refused; a server that is gone or still loads may answer later */
			answer.catch((e: { status?: number }) => e.status !== 400 && e.status !== 422 && this.answers.delete(key));
		}
		// what waits its turn does not wait for others once it is in sight
		const at = this.isInView ? this.later.findIndex((l) => l.key === key) : -1;
		if (at >= 0) void this.press(this.later.splice(at, 1)[0].ask);
		return answer as Promise<Envelope<T>>;
	}

	private scoped(name: string, query: Query): Query {
		const { range } = this.store.get();
		return this.kernelOf(name, range && SCOPED.has(name) ? { from: range.t0, to: range.t1, ...range.where, ...query } : query);
	}

	private kernelOf(name: string, query: Query): Query {
		const scope = this.store.get().scope, { kernels, tracks } = this.trace;
		if (scope === null || 'k' in query || !SCOPED.has(name) || !kernels.some((k) => k.id === scope)) return query;
		if (tracks.every((t) => t.kernel === scope)) return query; // all there is: a report carries it once
		return { ...query, k: scope };
	}

	verb<T>(name: string, query: Query = {}): Promise<Envelope<T>> {
		return this.ask<T>(name, this.scoped(name, { ...query, c: this.capture() || undefined }));
	}

	baseVerb<T>(name: string, query: Query = {}): Promise<Envelope<T>> {
		const c = baseCapture(this.trace, this.store.get().base)?.index;
		if (c === undefined) return Promise.reject(new Error('no capture to compare with'));
		return this.ask<T>(name, this.scoped(name, { ...query, c: c || undefined }));
	}

	palette(): Palette {
		return override(PALETTES[theme()], this.trace.colors?.[theme()] ?? {});
	}

	units(): Units {
		const unit = this.store.get().unit, mhz = this.trace.clock.mhz;
		return { unit: unit === 'us' && !mhz ? 'cyc' : unit, mhz, scope: Math.max(1, this.trace.span.end - this.trace.span.begin) };
	}

	say(text: string, isQuiet = false): void {
		this.shows?.say(text, isQuiet);
	}

	select(s: Selection | null): void {
		this.store.choose();
		this.store.set({ selection: this.filled(s) });
		if (!this.known) void this.code().then(() => this.store.get().selection && this.store.set({ selection: this.filled(this.store.get().selection) }), () => undefined);
	}

	/** A row also names its source line. */
	private filled(s: Selection | null): Selection | null {
		const source = s?.code === undefined || s.source !== undefined ? undefined : this.known?.source[s.code];
		return s && source !== undefined && source >= 0 ? { ...s, source, line: this.known!.line[s.code!] } : s;
	}

	openPanel(id: string): void {
		this.shows?.openPanel(id);
	}

	showTime(t0: number, t1: number): void {
		this.shows?.showTime(t0, t1);
	}

	showTrack(track: number): void {
		this.shows?.showTrack(track);
	}

	goSlice(track: number, slice: number): void {
		this.shows?.goSlice(track, slice);
	}

	codeOfRow(row: number): number {
		return this.byRow.get(row) ?? -1;
	}
}
