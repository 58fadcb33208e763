// SPDX-License-Identifier: Apache-2.0
// box.ts: a box plot of durations as SVG: whiskers p5 to p95, box p25 to p75, the median as a bar; min and max as dots.
import { s } from '../../base/dom';
import { Spread } from '../types';

export function boxPlot(d: Spread, low: number, high: number, label: string): SVGElement {
	const span = Math.max(1, high - low), x = (v: number) => 4 + ((v - low) / span) * 192;
	const svg = s('svg', { class: 'box-plot', attrs: { viewBox: '0 0 200 24', preserveAspectRatio: 'none', role: 'img', 'aria-label': label } }, s('title', null, label));
	const add = (shape: 'line' | 'rect' | 'circle', look: string, attrs: Record<string, number>) => svg.appendChild(s(shape, { class: look, attrs }));
	add('line', 'whisker', { x1: x(d.p5), x2: x(d.p95), y1: 12, y2: 12 });
	add('rect', 'box', { x: x(d.p25), y: 5, width: Math.max(1, x(d.p75) - x(d.p25)), height: 14 });
	add('line', 'median', { x1: x(d.median), x2: x(d.median), y1: 3, y2: 21 });
	add('circle', 'end', { cx: x(d.min), cy: 12, r: 2 });
	add('circle', 'end', { cx: x(d.max), cy: 12, r: 2 });
	return svg;
}
