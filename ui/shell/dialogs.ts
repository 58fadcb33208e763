// SPDX-License-Identifier: Apache-2.0
// dialogs.ts: help, go to, markers, and the visible range as a table. The browser's own dialogs trap the focus and give it back.
import { App } from '../app';
import { button, fill, h } from '../base/dom';
import { address, count, cycles, unitName } from '../base/format';
import { KeyBinding } from '../base/keys';
import { Still } from '../base/latest';
import { colourOf } from '../base/palette';
import { askJson, BoxInfo } from '../source';
import { Marker, Range } from '../state';
import { trackName } from '../timeline/lanes';
import { dialog } from './dialogs_base';
import { narrow, parseRange } from '../range';

export { dialog } from './dialogs_base';

/** All keys, from the table that also handles them. */
export function help(bindings: readonly KeyBinding[], panels: readonly { title: string; hint: string }[]): void {
	const groups = [...new Set(bindings.map((b) => b.group))];
	dialog('Keys and mouse', h('div', { class: 'keys' }, groups.map((g) => h('section', null, h('h3', null, g), h('table', null,
		bindings.filter((b) => b.group === g).map((b) => h('tr', { attrs: { 'data-key': b.id } }, h('td', null, b.keys.map((k, i) => [i ? ' ' : '', h('kbd', null, k)])), h('td', null, b.does)))))),
	h('section', null, h('h3', null, 'Mouse'), h('table', null, [['click', 'select the slice'], ['drag', 'box with statistics; all figures narrow to it'], ['Alt+drag', 'zoom to a box'], ['right-drag', 'measure'],
		['wheel', 'scroll lanes'], ['Ctrl+wheel, pinch', 'zoom at the pointer'], ['Shift+wheel', 'pan'], ['double click', 'zoom in']].map(([k, v]) => h('tr', null, h('td', null, h('kbd', null, k)), h('td', null, v))))),
	h('section', null, h('h3', null, 'Panels'), h('table', null, panels.map((p) => h('tr', null, h('td', null, h('strong', null, p.title)), h('td', null, p.hint)))))));
}

/** "12345", "1000-2000", "0x1600", "gemm.py:12", "row 13", "wave 3": where to go. */
export type Target = { kind: 'range'; range: Range } | { kind: 'cycle'; t: number } | { kind: 'address'; a: number } | { kind: 'line'; file: string; line: number } | { kind: 'row'; row: number } | { kind: 'track'; words: string };
export function parseTarget(text: string): Target | null {
	const words = text.trim();
	let m: RegExpExecArray | null;
	const range = parseRange(words);
	if (range) return { kind: 'range', range };
	if ((m = /^(?:cycle\s+)?([\d,_]+)$/i.exec(words))) return { kind: 'cycle', t: Number(m[1].replace(/[,_]/g, '')) };
	if ((m = /^(?:address\s+)?(0x[0-9a-f]+)$/i.exec(words))) return { kind: 'address', a: Number(m[1]) };
	if ((m = /^(?:row|r)\s*(\d+)$/i.exec(words))) return { kind: 'row', row: Number(m[1]) };
	if ((m = /^(?:line\s+)?(\S*?):(\d+)$/i.exec(words))) return { kind: 'line', file: m[1], line: Number(m[2]) };
	return words ? { kind: 'track', words } : null;
}

async function goTo(app: App, t: Target, still: Still): Promise<string> {
	const { trace } = app, s = app.store.get();
	if (t.kind === 'range') {
		const why = narrow(app, t.range);
		if (!why) app.showTime(t.range.t0, Math.min(t.range.t1, trace.span.end));
		return why;
	}
	if (t.kind === 'cycle') {
		if (t.t > trace.span.end) return `the trace ends at cycle ${count(trace.span.end)}`;
		const half = (s.t1 - s.t0) / 2;
		app.store.settle();
		app.store.set({ t0: Math.max(0, t.t - half), t1: Math.min(trace.span.end, Math.max(0, t.t - half) + 2 * half) });
		app.store.settle();
		return '';
	}
	if (t.kind === 'address' || t.kind === 'row') {
		const code = await app.code();
		if (!still()) return '';
		const i = t.kind === 'row' ? app.codeOfRow(t.row) : code.address.findIndex((a, k) => a === t.a && !code.label[k]);
		if (i < 0) return t.kind === 'row' ? `no row ${t.row}` : `no instruction at ${address(t.a)}`;
		app.select({ kind: 'code', code: i });
		app.openPanel('isa');
		return '';
	}
	if (t.kind === 'line') {
		const source = trace.sources.findIndex((f) => !t.file || f.path === t.file || f.path.endsWith('/' + t.file));
		if (source < 0) return `no source file ${t.file}`;
		app.select({ kind: 'line', source, line: t.line });
		app.openPanel('source');
		return '';
	}
	const want = t.words.toLowerCase().replace(/\s+/g, ' ');
	const hit = trace.tracks.find((k) => trackName(trace, k.index).toLowerCase().replace(/\s+/g, ' ').includes(want) || k.name.toLowerCase().includes(want));
	if (!hit) return `no lane named ${t.words}`;
	app.select({ kind: 'track', track: hit.index });
	app.showTrack(hit.index);
	return '';
}

