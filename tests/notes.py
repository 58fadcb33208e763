#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is every note of a reader reachable, and what is said with it? The smallest input for each code that no other test shows: the note is
there, its kind is that of its row in src/trace/notes.h, and `check` gives the advice of that row.

usage: notes.py BUILD_DIR
"""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
DATA, CORPUS = os.path.join(HERE, "data"), os.path.join(HERE, "fuzz", "corpus")
for folder in ("tools", "tests/cuda", "tests/ncu"):
    sys.path.insert(0, os.path.join(ROOT, folder))
import make_report  # noqa: E402
import note_page  # noqa: E402
from ascend_bad_input import API, API_INSTR, SOURCE, TRACE, block, event, trace_of  # noqa: E402
from ascend_reader import DETAIL, VEC, Program, flag, line, x  # noqa: E402

ROWS = {code: (kind, advice) for code, kind, _, advice in note_page.rows()}
AS_OTHERS = {"aligned-sms"}  # their kind is milder or graver in some cases
RESULT = [0, 0]


def check(ok, what):
    RESULT[not ok] += 1
    if not ok:
        print(f"FAIL {what}")


class Notes(Program):
    """Asks for the notes of inputs and compares them with their rows."""
    def expect(self, path, *codes, options=()):
        p = self.run("info", "--json", "-q", *options, path)
        found = {n["code"]: n for n in json.loads(p.stdout)["data"]["notes"]} if p.returncode == 0 else {}
        for code in codes:
            check(code in found, f"{path}: no note {code}, but {sorted(found)} {p.stderr.strip()[:200]}")
        for code, n in found.items():
            check(code in ROWS, f"{path}: the note {code} has no row in src/trace/notes.h")
            check(code in AS_OTHERS or n["kind"] == ROWS.get(code, ("",))[0], f"{path}: the note {code} is {n['kind']}")
        wanted = {c for c in found if ROWS[c][1]}
        p = self.run("check", "--json", "-q", *options, path)
        said = json.loads(p.stdout)["data"] if p.returncode in (0, 1) else {"findings": []}
        told = {n["code"]: n["advice"] for n in said.get("notes", [])}
        told.pop("damaged-wave-file", None)  # a note of check's own walk
        check(set(told) == wanted - {f["id"] for f in said["findings"]} and all(told[c] == ROWS[c][1] for c in told),
              f"{path}: check advises on {sorted(told)}, expected {sorted(wanted)}")

    def copy(self, name):
        to = os.path.join(self.folder(), os.path.basename(name))
        shutil.copytree(os.path.join(DATA, name), to)
        return to


# --- Ascend ---

CSV = "instr,addr,pipe,call_count,cycles,running_time(us),detail\n"


def traces(p):
    """Events of the simulator, one wrong at a time."""
    one = x("MOV", "MTE2", 1)

    def found(events, *codes, options=()):
        p.expect(p.file(trace_of(events)), *codes, options=options)
    backwards = flag("SET_FLAG", "MTE2", 2, 1, "a", DETAIL)
    counter = {"ph": "C", "pid": VEC, "tid": "MTE2", "name": "bytes", "ts": 1, "args": {"value": "many"}}
    found([one], "lone-trace")
    found([one, *backwards], "backwards")
    found([one, counter], "bad-counter")
    found([one, x("MOV", "MTE2", 2, -1)], "bad-duration")
    found([one, x("MOV", "MTE2", -5)], "bad-timestamp")
    found([one, flag("SET_FLAG", "MTE2", 2, 3, "a", DETAIL)[0]], "unpaired")
    found([one, b"7"], "not-an-event")
    found([one, *flag("WAIT_FLAG", "VECTOR", 1, 2, "q", DETAIL)], "wait-without-set")
    found([one, x("cache_time", "cache_time", 90)], "lone-head")
    folder = p.folder()
    p.file(trace_of([one]), folder=folder)
    p.run("clean", "-q", os.path.join(folder, "trace.json"), "-o", os.path.join(folder, "out"))
    cleaned = [os.path.join(d, f) for d, _, fs in os.walk(folder) for f in fs if f.endswith(".clean.json")]
    p.expect(cleaned[0], "cleaned-input")


def tables(p):
    """Tables of instructions, beside a trace and alone."""
    folder = p.folder()
    p.file(trace_of([x("MOV", "MTE2", 1, 1.0)]), folder=folder)
    p.file(CSV + "MOV,64,MTE2,1,333,1.0,\n", VEC + "_instr_exe.csv", folder)
    p.expect(folder, "odd-clock")
    alone = p.folder()
    p.file(CSV + "MOV,64,MTE2,1,1850,1.0,\nMOV,,MTE2,,,1.0,\n", VEC + "_instr_exe.csv", alone)
    p.expect(alone, "bad-csv-row")


def containers(p):
    trace = trace_of([x("MOV", "MTE2", 1), x("MOV", "MTE2", 2)])
    api = json.dumps(API).encode()
    good = block(TRACE, trace) + block(API_INSTR, api)
    wide = {**API, "Instructions Dtype": {"Instructions": {**API["Instructions Dtype"]["Instructions"], **{f"More {i}": 1 for i in range(70)}}},
            "Instructions": [{**API["Instructions"][0], **{f"More {i}": [1] for i in range(70)}}]}
    p.expect(p.file(good + block(API_INSTR, api), "visualize_data.bin"), "second-block")
    p.expect(p.file(block(TRACE, trace) + block(API_INSTR, json.dumps(wide).encode()), "visualize_data.bin"), "too-many-columns")
    odd = bytearray(good + block(SOURCE, b"int x;\n", b"/k.cpp"))
    odd[len(good) + 11] = 0x11
    p.expect(p.file(bytes(odd), "visualize_data.bin"), "odd-reserve")


def dumps(p):
    start, end = "core0.veccore0.instr_popped_log.dump", "core0.veccore0.instr_log.dump"

    def found(starts, ends, more, *codes):
        folder = p.folder()
        for name, body in ((start, starts), (end, ends), *more):
            p.file("".join(body), name, folder)
        p.expect(folder, *codes)
    first, last = line(10, 0x40, "MTE2", "MOV XD:X1"), line(20, 0x40, "MTE2", "MOV XD:X1")
    found([first], [last, "[info] [00000030] no more of it\n"], (), "bad-dump-line")
    found([first, line(30, 0x44, "MTE2", "MOV XD:X1")], [last, line(25, 0x44, "MTE2", "MOV XD:X1")], (), "ends-before-start")
    found([first], [last], [("core1.veccore0.instr_log.dump", [last])], "core-without-logs")
    found([first], [last], [("core0.veccore0.strange_log.dump", ["x\n"])], "other-dumps")


# --- other simulators and timelines ---

def timelines(p):
    """Chrome's events in what a browser or torch writes."""
    def found(events, *codes, name="t.json"):
        p.expect(p.file(json.dumps({"traceEvents": events}), name), *codes)
    one = {"ph": "X", "pid": 1, "tid": 1, "name": "a", "ts": 1, "dur": 2}
    found([one, {"ph": "B", "pid": 1, "tid": 1, "name": "b", "ts": 5}], "begin-without-end")
    found([one, {"ph": "E", "pid": 1, "tid": 1, "name": "b", "ts": 5}], "end-without-begin")
    found([one, {"ph": "s", "pid": 1, "tid": 9, "name": "f", "id": 1, "ts": 1}, {"ph": "f", "pid": 1, "tid": 9, "name": "f", "id": 1, "ts": 50}], "loose-flow")
    found([one, {"ph": "O", "pid": 1, "tid": 1, "name": "o", "ts": 5}], "other-events")
    found([one, 7], "not-an-event")
    found([one, {"ph": "C", "pid": 1, "tid": 1, "name": "c", "ts": 5, "args": {"v": -1}}], "bad-counter")
    found([one, {**one, "ts": 10, "dur": 10 ** 10}], "coarser-clock")


