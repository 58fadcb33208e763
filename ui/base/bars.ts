// SPDX-License-Identifier: Apache-2.0
// bars.ts: small graphics inside tables. Each has its numbers in its label: colour is never alone.
import { h } from './dom';
import { BUCKETS, Palette } from './palette';
import { share } from './format';

/** The five buckets of a row, stacked; its width is the row's part of `most`. */
export function bucketBar(buckets: Record<string, number>, most: number, p: Palette): HTMLElement {
	const sum = BUCKETS.reduce((n, b) => n + (buckets[b] ?? 0), 0);
	const text = BUCKETS.filter((b) => buckets[b]).map((b) => `${b} ${share(buckets[b], sum)}`).join(', ') || 'no cycles';
	const bar = h('span', { class: 'bucket-bar', title: text, role: 'img', attrs: { 'aria-label': text } });
	BUCKETS.forEach((b, i) => {
		if (!buckets[b] || !(most > 0)) return;
		bar.appendChild(h('span', { class: 'part ' + b, style: { width: ((100 * buckets[b]) / most).toFixed(3) + '%', background: p.buckets[i] } }));
	});
	return bar;
}

/** One bar, for a share of a whole. */
export function shareBar(part: number, whole: number, colour: string): HTMLElement {
	const pct = whole > 0 ? Math.max(0, Math.min(100, (100 * part) / whole)) : 0;
	const text = share(part, whole);
	return h('span', { class: 'share-bar', title: text, role: 'img', attrs: { 'aria-label': text } },
		h('span', { class: 'part', style: { width: pct.toFixed(3) + '%', background: colour } }));
}

/** A class word with its colour, by slot number. */
export function classChip(name: string, slot: number, p: Palette): HTMLElement {
	return h('span', { class: 'chip' }, h('span', { class: 'swatch', style: { background: p.slots[slot] ?? p.dim } }), name);
}
