// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PALETTES } from '../base/palette';
import { Slices, TraceInfo } from '../source';
import { initialState } from '../state';
import { Exact, sliceAt } from '../timeline/exact';
import { autoHeight, hasSlots, hasUnits, layOut, makeLanes, rowAt, trackAt, trackName } from '../timeline/lanes';
import { partnerRow } from '../timeline/other';
import { makeLut, pixel, pixelsOf, rasterTile } from '../timeline/raster';
import { CELLS, levelOf, readTile, Tiles, tilesOf } from '../timeline/tiles';
import { around, clamp, pan, zoomAt } from '../timeline/zoom';

/** Tracks given as [coord, begin, end]. */
function trace(rows: [number[], number, number][], levels = ['se', 'cu', 'simd', 'slot', 'wave'], names: string[] = []): TraceInfo {
	return {
		levels, has_pipes: levels[0] === 'core', has_matrix_passes: false, has_samples: false, slots: ['scalar', 'smem', 'valu', 'matrix', 'vmem', 'store', 'lds', 'cross-lane', 'branch', 'sync', 'end', 'other'],
		classes: [{ id: 0, name: 'OTHER', slot: 11, letter: 'o' }, { id: 1, name: 'MTE', slot: 4, letter: 'P' }],
		tracks: rows.map(([coord, begin, end], index) => ({ index, coord, begin, end, slices: 10, lanes: 1, kernel: null, name: names[index] ?? 'w' + index, isAligned: true })),
	} as unknown as TraceInfo;
}

const two = trace([[[0, 1, 0, 0, 0], 0, 10], [[0, 1, 0, 0, 1], 10, 30], [[0, 1, 0, 1, 0], 0, 10], [[0, 1, 0, 1, 1], 5, 30], [[1, 1, 0, 0, 0], 0, 99]]);

test('waves of a slot share a lane as long as they do not overlap', () => {
	assert.deepEqual(makeLanes(two, true, null).map((l) => l.tracks), [[0, 1], [2], [3], [4]]);
	assert.deepEqual(makeLanes(two, false, null).map((l) => l.tracks), [[0], [1], [2], [3], [4]]);
	assert.equal(makeLanes(two, true, null)[0].detail, '2 waves');
	assert.equal(trackName(two, 3), 'SE0 CU1 SIMD0 slot 1 wave 1');
});

test('lanes of a timeline bear the names of processes and threads', () => {
	const t = trace([[[0, 0, 0], 0, 9], [[0, 0, 1], 2, 5], [[0, 1, 0], 9, 9], [[1, 0, 0], 0, 5]], ['process', 'thread', 'depth'], ['python (CPU)/main', 'python (CPU)/main [1]', 'python (CPU)/a/b', 'GPU 0/stream 7']);
	const rows = layOut(t, makeLanes(t, true, null), initialState(), 20, () => 0).rows;
	assert.deepEqual(rows.map((r) => r.label), ['python (CPU)', 'main', '[1]', 'a/b', 'GPU 0', 'stream 7']);
	assert.equal(trackName(t, 1), 'python (CPU)/main [1]');
	assert.ok(!hasUnits(t) && !hasSlots(t) && hasUnits(two) && hasSlots(two));
});

test('pipes are named by their lane, grouped by their core', () => {
	const t = trace([[[0, 0, 3], 0, 5], [[0, 0, 8], 0, 5]], ['core', 'unit', 'pipe'], ['core0.cubecore0/MTE1', 'core0.cubecore0/MTE3']);
	const rows = layOut(t, makeLanes(t, true, null), initialState(), 20, () => 0).rows;
	assert.deepEqual(rows.map((r) => r.label), ['core0.cubecore0', 'MTE1', 'MTE3']);
});

test('pins go first in their order, hidden lanes go, folded groups keep their head', () => {
	const lanes = makeLanes(two, true, null), s = initialState();
	const rows = (patch: object) => layOut(two, lanes, { ...s, ...patch }, 20, () => 0).rows.map((r) => (r.lane ? r.lane.id : r.label));
	assert.deepEqual(rows({}), ['SE0 CU1', 0, 2, 3, 'SE1 CU1', 4]);
	assert.deepEqual(rows({ pins: [4, 2] }), [4, 2, 'SE0 CU1', 0, 3]);
	assert.deepEqual(rows({ hidden: [0, 2] }), ['SE0 CU1', 3, 'SE1 CU1', 4]);
	assert.deepEqual(rows({ folded: ['0.1'] }), ['SE0 CU1', 'SE1 CU1', 4]);
	assert.deepEqual(rows({ sort: 'duration' }), [4, 0, 3, 2]);
	assert.deepEqual(rows({ order: [3, 2, 0] }), ['SE0 CU1', 3, 2, 0, 'SE1 CU1', 4]);
	assert.deepEqual(rows({ pins: [0, 2, 3, 4] }), [0, 2, 3, 4]);
});

