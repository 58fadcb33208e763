#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes down what the viewer asks the verbs, a question a line: those of ui/questions.txt and those that the panels name. A report carries the answers.

usage: page_questions.py LIST.ts QUESTIONS.txt OUT DEPFILE
"""
import os
import re
import sys


def main():
    panels, shell, out, depfile = sys.argv[1:]
    with open(panels) as f:
        views = [os.path.join(os.path.dirname(panels), name + ".ts") for name in re.findall(r"from '(\./\w+/view)';", f.read())]
    with open(shell) as f:
        asked = {line.strip() for line in f if line.strip() and not line.startswith("#")}
    for name in views:
        with open(name) as f:
            for block in re.findall(r"^\tquestions: \[(.*?)\]", f.read(), re.M | re.S):
                asked |= set(re.findall(r"'([^']+)'", block))
    with open(out, "w") as f:
        f.writelines(q + "\n" for q in sorted(asked, key=lambda q: (re.split(r"[ ?]", q.removeprefix("all "))[0], q.startswith("all "), q)))
    with open(depfile, "w") as f:
        f.write(out + ":" + "".join(f" \\\n  {os.path.abspath(name)}" for name in views) + "\n")
    return 0 if asked and views else 1


if __name__ == "__main__":
    sys.exit(main())
