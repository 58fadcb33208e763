// SPDX-License-Identifier: Apache-2.0
// tables.ts: the producer's tables put in order and turned, without a figure of our own: what belongs in one row comes into one row, columns
// that nobody filled go, cells that hold JSON say what they hold.
import { NamedTable } from '../types';

export const TITLES: Record<string, string> = {
	rules: 'What the rules say', sections: 'Sections', metrics: 'Metrics', instances: 'Instances of metrics',
	'base-info': 'Base information', advice: 'Advice of the producer', 'block-detail': 'Blocks', 'core-occupancy': 'Core occupancy', roofline: 'Roofline', 'top-stall': 'Top stall reasons', 'compute-load': 'Compute workload',
	'compute-load-table': 'Compute workload, all', 'memory-units': 'Memory workload', 'memory-cores': 'Memory and cycles a core', 'memory-table': 'Memory tables', cacheline: 'Cache lines', 'stated-busy': 'Busy cycles as stated',
	'summary-log': 'Summary log', 'api-instr': 'Instructions as stated', 'api-file': 'Source lines as stated', 'instr-exe': 'Instructions, CSV', 'code-exe': 'Source lines, CSV', blocks: 'Blocks of the file',
};
const ORDER = Object.keys(TITLES);
/** Units that the producer's schema fixes and its files leave out. */
export const UNITS: Record<string, string> = { duration: 'µs', bandwidth: 'GB/s', L2cache_hit_rate: '%', hit_ratio: '%', ratio: '' };

/** What is said first comes first; what two blocks repeat stands once; all advice together. */
export function inOrder(tables: NamedTable[]): NamedTable[] {
	const seen = new Set<string>(), advice = tables.filter((t) => t.name === 'advice' && t.cells);
	const once = tables.filter((t) => {
		const key = t.name + JSON.stringify(t.cells ?? t.origin);
		return t.name !== 'advice' && !seen.has(key) && !!seen.add(key);
	});
	const words = [...new Set(advice.flatMap((t) => t.cells!.map((c) => (c[0] ?? '').trim())))].filter(Boolean);
	if (words.length) once.push({ ...advice[0], rows: words.length, cells: words.map((w) => [w]) });
	const place = (t: NamedTable) => (ORDER.includes(t.name) ? ORDER.indexOf(t.name) : ORDER.length - 1.5);
	return once.map((t, i) => ({ t, i })).sort((a, b) => place(a.t) - place(b.t) || a.i - b.i).map((x) => x.t);
}

/** "row | column | value" triples as a table: `keys` stay columns, each value of `heads` becomes one. */
export function pivot(t: NamedTable, keys: string[], heads: string[], value: string): NamedTable {
	const at = (names: string[]) => names.map((n) => t.columns.indexOf(n)), k = at(keys), hd = at(heads), v = t.columns.indexOf(value);
	const columns: string[] = [...keys], rows = new Map<string, (string | null)[]>();
	for (const c of t.cells ?? []) {
		const id = JSON.stringify(k.map((i) => c[i])), head = hd.map((i) => c[i] ?? '').join(' ');
		if (columns.indexOf(head, keys.length) < 0) columns.push(head);
		if (!rows.has(id)) rows.set(id, k.map((i) => c[i]));
		rows.get(id)![columns.indexOf(head, keys.length)] = c[v];
	}
	const cells = [...rows.values()].map((r) => columns.map((_, i) => r[i] ?? null));
	return { ...t, columns, cells, rows: cells.length };
}

/** Without the columns that no row fills. */
export function filled(t: NamedTable): NamedTable {
	const used = t.columns.map((_, i) => i).filter((i) => t.cells!.some((c) => c[i] !== null && c[i] !== undefined && c[i] !== ''));
	return { ...t, columns: used.map((i) => t.columns[i]), cells: t.cells!.map((c) => used.map((i) => c[i])) };
}

export interface Shown { value: number | string | null; text: string; title: string }

/** A cell of any type. A percentage with its parts shows the percentage and has the parts in its tooltip. */
export function shown(cell: string | null | undefined, isNumber: boolean): Shown {
	if (cell === null || cell === undefined || cell === '') return { value: null, text: '-', title: '' };
	if (isNumber) return { value: Number(cell), text: cell, title: cell };
	if (/^[[{]/.test(cell)) {
		try {
			const parsed: unknown = JSON.parse(cell), one = Array.isArray(parsed) && parsed.length === 1 ? (parsed as unknown[])[0] : parsed;
			if (one && typeof one === 'object' && 'Percent' in one) {
				const d = one as { Percent: number; Details?: Record<string, number> };
				return { value: d.Percent, text: `${d.Percent} %`, title: Object.entries(d.Details ?? {}).sort((a, b) => b[1] - a[1]).map(([k, n]) => `${k} ${n}`).join(', ') || 'no parts stated' };
			}
		} catch { /* text that only begins like JSON */ }
	}
	return { value: cell, text: cell, title: cell };
}

export function isNumeric(cells: (string | null)[][], column: number): boolean {
	let seen = 0;
	for (const row of cells) {
		const v = row[column];
		if (v === null || v === undefined || v === '' || v === 'NA') continue;
		if (!/^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(v)) return false;
		seen++;
	}
	return seen > 0;
}
