# SPDX-License-Identifier: Apache-2.0
"""A Triton kernel and torch to take captures of on a GPU: triton_kernels.py [triton|torch|graph]."""
import sys

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_rows(to, source, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(source + row * columns + at, mask=at < columns, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(to + row * columns + at, e / tl.sum(e, axis=0), mask=at < columns)


def main():
    what = sys.argv[1] if len(sys.argv) > 1 else "triton"
    x = torch.randn(8192, 2048, device="cuda")
    y = torch.empty_like(x)
    if what == "triton":
        for _ in range(20):
            softmax_rows[(x.shape[0],)](y, x, x.shape[1], BLOCK=2048, num_warps=8)
    elif what == "torch":
        a = torch.randn(2048, 2048, device="cuda", dtype=torch.bfloat16)
        for _ in range(20):
            y = torch.softmax((a @ a).float(), -1)
    else:
        graph = torch.cuda.CUDAGraph()
        torch.softmax(x, -1)
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            for _ in range(5):
                y = torch.softmax(x, -1) + 1
        for _ in range(10):
            graph.replay()
    torch.cuda.synchronize()
    print(what, "done")


if __name__ == "__main__":
    main()
