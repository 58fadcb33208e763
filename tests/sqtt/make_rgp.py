#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Encodes .rgp files as Mesa's drivers lay them out, around streams and code that our own encoder of thread traces made.

usage: make_rgp.py DATA OUT           DATA: tests/data with sqtt_gfx11 and sqtt_gfx12; OUT gets gfx12.rgp and two.rgp
       make_rgp.py --fuzz DATA OUT    OUT: tests/fuzz/corpus/rgp
"""
import glob
import os
import struct
import sys

LOAD_BASE = 0x7F3A00000000  # where make_sqtt.c lets its code object lie
TEXT_AT = 0x1900            # where its code begins in the file
HASH = 0xF123456789ABCDEF
ASIC, DESC, DATA_CHUNK, API, QUEUES, CLOCK, CPU, OBJECTS, LOADS, PSOS = 0, 1, 2, 3, 5, 6, 7, 9, 10, 11
LEVEL = {11: 0xC, 12: 0x10}
VERSION = {11: 0xB, 12: 0xC}
MACHINE = {11: 0x41, 12: 0x4E}


def msg(v):
    """MessagePack of dicts, lists, strings and numbers, as far as pipelines need it."""
    if isinstance(v, dict):
        return bytes([0x80 | len(v)]) + b"".join(msg(k) + msg(x) for k, x in v.items())
    if isinstance(v, list):
        return bytes([0x90 | len(v)]) + b"".join(map(msg, v))
    if isinstance(v, str):
        return bytes([0xA0 | len(v)]) + v.encode()
    return bytes([v]) if v < 128 else b"\xcf" + struct.pack(">Q", v)


def pipeline_note(hashes):
    stage = {".entry_point": "_amdgpu_cs_main", ".sgpr_count": 16, ".vgpr_count": 24, ".scratch_memory_size": 0,
             ".wavefront_size": 32, ".lds_size": 1024}
    text = msg({"amdpal.version": [2, 1],
                "amdpal.pipelines": [{".spill_threshold": 0xFFFF, ".user_data_limit": 32, ".hardware_stages": {".cs": stage},
                                      ".internal_pipeline_hash": hashes, ".api": "Vulkan"}]})
    text += b"\0" * (-len(text) % 4)
    return struct.pack("<III", 7, len(text), 32) + b"AMDGPU\0\0" + text


def pipeline_elf(text, major, hashes):
    """A relocatable file with the sections .strtab, .text, .symtab, .note; addresses count from the code's first byte."""
    names = b"\0.strtab\0.text\0.symtab\0.note\0_amdgpu_cs_main\0"
    text += b"\0" * (-len(text) % 256)
    symbols = bytes(24) + struct.pack("<IBBHQQ", names.index(b"_amdgpu_cs"), 2, 0, 2, 0, len(text.rstrip(b"\0")) + 3 & ~3)
    body, headers = b"", bytes(64)
    for name, kind, flags, link, align, entry, data in ((b".strtab", 3, 0, 0, 0, 0, names), (b".text", 1, 6, 0, 256, 0, text),
                                                       (b".symtab", 2, 0, 1, 8, 24, symbols),
                                                       (b".note", 7, 0, 0, 4, 0, pipeline_note(hashes))):
        headers += struct.pack("<IIQQQQIIQQ", names.index(name + b"\0"), kind, flags, 0, 64 + len(body), len(data), link, 0, align, entry)
        body += data
    head = b"\x7fELF\2\1\1\x41" + bytes(8) + struct.pack("<HHIQQQIHHHHHH", 1, 224, 1, 0, 0, 64 + len(body), MACHINE[major], 64, 0, 0, 64, 5, 1)
    return head + body + headers


def code_of(elf):
    """The bytes of .text in one of our own code objects: its executable section."""
    at, count = struct.unpack_from("<Q", elf, 40)[0], struct.unpack_from("<H", elf, 60)[0]
    for i in range(count):
        _, kind, flags, address, offset, size = struct.unpack_from("<IIQQQQ", elf, at + 64 * i)
        if kind == 1 and flags & 4:
            assert address == TEXT_AT
            return elf[offset:offset + size]
    raise ValueError("no code")


