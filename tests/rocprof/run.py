#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of rocprofv3 that are no thread traces: what incore says of made ones against the generator's truth, and of damaged ones.

usage: run.py BUILD_DIR

Damaged: an error with status 3 and one line, or an answer; never a crash, never a hang. TIMES: as many times more damages (1).
"""
import csv
import gzip
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(os.path.dirname(HERE), "data", "rocprof_pcs")
sys.path.insert(0, HERE)

import make_pcs  # noqa: E402
import make_results  # noqa: E402
import make_rocpd as rocpd  # noqa: E402

DATABASE = os.path.join(os.path.dirname(HERE), "data", "rocpd", "run_results.db")
DAMAGES = 25


class Score:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def check(self, name, got, want):
        if got == want:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAIL {name}: {str(got)[:400]} instead of {str(want)[:400]}")


def run(program, *args, env=None):
    return subprocess.run([program, *args], capture_output=True, text=True, timeout=60, env={**os.environ, **(env or {})})


def data(program, *args):
    result = run(program, *args, "--json", "-q")
    if result.returncode:
        raise AssertionError(f"{args}: {result.stderr}")
    return json.loads(result.stdout)["data"]


def rows_of(program, path):
    """(text, issued, reasons) of every row that has samples."""
    rows = data(program, "hot", "--top", "all", path)["rows"]
    return sorted((r["isa"], r["samples"] - r["stalled_samples"], tuple(sorted(r["stall_reasons"].items()))) for r in rows if r.get("samples"))


def truth_of(rows):
    return sorted((text, issued, tuple(sorted(reasons.items()))) for text, issued, reasons in rows if issued or reasons)


def check_samples(score, program):
    for name, n, seed, is_trap in (("stochastic_results.json", 120, 1, False), ("host_trap_results.json", 30, 2, True),
                                   ("run_pc_sampling_stochastic.csv", 120, 1, False)):
        truth = make_pcs.truth(n, seed, is_trap)
        kernels = sorted(truth.values(), key=lambda rows: -sum(i + sum(r.values()) for _, i, r in rows))
        for i, rows in enumerate(kernels):
            score.check(f"{name}#{i}", rows_of(program, f"{os.path.join(DATA, name)}#{i}"), truth_of(rows))
    alone = [row for rows in make_pcs.truth(30, 2, True).values() for row in rows]
    merged = {}
    lines = {(t, line) for k in make_pcs.KERNELS for t, line in k[3]}
    for text, _, reasons in alone:
        merged[text] = merged.get(text, 0) + sum(reasons.values())
    got = {}
    for text, _, reasons in rows_of(program, os.path.join(DATA, "alone_pc_sampling_host_trap.csv")):
        got[text] = got.get(text, 0) + sum(n for _, n in reasons)
    score.check("samples without a kernel", got, merged)
    score.check("rows without addresses", len(rows_of(program, os.path.join(DATA, "alone_pc_sampling_host_trap.csv"))), len(lines))


def codes_of(program, path):
    return [n["code"] for n in data(program, "info", path)["notes"]]


def check_listing(score, program, folder):
    """The code beside the samples: every instruction, also of samples that nothing decoded; damaged, the samples stay what they are."""
    path, listing = os.path.join(folder, "7_ps_file_results.json"), os.path.join(folder, "7_code_obj_info.json")
    truth = make_pcs.truth(90, 3, False)
    kernels = sorted(truth, key=lambda k: -sum(i + sum(r.values()) for _, i, r in truth[k]))
    text = json.dumps(make_pcs.code_info(), indent=2)
    with open(path, "w") as f:
        json.dump(make_pcs.compute_results(90, 3), f, indent=2)
    score.check("without the listing", [codes_of(program, f"{path}#0"), dict((t, i) for t, i, _ in rows_of(program, f"{path}#0")).get("s_endpgm")],
                [["sampled-rows-only"], None])
    with open(listing, "w") as f:
        f.write(text)
    for i, kernel in enumerate(kernels):
        name, whole = f"{path}#{i}", make_pcs.whole_code(kernel)
        rows = sorted(data(program, "hot", "--top", "all", name)["rows"], key=lambda r: r["address"])
        score.check(f"listing of #{i}", [(r["isa"], r["source"] or "") for r in rows], whole)
        score.check(f"samples of #{i}", rows_of(program, name), truth_of(truth[kernel]))
        score.check(f"notes of #{i}", codes_of(program, name), [])
        first = sum(truth[kernel][0][2].values()) + truth[kernel][0][1]
        lines = {g["key"]: g.get("samples") for g in data(program, "hot", "--by", "line", "--top", "all", name)["groups"]}
        score.check(f"a frame without a line is none, #{i}", [lines.get("/hip/launch.h:281"), "/hip/launch.h:?" in lines], [first or None, False])
        line = run(program, "sql", "-q", "--csv", name, "SELECT line FROM code ORDER BY address LIMIT 1").stdout.split()[-1]
        score.check(f"nor in tables, #{i}", line, "/hip/launch.h:281")
    for at in (0, 1, 60, len(text) // 2, len(text) - 3):
        with open(listing, "w") as f:
            f.write(text[:at])
        sampled = [row for row in rows_of(program, f"{path}#0") if row[0]]
        want = [row for row in truth_of(truth[kernels[0]]) if row[0] in [r[0] for r in sampled]]
        score.check(f"listing cut at {at}", [sampled, "damaged-file" in codes_of(program, f"{path}#0")], [want, True])


def check_cut(score, program, folder):
    """A file of samples that ends anywhere: status 3, the file and the place."""
    for name, document in (("samples", make_pcs.compute_results(20, 4)), ("a timeline", make_results.traced())):
        check_cut_of(score, program, name, os.path.join(folder, "9_ps_file_results.json"), json.dumps(document, indent=2))


def check_cut_of(score, program, name, path, text):
    for at in [40, 200, *range(500, len(text) - 1, len(text) // 23), len(text) - 1]:
        with open(path, "w") as f:
            f.write(text[:at])
        result = run(program, "hot", "-q", "--json", path)
        error = json.loads(result.stderr).get("error", {})
        score.check(f"{name} cut at {at}", [result.returncode, error.get("path"), error.get("offset")], [3, path, at])


def check_packed(score, program, folder):
    path, packed = os.path.join(DATA, "stochastic_results.json#0"), os.path.join(folder, "x.incore")
    run(program, "pack", "-o", packed, path)
    score.check("packed", rows_of(program, packed), rows_of(program, path))


def check_made(score):
    for name, make in (make_pcs.FILES | make_results.FILES).items():
        with open(os.path.join(DATA, name)) as f:
            score.check(f"{name} is what the generator makes", f.read() == make(), True)


def names_of(program, path):
    """(times, cycles) of each name; a slice's own time without what is idle behind it."""
    rows = data(program, "hot", "--top", "all", path)["rows"]
    return {r["isa"]: (r["hit"], r["buckets"]["issue"]) for r in rows}


