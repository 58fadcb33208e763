#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`incore clean` on the cases of the shared data: what a cleaner of before wrote where that was right, and what has to
come out where it was not. Slices, rows, arrows and metrics are compared as values, in the older form and in ours.

usage: clean.py INCORE    (data from $INCORE_SHARED, default ../shared; skipped where absent)
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CASES = os.path.join(os.environ.get("INCORE_SHARED", os.path.join(ROOT, "..", "shared")), "data", "ascend", "clean_cases")
COUNT = [0, 0]
# cases whose input the cleaner of before could not read, and the case whose result is right
SAME_AS = {"13_source_pypto_layout": "01_raw_trace", "14_source_REAL_layout": "01_raw_trace",
           "15_source_REAL_layout_ge4096": "01_raw_trace", "20_opprof_device_layout": "01_raw_trace"}
EQUAL = ["01_raw_trace", "02_raw_trace_keep_scalar", "03_overlap_sublanes", "04_metrics", "05_metrics_raw", "07_no_api",
         "12_trailing_garbage_lt12", "13_source_pypto_layout", "17_unknown_block_types", "19_opprof_dir",
         "21_real_schema_FIXP", "22_flag_reuse_and_skips", "24_zero_dur_touching", "27_api_real_dtype",
         "28_api_old_version", "29_copy_raw", "31_a5_real_excerpt"]


def check(what, ok, detail=""):
    COUNT[not ok] += 1
    if not ok:
        print(f"FAIL {what} {detail}")


def names_of(events):
    """pid and tid -> (core, pipe, row) from the metadata events."""
    process, thread = {}, {}
    for e in events:
        if e.get("ph") != "M":
            continue
        if e["name"] == "process_name":
            process[e["pid"]] = e["args"]["name"]
        if e["name"] == "thread_name":
            thread[e["pid"], e["tid"]] = e["args"]["name"]
    return process, thread


def lane(e, process, thread):
    core = process.get(e["pid"], e["pid"])
    label = thread.get((e["pid"], e["tid"]), str(e["tid"]))
    row = int(label.rsplit("#", 1)[1]) if "#" in label else 0
    return core, label.split(" ")[0].split("#")[0], row, " sync" in label


def model(path):
    """Slices, rows and arrows of a cleaned trace."""
    doc = json.load(open(path))
    events = doc["traceEvents"]
    names = names_of(events)
    slices, places, at, arrows, ends = collections.Counter(), {}, collections.defaultdict(list), collections.Counter(), {}
    for e in events:
        if e["ph"] != "X":
            continue
        core, pipe, row, is_sync = lane(e, *names)
        if is_sync:
            continue
        key = (core, pipe, e["name"], e["ts"], e.get("dur", 0), json.dumps(e.get("args"), sort_keys=True))
        slices[key] += 1
        places.setdefault(key, []).append(row)
        at[e["pid"], e["tid"]].append((e["ts"], e.get("dur", 0), key))
    for e in events:
        if e["ph"] in "sf":
            hit = [k for ts, dur, k in at[e["pid"], e["tid"]] if ts <= e["ts"] <= ts + dur]
            ends.setdefault(e["id"], {})[e["ph"]] = (e["name"], hit[-1] if e["ph"] == "f" and hit else hit[-1] if hit else None)
    for pair in ends.values():
        arrows[pair["s"][0], pair["s"][1][:5] if pair["s"][1] else None,
               pair["f"][1][:5] if pair["f"][1] else None] += 1
    return slices, {k: sorted(v) for k, v in places.items()}, arrows, doc


def values(doc):
    """1.0 equals 1."""
    return json.dumps(doc, sort_keys=True, default=str).replace(".0,", ",").replace(".0}", "}")


def equal_metrics(a, b):
    return json.load(open(a)) == json.load(open(b))


def run(incore, case, out, *extra, keep=True):
    words = [w for w in open(os.path.join(CASES, case, "args")).read().split("\n") if w]
    src = words[0].replace("{IN}", os.path.join(CASES, case, "in"))
    options = [w for w in words[1:] if w.startswith("--") and w != "--no-copy-raw"] if keep else []
    p = subprocess.run([incore, "clean", src, "-o", out, *options, *extra], capture_output=True, text=True)
    return p


def trace_in(out):
    found = [f for f in sorted(os.listdir(out)) if f.endswith(".clean.json")]
    return os.path.join(out, found[0]) if found else None


def compare(case, got, want, what):
    a, b = model(got), model(want)
    check(f"{case}: {what}: slices", a[0] == b[0], f"{a[0] - b[0]} {b[0] - a[0]}")
    check(f"{case}: {what}: rows", a[1] == b[1], f"{a[1]} {b[1]}")
    check(f"{case}: {what}: arrows", a[2] == b[2], f"{a[2]} {b[2]}")


