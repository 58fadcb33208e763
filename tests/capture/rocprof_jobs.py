# SPDX-License-Identifier: Apache-2.0
"""The jobs of the stand-in for rocprofv3 that are no thread traces: counters, PC samples, the timeline."""
import csv
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "rocprof"))

import make_pcs  # noqa: E402
import make_rocpd  # noqa: E402

HEADER = ["Correlation_Id", "Dispatch_Id", "Agent_Id", "Queue_Id", "Process_Id", "Thread_Id", "Grid_Size", "Kernel_Id", "Kernel_Name",
          "Workgroup_Size", "LDS_Block_Size", "Scratch_Size", "VGPR_Count", "Accum_VGPR_Count", "SGPR_Count", "Counter_Name", "Counter_Value",
          "Start_Timestamp", "End_Timestamp"]


def is_job(job):
    return any(key in job for key in ("pmc", "pc_sampling_beta_enabled")) or "rocpd" in job.get("output_format", [])


def check(refuse, s, job):
    formats = job["output_format"]
    want = ["csv"] if "pmc" in job else ["json"] if "pc_sampling_beta_enabled" in job else ["rocpd"]
    if formats[:1] != want or (want != ["rocpd"] and formats != want) or not set(formats[1:]) <= {"csv", "json", "pftrace", "otf2"} or (want == ["rocpd"] and s["version"] == "1.1.0"):
        refuse(f"output_format {formats}")
    if "pmc" in job and not all(re.fullmatch(r'"[A-Za-z0-9_]+"', w) for w in job["pmc"]):
        refuse(f"pmc {job['pmc']}")
    if "pc_sampling_beta_enabled" in job:
        unit = {"stochastic": "cycles", "host_trap": "time"}.get(job["pc_sampling_method"])
        interval = int(job["pc_sampling_interval"])
        if job["pc_sampling_unit"] != unit or interval < 1 or (unit == "cycles" and interval & interval - 1) or not job.get("kernel_trace"):
            refuse(f"PC sampling {job}")


def value_of(counter, dispatch):
    """What this machine counts; a metric is a fraction."""
    return sum(counter.encode()) * 10 + dispatch + (0.25 if "_" not in counter else 0)


def write_counters(s, job, pid):
    names = [w.strip('"') for w in job["pmc"]]
    for block, most in s.get("limits", {}).items():
        if sum(n.startswith(block) for n in names) > most:
            print("[rocprofv3] Could not construct counter cfg\nRequest exceeds the capabilities of the hardware to collect")
            sys.exit(1)
    for name in names:
        if name in s.get("unknown_counters", []):
            print(f"[rocprofv3] Unable to find counter {name}")
            sys.exit(1)
    prefix = os.path.join(job["output_directory"], job["output_file"].replace("%pid%", str(pid)))
    with open(prefix + "_counter_collection.csv", "w", newline="") as f:
        w = csv.writer(f, quoting=csv.QUOTE_NONNUMERIC)
        w.writerow(HEADER if s.get("fail") != "bad-csv" else HEADER[:3])
        for i, (kernel, name, ns) in enumerate(s["launches"]):
            for counter in names:
                if counter in s.get("silent_counters", []) or s.get("fail") == "bad-csv":
                    continue
                w.writerow([i + 1, i + 1, "Agent 2", 1, pid, pid, 4096, kernel, name, 256, 0, 0, 28, 0, 32, counter, value_of(counter, i + 1),
                            1000, 1000 + ns])


def write_samples(s, job, pid):
    is_trap = job["pc_sampling_method"] == "host_trap"
    if s.get("no_stochastic") and not is_trap:
        print("PC sampling method is not supported on this agent")
        sys.exit(1)
    n = 40 if int(job["pc_sampling_interval"]) <= s.get("longest_interval", 1 << 40) else 0
    path = os.path.join(job["output_directory"], job["output_file"].replace("%pid%", str(pid)) + "_results.json")
    with open(path, "w") as f:
        json.dump(make_pcs.results(n, 3, is_trap), f)
    if s.get("fail") == "cut":
        os.truncate(path, 5000)


def write_database(s, job, pid):
    folder = os.path.join(job["output_directory"], "host")  # as rocprofv3 does without a name for the file
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, job["output_file"].replace("%pid%", str(pid)) + "_results.db")
    if s.get("fail") == "no-database":
        return
    make_rocpd.make(path)
    suffix = {"csv": "_kernel_trace.csv", "json": "_results.json", "pftrace": "_results.pftrace", "otf2": "_results.otf2"}
    for form in job["output_format"][1:]:
        with open(path.replace("_results.db", suffix[form]), "w") as f:
            f.write(form)
    if s.get("fail") == "cut":
        os.truncate(path, 9000)


def write(s, job, pid):
    if "pmc" in job:
        write_counters(s, job, pid)
    elif "pc_sampling_beta_enabled" in job:
        write_samples(s, job, pid)
    else:
        write_database(s, job, pid)
