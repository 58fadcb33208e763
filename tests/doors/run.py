#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a link in a folder of captures lead anywhere that nobody named? At every door that reads for others: the viewer and its server, the
report, the store, a sweep, the library. (That of agents is tests/mcp.)

usage: run.py BUILD_DIR
"""
import contextlib
import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path[:0] = [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), d) for d in ("", "serve")]
import links  # noqa: E402
from server import PROGRAM, Server, check, tell  # noqa: E402

BUILD = os.path.abspath(sys.argv[1])


def run(*words, cwd):
    return subprocess.run([PROGRAM, *words], cwd=cwd, capture_output=True, text=True, timeout=300)


def view(path, cwd, *more):
    p = run("view", "--no-cache", "--get", "/api/1/info", *more, path, cwd=cwd)
    return p.stdout if p.returncode == 0 else ""


def report(path, cwd, *more):
    with tempfile.TemporaryDirectory() as made:
        out = os.path.join(made, "report.md")
        run("report", "--format=md", "-o", out, *more, path, cwd=cwd)
        return read(out)


def store(path, cwd, *more):
    with tempfile.TemporaryDirectory() as made:
        return run("store", "add", "--store", os.path.join(made, "db"), "--json", *more, path, cwd=cwd).stdout


def read(path):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as f:
        return f.read()


class Library:
    """The library in this process: it has no option to follow links but the question's own."""

    def __init__(self):
        lib = self.lib = ctypes.CDLL(os.path.join(BUILD, "src", "lib", "libincore.so.0"))
        for name in ("incore_new", "incore_ask"):
            getattr(lib, name).restype = ctypes.c_void_p
        lib.incore_answer_json.restype = ctypes.c_char_p
        self.error = ctypes.create_string_buffer(256)  # more than an incore_error has
        self.incore = ctypes.c_void_p(lib.incore_new(1, self.error))

    def __call__(self, path, cwd, *more):
        with contextlib.chdir(cwd) if hasattr(contextlib, "chdir") else moved(cwd):
            answer = self.lib.incore_ask(self.incore, b"info", path.encode(), b'{"follow-links":true}' if more else None, self.error)
        if not answer:
            self.lib.incore_error_clear(self.error)
            return ""
        text = self.lib.incore_answer_json(ctypes.c_void_p(answer), None, self.error).decode()
        self.lib.incore_answer_free(ctypes.c_void_p(answer))
        return text


@contextlib.contextmanager
def moved(cwd):
    before = os.getcwd()
    os.chdir(cwd)
    try:
        yield
    finally:
        os.chdir(before)


def kernels(text):
    return {k for k in (links.INSIDE, *links.OUTSIDE, "mufu_bound") if re.search(rf"\b{k}\b", text)}


def still(name, door, root):
    for path, expected in (("own", {links.INSIDE}), ("inner", {links.INSIDE}), ("files", {"mufu_bound"}), ("files/same.incore", {"mufu_bound"}), (".", {links.INSIDE}),
                           (root, {links.INSIDE}), ("mix", set()), ("made", set()), ("made/OPPROF_1", set()), ("made/ui_output_agent_1_dispatch_9", set()),
                           # who names a link means it
                           ("mix/X", {"add_one"}), (f"mix/Y/{links.CAPTURE}", {"add_one"}), ("files/link.incore", {"fma_chain"})):
        got = kernels(door(path, root))
        check(got == expected, f"{name} {path}: {got}, not {expected}")
    check(kernels(door("mix", root, "--follow-links")) == {"add_one"}, f"{name} --follow-links mix")


def swapped(name, door, root):
    """mix/own and a link to what lies outside change places while the folder is read."""
    seen = set()
    with links.swapping(os.path.join(root, "mix", "own"), os.path.join(root, "mix", "X")):
        for _ in range(6):
            seen |= kernels(door("mix", root))
    check(seen <= {links.INSIDE}, f"{name} while names are swapped: {seen}")


def served(root):
    """A server that runs."""
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        s = Server("--no-cache", os.path.join(root, "files"))
        while not s.is_ready():
            pass
        got = set()
        for question in ("info", "check", "trace", "summary"):
            got |= kernels(s.ask(f"/api/1/{question}")[1].decode())
        check(got == {"mufu_bound"}, f"served: {got}")
        for path in ("/api/1/info?path=/etc/passwd", "/api/1/diff?noise=/etc/passwd", "/../../etc/passwd", "/api/1/info?code=/etc/passwd"):
            check(s.ask(path)[0] >= 400, f"{path} is answered")
        s.end()


