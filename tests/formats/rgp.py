#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Are .rgp files read as what is in them? The same streams and code give the same figures as through the raw container; code is linked to
its load by hash, through the correlation or as the only one, and left without addresses where nothing tells; what lies is refused.

usage: rgp.py INCORE
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(os.path.dirname(HERE), "data")
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "sqtt"))
import make_rgp as rgp  # noqa: E402

INCORE = os.path.abspath(sys.argv[1])
AT = rgp.LOAD_BASE + rgp.TEXT_AT
H = [rgp.HASH, rgp.HASH]
passed = failed = 0


def check(ok, what):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAIL {what}")


def write(top, name, data):
    path = os.path.join(top, name)
    with open(path, "wb") as f:
        f.write(data)
    return path


def ask(verb, path, *more):
    """The answer's data and the codes of the notes."""
    out = subprocess.run([INCORE, verb, "--json", *more, path], capture_output=True, text=True)
    assert out.returncode == 0, f"{verb} {path}: {out.stderr}"
    return json.loads(out.stdout)["data"]


def notes(path):
    return {n["code"]: n["count"] for n in ask("info", path)["notes"]}


def differing(a, b, path=""):
    """The paths of what is not the same in two answers."""
    if isinstance(a, dict) and isinstance(b, dict):
        return set().union(*(differing(a.get(k), b.get(k), f"{path}.{k}") for k in a.keys() | b.keys()))
    if isinstance(a, list) and isinstance(b, list):
        return set().union({path + "#"} if len(a) != len(b) else set(), *(differing(x, y, path + "[]") for x, y in zip(a, b)))
    return {path} if a != b else set()


def with_streams(r, streams):
    for i, se in enumerate(sorted(streams)):
        r.stream(i, se, streams[se])
    return r


def check_fixtures():
    for name, r in (("gfx12", rgp.frame(DATA, 12)), ("two", rgp.two(DATA))):
        with open(os.path.join(DATA, "rgp", name + ".rgp"), "rb") as f:
            check(f.read() == r.bytes(), f"data/rgp/{name}.rgp is not what the encoder makes")


# What the raw container has no word for, or the other way round; then what code without debug info and with another name lacks.
OTHER = {"hot": set(), "waves": set(), "isa": {".rows[].code_object"}, "occupancy": {".launch.dispatch", ".limits.machine.simds"}}
PIPELINE = {"hot": {".rows[].address", ".rows[].source"},
            "waves": set(),
            "isa": {".labels[].address", ".labels[].text", ".loops[].header_address", ".loops[].latch_address", ".rows[].address",
                    ".rows[].frames#", ".rows[].source", ".sources#"},
            # the driver has one target for all of gfx12: gfx1201
            "occupancy": {".kernel", ".kernel_ids[].name", ".kernels[].name", ".arch", ".limits.machine.assumed_product",
                          ".limits.machine.assumed_target"}}


def check_same(top):
    """Every figure of four verbs, by the raw container and by the file."""
    for major in (11, 12):
        raw = os.path.join(DATA, f"sqtt_gfx{major}", "host")
        streams, elf = rgp.parts(DATA, major)
        whole = with_streams(rgp.Rgp(major).asic().api().objects(elf).loads((rgp.LOAD_BASE, [1, 2])), streams)
        same = write(top, f"same{major}.rgp", whole.bytes())
        pipeline = write(top, f"pipeline{major}.rgp", rgp.frame(DATA, major).bytes())
        for verb, more in (("hot", ("--top", "all")), ("waves", ()), ("isa", ()), ("occupancy", ())):
            a = ask(verb, raw, *more)
            other = differing(a, ask(verb, same, *more)) - OTHER[verb]
            check(not other, f"{verb} of same{major}.rgp: other {sorted(other)} than {raw}")
            other = differing(a, ask(verb, pipeline, *more)) - OTHER[verb] - PIPELINE[verb]
            check(not other, f"{verb} of pipeline{major}.rgp: other {sorted(other)} than {raw}")
        check(notes(same).get("load-by-elimination") == 1, f"gfx{major}: an elimination that nobody is told of")


