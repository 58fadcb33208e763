# SPDX-License-Identifier: Apache-2.0
"""raw.py: raw thread traces as a user sees them. Every run of the data set is asked every question; under the rules of
decoder 0.1.6 the totals of each address, the waves and the occupancy are those of the recorded decoder output."""
import glob
import json
import os
import tempfile

QUESTIONS = ("info", "check", "hot", "isa", "waves", "occupancy", "summary")
COMPAT = ("--decoder-compat", "0.1.6")


def runs(d):
    return sorted(os.path.dirname(p) for p in glob.glob(os.path.join(d.root, "sqtt", "*", "*", "oracle.json")))


def name_of(path):
    return "/".join(path.split(os.sep)[-2:])


def recorded(path):
    """hit, latency, stall by ELF address; waves as (se, simd, slot, begin, end, instructions); events of each SE."""
    with open(os.path.join(path, "oracle.json"), encoding="utf-8") as f:
        oracle = json.load(f)
    totals, waves, events = {}, [], {}
    for t in oracle["traces"]:
        se = int(t["file"][2:-5])
        if t["occupancy"]:
            events[se] = (len(t["occupancy"]), sum(e[4] for e in t["occupancy"]))
        for w in t["waves"]:
            if not w["insts"] and len(w["timeline"]) < 3:
                continue  # never written
            waves.append((se, w["simd"], w["wave_id"], w["begin"], w["end"], len(w["insts"])))
            for _, _, stall, dur, pc, _ in w["insts"]:
                row = totals.setdefault(pc - oracle["load_base"], [0, 0, 0])
                row[0] += 1
                row[1] += dur
                row[2] += stall
    return totals, sorted(waves), events


def compare(r, d, path):
    name = name_of(path)
    totals, waves, events = recorded(path)
    got = {row["address"]: [row["hit"], row["latency"], row["stall"]]
           for row in d.ask_path(path, "isa", *COMPAT)["rows"] if row["hit"]}
    r.one(f"{name}: totals of every address", got, totals)
    answer = d.ask_path(path, "waves", *COMPAT)
    got = sorted((w["se"], w["simd"], w["slot"], w["begin"], w["end"], w["instructions"]) for w in answer["waves"])
    r.one(f"{name}: waves", got, waves)
    occupancy = d.ask_path(path, "info", *COMPAT)["occupancy"]
    got = {int(se): (o["events"], o["starts"]) for se, o in occupancy.items() if o["events"]}
    r.one(f"{name}: occupancy events", got, events)


def ask_all(r, d, path):
    name = name_of(path)
    for rules in ((), COMPAT):
        for question in QUESTIONS:
            r.one(f"{name}: {question} {' '.join(rules)}", bool(d.ask_path(path, question, *rules)), True)
        r.one(f"{name}: cycles accounted for twice or never {' '.join(rules)}",
              d.ask_path(path, "waves", *rules)["residue"], 0)
        findings = [f["id"] for f in d.ask_path(path, "check", *rules)["findings"]]
        for wrong in ("truncated", "inconsistent-totals", "inconsistent-waves", "missing-wave", "damaged-file"):
            r.one(f"{name}: {wrong} {' '.join(rules)}", wrong in findings, False)
    # each engine's stream is of one dispatch, and tells of it
    engines = sorted(int(os.path.basename(p)[2:-5]) for p in glob.glob(os.path.join(path, "se*.sqtt")))
    launches = d.ask_path(path, "occupancy")["dispatches"]
    r.one(f"{name}: engines of dispatches", sorted(x["se"] for x in launches), engines)
    r.one(f"{name}: dispatches of unknown programs", [x for x in launches if not x["kernel_id"]], [])
    one = d.run("isa", "--json", "-j1", path)[1]
    r.one(f"{name}: same bytes with 1 and 2 threads", one == d.run("isa", "--json", "-j2", path)[1] and len(one) > 0, True)


def packed(r, d, path):
    name = name_of(path)
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "run.incore")
        rc, _, err = d.run("pack", "-o", target, path)
        r.one(f"{name}: pack", (rc, err if rc else ""), (0, ""))
        for question in ("hot", "isa", "waves"):
            r.one(f"{name}: packed: {question}: same answer", d.ask_path(target, question), d.ask_path(path, question))


def all_of(r, d):
    found = runs(d)
    if not found:
        r.skip("raw thread traces", "no data (set INCORE_SHARED)")
        return
    r.one("raw thread traces: runs", len(found), 28)
    for path in found:
        r.guard(f"{name_of(path)}: records", compare, r, d, path)
        r.guard(f"{name_of(path)}: questions", ask_all, r, d, path)
        r.guard(f"{name_of(path)}: packed", packed, r, d, path)
