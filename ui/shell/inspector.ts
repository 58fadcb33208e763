// SPDX-License-Identifier: Apache-2.0
// inspector.ts: the selection in full: a slice with its producers and consumers, a code row, a source line, a lane, or a box with its
// statistics (box.ts).
import { App } from '../app';
import { bucketBar, classChip } from '../base/bars';
import { button, Child, fill, h } from '../base/dom';
import { address, baseName, count, cycles, cyclesWith, share, unitName } from '../base/format';
import { Latest, Still } from '../base/latest';
import { BUCKETS } from '../base/palette';
import { rangeWords } from '../range';
import { askJson, Partner, SliceInfo } from '../source';
import { Key, Selection, State } from '../state';
import { lifetime, toTrack } from '../panels/common';
import { Isa } from '../panels/types';
import { trackName } from '../timeline/lanes';
import { BoxStatistics } from './box';
import { histogram } from './histogram';

export interface Navigates { goSlice(track: number, slice: number): void }

export class Inspector {
	readonly element: HTMLElement;
	private readonly body = h('div');
	private readonly asked = new Latest();
	private box: BoxStatistics | null = null;

	constructor(private readonly app: App, private readonly nav: Navigates) {
		this.element = h('aside', { class: 'inspector', attrs: { 'aria-label': 'Inspector' } }, h('div', { class: 'pane-head' }, h('h2', null, 'Inspector')), this.body);
	}

	changed(s: Readonly<State>, keys: ReadonlySet<Key | 'theme' | 'size'>): void {
		if (!['selection', 'unit', 'theme', 'hash', 'range'].some((k) => keys.has(k as Key))) return;
		const sel = s.selection, still = this.asked.begin();
		if (sel?.kind !== 'box' && sel?.kind !== 'range') this.box = null;
		if (!sel) return this.nothing();
		if (sel.kind === 'box' || sel.kind === 'range') return this.showBox(sel);
		if (sel.kind === 'slice') return void this.slice(sel, still);
		if (sel.kind === 'code') return void this.code(sel, still);
		if (sel.kind === 'line') return void this.line(sel, still);
		this.track(sel);
	}

	private nothing(): void {
		fill(this.body, h('div', { class: 'section dim' }, h('p', null, 'Nothing selected.'),
			h('p', null, 'Click a slice, a row or a line. Drag over lanes for statistics of a box; right-drag measures.'), h('p', null, 'Press ? for all keys.')));
	}

	private facts(rows: [string, Child][]): HTMLElement {
		return h('table', { class: 'facts-table' }, rows.filter(([, v]) => v !== null).map(([k, v]) => h('tr', null, h('td', null, k), h('td', null, v))));
	}

	private async slice(sel: Selection, still: Still): Promise<void> {
		const c = this.app.trace.index || undefined;
		let s: SliceInfo;
		try {
			s = await askJson<SliceInfo>(this.app.source, 'at', { c, track: sel.track, slice: sel.slice });
		} catch (e) {
			if (still()) fill(this.body, h('div', { class: 'section' }, 'This slice cannot be shown: ' + (e as Error).message));
			return;
		}
		if (!still() || s.slice === null) return;
		const u = this.app.units(), p = this.app.palette();
		const go = (n: number | null, words: string, title: string) => button(words, title, () => n !== null && this.nav.goSlice(s.track, n), { class: 'button framed', disabled: n === null });
		fill(this.body,
			h('div', { class: 'section' }, h('div', { class: 'code' }, s.text || 'unknown code'),
				h('div', { class: 'row' }, classChip(s.class, s.slot, p), s.address !== null && h('code', { class: 'dim' }, address(s.address)))),
			h('div', { class: 'section' }, this.facts([
				['start', cyclesWith(s.start, u)], ['duration', cyclesWith(s.duration, u)], ['issue', cyclesWith(s.issue, u)],
				['stalled', `${cyclesWith(s.stall, u)} (${share(s.stall, s.duration)} of it)`], ['cause', s.cause ?? (s.stall ? 'unknown' : 'none')], ['wave', this.link(trackName(this.app.trace, s.track), () => {
					this.app.select({ kind: 'track', track: s.track });
					this.app.openPanel('waves');
				}, `${s.name}: show it in the table`)],
			]), this.split(s.buckets)),
			h('div', { class: 'section' }, h('h3', null, `Execution ${count(s.execution)} of ${count(s.executions)}`),
				h('div', { class: 'row' }, go(s.previous, '◂ Previous', 'Previous execution of this row (,)'), go(s.next, 'Next ▸', 'Next execution of this row (.)')),
				s.code !== null && h('div', { class: 'row' }, this.link('Instruction', () => this.app.openPanel('isa')), s.frames.length > 0 && this.link('Source', () => this.app.openPanel('source')))),
			this.partners('Waited for', s.producers, 'No producer: nothing in this wave that it waited for.', s.stall > 0),
			this.partners('Waited on by', s.consumers, '', false),
			s.frames.length > 0 && h('div', { class: 'section' }, h('h3', null, 'Source, innermost first'), s.frames.map((f) => h('div', null, this.link(`${baseName(f.file)}:${f.line}`, () => {
				this.app.select({ kind: 'line', source: f.source, line: f.line });
				this.app.openPanel('source');
			}, f.file)))),
			h('div', { class: 'section dim' }, h('h3', null, 'As the file has it'), this.facts(Object.entries(s.raw ?? {}).map(([k, v]) => [k.replace(/_/g, ' '), typeof v === 'number' ? count(v) : String(v)]))));
	}

