#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""incore store in PostgreSQL: does every verb say what it says of a SQLite file, do names of any bytes come back, do writers at once, killed
writers and a server that goes away leave only whole captures, is a server that never answers given up, is a store of another version brought
up to date or refused, is a password never shown?

usage: postgres.py BUILD_DIR
"""
import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

from server import Server

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(ROOT, "tests", "data")
PROGRAM = os.path.join(os.path.abspath(sys.argv[1]), "incore")
TIMES = int(os.environ.get("TIMES", "1"))
TABLES = ("captures", "code", "causes", "producers", "findings", "notes")
SECRET = "s3cr3t-Zx"
passed = failed = 0


def check(name, ok, text=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAIL {name}: {str(text)[:800]}")


def incore(*words, **more):
    return subprocess.run([PROGRAM, *words], cwd=DATA, capture_output=True, timeout=300, **more)


def add(store, *words):
    return subprocess.Popen([PROGRAM, "store", "add", "--store", store, *words], cwd=DATA, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def copies(tmp, n):
    out = []
    for i in range(n):
        out.append(os.path.join(tmp, "captures", str(i)))
        shutil.copytree(os.path.join(DATA, "two_waves"), out[-1])
    return out


def count(server, database):
    return int(server.sql(database, "SELECT count(*) FROM incore.entries")[0][0])


def is_whole(server, database):
    """Every capture has all of its rows in every table, none is there twice, none has rows without an entry."""
    counts = {t: dict(server.sql(database, f"SELECT capture, count(*) FROM incore.{t} GROUP BY 1")) for t in ("entries", *TABLES)}
    entries, digests = set(counts["entries"]), server.sql(database, "SELECT count(DISTINCT digest) FROM incore.entries")
    same = all(set(c) <= entries and len(set(c.values())) <= 1 for c in counts.values())
    return same and set(counts["code"]) == set(counts["causes"]) == entries and digests == [(str(len(entries)),)]


# --- the same as of a file ---

def filled(tmp):
    """Words of `store add`: two series, noise, a change, and names of any bytes."""
    odd = os.path.join(tmp.encode(), b"odd \xff\xc3('\"\\N\xf4\x8f\xba\x81\t")
    shutil.copytree(os.path.join(DATA, "two_waves").encode(), odd)
    out = [[b"--at", b"@%d" % (100 + i), b"-r", b"r%d" % i, b"-l", b"shape=64", b"repeated/ui_output_agent_1000_dispatch_%d" % (9 if i % 2 else 7)]
           for i in range(6)]
    out += [[b"--at", b"@%d" % (200 + i), b"-r", b"r9", b"-l", b"shape=64", b"gemm"] for i in range(2)]
    out += [[b"--at", b"@5", b"-r", b"a\nb\t\\.\xfe\xed'; DROP TABLE entries; --", b"-l", b"who=\xc3\xa4\xe4\\", b"-l", b"x='\"$1?", odd]]
    out += [[b"--at", b"@5", b"-r", b"\xf4\x8f\xba\x81", b"-l", b"who=\xf4\x8f\xba\x81", odd], [b"--at", b"@6", b"-l", b"who=\xee", odd]]
    return out + [[b"--at", b"@5", b"-l", b"who=Z", odd], [b"--at", b"@5", b"-l", b"who=a", odd], [b"--at", b"@5", b"-l", b"who=\xc3\xa4", odd]]


def questions(number):
    for how in ([], ["--json"], ["--csv"]):
        yield from (["ls", *how], ["show", *how, "--top", "all", "1"], ["show", *how, number], ["history", *how], ["regressions", "--all", *how],
                    ["gate", *how, "--figure", "cycles"])
    yield from (["ls", "-l", "shape=64", "-r", "r9"], ["history", "-k", "gemm", "--figure", "wait", "--movers", "50"], ["gate", "-k", "nothing"],
                ["show", "77"], ["ls", "--since", "@150"], ["gate", "--max", "1", "--movers", "7", "--json"], ["prune"],
                ["prune", "--keep", "1", "-n", "--json"], ["add", "--json", "--at", "@100", "-r", "r0", "-l", "shape=64",
                                                          "repeated/ui_output_agent_1000_dispatch_7"])


def accepted():
    """Words that accept, look, add what is worse still, accept again and take back."""
    odd = b"why \xff\xc3('\"\\N\xf4\x8f\xba\x81 \xc3\xa4; DROP TABLE acceptances; --"
    accept = [b"accept", b"gemm_f16", b"--figure", b"cycles", b"--at", b"@900", b"--by", b"me \xe4"]
    look = ([b"gate", b"--figure", b"cycles"], [b"gate", b"--json", b"--figure", b"cycles"], [b"regressions", b"--csv", b"--figure", b"cycles"],
            [b"history", b"--figure", b"cycles"], [b"show", b"3"], [b"ls"], [b"ls", b"--json"])
    yield from ([*accept, b"--because", b"x", b"-l", b"shape=1"], [*accept, b"--because", odd], *look, [*accept, b"--because", b"again"])
    yield from ([b"accept", b"gemm_f16", b"--withdraw", b"--figure", b"wait"], [b"accept", b"gemm_f16", b"--withdraw"], *look)
    yield from ([b"accept", b"gemm_f16", b"--withdraw"], [*accept, b"--json", b"--because", b"kept"], [b"accept", b"two", b"--because", b"x"])


def told(p, store):
    return p.returncode, p.stdout.replace(store.encode(), b"STORE"), p.stderr.replace(store.encode(), b"STORE")


def compare(name, words, stores):
    """The same words to both; what they print but for the store's name."""
    first, second = (told(incore("store", words[0], "--store", path, *words[1:]), shown) for path, shown in stores)
    check(f"the same: {name}", first == second, (first, second))


