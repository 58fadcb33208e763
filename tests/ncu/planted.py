# SPDX-License-Identifier: Apache-2.0
"""Kernels with a bottleneck that everyone knows: the stall reasons and figures that NVIDIA documents for it, and what the first
sentence of `incore summary` must name."""
import kernels
from kernels import LONG, SHORT, padding
from program import P0, Function, Inst

WAVEFRONTS, SECTORS = "memory_l1_wavefronts_shared", "memory_l2_theoretical_sectors_global"


class Case:
    """samples: {label: {reason: samples}}; figures: {metric: {label: of each execution}}; words: parts of the sentence; row: what leads `hot`."""

    def __init__(self, name, insts, samples, words, row, figures=None, regs=32, extra=(), lanes=32, shared=1024):
        self.name, self.samples, self.words, self.row, self.figures = name, samples, words, row, figures or {}
        self.extra, self.lanes = dict(extra), lanes
        self.function = insts if isinstance(insts, Function) else Function("_Z1kPf", [*insts, *padding(2)], regs=regs, shared=shared)


def loop(*insts, line=14):
    """The instructions as the body of a loop; the first has the label "loop"."""
    return [*insts, Inst("ISETP", (2, 13), line, stall=13, times=64), Inst("BRA", (), line, "back", guard=P0, target="loop", stall=5, times=64),
            Inst("EXIT", (), 15, "exit", stall=5)]


