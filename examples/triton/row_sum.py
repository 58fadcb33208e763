#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A pair as those of examples/cuda/pairs, in Triton: sums of long rows. A adds up every block of a row over its warps, B
keeps a sum of each place and adds those up once.

usage: row_sum.py [-t N] NAME...    runs row_sum_a, row_sum_b once, or N times in turn and says the times
"""
import statistics
import sys

import torch
import triton
import triton.language as tl

ROWS, WIDTH, BLOCK = 132 * 4, 65536, 512


@triton.jit
def row_sum_a(rows, out, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    total = 0.0
    for k in range(0, width, BLOCK):
        x = tl.load(rows + row * width + k + at)
        total += tl.sum(x * x, axis=0)  # REMOVED
    tl.store(out + row, total)


@triton.jit
def row_sum_b(rows, out, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(0, width, BLOCK):
        x = tl.load(rows + row * width + k + at)
        total += x * x
    tl.store(out + row, tl.sum(total, axis=0))


def time_of(launch):
    """Microseconds between two events. The device sleeps first, so that both and the kernel are queued when it wakes."""
    a, b = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(400_000)
    a.record()
    launch()
    b.record()
    b.synchronize()
    return a.elapsed_time(b) * 1000


def main(args):
    times = 0
    if args[:1] == ["-t"]:
        times, args = int(args[1]), args[2:]
    kernels = {"row_sum_a": row_sum_a, "row_sum_b": row_sum_b}
    rows = torch.ones((ROWS, WIDTH), device="cuda")
    out = torch.empty(ROWS, device="cuda")
    launches = [lambda k=kernels[name]: k[(ROWS,)](rows, out, WIDTH, BLOCK=BLOCK, num_warps=4) for name in args]
    for launch in launches:
        out.zero_()
        launch()
        torch.cuda.synchronize()
        assert torch.allclose(out, torch.full_like(out, WIDTH)), "another sum"
    us = [[] for _ in args]
    for _ in range(times):
        for launch, of in zip(launches, us):
            of.append(time_of(launch))
    for name, of in zip(args, us):
        if of:
            of.sort()
            print(f"{name} {times} {statistics.median(of):.3f} {of[times // 10]:.3f} {of[times * 9 // 10]:.3f}")


if __name__ == "__main__":
    main(sys.argv[1:])
