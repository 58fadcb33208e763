#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels with a known bottleneck, as taken on an H200: does the first sentence of `incore summary` name the guilty line, or its cause? Once
of what Nsight Compute took, once of our own samples (`incore capture cuda`), which have no figures of sectors, wavefronts and lanes.

usage: planted.py BUILD [--table]    (--table: the rows of docs/nvidia.md)

examples/cuda/planted/<kernel>.cu marks the line with GUILTY; tests/data/h200/<kernel>.incore and tests/data/h200/cuda/<kernel>.incore are
what was taken of it.
"""
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PLANTED = os.path.join(ROOT, "examples", "cuda", "planted")
DATA = os.path.join(ROOT, "tests", "data", "h200")
LINE = object()  # file:line of the mark


class Figure(str):
    """A part that rests on a figure of Nsight Compute."""


# Parts of the sentence that name it: all of them must be there.
WANTED = {
    "bank_conflicts": ["Lost to memory", "wait:LDS", LINE, Figure("bank conflicts: it takes 32.0 x")],
    "barrier_imbalance": ["Lost to sync", "barrier", "`BAR.SYNC", LINE],
    "contended_atomics": ["Lost to memory", "wait:VMEM-atomic", "`ATOMG", LINE],
    "divergent_branches": [Figure("on average 4.0 of 32 lanes are on, they part most at"), LINE],
    "fences": ["Lost to memory", "waits for `MEMBAR", LINE],
    "fetch_misses": ["Lost to fetch", "a miss of the instruction cache", LINE],
    "fma_chain": ["Lost to scheduling", "fixed-latency", "`FFMA", "right after `FFMA", LINE],
    "local_memory": ["Lost to memory", "waits for `LDL", LINE, "local memory"],
    "mufu_bound": ["Lost to pipe", "pipe-stall:TRANS", "`MUFU.EX2", LINE],
    "pointer_chase": ["Lost to memory", "wait:VMEM-load", "waits for `LDG", LINE],
    "register_limited": ["wait:VMEM-load", "limited to 1 block per SM (8 of 64 warps) by registers (256 a thread"],
    "shallow_copies": ["Lost to memory", "wait:VMEM-to-LDS", "waits for `LDGSTS", "shallow_copies.cu:13"],
    "shared_limited": ["wait:VMEM-load", "limited to 1 block per SM (4 of 64 warps) by shared memory"],
    "spin_lock": ["Lost to memory", "wait:VMEM-atomic", "`ATOMG", LINE],
    "tensor_bound": ["Lost to pipe", "pipe-stall:MATRIX", "`HMMA"],
    "uncoalesced_loads": ["Lost to memory", "wait:VMEM-load", LINE, Figure("uncoalesced: it moves 8.0 x")],
    "uncoalesced_stores": ["Lost to memory", "pipe-stall:VMEM-store", LINE, Figure("uncoalesced: it moves 8.0 x")],
}


def guilty_line(kernel):
    with open(os.path.join(PLANTED, kernel + ".cu")) as f:
        marks = [n for n, line in enumerate(f, 1) if "GUILTY" in line]
    assert len(marks) == 1, kernel
    return f"{kernel}.cu:{marks[0]}"


def sentence_of(build, folder, kernel):
    path = os.path.join(DATA, folder, kernel + ".incore")
    p = subprocess.run([os.path.join(build, "incore"), "summary", "-q", "--json", path], capture_output=True, check=True)
    return json.loads(p.stdout)["data"]["verdict"]


def missing(folder, kernel, sentence):
    """What of the wanted parts is not there."""
    wanted = [w for w in WANTED[kernel] if not (folder and isinstance(w, Figure))]
    return [w for w in (guilty_line(kernel) if w is LINE else w for w in wanted) if w not in sentence]


def shortened(sentence):
    said = re.sub(r"row \d+ \(0x[0-9a-f]+, ([^)]*)\)", r"\1", sentence).split("; other warps")[0]
    said = re.sub(r" of sampled cycles are lost to it and exposed, most in", ",", re.sub(r" of row \d+", "", said))
    return re.sub(r"; limited to [^;]* by the grid \([^)]*\)", "", said)


def main():
    build = os.path.abspath(sys.argv[1])
    kernels = sorted(f[:-3] for f in os.listdir(PLANTED) if f.endswith(".cu"))
    failed = 0
    assert kernels == sorted(WANTED), set(kernels) ^ set(WANTED)
    for folder in ("", "cuda"):
        for kernel in kernels:
            sentence = sentence_of(build, folder, kernel)
            lacks = missing(folder, kernel, sentence)
            failed += bool(lacks)
            if lacks:
                print(f"FAIL {folder} {kernel}: {lacks} not in: {sentence}")
            if "--table" in sys.argv and not folder:
                print(f"| `{kernel}` | {guilty_line(kernel)} | {shortened(sentence)} |")
    print(f"{2 * len(kernels) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


sys.exit(main())
