// SPDX-License-Identifier: Apache-2.0
// What is shared: a link whose reader is asked for the key, here and through a tunnel, and the capture as a report that opens with the view.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { altered, equal, incore, maker, scratch, truth, verb } from './lib.mjs';

/** What `ssh -L` does: bytes to and fro, from a port of its own. */
function forward(port) {
	const server = net.createServer((near) => {
		const far = net.connect(port, '127.0.0.1');
		for (const [a, b] of [[near, far], [far, near]]) a.pipe(b).on('error', () => a.destroy()), a.on('error', () => b.destroy());
	});
	return new Promise((done) => server.listen(0, '127.0.0.1', () => done({ port: server.address().port, end: () => server.close() })));
}

const VIEW = { t0: 400, t1: 1900, panel: 'waves', beside: null, mode: 'cause', unit: 'pct', sort: 'stall', pins: [1], query: 's_waitcnt', markers: [{ t: 700, dur: 50, colour: 3, name: '"here" & <there>' }] };
const SLICE = { kind: 'slice', track: 1, slice: 5 };
const seen = (page) => page.evaluate((keys) => Object.fromEntries(keys.map((k) => [k, window.incore.stats().state[k]])), Object.keys(VIEW));
const menu = async (page, words) => {
	await page.click('.title-bar button:has-text("Share")');
	await page.click(`.menu button:has-text("${words}")`);
};

async function show(page) {
	await page.evaluate(([view, slice]) => {
		window.incore.app().store.set(view);
		window.incore.app().select(slice);
	}, [VIEW, SLICE]);
}

async function isShown(page, what) {
	await page.waitForSelector('.dock .tab');
	equal(await seen(page), VIEW, what);
	await page.waitForFunction((n) => window.incore.stats().state.selection?.slice === n, SLICE.slice);
}

/** The link that "Copy" puts into the clipboard, which all pages of a machine share: taken on its way there. */
async function copied(page) {
	await page.evaluate(() => (navigator.clipboard.writeText = async (text) => void (window.copied = text)));
	await menu(page, 'Copy a link');
	return (await page.waitForFunction(() => window.copied)).jsonValue();
}

async function told(page, key, pattern) {
	await page.fill('#key', key);
	await page.keyboard.press('Enter');
	await page.waitForFunction((p) => new RegExp(p).test(document.querySelector('#key-told').textContent), pattern.source);
}

const DATA = ['trace', 'info', 'code', 'isa', 'source?file=0', 'tile?tracks=0-1&level=2&i=0', 'progress', 'report', 'report?c=0'];

/** A tab without the key: it shows, asks and keeps nothing, and the server tells it nothing. */
async function knowsNothing(page, server, asked) {
	const kernel = verb('info', 'gemm').kernel, text = await page.innerText('body');
	equal([asked.length, await page.title(), text.includes(kernel), /\.py|cycles|waves/.test(text)], [0, 'incore', false, false], 'what a tab without the key knows');
	equal(await page.evaluate(() => [Object.keys(localStorage).filter((k) => k !== 'incore.theme').length, sessionStorage.length, document.cookie]), [0, 0, ''], 'what it keeps');
	const answers = await page.evaluate((all) => Promise.all(all.map(async (p) => {
		const answer = await fetch('/api/1/' + p);
		return [answer.status, await answer.text()];
	})), DATA);
	for (const [i, [status, body]] of answers.entries()) truth(status === 401 && !body.includes(kernel) && JSON.parse(body).error.code === 'no-token', `${DATA[i]}: ${status} ${body.slice(0, 100)}`);
}

