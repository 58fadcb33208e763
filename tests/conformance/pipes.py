#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The analysis of pipes on real simulator output and on the known cases: what their producers and the format's
reference state must come out, cycle by cycle, and the buckets of every pipe must add up.

usage: pipes.py INCORE    (data from $INCORE_SHARED, default ../shared; skipped where absent)

With --clock 1000 a cycle is a nanosecond, so that figures stated in nanoseconds are compared exactly.
"""
import glob
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(os.environ.get("INCORE_SHARED", os.path.join(ROOT, "..", "shared")), "data", "ascend")
COUNT = [0, 0]
sys.path.insert(0, os.path.join(ROOT, "tests", "serve"))
from accounts import compare_pipes  # noqa: E402


def check(what, got, want):
    COUNT[got != want] += 1
    if got != want:
        print(f"FAIL {what}: {got}, expected {want}")
    return got != want


class Program:
    def __init__(self, path):
        self.path = os.path.abspath(path)

    def data(self, verb, path, *options):
        p = subprocess.run([self.path, verb, "--json", "-q", *options, path], capture_output=True, timeout=300)
        return json.loads(p.stdout)["data"] if p.returncode in (0, 1) else None

    def answer(self, question, path):
        p = subprocess.run([self.path, "view", "-q", "--get", "/api/1/" + question, path], capture_output=True, timeout=300, check=True)
        return json.loads(p.stdout)


def pipes(d):
    return {(p["core"], p["pipe"]): p for p in d["pipes"]}


def sums(name, d):
    """What must hold on any trace."""
    for p in d["pipes"]:
        a = p["accounting"]
        check(f"{name} {p['pipe']}: buckets", sum(a[k] for k in ("issue", "wait", "stall", "idle", "drain")), a["duration"])
        check(f"{name} {p['pipe']}: busy is issue", p["busy"], a["issue"])
        check(f"{name} {p['pipe']}: waits are wait", sum(w["cycles"] for w in p["waits"]), a["wait"])
        check(f"{name} {p['pipe']}: depth", sum(p["depth"]), p["busy"])
        check(f"{name} {p['pipe']}: latency at least busy", p["latency_sum"] >= p["busy"], True)
    path = d["critical_path"]
    if path:
        check(f"{name}: path", sum(path[k] for k in ("lead", "tail", "work", "wait", "stall", "gap")), path["span"])
        check(f"{name}: path of pipes", sum(x["work"] for x in path["pipes"]), path["work"])
    for c in d["cores"]:
        for i, row in enumerate(c["overlap"]):
            busy = next(p["busy"] for p in d["pipes"] if (p["core"], p["pipe"]) == (c["core"], c["pipes"][i]))
            check(f"{name} {c['core']}: diagonal", row[i], busy)
            check(f"{name} {c['core']}: symmetric", row, [r[i] for r in c["overlap"]])


def excerpts(program):
    cube = "core0.cubecore0"
    found = pipes(program.data("waves", os.path.join(DATA, "a5_real_excerpt"), "--clock", "1000"))
    for pipe, busy, latency, depth in (("MTE2", 1511, 5972, 7), ("MTE1", 36, 54, 2), ("CUBE", 96, 96, 1)):
        p = found[cube, pipe]
        check(f"excerpt {pipe}", (p["busy"], p["latency_sum"], p["depth_max"]), (busy, latency, depth))
    gaps = found[cube, "CUBE"]["gaps"]
    check("excerpt CUBE gaps 122, 448", (gaps["count"], gaps["max"], gaps["sum"]), (2, 448, 570))
    found = pipes(program.data("waves", os.path.join(DATA, "insight", "real_a5_sim_trace_excerpt.json"), "--clock", "1000"))
    for pipe, busy, depth, gap in (("MTE2", 1547, 3, 66), ("MTE1", 60, 2, 0), ("CUBE", 147, 1, 497), ("SCALAR", 4, 2, None)):
        p = found[cube, pipe]
        check(f"second excerpt {pipe}", (p["busy"], p["depth_max"]), (busy, depth))
        if gap is not None:
            check(f"second excerpt {pipe} gaps", p["gaps"]["sum"], gap)


def stated(program):
    """What the excerpt's CSV rows and its core summary log state stands beside what its few events give."""
    d = program.data("summary", os.path.join(DATA, "a5_real_excerpt"), "--top", "all")
    table = next(t for t in d["tables"] if t["name"] == "stated-busy")
    at = {c: i for i, c in enumerate(table["columns"])}
    busy = {row[at["pipe"]]: int(row[at["cycles"]]) for row in table["cells"]}
    for pipe, cycles in (("MTE2", 20056), ("MTE1", 4375), ("CUBE", 3648)):
        check(f"summary log {pipe}", busy.get(pipe), cycles)
    d = program.data("check", os.path.join(DATA, "a5_real_excerpt"))
    found = {f["id"]: f for f in d["findings"]}
    for name in ("inconsistent-busy", "inconsistent-totals", "quantised-time", "truncated"):
        check(f"excerpt: {name}", name in found, True)
    d = program.data("hot", os.path.join(DATA, "a5_real_excerpt"), "--top", "all")
    check("excerpt: residue", d["accounting"]["residue"], 0)


