#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Did a change of a FlyDSL kernel help, and where? For the end of a tuning loop: exit status 1 where a line became slower.

usage: flydsl_verify.py BEFORE AFTER [PERCENT]      a line may lose so many per cent per execution [5]
"""
import sys

import incore


def main() -> None:
    limit = float(sys.argv[3]) if len(sys.argv) > 3 else 5.0
    answer = incore.diff(sys.argv[1], sys.argv[2], by="line", top="all")
    print(f"{sys.argv[1]} -> {sys.argv[2]}: {answer.verdict}")
    slower = []
    for row in answer.parts:
        before, after = row["per_hit_a"], row["per_hit_b"]
        if before and after is not None and 100.0 * (after - before) / before > limit:
            slower.append((after - before, row["key"], before, after))
    for change, line, before, after in sorted(slower, reverse=True):
        print(f"{line}: {before:.1f} -> {after:.1f} cycles an execution (+{change:.1f})")
    sys.exit(1 if slower else 0)


if __name__ == "__main__":
    main()
