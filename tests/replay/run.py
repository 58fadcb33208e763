#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does `incore replay` bring recorded dispatches back? Every task of our own runs and of the real dumps is replayed through
the embedded model with our kernels: slots, shapes, strides, scalars and the order of the tile ops are compared with the
record; then everything that must be refused.

usage: run.py BUILD_DIR [NAME...]     a function of CASES; real dumps below $INCORE_SHARED/data/dump, absent: a visible skip
"""
import concurrent.futures
import glob
import json
import os
import re
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import opstream  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.environ.get("INCORE_SHARED", os.path.join(ROOT, "..", "shared"))
REAL = os.path.abspath(os.path.join(SHARED, "data", "dump"))
DUMPS = os.path.join(ROOT, "tests", "data", "dumps")
SAMPLE = os.path.join(ROOT, "examples", "paged_attention", "kernels")
OURS = os.path.join(ROOT, "tests", "replay", "kernels")
KERNELS = {0: "aic/qk.cpp", 1: "aiv/sf.cpp", 2: "aic/pv.cpp", 3: "aiv/up.cpp"}
SF, QK = os.path.join(SAMPLE, KERNELS[1]), os.path.join(SAMPLE, KERNELS[0])
RING = 2 << 32
RESULT = [0, 0, 0]


def check(ok, what):
    RESULT[not ok] += 1
    if not ok:
        print(f"FAIL {what}", flush=True)
    return ok


def equal(got, want, what):
    return check(got == want, f"{what}: {str(got)[:300]} is not {str(want)[:300]}")


class Incore:
    def __init__(self, build, tmp):
        self.build, self.tmp, self.count = os.path.abspath(build), tmp, 0
        self.program = os.path.join(self.build, "incore")
        self.env = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG") or k.endswith("SAN_OPTIONS")}
        self.env.update(LC_ALL="C.UTF-8", XDG_CACHE_HOME=os.path.join(self.build, "replay-cache"), INCORE_JOBS="1")

    def place(self):
        self.count += 1
        return os.path.join(self.tmp, f"ws{self.count}")

    def run(self, *words, env=None, cwd=None, limit=None):
        return subprocess.run([self.program, *words], capture_output=True, text=True, errors="replace",
                              env={**self.env, **(env or {})}, cwd=cwd or self.tmp, timeout=300, preexec_fn=limit)

    def dump(self, *words):
        p = self.run("dump", *words, "--json")
        return json.loads(p.stdout)["data"]

    def replay(self, *words, out=None, env=None):
        """The answer's data (with the streams in "streams"), or None with a failure told."""
        out = out or self.place()
        p = self.run("replay", "--json", "-o", out, *words, env=env)
        if p.returncode:
            check(False, f"incore replay {' '.join(words)}: exit status {p.returncode}: {p.stderr.strip()[:600]}")
            return None
        data = json.loads(p.stdout)["data"]
        ops = os.path.join(out, "ops.opstream")
        data["streams"] = opstream.read(ops) if os.path.exists(ops) else []
        return data

    def refused(self, status, texts, *words, env=None, cwd=None, limit=None):
        """It ends with this status, says these texts, and leaves nothing."""
        out = self.place()
        p = self.run("replay", "-o", out, *words, env=env, cwd=cwd, limit=limit)
        what = f"incore replay {' '.join(words)}"
        equal(p.returncode, status, f"{what}: exit status ({p.stderr.strip()[:300]})")
        for t in texts:
            check(t in p.stderr, f"{what}: no '{t}' in: {p.stderr.strip()[:500]}")
        left = glob.glob(out + "*")
        equal(left, [], f"{what}: left behind")
        return p


def recorded_slots(incore, dump):
    """By task: one record a slot, in order; of an inout the one before."""
    slots = {}
    for r in incore.dump("ls", dump)["records"]:
        slots.setdefault(int(r["task_id"], 16), {}).setdefault(r["slot"], r)
        if r["kind"] == "scalar":
            r["bits"] = int(r["raw"], 16) if "raw" in r else r["value"]
    return {task: [by_slot[i] for i in sorted(by_slot)] for task, by_slot in slots.items()}


def view_of(s):
    """Byte offsets of the elements of a recorded slot."""
    size = {"FLOAT32": 4, "BFLOAT16": 2, "FLOAT16": 2, "UINT16": 2, "INT64": 8}[s["dtype"]]
    offsets = [s["start_offset"]]
    for n, stride in zip(s["shape"], s["strides"]):
        offsets = [a + i * stride for a in offsets for i in range(n)]
    return {a * size for a in offsets}


def compare_slots(what, data, streams, slots):
    """What the kernel was given is what is recorded: slots, dtypes, shapes, strides, offsets, scalar bits."""
    equal([s["slot"] for s in data["slots"]], [s["slot"] for s in slots], f"{what}: slots")
    for got, want in zip(data["slots"], slots):
        here = f"{what} slot {want['slot']}"
        equal((got["kind"], got["dtype"]), (want["kind"], want["dtype"]), here)
        stream = streams[0].slots[want["slot"]]
        if want["kind"] == "scalar":
            equal(got["bits"], want["bits"], f"{here}: bits")
            equal(stream["value"], want["bits"], f"{here}: bits in the stream")
        else:
            equal([got[k] for k in ("shape", "strides", "start_offset")], [want[k] for k in ("shape", "strides", "start_offset")],
                  here)
            equal([stream[k] for k in ("shape", "strides", "start")], [want[k] for k in ("shape", "strides", "start_offset")],
                  f"{here}: in the stream")
            check(got["buffer_bytes"] % 1024 == 0 or got["buffer_bytes"] == stream["bytes"], f"{here}: buffer size")


def compare_touches(what, streams, slots, data, loose=()):
    """Every rectangle lies in its buffer and, but for `loose` slots, in its view; roles are kept; every slot is read."""
    by_slot = {s["slot"]: s for s in slots}
    sizes = {s["slot"]: s.get("buffer_bytes") for s in data["slots"]}
    for s in streams:
        for name, operands in s.ops:
            for o in operands:
                if o["what"] != opstream.GM or o["slot"] == 255:
                    continue
                want, (offsets, size) = by_slot[o["slot"]], opstream.touched(o)
                here = f"{what} {name} slot {o['slot']}"
                check(min(offsets) >= 0 and max(offsets) + size <= sizes[o["slot"]], f"{here}: outside the buffer")
                if o["slot"] not in loose:
                    check(offsets <= view_of(want), f"{here}: outside the view")
                check(want["role"] in (("output", "inout") if o["role"] == opstream.DST else ("input", "inout")), f"{here}: role")
    read = {i for s in streams for i, x in s.slots.items() if x["flags"] & opstream.READ}
    return read


def recorded_ops(task, kernel):
    """Of the traces of a backend that computes: the tile instructions in order."""
    with open(os.path.join(REAL, "replay_traces", f"task_{task:#018x}_{kernel}.txt")) as f:
        return [line.split()[1] for line in f if line.startswith("  #")]


SF_OPS = ["TASSIGN"] * 8 + ["TLOAD", "TFILLPAD_INPLACE", "TMULS", "TROWMAX", "TROWEXPANDSUB", "TEXP", "TROWSUM"] + ["TSTORE"] * 3
QK_OPS = ["TASSIGN"] * 5 + ["TLOAD", "TLOAD", "TMOV", "TMOV", "TMATMUL", "TSTORE"]


def tile_ops(stream):
    return [name for name, _ in stream.ops if name.startswith("T") and name != "TCVT"]


def twelve(incore, dump, has_funcs, has_traces):
    """All tasks of one attention run of three blocks, the last with one column."""
    slots = recorded_slots(incore, dump)
    lengths = []
    for i in range(12):
        task, func = RING + i, i % 4
        what = f"{os.path.basename(dump)} task {task:#x}"
        words = ["--dump", dump, "--task", hex(task), "--source", os.path.join(SAMPLE, KERNELS[func])]
        data = incore.replay(*words, *(["--func", str(func)] if has_funcs else []))
        if not data:
            continue
        mine, streams = slots[task], data["streams"]
        equal((data["class"], data["evidence"], len(streams)), ("aic-only" if func in (0, 2) else "aiv-only", "estimate", 1), what)
        equal(streams[0].origin, 1, f"{what}: the arguments are those of a run")
        compare_slots(what, data, streams, mine)
        # the kernel loads the whole tile of a view of fewer columns, and masks: told as a remark
        is_tail = func == 1 and mine[0]["shape"] == [16, 1]
        read = compare_touches(what, streams, mine, data, loose=(0,) if is_tail else ())
        equal(read, {s["slot"] for s in mine}, f"{what}: slots that the kernel reads")
        told = [r for r in data["remarks"] if "outside the view" in r]
        equal(len(told), int(is_tail), f"{what}: remarks about views: {told}")
        check("0 findings" in data["verdict"], f"{what}: {data['verdict']}")
        want = recorded_ops(task, ("qk", "sf", "pv", "up")[func]) if has_traces else \
            {0: QK_OPS, 1: SF_OPS, 2: QK_OPS}.get(func, tile_ops(streams[0]))
        equal(tile_ops(streams[0]), want, f"{what}: tile ops")
        if func == 3:
            lengths.append(len(tile_ops(streams[0])))
    equal(lengths, [19, 44, 46], f"{os.path.basename(dump)}: UP as its scalars say: first, middle, last")


def own(incore):
    """A run of our own example, its dump and its older form."""
    for older in ([], ["--older"]):
        dump = os.path.join(incore.tmp, f"own{len(older)}")
        p = subprocess.run([os.path.join(incore.build, "examples", "paged_attention"), "--dump", dump, "--context", "33", *older],
                           capture_output=True, text=True)
        if not check(p.returncode == 0, f"paged_attention: {p.stderr}"):
            return
        has_funcs = bool(incore.dump("ls", dump, "--by", "task")["tasks"][0]["func_id"])
        twelve(incore, dump, has_funcs, False)
    tail = incore.replay("--dump", os.path.join(incore.tmp, "own0"), "--func", "1", "--task", hex(RING + 9), "--source", SF)
    check(tail and not any("not stated" in r for r in tail["remarks"]), "our own dumps state the sizes of buffers")


def real(incore):
    """Both generations of the real run, against the traces of a backend that computes values."""
    twelve(incore, os.path.join(REAL, "CaseSmall1_level2"), True, True)
    twelve(incore, os.path.join(REAL, "older_CaseSmall1_level2"), False, True)


