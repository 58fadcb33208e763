#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does every --json output keep to its schema? Runs each verb on each fixture (on one of each kind with every choice of its own
options; in a soak on all) and on the real captures where they are present, and validates what comes out, errors included.

usage: schemas.py BUILD_DIR [VERB...]
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

import jsonschema
from schema_check import damages, valid

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DATA = os.path.join(ROOT, "tests", "data")
TIMES = int(os.environ.get("TIMES", "1"))
SHARED = os.environ.get("INCORE_SHARED", os.path.join(ROOT, "..", "shared"))


# One for each set of tables that a capture can have: waves, samples, counters, notes, pipes, totals alone, timelines, none.
KINDS = {"gemm", "pc_sampling", "v31", "missing_wave", "ascend_a5", "ascend_matmul", "ascend_device", "cuda", "h200", "ncu", "scopes",
         "timeline", "rocpd", "rocprof_pcs", "rgp", "sqtt_gfx12", "dumps"}


def written_out(node, schema):
    """Definitions in place of references to them, which take the validator as long as all the rest."""
    if isinstance(node, list):
        return [written_out(n, schema) for n in node]
    if not isinstance(node, dict):
        return node
    if not isinstance(node.get("$ref"), str):
        return {k: written_out(v, schema) for k, v in node.items()}
    target = schema
    for key in node["$ref"].removeprefix("#/").split("/"):
        target = target[key]
    return written_out(target, schema)


class Schema:
    """Says first whether a value keeps to it, in a tenth of the time that the library takes to say where it does not. Of the first value of
    each schema, of damages to it, and in a soak of all, both must say the same."""

    def __init__(self, schema):
        cls = jsonschema.validators.validator_for(schema)
        cls.check_schema(schema)
        whole = written_out(schema, schema)
        self.library, self.is_valid, self.is_new = cls(whole), valid(whole), True

    def errors(self, value):
        if self.is_new or TIMES > 1:
            for other in damages(value, 6 * TIMES) if self.is_new else [value]:
                assert self.is_valid(other) == self.library.is_valid(other), f"valid() and the library differ: {json.dumps(other)[:1000]}"
        self.is_new = False
        return [] if self.is_valid(value) else sorted(self.library.iter_errors(value), key=lambda e: list(e.absolute_path))


def load_schemas(program, verbs):
    """From schemas/, and from the program where it describes what the verb prints."""
    out = {}
    for path in glob.glob(os.path.join(ROOT, "schemas", "*.schema.json")):
        with open(path) as f:
            out[os.path.basename(path)[:-len(".schema.json")]] = Schema(json.load(f))
    for name in [verb["name"] for verb in verbs] + ["trace"]:
        p = subprocess.run([program, "--schema", name], capture_output=True)
        if p.returncode == 0:
            out[f"incore.{name}.1"] = Schema(json.loads(p.stdout))
        assert f"incore.{name}.1" in out, f"nobody describes {name}"
    return out


def captures():
    fixtures = sorted(d for d in os.listdir(DATA) if os.path.isdir(os.path.join(DATA, d)))
    real = sorted(glob.glob(os.path.join(SHARED, "data", "amd", "ui_output", "*", "ui_output_*")))
    return [os.path.join(DATA, f) for f in fixtures], real


def variants(verb, capture):
    """The verb alone, then each choice of its own options."""
    yield []
    if os.path.basename(capture) not in KINDS and TIMES == 1:
        return
    for o in verb["options"]:
        if o["group"] == "Options" and o["choices"]:
            for choice in o["choices"]:
                if verb["name"] != "export":
                    yield [f"--{o['name']}", choice]


def command(verb, capture, tmp):
    if verb["name"] == "pack":
        return [capture, "-o", os.path.join(tmp, "x.incore")]
    if verb["name"] == "clean":
        return [capture, "-o", os.path.join(tmp, "clean")]
    if verb["name"] == "export":
        return ["--to", "chrome", "-o", os.path.join(tmp, "x.json"), capture]
    if verb["name"] == "report":
        return ["-o", os.path.join(tmp, "x.html"), capture]
    if verb["name"] == "view":
        return ["--get", "/api/1/trace", capture]
    if verb["name"] == "diff":
        return [capture, capture]
    if verb["name"] == "whatif":
        return ["--nothing", capture]
    if verb["name"] == "sql":
        return [capture, "SELECT * FROM captures, code LIMIT 3"]
    return [capture]


