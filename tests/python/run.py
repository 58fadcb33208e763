#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package: its tests (pytest) on the package of the build; then the wheel, installed into an empty environment without a network,
gives the same figures, has the program and its page, and is the same bytes twice.

usage: run.py BUILD_DIR
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DATA = os.path.join(ROOT, "tests", "data")
COUNTS = {"passed": 0, "failed": 0, "skipped": 0}


def check(ok, what):
    COUNTS["passed" if ok else "failed"] += 1
    if not ok:
        print(f"FAIL {what}")


def call(words, **more):
    return subprocess.run(words, capture_output=True, text=True, **more)


def package(build):
    env = {**os.environ, "INCORE_BUILD": build, "INCORE_LIBRARY": os.path.join(build, "src", "lib", "libincore.so.0"),
           "PYTHONPATH": os.path.join(build, "python"), "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "200"}
    p = call([sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", HERE], env=env, cwd=ROOT)
    for n, word in re.findall(r"(\d+) (passed|failed|skipped|error)", p.stdout.splitlines()[-1] if p.stdout else ""):
        COUNTS["failed" if word == "error" else word] += int(n)
    if p.returncode or not COUNTS["passed"]:
        print(p.stdout[-8000:], p.stderr[-2000:])
        COUNTS["failed"] += not COUNTS["failed"]


def wheel(build, tmp):
    made = []
    for n in ("a", "b"):
        p = call([sys.executable, os.path.join(ROOT, "tools", "wheel_backend.py"), build, os.path.join(tmp, n)])
        check(p.returncode == 0, "the wheel: " + p.stderr)
        made.append(p.stdout.strip())
    with open(made[0], "rb") as a, open(made[1], "rb") as b:
        check(a.read() == b.read(), "two wheels differ")
    check(os.path.getsize(made[0]) < 15_000_000, f"the wheel has {os.path.getsize(made[0])} bytes")
    empty = os.path.join(tmp, "venv")
    check(call([sys.executable, "-m", "venv", empty]).returncode == 0, "no empty environment")
    env = {"PATH": "/usr/bin:/bin", "HOME": tmp, "LC_ALL": "C.UTF-8"}
    p = call([os.path.join(empty, "bin", "pip"), "install", "--no-index", "--disable-pip-version-check", made[0]], env=env)
    check(p.returncode == 0, "pip: " + p.stdout + p.stderr)
    code = ("import incore, json, os; a = incore.open('gemm').hot(top=3); print(json.dumps([a.json, incore.__file__, incore.version()]));"
            " print(open('/proc/self/maps').read())")
    p = call([os.path.join(empty, "bin", "python"), "-c", code], env=env, cwd=DATA)
    check(p.returncode == 0, "import incore: " + p.stderr)
    told, _, maps = p.stdout.partition("\n")
    answer, place, _version = json.loads(told or "[0, 0, 0]")
    own = call([os.path.join(build, "incore"), "hot", "--json", "--top", "3", "gemm"], cwd=DATA)
    check(answer == json.loads(own.stdout), "the wheel's figures are not the program's")
    check(str(place).startswith(empty) and f"{empty}/lib" in maps, "the package is not the wheel's")
    check(not re.search(r"/usr/lib/\S*(zstd|yaml|dw-|microhttpd)", maps), "libraries of the system")
    program = os.path.join(empty, "bin", "incore")
    check(call([program, "hot", "--json", "--top", "3", "gemm"], cwd=DATA, env=env).stdout == own.stdout, "the wheel's program")
    check("<!doctype html>" in call([program, "report", "-o", "-", "gemm"], cwd=DATA, env=env).stdout[:100].lower(), "the page")


def sdist(tmp):
    code = f"import sys; sys.path.insert(0, {os.path.join(ROOT, 'tools')!r}); import wheel_backend; print(wheel_backend.build_sdist({tmp!r}))"
    names = [call([sys.executable, "-c", code]).stdout.strip() for _ in range(2)]
    listed = call(["tar", "tzf", os.path.join(tmp, names[0])]).stdout.split()
    base = names[0][:-len(".tar.gz")]
    for name in ("PKG-INFO", "pyproject.toml", "meson.build", "python/incore/__init__.py", "src/lib/incore.c", "tools/wheel_backend.py", "LICENSE"):
        check(f"{base}/{name}" in listed, f"the sdist lacks {name}")


def main():
    build = os.path.abspath(sys.argv[1])
    package(build)
    with tempfile.TemporaryDirectory(prefix="incore-wheel-") as tmp:
        wheel(build, tmp)
        sdist(tmp)
    print(f"{COUNTS['passed']} passed, {COUNTS['failed']} failed, {COUNTS['skipped']} skipped")
    return COUNTS["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
