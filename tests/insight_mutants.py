#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Can every check of insight_check.py fail? Written directories are damaged, one rule at a time, and the checker must name
that rule. A rule of the checker that no damage breaks is a failure, too.

usage: insight_mutants.py INCORE
"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import insight_check as check

MUTANTS = []
TRACE, SOURCE, API_FILE, API_INSTR, BASE_INFO, OWN = 2, 1, 3, 4, 5, 0x70


# --- ways to damage ---

class Block:
    def __init__(self, kind, version, body, path):
        self.kind, self.version, self.body, self.path = kind, version, body, path
        self.reserve, self.pad, self.size, self.fill = 0x5a, None, None, b"\0"

    def bytes(self):
        pad = -len(self.body) % 4 if self.pad is None else self.pad
        size = len(self.body) + pad if self.size is None else self.size
        path = b"" if self.path is None else self.path.ljust(4096, b"\0")
        return struct.pack("<QBBBB", size, self.kind, pad, self.version, self.reserve) + path + self.body + self.fill * pad


def read_blocks(folder):
    data = open(os.path.join(folder, "visualize_data.bin"), "rb").read()
    c = check.Checker("base")
    blocks = [Block(k, v, b, p.encode() if p is not None else None) for k, v, b, p in check.blocks_of(c, data)]
    assert b"".join(b.bytes() for b in blocks) == data, "a written file is taken apart and put together"
    return blocks


def write_blocks(folder, blocks, tail=b""):
    with open(os.path.join(folder, "visualize_data.bin"), "wb") as f:
        f.write(b"".join(b.bytes() for b in blocks) + tail)


def edit_blocks(folder, f):
    blocks = read_blocks(folder)
    out = f(blocks)
    write_blocks(folder, blocks if out is None else out)


def block_of(blocks, kind):
    return next(b for b in blocks if b.kind == kind)


def edit_trace(folder, f):
    """The text of the trace, in trace.json and in the block alike."""
    path = os.path.join(folder, "trace.json")
    text = open(path).read()
    changed = f(text)
    assert changed != text, "the damage found nothing to change"
    with open(path, "w") as out:
        out.write(changed)
    edit_blocks(folder, lambda blocks: setattr(block_of(blocks, TRACE), "body", changed.encode()))


def edit_events(folder, f):
    """f takes the texts of the events and changes the list."""
    def whole(text):
        events = list(check.event_texts(text))
        texts = [raw for _, raw in events]
        f(texts)
        return text[:events[0][0]] + ",".join(texts) + text[events[-1][0] + len(events[-1][1]):]
    edit_trace(folder, whole)


def edit_event(folder, having, old, new, nth=0):
    """One event that has the text `having`."""
    def change(texts):
        at = [i for i, raw in enumerate(texts) if having in raw][nth]
        assert old in texts[at], texts[at]
        texts[at] = texts[at].replace(old, new, 1)
    edit_events(folder, change)


def edit_table(folder, kind, f):
    def change(blocks):
        b = block_of(blocks, kind)
        doc = json.loads(b.body)
        out = f(doc)
        b.body = json.dumps(doc if out is None else out, separators=(",", ":")).encode()
    edit_blocks(folder, change)


def first_row(folder, kind, f):
    def change(doc):
        f((doc["Instructions"] if kind == API_INSTR else doc["Files"][0]["Lines"])[0])
    edit_table(folder, kind, change)


def core_file(folder, name):
    core = sorted(n for n in os.listdir(folder) if n.startswith("core"))[0]
    return os.path.join(folder, core, name if name == "trace.json" else core + name)


def edit_file(path, f):
    text = open(path).read()
    changed = f(text)
    assert changed != text, "the damage found nothing to change"
    with open(path, "w") as out:
        out.write(changed)


def field(kind, name, value):
    """A damage that sets a field of the first block of a kind."""
    return lambda folder: edit_blocks(folder, lambda b: setattr(block_of(b, kind), name, value))


def event(having, old, new, nth=0):
    return lambda folder: edit_event(folder, having, old, new, nth)


def row(kind, f):
    return lambda folder: first_row(folder, kind, f)


