#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""incore store: are its tables those of `incore sql`, do writers at once and writers that are killed leave only whole captures,
is a store of anyone's refused or read without harm, is one of an earlier version brought up to date, does a sweep fill it, is what somebody accepted kept?

usage: run.py BUILD_DIR
"""
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(ROOT, "tests", "data")
PROGRAM = os.path.join(os.path.abspath(sys.argv[1]), "incore")
TIMES = int(os.environ.get("TIMES", "1"))
TABLES = ("captures", "code", "causes", "producers", "findings", "notes")
passed = failed = 0


def check(name, ok, text=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAIL {name}: {str(text)[:600]}")


def command(*words):
    return [PROGRAM, *words]


def incore(*words):
    return subprocess.run(command(*words), cwd=DATA, capture_output=True, text=True, timeout=300, errors="replace")


def rows(path, query):
    db = sqlite3.connect(path)
    try:
        return db.execute(query).fetchall()
    finally:
        db.close()


def is_whole(path):
    """Every capture has all of its rows in every table, none has rows without an entry; the file itself is sound."""
    counts = {t: dict(rows(path, f"SELECT capture, count(*) FROM {t} GROUP BY 1")) for t in ("entries", *TABLES)}
    entries = set(counts["entries"])
    same = all(set(c) <= entries and len(set(c.values())) <= 1 for c in counts.values())
    return same and set(counts["code"]) == set(counts["causes"]) == entries and rows(path, "PRAGMA integrity_check") == [("ok",)]


def test_tables(tmp):
    store = os.path.join(tmp, "tables")
    incore("store", "add", "--store", store, "gemm")
    for table in TABLES:
        want = json.loads(incore("sql", "--json", "--rows", "all", "gemm", f"SELECT * FROM {table}").stdout)["data"]
        got = [list(r) for r in rows(store, f"SELECT * FROM {table}")]
        check(f"{table} is the table of sql", got == want["rows"] and (got or table == "notes"), (got[:2], want["rows"][:2]))
    lines = rows(store, "SELECT sum(cycles) FROM lines")
    check("the lines have all cycles of rows", lines == rows(store, "SELECT sum(cycles) FROM causes WHERE row IS NOT NULL"), lines)
    check("the kernels", rows(store, "SELECT kernel, captures FROM kernels") == [("gemm_f16", 1)])


def copies(tmp, n):
    out = []
    for i in range(n):
        out.append(os.path.join(tmp, "captures", str(i)))
        shutil.copytree(os.path.join(DATA, "two_waves"), out[-1])
    return out


def test_writers_at_once(tmp, captures):
    store = os.path.join(tmp, "many")
    children = [subprocess.Popen(command("store", "add", "--store", store, *captures[i::4]), stdout=subprocess.DEVNULL) for i in range(4)]
    check("writers at once end well", [c.wait(120) for c in children] == [0] * 4)
    check("all of theirs is there", rows(store, "SELECT count(*), max(capture) FROM entries") == [(len(captures),) * 2])
    check("whole", is_whole(store))
    again = incore("store", "add", "--store", store, "--csv", *captures).stdout
    check("nothing is added twice", again.count(",there,") == len(captures), again)


def count(store):
    return rows(store, "SELECT count(*) FROM entries")[0][0] if os.path.exists(store) else 0


def test_killed_writers(tmp, captures):
    store = os.path.join(tmp, "killed")
    chance, before = random.Random(5), 0
    for i in range(6 * TIMES):
        child = subprocess.Popen(command("store", "add", "--store", store, "--at", f"@{i}", *captures), stdout=subprocess.DEVNULL)
        enough = chance.randrange(8)  # of the captures to come
        while child.poll() is None and count(store) < before + enough:
            time.sleep(0.001)
        child.send_signal(signal.SIGKILL)
        child.wait()
        if not os.path.exists(store):
            continue
        listed = incore("store", "ls", "--json", "--store", store)
        n = len(json.loads(listed.stdout)["data"]["captures"]) if listed.returncode == 0 else -1
        check(f"kill {i}: what was there stays, and is whole", n >= before and is_whole(store), (n, before, listed.stderr))
        before = n
    check("some were added, some were cut", 0 < before < 6 * TIMES * len(captures), before)


def changed(store, tmp, *sql):
    path = os.path.join(tmp, "changed")
    shutil.copyfile(store, path)
    db = sqlite3.connect(path)
    for line in sql:
        db.execute(line)
    db.commit()
    db.close()
    return path


def test_refused(tmp, store):
    for name, *sql in (
            ("a trigger", "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END"),
            ("a view in place of a table", "DROP TABLE notes", "CREATE VIEW notes AS SELECT 1 AS capture"),
            ("another view", "CREATE VIEW x AS SELECT 1"),
            ("a missing table", "DROP TABLE causes"),
            ("no table of what was accepted", "DROP TABLE acceptances"),
            ("an earlier version with another table of that name", "DROP TABLE acceptances", "CREATE TABLE acceptances (x)", "PRAGMA user_version=1"),
            ("a column of another type", "DROP TABLE notes",
             "CREATE TABLE notes (capture INTEGER, kind INTEGER, code TEXT, message TEXT, path TEXT, count INTEGER)"),
            ("a computed column", "ALTER TABLE notes DROP COLUMN count", "ALTER TABLE notes ADD COLUMN count INTEGER AS (capture + 1)"),
            ("a newer version", "PRAGMA user_version=99"),
            ("another application", "PRAGMA application_id=1")):
        path = changed(store, tmp, *sql)
        for words in (["ls"], ["gate"], ["add", "two_waves"]):
            p = incore("store", words[0], "--store", path, *words[1:])
            check(f"{name}: {words[0]} is refused", p.returncode == 3 and path in p.stderr, (p.returncode, p.stderr))


def test_upgraded(tmp, store):
    path = changed(store, tmp, "ALTER TABLE entries DROP COLUMN per_track", "ALTER TABLE code DROP COLUMN samples", "DROP TABLE acceptances", "PRAGMA user_version=0")
    p = incore("store", "ls", "--json", "--store", path)
    listed = json.loads(p.stdout)["data"]["captures"] if p.returncode == 0 else []
    check("a store of an earlier version is read", len(listed) == 2 and all(x["per_track"] is None for x in listed), p.stderr)
    check("and written", incore("store", "add", "--store", path, "gemm").returncode == 0 and rows(path, "PRAGMA user_version") == [(2,)])
    path = changed(store, tmp, "DROP TABLE acceptances", "PRAGMA user_version=1")
    p = incore("store", "accept", "--store", path, "--max", "1", "--because", "why", "gemm_f16")
    check("one without acceptances has a table of them", rows(path, "SELECT count(*) FROM acceptances") == [(0,)]
          and rows(path, "PRAGMA user_version") == [(2,)], p.stderr)
    path = changed(store, tmp, "ALTER TABLE entries DROP COLUMN per_track")
    check("not one that lacks a column of its version", incore("store", "ls", "--store", path).returncode == 3)


def test_damaged(tmp, store):
    """Bytes of the file changed, cut or swapped: any answer but a crash; never anything but the documented statuses."""
    chance, path = random.Random(9), os.path.join(tmp, "damaged")
    with open(store, "rb") as f:
        whole = f.read()
    for i in range(25 * TIMES):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 4, 30, 300))):
            data[chance.randrange(chance.choice((100, 4096, len(data))))] = chance.choice((0, 1, 0x7f, 0xff, chance.randrange(256)))
        if i % 5 == 0:
            del data[chance.randrange(len(data)):]
        for words in (["history"], ["show", "1"], ["add", "two_waves"]):
            with open(path, "wb") as f:
                f.write(data)
            p = incore("store", words[0], "--store", path, *words[1:])
            ok = p.returncode in (0, 2, 3, 6) and (p.returncode == 0 or p.stderr) and "Sanitizer" not in p.stderr and "runtime error" not in p.stderr
            check(f"damage {i}: {words[0]}", ok, (p.returncode, p.stderr))
            for end in ("-wal", "-shm", "-journal"):
                if os.path.exists(path + end):
                    os.remove(path + end)


def test_accepted(tmp):
    """Whoever accepts at once: each is kept, with a number of its own. What is pruned takes none with it, what is copied has its own alone."""
    store, copy = os.path.join(tmp, "accepted"), os.path.join(tmp, "accepted-copy")
    for label in ("a=1", "a=2"):
        for i, capture in enumerate(["repeated/ui_output_agent_1000_dispatch_7"] * 5 + ["gemm"]):
            incore("store", "add", "-q", "--store", store, "--at", f"@{i}", "-r", f"r{i}", "-l", label, capture)
    accept = command("store", "accept", "-q", "--store", store, "--figure", "cycles", "gemm_f16", "--because", "faster elsewhere: ' \\ ä")
    children = [subprocess.Popen([*accept, "--by", f"n{i}", "-l", f"a={1 + i % 2}"], cwd=DATA, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for i in range(4)]
    said = [c.communicate()[1].decode() for c in children]
    kept = rows(store, "SELECT acceptance, labels, who, because FROM acceptances ORDER BY acceptance")
    check("those who accept at once", [k[0] for k in kept] == list(range(1, len(kept) + 1)) and {k[1] for k in kept} == {"a=1", "a=2"}
          and sum(c.returncode == 0 for c in children) == len(kept) and all(c.returncode in (0, 2) for c in children), (kept, said))
    check("the words are kept", all(k[3] == "faster elsewhere: ' \\ ä" for k in kept), kept)
    check("the gate passes", incore("store", "gate", "--store", store, "--figure", "cycles").returncode == 0)
    check("another figure is not accepted", incore("store", "gate", "--store", store, "--figure", "wait").returncode == 1)
    further = shutil.copyfile(store, os.path.join(tmp, "further"))
    incore("store", "add", "-q", "--store", further, "--at", "@6", "-r", "r6", "-l", "a=1", "gemm")
    changed(further, tmp, "UPDATE entries SET cycles = 60000 WHERE at = 6")
    worse = json.loads(incore("store", "gate", "--json", "--store", os.path.join(tmp, "changed"), "--figure", "cycles").stdout)["data"]
    check("what is worse still is new", [(r["labels"], r["kind"], r["before"], r["now"]) for r in worse["regressions"]] ==
          [("a=1", "new", 43108, 60000), ("a=1", "accepted", 21552, 60000), ("a=2", "accepted", 21552, 43108)] and not worse["is_passed"]
          and [worse[k] for k in ("worse", "standing", "accepted")] == [1, 0, 1], worse["regressions"])
    incore("store", "export", "-q", "--store", store, "-l", "a=2", copy)
    check("a copy has those of its series", rows(copy, "SELECT DISTINCT labels FROM acceptances") == [("a=2",)])
    check("and passes", incore("store", "gate", "--store", copy, "--figure", "cycles").returncode == 0)
    incore("store", "prune", "-q", "--store", store, "--before", "@99")
    check("pruning keeps them", rows(store, "SELECT count(*) FROM acceptances") == [(len(kept),)] and count(store) == 0)
    for words in ([], ["--because", "x", "--withdraw"], ["--because", ""], ["--because", "a\nb"], ["--because", "x" * 1001], ["--because", "x", "--by", "\x1b[31m"],
                  ["--because", "x", "--at", "then"]):
        p = incore("store", "accept", "--store", copy, "--figure", "cycles", "gemm_f16", *words)
        check(f"not {words}", p.returncode == 2 and rows(copy, "SELECT max(acceptance) FROM acceptances") == rows(store, "SELECT max(acceptance) FROM acceptances WHERE labels = 'a=2'"), p.stderr)


def test_sweep(tmp):
    plan, store = os.path.join(tmp, "plan.yaml"), os.path.join(tmp, "swept")
    with open(plan, "w") as f:
        f.write(f'name: s\nmatrix: {{shape: [64, "a,b"]}}\nrepeats: 2\nrun: [cp, -r, {DATA}/two_waves, "{{out}}/x"]\ncaptures: ["{{out}}/x"]\nstore: in-plan\n')
    out = os.path.join(tmp, "sweep")
    p = incore("sweep", plan, "-o", out, "--store", store)
    labels = rows(store, "SELECT labels FROM entries ORDER BY capture") if p.returncode == 0 else []
    check("a sweep fills a store", labels == [("shape=64",)] * 2 + [("shape=a b",)] * 2, (labels, p.stderr))
    p = incore("store", "add", "--csv", "--store", store, "--sweep", out)
    check("once", p.stdout.count(",there,") == 4, p.stdout + p.stderr)
    check("not that of the plan where another is given", not os.path.exists(os.path.join(tmp, "in-plan")))


def test_killed_sweep(tmp):
    """The store of the plan; the driver killed while it adds, and resumed: all is there, once."""
    plan, out, store = os.path.join(tmp, "killed.yaml"), os.path.join(tmp, "killed.sweep"), os.path.join(tmp, "in-plan")
    with open(plan, "w") as f:
        f.write(f'repeats: 12\nrun: [cp, -r, {DATA}/two_waves, "{{out}}/x"]\ncaptures: ["{{out}}/x"]\nstore: in-plan\n')
    child = subprocess.Popen(command("sweep", plan, "-o", out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while child.poll() is None and count(store) < 2:
        time.sleep(0.001)
    child.kill()
    child.wait()
    check("some are there", 2 <= count(store) <= 12 and is_whole(store), count(store))
    p = incore("sweep", plan, "-o", out, "--resume")
    check("the rest comes with --resume", p.returncode == 0 and count(store) == 12 and is_whole(store), (count(store), p.stderr))


def main():
    with tempfile.TemporaryDirectory() as tmp:
        captures = copies(tmp, 48)
        store = os.path.join(tmp, "store")
        incore("store", "add", "--store", store, "gemm", "two_waves")
        test_tables(tmp)
        test_writers_at_once(tmp, captures[:16])
        test_killed_writers(tmp, captures)
        test_refused(tmp, store)
        test_upgraded(tmp, store)
        test_damaged(tmp, store)
        test_accepted(tmp)
        test_sweep(tmp)
        test_killed_sweep(tmp)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    if "Store" not in subprocess.run([PROGRAM, "store", "ls", "--help"], capture_output=True, text=True).stdout.title():
        print("0 passed, 0 failed, 1 skipped: built without SQLite")
        sys.exit(0)
    sys.exit(main())
