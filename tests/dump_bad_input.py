#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does a hostile or damaged dump get? A clear error with file and place (exit 3), or, where the rest is usable, a
named defect (check: exit 1); never a crash, never a file overwritten. Then a manifest of up to a million records (TIMES=5).

usage: dump_bad_input.py BUILD_DIR [--no-scale]
"""
import ast
import json
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GOOD = os.path.join(ROOT, "tests", "data", "dumps", "g11")
HELD_BYTES = int(os.environ.get("HELD_BYTES", "130"))
RESULT = [0, 0]


def check(ok, what):
    RESULT[not ok] += 1
    if not ok:
        print(f"FAIL {what}")


def run(program, *words):
    p = subprocess.run([program, "dump", *words], capture_output=True, timeout=600, stdin=subprocess.DEVNULL)
    err = p.stderr.decode(errors="replace")
    if p.returncode < 0 or p.returncode == 99 or "Sanitizer" in err or "runtime error" in err:
        check(False, f"incore dump {' '.join(words)}: crashed ({p.returncode}): {err[:1500]}")
    return p.returncode, p.stdout.decode(errors="replace"), err


def edit(old, new):
    def change(text):
        assert old in text, old
        return text.replace(old, new, 1)
    return change


HUGE = "18446744073709551615"
# name, change of the manifest, words that the error must have; every verb refuses it with 3
REFUSED = [
    ("negative-size", edit('"bin_size": 16', '"bin_size": -16'), ["args_dump.json:"]),
    ("negative-shape", edit('"shape": [4]', '"shape": [-4]'), ["args_dump.json:"]),
    ("negative-index", edit('"arg_index": 0', '"arg_index": -1'), ["args_dump.json:"]),
    ("fraction", edit('"bin_size": 16', '"bin_size": 16.5'), ["args_dump.json:"]),
    ("beyond-64-bits", edit('"bin_size": 16', '"bin_size": 99999999999999999999999'), ["args_dump.json:"]),
    ("shape-overflow", edit('"shape": [2, 3]', f'"shape": [{HUGE}, {HUGE}]'), ["args_dump.json:", "overflow"]),
    ("bytes-overflow", edit('"shape": [4]', '"shape": [4611686018427387904]'), ["args_dump.json:", "overflow"]),
    ("stride-overflow", edit('"strides": [3, 1], "start_offset": 1', f'"strides": [{HUGE}, 1], "start_offset": 1'), ["overflow"]),
    ("offset-overflow", edit('"start_offset": 1,', f'"start_offset": {HUGE},'), ["overflow"]),
    ("region-overflow", edit('"bin_offset": 16, "bin_size": 12', f'"bin_offset": {HUGE}, "bin_size": 12'), ["64 bits"]),
    ("rank-9", edit('"shape": [4]', '"shape": [1, 1, 1, 1, 1, 1, 1, 1, 4]'), ["rank"]),
    ("rank-differs", edit('"strides": [3, 1], "start_offset": 1', '"strides": [3], "start_offset": 1'), ["rank"]),
    ("duplicate-key", edit('"arg_index": 0', '"arg_index": 0, "arg_index": 1'), ["arg_index", "twice"]),
    ("duplicate-top-key", edit('"bin_file"', '"bin_file": "args.bin", "bin_file"'), ["bin_file", "twice"]),
    ("duplicate-counter", edit('"total_args"', '"total_args": 1, "total_args"'), ["total_args", "twice"]),
    ("two-arrays-of-args", edit('"args": [', '"args": [], "args": ['), ["args", "twice"]),
    ("deep", edit('"run_dir": "args_dump"', '"run_dir": ' + "[" * 5000 + "]" * 5000), ["args_dump.json:"]),
    ("deep-record", edit('"role"', '"x": ' + "[" * 5000 + "]" * 5000 + ', "role"'), ["args_dump.json:"]),
    ("bin-file-up", edit('"bin_file": "args.bin"', '"bin_file": "../secret.bin"'), ["bin_file", "inside the dump"]),
    ("bin-file-dotdot", edit('"bin_file": "args.bin"', '"bin_file": ".."'), ["bin_file"]),
    ("bin-file-absolute", edit('"bin_file": "args.bin"', '"bin_file": "/etc/passwd"'), ["bin_file"]),
    ("bin-file-below", edit('"bin_file": "args.bin"', '"bin_file": "sub/args.bin"'), ["bin_file"]),
    ("bin-file-empty", edit('"bin_file": "args.bin"', '"bin_file": ""'), ["bin_file"]),
    ("bin-file-number", edit('"bin_file": "args.bin"', '"bin_file": 7'), ["args_dump.json:"]),
    ("physical-layout", edit("logical_contiguous", "physical_strided"), ["logical_contiguous"]),
    ("big-endian", edit("little_endian", "big_endian"), ["little_endian"]),
    ("no-array", edit('"args": [', '"arguments": ['), ["neither args nor tensors"]),
    ("array-is-object", edit('"args": [', '"args": {}, "rest": ['), ["args_dump.json:"]),
    ("record-is-number", edit('"args": [', '"args": [7, '), ["args_dump.json:"]),
    ("no-task", edit('"task_id": "0x0000000000000000", ', ""), ["task_id"]),
    ("bad-task", edit('"task_id": "0x0000000000000000"', '"task_id": "0xzz"'), ["task_id"]),
    ("no-shape", edit('"shape": [4], ', ""), ["shape"]),
    ("bad-role", edit('"role": "output"', '"role": "sideways"'), ["role"]),
    ("bad-kind", edit('"kind": "tensor"', '"kind": "matrix"'), ["kind"]),
    ("bad-level", edit('"dump_args_level": 2', '"dump_args_level": 9'), ["dump_args_level"]),
    ("value-too-large", edit('"value": -7', '"value": -3000000000'), ["value"]),
    ("value-text", edit('"value": -7', '"value": "seven"'), ["value"]),
    ("value-object", edit('"value": -7', '"value": {}'), ["args_dump.json:"]),
    ("many-members", edit('"func_id": [3]', '"func_id": [' + "3, " * 40 + "3]"), ["func_id"]),
    ("truncated", lambda t: t[:len(t) // 2], ["args_dump.json:"]),
    ("empty", lambda t: "", ["args_dump.json"]),
    ("not-json", lambda t: "\0\1\2" * 50, ["args_dump.json"]),
    ("trailing", lambda t: t + "{}", ["args_dump.json:"]),
    ("array-on-top", lambda t: "[]", ["args_dump.json:"]),
    ("other-schema", edit('"run_dir"', '"schema": "other/1", "run_dir"'), ["schema"]),
]
# name, change, code that check must name, with exit status 1
DEFECTIVE = [
    ("offset-beyond-file", edit('"bin_offset": 16,', '"bin_offset": 4000000000,'), "out-of-file"),
    ("size-beyond-file", edit('"shape": [2, 3], "strides": [3, 1], "start_offset": 0, "numel": 6, "bin_offset": 16, "bin_size": 12',
                              '"shape": [2, 3000000], "strides": [3000000, 1], "start_offset": 0, "numel": 6000000, "bin_offset": 16, '
                              '"bin_size": 12000000'), "out-of-file"),
    ("huge-shape", edit('"shape": [2, 3]', '"shape": [1048576, 1048576]'), "size-differs"),
    ("wrong-numel", edit('"numel": 6', '"numel": 7'), "numel-differs"),
    ("wrong-counter", edit('"before_dispatch": 6', '"before_dispatch": 7'), "counter-differs"),
    ("dropped", edit('"dropped_records": 0', '"dropped_records": 3'), "dropped-records"),
    ("overlap", edit('"bin_offset": 16,', '"bin_offset": 8,'), "overlap"),
    ("null-bin", edit('"bin_file": "args.bin"', '"bin_file": null'), "no-payload-file"),
    ("missing-bin", edit('"bin_file": "args.bin"', '"bin_file": "other.bin"'), "payload-missing"),
    ("huge-slot", edit('"arg_index": 3', '"arg_index": 4294967294'), "missing-slot"),
    ("truncated-record", edit('"truncated": false', '"truncated": true'), "truncated"),
    ("overwritten-record", edit('"overwritten": false', '"overwritten": true'), "overwritten"),
    ("scalar-without-value", edit('"value": -7, ', ""), "no-value"),
]


def damaged(tmp, name, change):
    top = os.path.join(tmp, name)
    shutil.copytree(GOOD, top)
    path = os.path.join(top, "args_dump.json")
    with open(path) as f:
        text = f.read()
    with open(path, "w") as f:
        f.write(change(text))
    return top


def refused(program, tmp):
    for name, change, words in REFUSED:
        top = damaged(tmp, name, change)
        for verb in (["ls"], ["show"], ["check"], ["diff", GOOD], ["export", "-o", os.path.join(tmp, "out")]):
            rc, out, err = run(program, *verb, top)
            check(rc == 3, f"{name}: dump {verb[0]}: exit status {rc}, not 3: {err[:300]}")
            check(all(w in err for w in words), f"{name}: dump {verb[0]}: expected {words} in: {err[:300]}")
        check(not os.path.exists(os.path.join(tmp, "out")), f"{name}: export wrote its directory")


def defective(program, tmp):
    for name, change, code in DEFECTIVE:
        top = damaged(tmp, name, change)
        rc, out, err = run(program, "check", "--json", top)
        codes = [p["code"] for p in json.loads(out)["data"]["problems"]] if rc in (0, 1) else []
        check(rc == 1 and code in codes, f"{name}: check: exit status {rc}, {codes}: {err[:300]}")
        for verb in (["ls"], ["show", "--top", "all"], ["diff", GOOD], ["export", "-o", os.path.join(tmp, f"out-{name}")]):
            rc, out, err = run(program, *verb, top)
            check(rc in (0, 1, 3), f"{name}: dump {verb[0]}: exit status {rc}: {err[:300]}")
            check(rc != 3 or "args_dump.json" in err or "other.bin" in err, f"{name}: dump {verb[0]}: no place: {err[:300]}")
        if code in ("out-of-file", "no-payload-file", "payload-missing"):
            rc, out, err = run(program, "ls", "--strict", top)
            check(rc == 4, f"{name}: ls --strict: exit status {rc}")
            rc, out, err = run(program, "show", "--top", "all", top)
            check(rc == 3, f"{name}: show: exit status {rc}, not 3: {err[:300]}")


def payload_files(program, tmp):
    for name, data in (("zero-bytes", b""), ("one-byte", b"x"), ("longer", None)):
        top = damaged(tmp, f"bin-{name}", lambda t: t)
        path = os.path.join(top, "args.bin")
        with open(path, "rb") as f:
            good = f.read()
        with open(path, "wb") as f:
            f.write(good + b"tail" if data is None else data)
        rc, out, err = run(program, "check", top)
        if data is None:
            check(rc == 0 and "uncovered-bytes" in out, f"bin {name}: {rc}: {out}")
        else:
            check(rc == 1 and "out-of-file" in out, f"bin {name}: {rc}: {out}")
            check(run(program, "show", "-i", "0", top)[0] == 3, f"bin {name}: show")
    top = damaged(tmp, "bin-directory", lambda t: t)
    os.remove(os.path.join(top, "args.bin"))
    os.mkdir(os.path.join(top, "args.bin"))
    rc, out, err = run(program, "ls", top)
    check(rc == 3 and "args.bin" in err, f"payload is a directory: {rc}: {err}")
    top = os.path.join(tmp, "unclosed")
    os.mkdir(top)
    with open(os.path.join(top, "args.log"), "wb") as f:
        f.write(b"INCDLOG\0" + struct.pack("<II", 1, 0x01020304))
    rc, out, err = run(program, "ls", top)
    check(rc == 3 and "incore dump repair" in err, f"unclosed: {rc}: {err}")
    check(run(program, "ls", os.path.join(tmp, "nowhere"))[0] == 3, "no such directory")


def device_records(program, tmp):
    path = os.path.join(tmp, "records.bin")
    for name, data, want in (("short", b"x" * 100, 3), ("one-and-a-half", b"x" * 192, 3), ("empty", b"", 3),
                             ("ones", b"\xff" * 128 * 20, 1), ("zeros", bytes(128 * 20), 0),
                             ("count", bytes(32768) + struct.pack("<I", 257) + bytes(60), 3),
                             ("buffer", bytes(32768) + struct.pack("<I", 256) + bytes(60), 0)):
        with open(path, "wb") as f:
            f.write(data)
        for layout in ("g1", "g3", "g4", "g7", "g9", "g10"):
            rc, out, err = run(program, "ls", "--records", layout, path)
            check(rc == (3 if want == 3 else 0), f"device records {name} {layout}: ls: {rc}: {err[:200]}")
            check(rc != 3 or "records.bin" in err, f"device records {name} {layout}: {err[:200]}")
            run(program, "check", "--records", layout, path)
            run(program, "show", "--records", layout, path)


def arenas(program, tmp):
    """Positions that nothing vouches for, against arenas of any length."""
    source = os.path.join(os.path.dirname(GOOD), "device_arena")
    with open(os.path.join(source, "records_g10.bin"), "rb") as f:
        good = f.read()
    with open(os.path.join(source, "arena.bin"), "rb") as f:
        bytes_of = f.read()
    path, arena = os.path.join(tmp, "records.bin"), os.path.join(tmp, "arena.bin")
    big = 2**64 - 1
    cases = [("empty", [], 0, 3), ("one byte", [], 1, 0), ("round too often", [(i, 55 + 60 * i, 50) for i in range(9)], 60, 0),
             ("same place", [(i, 119, 50) for i in (0, 1, 3, 4, 5, 8)], 60, 3), ("huge offset", [(3, big - 3, 3)], 60, 0),
             ("overflow", [(3, big, 12)], 60, 0), ("huge size", [(3, 0, big)], 60, 0), ("both", [(4, big, big)], 60, 0)]
    for name, places, length, want in cases:
        records = bytearray(good)
        for i, at, size in places:
            struct.pack_into("<QQ", records, 128 * i + 24, at, size)
        for where, what in ((path, bytes(records)), (arena, bytes_of[:length])):
            with open(where, "wb") as f:
                f.write(what)
        for verb in ("ls", "check", "show"):
            rc, _, err = run(program, verb, "--records", "g10", "--arena", arena, path)
            allowed = (3,) if want == 3 else (0,) if verb == "ls" else (0, 1, 3)
            check(rc in allowed, f"arena {name}: {verb}: {rc}: {err[:200]}")


def exports(program, tmp):
    """Nothing is overwritten unless asked for; what fails leaves nothing."""
    out = os.path.join(tmp, "exported")
    check(run(program, "export", "-o", out, GOOD)[0] == 0, "export into a new directory")
    names = sorted(os.listdir(out))
    check(len(names) == 9, f"export wrote {len(names)} files")
    before = {n: os.stat(os.path.join(out, n)).st_mtime_ns for n in names}
    rc, _, err = run(program, "export", "-o", out, GOOD)
    check(rc == 6 and "--force" in err, f"a second export: {rc}: {err}")
    check({n: os.stat(os.path.join(out, n)).st_mtime_ns for n in os.listdir(out)} == before, "a second export touched files")
    check(run(program, "export", "--force", "-o", out, GOOD)[0] == 0, "export --force")
    rc, _, err = run(program, "export", "--to", "csv", "-o", os.path.join(out, names[0]), GOOD)
    check(rc == 6, f"export onto a file: {rc}: {err}")
    broken = damaged(tmp, "half", edit('"bin_offset": 64,', '"bin_offset": 4000,'))
    empty = os.path.join(tmp, "empty-dir")
    os.mkdir(empty)
    for where in (empty, os.path.join(tmp, "fresh")):
        rc, _, err = run(program, "export", "-o", where, broken)
        check(rc == 3 and "args_dump.json" in err, f"export of a broken record: {rc}: {err}")
    check(os.listdir(empty) == [] and not os.path.exists(os.path.join(tmp, "fresh")), "a failed export left files")
    check(not [n for n in os.listdir(tmp) if n.endswith(".tmp")], "a failed export left its directory")


def read_npy(path):
    """By hand, as the format's document says: magic, version 1.0, a dictionary, the data from a multiple of 64."""
    with open(path, "rb") as f:
        data = f.read()
    n = struct.unpack("<H", data[8:10])[0]
    assert data[:8] == b"\x93NUMPY\1\0" and (10 + n) % 64 == 0 and data[9 + n:10 + n] == b"\n"
    head = ast.literal_eval(data[10:10 + n].decode())
    return head["descr"], head["shape"], head["fortran_order"], data[10 + n:]


