#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Golden command-line cases: tests/golden/<verb>/<case>/{cmd, expect[, stderr, rc]}.

usage: run.py BUILD_DIR [PATTERN...]

`cmd` is one shell line, run in tests/data with the built program first in PATH, once with INCORE_JOBS=1
and once with 4: the same bytes are expected (THIN: every other case with one, the rest with four). $CASE is the folder of the case, $TMP an empty one, $KERNELS has the
kernels of the paged-attention example.
A version of incore in what is expected stands for the one of meson.build: a release changes no case.
UPDATE=1 rewrites expect, rc and (where it exists or the command fails) stderr: read the diff.
"""
import concurrent.futures
import difflib
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(os.path.dirname(HERE), "data")
ROOT = os.path.dirname(os.path.dirname(HERE))
KERNELS = os.path.join(ROOT, "examples", "paged_attention", "kernels")
THIN = "THIN" in os.environ and os.environ.get("TIMES", "1") == "1"
NO_LIBDW = b"incore was built without libdw"
VERSION = re.compile(rb'(incore(?:-embedded)?(?: |": ?"))\d+\.\d+\.\d+')


def of_this_version(text):
    """What is expected, with the version that the program must show."""
    with open(os.path.join(ROOT, "meson.build"), "rb") as f:
        version = re.search(rb"version: '([^']+)'", f.read())[1]
    return text and VERSION.sub(rb"\g<1>" + version, text)


def environment(build, jobs, case, tmp):
    env = {k: v for k, v in os.environ.items()
           if k in ("PATH", "HOME", "LANG") or k.endswith("SAN_OPTIONS") or k == "INCORE_SHARED"}
    env.update(PATH=f"{os.path.abspath(build)}:{env.get('PATH', '')}", INCORE_JOBS=str(jobs), CASE=case, TMP=tmp,
               KERNELS=KERNELS, LC_ALL="C.UTF-8", TZ="UTC", PAGER="cat", XDG_CONFIG_HOME=os.path.join(tmp, "no-config"))
    return env


def read(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except FileNotFoundError:
        return None


def run(build, case, cmd, jobs):
    with tempfile.TemporaryDirectory() as tmp:
        p = subprocess.run(["sh", "-c", cmd], cwd=DATA, env=environment(build, jobs, case, tmp), capture_output=True,
                           stdin=subprocess.DEVNULL, timeout=600)
        out, err = [x.replace(tmp.encode(), b"$TMP").replace(KERNELS.encode(), b"$KERNELS") for x in (p.stdout, p.stderr)]
        return p.returncode, out, err


def diff(name, want, got):
    lines = difflib.unified_diff(want.decode(errors="replace").splitlines(), got.decode(errors="replace").splitlines(),
                                 f"{name} (expected)", f"{name} (got)", lineterm="")
    return "\n".join(list(lines)[:60])


def update(case, rc, out, err):
    for name, data, keep in (("expect", out, True), ("rc", b"%d\n" % rc, rc != 0),
                             ("stderr", err, bool(err) and (rc != 0 or os.path.exists(os.path.join(case, "stderr"))))):
        path = os.path.join(case, name)
        if keep:
            with open(path, "wb") as f:
                f.write(data)
        elif os.path.exists(path):
            os.remove(path)


def check(build, case, number):
    """None: as expected; else what is wrong, or why it could not be tried (SKIP)."""
    name = os.path.relpath(case, HERE)
    cmd = read(os.path.join(case, "cmd")).decode().strip()
    try:
        one = run(build, case, cmd, 4 if THIN and number % 2 else 1)
        four = one if THIN else run(build, case, cmd, 4)
    except subprocess.TimeoutExpired:
        return f"FAIL {name}: no answer after 600 s"
    if os.environ.get("UPDATE"):
        update(case, *one)
    if one != four:
        return f"FAIL {name}: other bytes with 4 threads\n{diff('1 thread, 4 threads', one[1] + one[2], four[1] + four[2])}"
    want_rc = int(read(os.path.join(case, "rc")) or 0)
    want_out, want_err = [of_this_version(read(os.path.join(case, name))) for name in ("expect", "stderr")]
    if NO_LIBDW in one[1] + one[2] and (one[0], one[1]) != (want_rc, want_out):
        return f"SKIP {name}: {NO_LIBDW.decode()}"
    if one[0] != want_rc:
        return f"FAIL {name}: exit status {one[0]}, expected {want_rc}\n$ {cmd}\n{one[2].decode(errors='replace')[:2000]}"
    if want_out is None or want_out != one[1]:
        return f"FAIL {name}\n$ {cmd}\n{diff('stdout', want_out or b'', one[1])}"
    if want_err is not None and want_err != one[2]:
        return f"FAIL {name}\n$ {cmd}\n{diff('stderr', want_err, one[2])}"
    return None


def main():
    build, patterns = sys.argv[1], sys.argv[2:]
    cases = sorted(d for d, _, files in os.walk(HERE) if "cmd" in files)
    cases = [c for c in cases if not patterns or any(p in c for p in patterns)]
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count())) as pool:
        told = [text for text in pool.map(check, [build] * len(cases), cases, range(len(cases))) if text]
    for text in told:
        print(text)
    skipped = sum(text.startswith("SKIP") for text in told)
    print(f"{len(cases) - len(told)} passed, {len(told) - skipped} failed, {skipped} skipped")
    return len(told) > skipped


if __name__ == "__main__":
    sys.exit(main())
