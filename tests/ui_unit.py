#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The viewer without a browser: its types (tsc), the size of its files and of its script, and its pure logic (node --test).

usage: ui_unit.py
"""
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
UI = os.path.join(ROOT, "ui")
RESULT = [0, 0, 0]


def check(ok, what):
    RESULT[not ok] += 1
    if not ok:
        print(f"FAIL {what}")


def program(*names):
    """Debian's own before any other of that name."""
    for name in names:
        found = os.path.join("/usr/bin", name)
        if os.path.exists(found) or (found := shutil.which(name)):
            return found
    return None


def files():
    for folder, _, names in os.walk(UI):
        for name in sorted(names):
            if name.endswith((".ts", ".css")):
                yield os.path.join(folder, name)


def check_files():
    for path in files():
        with open(path) as f:
            text = f.read()
        name = os.path.relpath(path, ROOT)
        check(text.count("\n") <= 400 or name == "ui/answers.ts", f"{name}: {text.count(chr(10))} lines, more than 400")
        check("SPDX-License-Identifier: Apache-2.0" in text.split("\n")[0], f"{name}: no SPDX line first")
        check(not re.search(r"\binnerHTML\b|\bouterHTML\b|insertAdjacentHTML|document\.write|\beval\(", text), f"{name}: makes markup or code of text")


def check_types(tsc):
    p = subprocess.run([tsc, "-p", UI], capture_output=True, text=True)
    check(p.returncode == 0, "tsc:\n" + p.stdout)


def check_size(esbuild, folder):
    out = os.path.join(folder, "incore.js")
    p = subprocess.run([esbuild, os.path.join(UI, "main.ts"), "--bundle", "--minify", "--format=iife", "--target=es2021",
                        "--log-level=warning", "--outfile=" + out], capture_output=True, text=True)
    check(p.returncode == 0 and not p.stderr, "esbuild: " + p.stderr)
    with open(out, "rb") as f:
        size = len(gzip.compress(f.read(), 9))
    check(size <= 250 * 1024, f"the script is {size} bytes of gzip, more than 250 KB")


def run_tests(esbuild, node, folder):
    tests = [t for t in files() if t.endswith(".test.ts")]
    p = subprocess.run([esbuild, *tests, "--bundle", "--platform=node", "--format=cjs", "--target=node18", "--log-level=warning",
                        "--outdir=" + folder, "--outbase=" + UI], capture_output=True, text=True)
    check(p.returncode == 0, "esbuild: " + p.stderr)
    built = [os.path.join(folder, os.path.relpath(t, UI)[:-3] + ".js") for t in tests]
    for path in built:
        p = subprocess.run([node, "--test-reporter=tap", "--test", path], capture_output=True, text=True)
        passed, failed = [int((re.search(rf"^# {word} (\d+)", p.stdout, re.M) or [0, 0])[1]) for word in ("pass", "fail")]
        RESULT[0] += passed
        RESULT[1] += failed + (passed == 0 and failed == 0)
        if failed or p.returncode:
            print(f"FAIL {os.path.relpath(path, folder)}\n{p.stdout[-6000:]}{p.stderr[-2000:]}")


def main():
    check_files()
    tools = [program("tsc"), program("esbuild"), program("node", "nodejs")]
    for name, found in zip(("tsc", "esbuild", "node"), tools):
        if not found:
            print(f"SKIP what needs {name}: it is not installed")
            RESULT[2] += 1
    with tempfile.TemporaryDirectory() as folder:
        if tools[0]:
            check_types(tools[0])
        if tools[1]:
            check_size(tools[1], folder)
        if tools[1] and tools[2]:
            run_tests(tools[1], tools[2], folder)
    print(f"{RESULT[0]} passed, {RESULT[1]} failed, {RESULT[2]} skipped")
    return RESULT[1] > 0


if __name__ == "__main__":
    sys.exit(main())
