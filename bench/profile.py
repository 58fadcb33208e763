#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long does a build of 400 kernels take through the embedded model, beyond what the compiler takes?

usage: profile.py --incore PROGRAM --dir SCRATCH [--kernels N]

All kernels differ in their text, so each is compiled once. The first run compiles; the second finds everything in the
cache, so that it is what the model, the exports and the lists take. The vendor's flow compiles, too, and then simulates
each kernel for minutes.
"""
import argparse
import os
import resource
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "profile"))
import build as make  # noqa: E402


def run(program, folder, cache):
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    p = subprocess.run([program, "profile", "--build-dir", folder, "-q"], capture_output=True, text=True,
                       env={**os.environ, "XDG_CACHE_HOME": cache})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if p.returncode:
        sys.exit(f"profile failed: {p.stdout[-2000:]}{p.stderr[-2000:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.time() - began, cpu


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--incore", required=True)
    parser.add_argument("--dir", required=True)
    parser.add_argument("--kernels", type=int, default=400)
    args = parser.parse_args()
    top = os.path.join(os.path.abspath(args.dir), "profile-bench")
    shutil.rmtree(top, ignore_errors=True)
    folder, cache = os.path.join(top, "build"), os.path.join(top, "cache")
    make.vectors(os.path.join(folder, "ptoas"), args.kernels)
    program = os.path.abspath(args.incore)
    for what in ("with the compiler", "beyond the compiler"):
        wall, cpu = run(program, folder, cache)
        print(f"{args.kernels} kernels, {what}: {wall:.1f} s wall, {cpu:.1f} s CPU, {1000 * cpu / args.kernels:.1f} ms CPU a kernel")
    shutil.rmtree(top, ignore_errors=True)


if __name__ == "__main__":
    main()