def column(dtype, value):
    """An extra column of a type, with one value for every row."""
    def change(doc):
        doc["Instructions Dtype"]["Instructions"]["Extra"] = dtype
        for r in doc["Instructions"]:
            r["Extra"] = value if isinstance(value, list) else [value] * len(doc["Cores"])
    return lambda folder: edit_table(folder, API_INSTR, change)


def add(rule, damage, base="mm"):
    MUTANTS.append((rule, base, damage))


# --- the container (rules 1 and 2) ---

def swap(a, b):
    def change(blocks):
        kinds = [k.kind for k in blocks]
        i, j = kinds.index(a), kinds.index(b)
        blocks[i], blocks[j] = blocks[j], blocks[i]
    return lambda folder: edit_blocks(folder, change)


def repeat(kind):
    def change(blocks):
        at = [b.kind for b in blocks].index(kind)
        blocks.insert(at, blocks[at])
    return lambda folder: edit_blocks(folder, change)


def container():
    add("a block header of 12 bytes", lambda d: write_blocks(d, read_blocks(d), b"\0" * 5))
    add("block inside the file", lambda d: edit_file_bytes(d, lambda data: data[:-4]))
    add("reserve byte 0x5a", field(TRACE, "reserve", 0))
    add("u16 at 10 is 0x5a5a", field(TRACE, "reserve", 0))
    add("version byte", field(API_INSTR, "version", 0x5a))
    add("padding of 0 to 3", field(API_INSTR, "pad", 7))
    add("size is a multiple of 4", shift_block)
    add("a block starts at a multiple of 4", shift_block)
    add("padding is zeros", dirty_padding)
    add("no empty block but a source text", lambda d: edit_blocks(d, lambda b: b.append(Block(0x71, 0x5a, b"", None))))
    add("source path ends in NUL", field(SOURCE, "path", b"/" * 4096))
    add("source path is NUL-padded", field(SOURCE, "path", b"/kernels/matmul.cpp\0x"))
    add("has blocks", lambda d: open(os.path.join(d, "visualize_data.bin"), "wb").close())
    add("first u64 is not 0", empty_source_first)
    add("TRACE or SOURCE first", swap(TRACE, API_INSTR))
    add("order of blocks", swap(API_FILE, API_INSTR))
    add("one API_FILE, one API_INSTR", repeat(API_INSTR))
    add("one API_FILE, one API_INSTR", repeat(API_FILE))
    add("private blocks are of type 0x10 and more", field(OWN, "kind", 0xa))
    add("tables and sources below 100 MB", huge_table)
    add("tables and sources below 100 MB", field(SOURCE, "body", b"x" * (100 << 20)))
    add("one block of details of a type", repeat(BASE_INFO))
    add("base information names kernel, SoC and kind", field(BASE_INFO, "body", b'{"name":"k"}'))
    add("one TRACE", repeat(TRACE))
    add("one block per source path", repeat(SOURCE))


def edit_file_bytes(folder, f):
    path = os.path.join(folder, "visualize_data.bin")
    data = open(path, "rb").read()
    with open(path, "wb") as out:
        out.write(f(data))


def shift_block(folder):
    def change(blocks):
        b = block_of(blocks, SOURCE)
        b.body, b.pad = b.body + b"x" * (1 + -len(b.body) % 4), 0
    edit_blocks(folder, change)


def dirty_padding(folder):
    def change(blocks):
        b = block_of(blocks, SOURCE)
        b.body, b.fill = b.body[:-(len(b.body) % 4 + 3)], b"x"
    edit_blocks(folder, change)


def empty_source_first(folder):
    edit_blocks(folder, lambda blocks: [Block(SOURCE, 0x5a, b"", b"/empty.cpp"), *blocks])


def huge_table(folder):
    """The viewer shows nothing of such a table, whatever is in it: blanks do."""
    def change(blocks):
        b = block_of(blocks, API_INSTR)
        b.body = b.body[:-1] + b" " * (100 << 20) + b.body[-1:]
    edit_blocks(folder, change)


# --- sources and tables (rules 3 and 8) ---

