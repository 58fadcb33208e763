#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is this a simulator/ directory (or a visualize_data.bin, or a trace.json) that MindStudio Insight shows whole? Every rule
that the viewer is known to have is checked on the bytes; nothing of our own code is used. insight_mutants.py proves that each
check can fail.

usage: insight_check.py PATH...         a directory, a .bin or a .json
       insight_check.py --of BIN PATH   the same, and is what the producer stated in BIN still there?
       insight_check.py --suite INCORE  exports what the tests have and checks all of it
"""
import json
import os
import re
import shutil
import stat
import struct
import subprocess
import sys
import tempfile

from ascend_fixtures import blocks, text, us

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE, TRACE, API_FILE, API_INSTR, BASE_INFO = 1, 2, 3, 4, 5
DETAILS = (5, 6, 7, 8, 9, 0xc, 0xd, 0xe, 0xf)
REFUSED = "|;&$><`\\!\"':"  # in a path; and what is no letter at all
OURS = {"Busy Cycles", "Cache Stall Cycles", "Queue Stall Cycles", "Wait Cycles", "Trace Cycles", "Trace Executions", "Evidence"}
FLAGS = {"SET_FLAG", "set_event", "WAIT_FLAG", "wait_event"}
MB = 1 << 20
# the class that the viewer colours a lane by; WARP_n goes by opcode, a lane of another name is "stopped"
CLASSES = {"SCALAR": "startup", "FLOWCTRL": "cq_build_passed", "MTE1": "thread_state_running", "CUBE": "background_memory_dump",
           "FIXP": "thread_state_unknown", "MTE2": "thread_state_iowait", "VECTOR": "cq_build_failed", "MTE3": "rail_response",
           "CACHEMISS": "thread_state_runnable", "ALL": "good", "USERMARK": "rail_load", "SCALARLDST": "startup",
           "EVENT": "rail_animation", "RVECEX": "thread_state_running", "RVECLP": "thread_state_iowait",
           "RVECST": "thread_state_runnable", "RVECLD": "startup", "PUSHQ": "thread_state_unknown", "RVECSU": "yellow"}
ORDER = {"SCALAR": 1, "FLOWCTRL": 2, "MTE1": 3, "CUBE": 4, "FIXP": 5, "MTE2": 6, "VECTOR": 7, "MTE3": 8, "CACHEMISS": 9,
         "SCALARLDST": 10, "ALL": 11, "USERMARK": 12, "EVENT": 13, "RVECEX": 18, "RVECLP": 19, "RVECST": 20, "RVECLD": 21,
         "PUSHQ": 22, "RVECSU": 23}


class Checker:
    def __init__(self, name):
        self.name, self.bad, self.n = name, [], 0
        self.seen, self.broken = set(), set()

    def rule(self, what, ok, detail=""):
        """`what` is a constant text: insight_mutants.py breaks every one of them."""
        self.n += 1
        self.seen.add(what)
        if not ok:
            self.broken.add(what)
            self.bad.append(f"{self.name}: {what} {str(detail)[:200]}")
        return ok


# --- the container ---

def blocks_of(c, data):
    """Rule 1: headers, padding, no trailing bytes."""
    out, at = [], 0
    while at < len(data):
        if not c.rule("a block header of 12 bytes", len(data) - at >= 12, f"{len(data) - at} bytes left at {at}"):
            break
        size, kind, pad, version, reserve = struct.unpack_from("<QBBBB", data, at)
        extra = 4096 if kind == SOURCE else 0
        end = at + 12 + extra + size
        if not c.rule("block inside the file", end <= len(data), f"at {at}: size {size}"):
            break
        c.rule("reserve byte 0x5a", reserve == 0x5a, hex(reserve))
        c.rule("a block starts at a multiple of 4", at % 4 == 0, at)
        c.rule("version byte", version == (0 if kind == API_INSTR else 0x5a), f"type {kind}: {version:#x}")
        c.rule("padding of 0 to 3", pad <= 3 and pad <= size, pad)
        c.rule("size is a multiple of 4", size % 4 == 0, size)
        c.rule("padding is zeros", data[end - pad:end] == b"\0" * pad)
        c.rule("no empty block but a source text", size > 0 or kind == SOURCE, kind)
        body = data[at + 12 + extra:end - pad]
        path = None
        if kind == SOURCE:
            raw = data[at + 12:at + 12 + 4096]
            c.rule("source path ends in NUL", b"\0" in raw)
            path = raw.split(b"\0")[0].decode("utf-8", "surrogateescape")
            c.rule("source path is NUL-padded", raw[len(raw.split(b"\0")[0]):].strip(b"\0") == b"")
        out.append((kind, version, body, path))
        at = end
    return out


def check_bin(c, data):
    found = blocks_of(c, data)
    if not c.rule("has blocks", bool(found)):
        return None
    kinds = [b[0] for b in found]
    c.rule("first u64 is not 0", struct.unpack_from("<Q", data, 0)[0] != 0)
    c.rule("u16 at 10 is 0x5a5a", struct.unpack_from("<H", data, 10)[0] == 0x5a5a)
    c.rule("TRACE or SOURCE first", kinds[0] in (TRACE, SOURCE), kinds)
    rank = {TRACE: 0, SOURCE: 0, API_FILE: 1, API_INSTR: 2}
    order = [rank.get(k, 3) for k in kinds]
    c.rule("order of blocks", order == sorted(order), kinds)
    c.rule("one API_FILE, one API_INSTR", kinds.count(API_FILE) <= 1 and kinds.count(API_INSTR) <= 1, kinds)
    c.rule("private blocks are of type 0x10 and more", all(k in (1, 2, 3, 4, *DETAILS) or k >= 0x10 for k in kinds), kinds)
    for kind, _, body, _ in found:
        if kind in (SOURCE, API_FILE, API_INSTR, *DETAILS):
            c.rule("tables and sources below 100 MB", len(body) < 100 * MB, (kind, len(body)))
        if kind in DETAILS:
            c.rule("one block of details of a type", kinds.count(kind) == 1, kinds)
            doc = json.loads(body)
            c.rule("base information names kernel, SoC and kind", kind != BASE_INFO or {"name", "soc", "op_type"} <= set(doc), doc)
    sources = {p: b for k, _, b, p in found if k == SOURCE}
    c.rule("one block per source path", len(sources) == kinds.count(SOURCE))
    for path, body in sources.items():
        check_source(c, path, body)
    trace = [b for k, _, b, _ in found if k == TRACE]
    c.rule("one TRACE", len(trace) == 1)
    cores = lines = None
    for kind, _, body, _ in found:
        if kind == API_INSTR:
            cores = check_instr(c, json.loads(body), sources)
        if kind == API_FILE:
            lines = check_file(c, json.loads(body), sources)
    for body in trace:
        drawn = check_trace(c, body)
        c.rule("every core of the trace is in Cores, once", cores is None or set(cores) >= set(drawn) and len(set(cores)) == len(cores), (cores, drawn))
    c.rule("lines have the cores of the instructions", lines is None or lines == cores, (lines, cores))
    return trace[0] if trace else None, drawn


def check_source(c, path, body):
    """The server answers a page that asks for a path; what it cannot send as JSON ends the session."""
    raw = path.encode("utf-8", "surrogateescape")
    c.rule("source path is there and without ':'", path and ":" not in path, path)
    c.rule("source path of at most 500 bytes", len(raw) <= 500, path)
    c.rule("source path without what the viewer refuses", all(x >= " " and x != "\x7f" and x not in REFUSED for x in path), path)
    c.rule("source path is UTF-8", is_utf8(raw), raw)
    c.rule("source text is UTF-8", is_utf8(body), path)
    c.rule("a source has text, or lines in its place", len(body) > 0, path)


def is_utf8(data):
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


# --- tables ---

def check_cell(c, name, dtype, value, n_cores):
    values = value if isinstance(value, list) else [value]
    if dtype in (1, 2, 4) and isinstance(value, list):
        c.rule("a list with a cell per core", len(value) == n_cores, (name, value))
        c.rule("equal cells are one", len(value) < 2 or any(v != value[0] for v in value), (name, value))
    for v in values:
        if dtype == 1:
            c.rule("an int of 32 bits", isinstance(v, int) and not isinstance(v, bool) and -2**31 <= v < 2**31, (name, v))
        elif dtype in (2, 4):
            c.rule("a float with a decimal point", isinstance(v, float), (name, v))
            c.rule("a float within range", isinstance(v, float) and abs(v) <= 3.4028234e38, (name, v))
        elif dtype == 3:
            c.rule("a string", isinstance(v, str), (name, v))


def check_rows(c, rows, types, n_cores):
    c.rule("columns have known types", all(t in (0, 1, 2, 3, 4, 5, 100) for t in types.values()), types)
    for row in rows:
        c.rule("a row has every column", all(name in row for name in types), row)
        for name, value in row.items():
            if c.rule("a column is declared", name in types, (name, list(types))):
                check_cell(c, name, types[name], value, n_cores)


def is_hex(text):
    return isinstance(text, str) and re.fullmatch(r"0x[0-9a-f]+", text) is not None


def check_instr(c, doc, sources):
    types = doc.get("Instructions Dtype", {}).get("Instructions", {})
    c.rule("keys of a table are sorted", list(doc) == sorted(doc), list(doc))
    rows = doc["Instructions"]
    c.rule("at most 1,000,000 rows", len(rows) <= 1000000)
    check_rows(c, rows, types, len(doc["Cores"]))
    for row in rows:
        c.rule("Address is hex with 0x", is_hex(row.get("Address")), row)
        c.rule("a miss or a mark is no instruction", row.get("Pipe") not in ("CACHEMISS", "USERMARK") and
               not re.match("CACHEMISS|Mark 0x", str(row.get("Source"))), row)
        inner = row.get("AscendC Inner Code")
        if inner:
            c.rule("AscendC Inner Code is path:line with one ':'", re.fullmatch(r"[^:]+:\d+", inner), inner)
            c.rule("its path has a SOURCE block", inner.rsplit(":", 1)[0] in sources, inner)
    return doc["Cores"]


def check_file(c, doc, sources):
    types = doc.get("Files Dtype", {}).get("Lines", {})
    c.rule("keys of a table are sorted", list(doc) == sorted(doc), list(doc))
    for f in doc["Files"]:
        c.rule("Source of a file is the path of a SOURCE block", f["Source"] in sources, f["Source"])
        check_rows(c, f["Lines"], types, len(doc["Cores"]))
        for line in f["Lines"]:
            if not c.rule("Address Range is hex with 0x", all(is_hex(x) for r in line["Address Range"] for x in r), line):
                continue
            ranges = [[int(x, 16) for x in r] for r in line["Address Range"]]
            c.rule("address ranges are sorted and apart", all(lo <= hi for lo, hi in ranges) and
                   all(a[1] + 4 < b[0] for a, b in zip(ranges, ranges[1:])), ranges)
    return doc["Cores"]


# --- trace.json ---

def event_texts(text):
    """The text of every event object, braces in strings skipped."""
    at = text.index("[", text.index('"traceEvents"')) + 1
    depth, start, quoted = 0, None, False
    while at < len(text):
        ch = text[at]
        if quoted:
            if ch == "\\":
                at += 1
            elif ch == '"':
                quoted = False
        elif ch == '"':
            quoted = True
        elif ch == "{":
            if depth == 0:
                start = at
            depth += 1
        elif ch == "}":
            depth -= 1
            if depth == 0:
                yield start, text[start:at + 1]
        elif ch == "]" and depth == 0:
            return
        at += 1


def check_number(c, what, raw):
    c.rule("time is a number with at least 4 decimals, not negative", re.fullmatch(r"\d+\.\d{4,}", raw or ""), (what, raw))


def is_sorted_object(text):
    """The keys of the outermost object as they stand in the file, without the events."""
    keys = json.loads(text, object_pairs_hook=lambda pairs: [k for k, _ in pairs])
    return keys == sorted(set(keys))


def check_text(c, text):
    """Rules on the bytes: the viewer cuts the text before it parses it."""
    head = text[:text.index("[")]
    c.rule("profilingType and op before the first [", '"profilingType":"op"' in head, head[:80])
    c.rule("traceEvents within 1 MB", '"traceEvents"' in text[:MB])
    c.rule("profilingType before traceEvents", text.index("profilingType") < text.index("traceEvents"))
    last = text.rfind('"ph"')
    c.rule('the last "ph" in the last MB', last < 0 or len(text) - last <= MB)
    c.rule("keys of the trace in alphabetical order", is_sorted_object(text), text[:80])
    end = text.index("[", text.index('"traceEvents"')) + 1
    for start, raw in event_texts(text):
        c.rule("events at most 1,024 bytes apart", start - end <= 1024, start)
        end = start + len(raw)
        at = raw.index('"ph":"')
        tail = raw[at:]
        c.rule('no brace after "ph" but the last', tail.count("{") == 0 and tail.count("}") == 1, raw[-120:])
        doc = json.loads(raw)
        keys = list(doc)
        c.rule("keys in alphabetical order", keys == sorted(keys), keys)
        args = doc.get("args", {})
        c.rule("args in alphabetical order", list(args) == sorted(args), list(args))
        if '"args"' in raw:
            c.rule("args before ph", raw.index('"args"') < at, keys)
        if '"ph":"M"' in raw:
            continue
        for key in ("ts", "dur"):
            m = re.search(rf'"{key}":([^,}}]+)', tail if key == "ts" else raw)
            if m:
                check_number(c, key, m.group(1))


def check_flags(c, events):
    """Rule 5: B and E adjacent, an id per pair, s and t on the flag's own track."""
    flags = {}
    for i, e in enumerate(events):
        if e["ph"] not in ("B", "E"):
            continue
        c.rule("B/E only of the four flag names", e["name"] in FLAGS, e["name"])
        c.rule("a flag has an id", isinstance(e.get("id"), str) and e["id"], e)
        other = events[i + 1] if e["ph"] == "B" and i + 1 < len(events) else events[i - 1] if i else {}
        c.rule("B and E are neighbours", {e["ph"], other.get("ph")} == {"B", "E"} and all(other.get(k) == e.get(k) for k in
               ("name", "id", "pid", "tid")), (e, other))
        if e["ph"] == "B":
            c.rule("E is not before B", other.get("ts", 0) >= e["ts"], (e, other))
            c.rule("B says what the flag is", {"detail", "pc_addr"} <= set(e.get("args", {})), e)
            kind = "set" if e["name"].lower().startswith("set") else "wait"
            c.rule("an id is used for one pair", (kind, e.get("id")) not in flags, e)
            flags[kind, e.get("id")] = (e["pid"], e["tid"], other.get("ts"))
    flows = {}
    for e in events:
        if e["ph"] in ("s", "t", "f"):
            c.rule("never f", e["ph"] != "f", e)
            c.rule("one s and one t per id", (e["ph"], e.get("id")) not in flows, e)
            flows[e["ph"], e.get("id")] = e
    for kind, ident in flags:
        is_pair = ("set", ident) in flags and ("wait", ident) in flags
        c.rule("a pair of flags has its line", not is_pair or ("s" if kind == "set" else "t", ident) in flows, ident)
    for (ph, ident), e in flows.items():
        flag = flags.get(("set" if ph == "s" else "wait", ident))
        if c.rule("a flow has its flag slice", flag is not None, e):
            c.rule("a flow stands on the track of its flag", (e["pid"], e["tid"]) == flag[:2], e)
            c.rule("a flow stands at the end of its flag", e["ts"] == flag[2], (e, flag))
        c.rule("s has t and t has s", ("t" if ph == "s" else "s", ident) in flows, e)
        other = flags.get(("wait" if ph == "s" else "set", ident))
        if flag and other:
            c.rule("a line between cores, and no other, has id intra_N", (flag[0] != other[0]) == e["id"].startswith("intra_"), e)
        if ("set", ident) in flags and ("wait", ident) in flags:
            cat = f"{flags['set', ident][1]}To{flags['wait', ident][1]}"
            c.rule("category <A>To<B>", e.get("cat") == cat, e)


