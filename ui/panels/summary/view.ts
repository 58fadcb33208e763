// SPDX-License-Identifier: Apache-2.0
// summary/view.ts: one page: the verdict, where the cycles went, what to look at first. Every figure leads to the panel behind it.
import { App, Panel } from '../../app';
import { bucketBar, shareBar } from '../../base/bars';
import { Child, fill, h, placeText } from '../../base/dom';
import { baseName, count, cycles, cyclesWith, largest, share, unitName, Units } from '../../base/format';
import { BUCKETS } from '../../base/palette';
import { isSampled } from '../../source';
import { State } from '../../state';
import { bucketChip, Changed, facts, isaText, LIFETIME, pairKey, rowLink, scaled, section, View } from '../common';
import { splitKey } from '../source/view';
import { CauseRow, DiffPart, Finding, Pair, Pipe, Ratio, Shares, Summary } from '../types';
import { baseline, diffAnswer, diffParts, Figure, otherData, pairOf, Pair as Versus, PER_WAIT, SHARE, versusCells, versusHeads } from '../versus';

/** A verdict is one sentence: how much is lost and to what; where most of it; what stands beside it. */
function verdictLines(verdict: string): string[] {
	const [, loss, where, rest] = verdict.match(/^(.*?)(?:, (?=most in )|; )(?:(.*?); )?(.*)$/s) ?? ['', verdict, '', ''];
	return [loss, where, rest].filter(Boolean).map((line) => line[0].toUpperCase() + line.slice(1));
}

class SummaryView extends View {
	private data!: Summary;
	/** of the other capture, and what changed: by figure, cause, row and line */
	private base: Summary | null = null;
	private values: Map<string, Versus> | null = null;
	private diffs: Map<string, DiffPart>[] = [new Map(), new Map(), new Map()];

	constructor(host: HTMLElement, app: App) {
		super(host, app, 'summary');
		this.ask();
	}

	private ask(): void {
		const { app } = this, values = baseline(app) < 0 ? null : diffAnswer<{ values: (Versus & { name: string })[] }>(app, 'instr').then((d) => new Map(d.values.map((v) => [v.name, v])), () => null);
		this.load(Promise.all([app.verb<Summary>('summary'), otherData<Summary>(app, 'summary'), values, Promise.all(['cause', 'instr', 'line'].map((by) => diffParts(app, by)))]), ([a, b, c, d]) => {
			[this.data, this.base, this.values, this.diffs] = [a.data, b, c, d];
			this.show();
		});
	}

	/** What shares are parts of. */
	private of(): string {
		return isSampled(this.app.trace) ? 'sampled cycles' : LIFETIME;
	}

	/** All waves together are 100 %. */
	private all(): Units {
		return scaled(this.app, () => this.data.accounting?.duration ?? 1).units();
	}

	/** A bucket here and there: cycles per execution, or shares where the code differs. */
	private bucketPair(name: string): HTMLElement[] {
		if (this.values) return versusCells(this.values.get(`${name}_per_hit`.replace(/^(stall|idle)_/, 'accounting_$1_')));
		const here: Shares = this.data.accounting_shares, there: Shares | undefined = this.base?.accounting_shares;
		return there ? versusCells({ a: here[name] ?? null, b: there[name] ?? null }, SHARE) : [];
	}

	private versus(by: number, key: string | number | null | undefined): HTMLElement[] {
		return this.diffs[by].size ? versusCells(pairOf(this.diffs[by].get(String(key)))) : [];
	}

	/** The same row of the other capture, by a figure. */
	private beside<R>(row: R, there: R[] | undefined, key: (r: R) => string, figure: (r: R) => Ratio, f: Figure): HTMLElement[] {
		const other = there?.find((r) => key(r) === key(row));
		return there ? versusCells({ a: figure(row), b: other ? figure(other) : null }, f) : [];
	}

	private heads(by: number): HTMLElement[] {
		return this.diffs[by].size ? versusHeads() : [];
	}

	private go(panel: string, text: Child, title: string): HTMLElement {
		return h('button', { class: 'link', title, on: { click: () => this.app.openPanel(panel) } }, text);
	}

