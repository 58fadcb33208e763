#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the manual pages tell the truth? Every page is built with scdoc, and every `$ incore ...` line under
EXAMPLES is run in tests/data and its printed output compared; so are the `console` blocks of README.md and docs/tour.md.

usage: man_examples.py BUILD_DIR [PAGE...]

The README stays short: at most 150 lines, each picture below 150 KB.

A line of output that is just "..." stands for any number of lines. UPDATE=1 rewrites outputs without one.
"""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden"))
import run as golden  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def examples(lines, is_page):
    """(first output line, end, command) of each example; lines are those of the page."""
    section, fenced, found = "" if is_page else "EXAMPLES", False, []
    for i, line in enumerate(lines):
        text = line.strip()
        if is_page and line.startswith("# ") and not fenced:
            section = line[2:].strip()
        if text == "```" or text == "```console":
            fenced = text == "```console" if not is_page else not fenced
        elif section == "EXAMPLES" and fenced and text.startswith("$ "):
            end = i + 1
            while lines[end].strip() != "```" and not lines[end].strip().startswith("$ "):
                end += 1
            found.append((i + 1, end, text[2:], line[:len(line) - len(line.lstrip())]))
    return found


def matches(want, got):
    """`want` may hold "..." lines."""
    if "..." not in want:
        return want == got
    parts, at = [[]], 0
    for line in want:
        if line == "...":
            parts.append([])
        else:
            parts[-1].append(line)
    for i, part in enumerate(parts):
        n = len(part)
        if i == 0:
            if got[:n] != part:
                return False
            at = n
        elif i == len(parts) - 1:
            return n == 0 or (len(got) - at >= n and got[len(got) - n:] == part)
        else:
            while at + n <= len(got) and got[at:at + n] != part:
                at += 1
            if at + n > len(got):
                return False
            at += n
    return True


def eaten(lines):
    """Underscores in the middle of a word that scdoc takes for the begin or the end of emphasis: "replay_<kernel>_<time>" loses them."""
    bad, literal, inside = [], False, False
    for n, line in enumerate(lines, 1):
        literal ^= line.strip() == "```"
        inside &= bool(line.strip())
        text, i, last = re.sub(r"\+\+$", "", line), 0, " "
        while i < len(text) and not literal:
            if text[i] == "\\":
                i += 1
            elif text[i] == "_":
                before, after = (text[i - 1:i] or " "), (text[i + 1:i + 2] or " ")
                if not last.isalnum() or (inside and not after.isalnum()):
                    good = before in " \t([]{,/*-\"'=|:+" if not inside else after in " \t.,;:)]}*/-\"'|!?=[("
                    if not good:
                        bad.append((n, text[max(0, i - 30):i + 30]))
                    inside = not inside
            last = text[i:i + 1]
            i += 1
    return bad


def check_page(build, path):
    name, passed, failed = os.path.basename(path), 0, 0
    if name.endswith(".scd"):
        with open(path, "rb") as f:
            p = subprocess.run(["scdoc"], stdin=f, capture_output=True)
        passed, failed = int(p.returncode == 0), int(p.returncode != 0)
        if failed:
            print(f"FAIL {name}: {p.stderr.decode().strip()}")
    with open(path) as f:
        lines = f.read().split("\n")
    for n, text in eaten(lines) if name.endswith(".scd") else []:
        print(f"FAIL {name}:{n}: scdoc takes an underscore of a word for emphasis, write \\_: {text}")
        failed += 1
    for start, end, cmd, indent in reversed(examples(lines, name.endswith(".scd"))):
        rc, out, err = golden.run(build, "", cmd, 2)
        got = [x.rstrip() for x in out.decode(errors="replace").rstrip("\n").split("\n")] if out.strip() else []
        expected = golden.of_this_version("\n".join(lines[start:end]).encode()).decode().split("\n")
        want = [x[len(indent):].rstrip() if x.startswith(indent) else x.strip() for x in expected]
        while want and not want[-1]:
            want.pop()
        if matches(want, got):
            passed += 1
        elif os.environ.get("UPDATE") and "..." not in want:
            lines[start:end] = [(indent + x).rstrip() for x in got]
            passed += 1
        else:
            failed += 1
            print(f"FAIL {name}: $ {cmd} (exit status {rc})")
            print(golden.diff("output", "\n".join(want).encode(), "\n".join(got).encode()) or err.decode()[:500])
    if os.environ.get("UPDATE"):
        with open(path, "w") as f:
            f.write("\n".join(lines))
    return passed, failed


def check_overview(build):
    """incore(1) names every verb of the program and the page of every input."""
    program = os.path.join(build, "incore")
    known = json.loads(subprocess.run([program, "--version", "--json"], capture_output=True, check=True).stdout)["features"]
    with open(os.path.join(ROOT, "man", "incore.1.scd")) as f:
        text = f.read()
    listed = text.split("# VERBS")[1].split("\n# ")[0], text.split("# INPUTS")[1].split("\n# ")[0]
    bad = [f"the verb {name} is not in VERBS" for name in known["verbs"] if f"*{name}*" not in listed[0]]
    bad += [f"the input {name} is not in INPUTS" for name in known["import"] if f"*incore-{name}*(7)" not in listed[1]]
    for line in bad:
        print("FAIL incore.1.scd: " + line)
    return int(not bad), len(bad)


def check_readme():
    """What of the front page is too long or not there."""
    with open(os.path.join(ROOT, "README.md")) as f:
        text = f.read()
    n, bad = text.count("\n"), []
    if n > 150:
        bad.append(f"{n} lines are more than 150")
    for name in re.findall(r"!\[[^]]+\]\(([^)]+)\)", text):
        path = os.path.join(ROOT, name)
        size = os.path.getsize(path) if os.path.exists(path) else 0
        if not 0 < size < 150_000:
            bad.append(f"{name} has {size} bytes")
    for name in re.findall(r"\]\(([\w/]+\.md)\)", text):
        if not os.path.exists(os.path.join(ROOT, name)):
            bad.append(f"{name} is not there")
    for line in bad:
        print("FAIL README.md: " + line)
    return int(not bad), len(bad)


def main():
    folder = os.path.join(ROOT, "man")
    pages = sorted(p for p in os.listdir(folder) if p.endswith(".scd")) + ["../README.md", "../docs/tour.md"]
    if sys.argv[2:]:
        pages = [p for p in pages if any(a in p for a in sys.argv[2:])]
    results = [check_page(sys.argv[1], os.path.join(folder, p)) for p in pages] + [check_readme(), check_overview(sys.argv[1])]
    passed, failed = sum(r[0] for r in results), sum(r[1] for r in results)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
