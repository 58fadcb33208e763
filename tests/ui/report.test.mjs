// SPDX-License-Identifier: Apache-2.0
// The written page without a script, the size of the shell, and the panels that show tables of a producer, occupancy and counters.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { comes, count, equal, incore, panel, report, rows, sameVerdict, scratch, screenLines, truth, verb } from './lib.mjs';

/** The page as a reader without scripts sees it, and its text. */
async function written(bench, name) {
	const page = await bench.blank({ javaScriptEnabled: false });
	await page.goto(report(name));
	return { page, text: (await page.locator('main.written').innerText()).replace(/\s+/g, ' ') };
}

/** The verdict of a written page: its lines, as they are in the document. */
function shownScreen(page) {
	return page.locator('.verdict dd').allTextContents();
}

/** Rows of the first table after a heading. */
async function tableAfter(page, heading) {
	const table = page.locator(`h2:has-text("${heading}") ~ .scroll table`).first(), out = [];
	for (const row of await table.locator('tr').all()) out.push((await row.locator('th, td').allInnerTexts()).map((c) => c.trim()));
	return out;
}

async function withoutScript(bench) {
	const { page, text } = await written(bench, 'gemm'), d = verb('summary', 'gemm'), isa = verb('isa', 'gemm');
	equal(await shownScreen(page), screenLines(verb('verdict', 'gemm').screen), 'the lines of the verdict');
	for (const words of ['Evidence: synthetic', d.occupancy.limits.sentence, `residue ${d.residue}`, 'incore report gemm', 'With scripts allowed']) truth(text.includes(words), `the page does not say "${words}"`);
	const accounts = await tableAfter(page, 'Where the cycles went');
	equal(accounts[0].slice(0, 3), ['bucket', 'cycles', '%'], 'head of the accounting');
	for (const [bucket, cyc] of accounts.slice(1)) equal(cyc, count(d.accounting[bucket]), bucket);
	const code = await tableAfter(page, 'Code around the costliest');
	const top = code.filter((r) => r[0] === '>').map((r) => Number(r[1])), want = d.rows.slice(0, 5).map((r) => r.at.row);
	equal(top.sort((a, b) => a - b), want.sort((a, b) => a - b), 'marked instructions');
	for (const r of code.slice(1).filter((x) => x[1])) {
		const row = isa.rows.find((x) => x.row === Number(r[1]));
		equal([r[3], r[4], r[6]], [count(row.hit), count(Object.values(row.buckets).reduce((a, b) => a + b, 0)), row.isa], `row ${r[1]}`);
	}
	// the page scrolls: nothing of the viewer's style holds it
	await page.mouse.move(300, 300);
	await page.mouse.wheel(0, 600);
	// asked from here: without scripts a page polls nothing
	truth(await comes(async () => (await page.evaluate(() => scrollY)) > 0), 'the page does not scroll');
}

async function writtenSamples(bench) {
	const { page, text } = await written(bench, 'pc_sampling'), isa = verb('isa', 'pc_sampling');
	truth(text.includes('A generator made this capture up'), 'what was made up is not said to be');
	const reasons = await tableAfter(page, 'Stall reasons');
	truth(reasons.length > 3 && reasons[0].join() === 'reason,stalled samples,%', 'no stall reasons');
	const code = await tableAfter(page, 'Code around the costliest');
	for (const r of code.slice(1).filter((x) => x[1])) equal(r[4], count(isa.rows.find((x) => x.row === Number(r[1])).stalled_samples), `stalled samples of row ${r[1]}`);
}

async function writtenPipes(bench) {
	const { page, text } = await written(bench, 'ascend_matmul');
	equal(await shownScreen(page), screenLines(verb('verdict', 'ascend_matmul').screen), 'the lines of the verdict');
	truth(text.includes("come from a vendor's simulator, not from hardware"), 'a simulator is not said to be one');
	truth((await page.locator('mark, pre').count()) > 0 && text.includes('/kernels/matmul.cpp:8'), 'the costliest line is not shown');
}

