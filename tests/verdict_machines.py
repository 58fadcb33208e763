#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`incore verdict` of thread traces: is the planted bottleneck named, and does the change bring what is promised?

usage: verdict_machines.py BUILD [RUNS]     RUNS machines, by default 2; `make soak` has 100

The toy engine (examples/make_capture --machine) runs one kernel for each bottleneck on machines whose bandwidths, latencies and queues are
drawn anew by up to 30 %; the verdict sees the trace alone. Truth is the mended kernel on the same machine. A run is right where what binds is
the planted unit or queue and the first advice names the defect, or promises less than 12 % where only less work helps. An interval of an
advice that names it holds where the truth is inside, within a point.
"""
import json
import os
import subprocess
import sys
import tempfile

POINT, NOTHING = 1.0, 12.0
LEAST_RIGHT, LEAST_HELD = .95, .90
# bottleneck: what may bind, and the rule of its defect; None: nothing is wasted
EXPECTED = {
    "valu": ({("unit", "valu")}, None), "mfma": ({("unit", "mfma")}, None), "salu": ({("unit", "salu")}, None),
    "lds": ({("unit", "lds"), ("queue", "lds")}, None), "vmem-data": ({("unit", "vmem-data"), ("queue", "vmem")}, None),
    "hbm": ({("queue", "vmem")}, None), "narrow-access": ({("queue", "vmem")}, "narrow-access"),
    "late-load": ({("latency", None)}, "late-load"), "late-lds": ({("latency", None), ("unit", "mfma")}, "late-lds"),
    "late-scalar": ({("latency", None)}, "late-scalar"), "cross-lane": ({("latency", None)}, "cross-lane"),
    "nop-padding": ({("latency", None)}, "nop-padding"), "uneven-barrier": ({("latency", None)}, "uneven-barrier")}


def ask(build, *words):
    return json.loads(subprocess.run([os.path.join(build, "incore"), *words, "--json", "-q"], capture_output=True, text=True, check=True).stdout)["data"]


def one(build, top, name):
    """(bound is right, first advice is right, the interval holds or None, what was said)"""
    planted, mended = (os.path.join(top, name, k) for k in ("planted", "mended"))
    d, (bounds, rule) = ask(build, "verdict", planted), EXPECTED[name]
    before, after = (ask(build, "whatif", "--nothing", p)["before"] for p in (planted, mended))
    truth, changes = 100 * (before - after) / before, d["changes"]
    said = [f"{c['rule']} {c['pct']} ({c['least_pct']} to {c['most_pct']})" for c in changes[:3]]
    is_bound = (d["bound"], d["unit"] if d["bound"] in ("unit", "queue") else None) in bounds
    mine = next((c for c in changes if c["rule"] == rule), None)
    is_right = not changes or (changes[0]["pct"] or 0) < NOTHING if rule is None else bool(changes) and changes[0]["rule"] == rule
    holds = None if rule is None else bool(mine) and mine["least_pct"] - POINT <= truth <= mine["most_pct"] + POINT
    return is_bound, is_right, holds, f"{d['screen']['bound_by']}; truth {truth:.1f} %; {', '.join(said) or 'nothing advised'}"


def main():
    build, runs = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 2
    right = held = asked = all_runs = 0
    for seed in range(1, runs + 1):
        with tempfile.TemporaryDirectory() as top:
            subprocess.run([os.path.join(build, "examples", "make_capture"), "--machine", str(seed), top], check=True)
            # each run has every bottleneck once in thirteen machines; the first machines have all of them
            names = sorted(EXPECTED) if runs < 20 else [sorted(EXPECTED)[seed % len(EXPECTED)]]
            for name in names:
                is_bound, is_right, holds, said = one(build, top, name)
                all_runs += 1
                right += is_bound and is_right
                asked += holds is not None
                held += bool(holds)
                if not (is_bound and is_right) or holds is False:
                    print(f"machine {seed}, {name}: bound {is_bound}, advice {is_right}, holds {holds}: {said}")
    ok = right >= LEAST_RIGHT * all_runs and held >= LEAST_HELD * asked
    print(f"{right} of {all_runs} right, {held} of {asked} intervals hold")
    print(f"{int(ok)} passed, {int(not ok)} failed, 0 skipped")
    return int(not ok)


if __name__ == "__main__":
    sys.exit(main())