def source(text):
    return field(SOURCE, "body", text)


def tables():
    add("source path is there and without ':'", field(SOURCE, "path", b"C:/k.cpp"))
    add("source path is there and without ':'", field(SOURCE, "path", b""))
    add("source path of at most 500 bytes", field(SOURCE, "path", b"/" + b"d" * 500))
    for char in b"|;&$><`\\!\"'\n\t\x7f":
        add("source path without what the viewer refuses", field(SOURCE, "path", b"/k" + bytes([char])))
    add("source path is UTF-8", field(SOURCE, "path", b"/k\xff.cpp"))
    add("source path is UTF-8", field(SOURCE, "path", b"\xa4/k.cpp"))  # cut inside a character
    add("source text is UTF-8", source(b"int \xe9;\n"))
    add("a source has text, or lines in its place", source(b""))
    add("equal cells are one", row(API_INSTR, lambda r: r.update(Cycles=[5, 5, 5, 5])), "stated")
    add("a miss or a mark is no instruction", row(API_INSTR, lambda r: r.update(Source="CACHEMISS 0x40")))
    add("a miss or a mark is no instruction", row(API_INSTR, lambda r: r.update(Source="Mark 0x1")))
    add("a miss or a mark is no instruction", row(API_INSTR, lambda r: r.update(Pipe="USERMARK")))
    for value in ([1, 2], []):
        add("a list with a cell per core", row(API_INSTR, lambda r, v=value: r.update(Cycles=v)))
    for value in (5.0, 3000000000, None, "1", True):
        add("an int of 32 bits", row(API_INSTR, lambda r, v=value: r.update(Cycles=[v])))
    add("an int of 32 bits", row(API_FILE, lambda r: r.update(Line=3000000000)))
    add("a float with a decimal point", column(2, 35))
    add("a float with a decimal point", column(4, 35))
    for value in (1e39, float("nan"), float("inf")):
        add("a float within range", column(4, value))
    add("a string", row(API_INSTR, lambda r: r.update(Pipe=3)))
    add("columns have known types", column(6, 1))
    add("a row has every column", row(API_INSTR, lambda r: r.pop("Cycles")))
    add("a row has every column", row(API_FILE, lambda r: r.pop("Cycles")))
    add("a column is declared", row(API_INSTR, lambda r: r.update(Hidden=[1])))
    add("keys of a table are sorted", lambda d: edit_table(d, API_INSTR, lambda t: dict(reversed(list(t.items())))))
    add("keys of a table are sorted", lambda d: edit_table(d, API_FILE, lambda t: dict(reversed(list(t.items())))))
    add("at most 1,000,000 rows", many_rows)
    for value in ("zz", "1000", "0XAB", ""):
        add("Address is hex with 0x", row(API_INSTR, lambda r, v=value: r.update(Address=v)))
    add("AscendC Inner Code is path:line with one ':'", row(API_INSTR, lambda r: r.update({"AscendC Inner Code": "C:/k.cpp:3"})))
    add("its path has a SOURCE block", row(API_INSTR, lambda r: r.update({"AscendC Inner Code": "/other.cpp:3"})))
    add("Source of a file is the path of a SOURCE block",
        lambda d: edit_table(d, API_FILE, lambda t: t["Files"][0].update(Source="/other.cpp")))
    add("Address Range is hex with 0x", row(API_FILE, lambda r: r.update({"Address Range": [["1000", "1000"]]})))
    for value in ([["0x20", "0x10"]], [["0x20", "0x20"], ["0x10", "0x10"]], [["0x10", "0x10"], ["0x14", "0x14"]]):
        add("address ranges are sorted and apart", row(API_FILE, lambda r, v=value: r.update({"Address Range": v})))
    for cores in (["core7.cubecore0"], ["core0.cubecore0", "core0.cubecore0"]):
        add("every core of the trace is in Cores, once", lambda d, v=cores: edit_table(d, API_INSTR, lambda t: t.update(Cores=v)))
    add("lines have the cores of the instructions",
        lambda d: edit_table(d, API_FILE, lambda t: t.update(Cores=["core7.cubecore0"])))


