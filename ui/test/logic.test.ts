// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as f from '../base/format';
import { Keys, nameOf, normalise } from '../base/keys';
import { order } from '../base/columns';
import { captureNames, parseRanges, questionOf, ranges, readCounters, readLinks, readSlices, sliceRow } from '../source';
import { parseTarget } from '../shell/dialogs';
import { Places } from '../shell/places';
import { findAddress, findInCode, patternOf } from '../shell/search';
import { decodeLink, encodeLink, initialState, Selection, Store } from '../state';

test('numbers are grouped, and keep the digits asked for', () => {
	assert.equal(f.count(1234567), '1,234,567');
	assert.equal(f.count(-1234.56, 1), '-1,234.6');
	assert.equal(f.count(-0.001, 1), '0.0');
	assert.equal(f.count(NaN), '-');
	assert.equal(f.share(1, 3), '33.3 %');
	assert.equal(f.share(1, 10000), '0.01 %');
	assert.equal(f.share(1, 0), '-');
	assert.equal(f.short(1536000), '1.54 M');
	assert.equal(f.short(999), '999');
});

test('cycles are shown in one unit, microseconds only with a clock', () => {
	assert.equal(f.cycles(2150, { unit: 'us', mhz: 2150, scope: 1 }), '1.0000');
	assert.equal(f.cycles(2150, { unit: 'us', mhz: null, scope: 1 }), '-');
	assert.equal(f.cycles(5, { unit: 'pct', mhz: null, scope: 50 }), '10.0');
	assert.equal(f.cyclesWith(1, { unit: 'cyc', mhz: null, scope: 1 }), '1 cycle');
	assert.equal(f.cycles(null, { unit: 'cyc', mhz: null, scope: 1 }), '-');
	assert.equal(f.cycles(16777217, { unit: 'cyc', mhz: null, scope: 1 }), '16,777,217');
});

test('a share says of what; a path loses its middle, never its line', () => {
	assert.equal(f.unitName({ unit: 'pct', mhz: null, scope: 1 }), '% of span');
	assert.equal(f.cyclesWith(1, { unit: 'pct', mhz: null, scope: 2, of: 'lifetime' }), '50.0 % of lifetime');
	const wide = (s: string) => s.length;
	assert.equal(f.middle('flash_attn_func.py:696', 22, wide), 'flash_attn_func.py:696');
	assert.equal(f.middle('flash_attn_func.py:696', 12, wide), 'flash_a…:696');
	assert.equal(f.middle('flash_attn_func.py:696', 5, wide), '…:696');
	assert.equal(f.middle('flash_attn_func.py:696', 3, wide), '');
});

test('captures are called by what differs in their paths', () => {
	const names = (...paths: string[]) => captureNames(paths.map((path) => ({ path })));
	assert.deepEqual(names('/r/before/ui_1', '/r/after/ui_1'), ['before', 'after']);
	assert.deepEqual(names('a.incore', 'b.incore'), ['a.incore', 'b.incore']);
	assert.deepEqual(names('/r/x', '/r/x'), ['1: x', '2: x']);
	assert.deepEqual(names('/r/x', '/r/x/y'), ['x', 'y']);
});

test('ticks are round and inside', () => {
	assert.deepEqual(f.ticks(0, 100, 5), [0, 20, 40, 60, 80, 100]);
	assert.deepEqual(f.ticks(7, 9, 10, 1), [7, 8, 9]);
	assert.deepEqual(f.ticks(5, 5, 5), []);
});

test('CSV cells are quoted where they must be', () => {
	assert.equal(f.csvCell('a "b", c'), '"a ""b"", c"');
	assert.equal(f.csvCell(12), '12');
});

test('ranges are written and read back', () => {
	assert.equal(ranges([7, 0, 1, 2, 2, 9]), '0-2,7,9');
	assert.deepEqual(parseRanges('0-2,7,x,9-8,-1'), [0, 1, 2, 7]);
	assert.equal(parseRanges('0-999999999', 10).length, 10);
});

test('a question has one spelling', () => {
	assert.equal(questionOf('hot', { top: 'all', by: 'line', c: undefined }), 'hot?by=line&top=all');
	assert.equal(questionOf('info'), 'info');
	assert.equal(questionOf('find', { q: 'a&b=c' }), 'find?q=a%26b%3Dc');
});

