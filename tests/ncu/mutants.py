# SPDX-License-Identifier: Apache-2.0
"""Damaged reports, made by the generator: a wrong number, length, reference or code in an otherwise sound file."""
import struct

import facts
import kernels
import make_report as made
from wire import block, double, framed, number, value, varint

MOST = (1 << 64) - 1
CALLED = b"\0\3\x90\5\0"  # the first inlined call of the line table
# must be refused (exit status 3), must be read with a note about it, may be either, or is as good as sound
REFUSED, NOTED, TOLD, SOUND = "refused", "noted", "told", "sound"


def same(message):
    return message


def program(change=same, **more):
    """A module whose ELF is changed."""
    p = made.Program(1, [kernels.scale_rows()], **more)
    p.elf = change(p.elf)
    return p


def report(p=None, source=same, result=same, head=b"", after=b""):
    """kernel.ncu-rep with a changed source or result message; head: fields added to the result's block header."""
    p = p or program()
    r = made.Report()
    for message in p.messages():
        r.put_block(sources=[source(message)])
    body = result(r.result(made.Result(p)))
    r.put_block(results=[body])
    if head:
        r.out[-2] = framed(r.out[-2][4:] + head)
    return r.finish() + after


def metric(name_id, *fields):
    """A metric added to the result."""
    return lambda m: m + block(13, number(1, name_id) + b"".join(fields))


def instance(address, n):
    return block(3, block(1, number(5, address)) + block(2, n))


def late_metric(name, make):
    """A metric of its own name: make(report) is the bytes after its id."""
    p = program()
    r = made.Report()
    r.add_program(p)
    r.put_block(results=[r.result(made.Result(p)) + r.metric(name, None, make)])
    return r.finish()


class Odd(made.Report):
    """A report whose metric `name` has further instances."""

    def __init__(self, name, extra):
        self.odd_name, self.extra = name, extra
        super().__init__()

    def metric(self, name, x=None, instances=b"", kind=0, field=13):
        return super().metric(name, x, instances + (self.extra if name == self.odd_name else b""), kind, field)


def with_instances(name, extra):
    r, p = Odd(name, extra), program()
    r.add_program(p)
    r.add_result(made.Result(p))
    return r.finish()


def with_value(name, x):
    """A fact of the sampler with another value."""
    known = facts.sampling_facts
    facts.sampling_facts = lambda result: {**known(result), name: x}
    try:
        return report()
    finally:
        facts.sampling_facts = known


def swap(old, new):
    """In the ELF: the bytes must be there."""
    def change(elf):
        assert old in elf, old
        return elf.replace(old, new, 1)
    return change


def at(offset, data):
    return lambda elf: elf[:offset] + data + elf[offset + len(data):]


def of_section(name, change):
    """Changes the bytes of a section that keeps its size."""
    def patch(elf):
        table, = struct.unpack_from("<Q", elf, 40)
        n, names = struct.unpack_from("<HH", elf, 60)
        heads = [struct.unpack_from("<IIQQQQIIQQ", elf, table + 64 * k) for k in range(n)]
        for h in heads:
            start = heads[names][4] + h[0]
            if elf[start:elf.index(b"\0", start)].decode() == name:
                data = change(elf[h[4]:h[4] + h[5]])[:h[5]]
                return elf[:h[4]] + data.ljust(h[5], b"\0") + elf[h[4] + h[5]:]
        raise ValueError(name)
    return patch


def renamed(kernel):
    """A kernel of another name."""
    f = kernels.scale_rows()
    f.name = kernel
    return report(made.Program(1, [f]))


def functions_named(*fields):
    """A further function in the source."""
    return lambda m: m + block(9, block(1, b"".join(fields)))


