#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is every note of a reader reachable, and what is said with it? The smallest input for each code that no other test shows: the note is
there, its kind is that of its row in src/trace/notes.h, and `check` gives the advice of that row.

usage: notes.py BUILD_DIR
"""
import json
import os
import re
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
import kernels  # noqa: E402
import log  # noqa: E402
import make_report  # noqa: E402
import mutants  # noqa: E402
import note_page  # noqa: E402
from ascend_bad_input import API, API_INSTR, BASE, SOUND, SOURCE, TRACE, block, trace_of  # noqa: E402
from ascend_reader import CUBE, DETAIL, VEC, Program, flag, line, x  # noqa: E402
from wire import framed, number  # noqa: E402

ROWS = {code: (kind, advice) for code, kind, _, advice in note_page.rows()}
AS_OTHERS = {"aligned-sms"}  # their kind is milder or graver in some cases
RESULT = [0, 0, 0]


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
    base = block(BASE, b'{"name":"k","soc":"Ascend910B4","op_type":"cube"}')
    p.expect(p.file(block(TRACE, SOUND) + block(API_INSTR, api) + base, "visualize_data.bin"), "two-clocks")
    run = os.path.join(p.folder(), "OPPROF_1", "simulator")
    for name, body in (("visualize_data.bin", block(TRACE, SOUND) + block(API_INSTR, api)), ("core0_summary_log", b"nothing is counted\n"), ("strange.bin", b"?"),
                       (CUBE + "_instr_exe.csv", CSV + "MMAD,64,CUBE,9,7,1.0,XD:X1\n")):
        p.file(body, name, run)
    p.expect(os.path.dirname(run), "empty-summary", "other-files", "csv-differs")
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
    mark = line(12, 0x48, "SCALAR", "MOV SPR:COND, IMM:0x80000001"), line(14, 0x48, "SCALAR", "MOV SPR:COND, IMM:0x80000002")
    found([first, *mark], [last, *mark], (), "open-marks")
    folder = p.folder()
    with open(os.path.join(DATA, "sqtt_gfx11", "host", "4242_gfx1100_code_object_id_2.out"), "rb") as f:
        code_object = f.read().replace(b".debug_", b".other_")
    for name, body in ((start, first), (end, last), ("aicore_binary.o", code_object)):
        p.file(body, name, folder)
    p.expect(folder, "no-debug-info")


# --- folders ---

def closed(p):
    """A folder that may be entered and not listed: root asks as somebody else."""
    top = os.path.join(p.folder(), "closed")
    to = os.path.join(top, "ui_output_agent_1000_dispatch_3")
    shutil.copytree(os.path.join(DATA, "gfx11", "ui_output_agent_1000_dispatch_3"), to)
    os.chmod(top, 0o311 if os.getuid() else 0o711)
    os.chmod(p.tmp, 0o755)
    try:
        out = subprocess.run([p.path, "info", "--json", "-q", to], capture_output=True, text=True, **({} if os.getuid() else {"user": 65534}))
    except PermissionError:
        RESULT[2] += 1
        print(f"SKIP unreadable-folder: another user cannot start {p.path}")
        return
    finally:
        os.chmod(top, 0o755)
    check("unreadable-folder" in out.stdout, f"no note unreadable-folder: {out.stdout[:200]} {out.stderr[:200]}")


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
    """Damaged reports of Nsight Compute."""
    made = {name: data for name, data, _ in mutants.cases()}
    for name, code in (("cut-one-byte", "truncated-report"), ("cubin-missing", "no-cubin"), ("cubin-garbage", "damaged-cubin"),
                       ("lines-version-9", "damaged-debug-info")):
        p.expect(p.file(made[name], "k.ncu-rep"), code)
    p.expect(p.file(mutants.report() + framed(number(1, 0) + number(2, 0) + number(5, 10)) + b"surplus...", "k.ncu-rep"), "unknown-bytes")


def cuda_logs(p):
    """Kernels of a few samples, with what went wrong while they were taken."""
    def found(functions, sampled, troubles=()):
        made = log.Log()
        made.device()
        made.context()
        made.reasons(["long_scoreboard", "wait"])
        made.cubin(1, make_report.Program(1, functions).elf)
        made.launches([(sampled[0], 1000, 1500, 1)])
        made.samples([(1, name, 16 * k, 1, {k: n}) for n, name in enumerate(sampled, 3) for k in range(2)])
        for kind in troubles:
            made.trouble(kind, 0, 4, "said so")
        return p.file(made.end(), "k.inclog")
    one = kernels.scale_rows()
    p.expect(found([one], [one.name], range(5)), "no-cupti", "cupti-refused", "lost-launches", "lost-records", "lost-counts")
    p.expect(found([one, *kernels.calls()], [one.name, "$_Z5callsPf$inner"]), "shared-function")


# --- thread traces ---

def streams(p):
    """Sound streams and code of which a few bytes are others."""
    def found(*codes, stream=(), code=()):
        to = p.copy("sqtt_gfx9/host")
        for end, changes in (("0_3.att", stream), (".out", code)):
            name, = [f for f in os.listdir(to) if f.endswith(end)]
            with open(os.path.join(to, name), "r+b") as f:
                for at, byte in changes:
                    f.seek(at)
                    f.write(bytes([byte]))
        p.expect(to, *codes)
    found("stitch-incomplete", "sorted-instructions", stream=[(2097, 60)])
    found("differs-swap-flat", stream=[(234, 255)])
    found("differs-swap-end", code=[(626, 10), (576, 138), (1149, 134)])
    found("damaged-metadata", code=[(322, 105), (354, 16), (1660, 161)])
    found("differs-queue-index", stream=[(336, 97), (1037, 216), (2068, 15), (3150, 119)])
    broken = p.file("#!/bin/sh\n[ $1 = --version ] && echo '  LLVM version 22.1.8' && exit\nkill -9 $$\n", "llvm-objdump")
    os.chmod(broken, 0o755)
    os.environ["INCORE_DISASM"] = broken
    found("disassembler", "disassembler-crash")
    os.environ["INCORE_DISASM"] = "none"


CODE_OBJECT = os.path.join(DATA, "sqtt_gfx9", "host", "4242_gfx950_code_object_id_2.out")
HEADS = {"sqtt_gfx10": lambda b: bytes([0x11 | ((1, 3, 4, 5)[b >> 4 & 3] << 7 & 255), (1, 3, 4, 5)[b >> 4 & 3] >> 1, 0, 0x10, 0, 0, 0, (b >> 6 & 1) << 3])}


def inputs_of_fuzzers(p):
    """Streams of the fuzzers' corpora, behind the head that their targets make."""
    with open(os.path.join(DATA, "sqtt_gfx9", "host", "4242_1000_shader_engine_0_3.att"), "rb") as f:
        head = f.read(8)
    for name, compat, codes in (("sqtt_gfx9/encoded_9_0", (), "bad-slot differs-bad-slot"), ("sqtt_gfx9/encoded_9_0", ("--decoder-compat", "0.1.6"), "decoder-compat rejected"),
                                ("sqtt_gfx10/grown-d8342e944327", (), "bad-code-object differs-long-stall differs-unknown-jump"),
                                ("sqtt_gfx10/grown-ebf5db174c49", (), "differs-header differs-range-reused"), ("sqtt_gfx9/grown-a329e10d3272", (), "differs-resumed"),
                                ("sqtt_gfx10/all_0_0", (), "differs-open-start unverified-generation"), ("sqtt_gfx9/grown-0aea3895bbae", (), "unconfirmed")):
        with open(os.path.join(CORPUS, name), "rb") as f:
            data = f.read()
        folder, kind = p.folder(), os.path.dirname(name)
        p.file((HEADS[kind](data[0]) if kind in HEADS else head) + data[1:], "se0.sqtt", folder)
        shutil.copy(CODE_OBJECT, os.path.join(folder, "code.elf"))
        p.file('{"gfx":"gfx950","kernel":"k","load_base":35184405667840}', "meta.json", folder)
        p.expect(folder, *codes.split(), options=compat)


