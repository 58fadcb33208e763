# SPDX-License-Identifier: Apache-2.0
"""What the checkers of formats share: the program, its verbs as JSON, messages as protoc prints them."""
import collections
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DATA = os.path.join(ROOT, "tests", "data")
sys.path.insert(0, os.path.join(ROOT, "tests"))
from npm import why_not  # noqa: E402


class Results:
    """Counts of what was checked; a failure is printed when it happens."""

    def __init__(self):
        self.passed, self.failed, self.skipped = 0, 0, 0

    def check(self, ok, what):
        self.passed += bool(ok)
        self.failed += not ok
        if not ok:
            print(f"FAIL {what}")
        return ok

    def equal(self, got, want, what):
        return self.check(got == want, f"{what}: got {str(got)[:300]}, want {str(want)[:300]}")

    def skip_unless_wanted(self, what, why):
        """why: what node_modules() says."""
        if why:
            self.skip(f"{what}: {why}")
        return why is not None

    def skip(self, why):
        self.skipped += 1
        print(f"SKIP {why}")


class Program:
    def __init__(self, build, folder):
        self.path, self.folder, self.n = os.path.join(os.path.abspath(build), "incore"), folder, 0

    def run(self, *words):
        return subprocess.run([self.path, *words], cwd=DATA, capture_output=True, text=True)

    def data(self, verb, *words):
        """The answer of a verb; rows are all given."""
        p = self.run(verb, "--json", "-q", *words)
        if p.returncode:
            raise RuntimeError(f"incore {verb} {' '.join(words)}: {p.stderr}")
        return json.loads(p.stdout)["data"]

    def export(self, to, capture, *words):
        """Path of a new file, and what export says of it."""
        self.n += 1
        path = os.path.join(self.folder, f"{self.n}.{to}")
        return path, self.data("export", "--to", to, "-o", path, capture, *words)


def has(program):
    return shutil.which(program) is not None


def node_modules():
    """Installs the readers that package-lock.json pins. None, or why that cannot be; "": they are not wanted (INCORE_NO_NPM)."""
    if os.environ.get("INCORE_NO_NPM"):
        return ""
    return why_not(HERE, "install", "--no-save")


def decode(proto, message, path):
    """A message as protoc reads it: a dict of lists. Fields that the .proto does not know are an error."""
    with open(path, "rb") as f:
        p = subprocess.run(["protoc", f"--decode={message}", "-I", HERE, proto], stdin=f, capture_output=True)
    if p.returncode:
        raise RuntimeError(p.stderr.decode(errors="replace"))
    stack = [collections.defaultdict(list)]
    for line in p.stdout.decode().splitlines():
        line = line.strip()
        if line == "}":
            stack.pop()
            continue
        opened = re.fullmatch(r"(\w+) \{", line)
        if opened:
            inner = collections.defaultdict(list)
            stack[-1][opened[1]].append(inner)
            stack.append(inner)
            continue
        key, value = line.split(": ", 1)
        if key.isdigit():
            raise RuntimeError(f"{path}: field {key} is not in {proto}")
        stack[-1][key].append(value)
    return stack[0]


def number(message, key, otherwise=None):
    return int(message[key][0]) if message[key] else otherwise


def text(message, key):
    """A string of protoc, without its quotes and escapes."""
    if not message[key]:
        return None
    raw = message[key][0][1:-1]
    return re.sub(rb"\\([0-7]{3}|.)", lambda m: bytes([int(m[1], 8)]) if len(m[1]) == 3 else {b"n": b"\n", b"t": b"\t"}.get(m[1], m[1]),
                  raw.encode()).decode(errors="replace")
