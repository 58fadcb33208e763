#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an export for MindStudio Insight once lost, a run for each: it is written, and the events, tables and sources are compared
with what was read; then it is read back. insight_check.py has the rules for every file.

usage: insight_cases.py INCORE
"""
import json
import os
import subprocess
import sys
import tempfile

import insight_check as check
from ascend_fixtures import blocks, text, us

CUBE, VEC0, VEC1 = "core0.cubecore0", "core0.veccore0", "core0.veccore1"
BAD = []


def expect(what, got, want):
    if got != want:
        BAD.append(f"{what}: {str(got)[:300]} instead of {str(want)[:300]}")


def move(pid, ts, nbytes=0, name="MOV_OUT_TO_UB", pc=0x10, tid="MTE2"):
    args = {"code": "", "detail": "XD:X1,", "pc_addr": hex(pc)}
    if nbytes:
        args["process_bytes"] = str(nbytes)
    return {"args": args, "dur": us(20), "name": name, "ph": "X", "pid": pid, "tid": tid, "ts": us(ts)}


def flag(name, pid, tid, ts, ident, detail, pc):
    return [{"args": {"detail": detail, "pc_addr": hex(pc)} if ph == "B" else {}, "id": ident, "name": name, "ph": ph, "pid": pid,
             "tid": tid, "ts": us(at)} for ph, at in (("B", ts), ("E", ts + 4))]


def trace(events):
    return text({"displayTimeUnit": "ns", "profilingType": "op", "schemaVersion": 2, "traceEvents": events})


def table(cores, types, rows):
    base = {"Address": 3, "AscendC Inner Code": 3, "Source": 3, "Pipe": 3, "Instructions Executed": 1, "Cycles": 1}
    return text({"Cores": cores, "Instructions": rows, "Instructions Dtype": {"Instructions": {**base, **types}}})


def row(pc, source, calls, cycles, inner="", **more):
    return {"Address": hex(pc), "AscendC Inner Code": inner, "Source": source, "Pipe": "MTE2", "Instructions Executed": calls, "Cycles": cycles,
            **more}


class Written:
    """The export of a container with these blocks: events, tables, and how it reads back."""

    def __init__(self, incore, tmp, name, *parts, **bytes_for):
        self.incore, self.path = incore, os.path.join(tmp, name, "visualize_data.bin")
        os.makedirs(os.path.dirname(self.path))
        data = blocks(*parts)
        for a, b in bytes_for.values():
            assert len(a) == len(b) and a in data, name
            data = data.replace(a, b)
        with open(self.path, "wb") as f:
            f.write(data)
        self.out = os.path.join(tmp, name + ".out")
        p = subprocess.run([incore, "export", "--to", "insight", "-o", self.out, self.path], capture_output=True, text=True)
        expect(f"{name}: status", (p.returncode, p.stdout if p.returncode else ""), (0, ""))
        self.err = p.stderr
        c = check.check_path(self.out)
        BAD.extend(c.bad)
        self.found = check.blocks_of(check.Checker(name), open(os.path.join(self.out, "simulator", "visualize_data.bin"), "rb").read())
        self.events = check.table_of(self.found, check.TRACE)["traceEvents"]
        self.instr = check.table_of(self.found, check.API_INSTR)
        q = subprocess.run([incore, "check", "--json", self.out], capture_output=True, text=True)
        expect(f"{name}: read back", "does not fit the events" in q.stdout + q.stderr, False)

    def rows(self, column):
        return [r[column] for r in self.instr["Instructions"]]

    def bytes(self):
        return [int(e["args"].get("process_bytes", 0)) for e in self.events if e["ph"] == "X"]


def moved_bytes(incore, tmp):
    """What a slice moved is the slice's own; what is stated stays as stated."""
    two = [move(VEC0, 10, 4096), move(VEC0, 50, 100)]
    w = Written(incore, tmp, "two", (2, trace(two)))
    expect("two slices without API_INSTR", (w.bytes(), w.rows("Process Bytes")), ([4096, 100], [4196]))
    four = [move(VEC0, 10 + 40 * i, n) for i, n in enumerate((4096, 4096, 4096, 2048))]
    stated = table([VEC0], {"Process Bytes": 1}, [row(0x10, "MOV_OUT_TO_UB XD:X1", 4, 80, **{"Process Bytes": 14000})])
    w = Written(incore, tmp, "four", (2, trace(four)), (4, stated))
    expect("four slices", (w.bytes(), w.rows("Process Bytes")), ([4096, 4096, 4096, 2048], [14000]))
    both = [move(VEC0, 10 + 40 * i, 4096) for i in range(4)] + [move(VEC1, 10 + 40 * i, 2048) for i in range(4)]
    w = Written(incore, tmp, "both", (2, trace(both)))
    expect("two cores", (w.instr["Cores"], w.rows("Process Bytes")), ([VEC0, VEC1], [[16384, 8192]]))
    again = Written(incore, tmp, "again", *[(k, b, *([p] if p else [])) for k, _, b, p in w.found])
    expect("two cores, written twice", sorted(again.bytes()), [2048] * 4 + [4096] * 4)


