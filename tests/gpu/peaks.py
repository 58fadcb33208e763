#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The practical share of each unit's peak on this machine's GPU, beside the table that the ledger uses.

usage: peaks.py INCORE    (needs nvcc and ncu)

Compiles examples/cuda/peaks for the GPU that is there, takes a report of each kernel, and prints for each unit the share of the nominal peak
that its kernel reaches, and the share in src/isa/rates_table.c.
"""
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CUDA = os.path.join(ROOT, "examples", "cuda")


def verdicts(incore, report):
    """One verdict for each kernel of a report."""
    for dispatch in range(64):
        p = subprocess.run([incore, "verdict", "-q", "--json", "--dispatch", str(dispatch), report], capture_output=True, text=True, check=False)
        if p.returncode:
            return
        yield json.loads(p.stdout)["data"]


def main():
    incore = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as tmp:
        program, report = os.path.join(tmp, "peaks"), os.path.join(tmp, "peaks.ncu-rep")
        subprocess.run(["nvcc", "-O3", "-lineinfo", "-arch=native", "-DRUN_ALL", os.path.join(CUDA, "all.cu"), os.path.join(CUDA, "peaks", "peaks.cu"),
                        "-o", program], check=True)
        subprocess.run(["ncu", "--set", "full", "--clock-control", "none", "-f", "-o", report, program], check=True, stdout=subprocess.DEVNULL)
        best = {}
        for v in verdicts(incore, report):
            for u in v["units"]:
                best[u["unit"]] = max(best.get(u["unit"], (0, 0, "")), (u["peak_pct"], u["practical_pct"], v["kernel"]))
        for unit, (reached, table, kernel) in sorted(best.items()):
            print(f"{unit:12} {reached:6.1f} % of the peak by {kernel:20} in the table {table:.1f} %")


if __name__ == "__main__":
    main()
