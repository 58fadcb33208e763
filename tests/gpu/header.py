#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""incore/cuda.h compiles without a warning, for the oldest and newer architectures, and with everything switched off. Needs nvcc; skipped without.

usage: header.py
"""
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES = os.path.join(ROOT, "examples", "cuda", "scopes")
CASES = [("cost.cu", ["-arch=sm_75"]), ("pipeline.cu", ["-arch=sm_90"]), ("pipeline.cu", ["-arch=sm_90", "-DINCORE_SCOPES_OFF"])]


def main():
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    failed = 0
    if not nvcc:
        print("SKIP no nvcc here: incore/cuda.h was not compiled")
        print(f"0 passed, 0 failed, {len(CASES)} skipped")
        return 0
    with tempfile.TemporaryDirectory() as tmp:
        for source, options in CASES:
            p = subprocess.run([nvcc, "-std=c++17", "-Werror", "all-warnings", *options, "-I", os.path.join(ROOT, "include"), "-cubin", source, "-o", os.path.join(tmp, "x.cubin")],
                               cwd=EXAMPLES, capture_output=True, text=True)
            if p.returncode:
                failed += 1
                print(f"FAIL {source} {options}: {p.stdout}{p.stderr}")
    print(f"{len(CASES) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


sys.exit(main())
