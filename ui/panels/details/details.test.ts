// SPDX-License-Identifier: Apache-2.0
// Are the producer's tables ordered and turned without losing or inventing a cell?
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NamedTable } from '../types';
import { cacheCells, coreCells, valuesOf } from './pictures';
import { filled, inOrder, pivot, shown } from './tables';
import { digitsOf, number, twins } from './twins';

const table = (name: string, columns: string[], cells: (string | null)[][]): NamedTable => ({ name, origin: name, rows: cells.length, columns, cells });

test('tables come in one order, each once, all advice together', () => {
	const all = [table('blocks', ['a'], [['1']]), table('advice', ['text'], [['x ']]), table('roofline', ['x'], [['2']]), table('advice', ['text'], [['x'], ['y']]), table('roofline', ['x'], [['2']]), table('unknown', ['x'], [['3']]), table('base-info', ['key', 'value'], [['k', 'v']])];
	const got = inOrder(all);
	assert.deepEqual(got.map((t) => t.name), ['base-info', 'advice', 'roofline', 'unknown', 'blocks']);
	assert.deepEqual(got[1].cells, [['x'], ['y']]);
});

test('triples become rows; what is missing stays empty', () => {
	const t = table('memory-cores', ['core_no', 'unit', 'name', 'value'], [['0', 'L2', 'hit', '9'], ['0', 'Cube', 'cycle', '4'], ['1', 'Cube', 'cycle', '5']]);
	const got = pivot(t, ['core_no'], ['unit', 'name'], 'value');
	assert.deepEqual(got.columns, ['core_no', 'L2 hit', 'Cube cycle']);
	assert.deepEqual(got.cells, [['0', '9', '4'], ['1', null, '5']]);
	assert.equal(got.rows, 2);
});

test('a head that is called like a key does not overwrite it', () => {
	const got = pivot(table('t', ['row', 'column', 'value'], [['a', 'row', '1']]), ['row'], ['column'], 'value');
	assert.deepEqual([got.columns, got.cells], [['row', 'row'], [['a', '1']]]);
});

test('columns without any value go', () => {
	const got = filled(table('t', ['a', 'b', 'c'], [['1', null, ''], ['2', null, '3']]));
	assert.deepEqual([got.columns, got.cells], [['a', 'c'], [['1', ''], ['2', '3']]]);
});

test('cells of every type', () => {
	assert.deepEqual(shown(null, false), { value: null, text: '-', title: '' });
	assert.deepEqual(shown('1.50', true), { value: 1.5, text: '1.50', title: '1.50' });
	assert.deepEqual(shown('[{"Percent":12.5,"Details":{"a":1,"b":3}}]', false), { value: 12.5, text: '12.5 %', title: 'b 3, a 1' });
	assert.equal(shown('[not json', false).text, '[not json');
	assert.equal(shown('[1,2]', false).text, '[1,2]');
});

test('squares are ordered by line and hold what the table says', () => {
	const t = { columns: ['line', 'event', 'count', 'ratio', 'ranges'], cells: [['10', 'Hit', '3', '', ''], ['9', 'Hit', '7', '', ''], ['9', 'Miss', '1', '', ''], ['x', 'Hit', '1', '', '']] };
	assert.deepEqual(cacheCells(t, 'Hit').map((c) => [c.name, c.value]), [['9', 7], ['10', 3]]);
	assert.deepEqual(valuesOf(t, 'event'), ['Hit', 'Miss']);
	assert.deepEqual(coreCells({ columns: ['core_id', 'subcore_id', 'subcore_type', 'cycles'], cells: [['2', '0', 'cube', '50'], ['3', '0', 'cube', null]] }, 'cycles').map((c) => c.title), ['core 2 cube0: cycles 50']);
});

test('rows of two captures meet by what they are about', () => {
	const a = table('x', ['core_id', 'name', 'value', 'share', 'why'], [['0', 'hit', '5', 'NA', '[1]'], ['0', 'miss', '6', '0.5', '[2]'], ['0', 'miss', '7', null, '[3]'], ['2', 'hit', '9', null, '']]);
	const b = table('x', ['name', 'core_id', 'value', 'more'], [['miss', '0', '8', '1'], ['hit', '0', '4', '1'], ['hit', '1', '3', '1'], ['miss', '0', '2', '1']]), got = twins(a, b);
	assert.deepEqual(got.figures, ['value']);
	assert.deepEqual(a.cells!.map((c) => got.find(c)?.[2]), ['4', '8', '2', undefined]);
	assert.equal(got.alone, 1);
});

test('a column that one side leaves empty is no name', () => {
	const got = twins(table('x', ['name', 'v'], [['p', 'NA']]), table('x', ['name', 'v'], [['p', '3.25']]));
	assert.deepEqual([got.figures, got.alone], [['v'], 0]);
	assert.deepEqual([number('NA'), number(''), number(undefined), number('1e3')], [null, null, null, 1000]);
	assert.deepEqual([digitsOf(['1.500', '2', null]), digitsOf(['0.123456789']), digitsOf([])], [1, 6, 0]);
});
