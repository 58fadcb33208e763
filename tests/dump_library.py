#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is libincore-dump usable alone? Its symbols, what it needs, what is installed, programs in C and C++ built
against that, and the example runtime: what it dumps has the facts of the format reference.

usage: dump_library.py BUILD_DIR
"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESULT = [0, 0, 0]
SYMBOLS = """attach bits close detach flush flush_all get_stats get_writer_stats mark open options_init put_scalar
put_task put_tensor why""".split()
PROGRAM = """#include <incore/dump.h>
int main(int argc, char **argv)
{
	struct incore_dump_options o;
	struct incore_dump *d;
	struct incore_dump_writer *w;
	struct incore_dump_scalar s = {};
	(void)argc;
	incore_dump_options_init(&o);
	if (incore_dump_open(&d, argv[1], &o) || incore_dump_attach(d, &w))
		return 1;
	s.dtype = INCORE_DUMP_FLOAT32;
	float half = 0.5f;
	s.raw = incore_dump_bits(&half, sizeof(half));
	return incore_dump_put_scalar(w, &s) || incore_dump_flush(w) || incore_dump_close(d);
}
"""


def check(ok, what):
    RESULT[not ok] += 1
    if not ok:
        print(f"FAIL {what}")


def run(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, **more)


def check_symbols(build):
    library = os.path.join(build, "src", "dump", "libincore-dump.so")
    names = [line.split()[-1] for line in run("nm", "-D", "--defined-only", library).stdout.splitlines()]
    check(names == [f"incore_dump_{s}" for s in SYMBOLS], f"exported symbols: {names}")
    needed = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", library).stdout)
    sanitizers = {"libasan", "libubsan", "libtsan", "libm", "libgcc_s"}
    check(all(n.split(".")[0] in {"libc", "libpthread"} | sanitizers for n in needed), f"needed libraries: {needed}")


def check_sealed(build, tmp):
    """Nothing of the static library's inside can be linked to, so it goes into a program with libincore."""
    library = os.path.join(build, "src", "dump", "libincore-dump.a")
    names = sorted(line.split()[-1] for line in run("nm", "-g", "--defined-only", library).stdout.splitlines() if " " in line)
    check(names == [f"incore_dump_{s}" for s in SYMBOLS], f"global symbols of the static library: {names}")
    source, program = os.path.join(tmp, "both.c"), os.path.join(tmp, "both")
    with open(source, "w") as f:
        f.write('''#include <incore/dump.h>
#include "base/crc32c.h"
int main(void)
{
	struct incore_dump_options o;
	incore_dump_options_init(&o);
	return crc32c(0, "123456789", 9) != 0xe3069283 || o.level != INCORE_DUMP_FULL;
}
''')
    p = run("cc", f"-I{ROOT}/include", f"-I{ROOT}/src", source, "-o", program, "-Wl,--whole-archive", library, "-Wl,--no-whole-archive",
            os.path.join(build, "src", "libincore.a"), "-pthread")
    check(p.returncode == 0, f"both libraries in one program: {p.stderr}")
    check(p.returncode != 0 or run(program).returncode == 0, "a program of both libraries")


def check_installed(build, tmp):
    p = run("meson", "install", "-C", build, "--no-rebuild", "--destdir", tmp)
    check(p.returncode == 0, f"install: {p.stdout}{p.stderr}")
    found = [os.path.join(d, f) for d, _, fs in os.walk(tmp) for f in fs]
    headers = [f for f in found if f.endswith("incore/dump.h")]
    pc = [f for f in found if f.endswith("incore-dump.pc")]
    check(len(headers) == 1 and len(pc) == 1, f"header and pkg-config file: {headers} {pc}")
    if not headers or not pc:
        return
    include = os.path.dirname(os.path.dirname(headers[0]))
    lib = os.path.dirname(next(f for f in found if "libincore-dump.so.0" in f))
    with open(pc[0]) as f:
        check("-lincore-dump" in f.read(), "incore-dump.pc names the library")
    for compiler, suffix, link in (("cc", "c", "shared"), ("c++", "cc", "shared"), ("cc", "c", "static")):
        if not shutil.which(compiler):
            print(f"SKIP programs with {compiler}: it is not installed")
            RESULT[2] += 1
            continue
        source, program = os.path.join(tmp, f"p.{suffix}"), os.path.join(tmp, f"p_{suffix}_{link}")
        with open(source, "w") as f:
            f.write(PROGRAM if suffix == "cc" else PROGRAM.replace("= {}", "= {0}"))
        flags = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-missing-field-initializers"]
        how = [os.path.join(lib, "libincore-dump.a"), "-pthread"] if link == "static" else [f"-L{lib}", "-lincore-dump"]
        p = run(compiler, *flags, f"-I{include}", source, "-o", program, *how)
        check(p.returncode == 0, f"{compiler} {link}: {p.stderr}")
        out = program + "_dump"
        p = run(program, out, env={**os.environ, "LD_LIBRARY_PATH": lib})
        check(p.returncode == 0, f"{program} ends with {p.returncode} {p.stderr}")
        with open(os.path.join(out, "args_dump.json")) as f:
            record = json.load(f)["args"][0]
        check(record["value"] == 0.5 and record["raw"] == "0x000000003f000000", f"{program}: {record}")