	private show(): void {
		const d = this.data;
		fill(this.body, h('div', { class: 'summary' }, this.headline(), h('div', { class: 'panel-columns' }, [
			this.accounting(), d.causes?.length && d.accounting.duration ? this.causes(d.causes) : null, d.pipes?.length ? this.pipes(d.pipes) : null, d.pairs?.length ? this.pairs(d.pairs) : null, this.rows(), this.lines(), this.machine(), this.advice()])));
	}

	private headline(): HTMLElement {
		const d = this.data, health = typeof d.health === 'string' ? { verdict: d.health, findings: [] as Finding[] } : d.health;
		const word = health.verdict.split(':')[0];
		return h('header', { class: 'headline' }, h('div', null, h('ul', { class: 'verdict' }, verdictLines(d.verdict).map((line) => h('li', null, this.linked(line)))), d.accounting?.duration ? bucketBar({ ...d.accounting }, d.accounting.duration, this.app.palette()) : null,
			h('p', null, h('span', { class: 'evidence ' + (d.evidence === 'hardware-trace' ? '' : 'weak'), title: 'what kind of evidence all figures stand on' }, d.evidence), ' ', h('span', { class: 'health ' + word }, `health: ${health.verdict}`), ' ',
				health.findings.length ? h('span', { class: 'dim' }, health.findings.map((f, i) => [i ? ', ' : '', h('span', { title: f.message + (f.advice ? '; ' + f.advice : '') }, f.id)])) : '', d.coverage ? h('span', { class: 'dim' }, ' · ', d.coverage) : '')), this.first());
	}

	/** Words of the verdict: what stands between backquotes is code, the rows it names lead there. */
	private linked(text: string): Child[] {
		return text.split('`').flatMap((words, k) => (k % 2 ? [h('code', null, words)] : words.split(/\b(row \d+)\b/).map((part, i) => (i % 2 ? rowLink(this.app, Number(part.slice(4))) : part))));
	}

	/** The experiments with most to win; all of them, with their evidence, stand below. */
	private first(): HTMLElement | null {
		const all = (this.data.advice ?? []).slice(0, 3);
		return all.length ? h('section', { class: 'first' }, h('h3', null, 'What to try first'), h('ol', { class: 'advice' }, all.map((a) => h('li', { title: `${a.finding}: ${a.evidence}` }, h('strong', null, a.rule), ` (${a.cause})`, a.where ? [' at ', rowLink(this.app, a.where.row)] : '', ': ', a.experiment, h('span', { class: 'dim' }, ` (${cyclesWith(a.exposed, this.all())} exposed)`))))) : null;
	}

	private accounting(): HTMLElement {
		const a = this.data.accounting, u = this.all();
		if (!a || !a.duration) return section('Where the cycles went', null, h('p', { class: 'dim' }, 'No wave was traced: there are no cycles to account for. Samples and stated totals are in ISA and Hotspots.'));
		const rows = BUCKETS.map((b, i) => h('tr', null, h('th', { attrs: { scope: 'row' } }, bucketChip(this.app, b)), h('td', { class: 'num', attrs: { 'data-bucket': b } }, cycles(a[b], u)), h('td', { class: 'num' }, share(this.data.accounting_shares[b] ?? NaN, 1)), this.bucketPair(b), h('td', { class: 'wide' }, shareBar(a[b], a.duration, this.app.palette().buckets[i]))));
		return section('Where the cycles went', this.go('waves', 'Waves', 'wave by wave'),
			h('table', { class: 'plain accounting' }, h('thead', null, h('tr', null, h('th', null, 'bucket'), h('th', { class: 'num' }, unitName(u)), h('th', { class: 'num' }, 'of ' + this.of()), this.values ? versusHeads() : this.base ? versusHeads(SHARE) : '', h('th', null, ''))), h('tbody', null, rows),
				h('tfoot', null, h('tr', null, h('th', { attrs: { scope: 'row' } }, isSampled(this.app.trace) ? 'all sampled cycles' : 'lifetime of all'), h('td', { class: 'num', attrs: { 'data-bucket': 'duration' } }, cycles(a.duration, u)), h('td', { class: 'num' }, `residue ${this.data.residue}`), this.bucketPair('duration'), h('td', null, '')))));
	}