def stated():
    """What the producer of the base said, changed as a sum over its trace would change it."""
    add("what the producer stated is kept", named("SET_FLAG", lambda r: r.update(Cycles=[0, 20, 0, 0])), "stated")
    add("what the producer stated is kept", named("STATED_ONLY", lambda r: r.update(Cycles=0)), "stated")
    add("what the producer stated is kept", named("STATED_ONLY", lambda r: r.update(Pipe="")), "stated")
    add("what the producer stated is kept", named("STATED_ONLY", lambda r: r.update({"GPR Count": [7, 8, 9, -1]})), "stated")
    add("what the producer stated is kept", named("VADD", lambda r: r.update({"GPR Count": -1})), "stated")
    add("what the producer stated is kept", lambda d: edit_table(d, API_INSTR, lambda t: t["Instructions"].pop(0) and None), "stated")
    add("what the producer stated is kept", row(API_FILE, lambda r: r.update(Cycles=[270, 0, 0, 0])), "stated")
    add("columns keep their types",
        lambda d: edit_table(d, API_INSTR, lambda t: t["Instructions Dtype"]["Instructions"].update({"Vector Utilization Percentage": 2})), "stated")
    add("a source text is kept whole, under a path of its own", cut_sources, "stated")
    add("a block of details is kept", lambda d: edit_blocks(d, lambda b: [x for x in b if x.kind != 0xd]), "stated")
    add("lines between cores are kept", drop('"ph":"s","pid":"core0.cubecore0"'), "stated")


def cut_sources(folder):
    def change(blocks):
        for b in blocks:
            b.body = b.body[:1000000] if b.kind == SOURCE else b.body
    edit_blocks(folder, change)


def named(source, f):
    def change(doc):
        f(next(r for r in doc["Instructions"] if r["Source"].startswith(source)))
    return lambda folder: edit_table(folder, API_INSTR, change)


def many_rows(folder):
    def change(blocks):
        b = block_of(blocks, API_INSTR)
        doc = {"Cores": ["core0.cubecore0"], "Instructions": [], "Instructions Dtype": {"Instructions": {"Address": 3}}}
        text = json.dumps(doc)
        b.body = text.replace("[]", "[" + ",".join(['{"Address":"0x1"}'] * 1000001) + "]").encode()
    edit_blocks(folder, change)


# --- the trace (rules 4 to 7, 9, 10) ---

X, B, E, S, T, C = ('"ph":"%s"' % ph for ph in "XBEstC")


def text_rules():
    add("profilingType and op before the first [", lambda d: edit_trace(d, lambda t: t.replace('{"', '{"aa":[],"', 1)))
    add("profilingType before traceEvents", lambda d: edit_trace(d, lambda t: t.replace('{"', '{"a":"traceEvents","', 1)))
    add("traceEvents within 1 MB", lambda d: edit_trace(d, lambda t: t.replace('{"', '{"aa":"' + "x" * (1 << 20) + '","', 1)))
    add('the last "ph" in the last MB', lambda d: edit_trace(d, lambda t: t[:-1] + ',"zz":"' + "x" * (1 << 20) + '"}'))
    add("keys of the trace in alphabetical order", lambda d: edit_trace(d, lambda t: t[:-1] + ',"aa":1}'))
    add("events at most 1,024 bytes apart", lambda d: edit_trace(d, lambda t: t.replace("},{", "}," + " " * 1025 + "{", 1)))
    add('no brace after "ph" but the last', event(X, '"tid":"', '"tid":"{'))
    add('no brace after "ph" but the last', event(C, '"tid":0', '"tid":"}"'), "a5")
    add("keys in alphabetical order", event(X, '"name"', '"zz":0,"name"'))
    add("args before ph", lambda d: edit_events(d, args_last))
    add("args in alphabetical order", event(X, '"detail"', '"zz":0,"detail"'))
    for old, new in ((r'"ts":(\d+)\.\d+', r'"ts":\1'), (r'"ts":(\d+\.\d\d)\d+', r'"ts":\1'), (r'"ts":', '"ts":-'),
                     (r'"dur":(\d+\.\d\d)\d+', r'"dur":\1'), (r'"dur":', '"dur":-'), (r'"ts":([\d.]+)', r'"ts":\1e0')):
        add("time is a number with at least 4 decimals, not negative", event_by(X, old, new))


