// SPDX-License-Identifier: Apache-2.0
// The server as the official client of the protocol sees it. usage: client.mjs INCORE DATA ROOT_OF_REPOSITORY
import {Client} from "@modelcontextprotocol/sdk/client/index.js";
import {StdioClientTransport} from "@modelcontextprotocol/sdk/client/stdio.js";
import {execFileSync} from "node:child_process";
import {readFileSync, readdirSync} from "node:fs";
import {join} from "node:path";

const [incore, data, repository] = process.argv.slice(2);
let passed = 0, failed = 0;

function check(ok, what) {
	if (ok) passed++;
	else { failed++; console.log("FAIL " + what); }
}

async function connect(...roots) {
	const client = new Client({name: "tests", version: "1"});
	await client.connect(new StdioClientTransport({command: incore, args: ["mcp", ...roots], cwd: data, stderr: "inherit"}));
	return client;
}

async function fails(what, code, promise) {
	try { await promise; check(false, what + ": no error"); }
	catch (e) { check(e.code === code, `${what}: ${e.code} ${e.message}`); }
}

const asked = (...words) => JSON.parse(execFileSync(incore, [...words, "--json"], {cwd: data})).data;
const column = (table, name) => table.rows.map(r => r[table.columns.indexOf(name)]);

async function questions(client) {
	const {tools} = await client.listTools();
	const names = tools.map(t => t.name);
	const verbs = JSON.parse(execFileSync(incore, ["--help=json"])).verbs.filter(v => v.answers).map(v => v.name);
	for (const name of ["captures", "sql", "waits", ...verbs]) check(names.includes(name), "no tool " + name);
	check(JSON.stringify(tools).length < 60000, `the list of tools has ${JSON.stringify(tools).length} bytes`);
	for (const t of tools) check(t.annotations.readOnlyHint && t.inputSchema.type === "object" && t.description, t.name + " is not described");
	// callTool() validates structuredContent against outputSchema
	const hot = await client.callTool({name: "hot", arguments: {path: "gemm", limit: 3}});
	const table = hot.structuredContent.tables.rows;
	const want = asked("hot", "gemm").rows.slice(0, 3);
	check(JSON.stringify(column(table, "cycles")) === JSON.stringify(want.map(r => r.cycles)), "cycles of hot differ from --json");
	check(table.rows.length === 3 && hot.structuredContent.more, "limit, and the way to more");
	check(JSON.stringify(JSON.parse(hot.content[0].text)) === JSON.stringify(hot.structuredContent), "text and structure differ");
	const lines = (await client.callTool({name: "hot", arguments: {path: "gemm", by: "line", top: "all", limit: 100, tables: ["groups"]}})).structuredContent;
	check(lines.tables.groups.rows.length === asked("hot", "gemm", "--by", "line", "--top", "all").groups.length, "rows that were asked for");
	const waits = (await client.callTool({name: "waits", arguments: {path: "gemm"}})).structuredContent;
	check(waits.values.by === "producer", "waits is by producer");
	const isa = (await client.callTool({name: "isa", arguments: {path: "gemm"}})).structuredContent;
	check(column(isa.tables.rows, "row").includes(want[0].row) && isa.tables.rows.total < 20, "a window around the costliest row");
	const gate = (await client.callTool({name: "diff", arguments: {a: "repeated/ui_output_agent_1000_dispatch_7",
		b: "repeated/ui_output_agent_1000_dispatch_9", gate: ["latency<=-50%"]}})).structuredContent;
	check(gate.is_no === true, "a gate that fails");
	check((await client.callTool({name: "check", arguments: {path: "early_exit"}})).structuredContent.is_no === true, "a capture that cannot be trusted");
	const sql = (await client.callTool({name: "sql", arguments: {paths: ["gemm"], query: "SELECT sum(duration) FROM slices"}})).structuredContent;
	check(sql.rows[0][0] === asked("hot", "gemm").totals.latency, "SQL's sum");
	const listed = (await client.callTool({name: "captures", arguments: {}})).structuredContent.captures;
	check(listed.length > 10 && listed.some(c => c.path.startsWith("gemm")), "captures");
}

