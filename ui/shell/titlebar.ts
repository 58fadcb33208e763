// SPDX-License-Identifier: Apache-2.0
// titlebar.ts: what is shown, where it comes from, and the switches that are for everything.
import { App } from '../app';
import { button, choose, fill, h } from '../base/dom';
import { evidenceChip } from '../base/evidence';
import { baseName, count, Unit } from '../base/format';
import { Theme } from '../base/palette';
import { scopeWords } from '../panels/common';
import { captureNames, isTimeline } from '../source';
import { isPair } from '../source_http';
import { Key, State } from '../state';
import { narrow, rangeWords } from '../range';
import { copyLink, saveReport } from './share';
import { chosen, setTheme } from './theme';

export interface TitleActions { help(): void; goTo(): void; places(): void; markers(): void; png(): void; svg(): void; openCapture(index: number): void }

export class TitleBar {
	readonly element = h('header', { class: 'title-bar' });
	private readonly actions = h('div', { class: 'row actions' });

	constructor(private readonly app: App, search: HTMLElement, private readonly act: TitleActions) {
		const { trace } = app, i = trace.input, labels = (i.labels ?? {}) as Record<string, string>;
		const name = String(i.kernel || (isTimeline(trace) ? baseName(String(i.path ?? '')) : '') || 'unknown kernel');
		fill(this.element, isPair() && h('a', { attrs: { href: '/' }, title: 'Back to the store' }, '← store'), h('h1', { class: 'kernel', title: `${name}\n${i.path ?? ''}` }, name),
			h('div', { class: 'facts' }, i.arch !== undefined && i.arch !== null && h('span', { class: 'arch' }, String(i.arch)),
				evidenceChip(trace.evidence, labels.confidence, labels.device_range ? `, devices took ${labels.device_range} of it` : ''),
				trace.tracks.length > 0 && h('span', { class: 'tracks', title: `${count(trace.counts.slices ?? 0)} slices` }, `${count(trace.tracks.length)} ${trace.has_pipes ? 'pipes' : isTimeline(trace) ? 'lanes' : 'waves'}`),
				trace.clock.mhz && h('span', { class: 'clock', title: `Clock from ${trace.clock.source ?? 'the capture'}` }, `${count(trace.clock.mhz)} MHz`)),
			trace.captures.length > 1 && choose('Capture', trace.captures.map((c, i) => ({ value: String(c.index), label: captureNames(trace.captures)[i], title: c.path, disabled: c.state === 'failed' })),
				String(trace.index), (v) => act.openCapture(Number(v))),
			search, this.actions);
		document.title = `${name} - incore`;
	}

	changed(s: Readonly<State>, keys: ReadonlySet<Key | 'theme' | 'size'>): void {
		if (!['unit', 'base', 'theme', 'hash', 'markers', 'scope', 'range', 'isLettered'].some((k) => keys.has(k as Key))) return;
		const { trace, store } = this.app, others = trace.captures.filter((c) => c.index !== trace.index && c.state !== 'failed');
		fill(this.actions,
			s.scope !== null && button(`Scope: ${scopeWords(this.app)} ×`, `Narrowed to ${scopeWords(this.app)}; click to show all`, () => store.set({ scope: null }), { class: 'button framed scope-button' }),
			s.range && button(`Range: ${rangeWords(s.range)} ×`, `All figures are of ${rangeWords(s.range)}; click shows those of the whole trace`, () => narrow(this.app, null), { class: 'button framed scope-button range-button' }),
			choose('Unit', [{ value: 'cyc', label: 'cycles' }, { value: 'us', label: 'µs', disabled: !trace.clock.mhz, title: trace.clock.mhz ? `clock from ${trace.clock.source ?? 'the capture'}` : 'the clock is not known' }, { value: 'pct', label: '%' }], this.app.units().unit, (v) => store.set({ unit: v as Unit })),
			choose('Theme', [{ value: 'system', label: 'system' }, { value: 'light', label: 'light' }, { value: 'dark', label: 'dark' }, { value: 'contrast', label: 'contrast' }], chosen(), (v) => setTheme(v as Theme | 'system')),
			others.length > 0 && choose('Compare', [{ value: '', label: 'off' }, ...others.map((c) => ({ value: c.hash ?? '', label: captureNames(trace.captures)[c.index], disabled: c.hash === null }))], s.base ?? '', (v) => store.set({ base: v || null })),
			this.menu('Save', 'Save or print what is in sight', [['Picture (PNG)', this.act.png], ['Picture (SVG)', this.act.svg], ['Print', () => window.print()]]),
			this.menu('Share', 'A link to this view, or the capture as one file', [['Copy a link, without the key', () => void copyLink(this.app)], ...(this.app.source.kind === 'server' ? [['Save as report', () => void saveReport(this.app)] as [string, () => void]] : [])]),
			this.menu('More', 'Go to, places, markers', [['Go to … (G)', this.act.goTo], ['Visited places … (V)', this.act.places], [`Markers … (${s.markers.length})`, this.act.markers], ['Show all lanes', () => store.set({ hidden: [] })], [s.isLettered ? 'Class letters off' : 'Class letters on', () => store.set({ isLettered: !s.isLettered })], ['Own order of lanes off', () => store.set({ order: [] })]]),
			button('?', 'Keys and help', this.act.help));
	}

	private menu(label: string, title: string, items: [string, () => void][]): HTMLElement {
		const host = h('span', { style: { position: 'relative' } });
		const open = button(label + ' ▾', title, () => {
			const had = host.querySelector('.menu');
			if (had) return had.remove();
			const menu = h('div', { class: 'menu', role: 'menu', style: { right: '0', top: '100%' } }, items.map(([words, run]) => {
				const b = button(words, words, () => {
					menu.remove();
					run();
				});
				b.setAttribute('role', 'menuitem');
				return b;
			}));
			menu.addEventListener('keydown', (e) => {
				const all = [...menu.querySelectorAll<HTMLElement>('button')], at = all.indexOf(document.activeElement as HTMLElement);
				if (e.key === 'Escape') {
					menu.remove();
					open.focus();
				} else if (e.key === 'ArrowDown') all[(at + 1) % all.length].focus();
				else if (e.key === 'ArrowUp') all[(at + all.length - 1) % all.length].focus();
				else return;
				e.preventDefault();
				e.stopPropagation();
			});
			host.appendChild(menu);
			menu.querySelector('button')?.focus();
			setTimeout(() => document.addEventListener('click', () => menu.remove(), { once: true }), 0);
		}, { attrs: { 'aria-haspopup': 'menu' } });
		host.appendChild(open);
		return host;
	}
}