# --- NVIDIA ---

def reports(p):
    whole = make_report.kernel().finish()
    p.expect(p.file(whole[:len(whole) - 200], "cut.ncu-rep"), "truncated-report")


# --- inputs that other tests have ---

IN_CORPUS = [
    ("ncu/part-over-whole", ".ncu-rep", "absurd-counts damaged-debug-info unmapped-addresses"),
    ("rgp/frame", ".rgp", "chunks-not-shown differs-start-ext differs-w64 waves-without-detail no-disassembler"),
    ("rgp/linked", ".rgp", "differs-cut stream-cut unknown-load wave-incomplete"),
    ("rocprof_pcs/trap.csv", "", "host-trap rows-by-text samples-without-kernel"),
    ("cuda/died", ".inclog", "launches-summed full-buffer unknown-producers"),
    ("cuda/calls", ".inclog", "cupti-refused unknown-operands"),
    ("json_trace/senseless.json", "", "links-left-out"),
    ("scopes/ring", ".scopes", "events-lost scope-begin-lost"),
    ("scopes/backwards", ".scopes", "aligned-sms scope-open scope-time warps-lost"),
    ("scopes/deep", ".scopes", "scope-depth"),
    ("scopes/cut", ".scopes", "scopes-cut"),
    ("scopes/unfinished", ".scopes", "warps-unfinished"),
    ("instr_csv/code.csv", "", "no-time-line"),
]


def corpora(p):
    for name, end, codes in IN_CORPUS:
        with open(os.path.join(CORPUS, name), "rb") as f:
            p.expect(p.file(f.read(), os.path.basename(name) + end), *codes.split())
    p.expect(os.path.join(DATA, "sqtt_gfx9"), "differs-newer-rules")


def main():
    with tempfile.TemporaryDirectory() as tmp:
        p = Notes(sys.argv[1], tmp)
        for part in (traces, tables, containers, dumps, timelines, reports, corpora):
            part(p)
    print(f"{RESULT[0]} passed, {RESULT[1]} failed, 0 skipped")
    return RESULT[1] > 0


if __name__ == "__main__":
    sys.exit(main())
