# SPDX-License-Identifier: Apache-2.0
"""Moves one shader engine's clock samples by 5,000 cycles."""
import json
import sys

path = sys.argv[1] + "/realtime.json"
clocks = json.load(open(path, encoding="utf-8"))
for sample in clocks["SE1"]:
    sample[0] += 5000
json.dump(clocks, open(path, "w", encoding="utf-8"), separators=(",", ":"))
