// SPDX-License-Identifier: Apache-2.0
// core.mjs: asks a report what a page would ask it. usage: node core.mjs REPORT.html OUT_DIR QUESTION...
// Writes OUT_DIR/0, OUT_DIR/1, ...; prints the status of each.
import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

const [page, out, ...questions] = process.argv.slice(2);
const html = readFileSync(page, 'utf8');

function part(id) {
	const m = new RegExp(`<script type="text/plain" id="${id}">([^<]*)</script>`).exec(html);
	if (!m && id === 'incore-columns-1') return null;
	if (!m) throw new Error(`${page} has no ${id}`);
	return gunzipSync(Buffer.from(m[1], 'base64'));
}

const answers = JSON.parse(part('incore-answers').toString('utf8'));
const { instance } = await WebAssembly.instantiate(part('incore-core'), {});
const core = instance.exports;

function give(bytes) {
	const at = core.incore_alloc(bytes.length);
	new Uint8Array(core.memory.buffer, at, bytes.length).set(bytes);
	return at;
}

for (const columns of [part('incore-columns'), part('incore-columns-1')]) {
	const rc = columns ? core.incore_load(give(columns), columns.length) : 0;
	if (rc) throw new Error(`incore_load: ${rc}`);
}
for (const c of [0, 1]) {
	const rows = Buffer.from(answers[`rows?c=${c}`] ?? '');
	if (rows.length && core.incore_compare(c, give(rows), rows.length)) throw new Error(`incore_compare: capture ${c}`);
}
questions.forEach((q, i) => {
	if (q in answers) {
		writeFileSync(`${out}/${i}`, JSON.stringify(answers[q]));
		console.log('200 kept');
		return;
	}
	const words = Buffer.from(q, 'utf8');
	const reply = core.incore_ask(give(words), words.length);
	const [status, kind, at, n] = new Uint32Array(core.memory.buffer, reply, 4);
	writeFileSync(`${out}/${i}`, new Uint8Array(core.memory.buffer.slice(at, at + n)));
	console.log(status, ['json', 'binary', 'text'][kind]);
});
