// SPDX-License-Identifier: Apache-2.0
// source_wasm.ts: the report answers itself. What the verbs say was written into the file; what follows the mouse is computed by the
// same C code, as WebAssembly, over the columns in the file.
import { Query, questionOf, Source, SourceError } from './source';

declare class DecompressionStream {
	constructor(format: 'gzip');
	readonly readable: ReadableStream<Uint8Array>;
	readonly writable: WritableStream<Uint8Array>;
}

interface Core {
	memory: WebAssembly.Memory;
	incore_alloc(bytes: number): number;
	/** one capture after the other */
	incore_load(at: number, bytes: number): number;
	incore_compare(capture: number, at: number, bytes: number): number;
	incore_ask(at: number, bytes: number): number;
}

function fromBase64(text: string): Uint8Array {
	const raw = atob(text.replace(/\s+/g, ''));
	const out = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
	return out;
}

async function inflate(id: string): Promise<ArrayBuffer | null> {
	const e = document.getElementById(id);
	if (!e || !e.textContent) return null;
	const data = fromBase64(e.textContent);
	e.remove();
	return new Response(new Blob([data]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}

/** Bytes into the memory of the core, which takes them. */
function give(core: Core, data: Uint8Array): number {
	const at = core.incore_alloc(data.length);
	if (!at) throw new SourceError(500, 'no-memory', 'not enough memory for this report');
	new Uint8Array(core.memory.buffer, at, data.length).set(data);
	return at;
}

function encoded(value: unknown): ArrayBuffer {
	return new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value)).buffer as ArrayBuffer;
}

export class WasmSource implements Source {
	readonly kind = 'report';
	readonly asked = { requests: 0, done: 0, bytes: 0, byPath: {} as Record<string, number> };

	private constructor(private readonly answers: Record<string, unknown>, private readonly core: Core | null) {}

	/** Opens what the page carries. */
	static async open(): Promise<WasmSource> {
		const answers = await inflate('incore-answers');
		if (!answers) throw new SourceError(404, 'no-data', 'this report carries no data: it was cut or never written to its end');
		const columns = await inflate('incore-columns'), module = await inflate('incore-core'), known = JSON.parse(new TextDecoder().decode(answers)) as Record<string, unknown>;
		let core: Core | null = null;
		if (columns && module) {
			core = (await WebAssembly.instantiate(module, {})).instance.exports as unknown as Core;
			for (const data of [columns, await inflate('incore-columns-1')]) {
				const rc = data ? core.incore_load(give(core, new Uint8Array(data)), data.byteLength) : 0;
				if (rc) throw new SourceError(500, 'damaged', `the columns of this report are damaged (${rc})`);
			}
			for (const c of [0, 1]) {
				const rows = known[`rows?c=${c}`];
				if (typeof rows === 'string') core.incore_compare(c, give(core, new TextEncoder().encode(rows)), rows.length);
			}
		}
		return new WasmSource(known, core);
	}

	async ask(path: string, query: Query = {}): Promise<ArrayBuffer> {
		this.asked.requests++;
		this.asked.done++; // nothing is waited for here
		this.asked.byPath[path] = (this.asked.byPath[path] ?? 0) + 1;
		const question = questionOf(path, { ...query, c: query.c || undefined, h: undefined });
		const kept = this.answers[question] as { schema?: string; error: { code: string; message: string } } | undefined;
		if (kept?.schema === 'incore.error/1') throw new SourceError(422, kept.error.code, kept.error.message);
		const data = kept !== undefined ? encoded(kept) : this.compute(path, question);
		this.asked.bytes += data.byteLength;
		return data;
	}

	private compute(path: string, question: string): ArrayBuffer {
		const core = this.core;
		if (/[?&]k=/.test(question)) throw new SourceError(404, 'not-in-report', 'this report has no figures of that kernel alone; take the scope away to see all, or open the capture with incore view');
		if (!core) throw new SourceError(404, 'not-in-report', `this report has no answer for ${path}`);
		const words = new TextEncoder().encode(question), reply = core.incore_ask(give(core, words), words.length);
		if (!reply) throw new SourceError(500, 'no-memory', 'not enough memory for this answer');
		const [status, , from, length] = new Uint32Array(core.memory.buffer, reply, 4);
		const data = core.memory.buffer.slice(from, from + length);
		if (status === 200) return data;
		let error: { code?: string; message?: string } = {};
		try {
			error = (JSON.parse(new TextDecoder().decode(data)) as { error?: typeof error }).error ?? {};
		} catch { /* the status says enough */ }
		throw new SourceError(status, error.code ?? 'error', error.message ?? `this report has no answer for ${path}`);
	}

	async progress(): Promise<void> { /* all is here already */ }
}