def check_class(c, e):
    """The class of a slice is its lane's; a flag has the colours of flags."""
    if e["ph"] == "X" and not str(e["tid"]).startswith("WARP_"):
        c.rule("class of a lane", e.get("cname") == CLASSES.get(e["tid"], "thread_state_stopped"), e)
    elif e["ph"] in ("B", "E"):
        c.rule("class of a flag", e.get("cname") == ("black" if e["name"].lower().startswith("set") else "yellow"), e)
    else:
        c.rule("a slice has a class", e["ph"] != "X" or e.get("cname"), e)


def check_order(c, pid, lanes):
    """Every lane of the machine is there, in the order of the viewer; others come behind."""
    own = {t: v for (p, t), v in lanes.items() if p == pid}
    c.rule("sort indexes of lanes are unique", len(set(own.values())) == len(own), own)
    c.rule("known lanes in their order", all(own.get(t) == v for t, v in ORDER.items()), own)
    c.rule("WARP_n is 100 + n", all(v == 100 + int(t[5:]) for t, v in own.items() if re.fullmatch(r"WARP_\d+", t)), own)


def check_trace(c, body):
    text = body.decode()
    doc = json.loads(text)
    check_text(c, text)
    events = doc["traceEvents"]
    cores, lanes = {}, {}
    for e in events:
        if e["ph"] == "M" and e["name"] == "process_sort_index":
            cores[e["pid"]] = e["args"]["sort_index"]
        if e["ph"] == "M" and e["name"] == "thread_sort_index":
            lanes[e["pid"], e["tid"]] = e["args"]["sort_index"]
    c.rule("sort_index is an int", all(type(v) is int for v in [*cores.values(), *lanes.values()]), cores)
    c.rule("sort indexes of cores are unique", len(set(cores.values())) == len(cores), cores)
    labels = [e["args"]["labels"] for e in events if e["ph"] == "M" and e["name"] == "process_labels"]
    c.rule("a unit of cycles is named", doc.get("metadata", {}).get("clock_hz_num") != 0 or any("cycle" in x for x in labels), labels)
    for pid in cores:
        check_order(c, pid, lanes)
    for e in events:
        c.rule("a known phase", e["ph"] in ("X", "B", "E", "s", "t", "C", "M"), e)
        if e["ph"] in ("X", "B", "E", "s", "t"):
            c.rule("pid is core<i>.cubecore0 or .veccore<j>", re.fullmatch(r"core\d+(\.(cubecore0|veccore\d+))?", str(e["pid"])), e)
            c.rule("every core has a sort index", e["pid"] in cores, e["pid"])
            c.rule("every lane has a sort index", (e["pid"], e["tid"]) in lanes, (e["pid"], e["tid"]))
            c.rule("a lane is not split", "#" not in str(e["tid"]), e["tid"])
            check_class(c, e)
        if e["ph"] == "C":
            c.rule("a counter is after ts 0", e["ts"] > 0, e)
            c.rule("a counter has no id", "id" not in e, e)
            c.rule("a counter has a number", any(isinstance(v, (int, float)) for v in e["args"].values()), e)
        if e["ph"] == "X":
            c.rule("X has a length", "dur" in e and e["dur"] >= 0, e)
            c.rule("a flag with a partner is B and E, not X", "id" not in e, e)
            c.rule("a miss is named by its address, not by its lane", e["tid"] != "CACHEMISS" or e["name"] != "CACHEMISS", e)
            c.rule("a mark is named with its number", e["tid"] != "USERMARK" or e["name"] != "Mark", e)
    drawn = {e["pid"] for e in events if e["ph"] in ("X", "B")}
    c.rule("a core that is listed has slices", drawn >= set(cores), (sorted(cores), sorted(drawn)))
    check_flags(c, events)
    return list(cores)


