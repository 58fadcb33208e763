#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What if, on the real captures: with nothing changed at least 95 % of the waves come out within 1 % of their duration, the
others are named, the path is as long as the kernel, and a change gives an interval that holds its own estimate.

usage: whatif.py INCORE [--table]    (data from $INCORE_SHARED, default ../shared; skipped where absent)

--table prints docs/whatif.md's table of captures instead.
"""
import glob
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(os.environ.get("INCORE_SHARED", os.path.join(ROOT, "..", "shared")), "data")
LEAST_REPRODUCED_PCT = 95
CHANGES = (("--faster", "VMEM"), ("--remove", "WAIT"), ("--waves", "-1"))
COUNT = [0, 0]


def check(what, got, want):
    COUNT[got != want] += 1
    if got != want:
        print(f"FAIL {what}: {got}, expected {want}")


def captures(*kinds):
    for kind in kinds:
        for path in sorted(glob.glob(os.path.join(DATA, kind))):
            yield os.path.relpath(path, DATA), path


def ask(program, path, *options):
    p = subprocess.run([program, "whatif", "--json", "-q", *options, path], capture_output=True, timeout=300)
    return p.stdout if p.returncode == 0 else b'{"data": {"method": "failed"}}'


def measured(program, path):
    """Length of each compute unit, from the waves that were captured on it."""
    p = subprocess.run([program, "waves", "--json", "-q", "--top", "all", path], capture_output=True, timeout=300, check=True)
    spans = {}
    for w in json.loads(p.stdout)["data"]["waves"]:
        first, last = spans.get((w["se"], w["cu"]), (w["begin"], w["end"]))
        spans[w["se"], w["cu"]] = min(first, w["begin"]), max(last, w["end"])
    return {f"se{se} cu{cu}": last - first for (se, cu), (first, last) in spans.items()}


def waves(program, name, path):
    text = ask(program, path, "--nothing", "-j1")
    d = json.loads(text)["data"]
    if d["method"] != "replay":
        return [0, 0]
    n = d["identity"]
    check(f"{name}: -j2 gives the same bytes", ask(program, path, "--nothing", "-j2") == text, True)
    check(f"{name}: nothing changed does nothing", [d["verdict"], d["after"], d["low"], d["high"]], ["does-nothing"] + 3 * [d["before"]])
    check(f"{name}: to the cycle, of every unit", [u["unit"] for u in d["units"] if not u["low"] == u["after"] == u["high"] == u["before"]], [])
    if "ui_output" in name:
        check(f"{name}: as measured", {u["unit"]: u["after"] for u in d["units"]}, measured(program, path))
    check(f"{name}: and of every part of the path", [x for x in d["limits"] if x["after"] != x["before"]], [])
    check(f"{name}: who is not reproduced is named", len(d["untrue"]), n["waves"] - n["reproduced"])
    if n["reproduced"] < n["waves"]:
        return [n["reproduced"], n["waves"]]
    check(f"{name}: the path", abs(sum(x["before"] for x in d["limits"]) - d["before"]) <= d["before"] // 100, True)
    return [n["reproduced"], n["waves"]]


def changes(program, name, path):
    for words in CHANGES:
        d = json.loads(ask(program, path, "--top", "3", *words))["data"]
        if d["method"] in ("failed", "none"):  # nothing of that kind in the kernel
            continue
        check(f"{name} {words}: low <= after <= high", d["low"] <= d["after"] <= d["high"], True)
        check(f"{name} {words}: an estimate", d["evidence"], "estimate")


def table(program):
    print("| capture | waves | reproduced | " + " | ".join(" ".join(c) for c in CHANGES) + " |\n|---|---|---|---|---|---|")
    for name, path in captures("amd/ui_output/*/ui_output*"):
        n = json.loads(ask(program, path, "--nothing"))["data"]["identity"]
        cells = []
        for words in CHANGES:
            d = json.loads(ask(program, path, "--top", "0", *words))["data"]
            cells.append("-" if d["method"] == "failed" else f"{-d['saved']:+.1f} % ({-d['saved_high']:+.1f} to {-d['saved_low']:+.1f})")
        print(f"| {name.split('/')[2]} | {n['waves']} | {n['reproduced']} | " + " | ".join(cells) + " |")


def main():
    program = os.path.abspath(sys.argv[1])
    if not os.path.isdir(DATA):
        print("SKIP what if: no captures (INCORE_SHARED)\n0 passed, 0 failed, 1 skipped")
        return 0
    if "--table" in sys.argv[2:]:
        table(program)
        return 0
    sums = [0, 0]
    for name, path in captures("amd/ui_output/*/ui_output*", "amd/sqtt/*/*"):
        got = waves(program, name, path)
        sums = [a + b for a, b in zip(sums, got)]
        if "ui_output" in name:
            check(f"{name}: reproduced", 100 * got[0] >= LEAST_REPRODUCED_PCT * got[1], True)
    check("all waves of all captures", 100 * sums[0] >= LEAST_REPRODUCED_PCT * sums[1] > 0, True)
    for name, path in captures("amd/ui_output/*/ui_output*", "nvidia/*/report.ncu-rep", "ascend/camodel_dumps/*"):
        changes(program, name, path)
    print(f"{COUNT[0]} passed, {COUNT[1]} failed")
    return COUNT[1] > 0


if __name__ == "__main__":
    sys.exit(main())