def event_by(having, old, new):
    def change(texts):
        at = next(i for i, raw in enumerate(texts) if having in raw)
        texts[at] = re.sub(old, new, texts[at], count=1)
    return lambda folder: edit_events(folder, change)


def args_last(texts):
    at = next(i for i, raw in enumerate(texts) if X in raw)
    doc = json.loads(texts[at])
    args = doc.pop("args")
    texts[at] = json.dumps({**doc, "args": args}, separators=(",", ":"))


def move(having, other):
    """An event goes before the first of another kind."""
    def change(texts):
        at = next(i for i, raw in enumerate(texts) if having in raw)
        raw = texts.pop(at)
        texts.insert(next(i for i, raw in enumerate(texts) if other in raw), raw)
    return lambda folder: edit_events(folder, change)


def drop(having):
    def change(texts):
        texts.pop(next(i for i, raw in enumerate(texts) if having in raw))
    return lambda folder: edit_events(folder, change)


def twice(having):
    def change(texts):
        texts.append(next(raw for raw in texts if having in raw))
    return lambda folder: edit_events(folder, change)


def flag_rules():
    add("B/E only of the four flag names", event(B, '"name":"SET_FLAG"', '"name":"SET_INTRA_BLOCK"'))
    add("a flag has an id", event_by(B, '"id":"[^"]*",', ""))
    add("a flag has an id", event_by(B, '"id":"[^"]*"', '"id":""'))
    add("B and E are neighbours", move(E, X))
    add("B and E are neighbours", drop(B))
    add("B and E are neighbours", drop(E))
    add("B and E are neighbours", event(E, '"tid":"', '"tid":"MTE3'))
    add("E is not before B", event_by(E, r'"ts":[\d.]+', '"ts":0.0000'))
    add("B says what the flag is", event_by(B, '"args":{[^}]*}', '"args":{}'))
    add("an id is used for one pair", same_id)
    add("never f", event(T, T, '"ph":"f"'))
    add("one s and one t per id", twice(S))
    add("a pair of flags has its line", drop(S))
    add("s has t and t has s", drop(T))
    add("a flow has its flag slice", event_by(S, '"id":"[^"]*"', '"id":"none"'))
    add("a flow stands on the track of its flag", event(S, '"tid":"', '"tid":"ALL'))
    add("a flow stands at the end of its flag", event_by(T, r'"ts":[\d.]+', '"ts":0.0000'))
    add("a line between cores, and no other, has id intra_N", lambda d: edit_trace(d, lambda t: t.replace('"intra_0"', '"x"')), "stated")
    add("a flag with a partner is B and E, not X", event(X, '"name"', '"id":"intra_7","name"'))
    add("category <A>To<B>", event_by(S, '"cat":"[^"]*"', '"cat":"sync"'))
    add("class of a flag", event(B, '"cname":"black"', '"cname":"yellow"'))


def twice_for(having, old, new):
    def change(texts):
        texts.append(next(raw for raw in texts if having in raw).replace(old, new))
    return lambda folder: edit_events(folder, change)


def same_id(texts_folder):
    def change(texts):
        ids = sorted({json.loads(raw)["id"] for raw in texts if B in raw and '"SET_FLAG"' in raw})
        for i, raw in enumerate(texts):
            texts[i] = raw.replace(f'"id":"{ids[1]}"', f'"id":"{ids[0]}"')
    edit_events(texts_folder, change)


