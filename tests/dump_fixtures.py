#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The committed dumps, one per generation of the manifest, all of the same two tasks, and a few special ones.
Without --write: are tests/data/dumps what this script makes?

usage: dump_fixtures.py [--write] [PAGED_ATTENTION]

`own` is written by our own library, by the example program PAGED_ATTENTION where it is given.

The run: task 1:0 (func 5, "scale") multiplies a FLOAT16 [2, 3] by a FLOAT32 scalar; task 1:1 (funcs 7, 8, a mix) adds a
strided UINT16 view to an INOUT FLOAT32 [4] that task 0:0 (func 3, "init") filled.
"""
import filecmp
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "dumps")
SIZES = {"FLOAT32": 4, "FLOAT16": 2, "INT32": 4, "INT16": 2, "INT8": 1, "UINT8": 1, "BFLOAT16": 2, "INT64": 8, "UINT64": 8,
         "UINT16": 2, "UINT32": 4, "BOOL": 1, "FP8E4M3FN": 1, "FP8E8M0": 1, "FP4E2M1": 1}


def tensor(task, funcs, slot, role, stage, dtype, shape, data, strides=None, start=0, raw=None, offsets=None):
    dense, step = [], 1
    for n in reversed(shape):
        dense.insert(0, step)
        step *= n
    return {"task": task, "funcs": funcs, "slot": slot, "role": role, "stage": stage, "kind": "tensor", "dtype": dtype,
            "shape": shape, "strides": strides or dense, "start": start, "raw": raw or shape, "offsets": offsets or [0] * len(shape),
            "data": data, "contiguous": (strides or dense) == dense}


def scalar(task, funcs, slot, dtype, value, bits, ambiguous=False):
    return {"task": task, "funcs": funcs, "slot": slot, "role": "input", "stage": "before", "kind": "scalar", "dtype": dtype,
            "value": value, "bits": bits, "shape": [], "strides": [], "start": 0, "data": b"", "contiguous": True,
            "ambiguous": ambiguous}


def pack(fmt, *values):
    return struct.pack("<" + fmt, *values)


def the_run():
    t0, t1, t2 = 0, 1 << 32, (1 << 32) + 1
    half = [0.5, -1.0, 2.0, 0.0, 65504.0, 0.33325195]
    acc, total = [0.0, 1.0, 2.0, 3.0], [10.0, 21.0, 32.0, 43.0]
    return [
        tensor(t0, [3], 0, "output", "after", "FLOAT32", [4], pack("4f", *acc)),
        tensor(t1, [5], 0, "input", "before", "FLOAT16", [2, 3], pack("6e", *half)),
        scalar(t1, [5], 2, "FLOAT32", 0.0883883, 0x3db504f3),
        tensor(t1, [5], 1, "output", "after", "FLOAT16", [2, 3], pack("6e", *[v * 0.0883883 for v in half])),
        tensor(t2, [7, 8], 0, "inout", "before", "FLOAT32", [4], pack("4f", *acc)),
        tensor(t2, [7, 8], 1, "input", "before", "UINT16", [2, 2], pack("4H", 10, 20, 30, 40), [3, 1], 1, [2, 3], [0, 1]),
        scalar(t2, [7, 8], 2, "INT32", -7, 0xfffffff9, ambiguous=True),
        scalar(t2, [7, 8], 3, "UINT64", 1065353216, 1065353216),
        tensor(t2, [7, 8], 0, "inout", "after", "FLOAT32", [4], pack("4f", *total)),
    ]


STAGES = {"before": "before_dispatch", "after": "after_completion"}


def dims(v):
    return "[" + ", ".join(str(x) for x in v) + "]"


def record(r, gen, where):
    """One record as generation `gen` writes it; `where` is (bin_offset, bin_size)."""
    f = [("task_id", f'"0x{r["task"]:016x}"')]
    contiguous = "true" if r["contiguous"] else "false"
    if gen <= 3:
        f += [("subtask_id", "0"), ("func_id", str(r["funcs"][0])), ("role", f'"{r["role"]}"'),
              ("stage", f'"{STAGES[r["stage"]]}"'), ("arg_index", str(r["slot"])), ("dtype", f'"{r["dtype"]}"'),
              ("is_contiguous", contiguous), ("shape", dims(r["shape"]))]
        f += [("raw_shape", dims(r["raw"])), ("offsets", dims(r["offsets"]))] if gen < 3 else \
            [("strides", dims(r["strides"])), ("start_offset", str(r["start"]))]
    else:
        if gen == 9:
            f += [("func_id", str(r["funcs"][0]))]
        if gen >= 10:
            f += [("func_id", dims(r["funcs"]))]
        dtype = r["dtype"] if gen >= 6 or r["kind"] == "tensor" else "UINT64"
        f += [("arg_index", str(r["slot"])), ("role", f'"{r["role"]}"'), ("stage", f'"{STAGES[r["stage"]]}"'),
              ("kind", f'"{r["kind"]}"'), ("dtype", f'"{dtype}"')]
        value = [] if r["kind"] == "tensor" else [("value", json.dumps(r["value"] if gen >= 6 else r["bits"]))]
        f += value if gen >= 7 else []
        f += [("is_contiguous", contiguous), ("shape", dims(r["shape"])), ("strides", dims(r["strides"])),
              ("start_offset", str(r["start"]))]
    numel = 1
    for n in r["shape"]:
        numel *= n
    f += [("numel", str(numel))]
    if 4 <= gen < 7:
        f += value
    if gen >= 7 and r.get("ambiguous"):
        f += [("arg_index_ambiguous", "true")]
    f += [("bin_offset", str(where[0])), ("bin_size", str(where[1])), ("truncated", "false"), ("overwritten", "false")]
    return "    {" + ", ".join(f'"{k}": {v}' for k, v in f) + "}"


def manifest(records, gen, level=2, bin_name=None, array=None, extra=None, places=None):
    word = "args" if gen >= 8 else "tensors"
    count = lambda key, value: sum(r[key] == value for r in records)  # noqa: E731
    top = [("run_dir", '"args_dump"' if gen >= 8 else '"tensor_dump"'),
           ("bin_format", '{\n    "type": "logical_contiguous",\n    "byte_order": "little_endian"\n  }')]
    if gen == 1:
        top.insert(0, ("timestamp", '"20260415_101500"'))
    if gen >= 11:
        top.append(("dump_args_level", str(level)))
    top += [(f"total_{word}", str(len(records))), ("before_dispatch", str(count("stage", "before"))),
            ("after_completion", str(count("stage", "after"))), (f"input_{word}", str(count("role", "input"))),
            (f"output_{word}", str(count("role", "output"))), (f"inout_{word}", str(count("role", "inout"))),
            (f"truncated_{word}", "0"), ("dropped_records", "0"), ("dropped_overwrite", "0"),
            ("bin_file", f'"{bin_name}"' if bin_name else "null")] + (extra or [])
    at, lines = 0, []
    for i, r in enumerate(records):
        size = len(r["data"]) if bin_name and "no_data" not in r else 0
        where = places[i] if places else (at if size else 0, size)
        lines.append(record(r, gen, where))
        at += size
    top.append((array or word, "[\n" + ",\n".join(lines) + "\n  ]"))
    return "{\n" + ",\n".join(f'  "{k}": {v}' for k, v in top) + "\n}\n"


def payload(records):
    return b"".join(r["data"] for r in records)


def write(folder, files):
    os.makedirs(folder, exist_ok=True)
    for name, data in files.items():
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())


def generations(top):
    run = the_run()
    tensors = [r for r in run if r["kind"] == "tensor"]
    stem = "tensor_dump_20260415_101500"
    write(os.path.join(top, "g1"), {f"{stem}.json": manifest(tensors, 1, bin_name=f"{stem}.bin"), f"{stem}.bin": payload(tensors)})
    for gen in (2, 3):
        write(os.path.join(top, f"g{gen}"), {"tensor_dump.json": manifest(tensors, gen, bin_name="tensor_dump.bin"),
                                            "tensor_dump.bin": payload(tensors)})
    for gen in (4, 6, 7):
        write(os.path.join(top, f"g{gen}"), {"tensor_dump.json": manifest(run, gen, bin_name="tensor_dump.bin"),
                                            "tensor_dump.bin": payload(run)})
    write(os.path.join(top, "g5"), {"tensor_dump.json": manifest(run, 5)})
    # the ninth generation: a record per declaring subtask, scalars carry the first one's id
    ninth = []
    for r in run:
        ninth += [r] if r["kind"] == "scalar" else [{**r, "funcs": [f]} for f in r["funcs"]]
    for gen, records in ((8, run), (9, ninth), (10, run), (11, run)):
        write(os.path.join(top, f"g{gen}"), {"args_dump.json": manifest(records, gen, bin_name="args.bin"), "args.bin": payload(records)})
    # a build directory, with the files of the same run beside the dump
    write(os.path.join(top, "project", "dfx_outputs", "args_dump"), {"args_dump.json": manifest(run, 11, bin_name="args.bin"),
                                                                   "args.bin": payload(run)})
    write(os.path.join(top, "project", "dfx_outputs"), {"deps.json": DEPS, "name_map_Run.json": NAMES})


DEPS = json.dumps({
    "tasks": [
        {"task_id": "0", "scope": "auto", "kernel_ids": [3, -1, -1], "block_num": 1, "args": [{"idx": 0, "type": "OUTPUT"}]},
        {"task_id": "4294967296", "scope": "auto", "kernel_ids": [-1, 5, -1], "block_num": 1, "args": [
            {"idx": 0, "type": "INPUT", "tensor_id": "11", "dtype": "FLOAT16", "shape": [2, 3], "start_offset": "0", "strides": [3, 1]},
            {"idx": 1, "type": "OUTPUT"}]},
        {"task_id": "4294967297", "scope": "auto", "kernel_ids": [7, 8, -1], "block_num": 1, "args": [
            {"idx": 0, "type": "INOUT", "tensor_id": "12", "dtype": "FLOAT32", "shape": [4], "start_offset": "0", "strides": [1]},
            {"idx": 1, "type": "INPUT", "tensor_id": "13", "dtype": "UINT16", "shape": [2, 2], "start_offset": "1", "strides": [3, 1]}]},
    ],
    "tensors": [{"tensor_id": "12", "buffer_addr": "0x1000", "version": 0, "dtype": "FLOAT32", "buffer_numel": 256}],
    "edges": [{"pred": "0", "succ": "4294967297", "arg": 0, "source": "creator", "flags": 0, "tensor_id": "12"}],
}, indent=1) + "\n"
NAMES = json.dumps({"level": 2, "callable_id_to_name": {"3": "init", "5": "scale", "7": "add_cube", "8": "add_vec"}}, indent=1) + "\n"


def blocks(top):
    """SPMD: four blocks, before copies taken at different moments; the state before task 1 is what task 0 left."""
    first, mid, last = pack("4f", 1, 0, 0, 0), pack("4f", 1, 2, 0, 0), pack("4f", 1, 2, 3, 4)
    t = lambda task, stage, data: tensor(task, [0, 1], 0, "inout", stage, "FLOAT32", [4], data)  # noqa: E731
    records = [t(0, "before", bytes(16)), t(0, "before", bytes(16)), t(0, "after", first)]
    records += [t(1, "before", mid), t(1, "before", mid), t(1, "before", first), t(1, "before", first), t(1, "after", last)]
    records += [t(2, "before", mid), t(2, "before", pack("4f", 9, 9, 9, 9)), t(2, "after", last)]
    write(os.path.join(top, "blocks"), {"args_dump.json": manifest(records, 11, bin_name="args.bin"), "args.bin": payload(records)})


def types(top):
    """One tensor of each dtype, with the values that are hard to print."""
    data = {
        "FLOAT32": pack("6I", 0, 0x80000000, 0x3db504f3, 0x7f800000, 0xff800000, 0x7fc00000),
        "FLOAT16": pack("6H", 0, 0x0001, 0x3555, 0x7bff, 0x7c00, 0x7e00),
        "BFLOAT16": pack("6H", 0, 0x0001, 0x3eab, 0x7f7f, 0xff80, 0x7fc0),
        "INT64": pack("3q", -(1 << 63), -1, (1 << 63) - 1), "UINT64": pack("3Q", 0, 1 << 63, (1 << 64) - 1),
        "INT32": pack("3i", -(1 << 31), 0, (1 << 31) - 1), "UINT32": pack("3I", 0, 1, (1 << 32) - 1),
        "INT16": pack("3h", -32768, -1, 32767), "UINT16": pack("3H", 0, 1, 65535),
        "INT8": pack("3b", -128, -1, 127), "UINT8": pack("3B", 0, 1, 255), "BOOL": pack("3B", 0, 1, 2),
        "FP8E4M3FN": bytes([0x00, 0x01, 0x38, 0x7e, 0x7f, 0xfe]), "FP8E8M0": bytes([0, 1, 127, 128, 254, 255]),
        "FP4E2M1": bytes([0x10, 0x32, 0x54, 0x76, 0x98, 0xfe]),
    }
    records = [tensor(7, [1], i, "input", "before", name, [len(d) // SIZES[name]], d) for i, (name, d) in enumerate(data.items())]
    n = len(records)
    records += [tensor(7, [1], n, "output", "after", "FLOAT32", [2, 0, 3], b""),
                tensor(7, [1], n + 1, "output", "after", "INT32", [], pack("i", -5))]
    write(os.path.join(top, "types"), {"args_dump.json": manifest(records, 11, bin_name="args.bin"), "args.bin": payload(records)})


def defects(top):
    """A dump with a missing slot, an overlap, uncovered bytes, a wrong size, a lost stage and a wrong counter."""
    run = the_run()
    records = [r for r in run if not (r["task"] == 1 << 32 and r["slot"] == 1)]
    records = [r for r in records if not (r["role"] == "inout" and r["stage"] == "after")]
    places, at = [], 0
    for r in records:
        places.append((at if r["data"] else 0, len(r["data"])))
        at += len(r["data"])
    places[3] = (20, 16)
    text = manifest(records, 11, bin_name="args.bin", places=places).replace('"total_args": 7', '"total_args": 9')
    write(os.path.join(top, "defects"), {"args_dump.json": text, "args.bin": payload(records) + bytes(4)})
    short = manifest(run, 11, bin_name="args.bin")
    write(os.path.join(top, "short_bin"), {"args_dump.json": short, "args.bin": payload(run)[:40]})
    write(os.path.join(top, "no_bin"), {"args_dump.json": short})


def variants(top):
    run = the_run()
    tensors = [r for r in run if r["kind"] == "tensor"]
    sets = [{"task_id": "0x0000000100000000", "subtask_id": 0, "func_id": 5, "stage": "before_dispatch", "tensor_count": 2,
             "scalar_count": 1, "payload_size": 0, "overwritten": False, "tensors": [], "scalars": ["0x3db504f3"]}]
    text = manifest(tensors, 2, bin_name="tensor_dump.bin", extra=[("total_args", "1"), ("args", json.dumps(sets))])
    write(os.path.join(top, "x1"), {"tensor_dump.json": text, "tensor_dump.bin": payload(tensors)})
    # two blocks of one task, then a task of one record an argument; the arguments before the identity, contexts last
    def tensor(dtype, shape, **more):
        return dict({"kind": "tensor", "dtype": dtype, "shape": shape}, **more)
    slots = [tensor("FLOAT32", [16, 16]), tensor("BFLOAT16", [16, 16], arg_index=1), tensor("FLOAT32", [16], buffer_addr="0x1000"),
             tensor("FLOAT32", [16]), {"value": "0x3f800000"}, {"kind": "context", "arg_index": 48, "value": "0x7f00"},
             {"kind": "scalar", "arg_index": 49, "value": "0x7f80"}]
    both = [{"slots": [dict(s, bin_offset=64 * block, bin_size=64) if "buffer_addr" in s else s for s in slots], "dispatch_id": 7 + block,
             "func_id": 1, "task_id": "0x0000000200000001", "subtask_id": 1, "core_type": "aiv", "core_id": 30 + block, "block_idx": block}
            for block in range(2)]
    flat = [tensor("FLOAT32", [4], bin_offset=128, bin_size=16, dispatch_id=9, func_id=3, task_id=5, core_type="aic", core_id=2, block_idx=0,
                   arg_index=0, role="input", stage="before_dispatch")]
    for name, text in (("x2", {"dispatches": both + flat}), ("x2_list/tensor_dump", both)):
        write(os.path.join(top, name), {"kernel_args_dump.json": json.dumps(text) + "\n",
                                        "kernel_args_dump.bin": bytes(range(64)) * 2 + bytes(16) * (name == "x2")})


def device_record(r, layout, offset=0):
    """128 bytes as the device writes them: layouts g4 and g10; offset: of the payload, in the arena."""
    b = bytearray(128)
    enums = {"input": 0, "output": 1, "inout": 2, "before": 0, "after": 1, "tensor": 0, "scalar": 1}
    names = ["FLOAT32", "FLOAT16", "INT32", "INT16", "INT8", "UINT8", "BFLOAT16", "INT64", "UINT64", "UINT16", "UINT32", "BOOL"]
    struct.pack_into("<QBBB", b, 0, r["task"], enums[r["role"]], enums[r["stage"]], len(r["shape"]))
    struct.pack_into("<IBBB", b, 12, r["slot"], names.index(r["dtype"]), 0, r["contiguous"])
    struct.pack_into("<QQQBB", b, 24, offset, len(r["data"]), r.get("bits", 0), enums[r["kind"]], int(r.get("ambiguous", False)))
    if layout == "g10":
        struct.pack_into("<3HB", b, 50, *(r["funcs"] + [0xffff] * 3)[:3], len(r["funcs"]))
    struct.pack_into("<Q", b, 64, r["start"])
    struct.pack_into(f"<{len(r['strides'])}I", b, 72, *r["strides"])
    struct.pack_into(f"<{len(r['shape'])}I", b, 92, *r["shape"])
    return bytes(b)


def device(top):
    run = the_run()
    buffer = b"".join(device_record(r, "g10") for r in run).ljust(32768, b"\0") + struct.pack("<I", len(run))
    write(os.path.join(top, "device"), {"records_g4.bin": b"".join(device_record(r, "g4") for r in run)})
    # an arena of 60 bytes: the first two payloads are overwritten, one goes round the end
    arena, at, records = bytearray(60), 0, b""
    for r in run:
        records += device_record(r, "g10", at)
        for i, v in enumerate(r["data"]):
            arena[(at + i) % 60] = v
        at += len(r["data"])
    write(os.path.join(top, "device_arena"), {"records_g10.bin": records, "arena.bin": bytes(arena)})
    return buffer.ljust(32832, b"\0")


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def log_record(seq, kind, body):
    size = -(-(24 + len(body) + 4) // 8) * 8
    data = (struct.pack("<IIQHHI", 0x4C434E49, size, seq, kind, 0, 0) + body).ljust(size - 4, b"\0")
    return data + struct.pack("<I", crc32c(data))


def unclosed(top):
    """A dump of our own library whose process was killed: one task whole, one without its output, half a record."""
    run = the_run()
    names = {"FLOAT32": 0, "FLOAT16": 1, "INT32": 2, "UINT16": 9, "UINT64": 8}
    log, at, seq = b"INCDLOG\0" + struct.pack("<II", 1, 0x01020304), 0, 0
    counts = {0: (1, 0), 1 << 32: (2, 1), (1 << 32) + 1: (2, 2)}
    for number, task in enumerate(counts):
        funcs = next(r["funcs"] for r in run if r["task"] == task)
        kernel = {3: b"init", 5: b"scale", 7: b"add"}[funcs[0]]
        seq += 1
        log += log_record(seq, 1, struct.pack("<QQIIIIIBB3HH", task, number, 0, 1, 0, *counts[task], 1, len(funcs),
                                              *(funcs + [0xffff] * 3)[:3], len(kernel)) + kernel)
        for r in run:
            if r["task"] != task or (task == (1 << 32) + 1 and r["stage"] == "after"):
                continue
            seq += 1
            head = struct.pack("<QQIBBBBII", task, number, r["slot"], ["input", "output", "inout"].index(r["role"]),
                               r["stage"] == "after", names[r["dtype"]], len(r["shape"]), 2 << 8, 0)
            if r["kind"] == "scalar":
                log += log_record(seq, 3, head + struct.pack("<Q", r["bits"]))
                continue
            size = len(r["data"])
            log += log_record(seq, 2, head + struct.pack("<6Q", r["start"], 0x1000 * (r["slot"] + 1), 64, at, size, size)
                              + struct.pack(f"<{2 * len(r['shape'])}Q", *r["shape"], *r["strides"]) + struct.pack("<I", crc32c(r["data"])))
            at += size
    data = payload([r for r in run if not (r["task"] == (1 << 32) + 1 and r["stage"] == "after")])
    write(os.path.join(top, "unclosed"), {"args.log": log + log_record(seq + 1, 5, struct.pack("<I", 0))[:17], "args.bin": data[:-4]})


def own(top):
    for program in sys.argv[1:]:
        if program != "--write":
            subprocess.run([program, "--dump", os.path.join(top, "own"), "--context", "16", "--threads", "1", "--sync"], check=True,
                           stdout=subprocess.DEVNULL)


def make(top):
    own(top)
    generations(top)
    unclosed(top)
    blocks(top)
    types(top)
    defects(top)
    variants(top)
    device(top)


def files_below(top):
    return {os.path.relpath(os.path.join(d, f), top) for d, _, fs in os.walk(top) for f in fs}


def main():
    if "--write" in sys.argv:
        if len(sys.argv) > 2:
            shutil.rmtree(os.path.join(DATA, "own"), ignore_errors=True)
        make(DATA)
        return 0
    passed = failed = 0
    with tempfile.TemporaryDirectory() as tmp:
        make(tmp)
        for name in sorted(files_below(tmp)):
            path = os.path.join(DATA, name)
            ok = os.path.exists(path) and filecmp.cmp(path, os.path.join(tmp, name), shallow=False)
            passed, failed = passed + ok, failed + (not ok)
            if not ok:
                print(f"FAIL {name} is not what dump_fixtures.py makes")
        extra = {n for n in files_below(DATA) - files_below(tmp) if not n.startswith("own")}
        for name in sorted(extra):
            print(f"FAIL {name} is not made by dump_fixtures.py")
    print(f"{passed} passed, {failed + len(extra)} failed, 0 skipped")
    return failed + len(extra) > 0


if __name__ == "__main__":
    sys.exit(main())
