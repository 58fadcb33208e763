#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every claim of speed, measured against what a user would run instead. A claim that is not kept stops no other; all of them are listed
at the end, and the exit status is 1 then.

usage: bench/run.py BUILD_DIR

INCORE_SHARED names the directory with real captures; without them the generator's is replicated. INCORE_TRACE_DECODER names AMD's library
of thread traces. MINUTES of panning for the heap of the page (10).
"""
import glob
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path[:0] = [HERE, os.path.join(ROOT, "tests")]
import npm  # noqa: E402
from parts import run_parts  # noqa: E402


def find_capture(build, shared):
    found = sorted(glob.glob(os.path.join(shared, "data", "amd", "ui_output", "flash_attn_before", "ui_output_*")))
    if found:
        return found[0]
    made = os.path.join(build, "bench_capture")
    shutil.rmtree(made, ignore_errors=True)
    subprocess.run([os.path.join(build, "examples", "make_capture"), "gemm", made], check=True)
    return glob.glob(os.path.join(made, "ui_output_*"))[0]


def thread_traces(build, shared):
    """Of real runs whole streams, then their waves alone; of the generator's only the first."""
    real = os.path.join(shared, "data", "amd", "sqtt")
    runs = [os.path.join(real, name) for name in ("gfx950/gemm_run_0", "gfx1100/gemm_run_0", "gfx1200/gemm_run_0", "gfx1200/handwritten_run_0")]
    library = os.environ.get("INCORE_TRACE_DECODER")
    words = [os.path.join(build, "bench", "sqtt"), "--threads", "2", *(["--against", library] if library else [])]
    if os.path.isdir(real):
        return [[*words, "--dense", dense, *runs] for dense in ("0", "1")]
    made = os.path.join(build, "bench_runs")
    shutil.rmtree(made, ignore_errors=True)
    subprocess.run([os.path.join(build, "tests", "sqtt", "make_sqtt"), "--runs", made], check=True)
    return [[*words, *sorted(glob.glob(os.path.join(made, "gfx*")))]]


def in_a_browser(build, capture):
    """The title and the command of the part that needs a module of npm; without it the title says why it is left out."""
    title = "the viewer in a browser: opening, panning, clicking, scrolling, the report"
    why = npm.why_not(os.path.join(ROOT, "tests", "ui"), "ci")
    if why:
        return f"{title}: skipped, {why}", []
    return title, [["node", os.path.join(HERE, "view_browser.mjs"), "--incore", os.path.join(build, "incore"), "--capture", capture,
                    "--dir", build, "--minutes", os.environ.get("MINUTES", "10")]]


def all_parts(build, shared):
    capture = find_capture(build, shared)
    wave = max(sorted(glob.glob(os.path.join(capture, "se*_wv*.json"))), key=os.path.getsize)
    json_rows = os.path.join(build, "bench", "json_rows")
    has_rows = os.path.exists(json_rows)
    incore, at, of = ["--incore", os.path.join(build, "incore")], ["--dir", build], ["--capture", capture]

    def python(name, *words):
        return [sys.executable, os.path.join(HERE, name), *words]

    def own(name, *words):
        return [os.path.join(build, "bench", name), *words]

    return [
        (f"JSON rows: our reader against simdjson on {os.path.basename(wave)}" + ("" if has_rows else ": skipped, libsimdjson-dev is not installed"),
         [[json_rows, wave]] if has_rows else []),
        ("incore hot against a Python pass over the same files", [python("hot.py", *incore, *of)]),
        ("raw thread traces: 100 MB of repeated streams, records discarded", thread_traces(build, shared)),
        ("a Nsight Compute report of 100 MB and 50 results, against a Python reader", [python("ncu.py", *incore, *at)]),
        (f"recording: the dump library against memcpy and against a write loop, on the disk of {build}", [own("dump", build)]),
        ("reading a dump of 200,000 records, against Python's json", [python("dump_read.py", *incore, *at)]),
        ("the embedded model: ops a second through the engine, one core", [own("model")]),
        ("exporting 20 million slices to Perfetto and Parquet, against writing the same bytes",
         [python("export.py", *incore, "--make", os.path.join(build, "bench", "make_packed"), *at)]),
        ("a build of 400 kernels through the embedded model", [python("profile.py", *incore, *at)]),
        ("incore clean against a Python cleaner, 0.1 to 5 million instructions with flags (2.3 GB of disk)", [python("clean.py", *incore, *at)]),
        ("the viewer: tiles, boxes, searches on 20 and 50 million slices; opening 20 million, cold and warm",
         [own("view", "20", "1024"), own("view", "50", "256"), python("view.py", *incore, *of, *at)]),
        in_a_browser(build, capture),
        ("incore sql against the same rows in an SQLite file, 2 million slices; --slices 20000000 for the claim",
         [python("sql.py", *incore, *of, "--slices", "2000000")]),
        ("a sweep of 1,000 cells on 8 simulated devices with crashes, hangs and a dead device; against a pool in Python",
         [python("sweep.py", *incore, *at)]),
        ("a store of 10,000 captures: adding and history, against plain Python and sqlite3", [python("store.py", *incore)]),
    ]


def main():
    if len(sys.argv) != 2 or not os.path.isdir(sys.argv[1]):
        sys.exit("usage: bench/run.py BUILD_DIR")
    shared = os.environ.get("INCORE_SHARED", os.path.join(ROOT, "..", "shared"))
    os.environ.setdefault("INCORE_PROFILES", os.path.join(ROOT, "profiles"))
    return run_parts(all_parts(os.path.abspath(sys.argv[1]), shared), sys.stdout)


if __name__ == "__main__":
    sys.exit(main())