class Rgp:
    """The chunks of a file; each may be bent before bytes() puts them together."""

    def __init__(self, major):
        self.major, self.chunks, self.version = major, [], (1, 6)

    def add(self, kind, body, index=0, version=(0, 0)):
        """body: bytes, or a function of the chunk's place in the file."""
        self.chunks.append([kind, index, version, body])
        return self

    def asic(self, name=b"incore synthetic"):
        body = struct.pack("<QQQ", 2, 2100000000, 900000000) + struct.pack("<ii", 0x744C, 0)
        body += struct.pack("<12i", 3072, 128, 2, 8, 2, 16, 8, 8, 128, 128, 8, 2) + struct.pack("<i", LEVEL[self.major])
        body += struct.pack("<i", 0) + bytes(24) + struct.pack("<q4i", 16 << 30, 256, 6 << 20, 32 << 10, 64 << 10)
        body += name + bytes(256 - len(name)) + struct.pack("<4f", 0, 0, 2, 0)
        body += struct.pack("<QQQ", 100000000, 2200000000, 1000000000) + struct.pack("<III", 16, 0x13, 512)
        body += struct.pack("<64H", *([0xF] * 4 + [0] * 60)) + bytes(128 + 16 + 16 + 16 + 4)
        assert len(body) == 768 - 16
        return self.add(ASIC, body, version=(0, 5))

    def api(self, mode=1):
        return self.add(API, struct.pack("<IHHII", 1, 0, 0, 0, 0) + bytes(512) + struct.pack("<IIQ", mode, 0, 1), version=(0, 2))

    def objects(self, *elves):
        records = b""
        for elf in elves:
            elf += b"\0" * (-len(elf) % 4)
            records += struct.pack("<I", len(elf)) + elf
        return self.add(OBJECTS, lambda at: struct.pack("<IIII", at, 0, len(records) + 32, len(elves)) + records)

    def loads(self, *events):
        """(base, [hash, hash]) or with a third member, the type: 1 is an unload."""
        records = b"".join(struct.pack("<IIQQQQ", (e + (0,))[2] if len(e) > 2 else 0, 0, e[0], *e[1], 1000 + i)
                           for i, e in enumerate(events))
        return self.add(LOADS, lambda at: struct.pack("<IIII", at, 0, 40, len(events)) + records, version=(1, 0))

    def psos(self, *pairs):
        records = b"".join(struct.pack("<QQQ", api, *hashes) + bytes(64) for api, hashes in pairs)
        return self.add(PSOS, lambda at: struct.pack("<IIII", at, 0, 88, len(pairs)) + records)

    def stream(self, index, se, data):
        data += b"\0" * (-len(data) % 32) if data and len(data) % 32 else b""
        self.add(DESC, struct.pack("<iIhhi", se, VERSION[self.major], 1, 5, 0), index, (0, 2))
        return self.add(DATA_CHUNK, lambda at: struct.pack("<II", at + 24, len(data)) + data, index)

    def others(self):
        self.add(CPU, b"Unknown".ljust(96, b"\0"))
        self.add(QUEUES, struct.pack("<IIII", 0, 0, 0, 0), version=(1, 1))
        return self.add(CLOCK, struct.pack("<QQQ", 1, 2, 0))

    def bytes(self):
        out = struct.pack("<III", 0x50303042, *self.version) + struct.pack("<Ii", 1, 56) + bytes(36)
        for kind, index, (major, minor), body in self.chunks:
            text = body(len(out)) if callable(body) else body
            out += struct.pack("<BBHHHii", kind, index, 0, minor, major, 16 + len(text), 0) + text
        return out


def parts(data, major):
    """Streams by shader engine and the code object of a fixture."""
    folder = os.path.join(data, f"sqtt_gfx{major}", "host")
    streams = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.att"))):
        with open(path, "rb") as f:
            streams[int(path.split("_")[-2])] = f.read()
    with open(glob.glob(os.path.join(folder, "*.out"))[0], "rb") as f:
        return streams, f.read()


def frame(data, major):
    """As the driver leaves it: one pipeline, linked by its hash."""
    streams, elf = parts(data, major)
    r = Rgp(major).others().asic().api()
    r.objects(pipeline_elf(code_of(elf), major, [HASH, HASH])).loads((LOAD_BASE + TEXT_AT, [HASH, HASH])).psos((HASH, [HASH, HASH]))
    for i, se in enumerate(sorted(streams)):
        r.stream(i, se, streams[se])
    return r


def two(data):
    """Two pipelines, the second never run; one load is of a pipeline that the file does not hold."""
    streams, elf = parts(data, 12)
    other = HASH ^ 0xFF
    r = Rgp(12).asic().api()
    r.objects(pipeline_elf(code_of(elf)[:64], 12, [other, other]), pipeline_elf(code_of(elf), 12, [HASH, HASH]))
    r.loads((LOAD_BASE + 0x100000, [other, other]), (LOAD_BASE + TEXT_AT, [HASH, HASH]), (LOAD_BASE + 0x200000, [5, 5]))
    for i, se in enumerate(sorted(streams)):
        r.stream(i, se, streams[se])
    return r


def small(data, major, *rest):
    """One engine, the begin of its stream."""
    streams, elf = parts(data, major)
    r = Rgp(major).asic().api(0)
    for add in rest:
        add(r, code_of(elf))
    return r.stream(3, 1, streams[0][:640])


def corpus(data):
    def code(r, text):
        r.objects(pipeline_elf(text, r.major, [HASH, 1]))

    def two_codes(r, text):
        r.objects(pipeline_elf(text, r.major, [HASH, 1]), pipeline_elf(text[:16], r.major, [7, 7]), b"\x7fELF")

    def load(r, text):
        r.loads((LOAD_BASE + TEXT_AT, [HASH, 1]), (LOAD_BASE, [7, 7]), (0, [8, 8], 1))

    def pso(r, text):
        r.loads((LOAD_BASE + TEXT_AT, [9, 9])).psos((9, [HASH, 1]))

    yield "frame", frame(data, 11)
    yield "linked", small(data, 12, code, load)
    yield "several", small(data, 12, two_codes, load)
    yield "correlated", small(data, 11, two_codes, pso)
    yield "no_code", small(data, 11, load)
    yield "no_load", small(data, 12, code)
    yield "no_stream", Rgp(12).others().asic()
    yield "empty_stream", Rgp(12).stream(0, 0, b"")


def main():
    is_fuzz = sys.argv[1] == "--fuzz"
    data, out = sys.argv[1 + is_fuzz:]
    os.makedirs(out, exist_ok=True)
    for name, r in corpus(data) if is_fuzz else (("gfx12", frame(data, 12)), ("two", two(data))):
        with open(os.path.join(out, name if is_fuzz else name + ".rgp"), "wb") as f:
            f.write(r.bytes())


if __name__ == "__main__":
    main()
