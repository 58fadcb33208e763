# SPDX-License-Identifier: Apache-2.0
"""A cubin as the tool chain leaves it: an ELF with a .text section per function, symbols, .nv.info, and the line table with inlined calls."""
import os
import struct

from wire import varint

MACHINE = 190
# ABI of the file: EI_OSABI, EI_ABIVERSION, e_flags of sm_90
CUDA12, CUDA13 = (0x33, 7, 0x5A055A), (0x41, 8, 0x0A005A04)
PROGBITS, SYMTAB, STRTAB, RELA, NOBITS, NV_INFO = 1, 2, 3, 4, 8, 0x70000000
REGCOUNT, FRAME_SIZE, EXIT_OFFSETS, JUMP_TABLES = 0x2F, 0x11, 0x1C, 0x34
ABS47_34 = 58  # relocation: the function that a call is for
LINE_BASE, LINE_RANGE, OPCODE_BASE = -5, 14, 10


class Strings:
    """Zero-terminated texts, each once."""

    def __init__(self, first=b"\0"):
        self.data, self.at = first, {"": 0} if first else {}

    def add(self, text):
        if text not in self.at:
            self.at[text] = len(self.data)
            self.data += text.encode() + b"\0"
        return self.at[text]


def sleb(n):
    out = bytearray()
    while True:
        byte, n = n & 127, n >> 7
        if n == (-1 if byte & 64 else 0):
            return bytes(out + bytes([byte]))
        out.append(byte | 128)


class Lines:
    """One unit of .debug_line (DWARF 2) with the vendor's extended opcode for inlined calls."""

    def __init__(self, files, strings):
        self.files, self.strings, self.program, self.fixups, self.rows = files, strings, b"", [], 0

    def extended(self, opcode, data):
        self.program += b"\0" + varint(1 + len(data)) + bytes([opcode]) + data

    def move(self, address, file, line):
        """Brings the machine to a place; the row itself is one more opcode."""
        if file != self.file:
            self.program += b"\4" + varint(file)
        if line != self.line:
            self.program += b"\3" + sleb(line - self.line)
        if address != self.address:
            self.program += b"\2" + varint(address - self.address)
        self.address, self.file, self.line = address, file, line

    def row(self, address, file, line):
        step, delta = address - self.address, line - self.line - LINE_BASE
        special = delta + LINE_RANGE * step + OPCODE_BASE
        if file == self.file and 0 <= delta < LINE_RANGE and special < 256:
            self.program += bytes([special])
            self.address, self.line = address, line
        else:
            self.move(address, file, line)
            self.program += b"\1"
        self.rows += 1

    def function(self, f, symbol):
        """A sequence; its address is a relocation against the symbol."""
        self.extended(2, bytes(8))
        self.fixups.append((len(self.program) - 8, symbol))
        self.address, self.file, self.line, self.rows = 0, 1, 1, 0  # rows are counted in each sequence
        last, inside = None, False
        for n, i in enumerate(f.insts):
            if (i.line, i.inlined) == last:
                continue
            last = (i.line, i.inlined)
            if inside:
                self.extended(0x90, b"\0\0")
            self.row(16 * n, 1, i.line)
            inside = bool(i.inlined)
            for name, line in i.inlined:  # each at the row that called it
                self.extended(0x90, varint(self.rows) + varint(self.strings.add(name)))
                self.row(16 * n, 2, line)
        self.move(16 * len(f.insts), self.file, self.line)
        self.extended(1, b"")

    def section(self):
        """Bytes, and the relocations as (offset, symbol)."""
        folders = sorted({os.path.dirname(p) for p in self.files})
        head = bytes([1, 1, LINE_BASE & 255, LINE_RANGE, OPCODE_BASE, 0, 1, 1, 1, 1, 0, 0, 0, 1])
        head += b"".join(d.encode() + b"\0" for d in folders) + b"\0"
        for p in self.files:
            head += os.path.basename(p).encode() + b"\0" + varint(folders.index(os.path.dirname(p)) + 1) + b"\0\0"
        head += b"\0"
        data = struct.pack("<HI", 2, len(head)) + head
        at = 4 + len(data)
        data += self.program
        return struct.pack("<I", len(data)) + data, [(at + offset, symbol) for offset, symbol in self.fixups]