def formats(program, tmp):
    """npy and raw against the records themselves, every dtype; csv and txt have a row per element."""
    types = os.path.join(ROOT, "tests", "data", "dumps", "types")
    with open(os.path.join(types, "args.bin"), "rb") as f:
        payload = f.read()
    records = json.loads(run(program, "ls", "--json", types)[1])["data"]["records"]
    for to in ("npy", "raw", "csv", "txt"):
        check(run(program, "export", "--to", to, "-o", os.path.join(tmp, f"types-{to}"), types)[0] == 0, f"export --to {to}")
    wide = {"BFLOAT16", "FP8E4M3FN", "FP8E8M0"}
    for r in records:
        name = f"task_{r['task_id']}_{r['stage']}_{'in' if r['role'] == 'input' else 'out'}{r['slot']}_i{r['index']}"
        data = payload[r["bin_offset"]:r["bin_offset"] + r["bin_size"]]
        descr, shape, fortran, body = read_npy(os.path.join(tmp, "types-npy", name + ".npy"))
        check((list(shape), fortran) == (r["shape"], False), f"npy of {r['dtype']}: {shape}")
        check(len(body) == 4 * r["numel"] and descr == "<f4" if r["dtype"] in wide else body == data, f"npy of {r['dtype']}: data")
        if r["dtype"] == "BFLOAT16":
            check(body == b"".join(b"\0\0" + data[i:i + 2] for i in range(0, len(data), 2)), "npy of BFLOAT16: widened exactly")
        with open(os.path.join(tmp, "types-raw", name + ".bin"), "rb") as f:
            check(f.read() == data, f"raw of {r['dtype']}")
        with open(os.path.join(tmp, "types-csv", name + ".csv")) as f:
            check(len(f.readlines()) == 1 + r["numel"], f"csv of {r['dtype']}")
        with open(os.path.join(tmp, "types-txt", name + ".txt")) as f:
            text = f.read()
        check(text.count("\n[") == r["numel"] and ("# (no data)" in text) == (r["numel"] == 0), f"txt of {r['dtype']}")


