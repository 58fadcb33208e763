#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Blanks what a report of Nsight Compute says about the machine that it was taken on: host names, addresses, paths of programs, command
lines, and texts of files that are not ours. Every length stays, so that the rest of the file stays where it is.

usage: scrub.py REPORT OUT OURS    (OURS: the folder of our own sources, as the report names it)
"""
import sys

BLOCK_SESSION, BLOCK_PROCESS = 3, 6


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if not byte & 128:
            return value, at


def fields(data, at, end):
    """(number, begin, end) of every field with a length."""
    while at < end:
        key, at = varint(data, at)
        kind = key & 7
        if kind == 2:
            size, at = varint(data, at)
            yield key >> 3, at, at + size
            at += size
        elif kind == 0:
            _, at = varint(data, at)
        else:
            at += 8 if kind == 1 else 4


def number(data, at, end, wanted):
    while at < end:
        key, at = varint(data, at)
        if key & 7 == 2:
            size, at = varint(data, at)
            at += size
        elif key & 7 == 0:
            value, at = varint(data, at)
            if key >> 3 == wanted:
                return value
        else:
            at += 8 if key & 7 == 1 else 4
    return 0


def blank(data, begin, end, keep=b""):
    data[begin:end] = bytes(c if c in keep else 32 for c in data[begin:end])


def scrub_block(data, at, end):
    for field, b, e in fields(data, at, end):
        if field == BLOCK_PROCESS:  # host, path
            for f, b2, e2 in fields(data, b, e):
                blank(data, b2, e2)
        elif field == BLOCK_SESSION:
            for f, b2, e2 in fields(data, b, e):
                if f in (3, 4):  # systems: version of the OS, host, addresses
                    for f3, b3, e3 in fields(data, b2, e2):
                        if f3 == 7:
                            for f4, b4, e4 in fields(data, b3, e3):
                                blank(data, b4, e4)
                        elif f3 in (2, 5):
                            blank(data, b3, e3)
                elif f == 11:
                    blank(data, b2, e2)


def scrub_source(data, at, end, ours):
    for field, b, e in fields(data, at, end):
        for _, b2, e2 in fields(data, b, e) if field == 8 else ():
            parts = {f: (x, y) for f, x, y in fields(data, b2, e2)}
            path = bytes(data[slice(*parts[1])]) if 1 in parts else b""
            if not path.startswith(ours) and 2 in parts:
                blank(data, *parts[2], keep=b"\n")


def main():
    source, out, ours = sys.argv[1:]
    data = bytearray(open(source, "rb").read())
    assert data[:4] == b"NVR\0"
    at = 8 + int.from_bytes(data[4:8], "little")
    while at < len(data):
        n = int.from_bytes(data[at:at + 4], "little")
        head, at = at + 4, at + 4 + n
        scrub_block(data, head, at)
        end = at + number(data, head, at, 5)
        for _ in range(number(data, head, at, 1)):
            n = int.from_bytes(data[at:at + 4], "little")
            scrub_source(data, at + 4, at + 4 + n, ours.encode())
            at += 4 + n
        at = end
    open(out, "wb").write(data)


main()
