# SPDX-License-Identifier: Apache-2.0
"""Instructions of sm_90 for tests, as 128-bit words: a few of each class, control codes set by the caller. Written from the
description of the encoding, apart from the decoder in src/isa.

Register fields: Rd at bit 16, Ra at 24, Rb at 32, Rc at 64. Guard predicate at 12 (7: always), its negation at 15. Relative targets are
in units of 4 bytes from the next instruction: the low 8 bits at 16, the rest, signed, at 34."""
import struct

NONE = 7  # no scoreboard
RZ = 255
# name: (bits, register fields that it has)
OPS = {
    "LDC": (0x00000800_00000A00FF000B82, "d"),
    "S2R": (0x00002100_0000000000000919, "d"),
    "S2UR": (0x00002500_00000000000009C3, "d"),
    "CS2R": (0x0001FF00_0000000000000805, "d"),
    "MOV": (0x00000F00_0000000000000802, "di"),
    "IADD3": (0x07FFE000_0000000000000210, "dabc"),
    "IMAD": (0x078E0200_0000000000000224, "dabc"),
    "IMAD.WIDE": (0x078E0200_0000000400000825, "dac"),
    "LOP3.LUT": (0x078EC000_0000000000000212, "dabc"),
    "ISETP": (0x03F06270_000000000000020C, "ab"),
    "FADD": (0x00000000_0000000000000221, "dab"),
    "FMUL": (0x00400000_0000000000000220, "dab"),
    "FFMA": (0x00000000_0000000000000223, "dabc"),
    "MUFU.EX2": (0x00000800_0000000000000308, "db"),
    "SHFL": (0x000E0000_0E001F0000000F89, "da"),
    "LDG": (0x0C1E1900_0000000800000981, "da"),
    "STG": (0x0C101908_0000000000000986, "ab"),
    "LDS": (0x00000800_0000000000000984, "da"),
    "STS": (0x00000800_0000000000000388, "ab"),
    "ATOMG": (0x081EE1CE_00000000000009A8, "dab"),
    "RED": (0x0C10E18E_000000000000098E, "ab"),
    "LDL": (0x00100800_0000000000000983, "da"),
    "STL": (0x00100800_0000000000000387, "ab"),
    "HMMA": (0x00001800_000000000000023C, "dabc"),
    "LDSM": (0x00000200_000000000000083B, "da"),
    "LDGSTS": (0x08101C08_0000000000000FAE, "da"),
    "LDGDEPBAR": (0x00000000_00000000000009AF, ""),
    "DEPBAR.LE": (0x00000000_000080000000091A, "n"),
    "BAR.SYNC": (0x00010000_0000000000000B1D, ""),
    "WARPGROUP.ARRIVE": (0x00000000_00000000000009C5, ""),
    "WARPGROUP.DEPBAR": (0x00010000_00008000000009C5, "g"),
    "HGMMA": (0x08701818_41E00000081809F0, ""),
    "HGMMA.gsb0": (0x08001818_41E00000081809F0, ""),
    "BSSY": (0x03800000_0000000000000945, "t32"),
    "BSYNC": (0x03800000_0000000000000941, ""),
    "BRA": (0x03800000_0000000000000947, "t"),
    "CALL.REL": (0x03C00000_0000000000000944, "t"),
    "CALL.ABS": (0x03C00000_0000000000000943, "A"),
    "BRX": (0x03800000_0000000000000949, "ar"),
    "CALL.RELOCATED": (0x03C00000_0000000000000944, ""),  # the loader puts its target in
    "RET": (0x03C00000_0000000000000950, "ar"),
    "EXIT": (0x03800000_000000000000094D, ""),
    "NOP": (0x00000000_0000000000000918, ""),
    "UNKNOWN": (0x00000000_0000000000000BFF, ""),  # an opcode that no table has
}


def control(stall, writes, reads, waits, reuse=0, stays=1):
    """The upper bits: see the fields of the architecture's control codes; `stays` 0 asks for another warp."""
    return stall << 105 | stays << 109 | writes << 110 | reads << 113 | waits << 116 | reuse << 122


def relative(distance):
    """The bits of a target that is `distance` bytes after the next instruction."""
    units = distance // 4 & (1 << 56) - 1
    return (units & 255) << 16 | (units >> 8) << 34


def encode(i, address, target=None, base=0):
    """i: an Inst of program.py. address and target: bytes in the section; base: where the section's function returns to."""
    bits, fields = OPS[i.op]
    regs = list(i.regs) + [RZ] * 4
    for letter, at in (("d", 16), ("a", 24), ("b", 32), ("c", 64)):
        if letter in fields.replace("t32", ""):
            bits |= regs.pop(0) << at
    bits |= i.guard << 12
    if "i" in fields:
        bits |= (i.number & 0xFFFFFFFF) << 32
    if "n" in fields:  # scoreboard and how many may be left
        bits |= i.counter << 44 | i.number << 38
    if "g" in fields:
        bits |= i.number << 72
    if "A" in fields:
        bits |= target << 32
    elif fields == "t32":
        bits |= (target - address - 16 & 0xFFFFFFFF) << 32
    elif "r" in fields:
        bits |= relative(base - address - 16)
    elif fields == "t":
        bits |= relative(target - address - 16)
    mask = sum(1 << k for k in i.waits)
    bits |= control(i.stall, i.writes, i.reads, mask)
    return struct.pack("<QQ", bits & (1 << 64) - 1, bits >> 64)
