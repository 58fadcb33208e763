# SPDX-License-Identifier: Apache-2.0
"""The kernels of the generated reports, an instruction a line: what each waits for stands beside it."""
from program import ALWAYS, NOT_P0, P0, Function, Inst, check, stated  # noqa: F401

LONG, SHORT = "long_scoreboard", "short_scoreboard"
FILE, HEADER = "/kernels/scale.cu", "/kernels/scale.cuh"
SOURCES = {
    FILE: "".join(f"{text}\n" for text in (
        '#include "scale.cuh"', "// One row a block: load, scale, exchange, store.", "__global__ void scale_rows(const float *x, float *y, int n)",
        "{", "    __shared__ float row[256];", "    int i = threadIdx.x;", "    float next = x[i];", "    for (; i < n; i += 256) {",
        "        float v = next;", "        next = x[i + 256];", "        row[threadIdx.x] = scale(v, y[i]);", "        __syncthreads();",
        "        y[i] = row[255 - threadIdx.x];", "    }", "}")),
    HEADER: "".join(f"{text}\n" for text in (
        "__device__ inline float scale(float v, float w)", "{", "    float t = v * 0.5f + w;", "    return my_exp(t) + v;", "}", "__device__ inline float my_exp(float t)", "{", "    return exp2f(t); }")),
}
SCALE, EXP = "_Z5scaleff", "_Z6my_expf"


def padding(n):
    """A branch to itself and NOPs, as compilers put them behind the last instruction."""
    return [Inst("BRA", label="end", target="end", stall=0)] + [Inst("NOP", stall=0) for _ in range(n)]


def scale_rows(trips=64):
    """A loop with a load that is carried around it (two producers for one wait), an inlined function, shared memory, a barrier."""
    t = {"times": trips}
    return Function("_Z10scale_rowsPKfPfi", [
        Inst("LDC", (1,), 3, stall=1),
        Inst("S2R", (0,), 6, "tid", writes=0),
        Inst("LDC", (2,), 7, "pointer", writes=1),
        Inst("IMAD.WIDE", (2, 0, 2), 7, waits=(0, 1), after={SHORT: ["tid", "pointer"]}),
        Inst("LDG", (4, 2), 7, "first", writes=5),
        Inst("LDG", (5, 8), 11, "loop", writes=2, **t),
        Inst("FMUL", (6, 4, 9), 11, waits=(5,), after={LONG: ["first", "carried"]}, inlined=((SCALE, 3),), **t),
        Inst("LDG", (4, 2), 10, "carried", writes=5, **t),
        Inst("FFMA", (6, 5, 9, 6), 11, stall=5, waits=(2,), after={LONG: ["loop"]}, inlined=((SCALE, 3),), **t),
        Inst("MUFU.EX2", (7, 6), 11, "exp", writes=0, inlined=((SCALE, 4), (EXP, 8)), **t),
        Inst("FADD", (8, 7, 6), 11, waits=(0,), stall=5, after={SHORT: ["exp"]}, inlined=((SCALE, 4), (EXP, 8)), **t),
        Inst("STS", (9, 8), 11, "put", reads=1, **t),
        Inst("BAR.SYNC", (), 12, "barrier", stall=6, **t),
        Inst("LDS", (10, 9), 13, "get", writes=0, **t),
        Inst("IADD3", (9, 9, 11, 255), 8, waits=(1,), after={SHORT: ["put"]}, **t),
        Inst("STG", (2, 10), 13, "store", reads=3, waits=(0,), after={SHORT: ["get"]}, **t),
        Inst("IADD3", (2, 2, 12, 255), 8, waits=(3,), after={LONG: ["store"]}, **t),
        Inst("ISETP", (2, 13), 8, stall=13, **t),
        Inst("BRA", (), 8, guard=P0, target="loop", stall=5, **t),
        Inst("EXIT", (), 15, stall=5, waits=(5,), after={LONG: ["carried"]}),
        *padding(4)], regs=24, shared=1024)


def tiles(trips=32):
    """Copies to shared memory in groups, a counted wait, matrix work of a warp group, then shared memory again."""
    t = {"times": trips}
    return Function("_Z5tilesPKvS0_Pf", [
        Inst("LDC", (2,), 3, "pointer", writes=1),
        Inst("IMAD", (3, 2, 4, 5), 5, waits=(1,), after={SHORT: ["pointer"]}),
        Inst("LDGSTS", (16, 2), 6, "first_a"),
        Inst("LDGSTS", (17, 3), 6, "first_b"),
        Inst("LDGDEPBAR", (), 6, writes=0),
        Inst("LDGSTS", (16, 2), 8, "loop", **t),
        Inst("LDGSTS", (17, 3), 8, "next_b", **t),
        Inst("LDGDEPBAR", (), 8, writes=0, **t),
        Inst("DEPBAR.LE", (), 9, number=1, counter=0, **t),
        Inst("IADD3", (9, 9, 11, 255), 9, after={LONG: ["first_a", "first_b", "loop", "next_b"]}, **t),
        Inst("BAR.SYNC", (), 10, "barrier", stall=6, **t),
        Inst("WARPGROUP.ARRIVE", (), 11, **t),
        Inst("HGMMA", (), 11, "mma", **t),
        Inst("HGMMA.gsb0", (), 11, "mma_last", stall=3, **t),
        Inst("WARPGROUP.DEPBAR", (), 12, number=0, after={"barrier": ["mma", "mma_last"]}, **t),
        Inst("ISETP", (2, 13), 8, stall=13, **t),
        Inst("BRA", (), 8, guard=NOT_P0, target="loop", stall=5, **t),
        Inst("LDSM", (24, 9), 13, "fragment", writes=2),
        Inst("FMUL", (25, 24, 26), 13, waits=(2,), after={SHORT: ["fragment"]}),
        Inst("STG", (2, 25), 14),
        Inst("EXIT", (), 15, stall=5),
        *padding(2)], regs=128, shared=32768)