export function askWhere(app: App): void {
	const input = h('input', { attrs: { 'aria-label': 'Go to', placeholder: '12000, 1000-2000, SE0 1000-2000, 0x1600, row 13, gemm.py:17, SIMD1 slot 0' }, style: { width: '100%' } });
	const told = h('p', { class: 'dim', role: 'status' }, 'A cycle, a range of cycles that all figures narrow to (1000-2000, SE0 1000-2000), an address (0x…), a row (row 13), a source line (file:line) or a lane by name.');
	const d = dialog('Go to', h('form', { on: { submit: (e) => {
		e.preventDefault();
		const target = parseTarget(input.value);
		if (!target) return;
		const still = app.store.choose();
		void goTo(app, target, () => still() && d.open).then((wrong) => {
			if (!wrong) return d.close();
			told.textContent = wrong;
			input.classList.add('bad');
		});
	} } }, input, told, h('div', { class: 'row' }, h('button', { class: 'button main', attrs: { type: 'submit' } }, 'Go'))));
	input.focus();
}

/** From one marker to the next: cycles, µs, slices, share. */
function between(app: App, a: Marker, b: Marker): HTMLElement {
	const { trace } = app, t0 = Math.min(a.t, b.t), t1 = Math.max(a.t, b.t), n = t1 - t0, e = h('div', { class: 'measured dim', style: { 'flex-basis': '100%' } });
	const tell = (slices: string) => (e.textContent = [`${count(n)} cycles from the one before`, trace.clock.mhz ? `${count(n / trace.clock.mhz, 3)} µs` : '', `${((100 * n) / Math.max(1, trace.span.end)).toFixed(2)} % of the trace`, slices].filter(Boolean).join(' · '));
	tell('');
	if (n > 0 && trace.tracks.length)
		void askJson<BoxInfo>(app.source, 'select', { c: trace.index || undefined, t0, t1, by: 'class', tracks: `0-${trace.tracks.length - 1}` }).then((x) => tell(`${count(x.total.count)} slices`), () => undefined);
	return e;
}

/** Edits a marker, or the list of all. */
export function markers(app: App, wanted: number): void {
	const list = () => app.store.get().markers;
	const change = (i: number, patch: Partial<Marker> | null) => app.store.set({ markers: patch ? list().map((m, k) => (k === i ? { ...m, ...patch } : m)) : list().filter((_, k) => k !== i) });
	const body = h('div');
	const draw = () => fill(body, !list().length && h('p', { class: 'dim' }, 'No markers. K sets one at the pointer, or over the selected range.'), list().map((m, i) => {
		const name = h('input', { attrs: { 'aria-label': `Name of marker ${i + 1}` } });
		name.value = m.name;
		name.addEventListener('change', () => change(i, { name: name.value }));
		if (i === wanted) setTimeout(() => name.select(), 0);
		return h('div', { class: 'row', style: { 'margin-bottom': '6px' } }, name, h('span', { class: 'num' }, `${cycles(m.t, app.units())}${m.dur ? ` + ${cycles(m.dur, app.units())}` : ''} ${unitName(app.units())}`),
			button('Colour', 'Next colour', () => {
				change(i, { colour: (m.colour + 1) % 12 });
				draw();
			}), h('span', { class: 'swatch', style: { background: colourOf(app.palette(), m.colour) } }), button('Go', 'Show it', () => app.showTime(m.t, m.t + Math.max(1, m.dur))), button('Delete', 'Delete this marker', () => {
				change(i, null);
				draw();
			}), i > 0 && between(app, list()[i - 1], m));
	}));
	draw();
	dialog('Markers', body);
}
