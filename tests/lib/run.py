#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libincore.so as another program sees it: the exported symbols and layouts are those of abi.txt, the headers are C++,
an answer is the program's own JSON, tables (by value and through Arrow) say the same as that JSON, slices are those of
`export --to csv`, bad requests are errors, and the example runs.

usage: run.py BUILD_DIR     UPDATE=1 rewrites abi.txt: only for additions, never for changes within a major version.
"""
import csv
import glob
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DATA = os.path.join(ROOT, "tests", "data")
RESULT = [0, 0]


def check(ok, what):
    RESULT[not ok] += 1
    if not ok:
        print(f"FAIL {what}")


def run(words, **more):
    p = subprocess.run(words, capture_output=True, text=True, **more)
    return p.stdout


def abi(build, library):
    symbols = sorted(line.split()[-1] for line in run(["nm", "-D", "--defined-only", library]).splitlines()
                     if " A " not in line)
    got = "".join(f"symbol {s}\n" for s in symbols) + run([os.path.join(build, "tests", "lib", "lib_layout")])
    path = os.path.join(HERE, "abi.txt")
    if os.environ.get("UPDATE"):
        with open(path, "w") as f:
            f.write(got)
    with open(path) as f:
        want = f.read()
    for line in sorted(set(want.splitlines()) | set(got.splitlines())):
        check(line in want.splitlines() and line in got.splitlines(),
              f"abi: {line} is {'gone' if line in want.splitlines() else 'new: add it to abi.txt'}")


def headers():
    source = '#include <incore/incore.h>\nint main() { return incore_version() == nullptr; }\n'
    p = subprocess.run(["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", os.path.join(ROOT, "include"),
                        "-x", "c++", "-"], input=source, capture_output=True, text=True)
    check(p.returncode == 0, "the headers are not C++: " + p.stderr)


def lists_of(value, tables, path=""):
    """(path, rows) of every list, and of every object that is a table of keys and values, not inside another list."""
    if isinstance(value, dict):
        for key, held in value.items():
            below = f"{path}.{key}" if path else key
            if isinstance(held, list):
                yield below, held
            elif isinstance(held, dict) and below in tables:
                yield below, list(held)
            else:
                yield from lists_of(held, tables, below)


def flat(row, tables, path, prefix=""):
    """The values of a row by their flat names; lists, and objects that are tables, are rows of their own."""
    out = {}
    for key, value in row.items():
        below = f"{path}.{key}" if path else key
        if isinstance(value, dict):
            if below not in tables:
                out.update(flat(value, tables, below, f"{prefix}{key}_"))
        elif not isinstance(value, list):
            out[prefix + key] = value
    return out


def same(written, value):
    """A real number of the JSON is written with so many digits; the table has it whole. A hexadecimal text of the JSON is a number there."""
    if isinstance(written, str) and written.startswith("0x") and isinstance(value, int):
        return int(written, 16) == value
    if isinstance(value, str) and not isinstance(written, str) and written is not None:  # a column whose values have different types
        return json.loads(value) == written or abs(float(value) - written) <= 1e-6 * abs(written)
    if not isinstance(written, float) and not isinstance(value, float):
        return written == value
    if written is None or value is None:
        return False
    digits = len(repr(float(written)).partition(".")[2]) if "e" not in repr(float(written)) else 15
    return abs(written - value) <= 0.51 * 10.0 ** -digits + 1e-12 * abs(value)


def compare_table(what, rows, tables, path):
    table = tables[path]
    names = [c[0] for c in table["columns"]]
    check(len(set(names)) == len(names), f"{what}: a column stands twice: {sorted(names)}")
    check(table["rows"] == table["arrow"], f"{what}: Arrow differs from the values")
    check(len(rows) == len(table["rows"]), f"{what}: {len(table['rows'])} rows, {len(rows)} in the JSON")
    for i, (row, cells) in enumerate(zip(rows, table["rows"])):
        got = dict(zip(names, cells))
        if isinstance(row, str):
            row = {"key": row} if "key" in names else {}
        for key, value in flat(row, tables, path).items() if isinstance(row, dict) else []:
            held_nothing = value is None and (
                any(n.startswith(key + "_") for n in names) or f"{path}.{key}".lstrip(".") in tables)
            if not held_nothing and not (key in got and same(value, got[key])):
                check(False, f"{what} row {i}: {key} is {value} in the JSON, {got.get(key, 'absent')} in the table")
                return
    check(True, what)


def answers(build, incore):
    tables = os.path.join(build, "tests", "lib", "lib_tables")
    verbs = [v["name"] for v in json.loads(run([incore, "--help=json"]))["verbs"] if "http" in v["reach"]]
    for name in ("two_waves", "gemm", "pc_sampling", "shell_empty", "inline"):
        path = os.path.join(DATA, name)
        for verb in verbs:
            paths = "\n".join([path] * (2 if verb == "diff" else 1))
            words = [incore, verb, "--json", "--top", "7", *paths.split("\n")]
            options = '{"top": 7}'
            if verb in ("info", "check", "isa"):
                words.remove("--top"), words.remove("7")
                options = "{}"
            if verb == "whatif":  # asks nothing of its own
                words.append("--nothing")
                options = '{"top": 7, "nothing": true}'
            p = subprocess.run(words, capture_output=True, text=True)
            got = json.loads(run([tables, verb, paths, options]))
            if p.returncode not in (0, 1):
                check("error" in got and got["status"] == p.returncode, f"{verb} {name}: {got} where the program fails")
                continue
            check(got.get("json") == json.loads(p.stdout), f"{verb} {name}: not the program's JSON: {got.get('error')}")
            check(got.get("status") == p.returncode, f"{verb} {name}: status {got.get('status')}")
            data = got["json"]["data"]
            compare_table(f"{verb} {name}: values", [data], got["tables"], "")
            for below, rows in lists_of(data, got["tables"]):
                is_tuple = any(c[0].startswith(below.replace(".", "_") + "_") for c in got["tables"][""]["columns"])
                check(is_tuple or below in got["tables"], f"{verb} {name}: no table {below}")
                if below in got["tables"]:
                    compare_table(f"{verb} {name}: {below}", rows, got["tables"], below)


def acting(build, incore):
    """Verbs that act, and those that are about something else than captures, are answered with the program's JSON, too."""
    tables, model = os.path.join(build, "tests", "lib", "lib_tables"), os.path.join(DATA, "model")
    for verb, path, options in (("model ops", "", {"arch": "a5"}), ("model_ops", "", {"profile": "910b1"}),
                                ("model time", os.path.join(model, "gemm_race.jsonl"), {"cached": ["0", "1"], "active-cores": 2}),
                                ("model compare", "\n".join([os.path.join(DATA, "ascend_matmul")] * 2), {"by": "op"}),
                                ("profile", "", {"build-dir": os.path.join(DATA, "pto_build"), "list": True})):
        words = [w for name, v in options.items() for one in (v if isinstance(v, list) else [v]) for w in (f"--{name}", one) if w is not True]
        p = subprocess.run([incore, *verb.replace("_", " ").split(), "--json", *map(str, words), *path.split()], capture_output=True, text=True)
        got = json.loads(run([tables, verb, path, json.dumps(options)]))
        check(p.returncode in (0, 1) and got.get("json") == json.loads(p.stdout), f"{verb}: {got.get('error')} {p.stderr}")
        for below, rows in lists_of(got["json"]["data"], got["tables"]) if "json" in got else []:
            compare_table(f"{verb}: {below}", rows, got["tables"], below)
    for verb, options, code in (("model record", {}, "missing-option"), ("replay", {"core": "gpu"}, "bad-option-value"), ("profile", {}, "missing-option")):
        got = json.loads(run([tables, verb, "x.cpp" if verb == "model record" else "", json.dumps(options)]))
        check((got.get("error"), got["status"]) == (code, 2), f"{verb} {options}: {got}")