# --- what the producer stated ---

def cell(value, k):
    return value[k] if isinstance(value, list) else value


def stated_rows(rows, cores, types, keys):
    """(key, core, column) -> value, of the columns of the producer that have figures or words."""
    out = {}
    for row in rows:
        key = tuple(str(row.get(k)) for k in keys)
        for name, dtype in types.items():
            if name in keys or name in OURS or name == "AscendC Inner Code" or name not in row:
                continue
            for k, core in enumerate(cores):
                v = row[name] if dtype in (0, 3, 5, 100) else cell(row[name], k)
                out[key, core, name] = v if isinstance(v, (str, list, dict)) else float(v)
    return out


def check_rows_kept(c, before, after):
    for at, v in before.items():
        got = after.get(at)
        is_silent = v in (0, -1) and got in (0, -1)  # of a core that did not execute it
        c.rule("what the producer stated is kept", got == v or is_silent, (at, v, got))


def table_of(found, kind):
    body = [b for k, _, b, _ in found if k == kind]
    return json.loads(body[0]) if body else None


def check_kept(c, before, after):
    """Two containers: what was read and what was written."""
    old, new = (blocks_of(Checker(""), data) for data in (before, after))
    instr = [table_of(x, API_INSTR) for x in (old, new)]
    if instr[0]:
        rows = [stated_rows(t["Instructions"], t["Cores"], t["Instructions Dtype"]["Instructions"], ("Address", "Source")) for t in instr]
        check_rows_kept(c, *rows)
        types = [t["Instructions Dtype"]["Instructions"] for t in instr]
        c.rule("columns keep their types", types[0].items() <= types[1].items(), types)
    lines = [table_of(x, API_FILE) for x in (old, new)]
    if lines[0]:
        rows = [{(f["Source"] if t is lines[1] else odd_path(f["Source"]), *k): v for f in t["Files"] for k, v in
                 stated_rows(f["Lines"], t["Cores"], t["Files Dtype"]["Lines"], ("Line",)).items()} for t in lines]
        check_rows_kept(c, *rows)
    whole = [b.decode("utf-8", "replace").replace("\ufffd", "") for k, _, b, _ in new if k == SOURCE]
    for kind, _, body, path in old:
        if kind == SOURCE and body:
            c.rule("a source text is kept whole, under a path of its own", whole.count(body.decode("utf-8", "ignore")) == 1, path)
        if kind in DETAILS:
            c.rule("a block of details is kept", body in [b for k, _, b, _ in new if k == kind], kind)
    n = [len(cross_lines(table_of(x, TRACE))) for x in (old, new)]
    c.rule("lines between cores are kept", n[0] == n[1], n)


