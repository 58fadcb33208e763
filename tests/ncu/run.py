#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nsight Compute reports: what incore says of made ones against the generator's truth, of damaged ones, and of real ones against the
vendor's own answers.

usage: run.py BUILD_DIR

Made: every row's samples by reason (all, not issued), executions, lines, producers; totals; the committed files are what the generator makes.
Real (INCORE_SHARED/data/nvidia, else skipped): every integer per instruction of ncu_report_py.json, totals of raw.csv, a producer for 99 % of
scoreboard samples. TIMES: as many times more random damages (1).
"""
import csv
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DATA = os.path.join(ROOT, "tests", "data", "ncu")
sys.path[:0] = [HERE, os.path.join(ROOT, "bench"), os.path.join(ROOT, "tests")]

import bad_input  # noqa: E402
import facts  # noqa: E402
import kernels  # noqa: E402
import make_report  # noqa: E402
import mutants  # noqa: E402
import ncu_pass  # noqa: E402
import planted  # noqa: E402
import sass  # noqa: E402
from program import Inst  # noqa: E402
from wire import number  # noqa: E402

KERNELS = ["saxpy", "gather", "gemm_tiled", "softmax_rows", "triton_mm", "triton_attn"]
SCOREBOARD = ("long_scoreboard", "short_scoreboard")
WITH_PRODUCER = SCOREBOARD + ("wait", "barrier")
# Tables by name: the vendor's export has one value of each left.
BY_NAME = "_per_opcode"
RANDOM = 60
VERBS = [["info"], ["hot", "--top", "all"]]  # of every damaged file, and in turn one of these
OTHERS = [["hot", "--by", "producer"], ["isa"], ["check"], ["summary"], ["occupancy"], ["hot", "--by", "line"]]


class Score:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def check(self, name, got, want):
        if got == want:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAIL {name}: {str(got)[:300]} instead of {str(want)[:300]}")

    def skip(self, name, why):
        self.skipped += 1
        print(f"SKIP {name}: {why}")


class Answers:
    """One capture as the program tells it: the JSON export, rows by (function, offset)."""

    def __init__(self, program, path, folder):
        target = os.path.join(folder, "export.json")
        p = subprocess.run([program, "export", "-q", "--to", "json", "-o", target, path], capture_output=True, text=True,
                           env={**os.environ, "INCORE_DISASM": "none"})
        if p.returncode:
            raise RuntimeError(f"export {path}: {p.returncode}: {p.stderr[:300]}")
        with open(target) as f:
            self.trace = json.load(f)
        self.program, self.path = program, path
        self.reasons = self.trace.get("stall_reasons", [])
        self.rows, self.places, function, first, last = {}, [], None, 0, None
        for row in self.trace["code"]:
            if row["is_label"] and row["code_object"] != last:  # others are functions inside one
                function, first, last = row["isa"].lstrip("; ").rstrip(":"), None, row["code_object"]
            elif row["is_label"]:
                pass
            elif first is None:
                first = row["address"]
            self.places.append((function, row["address"] - (first or 0)))
            if not row["is_label"]:
                self.rows[self.places[-1]] = row
        self.metrics = {m["name"]: {self.places[i]: v for i, v in m["values"]} for m in self.trace.get("metrics", [])}
        self.links = {}
        for link in self.trace.get("code_links", []):
            if link["reason"] is not None:
                key = (self.places[link["row"]], self.reasons[link["reason"]])
                self.links.setdefault(key, set()).add(self.places[link["to"]])

    def samples(self, place):
        """{reason: [all, not issued]}, those with any; "selected" is what was issued."""
        s = self.rows[place].get("samples") or {"issued": 0, "reasons": [0] * len(self.reasons)}
        exposed = s.get("not_issued") or [0] * len(self.reasons)
        out = {name: [n, exposed[k]] for k, (name, n) in enumerate(zip(self.reasons, s["reasons"])) if n}
        if s["issued"]:
            out["selected"] = [s["issued"], 0]
        return out

    def ask(self, *words):
        p = subprocess.run([self.program, words[0], "--json", *words[1:], self.path], capture_output=True, text=True)
        return json.loads(p.stdout)["data"]


def made_path(folder, name, n, count):
    path = os.path.join(folder, name + ".ncu-rep")
    return path if count == 1 else f"{path}#{n}"


def lines_of(answers, row):
    """The lines of a row, innermost first: (file, line)."""
    return [(answers.trace["sources"][source]["path"], line) for source, line in row["frames"]]


def stated_lines(row):
    return [(kernels.HEADER, line) for _, line in reversed(row["inlined"])] + [(kernels.FILE, row["line"])]


def conserved(score, what, answers, truth):
    """Samples of reasons that name a producer are all shared out, none twice."""
    by = answers.ask("hot", "--by", "producer", "--top", "all")
    named = sum(truth["totals"][r][0] for r in WITH_PRODUCER)
    shared = sum(g["waits"] for g in by["groups"]) + by["barrier"] // truth["period"]
    score.check(f"{what}: samples with a producer are conserved", (by["waits"]["executed"], shared), (named, named))


def compare_made(score, program, folder, tmp, name, has_lines):
    with open(os.path.join(folder, name + ".ncu-rep.truth.json")) as f:
        results = json.load(f)["results"]
    for n, truth in enumerate(results):
        what = f"{name} #{n}"
        answers = Answers(program, made_path(folder, name, n, len(results) if name != "several" else 5), tmp)
        for row in truth["rows"]:
            place = (row["function"], row["offset"])
            where = f"{what} {row['function']}+{row['offset']:#x} {row['op']}"
            if place not in answers.rows:
                score.check(where, sorted(answers.rows)[:3], place)
                continue
            score.check(f"{where}: samples", answers.samples(place), row["reasons"])
            score.check(f"{where}: executions", answers.rows[place]["stated"]["hit"], row["inst_executed"] or 0)
            score.check(f"{where}: lines", lines_of(answers, answers.rows[place]), stated_lines(row) if has_lines else [])
            for reason in SCOREBOARD:
                if reason in row["reasons"]:
                    want = {tuple(p) for p in row["producers"].get(reason, [])}
                    score.check(f"{where}: producers of {reason}", answers.links.get((place, reason), set()), want)
        totals = answers.ask("hot")["totals"]
        want = {"samples": truth["samples"] or None, "exposed_samples": truth["not_issued"] or None, "hit": truth["inst_executed"]}
        score.check(f"{what}: totals", {k: totals.get(k) for k in want}, want)
        if truth["has_samples"]:
            conserved(score, what, answers, truth)


# Words that the vendor's assembler made of our own kernels: instruction, its address, target, low and high half.
WORDS = [
    (Inst("BRA", guard=1, waits=(1,), stall=5), 0x90, 0x170, 0x0000000000341947, 0x002FEA0003800000),
    (Inst("BRA", guard=8, stall=5), 0x160, 0xD0, 0xFFFFFFFC00D88947, 0x000FEA000383FFFF),
    (Inst("CALL.REL", stall=5), 0x1160, 0x1200, 0x0000000000247944, 0x000FEA0003C00000),
    (Inst("RET", (8,), waits=(0,), stall=5), 0x1860, None, 0xFFFFFFE408E47950, 0x001FEA0003C3FFFF),
    (Inst("BSSY", stall=1), 0x50, 0x180, 0x0000012000007945, 0x000FE20003800000),
    (Inst("LDG", (3, 2), writes=2, stall=1), 0, None, 0x0000000802037981, 0x000EA2000C1E1900),
    (Inst("STG", (8, 11), reads=3, stall=10), 0, None, 0x0000000B08007986, 0x0007F4000C101908),
    (Inst("LDGDEPBAR", writes=0, stall=2), 0, None, 0x00000000000079AF, 0x000E240000000000),
    (Inst("MUFU.EX2", (9, 7), writes=0, stall=2), 0, None, 0x0000000700097308, 0x000E240000000800),
    (Inst("FFMA", (11, 12, 11, 12), stall=1), 0, None, 0x0000000B0C0B7223, 0x000FE2000000000C),
    (Inst("BAR.SYNC", stall=6), 0, None, 0x0000000000007B1D, 0x000FEC0000010000),
    (Inst("WARPGROUP.DEPBAR", number=1, stall=2), 0, None, 0x00008000000079C5, 0x000FE40000010100),
]


def encoder(score, *_):
    for inst, address, target, low, high in WORDS:
        score.check(f"{inst.op} at {address:#x}", struct.unpack("<QQ", sass.encode(inst, address, target)), (low, high))


def made(score, program, tmp):
    folder = os.path.join(tmp, "made")
    os.makedirs(folder)
    make_report.check_programs()
    for name, make in make_report.VARIANTS.items():
        report = make()
        make_report.write(report, os.path.join(folder, name + ".ncu-rep"))
        with open(os.path.join(folder, name + ".ncu-rep"), "rb") as f, open(os.path.join(DATA, name + ".ncu-rep"), "rb") as g:
            score.check(f"tests/data/ncu/{name}.ncu-rep is what the generator makes", f.read() == g.read(), True)
        for truth, r in zip(report.truth, ncu_pass.read(os.path.join(folder, name + ".ncu-rep"))):
            got = ncu_pass.summary(r)
            score.check(f"{name}: a plain reader finds the truth", [got[k] for k in ("kernel", "samples", "not_issued", "inst_executed")],
                        [truth[k] for k in ("kernel", "samples", "not_issued", "inst_executed")])
        compare_made(score, program, folder, tmp, name, name not in ("old", "few"))


def jumped(score, program, tmp):
    """Producers on every way of a jump through a table and in a function that a relocation names; the ways stand in the listing."""
    make_report.write(make_report.jumps(), os.path.join(tmp, "jumps.ncu-rep"))
    compare_made(score, program, tmp, tmp, "jumps", True)
    trace = Answers(program, os.path.join(tmp, "jumps.ncu-rep"), tmp).trace
    ways = [(link["kind"], trace["code"][link["to"]]["isa"].split()[0]) for link in trace["code_links"]
            if trace["code"][link["row"]]["isa"].startswith("BRX")]
    score.check("jumps: where BRX goes", [w for w in ways if w[0] in ("goto", "end")], [("goto", "LDS"), ("goto", "LDG"), ("goto", "LDSM")])


def write_one(path, parts, lines=True, **how):
    """A report of one launch."""
    report, module = make_report.Report(), make_report.Program(1, parts, has_lines=lines)
    for message in module.messages():
        report.put_block(sources=[message])
    report.add_result(make_report.Result(module, parts=parts, **how))
    make_report.write(report, path)
    return module


# Rule: how a launch must be that it speaks. Else (many samples, a locked clock, one pass) none does.
RULES = {"few-samples": {"scale": 1}, "dropped-samples": {"dropped_bytes": 4096}, "no-line-info": {"lines": False},
         "short-kernel": {"duration_ns": 900.0}, "clock-not-locked": {"locked": 0}, "replayed": {"extra": {"profiler__replayer_passes": 38.0}},
         "different-clocks": {"extra": {"gpc__cycles_elapsed.avg.per_second": 1.7e9}}, "no-samples": {"has_samples": False}}
QUIET = {"scale": 4, "locked": 1, "extra": {"profiler__replayer_passes": 1.0, "gpc__cycles_elapsed.avg.per_second": 1.95e9}}


def rules(score, program, tmp):
    path = os.path.join(tmp, "rules.ncu-rep")
    for rule, how in [(None, {}), *RULES.items()]:
        write_one(path, [kernels.scale_rows()], **{**QUIET, **how, "extra": {**QUIET["extra"], **how.get("extra", {})}})
        p = subprocess.run([program, "check", "--json", path], capture_output=True, text=True)
        got = [f["id"] for f in json.loads(p.stdout)["data"]["findings"]]
        score.check(f"check of a launch made for {rule}", got, [rule] if rule else [])


H = "launch__occupancy_limit_"
STATED = (H + "registers", H + "shared_mem", H + "warps", H + "blocks")
# How the launch is, limits of blocks per SM with their source, what would give one more.
LIMITS = [
    ({}, {"registers": 10, "shared memory": 114, "warps": 8, "blocks": 32, "grid": 32}, "report", "the SM holds no more warps"),
    ({"extra": {n: None for n in STATED} | {"device__attribute_max_blocks_per_multiprocessor": 32}},
     {"registers": 10, "shared memory": 114, "warps": 8, "blocks": 32, "grid": 32}, "computed", "the SM holds no more warps"),
    ({"threads": (32, 1, 1)}, {"registers": 85, "shared memory": 114, "warps": 64, "blocks": 32, "grid": 32}, "report",
     "the SM holds no more than 32 blocks: larger blocks would fill it; 33 blocks need a grid of more than 4224 blocks (now 4096)"),
    ({"extra": {H + "registers": None, "launch__registers_per_thread_allocated": 120.0}},
     {"registers": 2, "shared memory": 114, "warps": 8, "blocks": 32, "grid": 32}, "report", "3 blocks need <= 80 registers per thread (now 120)"),
    ({"extra": {H + "shared_mem": 2.0, "launch__shared_mem_per_block_allocated": 99328}},
     {"registers": 10, "shared memory": 2, "warps": 8, "blocks": 32, "grid": 32}, "report",
     "3 blocks need <= 77824 bytes of shared memory per block (now 99328)"),
    ({"extra": {"launch__cluster_size": 4, "launch__cluster_max_active": 66}},
     {"registers": 10, "shared memory": 114, "warps": 8, "blocks": 32, "clusters": 2, "grid": 32}, "report",
     "3 blocks need smaller clusters (now 4 blocks)"),
    ({"grid": (140, 1, 1)}, {"registers": 10, "shared memory": 114, "warps": 8, "blocks": 32, "grid": 2}, "report",
     "3 blocks need a grid of more than 264 blocks (now 140)"),
]


def limits(score, program, tmp):
    path = os.path.join(tmp, "limits.ncu-rep")
    for how, want, source, step in LIMITS:
        write_one(path, [kernels.scale_rows()], **how)
        p = subprocess.run([program, "occupancy", "--json", path], capture_output=True, text=True)
        got = json.loads(p.stdout)["data"]["limits"]
        blocks = got["blocks"]
        score.check(f"limits of {how}", {x["limit"]: x["blocks"] for x in blocks["by"]}, want)
        score.check(f"limits of {how}: the least", blocks["per_sm"], min(want.values()))
        score.check(f"limits of {how}: from", blocks["by"][2]["source"], source)
        score.check(f"limits of {how}: next step", got["next_step"], step)


def first_of(program, path):
    p = subprocess.run([program, "hot", "--json", "--top", "1", path], capture_output=True, text=True)
    return json.loads(p.stdout)["data"]["rows"][0]


def planted_waits(score, program, tmp):
    """A bottleneck at each row that can wait: it comes first, with its reason and one of its producers."""
    path = os.path.join(tmp, "planted.ncu-rep")
    for parts in ([kernels.scale_rows()], [kernels.tiles()], kernels.calls()):
        for f, n, reason in [(f, n, r) for f in parts for n, i in enumerate(f.insts) for r in i.after]:
            module = write_one(path, parts, planted=(f.name, n, reason))
            row = first_of(program, path)
            where = f"{parts[0].name}: {reason} planted at {f.name}+{16 * n:#x}"
            score.check(where, (row["address"], max(row["exposed_reasons"], key=row["exposed_reasons"].get)),
                        (module.addresses[f.name] + 16 * n, reason))
            by_name = {g.name: g for g in parts}
            names = {by_name[g].insts[k].op.split(".")[0] for g, k in kernels.stated(parts, f, f.insts[n], (reason,))}
            score.check(f"{where}: whom it waits for", re.split("[. ]", row["waits_for"]["isa"])[0] in names, True)


def bottlenecks(score, program, tmp):
    """What everyone would look for comes first: its cause and line in the first sentence of summary, its instruction in hot."""
    path = os.path.join(tmp, "bottleneck.ncu-rep")
    for case in planted.cases():
        kernels.check([case.function], case.function.name)
        module = write_one(path, [case.function], case=case, extra=case.extra)
        p = subprocess.run([program, "summary", "--json", path], capture_output=True, text=True, env={**os.environ, "INCORE_DISASM": "none"})
        said = json.loads(p.stdout)["data"]["verdict"]
        score.check(f"{case.name}: {said}", [w for w in case.words if w not in said], [])
        n = case.row if isinstance(case.row, int) else case.function.labels[case.row]
        score.check(f"{case.name}: hot", first_of(program, path)["address"], module.addresses[case.function.name] + 16 * n)


def cut(score, program, tmp):
    """Results before the place where a file ends are read and say so; without one the file is refused, with the offset."""
    path, whole = os.path.join(tmp, "cut.ncu-rep"), make_report.several().finish()
    starts = [m.start() for m in re.finditer(re.escape(number(1, 516) + number(2, 577) + number(3, 93859672062080)), whole)]
    for at, results, where in ((starts[0] + 900, 0, None), (starts[1] - 400, 1, "a block after result 0"), (starts[1] + 5, 1, "result 1"),
                               (starts[2] + 5000, 2, "result 2"), (len(whole) - 1, 5, "a block after result 4")):
        with open(path, "wb") as f:
            f.write(whole[:at])
        last = f"{path}#{results - 1}" if results > 1 else path
        p = run(program, ["check", "--json", last])
        if not results:
            error = json.loads(p.stderr)["error"]
            score.check(f"cut at {at}: refused", (p.returncode, error["code"], error["offset"] < at), (3, "truncated", True))
            continue
        found = [f["message"] for f in json.loads(p.stdout)["data"]["findings"] if f["id"] == "truncated"]
        score.check(f"cut at {at}: told", found, [f"the file ends at offset {at} inside {where}: everything after it is missing"])
        score.check(f"cut at {at}: hot, and --strict", [run(program, ["hot", *words, last]).returncode for words in ([], ["--strict"])], [0, 4])
        score.check(f"cut at {at}: no further result", run(program, ["hot", f"{path}#{results}"]).returncode, 3)


def crashed(p):
    """Why this end of a run is wrong, whatever the input was."""
    if b"\x1b" in p.stdout + p.stderr or b"\x07" in p.stdout + p.stderr:
        return "a control character of a name reaches the terminal"
    return bad_input.broken(p)


def run(program, words):
    return subprocess.run([program, *words], capture_output=True, timeout=120, stdin=subprocess.DEVNULL)


def damaged(score, program, tmp):
    path = os.path.join(tmp, "damaged.ncu-rep")
    times = int(os.environ.get("TIMES", "1"))
    cases = [*mutants.cases(), *[(n, d, mutants.TOLD) for n, d in mutants.random_cases(RANDOM * times)]]
    for k, (name, data, allowed) in enumerate(cases):
        with open(path, "wb") as f:
            f.write(data)
        for verb in VERBS + [OTHERS[k % len(OTHERS)]] if not name.startswith("random") else [OTHERS[k % len(OTHERS)]]:
            p = run(program, [*verb, path])
            why = crashed(p)
            if not why and allowed == mutants.REFUSED and p.returncode != 3:
                why = f"exit status {p.returncode}, expected 3"
            if not why and allowed == mutants.SOUND and p.returncode not in (0, 1):
                why = f"exit status {p.returncode}: {p.stderr.decode(errors='replace')[:300]}"
            score.check(f"{name}: {' '.join(verb)}", why, None)
        if allowed == mutants.NOTED:
            score.check(f"{name}: hot --strict", run(program, ["hot", "--strict", path]).returncode, 4)


def by_place(instances, functions):
    """{(function, offset): integer} of a metric of the vendor's answers."""
    return {ncu_pass.place(int(address), functions): n for address, n in instances.items()}