def real_rows(incore):
    """Facts 1, 2, 3 and 5: which task, which slots, which bits, which buffers."""
    dump = os.path.join(REAL, "CaseSmall1_level2")
    for func in range(4):
        p = incore.refused(2, [f"{RING + func + 4 * k:#018x}" for k in range(3)], "--dump", dump, "--func", str(func), "--source",
                           os.path.join(SAMPLE, KERNELS[func]))
        check(len(set(re.findall(r"0x[0-9a-f]{16}", p.stderr))) == 3, f"func {func}: three tasks: {p.stderr}")
    last = incore.replay("--dump", dump, "--func", "3", "--task", hex(RING + 11), "--source", os.path.join(SAMPLE, KERNELS[3]))
    equal([(s["slot"], s["kind"]) for s in last["slots"]], [(i, "tensor" if i < 7 else "scalar") for i in range(9)], "UP task b")
    equal([s["bits"] for s in last["slots"][7:]], [0, 1], "UP task b: is_first, is_last")
    sf = incore.replay("--dump", dump, "--func", "1", "--task", hex(RING + 1), "--source", SF)
    equal([(s["slot"], s["kind"]) for s in sf["slots"]], [(i, "tensor" if i < 4 else "scalar") for i in range(5)], "SF task 1")
    equal(sf["slots"][4]["bits"], 0x3f800000, "FLOAT32 1.0")
    tail = incore.replay("--dump", dump, "--func", "1", "--task", hex(RING + 9), "--source", descriptor_source())
    figures = told_figures(tail["streams"][0])
    equal(figures[:8], [2, 0, 0, 16, 1, 16, 1, 241], "descriptor of SF task 9 slot 0")
    check(figures[8] >= 1024, "its buffer holds the tile that the kernel loads")
    equal(figures[9:], [0, 1, 0, 1, 0], "start, owner, block 0 of 1, lane 0")
    qk = incore.replay("--dump", dump, "--func", "0", "--task", hex(RING + 4), "--source", QK)
    equal(qk["slots"][1]["start_offset"], 512, "QK task 4 slot 1")
    check(qk["slots"][1]["buffer_bytes"] >= 1536, "QK task 4 slot 1: its buffer")


def descriptor_source():
    return os.path.join(OURS, "aiv", "descriptor.cpp")


def told_figures(stream):
    return [struct.unpack("<f", struct.pack("<I", o["word"] & 0xffffffff))[0] for name, operands in stream.ops if name == "TEXPANDS"
            for o in operands if o["what"] == opstream.SCALAR]


def real_incomplete(incore):
    """Fact 6: a slot was lost: QK, SF and PV are refused, UP is not."""
    dump = os.path.join(REAL, "TestBatchPagedAttention_CaseSmall1")
    for i in range(12):
        task, func = RING + i, i % 4
        words = ["--dump", dump, "--func", str(func), "--task", hex(task), "--source", os.path.join(SAMPLE, KERNELS[func]), "--dry-run"]
        if func < 3:
            incore.refused(3, [f"{task:#018x}", f"slot {(3, 4, 3)[func]}"], *words)
        else:
            check(incore.replay(*words) is not None, f"UP task {task:#x} of the incomplete dump")


def real_blocks(incore):
    """Fact 7: blocks by number, the base of each dispatch, every core's line."""
    dump, source = os.path.join(REAL, "TestSpmdMultiblockMix_Case1"), os.path.join(OURS, "mix", "lines.cpp")
    rows = [0, 0]
    for task, (blocks, base) in enumerate(((2, 0), (8, 6), (12, 30), (24, 66), (48, 138))):
        words = ["--dump", dump, "--func", "0,1,2", "--task", str(task), "--source", source]
        data = incore.replay(*words)
        if not data:
            continue
        equal((data["class"], data["blocks"], data["slots"][1]["bits"]), ("spmd-mix", blocks, base), f"task {task}")
        spmd_lines(f"task {task}", data["streams"], range(blocks), blocks, base)
        rows[0] += sum(s.core == "aic" for s in data["streams"])
        rows[1] += sum(s.core != "aic" for s in data["streams"])
        one = incore.replay(*words, "--block", str(blocks - 1))
        if one:
            spmd_lines(f"task {task}, its last block", one["streams"], [blocks - 1], blocks, base)
    equal(rows, [94, 188], "AIC and AIV rows in all")
    incore.refused(2, ["block 8"], "--dump", dump, "--func", "0,1,2", "--task", "1", "--block", "8", "--source", source)


def spmd_lines(what, streams, blocks, count, base):
    want = [(b, core) for b in blocks for core in ("aic", "aiv0", "aiv1")]
    equal([(s.block, s.core) for s in streams], want, f"{what}: cores")
    for s in streams:
        line = base + 3 * s.block + ("aic", "aiv0", "aiv1").index(s.core)
        stores = [o for name, operands in s.ops if name == "TSTORE" for o in operands if o["what"] == opstream.GM]
        equal((s.blocks, [o["word"] for o in stores]), (count, [line * 64]), f"{what} block {s.block} {s.core}")


def real_mixed(incore):
    """Fact 8: sets of members, geometry without payload, two vector sources."""
    dump = os.path.join(REAL, "TestMixedExample_case1")
    sources = [os.path.join(OURS, n) for n in ("aic/matmul.cpp", "aiv/add.cpp", "aiv/mul.cpp")]
    words = [w for s in sources for w in ("--source", s)]
    tasks = [t["task_id"] for t in incore.dump("ls", dump, "--by", "task")["tasks"] if t["func_id"] == [0, 1, 2]]
    equal(len(tasks), 4, "tasks of {0, 1, 2}")
    for task in tasks:
        data = incore.replay("--dump", dump, "--func", "0,1,2", "--task", task, *words)
        if not data:
            continue
        equal([s["slot"] for s in data["slots"]], list(range(9)), f"mixed task {task}: slots")
        check(any("slot 0" in r and "payload" in r for r in data["remarks"]), f"mixed task {task}: says that there is no payload")
        equal([s.core for s in data["streams"]], ["aic", "aiv0", "aiv1"], f"mixed task {task}: cores")
        mains = [[n for n in tile_ops(s) if n in ("TMATMUL", "TADD", "TMUL")] for s in data["streams"]]
        equal(mains, [["TMATMUL"], ["TADD"] * 2, ["TMUL"] * 2], f"mixed task {task}: one source a core")
    pair = [t["task_id"] for t in incore.dump("ls", dump, "--by", "task")["tasks"] if t["func_id"] == [3, 4]]
    data = incore.replay("--dump", dump, "--func", "4,3", "--task", pair[0], "--source", os.path.join(OURS, "aiv", "mul3.cpp"),
                         "--source", os.path.join(OURS, "aiv", "add0.cpp"))
    if data:  # members are places: 3 ran on lane 0, whichever source is named first
        equal([s["slot"] for s in data["slots"]], list(range(6)), "{3, 4}: slots")
        equal([(s.core, "TMUL" in tile_ops(s)) for s in data["streams"]], [("aiv0", False), ("aiv1", True)], "{3, 4}: two lanes, no cube")
    incore.refused(2, ["{0,1,2}", "{3,4}"], "--dump", dump, "--func", "0,4", *words[:4])


def real_levels(incore):
    """Fact 9: what can be restored, and what has no payload."""
    dump = os.path.join(REAL, "TestArgsDump_level3")
    words, out = ["--dump", dump, "--func", "1", "--dry-run"], incore.place()
    kernel = small_kernel(incore, "one", (0, 2))
    incore.replay(*words, "--task", "1:0", "--source", kernel, "--restore-arg", "0", out=out)
    with open(os.path.join(out, "args", "buffer_00.bin"), "rb") as f:
        equal(set(struct.unpack("<16384f", f.read())), {5.0}, "level 3, task 1:0, slot 0")
    incore.refused(3, ["slot 0", "no bytes"], *words, "--task", "1:1", "--source", kernel, "--restore-arg", "0")
    incore.refused(3, ["slot 2", "scalar"], *words, "--task", "1:1", "--source", kernel, "--restore-arg", "2")
    data = incore.replay(*words, "--task", "1:1", "--source", kernel)
    equal([s["bits"] for s in data["slots"] if s["slot"] == 2], [0x40000000], "FLOAT32 2.0")


def real_deps(incore):
    """Fact 16: with deps.json buffers have their own sizes, and tensors share them."""
    top = os.path.join(incore.tmp, "dfx")
    inner = os.path.join(top, "dfx_outputs", "args_dump")
    os.makedirs(inner)
    for name in ("args_dump.json", "args.bin"):
        shutil.copy(os.path.join(REAL, "CaseSmall1_level2", name), inner)
    shutil.copy(os.path.join(REAL, "CaseSmall1_dfx", "deps.json"), os.path.join(top, "dfx_outputs"))
    tail = incore.replay("--dump", top, "--func", "1", "--task", hex(RING + 9), "--source", SF)
    equal(tail["slots"][0]["buffer_bytes"], 1024, "SF tail: buffer_numel 256")
    check(any("3 tensors: nothing says which share a buffer" in r for r in tail["remarks"]),
          f"deps.json knows what SF reads, not what it makes: {tail['remarks']}")
    for i in (3, 7, 11):
        up = incore.replay("--dump", top, "--func", "3", "--task", hex(RING + i), "--source", os.path.join(SAMPLE, KERNELS[3]))
        allocs = up["streams"][0].slots
        equal([s["buffer"] for s in up["slots"] if s["kind"] == "tensor"],
              list(range(len({s["buffer"] for s in up["slots"] if s["kind"] == "tensor"}))), f"UP task {i}: buffers")
        for s in up["slots"]:
            if s["kind"] == "tensor":
                equal(allocs[s["slot"]]["bytes"], s["buffer_bytes"], f"UP task {i} slot {s['slot']}")


def shared_buffer(incore):
    """Slots of one buffer are one memory, and one buffer to the race detector."""
    spec = [{"kind": "tensor", "index": i, "dtype": "FLOAT32", "shape": [8, 64], "role": role, "fill": "zero", "buffer": i}
            for i, role in enumerate(("inout", "input"))]
    source = os.path.join(OURS, "aiv", "shared.cpp")
    path = os.path.join(incore.tmp, "shared.json")
    for apart in (True, False):
        spec[1]["buffer"] = int(apart)
        with open(path, "w") as f:
            json.dump({"args": spec}, f)
        data = incore.replay("--arg-spec", path, "--source", source)
        names = tile_ops(data["streams"][0])
        equal(names.count("TLOAD"), 0 if apart else 2, "a store through one slot is seen through the other")
        equal("0 findings" in data["verdict"], apart, "a race between two slots of one buffer")
        equal(len({s["buffer"] for s in data["slots"]}), 1 + apart, "buffers in the answer")
        again = os.path.join(data["workspace"], "args.json")  # a spec that says the same, and a dump that does
        tensor = {"kind": "tensor", "dtype": "FLOAT32", "shape": [8, 64], "strides": [64, 1], "numel": 512, "bin_size": 2048,
                  "buffer_size": 2048}
        dump = os.path.join(incore.tmp, f"shared{apart}")
        write_dump(dump, [{**tensor, "arg_index": 0, "role": "inout", "buffer_addr": "0x1000"},
                          {**tensor, "arg_index": 1, "buffer_addr": "0x9000" if apart else "0x1000"}], bytes(2048))
        equal(incore.replay("--dump", dump, "--func", "1", "--source", source)["verdict"], data["verdict"], "shared in a dump")
        equal(incore.replay("--arg-spec", again, "--source", source)["verdict"], data["verdict"], "args.json is a spec")


