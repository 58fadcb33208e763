// SPDX-License-Identifier: Apache-2.0
// box/view.ts: statistics of the box or range that is selected, as a table with the room of a panel. The inspector has the same in short.
import { App, Panel } from '../../app';
import { fill, notice } from '../../base/dom';
import { BoxStatistics } from '../../shell/box';
import { State } from '../../state';
import { Changed, noTracks, View } from '../common';

class BoxView extends View {
	private readonly box: BoxStatistics;

	constructor(host: HTMLElement, app: App) {
		super(host, app, 'box');
		this.box = new BoxStatistics(app, true);
		this.load(Promise.resolve(null), () => this.show(app.store.get()));
	}

	private show(s: Readonly<State>): void {
		const sel = s.selection;
		if (sel?.kind !== 'box' && sel?.kind !== 'range') return fill(this.body, notice('No box', 'Nothing is selected that has a beginning and an end.', 'Drag over lanes for a box; M takes the time range of a slice.'));
		fill(this.body, this.box.element);
		this.box.show(sel);
	}

	protected update(state: Readonly<State>, keys: Changed): void {
		if (keys.has('selection') || keys.has('unit') || keys.has('theme')) this.show(state);
	}
}

export const panel: Panel = {
	id: 'box', title: 'Box', hint: 'statistics of the box or range that is selected',
	missing: noTracks, open: (host, app) => new BoxView(host, app),
};
