#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which lines of src/ do the tests of the plain program reach? Builds build-coverage with gcc's counters, runs the suites that need no
browser, and prints the share of each room and of all, the least covered files first.

usage: coverage.py [FILES]     so many files are listed (20)
"""
import collections
import json
import os
import subprocess
import sys

import jobs
import suites

FOLDER = "build-coverage"
OPTIONS = ["-Db_coverage=true", "-Doptimization=0"]


def runs():
    """Everything that the plain program is asked."""
    for s in suites.everything(False, FOLDER):
        if s.needs == ("build",) and s.name not in ("ui", "house", "dump-kill"):  # a killed program writes no counters
            yield s


def counted():
    """Source file: {line: was it reached?}, of all objects that were run."""
    lines = collections.defaultdict(dict)
    top = os.path.join(suites.ROOT, FOLDER)
    found = [os.path.join(d, f) for d, _, files in os.walk(top) for f in files if f.endswith(".gcda")]
    for i in range(0, len(found), 50):
        out = subprocess.run(["gcov", "--json-format", "--stdout", *found[i:i + 50]], cwd=top, capture_output=True, text=True).stdout
        for text in out.splitlines():
            for f in json.loads(text)["files"]:
                name = os.path.relpath(os.path.join(top, f["file"]), suites.ROOT)
                if name.startswith("src" + os.sep):
                    for line in f["lines"]:
                        n = line["line_number"]
                        lines[name][n] = lines[name].get(n, False) or line["count"] > 0
    return lines


def share(lines):
    reached, total = sum(sum(ls.values()) for ls in lines), sum(len(ls) for ls in lines)
    return f"{100 * reached / max(1, total):5.1f} %  {reached:6} of {total:6} lines"


def main():
    os.environ.setdefault("INCORE_SHARED", os.path.join(suites.ROOT, "..", "shared"))
    build = jobs.Suite("build", suites.build(FOLDER, "gcc", OPTIONS, ()), (), 100, 2)
    results = jobs.run_all([build, *runs()], os.cpu_count())
    lines = counted()
    worst = sorted(lines, key=lambda f: sum(lines[f].values()) / len(lines[f]))
    for name in worst[:int(sys.argv[1]) if len(sys.argv) > 1 else 20]:
        print(f"{share([lines[name]])}  {name}")
    for room in sorted({name.split(os.sep)[1] for name in lines}):
        print(f"{share([ls for name, ls in lines.items() if name.split(os.sep)[1] == room])}  src/{room}")
    print(f"{share(lines.values())}  src")
    return any(r.counts[1] for r in results)


if __name__ == "__main__":
    sys.exit(main())