def cases():
    t = {"times": 64}
    start = [Inst("LDC", (2,), 3, "pointer", writes=1), Inst("IMAD.WIDE", (2, 0, 2), 4, waits=(1,), after={SHORT: ["pointer"]})]
    yield Case("pointer chase", [*start, *loop(
        Inst("LDG", (2, 2), 7, "loop", writes=0, waits=(0,), after={LONG: ["loop"]}, **t),
        Inst("IADD3", (9, 9, 11, 255), 8, **t))],
        {"loop": {LONG: 5000}}, ["Lost to memory", "wait:VMEM-load", "scale.cu:7", "`LDG R2", "one before"], "loop")
    yield Case("bank conflicts", [*start, *loop(
        Inst("LDS", (5, 9), 7, "loop", writes=0, **t),
        Inst("FFMA", (6, 5, 9, 6), 8, "use", waits=(0,), after={SHORT: ["loop"]}, **t))],
        {"use": {SHORT: 4000}, "loop": {"mio_throttle": 2500}}, ["wait:LDS", "scale.cu:8", "`LDS R5", "bank conflicts", "32.0 x"], "use",
        {WAVEFRONTS: {"loop": 32}, WAVEFRONTS + "_ideal": {"loop": 1}})
    yield Case("bank conflicts of stores", [*start, *loop(
        Inst("STS", (9, 5), 7, "loop", **t),
        Inst("STS", (10, 5), 8, "far", **t))],
        {"loop": {"mio_throttle": 900}, "far": {"mio_throttle": 4000}}, ["pipe-stall:LDS", "scale.cu:8", "`STS [R10]", "bank conflicts"], "far",
        {WAVEFRONTS: {"loop": 1, "far": 16}, WAVEFRONTS + "_ideal": {"loop": 1, "far": 1}})
    yield Case("uncoalesced stores", [*start, *loop(
        Inst("FFMA", (6, 5, 9, 6), 7, "loop", **t),
        Inst("STG", (2, 6), 8, "store", **t))],
        {"store": {"lg_throttle": 4000}, "exit": {"drain": 1500}}, ["Lost to memory", "pipe-stall:VMEM-store", "scale.cu:8", "`STG", "uncoalesced"],
        "store", {SECTORS: {"store": 32}, SECTORS + "_ideal": {"store": 4}})
    yield Case("stores that drain", [*start, *loop(
        Inst("FFMA", (6, 5, 9, 6), 7, "loop", **t),
        Inst("STG", (2, 6), 8, "store", **t))],
        {"exit": {"drain": 4000}}, ["drain", "`STG", "scale.cu:8", "uncoalesced"], "exit",
        {SECTORS: {"store": 32}, SECTORS + "_ideal": {"store": 4}})
    yield Case("barrier imbalance", [*start, *loop(
        Inst("FFMA", (6, 5, 9, 6), 7, "loop", **t),
        Inst("BAR.SYNC", (), 8, "barrier", stall=6, **t),
        Inst("IADD3", (9, 9, 11, 255), 9, "behind", **t))],
        {"behind": {"barrier": 5000}}, ["Lost to sync", "barrier", "`BAR.SYNC", "scale.cu:9"], "behind")
    yield Case("MUFU-bound", [*start, *loop(
        Inst("MUFU.EX2", (7, 6), 7, "loop", writes=0, **t),
        Inst("FADD", (8, 7, 6), 8, "use", waits=(0,), after={SHORT: ["loop"]}, **t))],
        {"loop": {"math_pipe_throttle": 4000}, "use": {SHORT: 1500}}, ["Lost to pipe", "pipe-stall:TRANS", "scale.cu:7", "`MUFU.EX2"], "loop")
    yield Case("dependent FMA chain", [*start, *loop(
        Inst("FFMA", (6, 6, 9, 6), 7, "loop", **t),
        Inst("FFMA", (6, 6, 10, 6), 8, "chain", **t))],
        {"chain": {"wait": 4000}, "loop": {"wait": 1000}}, ["fixed-latency", "scale.cu:8", "`FFMA R6, R6, R10, R6` right after `FFMA R6, R6, R9, R6`"], "chain")
    yield Case("occupancy limited by registers", [*start, *loop(
        Inst("LDG", (4, 2), 7, "loop", writes=0, **t),
        Inst("FADD", (8, 4, 6), 8, "use", waits=(0,), after={LONG: ["loop"]}, **t))],
        {"use": {LONG: 4000}}, ["wait:VMEM-load", "scale.cu:8", "8 of 64 warps", "registers (240 a thread"], "use", regs=240)
    yield Case("occupancy limited by shared memory", [*start, *loop(
        Inst("LDG", (4, 2), 7, "loop", writes=0, **t),
        Inst("FADD", (8, 4, 6), 8, "use", waits=(0,), after={LONG: ["loop"]}, **t))],
        {"use": {LONG: 4000}}, ["wait:VMEM-load", "8 of 64 warps", "shared memory (151024 of 233472 bytes a block)"], "use", shared=150000)
    yield Case("instruction cache misses", [*start, *loop(
        Inst("FFMA", (6, 5, 9, 6), 7, "loop", **t),
        *[Inst("FFMA", (6 + n, 5, 9, 6), 8 + n % 5, f"far{n}", **t) for n in range(40)])],
        {**{f"far{n}": {"no_instructions": 100 + (n == 7) * 60} for n in range(40)}}, ["Lost to fetch", "gap:fetch", "instruction cache"], "far7")
    yield Case("divergent branches", [*start, *loop(
        Inst("FFMA", (6, 5, 9, 6), 7, "loop", **t),
        Inst("BRA", (), 8, "split", guard=P0, target="loop", stall=5, **t),
        Inst("FFMA", (6, 5, 10, 6), 9, "after", **t))],
        {"split": {"branch_resolving": 500}, "after": {"branch_resolving": 3000, "wait": 900}},
        ["gap:branch", "8.0 of 32 lanes", "`@P0 BRA"], "after", lanes=8, figures={"smsp__branch_targets_threads_divergent": {"split": 1}})
    yield Case("shallow asynchronous copies", kernels.tiles(), {9: {LONG: 5000}}, ["wait:VMEM-to-LDS", "scale.cu:9", "`LDGSTS"], 9)
    yield Case("contended atomics", [*start, *loop(
        Inst("ATOMG", (4, 2, 5), 7, "loop", writes=0, **t),
        Inst("FADD", (8, 4, 6), 8, "use", waits=(0,), after={LONG: ["loop"]}, **t))],
        {"use": {LONG: 4000}, "loop": {"lg_throttle": 700}}, ["wait:VMEM-atomic", "scale.cu:8", "`ATOMG"], "use")
    yield Case("contended atomics without a result", [*start, *loop(
        Inst("RED", (2, 5), 7, "loop", **t))],
        {"loop": {"lg_throttle": 4000}}, ["pipe-stall:VMEM-atomic", "scale.cu:7", "`RED"], "loop")
    yield Case("spills to local memory", [*start, *loop(
        Inst("STL", (1, 5), 7, "loop", **t),
        Inst("LDL", (4, 1), 8, "reload", writes=0, **t),
        Inst("FADD", (8, 4, 6), 9, "use", waits=(0,), after={LONG: ["reload"]}, **t))],
        {"use": {LONG: 4000}, "loop": {"lg_throttle": 900}}, ["wait:VMEM-load", "scale.cu:9", "`LDL R4", "local memory"], "use")
    yield Case("tensor-bound, asynchronous", kernels.tiles(), {14: {"barrier": 5000}}, ["Lost to pipe", "wait:MATRIX", "`HGMMA"], 14)
    yield Case("tensor-bound", [*start, *loop(
        Inst("HMMA", (8, 4, 12, 8), 7, "loop", **t),
        Inst("HMMA", (16, 4, 14, 16), 8, "second", **t))],
        {"loop": {"math_pipe_throttle": 1000}, "second": {"math_pipe_throttle": 4000}}, ["Lost to pipe", "pipe-stall:MATRIX", "scale.cu:8", "`HMMA R16"],
        "second")
    yield Case("constants", [*start, *loop(
        Inst("FFMA", (6, 5, 9, 6), 7, "loop", **t))],
        {"loop": {"imc_miss": 4000}}, ["Lost to scalar", "wait:SMEM", "scale.cu:7", "constant cache"], "loop")
    yield Case("uncoalesced loads", [*start, *loop(
        Inst("LDG", (4, 2), 7, "loop", writes=0, **t),
        Inst("FADD", (8, 4, 6), 8, "use", waits=(0,), after={LONG: ["loop"]}, **t))],
        {"use": {LONG: 3000}, "loop": {"lg_throttle": 2000}}, ["wait:VMEM-load", "scale.cu:8", "`LDG R4", "uncoalesced", "8.0 x"], "use",
        {SECTORS: {"loop": 32}, SECTORS + "_ideal": {"loop": 4}})
    yield Case("too many instructions", [*start, *loop(
        Inst("FFMA", (6, 5, 9, 6), 7, "loop", **t),
        Inst("FFMA", (7, 5, 9, 7), 8, "more", **t))],
        {"more": {"math_pipe_throttle": 900}, "loop": {"selected": 4000}}, ["pipe-stall:VALU", "schedulers issue in 93 % of their cycles"], "loop",
        extra={"smsp__issue_active.avg.per_cycle_active": 0.93})
