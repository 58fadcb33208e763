#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One folder, and one tar of it, that runs on another Linux of the same processor with glibc 2.36 or later: the program, the
libraries it needs beyond the C library beside it (found by $ORIGIN, with their licences), machine profiles, recorder, man pages.

usage: portable.py BUILD_DIR OUT_DIR      prints the folder and the tar
"""
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile

# The C library is the machine's own: it and its loader must fit each other and the kernel.
OF_THE_MACHINE = re.compile(r"^(ld-linux.*|linux-vdso|lib(c|m|dl|rt|pthread|resolv|util|anl|nsl|mvec)\.so)")


def text(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout


def needed(program):
    """{name: path} of all shared libraries, those of libraries too, that the machine's C library does not bring."""
    found = {}
    for line in text("ldd", program).splitlines():
        m = re.match(r"\s*(\S+) => (/\S+)", line)
        if "not found" in line:
            sys.exit(f"portable.py: {program}: {line.strip()}")
        if m and not OF_THE_MACHINE.match(m[1]):
            found[m[1]] = os.path.realpath(m[2])
    return found


def licence_of(library):
    """The copyright file of the Debian package that a library came with; None where there is no such package."""
    for path in (library, library.replace("/usr/lib/", "/lib/", 1)):
        p = subprocess.run(["dpkg-query", "-S", path], capture_output=True, text=True)
        if p.returncode == 0:
            package = p.stdout.split(":")[0]
            copyright = f"/usr/share/doc/{package}/copyright"
            return (package, copyright) if os.path.exists(copyright) else None
    return None


def fill(build, folder):
    """Lays out what is installed, takes the debug symbols off, and puts the libraries beside it."""
    stage = folder + ".stage"
    shutil.rmtree(stage, ignore_errors=True)
    subprocess.run(["meson", "install", "--no-rebuild", "--quiet", "--strip", "-C", build, "--destdir", os.path.abspath(stage)], check=True,
                   stdout=subprocess.DEVNULL)
    prefix = {o["name"]: o["value"] for o in json.loads(text("meson", "introspect", "--buildoptions", build))}["prefix"]
    shutil.rmtree(folder, ignore_errors=True)
    shutil.move(stage + prefix, folder)
    shutil.rmtree(stage)
    beside = os.path.join(folder, "lib", "incore")
    os.makedirs(beside, exist_ok=True)
    program = os.path.join(folder, "bin", "incore")
    licences = os.path.join(folder, "share", "doc", "incore", "licences")
    os.makedirs(licences, exist_ok=True)
    for name, path in sorted(needed(program).items()):
        copy = os.path.join(beside, name)
        shutil.copy(path, copy)
        os.chmod(copy, 0o755)
        subprocess.run(["patchelf", "--set-rpath", "$ORIGIN", copy], check=True)
        licence = licence_of(path)
        if licence:
            shutil.copy(licence[1], os.path.join(licences, licence[0]))
    ours = [program]
    for place, _, names in os.walk(os.path.join(folder, "lib")):
        ours += [os.path.join(place, n) for n in sorted(names) if place != beside and re.search(r"\.so(\.|$)", n)]
    for path in ours:
        if not os.path.islink(path):
            subprocess.run(["patchelf", "--set-rpath", "$ORIGIN/" + os.path.relpath(beside, os.path.dirname(path)), path], check=True)


def pack(folder, tar):
    """The same bytes for the same files: sorted names, no owner, one time."""
    def plain(entry):
        entry.uid = entry.gid = entry.mtime = 0
        entry.uname = entry.gname = ""
        return entry

    with open(tar + ".part", "wb") as raw, gzip.GzipFile("", "wb", 6, raw, 0) as packed, tarfile.open(None, "w", packed) as out:
        base = os.path.dirname(folder)
        for place, folders, names in os.walk(folder):
            folders.sort()
            for path in [place, *(os.path.join(place, n) for n in sorted(names))]:
                out.add(path, os.path.relpath(path, base), recursive=False, filter=plain)
    os.replace(tar + ".part", tar)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    build, out = sys.argv[1:]
    version = json.loads(text("meson", "introspect", "--projectinfo", build))["version"]
    folder = os.path.join(out, f"incore-{version}-linux-{os.uname().machine}")
    os.makedirs(out, exist_ok=True)
    fill(build, folder)
    pack(folder, folder + ".tar.gz")
    print(folder)
    print(folder + ".tar.gz")


if __name__ == "__main__":
    main()
