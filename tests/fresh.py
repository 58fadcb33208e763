#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a Debian 12 that was installed a minute ago build incore, show it and pass its tests? mmdebstrap makes one with git and make, which
one comes with; the committed tree is cloned into it, without data beside it; root calls `make demo` and `make test`, and in a second
copy an ordinary user calls `make demo`, gives the one command that it prints, and calls it again.

usage: fresh.py [--root DIR] [--soak] [SUITE...]        a suite of tests/suites.py: `make test` runs those alone

--root: keeps the machines in DIR and takes those that are there, with their packages; the tree is cloned again. --soak: what stands
against it here is a skip. Archive, proxies, npm's registry and authorities are those of the host, and nothing else is reached.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import fresh_host
from jobs import script_counts

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
USER = ["setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups", "--"]
# The root is turned into a machine of its own: / is a mount, as its tests want it that make namespaces.
ENTER = ('mount --bind "$0" "$0" && cd "$0" && mount --rbind /dev dev && mount --rbind /sys sys && mount --rbind /proc proc && '
         'pivot_root . mnt && umount -l mnt && exec chroot . sh -c \'cd "$0" && exec "$@"\' "$@"')
COUNTS = [0, 0, 0]


def check(ok, what, text=""):
    COUNTS[not ok] += 1
    if not ok:
        print(f"FAIL {what}\n{text[-6000:]}", flush=True)
    return ok


class Machine:
    def __init__(self, path):
        self.path = path

    def there(self, path):
        return os.path.join(self.path, path.lstrip("/"))

    def make(self, fill):
        """Whole or not at all."""
        if not os.path.exists(self.path):
            part = self.path + ".part"
            subprocess.run(["rm", "-rf", part], check=True)
            fill(part)
            os.rename(part, self.path)

    def copy(self, path):
        other = Machine(path)
        other.make(lambda part: subprocess.run(["cp", "-a", self.path, part], check=True))
        shutil.copy2("/etc/resolv.conf", other.there("etc/resolv.conf"))
        return other

    def clone(self, home, owner):
        """The committed tree, as the only thing in a folder of its own."""
        place = os.path.join(home, "incore")
        subprocess.run(["rm", "-rf", self.there(home)], check=True)
        subprocess.run(["git", "clone", "--quiet", "--no-local", ROOT, self.there(place)], check=True)
        subprocess.run(["chown", "-R", f"{owner}:{owner}", self.there(home)], check=True)
        return place

    def run(self, words, cwd, user=(), show=False):
        """Exit status, output, and the seconds (of the clock, of work) that it took."""
        env = {**fresh_host.environment(), "HOME": os.path.dirname(cwd), "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        before, started = os.times(), time.time()
        rc, text = fresh_host.alone(["sh", "-c", ENTER, self.path, cwd, *user, *words], env, show)
        after = os.times()
        work = after.children_user + after.children_system - before.children_user - before.children_system
        return rc, text, f"{time.time() - started:.0f} s, {work:.0f} s of work"


def demo(machine, cwd, user=()):
    who = "an ordinary user" if user else "root"
    rc, text, took = machine.run(["make", "demo"], cwd, user)
    check(rc == 0 and "report.html" in text, f"make demo by {who}: exit status {rc}", text)
    print(f"make demo by {who}: {took}", flush=True)


def by_user(bare, folder):
    """What is missing is told once, and nothing is done; that command is enough."""
    home = "/home/somebody"
    rc, text, _ = bare.run(["make", "demo"], bare.clone(home, 1000), USER)
    told = re.findall(r"^ *(sudo .*)$", text, re.M)
    if not check(rc == 2 and len(told) == 1, f"make demo without packages: exit status {rc}, commands: {told}", text):
        return
    machine = bare.copy(os.path.join(folder, "user"))
    cwd = machine.clone(home, 1000)
    rc, text, took = machine.run(["sh", "-c", f'sudo() {{ DEBIAN_FRONTEND=noninteractive "$@"; }}; {told[0]}'], cwd)
    check(rc == 0, f"{told[0]}: exit status {rc}", text)
    print(f"the command that an ordinary user was told: {took}", flush=True)
    demo(machine, cwd, USER)


def by_root(bare, folder, suites):
    machine = bare.copy(os.path.join(folder, "root"))
    cwd = machine.clone("/root", 0)
    rc, text, took = machine.run(["make", "setup"], cwd)
    check(rc == 0, f"make setup by root: exit status {rc}", text)
    print(f"make setup by root: {took}", flush=True)
    demo(machine, cwd)
    rc, text, _ = machine.run(["make", "test", *(["ONLY=" + " ".join(suites)] if suites else [])], cwd, show=True)
    counts = next(filter(None, map(script_counts, reversed(text.splitlines()))), None)
    check(counts is not None, "make test did not come to its last line")
    check((rc == 0) == bool(counts and not counts[1]), f"make test: exit status {rc}")
    COUNTS[:] = [a + b for a, b in zip(COUNTS, counts or COUNTS)]


def fresh(folder, suites):
    bare = Machine(os.path.join(folder, "bare"))
    bare.make(fresh_host.bootstrap)
    by_user(bare, folder)
    by_root(bare, folder, suites)


def stopped(*_):
    raise KeyboardInterrupt


def main():
    words, given = sys.argv[1:], None
    if "--root" in words:
        at = words.index("--root")
        given = os.path.abspath(words[at + 1])
        del words[at:at + 2]
    why = fresh_host.why_not()
    if why:
        print(f"SKIP a fresh machine: {why}\n0 passed, 0 failed, 1 skipped")
        return 0 if "--soak" in words else 2
    changes = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    if changes:
        print(f"not committed, so not tested: {len(changes.splitlines())} files")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stopped)
    suites = [w for w in words if w != "--soak"]
    try:
        if given:
            os.makedirs(given, exist_ok=True)
            fresh(given, suites)
        else:
            with tempfile.TemporaryDirectory(prefix="incore-fresh-") as folder:
                fresh(folder, suites)
    except KeyboardInterrupt:
        return 130
    print(f"{COUNTS[0]} passed, {COUNTS[1]} failed, {COUNTS[2]} skipped")
    return COUNTS[1] > 0


if __name__ == "__main__":
    sys.exit(main())
