#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for Nsight Compute: knows the options that are used, runs the application, copies a report of our generator.

usage: ncu.py SCENARIO.json WORD...
"""
import json
import shutil
import subprocess
import sys

WITH_VALUE = {"--export", "--import-source", "--clock-control", "--cache-control", "--launch-skip", "--launch-count", "--kernel-name-base", "--kernel-name",
              "--section", "--set"}


def main():
    with open(sys.argv[1]) as f:
        scenario = json.load(f)
    words = sys.argv[2:]
    if words == ["--version"]:
        print("NVIDIA (R) Nsight Compute Command Line Profiler\nCopyright (c) 2018-2025 NVIDIA Corporation")
        print("Version 2025.3.1.0 (build 36398880) (public-release)")
        return scenario.get("version_status", 0)
    if words == ["--list-sections"]:
        print("\n".join(f"{name:<44} Title of {name}" for name in ["Identifier", *scenario["sections"]]))
        return 0
    options, i = [], 0
    while i < len(words) and words[i].startswith("--"):
        if words[i] not in WITH_VALUE:
            print(f"==ERROR== unrecognised option '{words[i]}'")
            return 1
        options.append((words[i], words[i + 1]))
        i += 2
    with open(scenario["calls"], "a") as f:
        f.write(json.dumps(options) + "\n")
    status = subprocess.run(words[i:]).returncode
    if scenario.get("says"):
        print(scenario["says"])
    if scenario.get("report"):
        shutil.copy(scenario["report"], dict(options)["--export"])
    if status:
        print("==ERROR== The application returned an error code (%d)." % status)
    return scenario.get("status", status)


if __name__ == "__main__":
    sys.exit(main())
