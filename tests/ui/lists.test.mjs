// SPDX-License-Identifier: Apache-2.0
// The long lists: rows are written in place, the listing folds and changes its basis, source and hotspots lead to each other. On a server
// and on a report, on waves and on pipes.
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { count, cycles, DATA, equal, incore, panel, rows, scratch, total, truth, verb } from './lib.mjs';

const BUCKETS = ['issue', 'stall', 'wait', 'idle', 'drain'];
const bare = (name) => name.replace(/^report:/, '');
const isaRows = '.panel-isa .table-row';

/** What the page knows of a track: its coordinates as options of a verb. */
function where(page, track) {
	return page.evaluate((k) => {
		const { levels, tracks } = window.incore.app().trace;
		return levels.flatMap((l, i) => ['--' + l, String(tracks[k].coord[i])]);
	}, track);
}

function answer(name, question) {
	return JSON.parse(incore('view', '--no-cache', '-q', '--get', '/api/1/' + question, bare(name)));
}

async function basis(page, word, fact) {
	await page.selectOption('.panel-isa select[aria-label="Basis"]', word);
	if (fact) await page.waitForFunction((f) => [...document.querySelectorAll('.panel-isa .facts dt')].some((d) => d.textContent === f), fact);
}

/** hits and cycles on screen, by code row. */
async function shown(page) {
	const list = await rows(page, 'Instructions'), keys = await page.evaluate(() => window.incore.app().verb('isa').then((a) => [...a.data.labels, ...a.data.rows].sort((x, y) => x.index - y.index).map((r) => r.index)));
	return new Map(list.map((r, i) => [keys[i], [r.hit, r.cycles]]));
}

async function waveBasis(bench, name) {
	const page = await bench.page(name), unit = name.includes('ascend') ? 'pipe' : 'wave';
	await panel(page, 'isa');
	equal(await page.locator('.panel-isa select[aria-label="Basis"] option:disabled').count(), 2, 'bases without a selection');
	await page.evaluate(() => window.incore.app().select({ kind: 'track', track: 3 }));
	await basis(page, 'wave', unit);
	const got = await shown(page), want = answer(name, 'rows?track=3'), sums = new Map(want.code.map((c, i) => [c, [want.hit[i], BUCKETS.reduce((n, b) => n + want[b][i], 0)]]));
	for (const [code, cell] of got) equal(cell, sums.has(code) ? [count(sums.get(code)[0]), cycles(sums.get(code)[1])] : [cell[0] === '-' ? '-' : '0', '-'], `row ${code} of the ${unit}`);
	const rest = BUCKETS.filter((b) => want.rest[b]).map((b) => `${b} ${count(want.rest[b])} cycles`).join(', ');
	equal(await page.evaluate(() => [...document.querySelectorAll('.panel-isa .facts > div')].map((d) => d.textContent).filter((t) => t.startsWith('no instruction')).join()), rest && 'no instruction' + rest, 'what is no row\'s');
	const alone = verb('isa', ...await where(page, 3), bare(name));
	for (const r of alone.rows.filter((x) => x.hit)) equal(got.get(r.index), [count(r.hit), cycles(total(r.buckets))], `row ${r.row} as incore isa has it`);
	await basis(page, 'sum');
	const all = verb('isa', bare(name)), back = await shown(page);
	for (const r of all.rows) equal(back.get(r.index), [count(r.hit), cycles(total(r.buckets))], `row ${r.row} of all`);
}

