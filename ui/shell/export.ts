// SPDX-License-Identifier: Apache-2.0
// export.ts: the picture on screen as PNG or SVG, and the page on paper.
import { App } from '../app';
import { download, s } from '../base/dom';
import { cycles, ticks, unitName } from '../base/format';
import { ink, Palette } from '../base/palette';
import { scopeWords } from '../panels/common';
import { NO_CODE, sliceRow, SLICE_WAITS } from '../source';
import { xOf } from '../timeline/draw';
import { Row } from '../timeline/lanes';
import { TimelinePane } from '../timeline/pane';

export function fileName(app: App, ending: string): string {
	const kernel = String(app.trace.input.kernel ?? 'capture').replace(/[^A-Za-z0-9_.-]+/g, '_').slice(0, 60);
	return `incore-${kernel}.${ending}`;
}

function heading(app: App): string {
	const st = app.store.get(), u = app.units();
	return `${app.trace.input.kernel ?? 'unknown kernel'}, ${app.trace.input.arch ?? ''}, ${app.trace.evidence}, ${scopeWords(app) && scopeWords(app) + ', '}${cycles(st.t0, u)} to ${cycles(st.t1, u)} ${unitName(u)}`;
}

/** Words with their colours, in lines of a width; returns how high that is. Without g it is only measured. */
function drawKeys(pane: TimelinePane, p: Palette, width: number, top: number, g: CanvasRenderingContext2D, isDrawn: boolean): number {
	let x = 8, y = top + 9;
	for (const { words, colour } of pane.keys()) {
		const w = (colour === '' ? 0 : 15) + g.measureText(words).width + 14;
		if (x + w > width && x > 8) [x, y] = [8, y + 17];
		if (isDrawn && colour !== '') {
			g.fillStyle = colour ?? p.quiet;
			if (colour === null) for (let k = 0; k < 10; k += 3) g.fillRect(x + k, y - 5, 1.6, 10);
			else g.fillRect(x, y - 5, 10, 10);
		}
		g.fillStyle = p.text;
		if (isDrawn) g.fillText(words, x + (colour === '' ? 0 : 15), y);
		x += w;
	}
	return y + 9 - top;
}

/** Lane names, axis, lanes and legend as they are on screen, on one canvas, two pixels a pixel or as many as the screen has. */
export function savePng(app: App, pane: TimelinePane): void {
	const ratio = Math.max(2, devicePixelRatio || 1), { width, height } = pane.view.size(), labels = pane.view.labelWidth, p = app.palette(), top = 24, axis = 66;
	const c = document.createElement('canvas'), g = c.getContext('2d')!, font = '12px system-ui, sans-serif';
	g.font = font;
	const keys = drawKeys(pane, p, width + labels, 0, g, false);
	c.width = (width + labels) * ratio;
	c.height = (height + top + axis + keys) * ratio;
	g.scale(ratio, ratio);
	g.fillStyle = p.background;
	g.fillRect(0, 0, c.width, c.height);
	g.fillStyle = p.text;
	g.font = font;
	g.textBaseline = 'middle';
	g.fillText(heading(app), 8, 12);
	for (const canvas of pane.ruler.element.querySelectorAll('canvas')) g.drawImage(canvas, labels, top, width, axis);
	pane.view.snapshot(ratio, (...both) => both.forEach((canvas) => g.drawImage(canvas, labels, top + axis, width, height)));
	for (const r of pane.view.visible()) g.fillText((r.lane ? '  ' : '') + r.label, 8, top + axis + pane.view.yOf(r) + r.height / 2, labels - 12);
	drawKeys(pane, p, width + labels, height + top + axis, g, true);
	c.toBlob((b) => b && download(fileName(app, 'png'), b));
}

