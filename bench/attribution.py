#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/attribution.md, made from captures by bench/attribution.c.

usage: attribution.py PROGRAM             prints them
       attribution.py PROGRAM --write     puts them into the page
       attribution.py PROGRAM --check     compares the page with them: N passed, N failed, N skipped

Real captures come from $INCORE_SHARED (default ../shared); without them only the generator's are measured, and the page keeps the others.
"""
import collections
import csv
import glob
import io
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.path.join(os.environ.get("INCORE_SHARED", os.path.join(ROOT, "..", "shared")), "data", "amd", "ui_output")
PAGE = os.path.join(ROOT, "docs", "attribution.md")
MADE = ["gemm", "gfx11", "gfx12", "two_waves", "inline", "early_exit"]
METHODS = ["incore", "back-slice", "stated-lists", "counter-class"]
PERIOD = 1024


def real():
    for path in sorted(glob.glob(os.path.join(SHARED, "*", "ui_output*"))):
        name = os.path.basename(os.path.dirname(path))
        yield (f"{name} {path.split('_')[-1]}" if name == "pa_mqa_double" else name), path


def made():
    for name in MADE:
        for path in sorted(glob.glob(os.path.join(ROOT, "tests", "data", name, "ui_output*"))):
            yield name, path


def measure(program, captures):
    words = [f"{name}={path}" for name, path in captures]
    out = subprocess.run([program, "--seed", "1", *words], capture_output=True, text=True, check=True).stdout
    rows = []
    for r in csv.DictReader(io.StringIO(out)):
        rows.append({k: v if k in ("capture", "method") else float(v) for k, v in r.items()})
    return rows


def pct(part, whole):
    return f"{100 * part / whole:.1f}" if whole else "-"


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(map(str, r)) + " |" for r in rows)])


def summed(rows):
    """All samples of all captures together, and how the ranks agree."""
    s = collections.Counter()
    for r in rows:
        for k in ("samples", "attributed", "right", "class_attributed", "class_right", "top1", "top5", "top5_of"):
            s[k] += r[k]
    return s


def by_method(rows):
    out = []
    for m in METHODS:
        for skid in range(4):
            at = [r for r in rows if r["method"] == m and r["skid"] == skid and r["period"] == PERIOD]
            s = summed(at)
            is_class = m == "counter-class"
            each = [r["right"] / r["samples"] for r in at if r["samples"]]
            out.append([m, skid, "-" if is_class else pct(s["right"], s["attributed"]), "-" if is_class else pct(s["right"], s["samples"]),
                        "-" if is_class or not each else f"{100 * sum(each) / len(each):.1f}", pct(s["class_right"], s["class_attributed"]),
                        pct(s["class_right"], s["samples"]), "-" if is_class else f"{s['top1']:.0f} of {len(at)}",
                        "-" if is_class else f"{s['top5']:.0f} of {s['top5_of']:.0f}"])
    return table(["method", "skid", "precision", "recall", "mean recall of a capture", "class precision", "class recall", "top-1", "top-5"], out)


def by_period(rows):
    out = []
    for period in sorted({r["period"] for r in rows}):
        line = [f"{period:,.0f}"]
        for skid in range(4):
            at = [r for r in rows if r["method"] == "incore" and r["skid"] == skid and r["period"] == period]
            s = summed(at)
            line += [f"{pct(s['right'], s['attributed'])} / {pct(s['right'], s['samples'])}", f"{s['top1']:.0f}, {s['top5']:.0f}"]
            if skid == 0:
                line.insert(1, f"{s['samples']:,.0f}")
        out.append(line)
    head = ["period", "samples"] + [x for skid in range(4) for x in (f"skid {skid}", "top-1, top-5")]
    return table(head, out)


def by_capture(rows):
    out = []
    for name in dict.fromkeys(r["capture"] for r in rows):
        at = {(r["method"], r["skid"]): r for r in rows if r["capture"] == name and r["period"] == PERIOD}
        ours = at["incore", 0]
        row = [name, f"{ours['wait_cycles']:,.0f}", pct(ours["exact_cycles"], ours["wait_cycles"]), f"{ours['samples']:.0f}"]
        for m, skid in (("incore", 0), ("incore", 3), ("back-slice", 0), ("stated-lists", 0)):
            row.append(pct(at[m, skid]["right"], at[m, skid]["samples"]))
        row.append(pct(at["counter-class", 0]["class_right"], ours["samples"]))
        row.append(f"{'yes' if ours['top1'] else 'no'}, {ours['top5']:.0f} of {ours['top5_of']:.0f}")
        out.append(row)
    return table(["capture", "wait cycles", "one producer", "samples", "incore", "incore, skid 3", "back-slice", "stated-lists",
                  "counter-class (class)", "top-1, top-5"], out)


def sections(program):
    """Name and text of each table that can be made here."""
    captures = list(real())
    if captures:
        rows = measure(program, captures)
        yield "methods", by_method(rows)
        yield "periods", by_period(rows)
        yield "captures", by_capture(rows)
    yield "made", by_capture(measure(program, list(made())))


def split_page(text, name):
    m = re.search(rf"<!-- {name} -->\n(.*?)<!-- end -->", text, re.S)
    if not m:
        sys.exit(f"{PAGE}: no place for the table {name}")
    return m


def main():
    program, words = sys.argv[1], sys.argv[2:]
    tables = dict(sections(program))
    if not words:
        for name, text in tables.items():
            print(f"== {name}\n{text}\n")
        return 0
    with open(PAGE, encoding="utf-8") as f:
        page = f.read()
    passed = failed = 0
    for name, text in tables.items():
        m = split_page(page, name)
        if words[0] == "--write":
            page = page[: m.start(1)] + text + "\n" + page[m.end(1):]
        elif m.group(1) == text + "\n":
            passed += 1
        else:
            failed += 1
            print(f"FAIL docs/attribution.md, table {name}: make attribution writes another one")
    if words[0] == "--write":
        with open(PAGE, "w", encoding="utf-8") as f:
            f.write(page)
        return 0
    skipped = 4 - len(tables)
    if skipped:
        print("SKIP tables of real captures: no shared data")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return int(failed > 0)


sys.exit(main())
