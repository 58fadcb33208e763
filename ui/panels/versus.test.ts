// SPDX-License-Identifier: Apache-2.0
// versus.test.ts: figures of two captures side by side, the flame graph's sums of them, and what a dropped file is answered with.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandFor, quoted } from '../shell/drop';
import { buildTree } from './flame/tree';
import { DiffPart, Isa, IsaRow } from './types';
import { against, diffColumns, SHARE } from './versus';

const { deepEqual: same, equal } = assert;

interface Unit { name: string; part: number | null }

test('rows of both captures by key; what one side lacks has no change', () => {
	const here: Unit[] = [{ name: 'x', part: 0.5 }, { name: 'y', part: 0.25 }, { name: 'z', part: 0 }], there: Unit[] = [{ name: 'z', part: 0.5 }, { name: 'x', part: 0.25 }];
	const columns = against(there, (r) => r.name, (r) => r.part, SHARE);
	same(columns.map((c) => c.id), ['diff-a', 'diff-b', 'diff', 'diff-pct']);
	same(here.map((r) => columns.map((c) => c.value(r))), [[0.5, 0.25, -0.25, -0.5], [0.25, null, null, null], [0, 0.5, 0.5, null]]);
	same(against<Unit>(null, (r) => r.name, (r) => r.part, SHARE), []);
	same(columns.map((c) => c.unit!()), ['%', '%', 'points', '%']);
});

function part(row: number, a: number | null, b: number | null, hits: number, verdict: DiffPart['verdict'] = 'no-claim'): DiffPart {
	return { key: '', key_b: null, row_a: row, row_b: row, source: null, hit_a: hits, hit_b: hits, cycles_a: (a ?? 0) * hits, cycles_b: (b ?? 0) * hits, per_hit_a: a, per_hit_b: b, stall_per_hit_a: null, stall_per_hit_b: null, per_launch_a: null, per_launch_b: null, change: a === null || b === null ? null : b - a, contribution: null, noise: null, verdict };
}

test('columns of a difference are the program’s figures', () => {
	const p = part(1, 4, 6, 10);
	same(diffColumns<DiffPart>((r) => r).map((c) => c.value(p)), [4, 6, 2, 0.5]);
});

test('the flame graph adds changes up over the executions here', () => {
	const row = (n: number): IsaRow => ({ row: n, isa: 'v_add ' + n, opcode: 'v_add', frames: [], buckets: { issue: 40, stall: 0, wait: 0, idle: 0, drain: 0 } } as unknown as IsaRow);
	const parts = [part(0, 4, 6, 10, 'beyond-noise'), part(1, 4, 3, 10, 'within-noise'), part(2, 4, null, 10)];
	const root = buildTree({ rows: [row(0), row(1), row(2)], sources: [], accounting: null } as unknown as Isa, 'k', () => 1, false, (r) => parts[r.row ?? -1]);
	same(root.versus, { cost: 80, change: 10, isBeyond: true, isWithin: true, alone: 40 });
	equal(root.children[0].name, '[unmapped]');
});

test('a dropped file is answered with a command that a shell takes', () => {
	equal(quoted('a/b-1.att'), 'a/b-1.att');
	equal(quoted('my capture'), "'my capture'");
	equal(quoted("it's"), "'it'\\''s'");
	equal(commandFor('a b', ['x;y'], false), "incore view 'a b' 'x;y'");
	equal(commandFor('a', ['b'], true), 'incore report a b -o both.html');
});