def slices(build, incore):
    tables = os.path.join(build, "tests", "lib", "lib_tables")
    for name in ("two_waves", "gemm"):
        path = os.path.join(DATA, name)
        with tempfile.TemporaryDirectory() as tmp:
            out = os.path.join(tmp, "x.csv")
            run([incore, "export", "--to", "csv", "-o", out, path])
            with open(out, newline="") as f:
                rows = list(csv.DictReader(f))
        got = json.loads(run([tables, "--slices", path, "{}"]) or "{}").get("slices", [])
        check(len(got) == len(rows) > 0, f"slices of {name}: {len(got)}, {len(rows)} in the CSV")
        part = json.loads(run([tables, "--slices", path, '{"simd": "0"}'])).get("slices", [])
        check(0 < len(part) < len(got), f"slices of one SIMD of {name}: {len(part)} of {len(got)}")
    text = run([tables, "--cancel", os.path.join(DATA, "two_waves")])
    check(text.startswith("stopped: ") and text.endswith("answered\n"), "stopping a stream: " + text)


def options(build, incore):
    """An answer may show what was asked: it must be there when the answer is read."""
    tables = os.path.join(build, "tests", "lib", "lib_tables")
    a, b = (os.path.join(DATA, "repeated", f"ui_output_agent_1000_dispatch_{n}") for n in (7, 9))
    for verb, words, paths, options in (("diff", ["--gate", "latency<=-50%", a, b], f"{a}\n{b}", '{"gate": ["latency<=-50%"]}'),
                                        ("hot", ["--by", "line", a], a, '{"by": "line"}')):
        got = json.loads(run([tables, verb, paths, options]))
        check(got["json"] == json.loads(run([incore, verb, "--json", *words])), f"{verb} {options}: not the program's JSON")
        for name, table in got["tables"].items():
            names = [c[0] for c in table["columns"]]
            check(len(set(names)) == len(names), f"{verb} {options}: a column of {name} stands twice: {sorted(names)}")


