#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fuzzes every reader for a bounded time with libFuzzer, ASan and UBSan (build-fuzz/, clang).

usage: run.py [--seconds N] [TARGET...]

Starts from tests/fuzz/corpus/<target>; what it finds on the way stays in build-fuzz/found/<target>, what breaks a
reader in build-fuzz/broken/ (copy it to the corpus with the fix).
"""
import argparse
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, "build-fuzz")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("targets", nargs="*")
    args = parser.parse_args()
    if not os.path.exists(os.path.join(BUILD, "build.ninja")):
        subprocess.run(["meson", "setup", BUILD, "-Dfuzz=true", "-Db_sanitize=address,undefined", "-Db_lundef=false",
                        "-Doptimization=1"], cwd=ROOT, env={**os.environ, "CC": "clang"}, check=True,
                       stdout=subprocess.DEVNULL)
    folder = os.path.join(ROOT, "tests", "fuzz")
    targets = sorted(f[5:-2] for f in os.listdir(folder) if re.fullmatch(r"fuzz_\w+\.c", f))
    targets = [t for t in targets if not args.targets or t in args.targets]
    subprocess.run(["ninja", "-C", BUILD, "--quiet", *[f"tests/fuzz/fuzz_{t}" for t in targets]], check=True)
    failed = 0
    for target in targets:
        found, broken = os.path.join(BUILD, "found", target), os.path.join(BUILD, "broken")
        os.makedirs(found, exist_ok=True)
        os.makedirs(broken, exist_ok=True)
        p = subprocess.run([os.path.join(BUILD, "tests", "fuzz", f"fuzz_{target}"), f"-max_total_time={args.seconds}",
                            "-rss_limit_mb=2048", "-timeout=20", "-max_len=65536", f"-artifact_prefix={broken}/{target}-",
                            "-print_final_stats=1", found, os.path.join(folder, "corpus", target)],
                           capture_output=True, text=True, errors="replace")
        runs = re.search(r"number_of_executed_units:\s*(\d+)", p.stderr)
        print(f"{'ok  ' if p.returncode == 0 else 'FAIL'} {target:<24} {runs.group(1) if runs else '?'} inputs", flush=True)
        if p.returncode:
            failed += 1
            print(p.stderr[-4000:])
    print(f"{len(targets) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
