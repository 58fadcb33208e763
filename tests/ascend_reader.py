#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Facts about the formats of Ascend's op simulator, one by one, on inputs made here: what a reader has to accept, where the
files lie, what a lane, a flag, a head slice, an address or a clock means, and which traces `check` must not trust.

usage: ascend_reader.py BUILD_DIR
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

from ascend_bad_input import API, API_INSTR, SOURCE, TRACE, block, event, trace_of
from insight_check import ORDER

COUNT = [0, 0]
VEC, CUBE = "core0.veccore0", "core0.cubecore0"


class Program:
    def __init__(self, build, tmp):
        self.path, self.tmp, self.n = os.path.join(os.path.abspath(build), "incore"), tmp, 0

    def folder(self):
        self.n += 1
        path = os.path.join(self.tmp, str(self.n))
        os.mkdir(path)
        return path

    def file(self, data, name="trace.json", folder=None):
        path = os.path.join(folder or self.folder(), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())
        return path

    def run(self, *words):
        return subprocess.run([self.path, *words], capture_output=True, text=True, timeout=600)

    def data(self, verb, path, *options):
        p = self.run(verb, "--json", "-q", *options, path)
        return json.loads(p.stdout)["data"] if p.returncode in (0, 1) else {"error": p.stderr, "pipes": [], "notes": [], "findings": []}

    def pipes(self, events, *options):
        """At 1000 MHz a cycle is a nanosecond."""
        path = events if isinstance(events, str) else self.file(trace_of(events))
        return {(p["core"], p["pipe"]): p for p in self.data("waves", path, "--clock", "1000", *options)["pipes"]}

    def notes(self, path, *options):
        return {n["code"]: n for n in self.data("info", path, *options)["notes"]}

    def findings(self, events):
        return {f["id"] for f in self.data("check", self.file(trace_of(events)), "--clock", "1000")["findings"]}


def check(what, got, want):
    COUNT[got != want] += 1
    if got != want:
        print(f"FAIL {what}: {str(got)[:300]}, expected {want}")


def x(name, tid, ts, dur=0.5, pid=VEC, detail="XD:X1,", pc="0x40", **more):
    return event(name=name, tid=tid, ts=ts, dur=dur, pid=pid, args={"code": "", "detail": detail, "pc_addr": pc}, **more)


def flag(name, tid, begin, end, ident, detail, pid=VEC):
    more = {} if ident is None else {"id": ident}
    return [{"args": {"detail": detail, "pc_addr": "0x44"}, "name": name, "ph": "B", "pid": pid, "tid": tid, "ts": begin, **more},
            {"args": {}, "name": name, "ph": "E", "pid": pid, "tid": tid, "ts": end, **more}]


DETAIL = "PIPE:MTE2,TRIGGERPIPE:VEC,FLAGID:0,"


# --- events ---

def lanes(program):
    names = [*ORDER, "WARP_0", "WARP_63", "NEW_LANE"]
    found = program.pipes([x("OP", t, i + 1) for i, t in enumerate(names)])
    check("every lane is known", sorted(p for _, p in found), sorted(names))
    order = {"args": {"sort_index": 99}, "name": "thread_sort_index", "ph": "M", "pid": VEC}
    found = program.pipes([{**order, "tid": "WARP_-1"}, {**order, "tid": "MTE3"}, x("OP", "MTE2", 1)])
    check("a lane without slices is no track", [p for _, p in found], ["MTE2"])
    found = program.pipes([x("OP", "MTE2", 1), x("OP", "MTE2#1", 1)])
    check("sub-lanes are folded back", [(k[1], v["depth_max"]) for k, v in found.items()], [("MTE2", 2)])
    meta = [{"args": {"name": n}, "name": "process_name", "ph": "M", "pid": p, "tid": 0} for n, p in (("MTE2", 60), ("VECTOR", 30))]
    path = program.file(trace_of([*meta, x("MOV", 1, 1, pid=60), x("VADD", 1, 2, pid=30)]).replace(b':2,"trace', b':1,"trace'),
                        "simulator/core0.veccore0/trace.json")
    check("a file of one core", sorted(program.pipes(path)), [(VEC, "MTE2"), (VEC, "VECTOR")])