def compare_all(build, incore, verb, words, options, paths):
    """One answer of the library: the program's JSON, and tables that hold what stands in it."""
    got = json.loads(run([os.path.join(build, "tests", "lib", "lib_tables"), verb, "\n".join(paths), json.dumps(options)]))
    p = subprocess.run([incore, *verb.split(), "--json", *words, *paths], capture_output=True, text=True)
    what = f"{verb} {options} {[os.path.basename(path) for path in paths]}"
    check(got.get("json") == json.loads(p.stdout), f"{what}: not the program's JSON: {got.get('error')}")
    check(got.get("status") == p.returncode, f"{what}: status {got.get('status')}, of the program {p.returncode}")
    data = got["json"]["data"]
    compare_table(f"{what}: values", [data], got["tables"], "")
    for below, rows in lists_of(data, got["tables"]):
        check(below in got["tables"], f"{what}: no table {below}")
        if below in got["tables"]:
            compare_table(f"{what}: {below}", rows, got["tables"], below)


def dumps(build, incore):
    """Verbs with subcommands are asked by their two words, or with an underscore between them."""
    for name in ("own", "types", "defects", "blocks"):
        path = os.path.join(DATA, "dumps", name)
        for by in ("record", "slot", "task"):
            compare_all(build, incore, "dump ls", ["--by", by], {"by": by}, [path])
        compare_all(build, incore, "dump show", ["--top", "3"], {"top": 3}, [path])
        compare_all(build, incore, "dump check", [], {}, [path])
        compare_all(build, incore, "dump diff", [], {}, [path, os.path.join(DATA, "dumps", "own")])
    tables, own = os.path.join(build, "tests", "lib", "lib_tables"), os.path.join(DATA, "dumps", "own")
    two_words, one_word = (json.loads(run([tables, name, own, "{}"])) for name in ("dump ls", "dump_ls"))
    check(two_words == one_word and "json" in one_word, f"dump_ls: {str(one_word)[:200]}")
    with tempfile.TemporaryDirectory() as tmp:
        out = os.path.join(tmp, "files")
        got = json.loads(run([tables, "dump export", own, json.dumps({"output": out, "to": "raw"})]))
        written = [row[1] for row in got["tables"]["written"]["rows"]]
        check(sorted(written) == sorted(os.listdir(out)) and written, f"dump export: {written} against {sorted(os.listdir(out))}")