def other_texts(incore, tmp):
    """Names and operands that are no UTF-8: GBK becomes UTF-8, of the rest bytes are replaced, and both are read back."""
    events = [move(VEC0, 10, name="AAAA"), move(VEC0, 50, name="BBBB", pc=0x20), move(VEC0, 90, pc=0x30, name="MOV")]
    w = Written(incore, tmp, "names", (2, trace(events)), a=(b"AAAA", b"\xba\xcb\xd0\xc4"), b=(b"BBBB", b"\xff\xfexx"))
    expect("names", [e["name"] for e in w.events if e["ph"] == "X"], ["核心", "\ufffd\ufffdxx", "MOV"])
    expect("lost bytes", "2 bytes of text replaced" in w.err, True)
    p = subprocess.run([incore, "export", "--to", "csv", w.out], capture_output=True)
    expect("the name in the trace that is read back", "核心".encode() in p.stdout, True)


def lines_and_cores(incore, tmp):
    """The page opens with the producer's first core; a list of words by core stays one; a line between cores."""
    events = [move(p, 5, tid="MTE3") for p in (CUBE, VEC0, VEC1)]
    for i, vec in enumerate((VEC0, VEC1)):
        events += flag("WAIT_FLAG_DEV", vec, "SCALAR", 12, "intra_0", "FLAGID:0,", 0x44)
    events += flag("SET_CROSS_CORE", CUBE, "FIXP", 10, "intra_0", "PIPE:FIX,FLAGID:0,", 0x40)
    cores = [VEC1, CUBE, VEC0]
    stated = table(cores, {"Mark": 3, "Turns": -1}, [row(0x10, "MOV_OUT_TO_UB", [1, 1, 1], [20, 20, 20], Mark=["c", "a", "b"]),
                                                    row(0x18, "NEVER", [0, 0, 0], [0, 0, 0], Mark="one")])
    w = Written(incore, tmp, "lines", (2, trace(events)), (4, stated))
    expect("order of the cores", w.instr["Cores"], cores)
    expect("a column of words by core", w.rows("Mark")[:2], [["c", "a", "b"], "one"])
    expect("its type", w.instr["Instructions Dtype"]["Instructions"]["Mark"], 3)
    ends = [(e["ph"], e["pid"], e["id"]) for e in w.events if e["ph"] in "st"]
    expect("the line to the core that the producer pairs", len(ends), 2)


def places(incore, tmp):
    """Two stated rows at one PC keep both their lines; a second name keeps its extension."""
    stated = table([VEC0], {}, [row(0x10, "MOV_OUT_TO_UB XD:X1", 1, 20, "/k/a$b.cpp:3"), row(0x10, "MOV_OUT_TO_UB XD:X1", 1, 20, "/k/a&b.cpp:4")])
    w = Written(incore, tmp, "places", (2, trace([move(VEC0, 10), move(VEC0, 50)])), (1, b"int a;\n", "/k/a$b.cpp"), (1, b"int b;\n", "/k/a&b.cpp"),
                (4, stated))
    expect("inner code", w.rows("AscendC Inner Code"), ["/k/a_b.cpp:3", "/k/a_b~1.cpp:4"])
    expect("paths", [p for k, _, _, p in w.found if k == check.SOURCE], ["/k/a_b.cpp", "/k/a_b~1.cpp"])


def main():
    incore = os.path.abspath(sys.argv[1])
    cases = (moved_bytes, other_texts, lines_and_cores, places)
    failed = 0
    with tempfile.TemporaryDirectory() as tmp:
        for case in cases:
            BAD.clear()
            case(incore, tmp)
            for line in BAD:
                print(f"FAIL {case.__name__}: {line}")
            failed += len(BAD) > 0
    print(f"{len(cases) - failed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
