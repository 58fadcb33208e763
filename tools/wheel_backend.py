#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The wheel and the sdist of incore, as pip asks for them (PEP 517), and by hand.

usage: wheel_backend.py BUILD_DIR OUT_DIR      the wheel of a build that is there; prints its path

A wheel carries the package and, inside it, the folder of tools/portable.py: the program with its page, libincore.so and the libraries
that both need. It needs nothing at run time but Python 3.8 and glibc 2.36. The same files give the same bytes.
"""
import base64
import csv
import gzip
import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, HERE)
TAG = "py3-none-manylinux_2_36_x86_64"
# Of the bundle: what runs. Headers, pkg-config files and the dump library are for those who build.
CARRIED = re.compile(r"(bin/incore|lib/incore/.*|lib/([^/]+/)?libincore\.so\.0|share/incore/.*|share/doc/.*)")


def version():
    with open(os.path.join(ROOT, "meson.build")) as f:
        return re.search(r"version: '([^']+)'", f.read())[1]


def metadata():
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
        readme = f.read()
    return (f"Metadata-Version: 2.1\nName: incore\nVersion: {version()}\nSummary: Which instruction of an accelerator kernel is waiting, and for what\n"
            f"License: Apache-2.0\nRequires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n{readme}")


def files_of(folder, under=""):
    """(name, path) of all files, sorted."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(place, name)
            yield os.path.join(under, os.path.relpath(path, folder)), path


def carried(bundle):
    """Of the links of a library that one which the loader asks for, as a file: archives of Python have no links."""
    for name, path in files_of(bundle):
        if CARRIED.fullmatch(name):
            yield "incore/bundle/" + name, os.path.realpath(path)


class Wheel:
    def __init__(self, path):
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.records = []

    def add(self, name, content, is_program=False):
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        entry.external_attr = (0o100755 if is_program else 0o100644) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.records.append((name, f"sha256={digest}", len(content)))

    def close(self, info):
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([*self.records, (f"{info}/RECORD", "", "")])
        self.add(f"{info}/RECORD", out.getvalue().encode())
        self.zip.close()


def read(path):
    with open(path, "rb") as f:
        return f.read()


def make_wheel(build, out):
    import portable
    info = f"incore-{version()}.dist-info"
    name = f"incore-{version()}-{TAG}.whl"
    with tempfile.TemporaryDirectory() as work:
        bundle = os.path.join(work, "bundle")
        portable.fill(build, bundle)
        wheel = Wheel(os.path.join(out, name))
        for member, path in files_of(os.path.join(build, "python")):
            if member.endswith((".py", "py.typed")):
                wheel.add(member, read(path))
        for member, path in carried(bundle):
            wheel.add(member, read(path), "/bin/" in member or ".so" in member)
    wheel.add(f"{info}/METADATA", metadata().encode())
    wheel.add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: incore\nRoot-Is-Purelib: false\nTag: {TAG}\n".encode())
    wheel.add(f"{info}/entry_points.txt", b"[console_scripts]\nincore = incore_command:main\n")
    wheel.add(f"{info}/licenses/LICENSE", read(os.path.join(ROOT, "LICENSE")))
    wheel.close(info)
    return name


# --- PEP 517 ---

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(["meson", "setup", work, "--buildtype=release", "-Dtests=false", "--prefix=/usr/local"], cwd=ROOT, check=True, stdout=sys.stderr)
        subprocess.run(["ninja", "-C", work, "--quiet"], check=True, stdout=sys.stderr)
        return make_wheel(work, wheel_directory)


def sources():
    """What git has, or, inside an unpacked sdist, all that is there."""
    if os.path.exists(os.path.join(ROOT, ".git")):
        names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
        return sorted(n for n in names.decode().split("\0") if n and os.path.exists(os.path.join(ROOT, n)))
    return sorted(name for name, _ in files_of(ROOT) if name != "PKG-INFO" and not name.startswith("build"))


def build_sdist(sdist_directory, config_settings=None):
    base = f"incore-{version()}"
    path = os.path.join(sdist_directory, base + ".tar.gz")

    def plain(entry):
        entry.uid = entry.gid = entry.mtime = 0
        entry.uname = entry.gname = ""
        return entry

    with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as packed, tarfile.open(None, "w", packed) as out:
        about = metadata().encode()
        entry = tarfile.TarInfo(f"{base}/PKG-INFO")
        entry.size = len(about)
        out.addfile(entry, io.BytesIO(about))
        for name in sources():
            if not name.startswith("tests/"):  # an sdist builds; tests are for the repository
                out.add(os.path.join(ROOT, name), f"{base}/{name}", recursive=False, filter=plain)
    return os.path.basename(path)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    os.makedirs(sys.argv[2], exist_ok=True)
    print(os.path.join(sys.argv[2], make_wheel(sys.argv[1], sys.argv[2])))


if __name__ == "__main__":
    main()