def timeline():
    """What stands in the database by name: how often, how long."""
    spans = [(name, end - begin) for _, name, begin, end, _ in rocpd.CALLS]
    spans += [(rocpd.KERNELS[kernel], end - begin) for _, kernel, _, begin, end, _ in rocpd.LAUNCHES]
    spans += [(name, end - begin) for name, begin, end, _, _ in rocpd.COPIES] + [(name, end - begin) for name, begin, end in rocpd.MARKERS]
    spans += [(name, 0) for name, _ in rocpd.INSTANTS] + [("ALLOC REAL", 400)]
    names = {}
    for name, ns in spans:
        n, all_ns = names.get(name, (0, 0))
        names[name] = (n + 1, all_ns + ns)
    return names


def check_timeline(score, program, folder):
    score.check("names and times", names_of(program, DATABASE), timeline())
    links = run(program, "sql", "-q", "--csv", DATABASE, "SELECT count(*) FROM links").stdout.split()[-1]
    score.check("calls and what they started", links, str(len(rocpd.LAUNCHES) + len(rocpd.COPIES)))
    document = os.path.join(folder, "t.json")
    run(program, "export", "--to", "json", "-o", document, DATABASE)
    with open(document) as f:
        series = {c["name"]: [row[1] / 1000 for row in c["samples"]] for c in json.load(f)["counters"]}
    # a value a launch, by their times
    order = sorted(range(len(rocpd.LAUNCHES)), key=lambda i: rocpd.LAUNCHES[i][3])
    score.check("counters", series, {name: [values[i] for i in order] for name, _, values in rocpd.COUNTERS.values()})
    again = os.path.join(folder, "again.db")
    rocpd.make(again)
    with sqlite3.connect(again) as a, sqlite3.connect(DATABASE) as b:
        score.check("the database is what the generator makes", list(a.iterdump()), list(b.iterdump()))


