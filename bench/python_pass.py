#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a user would write instead of `incore hot`: one straightforward pass over a ui_output directory.

Totals per code row, wave states, wait -> producer resolution (gfx9 counters) and stall cycles by producer class, with the
standard json module. Prints one JSON object, so that the benchmark can check that both sides found the same.
"""
import json
import os
import re
import sys
from collections import Counter, deque

VMCNT = re.compile(r"vmcnt\((\d+)\)")
LGKM = re.compile(r"lgkmcnt\((\d+)\)")


def producer_class(text):
    op = text.split(" ", 1)[0]
    if op.startswith(("ds_bpermute", "ds_permute", "ds_swizzle")):
        return "LDS-xlane"
    if op.startswith("ds_"):
        return "LDS"
    if op.startswith("s_sendmsg"):
        return "MSG"
    if op.startswith("s_"):
        return "SMEM"
    if "_atomic" in op:
        return "VMEM-atomic"
    if "_store" in op:
        return "VMEM-store"
    if " lds" in text or "_lds" in op:
        return "VMEM-to-LDS"
    return "VMEM-load"


class Row:
    def __init__(self, text):
        self.counter = None
        self.out_of_order = text.startswith(("s_load", "s_store"))
        self.vm = self.lgkm = None
        if self.out_of_order or text.startswith(("ds_", "s_sendmsg")):
            self.counter = "lgkm"
        elif text.startswith(("global_", "buffer_", "tbuffer_", "scratch_")):
            self.counter = "vm"
        if self.counter:
            self.key = producer_class(text)
        if text.startswith("s_waitcnt"):
            m = LGKM.search(text)
            self.lgkm = int(m.group(1)) if m else None
            m = VMCNT.search(text)
            self.vm = int(m.group(1)) if m else None
        self.is_wait = text.startswith("s_waitcnt")


def resolve(queue, n, state, name):
    if n == 0:
        state[name] = False
    if state[name]:
        return []
    return [queue.popleft() for _ in range(max(0, len(queue) - n))]


def one_wave(wave, rows, totals, states, producers):
    prev = wave["begin"]
    queues = {"vm": deque(), "lgkm": deque()}
    parallel = {"vm": False, "lgkm": False}
    for time, _category, stall, duration, line in wave["instructions"]:
        row = totals[line]
        row[0] += 1
        row[1] += duration
        row[2] += stall
        if time > prev:
            row[3] += time - prev
        prev = max(prev, time + duration)
        info = rows[line]
        if info.counter:
            queues[info.counter].append(info.key)
            if info.out_of_order:
                parallel["lgkm"] = True
        elif info.is_wait:
            keys = []
            if info.lgkm is not None:
                keys += resolve(queues["lgkm"], info.lgkm, parallel, "lgkm")
            if info.vm is not None:
                keys += resolve(queues["vm"], info.vm, parallel, "vm")
            producers["+".join(sorted(set(keys))) or "(drained)"] += stall
    for state, duration in wave["timeline"] or []:
        states[state] += duration


def main():
    directory = sys.argv[1]
    with open(os.path.join(directory, "code.json")) as f:
        code = json.load(f)["code"]
    rows = {r[2]: Row(r[0]) for r in code}
    totals = {r[2]: [0, 0, 0, 0] for r in code}
    states, producers = Counter(), Counter()
    with open(os.path.join(directory, "filenames.json")) as f:
        manifest = json.load(f)
    for simds in manifest["wave_filenames"].values():
        for slots in simds.values():
            for waves in slots.values():
                for name, _begin, _end in waves.values():
                    with open(os.path.join(directory, name)) as f:
                        one_wave(json.load(f)["wave"], rows, totals, states, producers)
    sums = [sum(r[i] for r in totals.values()) for i in range(4)]
    print(json.dumps({"totals": sums, "states": states, "producers": producers}))


if __name__ == "__main__":
    main()
