#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `incore whatif` says of one target under stronger and stronger changes agrees with itself, on every capture of tests/data.

usage: whatif_steps.py INCORE [--thorough]

Of each class (with --thorough: and of each reason, opcode and the costliest rows): a further speed-up never makes the whole longer, so
nothing <= 2 <= 3 <= ... <= inf; low <= after <= high; what is removed and what takes no time agree, or the answer says what differs;
"does nothing" stands beside a narrow interval only; lists, ranges and opcodes are the rows that they name.
"""
import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DATA = os.path.join(ROOT, "tests", "data")
FACTORS = ("2", "3", "4", "8", "16", "inf")
SAME_PCT = .5  # of the time before: what is said to differ
WIDE = .06
COUNT = [0, 0]


def check(is_right, what):
    COUNT[not is_right] += 1
    if not is_right:
        print(f"FAIL {what}")


def ask(program, path, *words):
    p = subprocess.run([program, "whatif", "--json", "-q", "--top", "0", *words, path], capture_output=True, text=True, timeout=300)
    return json.loads(p.stdout)["data"] if p.returncode == 0 else p.stderr


def targets(program, path, is_thorough):
    """Classes, and stall reasons, as the answer to no question lists them."""
    said = ask(program, path)
    listed = re.search(r"one of (.*)", said) if isinstance(said, str) else None
    words = [w.strip() for w in listed.group(1).split(",")] if listed else []
    if not is_thorough:
        words = [w for w in words if w.isupper() or "VMEM" in w][:5]
    return words


def captures(program, tmp, is_thorough):
    for stream in ("attention.jsonl", "blocks.jsonl", "one_buffer.opstream"):
        subprocess.run([program, "model", "time", "-q", "-o", os.path.join(tmp, stream), os.path.join(DATA, "model", stream)],
                       check=True, capture_output=True)
        yield os.path.join(tmp, stream, "trace.incore")
    kept = sorted(glob.glob(os.path.join(DATA, "h200", "*.incore")))
    found = [os.path.join(DATA, d) for d in ("two_waves", "gemm", "inline", "gfx11", "gfx12", "ascend_matmul", "ascend_a5", "ascend_waiting")]
    found += sorted(glob.glob(os.path.join(DATA, "ncu", "*.ncu-rep"))) + (kept if is_thorough else kept[::4])
    yield from (p for p in found if os.path.exists(p))


def one_target(program, path, word):
    name = f"{os.path.basename(path)} {word}"
    said = [(k, ask(program, path, "--faster", f"{word}={k}")) for k in FACTORS] + [("removed", ask(program, path, "--remove", word))]
    said = [(k, d) for k, d in said if isinstance(d, dict) and d["method"] != "none"]
    last = None
    for k, d in said:
        check(d["low"] <= d["after"] <= d["high"], f"{name} {k}: {d['low']} <= {d['after']} <= {d['high']}")
        wide = max(abs(d["low"] - d["before"]), abs(d["high"] - d["before"])) > WIDE * d["before"]
        check(d["verdict"] != "does-nothing" or not wide, f"{name} {k}: does nothing, from {d['low']} to {d['high']} of {d['before']}")
        check(d["verdict"] != "not-known" or d["why"], f"{name} {k}: not known, and it does not say why")
        check(d["after"] <= d["before"], f"{name} {k}: {d['before']} -> {d['after']}")
        if last and k != "removed":
            check(d["after"] <= last[1]["after"], f"{name}: {last[0]} {last[1]['after']}, {k} {d['after']}")
        last = (k, d)
    both = dict(said)
    if "inf" in both and "removed" in both:
        apart = abs(both["inf"]["saved"] - both["removed"]["saved"])
        for k in ("inf", "removed"):
            check((both[k]["differs"] is not None) == (apart > SAME_PCT) or abs(apart - SAME_PCT) < .02, f"{name} {k}: {apart} points apart, {both[k]['differs']}")
    return len(said)


def lists(program):
    """More than 1,024 rows, ranges with holes, opcodes: each the same as its rows one by one."""
    path = os.path.join(DATA, "gemm")
    figures = [ask(program, path, *w) for w in (("--faster", "17,18,19"), ("--faster", "17-19"), ("--faster", "19,17-18,18"))]
    check(len({json.dumps({**f, "change": ""}) for f in figures}) == 1, "17,18,19 and 17-19 and 19,17-18,18")
    every = ask(program, path, "--faster", "1-5000")
    check(isinstance(every, dict) and every["rows"] > 40, f"a range of 5,000: {every}")
    loads = ask(program, path, "--opcode", "buffer_load_dwordx4")
    check(isinstance(loads, dict) and loads["rows"] == 3, f"an opcode: {loads}")
    check(loads["after"] == ask(program, path, "--remove", "8,9,17")["after"], "an opcode is its rows")
    both = ask(program, path, "--faster", "buffer_load,s_barrier=4")
    check(isinstance(both, dict) and both["rows"] == 4, f"opcodes in a list: {both}")
    check("'99999'" in str(ask(program, path, "--faster", "17,99999")), "a row that is not there is named")
    check("'nop_such'" in str(ask(program, path, "--opcode", "nop_such")), "an opcode that is not there is named")
    check("no barrier" in str(ask(program, path, "--even", "17")), "only barriers can be evened out")


def advised(program, tmp):
    """`advise` and `whatif` say the same of the same change, whatever is asked; who has no gain says why and stands last."""
    captures = [os.path.join(DATA, c) for c in ("gemm", "gfx12", "inline", "ncu/kernel.ncu-rep", "ncu/pipeline.ncu-rep")]
    captures += [os.path.join(DATA, "h200", n + ".incore") for n in ("local_memory", "barrier_imbalance")] + [os.path.join(tmp, "one_buffer.opstream", "trace.incore")]
    for path in filter(os.path.exists, captures):
        p = subprocess.run([program, "advise", "--json", "-q", path], capture_output=True, text=True, check=True)
        rows, name = json.loads(p.stdout)["data"]["advice"], os.path.basename(path)
        check(sorted(rows, key=lambda r: r["gain"] is None) == rows, f"{name}: an advice without a gain stands above one with a gain")
        for r in rows:
            g = r["gain"]
            check(g or r["no_gain"], f"{name} {r['rule']}: no gain, and no reason")
            for words in ([r["question"].split(" ")] if g else []) + ([["--rule", r["rule"]]]):
                d = ask(program, path, *words)
                said = [d["before"], d["after"], d["low"], d["high"]] if isinstance(d, dict) else d
                check(said == ([g["before"], g["after"], g["low"], g["high"]] if g else 4 * [None]), f"{name} {words}: {said}, advised {g}")
    check("it has" in str(ask(program, captures[0], "--rule", "nonsense")), "a rule that does not speak: which do")


def intents(program):
    """A kernel's grid, blocks, tile and elements: more never brings less, and what a rule advises brings the same when asked for."""
    for path in sorted(glob.glob(os.path.join(DATA, "h200", "*.incore")))[:6]:
        name = os.path.basename(path)
        for option in ("--tile", "--elements"):
            said = [ask(program, path, option, k) for k in ("x1", "x2", "x4", "x16")]
            check(all(isinstance(d, dict) for d in said), f"{name} {option}: {said[0]}")
            after = [d["after"] for d in said if d["after"] is not None]
            check(after == sorted(after, reverse=True), f"{name} {option}: {after}")
            check(after or said[0]["why"], f"{name} {option}: no answer, and no reason")
            check(not after or abs(after[0] - said[0]["before"]) <= said[0]["before"] // 200, f"{name} {option} x1: {said[0]['before']} -> {after[:1]}")
        check("asked one at a time" in str(ask(program, path, "--tile", "x2", "--grid", "8")), f"{name}: two at once")
        check("as in x4" in str(ask(program, path, "--tile", "4")), f"{name}: a tile without an x")
        d = ask(program, path, "--grid", "1000000")
        check(isinstance(d, dict) and (d["after"] is None or d["low"] <= d["after"] <= d["high"]), f"{name} --grid: {d}")
    d = ask(program, os.path.join(DATA, "gemm"), "--tile", "x2")
    check(isinstance(d, dict) and d["after"] is None and d["why"], f"without counters: {d}")


def main():
    program, is_thorough = os.path.abspath(sys.argv[1]), "--thorough" in sys.argv[2:]
    lists(program)
    with tempfile.TemporaryDirectory() as tmp, concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [(p, w) for p in captures(program, tmp, is_thorough) for w in targets(program, p, is_thorough)]
        advised(program, tmp)
        intents(program)
        n = sum(pool.map(lambda j: one_target(program, *j), jobs))
    check(n > 100, f"{n} answers in all")
    print(f"{COUNT[0]} passed, {COUNT[1]} failed, 0 skipped")
    return int(COUNT[1] > 0)


if __name__ == "__main__":
    sys.exit(main())
