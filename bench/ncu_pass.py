#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a user would write instead of `incore hot` on a Nsight Compute report: a straightforward reader of the file, without NVIDIA software.

usage: ncu_pass.py [--result N] FILE

Prints one JSON object a result: samples by reason (all, not issued) in total and of the hottest instruction, executions. --result: of one
result alone, counted from 0; the others are not looked into. tests/ncu compares what incore says with it.
"""
import json
import struct
import sys

STALL = "smsp__pcsamp_warps_issue_stalled_"


def varint(b, i):
    n = b[i]
    i += 1
    if n < 128:
        return n, i
    n &= 127
    shift = 7
    while True:
        c = b[i]
        i += 1
        n |= (c & 127) << shift
        if c < 128:
            return n, i
        shift += 7


def fields(b):
    """(field, value) of a message: an integer, or the bytes of a text, a message or a fixed number."""
    i, end = 0, len(b)
    while i < end:
        key, i = varint(b, i)
        kind = key & 7
        if kind == 0:
            v, i = varint(b, i)
        elif kind == 2:
            n, i = varint(b, i)
            v = b[i:i + n]
            i += n
        elif kind in (1, 5):
            n = 8 if kind == 1 else 4
            v = b[i:i + n]
            i += n
        else:
            raise ValueError(f"wire type {kind}")
        yield key >> 3, v


def value(b):
    for field, v in fields(b):
        if field == 1:
            return v.decode(errors="replace")
        if field in (2, 3):
            return struct.unpack("<f" if field == 2 else "<d", v)[0]
        return v
    return None


def metric(b, strings):
    name = total = None
    instances = {}
    for field, v in fields(b):
        if field == 1:
            name = strings[v]
        elif field == 2:
            total = value(v)
        elif field == 3:
            pair = dict(fields(v))
            instances[value(pair[1])] = value(pair[2])
    return name, total, instances


def messages(b):
    """(kind, bytes) of a report: "block", "source", "result", "other"."""
    at = 8 + struct.unpack_from("<I", b, 4)[0]
    while at < len(b):
        n, = struct.unpack_from("<I", b, at)
        head = b[at + 4:at + 4 + n]
        yield "block", head
        at += 4 + n
        counts = {k: v for k, v in fields(head) if k in (1, 2, 5, 7, 8, 9)}
        end = at + counts.get(5, 0)
        for field in (1, 2, 7, 8, 9):
            for _ in range(counts.get(field, 0)):
                n, = struct.unpack_from("<I", b, at)
                yield {1: "source", 2: "result"}.get(field, "other"), b[at + 4:at + 4 + n]
                at += 4 + n
        at = end


def functions_of(b, sources):
    """Adds the functions of a source: {id: [(load address, name)]}."""
    number = None
    for field, v in fields(b):
        if field == 1:
            number = v
            sources.setdefault(number, [])
        elif field == 9:
            for _, f in fields(v):
                f = dict(fields(f))
                sources[number].append((f[2], f[1].decode()))


def result_of(b, strings, sources):
    out = {"kernel": None, "functions": [], "metrics": {}}
    for field, v in fields(b):
        if field == 5:
            out["kernel"] = v.decode()
        elif field == 13:
            name, total, instances = metric(v, strings)
            out["metrics"][name] = (total, instances)
        elif field == 15:
            out["functions"] = sources.get(dict(fields(v))[1], [])
    if not out["functions"]:  # 2020: the kernel's own address alone
        pcs = out["metrics"].get("launch__function_pcs", (0, {}))[1]
        out["functions"] = [(pcs[k], out["kernel"] if k == 0 else f"function {k}") for k in sorted(pcs)]
    return out


def read(path, wanted=None):
    with open(path, "rb") as f:
        b = f.read()
    if b[:4] != b"NVR\0":
        sys.exit(f"{path}: not a report")
    strings, sources, number = [], {}, -1
    for kind, message in messages(b):
        if kind == "block":
            strings += [s.decode() for field, v in fields(message) if field == 4 for f, s in fields(v) if f == 1]
        elif kind == "source":
            functions_of(message, sources)
        elif kind == "result":
            number += 1
            if wanted in (None, number):
                yield result_of(message, strings, sources)


def place(address, functions):
    base, name = max((f for f in functions if f[0] <= address), default=(0, None))
    return name, address - base


def summary(r):
    """Samples by reason, in total and of the instruction with most not-issued ones."""
    rows, totals = {}, {}
    for name, (_, instances) in r["metrics"].items():
        if not name.startswith(STALL):
            continue
        reason, column = name[len(STALL):], 0
        if reason.endswith("_not_issued"):
            reason, column = reason[:-len("_not_issued")], 1
        total = totals.setdefault(reason, [0, 0])
        for address, n in instances.items():
            total[column] += n
            row = rows.setdefault(address, [0, 0])
            row[column] += n
    hottest = max(rows, key=lambda a: (rows[a][1], -a), default=None)
    executed = r["metrics"].get("inst_executed", (0, {}))[1]
    return {"kernel": r["kernel"], "samples": sum(t[0] for t in totals.values()), "not_issued": sum(t[1] for t in totals.values()),
            "inst_executed": sum(executed.values()), "reasons": totals,
            "hottest": [*place(hottest, r["functions"]), *rows[hottest]] if rows else None}


def main():
    wanted = int(sys.argv[sys.argv.index("--result") + 1]) if "--result" in sys.argv else None
    for r in read(sys.argv[-1], wanted):
        print(json.dumps(summary(r)))


if __name__ == "__main__":
    main()
