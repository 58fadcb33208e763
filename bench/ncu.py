#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A large Nsight Compute report: `incore hot` against a straightforward Python reader of the same file, in one run.

usage: bench/ncu.py [--incore build/incore] [--dir DIR] [--mb 100] [--results 50]

Claims measured here: at least 30 times less CPU time than the reader, for one result of the file and for all of them (incore is started
once for each); peak memory. The report is made by tests/ncu; both sides must find what its truth says. Every figure is the median of the
same number of runs on both sides.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from hot import REPEATS, middle, run  # noqa: E402


GENERATOR = os.path.join(HERE, "..", "tests", "ncu", "make_report.py")


def same(ours, theirs, truth):
    """Samples, those while nothing was issued, executions: as three sides say."""
    totals = ours["data"]["totals"]
    want = [truth["samples"], truth["not_issued"], truth["inst_executed"]]
    assert [theirs[k] for k in ("samples", "not_issued", "inst_executed")] == want, (theirs, want)
    assert [totals[k] for k in ("samples", "exposed_samples", "hit")] == want, (totals, want)


def all_results(hot, path, count):
    """The run of all results with the median CPU time: CPU, peak MB, the answers."""
    runs = []
    for _ in range(REPEATS):
        each = [run(hot + [f"{path}#{n}"]) for n in range(count)]
        runs.append((sum(r[0] for r in each), max(r[2] for r in each), [json.loads(r[3]) for r in each]))
    return sorted(runs, key=lambda r: r[0])[REPEATS // 2]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--incore", default=os.path.join(HERE, "..", "build", "incore"))
    parser.add_argument("--dir", default=None)
    parser.add_argument("--mb", type=int, default=100)
    parser.add_argument("--results", type=int, default=50)
    args = parser.parse_args()
    hot = [args.incore, "hot", "--json", "-q", "--top", "1", "-j1"]
    reader = [sys.executable, os.path.join(HERE, "ncu_pass.py")]
    with tempfile.TemporaryDirectory(dir=args.dir, prefix="incore-bench-") as tmp:
        path = os.path.join(tmp, "large.ncu-rep")
        # by a child: what this process holds counts for the peak of all it starts
        subprocess.run([sys.executable, GENERATOR, "--large", path, str(args.mb), str(args.results)], check=True)
        with open(path + ".truth.json") as f:
            truth = json.load(f)["results"]
        size, middle_one = os.path.getsize(path), args.results // 2
        print(f"report of {size / 1e6:.1f} MB, {args.results} results")
        one, theirs = middle(hot + [f"{path}#{middle_one}"]), middle(reader + ["--result", str(middle_one), path])
        same(json.loads(one[3]), json.loads(theirs[3]), truth[middle_one])
        print(f"one result:  incore {one[0]:.3f} s CPU, peak {one[2]:.1f} MB; reader {theirs[0]:.2f} s, peak {theirs[2]:.1f} MB; "
              f"ratio {theirs[0] / one[0]:.1f}x")
        cpu, peak, answers = all_results(hot, path, args.results)
        theirs = middle(reader + [path])
        for ours, line, want in zip(answers, theirs[3].splitlines(), truth):
            same(ours, json.loads(line), want)
        print(f"all results: incore {cpu:.3f} s CPU, peak {peak:.1f} MB; reader {theirs[0]:.2f} s, peak {theirs[2]:.1f} MB; "
              f"ratio {theirs[0] / cpu:.1f}x")


if __name__ == "__main__":
    main()