def is_by_instruction(instances, functions):
    low = min(f[0] for f in functions)
    return all(a.isdigit() and low <= int(a) < low + (1 << 32) for a in instances)


def compare_real(score, program, folder, tmp, kernel):
    path = os.path.join(folder, "report.ncu-rep")
    with open(os.path.join(folder, "ncu_report_py.json")) as f:
        vendor = json.load(f)["metrics"]
    plain = next(ncu_pass.read(path))
    answers = Answers(program, path, tmp)
    samples, compared = {place: answers.samples(place) for place in answers.rows}, 0
    for name, instances in sorted(vendor.items()):
        if BY_NAME in name or not is_by_instruction(instances, plain["functions"]):
            continue
        want = {k: v for k, v in by_place(instances, plain["functions"]).items() if v}
        compared += len(instances)
        if name.startswith(facts.STALL):
            reason, column = name[len(facts.STALL):], 0
            if reason.endswith("_not_issued"):
                reason, column = reason[:-len("_not_issued")], 1
            got = {k: s[reason][column] for k, s in samples.items() if reason in s}
        elif name == "smsp__pcsamp_sample_count":
            got = {k: sum(c[0] for c in s.values()) for k, s in samples.items()}
        elif name == "inst_executed":
            got = {k: row["stated"]["hit"] for k, row in answers.rows.items()}
        else:
            got = answers.metrics.get(name, {})
        score.check(f"{kernel}: {name} of every instruction", {k: v for k, v in got.items() if v}, want)
    score.check(f"{kernel}: {compared} values compared", compared > 40 * 20, True)
    compare_operands(score, folder, kernel, answers)
    totals_of_pages(score, folder, kernel, samples, answers, plain)
    explained(score, kernel, samples, answers)


