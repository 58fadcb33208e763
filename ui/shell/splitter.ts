// SPDX-License-Identifier: Apache-2.0
// splitter.ts: a bar between two parts, moved by mouse or arrow keys; where it stands is kept.
import { h } from '../base/dom';
import { keep, kept } from '../base/keep';

export interface SplitterOptions { name: string; label: string; property: string; isVertical: boolean; sign: 1 | -1; least: number; most: () => number; fallback: number; moved: () => void }

export function splitter(host: HTMLElement, o: SplitterOptions): HTMLElement {
	const stored = Number(kept('incore.split.' + o.name));
	let size = stored > 0 ? stored : o.fallback;
	const e = h('div', { class: `splitter split-${o.name} ${o.isVertical ? 'vertical' : 'horizontal'}`, role: 'separator', tabIndex: 0, attrs: { 'aria-label': o.label, 'aria-orientation': o.isVertical ? 'vertical' : 'horizontal' } });
	const put = (n: number) => {
		size = Math.round(Math.max(o.least, Math.min(Math.max(o.least, o.most()), n)));
		host.style.setProperty(o.property, size + 'px');
		e.setAttribute('aria-valuenow', String(size));
	};
	const set = (n: number) => {
		put(n);
		keep('incore.split.' + o.name, String(size));
		o.moved();
	};
	e.addEventListener('pointerdown', (down) => {
		const from = o.isVertical ? down.clientX : down.clientY, before = size;
		e.setPointerCapture(down.pointerId);
		e.classList.add('active');
		const move = (m: PointerEvent) => set(before + o.sign * ((o.isVertical ? m.clientX : m.clientY) - from));
		e.addEventListener('pointermove', move);
		e.addEventListener('pointerup', () => {
			e.removeEventListener('pointermove', move);
			e.classList.remove('active');
		}, { once: true });
	});
	e.addEventListener('keydown', (k) => {
		const by = { ArrowLeft: -16, ArrowUp: -16, ArrowRight: 16, ArrowDown: 16 }[k.key];
		if (!by) return;
		k.preventDefault();
		k.stopPropagation();
		set(size + o.sign * by);
	});
	put(size); // before the first layout: nothing has to move afterwards
	return e;
}