/** Slices of a lane as shapes, waits hatched, with their text where it fits. */
function shapes(app: App, pane: TimelinePane, r: Row, left: number, y: number): SVGElement[] {
	const scale = pane.view.scale(), p = app.palette(), out: SVGElement[] = [], step = (r.height - 4) / r.lane!.lanes;
	for (const track of r.lane!.tracks) {
		const found = pane.view.exact.get(track, Math.max(0, Math.floor(scale.t0)), Math.ceil(scale.t1));
		for (let i = 0; found && i < found.n; i++) {
			const q = sliceRow(found, i), a = Math.max(0, xOf(scale, q.start)), b = Math.min(scale.width, xOf(scale, q.start + q.dur));
			if (b <= a) continue;
			const words = q.code === NO_CODE ? 'unknown code' : pane.view.code?.text[q.code] ?? '', fill = p.slots[q.slot], high = Math.max(1, step - 1);
			const top = y + 2 + Math.min(q.lane, r.lane!.lanes - 1) * step, attrs = { x: (left + a).toFixed(2), y: top.toFixed(2), width: (b - a).toFixed(2), height: high.toFixed(2) };
			out.push(s('rect', { attrs: { ...attrs, fill } }, s('title', null, words)));
			if (q.flags & SLICE_WAITS) out.push(s('rect', { attrs: { ...attrs, fill: 'url(#wait)' } }));
			const room = Math.floor((b - a - 6) / 6.2);
			if (room > 2 && high >= 10) out.push(s('text', { attrs: { x: left + a + 3, y: top + high / 2 + 4, fill: ink(fill), 'pointer-events': 'none' } }, words.length > room ? words.slice(0, room - 1) + '…' : words));
		}
	}
	return out;
}

/** The same as shapes and text; slices one by one where they are drawn so, else the picture is embedded. */
export function saveSvg(app: App, pane: TimelinePane): void {
	const { width, height } = pane.view.size(), labels = pane.view.labelWidth, p = app.palette(), scale = pane.view.scale(), top = 48, st = app.store.get();
	const root = s('svg', { attrs: { xmlns: 'http://www.w3.org/2000/svg', width: width + labels, height: height + top, viewBox: `0 0 ${width + labels} ${height + top}`, 'font-family': 'sans-serif', 'font-size': 11 } },
		s('pattern', { id: 'wait', attrs: { width: 6, height: 6, patternUnits: 'userSpaceOnUse' } }, s('path', { attrs: { d: 'M0 6 6 0', stroke: p.background, 'stroke-opacity': 0.55, 'stroke-width': 1.4 } })),
		s('rect', { attrs: { width: width + labels, height: height + top, fill: p.background } }), s('text', { attrs: { x: 8, y: 16, fill: p.text } }, heading(app)));
	for (const t of ticks(scale.t0, scale.t1, Math.max(2, Math.floor(width / 120)), 1))
		root.append(s('line', { attrs: { x1: labels + xOf(scale, t), x2: labels + xOf(scale, t), y1: top - 6, y2: top + height, stroke: p.grid } }), s('text', { attrs: { x: labels + xOf(scale, t), y: top - 10, fill: p.dim, 'text-anchor': 'middle' } }, cycles(t, app.units())));
	const isExact = pane.view.stats.isExact && st.mode === 'class' && st.kind === 'waves';
	for (const canvas of isExact ? [] : pane.view.scroller.querySelectorAll('canvas')) root.appendChild(s('image', { attrs: { x: labels, y: top, width, height, href: canvas.toDataURL('image/png') } }));
	for (const r of pane.view.visible()) {
		const y = top + pane.view.yOf(r);
		root.appendChild(s('text', { attrs: { x: r.lane ? 16 : 6, y: y + r.height / 2 + 4, fill: p.text } }, r.label));
		if (isExact && r.lane) root.append(...shapes(app, pane, r, labels, y));
	}
	download(fileName(app, 'svg'), new Blob([new XMLSerializer().serializeToString(root)], { type: 'image/svg+xml' }));
}
