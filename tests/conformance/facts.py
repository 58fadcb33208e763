# SPDX-License-Identifier: Apache-2.0
"""
facts.py: every value of a facts file against what a command prints.

fact                                   command and key
dir, rows, instructions, mapped_rows,
executed_rows, gfxip, counter_names,
waves, wave_files, dispatch_ids        info: the same key
kernel                                 isa: labels[].text
wave_coords                            info: wave_coords {se, simd, slot}
distinct_source_lines                  info: source_rows.distinct_lines
clock_mhz                              info: clock_mhz_by_se
se_clock_offset_vs_SE0                 info: se_offsets, negated
totals                                 hot: totals {hit, latency, stall, idle}
mfma_static, mfma_hits                 isa: rows[] whose isa has v_mfma: how many, sum of hit
opcode_hit_lat_stall_idle              hot --by opcode: groups
source_rows_hit_lat_stall_idle         hot --by line: groups
granularity                            summary: source.granularity.weights[] of "hit+stall"
legacy_stall_by_type                   summary: legacy_stall_by_type
wait_stall_by_producer                 hot --by producer --attribution class-set: groups
states_cycles, timeline_segments,
duration, waves_not_ending_in_s_endpgm,
category_count_lat_stall, path_clusters waves: the same or a like key
waitcnt_model_mismatching_waves        check: evidence of inconsistent-waits, 0 without it
occupancy                              occupancy: ses[]
"""


def groups(answer, *keys):
    return {g["key"]: [g[k] for k in keys] for g in answer["groups"]}


def from_info(d, name):
    info = d.ask(name, "info")
    keys = ("dir", "rows", "instructions", "mapped_rows", "executed_rows", "gfxip", "counter_names",
            "waves", "wave_files", "dispatch_ids")
    out = {k: info[k] for k in keys}
    out["wave_coords"] = {k: info["wave_coords"][k] for k in ("se", "simd", "slot")}
    out["distinct_source_lines"] = info["source_rows"]["distinct_lines"]
    out["clock_mhz"] = info["clock_mhz_by_se"]
    out["se_clock_offset_vs_SE0"] = {k: -v for k, v in info["se_offsets"].items()}
    return out


def from_hot(d, name):
    totals = d.ask(name, "hot", "--top", "all")["totals"]
    sums = ("hit", "latency", "stall", "idle")
    return {
        "totals": {k: totals[k] for k in sums},
        "opcode_hit_lat_stall_idle": groups(d.ask(name, "hot", "--by", "opcode", "--top", "all"), *sums),
        "source_rows_hit_lat_stall_idle": groups(d.ask(name, "hot", "--by", "line", "--top", "all"), "rows", *sums),
        "wait_stall_by_producer": {
            g["key"]: g["wait"] for g in d.ask(
                name, "hot", "--by", "producer", "--attribution", "class-set", "--top", "all")["groups"]},
    }


def from_isa(d, name):
    isa = d.ask(name, "isa")
    matrix = [r for r in isa["rows"] if "v_mfma" in r["isa"]]
    return {
        "kernel": [label["text"].removeprefix("; ") for label in isa["labels"]],
        "mfma_static": len(matrix),
        "mfma_hits": sum(r["hit"] for r in matrix),
    }


def from_waves(d, name):
    w = d.ask(name, "waves", "--top", "all")
    return {
        "states_cycles": w["states"],
        "timeline_segments": w["timeline_segments"],
        "duration": {k: w["duration"][k] for k in ("min", "median", "max", "sum")},
        "waves_not_ending_in_s_endpgm": w["waves_not_ending_in_s_endpgm"],
        "category_count_lat_stall": w["categories"],
        "path_clusters": [{"waves": c["waves"], "unique_lines": c["rows"], "latency": c["latency"],
                           "stall": c["stall"]} for c in w["clusters"]],
    }


def from_occupancy(d, name):
    keys = ("events", "starts", "ends", "cus", "peak_waves", "peak_per_simd", "target_cu_starts")
    return {"occupancy": {str(s["se"]): {k: s[k] for k in keys} for s in d.ask(name, "occupancy")["ses"]}}


def from_check(d, name):
    wrong = [f for f in d.ask(name, "check")["findings"] if f["id"] == "inconsistent-waits"]
    return {"waitcnt_model_mismatching_waves": wrong[0]["evidence"]["waves_that_differ"] if wrong else 0}


def weight(summary, name):
    """The granularity of the line table by one weight."""
    return next(w for w in summary["source"]["granularity"]["weights"] if w["weight"] == name)


def from_summary(d, name):
    s = d.ask(name, "summary")
    g = weight(s, "hit+stall")
    return {
        "granularity": {"top1_share_hit_plus_stall": g["top1_share"],
                        "effective_lines_expH": g["effective_lines"]},
        "legacy_stall_by_type": s["legacy_stall_by_type"],
    }


SOURCES = [
    (from_info, ("dir", "rows", "instructions", "mapped_rows", "executed_rows", "gfxip", "counter_names", "waves",
                 "wave_files", "dispatch_ids", "wave_coords", "distinct_source_lines", "clock_mhz",
                 "se_clock_offset_vs_SE0")),
    (from_hot, ("totals", "opcode_hit_lat_stall_idle", "source_rows_hit_lat_stall_idle", "wait_stall_by_producer")),
    (from_isa, ("kernel", "mfma_static", "mfma_hits")),
    (from_waves, ("states_cycles", "timeline_segments", "duration", "waves_not_ending_in_s_endpgm",
                  "category_count_lat_stall", "path_clusters")),
    (from_occupancy, ("occupancy",)),
    (from_check, ("waitcnt_model_mismatching_waves",)),
    (from_summary, ("granularity", "legacy_stall_by_type")),
]


def compare(report, d, name):
    """All of one facts file; a fact that no command gives is a failure."""
    facts = d.facts(name)
    seen = set()

    def part(function, keys):
        got = function(d, name)
        for key in keys:
            if key == "granularity":
                for k, want in facts[key].items():
                    report.near(f"{name}.{key}.{k}", got[key].get(k), want, 5e-7)
            else:
                report.same(f"{name}.{key}", got.get(key), facts[key])

    for function, keys in SOURCES:
        keys = [k for k in keys if k in facts]
        seen.update(keys)
        report.guard(f"{name} ({function.__name__})", part, function, keys)
    report.one(f"{name}: facts without a command", sorted(set(facts) - seen), [])
