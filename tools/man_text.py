#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The man pages as plain text, for `incore --man` where there is no man: one after the other, each after a form feed and its name.

usage: man_text.py PAGE.scd... > OUT

Reads what scdoc(5) describes, as far as our pages use it.
"""
import os
import re
import sys
import textwrap

WIDTH, INDENT, STEP = 80, 7, 4


def inline(text):
    """Without the marks of bold and underlined words; an underscore inside a word is one."""
    out, i = [], 0
    while i < len(text):
        c, before, after = text[i], text[i - 1:i], text[i + 1:i + 2]
        if c == "\\" and after:
            out.append(after)
            i += 1
        elif not (c == "*" or (c == "_" and not (before.isalnum() and after.isalnum()))):
            out.append(c)
        i += 1
    return "".join(out)


def filled(words, indent, first=""):
    return textwrap.wrap(words, WIDTH, initial_indent=" " * indent + first, subsequent_indent=" " * (indent + len(first)), break_long_words=False,
                         break_on_hyphens=False)


def table(rows):
    """The last column takes what width is left."""
    n = max(map(len, rows))
    widths = [max((len(r[i]) for r in rows if i < len(r)), default=0) for i in range(n - 1)]
    for row in rows:
        head = "".join(cell.ljust(width + 2) for cell, width in zip(row[:-1], widths))
        yield from filled(row[-1], INDENT, head) or [" " * INDENT + head.rstrip()]


class Page:
    def __init__(self):
        self.out, self.paragraph, self.rows, self.depth, self.mark = [], [], [], 0, ""

    def flush(self):
        if self.paragraph:
            self.out += filled(inline(" ".join(self.paragraph)), INDENT + STEP * self.depth, self.mark)
        if self.rows:
            self.out += table([[inline(c) for c in row] for row in self.rows])
        self.paragraph, self.rows, self.mark = [], [], ""

    def line(self, line):
        text = line.lstrip("\t")
        depth = len(line) - len(text)
        if not text:
            self.flush()
            if self.out and self.out[-1].startswith(" " * INDENT):
                self.out.append("")
        elif text.startswith("#"):
            self.flush()
            marks, _, title = text.partition(" ")
            self.out += [""] if self.out and self.out[-1] else []
            self.out.append(" " * 3 * (len(marks) - 1) + inline(title))
        elif depth == 0 and re.match(r"[|\[\]][\[\-\] ]( |$)", text):
            self.flush() if self.paragraph else None
            self.rows.append([text[2:].strip()])
        elif depth == 0 and self.rows and re.match(r":[\[\-\] ]( |$)", text):
            self.rows[-1].append(text[2:].strip())
        elif depth == 0 and self.rows:
            self.rows[-1][-1] += " " + text.strip()
        elif re.match(r"[-.] ", text):
            self.flush()
            self.depth, self.mark, self.paragraph = depth, "- ", [text[2:]]
        else:
            if self.paragraph and depth != self.depth and not self.mark:
                self.flush()
            self.depth = self.depth if self.mark else depth
            self.paragraph.append(text.strip().removesuffix("++"))
            if text.endswith("++"):
                self.flush()


def render(source):
    page, in_literal = Page(), False
    head, *lines = source.splitlines()
    for line in lines:
        if line.strip() == "```":
            page.flush()
            in_literal = not in_literal
        elif in_literal:
            page.out.append(" " * (INDENT + STEP) + line.replace("\t", " " * STEP) if line.strip() else "")
        elif not line.startswith(";"):
            page.line(line)
    page.flush()
    return f"{head.split()[0]}\n" + "\n".join(page.out).rstrip() + "\n"


def main():
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as f:
            sys.stdout.write(f"\f{os.path.basename(path).removesuffix('.scd')}\n{render(f.read())}")


if __name__ == "__main__":
    main()
