// SPDX-License-Identifier: Apache-2.0
// charge.ts: where the cost of inlined code stands: at its own line, or at the line of the kernel that it was inlined into. Both add up to the same.
import { App } from '../../app';
import { choose } from '../../base/dom';
import { BUCKETS } from '../../base/palette';
import { Hot, HotGroup, Isa } from '../types';

export const UNKNOWN = '<unknown>';

/** Is there anything that was inlined? */
export function hasInlined(isa: Isa): boolean {
	return isa.rows.some((r) => r.frames.length > 1);
}

/** The answer of `hot --by line` with each instruction at the outermost line of its chain; what has no line stays without one. */
export function chargeCallers(hot: Hot, isa: Isa): Hot {
	const lines = new Map<string, HotGroup>();
	for (const r of isa.rows) {
		const outer = r.frames[r.frames.length - 1];
		if (!outer) continue;
		const key = `${isa.sources[outer[0]] ?? '?'}:${outer[1]}`, g = lines.get(key) ?? lines.set(key, { key, rows: 0, executed_rows: 0, hit: 0, latency: 0, stall: 0, idle: 0, buckets: { issue: 0, stall: 0, wait: 0, idle: 0, drain: 0 }, cycles: 0, samples: r.samples === undefined ? undefined : 0, stalled_samples: r.samples === undefined ? undefined : 0 }).get(key)!;
		g.rows++;
		g.executed_rows += r.hit > 0 ? 1 : 0;
		for (const k of ['hit', 'latency', 'stall', 'idle', 'cycles'] as const) g[k] += r[k];
		for (const b of BUCKETS) g.buckets[b] += r.buckets[b];
		if (g.samples !== undefined) {
			g.samples += r.samples ?? 0;
			g.stalled_samples! += r.stalled_samples ?? 0;
		}
	}
	const rest = (hot.groups as HotGroup[]).filter((g) => g.key === UNKNOWN);
	return { ...hot, groups: [...lines.values(), ...rest].sort((a, b) => b.cycles - a.cycles) };
}

/** The switch, the same wherever it stands. */
export function chargeSwitch(app: App): HTMLElement {
	return choose('Inlined code', [{ value: '', label: 'at its own line' }, { value: '1', label: 'at the line that called it' }], app.store.get().isCalled ? '1' : '', (v) => app.store.set({ isCalled: !!v }));
}
