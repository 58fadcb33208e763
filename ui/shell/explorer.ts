// SPDX-License-Identifier: Apache-2.0
// explorer.ts: the tree on the left: kernels, tracks, source files, each with its cost. Only what is unfolded and in sight is in the page.
import { App } from '../app';
import { shareBar } from '../base/bars';
import { button, Child, fill, framed, h } from '../base/dom';
import { address, baseName, count, cyclesWith, share } from '../base/format';
import { Latest } from '../base/latest';
import { CodeTable, isSampled, isTimeline } from '../source';
import { Key, State } from '../state';
import { LIFETIME, lifetime } from '../panels/common';
import { chargeCallers } from '../panels/source/charge';
import { Hot, HotGroup, Isa } from '../panels/types';
import { groupLabel, Lane, makeLanes, trackName } from '../timeline/lanes';
import { entries, Folder, folderOf } from './folders';

interface Node { id: string; label: string; title: string; depth: number; part: number; whole: number; figure: string; isOpen: boolean | null; isMarked: boolean; pick: () => void; pin?: () => void; hide?: () => void; isHidden?: boolean; isPinned?: boolean; of?: string }

const ROW = 24;
/** so many files may all be in sight from the start; of more only folders that cost something are unfolded */
const FEW = 60;

/** A name whose end stays in sight: the middle gives way. */
function named(name: string): Child {
	const end = name.length < 12 ? 0 : Math.min(10, Math.max(5, name.length - 1 - name.lastIndexOf('.')));
	return end ? [h('span', { class: 'label-head', style: { '--end': String(end) } }, name.slice(0, -end)), name.slice(-end)] : name;
}

export class Explorer {
	readonly element: HTMLElement;
	private readonly list: HTMLElement;
	private readonly space: HTMLElement;
	private readonly filterBox: HTMLInputElement;
	private open = new Set<string>(['kernels', 'tracks', 'sources', 'functions']);
	private nodes: Node[] = [];
	/** folders that were folded or unfolded by hand; all of them, by the buttons */
	private readonly folders = new Map<string, boolean>();
	private isUnfolded: boolean | null = null;
	private fileCycles = new Map<string, number>();
	private total = 0;
	private code: CodeTable | null = null;
	private readonly weighed = new Latest();
	/** of a sampled capture, by code row */
	private rowCosts: Map<number, number> | null = null;
	private of: string = LIFETIME;
	private readonly later: () => void;
	/** what the tree is made of changed: it is made again before it is drawn, once for all changes of a frame */
	private isStale = true;
	/** between press and release rows stay as they are: one that is made anew gets no click */
	private isPressed = false;

	constructor(private readonly app: App) {
		this.filterBox = h('input', { attrs: { type: 'search', placeholder: 'Filter', 'aria-label': 'Filter the explorer' } });
		this.filterBox.addEventListener('input', () => this.build());
		this.list = h('div', { class: 'tree', role: 'tree', tabIndex: 0, attrs: { 'aria-label': 'Kernels, tracks and sources' } });
		this.space = h('div', { class: 'tree-space' }, this.list);
		this.element = h('nav', { class: 'explorer', attrs: { 'aria-label': 'Explorer' } },
			h('div', { class: 'pane-head' }, this.filterBox,
				button('⊞', 'Expand all', () => this.expand(true)), button('⊟', 'Collapse all', () => this.expand(false))),
			this.space);
		this.space.style.position = 'relative';
		this.later = framed(() => this.draw());
		this.element.addEventListener('scroll', this.later, { passive: true });
		new ResizeObserver(this.later).observe(this.element);
		this.list.addEventListener('keydown', (e) => this.key(e));
		this.list.addEventListener('pointerdown', () => {
			this.isPressed = true;
			const released = () => {
				this.isPressed = false;
				this.later();
			};
			for (const end of ['pointerup', 'pointercancel']) addEventListener(end, released, { once: true, capture: true });
		});
		this.list.addEventListener('focus', () => {
			if (!this.nodes.some((n) => n.id === this.list.dataset.at)) this.list.dataset.at = this.nodes[0]?.id ?? '';
			this.draw();
		});
		void app.code().then((c) => {
			this.code = c;
			this.build();
		}, () => undefined);
		this.weigh();
	}