	private causes(all: CauseRow[]): HTMLElement {
		const lost = all.filter((c) => c.bucket !== 'issue').slice(0, 8), whole = this.data.accounting.duration, u = this.all();
		const most = largest(lost, (c) => c.cycles), p = this.app.palette();
		return section('Lost cycles by cause', this.go('hotspots', 'Hotspots', 'ranked by cause and more'), h('table', { class: 'plain causes' }, h('thead', null, h('tr', null, h('th', null, 'cause'), h('th', { class: 'num' }, unitName(u)), h('th', { class: 'num' }, 'of ' + this.of()), this.heads(0), h('th', { class: 'num' }, 'exposed'), h('th', null, ''))),
			h('tbody', null, lost.map((c) => h('tr', null, h('th', { attrs: { scope: 'row' } }, this.go('hotspots', bucketChip(this.app, c.bucket, c.cause), `${c.hits} times; to the ranking by cause`)), h('td', { class: 'num' }, cycles(c.cycles, u)), h('td', { class: 'num' }, share(c.cycles, whole)), this.versus(0, c.cause),
				h('td', { class: 'num', title: 'not hidden behind the work of other waves' }, c.exposed === undefined ? '-' : cycles(c.exposed, u)), h('td', { class: 'wide' }, shareBar(c.cycles, most, p.buckets[BUCKETS.findIndex((b) => b === c.bucket)] ?? p.dim, 'the largest')))))));
	}

	private rows(): HTMLElement | null {
		const rows = (this.data.rows ?? []).slice(0, 5), u = this.all();
		if (!rows.length) return null;
		const whole = this.data.accounting?.duration ?? 0;
		return section('Top instructions', this.go('isa', 'ISA', 'the listing'), h('table', { class: 'plain top-rows' }, this.costHead(['row', 'instruction'], whole, 1), h('tbody', null, rows.map((r) => {
			const at = 'at' in r ? r.at : r, cost = r.cycles;
			return h('tr', null, h('td', null, rowLink(this.app, at?.row)), h('td', { class: 'wide' }, isaText(at?.isa ?? '')), h('td', { class: 'num' }, whole ? cycles(cost, u) : count(cost)), h('td', { class: 'num' }, whole ? share(cost, whole) : ''), this.versus(1, at?.row), h('td', { class: 'dim' }, 'cause' in r ? r.cause : ''));
		}))));
	}

	private costHead(names: string[], whole: number, by: number): HTMLElement {
		return h('thead', null, h('tr', null, names.map((n) => h('th', null, n)), h('th', { class: 'num' }, whole ? unitName(this.all()) : 'samples'), h('th', { class: 'num' }, whole ? 'of ' + this.of() : ''), this.heads(by), h('th', null, whole ? 'main cause' : '')));
	}

	private lines(): HTMLElement | null {
		const lines = (this.data.lines ?? []).slice(0, 5), u = this.all(), whole = this.data.accounting?.duration ?? 0;
		if (!lines.length) return null;
		return section('Top source lines', this.go('source', 'Source', 'with the text of the files'), h('table', { class: 'plain top-lines' }, this.costHead(['line'], whole, 2), h('tbody', null, lines.map((l) => h('tr', null, h('td', { class: 'wide' }, this.lineLink(l.line)), h('td', { class: 'num' }, whole ? cycles(l.cycles, u) : count(l.cycles)),
			h('td', { class: 'num' }, whole ? share(l.cycles, whole) : ''), this.versus(2, l.line), h('td', { class: 'dim' }, l.cause ?? ''))))));
	}

	private lineLink(key: string): Child {
		const place = splitKey(key), source = place ? this.app.trace.sources.findIndex((s) => s.path === place.path) : -1;
		if (!place || source < 0) return key;
		return h('button', { class: 'link clip', title: key, on: { click: () => {
			this.app.select({ kind: 'line', source, line: place.line });
			this.app.openPanel('source');
		} } }, placeText(baseName(place.path), place.line));
	}

