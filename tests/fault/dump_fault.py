#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does the capture library do when the n-th allocation, read, write or open fails? For every n of a small
run: no crash, no leak (the build has ASan), success or an error with a message, and what is left can be repaired.

usage: dump_fault.py BUILD_DIR     the build has -Dfault=true
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

KINDS = ("alloc", "read", "write", "open")


def run(program, words, fault):
    env = {**os.environ, "INCORE_FAULT": fault}
    if "," in fault:
        env["INCORE_FAULT_REPORT"] = "1"
    return subprocess.run([program, *words], env=env, capture_output=True, text=True, errors="replace", timeout=600)


def problem(build, fault, words):
    with tempfile.TemporaryDirectory() as tmp:
        out = os.path.join(tmp, "dump")
        p = run(os.path.join(build, "examples", "paged_attention"), ["--dump", out, *words], fault)
        if p.returncode not in (0, 6) or "Sanitizer" in p.stderr or "runtime error" in p.stderr:
            return f"exit status {p.returncode}: {p.stderr[:2000]}"
        rc, names = p.returncode, set(os.listdir(out)) if os.path.isdir(out) else set()
        if p.returncode and not p.stderr.strip():
            return "failed without a message"
        if not p.returncode and names != {"args_dump.json", "args.bin"}:
            return f"succeeded, and left {sorted(names)}"
        if names - {"args_dump.json", "args.bin", "args.log"}:
            return f"left behind: {sorted(names)}"
        if "args.log" in names:
            p = run(os.path.join(build, "tests", "fault", "dump_victim"), ["--repair", out], "")
            if p.returncode:
                return f"cannot be repaired: {p.stderr[:500]}"
        if "args_dump.json" in names | ({"args_dump.json"} if "args.log" in names else set()):
            with open(os.path.join(out, "args_dump.json")) as f:
                manifest = json.load(f)
            lost = manifest["dropped_records"] + manifest["dropped_overwrite"]
            if not rc and manifest["total_args"] != 72 and not lost:
                return f"{manifest['total_args']} of 72 records, and no word about the rest"
    return None


def main():
    build = os.path.abspath(sys.argv[1])
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count())) as pool:
        for words in ([], ["--sync", "--threads", "1"]):
            with tempfile.TemporaryDirectory() as tmp:
                huge = ",".join(f"{k}:1000000000" for k in KINDS)
                p = run(os.path.join(build, "examples", "paged_attention"), ["--dump", os.path.join(tmp, "d"), *words], huge)
            counts = re.search(r"faults: alloc (\d+) read (\d+) write (\d+) open (\d+)", p.stderr)
            if not counts:
                print("SKIP dump fault: not a build with fault injection\n0 passed, 0 failed, 1 skipped")
                return 0
            jobs = [f"{k}:{n}" for k, c in zip(KINDS, counts.groups()) for n in range(1, int(c) + 1)]
            for fault, why in zip(jobs, pool.map(lambda f, w=words: problem(build, f, w), jobs)):
                passed, failed = passed + (not why), failed + bool(why)
                if why:
                    print(f"FAIL INCORE_FAULT={fault} paged_attention {' '.join(words)}: {why}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
