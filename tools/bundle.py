#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bundles the viewer's script or style with esbuild and writes down which files went in, so that the build knows when to do it again.

usage: bundle.py ESBUILD IN OUT DEPFILE [OPTION...]
"""
import json
import os
import subprocess
import sys


def main():
    esbuild, source, out, depfile, *options = sys.argv[1:]
    meta = out + ".meta.json"
    p = subprocess.run([esbuild, source, "--bundle", "--minify", "--log-level=warning", "--charset=utf8", "--legal-comments=none",
                        "--metafile=" + meta, "--outfile=" + out, *options])
    if p.returncode:
        return p.returncode
    with open(meta) as f:
        inputs = [os.path.abspath(name) for name in json.load(f)["inputs"]]
    os.remove(meta)
    with open(depfile, "w") as f:
        f.write(out + ":" + "".join(" \\\n  " + name.replace(" ", "\\ ") for name in inputs) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
