#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes corpus/sqtt_gfx9 and corpus/sqtt_gfx10: small streams with one of each token, made by hand.

usage: sqtt_corpus.py
"""
import os
import struct

HERE = os.path.dirname(os.path.abspath(__file__))
# s_load, s_waitcnt, v_mov, s_barrier, global_load, s_waitcnt, s_cbranch back, s_endpgm
CODE9 = [0xC0020000, 0, 0xBF8CC07F, 0x7E000280, 0xBF8A0000, 0xDC508000, 0x00000000, 0xBF8C0F70, 0xBF85FFFA, 0xBF810000]
# s_load, s_waitcnt, v_mov, s_delay_alu, s_barrier, global_load, s_cbranch back, s_setpc, s_endpgm
CODE11 = [0xF4000000, 0, 0xBF89FC07, 0x7E000280, 0xBF870001, 0xBFBD0000, 0xDC520000, 0, 0xBFA1FFFB, 0xBE804800,
          0xBFB00000]
# the same with s_barrier_signal, s_barrier_wait
CODE12 = [0xF4000000, 0, 0xBFC70000, 0x7E000280, 0xBE804EC1, 0xBF94FFFF, 0xEE050000, 0, 0, 0xBFA1FFFB, 0xBFB00000]


def put(folder, name, rules, code, stream):
    out = os.path.join(HERE, "corpus", folder)
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, name), "wb") as f:
        f.write(bytes([rules, len(code)]) + struct.pack(f"<{len(code)}I", *code) + stream)


def gfx9():
    def misc(delta, kind=0):
        return struct.pack("<H", delta << 4 | kind << 13)

    def reg(addr, data):
        return struct.pack("<Q", 2 | 1 << 4 | 1 << 15 | addr << 16 | data << 32)

    def cs(which, data):
        return struct.pack("<Q", 5 | which << 9 | data << 16)[:6]

    def issue(*codes, simd=0):
        return struct.pack("<I", 13 | 1 << 4 | simd << 5 | sum(c << (8 + 2 * k) for k, c in enumerate(codes)))

    def inst(kind, slot=0):
        return struct.pack("<H", 10 | 1 << 4 | slot << 5 | kind << 11)

    start = struct.pack("<I", 3 | 1 << 18 | 1 << 22)
    end = struct.pack("<H", 6)
    head = misc(255, 1) + struct.pack("<Q", 1 | 5000 << 16) + cs(0x0C, 0x1000) + cs(0x0D, 0) + start
    body = (issue(2) + inst(0) + misc(40) + issue(3) + issue(2) + inst(5) + issue(1) + issue(2) + inst(15) + misc(30) +
            issue(3) + issue(2) + inst(14) + issue(3) + issue(2) + inst(12) + issue(2) + inst(5))
    tail = issue(2) + inst(15) + misc(20) + end
    marker = b"".join(reg(0xC342, w) for w in (0x434F5200, 0x104, 4096, 0x204, 0x100000, 0x304, 0, 0x504, 1, 0x004, 2))
    real = b"".join(reg(0xC343, w) for w in (5, 10, 0, 12)) + reg(0xC342, 6 | 100000 << 12) + reg(0xC342, 0x106 | 64 << 12)
    perf = struct.pack("<Q", 14 | 1 << 6 | 77 << 12)
    odd = (misc(0, 6) + struct.pack("<I", 3 | 70 << 22) * 2 + inst(7) + struct.pack("<Q", 11 | 0x40000 << 16) + inst(29) +
           inst(7) + issue(2, 2) + inst(2) + inst(19) + inst(8) + misc(0, 2) + misc(0, 4))
    data = struct.pack("<Q", 12 | 99 << 16)[:6]
    for rules in range(3):
        put("sqtt_gfx9", f"wave_{rules}", rules, CODE9, head + body + tail)
        put("sqtt_gfx9", f"markers_{rules}", rules, CODE9, marker + real + head + body + perf * 3 + data + tail)
        put("sqtt_gfx9", f"odd_{rules}", rules, CODE9, head + body + odd + body)
        put("sqtt_gfx9", f"cut_{rules}", rules, CODE9, (head + body)[:-1])


class Bits:
    def __init__(self):
        self.value, self.n = 0, 0

    def put(self, bits, *fields):
        word = 0
        for at, value in fields:
            word |= value << at
        self.value |= word << self.n
        self.n += bits
        return self

    def bytes(self):
        return self.value.to_bytes((self.n + 7) // 8, "little")


def gfx10(major):
    b, new = Bits(), major >= 12

    def reg(addr, data, is_cs=1):
        b.put(64, (0, 9), (9, 1), (15, is_cs), (16, addr), (32, data))

    def start(wave, count=127, prefix=0x0C, bits=32):
        b.put(bits, (0, prefix), (5, 1), (15 if new else 13, wave), (22 if new else 23, 1), (25, count))

    def inst(wave, code):
        if new:
            b.put(20, (0, 2), (3, 2), (7, wave), (12, code))
        else:
            b.put(20, (0, 2), (4, 2), (8, wave), (13, code & 127))

    for word in (0x434F5200, 0x104, 4096, 0x204, 0x100000, 0x504, 1, 0x004, 0):
        reg(0xC342, word, 0)
    reg(0xC, 0x1000)
    reg(0xD, 0)
    start(0)
    start(1)
    b.put(24, (0, 0x14), (5, 2), (8, 3))
    inst(0, 1)
    b.put(12, (0, 0xD), (4, 5), (7, 0))
    b.put(12, (0, 3), (3, 1), (7, 0))
    inst(0, 19)
    inst(0, 122 if new else 9)
    b.put(24, (0, 4), (5, 1), (8, 3))
    for code in (49, 3, 5, 6, 117, 80, 88):
        inst(0, code)
    b.put(72 if new else 64, (0, 0x21), (11, 0), (16, 0x40000))
    b.put(8, (0, 8), (4, 9))
    b.put(48 if major == 11 else 64, (0, 1), (7, 1), (9, 1), (14, 2), (16, 5000))
    b.put(24, (0, 0x51), (7, 3), (16, 9))
    b.put(56 if new else 52, (0, 6), (8, 0), (22, 77))
    b.put(40 if new else 48, (0, 0x1C), (25, 100))
    start(1, 66)
    start(1, 68)
    for wave in (0, 1, 2):
        b.put(20, (0, 0x15), (5, 3), (15, wave))
    return b.bytes()


def main():
    gfx9()
    for i, (major, code) in enumerate(((10, CODE11), (11, CODE11), (12, CODE12), (12, CODE12))):
        stream = gfx10(major)
        for rules in range(3):
            put("sqtt_gfx10", f"all_{i}_{rules}", i << 4 | 0x40 | rules, code, stream)
            put("sqtt_gfx10", f"cut_{i}_{rules}", i << 4 | rules, code, stream[:-3 - rules])


if __name__ == "__main__":
    main()
