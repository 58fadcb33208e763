#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does any file reach across the layers, over the #include lines of src/? Do folders of one room include each other? Does the table of
DESIGN.md say the same as the one here, and is any folder too full to find a file in?"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# room: what it stands on besides base; what those stand on is allowed too
STANDS_ON = {
    "base": [], "codec": [], "page": ["codec"], "gate": ["codec"], "args": ["codec"], "trace": ["codec"], "isa": ["trace"], "cuda": [], "import": ["isa", "cuda"], "analysis": ["isa"],
    "answer": ["analysis", "import", "page", "gate"], "tables": ["answer"], "export": ["tables"], "lib": ["tables"], "sql": ["tables"], "mcp": ["sql"], "store": ["tables"], "dump": ["args"], "model": ["isa", "args"], "run": ["codec"],
    "replay": ["dump", "model", "run", "import", "export"], "capture": ["run", "answer", "export", "replay"], "sweep": ["capture", "replay", "run"], "serve": ["answer", "export", "store"],
    "verbs": ["sweep", "serve", "mcp"],
}
STANDS_ON["cli"] = list(STANDS_ON)


def allowed(room):
    rooms = {room, "base"}
    for below in STANDS_ON[room]:
        rooms |= {below} if below == room else allowed(below)
    return rooms


def plugin(path):
    """import/ui_output/waves.c and import/ui_output.c are the plug-in import/ui_output; shared files are none."""
    parts = path.split(os.sep)
    if parts[0] not in ("import", "export"):
        return None
    name = os.path.splitext(parts[1])[0]
    return None if name in ("registry", "find", "driver", parts[0]) else name


MOST_FILES = 48  # flat in one folder


def reaches(edges, start):
    """What can be reached from a folder over includes."""
    found, todo = set(), [start]
    while todo:
        for to in edges.get(todo.pop(), ()):
            if to not in found:
                found.add(to)
                todo.append(to)
    return found


def check_sub_rooms(edges):
    """Folders of one room may include each other in one direction alone: the room's own files either stand below its sub-rooms or above."""
    seen = set()
    for folder in sorted(edges):
        cycle = {folder} | {to for to in reaches(edges, folder) if folder in reaches(edges, to)}
        if len(cycle) > 1 and frozenset(cycle) not in seen:
            seen.add(frozenset(cycle))
            yield f"folders that include each other: {' '.join(sorted(cycle))}"


def told():
    """The table of DESIGN.md: room -> what it stands on."""
    with open(os.path.join(ROOT, "DESIGN.md")) as f:
        rows = re.findall(r"^\| `src/(\w+)` \| (.*?) \|$", f.read(), re.M)
    return {room: [] if on in ("-", "nothing") else on.split(", ") for room, on in rows}


def check_map(src):
    """Failures of DESIGN.md and of folders."""
    table, there = told(), sorted(d for d in os.listdir(src) if os.path.isdir(os.path.join(src, d)))
    for room in there:
        want = ["everything"] if room == "cli" else STANDS_ON.get(room)
        if table.get(room) != want:
            yield f"DESIGN.md says that {room} stands on {table.get(room)}, this check {want}"
    for folder, _, names in os.walk(src):
        n = sum(name.endswith((".c", ".h")) for name in names)
        if n > MOST_FILES:
            yield f"{os.path.relpath(folder, ROOT)} holds {n} files, more than {MOST_FILES}"


def main():
    failed = checked = 0
    src, edges = os.path.join(ROOT, "src"), {}
    for bad in check_map(src):
        print(f"FAIL {bad}")
        failed += 1
    for folder, _, names in os.walk(src):
        for name in sorted(n for n in names if n.endswith((".c", ".h"))):
            path = os.path.relpath(os.path.join(folder, name), src)
            room, at, bad = path.split(os.sep)[0], os.path.dirname(path), []
            with open(os.path.join(src, path)) as f:
                for number, line in enumerate(f, 1):
                    m = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
                    if not m or "/" not in m.group(1) or m.group(1).startswith("incore/"):
                        continue
                    to = m.group(1)
                    if to.split("/")[0] == room and os.path.dirname(to) != at:
                        edges.setdefault(at, set()).add(os.path.dirname(to))
                    if to.split("/")[0] not in allowed(room):
                        bad.append(f"{number}: {room} may not include {to}")
                    elif to.split("/")[0] == room and plugin(to) and plugin(to) != plugin(path) and name != "registry.c" \
                            and os.path.isdir(os.path.join(src, room, plugin(to))):
                        bad.append(f"{number}: {path} may not include another format's {to}")
            checked, failed = checked + 1, failed + bool(bad)
            for b in bad:
                print(f"FAIL src/{path}:{b}")
    for bad in check_sub_rooms(edges):
        print(f"FAIL {bad}")
        failed += 1
    checked += 2  # the map, the sub-rooms
    print(f"{max(checked - failed, 0)} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
