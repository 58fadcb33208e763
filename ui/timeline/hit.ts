// SPDX-License-Identifier: Apache-2.0
// hit.ts: what is under the mouse. From the slices at hand where they are drawn, else by one question after the mouse came to rest.
import { App } from '../app';
import { fill, h } from '../base/dom';
import { baseName, count, cyclesWith, share } from '../base/format';
import { askJson, NO_CODE, SliceInfo } from '../source';
import { sliceAt } from './exact';
import { tOf } from './draw';
import { isUnread, laneName, Row, trackAt, trackName } from './lanes';
import { Timeline } from './view';

const REST_MS = 90;

export interface Hit { row: Row; track: number; t: number; lane: number }

/** The lane, track, time and sub-lane at a point of the canvas. */
export function hitAt(view: Timeline, x: number, y: number): Hit | null {
	const row = view.rowUnder(y);
	if (!row?.lane) return null;
	const t = tOf(view.scale(), x), track = trackAt(view.app.trace, row.lane, t);
	const part = (y - view.yOf(row) - 2) / Math.max(1, row.height - 4);
	return { row, track, t, lane: Math.max(0, Math.min(row.lane.lanes - 1, Math.floor(part * row.lane.lanes))) };
}

/** The slice there, in full; null where nothing ran. */
export async function askAt(app: App, view: Timeline, hit: Hit, signal?: AbortSignal): Promise<SliceInfo | null> {
	const c = app.trace.index || undefined, { t0, t1 } = view.scale();
	if (hit.row.lane?.only && view.stats.isExact) {
		for (const track of hit.row.lane.tracks) {
			const found = view.exact.get(track, Math.max(0, Math.floor(t0)), Math.ceil(t1)), one = found && sliceAt(found, hit.t, 0);
			if (one && hit.t >= one.row.start + one.row.stall && hit.row.lane.only.has(app.trace.classes[one.row.cls]?.slot ?? 11)) return askJson<SliceInfo>(app.source, 'at', { c, track, slice: one.slice }, signal);
		}
		return null;
	}
	const near = view.stats.isExact ? view.exact.get(hit.track, Math.max(0, Math.floor(t0)), Math.ceil(t1)) : null;
	if (near) {
		const found = sliceAt(near, hit.t, hit.lane);
		if (!found) return null;
		return askJson<SliceInfo>(app.source, 'at', { c, track: hit.track, slice: found.slice }, signal);
	}
	const info = await askJson<SliceInfo>(app.source, 'at', { c, track: hit.track, t: Math.max(0, Math.floor(hit.t)) }, signal);
	return info.slice === null ? null : info;
}

export class Tip {
	private readonly element = h('div', { class: 'tooltip', hidden: true, role: 'tooltip' });
	private timer = 0;
	private control: AbortController | null = null;

	constructor(private readonly app: App, private readonly view: Timeline) {
		document.body.appendChild(this.element);
	}

	hide(): void {
		clearTimeout(this.timer);
		this.control?.abort();
		this.element.hidden = true;
	}

	close(): void {
		this.hide();
		this.element.remove();
	}

	/** Shows what is at a point, once the mouse rests there. */
	at(e: PointerEvent): void {
		this.hide();
		const hit = hitAt(this.view, e.offsetX, e.offsetY), { clientX, clientY } = e;
		if (!hit) return;
		this.timer = window.setTimeout(() => {
			const control = this.control = new AbortController();
			askAt(this.app, this.view, hit, control.signal).then((info) => control.signal.aborted || this.show(hit, info, clientX, clientY), () => undefined);
		}, REST_MS);
	}

	private show(hit: Hit, info: SliceInfo | null, x: number, y: number): void {
		const t = this.app.trace.tracks[hit.track], lane = hit.row.lane!;
		const busy = lane.only && (lane.isModelled || !this.view.stats.isExact) ? this.view.busyAt(lane, hit.t) : null;
		if (busy) {
			const units = this.app.units();
			fill(this.element, h('div', null, laneName(this.app.trace, lane)), h('div', null, `${lane.isModelled ? 'busy, as modelled, in' : 'issues in'} ${cyclesWith(busy.busy, units)} of ${cyclesWith(busy.of, units)}: ${share(busy.busy, busy.of)}`));
		} else
		if (!info) {
			const words = hit.t >= t.begin && hit.t < t.end && isUnread(this.app.trace, hit.track) ? 'this wave could not be read' : hit.t < t.begin || hit.t >= t.end ? 'not running here' : 'idle: no instruction here';
			fill(this.element, h('div', null, trackName(this.app.trace, hit.track)), h('div', { class: 'dim' }, words));
		} else fill(this.element, describe(this.app, info));
		this.element.hidden = false;
		const w = this.element.offsetWidth, tall = this.element.offsetHeight;
		this.element.style.left = Math.max(4, Math.min(innerWidth - w - 8, x + 14)) + 'px';
		this.element.style.top = (y + 18 + tall > innerHeight ? Math.max(4, y - tall - 12) : y + 18) + 'px';
	}
}

/** Text, class, start, issue, stall, duration, execution n of N, wave, source line. */
export function describe(app: App, s: SliceInfo): Node[] {
	const units = app.units(), p = app.palette();
	const rows: [string, string][] = [
		['start', cyclesWith(s.start, units)], ['duration', cyclesWith(s.duration, units)],
		['issue', cyclesWith(s.issue, units)], ['stalled', cyclesWith(s.stall, units) + (s.cause ? `, ${s.cause}` : '')],
		['execution', s.executions ? `${count(s.execution)} of ${count(s.executions)}` : '-'], ['on', trackName(app.trace, s.track)],
	];
	if (s.frames[0]) rows.push(['source', `${baseName(s.frames[0].file)}:${s.frames[0].line}`]);
	const last = s.producers.find((q) => q.is_last) ?? s.producers[0];
	if (last) rows.push(['waited for', `${last.text} (${cyclesWith(last.latency, units)} after issue)`]);
	return [
		h('div', { class: 'code' }, h('span', { class: 'swatch', style: { background: p.slots[s.slot] ?? p.dim } }), ' ', s.code === null || s.code === NO_CODE ? 'unknown code' : s.text),
		h('div', { class: 'dim' }, s.class),
		h('table', null, rows.map(([k, v]) => h('tr', null, h('td', null, k), h('td', null, v)))),
	];
}

/** What the live region says of a slice: "wave 3, v_mfma, 16 cycles, 4 stalled". */
export function spoken(app: App, s: SliceInfo): string {
	const units = app.units();
	return `${trackName(app.trace, s.track)}, ${s.text || 'unknown code'}, ${cyclesWith(s.duration, units)}${s.stall ? `, ${cyclesWith(s.stall, units)} stalled` : ''}`;
}
