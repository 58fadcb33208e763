// SPDX-License-Identifier: Apache-2.0
// view_browser.mjs: the viewer as a person meets it, measured in headless Chromium against the real program: opening, panning, clicking,
// scrolling, and the one-file report.
//
//	node bench/view_browser.mjs [--incore build/incore] [--capture DIR] [--millions 20] [--minutes 10] [--dir WHERE] [--small] [--only PART,...]
//
// --small: 1.5 million slices and one minute of panning, for a quick try; parts are opening, panning, clicking, listing, report,
// heap. Each line has a figure, its budget (reference host, idle) and whether it is kept; wall times of a busy machine say little, so the
// load and processor times are printed, too. A budget that is not kept, or a part that fails, makes the exit status 1.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const HERE = path.dirname(fileURLToPath(import.meta.url)), ROOT = path.dirname(HERE);
const SCREEN = { width: 1920, height: 1080 };
const LANES = 60, ISA_ROWS = 100000;
/** without them a frame waits for the next tick of a 60 Hz screen, and how long it really took is not seen */
const UNPACED = ['--disable-frame-rate-limit', '--disable-gpu-vsync'];

const { values: given } = parseArgs({ options: {
	incore: { type: 'string', default: path.join(ROOT, 'build', 'incore') }, capture: { type: 'string' }, dir: { type: 'string' },
	millions: { type: 'string' }, minutes: { type: 'string' }, small: { type: 'boolean', default: false }, only: { type: 'string' },
} });
const MILLIONS = Number(given.millions ?? (given.small ? 1.5 : 20)), MINUTES = Number(given.minutes ?? (given.small ? 1 : 10));
const PROGRAM = path.resolve(given.incore);
const scratch = mkdtempSync(path.join(given.dir ?? tmpdir(), 'incore-browser-'));
const environment = { ...process.env, XDG_CACHE_HOME: path.join(scratch, 'cache'), LC_ALL: 'C.UTF-8' };

// --- what is printed ---

function line(what, figure, unit, budget) {
	const text = unit === 's' ? figure.toFixed(2) : unit === 'ms' || unit === 'MB' ? figure.toFixed(1) : String(Math.round(figure));
	const verdict = budget === undefined ? '' : figure <= budget ? 'ok' : 'OVER';
	if (verdict === 'OVER') process.exitCode = 1;
	console.log(`  ${what.padEnd(58)} ${(text + ' ' + unit).padStart(12)}   ${(budget === undefined ? '' : `≤ ${budget} ${unit}`).padEnd(12)} ${verdict}`.trimEnd());
}

function head(text) {
	console.log(`${text} (load ${loadavg()[0].toFixed(1)} on ${cpus().length} processors)`);
}

function quantile(values, p) {
	const sorted = [...values].sort((a, b) => a - b);
	return sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))] ?? NaN;
}

/** Processor time of the page's main thread since the last call, in ms: says something on a busy machine, too. */
async function meter(page) {
	const client = await page.context().newCDPSession(page);
	await client.send('Performance.enable', { timeDomain: 'threadTicks' });
	let last = 0;
	return async () => {
		const now = (await client.send('Performance.getMetrics')).metrics.find((m) => m.name === 'TaskDuration').value * 1000, spent = now - last;
		last = now;
		return spent;
	};
}

function frames(what, times) {
	line(`${what}: p50 of ${times.length} frames`, quantile(times, 0.5), 'ms', 8);
	line(`${what}: p95`, quantile(times, 0.95), 'ms', 16.7);
	line(`${what}: worst`, Math.max(...times), 'ms', 50);
}

// --- captures ---

function incore(...words) {
	return execFileSync(PROGRAM, words, { env: environment, encoding: 'utf8', maxBuffer: 1 << 28 });
}

function smallCapture() {
	if (given.capture) return given.capture;
	const all = path.join(process.env.INCORE_SHARED ?? path.join(ROOT, '..', 'shared'), 'data', 'amd', 'ui_output', 'flash_attn_before');
	const found = existsSync(all) && readdirSync(all).find((n) => n.startsWith('ui_output_'));
	if (!found) throw new Error('name a capture: --capture DIR');
	return path.join(all, found);
}