def dump(path):
    db = sqlite3.connect(path)
    db.text_factory = bytes
    try:
        return [db.execute(f"SELECT rowid, * FROM {t} ORDER BY rowid").fetchall() for t in ("entries", *TABLES, "acceptances")]
    finally:
        db.close()


def test_same(server, tmp):
    file, uri = os.path.join(tmp, "file"), server.new("same")
    stores = ((file, file), (uri, "postgresql:///same"))
    for words in filled(tmp):
        compare(words[:6], [b"add", *words], stores)
    for words in questions("9"):
        compare(" ".join(words), words, stores)
    for words in accepted():
        compare(b" ".join(words), words, stores)
    for keep in ([], ["-l", "shape=64"]):
        files = [os.path.join(tmp, f"copy-{i}") for i in range(2)]
        for (store, _), to in zip(stores, files):
            check("exported", incore("store", "export", "-q", "--store", store, *keep, to).returncode == 0)
        check(f"exports are the same: {keep}", dump(files[0]) == dump(files[1]) and dump(files[0])[0])
    for words in (["prune", "3", "9"], ["prune", "--before", "@101"], ["prune", "--keep", "2", "--json"]):
        compare(" ".join(words), words, stores)
        compare("what is left", ["ls", "--json"], stores)
    check("whole", is_whole(server, "same"))
    kernels = server.sql("same", "SELECT kernel, sum(captures) FROM incore.kernels GROUP BY 1 ORDER BY 1")
    check("its views", kernels == [("gemm_f16", "2")] and server.sql("same", "SELECT sum(cycles) FROM incore.lines") ==
          server.sql("same", "SELECT sum(cycles) FROM incore.causes WHERE row IS NOT NULL"), kernels)


# --- many at once, and those that do not end well ---

