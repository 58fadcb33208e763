#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of rocprofv3 that are no thread traces: what incore says of made ones against the generator's truth, and of damaged ones.

usage: run.py BUILD_DIR

Damaged: an error with status 3 and one line, or an answer; never a crash, never a hang. TIMES: as many times more damages (1).
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(os.path.dirname(HERE), "data", "rocprof_pcs")
sys.path.insert(0, HERE)

import make_pcs  # noqa: E402

DAMAGES = 25


class Score:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def check(self, name, got, want):
        if got == want:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAIL {name}: {str(got)[:400]} instead of {str(want)[:400]}")


def run(program, *args, env=None):
    return subprocess.run([program, *args], capture_output=True, text=True, timeout=60, env={**os.environ, **(env or {})})


def data(program, *args):
    result = run(program, *args, "--json", "-q")
    if result.returncode:
        raise AssertionError(f"{args}: {result.stderr}")
    return json.loads(result.stdout)["data"]


def rows_of(program, path):
    """(text, issued, reasons) of every row that has samples."""
    rows = data(program, "hot", "--top", "all", path)["rows"]
    return sorted((r["isa"], r["samples"] - r["stalled_samples"], tuple(sorted(r["stall_reasons"].items()))) for r in rows)


def truth_of(rows):
    return sorted((text, issued, tuple(sorted(reasons.items()))) for text, issued, reasons in rows if issued or reasons)


def check_samples(score, program):
    for name, n, seed, is_trap in (("stochastic_results.json", 120, 1, False), ("host_trap_results.json", 30, 2, True),
                                   ("run_pc_sampling_stochastic.csv", 120, 1, False)):
        truth = make_pcs.truth(n, seed, is_trap)
        kernels = sorted(truth.values(), key=lambda rows: -sum(i + sum(r.values()) for _, i, r in rows))
        for i, rows in enumerate(kernels):
            score.check(f"{name}#{i}", rows_of(program, f"{os.path.join(DATA, name)}#{i}"), truth_of(rows))
    alone = [row for rows in make_pcs.truth(30, 2, True).values() for row in rows]
    merged = {}
    lines = {(t, line) for k in make_pcs.KERNELS for t, line in k[3]}
    for text, _, reasons in alone:
        merged[text] = merged.get(text, 0) + sum(reasons.values())
    got = {}
    for text, _, reasons in rows_of(program, os.path.join(DATA, "alone_pc_sampling_host_trap.csv")):
        got[text] = got.get(text, 0) + sum(n for _, n in reasons)
    score.check("samples without a kernel", got, merged)
    score.check("rows without addresses", len(rows_of(program, os.path.join(DATA, "alone_pc_sampling_host_trap.csv"))), len(lines))


def check_packed(score, program, folder):
    path, packed = os.path.join(DATA, "stochastic_results.json#0"), os.path.join(folder, "x.incore")
    run(program, "pack", "-o", packed, path)
    score.check("packed", rows_of(program, packed), rows_of(program, path))


def check_made(score):
    for name, make in make_pcs.FILES.items():
        with open(os.path.join(DATA, name)) as f:
            score.check(f"{name} is what the generator makes", f.read() == make(), True)


def damages(text, n):
    """Cut, a byte changed, a piece twice, numbers made huge."""
    numbers = make_pcs.random_numbers(7)
    for i in range(n):
        at = (next(numbers) << 16 | next(numbers)) % len(text)
        if i % 4 == 0:
            yield text[:at]
        elif i % 4 == 1:
            yield text[:at] + bytes([next(numbers) & 255]) + text[at + 1:]
        elif i % 4 == 2:
            yield text[:at] + text[at // 2:at] + text[at:]
        else:
            yield text.replace(b"1", b"18446744073709551616", 1 + at % 50)


def check_damaged(score, program, folder, names):
    for name in names:
        with open(os.path.join(DATA, name), "rb") as f:
            text = f.read()
        for i, damaged in enumerate(damages(text, DAMAGES * int(os.environ.get("TIMES", "1")))):
            path = os.path.join(folder, f"{i}_{name}")
            with open(path, "wb") as f:
                f.write(damaged)
            result = run(program, "hot", "-q", path)
            is_fine = result.returncode == 0 or result.returncode in (3, 4) and result.stderr.startswith("incore: ")
            score.check(f"{name} damaged {i}: status {result.returncode} {result.stderr[:200]}", is_fine, True)
            os.unlink(path)


def main():
    program = os.path.join(sys.argv[1], "incore")
    score = Score()
    check_made(score)
    check_samples(score, program)
    with tempfile.TemporaryDirectory() as folder:
        check_packed(score, program, folder)
        check_damaged(score, program, folder, ["stochastic_results.json", "run_pc_sampling_stochastic.csv"])
    print(f"{score.passed} passed, {score.failed} failed, {score.skipped} skipped")
    return int(score.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