def operands(text, address):
    """Behind the mnemonic, in any order; targets as distances."""
    words = text.replace(".reuse", "").split()
    parts = [p.strip() for p in " ".join(words[2 if words[0][0] == "@" else 1:]).replace(" ,", ",").split(",")]
    if words[1 if words[0][0] == "@" else 0].split(".")[0] in ("BRA", "CALL", "BSSY"):
        parts = [f"{int(p, 16) - address:+d}" if p.startswith("0x") else p for p in parts]
    return sorted(parts)


def compare_operands(score, folder, kernel, answers):
    """Our own text against the vendor's source page: what is written is right, and nearly all is."""
    with open(os.path.join(folder, "source.csv"), newline="") as f:
        lines = list(csv.reader(f))
    head = next(n for n, line in enumerate(lines) if "Source" in line and "Address" in line)
    texts = [line[lines[head].index("Source")] for line in lines[head + 1:]]
    rows = [row for row in answers.trace["code"] if not row["is_label"]]
    pairs = [(row["isa"], operands(row["isa"], row["address"]), operands(text, row["address"])) for row, text in zip(rows, texts)]
    score.check(f"{kernel}: rows with text", len(pairs), len(rows))
    score.check(f"{kernel}: operands are the vendor's", [p for p in pairs if p[1] != p[2] and "?" not in p[0]][:3], [])
    known = sum("?" not in isa for isa, _, _ in pairs)
    score.check(f"{kernel}: operands of {known} of {len(rows)} rows, at least 99 %", known >= 0.99 * len(rows), True)


