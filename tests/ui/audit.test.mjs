// SPDX-License-Identifier: Apache-2.0
// Every table of every panel, sorted by every column both ways: the same rows, in the right order. tables.test.mjs compares the rows with
// the verbs in the order they come in, so that both together compare every order.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { count, cycles, equal, incore, panel, rows, scratch, total, truth, verb } from './lib.mjs';
import { openTab } from './panels.mjs';
import { still } from './select.test.mjs';

/** Runs in the page: sorts all tables of a panel by all columns; what is wrong, and how many orders were looked at. */
async function sortAll(host) {
	const frame = () => new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(f))), faults = [];
	const SIZES = { B: 1, KiB: 1024, MiB: 1048576, GiB: 1073741824, KB: 1000, MB: 1e6, GB: 1e9 };
	const valueOf = (text) => {
		const m = /^(?:row |▲ ?|▼ ?|#)*([+-]?[\d,]*\.?\d+(?:e-?\d+)?)(?: ?(B|KiB|MiB|GiB|KB|MB|GB))?(?: ?%| × .*| of .*)?$/.exec(text);
		if (/^0x[0-9a-f]+$/.test(text)) return Number(text);
		const two = /^(\d+) \+ (\d+)$/.exec(text);
		if (two) return Number(two[1]) + Number(two[2]);
		return text === '-' ? null : m ? Number(m[1].replace(/,/g, '')) * (SIZES[m[2]] ?? 1) : text;
	};
	const isBefore = (a, b, sign) => {
		if (a === null || b === null) return b === null;
		if (typeof a !== typeof b) return true;
		return typeof a === 'number' ? sign * (a - b) <= Math.abs(a) * 1e-9 : sign * (a < b ? -1 : a > b ? 1 : 0) <= 0;
	};
	let orders = 0;
	for (const table of host.querySelectorAll('.table')) {
		const n = Number(table.getAttribute('aria-rowcount')) - 1, name = table.getAttribute('aria-label');
		if (n < 1 || n > 120) continue;
		for (let e = table; e && e !== host.parentElement; e = e.parentElement) Object.assign(e.style, { height: e === table ? `${(n + 6) * 26 + 60}px` : '', maxHeight: 'none', minHeight: e === table ? `${(n + 6) * 26 + 60}px` : '', flex: 'none' });
		for (const until = performance.now() + 60000; performance.now() < until && table.querySelectorAll('.table-row').length < n; ) await frame();
		const read = () => [...table.querySelectorAll('.table-row')].map((r) => ({ key: r.dataset.key, cells: Object.fromEntries([...r.querySelectorAll('[data-column]:not([data-column=gutter])')].map((c) => [c.dataset.column, (c.querySelector('code.isa') ?? c).textContent.replace(/[▾▸].*$/s, '')])) }));
		const bag = (rows) => JSON.stringify(rows.map((r) => JSON.stringify([r.key, r.cells])).sort());
		const first = read(), all = bag(first);
		if (first.length !== n) faults.push(`${name}: ${first.length} of ${n} rows in the page`);
		for (const column of [...table.querySelectorAll('.table-head [data-column]')].filter((c) => c.querySelector('.sort')).map((c) => c.dataset.column)) {
			const seen = new Set();
			for (let click = 0; click < 2; click++) {
				table.querySelector(`.table-head [data-column="${column}"] .sort`).click();
				const rows = read(), way = table.querySelector(`.table-head [data-column="${column}"]`).getAttribute('aria-sort'), shown = rows.map((r) => r.cells[column]).filter((t) => t), values = shown.map(valueOf);
				seen.add(way);
				orders++;
				if (bag(rows) !== all) faults.push(`${name} by ${column}, ${way}: other rows than before`);
				const at = values.findIndex((v, i) => i > 0 && !isBefore(values[i - 1], v, way === 'descending' ? -1 : 1));
				if (at >= 0) faults.push(`${name} by ${column}, ${way}: "${shown[at - 1]}" before "${shown[at]}"`);
			}
			if ([...seen].sort().join() !== 'ascending,descending') faults.push(`${name} by ${column}: two clicks give ${[...seen]}`);
		}
	}
	return { faults, orders };
}

