#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many concepts does the tree have? Lines, files and functions by room; names that mean several things; rooms that include each other;
how many files know of one subject; how wide the texts are. It judges nothing: two runs are compared to see what a change of the house did.

usage: house_count.py [--root DIR] [--build BUILD_DIR] [--json]

With --build the texts of that incore on captures of tests/data are measured, into a pipe and on a terminal of 80 columns. Functions are
found by the layout of clang-format: a body begins with a brace alone in column 0.
"""
import argparse
import collections
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import unicodedata

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOP = 12  # names shown of a list

# What one has to touch to add something, as far as names tell: files of src/ and ui/ in which the words of one that is there stand.
SUBJECTS = {
    "an AMD generation: gfx12": r"\bgfx12|\bGFX12",
    "an option of all verbs: follow-links": r"\bfollow[-_]links",
    "a stall reason of NVIDIA: long_scoreboard": r"\blong_scoreboard",
    "a rule of advice: special-functions": r"\bspecial[-_]functions",
    "an export format: otf2": r"\botf2",
    "an input format: rgp": r"\brgp\b|\brgp_",
    "a pipe of Ascend: MTE2": r"\bmte2|\bMTE2",
    "a finding of check: stale-source": r"\bstale[-_]source",
    "a column of hot: exposed": r'"exposed"',
    "a question to the store: baseline": r"\bbaseline",
}
KINDS = r"\bKIND_(?:TOTALS|WAVES|PIPES|SAMPLES|TIMELINE|SCOPES)\b"
KIND_TABLE = ("trace/kind.c", "trace/kind.h")
VENDORS = r"\bVENDOR_(?:AMD|ASCEND|NVIDIA)\b"
VENDOR_ROOMS = ("answer", "cli", "serve", "export")

TEXTS = [
    "hot gemm", "hot two_waves", "hot ascend_matmul", "hot --by line --exposed gemm", "hot h200/fma_chain.incore", "hot scopes/pipeline.scopes",
    "waves gemm", "waves ascend_matmul", "waves gfx12",
    "diff samples_pair/padded.incore samples_pair/conflicts.incore", "diff ascend_half_dead ascend_matmul",
    "diff repeated/ui_output_agent_1000_dispatch_7 repeated/ui_output_agent_1000_dispatch_9",
    "occupancy gemm", "occupancy gfx12", "info gemm", "info ascend_matmul", "info sqtt_gfx12", "info h200/fma_chain.incore",
    "advise gemm", "advise ascend_matmul", "advise gfx12", "advise h200/fma_chain.incore",
]


# --- the sources ---------------------------------------------------------------------------------

def sources(root):
    """path below src/ -> text, of C files."""
    out, src = {}, os.path.join(root, "src")
    for folder, _, names in os.walk(src):
        for name in names:
            if name.endswith((".c", ".h")):
                path = os.path.join(folder, name)
                with open(path, errors="replace") as f:
                    out[os.path.relpath(path, src)] = f.read()
    return dict(sorted(out.items()))


def page_sources(root):
    """path below ui/ -> text."""
    out = {}
    for folder, folders, names in os.walk(os.path.join(root, "ui")):
        folders[:] = [f for f in folders if f != "node_modules"]
        for name in names:
            if name.endswith((".ts", ".js", ".css", ".html", ".json", ".txt", ".mjs")):
                path = os.path.join(folder, name)
                with open(path, errors="replace") as f:
                    out[os.path.join("ui", os.path.relpath(path, os.path.join(root, "ui")))] = f.read()
    return out


def plain(text):
    """Without comments and the contents of strings."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', lambda m: '""' if m.group(0)[0] == '"' else " ", text, flags=re.S)


def functions(text):
    """(name, is_static) of the functions that a file defines."""
    lines, out = plain(text).split("\n"), []
    for i, line in enumerate(lines):
        if line != "{":
            continue
        head, k = "", i - 1
        while k >= 0 and lines[k].strip() and not lines[k].startswith(("}", "#")) and not lines[k].rstrip().endswith((";", "{")):
            head, k = lines[k] + " " + head, k - 1
        head = re.sub(r"__attribute__\s*\(\(.*?\)\)|\bPRINTF_LIKE\(.*?\)", "", head)
        m = re.match(r"[^(]*\((\w+)\)\(", head) or re.search(r"(\w+)\s*\(", head)  # (name)(...) keeps a macro of that name away
        if m:
            out.append((m.group(1), "static" in head.split()))
    return out