test('a row is found by its height, a track by its time', () => {
	const lanes = makeLanes(two, true, null), { rows, height } = layOut(two, lanes, initialState(), 20, () => 0);
	assert.equal(rowAt(rows, 0), 0);
	assert.equal(rows[rowAt(rows, 24)].lane!.id, 0);
	assert.equal(rowAt(rows, height), -1);
	assert.equal(trackAt(two, lanes[0], 9.5), 0);
	assert.equal(trackAt(two, lanes[0], 10), 1);
	assert.equal(trackAt(two, lanes[0], 999), 1);
	assert.equal(autoHeight(4, 400), 34);
	assert.equal(autoHeight(1000, 400), 18);
});

test('cells are one to two pixels wide, and no cycle is split', () => {
	for (const per of [0.1, 1, 1.5, 2, 3, 1000, 123456.7]) {
		const cell = 2 ** levelOf(per) / per;
		assert.ok(cell >= 1 && (cell < 2 || per < 1), `${per}: ${cell}`);
	}
	assert.equal(levelOf(0.1), 0);
	assert.deepEqual(tilesOf(0, 512, 0), [0, 0]);
	assert.deepEqual(tilesOf(511, 513, 0), [0, 1]);
	// 1,920 pixels never need more than five tiles
	for (let per = 1; per < 4; per += 0.01)
		for (const t0 of [0, 100, 511, 512 * per]) {
			const [a, b] = tilesOf(t0, t0 + 1920 * per, levelOf(per));
			assert.ok(b - a + 1 <= 5, `${per} ${t0}: ${b - a + 1}`);
		}
});

function tileBytes(level: number, i: number, first: number, tracks: number, put: (cells: Uint8Array) => void): ArrayBuffer {
	const data = new ArrayBuffer(32 + tracks * CELLS * 4), v = new DataView(data);
	v.setUint32(0, 0x31544349, true);
	v.setUint8(7, level);
	v.setBigUint64(8, BigInt(i * CELLS * 2 ** level), true);
	v.setUint32(16, CELLS, true);
	v.setUint32(20, tracks, true);
	v.setUint32(24, first, true);
	put(new Uint8Array(data, 32));
	return data;
}

test('a tile of the wrong size is refused', () => {
	assert.throws(() => readTile(new ArrayBuffer(8)), /not a tile/);
	assert.throws(() => readTile(tileBytes(0, 0, 0, 1, () => undefined).slice(0, 100)), /wrong size/);
	assert.equal(readTile(tileBytes(3, 2, 64, 1, () => undefined)).i, 2);
});

test('cells become pixels of their colour; one short slice stays in sight; gaps stay empty', () => {
	const p = PALETTES.light, lut = makeLut(p, p.slots, true), out = new Uint32Array(2 * 512);
	const tile = readTile(tileBytes(0, 0, 0, 2, (c) => {
		c.set([3, 255, 0, 0], (CELLS + 10) * 4);
		c.set([9, 1, 255, 1 | 16], (CELLS + 20) * 4);
		c.set([2, 255, 255, 0], (CELLS + 30) * 4);
	}));
	const span = { t0: 0, perPixel: 1, width: 512 };
	rasterTile(out, 0, span, { tile, row: 1 }, lut, ...pixelsOf(tile, span));
	assert.equal(out[10], pixel(p.slots[3]));
	assert.equal(out[9], 0);
	assert.ok(out[20] !== 0 && (out[20] >>> 24) === 255);
	assert.equal(out[512 + 20], pixel(p.buckets[2]));
	assert.equal(out[512 + 30], pixel(p.buckets[1]));
	const bare = new Uint32Array(2 * 512);
	rasterTile(bare, 0, span, { tile, row: 1 }, makeLut(p, p.buckets, false), 0, 512);
	assert.ok(bare.subarray(512).every((v) => v === 0), 'a colour that says it itself has no strip');
	rasterTile(out, 0, span, { tile, row: 0 }, lut, 0, 512);
	assert.equal(out[11], 0);
});

const arrived = () => new Promise((f) => setTimeout(f, 5));
const WINDOW = { t0: 512, t1: 1024, level: 0, mode: 'class' as const, scope: null, names: ['0-3', '4'], around: () => [] as string[], end: 4096 };

