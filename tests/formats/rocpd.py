# SPDX-License-Identifier: Apache-2.0
"""The rocpd database as sqlite3 reads it, by the names of rocprofv3's public schema: the launch is that of `info`, counters and PC samples are
those of the capture."""
import collections
import json

from tables import sqlite

# What queries of rocprofv3's own tools ask for, by view.
COLUMNS = {
    "rocpd_kernel_dispatch": "id guid nid pid tid agent_id kernel_id dispatch_id queue_id stream_id start end private_segment_size group_segment_size "
                             "workgroup_size_x workgroup_size_y workgroup_size_z grid_size_x grid_size_y grid_size_z region_name_id event_id extdata",
    "rocpd_info_kernel_symbol": "id guid nid pid code_object_id kernel_name display_name kernel_object kernarg_segment_size "
                                "kernarg_segment_alignment group_segment_size private_segment_size sgpr_count arch_vgpr_count accum_vgpr_count "
                                "extdata",
    "rocpd_sample": "id guid track_id timestamp event_id extdata",
    "rocpd_pmc_event": "id guid event_id pmc_id value extdata",
}
LAUNCH = """SELECT k.kernel_name AS kernel, d.dispatch_id AS dispatch, d.grid_size_x AS x, d."end" - d.start AS ns, a.name AS arch
FROM rocpd_kernel_dispatch d JOIN rocpd_info_kernel_symbol k ON k.id = d.kernel_id JOIN rocpd_info_agent a ON a.id = d.agent_id
JOIN rocpd_info_process p ON p.id = d.pid JOIN rocpd_info_node n ON n.id = d.nid AND n.guid = d.guid"""
COUNTERS = """SELECT p.name AS name, count(*) AS n, sum(e.value) AS total FROM rocpd_pmc_event e JOIN rocpd_info_pmc p ON p.id = e.pmc_id
JOIN rocpd_event v ON v.id = e.event_id JOIN rocpd_sample s ON s.event_id = v.id JOIN rocpd_track t ON t.id = s.track_id GROUP BY p.id"""


def run(results, program):
    for capture in ("gemm", "v31", "pc_sampling"):
        path, said = program.export("rocpd", capture)
        for view, columns in COLUMNS.items():
            got = [c["name"] for c in sqlite(path, f"PRAGMA table_info({view})")]
            results.equal(got, columns.split(), f"{capture}: columns of {view}")
        results.equal(sqlite(path, "SELECT value FROM rocpd_metadata WHERE tag = 'schema_version'"), [{"value": "3"}], f"{capture}: version")
        launches = sqlite(path, LAUNCH)
        info = program.data("info", capture)
        results.equal([(r["kernel"], r["arch"]) for r in launches], [(info["kernel"], info["arch"])], f"{capture}: launches")
        results.check(all(r["ns"] >= 0 for r in launches), f"{capture}: a launch ends before it starts")
        counters = sqlite(path, COUNTERS)
        results.equal(sum(r["n"] for r in counters), said["counter_samples"], f"{capture}: samples of counters")
        if capture == "v31":
            trace, _ = program.export("json", capture)
            with open(trace) as f:
                series = json.load(f)["counters"]
            want = sorted((c["name"], sum(row[1] for row in c["samples"])) for c in series if not c.get("unit"))
            results.equal(sorted((r["name"], r["total"]) for r in counters), want, f"{capture}: sums of counters")
    samples = collections.Counter()
    for row in sqlite(path, "SELECT extdata FROM rocpd_event"):
        row = json.loads(row["extdata"])
        samples[row["row"]] += row["count"]
    hot = program.data("hot", "--top", "all", "pc_sampling")["rows"]
    results.equal(dict(samples), {r["row"]: r["samples"] for r in hot if r["samples"]}, "pc_sampling: samples by row")
