// SPDX-License-Identifier: Apache-2.0
// lib.mjs: what the browser tests share: the program, its server, pages that forbid errors and foreign requests, and tables as text.
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
export const ROOT = path.resolve(here, '..', '..');
export const DATA = path.join(ROOT, 'tests', 'data');
export const CHECKLIST = JSON.parse(readFileSync(path.join(ROOT, 'tests', 'ui', 'checklist.json'), 'utf8'));

/** A bound on waiting for what has to come, no measurement: a busy machine may take its time. */
export const PATIENCE_MS = Number(process.env.PATIENCE_MS ?? 120000);

let program = path.join(ROOT, 'build', 'incore');
export const scratch = mkdtempSync(path.join(tmpdir(), 'incore-ui-'));

export function programFile() {
	return program;
}

export function setProgram(file) {
	program = path.resolve(file);
}

export function environment() {
	return { ...process.env, XDG_CACHE_HOME: path.join(scratch, 'cache'), XDG_CONFIG_HOME: path.join(scratch, 'no-config'), LC_ALL: 'C.UTF-8', TZ: 'UTC', NO_COLOR: '1' };
}

/** Output of the program; the exit status is in .status of what it throws. */
export function incore(...words) {
	return execFileSync(program, words, { cwd: DATA, env: environment(), encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** `data` of `incore VERB --json`; status 1 is an answer, too. */
export function verb(name, ...given) {
	const words = given.map((w) => w.replace(/^report:/, ''));
	try {
		return JSON.parse(incore(name, '--json', '-q', ...words)).data;
	} catch (e) {
		if (e.status !== 1) throw e;
		return JSON.parse(e.stdout).data;
	}
}

/** The program that writes packed traces, beside the one that is tested. */
export function maker() {
	return path.join(path.dirname(program), 'tests', 'make_packed');
}

/** A copy of a capture with some text of its files replaced; the same one twice is made once. */
export function altered(name, label, change) {
	const dir = path.join(scratch, label);
	if (existsSync(dir)) return dir;
	mkdirSync(dir, { recursive: true });
	cpSync(path.resolve(DATA, name), dir, { recursive: true });
	const walk = (d) => readdirSync(d, { withFileTypes: true }).forEach((f) => {
		const file = path.join(d, f.name);
		if (f.isDirectory()) return walk(file);
		const text = readFileSync(file, 'utf8'), now = change(text, f.name);
		if (now !== text) writeFileSync(file, now);
	});
	walk(dir);
	return dir;
}

export class Server {
	/** Starts `incore view` and waits for its address. */
	static start(...words) {
		const child = spawn(program, ['view', '--no-open', '--no-cache', ...words], { cwd: DATA, env: environment(), stdio: ['ignore', 'pipe', 'pipe'] });
		return new Promise((resolve, reject) => {
			let text = '';
			const look = (data) => {
				text += data;
				const m = /http:\/\/127\.0\.0\.1:(\d+)\/#token=([0-9a-f]+)/.exec(text);
				if (m) resolve(Object.assign(new Server(child, m[0], Number(m[1]), m[2]), { told: () => text }));
			};
			child.stdout.on('data', look);
			child.stderr.on('data', look);
			child.on('exit', (code) => reject(new Error(`incore view ${words.join(' ')} ended with ${code}:\n${text}`)));
		});
	}

	constructor(child, url, port, token) {
		Object.assign(this, { child, url, port, token });
	}

	stop() {
		return new Promise((resolve) => {
			this.child.removeAllListeners('exit');
			if (this.child.exitCode !== null) return resolve(this.child.exitCode);
			this.child.on('exit', (code) => resolve(code));
			this.child.kill('SIGTERM');
		});
	}
}

const reports = new Map();

/** The report of a capture, written once; its address. */
export function report(name, ...words) {
	const key = [name, ...words].join(' ');
	if (!reports.has(key)) {
		const file = path.join(scratch, `report-${reports.size}.html`);
		incore('report', '-q', ...words, '-o', file, name);
		reports.set(key, file);
	}
	return 'file://' + reports.get(key);
}

/** Numbers of [0, 1), the same for the same seed. */
function random(seed) {
	let n = seed >>> 0;
	return () => (n = (Math.imul(n, 1664525) + 1013904223) >>> 0) / 4294967296;
}

/** DELAY=SEED: every answer of a server comes up to 300 ms late, each by its own time, so that they come in any order. */
const late = process.env.DELAY ? random(Number(process.env.DELAY)) : null;

async function hold(route) {
	await new Promise((go) => setTimeout(go, 300 * late()));
	await route.continue().catch(() => undefined); // the page may be gone, or no longer want it
}

/** A page that remembers what must not happen. */
export async function newPage(browser, options = {}) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'light', reducedMotion: 'reduce', ...options });
	const page = await context.newPage();
	const bad = [];
	page.on('console', (m) => ['error', 'warning'].includes(m.type()) && bad.push(`console ${m.type()}: ${m.text()}`));
	page.on('pageerror', (e) => bad.push(`exception: ${e.stack ?? e.message}`));
	page.on('requestfailed', (r) => !/ERR_ABORTED/.test(r.failure()?.errorText ?? '') && bad.push(`request failed: ${r.url()} ${r.failure()?.errorText}`));
	page.on('request', (r) => {
		const u = new URL(r.url());
		if (!(['127.0.0.1'].includes(u.hostname) || ['file:', 'data:', 'blob:'].includes(u.protocol))) bad.push(`foreign request: ${r.url()}`);
	});
	if (late) await page.route('**/api/1/**', hold);
	const wait = page.waitForFunction.bind(page);
	page.waitForFunction = (look, ...rest) => { // a promise is true at once, whatever it will say
		truth(look.constructor.name !== 'AsyncFunction', 'waitForFunction does not wait for promises: rests() does');
		return wait(look, ...rest);
	};
	page.bad = bad;
	page.setDefaultTimeout(PATIENCE_MS);
	return page;
}

