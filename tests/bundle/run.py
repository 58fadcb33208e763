#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the folder of `make bundle` run where nothing of ours is installed? Unpacked elsewhere it takes every library but the C
library from itself, finds its profiles, and answers as the program it was made from; also in a root that holds the C library and
nothing else. Made twice, it has the same bytes.

usage: run.py BUILD_DIR
"""
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "release"))
from chroot import OWN, why_not  # noqa: E402

DATA = os.path.join(ROOT, "tests", "data")
ASKED = {
    "hot": ["hot", "--json", "two_waves"], "summary": ["summary", "gemm"], "raw": ["isa", "sqtt_gfx12"],
    "waves": ["waves", "--json", "repeated"], "report of ncu": ["hot", "ncu/kernel.ncu-rep"],
}
BESIDE = {"profiles": ["model", "ops"], "page": ["report", "-o", "-", "two_waves"]}  # these look beside the program, through /proc


def run(words, **more):
    more.setdefault("env", {"LC_ALL": "C.UTF-8", "INCORE_DISASM": "none"})
    p = subprocess.run(words, capture_output=True, **more)
    return p.returncode, p.stdout, p.stderr


def libraries(program):
    """{name: path} as the loader finds them."""
    out = run([program], env={"LD_TRACE_LOADED_OBJECTS": "1"})[1].decode()
    return dict(re.findall(r"(\S+) => (/\S+)", out))


def empty_root(root, unpacked, found):
    """The loader, the C library and the folder; nothing else."""
    loader = re.search(rb"/lib64/ld-linux[^\0]*", open(os.path.join(unpacked, "bin", "incore"), "rb").read())[0].decode()
    for path in [loader, *(p for p in found.values() if not p.startswith(unpacked))]:
        to = os.path.join(root, path.lstrip("/"))
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copy(os.path.realpath(path), to)
    shutil.copytree(unpacked, os.path.join(root, "incore"))
    for name in {w.split("/")[0] for words in ASKED.values() for w in words if os.path.exists(os.path.join(DATA, w))}:
        shutil.copytree(os.path.join(DATA, name), os.path.join(root, "data", name))
    for name in ("tmp", "proc"):
        os.mkdir(os.path.join(root, name))


def main():
    build, failed, passed, skipped = os.path.abspath(sys.argv[1]), [], 0, 0

    def same(what, got, want):
        nonlocal passed
        passed += got == want
        if got != want:
            failed.append(f"FAIL {what}: {str(got)[:400]}, not {str(want)[:400]}")

    with tempfile.TemporaryDirectory(prefix="incore-bundle-") as tmp:
        tars = []
        for n in ("a", "b"):
            made = subprocess.run([sys.executable, os.path.join(ROOT, "tools", "portable.py"), build, os.path.join(tmp, n)], check=True,
                                  stdout=subprocess.PIPE, text=True).stdout.split()
            tars.append(open(made[1], "rb").read())
        same("bytes of two bundles", tars[0] == tars[1], True)
        with tarfile.open(made[1]) as t:
            t.extractall(os.path.join(tmp, "moved"))
        unpacked = os.path.join(tmp, "moved", os.path.basename(made[0]))
        shutil.rmtree(os.path.join(tmp, "a"))
        shutil.rmtree(os.path.join(tmp, "b"))
        program, own = os.path.join(unpacked, "bin", "incore"), os.path.join(build, "incore")
        found = libraries(program)
        outside = [n for n, p in found.items() if not os.path.realpath(p).startswith(os.path.realpath(unpacked))]
        same("libraries of the machine", [n for n in outside if not re.match(r"lib(c|m|dl|rt|pthread|resolv)\.so", n)], [])
        same("libraries of its own", len(found) - len(outside) > 5, True)
        same("licences", os.path.exists(os.path.join(unpacked, "share", "doc", "incore", "licences", "libzstd1")), True)
        for name, words in {**ASKED, **BESIDE}.items():
            wanted = run([own, *words], cwd=DATA)
            same(name + " is answered", wanted[0], 0)
            same(name + " from another place", run([program, *words], cwd=DATA), wanted)
        root = os.path.join(tmp, "root")
        empty_root(root, unpacked, found)
        why = why_not()
        if why:
            print(f"SKIP an empty root: {why}")
            skipped = 1
        else:
            # The loader learns from /proc where a program lies.
            enter = [*OWN, "sh", "-c", 'mount --rbind /proc "$0/proc" && exec chroot "$0" "$@"', root]
            first = run([*enter, "/incore/bin/incore", "--version"], env={"PATH": os.environ["PATH"]})
            same("starts in an empty root", first[0::2], (0, b""))
            for name, words in ASKED.items():
                there = [os.path.join("/data", w) if os.path.exists(os.path.join(DATA, w)) else w for w in words]
                rc, out, _ = run([*enter, "/incore/bin/incore", *there],
                                 env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "INCORE_DISASM": "none"})
                same(name + " in an empty root", (rc, out.replace(b"/data/", b"")), run([own, *words], cwd=DATA)[:2])
    print("\n".join(failed))
    print(f"{passed} passed, {len(failed)} failed, {skipped} skipped")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
