#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `incore whatif` says, beside the truth of two machines that can be run again with the change.

usage: whatif_truth.py BUILD_DIR [toy] [model]     prints the tables of docs/whatif.md
       whatif_truth.py BUILD_DIR --check           a part of both, for make test: fails where errors are larger than there

toy: the shader engine of examples/make_capture: every row of six programs two and four times as fast and half as fast; waits,
nops and barriers removed. model: the kernels of tests/model: the constants of a class of ops changed in the profile.
An error is |estimate - truth| in per cent of the time before.
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "model"))
VARIANTS = ("two_waves", "gemm", "inline", "collapsed", "gfx11", "gfx12")
REMOVED = ("s_nop", "s_barrier", "s_waitcnt", "s_wait_")
# Constants that a class of ops is made of: which a faster one divides, and which it multiplies.
CLASSES = {
    "MTE": (("gm_rd_lat", "gm_wr_lat", "hbm_lat", "dma_gap", "mte1_start", "img2col_start"),
            ("gm_ub_bw", "gm_l1_bw", "gm_wr_bw", "hbm_bw", "l0a", "l0b", "l1_bt_bw")),
    "FIXP": (("fix_fixed", "fix_row", "fix_pen"), ("fix_bw", "fix_gm_bw")),
    "SCALAR": (("s_op", "s_sync", "s_store", "s_load", "s_miss", "s_loop", "s_getv", "s_cache", "s_fetch", "launch"), ()),
}


def run(*words):
    p = subprocess.run(words, capture_output=True, text=True)
    if p.returncode:
        raise RuntimeError(f"{' '.join(words)}: {p.stderr.strip()[:500]}")
    return p.stdout


def whatif(build, capture, *words):
    return json.loads(run(f"{build}/incore", "whatif", "--json", "-q", "--top", "0", *words, capture))["data"]


def row_of(what, before, truth, d):
    return {"what": what, "before": before, "truth": truth, "after": d["after"], "low": d["low"], "high": d["high"],
            "error": 100 * abs(d["after"] - truth) / before, "gain": 100 * abs(before - truth) / before,
            "inside": d["low"] <= truth <= d["high"]}


# --- the toy engine ---

def toy_changes(build, capture):
    rows = json.loads(run(f"{build}/incore", "hot", "--json", "-q", "--by", "instr", "--top", "all", capture))["data"]["rows"]
    for r in rows:
        is_sync = r["isa"].startswith(REMOVED)
        for k in (["0"] if is_sync else []) + (["2", "4", "0.5"] if not is_sync and not r["isa"].startswith("s_endpgm") and
                                               "branch" not in r["isa"] else []):
            yield r["row"], k


def toy(build, tmp, variants=VARIANTS):
    out = []
    for variant in variants:
        base = os.path.join(tmp, variant)
        run(f"{build}/examples/make_capture", "--change", "0=1", variant, base)
        before = whatif(build, base, "--nothing")["before"]
        for row, k in toy_changes(build, base):
            changed = os.path.join(tmp, f"{variant}-{row}-{k}")
            run(f"{build}/examples/make_capture", "--change", f"{row}={k}", variant, changed)
            words = ["--remove", str(row)] if k == "0" else ["--faster", f"{row}={k}"]
            out.append(row_of(f"{variant} {' '.join(words)}", before, whatif(build, changed, "--nothing")["before"], whatif(build, base, *words)))
    return out


# --- the Ascend model ---

def constants(name):
    """Values of a profile, by name, with those of its base."""
    with open(os.path.join(ROOT, "profiles", f"{name}.yaml")) as f:
        text = f.read()
    base = re.search(r"^base: (\S+)", text, re.M)
    out = constants(base[1]) if base else {}
    out.update((k, float(v)) for k, v in re.findall(r"^  (\w+): \{value: ([\d.]+)", text, re.M))
    return out


def changed_profile(path, name, word, k):
    values, (less, more) = constants(name), CLASSES[word]
    lines = [f"  {c}: {{value: {values[c] / k:.6g}, unit: x, source: test, status: guess}}" for c in less if c in values]
    lines += [f"  {c}: {{value: {values[c] * k:.6g}, unit: x, source: test, status: guess}}" for c in more if c in values]
    with open(path, "w") as f:
        f.write(f"format: incore-profile\nversion: 1\nname: changed\nbase: {name}\nsoc: test\n\nconstants:\n" + "\n".join(lines) + "\n")
    return path


