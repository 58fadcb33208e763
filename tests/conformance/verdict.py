#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often the first advice of a report with counters is right, against what docs/verdict.md says: bench/verdict_pairs.py as a test. And the
first screen of every capture here: twelve lines of 80 columns, fourteen where Waits or Change take several, nothing cut, the same in summary.

usage: verdict.py INCORE    (pairs of the shared data from $INCORE_SHARED, default ../shared; skipped where absent)
"""
import collections
import glob
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = {"planted": "planted defects", "pairs": "first versions", "twins": "twins", "changes": "changes"}


HEADS = ("Bound by", "Of peak", "Waits", "At", "Change", "Gain", "Sure", "Noise", "Else", "Health", "Missing")
MOST = {"Waits": 2, "Change": 3}


def screen_faults(text):
    """What is wrong with a first screen."""
    lines, head, counts = text.splitlines(), "Launch", collections.Counter()
    for line in lines[1:]:
        head = line[:10].strip() or head
        counts[head] += 1
    extra = sum(counts[h] - 1 for h in MOST if h in counts)
    return [f"a line of {len(x)} columns: {x}" for x in lines if len(x) > 80] + \
        [f"no figure: {x}" for x in lines if re.search(r"\b(nan|inf)\b", x)] + \
        [f"{h} takes {n} lines" for h, n in counts.items() if n > MOST.get(h, 1)] + \
        [f"unknown head {h}" for h in counts if h not in (*HEADS, "Launch")] + \
        ([f"{len(lines)} lines"] if len(lines) > min(12 + extra, 14) else []) + (["cut"] if "..." in text.replace("<...>", "") or "\u2026" in text else [])


def captures():
    """Everything that may be a capture."""
    data = os.path.join(ROOT, "tests", "data")
    return sorted(x for pattern in ("*", "h200/*.incore", "h200/twins/*.incore", "h200/cuda/*", "ncu/*", "cuda/*", "timeline/*", "scopes/*", "replay/*")
                  for x in glob.glob(os.path.join(data, pattern)))


def screens(incore):
    """(captures that are fine, those that are not)."""
    fine = bad = 0
    for path in captures():
        text = subprocess.run([incore, path], capture_output=True, text=True, check=False)
        if text.returncode:
            continue
        faults = screen_faults(text.stdout)
        if path.endswith(("_a.incore", "gemm", "ascend_matmul", "kernel.ncu-rep")):
            ask = lambda verb: json.loads(subprocess.run([incore, verb, "--json", "-q", path], capture_output=True, text=True, check=True).stdout)["data"]["screen"]
            faults += ["summary has another screen"] if ask("verdict") != ask("summary") else []
        fine, bad = fine + (not faults), bad + bool(faults)
        if faults:
            print(f"FAIL {os.path.relpath(path, ROOT)}: {'; '.join(faults)}\n{text.stdout}")
    return fine, bad


def main():
    fine, bad = screens(os.path.abspath(sys.argv[1]))
    out = subprocess.run([sys.executable, os.path.join(ROOT, "bench", "verdict_pairs.py"), sys.argv[1]], capture_output=True, text=True, check=True).stdout
    with open(os.path.join(ROOT, "docs", "verdict.md"), encoding="utf-8") as f:
        page = f.read()
    passed, failed, skipped = fine, bad + (fine < 40), 0
    for name, words in PAGE.items():
        got = re.search(rf"^{name}: first advice right in (\d+) of (\d+), interval holds in (\d+)", out, re.M)
        said = re.search(rf"^\| {words}[^|]*, (\d+) \| (\d+) \| (\d+) \|", page, re.M)
        if not got:
            skipped += 1
            print(f"SKIP {name}: no pairs")
            continue
        right, pairs, holds = map(int, got.groups())
        is_same = said and (pairs, right, holds) == tuple(map(int, said.groups()))
        passed, failed = passed + bool(is_same), failed + (not is_same)
        if not is_same:
            print(f"FAIL {name}: right in {right} of {pairs}, holds in {holds}; the page says {said and said.groups()}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
