#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Are thread traces that a database of rocprofv3 has in chunks read as the streams they were cut from?

usage: chunks.py INCORE [SHARED]

Streams are cut anywhere, also inside of tokens, and answer byte for byte as uncut: bytes in rows and in files, in any order. A chunk that is
missing costs what follows it, and a note; one that is there twice or lies is refused. Real streams of SHARED (default: INCORE_SHARED, then ../shared
beside the source tree) are cut too; without them that is skipped.
"""
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DATA = os.path.join(ROOT, "tests", "data")
INCORE = os.path.abspath(sys.argv[1])
SHARED = sys.argv[2] if len(sys.argv) > 2 else os.environ.get("INCORE_SHARED") or os.path.join(ROOT, "..", "shared")
NAME = "4242_results.db"
COLUMNS = {"id": "INTEGER PRIMARY KEY", "agent_id": "INTEGER", "shader_engine_id": "INTEGER", "chunk_id": "INTEGER", "att_blob_id": "TEXT",
           "binary_chunk_path": "TEXT", "binary_chunk": "BLOB", "binary_chunk_size": "BIGINT"}
QUESTIONS = [("info",), ("hot", "--top", "all"), ("waves",), ("check",), ("occupancy",)]
THIN = bool(os.environ.get("THIN"))  # under sanitizers: the same kinds, fewer of each
passed = failed = skipped = 0


def check(ok, what):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAIL {what}")


def run(*args, cwd=None):
    out = subprocess.run([INCORE, *args], capture_output=True, cwd=cwd)
    return out.returncode, out.stdout, out.stderr.decode()


def streams_of(folder):
    """Engine -> bytes, and the other files: code objects, meta.json."""
    streams, others = {}, []
    for f in sorted(os.listdir(folder)):
        path = os.path.join(folder, f)
        if f.endswith(".att") or f.endswith(".sqtt"):
            se = f.split("_shader_engine_")[1].split("_")[0] if f.endswith(".att") else f[2:-5]
            with open(path, "rb") as g:
                streams[int(se)] = g.read()
        elif f != "oracle.json":
            others.append(path)
    return streams, others


def cut(data, n, rng):
    at = sorted({0, len(data), *(rng.randrange(len(data)) for _ in range(n - 1))})
    return [data[a:b] for a, b in zip(at, at[1:])]


def rows_of(streams, n, rng, dispatch=3):
    """Rows as the table has them, chunks in rows."""
    rows = []
    for se, data in streams.items():
        for k, part in enumerate(cut(data, n, rng)):
            rows.append({"agent_id": 1, "shader_engine_id": se, "chunk_id": k, "att_blob_id": f"{dispatch}:1000:{se}:{k}",
                         "binary_chunk": part, "binary_chunk_size": len(part)})
    return rows


def make(top, others, *runs, columns=None, types=None, base=None):
    """A folder with a database of these runs (lists of rows) and the files beside it. base: a database that gets them in addition."""
    folder = tempfile.mkdtemp(dir=top)
    for f in others:
        shutil.copy(f, folder)
    path = os.path.join(folder, NAME)
    if base:
        shutil.copy(base, path)
    db = sqlite3.connect(path)
    for i, rows in enumerate(runs):
        have = columns or list(COLUMNS)
        if not base:
            db.execute(f"CREATE TABLE rocpd_metadata_{i}(id INTEGER PRIMARY KEY, tag TEXT, value TEXT)")
        fields = ", ".join(c + " " + (types or COLUMNS)[c] for c in have)
        db.execute(f"CREATE TABLE rocpd_gpu_thread_trace_chunk_{i}({fields})")
        for r in rows:
            keys = [k for k in r if k in have]
            db.execute(f"INSERT INTO rocpd_gpu_thread_trace_chunk_{i}({', '.join(keys)}) VALUES({', '.join('?' * len(keys))})",
                       [r[k] for k in keys])
    db.commit()
    db.close()
    return path


def to_files(path, rows, rng, share=1.0):
    """Puts bytes of rows into files beside the database; before the database is made."""
    for i, r in enumerate(rows):
        if rng.random() < share:
            name = r["binary_chunk_path"] = f"att/{r['shader_engine_id']}/{i}.att"
            os.makedirs(os.path.dirname(os.path.join(path, name)), exist_ok=True)
            with open(os.path.join(path, name), "wb") as f:
                f.write(r.pop("binary_chunk"))
    return rows


def answers(path):
    """What is asked of the trace, as bytes; the database goes by the same name everywhere."""
    folder, out = os.path.dirname(path), {}
    for q in QUESTIONS:
        rc, text, err = run(*q, "-q", NAME + "#1", cwd=folder)
        out[q[0]] = (rc, text)
        check(rc in (0, 1), f"{q[0]} of {path}: {err}")
    rc, text, err = run("export", "-q", "--to", "json", "-o", "out.json", NAME + "#1", cwd=folder)
    check(rc == 0, f"export of {path}: {err}")
    with open(os.path.join(folder, "out.json"), "rb") as f:
        out["export"] = f.read()
    return out


def same(a, b, what):
    for k in a:
        check(a[k] == b[k], f"{what}: {k} differs")


def notes(path, part=1):
    rc, out, err = run("info", "--json", f"{path}#{part}")
    assert rc == 0, f"{path}: {err}"
    return {n["code"]: n for n in json.loads(out)["data"]["notes"]}


def refused(path, words, what, part=None):
    rc, _, err = run("info", path if part is None else f"{path}#{part}")
    check(rc == 3 and words in err and NAME in err, f"{what}: {rc} {err.strip()}")


def check_cuts(top, name, folder, times):
    streams, others = streams_of(folder)
    whole = answers(make(top, others, rows_of(streams, 1, random.Random(0))))
    for i in range(times):
        rng = random.Random(f"{name} {i}")
        rows = rows_of(streams, rng.choice((2, 3, 7, 40)), rng)
        rng.shuffle(rows)
        same(whole, answers(make(top, others, rows)), f"{name}, cut {i}")
    return streams, others


def check_raw(top, name):
    """The same as the streams themselves give, but for where they lie."""
    folder = os.path.join(DATA, name, "host")
    streams, others = streams_of(folder)
    path = make(top, others, rows_of(streams, 5, random.Random(1)))
    for q in QUESTIONS[1:]:
        a, b = run(*q, "-q", folder), run(*q, "-q", path + "#1")
        check(a[:2] == b[:2], f"{name}: {q[0]} differs from the raw streams")
    check(run("info", "-q", path)[1].startswith(run("info", "-q", folder)[1]), f"{name}: info differs from the raw streams")


def check_files(top, streams, others):
    rng = random.Random(2)
    whole = answers(make(top, others, rows_of(streams, 1, rng)))
    for share in (1.0, 0.5):
        rows = rows_of(streams, 9, rng)
        path = make(top, others, to_files(d := tempfile.mkdtemp(dir=top), rows, rng, share))
        shutil.copytree(os.path.join(d, "att"), os.path.join(os.path.dirname(path), "att"))
        same(whole, answers(path), f"chunks in files, {share}")
        gone = next(r["binary_chunk_path"] for r in rows if "binary_chunk_path" in r and r["chunk_id"] == 4 or share < 1 and "binary_chunk_path" in r)
        os.remove(os.path.join(os.path.dirname(path), gone))
        check("chunk-missing" in notes(path) or "damaged-stream" in notes(path), f"a file that is gone, {share}")
        with open(os.path.join(os.path.dirname(path), gone), "wb") as f:
            f.write(b"\0" * 3)
        rc, _, err = run("info", path)
        check(rc == 3 and "bytes; row" in err and os.path.basename(gone) in err, f"a file of another size: {rc} {err}")
    rows = to_files(d, rows_of(streams, 3, rng), rng)
    rows[1]["binary_chunk_path"] = rows[0]["binary_chunk_path"]
    refused(make(top, others, rows), "the same file", "two rows of one file")


def check_missing(top, streams, others):
    rng = random.Random(3)
    rows = rows_of(streams, 8, rng)
    first = min(streams)
    gone = next(r for r in rows if r["shader_engine_id"] == first and r["chunk_id"] == 4)
    before = b"".join(r["binary_chunk"] for r in rows if r["shader_engine_id"] == first and r["chunk_id"] < 4)
    path = make(top, others, [r for r in rows if r is not gone])
    note = notes(path).get("chunk-missing", {})
    check(note.get("kind") == "lost" and note.get("count") == 1, f"one chunk is missing: {note}")
    cut_there = answers(make(top, others, rows_of({**streams, first: before}, 1, rng)))
    mine = answers(path)
    for k in ("hot", "waves", "occupancy"):
        # the last line counts the notes
        a, b = (x[k][1].splitlines()[:-1] for x in (mine, cut_there))
        check(a == b, f"one chunk is missing: {k} is not that of the stream up to it")


def check_lies(top, streams, others):
    rng = random.Random(4)
    cases = [("is there twice", lambda r: r.append(dict(r[2])), "are both chunk"),
             ("size of bytes", lambda r: r[1].update(binary_chunk_size=7), "binary_chunk_size"),
             ("no bytes", lambda r: r[1].update(binary_chunk=None), "neither bytes nor a file"),
             ("no number", lambda r: r[1].update(chunk_id=None, att_blob_id=None), "not the number of a chunk"),
             ("negative number", lambda r: r[1].update(chunk_id=-2, att_blob_id="x"), "not the number of a chunk"),
             ("engine", lambda r: r[1].update(shader_engine_id=4096, att_blob_id=None), "not the number of a shader engine"),
             ("identity", lambda r: r[1].update(att_blob_id="3:1000:0:77"), "att_blob_id")]
    for p in ("/etc/passwd", "../x.att", "a/../../x.att", "./x.att", "a//x.att", "a/", "x\0.att", "x" * 5000):
        cases.append((f"path {p[:20]!r}", lambda r, p=p: r[1].update(binary_chunk_path=p, binary_chunk=None), "not below the directory"))
    for what, change, words in cases:
        rows = rows_of(streams, 4, rng)
        change(rows)
        alone = rows[1]["att_blob_id"] in (None, "x")  # of no dispatch: a trace of its own
        refused(make(top, others, rows), words, what, 1 if alone else None)
    rows = rows_of(streams, 4, rng)
    for r in rows:
        if r["chunk_id"]:
            r["chunk_id"] = 2**63 - 5 + r["chunk_id"]
            r["att_blob_id"] = f"3:1000:{r['shader_engine_id']}:{r['chunk_id']}"
    check(notes(make(top, others, rows))["chunk-missing"]["count"] > 2**62, "a number at the end of the range")


def check_columns(top, streams, others):
    rng = random.Random(5)
    whole = answers(make(top, others, rows_of(streams, 1, rng)))
    rows = rows_of(streams, 6, rng)
    texts = [{k: str(v) if isinstance(v, int) else v for k, v in r.items()} for r in rows]
    same(whole, answers(make(top, others, texts, types={c: "" for c in COLUMNS})), "numbers as texts")
    for left in (["att_blob_id", "binary_chunk"], ["agent_id", "att_blob_id", "binary_chunk", "binary_chunk_size"]):
        same(whole, answers(make(top, others, rows, columns=left)), f"columns {left}")
    blind = make(top, others, rows, columns=["shader_engine_id", "chunk_id", "binary_chunk"])
    check(answers(blind)["hot"] == whole["hot"], "neither dispatch nor agent is said")


def check_several(top, streams, others):
    rng = random.Random(6)
    other, _ = streams_of(os.path.join(DATA, "sqtt_gfx9", "host"))
    one = {0: streams[0]}
    path = make(top, others, rows_of(one, 3, rng, dispatch=9) + rows_of(other, 3, rng, dispatch=5), rows_of(one, 2, rng, dispatch=9))
    for dispatch, part in ((5, 1), (9, 2)):
        a, b = run("waves", "-q", "--dispatch", str(dispatch), path), run("waves", "-q", f"{path}#{part}")
        check(a[0] == 0 and a[1] == b[1], f"dispatch {dispatch} is part {part}: {a} {b}")
    check(run("waves", "-q", path + "#3")[1] == run("waves", "-q", path + "#2")[1], "the second run")


def check_beside(top, streams, others):
    """In a database that has more than thread traces everything else stays what it was."""
    base = os.path.join(DATA, "rocpd", "run_results.db")
    rows = rows_of(streams, 5, random.Random(8))
    path = make(top, others, rows, base=base)
    check(run("hot", "-q", path + "#0")[:2] == run("hot", "-q", base)[:2], "the timeline beside thread traces")
    check(run("hot", "-q", path)[:2] == run("hot", "-q", make(top, others, rows))[:2], "the thread trace is what is taken")
    refused(path, "no part", "a part that is not there", 7)
    # a second table that is no good costs the traces, not the timeline
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE rocpd_gpu_thread_trace_chunk_bad(chunk_id INTEGER PRIMARY KEY) WITHOUT ROWID")
    db.commit()
    db.close()
    rc, out, _ = run("info", "--json", path)
    check(rc == 0 and "damaged-file" in {n["code"] for n in json.loads(out)["data"]["notes"]}, "a table that cannot be read")


def check_header(top):
    """gfx9: the SDK sends the header in a chunk of its own, zeros behind it, and again when it had to restart the trace."""
    streams, others = streams_of(os.path.join(DATA, "sqtt_gfx9", "host"))
    whole = answers(make(top, others, rows_of(streams, 1, random.Random(9))))
    for again in (False, True):
        sent = {se: s[:8] + bytes(24) + s[8:] + (s[:8] + bytes(24) if again else b"") for se, s in streams.items()}
        mine = answers(make(top, others, rows_of(sent, 6, random.Random(9))))
        for k in ("hot", "waves", "occupancy"):
            check(mine[k] == whole[k], f"a chunk of the header alone, {again}: {k}")


def check_large(top, streams, others):
    """Bytes of a row beyond what other values may have."""
    padded = {0: streams[0] + bytes(6 << 20)}
    a, b = (make(top, others, rows_of(padded, n, random.Random(7))) for n in (1, 3))
    same(answers(a), answers(b), "a chunk of 6 MiB")


def check_real(top):
    global skipped
    found = os.path.join(SHARED, "data", "amd", "sqtt")
    if not os.path.isdir(found):
        print("SKIP real streams: none here (INCORE_SHARED)")
        skipped += 1
        return
    runs = sorted(os.path.join(g, r) for g in os.listdir(found) if os.path.isdir(os.path.join(found, g)) for r in os.listdir(os.path.join(found, g)))
    for r in runs[::6 if THIN else 1]:
        check_cuts(top, r, os.path.join(found, r), 1 if THIN else 2)


def main():
    with tempfile.TemporaryDirectory() as top:
        for name in ("sqtt_gfx9", "sqtt_gfx11", "sqtt_gfx12"):
            streams, others = check_cuts(top, name, os.path.join(DATA, name, "host"), 2 if THIN else 6)
            check_raw(top, name)
        check_files(top, streams, others)
        check_missing(top, streams, others)
        check_lies(top, streams, others)
        check_columns(top, streams, others)
        check_several(top, streams, others)
        check_beside(top, streams, others)
        check_header(top)
        check_large(top, streams, others)
        check_real(top)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


sys.exit(main())
