# SPDX-License-Identifier: Apache-2.0
"""All files of a release, in one folder, from one build.

usage: release [--from BUILD] [--only KIND,...] [--build-in DIR] OUT

  --from BUILD     take the build that is there (quick: it is linked once more, installed and packed); else the sources are built as a
                   release, in --build-in (build-release)
  --only KIND,...  of static, debs, wheel, sbom, sums: those alone, in that order

static: the program with all its libraries inside, and what relinks it. debs: packages for Debian 12. wheel: the Python package.
sbom: an SPDX document of what is in the files that are there. sums: SHA256SUMS of them.
The same sources give the same bytes, in whatever folder: times are those of the commit (SOURCE_DATE_EPOCH).
"""
import argparse
import hashlib
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import debs  # noqa: E402
import sbom  # noqa: E402
import static_program  # noqa: E402
import wheel_backend  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(HERE))
HARDENED = ["-fstack-protector-strong", "-D_FORTIFY_SOURCE=2"]


def source_date():
    """Seconds: as given, of the commit, or of the packages' changelog where there is no repository."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return given
    if os.path.exists(os.path.join(ROOT, ".git")):
        return subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    return subprocess.run(["dpkg-parsechangelog", "-S", "Timestamp"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def commit():
    """As given, of the repository (with a + where files differ from it), or unknown."""
    if "INCORE_COMMIT" in os.environ or not os.path.exists(os.path.join(ROOT, ".git")):
        return os.environ.get("INCORE_COMMIT", "")
    name = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    changes = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return name + ("+" if changes else "")


def build(folder):
    """Names of files are told from the root of the sources, so that nothing says where that was."""
    if os.path.exists(os.path.join(folder, "build.ninja")):
        subprocess.run(["meson", "configure", folder, "-Dcommit=" + commit()], check=True, stdout=subprocess.DEVNULL)
    else:
        mapped = [f"-ffile-prefix-map={ROOT}=.", f"-ffile-prefix-map={os.path.relpath(ROOT, folder)}=."]
        subprocess.run(["meson", "setup", folder, ROOT, "--buildtype=release", "--prefix=/usr", "-Dtests=false", "-Dwerror=true", "-Dcommit=" + commit(),
                        f"-Dc_args={[*HARDENED, *mapped]}", "-Dc_link_args=['-Wl,-z,relro', '-Wl,-z,now']"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", folder, "--quiet"], check=True, stdout=sys.stderr)


def wheel(folder, out):
    name = wheel_backend.make_wheel(folder, out)
    return [os.path.join(out, name)]


def sums(out):
    path = os.path.join(out, "SHA256SUMS")
    names = sorted(n for n in os.listdir(out) if n != "SHA256SUMS")
    with open(path, "w") as f:
        for name in names:
            with open(os.path.join(out, name), "rb") as one:
                f.write(f"{hashlib.sha256(one.read()).hexdigest()}  {name}\n")
    return [path]


def main():
    kinds = {"static": lambda: static_program.make(folder, out, version), "debs": lambda: debs.make(folder, out),
             "wheel": lambda: wheel(folder, out), "sbom": lambda: sbom.make(folder, out, version), "sums": lambda: sums(out)}
    p = argparse.ArgumentParser(prog="release", usage="release [--from BUILD] [--only KIND,...] [--build-in DIR] OUT", add_help=False)
    p.add_argument("--from", dest="build")
    p.add_argument("--only", default=",".join(kinds))
    p.add_argument("--build-in", default=os.path.join(ROOT, "build-release"))
    p.add_argument("out")
    if "--help" in sys.argv or "-h" in sys.argv:
        sys.exit(print(__doc__.strip()))
    a = p.parse_args()
    unknown = set(a.only.split(",")) - set(kinds)
    if unknown:
        p.error(f"there is no kind {', '.join(sorted(unknown))}; kinds are {', '.join(kinds)}")
    out, folder, version = os.path.abspath(a.out), os.path.abspath(a.build or a.build_in), wheel_backend.version()
    os.environ["SOURCE_DATE_EPOCH"] = source_date()
    os.umask(0o022)
    if not a.build:
        build(folder)
        shutil.rmtree(out, ignore_errors=True)  # sums are of what this run made
    os.makedirs(out, exist_ok=True)
    for kind, make in kinds.items():
        if kind in a.only.split(","):
            for path in make():
                print(path)


if __name__ == "__main__":
    main()
