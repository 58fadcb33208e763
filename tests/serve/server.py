# SPDX-License-Identifier: Apache-2.0
"""A running `incore view` and a client of it, for the tests of this folder; and how they count."""
import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))
DATA = os.path.join(ROOT, "tests", "data")
PROGRAM = os.path.join(os.path.abspath(sys.argv[1]), "incore")
PATIENCE_S = 600  # a sanitizer on a busy machine takes its time
RESULT = [0, 0, 0]


def check(ok, what):
    RESULT[not ok] += 1
    if not ok:
        print(f"FAIL {what}", flush=True)
    return ok


def comes(condition):
    """Is it true before long? A bound on waiting, no measurement."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


def skip(what):
    RESULT[2] += 1
    print(f"SKIP {what}", flush=True)


def tell():
    """The last line, and the exit status."""
    print(f"{RESULT[0]} passed, {RESULT[1]} failed, {RESULT[2]} skipped")
    return RESULT[1] > 0


@contextlib.contextmanager
def folder():
    """A folder for a while, in which the program also keeps its cache and looks for its configuration."""
    with tempfile.TemporaryDirectory(prefix="incore-serve-") as tmp:
        os.environ.update(XDG_CACHE_HOME=tmp, XDG_CONFIG_HOME=os.path.join(tmp, "no-config"))
        yield tmp


class Server:
    """Captures are named as below tests/data, or in full."""

    def __init__(self, *words):
        self.errors = tempfile.TemporaryFile("w+", errors="replace")
        self.process = subprocess.Popen([PROGRAM, "view", "--no-open", *words], stdout=subprocess.PIPE, stderr=self.errors, text=True, cwd=DATA)
        self.url = self.process.stdout.readline().strip()
        self.port, self.token = int(self.url.split(":")[2].split("/")[0]), self.url.split("token=")[1]
        self.told = ""  # on stderr, once it has ended

    def ask(self, path, method="GET", headers=None, token=None):
        """Status, body, headers in small letters; token "": without one."""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        own = {} if token == "" else {"Authorization": f"Bearer {token or self.token}"}
        try:
            c.request(method, path, headers={**own, **(headers or {})})
            r = c.getresponse()
            return r.status, r.read(), {k.lower(): v for k, v in r.getheaders()}
        finally:
            c.close()

    def begin(self, text="GET /api/1/trace HTTP/1.1\r\nHost: "):
        """A client that says so much, and no more."""
        s = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)
        s.sendall(text if isinstance(text, bytes) else text.encode())
        return s

    def is_ready(self):
        """Waits until all captures are read."""
        status, body, _ = self.ask("/api/1/progress")
        return status == 200 and json.loads(body.splitlines()[-1])["stage"] == "ready"

    def count(self, what):
        """Its open files (fd) or threads (task)."""
        return len(os.listdir(f"/proc/{self.process.pid}/{what}"))

    def settled(self, what):
        """The same, once it has not changed for a second."""
        looks = [self.count(what)]
        while len(looks) < 11 or len(set(looks[-11:])) > 1:
            time.sleep(0.1)
            looks.append(self.count(what))
        return looks[-1]

    def kilobytes(self):
        with open(f"/proc/{self.process.pid}/status") as f:
            return int(next(line for line in f if line.startswith("RssAnon")).split()[1])

    def end(self, how=signal.SIGTERM):
        """Exit status; None where it would not end."""
        self.process.send_signal(how)
        try:
            status = self.process.wait(timeout=600)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            status = None
        self.process.stdout.close()
        self.errors.seek(0)
        self.told = self.errors.read()
        self.errors.close()
        return status
