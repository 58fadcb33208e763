#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does `incore sweep` run a plan as it says, keep to its leases, leave sick devices, and go on after any SIGKILL without losing a
finished task or running one again?

usage: run.py BUILD_DIR     TIMES=N: as many kills, up to 200
"""
import glob
import importlib.util
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "profile"))
import build as make  # noqa: E402

RESULT = [0, 0]
KILLS = min(20 * int(os.environ.get("TIMES", "1")), 200)


def check(is_right, what):
    RESULT[not is_right] += 1
    if not is_right:
        print(f"FAIL {what}")


class Sweep:
    """Runs of the program in a folder of their own."""

    def __init__(self, program, tmp):
        self.program, self.tmp = program, tmp
        self.env = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG") or k.endswith("SAN_OPTIONS")}
        self.env.update(LC_ALL="C.UTF-8", INCORE_LEASES=tmp, XDG_CACHE_HOME=os.path.join(tmp, "cache"))

    def plan(self, name, text):
        with open(os.path.join(self.tmp, name), "w") as f:
            f.write(text)

    def start(self, *words, **more):
        return subprocess.Popen([self.program, "sweep", *words], cwd=self.tmp, env={**self.env, **more}, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, *words, **more):
        p = self.start(*words, **more)
        p.out, p.err = p.communicate(timeout=900)
        return p

    def data(self, *words, **more):
        p = self.run(*words, "--json", **more)
        try:
            return p, json.loads(p.out)["data"]
        except ValueError:
            check(False, f"sweep {words}: {p.out[-500:]}{p.err[-2000:]}")
            return p, {"by_task": [], "by_cell": [], "sick": []}

    def journal(self, folder):
        with open(os.path.join(self.tmp, folder, "journal")) as f:
            return [json.loads(line.split(" ", 1)[1]) for line in f]

    def results(self, folder):
        """{(task's folder, attempt): result}"""
        found = {}
        for path in glob.glob(os.path.join(self.tmp, folder, "cells", "*", "*", "result.json")):
            with open(path) as f:
                found[path.split(os.sep)[-3], int(path.split(os.sep)[-2])] = json.load(f)
        return found


def plain_plan(s):
    """Every part of a plan, and what stays of a run."""
    s.plan("p.yaml", """
name: every part
matrix:
  m: [1, 2, 3]
  shape:
    - {a: x, b: "y z'$HOME"}
    - {a: q, b: "{r"}
exclude: [{m: 2, a: q}]
repeats: 2
retries: 1
timeout: 20s
record: [NAMED]
env: {FOO: "{a}+{b}"}
run: [sh, -c, 'printf "%s\\n" "$@" "$FOO" > "$0/f"; test "$1" != 3', "{out}", "{m}", "{b}", "{cell}", "{repeat}", "{attempt}"]
outputs: ["{out}/f"]
""")
    p, d = s.data("p.yaml", NAMED="kept", SECRET="never")
    check(p.returncode == 1 and d["verdict"] == "failed", f"a cell fails for good: {p.returncode} {p.err}")
    check((d["cells"], d["tasks"], d["excluded"], d["ok"], d["failed"]) == (5, 10, 2, 6, 4), f"counts: {d}")
    check(d["attempts"] == 14 and d["retries"] == 4, f"attempts: {d['attempts']}, {d['retries']}")
    results = s.results("p.sweep")
    check(len(results) == 14, f"a result an attempt: {len(results)}")
    with open(os.path.join(s.tmp, "p.sweep", "cells", "00001.1", "1", "f")) as f:
        check(f.read() == "1\n{r\n1\n1\n1\nq+{r\n", "words are put into argv as they are, without a shell")
    r = results["00000.0", 1]
    check(r["env"] == {"FOO": "x+y z'$HOME", "NAMED": "kept"}, f"named variables alone: {r['env']}")
    check("SECRET" not in json.dumps(list(results.values())), "no other variable is kept")
    check(r["params"] == {"m": "1", "a": "x", "b": "y z'$HOME"} and r["outputs"][0]["bytes"] > 0, f"provenance: {r}")
    events = [json.loads(line) for line in p.err.splitlines()]
    check(events == s.journal("p.sweep"), "--json tells the events of the journal as they come")
    check(all(c["spread"] is not None for c in d["by_cell"] if c["ok"] == 2), f"a spread of repeats: {d['by_cell']}")
    q, again = s.data("status", "p.sweep")
    check(again["by_task"] == d["by_task"] and q.returncode == 1, "status says what the run said")
    q = s.run("p.yaml")
    check(q.returncode == 2 and "--resume" in q.err, f"a used folder is refused: {q.err}")
    before = s.journal("p.sweep")
    q, again = s.data("p.yaml", "--resume")
    after = s.journal("p.sweep")
    check(again["by_task"] == d["by_task"] and [v["event"] for v in after[len(before):]] == ["driver"], "nothing finished runs again")
    shutil.copy(os.path.join(s.tmp, "p.yaml"), os.path.join(s.tmp, "p.yaml.old"))
    with open(os.path.join(s.tmp, "p.yaml"), "a") as f:
        f.write("# changed\n")
    q = s.run("p.yaml", "--resume")
    check(q.returncode == 2 and "not the plan" in q.err, f"another plan is refused: {q.err}")


def outcomes(s):
    """What can go wrong with a task is told apart; a shell quotes what is put in."""
    for name, text, outcome, how in (
            ("hang", "run: [sleep, '100']\ntimeout: 300ms", "timeout", "not done after"),
            ("missing", "run: [no-such-program]", "not-started", "cannot be started"),
            ("crash", "run: [sh, -c, 'kill -SEGV $$']", "failed", "signal 11"),
            ("output", "run: ['true']\noutputs: ['{out}/nothing-*']", "no-output", "it left no"),
            ("capture", "shell: echo no capture > {out}/x.incore\ncaptures: ['{out}/x.incore']", "unreadable", "x.incore")):
        s.plan(name + ".yaml", text + "\nretries: 0\n")
        p, d = s.data(name + ".yaml")
        t = (d["by_task"] or [{"outcome": None, "how": ""}])[0]
        check(p.returncode == 1 and t["outcome"] == outcome and how in t["how"], f"{name}: {t} {p.err}")
    s.plan("quoted.yaml", "matrix: {v: [\"a'; touch {base}/bad; '\"]}\nshell: printf %s {v} > {out}/f\n")
    p, d = s.data("quoted.yaml")
    check(p.returncode == 0 and not os.path.exists(os.path.join(s.tmp, "bad")), f"a value is one word of a shell: {p.err}")


def capture_of(s, data):
    """A capture that a command leaves is read, and handed over."""
    s.plan("take.yaml", f"matrix: {{k: [two_waves, gemm]}}\nrun: [cp, -r, '{data}/{{k}}', '{{out}}/c']\ncaptures: ['{{out}}/c']\n")
    p, d = s.data("take.yaml")
    paths = [c for t in d["by_task"] for c in t["captures"]]
    check(p.returncode == 0 and len(paths) == 2, f"captures: {p.err} {paths}")
    r = s.results("take.sweep")["00000", 1]["captures"][0]
    check(r["format"] == "ui_output" and r["kernel"], f"it is read: {r}")
    q = s.run("status", "take.sweep", "--captures")
    check(q.out.split() == paths, f"--captures: {q.out}")


def devices(s):
    """One task a device at a time, also of two sweeps; a sick one leaves with its reason and costs no task a retry."""
    s.plan("d.yaml", """
matrix: {n: [%s]}
retries: 0
shell: |
  exec 9>>{base}/own-$INCORE_DEVICES; flock -n 9 || echo clash >> {base}/clash
  echo $INCORE_DEVICES $ROCR_VISIBLE_DEVICES $HIP_VISIBLE_DEVICES >> {base}/seen
  sleep 0.05
needs: {devices: 1}
pool: {devices: ["amd:4", "amd:6"], health: none}
""" % ", ".join(map(str, range(10))))
    both = [s.start("d.yaml", "-o", f"d{i}.sweep", "-q") for i in (1, 2)]
    both = [(p, *p.communicate(timeout=100)) for p in both]
    check([p.returncode for p, _, _ in both] == [0, 0], f"two sweeps share devices: {both}")
    check(not os.path.exists(os.path.join(s.tmp, "clash")), "no device has two tasks at once")
    with open(os.path.join(s.tmp, "seen")) as f:
        seen = f.read().splitlines()
    check(len(seen) == 20 and set(seen) == {"amd:4 4 0", "amd:6 6 0"}, f"visibility: {set(seen)}")
    s.plan("sick.yaml", """
matrix: {n: [%s]}
retries: 0
shell: sleep 0.05; test $INCORE_DEVICES != sim:1 || { touch {base}/sim1-broke; exit 9; }
needs: {devices: 1}
pool:
  devices: [sim:0, sim:1, sim:2]
  health: [sh, -c, 'test "$0" != 1 || test ! -e sim1-broke || { echo fell off the bus; exit 1; }', "{device}"]
""" % ", ".join(map(str, range(12))))
    p, d = s.data("sick.yaml")
    check(p.returncode == 0 and d["ok"] == 12 and d["lost"] == 1, f"a sick device costs no task: {p.err[-500:]}")
    check(len(d["sick"]) == 1 and d["sick"][0]["device"] == "sim:1" and "fell off the bus" in d["sick"][0]["why"], f"{d['sick']}")
    s.plan("strikes.yaml", """
matrix: {n: [%s]}
retries: 4
shell: sleep 0.05; test $INCORE_DEVICES != sim:1
needs: {devices: 1}
pool: {devices: [sim:0, sim:1]}
""" % ", ".join(map(str, range(12))))
    p, d = s.data("strikes.yaml")
    check(p.returncode == 0 and "three tasks in a row" in (d["sick"] or [{"why": ""}])[0]["why"], f"strikes: {d['sick']} {p.err[-300:]}")
    s.plan("dead.yaml", "run: ['true']\nneeds: {devices: 1}\npool: {devices: [sim:0], health: ['false']}\n")
    p, d = s.data("dead.yaml")
    check(p.returncode not in (0, 1) and "0 of 1 devices are healthy" in p.err and d["waiting"] == 1, f"no device is left: {p.err}")
    s.plan("two.yaml", "run: [sh, -c, 'echo $INCORE_DEVICES $CUDA_VISIBLE_DEVICES']\nneeds: {devices: 2}\n"
           "pool: {devices: ['nvidia:0', 'amd:0', 'nvidia:3'], health: none}\n")
    p, d = s.data("two.yaml")
    check(s.results("two.sweep")["00000", 1]["last_line"] == "nvidia:0,nvidia:3 0,3", "two devices are of one kind")


def found(s):
    """Devices that the vendors' tools tell of, what they show a task, and one that the tool no longer answers for."""
    folder = os.path.join(s.tmp, "tools")
    os.mkdir(folder)
    for name, text in (("nvidia-smi", 'case "$*" in "-i 1 "*) echo GPU is lost; exit 15;; *index*) echo 0; echo 1;; esac'),
                       ("npu-smi", 'case "$*" in "info -l") printf "\\tTotal Count : 1\\n\\tNPU ID : 4\\n\\tChip Count : 1\\n";; esac')):
        with open(os.path.join(folder, name), "w") as f:
            f.write("#!/bin/sh\n" + text + "\n")
        os.chmod(os.path.join(folder, name), 0o755)
    s.plan("found.yaml", "matrix: {n: [1, 2, 3, 4, 5, 6]}\nretries: 0\nneeds: {devices: 1}\n"
           "shell: 'sleep 0.2; echo $INCORE_DEVICES $CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER $ASCEND_RT_VISIBLE_DEVICES'\n")
    path = folder + ":" + s.env["PATH"]
    p, d = s.data("found.yaml", "--dry-run", PATH=path)
    check([x for x in d["devices"] if not x.startswith("amd:")] == ["nvidia:0", "nvidia:1", "ascend:4"], f"found: {p.err} {d}")
    p, d = s.data("found.yaml", PATH=path)
    lines = {r["last_line"] for r in s.results("found.sweep").values() if r["outcome"] == "ok"}
    check(p.returncode == 0 and lines >= {"nvidia:0 0 PCI_BUS_ID", "ascend:4 4"}, f"shown: {lines}")
    check([(x["device"], "GPU is lost" in x["why"]) for x in d["sick"]] == [("nvidia:1", True)] and d["lost"] == 1, f"sick: {d['sick']}")


def stand_in(s, build):
    """`capture att` as a cell, with the rocprofv3 of tests/capture."""
    where = os.path.join(os.path.dirname(HERE), "capture")
    sys.path.insert(0, where)
    spec = importlib.util.spec_from_file_location("stand_in", os.path.join(where, "run.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    streams, top = os.path.join(s.tmp, "streams"), os.path.join(s.tmp, "att")
    os.mkdir(streams)
    subprocess.run([os.path.join(build, "tests", "sqtt", "make_sqtt"), "sqtt_gfx9", os.path.join(streams, "good")], check=True)
    os.mkdir(top)
    place = module.Place(build, streams, top)
    s.plan("att.yaml", "matrix: {launch: [2, 3]}\ncapture: [att, -q, --kernel, scale_rows, --launch, '{launch}', --, 'true']\n"
           "needs: {devices: 1}\npool: {devices: ['amd:3'], health: none}\n")
    p, d = s.data("att.yaml", PATH=place.env()["PATH"])
    captures = [c for r in s.results("att.sweep").values() for c in r["captures"]]
    check(p.returncode == 0 and [c["kernel"] for c in captures] == ["scale_rows"] * 2, f"capture att: {p.err[-800:]} {captures}")
    check(sorted(j["kernel_iteration_range"] for j in place.attempts()) == ["[2]", "[3]"], "each cell asks for its own launch")


def cancel(s):
    """A driver ends when it is asked to, by a signal or by another process; what was begun goes on later and counts nothing."""
    s.plan("long.yaml", "matrix: {n: [1, 2, 3]}\nretries: 0\nshell: 'echo up >> {base}/up; test -e {base}/go || sleep 100'\npool: {slots: 2}\n")
    for way in ("signal", "verb"):
        p = s.start("long.yaml", "-o", way, "-q")
        while not os.path.exists(os.path.join(s.tmp, "up")) or len(open(os.path.join(s.tmp, "up")).read().split()) < 2:
            time.sleep(0.02)
        if way == "signal":
            p.send_signal(signal.SIGTERM)
        else:
            q, d = s.data("cancel", way)
            check(q.returncode == 1 and d["cancelled"] == 2 and d["waiting"] == 1, f"cancel: {q.err} {d}")
        p.communicate(timeout=60)
        check(p.returncode == (143 if way == "signal" else 6), f"{way}: exit status {p.returncode}")
        os.remove(os.path.join(s.tmp, "up"))
        open(os.path.join(s.tmp, "go"), "w").close()
        q, d = s.data("long.yaml", "-o", way, "--resume")
        check(q.returncode == 0 and d["ok"] == 3 and d["attempts"] == 5, f"{way}, resumed: {q.err[-500:]}")
        for name in ("go", "up"):
            os.remove(os.path.join(s.tmp, name))


def kill_and_resume(s, name, kills, seed):
    """SIGKILLs at random moments, each followed by --resume."""
    dice, n = random.Random(seed), 0
    while n < kills:
        p = s.start(name + ".yaml", "--resume", "-q")
        try:
            p.communicate(timeout=dice.uniform(0.02, 0.45))
            return n  # it was done before the next kill
        except subprocess.TimeoutExpired:
            p.kill()
            p.communicate()
            n += 1
    return n


def judge_kills(s, name, n_tasks):
    q, d = s.data(name + ".yaml", "--resume")
    check(q.returncode == 0 and d["ok"] == n_tasks and len(d["by_task"]) == n_tasks, f"{name}: all are accounted for: {q.err[-500:]}")
    results, last = s.results(name + ".sweep"), {}
    for (task, attempt), r in results.items():
        if r["outcome"] == "ok":
            check(task not in last, f"{name}: {task} finished twice")
            last[task] = attempt
    check(len(last) == n_tasks, f"{name}: {len(last)} of {n_tasks} have a result that is ok")
    again = [(t, a) for t, a in results if t in last and a > last[t]]
    check(not again, f"{name}: finished, and run again: {again}")
    begun = [v for v in s.journal(name + ".sweep") if v["event"] == "start"]
    check(len(begun) == d["attempts"] == len(results), f"{name}: {len(begun)} begins, {len(results)} results")
    return d


def kills(s):
    seed = random.randrange(1 << 30)
    n_tasks = 40 + 20 * KILLS  # more than a quick machine ends between so many kills
    s.plan("kill.yaml", """
matrix: {n: [%s]}
retries: 1000
shell: |
  exec 9>>{base}/mine-$INCORE_DEVICES; flock -n 9 || echo clash >> {base}/clash-{cell}
  echo {cell} {attempt} >> {base}/ledger
  sleep 0.05
needs: {devices: 1}
pool: {devices: [sim:0, sim:1, sim:2, sim:3]}
""" % ", ".join(map(str, range(n_tasks))))
    n = kill_and_resume(s, "kill", KILLS, seed)
    check(n == KILLS, f"only {n} kills of {KILLS} before its end (seed {seed})")
    d = judge_kills(s, "kill", n_tasks)
    with open(os.path.join(s.tmp, "ledger")) as f:
        ledger = [tuple(map(int, line.split())) for line in f]
    done = {t["cell"]: t["attempts"] for t in d["by_task"]}
    check(len(set(ledger)) == len(ledger) and all(a <= done[c] for c, a in ledger), f"an attempt ran twice, or after the last (seed {seed})")
    check(not glob.glob(os.path.join(s.tmp, "clash-*")), f"a device had two tasks at once (seed {seed})")


def kills_of_profile(s):
    """The same with cells that are `incore profile` of a build; its kernel is compiled once."""
    make.vectors(os.path.join(s.tmp, "b", "ptoas"), 1)
    first = subprocess.run([s.program, "profile", "--build-dir", "b", "-q"], cwd=s.tmp, env=s.env, capture_output=True, text=True)
    check(first.returncode == 0, f"profile alone: {first.stderr}")
    s.plan("real.yaml", """
matrix: {n: [0, 1, 2, 3, 4, 5, 6, 7]}
retries: 100
profile: [--build-dir, "{base}/b", -q]
captures: ["{out}/profile/*/funcs/*/trace.incore"]
pool: {slots: 2}
""")
    kill_and_resume(s, "real", 4, 1)
    d = judge_kills(s, "real", 8)
    check(all(len(t["captures"]) == 1 for t in d["by_task"]), f"a trace a kernel: {d['by_task'][:1]}")


def wrong_plans(s):
    """Each with its file and line."""
    for text, line, part in (
            ("run: [x]\nmatrx: {}\n", 2, "no 'matrx' here"), ("matrix: {a: [1]}\n", 1, "expected one of run, shell"),
            ("run: ['{b}']\nmatrix: {a: [1]}\n", 1, "'{b}' is no parameter"), ("run: [x]\nshell: y\n", 2, "one of run, shell"),
            ("run: [x]\ntimeout: soon\n", 2, "expected a number"), ("run: [x]\nmatrix:\n  a: 3\n", 3, "list of values"),
            ("run: [x]\nmatrix:\n  a: [{x: 1}, {y: 1}]\n", 3, "same parameters"), ("run: [x]\nneeds: {devices: 99}\n", 2, "from 0 to 32"),
            ("run: [x]\npool: {devices: [0]}\n", 2, "KIND:NUMBER"), ("run: [x]\nexclude: [{z: 1}]\n", 2, "no parameter of the matrix"),
            ("run: [x]\nmatrix: {out: [1]}\n", 2, "means something else"), ("run: [[x]]\n", 1, "one value"), ("run: [x\n", 2, "")):
        s.plan("wrong.yaml", text)
        p = s.run("wrong.yaml", "--dry-run")
        check(p.returncode == 3 and re.search(rf"wrong\.yaml:{line}:\d+: .*{re.escape(part)}", p.err), f"{text!r}: {p.returncode} {p.err}")


def main():
    build = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as tmp:
        s = Sweep(os.path.join(build, "incore"), tmp)
        for part in (plain_plan, outcomes, devices, found, cancel, kills, kills_of_profile, wrong_plans):
            if not sys.argv[2:] or part.__name__ in sys.argv[2:]:
                part(s)
        if not sys.argv[2:] or "capture_of" in sys.argv[2:]:
            capture_of(s, os.path.join(os.path.dirname(HERE), "data"))
        if not sys.argv[2:] or "stand_in" in sys.argv[2:]:
            stand_in(s, build)
    print(f"{RESULT[0]} passed, {RESULT[1]} failed, 0 skipped")
    return RESULT[1] > 0


if __name__ == "__main__":
    sys.exit(main())
