#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the embedded model record, time and judge kernels rightly? Every kernel of kernels/ is compiled against the
recorder's headers and timed: a sound one gives no finding, a broken twin the finding that was planted, with the lines.
Together they use every op and intrinsic that `incore model ops` lists. Then bad input of every kind.

usage: run.py BUILD_DIR [NAME...]     a kernel, "coverage", "fixtures", "calibrate", "step" or "bad-input"
"""
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cases  # noqa: E402
import step  # noqa: E402

RESULT = [0, 0, 0]
DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "model")
# Op streams in tests/data/model, for tests that shall need no compiler: kernel and bug.
FIXTURES = {"vec_add": ("vec_add", None), "gemm_race": ("gemm", "race"), "gemm_deadlock": ("gemm", "deadlock"),
            "attention": ("attention", None), "blocks": ("blocks", None), "mx": ("a5_mx", None)}
ERROR_CODES = {"race", "deadlock", "unmatched-wait", "double-set", "flag-left-set", "bad-flag", "counter-full", "missing-barrier"}


def report(problem, what):
    RESULT[bool(problem)] += 1
    if problem:
        print(f"FAIL {what}: {problem}")


class Model:
    def __init__(self, build, tmp):
        self.program = os.path.join(os.path.abspath(build), "incore")
        self.tmp = tmp
        self.env = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG") or k.endswith("SAN_OPTIONS")}
        self.env.update(LC_ALL="C.UTF-8", XDG_CACHE_HOME=os.path.join(tmp, "cache"), INCORE_JOBS="1")

    def run(self, *words, env=None, timeout=300):
        return subprocess.run([self.program, "model", *words], capture_output=True, text=True, errors="replace",
                              env={**self.env, **(env or {})}, timeout=timeout, cwd=self.tmp)

    def source(self, name, bug=None):
        path = os.path.join(self.tmp, "src", f"{name}{'-' + bug if bug else ''}.cpp")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write("\n".join(cases.twin(name, bug)) + "\n")
        return path

    def kernel(self, verb, name, bug, *words):
        core, args, *more = cases.RUNS[name]
        options = [w for a in args for w in ("--args", a)] + (more[0] if more else [])
        return self.run(verb, self.source(name, bug), "--core", core, *options, *words)


def sound(model, name):
    """None, or what is wrong with how a sound kernel is judged."""
    out = os.path.join(model.tmp, f"out-{name}")
    p = model.kernel("run", name, None, "--json", "-o", out)
    if p.returncode:
        return f"exit status {p.returncode}: {p.stderr.strip()[:1500]}"
    data = json.loads(p.stdout)["data"]
    found = [f for f in data["findings"] if f["kind"] in ERROR_CODES]
    if found:
        return "findings: " + "; ".join(f["message"] for f in found[:4])
    if not data["complete"]:
        return f"not complete: {data['reason']}"
    if data["evidence"] != "estimate" or not data["profile"]["sha256"]:
        return "no evidence or profile"
    for f in data["files"]:
        if not os.path.exists(os.path.join(out, f)):
            return f"{f} is not there"
    for core in data["cores"]:
        if not core["cycles"]:
            return f"{core['core']} took no time"
        for pipe in core["pipes"]:
            if pipe["busy_cycles"] > core["cycles"]:
                return f"{core['core']} {pipe['pipe']}: busy longer than it ran"
    return again(model, name, out, data)


def again(model, name, out, data):
    """The op stream that was written, timed by itself, must give the same; so must a second recording."""
    p = model.run("time", os.path.join(out, "ops.opstream"), "--json")
    if p.returncode:
        return f"time: exit status {p.returncode}: {p.stderr.strip()[:500]}"
    other = json.loads(p.stdout)["data"]
    for key in ("cores", "findings", "ops", "streams"):
        if other[key] != data[key]:
            return f"run and time differ in {key}"
    text = os.path.join(model.tmp, f"{name}.jsonl")
    p = model.kernel("record", name, None, "--format", "jsonl", "-o", text)
    q = model.run("time", text, "--json")
    if p.returncode or q.returncode:
        return f"as JSON Lines: {p.stderr.strip()[:500]}{q.stderr.strip()[:500]}"
    other = json.loads(q.stdout)["data"]
    for key in ("cores", "findings", "ops"):
        if other[key] != data[key]:
            return f"the binary and the JSON Lines form differ in {key}"
    return None


def broken(model, name, bug):
    """None, or why the planted bug was not named as it should be."""
    kind, texts = cases.BUGS[name][bug]
    out = os.path.join(model.tmp, f"out-{name}-{bug}")
    p = model.kernel("run", name, bug, "--json", "-o", out)
    if kind == cases.ERROR:
        return refused(p, name, bug, texts, out)
    if p.returncode:
        return f"exit status {p.returncode}: {p.stderr.strip()[:1500]}"
    data = json.loads(p.stdout)["data"]
    found = [f for f in data["findings"] if f["kind"] == kind]
    told = "; ".join(f"{f['kind']}: {f['message']}" for f in data["findings"][:4]) or "nothing"
    if not found:
        return f"no {kind} was found, but {told}"
    if kind in (cases.DEAD, cases.WAIT) and data["complete"]:
        return "the result says it is complete"
    want = [cases.lines_with(name, t) for t in texts]
    for f in found:
        lines = [f[side]["line"] for side in "ab" if f[side]]
        lines += [int(n) for text in f.get("lines", []) for n in re.findall(r"\.cpp:(\d+)", text)]
        if kind == cases.RACE:
            if f["a"]["core"] != f["b"]["core"] and lines[0] in want[1]:
                lines.reverse()
            if lines[0] in want[0] and lines[1] in want[1] and precise(f):
                return None
        elif all(any(n in lines for n in w) for w in want):
            return None
    return f"{kind} found, but not at {want}: {told}"


def precise(f):
    """A race names both ops, the buffer, bytes, hazard and the missing edge."""
    edge = f["missing"] or ""
    return (f["buffer"] and f["end_byte"] > f["first_byte"] and f["hazard"] in ("RAW", "WAR", "WAW")
            and ("set_flag" in edge or "XSET" in edge or "cross" in edge))


def refused(p, name, bug, texts, out):
    if p.returncode != 3:
        return f"exit status {p.returncode}, expected 3: {p.stderr.strip()[:500]}"
    if os.path.exists(out):
        return "something was written"
    error = json.loads(p.stderr)["error"]
    text = " ".join([error["message"]] + [c["message"] for c in error["causes"]])
    for t in texts:
        if not any(re.search(rf"\b{n}\b", text) for n in cases.lines_with(name, t)):
            return f"the message does not name line {cases.lines_with(name, t)}: {text}"
    return None if f"{name}-{bug}.cpp" in text else f"the message does not name the kernel: {text}"


def coverage(model):
    """Every name of the op table occurs in a stream of our kernels, or, where it leaves no trace, in a source."""
    p = model.run("ops", "--json")
    if p.returncode:
        return report(p.stderr.strip(), "model ops")
    ops = json.loads(p.stdout)["data"]["ops"]
    seen, text = set(), ""
    for name in cases.RUNS:
        path = os.path.join(model.tmp, f"{name}.cover.jsonl")
        p = model.kernel("record", name, None, "--format", "jsonl", "-o", path)
        if p.returncode:
            report(p.stderr.strip()[:500], f"coverage of {name}")
            continue
        with open(path) as f:
            seen.update(re.findall(r'"op": ?"([^"]*)"', f.read()))
        text += "\n".join(cases.source(name))
    for op in ops:
        used = op["name"] in seen or (not op["recorded"] and re.search(rf"\b{op['name']}\b", text))
        if op["name"] == "GetValue":  # stops a run: the twin data_loop_value
            used = re.search(r"\bGetValue\b", text)
        report(None if used else "no kernel uses it", f"coverage of {op['name']}")
    unknown = seen - {op["name"] for op in ops}
    report(f"ops that the table lacks: {sorted(unknown)}" if unknown else None, "coverage")


def fixtures(model):
    """Recording again gives the op streams of tests/data/model, byte for byte; UPDATE=1 writes them."""
    for name, (kernel, bug) in FIXTURES.items():
        path, kept = os.path.join(model.tmp, f"{name}.again"), os.path.join(DATA, f"{name}.jsonl")
        p = model.kernel("record", kernel, bug, "--format", "jsonl", "-o", path)
        if p.returncode:
            report(p.stderr.strip()[:500], f"fixture {name}")
            continue
        with open(path) as f:
            again = f.read().replace(os.path.join(model.tmp, "src") + os.sep, "")
        if os.environ.get("UPDATE"):
            os.makedirs(DATA, exist_ok=True)
            with open(kept, "w") as f:
                f.write(again)
        with open(kept) as f:
            report(None if f.read() == again else "recording gives another op stream", f"fixture {name}")


TRUTH = {"gm_rd_lat": 500, "gm_ub_bw": 80, "gm_wr_lat": 150, "gm_wr_bw": 100}
PMU_HEAD = ("thread_id,core_id,task_id,func_id,core_type,pmu_total_cycles,pmu_vec_busy,pmu_cube_busy,pmu_scalar_busy,"
            "pmu_mte1_busy,pmu_mte2_busy,pmu_mte3_busy,pmu_icache_miss,pmu_icache_req,event_type\n")


def counters(model, ops):
    """Counters of twelve tasks of vector_add, as a machine with the constants of TRUTH would show them."""
    kernel = os.path.join(os.path.dirname(os.path.dirname(cases.HERE)), "recorder", "validate", "vector_add.cpp")
    lines = "".join(f"  {k}: {{value: {v}, unit: x, source: test, status: device}}\n" for k, v in TRUTH.items())
    truth = write(model, "truth.yaml", "format: incore-profile\nversion: 1\nname: truth\nbase: 910b1\nsoc: test\n\n"
                                       "constants:\n" + lines)
    text = PMU_HEAD
    for task in range(12):
        rows, tiles = (160, 80, 40, 16, 8, 4)[task % 6], 3 + task
        stream = os.path.join(ops, f"task-{task}.opstream")
        n = rows * 128 * tiles
        words = [w for a in (f"0=f16[{n}]", f"1=f16[{n}]", f"2=f16[{n}]:out", f"3=i64:{rows}", "4=i64:1", "5=i64:1",
                             f"6=i64:{tiles}") for w in ("--args", a)]
        p = model.run("record", kernel, "--core", "aiv", *words, "-o", stream)
        q = model.run("time", stream, "-p", truth, "--json")
        if p.returncode or q.returncode:
            raise RuntimeError(p.stderr + q.stderr)
        core = json.loads(q.stdout)["data"]["cores"][0]
        busy = {x["pipe"]: x["busy_cycles"] for x in core["pipes"]}
        text += (f"0,3,{task},0,1,{core['cycles']},{busy['V']},0,{busy.get('S', 0)},0,{busy['MTE2']},{busy['MTE3']},0,0,2\n")
    return write(model, "pmu.csv", text)


def calibrate(model):
    """Fitting to counters of a machine with other constants gives those constants back."""
    ops = os.path.join(model.tmp, "tasks")
    os.makedirs(ops)
    pmu, out = counters(model, ops), os.path.join(model.tmp, "local.yaml")
    words = ["calibrate", "--base", "910b1", "--ops", ops, "--fit", ",".join(TRUTH)]
    p = model.run(*words, "--pmu", pmu, "-o", out, "--json")
    if p.returncode:
        return report(p.stderr.strip(), "calibrate")
    data = json.loads(p.stdout)["data"]
    for v in data["values"]:
        off = abs(v["is"] - TRUTH[v["key"]]) / TRUTH[v["key"]]
        report(None if off < 0.02 else f"fitted {v['is']}, true {TRUTH[v['key']]}", f"calibrate {v['key']}")
        report(None if v["held_out_tasks"] > 0 and v["held_out_pct"] < 2 else f"held-out error {v}", f"hold-out of {v['key']}")
    report(None if {v["key"] for v in data["values"]} == set(TRUTH) else "a constant is missing", "calibrate")
    p = model.run("time", os.path.join(ops, "task-0.opstream"), "-p", out, "--json")
    profile = json.loads(p.stdout)["data"]["profile"] if p.returncode == 0 else {}
    report(None if profile.get("calibration") == "local-device" else f"{p.stderr} {profile}", "the fitted profile")
    done = os.path.join(model.tmp, "timed")
    model.run("time", os.path.join(ops, "task-0.opstream"), "-p", out, "-o", done)
    p = model.run("compare", os.path.join(done, "trace.incore"), "--pmu", pmu, "--by", "task", "--json")
    rows = json.loads(p.stdout)["data"]["rows"] if p.returncode == 0 else []
    report(None if len(rows) == 12 and abs(rows[0]["error_pct"]) < 2 else f"{p.stderr} {rows[:1]}", "compare with counters")
    zero = write(model, "zero.csv", PMU_HEAD + "0,3,1,0,1,0,0,0,0,0,0,0,0,0,2\n" * 3)
    expect(model, "counters of a simulator", 3, [*words, "--pmu", zero, "-o", "OUT"], "zero.csv")
    expect(model, "counters without columns", 3, [*words, "--pmu", write(model, "no.csv", "a,b\n1,2\n"), "-o", "OUT"], "no.csv")
    expect(model, "no such constant", 2, [*words[:-1], "speed", "--pmu", pmu, "-o", "OUT"], "speed")
    expect(model, "no measurement", 2, [*words, "-o", "OUT"], "--pmu")
    expect(model, "fixpipe without its counter", 3, [*words[:-1], "fix_fixed", "--pmu", pmu, "-o", "OUT"], "fix_fixed")
    expect(model, "an estimate as measurement", 3, [*words, "--trace", os.path.join(done, "trace.incore"), "-o", "OUT"],
           "estimate")


def write(model, name, text):
    path = os.path.join(model.tmp, name)
    with open(path, "w") as f:
        f.write(text)
    return path


def expect(model, what, status, words, *texts, env=None):
    out = os.path.join(model.tmp, "never")
    p = model.run(*[out if w == "OUT" else w for w in words], env=env)
    if p.returncode != status:
        return report(f"exit status {p.returncode}, expected {status}: {p.stderr.strip()[:500]}", what)
    for t in texts:
        if t not in p.stderr:
            return report(f"the message lacks '{t}': {p.stderr.strip()[:800]}", what)
    report("something was written" if os.path.exists(out) else None, what)


def bad_input(model):
    add = model.source("vec_add")
    args = [w for a in cases.RUNS["vec_add"][1] for w in ("--args", a)]
    entry = 'extern "C" void kernel_entry(int64_t *args)'
    head = "#include <pto/pto-inst.hpp>\nusing namespace pto;\n"
    expect(model, "no kernel", 3, ["run", "nowhere.cpp", "-o", "OUT"], "nowhere.cpp")
    p = write(model, "typo.cpp", f"{head}{entry}\n{{\n\tTFROB(args);\n}}\n")
    expect(model, "does not compile", 3, ["run", p, "--core", "aiv", "-o", "OUT"], "typo.cpp", "TFROB")
    p = write(model, "noentry.cpp", f"{head}int other() {{ return 0; }}\n")
    expect(model, "no kernel_entry", 3, ["run", p, "--core", "aiv", "-o", "OUT"], "kernel_entry")
    empty = os.path.join(model.tmp, "empty-path")
    os.makedirs(empty, exist_ok=True)
    expect(model, "no compiler", 5, ["run", add, "--core", "aiv", *args, "-o", "OUT"], "g++",
           env={"PATH": empty, "XDG_CACHE_HOME": os.path.join(model.tmp, "cold")})
    expect(model, "no such profile", 3, ["run", add, "--core", "aiv", *args, "-p", "910x", "-o", "OUT"], "910x", "910b1")
    expect(model, "profile of another arch", 3, ["run", add, "--core", "aiv", *args, "--arch", "a5", "-p", "910b1", "-o",
                                                 "OUT"], "910b1", "a5")
    p = write(model, "bad.yaml", "name: x\narch: [\n")
    expect(model, "profile that is no YAML", 3, ["run", add, "--core", "aiv", *args, "-p", p, "-o", "OUT"], "bad.yaml")
    expect(model, "no arguments", 3, ["run", add, "--core", "aiv", "-o", "OUT"], "vec_add", "slot")
    expect(model, "a missing argument", 3, ["run", add, "--core", "aiv", *args[:4], "-o", "OUT"], "vec_add", "2")
    expect(model, "argument words", 2, ["run", add, "--args", "0=f99[3]", "-o", "OUT"], "f99")
    for what, text, told in (("unknown kind", '{"args": [{"kind": "tensr", "index": 0}]}', "tensr"),
                             ("context slot", '[{"kind": "scalar", "index": 48, "dtype": "INT64", "value": 1}]', "48"),
                             ("negative slot", '[{"kind": "scalar", "index": -1, "dtype": "INT64", "value": 1}]', "-1"),
                             ("slot too high", '[{"kind": "scalar", "index": 50, "dtype": "INT64", "value": 1}]', "50"),
                             ("repeated slot", '[{"kind": "scalar", "index": 1, "dtype": "INT64", "value": 1},'
                                               ' {"kind": "scalar", "index": 1, "dtype": "INT64", "value": 1}]', "1"),
                             ("no JSON", "{", "spec.json")):
        spec = write(model, "spec.json", text)
        expect(model, f"arg-spec: {what}", 3, ["run", add, "--arg-spec", spec, "-o", "OUT"], told)
    expect(model, "arg-spec that is not there", 3, ["run", add, "--arg-spec", "no.json", "-o", "OUT"], "no.json")
    expect(model, "--blocks 0", 2, ["run", add, "--blocks", "0", *args], "--blocks")
    expect(model, "--set nonsense", 2, ["run", add, "--core", "aiv", "--set", "x=on", *args], "--set")
    expect(model, "record without -o", 2, ["record", add, *args], "-o")
    endless = write(model, "endless.cpp", f"{head}{entry}\n{{\n\tfor (volatile int i = 0;; i = 1)\n\t\t;\n}}\n")
    expect(model, "endless loop", 3, ["run", endless, "--core", "aiv", "--time-limit", "1", "-o", "OUT"], "endless")
    crash = write(model, "crash.cpp", f"{head}{entry}\n{{\n\t*(volatile int *)8 = 1;\n}}\n")
    expect(model, "crash", 3, ["run", crash, "--core", "aiv", "-o", "OUT"], "crash")
    files = write(model, "writes.cpp", f"#include <fstream>\n{head}{entry}\n{{\n\tstd::ofstream(\"{model.tmp}/made\") << 1;\n}}\n")
    model.run("run", files, "--core", "aiv", "-o", os.path.join(model.tmp, "out-writes"))
    report("it could" if os.path.exists(os.path.join(model.tmp, "made")) and
           os.path.getsize(os.path.join(model.tmp, "made")) else None, "a kernel must not write files")
    unsupplied(model)
    streams(model, add, args)


def unsupplied(model):
    """A loop bound from memory that nobody supplied stops the run and names slot and offset."""
    args = [a if not a.startswith("1=") else "1=i32[1]:none" for a in cases.RUNS["data_loop"][1]]
    words = [w for a in args for w in ("--args", a)]
    expect(model, "control value nobody supplied", 3, ["run", model.source("data_loop"), "--core", "aiv", *words, "-o",
                                                       "OUT"], "data_loop", "slot 1")


def streams(model, add, args):
    path = os.path.join(model.tmp, "good.opstream")
    p = model.run("record", add, "--core", "aiv", *args, "-o", path)
    report(p.stderr.strip() if p.returncode else None, "record")
    with open(path, "rb") as f:
        good = f.read()
    for what, data in (("cut", good[:len(good) // 2]), ("empty", b""), ("other magic", b"XXXXXXXX" + good[8:]),
                       ("other version", good[:8] + b"\xff" + good[9:]), ("trailing bytes", good + b"123"),
                       ("text", b"{}\n"), ("not JSON", b"{\"format\": \"incore-opstream\"")):
        bad = os.path.join(model.tmp, "bad.opstream")
        with open(bad, "wb") as f:
            f.write(data)
        expect(model, f"op stream: {what}", 3, ["time", bad, "-o", "OUT"], "bad.opstream")
    for at in range(0, len(good), max(1, len(good) // 97)):
        bad = os.path.join(model.tmp, "bad.opstream")
        with open(bad, "wb") as f:
            f.write(good[:at] + bytes([good[at] ^ 0x55]) + good[at + 1:])
        p = model.run("time", bad)
        report(None if p.returncode in (0, 3) else f"exit status {p.returncode}: {p.stderr.strip()[:500]}",
               f"op stream with byte {at} changed")
    text = os.path.join(model.tmp, "unknown.jsonl")
    model.run("record", add, "--core", "aiv", *args, "--format", "jsonl", "-o", text)
    with open(text) as f:
        other = f.read().replace('"TADD"', '"TFROB"')
    write(model, "unknown.jsonl", other)
    expect(model, "unknown op", 3, ["time", text, "-o", "OUT"], "TFROB")
    p = model.run("time", text, "--allow-unknown", "--json")
    ok = p.returncode == 0 and json.loads(p.stdout)["data"]["unknown_ops"] == 1
    report(None if ok else p.stderr.strip() or p.stdout[:300], "--allow-unknown")
    expect(model, "profile of another arch", 3, ["time", path, "-p", "a5", "-o", "OUT"], "a5")
    there = os.path.join(model.tmp, "there")
    os.makedirs(os.path.join(there, "x"), exist_ok=True)
    expect(model, "directory that is there", 2, ["time", path, "-o", there], "there")


def main():
    build, wanted = sys.argv[1], sys.argv[2:]
    if not shutil.which("g++") and not shutil.which("clang++"):
        print("SKIP model: no C++ compiler")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    with tempfile.TemporaryDirectory() as tmp:
        model = Model(build, tmp)
        jobs = []
        for name in cases.RUNS:
            if not wanted or name in wanted:
                jobs.append((name, lambda n=name: sound(model, n)))
                jobs += [(f"{name}, bug {b}", lambda n=name, x=b: broken(model, n, x)) for b in cases.BUGS.get(name, {})]
        with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count())) as pool:
            for (what, _), problem in zip(jobs, pool.map(lambda j: j[1](), jobs)):
                report(problem, what)
        if not wanted or "coverage" in wanted:
            coverage(model)
        if not wanted or "fixtures" in wanted:
            fixtures(model)
        if not wanted or "calibrate" in wanted:
            calibrate(model)
        if not wanted or "step" in wanted:
            step.check(model, report)
        if not wanted or "bad-input" in wanted:
            bad_input(model)
    print(f"{RESULT[0]} passed, {RESULT[1]} failed, {RESULT[2]} skipped")
    return RESULT[1] > 0


if __name__ == "__main__":
    sys.exit(main())
