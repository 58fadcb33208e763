#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often the first advice of a report with counters is right, against what docs/verdict.md says: bench/verdict_pairs.py as a test.

usage: verdict.py INCORE    (pairs of the shared data from $INCORE_SHARED, default ../shared; skipped where absent)
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = {"planted": "planted defects", "pairs": "first versions", "twins": "twins", "changes": "changes"}


def main():
    out = subprocess.run([sys.executable, os.path.join(ROOT, "bench", "verdict_pairs.py"), sys.argv[1]], capture_output=True, text=True, check=True).stdout
    with open(os.path.join(ROOT, "docs", "verdict.md"), encoding="utf-8") as f:
        page = f.read()
    passed = failed = skipped = 0
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