async function executionBasis(bench, name) {
	const page = await bench.page(name), n = 2, often = verb('isa', bare(name)).rows;
	await panel(page, 'isa');
	const track = 3, all = answer(name, `rows?track=${track}`), code = all.code[all.hit.findIndex((h) => h >= n)];
	const at = answer(name, `at?track=${track}&code=${code}&execution=${n}`);
	await page.evaluate(([t, s, c]) => window.incore.app().select({ kind: 'slice', track: t, slice: s, code: c }), [track, at.slice, code]);
	await basis(page, 'execution', 'execution');
	const got = await shown(page), want = answer(name, `rows?track=${track}&execution=${n}`);
	want.code.forEach((c, i) => equal(got.get(c), ['1', cycles(BUCKETS.reduce((s, b) => s + want[b][i], 0))], `execution ${n} of row ${c}`));
	equal(got.get(code)[1], cycles(total(at.buckets)), 'the selected execution');
	equal([...got].filter(([, c]) => c[0] === '1').length, want.code.length, 'rows that ran so often');
	truth(often.length > want.code.length, 'some row ran less often');
	if (at.next === null) return;
	await page.evaluate(([t, s, c]) => window.incore.app().select({ kind: 'slice', track: t, slice: s, code: c }), [track, at.next, code]);
	await page.waitForFunction((k) => [...document.querySelectorAll('.panel-isa .facts > div')].some((d) => d.textContent === 'execution' + k), n + 1);
}

async function meanAndMax(bench, name) {
	const page = await bench.page(name), d = verb('isa', bare(name));
	await panel(page, 'isa');
	await basis(page, 'mean');
	let got = await shown(page);
	for (const r of d.rows.filter((x) => x.hit)) equal(got.get(r.index)[1], cycles(total(r.buckets) / r.hit), `mean of row ${r.row}`);
	await basis(page, 'max');
	got = await shown(page);
	for (const r of d.rows.filter((x) => x.execution)) equal(got.get(r.index)[1], cycles(r.execution.max), `longest of row ${r.row}`);
	if (name.includes('ascend')) return equal(await page.locator('.panel-isa select[aria-label="Basis"] option[value=meanwave]').count(), 0, 'pipes have no mean wave');
	await basis(page, 'meanwave');
	got = await shown(page);
	for (const r of d.rows.filter((x) => x.hit)) equal(got.get(r.index)[1], cycles(total(r.buckets) / d.totals.waves), `row ${r.row} in the mean wave`);
}

async function folds(bench, name) {
	const page = await bench.page(name), d = verb('isa', bare(name)), [loop] = d.loops, [body] = d.bodies;
	await panel(page, 'isa');
	const lines = async () => Number(await page.getAttribute('.panel-isa .table', 'aria-rowcount')) - 1, whole = d.labels.length + d.rows.length;
	equal(await lines(), whole, 'all rows');
	await page.click('.panel-isa button:text-is("Fold all")');
	const inLoop = new Set(d.blocks.flatMap((b, i) => (b.loop === null ? [] : [i])));
	equal(await lines(), d.labels.length + d.loops.filter((l) => l.depth === 1).length + d.blocks.filter((b, i) => !inLoop.has(i)).length, 'folded');
	const list = await rows(page, 'Instructions'), line = list.find((r) => r.isa.startsWith('loop'));
	truth(line.isa.includes(`rows ${loop.header_row} to ${loop.latch_row}`) && line.isa.includes(`${count(loop.iterations)} × ${cycles(loop.median)} cycles`), `the folded loop says ${line.isa}`);
	equal([line.hit, line.cycles, line.median, line.p95], [count(loop.executions), cycles(total(body.buckets)), cycles(loop.median), cycles(loop.p95)], 'the folded loop');
	equal(line.share, ((100 * total(body.buckets)) / d.accounting.duration).toFixed(1), 'share of the folded loop');
	for (const b of d.blocks.filter((x) => x.loop === null)) {
		const row = list.find((r) => r.row === String(b.first_row) && r.isa.startsWith('block'));
		equal([row.hit, row.cycles, row.isa.includes(`rows ${b.first_row} to ${b.last_row}`), row.isa.includes(cycles(total(b.buckets) / b.executions))], [count(b.executions), cycles(total(b.buckets)), true, true], `block of row ${b.first_row}`);
	}
	await page.click('.panel-isa button:text-is("Unfold all")');
	equal(await lines(), whole, 'unfolded');
	await page.evaluate((row) => window.incore.app().select({ kind: 'code', code: row }), d.rows.find((r) => r.row === loop.header_row).index);
	await page.click('.panel-isa .loop-chip');
	equal(await lines(), whole - loop.rows + 1, 'the loop folded by a click');
	equal(await page.locator('.panel-isa .table-row.folded.marked').count(), 1, 'the selected row is in it');
	await page.focus('.panel-isa .table');
	await page.keyboard.press('ArrowRight');
	equal(await lines(), whole, 'unfolded by a key');
	await page.keyboard.press('ArrowLeft');
	equal(await lines(), whole - loop.rows + 1, 'folded by a key');
	await page.keyboard.press('Shift+ArrowRight');
	equal(await lines(), whole, 'all unfolded by a key');
	const handle = page.locator('.panel-isa .fold-handle').first(), words = await handle.getAttribute('aria-label');
	await handle.click();
	equal(await lines(), whole - d.blocks.find((b) => words === `Fold rows ${b.first_row} to ${b.last_row}`).rows + 1, 'a block folded by its handle');
}

