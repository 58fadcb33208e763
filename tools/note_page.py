#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The section CODES of incore-notes(7), made of the rows of src/trace/notes.h.

usage: note_page.py [--write]
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = os.path.join(ROOT, "src", "trace", "notes.h")
PAGE = os.path.join(ROOT, "man", "incore-notes.7.scd")
WIDTH = 150  # of a line of the page


def rows():
    """(code, kind, meaning as text of the page, advice as plain text) of each row."""
    string = r'"((?:\\.|[^"\\])*)"'
    with open(TABLE) as f:
        found = re.findall(rf'\bX\({string}, (\w+), \\\n\s*{string}, \\\n\s*{string}\)', f.read())
    return [(code, kind.lower(), *(re.sub(r"\\(.)", r"\1", t) for t in texts)) for code, kind, *texts in found]


def wrapped(text):
    """Lines of one paragraph below its code."""
    line, lines = "", []
    for word in text.split():
        if line and len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line = ""
        line += (" " if line else "") + word
    return "".join(f"\t{x}\n" for x in [*lines, line])


def text(page):
    """The page with the codes of the table."""
    codes = ""
    for code, kind, meaning, advice in rows():
        advice = re.sub(r"(?<![\w-])(--[a-z][a-z-]*)", r"*\1*", re.sub(r"([*_\\])", r"\\\1", advice))
        codes += f"*{code}* ({kind})\n" + wrapped(meaning + (f" Advice: {advice}." if advice else "")) + "\n"
    return re.sub(r"(?<=^# CODES\n\n)(.*?\n\n).*?(?=^# )", lambda m: m.group(1) + codes, page, flags=re.M | re.S)


def main():
    with open(PAGE) as f:
        page = f.read()
    made = text(page)
    if "--write" in sys.argv[1:]:
        with open(PAGE, "w") as f:
            f.write(made)
    elif made != page:
        sys.exit(f"{PAGE}: the rows of {TABLE} are others; {sys.argv[0]} --write")


if __name__ == "__main__":
    main()
