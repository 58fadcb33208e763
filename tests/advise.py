#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every rule of `incore advise` speaks on a kernel with its defect planted and is silent on its sound twin.

usage: advise.py BUILD

Twins come from the toy engine (examples/make_capture --planted), from the embedded model, from encoded reports of
Nsight Compute, and from runs on an H200 where their captures are there (tests/data/h200).
"""
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DATA = os.path.join(ROOT, "tests", "data")
COUNT = {"passed": 0, "failed": 0, "skipped": 0}
# capture of a GPU: the rule that its defect is for; it must come first of those that name cycles of rows
H200 = {"bank_conflicts": "bank-conflicts", "barrier_imbalance": "uneven-barrier", "contended_atomics": "atomics", "fences": "fence",
        "fetch_misses": "fetch", "fma_chain": "dependent-chain", "local_memory": "spill", "mufu_bound": "special-functions",
        "shallow_copies": "late-copy", "shared_limited": "few-waves", "uncoalesced_loads": "uncoalesced", "uncoalesced_stores": "uncoalesced",
        "divergent_branches": "few-lanes"}
# where a rule may speak besides: the kernel has that defect too
ALSO = {"few-lanes": {"spin_lock"}, "atomics": {"spin_lock"}, "uncoalesced": {"pointer_chase"},
        "dependent-chain": {"barrier_imbalance", "divergent_branches", "mufu_bound", "tensor_bound"}, "uneven-barrier": {"shallow_copies"},
        "fetch": {"divergent_branches", "fma_chain"}}
REPORTS = {"pipeline.ncu-rep": "late-copy", "kernel.ncu-rep": "uncoalesced"}


def check(is_right, what):
    COUNT["passed" if is_right else "failed"] += 1
    if not is_right:
        print(f"FAIL {what}")


class Program:
    def __init__(self, build):
        self.build = os.path.abspath(build)
        self.spoken = set()

    def run(self, *words):
        return subprocess.run([os.path.join(self.build, "incore"), *words], capture_output=True, text=True, timeout=120, cwd=ROOT)

    def advice(self, *paths):
        p = self.run("advise", "-q", "--json", *paths)
        if p.returncode:
            print(p.stderr)
            return {"advice": []}
        return json.loads(p.stdout)["data"]

    def rules(self, path):
        rules = [a["rule"] for a in self.advice(path)["advice"]]
        self.spoken |= set(rules)
        return rules


def twins(program, tmp):
    """The toy engine's; the second capture then says that the advice was taken."""
    made = subprocess.run([os.path.join(program.build, "examples", "make_capture"), "--planted", tmp], check=False).returncode
    check(made == 0, "make_capture --planted")
    for rule in sorted(set(os.listdir(tmp)) - {"prefetched"}):
        planted, sound = (os.path.join(tmp, rule, k) for k in ("planted", "sound"))
        check(rule in program.rules(planted), f"{rule}: silent on the kernel that has it")
        check(rule not in program.rules(sound), f"{rule}: speaks of the sound twin")
        states = {r["rule"]: r["state"] for r in program.advice(planted, sound)["taken"]["rows"]}
        check(states.get(rule) == "taken", f"{rule}: planted -> sound is {states.get(rule)}")
        states = {r["rule"]: r["state"] for r in program.advice(planted, planted)["taken"]["rows"]}
        check(states.get(rule) == "not-taken", f"{rule}: planted -> planted is {states.get(rule)}")


def gains(program, tmp):
    """What is promised for loads that are asked for a step earlier is what the toy engine then does; an interval holds its point."""
    planted, ahead = (os.path.join(tmp, "prefetched", k) for k in ("planted", "sound"))
    both = program.advice(planted, ahead)
    row = next(a for a in both["advice"] if a["rule"] == "late-load")
    taken, saved = both["taken"], -both["taken"]["change_pct"]
    check(abs(row["gain"]["pct"] - saved) < 5, f"late-load: {row['gain']['pct']} % promised, {saved} % brought")
    check(taken["verdict"] == "taken, and it brought what was promised", f"late-load: {taken}")
    for rule in sorted(os.listdir(tmp)):
        for a in program.advice(os.path.join(tmp, rule, "planted"))["advice"]:
            g = a["gain"]
            check(not g or g["low"] <= g["after"] <= g["high"], f"{rule}: interval of {a['rule']}: {g}")
    asked = row["question"].split()
    told = json.loads(program.run("whatif", "-q", "--json", *asked, planted).stdout)["data"]
    check(told["after"] == row["gain"]["after"], "the question that is printed is the one that was asked")


def model(program, tmp):
    for name, has in (("one_buffer.opstream", True), ("two_buffers.opstream", False), ("blocks.jsonl", None)):
        out = os.path.join(tmp, name)
        program.run("model", "time", os.path.join(DATA, "model", name), "-o", out)
        rules = program.rules(os.path.join(out, "trace.incore"))
        if has is not None:
            check(("serial-pipes" in rules) == has, f"{name}: {rules}")
        check(("small-moves" in rules) == (has is None), f"{name}: {rules}")


def nvidia(program):
    for name, rule in REPORTS.items():
        check(rule in program.rules(os.path.join(DATA, "ncu", name)), f"{name}: no {rule}")
    folder = os.path.join(DATA, "h200")
    if not os.path.isdir(folder):
        COUNT["skipped"] += 1
        print("SKIP captures of an H200: tests/data/h200 is not here")
        return
    found = {f.rsplit(".", 1)[0]: program.rules(os.path.join(folder, f)) for f in sorted(os.listdir(folder)) if f.endswith(".incore")}
    for name, rule in H200.items():
        check(rule in found.get(name, []), f"{name}: {rule} is silent: {found.get(name)}")
        silent = [n for n in found if n in H200 and H200[n] != rule and n not in ALSO.get(rule, ()) and rule in found[n]]
        check(not silent, f"{rule} speaks of {silent}")


def words(path, name):
    """The choices that a macro lists."""
    text = re.search(name + r"(.*?)\n\n", open(os.path.join(ROOT, path), encoding="utf-8").read(), re.S)
    return set("".join(re.findall(r'"([^"]*)"', text.group(1))).split("|"))


def main():
    program = Program(sys.argv[1])
    with tempfile.TemporaryDirectory() as tmp:
        toy, ascend = os.path.join(tmp, "toy"), os.path.join(tmp, "model")
        os.mkdir(toy)
        os.mkdir(ascend)
        twins(program, toy)
        gains(program, toy)
        model(program, ascend)
        nvidia(program)
    known, ledger = words("src/analysis/advise/advise.h", "ADVISE_RULE_CHOICES"), words("src/answer/advise.h", "ADVISE_LEDGER_CHOICES")
    check(program.spoken <= known | ledger, f"rules without a word: {program.spoken - known - ledger}")
    if not COUNT["skipped"]:  # those of the ledger are proved by tests/unit/test_ledger.c
        check(program.spoken >= known, f"rules that nothing here proves: {known - program.spoken}")
    print(", ".join(f"{n} {k}" for k, n in COUNT.items()))
    return int(COUNT["failed"] > 0)


sys.exit(main())
