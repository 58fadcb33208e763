# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL of one's own for a test: as an ordinary user (it refuses root), in a temporary folder, behind a socket, without a port."""
import glob
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

OWNER = "incore"


def programs():
    """The folder of its newest programs; None: it is not installed."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda p: int(p.split("/")[4]))
    beside = shutil.which("initdb")
    return os.path.dirname(found[-1]) if found else os.path.dirname(beside) if beside else None


def other_user():
    """How a child becomes somebody else than root; {}: it need not; None: there is nobody."""
    if os.getuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    return None


class Server:
    """start() may fail: then `why` says so, and there is none."""

    def __init__(self):
        self.process, self.why = None, None
        self.folder = tempfile.mkdtemp(prefix="pg-", dir="/tmp")  # the path of a socket is short
        self.data, self.bin, self.as_user = os.path.join(self.folder, "data"), programs(), other_user()
        if self.bin is None:
            self.why = "no PostgreSQL is installed"
        elif self.as_user is None:
            self.why = "no user but root to run PostgreSQL"
        else:
            self.make()

    def make(self):
        if self.as_user:
            os.chown(self.folder, self.as_user["user"], self.as_user["group"])
        os.chmod(self.folder, 0o755)
        made = subprocess.run([os.path.join(self.bin, "initdb"), "-D", self.data, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-U", OWNER, "-N"],
                              cwd=self.folder, capture_output=True, text=True, **self.as_user)
        if made.returncode:
            self.why = "initdb failed: " + made.stderr.strip()[-200:]
            return
        with open(os.path.join(self.data, "pg_hba.conf"), "r+") as f:
            rules = f.read()
            f.seek(0)
            f.write("local all guarded scram-sha-256\n" + rules)
        self.start()

    def start(self):
        log = open(os.path.join(self.folder, "log"), "a")
        self.process = subprocess.Popen([os.path.join(self.bin, "postgres"), "-D", self.data, "-k", self.folder, "-h", "", "-c", "fsync=off"],
                                        cwd=self.folder, stdout=log, stderr=log, start_new_session=True, **self.as_user)
        log.close()
        ready = os.path.join(self.bin, "pg_isready")
        while subprocess.run([ready, "-q", "-h", self.folder]).returncode:
            if self.process.poll() is not None:
                with open(os.path.join(self.folder, "log")) as f:
                    self.why = "postgres ended: " + f.read()[-200:]
                return
            time.sleep(0.02)

    def stop(self, how=signal.SIGINT):
        """SIGINT: ends its connections; SIGQUIT: as if the power went."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait()

    def close(self):
        self.stop()
        shutil.rmtree(self.folder)

    def cpu_s(self):
        """Seconds of work of all its processes so far, those that ended among them; when it rests."""
        seen = [-1, self.cpu_ticks()]
        while seen[-1] != seen[-2]:
            time.sleep(0.2)
            seen.append(self.cpu_ticks())
        return seen[-1] / os.sysconf("SC_CLK_TCK")

    def cpu_ticks(self):
        def stat(pid):
            with open(f"/proc/{pid}/stat") as f:
                return f.read().rpartition(")")[2].split()
        own = stat(self.process.pid)
        ticks = sum(int(x) for x in own[11:15])
        for path in glob.glob("/proc/[0-9]*"):
            try:
                words = stat(path[6:])
            except OSError:
                continue
            if words[1] == str(self.process.pid):
                ticks += int(words[11]) + int(words[12])
        return ticks

    def uri(self, database, user=OWNER, password=None):
        who = f"{user}:{password}" if password else user
        return f"postgresql://{who}@/{database}?host={self.folder}"

    def sql(self, database, text):
        """Rows of texts. Fails where the server does."""
        p = subprocess.run(["psql", "-XqAt", "-F", "\x1f", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-U", OWNER, "-d", database, "-c", text],
                           capture_output=True, text=True)
        if p.returncode:
            raise RuntimeError(p.stderr)
        return [tuple(line.split("\x1f")) for line in p.stdout.splitlines()]

    def new(self, database, more=""):
        self.sql("postgres", f"CREATE DATABASE {database} {more}")
        return self.uri(database)