def room(path):
    return path.split(os.sep)[0]


def count_rooms(files, defined):
    out = {}
    for path, text in files.items():
        r = out.setdefault(room(path), {"files": 0, "lines": 0, "functions": 0})
        r["files"] += 1
        r["lines"] += text.count("\n")
        r["functions"] += len(defined[path])
    return out


def several(pairs):
    """name -> number of files, of names that stand in more than one; most files first."""
    where = collections.defaultdict(set)
    for name, path in pairs:
        where[name].add(path)
    found = {n: len(p) for n, p in where.items() if len(p) > 1}
    return dict(sorted(found.items(), key=lambda x: (-x[1], x[0])))


def count_exported(files, defined):
    """Names of functions that are not static; of how many no other file, or exactly one, speaks."""
    own = {n: p for p, found in defined.items() if p.endswith(".c") for n, is_static in found if not is_static and n != "main"}
    users = collections.defaultdict(set)
    for path, text in files.items():
        if path.endswith(".c"):
            for word in set(re.findall(r"\w+", plain(text))) & own.keys():
                users[word].add(path)
    others = [len(users[n] - {p}) for n, p in own.items()]
    return {"names": len(own), "used_in_no_other_file": others.count(0), "used_in_one_other_file": others.count(1)}


def cycles(files):
    """Pairs of folders of one room that include each other: sub-rooms, and a room's own files with a sub-room."""
    edges = set()
    for path, text in files.items():
        at = os.path.dirname(path)
        for to in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.M):
            if to in files and room(to) == room(path) and os.path.dirname(to) != at:
                edges.add((at, os.path.dirname(to)))
    pairs = sorted((a, b) for a, b in edges if a < b and (b, a) in edges)
    return {"sub_rooms": [f"{a} {b}" for a, b in pairs if os.sep in a and not b.startswith(a + os.sep)],
            "with_own_files": [f"{a} {b}" for a, b in pairs if os.sep not in a or b.startswith(a + os.sep)]}


def option_types(files):
    """Rows of option tables; options that have another type in another table."""
    types, rows = collections.defaultdict(set), 0
    for text in files.values():
        found = re.findall(r'\{\s*(?:0|\'.\'),\s*"([a-z0-9][a-z0-9-]*)",\s*OPTION_([A-Z]+)', text)
        found += re.findall(r'#define OPT_\w+\s+(?:0|\'.\'),[\s\\]*"([a-z0-9-]+)",[\s\\]*OPTION_([A-Z]+)', text)
        for entry in re.findall(r'\{[^{}]*\.name\s*=\s*"[^{}]*\}', text):
            name, kind = re.search(r'\.name\s*=\s*"([^"]+)"', entry), re.search(r"\.type\s*=\s*OPTION_([A-Z]+)", entry)
            found += [(name.group(1), kind.group(1))] if kind else []
        rows += len(found)
        for name, kind in found:
            types[name].add(kind)
    return {"rows": rows, "names": len(types), "several_types": {n: sorted(t) for n, t in sorted(types.items()) if len(t) > 1}}


def count_branches(files, rooms, pattern):
    """Room -> how often code, not a comment or a text, has it."""
    out = collections.Counter()
    for path, text in files.items():
        if rooms is None or room(path) in rooms:
            out[room(path)] += len(re.findall(pattern, plain(text)))
    return {r: n for r, n in sorted(out.items()) if n}


def count_kinds(files):
    """Where code names a kind of capture, besides the table of kinds."""
    return count_branches({p: t for p, t in files.items() if p.replace(os.sep, "/") not in KIND_TABLE}, None, KINDS)


def count(root):
    files, page = sources(root), page_sources(root)
    defined = {path: functions(text) for path, text in files.items()}
    rooms = count_rooms(files, defined)
    both = {**files, **page}
    tags = [(tag, path) for path, text in files.items() for tag in re.findall(r"^(?:static |typedef )*struct (\w+) \{", plain(text), re.M)]
    statics = [(n, path) for path, found in defined.items() if path.endswith(".c") for n, is_static in found if is_static]
    return {
        "rooms": rooms,
        "total": {k: sum(r[k] for r in rooms.values()) for k in ("files", "lines", "functions")},
        "exported": count_exported(files, defined),
        "struct_tags_in_several_files": several(tags),
        "static_names_in_several_files": several(statics),
        "include_cycles": cycles(files),
        "options": option_types(files),
        "files_that_name": {what: sum(bool(re.search(word, text)) for text in both.values()) for what, word in SUBJECTS.items()},
        "branches_on_the_kind_of_capture": count_kinds(files),
        "branches_on_the_vendor": count_branches(files, VENDOR_ROOMS, VENDORS),
    }