	/** Each cycle of the slice, and of the gap before it, once. */
	private split(buckets: Record<string, number>): HTMLElement {
		const u = this.app.units(), p = this.app.palette();
		return h('div', null, bucketBar(buckets, Object.values(buckets).reduce((a, b) => a + b, 0), p), h('div', { class: 'row wrap' }, BUCKETS.map((b, i) => buckets[b] > 0 &&
			h('span', { class: 'chip' }, h('span', { class: 'swatch', style: { background: p.buckets[i] } }), `${b} ${cyclesWith(buckets[b], u)}`))));
	}

	private link(words: string, run: () => void, title = ''): HTMLElement {
		return h('button', { class: 'link', title: title || words, on: { click: run } }, words);
	}

	private partners(head: string, list: Partner[], none: string, isExpected: boolean): HTMLElement | null {
		if (!list.length) return isExpected && none ? h('div', { class: 'section dim' }, h('h3', null, head), none) : null;
		const u = this.app.units();
		return h('div', { class: 'section' }, h('h3', null, `${head} (${list.length})`), list.slice(0, 40).map((q) => h('div', { class: q.is_last ? 'partner last' : 'partner' },
			h('button', { class: 'link code', title: `Go to this instance of ${q.text || 'unknown code'}`, on: { click: () => this.nav.goSlice(q.track, q.slice) } }, q.text || 'unknown code'),
			h('div', { class: 'dim' }, [cyclesWith(q.latency, u), q.is_last ? 'last to arrive' : '', q.is_certain === false ? 'one of several candidates' : '', q.track !== this.app.store.get().selection?.track ? trackName(this.app.trace, q.track) : ''].filter(Boolean).join(', ')))),
		list.length > 40 && h('div', { class: 'dim' }, `and ${list.length - 40} more`));
	}

	private async code(sel: Selection, still: Still): Promise<void> {
		const code = await this.app.code().catch(() => null), costs = await this.costs(), i = sel.code ?? -1;
		if (!still() || !code) return;
		if (i < 0 || i >= code.row.length) return fill(this.body, h('div', { class: 'section' }, 'There is no such row.'));
		const p = this.app.palette(), cls = this.app.trace.classes[code.class[i]];
		const file = this.app.trace.sources[code.source[i]];
		const chart = h('div');
		fill(this.body,
			h('div', { class: 'section' }, h('div', { class: 'code' }, code.text[i]), h('div', { class: 'row' }, cls && classChip(cls.name, cls.slot, p), h('code', { class: 'dim' }, address(code.address[i])))),
			h('div', { class: 'section' }, this.facts([
				['row', count(code.row[i])], ['executions', count(costs ? costs.get(i)?.hit ?? 0 : code.hits[i] ?? 0)], ['cycles', cyclesWith(costs ? costs.get(i)?.cycles ?? 0 : code.cycles[i] ?? 0, lifetime(this.app).units())],
				['of', costs && rangeWords(this.app.store.get().range!)],
				['source', file ? this.link(`${baseName(file.path)}:${code.line[i]}`, () => {
					this.app.select({ kind: 'line', source: code.source[i], line: code.line[i] });
					this.app.openPanel('source');
				}, file.path) : 'not known'],
			])), chart);
		if (code.hits[i]) void this.overWaves(code.row[i]).then((e) => still() && e && this.body.appendChild(e), () => undefined);
		if (code.hits[i]) void histogram(this.app, i, this.nav).then((e) => still() && e && fill(chart, e), () => undefined);
	}