/** The bar, its words and the table stand on one accounting, also where records overlap (gemm) and of pipes. */
async function oneBasis(bench) {
	for (const name of ['gemm', 'v31', 'ascend_matmul']) {
		const { page } = await written(bench, name), { accounting: a } = verb('summary', name);
		const svg = page.locator('.card svg').first(), said = await svg.locator('text').allTextContents();
		equal(said, ['issue', 'stall', 'wait', 'idle', 'drain'].map((b) => `${b} ${count(a[b])} cycles, ${((100 * a[b]) / a.duration).toFixed(1)} %`), `the bar of ${name}`);
		const widths = (await svg.locator('rect').evaluateAll((all) => all.filter((r) => r.getAttribute('y') === '2').map((r) => Number(r.getAttribute('width')))));
		equal(widths.length, 5, 'parts of the bar');
		['issue', 'stall', 'wait', 'idle', 'drain'].forEach((b, i) => truth(Math.abs(widths[i] - (960 * a[b]) / a.duration) <= 1, `${b} of ${name} is ${widths[i]} wide`));
	}
}

/** The first screen: verdict, split, timeline, in the written page and in the opened one; on a large one what to try, too. */
async function firstScreen(bench) {
	const { screen } = verb('verdict', 'gemm'), d = verb('summary', 'gemm');
	for (const viewport of [{ width: 1600, height: 1000 }, { width: 1280, height: 720 }]) {
		const paper = await bench.blank({ javaScriptEnabled: false, viewport }), isLarge = viewport.height >= 1000;
		const ends = async (place) => ((b) => b.y + b.height)(await place.boundingBox());
		await paper.goto(report('gemm'));
		const card = paper.locator('.card'), end = await ends(isLarge ? card : card.locator('svg').last());
		truth(end <= viewport.height, `the card's ${isLarge ? 'end' : 'pictures'} end at ${end} of ${viewport.height}`);
		equal(await shownScreen(card), screenLines(screen), 'the lines of the verdict');
		equal([await card.locator('svg').count(), await card.locator('.try li').count()], [2, 3], 'pictures and experiments of the card');
		const tries = await card.locator('.try li').allInnerTexts();
		d.advice.slice(0, 3).forEach((a, i) => truth(tries[i].includes(a.cause) && tries[i].includes(a.experiment), `experiment ${i} is ${tries[i]}`));
		const page = await bench.page('report:gemm', { viewport });
		const seen = page.locator('.summary .headline');
		await seen.waitFor();
		sameVerdict(await seen.locator('.verdict li').allInnerTexts(), d.verdict);
		equal(await seen.locator('.first li').count(), 3, 'experiments on the first screen');
		for (const part of ['.summary .verdict', '.summary .first', '.summary .bucket-bar', '.timeline']) {
			const b = await page.locator(part).first().boundingBox();
			truth(b && b.y >= 0 && b.y + Math.min(b.height, 20) <= viewport.height, `${part} is not on the first screen: ${JSON.stringify(b)}`);
		}
	}
}

/** On paper both are the written report, page by page; after it the viewer is as it was. */
async function printed(bench) {
	const pages = async (page) => (await page.pdf({ format: 'A4' })).toString('latin1').match(/\/Type \/Page\b(?!s)/g).length;
	const { page: paper } = await written(bench, 'gemm'), want = await pages(paper);
	truth(want <= 8, `the written report has ${want} pages`);
	for (const colorScheme of ['light', 'dark']) {
		const page = await bench.page('report:gemm', { colorScheme });
		equal(await pages(page), want, `pages of the opened report (${colorScheme})`);
		equal([await page.locator('main.written').count(), await page.locator('.dock .tab').first().isVisible()], [0, true], 'the viewer after printing');
		// the same moment, held, to look at
		const seen = await page.evaluate(() => {
			dispatchEvent(new Event('beforeprint'));
			const style = getComputedStyle(document.body), shown = [...document.body.children].filter((e) => getComputedStyle(e).display !== 'none').map((e) => e.className), out = [style.backgroundColor, shown.join()];
			dispatchEvent(new Event('afterprint'));
			return out;
		});
		equal(seen, ['rgb(255, 255, 255)', 'written'], `what is printed (${colorScheme})`);
	}
}