def lane_rules():
    add("sort_index is an int", event("process_sort_index", '"sort_index":1', '"sort_index":"1"'))
    add("sort_index is an int", event("thread_sort_index", '"sort_index":1', '"sort_index":1.0'))
    add("sort indexes of cores are unique", event("process_sort_index", '"sort_index":2', '"sort_index":1', 1), "odd")
    add("sort indexes of lanes are unique", event('"tid":"FLOWCTRL"', '"sort_index":2', '"sort_index":1'))
    add("known lanes in their order", event('"tid":"EVENT"', '"sort_index":13', '"sort_index":99'))
    add("known lanes in their order", drop('"tid":"RVECSU"'))
    add("WARP_n is 100 + n", event('"tid":"WARP_3"', '"sort_index":103', '"sort_index":90'), "odd")
    add("a unit of cycles is named", lambda d: edit_trace(d, lambda t: re.sub(r'"clock_hz_num":\d+', '"clock_hz_num":0', t)))
    add("a core that is listed has slices", twice_for("process_sort_index", "core0.cubecore0", "core9.cubecore0"))
    add("a miss is named by its address, not by its lane", event('"name":"0x10f86a80"', '"name":"0x10f86a80"', '"name":"CACHEMISS"'), "stated")
    add("a mark is named with its number", event('"name":"Mark 0x1"', '"name":"Mark 0x1"', '"name":"Mark"'), "stated")
    add("a known phase", event(X, X, '"ph":"I"'))
    add("pid is core<i>.cubecore0 or .veccore<j>", event(X, '"pid":"core0.cubecore0"', '"pid":"c0"'))
    add("every core has a sort index", event(X, '"pid":"core0.cubecore0"', '"pid":"core7.cubecore0"'))
    add("every lane has a sort index", event_by(X, '"tid":"[^"]*"', '"tid":"MTE9"'))
    add("a lane is not split", event_by(X, '"tid":"([^"]*)"', r'"tid":"\1#1"'))
    add("class of a lane", event_by(X, '"cname":"[^"]*"', '"cname":"grey"'))
    add("a slice has a class", event_by('"ph":"X","pid":"core0.veccore0","tid":"WARP_3"', '"cname":"[^"]*",', ""), "odd")
    add("a counter is after ts 0", event_by(C, r'"ts":[\d.]+', '"ts":0.0000'), "a5")
    add("a counter has no id", event(C, '"name"', '"id":"1","name"'), "a5")
    add("a counter has a number", event_by(C, '"args":{[^}]*}', '"args":{"a":"b"}'), "a5")
    add("X has a length", event_by(X, r'"dur":[\d.]+,', ""))


# --- the directory (rule 11 and the files of the cores) ---

def directory_rules():
    add("TRACE block = trace.json", lambda d: edit_file(os.path.join(d, "trace.json"), lambda t: t + " "))
    add("a folder per core", lambda d: os.mkdir(os.path.join(d, "core9.cubecore0"), 0o750))
    add("CSV header", lambda d: edit_file(core_file(d, "_instr_exe.csv"), lambda t: t.replace("cycles", "ticks", 1)))
    add("CSV header", lambda d: edit_file(core_file(d, "_code_exe.csv"), lambda t: t.replace("cycles", "ticks", 1)))
    add("CSV row", lambda d: edit_file(core_file(d, "_instr_exe.csv"), lambda t: t.replace(",MTE2,", ",0x10,MTE2,", 1)))
    add("CSV row", lambda d: edit_file(core_file(d, "_instr_exe.csv"), lambda t: re.sub(r"\.(\d\d)\d{4},", r".\1,", t, count=1)))
    add("rows by falling cycles", lambda d: edit_file(core_file(d, "_instr_exe.csv"), reverse_rows))
    add("rows by falling cycles", lambda d: edit_file(core_file(d, "_code_exe.csv"), reverse_rows))
    add("running time is a union of what ran", lambda d: edit_file(core_file(d, "_instr_exe.csv"),
                                                                   lambda t: re.sub(r",\d\.\d{6},", ",0.000000,", t, count=1)))
    add("running time is a union of what ran", lambda d: edit_file(core_file(d, "_instr_exe.csv"),
                                                                   lambda t: re.sub(r",\d\.\d{6},", ",9.990000,", t, count=1)))
    add("per-core schema 1", lambda d: edit_file(core_file(d, "trace.json"), lambda t: t.replace(':1,"trace', ':2,"trace', 1)))
    add("per-core pid is a named integer", lambda d: edit_file(core_file(d, "trace.json"),
                                                               lambda t: t.replace('"X","pid":10', '"X","pid":"10"', 1)))
    add("per-core pid is a named integer", lambda d: edit_file(core_file(d, "trace.json"),
                                                               lambda t: t.replace('"X","pid":10', '"X","pid":33', 1)))
    add("rows of a core do not overlap", lambda d: edit_file(core_file(d, "trace.json"), lambda t: re.sub(
        r'"tid":\d+,"ts":', '"tid":1,"ts":', t)))
    add("mode of a file", lambda d: os.chmod(os.path.join(d, "trace.json"), 0o644))
    add("mode of a file", lambda d: os.chmod(core_file(d, "trace.json"), 0o660))
    add("mode of a folder", lambda d: os.chmod(d, 0o757))
    add("mode of a folder", lambda d: os.chmod(os.path.dirname(core_file(d, "trace.json")), 0o770))
    add("nothing unfinished", lambda d: make(os.path.join(d, "x.tmp")))
    add("nothing unfinished", lambda d: make(core_file(d, "x.tmp")))
    add("a stem is used once", lambda d: make(os.path.join(d, "visualize_data2.bin")))
    add("a plain file", linked)
    add("readable", lambda d: os.remove(core_file(d, "trace.json")))


