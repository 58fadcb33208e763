// SPDX-License-Identifier: Apache-2.0
// basis.ts: what the figures of the listing are of. Sum, mean, longest and mean wave come with the listing; one wave and one execution are asked
// for by their track, of the server and of the report alike.
import { App } from '../../app';
import { askJson, SliceInfo } from '../../source';
import { capture, sum } from '../common';
import { Buckets } from '../types';
import { Cost } from './fold';

export type Basis = 'sum' | 'mean' | 'max' | 'meanwave' | 'wave' | 'execution';

interface Page { total: number; code: number[]; hit: number[]; issue: number[]; stall: number[]; wait: number[]; idle: number[]; drain: number[]; max: number[]; rest?: Buckets }
/** What the rows cost on a track, and what is no row's there. */
export interface Costs { costs: Map<number, Cost>; rest: Buckets | null }
const PAGE = 4000;

/** Costs by code row on a track; n: of the n-th execution of each row alone, 0: of all. */
export async function askCosts(app: App, track: number, n: number): Promise<Costs> {
	const costs = new Map<number, Cost>();
	let rest: Buckets | null = null;
	for (let from = 0, total = 1; from < total; from += PAGE) {
		const p = await askJson<Page>(app.source, 'rows', { track, execution: n || undefined, from: from || undefined, c: capture(app) });
		total = p.total;
		rest = p.rest ?? null;
		p.code.forEach((code, i) => {
			const buckets = { issue: p.issue[i], stall: p.stall[i], wait: p.wait[i], idle: p.idle[i], drain: p.drain[i] };
			costs.set(code, { hit: p.hit[i], buckets, cycles: sum(buckets), max: p.max[i] });
		});
	}
	return { costs, rest };
}

/** Which execution of its row a slice is. */
export async function askExecution(app: App, track: number, slice: number): Promise<number> {
	return (await askJson<SliceInfo>(app.source, 'at', { track, slice, c: capture(app) })).execution;
}
