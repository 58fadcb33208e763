#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes corpus/cuda: small logs of libincore-cuda by our own writer.

usage: cuda_corpus.py
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "ncu"), os.path.join(HERE, "..", "cuda")]
import kernels  # noqa: E402
import log as logs  # noqa: E402
import make_report as made  # noqa: E402

REASONS = ["selected", "long_scoreboard", "long_scoreboard_not_issued", "wait", "barrier"]


def begin(functions, **more):
    log, p = logs.Log(**more), made.Program(1, functions)
    log.device()
    log.context()
    log.reasons(REASONS)
    log.cubin(77, p.elf)
    return log


def pcs(function, n=4, correlation=0):
    return [(77, function.name, 16 * i, correlation, {0: 3, 1 + i % 4: 5 + i}) for i in range(n)]


def loop(**more):
    f = kernels.scale_rows()
    log = begin([f], **more)
    log.launches([(f.name, 1000, 61000, 1), (f.name, 70000, 120000, 2)])
    log.samples(pcs(f, 8, 1), dropped=3)
    log.samples(pcs(f, 4, 2), full=1)
    return log, f


def inputs():
    log, f = loop()
    whole = log.end()
    yield "loop", whole
    yield "cut", whole[:-100]
    yield "died", loop()[0].data
    yield "serialised", loop(mode=logs.SERIALISED, launches="2,5-8")[0].end()
    exact, _ = loop(mode=logs.EXACT)
    exact.counts([(77, f.name, 16 * i, "smsp__sass_inst_executed", 64) for i in range(8)])
    yield "exact", whole + exact.end()
    calls = kernels.calls()
    log = begin(calls)
    log.launches([(calls[0].name, 1000, 2000, 1)])
    log.samples([x for c in calls for x in pcs(c, 3)])
    log.trouble(1, 35, 1, "enabling samples: no rights")
    yield "calls", log.end()


def main():
    folder = os.path.join(HERE, "corpus", "cuda")
    os.makedirs(folder, exist_ok=True)
    for name, data in inputs():
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)


if __name__ == "__main__":
    main()