	/** What each file costs: of its own lines, or of those that called what was inlined. */
	private weigh(): void {
		const { isCalled, range } = this.app.store.get(), isPart = isSampled(this.app.trace) || range !== null, isa = isCalled || isPart ? this.app.verb<Isa>('isa') : null, still = this.weighed.begin();
		void Promise.all([this.app.verb<Hot>('hot', { by: 'line', top: 'all' }), isa]).then(([hot, code]) => {
			if (!still()) return;
			const data = code && isCalled ? chargeCallers(hot.data, code.data) : hot.data;
			// samples are no slices, and the code table is of the whole trace: what a row costs is told by the listing
			this.rowCosts = code && isPart ? new Map(code.data.rows.map((r) => [r.index, r.cycles || r.samples || 0])) : null;
			this.of = !isSampled(this.app.trace) ? LIFETIME : data.accounting ? 'sampled cycles' : 'samples';
			this.fileCycles.clear();
			for (const g of (data.groups ?? []) as HotGroup[]) {
				const file = g.key.replace(/:\d+$/, '');
				this.fileCycles.set(file, (this.fileCycles.get(file) ?? 0) + (g.cycles || g.samples || 0));
			}
			this.total = data.accounting?.duration ?? (isSampled(this.app.trace) ? data.totals.samples ?? 0 : 0);
			this.build();
		}, () => undefined);
	}

	changed(_: Readonly<State>, keys: ReadonlySet<Key | 'theme' | 'size'>): void {
		if ((keys.has('isCalled') || keys.has('scope') || keys.has('range')) && !keys.has('theme')) this.weigh();
		if (['selection', 'hidden', 'pins', 'scope', 'isMerged', 'unit', 'theme', 'hash', 'size'].some((k) => keys.has(k as Key))) this.build();
	}

	private expand(isAll: boolean): void {
		const groups = new Set(makeLanes(this.app.trace, this.app.store.get().isMerged, null).map((l) => 'g' + l.group));
		this.folders.clear();
		this.isUnfolded = isAll;
		this.open = new Set(['kernels', 'tracks', 'sources', 'functions', ...(isAll ? [...groups, 'untraced'] : [])]);
		this.build();
	}

	private build(): void {
		this.isStale = true;
		this.later();
	}

	private make(): void {
		this.isStale = false;
		const words = this.filterBox.value.toLowerCase(), match = (s: string) => !words || s.toLowerCase().includes(words);
		this.nodes = [...this.kernels(match), ...this.tracks(match, !!words), ...this.sources(match, !!words), ...this.functions(match)];
		this.space.style.height = this.nodes.length * ROW + 8 + 'px';
	}

	/** `of`: what the shares below it are parts of. */
	private head(id: string, label: string, n: number, of = ''): Node {
		const isOpen = this.open.has(id);
		return { id, label, title: label + (of && `: % of ${of}${of === LIFETIME ? ' of all waves' : ''}`), of, depth: 0, part: 0, whole: 0, figure: count(n), isOpen, isMarked: false, pick: () => this.toggle(id) };
	}

	private toggle(id: string): void {
		if (!this.open.delete(id)) this.open.add(id);
		this.build();
	}

	private kernels(match: (s: string) => boolean): Node[] {
		const { trace, store } = this.app, scope = store.get().scope;
		const all = trace.kernels.filter((k) => match(k.name));
		if (!all.length) return [];
		const waves = new Map<number, number>();
		for (const t of trace.tracks) if (t.kernel !== null) waves.set(t.kernel, (waves.get(t.kernel) ?? 0) + 1);
		const seen = all.filter((k) => waves.has(k.id)), others = all.filter((k) => !waves.has(k.id));
		const out = [this.head('kernels', 'Kernels', seen.length || all.length)];
		if (!this.open.has('kernels')) return out;
		for (const k of seen.length ? seen : all) {
			const n = waves.get(k.id) ?? 0;
			out.push({
				id: 'k' + k.id, label: k.name, title: `${k.name}: ${n} waves with detail. Click narrows every panel to it.`, depth: 1, part: n, whole: trace.tracks.length,
				figure: n ? String(n) : '', isOpen: null, isMarked: scope === k.id, pick: () => store.set({ scope: scope === k.id ? null : k.id }),
			});
		}
		if (!seen.length || !others.length) return out;
		// they ran beside the traced ones: there is nothing to narrow to, but to leave them out would hide that
		const id = 'untraced', isOpen = this.open.has(id), why = 'The capture names it, but no wave of it was recorded in detail.';
		out.push({ id, label: 'without traced waves', title: 'Kernels that the capture names, but of which no wave was recorded in detail', depth: 1, part: 0, whole: 0, figure: count(others.length), isOpen, isMarked: false, pick: () => this.toggle(id) });
		for (const k of isOpen ? others : [])
			out.push({ id: 'k' + k.id, label: /[a-z_]{2}/i.test(k.name) ? k.name : `unnamed (${k.name})`, title: `${k.name}: ${why}`, depth: 2, part: 0, whole: 0, figure: '', isOpen: null, isMarked: false, isHidden: true, pick: () => this.app.say(why) });
		return out;
	}