/** A capture of so many slices, out of copies of a small one; its directory and what it holds. */
function replicated(name, source, slices) {
	const each = JSON.parse(incore('view', '--no-cache', '--get', '/api/1/trace', source)).counts.slices;
	const dir = path.join(scratch, name), copies = Math.max(1, Math.round(slices / each));
	mkdirSync(dir);
	const bytes = Number(execFileSync('python3', [path.join(HERE, 'replicate.py'), source, path.join(dir, 'ui_output_agent_1_dispatch_1'), String(copies)], { encoding: 'utf8' }));
	return { dir, slices: each * copies, bytes };
}

let seed = 88172645;
function draw(below) {
	seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
	return Math.floor((seed / 4294967296) * below);
}

const TEXTS = [
	['v_mfma_f32_16x16x16_f16 a[0:3], v[8:9], v[10:11], a[0:3]', 6], ['v_add_u32_e32 v3, v1, v2', 6], ['ds_read_b128 v[16:19], v1 offset:1024', 5],
	['buffer_load_dwordx4 v[12:15], v0, s[4:7], 0 offen', 3], ['s_waitcnt vmcnt(0)', 9], ['s_add_u32 s4, s4, 64', 2], ['v_exp_f32_e32 v9, v9', 6], ['s_waitcnt lgkmcnt(0)', 9],
];

/** Straight code of `rows` instructions, `waves` waves that walk through it with stalls that no two share: nothing for gzip to find. */
function generated(name, rows, waves, slices) {
	const dir = path.join(scratch, name), out = path.join(dir, 'ui_output_agent_1_dispatch_1');
	mkdirSync(out, { recursive: true });
	const code = [['; wide', 0, 0, '', 1, 4096, 0, 0, 0, 0]];
	for (let i = 1; i <= rows; i++) code.push([TEXTS[i % TEXTS.length][0], 0, i, `/kernels/wide.py:${1 + Math.floor(i / 8)}`, 1, 4096 + 8 * i, 0, 0, 0, 0]);
	const listed = {};
	for (let w = 0; w < waves; w++) {
		const simd = w % 4, slot = (w >> 2) % 8, se = w >> 5, instructions = [];
		const begin = 1000 + draw(400);
		let t = begin;
		for (let k = 0; k < slices; k++) {
			const row = 1 + ((w * slices + k) % rows), type = TEXTS[row % TEXTS.length][1], stall = type === 9 ? 4 * draw(100) : draw(6) ? 0 : 4 * draw(8), took = stall + 4;
			instructions.push([t, type, stall, took, row]);
			for (const [column, by] of [[6, 1], [7, took], [8, stall]]) code[row][column] += by;
			t += took;
		}
		const file = `se${se}_sm${simd}_sl${slot}_wv0.json`;
		writeFileSync(path.join(out, file), JSON.stringify({ duration: t - begin, name: 'SE' + se, num_insts: slices, num_stitched: slices, wave: { begin, cu: 1, end: t, id: 0, instructions, simd, slot, timeline: [], waitcnt: [] } }));
		((listed[se] ??= {})[simd] ??= {})[slot] = { 0: [file, begin, t] };
	}
	const write = (file, value) => writeFileSync(path.join(out, file), JSON.stringify(value));
	write('code.json', { code, header: 'ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle', version: '3.0.0' });
	write('filenames.json', { counter_names: [], gfxip: 9, gfxv: 'vega', global_begin_time: 0, synthetic: true, version: '3.0.0', wave_filenames: listed });
	write('occupancy.json', { dispatches: {}, version: '3.0.0' });
	return { dir, slices: waves * slices };
}

// --- program and pages ---

const children = new Set();
process.on('exit', () => children.forEach((c) => c.kill('SIGKILL')));

