// SPDX-License-Identifier: Apache-2.0
// Opens profiles in speedscope, in Chromium, and prints the rows of its table of frames as JSON, a list per file: [total, self, name].
// usage: speedscope.mjs FILE...      CHROMIUM: the browser
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const app = pathToFileURL(path.join(path.dirname(fileURLToPath(import.meta.url)), 'node_modules/speedscope/dist/release/index.html'));

async function table_of(browser, file) {
  // As speedscope's own program does it: a script hands the file over.
  const script = `${file}.js`;
  const bytes = readFileSync(file).toString('base64');
  writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(path.basename(file))}, ${JSON.stringify(bytes)})`);
  const page = await browser.newPage({ viewport: { width: 1600, height: 4000 } });
  const errors = [];
  page.on('pageerror', (e) => errors.push(String(e)));
  await page.goto(`${app}#localProfilePath=${script}`);
  await page.getByText('Sandwich').first().click();
  await page.locator('table td').first().waitFor();
  const rows = await page.locator('table tr').evaluateAll((all) => all.map((r) => [...r.querySelectorAll('td')].map((c) => c.textContent)));
  await page.close();
  return { errors, rows: rows.filter((r) => r.length === 3) };
}

// The page draws with WebGL: without a graphics card by software.
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM,
  args: ['--no-sandbox', '--allow-file-access-from-files', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'] });
try {
  const tables = [];
  for (const file of process.argv.slice(2)) tables.push(await table_of(browser, file));
  console.log(JSON.stringify(tables));
} finally {
  await browser.close();
}
