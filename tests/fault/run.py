#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What happens when an allocation, read, write or open fails? For small runs of every verb: no crash, no leak (the build has
ASan), a status of the documented ones with a message, and an output file that is whole or absent. A run that answers differently
from the undisturbed one must say why.

A call is known by its stack. Of those with the same one the first and the last of a run fail: nothing is held yet, everything is.
A stack is not tried where each DEPTH of its frames, one above the other, were in one that was: every function has seen every call
that it makes fail, whichever of its callers had called it. With TIMES (soak) every call fails, at most 100 * TIMES of a kind and run.

usage: run.py BUILD_DIR [NAME...]     the build has -Dfault=true
"""
import concurrent.futures
import os
import pathlib
import select
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(ROOT, "tests", "data")
KINDS = ("alloc", "read", "write", "open")
TIMES = int(os.environ.get("TIMES", "1"))
MOST = 100 * TIMES  # of one kind and run
DEPTH = 2

RUNS = {
    "info": ["info", "--json", "two_waves"],
    "check": ["check", "--json", "two_waves"],
    "hot": ["hot", "two_waves"],
    "hot-exposed": ["hot", "--by", "line", "--exposed", "two_waves"],
    "hot-file": ["hot", "--json", "-o", "OUT", "two_waves"],
    "isa": ["isa", "two_waves"],
    "isa-json": ["isa", "--json", "two_waves"],
    "isa-loops": ["isa", "--json", "gemm"],
    "waves": ["waves", "--json", "two_waves"],
    "advise": ["advise", "--json", "two_waves"],
    "verdict": ["verdict", "--json", "two_waves"],
    "verdict-ledger": ["verdict", "--ledger", "h200/divergent_branches.incore"],
    "verdict-pipes": ["verdict", "--json", "ascend_matmul"],
    "advise-ledger": ["advise", "--json", "h200/divergent_branches.incore"],
    "whatif": ["whatif", "--faster", "VMEM", "--remove", "BARRIER", "gemm"],
    "whatif-json": ["whatif", "--json", "--waves", "+1", "two_waves"],
    "why": ["why", "--by", "line", "gemm"],
    "why-json": ["why", "--json", "--by", "row", "two_waves"],
    "waves-barriers": ["waves", "--json", "gemm"],
    "occupancy": ["occupancy", "--json", "two_waves"],
    "summary": ["summary", "two_waves"],
    "diff": ["diff", "--json", "two_waves", "bad_wave"],
    "diff-sarif": ["diff", "--gate", "stall<-1%", "--sarif", "OUT", "two_waves", "bad_wave"],
    "diff-markdown": ["diff", "--gate", "stall<-1%", "--markdown", "OUT", "two_waves", "bad_wave"],
    "pack": ["pack", "-o", "OUT", "two_waves"],
    "view": ["view", "--get", "/api/1/trace", "two_waves"],
    "view-at": ["view", "--get", "/api/1/at?track=0&slice=3", "two_waves"],
    "view-select": ["view", "--get", "/api/1/select?by=cause", "two_waves"],
    "view-rows": ["view", "--get", "/api/1/rows?track=0", "ascend_a5"],
    "view-find": ["view", "--get", "/api/1/find?q=/v_/", "two_waves"],
    "view-derived": ["view", "--get", "/api/1/derived?w=16&d=a:=sum[BUSY_CU_CYCLES]/2;b:=(a", "v31"],
    "view-verb": ["view", "--get", "/api/1/hot", "two_waves"],
    "view-store": ["view", "--store", "STORE", "--get", "/api/1/store/series"],
    "view-store-history": ["view", "--store", "STORE", "--get", "/api/1/store/history?capture=1"],
    "store-gate": ["store", "gate", "--store", "STORE", "--json", "--figure", "cycles", "--max", "1"],
    "view-store-show": ["view", "--store", "STORE", "--get", "/api/1/store/show?capture=1"],
    "report": ["report", "-o", "OUT", "--waves", "0", "two_waves"],
    "report-two": ["report", "-o", "OUT", "--waves", "0", "two_waves", "bad_wave"],
    "report-md": ["report", "--format", "md", "-o", "OUT", "ascend_matmul"],
    "pipes-waves": ["waves", "--json", "ascend_a5"],
    "sql-parquet": ["sql", "--parquet", "OUT", "two_waves", "SELECT class, sum(duration) FROM slices GROUP BY 1"],
    "markers": ["hot", "--markers", "v31"],
    "timeline-folded": ["export", "--to", "folded", "-o", "OUT", "timeline/torch.json"],
    "timeline-hot": ["hot", "--top", "all", "timeline/async.json"],
    "timeline-iket": ["waves", "timeline/iket.json"],
    "timeline-iket-tables": ["waves", "timeline/iket_tables.json"],
    "timeline-gzip": ["waves", "timeline/async.json.gz"],
    "timeline-packed": ["waves", "timeline/packed.pftrace"],
    "timeline-perfetto": ["export", "--to", "perfetto", "-o", "OUT", "timeline/blocks.pftrace"],
    "rgp-hot": ["hot", "rgp/two.rgp"],
    "rocpd-hot": ["hot", "rocpd/run_results.db"],
    "rocpd-chunks": ["waves", "../fuzz/corpus/rocpd/chunks.db"],
    "pcs-hot": ["hot", "--json", "rocprof_pcs/stochastic_results.json"],
    "pcs-code": ["hot", "--json", "rocprof_code/7_ps_file_results.json"],
    "pcs-trace": ["hot", "--json", "rocprof_pcs/trace_results.json"],
    "pcs-csv": ["info", "rocprof_pcs/run_pc_sampling_stochastic.csv"],
    "cuda-summary": ["summary", "--json", "cuda/exact.cudalog"],
    "cuda-pack": ["pack", "-o", "OUT", "cuda/died.cudalog"],
    "ncu-exposed": ["export", "--to", "folded", "--weight", "exposed", "-o", "OUT", "ncu/kernel.ncu-rep"],
    "ncu-hot-exposed": ["hot", "--exposed", "--json", "ncu/kernel.ncu-rep"],
    "ncu-hot": ["hot", "--by", "producer", "ncu/functions.ncu-rep"],
    "ncu-summary": ["summary", "--json", "ncu/several.ncu-rep#1"],
    "ncu-pack": ["pack", "-o", "OUT", "ncu/kernel.ncu-rep"],
    "scopes-hot": ["hot", "../fuzz/corpus/scopes/two"],
    "pipes-hot": ["hot", "--by", "producer", "ascend_a5"],
    "pipes-cause": ["hot", "--by", "cause", "ascend_a5"],
    "pipes-isa": ["isa", "ascend_a5"],
    "pipes-check": ["check", "--json", "ascend_half_dead"],
    "pipes-summary": ["summary", "ascend_device"],
    "pipes-summary-json": ["summary", "--json", "ascend_device"],
    "pipes-diff": ["diff", "--json", "ascend_half_dead", "ascend_matmul"],
    "clean": ["clean", "-o", "OUT", "ascend_matmul"],
    "insight": ["export", "--to", "insight", "-o", "OUT", "ascend_matmul"],
    "insight-back": ["waves", "--json", "../fuzz/corpus/insight_bin/own.bin"],
    "dumps": ["summary", "ascend_dump"],
    "export": ["export", "--to", "chrome", "-o", "OUT", "two_waves"],
    "perfetto": ["export", "--to", "perfetto", "-o", "OUT", "two_waves"],
    "perfetto-pipes": ["export", "--to", "perfetto", "--from", "500", "-o", "OUT", "ascend_matmul"],
    "speedscope": ["export", "--to", "speedscope", "-o", "OUT", "two_waves"],
    "rocpd": ["export", "--to", "rocpd", "-o", "OUT", "v31"],
    "sqlite": ["export", "--to", "sqlite", "-o", "OUT", "two_waves"],
    "parquet": ["export", "--to", "parquet", "-o", "OUT", "two_waves"],
    "pprof": ["export", "--to", "pprof", "-o", "OUT", "ascend_matmul"],
    "ui-output": ["export", "--to", "ui_output", "-o", "OUT", "two_waves"],
    "several": ["info", "repeated"],
    "side-files": ["info", "gemm"],
    "extras": ["info", "v31"],
    "other-code": ["info", "--code", "v31/ui_output_agent_1000_dispatch_3/code.json", "--source-root", "/kernels=.", "two_waves"],
    "raw": ["info", "--json", "sqtt_gfx9"],
    "raw-isa": ["isa", "sqtt_gfx12"],
    "raw-summary": ["summary", "--json", "sqtt_gfx11"],
    "raw-cut": ["waves", "--decoder-compat", "0.1.6", "sqtt_cut"],
    "model-time": ["model", "time", "--json", "model/attention.jsonl"],
    "model-dir": ["model", "time", "-q", "-o", "OUT", "model/vec_add.jsonl"],
    "model-findings": ["model", "time", "model/gemm_deadlock.jsonl"],
    "model-race": ["model", "time", "--json", "model/gemm_race.jsonl"],
    "model-ops": ["model", "ops"],
    "model-validate": ["model", "validate", "--ops-only", "--csv"],
    "replay-dry": ["replay", "--json", "--dump", "dumps/own", "--func", "1", "--dry-run", "-o", "OUT", "--source",
                   "../../examples/paged_attention/kernels/aiv/sf.cpp"],
    "replay-spec": ["replay", "--arg-spec", "../replay/lines.json", "--blocks", "2", "--dry-run", "-o", "OUT", "--source",
                    "../replay/kernels/mix/lines.cpp"],
    "replay-project": ["replay", "--backend", "msprof", "--arg-spec", "../replay/lines.json", "--dry-run", "-o", "OUT", "--core",
                       "aiv,aiv", "-I", ".", "--source", "../replay/cann/kernels/aiv/left.cpp", "--source",
                       "../replay/cann/kernels/aiv/right.cpp"],
    "sweep-dry": ["sweep", "--json", "--dry-run", "sweep.yaml"],
    "sweep-status": ["sweep", "status", "--json", "../sweep/finished"],
    "store-add": ["store", "add", "--store", "OUT", "--at", "2026-01-01", "two_waves"],
    "dump-ls": ["dump", "ls", "--json", "dumps/project"],
    "dump-slots": ["dump", "ls", "--by", "slot", "dumps/blocks"],
    "dump-show": ["dump", "show", "--json", "dumps/g11"],
    "dump-check": ["dump", "check", "--json", "dumps/blocks"],
    "dump-diff": ["dump", "diff", "--json", "dumps/g11", "dumps/g4"],
    "dump-export": ["dump", "export", "--to", "csv", "-i", "1", "-i", "5", "-o", "OUT", "dumps/g11"],
}


KEEPS = {"diff", "replay", "store"}  # verbs whose file or directory stays, whole, where only the answer cannot be told


def environment(**more):
    env = {**os.environ, "INCORE_JOBS": "1", "LC_ALL": "C.UTF-8", "XDG_CONFIG_HOME": os.path.join(ROOT, "tests", "golden", "view", "colors"),
           "INCORE_DISASM": "none", **more}
    return env


class Server:
    """The program, started once, stopped before its first allocation; each run goes on from there in a child of its own."""

    def __init__(self, program, words, **more):
        self.tmp = tempfile.TemporaryDirectory()
        self.place = os.path.join(self.tmp.name, "run")
        os.mkdir(self.place)
        out = os.path.join(self.place, "out")
        orders, self.orders = os.pipe()
        self.answers, answers = os.pipe()
        self.told = [open(os.path.join(self.tmp.name, name), "w+b", buffering=0) for name in ("stdout", "stderr")]
        ends = [orders, answers, *(f.fileno() for f in self.told)]
        self.p = subprocess.Popen([program, *[out if w == "OUT" else w for w in words]], cwd=DATA, pass_fds=ends,
                                  env=environment(INCORE_FAULT_SERVE=",".join(map(str, ends)), **more), stdout=subprocess.DEVNULL)
        os.close(orders)
        os.close(answers)

    def run(self, fault):
        os.write(self.orders, fault.encode().ljust(32, b"\0"))
        if not select.select([self.answers], [], [], 600)[0]:
            raise TimeoutError(f"{fault}: no end in ten minutes")
        status = os.read(self.answers, 4)
        rc = os.waitstatus_to_exitcode(struct.unpack("i", status)[0]) if status else self.p.wait()
        out, err = (pathlib.Path(f.name).read_bytes() for f in self.told)
        files = {}
        for base, _, names in os.walk(self.place):  # of a directory: all its files, one after the other
            for name in sorted(names):
                path = os.path.join(base, name)
                with open(path, "rb") as f:
                    top = os.path.relpath(path, self.place).split(os.sep)[0]
                    files[top] = files.get(top, b"") + f.read().replace(self.tmp.name.encode(), b"TMP")
        for name in os.listdir(self.place):
            path = os.path.join(self.place, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
        return rc, out.replace(self.tmp.name.encode(), b"TMP"), err, files

    def close(self):
        os.close(self.orders)
        self.p.wait()
        os.close(self.answers)
        for f in self.told:
            f.close()
        self.tmp.cleanup()


def undisturbed(program, words):
    """What the run gives, and of each call that can fail its kind and where it came from."""
    with tempfile.NamedTemporaryFile("r") as stacks:
        server = Server(program, words, INCORE_FAULT_STACKS=stacks.name)
        base = server.run("")
        server.close()
        return base, [tuple(line.split()) for line in stacks]


def disturbed(program, words, jobs):
    """(job, what it gave) for each."""
    server = Server(program, words)
    try:
        return [(j, server.run(f"{j[0]}:{j[1]}")) for j in jobs]
    finally:
        server.close()


def is_whole_store(data):
    """A store that has all of each of its captures, or none: what is left of an addition that failed."""
    if data[:6] != b"SQLite":
        return False
    with sqlite3.connect(":memory:") as db:
        db.deserialize(data[:18] + b"\x01\x01" + data[20:])  # in memory there is no write-ahead log
        count = lambda table: db.execute(f"SELECT count(DISTINCT capture) FROM {table}").fetchone()[0]  # noqa: E731
        return {count("entries"), count("captures"), count("code"), count("causes")} in ({0}, {1})


def problem(base, got, may_stay=False):
    rc, out, err, files = got
    if rc < 0:
        return f"killed by signal {-rc}"
    if rc == 99 or b"Sanitizer" in err or b"runtime error" in err:
        return "sanitizer: " + err.decode(errors="replace")[:1500]
    if rc not in (0, 1, 3, 4, 6):
        return f"exit status {rc}: {err.decode(errors='replace')[:300]}"
    if rc > 1 and not err.strip():
        return f"exit status {rc} without a message"
    if set(files) - {"out"}:
        return f"left behind: {sorted(files)}"
    told = bool(err.strip()) or b'"warnings": []' not in out and b'"warnings"' in out
    file_told = b'"warnings"' in files.get("out", b"") and b'"warnings": []' not in files.get("out", b"")
    if rc <= 1 and out != base[1] and not told:
        return "another answer on stdout, and no word about it"
    if files and files["out"] != base[3].get("out") and not (told or file_told):
        return "another file, and no word about it"
    if rc > 1 and files and not (may_stay and (files["out"] == base[3].get("out") or is_whole_store(files["out"]))):
        return "failed, but wrote its file"
    return None


def steps(call):
    """What is new about a place where all of these have not failed before."""
    kind, *stack = call
    return {(kind, *stack[i:i + DEPTH]) for i in range(max(1, len(stack) - DEPTH + 1))}


def faults(calls, tried):
    """(kind, n) of the calls that shall fail."""
    numbers = {kind: 0 for kind in KINDS}
    places = {}  # call: numbers
    for call in calls:
        numbers[call[0]] += 1
        places.setdefault(call, []).append(numbers[call[0]])
    if TIMES > 1:
        return [(k, n) for k, count in numbers.items() for n in range(1, count + 1, max(1, -(-count // MOST)))]
    chosen = set()
    for call, of_it in places.items():
        if not steps(call) <= tried:
            tried |= steps(call)
            chosen |= {(call[0], of_it[0]), (call[0], of_it[-1])}
    return sorted(chosen)


def make_store(program, path):
    """Five captures of a kernel and one that is slower."""
    for i, capture in enumerate(["repeated/ui_output_agent_1000_dispatch_7"] * 5 + ["gemm"]):
        subprocess.run([program, "store", "add", "-q", "--store", path, "--at", f"@{i}", capture], cwd=DATA, check=True, env=environment(), stdout=subprocess.DEVNULL)
    return path


def wanted(program, store):
    """The runs of this build, those with few calls first: what they try is not tried again where each run takes long."""
    verbs = subprocess.run([program, "--version", "--json"], capture_output=True, text=True, check=True).stdout
    runs, skipped = [], 0
    for name, words in RUNS.items():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        if f'"{words[0]}"' not in verbs or "fault_injection" not in verbs:
            print(f"SKIP fault {name}: this build has no {words[0]} or no fault injection")
            skipped += 1
            continue
        if "STORE" in words:
            words = [(store if os.path.exists(store) else make_store(program, store)) if w == "STORE" else w for w in words]
        runs.append((name, words, *undisturbed(program, words)))
    return sorted(runs, key=lambda run: len(run[3])), skipped


def main():
    with tempfile.TemporaryDirectory() as tmp:
        return run(os.path.join(os.path.abspath(sys.argv[1]), "incore"), os.path.join(tmp, "store"))


def run(program, store):
    runs, skipped = wanted(program, store)
    passed, failed, tried = 0, 0, set()
    cores = int(os.environ.get("JOBS") or os.cpu_count())
    with concurrent.futures.ThreadPoolExecutor(cores) as pool:
        for name, words, base, calls in runs:
            jobs = faults(calls, tried)
            shares = [jobs[i::cores] for i in range(cores)]
            got = [one for share in pool.map(lambda share: disturbed(program, words, share), shares) for one in share]
            for (kind, n), got in got:
                why = problem(base, got, words[0] in KEEPS)
                passed, failed = passed + (not why), failed + bool(why)
                if why:
                    print(f"FAIL {name}: INCORE_FAULT={kind}:{n} incore {' '.join(words)}: {why}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