	/** What rows cost within the range; null: there is none, and the code table has it. */
	private async costs(): Promise<Map<number, { hit: number; cycles: number }> | null> {
		const isa = this.app.store.get().range ? await this.app.verb<Isa>('isa').catch(() => null) : null;
		return isa && new Map(isa.data.rows.map((r) => [r.index, r]));
	}

	/** Does the row cost the same in every wave? */
	private async overWaves(row: number): Promise<HTMLElement | null> {
		const isa = await this.app.verb<Isa>('isa'), w = isa.data.rows.find((r) => r.row === row)?.waves, u = this.app.units();
		if (!w) return null;
		const track = this.app.trace.tracks.findIndex((t) => t.name === w.slowest);
		return h('div', { class: 'section' }, h('h3', null, 'Mean of one execution, wave by wave'), this.facts([
			['waves', count(w.n)], ['least', cyclesWith(w.min, u)], ['mean', cyclesWith(w.mean, u)], ['deviation', cyclesWith(w.deviation, u)], ['largest', cyclesWith(w.max, u)],
			['slowest', this.link(track < 0 ? w.slowest : trackName(this.app.trace, track), () => toTrack(this.app, track), w.slowest)]]));
	}

	private async line(sel: Selection, still: Still): Promise<void> {
		const code = await this.app.code().catch(() => null), costs = await this.costs();
		if (!still()) return;
		const cost = (i: number) => (costs ? costs.get(i)?.cycles ?? 0 : code!.cycles[i]);
		const file = this.app.trace.sources[sel.source ?? -1], u = lifetime(this.app).units();
		const rows: number[] = [];
		if (code) for (let i = 0; i < code.row.length; i++) if (code.source[i] === sel.source && (!sel.line || code.line[i] === sel.line)) rows.push(i);
		rows.sort((a, b) => cost(b) - cost(a) || a - b);
		fill(this.body, h('div', { class: 'section' }, h('div', { class: 'code' }, file ? baseName(file.path) + (sel.line ? ':' + sel.line : '') : 'unknown file'), file && h('div', { class: 'dim' }, file.path)),
			h('div', { class: 'section' }, h('h3', null, `${count(rows.length)} instructions, innermost here (${unitName(u)})`), rows.slice(0, 30).map((i) => h('div', { class: 'row' },
				h('span', { class: 'num', style: { 'min-width': '6ch' } }, cycles(cost(i), u)), this.link(code!.text[i], () => {
					this.app.select({ kind: 'code', code: i });
					this.app.openPanel('isa');
				}))), rows.length > 30 && h('div', { class: 'dim' }, `and ${rows.length - 30} more`)));
	}

	private track(sel: Selection): void {
		const t = this.app.trace.tracks[sel.track ?? -1], u = this.app.units();
		if (!t) return this.nothing();
		const kernel = this.app.trace.kernels.find((k) => k.id === t.kernel)?.name;
		fill(this.body, h('div', { class: 'section' }, h('div', { class: 'code' }, trackName(this.app.trace, t.index))),
			h('div', { class: 'section' }, this.facts([
				['begins', cyclesWith(t.begin, u)], ['ends', cyclesWith(t.end, u)], ['duration', cyclesWith(t.end - t.begin, u)], ['slices', count(t.slices)],
				['kernel', kernel ?? 'not known'], ['file', t.name], ['clock', t.isAligned ? 'aligned with the trace' : 'not aligned: times are of its own engine'],
			])), h('div', { class: 'section row' }, button('Fit', 'Show all of it', () => this.app.showTime(t.begin, t.end), { class: 'button framed' }),
			this.link('Wave in the table', () => this.app.openPanel('waves'))));
	}

	private showBox(sel: Selection): void {
		if (!this.box) this.box = new BoxStatistics(this.app);
		fill(this.body, this.box.element);
		this.box.show(sel);
	}
}
