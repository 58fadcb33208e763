# SPDX-License-Identifier: Apache-2.0
"""sqlite and parquet: every row of every table is the same for sqlite3, DuckDB and hyparquet, and sums are those of the verbs."""
import collections
import glob
import json
import os
import re
import subprocess

from common import HERE, node_modules

TABLES = ("captures", "tracks", "code", "slices", "links", "causes", "producers", "findings", "notes")
# What the columns of make_parquet.c are, by the number of the row.
FORMULAS = {
    "far": "18446744073709551614::UBIGINT - i % 77777", "hash": "i::HUGEINT * 2654435761 % 1099511627776",
    "maybe": "CASE WHEN i % 7 = 0 THEN NULL ELSE i // 100 END", "big": "4000000000 - i", "few": "i // 50 % 3", "mid": "i * 7 % 65536",
    "small": "i % 200", "down": "1000 - (i::HUGEINT * i % 10000019)::BIGINT", "signed_maybe": "CASE WHEN i % 5 = 0 THEN -(i::BIGINT) END",
    "real": "CASE WHEN i % 9 <> 0 THEN i / 8 END", "is_third": "i % 3 = 0",
    "word": "CASE WHEN i % 4 <> 0 THEN ['alpha', 'beta', '', 'delta', 'épsilon'][(i % 5 + 1)::BIGINT] END", "name": "'row ' || i",
    "bad": "CASE WHEN i % 2 = 1 THEN 'a\ufffdb' ELSE 'ab' END",
}
UNSIGNED_TOP = 1 << 64


def sqlite(path, query):
    p = subprocess.run(["sqlite3", "-json", "-readonly", path, query], capture_output=True, text=True)
    if p.returncode or p.stderr:
        raise RuntimeError(p.stderr)
    return json.loads(p.stdout or "[]")


def reader(name, *words):
    """Rows of each query of DuckDB, or of each file by hyparquet."""
    p = subprocess.run(["node", os.path.join(HERE, "parquet.mjs"), name, *words], capture_output=True, text=True)
    if p.returncode:
        raise RuntimeError(p.stderr)
    return json.loads(p.stdout)


