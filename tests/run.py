#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The test run, in three tiers. Builds with gcc and with clang + sanitizers, runs the suites side by side, prints the slowest, and as
its last line `N passed, N failed, N skipped`.

usage: run.py [--check | --soak] [SUITE...]     a suite is a name of tests/suites.py, e.g. golden, unit, asan-golden

--check: what is quick, for every save. Without it everything. --soak: everything, what is random or repeated TIMES as long (20 unless
told), fuzzers FUZZ_SECONDS each (180 unless told); the log is kept below build/.
JOBS: cores to use (all).
"""
import os
import signal
import sys
import time

import jobs
import suites


class Log:
    """What is printed, in a file, too."""

    def __init__(self, path):
        self.out, self.file = sys.stdout, open(path, "w")

    def write(self, text):
        self.out.write(text)
        self.file.write(text)

    def flush(self):
        self.out.flush()
        self.file.flush()


def begin_soak():
    os.environ.setdefault("TIMES", "20")
    os.environ.setdefault("FUZZ_SECONDS", "180")
    os.makedirs(os.path.join(suites.ROOT, "build"), exist_ok=True)
    path = os.path.join(suites.ROOT, "build", time.strftime("soak-%Y%m%d-%H%M%S.log"))
    sys.stdout = Log(path)
    print(f"log: {os.path.relpath(path, suites.ROOT)}; TIMES={os.environ['TIMES']} FUZZ_SECONDS={os.environ['FUZZ_SECONDS']}", flush=True)


def interrupted(*_):
    """Once: what is left to do then is short."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def last_words(results, wall_s, cores):
    sums = [sum(r.counts[i] for r in results) for i in range(3)]
    cpu_s = sum(r.cpu_s for r in results)
    if len(results) > 1:
        print("the slowest suites:\n" + "\n".join(jobs.slow_lines(results)))
    print(f"wall {wall_s:.0f} s, cpu {cpu_s:.0f} s, {cores} cores")
    print(f"{sums[0]} passed, {sums[1]} failed, {sums[2]} skipped", flush=True)
    return sums[1] > 0


def main():
    words = sys.argv[1:]
    if "--help" in words or "-h" in words:
        print(__doc__)
        return 0
    unknown = [w for w in words if w.startswith("-") and w not in ("--check", "--soak")]
    if unknown:
        sys.exit(f"no option {unknown[0]}; there are --check and --soak")
    tier = next((t for t in ("check", "soak") if f"--{t}" in words), "test")
    table = suites.table(tier)
    names = [s.name for s in table]
    wanted = [w for w in words if not w.startswith("-")] or names
    for w in wanted:
        if w not in names:
            sys.exit(f"no suite {w}; there are {' '.join(names)}")
    os.environ.setdefault("INCORE_SHARED", os.path.join(suites.ROOT, "..", "shared"))
    if tier == "soak":
        begin_soak()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupted)
    cores, started = int(os.environ.get("JOBS") or os.cpu_count()), time.time()
    try:
        results = jobs.run_all([s for s in table if s.name in wanted], cores)
    except KeyboardInterrupt:
        jobs.stop_all()
        return 130
    return last_words(results, time.time() - started, cores)


if __name__ == "__main__":
    sys.exit(main())
