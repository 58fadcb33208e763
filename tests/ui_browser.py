#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The viewer in a browser: installs the drivers that tests/ui/package-lock.json pins, then runs tests/ui/run.mjs; with --firefox the smoke
tour of tests/ui/firefox.mjs.

usage: ui_browser.py BUILD/incore [PATTERN...] | --firefox BUILD/incore
"""
import os
import shutil
import subprocess
import sys

import npm

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HERE = os.path.join(ROOT, "tests", "ui")


def skip(why):
    print(f"SKIP browser tests: {why}")
    print("0 passed, 0 failed, 1 skipped")
    return 0


def main():
    is_firefox = sys.argv[1] == "--firefox"
    program, *patterns = sys.argv[1 + is_firefox:]
    node = "/usr/bin/node" if os.path.exists("/usr/bin/node") else shutil.which("node")
    names = ("FIREFOX", "firefox-esr", "firefox") if is_firefox else ("CHROMIUM", "chromium-headless-shell", "chromium")
    browser = os.environ.get(names[0]) or shutil.which(names[1]) or shutil.which(names[2])
    if not node or not browser:
        return skip(f"node or {names[1]} is not installed")
    why = npm.why_not(HERE, "ci")
    if why:
        return skip("the browser driver: " + why)
    return subprocess.run([node, os.path.join(HERE, "firefox.mjs" if is_firefox else "run.mjs"), os.path.abspath(program), *patterns],
                          env={**os.environ, names[0]: browser}).returncode


if __name__ == "__main__":
    sys.exit(main())
