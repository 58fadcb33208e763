# SPDX-License-Identifier: Apache-2.0
"""usage: compare.py A B    which members differ, but for the one note that B was read from a document."""
import json
import sys

a, b = (json.load(open(path)) for path in sys.argv[1:3])
b["notes"] = [n for n in b["notes"] if n["code"] != "json-export"]
bad = [k for k in a if json.dumps(a[k]) != json.dumps(b.get(k))]
if bad == ["tracks"]:  # which members of a track
    pairs = [(x[k], y.get(k), k) for x, y in zip(a["tracks"], b["tracks"]) for k in x]
    bad = sorted({f"tracks.{k}" for x, y, k in pairs if x != y}) if len(a["tracks"]) == len(b["tracks"]) else bad
print(" ".join(bad) if bad or list(a) != list(b) else "same")
