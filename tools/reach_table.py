#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of SECURITY.md that says who may ask which question, and say which option, besides the terminal and the library. It is made of
what the program says of itself (`incore --help=json`).

usage: reach_table.py INCORE [--write]     prints the table; --write: puts it into SECURITY.md
"""
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FACES = {"http": "a request to `view`", "agent": "an agent of `mcp`", "sql": "`sql`"}
BEGIN, END = "<!-- tools/reach_table.py makes this table -->\n", "<!-- its end -->\n"


def row(words):
    return "| " + " | ".join(words) + " |\n"


def marks(reach):
    return ["yes" if face in reach else "-" for face in FACES]


def with_subs(verbs):
    """Each verb, and after it its subcommands, with the options that they take."""
    for v in verbs:
        yield v
        for s in v.get("verbs", []):
            yield {**s, "name": f"{v['name']} {s['name']}", "options": [o for o in v["options"] if o["name"] in s["options"]]}


def table(program):
    verbs = list(with_subs(json.loads(subprocess.run([program, "--help=json"], capture_output=True, check=True).stdout)["verbs"]))
    asked = [v for v in verbs if v["reach"]]
    others = {(o["name"], tuple(o["reach"]), o["names_file"]) for v in asked for o in v["options"]
              if o["group"] != "Common" and len(o["reach"]) < len(FACES)}
    out = row(["", *FACES.values(), "names files"]) + row(["---"] * (len(FACES) + 2))
    out += "".join(row([f"`{v['name']}`", *marks(v["reach"]), ""]) for v in asked)
    out += row(["every other verb", *["-"] * len(FACES), ""])
    out += "".join(row([f"`--{name}`", *marks(reach), "yes" if is_file else ""]) for name, reach, is_file in sorted(others))
    return out + row(["every other option of these verbs", *["yes"] * len(FACES), ""])


def put(text, made):
    """SECURITY.md with the table in its place."""
    head, rest = text.split(BEGIN)
    return head + BEGIN + made + END + rest.split(END)[1]


def main():
    made = table(sys.argv[1])
    if "--write" not in sys.argv:
        print(made, end="")
        return
    path = os.path.join(ROOT, "SECURITY.md")
    with open(path) as f:
        text = f.read()
    with open(path, "w") as f:
        f.write(put(text, made))


if __name__ == "__main__":
    main()