def heads(program):
    group = {"group_id": "MOV_1"}
    for order in (1, -1):
        events = [x("cache_time", "MTE2", 1.0, 0.4, **group), x("ccu_time", "MTE2", 1.4, 0.1, **group), x("MOV", "MTE2", 1.5, **group)]
        p = program.pipes(events[::order])[VEC, "MTE2"]
        check(f"a head is no instruction ({order})", (p["instructions"], p["busy"], p["accounting"]["stall"], p["cache_miss_stall"]),
              (1, 500, 500, 400))
    events = [x("MOV", "MTE2", 0.5), *flag("SET_FLAG", "MTE2", 2.9, 3.0, "a", DETAIL),
              x("cache_time", "VECTOR", 1.0, 0.3, group_id="a"), *flag("WAIT_FLAG", "VECTOR", 1.3, 3.0, "a", DETAIL), x("VADD", "VECTOR", 3)]
    p = program.pipes(events)[VEC, "VECTOR"]
    check("the head of a WAIT goes by the flag's id", (p["accounting"]["stall"], p["accounting"]["wait"]), (300, 1700))
    other = [x("cache_time", "MTE2", 1.0, 0.4, group_id="b"), x("MOV", "MTE2", 1.5, group_id="a")]
    check("another group's head is not taken", program.pipes(other)[VEC, "MTE2"]["accounting"]["stall"], 0)


def shapes(program):
    events = [x("MOV", "MTE2", "1.5", "0.25"), x("MOV", "MTE2", 3, None), {"ph": "X", "name": "MOV", "pid": VEC, "tid": "MTE2", "ts": 4, "dur": 1}]
    p = program.pipes(events)[VEC, "MTE2"]
    check("strings for numbers, no dur, no args", (p["instructions"], p["busy"]), (3, 1250))
    path = program.file(trace_of([x("MOV", "MTE2", 1), x("MOV", "MTE2", None), {**x("MOV", "MTE2", 2), "ph": "I"}]))
    notes = program.notes(path)
    check("an event without ts is counted", notes.get("no-timestamp", {}).get("count"), 1)
    check("an unknown phase is counted", notes.get("unknown-phase", {}).get("count"), 1)
    check("--strict", program.run("info", "--strict", path).returncode, 4)
    path = program.file(b"[" + json.dumps(x("MOV", "MTE2", 1)).encode() + b"]")
    check("a bare array", program.pipes(path)[VEC, "MTE2"]["instructions"], 1)


def flags(program):
    def waits(events, consumer="VECTOR", core=VEC):
        return [(w["producer_pipe"], w["cycles"]) for w in program.pipes(events)[core, consumer]["waits"]]
    work = [x("MOV", "MTE2", 0), x("MOV", "MTE1", 0), x("VADD", "VECTOR", 9)]
    pair = [*flag("SET_FLAG", "MTE2", 4, 5, 7, DETAIL), *flag("SET_FLAG", "MTE1", 1, 2, 8, DETAIL), *flag("WAIT_FLAG", "VECTOR", 1, 5, 7, DETAIL)]
    check("a number is an id, and ids decide", waits([*work, *pair]), [("MTE2", 4000)])
    pair = [*flag("SET_FLAG", "MTE2", 4, 5, None, DETAIL), *flag("WAIT_FLAG", "VECTOR", 1, 5, None, DETAIL)]
    check("without ids: first in, first out", waits([*work, *pair]), [("MTE2", 4000)])
    check("in any order", waits([*pair[::-1], *work]), [("MTE2", 4000)])
    old = "pipe_type:MTE2,tigger_pipe:VEC,event_id:1,"
    pair = [*flag("set_event", "MTE2", 4, 5, "e", old), *flag("wait_event", "VECTOR", 1, 5, "e", old)]
    check("events of 310P", waits([*work, *pair]), [("MTE2", 4000)])
    wrong = "PIPE:MTE3,TRIGGERPIPE:M,FLAGID:0,"
    pair = [*flag("SET_FLAG", "MTE2", 4, 5, "a", wrong), *flag("WAIT_FLAG", "VECTOR", 1, 5, "a", wrong)]
    check("lanes come from the events, not from the detail", waits([*work, *pair]), [("MTE2", 4000)])
    pair = [*flag("SET_INTRA_BLOCK", "FIXP", 4, 5, "intra_0", "PIPE:FIXP,SYNCID:0,", CUBE),
            *flag("WAIT_INTRA_BLOCK", "VECTOR", 1, 5, "intra_0", "PIPE:VECTOR,SYNCID:0,")]
    check("across cores", waits([*work, *pair, x("FIX", "FIXP", 0, pid=CUBE)]), [("FIXP", 4000)])
    check("a wait of nobody", waits([*work, *flag("WAIT_FLAG", "VECTOR", 1, 5, "z", DETAIL)]), [(None, 4000)])