def odd_path(path):
    return "".join("_" if x in REFUSED or x < " " else x for x in path)


def cross_lines(trace):
    ends = {}
    for e in trace["traceEvents"]:
        if e["ph"] in ("s", "t"):
            ends.setdefault(e["id"], set()).add(e["pid"])
    return [k for k, v in ends.items() if len(v) == 2]


# --- the directory ---

def check_csv(c, path, header, columns, mhz):
    lines = open(path).read().split("\n")
    c.rule("CSV header", lines[0] == header, (path, lines[0]))
    cycles = []
    for line in lines[1:]:
        if line:
            m = re.fullmatch(columns, line)
            if c.rule("CSV row", m, line):
                cycles.append(int(m.group("cycles")))
                whole, ran = cycles[-1] / mhz, float(m.group("ran"))
                c.rule("running time is a union of what ran", ran <= whole + 0.0051 and (ran > 0 or whole < 0.0051), line)
    c.rule("rows by falling cycles", cycles == sorted(cycles, reverse=True), cycles[:10])


def check_core(c, path, core, mhz):
    check_csv(c, os.path.join(path, f"{core}_instr_exe.csv"), "instr,addr,pipe,call_count,cycles,running_time(us),detail",
              r'[^,]*,\d+,[\w?]+,\d+,(?P<cycles>\d+),(?P<ran>\d+\.\d{6}),"[^"]*"', mhz)
    check_csv(c, os.path.join(path, f"{core}_code_exe.csv"), "code,call_count,cycles,running_time(us)",
              r"[^,]*:\d+,\d+,(?P<cycles>\d+),(?P<ran>\d+\.\d{6})", mhz)
    doc = json.load(open(os.path.join(path, "trace.json")))
    c.rule("per-core schema 1", doc["schemaVersion"] == 1 and doc["profilingType"] == "op")
    named = {e["pid"] for e in doc["traceEvents"] if e["ph"] == "M" and e["name"] == "process_name"}
    rows = {}
    for e in doc["traceEvents"]:
        if e["ph"] == "X":
            c.rule("per-core pid is a named integer", isinstance(e["pid"], int) and e["pid"] in named, e)
            rows.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"]))
    for v in rows.values():
        v.sort()
        c.rule("rows of a core do not overlap", all(a[1] <= b[0] + 1e-9 for a, b in zip(v, v[1:])))