def test_writers_at_once(server, captures):
    uri = server.new("many")
    writers = [add(uri, *captures[i % 2::2]) for i in range(6)]  # three want the same
    asked = []
    while any(w.poll() is None for w in writers):
        p = incore("store", "ls", "--json", "--store", uri)
        if p.returncode == 0:
            asked.append(len(json.loads(p.stdout)["data"]["captures"]))
        else:
            check("a reader before there is a store", p.returncode == 3 and b"no store is in this database" in p.stderr, p.stderr)
    check("writers at once end well", [w.wait() for w in writers] == [0] * 6, [w.stderr.read() for w in writers])
    check("what is read only grows", asked == sorted(asked) and all(n <= len(captures) for n in asked), asked)
    numbers = server.sql("many", "SELECT count(*), max(capture) FROM incore.entries")
    check("none lost, none twice", numbers == [(str(len(captures)),) * 2] and is_whole(server, "many"), numbers)


def test_killed_writers(server, captures):
    uri, chance, before = server.new("killed"), random.Random(5), 1
    add(uri, captures[0]).wait()
    for i in range(4 * TIMES):
        writer, enough = add(uri, "--at", f"@{i}", *captures), chance.randrange(6)
        while writer.poll() is None and count(server, "killed") < before + enough:
            time.sleep(0.002)
        writer.kill()
        writer.wait()
        n = count(server, "killed")
        check(f"kill {i}: what was there stays, and is whole", n >= before and is_whole(server, "killed"), (n, before))
        before = n
    check("some were added, some were cut", 1 < before < 4 * TIMES * len(captures), before)


def test_lost_connection(server, captures):
    """A writer that waits for another is in the middle of its transaction; then its connection goes."""
    uri = server.new("lost")
    add(uri, captures[0]).wait()
    for end in ("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'incore'", None):
        other = subprocess.Popen(["psql", "-Xq", "-h", server.folder, "-U", "incore", "-d", "lost"], stdin=subprocess.PIPE, text=True,
                                 stderr=subprocess.DEVNULL)
        other.stdin.write(f"BEGIN; SELECT pg_advisory_xact_lock({0x696e6373}) \\g /dev/null\n")
        other.stdin.flush()
        writer = None
        while not server.sql("lost", "SELECT 1 FROM pg_stat_activity WHERE application_name = 'incore' AND wait_event_type = 'Lock'"):
            if writer is None and server.sql("lost", "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted"):
                writer = add(uri, captures[1])
            time.sleep(0.05)
        if end:
            server.sql("lost", end)
        else:
            server.stop(signal.SIGQUIT)
        said = writer.communicate()[1].decode()
        check("a lost connection is said", writer.returncode == 6 and "connection was lost" in said and "postgresql:///lost" in said, said)
        other.stdin.close()
        other.wait()
        if not end:
            p = incore("store", "ls", "--store", uri)
            check("no server is said", p.returncode == 6 and b"failed" in p.stderr and b"postgresql:///lost" in p.stderr, p.stderr)
            server.start()
        check("nothing half", count(server, "lost") == 1 and is_whole(server, "lost"))


def test_server_stopped(server, captures):
    uri = server.new("stopped")
    add(uri, captures[0]).wait()
    writer = add(uri, *captures)
    while count(server, "stopped") < 3:
        time.sleep(0.002)
    server.stop(signal.SIGQUIT)
    said, before = writer.communicate()[1].decode(), writer.returncode
    server.start()
    n = count(server, "stopped")
    check("the server stops in the middle", (before == 6 and "connection was lost" in said) or (before == 0 and n == len(captures)), (before, said))
    check("what was added is there, whole", n >= 3 and is_whole(server, "stopped"), n)
    check("adding goes on", add(uri, *captures).wait() == 0 and count(server, "stopped") == len(captures) and is_whole(server, "stopped"))


# --- other versions, other databases ---

