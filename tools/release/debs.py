# SPDX-License-Identifier: Apache-2.0
"""The Debian packages of debian/, packed from a build that is there."""
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _as_debian_looks(lib):
    """Debian's python finds a package in one folder; the build was for the python that stood first in PATH."""
    (there,) = glob.glob(os.path.join(lib, "python3*", "*-packages"))
    wanted = os.path.join(lib, "python3", "dist-packages")
    if there != wanted:
        os.renames(there, wanted)


def stage(build, folder):
    """What the build installs, as if its prefix were /usr."""
    prefix = {o["name"]: o["value"] for o in json.loads(subprocess.run(["meson", "introspect", "--buildoptions", build], check=True,
                                                                       capture_output=True).stdout)}["prefix"]
    subprocess.run(["meson", "install", "--no-rebuild", "--quiet", "--strip", "-C", build, "--destdir", folder], check=True, stdout=subprocess.DEVNULL)
    if prefix != "/usr":
        moved = folder + ".moved"
        shutil.move(folder + prefix, moved)
        shutil.rmtree(folder)
        os.mkdir(folder)
        shutil.move(moved, os.path.join(folder, "usr"))
    _as_debian_looks(os.path.join(folder, "usr", "lib"))
    for path in glob.glob(os.path.join(folder, "usr/lib/*/pkgconfig/*.pc")):
        with open(path) as f:
            text = re.sub(r"^prefix=.*", "prefix=/usr", f.read(), flags=re.M)
        with open(path, "w") as f:
            f.write(text)


def make(build, out):
    """Paths of the packages."""
    with tempfile.TemporaryDirectory(prefix="incore-debs-") as work:
        stage(build, os.path.join(work, "stage"))
        sources = os.path.join(work, "incore")  # dh works, and leaves its traces, where debian/ is
        shutil.copytree(os.path.join(ROOT, "debian"), os.path.join(sources, "debian"))
        shutil.copy(os.path.join(ROOT, "CHANGELOG.md"), sources)
        p = subprocess.run(["debian/rules", "binary"], cwd=sources, env={**os.environ, "INCORE_STAGE": os.path.join(work, "stage"), "LC_ALL": "C.UTF-8"},
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if p.returncode:
            raise SystemExit(f"debian/rules binary: exit status {p.returncode}\n{p.stdout}")
        made = sorted(glob.glob(os.path.join(work, "*.deb")))
        return [shutil.move(path, os.path.join(out, os.path.basename(path))) for path in made]
