// SPDX-License-Identifier: Apache-2.0
// search.ts: finds text or /regular expressions/ in instructions, sources, tracks, kernels and markers. All matches are marked on the axis
// and on the lanes; next and previous say when they wrap. In a report the browser's own RegExp picks among the texts of the code table.
import { App } from '../app';
import { button, fill, h } from '../base/dom';
import { count } from '../base/format';
import { Latest, Still } from '../base/latest';
import { askJson, askText, CodeTable, FindInfo, Match, Query, ranges } from '../source';
import { Key, State } from '../state';
import { trackName } from '../timeline/lanes';

/** characters of row numbers that a question has room for */
const MOST = 3800;
export const PLACES = ['isa', 'source', 'tracks', 'kernels', 'markers'] as const;
export interface SearchShows { goSlice(track: number, slice: number): void; marks(codes: number[], density: number[], question: Query | null, tracks: number[]): void }

/** A pattern between slashes, or null for plain text; throws on a bad one. */
export function patternOf(q: string): RegExp | null {
	const m = /^\/(.+)\/(i?)$/.exec(q);
	return m ? new RegExp(m[1], m[2] || 'i') : null;
}

/** Rows whose text matches, for a report. */
export function findInCode(code: CodeTable, pattern: RegExp): Match[] {
	const out: Match[] = [];
	code.text.forEach((text, i) => {
		if (!code.label[i] && pattern.test(text)) out.push({ kind: 'isa', code: i, text, hits: code.hits[i] });
	});
	return out;
}

/** Rows whose address begins with these digits. */
export function findAddress(code: CodeTable, q: string): Match[] {
	const digits = q.toLowerCase(), out: Match[] = [];
	code.address.forEach((a, i) => {
		if (!code.label[i] && ('0x' + a.toString(16)).startsWith(digits)) out.push({ kind: 'isa', code: i, text: code.text[i], hits: code.hits[i] });
	});
	return out;
}

export class Search {
	readonly element: HTMLElement;
	readonly input: HTMLInputElement;
	private readonly told = h('span', { class: 'count', role: 'status' });
	private readonly place: HTMLSelectElement;
	private matches: Match[] = [];
	private total = 0;
	private at = -1;
	private readonly asked = new Latest();
	private timer = 0;
	/** the answer to what was typed last: a step waits for it, and never goes through older matches */
	private ready: Promise<void> = Promise.resolve();
	/** nothing else was chosen since the steps that wait were asked for */
	private stepping: Still = () => false;

	constructor(private readonly app: App, private readonly shows: SearchShows) {
		this.input = h('input', { attrs: { type: 'search', placeholder: 'Search: text, /regex/ or 0x address', 'aria-label': 'Search', spellcheck: 'false' }, title: 'Search (/ or Ctrl+F)' });
		this.place = h('select', { attrs: { 'aria-label': 'Where to search' } }, PLACES.map((p) => {
			const o = h('option', null, p);
			o.value = p;
			return o;
		}));
		this.input.addEventListener('input', () => {
			clearTimeout(this.timer);
			this.timer = window.setTimeout(() => this.app.store.set({ query: this.input.value }), 120);
		});
		this.place.addEventListener('change', () => (this.ready = this.run(this.input.value)));
		this.input.addEventListener('keydown', (e) => {
			if (e.key === 'Enter') {
				e.preventDefault();
				if (this.app.store.get().query !== this.input.value) this.app.store.set({ query: this.input.value });
				this.step(e.shiftKey ? -1 : 1);
				this.input.blur(); // so that N goes on
			} else if (e.key === 'Escape') {
				e.preventDefault(); // the browser's own would empty the field first
				this.input.blur();
				e.stopPropagation();
			}
		});
		this.element = h('div', { class: 'search', role: 'search' }, this.place, this.input, this.told,
			button('↑', 'Previous match (Shift+N)', () => this.step(-1)), button('↓', 'Next match (N)', () => this.step(1)));
	}

	changed(s: Readonly<State>, keys: ReadonlySet<Key | 'theme' | 'size'>): void {
		if (!keys.has('query')) return;
		if (this.input.value !== s.query) this.input.value = s.query;
		this.ready = this.run(s.query);
	}

	focus(): void {
		this.input.focus();
		this.input.select();
	}

	private async ask(q: string): Promise<FindInfo> {
		const c = this.app.trace.index || undefined, place = this.place.value;
		if (place === 'markers') {
			const pattern = patternOf(q), markers = this.app.store.get().markers;
			const matches = markers.filter((m) => (pattern ? pattern.test(m.name) : m.name.toLowerCase().includes(q.toLowerCase()))).map((m) => ({ kind: 'marker', text: m.name, t: m.t }));
			if (matches.length) return { q, in: place, is_regex: !!pattern, count: matches.length, matches, left_out: 0, density: [] };
		}
		const isAddress = place === 'isa' && /^0x[0-9a-f]+$/i.test(q), isOwn = place === 'tracks' || isAddress;
		const pattern = isOwn || this.app.source.kind === 'report' ? patternOf(q) : null; // the server has expressions of its own
		if (isOwn || pattern) {
			const matches = isAddress ? findAddress(await this.app.code(), q) : await this.local(place, pattern ?? new RegExp(q.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'i'));
			return { q, in: place, is_regex: !!pattern, count: matches.length, matches, left_out: 0, density: [] };
		}
		return askJson<FindInfo>(this.app.source, 'find', { c, in: place, q, w: 512 });
	}

