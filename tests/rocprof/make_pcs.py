#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PC samples as rocprofv3 writes them, of our own making: known kernels, known samples. Written from the format's description
(incore-rocprof_pcs(7)), apart from the reader, so that each proves the other. The same bytes on every machine.

usage: make_pcs.py DIRECTORY
"""
import json
import os
import sys

REASONS = ["NONE", "NO_INSTRUCTION_AVAILABLE", "ALU_DEPENDENCY", "WAITCNT", "INTERNAL_INSTRUCTION", "BARRIER_WAIT", "ARBITER_NOT_WIN",
           "ARBITER_WIN_EX_STALL", "OTHER_WAIT", "SLEEP_WAIT"]
OURS = ["none", "fetch", "alu-dependency", "waitcnt", "internal", "barrier", "arbiter", "pipe", "other-wait", "sleep"]
BASE = 0x7F3A10000000
# id, name, entry in the code object, instructions (text, line)
KERNELS = [
    (11, "copy(double*, double*, int)", 0x1100, [
        ("s_load_dwordx4 s[0:3], s[4:5], 0x0", "/kernels/copy.cpp:4"), ("v_lshl_add_u32 v0, s6, 8, v0", "/hip/launch.h:275 -> /kernels/copy.cpp:5"),
        ("s_waitcnt lgkmcnt(0)", "/kernels/copy.cpp:6"), ("global_load_dwordx2 v[2:3], v[0:1], off", "/kernels/copy.cpp:6"),
        ("s_waitcnt vmcnt(0)", "/kernels/copy.cpp:6"), ("global_store_dwordx2 v[4:5], v[2:3], off", "/kernels/copy.cpp:6"),
        ("s_endpgm", "/kernels/copy.cpp:7")]),
    (12, "scale(float*, float)", 0x1200, [
        ("v_mul_f32_e32 v1, s0, v1", "/kernels/scale.cpp:9"), ("s_waitcnt vmcnt(0)", ""), ("s_barrier", "/kernels/scale.cpp:11"),
        ("s_endpgm", "/kernels/scale.cpp:12")]),
]
DISPATCHES = [(1, 11), (2, 12), (3, 11)]  # dispatch, kernel


def random_numbers(seed):
    """The same on every machine and in every version of Python."""
    state = seed * 2654435761 + 12345 & 0xFFFFFFFF
    while True:
        state = state * 1664525 + 1013904223 & 0xFFFFFFFF
        yield state >> 16


def samples(n, seed):
    """(dispatch, kernel, instruction, issued, reason) of n samples; waits wait, and what issues has no reason."""
    numbers = random_numbers(seed)
    for _ in range(n):
        dispatch, kernel = DISPATCHES[next(numbers) % 3]
        code = next(k for k in KERNELS if k[0] == kernel)[3]
        at = next(numbers) % len(code)
        issued = 0 if code[at][0].startswith("s_waitcnt") else next(numbers) % 2
        reason = 8 if issued else 3 if code[at][0].startswith("s_waitcnt") else next(numbers) % 10
        yield dispatch, kernel, at, issued, reason


def truth(n, seed, is_trap):
    """By kernel: rows of (text, issued, {reason: count}) in the order of their addresses."""
    kernels = {k[0]: [[text, 0, {}] for text, _ in k[3]] for k in KERNELS}
    for _, kernel, at, issued, reason in samples(n, seed):
        row = kernels[kernel][at]
        word = "not-told" if is_trap else OURS[reason]
        if issued and not is_trap:
            row[1] += 1
        else:
            row[2][word] = row[2].get(word, 0) + 1
    return kernels


def agent(handle, kind):
    gpu = kind == 2
    return {"size": 312, "id": {"handle": handle}, "type": kind, "simd_count": 1216 if gpu else 0, "max_waves_per_simd": 8 if gpu else 0,
            "lds_size_in_kb": 64 if gpu else 0, "wave_front_size": 64 if gpu else 0, "num_xcc": 8 if gpu else 1, "cu_count": 304 if gpu else 64,
            "num_shader_banks": 32 if gpu else 0, "max_engine_clk_fcompute": 2100 if gpu else 0, "name": "gfx942" if gpu else "a CPU",
            "product_name": "AMD Instinct MI300X" if gpu else "a CPU", "node_id": handle - 100, "gpu_index": 0 if gpu else -1}


def symbol(kernel_id, name, entry):
    return {"size": 88, "kernel_id": kernel_id, "code_object_id": 2, "kernel_name": f"_Z{name.split('(')[0]}.kd", "sgpr_count": 16,
            "arch_vgpr_count": 8, "accum_vgpr_count": 4, "kernel_code_entry_byte_offset": 4416, "kernel_address": {"handle": BASE + entry},
            "formatted_kernel_name": name, "demangled_kernel_name": name + " [clone .kd]"}


def dispatch_record(number, kernel):
    return {"size": 184, "kind": 11, "operation": 2, "thread_id": 77, "correlation_id": {"internal": number, "external": 0},
            "start_timestamp": 1000000 * number, "end_timestamp": 1000000 * number + 8000,
            "dispatch_info": {"size": 72, "agent_id": {"handle": 101}, "queue_id": {"handle": 2}, "kernel_id": kernel, "dispatch_id": number,
                              "private_segment_size": 0, "group_segment_size": 0, "workgroup_size": {"x": 256, "y": 1, "z": 1},
                              "grid_size": {"x": 65536, "y": 1, "z": 1}}, "stream_id": {"handle": 0}}


def record(dispatch, kernel, at, issued, reason, is_trap, index):
    entry = next(k for k in KERNELS if k[0] == kernel)[2]
    r = {"hw_id": {"chiplet": 0, "wave_id": 1, "simd_id": at % 4, "cu_or_wgp_id": 3, "workgroup_id ": 0},
         "pc": {"code_object_id": 2, "code_object_offset": entry + 8 * at}, "exec_mask": 18446744073709551615,
         "timestamp": 1000000 * dispatch + 100, "dispatch_id": dispatch, "corr_id": {"internal": dispatch, "external": 94902742904848},
         "wrkgrp_id": {"x": 5, "y": 0, "z": 0}, "wave_in_grp": 3}
    if not is_trap:
        r = {"flags": {"has_mem_cnt": 0}, **r, "wave_issued": issued,
             "inst_type": "ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_" + ("VALU" if issued else "NO_INST"), "wave_cnt": 6,
             "snapshot": {"stall_reason": "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_" + REASONS[reason], "dual_issue_valu": 0,
                          "lck_err": 0}}
    return {"record": r, "inst_index": index}


def results(n, seed, is_trap, has_dispatches=True):
    texts = [(text, line) for k in KERNELS for text, line in k[3]]
    first = {11: 0, 12: len(KERNELS[0][3])}
    pcs = [record(d, k, at, issued, reason, is_trap, first[k] + at) for d, k, at, issued, reason in samples(n, seed)]
    return {"rocprofiler-sdk-tool": [{
        "metadata": {"incore_synthetic": True, "pid": 77, "init_time": 1, "fini_time": 9, "command": ["./app", "-n", "4"],
                     "config": {"output_path": "out", "json_output": True}},
        "agents": [agent(100, 1), agent(101, 2)],
        "counters": [],
        "strings": {"buffer_records": [{"kind": "NONE", "operations": []}],
                    "pc_sample_instructions": [t for t, _ in texts], "pc_sample_comments": [c for _, c in texts], "att_filenames": []},
        "code_objects": [{"size": 88, "code_object_id": 2, "agent_id": {"handle": 101}, "uri": "file:///app#offset=1&size=2", "load_base": BASE,
                          "load_size": 17649, "load_delta": BASE, "storage_type": 2}],
        "kernel_symbols": [symbol(0, "", 0) | {"code_object_id": 0}] + [symbol(i, name, entry) for i, name, entry, _ in KERNELS],
        "callback_records": {"counter_collection": []},
        "buffer_records": {"kernel_dispatch": [dispatch_record(d, k) for d, k in DISPATCHES] if has_dispatches else [], "hip_api": [],
                           "pc_sample_host_trap": pcs if is_trap else [], "pc_sample_stochastic": [] if is_trap else pcs}}]}


def whole_code(kernel):
    """Of a kernel (text, line): what samples hit, then two that none hits. One frame has no line, as the compiler's own code has none."""
    first, *rest = next(k for k in KERNELS if k[0] == kernel)[3]
    return [(first[0], "/hip/launch.h:? -> /hip/launch.h:281 -> /kernels/first.cpp:3"), *rest, ("s_nop 0", "/kernels/end.cpp:1"), ("s_nop 1", "")]


