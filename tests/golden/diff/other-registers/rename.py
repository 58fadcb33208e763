# SPDX-License-Identifier: Apache-2.0
"""One instruction uses another register."""
import glob
import json
import sys

folder = sys.argv[1]
code = json.load(open(folder + "/code.json", encoding="utf-8"))
rows = code["code"]
for row in rows:
    if row[0].startswith("v_mfma"):
        row[0] = row[0].replace("a[0:3]", "a[4:7]") + " ; other"
        break
json.dump(code, open(folder + "/code.json", "w", encoding="utf-8"), separators=(",", ":"))