def child_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def scale(program, tmp, n=200000 * min(5, int(os.environ.get("TIMES", "1")))):
    """330 bytes of manifest a record, up to 330 MB: linear work, about 100 bytes a record besides the mapped file."""
    top = os.path.join(tmp, "many")
    os.mkdir(top)
    path = os.path.join(top, "args_dump.json")
    line = ('{"task_id": "0x%016x", "func_id": [%d], "arg_index": %d, "role": "%s", "stage": "%s_%s", "kind": "tensor", "dtype": '
            '"FLOAT32", "is_contiguous": true, "shape": [16, 16], "strides": [16, 1], "start_offset": %d, "numel": 256, '
            '"bin_offset": 0, "bin_size": 0, "truncated": false, "overwritten": false}')
    times = []
    for count in (n // 10, n):
        with open(path, "w") as f:
            f.write('{"bin_format": {"type": "logical_contiguous"}, "dump_args_level": 3, "total_args": %d, "bin_file": null, "args": [\n'
                    % count)
            for i in range(count):
                task, slot = divmod(i, 5)
                f.write(line % (task, task % 4, slot, "output" if slot == 4 else "input", "after" if slot == 4 else "before",
                                "completion" if slot == 4 else "dispatch", i))
                f.write(",\n" if i + 1 < count else "\n]}\n")
        started, most = child_seconds(), HELD_BYTES * count + (16 << 20)
        # RLIMIT_DATA counts what is allocated, not the mapped manifest
        p = subprocess.run([program, "dump", "check", "--json", path], capture_output=True,
                           preexec_fn=lambda m=most: resource.setrlimit(resource.RLIMIT_DATA, (m, m)))
        times.append(child_seconds() - started)
        data = json.loads(p.stdout) if p.returncode == 0 else {}
        check(data and data["data"]["verdict"] == "sound" and data["input"]["records"] == count,
              f"{count} records in {HELD_BYTES} bytes each: exit status {p.returncode}: {p.stderr.decode()[:300]}")
    print(f"{n} records, {os.path.getsize(path) >> 20} MB of manifest: {times[1]:.2f} s of work (a tenth of it: {times[0]:.2f} s), "
          f"within {HELD_BYTES} bytes a record and 16 MiB")
    check(times[1] < 30 * times[0] + 1, f"not linear: {times}")


def main():
    program = os.path.join(os.path.abspath(sys.argv[1]), "incore")
    with tempfile.TemporaryDirectory() as tmp:
        refused(program, tmp)
        defective(program, tmp)
        payload_files(program, tmp)
        device_records(program, tmp)
        arenas(program, tmp)
        exports(program, tmp)
        formats(program, tmp)
        if "--no-scale" not in sys.argv:
            scale(program, tmp)
    print(f"{RESULT[0]} passed, {RESULT[1]} failed, 0 skipped")
    return RESULT[1] > 0


if __name__ == "__main__":
    sys.exit(main())
