#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does a bad Ascend run get? Every block of a container with a wrong size, padding, type, version or reserve byte, cut
files, JSON of the wrong shape, times that are none, flags without their other half, hostile paths: `info`, `check`, `waves`,
`summary`, `clean` and `export` give a clear error or count the loss; they never crash, never leave a part of their output and
never write outside the directory they were given.

usage: ascend_bad_input.py BUILD_DIR
"""
import concurrent.futures
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DATA = os.path.join(ROOT, "tests", "data")
SOURCE, TRACE, API_FILE, API_INSTR, BASE, OWN = 1, 2, 3, 4, 5, 0x70
READERS = ("info", "check", "waves", "summary")
WRITERS = {"clean": ["clean", "-q", "--keep-all"], "legacy": ["clean", "-q", "--legacy"],
           "insight": ["export", "-q", "--to", "insight"], "chrome": ["export", "-q", "--to", "chrome"]}
THIN = "THIN" in os.environ and os.environ.get("TIMES", "1") == "1"


# --- containers ---

def block(kind, body, path=None, version=None):
    pad = -len(body) % 4
    head = struct.pack("<QBBBB", len(body) + pad, kind, pad, (0 if kind == API_INSTR else 0x5a) if version is None else version, 0x5a)
    where = b"" if path is None else path.ljust(4096, b"\0")
    return head + where + body + b"\0" * pad


def blocks_of(data):
    """(offset, type, end) of every block of a sound container."""
    at, out = 0, []
    while at < len(data):
        size, kind = struct.unpack_from("<QB", data, at)
        end = at + 12 + size + (4096 if kind == SOURCE else 0)
        out.append((at, kind, end))
        at = end
    return out


def event(**more):
    e = {"args": {"code": "/k.cpp:1", "detail": "XD:X1,", "pc_addr": "0x40"}, "dur": 0.5, "name": "MMAD", "ph": "X",
         "pid": "core0.cubecore0", "tid": "CUBE", "ts": 1.0}
    e.update(more)
    return {k: v for k, v in e.items() if v is not None}


def trace_of(events):
    return b'{"profilingType":"op","schemaVersion":2,"traceEvents":[' + b",".join(
        e if isinstance(e, bytes) else json.dumps(e).encode() for e in events) + b"]}"


SOUND = trace_of([event(), event(ts=2.0)])
API = {"Cores": ["core0.cubecore0"], "Instructions Dtype": {"Instructions": {"Address": 3, "Cycles": 1, "Instructions Executed": 1}},
       "Instructions": [{"Address": "0x40", "Source": "MMAD XD:X1,", "Pipe": "CUBE", "AscendC Inner Code": "/k.cpp:1", "Cycles": [1850],
                         "Instructions Executed": [2]}]}


def api(**more):
    return json.dumps({**API, **more}).encode()


def row(**more):
    return api(Instructions=[{**API["Instructions"][0], **more}])


def container(trace=SOUND, instr=None, path=b"/k.cpp", text=b"int x;\n"):
    return (block(TRACE, trace) + block(SOURCE, text, path) + block(API_INSTR, instr or api()) +
            block(BASE, b'{"name":"k","soc":"Ascend910B1","op_type":"cube"}'))


# --- running ---

def run(program, words):
    return subprocess.run([program, *words], capture_output=True, timeout=600, stdin=subprocess.DEVNULL)


def listing(top):
    return sorted(os.path.join(d, f) for d, _, files in os.walk(top) for f in files)


def broken(p):
    err = p.stderr.decode(errors="replace")
    if p.returncode < 0 or p.returncode == 99 or "Sanitizer" in err or "runtime error" in err:
        return f"crashed ({p.returncode}): {err[:1500]}"
    if p.returncode not in (0, 1, 3, 4):
        return f"exit status {p.returncode}: {err[:300]}"
    if p.returncode >= 3 and not err.strip():
        return f"exit status {p.returncode} without a message"
    return None


def write_out(program, words, path, jail):
    """Runs a writer into jail/out; whatever it did, nothing else of the jail changed."""
    out = os.path.join(jail, "out")
    before = listing(jail)
    p = run(program, [*words, "-o", os.path.join(out, "x.json") if "chrome" in words else out, path])
    inside = listing(out) if os.path.isdir(out) else []
    outside = [f for f in listing(jail) if f not in before and not f.startswith(out + os.sep)]
    why = broken(p)
    if not why and outside:
        why = f"wrote outside: {outside[:3]}"
    if not why and p.returncode and inside:
        why = f"exit status {p.returncode} and left {inside[:3]}"
    if not why and any(".tmp" in f or f.endswith("~") for f in inside):
        why = f"left behind {inside}"
    shutil.rmtree(out, ignore_errors=True)
    return p, why


def verbs_of(number):
    """Of a damaged file, by its number. Neighbours are the same field with other values: half of the verbs in turn, and
    summary, which asks most, see each."""
    if not THIN:
        return READERS, WRITERS
    return ("summary", READERS[number % 3]), (("clean", "legacy")[number % 2], ("insight", "chrome")[number // 2 % 2])


def everything(program, tmp, number, case):
    """The verbs on one damaged file: only that nothing breaks."""
    name, data, file = case
    readers, writers = verbs_of(number)
    jail = tempfile.mkdtemp(dir=tmp)
    os.mkdir(os.path.join(jail, "in"))
    path = os.path.join(jail, "in", file)
    with open(path, "wb") as f:
        f.write(data)
    os.mkdir(os.path.join(jail, "out.parent"))
    for verb in readers:
        why = broken(run(program, [verb, path]))
        if why:
            return f"FAIL {name}: incore {verb}: {why}"
    for verb in writers:
        if verb == "chrome":
            os.makedirs(os.path.join(jail, "out"), exist_ok=True)
        _, why = write_out(program, WRITERS[verb], path, jail)
        if why:
            return f"FAIL {name}: incore {verb}: {why}"
    shutil.rmtree(jail)
    return None


# --- the container's fields ---

def fields():
    plain = container()
    sizes = (0, 1, 3, 0xffff, 1 << 31, 1 << 32, (1 << 63) - 1, (1 << 64) - 1)
    for at, kind, end in blocks_of(plain):
        def put(offset, value, form="B"):
            b = bytearray(plain)
            struct.pack_into("<" + form, b, at + offset, value)
            return bytes(b)
        true = struct.unpack_from("<Q", plain, at)[0]
        for size in (*sizes, true - 1, true + 1, true + 12, true + 4096):
            yield f"type {kind}: size {size}", put(0, size % (1 << 64), "Q"), "visualize_data.bin"
        for value in (0, 1, 2, 3, 4, 5, 0x0a, 0x0f, 0x10, OWN, 0xff):
            yield f"type {kind} as {value}", put(8, value), "visualize_data.bin"
        for value in (1, 3, 4, 7, 255):
            yield f"type {kind}: padding {value}", put(9, value), "visualize_data.bin"
        for value in (0, 1, 0x5a, 0xff):
            yield f"type {kind}: version {value}", put(10, value), "visualize_data.bin"
            yield f"type {kind}: reserve {value}", put(11, value), "visualize_data.bin"
        for cut in {at + 1, at + 8, at + 11, at + 12, at + 13, (at + end) // 2, end - 1}:
            yield f"type {kind}: cut at {cut}", plain[:cut], "visualize_data.bin"
    for extra in (1, 11, 12, 13, 4096):
        yield f"{extra} zeros behind", plain + b"\0" * extra, "visualize_data.bin"
        yield f"{extra} bytes behind", plain + b"\xa5" * extra, "visualize_data.bin"
    yield "empty", b"", "visualize_data.bin"


def own_block(exported):
    """The block that carries our own tables, damaged; the events beside it are sound."""
    at, kind, end = blocks_of(exported)[-1]
    assert kind == OWN
    for step in range(12, end - at, max(1, (end - at) // 60)):
        b = bytearray(exported)
        b[at + step] ^= 0x41
        yield f"own block: byte {step}", bytes(b), "visualize_data.bin"
    for cut in (at + 12, at + 20, (at + end) // 2, end - 1, end - 64):
        yield f"own block: cut at {cut}", exported[:cut], "visualize_data.bin"
    yield "own block: of another run", container() + exported[at:end], "visualize_data.bin"
    yield "own block twice", exported + exported[at:end], "visualize_data.bin"
    yield "own block: empty", exported[:at] + block(OWN, b""), "visualize_data.bin"


# --- shapes of JSON ---

def shapes():
    tops = (b"", b"null", b"7", b'"x"', b"[]", b"{}", b'{"traceEvents":null}', b'{"traceEvents":{}}', b'{"traceEvents":7}',
            b'{"traceEvents":[', b'{"traceEvents":[]', b'{"traceEvents":[{}', b"NOT JSON", b"[" * 100000, b'{"a":' * 100000,
            b'{"traceEvents":[1,"x",null,[],{}]}', b'{"metadata":7,"traceEvents":[]}', b'{"metadata":{"incore":[],"labels":7},"traceEvents":[]}',
            b'{"metadata":{"incore":"1","clock_hz_num":-1,"clock_hz_den":0,"labels":{"a":{},"b":[1]}},"traceEvents":[{}]}',
            b"\xff\xfe\xfd", b"\0" * 64)
    for i, text in enumerate(tops):
        yield f"top {i} {text[:24]!r}", text, "trace.json"
        if text:
            yield f"TRACE {i} {text[:24]!r}", container(trace=text), "visualize_data.bin"
    values = (None, -1, -1e300, "NaN", "x", "", [], {}, True, 1e17, 2**53 + 1, 1e308, "1e400", 10**400, "9" * 400)
    for key in ("ts", "dur", "name", "pid", "tid", "args", "ph"):
        for v in values:
            yield f"{key} {str(v)[:20]!r}", trace_of([event(**{key: v}), event(ts=3.0)]), "trace.json"
    for v in (b"NaN", b"Infinity", b"-Infinity", b"1e999", b"0x10", b"1.", b".5", b"+1"):
        raw = json.dumps(event(ts=12345)).encode().replace(b"12345", v)
        yield f"ts {v!r} unquoted", trace_of([raw, event(ts=3.0)]), "trace.json"
    rows = ({"Address": 7}, {"Address": "zz"}, {"Address": "0x" + "f" * 40}, {"Cycles": None}, {"Cycles": []}, {"Cycles": [1, 2, 3]},
            {"Cycles": [10**30]}, {"Cycles": "x"}, {"Cycles": [-5]}, {"Cycles": [1.5]}, {"Source": 7}, {"Source": "x" * 100000},
            {"AscendC Inner Code": ":::"}, {"Instructions Executed": [2**63]}, {"Process Bytes": {"a": []}})
    for more in rows:
        yield f"API_INSTR row {str(more)[:40]}", container(instr=row(**more)), "visualize_data.bin"
    for more in ({"Cores": None}, {"Cores": 7}, {"Cores": []}, {"Cores": [[]]}, {"Cores": ["a"] * 70000}, {"Instructions": None},
                 {"Instructions": {}}, {"Instructions": [1, [], None]}, {"Instructions Dtype": 7}, {"Instructions Dtype": {"Instructions": []}}):
        yield f"API_INSTR {str(more)[:40]}", container(instr=api(**more)), "visualize_data.bin"
    for path in (b"", b"../../../tmp/escape", b"/etc/passwd", b"a\nb", b"C:\\x", b"a:b", b"x" * 4095, b"..", b"simulator/../../y", b"\xff\xfe"):
        yield f"SOURCE path {path[:20]!r}", container(path=path), "visualize_data.bin"
        stack = path.decode("latin1") + ":7"
        yield f"stack {path[:20]!r}", container(trace=trace_of([event(args={"code": stack, "detail": "", "pc_addr": "0x40"})]), path=path), \
            "visualize_data.bin"
    yield "SOURCE path without NUL", container(path=b"x" * 4096), "visualize_data.bin"
    for pid in ("../../x", "/etc/x", "core0.cubecore0/../../x", "core4294967295.cubecore0", "core99999999999999.veccore7", "", "a\u0000b"):
        yield f"pid {pid!r}", trace_of([event(pid=pid)]), "trace.json"
        yield f"tid {pid!r}", trace_of([event(tid=pid)]), "trace.json"


# --- what must be said ---

FLAG = {"name": "SET_FLAG", "tid": "MTE2", "dur": None, "args": {"detail": "PIPE:MTE2,TRIGGERPIPE:M,FLAGID:0,", "pc_addr": "0x44"}}
CASES = [  # name, data, file, words of which one must be said by info, words by clean, statuses
    ("no ts", trace_of([event(ts=None), event()]), "trace.json", ["without a time"], ["without ts"], (0, 0)),
    ("negative ts", trace_of([event(ts=-1), event()]), "trace.json", ["negative"], ["negative"], (0, 0)),
    ("NaN ts", trace_of([event(ts="NaN"), event()]), "trace.json", ["no number"], ["no number"], (0, 0)),
    ("ts beyond 2^53", trace_of([event(ts=1e17), event()]), "trace.json", ["too large"], ["too large"], (0, 0)),
    ("B without E", trace_of([event(ph="B", id="a", **FLAG), event()]), "trace.json", ["no other half"], ["begin or an end only"], (0, 0)),
    ("E without B", trace_of([event(ph="E", id="a", **FLAG), event()]), "trace.json", ["no other half"], ["begin or an end only"], (0, 0)),
    ("no pid", trace_of([event(pid=None), event()]), "trace.json", ["no pid or tid"], ["without pid or tid"], (0, 0)),
    ("TRACE is no JSON", container(trace=b"NOT JSON"), "visualize_data.bin", ["TRACE"], ["TRACE"], (3, 3)),
    ("first reserve byte", b"".join([container()[:11], b"\0", container()[12:]]), "visualize_data.bin", ["reserve byte"], ["reserve byte"], (3, 3)),
    ("trailing bytes", container() + b"\xa5" * 11, "visualize_data.bin", ["11 bytes"], ["11 bytes"], (0, 0)),
    ("cut in the last block", container()[:-9], "visualize_data.bin", ["after the last block"], ["are no block"], (0, 0)),
    ("size beyond the file", struct.pack("<QBBBB", 9999, TRACE, 0, 0x5a, 0x5a) + b"{}..", "visualize_data.bin", ["9999"], ["9999"], (3, 3)),
]


def special(program, tmp, case):
    name, data, file, info_words, clean_words, allowed = case
    jail = tempfile.mkdtemp(dir=tmp)
    os.mkdir(os.path.join(jail, "in"))
    path = os.path.join(jail, "in", file)
    with open(path, "wb") as f:
        f.write(data)
    for verb, words, status in (("info", info_words, allowed[0]), ("clean", clean_words, allowed[1])):
        if verb == "info":
            p = run(program, ["info", "-v", path])
            why = broken(p)
        else:
            p, why = write_out(program, ["clean"], path, jail)
        text = (p.stderr + p.stdout).decode(errors="replace")
        if not why and p.returncode != status:
            why = f"exit status {p.returncode}, expected {status}: {text[:300]}"
        if not why and not any(w in text for w in words):
            why = f"no word about it: {text[:400]!r}"
        if not why and status == 0:
            strict = run(program, ["info", "--strict", path]).returncode if verb == "info" else \
                write_out(program, ["clean", "--strict"], path, jail)[0].returncode
            why = None if strict == 4 else f"--strict gives {strict}, not 4"
        if why:
            return f"FAIL {name}: incore {verb}: {why}"
    shutil.rmtree(jail)
    return None


def refused(program, tmp):
    """Targets that a writer must not touch."""
    bad = []
    source = os.path.join(DATA, "ascend_matmul")
    full = os.path.join(tmp, "full")
    os.makedirs(os.path.join(full, "simulator"))
    with open(os.path.join(full, "simulator", "keep"), "w") as f:
        f.write("mine")
    link = os.path.join(tmp, "link")
    os.symlink(full, link)
    for target in (full, link, os.path.join(full, "simulator", "keep"), os.path.join(full, "simulator", "keep", "x")):
        p = run(program, ["export", "-q", "--to", "insight", "-o", target, source])
        if p.returncode == 0 or p.returncode < 0:
            bad.append(f"FAIL export onto {target}: {p.returncode}")
        if listing(full) != [os.path.join(full, "simulator", "keep")] or open(os.path.join(full, "simulator", "keep")).read() != "mine":
            bad.append(f"FAIL export onto {target} touched it")
    return bad


def main():
    program = os.path.join(os.path.abspath(sys.argv[1]), "incore")
    failed, n = [], 0
    with tempfile.TemporaryDirectory(prefix="incore-ascend-bad-") as tmp:
        assert run(program, ["export", "-q", "--to", "insight", "-o", os.path.join(tmp, "own"),
                             os.path.join(DATA, "ascend_waiting")]).returncode == 0
        with open(os.path.join(tmp, "own", "simulator", "visualize_data.bin"), "rb") as f:
            exported = f.read()
        all_cases = [*fields(), *own_block(exported), *shapes()]
        with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count())) as pool:
            for why in [*pool.map(lambda c: everything(program, tmp, *c), enumerate(all_cases)), *pool.map(lambda c: special(program, tmp, c), CASES)]:
                n += 1
                if why:
                    failed.append(why)
        failed += refused(program, tmp)
        n += 4
    print("\n".join(failed[:20]))
    print(f"{n - len(failed)} passed, {len(failed)} failed, 0 skipped")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