async function sorting(bench, name) {
	const page = await bench.page(name), tabs = await page.$$eval('.tab', (all) => all.map((t) => t.dataset.panel)), faults = [];
	let orders = 0;
	for (const id of tabs) {
		const host = await page.evaluateHandle(openTab, id), got = await host.evaluate(sortAll);
		faults.push(...got.faults.map((f) => `${id}: ${f}`));
		orders += got.orders;
	}
	equal(faults, [], `orders of the tables of ${name}`);
	truth(orders >= 40, `only ${orders} orders were looked at`);
}

// --- the scope of one kernel ---

const KERNEL = '^scale<float, 4>$', BUCKETS = ['issue', 'stall', 'wait', 'idle', 'drain'];

/** What every panel shows, as texts to compare: of all kernels, or of the one that --kernel names. */
function expected(...of) {
	const isa = verb('isa', ...of, 'two_kernels'), waves = verb('waves', '--top', 'all', ...of, 'two_kernels'), summary = verb('summary', ...of, 'two_kernels'), occupancy = verb('occupancy', '--top', 'all', ...of, 'two_kernels');
	const lines = verb('hot', '--by', 'line', '--top', 'all', ...of, 'two_kernels').groups;
	return {
		isa: isa.rows.map((r) => [String(r.row), count(r.hit), cycles(total(r.buckets))]),
		source: lines.filter((g) => g.key !== '<unknown>').map((g) => [g.key.split(':').pop(), cycles(total(g.buckets))]).sort(),
		hotspots: verb('hot', '--top', 'all', ...of, 'two_kernels').rows.map((r) => [String(r.row), count(r.hit), cycles(total(r.buckets))]),
		waits: isa.edges.map((e) => [`row ${e.wait}`, `row ${e.producer}`, count(e.count), cycles(e.stall + e.shared)]).sort(),
		waves: waves.waves.map((w) => [`SE${w.se} CU${w.cu} SIMD${w.simd} slot ${w.slot} wave ${w.wave}`, cycles(w.duration)]).sort(),
		states: ['EXEC', 'WAIT', 'STALL', 'IDLE'].map((name) => [name, cycles(waves.states[name])]),
		summary: BUCKETS.map((b) => cycles(summary.accounting[b])),
		utilization: [{ cycles: summary.utilization }, ...summary.utilization_by_simd].map((u) => [cycles(u.cycles.resident), cycles(u.cycles.idle)]),
		occupancy: occupancy.ses.map((u) => [count(u.starts), cycles(u.wave_cycles)]),
		lanes: [...new Set(waves.waves.map((w) => w.se))].sort(),
	};
}

async function shown(page) {
	const of = async (id, label, ...columns) => {
		await page.evaluate(openTab, id);
		return (await rows(page, label)).map((r) => columns.map((c) => r[c]));
	};
	const isa = await of('isa', 'Instructions', 'row', 'hit', 'cycles');
	const source = (await of('source', 'Source of add.py', 'line', 'cycles')).filter((r) => r[1] !== '-').sort();
	const out = {
		isa: isa.filter((r) => r[1] !== undefined && r[1] !== '-' && r[1] !== ''), source, hotspots: await of('hotspots', 'Hottest instructions', 'row', 'hit', 'cycles'),
		waits: (await of('waits', 'Waits and their producers', 'wait', 'producer', 'count', 'cycles')).sort(), waves: (await of('waves', 'Waves', 'wave', 'duration')).sort(),
		states: await of('states', 'state', 'name', 'cycles'), utilization: await of('utilization', 'Utilization by SIMD', 'resident', 'idle'),
	};
	await page.evaluate(openTab, 'occupancy');
	await page.selectOption('.panel-occupancy select[aria-label="By"]', 'se');
	out.occupancy = await of('occupancy', 'Occupancy by unit', 'starts', 'cycles');
	await page.evaluate(openTab, 'summary');
	out.summary = await Promise.all(BUCKETS.map((b) => page.innerText(`.panel-summary [data-bucket="${b}"]`)));
	out.lanes = await page.evaluate(() => [...new Set(window.incore.pane().view.layout.rows.flatMap((r) => r.lane?.tracks ?? []).map((t) => window.incore.app().trace.tracks[t].coord[0]))].sort());
	return out;
}