async function inPlace(bench, name) {
	const page = await bench.page(name, { viewport: { width: 1280, height: 640 } });
	await panel(page, 'isa');
	await page.evaluate(async () => {
		const table = document.querySelector('.panel-isa .table'), frames = () => new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(f))));
		table.scrollTop = 0;
		await frames();
		for (const r of table.querySelectorAll('.table-row')) r.isOld = true;
		table.scrollTop = 44;
		await frames();
		table.scrollTop = 1e6;
		await frames();
	});
	// rows are put in reading order once the scrolling rests
	await page.waitForFunction((rows) => [...document.querySelectorAll(rows)].every((r, i, all) => i === 0 || Number(r.dataset.index) === Number(all[i - 1].dataset.index) + 1), isaRows);
	const seen = await page.$$eval(isaRows, (all) => all.map((r) => ({ at: Number(r.dataset.index), aria: Number(r.getAttribute('aria-rowindex')), isOld: r.isOld === true, role: r.getAttribute('role'), cells: [...r.children].every((c) => c.getAttribute('role') === 'gridcell') })));
	truth(seen.length > 4 && seen.every((r) => r.isOld && r.role === 'row' && r.cells), `rows were built anew: ${JSON.stringify(seen)}`);
	truth(seen.every((r, i) => r.aria === r.at + 2 && (i === 0 || r.at === seen[i - 1].at + 1)), 'rows stand in reading order');
	const [head, top] = await page.evaluate(() => ['.panel-isa .table-head', '.panel-isa .table'].map((s) => document.querySelector(s).getBoundingClientRect().top));
	truth(Math.abs(head - top) < 2, 'the head stays');
	truth((await page.evaluate(() => window.incore.stats().dom_nodes)) <= 3000, 'too many elements');
	await page.focus('.panel-isa .table');
	await page.keyboard.press('Home');
	await page.keyboard.press('ArrowDown');
	equal(await page.locator('.panel-isa .table-row.cursor').getAttribute('data-index'), '1', 'the cursor');
}

async function hover(bench, name) {
	const page = await bench.page(name), d = verb('isa', bare(name)), row = d.rows.find((r) => r.frames.length > 1);
	await panel(page, 'isa');
	await page.evaluate((code) => window.incore.app().select({ kind: 'code', code }), row.index);
	const cell = page.locator(`.panel-isa .table-row[data-key="${row.index}"] [data-column="isa"]`);
	await cell.hover();
	const title = await cell.getAttribute('title');
	for (const [i, [f, n]] of row.frames.entries()) truth(title.includes(`${i ? 'inlined at' : 'at'} ${d.sources[f]}:${n}`), `no frame ${i} in "${title}"`);
}

async function copies(bench) {
	const page = await bench.page('gemm');
	await panel(page, 'isa');
	await page.evaluate(() => (navigator.clipboard.writeText = async (text) => void (window.copied = text))); // all pages share the real one
	await page.focus('.panel-isa .table');
	await page.keyboard.press('Home');
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('Control+c');
	const copied = await page.waitForFunction(() => window.copied);
	const [head, line] = (await copied.jsonValue()).split('\n').map((l) => l.split('\t')), r = verb('isa', 'gemm').rows[0];
	equal(['#', 'instruction', 'hits', 'cycles (cycles)'].map((h) => line[head.indexOf(h)]), [String(r.row), r.isa, String(r.hit), String(total(r.buckets))], 'copied');
}

