// SPDX-License-Identifier: Apache-2.0
// pictures.ts: pictures of the producer's tables: the memory paths of a core, heat maps of cores and cache lines, rooflines. The table with the same
// numbers always stands below.
import { heatScale, opacity } from '../../base/bars';
import { h, s } from '../../base/dom';
import { largest, short } from '../../base/format';

type Cells = (string | null)[][];
export interface Found { columns: string[]; cells: Cells }

function column(t: Found, name: RegExp): number {
	return t.columns.findIndex((c) => name.test(c));
}

function arrowHead(id: string): SVGElement {
	return s('defs', null, s('marker', { id, attrs: { viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto', markerUnits: 'userSpaceOnUse' } }, s('path', { class: 'head', attrs: { d: 'M0 0L8 4L0 8z' } })));
}

/** Where each memory stands: far from the engines on the left. */
const PLACES: Record<string, [number, number]> = {
	HBM: [40, 110], L2: [160, 110], L1: [280, 60], GM: [280, 60], 'GM/L1': [280, 60], L0A: [400, 25], L0B: [400, 85], CUBE: [510, 55], L0C: [610, 55], FIXP: [610, 110], UB: [300, 175], VEC: [440, 175], UB1: [300, 235], VEC1: [440, 235], DCACHE: [440, 130],
};

function placeOf(word: string, isSecond: boolean): string | null {
	const name = word.trim().toUpperCase();
	if (isSecond && (name === 'UB' || name === 'VEC')) return name + '1';
	return name in PLACES ? name : null;
}

/** Bytes and requests on their way through the memories of one core. */
export function memoryGraph(t: Found, core: string): SVGElement | null {
	const at = { core: column(t, /^core_no$/), path: column(t, /^path$/), request: column(t, /^request$/), bandwidth: column(t, /^bandwidth$/), ratio: column(t, /^peak_ratio$/) };
	if (Object.values(at).some((i) => i < 0)) return null;
	const rows = t.cells.filter((c) => c[at.core] === core).map((c) => ({ path: c[at.path] ?? '', request: Number(c[at.request] ?? 0), bandwidth: c[at.bandwidth] ?? '-', ratio: c[at.ratio] ?? '-' }));
	const most = largest(rows, (r) => r.request), used = new Set<string>();
	const svg = s('svg', { class: 'memory-graph', attrs: { viewBox: '0 0 660 262', role: 'img', 'aria-label': `Memory paths of core ${core}: ${rows.map((r) => `${r.path} ${r.request} requests, ${r.bandwidth} GB/s`).join('; ')}` } }, arrowHead('memory-head'));
	for (const r of rows) {
		const isSecond = /vec1/.test(r.path), [from, to] = r.path.replace(/\(.*\)/, '').split('->').map((w) => placeOf(w ?? '', isSecond));
		if (!from || !to || from === to) continue;
		used.add(from).add(to);
		svg.appendChild(edge(PLACES[from], PLACES[to], r.request / most, `${r.path}: ${r.request} requests, ${r.bandwidth} GB/s, ${r.ratio} of the peak`, short(r.request)));
	}
	if (!used.size) return null;
	for (const name of used) {
		const [x, y] = PLACES[name];
		svg.appendChild(s('g', { class: 'memory-node' }, s('rect', { attrs: { x: x - 32, y: y - 13, width: 64, height: 26, rx: 5 } }), s('text', { attrs: { x, y: y + 4, 'text-anchor': 'middle' } }, name.replace('1', name === 'L1' || name === 'GM/L1' ? '1' : ' 1'))));
	}
	return svg;
}

function edge([x0, y0]: [number, number], [x1, y1]: [number, number], part: number, title: string, label: string): SVGElement {
	const dx = x1 - x0, dy = y1 - y0, long = Math.hypot(dx, dy) || 1, side = 7, nx = (-dy / long) * side, ny = (dx / long) * side;
	const cut = (d: number) => Math.min(36 / Math.abs(dx / long || 1e-9), 16 / Math.abs(dy / long || 1e-9), long / 2 - 2) * d;
	const a = [x0 + (dx / long) * cut(1) + nx, y0 + (dy / long) * cut(1) + ny], b = [x1 - (dx / long) * cut(1) + nx, y1 - (dy / long) * cut(1) + ny];
	return s('g', { class: 'memory-edge' + (part > 0 ? '' : ' idle') }, s('title', null, title),
		s('path', { attrs: { d: `M${a[0].toFixed(1)} ${a[1].toFixed(1)}L${b[0].toFixed(1)} ${b[1].toFixed(1)}`, 'stroke-width': (1 + 4 * Math.sqrt(part)).toFixed(2), 'marker-end': 'url(#memory-head)' } }),
		part > 0 && s('text', { attrs: { x: ((a[0] + b[0]) / 2 + nx * 0.9).toFixed(1), y: ((a[1] + b[1]) / 2 + ny * 0.9 + 3).toFixed(1), 'text-anchor': 'middle' } }, label));
}

export interface Cell { name: string; value: number; title: string }

/** Squares in rows, of stronger colour with their value, with the scale below; a click tells which. */
export function heatMap(cells: Cell[], what: string, pick?: (i: number) => void): HTMLElement | null {
	if (!cells.length) return null;
	const wide = Math.min(64, Math.max(8, Math.ceil(Math.sqrt(cells.length * 4)))), size = 12, left = 34, rows = Math.ceil(Math.min(cells.length, MOST_CELLS) / wide);
	const values = cells.map((c) => c.value), most = largest(values, (v) => v, -Infinity), least = -largest(values, (v) => -v, 0), span = most - least || 1, width = left + wide * size;
	const svg = s('svg', { class: 'heat-map', style: { 'max-width': width * 1.4 + 'px' }, attrs: { viewBox: `0 0 ${width} ${rows * size}`, role: 'img', 'aria-label': `${what}: ${cells.length} squares, ${least} to ${most}` } });
	for (let r = 0; r < rows; r++) svg.appendChild(s('text', { class: 'axis', attrs: { x: left - 4, y: r * size + 9, 'text-anchor': 'end' } }, cells[r * wide].name));
	cells.slice(0, MOST_CELLS).forEach((c, i) => svg.appendChild(s('rect', { attrs: { 'data-cell': i, x: left + (i % wide) * size, y: Math.floor(i / wide) * size, width: size - 1, height: size - 1, 'fill-opacity': opacity((c.value - least) / span) } }, s('title', null, c.title))));
	if (pick) svg.addEventListener('click', (e) => {
		const i = (e.target as Element).closest('[data-cell]')?.getAttribute('data-cell');
		if (i) pick(Number(i));
	});
	return h('div', null, svg, heatScale(least, most, what + (cells.length > MOST_CELLS ? `, the first ${MOST_CELLS} of ${cells.length}` : '')));
}

const MOST_CELLS = 4000;

/** The values of a column, each once, in order of appearance. */
export function valuesOf(t: Found, name: string): string[] {
	const i = t.columns.indexOf(name);
	return i < 0 ? [] : [...new Set(t.cells.map((c) => c[i]).filter((v): v is string => v !== null && v !== ''))];
}

/** Counts of one event by cache line. */
export function cacheCells(t: Found, event: string): Cell[] {
	const [line, name, n] = ['line', 'event', 'count'].map((x) => t.columns.indexOf(x));
	return t.cells.filter((c) => c[name] === event && Number.isFinite(Number(c[line]))).map((c) => ({ name: c[line]!, value: Number(c[n] ?? 0) || 0, title: `line ${c[line]}: ${c[n]}` })).sort((a, b) => Number(a.name) - Number(b.name));
}

/** One measure of every core. */
export function coreCells(t: Found, measure: string): Cell[] {
	const [core, sub, kind, value] = ['core_id', 'subcore_id', 'subcore_type', measure].map((x) => t.columns.indexOf(x));
	return t.cells.filter((c) => c[value] !== null && c[value] !== '').map((c) => ({ name: c[core] ?? '', value: Number(c[value]) || 0, title: `core ${c[core]} ${c[kind] ?? ''}${c[sub] ?? ''}: ${measure} ${c[value]}` }));
}

interface Point { x: number; y: number; bw: number; peak: number; name: string; peakName: string; ratio: string | null }

function decades(a: number, b: number): number[] {
	const out = [];
	for (let d = Math.ceil(a); d <= Math.floor(b); d += Math.max(1, Math.round((b - a) / 6))) out.push(d);
	return out;
}

/** Intensity against rate, both logarithmic: the roof of each memory and the point below it. One picture a title. */
export function rooflines(t: Found, title: string, colour: (i: number) => string): HTMLElement | null {
	const at = ['x', 'y', 'bw', 'computility', 'bw_name', 'computility_name', 'ratio', 'title'].map((n) => t.columns.indexOf(n));
	if (at.slice(0, 4).some((i) => i < 0)) return null;
	const points: Point[] = t.cells.filter((c) => at[7] < 0 || (c[at[7]] ?? '') === title).map((c) => ({ x: Number(c[at[0]]), y: Number(c[at[1]]), bw: Number(c[at[2]]), peak: Number(c[at[3]]), name: c[at[4]] ?? '', peakName: c[at[5]] ?? '', ratio: c[at[6]] ?? null })).filter((p) => p.x > 0 && p.y > 0 && p.bw > 0 && p.peak > 0);
	if (!points.length) return h('p', { class: 'dim' }, 'no point of this roofline can be drawn: intensity, rate, bandwidth and peak must be above 0');
	const xs = points.flatMap((p) => [p.x, p.peak / p.bw]), ys = points.flatMap((p) => [p.y, p.peak]);
	const x0 = Math.floor(Math.log10(Math.min(...xs)) - 0.3), x1 = Math.ceil(Math.log10(Math.max(...xs)) + 0.3), y0 = Math.floor(Math.log10(Math.min(...ys)) - 0.2), y1 = Math.log10(Math.max(...ys)) + 0.3;
	const X = (v: number) => 60 + ((Math.log10(v) - x0) / (x1 - x0)) * 530, Y = (v: number) => 190 - ((Math.log10(v) - y0) / (y1 - y0)) * 180;
	const svg = s('svg', { class: 'roofline', attrs: { viewBox: '0 0 600 226', role: 'img', 'aria-label': `Roofline ${title}: ${points.map((p) => `${p.name} at ${p.x} operations per byte, ${p.y}`).join('; ')}` } },
		decades(x0, x1).map((d) => [s('path', { class: 'grid', attrs: { d: `M${X(10 ** d)} 10V190` } }), s('text', { class: 'axis', attrs: { x: X(10 ** d), y: 203, 'text-anchor': 'middle' } }, short(10 ** d))]),
		decades(y0, y1).map((d) => [s('path', { class: 'grid', attrs: { d: `M60 ${Y(10 ** d)}H590` } }), s('text', { class: 'axis', attrs: { x: 55, y: Y(10 ** d) + 4, 'text-anchor': 'end' } }, short(10 ** d))]),
		s('text', { class: 'axis', attrs: { x: 325, y: 221, 'text-anchor': 'middle' } }, 'operations per byte'), s('text', { class: 'axis', attrs: { x: 12, y: 100, 'text-anchor': 'middle', transform: 'rotate(-90 12 100)' } }, 'operations per second, as stated'));
	points.forEach((p, i) => {
		const left = Math.max(10 ** x0, 10 ** y0 / p.bw), knee = p.peak / p.bw;
		svg.appendChild(s('path', { attrs: { d: `M${X(left)} ${Y(left * p.bw)}L${X(knee)} ${Y(p.peak)}H590`, fill: 'none', stroke: colour(i), 'stroke-width': 1.5, 'stroke-dasharray': ['', '6 3', '2 2', '8 3 2 3'][i % 4] } }, s('title', null, `${p.name} ${p.bw}, ${p.peakName} ${p.peak}`)));
		svg.appendChild(s('circle', { attrs: { cx: X(p.x), cy: Y(p.y), r: 4.5, fill: colour(i) } }, s('title', null, `${p.name}: ${p.y} at ${p.x} operations per byte`)));
	});
	return h('div', null, svg, h('ul', { class: 'legend' }, points.map((p, i) => h('li', { class: 'legend-key' }, h('span', { class: 'swatch', style: { background: colour(i) } }),
		`${p.name} ${p.bw}, ${p.peakName} ${p.peak}: ${p.y} at ${p.x} operations per byte${p.ratio === null ? '' : `, ratio ${p.ratio}`}`))));
}
