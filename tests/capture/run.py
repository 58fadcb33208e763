#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""incore capture and doctor against a stand-in rocprofv3 (rocprofv3.py): every way in which a capture goes wrong,
and what is done about it.

usage: run.py BUILD_DIR [NAME...]
"""
import concurrent.futures
import csv
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SHARED = os.environ.get("INCORE_SHARED", os.path.join(os.path.dirname(ROOT), "shared"))
REAL = os.path.join(SHARED, "data", "amd", "sqtt", "gfx950", "gemm_run_0")
SCALE, FILL = (7, "scale_rows", 5000), (3, "fill_zero(float*, int)", 1000)
sys.path.insert(0, HERE)

import rocprof_jobs  # noqa: E402

LAUNCHES = [FILL, SCALE, FILL, SCALE, SCALE]  # scale_rows: dispatches 2, 4, 5
MIB = 1 << 20


class Skip(Exception):
    pass


class Place:
    """A temporary folder with a rocprofv3 of its own."""
    def __init__(self, build, streams, top, **scenario):
        self.program, self.top = os.path.join(build, "incore"), top
        self.launches = scenario.get("launches", LAUNCHES)
        self.out, self.calls = os.path.join(top, "out"), os.path.join(top, "calls")
        self.bin = os.path.join(top, "bin")
        self.set({"version": "1.4.1", "launches": LAUNCHES, "streams": streams, "calls": self.calls, **scenario})
        os.makedirs(self.bin)
        tool = os.path.join(self.bin, "rocprofv3")
        with open(tool, "w") as f:
            f.write(f"#!/bin/sh\nexec {sys.executable} {HERE}/rocprofv3.py {top}/scenario.json \"$@\"\n")
        os.chmod(tool, 0o755)

    def set(self, scenario):
        with open(os.path.join(self.top, "scenario.json"), "w") as f:
            json.dump(scenario, f)

    def env(self, **more):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("ROCPROF", "HSA_", "ROCR_", "HIP_"))}
        return {**env, "PATH": f"{self.bin}:{env['PATH']}", "INCORE_JOBS": "1", "LC_ALL": "C.UTF-8", **more}

    def run(self, *words, app=("true",), rc=0, env=None, verb=("capture", "att")):
        """(data of the JSON, text on stderr)"""
        cmd = [self.program, *verb, "--json", *words, *(["-o", self.out, "--", *app] if app else [])]
        p = subprocess.run(cmd, capture_output=True, text=True, cwd=self.top, env=self.env(**(env or {})), timeout=300)
        assert p.returncode == rc, f"exit status {p.returncode}, expected {rc}\n{p.stdout[-1500:]}\n{p.stderr[-1500:]}"
        assert "STANDIN" not in p.stderr + p.stdout, p.stderr
        for call in self.called():
            assert "output_directory" in call
        envelope = json.loads(p.stdout) if p.stdout else {"data": None, "warnings": []}
        return envelope["data"], p.stderr + "\n".join(envelope["warnings"])

    def called(self):
        """The jobs that the stand-in was given."""
        if not os.path.exists(self.calls):
            return []
        with open(self.calls) as f:
            return [json.loads(line)["job"] for line in f]

    def attempts(self):
        return [j for j in self.called() if j.get("advanced_thread_trace")]

    def packed(self):
        return sorted(n for n in os.listdir(self.out) if n.endswith(".incore"))


def says(text, *parts):
    for part in parts:
        assert re.search(part, text), f"'{part}' is not in: {text}"


# --- what goes right ---

def test_takes_what_takes_most_time(p):
    data, _ = p.run()
    assert data["verdict"] == "usable" and data["chosen"] == 1
    job, = p.attempts()
    assert job["kernel_include_regex"] == "^scale_rows$" and job["kernel_iteration_range"] == "[2]", job
    assert (job["att_target_cu"], job["att_shader_engine_mask"], job["att_buffer_size"]) == ("1", "0x1", "0x6000000"), job
    assert p.packed() == ["scale_rows_dispatch_4.incore"]
    capture = data["attempts"][0]["captures"][0]
    assert (capture["dispatch"], capture["launch"], capture["kernel"]) == (4, 2, "scale_rows")
    names = sorted(os.listdir(p.out))
    assert names == ["attempt_1", "capture.json", "discovery", "journal", "scale_rows_dispatch_4.incore"], names
    assert sorted(os.listdir(os.path.join(p.out, "attempt_1"))) == ["input.yaml", "log"]
    assert json.load(open(os.path.join(p.out, "capture.json"))) == data
    yaml = open(os.path.join(p.out, "attempt_1", "input.yaml")).read()
    says(yaml, "Written by incore", "rocprofv3 1.4.1", "for: true", "because: the first attempt")
    assert len(open(os.path.join(p.out, "journal")).readlines()) == 4
    check = subprocess.run([p.program, "check", "--json", os.path.join(p.out, p.packed()[0])], capture_output=True, text=True)
    assert json.loads(check.stdout)["data"]["verdict"] == capture["verdict"]


def test_repeats_itself(p):
    data, _ = p.run("--simd", "0xf")
    words = data["repeat"].split(" -- ")[0].split()[3:]
    first, p.out = p.attempts()[-1], os.path.join(p.top, "again")
    p.run(*[w.strip("'") for w in words])
    last = p.attempts()[-1]
    assert {**first, "output_directory": ""} == {**last, "output_directory": ""}, (first, last)


def test_launch_sets(p):
    data, _ = p.run("--kernel", "scale", "--launch", "1,2-3", "--keep-raw")
    assert p.attempts()[0]["kernel_iteration_range"] == "[1,[2-3]]"
    assert [c["dispatch"] for c in data["attempts"][0]["captures"]] == [2, 4, 5]
    assert [c["launch"] for c in data["attempts"][0]["captures"]] == [1, 2, 3]
    assert len(p.packed()) == 3 and os.listdir(os.path.join(p.out, "attempt_1", "raw"))


def test_a_process_a_rank(p):
    data, _ = p.run()
    assert len(data["attempts"][0]["captures"]) == 2 and len(p.packed()) == 2, p.packed()


test_a_process_a_rank.scenario = {"processes": 2}


def test_lists(p):
    data, _ = p.run("--list")
    assert data["verdict"] == "listed" and not p.attempts()
    assert [(k["name"], k["launches"], k["first_dispatch"]) for k in data["kernels"]] == [("scale_rows", 3, 2), (FILL[1], 2, 1)]
    assert data["kernels"][0]["total_us"] == 15 and data["kernels"][0]["share"] == 88.2, data["kernels"][0]


def test_dry_run_runs_nothing(p):
    p.run("--dry-run")
    text = subprocess.run([p.program, "capture", "att", "--dry-run", "--kernel", "x", "-o", p.out, "--", "false"], capture_output=True,
                          text=True, env=p.env())
    says(text.stdout, "discovery/input.yaml:", "kernel_trace: true", "attempt_1/input.yaml", 'kernel_include_regex: "x"', "-- false",
         "the buffer times 4", "exit status 1")
    assert text.returncode == 0 and not p.called() and not os.path.exists(p.out)


def test_counters(p):
    p.run("--activity", "8", "--gpu", "0")
    assert p.attempts()[0]["att_activity"] == "8" and p.attempts()[0]["att_gpu_index"] == "0"
    p.out += "2"
    p.run("--counters", "SQ_WAVES,SQ_BUSY_CYCLES:0x3")
    assert p.attempts()[1]["att_perfcounters"] == "SQ_WAVES,SQ_BUSY_CYCLES:0x3"
    _, err = p.run("--counters", "SQ_WAVES", "--activity", "8", rc=2, app=("true",))
    says(err, "directory-used|exclude each other")


def test_older_release(p):
    p.run()
    assert "att_activity" not in p.attempts()[0]
    p.out += "2"
    says(p.run("--activity", "8", rc=2)[1], "1.1.0 at .* has no --att-activity, which --activity needs")
    says(p.run("--attach", "77", "--kernel", "x", app=None, rc=2)[1], "has no --attach")


test_older_release.scenario = {"version": "1.1.0"}


def test_attaches(p):
    p.run("--attach", "77", "--kernel", "scale", "--launch", "2", "-o", p.out, app=None)
    assert len(p.called()) == 1


def test_long_kernels_get_room(p):
    p.run()
    assert p.attempts()[0]["att_buffer_size"] == "0x18000000"


test_long_kernels_get_room.scenario = {"launches": [FILL, (7, "scale_rows", 60 * 1000 * 1000)] * 2}


def test_ignores_what_the_tool_decoded(p):
    assert p.run()[0]["verdict"] == "usable"


test_ignores_what_the_tool_decoded.scenario = {"decodes": True}


def test_real_streams(p):
    if not os.path.isdir(REAL):
        raise Skip(f"no real streams ({REAL})")
    p.set({**json.load(open(os.path.join(p.top, "scenario.json"))), "real": REAL, "launches": [(1, "r_32_32_16_2", 9000)]})
    data, _ = p.run("--launch", "1", "--retries", "0")
    check = subprocess.run([p.program, "check", "--json", REAL], capture_output=True, text=True)
    assert data["attempts"][0]["captures"][0]["verdict"] == json.loads(check.stdout)["data"]["verdict"]
    assert len(p.packed()) == 1


# --- what goes wrong, and is mended ---

def test_truncated_gets_a_larger_buffer(p):
    data, _ = p.run()
    assert [j["att_buffer_size"] for j in p.attempts()] == ["0x6000000", "0x18000000"]
    assert data["chosen"] == 2 and data["attempts"][0]["outcome"] == "records were lost"
    says(data["attempts"][1]["because"], "a buffer of 384 MiB")
    assert len(p.packed()) == 1


test_truncated_gets_a_larger_buffer.scenario = {"needs_buffer": 200 * MIB}


def test_truncated_for_ever(p):
    data, _ = p.run("--se", "0x3", rc=1)
    sizes = [(j["att_buffer_size"], j["att_shader_engine_mask"], j.get("att_simd_select")) for j in p.attempts()]
    assert sizes == [("0x6000000", "0x3", None), ("0x18000000", "0x3", None), ("0x60000000", "0x3", None),
                     ("0x60000000", "0x1", None), ("0x60000000", "0x1", "0x1")], sizes
    assert data["verdict"] == "unusable"


test_truncated_for_ever.scenario = {"needs_buffer": 3 << 30}


def test_tool_says_full(p):
    p.run()
    assert [j["att_buffer_size"] for j in p.attempts()] == ["0x6000000", "0x18000000", "0x60000000"]


test_tool_says_full.scenario = {"fail": "says-full"}


def test_missed_cu_goes_where_waves_are(p):
    data, _ = p.run("--se", "0x3")
    assert [(j["att_target_cu"], j["att_shader_engine_mask"]) for j in p.attempts()] == [("1", "0x3"), ("0", "0x2")]
    says(data["attempts"][1]["because"], "no wave ran on CU 1: they did on CU 0 of SE 1")


test_missed_cu_goes_where_waves_are.scenario = {"waves_at": [1, 0]}


def test_missed_se_looks_at_more(p):
    p.run()
    assert [j["att_shader_engine_mask"] for j in p.attempts()][:3] == ["0x1", "0x11111111", "0xffffffff"]
    assert p.attempts()[-1]["att_target_cu"] == "0" and p.attempts()[-1]["att_shader_engine_mask"] == "0x2"


test_missed_se_looks_at_more.scenario = {"waves_at": [1, 0]}


def nothing_traced(p):
    data, _ = p.run("--retries", "3", rc=1)
    assert [j["att_shader_engine_mask"] for j in p.attempts()] == ["0x1", "0x11111111", "0xffffffff", "0xffffffff"]
    assert [j["att_target_cu"] for j in p.attempts()] == ["1", "1", "1", "2"]
    assert data["verdict"] == "unusable" and not p.packed()


def test_no_streams(p):
    nothing_traced(p)


def test_all_zero(p):
    nothing_traced(p)


def test_empty_files(p):
    nothing_traced(p)


test_no_streams.scenario = {"fail": "no-streams"}
test_all_zero.scenario = {"fail": "all-zero"}
test_empty_files.scenario = {"fail": "empty-files"}


def test_early_exit_takes_another_launch(p):
    data, _ = p.run()
    assert [j["kernel_iteration_range"] for j in p.attempts()] == ["[2]", "[3]"]
    says(data["attempts"][1]["because"], "no wave did any work: launch 3 instead")


test_early_exit_takes_another_launch.scenario = {"early_launches": [2], "launches": [FILL, SCALE, SCALE, (7, "scale_rows", 9000)]}


def test_every_launch_leaves_early(p):
    data, _ = p.run(rc=1)
    assert [j["kernel_iteration_range"] for j in p.attempts()] == ["[2]", "[1]", "[3]"]
    assert data["verdict"] == "unusable"


test_every_launch_leaves_early.scenario = {"early_launches": [1, 2, 3]}


# --- what goes wrong, and is told ---

def test_wrong_iteration(p):
    says(p.run("--kernel", "scale", "--launch", "1", rc=1)[1], "wrong-launch", "dispatch 4 was captured, which is launch 2",
         "launch 1 was asked for")
    assert len(p.attempts()) == 1


test_wrong_iteration.scenario = {"fail": "wrong-iteration"}


def test_wrong_kernel(p):
    says(p.run(rc=1)[1], "wrong-kernel", "dispatch 3 was captured, which is launch 2 of fill_zero")


test_wrong_kernel.scenario = {"fail": "wrong-kernel"}


def test_wrong_kernel_by_its_code(p):
    says(p.run("--kernel", "fill", "--no-discovery", rc=1)[1], "wrong-kernel", "the code that ran is scale_rows")


def test_no_such_kernel(p):
    says(p.run("--kernel", "gemm", rc=1)[1], "no kernel matches 'gemm'; the application launches scale_rows, fill_zero")
    p.out += "2"
    says(p.run("--launch", "6", rc=1)[1], "launch 6 was asked for, and no matching kernel has more than 3")
    p.out += "3"
    says(p.run("--kernel", "(", rc=2)[1], "bad-regex")


def test_no_kernel_at_all(p):
    says(p.run(rc=1)[1], "launches no kernel")


test_no_kernel_at_all.scenario = {"launches": []}


def test_used_directory(p):
    p.run()
    says(p.run(rc=2)[1], "directory-used", "name a new one with -o")


def test_app_fails(p):
    _, err = p.run(app=("sh", "-c", "echo ouch; exit 7"), rc=7)
    says(err, "app-failed", "exit status 7", "it ends: ouch")


def test_app_fails_after_the_kernel(p):
    flag = os.path.join(p.top, "flag")
    data, err = p.run(app=("sh", "-c", f"test ! -e {flag} || exit 9; touch {flag}"), rc=9)
    says(err, "exit status 9")
    assert data["verdict"] == "usable" and len(p.packed()) == 1 and len(p.attempts()) == 1


def test_tool_aborts(p):
    says(p.run(rc=134)[1], "another profiler holds the device")


test_tool_aborts.scenario = {"fail": "abort"}


def test_hangs(p):
    says(p.run("--timeout", "2", rc=124)[1], "not done after 2 s")


test_hangs.scenario = {"fail": "hang"}


def test_spews(p):
    p.run()
    assert os.path.getsize(os.path.join(p.out, "attempt_1", "log")) < 6 * MIB
    says(open(os.path.join(p.out, "attempt_1", "log")).read(), r"\[\d+ bytes left out\]")


test_spews.scenario = {"fail": "spew"}


def test_no_decoder(p):
    says(p.run(rc=1)[1], "it wants AMD's decoder library, which incore does not need")


test_no_decoder.scenario = {"fail": "no-decoder"}


def test_no_device(p):
    says(p.run(rc=1)[1], "it may not use the device: see incore doctor att")


test_no_device.scenario = {"fail": "no-device"}


def test_bad_discovery(p):
    says(p.run(rc=3)[1], "a kernel trace has the columns")


test_bad_discovery.scenario = {"fail": "bad-csv"}


def test_known_bad_release(p):
    says(p.run("-v")[1], "1.2.2 drops SIMD id 0")


test_known_bad_release.scenario = {"version": "1.2.2"}


def test_environment_is_told(p):
    says(p.run(env={"ROCPROF_ATT_PARAM_TARGET_CU": "3"})[1], "ROCPROF_ATT_PARAM_TARGET_CU is set")


def test_no_tool(p):
    says(p.run("--tool", "/no/such/tool", rc=5)[1], "no-rocprofv3", "name the program with --tool")
    says(p.run(rc=2, app=None)[1], "needs an application")


def test_signals_pass_on(p):
    """The application gets the signal that we got, and ends in its own way; nothing stays."""
    ready, got = os.path.join(p.top, "ready"), os.path.join(p.top, "got")
    os.mkfifo(ready)
    app = f"trap 'echo int >{got}; exit 0' INT; trap 'echo term >{got}; exit 0' TERM; echo $$ >{ready}; while :; do sleep 0.01; done"
    for sig, word in ((signal.SIGINT, "int\n"), (signal.SIGTERM, "term\n")):
        q = subprocess.Popen([p.program, "capture", "att", "-o", p.out, "--", "sh", "-c", app], env=p.env(), stderr=subprocess.PIPE, text=True)
        with open(ready) as f:
            pid = int(f.read())
        q.send_signal(sig)
        err = q.communicate(timeout=120)[1]
        assert q.returncode == 128 + sig, (q.returncode, err)
        assert open(got).read() == word
        assert not os.path.exists(f"/proc/{pid}"), "the application is still there"
        assert not os.path.exists(os.path.join(p.out, "discovery", "raw"))
        p.out += "2"


# --- counters ---

COUNTERS = ["SQ_WAVES", "SQ_BUSY_CYCLES", "SQ_INSTS_VALU", "SQ_INSTS_LDS", "SQ_WAIT_ANY", "TCC_HIT", "TCC_MISS", "OccupancyPercent"]


def pmc(p, *words, counters=COUNTERS, **more):
    return p.run("--counters", ",".join(counters), *words, verb=("capture", "pmc"), **more)


def right_counters(p, data, counters):
    """Every figure of every kernel, from the pass that says it."""
    want = {(name, c): [rocprof_jobs.value_of(c, i + 1) for i, x in enumerate(p.launches) if x[1] == name] for _, name, _ in p.launches
            for c in counters}
    assert {(r["kernel"], r["counter"]) for r in data["counters"]} == set(want), data["counters"]
    for r in data["counters"]:
        values = want[r["kernel"], r["counter"]]
        assert (r["launches"], r["sum"], r["min"] if "min" in r else r["least"]) == (len(values), sum(values), min(values)), (r, values)
        assert r["counter"] in data["runs"][r["pass"] - 1]["counters"].split()


def test_pmc_fits_what_is_known(p):
    data, _ = pmc(p)
    assert [j["pmc"] for j in p.called()] == [[f'"{c}"' for c in COUNTERS[:7]], ['"OccupancyPercent"']], p.called()
    right_counters(p, data, COUNTERS)
    rows = list(csv.DictReader(open(os.path.join(p.out, "counters.csv"))))
    assert len(rows) == len(COUNTERS) * len(LAUNCHES)
    assert all(float(r["value"]) == rocprof_jobs.value_of(r["counter"], int(r["dispatch"])) for r in rows)
    assert [r["launch"] for r in rows if r["kernel"] == "scale_rows" and r["counter"] == "SQ_WAVES"] == ["1", "2", "3"]
    assert json.load(open(os.path.join(p.out, "capture.json"))) == data and data["verdict"] == "usable"
    assert sorted(os.listdir(p.out)) == ["capture.json", "counters.csv", "journal", "pass_1", "pass_2"]


def test_pmc_halves_what_does_not_fit(p):
    data, _ = pmc(p)
    right_counters(p, data, COUNTERS)
    assert [r["outcome"] for r in data["runs"]] == ["does not fit one pass", "usable", "does not fit one pass", "usable", "usable", "usable"], data["runs"]


test_pmc_halves_what_does_not_fit.scenario = {"limits": {"SQ_": 2, "TCC_": 4}}


def test_pmc_tells_what_never_fits(p):
    data, err = pmc(p, rc=1)
    assert data["refused"] == ["TCC_HIT", "TCC_MISS"] and data["verdict"] == "unusable"
    right_counters(p, data, [c for c in COUNTERS if not c.startswith("TCC_")])


test_pmc_tells_what_never_fits.scenario = {"limits": {"TCC_": 0}}


def test_pmc_tells_what_did_not_come(p):
    assert pmc(p, rc=1)[0]["refused"] == ["SQ_WAIT_ANY"]


test_pmc_tells_what_did_not_come.scenario = {"silent_counters": ["SQ_WAIT_ANY"]}


def test_pmc_unknown_counter(p):
    says(pmc(p, rc=2)[1], "unknown-counter", "Unable to find counter SQ_WAIT_ANY", "--list-avail")


test_pmc_unknown_counter.scenario = {"unknown_counters": ["SQ_WAIT_ANY"]}


def test_pmc_some_kernels(p):
    data, _ = pmc(p, "--kernel", "scale", counters=["SQ_WAVES"])
    assert {r["kernel"] for r in data["counters"]} == {"scale_rows"} and p.called()[0]["kernel_include_regex"] == "scale"
    p.out += "2"
    says(pmc(p, rc=2, counters=["SQ_WAVES;rm"])[1], "is not the name of a counter")
    says(p.run(verb=("capture", "pmc"), rc=2)[1], "needs --counters")


def test_pmc_app_fails(p):
    says(pmc(p, rc=5, app=("sh", "-c", "exit 5"))[1], "app-failed", "exit status 5")
    p.out += "2"
    says(pmc(p, rc=3)[1], "counters have the columns")


test_pmc_app_fails.scenario = {"fail": "bad-csv"}


def test_pmc_hangs(p):
    says(pmc(p, "--timeout", "2", rc=124)[1], "not done after 2 s")


test_pmc_hangs.scenario = {"fail": "hang"}


def test_pmc_two_ranks(p):
    data, _ = pmc(p, counters=["SQ_WAVES"])
    assert {r["kernel"]: r["launches"] for r in data["counters"]} == {"scale_rows": 6, FILL[1]: 4}


test_pmc_two_ranks.scenario = {"processes": 2}


# --- PC samples ---

def pcs(p, *words, **more):
    return p.run(*words, verb=("capture", "pcs"), **more)


def test_pcs(p):
    data, _ = pcs(p)
    assert (data["method"], data["interval"], len(data["captures"])) == ("stochastic", 65536, 2) and data["verdict"] == "usable", data
    assert sum(c["samples"] for c in data["captures"]) == 40 and p.packed() == ["copy_samples.incore", "scale_samples.incore"]
    hot = subprocess.run([p.program, "hot", "--json", data["captures"][0]["file"]], capture_output=True, text=True)
    total = json.loads(hot.stdout)["data"]["accounting"]["duration"] if "duration" in (json.loads(hot.stdout)["data"]["accounting"] or {}) else 0
    assert not total or total == data["captures"][0]["samples"] * 65536


def test_pcs_shorter_until_samples_come(p):
    data, _ = pcs(p)
    assert [j["pc_sampling_interval"] for j in p.called()] == ["65536", "4096", "256"] and data["interval"] == 256
    says(data["runs"][1]["because"], "no sample: one every 4096 cycles")
    p.out += "2"
    data, _ = pcs(p, "--interval", "1024", rc=1)
    assert data["verdict"] == "unusable" and len(data["runs"]) == 1


test_pcs_shorter_until_samples_come.scenario = {"longest_interval": 256}


def test_pcs_host_trap_where_there_is_no_other(p):
    data, _ = pcs(p)
    assert [j["pc_sampling_method"] for j in p.called()] == ["stochastic", "host_trap"] and data["interval"] == 100
    p.out += "2"
    says(pcs(p, "--method", "stochastic", rc=1)[1], "app-failed", "not supported on this agent")


test_pcs_host_trap_where_there_is_no_other.scenario = {"no_stochastic": True}


def test_pcs_older_release(p):
    pcs(p, "--kernel", "copy")
    assert p.called()[0]["pc_sampling_method"] == "host_trap" and p.packed() == ["copy_samples.incore"]
    p.out += "2"
    says(pcs(p, "--interval", "100", "--method", "stochastic", rc=2)[1], "a power of two, not 100")
    says(pcs(p, "--method", "guess", rc=2)[1], "stochastic or host_trap")


test_pcs_older_release.scenario = {"version": "1.1.0"}


def test_pcs_cut_file(p):
    pcs(p, rc=3)


test_pcs_cut_file.scenario = {"fail": "cut"}


# --- the timeline ---

def sys_trace(p, *words, **more):
    return p.run(*words, verb=("capture", "sys"), **more)


def test_sys(p):
    data, _ = sys_trace(p)
    capture, = data["captures"]
    assert (capture["launches"], capture["slices"], capture["health"]) == (3, 14, "ok") and data["verdict"] == "usable", data
    assert p.called()[0]["sys_trace"] is True and os.path.basename(capture["file"]) == "out_4000_results.db"
    assert subprocess.run([p.program, "info", capture["file"]], capture_output=True).returncode == 0
    p.out += "2"
    sys_trace(p, "--trace", "runtime")
    assert p.called()[1]["runtime_trace"] is True


def test_sys_apart(p):
    """Each trace by itself, and files in the other formats of rocprofv3 beside the database."""
    data, _ = sys_trace(p, "--trace", "kernel,memory-copy,marker,hip,scratch-memory", "--formats", "csv,pftrace")
    job = p.called()[0]
    assert all(job[k + "_trace"] is True for k in ("kernel", "memory_copy", "marker", "hip", "scratch_memory")), job
    assert job["output_format"] == ["rocpd", "csv", "pftrace"] and "sys_trace" not in job, job
    assert sorted(os.path.basename(f) for f in data["files"]) == ["out_4000_kernel_trace.csv", "out_4000_results.pftrace"], data
    assert all(os.path.exists(f) for f in data["files"]) and data["verdict"] == "usable"
    says(sys_trace(p, "--trace", "kernels", rc=2)[1], "not 'kernels'")
    says(sys_trace(p, "--formats", "xml", rc=2)[1], "not 'xml'")
    p.out += "2"
    says(sys_trace(p, "--trace", "rccl", rc=5)[1], "--rccl-trace")


def test_counters_before(p):
    """Names are compared with those of the agents before the application runs."""
    says(pmc(p, counters=["SQ_WAVE", "TCC_HIT"], rc=2)[1], "unknown-counter", "no agent has a counter SQ_WAVE", "like it: SQ_WAVES")
    says(p.run("--counters", "SQ_WAITS_INST_ANY", "--kernel", "k", "--no-discovery", rc=2)[1], "unknown-counter", "SQ_WAIT_INST_ANY")
    says(p.run("--counters", "TCC_HIT", rc=2)[1], "the SQ alone", "TCC_HIT")
    says(p.run("--counters", " ".join(f"SQ_{i}" for i in range(9)), rc=2)[1], "1 to 8", "not 9")
    assert not p.called()


def test_lines_before(p):
    """Said before the capture: its kernels will have no source lines."""
    for env, words in (({"FLYDSL_RUNTIME_CACHE_DIR": "/x"}, "FLYDSL_DEBUG_ENABLE_DEBUG_INFO=1"), ({"TRITON_DISABLE_LINE_INFO": "1"}, "TRITON_DISABLE_LINE_INFO")):
        says(p.run("--dry-run", env=env)[1], "no source lines", words)
        says(ask_doctor(p, "att", env=env)[0]["no-source-lines"]["message"], words)
    assert "source lines" not in p.run("--dry-run")[1]


def test_sys_goes_wrong(p):
    data, _ = sys_trace(p, rc=1)
    says(data["captures"][0]["health"], "unreadable: ")
    p.set({**json.load(open(os.path.join(p.top, "scenario.json"))), "fail": "no-database"})
    p.out += "2"
    assert sys_trace(p, rc=1)[0]["runs"][0]["outcome"] == "no database was written"
    p.set({**json.load(open(os.path.join(p.top, "scenario.json"))), "version": "1.1.0"})
    p.out += "3"
    says(sys_trace(p, rc=5)[1], "writes no databases")


test_sys_goes_wrong.scenario = {"fail": "cut"}


def test_jobs_dry_run(p):
    for verb, words in (("pmc", ["--counters", "SQ_WAVES,TCC_HIT"]), ("pcs", []), ("sys", [])):
        data, _ = p.run("--dry-run", *words, verb=("capture", verb))
        assert data["verdict"] == "planned" and len(data["runs"]) == 1 and not p.called() and not os.path.exists(p.out)


# --- doctor ---

def test_doctor_tells_which_jobs(p):
    def ids():
        answer = p.run("att", app=None, rc=1, verb=("doctor",))[0]
        return {f["id"] for f in answer["findings"] if f["severity"] == "info"}
    jobs = {"no-pmc", "no-pc-sampling", "no-stochastic", "no-rocpd"}
    assert ids() & jobs == {"no-stochastic", "no-rocpd"}, ids()
    p.set({**json.load(open(os.path.join(p.top, "scenario.json"))), "version": "1.4.1"})
    assert not ids() & jobs, ids()


test_doctor_tells_which_jobs.scenario = {"version": "1.1.0"}


def machine(p, **files):
    """A root with one gfx950; files are over that, None takes one away."""
    root = os.path.join(p.top, "root")
    nodes, card = "sys/class/kfd/kfd/topology/nodes", "sys/class/drm/card1/device"
    for name, text in {"dev/kfd": "", f"{nodes}/0/properties": "cpu_cores_count 64\ngfx_target_version 0\n",
                       f"{nodes}/1/properties": "simd_count 1024\ngfx_target_version 90500\nvendor_id 4098\n",
                       f"{card}/power_dpm_force_performance_level": "manual\n", f"{card}/mem_info_vram_total": f"{256 << 30}\n",
                       f"{card}/mem_info_vram_used": "1000\n", **files}.items():
        if text is not None:
            os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
            with open(os.path.join(root, name), "w") as f:
                f.write(text)
    return root


def ask_doctor(p, *words, rc=0, env=None, **files):
    """{id: finding}, verdict"""
    data, _ = p.run("--root", machine(p, **files), *words, app=None, rc=rc, verb=("doctor",), env=env)
    for f in data["findings"]:
        assert (f["severity"] in ("ok", "info")) == (f["fix"] is None), f
    return {f["id"]: f for f in data["findings"]}, data["verdict"]


def test_doctor_well(p):
    found, verdict = ask_doctor(p, "att")
    assert verdict == "ready", found
    says(found["rocprofv3"]["message"], "rocprofv3 1.4.1: ")
    assert found["gpu"]["message"] == "node 1 is gfx950" and found["clock"]["message"] == "the clock of card1 is locked"
    says(found["buffer-room"]["message"], "262143 MiB")
    ask_doctor(p)  # one kind that works is enough


def test_doctor_ill(p):
    card = "sys/class/drm/card1/device"
    for rc, name, severity, files in ((1, "no-device", "error", {"dev/kfd": None}),
                                      (1, "no-gpu", "error", {"sys/class/kfd/kfd/topology/nodes/1/properties": None}),
                                      (1, "buffer-room", "error", {f"{card}/mem_info_vram_used": f"{(256 << 30) - 1000}\n"}),
                                      (0, "clock", "warning", {f"{card}/power_dpm_force_performance_level": "auto\n"})):
        subprocess.run(["rm", "-rf", os.path.join(p.top, "root")], check=True)
        found, verdict = ask_doctor(p, "att", rc=rc, **files)
        assert found[name]["severity"] == severity and verdict == ("not-ready" if rc else "ready"), (name, found)
    says(ask_doctor(p, "att", env={"HSA_CU_MASK": "0:0-3"})[0]["environment"]["message"], "HSA_CU_MASK=0:0-3 is set")
    found, _ = ask_doctor(p, "att", "--tool", "/no/such", rc=1)
    assert found["no-rocprofv3"]["severity"] == "error"


def test_doctor_rights(p):
    if os.geteuid() == 0:
        raise Skip("root may do everything")
    root = machine(p)
    os.chmod(os.path.join(root, "dev", "kfd"), 0)
    assert ask_doctor(p, "att", rc=1)[0]["no-rights"]["severity"] == "error"


def test_doctor_old_release(p):
    found, _ = ask_doctor(p, "att")
    assert found["drops-simd-0"]["severity"] == "warning"


test_doctor_old_release.scenario = {"version": "1.2.2"}


def script(p, name, text):
    path = os.path.join(p.bin, name)
    with open(path, "w") as f:
        f.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)


def test_doctor_msprof(p):
    home = os.path.join(p.top, "cann")
    found, _ = ask_doctor(p, "msprof", rc=1, env={"ASCEND_HOME_PATH": home})
    assert "no-program" in found and "no-simulator" in found
    script(p, "msprof", "exit 0")
    os.makedirs(os.path.join(home, "tools", "simulator"))
    found, _ = ask_doctor(p, "msprof", env={"ASCEND_HOME_PATH": home})
    assert found["no-npu"]["severity"] == "info" and "cann" in found


def test_doctor_cuda(p):
    script(p, "nvidia-smi", "echo NVIDIA H200, 570.1, 345 MHz, 1980 MHz")
    script(p, "ncu", "exit 0")
    files = {"dev/nvidiactl": "", "proc/driver/nvidia/params": "RmProfilingAdminOnly: 0\n"}
    found, _ = ask_doctor(p, "cuda", **files)
    assert found["gpu"]["message"] == "NVIDIA H200, 570.1, 345 MHz, 1980 MHz"
    assert found["library"]["message"].endswith("libincore-cuda.so")
    found, _ = ask_doctor(p, "cuda", rc=1, env={"INCORE_CUDA_LIBRARY": "/no/such.so"}, **files)
    assert found["no-library"]["severity"] == "error"
    home = os.path.join(p.top, "cuda")
    os.makedirs(os.path.join(home, "lib64"))
    open(os.path.join(home, "lib64", "libcupti.so"), "w").close()
    assert ask_doctor(p, "cuda", env={"CUDA_HOME": home}, **files)[0]["cupti"]["message"] == f"CUPTI: {home}/lib64/libcupti.so"
    files["proc/driver/nvidia/params"] = "RmProfilingAdminOnly: 1\n"
    found, _ = ask_doctor(p, "cuda", rc=0 if os.geteuid() == 0 else 1, **files)
    assert found["counters-locked"]["severity"] == ("warning" if os.geteuid() == 0 else "error")
    script(p, "nvidia-smi", "echo No devices were found; exit 6")
    assert ask_doctor(p, "cuda", rc=1, **files)[0]["no-gpu"]["message"] == "nvidia-smi is not there or fails: No devices were found"


def test_schema(p):
    try:
        import jsonschema
    except ImportError:
        raise Skip("no python3-jsonschema")
    for verb, words in (("capture", ["att", "--json", "-o", p.out, "--", "true"]), ("doctor", ["--json", "--root", machine(p)])):
        schema = json.loads(subprocess.run([p.program, "--schema", verb], capture_output=True, check=True).stdout)
        jsonschema.validate(json.loads(subprocess.run([p.program, verb, *words], capture_output=True, env=p.env()).stdout), schema)


def one(build, streams, name, test):
    with tempfile.TemporaryDirectory(prefix="incore-capture-") as top:
        try:
            test(Place(build, streams, top, **getattr(test, "scenario", {})))
        except Skip as why:
            return f"SKIP {name}: {why}"
        except Exception as why:  # noqa: BLE001: what a test raises is its failure
            return f"FAIL {name}: {type(why).__name__} {why}"
    return None


def main():
    build, only = os.path.abspath(sys.argv[1]), sys.argv[2:]
    tests = {n[5:]: t for n, t in globals().items() if n.startswith("test_") and (not only or any(o in n for o in only))}
    with tempfile.TemporaryDirectory(prefix="incore-streams-") as streams:
        maker = os.path.join(build, "tests", "sqtt", "make_sqtt")
        for kind, variant in (("good", "sqtt_gfx9"), ("cut", "sqtt_cut"), ("missed", "missed"), ("early", "early")):
            subprocess.run([maker, variant, os.path.join(streams, kind)], check=True)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            told = [t for t in pool.map(lambda item: one(build, streams, *item), tests.items()) if t]
    for text in told:
        print(text)
    skipped = sum(t.startswith("SKIP") for t in told)
    print(f"{len(tests) - len(told)} passed, {len(told) - skipped} failed, {skipped} skipped")
    return len(told) > skipped


if __name__ == "__main__":
    sys.exit(main())
