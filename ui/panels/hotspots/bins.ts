// SPDX-License-Identifier: Apache-2.0
// bins.ts: the code table cut into equal parts, for the histogram.
import { BUCKETS } from '../../base/palette';
import { Buckets, IsaRow } from '../types';

export interface Bin { first: number; last: number; buckets: Buckets; weight: number }

/** n parts of the rows [from, to): what the rows of each part add up to. */
export function binRows(rows: readonly IsaRow[], from: number, to: number, n: number): Bin[] {
	const size = Math.max(1, Math.ceil((to - from) / Math.max(1, n)));
	const out: Bin[] = [];
	for (let at = from; at < to; at += size) {
		const b: Bin = { first: at, last: Math.min(to, at + size) - 1, buckets: { issue: 0, stall: 0, wait: 0, idle: 0, drain: 0 }, weight: 0 };
		for (let i = b.first; i <= b.last; i++) {
			for (const k of BUCKETS) b.buckets[k] += rows[i].buckets[k];
			b.weight += rows[i].samples ?? 0;
		}
		b.weight = BUCKETS.reduce((s, k) => s + b.buckets[k], 0) || b.weight;
		out.push(b);
	}
	return out;
}
