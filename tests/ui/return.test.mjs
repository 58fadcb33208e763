// SPDX-License-Identifier: Apache-2.0
// The server goes away and comes back: the page says so, keeps what it shows, and then shows what was asked for in between.
import http from 'node:http';
import { comes, equal, panel, rows, Server, truth } from './lib.mjs';
import { still } from './select.test.mjs';

/** Stands between page and server like a tunnel, which can break and be mended while both ends stay. */
class Tunnel {
	static async open(server) {
		const t = new Tunnel();
		t.server = server;
		t.seen = [];
		await t.mend(0);
		t.url = `http://127.0.0.1:${t.port}/#token=${server.token}`;
		return t;
	}

	mend(port = this.port) {
		this.http = http.createServer((request, answer) => {
			this.seen.push(request.url);
			const headers = { ...request.headers, host: `127.0.0.1:${this.server.port}` };
			const inner = http.request({ host: '127.0.0.1', port: this.server.port, method: request.method, path: request.url, headers }, (r) => {
				answer.writeHead(r.statusCode, r.headers);
				r.pipe(answer);
			});
			inner.on('error', () => answer.destroy());
			answer.on('close', () => inner.destroy());
			inner.end();
		});
		return new Promise((done) => this.http.listen(port, '127.0.0.1', () => done(this.port = this.http.address().port)));
	}

	break() {
		this.http.closeAllConnections();
		return new Promise((done) => this.http.close(done));
	}
}

/** What is drawn on the lanes. */
const drawn = () => [...document.querySelectorAll('.lanes-stage canvas')].map((c) => c.toDataURL()).join();
const picture = (page) => page.evaluate(drawn);
const set = (page, state) => page.evaluate((s) => window.incore.app().store.set(s), state);

async function opened(bench, url) {
	const page = await bench.blank();
	await page.goto(url);
	await page.waitForSelector('.dock .tab');
	await still(page);
	return page;
}

/** Retry, unless a question that was still on its way has found the server by itself. */
const again = (page) => page.evaluate(() => document.querySelector('.gone button')?.click());

/** Each needs answers that the page has not had: of lanes by cause, at another zoom, of units, of what a search finds. */
const VIEWS = { tile: { mode: 'cause' }, 'tile of another zoom': { t0: 0, t1: 600 }, units: { kind: 'units' }, found: { kind: 'waves', mode: 'class', query: 's_waitcnt' } };

async function tunnel(bench) {
	const server = await Server.start('gemm'), t = await Tunnel.open(server);
	const well = await opened(bench, server.url), page = await opened(bench, t.url);
	page.isAllowed = true;
	for (const [name, state] of Object.entries(VIEWS)) {
		await set(well, state);
		await still(well);
		const before = await picture(page), isAlike = async () => (await picture(page)) === (await picture(well));
		await t.break();
		await set(page, state);
		await page.waitForSelector('.gone');
		truth(/does not answer/.test(await page.innerText('.gone')), `${name}: ${await page.innerText('.gone')}`);
		if (/zoom/.test(name)) truth((await picture(page)).length > before.length / 4, `${name}: coarser cells stand in`);
		await page.click('.gone button');
		await page.waitForFunction(() => /still/.test(document.querySelector('.gone')?.textContent ?? ''));
		truth(await comes(async () => !(await isAlike())), `${name}: there is nothing to miss`);
		await t.mend();
		t.seen = [];
		await again(page);
		await page.waitForSelector('.gone', { state: 'detached' });
		const isSame = await comes(isAlike);
		truth(t.seen.some((u) => u.startsWith(`/api/1/${name.split(' ')[0]}?`)), `${name}: asked for again: ${t.seen}`);
		truth(isSame, `${name}: what is drawn after the return`);
	}
	await t.break();
	await server.stop();
}

async function panels(bench) {
	const server = await Server.start('gemm'), t = await Tunnel.open(server), page = await opened(bench, t.url);
	page.isAllowed = true;
	await t.break();
	await page.click('.tab[data-panel="waves"]');
	await page.waitForSelector('.gone');
	await t.mend();
	await again(page);
	await page.waitForSelector('.panel[data-panel="waves"] .table-row');
	equal((await rows(page, 'Waves')).length, 8, 'waves of a panel that was opened in between');
	await panel(page, 'occupancy');
	equal(await page.locator('.gone').count(), 0, 'nothing is said any more');
	await t.break();
	await server.stop();
}

/** A new run has a new key: the page cannot go on with it, and says what to do. */
async function another(bench) {
	const server = await Server.start('gemm'), page = await opened(bench, server.url), port = String(server.port);
	page.isAllowed = true;
	server.child.removeAllListeners('exit');
	await new Promise((done) => server.child.on('exit', done) && server.child.kill('SIGKILL'));
	await still(page);
	const before = await picture(page);
	await page.click('.tab[data-panel="occupancy"]');
	await page.waitForSelector('.gone');
	truth(/does not answer/.test(await page.innerText('.gone')), 'the page says so');
	equal(await picture(page), before, 'the picture stays');
	const next = await Server.start('--port', port, 'gemm');
	await page.click('.gone button');
	await page.waitForFunction(() => /another run/.test(document.querySelector('.gone')?.textContent ?? ''));
	equal(await picture(page), before, 'the picture still stays');
	await next.stop();
}

export const tests = [
	{ name: 'return: lanes, units and search are asked for again', run: tunnel },
	{ name: 'return: a panel opened in between', run: panels },
	{ name: 'return: another run at the same address', run: another },
];
