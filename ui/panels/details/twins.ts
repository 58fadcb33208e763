// SPDX-License-Identifier: Apache-2.0
// twins.ts: the same table of two captures, row by row. What a row is about is told by its words and numbers of things (core 3, line 12); all other numbers are
// figures that compare.
import { NamedTable } from '../types';
import { isNumeric } from './tables';

type Cells = (string | null)[];
/** Numbers that name something. */
export const NAMES = /^(id|pid|(block|core|subcore|device)[_ ]?(id|no)|line|row|offset|type|unit|version|padding|display|memory_path|addr(ess)?)$/i;

export interface Twins {
	/** columns that compare */
	figures: string[];
	/** the row of the other that is about the same as this one */
	find(row: Cells): Cells | undefined;
	/** rows of the other that none here is about */
	alone: number;
}

function isJson(cells: Cells[], i: number): boolean {
	return cells.some((c) => /^[[{]/.test(c[i] ?? ''));
}

/** Rows that say the same of what they are about come in the order of the file: first with first. */
function byKey(cells: Cells[], keys: number[]): Map<string, Cells[]> {
	const out = new Map<string, Cells[]>();
	for (const c of cells) {
		const key = JSON.stringify(keys.map((i) => c[i] ?? null));
		if (!out.get(key)?.push(c)) out.set(key, [c]);
	}
	return out;
}

export function twins(a: NamedTable, b: NamedTable): Twins {
	const at = a.columns.map((head) => b.columns.indexOf(head)), here = a.cells ?? [], there = (b.cells ?? []).map((c) => at.map((i) => (i < 0 ? null : c[i] ?? null)));
	const both = [...here, ...there], isFigure = a.columns.map((head, i) => !NAMES.test(head) && isNumeric(both, i));
	const keys = a.columns.map((_, i) => i).filter((i) => at[i] >= 0 && !isFigure[i] && !isJson(both, i)), rows = byKey(there, keys), found = new Map<Cells, Cells>();
	for (const [key, list] of byKey(here, keys)) list.forEach((c, i) => rows.get(key)?.[i] && found.set(c, rows.get(key)![i]));
	return { figures: a.columns.filter((_, i) => at[i] >= 0 && isFigure[i]), find: (row) => found.get(row), alone: there.length - found.size };
}

/** A figure of a table, or null where it is none. */
export function number(cell: string | null | undefined): number | null {
	return cell === null || cell === undefined || cell === '' || !Number.isFinite(Number(cell)) ? null : Number(cell);
}

/** As many digits as the producer wrote. */
export function digitsOf(cells: Iterable<string | null | undefined>): number {
	let n = 0;
	for (const c of cells) n = Math.max(n, /\.(\d+)$/.exec(c ?? '')?.[1].replace(/0+$/, '').length ?? 0);
	return Math.min(6, n);
}