test('tiles are asked for once, the window before its neighbours, and the oldest leaves', async () => {
	const asked: string[] = [], row = CELLS * 4;
	const tiles = new Tiles(async (q) => {
		asked.push(`${q.level}/${q.i}/${q.names}`);
		return tileBytes(q.level, q.i, 0, q.names.split(',').length, () => undefined);
	}, { arrived: () => undefined, budget: 8 * row });
	tiles.want(WINDOW);
	await arrived();
	assert.deepEqual(asked, ['0/1/0-3,4', '0/0/0-3,4', '0/2/0-3,4']);
	tiles.want({ ...WINDOW, t0: 600, t1: 1000 });
	assert.equal(asked.length, 3);
	assert.equal(tiles.nearest('class', 2, '4', 700)?.tile.level, 0);
	assert.equal(tiles.nearest('class', 2, '4', 700)?.row, 1);
	assert.equal(tiles.nearest('class', 0, '4', 4000), undefined);
	assert.equal(tiles.nearest('class', 0, '5', 700), undefined);
	assert.equal(tiles.nearest('class', 40, '4', 700)?.tile.i, 1);
	assert.equal(tiles.nearest(Tiles.layer('class', 2), 0, '4', 700), undefined);
	tiles.want({ ...WINDOW, t0: 3072, t1: 3584 });
	await arrived();
	assert.deepEqual(asked.slice(3), ['0/6/0-3,4', '0/5/0-3,4', '0/7/0-3,4']);
	assert.deepEqual([tiles.bytes, tiles.count()], [8 * row, 4]);
	assert.deepEqual([0, 1, 2, 5, 6, 7].filter((i) => tiles.get('class', 0, '4', i)), [1, 5, 6, 7], 'the two that nobody looked at have left');
});

test('rows that are missing come in one question, with neighbours where there is room; those of another kernel are others', async () => {
	const asked: string[] = [], names = (n: number, from = 0) => Array.from({ length: n }, (_, i) => String(from + i));
	const tiles = new Tiles(async (q) => {
		asked.push(`${q.i}:${q.scope ?? ''}:${q.names}`);
		return tileBytes(q.level, q.i, 0, q.names.split(',').length, () => undefined);
	}, { arrived: () => undefined });
	const w = { ...WINDOW, t0: 0, t1: 512, end: 512, names: names(60), around: () => names(30, 60) };
	tiles.want(w);
	await arrived();
	assert.deepEqual(asked, ['0::' + names(64).join()]);
	tiles.want({ ...w, names: names(60, 4), around: () => names(30, 64) });
	assert.equal(asked.length, 1);
	tiles.want({ ...w, names: names(60, 10), around: () => names(30, 70) });
	await arrived();
	assert.deepEqual(asked.slice(1), ['0::' + names(36, 64).join()]);
	tiles.want({ ...w, names: names(130, 200), around: () => [] });
	await arrived();
	assert.deepEqual(asked.slice(2).map((a) => a.split(',').length), [64, 64, 2]);
	tiles.want({ ...w, scope: 2 });
	assert.equal(asked.length, 6);
	assert.ok(asked[5].startsWith('0:2:0,1'));
});

test('what is no longer in sight is given up; a row that cannot be had is asked for again when the server is back', async () => {
	const asked: string[] = [], given: string[] = [];
	let isDown = true, wrong = 0;
	const tiles = new Tiles((q, signal) => new Promise((done, fail) => {
		asked.push(String(q.i));
		signal.addEventListener('abort', () => given.push(String(q.i)));
		setTimeout(() => (isDown ? fail(new Error('down')) : done(tileBytes(q.level, q.i, 0, 16, () => undefined))), 2);
	}), { arrived: () => undefined, wrong: () => wrong++, per: 8 });
	tiles.want(WINDOW);
	assert.equal(tiles.waiting(), 3);
	tiles.want({ ...WINDOW, t0: 3072, t1: 3584 });
	assert.deepEqual([given, tiles.waiting()], [['1', '0', '2'], 3]);
	await arrived();
	assert.deepEqual([wrong, tiles.count(), tiles.waiting()], [3, 0, 0]);
	tiles.want({ ...WINDOW, t0: 3100, t1: 3600 });
	assert.equal(asked.length, 6);
	isDown = false;
	tiles.retry();
	tiles.want({ ...WINDOW, t0: 3072, t1: 3584 });
	await arrived();
	assert.deepEqual([asked.length, tiles.count(), tiles.get('class', 0, '4', 6)?.row], [9, 3, 8]);
});

