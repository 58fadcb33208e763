# SPDX-License-Identifier: Apache-2.0
"""A stand-in for rocprofv3: takes what it takes, checks all of it, and leaves what it leaves.

usage: rocprofv3.py SCENARIO.json [the arguments of rocprofv3]

The scenario says which release it is, which launches the application makes, what the machine is like (where waves
run, how many bytes a trace needs, which launches leave early) and in which way it goes wrong. Whatever it is given
that this release would not take ends it with status 99: no test expects that. Written from the documented options.
"""
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import time

import rocprof_jobs

BASE = ["--help", "--version", "--input", "--output-file", "--output-directory", "--output-format", "--kernel-trace",
        "--kernel-include-regex", "--kernel-exclude-regex", "--kernel-iteration-range", "--advanced-thread-trace", "--att-target-cu",
        "--att-shader-engine-mask", "--att-simd-select", "--att-buffer-size", "--att-library-path", "--pmc", "--sys-trace", "--runtime-trace",
        "--memory-copy-trace", "--marker-trace", "--hip-trace", "--scratch-memory-trace", "--list-avail",
        "--pc-sampling-beta-enabled", "--pc-sampling-method", "--pc-sampling-unit", "--pc-sampling-interval"]
NEWER = ["--att", "--att-activity", "--att-perfcounters", "--att-perfcounter-ctrl", "--att-gpu-index", "--att-consecutive-kernels",
         "--att-serialize-all", "--att-no-detail", "--selected-regions", "--attach"]
OPTIONS = {"1.1.0": BASE, "1.2.2": BASE + NEWER, "1.4.1": BASE + NEWER}
# what the text of --help says besides
WORDS = {"1.1.0": "(csv, json, pftrace, otf2) (host_trap)", "1.2.2": "(csv, json, pftrace, otf2, rocpd) (stochastic, host_trap)",
         "1.4.1": "(csv, json, pftrace, otf2, rocpd) (stochastic, host_trap)"}
AGENT = 14705
COUNTERS = ["SQ_WAVES", "SQ_BUSY_CYCLES", "SQ_INSTS_VALU", "SQ_INSTS_LDS", "SQ_WAIT_ANY", "SQ_WAIT_INST_ANY", "TCC_HIT", "TCC_MISS", "OccupancyPercent"]
SES = (0, 1)  # that the streams at hand are of
COLUMNS = ["Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Thread_Id", "Dispatch_Id", "Kernel_Id", "Kernel_Name", "Correlation_Id",
           "Start_Timestamp", "End_Timestamp", "LDS_Block_Size", "Scratch_Size", "VGPR_Count", "Accum_VGPR_Count", "SGPR_Count",
           "Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z", "Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z"]


def refuse(why):
    print(f"STANDIN: {why}")
    sys.exit(99)


def value(text):
    if text.startswith('"'):
        if not text.endswith('"') or len(text) < 2:
            refuse(f"unclosed {text}")
        return re.sub(r'\\(x[0-9a-f]{2}|.)', lambda m: chr(int(m[1][1:], 16)) if m[1][0] == "x" and len(m[1]) > 1 else m[1], text[1:-1])
    if text.startswith("["):
        return [w.strip() for w in text.strip("[]").split(",")]
    return {"true": True, "false": False}.get(text, text)


def read_input(path):
    """One job; the few forms of YAML that are allowed here."""
    job, state = {}, "top"
    for line in open(path, encoding="utf-8"):
        line = line.rstrip("\n")
        if line.startswith("#") or not line:
            continue
        if state == "top" and line == "jobs:":
            state = "list"
        elif state == "list" and line == "  -":
            state = "job"
        elif state == "job" and re.fullmatch(r"    [a-z_]+: .+", line):
            key, text = line.strip().split(": ", 1)
            if key in job:
                refuse(f"{key} twice")
            job[key] = value(text)
        else:
            refuse(f"{path}: what is '{line}'?")
    return job


def iteration_set(text):
    numbers = set()
    for word in re.split(r"[\[\], ]+", text):
        if word:
            first, _, last = word.partition("-")
            numbers |= set(range(int(first), int(last or first) + 1))
    return numbers


