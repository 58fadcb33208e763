#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""incore mcp: with the protocol's official client (client.mjs), and with lines that no client writes.

usage: run.py BUILD_DIR      INCORE_NO_NPM: without that client
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DATA = os.path.join(ROOT, "tests", "data")
sys.path.insert(0, os.path.join(ROOT, "tests"))
import links  # noqa: E402
from npm import why_not  # noqa: E402

COUNTS = {"passed": 0, "failed": 0, "skipped": 0}


def check(ok, what):
    COUNTS["passed" if ok else "failed"] += 1
    if not ok:
        print(f"FAIL {what}")


def talk(incore, lines, *roots, cwd=DATA):
    """Exit status, and the answers by id."""
    p = subprocess.run([incore, "mcp", *roots], cwd=cwd, input="".join(line + "\n" for line in lines).encode(), capture_output=True, timeout=120)
    answers = [json.loads(line) for line in p.stdout.decode().splitlines()]
    return p.returncode, {a.get("id"): a for a in answers if "method" not in a}, answers


def request(n, method, params=None):
    return json.dumps({"jsonrpc": "2.0", "id": n, "method": method, **({"params": params} if params is not None else {})})


def odd_lines(incore):
    for line, code in (("[]", -32600), ("{", -32700), ('"x"', -32600), ('{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600), ("[" * 5000, -32700),
                       ('{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600), ('{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32600),
                       ('{"jsonrpc":"2.0","id":1,"method":"no/such"}', -32601), ("x" * (5 << 20), -32600), ("\x00\x01", -32700)):
        rc, _, all_of_it = talk(incore, [line, request("after", "ping")])
        check(rc == 0 and any(a.get("error", {}).get("code") == code for a in all_of_it) and any(a.get("id") == "after" for a in all_of_it),
              f"{line[:60]!r}: {rc} {str(all_of_it)[:300]}")
    check(talk(incore, ["", "  ", '{"jsonrpc":"2.0","method":"notifications/x"}', '{"jsonrpc":"2.0","id":1,"result":{}}'])[2] == [], "what needs no answer is answered")
    for wanted, got in (("2025-06-18", "2025-06-18"), ("1999-01-01", "2025-11-25")):
        answer = talk(incore, [request(1, "initialize", {"protocolVersion": wanted, "capabilities": {}, "clientInfo": {}})])[1][1]
        check(answer["result"]["protocolVersion"] == got, f"revision {wanted}: {answer}")


def arguments_of_any_kind(incore):
    values = [None, True, -1, 1e300, "", "\x00", "x" * 5000, [], ["gemm"], {}, {"path": {}}, "gemm\n", "..", "/"]
    lines, n = [], 0
    for tool in ("hot", "isa", "diff", "sql", "check", "summary"):
        for value in values:
            for arguments in ({"path": value}, {"path": "gemm", "top": value}, {"path": "gemm", "limit": value}, {"path": "gemm", "tables": value},
                              {"a": value, "b": value}, {"paths": value, "query": value}, value):
                n += 1
                lines.append(request(n, "tools/call", {"name": tool, "arguments": arguments}))
    rc, answers, _ = talk(incore, lines)
    check(rc == 0 and set(answers) == set(range(1, n + 1)), f"{n - len(answers)} of {n} odd calls are not answered (exit status {rc})")


def progress(incore):
    """Told before the answer; here and not with the client, which forgets what comes in one breath with an answer."""
    call = request(7, "tools/call", {"name": "hot", "arguments": {"path": "gemm"}, "_meta": {"progressToken": "t1"}})
    answers = talk(incore, [call])[2]
    kinds = [a.get("method", "answer") for a in answers]
    check(kinds[-1] == "answer" and kinds[:-1] and all(a["params"]["progressToken"] == "t1" for a in answers[:-1]), f"progress: {kinds}")
    check(talk(incore, [request(7, "tools/call", {"name": "hot", "arguments": {"path": "gemm"}})])[2][0].get("id") == 7, "progress that nobody wants")


def ask(calls, incore, *roots, cwd):
    """The results of tools by number: (tool, arguments) each."""
    lines = [request(i, "tools/call", {"name": name, "arguments": arguments}) for i, (name, arguments) in enumerate(calls)]
    return [answer for _, answer in sorted(talk(incore, lines, *roots, cwd=cwd)[1].items())]


def is_refused(answer):
    return "error" in answer or bool(answer["result"].get("isError"))


def listed(answer):
    return sorted(c["path"] for c in answer["result"]["structuredContent"]["captures"])


def outside_of_roots(incore):
    with tempfile.TemporaryDirectory() as tmp:
        root, outside = links.make(tmp)
        opened = ("own", "own/../../root/own", "inner", "files", "files/real.incore", "files/same.incore", "up/root/own")
        refused = ("away", "mix", "mix/X", f"mix/X/{links.CAPTURE}", "mix/Y", "away/other", f"away/other/{links.CAPTURE}", "files/link.incore", "up/outside", "up", "made",
                   "made/ui_output_agent_1_dispatch_9", "../outside/other", outside, "no/such")
        answers = ask([("info", {"path": p}) for p in opened + refused], incore, root, cwd=tmp)
        for path, answer in zip(opened + refused, answers):
            check(is_refused(answer) == (path in refused), f"links out of a root: {path}: {str(answer)[:300]}")
            check(path in opened or outside not in str(answer).replace(f"'{path}'", ""), f"{path} tells of what lies outside: {str(answer)[:300]}")
        queries = ask([("sql", {"paths": [p], "query": "select count(*) from code"}) for p in ("own", "mix", "away")], incore, root, cwd=tmp)
        check([is_refused(a) for a in queries] == [False, True, True], f"sql: {queries}")
        for base in (root, os.path.join(root, "files"), os.path.join(root, "mix"), os.path.join(root, "made")):
            paths = listed(ask([("captures", {})], incore, base, cwd=tmp)[0])
            answers = ask([("info", {"path": p}) for p in paths], incore, base, cwd=tmp)
            check(not any(is_refused(a) for a in answers), f"below {base} {paths} are listed: {answers}")
            check(bool(paths) == (base not in (os.path.join(root, "mix"), os.path.join(root, "made"))), f"below {base} there are {paths}")
        # what lies beside a root is none of it: no repeats, no side files
        alone = ask([("info", {"path": "."})], incore, os.path.join(DATA, "gemm", "ui_output_agent_1000_dispatch_7"), cwd=tmp)[0]["result"]["structuredContent"]
        check(alone["values"]["kernel"] == "gemm_f16" and "machine_product" not in alone["values"] and not alone.get("warnings"), f"beside a root: {alone}")
    rc = subprocess.run([incore, "mcp", "nowhere"], cwd=DATA, input=b"", capture_output=True).returncode
    check(rc == 2, f"a root that is not there: {rc}")


def swapped(incore):
    """A folder of the root and a link to a capture outside change places while they are looked at."""
    with tempfile.TemporaryDirectory() as tmp:
        root, _ = links.make(tmp)
        os.rename(os.path.join(root, "own"), os.path.join(root, "mix", "own"))
        kernels = set()
        with links.swapping(os.path.join(root, "mix", "own"), os.path.join(root, "mix", "X")):
            for _ in range(20):
                answers = ask([("info", {"path": p}) for p in ("mix/own", "mix/X", f"mix/own/{links.CAPTURE}", "mix")] + [("captures", {})], incore, root, cwd=tmp)
                check(f"mix/own/{links.CAPTURE}" not in listed(answers.pop()), "a capture outside is listed while folders are swapped")
                kernels |= {a["result"]["structuredContent"]["values"].get("kernel") for a in answers if not is_refused(a)}
        check(kernels == {"gemm_f16"}, f"while folders are swapped: {kernels}")


def only_what_agents_reach(incore):
    """Verbs that no table says agents reach are no tools, by no spelling."""
    described = json.loads(subprocess.run([incore, "--help=json"], capture_output=True, check=True).stdout)["verbs"]
    verbs = [(v["name"], v["reach"]) for v in described] + [(f"{v['name']} {s['name']}", s["reach"]) for v in described for s in v.get("verbs", [])]
    tools = {t["name"] for t in talk(incore, [request(1, "tools/list")])[1][1]["result"]["tools"]}
    for name, reach in verbs:
        word = name.replace(" ", "_")
        check(("agent" in reach) == (word in tools) or name == "sql", f"{name} reaches {reach}, a tool: {word in tools}")
        if "agent" not in reach and name != "sql":
            calls = [(spelling, {"path": "dumps/own"}) for spelling in (name, word)]
            check(all("error" in answer for answer in ask(calls, incore, cwd=DATA)), f"{name} is asked by an agent")


def nothing(incore):
    """What is printed by `whatif --nothing`; without a question the tool says what can be asked."""
    told = json.loads(subprocess.run([incore, "whatif", "--nothing", "--json", "gemm"], cwd=DATA, capture_output=True, check=True).stdout)["data"]
    calls = [request(i, "tools/call", {"name": "whatif", "arguments": {"path": "gemm", **more}}) for i, more in enumerate(({"nothing": True}, {}))]
    answers = talk(incore, calls)[1]
    values = answers[0]["result"]["structuredContent"]["values"]
    check({k: values[k] for k in ("verdict", "before", "after", "low", "high")} == {k: told[k] for k in ("verdict", "before", "after", "low", "high")},
          f"whatif with nothing changed: {values}")
    check(answers[1]["result"]["isError"] and "--nothing" in answers[1]["result"]["content"][0]["text"], f"whatif without a question: {answers[1]}")


def plant(incore, made):
    """Captures of kernels with one defect each: of the toy engine, and Ascend kernels that the embedded model times."""
    amd, ascend = os.path.join(made, "amd"), os.path.join(made, "ascend")
    os.mkdir(amd)
    os.mkdir(ascend)
    p = subprocess.run([os.path.join(os.path.dirname(incore), "examples", "make_capture"), "--planted", amd], capture_output=True, text=True)
    check(p.returncode == 0, f"make_capture: {p.stderr}")
    folder = os.path.join(ROOT, "examples", "ascend", "planted")
    arguments = [w for slot in ("0=f32[512,64]", "1=f32[512,64]", "2=f32[512,64]:out") for w in ("--args", slot)]
    for name in sorted(os.listdir(folder)):
        p = subprocess.run([incore, "model", "run", os.path.join(folder, name), "--core", "aiv", *arguments, "-o", os.path.join(ascend, name[:-4])],
                           capture_output=True, text=True, env={**os.environ, "XDG_CACHE_HOME": made})
        check(p.returncode in (0, 1) and os.path.exists(os.path.join(ascend, name[:-4], "trace.incore")), f"{name}: {p.returncode} {p.stderr}")


def official_client(incore):
    if os.environ.get("INCORE_NO_NPM"):
        return
    why = why_not(HERE, "install", "--no-save")
    if why:
        print("SKIP the official client: " + why)
        COUNTS["skipped"] += 1
        return
    with tempfile.TemporaryDirectory() as made:
        plant(incore, made)
        p = subprocess.run(["node", os.path.join(HERE, "client.mjs"), incore, DATA, ROOT, made], cwd=HERE, capture_output=True, text=True, timeout=300)
    print(p.stdout.rsplit("\n", 2)[0] if "FAIL" in p.stdout else "", end="")
    words = p.stdout.strip().splitlines()[-1].replace(",", "").split() if p.stdout.strip() else []
    if len(words) != 4:
        check(False, f"the client: {p.stdout[-1000:]} {p.stderr[-3000:]}")
        return
    COUNTS["passed"] += int(words[0])
    COUNTS["failed"] += int(words[2])


def main():
    incore = os.path.join(os.path.abspath(sys.argv[1]), "incore")
    odd_lines(incore)
    arguments_of_any_kind(incore)
    outside_of_roots(incore)
    swapped(incore)
    progress(incore)
    only_what_agents_reach(incore)
    nothing(incore)
    official_client(incore)
    print(f"\n{COUNTS['passed']} passed, {COUNTS['failed']} failed, {COUNTS['skipped']} skipped")
    return COUNTS["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
