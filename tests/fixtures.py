#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Are the fixtures what the generator makes, and do they obey the invariants of real captures?

usage: fixtures.py MAKE_CAPTURE [MAKE_SQTT]

Regenerates every variant and compares it byte by byte with tests/data, then checks the sound ones:
totals, lifetime, states, state series, manifest, occupancy join, control flow.
"""
import filecmp
import json
import os
import re
import subprocess
import sys
import tempfile

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
SOUND = ["two_waves", "gemm", "repeated", "v31", "two_kernels", "inline", "gfx11", "gfx12", "collapsed", "early_exit"]


def files_below(top):
    return sorted(os.path.relpath(os.path.join(d, f), top) for d, _, fs in os.walk(top) for f in fs)


def same_tree(a, b):
    fa, fb = files_below(a), files_below(b)
    if fa != fb:
        return f"other files: {sorted(set(fa) ^ set(fb))[:5]}"
    for f in fa:
        if not filecmp.cmp(os.path.join(a, f), os.path.join(b, f), shallow=False):
            return f"{f} differs"
    return None


def load(d, name):
    with open(os.path.join(d, name)) as f:
        return json.load(f)


def waves_of(d):
    out = []
    for se, simds in (load(d, "filenames.json")["wave_filenames"] or {}).items():
        for simd, slots in simds.items():
            for slot, numbers in slots.items():
                for number, (name, begin, end) in numbers.items():
                    assert name == f"se{se}_sm{simd}_sl{slot}_wv{number}.json", name
                    w = load(d, name)
                    v = w["wave"]
                    assert (v["begin"], v["end"]) == (begin, end), f"{name}: begin, end"
                    assert w["duration"] == end - begin and w["num_insts"] == len(v["instructions"])
                    out.append((int(se), int(simd), int(slot), v))
    return out


def check_totals(d, waves):
    code = load(d, "code.json")["code"]
    sums = {row[2]: [0, 0, 0, 0] for row in code}
    for _, _, _, v in waves:
        prev = v["begin"]
        for time, _, stall, duration, line in v["instructions"]:
            assert duration >= stall
            s = sums[line]
            s[0] += 1
            s[1] += duration
            s[2] += stall
            s[3] += max(0, time - prev)
            prev = max(prev, time + duration)
    for row in code:
        assert row[6:10] == sums[row[2]], f"row {row[2]}: {row[6:10]} is not {sums[row[2]]}"


def check_states(d, waves):
    changes = {k: {} for k in range(1, 5)}
    for _, _, _, v in waves:
        at = v["begin"]
        last = v["instructions"][-1]
        tail = v["end"] - last[0] - last[3]
        total = sum(n for _, n in v["timeline"])
        assert total == v["end"] - v["begin"] + (4 if tail == -4 else 0), "timeline length"
        waits = sum(r[2] for r in v["instructions"] if r[1] == 9) + last[3]
        assert sum(n for s, n in v["timeline"] if s == 3) == waits, "WAIT"
        for s, n in v["timeline"]:
            changes[s][at] = changes[s].get(at, 0) + 1
            changes[s][at + n] = changes[s].get(at + n, 0) - 1
            at += n
    for k, c in changes.items():
        if not c:
            continue
        stated = load(d, f"wstates{k}.json")
        running, state = 0, []
        for t in sorted(c):
            running += c[t]
            state.append(running)
        assert stated["time"] == sorted(c) and stated["state"] == state, f"wstates{k}"


def check_join(d, waves):
    occupancy = load(d, "occupancy.json")
    want = sorted((se, v["cu"], simd, slot, t, s) for se, simd, slot, v in waves
                  for t, s in ((v["begin"], 1), (v["end"], 0)))
    cu = waves[0][3]["cu"]
    have = sorted((int(se), e[1], e[2], e[3], e[0], e[4]) for se, events in occupancy.items()
                  if se.isdigit() for e in events if e[1] == cu)
    assert want == have, "occupancy join"


def check_flow(d, waves):
    code = load(d, "code.json")["code"]
    by_line = {row[2]: row for row in code}
    by_address = {row[5]: row[2] for row in code[1:]}
    for _, _, _, v in waves:
        records = v["instructions"]
        assert records[0][4] == 1 and by_line[records[-1][4]][0] == "s_endpgm"
        for a, b in zip(records, records[1:]):
            row = by_line[a[4]]
            want = a[4] + 1
            if a[1] == 7:
                words = int(re.search(r"(\d+)$", row[0]).group(1))
                words -= 65536 if words >= 32768 else 0
                want = by_address[row[5] + 4 + 4 * words]
            assert b[4] == want, f"{row[0]} goes to {b[4]}"
            assert b[0] >= a[0], "times decrease"


def main():
    passed, failed = 0, 0
    with tempfile.TemporaryDirectory() as tmp:
        for program in map(os.path.abspath, sys.argv[1:]):
            names = [line.split()[0] for line in
                     subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.splitlines()]
            for name in names:
                subprocess.run([program, name, os.path.join(tmp, name)], check=True)
                why = same_tree(os.path.join(tmp, name), os.path.join(DATA, name))
                if why:
                    print(f"FAIL {name}: {why} (make fixtures rewrites tests/data)")
                passed, failed = passed + (not why), failed + bool(why)
    for name in SOUND:
        top = os.path.join(DATA, name)
        for entry in sorted(os.listdir(top)):
            d = os.path.join(top, entry)
            if not entry.startswith("ui_output") or not load(d, "filenames.json")["wave_filenames"]:
                continue
            waves = waves_of(d)
            for check in (check_totals, check_states, check_join, check_flow):
                try:
                    check(d, waves)
                    passed += 1
                except AssertionError as e:
                    print(f"FAIL {name} {check.__name__}: {e}")
                    failed += 1
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
