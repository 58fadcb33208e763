// SPDX-License-Identifier: Apache-2.0
// histogram.ts: how long the executions of one instruction took, and the waves where it took longest.
import { App } from '../app';
import { h } from '../base/dom';
import { count, cycles, cyclesWith, largest, unitName } from '../base/format';
import { askJson } from '../source';
import { trackName } from '../timeline/lanes';

interface Answer { count: number; min: number; median: number; p95: number; max: number; mean: number; bins: { from: number; to: number; count: number }[]; outliers: { track: number; slice: number; t: number; duration: number }[] }

export async function histogram(app: App, code: number, nav: { goSlice(track: number, slice: number): void }): Promise<HTMLElement | null> {
	const a = await askJson<Answer>(app.source, 'histogram', { c: app.trace.index || undefined, code });
	if (!a.count) return null;
	const u = app.units(), most = largest(a.bins, (b) => b.count);
	const words = `mean ${cycles(a.mean, u)}, min ${cycles(a.min, u)}, median ${cycles(a.median, u)}, p95 ${cycles(a.p95, u)}, max ${cycles(a.max, u)} ${unitName(u)}`;
	return h('div', { class: 'section' }, h('h3', null, 'Duration of one execution'), h('p', { class: 'dim' }, words),
		h('div', { class: 'bars', role: 'img', attrs: { 'aria-label': `${count(a.count)} executions: ${words}` }, style: { display: 'flex', 'align-items': 'flex-end', height: '64px', gap: '1px' } },
			a.bins.map((b) => h('span', {
				title: `${cycles(b.from, u)} to ${cycles(b.to, u)} ${unitName(u)}: ${count(b.count)}`,
				style: { flex: '1', background: 'var(--accent)', height: b.count ? Math.max(2, (64 * b.count) / most) + 'px' : '0' },
			}))),
		h('div', { class: 'row dim', style: { 'justify-content': 'space-between' } }, h('span', null, cycles(a.bins[0]?.from ?? a.min, u)), h('span', null, unitName(u)), h('span', null, cycles(a.bins[a.bins.length - 1]?.to ?? a.max, u))),
		a.outliers.length > 0 && h('h3', null, 'Longest'),
		a.outliers.slice(0, 8).map((o) => h('div', null, h('button', { class: 'link', on: { click: () => nav.goSlice(o.track, o.slice) } }, `${cyclesWith(o.duration, u)} on ${trackName(app.trace, o.track)}`))));
}
