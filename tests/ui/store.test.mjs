// SPDX-License-Identifier: Apache-2.0
// The page of a store: what a person sees is what `incore store ... --json` says: texts, where changes stand in the picture, what is copied. The store
// has three nights of two kernels, taken on a GPU: one got slower, the other slower and mended.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { contrastProblems, tree } from './access.test.mjs';
import { comes, count, DATA, equal, incore, programFile, quiet, ROOT, rows, scratch, truth } from './lib.mjs';

const NIGHTS = path.join(DATA, 'h200', 'nightly');

/** A store of the captures in a folder; the same one twice is made once. */
function nights(label, folder = NIGHTS) {
	const file = path.join(scratch, label + '.store');
	if (existsSync(file)) return file;
	for (const [i, r] of ['r1', 'r2', 'r3'].entries())
		for (const kernel of ['polynomial', 'turn'])
			incore('store', 'add', '-q', '--store', file, '-r', r, '-l', `device=${kernel === 'turn' ? 1 : 0}`, '-l', 'size=2048', '--at', `2026-11-0${i + 1}T02:00:00Z`, ...readdirSync(folder).filter((f) => f.startsWith(`${kernel}.${r}.`)).sort().map((f) => path.join(folder, f)));
	return file;
}

function many(label, captures, series, ...kernel) {
	const file = path.join(scratch, label + '.store');
	if (!existsSync(file)) execFileSync('python3', [path.join(ROOT, 'tests', 'store', 'many.py'), programFile(), path.join(DATA, 'two_waves'), file, String(captures), String(series), ...kernel]);
	return file;
}

/** `data` of `incore store VERB --json`; status 1 is an answer, too. */
function told(file, verb, ...words) {
	try {
		return JSON.parse(incore('store', verb, '--json', '-q', '--store', file, ...words)).data;
	} catch (e) {
		if (e.status !== 1) throw e;
		return JSON.parse(e.stdout).data;
	}
}

/** The kernels, where the link does not say what; '' in place of it: as the page chooses. */
async function open(bench, file, link = 'tab=kernels', options = {}) {
	const server = await bench.server('--store', file), page = await bench.blank({ viewport: { width: 1280, height: 720 }, ...options });
	await page.goto(`http://127.0.0.1:${server.port}/#token=${server.token}${link && '&' + link}${link && !link.includes('tab=') ? '&tab=kernels' : ''}`);
	await page.waitForFunction(() => document.body.dataset.ready);
	await quiet(page);
	return page;
}

const percent = (v) => (v === null ? '-' : `${v > 0 ? '+' : ''}${v.toFixed(2)} %`);
const minute = (t) => t.slice(0, 16).replace('T', ' ');
const KINDS = { new: '▲ new', standing: '▲ standing', accepted: '△ accepted', over: '✓ over' };
const stateOf = (r) => `${r.state}${r.is_same_code ? '' : ', other code'}`;
const SIGNS = { worse: '▲ worse', standing: '▲ standing', accepted: '△ accepted', better: '▼ better', passed: '✓ passed', 'no-claim': '· no claim' };

/** What the gate says a kernel costs. */
function cost(gate, series) {
	const all = gate.regressions.filter((r) => r.kernel === series.kernel && r.labels === series.labels && ['new', 'standing'].includes(r.kind)).map((r) => r.cost);
	return all.length ? count(Math.max(...all)) : '-';
}

/** Chooses the kernel whose name begins so. */
async function choose(page, kernel) {
	await page.locator('.table[aria-label="Kernels"] .table-row', { hasText: kernel }).click();
	await page.waitForFunction((k) => document.querySelector('.detail-head h2')?.textContent.startsWith(k), kernel);
	await quiet(page);
}

