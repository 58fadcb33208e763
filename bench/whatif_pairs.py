#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `incore whatif` says of captures of CUDA kernels, and how long their changed twins took.

usage: whatif_pairs.py predict INCORE CAPTURES OUT     writes predictions of the questions below whose captures are there
       whatif_pairs.py compare PREDICTIONS TIMES       sets measured times beside them, as a table
       whatif_pairs.py check INCORE                    are the tables of docs/whatif.md those of the files in tests/gpu/pairs, and does
                                                       the program say as much of the captures there (no longer unseen)

CAPTURES has NAME.incore (Nsight Compute, --set full, of the first kernel) and questions.txt, whose last column is the
median time of the first kernel in microseconds, by CUDA events around the launch. TIMES has lines NAME_a or NAME_b, RUNS, MEDIAN ...
of both kernels in turn, several of each where the program was started several times: what was measured is the median of the second by that of the first
(where TIMES has none of the first, by the time in the predictions). A prediction is of that time: what `whatif` says of the kernel, and for each launch what
events add to the first kernel's duration, 5 us at most.
"""
import json
import os
import re
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Each question in the words of the verb.
QUESTIONS = {
    "atomics": ["--faster", "atomics.cu:15=32"],
    "bank_padding": ["--faster", "bank_padding.cu:19=32"],
    "barrier_balanced": ["--remove", "BARRIER"],
    "barrier_streaming": ["--remove", "BARRIER"],
    "chain_split": ["--ahead", "chain_split.cu:13=3"],
    "coalescing": ["--faster", "coalescing.cu:11=8"],
    "copy_depth": ["--ahead", "VMEM-to-LDS=3"],
    "division": ["--faster", "division.cu:10=9"],
    "fence_needless": ["--remove", "fence_needless.cu:13"],
    "local_array": ["--faster", "local_array.cu:21=LDS", "--faster", "local_array.cu:22=LDS"],
    "math_in_chase": ["--faster", "math_in_chase.cu:12"],
    "math_streaming": ["--faster", "math_streaming.cu:13=12"],
    "mufu_halved": ["--remove", "mufu_halved.cu:15"],
    "occupancy": ["--waves", "+3"],
    "prefetch": ["--ahead", "VMEM-load=1"],
    # the second round
    "barrier_second": ["--remove", "barrier_second.cu:18"],
    "block_size": ["--waves", "+8"],
    "branch_uniform": ["--faster", "branch_uniform.cu:13=2", "--faster", "branch_uniform.cu:17=2"],
    "division_hoisted": ["--faster", "division_hoisted.cu:13=11"],
    "double_math": ["--faster", "double_math.cu:14=2"],
    "gather_sorted": ["--faster", "25=8"],
    "histogram": ["--faster", "VMEM-atomic=LDS"],
    "modulo_streaming": ["--faster", "modulo_streaming.cu:10=8"],
    "occupancy_compute": ["--waves", "+8"],
    "reload": ["--remove", "VMEM-load"],
    "rsqrt": ["--faster", "rsqrt.cu:16=4.8"],
    "shuffle": ["--remove", "shuffle.cu:18", "--remove", "shuffle.cu:19", "--remove", "shuffle.cu:21"],
    "transpose": ["--faster", "VMEM-store=8"],
    "unroll_loads": ["--ahead", "VMEM-load=3"],
    "vector_shared": ["--faster", "LDS=4"],
    "vector_stream": ["--faster", "VMEM-load=4"],
    # the third round; row_sum is examples/triton
    "atomics_fewer": ["--faster", "atomics_fewer.cu:17=4"],
    "barrier_turns": ["--remove", "BARRIER"],
    "chase_shared": ["--faster", "VMEM-load=LDS"],
    "copy_wait": ["--ahead", "VMEM-to-LDS=1"],
    "fp64_chain": ["--ahead", "fp64_chain.cu:12=1"],
    "gather_l2": ["--faster", "VMEM-load=8"],
    "lookup_hidden": ["--remove", "lookup_hidden.cu:11"],
    "mma_chain": ["--ahead", "MATRIX=1"],
    "occupancy_smem": ["--waves", "+6"],
    "polynomial": ["--faster", "polynomial.cu:23=2"],
    "row_sum": ["--remove", "standard.py:293", "--remove", "standard.py:263", "--ahead", "VMEM-load=3"],
    "shared_atomics": ["--faster", "shared_atomics.cu:15=7.6"],
    "shared_hidden": ["--faster", "LDS=2"],
    "store_strided": ["--faster", "VMEM-store=8"],
    "stream_fewer": ["--remove", "stream_fewer.cu:11"],
    "stream_waves": ["--waves", "+8"],
    # the fourth round: examples/cuda/pairs/more
    "column_sums": ["--faster", "VMEM-load=8"],
    "counter_blocks": ["--faster", "counter_blocks.cu:13=8"],
    "exp_fast": ["--faster", "exp_fast.cu:13=5"],
    "integer_hidden": ["--faster", "integer_hidden.cu:18=4"],
    "local_spill": ["--remove", "local_spill.cu:15"],
    "matmul_tile": ["--faster", "matmul_tile.cu:23=4"],
    "memory_half": ["--faster", "VMEM-load=2"],
    "rows_ahead": ["--ahead", "VMEM-load=1"],
    "scan_barrier": ["--remove", "scan_barrier.cu:20", "--remove", "scan_barrier.cu:26"],
    "stencil_shared": ["--faster", "stencil_shared.cu:16=LDS-xlane"],
    # the fifth round: examples/cuda/pairs/last
    "barrier_kept": ["--remove", "barrier_kept.cu:19"],
    "compact_four": ["--faster", "compact_four.cu:24=4", "--faster", "compact_four.cu:25=4"],
    "copy_wide": ["--faster", "VMEM-load=4", "--faster", "VMEM-store=4"],
    "div_index": ["--faster", "div_index.cu:14=9", "--faster", "div_index.cu:15=2"],
    "gelu_stream": ["--faster", "gelu_stream.cu:22=15.5"],
    "mask_bytes": ["--faster", "mask_bytes.cu:17=4"],
    "occupancy_chase": ["--waves", "+8"],
    "reduce_banks": ["--faster", "reduce_banks.cu:20=3.7"],
    "sine_fast": ["--faster", "sine_fast.cu:12=8.7"],
    "store_soa": ["--faster", "VMEM-store=3"],
    "tile_ahead": ["--ahead", "VMEM-load=1"],
    "trips_sorted": ["--faster", "trips_sorted.cu:12=1.94", "--faster", "trips_sorted.cu:15=1.94", "--faster", "trips_sorted.cu:16=1.94"],
    "unroll_full": ["--ahead", "VMEM-load=3"],
}


def first_times(captures):
    with open(os.path.join(captures, "questions.txt")) as f:
        rows = [line.split("|") for line in f if line.strip() and not line.startswith("#")]
    return {r[0].strip(): float(r[-1]) for r in rows}


def ask(incore, capture, name, a):
    """The prediction of one pair, whose first kernel takes `a` microseconds."""
    options = QUESTIONS[name]
    run = subprocess.run([incore, "whatif", "--json", "-q", "--top", "0", *options, capture], capture_output=True, text=True, check=True)
    d = json.loads(run.stdout)["data"]
    launch = min(5.0, max(0.0, a - d["before_us"]))
    row = {"name": name, "options": options, "before_us": d["before_us"], "events_us": a, "launch_us": round(launch, 3), "why": d["why"]}
    for key in ("after", "low", "high"):
        row[f"kernel_{key}"] = round(d[key] / d["before"], 4)
        row[key] = round((d[f"{key}_us"] + launch) / (d["before_us"] + launch), 4)
    return row


def predict(incore, captures, out):
    times = first_times(captures)
    rows = [ask(incore, os.path.join(captures, f"{name}.incore"), name, times[name]) for name in QUESTIONS if name in times]
    with open(out, "w") as f:
        json.dump({"of": "time of the second kernel / time of the first, by CUDA events; kernel_*: without the launch",
                   "predictions": rows}, f, indent=1)
        f.write("\n")


def read_medians(times):
    """Of each kernel its medians, one a start of the program."""
    medians = {}
    with open(times) as f:
        for words in (line.split() for line in f if not line.startswith("#")):
            medians.setdefault(words[0], []).append(float(words[2]))
    return medians


def read_rows(predictions):
    with open(predictions) as f:
        return json.load(f)["predictions"]


def compare(rows, times):
    """(prediction, measured) of each pair, and what they come to: how many are inside, median width, median error."""
    medians = {name: statistics.median(v) for name, v in read_medians(times).items()}
    pairs = [(r, medians[r["name"] + "_b"] / medians.get(r["name"] + "_a", r["events_us"])) for r in rows if r["name"] + "_b" in medians]
    return (pairs, sum(r["low"] <= truth <= r["high"] for r, truth in pairs), statistics.median(r["high"] - r["low"] for r, _ in pairs),
            statistics.median(abs(r["after"] - truth) for r, truth in pairs))


def table(predictions, times):
    pairs, inside, width, error = compare(read_rows(predictions), times)
    lines = ["| pair | question | predicted | between | measured | inside | error |", "|---|---|---|---|---|---|---|"]
    for r, truth in pairs:
        lines.append(f"| {r['name']} | `{' '.join(r['options'])}` | {r['after']:.3f} | {r['low']:.3f} to {r['high']:.3f} | {truth:.3f} | "
                     f"{'yes' if r['low'] <= truth <= r['high'] else 'no'} | {abs(r['after'] - truth):.3f} |")
    return "\n".join(lines) + (f"\n\n{inside} of {len(pairs)} inside; median width {width:.3f}, median error of the point {error:.3f} of the first "
                               "kernel's time\n")


def has_places(options):
    """Every line that a question names is there, and the kernel's author marked it."""
    for file, line in (re.fullmatch(r"(\w+\.cu):(\d+)(?:=.*)?", o).groups() for o in options if ".cu:" in o):
        folders = [os.path.join(ROOT, "examples", "cuda", "pairs", *sub) for sub in ((), ("more",), ("last",))]
        with open(next(p for p in (os.path.join(d, file) for d in folders) if os.path.exists(p))) as f:
            if not re.search(r"// .*(FASTER|CHANGED|REMOVED)", f.read().splitlines()[int(line) - 1]):
                return False
    return True


