#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much of the time of eight devices does a sweep use, with tasks that crash, hang, and a device that dies?

usage: sweep.py --incore PROGRAM --dir SCRATCH [--cells N] [--against N]

Cells sleep: no device is needed, and two cores suffice. Ideal is the time that the tasks ask for (of one that hangs, its timeout),
over the time that devices were in the pool. Then the same without mishaps against the pool that people write in Python: a free
list, a queue, Popen and poll, without a lease, a journal, a retry or a timeout.
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import time

TIMEOUT_S = 4.0
PLAN = """name: bench
matrix:
  task:
%s
retries: 3
timeout: 4s
shell: |
  test {n} != %d || touch {base}/dead
  test $INCORE_DEVICES != sim:5 || test ! -e {base}/dead || exit 9
  case {fate}{attempt} in
  crash1) sleep {half}; kill -SEGV $$;;
  hang1) exec sleep 1000;;
  esac
  exec sleep {d}
needs: {devices: 1}
pool:
  devices: [sim:0, sim:1, sim:2, sim:3, sim:4, sim:5, sim:6, sim:7]
  health: [sh, -c, 'test "$0" != 5 || test ! -e %s', "{device}"]
"""


def make_cells(n, mishaps):
    dice = random.Random(7)
    fates = ["ok"] * n
    for i in range(n if mishaps else 0):
        x = dice.random()
        fates[i] = "crash" if x < 0.05 else "hang" if x < 0.06 else "ok"
    return [{"n": i, "d": round(dice.uniform(1.0, 2.0), 3), "fate": f} for i, f in enumerate(fates)]


def sweep(program, top, cells, dies_at):
    shutil.rmtree(top, ignore_errors=True)
    os.makedirs(top)
    rows = "".join(f"    - {{n: {c['n']}, d: {c['d']}, half: {c['d'] / 2:.3f}, fate: {c['fate']}}}\n" for c in cells)
    with open(os.path.join(top, "plan.yaml"), "w") as f:
        f.write(PLAN % (rows, dies_at, os.path.join(top, "dead")))
    p = subprocess.run([program, "sweep", "plan.yaml", "-o", "out", "--json"], cwd=top, capture_output=True, text=True,
                       env={**os.environ, "INCORE_LEASES": top})
    if p.returncode:
        sys.exit(f"sweep failed: {p.stderr[-2000:]}")
    return json.loads(p.stdout)["data"], [json.loads(line) for line in p.stderr.splitlines() if line.startswith("{")]


def asked_for(cells, events):
    """Seconds that the attempts ask for."""
    total, attempts = 0.0, {}
    for v in events:
        if v["event"] != "end":
            continue
        c, n = cells[v["task"]], v["attempt"]
        if v["outcome"] == "machine":
            continue  # it failed at once on the dead device
        total += {"crash1": c["d"] / 2, "hang1": TIMEOUT_S}.get(f"{c['fate']}{n}", c["d"])
        attempts[v["task"]] = n
    return total


def device_time(events, n_devices):
    """Seconds that devices were in the pool, until the last end."""
    begin = min(v["unix_ms"] for v in events if v["event"] == "start")
    end = max(v["unix_ms"] for v in events if v["event"] == "end")
    gone = sum(end - v["unix_ms"] for v in events if v["event"] == "sick")
    return (n_devices * (end - begin) - gone) / 1000, (end - begin) / 1000


def python_pool(cells, n_devices):
    """What people write."""
    free, queue, running, began = list(range(n_devices)), list(cells), {}, time.time()
    while queue or running:
        while free and queue:
            device = free.pop(0)
            running[device] = subprocess.Popen(["sh", "-c", f"exec sleep {queue.pop(0)['d']}"], env={**os.environ, "INCORE_DEVICES": str(device)})
        for device, p in list(running.items()):
            if p.poll() is not None:
                del running[device]
                free.append(device)
        time.sleep(0.05)
    return time.time() - began


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--incore", required=True)
    parser.add_argument("--dir", required=True)
    parser.add_argument("--cells", type=int, default=1000)
    parser.add_argument("--against", type=int, default=160)
    args = parser.parse_args()
    top = os.path.join(os.path.abspath(args.dir), "sweep-bench")
    cells = make_cells(args.cells, True)
    d, events = sweep(os.path.abspath(args.incore), top, cells, args.cells // 5)
    pool_s, wall_s = device_time(events, 8)
    asked = asked_for(cells, events)
    print(f"{args.cells} cells on 8 devices: {d['ok']} ok, {d['failed']} failed, {d['waiting'] + d['running'] + d['cancelled']} others; "
          f"{sum(c['fate'] == 'crash' for c in cells)} crash, {sum(c['fate'] == 'hang' for c in cells)} hang, "
          f"{len(d['sick'])} device died ({d['lost']} attempts lost); {d['attempts']} attempts, {d['retries']} retries")
    print(f"utilisation: {asked:.1f} s asked for in {pool_s:.1f} s of devices ({wall_s:.1f} s wall): {asked / pool_s:.3f} of ideal")
    cells = make_cells(args.against, False)
    d, events = sweep(os.path.abspath(args.incore), top, cells, -1)
    wall_s, python_s = device_time(events, 8)[1], python_pool(cells, 8)
    print(f"{args.against} cells without mishaps: {wall_s:.2f} s; a pool in Python without a journal: {python_s:.2f} s; ratio {wall_s / python_s:.3f}")
    shutil.rmtree(top, ignore_errors=True)


if __name__ == "__main__":
    main()