test('zoom keeps the point under the pointer, and the window inside the trace', () => {
	assert.deepEqual(zoomAt({ t0: 0, t1: 100 }, 50, 0.5, 1000), { t0: 25, t1: 75 });
	assert.deepEqual(zoomAt({ t0: 0, t1: 100 }, 50, 1000, 1000), { t0: 0, t1: 1000 });
	assert.deepEqual(pan({ t0: 0, t1: 100 }, -50, 1000), { t0: 0, t1: 100 });
	assert.deepEqual(pan({ t0: 0, t1: 100 }, 5000, 1000), { t0: 900, t1: 1000 });
	assert.deepEqual(clamp({ t0: 5, t1: 5 }, 4), { t0: 0, t1: 4 });
	assert.deepEqual(around(40, 50, 1000, 0.5), { t0: 35, t1: 55 });
});

test('the slice under a point is found on its own sub-lane', () => {
	const rows = [[0, 10, 0], [5, 10, 1], [10, 1, 0], [12, 4, 0]], v = new DataView(new ArrayBuffer(32 + rows.length * 20));
	rows.forEach(([start, dur, lane], i) => {
		v.setUint32(32 + i * 20, start, true);
		v.setUint32(36 + i * 20, dur, true);
		v.setUint8(50 + i * 20, lane);
	});
	const s: Slices = { track: 0, first: 100, base: 1000, n: 4, more: 0, view: v };
	assert.equal(sliceAt(s, 1007, 0)?.slice, 100);
	assert.equal(sliceAt(s, 1007, 1)?.slice, 101);
	assert.equal(sliceAt(s, 1010, 0)?.slice, 102);
	assert.equal(sliceAt(s, 1011.5, 0), null);
	assert.equal(sliceAt(s, 1014, 1)?.slice, 101);
	assert.equal(sliceAt(s, 999, 0), null);
});

test('the partner of a row is the one that the program aligned it with', () => {
	const code = (row: number[], label: number[]) => ({ row, label } as unknown as Parameters<typeof partnerRow>[1]);
	const a = code([1, 1, 2, 3], [1, 0, 0, 0]), b = code([7, 7, 8], [1, 0, 0]), parts = [{ row_a: 1, row_b: 7 }, { row_a: 2, row_b: null }, { row_a: 3, row_b: 8 }, { row_a: null, row_b: 9 }];
	assert.deepEqual([0, 1, 2, 3].map((i) => partnerRow(parts, a, b, i)), [-1, 1, -1, 2]);
	assert.equal(partnerRow([], a, b, 1), -1);
});

test('slices are asked for once a window; an answer that was cut says so', async () => {
	let more = 0, asked: [number, number][] = [];
	const exact = new Exact(async (track, t0, t1) => {
		asked.push([t0, t1]);
		const data = new ArrayBuffer(32), v = new DataView(data);
		[...'ICS1'].forEach((c, i) => v.setUint8(i, c.charCodeAt(0)));
		v.setUint32(8, track, true);
		v.setUint32(28, more, true);
		return data;
	}, () => undefined, () => undefined);
	assert.equal(exact.get(3, 1000, 1100), null);
	assert.ok(!exact.isQuiet());
	await new Promise((f) => setTimeout(f, 5));
	assert.ok(exact.get(3, 1000, 1100));
	for (let t = 960; t < 1040; t += 5) assert.ok(exact.get(3, t, t + 100), 'pan inside the window');
	assert.equal(asked.length, 1);
	const before = exact.requests;
	for (let track = 100; track < 180; track++) exact.get(track, 0, 50);
	assert.ok(exact.requests - before === 12 && !exact.isQuiet(), 'of many that are missing a few at once');
	await new Promise((f) => setTimeout(f, 5));
	exact.begin();
	for (let track = 100; track < 180; track++) exact.get(track, 0, 50);
	assert.equal(exact.requests - before, 24);
	await new Promise((f) => setTimeout(f, 5));
	assert.ok(!exact.isQuiet());
	exact.begin();
	assert.ok(exact.isQuiet());
	assert.ok(asked[0][0] <= 1000 && asked[0][1] >= 1100 && Number.isInteger(asked[0][0]));
	more = 7;
	exact.get(4, 0, 50);
	await new Promise((f) => setTimeout(f, 5));
	assert.equal(exact.get(4, 0, 50), null);
	assert.ok(exact.isCut);
});