function alike(got, want, what) {
	for (const key of Object.keys(want)) equal(got[key], want[key], `${key}, ${what}`);
}

async function scope(bench, kind) {
	const page = await bench.page(kind + 'two_kernels'), all = expected(), one = expected('--kernel', KERNEL);
	for (const key of Object.keys(one)) truth(JSON.stringify(one[key]) !== JSON.stringify(all[key]), `${key} is the same with and without the scope: nothing is tested`);
	alike(await shown(page), all, 'no scope');
	await panel(page, 'dispatches');
	await page.locator('.table[aria-label="Kernels"] .table-row', { hasText: 'scale<float, 4>' }).locator('[data-column="name"]').click();
	await page.waitForFunction(() => window.incore.stats().state.scope === 2);
	truth(/scale<float, 4>/.test(await page.innerText('.scope-line')), 'the scope is told');
	equal((await rows(page, 'Kernels')).filter((r) => r.starts !== '0').length, 2, 'kernels to choose from');
	alike(await shown(page), one, 'narrowed');
	await page.click('.title-bar button:has-text("Scope")');
	await page.waitForFunction(() => window.incore.stats().state.scope === null);
	alike(await shown(page), all, 'wide again');
}

// --- pixels ---

/** Runs in the page: all slices of all tracks, by the page's own source, so that server and report are asked alike. */
async function allSlices() {
	const app = window.incore.app(), out = [];
	for (const t of app.trace.tracks) {
		const v = new DataView(await app.source.ask('slices', { track: t.index, t0: 0, t1: app.trace.span.end })), base = Number(v.getBigUint64(16, true));
		for (let i = 0, at = 32; i < v.getUint32(12, true); i++, at += 20)
			out.push({ track: t.index, slice: v.getUint32(24, true) + i, start: base + v.getUint32(at, true), dur: v.getUint32(at + 4, true), stall: v.getUint32(at + 8, true), code: v.getUint32(at + 12, true), cls: v.getUint8(at + 16), flags: v.getUint8(at + 17), lane: v.getUint8(at + 18), slot: v.getUint8(at + 19) });
	}
	return out;
}

/** Runs in the page: the slot whose colour is nearest at [track, sub-lane, time]; -1 is the background. */
function slotsAt(places) {
	const app = window.incore.app(), view = window.incore.pane().view, canvas = document.querySelector('.lanes-stage canvas'), ratio = canvas.width / canvas.clientWidth, { t0, t1 } = app.store.get(), p = app.palette();
	const rgb = (c) => [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16)), g = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
	const colours = [[-1, p.background], [-1, p.stripe], ...p.slots.map((c, i) => [i, c])].map(([k, c]) => [k, rgb(c)]);
	return places.map(([track, lane, t]) => {
		const row = view.rowOfTrack(track), step = (row.height - 4) / Math.max(1, row.lane.lanes), y = view.yOf(row) + 2 + (window.incore.stats().is_exact ? lane * step : 0) + 1.5;
		g.drawImage(canvas, Math.floor(((t - t0) / (t1 - t0)) * canvas.width), Math.floor(y * ratio), 1, 1, 0, 0, 1, 1);
		const dot = g.getImageData(0, 0, 1, 1).data, far = ([, c]) => c.reduce((n, v, i) => n + (v - dot[i]) ** 2, 0);
		return colours.reduce((a, b) => (far(b) < far(a) ? b : a))[0];
	});
}

const SLOTS = { SCALAR: 0, CACHEMISS: 1, VECTOR: 2, CUBE: 3, MTE2: 4, MTE3: 5, MTE1: 6, FIXP: 7, FLOWCTRL: 8 };

