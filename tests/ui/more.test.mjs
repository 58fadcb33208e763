// SPDX-License-Identifier: Apache-2.0
// Links, units, comparison, counters, scope, bad input, security, accessibility, and the counts that keep the viewer fast.
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { altered, CHECKLIST, count, equal, incore, panel, report, rows, Server, truth, verb } from './lib.mjs';
import { openTab } from './panels.mjs';
import { get, still } from './select.test.mjs';

/** Another page on the same capture, at a link. */
async function linked(bench, kind, link) {
	if (!kind) return bench.page('gemm', { link });
	const page = await bench.blank();
	await page.goto(report('gemm') + '#' + link);
	await page.waitForSelector('.dock .tab');
	return page;
}

const VIEW = { t0: 500, t1: 2500, panel: 'waves', mode: 'bucket', unit: 'us', arrows: 'visible', sort: 'duration', isMerged: false, pins: [1], hidden: [2], order: [3, 0], query: 's_nop', scope: 1, markers: [{ t: 700, dur: 50, colour: 3, name: 'here & <there>' }] };
const kept = (page) => page.evaluate((keys) => Object.fromEntries(keys.map((k) => [k, window.incore.stats().state[k]])), Object.keys(VIEW));

async function linkRoundTrip(bench, kind) {
	const page = await bench.page(kind + 'gemm');
	for (const [selection, told] of [[{ kind: 'code', code: 13 }, ['code', 13]], [{ kind: 'slice', track: 1, slice: 5 }, ['slice', 5]]]) {
		await page.evaluate(([v, sel]) => {
			window.incore.app().store.set(v);
			window.incore.app().select(sel);
		}, [VIEW, selection]);
		await page.click('.title-bar button:has-text("Share")');
		await page.click('.menu button:has-text("Copy a link")');
		await page.waitForFunction((word) => location.hash.includes('&q=') && location.hash.includes('&m=') && location.hash.includes(word), selection.kind === 'code' ? '&r=' : '&s=');
		const link = await page.evaluate(() => location.hash);
		if (!kind) truth(!link.includes((await bench.server('gemm')).token) && !/token/.test(link), 'the token is in the link');
		const other = await linked(bench, kind, link.slice(1));
		await other.waitForFunction((key) => window.incore.stats().state.selection?.[key] !== undefined, told[0]);
		equal([await kept(other), await get(other, 'selection.' + told[0])], [VIEW, told[1]], 'the view of the link');
	}
	const odd = await linked(bench, kind, 'v=1&unknown=1&p=no-such-panel&t=x,y&s=9999.1&r=99999&c=none&pin=-4,z&m=::~&lanes=a&t=900,100');
	equal(await odd.locator('.dock .tab').count() > 10, true, 'a damaged link opens the capture all the same');
}

async function wrongHash(bench, kind) {
	const page = await linked(bench, kind, 'v=1&h=00000000000000000000000000000000&p=flame&t=7,9');
	await page.waitForFunction(() => /This link was made for another capture/.test(document.querySelector('.sr-only[aria-live]')?.textContent ?? ''));
	truth((await get(page, 't1')) > 1000, 'the view of another capture is not restored');
}

async function unitSwitch(bench, kind) {
	const page = await bench.page(kind + 'gemm'), d = verb('isa', 'gemm'), mhz = verb('info', 'gemm').clock_mhz;
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
	for (const unit of kind ? [] : ['us', 'pct']) {
		await page.selectOption('.title-bar select[aria-label="Unit"]', unit);
		for (const p of CHECKLIST.panels.filter((x) => !x.only && !['counters', 'dispatches'].includes(x.id))) {
			const host = await page.evaluateHandle(openTab, p.id), units = await host.evaluate((e) => [...e.querySelectorAll('.table-head .unit')].map((u) => u.textContent));
			const others = { us: /^cycles$|% of scope/, pct: /^cycles$|µs/ }[unit];
			equal(units.filter((u) => others.test(u)), [], `columns of ${p.id} in another unit than ${unit}`);
		}
	}
	const unknown = altered('two_waves', 'no-clock', (text, name) => (name === 'realtime.json' ? '{}' : text)), other = await bench.page(kind + unknown);
	equal([verb('info', unknown).clock_mhz, await other.$eval('.title-bar option[value="us"]', (o) => o.disabled)], [null, true], 'no µs without a clock');
	await other.evaluate(() => window.incore.app().store.set({ unit: 'us' }));
	truth((await other.evaluate(() => window.incore.app().units().unit)) === 'cyc', 'figures stay in cycles');
}