def problem(schemas, verb, words, text, err, rc):
    if rc in (0, 1) and not text.startswith(b"{"):
        return None if "--taxonomy" in words else "no JSON on standard output"
    data, name = (text, f"incore.{verb}.1") if rc in (0, 1) else (err.splitlines()[-1] if err else b"", "incore.error.1")
    if name not in schemas:
        return f"no schema {name}"
    try:
        value = json.loads(data)
    except ValueError as e:
        return f"not JSON: {e}"
    errors = schemas[name].errors(value)
    return None if not errors else f"at /{'/'.join(map(str, errors[0].absolute_path))}: {errors[0].message[:300]}"


def check_traces(program, schemas, fixtures):
    """`export --to json` writes a document with a schema of its own, incore.trace/1."""
    passed = failed = 0
    for capture in fixtures:
        p = subprocess.run([program, "export", "-q", "--to", "json", capture], capture_output=True, timeout=300)
        if p.returncode == 0:
            why = problem(schemas, "trace", [], p.stdout, b"", 0)
            if why:
                print(f"FAIL incore export --to json {os.path.relpath(capture, ROOT)}: {why}")
            passed, failed = passed + (not why), failed + bool(why)
    return passed, failed


def check_dumps(program, schemas):
    """The verbs of `dump`, on every dump there is."""
    passed = failed = 0
    dumps = sorted(glob.glob(os.path.join(DATA, "dumps", "*"))) + sorted(glob.glob(os.path.join(SHARED, "data", "dump", "*")))
    device = os.path.join(DATA, "dumps", "device", "records_g4.bin")
    with tempfile.TemporaryDirectory() as tmp:
        runs = [["ls", "--records", "g4", device], ["check", "--records", "g4", device]]
        for i, d in enumerate(dumps):
            runs += [["ls", d], ["ls", "--by", "slot", d], ["ls", "--by", "task", d], ["show", "--top", "all", "--limit", "8", d],
                     ["show", "--hex", "--limit", "2", d], ["check", d], ["diff", "--all", d, d], ["diff", d, dumps[0]],
                     ["repair", shutil.copytree(d, os.path.join(tmp, f"copy-{i}"))]]
            runs += [["export", "--to", to, "-o", os.path.join(tmp, f"{i}-{to}"), d] for to in ("npy", "raw", "csv", "txt")]
        for words in runs:
            p = subprocess.run([program, "dump", *words, "--json"], capture_output=True, timeout=300)
            why = problem(schemas, "dump", words, p.stdout, p.stderr, p.returncode)
            if why:
                print(f"FAIL incore dump {' '.join(words)} --json: {why}")
            passed, failed = passed + (not why), failed + bool(why)
    return passed, failed


def check_model(program, schemas):
    """The verbs of `model` that need no compiler, on the op streams of tests/data; other verbs on their traces; and --version."""
    passed = failed = 0
    streams = sorted(glob.glob(os.path.join(DATA, "model", "*.jsonl")))
    with tempfile.TemporaryDirectory() as tmp:
        runs = [["--version"], ["model", "ops"], ["model", "ops", "--arch", "a5"], ["model", "validate", "--ops-only"],
                ["model", "time", streams[0], "-p", "none"]]
        for path in streams:
            out = os.path.join(tmp, os.path.basename(path))
            runs += [["model", "time", path], ["model", "time", path, "-o", out]]
            trace = os.path.join(out, "trace.incore")
            runs += [[verb, trace] for verb in ("info", "check", "hot", "isa", "waves", "summary")]
            runs += [["diff", trace, trace], ["model", "compare", trace, trace], ["model", "compare", "--by", "op", trace, trace],
                     ["model", "compare", trace, os.path.join(tmp, os.path.basename(streams[0]), "trace.incore")]]
        for words in runs:
            p = subprocess.run([program, *words, "--json"], capture_output=True, timeout=300)
            why = problem(schemas, words[0].lstrip("-"), words, p.stdout, p.stderr, p.returncode)
            if why:
                print(f"FAIL incore {' '.join(words)} --json: {why}")
            passed, failed = passed + (not why), failed + bool(why)
    return passed, failed


