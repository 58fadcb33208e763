// SPDX-License-Identifier: Apache-2.0
// app.ts: what a panel is, and what it is handed. Panels are listed in panels/list.ts; each is a folder with a view.ts that exports one
// `Panel`. A panel shows answers of the verbs; it computes no figure of its own.
import { Palette } from './base/palette';
import { Units } from './base/format';
import { CodeTable, Query, Source, TraceInfo } from './source';
import { Key, Selection, State, Store } from './state';

/** {"schema", "incore", "input", "data", "warnings"}: what `incore <verb> --json` prints. */
export interface Envelope<T> { schema: string; incore: string; input: Record<string, unknown>; data: T; warnings: unknown[] }

export interface App {
	readonly source: Source;
	readonly store: Store;
	readonly trace: TraceInfo;
	/** The code table; read once. */
	code(): Promise<CodeTable>;
	/** Answer of a verb for the capture shown (and the scope chosen); the same question is asked once. */
	verb<T>(name: string, query?: Query): Promise<Envelope<T>>;
	/** What f asks of the verbs is in sight: it goes before what is not. */
	inView<T>(f: () => T): T;
	/** Like verb(), for the capture it is compared with. */
	baseVerb<T>(name: string, query?: Query): Promise<Envelope<T>>;
	palette(): Palette;
	/** Unit, clock and what 100 % is, for base/format.ts. */
	units(): Units;
	/** Tells a screen reader and, unless it is for it alone, shows for a moment. */
	say(text: string, isQuiet?: boolean): void;
	/** Selects; fills in code row and source line of a slice, source line of a row. */
	select(s: Selection | null): void;
	/** Opens a panel of the bottom row. */
	openPanel(id: string): void;
	/** Shows a stretch of time, with some room around it, as one step of the view history. */
	showTime(t0: number, t1: number): void;
	/** Scrolls the lane of a track into sight, unfolding and unhiding it. */
	showTrack(track: number): void;
	/** Selects a slice by its number on its track and brings it into sight. */
	goSlice(track: number, slice: number): void;
	/** Number of the code row that the producer numbered so, or -1. */
	codeOfRow(row: number): number;
}

export interface PanelView {
	/** Something in the store changed (or 'theme'); called once at the start with everything. */
	changed(state: Readonly<State>, keys: ReadonlySet<Key | 'theme' | 'size'>): void;
	close(): void;
	/** Short text of what is shown, for print and screen readers. */
	summary?(): string;
}

export interface Panel {
	readonly id: string;
	readonly title: string;
	/** Another title for this capture (waves are pipes on some machines), or undefined. */
	titleFor?(app: App): string | undefined;
	/** One line for the help dialog and the tab's tooltip. */
	readonly hint: string;
	/** Questions that it asks the verbs, keys sorted: a report carries the answers (tools/page_questions.py). */
	readonly questions?: readonly string[];
	/** Why it has nothing to show for this capture, or null. The tab stays, and says so. */
	missing?(app: App): string | null;
	/** false: no tab at all (tables that only some captures have). */
	applies?(app: App): boolean;
	open(host: HTMLElement, app: App): PanelView;
}