def check_job(s, job):
    options = OPTIONS[s["version"]]
    for key in job:
        if "--" + key.replace("_", "-") not in options:
            refuse(f"release {s['version']} has no {key}")
    out = job.get("output_directory", "")
    if not os.path.isabs(out) or not os.path.isdir(out) or os.listdir(out):
        refuse(f"output_directory {out} is relative, missing or used")
    if "%pid%" not in job.get("output_file", ""):
        refuse("every process needs a file of its own")
    if rocprof_jobs.is_job(job):
        rocprof_jobs.check(refuse, s, job)
        return job
    if not job.get("kernel_trace") and not job.get("advanced_thread_trace"):
        refuse("nothing to do")
    if job.get("advanced_thread_trace"):
        for key in ("kernel_include_regex", "kernel_exclude_regex"):
            re.compile(job.get(key, ""))
        if not iteration_set(job["kernel_iteration_range"]) or 0 in iteration_set(job["kernel_iteration_range"]):
            refuse(f"kernel_iteration_range {job['kernel_iteration_range']}")
        if not 0 <= int(job["att_target_cu"]) <= 15 or not 0 < int(job["att_shader_engine_mask"], 16) <= 0xffffffff:
            refuse("att_target_cu or att_shader_engine_mask")
        if not 1 << 20 <= int(job["att_buffer_size"], 16) <= 2 << 30:
            refuse(f"att_buffer_size {job['att_buffer_size']}")
        if "att_activity" in job and ("att_perfcounters" in job or not 1 <= int(job["att_activity"]) <= 16):
            refuse("att_activity")
    return job


def write_trace(s, job, pid):
    path = os.path.join(job["output_directory"], job["output_file"].replace("%pid%", str(pid)) + "_kernel_trace.csv")
    with open(path, "w", newline="") as f:
        w = csv.writer(f, quoting=csv.QUOTE_NONNUMERIC)
        w.writerow(COLUMNS if s.get("fail") != "bad-csv" else COLUMNS[:5])
        for i, (kernel, name, ns) in enumerate(s["launches"]):
            start = 1000000 + 100000 * i
            w.writerow(["KERNEL_DISPATCH", "Agent 2", 1, 0, 7, i + 1, kernel, name, i + 1, start, start + ns, 0, 0, 28, 0, 32, 256, 1, 1,
                        4096, 1, 1][:22 if s.get("fail") != "bad-csv" else 5])


def wanted(s, job):
    """(dispatch, ordinal) of what this job traces."""
    seen, numbers, out = {}, iteration_set(job["kernel_iteration_range"]), []
    for i, (kernel, name, _) in enumerate(s["launches"]):
        seen[kernel] = seen.get(kernel, 0) + 1
        shift = 1 if s.get("fail") == "wrong-iteration" else 0
        does = re.search(job.get("kernel_include_regex", ""), name) is not None
        if "kernel_exclude_regex" in job and re.search(job["kernel_exclude_regex"], name):
            does = False
        if s.get("fail") == "wrong-kernel":
            does = not does
        if does and seen[kernel] - shift in numbers:
            out.append((i + 1, seen[kernel]))
    return out


def kind_of(s, job, ordinal, se):
    if ordinal in s.get("early_launches", []):
        return "early"
    at = s.get("waves_at")
    if at and (int(job["att_target_cu"]), se) != (at[1], at[0]):
        return "missed" if se == at[0] else None
    if int(job["att_buffer_size"], 16) < s.get("needs_buffer", 0):
        return "cut"
    return "good"


