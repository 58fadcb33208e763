// SPDX-License-Identifier: Apache-2.0
// The server as the official client of the protocol sees it. usage: client.mjs INCORE DATA ROOT_OF_REPOSITORY MADE
// MADE has the planted captures: amd/RULE/{planted,sound} and ascend/KERNEL.
import {Client} from "@modelcontextprotocol/sdk/client/index.js";
import {StdioClientTransport} from "@modelcontextprotocol/sdk/client/stdio.js";
import {execFileSync} from "node:child_process";
import {readFileSync, readdirSync} from "node:fs";
import {join} from "node:path";

const [incore, data, repository, made] = process.argv.slice(2);
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
	const verbs = JSON.parse(execFileSync(incore, ["--help=json"])).verbs.filter(v => v.reach.includes("agent")).map(v => v.name);
	for (const name of ["captures", "sql", "waits", ...verbs]) check(names.includes(name), "no tool " + name);
	check(JSON.stringify(tools).length < 60000, `the list of tools has ${JSON.stringify(tools).length} bytes`);
	for (const t of tools) check(t.annotations.readOnlyHint && t.inputSchema.type === "object" && t.description, t.name + " is not described");
	// an agent is offered what reaches it, and nothing else is taken from it
	for (const verb of JSON.parse(execFileSync(incore, ["--help=json"])).verbs.filter(v => v.reach.includes("agent"))) {
		const offered = Object.keys(tools.find(t => t.name === verb.name).inputSchema.properties), own = ["path", "a", "b", "limit", "tables"];
		const reach = verb.options.filter(o => o.reach.includes("agent")).map(o => o.name);
		check(offered.every(n => own.includes(n) || reach.includes(n)), `${verb.name} offers ${offered}`);
		for (const o of verb.options.filter(o => !o.reach.includes("agent") && o.group !== "Common"))
			check((await client.callTool({name: verb.name, arguments: {path: "gemm", [o.name]: "1"}})).isError === true, `${verb.name} takes ${o.name} from an agent`);
	}
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
	await refused("hot", {}, "expects path");
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
	check(report.mimeType === "text/markdown" && report.text.includes("**Bound by** latency") && report.text.split("\n").length <= 61, "a report");
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
async function planted(client) {
	const folder = join(repository, "examples", "cuda", "planted");
	for (const file of readdirSync(folder).filter(f => f.endsWith(".cu"))) {
		const name = file.slice(0, -3);
		const line = readFileSync(join(folder, file), "utf8").split("\n").findIndex(l => l.includes("GUILTY")) + 1;
		const r = (await client.callTool({name: "summary", arguments: {path: `h200/${name}.incore`}})).structuredContent;
		const limits = {register_limited: "by registers", shared_limited: "by shared memory", shallow_copies: `${file}:13`, tensor_bound: "pipe-stall:MATRIX"};
		check(r.values.verdict.includes(limits[name] ?? `${file}:${line}`), `${name}: ${r.values.verdict}`);
	}
	const gemm = (await client.callTool({name: "summary", arguments: {path: "gemm"}})).structuredContent;
	check(gemm.values.verdict.includes("gemm.py:17"), `gemm: ${gemm.values.verdict}`);
}

// Of those of make_capture the instruction that is waited for, or waits; its twin without the defect names another.
async function plantedAmd(client) {
	const guilty = {"cross-lane": "`ds_bpermute_b32 v32, v1, v31` of row 3", "end-drain": "drain at row 8", "late-copy": "`buffer_load_dwordx4 v0, s[4:7], 0 offen lds` of row 3",
		"late-lds": "`ds_read_b128 v[16:19], v1` of row 3", "late-load": "`buffer_load_dwordx4 v[8:11], v0, s[4:7], 0 offen` of row 3",
		"late-scalar": "`s_load_dwordx4 s[12:15], s[0:1], 0x0` of row 3", "lds-write": "`ds_write_b128 v1, v[8:11]` of row 3", "nop-padding": "row 4 (0x1610, planted.hip:7): `s_nop 7`",
		"spill": "`scratch_load_dword v33, off, s32` of row 3", "store-in-wait": "`global_store_dwordx4 v[2:3], v[12:15], off` of row 4", "uneven-barrier": "row 12 (0x164c, planted.hip:7): `s_barrier`"};
	const verdict = async path => (await client.callTool({name: "summary", arguments: {path}})).structuredContent.values.verdict;
	for (const [name, part] of Object.entries(guilty)) {
		const found = await verdict(join(made, "amd", name, "planted")), twin = await verdict(join(made, "amd", name, "sound"));
		check(found.includes(part), `${name}: ${found}`);
		check(!twin.includes(part), `${name} without its defect: ${twin}`);
	}
}

// Of Ascend kernels that the embedded model timed: which tool, and where the first of its rows tells the line.
async function plantedAscend(client) {
	const calls = {barrier_in_loop: ["hot", "rows", "source"], one_buffer: ["advise", "advice", "where_source"], small_copies: ["advise", "advice", "where_source"],
		unordered: ["check", "findings", "message"]};
	const folder = join(repository, "examples", "ascend", "planted");
	for (const file of readdirSync(folder)) {
		const name = file.slice(0, -4);
		const [tool, table, where] = calls[name];
		const line = readFileSync(join(folder, file), "utf8").split("\n").findIndex(l => l.includes("GUILTY")) + 1;
		const r = (await client.callTool({name: tool, arguments: {path: join(made, "ascend", name)}})).structuredContent;
		const first = r?.tables[table] && column(r.tables[table], where)[0];
		check(String(first).includes(`${file}:${line}`), `${name}: ${tool} tells ${first} of ${JSON.stringify(Object.keys(r?.tables ?? {}))}, not ${file}:${line}`);
	}
}

const client = await connect();
await questions(client);
await refusals(client);
await resources(client);
await progress(client);
await planted(client);
await client.close();
const planting = await connect(made);
await plantedAmd(planting);
await plantedAscend(planting);
await planting.close();
const below = await connect("gemm");
check((await below.callTool({name: "hot", arguments: {path: "."}})).structuredContent.values.found === 42, "the root itself");
check((await below.callTool({name: "hot", arguments: {path: "../two_waves"}})).isError, "beside the root");
await below.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0);