/** Opens an address and waits for the window. It opens with the verdict; the tests begin one step later, at the listing, and in reports at the summary. */
export async function open(page, url) {
	await page.goto(url);
	await page.waitForSelector('.dock .tab');
	if (!url.includes('&p=')) await page.evaluate(toListing);
	return page;
}

/** Runs in the page. */
function toListing() {
	const { store, trace } = window.incore.app(), isReport = document.body.dataset.report === '1', isWide = innerWidth >= 1500 && trace.sources.length > 0 && !isReport;
	if (store.get().panel === 'verdict' && store.get().beside !== 'source') store.set({ panel: isReport ? 'summary' : 'isa', beside: isWide ? 'source' : null });
}

/** Everything that the page asked for has come and is drawn. A test that holds answers back says so (page.isHeld): it waits for what it reads. */
export async function quiet(page) {
	if (page.isHeld) return;
	await rests(page, async () => {
		const frame = () => new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(f)));
		if (window.incore.stats().waiting) return false;
		await frame();
		return !window.incore.stats().waiting;
	});
}

/** Waits until what runs in the page, and may take its time, says true. */
export async function rests(page, look) {
	truth(await comes(() => page.evaluate(look)), 'the page does not come to rest');
}

/** Opens a panel by its tab and waits until it shows all that it will. */
export async function panel(page, id) {
	await page.click(`.tab[data-panel="${id}"]`);
	await page.waitForFunction((p) => {
		const host = document.querySelector(`.panel[data-panel="${p}"]`);
		return host && (host.querySelector('.table, .notice:not([role=status]), .screen, .summary, .plot, canvas, .plain, .facts'));
	}, id);
	await quiet(page);
	return page.locator(`.panel[data-panel="${id}"]`);
}

/** All rows of a virtual table, scrolling through it: [{column: text}]. */
export async function rows(page, label) {
	return page.evaluate(async (name) => {
		const table = [...document.querySelectorAll('.table')].find((t) => t.getAttribute('aria-label') === name);
		if (!table) throw new Error('no table ' + name + '; there are ' + [...document.querySelectorAll('.table')].map((t) => t.getAttribute('aria-label')).join(', '));
		const total = Number(table.getAttribute('aria-rowcount')) - 1, seen = new Map();
		const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
		table.scrollTop = 0;
		for (let guard = 0; guard < 5000; guard++) {
			await frame();
			for (const row of table.querySelectorAll('.table-row')) {
				const out = {};
				for (const cell of row.querySelectorAll('[data-column]')) out[cell.dataset.column] = cell.textContent.trim();
				seen.set(Number(row.dataset.index), out);
			}
			if (seen.size >= total) break;
			const before = table.scrollTop;
			table.scrollTop += Math.max(40, table.clientHeight - 80);
			if (table.scrollTop === before) break;
		}
		return [...seen.keys()].sort((a, b) => a - b).map((k) => seen.get(k));
	}, label);
}

export async function sortBy(page, label, column) {
	await page.locator(`.table[aria-label="${label}"] .table-head [data-column="${column}"] .sort`).click();
}

/** "1,234" as the viewer writes it. */
export function count(n, digits = 0) {
	if (n === null || n === undefined) return '-';
	const text = Math.abs(n).toFixed(digits).replace(/\B(?=(\d{3})+(?!\d)(?<!\.\d*))/g, ',');
	return n < 0 && Number(Math.abs(n).toFixed(digits)) !== 0 ? '-' + text : text;
}

export function cycles(n) {
	return n === null || n === undefined ? '-' : count(n, Number.isInteger(n) ? 0 : 1);
}

export function total(buckets) {
	return ['issue', 'stall', 'wait', 'idle', 'drain'].reduce((s, k) => s + buckets[k], 0);
}

export function equal(got, want, what) {
	const a = JSON.stringify(got), b = JSON.stringify(want);
	if (a !== b) throw new Error(`${what}: got ${a.slice(0, 1500)}, expected ${b.slice(0, 1500)}`);
}

export function truth(value, what) {
	if (!value) throw new Error(what);
}

/** The lines that `incore verdict` has for a capture, without their heads. */
export function screenLines(screen) {
	return ['bound_by', 'of_peak', 'waits', 'at', 'change', 'gain', 'sure', 'other', 'health', 'missing'].map((k) => screen[k]).filter(Boolean);
}

/** The lines of a verdict are its sentence, cut where clauses end, each begun with a capital. */
export function sameVerdict(lines, verdict) {
	let rest = verdict.replaceAll('`', ''); // shown as code
	truth(lines.length <= 3, `the verdict has ${lines.length} lines`);
	for (const line of lines.map((l) => l.replace(/\s+/g, ' ').trim())) {
		equal(line[0] + line.slice(1), rest[0].toUpperCase() + rest.slice(1, line.length), 'a line of the verdict');
		rest = rest.slice(line.length).replace(/^[,;] /, '');
	}
	equal(rest, '', 'what the lines of the verdict leave out');
}

/** Does it become true before long? */
export async function comes(is) {
	for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await new Promise((f) => setTimeout(f, 20))) if (await is()) return true;
	return false;
}

export function clean() {
	rmSync(scratch, { recursive: true, force: true });
}
