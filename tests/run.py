#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The whole test run. Builds with gcc and with clang + ASan + UBSan (both -Werror), runs every suite, and
prints as its last line `N passed, N failed, N skipped`.

usage: run.py [SUITE...]     a suite is a name of the table below, e.g. golden, unit, asan-golden
"""
import json
import os
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PLAIN, ASAN, TSAN = [os.path.join(ROOT, name) for name in ("build", "build-asan", "build-tsan")]
SANITIZED = {
    "ASAN_OPTIONS": "exitcode=99:detect_leaks=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "halt_on_error=1:exitcode=99:print_stacktrace=1",
}
# Of the browser tests those that ask the server most different things.
ASAN_UI = ["opening:", "open: an AMD", "open: damaged", "compare: parts", "counters: derived", "select: box", "select: a wait", "security:"]
TOTAL = [0, 0, 0]  # passed, failed, skipped


def report(name, passed, failed, skipped, started, text=""):
    for i, n in enumerate((passed, failed, skipped)):
        TOTAL[i] += n
    if failed and text:
        print(text.rstrip()[-20000:])
    print(f"{'ok  ' if not failed else 'FAIL'} {name:<18} {passed} passed, {failed} failed, {skipped} skipped"
          f"  ({time.time() - started:.1f} s)", flush=True)


def build(name, directory, options, env=None, targets=()):
    """One item: compiles everything (or the targets) without a warning."""
    started, env = time.time(), {**os.environ, **(env or {})}
    options = ["-Dtests=true", *options]
    setup = ["meson", "setup", directory, *options]
    if os.path.exists(os.path.join(directory, "build.ninja")):
        setup = ["meson", "configure", directory, *[o for o in options if o.startswith("-D")]]
    p = subprocess.run(setup, cwd=ROOT, env=env, capture_output=True, text=True)
    if p.returncode == 0:
        p = subprocess.run(["ninja", "-C", directory, "--quiet", *targets], cwd=ROOT, env=env, capture_output=True,
                           text=True)
    report(name, int(p.returncode == 0), int(p.returncode != 0), 0, started, p.stdout + p.stderr)
    return p.returncode == 0


def script(name, words, env=None):
    """A script that ends with `N passed, N failed, N skipped`."""
    started = time.time()
    p = subprocess.run(words, cwd=ROOT, env={**os.environ, **(env or {})}, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, errors="replace")
    m = re.search(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\s*$", p.stdout)
    passed, failed, skipped = [int(x or 0) for x in m.groups()] if m else (0, 1, 0)
    if p.returncode and not failed:
        failed = 1
    for line in p.stdout.splitlines():
        if line.startswith("SKIP") and not failed:
            print(line)
    report(name, passed, failed, skipped, started, p.stdout)


def python(name, *words, env=None):
    script(name, [sys.executable, *[w if w.startswith("-") else os.path.join(ROOT, w) if "/" in w else w for w in words]],
           env)


def tests_of(directory, suite):
    out = subprocess.run(["meson", "introspect", "--tests", directory], capture_output=True, text=True, check=True).stdout
    return [t for t in json.loads(out) if any(s.split(":")[-1] == suite for s in t["suite"])]


def programs(name, directory, suite, env=None):
    """cmocka programs are counted test by test (TAP), others as one each."""
    started, sums, text = time.time(), [0, 0, 0], ""
    for t in tests_of(directory, suite):
        full = {**os.environ, **t["env"], **(env or {}), "CMOCKA_MESSAGE_OUTPUT": "TAP"}
        try:
            p = subprocess.run(t["cmd"], cwd=ROOT, env=full, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               errors="replace", timeout=600)
            rc, out = p.returncode, p.stdout
        except subprocess.TimeoutExpired:
            rc, out = 1, "no answer after 600 s\n"
        tap = re.findall(r"^(ok|not ok) \d+(.*)$", out, re.M)
        # cmocka 1.1 says "not ok 1 # SKIP name" of a skipped test
        skipped = sum("# SKIP" in rest for _, rest in tap)
        failed = sum(s == "not ok" and "# SKIP" not in rest for s, rest in tap)
        passed = len(tap) - failed - skipped
        if not tap:
            passed, failed, skipped = int(rc == 0), int(rc not in (0, 77)), int(rc == 77)
        elif rc and not failed:
            failed = 1
        sums = [a + b for a, b in zip(sums, (passed, failed, skipped))]
        if failed:
            text += f"--- {t['name']} (exit status {rc})\n{out}"
    report(name, *sums, started, text)


def formatted():
    started = time.time()
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.c", "*.h"], cwd=ROOT, capture_output=True,
                           text=True).stdout.split()
    files = [f for f in files if os.path.exists(os.path.join(ROOT, f))]
    p = subprocess.run(["clang-format", "--dry-run", "-Werror", *files], cwd=ROOT, capture_output=True, text=True)
    bad = sorted(set(re.findall(r"^([^:\n]+):\d+:\d+: error", p.stderr, re.M)))
    report("format", len(files) - len(bad), len(bad), 0, started, "not formatted: " + " ".join(bad))


def conformance(name, directory, env=None):
    programs(name, directory, "conformance", env)
    script(f"{name}, verbs", [sys.executable, os.path.join(ROOT, "tests", "conformance", "run.py"),
                              os.path.join(directory, "incore")], env)
    script(f"{name}, dumps", [sys.executable, os.path.join(ROOT, "tests", "conformance", "dump_facts.py"),
                              os.path.join(directory, "incore")], env)


def robust(name, directory, env=None):
    """Many random damages; the 100,000 waves are in bad-input."""
    script(name, [sys.executable, os.path.join(ROOT, "tests", "robust", "run.py"), os.path.join(directory, "incore")],
           {"ROBUST_WAVES": "2000", **(env or {})})


def tsan_build(*targets):
    return build("build clang tsan", TSAN, ["-Db_sanitize=thread", "-Db_lundef=false", "-Doptimization=1"], {"CC": "clang"}, targets)


def tsan_dump():
    """The threads of the dump library under ThreadSanitizer, in a build of its own."""
    if tsan_build("tests/unit/test_dump_threads"):
        programs("tsan dump", TSAN, "threads", {"TSAN_OPTIONS": "halt_on_error=1:exitcode=99"})


def tsan_serve():
    """The threads of the viewer's server, asked from all sides while it reads."""
    if tsan_build("incore"):
        python("tsan serve", "tests/serve/threads.py", "./build-tsan", env={"TSAN_OPTIONS": "exitcode=99"})