	/** What the page knows itself: names of lanes as they are shown; in a report, where the browser's RegExp stands in, all texts. */
	private async local(place: string, pattern: RegExp): Promise<Match[]> {
		const { trace } = this.app, out: Match[] = [];
		if (place === 'isa') return findInCode(await this.app.code(), pattern);
		if (place === 'kernels') return trace.kernels.filter((k) => pattern.test(k.name)).map((k) => ({ kernel: k.id, text: k.name }));
		if (place === 'tracks') return trace.tracks.filter((t) => pattern.test(t.name) || pattern.test(trackName(trace, t.index))).map((t) => ({ track: t.index, text: t.name }));
		for (let i = 0; place === 'source' && i < trace.sources.length; i++) {
			if (!trace.sources[i].has_text) continue;
			const text = await askText(this.app.source, 'source', { file: i }).catch(() => '');
			text.split('\n').forEach((line, n) => pattern.test(line) && out.push({ source: i, line: n + 1, text: line }));
		}
		return out;
	}

	private async run(q: string): Promise<void> {
		const still = this.asked.begin();
		this.at = -1;
		this.input.classList.remove('bad');
		fill(this.told); // what stood there is of another search
		if (!q) {
			this.matches = [];
			this.total = 0;
			this.shows.marks([], [], null, []);
			return;
		}
		try {
			const found = await this.ask(q);
			if (!still()) return;
			this.matches = found.matches;
			this.total = found.count;
			this.tell();
			await this.mark(q, found, still);
		} catch (e) {
			if (!still()) return;
			this.matches = [];
			this.total = 0;
			this.input.classList.add('bad');
			fill(this.told, 'bad pattern');
			this.told.title = (e as Error).message;
			this.app.say('Search: ' + (e as Error).message);
			this.shows.marks([], [], null, []);
		}
	}

	/** All matches on the axis and the lanes: rows by their executions, lines by their rows, names by their lanes. */
	private async mark(q: string, found: FindInfo, still: Still): Promise<void> {
		const { trace } = this.app, kernels = new Set(found.matches.map((m) => m.kernel).filter((k) => k !== undefined));
		const lines = new Set(found.matches.filter((m) => m.source !== undefined).map((m) => m.source + ':' + m.line));
		const tracks = kernels.size ? trace.tracks.filter((t) => kernels.has(t.kernel ?? -1)).map((t) => t.index) : found.matches.filter((m) => m.track !== undefined).map((m) => m.track!);
		let codes = found.matches.filter((m) => m.code !== undefined).map((m) => m.code!), density = found.density ?? [];
		if (lines.size) {
			const code = await this.app.code();
			codes = code.source.map((s, i) => (lines.has(s + ':' + code.line[i]) ? i : -1)).filter((i) => i >= 0);
		}
		const isAsked = codes.length > 0 && this.place.value === 'isa' && density.length > 0;
		let rows = ranges(codes);
		if (!isAsked && rows.length > MOST) {
			rows = rows.slice(0, MOST).replace(/,[^,]*$/, '');
			this.app.say('Too many rows to mark them all on the lanes: the first ones are');
		}
		const question: Query | null = isAsked ? { q } : codes.length ? { rows } : null;
		if (question && !isAsked) density = (await askJson<FindInfo>(this.app.source, 'find', { c: trace.index || undefined, in: 'isa', ...question, w: 512 }).catch(() => found)).density ?? [];
		for (const m of found.matches) {
			if (m.t === undefined) continue;
			if (!density.some((n) => n > 0)) density = new Array<number>(512).fill(0);
			density[Math.min(511, Math.floor((512 * m.t) / Math.max(1, trace.span.end)))]++;
		}
		if (still()) this.shows.marks(codes, density, question, tracks);
	}

	private tell(): void {
		fill(this.told, !this.total ? 'none' : this.at < 0 ? count(this.total) : `${count(this.at + 1)} of ${count(this.total)}`);
		this.told.title = this.matches.length < this.total ? `${count(this.matches.length)} of them can be stepped through` : '';
	}

	/** Goes to the next or previous match, once they are known. */
	step(by: number): void {
		const { ready } = this;
		if (!this.stepping()) this.stepping = this.app.store.choose();
		void ready.then(() => {
			if (ready !== this.ready || !this.stepping()) return;
			this.go(by);
			this.stepping = this.app.store.choose(); // of several that wait each takes its step
		});
	}

	/** Says when it starts over. */
	private go(by: number): void {
		const n = this.matches.length;
		if (!n) return this.app.say(this.input.value ? 'No match' : 'Nothing to search for');
		const next = this.at < 0 ? (by > 0 ? 0 : n - 1) : this.at + by;
		if (next < 0 || next >= n) this.app.say(by > 0 ? 'Search starts over at the first match' : 'Search starts over at the last match');
		this.at = (next + n) % n;
		this.tell();
		this.show(this.matches[this.at]);
	}

	private show(m: Match): void {
		if (m.code !== undefined) {
			this.app.select({ kind: 'code', code: m.code });
			if (m.first) {
				const s = this.app.store.get();
				if (m.first.t < s.t0 || m.first.t > s.t1) this.app.showTime(m.first.t, m.first.t + (s.t1 - s.t0) / 3);
			}
		} else if (m.source !== undefined) {
			this.app.select({ kind: 'line', source: m.source, line: m.line });
			this.app.openPanel('source');
		} else if (m.track !== undefined) {
			this.app.select({ kind: 'track', track: m.track });
			this.app.showTrack(m.track);
		} else if (m.kernel !== undefined) this.app.store.set({ scope: m.kernel });
		else if (m.t !== undefined) this.app.showTime(m.t, m.t + 1);
	}
}