def asked(program, path, query):
    result = run(program, "sql", "-q", "--csv", path, query)
    if result.returncode:
        raise AssertionError(f"{path}: {result.stderr}")
    return list(csv.reader(result.stdout.splitlines()))[1:]


def lanes_of(program, path):
    """By lane and name: how often, how long; and how many links."""
    lanes = {}
    for lane, category, name, n, ns in asked(program, path, "SELECT t.name, c.opcode, c.isa, count(*), sum(s.duration) FROM slices s JOIN tracks t ON "
                                             "t.track = s.track JOIN code c ON c.row = s.row GROUP BY 1, 2, 3"):
        key = (re.sub(r" \[\d+\]$", "", lane), category, name)
        before = lanes.get(key, (0, 0))
        lanes[key] = (before[0] + int(n), before[1] + int(ns))
    return lanes, int(asked(program, path, "SELECT count(*) FROM links")[0][0])


class Pass:
    """The same of a document, by a pass over it that shares nothing with the reader."""

    def __init__(self, document):
        self.lanes, self.links, self.bad = {}, 0, 0
        for process in document["rocprofiler-sdk-tool"]:
            self.process(process, process["buffer_records"])

    def add(self, lane, category, name, record):
        ns = record["end_timestamp"] - record["start_timestamp"]
        if ns < 0:
            self.bad += 1
            return False
        n, all_ns = self.lanes.get((lane, category, name), (0, 0))
        self.lanes[lane, category, name] = (n + 1, all_ns + ns)
        return True

    def process(self, process, lists):
        nodes = {a["id"]["handle"]: a["node_id"] for a in process["agents"]}
        kernels = {k["kernel_id"]: k["formatted_kernel_name"] for k in process["kernel_symbols"]}
        kinds, place = process["strings"]["buffer_records"], f"process {process['metadata']['pid']}/"
        messages = {m["key"]: m["value"] for m in process["strings"]["marker_api"]}
        started = set()
        for r in lists["kernel_dispatch"]:
            i = r["dispatch_info"]
            lane = f"{place}agent {nodes[i['agent_id']['handle']]} queue {i['queue_id']['handle']}"
            if self.add(lane, "KERNEL_DISPATCH", kernels.get(i["kernel_id"], "(no name)"), r):
                started.add(r["correlation_id"]["internal"])
        for r in lists["memory_copy"]:
            if self.add(f"{place}copies to agent {nodes[r['dst_agent_id']['handle']]}", "MEMORY_COPY", kinds[r["kind"]]["operations"][r["operation"]], r):
                started.add(r["correlation_id"]["internal"])
        for r in lists["scratch_memory"]:
            self.add(f"{place}memory of agent {nodes.get(r['agent_id']['handle'], '?')}", "MEMORY_ALLOCATION", "ALLOC SCRATCH", r)
        for r in lists["hip_api"] + lists["marker_api"]:
            kind, stack = kinds[r["kind"]], r["correlation_id"]["internal"]
            name, is_marker = kind["operations"][r["operation"]], kind["kind"].startswith("MARKER")
            lane = f"{place}{'markers of ' * is_marker}thread {r['thread_id']}"
            self.add(lane, kind["kind"], messages.get(stack, name) if is_marker else name, r)
            self.links += not is_marker and stack in started


def turned(value):
    """The same document, the members of each object in the other order, but for the first: it tells what the file is."""
    if isinstance(value, dict):
        return {k: turned(value[k]) for k in reversed(value)}
    return [turned(v) for v in value] if isinstance(value, list) else value