def write_dump(path, records, payload, has_funcs=True):
    os.makedirs(path)
    for r in records:
        r.setdefault("task_id", "0x0000000100000000")
        if has_funcs:
            r.setdefault("func_id", [1])
        r.setdefault("role", "input")
        r.setdefault("stage", "before_dispatch")
        for key, value in (("is_contiguous", True), ("start_offset", 0), ("bin_offset", 0), ("bin_size", 0), ("truncated", False),
                           ("overwritten", False), ("shape", []), ("strides", []), ("numel", 1)):
            r.setdefault(key, value)
    with open(os.path.join(path, "args.bin"), "wb") as f:
        f.write(payload)
    with open(os.path.join(path, "args_dump.json"), "w") as f:
        json.dump({"run_dir": "args_dump", "bin_format": {"type": "logical_contiguous", "byte_order": "little_endian"},
                   "dump_args_level": 2, "total_args": len(records), "dropped_records": 0, "dropped_overwrite": 0,
                   "bin_file": "args.bin", "args": records}, f)


def small_kernel(incore, name, reads, where="aiv"):
    path = os.path.join(incore.tmp, "kernels", where, f"{name}.cpp")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write('extern "C" void kernel_entry(int64_t *args) { %s }\n' % " ".join(f"(void)args[{i}];" for i in reads))
    return path


def blocks(incore):
    """Blocks with scalars of their own, a dispatch by its number, and the lanes of a source that states its core."""
    dump, source = os.path.join(incore.tmp, "blocks"), os.path.join(OURS, "mix", "lines.cpp")
    tensor = {"kind": "tensor", "dtype": "FLOAT32", "shape": [288], "strides": [1], "numel": 288, "bin_size": 1152, "role": "inout",
              "arg_index": 0}
    records = []
    for b, base in enumerate((2, 2, 5)):
        where = {"block_idx": b, "block_num": 3, "dispatch_id": 40 + b}
        records += [{**tensor, **where}, {"kind": "scalar", "arg_index": 1, "dtype": "INT64", "value": base, **where}]
    write_dump(dump, records, bytes(1152))
    words = ["--dump", dump, "--func", "1", "--source", source]
    data = incore.replay(*words)
    equal([(s.block, s.core) for s in data["streams"]], [(b, c) for b in range(3) for c in ("aic", "aiv0", "aiv1")], "cores of three blocks")
    for base, of in ((2, (0, 1)), (5, (2,))):
        spmd_lines(f"scalar {base}", [s for s in data["streams"] if s.block in of], of, 3, base)
    with open(os.path.join(data["workspace"], "provenance.json")) as f:
        equal(json.load(f)["scalars_of_blocks"], [{"block": 2, "slot": 1, "bits": f"{5:#018x}"}], "what differs is told")
    one = incore.replay("--dump", dump, "--func", "1", "--source", source, "--dispatch", "42")
    spmd_lines("dispatch 42", one["streams"], (2,), 3, 5)
    aiv = incore.replay(*words, "--block", "1", "--core", "aiv")
    equal([(s.block, s.core) for s in aiv["streams"]], [(1, "aiv0")], "--core aiv: one side of it")
    incore.refused(2, ["no task fits"], *words, "--dispatch", "77")


def lanes(incore):
    """Members are places: AIC, AIV0, AIV1. A lane that never ran does not run again, and races with nobody."""
    tensor = {"kind": "tensor", "arg_index": 0, "dtype": "FLOAT32", "shape": [16], "strides": [1], "numel": 16, "bin_size": 64}
    sources = {"aic": small_kernel(incore, "cube", (0,), "aic"), "aiv": small_kernel(incore, "vec", (0,)),
               "aiv1": small_kernel(incore, "vec1", (0,))}
    for n, (members, funcs, given, want) in enumerate((
            ([0, 1, -1], "0,1", ("aic", "aiv"), ["aic", "aiv0"]), ([0, -1, 1], "0,1", ("aic", "aiv"), ["aic", "aiv1"]),
            ([22, 23, 23], "22,23", ("aic", "aiv"), ["aic", "aiv0", "aiv1"]), ([0, 1], "0,1", ("aic", "aiv"), ["aic", "aiv0"]),
            ([-1, 5, 5], "5", ("aiv",), ["aiv0", "aiv1"]), ([-1, -1, 5], "5", ("aiv",), ["aiv1"]), ([-1, 5, -1], "5", ("aiv",), ["aiv0"]),
            ([5], "5", ("aiv",), ["aiv0"]), ([0, 1, 2], "2,0,1", ("aiv1", "aic", "aiv"), ["aic", "aiv0", "aiv1"]))):
        dump = os.path.join(incore.tmp, f"lanes{n}")
        write_dump(dump, [{**tensor, "func_id": members}], bytes(64))
        words = ["--dump", dump, "--func", funcs, *[w for g in given for w in ("--source", sources[g])]]
        data = incore.replay(*words)
        equal(data and [s.core for s in data["streams"]], want, f"members {members}")
        p = subprocess.run(["./run_model.sh", "again"], cwd=data["workspace"], env={**incore.env, "PATH": incore.build + ":" + incore.env["PATH"]},
                           capture_output=True, text=True)
        again = os.path.join(data["workspace"], "again", "ops.opstream")
        equal(p.returncode == 0 and [s.core for s in opstream.read(again)], want, f"members {members}, by hand: {p.stderr}")
        made = incore.replay(*words, "--backend", "msprof", "--dry-run")
        with open(os.path.join(made["workspace"], "replay_kernel.cpp")) as f:
            text = f.read()
        vector = [c for c in want if c != "aic"]
        guards = [f"if (lane == {c[3]})" for c in vector] if len(want) > 1 or vector == ["aiv1"] else ["if (lane != 0)"]
        for guard in guards if len(vector) == 1 or len(given) == 3 else []:
            check(guard in text, f"members {members}: no '{guard}' in {text}")
        equal(text.count("if (lane") == 0, len(vector) == 2 and len(given) < 3, f"members {members}: guards of {text}")
    incore.refused(2, ["lane that another"], "--arg-spec", os.path.join(data["workspace"], "args.json"), "--source", sources["aiv"],
                   "--source", sources["aiv1"], "--core", "aiv1,aiv1")


def lane_count(incore):
    """get_subblockdim() is the number of lanes that the kernel runs on."""
    path = small_kernel(incore, "dim", ())
    with open(path, "w") as f:
        f.write("#include <pto/pto-inst.hpp>\n"
                'extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)\n'
                "{ (void)args[0]; for (int i = 0; i < get_subblockdim(); i++) pipe_barrier(PIPE_ALL); }\n")
    spec = os.path.join(incore.tmp, "dim.json")
    with open(spec, "w") as f:
        f.write('[{"kind": "scalar", "index": 0, "dtype": "INT64", "value": 0}]')
    for core, want in (("aiv", [1]), ("aiv01", [2, 2]), ("mix", [2, 2, 2]), ("aic", [1])):
        data = incore.replay("--arg-spec", spec, "--source", path, "--core", core)
        equal(data and [[n for n, _ in s.ops].count("pipe_barrier") for s in data["streams"]], want, f"lanes of {core}")


def compile_options(incore):
    """The descriptor's older name; macros for the kernel's compiler, in every form of a workspace."""
    spec = os.path.join(incore.tmp, "spec.json")
    with open(spec, "w") as f:
        json.dump([{"kind": "tensor", "index": 0, "dtype": "FLOAT32", "shape": [16, 16], "fill": "zero", "colour": 1, "shpae": [2]}], f)
    for name in ("Tensor", "ChipTensor"):
        source = os.path.join(incore.tmp, "kernels", "aiv", f"{name}.cpp")
        os.makedirs(os.path.dirname(source), exist_ok=True)
        with open(source, "w") as f:
            f.write('#include <pto/pto-inst.hpp>\n#include "tensor.h"\n#include "trips.h"\nextern "C" void kernel_entry(int64_t *args) {\n'
                    f'\t__gm__ {name} *t = reinterpret_cast<__gm__ {name} *>(args[0]);\n\tfor (int i = 0; i < TRIPS + MORE; i++)\n'
                    '\t\tdsb((mem_dsb_t)(t->shapes[0] == 16));\n}\n')
        headers = os.path.join(incore.tmp, "headers")
        os.makedirs(headers, exist_ok=True)
        with open(os.path.join(headers, "trips.h"), "w") as f:
            f.write("#define MORE 1\n")
        words = ["--arg-spec", spec, "--source", source, "-D", "TRIPS=2", "-D", "UNUSED", "-I", headers]
        data = incore.replay(*words)
        equal(data and [n for n, _ in data["streams"][0].ops].count("dsb"), 3, f"{name}, -D and -I")
        with open(os.path.join(data["workspace"], "run_model.sh")) as f:
            check("--define TRIPS=2 --define UNUSED" in f.read(), "run_model.sh has the macros")
        check(any('"colour"' in r for r in data["remarks"]) and any('"shpae"' in r for r in data["remarks"]), f"{data['remarks']}")
        made = incore.replay(*words, "--backend", "msprof", "--dry-run")
        with open(os.path.join(made["workspace"], "replay_kernel.cpp")) as f:
            check("#define TRIPS 2\n#define UNUSED 1\n" in f.read(), "msprof: the macros")
    incore.refused(2, ["--define"], *words[:4], "-D", "a b", "--backend", "msprof", "--dry-run")