/** The colour slot of a class; on pipes that of the pipe, but for flags and barriers. What a wait waited for amd.test.mjs looks at. */
function slotOf(cls, track) {
	return /^(FLAG|BARRIER)/.test(cls.name) ? 9 : SLOTS[track.split('/').pop()] ?? cls.slot;
}

/** Known slices have the colour of their class at five zooms, and gaps the background. */
async function pixels(bench, name) {
	const page = await bench.page(name), slices = await page.evaluate(allSlices);
	const { classes, names, end, width } = await page.evaluate(() => ({ classes: window.incore.app().trace.classes, names: window.incore.app().trace.tracks.map((t) => t.name), end: window.incore.app().trace.span.end, width: document.querySelector('.lanes-stage canvas').width }));
	await page.evaluate(() => window.incore.app().store.set({ isBottomOpen: false }));
	const holes = slices.map((s, i) => ({ at: s.start + s.dur, isInner: slices[i + 1]?.track === s.track, rest: slices.some((o) => o.track === s.track && o.start <= s.start && o.start + o.dur > s.start + s.dur) ? 0 : (slices[i + 1]?.track === s.track ? slices[i + 1].start : end) - s.start - s.dur })), looked = new Set();
	const mid = holes.reduce((a, b) => (b.rest > 0 && b.rest < end / 10 && (b.isInner > a.isInner || (b.isInner === a.isInner && b.rest > a.rest)) ? b : a), { at: 0, rest: 0, isInner: false }).at;
	let gaps = 0;
	for (const zoom of [1, 8, 24, 60, 120]) {
		const half = end / 2 / zoom, t0 = Math.max(0, Math.min(end - 2 * half, mid - half)), t1 = t0 + 2 * half, px = (t1 - t0) / width;
		await page.evaluate(([a, b]) => window.incore.app().store.set({ t0: a, t1: b }), [t0, t1]);
		await still(page);
		const isExact = await page.evaluate(() => window.incore.stats().is_exact), tracks = new Set(await page.evaluate(() => window.incore.pane().view.visible().flatMap((r) => (r.lane && r.top + r.height < window.incore.pane().view.size().height ? r.lane.tracks : []))));
		const inSight = slices.filter((s) => tracks.has(s.track)), wide = [], empty = [];
		for (const s of inSight) {
			const from = Math.max(t0, isExact ? s.start + s.stall : s.start), to = s.start + s.dur, last = Math.min(t1, to), at = (from + last) / 2;
			if (last - from >= 4 * px && !(isExact && s.flags & 8) && !inSight.some((o) => o !== s && o.track === s.track && (o.lane === s.lane || !isExact) && o.start < to && o.start + o.dur > from)) wide.push([[s.track, s.lane, at], classes[s.cls].name === 'WAIT' ? s.slot : slotOf(classes[s.cls], names[s.track])]);
			const { rest } = holes[slices.indexOf(s)];
			if (rest >= 6 * px && to + 3 * px > t0 && to + 3 * px < t1) empty.push([[s.track, 0, to + 3 * px], -1]);
		}
		truth(wide.length > 0, `zoom ${zoom}: no slice is wide enough to look at`);
		gaps += empty.length;
		const chosen = [...wide, ...empty], got = await page.evaluate(slotsAt, chosen.map(([place]) => place));
		chosen.forEach(([place, want], i) => equal(got[i], want, `zoom ${zoom} (${isExact ? 'slices' : 'tiles'}), slot at track, lane, time ${place}`));
		for (const [, slot] of wide) looked.add(slot);
	}
	truth(looked.size >= 3 && gaps > 0, `slots looked at: ${[...looked]}; gaps: ${gaps}`);
}

