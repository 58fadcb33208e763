// SPDX-License-Identifier: Apache-2.0
// The opening: progress before the viewer's script is there, what is in sight first, the user's own colours.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DATA, environment, equal, open, panel, programFile, quiet, report, scratch, screenLines, truth, verb } from './lib.mjs';

const verbsOf = (asked) => asked.filter((q) => /^(isa|hot|check|verdict|waves|summary|occupancy|info)\b/.test(q));

function listen(page) {
	const asked = [];
	page.on('request', (r) => {
		const m = /\/api\/1\/(.*)$/.exec(r.url());
		if (m) asked.push(m[1]);
	});
	return asked;
}

/** The server says that it still reads; the viewer's script is held back until `release`. */
async function slowly(page) {
	let release, traces = 0;
	const held = new Promise((done) => (release = done));
	await page.route('**/incore.js', async (route) => {
		await held;
		await route.continue();
	});
	await page.route('**/api/1/progress', (route) => route.fulfill({ contentType: 'application/x-ndjson',
		body: '{"stage":"open","done":0,"total":0,"eta":null,"read":0}\n{"stage":"tracks","done":1300,"total":2000,"eta":1.2,"read":0}\n' }));
	await page.route('**/api/1/trace', async (route) => {
		if (traces++) return release.trace.then(() => route.continue());
		const real = await route.fetch(), told = await real.json();
		return route.fulfill({ response: real, json: { ...told, state: 'loading', hash: null } });
	});
	release.trace = new Promise((done) => (release.whole = done));
	return { release, traces: () => traces };
}

async function progressFirst(bench) {
	const server = await bench.server('gemm'), page = await bench.blank(), { release, traces } = await slowly(page);
	void page.goto(server.url).catch(() => undefined);
	await page.waitForFunction(() => document.querySelector('.loading .dim')?.textContent === 'tracks: 1,300 of 2,000, about 2 s left');
	equal(await page.textContent('.loading strong'), 'Opening gemm', 'what is opened');
	equal(await page.$eval('.loading progress', (p) => [p.value, p.max]), [1300, 2000], 'the bar');
	truth(!await page.evaluate(() => 'incore' in window), 'the script was there already: this shows nothing');
	truth(!page.url().includes('token'), 'the token stays in the address');
	release();
	release.whole();
	await page.waitForSelector('.dock .tab');
	equal(traces(), 2, 'questions for the trace');
	equal(await page.locator('.loading').count(), 0, 'the line is gone');
}

async function wrongKey(bench) {
	const server = await bench.server('gemm'), page = await bench.blank();
	page.isAllowed = true;
	await page.goto(`http://127.0.0.1:${server.port}/#token=00000000000000000000000000000000`);
	await page.waitForSelector('.notice');
	truth((await page.textContent('.notice')).includes('needs its key'), 'what is missing is told');
}

async function inSightFirst(bench, link, first) {
	const server = await bench.server('gemm'), page = await bench.blank(), asked = listen(page);
	await page.goto(`http://127.0.0.1:${server.port}/#token=${server.token}${link}`);
	await page.waitForSelector('.banner-line > strong'); // the verdict; that a capture is synthetic stands there before it is checked
	const verbs = verbsOf(asked), own = verbs.filter((q) => first.test(q));
	truth(own.length > 0 && verbs.length > own.length, `asked: ${verbs.join(' ')}`);
	equal(verbs.slice(0, own.length), own, 'questions of the open panel come first');
	equal(asked.filter((q) => q === 'trace').length, 1, 'the trace is asked for once');
	truth(asked.findIndex((q) => q.startsWith('tile')) < asked.indexOf(verbs[0]), 'a verb before the lanes');
}

/** The verdict is open, after the lanes, and says what `incore verdict` says. */
async function verdictFirst(bench, name) {
	const page = await bench.blank(), asked = listen(page), isReport = name.startsWith('report:'), server = isReport ? null : await bench.server(name);
	await page.goto(isReport ? report(name.slice(7)) : server.url);
	await page.waitForSelector('.panel-verdict .screen-list');
	const { screen } = verb('verdict', name.replace('report:', '')), said = await page.$$eval('.panel-verdict .screen-list dd', (all) => all.map((d) => d.textContent));
	equal(said, screenLines(screen), 'the lines');
	equal((await page.textContent('.panel-verdict .screen-head')).trim(), `${screen.kernel} ${screen.launch}`, 'the first line');
	if (!isReport && (await page.evaluate(() => window.incore.app().trace.tracks.length))) truth(asked.findIndex((q) => q.startsWith('tile')) < asked.findIndex((q) => q.startsWith('verdict')), 'the verdict delays the lanes');
	await page.click('.panel-verdict .screen-list .link');
	await page.waitForSelector('.panel-isa .table-row');
}

