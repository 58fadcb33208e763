#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Parts of causes on the real captures: they add up to the cause and to hidden and exposed, in every wave, for any
number of threads, and at most 15 % of them is unknown.

usage: why.py INCORE [--table]    (data from $INCORE_SHARED, default ../shared; skipped where absent)

--table prints docs/why.md's table of captures instead.
"""
import collections
import glob
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(os.environ.get("INCORE_SHARED", os.path.join(ROOT, "..", "shared")), "data", "amd")
WORDS = ["register", "own-pipe", "other-wave", "other-simd", "queue", "wake", "fetch", "launch", "tail", "unknown"]
MOST_UNKNOWN_PCT = 15
COUNT = [0, 0]


def check(what, got, want):
    COUNT[got != want] += 1
    if got != want:
        print(f"FAIL {what}: {got}, expected {want}")


def captures():
    """Name and path of each; raw traces that hold waves of one chip only once each."""
    for path in sorted(glob.glob(os.path.join(DATA, "ui_output", "*", "ui_output*"))):
        name = os.path.basename(os.path.dirname(path))
        yield (name + " " + path.split("_")[-1] if name == "pa_mqa_double" else name), path
    for path in sorted(glob.glob(os.path.join(DATA, "sqtt", "*", "*"))):
        if "empty" not in path:
            yield os.path.relpath(path, os.path.join(DATA, "sqtt")), path


def run(program, verb, path, *options):
    p = subprocess.run([program, verb, "--json", "-q", *options, path], capture_output=True, timeout=300)
    return p.stdout if p.returncode in (0, 1) else b"{}"


def compare(program, name, path):
    text = run(program, "why", path, "-j1")
    data, causes = json.loads(text)["data"], json.loads(run(program, "hot", path, "--by", "cause", "--top", "all"))["data"]
    check(f"{name}: -j2 gives the same bytes", run(program, "why", path, "-j2") == text, True)
    if data["by"] == "reason":
        return
    t, parts = data["totals"], collections.Counter()
    for r in data["rows"]:
        parts[r["cause"]] += r["cycles"]
        check(f"{name} {r['cause']}: hidden + exposed", r["hidden"] + r["exposed"], r["cycles"])
    stated = {c["key"]: c["cycles"] for c in causes["groups"]}
    for cause, cycles in parts.items():
        check(f"{name} {cause}: the parts are the cause", cycles, stated.get(cause))
    split = ("pipe-stall:", "nop-", "gap:", "launch", "tail")
    check(f"{name}: causes that have parts", t["cycles"], sum(n for c, n in stated.items() if c.startswith(split)))
    check(f"{name}: residue over all waves", t["residue"], 0)
    check(f"{name}: words", sum(w["cycles"] for w in data["words"]), t["cycles"])
    check(f"{name}: at most {MOST_UNKNOWN_PCT} % unknown", (t["unknown_pct"] or 0) <= MOST_UNKNOWN_PCT, True)
    for by in ("row", "line", "wave"):
        rows = json.loads(run(program, "why", path, "--by", by))["data"]["rows"]
        check(f"{name} by {by}: the same cycles", sum(r["cycles"] for r in rows), t["cycles"])


def table(program):
    print("| capture | cycles | " + " | ".join(WORDS) + " | certain |\n|" + "---|" * (len(WORDS) + 3))
    for name, path in captures():
        data = json.loads(run(program, "why", path))["data"]
        sums, sure = collections.Counter(), collections.Counter()
        for w in data.get("words", []):
            if w["why"] != "hazard-padding":
                sums[w["why"]] += w["cycles"]
                sure[w["confidence"]] += w["cycles"]
        whole = sum(sums.values())
        if whole:
            print(f"| {name} | {whole:,} | " + " | ".join(f"{100 * sums[w] / whole:.1f}" for w in WORDS) +
                  f" | {100 * sure['certain'] / whole:.1f} |")


def main():
    program = os.path.abspath(sys.argv[1])
    if not os.path.isdir(DATA):
        print("SKIP why: no captures (INCORE_SHARED)\n0 passed, 0 failed, 1 skipped")
        return 0
    if "--table" in sys.argv[2:]:
        table(program)
        return 0
    for name, path in captures():
        compare(program, name, path)
    print(f"{COUNT[0]} passed, {COUNT[1]} failed")
    return COUNT[1] > 0


if __name__ == "__main__":
    sys.exit(main())