	private tracks(match: (s: string) => boolean, isFiltered: boolean): Node[] {
		const { trace, store } = this.app, s = store.get();
		const lanes = makeLanes(trace, s.isMerged, s.scope).filter((l) => match(trackName(trace, l.id)));
		if (!lanes.length) return [];
		const out = [this.head('tracks', trace.has_pipes ? 'Cores and pipes' : isTimeline(trace) ? 'Processes and lanes' : 'Waves', trace.tracks.length, LIFETIME)];
		if (!this.open.has('tracks')) return out;
		const depth = trace.has_pipes ? trace.levels.length - 1 : 2, sums = new Map<string, number>();
		const slices = (l: Lane) => l.tracks.reduce((n, i) => n + trace.tracks[i].slices, 0), life = (l: Lane) => l.tracks.reduce((n, i) => n + trace.tracks[i].end - trace.tracks[i].begin, 0);
		for (const l of lanes) sums.set(l.group, (sums.get(l.group) ?? 0) + life(l));
		const whole = [...sums.values()].reduce((a, b) => a + b, 0);
		let group = '';
		for (const l of lanes) {
			const id = 'g' + l.group, isOpen = isFiltered || this.open.has(id);
			if (l.group !== group) {
				group = l.group;
				const label = groupLabel(trace, trace.tracks[l.id], depth), n = sums.get(group) ?? 0;
				out.push({ id, label, title: `${label}: ${count(n)} cycles of ${LIFETIME}`, depth: 1, part: n, whole, figure: share(n, whole), isOpen, isMarked: false, pick: () => this.toggle(id) });
			}
			if (!isOpen) continue;
			const isHidden = s.hidden.includes(l.id), n = slices(l);
			out.push({
				id: 't' + l.id, label: l.label, title: `${trackName(trace, l.id)}: ${count(n)} slices`, depth: 2, part: life(l), whole, figure: l.detail || share(life(l), whole), isOpen: null,
				isMarked: l.tracks.includes(s.selection?.track ?? -1), isHidden, isPinned: s.pins.includes(l.id), pick: () => {
					this.app.select({ kind: 'track', track: l.id });
					this.app.showTrack(l.id);
				},
				pin: () => store.set({ pins: s.pins.includes(l.id) ? s.pins.filter((p) => p !== l.id) : [...s.pins, l.id] }),
				hide: () => store.set({ hidden: isHidden ? s.hidden.filter((p) => p !== l.id) : [...s.hidden, l.id] }),
			});
		}
		return out;
	}

	private amount(n: number): string {
		return this.of === 'samples' ? `${count(n)} samples` : cyclesWith(n, lifetime(this.app).units());
	}

	private sources(match: (s: string) => boolean, isFiltered: boolean): Node[] {
		const { trace } = this.app, s = this.app.store.get();
		const files = trace.sources.map((f, index) => ({ path: f.path, index, cost: this.fileCycles.get(f.path) ?? 0 })).filter((f) => match(f.path));
		if (!files.length) return [];
		const out = [this.head('sources', 'Sources', files.length, this.of)];
		if (!this.open.has('sources')) return out;
		const root = folderOf(files), whole = this.total || root.cost, isOpen = (f: Folder) => isFiltered || (this.folders.get(f.path) ?? this.isUnfolded ?? (files.length <= FEW || f.cost > 0));
		for (const e of entries(root, isOpen)) {
			if ('folder' in e) {
				const { path, name, cost } = e.folder, isUnfolded = isOpen(e.folder);
				out.push({ id: 'd' + path, label: name, title: `${path}: ${this.amount(cost)}`, depth: 1 + e.depth, part: cost, whole, figure: cost ? share(cost, whole) : '', isOpen: isUnfolded, isMarked: false, pick: () => {
					this.folders.set(path, !isUnfolded);
					this.build();
				} });
				continue;
			}
			const { index, path, cost } = e.file;
			out.push({
				id: 's' + index, label: baseName(path), title: `${path}${trace.sources[index].has_text ? '' : ' (text not in the capture)'}: ${this.amount(cost)}`, depth: 1 + e.depth, part: cost, whole,
				figure: cost ? share(cost, whole) : '', isOpen: null, isMarked: s.selection?.source === index, pick: () => {
					this.app.select({ kind: 'line', source: index, line: 0 });
					this.app.openPanel('source');
				},
			});
		}
		return out;
	}

