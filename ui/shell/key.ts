// SPDX-License-Identifier: Apache-2.0
// key.ts: the page of a tab that has no key, as when a copied link is opened: it asks for the key and then opens the view of the link.
import { fill, h } from '../base/dom';
import { Latest } from '../base/latest';
import { bearer, keepToken, tokenIn } from '../source_http';

/** Is it the key of this run? null: nobody answers. */
async function isKey(token: string): Promise<boolean | null> {
	try {
		return (await fetch('/api/1/trace', { method: 'HEAD', ...bearer(token) })).status !== 401;
	} catch {
		return null;
	}
}

/** The key stays in this tab; the address keeps what it had behind #, and the page starts again with both. */
async function tryKey(words: string): Promise<string> {
	const token = tokenIn(words);
	if (!token) return 'There is no key in this. It has 32 characters, 0 to 9 and a to f, and stands behind #token= in the address.';
	const is = await isKey(token);
	if (is === null) return 'The server does not answer.';
	if (!is) return 'This is not the key of this run: each run of incore view makes its own.';
	keepToken(token);
	location.reload();
	return '';
}

export function askKey(host: HTMLElement): void {
	const input = h('input', { id: 'key', attrs: { type: 'text', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false', 'aria-describedby': 'key-told' } });
	const told = h('p', { id: 'key-told', class: 'key-told', role: 'alert' });
	const asked = new Latest();
	const submit = async () => {
		const still = asked.begin(), wrong = await tryKey(input.value);
		if (!still()) return;
		told.textContent = wrong;
		input.classList.toggle('bad', !!wrong);
		if (wrong) input.select();
	};
	fill(host, h('main', { class: 'notice key-page' }, h('h1', null, 'This page needs its key'),
		h('p', null, 'It shows captures that ', h('code', null, 'incore view'), ' serves. The key stands at the end of the address that it printed in its terminal, behind ', h('code', null, '#token='), '; a copied link does not carry it.'),
		h('form', { attrs: { autocomplete: 'off' }, on: { submit: (e) => {
			e.preventDefault();
			void submit();
		} } }, h('label', { attrs: { for: 'key' } }, 'The key, or the whole address'), h('div', { class: 'row' }, input, h('button', { class: 'button main', attrs: { type: 'submit' } }, 'Open')), told)));
	input.focus();
}