test('a link restores the state, without what is not in it', () => {
	const s = { ...initialState(), hash: 'abc', panel: 'hotspots', t0: 1200, t1: 98000, selection: { kind: 'slice' as const, track: 37, slice: 1204 }, unit: 'us' as const, mode: 'bucket' as const,
		pins: [5, 2], hidden: [7, 8, 9], query: '/v_mfma.*/ & more', markers: [{ t: 5, dur: 10, name: 'a b', colour: 3 }], base: 'def', order: [3, 1], folded: ['0.1'], isMerged: false, kind: 'units' as const, align: 'row' as const, isStacked: true, isGlobalOpen: true, scope: 2, arrows: 'visible' as const, sort: 'stall' as const };
	const back = { ...initialState(), ...decodeLink('#' + encodeLink(s)) };
	assert.deepEqual(back, s);
	assert.ok(!encodeLink(s).includes('token'));
});

test('a box, a line, a row, a lane and a range survive a link', () => {
	const all: Selection[] = [{ kind: 'box', t0: 1, t1: 9, tracks: [0, 1, 5] }, { kind: 'line', source: 2, line: 17 }, { kind: 'code', code: 4 }, { kind: 'track', track: 3 }, { kind: 'range', t0: 4, t1: 5 }];
	for (const selection of all) assert.deepEqual(decodeLink(encodeLink({ ...initialState(), selection })).selection, selection);
});

test('a broken link is harmless', () => {
	assert.deepEqual(decodeLink('#'), {});
	assert.deepEqual(decodeLink('#t=9,3&u=miles&c=rainbow&p=<b>&s=1&q=%E0%A4%A&zzz=1&pin=a,-1,3'), { pins: [3] });
});

test('the store tells what really changed, once', () => {
	const store = new Store(), seen: string[][] = [];
	const stop = store.listen((_, keys) => seen.push([...keys]));
	store.set({ t0: 5, t1: 1, pins: [] });
	store.set({ t0: 5 });
	stop();
	store.set({ t0: 6 });
	assert.deepEqual(seen, [['t0']]);
});

test('views go back and forth', () => {
	const store = new Store();
	store.settle();
	store.set({ t0: 10, t1: 20 });
	store.settle();
	store.set({ t0: 12, t1: 14 });
	assert.ok(store.undo());
	assert.equal(store.get().t0, 10);
	assert.ok(store.undo());
	assert.equal(store.get().t0, 0);
	assert.ok(!store.undo());
	assert.ok(store.redo() && store.redo());
	assert.equal(store.get().t0, 12);
	assert.ok(!store.redo());
});

test('keys are told apart, and none is bound twice', () => {
	const e = (key: string, more = {}) => ({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...more });
	assert.equal(nameOf(e('N', { shiftKey: true })), 'Shift+n');
	assert.equal(nameOf(e('?', { shiftKey: true })), '?');
	assert.equal(nameOf(e('f', { ctrlKey: true })), 'Ctrl+f');
	assert.equal(normalise('Shift+Backspace'), 'Shift+Backspace');
	assert.equal(normalise('+'), '+');
	const b = { id: 'a', keys: ['A'], does: '', group: '', run: () => undefined };
	assert.throws(() => new Keys([b, { ...b, id: 'b', keys: ['a'] }]), /bound twice/);
});

test('places: a selection or a window that came to rest elsewhere, and what is left behind', () => {
	const store = new Store({ ...initialState(), t1: 100 }), places = new Places(store);
	store.listen((s, keys) => places.changed(s, keys));
	store.settle();
	store.set({ selection: { kind: 'slice', track: 1, slice: 2 } });
	store.set({ selection: { kind: 'slice', track: 1, slice: 2, code: 7 }, panel: 'source' });
	assert.deepEqual(places.list.map((p) => [p.selection?.code, p.panel]), [[undefined, 'verdict'], [7, 'source']]);
	store.set({ t0: 50, t1: 80 });
	store.settle();
	store.set({ t0: 200, t1: 300 });
	store.settle();
	assert.deepEqual(places.list.map((p) => [p.t0, p.t1]), [[0, 100], [50, 80], [200, 300]]);
	places.go(1);
	assert.deepEqual([store.get().t0, store.get().t1, store.get().panel, places.list.length], [50, 80, 'source', 3]);
	store.set({ selection: { kind: 'code', code: 9 } });
	assert.deepEqual(places.list.map((p) => p.selection?.code), [undefined, 7, 9]);
	assert.equal(places.go(3), undefined);
});

