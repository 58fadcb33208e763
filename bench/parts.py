# SPDX-License-Identifier: Apache-2.0
"""Parts of a bench, one after the other: what one misses stops no other, and all of it is listed at the end."""
import os
import subprocess


def tells_miss(line):
    """A line of a part that says which of its claims is not kept."""
    return line.startswith("missed: ") or line.endswith(" OVER") or line.lstrip().startswith("FAILED: ")


def run_command(words, out):
    """Runs it and passes on what it prints; a list of what it missed."""
    name = " ".join(os.path.basename(w) for w in words[:2])
    env = {**os.environ, "PYTHONUNBUFFERED": "1"}
    said = []
    try:
        child = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, errors="replace", env=env)
    except OSError as e:
        said.append(f"{name}: {e.strerror}")
        print(said[0], file=out, flush=True)
        return said
    with child:
        for line in child.stdout:
            print(line, end="", file=out, flush=True)
            if tells_miss(line.rstrip()):
                said.append(line.strip().removeprefix("missed: "))
    return (said or [f"{name} ended with status {child.returncode}"]) if child.returncode else []


def run_parts(parts, out):
    """Runs all commands of all parts: [(title, [words, ...]), ...]. Prints what was missed; the exit status."""
    missed = []
    for title, commands in parts:
        print(f"== {title}", file=out, flush=True)
        for words in commands:
            missed += [f"  {title}: {what}" for what in run_command(words, out)]
        print(file=out, flush=True)
    print("\n".join([f"{len(missed)} missed:", *missed]) if missed else f"nothing missed in {len(parts)} parts", file=out, flush=True)
    return 1 if missed else 0
