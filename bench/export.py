#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exporting many slices to Perfetto and Parquet: slices a second of one core (user and system time, so that a busy machine does not
matter), against writing the same bytes, and memory, which may not grow with the capture.

usage: export.py --incore INCORE --make MAKE_PACKED --dir DIR [--millions N]
"""
import argparse
import os
import shutil
import sys
import time

GOAL = 9e6  # slices a second of a core; or half as fast as writing the bytes


def run(words):
    """CPU seconds and peak memory in MiB."""
    pid = os.fork()
    if not pid:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.execv(words[0], words)
    _, status, usage = os.wait4(pid, 0)
    if status:
        sys.exit(f"{' '.join(words)} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def files_of(path):
    if os.path.isfile(path):
        return [path]
    return [os.path.join(base, name) for base, _, names in os.walk(path) for name in names]


def write_again(path, to):
    """CPU seconds to write the bytes of these files to another, a mebibyte at a time."""
    data = []
    for name in files_of(path):
        with open(name, "rb") as f:
            data.append(f.read())
    start = time.process_time()
    with open(to, "wb", buffering=0) as f:
        for one in data:
            for at in range(0, len(one), 1 << 20):
                f.write(memoryview(one)[at:at + (1 << 20)])
        os.fsync(f.fileno())
    seconds = time.process_time() - start
    os.unlink(to)
    return seconds, sum(map(len, data))


def main():
    p = argparse.ArgumentParser()
    for word in ("incore", "make", "dir"):
        p.add_argument("--" + word, required=True)
    p.add_argument("--millions", type=int, default=20)
    a = p.parse_args()
    out = os.path.join(a.dir, "bench_exported")
    memory = {}
    for millions in (max(1, a.millions // 4), a.millions):
        capture = os.path.join(a.dir, "bench_export.incore")
        run([a.make, str(millions), "1", capture])
        for to in ("perfetto", "parquet"):
            shutil.rmtree(out, ignore_errors=True)
            if os.path.exists(out):
                os.unlink(out)
            seconds, memory[to, millions] = run([a.incore, "export", "-q", "-j1", "--to", to, "-o", out, capture])
            plain, size = write_again(out, out + ".plain")
            rate = millions * 1e6 / seconds
            is_good = rate >= GOAL or plain / seconds >= 0.5
            print(f"{to:9} {millions:3} M slices: {rate / 1e6:5.1f} M slices/s a core, {size / 1e6:7.1f} MB, {plain / seconds:.2f} of a plain write, "
                  f"{memory[to, millions]:.0f} MiB{'' if is_good else '  (goal: 9 M/s or 0.5)'}")
        os.unlink(capture)
    for to in ("perfetto", "parquet"):
        less, more = (memory[to, m] for m in (max(1, a.millions // 4), a.millions))
        print(f"{to:9} memory: {less:.0f} MiB, of four times as many slices {more:.0f} MiB")
    shutil.rmtree(out, ignore_errors=True)


if __name__ == "__main__":
    main()