def times(program):
    def f32(v):
        return struct.unpack("<f", struct.pack("<f", v))[0]
    for mhz in (1850, 1650):
        starts = [1, 1000003, 7777777, int(8191 * mhz) - 1]
        path = program.file(trace_of([x("MOV", "MTE2", f32(c / mhz), f32(3 / mhz)) for c in starts]))
        got = program.data("waves", path, "--clock", str(mhz))["pipes"][0]
        check(f"cycles come back from floats at {mhz} MHz", (got["first"], got["last"], got["busy"]), (starts[0], starts[-1] + 3, 12))
        check(f"which is exact at {mhz} MHz", {"quantised", "float-time"} & set(program.notes(path, "--clock", str(mhz))), set())
    path = program.file(trace_of([x("MOV", "MTE2", f32(c / 1850), f32(3 / 1850)) for c in (1, 31234567)]))
    check("floats past 8.2 ms are coarse", "float-time" in program.notes(path, "--clock", "1850"), True)
    check("check says so", "quantised-time" in {f["id"] for f in program.data("check", path, "--clock", "1850")["findings"]}, True)
    path = program.file(trace_of([x("MOV", "MTE2", c / 1850, 3 / 1850) for c in (1, 31234567)]))
    check("doubles are not", "float-time" in program.notes(path, "--clock", "1850"), False)
    path = program.file(trace_of([x("MOV", "MTE2", f32(v), 0.002) for v in (1.234, 2.001, 7.5)]))
    check("rounded to 1 ns", "quantised" in program.notes(path), True)


def clocks(program):
    table = {"910B1": 1850, "910B2": 1800, "910B2C": 1800, "910B3": 1800, "910B4": 1650, "310P5": 800, "310P7": 550, "310B4": 500,
             **{f"310P{i}": 1060 for i in (1, 2, 3, 4)}, **{f"310B{i}": 1224 for i in (1, 2, 3)},
             **{f"950PR_{s}": 1800 for s in ("9591", "9592", "9595", "9596", "9599", "95A1", "95A2")},
             **{f"950PR_{s}": 1650 for s in ("950X", "950Y", "950Z", "9571", "957c", "9589")}}
    path = program.file(trace_of([x("MOV", "MTE2", 1)]))
    for soc, mhz in table.items():
        check(f"clock of {soc}", program.data("info", path, "--soc", "Ascend" + soc).get("clock_mhz"), mhz)
    check("no clock: the default", program.data("info", path).get("clock_mhz"), 1850)
    check("it is a guess", "clock-unknown" in program.notes(path), True)
    lanes_a5 = program.file(trace_of([x("MOV", "MTE2", 1), x("V", "RVECEX", 2)]))
    check("lanes of A5", program.data("info", lanes_a5).get("clock_mhz"), 1800)
    for spell in ("64", "0x40"):
        for detail in ('"XD:X1,"', "XD:X1"):
            folder = program.folder()
            program.file(trace_of([x("MOV", "MTE2", 1, 1000 / 1650, pc="0x40")]), folder=folder)
            program.file("instr,addr,pipe,call_count,cycles,running_time(us),detail\nMOV,%s,MTE2,1,1000,0.61,%s\n" % (spell, detail),
                         VEC + "_instr_exe.csv", folder)
            check(f"address {spell}, detail {detail}", program.data("info", folder).get("clock_mhz"), 1650)