# --- a sweep: what the command of a task left ---

PLAN = """name: doors
repeats: 1
retries: 0
shell: |
  cp -r '{root}/own' "$OUT/c"; ln -s '{outside}/other' "$OUT/x"; ln -s '{outside}/fma_chain.incore' "$OUT/l.incore"; ln -s '{outside}' "$OUT/d"; ln -s "$OUT/c" "$OUT/same"; {more}
env:
  OUT: '{{out}}'
"""


def sweep(tmp, root, outside, name, tail, more="true"):
    with open(os.path.join(tmp, f"{name}.yaml"), "w", encoding="utf-8") as f:
        f.write(PLAN.format(root=root, outside=outside, more=more) + tail)
    env = {**os.environ, "INCORE_LEASES": tmp, "XDG_CACHE_HOME": tmp}
    p = subprocess.run([PROGRAM, "sweep", f"{name}.yaml", "-o", name], cwd=tmp, env=env, capture_output=True, text=True, timeout=300)
    results = [os.path.join(at, "result.json") for at, _, files in os.walk(os.path.join(tmp, name)) if "result.json" in files]
    return p, results


def sweeps(tmp, root, outside):
    p, at = sweep(tmp, root, outside, "all", "captures: ['{out}/[cdsx]*']\noutputs: ['{out}/c/*/*.json', '{out}/same']\n")
    check(p.returncode == 0 and len(at) == 1, f"a sweep with links: {p.returncode} {p.stderr}")
    result = json.loads(read(at[0])) if at else {"captures": [], "outputs": []}
    out = os.path.dirname(at[0])
    check({os.path.basename(c["path"]) for c in result["captures"]} <= {"c", "same"} and result["captures"], f"captures of a task: {result['captures']}")
    check(result["outputs"] and not kernels(json.dumps([result["captures"], result["outputs"]])) & set(links.OUTSIDE), f"outputs of a task: {result}")
    for pattern in ("captures: ['{out}/d/*']", "captures: ['{out}/x']", "captures: ['{out}/l.incore']", "outputs: ['{out}/d/fma_chain.incore']", "outputs: ['{out}/l.inc*']",
                    f"outputs: ['{outside}/../root/mix/*/{links.CAPTURE}']"):
        name = f"no{len(os.listdir(tmp))}"  # a new one each time
        p, there = sweep(tmp, root, outside, name, pattern + "\n")
        how = json.loads(read(there[0])) if there else {}
        check(how.get("outcome") == "no-output", f"{pattern}: {how.get('outcome')} {how.get('how')} {p.stderr}")
    # an outcome that the task wrote elsewhere is none
    shutil.copy(at[0], os.path.join(outside, "result.json"))
    p, _ = sweep(tmp, root, outside, "told", "outputs: ['{out}/c']\n", f'ln -s {outside}/result.json "$OUT/result.json"')
    check(p.returncode != 0 and "leads out" in p.stderr, f"a result that is a link: {p.returncode} {p.stderr}")
    # what is added to a store afterwards
    db = os.path.join(tmp, "db")
    with links.swapping(os.path.join(out, "c"), os.path.join(out, "x")):
        added = "".join(run("store", "add", "--store", db, "--json", "--sweep", "all", cwd=tmp).stdout for _ in range(6))
    check(not kernels(added) & set(links.OUTSIDE), f"a sweep's captures while names are swapped: {kernels(added)}")
    shutil.rmtree(os.path.join(out, "c")) if not os.path.islink(os.path.join(out, "c")) else os.unlink(os.path.join(out, "c"))
    os.symlink(os.path.join(outside, "other"), os.path.join(out, "c"))
    p = run("store", "add", "--store", db, "--json", "--sweep", "all", cwd=tmp)
    check(p.returncode != 0 and "add_one" not in p.stdout, f"a capture of a sweep that became a link: {p.returncode} {p.stdout}")


def main():
    doors = {"view": view, "report": report, "store add": store, "library": Library()}
    with tempfile.TemporaryDirectory(prefix="incore-doors-") as tmp:
        root, outside = links.make(tmp)
        for name, door in doors.items():
            still(name, door, root)
        served(root)
        sweeps(tmp, root, outside)
        os.rename(os.path.join(root, "own"), os.path.join(root, "mix", "own"))
        for name, door in doors.items():
            swapped(name, door, root)
    return tell()


if __name__ == "__main__":
    sys.exit(main())