async function link(bench, isFar) {
	const server = await bench.server('gemm'), page = await bench.page('gemm'), tunnel = isFar ? await forward(server.port) : null;
	await show(page);
	const address = await copied(page);
	truth(address.startsWith(`http://127.0.0.1:${server.port}/#v=1&`) && !address.includes(server.token) && !/token/.test(address), `the link is ${address}`);
	const here = tunnel ? address.replace(`:${server.port}/`, `:${tunnel.port}/`) : address, other = await bench.blank(), asked = [];
	other.isAllowed = true; // an answer of 401 is written to the console
	other.on('request', (r) => /\/api\//.test(r.url()) && asked.push(r.url()));
	await other.goto(here);
	await other.waitForSelector('.key-page');
	equal(await other.evaluate(() => document.activeElement.id), 'key', 'the field has the focus');
	await knowsNothing(other, server, asked);
	await told(other, 'some words', /There is no key in this/);
	await told(other, '0'.repeat(32), /not the key of this run/);
	await told(other, `http://127.0.0.1:1/#token=${'1'.repeat(32)}`, /not the key of this run/);
	equal([await other.evaluate(() => sessionStorage.length), other.url()], [0, here], 'a wrong key leaves nothing behind');
	await other.fill('#key', isFar ? server.url : ` ${server.token}\n`);
	await other.keyboard.press('Enter');
	await isShown(other, 'the view of the link');
	const kept = await other.evaluate(() => [location.href, JSON.stringify(localStorage), document.cookie, JSON.stringify(history.state)].join());
	truth(!kept.includes(server.token), 'the key outlives the tab');
	await other.reload();
	await isShown(other, 'the view after a reload');
	const third = await other.context().newPage();
	await third.goto(here);
	await third.waitForSelector('.key-page');
	tunnel?.end();
}

/** The printed address, opened in a tab that is here already: the browser changes the fragment and loads nothing. */
async function sameTab(bench) {
	const server = await bench.server('gemm'), page = await bench.blank();
	await page.goto(`http://127.0.0.1:${server.port}/`);
	await page.waitForSelector('.key-page');
	await page.evaluate((token) => (location.hash = '#token=' + token), server.token);
	await page.waitForSelector('.dock .tab');
	truth(!page.url().includes('token'), 'the key stays in the address');
}

async function saved(page, words = 'Save as report') {
	const [d] = await Promise.all([page.waitForEvent('download'), menu(page, words)]);
	return { name: d.suggestedFilename(), file: await d.path() };
}

async function opensWith(bench, file, name) {
	const page = await bench.blank(), copy = path.join(scratch, name);
	execFileSync('cp', [file, copy]);
	await page.goto('file://' + copy);
	await isShown(page, 'the view that the report opens with');
	return page;
}

async function asReport(bench) {
	const page = await bench.page('gemm', { acceptDownloads: true });
	await show(page);
	const { name, file } = await saved(page), text = readFileSync(file, 'utf8');
	equal([name, text.replace(/ data-view="[^"]*"/, '') === incore('report', '-q', '--format', 'html', '-o', '-', 'gemm')], ['incore-gemm_f16.html', true], 'the report, but for its view');
	truth(!text.includes((await bench.server('gemm')).token), 'the key is in the report');
	const other = await opensWith(bench, file, 'saved.html');
	await other.click('.title-bar button:has-text("Share")');
	equal(await other.locator('.menu button').allInnerTexts(), ['Copy a link, without the key'], 'what a report shares');
	await other.keyboard.press('Escape');
	await other.goto(other.url().replace(/#.*/, '') + '#v=1&p=flame');
	await other.reload();
	await other.waitForSelector('.dock .tab[data-panel=flame][aria-selected=true]');
}

/** Of the two that are compared, and shown the other way round. */
async function twoAsReport(bench) {
	const slower = altered('gemm', 'share-slower', (text, name) => (/^se.*json$/.test(name) ? text.replace(/\b16\b/g, '20') : text)), page = await bench.page(['gemm', slower], { acceptDownloads: true });
	await page.selectOption('.title-bar select[aria-label="Capture"]', '1');
	await page.waitForFunction(() => window.incore.app()?.trace.index === 1);
	await page.keyboard.press('x');
	await page.waitForFunction(() => window.incore.stats().state.base);
	await show(page);
	const { file } = await saved(page), text = readFileSync(file, 'utf8');
	truth(text.replace(/ data-view="[^"]*"/, '') === incore('report', '-q', '--format', 'html', '-o', '-', slower, 'gemm'), 'the report of both');
	const other = await opensWith(bench, file, 'saved-two.html');
	truth(await other.evaluate(() => window.incore.stats().state.base), 'the comparison is on');
}

/** What no report holds is told at once, with what to do. */
async function tooLarge(bench) {
	const file = path.join(scratch, 'many-3', 'many.incore');
	if (!existsSync(file)) {
		mkdirSync(path.dirname(file), { recursive: true });
		execFileSync(maker(), ['3', '64', file]);
	}
	const page = await bench.page(file);
	page.isAllowed = true; // the refusal is an answer with an error status
	await menu(page, 'Save as report');
	await page.waitForSelector('dialog[open]');
	truth(/more than the 2000000 that a report holds.*--hottest/.test(await page.innerText('dialog')), await page.innerText('dialog'));
}

export const tests = [
	{ name: 'share: a link asks for the key and opens its view', run: (b) => link(b, false) },
	{ name: 'share: the same through a tunnel with a port of its own', run: (b) => link(b, true) },
	{ name: 'share: the printed address in a tab that has no key', run: sameTab },
	{ name: 'share: a report that opens with the view', run: asReport, covers: ['part:report'] },
	{ name: 'share: a report of two captures', run: twoAsReport },
	{ name: 'share: what is too large for a report', run: tooLarge },
];