test('missing values sort last either way', () => {
	const values = [3, null, 1, NaN, 2];
	assert.deepEqual([...values].sort((a, b) => order(a, b, 1)).slice(0, 3), [1, 2, 3]);
	assert.deepEqual([...values].sort((a, b) => order(a, b, -1)).slice(0, 3), [3, 2, 1]);
});

test('go to understands cycles, addresses, rows, lines and lanes', () => {
	assert.deepEqual(parseTarget('12,000'), { kind: 'cycle', t: 12000 });
	assert.deepEqual(parseTarget('0x1600'), { kind: 'address', a: 0x1600 });
	assert.deepEqual(parseTarget('row 13'), { kind: 'row', row: 13 });
	assert.deepEqual(parseTarget('gemm.py:17'), { kind: 'line', file: 'gemm.py', line: 17 });
	assert.deepEqual(parseTarget('SIMD1 slot 0'), { kind: 'track', words: 'SIMD1 slot 0' });
	assert.equal(parseTarget('  '), null);
});

test('patterns stand between slashes; a bad one is an error', () => {
	assert.equal(patternOf('v_mfma'), null);
	assert.ok(patternOf('/V_.*16/')!.test('v_mfma_f32_16'));
	assert.throws(() => patternOf('/(/'));
	const code = { total: 3, row: [0, 1, 2], address: [0, 0, 4], text: ['; k', 's_nop', 'v_add'], class: [0, 0, 0], label: [1, 0, 0], source: [-1, -1, -1], line: [0, 0, 0], hits: [0, 4, 2], cycles: [0, 0, 0] };
	assert.deepEqual(findInCode(code, /^[;v]/).map((m) => m.code), [2]);
	assert.deepEqual(findAddress(code, '0x4').map((m) => m.code), [2]);
	assert.deepEqual(findAddress(code, '0x0').map((m) => m.code), [1]);
});

function bytes(magic: string, size: number, put: (v: DataView) => void): ArrayBuffer {
	const data = new ArrayBuffer(size), v = new DataView(data);
	[...magic].forEach((c, i) => v.setUint8(i, c.charCodeAt(0)));
	put(v);
	return data;
}

test('slices are read beyond 32 bits, and never beyond the answer', () => {
	const data = bytes('ICS1', 32 + 20, (v) => {
		v.setUint32(8, 3, true);
		v.setUint32(12, 99, true);
		v.setBigUint64(16, 2n ** 40n, true);
		v.setUint32(24, 7, true);
		v.setUint32(32, 5, true);
		v.setUint32(36, 16, true);
		v.setUint32(40, 4, true);
		v.setUint32(44, 12, true);
		v.setUint8(48, 3);
		v.setUint8(50, 2);
		v.setUint8(51, 4);
	});
	const s = readSlices(data);
	assert.equal(s.n, 1);
	assert.equal(s.first, 7);
	assert.deepEqual(sliceRow(s, 0), { start: 2 ** 40 + 5, dur: 16, stall: 4, code: 12, cls: 3, flags: 0, lane: 2, slot: 4 });
	assert.throws(() => readSlices(new ArrayBuffer(10)), /ICS1/);
});

test('links carry kind and flags in the high bits of the tracks', () => {
	const data = bytes('ICL1', 32 + 24, (v) => {
		v.setUint32(8, 1, true);
		v.setUint32(12, 6, true);
		v.setBigUint64(16, 100n, true);
		v.setUint32(32, (5 << 24) | 9, true);
		v.setUint32(36, ((3 | (4 << 4)) << 24) | 10, true);
		v.setUint32(40, 1, true);
		v.setUint32(44, 2, true);
		v.setUint32(48, 3, true);
		v.setUint32(52, 4, true);
	});
	assert.deepEqual(readLinks(data), { more: 6, links: [{ fromTrack: 9, kind: 5, toTrack: 10, isLast: true, isSure: false, slot: 4, fromSlice: 1, toSlice: 2, from: 103, to: 104 }] });
});

test('counters are triples of one series after the other', () => {
	const data = bytes('ICC1', 16 + 24, (v) => {
		v.setUint32(8, 1, true);
		v.setUint32(12, 2, true);
		[1, 2, 1.5, NaN, NaN, NaN].forEach((x, i) => v.setFloat32(16 + 4 * i, x, true));
	});
	const c = readCounters(data);
	assert.equal(c.width, 2);
	assert.deepEqual([...c.values.slice(0, 3)], [1, 2, 1.5]);
	assert.ok(Number.isNaN(c.values[3]));
});
