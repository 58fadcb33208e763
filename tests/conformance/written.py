# SPDX-License-Identifier: Apache-2.0
"""written.py: does `export --to ui_output` write the files its producer wrote, and does it read back as the same trace?"""
import filecmp
import glob
import os
import re
import shutil
import tempfile

QUESTIONS = [("hot",), ("hot", "--by", "line"), ("hot", "--by", "producer"), ("isa",), ("waves",), ("occupancy",)]
# Said of the file, not of what is in it.
OF_THE_FILE = {"path", "dir", "format", "format_version", "siblings", "packed", "content_hash", "health"}


def strip(o):
    if isinstance(o, dict):
        return {k: strip(v) for k, v in o.items() if k not in OF_THE_FILE}
    return [strip(v) for v in o] if isinstance(o, list) else o


def files(r, name, path, target):
    """Every file byte for byte."""
    want = sorted(os.listdir(path))
    r.one(f"{name}: written: names of files", sorted(os.listdir(target)), want)
    for f in want:
        r.one(f"{name}: written: {f}", os.path.exists(os.path.join(target, f)) and
              filecmp.cmp(os.path.join(path, f), os.path.join(target, f), shallow=False), True)


def answers(r, d, name, path, target):
    for question in QUESTIONS:
        want, got = strip(d.ask_path(path, *question)), strip(d.ask_path(target, *question))
        r.one(f"{name}: written: {' '.join(question)}: same answer", got == want, True)


def copy_side_files(path, folder):
    """What rocprofv3 left around the directory is no part of it, but of the answers."""
    around = os.path.dirname(path)
    for entry in os.listdir(around):
        full = os.path.join(around, entry)
        if os.path.isfile(full):
            shutil.copy(full, folder)
        elif not entry.startswith("ui_output"):
            shutil.copytree(full, os.path.join(folder, entry))


def compare(r, d, name):
    path = d.path(name)
    with tempfile.TemporaryDirectory() as folder:
        copy_side_files(path, folder)
        target = os.path.join(folder, os.path.basename(path))
        rc, _, err = d.run("export", "--to", "ui_output", "-o", target, path)
        r.one(f"{name}: export --to ui_output", (rc, err if rc else ""), (0, ""))
        if rc == 0:
            files(r, name, path, target)
            answers(r, d, name, path, target)


# Names of files, and what the stream's header and the code object say: the directory has no place for that.
OF_THE_RAW_TRACE = {"file", "representative", "arch", "launch", "limit", "limits", "resources", "machine", "sentence",
                    "target_cu", "target_cu_starts", "is_target"}


def without(o, keys):
    """A wave that is named stays: in a directory its name is that of its file, with a suffix."""
    if isinstance(o, dict):
        return {k: without(v, keys) for k, v in o.items() if k not in keys}
    if isinstance(o, str):
        return re.sub(r"^(se\d+_sm\d+_sl\d+_wv\d+)\.json$", r"\1", o)
    return [without(v, keys) for v in o] if isinstance(o, list) else o


def raw_run(r, d, path):
    name = "/".join(path.split(os.sep)[-2:])
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "ui_output_agent_0_dispatch_0")
        rc, _, err = d.run("export", "--to", "ui_output", "-o", target, path)
        r.one(f"{name}: export --to ui_output", (rc, err if rc else ""), (0, ""))
        for question in [("hot", "--top", "all"), ("waves",), ("occupancy",)] if rc == 0 else []:
            want, got = (without(strip(d.ask_path(p, *question)), OF_THE_RAW_TRACE) for p in (path, target))
            r.one(f"{name}: written: {' '.join(question)}: same answer", got == want, True)
            if got != want:
                print("  differs:", [k for k in want if want[k] != got.get(k)])


def raw_runs(r, d):
    """Raw thread traces, decoded by us, written as a directory and read back."""
    paths = sorted(glob.glob(os.path.join(d.root, "sqtt", "gfx*", "*")))
    paths = [p for p in paths if glob.glob(os.path.join(p, "*.sqtt"))]
    if not paths:
        r.skip("raw thread traces", "no data/amd/sqtt")
    before = os.environ.get("INCORE_DISASM")
    os.environ["INCORE_DISASM"] = "none"
    for path in paths:
        r.guard(path, raw_run, r, d, path)
    if before is None:
        del os.environ["INCORE_DISASM"]
    else:
        os.environ["INCORE_DISASM"] = before