def streams(build, tmp, is_whole):
    """(name, op stream, profile) of the fixtures, and of every kernel of tests/model that can be recorded here."""
    import cases
    data = os.path.join(ROOT, "tests", "data", "model")
    for name in ("attention", "blocks", "vec_add"):
        yield name + ".jsonl", os.path.join(data, name + ".jsonl"), "910b1"
    yield "mx.jsonl", os.path.join(data, "mx.jsonl"), "a5"
    for name, (core, args, *more) in cases.RUNS.items() if is_whole else ():
        source, stream = os.path.join(tmp, name + ".cpp"), os.path.join(tmp, name + ".opstream")
        with open(source, "w") as f:
            f.write("\n".join(cases.twin(name, None)) + "\n")
        words = [w for a in args for w in ("--args", a)] + (more[0] if more else [])
        p = subprocess.run([f"{build}/incore", "model", "record", source, "--core", core, *words, "-o", stream],
                           capture_output=True, text=True)
        if p.returncode == 0:
            yield name, stream, "a5" if name.startswith("a5") else "910b1"
        else:
            print(f"{name}: not recorded: {p.stderr.strip()[:120]}", file=sys.stderr)


def timed(build, stream, profile, out):
    run(f"{build}/incore", "model", "time", "-q", "-p", profile, "-o", out, stream)
    return os.path.join(out, "trace.incore")


def model_one(job):
    build, tmp, name, stream, profile = job
    trace, out = timed(build, stream, profile, os.path.join(tmp, f"{name}.base")), []
    before = whatif(build, trace, "--nothing")["before"]
    for word in CLASSES:
        for k in (2, 4, 0.5):
            p = subprocess.run([f"{build}/incore", "whatif", "--json", "-q", "--top", "0", "--faster", f"{word}={k}", trace],
                               capture_output=True, text=True)
            if p.returncode:  # no such op in this kernel
                continue
            place = os.path.join(tmp, f"{name}.{word}.{k}")
            truth = whatif(build, timed(build, stream, changed_profile(place + ".yaml", profile, word, k), place), "--nothing")["before"]
            out.append(row_of(f"{name} --faster {word}={k}", before, truth, json.loads(p.stdout)["data"]))
    return out


def model(build, tmp, is_whole=True):
    jobs = [(build, tmp, *s) for s in streams(build, tmp, is_whole)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return [r for rows in pool.map(model_one, jobs) for r in rows]


# --- tables ---

def quantile(v, p):
    v = sorted(v)
    return v[min(len(v) - 1, int(p * len(v)))]


def table(title, rows, groups):
    print(f"\n{title}\n\n| changes | n | that matter | mean gain | error: median | p90 | worst | inside |\n|---|---|---|---|---|---|---|---|")
    for name, keep in groups:
        some = [r for r in rows if keep(r)]
        moved = [r for r in some if r["gain"] >= 1]
        if some:
            errors = [r["error"] for r in some]
            mean = sum(r["gain"] for r in moved) / len(moved) if moved else 0
            print(f"| {name} | {len(some)} | {len(moved)} | {mean:.1f} % | {quantile(errors, 0.5):.2f} % | {quantile(errors, 0.9):.2f} % | "
                  f"{max(errors):.2f} % | {sum(r['inside'] for r in some)} |")
    worst = sorted(rows, key=lambda r: -r["error"])[:5]
    print("\nworst: " + "; ".join(f"{r['what']}: {r['before']} -> {r['after']}, truth {r['truth']}" for r in worst))


def check(build, tmp):
    """Median and ninth decile of the errors, in per cent; of some of the changes."""
    failed = 0
    for name, rows, median, p90 in (("toy", toy(build, tmp, ("two_waves", "gfx12")), 0.5, 6), ("model", model(build, tmp, False), 1, 8)):
        errors, inside = [r["error"] for r in rows], sum(r["inside"] for r in rows)
        for what, got, most in (("median", quantile(errors, 0.5), median), ("p90", quantile(errors, 0.9), p90),
                                ("outside", 100 * (len(rows) - inside) / len(rows), 20)):
            if not rows or got > most:
                failed += 1
                print(f"FAIL {name}: {what} {got:.2f} %, at most {most} % expected of {len(rows)}")
    print(f"{6 - failed} passed, {failed} failed, 0 skipped")
    return failed > 0


def main():
    build, which = os.path.abspath(sys.argv[1]), sys.argv[2:] or ["toy", "model"]
    with tempfile.TemporaryDirectory() as tmp:
        if which == ["--check"]:
            sys.exit(check(build, tmp))
        if "toy" in which:
            rows = toy(build, tmp)
            table("toy shader engine", rows, [(v, lambda r, v=v: r["what"].startswith(v + " ")) for v in VARIANTS] +
                  [("removed", lambda r: "--remove" in r["what"]), ("all", lambda r: True)])
        if "model" in which:
            rows = model(build, tmp)
            table("Ascend model", rows, [(c, lambda r, c=c: f"--faster {c}=" in r["what"]) for c in CLASSES] + [("all", lambda r: True)])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main()