def writers(build, incore):
    """Verbs that write files say what they wrote; a library has no standard output to write to."""
    tables = os.path.join(build, "tests", "lib", "lib_tables")
    for verb, capture, name, options in (("pack", "gemm", "x.incore", {}), ("export", "gemm", "x.csv", {"to": "csv", "simd": "0"}), ("clean", "ascend_matmul", "out", {})):
        with tempfile.TemporaryDirectory() as tmp:
            path, written = os.path.join(DATA, capture), []
            for by in ("program", "library"):
                out = os.path.join(tmp, by, name)
                os.mkdir(os.path.dirname(out))
                if by == "program":
                    words = [f"--{k}={v}" for k, v in options.items()]
                    told = json.loads(run([incore, verb, "--json", *words, "-o", out, path]))
                else:
                    told = json.loads(run([tables, verb, path, json.dumps({**options, "output": out})]))["json"]
                files = sorted(os.path.join(d, f) for d, _, fs in os.walk(os.path.dirname(out)) for f in fs)
                contents = [open(f, "rb").read().replace(out.encode(), b"") for f in files]
                written.append((json.loads(json.dumps(told).replace(out, "OUT")), [f.replace(os.path.dirname(out), "") for f in files], contents))
            check(written[0] == written[1] and written[0][1], f"{verb}: library and program write other things: {written[0][:2]} {written[1][:2]}")
    for verb, options in (("export", {"to": "csv"}), ("export", {"to": "csv", "output": "-"}), ("pack", {"output": "-"})):
        got = json.loads(run([tables, verb, os.path.join(DATA, "gemm"), json.dumps(options)]))
        check(got.get("status") == 2, f"{verb} {options} without a file: {str(got)[:200]}")


def errors(build):
    tables = os.path.join(build, "tests", "lib", "lib_tables")
    two = os.path.join(DATA, "two_waves")
    for what, words, code in (
            ("unknown question", ["nothing", two, "{}"], "no-such-question"),
            ("unknown option", ["hot", two, '{"toppp": 1}'], "unknown-option"),
            ("bad choice", ["hot", two, '{"by": "colour"}'], "bad-option-value"),
            ("bad type", ["hot", two, '{"by": {}}'], "bad-type"),
            ("no JSON", ["hot", two, '{"by": '], "truncated"),
            ("no capture", ["hot", os.path.join(DATA, "nowhere"), "{}"], "not-found"),
            ("two captures", ["hot", two + "\n" + two, "{}"], "missing-argument"),
            ("slices of nothing", ["--slices", os.path.join(DATA, "nowhere"), "{}"], "not-found")):
        got = json.loads(run([tables, *words]))
        check(got.get("error") == code, f"{what}: {got.get('error')}, expected {code}")


def example(build):
    out = run([os.path.join(build, "examples", "costliest"), os.path.join(DATA, "two_waves")]).splitlines()
    check(len(out) == 6 and out[-1].endswith(" slices"), f"the example printed {out}")


def main():
    build = os.path.abspath(sys.argv[1])
    library = sorted(glob.glob(os.path.join(build, "src", "lib", "libincore.so.*.*")))
    library = [p for p in library if not p.endswith((".p", ".symbols"))][0]
    incore = os.path.join(build, "incore")
    abi(build, library)
    headers()
    answers(build, incore)
    acting(build, incore)
    slices(build, incore)
    options(build, incore)
    dumps(build, incore)
    writers(build, incore)
    errors(build)
    example(build)
    print(f"{RESULT[0]} passed, {RESULT[1]} failed")
    return RESULT[1] > 0


if __name__ == "__main__":
    sys.exit(main())