def scalar_stores(incore):
    """A store to a tensor without values needs none; a read of what was not stored does."""
    spec = os.path.join(incore.tmp, "spec.json")
    with open(spec, "w") as f:
        json.dump([{"kind": "tensor", "index": i, "dtype": "INT32", "shape": [64], "role": "input", "fill": "none", "buffer": i // 2}
                   for i in range(3)], f)
    head = '#include <pto/pto-inst.hpp>\n#include "tensor.h"\nextern "C" void kernel_entry(int64_t *args) {\n' \
           "\tint32_t *p = (int32_t *)((ChipTensor *)args[0])->buffer.addr, *q = (int32_t *)((ChipTensor *)args[1])->buffer.addr;\n" \
           "\tint32_t *other = (int32_t *)((ChipTensor *)args[2])->buffer.addr;\n\t(void)p; (void)q; (void)other;\n"
    for n, (text, stop) in enumerate((("p[3] = 2; for (int i = 0; i < q[3]; i++) dsb(DSB_ALL);", ""),
                                      ("*(int64_t *)(p + 4) = 3; other[0] = 1; for (int i = 0; i < p[4] + p[5]; i++) dsb(DSB_ALL);", ""),
                                      ("p[3] = 2; if (p[2]) dsb(DSB_ALL);", "byte 8 of slot 0"),
                                      ("((char *)p)[12] = 2; if (((char *)q)[13]) dsb(DSB_ALL);", "byte 13 of slot 1"),
                                      ("p[64] = 1;", "byte 256 of slot 0"), ("if (other[0]) dsb(DSB_ALL);", "reads byte 0 of slot 2"))):
        source = os.path.join(incore.tmp, "kernels", "aiv", f"store{n}.cpp")
        os.makedirs(os.path.dirname(source), exist_ok=True)
        with open(source, "w") as f:
            f.write(head + "\t" + text + "\n}\n")
        p = incore.run("replay", "--arg-spec", spec, "--source", source, "-o", out := incore.place())
        equal(p.returncode, 3 if stop else 0, f"{text}: {p.stderr}")
        check(stop in p.stderr, f"{text}: {p.stderr}")
        if not stop:
            equal([n for n, _ in opstream.read(os.path.join(out, "ops.opstream"))[0].ops].count("dsb"), 2 + n, text)


def scalar_pipe(incore):
    """Scalar loads and stores in global memory are ops and cost what the profile says; the first load of a line waits."""
    spec = os.path.join(incore.tmp, "spec.json")
    with open(spec, "w") as f:
        json.dump([{"kind": "tensor", "index": i, "dtype": "INT32", "shape": [1024], "role": "inout", "fill": "zero"} for i in range(2)], f)
    head = '#include <pto/pto-inst.hpp>\n#include "tensor.h"\nextern "C" void kernel_entry(int64_t *args) {\n' \
           "\tint32_t *p = (int32_t *)((ChipTensor *)args[0])->buffer.addr, *q = (int32_t *)((ChipTensor *)args[1])->buffer.addr;\n\tint s = 0;\n"
    launch, fetch = 948, 72  # of profiles/a2a3.yaml; an op of the recorder is fetched where it is run first
    for n, (text, ops, cycles) in enumerate((
            ("for (int i = 0; i < 1000; i++) p[i] = i;", {"scalar_store": 1000}, 4000),
            ("p[0] = 1; s = p[0] + p[1];", {"scalar_store": 1, "scalar_load": 2}, 4 + 12),
            ("s = q[0] + q[1] + q[16];", {"scalar_load": 3}, 550 + 6 + 550),
            ("s = q[0]; dcci(q, SINGLE_CACHE_LINE); s += q[1];", {"scalar_load": 2, "dcci": 1}, fetch + 550 + 20 + 550),
            ("for (int i = 0; i < 5; i++)\n\t\tset_mask_norm();", {"set_mask_norm": 5}, fetch + 5 * 4 + 4 * 12))):
        source = os.path.join(incore.tmp, "kernels", "aiv", f"scalar{n}.cpp")
        os.makedirs(os.path.dirname(source), exist_ok=True)
        with open(source, "w") as f:
            f.write(head + "\t" + text + "\n\t(void)s; (void)p; (void)q;\n}\n")
        data = incore.replay("--arg-spec", spec, "--source", source)
        names = [name for name, _ in data["streams"][0].ops]
        equal({k: names.count(k) for k in set(names)}, ops, f"{text}: ops")
        check(f": {launch + cycles} cycles" in data["verdict"], f"{text}: {data['verdict']}")


def wrong_core(incore):
    """A core is checked against its pipes."""
    with open(os.path.join(incore.tmp, "spec.json"), "w") as f:
        json.dump([{"kind": "tensor", "index": i, "dtype": "FLOAT32", "shape": [16, 16], "fill": "zero"}
                   for i in range(5)], f)
    for source, core, texts in ((QK, "aiv", ["op of the cube core", "qk.cpp"]), (SF, "aic", ["op of the vector core", "sf.cpp"])):
        p = incore.run("replay", "--arg-spec", f.name, "--source", source, "--core", core, "--set-arg", "3=1", "-o", incore.place())
        equal(p.returncode, 3, f"{source} on {core}")
        for t in texts:
            check(t in p.stderr, f"{source} on {core}: no '{t}' in {p.stderr}")


def cases(incore):
    """--case: the source of a func id or a name out of a kernel_config.py that is parsed and never run; other names of options."""
    build = os.path.join(incore.tmp, "build")
    os.makedirs(build)
    config = os.path.join(build, "kernel_config.py")
    ran = os.path.join(incore.tmp, "ran")
    with open(config, "w") as f:
        f.write(f"""from pathlib import Path
import os, nosuchmodule
open({ran!r}, "w").write("no")
_ROOT = Path(__file__).resolve().parent
_K = {SAMPLE!r}
KERNELS = [
    {{"func_id": 0, "name": "QK", "source": str(Path(_K) / "aic" / "qk.cpp"), "core_type": "aic", "signature": [nosuchmodule.IN]}},
    {{"func_id": 1, "name": "SF", "source": os.path.join(_K, "aiv", "sf.cpp"), "core_type": "aiv"}},
    {{"func_id": 7, "name": "own", "source": str(_ROOT / "own.cpp"), "core_type": "aiv"}},
]
""")
    words = ["--dump", os.path.join(DUMPS, "own"), "--dry-run"]
    for more in (["--case", config, "--func-id", "1"], ["--case", build, "--kernel", "SF"], ["--kernel-source", SF, "--func", "1"]):
        data = incore.replay(*words, *more)
        equal(data and (data["kernel"], data["task"]), ("sf", f"{RING + 1:#018x}"), f"{more}")
    check(not os.path.exists(ran), "the file was run")
    shutil.copy(SF, os.path.join(build, "own.cpp"))  # no folder and no dump says where it runs: the list of the build does
    spec = os.path.join(data["workspace"], "args.json")
    data = incore.replay("--arg-spec", spec, "--case", config, "--kernel", "own", "--dry-run")
    equal(data and (data["class"], data["class_because"]), ("aiv-only", "its core type is stated as aiv"), "--case own")
    p = incore.run("replay", *words, "--case", config, "--func", "1", "--output-dir", out := incore.place(), "--platform", "a5sim", "--backend",
                   "msprof", "--timeout", "7", "--device", "3", "--json")
    equal((p.returncode, json.loads(p.stdout)["data"]["target"], json.loads(p.stdout)["data"]["workspace"]), (0, "a5", out), p.stderr)
    with open(os.path.join(out, "run_collect.sh")) as f:
        text = f.read()
    check("--timeout=7 " in text and "export ACL_DEVICE_ID=3\n" in text, text)
    for more, status, texts in ((["--case", config, "--func", "5"], 2, ["0 QK, 1 SF, 7 own"]), (["--case", config, "--kernel", "UP"], 2, ["no kernel UP"]),
                                (["--kernel", "SF"], 2, ["--case"]), (["--case", config, "--func", "1", "--source", SF], 2, ["no --source"]),
                                (["--case", config, "--func", "1", "--device", "64"], 2, ["--device"]),
                                (["--case", SF, "--func", "1"], 3, ["python3 says"]), (["--case", incore.tmp, "--func", "1"], 3, ["kernel_config.py"])):
        incore.refused(status, texts, *words, *more)
    incore.refused(5, ["python3"], *words, "--case", config, "--func", "1", env={"PATH": incore.tmp})


def scene_test(incore):
    """--import-case: a module that makes its lists is imported, behind walls, with stand-ins for what is not installed."""
    home = os.path.join(incore.tmp, "scene")
    os.makedirs(os.path.join(home, "k"))
    shutil.copy(SF, os.path.join(home, "k", "SF.cpp"))
    secret, module = os.path.join(incore.tmp, "secret"), os.path.join(home, "test_scene.py")
    with open(secret, "w") as f:
        f.write("secret")
    with open(module, "w") as f:
        f.write(f"""import os, nosuchpackage
from nosuchpackage.inner import SceneTestCase, scene_test
print("9\tprinted\taiv\tno.cpp")
K = [dict(func_id=i, name=n, source=os.path.join("k", n + ".cpp"), core_type="aiv") for i, n in ((1, "SF"), (2, "twice"))]
@scene_test(level=2)
class TestScene(SceneTestCase):
    CALLABLE = {{"incores": K, "signature": [nosuchpackage.IN] * 2}}
class Other:
    CALLABLE = [{{"func_id": 2, "name": "twice", "source": "elsewhere.cpp"}}]
def attempt(name, call):
    try:
        call()
        K.append(dict(func_id=7, name=name, source="x.cpp"))
    except OSError:
        pass
attempt("read", lambda: open({secret!r}).read())
attempt("wrote", lambda: open({secret!r}, "w"))
attempt("environment", lambda: os.environ["SECRET"] if "SECRET" in os.environ else open("/nosuch"))
""")
    words = ["--dump", os.path.join(DUMPS, "own"), "--dry-run", "--case", module]
    incore.refused(2, ["there are 2 twice\n"], *words, "--func", "1")  # only with --import-case is it run
    data = incore.replay(*words, "--import-case", "--func", "1")
    equal(data and (data["kernel"], data["class"]), ("SF", "aiv-only"), "a kernel of a scene test")
    made = incore.replay(*words, "--import-case", "--func", "1", "--backend", "msprof")
    with open(os.path.join(made["workspace"], "insight_trace_config.json")) as f:
        config = json.load(f)
    equal((config["test_module"], config["kernel"]["func_id"], config["kernel"]["name"]), (module, 1, "SF"), "the configuration as asked")
    incore.refused(2, ["there are 1 SF, 2 twice, 2 twice\n"], *words, "--import-case", "--func", "7", env={"SECRET": "x"})
    incore.refused(2, ["elsewhere.cpp"], *words, "--import-case", "--kernel", "twice")
    incore.refused(5, ["python3"], *words, "--import-case", "--func", "1", env={"PATH": incore.tmp})
    incore.refused(2, ["--case"], "--dump", os.path.join(DUMPS, "own"), "--import-case", "--func", "1", "--source", SF)
    with open(secret) as f:
        equal(f.read(), "secret", "what a module may not write")


PAGED = """from nosuchpackage import SceneTestCase, D
class TestPaged(SceneTestCase):
    CALLABLE = {"incores": [
        {"func_id": 0, "name": "QK", "source": "kernels/aic/qk.cpp", "core_type": "aic", "signature": [D.IN, D.IN, D.OUT]},
        {"func_id": 1, "name": "SF", "source": "kernels/aiv/sf.cpp", "core_type": "aiv"},
        {"func_id": 2, "name": "PV", "source": "kernels/aic/pv.cpp", "core_type": "aic"},
        {"func_id": 3, "name": "UP", "source": "kernels/aiv/up.cpp", "core_type": "aiv"}]}
    CASES = [
        {"name": "Case1", "platforms": ["a2a3"], "params": {"batch": 2, "num_heads": 16, "head_dim": 128, "block_size": 128, "dtype": D.bf16}},
        {"name": "Small", "platforms": ["a2a3", "a2a3sim"], "manual": True, "params": {"num_heads": 16, "head_dim": 16, "block_size": 16}},
    ]
"""


def paged_module(incore):
    """A scene test as people have it, beside our kernels of the sample."""
    home = os.path.join(incore.tmp, "paged_attention")
    if not os.path.isdir(home):
        shutil.copytree(SAMPLE, os.path.join(home, "kernels"))
        with open(os.path.join(home, "test_paged_attention.py"), "w") as f:
            f.write(PAGED)
    return home, os.path.join(home, "test_paged_attention.py")


def modules(incore):
    """A module as the argument: its kernels and cases are read without running it; the sizes are those of the case."""
    home, module = paged_module(incore)
    p = incore.run("replay", module, "--list-cases", "--json")
    got = json.loads(p.stdout)["data"]["cases"]
    equal([(c["name"], c["platforms"], c["is_manual"]) for c in got], [("Case1", "a2a3", False), ("Small", "a2a3 a2a3sim", True)], p.stderr)
    check("head_dim=128" in got[0]["params"] and "dtype" not in got[0]["params"], got)
    for more, shapes in ((["--func-id", "0"], [[16, 128], [128, 128], [16, 128]]), (["--func-id", "0", "--case", "Case1"], [[16, 128], [128, 128], [16, 128]]),
                         (["--kernel", "PV", "--case", "Small"], [[16, 16]] * 3), (["--kernel-source", SF, "--case", "Case1"], [[16, 128]] * 2 + [[16]] * 2)):
        data = incore.replay(module, *more, "--dry-run")
        equal([s["shape"] for s in data["slots"] if s["kind"] == "tensor"], shapes, f"{more}")
        check(any(("Small, 16 x 16" if "Small" in more else "Case1, 128 x 128") in r for r in data["remarks"]), data["remarks"])
    dynamic = os.path.join(home, "test_dynamic.py")
    with open(dynamic, "w") as f:
        f.write(PAGED.replace("from nosuchpackage", "import os\nfrom nosuchpackage").replace("    CASES = [", "    CASES = [dict(name='Made', params=dict(head_dim=os.getpid() * 0 + 64, block_size=64, num_heads=16))] + ["))
    incore.refused(2, ["no case Made", "are computed: --import-case"], dynamic, "--case", "Made", "--func-id", "0", "--dry-run")
    data = incore.replay(dynamic, "--import-case", "--case", "Made", "--func-id", "0", "--dry-run")
    equal([s["shape"] for s in data["slots"]], [[16, 64], [64, 64], [16, 64]], "a case that the module computes")
    for words, status, texts in (([module, "--case", "Nope", "--func-id", "0"], 2, ["no case Nope; there are Case1, Small"]),
                                 (["--case", "Case1", "--func-id", "0"], 2, ["no such file", "incore replay MODULE.py --case Case1"]),
                                 (["--case", home, "--func-id", "0"], 3, ["kernel_config.py", "test_paged_attention.py", "incore replay MODULE.py"]),
                                 ([module, "--func-id", "9"], 2, ["0 QK, 1 SF, 2 PV, 3 UP"]), ([module], 2, ["one of --func, --kernel and --source"])):
        incore.refused(status, texts, *words, "--dry-run")
    for word, command in (("insight_trace", "incore replay"), ("simpler_setup.tools.insight_trace", "incore replay"), ("incore_profile.py", "incore profile"),
                          ("clean_sim_trace", "incore clean")):
        p = incore.run(word, "a b", "--case", "Case1")
        check(p.returncode == 2 and f"type: {command} 'a b' --case Case1" in p.stderr, p.stderr)


def from_simpler(incore):
    """Every command of docs/from-simpler.md runs."""
    home, _ = paged_module(incore)
    shutil.copytree(os.path.join(DUMPS, "own"), os.path.join(home, "dump"))
    with open(os.path.join(home, "args.json"), "w") as f:
        json.dump({"args": [{"kind": "tensor", "index": i, "dtype": d, "shape": s} for i, d, s in
                            ((0, "FLOAT32", [16, 16]), (1, "BFLOAT16", [16, 16]), (2, "FLOAT32", [16]), (3, "FLOAT32", [16]))] +
                  [{"kind": "scalar", "index": 4, "dtype": "FLOAT32", "value": 1.0, "pack_mode": "bits"}]}, f)
    sys.path.insert(0, os.path.join(ROOT, "tests", "profile"))
    import build as make
    make.put(os.path.join(home, "build", "ptoas"), "add", make.VECTOR, make.VECTOR_PTO)
    with open(os.path.join(ROOT, "docs", "from-simpler.md")) as f:
        text = f.read()
    lines = [line for block in re.findall(r"```\n(.*?)```", text, re.S) for line in block.splitlines()]
    check(len(lines) >= 12, f"{len(lines)} commands")
    for line in lines:
        p = incore.run(*line.split()[1:], cwd=home)
        equal(p.returncode, 0, f"{line}: {p.stderr.strip()[:400]}")
    told = set(re.findall(r"`(--[a-z-]+)", text))
    for verb in ("replay", "profile", "clean"):
        known = incore.run(verb, "--help=json").stdout
        for line in (x for x in lines if x.split()[1] == verb):
            for option in (w for w in line.split() if w.startswith("--")):
                check(f'"{option[2:]}"' in known, f"{line}: {option}")
    check(len(told) > 40, f"{len(told)} options on the page")


def dispatches(incore):
    """The dump of dispatches: every kind of slot, both names of its number, and what is said when none or several fit."""
    folder = os.path.join(incore.tmp, "x2")
    os.makedirs(folder)
    path, source = os.path.join(folder, "kernel_args_dump.json"), small_kernel(incore, "x2", (0, 2, 3))
    tensor = {"kind": "tensor", "dtype": "FLOAT32", "shape": [16], "strides": [1], "role": "input"}

    def write(key, contexts, more=(), top=None):
        slots = [{**tensor, key: i} for i in (0, 1, 2)] + [{"kind": "scalar", key: 3, "value": 7}] + \
                [{"kind": k, key: i, "value": 1} for k, i in contexts] + list(more)
        d = {"dispatch_id": 5, "func_id": 1, "task_id": "0x7", "slots": slots, **(top or {})}
        with open(path, "w") as f:
            json.dump({"dispatches": [d, {**d, "dispatch_id": 6, "task_id": "0x8"}]}, f)

    words = ["--dump", folder, "--func", "1", "--source", source, "--core", "aiv", "--dry-run"]
    for key in ("index", "arg_index"):
        for kinds in (("context", "context"), ("local_context", "global_context"), ("LOCAL_CONTEXT", "Global_Context")):
            write(key, zip(kinds, (48, 49)))
            data = incore.replay(*words, "--dispatch-id", "5", "--force")
            equal(data and [s["slot"] for s in data["slots"]], [0, 1, 2, 3], f"{key}, {kinds}")
    write("index", (), more=[{"kind": "hyperslot", "index": 4}])
    data = incore.replay(*words, "--dispatch-id", "5", "--force")
    equal(data and [s["slot"] for s in data["slots"]], [0, 1, 2, 3], "an unknown kind is a note")
    p = incore.run("dump", "check", folder)
    check("unknown-kind" in p.stdout + p.stderr and "hyperslot" in p.stdout + p.stderr, p.stdout + p.stderr)
    write("index", (), more=[{**tensor, "index": 4, "arg_index": 4}])
    incore.refused(3, ["both index and arg_index"], *words)
    write("index", (), more=[{"kind": "local_context", "index": 5}])
    incore.refused(3, ["a context is in slot 48 or 49"], *words)
    write("index", (), more=[{**tensor, "index": -1}])
    incore.refused(3, ["index -1 is no slot: slots are 0 to 49"], *words)
    write("arg_index", ())
    incore.refused(2, ["2 tasks fit", "0x0000000000000007 (dispatch 5, slots 0 FLOAT32[16] before", "dispatch 6"], *words)
    incore.refused(2, ["no task fits", "dispatch 5; dispatch 6"], *words, "--dispatch-id", "9")
    incore.refused(2, ["none has a dispatch id"], "--dump", os.path.join(DUMPS, "g11"), "--func", "1", "--source", SF, "--dispatch-id", "3", "--dry-run")
    write_dump(os.path.join(incore.tmp, "minus"), [{**tensor, "numel": 16, "bin_size": 0, "arg_index": -1}], b"")
    incore.refused(3, ["task 0x", "arg_index -1 is no slot"], "--dump", os.path.join(incore.tmp, "minus"), "--func", "1", "--source", source, "--dry-run")
    empty = os.path.join(incore.tmp, "emptydump")
    os.makedirs(empty)
    incore.refused(3, ["args_dump.json", "tensor_dump_*.json", "kernel_args_dump.json", "dfx_outputs/tensor_dump", "args.log"], "--dump-dir", empty, "--func", "1",
                   "--source", source, "--dry-run")
    spec = os.path.join(incore.tmp, "contexts.json")
    for slot in (48, 49):
        with open(spec, "w") as f:
            json.dump({"args": [{"kind": "scalar", "index": slot, "dtype": "UINT64", "value": 1}]}, f)
        incore.refused(3, [f"slot {slot}"], "--arg-spec", spec, "--source", source, "--dry-run")


def without_funcs(incore):
    """A dump without func ids: --func-id cannot be compared, so the task is found by the slots that the source reads."""
    _, module = paged_module(incore)
    dump = os.path.join(incore.tmp, "nofuncs")
    shutil.copytree(os.path.join(DUMPS, "own"), dump)
    with open(os.path.join(dump, "args_dump.json")) as f:
        d = json.load(f)
    keep = ("task_id", "arg_index", "role", "stage", "kind", "dtype", "value", "is_contiguous", "shape", "strides", "start_offset", "numel", "bin_offset", "bin_size",
            "truncated", "overwritten")
    with open(os.path.join(dump, "tensor_dump.json"), "w") as f:
        json.dump({"bin_file": "args.bin", "tensors": [{k: r[k] for k in keep if k in r} for r in d["args"]]}, f)
    os.remove(os.path.join(dump, "args_dump.json"))
    for func, n in ((1, 5), (3, 9)):
        data = incore.replay(module, "--func-id", str(func), "--dump-dir", dump, "--dry-run")
        equal(data and len(data["slots"]), n, f"func {func} by its slots")
    p = incore.refused(2, ["tasks fit", "BFLOAT16[16,16]"], module, "--func-id", "0", "--dump-dir", dump, "--dry-run")
    first = re.search(r"0x[0-9a-f]{16}", p.stderr)
    data = incore.replay(module, "--func-id", "0", "--dump-dir", dump, "--task-id", first.group(), "--dry-run") if first else None
    equal(data and data["task"], first and first.group(), "one of them is named")


def supplied(incore):
    """No dump, no arg-spec: built-in arguments of the paged-attention sample, or what a .pto tells of typed parameters."""
    for func, kernel in KERNELS.items():
        data = incore.replay("--source", os.path.join(SAMPLE, kernel))
        equal([r for r in data["remarks"] if "recipe" in r][0].split()[5], os.path.basename(kernel)[:2].upper(), kernel)
        check("0 findings" in data["verdict"] and len(data["streams"]) == 1, data["verdict"])
    data = incore.replay("--source", os.path.join(SAMPLE, KERNELS[3]), "--set-arg", "7=1", "--set-arg", "8=0", "--dry-run")
    equal([s.get("bits") for s in data["slots"]][7:], [1, 0], "scalars over a recipe")
    equal([s["from"] for s in data["slots"]], ["recipe"] * 7 + ["set"] * 2, "where the values of a recipe come from")
    with open(os.path.join(data["workspace"], "provenance.json")) as f:
        equal([s["from"] for s in json.load(f)["slots"]], ["recipe"] * 7 + ["set"] * 2, "the same in the provenance")
    typed = os.path.join(incore.tmp, "twice.cpp")
    with open(typed, "w") as f:
        f.write("""#include <pto/pto-inst.hpp>
using namespace pto;
__global__ AICORE void twice(__gm__ float *x, __gm__ float *y, int64_t row)
{
	using G = GlobalTensor<float, Shape<1, 1, 1, 16, 64>, Stride<1024, 1024, 1024, 64, 1>>;
	Tile<TileType::Vec, float, 16, 64> t;
	G in(x + row * 64), out(y);
	TASSIGN(t, 0);
	TLOAD(t, in);
	set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
	wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
	TADD(t, t, t);
	set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	TSTORE(out, t);
}
""")
    incore.refused(2, ["nothing says what the kernel is given"], "--source", typed)
    with open(typed[:-3] + "pto", "w") as f:
        f.write("""module attributes {pto.target_arch = "a5"} {
  func.func @twice(%arg0: !pto.ptr<f32>, %arg1: !pto.ptr<f32>, %arg2: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %c1 = arith.constant 1 : index
    %0 = pto.make_tensor_view %arg0, shape = [%c16, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
    %1 = pto.make_tensor_view %arg1, shape = [%c16, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
    return
  }
}
""")
    data = incore.replay("--source", typed, out=(out := incore.place()))
    equal((data["kernel"], data["class"], data["target"], [s.get("buffer_bytes") for s in data["slots"]]), ("twice", "aiv-only", "a5", [4096, 4096, None]), data)
    check("VECTOR" in data["verdict"] or "MTE" in data["verdict"], data["verdict"])
    equal(data["remarks"], [], "nothing is recorded of what is made up")
    p = subprocess.run([os.path.join(out, "run_model.sh"), incore.place()], env={**incore.env, "PATH": incore.build + ":" + incore.env["PATH"]},
                       capture_output=True, text=True)
    check(p.returncode == 0 and data["verdict"].split(";")[0] in p.stdout, p.stdout + p.stderr)
    out = incore.place()
    p = incore.run("replay", "--source", typed, "--backend", "ptoas", "--target", "a2a3", "--dry-run", "-o", out, "--json")
    equal((p.returncode, json.loads(p.stdout)["data"]["target"]), (0, "a2a3"), p.stderr)
    with open(os.path.join(out, "replay_kernel.cpp")) as f:
        check("twice_entry.cpp" in f.read(), "the project runs the wrapper")
    for backend, source in (("ptoas", SF), ("simpler", typed)):
        incore.refused(3, ["kernel_entry"], "--source", source, "--backend", backend, "--dry-run")
    incore.refused(2, ["one --source"], "--dump", os.path.join(DUMPS, "own"), "--func", "1", "--source", SF, "--backend", "ptoas", "--dry-run")


def manifest(incore):
    """Facts 12 and 17: context slots are left out, an unknown stage is told, bytes go back through their view."""
    dump, source = os.path.join(incore.tmp, "vector"), small_kernel(incore, "vector", (0, 2, 3))
    tensor = {"kind": "tensor", "dtype": "FLOAT32", "shape": [16], "strides": [1], "numel": 16, "bin_size": 64}
    write_dump(dump, [
        {**tensor, "arg_index": 2}, {**tensor, "arg_index": 0, "dtype": "BFLOAT16", "shape": [16, 16], "strides": [16, 1],
                                     "numel": 256, "bin_offset": 64, "bin_size": 512},
        {"kind": "scalar", "arg_index": 3, "dtype": "UINT64", "value": 5}, {"kind": "scalar", "arg_index": 48, "dtype": "UINT64", "value": 1},
        {"kind": "scalar", "arg_index": 49, "dtype": "UINT64", "value": 2}, {**tensor, "arg_index": 5, "stage": "after_dispatch"}],
        bytes(576))
    incore.refused(3, ["0x0000000100000000", "slot 1"], "--dump", dump, "--func", "1", "--source", source, "--dry-run")
    data = incore.replay("--dump", dump, "--func", "1", "--source", source, "--dry-run", "--force")
    equal([s["slot"] for s in data["slots"]], [0, 2, 3], "slots of the manifest vector")
    check(any("slot 5" in r for r in data["remarks"]), f"slot 5 is told: {data['remarks']}")
    dump, out = os.path.join(incore.tmp, "strided"), incore.place()
    write_dump(dump, [
        {"kind": "tensor", "arg_index": 0, "dtype": "UINT16", "shape": [2, 2], "strides": [3, 1], "start_offset": 1, "numel": 4,
         "is_contiguous": False, "bin_size": 8},
        {"kind": "tensor", "arg_index": 1, "dtype": "UINT8", "shape": [4], "strides": [1], "numel": 4, "bin_offset": 8, "bin_size": 4,
         "role": "inout"},
        {"kind": "tensor", "arg_index": 1, "dtype": "UINT8", "shape": [4], "strides": [1], "numel": 4, "bin_offset": 12, "bin_size": 4,
         "role": "inout", "stage": "after_completion"}],
        struct.pack("<4H", 10, 20, 30, 40) + bytes([1, 2, 3, 4, 9, 9, 9, 9]))
    incore.replay("--dump", dump, "--func", "1", "--source", small_kernel(incore, "strided", (0, 1)), "--dry-run", out=out)
    with open(os.path.join(out, "args", "buffer_00.bin"), "rb") as f:
        equal(struct.unpack("<6H", f.read()[:12]), (0, 10, 20, 0, 30, 40), "bytes through a strided view")
    with open(os.path.join(out, "args", "buffer_01.bin"), "rb") as f:
        equal(f.read()[:4], bytes([1, 2, 3, 4]), "an inout as it was before")
    with open(os.path.join(out, "args.json")) as f:
        equal(json.load(f)["args_origin"], "dump", "args.json says where it comes from")
    incore.replay("--dump", dump, "--func", "1", "--source", small_kernel(incore, "strided", (0, 1)), "--dry-run", "--set-arg", "0=7",
                  out=(again := incore.place()))
    with open(os.path.join(again, "args", "buffer_00.bin"), "rb") as f:
        equal(struct.unpack("<6H", f.read()[:12]), (0, 7, 7, 0, 7, 7), "--set-arg goes through the view, too")


def spec(incore):
    """Fact 10: an arg-spec alone, what it may not say, and bits."""
    source = small_kernel(incore, "spec", (0, 4))
    base = [{"kind": "tensor", "index": 0, "dtype": "FLOAT32", "shape": [16, 16], "role": "input", "fill": "zero"},
            {"kind": "scalar", "index": 4, "dtype": "FLOAT32", "value": 1.0, "pack_mode": "bits"},
            {"kind": "scalar", "index": 5, "dtype": "INT32", "value": 5, "pack_mode": "bits"}]
    path = os.path.join(incore.tmp, "spec.json")

    def put(items):
        with open(path, "w") as f:
            json.dump({"args": items}, f)
        return ["--arg-spec", path, "--source", source, "--dry-run"]
    data = incore.replay(*put(base))
    equal([s.get("bits") for s in data["slots"]], [None, 1065353216, 5], "bits")
    for bad, texts in ((48, ["48"]), (50, ["50"]), (-1, ["-1"]), (4, ["4", "twice"])):
        incore.refused(3, texts, *put(base + [{"kind": "scalar", "index": bad, "dtype": "INT32", "value": 0}]))
    incore.refused(3, ["buffer"], *put(base + [{"kind": "buffer", "index": 7, "dtype": "INT32", "value": 0}]))
    incore.refused(2, ["--task"], *put(base), "--task", "1")
    incore.refused(2, ["block 3"], *put(base), "--blocks", "2", "--block", "3")
    with open(path, "w") as f:
        f.write("{")
    incore.refused(3, [path], "--arg-spec", path, "--source", source)
    # over a dump the spec's slots win
    put([{"kind": "scalar", "index": 4, "dtype": "FLOAT32", "value": 0.5, "pack_mode": "bits"}])
    over = incore.replay("--dump", os.path.join(DUMPS, "own"), "--func", "1", "--arg-spec", path, "--source", SF)
    equal([s["bits"] for s in over["slots"] if s["slot"] == 4], [0x3f000000], "a spec over a dump")
    equal(over["streams"][0].origin, 0, "then the arguments are not those of a run")


def classes(incore):
    """Fact 11 and --core: from the code, never from comments."""
    path = os.path.join(incore.tmp, "spec.json")
    with open(path, "w") as f:
        json.dump([{"kind": "tensor", "index": 0, "dtype": "FLOAT32", "shape": [16, 16], "fill": "zero"}], f)

    def say(text, where, *words):
        source = os.path.join(incore.tmp, "class", where)
        os.makedirs(os.path.dirname(source), exist_ok=True)
        with open(source, "w") as f:
            f.write('extern "C" void kernel_entry(int64_t *args) {\n' + text + "\n}\n")
        return ["--arg-spec", path, "--source", source, "--dry-run", *words]
    for text, where, words, want in (
            ("(void)args[0]; // args[10]", "kernels/aiv/k.cpp", (), "aiv-only"),
            ('const char *s = "args[9]"; (void)args[0];', "kernels/aic/k.cpp", (), "aic-only"),
            ("#if 0\n(void)args[7];\n#endif\n(void)args[0];", "kernels/aiv/k2.cpp", (), "aiv-only"),
            ("int b = get_block_idx(args);", "k3.cpp", (), "spmd-mix"),
            ("(void)args[0];", "kernels/mix/k.cpp", (), "spmd-mix"),
            ("(void)args[0];", "k4.cpp", ("--core", "mix"), "spmd-mix"),
            ("(void)args[0];", "k4.cpp", ("--core", "aic"), "aic-only")):
        data = incore.replay(*say(text, where, *words))
        equal(data and data["class"], want, f"class of '{text}' in {where} {words}")
    with open(os.path.join(incore.replay(*say("(void)args[0];", "k4.cpp", "--core", "mix"))["workspace"], "provenance.json")) as f:
        equal([m["core"] for m in json.load(f)["members"]], ["aic", "aiv"], "--core mix: both sides of one source")
    incore.refused(3, ["--core"], *say("(void)args[0];", "k4.cpp"))
    incore.refused(2, ["--core"], *say("(void)args[0];", "k4.cpp", "--core", "gpu"))
    incore.refused(2, ["2 words for 1 source"], *say("(void)args[0];", "k4.cpp", "--core", "aic,aiv"))
    incore.refused(3, ["args[3, 10]"], *say("(void)args[10]; (void)args[3];", "kernels/aiv/k5.cpp"))


def verbose(incore):
    """-v says what the program is doing, INCORE_LOG=debug what it decided, neither anything of the answer."""
    words = ["replay", "--dump", os.path.join(DUMPS, "own"), "--func", "1", "--source", SF]
    quiet = incore.run(*words, "-o", incore.place())
    info = incore.run(*words, "-v", "-o", incore.place())
    debug = incore.run(*words, "-o", incore.place(), env={"INCORE_LOG": "debug"})
    equal((quiet.returncode, info.returncode, debug.returncode), (0, 0, 0), "replay, -v and INCORE_LOG=debug")
    check("incore: info:" not in quiet.stderr, f"said without -v: {quiet.stderr}")
    for text in ("info: replay: reading the dump", "info: model: running ", "info: replay: timing 1 op stream with "):
        check(text in info.stderr, f"-v: no '{text}' in {info.stderr}")
        check(text in debug.stderr, f"INCORE_LOG=debug: no '{text}' in {debug.stderr}")
    check("debug:" not in info.stderr, f"-v shows decisions: {info.stderr}")
    check("sf.cpp: aiv (its core type is stated as aiv)" in debug.stderr, f"INCORE_LOG=debug: no core in {debug.stderr}")


def spec_is_not_read_back(incore):
    """args.json is written for people and later runs: it is not missed where it is gone before the kernel runs."""
    out, compiler = incore.place(), os.path.join(incore.tmp, "c++")
    with open(compiler, "w") as f:
        f.write(f'#!/bin/sh\nrm -f "{out}/args.json"\nexec c++ "$@"\n')
    os.chmod(compiler, 0o700)
    incore.replay("--dump", os.path.join(DUMPS, "own"), "--func", "1", "--source", SF, "--unsafe-native", out=out,
                  env={"CXX": compiler, "XDG_CACHE_HOME": os.path.join(incore.tmp, "fresh-cache")})
    check(os.path.exists(os.path.join(out, "ops.opstream")), "a replay whose args.json is gone: no op stream")
    check(not os.path.exists(os.path.join(out, "args.json")), "the compiler was asked after args.json was written")


def checked(incore):
    """Extents, roles, slots and control flow really are looked at."""
    path = os.path.join(incore.tmp, "checked.json")

    def put(*items):
        with open(path, "w") as f:
            json.dump(list(items), f)
        return ["--arg-spec", path]
    tensor = {"kind": "tensor", "index": 0, "dtype": "FLOAT32", "shape": [16, 16], "role": "input", "fill": "zero"}
    incore_error = incore.run("replay", *put(tensor), "--source", os.path.join(OURS, "aiv", "beyond.cpp"), "-o", incore.place())
    equal(incore_error.returncode, 3, "a load beyond the buffer")
    check("slot 0" in incore_error.stderr and "1024 bytes" in incore_error.stderr, incore_error.stderr)
    data = incore.replay(*put({**tensor, "buffer_bytes": 2048}, {**tensor, "index": 1, "role": "output"}),
                         "--source", os.path.join(OURS, "aiv", "beyond.cpp"))
    check(any("slot 0" in r and "byte 1024" in r and "outside the view" in r for r in data["remarks"]), f"{data['remarks']}")
    check(any("slot 1" in r and "does not read it" in r for r in data["remarks"]), f"{data['remarks']}")
    branch = os.path.join(OURS, "aiv", "branch.cpp")
    p = incore.run("replay", *put(tensor, {**tensor, "index": 1, "fill": "none"}), "--source", branch, "-o", incore.place())
    equal(p.returncode, 3, "a branch on a value that nobody supplied")
    check("slot 1" in p.stderr, p.stderr)
    data = incore.replay(*put(tensor, {**tensor, "index": 1}), "--source", branch, "--set-arg", "1=3")
    equal(tile_ops(data["streams"][0]).count("TLOAD"), 3, "as many loads as the tensor says")
    pair = [{**tensor, "index": i, "shape": [128, 128]} for i in range(3)]
    data = incore.replay(*put(*pair), "--source", os.path.join(OURS, "aiv", "add0.cpp"))
    check(any("slot 2" in r and "recorded as an input" in r for r in data["remarks"]), f"{data['remarks']}")


def words_of_a_set(incore):
    """--set-arg and --restore-arg: what they refuse."""
    dump = os.path.join(DUMPS, "own")
    words = ["--dump", dump, "--func", "1", "--source", SF, "--dry-run"]
    for option, status, text in (("--set-arg=48=1", 2, "48"), ("--set-arg=60=1", 2, "0 to 47"), ("--set-arg=x", 2, "SLOT=VALUE"),
                                 ("--set-arg=9=1", 2, "no such slot"), ("--set-arg=4=abc", 2, "no value"),
                                 ("--restore-arg=4", 3, "scalar"), ("--restore-arg=1", 3, "output"), ("--restore-arg=9", 3, "no such slot"),
                                 ("--restore-arg=50", 2, "0 to 47")):
        incore.refused(status, [text], *words, option)
    incore.refused(3, ["also set"], *words, "--set-arg=0=1", "--restore-arg=0")
    data = incore.replay(*words, "--set-arg", "4=f32:0.25", "--restore-arg", "0")
    equal([(s["bits"], s["from"]) for s in data["slots"] if s["slot"] == 4], [(0x3e800000, "set")], "--set-arg 4=f32:0.25")


def refusals(incore):
    """Bad input: the status, the words, and nothing left behind."""
    own_dump = os.path.join(DUMPS, "own")
    words = ["--dump", own_dump, "--func", "1"]
    incore.refused(2, ["{0}", "{1}", "{2}", "{3}"], "--dump", own_dump, "--func", "7", "--source", SF)
    incore.refused(2, ["--func"], "--dump", own_dump, "--source", SF)
    incore.refused(2, ["no task fits", "{3}", "that task has the func ids {1}", f"to the func ids fit {RING + 3:#018x}"],
                   "--dump", own_dump, "--func", "3", "--task", hex(RING + 1), "--source", SF)
    incore.refused(2, ["--source"], *words)
    incore.refused(2, ["--blocks"], *words, "--source", SF, "--blocks", "2")
    incore.refused(2, ["--dump", "--arg-spec"], "--source", os.path.join(OURS, "aiv", "add.cpp"))
    incore.refused(3, ["nowhere.cpp"], *words, "--source", os.path.join(incore.tmp, "nowhere.cpp"))
    incore.refused(3, ["nowhere"], "--dump", os.path.join(incore.tmp, "nowhere"), "--func", "1", "--source", SF)
    no_entry = os.path.join(incore.tmp, "kernels", "aiv", "no_entry.cpp")
    os.makedirs(os.path.dirname(no_entry), exist_ok=True)
    with open(no_entry, "w") as f:
        f.write("/* kernel_entry(int64_t *args) */\n")
    incore.refused(3, ["no_entry.cpp", "kernel_entry"], *words, "--source", no_entry)
    unreadable = small_kernel(incore, "unreadable", (0,))
    os.chmod(unreadable, 0)
    if not os.access(unreadable, os.R_OK):
        incore.refused(3, ["unreadable.cpp"], *words, "--source", unreadable)
    taken = os.path.join(incore.tmp, "taken")
    os.makedirs(os.path.join(taken, "x"))
    p = incore.run("replay", *words, "--source", SF, "-o", taken)
    equal((p.returncode, os.listdir(taken), glob.glob(taken + ".*")), (2, ["x"], []), "a workspace that is there already")
    tensor = {"kind": "tensor", "dtype": "FLOAT32", "shape": [16], "strides": [1], "numel": 16, "bin_size": 64}
    source = small_kernel(incore, "bad", (0, 1))
    for name, records, payload, texts in (
            ("short", [{**tensor, "arg_index": 0}, {**tensor, "arg_index": 1, "bin_offset": 64}], bytes(100), ["slot 1"]),
            ("cut", [{**tensor, "arg_index": 0}, {**tensor, "arg_index": 1, "truncated": True, "bin_size": 32}], bytes(128), ["slot 1"]),
            ("gone", [{**tensor, "arg_index": 0}, {**tensor, "arg_index": 1, "overwritten": True, "bin_size": 0}], bytes(64), ["slot 1"]),
            ("hole", [{**tensor, "arg_index": 0}, {**tensor, "arg_index": 2}], bytes(64), ["slot 1"]),
            ("after", [{**tensor, "arg_index": 0}, {**tensor, "arg_index": 1, "stage": "after_completion"}], bytes(64), ["slot 1"])):
        dump = os.path.join(incore.tmp, "bad-" + name)
        write_dump(dump, records, payload)
        incore.refused(3, ["0x0000000100000000", *texts], "--dump", dump, "--func", "1", "--source", source)
        if name in ("cut", "gone"):
            data = incore.replay("--dump", dump, "--func", "1", "--source", source, "--force", "--dry-run")
            check(data and any("forced" in r for r in data["remarks"]), f"{name}: --force is told")
    # a task is needed where several fit, and where there are no func ids
    two = os.path.join(incore.tmp, "two")
    write_dump(two, [{**tensor, "arg_index": 0, "task_id": f"0x{i:016x}"} for i in (5, 6)], bytes(64))
    incore.refused(2, ["0x0000000000000005", "0x0000000000000006"], "--dump", two, "--func", "1", "--source",
                   small_kernel(incore, "two", (0,)))
    older = os.path.join(incore.tmp, "no-funcs")
    write_dump(older, [{**tensor, "arg_index": 0, "task_id": f"0x{i:016x}"} for i in (5, 6)], bytes(64), has_funcs=False)
    p = incore.refused(3, ["0x0000000000000005", "0x0000000000000006", "--task"], "--dump", older, "--source",
                       small_kernel(incore, "two", (0,)))
    check(incore.replay("--dump", older, "--task", "5", "--source", small_kernel(incore, "two", (0,)), "--dry-run") is not None,
          f"a dump without func ids goes by --task: {p.stderr}")


def compilers(incore):
    """Fact 22: a kernel that does not compile, and no compiler."""
    words = ["--dump", os.path.join(DUMPS, "own"), "--func", "1"]
    broken = os.path.join(incore.tmp, "kernels", "aiv", "broken.cpp")
    os.makedirs(os.path.dirname(broken), exist_ok=True)
    with open(SF) as f, open(broken, "w") as g:
        g.write(f.read().replace('#include "../slots.h"', f'#include "{SAMPLE}/slots.h"').replace("TEXP(e, e);", "TEXP(e, nothing);"))
    out = incore.place()
    p = incore.run("replay", *words, "--source", broken, "-o", incore.place())
    check(p.returncode == 3 and "--include" in p.stderr, f"a header that its compiler may not read: {p.stderr[:300]}")
    p = incore.run("replay", *words, "--source", broken, "-I", SAMPLE, "-o", out)
    equal(p.returncode, 3, f"a kernel that does not compile: {p.stderr[:300]}")
    check("broken.cpp" in p.stderr and "nothing" in p.stderr, p.stderr)
    equal(os.path.exists(os.path.join(out, "insight_export")), False, "no trace of it")
    empty = os.path.join(incore.tmp, "empty")
    os.makedirs(empty, exist_ok=True)
    incore.refused(5, ["g++", "clang++"], *words, "--source", SF, env={"PATH": empty, "XDG_CACHE_HOME": empty})
    incore.refused(5, ["set_env.sh", empty, "--cann-set-env"], *words, "--source", SF, "--backend", "msprof",
                   "--cann-home", empty)
    incore.refused(2, ["--msprof-timeout"], *words, "--source", SF, "--backend", "msprof", "--msprof-timeout", "3600")
    incore.refused(3, ["nowhere"], *words, "--source", SF, "--profile", "nowhere")
    data = incore.replay(*words, "--source", SF, "--dry-run", env={"PATH": empty, "XDG_CACHE_HOME": empty})
    check(data is not None and not data["simulator"], "a dry run needs no compiler")


def places(incore):
    """Fact 19: two runs of one second, names of the workspace, dry runs."""
    words = ["replay", "--dump", os.path.join(DUMPS, "own"), "--func", "1", "--source", SF, "--dry-run"]
    here = os.path.join(incore.tmp, "here")
    os.makedirs(here)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda _: incore.run(*words, cwd=here), range(4)))
    equal([p.returncode for p in runs], [0] * 4, f"four runs at once: {runs[0].stderr}")
    equal(len(os.listdir(os.path.join(here, "outputs"))), 4, f"workspaces of one second: {os.listdir(os.path.join(here, 'outputs'))}")
    place = os.path.join(here, "outputs", sorted(os.listdir(os.path.join(here, "outputs")))[0])
    for name in ("README.txt", "args.json", "provenance.json", "run_model.sh", os.path.join("kernels", "0_sf.cpp")):
        check(os.path.exists(os.path.join(place, name)), f"{name} of the workspace")
    check(os.stat(os.path.join(place, "run_model.sh")).st_mode & stat.S_IXUSR, "run_model.sh can be run")
    equal(os.path.exists(os.path.join(place, "insight_export")), False, "a dry run makes no trace")
    with open(os.path.join(place, "provenance.json")) as f:
        data = json.load(f)
    equal((data["backend"], data["task"], data["members"][0]["func_id"]), ("model", hex(RING + 1).replace("0x", "0x" + "0" * 7), 1),
          "provenance")


