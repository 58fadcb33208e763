#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is `make demo` a story that fits two screens? Five questions, each with one command and the lines that answer it; paths relative to where
one stands; a report at the end, and the command that opens the viewer.

usage: demo.py BUILD_DIR
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCREENS, LINES, COLUMNS = 2, 40, 140


def complaints(build):
    p = subprocess.run(["examples/demo", build], cwd=ROOT, capture_output=True, text=True)
    lines, report = p.stdout.rstrip("\n").split("\n"), os.path.join(ROOT, build, "demo", "report.html")
    if p.returncode or p.stderr:
        return [f"exit status {p.returncode}: {p.stderr or p.stdout[-2000:]}"]
    bad = []
    if len(lines) > SCREENS * LINES:
        bad.append(f"{len(lines)} lines are more than {SCREENS} screens of {LINES}")
    bad += [f"too long: {line}" for line in lines if len(line) > COLUMNS and not line.startswith("$ ")]
    bad += [f"not relative: {line}" for line in lines if ROOT in line]
    steps = [i for i, line in enumerate(lines) if re.match(r"\d\. .*\?$", line)]
    if [lines[i][0] for i in steps] != list("12345"):
        bad.append("not five questions: " + ", ".join(lines[i] for i in steps))
    for i in steps:
        if not lines[i + 1].startswith(f"$ {build}/incore ") or not lines[i + 2].strip():
            bad.append(f"no command with an answer below: {lines[i]}")
    if not lines[-1].startswith(f"$ {build}/incore view ") or f"Open {build}/demo/report.html" not in lines[-2]:
        bad.append("the end does not name the report and the viewer: " + " | ".join(lines[-2:]))
    with open(report, encoding="utf-8") as f:
        page = f.read()
    bad += [f"the report does not say: {words}" for words in ("A synthetic, B estimate", "gemm_f16 and ", "</html>") if words not in page]
    return bad


def main():
    bad = complaints(os.path.relpath(sys.argv[1], ROOT))
    for line in bad:
        print("FAIL " + line)
    print(f"{int(not bad)} passed, {len(bad)} failed, 0 skipped")
    return len(bad) > 0


if __name__ == "__main__":
    sys.exit(main())
