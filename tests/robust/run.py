#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
run.py PROGRAM [PATTERN]: bad input gives a clear error or a note, never a crash, never a wrong total.

Spoils copies of a generated capture in every way a user can meet: missing and wrong kinds of files, cut JSON, flipped bytes,
huge and negative numbers, rows out of range, duplicate keys, deep nesting, links that loop, FIFOs, 100,000 wave files.
Checked of each: the exit status (0 to 4, no signal, no hang), a message that names something, JSON that can be read, buckets
that add up, and that totals other than those of the good capture never come without a warning or a finding.
ROBUST_WAVES: number of wave files of the large case (100000). TIMES: so many times as many random damages.
"""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "data")
TIMEOUT_S = 600
TIMES = int(os.environ.get("TIMES", "1"))
OTHER_VERBS = (("info",), ("waves",), ("isa",), ("occupancy",), ("summary",), ("hot", "--by", "cause"),
               ("hot", "--by", "line"), ("hot", "--by", "producer"))
HUGE = ("9223372036854775807", "9223372036854775808", "18446744073709551616", "-1", "-9223372036854775808", "1e400",
        "0.5", "4294967296", "99999999999999999999999999", "null", "\"\"", "[]", "{}")


class Suite:
    def __init__(self, program, pattern):
        self.program = os.path.abspath(program)
        self.pattern = pattern
        self.passed = self.failed = 0
        self.turn = 0
        # in memory where there is such a place: many thousand small files come and go
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        if memory and shutil.disk_usage(memory).free < 1 << 30:
            memory = None
        self.folder = tempfile.mkdtemp(prefix="incore-robust-", dir=memory)
        self.good = self.totals(self.answer(("hot", "--top", "all"), os.path.join(DATA, "gemm"))[1])
        self.good_findings = self.findings(self.answer(("check",), os.path.join(DATA, "gemm"))[1])

    def wanted(self, name):
        return not self.pattern or self.pattern in name

    def run(self, *args):
        try:
            p = subprocess.run([self.program, *args], stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S,
                               check=False)
            return p.returncode, p.stdout, p.stderr.decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            return "timeout", b"", ""

    def answer(self, question, path):
        rc, out, err = self.run(question[0], "--json", *question[1:], path)
        return rc, (json.loads(out) if rc in (0, 1) else None), err

    @staticmethod
    def totals(answer):
        return answer["data"]["totals"] if answer else None

    @staticmethod
    def findings(answer):
        return {f["id"] for f in answer["data"]["findings"]} if answer else None

    def fail(self, name, why):
        self.failed += 1
        print(f"FAILED {name}\n  {why}")

    def judge(self, name, path):
        """One bad input: three questions."""
        if not self.wanted(name):
            return
        try:
            why = self.fault_of(path)
        except (ValueError, KeyError, TypeError) as e:
            why = f"unreadable answer: {type(e).__name__}: {e}"
        if why:
            self.fail(name, why)
        else:
            self.passed += 1

    def fault_of(self, path):
        self.turn += 1
        other = OTHER_VERBS[self.turn % len(OTHER_VERBS)]
        rc, hot, err = self.answer(("hot", "--top", "all"), path)
        why = self.fault_of_run("hot", rc, err)
        if why:
            return why
        check_rc, check, check_err = self.answer(("check",), path)
        why = self.fault_of_run("check", check_rc, check_err)
        if why:
            return why
        rc, _, err = self.answer(other, path)
        why = self.fault_of_run(" ".join(other), rc, err)
        return why or self.fault_of_totals(hot, check)

    @staticmethod
    def fault_of_run(what, rc, err):
        if rc not in (0, 1, 2, 3, 4):
            return f"{what}: exit status {rc}: {err[-2000:]}"
        if rc in (2, 3) and not json.loads(err.splitlines()[-1])["error"]["message"]:
            return f"{what}: exit status {rc} without a message"
        return None

    def fault_of_totals(self, hot, check):
        if not hot:
            return None
        a = hot["data"]["accounting"]
        if a and a["duration"] != sum(a[k] for k in ("issue", "stall", "wait", "idle", "drain")):
            return f"buckets do not add up: {a}"
        if self.totals(hot) != self.good and not hot["warnings"] and check and \
                not self.findings(check) - self.good_findings:
            return f"other totals and not a word: {self.totals(hot)} instead of {self.good}"
        return None

    def copy(self):
        target = os.path.join(self.folder, "c")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(os.path.join(DATA, "gemm"), target)
        return os.path.join(target, "ui_output_agent_1000_dispatch_7")

    def spoil(self, name, function):
        """A copy of the capture, changed by function(directory)."""
        if self.wanted(name):
            directory = self.copy()
            function(directory)
            self.judge(name, directory)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)


def change(directory, name, function):
    path = os.path.join(directory, name)
    write(path, function(read(path)))


FILES = ("code.json", "filenames.json", "occupancy.json", "realtime.json", "snapshots.json", "wstates2.json",
         "se0_sm1_sl0_wv0.json")


def cut_files(s):
    for name in FILES:
        size = len(read(os.path.join(s.copy(), name)))
        for at in sorted({0, 1, 2, size // 7, size // 5, size // 3, size // 2, size * 3 // 4, size - 2, size - 1}):
            s.spoil(f"cut/{name}/{at}", lambda d, n=name, k=at: change(d, n, lambda b: b[:k]))


def flip_bytes(s, rounds=6 * TIMES):
    rng = random.Random(1)
    for name in FILES:
        for i in range(rounds):
            def flip(data):
                out = bytearray(data)
                for _ in range(rng.choice((1, 1, 2, 8))):
                    out[rng.randrange(len(out))] = rng.choice(b"0123456789[]{},:\"-\x00\xff\\ en")
                return bytes(out)
            s.spoil(f"flip/{name}/{i}", lambda d, n=name: change(d, n, flip))


def replace_numbers(s):
    rng = random.Random(2)
    for name in FILES:
        for i, text in enumerate(HUGE):
            def replace(data):
                numbers = list(re.finditer(rb"(?<![\w.\"-])-?\d+(?![\w.\"])", data))
                if not numbers:
                    return data
                m = rng.choice(numbers)
                return data[:m.start()] + text.encode() + data[m.end():]
            for k in range(TIMES):
                s.spoil(f"number/{name}/{i}.{k}", lambda d, n=name: change(d, n, replace))


def strange_json(s):
    for name in FILES:
        s.spoil(f"empty/{name}", lambda d, n=name: write(os.path.join(d, n), b""))
        s.spoil(f"null/{name}", lambda d, n=name: write(os.path.join(d, n), b"null"))
        s.spoil(f"array/{name}", lambda d, n=name: write(os.path.join(d, n), b"[1,2,3]"))
        s.spoil(f"deep/{name}", lambda d, n=name: write(os.path.join(d, n), b'{"code":' + b"[" * 100000))
        s.spoil(f"deep-unknown-key/{name}", lambda d, n=name: change(
            d, n, lambda b: b[:1] + b'"unknown":' + b"[" * 200 + b"]" * 200 + b"," + b[1:]))
        s.spoil(f"too-deep-unknown-key/{name}", lambda d, n=name: change(
            d, n, lambda b: b[:1] + b'"unknown":' + b"[" * 9999 + b"]" * 9999 + b"," + b[1:]))
        s.spoil(f"twice/{name}", lambda d, n=name: change(d, n, lambda b: b[:-1] + b"," + b[1:]))
        s.spoil(f"two-documents/{name}", lambda d, n=name: change(d, n, lambda b: b + b))
        s.spoil(f"binary/{name}", lambda d, n=name: write(os.path.join(d, n), bytes(range(256)) * 64))


def change_wave(directory, function, name="se0_sm1_sl0_wv0.json"):
    path = os.path.join(directory, name)
    wave = json.loads(read(path))
    function(wave)
    write(path, json.dumps(wave, separators=(",", ":")).encode())


def strange_waves(s):
    def record(i, column, value):
        def function(wave):
            wave["wave"]["instructions"][i][column] = value
        return function

    for column in range(5):
        for value in (-1, 2**31, 2**32, 2**53, 2**62, 2**63 - 1, 10**6):
            s.spoil(f"record/{column}/{value}", lambda d, c=column, v=value: change_wave(d, record(3, c, v)))
    s.spoil("record/short", lambda d: change_wave(d, lambda w: w["wave"]["instructions"][2].pop()))
    s.spoil("record/long", lambda d: change_wave(d, lambda w: w["wave"]["instructions"][2].append(1)))
    s.spoil("record/none", lambda d: change_wave(d, lambda w: w["wave"].update(instructions=None)))
    s.spoil("record/backwards", lambda d: change_wave(d, lambda w: w["wave"]["instructions"].reverse()))
    s.spoil("wave/begin-after-end", lambda d: change_wave(d, lambda w: w["wave"].update(begin=10**15)))
    s.spoil("wave/negative-begin", lambda d: change_wave(d, lambda w: w["wave"].update(begin=-5)))
    s.spoil("wave/other-place", lambda d: change_wave(d, lambda w: w["wave"].update(simd=3, slot=7, cu=9)))
    s.spoil("wave/no-wave", lambda d: change_wave(d, lambda w: w.pop("wave")))
    s.spoil("wave/huge-state", lambda d: change_wave(d, lambda w: w["wave"]["timeline"].append([2, 2**40])))
    s.spoil("wave/unknown-state", lambda d: change_wave(d, lambda w: w["wave"]["timeline"].append([99, 4])))
    s.spoil("wave/negative-state", lambda d: change_wave(d, lambda w: w["wave"]["timeline"].append([-1, -4])))
    s.spoil("wave/waitcnt-rows", lambda d: change_wave(d, lambda w: w["wave"].update(waitcnt=[[10**9, [[-3, 0]]]])))


def strange_manifest(s):
    def names(directory, function):
        path = os.path.join(directory, "filenames.json")
        manifest = json.loads(read(path))
        function(manifest["wave_filenames"]["0"])
        write(path, json.dumps(manifest, separators=(",", ":")).encode())

    for i, bad in enumerate(("../../etc/passwd", "/etc/passwd", "..", ".", "", "a/b", "code.json", "x" * 5000, "a\x00b")):
        s.spoil(f"manifest/path-{i}", lambda d, b=bad: names(d, lambda w: w["0"]["0"]["0"].__setitem__(0, b)))
    s.spoil("manifest/same-file-twice", lambda d: names(d, lambda w: w["0"]["0"].__setitem__("1", w["0"]["0"]["0"])))
    s.spoil("manifest/strange-key", lambda d: names(d, lambda w: w.__setitem__("x", w["0"])))
    s.spoil("manifest/huge-key", lambda d: names(d, lambda w: w.__setitem__("99999999999999999999", w["0"])))
    s.spoil("manifest/short-tuple", lambda d: names(d, lambda w: w["0"]["0"]["0"].pop()))


def strange_files(s):
    def replace(name, make):
        def function(directory):
            path = os.path.join(directory, name)
            os.remove(path)
            make(path)
        return function

    for name in FILES:
        s.spoil(f"gone/{name}", replace(name, lambda p: None))
        s.spoil(f"directory/{name}", replace(name, os.mkdir))
        s.spoil(f"dangling/{name}", replace(name, lambda p: os.symlink("nowhere", p)))
        s.spoil(f"loop/{name}", replace(name, lambda p: os.symlink(os.path.basename(p), p)))
        s.spoil(f"fifo/{name}", replace(name, os.mkfifo))
        s.spoil(f"device/{name}", replace(name, lambda p: os.symlink("/dev/zero", p)))
    for name in ("se9_sm0_sl0_wv0.json", "se0_sm0_sl0_wv99999999999999999999.json", "wstates9.json", "code.json.bak"):
        s.spoil(f"stray/{name}", lambda d, n=name: write(os.path.join(d, n), b"{"))


def strange_paths(s):
    base = os.path.join(s.folder, "paths")
    os.mkdir(base)
    write(os.path.join(base, "text"), b"hello\n")
    write(os.path.join(base, "nothing"), b"")
    write(os.path.join(base, "packed.incore"), b"incore\x00\x01" + bytes(64))
    os.mkdir(os.path.join(base, "empty"))
    os.mkdir(os.path.join(base, "circle"))
    os.symlink("..", os.path.join(base, "circle", "up"))
    os.symlink("self", os.path.join(base, "self"))
    os.symlink("nowhere", os.path.join(base, "dangling"))
    os.mkfifo(os.path.join(base, "fifo"))
    for name in ("missing", "text", "nothing", "packed.incore", "empty", "circle", "self", "dangling", "fifo"):
        s.judge(f"path/{name}", os.path.join(base, name))
    s.judge("path/device", "/dev/null")
    s.judge("path/empty-word", "")
    s.judge("path/long", "x" * 5000)


def side_files(s):
    for name in sorted(os.listdir(os.path.join(DATA, "gemm", "compute"))):
        def change_side(directory, function, n=name):
            change(os.path.join(os.path.dirname(directory), "compute"), n, function)
        for what, function in (("cut", lambda b: b[:len(b) // 2]), ("empty", lambda b: b""), ("zeros", lambda b: bytes(len(b))),
                               ("numbers", lambda b: re.sub(rb"\d+", b"99999999999999999999", b)),
                               ("minus", lambda b: re.sub(rb"(?<=[,\"])(\d+)", rb"-\1", b)),
                               ("quotes", lambda b: b.replace(b",", b'"'))):
            s.spoil(f"side/{name}/{what}", lambda d, f=function: change_side(d, f))


def many_waves(s):
    """A hundred thousand small waves: linear time, every one counted."""
    n = int(os.environ.get("ROBUST_WAVES", "100000"))
    if not s.wanted("many-waves"):
        return
    d = os.path.join(s.folder, "ui_output_agent_1_dispatch_1")
    os.mkdir(d)
    rows = [["; k", 0, 0, "", 1, 4096, 0, 0, 0, 0], ["v_mov_b32_e32 v0, 0", 0, 1, "", 1, 4096, n, 4 * n, 0, 0],
            ["s_endpgm", 0, 2, "", 1, 4100, n, 8 * n, 0, 0]]
    header = "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle"
    slots = {}
    for i in range(n):
        simd, slot, wave = i % 4, i // 4 % 8, i // 32
        begin = 1000 + 16 * wave
        name = f"se0_sm{simd}_sl{slot}_wv{wave}.json"
        slots.setdefault(str(simd), {}).setdefault(str(slot), {})[str(wave)] = [name, begin, begin + 12]
        write(os.path.join(d, name), (
            '{"duration":12,"name":"SE0","num_insts":2,"num_stitched":2,"wave":{"begin":%d,"cu":1,"end":%d,"id":0,"instructions":'
            '[[%d,6,0,4,1],[%d,11,0,8,2]],"simd":%d,"slot":%d,"timeline":[[2,4],[3,8]],"waitcnt":null}}' % (
                begin, begin + 12, begin, begin + 4, simd, slot)).encode())
    write(os.path.join(d, "code.json"), json.dumps({"code": rows, "header": header, "version": "3.0.0"}).encode())
    write(os.path.join(d, "filenames.json"), json.dumps({
        "counter_names": [], "gfxip": 9, "gfxv": "vega", "global_begin_time": 0, "version": "3.0.0",
        "wave_filenames": {"0": slots}}).encode())
    write(os.path.join(d, "occupancy.json"), b'{"dispatches":{},"version":"3.0.0"}')
    rc, hot, err = s.answer(("hot",), d)
    totals = s.totals(hot)
    if rc != 0 or (totals["waves"], totals["hit"], totals["latency"]) != (n, 2 * n, 12 * n):
        s.fail("many-waves/hot", f"exit status {rc}, {totals}, {err[-500:]}")
    else:
        s.passed += 1
    for question in (("check",), ("waves",), ("info",), ("summary",)):
        rc, _, err = s.answer(question, d)
        if rc in (0, 1):
            s.passed += 1
        else:
            s.fail(f"many-waves/{question[0]}", f"exit status {rc}: {err[-500:]}")


def main():
    if len(sys.argv) < 2:
        print(__doc__.strip())
        return 2
    s = Suite(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "")
    try:
        for group in (strange_paths, cut_files, flip_bytes, replace_numbers, strange_json, strange_waves, strange_manifest,
                      strange_files, side_files, many_waves):
            group(s)
    finally:
        shutil.rmtree(s.folder, ignore_errors=True)
    print(f"{s.passed} passed, {s.failed} failed, 0 skipped")
    return 1 if s.failed else 0


if __name__ == "__main__":
    sys.exit(main())
