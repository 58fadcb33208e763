// SPDX-License-Identifier: Apache-2.0
// loading.ts: the line that says how far the reading is. It stands in index.html already; what is known is filled in.
import { fill, h } from './base/dom';
import { count } from './base/format';
import { Progress } from './source';

/** What is read, how far it is; nothing is drawn once the window is there. */
export function loading(p: Progress | null, path: string): void {
	const box = document.querySelector('.loading');
	if (!box) return;
	fill(box as HTMLElement, h('strong', null, 'Opening ' + (path || 'the capture')), h('progress', { attrs: p && p.total ? { max: p.total, value: p.done } : {} }),
		h('span', { class: 'dim' }, p ? `${p.stage}${p.total ? `: ${count(p.done)} of ${count(p.total)}` : ''}${p.eta ? `, about ${Math.ceil(p.eta)} s left` : ''}` : 'asking the server'));
}

/** What a panel says that has no answer yet: nothing loads while the server is away. */
export function waitingWords(): string {
	return document.body.dataset.gone ? 'No answer: the server is gone. What was asked for comes when it is back.' : 'Loading …';
}