async function kernels(bench) {
	const file = nights('nights'), page = await open(bench, file), gate = told(file, 'gate'), histories = told(file, 'history').series;
	const want = gate.series.map((g) => {
		const h = histories.find((x) => x.kernel === g.kernel), last = h.points[h.points.length - 1], change = h.changes[h.changes.length - 1];
		return { verdict: SIGNS[g.verdict], kernel: g.kernel, labels: g.labels, arch: g.arch, evidence: g.evidence, value: count(last.value), change: percent(g.change_pct), cost: cost(gate, g), spark: '', last: `${percent(change.change_pct)} ${change.time.slice(0, 10)}`, time: last.time.slice(0, 10), revision: g.revision, by: g.change_pct };
	}).sort((a, b) => (a.cost === '-') - (b.cost === '-') || b.by - a.by).map(({ by, ...rest }) => (void by, rest));
	equal(await rows(page, 'Kernels'), want, 'the kernels');
	equal(await page.$$eval('.spark', (all) => all.map((s) => s.querySelector('path').getAttribute('d').match(/[ML]/g).length)), [8, 8], 'captures in the small pictures');
	truth((await page.textContent('.banner')).includes('Gate failed: 1 kernel is worse since earlier captures, of 2'), 'the gate is told');
	equal(await page.textContent('.title-bar h1'), 'nights.store', 'the title');
}

async function failing(bench) {
	const file = path.join(scratch, 'failing.store');
	if (!existsSync(file)) for (const f of ['turn.r1.0', 'turn.r1.1', 'turn.r1.2', 'turn.r1.3', 'turn.r2.0']) incore('store', 'add', '-q', '--store', file, '-r', f.split('.')[1], path.join(NIGHTS, f + '.incore'));
	const page = await open(bench, file), gate = told(file, 'gate');
	equal([gate.is_passed, gate.worse], [false, 1], 'this store fails its gate');
	truth((await page.textContent('.banner')).includes('Gate failed: 1 kernel is newly worse, of 1'), 'a gate that failed is told');
	equal((await rows(page, 'Kernels')).map((r) => [r.verdict, r.change]), [['▲ worse', percent(gate.series[0].change_pct)]], 'its verdict');
	truth(await page.$eval('.flag', (e) => e.classList.contains('unconfirmed')), 'one capture alone does not confirm it');
}

async function regressions(bench) {
	const file = nights('nights'), page = await open(bench, file);
	const want = (...more) => told(file, 'regressions', ...more).regressions.map((r) => ({ kind: KINDS[r.kind], cost: r.kind === 'over' ? '-' : count(r.cost), time: minute(r.time), change: percent(r.change_pct), kernel: r.kernel, labels: r.labels, arch: r.arch, evidence: r.evidence, before: count(r.before), after: count(r.after), state: stateOf(r), revision: r.revision, capture: String(r.capture) }));
	await page.keyboard.press('2');
	await page.waitForSelector('.table[aria-label="Regressions"]');
	equal(await rows(page, 'Regressions'), want(), 'what got worse');
	await page.click('.list-tools input[type=checkbox]');
	await comes(async () => (await page.textContent('[data-tab=worse]')) === 'Regressions (2)');
	await quiet(page);
	equal(await rows(page, 'Regressions'), want('--all'), 'also those that are no more');
	await page.locator('.table[aria-label="Regressions"] .table-row', { hasText: 'polynomial' }).click();
	await page.waitForFunction(() => document.querySelector('.detail-head h2').textContent.startsWith('polynomial'));
	const r = want('--all').find((x) => x.kernel.startsWith('polynomial'));
	equal(await page.getAttribute('.flag.chosen', 'data-capture'), r.capture, 'its change is chosen');
	truth(page.url().includes('tab=worse') && page.url().includes(`c=${r.capture}`) && !page.url().includes('token'), `it stands in the address: ${page.url()}`);
	await page.goBack();
	await page.waitForFunction(() => !location.hash.includes('c='));
}

