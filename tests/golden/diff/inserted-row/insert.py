# SPDX-License-Identifier: Apache-2.0
"""Puts a nop nobody executes behind the last row, and moves all addresses."""
import glob
import json
import sys

folder = sys.argv[1]
code = json.load(open(folder + "/code.json", encoding="utf-8"))
rows = code["code"]
for row in rows:
    row[5] += 256
rows.append(["s_nop 0", 0, rows[-1][2] + 1, rows[-1][3], rows[-1][4], rows[-1][5] + 4, 0, 0, 0, 0])
json.dump(code, open(folder + "/code.json", "w", encoding="utf-8"), separators=(",", ":"))