class Elf:
    """Sections in order; a name's index is known once it was added."""

    def __init__(self):
        self.sections = [("", 0, 0, b"", 0, 0, 1, 0)]

    def add(self, name, kind, data, flags=0, link=0, info=0, align=1, entry=0):
        self.sections.append((name, kind, flags, data, link, info, align, entry))
        return len(self.sections) - 1

    def write(self, abi):
        names, out, heads = Strings(), bytearray(64), []
        for name, *_ in self.sections:
            names.add(name)
        for name, kind, flags, data, link, info, align, entry in self.sections:
            if name == ".shstrtab":
                data = names.data
            out += bytes(-len(out) % align)
            size = data if kind == NOBITS else len(data)
            heads.append(struct.pack("<IIQQQQIIQQ", names.add(name), kind, flags, 0, len(out), size, link, info, align, entry))
            out += b"" if kind == NOBITS else data
        out += bytes(-len(out) % 8)
        os_abi, abi_version, e_flags = abi
        out[:64] = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1" + bytes([os_abi, abi_version]), 2, MACHINE, 1, 0, 0, len(out), e_flags, 64,
                               56, 0, 64, len(heads), 1)
        heads[0] = bytes(64)
        return bytes(out) + b"".join(heads)


def attribute(kind, *words):
    return struct.pack("<BBH", 4, kind, 4 * len(words)) + struct.pack(f"<{len(words)}I", *words)


def make(functions, addresses, files, abi=CUDA13, has_lines=True):
    """The ELF, and {function: index of its symbol}."""
    elf, strtab = Elf(), Strings()
    elf.add(".shstrtab", STRTAB, b"")
    text = {f.name: 7 + 3 * n for n, f in enumerate(functions)}  # where the loop below will put it
    symbols, n_local = [bytes(24)], 1
    for f in functions:
        for k, (name, first) in enumerate(f.local):
            last = f.local[k + 1][1] if k + 1 < len(f.local) else len(f.insts)
            symbols.append(struct.pack("<IBBHQQ", strtab.add(name), 0x22, 0, text[f.name], 16 * first, 16 * (last - first)))
            n_local += 1
    index = {}
    for f in functions:
        index[f.name] = len(symbols)
        symbols.append(struct.pack("<IBBHQQ", strtab.add(f.name), 0x12, 0x10, text[f.name], 0, f.size))
    elf.add(".strtab", STRTAB, strtab.data)
    elf.add(".symtab", SYMTAB, b"".join(symbols), link=2, info=n_local, align=8, entry=24)
    strings = Strings(b"")  # the first name has offset 0
    lines = Lines(files, strings)
    for f in functions if has_lines else ():
        lines.function(f, index[f.name])
    data, fixups = lines.section() if has_lines else (b"", [])
    elf.add(".debug_line" if has_lines else ".debug_none", PROGBITS, data)
    elf.add(".debug_str", PROGBITS, strings.data)
    info = b"".join(attribute(REGCOUNT, index[f.name], f.regs) + attribute(FRAME_SIZE, index[f.name], 0) for f in functions)
    elf.add(".nv.info", NV_INFO, info, link=3, align=4)
    for f in functions:
        at = elf.add(".text." + f.name, PROGBITS, f.code(addresses), flags=6, link=3, info=index[f.name], align=128)
        assert at == text[f.name]
        exits = [16 * n for n, i in enumerate(f.insts) if i.op == "EXIT"]
        tables = [w for n, i in enumerate(f.insts) if i.op == "BRX" for w in (16 * n, 0, len(i.target), *[16 * f.labels[t] for t in i.target])]
        data = attribute(EXIT_OFFSETS, *exits) + (attribute(JUMP_TABLES, *tables) if tables else b"")
        elf.add(".nv.info." + f.name, NV_INFO, data, flags=0x40, link=3, info=at, align=4)
        elf.add(".nv.shared." + f.name, NOBITS, f.shared, flags=0x43, info=at, align=16)
    rela = b"".join(struct.pack("<QQq", offset, symbol << 32 | 2, 0) for offset, symbol in fixups)
    elf.add(".rela.debug_line" if has_lines else ".rela.none", RELA, rela, flags=0x40, link=3, info=4, align=8, entry=24)
    for f in functions:
        calls = [(16 * n, index[i.target]) for n, i in enumerate(f.insts) if i.op == "CALL.RELOCATED"]
        if calls:
            rela = b"".join(struct.pack("<QQq", offset, symbol << 32 | ABS47_34, 0) for offset, symbol in calls)
            elf.add(".rela.text." + f.name, RELA, rela, flags=0x40, link=3, info=text[f.name], align=8, entry=24)
    return elf.write(abi), index
