# SPDX-License-Identifier: Apache-2.0
"""What tests take from npm: fetched once, into node_modules beside their package.json, with what the lock file there pins."""
import fcntl
import json
import os
import re
import shutil
import subprocess

QUIET = ["--ignore-scripts", "--no-audit", "--no-fund"]


def reason(stderr):
    """Of what npm says the one line that tells why: its last ones name a log that is gone with the machine."""
    lines = [re.sub(r"^npm (ERR!|error)\s*", "", line).strip() for line in stderr.splitlines() if re.match(r"npm (ERR!|error)", line)]
    lines = [line for line in lines if line and not re.match(r"(syscall|errno|path|[a-z]+ [0-9-]+$)|A complete log|.*_logs/|.*-debug-\d", line)]
    told = [line for line in lines if "reason:" in line] or [line for line in lines if not line.startswith("code ")] or lines
    return told[0] if told else "npm failed without a word"


def why_not(folder, *words):
    """None, or why the modules that package.json of the folder names are not there; words: npm's, `ci` or `install` with options."""
    if not shutil.which("node") or not shutil.which("npm"):
        return "node or npm is not installed"
    with open(os.path.join(folder, "package.json")) as lock:  # two suites may come at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        names = json.load(lock)["devDependencies"]
        if all(os.path.exists(os.path.join(folder, "node_modules", n, "package.json")) for n in names):
            return None
        p = subprocess.run(["npm", *words, *QUIET], cwd=folder, capture_output=True, text=True)
        return None if p.returncode == 0 else "npm cannot install it: " + reason(p.stderr)
