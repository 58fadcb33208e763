// SPDX-License-Identifier: Apache-2.0
// Every kind of sound capture opens, says what it is, and has no blank panel; inputs.test.mjs has the others.
import { CHECKLIST, equal, verb } from './lib.mjs';
import { everyPanel, opens } from './panels.mjs';

const KINDS = { 'an AMD capture': 'gemm', 'an Ascend trace': 'ascend_matmul', 'raw thread traces': 'sqtt_gfx9', 'an Ascend device run': 'ascend_device', 'inlined code': 'inline', 'counters and markers': 'v31', 'Ascend, newer tool': 'ascend_a5' };

async function shows(bench, name) {
	const page = await opens(bench, name), isAscend = verb('info', name).vendor === 'ascend';
	const tabs = await page.$$eval('.tab', (all) => all.map((t) => t.dataset.panel)), want = CHECKLIST.panels.filter((p) => !p.only || (p.only === 'ascend') === isAscend);
	equal(tabs, want.map((p) => p.id), 'tabs');
	await everyPanel(page, name);
}

const COVERS = [...CHECKLIST.panels.map((p) => 'panel:' + p.id), 'part:title bar', 'part:health banner'];
export const tests = ['', 'report:'].flatMap((kind) => Object.entries(KINDS).map(([words, name]) => ({ name: `open${kind ? ' the report' : ''}: ${words} shows every panel`, run: (bench) => shows(bench, kind + name), covers: COVERS })));