/** The listing's figures take long: the code stands there with what the lanes know. */
async function codeFirst(bench) {
	const server = await bench.server('gemm'), page = await bench.blank();
	let release;
	const held = new Promise((done) => (release = done));
	await page.route('**/api/1/isa', (route) => held.then(() => route.continue()));
	await open(page, `${server.url}&v=1&p=isa`);
	await page.waitForSelector('.isa-early');
	const shown = await page.$$eval('.isa-early > div', (all) => all.slice(1).map((row) => [...row.children].map((cell) => cell.textContent)));
	const code = await page.evaluate(() => window.incore.app().code()), at = code.row.findIndex((r, i) => String(r) === shown[0][0] && code.text[i] === shown[0][2]);
	truth(shown.length > 5 && at >= 0, `rows shown: ${JSON.stringify(shown[0])}`);
	const plain = (n) => n.toLocaleString('en-US');
	equal(shown, code.row.slice(at, at + shown.length).map((r, k) => [plain(r), '0x' + code.address[at + k].toString(16), code.text[at + k],
		code.label[at + k] ? '' : plain(code.hits[at + k]), code.label[at + k] ? '' : plain(code.cycles[at + k])]), 'rows of the code');
	const most = Math.max(...code.cycles);
	truth(shown.some((r) => r[4] === plain(most)), 'the heaviest row is not in sight');
	await page.waitForTimeout(300); // twice as long as a panel waits before it says that it loads
	truth(await page.locator('.isa-early').count() === 1, 'the word that it loads took its place');
	release();
	await page.waitForSelector('.panel-isa .table, .panel[data-panel="isa"] .table');
	equal(await page.locator('.isa-early').count(), 0, 'it gives way to the listing');
}

/** Of another tool's timeline: processes and threads by their names, times in microseconds, words that fit. */
async function timeline(bench) {
	const server = await bench.server('timeline/torch.json'), page = await bench.blank();
	await open(page, server.url);
	await quiet(page);
	const names = verb('waves', '--top', 'all', 'timeline/torch.json').waves.map((w) => w.file), groups = new Set(names.map((n) => n.slice(0, n.indexOf('/'))));
	const heads = await page.$$eval('.lane-label.group .words', (all) => all.map((e) => e.textContent));
	truth(groups.size > 1 && heads.length > 0 && heads.every((g) => groups.has(g)), `groups: ${JSON.stringify(heads)}`);
	const shown = await page.$$eval('.lane-label:not(.group)', (all) => all.map((e) => [e.title, e.querySelector('.words').textContent]));
	truth(shown.length > 1 && shown.every(([title]) => names.includes(title)), `lanes: ${JSON.stringify(shown)}`);
	truth(shown.every(([title, label]) => / \[\d+\]$/.test(title) ? title.endsWith(label) : title.endsWith('/' + label)), `labels: ${JSON.stringify(shown)}`);
	equal(await page.textContent('.title-bar .tracks'), `${names.length} lanes`, 'how many');
	equal(await page.textContent('.title-bar h1'), 'torch.json', 'what is shown');
	equal(await page.$$eval('.timeline button, .timeline select', (all) => all.filter((e) => /^(Merged|Split|Global)$/.test(e.textContent) || e.title === 'Lanes').length), 0, 'switches for waves alone');
	truth((await page.textContent('.timeline')).includes('time, µs'), 'the axis has no microseconds');
}

/** A page, or a report, of a user who has a configuration. */
async function coloured(bench, isReport) {
	const home = path.join(scratch, 'settings'), env = { ...environment(), XDG_CONFIG_HOME: home };
	mkdirSync(path.join(home, 'incore'), { recursive: true });
	writeFileSync(path.join(home, 'incore', 'config'), 'color.light.valu = #1020fe\ncolor.dark.valu = #fe2010\ncolor.light.stall = #00aa55\n');
	const page = await bench.blank();
	let child = null, url = 'file://' + path.join(scratch, 'coloured.html');
	if (isReport) execFileSync(programFile(), ['report', '-q', '-o', path.join(scratch, 'coloured.html'), 'gemm'], { cwd: DATA, env });
	else {
		child = spawn(programFile(), ['view', '--no-open', '--no-cache', 'gemm'], { cwd: DATA, env, stdio: ['ignore', 'pipe', 'inherit'] });
		url = await new Promise((done) => child.stdout.on('data', (d) => done(String(d).trim())));
	}
	try {
		await open(page, url);
		await panel(page, 'isa');
		const palette = () => page.evaluate(() => {
			const p = window.incore.app().palette();
			return [p.slots[2], p.buckets[1], p.slots[3]];
		});
		equal(await palette(), ['#1020fe', '#00aa55', '#027f6f'], 'light');
		const shown = await page.evaluate(() => [...document.querySelectorAll('.panel *')].some((e) => getComputedStyle(e).backgroundColor === 'rgb(16, 32, 254)' || getComputedStyle(e).color === 'rgb(16, 32, 254)' || getComputedStyle(e).borderColor.includes('rgb(16, 32, 254)')));
		truth(shown, 'no chip of the listing has the colour');
		await page.emulateMedia({ colorScheme: 'dark' });
		await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
		equal(await palette(), ['#fe2010', '#d03e56', '#4bad9c'], 'dark');
	} finally {
		child?.kill('SIGTERM');
	}
}

export const tests = [
	{ name: 'opening: progress is told before the script is there', run: progressFirst },
	{ name: 'opening: a wrong key is told', run: wrongKey },
	{ name: 'opening: the open panel asks first', run: (bench) => inSightFirst(bench, '', /^verdict/) },
	{ name: 'opening: the open panel asks first, with a link', run: (bench) => inSightFirst(bench, '&v=1&p=waves', /^waves/) },
	{ name: 'opening: the verdict is the first panel', run: (bench) => verdictFirst(bench, 'gemm'), covers: ['panel:verdict'] },
	{ name: 'opening: the verdict is the first panel of samples', run: (bench) => verdictFirst(bench, 'h200/bank_conflicts.incore') },
	{ name: 'opening: the verdict is the first panel of a report', run: (bench) => verdictFirst(bench, 'report:gemm') },
	{ name: 'opening: code before its figures', run: codeFirst },
	{ name: 'opening: a timeline of another tool', run: timeline },
	{ name: 'opening: colours of the user', run: (bench) => coloured(bench, false) },
	{ name: 'opening: colours of the user in a report', run: (bench) => coloured(bench, true) },
];
