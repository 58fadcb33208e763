#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a sweep over a real Slurm, three nodes on this host, end with every task although a node dies in the middle of it and the
driver is killed? Slurm and munge are started here, as root, with files and ports of their own; where they cannot be, it is skipped.

usage: slurm.py BUILD_DIR
"""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import run as local  # noqa: E402

CONF = """ClusterName=incore
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={d}/munge.socket
CredType=cred/munge
SlurmctldPort={ports[0]}
StateSaveLocation={d}/state
SlurmdSpoolDir={d}/spool-%n
SlurmctldPidFile={d}/slurmctld.pid
SlurmdPidFile={d}/slurmd-%n.pid
SlurmctldLogFile={d}/slurmctld.log
SlurmdLogFile={d}/slurmd-%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
GresTypes=gpu
SlurmdTimeout=4
SlurmctldTimeout=10
KillWait=2
InactiveLimit=0
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=50000
"""


def reason(stderr, log):
    """Why a daemon did not start: what it says, or the last complaint in its log."""
    said = stderr.strip()[-300:]
    if not said and os.path.exists(log):
        with open(log, errors="replace") as f:
            lines = [re.sub(r"^\[\S+\] ", "", line).strip() for line in f]
        said = ([line for line in lines if re.match("error|fatal", line)] or lines or [""])[-1]
    return said or "it says nothing"


class Cluster:
    def __init__(self, folder):
        self.d, self.conf = folder, os.path.join(folder, "slurm.conf")
        self.env = {"SLURM_CONF": self.conf}

    def start(self):
        """The reason why there is none, or None."""
        for program in ("munged", "slurmctld", "slurmd", "sbatch", "squeue"):
            if not shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin"):
                return f"{program} is not installed"
        if os.geteuid():
            return "it is started as root"
        sockets = [socket.socket() for _ in range(4)]
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        ports = [s.getsockname()[1] for s in sockets]
        for s in sockets:
            s.close()
        with open(self.conf, "w") as f:
            f.write(CONF.format(d=self.d, ports=ports))
            for i, port in enumerate(ports[1:], 1):
                f.write(f"NodeName=n{i} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs=2 Gres=gpu:2 RealMemory=100\n")
            f.write("PartitionName=gpus Nodes=n[1-3] Default=YES MaxTime=INFINITE State=UP\n")
        with open(os.path.join(self.d, "gres.conf"), "w") as f:
            f.write(f"NodeName=n[1-3] Name=gpu File={self.d}/gpu[0-1]\n")
        for name in ("gpu0", "gpu1"):
            open(os.path.join(self.d, name), "w").close()
        os.mkdir(os.path.join(self.d, "state"))
        with open(os.path.join(self.d, "key"), "wb") as f:
            os.fchmod(f.fileno(), 0o400)
            f.write(os.urandom(1024))
        words = [["munged", "--force", "--num-threads=2", f"--key-file={self.d}/key", f"--socket={self.d}/munge.socket",
                  f"--pid-file={self.d}/munged.pid", f"--log-file={self.d}/munged.log", f"--seed-file={self.d}/seed"],
                 ["slurmctld", "-c", "-f", self.conf]] + [["slurmd", "-f", self.conf, "-N", f"n{i}"] for i in (1, 2, 3)]
        for w in words:
            p = subprocess.run(w, env={**os.environ, **self.env, "PATH": os.environ["PATH"] + ":/usr/sbin"}, capture_output=True, text=True)
            if p.returncode:
                name = "-".join([w[0], *(w[-1:] if w[0] == "slurmd" else [])])
                return f"{name} does not start: {reason(p.stderr, os.path.join(self.d, name + '.log'))}"
        until = time.time() + 60
        while time.time() < until:
            if self.ask("sinfo", "-h", "-o", "%T %D").split() == ["idle", "3"]:
                return None
            time.sleep(0.2)
        return f"its nodes do not come up: {self.ask('sinfo')}"

    def ask(self, *words):
        return subprocess.run(words, env={**os.environ, **self.env}, capture_output=True, text=True).stdout

    def processes(self, *variables):
        """Numbers of our processes that have these in their environment; daemons by their files."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as f:
                    has = f.read().split(b"\0")
            except OSError:
                continue
            if all(v.encode() in has for v in (f"SLURM_CONF={self.conf}", *variables)) and int(pid) != os.getpid():
                found.append(int(pid))
        return found

    def kill_node(self, name):
        """The daemon, and all that runs there: as if somebody had pulled the plug."""
        with open(os.path.join(self.d, f"slurmd-{name}.pid")) as f:
            pids = [int(f.read())]
        steps = set(self.ask("squeue", "-h", "-r", "-t", "RUNNING", "-w", name, "-o", "%A").split())
        for pid in self.processes():
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    m = re.match(rb"slurmstepd: \[(\d+)\.", f.read())
            except OSError:
                continue
            if m and m[1].decode() in steps:
                pids.append(pid)
        for pid in pids + self.processes(f"SLURMD_NODENAME={name}"):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def stop(self):
        for name in ("slurmd-n1", "slurmd-n2", "slurmd-n3", "slurmctld", "munged"):
            try:
                with open(os.path.join(self.d, name + ".pid")) as f:
                    pid = int(f.read())
                os.kill(pid, signal.SIGTERM)
                until = time.time() + 10
                while os.path.exists(f"/proc/{pid}") and time.time() < until:
                    time.sleep(0.05)
                if os.path.exists(f"/proc/{pid}"):
                    os.kill(pid, signal.SIGKILL)
            except (OSError, ValueError):
                pass
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def dying_node(s, cluster):
    """Cells that are `incore profile`, on three nodes; one dies, the driver is killed, and all are there in the end."""
    local.make.vectors(os.path.join(s.tmp, "b", "ptoas"), 1)
    first = subprocess.run([s.program, "profile", "--build-dir", "b", "-q"], cwd=s.tmp, env=s.env, capture_output=True, text=True)
    local.check(first.returncode == 0, f"profile alone: {first.stderr}")
    s.plan("node.yaml", """
matrix: {n: [%s]}
retries: 1
timeout: 100s
shell: 'echo {cell} {attempt} >> {base}/ledger; sleep 1.5; exec %s profile --build-dir {base}/b -q -o {out}/profile'
captures: ["{out}/profile/*/funcs/*/trace.incore"]
needs: {devices: 1, memory: 10MiB}
slurm: {partition: gpus, throttle: 6, poll: 400ms}
""" % (", ".join(map(str, range(12))), s.program))
    p = s.start("node.yaml", "--slurm", "--follow", "-q")
    until = time.time() + 60
    while not re.search(r"RUNNING n2", cluster.ask("squeue", "-h", "-r", "-o", "%T %N")) and time.time() < until:
        time.sleep(0.1)
    time.sleep(0.3)
    cluster.kill_node("n2")
    p.kill()  # and the driver with it: jobs go on, another driver finds them by its journal
    p.communicate()
    q, d = s.data("node.yaml", "--resume", "--follow")
    local.check(q.returncode == 0 and d["ok"] == 12 and d["pool"] == "slurm", f"all tasks end well: {q.returncode} {q.err[-1500:]}")
    local.check(d["lost"] >= 1 and d["retries"] == d["lost"], f"those of the dead node are tried again, and no others: {d['lost']}, {d['retries']}")
    local.check({t["where"] for t in d["by_task"]} <= {"n1", "n2", "n3"}, "where each ran is known")
    local.check(all(len(t["captures"]) == 1 for t in d["by_task"]), "captures are gathered from the folder")
    local.check(len(d["submissions"]) == 2 and all(u["job_id"] for u in d["submissions"]), f"two arrays: {d['submissions']}")
    with open(os.path.join(s.tmp, "ledger")) as f:
        ledger = [tuple(map(int, line.split())) for line in f]
    done = {t["cell"]: t["attempts"] for t in d["by_task"]}
    local.check(len(ledger) == len(set(ledger)) and all(a <= done[c] for c, a in ledger), f"nothing ran twice: {ledger}")
    results = s.results("node.sweep")
    lost = [r for r in results.values() if r["outcome"] == "machine"]
    local.check(len(lost) == d["lost"] and all("NODE_FAIL" in r["how"] for r in lost), f"{lost}")


