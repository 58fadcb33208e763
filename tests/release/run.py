#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is a release what it says? The static program answers in an empty root as the program of the build does, and its objects link to the
same bytes again; packages are as Debian wants them, are installed, used and removed in a clean root; checksums and the
list of parts are true.

usage: run.py BUILD_DIR [--whole]       leaves the files in BUILD_DIR/release, for suites that install them

--whole (make soak) builds the release itself, from two folders: every file has the same bytes; its roots are made by mmdebstrap.
"""
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from chroot import Root, why_not  # noqa: E402
from spdx import complaints  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(HERE))
DATA = os.path.join(ROOT, "tests", "data")
CAPTURES = ["gemm", "sqtt_gfx12", "model", "ncu"]
ASKED = {
    "summary": ["summary", "gemm"], "hot": ["hot", "--json", "gemm"], "raw": ["isa", "sqtt_gfx12"], "ncu": ["hot", "ncu/kernel.ncu-rep"],
    "SQL": ["sql", "gemm", "-q", "select count(*) from slices"], "viewer": ["view", "--get", "/api/1/trace", "gemm"], "page": ["report", "-o", "-", "gemm"],
    "man page": ["--man", "hot"], "profiles": ["model", "time", "--json", "model/attention.jsonl"], "help": ["help", "hot"],
}
ENV = {"INCORE_DISASM": "none", "LC_ALL": "C.UTF-8", "HOME": "/root"}
PACKAGES = ["incore", "libincore-dev", "libincore-dump0", "libincore0", "python3-incore"]
MIB = 1 << 20
passed, failed, skipped = 0, [], 0


def same(what, got, want):
    global passed
    passed += got == want
    if got != want:
        failed.append(f"FAIL {what}: {str(got)[:600]}, not {str(want)[:600]}")


def skip(why):
    global skipped
    skipped += 1
    print(f"SKIP {why}")


def run(words, **more):
    return subprocess.run(words, capture_output=True, text=True, **more)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def make(words, out):
    p = run([sys.executable, os.path.join(ROOT, "tools", "release"), *words, out])
    same("tools/release " + " ".join(words), (p.returncode, p.stderr[-2000:] if p.returncode else ""), (0, ""))


# --- the static program ---

def answers(result):
    """Without what says where it ran."""
    return result.returncode, re.sub(r"\(built in\)/|/[^ \"]*/profiles/", "", result.stdout)


def check_static(program, own):
    same("size of the static program is below 15 MB", os.path.getsize(program) < 15e6, True)
    same("libraries it needs", re.findall(r"NEEDED|INTERP", run(["readelf", "-dl", program]).stdout), [])
    if why_not():
        skip("an empty root: " + why_not())
        return
    with Root.empty() as root:
        root.copy(program)
        for name in CAPTURES:
            root.copy(os.path.join(DATA, name))
        for name, words in ASKED.items():
            wanted = run([own, *words], cwd=DATA, env={**os.environ, **ENV})
            same(f"{name} is answered", (wanted.returncode, bool(wanted.stdout)), (0, True))
            same(f"{name} in an empty root", answers(root.run(["/" + os.path.basename(program), *words], env=ENV)), answers(wanted))


def check_loads_nothing(link_map):
    """What of the C library would load libraries of the system is not linked: ours stand in its place (no_loader.c)."""
    members = re.findall(r"libc\.a\(((?:iconv_open|getpwuid|getpwnam_r)\.o)\)", read(link_map).decode())
    same("members of libc that load libraries", sorted(set(members)), [])


def check_relink(program, archive):
    with tempfile.TemporaryDirectory(prefix="incore-relink-") as work:
        with tarfile.open(archive) as t:
            t.extractall(work)
        folder = os.path.join(work, os.listdir(work)[0])
        p = run([os.path.join(folder, "relink")])
        same("relink", (p.returncode, p.stderr), (0, ""))
        same("bytes of the program linked again", read(os.path.join(folder, "incore")) == read(program), True)
        readme = read(os.path.join(folder, "README")).decode()
        for source in ("elfutils", "glibc", "libmicrohttpd"):
            same(f"the sources of {source} are offered", re.search(rf"^{source} \d\S+ +\S*LGPL", readme, re.M) is not None, True)


# --- packages ---

def check_lintian(debs, whole):
    if not shutil.which("lintian"):
        skip("lintian is not installed")
        return
    # what is told as information is the compiler's options, which are those of a release
    p = run(["lintian", "--allow-root", *(["--display-info"] if whole else []), "--fail-on", "error,warning", *debs])
    same("lintian", (p.returncode, p.stdout), (0, ""))


def check_packages(debs, version, whole):
    same("packages", sorted(os.path.basename(d).split("_")[0] for d in debs), PACKAGES)
    same("version of the packages", {run(["dpkg-deb", "-f", d, "Version"]).stdout.strip() for d in debs}, {version})
    if why_not():
        skip("packages in a clean root: " + why_not())
        return
    with Root.debian(debs, also=["gcc", "libc6-dev", "pkgconf"] if whole else []) as root:
        before = root.installed()
        same("nothing of incore is there before", [n for n in before if "incore" in n], [])
        p = root.run(["apt-get", "install", "-y", "--no-install-recommends", *[root.copy(d, "/opt") for d in debs]])
        same("apt-get install", (p.returncode, p.stdout[-800:] if p.returncode else ""), (0, ""))
        same("what it installed", {k: v for k, v in root.installed().items() if k not in before}, {n: version for n in PACKAGES})
        use_packages(root, version, whole)
        p = root.run(["apt-get", "purge", "-y", *PACKAGES])
        same("apt-get purge", (p.returncode, p.stdout[-800:] if p.returncode else ""), (0, ""))
        same("packages after it", root.installed(), before)
        left = [n for n in root.files() if re.search(r"(?<!f)incore", n) and not n.startswith(("opt/", "var/log/"))]  # fincore is of util-linux
        same("what a removal leaves", left, [])


def use_packages(root, version, whole):
    root.copy(os.path.join(DATA, "gemm"), "/opt")
    same("incore", root.run(["incore", "--version"]).stdout, f"incore {version}\n")
    asked = root.run(["incore", "hot", "--json", "gemm"], cwd="/opt")
    same("a capture is read", (asked.returncode, asked.stderr), (0, ""))
    total = json.loads(asked.stdout)["data"]["accounting"]["duration"]
    p = root.run(["python3", "-c", "import incore; print(incore.open('gemm').hot().accounting_duration)"], cwd="/opt")
    same("the same figure in Python", (p.stdout.strip(), p.stderr), (str(total), ""))
    same("profiles are found", root.run(["incore", "model", "time", "--help"]).returncode, 0)
    if whole:
        there = root.copy(os.path.join(ROOT, "examples", "library", "costliest.c"), "/opt")
        p = root.run(["sh", "-c", f"gcc -o /opt/costliest {there} $(pkg-config --cflags --libs incore) && /opt/costliest gemm"], cwd="/opt")
        same("a program is built with libincore", (p.returncode, bool(p.stdout)), (0, True))


# --- the wheel ---

OF_THE_MACHINE = re.compile(r"(ld-linux-x86-64|lib(c|m|dl|rt|pthread|resolv|util|gcc_s))\.so\.\d+")  # manylinux_2_36 may count on these


def check_wheel(path):
    """It needs of the machine what its name says, and nothing else."""
    same("tag of the wheel", path.endswith("-py3-none-manylinux_2_36_x86_64.whl"), True)
    with tempfile.TemporaryDirectory(prefix="incore-wheel-") as work, zipfile.ZipFile(path) as z:
        z.extractall(work)
        files = [os.path.join(place, n) for place, _, names in os.walk(work) for n in names]
        programs = [f for f in files if read(f)[:4] == b"\x7fELF"]
        carried = {os.path.basename(f) for f in programs}
        same("programs and libraries in the wheel", len(programs) > 10, True)
        for f in programs:
            told = run(["readelf", "-dV", f]).stdout
            needed = set(re.findall(r"\(NEEDED\).*\[(.*?)\]", told))
            same(f"{os.path.basename(f)} needs of others", [n for n in needed if n not in carried and not OF_THE_MACHINE.fullmatch(n)], [])
            late = [v for v in re.findall(r"GLIBC_2\.(\d+)", told) if int(v) > 36]
            same(f"{os.path.basename(f)} needs of glibc after 2.36", late, [])


# --- what is told about them ---

def check_documents(out, version):
    p = run(["sha256sum", "-c", "--quiet", "--strict", "SHA256SUMS"], cwd=out)
    same("SHA256SUMS", (p.returncode, p.stdout), (0, ""))
    listed = {line.split("  ")[1] for line in read(os.path.join(out, "SHA256SUMS")).decode().splitlines()}
    same("files with a sum", sorted(listed), sorted(n for n in os.listdir(out) if n != "SHA256SUMS"))
    document = json.loads(read(os.path.join(out, f"incore-{version}.spdx.json")))
    same("the list of parts keeps SPDX 2.3", complaints(document), [])
    sums = {f["fileName"][2:]: f["checksums"][1]["checksumValue"] for f in document["files"]}
    same("files in it", sums, {n: hashlib.sha256(read(os.path.join(out, n))).hexdigest() for n in listed if not n.endswith(".spdx.json")})
    there = {p["name"]: p["versionInfo"] for p in document["packages"]}
    for name in ("libsqlite3-dev", "libdw-dev", "libc6-dev", "libmicrohttpd-dev"):
        same(f"{name} in it", there.get(name), run(["dpkg-query", "-W", "-f", "${Version}", name]).stdout)
    unknown = [p["name"] for p in document["packages"] if p["licenseDeclared"] == "NOASSERTION"]
    same("parts without a licence", unknown, [])


# --- the same bytes from two folders ---

def check_reproducible(out):
    """Sources as git has them, plus what is changed here, in two places of different depth; nothing comes from a compiler's cache."""
    names = run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT).stdout.split("\0")
    date = run(["git", "log", "-1", "--format=%ct"], cwd=ROOT).stdout.strip()
    env = {**os.environ, "CCACHE_DISABLE": "1", "SOURCE_DATE_EPOCH": date, "INCORE_COMMIT": "0" * 40}
    with tempfile.TemporaryDirectory(prefix="incore-twice-") as work:
        made, places = [], [os.path.join(work, place) for place in ("a", "another/place-of-a-longer-name/b")]
        for name in names:
            if name and not name.startswith("tests/") and os.path.lexists(os.path.join(ROOT, name)):
                os.makedirs(os.path.dirname(os.path.join(places[0], name)), exist_ok=True)
                shutil.copy2(os.path.join(ROOT, name), os.path.join(places[0], name), follow_symlinks=False)
        shutil.copytree(*places, symlinks=True)
        for place in places:
            to = os.path.join(work, f"out{len(made)}")
            p = run([sys.executable, os.path.join(place, "tools", "release"), to], env=env)
            same(f"release in {place}", (p.returncode, (p.stdout + p.stderr)[-2000:] if p.returncode else ""), (0, ""))
            if p.returncode:
                return
            made.append({n: read(os.path.join(to, n)) for n in sorted(os.listdir(to))})
        same("files of two releases", sorted(made[0]), sorted(made[1]))
        same("files that differ", [n for n in made[0] if made[0][n] != made[1].get(n)], [])
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(to, out)


def main():
    build, whole = os.path.abspath(sys.argv[1]), "--whole" in sys.argv
    out = os.path.join(build, "release")
    shutil.rmtree(out, ignore_errors=True)
    if whole:
        os.environ["INCORE_CHROOT"] = "mmdebstrap"
        check_reproducible(out)
    else:
        make(["--from", build, "--only", "static,debs,sbom,sums"], out)
    version = run([os.path.join(build, "incore"), "--version"]).stdout.split()[1]
    if not failed:
        program = os.path.join(out, f"incore-{version}-linux-x86_64")
        debs = sorted(glob.glob(os.path.join(out, "*.deb")))
        check_static(program, os.path.join(build, "incore"))
        if not whole:
            check_loads_nothing(os.path.join(build, "packaging", "static", "incore-static.map"))
        check_relink(program, os.path.join(out, f"incore-{version}-relink.tar.gz"))
        check_lintian(debs, whole)
        check_packages(debs, version, whole)
        check_documents(out, version)
        for path in glob.glob(os.path.join(out, "*.whl")):
            check_wheel(path)
    print("\n".join(failed))
    print(f"{passed} passed, {len(failed)} failed, {skipped} skipped")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