def equal_case(incore, case, form):
    with tempfile.TemporaryDirectory() as tmp:
        out = os.path.join(tmp, "out")
        extra = ["--legacy"] if form == "legacy" else []
        if case == "29_copy_raw":
            extra.append("--copy-raw")
        p = run(incore, case, out, *extra)
        check(f"{case}: {form}: exit status", p.returncode == 0, p.stderr)
        if p.returncode:
            return
        want = os.path.join(CASES, SAME_AS.get(case, case), "expect")
        if form == "legacy":
            check(f"{case}: name", os.path.exists(os.path.join(out, "trace.clean.json")))
        compare(case, trace_in(out), os.path.join(want, "trace.clean.json"), form)
        metrics, expect = os.path.join(out, "instr_metrics.json"), os.path.join(want, "instr_metrics.json")
        check(f"{case}: {form}: metrics there", os.path.exists(metrics) == os.path.exists(expect))
        if os.path.exists(expect) and os.path.exists(metrics):
            if "raw" in case:
                check(f"{case}: bytes", open(metrics, "rb").read() == open(expect, "rb").read())
            else:
                check(f"{case}: {form}: metrics", equal_metrics(metrics, expect))
        if case == "29_copy_raw":
            p = subprocess.run(["diff", "-r", os.path.join(out, "raw_simulator"), os.path.join(want, "raw_simulator")],
                               capture_output=True, text=True)
            check(f"{case}: copy", p.returncode == 0, p.stdout)


def bad_case(incore, case, words):
    with tempfile.TemporaryDirectory() as tmp:
        out = os.path.join(tmp, "out")
        for form in ([], ["--legacy"]):
            p = run(incore, case, out, *form)
            check(f"{case}: exit 3", p.returncode == 3, f"{p.returncode} {p.stderr}")
            for w in words:
                check(f"{case}: says '{w}'", w in p.stderr, p.stderr)
            check(f"{case}: nothing written", not os.path.exists(out) or not os.listdir(out))


def noted(incore, case, words, strict):
    with tempfile.TemporaryDirectory() as tmp:
        p = run(incore, case, os.path.join(tmp, "out"))
        check(f"{case}: exit 0", p.returncode == 0, p.stderr)
        for w in words:
            check(f"{case}: says '{w}'", w in p.stderr, p.stderr)
        p = run(incore, case, os.path.join(tmp, "strict"), "--strict")
        check(f"{case}: --strict", p.returncode == strict, p.stderr)


def special(incore):
    with tempfile.TemporaryDirectory() as tmp:
        out = os.path.join(tmp, "16")
        p = run(incore, "16_two_trace_blocks", out)
        slices, _, arrows, _ = model(trace_in(out))
        check("16: union", sum(slices.values()) == 7 and {k[0] for k in slices} == {"c0", "core0.veccore0"}, p.stderr)
        check("16: one arrow", sum(arrows.values()) == 1)
        out = os.path.join(tmp, "20")
        run(incore, "20_opprof_device_layout", out)
        check("20: kernel name", os.path.exists(os.path.join(out, "k.clean.json")), str(os.listdir(out)))
        out = os.path.join(tmp, "23")
        run(incore, "23_A5_lanes", out)
        slices, _, _, doc = model(trace_in(out))
        check("23: 8 instructions", sum(slices.values()) == 8)
        head = [e for e in doc["traceEvents"] if e.get("name") == "MOV_OUT_TO_UB"][0]["args"]
        check("23: head cost", head.get("cache_time") == 0.4 and head.get("ccu_time") == 0.1, str(head))
        process, thread = names_of(doc["traceEvents"])
        index = {e["tid"]: e["args"]["sort_index"] for e in doc["traceEvents"] if e["name"] == "thread_sort_index"}
        order = [n.split(" ")[0] for _, n in sorted((index[t], n) for (_, t), n in thread.items())]
        check("23: order", order == ["MTE2", "RVECLD", "RVECEX", "RVECST", "RVECLP", "RVECSU", "PUSHQ", "WARP_3"], str(order))
        check("23: counter", any(e["ph"] == "C" and e["name"] == "GM_TO_UB" for e in doc["traceEvents"]))
        out = os.path.join(tmp, "21")
        run(incore, "21_real_schema_FIXP", out)
        text = open(os.path.join(out, "summary.txt")).read()
        check("21: waits", "MTE2 0.800 (1)" in text and "CUBE 1.400 (1)" in text, text)
        out = os.path.join(tmp, "01")
        run(incore, "01_raw_trace", out)
        check("01: wait", "MTE2 1.400 (1)" in open(os.path.join(out, "summary.txt")).read())
        out = os.path.join(tmp, "30")
        p = run(incore, "30_list_len_ambiguity", out)
        m = json.load(open(os.path.join(out, "instr_metrics.json")))["instructions"]
        check("30: lists", all(m[c][0]["address_range"] == ["0x1", "0x2"] for c in m) and m["c0"][0]["cycles"] == 1 and
              "cycles" not in m["c1"][0], str(m))
        check("30: note", "not as long" in p.stderr, p.stderr)


