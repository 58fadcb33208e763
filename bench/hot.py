#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole-capture analysis: `incore hot` against a straightforward Python pass over the same files, in one run.

usage: bench/hot.py [--incore build/incore] [--capture DIR] [--mb 500] [--small DIR]

Claims measured here: CPU time at least 25 times less than the pass, on large wave files and on 2,064 small ones of 35 MB
in all; GB/s of JSON per core, end to end, at least 0.6 of the bare reader's (json_rows) on one of the files; wall time on
two cores against one; peak memory however large the capture; cost linear in waves. The Python side runs on the smallest of
the three sizes (its cost per byte does not depend on size) and both sides must find the same totals and producers. Every
figure is the median of the same number of runs on both sides.
"""
import argparse
import json
import os
import resource
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from replicate import replicate  # noqa: E402


def run(command):
    """CPU seconds, wall seconds, peak MB and stdout of one child."""
    start = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    out = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.monotonic() - start
    if status:
        sys.exit(f"{command}: exit status {status}")
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024, out


REPEATS = 5
SMALL_FILES = 2064
SMALL_BYTES = 35000000  # in all of them


def middle(command, by=0):
    """The run with the median CPU (by=0) or wall time (by=1)."""
    return sorted((run(command) for _ in range(REPEATS)), key=lambda r: r[by])[REPEATS // 2]


def reader_speed(build, wave):
    """GB/s of the bare reader on one wave file; None where the program was not built."""
    program = os.path.join(build, "bench", "json_rows")
    if not os.path.exists(program):
        return None
    found = [float(re.search(r"^incore\s+(\d+) MB/s", run([program, wave])[3].decode(), re.M).group(1)) for _ in range(3)]
    return statistics.median(found) / 1000


def default_capture():
    shared = os.environ.get("INCORE_SHARED", os.path.join(HERE, "..", "..", "shared"))
    real = os.path.join(shared, "data/amd/ui_output/flash_attn_before/ui_output_agent_38430_dispatch_44")
    if os.path.isdir(real):
        return real
    return made_capture()


def made_capture():
    data = os.path.join(HERE, "..", "tests", "data", "gemm")
    return next(os.path.join(data, d) for d in sorted(os.listdir(data)) if d.startswith("ui_output"))


def default_small():
    """A capture whose wave files have some 20 KB."""
    shared = os.environ.get("INCORE_SHARED", os.path.join(HERE, "..", "..", "shared"))
    real = os.path.join(shared, "data/amd/ui_output/pa_mqa_double/ui_output_agent_64914_dispatch_236")
    return real if os.path.isdir(real) else made_capture()


def waves_of(capture):
    return [os.path.join(capture, f) for f in os.listdir(capture) if f.startswith("se") and "_wv" in f]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--incore", default=os.path.join(HERE, "..", "build", "incore"))
    parser.add_argument("--capture", default=default_capture())
    parser.add_argument("--mb", type=int, default=500)
    parser.add_argument("--small", default=default_small())
    args = parser.parse_args()
    one = sum(os.path.getsize(f) for f in waves_of(args.capture))
    copies = max(4, args.mb * 1000000 // one + 1)
    tmp = tempfile.mkdtemp(prefix="incore-bench-")
    name = "ui_output_agent_1_dispatch_1"
    print(f"capture {os.path.basename(args.capture)}, {one / 1e6:.1f} MB of waves, replicated {copies} times")
    print(f"{'size':>9} {'-j1 CPU':>9} {'GB/s':>6} {'-j1 wall':>9} {'-j2 wall':>9} {'j2/j1':>6} {'peak MB':>8}")
    try:
        for share in (4, 2, 1):
            n = max(1, copies // share)
            target = os.path.join(tmp, f"x{n}", name)
            size = replicate(args.capture, target, n)
            hot = [args.incore, "hot", "--json", "--top", "1"]
            run(hot + [target])  # warm the page cache for everybody
            cpu1, wall1, peak, _ = middle(hot + ["-j1", target])
            _, wall2, _, _ = middle(hot + ["-j2", target], 1)
            print(f"{size / 1e6:7.1f}MB {cpu1:8.3f}s {size / 1e9 / cpu1:6.2f} {wall1:8.3f}s {wall2:8.3f}s "
                  f"{wall2 / wall1:6.2f} {peak:8.1f}", flush=True)
            if share == 4:
                small, small_cpu, small_size = target, cpu1, size
            elif share != 1:
                shutil.rmtree(os.path.dirname(target))
        speed = reader_speed(os.path.dirname(os.path.abspath(args.incore)), max(waves_of(target), key=os.path.getsize))
        if speed:
            print(f"share of the bare reader ({speed:.2f} GB/s): {size / 1e9 / cpu1 / speed:.2f}")
        compare(args.incore, small, small_cpu, small_size)
        many_small(args, os.path.join(tmp, "small", name))
    finally:
        shutil.rmtree(tmp)


def many_small(args, target):
    waves = waves_of(args.small)
    copies = -(-SMALL_FILES // len(waves))
    share = SMALL_BYTES / copies / sum(os.path.getsize(f) for f in waves)
    size = replicate(args.small, target, copies, share)
    hot = [args.incore, "hot", "--json", "--top", "1", "-j1", target]
    run(hot)
    cpu, _, peak, _ = middle(hot)
    print(f"\n{len(waves_of(target))} small wave files, {size / 1e6:.1f} MB: {cpu:.3f} s CPU, peak {peak:.1f} MB")
    compare(args.incore, target, cpu, size)


def compare(incore, target, cpu, size):
    producers = [incore, "hot", "--by", "producer", "--attribution", "class-set", "--json", "--top", "all", "-j1", target]
    producer_cpu, _, _, out = middle(producers)
    ours = json.loads(out)["data"]
    python_cpu, _, _, out = middle([sys.executable, os.path.join(HERE, "python_pass.py"), target])
    theirs = json.loads(out)
    got = [ours["totals"][k] for k in ("hit", "latency", "stall", "idle")]
    assert got == theirs["totals"], (got, theirs["totals"])
    mine = {g["key"]: g["wait"] for g in ours["groups"]}
    assert mine == theirs["producers"], (mine, theirs["producers"])
    print(f"python pass: {python_cpu:.2f} s CPU for {size / 1e6:.1f} MB ({size / 1e9 / python_cpu:.3f} GB/s); "
          f"same totals and producers as incore")
    print(f"ratio python/incore: {python_cpu / cpu:.1f}x for `hot`, {python_cpu / producer_cpu:.1f}x for `hot --by producer`")


if __name__ == "__main__":
    main()