/** A short slice between long ones never vanishes: its cell says that it holds several, at every level. */
async function shortSlices(bench, name) {
	const page = await bench.page(name), slices = await page.evaluate(allSlices);
	const find = (s, i) => i > 0 && slices[i - 1].track === s.track && s.dur <= 4 && slices[i - 1].dur >= 8 * s.dur && slices[i - 1].start + slices[i - 1].dur === s.start;
	const found = slices.filter(find).slice(0, 12);
	truth(found.length > 0, 'no short slice after a long one');
	for (const level of [2, 3, 4, 6, 8]) {
		const flags = await page.evaluate(([list, k]) => Promise.all(list.map(async (s) => {
			const size = 512 * 2 ** k, i = Math.floor(s.start / size), v = new Uint8Array(await window.incore.app().source.ask('tile', { h: window.incore.app().trace.hash, tracks: `${s.track}-${s.track}`, level: k, i, mode: 'class' }));
			return v[32 + 4 * Math.floor((s.start - i * size) / 2 ** k) + 3];
		})), [found, level]);
		found.forEach((s, i) => {
			if (s.start % 2 ** level) equal(flags[i] & 1, 1, `level ${level}: the cell of slice ${s.slice} of track ${s.track} at ${s.start} says that it holds several`);
		});
	}
}

// --- arrows ---

/** Runs in the page: remembers whose arrows came last. */
function watchLinks() {
	const { source } = window.incore.app(), ask = source.ask.bind(source);
	source.ask = async (name, query, signal) => {
		const data = await ask(name, query, signal);
		if (name === 'links') window.answered = { key: `${query.track}/${query.slice}` };
		return data;
	};
}

/** Runs in the page: selects a slice as a click does, and hands back its arrows, its full answer and where each arrow ends on screen. */
async function arrowsOf([track, slice]) {
	const pane = window.incore.pane(), app = window.incore.app(), frame = () => new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(f)));
	const info = JSON.parse(new TextDecoder().decode(await app.source.ask('at', { track, slice })));
	pane.goSlice(track, slice);
	const until = performance.now() + 60000;
	while (performance.now() < until && !(app.store.get().selection?.slice === slice && app.store.get().selection?.track === track)) await frame();
	while (performance.now() < until && window.answered?.key !== `${track}/${slice}`) await frame();
	await frame();
	const { arrows } = pane.overlay, g = new OffscreenCanvas(6, 6).getContext('2d', { willReadFrequently: true }), ratio = pane.view.over.width / pane.view.over.clientWidth, size = pane.view.size();
	const links = arrows.links.map((l) => {
		const end = arrows.place(l.toTrack, l.to, l.toSlice, l.fromTrack === l.toTrack);
		const isIn = !!end && end.x >= 2 && end.x < size.width - 2 && end.y >= 2 && end.y < size.height - 2;
		g.clearRect(0, 0, 6, 6);
		if (isIn) g.drawImage(pane.view.over, Math.round(end.x * ratio) - 3, Math.round(end.y * ratio) - 3, 6, 6, 0, 0, 6, 6);
		return { ...l, isIn, isDrawn: g.getImageData(0, 0, 6, 6).data.some((v, i) => i % 4 === 3 && v > 0) };
	});
	return { links, info };
}

const KINDS = ['wait', 'flag', 'barrier', 'cross-core', 'flow', 'branch'];

