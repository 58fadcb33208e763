#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A straightforward cleaner in Python: what one would write first. Lanes are packed greedily, and every flag looks for its
producer and consumer along the whole lane, so the cost grows with flags x lane length.

usage: python_clean.py TRACE.json OUT.json
"""
import collections
import json
import sys

DROPPED = {"SCALAR", "FLOWCTRL", "CACHEMISS", "ALL"}
SYNC = {"SET_FLAG", "WAIT_FLAG", "BAR"}


def detail(e):
    return dict(p.split(":", 1) for p in e["args"]["detail"].split(",") if ":" in p)


def pack(slices):
    """Row of each slice: the lowest one that is free."""
    rows = {}
    lanes = collections.defaultdict(list)
    for i, e in enumerate(slices):
        lanes[e["pid"], e["tid"]].append(i)
    for members in lanes.values():
        ends = []
        for i in sorted(members, key=lambda k: (slices[k]["ts"], slices[k].get("dur", 0))):
            e = slices[i]
            for row, end in enumerate(ends):
                if end <= e["ts"]:
                    break
            else:
                row = len(ends)
                ends.append(0)
            ends[row] = e["ts"] + e.get("dur", 0)
            rows[i] = row
    return rows


def flags_of(events):
    stacks, sets, waits = collections.defaultdict(list), [], collections.defaultdict(list)
    for e in events:
        if e["ph"] == "B":
            stacks[e["name"], e["pid"], e["tid"]].append(e)
        elif e["ph"] == "E":
            b = stacks[e["name"], e["pid"], e["tid"]].pop()
            d = detail(b)
            key = (b["pid"], d["PIPE"], d["TRIGGERPIPE"], d["FLAGID"])
            if b["name"] == "SET_FLAG":
                sets.append((b["ts"], key))
            else:
                waits[key].append((b["ts"], e["ts"]))
    for v in waits.values():
        v.sort()
    return sorted(sets), waits


def arrows(slices, rows, sets, waits):
    lanes = collections.defaultdict(list)
    for i, e in enumerate(slices):
        lanes[e["pid"], e["tid"]].append(i)
    out = []
    for begin, key in sets:
        if not waits[key]:
            continue
        _, end = waits[key].pop(0)
        before = [i for i in lanes[key[0], key[1]] if slices[i]["ts"] <= begin]
        after = [i for i in lanes[key[0], key[2]] if slices[i]["ts"] >= end]
        if not before or not after:
            continue
        a, b = max(before, key=lambda k: slices[k]["ts"]), min(after, key=lambda k: slices[k]["ts"])
        name = f"{key[1]}->{key[2]} flag{key[3]}"
        for ph, k in (("s", a), ("f", b)):
            out.append({"ph": ph, "id": len(out) // 2 + 1, "cat": "sync", "name": name, "pid": slices[k]["pid"],
                        "tid": lane(slices[k], rows[k]), "ts": slices[k]["ts"]})
    return out


def lane(e, row):
    return e["tid"] if row == 0 else f"{e['tid']}#{row}"


def main():
    with open(sys.argv[1]) as f:
        doc = json.load(f)
    events = doc["traceEvents"]
    slices = [e for e in events if e["ph"] == "X" and e["tid"] not in DROPPED and e["name"] not in SYNC]
    rows = pack(slices)
    sets, waits = flags_of(events)
    out = [{"name": e["name"], "ph": "X", "pid": e["pid"], "tid": lane(e, rows[i]), "ts": e["ts"], "dur": e.get("dur", 0),
            "args": e.get("args")} for i, e in enumerate(slices)]
    out += arrows(slices, rows, sets, waits)
    with open(sys.argv[2], "w") as f:
        json.dump({"displayTimeUnit": "ns", "traceEvents": out}, f)
    print(len(slices), len(out) - len(slices))


if __name__ == "__main__":
    main()