def write_streams(s, job, pid):
    prefix = os.path.join(job["output_directory"], job["output_file"].replace("%pid%", str(pid)))
    mask, fail = int(job["att_shader_engine_mask"], 16), s.get("fail")
    for dispatch, ordinal in wanted(s, job):
        for se in SES:
            kind = kind_of(s, job, ordinal, se)
            if not mask >> se & 1 or kind is None or fail == "no-streams":
                continue
            host = os.path.join(s["streams"], kind, "host")
            # of what is cut the second engine is
            data = open(os.path.join(host, f"4242_1000_shader_engine_{1 if kind == 'cut' else se}_3.att"), "rb").read()
            if fail == "all-zero":
                data = bytes(len(data))
            if fail == "empty-files":
                data = b""
            with open(f"{prefix}_{AGENT}_shader_engine_{se}_{dispatch}.att", "wb") as f:
                f.write(data)
            shutil.copy(os.path.join(host, "4242_gfx950_code_object_id_2.out"), f"{prefix}_gfx950_code_object_id_2.out")
            shutil.copy(os.path.join(host, "meta.json"), job["output_directory"])
        if s.get("decodes"):  # as far as it goes: nobody may read it
            os.makedirs(os.path.join(job["output_directory"], f"ui_output_agent_{AGENT}_dispatch_{dispatch}"))
            with open(os.path.join(job["output_directory"], f"ui_output_agent_{AGENT}_dispatch_{dispatch}", "filenames.json"), "w") as f:
                f.write("{")


def write_real(s, job):
    for name in os.listdir(s["real"]):
        if name.endswith(".sqtt") or name in ("code.elf", "meta.json"):
            shutil.copy(os.path.join(s["real"], name), job["output_directory"])


def go_wrong(s, job):
    """Ways that leave nothing."""
    fail = s.get("fail")
    if fail == "no-decoder" and job.get("advanced_thread_trace"):
        print("ERROR: rocprof-trace-decoder library path not found")
        sys.exit(1)
    if fail == "no-device":
        print("Unable to open /dev/kfd read-write: Permission denied")
        sys.exit(1)
    if fail == "abort" and job.get("advanced_thread_trace"):
        print("rocprofiler context conflict: agent already in use", flush=True)
        os.abort()
    if fail == "hang" and (job.get("advanced_thread_trace") or rocprof_jobs.is_job(job)):
        print("hanging", flush=True)
        time.sleep(100000)
    if fail == "spew":
        for _ in range(400):
            sys.stdout.write("spew " * 10000 + "\n")
    if fail == "says-full" and job.get("advanced_thread_trace") and int(job["att_buffer_size"], 16) < 400 << 20:
        print("Thread trace buffer full!")


def main():
    with open(sys.argv[1]) as f:
        s = json.load(f)
    args = sys.argv[2:]
    if args == ["--version"]:
        print(f"           version: {s['version']}\n      git_revision: 0000\n       system_name: Linux")
        return 0
    if args == ["--help"]:
        print("usage: rocprofv3 [-h] [-i INPUT] [options] -- app [args]\n")
        for option in OPTIONS[s["version"]]:
            print(f"  {option + (' / -i' if option == '--input' else '')}\n                        what it does")
        print(WORDS[s["version"]])
        return 0
    if args == ["--list-avail"]:
        for name in s.get("counters", COUNTERS):
            print(f"gpu-agent2 gfx950\n  Counter_Name : {name}\n  Description : what it counts")
        return 0
    if len(args) < 3 or args[0] != "-i" or not os.path.isfile(args[1]):
        refuse(f"arguments {args}")
    if args[2] == "--attach":
        if "--attach" not in OPTIONS[s["version"]] or len(args) != 4 or not args[3].isdigit():
            refuse(f"arguments {args}")
    elif args[2] != "--" or len(args) < 4:
        refuse(f"arguments {args}")
    job = check_job(s, read_input(args[1]))
    with open(s["calls"], "a") as f:
        f.write(json.dumps({"job": job, "app": args[3:]}) + "\n")
    go_wrong(s, job)
    rc = 0 if args[2] == "--attach" else subprocess.run(args[3:]).returncode
    for pid in range(4000, 4000 + s.get("processes", 1)):
        if rocprof_jobs.is_job(job):
            rocprof_jobs.write(s, job, pid)
        elif job.get("kernel_trace"):
            write_trace(s, job, pid)
        elif s.get("real"):
            write_real(s, job)
        else:
            write_streams(s, job, pid)
    return rc if rc >= 0 else 128 - rc


if __name__ == "__main__":
    sys.exit(main())