def check_program(incore, judge):
    """The program as it is, of the captures that are kept: as good as what was asked for."""
    folder = os.path.join(ROOT, "tests", "gpu", "pairs")
    first = {r["name"]: r["events_us"] for r in read_rows(os.path.join(folder, "predictions_3.json"))}
    rows = [ask(incore, os.path.join(folder, "a", f"{name}.incore"), name, first[name]) for name in first
            if os.path.exists(os.path.join(folder, "a", f"{name}.incore"))]
    pairs, inside, width, error = compare(rows, os.path.join(folder, "times_3.txt"))
    judge(len(pairs) >= 15, f"{len(pairs)} captures of first kernels")
    judge(inside >= 0.9 * len(pairs), f"{inside} of {len(pairs)} inside, less than nine of ten")
    judge(width <= 0.25, f"median width {width:.3f}, more than 0.25")
    judge(error <= 0.10, f"median error {error:.3f}, more than 0.10")


def check(incore):
    counts = [0, 0]

    def judge(is_good, what):
        counts[not is_good] += 1
        if not is_good:
            print(f"FAIL {what}")

    with open(os.path.join(ROOT, "docs", "whatif.md")) as f:
        page = f.read()
    for end in ("", "_2", "_3", "_4", "_5"):
        predictions, times = (os.path.join(ROOT, "tests", "gpu", "pairs", name) for name in (f"predictions{end}.json", f"times{end}.txt"))
        medians = read_medians(times)
        rows = read_rows(predictions)
        for r in rows:
            name = r["name"]
            judge(r["low"] <= r["after"] <= r["high"], f"{name}: the point is outside of its interval")
            judge(r["options"] == QUESTIONS.get(name) and has_places(r["options"]), f"{name}: it was another question")
            judge([len(medians.get(f"{name}_{k}", [])) for k in "ab"] == [3, 3], f"{name}: not three times of each kernel")
        judge({k[:-2] for k in medians} == {r["name"] for r in rows}, f"times{end}.txt: not of the pairs that were predicted")
        judge(table(predictions, times) in page, f"docs/whatif.md: another table than that of predictions{end}.json and times{end}.txt")
    check_program(incore, judge)
    print(f"{counts[0]} passed, {counts[1]} failed, 0 skipped")
    return counts[1] > 0


if __name__ == "__main__":
    if len(sys.argv) == 5 and sys.argv[1] == "predict":
        predict(*sys.argv[2:])
    elif len(sys.argv) == 4 and sys.argv[1] == "compare":
        print(table(*sys.argv[2:]), end="")
    elif len(sys.argv) == 3 and sys.argv[1] == "check":
        sys.exit(check(sys.argv[2]))
    else:
        sys.exit(__doc__)