def estimate(incore):
    """Facts 18 and 23: the directory is complete, and says what it is wherever a reader looks."""
    data = incore.replay("--dump-dir", os.path.join(DUMPS, "own"), "--func-id", "1", "--source", SF)
    top = data["simulator"]
    check(re.search(r"/insight_export/OPPROF_[^/]+/simulator$", top), top)
    for pattern in ("trace.json", "visualize_data.bin", "core*/*instr_exe*.csv"):
        check(glob.glob(os.path.join(top, pattern)), f"{pattern} of {top}")
    with open(os.path.join(data["workspace"], "README.txt")) as f:
        check("opens its visualize_data.bin" in f.read(), "README.txt names the file with the Source page")
    with open(os.path.join(top, "trace.json")) as f:
        trace = json.load(f)
    equal(trace["metadata"]["evidence"], "estimate", "metadata.evidence")
    names = {e["pid"] for e in trace["traceEvents"] if e.get("ph") == "X"}
    labels = {e["pid"]: e["args"]["labels"] for e in trace["traceEvents"] if e.get("ph") == "M" and e["name"] == "process_labels"}
    check(names and all("estimate" in labels.get(pid, "") for pid in names), f"process labels: {labels} of {names}")
    with open(os.path.join(data["workspace"], "summary.txt")) as f:
        text = f.read()
    check("evidence=estimate\n" in text and "verdict=estimate" in text, text)
    check("=0x3f800000 (dump)\n" in text and "FLOAT32 16x16 (dump)" in text, f"the workload: {text}")
    with open(os.path.join(data["workspace"], "provenance.json")) as f:
        equal(json.load(f)["evidence"], "estimate", "provenance.json")
    check(data["verdict"].startswith("estimate"), data["verdict"])
    for verb in ("summary", "hot", "info"):
        for place in (top, os.path.join(data["workspace"], "trace.incore")):
            p = incore.run(verb, place)
            check(p.returncode == 0 and "estimate" in p.stdout, f"incore {verb} {place}: {p.stdout[:200]}{p.stderr[:200]}")
    # by hand, again
    p = subprocess.run(["./run_model.sh", "again"], cwd=data["workspace"], env={**incore.env, "PATH": incore.build + ":" + incore.env["PATH"]},
                       capture_output=True, text=True)
    equal(p.returncode, 0, f"run_model.sh: {p.stderr}")
    for name in ("args.json", "ops.opstream"):
        with open(os.path.join(data["workspace"], name), "rb") as f, open(os.path.join(data["workspace"], "again", name), "rb") as g:
            check(f.read() == g.read(), f"run_model.sh gives another {name}")