# --- files ---

def container(program):
    trace = trace_of([x("MOV", "MTE2", 1), x("MOV", "MTE2", 2)])
    good = block(TRACE, trace)

    def found(data, *options):
        path = program.file(data, "visualize_data.bin")
        p = program.run("waves", "--json", "-q", *options, path)
        n = sum(k["instructions"] for k in json.loads(p.stdout)["data"]["pipes"]) if p.returncode == 0 else None
        return n, p.returncode, program.notes(path) if p.returncode == 0 else {}
    check("version 0", found(block(TRACE, trace, version=0))[0], 2)
    seven = struct.pack("<QBBBB", len(trace) + 7, TRACE, 7, 0x5a, 0x5a) + trace + b"\0" * 7
    check("padding of 7", found(seven)[0], 2)
    odd = struct.pack("<QBBBB", 5, 200, 0, 0x5a, 0x5a) + b"hello"
    check("unaligned and unknown blocks", found(odd + good)[0], 2)
    check("two TRACE blocks", found(good + block(TRACE, trace_of([x("V", "VECTOR", 3)])))[0], 3)
    source = block(SOURCE, b"int x;\n", b"/k.cpp")
    old = struct.pack("<QBBBB", 4096 + 8, SOURCE, 1, 0x5a, 0x5a) + b"/k.cpp".ljust(4096, b"\0") + b"int x;\n\0"
    n, _, notes = found(good + source + good)
    check("SOURCE has its path besides its size", (n, "legacy-source" in notes), (4, False))
    n, _, notes = found(good + old + good)
    check("SOURCE that counts its path", (n, "legacy-source" in notes), (4, True))
    for what, data in (("a tail", good + b"\0" * 5), ("a cut block", good + source[:-20]), ("a bad header", good + b"\xff" * 40)):
        n, rc, notes = found(data)
        check(f"{what} is noted", (n, rc, bool(notes)), (2, 0, True))
        check(f"{what} with --strict", found(data, "--strict")[1], 4)
    check("nothing good", found(good[:40])[1], 3)
    api = json.dumps({**API, "Cores": [VEC], "Instructions": [{**API["Instructions"][0], "Cycles": [1.0], "Instructions Executed": [2.0]}]})
    check("an old table", found(good + block(API_INSTR, api.encode(), version=0x5a))[0], 2)


