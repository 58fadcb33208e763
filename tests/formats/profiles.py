# SPDX-License-Identifier: Apache-2.0
"""folded, speedscope and pprof: the same stacks with the same cycles in each, and by cause, by row and in all what `hot` says."""
import collections
import gzip
import json
import os
import re
import shutil
import subprocess

from common import HERE, decode, node_modules, number, text


def folded(path):
    """Cycles by stack."""
    stacks = collections.Counter()
    with open(path) as f:
        for line in f:
            stack, cycles = line.rstrip("\n").rsplit(" ", 1)
            stacks[tuple(stack.split(";"))] += int(cycles)
    return stacks


def speedscope(path):
    with open(path) as f:
        d = json.load(f)
    frames, profile = d["shared"]["frames"], d["profiles"][0]
    stacks = collections.Counter()
    for sample, weight in zip(profile["samples"], profile["weights"], strict=True):
        stacks[tuple(frames[i]["name"].replace(";", ",") for i in sample)] += weight
    assert profile["endValue"] == sum(profile["weights"]) and profile["unit"] == "none" and profile["type"] == "sampled"
    return stacks


def pprof(path):
    """Cycles by stack; sums of all values by name."""
    plain = path + ".pb"
    with gzip.open(path) as f, open(plain, "wb") as out:
        shutil.copyfileobj(f, out)
    d = decode("pprof.proto", "Profile", plain)
    strings = [text({"s": [s]}, "s") for s in d["string_table"]]
    names = {number(f, "id"): strings[number(f, "name", 0)] for f in d["function"]}
    lines = {number(v, "id"): [names[number(n, "function_id")] for n in v["line"]] for v in d["location"]}
    types = [strings[number(v, "type")] for v in d["sample_type"]]
    stacks, sums = collections.Counter(), collections.Counter()
    for s in d["sample"]:
        stack = [name for at in s["location_id"] for name in lines[int(at)]]
        values = dict(zip(types, map(int, s["value"]), strict=True))
        stacks[tuple(name.replace(";", ",") for name in reversed(stack))] += values[types[1]]
        sums.update(values)
    assert strings[0] == "" and strings[number(d, "default_sample_type")] == types[1]
    return +stacks, sums


def by_leaf(stacks):
    sums = collections.Counter()
    for stack, cycles in stacks.items():
        sums[stack[-1]] += cycles
    return dict(sums)


def by_row(stacks):
    sums = collections.Counter()
    for stack, cycles in stacks.items():
        sums[stack[-2]] += cycles
    return dict(sums)


def check_weights(results, program, capture, words, sums):
    """--weight: lost and exposed cycles of each instruction are those of hot, in folded and speedscope."""
    if "exposed" not in sums:
        return
    rows = program.data("hot", "--by", "instr", "--exposed", "--top", "all", capture, *[{"--until": "--to"}.get(w, w) for w in words])["rows"]
    for weight, of in (("exposed", lambda r: r["exposed"]), ("lost", lambda r: r["hidden"] + r["exposed"])):
        want = collections.Counter()
        for r in rows:
            want["(unknown)" if r["row"] is None else r["isa"].replace(";", ",")] += of(r)
        got = folded(program.export("folded", capture, "--weight", weight, *words)[0])
        results.equal(by_row(got), {k: v for k, v in want.items() if v}, f"{capture}: {weight} cycles by row")
        results.equal(speedscope(program.export("speedscope", capture, "--weight", weight, *words)[0]), got, f"{capture}: {weight}, speedscope")
        if weight == "exposed":
            results.equal(sums["exposed"], sum(got.values()), f"{capture}: exposed cycles")


def check(results, program, capture, *words):
    asked = [{"--until": "--to"}.get(w, w) for w in words]
    files = {to: program.export(to, capture, *words)[0] for to in ("folded", "speedscope", "pprof")}
    stacks = folded(files["folded"])
    others, sums = pprof(files["pprof"])
    results.equal(speedscope(files["speedscope"]), stacks, f"{capture}: stacks of speedscope")
    results.equal(others, stacks, f"{capture}: stacks of pprof")
    hot = program.data("hot", "--by", "instr", "--top", "all", capture, *asked)
    rows = collections.Counter()
    has_cycles = hot["accounting"] is not None
    for r in hot["rows"]:
        rows[r["isa"]] += r["cycles"] if has_cycles else r.get("samples", 0)
    got = collections.Counter()
    for stack, cycles in stacks.items():
        got[stack[-2]] += cycles
    lanes = got.pop("(unknown)", 0)
    results.equal({k: v for k, v in got.items() if v}, {k.replace(";", ","): v for k, v in rows.items() if v}, f"{capture}: cycles by row")
    if not has_cycles:
        return files
    buckets = hot["accounting"]
    results.equal(sum(stacks.values()), buckets["duration"], f"{capture}: cycles")
    results.equal((sums["stall"], sums["wait"]), (buckets["stall"], buckets["wait"]), f"{capture}: stall and wait")
    check_weights(results, program, capture, words, sums)
    causes = {c["key"]: c["cycles"] for c in program.data("hot", "--by", "cause", "--top", "all", capture, *asked)["groups"] if c["cycles"]}
    if lanes:  # of pipes, causes of rows are buckets
        got = {k: v for k, v in by_leaf(stacks).items() if ":" in k}
        causes = {k: v for k, v in causes.items() if k.startswith(("idle:", "drain:"))}
        results.equal(got, causes, f"{capture}: cycles by lane")
    else:
        results.equal(by_leaf(stacks), causes, f"{capture}: cycles by cause")
    return files


def check_in_browser(results, files):
    """What speedscope shows of both formats that it opens."""
    browser = os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell") or shutil.which("chromium")
    why = node_modules() if browser else "no chromium is installed"
    if results.skip_unless_wanted("speedscope", why):
        return
    asked = [files["speedscope"], files["pprof"]]
    p = subprocess.run(["node", os.path.join(HERE, "speedscope.mjs"), *asked], env={**os.environ, "CHROMIUM": browser}, capture_output=True,
                       text=True)
    if not results.check(p.returncode == 0, f"speedscope: {p.stderr}"):
        return
    want = by_leaf(folded(files["folded"]))
    for path, table in zip(asked, json.loads(p.stdout), strict=True):
        got = {name: int(re.match(r"[\d,]+", own)[0].replace(",", "")) for _, own, name in table["rows"]}
        results.equal(table["errors"], [], f"speedscope of {os.path.basename(path)}: errors")
        results.equal({k: v for k, v in got.items() if v}, want, f"speedscope of {os.path.basename(path)}: self")


def run(results, program):
    files = check(results, program, "inline")
    for capture in ("two_waves", "gemm", "v31", "gfx12", "sqtt_gfx9", "early_exit", "ascend_matmul", "ascend_waiting", "ncu/kernel.ncu-rep",
                    "pc_sampling", "bad_wave"):
        check(results, program, capture)
    check(results, program, "gemm", "--simd", "1-2")
    check(results, program, "gemm", "--from", "500", "--until", "1500")
    check_in_browser(results, files)
