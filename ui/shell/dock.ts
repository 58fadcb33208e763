// SPDX-License-Identifier: Apache-2.0
// dock.ts: the row of panels at the bottom. One is open, and another may stand beside it (the listing and its source); a tab stays even
// where it has nothing to show, and says why.
import { App, Panel, PanelView } from '../app';
import { button, choose, fill, h, notice } from '../base/dom';
import { keep, kept } from '../base/keep';
import { Key, State } from '../state';
import { splitter } from './splitter';

type Keys = ReadonlySet<Key | 'theme' | 'size'>;
const BESIDE = 'incore.beside', WIDE = 1500;

/** What stands beside the open panel where no link says so: as it was left; at first the listing beside the verdict, where there is room for both. */
export function firstBeside(isVerdict: boolean): string | null {
	const was = kept(BESIDE);
	return was !== null ? was || null : innerWidth >= WIDE && isVerdict ? 'isa' : null;
}

/** A place for one panel. */
class Place {
	readonly host = h('div', { class: 'panel', role: 'tabpanel', tabIndex: -1 });
	private view: PanelView | null = null;
	private openId = '';

	constructor(private readonly app: App) {}

	changed(state: Readonly<State>, keys: Keys): void {
		this.app.inView(() => this.view?.changed(state, keys));
	}

	close(): void {
		this.view?.close();
		this.view = null;
		this.openId = '';
		fill(this.host);
		delete this.host.dataset.panel;
	}

	open(panel: Panel): void {
		if (panel.id === this.openId) return;
		this.close();
		this.openId = panel.id;
		this.host.setAttribute('aria-labelledby', 'tab-' + panel.id);
		this.host.dataset.panel = panel.id;
		const why = panel.missing?.(this.app) ?? null;
		if (why) return fill(this.host, notice(panel.title + ': nothing to show', why));
		try {
			this.view = this.app.inView(() => panel.open(this.host, this.app));
			this.view.changed(this.app.store.get(), new Set([...(Object.keys(this.app.store.get()) as Key[]), 'theme', 'size']));
		} catch (e) {
			fill(this.host, notice(panel.title + ' failed', (e as Error).message));
			console.error(e);
		}
	}
}

export class Dock {
	readonly element: HTMLElement;
	readonly panels: readonly Panel[];
	private readonly tabs = h('div', { class: 'tabs', role: 'tablist', attrs: { 'aria-label': 'Panels' } });
	private readonly main: Place;
	private readonly second: Place;
	private readonly besideHead = h('div', { class: 'beside-head' });
	private readonly body: HTMLElement;
	private isTold = false;

	constructor(private readonly app: App, all: readonly Panel[], moved: () => void) {
		this.panels = all.filter((p) => !p.applies || p.applies(app));
		this.main = new Place(app);
		this.second = new Place(app);
		this.body = h('div', { class: 'dock-body' }, this.main.host);
		this.body.append(splitter(this.body, { name: 'beside', label: 'Width of the second panel', property: '--beside', isVertical: true, sign: -1, least: 220, most: () => innerWidth * 0.75, fallback: Math.round(innerWidth * 0.36), moved }),
			h('div', { class: 'beside' }, this.besideHead, this.second.host));
		this.element = h('section', { class: 'dock', attrs: { 'aria-label': 'Panels' } }, this.tabs, this.body);
		this.tabs.addEventListener('keydown', (e) => this.key(e));
	}

	changed(state: Readonly<State>, keys: Keys): void {
		if (keys.has('panel') || keys.has('isBottomOpen') || keys.has('beside')) {
			const open = this.find(state.panel), beside = this.besideOf(state);
			this.drawTabs(state);
			this.body.classList.toggle('two', !!beside);
			if (state.isBottomOpen && open) this.main.open(open);
			if (state.isBottomOpen && beside) this.second.open(beside);
			else if (!beside) this.second.close();
			if (keys.has('beside') && this.isTold) keep(BESIDE, state.beside ?? '');
			this.isTold = true; // what it opens with was nobody's choice
		}
		this.main.changed(state, keys);
		this.second.changed(state, keys);
	}

