#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The viewer in a browser: installs the driver that tests/ui/package-lock.json pins, then runs tests/ui/run.mjs.

usage: ui_browser.py BUILD/incore [PATTERN...]
"""
import fcntl
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HERE = os.path.join(ROOT, "tests", "ui")


def skip(why):
    print(f"SKIP browser tests: {why}")
    print("0 passed, 0 failed, 1 skipped")
    return 0


def main():
    program, patterns = sys.argv[1], sys.argv[2:]
    node = "/usr/bin/node" if os.path.exists("/usr/bin/node") else shutil.which("node")
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if not node or not chromium:
        return skip("node or chromium is not installed")
    with open(os.path.join(HERE, "package-lock.json")) as lock:  # two suites may come at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(os.path.join(HERE, "node_modules", "playwright-core", "package.json")):
            npm = shutil.which("npm")
            p = npm and subprocess.run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=HERE, capture_output=True, text=True)
            if not p or p.returncode:
                return skip("the browser driver cannot be installed: " + (p.stderr.strip().splitlines() or ["npm failed"])[-1] if p else "no npm")
    return subprocess.run([node, os.path.join(HERE, "run.mjs"), os.path.abspath(program), *patterns],
                          env={**os.environ, "CHROMIUM": chromium}).returncode


if __name__ == "__main__":
    sys.exit(main())
