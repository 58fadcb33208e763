// SPDX-License-Identifier: Apache-2.0
// bars.ts: small graphics inside tables. Each has its numbers in its label: colour is never alone.
import { h } from './dom';
import { BUCKETS, Palette } from './palette';
import { share, short } from './format';

/** "issue 12.0 %, wait 88.0 %": what a bar says in words. */
export function bucketText(buckets: object): string {
	const b = buckets as Record<string, number>, sum = BUCKETS.reduce((n, k) => n + (b[k] ?? 0), 0);
	return BUCKETS.filter((k) => b[k]).map((k) => `${k} ${share(b[k], sum)}`).join(', ') || 'no cycles';
}

const HATCH = ', repeating-linear-gradient(135deg, transparent 0 3px, rgb(0 0 0 / 26%) 3px 4px)';

/** All parts as one background, so that a bar is one element: what is waited shows through, hatched, from below. */
function paintBar(bar: HTMLElement, buckets: object, most: number, p: Palette): void {
	const b = buckets as Record<string, number>, stops: string[] = [];
	let at = 0;
	BUCKETS.forEach((k, i) => {
		if (!b[k] || !(most > 0)) return;
		const from = at;
		at = Math.min(100, at + (100 * b[k]) / most);
		stops.push(`${k === 'wait' ? 'transparent' : p.buckets[i]} ${from.toFixed(2)}% ${at.toFixed(2)}%`);
	});
	bar.style.backgroundImage = `linear-gradient(90deg, ${stops.join()}${stops.length ? ',' : ''} ${p.grid} ${at.toFixed(2)}% 100%)${b.wait ? HATCH : ''}`;
	bar.setAttribute('aria-label', bucketText(buckets));
}

function emptyBar(p: Palette): HTMLElement {
	return h('span', { class: 'bucket-bar', role: 'img', style: { 'background-color': p.buckets[BUCKETS.indexOf('wait')] } });
}

/** The five buckets of a row, stacked; its width is the row's part of `most`. */
export function bucketBar(buckets: object, most: number, p: Palette): HTMLElement {
	const bar = emptyBar(p);
	bar.title = bucketText(buckets);
	paintBar(bar, buckets, most, p);
	return bar;
}

/** The same for a cell that is written again and again; null: nothing. */
export function paintBuckets(cell: HTMLElement, buckets: object | null, most: number, p: Palette): void {
	const bar = (cell.firstChild ?? cell.appendChild(emptyBar(p))) as HTMLElement;
	if (bar.hidden !== !buckets) bar.hidden = !buckets;
	if (buckets) paintBar(bar, buckets, most, p);
}

/** One bar, for a share of a whole; `of`: what the whole is, where no figure beside it says so. */
export function shareBar(part: number, whole: number, colour: string, of = ''): HTMLElement {
	const pct = whole > 0 ? Math.max(0, Math.min(100, (100 * part) / whole)) : 0;
	const text = share(part, whole) + (of && ` of ${of}`);
	return h('span', { class: 'share-bar', title: text, role: 'img', attrs: { 'aria-label': text } },
		h('span', { class: 'part', style: { width: pct.toFixed(3) + '%', background: colour } }));
}

/** A class word with its colour, by slot number. */
export function classChip(name: string, slot: number, p: Palette): HTMLElement {
	return h('span', { class: 'chip' }, h('span', { class: 'swatch', style: { background: p.slots[slot] ?? p.dim } }), name);
}

/** The same for a cell that is written again and again; null: nothing. */
export function paintChip(cell: HTMLElement, name: string | null, colour: string): void {
	const swatch = (cell.firstChild ?? cell.appendChild(h('span', { class: 'swatch' }))) as HTMLElement;
	const text = (swatch.nextSibling ?? cell.appendChild(document.createTextNode(''))) as Text;
	if (text.data === (name ?? '') && cell.dataset.chip === colour) return;
	cell.dataset.chip = colour;
	cell.classList.add('chip-cell');
	text.data = name ?? '';
	swatch.style.background = colour;
}

/** How strong a colour is for a part of 1: on a dark ground and on a light one more is stronger. */
export function opacity(part: number): string {
	return (0.06 + 0.94 * part).toFixed(3);
}

/** What the strength of a colour means. */
export function heatScale(least: number, most: number, what: string): HTMLElement {
	return h('p', { class: 'legend' }, short(least), [0, 0.25, 0.5, 0.75, 1].map((v) => h('span', { class: 'heat-key', style: { opacity: opacity(v) } })), short(most), ` ${what}`);
}