def cases():
    """name, bytes, what may happen."""
    sound = report()
    base = made.WARP_LOADS + 0x100000
    first_block = 8 + struct.unpack_from("<I", sound, 4)[0]
    long_run = bytes([0x80] * 10 + [1])
    yield "sound", sound, SOUND
    yield "empty", b"", REFUSED
    yield "magic-alone", sound[:4], REFUSED
    yield "no-block", sound[:first_block], REFUSED
    yield "header-too-long", sound[:4] + struct.pack("<I", MOST >> 32) + sound[8:], REFUSED
    yield "block-too-long", sound[:first_block] + struct.pack("<I", 0x7FFFFFFF) + sound[first_block + 4:], REFUSED
    yield "version-8", sound[:4] + framed(number(1, 8)) + sound[first_block:], TOLD
    yield "version-none", sound[:4] + framed(b"") + sound[first_block:], TOLD
    for share in (1, 2, 3):
        yield f"cut-{share}-of-4", sound[:len(sound) * share // 4], TOLD
    yield "cut-one-byte", sound[:-1], TOLD
    yield "rest-after-end", sound + b"\1\2", TOLD
    yield "payload-too-long", report(head=number(5, MOST)), REFUSED
    yield "payload-too-short", report(head=number(5, 100)), REFUSED
    yield "too-many-results", report(head=number(2, 1 << 30)), REFUSED
    yield "too-many-sources", report(head=number(1, 1 << 30)), REFUSED
    yield "ranges-not-there", report(head=number(7, 3)), REFUSED
    yield "varint-of-11-bytes", report(result=lambda m: m + b"\x10" + long_run), REFUSED
    yield "varint-cut", report(result=lambda m: m + b"\x10\x80"), REFUSED
    for kind in (3, 4, 6, 7):
        yield f"wire-type-{kind}", report(result=lambda m, kind=kind: m + varint(99 << 3 | kind)), REFUSED
    yield "field-0", report(result=lambda m: m + b"\0\1"), REFUSED
    yield "length-beyond-message", report(result=lambda m: m + b"\x6a\xff\xff\xff\x7f"), REFUSED
    yield "text-as-number", report(result=lambda m: m + number(5, 7)), TOLD
    yield "grid-as-text", report(result=lambda m: m + block(10, "many")), TOLD
    yield "name-id-out-of-table", report(result=metric(1 << 20, block(2, value(1)))), TOLD
    yield "name-id-over-32-bits", report(result=metric(1 << 40, block(2, value(1)))), TOLD
    yield "metric-without-name", report(result=lambda m: m + block(13, block(2, value(1)))), TOLD
    yield "metric-empty", report(result=lambda m: m + block(13, b"")), TOLD
    yield "value-empty", late_metric("odd__metric", block(2, b"")), SOUND
    yield "instance-empty", late_metric("odd__metric", block(3, b"")), SOUND
    yield "instance-without-value", late_metric("odd__metric", block(3, block(1, number(5, base)))), SOUND
    yield "instance-nowhere", late_metric("odd__metric", instance(5, value(9))), SOUND
    yield "instances-mixed", late_metric("odd__metric", instance(base, value(9)) + block(3, block(1, block(1, "x")) + block(2, value(1.5)))), SOUND
    name = "smsp__pcsamp_warps_issue_stalled_misc"
    for what, address, n in (("twice", base, 5), ("nowhere", 0x1234560, 5), ("between", base + 3, 5), ("last-address", MOST - 15, 5),
                             ("most", base + 16, MOST), ("behind-code", base + 0x10000, 5)):
        yield f"samples-{what}", with_instances(name, instance(address, value(n))), NOTED if n == MOST else TOLD
    yield "part-over-whole", with_instances(name + "_not_issued", instance(base + 16, value(5))), NOTED
    yield "metric-twice", late_metric(name, instance(base, value(5))), SOUND
    yield "samples-as-double", with_instances(name, instance(base, double(3, 2.5))), TOLD
    yield "samples-as-text", with_instances(name, instance(base, block(1, "five"))), TOLD
    yield "samples-at-text", with_instances(name, block(3, block(1, block(1, "IMAD")) + block(2, value(4)))), TOLD
    yield "executed-most", with_instances("inst_executed", instance(base, value(MOST)) + instance(base + 16, value(MOST))), NOTED
    for what, x in (("zero", 0.0), ("negative", -1.0), ("nan", float("nan")), ("infinite", float("inf")), ("huge", 1e300), ("text", "often")):
        yield f"period-{what}", with_value("smsp__pcsamp_interval_cycles", x), TOLD
    yield "series-backwards", late_metric("TPC.TriageCompute.odd.avg", number(4, 1) + b"".join(
        block(3, block(1, number(5, made.PM_START_NS - n)) + block(2, value(1.0))) for n in range(5))), TOLD
    yield "series-nan", late_metric("TPC.TriageCompute.odd.avg", number(4, 1) + b"".join(
        block(3, block(1, number(5, made.PM_START_NS + n)) + block(2, value(float("nan")))) for n in range(5))), TOLD
    yield "source-unknown", report(result=lambda m: m + block(15, number(1, 42))), TOLD
    yield "source-without-id", report(source=lambda m: m[varint_size(m):]), NOTED
    yield "source-twice", report(source=lambda m: m + m), SOUND
    yield "cubin-missing", report(program(lambda e: b"")), NOTED
    yield "cubin-garbage", report(program(lambda e: bytes(range(256)) * 8)), NOTED
    for share in (1, 2, 3):
        yield f"cubin-cut-{share}", report(program(lambda e, share=share: e[:len(e) * share // 4])), NOTED
    yield "cubin-of-32-bits", report(program(at(4, b"\1"))), NOTED
    yield "cubin-of-another-machine", report(program(at(18, struct.pack("<H", 62)))), NOTED
    yield "cubin-of-unknown-sm", report(program(at(48, struct.pack("<I", 0xFF00FF04)))), TOLD
    yield "cubin-sections-beyond", report(program(at(40, struct.pack("<Q", 1 << 60)))), NOTED
    yield "cubin-sections-65535", report(program(at(60, b"\xff\xff"))), NOTED
    yield "symbols-garbage", report(program(of_section(".symtab", lambda d: b"\xff" * len(d)))), TOLD
    yield "text-all-ones", report(program(of_section(".text._Z10scale_rowsPKfPfi", lambda d: b"\xff" * len(d)))), SOUND
    yield "text-all-zeros", report(program(of_section(".text._Z10scale_rowsPKfPfi", lambda d: bytes(len(d))))), SOUND
    yield "lines-garbage", report(program(of_section(".debug_line", lambda d: d[:60] + b"\xff" * len(d)))), TOLD
    yield "lines-range-0", report(program(of_section(".debug_line", lambda d: d[:13] + b"\0" + d[14:]))), NOTED
    yield "lines-unit-too-long", report(program(of_section(".debug_line", lambda d: b"\xf0\xff\xff\x7f" + d[4:]))), NOTED
    yield "lines-version-9", report(program(of_section(".debug_line", lambda d: d[:4] + b"\x09\0" + d[6:]))), NOTED
    yield "inline-context-beyond", report(program(swap(CALLED, b"\0\3\x90\x7f\0"))), TOLD
    yield "inline-context-itself", report(program(swap(CALLED, b"\0\3\x90\6\0"))), TOLD
    yield "inline-name-beyond", report(program(swap(CALLED, b"\0\3\x90\5\x7f"))), TOLD
    yield "relocation-nowhere", report(program(of_section(".rela.debug_line", lambda d: d[:8] + b"\2\0\0\0\xff\xff\xff\x7f" + d[16:]))), TOLD
    yield "function-without-name", report(source=functions_named(number(2, base + 0x5000))), TOLD
    yield "function-unknown", report(source=functions_named(block(1, "nobody"), number(2, base + 0x5000), number(3, 99))), TOLD
    yield "function-at-the-end", report(source=functions_named(block(1, "_Z10scale_rowsPKfPfi"), number(2, MOST - 31))), TOLD
    yield "functions-overlap", report(source=functions_named(block(1, "_Z10scale_rowsPKfPfi"), number(2, base + 16), number(3, 1))), TOLD
    yield "kernel-name-empty", renamed(""), TOLD
    yield "kernel-name-escape", renamed("k\x1b[31mred\x07\n"), SOUND
    yield "kernel-name-long", renamed("k" * 70000), SOUND
    yield "kernel-name-not-utf8", report(result=lambda m: m + block(6, b"\xff\xfe\x80") + block(7, b"\xc3\x28")), SOUND
    yield "no-results", made.Report().finish(), REFUSED


def varint_size(m):
    """Bytes of the first field of a message, a number."""
    n = 1
    while m[n] & 128:
        n += 1
    return n + 1


def random_cases(count, seed=1):
    """Flipped bytes and cuts at places that are the same on every machine."""
    sound, numbers = report(), made.random_numbers(seed)

    def place():
        return (next(numbers) << 16 | next(numbers)) % len(sound)

    for n in range(count):
        data = bytearray(sound)
        for _ in range(1 + next(numbers) % 4):
            data[place()] = next(numbers) & 255
        if n % 5 == 0:
            at_byte = place()
            del data[at_byte:at_byte + next(numbers) % 64]
        yield f"random-{seed}-{n}", bytes(data)