def layouts(program):
    trace = trace_of([x("MOV", "MTE2", 1)])
    data = block(TRACE, trace)

    def names(files, top="OPPROF_1"):
        folder = program.folder()
        for name, body in files.items():
            program.file(body, os.path.join(top, name), folder)
        out = program.folder()
        p = program.run("clean", "-q", os.path.join(folder, top), "-o", os.path.join(out, "o"))
        made = sorted(f for _, _, fs in os.walk(out) for f in fs if f.endswith(".clean.json"))
        return made if p.returncode == 0 else p.stderr
    sim = "simulator/visualize_data.bin"
    check("L1", names({sim: data, "dump/pc_start_addr.txt": "0x0\n"}), ["OPPROF_1.clean.json"])
    check("L2", names({"k/0/" + sim: data, "k/1/" + sim: data, "m/0/" + sim: data}),
          ["k.0.clean.json", "k.1.clean.json", "m.clean.json"])
    check("L3", names({"device0/k/0/" + sim: data}), ["k.clean.json"])
    check("L4", names({"simulator/trace.json": trace}), ["OPPROF_1.clean.json"])
    log = "[%08d] (PC: 0x10000040) MTE2      : (Binary: 0x0) MOV XD:X1\n"
    dumps = {"core0.veccore0.instr_popped_log.dump": log % 10, "core0.veccore0.instr_log.dump": log % 20}
    for where in ("tmp_dump", "dump", "device0/tmp_dump"):
        folder = program.folder()
        for name, body in dumps.items():
            program.file(body, os.path.join("OPPROF_1", where, name), folder)
        p = program.data("waves", os.path.join(folder, "OPPROF_1"))["pipes"]
        check(f"L5 {where}", [(k["pipe"], k["first"], k["last"]) for k in p], [("MTE2", 10, 20)])
    folder = program.folder()
    program.file(block(5, b'{"name":"k","soc":"Ascend910B4","op_type":"vector"}'), "OPPROF_1/visualize_data.bin", folder)
    check("L6", program.data("info", os.path.join(folder, "OPPROF_1")).get("arch"), "Ascend910B4")
    folder = program.folder()
    program.file(trace, "trace.json", folder)
    program.file("instr,addr,pipe,call_count,cycles,running_time(us),detail\nMOV,64,MTE2,1,900,0.5,\n", VEC + "_instr_exe.csv", folder)
    check("L7: the table beside states the clock", program.data("info", folder).get("clock_mhz"), 1800)
    check("L7 has its pipe", [p for _, p in program.pipes(folder)], ["MTE2"])
    files = {f"funcs/{k}/{stage}/OPPROF_{k}/{sim}": data for k in "ab" for stage in ("collect/out", "export")}
    rows = "".join(f"{k},x,/elsewhere/funcs/{k}/export/OPPROF_{k}/{sim}\n" for k in "ab")
    found = names({**files, "manifest_export.csv": "kernel,export_dir,visualize_data_bin\n" + rows}, "run")
    check("L8: each kernel once", len(found) if isinstance(found, list) else found, 2)


def line(tick, pc, unit, text, ident=None, tail=""):
    name = "" if ident is None else f"(ID: {ident:06d}) "
    return f"[info] [{tick:08d}] (PC: 0x{pc:x}) {unit:<9} : (Binary: 0x0) {name}{text}{tail}\n"


