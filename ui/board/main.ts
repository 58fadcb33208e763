// SPDX-License-Identifier: Apache-2.0
// main.ts: starts the page of a store (incore view --store).
import { button, fill, h } from '../base/dom';
import { askKey } from '../shell/key';
import { startTheme } from '../shell/theme';
import { HttpSource, Lost, takeToken } from '../source_http';
import { Page } from './page';

/** What is on screen stays while the server is away. */
function lost(source: () => HttpSource | null, why: Lost): void {
	document.querySelector('.gone')?.remove();
	if (!why || (why === 'stranger' && !document.querySelector('.board'))) return;
	document.body.appendChild(h('div', { class: 'gone', role: 'alert' }, why === 'stranger' ? 'This is the server of another run, which does not know this page. Open the address that it printed.' : 'The server does not answer. What is on screen stays.',
		button('Retry', 'Ask the server again', () => source()?.again())));
}

function start(): void {
	const host = document.getElementById('app')!, token = takeToken();
	startTheme();
	addEventListener('hashchange', () => /[#&]token=/.test(location.hash) && location.reload());
	if (!token) return askKey(host);
	const source: HttpSource = new HttpSource(token, (why) => (why === 'stranger' && !document.querySelector('.board') ? askKey(host) : lost(() => source, why)));
	fill(host, h('div', { class: 'loading', role: 'status' }, h('strong', null, 'Opening the store'), h('progress')));
	const page = new Page(host, source);
	(window as unknown as { incore: unknown }).incore = { stats: () => ({ waiting: source.asked.requests - source.asked.done, requests: source.asked.requests, dom_nodes: document.querySelectorAll('*').length }), page };
	void page.load();
}

start();