async function refusals(client) {
	const refused = async (name, args, part) => {
		const r = await client.callTool({name, arguments: args});
		check(r.isError && r.content[0].text.includes(part), `${name} ${JSON.stringify(args)}: ${r.content[0].text}`);
	};
	await refused("hot", {path: "/etc/passwd"}, "below the roots");
	await refused("hot", {path: "../../README.md"}, "below the roots");
	await refused("hot", {path: "gemm", code: "/etc/passwd"}, "takes no 'code'");
	await refused("hot", {path: "gemm", "follow-links": true}, "takes no");
	await refused("diff", {a: "gemm", b: "gemm", noise: ["/etc"]}, "below the roots");
	await refused("hot", {path: "gemm", by: "nonsense"}, "--by");
	await refused("hot", {path: "gemm", tables: ["nonsense"]}, "there are");
	await refused("hot", {}, "wants path");
	await refused("hot", {path: "bad_json"}, "input ends inside a string");
	await refused("sql", {paths: ["gemm"], query: "DELETE FROM slices"}, "");
	await refused("sql", {paths: ["/etc/passwd"], query: "SELECT 1"}, "below the roots");
	await fails("no such tool", -32602, client.callTool({name: "rm", arguments: {}}));
	await fails("no such resource", -32002, client.readResource({uri: "incore://capture/../../README.md"}));
	await fails("no such scheme", -32002, client.readResource({uri: "file:///etc/passwd"}));
	await fails("no such prompt", -32602, client.getPrompt({name: "nonsense"}));
}

async function resources(client) {
	const {resources} = await client.listResources();
	check(resources.some(r => r.uri === "incore://report/gemm/ui_output_agent_1000_dispatch_1") || resources.some(r => r.uri.startsWith("incore://report/gemm")),
		"a report is listed");
	const info = await client.readResource({uri: "incore://capture/gemm"});
	check(JSON.parse(info.contents[0].text).schema === "incore.info/1", "a capture");
	const report = (await client.readResource({uri: "incore://report/gemm"})).contents[0];
	check(report.mimeType === "text/markdown" && report.text.includes("Bound by memory") && report.text.split("\n").length <= 61, "a report");
	const schema = JSON.parse((await client.readResource({uri: "incore://schema/hot"})).contents[0].text);
	check(JSON.stringify(schema).includes("cycles in which the instruction was issuing"), "a schema says what columns mean");
	check((await client.listResourceTemplates()).resourceTemplates.length === 3, "templates");
	check((await client.listPrompts()).prompts.length === 3, "prompts");
	const prompt = await client.getPrompt({name: "verify", arguments: {before: "A%s", after: "B"}});
	check(prompt.messages[0].content.text.includes("captures A%s (before) and B (after)"), "arguments of a prompt");
}

async function progress(client) {
	const stop = new AbortController();
	const call = client.callTool({name: "summary", arguments: {path: "gemm"}}, undefined, {signal: stop.signal}).then(() => "answered", () => "stopped");
	stop.abort();
	check(await call === "stopped", "cancelled calls are not answered");
	check((await client.ping()) !== undefined, "lives after a cancellation");
	const many = await Promise.all([..."abcdef"].map(() => client.callTool({name: "info", arguments: {path: "two_waves"}})));
	check(many.every(r => !r.isError), "six calls at once");
}

// One call names the right line: kernels with one planted defect.
async function planted(client, other) {
	const folder = join(repository, "examples", "cuda", "planted");
	for (const file of readdirSync(folder).filter(f => f.endsWith(".cu"))) {
		const name = file.slice(0, -3);
		const line = readFileSync(join(folder, file), "utf8").split("\n").findIndex(l => l.includes("GUILTY")) + 1;
		const r = (await client.callTool({name: "summary", arguments: {path: `h200/${name}.incore`}})).structuredContent;
		const limits = {register_limited: "by registers", shared_limited: "by shared memory", shallow_copies: `${file}:13`, tensor_bound: "pipe-stall:MATRIX"};
		check(r.values.verdict.includes(limits[name] ?? `${file}:${line}`), `${name}: ${r.values.verdict}`);
	}
	for (const [path, part] of [["gemm", "gemm.py:17"]]) {
		const r = (await other.callTool({name: "summary", arguments: {path}})).structuredContent;
		check(r.values.verdict.includes(part), `${path}: ${r.values.verdict}`);
	}
}

const client = await connect();
await questions(client);
await refusals(client);
await resources(client);
await progress(client);
await planted(client, client);
await client.close();
const below = await connect("gemm");
check((await below.callTool({name: "hot", arguments: {path: "."}})).structuredContent.values.found === 42, "the root itself");
check((await below.callTool({name: "hot", arguments: {path: "../two_waves"}})).isError, "beside the root");
await below.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0);