def full_disk(incore):
    """No room in the workspace: status 6, nothing left."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (512, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    incore.refused(6, ["write"], "--dump", os.path.join(DUMPS, "own"), "--func", "1", "--source", SF, "--dry-run", limit=limit)


def interrupt(incore):
    """SIGINT at any time: 130, no half of anything."""
    for wait in (0.02, 0.2, 0.6, 1.2):
        out, cache = incore.place(), incore.place()
        p = subprocess.Popen([incore.program, "replay", "--dump", os.path.join(DUMPS, "own"), "--func", "1", "--source", SF, "-o", out],
                             env={**incore.env, "XDG_CACHE_HOME": cache}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(wait)
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=600)
        check(p.returncode in (130, -signal.SIGINT, 0), f"interrupted after {wait} s: exit status {p.returncode}: {err}")
        left = [os.path.relpath(x, incore.tmp) for x in glob.glob(out + ".*") + glob.glob(os.path.join(out, "**", "*tmp*"), recursive=True)]
        equal(left, [], f"interrupted after {wait} s: left behind")
        if os.path.exists(out) and p.returncode:
            equal(os.path.exists(os.path.join(out, "insight_export")), False, f"interrupted after {wait} s: a trace of a failed run")


def faults(incore):
    """Builds with fault injection: whatever fails on the way, no half of a trace stays, and the error is told."""
    if "fault_injection" not in incore.run("--version", "--json").stdout:
        print("SKIP faults: this build has no fault injection, the one with sanitizers has")
        RESULT[2] += 1
        return
    words = ["--dump", os.path.join(DUMPS, "own"), "--func", "1", "--source", SF]
    p = incore.run("replay", *words, "-o", incore.place(),
                   env={"INCORE_FAULT": "alloc:1000000000,read:1000000000,write:1000000000,open:1000000000", "INCORE_FAULT_REPORT": "1"})
    counts = re.search(r"faults: alloc (\d+) read (\d+) write (\d+) open (\d+)", p.stderr)
    if not check(p.returncode == 0 and counts, f"undisturbed: {p.returncode} {p.stderr[:300]}"):
        return
    for kind, count in zip(("alloc", "read", "write", "open"), map(int, counts.groups())):
        for n in sorted({1 + i * max(1, count) // 24 for i in range(24)}):
            out = incore.place()
            p = incore.run("replay", *words, "-o", out, env={"INCORE_FAULT": f"{kind}:{n}"})
            what = f"INCORE_FAULT={kind}:{n}"
            check(p.returncode in (0, 3, 5, 6) and (p.returncode == 0 or p.stderr.strip()), f"{what}: {p.returncode} {p.stderr[:600]}")
            left = glob.glob(out + ".*") + glob.glob(os.path.join(out, "**", "*.tmp*"), recursive=True)
            equal(left, [], f"{what}: left behind")
            made = glob.glob(os.path.join(out, "insight_export", "OPPROF_*", "simulator", "visualize_data.bin"))
            equal(len(made), int(os.path.exists(os.path.join(out, "insight_export"))), f"{what}: a trace is whole or not there")


CASES = [own, blocks, lanes, lane_count, compile_options, scalar_stores, scalar_pipe, wrong_core, cases, scene_test, supplied, manifest, spec, spec_is_not_read_back, classes, verbose, checked, shared_buffer, words_of_a_set, refusals, compilers, places, estimate, full_disk,
         interrupt, faults, real, real_rows, real_incomplete, real_blocks, real_mixed, real_levels, real_deps, modules, from_simpler, dispatches, without_funcs]


def main():
    wanted = sys.argv[2:]
    has_real = os.path.isdir(REAL)
    for case in CASES:
        if wanted and case.__name__ not in wanted:
            continue
        if case.__name__.startswith("real") and not has_real:
            print(f"SKIP {case.__name__}: no dumps below {REAL}")
            RESULT[2] += 1
            continue
        with tempfile.TemporaryDirectory() as tmp:
            try:
                case(Incore(sys.argv[1], tmp))
            except (TypeError, KeyError, IndexError, OSError, ValueError, subprocess.TimeoutExpired) as e:
                check(False, f"{case.__name__}: {type(e).__name__}: {e} (line {e.__traceback__.tb_next.tb_lineno})")
    print(f"{RESULT[0]} passed, {RESULT[1]} failed, {RESULT[2]} skipped")
    return RESULT[1] > 0


if __name__ == "__main__":
    sys.exit(main())
