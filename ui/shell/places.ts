// SPDX-License-Identifier: Apache-2.0
// places.ts: where one was: each selection, and each window that came to rest where nothing of the one before is in sight. Back, forward
// and a list of them. Views (Backspace) are apart: those are of the time axis alone.
import { App } from '../app';
import { button, fill, h } from '../base/dom';
import { count } from '../base/format';
import { CodeTable } from '../source';
import { Key, Selection, State, Store } from '../state';
import { trackName } from '../timeline/lanes';
import { dialog } from './dialogs';

export interface Place { selection: Selection | null; panel: string; t0: number; t1: number }
const MOST = 200;

/** The part of a selection that says where it is; what is filled in later does not make another place. */
function spot(s: Selection | null): string {
	return s ? [s.kind, s.track, s.slice, s.kind === 'code' && s.code, s.kind === 'line' && `${s.source}:${s.line}`, ...(s.kind === 'box' || s.kind === 'range' ? [s.t0, s.t1, s.tracks] : [])].join(' ') : '';
}

export class Places {
	/** oldest first */
	readonly list: Place[] = [];
	/** the one that is shown, or -1 */
	at = -1;

	constructor(private readonly store: Store) {
		store.rested = () => this.rest();
	}

	/** The latest of a place counts: the panel and the window that it was left with. */
	changed(s: Readonly<State>, keys: ReadonlySet<Key | 'theme' | 'size'>): void {
		const here = this.list[this.at], isSame = here && spot(here.selection) === spot(s.selection);
		if (s.selection && keys.has('selection') && !isSame) this.visit(s);
		else if (isSame && s.selection && (keys.has('selection') || keys.has('panel'))) Object.assign(here, { selection: s.selection, panel: s.panel });
	}

	private rest(): void {
		const s = this.store.get(), here = this.list[this.at];
		if (!here || s.t1 <= here.t0 || s.t0 >= here.t1) this.visit(s);
		else Object.assign(here, { t0: s.t0, t1: s.t1 });
	}

	private visit({ selection, panel, t0, t1 }: Readonly<State>): void {
		this.list.splice(this.at + 1, this.list.length, { selection, panel, t0, t1 });
		if (this.list.length > MOST) this.list.shift();
		this.at = this.list.length - 1;
	}

	/** To a place of the list; undefined: there is none. */
	go(i: number): Place | undefined {
		const p = this.list[i];
		if (!p) return undefined;
		this.at = i;
		this.store.choose();
		this.store.set({ selection: p.selection, panel: p.panel, t0: p.t0, t1: p.t1 });
		this.store.settle();
		return p;
	}
}

/** A place in words. */
export function placeName(app: App, code: CodeTable | null, p: Place): string {
	const s = p.selection, { trace } = app, range = (a: number, b: number) => `cycles ${count(Math.round(a))} to ${count(Math.round(b))}`;
	const row = s?.code !== undefined && code ? `row ${code.row[s.code]} ${code.text[s.code]}` : '', lane = s?.track !== undefined ? trackName(trace, s.track) : '';
	if (!s) return range(p.t0, p.t1);
	if (s.kind === 'line') return `${trace.sources[s.source ?? -1]?.path.replace(/.*\//, '') ?? '?'}:${s.line}`;
	if (s.t0 !== undefined && s.t1 !== undefined && s.kind !== 'slice') return range(s.t0, s.t1);
	return [row, lane].filter(Boolean).join(', ') || range(p.t0, p.t1);
}

export class PlaceCommands {
	constructor(private readonly app: App, private readonly places: Places) {}

	/** By so many places back (negative) or forward. */
	step(by: number): void {
		const { places } = this;
		if (!this.show(places.at + by)) this.app.say(by < 0 ? 'No earlier place' : 'No later place');
	}

	private show(i: number): boolean {
		const p = this.places.go(i);
		if (p?.selection?.track !== undefined) this.app.showTrack(p.selection.track);
		if (p) void this.app.code().catch(() => null).then((code) => this.app.say(`Place ${this.places.at + 1} of ${this.places.list.length}: ${placeName(this.app, code, p)}`, true));
		return !!p;
	}

	/** All of them, the latest first. */
	async choose(): Promise<void> {
		const still = this.app.store.choose(), code = await this.app.code().catch(() => null), { list, at } = this.places, body = h('div', { class: 'places' });
		if (!still()) return;
		const d = dialog('Visited places', body);
		fill(body, !list.length && h('p', { class: 'dim' }, 'No places yet: select a slice, a row or a lane.'), list.map((p, i) => h('div', { class: 'row' },
			button(placeName(this.app, code, p), 'Go there', () => {
				d.close();
				this.show(i);
			}, { attrs: i === at ? { 'aria-current': 'true' } : {} }), h('span', { class: 'dim' }, p.panel))).reverse());
		body.querySelector<HTMLElement>('[aria-current]')?.focus();
	}
}