async function reasons(bench, name) {
	const page = await bench.page(name), d = verb('isa', bare(name));
	await panel(page, 'isa');
	const got = await rows(page, 'Instructions'), byRow = new Map(got.map((r) => [r.row, r]));
	for (const r of d.rows.filter((x) => x.stalled_samples)) {
		const cell = byRow.get(String(r.row));
		equal([cell.samples, cell.stalled], [count(r.samples), count(r.stalled_samples)], `samples of row ${r.row}`);
		for (const why of Object.keys(r.stall_reasons)) truth(cell.reason.includes(why), `row ${r.row} does not name ${why}: ${cell.reason}`);
	}
}

/** A capture whose totals are not what its records add up to. */
function misstated() {
	const dir = path.join(scratch, 'misstated');
	if (existsSync(dir)) return dir;
	cpSync(path.join(DATA, 'gemm'), dir, { recursive: true });
	const file = path.join(dir, readdirSync(dir).find((n) => n.startsWith('ui_output')) ?? '', 'code.json'), code = JSON.parse(readFileSync(file, 'utf8'));
	code.code[5][7] += 4000;
	writeFileSync(file, JSON.stringify(code));
	return dir;
}

async function stated(bench, kind) {
	const name = kind.replace('gemm', misstated()), page = await bench.page(name), d = verb('isa', bare(name)), differs = d.rows.filter((r) => r.stated);
	truth(differs.length, 'the fixture has no row whose stated totals differ');
	await panel(page, 'isa');
	const byRow = new Map((await rows(page, 'Instructions')).map((r) => [r.row, r]));
	for (const r of d.rows) equal(byRow.get(String(r.row)).stated, r.stated ? cycles(r.stated.latency) : '-', `stated of row ${r.row}`);
}

async function source(bench, name) {
	const page = await bench.page(name), d = verb('hot', '--by', 'line', '--top', 'all', bare(name));
	await panel(page, 'source');
	const tabs = await page.$$eval('.file-tab .dim', (all) => all.map((t) => parseFloat(t.textContent)));
	truth(tabs.every((v, i) => i === 0 || v <= tabs[i - 1]), `tabs are not hottest first: ${tabs}`);
	const label = await page.getAttribute('.panel-source .table', 'aria-label'), file = (await page.getAttribute('.file-tab.current', 'title')).replace(/: [^:]*$/, '');
	const heads = await page.$$eval('.panel-source .table-head [data-column]', (all) => all.map((c) => c.dataset.column));
	for (const id of ['hit', 'cycles', 'share', 'bar', ...(name.includes('ascend') ? [] : ['inclusive'])]) truth(heads.includes(id), `no column ${id}: ${heads}`);
	truth(!await page.locator('.panel-source .table-foot').count(), 'inclusive cost is never summed');
	const group = d.groups.filter((g) => g.key.startsWith(file + ':')).sort((a, b) => total(b.buckets) - total(a.buckets))[0], line = group.key.split(':').pop();
	const got = (await rows(page, label)).find((r) => r.line === line);
	equal([got.hit, got.cycles], [count(group.hit), cycles(total(group.buckets))], `line ${line}`);
	await page.evaluate(([source, at]) => window.incore.app().select({ kind: 'line', source, line: at }), [await page.evaluate((p) => window.incore.app().trace.sources.findIndex((s) => s.path === p), file), Number(line)]);
	const link = page.locator('.panel-source a.button');
	if (!file.startsWith('/')) equal(await link.count(), 0, 'no file is known to open');
	else {
		equal(await link.getAttribute('href'), `vscode://file${file}:${line}`, 'the editor');
		await page.selectOption('.panel-source select[aria-label="in"]', 'JetBrains');
		equal(await link.getAttribute('href'), `idea://open?file=${file}&line=${line}`, 'another editor');
	}
	const facts = await page.locator('.panel-source .facts').innerText();
	for (const words of ['rows mapped', 'distinct lines']) truth(facts.includes(words), `mapping quality does not say ${words}: ${facts}`);
	await page.locator(`.panel-source .table-row[data-key="${line}"] [data-column="line"]`).click();
	await panel(page, 'isa');
	truth(await page.locator('.panel-isa .table-row.marked').count() > 0, 'the rows of the line');
}