async function survives(bench, kind) {
	const page = await bench.page(kind + 'gemm');
	await page.evaluate((v) => window.incore.app().store.set(v), VIEW);
	await page.waitForFunction(() => location.hash.includes('pin=') && location.hash.includes('lanes='));
	await page.reload();
	await page.waitForSelector('.dock .tab');
	equal(await kept(page), VIEW, 'after a reload');
	const rows = await page.evaluate(() => window.incore.pane().view.layout.rows.filter((r) => r.lane).map((r) => [r.lane.id, !!r.lane.isPinned]));
	truth(rows[0][0] === 1 && rows[0][1] && !rows.some(([id]) => id === 2), `lanes after a reload: ${JSON.stringify(rows)}`);
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
	for (const origin of ['null', `https://127.0.0.1:${port}`, `http://127.0.0.1:${port + 1}`]) equal(await status({ headers: { ...bearer, Origin: origin } }), 403, `origin ${origin}`);
	equal(await status({ headers: { ...bearer, Origin: `http://127.0.0.1:${port}` } }), 200, 'its own origin');
	for (const host of [`127.0.0.1:${port}0000`, '127.0.0.1:0', '127.0.0.1:', '127.0.0.1', `127.0.0.1:+${port}`, `127.0.0.1.evil.example:${port}`, `evil.example:${port}`]) equal(await status({ headers: { ...bearer, Host: host } }), 403, `host ${host}`);
	for (const host of [`localhost:${port}`, '127.0.0.1:8080', 'localhost:1']) equal(await status({ headers: { ...bearer, Host: host, Origin: `http://${host}` } }), 200, `${host}, as through ssh -L`);
	equal(await status({ headers: { ...bearer, Host: '127.0.0.1:8080', Origin: `http://127.0.0.1:${port}` } }), 403, 'another page of this machine');
	for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) equal(await status({ headers: bearer, method }), 405, method);
	equal(await status({ headers: bearer, method: 'HEAD' }), 200, 'HEAD');
	equal(await status({ path: `/api/1/trace?token=${server.token}` }), 401, 'a token in the address is none');
	equal(await status({ headers: { Authorization: 'Bearer ' + server.token.slice(0, -1) } }), 401, 'a part of the token');
	for (const name of ['info', 'check', 'tile?tracks=0-1&level=2&i=0', 'source?file=0', 'progress']) equal(await status({ path: '/api/1/' + name }), 401, `${name} without the token`);
	for (const [name, words] of [['a long address', '/api/1/find?q=' + 'a'.repeat(5000)], ['many keys', '/api/1/trace?' + Array.from({ length: 60 }, (_, i) => `k${i}=1`).join('&')], ['a key twice', '/api/1/slices?track=0&track=1&t0=0&t1=9'], ['a bad escape', '/api/1/find?q=%zz'], ['a zero', '/api/1/find?q=%00'], ['a huge number', '/api/1/slices?track=99999999999999999999&t0=0&t1=1'], ['no number', '/api/1/at?track=&t=']]) {
		const answer = await ask(port, { headers: bearer, path: words });
		truth([400, 414].includes(answer.status) && (answer.status === 414 || JSON.parse(answer.text).error.message.length > 5), `${name}: ${answer.status} ${answer.text.slice(0, 100)}`);
	}
	equal(await status({ headers: bearer }), 200, 'as it should be');
	for (const p of ['/api/1/tile?tracks=0-99999999&level=0&i=0', '/api/1/slices?track=-1&t0=0&t1=1', '/api/1/source?file=../../etc/passwd', '/api/1/tile?tracks=a-b&level=999&i=0', '/api/1/hot?by=%3Cscript%3E'])
		equal(await status({ headers: bearer, path: p }), 400, p);
	for (const p of ['/../../../etc/passwd', '/etc/passwd', '/api/1/nothing', '/%2e%2e/%2e%2e/etc/passwd']) truth([400, 404].includes(await status({ headers: bearer, path: p })), p);
	const page = await ask(port, { path: '/' });
	equal([page.status, page.headers['x-content-type-options'], page.headers['referrer-policy']], [200, 'nosniff', 'no-referrer'], 'headers of the page');
	truth(/default-src 'self'/.test(page.headers['content-security-policy'] ?? '') && !/unsafe-inline|unsafe-eval'|\*/.test(page.headers['content-security-policy'].replace("'wasm-unsafe-eval'", '')), `content policy: ${page.headers['content-security-policy']}`);
	equal(page.headers['cross-origin-resource-policy'], 'same-origin', 'resource policy');
	const data = await ask(port, { headers: bearer });
	truth(!data.text.includes(server.token) && !page.text.includes(server.token), 'the token is in no answer');
	equal([data.headers['x-content-type-options'], data.headers['access-control-allow-origin']], ['nosniff', undefined], 'headers of data');
	const text = readFileSync(new URL(report('gemm')), 'utf8');
	truth(/http-equiv="Content-Security-Policy"/i.test(text) && /default-src 'none'/.test(text), 'content policy of the report');
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
	...['', 'report:'].flatMap((kind) => [['a link restores the view, without the token', linkRoundTrip], ['a link to another capture is told', wrongHash], ['units change all panels', unitSwitch], ['pins, hides, markers and order survive a reload', survives]]
		.map(([name, run]) => ({ name: `state${kind && ', report'}: ${name}`, run: (b) => run(b, kind) }))),
	{ name: 'compare: equal captures differ by nothing', run: compareEqual },
	{ name: 'compare: parts equal incore diff', run: compareRepeated },
	{ name: 'counters: derived expressions and their errors', run: counters },
	{ name: 'dispatches: the scope narrows other panels', run: scope },
	{ name: 'bad input: the server is gone', run: gone },
	{ name: 'security: token, host, origin, methods, paths, headers', run: security },
	{ name: 'report: readable without script, the same bytes each time', run: reportAlone, covers: ['part:report'] },
];
