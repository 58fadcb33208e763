// SPDX-License-Identifier: Apache-2.0
// source_http.ts: asks the server that the page came from. The token comes in the URL's fragment, which no browser ever sends, and stays
// in this tab.
import { Progress, Query, questionOf, Source, SourceError } from './source';

const KEY = 'incore.token';

/** The key in an address, or the text itself where it can be one; '': there is none. */
export function tokenIn(text: string): string {
	return (/[#&]token=([0-9A-Za-z_-]+)/.exec(text) ?? /^\s*([0-9a-f]{32})\s*$/.exec(text))?.[1] ?? '';
}

/** For this tab, and no longer than it. */
export function keepToken(token: string): void {
	sessionStorage.setItem(KEY, token);
}

/** What a request shows a key with. */
export function bearer(token: string): RequestInit {
	return { headers: { Authorization: 'Bearer ' + token }, credentials: 'omit' };
}

const PAIR = /^\/pair\/\d+-\d+/;

/** Does the page show two captures of a store? */
export function isPair(): boolean {
	return PAIR.test(location.pathname);
}

/** The address of a question; of a pair of a store's captures the pair stands before it. */
export function api(question: string): string {
	return '/api/1' + (PAIR.exec(location.pathname)?.[0] ?? '') + '/' + question;
}

/** Takes the token out of the address, so that a copied URL does not carry it. */
export function takeToken(): string {
	const token = tokenIn(location.hash);
	if (token) {
		keepToken(token);
		const rest = location.hash.slice(1).split('&').filter((w) => !w.startsWith('token=')).join('&');
		history.replaceState(null, '', location.pathname + location.search + (rest ? '#' + rest : ''));
	}
	return sessionStorage.getItem(KEY) ?? '';
}

/** Each line of a `progress` answer, until there are no more or `seen` has enough. */
export async function readProgress(answer: Response, seen: (p: Progress) => boolean): Promise<void> {
	const reader = answer.body?.getReader(), text = new TextDecoder();
	let rest = '';
	while (reader) {
		const { done, value } = await reader.read();
		if (done) return;
		const lines = (rest + text.decode(value, { stream: true })).split('\n');
		rest = lines.pop() ?? '';
		for (const line of lines) if (line.trim() && !seen(JSON.parse(line) as Progress)) return void reader.cancel();
	}
}

async function failure(answer: Response): Promise<SourceError> {
	try {
		const body = await answer.json() as { error?: { code?: string; message?: string } };
		return new SourceError(answer.status, body.error?.code ?? 'error', body.error?.message ?? answer.statusText);
	} catch {
		return new SourceError(answer.status, 'error', `the server answered ${answer.status} ${answer.statusText}`);
	}
}

/** What is wrong with the server: it does not answer, or it is another one and does not know this page's key. */
export type Lost = 'gone' | 'stranger' | null;

export class HttpSource implements Source {
	readonly kind = 'server';
	readonly asked = { requests: 0, done: 0, bytes: 0, byPath: {} as Record<string, number> };
	/** answers that were asked for before there was a source (start.ts); each is given once */
	readonly early = new Map<string, ArrayBuffer>();
	/** questions that nobody answered: they wait for the server to come back, so that nothing on the page has failed meanwhile */
	private readonly waiting = new Set<() => void>();

	constructor(private readonly token: string, private readonly lost: (why: Lost) => void) {}

	private async get<T>(question: string, read: (answer: Response) => Promise<T>, signal?: AbortSignal): Promise<T> {
		for (;;) {
			try {
				const answer = await fetch(api(question), { ...bearer(this.token), signal });
				this.lost(answer.status === 401 ? 'stranger' : null);
				this.release();
				if (!answer.ok) throw await failure(answer);
				return await read(answer);
			} catch (e) {
				if (signal?.aborted || e instanceof SourceError) throw e;
			}
			this.lost('gone');
			await this.wait(signal);
		}
	}

	private wait(signal?: AbortSignal): Promise<void> {
		return new Promise((go, stop) => {
			this.waiting.add(go);
			signal?.addEventListener('abort', () => {
				this.waiting.delete(go);
				stop(signal.reason);
			});
		});
	}

	/** Asks again what waits, or anything. */
	again(): void {
		if (this.waiting.size) this.release();
		else void this.ask('trace').catch(() => undefined);
	}

	private release(): void {
		const all = [...this.waiting];
		this.waiting.clear();
		for (const go of all) go();
	}

	async ask(path: string, query?: Query, signal?: AbortSignal): Promise<ArrayBuffer> {
		this.asked.requests++;
		this.asked.byPath[path] = (this.asked.byPath[path] ?? 0) + 1;
		const question = questionOf(path, query), known = this.early.get(question);
		this.early.delete(question);
		try {
			const data = known ?? await this.get(question, (answer) => answer.arrayBuffer(), signal);
			this.asked.bytes += data.byteLength;
			return data;
		} finally {
			this.asked.done++;
		}
	}

	async progress(seen: (p: Progress) => boolean): Promise<void> {
		return this.get('progress', (answer) => readProgress(answer, seen));
	}
}
