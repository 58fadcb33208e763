#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes corpus/packed: packed files of the small fixtures, whole, cut and with bytes changed.

usage: packed_corpus.py PROGRAM
"""
import os
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(os.path.dirname(HERE), "data")
OUT = os.path.join(HERE, "corpus", "packed")


def uncompressed(data):
    """The same file with raw sections, so that a fuzzer reaches their content. (Checksums are then wrong; the
    fuzz build does not look at them.)"""
    trailer = bytearray(data[-64:])
    table_at, n = struct.unpack_from("<QI", trailer)
    table, out = bytearray(data[table_at:table_at + 40 * n]), b""
    first = min(struct.unpack_from("<Q", table, 40 * i + 8)[0] for i in range(n))
    for i in range(n):
        ident, codec, at, stored, raw, check = struct.unpack_from("<IIQQQQ", table, 40 * i)
        body = data[at:at + stored]
        if codec:
            body = subprocess.run(["zstd", "-dc"], input=body, check=True, stdout=subprocess.PIPE).stdout
        struct.pack_into("<IIQQQQ", table, 40 * i, ident, 0, first + len(out), len(body), len(body), check)
        out += body
    struct.pack_into("<Q", trailer, 0, first + len(out))
    struct.pack_into("<Q", trailer, 16, first + len(out) + len(table) + 64)
    return data[:first] + out + bytes(table) + bytes(trailer)


def put(name, data):
    with open(os.path.join(OUT, name), "wb") as f:
        f.write(data)


def main():
    os.makedirs(OUT, exist_ok=True)
    for fixture in ("two_waves", "pc_sampling", "v31", "shell_empty", "bad_wave", "inline"):
        data = subprocess.run([sys.argv[1], "pack", "-q", fixture, "-o", "-"], cwd=DATA, check=True,
                              stdout=subprocess.PIPE).stdout
        put(fixture, data)
        put("raw_" + fixture, uncompressed(data))
        if fixture == "two_waves":
            put("cut", data[:len(data) // 2])
            put("no_trailer", data[:-64])
            for at in (8, 100, 400, len(data) - 200, len(data) - 40):
                put(f"changed_{at if at < 1000 else at - len(data)}", data[:at] + b"\xff\x7f" + data[at + 2:])
    put("magic", b"\x89incore\n")
    put("empty", b"")


if __name__ == "__main__":
    main()