def check_mode(c, path, want):
    mode = stat.S_IMODE(os.stat(path).st_mode)
    c.rule("mode of a folder" if want & 0o100 else "mode of a file", mode & ~want == 0 and mode & 0o600 == 0o600, (path, oct(mode)))


def check_dir(c, path):
    check_mode(c, path, 0o750)
    names = sorted(os.listdir(path))
    body, cores = check_bin(c, open(os.path.join(path, "visualize_data.bin"), "rb").read())
    c.rule("TRACE block = trace.json", body == open(os.path.join(path, "trace.json"), "rb").read())
    folders = [n for n in names if os.path.isdir(os.path.join(path, n))]
    c.rule("a folder per core", sorted(cores) == folders, (cores, folders))
    mhz = json.loads(body)["clockMHz"]
    for core in folders:
        check_core(c, os.path.join(path, core), core, mhz)
        check_mode(c, os.path.join(path, core), 0o750)
    for base, dirs, files in os.walk(path):
        c.rule("nothing unfinished", not [n for n in dirs + files if n.endswith(".tmp")], (base, dirs, files))
        c.rule("a stem is used once", len([f for f in files if f.endswith(".bin")]) <= 1, files)
        for f in files:
            check_mode(c, os.path.join(base, f), 0o640)
            c.rule("a plain file", not os.path.islink(os.path.join(base, f)), f)