def rows(data, record):
    letter, size = {"FLOAT32": ("f", 4), "BFLOAT16": ("H", 2)}[record["dtype"]]
    part = data[record["bin_offset"]:record["bin_offset"] + record["bin_size"]]
    values = [v[0] for v in struct.iter_unpack("<" + letter, part)]
    if letter == "H":
        values = [struct.unpack("<f", struct.pack("<I", v << 16))[0] for v in values]
    width = record["shape"][-1]
    return [values[i:i + width] for i in range(0, len(values), width)]


def load(directory, name="args_dump.json"):
    with open(os.path.join(directory, name)) as f:
        manifest = json.load(f)
    with open(os.path.join(directory, manifest["bin_file"]), "rb") as f:
        return manifest, f.read()


def check_facts(directory):
    """Section by section what the reference says of this case."""
    m, data = load(directory)
    at = {(int(r["task_id"], 16) & 0xff, r["arg_index"], r["stage"][:5]): r for r in m["args"]}
    part = lambda r: data[r["bin_offset"]:r["bin_offset"] + r["bin_size"]]  # noqa: E731
    counters = [m[k] for k in ("total_args", "before_dispatch", "after_completion", "input_args", "output_args", "inout_args")]
    check(counters == [72, 45, 27, 33, 15, 24], f"counters {counters}")
    check(len(data) == 32832, f"{len(data)} bytes of payload")
    check([i for i, r in enumerate(m["args"]) if not r["is_contiguous"]] == [51], "one strided view, record 51")
    view = at[9, 0, "befor"]
    check((view["shape"], view["strides"]) == ([16, 1], [16, 1]), f"the view {view['shape']} {view['strides']}")
    check([r[0] for r in rows(data, view)] == [r[0] for r in rows(data, at[8, 2, "after"])], "column 0 of task 8")
    for k in range(3):
        t = 4 * k
        pairs = [((t, 2), (t + 1, 0))] * (k < 2) + [((t + 1, 1), (t + 2, 0)), ((t + 1, 2), (t + 3, 0)), ((t + 1, 3), (t + 3, 1)),
                                                     ((t + 2, 2), (t + 3, 2))]
        pairs += [((t + 3, s), (t + 7, s)) for s in range(3, 7) if k < 2]
        for a, b in pairs:
            check(part(at[a + ("after",)]) == part(at[b + ("befor",)]), f"bytes of task {a} go to {b}")
        check([at[t + 3, s, "befor"]["value"] for s in (7, 8)] == [[1, 0], [0, 0], [0, 1]][k], f"scalars of UP {k}")
        check(at[t + 1, 4, "befor"]["value"] == 1065353216, f"scale of SF {k}")
        check(at[t, 1, "befor"]["start_offset"] == (k + 1) % 3 * 256, f"page of block {k}")
    check([r[0] for r in zip(*rows(data, at[9, 3, "after"]))] == [1.0] * 16, "row sums of the tail block")
    check(rows(data, at[9, 1, "after"])[0] == [1.0] + [0.0] * 15, "probabilities of the tail block")
    check(part(at[3, 6, "befor"]) == part(at[3, 6, "after"]) != part(at[11, 6, "after"]), "only the last task writes dst")
    check({r["thread"] for r in m["args"]} == {0, 1, 2}, "three threads recorded")
    check(not any("incomplete" in r for r in m["args"]), "every task is complete")


def check_example(build, tmp):
    program = os.path.join(build, "examples", "paged_attention")
    for name, words in {"full": [], "one": ["--threads", "1"], "sync": ["--sync"], "selected": ["--level", "1"],
                        "hybrid": ["--level", "3"], "older": ["--older"], "long": ["--context", "1000"]}.items():
        p = run(program, "--dump", os.path.join(tmp, name), *words)
        check(p.returncode == 0 and p.stdout.endswith(": ok\n"), f"{name}: {p.stdout}{p.stderr}")
    check(run(program).returncode == 0, "without a dump")
    p = run(program, "--dump", os.path.join(tmp, "off"), "--level", "0")
    check(p.returncode == 0 and not os.path.exists(os.path.join(tmp, "off")), "level 0 leaves nothing")
    p = run(program, "--dump", os.path.join(tmp, "full"))
    check(p.returncode == 6 and "File exists" in p.stderr, f"a second dump into the same place: {p.stderr}")
    check_facts(os.path.join(tmp, "full"))
    check(load(os.path.join(tmp, "selected"))[0]["total_args"] == 5, "level 1: the five arguments of the marked task")
    check(load(os.path.join(tmp, "hybrid"))[0]["total_args"] == 72, "level 3: all records")
    check(load(os.path.join(tmp, "selected"))[1] == load(os.path.join(tmp, "hybrid"))[1], "levels 1 and 3: the same payload")
    older, data = load(os.path.join(tmp, "older"), "tensor_dump.json")
    check(older["total_tensors"] == 72 and len(data) == 32832 and "func_id" not in older["tensors"][0], "older generation")


def main():
    build = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as tmp:
        check_symbols(build)
        check_example(build, tmp)
    with tempfile.TemporaryDirectory() as tmp:
        check_sealed(build, tmp)
        check_installed(build, tmp)
    print(f"{RESULT[0]} passed, {RESULT[1]} failed, {RESULT[2]} skipped")
    return RESULT[1] > 0


if __name__ == "__main__":
    sys.exit(main())
