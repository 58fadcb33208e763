# SPDX-License-Identifier: Apache-2.0
"""Other instructions from the same source lines."""
import glob
import json
import sys

folder = sys.argv[1]
code = json.load(open(folder + "/code.json", encoding="utf-8"))
rows = code["code"]
for row in rows:
    if not row[0].startswith((";", "s_endpgm")):
        row[0] = "v_mov_b32_e32 v" + str(row[2]) + ", 0 ; other"
json.dump(code, open(folder + "/code.json", "w", encoding="utf-8"), separators=(",", ":"))
