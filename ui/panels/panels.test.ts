// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { oneLine } from './counters/view';
import { isNumeric } from './details/tables';
import { boxes, buildTree, exposedOf, folded } from './flame/tree';
import { binRows } from './hotspots/bins';
import { Arrow, arrowAt, layout } from './isa/gutter';
import { editorLink, splitKey, weight } from './source/view';
import { largest } from '../base/format';
import { HotGroup, HotRow, Isa, IsaRow } from './types';

function row(index: number, wait: number, frames: [number, number][] = [], isa = `op${index} v0`): IsaRow {
	return {
		row: index, address: index * 4, isa, opcode: isa.split(' ')[0], class: 'VALU', source: null, hit: 1, latency: wait, stall: 0, idle: 0, buckets: { issue: 0, stall: 0, wait, idle: 0, drain: 0 }, cycles: wait,
		loop_depth: 0, index, frames, execution: null, stated: null, live: null, cause: null, cause_cycles: 0, block: null,
	};
}

test('arrows that overlap run in lanes of their own, the heaviest first', () => {
	const a: Arrow[] = [{ from: 10, to: 1, kind: 'wait', weight: 5, title: '' }, { from: 3, to: 20, kind: 'branch', weight: 9, title: '' }, { from: 30, to: 25, kind: 'wait', weight: 1, title: '' }];
	const l = layout(a);
	assert.equal(l.count, 2);
	assert.equal(l.left, 0);
	assert.equal(arrowAt(l.lanes[0], 3), a[1]);
	assert.equal(arrowAt(l.lanes[0], 20), a[1]);
	assert.equal(arrowAt(l.lanes[0], 21), undefined);
	assert.equal(arrowAt(l.lanes[0], 27), a[2]);
	assert.equal(arrowAt(l.lanes[1], 1), a[0]);
	assert.equal(arrowAt(l.lanes[1], 0), undefined);
	assert.deepEqual([layout(a, 1).count, layout(a, 1).left], [1, 1]);
});

test('bins cover all rows once and add them up', () => {
	const rows = Array.from({ length: 10 }, (_, i) => row(i, i));
	const bins = binRows(rows, 0, 10, 4);
	assert.deepEqual(bins.map((b) => [b.first, b.last]), [[0, 2], [3, 5], [6, 8], [9, 9]]);
	assert.equal(bins.reduce((n, b) => n + b.weight, 0), 45);
	assert.equal(binRows(rows, 2, 3, 100).length, 1);
});

test('the flame graph keeps every cycle, unmapped code too', () => {
	const isa = { sources: ['/a/x.py', '/a/y.py'], rows: [row(1, 10, [[1, 5], [0, 2]]), row(2, 30, [[0, 2]]), row(3, 60)] } as unknown as Isa;
	const root = buildTree(isa, 'k', (r) => r.buckets.wait, false);
	assert.equal(root.weight, 100);
	assert.deepEqual(root.children.map((c) => [c.name, c.weight]), [['[unmapped]', 60], ['/a/x.py', 40]]);
	assert.deepEqual(root.children[1].children[0].children.map((c) => c.name), ['op2 v0', 'y.py:5']);
	for (const b of boxes(root, 0)) assert.ok(b.w <= 1 && b.x + b.w <= 1 + 1e-9);
	const thin = { sources: [], rows: [row(1, 90), row(2, 4), row(3, 3), row(4, 3)] } as unknown as Isa;
	const rest = boxes(buildTree(thin, 'k', (r) => r.buckets.wait, false), 0.05).filter((b) => b.node.kind === 'rest');
	assert.deepEqual(rest.map((b) => [b.node.name, b.node.weight, b.w.toFixed(3)]), [['3 more', 10, '0.100']]);
	assert.equal(boxes(root, 0).filter((b) => !b.node.children.length).reduce((n, b) => n + b.w, 0).toFixed(6), '1.000000');
	assert.equal(folded(root).trim().split('\n').reduce((n, l) => n + Number(l.split(' ').pop()), 0), 100);
	const inverted = buildTree(isa, 'k', (r) => r.buckets.wait, true);
	assert.equal(inverted.weight, 100);
	assert.equal(inverted.children[0].name, 'op3');
});

test('exposed cycles of the flame graph are those of hot, rows told twice and unknown ones too', () => {
	const rows = [row(1, 10, [[0, 2]]), row(2, 30, [[0, 2]]), row(2, 30, [[0, 3]])], isa = { sources: ['/a/x.py'], rows, accounting: { issue: 0, stall: 0, wait: 80, idle: 0, drain: 0, duration: 80 } } as unknown as Isa;
	const hot = [{ ...rows[0], exposed: 4 }, { ...rows[1], exposed: 20 }, { ...rows[2], exposed: 5 }, { ...rows[0], row: null, address: null, isa: '(unknown)', exposed: 7 }] as unknown as HotRow[];
	const root = buildTree(isa, 'k', exposedOf(isa, hot), false);
	assert.equal(root.weight, 36);
	assert.deepEqual(root.children.map((c) => [c.name, c.weight]), [['/a/x.py', 29], ['[unassigned]', 7]]);
	const adds = (n: typeof root): boolean => !n.children.length || (n.weight === n.children.reduce((s, c) => s + c.weight, 0) && n.children.every(adds));
	assert.ok(adds(root));
});

test('keys of source lines, and what a group weighs', () => {
	assert.deepEqual(splitKey('C:/a b/x.py:12'), { path: 'C:/a b/x.py', line: 12 });
	assert.equal(splitKey('<unknown>'), null);
	assert.equal(weight({ buckets: { issue: 0, stall: 0, wait: 0, idle: 0, drain: 0 }, samples: 7, latency: 0, idle: 0 } as unknown as HotGroup), 7);
});

test('definitions travel on one line', () => {
	assert.equal(oneLine('# x\na := 1 # why\n\nb := a;'), ';a := 1;;b := a;');
});

test('columns of a producer are numbers only if all cells are', () => {
	assert.equal(isNumeric([['1'], ['2.5'], [null], ['NA'], ['-3e4']], 0), true);
	assert.equal(isNumeric([['1'], ['x']], 0), false);
	assert.equal(isNumeric([[null]], 0), false);
});

test('the largest of more than a call can carry', () => {
	const many = Array.from({ length: 300000 }, (_, i) => i);
	assert.equal(largest(many, (n) => n), 299999);
	assert.equal(largest([], (n: number) => n), 1);
	assert.equal(largest([-3, -2], (n) => n, -Infinity), -2);
});

test('an editor is offered where the path says which file it is', () => {
	assert.equal(editorLink('VS Code', '/a b/k#1.py', 12), 'vscode://file/a%20b/k%231.py:12');
	assert.equal(editorLink('JetBrains', '/k.py', 3), 'idea://open?file=/k.py&line=3');
	assert.equal(editorLink('VS Code', 'C:\\k\\a.cpp', 7), 'vscode://file/C:/k/a.cpp:7');
	assert.equal(editorLink('gone', '/k.py', 1), 'vscode://file/k.py:1');
	assert.equal(editorLink('VS Code', 'k.py', 1), null);
});
