// SPDX-License-Identifier: Apache-2.0
// pictures.ts: pictures of the producer's tables: the memory paths of a core, the cache-line heat map, rooflines. The table with the same
// numbers always stands below.
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

/** One square per cache line, darker with its count, for one kind of event. */
export function heatMap(t: Found, event: string): SVGElement | null {
	const at = { line: column(t, /^line$/), event: column(t, /^event$/), count: column(t, /^count$/) };
	if (Object.values(at).some((i) => i < 0)) return null;
	const rows = t.cells.filter((c) => c[at.event] === event).map((c) => ({ line: Number(c[at.line]), count: Number(c[at.count] ?? 0) })).filter((r) => Number.isFinite(r.line));
	if (!rows.length) return null;
	const wide = Math.min(128, Math.max(8, Math.ceil(Math.sqrt(rows.length * 4)))), size = 9, most = largest(rows, (r) => r.count);
	rows.sort((a, b) => a.line - b.line);
	const svg = s('svg', { class: 'heat-map', attrs: { viewBox: `0 0 ${wide * size} ${Math.ceil(rows.length / wide) * size}`, role: 'img', 'aria-label': `${event} by cache line: ${rows.length} lines, at most ${most}` } });
	rows.slice(0, 2000).forEach((r, i) => svg.appendChild(s('rect', { attrs: { x: (i % wide) * size, y: Math.floor(i / wide) * size, width: size - 1, height: size - 1, 'fill-opacity': (0.06 + (0.94 * r.count) / most).toFixed(3) } }, s('title', null, `line ${r.line}: ${r.count}`))));
	return svg;
}

export function eventsOf(t: Found): string[] {
	const i = column(t, /^event$/);
	return i < 0 ? [] : [...new Set(t.cells.map((c) => c[i]).filter((v): v is string => !!v))];
}

export function coresOf(t: Found): string[] {
	const i = column(t, /^core_no$/);
	return i < 0 ? [] : [...new Set(t.cells.map((c) => c[i]).filter((v): v is string => v !== null))];
}

interface Point { x: number; y: number; bw: number; peak: number; name: string }

/** Intensity against rate, both logarithmic: the roof of each memory and the point below it. */
export function rooflines(t: Found, colour: (i: number) => string): HTMLElement | null {
	const at = ['x', 'y', 'bw', 'computility', 'bw_name'].map((n) => t.columns.indexOf(n));
	if (at.slice(0, 4).some((i) => i < 0)) return null;
	const points: Point[] = t.cells.map((c) => ({ x: Number(c[at[0]]), y: Number(c[at[1]]), bw: Number(c[at[2]]), peak: Number(c[at[3]]), name: c[at[4]] ?? '' })).filter((p) => p.x > 0 && p.y > 0 && p.bw > 0 && p.peak > 0);
	if (!points.length) return null;
	const xs = points.flatMap((p) => [p.x, p.peak / p.bw]), ys = points.flatMap((p) => [p.y, p.peak]);
	const x0 = Math.log10(Math.min(...xs)) - 1, x1 = Math.log10(Math.max(...xs)) + 1, y0 = Math.log10(Math.min(...ys)) - 1, y1 = Math.log10(Math.max(...ys)) + 0.5;
	const X = (v: number) => 50 + ((Math.log10(v) - x0) / (x1 - x0)) * 540, Y = (v: number) => 190 - ((Math.log10(v) - y0) / (y1 - y0)) * 180;
	const svg = s('svg', { class: 'roofline', attrs: { viewBox: '0 0 600 220', role: 'img', 'aria-label': `Roofline: ${points.map((p) => `${p.name} at ${p.x} operations per byte, ${p.y}`).join('; ')}` } },
		s('text', { attrs: { x: 320, y: 216, 'text-anchor': 'middle', class: 'axis' } }, 'operations per byte'), s('text', { attrs: { x: 12, y: 100, 'text-anchor': 'middle', class: 'axis', transform: 'rotate(-90 12 100)' } }, 'operations per second'));
	points.forEach((p, i) => {
		const left = Math.pow(10, x0), knee = p.peak / p.bw;
		svg.appendChild(s('path', { attrs: { d: `M${X(left)} ${Y(left * p.bw)}L${X(knee)} ${Y(p.peak)}H590`, fill: 'none', stroke: colour(i), 'stroke-width': 1.5 } }, s('title', null, p.name)));
		svg.appendChild(s('circle', { attrs: { cx: X(p.x), cy: Y(p.y), r: 4, fill: colour(i) } }, s('title', null, `${p.name}: ${p.x}, ${p.y}`)));
	});
	return h('div', null, svg, h('p', { class: 'legend' }, points.map((p, i) => h('span', { class: 'legend-key' }, h('span', { class: 'swatch', style: { background: colour(i) } }), p.name))));
}
