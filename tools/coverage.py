#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which lines of src/ do the unit tests, the fuzz corpora and the golden cases reach? By folder, and in all.

usage: coverage.py

gcc --coverage in build-coverage/, counts read by gcov. A line that several objects hold counts as reached if one of them reached it.
Children that end with _exit() write no counts: what runs in them alone is told as not reached.
"""
import collections
import concurrent.futures
import glob
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build-coverage")
# Counters of threads are added atomically; a line of the source is a line of the program.
SETUP = ["meson", "setup", BUILD, "-Dtests=true", "-Db_coverage=true", "-Doptimization=0", "-Dc_args=-fprofile-update=atomic"]


def run(words, **more):
    return subprocess.run(words, cwd=ROOT, stdout=subprocess.DEVNULL, **more).returncode


def build():
    if not os.path.exists(os.path.join(BUILD, "build.ninja")):
        subprocess.run(SETUP, cwd=ROOT, env={**os.environ, "CC": os.environ.get("CC", "gcc")}, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", BUILD, "--quiet"], check=True)
    for path in glob.glob(BUILD + "/**/*.gcda", recursive=True):
        os.unlink(path)  # counts of an earlier run


def test():
    """True: all of them passed."""
    programs = run(["meson", "test", "-C", BUILD, "--suite", "unit", "--suite", "fuzz", "--no-rebuild", "-t", "5"])
    return programs == 0 and run([sys.executable, "tests/golden/run.py", BUILD]) == 0


def counts_of(path):
    """What gcov knows of one object: (file, line, whether it was reached)."""
    p = subprocess.run(["gcov", "--json-format", "--stdout", path], cwd=BUILD, capture_output=True, text=True, check=True)
    for text in p.stdout.splitlines():
        for f in json.loads(text)["files"]:
            name = os.path.relpath(os.path.join(BUILD, f["file"]), ROOT)
            if name.startswith("src/"):
                yield from ((name, line["line_number"], line["count"] > 0) for line in f["lines"])


def main():
    build()
    is_good = test()
    lines = collections.defaultdict(bool)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(lambda path: list(counts_of(path)), glob.glob(BUILD + "/**/*.gcno", recursive=True)):
            for name, number, is_reached in found:
                lines[name, number] |= is_reached
    folders = collections.defaultdict(lambda: [0, 0])
    for (name, _), is_reached in lines.items():
        for folder in ("src/" + name.split("/")[1], "src"):
            folders[folder][0] += is_reached
            folders[folder][1] += 1
    for folder, (reached, n) in sorted(folders.items(), key=lambda item: (item[0] == "src", item[0])):
        print(f"{folder:<16}{reached:>8} of{n:>8} lines {100 * reached / n:6.1f} %")
    if not is_good:
        print("some tests failed; run make check")
    return not is_good


if __name__ == "__main__":
    sys.exit(main())
