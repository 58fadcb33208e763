#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`incore clean` on a trace whose tables do not stay in memory: is its memory bounded, is the output what it is of tables that do, is a
disk without room told, with nothing left behind? In a soak (TIMES) the trace is as many times larger.

usage: clean_memory.py INCORE
"""
import filecmp
import glob
import io
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import ascend_trace  # noqa: E402

COUNT = [0, 0]
MOST_MB = 100
SPILLED_BYTES = 256 << 20  # from here on tables are held in a file
COPIES = 48 * int(os.environ.get("TIMES", "1"))
HEAD = '{"displayTimeUnit":"ns","profilingType":"op","schemaVersion":2,"traceEvents":[\n'
TAIL = '{"args":{"sort_index":1},"name":"process_sort_index","ph":"M","pid":"core0.cubecore0","tid":"NA"}]}'


def check(what, ok, detail=""):
    COUNT[not ok] += 1
    if not ok:
        print(f"FAIL {what}: {detail}")


def clean(incore, path, out, limit=None):
    """Exit status, peak MB, what it said. The peak counts ours, too, when it begins: nothing large is held here."""
    child = subprocess.Popen([incore, "clean", "-q", "-o", out, path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                             preexec_fn=(lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))) if limit else None)
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_maxrss / 1024, said


def core():
    out = io.StringIO()
    ascend_trace.core(out, "core0.cubecore0", ascend_trace.PIPES["cubecore0"], 20000, True)
    return out.getvalue()


def counts(path):
    """Of slices and arrows, as the head of a cleaned trace states them."""
    with open(path) as f:
        top = f.read(4096)
    top = json.loads(top[:top.index(',"traceEvents"')] + "}")["otherData"]
    return top["slices"], top["arrows"]


def main():
    incore, text = os.path.abspath(sys.argv[1]), core()
    with tempfile.TemporaryDirectory(prefix="incore-clean-") as tmp:
        one, padded, many = (os.path.join(tmp, name, "kernel", "trace.json") for name in ("one", "padded", "many"))
        for path, body in ((one, [text]), (padded, itertools.chain([text], itertools.repeat(" " * (1 << 20), SPILLED_BYTES >> 20))),
                           (many, (text.replace('"core0.', f'"core{i}.') for i in range(COPIES)))):
            os.makedirs(os.path.dirname(path))
            with open(path, "w") as f:
                f.write(HEAD)
                f.writelines(body)
                f.write(TAIL)
        check("the trace is large enough", os.path.getsize(many) >= SPILLED_BYTES, os.path.getsize(many))
        outs = {path: os.path.dirname(path) + "-out" for path in (one, padded, many)}
        ran = {path: clean(incore, path, out) for path, out in outs.items()}
        check("all are cleaned", [r[0] for r in ran.values()] == [0, 0, 0], ran)
        written = {path: glob.glob(os.path.join(out, "*.clean.json"))[0] for path, out in outs.items()}
        check("tables in a file make the same bytes", filecmp.cmp(written[one], written[padded], shallow=False))
        check("every core is cleaned as one", counts(written[many]) == tuple(COPIES * n for n in counts(written[one])), counts(written[many]))
        check("memory", ran[many][1] <= MOST_MB, f"{ran[many][1]:.0f} MB of {os.path.getsize(many) / 1e6:.0f} MB of input")
        full = os.path.join(tmp, "full")
        os.mkdir(full)
        rc, _, said = clean(incore, padded, full, 4 << 20)
        check("no room", rc == 6 and full in said and "cannot hold large tables in a file there" in said, (rc, said))
        check("nothing is left", os.listdir(full) == [], os.listdir(full))
    print(f"{COUNT[0]} passed, {COUNT[1]} failed, 0 skipped")
    return COUNT[1] > 0


if __name__ == "__main__":
    sys.exit(main())
