// SPDX-License-Identifier: Apache-2.0
// dialogs_base.ts: a dialog of the browser's own: it traps the focus and gives it back.
import { button, Child, fill, h } from '../base/dom';

export function dialog(title: string, ...body: Child[]): HTMLDialogElement {
	const d = h('dialog', { attrs: { 'aria-label': title } });
	const before = document.activeElement as HTMLElement | null;
	fill(d, h('div', { class: 'dialog-head' }, h('h2', null, title), button('×', 'Close (Esc)', () => d.close())), h('div', { class: 'dialog-body' }, body));
	d.addEventListener('close', () => {
		d.remove();
		before?.focus?.({ preventScroll: true });
	});
	d.addEventListener('click', (e) => {
		if (e.target === d) d.close();
	});
	document.body.appendChild(d);
	d.showModal();
	return d;
}