def dumps(program):
    def found(starts, ends, more=()):
        folder = program.folder()
        for name, body in (("core0.veccore0.instr_popped_log.dump", starts), ("core0.veccore0.instr_log.dump", ends), *more):
            program.file("".join(body), name, folder)
        pipes = program.data("waves", folder)["pipes"]
        return {p["pipe"]: (p["first"], p["last"], p["instructions"]) for p in pipes}, program.notes(folder), folder

    def one(unit, text="MOV XD:X1", pc=0x40):
        return found([line(10, pc, unit, text)], [line(20, pc, unit, text)])[0]
    for unit, lane in (("VECTOR0", "VECTOR"), ("VEC0", "VECTOR"), ("VEC", "VECTOR"), ("FC", "FLOWCTRL"), ("FIX_PIPE", "FIXP"),
                       ("ISSUE", "EVENT"), ("MTE3", "MTE3"), ("STRANGE", "ALL"), ("RVECEX", "RVECEX")):
        check(f"unit {unit}", list(one(unit)), [lane])
    check("scalar_ld is SCALAR", list(one("STRANGE", "scalar_ld(x[0]= 0x0)")), ["SCALAR"])
    got = found([line(10, 0x40, "MTE2", "MOV XD:X1"), line(9, 0x40, "MTE2", "MOV XD:X1", tail=". poped from IQ")],
                [line(20, 0x40, "MTE2", "MOV XD:X1")])
    check("poped from IQ is dropped, pop success kept", got[0], {"MTE2": (10, 20, 1)})
    got = found([line(10, 0x40, "MTE2", "MOV XD:X1", tail=" pop success 1")], [line(20, 0x40, "MTE2", "MOV XD:X1")])
    check("pop success is kept", got[0], {"MTE2": (10, 20, 1)})
    got = found([line(50, 0x40, "MTE2", "MOV XD:X1"), line(10, 0x40, "MTE2", "MOV XD:X1")],
                [line(60, 0x40, "MTE2", "MOV XD:X1"), line(20, 0x40, "MTE2", "MOV XD:X1")])
    check("lines in any order, k-th with k-th", got[0], {"MTE2": (10, 60, 2)})
    got = found([line(10, 0x40, "MTE2", "MOV XD:X1", 7), line(11, 0x40, "MTE2", "MOV XD:X1", 8)],
                [line(20, 0x40, "MTE2", "MOV XD:X1", 8), line(90, 0x40, "MTE2", "MOV XD:X1", 7)])
    check("joined by ID", got[0], {"MTE2": (10, 90, 2)})
    got = found([line(10, 0x40, "MTE2", "MOV XD:X1")], [line(20, 0x40, "MTE2", "MOV XD:X1"), line(25, 0x40, "MTE2", "MOV XD:X1")])
    check("an end up to 8 ticks later replaces", got[0], {"MTE2": (10, 25, 1)})
    got = found([line(10, 0x40, "MTE2", "MOV XD:X1"), line(11, 0x40, "MTE2", "MOV XD:X1")], [line(20, 0x40, "MTE2", "MOV XD:X1")])
    check("a start 1 tick later replaces", got[0], {"MTE2": (11, 20, 1)})
    got = found([line(10, 0x40, "MTE2", "MOV XD:X1"), line(30, 0x44, "MTE2", "MOV XD:X1")], [line(20, 0x40, "MTE2", "MOV XD:X1")])
    check("a start without end is noted", (got[0], "start-without-end" in got[1]), ({"MTE2": (10, 20, 1)}, True))
    check("and the tail is not trusted", "truncated" in {f["id"] for f in program.data("check", got[2])["findings"]}, True)
    got = found([line(10, 0x40, "MTE2", "MOV XD:X1"), line(30, 0x44, "MTE2", "MOV XD:X1")],
                [line(20, 0x40, "MTE2", "MOV XD:X1"), line(25, 0x44, "MTE2", "MOV XD:X1")])
    check("an end before its start is dropped", got[0], {"MTE2": (10, 20, 1)})
    rotated = ("core0.veccore0.instr_log.1.dump", [line(70, 0x40, "MTE2", "MOV XD:X1")])
    more = ("core0.veccore0.instr_popped_log.1.dump", [line(60, 0x40, "MTE2", "MOV XD:X1")])
    got = found([line(10, 0x40, "MTE2", "MOV XD:X1")], [line(20, 0x40, "MTE2", "MOV XD:X1")], (rotated, more))
    check("rotated files are one", got[0], {"MTE2": (10, 70, 2)})
    warp = "SIMT_ADD [warpId:5],[schId:1],[prdctMask:f],[execMask:3]"
    check("a warp is a lane", list(one("RVECEX", warp)), ["WARP_5"])
    miss = ("core0.veccore0.ifu.icache_log.dump",
            ["[info] 15: icache read address is 0x10f86a80, size is 0x00000080, type:1, last:0, status is MISS\n"])
    got = found([line(10, 0x40, "MTE2", "MOV XD:X1")], [line(20, 0x40, "MTE2", "MOV XD:X1")], (miss,))
    check("a miss is 1 cycle", "CACHEMISS" in got[0] or got[0], True)
    check("ticks need no clock", one("MTE2"), {"MTE2": (10, 20, 1)})


# --- which traces are not trusted ---

