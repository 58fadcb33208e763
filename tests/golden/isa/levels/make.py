# SPDX-License-Identifier: Apache-2.0
"""A copy of two_waves with the level counters that its waves would give: usage: make.py DIRECTORY

In flight: a load from its issue to the end of its wait, a store to the end of the wave. A sample every 40 cycles;
where nothing is in flight none is written.
"""
import glob
import json
import os
import shutil
import sys

top = os.path.join(sys.argv[1], "two_waves")
shutil.copytree("two_waves", top, copy_function=shutil.copyfile)
(folder,) = glob.glob(top + "/ui_output*")
vmem, smem = [], []
for name in glob.glob(folder + "/se*_wv*.json"):
    with open(name) as f:
        wave = json.load(f)["wave"]
    at = {row[4]: row for row in wave["instructions"]}
    ends = {line: row[0] + row[3] for line, row in at.items()}
    smem.append((at[1][0] + at[1][2], ends[3]))
    vmem += [(at[4][0] + at[4][2], ends[5]), (at[8][0] + at[8][2], ends[9])]
rows = []
for t in range(20000, 21640, 40):
    levels = [sum(a <= t < b for a, b in kind) for kind in (vmem, smem)]
    if any(levels):
        rows.append([t, *levels, 0, 0, 1, 0])
with open(folder + "/se0_perfcounter.json", "w") as f:
    json.dump({"data": rows}, f)
with open(folder + "/filenames.json") as f:
    names = json.load(f)
names["counter_names"] = ["SQ_INST_LEVEL_VMEM", "SQ_INST_LEVEL_SMEM"]
with open(folder + "/filenames.json", "w") as f:
    json.dump(names, f)