async function hotspots(bench, name) {
	const page = await bench.page(name), d = verb('isa', bare(name));
	await panel(page, 'hotspots');
	const bins = page.locator('.panel-hotspots .bin'), field = page.locator('.panel-hotspots input[aria-label="Bins"]');
	for (const [asked, kept] of [[4, 4], [1, 4], [100, 100], [900, 100]]) {
		await field.fill(String(asked));
		await field.press('Enter');
		equal([await field.inputValue(), await bins.count()], [String(kept), Math.ceil(d.rows.length / Math.ceil(d.rows.length / kept))], `${asked} bins`);
	}
	await field.fill('4');
	await field.press('Enter');
	const hottest = d.rows.reduce((m, r) => (total(r.buckets) > total(m.buckets) ? r : m));
	await page.evaluate((code) => window.incore.app().select({ kind: 'code', code }), hottest.index);
	const size = Math.ceil(d.rows.length / 4), at = Math.floor(d.rows.indexOf(hottest) / size);
	equal(await bins.evaluateAll((all) => all.findIndex((b) => b.classList.contains('here'))), at, 'the bin of the selection');
	const sums = BUCKETS.map((b) => d.rows.slice(at * size, at * size + size).reduce((n, r) => n + r.buckets[b], 0)).filter(Boolean);
	const tall = await bins.nth(at).locator('rect:not(.bin-back)').evaluateAll((all) => all.map((r) => Number(r.getAttribute('height'))));
	equal(tall.map((v) => Math.round((1000 * v) / tall[0])), sums.map((v) => Math.round((1000 * v) / sums[0])), 'the stack is by bucket');
	for (const by of ['class', 'opcode']) {
		await page.selectOption('.panel-hotspots select[aria-label="Rank by"]', by);
		await page.waitForSelector(`.table[aria-label="Hottest by ${by}"] .table-row`);
		const key = await page.locator(`.table[aria-label="Hottest by ${by}"] .table-row`).first().getAttribute('data-key');
		await page.locator(`.table[aria-label="Hottest by ${by}"] .table-row [data-column="key"]`).first().click();
		const best = d.rows.filter((r) => r[by] === key).reduce((m, r) => (total(r.buckets) > total(m.buckets) ? r : m));
		equal(await page.evaluate(() => window.incore.app().store.get().selection.code), best.index, `the row that ${by} ${key} leads to`);
	}
	await page.selectOption('.panel-hotspots select[aria-label="Range"]', 'near');
	truth(await bins.count() > 0, 'around the selection');
}

const both = (words, run, ...names) => names.flatMap((n) => [n, 'report:' + n]).map((name) => ({ name: `lists: ${words}, ${name.replace('report:', 'report of ')}`, run: (b) => run(b, name), covers: name.startsWith('report:') ? ['part:report'] : [] }));
export const tests = [
	...both('one wave as basis', waveBasis, 'gemm'),
	...both('one execution as basis', executionBasis, 'gemm', 'ascend_matmul'),
	...both('mean and longest as basis', meanAndMax, 'gemm', 'ascend_matmul'),
	...both('loops and blocks fold', folds, 'gemm'),
	...both('rows are written in place', inPlace, 'gemm'),
	...both('the inline chain', hover, 'inline'),
	...both('stall reasons', reasons, 'pc_sampling'),
	...both('stated totals', stated, 'gemm'),
	...both('source', source, 'gemm', 'ascend_matmul'),
	...both('hotspots', hotspots, 'gemm', 'ascend_matmul'),
	{ name: 'lists: one pipe as basis, ascend_matmul', run: (b) => waveBasis(b, 'ascend_matmul') },
	{ name: 'lists: copy', run: copies },
];
