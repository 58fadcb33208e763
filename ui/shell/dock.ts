// SPDX-License-Identifier: Apache-2.0
// dock.ts: the row of panels at the bottom. One is open; its tab stays even where it has nothing to show, and says why.
import { App, Panel, PanelView } from '../app';
import { button, fill, h, notice } from '../base/dom';
import { Key, State } from '../state';

export class Dock {
	readonly element: HTMLElement;
	private readonly tabs: HTMLElement;
	private readonly host: HTMLElement;
	private view: PanelView | null = null;
	private openId = '';
	readonly panels: readonly Panel[];

	constructor(private readonly app: App, all: readonly Panel[]) {
		this.panels = all.filter((p) => !p.applies || p.applies(app));
		this.tabs = h('div', { class: 'tabs', role: 'tablist', attrs: { 'aria-label': 'Panels' } });
		this.host = h('div', { class: 'panel', role: 'tabpanel', tabIndex: -1 });
		this.element = h('section', { class: 'dock', attrs: { 'aria-label': 'Panels' } }, this.tabs, this.host);
		this.tabs.addEventListener('keydown', (e) => this.key(e));
	}

	changed(state: Readonly<State>, keys: ReadonlySet<Key | 'theme' | 'size'>): void {
		if (keys.has('panel') || keys.has('isBottomOpen')) {
			this.drawTabs(state);
			if (state.isBottomOpen) this.open(state.panel);
		}
		this.app.inView(() => this.view?.changed(state, keys));
	}

	close(): void {
		this.view?.close();
		this.view = null;
	}

	private drawTabs(s: Readonly<State>): void {
		const open = this.find(s.panel)?.id;
		fill(this.tabs, this.panels.map((p, i) => {
			const why = p.missing?.(this.app) ?? null, isOpen = p.id === open && s.isBottomOpen;
			return h('button', {
				class: 'tab' + (why ? ' empty' : ''), role: 'tab', id: 'tab-' + p.id, tabIndex: p.id === open ? 0 : -1, title: p.hint + (i < 9 ? ` (${i + 1})` : '') + (why ? '\n' + why : ''),
				attrs: { 'aria-selected': isOpen, 'data-panel': p.id }, on: { click: () => this.app.store.set({ panel: p.id, isBottomOpen: true }) },
			}, p.titleFor?.(this.app) ?? p.title);
		}), h('span', { class: 'spring' }), button(s.isBottomOpen ? '▾' : '▴', s.isBottomOpen ? 'Close the panel (B)' : 'Open the panel (B)', () => this.app.store.set({ isBottomOpen: !s.isBottomOpen })));
	}

	private find(id: string): Panel | undefined {
		return this.panels.find((p) => p.id === id) ?? this.panels[0];
	}

	private open(id: string): void {
		const panel = this.find(id);
		if (!panel || panel.id === this.openId) return;
		this.view?.close();
		this.view = null;
		this.openId = panel.id;
		fill(this.host);
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

	private key(e: KeyboardEvent): void {
		const at = this.panels.findIndex((p) => p.id === this.find(this.app.store.get().panel)?.id), n = this.panels.length;
		const next = e.key === 'ArrowRight' ? (at + 1) % n : e.key === 'ArrowLeft' ? (at + n - 1) % n : e.key === 'Home' ? 0 : e.key === 'End' ? n - 1 : -1;
		if (next < 0) return;
		e.preventDefault();
		e.stopPropagation();
		this.app.store.set({ panel: this.panels[next].id, isBottomOpen: true });
		this.tabs.querySelector<HTMLElement>(`[data-panel="${this.panels[next].id}"]`)?.focus();
	}
}