	private machine(): HTMLElement | null {
		const d = this.data, m = d.matrix, o = d.occupancy, u = d.utilization;
		if (!o && !u) return null;
		return section('Machine', this.go('occupancy', 'Occupancy', 'waves over time and limits'), o && h('p', null, o.limits.sentence), facts(['waves per SIMD', o && o.peak_per_simd !== null ? `${o.peak_per_simd} at most` : null], ['mean waves', o && o.mean !== null ? count(o.mean, 1) : null], ['issuing', u ? share(d.utilization_shares?.any ?? NaN, 1) + ' of resident cycles' : null],
			['matrix issue', m && typeof m.issue_share === 'number' ? this.go('utilization', share(m.issue_share, 1) + ' of resident cycles', 'pipe by pipe') : null], ['matrix rate, of peak (modelled)', m && typeof m.modelled.pipe_share === 'number' ? this.go('utilization', share(m.modelled.pipe_share, 1) + ' of resident cycles', 'by passes of each instruction') : null], ['waves traced', d.waves !== undefined && d.waves !== null ? this.go('waves', count(d.waves), 'wave by wave') : null], ['instructions', d.instructions !== undefined ? count(d.instructions) : null]));
	}

	private pipes(pipes: Pipe[]): HTMLElement {
		const rows = [...pipes].sort((a, b) => b.busy - a.busy).slice(0, 8), u = this.all();
		return section('Busiest pipes', this.go('waves', 'Pipes', 'pipe by pipe'), h('table', { class: 'plain' }, h('thead', null, h('tr', null, h('th', null, 'pipe'), h('th', { class: 'num' }, 'busy, ' + unitName(u)), h('th', { class: 'num' }, 'of core span'), this.base?.pipes && versusHeads(SHARE), h('th', null, ''))), h('tbody', null, rows.map((p) => h('tr', null, h('th', { attrs: { scope: 'row' } }, `${p.core} ${p.pipe}`), h('td', { class: 'num' }, cycles(p.busy, u)), h('td', { class: 'num' }, share(p.busy_share ?? NaN, 1)), this.beside(p, this.base?.pipes, (x) => `${x.core}/${x.pipe}`, (x) => x.busy_share, SHARE), h('td', { class: 'wide' }, bucketBar({ ...p.accounting }, p.accounting.duration, this.app.palette())))))));
	}

	private pairs(pairs: Pair[]): HTMLElement {
		const u = this.all();
		return section('Who waits for whom', this.go('waits', 'Waits', 'instruction by instruction'), h('table', { class: 'plain' }, h('thead', null, h('tr', null, h('th', null, 'waits'), h('th', null, 'for'), h('th', { class: 'num' }, unitName(u)), h('th', { class: 'num' }, 'times'), this.base?.pairs && versusHeads(PER_WAIT))), h('tbody', null, pairs.slice(0, 6).map((p) => h('tr', null, h('td', null, p.consumer_pipe), h('td', null, p.producer_pipe ?? '(unmatched)'), h('td', { class: 'num' }, cycles(p.cycles, u)), h('td', { class: 'num' }, count(p.count)), this.beside(p, this.base?.pairs, pairKey, (x) => x.per_wait, PER_WAIT))))));
	}

	private advice(): HTMLElement | null {
		const all = (this.data.advice ?? []).slice(0, 4);
		if (!all.length) return null;
		return section('What to try', null, h('ol', { class: 'advice' }, all.map((a) => h('li', null, h('strong', null, a.rule), ` (${a.cause})`, a.where ? [' at ', rowLink(this.app, a.where.row)] : '', `: ${a.finding}`, h('p', null, a.experiment), h('p', { class: 'dim' }, `${a.evidence}. Then ${a.prediction}. Risk: ${a.risk}`), h('p', { class: 'dim' }, `${cyclesWith(a.exposed, this.all())} exposed`)))));
	}

	protected update(_state: Readonly<State>, keys: Changed): void {
		if (keys.has('unit') || keys.has('theme')) this.show();
		if (keys.has('scope') || keys.has('base')) this.ask();
	}
}

export const panel: Panel = {
	id: 'summary', title: 'Summary', hint: 'the verdict on one page; every figure leads to its panel',
	questions: ['diff?by=cause&top=all', 'diff?by=instr&top=all', 'diff?by=line&top=all', 'summary'],
	open: (host, app) => new SummaryView(host, app),
};