# --- the texts -----------------------------------------------------------------------------------

def width(line):
    line = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", line)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def widest(text):
    return max([width(line) for line in text.replace("\r", "").split("\n")])


def on_terminal(command, where, columns):
    """What a command writes to a terminal of so many columns."""
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    child = subprocess.Popen(command, cwd=where, stdin=subprocess.DEVNULL, stdout=side, stderr=subprocess.DEVNULL,
                             env={**os.environ, "COLUMNS": str(columns), "TERM": "xterm", "PAGER": "cat"})
    os.close(side)
    said = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        said += part
    os.close(main)
    child.wait()
    return said.decode(errors="replace")


def widths(root, build):
    """Text -> the longest line in a pipe, and on a terminal of 80 columns."""
    program, where = os.path.abspath(os.path.join(build, "incore")), os.path.join(root, "tests", "data")
    verbs = [v["name"] for v in json.loads(subprocess.run([program, "--help=json"], capture_output=True, check=True).stdout)["verbs"]]
    out = {}
    for text in TEXTS + ["--help"] + [f"{v} --help" for v in verbs]:
        command = [program, *text.split()]
        if not text.endswith("--help"):
            command.insert(2, "-q")
        p = subprocess.run(command, cwd=where, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                           env={k: v for k, v in os.environ.items() if k != "COLUMNS"})
        if p.returncode not in (0, 1) or not p.stdout:
            sys.exit(f"incore {text}: exit status {p.returncode}: {p.stderr.strip()}")
        out[text] = [widest(p.stdout), widest(on_terminal(command, where, 80))]
    helps = [out.pop(f"{v} --help") for v in verbs]
    out["VERB --help, the widest"] = [max(h[i] for h in helps) for i in range(2)]
    return out


# --- what is printed -----------------------------------------------------------------------------

def row(name, *values):
    print(f"{name:46}" + "".join(f" {v:>9,}" for v in values))


def names(title, found):
    row(title, len(found))
    if found:
        print("  " + ", ".join(f"{n} {k}" for n, k in list(found.items())[:TOP]) + (", ..." if len(found) > TOP else ""))


def show(c):
    print(f"{'room':46} {'files':>9} {'functions':>9} {'lines':>9}")
    for r, x in [*c["rooms"].items(), ("in all", c["total"])]:
        row(r, x["files"], x["functions"], x["lines"])
    print()
    row("exported functions", c["exported"]["names"])
    row("  used in no other file", c["exported"]["used_in_no_other_file"])
    row("  used in one other file", c["exported"]["used_in_one_other_file"])
    names("struct tags in several files", c["struct_tags_in_several_files"])
    names("static function names in several files", c["static_names_in_several_files"])
    for kind, title in (("sub_rooms", "sub-rooms that include each other"), ("with_own_files", "a room and its sub-room, each other")):
        found = c["include_cycles"][kind]
        row(title, len(found))
        if found:
            print("  " + ", ".join(f.replace(" ", " <-> ") for f in found))
    row("rows of option tables", c["options"]["rows"])
    row("  names", c["options"]["names"])
    row("  names of several types", len(c["options"]["several_types"]))
    for n, t in c["options"]["several_types"].items():
        print(f"  --{n}: {', '.join(t).lower()}")
    print("\nfiles of src/ and ui/ that name")
    for what, n in c["files_that_name"].items():
        row("  " + what, n)
    for key, title in (("branches_on_the_kind_of_capture", "branches on the kind of capture"), ("branches_on_the_vendor", "branches on the vendor")):
        row(title, sum(c[key].values()))
        print("  " + ", ".join(f"{r} {n}" for r, n in c[key].items()))
    if "widths" in c:
        print(f"\n{'longest line':46} {'pipe':>9} {'80 cols':>9}")
        for text, (pipe, terminal) in c["widths"].items():
            row(text if len(text) < 46 else text[:43] + "...", pipe, terminal)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", default=ROOT)
    parser.add_argument("--build")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    counts = count(given.root)
    if given.build:
        counts["widths"] = widths(given.root, given.build)
    if given.json:
        json.dump(counts, sys.stdout, indent=1)
        print()
    else:
        show(counts)


if __name__ == "__main__":
    main()
