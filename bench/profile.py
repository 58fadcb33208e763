#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long does a build of 400 kernels take through the embedded model, the compiler included?

usage: profile.py --incore PROGRAM --dir SCRATCH [--kernels N]

All kernels differ in their text. The first run also compiles the recorder's headers and driver. The wrapper of a kernel lies
in the run's own folder, so each run compiles it anew: compiling alone is timed beside, to be taken off. The vendor's flow
compiles, too, and then simulates each kernel for minutes.
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
    for what in ("first run", "second run"):
        wall, cpu = run(program, folder, cache)
        print(f"{args.kernels} kernels, {what}: {wall:.1f} s wall, {cpu:.1f} s CPU, {1000 * cpu / args.kernels:.1f} ms CPU a kernel")
    kernel = os.path.join(folder, "ptoas", "vector_000.cpp")
    spec = ["--core", "aiv", "--args", "0=f32[16384]", "--args", "1=f32[16384]", "--args", "2=f32[16384]", "--args", "3=i32:64"]
    wrapper = os.path.join(top, "wrapper.cpp")
    costs = []
    for i in range(2 * 8):  # the same wrapper under a new name is compiled, under the old one it is not
        with open(wrapper, "w") as f:
            f.write(f'// {i // 2}\n#include "{kernel}"\n#include "tensor.h"\n'
                    'template <typename T> T *at(int64_t *a, int i) { return (T *)((ChipTensor *)a[i])->buffer.addr; }\n'
                    'extern "C" void kernel_entry(int64_t *a) { vector_000(at<float>(a, 0), at<float>(a, 1), at<float>(a, 2), 64); }\n')
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        p = subprocess.run([program, "model", "record", wrapper, *spec, "-o", os.path.join(top, "ops")], capture_output=True, text=True,
                           env={**os.environ, "XDG_CACHE_HOME": cache})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if p.returncode:
            sys.exit(f"record failed: {p.stderr[-2000:]}")
        costs.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    compiling = sorted(a - b for a, b in zip(costs[0::2], costs[1::2]))[4]
    print(f"of which the compiler: {1000 * compiling:.1f} ms CPU a kernel; beyond it {1000 * (cpu / args.kernels - compiling):.1f} ms")
    shutil.rmtree(top, ignore_errors=True)


if __name__ == "__main__":
    main()
