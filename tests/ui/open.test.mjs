// SPDX-License-Identifier: Apache-2.0
// Every kind of capture opens, says what it is, and has no blank panel.
import { CHECKLIST, equal, panel, truth, verb } from './lib.mjs';

const KINDS = {
	'an AMD capture': 'gemm', 'an Ascend trace': 'ascend_matmul', 'samples only': 'pc_sampling', 'a truncated capture': 'truncated', 'a shell': 'shell_empty',
	'no source': 'no_source', 'a missed CU': 'shell_missed_cu', 'damaged waves': 'bad_wave', 'raw thread traces': 'sqtt_gfx9', 'an Ascend device run': 'ascend_device', 'inlined code': 'inline',
};

async function opens(bench, name) {
	const page = await bench.page(name), info = verb('info', name), check = verb('check', name);
	truth((await page.title()).startsWith(info.kernel || 'unknown kernel'), `title ${await page.title()}`);
	equal(await page.textContent('.title-bar .evidence'), info.evidence, 'evidence');
	if (info.waves) equal(await page.textContent('.title-bar .tracks'), `${info.waves} ${info.vendor === 'ascend' ? 'pipes' : 'waves'}`, 'tracks');
	await page.waitForFunction((word) => document.querySelector('.banner')?.textContent.includes(word), check.verdict);
	const banner = await page.textContent('.banner');
	truth(banner.includes(check.verdict), `banner "${banner}" has no word ${check.verdict}`);
	const worst = check.findings.find((f) => f.severity !== 'info');
	if (worst) truth(banner.includes(worst.message.slice(0, 30)) || banner.includes('finding'), `banner "${banner}" does not tell ${worst.message}`);
	if (['vendor-simulator', 'estimate'].includes(info.evidence)) truth(/simulator|estimate/.test(banner), 'the banner hides what kind of evidence it is');
	return page;
}

async function everyPanel(bench, name) {
	const page = await opens(bench, name), isAscend = verb('info', name).vendor === 'ascend';
	const tabs = await page.$$eval('.tab', (all) => all.map((t) => [t.dataset.panel, t.textContent]));
	const want = CHECKLIST.panels.filter((p) => !p.only || (p.only === 'ascend') === isAscend);
	equal(tabs.map((t) => t[0]), want.map((p) => p.id), 'tabs');
	for (const p of want) {
		const host = await panel(page, p.id);
		const text = (await host.innerText()).trim(), pictures = await host.locator('canvas, svg').count();
		truth(text.length > 20 || pictures > 0, `${p.id} of ${name} is blank: "${text}"`);
		truth(!/undefined|NaN|\[object/.test(text), `${p.id} of ${name} shows "${/.{30}(undefined|NaN|\[object).{0,20}/s.exec(text)?.[0]}"`);
	}
}

const COVERS = [...CHECKLIST.panels.map((p) => 'panel:' + p.id), 'part:title bar', 'part:health banner'];
export const tests = ['', 'report:'].flatMap((kind) => Object.entries(KINDS).filter(([, name]) => !kind || ['gemm', 'ascend_matmul', 'pc_sampling', 'truncated', 'shell_empty', 'no_source'].includes(name))
	.map(([words, name]) => ({ name: `open${kind ? ' the report' : ''}: ${words} shows every panel`, run: (bench) => everyPanel(bench, kind + name), covers: COVERS })));
