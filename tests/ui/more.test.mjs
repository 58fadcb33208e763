// SPDX-License-Identifier: Apache-2.0
// Links, units, comparison, counters, scope, bad input, security, accessibility, and the counts that keep the viewer fast.
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { altered, CHECKLIST, count, equal, incore, panel, rows, Server, truth, verb } from './lib.mjs';
import { get, still } from './select.test.mjs';

async function linkRoundTrip(bench) {
	const page = await bench.page('gemm'), server = await bench.server('gemm');
	await page.evaluate(() => {
		const app = window.incore.app();
		app.store.set({ t0: 500, t1: 2500, panel: 'waves', mode: 'bucket', unit: 'us', pins: [1], hidden: [2], query: 's_nop', markers: [{ t: 700, dur: 50, name: 'here', colour: 3 }] });
		app.select({ kind: 'code', code: 13 });
	});
	await page.click('.title-bar button[title*="without the token"]');
	await page.waitForFunction(() => location.hash.includes('&q=') && location.hash.includes('&m='));
	const link = await page.evaluate(() => location.hash);
	truth(!link.includes(server.token), 'the token is in the link');
	const before = await get(page, 'selection');
	const other = await bench.page('gemm', { link: link.slice(1) });
	await other.waitForFunction(() => window.incore.stats().state.selection?.code !== undefined);
	const state = await other.evaluate(() => window.incore.stats().state);
	equal([state.t0, state.t1, state.panel, state.mode, state.unit, state.pins, state.hidden, state.query, state.markers.map((m) => [m.t, m.dur, m.name, m.colour]), state.selection.code],
		[500, 2500, 'waves', 'bucket', 'us', [1], [2], 's_nop', [[700, 50, 'here', 3]], before.code], 'the view of the link');
}

async function wrongHash(bench) {
	const page = await bench.page('gemm', { link: 'v=1&h=00000000000000000000000000000000&p=isa' });
	await page.waitForFunction(() => /another capture|other capture|different|not this/i.test(document.body.innerText));
}

async function unitSwitch(bench) {
	const page = await bench.page('gemm'), d = verb('isa', 'gemm'), mhz = verb('info', 'gemm').clock_mhz;
	await panel(page, 'waves');
	await page.selectOption('.title-bar select[aria-label="Unit"]', 'us');
	const first = (await rows(page, 'Waves'))[0], longest = verb('waves', '--top', 'all', 'gemm').waves[0].duration;
	equal(first.duration, (longest / mhz).toFixed(4), 'microseconds of the longest wave');
	for (const p of ['isa', 'hotspots', 'waits', 'waves']) {
		const host = await panel(page, p);
		truth((await host.locator('.table-head .unit', { hasText: 'µs' }).count()) > 0, `${p} has no column in µs`);
		equal(await host.locator('.table-head .unit', { hasText: 'cycles' }).count(), 0, `${p} still has a column in cycles`);
	}
	await page.selectOption('.title-bar select[aria-label="Unit"]', 'pct');
	await panel(page, 'isa');
	const hot = (await rows(page, 'Instructions')).find((r) => r.row === String(d.hottest_row));
	equal(hot.cycles, hot.share, 'the share of a row is its cycles in % of all');
	const unknown = altered('gemm', 'no-clock', (text, name) => (name === 'realtime.json' ? '{}' : text));
	const other = await bench.page(unknown);
	if (verb('info', unknown).clock_mhz === null) truth(await other.$eval('.title-bar option[value="us"]', (o) => o.disabled), 'µs without a clock');
}

async function survives(bench) {
	const page = await bench.page('gemm');
	await page.evaluate(() => window.incore.app().store.set({ pins: [0], hidden: [3], panel: 'flame', t0: 100, t1: 900 }));
	await page.evaluate(() => new Promise((f) => setTimeout(f, 0)));
	await page.waitForFunction(() => location.hash.includes('pin='));
	await page.reload();
	await page.waitForSelector('.dock .tab');
	equal([await get(page, 'pins'), await get(page, 'hidden'), await get(page, 'panel')], [[0], [3], 'flame'], 'after a reload');
}

async function compareEqual(bench) {
	const captures = ['gemm', altered('gemm', 'gemm-again', (t) => t)];
	const page = await bench.page(captures);
	await panel(page, 'compare');
	await page.waitForSelector('.table[aria-label="Differences, part by part"]');
	for (const r of await rows(page, 'Differences, part by part')) equal([r.a, /^0(\.0+)?$|^-$/.test(r.change.replace(/[▲▼ ]/g, ''))], [r.b, true], `row ${r.key}`);
	for (const r of await rows(page, 'Figures per execution')) equal(r.a, r.b, r.name);
}