def check_path(path, origin=None):
    c = Checker(path)
    try:
        if os.path.isdir(path):
            inner = os.path.join(path, "simulator")
            check_dir(c, inner if os.path.isdir(inner) else path)
            if origin:
                check_kept(c, open(origin, "rb").read(), open(os.path.join(inner, "visualize_data.bin"), "rb").read())
        elif path.endswith(".bin"):
            check_bin(c, open(path, "rb").read())
        else:
            check_trace(c, open(path, "rb").read())
    except (ValueError, KeyError, IndexError, AttributeError, OSError, TypeError) as e:
        c.rule("readable", False, repr(e))
    return c


def odd_run(path):
    """What a viewer that cuts text stumbles over: braces and brackets in every name, two cores of odd names, colons in paths,
    a counter at 0, a cross-core pair, flags without partner, instructions that share an address."""
    def x(name, pid, tid, ts, **more):
        return {"args": {"code": "C:/a{b.cpp:3\nx[y].h:4", "detail": "XD:{X1},", "pc_addr": "0x40"}, "dur": 0.5, "name": name, "ph": "X",
                "pid": pid, "tid": tid, "ts": ts, **more}
    events = [x("MMAD{", "first}", "CUBE", 1), x("VADD", "second", "lane{0", 1), x("VADD", "core0.veccore0", "VECTOR", 2),
              x("Mark 0x1", "core0.veccore0", "USERMARK", 2), x("Mark 0x2", "core0.veccore0", "USERMARK", 3),
              x("BAR", "core0.veccore0", "ALL", 4), x("GET_BUF", "core0.veccore0", "MTE2", 5),
              x("VADD", "core0.veccore0", "WARP_3", 5), x("A,B", "core0.veccore0", "WARP_3", 6),
              {"args": {"throughput(MB/s)": 1.5}, "name": "GM{", "ph": "C", "pid": "MTE {Throughput", "tid": 0, "ts": 0},
              {"args": {'of "all" ' + "x" * 99: 2}, "name": "odd", "ph": "C", "pid": "P", "tid": 0, "ts": 1}]
    events[1]["args"]["code"] = "/" + "d" * 5000 + ":4294967295"
    events[2]["args"]["code"] = ":7"
    for name, pid, tid, ts, ident in (("SET_INTRA_BLOCK", "core0.cubecore0", "FIXP", 2, "intra_0"),
                                      ("WAIT_INTRA_BLOCK", "core0.veccore0", "VECTOR", 3, "intra_0"),
                                      ("SET_FLAG", "core0.veccore0", "MTE2", 6, "a"), ("WAIT_FLAG.x", "core0.veccore0", "VECTOR", 6, "a"),
                                      ("WAIT_FLAG", "core0.veccore0", "MTE3", 7, "b"),
                                      ("SET_FLAG", "core0.veccore0", 'q"1', 8, "c"), ("WAIT_FLAG", "core0.veccore0", "r\\{", 8, "c"),
                                      ("SET_FLAGI", "core0.veccore0", "MTE2", 9, "d"),
                                      ("WAIT_FLAG.a.b", "core0.veccore0", "VECTOR", 9, "d"),
                                      ("set_event", "core0.veccore0", "MTE2", 10, "e"),
                                      ("wait_event", "core0.veccore0", "VECTOR", 10, "e")):
        for ph, at in (("B", ts), ("E", ts + 0.5)):
            events.append({"args": {"detail": "PIPE:MTE2,TRIGGERPIPE:VEC,FLAGID:0,", "pc_addr": "0x44"} if ph == "B" else {}, "id": ident,
                           "name": name, "ph": ph, "pid": pid, "tid": tid, "ts": at})
    with open(path, "w") as f:
        json.dump({"profilingType": "op", "schemaVersion": 2, "traceEvents": events}, f)
    return path


SET = "PIPE:MTE2,TRIGGERPIPE:VEC,FLAGID:%d,"


