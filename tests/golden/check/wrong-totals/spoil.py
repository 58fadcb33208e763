# SPDX-License-Identifier: Apache-2.0
"""Raises the stated stall of one row."""
import json
import sys

path = sys.argv[1] + "/code.json"
code = json.load(open(path, encoding="utf-8"))
code["code"][3][7] += 8
code["code"][3][8] += 8
json.dump(code, open(path, "w", encoding="utf-8"), separators=(",", ":"))
