#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
run.py PROGRAM [SHARED]: does the program reproduce the real captures, all of them, exactly?

Compares every value of the golden facts, the reference tables and headline figures, the legacy reports byte for byte, the
findings and verdicts, the same bytes for any number of threads, and a packed file with its original. SHARED: the folder with
data/amd (default: INCORE_SHARED, then ../shared beside the source tree). Without it one line per capture is skipped.
"""
import glob
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import facts  # noqa: E402
import health  # noqa: E402
import raw  # noqa: E402
import references  # noqa: E402
import written  # noqa: E402
from captures import CAPTURES, Data, Report  # noqa: E402

THIN = "THIN" in os.environ and os.environ.get("TIMES", "1") == "1"
QUESTIONS = [
    ("info",), ("check",), ("hot",), ("hot", "--by", "cause", "--top", "all"), ("hot", "--by", "line"),
    ("hot", "--by", "producer"), ("isa",), ("waves",), ("occupancy",), ("summary",),
]


def reports(r, d, name):
    """The older script's text, byte for byte; it is run in the folder of the capture."""
    path = d.path(name)
    tag = next(f for known, _, f in CAPTURES if known == name).split(".")[1]
    for form, options in (("default", []), ("asm50", ["--top", "50", "--by", "instr"])):
        found = glob.glob(os.path.join(d.root, "golden", "hotspot", f"*.{tag}.{form}.txt"))
        r.one(f"{name}: one golden report {form}", len(found), 1)
        with open(found[0], "rb") as f:
            want = f.read()
        rc, out, _ = d.run("hot", "--taxonomy", "flydsl", *options, os.path.basename(path), cwd=os.path.dirname(path))
        r.one(f"{name}: legacy report {form}: exit status", rc, 0)
        r.one(f"{name}: legacy report {form}: bytes", out == want, True)


def dominant_types(r, d, name):
    """The type that dominates the stall of each line is the DomType of the older script."""
    tag = next(f for known, _, f in CAPTURES if known == name).split(".")[1]
    with open(glob.glob(os.path.join(d.root, "golden", "hotspot", f"*.{tag}.default.txt"))[0], encoding="utf-8") as f:
        table = f.read().split("Hotspot Source Lines")[1].split("Hotspot Instructions")[0]
    lines = d.ask(name, "hot", "--by", "line", "--top", "all")["groups"]
    for kind, source in re.findall(r"\]\s+[\d.]+%\s+(\S+)\s+(\S.*)$", table, re.M):
        got = [x["type"] for x in lines if x["key"][-48:].strip() == source.strip()]
        r.one(f"{name}: dominant type of {source.strip()}", got, [kind])


def threads(r, d, name):
    """All questions are asked of two threads; here the same of one. THIN: the plain program shows it."""
    for question in [] if THIN else QUESTIONS:
        d.ask(name, *question)
        one = d.run(question[0], "--json", *question[1:], "-j1", d.path(name))
        two = d.kept_bytes[(d.path(name), question[0], question[1:])]
        r.one(f"{name}: {' '.join(question)}: same bytes with 1 and 2 threads", one[1] == two and len(two) > 0, True)


# Said of the file, not of what is in it.
OF_THE_FILE = {"path", "dir", "format", "format_version", "siblings", "packed", "content_hash", "health"}


def strip(o):
    if isinstance(o, dict):
        return {k: strip(v) for k, v in o.items() if k not in OF_THE_FILE}
    return [strip(v) for v in o] if isinstance(o, list) else o


def packed(r, d, name):
    """The packed file gives the same answers."""
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, os.path.basename(d.path(name)) + ".incore")
        rc, _, err = d.run("pack", "-o", target, d.path(name))
        r.one(f"{name}: pack", (rc, err if rc else ""), (0, ""))
        for question in QUESTIONS:
            want = strip(d.ask_path(d.path(name), *question))
            got = strip(d.ask_path(target, *question))
            if question[0] in ("check", "summary"):  # a lone file has no sibling, and its sources are inside it
                want, got = without_siblings(want), without_siblings(got)
            if question[0] == "summary" and name.startswith("pa_mqa_double"):  # so it has no noise floor of its own
                for answer in (want, got):
                    answer.pop("bound")
                    answer.pop("verdict")
                    answer.pop("repeats")
            r.one(f"{name}: packed: {' '.join(question)}: same answer", got == want, True)
            if got != want:
                print("  first difference:", first_difference(got, want))


def without_siblings(o):
    if isinstance(o, dict):
        return {k: without_siblings(v) for k, v in o.items()}
    if isinstance(o, list):
        return [without_siblings(v) for v in o
                if not (isinstance(v, dict) and v.get("id") == "repeated-capture") and v != "repeated-capture"]
    return o


def first_difference(got, want, path=""):
    if isinstance(got, dict) and isinstance(want, dict):
        for key in sorted(set(got) | set(want)):
            if got.get(key) != want.get(key):
                return first_difference(got.get(key), want.get(key), f"{path}.{key}")
    if isinstance(got, list) and isinstance(want, list):
        for i, (a, b) in enumerate(zip(got, want)):
            if a != b:
                return first_difference(a, b, f"{path}[{i}]")
    return f"{path}: {str(got)[:120]} instead of {str(want)[:120]}"


def main():
    if len(sys.argv) < 2:
        print(__doc__.strip())
        return 2
    here = os.path.dirname(os.path.abspath(__file__))
    shared = sys.argv[2] if len(sys.argv) > 2 else os.environ.get("INCORE_SHARED") or os.path.join(
        here, "..", "..", "..", "shared")
    r = Report()
    d = Data(os.path.abspath(sys.argv[1]), os.path.abspath(shared))
    if not d.exists():
        for name, _, _ in CAPTURES:
            r.skip(name, "no capture data (set INCORE_SHARED)")
    else:
        for name, _, _ in CAPTURES:
            r.guard(f"{name}: facts", facts.compare, r, d, name)
            r.guard(f"{name}: reports", reports, r, d, name)
            r.guard(f"{name}: dominant types", dominant_types, r, d, name)
            r.guard(f"{name}: threads", threads, r, d, name)
            r.guard(f"{name}: packed", packed, r, d, name)
            r.guard(f"{name}: written", written.compare, r, d, name)
        written.raw_runs(r, d)
        references.all_of(r, d)
        health.all_of(r, d)
    raw.all_of(r, d)
    print(f"{r.passed} passed, {r.failed} failed, {r.skipped} skipped")
    return 1 if r.failed else 0


if __name__ == "__main__":
    sys.exit(main())
