#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The counts behind the rules of docs/why.md, straight from the wave files of ui_output captures (gfx9): no line of
incore takes part.

usage: why_evidence.py [DIR...]    (default: $INCORE_SHARED/data/amd/ui_output/*/ui_output*)
"""
import bisect
import collections
import glob
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.environ.get("INCORE_SHARED", os.path.join(ROOT, "..", "shared"))
CATEGORIES = {1: "SMEM", 2: "SALU", 3: "VMEM", 4: "VMEM", 5: "LDS", 7: "BRANCH", 8: "BRANCH"}
VECTOR = ("VALU", "TRANS", "MATRIX")
SETS_SCC = re.compile(r"s_(add|sub|and|or|xor|not|lsh|ash|bfe|min|max|cmp|bitcmp)")


def class_of(category, text):
    if category == 6:
        return "MATRIX" if re.match(r"v_s?mfma", text) else "TRANS" if re.match(r"v_(exp|log|rcp|rsq|sqrt|sin|cos)", text) else "VALU"
    if category == 9:
        return "WAIT" if text.startswith("s_wait") else "OTHER"
    return CATEGORIES.get(category, "OTHER")


def writes_scalar(text):
    first = text.partition(" ")[2].split(",")[0]
    return bool(re.search(r"\bs\d|\bs\[|vcc|exec", first)) or "_co_" in text.split(" ")[0]


class Capture:
    def __init__(self, path):
        code = json.load(open(os.path.join(path, "code.json")))["code"]
        rows = sorted((r for r in code if r[2]), key=lambda r: r[5])
        self.text = {r[2]: r[0] for r in rows}
        self.address = {r[2]: r[5] for r in rows}
        self.bytes = {a[2]: b[5] - a[5] for a, b in zip(rows, rows[1:])}
        self.waves = []
        for name in sorted(glob.glob(os.path.join(path, "se*_wv*.json"))):
            where = tuple(int(n) for n in re.search(r"se(\d+)_sm(\d+)_sl(\d+)", name).groups())
            records = [(t, class_of(c, self.text.get(n, "")), s, d, n, c) for t, c, s, d, n in json.load(open(name))["wave"]["instructions"]]
            self.waves.append((where, records))


def count_pairs(cap, pairs, borders):
    """From issue to start of two records in a row; gaps between VALU instructions by where the second stands."""
    for _, records in cap.waves:
        for (t0, k0, s0, d0, n0, _), (t, k, _, _, n, _) in zip(records, records[1:]):
            first = k0 + (" that writes a scalar" if k0 in ("VALU", "TRANS") and writes_scalar(cap.text[n0]) else "")
            pairs[first, k][t - t0 - s0] += 1
            if k0 == k == "VALU" and t == t0 + d0 + 4:
                a, size = cap.address[n], cap.bytes.get(n, 4)
                borders[a % 32 == 0 or a // 32 != (a + size - 1) // 32] += 1


def count_matrix(cap, ends):
    """Stalled records behind a matrix instruction: where the stall ends, counted from its issue."""
    for where, records in cap.waves:
        last = None
        for i, (t, k, s, d, n, _) in enumerate(records):
            packed = k == "VALU" and re.match(r"v_pk_\w+_f32", cap.text[n])
            kind = "MATRIX" if k == "MATRIX" else "v_pk_*_f32" if packed else "next" if last and last[2] == i - 1 else None
            if last and s and kind and k in VECTOR + ("LDS", "VMEM"):
                ends[last[1], kind][t + s - last[0]] += 1
            if k == "MATRIX":
                last = (t + s, cap.text[n].split()[0], i)


def count_turns(cap, turns):
    """Stalls of VALU in which the own SIMD issues nothing: how many other SIMDs do?"""
    busy = collections.defaultdict(set)
    for (se, simd, _), records in cap.waves:
        for t, k, s, d, _, _ in records:
            if k in VECTOR:
                for x in range((t + s) // 4, (t + d) // 4):
                    busy[se, x].add(simd)
    for (se, simd, _), records in cap.waves:
        matrix = -99
        for t, k, s, d, _, _ in records:
            span = range(t // 4, (t + s) // 4)
            if k == "VALU" and s >= 24 and t - matrix > 64 and not any(simd in busy.get((se, x), ()) for x in span):
                turns["stall"].update(len(busy.get((se, x), ())) for x in span)
            if k == "VALU":
                turns["issue"].update(len(busy[se, x] - {simd}) for x in range((t + s) // 4, (t + d) // 4))
            matrix = t + s if k == "MATRIX" else matrix


def count_memory(cap, queue, wake):
    """Vector memory by what is outstanding in the unit at its issue, and by how long the unit was silent."""
    events, issues = collections.defaultdict(list), collections.defaultdict(list)
    for (se, _, _), records in cap.waves:
        waiting = []
        for t, k, s, d, n, _ in records:
            if k == "VMEM":
                waiting.append(t + s)
                events[se].append((t + s, 1))
                issues[se].append(t + s)
            m = re.search(r"vmcnt\((\d+)\)", cap.text[n]) if k == "WAIT" else None
            while m and len(waiting) > int(m[1]):
                waiting.pop(0)
                events[se].append((t + d, -1))
        events[se] += [(records[-1][0] + records[-1][3], -1)] * len(waiting) if records else []
    for se, list_ in events.items():
        list_.sort()
        issues[se].sort()
        times, depth, n = [t for t, _ in list_], [], 0
        for _, x in list_:
            n += x
            depth.append(n)
        for where, records in cap.waves:
            for t, k, s, d, _, _ in records if where[0] == se else ():
                if k != "VMEM":
                    continue
                i, j = bisect.bisect_left(times, t + s) - 1, bisect.bisect_left(issues[se], t) - 1
                n = depth[i] if i >= 0 else 0
                queue["0-1" if n < 2 else "2-7" if n < 8 else "8-15" if n < 16 else "16-31" if n < 32 else "32+"].append(s)
                age = t - issues[se][j] if j >= 0 else 9999
                wake["96-143" if 96 <= age < 144 else "512+" if age >= 512 else "other"].append(s)


def main():
    paths = sys.argv[1:] or sorted(glob.glob(os.path.join(SHARED, "data", "amd", "ui_output", "*", "ui_output*")))
    pairs, ends = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    borders, queue, wake = collections.Counter(), collections.defaultdict(list), collections.defaultdict(list)
    for path in paths:
        cap, turns = Capture(path), collections.defaultdict(collections.Counter)
        count_pairs(cap, pairs, borders)
        count_matrix(cap, ends)
        count_turns(cap, turns)
        count_memory(cap, queue, wake)
        share = {w: [round(100 * turns[w][i] / max(1, sum(turns[w].values())), 1) for i in range(4)] for w in turns}
        print(os.path.basename(os.path.dirname(path)), "other SIMDs that issue, 0 to 3, %:", share)
    for (a, b), c in sorted(pairs.items()):
        if sum(c.values()) >= 8 and a.split()[0] in VECTOR + ("SALU",):
            print(f"{a} -> {b}: {sum(c.values())} pairs, cycles from issue to start (times): {c.most_common(4)}, least {min(c)}")
    for (a, b), c in sorted(ends.items()):
        print(f"{a} -> {b}: {sum(c.values())} stalls end after: {c.most_common(4)}")
    print("gaps of 4 cycles between VALU instructions: at a border of 32 bytes", borders[True], "elsewhere", borders[False])
    for what, table in (("outstanding", queue), ("silent cycles before", wake)):
        for k, v in sorted(table.items()):
            print(f"VMEM, {what} {k}: {len(v)} issued, mean stall {sum(v) / len(v):.1f}, stalled {100 * sum(s > 0 for s in v) / len(v):.1f} %, "
                  f"8 cycles {100 * v.count(8) / len(v):.1f} %, above 24 {100 * sum(s > 24 for s in v) / len(v):.1f} %")


if __name__ == "__main__":
    main()