def plain(value):
    """The same text for the same value, whoever read it."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return str(int(value)) if value == int(value) else repr(value)
    if isinstance(value, int):
        return str(value % UNSIGNED_TOP if value < -(1 << 62) else value)
    return value


def rows(table, leave=()):
    return sorted((sorted((k, plain(v)) for k, v in row.items() if k not in leave) for row in table), key=repr)


BUCKETS = ("issue", "stall", "wait", "idle", "drain")
LEVELS = ("se", "cu", "simd", "slot", "wave")
QUERIES = {
    "causes": "SELECT cause AS k, sum(cycles) AS n FROM causes GROUP BY cause",
    "findings": "SELECT id AS k, count(*) AS n FROM findings GROUP BY id",
    "executions": 'SELECT "row" AS k, count(*) AS n FROM slices WHERE "row" IS NOT NULL GROUP BY "row"',
    "buckets": " UNION ALL ".join(f"SELECT '{b}' AS k, sum(bucket_{b}) AS n FROM slices" for b in BUCKETS),
    "lives": "SELECT " + " || '/' || ".join(f"tracks.{k}" for k in LEVELS) + " AS k, sum(" + " + ".join(f"bucket_{b}" for b in BUCKETS) +
             ") AS n FROM slices JOIN tracks ON slices.track = tracks.track GROUP BY 1",
}


def verbs(program, capture):
    """What the verbs say of each query."""
    hot = program.data("hot", "--by", "instr", "--top", "all", capture)
    waves = program.data("waves", "--top", "all", capture) if hot["totals"]["from"] == "computed" else {}
    answers = {"causes": {c["key"]: c["cycles"] for c in program.data("hot", "--by", "cause", "--top", "all", capture)["groups"]},
               "findings": collections.Counter(f["id"] for f in program.data("check", capture)["findings"])}
    if "waves" in waves:
        answers["executions"] = {str(r["row"]): r["hit"] for r in hot["rows"]}
        answers["buckets"] = {b: hot["accounting"][b] for b in BUCKETS}
        answers["lives"] = {"/".join(str(w[k]) for k in LEVELS): w["duration"] for w in waves["waves"]}
    return answers


def check_sums(results, what, want, ask):
    """ask: rows of each of a list of queries over the tables."""
    for name, got in zip(want, ask([QUERIES[name] for name in want]), strict=True):
        results.equal(sorted((str(r["k"]), int(r["n"])) for r in got if int(r["n"] or 0)), sorted((k, v) for k, v in want[name].items() if v),
                      f"{what}: {name}")


def over(folder, query):
    """The same query over Parquet files."""
    for table in TABLES:
        path = os.path.join(folder, table, "**", "*.parquet")
        query = re.sub(rf"\b(FROM|JOIN) {table}\b", rf"\1 read_parquet('{path}', hive_partitioning=true, hive_types_autocast=0) AS {table}", query)
    return query


def check_sqlite(results, program, capture):
    path, said = program.export("sqlite", capture)
    tables = {t: sqlite(path, f"SELECT * FROM {t}") for t in TABLES}
    results.equal(sqlite(path, "PRAGMA integrity_check"), [{"integrity_check": "ok"}], f"{capture}: integrity")
    results.equal((len(tables["slices"]), len(tables["links"])), (said["instructions"], said["links"]), f"{capture}: rows of sqlite")
    check_sums(results, f"{capture} by sqlite3", verbs(program, capture), lambda all: [sqlite(path, q) for q in all])
    return tables


def check_parquet(results, program, capture, tables):
    folder, said = program.export("parquet", capture)
    results.equal(said["instructions"], len(tables["slices"]), f"{capture}: instructions of parquet")
    files = {t: sorted(glob.glob(os.path.join(folder, t, "**", "*.parquet"), recursive=True)) for t in TABLES}
    by_duckdb = reader("duckdb", *[over(folder, f"SELECT * FROM {t}") for t in TABLES])
    flat = [f for t in TABLES for f in files[t]]
    by_file = dict(zip(flat, reader("hyparquet", *flat), strict=True))
    for table, got in zip(TABLES, by_duckdb, strict=True):
        leave = ("capture",) + (("se", "core") if table == "slices" else ())
        want = rows(tables[table], leave)
        results.check(rows(got, leave) == want, f"{capture}: {table} by DuckDB is not what sqlite3 says")
        mine = [row for f in files[table] for row in by_file[f]]
        results.check(rows(mine, leave) == want, f"{capture}: {table} by hyparquet is not what sqlite3 says")
    return folder


def check_layouts(results, program, build):
    """Every type and layout, over several groups of rows; their bounds; what is no UTF-8."""
    for n in (0, 7, 300001):
        path = os.path.join(program.folder, f"layouts-{n}.parquet")
        subprocess.run([os.path.join(build, "tests", "formats", "make_parquet"), path, str(n)], check=True)
        wrong = " + ".join(f"count(*) FILTER ({name} IS DISTINCT FROM ({formula}))" for name, formula in FORMULAS.items())
        counts, each, codecs, bounds, real = reader(
            "duckdb", f"SELECT count(*) AS n, count(DISTINCT i) AS d, coalesce(max(i), 0) AS last, {wrong} AS wrong FROM '{path}'",
            "SELECT " + ", ".join(f"count(*) FILTER ({name} IS DISTINCT FROM ({formula})) AS {name}" for name, formula in FORMULAS.items())
            + f" FROM '{path}'",
            f"SELECT DISTINCT compression FROM parquet_metadata('{path}')",
            f"SELECT stats_min_value AS low, stats_max_value AS high FROM parquet_metadata('{path}') WHERE path_in_schema = 'down' ORDER BY "
            "row_group_id", f"SELECT min(down) AS low, max(down) AS high FROM '{path}' GROUP BY i // 131072 ORDER BY i // 131072")
        results.equal({k: int(v) for k, v in counts[0].items()}, {"n": n, "d": n, "last": max(n - 1, 0), "wrong": 0},
                      f"{n} rows of every layout ({[k for k, v in each[0].items() if int(v)]})")
        results.equal((bounds, len(bounds)), (real, (n + 131071) // 131072), f"{n} rows: bounds of groups")
        results.equal(codecs, [{"compression": "ZSTD"}] if n else [], f"{n} rows: compression")
        mine = reader("hyparquet", path)[0] if n < 1000 else None
        if mine is not None:
            results.equal(([int(r["i"]) for r in mine], [r["word"] for r in mine]),
                          (list(range(n)), [None if i % 4 == 0 else ["alpha", "beta", "", "delta", "épsilon"][i % 5] for i in range(n)]),
                          f"{n} rows by hyparquet")


QUESTION = """SELECT "row", count(*) AS n, sum(duration) AS cycles, avg(stall) AS mean, max(class) AS class, nullif("row", 3) AS n,
    CASE WHEN "row" % 2 THEN 1 ELSE 'x' END AS mixed, 9223372036854775807 AS big, NULL AS empty FROM slices GROUP BY "row" ORDER BY 1"""


def check_result(results, program):
    """sql --parquet: every value as sql --json has it, for both readers; names that repeat; rows over many groups."""
    path = os.path.join(program.folder, "result.parquet")
    asked = json.loads(program.run("sql", "--json", "gemm", QUESTION).stdout)["data"]
    names = ["row", "n", "cycles", "mean", "class", "n_2", "mixed", "big", "empty"]
    want = [[(k, plain(str(v) if k == "mixed" else v)) for k, v in zip(names, row, strict=True)] for row in asked["rows"]]
    p = program.run("sql", "--parquet", path, "gemm", QUESTION)
    results.check(p.returncode == 0 and f"{len(want)} rows of 9 columns" in p.stdout, f"sql --parquet: {p.stdout}{p.stderr}")
    for name, got in (("DuckDB", reader("duckdb", f"SELECT * FROM '{path}'")), ("hyparquet", reader("hyparquet", path))):
        mine = [[(k, plain(int(v) if k in ("big", "cycles", "n", "n_2", "row") and v is not None else v)) for k, v in row.items()] for row in got[0]]
        results.equal(mine, want, f"sql --parquet by {name}")
    many = "WITH RECURSIVE r(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM r WHERE i < 299999) SELECT i, i % 7 AS m, nullif(i % 5, 0) AS z FROM r"
    program.run("sql", "--rows", "all", "--parquet", path, "gemm", many)
    got = reader("duckdb", f"SELECT count(*) AS n, sum(i) AS i, sum(m) AS m, count(z) AS z, sum(z) AS s FROM '{path}'")[0][0]
    results.equal({k: int(v) for k, v in got.items()}, {"n": 300000, "i": 300000 * 299999 // 2, "m": sum(i % 7 for i in range(300000)),
                                                        "z": 240000, "s": 600000}, "sql --parquet of 300,000 rows")


def run(results, program):
    is_left_out = results.skip_unless_wanted("parquet", node_modules())
    for capture in ("gemm", "ascend_matmul", "ncu/kernel.ncu-rep", "bad_wave"):
        tables = check_sqlite(results, program, capture)
        if is_left_out:
            program.export("parquet", capture)
        else:
            folder = check_parquet(results, program, capture, tables)
            if capture == "gemm":
                check_sums(results, "gemm by DuckDB", verbs(program, capture), lambda all, f=folder: reader("duckdb", *[over(f, q) for q in all]))
    if not is_left_out:
        check_layouts(results, program, os.path.dirname(program.path))
        check_result(results, program)
    for to in ("sqlite", "parquet"):
        p = program.run("export", "--to", to, "--simd", "1", "-o", os.path.join(program.folder, "no"), "gemm")
        results.check(p.returncode == 2 and "whole capture" in p.stderr, f"{to}: a selection is not refused: {p.stderr}")
        p = program.run("export", "--to", to, "gemm")
        results.check(p.returncode == 2 and "-o" in p.stderr, f"{to}: stdout is not refused: {p.stderr}")
