// SPDX-License-Identifier: Apache-2.0
// Captures with something missing, damaged or hostile: every panel shows figures or says why it has none, on the server and in the report.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import path from 'node:path';
import { altered, DATA, equal, incore, maker, panel, report, rows, scratch, truth, verb } from './lib.mjs';
import { everyPanel, opens } from './panels.mjs';

const has = (shown, name, wanted) => {
	for (const [ids, pattern] of wanted) for (const id of ids.split(' ')) truth(pattern.test(shown[id]), `${id} of ${name} does not say ${pattern}: "${shown[id].slice(0, 300)}"`);
};

const NO_WAVE = /No wave was traced in this capture/, SAMPLED = /This capture has samples only/;
/** What is missing, and the words in which a panel says it. */
const INPUTS = {
	'a shell': { file: 'shell_empty', banner: /nothing was traced/, timeline: /No timeline: no wave or pipe was recorded/, says: [['waits waves states utilization', NO_WAVE], ['isa', /No code in this capture/], ['source', /No source lines/], ['flame', /holds no code/], ['occupancy', /No wave started or ended/], ['summary', /unusable/], ['hotspots', /no instruction/i]] },
	'a missed CU': { file: 'shell_missed_cu', banner: /missed the target CU/, timeline: /No timeline: no wave or pipe/, says: [['waits waves states utilization', NO_WAVE], ['summary', /missed the target CU/]] },
	'no source': { file: 'no_source', says: [['source', /No source lines/]] },
	'samples only': { file: 'pc_sampling', timeline: /this capture holds samples only/, says: [['waits waves states utilization', SAMPLED], ['summary', /no timeline/], ['occupancy', /No waves over time/]] },
	'samples of another vendor': { make: () => packed('sampled', 'samples'), timeline: /this capture holds samples only/, says: [['waits waves states utilization', SAMPLED], ['summary', /no timeline/], ['source', /No source lines/]], never: /rocprofv3|msprof/ },
	'a report of Nsight Compute': { file: 'ncu/kernel.ncu-rep', timeline: /this capture holds samples only/, says: [['details', /What the rules say[\s\S]*SOLBottleneck[\s\S]*Sections[\s\S]*GPU Speed Of Light Throughput/], ['summary', /all sampled cycles/], ['waits waves states utilization', SAMPLED]], never: /rocprofv3|msprof/ },
	'a truncated capture': { file: 'truncated', banner: /records were lost/, says: [] },
	'damaged waves': { file: 'bad_wave', banner: /could not be read/, says: [] },
	'a wave that is gone': { file: 'missing_wave', banner: /suspect|unusable|damaged/, says: [] },
	'half a dead trace of pipes': { file: 'ascend_half_dead', says: [['states', /No wave states/]], never: /rocprofv3/ },
	'an estimate': { make: estimate, banner: /estimate of the embedded model, not a measurement/, says: [['summary', /estimate/]], never: /rocprofv3/ },
	'two kernels': { file: 'two_kernels', says: [['dispatches', /scale<float, 4>/]] },
};

function packed(name, ...words) {
	const dir = path.join(scratch, name), file = path.join(dir, 'trace.incore');
	if (!existsSync(file)) {
		mkdirSync(dir, { recursive: true });
		execFileSync(maker(), [...words, file]);
	}
	return file;
}

function estimate() {
	const dir = path.join(scratch, 'estimate');
	if (!existsSync(dir)) incore('model', 'time', '-q', '-o', dir, 'model/attention.jsonl');
	return path.join(dir, 'trace.incore');
}

async function input(bench, kind, name, i) {
	const file = i.file ?? i.make(), page = await opens(bench, kind + file), banner = await page.innerText('.banner');
	if (i.banner) truth(i.banner.test(banner), `the banner of ${name} says "${banner}"`);
	if (i.timeline) truth(i.timeline.test(await page.innerText('.timeline')), `in place of lanes: "${await page.innerText('.timeline')}"`);
	const shown = await everyPanel(page, name);
	has(shown, name, i.says);
	if (i.never) for (const [id, text] of Object.entries({ ...shown, timeline: await page.innerText('.timeline') })) truth(!i.never.test(text), `${id} of ${name} speaks of ${i.never.exec(text)?.[0]}`);
}