def stated_run(path):
    """A run whose producer states more, and other, than its trace adds up to; with sources that a viewer cannot be asked for,
    lines between cores, misses, marks, columns and blocks of details that we do not make ourselves."""
    cube, vec, other = "core0.cubecore0", "core0.veccore0", "core0.veccore1"
    long_path = "/long/" + "\u00e4" * 400 + "/end.cpp"
    events = []

    def x(name, pid, tid, ts, pc, code="", **args):
        events.append({"args": {"code": code, "detail": "XD:X1,", "pc_addr": hex(pc), **args}, "dur": us(90), "name": name, "ph": "X",
                       "pid": pid, "tid": tid, "ts": us(ts)})

    def flag(name, pid, tid, ts, pc, ident, detail):
        for ph, at in (("B", ts), ("E", ts + 10)):
            events.append({"args": {"code": "", "detail": detail, "pc_addr": hex(pc)} if ph == "B" else {}, "id": ident, "name": name,
                           "ph": ph, "pid": pid, "tid": tid, "ts": us(at)})
        return pid, tid, ts + 10
    for i in range(3):
        x("MMAD", cube, "CUBE", 1000 + 200 * i, 0x40, "/k/a$b.cpp:3\n/opt/ascend-toolkit/empty.h:9")
    for pid in (vec, other):
        x("VADD", pid, "VECTOR", 1500, 0x80, f"{long_path}:12")
        x("MOV_OUT_TO_UB", pid, "MTE2", 1000, 0x84, "/k/no_text.cpp:5")
    x("SCALAR_ONLY", cube, "SCALAR", 900, 0x90, "/opt/ascend-toolkit/empty.h:4")
    events += [{"args": {}, "dur": us(1), "name": "0x10f86a80", "ph": "X", "pid": vec, "tid": "CACHEMISS", "ts": us(950)},
               {"args": {"trace_start": "1", "trace_stop": "2"}, "dur": us(50), "name": "Mark 0x1", "ph": "X", "pid": vec,
                "tid": "USERMARK", "ts": us(1000)}]
    for i in range(2):
        ends = (flag("SET_FLAG", vec, "MTE2", 1100 + 50 * i, 0x88, f"{vec}_{i}", SET % i),
                flag("WAIT_FLAG", vec, "VECTOR", 1105 + 50 * i, 0x8c, f"{vec}_{i}", SET % i))
        cross = (flag("SET_INTRA_BLOCK", cube, "FIXP", 1700 + 50 * i, 0x44, f"intra_{i}", f"PIPE:FIXP,SYNCID:{16 * i},"),
                 flag("WAIT_INTRA_BLOCK", (vec, other)[i], "VECTOR", 1650 + 60 * i, 0x98, f"intra_{i}", "PIPE:VECTOR,SYNCID:0,"))
        for ident, pair in ((f"{vec}_{i}", ends), (f"intra_{i}", cross)):
            for ph, (pid, tid, at) in zip("st", pair):
                events.append({"cat": f"{pair[0][1]}To{pair[1][1]}", "id": ident, "name": "flow", "ph": ph, "pid": pid, "tid": tid, "ts": us(at)})
    cores = [cube, vec, other]
    types = {"Address": 3, "AscendC Inner Code": 3, "Source": 3, "Pipe": 3, "Instructions Executed": 1, "Cycles": 1, "GPR Count": 1,
             "Process Bytes": 1, "Vector Utilization Percentage": 4, "UB Read Conflict": 1, "Bank Turns": 2, "Word": 3, "GPR Status": 5}

    def row(pc, source, pipe, calls, cycles, **more):
        return {"Address": hex(pc), "AscendC Inner Code": "", "Source": source, "Pipe": pipe, "Instructions Executed": calls, "Cycles": cycles,
                "GPR Count": [7, 8, 9], "Process Bytes": [-1, 64, -1], "Vector Utilization Percentage": [-1.0, 12.5, 35.0],
                "UB Read Conflict": [-1, 2, 3], "Bank Turns": [1.5, 2.5, 1e-7], "Word": "one", "GPR Status":
                [{"regIndex": "0", "regStatus": 1, "survivalTime": 3}], **more}
    instr = [row(0x40, "MMAD XD:X1", "CUBE", [3, 0, 0], [270, 0, 0]), row(0x80, "VADD XD:X1", "VECTOR", [0, 1, 1], [0, 90, 90]),
             row(0x84, "MOV_OUT_TO_UB", "MTE2", [0, 1, 1], [0, 90, 90]), row(0x88, "SET_FLAG VEC ID:0", "MTE2", [0, 2, 0], [0, 5550, 0]),
             row(0x90, "SCALAR_ONLY", "SCALAR", [1, 0, 0], [90, 0, 0]), row(0x200, "STATED_ONLY", "SCALAR", [4, 4, 4], [123, 123, 123]),
             row(0x204, "NEVER", "SCALAR", [0, 0, 0], [0, 0, 0], **{"GPR Count": 0, "Process Bytes": -1, "UB Read Conflict": [0, 0, 0],
                                                                   "Vector Utilization Percentage": [-1.0, -1.0, -1.0], "Bank Turns": [0.0, 0.0, 0.0]})]
    files = [{"Source": "/k/a$b.cpp", "Lines": [{"Line": 3, "Address Range": [["0x40", "0x40"]], "Cycles": [271, 0, 0],
                                                 "Instructions Executed": [3, 0, 0], "GPR Count": [7, 8, 9]},
                                                {"Line": 77, "Address Range": [["0x200", "0x200"]], "Cycles": [123, 123, 123],
                                                 "Instructions Executed": 4, "GPR Count": -1}]},
             {"Source": "/k/only_stated.cpp", "Lines": [{"Line": 2, "Address Range": [], "Cycles": [1, 2, 3], "Instructions Executed": 1,
                                                        "GPR Count": -1}]}]
    roof = {"advice": "", "multiple_rooflines": [{"title": "GM", "rooflines": [{"bw": 1.6, "bw_name": "r", "computility": 320.0, "computility_name":
            "c", "point": [20.0, 24.0], "ratio": 0.75}]}]}
    sources = [(1, b"int \xff\xfe;\n" + b"// caf\xc3\xa9\n" * 3, "/k/a$b.cpp"), (1, b"x\n", "/k/a&b.cpp"), (1, b"", "/opt/ascend-toolkit/empty.h"),
               (1, b"", "/k/no_text.cpp"), (1, b"// 0123456789\n" * 100000, "/k/long.cpp"), (1, b"y" * 20000, "/k/wide.cpp"),
               (1, b"z\n", "/k/caf\u00e9|1.cpp")]
    cores.append("core1.veccore0")  # it has no slice
    for r in [*instr, *(line for f in files for line in f["Lines"])]:
        for name, v in r.items():
            if isinstance(v, list) and len(v) == 3:
                v.append(5 if name in ("Cycles", "GPR Count") and r.get("Source") == "STATED_ONLY" else v[0] * 0)
    with open(path, "wb") as f:
        f.write(blocks((2, text({"displayTimeUnit": "ns", "profilingType": "op", "schemaVersion": 2, "traceEvents": events})), *sources,
                       (3, text({"Cores": cores, "Files": files, "Files Dtype": {"Lines": {
                           "Address Range": 0, "Line": 1, "Cycles": 1, "Instructions Executed": 1, "GPR Count": 1}}})),
                       (4, text({"Cores": cores, "Instructions": instr, "Instructions Dtype": {"Instructions": types}})),
                       (5, text({"name": "k", "soc": "Ascend910B1", "op_type": "mix", "block_dim": 1})),
                       (6, text({"advice": ["use more"], "subblock_detail": [{"block_id": 0, "name": "n", "unit": 3, "value": 7.5}]})),
                       (8, text({"core_memory_map": [{"core_no": 0, "memory_unit": []}]})), (0xd, text(roof)),
                       (0xe, text({"Cacheline Records": [{"Cacheline Id": 0, "Hit": {"Address Range": [["0x0", "0x8"]], "Value": [3, 0.5]}}]})),
                       (0xf, text({"top_stall_reason_table": {"Barrier": 100}}))).replace(b"/k/wide.cpp", b"/k/w\xffde.cpp"))
    return path


