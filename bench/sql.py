#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`incore sql` over a packed capture against the same queries over the same rows in an SQLite file, in one run.

usage: bench/sql.py [--incore build/incore] [--capture DIR] [--slices 20000000]

Claims measured here: a condition on track, row or time that keeps about 1 % is at least 20 times faster than over the table, a
full scan with a group is not slower, and memory is bounded. The table has the columns of `slices` and no index, as an exported
one; SQLite is Python's, on a database that is in the page cache. `first` is a query of its own, less what it takes to start and
to open: it unpacks the tracks that it looks at. `open` is a further query of a session that has read them, as in the shell: the
difference between twelve such queries and two, for each. CPU seconds, medians of five runs; both sides must give the same rows.
"""
import argparse
import csv
import io
import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from replicate import replicate  # noqa: E402

RUNS = 5
COLUMNS = "capture, track, slice, start, duration, stall, row, class, category"


def run(command):
    """CPU seconds, peak MB and stdout of one child."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    out = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{command}: exit status {status}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, out.decode()


def ours(incore, packed, *queries):
    """The median of five runs: CPU seconds, the largest peak, the rows of the last query."""
    command = [incore, "sql", "-q", "--csv", "--rows", "all", "--timeout", "0", "-j", "1", packed, ";".join(queries)]
    runs = [run(command) for _ in range(RUNS)]
    parts = runs[0][2].split("\r\n")
    rows = list(csv.reader(io.StringIO("\n".join(parts[len(parts) // len(queries) * (len(queries) - 1):]))))[1:]
    return statistics.median(r[0] for r in runs), max(r[1] for r in runs), [r for r in rows if r]


def theirs(path, query):
    spent, rows = [], None
    for _ in range(RUNS):
        db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        start = time.process_time()
        rows = db.execute(query).fetchall()
        spent.append(time.process_time() - start)
        db.close()
    return statistics.median(spent), [["" if v is None else str(v) for v in r] for r in rows]


def fill(incore, packed, path):
    """The table, as an export makes it: one transaction, no index."""
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode = off")
    db.execute("PRAGMA synchronous = off")
    db.execute("CREATE TABLE slices(capture INTEGER, track INTEGER, slice INTEGER, start INTEGER, duration INTEGER, stall INTEGER,"
               " row INTEGER, class TEXT, category INTEGER)")
    child = subprocess.Popen([incore, "sql", "-q", "--csv", "--rows", "all", "--timeout", "0", packed, f"SELECT {COLUMNS} FROM slices"],
                             stdout=subprocess.PIPE, text=True)
    rows = csv.reader(child.stdout)
    next(rows)
    db.executemany("INSERT INTO slices VALUES (?, ?, ?, ?, ?, ?, nullif(?, ''), ?, ?)", rows)
    db.commit()
    db.close()
    if child.wait():
        sys.exit("the slices cannot be read")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--incore", default="build/incore")
    parser.add_argument("--capture", required=True)
    parser.add_argument("--slices", type=int, default=20000000)
    args = parser.parse_args()
    incore = os.path.abspath(args.incore)
    work = tempfile.mkdtemp(prefix="incore-bench-sql-")
    try:
        big, packed, table = (os.path.join(work, n) for n in ("big", "big.incore", "big.db"))
        one = int(ours(incore, args.capture, "SELECT count(*) FROM slices")[2][0][0])
        replicate(args.capture, big, max(1, args.slices // one))
        run([incore, "pack", "-q", big, "-o", packed])
        shutil.rmtree(big)
        fill(incore, packed, table)
        base = ours(incore, packed, "SELECT 1")[0]
        (n, tracks, end), = [[int(v) for v in r] for r in ours(
            incore, packed, "SELECT (SELECT count(*) FROM slices), count(*), max(\"end\") FROM tracks")[2]]
        row = ours(incore, packed, "SELECT row FROM (SELECT row, count(*) n FROM slices GROUP BY row)"
                   f" ORDER BY abs(n - {n // 100}) LIMIT 1")[2][0][0]
        print(f"{n:,} slices, {tracks:,} tracks; packed {os.path.getsize(packed) / 1e6:.0f} MB, table {os.path.getsize(table) / 1e6:.0f} MB; "
              f"to start and open: {base:.2f} s\n")
        print("| query | rows | table s | first s | times | open s | times | peak MB |\n|---|---:|---:|---:|---:|---:|---:|---:|")
        some = max(1, tracks // 100)
        for name, where in (("track, 1 %", f"WHERE track >= {tracks // 2} AND track < {tracks // 2 + some}"),
                            ("row, about 1 %", f"WHERE row = {row}"),
                            ("time, 1 %", f"WHERE start >= {end // 2} AND start < {end // 2 + end // 100}"),
                            ("full scan, group by class", "GROUP BY class"), ("full scan, group by track", "GROUP BY track"),
                            ("full scan, sum", "")):
            key = {"GROUP BY class": "class, ", "GROUP BY track": "track, "}.get(where, "")
            query = f"SELECT {key}count(*), sum(duration), sum(stall) FROM slices {where}"
            cpu, peak, rows = ours(incore, packed, query)
            other, other_rows = theirs(table, query)
            if sorted(rows) != sorted(other_rows):
                sys.exit(f"{name}: {rows[:2]} is not {other_rows[:2]}")
            cpu = max(cpu - base, 0.001)
            two, twelve = ours(incore, packed, query, query), ours(incore, packed, *[query] * 12)
            again = max((twelve[0] - two[0]) / 10, 0.0001)
            kept = sum(int(r[1 if key else 0]) for r in rows)
            print(f"| {name} | {kept:,} | {other:.3f} | {cpu:.3f} | {other / cpu:.1f} | {again:.4f} | {other / again:.1f} | {max(peak, twelve[1]):.0f} |",
                  flush=True)
    finally:
        shutil.rmtree(work)
    print(f"\npeak of Python with SQLite: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