/** Two captures: their names in the title, what changed before anything else. */
async function difference(bench) {
	const page = await bench.blank({ javaScriptEnabled: false }), names = ['repeated/ui_output_agent_1000_dispatch_7', 'repeated/ui_output_agent_1000_dispatch_9'];
	await page.goto(report(names[1], names[0])); // what comes after the first goes before it on the command line
	const title = `gemm_f16: ${path.basename(names[0])} -> ${path.basename(names[1])}`;
	equal([await page.title(), await page.locator('h1').innerText()], [`${title} - incore`, title], 'the title');
	const heads = await page.locator('h2').allInnerTexts();
	equal([heads[0], heads.filter((t) => /^[AB]: |^All of A$/.test(t))], ['What changed from A to B', [`A: gemm_f16, ${names[0]}`, `B: gemm_f16, ${names[1]}`, 'All of A']], 'the order of the page');
	const d = verb('diff', ...names), whole = d.values.find((v) => v.name === 'duration_per_hit');
	truth((await page.locator('h2 + ul li').first().innerText()).includes(`${whole.a.toFixed(3)} -> ${whole.b.toFixed(3)}`), 'the headline does not say what moved');
	const other = await bench.blank({ javaScriptEnabled: false });
	await other.goto(report('two_waves', 'gemm'));
	equal(await other.locator('h1').innerText(), 'gemm_f16 and add_one: gemm/ui_output_agent_1000_dispatch_7 and two_waves/ui_output_agent_1000_dispatch_3', 'two that cannot be compared');
	equal(await other.locator('.card').count(), 2, 'a card for each');
}

/** Both the page without data and one that is written twice. */
function shell() {
	const bytes = (name) => readFileSync(fileURLToPath(report(name)));
	truth(bytes('shell_empty').length <= 300 << 10, `the page without data has ${bytes('shell_empty').length} bytes`);
	const file = path.join(scratch, path.basename(fileURLToPath(report('gemm')))), first = bytes('gemm');
	incore('report', '-q', '-j', '1', '-o', file, 'gemm');
	truth(first.equals(readFileSync(file)), 'the same capture gives other bytes');
}

async function details(bench, name) {
	const page = await bench.page(name), d = verb('summary', '--top', 'all', 'ascend_details');
	const host = await panel(page, 'details'), of = (n) => d.tables.find((t) => t.name === n), section = (title) => host.locator('.panel-section', { has: page.locator(`h3:text-is("${title}")`) });
	equal((await host.locator('h3').allInnerTexts()).slice(0, 4), ['Base information', 'Advice of the producer', 'Blocks', 'Core occupancy'], 'order of the tables');
	const roof = section('Roofline');
	equal(await roof.locator('svg circle').count(), of('roofline').cells.filter((c) => c[0] === 'Memory Unit (GM)').length, 'points of the first roofline');
	truth((await roof.locator('.legend').innerText()).includes('GM read 1.6, Cube FP16 320: 24 at 20 operations per byte, ratio 0.75'), 'the roofline does not say its figures');
	await roof.locator('select').selectOption('Pipe (UB)');
	equal(await roof.locator('svg circle').count(), 1, 'points of the second roofline');
	const cache = section('Cache lines'), cells = of('cacheline').cells.filter((c) => c[1] === 'Hit').sort((a, b) => Number(a[0]) - Number(b[0]));
	await cache.locator('select').selectOption('Hit');
	equal(await cache.locator('rect[data-cell]').count(), cells.length, 'cache lines on the map');
	const shade = async (i) => Number(await cache.locator(`rect[data-cell="${i}"]`).getAttribute('fill-opacity')), hot = cells.findIndex((c) => Number(c[2]) === Math.max(...cells.map((x) => Number(x[2]))));
	equal([await shade(hot), await shade(3)], [1, 0.06], 'the hottest and an untouched line');
	await cache.locator('rect[data-cell="0"]').click();
	truth((await cache.innerText()).includes(`line 0: ${of('cacheline').cells.filter((c) => c[0] === '0').map((c) => `${c[1]} ${c[2]}`).join(', ')}`), 'a click does not tell about the line');
	await cache.locator('button.link').first().click();
	await page.waitForFunction(() => window.incore.stats().state.panel === 'isa' && window.incore.stats().state.selection?.kind === 'code');
	await panel(page, 'details');
	equal(await section('Core occupancy').locator('rect[data-cell]').count(), of('core-occupancy').cells.length, 'cores on the map');
	equal((await rows(page, 'Memory tables: L2 Cache')).map((r) => Object.values(r)), [['0', 'Write', '300', '60', '83.3'], ['0', 'Read', '600', '40', '93.8'], ['1', 'Write', '300', '60', '83.3'], ['1', 'Read', '600', '40', '93.8']], 'a memory table');
	const stalls = await rows(page, 'Top stall reasons');
	equal(stalls.map((r) => r.c0), ['Long Scoreboard', 'Barrier', 'Not Selected'], 'stall reasons by count');
	const stated = of('api-instr'), shown = await rows(page, 'Instructions as stated');
	equal(shown.map((r) => r['c' + stated.columns.indexOf('Bank Turns')]), stated.cells.map((c) => c[stated.columns.indexOf('Bank Turns')]), 'a column that nobody knows');
	equal(shown.map((r) => r['c' + stated.columns.indexOf('Stall Sampling(All Samples)')]), ['0 %', '12.5 %', '25 %'], 'a percentage with parts');
}