/** Six nights after it got worse: the page opens with what is worse, what costs most first; what is accepted says who, when and why. */
async function standing(bench) {
	const file = path.join(scratch, 'standing.store'), add = (...words) => incore('store', 'add', '-q', '--store', file, ...words), files = (...names) => names.map((f) => path.join(NIGHTS, f + '.incore'));
	if (!existsSync(file)) {
		add('-r', 'r1', '--at', '@1', ...[0, 1, 2, 3].flatMap((i) => files(`turn.r1.${i}`, `polynomial.r1.${i}`)));
		for (const n of [2, 3, 4]) add('-r', `s${n}`, '--at', `@${n}`, ...files('turn.r2.0', 'turn.r2.1', 'polynomial.r2.0', 'polynomial.r2.1'));
	}
	const page = await open(bench, file, ''), told2 = told(file, 'regressions').regressions;
	equal(await page.getAttribute('[data-tab=worse]', 'aria-selected'), 'true', 'it opens with what is worse');
	truth((await page.textContent('.banner')).includes('Gate failed: 2 kernels are worse since earlier captures, of 2') && (await page.$eval('.banner', (e) => e.classList.contains('bad'))), `the gate fails: ${await page.textContent('.banner')}`);
	const seen = await rows(page, 'Regressions');
	equal(seen.map((r) => [r.kind, r.cost, r.kernel]), told2.map((r) => [KINDS[r.kind], count(r.cost), r.kernel]), 'what costs most first');
	truth(told2[0].cost > told2[1].cost && told2[0].kernel.startsWith('polynomial'), 'by its cost');
	truth((await page.textContent('.detail-head h2')).startsWith('polynomial'), 'the history of the first is shown');
	incore('store', 'accept', '-q', '--store', file, '--because', 'known <b>& wanted', '--by', 'ann', '--at', '2026-11-08', 'polynomial');
	await page.keyboard.press('r');
	await comes(async () => (await page.textContent('.banner')).includes('1 kernel is worse'));
	await quiet(page);
	const now = await rows(page, 'Regressions'), words = 'accepted 2026-11-08 00:00 by ann, cycles up to 8,270,032,896 of capture 20: known <b>& wanted';
	equal(now.map((r) => r.kind), [KINDS.standing, KINDS.accepted], 'what is accepted stands behind');
	truth(now[1].state.endsWith(words), `who, when and why: ${now[1].state}`);
	equal(await page.textContent('.detail-head .accepted'), words, 'with its history, too');
	incore('store', 'accept', '-q', '--store', file, '--because', 'too', 'turn');
	await page.keyboard.press('r');
	await comes(async () => (await page.textContent('.banner')).includes('Gate passed: no kernel is worse than its noise allows, 2 kernels are accepted as worse'));
	truth(await page.$eval('.banner', (e) => e.classList.contains('ok')), 'and passes');
}

/** The picture against the figures: all marks lie on one scale each way, and it is that of the figures. */
async function picture(bench, link, kernel, size) {
	const file = nights('nights'), page = await open(bench, file, link, { viewport: size });
	await choose(page, kernel);
	const x = told(file, 'history', '-k', '^' + kernel).series[0];
	const seen = await page.evaluate(() => {
		const at = (e) => ({ x: Number(e.getAttribute('cx')), y: Number(e.getAttribute('cy')), capture: Number(e.dataset.capture) }), box = document.querySelector('.chart').getBoundingClientRect();
		return {
			dots: [...document.querySelectorAll('.chart .dot')].map(at), width: box.width, flags: [...document.querySelectorAll('.flag')].map((e) => ({ x: e.getBoundingClientRect().left - box.left + parseFloat(getComputedStyle(e).borderLeftWidth) / 2, capture: Number(e.dataset.capture), text: e.textContent, is: e.classList.contains('worse') })),
			bands: [...document.querySelectorAll('.band')].map((e) => ({ index: Number(e.dataset.index), y: Number(e.getAttribute('y')), height: Number(e.getAttribute('height')) })),
			inside: [...document.querySelectorAll('.flag span')].every((e) => e.getBoundingClientRect().right <= box.right + 1 && e.getBoundingClientRect().left >= box.left - 1),
		};
	});
	equal(seen.dots.map((d) => d.capture), x.points.map((p) => p.capture), 'a dot a capture, in the order of time');
	const [a, b] = [seen.dots[0], seen.dots[seen.dots.length - 1]], low = x.points.reduce((m, p) => (p.value < m.value ? p : m)), high = x.points.reduce((m, p) => (p.value > m.value ? p : m));
	const dotOf = (capture) => seen.dots.find((d) => d.capture === capture), xOf = (i) => a.x + (i / (x.points.length - 1)) * (b.x - a.x);
	const yOf = (v) => dotOf(low.capture).y + ((v - low.value) / (high.value - low.value)) * (dotOf(high.capture).y - dotOf(low.capture).y);
	truth(a.x > 60 && b.x > seen.width - 40 && b.x < seen.width && dotOf(low.capture).y - dotOf(high.capture).y > 60, `the picture fills its room: ${JSON.stringify([a, b, seen.width])}`);
	for (const p of x.points) truth(Math.abs(dotOf(p.capture).x - xOf(p.index)) < 0.6 && Math.abs(dotOf(p.capture).y - yOf(p.value)) < 0.6, `capture ${p.capture} stands elsewhere`);
	equal(seen.flags.map((f) => [f.capture, f.text, f.is]), x.changes.map((c) => [c.capture, `${c.change > 0 ? '▲' : '▼'} ${percent(c.change_pct)}`, c.change > 0]), 'the changes');
	for (const [i, c] of x.changes.entries()) truth(Math.abs(seen.flags[i].x - xOf(c.index)) < 1, `the change at ${c.capture} stands at ${seen.flags[i].x}, not at ${xOf(c.index)}`);
	equal(seen.bands.map((l) => l.index), x.levels.map((l) => l.index), 'a band a level');
	for (const [i, l] of x.levels.entries()) truth(Math.abs(seen.bands[i].y - yOf(l.level + l.limit)) < 1 && Math.abs(seen.bands[i].height - Math.max(1, yOf(l.level - l.limit) - yOf(l.level + l.limit))) < 1, `the band of level ${i}`);
	truth(seen.inside, 'words of changes are cut');
	truth((await page.textContent('.detail-head')).includes(`${x.figure} of ${x.captures} captures, noise ${x.noise_pct.toFixed(2)} %`) && (await page.textContent('.detail-head .evidence')) === x.evidence, 'the head of the history');
	truth((await page.getAttribute('.chart svg', 'aria-label')).includes(percent(x.changes[0].change_pct)), 'the picture in words');
}