def make(path):
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o640))


def linked(folder):
    path = os.path.join(folder, "trace.json")
    os.rename(path, os.path.join(folder, "other.json"))
    os.symlink("other.json", path)


def reverse_rows(text):
    lines = text.split("\n")
    return "\n".join([lines[0], *reversed([x for x in lines[1:] if x]), ""])


# --- the suite ---

def export(incore, path, out):
    p = subprocess.run([incore, "export", "--to", "insight", "-o", out, path], capture_output=True, text=True)
    if p.returncode:
        sys.exit(f"cannot export {path}: {p.stderr}")
    return os.path.join(out, "simulator")


def rules_of_the_checker():
    text = open(check.__file__).read()
    found = set()
    for m in re.finditer(r"""c\.rule\(\s*("(?:[^"\\]|\\.)*"|'[^']*')(?: if [^,]*? else ("[^"]*"))?""", text):
        found |= {g[1:-1] for g in m.groups() if g}
    return found, text.count("c.rule(")


def main():
    incore = os.path.abspath(sys.argv[1])
    failed = passed = 0
    container(), tables(), stated(), text_rules(), flag_rules(), lane_rules(), directory_rules()
    data = os.path.join(check.ROOT, "tests", "data")
    broken = set()
    with tempfile.TemporaryDirectory() as tmp:
        inputs = {"mm": os.path.join(data, "ascend_matmul"), "a5": os.path.join(data, "ascend_a5"),
                  "odd": check.odd_run(os.path.join(tmp, "trace.json")), "stated": check.stated_run(os.path.join(tmp, "visualize_data.bin"))}
        bases = {k: export(incore, v, os.path.join(tmp, k)) for k, v in inputs.items()}
        for name, base in bases.items():
            bad = check.check_path(os.path.dirname(base), inputs[name] if name == "stated" else None).bad
            passed, failed = passed + (not bad), failed + bool(bad)
            for line in bad:
                print(f"FAIL {name} as written: {line}")
        for i, (rule, base, damage) in enumerate(MUTANTS):
            folder = os.path.join(tmp, f"m{i}", "simulator")
            shutil.copytree(bases[base], folder)
            damage(folder)
            c = check.check_path(os.path.dirname(folder), inputs[base] if base == "stated" else None)
            ok = rule in c.broken
            passed, failed = passed + ok, failed + (not ok)
            broken |= c.broken & {rule}
            if not ok:
                print(f"FAIL damage {i}, '{rule}': not told; told: {sorted(c.broken)} {c.bad[:1]}")
            shutil.rmtree(os.path.dirname(folder))
    rules, n_calls = rules_of_the_checker()
    for rule in sorted(rules - broken):
        failed += 1
        print(f"FAIL no damage breaks '{rule}'")
    print(f"{len(rules)} rules in {n_calls} calls, {len(MUTANTS)} damages")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
