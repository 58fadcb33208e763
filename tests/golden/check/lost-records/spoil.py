# SPDX-License-Identifier: Apache-2.0
"""Takes three records out of the middle of one wave."""
import glob
import json
import sys

path = sorted(glob.glob(sys.argv[1] + "/se*_wv*.json"))[0]
wave = json.load(open(path, encoding="utf-8"))
del wave["wave"]["instructions"][10:13]
wave["num_insts"] = wave["num_stitched"] = len(wave["wave"]["instructions"])
json.dump(wave, open(path, "w", encoding="utf-8"), separators=(",", ":"))