def totals_of_pages(score, folder, kernel, samples, answers, plain):
    """The vendor's pages "raw" and "details"."""
    with open(os.path.join(folder, "raw.csv"), newline="") as f:
        head, _, values = list(csv.reader(f))[:3]
    raw = dict(zip(head, values))
    with open(os.path.join(folder, "details.csv"), newline="") as f:
        details = list(csv.DictReader(f))
    tables = {t["name"]: t["rows"] for t in answers.ask("info")["tables"]}
    score.check(f"{kernel}: rows of tables", [tables[k] for k in ("sections", "rules")],
                [sum(bool(row.get(k)) for row in details) for k in ("Metric Name", "Rule Name")])
    score.check(f"{kernel}: metrics kept", tables["metrics"] >= len(plain["metrics"]) >= len(head) - 11, True)
    score.check(f"{kernel}: instructions executed", answers.ask("hot")["totals"]["hit"], int(raw["inst_executed"].replace(",", "")))
    for reason in facts.REASONS:
        for column, tail in ((0, ""), (1, "_not_issued")):
            text = raw.get(facts.STALL + reason + tail)
            if text:
                got = sum(s[reason][column] for s in samples.values() if reason in s)
                score.check(f"{kernel}: total of {reason}{tail}", got, int(float(text.replace(",", ""))))


def explained(score, kernel, samples, answers):
    every = found = 0
    for place, s in samples.items():
        for reason in SCOREBOARD:
            n = s.get(reason, [0])[0]
            every += n
            found += n if answers.links.get((place, reason)) else 0
    score.check(f"{kernel}: {found} of {every} scoreboard samples have a producer", every > 0 and found >= 0.99 * every, True)


def real(score, program, tmp):
    shared = os.path.join(os.environ.get("INCORE_SHARED") or os.path.join(ROOT, "..", "shared"), "data", "nvidia")
    for kernel in KERNELS:
        folder = os.path.join(shared, kernel)
        if os.path.isdir(folder):
            compare_real(score, program, folder, tmp, kernel)
        else:
            score.skip(kernel, "no capture data (set INCORE_SHARED)")


def main():
    program, score = os.path.join(os.path.abspath(sys.argv[1]), "incore"), Score()
    with tempfile.TemporaryDirectory() as tmp:
        for part in (encoder, made, jumped, rules, limits, cut, bottlenecks, planted_waits, damaged, real):
            part(score, program, tmp)
    print(f"{score.passed} passed, {score.failed} failed, {score.skipped} skipped")
    return score.failed > 0


if __name__ == "__main__":
    sys.exit(main())