async function compareRepeated(bench) {
	const a = 'repeated/ui_output_agent_1000_dispatch_7', b = 'repeated/ui_output_agent_1000_dispatch_9';
	const page = await bench.page([a, b]), d = verb('diff', '--top', 'all', a, b);
	await panel(page, 'compare');
	await page.waitForSelector('.table[aria-label="Differences, part by part"]');
	const got = await rows(page, 'Differences, part by part');
	equal(got.length, d.parts.length, 'parts');
	d.parts.forEach((p, i) => equal([got[i].key, got[i].a, got[i].b, got[i].verdict], [p.key, p.per_hit_a === null ? '-' : count(p.per_hit_a, 2), p.per_hit_b === null ? '-' : count(p.per_hit_b, 2), p.verdict], `part ${i}`));
	await panel(page, 'isa');
	equal(await page.locator('.panel-isa [data-column="diff"]').count(), 0, 'no difference before it is asked for');
	await page.keyboard.press('x');
	await page.waitForSelector('.panel-isa .table-head [data-column="diff"]');
	const listed = new Map((await rows(page, 'Instructions')).map((r) => [r.row, r]));
	for (const p of d.parts.filter((x) => x.row_a !== null)) equal([listed.get(String(p.row_a))['diff-a'], listed.get(String(p.row_a))['diff-b']], [p.per_hit_a, p.per_hit_b].map((v) => (v === null ? '-' : count(v, 2))), `row ${p.row_a} of the listing`);
	for (const p of ['source', 'hotspots']) truth((await (await panel(page, p)).locator('.table-head [data-column="diff"]').count()) > 0, `${p} does not compare`);
	const [worst] = verb('diff', '--by', 'line', '--top', 'all', a, b).parts;
	await panel(page, 'source');
	await page.waitForSelector(`.panel-source .table-row[data-key="${worst.key.split(':').pop()}"]`);
	equal(await page.textContent(`.panel-source .table-row[data-key="${worst.key.split(':').pop()}"] [data-column="diff-b"]`), count(worst.per_hit_b, 2), 'the line that changed most');
	await panel(page, 'compare');
	await page.waitForSelector('.table[aria-label="Differences, part by part"]');
	for (const by of ['class', 'cause']) {
		await page.selectOption('.panel-compare select[aria-label="By"]', by);
		await page.waitForFunction((n) => document.querySelector(`.panel-compare [data-column="key"] .sort`)?.textContent.startsWith(n), by);
	}
}

async function counters(bench) {
	const page = await bench.page('v31');
	await panel(page, 'counters');
	const server = await bench.server('v31');
	const ask = async (d) => (await (await fetch(`http://127.0.0.1:${server.port}/api/1/derived?w=512${d ? '&d=' + encodeURIComponent(d.replaceAll('\n', ';')) : ''}`, { headers: { Authorization: 'Bearer ' + server.token } })).json()).data;
	const plain = await ask('');
	const items = await page.$$eval('.counter-item:not(.off)', (all) => all.map((i) => i.textContent.trim()));
	equal(items, [...plain.definitions.filter((x) => !x.hidden && !x.error).map((x) => x.name), ...plain.counters.map((c) => c.name)], 'counters');
	const write = async (text) => {
		await page.fill('.editor', text);
		const d = await ask(text), own = d.definitions.filter((x) => !x.default);
		for (const x of own.filter((y) => y.error)) await page.waitForFunction((m) => document.querySelector('.errors')?.textContent.includes(m), x.error.message);
		return own;
	};
	const [good] = await write('twice := sum[BUSY_CU_CYCLES, axis=[SE,CU]] * 2\n');
	truth(!good.error && good.max > 0, 'an expression has values');
	await page.waitForSelector('.counter-plot[data-counter="twice"]');
	const label = await page.getAttribute('.counter-plot[data-counter="twice"] canvas', 'aria-label');
	truth(label.startsWith('twice'), `plot says ${label}`);
	for (const [text, code] of [['a := 1 +', 'syntax'], ['a := b\nb := a', 'cycle'], ['a := NO_SUCH_COUNTER', 'missing']]) {
		const [bad] = await write(text);
		equal(bad.error.code, code, text);
		equal(await page.getAttribute('.errors .error', 'data-code'), code, `shown for ${text}`);
	}
	await page.fill('.editor', '');
	const none = await bench.page('gemm');
	await panel(none, 'counters');
	truth(/No counters/.test(await none.innerText('.panel-counters')), 'no counters: says so');
	const report = await bench.page('report:v31');
	await panel(report, 'counters');
	equal(await report.locator('.editor').count(), 0, 'the report has no editor');
	truth((await report.locator('.counter-plot').count()) > 0, 'the report shows counters');
}