def cases(program):
    """Microseconds of the acceptance table, at 1000 cycles each."""
    def case(name):
        return program.data("waves", os.path.join(DATA, "clean_cases", name, "in"), "--clock", "1000")

    def waits(d):
        return {(w["producer_pipe"], p["pipe"]): w["cycles"] for p in d["pipes"] for w in p["waits"] if w["cycles"]}

    check("case 01: wait", waits(case("01_raw_trace")), {("MTE2", "VECTOR"): 1400})
    p = pipes(case("03_overlap_sublanes"))["c0", "MTE1"]
    check("case 03: MTE1", (p["busy"], p["depth_max"]), (500, 3))
    check("case 21: waits", waits(case("21_real_schema_FIXP")), {("MTE2", "MTE1"): 800, ("CUBE", "FIXP"): 1400})
    p = pipes(case("23_A5_lanes"))["core0.veccore0", "MTE2"]
    check("case 23: head cost", (p["accounting"]["stall"], p["cache_miss_stall"]), (500, 400))
    check("case 24: busy", sum(p["busy"] for p in case("24_zero_dur_touching")["pipes"]), 700)
    d = program.data("waves", os.path.join(DATA, "camodel_dumps", "910B"))
    check("dumps: wait", waits(d), {("MTE2", "SCALAR"): 275})


def device(program):
    d = program.data("info", os.path.join(DATA, "insight", "fixtures", "test_bin_mix.visualize_data.bin"))
    rows = {}
    for t in d["tables"]:
        rows[t["name"]] = rows.get(t["name"], 0) + t["rows"]
    for name, n in (("compute-load", 12), ("compute-load-table", 68), ("memory-units", 40), ("core-occupancy", 6)):
        check(f"device bin {name}", rows.get(name), n)
    check("device bin", (d["arch"], d["kernel"].startswith("MatmulLeakyreluCustom")), ("Ascend910B4", True))


def main():
    if not os.path.isdir(DATA):
        print(f"SKIP pipes: no {DATA}")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    program = Program(sys.argv[1])
    for path in sorted(glob.glob(os.path.join(DATA, "clean_cases", "*", "in"))
                       + glob.glob(os.path.join(DATA, "camodel_dumps", "*"))
                       + glob.glob(os.path.join(DATA, "insight", "synthetic_sim1"))
                       + glob.glob(os.path.join(DATA, "insight", "*.json"))
                       + glob.glob(os.path.join(DATA, "a5_real_excerpt"))
                       + glob.glob(os.path.join(ROOT, "tests", "data", "ascend_*"))):
        d = program.data("waves", path)
        if d and "pipes" in d:
            name = os.path.relpath(path, DATA)
            sums(name, d)
            compare_pipes(lambda question: program.answer(question, path), d["pipes"],
                          lambda what, got, want: check(f"{name} {what}", got, want))
    excerpts(program)
    stated(program)
    cases(program)
    device(program)
    print(f"{COUNT[0]} passed, {COUNT[1]} failed")
    return COUNT[1] > 0


if __name__ == "__main__":
    sys.exit(main())