def degenerate(program):
    def loop(name, tid, n=9, pid=VEC, dur=0.5, start=1.0):
        return [x(name, tid, start + i, dur, pid) for i in range(n)]
    end = [x("END", "FLOWCTRL", 30, 0.1), x("END", "FLOWCTRL", 30, 0.1, CUBE)]
    load, store = loop("MOV_OUT_TO_UB", "MTE2"), loop("MOV_UB_TO_OUT", "MTE3", start=12)
    sync = [*flag("SET_FLAG", "MTE2", 1, 1.1, "a", DETAIL), *flag("WAIT_FLAG", "VECTOR", 1, 1.1, "a", DETAIL)]
    vec = [*load, *loop("VADD", "VECTOR"), *store, *sync, end[0]]
    cube = [*loop("LOAD_2D", "MTE1", pid=CUBE), *loop("MMAD", "CUBE", pid=CUBE), *loop("FIX", "FIXP", pid=CUBE, start=12), end[1]]
    ids = {"no-compute", "data-movement-only", "near-empty", "one-side-empty", "no-loop", "truncated", "sync-bound", "no-flag-events",
           "sub-block-collision"}

    def found(events):
        return program.findings(events) & ids
    check("a sound vector kernel", found(vec), set())
    check("a5: RVECEX is compute", found([*load, *loop("V", "RVECEX"), *store, *sync, end[0]]), set())
    check("D1: no compute", found([*[e for e in vec if e["tid"] not in ("VECTOR", "MTE2")], x("MOV", "MTE2", 1)]) & {"no-compute"},
          {"no-compute"})
    check("D1: waits are no compute", "no-compute" in found([x("MOV", "MTE2", 1), *sync, *flag("WAIT_FLAG", "VECTOR", 2, 29, "q", DETAIL), end[0]]), True)
    moves = loop("MOV_OUT_TO_UB", "MTE2", 29, dur=1.0)
    check("D1: data movement only", found([*moves, *sync, end[0]]) & {"no-compute", "data-movement-only"}, {"data-movement-only"})
    check("D2: near-empty", "near-empty" in found([*loop("MOV", "MTE2", 29), x("VADD", "VECTOR", 1, 0.1), x("VADD", "VECTOR", 2, 0.1), *sync, end[0]]), True)
    both = [*vec, *cube, *[{**e, "pid": "core0.veccore1"} for e in vec]]
    check("a sound mixed kernel", found(both), set())
    dead = [e for e in both if e["tid"] not in ("CUBE", "FIXP", "MTE1")]
    check("D3: one side", "one-side-empty" in found(dead), True)
    check("D4: no loop", "no-loop" in found([*load, x("VADD", "VECTOR", 1, 5), *store, *sync, end[0]]), True)
    check("D5: no END", "truncated" in found([*vec[:-1], x("JUMP", "FLOWCTRL", 30, 0.1)]), True)
    check("D5: cube after FIXP", "truncated" in found([*cube, x("MMAD", "CUBE", 25, pid=CUBE)]), True)
    check("D5: ends in a wait", "truncated" in found([*vec, *flag("WAIT_FLAG", "VECTOR", 28, 30, "z", DETAIL)]), True)
    waiting = [x("VADD", "VECTOR", 1, 0.1), x("VADD", "VECTOR", 30, 0.1), *flag("WAIT_FLAG", "VECTOR", 1.1, 30, "a", DETAIL),
               *flag("SET_FLAG", "MTE2", 29.9, 30, "a", DETAIL), *loop("MOV", "MTE2", 29), end[0]]
    check("D7: sync-bound", "sync-bound" in found(waiting), True)
    check("D8: no flags", "no-flag-events" in found([*load, *loop("VADD", "VECTOR"), *store, end[0]]), True)
    plain = [{**e, "pid": "core0"} for e in vec]
    for kind, want in (("cube", {"no-compute"}), ("#pto.kernel_kind<cube>", {"no-compute"}), ("vector", set()), ("mix", set())):
        path = program.file(trace_of(plain).replace(b"{", b'{"metadata":{"incore":"1","labels":{"pto.kernel_kind":"%s"}},' %
                                                        kind.encode(), 1))
        ids_found = {f["id"] for f in program.data("check", path, "--clock", "1000")["findings"]}
        check(f"D1: a {kind} kernel by its label", ids_found & {"no-compute"}, want)
    check("D9: one vector core", "sub-block-collision" in found([*vec, *cube]), True)


def main():
    with tempfile.TemporaryDirectory() as tmp:
        program = Program(sys.argv[1], tmp)
        for f in (lanes, heads, shapes, flags, times, clocks, container, layouts, dumps, degenerate):
            f(program)
    print(f"{COUNT[0]} passed, {COUNT[1]} failed, 0 skipped")
    return COUNT[1] > 0


if __name__ == "__main__":
    sys.exit(main())
