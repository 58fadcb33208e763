#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes corpus/ncu: Nsight Compute reports of our generator with few metrics, small enough to be changed byte by byte.

usage: ncu_corpus.py
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "ncu"))
import cubin  # noqa: E402
import facts  # noqa: E402
import kernels  # noqa: E402
import make_report as made  # noqa: E402

facts.REASONS = "barrier lg_throttle long_scoreboard no_instructions not_selected selected short_scoreboard wait".split()
facts.DEVICE = {"device__attribute_multiprocessor_count": 132}
facts.launch_facts = lambda *_: {"launch__registers_per_thread": 24, "gpu__time_duration.sum": 900.0}
facts.sections = lambda: [facts.section("LaunchStats", "Launch", 60, [("launch__registers_per_thread", "Registers")])]
made.PM_SERIES = made.PM_SERIES[:1]


def one(functions, version=made.VERSION, **more):
    """A report of one launch of all functions; more: of the result, or of the program."""
    of_program = {k: more.pop(k) for k in ("announced", "abi", "has_lines", "has_functions") if k in more}
    p, report = made.Program(1, functions, **of_program), made.Report(more.pop("has_unknown", False), version)
    for message in p.messages():
        report.put_block(sources=[message])
    report.add_result(made.Result(p, parts=functions, **more))
    return report.finish()


def inputs():
    yield "loop", one([kernels.scale_rows()], pm=3)
    yield "groups", one([kernels.tiles()], abi=cubin.CUDA12)
    yield "calls", one(kernels.calls(), announced=1)
    yield "old", one([kernels.long_kernel(1)], has_functions=False, has_lines=False, has_sample_count=False)
    yield "unknown-fields", one([kernels.long_kernel(1)], has_unknown=True)
    yield "no-samples", one([kernels.long_kernel(1)], has_samples=False)
    report, p = made.Report(), made.Program(1, [kernels.long_kernel(1)])
    report.add_program(p)
    report.put_block(results=[report.result(made.Result(p, has_samples=False))], ranges=[report.whole(15, p)], graphs=[report.whole(17, p)])
    yield "kinds", report.finish()
    yield "session-alone", made.Report().finish()


def main():
    out = os.path.join(HERE, "corpus", "ncu")
    os.makedirs(out, exist_ok=True)
    for name, data in inputs():
        with open(os.path.join(out, name), "wb") as f:
            f.write(data)
        if name == "loop":
            for share in (1, 2, 3):
                with open(os.path.join(out, f"cut-{share}"), "wb") as f:
                    f.write(data[:len(data) * share // 4])


if __name__ == "__main__":
    main()
