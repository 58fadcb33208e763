#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Triton kernel's lines by lost cycles, each with the load, store or barrier that it waits for.

usage: triton_lines.py CAPTURE [TOP]

Where a line is an inlined helper (tl.load in a library), the last link of its chain is the line of the kernel that called it.
"""
import sys

import incore


def main() -> None:
    capture = incore.open(sys.argv[1])
    top = sys.argv[2] if len(sys.argv) > 2 else "5"
    trust = capture.check()
    if not trust.ok:
        sys.exit(f"{sys.argv[1]} cannot be trusted:\n{trust.findings}")
    lines = capture.hot(by="line", top=top)
    waits = {}
    for row in capture.hot(by="instr", top="all").rows:
        if row["waits_for_row"] is not None:
            waits.setdefault(row["source"], []).append((row["waits_for_cycles"], row["waits_for_isa"]))
    print(f"{lines.evidence}: {lines.accounting_duration:,} cycles of {lines.totals_waves} waves")
    for line in lines.groups:
        cycles, producer = max(waits.get(line["key"], [(0, "")]))
        print(f"{line['share']:5.1f} %  {line['key']}" + (f"  waits {cycles:,} cycles for {producer}" if cycles else ""))


if __name__ == "__main__":
    main()
