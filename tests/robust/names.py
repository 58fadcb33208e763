#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
names.py PROGRAM: no text of a capture reaches a terminal raw, and none forges a line.

Into copies of generated captures, dumps and op streams goes a hostile text, in one kind of string after the other: every member
of a JSON file, every cell of a CSV file, and the folder's own name. Every verb that prints text is asked. Neither of its streams
may hold a control character of ASCII or C1, a bidi control or a line that the text began; the JSON of the same question holds
the text as it is wherever the text shows it.
"""
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "data")
HOSTILE = "\x1b]0;title\x07\x9b31m\x85\u202ef\u2066\n```x\n#FORGED\r\nFORGED\x7f"
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|(?:^|\n) *(?:#?FORGED|```x)")
ABOUT_CAPTURES = [("info",), ("check",), ("hot",), ("hot", "--by", "line"), ("hot", "--by", "producer"), ("hot", "--csv"), ("hot", "--taxonomy", "flydsl"), ("isa",), ("waves",),
                  ("occupancy",), ("summary",), ("report", "--format", "md", "-o", "-")]
CASES = [("gemm", ABOUT_CAPTURES), ("two_kernels", ABOUT_CAPTURES), ("gfx12", ABOUT_CAPTURES), ("pc_sampling", ABOUT_CAPTURES),
         ("ascend_matmul", ABOUT_CAPTURES), ("ascend_details", ABOUT_CAPTURES), ("ascend_csv", ABOUT_CAPTURES), ("ascend_dump", ABOUT_CAPTURES),
         ("dumps/g1", [("dump", "ls"), ("dump", "show"), ("dump", "check")]), ("dumps/own", [("dump", "ls"), ("dump", "show"), ("dump", "check")]),
         ("model/attention.jsonl", [("model", "time")])]
RESULT = [0, 0]


def check(ok, what):
    RESULT[not ok] += 1
    if not ok:
        print(f"FAIL {what}", flush=True)


def spoil(text):
    return text[:1] + HOSTILE + text[1:]


def kinds_of(value, path=()):
    """The places of strings, with list indices left out."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict):
        for k, v in value.items():
            yield from kinds_of(v, path + (k if not k.isdigit() else "0",))
    elif isinstance(value, list):
        # the members of a row (a list in a list) are told apart
        is_row = path and path[-1] == "*"
        for i, v in enumerate(value):
            yield from kinds_of(v, path + (str(i) if is_row else "*",))


def spoil_kind(value, kind, path=()):
    if isinstance(value, str):
        return spoil(value) if path == kind else value
    if isinstance(value, dict):
        return {k: spoil_kind(v, kind, path + (k if not k.isdigit() else "0",)) for k, v in value.items()}
    if isinstance(value, list):
        is_row = path and path[-1] == "*"
        return [spoil_kind(v, kind, path + (str(i) if is_row else "*",)) for i, v in enumerate(value)]
    return value


def json_variants(text):
    try:
        lines, joint = [json.loads(text)], ""
    except ValueError:
        try:
            lines, joint = [json.loads(line) for line in text.splitlines() if line.strip()], "\n"
        except ValueError:
            return
    for kind in sorted({k for line in lines for k in kinds_of(line)}):
        yield "/".join(kind), joint.join(json.dumps(spoil_kind(line, kind)) for line in lines)


def csv_variants(text):
    rows = list(csv.reader(io.StringIO(text)))
    for column, title in enumerate(rows[0]):
        if all(re.fullmatch(r"[-0-9.exa-f]*", r[column]) for r in rows[1:] if len(r) > column):
            continue
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([rows[0]] + [[spoil(x) if i == column else x for i, x in enumerate(r)] for r in rows[1:]])
        yield title, out.getvalue()


def files_below(path):
    if os.path.isfile(path):
        return [path]
    return sorted(os.path.join(d, f) for d, _, names in os.walk(path) for f in names)


def one_of_many(path):
    """Of files that differ by numbers alone the first will do."""
    return re.sub(r"\d+", "#", path)


def variants(top):
    """A capture in which one kind of string is hostile: (what, do it, undo it)."""
    seen = set()
    for path in files_below(top):
        if one_of_many(path) in seen or os.path.getsize(path) > 1 << 20:
            continue
        seen.add(one_of_many(path))
        with open(path, "rb") as f:
            was = f.read()
        try:
            text = was.decode()
        except UnicodeDecodeError:
            continue
        make = {".json": json_variants, ".jsonl": json_variants, ".csv": csv_variants}.get(os.path.splitext(path)[1])
        for kind, changed in make(text) if make else ():
            with open(path, "w", encoding="utf-8") as f:
                f.write(changed)
            yield f"{os.path.relpath(path, top)} {kind}"
        with open(path, "wb") as f:
            f.write(was)


def ask(program, question, path, what):
    p = subprocess.run([program, *question, path], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    out, err = (x.decode("utf-8", "surrogateescape") for x in (p.stdout, p.stderr))
    if "--csv" in question:
        out = out.replace("\r\n", "\n")
    for name, text in (("stdout", out), ("stderr", err)):
        raw = RAW.search(text)
        check(p.returncode in (0, 1, 3, 4) and not raw, f"{' '.join(question)}, {what}: {p.returncode}, {name}: {text[max(0, raw.start() - 60):raw.end() + 40]!r}" if raw else f"{what}: {p.returncode}")


def main():
    program = os.path.abspath(sys.argv[1])
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    with tempfile.TemporaryDirectory(prefix="incore-names-") as folder:
        for name, questions in CASES:
            if only not in name:
                continue
            copy = shutil.copytree if os.path.isdir(os.path.join(DATA, name)) else shutil.copy
            top = os.path.join(folder, os.path.basename(name))
            copy(os.path.join(DATA, name), top)
            for what in variants(top):
                for question in questions:
                    ask(program, question, top, f"{name} {what}")
            named = os.path.join(folder, spoil(os.path.basename(name)))
            copy(os.path.join(DATA, name), named)
            for question in questions:
                ask(program, question, named, f"{name} in a folder of hostile name")
    print(f"{RESULT[0]} passed, {RESULT[1]} failed, 0 skipped")
    return RESULT[1] > 0


if __name__ == "__main__":
    sys.exit(main())
