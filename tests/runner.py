#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The test run itself: does what a script says become the counts that are summed, is a suite that only skips no failure, does a reason that
is shown for something left out say why? And that of the benches: does all of it run, is what was missed listed? And does the count of the house count right?
"""
import io
import os
import subprocess
import sys
import tempfile

import npm
import suites
from house_counts import house_counts
from jobs import Result

sys.path.insert(0, os.path.join(suites.ROOT, "tests", "sweep"))
import slurm  # noqa: E402
sys.path.insert(0, os.path.join(suites.ROOT, "bench"))
from parts import run_parts  # noqa: E402

RESULT = [0, 0]
NOWHERE = """npm ERR! code EAI_AGAIN
npm ERR! syscall getaddrinfo
npm ERR! errno EAI_AGAIN
npm ERR! request to https://registry.npmjs.org/marked failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org

npm ERR! A complete log of this run can be found in:
npm ERR!     /root/.npm/_logs/2026-01-01T00_00_00_000Z-debug-0.log
"""
REFUSED = """npm warn Unknown user config "nodedir"
npm error code E401
npm error Incorrect or missing password.
npm error A complete log of this run can be found in: /root/.npm/_logs/2026-01-01T00_00_00_000Z-debug-0.log
"""


def same(what, got, want):
    RESULT[got != want] += 1
    if got != want:
        print(f"FAIL {what}: {got!r}, expected {want!r}")


def counts_of(text, rc=0, env=None):
    """A script that says this, as the runner sees it: counts, and what it keeps of the text."""
    result = Result("own")
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "suite.py")
        with open(path, "w") as f:
            f.write(f"import sys\nprint({text!r})\nsys.exit({rc})\n")
        suites.script(path, env=env)(result)
    return result.counts, result.text


def scripts():
    same("passed", counts_of("3 passed, 0 failed"), ([3, 0, 0], ""))
    same("only skipped", counts_of("SKIP it: why\n0 passed, 0 failed, 1 skipped"), ([0, 0, 1], "SKIP it: why\n"))
    same("failed", counts_of("FAIL it\n1 passed, 2 failed, 0 skipped", 1)[0], [1, 2, 0])
    same("it fails and does not count it", counts_of("1 passed, 0 failed, 0 skipped", 1)[0], [1, 1, 0])
    said = counts_of("1 passed, 0 failed, 0 skipped (so far)")
    same("the last line is no count", said[0], [0, 1, 0])
    same("it is told what is wrong with that line", "its last line is not `N passed, N failed, N skipped`" in said[1], True)


def reasons_of_programs():
    told = "1..3\nok 1 - one\nno LLVM that knows gfx942 is installed\nnot ok 2 # SKIP two\nnot ok 3 # SKIP three\n# ok - tests\n"
    same("skipped tests of cmocka", "".join(suites.tap_reasons("test_x", 0, told)),
         "SKIP test_x: no LLVM that knows gfx942 is installed\nSKIP test_x: it does not say why\n")
    same("the same reason twice", "".join(suites.tap_reasons("test_x", 0, "no data\nnot ok 1 # SKIP one\nno data\nnot ok 2 # SKIP two\n")),
         "SKIP test_x: no data (2 tests)\n")
    same("a program that skips all", "".join(suites.tap_reasons("test_x", 77, "no thread traces\n")), "SKIP test_x: no thread traces\n")
    same("one that passes", "".join(suites.tap_reasons("test_x", 0, "1..1\nok 1 - one\n")), "")


def without_captures():
    """Suites that have nothing to do then."""
    for name in ("tests/conformance/why.py", "tests/conformance/whatif.py"):
        result = Result("own")
        suites.script(name, "build/incore", env={"INCORE_SHARED": "/nowhere"})(result)
        same(f"{name} without captures", result.counts, [0, 0, 1])
        same(f"{name} says why", result.text.startswith("SKIP ") and "no captures" in result.text, True)


def reasons():
    same("npm without a network", npm.reason(NOWHERE), "request to https://registry.npmjs.org/marked failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org")
    same("npm is refused", npm.reason(REFUSED), "Incorrect or missing password.")
    same("npm ends without a word", npm.reason(""), "npm failed without a word")
    with tempfile.TemporaryDirectory() as tmp:
        log = os.path.join(tmp, "slurmd-n1.log")
        with open(log, "w") as f:
            f.write("[2026-01-01T00:00:00.000] error: cgroup namespace 'freezer' not mounted\n[2026-01-01T00:00:00.001] slurmd exits\n")
        same("a daemon that only logs", slurm.reason("", log), "error: cgroup namespace 'freezer' not mounted")
        same("a daemon that speaks", slurm.reason("slurmd: fatal: no\n", log), "slurmd: fatal: no")
        same("one that does neither", slurm.reason(" \n", os.path.join(tmp, "none")), "it says nothing")


def sums():
    p = subprocess.run([sys.executable, os.path.join(suites.ROOT, "tests", "run.py"), "nothing-of-that-name"], capture_output=True, text=True)
    same("a suite that is not there", (p.returncode, p.stderr.startswith("no suite nothing-of-that-name; there are build ")), (1, True))


def benches():
    def part(title, text, rc):
        return title, [[sys.executable, "-c", f"import sys; print({text!r}); sys.exit({rc})"]]

    out = io.StringIO()
    rc = run_parts([part("first", "1 MB/s\nmissed: 1 MB/s; not linear", 1), ("second", [["/nowhere/program"]]), part("third", "", 3),
                          part("fourth", "  panning   9 ms   ≤ 4 ms   OVER", 1), part("last", "9 MB/s", 0)], out)
    missed = ["first: 1 MB/s; not linear", "second: program: No such file or directory", "third: python3 -c ended with status 3",
              "fourth: panning   9 ms   ≤ 4 ms   OVER"]
    said = out.getvalue()
    same("a bench that misses", rc, 1)
    same("the part after it runs", "== last\n9 MB/s\n" in said, True)
    same("what was missed", said[said.index("4 missed:"):].replace(os.path.basename(sys.executable), "python3"),
         "4 missed:\n" + "".join(f"  {m}\n" for m in missed))
    out = io.StringIO()
    same("benches that miss nothing", (run_parts([part("only", "", 0)], out), out.getvalue()), (0, "== only\n\n\nnothing missed in 1 parts\n"))


def main():
    scripts()
    benches()
    reasons_of_programs()
    without_captures()
    reasons()
    sums()
    house_counts(same)
    print(f"{RESULT[0]} passed, {RESULT[1]} failed, 0 skipped")
    return RESULT[1] > 0


if __name__ == "__main__":
    sys.exit(main())