def path_of(case):
    return os.path.join(CASES, case, "in", "visualize_data.bin")


def ask(incore, verb, case, *options):
    """A verb's data, or None and what it said."""
    p = subprocess.run([incore, verb, "--json", *options, path_of(case)], capture_output=True, text=True)
    return json.loads(p.stdout)["data"] if p.returncode in (0, 1) else None


def pipe_of(incore, case, pipe, clock="1000"):
    """At 1000 MHz a cycle is a nanosecond."""
    found = ask(incore, "waves", case, "--clock", clock)
    return next(p for p in found["pipes"] if p["pipe"] == pipe)


def numbers(incore):
    """What the table of cases states beyond slices, rows and arrows."""
    for case, pipe, busy, depth in (("03_overlap_sublanes", "MTE1", 500, 3), ("24_zero_dur_touching", "MTE2", 700, None)):
        p = pipe_of(incore, case, pipe)
        check(f"{case}: busy", p["busy"] == busy, p["busy"])
        check(f"{case}: depth", depth is None or p["depth_max"] == depth, p["depth_max"])
    for case, consumer, producer, cycles in (("01_raw_trace", "VECTOR", "MTE2", 1400), ("21_real_schema_FIXP", "MTE1", "MTE2", 800),
                                             ("21_real_schema_FIXP", "FIXP", "CUBE", 1400)):
        waits = [(w["producer_pipe"], w["cycles"], w["count"]) for w in pipe_of(incore, case, consumer)["waits"]]
        check(f"{case}: wait of {consumer}", waits == [(producer, cycles, 1)], waits)
    for case, path, text, lines in (("13_source_pypto_layout", "/k.cpp", "int x;", 1), ("14_source_REAL_layout", "/k.cpp", None, 1),
                                    ("15_source_REAL_layout_ge4096", None, None, 2000)):
        with tempfile.TemporaryDirectory() as tmp:
            p = subprocess.run([incore, "export", "--to", "insight", "-q", "-o", tmp + "/o", path_of(case)], capture_output=True)
            data = open(tmp + "/o/simulator/visualize_data.bin", "rb").read() if p.returncode == 0 else b""
        at = data.find(b"/k.cpp\0")
        got = data[at + 4096:at + 4096 + int.from_bytes(data[at - 12:at - 4], "little")].rstrip(b"\0").decode() if at > 0 else None
        check(f"{case}: a source", got is not None and (path is None or at > 0), case)
        check(f"{case}: its text", got is not None and (text is None or got == text) and len(got.splitlines()) == lines, got)


def inquiries(incore):
    """Containers that hold no trace, or more than one, are told by info."""
    for case, words in (("06_no_trace", ["1 of type 4 (API_INSTR)"]),
                        ("17_unknown_block_types", ["1 of type 5 (DETAILS", "1 of type 200 (unknown)", "1 of type 2 (TRACE)"]),
                        ("16_two_trace_blocks", ["2 of type 2 (TRACE)"]),
                        ("18_msinsight_device_bin", [f"1 of type {k} (DETAILS" for k in (5, 6, 7, 8, 9, 12)] +
                         ["MatmulLeakyreluCustom", "Ascend910B4"])):
        p = subprocess.run([incore, "info", path_of(case)], capture_output=True, text=True)
        check(f"{case}: info", p.returncode == 0, p.stderr)
        for w in words:
            check(f"{case}: info says '{w}'", w in p.stdout, p.stdout)
    p = subprocess.run([incore, "info", path_of("31_a5_real_excerpt")], capture_output=True, text=True)
    check("31: the clock is guessed", "nothing states the clock" in p.stderr and "1850" in p.stdout, p.stdout)
    p = subprocess.run([incore, "info", "--soc", "Ascend950PR_9599", path_of("31_a5_real_excerpt")], capture_output=True, text=True)
    check("31: --soc", "1800.00 MHz" in p.stdout and "nothing states the clock" not in p.stderr, p.stdout)


