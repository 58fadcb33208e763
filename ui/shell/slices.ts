// SPDX-License-Identifier: Apache-2.0
// slices.ts: slices as a real table: what is on screen (T), or what stands behind a row of a box's statistics.
import { App } from '../app';
import { h } from '../base/dom';
import { count, cycles, unitName } from '../base/format';
import { Table } from '../base/table';
import { NO_CODE, readSlices, sliceRow } from '../source';
import { trackName } from '../timeline/lanes';
import { Timeline } from '../timeline/view';
import { dialog } from './dialogs';

interface Row { lane: string; track: number; slice: number; start: number; dur: number; stall: number; code: number; cls: string; text: string }
export interface Wanted { title: string; tracks: number[]; t0: number; t1: number; only?: (r: { code: number; cls: string }) => boolean }
const MOST = 20000;

async function read(app: App, w: Wanted): Promise<{ rows: Row[]; more: number }> {
	const code = await app.code().catch(() => null), rows: Row[] = [];
	let more = 0;
	for (const track of w.tracks) {
		const s = readSlices(await app.source.ask('slices', { c: app.trace.index || undefined, track, t0: Math.max(0, Math.floor(w.t0)), t1: Math.ceil(w.t1) }));
		more += s.more;
		for (let i = 0; i < s.n; i++) {
			const r = sliceRow(s, i), cls = app.trace.classes[r.cls]?.name ?? '?';
			if (w.only && !w.only({ code: r.code, cls })) continue;
			rows.push({ lane: trackName(app.trace, track), track, slice: s.first + i, start: r.start, dur: r.dur, stall: r.stall, code: r.code, cls, text: r.code === NO_CODE ? 'unknown code' : code?.text[r.code] ?? String(r.code) });
		}
		if (rows.length > MOST) break;
	}
	return { rows, more };
}

export async function sliceTable(app: App, w: Wanted, goSlice: (track: number, slice: number) => void): Promise<void> {
	const still = app.store.choose(), { rows, more } = await read(app, w), unit = () => unitName(app.units());
	if (!still()) return;
	const time = (id: 'start' | 'dur' | 'stall', head: string) => ({ id, head, unit, isNumber: true, value: (r: Row) => r[id], cell: (r: Row) => cycles(r[id], app.units()) });
	const table = new Table<Row>({
		label: w.title, key: (r) => `${r.track}.${r.slice}`, csv: 'incore-slices.csv', empty: 'Nothing runs here.',
		columns: [
			{ id: 'lane', head: 'lane', value: (r) => r.lane, width: '15rem' }, { id: 'slice', head: 'slice', isNumber: true, value: (r) => r.slice },
			time('start', 'start'), time('dur', 'duration'), time('stall', 'stall'),
			{ id: 'class', head: 'class', value: (r) => r.cls, width: '7rem' }, { id: 'text', head: 'instruction', value: (r) => r.text, width: 'minmax(16rem, 1fr)', cell: (r) => h('code', null, r.text) },
		],
		pick: (r) => {
			d.close();
			goSlice(r.track, r.slice);
		},
	});
	table.element.style.height = '60vh';
	const d = dialog(`${w.title}: ${count(rows.length)} slices`, h('div', { class: 'row' }, table.tools(), more > 0 && h('span', { class: 'dim' }, `${count(more)} more not listed: choose less`)), table.element);
	table.rows(rows);
	table.element.focus();
}

/** What is on screen as a real table: readable without seeing the picture. */
export function rangeTable(app: App, view: Timeline, goSlice: (track: number, slice: number) => void): Promise<void> {
	const { t0, t1 } = app.store.get();
	const tracks = [...new Set(view.visible().flatMap((r) => r.lane?.tracks ?? []))].filter((i) => app.trace.tracks[i].end > t0 && app.trace.tracks[i].begin < t1).slice(0, 64);
	return sliceTable(app, { title: 'Visible range', tracks, t0, t1 }, goSlice);
}
