#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exported files, read by the programs they are meant for; what they hold adds up to what the verbs say, to the cycle.

usage: run.py BUILD_DIR [FORMAT...]
"""
import sys
import tempfile

import otf2
import perfetto
import profiles
import rocpd
import tables
from common import Program, Results, has

# format: its checker, and programs that must be there
FORMATS = {
    "perfetto": (perfetto.run, ("protoc",)),
    "profiles": (profiles.run, ("protoc",)),
    "otf2": (otf2.run, ("otf2-print", "otf2-estimator")),
    "tables": (tables.run, ("sqlite3",)),
    "rocpd": (rocpd.run, ("sqlite3",)),
}


def main():
    build, *wanted = sys.argv[1:]
    results = Results()
    for name, (run, needs) in FORMATS.items():
        if wanted and name not in wanted:
            continue
        missing = [p for p in needs if not has(p)]
        if missing:
            results.skip(f"{name}: {' and '.join(missing)} is not installed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            run(results, Program(build, folder))
    print(f"{results.passed} passed, {results.failed} failed, {results.skipped} skipped")
    return int(results.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
