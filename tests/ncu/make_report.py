#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nsight Compute reports of our own making: a known program, known samples, known producers. Written from the format's description
(docs/ncu.md), apart from the reader, so that each proves the other. The same bytes on every machine.

usage: make_report.py VARIANT FILE | --all DIRECTORY | --list | --large FILE [MB] [RESULTS]

Beside FILE stands FILE.truth.json: per result the samples of every row by reason (all, not issued), counts, lines, producers, totals.
"""
import json
import os
import re
import sys

import cubin
import facts
import kernels
from wire import block, double, framed, number, single, value, varint

WARP_LOADS = 0x7F3A10000000  # where the first function is loaded
PM_START_NS, PM_STEP_NS = 1794782093328371136, 1504
PM_SERIES = ["TPC.TriageCompute.sm__cycles_active.avg", "FE_B.TriageCompute.gr__ctas_launched_realtime.sum",
             "SM_B.TriageCompute.l1tex__t_sector_hit_rate.pct"]
SYNTHETIC = 1000  # field of the file header by which incore knows what a generator made up
VERSION = "2025.3.1.0 (build 36398880) (public-release)"


def random_numbers(seed):
    """The same on every machine and in every version of Python."""
    state = seed * 2654435761 + 12345 & 0xFFFFFFFF
    while True:
        state = state * 1664525 + 1013904223 & 0xFFFFFFFF
        yield state >> 16


class Program:
    """Functions of one module, as loaded. announced: how many of them the first source message names; the rest comes in a second one."""

    def __init__(self, number_, functions, announced=None, abi=cubin.CUDA13, has_lines=True, has_functions=True):
        self.id, self.functions, self.has_functions = 23 << 32 | number_, functions, has_functions
        self.announced = len(functions) if announced is None else announced
        self.addresses, at = {}, WARP_LOADS + number_ * 0x100000
        for f in functions:
            self.addresses[f.name] = at
            at += -(-f.size // 128) * 128 + 2304
        self.files = [kernels.FILE, kernels.HEADER]
        self.elf, self.symbols = cubin.make(functions, self.addresses, self.files, abi, has_lines)

    def messages(self):
        def named(some):
            return block(9, b"".join(block(1, block(1, f.name) + number(2, self.addresses[f.name]) + number(3, self.symbols[f.name]))
                                     for f in some))

        arch = number(5, 9) + number(6, 9 << 16) + number(7, 0)
        sources = block(8, b"".join(block(1, block(1, p) + block(2, kernels.SOURCES[p])) for p in self.files))
        first = number(1, self.id) + block(4, self.elf) + arch + sources
        if not self.has_functions:
            return [first]
        out = [first + named(self.functions[:self.announced])]
        if self.announced < len(self.functions):
            out.append(number(1, self.id) + arch + named(self.functions[self.announced:]))
        return out


class Result:
    """One launch: which function of which program, what was collected. planted: (function, index, reason), which gets 5,000 samples more.
    case: of planted.py. extra: metrics in place of those that a launch has; None takes one away. locked: was the clock?"""

    def __init__(self, program, seed=1, kernel=0, parts=None, grid=(4096, 1, 1), threads=(256, 1, 1), scale=1, dropped_bytes=0,
                 duration_ns=67424.0, cycles=131017.0, pm=0, has_sample_count=True, has_samples=True, demangled="", planted=None, extra=(), locked=0,
                 case=None):
        self.program, self.seed, self.grid, self.block, self.scale = program, seed, grid, threads, scale
        self.functions = parts or [program.functions[kernel]]
        self.dropped_bytes, self.duration_ns, self.cycles, self.pm = dropped_bytes, duration_ns, cycles, pm
        self.extra, self.locked, self.case = dict(extra), locked, case
        self.has_sample_count, self.has_samples, self.demangled = has_sample_count, has_samples, demangled
        self.address = program.addresses[self.functions[0].name]
        self.rows = self.make_rows()
        for f, n, i, _, counts in self.rows if case else ():
            for reason, samples in {**case.samples.get(i.label, {}), **case.samples.get(n, {})}.items():
                counts[reason][0] += samples
                counts[reason][1] += samples * 9 // 10 if reason != "selected" else 0
        for f, n, _, _, counts in self.rows if planted else ():
            if (f.name, n) == planted[:2]:
                counts[planted[2]][0] += 5000
                counts[planted[2]][1] += 4500

    def make_rows(self):
        """[(function, index, inst, executed, {reason: [all, not issued]})] of all instructions up to the padding's first."""
        rows, numbers = [], random_numbers(self.seed)
        warps = self.grid[0] * self.grid[1] * self.grid[2] * (-(-self.block[0] * self.block[1] * self.block[2] // 32))
        for f in self.functions:
            previous = None
            for n, i in enumerate(f.insts):
                is_end = i.label == "end"
                rows.append((f, n, i, None if is_end else warps * i.times, self.samples_of(i, previous, is_end, numbers)))
                previous = i
                if is_end:
                    break
        return rows

    def samples_of(self, i, previous, is_end, numbers):
        counts = {r: [0, 0] for r in facts.REASONS}
        if not self.has_samples:
            return counts

        def add(reason, n, issued):
            n = n * self.scale
            counts[reason][0] += n
            counts[reason][1] += max(0, n - issued)

        if is_end:
            add("no_instructions", 1, 0)
            return counts
        add("selected", 1 + next(numbers) % 3, 1 << 40)
        add("not_selected", next(numbers) % 4, 1 << 40)
        if previous and previous.stall > 4:
            add("wait", previous.stall + next(numbers) % 8, 3)
        if previous and previous.op == "BAR.SYNC":
            add("barrier", 40 + next(numbers) % 40, 7)
        if i.op in ("LDG", "STG", "LDGSTS"):
            add("lg_throttle", next(numbers) % 12, 2)
        for reason, who in i.after.items():
            add(reason, (60 if reason == kernels.LONG else 20) * len(who) + next(numbers) % 60, 9)
        return counts

    def truth(self):
        addresses = {f.name: f for f in self.functions}
        rows, totals = [], {r: [0, 0] for r in facts.REASONS}
        for f, n, i, executed, counts in self.rows:
            for reason, (every, exposed) in counts.items():
                totals[reason][0] += every
                totals[reason][1] += exposed
            producers = {}
            for reason in i.after:
                places = sorted(kernels.stated(list(addresses.values()), f, i, (reason,)))
                producers[reason] = [[name, 16 * k] for name, k in places]
            rows.append({"function": f.name, "offset": 16 * n, "op": i.op, "line": i.line, "inlined": i.inlined,
                         "inst_executed": executed, "samples": sum(c[0] for c in counts.values()),
                         "not_issued": sum(c[1] for c in counts.values()),
                         "reasons": {r: c for r, c in counts.items() if c[0]}, "producers": producers})
        return {"kernel": self.functions[0].name, "grid": self.grid, "block": self.block, "period": 2048, "has_samples": self.has_samples,
                "dropped_bytes": self.dropped_bytes, "samples": sum(t[0] for t in totals.values()),
                "not_issued": sum(t[1] for t in totals.values()), "totals": totals,
                "inst_executed": sum(r["inst_executed"] or 0 for r in rows), "pm_samples": self.pm, "rows": rows}


class Report:
    """Blocks in the order in which a profiler writes them."""

    def __init__(self, has_unknown=False, version=VERSION):
        self.names, self.fresh, self.out, self.has_unknown = {}, [], [b"NVR\0" + framed(number(1, 7) + number(SYNTHETIC, 1))], has_unknown
        self.session = facts.session(version)
        self.truth, self.heads = [], {}
        self.put_block(session=self.session[0])

    def odd(self):
        """Fields that no description knows: one of each wire type."""
        if not self.has_unknown:
            return b""
        return number(1001, 7) + double(1002, 1.5) + block(1003, block(1, "inside")) + single(1004, 2.5)

    def put_block(self, sources=(), results=(), session=b"", ranges=(), graphs=()):
        payload = b"".join(framed(m) for group in (sources, results, ranges, graphs) for m in group)
        strings, self.fresh = block(4, b"".join(block(1, s) for s in self.fresh)), []
        head = number(1, len(sources)) + number(2, len(results)) + (block(3, session) if session else b"") + strings
        head += number(5, len(payload)) + block(6, number(1, 516) + block(2, "127.0.0.1") + block(3, "/kernels/k"))
        head += (number(7, len(ranges)) if ranges else b"") + (number(9, len(graphs)) if graphs else b"") + self.odd()
        self.out += [framed(head), payload]

    def metric(self, name, x=None, instances=b"", kind=0, field=13):
        if name not in self.names:
            self.names[name] = len(self.names)
            self.fresh.append(name)
        body = number(1, self.names[name]) + (b"" if x is None else block(2, value(x))) + instances + number(4, kind) + self.odd()
        return block(field, body)

    def per_row(self, name, pairs):
        """pairs: [(address, integer)]. Thousands of rows a metric: bytes of an instance are put together from two tables."""
        parts, cache, total = [], self.heads, 0
        for address, n in pairs:
            size = 1 if n < 128 else 2 if n < 16384 else 0
            total += n
            if not size:
                parts.append(block(3, block(1, number(5, address)) + block(2, number(5, n))))
                continue
            key = (address, size)
            if key not in cache:
                inner = block(1, number(5, address)) + b"\x12" + varint(1 + size) + b"\x28"
                cache[key] = b"\x1a" + varint(len(inner) + size) + inner
            parts.append(cache[key] + (SMALL[n] if size == 1 else varint(n)))
        return self.metric(name, total, b"".join(parts))

    def sampled(self, r):
        rows = [(r.program.addresses[f.name] + 16 * n, counts) for f, n, _, _, counts in r.rows]
        out = b""
        if r.has_sample_count:
            out += self.per_row("smsp__pcsamp_sample_count", [(a, sum(c[0] for c in counts.values())) for a, counts in rows])
        for reason in facts.REASONS:
            out += self.per_row(facts.STALL + reason, [(a, counts[reason][0]) for a, counts in rows])
            out += self.per_row(facts.STALL + reason + "_not_issued", [(a, counts[reason][1]) for a, counts in rows])
        return out

    def executed(self, r):
        rows = [(r.program.addresses[f.name] + 16 * n, i.op, executed) for f, n, i, executed, _ in r.rows if executed is not None]
        loads = [(a, n) for a, op, n in rows if op in ("LDG", "STG")]
        counts = self.per_row("inst_executed", [(a, n) for a, _, n in rows])
        if r.case:
            counts += self.per_row("thread_inst_executed", [(a, r.case.lanes * n) for a, _, n in rows])
            for name, by_label in r.case.figures.items():
                values = [(r.program.addresses[f.name] + 16 * n, by_label[i.label] * executed) for f, n, i, executed, _ in r.rows if i.label in by_label]
                counts += self.per_row(name, values)
            return counts
        return (counts + self.per_row("thread_inst_executed", [(a, 32 * n) for a, _, n in rows]) +
                self.per_row("memory_l2_theoretical_sectors_global", [(a, 32 * n) for a, n in loads]) +
                self.per_row("memory_l2_theoretical_sectors_global_ideal", [(a, 4 * n) for a, n in loads]))

    def tables(self, r):
        pcs = b"".join(block(3, block(1, number(5, k)) + block(2, number(5, r.program.addresses[f.name]))) for k, f in enumerate(r.functions))
        opcodes = {}
        for _, _, i, executed, _ in r.rows:
            opcodes[i.op.split(".")[0]] = opcodes.get(i.op.split(".")[0], 0) + (executed or 0)
        by_opcode = b"".join(block(3, block(1, block(1, op)) + block(2, double(3, float(n)))) for op, n in sorted(opcodes.items()))
        return (self.metric("launch__function_pcs", len(r.functions), pcs) +
                self.metric("sass__inst_executed_per_opcode", float(sum(opcodes.values())), by_opcode))

    def series(self, r):
        out = b""
        for k, name in enumerate(PM_SERIES if r.pm else ()):
            times = [0] + [PM_START_NS + PM_STEP_NS * n for n in range(r.pm)]
            parts = b"".join(block(3, block(1, number(5, t)) + block(2, double(3, float((n * 7 + k) % 50 if t else 0))))
                             for n, t in enumerate(times))
            out += self.metric(name, None, parts, 1)
        return out

    def result(self, r):
        kernel = r.functions[0].name
        mangled = re.match(r"_Z(\d+)(.*)", kernel)
        short = mangled[2][:int(mangled[1])] if mangled else kernel
        out = number(1, 516) + number(2, 577) + number(3, 93859672062080) + number(4, 93859672071600) + block(5, kernel)
        out += block(6, short) + block(7, r.demangled) + number(8, 3)
        for field, dims in ((9, (0, 0, 0)), (10, r.grid), (11, r.block)):
            out += block(field, b"".join(number(k + 1, n) for k, n in enumerate(dims)))
        for name, x in {**facts.DEVICE, **facts.launch_facts(r, r.functions, r.program.addresses), **r.extra}.items():
            out += self.metric(name, x) if x is not None else b""
        out += self.tables(r) + self.executed(r)
        if r.has_samples:
            out += b"".join(self.metric(name, x) for name, x in facts.sampling_facts(r).items()) + self.sampled(r)
        out += self.series(r) + number(14, 1794782095) + block(15, number(1, r.program.id)) + number(16, 0)
        out += b"".join(block(17, s) for s in facts.sections()) + b"".join(block(19, x) for x in facts.rules(r))
        out += number(22, 1) + number(23, 7) + block(25, number(1, 0) + number(2, r.locked)) + block(31, b"") + single(35, 580.159) + self.odd()
        self.truth.append(r.truth())
        return out

    def whole(self, reference, program):
        """A range or graph: metrics, no code of its own; reference: the field that names its sources."""
        return self.metric("gpu__time_duration.sum", 1000.0, field=4) + number(5, 1794782096) + number(reference, program.id) + self.odd()

    def add_program(self, p):
        """Its messages, the first now; the rest are returned for a later block."""
        first, *rest = p.messages()
        self.put_block(sources=[first + self.odd()])
        return rest

    def add_result(self, r):
        self.put_block(results=[self.result(r)])

    def finish(self):
        for part in self.session[1:]:
            self.put_block(session=part)
        return b"".join(self.out)


SMALL = [bytes([n]) for n in range(128)]


def kernel():
    report, p = Report(), Program(1, [kernels.scale_rows()])
    report.add_program(p)
    report.add_result(Result(p, pm=40, demangled="scale_rows(const float *, float *, int)"))
    return report


def pipeline():
    report, p = Report(), Program(1, [kernels.tiles()], abi=cubin.CUDA12)
    report.add_program(p)
    report.add_result(Result(p, threads=(128, 1, 1), grid=(16, 16, 1)))
    return report


def functions():
    """Code in two sections, the second announced by a later message about the same source."""
    report, parts = Report(), kernels.calls()
    p = Program(1, parts, announced=1)
    for message in report.add_program(p):
        report.put_block(sources=[message])
    report.add_result(Result(p, parts=parts))
    return report


def jumps():
    report, parts = Report(), kernels.jumps()
    p = Program(1, parts)
    report.add_program(p)
    report.add_result(Result(p, parts=parts))
    return report


def several():
    """Three launches of two modules, fields that nobody knows, a range and a graph, metrics that appear late."""
    report = Report(has_unknown=True)
    p, q = Program(1, [kernels.scale_rows(), kernels.tiles()], announced=1), Program(2, [kernels.long_kernel(6)])
    rest = report.add_program(p)
    report.add_result(Result(p, seed=3))
    report.add_program(q)
    for message in rest:
        report.put_block(sources=[message])
    report.put_block(results=[report.result(Result(p, seed=4, kernel=1, threads=(128, 1, 1))), report.result(Result(q, seed=5, pm=12))],
                     ranges=[report.whole(15, p)], graphs=[report.whole(17, q)])
    return report


def old():
    """As 2020.2 wrote them: sources name no functions, no count of samples, no line table."""
    report = Report(version="2020.2.1.0 (build 29181059) (public-release)")
    p = Program(1, [kernels.scale_rows()], abi=cubin.CUDA12, has_lines=False, has_functions=False)
    report.add_program(p)
    report.add_result(Result(p, seed=6, has_sample_count=False))
    return report


def few():
    """A kernel shorter than the period of the sampler, with samples lost."""
    report, p = Report(), Program(1, [kernels.long_kernel(1)], has_lines=False)
    report.add_program(p)
    report.add_result(Result(p, seed=7, grid=(1, 1, 1), threads=(32, 1, 1), dropped_bytes=4096, duration_ns=900.0, cycles=1700.0))
    return report


def no_samples():
    report, p = Report(), Program(1, [kernels.scale_rows()])
    report.add_program(p)
    report.add_result(Result(p, seed=8, has_samples=False))
    return report


def large(megabytes=100, results=50, different=5):
    """Many results of one long kernel, of which a few are different; 22,000 bytes are in a result whatever its code, 665 in each row. The
    truth has totals alone."""
    rows = max(32, (megabytes * 1000000 // results - 22000) // 665)
    report, p = Report(), Program(1, [kernels.long_kernel(rows // 8)])
    report.add_program(p)
    made = [report.result(Result(p, seed=n + 1, pm=200, scale=1 + n % 3)) for n in range(min(different, results))]
    totals = [{k: v for k, v in t.items() if k != "rows"} for t in report.truth]
    for n in range(results):
        report.put_block(results=[made[n % len(made)]])
    report.truth = [totals[n % len(made)] for n in range(results)]
    return report


VARIANTS = {"kernel": kernel, "pipeline": pipeline, "functions": functions, "several": several, "old": old, "few": few,
            "no_samples": no_samples}


def check_programs():
    for parts in ([kernels.scale_rows()], [kernels.tiles()], kernels.calls(), kernels.jumps(), [kernels.long_kernel(3)]):
        kernels.check(parts, parts[0].name)


def write(report, path):
    with open(path, "wb") as f:
        f.write(report.finish())
    with open(path + ".truth.json", "w") as f:
        json.dump({"results": report.truth}, f, indent=None, separators=(",", ":"))
        f.write("\n")


def main():
    words = sys.argv[1:]
    check_programs()
    if words == ["--list"]:
        for name, make in VARIANTS.items():
            print(f"{name:<12} {(make.__doc__ or 'one launch').splitlines()[0]}")
    elif len(words) == 2 and words[0] == "--all":
        os.makedirs(words[1], exist_ok=True)
        for name, make in VARIANTS.items():
            write(make(), os.path.join(words[1], name + ".ncu-rep"))
    elif len(words) >= 2 and words[0] == "--large":
        write(large(*map(int, words[2:])), words[1])
    elif len(words) == 2 and words[0] in VARIANTS:
        write(VARIANTS[words[0]](), words[1])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
