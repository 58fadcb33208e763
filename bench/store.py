#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`incore store` with 10,000 captures, against the same in plain Python and sqlite3, in one run.

usage: bench/store.py [--incore build/incore] [--captures 10000]

Adding: the same rows into the same schema, a transaction a capture: by a script that exports each capture and copies its rows (some of
them: it takes long), and by Python alone from rows that somebody else made, as a floor.
History: the cycles of all captures, their noise and the one change, by the same rule. Both also at a quarter of the captures: time grows as the number does.
All times are seconds of work (user and system).
"""
import argparse
import json
import math
import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLES = ("captures", "code", "causes", "producers", "findings", "notes")
WINDOW = 32
SCRIPTED = 200  # captures that the script adds


def spent():
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def timed(what):
    """Seconds of work, of this process and its children: others on the machine do not count."""
    begin = spent()
    got = what()
    return spent() - begin, got


def python_add(schema, path, texts, entries):
    db = sqlite3.connect(path, isolation_level=None)
    db.executescript("PRAGMA journal_mode=wal; PRAGMA synchronous=normal;" + schema)
    for entry, text in zip(entries, texts):
        read = json.loads(text)  # what the capture says comes as text
        db.execute("BEGIN IMMEDIATE")
        db.execute(f"INSERT INTO entries VALUES ({','.join('?' * len(entry))})", entry)
        for name, rows in read.items():
            if rows:
                db.executemany(f"INSERT INTO {name} VALUES ({','.join('?' * len(rows[0]))})", [[entry[0], *r[1:]] for r in rows])
        db.execute("COMMIT")
    db.close()


def script_add(incore, schema, path, captures, entries):
    """What a user would write: each capture exported, its rows copied."""
    db = sqlite3.connect(path, isolation_level=None)
    db.executescript("PRAGMA journal_mode=wal; PRAGMA synchronous=normal;" + schema)
    for capture, entry in zip(captures, entries):
        made = path + ".one"
        subprocess.run([incore, "export", "-q", "--to", "sqlite", "-o", made, capture], check=True, stdout=subprocess.DEVNULL)
        one = sqlite3.connect(made)
        db.execute("BEGIN IMMEDIATE")
        db.execute(f"INSERT INTO entries VALUES ({','.join('?' * len(entry))})", entry)
        for name in TABLES:
            rows = one.execute(f"SELECT * FROM {name}").fetchall()
            if rows:
                db.executemany(f"INSERT INTO {name} VALUES ({','.join('?' * len(rows[0]))})", [[entry[0], *r[1:]] for r in rows])
        db.execute("COMMIT")
        one.close()
    db.close()


def python_history(path):
    """The rule of incore-store(1)."""
    db = sqlite3.connect(path)
    values = [r[0] for r in db.execute("SELECT cycles FROM entries JOIN captures USING (capture) ORDER BY kernel, arch, evidence, labels, at, capture")]
    noise = 1.4826 / math.sqrt(2) * statistics.median(abs(b - a) for a, b in zip(values, values[1:]))
    stretches, window, first = [], [], 0

    def side(x):
        level, m = statistics.median(window), len(window)
        limit = max(4 * noise * math.sqrt(1 + 2 / m), 0.01 * level)
        return (x > level + limit) - (x < level - limit)

    for i, x in enumerate(values):
        off = side(x) if window else 0
        if off == 0:
            if len(window) < WINDOW:
                window.append(x)
        elif i + 1 < len(values) and side(values[i + 1]) == off:
            stretches.append((first, statistics.median(window)))
            window, first = [x], i
    stretches.append((first, statistics.median(window)))
    return stretches


def python_child(path):
    return subprocess.run([sys.executable, __file__, "--history", path], check=True, capture_output=True).stdout


def ours_add(incore, store, captures):
    subprocess.run([incore, "store", "add", "-q", "--store", store, *captures], check=True, stdout=subprocess.DEVNULL)


def ours_history(incore, store):
    words = [incore, "store", "history", "--json", "--store", store, "--movers", "0", "--last", "1", "--figure", "cycles"]
    return subprocess.run(words, check=True, capture_output=True).stdout


def measure(incore, work, captures, n):
    store, plain = os.path.join(work, f"ours-{n}"), os.path.join(work, f"plain-{n}")
    add, _ = timed(lambda: ours_add(incore, store, captures))
    db = sqlite3.connect(store)
    schema = ";".join(r[0] for r in db.execute("SELECT sql FROM sqlite_schema WHERE sql NOT NULL ORDER BY type = 'view', type = 'index'"))
    entries = db.execute("SELECT * FROM entries ORDER BY capture").fetchall()
    made = {k: json.dumps({t: db.execute(f"SELECT * FROM {t} WHERE capture = {k}").fetchall() for t in TABLES}) for k in (1, 2, n)}
    db.close()
    python, _ = timed(lambda: python_add(schema, plain, [made[n if i >= n // 2 else 1 + i % 2] for i in range(n)], entries))
    some = min(n, SCRIPTED)
    script, _ = timed(lambda: script_add(incore, schema, plain + ".script", captures[:some], entries))
    times = [(timed(lambda: ours_history(incore, store)), timed(lambda: python_child(plain))) for _ in range(5)]
    found, plain_found = json.loads(times[0][0][1])["data"]["series"], json.loads(times[0][1][1])
    if len(found) != 1 or found[0]["captures"] != n or len(found[0]["changes"]) != 1 or len(plain_found) != 2:
        sys.exit(f"not the same history: {len(found)} series, {len(plain_found)} stretches")
    history, python_time = (statistics.median(t[i][0] for t in times) for i in (0, 1))
    print(f"{n:6} captures, {os.path.getsize(store) >> 20} MiB: add {add:.2f} s, {1e3 * add / n:.2f} ms each; "
          f"a script with `incore export` and sqlite3 {1e3 * script / some:.2f} ms each, ratio {script / some * n / add:.2f}; "
          f"sqlite3 alone, of rows that are there already, {1e3 * python / n:.2f} ms each")
    print(f"       history {history:.3f} s, Python {python_time:.3f} s, ratio {python_time / history:.2f}")
    return add, history


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--incore", default=os.path.join(ROOT, "build", "incore"))
    a.add_argument("--captures", type=int, default=10000)
    a.add_argument("--history", help="of a store of Python's, in a process of its own")
    o = a.parse_args()
    if o.history:
        print(json.dumps(python_history(o.history)))
        return
    work = tempfile.mkdtemp(prefix="incore-bench-store-")
    try:
        packed = [os.path.join(work, f"{name}.incore") for name in "abc"]
        data = os.path.join(ROOT, "tests", "data")
        for to, source in zip(packed, ("repeated/ui_output_agent_1000_dispatch_7", "repeated/ui_output_agent_1000_dispatch_9", "gemm")):
            subprocess.run([o.incore, "pack", "-q", "-o", to, os.path.join(data, source)], check=True, stdout=subprocess.DEVNULL)
        captures = {}
        for n in (o.captures // 4, o.captures):  # two that differ by noise, and from the middle on a slower one
            captures[n] = [os.path.join(work, f"{n}-{i}.incore") for i in range(n)]
            for i, path in enumerate(captures[n]):
                os.link(packed[2 if i >= n // 2 else i % 2], path)
        few, many = (measure(o.incore, work, captures[n], n) for n in (o.captures // 4, o.captures))
        print(f"four times the captures: add {many[0] / few[0]:.2f} times, history {many[1] / few[1]:.2f} times the time")
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
