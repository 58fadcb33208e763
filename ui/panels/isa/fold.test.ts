// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Isa, IsaRow, Loop } from '../types';
import { allGroups, groupCost, listing, visible } from './fold';
import { Gutter, layout } from './gutter';

const NONE = { issue: 0, stall: 0, wait: 0, idle: 0, drain: 0 };

/** Rows 1..6; the loop headed by row 3 is rows 3, 4 and 6: row 5 is no part of it. */
function rotated(): Isa {
	const row = (n: number, block: number) => ({ row: n, address: n, isa: 's_nop', opcode: 's_nop', class: 'NOP', source: null, hit: 1, latency: 4, stall: 0, idle: 0, buckets: { ...NONE, issue: 4 }, cycles: 4, loop_depth: 0, index: n, frames: [], execution: null, stated: null, live: null, cause: null, cause_cycles: 0, block }) as IsaRow;
	const block = (first: number, last: number, loop: number | null) => ({ first_row: first, last_row: last, rows: last - first + 1, loop, executions: 1, hit: 1, latency: 4, samples: 0, buckets: NONE });
	return {
		labels: [{ row: 0, address: 0, text: '; f', index: 0 }], rows: [row(1, 0), row(2, 0), row(3, 1), row(4, 1), row(5, 2), row(6, 3)], edges: [{ wait: 2, producer: 1, stall: 4, shared: 0 }], branches: [],
		blocks: [block(1, 2, null), block(3, 4, 3), block(5, 5, null), block(6, 6, 3)], bodies: [{ header_row: 3, hit: 3, latency: 12, samples: 0, buckets: NONE }],
		loops: [{ header_row: 3, parent_header_row: null, rows: 3, executions: 1, iterations: 0 } as Loop],
	} as unknown as Isa;
}

test('a folded loop hides its body, wherever it stands', () => {
	const list = listing(rotated()), keys = (...folded: string[]) => visible(list, new Set(folded)).map((l) => l.key);
	assert.deepEqual(keys(), [0, 1, 2, 3, 4, 5, 6]);
	assert.deepEqual(keys('l3'), [0, 1, 2, 'l3', 5]);
	assert.deepEqual(keys('b0'), [0, 'b0', 3, 4, 5, 6]);
	assert.deepEqual(keys('b1', 'l3'), [0, 1, 2, 'l3', 5]);
	assert.deepEqual(keys(...allGroups(list)), [0, 'b0', 'l3', 5]);
	const loop = list.groups.get('l3')!;
	assert.deepEqual([loop.first_row, loop.last_row, loop.members], [3, 6, [3, 4, 6]]);
	assert.equal(list.lines[2].edges.length, 1);
	assert.equal(list.lines[3].block?.id, 'b1');
});

test('a group on one wave is the sum of its rows', () => {
	const list = listing(rotated()), cost = (n: number) => ({ hit: n, buckets: { ...NONE, wait: 10 * n }, cycles: 10 * n, max: null });
	const got = groupCost(list.groups.get('l3')!, new Map([[3, cost(1)], [5, cost(7)], [6, cost(2)]]));
	assert.deepEqual([got.hit, got.buckets.wait, got.cycles], [3, 30, 30]);
});

test('arrows of folded rows end at their group, those inside vanish', () => {
	const made: Record<string, string>[] = [], element = () => {
		const attrs: Record<string, string> = {};
		made.push(attrs);
		return { setAttribute: (k: string, v: string) => void (attrs[k] = v), style: { setProperty: () => undefined }, appendChild: (x: unknown) => x };
	};
	(globalThis as unknown as { document: unknown }).document = { createElementNS: element };
	const lanes = layout([{ from: 9, to: 1, kind: 'branch', weight: 2, title: '' }, { from: 4, to: 3, kind: 'wait', weight: 1, title: '' }]);
	const g = new Gutter(lanes, 20);
	g.draw([{ at: 0, until: 0 }, { at: 1, until: 1 }, { at: 2, until: 8 }, { at: 9, until: 9 }], 0, () => false);
	const paths = made.filter((m) => m.d !== undefined).map((m) => m.d);
	assert.equal(paths.filter(Boolean).length, 1);
	assert.ok(paths.find(Boolean)!.includes('V70'));
});
