#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often is each input file opened? Runs every verb on every capture of tests/data, alone, by its folder, among
repeats and packed, and all of them in one viewer and one report: at most once each. A preloaded library (count_opens.c) writes down what is opened.

usage: run.py BUILD_DIR
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(ROOT, "tests", "data")
VERBS = ("info", "check", "hot", "isa", "waves", "occupancy", "summary")
WAVE = r"se\d+_sm\d+_sl\d+_wv\d+\.json"
NO_CAPTURES = ("dumps", "model", "rocm", "pto_build")
# Folders of captures that are a file each: a session is asked about one of them, and reads those beside it for their noise.
ONE_OF = {"cuda": "roots.incore", "h200": "mufu_bound.incore", "rgp": "gfx12.rgp", "rocprof_pcs": "run_pc_sampling_stochastic.csv", "samples_pair": "padded.incore",
          "timeline": "iket.json", "proton_h200": "intra.chrome_trace"}
OF_MANY = "run_kernel_trace.csv"  # beside a file of several captures: once for each


def opens(incore, counter, words, cwd):
    """Counter of the paths below cwd or the data that one run opens."""
    fd, listed = tempfile.mkstemp()
    os.close(fd)
    env = {**os.environ, "LD_PRELOAD": counter, "COUNT_OPENS": listed, "INCORE_DISASM": "none"}
    p = subprocess.run([incore, *words], cwd=cwd, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    with open(listed, encoding="utf-8") as f:
        paths = [line.rstrip("\n") for line in f]
    os.unlink(listed)
    return p, collections.Counter(p for p in paths if p.startswith((DATA, cwd)))


def captures_of(folder):
    return sorted(e.path for e in os.scandir(folder) if e.is_dir() and e.name.startswith(("ui_output", "OPPROF")))


def tables_of(seen):
    """What a session reads of a capture before it is asked, and of those beside it for their noise: wave files are opened again for what
    columns do not hold."""
    return collections.Counter({path: n for path, n in seen.items() if not re.fullmatch(WAVE, os.path.basename(path))})


def cases(incore, scratch):
    """(name, words of the command line)"""
    for name in sorted(os.listdir(DATA)):
        folder = os.path.join(DATA, name)
        if name in NO_CAPTURES or not os.path.isdir(folder):
            continue
        for path in [folder, *captures_of(folder)]:
            for verb in VERBS:
                yield f"{verb} {os.path.relpath(path, DATA)}", [verb, path]
        if name == "bad_json":  # what cannot be read is tried again when it is asked about
            continue
        path = os.path.join(folder, ONE_OF[name]) if name in ONE_OF else (captures_of(folder) or [folder])[-1]
        for verb in VERBS:
            yield f"view --get {verb} {name}", ["view", "--get", f"/api/1/{verb}", path]
        yield f"report {name}", ["report", "-o", os.path.join(scratch, "report.html"), path]
    repeats = captures_of(os.path.join(DATA, "repeated"))
    yield "diff of repeats", ["diff", repeats[-2], repeats[-1]]
    yield "diff of others", ["diff", captures_of(os.path.join(DATA, "two_waves"))[0], repeats[-1]]
    for i, path in enumerate(repeats):
        subprocess.run([incore, "pack", path, "-o", os.path.join(scratch, f"p{i}.incore")], check=True,
                       stdout=subprocess.DEVNULL)
    for verb in VERBS:
        yield f"{verb} of one packed file", [verb, os.path.join(scratch, "p1.incore")]
        yield f"{verb} of packed files", [verb, scratch]
    yield "diff of packed files", ["diff", os.path.join(scratch, "p1.incore"), os.path.join(scratch, "p2.incore")]


def main():
    build = os.path.abspath(sys.argv[1])
    incore, counter = os.path.join(build, "incore"), os.path.join(build, "tests", "opens", "libcount_opens.so")
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for name, words in cases(incore, scratch):
            p, seen = opens(incore, counter, words, scratch)
            if words[0] in ("view", "report"):
                seen = tables_of(seen)
            twice = {path: n for path, n in seen.items() if n > 1 and os.path.basename(path) != OF_MANY}
            # A run that read nothing proves nothing, unless it says why.
            good = not twice and p.returncode >= 0 and bool(seen or p.returncode)
            passed, failed = passed + good, failed + (not good)
            if not good:
                print(f"FAIL {name}: exit status {p.returncode}, {len(seen)} files")
                for path, n in sorted(twice.items()):
                    print(f"     {n} times {os.path.relpath(path, DATA)}")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
