// SPDX-License-Identifier: Apache-2.0
// latest.ts: of several questions the newest counts. Answers come in any order, and whoever asked may have turned to something else
// meanwhile: what an answer would write is written only if nothing newer began.

/** Is what was begun then still the newest? */
export type Still = () => boolean;

export class Latest {
	private n = 0;

	/** Begins something new: what was begun before is old from now on. */
	begin(): Still {
		const mine = ++this.n;
		return () => mine === this.n;
	}
}