def compute_results(n, seed):
    """As rocprofiler-compute leaves them: indented, newer members, the last instruction of each kernel not decoded."""
    document = results(n, seed, False)
    process = document["rocprofiler-sdk-tool"][0]
    lasts = {index for index, (text, _) in enumerate(t for k in KERNELS for t in k[3]) if text == "s_endpgm"}
    process["strings"]["pc_sample_comments"] = [line for k in KERNELS for _, line in whole_code(k[0])[:len(k[3])]]
    process["callback_records"]["spm_counter_collection"] = []
    process["buffer_records"]["hip_graph"] = []
    for d in process["buffer_records"]["kernel_dispatch"]:
        d |= {"graph_exec_id": 0, "graph_node_id": 0}
    for sample in process["buffer_records"]["pc_sample_stochastic"]:
        if sample["inst_index"] in lasts:
            sample["inst_index"] = -1
    return document


def code_info():
    """The code objects as a listing: a function that is no kernel, then the kernels. Offsets are those of the file, a page before the others."""
    def listed(name, entry, code):
        lines = [{"code_obj_offset": entry - 0x1000 + 8 * i, "comment": line, "name": text, "size": 8, "virtual_address": BASE + entry + 8 * i}
                 for i, (text, line) in enumerate(code)]
        return {"code_object_offset": entry - 0x1000, "instructions": lines, "name": name, "size": 8 * len(code), "virtual_address": BASE + entry}
    symbols = [listed("helper", 0x1180, [("s_setpc_b64 s[30:31]", "/kernels/helper.cpp:1")])]
    symbols += [listed(f"_Z{name.split('(')[0]}", entry, whole_code(i)) for i, name, entry, _ in KERNELS]
    return {"code_objects": [{"id": 1, "symbols": [listed("other", 0x1100, [("s_trap 2", "")])]}, {"id": 2, "symbols": symbols}]}


