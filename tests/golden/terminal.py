#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a command prints on a terminal of so many columns; its exit status. Says so if a line is wider.

usage: terminal.py COLUMNS COMMAND...
"""
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios


def main():
    columns = int(sys.argv[1])
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    p = subprocess.Popen(sys.argv[2:], stdout=theirs, env={**os.environ, "TERM": "dumb", "NO_COLOR": "1", "PAGER": "cat"})
    os.close(theirs)
    out = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        out += part
    text = out.decode().replace("\r\n", "\n")
    print(text, end="")
    widest = max(map(len, text.split("\n")))
    if widest > columns:
        print(f"WIDER THAN {columns}: {widest}")
    return p.wait()


if __name__ == "__main__":
    sys.exit(main())
