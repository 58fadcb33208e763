#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The committed Ascend simulator runs, in the format of msprof op simulator: a sound one, and ones that are
degenerate in one known way each. Without --write: are tests/data/ascend_* what this script makes?

usage: ascend_fixtures.py [--write]

Times are cycles here; the files hold float32 microseconds, as the producer writes them.
"""
import json
import os
import struct
import sys

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
MHZ = 1850
SOURCE = "/kernels/matmul.cpp"
TEXT = "".join(f"// line {n}\n" for n in range(1, 25))


def us(cycles, mhz=MHZ):
    return struct.unpack("f", struct.pack("f", cycles / mhz))[0]


class Run:
    """Events of one run, in the order they are made; rows of API_INSTR by pc and core."""

    def __init__(self, mhz=MHZ):
        self.mhz, self.events, self.flags, self.rows, self.cores = mhz, [], 0, {}, []

    def core(self, name):
        if name not in self.cores:
            self.cores.append(name)
        return name

    def work(self, core, pipe, pc, name, start, end, line=0, nbytes=0, operands="XD:X1,XN:X2,"):
        args = {"code": f"{SOURCE}:{line}" if line else "", "detail": operands, "pc_addr": hex(pc)}
        if nbytes:
            args["process_bytes"] = str(nbytes)
        self.events.append({"args": args, "cname": "startup", "dur": us(end - start, self.mhz), "name": name, "ph": "X",
                            "pid": self.core(core), "tid": pipe, "ts": us(start, self.mhz)})
        row = self.rows.setdefault(pc, {"pipe": pipe, "text": name, "line": line, "hits": {}, "cycles": {}, "bytes": {}})
        for key, n in (("hits", 1), ("cycles", end - start), ("bytes", nbytes)):
            row[key][core] = row[key].get(core, 0) + n
        return end

    def head(self, core, pipe, pc, name, start, cache, ccu, end):
        """An instruction with its head cost, joined by group_id."""
        group = f"{name}_{len(self.events)}"
        for what, a, b in (("cache_time", start, start + cache), ("ccu_time", start + cache, start + cache + ccu)):
            self.events.append({"args": {"code": "", "detail": "", "pc_addr": hex(pc)}, "cname": "startup",
                                "dur": us(b - a, self.mhz), "group_id": group, "name": what, "ph": "X",
                                "pid": self.core(core), "tid": pipe, "ts": us(a, self.mhz)})
        self.work(core, pipe, pc, name, start + cache + ccu, end)
        self.events[-1]["group_id"] = group
        return end

    def flag(self, kind, core, pipe, pc, start, end, detail, ident):
        for ph, at in (("B", start), ("E", end)):
            args = {"code": "", "detail": detail, "pc_addr": hex(pc)} if ph == "B" else {}
            self.events.append({"args": args, "cname": "black" if kind.startswith("SET") else "yellow", "id": ident,
                                "name": kind, "ph": ph, "pid": self.core(core), "tid": pipe, "ts": us(at, self.mhz)})

    def pair(self, core, producer, consumer, pcs, set_end, wait_start, number=0):
        """SET at set_end; the WAIT ends a cycle later, or at once when it comes after. Its end is returned."""
        self.flags += 1
        end = max(set_end + 1, wait_start + 1)
        names = {"VECTOR": "VEC"}
        detail = f"PIPE:{names.get(producer, producer)},TRIGGERPIPE:{names.get(consumer, consumer)},FLAGID:{number},"
        ident = f"{core}_{self.flags}"
        self.flag("SET_FLAG", core, producer, pcs[0], set_end - 1, set_end, detail, ident)
        self.flag("WAIT_FLAG", core, consumer, pcs[1], wait_start, end, detail, ident)
        for ph, pipe, at in (("s", producer, set_end), ("t", consumer, end)):
            self.events.append({"cat": f"{producer}To{consumer}", "id": ident, "name": "flow", "ph": ph, "pid": core,
                                "tid": pipe, "ts": us(at, self.mhz)})
        return end

    def wait_alone(self, core, pipe, pc, start, end, detail):
        self.flags += 1
        self.flag("WAIT_FLAG", core, pipe, pc, start, end, detail, f"{core}_{self.flags}")

    def trace(self):
        return {"displayTimeUnit": "ns", "profilingType": "op", "schemaVersion": 2, "traceEvents": self.events}

    def api_instr(self):
        dtype = {"Address": 3, "AscendC Inner Code": 3, "Source": 3, "Pipe": 3, "Instructions Executed": 1, "Cycles": 1,
                 "Process Bytes": 1}
        rows = [{"Address": hex(pc), "AscendC Inner Code": f"{SOURCE}:{r['line']}" if r["line"] else "", "Pipe": r["pipe"],
                 "Source": r["text"], "Instructions Executed": [r["hits"].get(c, 0) for c in self.cores],
                 "Cycles": [r["cycles"].get(c, 0) for c in self.cores],
                 "Process Bytes": [r["bytes"].get(c, 0) for c in self.cores]} for pc, r in sorted(self.rows.items())]
        return {"Cores": self.cores, "Instructions": rows, "Instructions Dtype": {"Instructions": dtype}}


def cube_kernel(run, core, loops, with_end=True, fixp=True):
    """Loads of both operands, double-buffered, then matmul, then the result out; returns the last end."""
    run.work(core, "SCALAR", 0x1000, "MOV_XD_IMM", 100, 104, 3)
    mte2, mte1, cube, freed = 120, 120, 120, [0, 0]
    for i in range(loops):
        start = max(mte2, freed[i % 2])
        if i >= 2:
            start = run.pair(core, "MTE1", "MTE2", (0x1080, 0x1084), freed[i % 2], mte2, 2 + i % 2)
        run.work(core, "MTE2", 0x1010, "MOV_OUT_TO_L1_MULTI_ND2NZ", start, start + 300, 8, 16384)
        mte2 = run.work(core, "MTE2", 0x1014, "MOV_OUT_TO_L1_MULTI_ND2NZ", start + 20, start + 340, 9, 16384) - 250
        ready = run.pair(core, "MTE2", "MTE1", (0x1018, 0x1020), start + 341, mte1, i % 2)
        run.work(core, "MTE1", 0x1024, "LOAD_2D", ready, ready + 60, 11, 8192)
        mte1 = run.work(core, "MTE1", 0x1028, "LOAD_2D", ready + 50, ready + 110, 12, 8192)
        freed[i % 2] = mte1 + 1
        begin = run.pair(core, "MTE1", "CUBE", (0x102c, 0x1030), mte1 + 1, cube, 4)
        cube = run.work(core, "CUBE", 0x1034, "MMAD", begin, begin + 90, 14)
    end = cube
    if fixp:
        out = run.pair(core, "CUBE", "FIXP", (0x1038, 0x1040), cube + 1, 130, 0)
        end = run.work(core, "FIXP", 0x1044, "FIX_L0C_TO_OUT", out, out + 200, 17, 16384)
    if with_end:
        end = run.work(core, "FLOWCTRL", 0x1050, "END", end + 4, end + 5, 20)
    return end


def sound():
    run = Run()
    cube_kernel(run, "core0.cubecore0", 6)
    return run


def waiting():
    """A vector kernel that waited for a load and added once."""
    run, core = Run(), "core0.veccore0"
    run.work(core, "SCALAR", 0x2000, "MOV_XD_IMM", 50, 54)
    load = run.work(core, "MTE2", 0x2010, "MOV_OUT_TO_UB", 60, 9000, 0, 64)
    begin = run.pair(core, "MTE2", "VECTOR", (0x2014, 0x2018), load + 1, 56, 0)
    end = run.work(core, "VECTOR", 0x201c, "VADD", begin, begin + 20)
    run.work(core, "FLOWCTRL", 0x2020, "END", end, end + 1)
    return run


def half_dead():
    """A mixed kernel: the cube side works but its tail is lost, the vector cores wait for ever."""
    run = Run()
    end = cube_kernel(run, "core0.cubecore0", 4, with_end=False, fixp=False)
    for vec in ("core0.veccore0", "core0.veccore1"):
        run.work(vec, "SCALAR", 0x3000, "MOV_XD_IMM", 100, 104)
        run.wait_alone(vec, "VECTOR", 0x3010, 110, end, "PIPE:MTE2,TRIGGERPIPE:VEC,FLAGID:5,")
    return run


def a5():
    """Register-vector lanes, head costs, flags from the cube to both vector cores, a throughput counter."""
    run, cube = Run(1800), "core0.cubecore0"
    run.work(cube, "MTE2", 0x4000, "MOV_OUT_TO_L1", 100, 600)
    begin = run.pair(cube, "MTE2", "CUBE", (0x4004, 0x4008), 601, 110, 0)
    for i in range(3):
        begin = run.work(cube, "CUBE", 0x400c, "MMAD", begin, begin + 100)
    out = run.pair(cube, "CUBE", "FIXP", (0x4010, 0x4014), begin + 1, 120, 0)
    done = run.work(cube, "FIXP", 0x4018, "FIX_L0C_TO_UB", out, out + 80)
    for k, vec in enumerate(("core0.veccore0", "core0.veccore1")):
        ident, given = f"intra_{k}", done + 2 * k
        for name, core, pipe, start, end in (("SET_INTRA_BLOCK", cube, "FIXP", given, given + 2),
                                             ("WAIT_INTRA_BLOCK", vec, "PUSHQ", 130, given + 3)):
            run.flag(name, core, pipe, 0x401c, start, end, f"PIPE:{pipe},SYNCID:{16 * k},", ident)
        for ph, core, pipe, at in (("s", cube, "FIXP", given + 2), ("t", vec, "PUSHQ", given + 3)):
            run.events.append({"cat": "FIXPToPUSHQ", "id": ident, "name": "flow", "ph": ph, "pid": core, "tid": pipe,
                               "ts": us(at, 1800)})
        at = run.head(vec, "PUSHQ", 0x4030, "VF", given + 3, 40, 10, given + 400)
        for i in range(4):
            base = given + 60 + 80 * i
            run.work(vec, "RVECLD", 0x4034, "RV_VLD", base, base + 20)
            run.work(vec, "RVECEX", 0x4038, "RV_VADD", base + 20, base + 40)
            run.work(vec, "RVECST", 0x403c, "RV_VST", base + 40, base + 60)
        run.work(vec, "MTE3", 0x4040, "MOV_UB_TO_OUT", at, at + 150)
    for t, v in ((0, 0.0), (1, 512.5)):
        run.events.append({"args": {"throughput(MB/s)": v}, "name": "UB_TO_GM", "ph": "C", "pid": "MTE Throughput", "tid": 0,
                           "ts": t})
    return run


def blocks(*parts):
    """A visualize_data.bin: (type, payload[, path]) one after another."""
    out = b""
    for kind, payload, *path in parts:
        pad = -len(payload) % 4
        out += struct.pack("<QBBBB", len(payload) + pad, kind, pad, 0 if kind == 4 else 0x5a, 0x5a)
        if path:
            out += path[0].encode().ljust(4096, b"\0")
        out += payload + b"\0" * pad
    return out


def text(value):
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()


def device():
    """An on-device run: details alone."""
    base = {"name": "add_custom", "soc": "Ascend910B3", "op_type": "vector", "block_dim": 2, "mix_block_dim": 0,
            "duration": 12.5, "device_id": 0, "pid": 1, "advice": [],
            "block_detail": {"head_name": ["Block ID", "Vector0 Duration (us)"], "row": [{"value": ["0", "12.1"]},
                             {"value": ["1", "12.5"]}], "size": [2, 2]}}
    load = {"advice": ["vector compute usage lower than 20%"], "subblock_detail": [
        {"block_id": b, "block_type": "vector0", "name": "Vector All Active0", "unit": 3, "value": 7.5, "origin_value": 1500.0}
        for b in (0, 1)]}
    cores = {"soc": "Ascend910B3", "op_type": "vector", "advice": "", "op_detail": [
        {"core_id": c, "core_detail": [{"subcore_id": 0, "subcore_type": "vector", "cycles": 22000 + c, "throughput": 1.5,
                                        "L2cache_hit_rate": 50.0}]} for c in (0, 1)]}
    return blocks((5, text(base)), (6, text(load)), (0x0c, text(cores)))


EVENTS = ["Load Count", "Store Count", "Hit", "Miss", "Allocate", "Evict And Write", "Evict Without Write"]


def cache_lines(n):
    """Counts of every event for n cache lines: a hot middle, and every seventh line never touched."""
    out = []
    for i in range(n):
        heat = 0 if i % 7 == 3 else max(1, 64 - abs(i - n // 2))
        line = {"Cacheline Id": i}
        for k, event in enumerate(EVENTS):
            line[event] = {"Address Range": [[hex(0x1000 + 16 * i), hex(0x100c + 16 * i)]],
                           "Value": [heat * (k + 1), round(heat / 64, 4)]}
        out.append(line)
    return {"Cacheline Records": out}


def memory_graph():
    """Two cores; the second moves half as much, and its path back to memory is idle."""
    paths = [(0, 4096, 20.5), (1, 1024, 5.1), (2, 2048, 10.25), (4, 512, 8.0), (5, 512, 8.0), (6, 512, 16.0), (7, 512, 16.0), (8, 256, 32.0), (10, 128, 4.0),
             (12, 3072, 15.0), (13, 1536, 7.5), (14, 6144, 60.0), (15, 3072, 30.0)]
    return {"core_memory_map": [
        {"core_no": c, "op_type": "mix", "soc": "Ascend910B3", "advice": ["MTE2 bandwidth utilization lower than 80% when active"],
         "memory_unit": [{"memory_path": p, "request": 0 if c and p == 1 else r // (c + 1), "bandwidth": b / (c + 1), "peak_ratio": "NA" if p < 2 else b,
                          "display": 1} for p, r, b in paths],
         "L2cache": {"hit": 900, "miss": 100, "total_request": 1000, "hit_ratio": 90.0},
         "Cube": {"cycle": 4000, "ratio": 20.0, "total_cycles": 20000}} for c in (0, 1)]}


def memory_tables():
    return {"table_per_block": [
        {"block_id": b, "table_op_type": "mix", "advice": [], "table_detail": [
            {"table_name": "L2 Cache", "size": [2, 3], "header_name": ["name", "hit", "miss", "hit rate(%)"],
             "row": [{"name": "Write", "value": ["300", "60", "83.3"]}, {"name": "Read", "value": ["600", "40", "93.8"]}]},
            {"table_name": "Unified Buffer", "size": [1, 2], "header_name": ["name", "requests", "bandwidth(GB/s)"],
             "row": [{"name": "GM to UB", "value": ["3072", "15.0"]}]}]} for b in (0, 1)]}


def details():
    """An on-device run with every block that has a picture of its own, and typed columns that nobody knows."""
    base = {"name": "mix_custom", "soc": "Ascend910B3", "op_type": "mix", "block_dim": 2, "mix_block_dim": 4, "duration": 40.0,
            "device_id": 0, "pid": 1, "advice": ["aicore compute usage lower than 20%"],
            "mix_block_detail": {"head_name": ["Block ID", "Cube0 Duration (us)", "Vector0 Duration (us)"],
                                 "row": [{"value": ["0", "38.5", "20.1"]}, {"value": ["1", "40.0", "19.9"]}], "size": [2, 3]}}
    load = {"advice": [], "subblock_detail": [
        {"block_id": b, "block_type": t, "name": n, "unit": 3, "value": v, "origin_value": v * 200}
        for b in (0, 1) for t, n, v in (("cube0", "Cube All Active", 11.5), ("cube0", "Cube Wait", 25.0), ("vector0", "Vector All Active0", 3.0))]}
    table = {"advice": [], "subblock_detail": [
        {"block_id": 0, "block_type": "cube0", "name": "Cube FP", "unit": 1, "value": 80},
        {"block_id": 0, "block_type": "cube0", "name": "Cube Compute Data Size", "unit": 2, "value": 377241600}]}
    cores = {"soc": "Ascend910B3", "op_type": "mix", "advice": "1) core1 took more time than other cores", "op_detail": [
        {"core_id": c, "core_detail": [
            {"subcore_id": 0, "subcore_type": "cube", "cycles": 20000 + 4000 * c, "throughput": 6158848, "L2cache_hit_rate": 90.0 + c},
            {"subcore_id": 0, "subcore_type": "vector", "cycles": 11000, "throughput": 2641408, "L2cache_hit_rate": 80.0 + c,
             "simt_vf_instructions": {"instructions": 100 + c, "instruction_per_cycle": 0.5}}]} for c in range(4)]}
    roof = {"advice": "the kernel is bound by the bandwidth of GM", "multiple_rooflines": [
        {"title": "Memory Unit (GM)", "rooflines": [
            {"bw": 1.6, "bw_name": "GM read", "computility": 320.0, "computility_name": "Cube FP16", "point": [20.0, 24.0], "ratio": 0.75},
            {"bw": 0.8, "bw_name": "GM write", "computility": 320.0, "computility_name": "Cube FP16", "point": [160.0, 24.0], "ratio": 0.1875}]},
        {"title": "Pipe (UB)", "rooflines": [
            {"bw": 4.0, "bw_name": "UB", "computility": 10.0, "computility_name": "Vector FP16", "point": [1.5, 3.0], "ratio": 0.5}]}]}
    stall = {"top_stall_reason_table": {"Long Scoreboard": 400, "Barrier": 100, "Not Selected": 25}}
    instr = {"Cores": ["ALL"], "Instructions Dtype": {"Instructions": {
        "Address": 3, "AscendC Inner Code": 3, "Source": 3, "Pipe": 3, "Instructions Executed": 1, "L2Cache Hit Rate": 4, "Bank Turns": 2,
        "Stall Sampling(All Samples)": 100}}, "Instructions": [
        {"Address": hex(0x1000 + 4 * i), "AscendC Inner Code": SOURCE + ":" + str(3 + i), "Source": op, "Pipe": pipe, "Instructions Executed": [10 * (i + 1)],
         "L2Cache Hit Rate": [90.5 - i], "Bank Turns": [1.5 * i], "Stall Sampling(All Samples)": [{"Percent": 12.5 * i, "Details": {"Barrier": i}}]}
        for i, (op, pipe) in enumerate((("MOV_OUT_TO_UB", "MTE2"), ("VADD", "VECTOR"), ("MOV_UB_TO_OUT", "MTE3")))]}
    return blocks((1, TEXT.encode(), SOURCE), (4, text(instr)), (5, text(base)), (6, text(load)), (7, text(table)), (8, text(memory_graph())),
                  (9, text(memory_tables())), (0x0c, text(cores)), (0x0d, text(roof)), (0x0e, text(cache_lines(96))), (0x0f, text(stall)))


def fixtures():
    """path below tests/data -> bytes."""
    out = {}
    run = sound()
    out["ascend_matmul/OPPROF_1/matmul/0/simulator/visualize_data.bin"] = blocks(
        (2, text(run.trace())), (1, TEXT.encode(), SOURCE), (4, text(run.api_instr())))
    for name, made in (("ascend_waiting", waiting()), ("ascend_half_dead", half_dead()), ("ascend_a5", a5())):
        out[f"{name}/OPPROF_1/{name[7:]}/0/simulator/trace.json"] = text(made.trace())
    out["ascend_device/OPPROF_1/visualize_data.bin"] = device()
    out["ascend_details/OPPROF_1/visualize_data.bin"] = details()
    return out


def main():
    passed = failed = 0
    for path, data in fixtures().items():
        full = os.path.join(DATA, path)
        if "--write" in sys.argv[1:]:
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "wb") as f:
                f.write(data)
        try:
            with open(full, "rb") as f:
                same = f.read() == data
        except FileNotFoundError:
            same = False
        if not same:
            print(f"FAIL {path} is not what ascend_fixtures.py makes (--write rewrites it)")
        passed, failed = passed + same, failed + (not same)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