/** Sections and rules of the profiler, cell by cell; functions and files cost what the listing says. */
async function profiled(bench, kind) {
	const name = 'ncu/kernel.ncu-rep', page = await bench.page(kind + name), { tables } = JSON.parse(incore('view', '-q', '--no-cache', '--get', '/api/1/tables', name)), isa = verb('isa', name);
	await page.evaluate(() => window.incore.app().store.set({ beside: null }));
	await panel(page, 'details');
	for (const [of, label] of [['rules', 'What the rules say'], ['sections', 'Sections'], ['metrics', 'Metrics'], ['instances', 'Instances of metrics']]) {
		const t = tables.find((x) => x.name === of), told = verb('info', name).tables.find((x) => x.name === of), used = t.columns.map((_, i) => i).filter((i) => t.cells.some((c) => c[i]));
		equal([t.rows, t.columns, t.cells.length], [told.rows, told.columns, told.rows], `${of} as incore info has it`);
		equal((await rows(page, label)).map((r) => used.map((i) => r['c' + i])), t.cells.map((c) => used.map((i) => c[i] ?? '-')), label);
	}
	const whole = isa.accounting.duration, cost = isa.rows.reduce((n, r) => n + r.cycles, 0), files = new Map();
	truth(cost > 0 && isa.labels.length > 0, 'the capture has samples and a function');
	for (const r of isa.rows) if (r.frames.length) files.set(r.frames[0][0], (files.get(r.frames[0][0]) ?? 0) + r.cycles);
	const figures = await page.$$eval('.explorer .tree-row', (all) => Object.fromEntries(all.map((e) => [e.dataset.node, e.querySelector('.figure')?.textContent])));
	equal(figures['f' + isa.labels[0].index], `${((100 * cost) / whole).toFixed(1)} %`, 'share of the function');
	for (const [file, n] of files) equal(figures['s' + file], `${((100 * n) / whole).toFixed(1)} %`, `share of ${isa.sources[file]}`);
}

// --- names ---

const HTML = '<img src=x onerror="document.title=1"><script>window.hacked=1</script>';