def calls():
    """A kernel, a function behind it in its section, and one in a section of its own: loads are waited for across calls and returns."""
    helper = Function("_Z6helperf", [
        Inst("FADD", (30, 4, 4), 20, waits=(2,), after={LONG: ["_Z5callsPf::handed"]}),
        Inst("LDG", (31, 2), 21, "of_helper", writes=3, inlined=((EXP, 8),)),
        Inst("UNKNOWN", (), 21),
        Inst("RET", (20,), 22, stall=5),
        *padding(1)], regs=32)
    kernel = Function("_Z5callsPf", [
        Inst("LDC", (2,), 3, "pointer", writes=1),
        Inst("LDG", (4, 2), 4, "handed", writes=2, waits=(1,), after={SHORT: ["pointer"]}),
        Inst("ISETP", (2, 13), 5, stall=13),
        Inst("BRA", (), 5, guard=P0, target="other", stall=5),
        Inst("LDS", (5, 9), 6, "left", writes=0),
        Inst("BRA", (), 6, target="join", stall=5),
        Inst("LDG", (5, 2), 7, "other", writes=0),
        Inst("FMUL", (6, 5, 5), 8, "join", waits=(0,), after={LONG: ["other"], SHORT: ["left"]}),
        Inst("MOV", (20,), 9, number=0xB0),
        Inst("CALL.REL", (), 9, target="inner", stall=5),
        Inst("NOP", (), 9),
        Inst("FADD", (7, 31, 6), 10, waits=(4,), after={SHORT: ["of_inner"]}),
        Inst("MOV", (20,), 11, number=0xE0),
        Inst("CALL.ABS", (), 11, target="_Z6helperf", stall=5),
        Inst("FADD", (8, 31, 7), 12, waits=(3,), after={LONG: ["_Z6helperf::of_helper"]}),
        Inst("STG", (2, 8), 13),
        Inst("EXIT", (), 14, stall=5),
        Inst("MUFU.EX2", (32, 6), 9, "inner", writes=4),
        Inst("NOP", (), 9, "of_inner_end"),
        Inst("RET", (20,), 9, stall=5),
        *padding(1)], regs=40)
    kernel.labels["of_inner"] = kernel.labels["inner"]
    kernel.local = [("$_Z5callsPf$inner", kernel.labels["inner"])]
    return [kernel, helper]


def jumps():
    """A table of jumps (each of its ways loads otherwise), then a call of a function whose address the loader puts in."""
    helper = Function("_Z5othersf", [
        Inst("FADD", (30, 4, 4), 20, waits=(2,), after={LONG: ["_Z6switchPfi::handed"]}),
        Inst("MUFU.EX2", (31, 30), 21, "of_helper", writes=3),
        Inst("RET", (20,), 22, stall=5),
        *padding(1)], regs=32)
    kernel = Function("_Z6switchPfi", [
        Inst("LDC", (2,), 3, "pointer", writes=1),
        Inst("LDG", (4, 2), 4, "handed", writes=2, waits=(1,), after={SHORT: ["pointer"]}),
        Inst("BRX", (6,), 5, target=["near", "far", "near", "none"], stall=5),
        Inst("NOP", (), 5),
        Inst("LDS", (5, 9), 6, "near", writes=0),
        Inst("BRA", (), 6, target="join", stall=5),
        Inst("LDG", (5, 2), 7, "far", writes=0),
        Inst("BRA", (), 7, target="join", stall=5),
        Inst("LDSM", (5, 9), 8, "none", writes=0),
        Inst("FMUL", (6, 5, 5), 9, "join", waits=(0,), after={LONG: ["far"], SHORT: ["near", "none"]}),
        Inst("CALL.RELOCATED", (), 10, target="_Z5othersf", stall=5),
        Inst("FADD", (8, 31, 6), 11, waits=(3,), after={SHORT: ["_Z5othersf::of_helper"]}),
        Inst("STG", (2, 8), 12),
        Inst("EXIT", (), 13, stall=5),
        *padding(1)], regs=40)
    return [kernel, helper]


def long_kernel(blocks):
    """Many times the same work, straight on: for large reports."""
    insts = [Inst("LDC", (2,), 3, "pointer", writes=1),
             Inst("IMAD.WIDE", (2, 0, 2), 7, waits=(1,), after={SHORT: ["pointer"]})]
    for b in range(blocks):
        line = 8 + b % 6
        insts += [
            Inst("LDG", (4, 2), line, f"load{b}", writes=b % 3),
            Inst("IADD3", (2, 2, 12, 255), line),
            Inst("LOP3.LUT", (9, 9, 9, 255), line, stall=2),
            Inst("IMAD", (3, 2, 4, 5), line, stall=5),
            Inst("FFMA", (6, 4, 9, 6), line, stall=5, waits=(b % 3,), after={LONG: [f"load{b}"]}),
            Inst("MUFU.EX2", (7, 6), line, f"exp{b}", writes=3 + b % 3),
            Inst("FMUL", (10, 9, 9), line, stall=2),
            Inst("FADD", (8, 7, 6), line, waits=(3 + b % 3,), after={SHORT: [f"exp{b}"]}),
        ]
    return Function("_Z11long_kernelPf", insts + [Inst("STG", (2, 8), 14), Inst("EXIT", (), 15, stall=5), *padding(2)], regs=40)
