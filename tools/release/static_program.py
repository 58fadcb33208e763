# SPDX-License-Identifier: Apache-2.0
"""The static program, and what its user needs to link it again with other versions of the libraries inside (LGPL)."""
import os
import shlex
import shutil
import subprocess
import tempfile

import sbom
from portable import pack

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TARGET = "packaging/static/incore-static"

README = """How to link incore {version} again
==============================

incore is Apache-2.0. The program incore-{version}-linux-x86_64 has libraries inside that are under the GNU Lesser General Public License: {lesser}.
You may change them and link the program again. objects/ has all that is ours; ./relink writes ./incore from it and the .a files of the
Debian packages below, or of those that you put in their place (LDFLAGS=-L/your/folder ./relink).
With the packages below it gives the very bytes of the release.

The sources of all libraries inside are in Debian's archive, at https://snapshot.debian.org/package/SOURCE/VERSION/, and on a Debian 12 with
deb-src lines: apt-get source SOURCE=VERSION. If you cannot get them there, those who gave you the program give you a copy on request, for three years.
Licences are in licences/.

source and version                        licence                                      static library
"""
RELINK = """#!/bin/sh
# Links incore from objects/ and the static libraries of Debian 12.
set -eu
cd "$(dirname "$0")"
{command}
strip incore
"""


def _link_words(build):
    out = subprocess.run(["ninja", "-C", build, "-t", "commands", TARGET], check=True, capture_output=True, text=True).stdout
    return shlex.split(out.splitlines()[-1])


def _relinkable(build, folder):
    """Fills objects/ and gives the command that links them, in the order of the build: the same bytes come out."""
    objects = os.path.join(folder, "objects")
    os.makedirs(objects)
    words, copies = [], []
    for word in _link_words(build):
        if word.endswith(".o"):
            copies.append(shutil.copy(os.path.join(build, word), os.path.join(objects, f"{len(copies):03}-{os.path.basename(word)}")))
            words.append(os.path.relpath(copies[-1], folder))
        elif word == TARGET:
            words.append("incore")
        elif not word.startswith("-Wl,-Map"):
            words.append(word)
    subprocess.run(["strip", "--strip-debug", *copies], check=True)
    at = words.index("-Wl,--start-group")
    return " ".join([*map(shlex.quote, words[:at]), "${LDFLAGS-}", *map(shlex.quote, words[at:])])


def make(build, out, version):
    """Paths of the program and of the archive beside it."""
    subprocess.run(["ninja", "-C", build, "--quiet", TARGET], check=True, stdout=subprocess.DEVNULL)
    program = os.path.join(out, f"incore-{version}-linux-x86_64")
    shutil.copy(os.path.join(build, TARGET), program)
    subprocess.run(["strip", program], check=True)
    os.chmod(program, 0o755)
    with tempfile.TemporaryDirectory(prefix="incore-relink-") as work:
        folder = os.path.join(work, f"incore-{version}-relink")
        command = _relinkable(build, folder)
        with open(os.path.join(folder, "relink"), "w") as f:
            f.write(RELINK.format(command=command))
        os.chmod(f.name, 0o755)
        licences = os.path.join(folder, "licences")
        os.mkdir(licences)
        shutil.copy(os.path.join(ROOT, "LICENSE"), os.path.join(licences, "incore"))
        parts = sbom.linked_statically(build)
        lesser = sorted({p.source for p in parts if "LGPL" in p.licence})
        with open(os.path.join(folder, "README"), "w") as f:
            f.write(README.format(version=version, lesser=", ".join(lesser)))
            for p in parts:
                f.write(f"{p.source + ' ' + p.source_version:<41} {p.licence:<44} {p.name} {p.version}\n")
                shutil.copy(p.copyright, os.path.join(licences, p.name))
        for place, folders, names in os.walk(folder):
            for name in names:
                path = os.path.join(place, name)
                os.chmod(path, 0o755 if name == "relink" else 0o644)
        archive = os.path.join(out, f"incore-{version}-relink.tar.gz")
        pack(folder, archive)
    return [program, archive]