def check_results(score, program, folder):
    """results.json without samples: the timeline, whatever the order of its members; what is wrong in it is counted."""
    path, trace = os.path.join(folder, "3_results.json"), os.path.join(DATA, "trace_results.json")
    score.check("results: names and times", names_of(program, trace), timeline())
    score.check("results: calls and what they started", lanes_of(program, trace)[1], len(rocpd.LAUNCHES) + len(rocpd.COPIES))
    document = make_results.many(400, 5)
    want = Pass(document)
    for name, text in (("as written", json.dumps(document)), ("indented", json.dumps(document, indent=1)), ("turned", json.dumps(turned(document)))):
        with open(path, "w") as f:
            f.write(text)
        score.check(f"results {name}", lanes_of(program, path), (want.lanes, want.links))
        notes = {n["code"]: n["count"] for n in data(program, "info", path)["notes"]}
        score.check(f"results {name}: notes", notes, {"damaged-records": want.bad, "several-runs": 2, "timeline": 1, "times-from-first": 1})
    with gzip.open(path + ".gz", "wt") as f:
        f.write(text)
    score.check("results, packed by gzip", lanes_of(program, path + ".gz"), (want.lanes, want.links))


def check_counted(score, program, folder):
    """Counters: the same values where launches were traced and where only counting tells of them; those of no counter or launch are counted."""
    path, out = os.path.join(folder, "4_results.json"), os.path.join(folder, "c.json")
    order = sorted(range(len(rocpd.LAUNCHES)), key=lambda i: rocpd.LAUNCHES[i][3])
    want = {name: [values[i] for i in order] for name, _, values in rocpd.COUNTERS.values()}
    for is_traced in (True, False):
        document = make_results.traced()
        process = document["rocprofiler-sdk-tool"][0]
        process["callback_records"]["counter_collection"][0]["records"].append({"counter_id": {"handle": 99}, "value": 5})
        if not is_traced:
            process["buffer_records"]["kernel_dispatch"] = []
        with open(path, "w") as f:
            json.dump(document, f)
        run(program, "export", "--to", "json", "-o", out, path)
        with open(out) as f:
            got = {c["name"]: [row[1] / 1000 for row in c["samples"]] for c in json.load(f)["counters"]}
        score.check(f"counters, launches traced: {is_traced}", got, want)
        score.check(f"names, launches traced: {is_traced}", names_of(program, path), timeline())
        score.check(f"links, launches traced: {is_traced}", lanes_of(program, path)[1], len(rocpd.LAUNCHES) + len(rocpd.COPIES))
        score.check("a value of no counter", {n["code"]: n["count"] for n in data(program, "info", path)["notes"]}.get("damaged-records"), 1)


def check_same(score, program):
    """The two files of one run are one timeline."""
    trace = os.path.join(DATA, "trace_results.json")
    score.check("results and database: lanes", lanes_of(program, trace), lanes_of(program, DATABASE))
    for query in ("SELECT * FROM tracks", "SELECT * FROM links", "SELECT track, slice, start, duration FROM slices"):
        score.check(f"results and database: {query}", asked(program, trace, query), asked(program, DATABASE, query))


def hostile(folder):
    """Name, database, what must be said, status."""
    def made(name, *sql, version="3"):
        path = os.path.join(folder, name + "_results.db")
        rocpd.make(path, version)
        db = sqlite3.connect(path, isolation_level=None)
        for line in sql:
            db.execute(line)
        db.close()
        return path

    def table(name):
        return f'"rocpd_{name}{rocpd.UUID}"'
    yield "a later schema", made("later", version="4.1.0"), "version 4.1.0", 3
    yield "no tables", made("none", *[f"DROP TABLE {table(n)}" for n in rocpd.COLUMNS if n != "sqlite_sequence"]), "no tables of rocprofv3", 3
    yield "a table is missing", made("missing", f"DROP TABLE {table('region')}"), "no such table", 3
    yield "a view in place of a table", made(
        "view", f"DROP TABLE {table('region')}",
        f"CREATE VIEW {table('region')} AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT x AS id, 'g' AS guid, 1 AS nid, "
        "1 AS pid, 1 AS tid, x AS start, x AS \"end\", 1 AS name_id, 1 AS event_id FROM c"), "prohibited|not authorized|view", 3
    yield "columns that compute", made(
        "generated", f"DROP TABLE {table('pmc_event')}",
        f"CREATE TABLE {table('pmc_event')} (event_id INTEGER, pmc_id INTEGER, value AS (length(hex(zeroblob(100000000)))))",
        f"INSERT INTO {table('pmc_event')} (event_id, pmc_id) VALUES (1, 1)"), "prohibited|not authorized|too big", 3
    # ids that no index finds: every row would meet every row
    yield "a join without end", made(
        "quadratic", f"DROP TABLE {table('string')}", f"CREATE TABLE {table('string')} (id, guid TEXT, string TEXT)",
        f"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c LIMIT 3000) INSERT INTO {table('string')} SELECT 1, 'g', 's' FROM c",
        f"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c LIMIT 3000) INSERT INTO {table('region')} (nid, pid, tid, start, \"end\", "
        "name_id) SELECT 1, 77, 77, x, x+1, 1 FROM c"), "far more work", 3
    yield "times that are none", made("times", f"UPDATE {table('region')} SET start = 'x'", f"UPDATE {table('memory_copy')} SET \"end\" = -5"), "", 0
    yield "years", made("years", f"UPDATE {table('region')} SET \"end\" = start + 900000000000000000"), "", 0
    yield "left with a log", made("log", "PRAGMA journal_mode = WAL"), "", 0


