#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often the first advice names the cause, and how often the promised interval holds the truth.

usage: verdict_pairs.py INCORE [--verbose]    (further pairs from $INCORE_SHARED, default ../shared; skipped where absent)

A pair is a kernel and the same kernel with one thing changed, both timed by events on an H200. The report of the first kernel is asked
(`incore advise --json`). Right: the first advice with a gain is one of the accepted rules; where nothing can be mended, the first advice
promises less than 12 %. Holds: the interval of the first accepted advice, as a share of the time by events, holds what the change saved,
within a point. Events around one launch measure 3.4 us more than the kernel takes; they are on both sides.

Pairs are sorted by name; every second of a set was held out while the rules were written. The page docs/verdict.md has the table.
"""
import glob
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.environ.get("INCORE_SHARED", os.path.join(ROOT, "..", "shared"))
LAUNCH_US = 3.4
POINT = 0.01
NOTHING = 0.12
FLIGHT = "more-in-flight one-step-ahead late-load late-copy few-waves start-load"
# What was planted or mended: the rules that name it. Empty: nothing can be mended.
ACCEPTED = {
    "planted": {
        "async": FLIGHT, "atom": "atomics", "bank": "bank-conflicts", "chase": FLIGHT, "constant": "serial-constants", "divergent": "few-lanes",
        "fchain": "dependent-chain", "imbalance": "uneven-barrier", "local": "spill", "lowocc": FLIGHT, "mufu": "special-functions",
        "redtree": "tree-reduction uneven-barrier", "strided": "uncoalesced"},
    "pairs": {
        "aos": "uncoalesced", "copy": FLIGHT + " narrow-access", "dbl": "double-precision", "gemm": "register-tile", "histo": "atomics",
        "idiv": "integer-division", "matvec": "small-grid", "softmax": "reload " + FLIGHT, "spillb": "", "stencil": "reload register-tile",
        "sync2": FLIGHT + " uneven-barrier", "transpose": "uncoalesced"},
    "twins": {
        "atomics": "atomics", "bank_conflicts": "bank-conflicts", "dependent_chain": "dependent-chain", "fence": "fence", "fetch": "fetch",
        "few_lanes": "few-lanes", "few_waves": FLIGHT, "late_copy": FLIGHT, "late_load": FLIGHT, "special_functions": "special-functions",
        "spill": "spill", "uncoalesced": "uncoalesced", "uncoalesced_stores": "uncoalesced", "uneven_barrier": "uneven-barrier"},
    "changes": {
        "atomics_fewer": "atomics", "barrier_turns": "uneven-barrier", "chase_shared": FLIGHT, "copy_wait": FLIGHT, "fp64_chain": "dependent-chain",
        "gather_l2": "uncoalesced", "lookup_hidden": "", "mma_chain": "dependent-chain matrix-chain", "occupancy_smem": "",
        "polynomial": "dependent-chain", "shared_atomics": "shared-atomics atomics", "shared_hidden": "", "store_strided": "uncoalesced",
        "stream_fewer": "reload", "stream_waves": FLIGHT},
}
# Where two accepted changes are listed, the one that was made.
MADE = {"sync2": "one-step-ahead", "lookup_hidden": None}


def medians(path):
    """Times of both kernels in us: lines NAME 0|1 TIME ..., or NAME_a|NAME_b RUNS TIME ..."""
    times = {}
    for line in open(path, encoding="utf-8"):
        words = line.split()
        if not words or line.startswith("#"):
            continue
        name, side = (words[0][:-2], "ab".index(words[0][-1])) if words[0][-2:] in ("_a", "_b") else (words[0], int(words[1]))
        times.setdefault((name, side), []).append(float(words[2]))
    return {k: statistics.median(v) for k, v in times.items()}


def given(name, folder):
    """A set of the shared data, unpacked into a folder; empty where it is not there."""
    path = os.path.join(SHARED, "data", "nvidia", "pairs", name + ".tgz")
    if not os.path.exists(path):
        return {}, {}
    with tarfile.open(path) as t:
        t.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)  # Debian 12's Python has no filters
        t.extractall(os.path.join(folder, name))
    reports = glob.glob(os.path.join(folder, name, "**", "*_0.ncu-rep"), recursive=True)
    times = glob.glob(os.path.join(folder, name, "**", "times.tsv"), recursive=True)[0]
    return {os.path.basename(r)[:-len("_0.ncu-rep")]: r for r in reports}, medians(times)


def sets(folder):
    yield "planted", *given("planted", folder)
    yield "pairs", *given("pairs", folder)
    packs = glob.glob(os.path.join(ROOT, "tests", "data", "h200", "twins", "*_a.incore"))
    yield "twins", {os.path.basename(p)[:-len("_a.incore")]: p for p in packs}, medians(os.path.join(ROOT, "tests", "gpu", "twins", "times.txt"))
    packs = glob.glob(os.path.join(ROOT, "tests", "gpu", "pairs", "a", "*.incore"))
    yield "changes", {os.path.basename(p)[:-len(".incore")]: p for p in packs}, medians(os.path.join(ROOT, "tests", "gpu", "pairs", "times_3.txt"))


class Row:
    """One pair: what was advised, what was true."""

    def __init__(self, name, wanted, advice, before, after):
        self.name, self.truth = name, 1 - after / before
        self.first = advice[0] if advice else None
        rules = wanted.split()
        it = next((a for a in advice if a["rule"] in rules), None)
        it = next((a for a in advice if a["rule"] == MADE.get(name)), it)
        if not rules:
            self.right = not advice or advice[0]["gain"]["pct"] < 100 * NOTHING
        else:
            self.right = bool(advice) and advice[0]["rule"] in rules
        part = max(0.0, before - LAUNCH_US) / before
        self.interval = None
        if it:
            self.interval = tuple(part * it["gain"][k] / 100 for k in ("least_pct", "pct", "most_pct"))
        low, high = (self.interval[0] - POINT, self.interval[2] + POINT) if self.interval else (1, 0)
        self.holds = low <= self.truth <= high if rules else self.right
        self.width = self.interval[2] - self.interval[0] if self.interval else None

    def line(self):
        first = f"{self.first['rule']} {self.first['gain']['pct']:.1f}" if self.first else "nothing"
        told = " to ".join(f"{100 * x:.1f}" for x in self.interval) if self.interval else "-"
        return (f"  {self.name:20} {'right' if self.right else 'WRONG':6} first {first:28} mended {told:24} truth {100 * self.truth:7.1f} "
                f"{'holds' if self.holds else 'MISSES'}")


def summed(what, rows):
    if not rows:
        return f"{what}: no pairs"
    widths = [r.width for r in rows if r.width is not None]
    width = f"{100 * statistics.median(widths):.1f}" if widths else "-"
    return (f"{what}: first advice right in {sum(r.right for r in rows)} of {len(rows)}, interval holds in {sum(r.holds for r in rows)}, "
            f"median width {width} points")


def ask(incore, path):
    p = subprocess.run([incore, "advise", "-q", "--json", path], capture_output=True, text=True, timeout=120, check=True)
    return [a for a in json.loads(p.stdout)["data"]["advice"] if a["gain"] and not a["gain"].get("does_nothing")]


def main():
    incore, verbose = os.path.abspath(sys.argv[1]), "--verbose" in sys.argv
    rows, halves = [], ([], [])
    with tempfile.TemporaryDirectory() as folder:
        for what, reports, times in sets(folder):
            mine = []
            for i, name in enumerate(sorted(n for n in reports if (n, 1) in times)):
                row = Row(name, ACCEPTED[what][name], ask(incore, reports[name]), times[name, 0], times[name, 1])
                mine.append(row)
                halves[i % 2].append(row)
            print(summed(what, mine))
            if verbose:
                print("\n".join(r.line() for r in mine))
            rows += mine
    print(summed("looked at while the rules were written", halves[0]))
    print(summed("held out", halves[1]))
    print(summed("all", rows))


if __name__ == "__main__":
    main()
