# SPDX-License-Identifier: Apache-2.0
"""A folder with captures and links of every kind out of it, and a program that lets two names change places: for the tests of who may read what."""
import contextlib
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DATA = os.path.join(ROOT, "tests", "data")
INSIDE = "gemm_f16"  # the kernel of the capture below root/own
OUTSIDE = ("add_one", "fma_chain")  # those of captures outside
CAPTURE = "ui_output_agent_1000_dispatch_3"  # of outside/other

# For as long as anybody could wait.
SWAP = """import ctypes, os, sys, time
a, b, end = os.fsencode(sys.argv[1]), os.fsencode(sys.argv[2]), time.time() + 60
rename = ctypes.CDLL(None).renameat2
while time.time() < end:
    rename(-100, a, -100, b, 2)
"""


@contextlib.contextmanager
def swapping(a, b):
    """The names a and b change places over and over."""
    with subprocess.Popen([sys.executable, "-c", SWAP, a, b]) as p:
        try:
            yield
        finally:
            p.kill()


def make(tmp):
    """The paths of root and outside, below tmp."""
    root, outside = os.path.join(tmp, "root"), os.path.join(tmp, "outside")
    for name in ("mix", "files", "made/ui_output_agent_1_dispatch_9", "made/OPPROF_1"):
        os.makedirs(os.path.join(root, name))
    shutil.copytree(os.path.join(DATA, "gemm"), os.path.join(root, "own"))
    shutil.copytree(os.path.join(DATA, "two_waves"), os.path.join(outside, "other"))
    shutil.copy(os.path.join(DATA, "h200", "fma_chain.incore"), outside)
    shutil.copy(os.path.join(DATA, "h200", "mufu_bound.incore"), os.path.join(root, "files", "real.incore"))
    for name, target in (("away", outside), ("mix/X", "../../outside/other"), ("mix/Y", os.path.join(outside, "other")), ("inner", os.path.join(root, "own")),
                         ("files/link.incore", "../../outside/fma_chain.incore"), ("files/same.incore", "real.incore"), ("up", ".."),
                         # runs whose parts are links: the list of files, a folder
                         ("made/ui_output_agent_1_dispatch_9/filenames.json", os.path.join(outside, "other", CAPTURE, "filenames.json")),
                         ("made/OPPROF_1/simulator", outside)):
        os.symlink(target, os.path.join(root, name))
    return root, outside
