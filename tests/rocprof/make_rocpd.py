#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A database of rocprofv3 of our own making (schema version 3): known calls, launches, copies, markers and counters. The tables are those of
the public schema, as far as anything stands in them.

usage: make_rocpd.py FILE
"""
import os
import sqlite3
import sys

GUID = "00000abc-0000-7000-8000-00000000abcd"
UUID = "_" + GUID.replace("-", "_")
COLUMNS = {
    "metadata": "tag TEXT NOT NULL, value TEXT NOT NULL",
    "string": "guid TEXT, string TEXT NOT NULL",
    "info_node": "guid TEXT, hash BIGINT, machine_id TEXT, hostname TEXT",
    "info_process": "guid TEXT, nid INTEGER, ppid INTEGER, pid INTEGER, init BIGINT, fini BIGINT, command TEXT, extdata JSONB DEFAULT '{}'",
    "info_thread": "guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, name TEXT",
    "info_agent": "guid TEXT, nid INTEGER, pid INTEGER, type TEXT, absolute_index INTEGER, name TEXT, product_name TEXT",
    "info_queue": "guid TEXT, nid INTEGER, pid INTEGER, name TEXT",
    "info_stream": "guid TEXT, nid INTEGER, pid INTEGER, name TEXT",
    "info_pmc": "guid TEXT, nid INTEGER, pid INTEGER, agent_id INTEGER, name TEXT NOT NULL, symbol TEXT, units TEXT DEFAULT '', value_type TEXT",
    "info_code_object": "guid TEXT, nid INTEGER, pid INTEGER, agent_id INTEGER, uri TEXT, load_base BIGINT",
    "info_kernel_symbol": "guid TEXT, nid INTEGER, pid INTEGER, code_object_id INTEGER, kernel_name TEXT, display_name TEXT, sgpr_count INTEGER, "
                          "arch_vgpr_count INTEGER, accum_vgpr_count INTEGER",
    "track": "guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, name_id INTEGER, extdata JSONB DEFAULT '{}'",
    "event": "guid TEXT, category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER, correlation_id INTEGER, extdata JSONB DEFAULT '{}'",
    "arg": "guid TEXT, event_id INTEGER, position INTEGER, type TEXT, name TEXT, value TEXT",
    "pmc_event": "guid TEXT, event_id INTEGER, pmc_id INTEGER, value REAL",
    "region": "guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, start BIGINT, end BIGINT, name_id INTEGER, event_id INTEGER",
    "sample": "guid TEXT, track_id INTEGER, timestamp BIGINT, event_id INTEGER",
    "kernel_dispatch": "guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER, kernel_id INTEGER, dispatch_id INTEGER, "
                       "queue_id INTEGER, stream_id INTEGER, start BIGINT, end BIGINT, private_segment_size INTEGER, group_segment_size INTEGER, "
                       "workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER, grid_size_x INTEGER, grid_size_y INTEGER, "
                       "grid_size_z INTEGER, region_name_id INTEGER, event_id INTEGER, extdata JSONB DEFAULT '{}'",
    "memory_copy": "guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, start BIGINT, end BIGINT, name_id INTEGER, dst_agent_id INTEGER, "
                   "src_agent_id INTEGER, size INTEGER, queue_id INTEGER, stream_id INTEGER, event_id INTEGER",
    "memory_allocate": "guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER, type TEXT, level TEXT, start BIGINT, end BIGINT, "
                       "address INTEGER, size INTEGER, event_id INTEGER",
}
KERNELS = {11: "gemm(float*, float*, int)", 12: "softmax(float*)"}
T0 = 5_000_000_000  # nanoseconds since the machine started
# Calls: thread, name, begin, end, id of the stack; a launch and what it launches share the id.
CALLS = [(77, "hipMemcpy", 0, 90_000, 1), (77, "hsa_amd_memory_async_copy", 10_000, 80_000, 2), (77, "hipLaunchKernel", 100_000, 104_000, 3),
         (77, "hipLaunchKernel", 110_000, 113_000, 4), (77, "hipLaunchKernel", 114_000, 116_000, 5), (77, "hipDeviceSynchronize", 120_000, 400_000, 6),
         (78, "hipGetDevice", 130_000, 130_500, 7)]
LAUNCHES = [(1, 11, 1, 105_000, 205_000, 3), (2, 12, 1, 206_000, 216_000, 4), (3, 11, 2, 150_000, 260_000, 5)]  # dispatch, kernel, queue, ...
COPIES = [("MEMORY_COPY_HOST_TO_DEVICE", 20_000, 70_000, 2, 1 << 20)]
MARKERS = [("step 0", 95_000, 405_000)]
INSTANTS = [("loaded", 92_000)]
COUNTERS = {1: ("SQ_WAVES", "", [64, 16, 64]), 2: ("OccupancyPercent", "percent", [37.5, 12.25, 40.0])}  # a value a launch


class Database:
    def __init__(self, path, version="3", is_synthetic=True):
        self.db = sqlite3.connect(path)
        self.db.execute("PRAGMA page_size = 512")
        self.version, self.is_synthetic, self.strings = version, is_synthetic, {}
        for name, columns in COLUMNS.items():
            self.db.execute(f'CREATE TABLE "rocpd_{name}{UUID}" (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, {columns})')
            self.db.execute(f'CREATE VIEW rocpd_{name} AS SELECT * FROM "rocpd_{name}{UUID}"')

    def put(self, table, **values):
        if table != "metadata":
            values["guid"] = GUID
        names = ", ".join(f'"{k}"' for k in values)
        cursor = self.db.execute(f'INSERT INTO "rocpd_{table}{UUID}" ({names}) VALUES ({", ".join("?" * len(values))})', list(values.values()))
        return cursor.lastrowid

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = self.put("string", string=text)
        return self.strings[text]

    def event(self, category, stack, extra="{}"):
        return self.put("event", category_id=self.string(category), stack_id=stack, parent_stack_id=stack, correlation_id=0, extdata=extra)

    def machine(self):
        self.put("metadata", tag="schema_version", value=self.version)
        self.put("metadata", tag="guid", value=GUID)
        self.put("info_node", id=1, hash=1, machine_id="none", hostname="none")
        self.put("info_process", id=77, nid=1, pid=77, command="./app -n 4")
        for thread in (77, 78):
            self.put("info_thread", id=thread, nid=1, pid=77, tid=thread)
        self.put("info_agent", id=1, nid=1, pid=77, type="CPU", absolute_index=0, name="a CPU")
        self.put("info_agent", id=2, nid=1, pid=77, type="GPU", absolute_index=1, name="gfx942", product_name="AMD Instinct MI300X")
        self.put("info_code_object", id=1, nid=1, pid=77, agent_id=2)
        for number, name in KERNELS.items():
            self.put("info_kernel_symbol", id=number, nid=1, pid=77, code_object_id=1, kernel_name=name + ".kd", display_name=name, sgpr_count=16,
                     arch_vgpr_count=32, accum_vgpr_count=0)

    def host(self):
        for tid, name, begin, end, stack in CALLS:
            self.put("region", nid=1, pid=77, tid=tid, start=T0 + begin, end=T0 + end, name_id=self.string(name),
                     event_id=self.event("HIP_RUNTIME_API", stack))
        for text, begin, end in MARKERS:
            self.put("region", nid=1, pid=77, tid=77, start=T0 + begin, end=T0 + end, name_id=self.string("roctxThreadRangeA"),
                     event_id=self.event("MARKER_CORE_RANGE_API", 20, '{"message":"%s"}' % text))
        track = self.put("track", nid=1, pid=77, tid=77, name_id=self.string("MARKER_CORE_API"))
        for text, at in INSTANTS:
            self.put("sample", track_id=track, timestamp=T0 + at, event_id=self.event("MARKER_CORE_API", 21, '{"message":"%s"}' % text))

    def device(self):
        extra = '{"evidence":"synthetic"}' if self.is_synthetic else "{}"
        for number, (name, unit, _) in COUNTERS.items():
            self.put("info_pmc", id=number, nid=1, pid=77, agent_id=2, name=name, symbol=name, units=unit, value_type="ABS")
        for i, (dispatch, kernel, queue, begin, end, stack) in enumerate(LAUNCHES):
            event = self.event("KERNEL_DISPATCH", stack)
            self.put("kernel_dispatch", nid=1, pid=77, tid=77, agent_id=2, kernel_id=kernel, dispatch_id=dispatch, queue_id=queue, stream_id=1,
                     start=T0 + begin, end=T0 + end, private_segment_size=0, group_segment_size=1024, workgroup_size_x=256, workgroup_size_y=1,
                     workgroup_size_z=1, grid_size_x=4096, grid_size_y=1, grid_size_z=1, event_id=event, extdata=extra)
            for number, (_, _, values) in COUNTERS.items():
                self.put("pmc_event", event_id=event, pmc_id=number, value=values[i])
        for name, begin, end, stack, size in COPIES:
            self.put("memory_copy", nid=1, pid=77, tid=77, start=T0 + begin, end=T0 + end, name_id=self.string(name), dst_agent_id=2, src_agent_id=1,
                     size=size, event_id=self.event("MEMORY_COPY", stack))
        self.put("memory_allocate", nid=1, pid=77, tid=77, agent_id=2, type="ALLOC", level="REAL", start=T0 + 91_000, end=T0 + 91_400, size=1 << 20)

    def close(self):
        self.db.commit()
        self.db.close()


def make(path, version="3", is_synthetic=True):
    if os.path.exists(path):
        os.unlink(path)
    d = Database(path, version, is_synthetic)
    d.machine()
    d.host()
    d.device()
    d.close()


if __name__ == "__main__":
    make(sys.argv[1])
