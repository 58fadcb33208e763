#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Twins of CUDA kernels, as taken on an H200: a rule of `incore advise` speaks of the one with its defect, at the guilty line and with a gain, is
silent on the other, and of both says that the advice was taken.

usage: twins.py BUILD [--table]    (--table: the rows of docs/advise.md: what was promised, what the second kernel brought)

examples/cuda/twins/<name>.cu is both kernels, <name>_a and, with -DPAIR_B, <name>_b; the line is marked with GUILTY. tests/data/h200/twins has what
Nsight Compute took of them, tests/data/h200/twins/cuda our own samples (`incore capture cuda`), which have no figures of sectors, wavefronts
and lanes and know no gain, tests/gpu/twins/times.txt how long they take.
"""
import json
import os
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(ROOT, "tests", "data", "h200", "twins")
RULES = {"atomics": "atomics", "bank_conflicts": "bank-conflicts", "dependent_chain": "dependent-chain", "fence": "fence", "fetch": "fetch",
         "few_lanes": "few-lanes", "few_waves": "few-waves", "late_copy": "late-copy", "late_lds": "late-lds", "late_load": "late-load",
         "short_loop": "short-loop", "special_functions": "special-functions", "spill": "spill", "uncoalesced": "uncoalesced",
         "uncoalesced_stores": "uncoalesced", "uneven_barrier": "uneven-barrier"}
BY_FIGURES = {"bank-conflicts", "uncoalesced", "few-lanes"}  # of Nsight Compute alone
OF_THE_KERNEL = {"few-waves"}  # no line is guilty
COUNT = {"passed": 0, "failed": 0, "skipped": 0}


def check(is_right, what):
    COUNT["passed" if is_right else "failed"] += 1
    if not is_right:
        print(f"FAIL {what}")


def guilty_line(name):
    with open(os.path.join(ROOT, "examples", "cuda", "twins", name + ".cu"), encoding="utf-8") as f:
        marks = [n for n, line in enumerate(f, 1) if "GUILTY" in line]
    assert len(marks) == 1, name
    return f"/{name}.cu:{marks[0]}"


def advise(build, *paths):
    p = subprocess.run([os.path.join(build, "incore"), "advise", "-q", "--json", *paths], capture_output=True, check=True)
    return json.loads(p.stdout)["data"]


def places(advice):
    """All lines that an advice names as its first place, those of inlined calls too."""
    named = (advice["where"], advice["waits_for"])
    return {part for x in named if x and x["source"] for part in x["source"].split(" -> ")}


def twin(build, folder, name):
    """The rule on A, silence on B, and what A and B say together."""
    a, b = (os.path.join(DATA, folder, f"{name}_{k}.incore") for k in "ab")
    rule, what = RULES[name], f"{folder} {name}"
    both = advise(build, a, b)
    found = next((x for x in both["advice"] if x["rule"] == rule), None)
    check(found, f"{what}: {rule} is silent on the kernel that has it: {[x['rule'] for x in both['advice']]}")
    check(rule not in [x["rule"] for x in advise(build, b)["advice"]], f"{what}: {rule} speaks of the sound twin")
    if not found:
        return None
    is_there = rule in OF_THE_KERNEL or any(p.endswith(guilty_line(name)) for p in places(found))
    check(is_there, f"{what}: not at {guilty_line(name)} but {places(found)}")
    taken = both["taken"]
    check({r["rule"]: r["state"] for r in taken["rows"]}[rule] == "taken", f"{what}: {taken}")
    check(taken["change_pct"] < 0, f"{what}: {taken['change_pct']} % by the captures")
    return found, taken


def promised(name, found, taken):
    gain = found["gain"]
    check(gain and gain["least_pct"] <= gain["pct"] <= gain["most_pct"] and gain["pct"] > 5, f"{name}: gain {gain}")
    check(taken["least_pct"] is not None, f"{name}: nothing is promised: {taken}")


def saved_pct(medians, name):
    return 100 - 100 * medians[name + "_b"] / medians[name + "_a"]


def read_medians():
    times = {}
    with open(os.path.join(ROOT, "tests", "gpu", "twins", "times.txt"), encoding="utf-8") as f:
        for words in (line.split() for line in f if not line.startswith("#")):
            times.setdefault(words[0], []).append(float(words[2]))
    return {name: statistics.median(v) for name, v in times.items()}


def row(name, found, taken, medians):
    g, saved = found["gain"], saved_pct(medians, name)
    inside = "yes" if g["least_pct"] <= -taken["change_pct"] <= g["most_pct"] else "no"
    return (f"| {RULES[name]} | `{name}` | `{found['question'] if len(found['question']) < 40 else found['question'][:30] + ' ...'}` | "
            f"{g['pct']:.1f} % ({g['least_pct']:.1f} to {g['most_pct']:.1f}) | {-taken['change_pct']:.1f} % | {saved:.1f} % | {inside} |")


def main():
    build, medians, lines = os.path.abspath(sys.argv[1]), read_medians(), []
    with open(os.path.join(ROOT, "docs", "advise.md"), encoding="utf-8") as f:
        page = f.read()
    for folder in ("", "cuda"):
        for name, rule in RULES.items():
            if not os.path.exists(os.path.join(DATA, folder, name + "_a.incore")) or (folder and rule in BY_FIGURES):
                continue
            got = twin(build, folder, name)
            if got and not folder:
                promised(name, *got)
                lines.append(row(name, *got, medians))
                measured = f"{-got[1]['change_pct']:.1f} % | {saved_pct(medians, name):.1f} %"
                check(f"| `{name}` | " in page and measured in page, f"docs/advise.md: not what was measured of {name}: {measured}")
    if "--table" in sys.argv:
        print("\n".join(lines))
    print(", ".join(f"{n} {k}" for k, n in COUNT.items()))
    return int(COUNT["failed"] > 0)


sys.exit(main())
