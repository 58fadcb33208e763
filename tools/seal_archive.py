#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a static library of which only the visible symbols can be linked to: its objects joined into one, hidden symbols
made local. Two libraries that compile in the same sources can then be linked into one program.

usage: seal_archive.py LD OBJCOPY AR PARTS_ARCHIVE OUT_ARCHIVE
"""
import os
import subprocess
import sys


def main():
    ld, objcopy, ar, parts, out = sys.argv[1:]
    joined = out + ".o"
    if os.path.exists(out):
        os.unlink(out)  # ar would add to it
    subprocess.run([ld, "-r", "-o", joined, "--whole-archive", parts], check=True)
    subprocess.run([objcopy, "--localize-hidden", joined], check=True)
    subprocess.run([ar, "rcsD", out, joined], check=True)
    os.unlink(joined)


sys.exit(main())