async function scope(bench) {
	const page = await bench.page('v31');
	await panel(page, 'dispatches');
	await page.locator('.table[aria-label="Kernels"] .table-row [data-column="name"]').first().click();
	truth((await get(page, 'scope')) !== null, 'a kernel is the scope');
	await page.waitForFunction(() => /add_one/.test(document.querySelector('.scope-line')?.textContent ?? ''));
	await panel(page, 'waves');
	equal((await rows(page, 'Waves')).length, verb('waves', '--top', 'all', '--kernel', '^add_one$', 'v31').waves.length, 'waves of the scope');
}

async function gone(bench) {
	const server = await Server.start('two_waves'), page = await bench.blank();
	await page.goto(server.url);
	await page.waitForSelector('.dock .tab');
	await still(page);
	await server.stop();
	await page.click('.tab[data-panel="occupancy"]');
	await page.waitForSelector('.gone');
	truth(/does not answer/.test(await page.innerText('.gone')) && (await page.locator('.gone button').count()) === 1, 'the page says so and offers to retry');
	truth((await page.locator('.lanes-stage canvas').count()) > 0, 'the picture stays');
	page.isAllowed = true;
}

function ask(port, { method = 'GET', path: p = '/api/1/trace', headers = {} }) {
	return new Promise((resolve, reject) => {
		const r = http.request({ host: '127.0.0.1', port, method, path: p, headers }, (answer) => {
			let text = '';
			answer.on('data', (d) => (text += d));
			answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, text }));
		});
		r.on('error', reject);
		r.end();
	});
}

async function security(bench) {
	const server = await bench.server('gemm'), bearer = { Authorization: 'Bearer ' + server.token }, { port } = server;
	const status = async (o) => (await ask(port, o)).status;
	equal(await status({}), 401, 'no token');
	equal(await status({ headers: { Authorization: 'Bearer ' + '0'.repeat(32) } }), 401, 'wrong token');
	equal(await status({ headers: { ...bearer, Host: 'evil.example' } }), 403, 'foreign host');
	equal(await status({ headers: { ...bearer, Origin: 'http://evil.example' } }), 403, 'foreign origin');
	equal(await status({ headers: bearer, method: 'POST' }), 405, 'POST');
	equal(await status({ headers: bearer }), 200, 'as it should be');
	for (const p of ['/api/1/tile?tracks=0-99999999&level=0&i=0', '/api/1/slices?track=-1&t0=0&t1=1', '/api/1/source?file=../../etc/passwd', '/api/1/tile?tracks=a-b&level=999&i=0', '/api/1/hot?by=%3Cscript%3E'])
		equal(await status({ headers: bearer, path: p }), 400, p);
	for (const p of ['/../../../etc/passwd', '/etc/passwd', '/api/1/nothing', '/%2e%2e/%2e%2e/etc/passwd']) truth([400, 404].includes(await status({ headers: bearer, path: p })), p);
	const page = await ask(port, { path: '/' });
	equal([page.status, page.headers['x-content-type-options'], page.headers['referrer-policy']], [200, 'nosniff', 'no-referrer'], 'headers of the page');
	truth(/default-src 'self'/.test(page.headers['content-security-policy'] ?? ''), 'content policy');
	const report = readFileSync(new URL(await (async () => { const p = await bench.page('report:gemm'); return p.url(); })()), 'utf8');
	truth(/http-equiv="Content-Security-Policy"/i.test(report) && /default-src 'none'/.test(report), 'content policy of the report');
}

async function accessible(bench) {
	const page = await bench.page('gemm');
	const wrong = await page.evaluate(() => {
		const out = [], seen = (e) => e.getClientRects().length > 0;
		for (const b of document.querySelectorAll('button, a[href], input, select, textarea, canvas[tabindex], [role=grid]')) {
			if (!seen(b)) continue;
			const name = b.getAttribute('aria-label') || b.textContent.trim() || b.title || b.labels?.[0]?.textContent;
			if (!name) out.push('no name: ' + b.outerHTML.slice(0, 120));
		}
		for (const i of document.querySelectorAll('[id]')) if (document.querySelectorAll('#' + CSS.escape(i.id)).length > 1) out.push('id twice: ' + i.id);
		if (!document.documentElement.lang) out.push('no lang');
		for (const role of ['banner', 'main']) void role;
		if (!document.querySelector('[aria-live], [role=status]')) out.push('no live region');
		return out;
	});
	equal(wrong, [], 'names');
	const seen = new Set();
	for (let i = 0; i < 60; i++) {
		await page.keyboard.press('Tab');
		seen.add(await page.evaluate(() => { const e = document.activeElement; return e.closest('.title-bar, .banner, .explorer, .timeline, .inspector, .dock')?.className.split(' ')[0] ?? e.tagName; }));
	}
	for (const part of ['title-bar', 'explorer', 'timeline', 'dock']) truth(seen.has(part), `Tab never reaches ${part}: ${[...seen]}`);
}

