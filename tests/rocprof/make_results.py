#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""results.json of rocprofv3 without PC samples, of our own making: the run of make_rocpd.py as the other file, and larger ones. Written from
the format's description (incore-rocprof_pcs(7)), apart from the reader. The same bytes on every machine.

usage: make_results.py DIRECTORY
"""
import json
import os
import sys

import make_pcs
import make_rocpd as run

KINDS = [("NONE", []), ("HIP_RUNTIME_API", ["hipMemcpy", "hsa_amd_memory_async_copy", "hipLaunchKernel", "hipDeviceSynchronize", "hipGetDevice"]),
         ("MARKER_CORE_API", ["roctxMarkA"]), ("MARKER_CORE_RANGE_API", ["roctxMarkA", "roctxThreadRangeA"]),
         ("MEMORY_COPY", ["MEMORY_COPY_NONE", "MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST"]),
         ("KERNEL_DISPATCH", ["KERNEL_DISPATCH_NONE", "KERNEL_DISPATCH_ENQUEUE", "KERNEL_DISPATCH_COMPLETE"]),
         ("MEMORY_ALLOCATION", ["MEMORY_ALLOCATION_NONE", "MEMORY_ALLOCATION_ALLOCATE", "MEMORY_ALLOCATION_VMEM_FREE"]),
         ("SCRATCH_MEMORY", ["SCRATCH_MEMORY_NONE", "SCRATCH_MEMORY_ALLOC"])]
HANDLES = {1: 7001, 2: 7002}  # of agents, by node


def record(kind, operation, begin, end, thread, stack):
    number = [k for k, _ in KINDS].index(kind)
    return {"size": 48, "kind": number, "operation": KINDS[number][1].index(operation), "correlation_id": {"internal": stack, "external": 0, "ancestor": 0},
            "start_timestamp": run.T0 + begin, "end_timestamp": run.T0 + end, "thread_id": thread}


def launch(dispatch, kernel, queue, begin, end, stack):
    return {**record("KERNEL_DISPATCH", "KERNEL_DISPATCH_COMPLETE", begin, end, 77, stack),
            "dispatch_info": {"size": 72, "agent_id": {"handle": HANDLES[2]}, "queue_id": {"handle": queue}, "kernel_id": kernel, "dispatch_id": dispatch,
                              "private_segment_size": 0, "group_segment_size": 1024, "workgroup_size": {"x": 256, "y": 1, "z": 1},
                              "grid_size": {"x": 4096, "y": 1, "z": 1}}, "stream_id": {"handle": 0}}


def counting(i, entry):
    """Two instances of a counter: a half each."""
    data = {k: v for k, v in launch(*entry).items() if k not in ("kind", "operation", "thread_id", "stream_id")}
    values = [{"counter_id": {"handle": n}, "value": v[i] / 2} for n, (_, _, v) in run.COUNTERS.items() for _ in (0, 1)]
    return {"thread_id": 77, "dispatch_data": data, "records": values, "stream_id": {"handle": 0}}


def agent(node, kind):
    return make_pcs.agent(100 + node, kind) | {"id": {"handle": HANDLES[node]}, "node_id": node}


def names(messages):
    return {"callback_records": [{"kind": "NONE", "operations": []}], "buffer_records": [{"kind": k, "operations": v} for k, v in KINDS],
            "marker_api": [{"key": k, "value": v} for k, v in messages.items()], "correlation_id": {"external": []},
            "counters": {"dimension_ids": []}, "pc_sample_instructions": [], "pc_sample_comments": [], "att_filenames": []}


def process(pid, messages, kernels, launches=(), counts=(), **lists):
    symbols = [make_pcs.symbol(i, name, 64 * i) | {"kernel_name": name + ".kd", "arch_vgpr_count": 32, "accum_vgpr_count": 0}
               for i, name in kernels.items()]
    return {"metadata": {"incore_synthetic": True, "pid": pid, "init_time": 1, "fini_time": 9, "command": ["./app", "-n", "4"], "config": {}},
            "agents": [agent(1, 1), agent(2, 2)],
            "counters": [{"agent_id": {"handle": HANDLES[2]}, "id": {"handle": n}, "is_constant": 0, "name": name, "description": "d", "dimensions": []}
                         for n, (name, _, _) in run.COUNTERS.items()],
            "strings": names(messages), "code_objects": [], "kernel_symbols": symbols, "host_functions": [], "summary": [],
            "callback_records": {"counter_collection": list(counts)},
            "buffer_records": {"kernel_dispatch": list(launches), "pc_sample_host_trap": [], "pc_sample_stochastic": [],
                               **{name: lists.get(name, []) for name in ("hip_api", "hsa_api", "marker_api", "rccl_api", "memory_copy",
                                                                         "memory_allocation", "scratch_memory")}}}


def traced():
    """The run of make_rocpd.py."""
    calls = [record("HIP_RUNTIME_API", name, begin, end, thread, stack) | {"args": [], "retval": 0} for thread, name, begin, end, stack in run.CALLS]
    markers = [record("MARKER_CORE_RANGE_API", "roctxThreadRangeA", begin, end, 77, 20 + 2 * i) for i, (_, begin, end) in enumerate(run.MARKERS)]
    markers += [record("MARKER_CORE_API", "roctxMarkA", at, at, 77, 21 + 2 * i) for i, (_, at) in enumerate(run.INSTANTS)]
    messages = {20 + 2 * i: m[0] for i, m in enumerate(run.MARKERS)} | {21 + 2 * i: m[0] for i, m in enumerate(run.INSTANTS)}
    copies = [record("MEMORY_COPY", name, begin, end, 77, stack) | {"dst_agent_id": {"handle": HANDLES[2]}, "src_agent_id": {"handle": HANDLES[1]},
                                                                     "bytes": size} for name, begin, end, stack, size in run.COPIES]
    memory = [record("MEMORY_ALLOCATION", "MEMORY_ALLOCATION_ALLOCATE", 91_000, 91_400, 77, 22) | {
        "agent_id": {"handle": HANDLES[2]}, "address": "0x0000000000001000", "allocation_size": 1 << 20}]
    return {"rocprofiler-sdk-tool": [process(
        77, messages, run.KERNELS, [launch(*entry) for entry in run.LAUNCHES], [counting(i, entry) for i, entry in enumerate(run.LAUNCHES)],
        hip_api=[c for c in calls if c["operation"] != 1], hsa_api=[c for c in calls if c["operation"] == 1], marker_api=markers, memory_copy=copies,
        memory_allocation=memory)]}


def many(n, seed, processes=2):
    """Processes with n calls each, of which a half start something; some records have an end before their begin."""
    numbers, made = make_pcs.random_numbers(seed), []
    for p in range(processes):
        calls, launches, copies, markers, memory, messages = [], [], [], [], [], {}
        for i in range(1, n + 1):
            at, span = 1_000 * i + next(numbers) % 900, next(numbers) % 5_000 - 20
            calls.append(record("HIP_RUNTIME_API", KINDS[1][1][next(numbers) % 5], at, at + next(numbers) % 60, 70 + i % 3, i))
            if i % 4 == 0:
                launches.append(launch(i, 11 + next(numbers) % 3, 1 + i % 5, at + 100, at + 100 + span, i))
            elif i % 4 == 1:
                node = 1 + next(numbers) % 2
                copies.append(record("MEMORY_COPY", KINDS[4][1][3 - node], at + 50, at + 50 + span, 70, i) | {"dst_agent_id": {"handle": HANDLES[node]}})
            elif i % 4 == 2:
                markers.append(record("MARKER_CORE_RANGE_API", "roctxThreadRangeA", at, at + span, 70 + i % 2, n + i))
                messages |= {n + i: f"step \"{i % 7}\" \u00e9"} if i % 8 == 2 else {}
            else:
                memory.append(record("SCRATCH_MEMORY", "SCRATCH_MEMORY_ALLOC", at, at + span, 70, i) | {"agent_id": {"handle": 7002 if i % 8 == 3 else 0}})
        # the third kernel has no symbol
        made.append(process(500 + p, messages, run.KERNELS, launches, [], hip_api=calls, memory_copy=copies, marker_api=markers, scratch_memory=memory))
    return {"rocprofiler-sdk-tool": made}


def compact(document):
    return json.dumps(document, separators=(",", ":")) + "\n"


# file: what makes it
FILES = {
    "trace_results.json": lambda: compact(traced()),
    "nothing_results.json": lambda: compact({"rocprofiler-sdk-tool": [process(77, {}, run.KERNELS)]}),
}


def main():
    for name, make in FILES.items():
        with open(os.path.join(sys.argv[1], name), "w") as f:
            f.write(make())


if __name__ == "__main__":
    main()
