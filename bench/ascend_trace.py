#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a trace.json as the op simulator does: three cores, pipes with overlap, flags with ids and flows.

usage: ascend_trace.py INSTRUCTIONS OUT.json [--no-flags]
"""
import random
import struct
import sys

PIPES = {"cubecore0": ["MTE2", "MTE1", "CUBE", "FIXP", "SCALAR"], "veccore0": ["MTE2", "VECTOR", "MTE3", "SCALAR"],
         "veccore1": ["MTE2", "VECTOR", "MTE3", "SCALAR"]}
CNAME = {"MTE2": "thread_state_iowait", "MTE1": "thread_state_running", "CUBE": "background_memory_dump",
         "FIXP": "thread_state_unknown", "SCALAR": "startup", "VECTOR": "cq_build_failed", "MTE3": "rail_response"}
OPS = {"MTE2": "MOV_OUT_TO_L1_MULTI_ND2NZ", "MTE1": "LOAD_2Dv2", "CUBE": "MMAD", "FIXP": "FIX_L0C_TO_DST",
       "SCALAR": "MOV_XD_IMM", "VECTOR": "VADD", "MTE3": "MOV_UB_TO_OUT"}
MHZ = 1850.0


def us(cycles):
    """float32 of cycles / MHz, widened: what the simulator prints."""
    return repr(struct.unpack("f", struct.pack("f", cycles / MHZ))[0])


def core(out, name, pipes, n, with_flags):
    rng = random.Random(name)
    at = {p: 1000 for p in pipes}
    flags, k = [], 0
    for i in range(n):
        p = pipes[i % len(pipes)]
        start = at[p]
        length = rng.randrange(20, 900) if p.startswith("MTE") else rng.randrange(2, 60)
        at[p] = start + rng.randrange(1, 300)
        out.write(f'{{"args":{{"code":"/home/user/op/kernel.cpp:{20 + i % 90}","detail":"Src:OUT,Dst:L1,XD:X10=0x{0x16000 + i:x},'
                  f'XN:X3=0x13bb3800,XM:X15=0x10000000002000,XT:X14=0x100,Dtype:B16,Id:{i}","pc_addr":"0x{0x10d0f000 + 4 * (i % 3000):x}",'
                  f'"process_bytes":"8192"}},"cname":"{CNAME[p]}","dur":{us(length)},"name":"{OPS[p]}","ph":"X","pid":"{name}",'
                  f'"tid":"{p}","ts":{us(start)}}},\n')
        if with_flags and rng.random() < 0.085 and len(pipes) > 1:
            q = pipes[(pipes.index(p) + 1) % (len(pipes) - 1)] if p != "SCALAR" else pipes[0]
            flags.append((p, q, start + length, k))
            k += 1
    for p, q, end, k in flags:
        args = f'"code":"/home/user/op/kernel.cpp:12","detail":"PIPE:{p},TRIGGERPIPE:{q},FLAGID:{k % 8},","pc_addr":"0x10d0f6e8"'
        base = f'"id":"{name}_{k}","name":'
        tail = f'"pid":"{name}","tid"'
        wait = end - 400 if end > 1400 else 1000
        out.write(f'{{"args":{{{args}}},"cname":"black",{base}"SET_FLAG","ph":"B",{tail}:"{p}","ts":{us(end - 1)}}},\n'
                  f'{{"args":{{}},"cname":"black",{base}"SET_FLAG","ph":"E",{tail}:"{p}","ts":{us(end)}}},\n'
                  f'{{"args":{{{args}}},"cname":"yellow",{base}"WAIT_FLAG","ph":"B",{tail}:"{q}","ts":{us(wait)}}},\n'
                  f'{{"args":{{}},"cname":"yellow",{base}"WAIT_FLAG","ph":"E",{tail}:"{q}","ts":{us(end + 2)}}},\n'
                  f'{{"cat":"{p}To{q}",{base}"flow","ph":"s",{tail}:"{p}","ts":{us(end)}}},\n'
                  f'{{"cat":"{p}To{q}",{base}"flow","ph":"t",{tail}:"{q}","ts":{us(end + 2)}}},\n')


def make(n, path, with_flags=True):
    with open(path, "w", buffering=1 << 20) as out:
        out.write('{"displayTimeUnit":"ns","profilingType":"op","schemaVersion":2,"traceEvents":[\n')
        for i, (unit, pipes) in enumerate(PIPES.items()):
            core(out, f"core0.{unit}", pipes, n // 3 + (i < n % 3), with_flags)
        out.write('{"args":{"sort_index":1},"name":"process_sort_index","ph":"M","pid":"core0.cubecore0","tid":"NA"}]}')


if __name__ == "__main__":
    make(int(sys.argv[1]), sys.argv[2], "--no-flags" not in sys.argv)
