#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A newcomer's three minutes (examples/three_minutes.sh): with the packages of a release in a clean Debian, and with its program and wheel in a
folder of a user who is not root. The same script must fail where figures differ or files were changed; action.yml takes the same release.

usage: three_minutes.py BUILD_DIR      takes BUILD_DIR/release, and makes it where it is not there or older than the build
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

import action
from run import COUNTS, DATA, ROOT, check, skip

sys.path.insert(0, os.path.join(ROOT, "tests", "release"))
from chroot import Root, why_not  # noqa: E402

SCRIPT = os.path.join(ROOT, "examples", "three_minutes.sh")
CAPTURES = os.path.join(DATA, "samples_pair")
SHOWN = ["incore --version", "incore summary conflicts.incore", "import incore", "| incore mcp .", "gate passed: latency_per_launch", "gate FAILED: latency_per_launch",
         "evidence: hardware-sample"]


def release_of(build):
    """What the suite of releases left, and the wheel, which that does not make; all of it where there is none of this build."""
    folder = os.path.join(build, "release")
    sums = os.path.join(folder, "SHA256SUMS")
    is_there = os.path.exists(sums) and os.path.getmtime(sums) >= os.path.getmtime(os.path.join(build, "incore"))
    if not is_there or not glob.glob(os.path.join(folder, "*.whl")):
        only = ["--only", "wheel,sbom,sums"] if is_there else []
        p = subprocess.run([sys.executable, os.path.join(ROOT, "tools", "release"), "--from", build, *only, folder], capture_output=True, text=True)
        check(p.returncode == 0, f"no release: {p.stderr[-1500:]}")
    return folder


def is_whole(p):
    """It came to its end, and showed all that it promises."""
    return p.returncode == 0 and all(s in p.stdout for s in SHOWN) and p.stdout.rstrip().endswith("lists the rest.")


def in_debian(release):
    why = why_not()
    if why:
        skip("three minutes in a clean Debian: " + why)
        return
    debs = [d for d in glob.glob(os.path.join(release, "*.deb")) if os.path.basename(d).split("_")[0] in ("incore", "libincore0", "python3-incore")]
    with Root.debian(debs) as root:
        places = [root.copy(p, "/opt") for p in (release, CAPTURES, SCRIPT)]
        check(root.run(["sh", "-c", "command -v incore"]).returncode != 0, "incore is in a clean Debian")
        p = root.run([places[2], places[0], places[1]])
        check(is_whole(p), f"in a clean Debian: {p.returncode} {p.stdout[-3000:]} {p.stderr[-2000:]}")
        check(root.run(["sh", "-c", "command -v incore"]).stdout.strip() == "/usr/bin/incore", "incore is not installed")


def in_folder(release, tmp):
    env = {"PATH": "/usr/bin:/bin", "HOME": tmp, "LC_ALL": "C.UTF-8", "TMPDIR": tmp}
    p = subprocess.run([SCRIPT, release, CAPTURES, os.path.join(tmp, "own")], capture_output=True, text=True, env=env, cwd=tmp, timeout=300)
    check(is_whole(p), f"in a folder: {p.returncode} {p.stdout[-3000:]} {p.stderr[-2000:]}")
    # what is compared can differ: a capture that is another one, a release that is not what was released
    other = os.path.join(tmp, "captures")
    os.mkdir(other)
    for name, of in (("padded", "padded"), ("padded_again", "padded_again"), ("conflicts", "padded_again")):
        shutil.copy(os.path.join(CAPTURES, of + ".incore"), os.path.join(other, name + ".incore"))
    p = subprocess.run([SCRIPT, release, other, os.path.join(tmp, "own")], capture_output=True, text=True, env=env, cwd=tmp, timeout=300)
    check(p.returncode == 1 and "exit status of the gate differs" in p.stderr, f"no regression: {p.returncode} {p.stderr}")
    broken = os.path.join(tmp, "broken")
    shutil.copytree(release, broken)
    with open(glob.glob(os.path.join(broken, "*.whl"))[0], "ab") as f:
        f.write(b"x")
    p = subprocess.run([SCRIPT, broken, CAPTURES, os.path.join(tmp, "other")], capture_output=True, text=True, env=env, cwd=tmp, timeout=300)
    check(p.returncode == 1 and "checksum" in p.stderr, f"a release that was changed: {p.returncode} {p.stderr}")
    check(subprocess.run([SCRIPT], capture_output=True).returncode == 2, "without arguments")


def in_action(build, release, tmp):
    """action.yml with the release's program and the sum that SHA256SUMS tells of it."""
    with open(os.path.join(release, "SHA256SUMS")) as f:
        sums = {name: given for given, name in map(str.split, f)}
    name = next(n for n in sums if n.endswith("-linux-x86_64"))
    job = action.job(build, tmp, "action", "--change 17=0.25 gemm", file=os.path.join(release, name), sha256=sums[name])
    check(job.failed and "2 of 2 gates failed" in job.summary and len(job.others) == 3, f"action.yml with the release: {job.text}")


def main():
    build = os.path.abspath(sys.argv[1])
    release = release_of(build)
    if not COUNTS["failed"]:
        in_debian(release)
        with tempfile.TemporaryDirectory() as tmp:
            in_folder(release, tmp)
            in_action(build, release, tmp)
    print(f"\n{COUNTS['passed']} passed, {COUNTS['failed']} failed, {COUNTS['skipped']} skipped")
    return COUNTS["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
