#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pairs of kernels that nobody has seen: what `incore advise` promises of the first, then what the second brings.

usage: blind.py list FOLDER ACCEPTED          checks that each pair has a cause that was written down; prints both sources' SHA-256
       blind.py predict INCORE FOLDER OUT     takes a report of the first kernel of each pair, and writes what is advised to OUT
       blind.py time FOLDER OUT               times both kernels in turn, three starts of 101 launches
       blind.py table ACCEPTED PREDICTIONS TIMES

FOLDER has NAME.cu, which are both kernels as in examples/cuda/pairs (pair.h). ACCEPTED has lines NAME RULE [RULE]: at most two causes a pair,
committed before `predict`; PREDICTIONS are committed before `time`. No pair is left out: one that fails is a miss. Needs nvcc and ncu.
"""
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAUNCH_US = 3.4
POINT = 0.01


def accepted(path):
    pairs = {}
    for words in (line.split() for line in open(path, encoding="utf-8") if line.strip() and not line.startswith("#")):
        assert 2 <= len(words) <= 3, f"{words[0]}: one or two causes"
        pairs[words[0]] = words[1:]
    return pairs


def names(folder):
    return sorted(f[:-3] for f in os.listdir(folder) if f.endswith(".cu"))


def compile_one(folder, name, side, out):
    subprocess.run(["nvcc", "-O3", "-lineinfo", "-arch=native", "-I", os.path.join(ROOT, "examples", "cuda", "pairs"),
                    *(["-DPAIR_B"] if side == "b" else []), os.path.join(folder, name + ".cu"), "-o", out], check=True)


def predict(incore, folder, out):
    told = {}
    with tempfile.TemporaryDirectory() as tmp:
        for name in names(folder):
            program, report = os.path.join(tmp, name), os.path.join(tmp, name + ".ncu-rep")
            compile_one(folder, name, "a", program)
            subprocess.run(["ncu", "--set", "full", "--import-source", "yes", "--clock-control", "none", "-c", "1", "-f", "-o", report, program],
                           check=True, stdout=subprocess.DEVNULL)
            p = subprocess.run([incore, "advise", "-q", "--json", report], capture_output=True, text=True, check=True)
            told[name] = [{"rule": a["rule"], **{k: a["gain"][k] for k in ("pct", "least_pct", "most_pct")}}
                          for a in json.loads(p.stdout)["data"]["advice"] if a["gain"]]
    with open(out, "x", encoding="utf-8") as f:
        json.dump(told, f, indent=1, sort_keys=True)


def take_times(folder, out):
    with tempfile.TemporaryDirectory() as tmp, open(out, "x", encoding="utf-8") as f:
        for name in names(folder):
            for side in "ab":
                compile_one(folder, name, side, os.path.join(tmp, f"{name}_{side}"))
            for _ in range(3):
                for side in "ab":
                    f.write(subprocess.run([os.path.join(tmp, f"{name}_{side}"), "-t", "101"], capture_output=True, text=True, check=True).stdout)


def medians(path):
    times = {}
    for words in (line.split() for line in open(path, encoding="utf-8") if line.strip() and not line.startswith("#")):
        times.setdefault(words[0], []).append(float(words[2]))
    return {k: statistics.median(v) for k, v in times.items()}


def table(causes, told, times):
    right = holds = 0
    widths = []
    for name, rules in sorted(causes.items()):
        advice = told.get(name, [])
        before, after = times.get(name + "_a"), times.get(name + "_b")
        it = next((a for a in advice if a["rule"] in rules), None)
        is_right = bool(advice) and advice[0]["rule"] in rules
        right += is_right
        line = f"{name:20} {'right' if is_right else 'WRONG'}"
        if it and before and after:
            part = max(0.0, before - LAUNCH_US) / before
            low, high, truth = part * it["least_pct"] / 100, part * it["most_pct"] / 100, 1 - after / before
            is_in = low - POINT <= truth <= high + POINT
            holds += is_in
            widths.append(100 * (high - low))
            line += f"  {it['rule']} {100 * low:.1f} to {100 * high:.1f}, brought {100 * truth:.1f} {'holds' if is_in else 'MISSES'}"
        print(line)
    wide = f"{statistics.median(widths):.1f}, widest {max(widths):.1f}" if widths else "-"
    print(f"first advice right in {right} of {len(causes)}, interval holds in {holds}, median width {wide} points")


def main():
    what, words = sys.argv[1], sys.argv[2:]
    if what == "list":
        causes = accepted(words[1])
        for name in names(words[0]):
            assert name in causes, f"{name}: no cause was written down"
            with open(os.path.join(words[0], name + ".cu"), "rb") as f:
                print(name, hashlib.sha256(f.read()).hexdigest(), *causes[name])
    elif what == "predict":
        predict(os.path.abspath(words[0]), words[1], words[2])
    elif what == "time":
        take_times(*words)
    elif what == "table":
        with open(words[1], encoding="utf-8") as f:
            table(accepted(words[0]), json.load(f), medians(words[2]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
