#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reading a big dump: `incore dump ls`, `show` and `check` against Python's json and a dictionary of tasks, as a viewer would
keep them, and against the same with bounds and slots checked (checksums left out; `check` verifies them too). The dump is the
example runtime's, its four tasks repeated under new ids. CPU seconds, medians of rounds run in turns; MB are the manifest's.

usage: dump_read.py --incore PROGRAM --dir DIR [--records N] [--rounds N]
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
READ = """
import json, sys
with open(sys.argv[1]) as f:
    m = json.load(f)
tasks = {}
for i, r in enumerate(m["args"]):
    tasks.setdefault(int(r["task_id"], 16), {}).setdefault((r["arg_index"], r["stage"]), []).append(i)
"""
CHECK = READ + """
import os
size = os.path.getsize(os.path.join(os.path.dirname(sys.argv[1]), m["bin_file"]))
regions = sorted((r["bin_offset"], r["bin_size"]) for r in m["args"] if r["bin_size"])
assert all(a + n <= b for (a, n), (b, _) in zip(regions, regions[1:])) and regions[-1][0] + regions[-1][1] <= size
for t, slots in tasks.items():
    have = sorted({s for s, _ in slots})
    assert have == list(range(len(have)))
"""


def make(directory, n):
    """n records or a few more; payload repeated as well."""
    source = os.path.join(ROOT, "tests", "data", "dumps", "own")
    with open(os.path.join(source, "args.bin"), "rb") as f:
        payload = f.read()
    with open(os.path.join(source, "args_dump.json")) as f:
        top = json.load(f)
    rows = top.pop("args")
    times = -(-n // len(rows))
    for key in ("total_args", "before_dispatch", "after_completion", "input_args", "output_args", "inout_args"):
        top[key] *= times
    for thread in top["threads"]:
        thread["records"] *= times
        thread["payload_bytes"] *= times
    with open(os.path.join(directory, "args.bin"), "wb") as f:
        for _ in range(times):
            f.write(payload)
    with open(os.path.join(directory, "args_dump.json"), "w") as f:
        f.write(json.dumps(top, indent=2)[:-2] + ',\n  "args": [\n')
        for k in range(times):
            for i, row in enumerate(rows):
                row = dict(row, task_id=f"0x{int(row['task_id'], 16) + 4 * k:016x}", dispatch_id=row["dispatch_id"] + 4 * k)
                if row["bin_size"]:
                    row["bin_offset"] += k * len(payload)
                f.write(("" if k + i == 0 else ",\n") + "    " + json.dumps(row))
        f.write("\n  ]\n}\n")
    return times * len(rows)


def cpu_seconds(command):
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{command}: exit status {status}")
    return usage.ru_utime + usage.ru_stime


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--incore", required=True)
    p.add_argument("--dir", required=True)
    p.add_argument("--records", type=int, default=200000)
    p.add_argument("--rounds", type=int, default=3)
    o = p.parse_args()
    directory = tempfile.mkdtemp(prefix="bench_dump_read", dir=o.dir)
    try:
        n = make(directory, o.records)
        manifest = os.path.join(directory, "args_dump.json")
        mb = os.path.getsize(manifest) / 1e6
        ours = [o.incore, "dump"]
        ways = [("python: json and tasks", [sys.executable, "-c", READ, manifest]),
                ("python: and bounds, slots", [sys.executable, "-c", CHECK, manifest]),
                ("incore dump ls --by task", ours + ["ls", "--by", "task", directory]),
                ("incore dump ls", ours + ["ls", directory]),
                ("incore dump ls --json", ours + ["ls", "--json", directory]),
                ("incore dump show -i N", ours + ["show", "-i", str(n // 2 // 24 * 24), directory]),
                ("incore dump check", ours + ["check", directory])]
        times = {name: [] for name, _ in ways}
        for _ in range(o.rounds):
            for name, command in ways:
                times[name].append(cpu_seconds(command))
        print(f"{n} records, {mb:.0f} MB of manifest, {os.path.getsize(os.path.join(directory, 'args.bin')) / 1e6:.0f} MB of payload")
        base = statistics.median(times[ways[0][0]])
        for name, _ in ways:
            t = statistics.median(times[name])
            print(f"{name:<28} {t:7.2f} s  {mb / t:7.1f} MB/s  {base / t:5.1f} times python")
    finally:
        shutil.rmtree(directory)


main()