def clocks(p):
    """A clock of gfx12 that 300 of the largest steps move past 2^60; more flushes than a stream can have."""
    p.expect(p.file(HEADS["sqtt_gfx10"](0x20) + struct.pack("<Q", 1 | (1 << 52) - 1 << 12) * 300, "se0.sqtt"), "clock-range")
    p.expect(p.file(HEADS["sqtt_gfx10"](0x20) + (0x61 | 4 << 18).to_bytes(3, "little") * ((1 << 18) + 9), "se0.sqtt"), "overfull")


def folders(p):
    """Decoded traces with what lies beside them."""
    to = p.copy("v31/ui_output_agent_1000_dispatch_3")
    with open(os.path.join(to, "code.json")) as f:
        code = f.read()
    with open(os.path.join(to, "code.json"), "w") as f:
        f.write(re.sub(r'"sqtt_funcmap":\[\[[^]]*\]\]', '"sqtt_funcmap":[[3,17,"u","one"],[4,17,"u","other"]]', code))
    p.file('{"records":[[20100,70,1,0,0,0],[20200,800,1,0,0,0],[20400,76,1,0,0,0]]}', "shaderdata_0_0.json", to)
    p.expect(to, "ambiguous-marker", "unnamed-marker", options=("--markers",))
    top = p.folder()
    to = os.path.join(top, "ui_output_agent_1000_dispatch_3")
    shutil.copytree(os.path.join(DATA, "gfx11", "ui_output_agent_1000_dispatch_3"), to)
    p.file("jobs:\n  -\n    att_simd_select: 0x1\n", "input_1.yaml", top)
    p.expect(to, "traced-simds")


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
    ("scopes/backwards+more", ".scopes", "scopes-more"),
    ("scopes/backwards+noclock", ".scopes", "unaligned-sms"),
    ("scopes/unfinished", ".scopes", "warps-unfinished"),
    ("instr_csv/code.csv", "", "no-time-line"),
]