def quoted(value):
    return value if isinstance(value, int) else '"' + value.replace('"', '""') + '"'


def table(header, rows):
    return "".join(",".join(str(quoted(c)) for c in row) + "\n" for row in [header] + rows)


def sample_table(n, seed, is_trap):
    header = ["Sample_Timestamp", "Exec_Mask", "Dispatch_Id", "Instruction", "Instruction_Comment", "Correlation_Id"]
    rows = []
    for d, kernel, at, issued, reason in samples(n, seed):
        text, line = next(k for k in KERNELS if k[0] == kernel)[3][at]
        row = [1000000 * d + 100, 18446744073709551615, d, text, line, d]
        if not is_trap:
            row += [issued, "ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_" + ("VALU" if issued else "NO_INST"),
                    "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_" + REASONS[reason], 6]
        rows.append(row)
    return table(header + ([] if is_trap else ["Wave_Issued_Instruction", "Instruction_Type", "Stall_Reason", "Wave_Count"]), rows)


def kernel_table():
    header = ["Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Thread_Id", "Dispatch_Id", "Kernel_Id", "Kernel_Name", "Correlation_Id",
              "Start_Timestamp", "End_Timestamp", "LDS_Block_Size", "Scratch_Size", "VGPR_Count", "Accum_VGPR_Count", "SGPR_Count",
              "Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z", "Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z"]
    names = {k[0]: k[1] for k in KERNELS}
    return table(header, [["KERNEL_DISPATCH", "Agent 1", 1, 0, 77, d, k, names[k], d, 1000000 * d, 1000000 * d + 8000, 0, 0, 8, 4, 16, 256, 1, 1,
                           65536, 1, 1] for d, k in DISPATCHES])


# file: what makes it
FILES = {
    "stochastic_results.json": lambda: json.dumps(results(120, 1, False), separators=(",", ":")) + "\n",
    "host_trap_results.json": lambda: json.dumps(results(30, 2, True, has_dispatches=False), indent=1) + "\n",
    "empty_results.json": lambda: json.dumps(results(0, 1, False), separators=(",", ":")) + "\n",
    "run_pc_sampling_stochastic.csv": lambda: sample_table(120, 1, False),
    "run_kernel_trace.csv": kernel_table,
    "alone_pc_sampling_host_trap.csv": lambda: sample_table(30, 2, True),
    "../rocprof_code/7_ps_file_results.json": lambda: json.dumps(compute_results(24, 3), separators=(",", ":")) + "\n",
    "../rocprof_code/7_code_obj_info.json": lambda: json.dumps(code_info(), indent=2) + "\n",
}


def main():
    for name, make in FILES.items():
        with open(os.path.join(sys.argv[1], name), "w") as f:
            f.write(make())


if __name__ == "__main__":
    main()
