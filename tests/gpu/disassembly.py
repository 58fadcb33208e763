#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `nvdisasm -c -hex` says of our kernels, as fixtures of tests/unit/test_sass.c: low and high half, text.

usage: disassembly.py FOLDER [--all] > code.txt; zstd -19 code.txt -o tests/data/sass/code.txt.zst

FOLDER has <arch>.<kernels>.txt for each architecture: the kernels of tests/gpu/sass, compiled for it. What comes out is one instruction
of every shape (opcode, modifiers, kinds of operands: numbers aside), with --all every one. Branches are given by their distance, as our
own text has them.
"""
import collections
import os
import re
import sys

ROW = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;?\s*/\* 0x([0-9a-f]{16}) \*/")
HIGH = re.compile(r"^\s+/\* 0x([0-9a-f]{16}) \*/")
LABEL = re.compile(r"^([.$\w]+):$")
TARGET = re.compile(r"`\((\$?[.\w$]+)\)")


def instructions(path):
    """(low, high, text) with distances, of one disassembly."""
    labels, rows, waiting, section, at = {}, [], [], 0, 0
    for line in open(path):
        if line.startswith("\t.section"):
            section += 1
            waiting, at = [], 0
        elif m := LABEL.match(line):
            waiting.append(m[1])
        elif m := ROW.match(line):
            at = int(m[1], 16)
            for name in waiting:
                labels[name] = (section, at)
            waiting = []
            rows.append([section, at, m[3], None, " ".join(m[2].split())])
        elif (m := HIGH.match(line)) and rows and rows[-1][3] is None:
            rows[-1][3] = m[1]
    for section, at, low, high, text in rows:
        m = TARGET.search(text)
        if m:
            where = labels.get(m[1])
            if not where or where[0] != section:
                continue  # a call that the linker resolves: the bits say nothing yet
            text = TARGET.sub(f"{where[1] - at:+d}", text)
        yield low, high, text


def shape(low, text):
    """The same for instructions that differ in numbers alone."""
    text = re.sub(r"\b(U?R|U?P|B|SB)\d+\b", r"\1", text)
    text = re.sub(r"[-+]?0x[0-9a-f]+", "I", text)
    text = re.sub(r"[-+]?\b\d+(\.\d+)?(e[-+]?\d+)?\b", "N", text)
    return low[-3:], text


def main():
    found = collections.defaultdict(dict)
    for name in sorted(os.listdir(sys.argv[1])):
        m = re.match(r"sm_(\d+)a?\.\w+\.txt$", name)
        for low, high, text in instructions(os.path.join(sys.argv[1], name)) if m else ():
            key = (low, high) if "--all" in sys.argv else shape(low, text)
            found[int(m[1])].setdefault(key, (low, high, text))
    for sm, rows in sorted(found.items()):
        print(f"# {sm}")
        for low, high, text in sorted(rows.values(), key=lambda r: (r[0][-3:], r)):
            print(f"{low} {high} ? ? {text}")


if __name__ == "__main__":
    main()