async function movers(bench) {
	const file = nights('nights'), page = await open(bench, file, 'tab=kernels', { permissions: ['clipboard-read', 'clipboard-write'] }), x = told(file, 'history', '-k', '^turn', '--movers', '12').series[0], c = x.changes[0];
	await choose(page, 'turn');
	const want = c.movers.map((m) => ({ change: (m.change > 0 ? '+' : '') + count(m.change), cause: m.cause, isa: m.isa ?? '(no instruction)', waits: m.waits_for ?? '', line: (m.line ?? '').replace(/^.*\//, '') }));
	equal(await rows(page, 'Instructions that moved'), want, 'which instructions moved');
	const head = await page.textContent('.side-head');
	for (const words of [`${count(c.before)} → ${count(c.after)} cycles, ${x.evidence}`, `revision ${c.revision}`, c.state, 'other code', percent(c.change_pct)]) truth(head.includes(words), `"${words}" is not in "${head}"`);
	equal(await page.textContent('.files .command'), c.command, 'the command');
	await page.click('.files .button');
	await comes(async () => (await page.evaluate(() => navigator.clipboard.readText())) === c.command);
	equal(await page.evaluate(() => navigator.clipboard.readText()), c.command, 'what is copied');
	await page.focus('.table[aria-label="Instructions that moved"]');
	await page.keyboard.press('Home');
	await page.keyboard.press('Control+c');
	const row = `${c.movers[0].change > 0 ? '+' : ''}${c.movers[0].change}\t${c.movers[0].cause}\t${want[0].isa}\t${want[0].waits}\t${want[0].line}`;
	await comes(async () => (await page.evaluate(() => navigator.clipboard.readText())).endsWith(row));
	equal((await page.evaluate(() => navigator.clipboard.readText())).split('\n').pop(), row, 'a row that is copied');
}

async function compare(bench) {
	const file = nights('nights'), page = await open(bench, file), c = told(file, 'history', '-k', '^turn').series[0].changes[0];
	await choose(page, 'turn');
	await page.click('a.compare');
	await page.waitForSelector('.panel[data-panel=compare] .table');
	await quiet(page);
	equal(new URL(page.url()).pathname, `/pair/${c.from}-${c.capture}`, 'the address of a comparison');
	const sides = await page.$$eval('.panel-compare .side', (all) => all.map((e) => e.textContent)), words = c.command.match(/'[^']+'/g).map((w) => w.slice(1, -1)), diff = JSON.parse(incore('diff', '--json', ...words)).data;
	equal(sides.slice(0, 2).map((s) => s.replace(/\s+/g, '')), ['Aturn.r1.3.incore', 'Bturn.r2.0.incore'], 'A is before, B after');
	const text = await page.textContent('.panel-compare'), latency = diff.values.find((v) => v.name === 'latency_per_hit');
	for (const v of [latency.a, latency.b]) truth(text.includes(v.toFixed(3)), `figures are those of diff: ${v}`);
	await page.click('.title-bar a[href="/"]');
	await page.waitForSelector('.table[aria-label="Regressions"]');
}

async function missing(bench) {
	const folder = path.join(scratch, 'night-files');
	if (!existsSync(folder)) cpSync(NIGHTS, folder, { recursive: true });
	const file = nights('gone', folder), gone = path.join(folder, 'turn.r2.0.incore');
	if (existsSync(gone)) renameSync(gone, gone + '-moved');
	const page = await open(bench, file), c = told(file, 'history', '-k', '^turn').series[0].changes[0];
	await choose(page, 'turn');
	await page.waitForSelector('.files .missing');
	equal(await page.$$eval('.files .missing', (all) => all.map((e) => e.textContent)), [`Capture ${c.capture} is not there any more: ${gone}`], 'which file is missing');
	equal([await page.locator('a.compare').count(), await page.textContent('.files .command')], [0, c.command], 'no link, but the command');
}

async function filters(bench) {
	const file = nights('nights'), page = await open(bench, file), names = async () => (await rows(page, 'Kernels')).map((r) => r.kernel.split('(')[0]);
	const seen = async (n) => { truth(await comes(async () => (await page.textContent('[data-tab=kernels]')) === `Kernels (${n})`), `not ${n} kernels`); await quiet(page); };
	await page.keyboard.press('/');
	await page.keyboard.type('^pol.*l\\(');
	await seen(1);
	equal(await names(), [...new Set(told(file, 'ls', '-k', '^pol.*l\\(').captures.map((c) => c.kernel.split('(')[0]))], 'by a regular expression');
	truth(page.url().includes('k=%5Epol'), 'the filter stands in the address');
	truth(await page.evaluate(() => document.activeElement.type === 'search'), 'the field keeps the focus');
	page.isAllowed = true; // the next question is refused, and the browser says so on its console
	await page.keyboard.type('(');
	truth(await comes(() => page.$eval('.filter input', (e) => e.classList.contains('bad'))), 'what is no regular expression is told');
	truth(await comes(async () => /parenthes/.test(await page.textContent('[role=status].sr-only'))), 'and why');
	await page.click('.filter .button');
	await seen(2);
	await page.selectOption('.filter select[aria-label="device"]', 'device=1');
	await seen(1);
	equal(await names(), ['turn'], 'by device');
	await page.selectOption('.filter select[aria-label="device"]', '');
	await seen(2);
	await page.selectOption('.filter select[aria-label="Arch"]', 'sm_90');
	await page.selectOption('.filter select[aria-label="Figure"]', 'stall');
	truth(await comes(async () => (await page.textContent('.detail-head')).includes('stall of 8 captures')), 'another figure');
	await quiet(page);
	const stall = told(file, 'history', '--figure', 'stall').series;
	for (const r of await rows(page, 'Kernels')) equal(r.value, count(stall.find((s) => s.kernel === r.kernel).points[7].value), `stall of ${r.kernel}`);
}

async function keys(bench) {
	const file = nights('nights'), page = await open(bench, file), live = () => page.textContent('[role=status].sr-only');
	await page.focus('.table[aria-label="Kernels"]');
	await page.keyboard.press('End');
	await page.keyboard.press('Enter');
	await page.waitForFunction(() => document.querySelector('.detail-head h2').textContent.startsWith('polynomial'));
	await quiet(page);
	const x = told(file, 'history', '-k', '^polynomial').series[0];
	await page.keyboard.press('[');
	truth(await comes(async () => (await page.getAttribute('.flag.chosen', 'data-capture')) === String(x.changes[0].capture)), '[ goes to the change before');
	await page.keyboard.press(']');
	truth(await comes(async () => (await page.getAttribute('.flag.chosen', 'data-capture')) === String(x.changes[1].capture)), '] to the one after');
	await page.keyboard.press('g');
	await page.keyboard.press('End');
	const last = x.points[x.points.length - 1];
	truth((await live()).includes(`Capture ${last.capture}`) && (await live()).includes(`${count(last.value)} cycles`), `a capture is told: ${await live()}`);
	await page.keyboard.press('ArrowLeft');
	truth((await live()).includes(`Capture ${x.points[6].capture},`), `the one before: ${await live()}`);
	await page.keyboard.press('Enter');
	await page.waitForSelector('.table[aria-label="Costliest instructions"]');
	await quiet(page);
	const card = told(file, 'show', '--top', '12', String(x.points[6].capture));
	equal((await rows(page, 'Costliest instructions')).map((r) => [r.change, r.cause, r.isa]), card.rows.map((r) => [count(r.change), r.cause, r.isa]), 'the capture');
	for (const words of [card.capture.path, card.capture.code, `cycles ${count(card.capture.cycles)}`, ...card.findings.map((f) => f.message)]) truth((await page.textContent('.side-head')).includes(words), `the capture says ${words}`);
	await page.keyboard.press('?');
	await page.waitForSelector('dialog[open]');
	equal(await page.$$eval('dialog [data-key]', (all) => all.map((e) => e.dataset.key)), ['kernels', 'worse', 'filter', 'reload', 'change-previous', 'change-next', 'chart', 'help'], 'the keys');
	await page.keyboard.press('Escape');
	const before = await page.evaluate(() => window.incore.stats().requests);
	await page.keyboard.press('r');
	truth(await comes(() => page.evaluate((n) => window.incore.stats().requests > n, before)), 'R asks again');
}

async function everybody(bench) {
	const file = nights('nights'), page = await open(bench, file, 'tab=worse&all=1');
	const nodes = await tree(page), named = new Set(['button', 'link', 'searchbox', 'combobox', 'checkbox', 'tab', 'grid', 'image', 'tabpanel', 'region']);
	equal(nodes.filter((n) => named.has(n.role) && !n.name).map((n) => n.role), [], 'what has no name');
	for (const role of ['banner', 'main', 'search', 'tablist', 'tabpanel', 'status', 'grid', 'image']) truth(nodes.some((n) => n.role === role), `nothing has the role ${role}`);
	for (const theme of ['light', 'dark', 'contrast']) {
		await page.selectOption('select[aria-label="Theme"]', theme);
		equal(await contrastProblems(page), [], `contrast, ${theme}`);
	}
	const small = await page.$$eval('button, select, input, a', (all) => all.filter((e) => e.getClientRects().length && !e.closest('.flag, .table-head, label, p')).map((e) => ({ b: e.getBoundingClientRect(), what: e.outerHTML.slice(0, 80) })).filter(({ b }) => b.width < 23.5 || b.height < 23.5).map((x) => x.what));
	equal(small, [], 'targets under 24 pixels');
	for (const [width, height] of [[1280, 720], [1920, 1080], [640, 400]]) {
		await page.setViewportSize({ width, height });
		await quiet(page);
		const over = await page.evaluate(() => [document.documentElement.scrollWidth - innerWidth, ...[...document.querySelectorAll('.title-bar, .filter, .detail, .chart svg, .detail-side')].map((e) => e.getBoundingClientRect().right - innerWidth)].filter((v) => v > 0.5));
		equal(over, [], `${width} x ${height}: too wide`);
	}
}

async function large(bench) {
	const file = many('long', 2400, 1), page = await open(bench, file), x = told(file, 'history', '--movers', '0').series[0];
	const drawn = await page.evaluate(() => document.querySelector('.chart .curve').getAttribute('d').match(/[ML]/g).length);
	truth(drawn <= 1500 && drawn > 500, `${drawn} points of ${x.captures} are drawn`);
	truth((await page.textContent('.detail-head')).includes(`${count(2400)} captures (${count(drawn)} of ${count(2400)} drawn`), 'that some stand for others is told');
	equal(await page.$$eval('.flag', (all) => all.map((e) => Number(e.dataset.capture))), x.changes.map((c) => c.capture), 'no change is lost');
	const wide = await open(bench, many('wide', 1300, 1300)), nodes = () => wide.evaluate(() => window.incore.stats().dom_nodes);
	truth((await wide.textContent('.more')).includes('The first 1,000 of 1,300') && (await nodes()) < 3000, `a page of a long list, ${await nodes()} elements`);
	await wide.click('.more .link');
	await wide.waitForFunction(() => !document.querySelector('.more'));
	equal(await wide.getAttribute('.table[aria-label="Kernels"]', 'aria-rowcount'), '1301', 'all of them');
}

async function paper(bench) {
	const file = nights('nights'), page = await open(bench, file, 'all=1');
	await page.emulateMedia({ media: 'print' });
	await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
	const text = await page.innerText('main.written');
	for (const s of told(file, 'gate').series) truth(text.includes(s.kernel) && text.includes(percent(s.change_pct)) && text.includes(s.evidence), `${s.kernel} is not on paper`);
	for (const r of told(file, 'regressions', '--all').regressions) truth(text.includes(percent(r.change_pct)), 'what got worse is not on paper');
	truth(text.includes('incore diff') && (await page.locator('.written svg').count()) === 1 && (await page.locator('#app').isHidden()), 'the history is on paper, and the window is not');
	await page.evaluate(() => dispatchEvent(new Event('afterprint')));
	equal(await page.locator('main.written').count(), 0, 'the window is back');
}

async function emptyOne(bench) {
	const file = path.join(scratch, 'empty.store');
	if (!existsSync(file)) {
		incore('store', 'add', '-q', '--store', file, 'two_waves');
		incore('store', 'prune', '--store', file, '1');
	}
	const page = await open(bench, file);
	truth(/The store is empty/.test(await page.textContent('main')) && (await page.textContent('main')).includes('incore store add'), 'an empty store says so, and what to do');
}

async function damaged(bench) {
	const file = path.join(scratch, 'damaged.store'), server = (cpSync(nights('nights'), file), await bench.server('--store', file)), page = await bench.blank();
	page.isAllowed = true; // the browser tells of answers that are errors
	writeFileSync(file, 'this is no store');
	await page.goto(`http://127.0.0.1:${server.port}/#token=${server.token}`);
	await page.waitForFunction(() => document.body.dataset.ready === 'failed');
	truth(/The store cannot be read/.test(await page.textContent('#app')) && (await page.textContent('#app')).includes('not a usable store'), `what is wrong is told: ${await page.textContent('#app')}`);
}

async function hostile(bench) {
	const name = '<img src=x onerror=document.title=1>"\'&amp; ${x} \u202e' + 'a'.repeat(6000), page = await open(bench, many('hostile', 12, 2, name));
	equal((await rows(page, 'Kernels')).map((r) => r.kernel === name), [true, true], 'a name is text');
	equal([await page.locator('img').count(), await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)], [0, 0], 'and nothing else');
}

async function stranger(bench) {
	const server = await bench.server('--store', nights('nights')), page = await bench.blank();
	page.isAllowed = true;
	await page.goto(`http://127.0.0.1:${server.port}/#s=1`);
	await page.fill('#key', '0'.repeat(32));
	await page.click('button[type=submit]');
	truth(await comes(async () => /not the key of this run/.test(await page.textContent('.key-told'))), 'another key is refused');
	await page.fill('#key', server.url);
	await page.click('button[type=submit]');
	await page.waitForSelector('.table[aria-label="Regressions"]');
}

export const tests = [
	{ name: 'store: kernels, their newest figures and the gate', run: kernels },
	{ name: 'store: a gate that fails', run: failing },
	{ name: 'store: what got worse, what costs most first', run: regressions },
	{ name: 'store: what stands opens the page, what is accepted passes', run: standing },
	{ name: 'store: the picture of a history is to scale', run: (b) => picture(b, 'tab=kernels', 'turn', { width: 1280, height: 720 }) },
	{ name: 'store: the picture of another, in a wide window', run: (b) => picture(b, 'tab=kernels', 'polynomial', { width: 1920, height: 1080 }) },
	{ name: 'store: which instructions moved, and what is copied', run: movers },
	{ name: 'store: the captures of a change are compared', run: compare },
	{ name: 'store: a capture that is gone is named', run: missing },
	{ name: 'store: filters', run: filters },
	{ name: 'store: by keyboard, said aloud', run: keys },
	{ name: 'store: for everybody', run: everybody },
	{ name: 'store: many captures, many kernels', run: large },
	{ name: 'store: on paper', run: paper },
	{ name: 'store: empty', run: emptyOne },
	{ name: 'store: damaged', run: damaged },
	{ name: 'store: names of anybody', run: hostile },
	{ name: 'store: the key', run: stranger },
];
