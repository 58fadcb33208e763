#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes both kinds of timelines of Triton's Proton on this machine's GPU, as in tests/data/proton_h200.

usage: proton.py OUT        (needs Triton 3.6 or later, torch)

launches.chrome_trace  kernels of six steps in scopes, by CUPTI
intra.chrome_trace     what the warps of a matrix product recorded about themselves: the first two blocks of two launches
"""
import json
import os
import sys
import tempfile

import torch
import triton
import triton.language as tl
import triton.profiler as proton
import triton.profiler.language as pl

pl.enable_semantic("triton")


@triton.jit
def add(x, y, z, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(z + i, tl.load(x + i, i < n) + tl.load(y + i, i < n), i < n)


@triton.jit
def mm(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, N: tl.constexpr):
    pl.enter_scope("kernel")
    m, n, k = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for i in range(0, K, BK):
        pl.enter_scope("load")
        x = tl.load(a + m[:, None] * K + (i + k)[None, :])
        y = tl.load(b + (i + k)[:, None] * N + n[None, :])
        pl.exit_scope("load")
        pl.enter_scope("dot")
        acc = tl.dot(x, y, acc)
        pl.exit_scope("dot")
    pl.enter_scope("store")
    tl.store(c + m[:, None] * N + n[None, :], acc.to(tl.float16))
    pl.exit_scope("store")
    pl.exit_scope("kernel")


def launches(folder):
    x = torch.rand(1 << 20, device="cuda")
    y, z = torch.rand_like(x), torch.empty_like(x)
    add[(1024,)](x, y, z, x.numel(), B=1024)
    torch.cuda.synchronize()
    proton.start(os.path.join(folder, "launches"), data="trace", context="shadow")
    for step in range(6):
        with proton.scope(f"step {step}"):
            with proton.scope("triton"):
                add[(1024,)](x, y, z, x.numel(), B=1024)
            with proton.scope("torch"):
                torch.mm(z[:65536].view(256, 256), z[:65536].view(256, 256))
    proton.finalize()


def intra(folder):
    a, b = torch.rand((256, 512), device="cuda", dtype=torch.float16), torch.rand((512, 256), device="cuda", dtype=torch.float16)
    c = torch.empty((256, 256), device="cuda", dtype=torch.float16)
    proton.start(os.path.join(folder, "intra"), backend="instrumentation", data="trace")
    for _ in range(2):
        mm[(4, 4)](a, b, c, 512, BM=64, BN=64, BK=64, N=256)
    torch.cuda.synchronize()
    proton.finalize()


def main():
    with tempfile.TemporaryDirectory() as folder:
        launches(folder)
        intra(folder)
        for name in ("launches", "intra"):
            with open(os.path.join(folder, name + ".chrome_trace")) as f:
                trace = json.load(f)
            events = trace["traceEvents"]
            blocks = list(dict.fromkeys(e.get("pid") for e in events))[:2]
            trace["traceEvents"] = [e for e in events if e.get("pid") in blocks]
            with open(os.path.join(sys.argv[1], name + ".chrome_trace"), "w") as f:
                f.write(json.dumps(trace, separators=(",", ":")).replace('},{"args"', '},\n{"args"') + "\n")


if __name__ == "__main__":
    main()
