#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is known of the real dumps, compared with what `incore dump` says of them: every fact, every directory. The bytes
are read here a second time, by hand, and the numerics of the kernels recomputed.

usage: dump_facts.py INCORE     real data below $INCORE_SHARED/data/dump; absent data is a visible skip
"""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.environ.get("INCORE_SHARED", os.path.join(ROOT, "..", "shared"))
TOP = os.path.join(SHARED, "data", "dump")
PROGRAM = os.path.abspath(sys.argv[1])
RESULT = [0, 0]


def check(ok, what):
    RESULT[not ok] += 1
    if not ok:
        print(f"FAIL {what}")


def equal(got, want, what):
    check(got == want, f"{what}: {str(got)[:200]} is not {str(want)[:200]}")


def ask(*words, allowed=(0,)):
    p = subprocess.run([PROGRAM, "dump", *words, "--json"], capture_output=True, timeout=600)
    if p.returncode not in allowed:
        check(False, f"incore dump {' '.join(words)}: exit status {p.returncode}: {p.stderr.decode()[:300]}")
        return None
    return json.loads(p.stdout)


class Dump:
    def __init__(self, name):
        self.name, self.path = name, os.path.join(TOP, name)
        answer = ask("ls", self.path)
        self.input, self.records = answer["input"], answer["data"]["records"]
        self.tasks = ask("ls", self.path, "--by", "task")["data"]["tasks"]
        self.slots = ask("ls", self.path, "--by", "slot")["data"]["slots"]
        self.bytes = b""
        if self.input["payload"]:
            with open(self.input["payload"], "rb") as f:
                self.bytes = f.read()

    def data(self, index):
        r = self.records[index]
        return self.bytes[r["bin_offset"]:r["bin_offset"] + r["bin_size"]]

    def find(self, task, slot, stage):
        found = [r for r in self.records if (int(r["task_id"], 16), r["slot"], r["stage"]) == (task, slot, stage)]
        return self.data(found[0]["index"])

    def scalar(self, task, slot):
        return [r for r in self.records if (int(r["task_id"], 16), r["slot"], r["kind"]) == (task, slot, "scalar")][0]


def floats(data):
    return struct.unpack(f"<{len(data) // 4}f", data)


def bfloats(data):
    return [struct.unpack("<f", struct.pack("<I", v << 16))[0] for v in struct.unpack(f"<{len(data) // 2}H", data)]


def single(v):
    return struct.unpack("<f", struct.pack("<f", v))[0]


def against_file(d):
    """Every record against the manifest itself, read by another parser."""
    with open(d.input["manifest"]) as f:
        m = json.load(f)
    items = m.get("args", m.get("tensors"))
    equal(len(d.records), len(items), f"{d.name}: records")
    for r, x in zip(d.records, items):
        what = f"{d.name} record {r['index']}"
        equal((int(r["task_id"], 16), r["slot"], r["role"], r["kind"]), (int(x["task_id"], 16), x["arg_index"], x["role"], x["kind"]), what)
        equal(r["stage"], {"before_dispatch": "before", "after_completion": "after"}[x["stage"]], what)
        equal([r[k] for k in ("dtype", "shape", "strides", "start_offset", "numel", "bin_offset", "bin_size", "truncated")],
              [x[k] for k in ("dtype", "shape", "strides", "start_offset", "numel", "bin_offset", "bin_size", "truncated")], what)
        equal(r["contiguous"], x["is_contiguous"], what)
        equal(r["func_id"], x.get("func_id"), what)
        equal(r["ambiguous"], x.get("arg_index_ambiguous", False), what)
        if x["kind"] == "scalar":
            equal(r["value"], x["value"], what)
    data = ask("check", d.path, allowed=(0, 1))["data"]
    regions = [x for x in items if x["bin_size"]]
    equal((data["regions"], data["covered_bytes"], data["uncovered_bytes"], data["overlapping_regions"]),
          (len(regions), len(d.bytes), 0, 0), f"{d.name}: regions cover the file exactly")
    return data


def small(d):
    """Section CaseSmall1: tasks, shapes, counts."""
    equal([t["task_id"] for t in d.tasks], [f"0x{(2 << 32) + i:016x}" for i in range(12)], f"{d.name}: tasks")
    equal(len(d.records), 72, f"{d.name}: records")
    tensors = [r for r in d.records if r["kind"] == "tensor"]
    scalars = [r for r in d.records if r["kind"] == "scalar"]
    equal((len(tensors), len(scalars)), (63, 9), f"{d.name}: kinds")
    equal([sum(r["dtype"] == t for r in tensors) for t in ("BFLOAT16", "FLOAT32")], [15, 48], f"{d.name}: dtypes")
    equal({r["dtype"] for r in scalars}, {"UINT64"}, f"{d.name}: scalar dtypes")
    equal([r["index"] for r in d.records if not r["contiguous"]], [51], f"{d.name}: one strided view")


def case_small1():
    d = Dump("CaseSmall1_level2")
    data = against_file(d)
    equal((d.input["generation"], d.input["level"], data["verdict"]), ("G11", 2, "sound"), d.name)
    small(d)
    equal([t["func_id"] for t in d.tasks], [[0], [1], [2], [3]] * 3, f"{d.name}: funcs")
    equal((data["regions"], len(d.bytes)), (63, 32832), f"{d.name}: payload")
    base = 2 << 32
    for k in range(3):
        qk, sf, pv, up = [base + 4 * k + i for i in range(4)]
        if k < 2:
            equal(d.find(sf, 0, "before"), d.find(qk, 2, "after"), f"block {k}: QK to SF")
        equal(d.find(pv, 0, "before"), d.find(sf, 1, "after"), f"block {k}: SF to PV")
        equal(d.find(up, 0, "before"), d.find(sf, 2, "after"), f"block {k}: SF to UP, maxima")
        equal(d.find(up, 1, "before"), d.find(sf, 3, "after"), f"block {k}: SF to UP, sums")
        equal(d.find(up, 2, "before"), d.find(pv, 2, "after"), f"block {k}: PV to UP")
        for slot in range(3, 7):
            if k < 2:
                equal(d.find(up + 4, slot, "before"), d.find(up, slot, "after"), f"UP {k} to UP {k + 1}, slot {slot}")
        numerics(d, k, qk, sf, pv)
        equal([d.scalar(up, 7)["value"], d.scalar(up, 8)["value"]], [[1, 0], [0, 0], [0, 1]][k], f"UP {k}: scalars")
        equal(d.scalar(sf, 4)["value"], 1065353216, f"SF {k}: 1.0f as bits")
        for task in (qk, pv):
            start = [r for r in d.records if int(r["task_id"], 16) == task and r["slot"] == 1][0]["start_offset"]
            equal(start % 256, 0, f"task {task:#x}: start of a physical block")
    scores = floats(d.find(base + 8, 2, "after"))
    equal(floats(d.find(base + 9, 0, "before")), scores[0::16], "task 9 slot 0 = column 0 of task 8 slot 2")
    equal(set(floats(d.find(base + 9, 3, "after"))), {1.0}, "task 9: sums are 1")
    equal(bfloats(d.find(base + 9, 1, "after"))[:16], [1.0] + [0.0] * 15, "task 9: row 0")
    for task in (3, 7):
        equal(d.find(base + task, 6, "before"), d.find(base + task, 6, "after"), f"task {task}: dst untouched")
    check(max(floats(d.find(base + 3, 6, "before"))) > 1e30, "task 3: dst is uninitialised memory")
    check(d.find(base + 11, 6, "before") != d.find(base + 11, 6, "after"), "task 0b writes dst")
    shown = ask("show", d.path, "--task", "2:11", "--arg", "6", "--stage", "before")["data"]["records"][0]
    check(shown["change"]["values_changed"] > 0, "show: task 0b changes dst")
    return d


def numerics(d, k, qk, sf, pv):
    """sij = qi kj^T and oi = pij vj, single precision, k ascending: every bit."""
    q, kj = bfloats(d.find(qk, 0, "before")), bfloats(d.find(qk, 1, "before"))
    out = floats(d.find(qk, 2, "after"))
    for i in range(16):
        for j in range(16):
            s = 0.0
            for n in range(16):
                s = single(s + single(q[16 * i + n] * kj[16 * j + n]))
            check(s == out[16 * i + j], f"QK {k} [{i}, {j}]: {s} is not {out[16 * i + j]}")
    p, v = bfloats(d.find(pv, 0, "before")), bfloats(d.find(pv, 1, "before"))
    out = floats(d.find(pv, 2, "after"))
    rows = len(p) // 16
    for i in range(rows):
        for j in range(16):
            s = 0.0
            for n in range(16):
                s = single(s + single(p[16 * i + n] * v[16 * n + j]))
            check(s == out[16 * i + j], f"PV {k} [{i}, {j}]: {s} is not {out[16 * i + j]}")
    sij, maxima = floats(d.find(sf, 0, "before")), floats(d.find(sf, 2, "after"))
    width = len(sij) // 16
    equal([max(sij[width * i:width * (i + 1)]) for i in range(16)], list(maxima), f"SF {k}: row maxima")


def other_levels(level2):
    d = Dump("CaseSmall1_level3")
    data = against_file(d)
    small(d)
    equal((d.input["payload"], d.input["level"], data["verdict"]), (None, 3, "sound"), d.name)
    equal({r["bin_size"] for r in d.records}, {0}, f"{d.name}: no payload")
    old = Dump("older_CaseSmall1_level2")
    data = against_file(old)
    small(old)
    check(old.input["generation"].startswith("G4"), f"{old.name}: {old.input['generation']}")
    equal((old.input["level"], data["verdict"], len(old.bytes)), (None, "sound", 32832), old.name)
    equal({str(r["func_id"]) for r in old.records}, {"None"}, f"{old.name}: no func ids")
    keys = ("index", "task_id", "slot", "role", "stage", "kind", "dtype", "contiguous", "shape", "strides", "numel", "bin_size")
    model = lambda x: [[r[k] for k in keys] for r in x.records]  # noqa: E731
    equal(model(old), model(level2), "both generations of CaseSmall1 give one model")
    slots = lambda x: [{k: v for k, v in s.items() if k not in ("writer",)} for s in x.slots]  # noqa: E731
    equal(slots(old), slots(level2), "both generations of CaseSmall1 give the same slots")
    equal([t["blocks"] for t in old.tasks], [1] * 12, f"{old.name}: blocks")


def args_dump():
    one, two, three = Dump("TestArgsDump_level1"), Dump("TestArgsDump_level2"), Dump("TestArgsDump_level3")
    for d in (one, two, three):
        equal(against_file(d)["verdict"], "sound", d.name)
    ring = 1 << 32
    equal((len(one.records), len(one.bytes)), (11, 458752), one.name)
    tensors = sorted((int(r["task_id"], 16) - ring, r["slot"]) for r in one.records if r["kind"] == "tensor")
    equal(tensors, [(0, 0), (0, 1), (2, 0), (2, 2), (3, 0), (3, 1), (3, 2)], f"{one.name}: tensor slots")
    scalars = sorted((int(r["task_id"], 16) - ring, r["slot"], r["dtype"], r["value"], r["ambiguous"])
                     for r in one.records if r["kind"] == "scalar")
    equal(scalars, [(0, 2, "FLOAT32", 1.0, False), (0, 3, "UINT32", 3, False), (1, 2, "FLOAT32", 2.0, False),
                    (2, 3, "UINT32", 3, True)], f"{one.name}: scalars")
    equal((len(two.records), len(two.tasks), len(two.bytes)), (19, 5, 851968), two.name)
    equal([t["task_id"] for t in two.tasks], ["0x0000000000000000"] + [f"0x{ring + i:016x}" for i in range(4)], two.name)
    equal(any(r["ambiguous"] for r in two.records), False, f"{two.name}: level 2 marks nothing")
    want = {0: ([2, 3], 5), ring: ([5], 6), ring + 1: ([5], 7), ring + 2: ([6, 7], 42), ring + 3: ([42, 5], 47)}
    for task, (inputs, output) in want.items():
        shown = ask("show", two.path, "--task", hex(task), "--kind", "tensor", "--limit", "0")["data"]["records"]
        constant = {}
        for r in shown:
            s = r["statistics"]
            equal((s["min"], s["values"], s["mean"]), (s["max"], 16384, s["min"]), f"task {task:#x} slot {r['slot']} is constant")
            equal(set(floats(two.data(r["index"]))), {s["min"]}, f"task {task:#x} slot {r['slot']}")
            constant.setdefault(r["stage"], []).append(s["min"])
        equal((constant["before"], constant["after"]), (inputs, [output]), f"task {task:#x}")
    equal((len(three.records), sum(r["bin_size"] > 0 for r in three.records)), (19, 7), three.name)
    equal(three.bytes, one.bytes, "payload of level 3 is that of level 1")
    equal([(int(r["task_id"], 16), r["slot"]) for r in three.records if r["ambiguous"]], [(ring + 2, 3)], three.name)
    equal(sum(r["kind"] == "scalar" and not r["exact"] for r in two.records), 2, "FLOAT32 scalars are not exact")


def mixed():
    d = Dump("TestMixedExample_case1")
    equal(against_file(d)["verdict"], "sound", d.name)
    equal((len(d.records), len(d.tasks)), (108, 20), d.name)
    sets = [t["func_id"] for t in d.tasks]
    equal([sets.count(s) for s in ([0, 1, 2], [0], [3], [3, 4], [0, 1])], [4] * 5, f"{d.name}: member sets")
    equal({r["kind"] for r in d.records}, {"tensor"}, f"{d.name}: no scalars")
    outputs = [r for r in d.records if r["role"] == "output"]
    equal({r["slot"] for r in outputs}, {2, 5, 8}, f"{d.name}: output slots")
    equal({r["start_offset"] for r in outputs}, {0, 16384, 32768, 49152}, f"{d.name}: output offsets")


def spmd():
    d = Dump("TestSpmdMultiblockMix_Case1")
    equal(against_file(d)["verdict"], "sound", d.name)
    equal((len(d.records), [t["func_id"] for t in d.tasks]), (193, [[0, 1, 2]] * 5), d.name)
    equal([t["blocks"] for t in d.tasks], [2, 8, 12, 24, 48], f"{d.name}: blocks")
    equal(len(d.bytes), 1786752, d.name)
    tensors, scalars = d.slots[0::2], d.slots[1::2]
    equal([len(s["before"]) for s in tensors], [2, 8, 12, 24, 48], f"{d.name}: before copies")
    equal([s["before_contents"] for s in tensors], [1, 1, 3, 3, 7], f"{d.name}: contents")
    equal([d.records[s["chosen"]]["value"] for s in scalars], [0, 6, 30, 66, 138], f"{d.name}: scalars")
    nonzero = lambda i: sum(v != 0 for v in floats(d.data(i)))  # noqa: E731
    equal([nonzero(s["after"]) for s in tensors], [3, 24, 57, 126, 267], f"{d.name}: non-zero elements after")
    for before, after in zip(tensors[1:], tensors):
        equal(d.data(before["chosen"]), d.data(after["after"]), f"{d.name}: the chosen copy is what the previous task left")
    equal([s["choice"] for s in tensors], ["same", "same", "writer", "writer", "writer"], f"{d.name}: choices")
    order = sorted(r["bin_offset"] for r in d.records if r["bin_size"])
    same = sorted(order.index(d.records[i]["bin_offset"]) for i in tensors[2]["before"] if d.data(i) == d.data(tensors[2]["chosen"]))
    equal(same, [66, 67], f"{d.name}: region ordinals of the state before task 2")
    equal(nonzero(tensors[2]["chosen"]), 24, f"{d.name}: task 2")
    equal({nonzero(i) for i in tensors[2]["before"]}, {24, 27, 51}, f"{d.name}: the trap of task 2")


def batch():
    d = Dump("TestBatchPagedAttention_CaseSmall1")
    data = against_file(d)
    equal((len(d.records), len(d.bytes), data["verdict"]), (123, 33996, "defective"), d.name)
    equal([d.input[k] for k in ("dropped_records", "dropped_overwrite", "truncated")], [0, 0, 0], f"{d.name}: counters")
    equal((data["incomplete_tasks"], data["missing_slots"]), (9, 9), d.name)
    named = sorted((int(p["task_id"], 16) - (2 << 32), p["slot"]) for p in data["problems"] if p["code"] == "missing-slot")
    equal(named, sorted((4 * k + i, slot) for k in range(3) for i, slot in ((0, 3), (1, 4), (2, 3))), f"{d.name}: task and slot")
    text = subprocess.run([PROGRAM, "dump", "check", d.path], capture_output=True, text=True)
    equal(text.returncode, 1, f"{d.name}: exit status")
    check("task 0x0000000200000001: slot 4 is missing" in text.stdout, f"{d.name}: the text names task and slot")
    table = [r for r in d.records if int(r["task_id"], 16) == 2 << 32 and r["slot"] == 2][0]
    equal((table["dtype"], table["shape"], table["role"]), ("INT32", [1, 16], "output"), f"{d.name}: the block table")
    length = ask("show", d.path, "--task", "2:1", "--arg", "1")["data"]["records"][0]
    equal((length["role"], length["values"][0]), ("output", 33), f"{d.name}: the context length")


def companions():
    """deps.json of another run of the same case, beside a copy of the dump: ids, blocks and slots agree, names join."""
    dfx = os.path.join(TOP, "CaseSmall1_dfx")
    with tempfile.TemporaryDirectory() as tmp:
        inner = os.path.join(tmp, "dfx_outputs", "args_dump")
        os.makedirs(inner)
        for name in ("args_dump.json", "args.bin"):
            shutil.copy(os.path.join(TOP, "CaseSmall1_level2", name), inner)
        for name in os.listdir(dfx):
            if name == "deps.json" or name.startswith("name_map"):
                shutil.copy(os.path.join(dfx, name), os.path.join(tmp, "dfx_outputs"))
        answer = ask("ls", tmp, "--by", "task")
        check(answer["input"]["deps"].endswith("deps.json"), "deps.json is found above the dump")
        equal([t["kernel"] for t in answer["data"]["tasks"]], ["QK", "SF", "PV", "UP"] * 3, "kernel names")
        equal([t["blocks"] for t in answer["data"]["tasks"]], [1] * 12, "block numbers of deps.json")
        equal(ask("check", tmp)["data"]["verdict"], "sound", "the slot lists agree")
        picked = ask("ls", tmp, "--kernel", "sf", "--kind", "scalar")["data"]["records"]
        equal([r["slot"] for r in picked], [4, 4, 4], "--kernel")


def main():
    if not os.path.isdir(TOP):
        print(f"SKIP real dumps: none below {TOP}")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    level2 = case_small1()
    other_levels(level2)
    args_dump()
    mixed()
    spmd()
    batch()
    companions()
    print(f"{RESULT[0]} passed, {RESULT[1]} failed, 0 skipped")
    return RESULT[1] > 0


if __name__ == "__main__":
    sys.exit(main())