	/** Labels of the code: symbols that have an address; each costs what its rows cost, up to the next one. */
	private functions(match: (s: string) => boolean): Node[] {
		const code = this.code;
		if (!code) return [];
		const found: number[] = [];
		const cost: number[] = [], costOf = (i: number) => this.rowCosts?.get(i) ?? code.cycles[i];
		let last = -1, whole = 0;
		code.label.forEach((is, i) => {
			if (is) cost[(last = i)] = 0;
			else if (last >= 0) cost[last] += costOf(i);
			if (!is) whole += costOf(i);
			if (is && match(code.text[i])) found.push(i);
		});
		if (!found.length) return [];
		whole = this.total || whole;
		const out = [this.head('functions', 'Functions', found.length, this.of)];
		if (!this.open.has('functions')) return out;
		for (const i of found)
			out.push({
				id: 'f' + i, label: code.text[i].replace(/^;\s*/, ''), title: `${code.text[i].replace(/^;\s*/, '')} at ${address(code.address[i])}: ${this.amount(cost[i])}`, depth: 1, part: cost[i], whole, figure: share(cost[i], whole), isOpen: null,
				isMarked: false, pick: () => {
					this.app.select({ kind: 'code', code: Math.min(i + 1, code.row.length - 1) });
					this.app.openPanel('isa');
				},
			});
		return out;
	}

	private draw(): void {
		if (this.isPressed) return;
		if (this.isStale) this.make();
		const p = this.app.palette(), top = Math.max(0, this.element.scrollTop - 32), first = Math.max(0, Math.floor(top / ROW) - 2);
		const last = Math.min(this.nodes.length, first + Math.ceil((this.element.clientHeight || 300) / ROW) + 4);
		this.list.style.transform = `translateY(${first * ROW}px)`;
		fill(this.list, this.nodes.slice(first, last).map((n) => h('div', {
			id: 'node-' + n.id.replace(/\W/g, '-'), class: 'tree-row' + (n.isMarked ? ' marked' : '') + (n.id === this.list.dataset.at ? ' cursor' : ''), role: 'treeitem', title: n.title, style: { '--depth': String(n.depth) },
			attrs: { 'data-node': n.id, 'aria-level': n.depth + 1, ...(n.isOpen === null ? {} : { 'aria-expanded': n.isOpen }), 'aria-selected': n.isMarked },
			on: { click: () => n.pick() },
		}, h('span', { class: 'twist' }, n.isOpen === null ? '' : n.isOpen ? '▾' : '▸'),
		h('span', { class: 'label' + (n.isHidden ? ' dim' : '') }, n.depth === 0 ? h('strong', null, n.label) : named(n.label)),
		n.whole > 0 && h('span', { class: 'cost' }, shareBar(n.part, n.whole, p.accent)), h('span', { class: 'figure' }, n.figure, n.of && ` · % of ${n.of}`),
		n.pin && n.hide && h('span', { class: 'tree-tools' + (n.isPinned || n.isHidden ? ' on' : '') }, this.small(n.isPinned ? '◉' : '◎', n.isPinned ? 'Unpin ' + n.label : 'Pin ' + n.label, n.pin),
			this.small(n.isHidden ? '◌' : '●', n.isHidden ? 'Show ' + n.label : 'Hide ' + n.label, n.hide)))));
	}

	private small(words: string, title: string, run: () => void): HTMLElement {
		const b = button(words, title, run);
		b.addEventListener('click', (e) => e.stopPropagation());
		return b;
	}

	private key(e: KeyboardEvent): void {
		const at = Math.max(0, this.nodes.findIndex((n) => n.id === this.list.dataset.at));
		const next = e.key === 'ArrowDown' ? at + 1 : e.key === 'ArrowUp' ? at - 1 : e.key === 'Home' ? 0 : e.key === 'End' ? this.nodes.length - 1 : at;
		const node = this.nodes[Math.max(0, Math.min(this.nodes.length - 1, next))];
		if (!node) return;
		if (next !== at) {
			this.list.dataset.at = node.id;
			this.list.setAttribute('aria-activedescendant', 'node-' + node.id.replace(/\W/g, '-'));
			this.element.scrollTop = Math.max(0, this.nodes.indexOf(node) * ROW - this.element.clientHeight / 2);
			this.draw();
			this.app.say(`${node.label} ${node.figure}`, true);
		} else if (e.key === 'Enter' || e.key === ' ' || (e.key === 'ArrowRight' && node.isOpen === false) || (e.key === 'ArrowLeft' && node.isOpen)) node.pick();
		else return;
		e.preventDefault();
		e.stopPropagation();
	}
}