/** Markup wherever a capture has text: kernel, instruction, source path and text, counter names, events, and its own name. */
function nasty() {
	const quoted = HTML.replace(/"/g, '\\"').replace(/\//g, '\\/');
	const dir = altered('v31', 'nasty', (text, name) => (/\.json$/.test(name)
		? text.replaceAll('add_one', quoted).replaceAll('s_waitcnt', `s_waitcnt ${quoted}`).replaceAll('/kernels/add.py', '/kernels/' + quoted.replaceAll('\\/', '') + '.py').replaceAll('SQ_BUSY_CU_CYCLES', 'SQ_BUSY_CU_CYCLES' + quoted)
		: HTML + '\n' + text));
	const named = path.join(scratch, '<img src=x onerror=document.title=1> & "quoted"');
	if (!existsSync(named)) renameSync(dir, named);
	return named;
}

const unharmed = async (page, where) => equal(await page.evaluate(() => [window.hacked ?? null, document.title === '1', document.querySelectorAll('img, #app script').length, [...document.querySelectorAll('*')].filter((e) => e.hasAttribute('onerror')).length]), [null, false, 0, 0], `markup was run: ${where}`);

async function markup(bench, kind) {
	const file = nasty(), page = await bench.page(kind + file);
	const shown = await everyPanel(page, 'a capture full of markup');
	await unharmed(page, 'panels');
	for (const id of ['isa', 'summary', 'flame', 'dispatches', 'source']) truth(shown[id].includes('<img') || id === 'flame', `${id} does not show the markup as text`);
	truth((await page.innerText('.title-bar')).includes('<img') && (await page.innerText('.explorer')).includes('<img'), 'title and explorer show it as text');
	await page.fill('.search input', HTML);
	await page.waitForFunction(() => (document.querySelector('.search .count')?.textContent ?? '') !== '');
	await page.evaluate((name) => window.incore.app().store.set({ markers: [{ t: 10, dur: 4, name, colour: 1 }] }), HTML);
	await page.evaluate((name) => window.incore.app().say(name), HTML);
	await page.evaluate(() => document.activeElement.blur());
	await page.evaluate(() => window.incore.pane().goSlice(0, 3));
	await page.waitForFunction(() => document.querySelector('.inspector .code'));
	await page.keyboard.press('?');
	await page.waitForSelector('dialog[open]');
	await unharmed(page, 'search, markers, inspector, dialogs');
}

/** The written page of the report and the Markdown: nothing of a name becomes markup. */
async function written(bench) {
	const file = nasty(), html = readFileSync(new URL(report(file)), 'utf8').replace(/<script[\s>][\s\S]*?<\/script>/g, '');
	truth(!/<img|<[^>]*\sonerror/.test(html), `markup in the report: ${/.{0,60}(<img|<[^>]*\sonerror).{0,60}/s.exec(html)?.[0]}`);
	truth(html.includes('&lt;img src=x onerror='), 'the report shows the name as text');
	const plain = await bench.blank({ javaScriptEnabled: false });
	await plain.goto(report(file));
	equal(await plain.locator('img, main script').count(), 0, 'pictures made of a name');
	truth((await plain.innerText('main')).includes('<img src=x onerror='), 'the name without script');
	const md = incore('report', '-q', '--format', 'md', '-o', '-', file);
	truth(!/data:|!\[/.test(md.replace(/\\!/g, '')), 'the Markdown has pictures');
	for (const picture of html.match(/<svg[\s\S]*?<\/svg>/g) ?? []) truth(!/<img|<script|\son\w+=/.test(picture), `markup in a picture: ${picture.slice(0, 200)}`);
	const prose = md.replace(/```[\s\S]*?```/g, '').replace(/`[^`\n]*`/g, '');
	truth(!/<img|<script/.test(prose.replace(/\\</g, '')), `raw markup in the Markdown: ${/.{0,80}(<img|<script).{0,80}/s.exec(prose.replace(/\\</g, ''))?.[0]}`);
}

async function hugeNames(bench, kind) {
	const long = 'k'.repeat(60000), dir = altered('v31', 'huge', (text, name) => (/\.json$/.test(name) ? text.replaceAll('add_one', long).replaceAll('s_waitcnt', 's_waitcnt ' + 'w'.repeat(20000)).replaceAll('SQ_BUSY_CU_CYCLES', 'SQ_BUSY_' + 'c'.repeat(5000)) : text));
	const page = await bench.page(kind + dir);
	await everyPanel(page, 'a capture with huge names');
	const [over, tall] = await page.evaluate(() => [document.documentElement.scrollWidth - innerWidth, document.querySelector('.title-bar').getBoundingClientRect().height]);
	truth(over <= 0 && tall < 120, `${over} pixels too wide, title bar ${tall} pixels tall`);
	await panel(page, 'dispatches');
	await page.locator('.table[aria-label="Kernels"] .table-row [data-column="name"]').first().click();
	await page.waitForFunction(() => window.incore.stats().state.scope !== null);
	await everyPanel(page, 'the scope of a kernel with a huge name');
}

async function noName(bench, kind) {
	const dir = altered('gemm', 'no-name', (text, name) => (/\.json$/.test(name) ? text.replaceAll('gemm_f16', '') : text)), info = verb('info', dir);
	truth(!info.kernel, `the capture still has a name: ${info.kernel}`);
	const page = await bench.page(kind + dir);
	truth(/unknown/i.test(await page.innerText('.title-bar h1')), `title "${await page.innerText('.title-bar h1')}"`);
	await everyPanel(page, 'a capture without a kernel name');
}

/** Two captures of different code: the panel says why, all others work. */
async function incomparable(bench) {
	const page = await bench.page(['gemm', 'throttled']);
	page.isAllowed = true; // the refusal is an answer with an error status
	let shown = await everyPanel(page, 'two captures that cannot be compared');
	has(shown, 'two captures', [['compare', /not of comparable code/]]);
	await page.keyboard.press('x');
	await page.waitForFunction(() => window.incore.stats().state.base);
	shown = await everyPanel(page, 'two captures, compared all the same');
	has(shown, 'two captures', [['compare', /not of comparable code/]]);
	truth(!page.bad.some((b) => /exception|foreign/.test(b)), page.bad.join('\n'));
}

/** Nothing that is a capture at all: the command says so; one of two that cannot be read: the page does. */
async function unreadable(bench) {
	const server = await bench.server('bad_json'), page = await bench.blank();
	await page.goto(server.url);
	await page.waitForFunction(() => document.body.dataset.ready === 'failed');
	const text = await page.innerText('body');
	page.isAllowed = true; // the refusal is an answer with an error status
	truth(/The capture cannot be shown/.test(text) && /code\.json/.test(text), `a capture that cannot be read says "${text}"`);
	const two = await bench.server('bad_json', 'gemm'), other = await bench.blank();
	await other.goto(two.url);
	await other.locator('button', { hasText: 'Open' }).click();
	await other.waitForSelector('.dock .tab');
	for (const words of [['view', '--get', '/api/1/trace', path.join(DATA, 'no-such-thing')], ['report', '-o', path.join(scratch, 'x.html'), 'bad_json']]) {
		let status = 0;
		try {
			incore(...words);
		} catch (e) {
			status = e.status;
			truth(String(e.stderr).length > 20, 'the program says why');
		}
		truth(status >= 2, `incore ${words[0]} of nothing ends with ${status}`);
	}
	truth(!existsSync(path.join(scratch, 'x.html')), 'half a report was left');
}

const both = (name, run) => ['', 'report:'].map((kind) => ({ name: `inputs${kind ? ', report' : ''}: ${name}`, run: (b) => run(b, kind), covers: kind ? ['part:report'] : [] }));
export const tests = [
	...Object.entries(INPUTS).flatMap(([name, i]) => both(`${name}: every panel tells`, (b, kind) => input(b, kind, name, i))),
	...both('what a profiler found stands in Details and Explorer', profiled),
	...both('markup in every name is text', markup),
	{ name: 'inputs: markup in the written page, Markdown and pictures', run: written },
	...both('huge names', hugeNames),
	...both('no kernel name', noName),
	{ name: 'inputs: two captures that cannot be compared', run: incomparable },
	{ name: 'inputs: what cannot be read', run: unreadable },
];