def check_mcp(program, schemas):
    """The structure of every tool that asks a question, with rows and without."""
    passed = failed = 0
    described = json.loads(subprocess.run([program, "--help=json"], capture_output=True, check=True).stdout)
    calls = []
    for name in [v["name"] for v in described["verbs"] if "agent" in v["reach"]]:
        for capture in ("gemm", "pc_sampling", "ascend_matmul"):
            paths = {"a": capture, "b": capture} if name == "diff" else {"path": capture}
            more = {"nothing": True} if name == "whatif" else {}
            calls += [{"name": name, "arguments": {**paths, **more, "limit": limit}} for limit in (0, 3)]
    lines = [json.dumps({"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": call}) + "\n" for i, call in enumerate(calls)]
    p = subprocess.run([program, "mcp", DATA], input="".join(lines), capture_output=True, text=True, timeout=300)
    for line in p.stdout.splitlines():
        answer = json.loads(line)
        if "structuredContent" not in answer["result"]:
            continue  # a question that such a capture does not answer
        why = problem(schemas, "mcp", [], json.dumps(answer["result"]["structuredContent"]).encode(), b"", 0)
        if why:
            print(f"FAIL incore mcp {calls[answer['id']]}: {why}")
        passed, failed = passed + (not why), failed + bool(why)
    return passed, failed


def check_replay(program, schemas):
    """Workspaces of every kind, nothing started, and what is refused."""
    passed = failed = 0
    kernels = os.path.join(ROOT, "examples", "paged_attention", "kernels")
    own = ["--dump", os.path.join(DATA, "dumps", "own"), "--dry-run"]
    sources = [os.path.join(kernels, k) for k in ("aic/qk.cpp", "aiv/sf.cpp", "aic/pv.cpp", "aiv/up.cpp")]
    runs = [[*own, "--func", str(i), "--source", s, "--backend", b] for i, s in enumerate(sources) for b in ("model", "msprof")]
    runs += [[*own, "--func", "1", "--source", sources[1], "--set-arg", "4=0x10", "--core", "mix", "--target", "a5"],
             [*own, "--func", "9", "--source", sources[1]], [*own, "--func", "1", "--source", sources[3]], own]
    with tempfile.TemporaryDirectory() as tmp:
        for i, words in enumerate(runs):
            p = subprocess.run([program, "replay", *words, "-o", os.path.join(tmp, str(i)), "--json"], capture_output=True, timeout=300)
            why = problem(schemas, "replay", words, p.stdout, p.stderr, p.returncode)
            if why or (p.returncode == 0) != (i < 9):
                print(f"FAIL incore replay {' '.join(words)} --json: {why or p.stderr}")
                failed += 1
            else:
                passed += 1
    return passed, failed


def main():
    program = os.path.join(os.path.abspath(sys.argv[1]), "incore")
    verbs = json.loads(subprocess.run([program, "--help=json"], capture_output=True, check=True).stdout)["verbs"]
    schemas, (fixtures, real) = load_schemas(program, verbs), captures()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as tmp:
        for verb in verbs:
            if sys.argv[2:] and verb["name"] not in sys.argv[2:] or "verbs" in verb or verb["name"] == "mcp":
                continue
            takes_one = verb["args"].startswith(("PATH", "A B"))  # others refuse it, whatever it is
            runs = [(c, v) for c in (fixtures if takes_one else fixtures[:1]) for v in variants(verb, c)]
            runs += [(c, []) for c in real] if takes_one else []
            for capture, words in runs:
                p = subprocess.run([program, verb["name"], "--json", *words, *command(verb, capture, tmp)],
                                   capture_output=True, timeout=300)
                why = problem(schemas, verb["name"], words, p.stdout, p.stderr, p.returncode)
                if why:
                    print(f"FAIL incore {verb['name']} --json {' '.join(words)} {os.path.relpath(capture, ROOT)}: {why}")
                passed, failed = passed + (not why), failed + bool(why)
    more_of = {"export": lambda: check_traces(program, schemas, fixtures), "dump": lambda: check_dumps(program, schemas),
               "model": lambda: check_model(program, schemas), "mcp": lambda: check_mcp(program, schemas),
               "replay": lambda: check_replay(program, schemas)}
    for name, check in more_of.items():
        if not sys.argv[2:] or name in sys.argv[2:]:
            more = check()
            passed, failed = passed + more[0], failed + more[1]
    skipped = 0 if real else 1
    if skipped:
        print(f"SKIP real captures: none below {SHARED}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
