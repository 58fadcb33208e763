#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fuzzes every reader for a bounded time with libFuzzer, ASan and UBSan (build-fuzz/, clang); any finding fails the run.

usage: run.py [--seconds N] [--executions N] [--grow] [TARGET...]

Starts from tests/fuzz/corpus/<target>; what it finds on the way stays in build-fuzz/found/<target>, what breaks a
reader in build-fuzz/broken/ (copy it to the corpus with the fix). A line a target: inputs executed, edges of its code
reached (all instrumented edges of the program behind it), edges that the committed corpus alone reaches.
--grow: afterwards the smallest set of found inputs that reaches what the corpus does not is added to it, as
grown-<hash>; only inputs up to GROW_BYTES, GROW_FILES a target. JOBS: targets at a time (all cores).
--executions N: one target after the other, fastest first, each until it has executed N inputs, or for its seconds (1,800
unless they are given). A row of a table each: what it executed, how many a second of work, seconds by the clock, what broke
it (a run ends there), and how many inputs were found that reach what nothing before them did.
"""
import argparse
import concurrent.futures
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(ROOT, "build-fuzz")
GROW_BYTES, GROW_FILES = 1024, 16
PROBE_S = 3
# clang's UBSan only prints unless told to stop; what needs machine profiles finds those of the tree.
ENV = {**os.environ, "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1", "ASAN_OPTIONS": "allocator_may_return_null=1",
       "INCORE_PROFILES": os.path.join(ROOT, "profiles"), "INCORE_SOURCE_ROOT": ROOT}


def program(target, *words):
    return subprocess.run([os.path.join(BUILD, "tests", "fuzz", "fuzz_" + target), "-rss_limit_mb=2048", "-timeout=20", *words],
                          cwd=ROOT, env=ENV, capture_output=True, text=True, errors="replace")


def folder(*words):
    path = os.path.join(BUILD, *words)
    os.makedirs(path, exist_ok=True)
    return path


def number(pattern, text):
    """The last of such numbers; 0: none."""
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def explore(target, *limits):
    """Changes inputs, from those of the corpus and those found before, until a limit. -entropic=0: to choose the next input by how rare
    what it reaches is took more than half of the work of a reader that takes microseconds (camodel: 52 %)."""
    return program(target, *limits, "-entropic=0", "-max_len=65536", "-print_final_stats=1", f"-artifact_prefix={folder('broken')}/{target}-",
                   folder("found", target), os.path.join(HERE, "corpus", target))


def fuzz(target, seconds):
    """A line for people, and what was wrong ("": nothing)."""
    start = program(target, "-runs=0", f"-artifact_prefix={folder('broken')}/{target}-", os.path.join(HERE, "corpus", target))
    p = start if start.returncode else explore(target, f"-max_total_time={seconds}")
    # A run that ended before its first input has tested nothing.
    n = number(r"number_of_executed_units:\s*(\d+)", p.stderr)
    is_good = p.returncode == 0 and n > 0
    line = (f"{'ok  ' if is_good else 'FAIL'} {target:<22}{n:>10} inputs{number(r'cov: ([0-9]+)', p.stderr):>7} of"
            f"{number(r'Loaded 1 PC tables .([0-9]+) PCs', p.stderr):>7} edges, {number(r'cov: ([0-9]+)', start.stderr):>6} by the corpus")
    return line, "" if is_good else p.stderr[-6000:]


def work_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Account:
    """What the runs of one target came to."""

    def __init__(self, target):
        self.target, self.executions, self.found, self.wrong = target, 0, 0, ""
        self.seconds = self.work = 0.0

    def run(self, *limits):
        start, before = time.monotonic(), work_of_children()
        p = explore(self.target, *limits)
        self.seconds += time.monotonic() - start
        self.work += work_of_children() - before
        self.executions += number(r"number_of_executed_units:\s*(\d+)", p.stderr)
        self.found += number(r"new_units_added:\s*(\d+)", p.stderr)
        if p.returncode:
            self.wrong = p.stderr[-6000:]

    def rate(self):
        return self.executions / self.work if self.work else 0

    def row(self):
        return (f"| {self.target:<22} | {self.executions:>10,} | {self.rate():>8,.0f} | {self.seconds:>7,.0f} | {int(bool(self.wrong)):>7} |"
                f" {self.found:>10,} |")


def in_full(targets, executions, seconds):
    """How many targets broke."""
    probed = [Account(target) for target in targets]
    for account in probed:
        account.run(f"-max_total_time={PROBE_S}")
    print(f"| {'target':<22} | executions | a second | seconds | crashes | new corpus |\n|---|--:|--:|--:|--:|--:|", flush=True)
    for account in sorted(probed, key=Account.rate, reverse=True):
        left, left_s = executions - account.executions, int(seconds - account.seconds)
        if not account.wrong and left > 0 and left_s > 0:
            account.run(f"-runs={left}", f"-max_total_time={left_s}")
        print(account.row() + ("\n" + account.wrong if account.wrong else ""), flush=True)
    return sum(bool(account.wrong) for account in probed)


def grow(target):
    """How many inputs were added."""
    corpus = os.path.join(HERE, "corpus", target)
    with tempfile.TemporaryDirectory() as work:
        small, chosen = os.path.join(work, "small"), os.path.join(work, "chosen")
        shutil.copytree(corpus, chosen)
        os.mkdir(small)
        for name in os.listdir(folder("found", target)):
            path = os.path.join(BUILD, "found", target, name)
            if os.path.getsize(path) <= GROW_BYTES:
                shutil.copy(path, small)
        before = set(os.listdir(chosen))
        program(target, "-set_cover_merge=1", "-use_counters=0", chosen, small)
        added = [os.path.join(chosen, name) for name in set(os.listdir(chosen)) - before]
        # Large ones reach most, and a corpus that people can read ends somewhere.
        added = sorted(added, key=lambda path: (-os.path.getsize(path), path))[:GROW_FILES]
        for path in added:
            shutil.copy(path, os.path.join(corpus, "grown-" + os.path.basename(path)[:12]))
    return len(added)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int)
    parser.add_argument("--executions", type=int)
    parser.add_argument("--grow", action="store_true")
    parser.add_argument("targets", nargs="*")
    args = parser.parse_args()
    if not os.path.exists(os.path.join(BUILD, "build.ninja")):
        subprocess.run(["meson", "setup", BUILD, "-Dfuzz=true", "-Db_sanitize=address,undefined", "-Db_lundef=false",
                        "-Doptimization=1"], cwd=ROOT, env={**os.environ, "CC": "clang"}, check=True,
                       stdout=subprocess.DEVNULL)
    targets = sorted(f[5:-2] for f in os.listdir(HERE) if re.fullmatch(r"fuzz_\w+\.c", f))
    targets = [t for t in targets if not args.targets or t in args.targets]
    subprocess.run(["ninja", "-C", BUILD, "--quiet", *[f"tests/fuzz/fuzz_{t}" for t in targets]], check=True)
    if args.executions:
        failed = in_full(targets, args.executions, args.seconds or 1800)
        print(f"{len(targets) - failed} passed, {failed} failed, 0 skipped")
        return failed > 0
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count())) as pool:
        for line, wrong in pool.map(lambda target: fuzz(target, args.seconds or 20), targets):
            failed += bool(wrong)
            print(line + ("\n" + wrong if wrong else ""), flush=True)
        if args.grow:
            for target, n in zip(targets, pool.map(grow, targets)):
                print(f"{target}: {n} inputs added to its corpus")
    print(f"{len(targets) - failed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
