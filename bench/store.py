#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`incore store` with 10,000 captures, against the same in plain Python and sqlite3, in one run.

usage: bench/store.py [--incore build/incore] [--captures 10000]

Adding: the same rows into the same schema, a transaction a capture: by a script that exports each capture and copies its rows (some of
them: it takes long), and by Python alone from rows that somebody else made, as a floor.
History: the cycles of all captures, their noise and the one change, by the same rule. Both also at a quarter of the captures: time grows as the number does.
The same in PostgreSQL, of a server of its own: against a script that exports each capture and gives its rows to psql, a transaction a capture, and
against psql and Python; the server's work beside. Skipped where no server can be started.
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
sys.path.insert(0, os.path.join(ROOT, "tests", "store"))
from server import Server  # noqa: E402

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
    sql = "SELECT cycles FROM entries JOIN captures USING (capture) ORDER BY kernel, arch, evidence, labels, at, capture"
    if path.startswith("postgresql://"):
        said = subprocess.run(["psql", "-XqAt", path, "-c", "SET search_path = incore", "-c", sql], check=True, capture_output=True, text=True).stdout
        values = [int(x) for x in said.split()]
    else:
        values = [r[0] for r in sqlite3.connect(path).execute(sql)]
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


def copy_text(value):
    text = "\\N" if value is None else str(value)
    return text if value is None else text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def script_postgres(incore, uri, work, captures, entry):
    """What a user would write: each capture exported, its rows given to psql."""
    for number, capture in enumerate(captures, 2):
        made = os.path.join(work, "one")
        subprocess.run([incore, "export", "-q", "--to", "sqlite", "-o", made, capture], check=True, stdout=subprocess.DEVNULL)
        one = sqlite3.connect(made)
        text = ["SET search_path = incore; BEGIN;"]
        for name in ("entries", *TABLES):
            if name == "entries":
                columns, rows = entry[0], [[number, *entry[1][1:-1], number]]
            else:
                found = one.execute(f"SELECT * FROM {name}")
                columns, rows = [c[0] for c in found.description], [[number, *r[1:]] for r in found]
            names = ",".join(f'"{c}"' for c in columns)
            text.append(f"COPY {name} (rowid,{names}) FROM STDIN;")
            text += ["\t".join(copy_text(v) for v in (i, *r)) for i, r in enumerate(rows, 1)] + ["\\."]
        one.close()
        subprocess.run(["psql", "-Xq", "-v", "ON_ERROR_STOP=1", uri], input="\n".join([*text, "COMMIT;", ""]), text=True, check=True)


def histories(incore, ours, plain, n):
    """Medians of ours and Python's; both must find the one change."""
    times = [(timed(lambda: ours_history(incore, ours)), timed(lambda: python_child(plain))) for _ in range(5)]
    found, plain_found = json.loads(times[0][0][1])["data"]["series"], json.loads(times[0][1][1])
    if len(found) != 1 or found[0]["captures"] != n or len(found[0]["changes"]) != 1 or len(plain_found) != 2:
        sys.exit(f"not the same history: {len(found)} series, {len(plain_found)} stretches")
    history, python_time = (statistics.median(t[i][0] for t in times) for i in (0, 1))
    print(f"       history {history:.3f} s, Python {python_time:.3f} s, ratio {python_time / history:.2f}")
    return history


def measure_postgres(incore, server, work, captures, n):
    uri, scripted = server.new(f"ours{n}"), server.new(f"script{n}")
    begin = server.cpu_s()
    add, _ = timed(lambda: ours_add(incore, uri, captures))
    served, some = server.cpu_s() - begin, min(n, SCRIPTED)
    ours_add(incore, scripted, captures[:1])
    names = [c for c, in server.sql(f"script{n}", "SELECT attname FROM pg_attribute WHERE attrelid ="
                                    " 'incore.entries'::regclass AND attnum > 0 AND attname <> 'rowid' ORDER BY attname = 'digest', attnum")]  # the digest last
    row = server.sql(f"script{n}", f"SELECT {','.join(names)} FROM incore.entries")[0]
    begin = server.cpu_s()
    script, _ = timed(lambda: script_postgres(incore, scripted, work, captures[1:some], (names, row)))
    script_served = server.cpu_s() - begin
    print(f"{n:6} captures in PostgreSQL: add {add:.2f} s, {1e3 * add / n:.2f} ms each, and {1e3 * served / n:.2f} ms of the server; "
          f"a script with `incore export` and psql {1e3 * script / (some - 1):.2f} ms each, ratio {script / (some - 1) * n / add:.2f}, "
          f"and {1e3 * script_served / (some - 1):.2f} ms of the server")
    return add, served, histories(incore, uri, uri, n)


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
    print(f"{n:6} captures, {os.path.getsize(store) >> 20} MiB: add {add:.2f} s, {1e3 * add / n:.2f} ms each; "
          f"a script with `incore export` and sqlite3 {1e3 * script / some:.2f} ms each, ratio {script / some * n / add:.2f}; "
          f"sqlite3 alone, of rows that are there already, {1e3 * python / n:.2f} ms each")
    return add, histories(incore, store, plain, n)


def postgres_rows(incore, work, captures, sizes):
    server = Server()
    try:
        if server.why:
            print(f"PostgreSQL: skipped: {server.why}")
            return
        few, many = (measure_postgres(incore, server, work, captures[n], n) for n in sizes)
        print(f"four times the captures in PostgreSQL: add {many[0] / few[0]:.2f} times, the server {many[1] / few[1]:.2f} times, "
              f"history {many[2] / few[2]:.2f} times the time")
    finally:
        server.close()


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
        sizes = (o.captures // 4, o.captures)
        for n in sizes:  # two that differ by noise, and from the middle on a slower one
            captures[n] = [os.path.join(work, f"{n}-{i}.incore") for i in range(n)]
            for i, path in enumerate(captures[n]):
                os.link(packed[2 if i >= n // 2 else i % 2], path)
        few, many = (measure(o.incore, work, captures[n], n) for n in sizes)
        print(f"four times the captures: add {many[0] / few[0]:.2f} times, history {many[1] / few[1]:.2f} times the time")
        postgres_rows(o.incore, work, captures, sizes)
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