async function arrows(bench, name, kinds) {
	const page = await bench.page(name), slices = await page.evaluate(allSlices), at = new Map(slices.map((s) => [`${s.track}/${s.slice}`, s])), done = {};
	await page.evaluate(watchLinks);
	let lone = 0;
	for (const s of slices) {
		const isBranch = kinds.includes(5) && s.flags & 1, wants = s.flags & 12 || isBranch;
		if (!wants && lone >= 3) continue;
		if (Object.values(done).reduce((n, v) => n + v, 0) >= 8 && kinds.every((k) => done[k])) break;
		if (isBranch && done[5] >= 2) continue;
		const { links, info } = await page.evaluate(arrowsOf, [s.track, s.slice]), to = links.filter((l) => l.toTrack === s.track && l.toSlice === s.slice && l.kind !== 5);
		const sorted = (list) => list.map(([t, i, isLast]) => `${t}/${i}${isLast ? ' last' : ''}`).sort();
		equal(sorted(to.map((l) => [l.fromTrack, l.fromSlice, l.isLast])), sorted(info.producers.map((p) => [p.track, p.slice, p.is_last])), `arrows into slice ${s.slice} of track ${s.track} come from its producers`);
		if (!info.producers.length && !links.length) lone++;
		for (const l of links) {
			const from = at.get(`${l.fromTrack}/${l.fromSlice}`), end = at.get(`${l.toTrack}/${l.toSlice}`), what = `${KINDS[l.kind]} ${l.fromTrack}/${l.fromSlice} to ${l.toTrack}/${l.toSlice}`;
			truth(from && end && l.from >= from.start && l.from <= from.start + from.dur && l.to >= end.start && l.to <= end.start + end.dur, `${what}: from ${l.from} to ${l.to} is not on its slices`);
			truth([l.fromTrack, l.toTrack].includes(s.track), `${what} is not of slice ${s.slice} of track ${s.track}`);
			if (l.isIn) truth(l.isDrawn, `${what} does not reach its end on screen`);
			if (l.kind === 5) equal([l.toTrack, l.toSlice], [l.fromTrack, l.fromSlice + 1], `${what}: a taken branch leads to what ran next`);
			if (l.toSlice === s.slice && l.toTrack === s.track) done[l.kind] = (done[l.kind] ?? 0) + 1;
			else if (l.kind === 5) done[5] = (done[5] ?? 0) + 1;
		}
		if (to.filter((l) => l.isSure).length && to.every((l) => l.isSure)) truth(to.some((l) => l.isLast), `slice ${s.slice} of track ${s.track}: no last arrival`);
	}
	equal(Object.keys(done).map(Number).sort(), kinds, `kinds of arrows seen ${JSON.stringify(done)}`);
	truth(lone > 0, 'no slice without an arrow was looked at');
	await page.evaluate(() => window.incore.app().store.set({ arrows: 'none' }));
	await page.waitForFunction(() => window.incore.pane().overlay.arrows.links.length === 0);
}

// --- boxes ---

/** What the statistics of a box have to be, from the slices alone. */
function boxByHand(slices, t0, t1) {
	const inside = slices.filter((s) => s.start < t1 && s.start + s.dur > t0), lengths = inside.map((s) => s.dur).sort((a, b) => a - b), n = inside.length;
	const pieces = inside.map((s) => [Math.max(t0, s.start), Math.min(t1, s.start + s.dur)]).sort((a, b) => a[0] - b[0]);
	let union = 0, end = 0, sum = 0;
	for (const [a, b] of pieces) {
		union += Math.max(0, b - Math.max(a, end));
		end = Math.max(end, b);
		sum += b - a;
	}
	return { count: n, sum, union, mean: lengths.reduce((x, y) => x + y, 0) / n, min: lengths[0], median: lengths[Math.floor(n / 2)], p95: lengths[Math.min(n - 1, Math.floor((n * 95) / 100))], max: lengths[n - 1] };
}

