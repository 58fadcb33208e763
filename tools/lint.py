#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang-tidy (.clang-tidy) and cppcheck (tools/cppcheck.txt) over the C files of src/ and tools/model_lab/; they report nothing.

usage: lint.py [--changed] BUILD_DIR [FILE...]

A file that passed is not looked at again while its preprocessed text, its flags and the tool with its configuration stay the same;
BUILD_DIR/lint/ has an empty file for each that did. --changed: only files that differ from where the branch left main (on main: from
the parent of the last commit), those not committed among them, MOST_CHANGED at most; of a changed header the source file beside it.
JOBS: cores to use (all).
"""
import concurrent.futures
import hashlib
import json
import os
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MOST_CHANGED = 24  # after a large merge it is make lint that looks at all
TOOLS = {  # name: (file with its configuration, words before the flags and the file)
    "clang-tidy": (".clang-tidy", ["clang-tidy", "--quiet"]),
    "cppcheck": ("tools/cppcheck.txt", ["cppcheck", "--quiet", "--error-exitcode=1", "--enable=warning,performance,portability",
                                        "--suppressions-list=tools/cppcheck.txt"]),
}


def output(words):
    return subprocess.run(words, cwd=ROOT, capture_output=True, check=True).stdout


def flags_by_file(build):
    """The -D, -I, -isystem and -std of each such file, folders as from the root."""
    with open(os.path.join(build, "compile_commands.json")) as f:
        commands = json.load(f)
    found = {}
    for c in commands:
        path = os.path.relpath(os.path.join(c["directory"], c["file"]), ROOT)
        if path.startswith(("src/", "tools/model_lab/")) and path.endswith(".c"):
            words = [w for w in shlex.split(c["command"]) if w.startswith(("-D", "-I", "-isystem", "-std="))]
            found.setdefault(path, ["-I" + os.path.relpath(os.path.join(c["directory"], w[2:]), ROOT) if w.startswith("-I") else w
                                    for w in words])
    return found


def base_commit():
    """Where this branch left main; on main, or without one, the parent of the last commit; the last one where history ends there."""
    def ask(*words):
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    head = ask("rev-parse", "HEAD")
    bases = [ask("merge-base", "HEAD", name) for name in ("origin/main", "main")] + [ask("rev-parse", "-q", "--verify", "HEAD^")]
    return next((b for b in bases if b and b != head), "HEAD")


def changed_files():
    names = output(["git", "diff", "--name-only", base_commit()]) + output(["git", "ls-files", "-o", "--exclude-standard"])
    return {os.path.splitext(name)[0] + ".c" for name in names.decode().split("\n") if name.endswith((".c", ".h"))}


def look(tool, identity, path, flags, text, cache):
    """What the tool says of a file, nothing if it is known to be good; text: the file preprocessed."""
    key = hashlib.sha256(b"\0".join([identity, " ".join([path, *flags]).encode(), text])).hexdigest()
    marker = os.path.join(cache, key)
    if os.path.exists(marker):
        return ""
    first = TOOLS[tool][1]
    # cppcheck does not read headers of the system
    plain = [w.replace("-std=", "--std=") for w in flags if not w.startswith("-isystem")]
    words = [*first, path, "--", *flags] if tool == "clang-tidy" else [*first, *plain, path]
    p = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if p.returncode == 0:
        open(marker, "w").close()
        return ""
    return f"--- {tool} {path}\n{p.stdout}"


def look_with_all(identities, path, flags, cache):
    """What each of the tools says."""
    p = subprocess.run(["clang", "-E", "-P", "-w", *flags, path], cwd=ROOT, capture_output=True)
    if p.returncode:
        return [f"--- {path} (build first)\n{p.stderr.decode(errors='replace')}"] * len(TOOLS)
    return [look(tool, identities[tool], path, flags, p.stdout, cache) for tool in TOOLS]


def main():
    words = [w for w in sys.argv[1:] if w != "--changed"]
    if not words:
        sys.exit(__doc__)
    build, wanted = words[0], set(words[1:])
    flags = flags_by_file(build)
    if "--changed" in sys.argv:
        wanted = changed_files()
    elif not wanted:
        wanted = set(flags)
    paths = sorted(wanted & set(flags))
    n_left = max(0, len(paths) - MOST_CHANGED) if "--changed" in sys.argv else 0
    paths = paths[:len(paths) - n_left]
    cache = os.path.join(build, "lint")
    os.makedirs(cache, exist_ok=True)
    identity = {}
    for tool, (config, first) in TOOLS.items():
        with open(os.path.join(ROOT, config), "rb") as f:
            identity[tool] = output([tool, "--version"]) + " ".join(first).encode() + f.read()
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count())) as pool:
        for both in pool.map(lambda path: look_with_all(identity, path, flags[path], cache), paths):
            passed, failed = passed + both.count(""), failed + len(both) - both.count("")
            for said in filter(None, both):
                print(said, flush=True)
    if n_left:
        print(f"SKIP {n_left} more changed files: make lint")
    print(f"{passed} passed, {failed} failed, {n_left} skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