def check_links(top):
    streams, elf = rgp.parts(DATA, 12)
    code = rgp.code_of(elf)
    mine, other = rgp.pipeline_elf(code, 12, H), rgp.pipeline_elf(code[:64], 12, [7, 7])

    def made(name, r):
        return write(top, name + ".rgp", with_streams(r, streams).bytes())

    def hits(path):
        return ask("hot", path, "--top", "all")["totals"]["hit"]

    plain = hits(os.path.join(DATA, "rgp", "gfx12.rgp"))
    path = made("pso", rgp.Rgp(12).asic().objects(other, mine).loads((AT, [9, 9])).psos((9, H)))
    check(hits(path) == plain and notes(path).get("no-load-address") == 1, "linked through the correlation")
    path = made("unknown", rgp.Rgp(12).asic().objects(other, mine).loads((AT, [9, 9])))
    got = notes(path)
    check(got.get("unknown-load") == 1 and got.get("no-load-address") == 2, f"a load that nothing links: {got}")
    check(len(ask("waves", path)["waves"]) == len(ask("waves", os.path.join(DATA, "rgp", "gfx12.rgp"))["waves"]), "waves without addresses")
    path = made("no-loads", rgp.Rgp(12).asic().objects(mine))
    check(notes(path).get("no-load-address") == 1, "no load at all")
    path = made("no-objects", rgp.Rgp(12).asic().loads((AT, H)))
    check("no-code-object" in notes(path), "no code object")
    path = made("over", rgp.Rgp(12).asic().objects(other, mine).loads((AT + 64, [7, 7]), (AT, H)))
    check(notes(path).get("load-overlap") == 1 and hits(path) == plain, "a load over an older one")
    path = made("dense", rgp.Rgp(12).asic().objects(other, mine, other).loads((AT - 256, [7, 7]), (AT, H)))
    check("load-overlap" not in notes(path) and hits(path) == plain, "code right before other code")
    path = made("unload", rgp.Rgp(12).asic().objects(mine).loads((AT, H), (AT, H, 1)))
    check(hits(path) == plain, "an unload takes nothing away")
    path = made("bad-elf", rgp.Rgp(12).asic().objects(b"\x7fELF" + bytes(60), mine).loads((AT, H)))
    check(hits(path) == plain and "damaged-code-object" in notes(path), "one damaged code object")
    path = made("old", rgp.Rgp(12).asic().api(0).objects(mine).loads((AT, H)))
    check("no-instruction-timing" not in notes(path), "instructions that are there, whatever the file says")
    untimed = rgp.Rgp(12).asic().api(0).objects(mine).stream(0, 0, streams[0][:8])
    check("no-instruction-timing" in notes(write(top, "untimed.rgp", untimed.bytes())), "instruction tracing was off")


def refused(top, data, code, what):
    path = write(top, "bad.rgp", data)
    out = subprocess.run([INCORE, "info", "--json", path], capture_output=True, text=True)
    check(out.returncode == 3 and code in out.stderr and "bad.rgp" in out.stderr, f"{what}: exit {out.returncode}, {out.stderr.strip()[:200]}")


def check_bad(top):
    whole = rgp.frame(DATA, 12).bytes()
    starts, at = [], 56
    while at < len(whole):
        starts.append(at)
        at += struct.unpack_from("<I", whole, at + 8)[0]
    kinds = {whole[a]: a for a in reversed(starts)}

    def bent(at, fmt, value):
        return whole[:at] + struct.pack(fmt, value) + whole[at + struct.calcsize(fmt):]

    for a, b in zip(starts, starts[1:] + [len(whole)]):
        for cut in {a + 1, a + 15, a + 16, (a + b) // 2, b - 1}:
            refused(top, whole[:cut], "", f"cut at byte {cut}")
        for size in (0, 15, len(whole) - a + 1, 0x7FFFFFFF, 0xFFFFFFFF):
            refused(top, bent(a + 8, "<I", size), "", f"chunk at {a} of {size} bytes")
        if whole[a] in (rgp.ASIC, rgp.DESC, rgp.DATA_CHUNK, rgp.API, rgp.OBJECTS, rgp.LOADS, rgp.PSOS):
            refused(top, bent(a + 6, "<H", 9), "version", f"chunk at {a} of version 9")
    refused(top, whole[:kinds[rgp.DESC]], "", "no stream")
    refused(top, bent(4, "<I", 2), "version", "file of version 2")
    for value in (0, 55, len(whole) + 1, 0xFFFFFFFF):
        refused(top, bent(16, "<I", value), "chunk", f"first chunk at {value}")
    desc, data = kinds[rgp.DESC], kinds[rgp.DATA_CHUNK]
    for value in (0, 6, 11, 13):
        refused(top, bent(desc + 20, "<I", value), "gfx", f"stream of version {value}")
    refused(top, bent(desc + 16, "<I", 1), "shader engine", "two streams of one engine")
    refused(top, bent(desc + 16, "<i", -1), "shader engine", "engine -1")
    second = [a for a in starts if whole[a] == rgp.DESC][1]
    refused(top, bent(second + 1, "<B", 0), "described twice", "two streams of one index")
    refused(top, bent(data + 1, "<B", 9), "description", "data of no stream")
    for value in (0, data + 23, desc, len(whole), 0xFFFFFFFF):
        refused(top, bent(data + 16, "<I", value), "data between", f"data at {value}")
    for value in (0x7FFFFFFF, 0xFFFFFFFF):
        refused(top, bent(data + 20, "<I", value), "data between", f"data of {value} bytes")
        refused(top, bent(kinds[rgp.OBJECTS] + 28, "<I", value), "code object", f"{value} code objects")
        refused(top, bent(kinds[rgp.OBJECTS] + 32, "<I", value), "code object", f"a code object of {value} bytes")
        for kind in (rgp.LOADS, rgp.PSOS):
            refused(top, bent(kinds[kind] + 28, "<I", value), "records", f"{value} records of chunk {kind}")
    for kind in (rgp.LOADS, rgp.PSOS):
        for value in (0, 8, 0xFFFFFFFF):
            refused(top, bent(kinds[kind] + 24, "<I", value), "records", f"records of {value} bytes in chunk {kind}")


def main():
    check_fixtures()
    with tempfile.TemporaryDirectory() as top:
        check_same(top)
        check_links(top)
        check_bad(top)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
