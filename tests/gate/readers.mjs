// SPDX-License-Identifier: Apache-2.0
// What readers of others make of the files. usage: readers.mjs FOLDER...   (each with gate.xml and gate.md); prints one JSON list.
import {readFileSync} from "node:fs";
import {join} from "node:path";
import {createRequire} from "node:module";
import {parse} from "junit2json";
import {marked} from "marked";

const {parse: parseResults} = createRequire(import.meta.url)("test-results-parser");
const list = [];
for (const folder of process.argv.slice(2)) {
	const xml = join(folder, "gate.xml");
	const second = parseResults({type: "junit", files: [xml]});
	list.push({first: await parse(readFileSync(xml, "utf8")), second, html: marked.parse(readFileSync(join(folder, "gate.md"), "utf8"), {gfm: true})});
}
console.log(JSON.stringify(list));
