#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two recipes of CONTRIBUTING.md, followed in a copy of the tree: a column of `hot` and a finding of `check`. What they add is then seen in
text, JSON, the schema, SQL, the tool of an agent, the report and the viewer's types, with no line written in any of these.

usage: recipes.py BUILD_DIR     its objects are copied, too: only what includes the changed headers is compiled
"""
import base64
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESULT = [0, 0]
CAPTURE = os.path.join(ROOT, "tests", "data", "two_waves")
# What the program is not made of; Meson's files of tests stay, so that ninja sees nothing missing.
NOT_COPIED = ("tests/data/", "tests/golden/", "tests/fuzz/corpus/", "docs/", "bench/")
NOT_BUILT = {"tests", "examples", "man", "python", "packaging", "bench", "bench_capture", "bundle", "wheel"}

# file, what stands there once, what stands there afterwards
COLUMN = [
    ("src/answer/hot.h", "struct hot_row {\n", "struct hot_row {\n\tuint64_t dummy;\n"),
    ("src/answer/hot.c", "static const struct column hot_plain_columns[] = {\n",
     "static const struct column hot_plain_columns[] = {\n\tCOLUMN(hot_row, dummy, UNIT_COUNT, \"number that a recipe added\"),\n"),
    ("src/answer/hot.c", "*out = (struct hot_row){.key = g->key,\n", "*out = (struct hot_row){.key = g->key,\n\t\t.dummy = 911,\n"),
]
RULE = '''static void rule_dummy(struct check *c)
{
	struct finding *f = check_add(c, "dummy-finding");

	finding_say(c, f, "a recipe was followed");
	fact_int(f, "dummies", 911);
}

'''
FINDING = [
    ("src/analysis/check/findings.h", "\tX(\"empty-shell\",", "\tX(\"dummy-finding\", INFO, OK, \"leave the copy\") \\\n\tX(\"empty-shell\","),
    ("src/analysis/check/check.c", "static const rule_fn wave_rules[] = {rule_shell,", "static const rule_fn wave_rules[] = {rule_shell, rule_dummy,"),
    ("src/analysis/check/check.c", "typedef void (*rule_fn)(struct check *c);\n", RULE + "typedef void (*rule_fn)(struct check *c);\n"),
]


def check(ok, what):
    RESULT[not ok] += 1
    if not ok:
        print(f"FAIL {what}")
    return ok


def copy_tree(build, top):
    """The tree and its build with all times: for ninja nothing has changed."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.splitlines():
        if (not name.startswith(NOT_COPIED) or name.endswith("meson.build")) and os.path.isfile(os.path.join(ROOT, name)):
            os.makedirs(os.path.dirname(os.path.join(top, name)), exist_ok=True)
            shutil.copy2(os.path.join(ROOT, name), os.path.join(top, name))
    made = os.path.join(top, os.path.basename(build))
    os.makedirs(made)
    for entry in os.scandir(build):
        if entry.name in NOT_BUILT:
            continue
        if entry.is_dir():
            shutil.copytree(entry.path, os.path.join(made, entry.name), ignore=lambda _, names: [n for n in names if ".so" in n and ".p" not in n])
        else:
            shutil.copy2(entry.path, os.path.join(made, entry.name))
    return made


def follow(top, steps):
    """False where the place of a step is not found: the recipe is then another one."""
    for name, old, new in steps:
        path = os.path.join(top, name)
        text = open(path).read()
        if not check(text.count(old) == 1, f"{name}: {old!r} stands {text.count(old)} times there"):
            return False
        with open(path, "w") as f:
            f.write(text.replace(old, new))
    return True


class Program:
    def __init__(self, path):
        self.path = path
        self.env = {**os.environ, "INCORE_PROFILES": os.path.join(ROOT, "profiles")}

    def say(self, *words, text=None):
        return subprocess.run([self.path, *words], input=text, capture_output=True, text=True, timeout=120, env=self.env).stdout

    def told_agents(self, tool):
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": {"path": CAPTURE}}}
        return json.loads(self.say("mcp", os.path.dirname(CAPTURE), text=json.dumps(call) + "\n").splitlines()[-1])["result"]["structuredContent"]


def seen_column(p):
    rows = json.loads(p.say("hot", "--json", CAPTURE))["data"]["rows"]
    check(rows and all(r["dummy"] == 911 for r in rows), f"column in JSON: {rows[:1]}")
    for words in (["--columns", "+dummy"], ["--csv", "--columns", "+dummy"]):
        text = p.say("hot", *words, CAPTURE)
        check("dummy" in text and "911" in text, f"column by {words}: {text[:400]}")
    schema = p.say("--schema", "hot")
    check('"dummy"' in schema and "number that a recipe added" in schema, "column in the schema")
    check("911" in p.say("sql", CAPTURE, "SELECT dummy FROM hot LIMIT 1"), "column in SQL")
    check("dummy" in json.dumps(p.told_agents("hot")), "column for an agent")
    check('"dummy":911' in p.say("view", "--get", "/api/1/hot", CAPTURE).replace(" ", ""), "column in what the page asks")


def seen_finding(p):
    found = [f for f in json.loads(p.say("check", "--json", CAPTURE))["data"]["findings"] if f["id"] == "dummy-finding"]
    check(found and found[0]["evidence"] == {"dummies": 911}, f"finding in JSON: {found}")
    text = p.say("check", CAPTURE)
    check("dummy-finding" in text and "a recipe was followed" in text, f"finding in text: {text}")
    check("dummy-finding" in p.say("--schema", "check"), "finding in the schema")
    check("a recipe was followed" in p.say("sql", CAPTURE, "SELECT message FROM check_findings WHERE id = 'dummy-finding'"), "finding in SQL")
    check("dummy-finding" in json.dumps(p.told_agents("check")), "finding for an agent")
    check("dummy-finding" in p.say("view", "--get", "/api/1/check", CAPTURE), "finding in what the page asks")


def seen_in_report(p, top):
    path = os.path.join(top, "report.html")
    p.say("report", "-o", path, CAPTURE)
    page = open(path).read()
    packed = page.split('id="incore-answers">', 1)[1].split("<", 1)[0]
    answers = gzip.decompress(base64.b64decode(packed)).decode()
    check("a recipe was followed" in page, "finding on the page of the report")
    check("dummy-finding" in answers and "911" in answers and "dummy" in answers, "column and finding among the answers of the report")


def types_are_made(p, top):
    tool = subprocess.run([sys.executable, os.path.join(top, "tools", "answer_types.py"), p.path, "--write"], cwd=top, capture_output=True, text=True)
    types = open(os.path.join(top, "ui", "answers.ts")).read()
    check(tool.returncode == 0 and "dummy" in types, f"the viewer's types: {tool.stderr}")


def main():
    build = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="incore-recipes-") as top:
        made = copy_tree(build, top)
        if follow(top, COLUMN) and follow(top, FINDING):
            ninja = subprocess.run(["ninja", "-C", made, "-j", os.environ.get("JOBS", "1"), "incore"], capture_output=True, text=True)
            steps = ninja.stdout.count("\n[")
            if check(ninja.returncode == 0, ninja.stdout[-4000:]):
                check(0 < steps < 300, f"{steps} steps were built: the copy is not the tree's")
                p = Program(os.path.join(made, "incore"))
                seen_column(p)
                seen_finding(p)
                seen_in_report(p, top)
                types_are_made(p, top)
    print(f"{RESULT[0]} passed, {RESULT[1]} failed, 0 skipped")
    return RESULT[1] > 0


if __name__ == "__main__":
    sys.exit(main())