	close(): void {
		this.main.close();
		this.second.close();
	}

	/** The panel beside the open one, if there is one: never the same twice. */
	private besideOf(s: Readonly<State>): Panel | null {
		const p = s.beside === null ? undefined : this.panels.find((x) => x.id === s.beside);
		return p && p.id !== this.find(s.panel)?.id ? p : null;
	}

	/** A panel by its id; what is in sight beside the open one stays where it is. */
	show(id: string): void {
		const { store } = this.app, s = store.get();
		if (s.isBottomOpen && this.besideOf(s)?.id === id) return;
		store.set({ panel: id, isBottomOpen: true });
	}

	/** A click on a tab; the panel beside and the open one change places. */
	private pick(id: string): void {
		const { store } = this.app, s = store.get();
		store.set({ panel: id, isBottomOpen: true, ...(this.besideOf(s)?.id === id ? { beside: this.find(s.panel)!.id } : {}) });
	}

	toggleBeside(): void {
		const { store } = this.app, s = store.get();
		store.set({ beside: this.besideOf(s) ? null : this.find(s.panel)?.id === 'isa' ? 'source' : 'isa', isBottomOpen: true });
	}

	private title(p: Panel): string {
		return p.titleFor?.(this.app) ?? p.title;
	}

	private drawTabs(s: Readonly<State>): void {
		const open = this.find(s.panel)?.id, beside = this.besideOf(s), { store } = this.app;
		fill(this.tabs, this.panels.map((p, i) => {
			const why = p.missing?.(this.app) ?? null, isOpen = p.id === open && s.isBottomOpen;
			return h('button', {
				class: 'tab' + (why ? ' empty' : '') + (p === beside && s.isBottomOpen ? ' is-beside' : ''), role: 'tab', id: 'tab-' + p.id, tabIndex: p.id === open ? 0 : -1, title: p.hint + (i < 9 ? ` (${i + 1})` : '') + (why ? '\n' + why : ''),
				attrs: { 'aria-selected': isOpen, 'data-panel': p.id }, on: { click: () => this.pick(p.id) },
			}, this.title(p));
		}), h('span', { class: 'spring' }), button('◫', beside ? 'One panel (Y)' : 'Two panels side by side (Y)', () => this.toggleBeside(), { attrs: { 'aria-pressed': !!beside } }),
		button(s.isBottomOpen ? '▾' : '▴', s.isBottomOpen ? 'Close the panel (B)' : 'Open the panel (B)', () => store.set({ isBottomOpen: !s.isBottomOpen })));
		fill(this.besideHead, beside && [choose('Beside', this.panels.filter((p) => p.id !== open).map((p) => ({ value: p.id, label: this.title(p) })), beside.id, (v) => store.set({ beside: v })), h('span', { class: 'spring' }),
			button('⇄', 'Swap the two panels', () => this.pick(beside.id)), button('×', 'Close this panel (Y)', () => store.set({ beside: null }))]);
	}

	private find(id: string): Panel | undefined {
		return this.panels.find((p) => p.id === id) ?? this.panels[0];
	}

	private key(e: KeyboardEvent): void {
		const at = this.panels.findIndex((p) => p.id === this.find(this.app.store.get().panel)?.id), n = this.panels.length;
		const next = e.key === 'ArrowRight' ? (at + 1) % n : e.key === 'ArrowLeft' ? (at + n - 1) % n : e.key === 'Home' ? 0 : e.key === 'End' ? n - 1 : -1;
		if (next < 0) return;
		e.preventDefault();
		e.stopPropagation();
		this.pick(this.panels[next].id);
		this.tabs.querySelector<HTMLElement>(`[data-panel="${this.panels[next].id}"]`)?.focus();
	}
}
