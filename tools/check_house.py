#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is every room complete? verb = cmd file = man page = golden folder = schema; input format = man page = fuzz
target; the options of a verb = OPTIONS of its page; --help fits 40 lines; files keep to their size; the head of
every source file is right; the completions are valid shell.

usage: check_house.py BUILD_DIR
"""
import json
import os
import re
import subprocess
import sys

import answer_types
import note_page
import reach_table

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESULT = [0, 0]
OWN_TEXT = ("help.c", "completion.c")  # print what we wrote, or what is plain already
# The rooms in which the vendor of a capture is a row of trace/kind.h, never a branch.
NO_VENDOR = ("answer", "cli", "serve", "export", "tables", "verbs", "page")
# What opens, lists or asks about files by path, past the fence of who asks (base/file_fence.h).
# An answer's fields are described in answer/ and verbs/ alone, and an option is a field: nobody asks for one by its name.
COLUMNS = re.compile(r"\bstruct column\b|\bstruct record \w+ =|\b(?:COLUMN(?:_AS)?|LIST|RECORD_OF)\(")
LOOKED_UP = re.compile(r"\b(?:option_find|request_option|find_option|cli_(?:text|flag|count|has|many)\w*)\([^;]*?\"")
UNFENCED = re.compile(r"\b(?:open|openat|fopen|opendir|scandir|l?stat|fstatat|access|dir_each|file_load|file_exists|file_is_dir|file_size)\((?!\))")


def check(ok, what):
    RESULT[not ok] += 1
    if not ok:
        print(f"FAIL {what}")


def read(*parts):
    try:
        with open(os.path.join(ROOT, *parts)) as f:
            return f.read()
    except FileNotFoundError:
        return None


def section(page, name):
    m = re.search(rf"^# {name}\n(.*?)(?=^# |\Z)", page, re.M | re.S)
    return m.group(1) if m else ""


def check_verb(program, verb):
    name = verb["name"]
    homes = f"cli/cmd_{name}.c", f"verbs/{name}.c", f"verbs/{name}", f"answer/pages/{name}_page.c"
    check(any(os.path.exists(os.path.join(ROOT, "src", h)) for h in homes), f"verb {name}: none of {homes} is there")
    check(os.path.isdir(os.path.join(ROOT, "tests", "golden", name)), f"verb {name}: no tests/golden/{name}/")
    if subprocess.run([program, "--schema", name], capture_output=True).returncode == 0:
        check(f"'{name}'" in (read("schemas", "meson.build") or ""), f"verb {name}: not among the described of schemas/meson.build")
    else:
        check(read("schemas", f"incore.{name}.1.schema.json"), f"verb {name}: no schemas/incore.{name}.1.schema.json")
    text = subprocess.run([program, name, "--help"], capture_output=True, text=True).stdout
    check(len(text.splitlines()) <= 40, f"verb {name}: --help has {len(text.splitlines())} lines, more than 40")
    page = read("man", f"incore-{name}.1.scd")
    check(page, f"verb {name}: no man/incore-{name}.1.scd")
    if not page:
        return
    for part in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "OUTPUT", "EXIT STATUS", "EXAMPLES", "SEE ALSO"):
        check(re.search(rf"^# {part}$", page, re.M), f"man/incore-{name}.1.scd: no section {part}")
    options = section(page, "OPTIONS")
    told = set(re.findall(r"\*--([a-z-]+)\*", options))
    common = set(re.findall(r"\*--([a-z-]+)\*", read("man", "incore.1.scd") or ""))
    own = {o["name"] for o in verb["options"] if o["group"] == "Options"}
    every = {o["name"] for o in verb["options"]}
    for option in sorted(own - told - (common & {"top", "csv", "columns"})):
        check(False, f"man/incore-{name}.1.scd: OPTIONS lacks --{option}")
    for option in sorted(told - every - {"help"}):
        check(False, f"man/incore-{name}.1.scd: OPTIONS has --{option}, which {name} does not know")
    for option in sorted(every - own - common - told):
        check(False, f"incore.1 does not explain --{option}")
    check(True, "")


def check_formats(version):
    for fmt in version["features"]["import"]:
        page = "incore-packed" if fmt in ("packed", "incore") else f"incore-{fmt}"
        check(read("man", f"{page}.7.scd"), f"format {fmt}: no man/{page}.7.scd")
        targets = os.listdir(os.path.join(ROOT, "tests", "fuzz"))
        check(any(re.match(rf"fuzz_{fmt}\w*\.c$", t) for t in targets), f"format {fmt}: no tests/fuzz/fuzz_{fmt}*.c")


def longest_function(text):
    """(lines, line number) of the longest body: from a brace alone in column 0 to its end."""
    longest, start = (0, 0), None
    for number, line in enumerate(text.split("\n"), 1):
        if line == "{":
            start = number
        elif line == "}" and start:
            longest = max(longest, (number - start - 1, start))
            start = None
    return longest


def check_files():
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True,
                           text=True).stdout.splitlines()
    for name in names:
        if not name.endswith((".c", ".h")):
            continue
        text = read(name)
        if text is None:
            continue
        n = text.count("\n")
        check(n <= 1200, f"{name}: {n} lines, more than 1,200")
        if name.startswith("tests/"):
            continue
        length, at = longest_function(text)
        check(length <= 60, f"{name}:{at}: a function of {length} lines, more than 60")
        check(text.startswith("/* SPDX-License-Identifier: Apache-2.0 */\n"), f"{name}: no SPDX line first")
        if name.startswith("src/cli/"):
            check(not COLUMNS.search(text), f"{name}: {COLUMNS.findall(text)[:3]}, where answers are only drawn; describe columns in answer/ or verbs/")
        if name.startswith(("src/", "tools/model_lab/")):
            check(not LOOKED_UP.search(text), f"{name}: {LOOKED_UP.findall(text)[:3]}, an option asked for by its name; give it a field in the table")
        if name.startswith("src/cli/") and name.endswith(".c") and not name.endswith(OWN_TEXT):
            check(not re.search(r"\bfprintf\((?!\s*stderr)", text), f"{name}: fprintf, where only say() makes the texts of others plain")
        if name.startswith(tuple(f"src/{room}/" for room in ("import", "analysis", "answer", "tables", "sql", "mcp", "lib", "serve/view", "serve/report"))):
            check(not UNFENCED.search(text), f"{name}: {UNFENCED.findall(text)[:3]}, where only the functions of base/file_fence.h know where who asks may look")
        if name.startswith(tuple(f"src/{room}/" for room in NO_VENDOR)):
            check(not re.search(r"\bVENDOR_(?!UNKNOWN)\w+", text), f"{name}: a branch on the vendor; vendor_row() of trace/kind.h says what differs")
        if name.endswith(".h") and not name.endswith("trace.h"):
            check(n <= 150 or "lines because" in text[:1500], f"{name}: {n} lines, more than 150 for a header")
    for name in ("README.md", "DESIGN.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", "man/incore.1.scd"):
        check(read(name), f"no {name}")


def check_completions(program):
    for shell in ("bash", "zsh", "fish"):
        p = subprocess.run([program, "--completion", shell], capture_output=True, text=True)
        check(p.returncode == 0 and "hot" in p.stdout, f"--completion {shell} fails")
        if shell == "bash":
            q = subprocess.run(["bash", "-n"], input=p.stdout, capture_output=True, text=True)
            check(q.returncode == 0, f"bash completion: {q.stderr}")
            ask = p.stdout + 'COMP_WORDS=(incore hot --by cl); COMP_CWORD=3; _incore; echo "${COMPREPLY[@]}"\n'
            q = subprocess.run(["bash"], input=ask, capture_output=True, text=True)
            check(q.stdout == "class\n", f"bash completion of hot --by cl: {q.stdout}{q.stderr}")


def check_names(build):
    """One name, one function: of two in a static library the linker takes either, and says nothing."""
    p = subprocess.run(["nm", os.path.join(build, "src", "libincore.a")], capture_output=True, text=True)
    names = re.findall(r"^[0-9a-f]+ [TDBR] (\w+)$", p.stdout, re.M)
    twice = sorted({n for n in names if names.count(n) > 1}) if len(set(names)) < len(names) else []
    check(p.returncode == 0 and len(names) > 100 and not twice, f"defined twice in libincore.a: {twice} {p.stderr[:200]}")


SEVERAL_TYPES = {"aiv", "arch", "by", "core", "cu", "device", "func", "index", "list", "se", "set", "simd", "task", "to"}  # of option; no new ones


def check_option_names():
    """An option has its row in one table, and one type wherever it is taken."""
    rows = re.findall(r"#define (OPT_\w+)\s+(?:0|'.'),\s*\"([\w-]+)\",\s*(OPTION_\w+)", read("src/answer/option_names.h").replace("\\\n", " "))
    types = {}
    for row, name, kind in rows:
        types.setdefault(name, set()).add(kind)
    several = {name for name, kinds in types.items() if len(kinds) > 1}
    check(len(rows) > 200 and several == SEVERAL_TYPES, f"options of several types: {sorted(several ^ SEVERAL_TYPES)} against the list of this check")
    texts = {os.path.relpath(os.path.join(d, f), ROOT): read(os.path.relpath(os.path.join(d, f), ROOT))
             for room in ("src", "tools/model_lab") for d, _, fs in os.walk(os.path.join(ROOT, room)) for f in fs if f.endswith((".c", ".h"))}
    by_hand = [p for p, t in texts.items() if not p.endswith("option_names.h") and re.search(r"\{[\s\\]*(?:0|'.'),[\s\\]*\"[\w-]+\",[\s\\]*OPTION_", t)]
    check(not by_hand, f"options that are not made from option_names.h: {by_hand}")
    used = {word for p, t in texts.items() if not p.endswith("option_names.h") for word in re.findall(r"\bOPT_\w+", t)}
    unused = [row for row, _, _ in rows if row not in used]
    check(not unused, f"rows of option_names.h that no verb takes: {unused}")


def check_reach(program):
    """Who reaches what is told as it is; no stranger names a file."""
    made, text = reach_table.table(program), read("SECURITY.md")
    check(reach_table.put(text, made) == text, "SECURITY.md: the table of who reaches what is another; tools/reach_table.py INCORE --write")
    verbs = json.loads(subprocess.run([program, "--help=json"], capture_output=True, check=True).stdout)["verbs"]
    for verb in reach_table.with_subs(verbs):
        check("answers" in verb or not verb["reach"], f"{verb['name']} is no question and reaches {verb['reach']}")
        for o in verb["options"]:
            check(not (o["names_file"] and "http" in o["reach"]), f"{verb['name']} --{o['name']} names a file and reaches HTTP")
            names = o["arg"] and re.search("PATH|FILE|DIR", o["arg"])
            check(o["names_file"] or not names or not o["reach"], f"{verb['name']} --{o['name']} {o['arg']}: does it name a file? It reaches {o['reach']}")


def is_shown(message, tests):
    """Does a test have the longest text of a message between two conversions of its format?"""
    part = max(re.split(r"%[-+ #0-9.*]*(?:ll|z|l)?[a-zA-Z]|\\.", message), key=len).strip()
    return len(part) > 11 and part in tests


def check_notes():
    """Each code of a note and of a finding has its line in a page, and a test that shows it."""
    src = os.path.join(ROOT, "src")
    texts = "".join(read(os.path.relpath(os.path.join(d, f), ROOT)) for d, _, fs in os.walk(src) for f in fs if f.endswith(".c"))
    tests = "".join(open(os.path.join(d, f), errors="replace").read() for d, _, fs in os.walk(os.path.join(ROOT, "tests")) for f in fs
                    if f.endswith((".py", ".c", ".json", ".sql")) or f in ("expect", "stderr", "cmd"))
    words = set(re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)*", tests))
    findings = set(re.findall(r'X\("([a-z0-9-]+)"', read("src", "analysis", "check", "findings.h")))
    page = read("man", "incore-check.1.scd")
    for code in sorted(findings):
        check(re.search(rf"(?<![\w-]){code}(?![\w-])", page), f"finding {code}: no line in man/incore-check.1.scd")
        check(code in words, f"finding {code}: no test shows it")
    for code in sorted(set(re.findall(r'\bcheck_add(?:_as)?\(\s*c, "([a-z0-9-]+)"', texts)) - findings):
        check(False, f"finding {code}: no row in analysis/check/findings.h")
    rows = {code for code, *_ in note_page.rows()}
    page = read("man", "incore-notes.7.scd")
    check(len(rows) > 150 and note_page.text(page) == page, "man/incore-notes.7.scd: the rows of trace/notes.h are others; tools/note_page.py --write")
    made = set(re.findall(r'\b(?:trace_note|trace_note_as|asc_note|import_note_unread)\([^;"]*"([a-z0-9-]+)"', texts))
    check(not made - rows, f"src/trace/notes.h lacks {sorted(made - rows)}")
    shown = set(re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)*", read("tests", "notes.py")))
    unshown = set()
    for code in sorted(rows):
        said = re.findall(rf'"{code}"((?:[^;"}}]|"(?:\\.|[^"\\])*")*)', texts)
        check(said, f"note {code}: nobody notes it")
        named = set(re.findall(rf'\[(\w+)\] = \{{\s*"{code}"', texts))  # a number that tests count
        messages = ["".join(re.findall(r'"((?:\\.|[^"\\])*)"', rest)) for rest in said]
        if not (code in shown or f"{code} (" in tests or any(q + code + q in tests for q in "'\"") or any(n in tests for n in named) or
                any(is_shown(m, tests) for m in messages)):
            unshown.add(code)
    check(not unshown, f"notes that no test shows: {sorted(unshown)}; tests/notes.py has the smallest input of each")


def main():
    program = os.path.join(os.path.abspath(sys.argv[1]), "incore")
    ask = lambda *w: json.loads(subprocess.run([program, *w], capture_output=True, check=True).stdout)  # noqa: E731
    for verb in ask("--help=json")["verbs"]:
        check_verb(program, verb)
    check_formats(ask("--version", "--json"))
    check_reach(program)
    check(read(answer_types.FILE) == answer_types.text(program), "ui/answers.ts: the schemas are others; tools/answer_types.py INCORE --write")
    check_option_names()
    check_notes()
    check_files()
    check_completions(program)
    check_names(os.path.abspath(sys.argv[1]))
    print(f"{RESULT[0]} passed, {RESULT[1]} failed, 0 skipped")
    return RESULT[1] > 0


if __name__ == "__main__":
    sys.exit(main())