def come_back(s, cluster):
    """Submitted and left alone; gathered later; a job that failed is tried again; and cancelled."""
    s.plan("later.yaml", "matrix: {n: [0, 1, 2]}\nretries: 1\nshell: 'test {n} != 1 || test {attempt} = 2'\nslurm: {poll: 400ms}\n")
    p, d = s.data("later.yaml", "--slurm")
    local.check(p.returncode == 0 and d["verdict"] == "incomplete" and d["submissions"][0]["job_id"], f"submitted: {p.err} {d}")
    until = time.time() + 60
    while d["verdict"] == "incomplete" and time.time() < until:
        time.sleep(0.5)
        p, d = s.data("later.yaml", "--resume")
    local.check(d["verdict"] == "done" and d["retries"] == 1, f"gathered: {p.err} {d['verdict']}")
    s.plan("stop.yaml", "matrix: {n: [0, 1, 2]}\nshell: sleep 100\nslurm: {poll: 400ms}\n")
    s.run("stop.yaml", "--slurm", "-q")
    p, d = s.data("cancel", "stop.sweep")
    local.check(p.returncode == 1 and d["cancelled"] == 3, f"cancelled: {p.err} {d}")
    until = time.time() + 60
    while "sleep" in cluster.ask("squeue", "-h", "-o", "%j") and time.time() < until:
        time.sleep(0.2)
    name = d["submissions"][0]["name"]
    local.check(name not in cluster.ask("squeue", "-h", "-o", "%j", "-t", "PENDING,RUNNING"), "Slurm has nothing of it any more")
    s.plan("refused.yaml", "run: ['true']\nslurm: {partition: nowhere}\n")
    p, d = s.data("refused.yaml", "--slurm")
    local.check(p.returncode == 6 and "nowhere" in p.err + p.out or "partition" in p.err, f"sbatch's own words: {p.err[-500:]}")


def main():
    build = os.path.abspath(sys.argv[1])
    skipped = 0
    with tempfile.TemporaryDirectory() as tmp:
        os.chmod(tmp, 0o755)
        os.mkdir(os.path.join(tmp, "slurm"))
        os.mkdir(os.path.join(tmp, "sweep"))
        cluster = Cluster(os.path.join(tmp, "slurm"))
        try:
            why = cluster.start()
            if why:
                print(f"SKIP Slurm: {why}")
                skipped = 1
            else:
                s = local.Sweep(os.path.join(build, "incore"), os.path.join(tmp, "sweep"))
                s.env.update(cluster.env)
                dying_node(s, cluster)
                come_back(s, cluster)
        finally:
            cluster.stop()
    print(f"{local.RESULT[0]} passed, {local.RESULT[1]} failed, {skipped} skipped")
    return local.RESULT[1] > 0


if __name__ == "__main__":
    sys.exit(main())