async function boxes(bench, name, tracks) {
	const page = await bench.page(name), slices = (await page.evaluate(allSlices)).filter((s) => tracks.includes(s.track));
	const { classes, end } = await page.evaluate(() => ({ classes: window.incore.app().trace.classes, end: window.incore.app().trace.span.end }));
	const figures = (f) => ({ count: count(f.count), sum: cycles(f.sum), union: cycles(f.union), mean: Number.isInteger(f.mean) ? cycles(f.mean) : count(f.mean, 1), min: cycles(f.min), median: cycles(f.median), p95: cycles(f.p95), max: cycles(f.max) });
	for (const [t0, t1] of [[0, end], [Math.floor(end * 0.2) + 1, Math.floor(end * 0.7) + 3]]) {
		await page.evaluate((b) => window.incore.app().select(b), { kind: 'box', t0, t1, tracks });
		await page.waitForFunction((words) => document.querySelector('.box-statistics h3')?.textContent.includes(words), `Box of ${count(t1 - t0)} cycles, ${tracks.length} tracks`);
		const all = boxByHand(slices, t0, t1), words = await page.innerText('.box-statistics');
		truth(words.includes(`sum ${count(all.sum)} over ${count(t1 - t0)} cycles: ${count(all.sum / (t1 - t0), 1)} `), `totals of ${t0} to ${t1}: ${words.slice(0, 300)}`);
		truth(words.includes(`${count(all.count)} slices, union ${count(all.union)} cycles`), `slices and union of ${t0} to ${t1}: ${words.slice(0, 300)}`);
		truth(all.union < all.sum && all.union <= t1 - t0, 'a box over two lanes has a sum that is not its union');
		const byClass = new Map();
		for (const s of slices) byClass.set(classes[s.cls].name, [...(byClass.get(classes[s.cls].name) ?? []), s]);
		const want = [...byClass].map(([key, list]) => ({ key, ...figures(boxByHand(list, t0, t1)) })).filter((r) => r.count !== '0').sort((a, b) => (a.key < b.key ? -1 : 1));
		const got = (await rows(page, 'Statistics of the box by class')).map((r) => Object.fromEntries(Object.keys(want[0]).map((k) => [k, r[k]]))).sort((a, b) => (a.key < b.key ? -1 : 1));
		equal(got, want, `statistics of ${t0} to ${t1} by class`);
	}
	await page.evaluate(([t, b]) => window.incore.app().select({ kind: 'box', t0: t, t1: t + 50, tracks: b }), [end + 1000, tracks]);
	await page.waitForFunction(() => /Box of 50 cycles/.test(document.querySelector('.box-statistics h3')?.textContent ?? ''));
	truth(/sum 0 over 50 cycles: 0\.0 /.test(await page.innerText('.box-statistics')) && /Nothing ran in this box/.test(await page.innerText('.box-statistics')), `an empty box says "${await page.innerText('.box-statistics')}"`);
	await page.evaluate(() => window.incore.app().select({ kind: 'box', t0: 0, t1: 50, tracks: [] }));
	await page.waitForFunction(() => /No lane in this box/.test(document.querySelector('.box-statistics')?.textContent ?? ''));
	await page.keyboard.press('Escape');
	await page.waitForFunction(() => window.incore.stats().state.selection === null);
}

/** A cleaned trace has flow arrows. */
function cleaned() {
	const dir = path.join(scratch, 'cleaned');
	if (!existsSync(dir)) incore('clean', '-q', 'ascend_a5', '-o', dir);
	return dir;
}

export const tests = [
	...['gemm', 'report:ascend_matmul', 'ascend_device', 'report:v31'].map((name) => ({ name: `audit: every table of ${name} sorts by every column both ways`, run: (b) => sorting(b, name) })),
	...['', 'report:'].map((kind) => ({ name: `audit: the scope of a kernel narrows all panels${kind && ' of the report'}`, run: (b) => scope(b, kind) })),
	...['gemm', 'ascend_matmul', 'report:gemm', 'report:ascend_matmul'].flatMap((name) => [
		{ name: `pixels: slices and gaps of ${name} at five zooms`, run: (b) => pixels(b, name), covers: ['part:timeline'] },
		{ name: `arrows: of the selection in ${name} join the right instances`, run: (b) => arrows(b, name, /gemm/.test(name) ? [0, 5] : [1]) },
		{ name: `boxes: statistics of two lanes of ${name} by hand`, run: (b) => boxes(b, name, /gemm/.test(name) ? [1, 6] : [2, 5]), covers: ['part:box statistics', 'key:clear'] },
		{ name: `pixels: short slices of ${name} stay in the flags`, run: (b) => shortSlices(b, name) },
	]),
	...['', 'report:'].map((kind) => ({ name: `arrows: flows of a cleaned trace${kind && ', report'}`, run: (b) => arrows(b, kind + cleaned(), [1, 4]) })),
];