SUITES = {
    "layers": lambda: python("layers", "tools/check_layers.py"),
    "format": formatted,
    "build": lambda: build("build gcc", PLAIN, ["-Dwerror=true"], {"CC": "gcc"}),
    "house": lambda: python("house", "tools/check_house.py", "./build"),
    "unit": lambda: programs("unit", PLAIN, "unit"),
    "fuzz": lambda: programs("fuzz corpora", PLAIN, "fuzz"),
    "fixtures": lambda: python("fixtures", "tests/fixtures.py", "build/examples/make_capture",
                              "build/tests/sqtt/make_sqtt"),
    "ascend-fixtures": lambda: python("ascend fixtures", "tests/ascend_fixtures.py"),
    "insight": lambda: python("insight", "tests/insight_check.py", "--suite", "build/incore"),
    "insight-mutants": lambda: python("insight mutants", "tests/insight_mutants.py", "build/incore"),
    "clean-cases": lambda: python("clean cases", "tests/conformance/clean.py", "build/incore"),
    "pipes": lambda: python("pipes", "tests/conformance/pipes.py", "build/incore"),
    "golden": lambda: python("golden", "tests/golden/run.py", "./build"),
    "ui-unit": lambda: python("ui unit", "tests/ui_unit.py"),
    "ui": lambda: python("ui", "tests/ui_browser.py", "./build/incore"),
    "man": lambda: python("man examples", "tests/man_examples.py", "./build"),
    "schemas": lambda: python("schemas", "tests/schemas.py", "./build"),
    "bad-input": lambda: python("bad input", "tests/bad_input.py", "./build"),
    "opens": lambda: python("opens", "tests/opens/run.py", "./build"),
    "robust": lambda: robust("robust", PLAIN),
    "conformance": lambda: conformance("conformance", PLAIN),
    "dump-fixtures": lambda: python("dump fixtures", "tests/dump_fixtures.py", "build/examples/paged_attention"),
    "ascend-bad-input": lambda: python("ascend bad input", "tests/ascend_bad_input.py", "./build"),
    "ascend-reader": lambda: python("ascend reader", "tests/ascend_reader.py", "./build"),
    "dump-bad-input": lambda: python("dump bad input", "tests/dump_bad_input.py", "./build"),
    "dump-library": lambda: python("dump library", "tests/dump_library.py", "./build"),
    "dump-kill": lambda: python("dump kill", "tests/fault/dump_kill.py", "./build"),
    "model": lambda: python("model", "tests/model/run.py", "./build"),
    "profile": lambda: python("profile", "tests/profile/run.py", "./build"),
    "serve": lambda: python("serve", "tests/serve/run.py", "./build"),
    "serve-rules": lambda: python("serve rules", "tests/serve/rules.py", "./build"),
    "replay-msprof": lambda: python("replay msprof", "tests/replay/cann/run.py", "./build"),
    "replay": lambda: python("replay", "tests/replay/run.py", "./build"),
    "tsan-dump": tsan_dump,
    "tsan-serve": tsan_serve,
    "asan-build": lambda: build("build clang asan", ASAN, ["-Dwerror=true", "-Db_sanitize=address,undefined",
                                "-Db_lundef=false", "-Doptimization=1", "-Dfault=true"], {"CC": "clang"}),
    "asan-unit": lambda: programs("asan unit", ASAN, "unit", SANITIZED),
    "asan-fuzz": lambda: programs("asan fuzz corpora", ASAN, "fuzz", SANITIZED),
    "asan-golden": lambda: python("asan golden", "tests/golden/run.py", "./build-asan", env=SANITIZED),
    "asan-insight": lambda: python("asan insight", "tests/insight_check.py", "--suite", "build-asan/incore", env=SANITIZED),
    "asan-clean-cases": lambda: python("asan clean cases", "tests/conformance/clean.py", "build-asan/incore", env=SANITIZED),
    "asan-pipes": lambda: python("asan pipes", "tests/conformance/pipes.py", "build-asan/incore", env=SANITIZED),
    "asan-conformance": lambda: conformance("asan conformance", ASAN, SANITIZED),
    "asan-bad-input": lambda: python("asan bad input", "tests/bad_input.py", "./build-asan", "--no-scale", env=SANITIZED),
    "asan-ascend-bad-input": lambda: python("asan ascend bad input", "tests/ascend_bad_input.py", "./build-asan", env=SANITIZED),
    "asan-dump-bad-input": lambda: python("asan dump bad input", "tests/dump_bad_input.py", "./build-asan", "--no-scale",
                                          env=SANITIZED),
    "asan-model": lambda: python("asan model", "tests/model/run.py", "./build-asan", env=SANITIZED),
    "asan-replay-msprof": lambda: python("asan replay msprof", "tests/replay/cann/run.py", "./build-asan", env=SANITIZED),
    "asan-replay": lambda: python("asan replay", "tests/replay/run.py", "./build-asan", env=SANITIZED),
    "asan-robust": lambda: robust("asan robust", ASAN, SANITIZED),
    "asan-fault": lambda: python("asan fault", "tests/fault/run.py", "./build-asan", env=SANITIZED),
    "asan-serve": lambda: python("asan serve", "tests/serve/run.py", "./build-asan", env=SANITIZED),
    "asan-serve-rules": lambda: python("asan serve rules", "tests/serve/rules.py", "./build-asan", env=SANITIZED),
    "asan-ui": lambda: python("asan ui", "tests/ui_browser.py", "./build-asan/incore", *ASAN_UI, env=SANITIZED),
    "asan-dump-fault": lambda: python("asan dump fault", "tests/fault/dump_fault.py", "./build-asan", env=SANITIZED),
}


def main():
    os.chdir(ROOT)
    started = time.time()
    os.environ.setdefault("INCORE_SHARED", os.path.join(ROOT, "..", "shared"))
    wanted = sys.argv[1:] or list(SUITES)
    for name in wanted:
        if name not in SUITES:
            sys.exit(f"no suite {name}; there are {' '.join(SUITES)}")
        SUITES[name]()
    print(f"{time.time() - started:.0f} s")
    print(f"{TOTAL[0]} passed, {TOTAL[1]} failed, {TOTAL[2]} skipped")
    return TOTAL[1] > 0


if __name__ == "__main__":
    sys.exit(main())
