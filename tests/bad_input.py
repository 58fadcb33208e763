#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does bad input get? Damages a small capture in every file and in many ways and runs every verb on it: a clear
error or a warning, never a crash, never a silent wrong total; then 100,000 wave files.

usage: bad_input.py BUILD_DIR [--no-scale]
"""
import concurrent.futures
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DATA = os.path.join(ROOT, "tests", "data")
CAPTURE = "ui_output_agent_1000_dispatch_3"
WAVE = "se0_sm0_sl0_wv0.json"
VERBS = {
    "info": [], "check": [], "hot": [], "isa": [], "waves": [], "occupancy": [], "summary": [],
    "hot-producer": ["--by", "producer"], "hot-line": ["--by", "line"],
}

THIN = "THIN" in os.environ and os.environ.get("TIMES", "1") == "1"

# What may happen to any file.
GENERIC = {
    "empty": lambda b: b"",
    "half": lambda b: b[:len(b) // 2],
    "one-byte-short": lambda b: b[:-1],
    "garbage": lambda b: bytes(range(256)) * 4,
    "null": lambda b: b"null",
    "array": lambda b: b"[]",
    "object": lambda b: b"{}",
    "deep": lambda b: b"[" * 100000,
    "deep-key": lambda b: b'{"x":' * 5000 + b"1" + b"}" * 5000,
    "trailing": lambda b: b + b"{}",
    "huge-numbers": lambda b: b.replace(b"20", b"99999999999999999999999"),
    "negative": lambda b: b.replace(b"20", b"-20"),
    "fractions": lambda b: b.replace(b"20", b"2.5"),
    "strings": lambda b: b.replace(b"[", b'["x",'),
    "nul-bytes": lambda b: b.replace(b"e", b"\0"),
    "bad-utf8": lambda b: b.replace(b"a", b"\xff\xfe"),
}


def swap(old, new, count=1):
    def change(b):
        assert old in b, old
        return b.replace(old, new, count)
    return change


# name, file, change, words of which one must appear in what the verb says, allowed statuses, verb
SPECIAL = [
    ("wave-negative-duration", WAVE, swap(b",4,0,4,4]", b",4,0,-4,4]"), ["wv0.json"], (0,), "hot"),
    ("wave-stall-over-duration", WAVE, swap(b",4,0,4,4]", b",4,9,4,4]"), ["wv0.json"], (0,), "hot"),
    ("wave-line-out-of-range", WAVE, swap(b",4,0,4,4]", b",4,0,4,4000000000]"), ["no known row"], (0,), "hot"),
    ("wave-line-negative", WAVE, swap(b",4,0,4,4]", b",4,0,4,-4]"), ["wv0.json"], (0,), "hot"),
    ("wave-duplicate-key", WAVE, swap(b'"begin":', b'"begin":1,"begin":'), ["wv0.json"], (0,), "hot"),
    ("wave-of-another-place", WAVE, swap(b'"simd":0', b'"simd":3'), ["inconsistent-waves"], (0,), "check"),
    ("wave-time-over-int64", WAVE, swap(b"[[20028,", b"[[9223372036854775808,"), ["wv0.json"], (0,), "hot"),
    ("manifest-leaves-directory", "filenames.json", swap(WAVE.encode(), b"../../../etc/passwd"), ["filenames.json", "passwd"], (0, 3), "hot"),
    ("manifest-absolute-path", "filenames.json", swap(WAVE.encode(), b"/etc/passwd"), ["filenames.json", "passwd"], (0, 3), "hot"),
    ("manifest-names-directory", "filenames.json", swap(WAVE.encode(), b".."), ["filenames.json", ".."], (0, 3), "hot"),
    ("manifest-duplicate-key", "filenames.json", swap(b'"gfxip":9', b'"gfxip":9,"gfxip":9'), ["filenames.json"], (3,), "hot"),
    ("code-short-row", "code.json", swap(b",3,5632,2,8,0,56]", b",3]"), ["code.json"], (3,), "hot"),
    ("code-no-header", "code.json", swap(b'"header"', b'"h"'), ["code.json"], (3,), "hot"),
    ("code-without-isa-column", "code.json", swap(b"ISA, _", b"Asm, _"), ["code.json"], (3,), "hot"),
    ("occupancy-short-row", "occupancy.json", swap(b"[20000,1,0,0,1,1]", b"[20000,1]"), ["occupancy.json"], (0, 3), "check"),
    ("occupancy-negative-cu", "occupancy.json", swap(b"[20000,1,", b"[20000,-1,"), ["occupancy.json"], (0, 3), "check"),
    ("realtime-backwards", "realtime.json", swap(b"[94000,", b"[1,"), ["clock       unknown"], (0,), "info"),
]


def damaged(tmp, name, file, change):
    top = os.path.join(tmp, name)
    shutil.copytree(os.path.join(DATA, "two_waves"), top)
    path = os.path.join(top, CAPTURE, file)
    with open(path, "rb") as f:
        data = f.read()
    with open(path, "wb") as f:
        f.write(change(data))
    return top


def run(program, words, **more):
    return subprocess.run([program, *words], capture_output=True, timeout=600, stdin=subprocess.DEVNULL, **more)


def broken(p):
    """Why this end of a run is wrong, whatever the input was."""
    err = p.stderr.decode(errors="replace")
    if p.returncode < 0 or p.returncode == 99 or "Sanitizer" in err or "runtime error" in err:
        return f"crashed ({p.returncode}): {err[:1500]}"
    if p.returncode not in (0, 1, 3):
        return f"exit status {p.returncode}: {err[:300]}"
    if p.returncode == 3 and not err.strip():
        return "exit status 3 without a message"
    return None


def generic(program, tmp, number, file, how):
    """All verbs; THIN: summary, which asks most, and each third of the others in turn."""
    top = damaged(tmp, f"{file}-{how}", file, GENERIC[how])
    for i, (verb, words) in enumerate(VERBS.items()):
        if THIN and verb != "summary" and i % 3 != number % 3:
            continue
        why = broken(run(program, [verb.split("-")[0], *words, top]))
        if why:
            return f"FAIL {how} {file}: incore {verb} {' '.join(words)}: {why}"
    return None


def special(program, tmp, case):
    name, file, change, words, allowed, verb = case
    top = damaged(tmp, name, file, change)
    p = run(program, [verb, top])
    why = broken(p)
    text = (p.stderr + p.stdout).decode(errors="replace")
    if not why and p.returncode not in allowed:
        why = f"exit status {p.returncode}, expected {allowed}: {text[:300]}"
    if not why and not any(w in text for w in words):
        why = f"no word about it: {text[:300]!r}"
    if not why and p.returncode == 0 and verb == "hot":
        strict = run(program, ["hot", "--strict", top]).returncode
        why = None if strict == 4 else f"--strict gives {strict}, not 4"
    return f"FAIL {name}: {why}" if why else None


def scale(program, tmp, n=20000 * min(5, int(os.environ.get("TIMES", "1")))):
    """Many waves: the answer is right, in time, in little memory."""
    top = os.path.join(tmp, "many", CAPTURE)
    shutil.copytree(os.path.join(DATA, "two_waves", CAPTURE), top)
    with open(os.path.join(top, WAVE)) as f:
        text = f.read()
    slots = {}
    for i in range(n):
        slot, number = i % 8, i // 8
        name = f"se0_sm0_sl{slot}_wv{number}.json"
        slots.setdefault(str(slot), {})[str(number)] = [name, 20000, 21548]
        with open(os.path.join(top, name), "w") as f:
            f.write(text.replace('"id":0', f'"id":{number}').replace('"slot":0', f'"slot":{slot}'))
    path = os.path.join(top, "filenames.json")
    with open(path) as f:
        manifest = json.load(f)
    manifest["wave_filenames"] = {"0": {"0": slots}}
    with open(path, "w") as f:
        json.dump(manifest, f)
    p = run(program, ["hot", "--json", "-q", top])
    if p.returncode:
        return f"FAIL {n} waves: exit status {p.returncode}: {p.stderr.decode()[:300]}"
    totals = json.loads(p.stdout)["data"]["totals"]
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    if (totals["waves"], totals["hit"]) != (n, 9 * n):
        return f"FAIL {n} waves: {totals}"
    return f"FAIL {n} waves: {peak} MB" if peak > 300 else None


def main():
    program = os.path.join(os.path.abspath(sys.argv[1]), "incore")
    files = sorted(f for f in os.listdir(os.path.join(DATA, "two_waves", CAPTURE)) if f.endswith(".json"))
    with tempfile.TemporaryDirectory() as tmp, concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count())) as pool:
        kinds = [(f, how) for f in files for how in GENERIC]
        jobs = [pool.submit(generic, program, tmp, i, *kind) for i, kind in enumerate(kinds)]
        jobs += [pool.submit(special, program, tmp, case) for case in SPECIAL]
        results = [j.result() for j in jobs]
        if "--no-scale" not in sys.argv:
            results.append(scale(program, tmp))
    failures = [r for r in results if r]
    for f in failures:
        print(f)
    print(f"{len(results) - len(failures)} passed, {len(failures)} failed, 0 skipped")
    return len(failures) > 0


if __name__ == "__main__":
    sys.exit(main())
