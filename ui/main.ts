// SPDX-License-Identifier: Apache-2.0
// main.ts: starts the page: finds out whether it is a report or talks to a server, waits until the capture is there, opens the window.
import { button, fill, h, notice } from './base/dom';
import { Latest } from './base/latest';
import { loading, waitingWords } from './loading';
import { askTrace, CaptureInfo, Source, SourceError, TraceInfo } from './source';
import { HttpSource, isPair, Lost, takeToken } from './source_http';
import { WasmSource } from './source_wasm';
import { askKey } from './shell/key';
import { keepWritten } from './shell/print';
import { startTheme } from './shell/theme';
import { Opened, openWindow } from './shell/window';
import { Early } from './start';
import { decodeLink } from './state';

const host = () => document.getElementById('app')!;
let opened: Opened | null = null;
const opening = new Latest();

/** What is on screen stays while the server is away; the way back is offered. */
function lost(source: () => HttpSource | null, why: Lost): void {
	const shown = document.querySelector<HTMLElement>('.gone');
	document.body.dataset.gone = why ?? '';
	for (const e of document.querySelectorAll('.panel .notice[role=status]')) e.textContent = waitingWords();
	if (!why) {
		if (!shown) return;
		shown.remove();
		opened?.pane?.view.tiles.retry();
		return opened?.pane?.view.redraw();
	}
	if (why === 'stranger' && !opened) return; // the page itself says that it needs its key
	const box = shown ?? document.body.appendChild(h('div', { class: 'gone', role: 'alert' })), isAgain = box.dataset.why === why && box.dataset.asked === '1';
	if (box.dataset.why === why && !isAgain) return;
	Object.assign(box.dataset, { why, asked: '' });
	fill(box, why === 'stranger' ? 'This is the server of another run, which does not know this page. Open the address that it printed. What is on screen stays.'
		: `The server ${isAgain ? 'still ' : ''}does not answer. What is on screen stays.`,
	button('Retry', 'Ask the server again', () => {
		box.dataset.asked = '1';
		source()?.again();
	}));
}

function failed(e: unknown, source: Source | null = null, captures: CaptureInfo[] = []): void {
	const error = e as SourceError;
	document.body.dataset.ready = 'failed';
	if (error.status === 401) return askKey(host());
	fill(host(), notice('The capture cannot be shown', error.message ?? String(e), 'incore info and incore check say more about the file.'),
	h('div', { class: 'notice row' }, captures.filter((c) => c.state !== 'failed' && source).map((c) => button(`Open ${c.path}`, 'Open this capture instead', () => void open(source!, c.index), { class: 'button framed' }))));
}

/** link: the view that it opens with. */
async function open(source: Source, index: number, known?: TraceInfo, link = location.hash): Promise<void> {
	const still = opening.begin();
	opened?.close();
	opened = null;
	let trace = known ?? await askTrace(source, index);
	while (trace.state === 'loading') {
		const path = trace.captures[index].path;
		if (!still()) return;
		if (!document.querySelector('.loading')) fill(host(), h('div', { class: 'loading', role: 'status' }));
		await source.progress((p) => {
			loading(p, path);
			return (p.read ?? 0) <= index;
		});
		trace = await askTrace(source, index);
		if (trace.state === 'loading') await new Promise((f) => setTimeout(f, 200));
	}
	if (!still()) return;
	if (trace.state === 'failed') return failed(new SourceError(500, 'failed', trace.error ?? 'the capture cannot be read'), source, trace.captures);
	opened = openWindow(host(), source, trace, link, (i, base) => {
		const rest = base ? '#b=' + base : '';
		history.replaceState(null, '', location.pathname + rest);
		void open(source, i, undefined, rest).catch(failed);
	});
	document.body.dataset.ready = '1';
}

/** Figures that the tests compare with what is allowed. */
function stats(source: Source): unknown {
	const view = opened?.pane?.view, times = [...(view?.stats.times ?? [])].sort((a, b) => a - b);
	const at = (p: number) => times[Math.min(times.length - 1, Math.floor(p * times.length))] ?? 0;
	return {
		requests: source.asked.requests, waiting: source.asked.requests - source.asked.done, bytes: source.asked.bytes, by_path: { ...source.asked.byPath }, tiles: view?.tiles.count() ?? 0, tile_bytes: view?.tiles.bytes ?? 0,
		tile_requests: view?.tiles.requests ?? 0, tiles_waiting: view?.tiles.waiting() ?? 0, slice_requests: view?.exact.requests ?? 0, frames: view?.stats.frames ?? 0, last_ms: view?.stats.last_ms ?? 0,
		worst_ms: view?.stats.worst_ms ?? 0, p50_ms: at(0.5), p95_ms: at(0.95), draw_calls: view?.stats.calls ?? 0, rows: view?.stats.rows ?? 0, is_exact: view?.stats.isExact ?? false, level: view?.stats.level ?? 0,
		dom_nodes: document.querySelectorAll('*').length, state: opened?.session.store.get(),
	};
}

/** With what start.ts asked for before this script was there. */
async function serverSource(lose: (why: Lost) => void): Promise<HttpSource> {
	const token = takeToken(), source = new HttpSource(token, lose), early = (window as unknown as { incoreEarly?: Early }).incoreEarly;
	if (!token) throw new SourceError(401, 'no-token', '');
	const trace = await early?.trace;
	if (trace) source.early.set('trace', trace);
	return source;
}

/** A pair of a store opens with its comparison: both captures must have been read. */
async function pairLink(source: Source): Promise<string> {
	await source.progress((p) => (p.read ?? 0) < 2);
	for (;;) { // what was asked for at the start may not have known the second
		const [, base] = (await askTrace(source, 0)).captures;
		if (base.state !== 'loading') return base.state === 'ready' ? `#b=${base.hash}&p=compare` : '';
	}
}

async function start(): Promise<void> {
	startTheme();
	// an address with a key, opened in a tab that is here already: the browser itself loads nothing
	addEventListener('hashchange', () => /[#&]token=/.test(location.hash) && location.reload());
	const isReport = document.body.dataset.report === '1', printWritten = keepWritten();
	if (!document.getElementById('app')) document.body.appendChild(h('div', { id: 'app' }));
	try {
		let server: HttpSource | null = null;
		const source: Source = isReport ? await WasmSource.open() : (server = await serverSource((why) => lost(() => server, why))), asked = source;
		(window as unknown as { incore: unknown }).incore = { stats: () => stats(asked), reset: () => opened?.pane && Object.assign(opened.pane.view.stats, { frames: 0, worst_ms: 0, times: [] }), app: () => opened?.session, pane: () => opened?.pane };
		// a saved report has a view of its own, unless its address names another
		const link = location.hash || (isPair() ? await pairLink(source) : '#' + (document.body.dataset.view ?? ''));
		const first = await askTrace(source, 0), wanted = decodeLink(link).hash;
		const index = (wanted && first.captures.find((c) => c.hash === wanted)?.index) || 0;
		await open(source, index, index ? undefined : first, link);
		printWritten();
	} catch (e) {
		failed(e);
	}
}

if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', () => void start());
else void start();
