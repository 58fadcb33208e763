#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A large store of made-up figures: one capture, added by incore, and copies of its rows. The figures are drawn around a level each, with 0.4 % of
noise; a third of the series get 20 % slower after 70 % of their captures.

usage: many.py INCORE CAPTURE STORE CAPTURES SERIES [KERNEL]
"""
import random
import sqlite3
import subprocess
import sys

TABLES = ("entries", "captures", "code", "causes", "producers", "findings", "notes")
ROWS = 3  # of each table and capture: enough to be told, few enough for ten thousand


def main():
    incore, capture, store, n, series = *sys.argv[1:4], int(sys.argv[4]), int(sys.argv[5])
    subprocess.run([incore, "store", "add", "-q", "--store", store, capture], check=True, stdout=subprocess.DEVNULL)
    chance, db = random.Random(1), sqlite3.connect(store)
    first = {t: db.execute(f"SELECT * FROM {t}") for t in TABLES}
    first = {t: [dict(zip([c[0] for c in q.description], row)) for row in q.fetchall()[:ROWS]] for t, q in first.items()}
    for t in TABLES:
        db.execute(f"DELETE FROM {t}")
    for i in range(1, n + 1):
        s = i % series
        factor = (1 + s % 7 / 10) * (1.2 if i > 0.7 * n and s % 3 == 0 else 1) * chance.gauss(1, 0.004)
        for t, rows in first.items():
            for row in rows:
                row["capture"] = i
                if t == "captures" and len(sys.argv) > 6:
                    row["kernel"] = sys.argv[6]
                if t == "entries":
                    for figure in ("duration", "cycles"):
                        row.setdefault("of " + figure, row[figure])
                        row[figure] = int(row["of " + figure] * factor)
                    row.update(digest=f"{i:064x}", at=1700000000 + 3600 * i, labels=f"device={s % 8},size={s}", revision=f"r{i // 50}")
                names = [k for k in row if not k.startswith("of ")]
                db.execute(f"INSERT INTO {t} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})", [row[k] for k in names])
    db.commit()


if __name__ == "__main__":
    main()