/** Processor time that a process has used, in ms. */
function processorTime(pid) {
	const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
	return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Starts `incore view`; `at` is when, so that an opening is measured from the command on. */
function serve(dir) {
	const at = Date.now(), child = spawn(PROGRAM, ['view', '--no-open', dir], { env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
	children.add(child);
	return new Promise((resolve, reject) => {
		let text = '';
		child.on('exit', (code) => reject(new Error(`incore view ended with ${code}`)));
		child.stdout.on('data', (data) => {
			text += data;
			const m = /http:\/\/127\.0\.0\.1:\d+\/#token=[0-9a-f]+/.exec(text);
			if (m) resolve({ at, url: m[0], addressed: Date.now(), busy: () => processorTime(child.pid), stop: () => new Promise((done) => {
				child.removeAllListeners('exit');
				child.on('exit', () => done(children.delete(child)));
				child.kill('SIGTERM');
			}) });
		});
	});
}

/** Runs in the page: notes when the first progress, the lanes, the listing and the source beside it were on screen. */
function watch() {
	const seen = window.seen = {};
	const note = (name) => (seen[name] ??= performance.timeOrigin + performance.now());
	const look = () => {
		const told = document.querySelector('.loading .dim')?.textContent ?? 'asking the server', view = window.incore?.pane?.()?.view;
		if (told !== 'asking the server') note('progress');
		if (view?.stats.frames && (view.stats.isExact ? view.exact.isQuiet() : view.tiles.count() && !view.tiles.waiting())) note('lanes');
		if (document.querySelector('.panel-isa .table-row, .isa-early')) note('code');
		if (document.querySelector('.panel-isa .table-row')) note('rows');
		if (document.querySelector('.panel[data-panel="source"] .table-row')) note('source');
		if (!seen.lanes || !seen.rows || !seen.source) requestAnimationFrame(look);
	};
	requestAnimationFrame(look);
}

async function newPage(browser, size = SCREEN) {
	const page = await (await browser.newContext({ viewport: size, colorScheme: 'light' })).newPage();
	page.on('pageerror', (e) => console.log(`  the page threw: ${e.message}`));
	page.setDefaultTimeout(180000);
	await page.addInitScript(watch);
	await page.addInitScript(steps);
	return page;
}

/** With the listing and its source side by side, as a window of this width opens. */
async function shown(page, url) {
	await page.goto(url);
	await page.waitForFunction(() => window.seen.lanes && window.seen.rows && (window.seen.source || !document.querySelector('.dock-body.two')));
	return page.evaluate(() => window.seen);
}

/** Runs in the page: what is done in each frame, by name. The page's policy forbids code from text. */
function steps() {
	let way = 1;
	const scroll = (by) => (i) => void (document.querySelector('.panel-isa .table').scrollTop += i && by);
	window.steps = {
		/** to the right until the end, then to the left: what a person does who looks for something */
		pan: () => {
			const app = window.incore.app(), { t0, t1 } = app.store.get();
			if (t1 >= app.trace.span.end) way = -1;
			if (t0 <= 0) way = 1;
			window.incore.pane().input.pan(way * 0.012);
		},
		scroll: scroll(5 * 22), drag: scroll(300 * 22), nothing: () => undefined,
	};
}

/** Takes a step in every frame; milliseconds from frame to frame. */
function eachFrame(page, n, name) {
	return page.evaluate(([count, step]) => new Promise((done) => {
		const times = [];
		let last = 0;
		const frame = (now) => {
			if (last) times.push(now - last);
			last = now;
			if (times.length >= count) return done(times);
			window.steps[step](times.length);
			requestAnimationFrame(frame);
		};
		requestAnimationFrame(frame);
	}), [n, name]);
}

async function zoomTo(page, share, isBottomOpen = false) {
	await page.evaluate(([part, isOpen]) => {
		const app = window.incore.app(), end = app.trace.span.end;
		app.store.set({ t0: end * 0.3, t1: end * (0.3 + part), sort: 'duration', isBottomOpen: isOpen });
	}, [share, isBottomOpen]);
	await page.waitForFunction(() => !window.incore.stats().tiles_waiting);
}

// --- the measurements ---

/** When what the page asked for was there, in ms after the navigation began; the page's own clock. */
function waterfall() {
	const all = performance.getEntriesByType('resource'), nav = performance.getEntriesByType('navigation')[0];
	const end = (f) => Math.max(...all.filter((r) => f(new URL(r.name).pathname)).map((r) => r.responseEnd));
	return {
		origin: performance.timeOrigin, page: nav.responseEnd, script: end((p) => p === '/incore.js'), trace: end((p) => p === '/api/1/trace'), code: end((p) => p === '/api/1/code'),
		tiles: end((p) => p === '/api/1/tile'), isa: end((p) => p === '/api/1/isa'), paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN,
	};
}

/**
 * The browser's window is open before the command is given, as that of a person who uses it; what making one takes is Chromium's own and
 * stands in a line of its own.
 */
async function opening(browser, capture) {
	for (const word of ['cold', 'warm', 'warm', 'warm']) {
		head(`${word} open`);
		const began = Date.now(), page = await newPage(browser), spent = await meter(page), window_ms = Date.now() - began;
		const server = await serve(capture.dir), seen = await shown(page, server.url), from = (t) => (t - server.at) / 1000;
		const busy = await spent(), w = await page.evaluate(waterfall), at = (name) => from(w.origin + w[name]);
		line('a new window in Chromium, before the command', window_ms, 'ms');
		line('command to printed address', from(server.addressed), 's');
		line('to the start of the navigation', from(w.origin), 's');
		line('to the page, and its script', at('script'), 's');
		line('to the first paint', at('paint'), 's');
		if (seen.progress) line('command to first progress on screen', from(seen.progress), 's', word === 'cold' ? 0.3 : undefined);
		line('to the answers trace and code', Math.max(at('trace'), at('code')), 's');
		line('to the last tile asked for', at('tiles'), 's');
		line('command to lanes on screen', from(seen.lanes), 's', word === 'cold' ? 4 : 0.7);
		line('command to code in the ISA panel, with executions and cycles', from(seen.code), 's');
		line('to the answer isa', at('isa'), 's');
		line('command to rows with all figures in the ISA panel', from(seen.rows), 's');
		if (seen.source) line('command to the source beside it, with its figures', from(seen.source), 's');
		line('processor time of the page until then', busy, 'ms');
		line('processor time of the server until then', server.busy(), 'ms');
		await page.context().close();
		await server.stop();
	}
}

/** Until the server has nothing more to do: what panels ask for after an opening would be measured, too. */
async function idle(server) {
	for (let last = -1, now; (now = server.busy()) !== last; last = now) await new Promise((done) => setTimeout(done, 500));
}

/** The longest waves: lanes that are full wherever the view goes. */
async function panning(unpaced, server) {
	const page = await newPage(unpaced), spent = await meter(page);
	await shown(page, server.url);
	await idle(server);
	const isTwo = await page.evaluate(() => !!document.querySelector('.dock-body.two'));
	for (const [word, share, isOpen] of [['whole lanes', 0.25, false], ['instructions', 0.0005, false], ...(isTwo ? [['whole lanes, ISA and Source open', 0.25, true], ['instructions, ISA and Source open', 0.0005, true]] : [])]) {
		await zoomTo(page, share, isOpen);
		const lack = await page.evaluate((n) => n * 18 - window.incore.pane().view.scroller.clientHeight, LANES), { height } = page.viewportSize();
		if (lack > 0) await page.setViewportSize({ ...SCREEN, height: height + lack });
		await eachFrame(page, 30, 'pan');
		await page.evaluate(() => window.incore.reset());
		await spent();
		const times = await eachFrame(page, 400, 'pan'), busy = await spent(), s = await page.evaluate(() => window.incore.stats());
		head(`panning over ${word}: ${s.rows} lanes, lanes of ${await page.evaluate(() => document.querySelector('.lanes-stage canvas').width)} px, ${s.is_exact ? 'slices' : 'tiles'}`);
		frames('frame to frame', times);
		line('processor time of the page a frame', busy / times.length, 'ms', 8);
		line('script that draws: p50', s.p50_ms, 'ms');
	}
	await page.context().close();
}

/**
 * Runs in the page, before the click: window.marked becomes the milliseconds from the button's release to all marks, seen frame by frame;
 * null where nothing ran at that place.
 */
function arm(ids) {
	let from = 0;
	const app = window.incore.app(), before = JSON.stringify(app.store.get().selection), limit = performance.now() + 20000;
	addEventListener('pointerup', (e) => (from = e.timeStamp), { capture: true, once: true });
	const look = () => {
		const s = app.store.get().selection, isNew = from > 0 && JSON.stringify(s) !== before;
		if (isNew && s?.kind !== 'slice') return null;
		const isMarked = ids.every((id) => {
			const key = { isa: s?.code, source: s?.line }[id];
			return document.querySelector(`.panel[data-panel="${id}"] .table-row.marked${key === undefined ? '' : `[data-key="${key}"]`}`);
		});
		const start = document.querySelector('.inspector .facts-table td:nth-child(2)')?.textContent.replace(/\D/g, ''), isTold = Number(start) === s?.t0;
		return isNew && isMarked && isTold ? performance.now() - from : performance.now() > limit ? -1 : undefined;
	};
	window.marked = new Promise((done) => {
		const frame = () => {
			const ms = look();
			if (ms === undefined) requestAnimationFrame(frame);
			else done(ms);
		};
		requestAnimationFrame(frame);
	});
}

async function clicking(browser, server) {
	const page = await newPage(browser);
	await shown(page, server.url);
	head('click on a slice to lanes, inspector and panel marked');
	const places = await page.evaluate(() => {
		const { view } = window.incore.pane(), { tracks } = window.incore.app().trace, box = view.over.getBoundingClientRect(), { t0, t1, width } = view.scale();
		return view.visible().filter((r) => r.lane && view.yOf(r) + r.height < box.height).slice(0, 12).map((r, i) => {
			const k = tracks[r.lane.tracks[0]], t = k.begin + (k.end - k.begin) * (0.2 + 0.05 * i);
			return [box.x + ((t - t0) / (t1 - t0)) * width, box.y + view.yOf(r) + r.height / 2];
		});
	});
	for (const ids of [['isa', 'source'], ['isa'], ['source'], ['waves']]) {
		if (!await page.locator(`.tab[data-panel="${ids.at(-1)}"]:not(.empty)`).count()) continue;
		await page.evaluate(([panel, beside]) => window.incore.app().store.set({ panel, beside: beside ?? null }), ids);
		for (const id of ids) await page.waitForSelector(`.panel[data-panel="${id}"] .table-row`);
		const times = [];
		for (const [x, y] of places) {
			await page.evaluate(arm, ids);
			await page.mouse.click(x, y);
			const ms = await page.evaluate(() => window.marked);
			if (ms !== null) times.push(ms < 0 ? Infinity : ms);
		}
		if (!times.length) continue;
		line(`${ids.join(' beside ')}: p50 of ${times.length} clicks`, quantile(times, 0.5), 'ms', 100);
		line(`${ids.join(' beside ')}: worst`, Math.max(...times), 'ms', 100);
	}
	await page.context().close();
}

async function heap(browser, server) {
	const page = await newPage(browser), client = await page.context().newCDPSession(page);
	await shown(page, server.url);
	await zoomTo(page, 0.05);
	const read = async () => {
		await client.send('HeapProfiler.collectGarbage');
		const all = await client.send('Runtime.getHeapUsage'), tiles = await page.evaluate(() => window.incore.stats().tile_bytes);
		return { script: all.usedSize / 1e6, whole: (all.usedSize + (all.backingStorageSize ?? 0)) / 1e6, tiles: tiles / 1e6 };
	};
	head(`browser heap over ${MINUTES} minutes of panning`);
	await eachFrame(page, 200, 'pan');
	const begin = await read(), until = Date.now() + MINUTES * 60000;
	let n = 0, half = null;
	while (Date.now() < until) {
		n += (await eachFrame(page, 300, 'pan')).length;
		await zoomTo(page, [0.2, 0.05, 0.01, 0.002][Math.floor(n / 300) % 4]);
		if (!half && Date.now() > until - MINUTES * 30000) half = await read();
	}
	const end = await read();
	line('before: script objects and buffers', begin.whole, 'MB', 150);
	line('of that tiles', begin.tiles, 'MB');
	line(`after ${n} frames: script objects and buffers`, end.whole, 'MB', 150);
	line('of that tiles (the cache holds at most 64 MB)', end.tiles, 'MB', 64);
	line('script objects, before', begin.script, 'MB');
	line('script objects, halfway', half?.script ?? NaN, 'MB');
	line('script objects, after', end.script, 'MB');
	line('script objects, growth since half of the time', end.script - (half?.script ?? end.script), 'MB', 1);
	await page.context().close();
}

async function listing(unpaced) {
	const capture = generated('wide', ISA_ROWS, 8, ISA_ROWS / 4), server = await serve(capture.dir), page = await newPage(unpaced), spent = await meter(page);
	const seen = await shown(page, server.url);
	const rows = await page.evaluate(() => Number(document.querySelector('.panel-isa .table').getAttribute('aria-rowcount')) - 1);
	head(`ISA list of ${rows} rows${await page.locator('.dock-body.two').count() ? ', its source beside it' : ''}`);
	line('command to rows on screen (cold)', (seen.rows - server.at) / 1000, 's');
	line('processor time of the page until then', await spent(), 'ms');
	await page.evaluate(() => (document.querySelector('.panel-isa .table').scrollTop = 0));
	for (const [words, step] of [['scrolling by 5 rows a frame', 'scroll'], ['thumb dragged, 300 rows a frame', 'drag']]) {
		await eachFrame(page, 20, 'nothing');
		await spent();
		frames(words, await eachFrame(page, 300, step));
		line('processor time of the page a frame', await spent() / 300, 'ms', 6);
	}
	await eachFrame(page, 20, 'nothing');
	const isWhole = await page.evaluate(() => new Promise((done) => setTimeout(() => done([...document.querySelectorAll('.panel-isa .table-row')].every((r) => r.querySelector('[data-column="hit"]').textContent !== '') && !document.querySelector('.hurried')), 200)));
	if (!isWhole) console.log('  FAILED: rows stayed unfinished after the thumb was let go');
	line('elements in the page', await page.evaluate(() => document.querySelectorAll('*').length), '', 3000);
	await page.context().close();
	await server.stop();
}

async function report(browser, capture, what) {
	head(`report of ${(capture.slices / 1e6).toFixed(2)} M instructions, ${what}`);
	const file = path.join(scratch, path.basename(capture.dir) + '.html'), began = Date.now();
	incore('report', '-q', '-o', file, capture.dir);
	line('writing it', (Date.now() - began) / 1000, 's');
	line('size', statSync(file).size / 1e6, 'MB', 3);
	const page = await newPage(browser), seen = await shown(page, `file://${file}#v=1&p=isa`), origin = await page.evaluate(() => performance.timeOrigin);
	line('opening it, to lanes on screen', (seen.lanes - origin) / 1000, 's', 2);
	line('opening it, to rows in the ISA panel', (seen.rows - origin) / 1000, 's');
	await page.context().close();
}

const wanted = (name) => !given.only || given.only.split(',').includes(name);

/** One part; what stops it stops no other. */
async function part(f, ...words) {
	if (!wanted(f.name)) return;
	await f(...words).catch((e) => {
		console.log(`  FAILED: ${e.message.split('\n')[0]}`);
		process.exitCode = 1;
	});
}

async function main() {
	let playwright;
	try {
		playwright = createRequire(path.join(ROOT, 'tests', 'ui', 'run.mjs'))('playwright-core');
	} catch {
		console.log('skipped: playwright-core is not installed (npm ci in tests/ui)');
		return;
	}
	const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium', args = ['--no-sandbox', '--disable-gpu'];
	const isAlone = given.only === 'listing', source = isAlone ? null : smallCapture(), capture = isAlone ? null : replicated('many', source, MILLIONS * 1e6);
	if (capture) console.log(`${(capture.slices / 1e6).toFixed(1)} M slices, ${(capture.bytes / 1e6).toFixed(0)} MB of JSON; ${SCREEN.width} x ${SCREEN.height}, software raster; ${readFileSync('/proc/loadavg', 'utf8').trim()}`);
	const browser = await playwright.chromium.launch({ executablePath, args });
	const unpaced = await playwright.chromium.launch({ executablePath, args: [...args, ...UNPACED] });
	try {
		if (isAlone) return await part(listing, unpaced);
		await part(opening, browser, capture);
		const server = await serve(capture.dir);
		await part(panning, unpaced, server);
		await part(clicking, browser, server);
		await part(listing, unpaced);
		if (wanted('report')) {
			await part(report, browser, replicated('million', source, 1e6), 'copies of a capture');
			await part(report, browser, generated('mixed', 2000, 64, 15625), 'no two waves alike');
		}
		await part(heap, browser, server);
		await server.stop();
	} finally {
		await browser.close();
		await unpaced.close();
	}
}

main().catch((e) => {
	console.log(e.stack ?? e);
	process.exitCode = 1;
}).finally(() => rmSync(scratch, { recursive: true, force: true }));