async function units(bench, name) {
	const page = await bench.page(name), d = verb('occupancy', '--bins', '120', '--series', 'cu', '--top', 'all', 'gemm');
	await panel(page, 'occupancy');
	await page.selectOption('.panel-occupancy select[aria-label="By"]', 'cu');
	await page.waitForFunction((n) => document.querySelectorAll('.panel-occupancy .over-time').length >= Math.min(n, 8), d.cus.length);
	const label = await page.locator('.panel-occupancy .over-time').first().getAttribute('aria-label'), w = d.cus[0].waves;
	equal(label, `SE${d.cus[0].se} CU${d.cus[0].cu}: ${count(Math.min(...w), 1)} to ${count(Math.max(...w), 1)} waves`, 'waves of the first unit over time');
	const target = d.cus.find((c) => c.is_target);
	await page.locator(`.map-cu[data-cu="${target.se} ${target.cu}"]`).click();
	equal(await page.locator('.toast').count(), 0, 'words about a unit that was traced');
	await page.locator('.map-cu[data-cu]:not(.target)').first().click();
	await page.locator('.toast', { hasText: 'no wave of this unit was traced in detail' }).waitFor();
}

async function cursor(bench, name) {
	const page = await bench.page(name);
	await panel(page, 'counters');
	const plots = page.locator('.counter-plot'), n = await plots.count();
	truth(n > 1, 'one plot alone');
	const box = await plots.nth(0).locator('canvas').boundingBox();
	await page.mouse.move(box.x + box.width / 3, box.y + box.height / 2);
	for (let i = 0; i < n; i++) truth(/\d/.test(await plots.nth(i).locator('.at-cursor').innerText()), `plot ${i} does not say its value at the cursor`);
	await page.mouse.move(0, 0);
	await page.waitForFunction(() => [...document.querySelectorAll('.at-cursor')].every((e) => !e.textContent));
}

async function firstView(bench, name) {
	const page = await bench.page(name), text = await page.innerText('body');
	truth(text.includes('No timeline: this capture holds tables only'), 'no reason for the missing lanes');
	equal(await page.evaluate(() => window.incore.stats().state.panel), 'details', 'the panel of a capture with tables alone');
}

async function links(bench) {
	const page = await bench.page('gemm'), d = verb('summary', 'gemm');
	const host = await panel(page, 'summary');
	await host.locator('.headline button.link').first().click();
	await page.waitForFunction((row) => {
		const s = window.incore.stats().state;
		return s.panel === 'isa' && s.selection?.kind === 'code' && row >= 0;
	}, d.bound.where.row);
}

export const tests = [
	{ name: 'written page: verdict, accounting and code equal the verbs', run: withoutScript },
	{ name: 'written page: samples with their stall reasons', run: writtenSamples },
	{ name: 'written page: an Ascend trace', run: writtenPipes },
	{ name: 'written page: bar and table have one basis', run: oneBasis },
	{ name: 'written page: two captures, what changed first', run: difference },
	{ name: 'report: the first screen', run: firstScreen },
	{ name: 'report: printing gives the written page', run: printed },
	{ name: 'written page: the shell is small, the same capture gives the same bytes', run: shell },
	...['', 'report:'].flatMap((where) => [
		{ name: `details: roofline, heat maps, turned tables, typed columns${where && ' (report)'}`, run: (b) => details(b, where + 'ascend_details') },
		{ name: `occupancy: each unit over time${where && ' (report)'}`, run: (b) => units(b, where + 'gemm') },
		{ name: `counters: one cursor for all plots${where && ' (report)'}`, run: (b) => cursor(b, where + 'v31') },
		{ name: `first view: tables alone${where && ' (report)'}`, run: (b) => firstView(b, where + 'ascend_device') },
	]),
	{ name: 'summary: leads to the row it names', run: links },
];