def test_versions(server):
    uri = server.new("versions")
    add(uri, "gemm", "two_waves").wait()
    server.sql("versions", "ALTER TABLE incore.entries DROP COLUMN per_track CASCADE; ALTER TABLE incore.code DROP COLUMN samples; DROP TABLE incore.acceptances;"
               "UPDATE incore.about SET version = 0")
    readers = [subprocess.Popen([PROGRAM, "store", "ls", "--json", "--store", uri], stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
    for r in readers:
        out, said = r.communicate()
        listed = json.loads(out)["data"]["captures"] if r.returncode == 0 else []
        check("an earlier version is brought up to date", len(listed) == 2 and all(x["per_track"] is None for x in listed), said)
    check("once", server.sql("versions", "SELECT version FROM incore.about") == [("2",)] and add(uri, "--at", "@7", "gemm").wait() == 0)
    for name, sql, text in (("a newer version", "UPDATE incore.about SET version = 99", "newer incore"),
                            ("another application", "UPDATE incore.about SET application = 1, version = 1", "not a store of incore"),
                            ("nothing said of it", "DELETE FROM incore.about", "does not say its version"),
                            ("another table of that name", f"INSERT INTO incore.about VALUES ({0x696e6373}, 1); DROP TABLE incore.acceptances; CREATE TABLE incore.acceptances (x int)", "a column"),
                            ("no longer", "DROP TABLE incore.acceptances; DELETE FROM incore.about", "does not say its version"),
                            ("another type", f"INSERT INTO incore.about VALUES ({0x696e6373}, 1); ALTER TABLE incore.notes ALTER message TYPE varchar", "a column"),
                            ("a missing table", "DROP TABLE incore.notes", "a table is missing"),
                            ("a view in its place", "CREATE VIEW incore.notes AS SELECT 1::bigint AS capture", "a column")):
        server.sql("versions", sql)
        for words in (["ls"], ["add", "two_waves"]):
            p = incore("store", words[0], "--store", uri, *words[1:])
            check(f"{name}: {words[0]} is refused", p.returncode == 3 and text in p.stderr.decode(), (p.returncode, p.stderr))


def test_other_databases(server):
    uri = server.new("latin", "ENCODING LATIN1 LOCALE 'C' TEMPLATE template0")
    p = incore("store", "add", "--store", uri, "gemm")
    check("another encoding is refused", p.returncode == 3 and b"LATIN1" in p.stderr, p.stderr)
    uri = server.new("empty")
    p = incore("store", "ls", "--store", uri)
    check("no store is there", p.returncode == 3 and b"store add makes one" in p.stderr, p.stderr)
    p = incore("store", "add", "--store", server.uri("nothing"), "gemm")
    check("no database is there", p.returncode == 6 and b"does not exist" in p.stderr, p.stderr)
    p = incore("store", "export", "--store", server.uri("same"), uri)
    check("a copy is a file", p.returncode == 2, p.stderr)


# --- passwords ---

def test_passwords(server, tmp):
    server.sql("postgres", f"CREATE ROLE guarded LOGIN SUPERUSER PASSWORD '{SECRET}'")
    server.new("guarded")
    right, where = server.uri("guarded", "guarded", SECRET), f"host={server.folder}"
    p = incore("store", "add", "--json", "--store", right, "gemm")
    check("a password in the address", p.returncode == 0 and b'"postgresql:///guarded"' in p.stdout, p.stderr)
    p = incore("store", "ls", "--store", server.uri("guarded", "guarded"), env={**os.environ, "PGPASSWORD": SECRET})
    check("one in the environment", p.returncode == 0, p.stderr)
    said = []
    for store in (right, f"postgresql:///guarded?{where}&user=guarded&password={SECRET}", f"postgresql://guarded:x{SECRET}@/guarded?{where}",
                  f"postgresql://guarded:{SECRET}@/nothing?{where}", f"postgresql://guarded:{SECRET}@127.0.0.1:1/x",
                  f"postgresql://guarded:{SECRET}", f"postgresql://guarded:%zz{SECRET}@/x", f"postgresql://guarded:{SECRET}@[::1/x",
                  f"postgresql://guarded:{SECRET}?x@h/d", f"postgresql://h/d?password={SECRET}@x&nothing=1", f"postgresql://guarded:{SECRET}/x@h/d",
                  f"postgres://guarded:{SECRET}@/d?sslpassword={SECRET}&sslmode=wrong&{where}"):
        for words in (["add", "--json", "gemm"], ["show", "77"]):
            p = incore("store", words[0], "--store", store, *words[1:])
            said.append((p.returncode, p.stdout + p.stderr))
            check(f"no password is shown: {words[0]} {store}", SECRET.encode() not in said[-1][1] and p.returncode in (0, 2, 3, 6), said[-1])
    check("some of them fail", {0, 2, 6} <= {code for code, _ in said}, said)
    plan, folder = os.path.join(tmp, "plan.yaml"), os.path.join(tmp, "swept")
    with open(plan, "w") as f:
        f.write(f'run: [cp, -r, {DATA}/two_waves, "{{out}}/x"]\ncaptures: ["{{out}}/x"]\nstore: "{right}"\n')
    p = incore("sweep", plan, "-o", folder)
    check("a plan has no password", p.returncode == 3 and SECRET.encode() not in p.stderr and b"plan.yaml:3" in p.stderr and not os.path.exists(folder), p.stderr)
    with open(plan, "w") as f:
        f.write(f'run: [cp, -r, {DATA}/two_waves, "{{out}}/x"]\ncaptures: ["{{out}}/x"]\nstore: "{server.uri("guarded")}"\n')
    before = count(server, "guarded")
    p = incore("sweep", plan, "-o", folder)
    check("a sweep adds to a database", p.returncode == 0 and count(server, "guarded") == before + 1 and b"1 capture in postgresql:///guarded" in p.stdout,
          p.stdout + p.stderr)
    p = incore("sweep", plan, "-o", folder, "--resume")
    check("once", p.returncode == 0 and count(server, "guarded") == before + 1, p.stderr)


def test_no_library(tmp):
    with open(os.path.join(tmp, "libpq.so.5"), "w"):
        pass
    p = incore("store", "ls", "--store", "postgresql:///x", env={**os.environ, "LD_LIBRARY_PATH": tmp})
    check("without libpq it is said how to get it", p.returncode == 5 and b"apt install libpq5" in p.stderr, (p.returncode, p.stderr))


def test_no_answer():
    """The kernel takes the connection, and nobody reads what comes: libpq waits for two seconds at least."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen(8)
        address = f"postgresql://u:{SECRET}@127.0.0.1:{s.getsockname()[1]}/d"
        for name, keys, env in (("by the address", "?connect_timeout=2", {"PGCONNECT_TIMEOUT": "60"}), ("by the environment", "", {"PGCONNECT_TIMEOUT": "2"})):
            began = time.monotonic()
            p = incore("store", "ls", "--store", address + keys, env={**os.environ, **env})
            took, said = time.monotonic() - began, p.stderr.decode()
            check("no answer, a limit " + name, p.returncode == 6 and 1.5 < took < 9 and not p.stdout, (p.returncode, took, said))
            check("it is said, and whose limit it is", "does not answer" in said and "PGCONNECT_TIMEOUT" in said and SECRET not in said, said)


def main():
    test_no_answer()
    server = Server()
    try:
        if server.why:
            print(f"SKIP {server.why}\n{passed} passed, {failed} failed, 1 skipped")
            return failed > 0
        with tempfile.TemporaryDirectory() as tmp:
            captures = copies(tmp, 24)
            test_no_library(tmp)
            test_same(server, tmp)
            test_writers_at_once(server, captures[:16])
            test_killed_writers(server, captures)
            test_lost_connection(server, captures)
            test_server_stopped(server, captures)
            test_versions(server)
            test_other_databases(server)
            test_passwords(server, tmp)
    finally:
        server.close()
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    said = subprocess.run([PROGRAM, "store", "ls", "--store", "postgresql:///x?host=/nowhere"], capture_output=True, text=True).stderr
    if "was built without" in said or "needs libpq" in said:
        print(f"SKIP {said}0 passed, 0 failed, 1 skipped")
        sys.exit(0)
    sys.exit(main())
