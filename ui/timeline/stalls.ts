// SPDX-License-Identifier: Apache-2.0
// stalls.ts: cycles lost by each track, to sort lanes by: from the answer of `waves`, never from pixels.
import { App } from '../app';

type Wave = Record<string, number> & { accounting?: Record<string, number> };
type Pipe = { core: string; pipe: string; accounting?: Record<string, number> };

export class Stalls {
	private readonly known = new Map<string, number>();

	constructor(private readonly app: App) {}

	read(done: () => void): void {
		void this.app.verb<{ waves?: Wave[]; pipes?: Pipe[] }>('waves', { bins: 240, top: 'all' }).then((a) => {
			const lost = (x?: Record<string, number>) => (x?.stall ?? 0) + (x?.wait ?? 0);
			for (const w of a.data.waves ?? []) this.known.set(this.app.trace.levels.map((l) => w[l]).join('.'), lost(w.accounting));
			for (const q of a.data.pipes ?? []) this.known.set(q.core + '/' + q.pipe, lost(q.accounting));
			done();
		}, () => undefined);
	}

	of(track: number): number {
		const t = this.app.trace.tracks[track];
		return this.known.get(t.name) ?? this.known.get(t.coord.slice(0, this.app.trace.levels.length).join('.')) ?? 0;
	}
}
