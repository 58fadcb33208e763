# SPDX-License-Identifier: Apache-2.0
"""Takes the first stored wait out of one wave."""
import glob
import json
import sys

path = sorted(glob.glob(sys.argv[1] + "/se*_wv*.json"))[0]
wave = json.load(open(path, encoding="utf-8"))
del wave["wave"]["waitcnt"][0]
json.dump(wave, open(path, "w", encoding="utf-8"), separators=(",", ":"))