def orders(incore):
    with tempfile.TemporaryDirectory() as tmp:
        run(incore, "21_real_schema_FIXP", tmp + "/21")
        events = json.load(open(trace_in(tmp + "/21")))["traceEvents"]
        _, thread = names_of(events)
        index = {(e["pid"], e["tid"]): e["args"]["sort_index"] for e in events if e["name"] == "thread_sort_index"}
        at = {thread[k].split(" ")[0]: (v, thread[k]) for k, v in sorted(index.items(), key=lambda kv: -kv[1])}
        check("21: FIXP has a label", "(" in at["FIXP"][1], at)
        check("21: FIXP behind CUBE", at["CUBE"][0] < at["FIXP"][0], at)
        check("21: FIXP before MTE3 and SCALAR", all(at["FIXP"][0] < at[k][0] for k in ("MTE3", "SCALAR") if k in at), at)
        run(incore, "26_not_object", tmp + "/26")
        check("26: no events", sum(model(trace_in(tmp + "/26"))[0].values()) == 0)
        run(incore, "29_copy_raw", tmp + "/29")
        check("29: copying is asked for", not os.path.exists(tmp + "/29/raw_simulator"), os.listdir(tmp + "/29"))
        run(incore, "25_missing_ts_X", tmp + "/25")
        with open(path_of("25_missing_ts_X"), "rb") as f:
            n = f.read().count(b'"X"')
        got = sum(model(trace_in(tmp + "/25"))[0].values())
        check("25: one is left out", got == n - 1, f"{got} of {n}")


def safe(path, what):
    """No two slices of a thread overlap; numbers are unique; an arrow's ends lie in slices."""
    doc = json.load(open(path))
    rows, tids, sorts = collections.defaultdict(list), {}, []
    for e in doc["traceEvents"]:
        if e["ph"] == "X":
            rows[e["pid"], e["tid"]].append((int(e["ts"] * 1000 + 1e-6), int(e["dur"] * 1000 + 1e-6)))
            check(f"{what}: integer ids", isinstance(e["pid"], int) and isinstance(e["tid"], int)) if len(rows) < 3 else 0
            tids.setdefault(e["tid"], set()).add(e["pid"])
        if e.get("name") == "thread_sort_index":
            sorts.append(e["args"]["sort_index"])
    bad = 0
    for v in rows.values():
        v.sort()
        bad += sum(a[0] + a[1] > b[0] for a, b in zip(v, v[1:]))
    check(f"{what}: no overlap", bad == 0, str(bad))
    check(f"{what}: unique tids", all(len(p) == 1 for p in tids.values()))
    check(f"{what}: unique sort_index", len(sorts) == len(set(sorts)))


def main():
    incore = os.path.abspath(sys.argv[1])
    if not os.path.isdir(CASES):
        print("SKIP clean cases: no shared data")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    for case in EQUAL:
        for form in ("legacy", "own"):
            equal_case(incore, case, form)
    for case in SAME_AS:
        equal_case(incore, case, "legacy")
        equal_case(incore, case, "own")
    bad_case(incore, "06_no_trace", ["no TRACE", "API_INSTR"])
    bad_case(incore, "08_bad_json", ["TRACE", "@12", "expected"])
    bad_case(incore, "09_bad_magic", ["not a visualize_data.bin", "@11"])
    bad_case(incore, "10_oversize", ["@0", "9999", "4 are left"])
    bad_case(incore, "11_bad_padding", ["@9"])
    bad_case(incore, "18_msinsight_device_bin", ["no TRACE", "0x05", "0x0c"])
    noted(incore, "01_raw_trace", ["no API_INSTR"], 0)
    noted(incore, "07_no_api", ["no API_INSTR"], 0)
    noted(incore, "12_trailing_garbage_lt12", ["32", "11 bytes"], 4)
    noted(incore, "13_source_pypto_layout", ["legacy SOURCE layout"], 0)
    noted(incore, "22_flag_reuse_and_skips", ["2 SET", "MTE2->VEC flag 1", "VEC->MTE2 flag 2"], 0)
    noted(incore, "25_missing_ts_X", ["1 events without ts"], 4)
    noted(incore, "26_not_object", ["bare array"], 0)
    noted(incore, "31_a5_real_excerpt", ["quantised to 1 ns"], 0)
    special(incore)
    numbers(incore)
    inquiries(incore)
    orders(incore)
    for case in sorted(set(EQUAL) | set(SAME_AS) | {"16_two_trace_blocks", "23_A5_lanes"}):
        with tempfile.TemporaryDirectory() as tmp:
            run(incore, case, os.path.join(tmp, "o"))
            safe(trace_in(os.path.join(tmp, "o")), case)
    print(f"{COUNT[0]} passed, {COUNT[1]} failed, 0 skipped")
    return COUNT[1] > 0


if __name__ == "__main__":
    sys.exit(main())