function luminance([r, g, b]) {
	const f = (v) => { const c = v / 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
	return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b);
}

/** Text of every panel against what lies behind it, in three themes. */
async function contrasts(bench) {
	const page = await bench.page('gemm');
	for (const theme of ['light', 'dark', 'contrast']) {
		await page.selectOption('.title-bar select[aria-label="Theme"]', theme);
		for (const p of ['isa', 'summary', 'hotspots', 'occupancy']) {
			await panel(page, p);
			const found = await page.evaluate(() => {
				const parse = (c) => (c.match(/[\d.]+/g) ?? []).map(Number), out = [], done = new Set();
				for (const e of document.querySelectorAll('body *')) {
					if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) || !e.getClientRects().length || e.closest('svg')) continue;
					const style = getComputedStyle(e), colour = parse(style.color);
					let back = null, opacity = 1;
					for (let n = e; n; n = n.parentElement) {
						const s = getComputedStyle(n), c = parse(s.backgroundColor);
						opacity *= Number(s.opacity);
						if (!back && c.length >= 3 && (c[3] ?? 1) === 1) back = c;
					}
					const key = [style.color, back, e.className].join();
					if (done.has(key) || opacity < 0.99 || !back || e.closest('[disabled], .off, .never')) continue;
					done.add(key);
					out.push({ colour: colour.slice(0, 3), back: back.slice(0, 3), text: e.textContent.slice(0, 40), look: String(e.className) });
				}
				return out;
			});
			for (const f of found) {
				const [a, b] = [luminance(f.colour), luminance(f.back)], ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
				truth(ratio >= 4.5, `${theme}, ${p}: "${f.text}" (${f.look}) has a contrast of ${ratio.toFixed(2)}`);
			}
		}
	}
}

async function small(bench) {
	for (const [width, height] of [[640, 400], [320, 640]]) {
		const page = await bench.page('gemm', { viewport: { width, height } });
		await panel(page, 'summary');
		const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
		truth(over <= 0, `${width} pixels: ${over} too wide`);
	}
}

async function reportAlone(bench) {
	const page = await bench.blank({ javaScriptEnabled: false }), d = verb('summary', 'gemm');
	await page.goto(await (async () => { const p = await bench.page('report:gemm'); return p.url(); })());
	const text = await page.innerText('body');
	truth(text.includes(d.verdict.slice(0, 60)), 'the verdict is readable without script');
	for (const b of ['issue', 'wait', 'drain']) truth(text.includes(count(d.accounting[b])), `${b} is readable without script`);
	const simulated = await bench.page('report:ascend_matmul');
	truth(/simulator/.test(await simulated.innerText('body')), 'the report says what kind of evidence it is');
	const a = incore('report', '-q', '--format', 'html', '-o', '-', 'gemm'), b = incore('report', '-q', '--format', 'html', '-o', '-', 'gemm');
	truth(a === b, 'the same capture gives the same bytes');
}

export const tests = [
	{ name: 'state: a link restores the view, without the token', run: linkRoundTrip },
	{ name: 'state: a link to another capture is told', run: wrongHash },
	{ name: 'state: units change all panels', run: unitSwitch },
	{ name: 'state: pins and panel survive a reload', run: survives },
	{ name: 'compare: equal captures differ by nothing', run: compareEqual },
	{ name: 'compare: parts equal incore diff', run: compareRepeated },
	{ name: 'counters: derived expressions and their errors', run: counters },
	{ name: 'dispatches: the scope narrows other panels', run: scope },
	{ name: 'bad input: the server is gone', run: gone },
	{ name: 'security: token, host, origin, methods, paths, headers', run: security },
	{ name: 'accessibility: names, focus order, live region', run: accessible },
	{ name: 'accessibility: contrast in three themes', run: contrasts },
	{ name: 'accessibility: 200 % zoom and 320 pixels', run: small },
	{ name: 'report: readable without script, the same bytes each time', run: reportAlone, covers: ['part:report'] },
];
