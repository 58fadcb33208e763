#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`incore clean` on traces of 0.1, 1 and 5 million instructions with flags, against a straightforward Python cleaner.

usage: bench/clean.py [--incore build/incore] [--millions 0.1 1 5] [--python 300000] [--dir DIR]

Claims: at least 220 MB of input a second and core; time linear in size (MB/s of the largest within a third of the smallest);
peak memory at most 100 MB; at least 100 times less CPU than python_clean.py at 300,000 instructions, for the same
slices.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import ascend_trace  # noqa: E402

LEAST_MB_S = 220
MOST_PEAK_MB = 100


def run(words):
    """CPU seconds, peak MB, stdout."""
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    out = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{words}: exit status {status}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--incore", default=os.path.join(HERE, "..", "build", "incore"))
    parser.add_argument("--millions", type=float, nargs="+", default=[0.1, 1, 5])
    parser.add_argument("--python", type=int, default=300000)
    parser.add_argument("--dir", default=None)
    args = parser.parse_args()
    tmp = tempfile.mkdtemp(prefix="incore-bench-clean-", dir=args.dir)
    incore, missed, rates = os.path.abspath(args.incore), [], []
    try:
        print(f"{'instructions':>12} {'form':>7} {'input MB':>9} {'CPU s':>7} {'MB/s':>6} {'peak MB':>8} {'of input':>8}")
        for millions in args.millions:
            path = os.path.join(tmp, "t.json")
            ascend_trace.make(int(millions * 1e6), path)
            mb = os.path.getsize(path) / 1e6
            for form in ([], ["--legacy"]):
                cpu, peak, _ = min(run([incore, "clean", "-q", *form, path, "-o", os.path.join(tmp, "out")]) for _ in range(2))
                print(f"{int(millions * 1e6):>12,} {'legacy' if form else 'own':>7} {mb:>9.1f} {cpu:>7.2f} {mb / cpu:>6.0f} "
                      f"{peak:>8.0f} {peak * 1.048576 / mb:>8.2f}", flush=True)
                rates.append(mb / cpu)
                if mb / cpu < LEAST_MB_S:
                    missed.append(f"{mb / cpu:.0f} MB/s")
                if peak > MOST_PEAK_MB:
                    missed.append(f"peak {peak:.0f} MB of {mb:.0f} MB")
            os.remove(path)
        if min(rates) < max(rates) * 2 / 3:
            missed.append(f"not linear: {min(rates):.0f} to {max(rates):.0f} MB/s")
        if args.python:
            path = os.path.join(tmp, "p.json")
            ascend_trace.make(args.python, path)
            ours, _, _ = min(run([incore, "clean", "-q", "--legacy", path, "-o", os.path.join(tmp, "out")]) for _ in range(3))
            theirs, peak, out = run([sys.executable, os.path.join(HERE, "python_clean.py"), path, os.path.join(tmp, "p.out")])
            print(f"{args.python:,} instructions: python_clean.py {theirs:.1f} s CPU, {peak:.0f} MB; incore {ours:.2f} s: "
                  f"{theirs / ours:.0f} times less")
            if theirs / ours < 100:
                missed.append(f"only {theirs / ours:.0f} times less CPU")
    finally:
        shutil.rmtree(tmp)
    print("missed: " + "; ".join(missed) if missed else "all claims hold")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
