// SPDX-License-Identifier: Apache-2.0
// run.mjs: drives the viewer in Debian's chromium (CHROMIUM names another) and compares what is on screen with what the program prints.
//
//	node tests/ui/run.mjs BUILD/incore [PATTERN...]
//
// Two tests at a time (JOBS), in one browser, each in contexts of its own; the longest first. Ends with the slowest tests and
// `N passed, N failed, N skipped`. SHOTS=DIR keeps a picture of every page that a test left behind. DELAY=SEED has answers come late and out
// of order.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { CHECKLIST, clean, newPage, open, report, Server, setProgram, truth } from './lib.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const [program, ...patterns] = process.argv.slice(2);
setProgram(program);

/** What a test is handed: servers are shared, pages are its own. */
class Bench {
	pages = [];

	constructor(browser, servers) {
		this.browser = browser;
		this.servers = servers;
	}

	async server(...captures) {
		const key = captures.join(' ');
		if (!this.servers.has(key)) this.servers.set(key, Server.start(...captures));
		return this.servers.get(key);
	}

	/** A fresh page on a capture, or on its report ("report:gemm"); options as for a browser context. */
	async page(captures, options = {}) {
		if (String(captures).startsWith('report:')) return open(await this.blank(options), report(captures.slice(7)));
		const server = await this.server(...[].concat(captures));
		const page = await newPage(this.browser, options);
		this.pages.push(page);
		return open(page, options.link ? `http://127.0.0.1:${server.port}/#token=${server.token}&${options.link}` : server.url);
	}

	/** A page on any address, not waited for. */
	async blank(options = {}) {
		const page = await newPage(this.browser, options);
		this.pages.push(page);
		return page;
	}

	async finish(name, isBad) {
		const bad = [];
		for (const page of this.pages.splice(0)) {
			if (!page.isAllowed) bad.push(...page.bad);
			if (process.env.SHOTS) await page.screenshot({ path: path.join(process.env.SHOTS, `${isBad ? 'FAIL ' : ''}${name.replace(/[^\w]+/g, '-')}.png`) }).catch(() => {});
			await page.context().close();
		}
		truth(bad.length === 0, 'the page complained:\n' + bad.join('\n'));
	}

}

/** No test takes that long, on however busy a machine; one that hangs shall not hold up the others. */
const LIMIT_S = 1800;

function limit(promise) {
	let timer;
	const late = new Promise((_, fail) => (timer = setTimeout(() => fail(new Error(`no end after ${LIMIT_S} s`)), LIMIT_S * 1000)));
	return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function run(bench, test) {
	const started = Date.now();
	let error = null;
	try {
		await limit(test.run(bench));
	} catch (e) {
		error = e;
	}
	await bench.finish(test.name, !!error).catch((e) => (error ??= e));
	const took = (Date.now() - started) / 1000;
	console.log(error ? `FAIL ${test.name} (${took.toFixed(1)} s)\n${error.stack ?? error}` : `ok   ${test.name} (${took.toFixed(1)} s)`);
	return { name: test.name, took, isGood: !error };
}

/** Everything of checklist.json is covered by some test. */
function covered(all) {
	const have = new Set(all.flatMap((t) => t.covers ?? []));
	const want = [...CHECKLIST.panels.map((p) => 'panel:' + p.id), ...Object.keys(CHECKLIST.keys).map((k) => 'key:' + k), ...CHECKLIST.parts.map((p) => 'part:' + p)];
	const missing = want.filter((w) => !have.has(w));
	truth(!missing.length, `no test covers ${missing.join(', ')}`);
}

async function main() {
	const all = [];
	for (const name of readdirSync(here).filter((f) => f.endsWith('.test.mjs')).sort()) all.push(...(await import('./' + name)).tests);
	const wanted = patterns.length ? all.filter((t) => patterns.some((p) => t.name.includes(p))) : all;
	if (!patterns.length) wanted.push({ name: 'checklist: everything is covered', run: () => covered(all) });
	const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
	const servers = new Map(), left = [...wanted].sort((a, b) => (b.isLong ?? 0) - (a.isLong ?? 0)), results = [];
	const work = async () => {
		const bench = new Bench(browser, servers);
		for (let test = left.shift(); test; test = left.shift()) results.push(await run(bench, test));
	};
	await Promise.all(Array.from({ length: Number(process.env.JOBS ?? 2) }, work));
	const passed = results.filter((r) => r.isGood).length;
	let failed = results.length - passed;
	for (const [captures, s] of servers) { // a sanitizer tells at the end what was never given back
		const code = await (await s.catch(() => null))?.stop();
		if (!code) continue;
		failed++;
		console.log(`FAIL the server of ${captures} ended with ${code}:\n${(await s).told()}`);
	}
	await browser.close();
	clean();
	for (const r of results.sort((a, b) => b.took - a.took).slice(0, 10)) console.log(`slow ${r.took.toFixed(1).padStart(7)} s  ${r.name}`);
	console.log(`${passed} passed, ${failed} failed, 0 skipped`);
	return failed;
}

main().then((n) => process.exit(n ? 1 : 0), (e) => {
	console.log(e.stack ?? e);
	console.log('0 passed, 1 failed, 0 skipped');
	process.exit(1);
});