def check_hostile(score, program, folder):
    for name, path, words, status in hostile(folder):
        result = run(program, "hot", path)
        score.check(f"{name}: {result.stderr[:300]}", result.returncode, status)
        score.check(f"{name} says why: {result.stderr[:300]}", not words or any(w in result.stderr for w in words.split("|")), True)
    score.check("left with a log: the same", names_of(program, os.path.join(folder, "log_results.db")), timeline())


def check_again(score, program, folder):
    """Exports of ours, read back."""
    for capture in ("gemm", "v31", "pc_sampling"):
        source, path = os.path.join(os.path.dirname(os.path.dirname(DATABASE)), capture), os.path.join(folder, capture + ".db")
        run(program, "export", "-q", "--to", "rocpd", "-o", path, source)
        want, got = data(program, "info", source), data(program, "info", path + "#0" if capture != "gemm" else path)
        score.check(f"{capture}: kernel and target", (got["kernel"], got["arch"]), (want["kernel"], want["arch"]))
        if capture == "pc_sampling":
            rows, back = ([(r["row"], r["address"], r["samples"], r["stalled_samples"], r["source"]) for r in data(program, "hot", "--top", "all", x)["rows"]]
                          for x in (source, path + "#1"))
            score.check(f"{capture}: samples of every row", sorted(back), sorted(rows))


def damages(text, n):
    """Cut, a byte changed, a piece twice, numbers made huge."""
    numbers = make_pcs.random_numbers(7)
    for i in range(n):
        at = (next(numbers) << 16 | next(numbers)) % len(text)
        if i % 4 == 0:
            yield text[:at]
        elif i % 4 == 1:
            yield text[:at] + bytes([next(numbers) & 255]) + text[at + 1:]
        elif i % 4 == 2:
            yield text[:at] + text[at // 2:at] + text[at:]
        else:
            yield text.replace(b"1", b"18446744073709551616", 1 + at % 50)


def check_damaged(score, program, folder, names):
    for name in names:
        with open(os.path.join(DATA, name), "rb") as f:
            text = f.read()
        name = os.path.basename(name)
        for i, damaged in enumerate(damages(text, DAMAGES * int(os.environ.get("TIMES", "1")))):
            path = os.path.join(folder, f"{i}_{name}")
            with open(path, "wb") as f:
                f.write(damaged)
            result = run(program, "hot", "-q", path)
            is_fine = result.returncode == 0 or result.returncode in (3, 4) and result.stderr.startswith("incore: ")
            score.check(f"{name} damaged {i}: status {result.returncode} {result.stderr[:200]}", is_fine, True)
            os.unlink(path)


def main():
    program = os.path.join(sys.argv[1], "incore")
    score = Score()
    check_made(score)
    check_samples(score, program)
    with tempfile.TemporaryDirectory() as folder:
        check_packed(score, program, folder)
        check_listing(score, program, folder)
        check_cut(score, program, folder)
        check_results(score, program, folder)
        check_counted(score, program, folder)
        names = ["stochastic_results.json", "trace_results.json", "run_pc_sampling_stochastic.csv"]
        if "built without SQLite" in run(program, "info", DATABASE).stderr:
            score.skipped += 1
            print("SKIP databases: built without SQLite")
        else:
            check_timeline(score, program, folder)
            check_same(score, program)
            check_hostile(score, program, folder)
            check_again(score, program, folder)
            names.append(DATABASE)
        check_damaged(score, program, folder, names)
    print(f"{score.passed} passed, {score.failed} failed, {score.skipped} skipped")
    return int(score.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