def part_is_whole(incore, path):
    """A selection: its cores, and no figure of another."""
    bad = []
    with tempfile.TemporaryDirectory() as tmp:
        p = subprocess.run([incore, "export", "-q", "--to", "insight", "--unit", "vec0", "-o", os.path.join(tmp, "out"), path], capture_output=True,
                           text=True)
        c = check_path(os.path.join(tmp, "out"))
        bad += c.bad if p.returncode == 0 else [p.stderr]
        if not bad:
            found = blocks_of(c, open(os.path.join(tmp, "out", "simulator", "visualize_data.bin"), "rb").read())
            instr = table_of(found, API_INSTR)
            if instr["Cores"] != ["core0.veccore0"]:
                bad.append(f"cores of a selection: {instr['Cores']}")
            names = {r["Source"].split()[0] for r in instr["Instructions"]}
            if names != {"VADD", "MOV_OUT_TO_UB", "SET_FLAG", "WAIT_FLAG", "WAIT_INTRA_BLOCK"}:
                bad.append(f"instructions of a selection: {names}")
    return bad


def suite(incore):
    """Exports of what the tests and, where it is there, the shared data hold."""
    shared = os.path.join(os.environ.get("INCORE_SHARED", os.path.join(ROOT, "..", "shared")), "data", "ascend")
    inputs = []
    for base, _, files in os.walk(os.path.join(ROOT, "tests", "data")):
        inputs += [os.path.join(base, f) for f in files if f == "visualize_data.bin"]
    skipped = 0
    if os.path.isdir(shared):
        cases = os.path.join(shared, "clean_cases")
        inputs += [os.path.join(cases, n, "in", "visualize_data.bin") for n in
                   ("01_raw_trace", "03_overlap_sublanes", "15_source_REAL_layout_ge4096", "16_two_trace_blocks",
                    "21_real_schema_FIXP", "22_flag_reuse_and_skips", "23_A5_lanes", "24_zero_dur_touching",
                    "31_a5_real_excerpt")]
        inputs += [os.path.join(shared, "insight", "synthetic_sim1", "visualize_data.bin"),
                   os.path.join(shared, "camodel_dumps", "910B"), os.path.join(shared, "camodel_dumps", "91095")]
    else:
        print("SKIP real traces: no shared data")
        skipped = 1
    made = tempfile.mkdtemp(prefix="incore-insight-check-")
    stated = stated_run(os.path.join(made, "visualize_data.bin"))
    inputs += [stated, odd_run(os.path.join(made, "trace.json")), os.path.join(ROOT, "tests", "data", "ascend_a5"),
               os.path.join(ROOT, "tests", "data", "ascend_dump")]
    passed = failed = 0
    for line in part_is_whole(incore, stated):
        print(f"FAIL a selection: {line}")
        failed += 1
    for path in inputs:
        with tempfile.TemporaryDirectory() as tmp:
            p = subprocess.run([incore, "export", "--to", "insight", "-o", os.path.join(tmp, "out"), path],
                               capture_output=True, text=True)
            if "found no pipe" in p.stderr:
                continue  # a run on the device: nothing to draw
            if p.returncode:
                print(f"FAIL {path}: {p.stderr}")
                failed += 1
                continue
            c = check_path(os.path.join(tmp, "out"), path if path == stated else None)
            p = subprocess.run([incore, "info", os.path.join(tmp, "out")], capture_output=True, text=True)
            if p.returncode or ("contradictory" in p.stderr and path != stated):
                c.bad.append(f"an import finds a contradiction: {p.stderr}")
            failed += len(c.bad) > 0
            passed += not c.bad
            for line in c.bad[:10]:
                print(f"FAIL {path}: {line}")
    shutil.rmtree(made)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed > 0


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--suite":
        return suite(os.path.abspath(sys.argv[2]))
    bad = 0
    origin = sys.argv[2] if sys.argv[1:2] == ["--of"] else None
    for path in sys.argv[3 if origin else 1:]:
        c = check_path(path, origin)
        for line in c.bad:
            print(line)
        print(f"{path}: {c.n} rules checked, {len(c.bad)} broken")
        bad += len(c.bad)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