CHANGES = {"": lambda b: b, "more": lambda b: b + b"more", "noclock": lambda b: b.replace(b'"clock_khz":1980000,', b"")}


def scope_files(p):
    """A scope that takes 2^33 cycles of its warp."""
    with open(os.path.join(CORPUS, "scopes", "backwards"), "rb") as f:
        head = f.readline()
    end = 150 + (1 << 33)
    warp = struct.pack("<4I4QI12x", 0, 0, 0, 0, 100, 1000, end + 100, 1 << 33, 2)
    events = struct.pack("<8I", 150, 0, 0, 0, end & 0xffffffff, 1 << 12 | end >> 32, 0, 0)
    p.expect(p.file(head + warp + events, "k.scopes"), "scope-long")


def corpora(p):
    for name, end, codes in IN_CORPUS:
        name, _, change = name.partition("+")
        with open(os.path.join(CORPUS, name), "rb") as f:
            p.expect(p.file(CHANGES[change](f.read()), os.path.basename(name) + end), *codes.split())
    p.expect(os.path.join(DATA, "sqtt_gfx9"), "differs-newer-rules")


def main():
    os.environ["INCORE_DISASM"] = "none"  # whatever is installed
    with tempfile.TemporaryDirectory() as tmp:
        p = Notes(sys.argv[1], tmp)
        for part in (traces, tables, containers, dumps, closed, timelines, reports, cuda_logs, streams, inputs_of_fuzzers, clocks, folders, scope_files, corpora):
            part(p)
    print(f"{RESULT[0]} passed, {RESULT[1]} failed, {RESULT[2]} skipped")
    return RESULT[1] > 0


if __name__ == "__main__":
    sys.exit(main())
