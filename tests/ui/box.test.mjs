// SPDX-License-Identifier: Apache-2.0
// Boxes over the lanes: what was lost is told by cause, from the same figures as the answer.
import { count, truth } from './lib.mjs';

async function byCause(bench, fixture) {
	const page = await bench.page(fixture);
	await page.evaluate(() => window.incore.app().select({ kind: 'box', t0: 0, t1: 900, tracks: [0, 1, 2] }));
	const server = await bench.server(fixture);
	const answer = await (await fetch(`http://127.0.0.1:${server.port}/api/1/select?tracks=0-2&t0=0&t1=900&by=class&causes=1`, { headers: { Authorization: 'Bearer ' + server.token } })).json();
	const lossy = answer.rows.filter((r) => r.stall + r.wait > 0);
	truth(lossy.length > 0, 'nothing was lost in the box');
	for (const r of lossy) {
		const words = Object.entries(r.causes).sort((a, b) => b[1] - a[1]).map(([k, v]) => `${k} ${count(v)}`).join(', ');
		truth(Object.values(r.causes).reduce((a, b) => a + b) === r.stall + r.wait, `${r.key}: causes do not add up`);
		await page.waitForFunction(([key, text]) => [...document.querySelectorAll('.box-statistics [role=row]')].some((e) => e.textContent.includes(key) && e.textContent.includes(text)), [r.key, words]);
	}
}

export const tests = [
	{ name: 'box: what waves lost, by cause', run: (b) => byCause(b, 'gemm') },
	{ name: 'box: what pipes waited for, by cause', run: (b) => byCause(b, 'ascend_matmul') },
];
