#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our samples beside Nsight Compute's, of the same kernels: shares by cause, with their errors, as a table for docs/nvidia.md. Not a test of
the suite: it needs captures from a GPU, of `incore capture cuda` and of `incore capture ncu --launch-count 0 --cache-control none`.

An error is the larger of two: that of counting (binomial, of both sides), and that of launches, which do not all wait alike (the spread of
the shares over ncu's launches, which has one result a launch). A difference is told in such errors.

usage: compare_ncu.py INCORE OURS_DIR NCU_DIR
"""
import glob
import json
import math
import os
import subprocess
import sys

LEAST = 0.01  # shares below that on both sides are not compared one by one


def causes(program, path):
    """(kernel, {cause: samples})"""
    env = {**os.environ, "INCORE_DISASM": "none"}

    def ask(*words):
        return json.loads(subprocess.run([program, *words, "--json", path], capture_output=True, text=True, check=True, env=env).stdout)["data"]
    rows = ask("hot", "--by", "cause", "--top", "all")["groups"]
    name = ask("info")["kernel"]
    return name.split("(")[0].split("::")[-1], {r["key"]: r["hit"] for r in rows if r["hit"]}


def spread(results, cause):
    """Standard error of the mean share over launches."""
    shares = [r.get(cause, 0) / sum(r.values()) for r in results if r]
    if len(shares) < 2:
        return 0.0
    mean = sum(shares) / len(shares)
    return math.sqrt(sum((s - mean) ** 2 for s in shares) / (len(shares) - 1))


def compare(ours, results):
    """[(cause, share of ours, share of ncu, error)], the largest first."""
    theirs = {}
    for r in results:
        for cause, n in r.items():
            theirs[cause] = theirs.get(cause, 0) + n
    n, m = sum(ours.values()), sum(theirs.values())
    rows = []
    for cause in set(ours) | set(theirs):
        p, q = ours.get(cause, 0) / n, theirs.get(cause, 0) / m
        counting = math.sqrt(p * (1 - p) / n + q * (1 - q) / m)
        launches = spread(results, cause) * math.sqrt(1 / len(results) + 1 / len(results))
        rows.append((cause, p, q, max(counting, launches)))
    return sorted(rows, key=lambda r: -max(r[1], r[2]))


def main():
    program, ours_dir, ncu_dir = sys.argv[1:]
    ours = dict(causes(program, p) for p in sorted(glob.glob(ours_dir + "/*.incore")))
    ncu = {}
    for p in sorted(glob.glob(ncu_dir + "/*.incore")):
        kernel, counts = causes(program, p)
        ncu.setdefault(kernel, []).append(counts)
    print("| kernel | samples: ours, ncu (launches) | largest causes: ours / ncu ± error, % | furthest apart, in errors | half the sum of differences, % |")
    print("|---|---|---|---|---|")
    for kernel in sorted(set(ours) & set(ncu)):
        rows = compare(ours[kernel], ncu[kernel])
        told = [r for r in rows if max(r[1], r[2]) >= LEAST]
        worst = max(told, key=lambda r: abs(r[1] - r[2]) / (r[3] or 1))
        first = ", ".join(f"{c} {100 * p:.1f} / {100 * q:.1f} ± {100 * e:.1f}" for c, p, q, e in told[:3])
        n, m = sum(ours[kernel].values()), sum(sum(r.values()) for r in ncu[kernel])
        print(f"| {kernel} | {n:,}, {m:,} ({len(ncu[kernel])}) | {first} | {abs(worst[1] - worst[2]) / worst[3]:.1f} ({worst[0]}) | "
              f"{50 * sum(abs(r[1] - r[2]) for r in rows):.1f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
