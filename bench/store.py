#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`incore store` with 10,000 captures, against the same in plain Python and sqlite3, in one run.

usage: bench/store.py [--incore build/incore] [--captures 10000]

Adding: Python reads what `incore` would be asked for each capture as JSON, made before and not timed, so that it has only to put
the rows of the same tables into the same schema, a transaction a capture; ours reads and analyses the capture, too.
History: the cycles of all captures, their noise and the one change, by the same rule. Both also at a quarter of the captures: time grows as the number does.
"""
import argparse
import json
import math
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLES = ("captures", "code", "causes", "producers", "findings", "notes")
WINDOW = 32


def timed(what):
    begin = time.perf_counter()
    got = what()
    return time.perf_counter() - begin, got


def python_add(schema, path, texts, entries):
    db = sqlite3.connect(path, isolation_level=None)
    db.executescript("PRAGMA journal_mode=wal; PRAGMA synchronous=full;" + schema)
    for entry, text in zip(entries, texts):
        read = json.loads(text)  # what the capture says comes as text
        db.execute("BEGIN IMMEDIATE")
        db.execute(f"INSERT INTO entries VALUES ({','.join('?' * len(entry))})", entry)
        for name, rows in read.items():
            if rows:
                db.executemany(f"INSERT INTO {name} VALUES ({','.join('?' * len(rows[0]))})", [[entry[0], *r[1:]] for r in rows])
        db.execute("COMMIT")
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


def ours_add(incore, store, captures):
    subprocess.run([incore, "store", "add", "-q", "--store", store, *captures], check=True, stdout=subprocess.DEVNULL)


def ours_history(incore, store):
    p = subprocess.run([incore, "store", "history", "--json", "--store", store, "--movers", "0", "--figure", "cycles"], check=True, capture_output=True)
    return json.loads(p.stdout)["data"]["series"]


def measure(incore, work, captures, n):
    store, plain = os.path.join(work, f"ours-{n}"), os.path.join(work, f"plain-{n}")
    add, _ = timed(lambda: ours_add(incore, store, captures))
    db = sqlite3.connect(store)
    schema = ";".join(r[0] for r in db.execute("SELECT sql FROM sqlite_schema WHERE sql NOT NULL ORDER BY type = 'view', type = 'index'"))
    entries = db.execute("SELECT * FROM entries ORDER BY capture").fetchall()
    made = {k: json.dumps({t: db.execute(f"SELECT * FROM {t} WHERE capture = {k}").fetchall() for t in TABLES}) for k in (1, 2, n)}
    db.close()
    python, _ = timed(lambda: python_add(schema, plain, [made[n if i >= n // 2 else 1 + i % 2] for i in range(n)], entries))
    times = [(timed(lambda: ours_history(incore, store)), timed(lambda: python_history(plain))) for _ in range(5)]
    found, plain_found = times[0][0][1], times[0][1][1]
    if len(found) != 1 or found[0]["captures"] != n or len(found[0]["changes"]) != 1 or len(plain_found) != 2:
        sys.exit(f"not the same history: {len(found)} series, {len(plain_found)} stretches")
    history, python_time = (statistics.median(t[i][0] for t in times) for i in (0, 1))
    print(f"{n:6} captures  add {add:7.2f} s ({1e3 * add / n:.2f} ms each), Python {python:7.2f} s, ratio {python / add:.2f};  "
          f"history {history:6.3f} s, Python {python_time:6.3f} s, ratio {python_time / history:.2f};  {os.path.getsize(store) >> 20} MiB")
    return add, history


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--incore", default=os.path.join(ROOT, "build", "incore"))
    a.add_argument("--captures", type=int, default=10000)
    o = a.parse_args()
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
