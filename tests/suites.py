# SPDX-License-Identifier: Apache-2.0
"""The table of suites: what each runs, what it needs, what it costs."""
import json
import os
import re
import subprocess
import sys

from jobs import Suite, script_counts

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# THIN: where the plain program runs every command on everything, this one runs each on a part; not so in a soak.
SANITIZED = {
    "THIN": "1",
    "ASAN_OPTIONS": "exitcode=99:detect_leaks=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "halt_on_error=1:exitcode=99:print_stacktrace=1",
}
# Of the browser tests those that ask the server most different things.
ASAN_UI = ["opening:", "open: an AMD", "open: damaged", "compare: parts", "counters: derived", "select: box", "select: a wait", "security:"]
# Programs of fixed address start a quarter sooner: hundreds of thousands of relocations are ASan's. clang warns where it links libraries.
FIXED = ["-no-pie", "-Wno-unused-command-line-argument"]


def clang(optimization, compiled, linked):
    """Options of a build that is for reports of a sanitizer alone. They need lines, not variables; lld links in a quarter of the time."""
    return ["-Ddebug=false", f"-Doptimization={optimization}", "-Db_lundef=false", f"-Dc_args={['-gline-tables-only', *compiled]}",
            *[f"-D{language}_link_args={['-fuse-ld=lld', *linked]}" for language in ("c", "cpp")]]


BUILDS = {  # suite: folder, compiler, options, targets
    "build": ("build", "gcc", ["-Dwerror=true"], ()),
    # the first report ends the program: no way on from it is compiled
    "asan-build": ("build-asan", "clang", ["-Dwerror=true", "-Db_sanitize=address,undefined", "-Dfault=true",
                                           *clang(1, ["-fno-sanitize-recover=undefined"], FIXED)], ()),
    # Two suites run it: to compile it well costs more than it gives, and every access stays for the sanitizer to see.
    "tsan-build": ("build-tsan", "clang", ["-Db_sanitize=thread", *clang(0, [], [])], ("incore", "tests/unit/test_dump_threads")),
}


def build(folder, compiler, options, targets):
    """One item: compiles everything (or the targets) without a warning."""
    def run(result):
        given = ["-Dtests=true", *options]
        is_there = os.path.exists(os.path.join(ROOT, folder, "build.ninja"))
        rc, text = result.call(["meson", "configure" if is_there else "setup", folder, *given], ROOT, {"CC": compiler})
        if rc == 0:
            rc, text = result.call(["ninja", "-C", folder, "-j", str(result.cores), "--quiet", *targets], ROOT)
        result.add(int(rc == 0), int(rc != 0), 0, text)
    return run


def script(*words, env=None):
    """A Python script that ends with `N passed, N failed, N skipped`; files are named as from the root."""
    def run(result):
        full = [os.path.join(ROOT, w) if w.startswith(("tests/", "tools/", "bench/", "build")) else w for w in words]
        rc, text = result.call([sys.executable, *full], ROOT, env)
        counts = script_counts(text)
        passed, failed, skipped = counts or (0, 1, 0)
        text += "" if counts else "\nits last line is not `N passed, N failed, N skipped`"
        if rc and not failed:
            failed = 1
        if not failed:
            result.text += "".join(line + "\n" for line in text.splitlines() if line.startswith(("SKIP", "slow ")))
        result.add(passed, failed, skipped, text)
    return run


def tap_counts(rc, text):
    """cmocka programs are counted test by test (TAP), others as one each."""
    tap = re.findall(r"^(ok|not ok) \d+(.*)$", text, re.M)
    if not tap:
        return int(rc == 0), int(rc not in (0, 77)), int(rc == 77)
    # cmocka 1.1 says "not ok 1 # SKIP name" of a skipped test
    skipped = sum("# SKIP" in rest for _, rest in tap)
    failed = sum(s == "not ok" and "# SKIP" not in rest for s, rest in tap)
    return len(tap) - failed - skipped, failed or int(rc != 0), skipped


def tap_reasons(name, rc, text):
    """A line for each reason that tests were left out for: what they said just before."""
    lines = text.splitlines()
    left = [i for i, line in enumerate(lines) if re.match(r"(not )?ok \d+.*# SKIP", line)] or ([len(lines)] if rc == 77 else [])
    told = [lines[i - 1] if i and not re.match(r"(not )?ok \d|\d+\.\.\d", lines[i - 1]) else "it does not say why" for i in left]
    for why in dict.fromkeys(told):
        yield f"SKIP {name}: {why}" + (f" ({told.count(why)} tests)" if told.count(why) > 1 else "") + "\n"


def programs(folder, suite, env=None):
    """The programs of a Meson suite, one after the other."""
    def run(result):
        out = subprocess.run(["meson", "introspect", "--tests", folder], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for t in json.loads(out):
            if any(s.split(":")[-1] == suite for s in t["suite"]):
                rc, text = result.call(t["cmd"], ROOT, {**t["env"], **(env or {}), "CMOCKA_MESSAGE_OUTPUT": "TAP"})
                result.add(*tap_counts(rc, text), f"--- {t['name']} (exit status {rc})\n{text}")
                result.text += "".join(tap_reasons(t["name"], rc, text))
    return run


def one_after_another(*runs):
    def run(result):
        for r in runs:
            r(result)
    return run


def formatted(is_changed_only):
    def run(result):
        lists = [["git", "ls-files", "-co", "--exclude-standard", "*.c", "*.h"]]
        if is_changed_only:
            lists = [["git", "diff", "--name-only", "HEAD", "--", "*.c", "*.h"],
                     ["git", "ls-files", "-o", "--exclude-standard", "*.c", "*.h"]]
        files = [f for words in lists for f in subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()]
        files = [f for f in files if os.path.exists(os.path.join(ROOT, f))]
        text = result.call(["clang-format", "--dry-run", "-Werror", *files], ROOT)[1] if files else ""
        bad = sorted(set(re.findall(r"^([^:\n]+):\d+:\d+: error", text, re.M)))
        result.add(len(files) - len(bad), len(bad), 0, "not formatted: " + " ".join(bad))
    return run


def conformance(folder, env=None):
    return one_after_another(programs(folder, "conformance", env), script("tests/conformance/run.py", folder + "/incore", env=env),
                             script("tests/conformance/dump_facts.py", folder + "/incore", env=env))


def robust(folder, env=None):
    """Many random damages; the 100,000 waves are in bad-input."""
    return script("tests/robust/run.py", folder + "/incore", env={"ROBUST_WAVES": "2000", **(env or {})})


def plain(name, cost_s, *words, env=None, cores=1):
    """A script with the plain program; BUILD stands for its folder."""
    return Suite(name, script(*[w.replace("BUILD", "build") for w in words], env=env), ("build",), cost_s, cores)


def asan(name, cost_s, *words, env=None, cores=1):
    full = [w.replace("BUILD", "build-asan") for w in words]
    return Suite("asan-" + name, script(*full, env={**SANITIZED, **(env or {})}), ("asan-build",), cost_s, cores)


def both(name, cost_s, asan_cost_s, *words, cores=1):
    return [plain(name, cost_s, *words, cores=cores), asan(name, asan_cost_s, *words, cores=cores)]


def both_of(name, make, cost_s, asan_cost_s):
    return [Suite(name, make("build", None), ("build",), cost_s),
            Suite("asan-" + name, make("build-asan", SANITIZED), ("asan-build",), asan_cost_s)]


def everything(is_check):
    """All suites but those of a soak; the seconds are of work (user and system), measured on two cores."""
    two = {"JOBS": "2"}  # pages wait for the server and the screen: two tests at a time leave most of a core to others
    return [
        # where ASan's is built, too, each has a core, and what needs this one alone starts while the longer goes on
        Suite("build", build(*BUILDS["build"]), (), 115, 2 if is_check else 1),
        *[Suite(name, build(*BUILDS[name]), (), cost_s) for name, cost_s in (("asan-build", 200), ("tsan-build", 55))],
        Suite("runner", script("tests/runner.py")),
        Suite("layers", script("tools/check_layers.py")),
        Suite("format", formatted(is_check), cost_s=5),
        plain("lint", 10, "tools/lint.py", "--changed", "BUILD"),
        Suite("ui-unit", script("tests/ui_unit.py"), cost_s=15),
        plain("house", 2, "tools/check_house.py", "BUILD"),
        *both_of("unit", lambda where, env: programs(where, "unit", env), 23, 31),
        *both_of("fuzz", lambda where, env: programs(where, "fuzz", env), 1, 5),
        *both_of("conformance", conformance, 27, 81),
        *both_of("robust", robust, 10, 39),
        plain("names", 9, "tests/robust/names.py", "BUILD/incore"),
        *both("golden", 19, 55, "tests/golden/run.py", "BUILD"),
        *both("insight", 1, 2, "tests/insight_check.py", "--suite", "BUILD/incore"),
        *both("insight-cases", 1, 3, "tests/insight_cases.py", "BUILD/incore"),
        *both("clean-cases", 1, 5, "tests/conformance/clean.py", "BUILD/incore"),
        plain("clean-memory", 6, "tests/conformance/clean_memory.py", "BUILD/incore"),
        plain("formats", 10, "tests/formats/run.py", "BUILD"),
        asan("formats", 10, "tests/formats/run.py", "BUILD", env={"INCORE_NO_NPM": "1"}),
        *both("ncu", 8, 30, "tests/ncu/run.py", "BUILD"),
        *both("planted", 1, 3, "tests/gpu/planted.py", "BUILD"),
        *both("twins", 1, 6, "tests/gpu/twins.py", "BUILD"),
        plain("cuda-header", 8, "tests/gpu/header.py"),
        *both("rocprof", 3, 10, "tests/rocprof/run.py", "BUILD"),
        *both("pipes", 2, 5, "tests/conformance/pipes.py", "BUILD/incore"),
        plain("why", 6, "tests/conformance/why.py", "BUILD/incore"),
        plain("whatif", 6, "tests/conformance/whatif.py", "BUILD/incore"),
        plain("verdict", 4, "tests/conformance/verdict.py", "BUILD/incore"),
        plain("whatif-steps", 6, "tests/whatif_steps.py", "build/incore"),
        plain("verdict-machines", 3, "tests/verdict_machines.py", "BUILD"),
        plain("whatif-truth", 3, "bench/whatif_truth.py", "BUILD", "--check"),
        plain("whatif-pairs", 2, "bench/whatif_pairs.py", "check", "BUILD/incore"),
        *both("advise", 2, 9, "tests/advise.py", "BUILD"),
        plain("attribution", 1, "bench/attribution.py", "BUILD/tests/attribution", "--check"),
        *both("ascend-bad-input", 28, 65, "tests/ascend_bad_input.py", "BUILD"),
        *both("model", 31, 29, "tests/model/run.py", "BUILD"),
        *both("replay", 26, 60, "tests/replay/run.py", "BUILD"),
        *both("replay-msprof", 51, 48, "tests/replay/cann/run.py", "BUILD"),
        plain("capture", 28, "tests/capture/run.py", "BUILD"),
        plain("cuda", 14, "tests/cuda/run.py", "BUILD"),
        # the application dies on purpose, and what the library keeps until the end of the process is no leak
        asan("cuda", 25, "tests/cuda/run.py", "BUILD", env={"ASAN_OPTIONS": SANITIZED["ASAN_OPTIONS"].replace("leaks=1", "leaks=0:handle_segv=0")}),
        plain("sweep", 13, "tests/sweep/run.py", "BUILD"),
        plain("sweep-slurm", 8, "tests/sweep/slurm.py", "BUILD", cores=0),  # waits for Slurm to miss a node
        *both("lib", 3, 8, "tests/lib/run.py", "BUILD"),
        plain("mcp", 9, "tests/mcp/run.py", "BUILD"),
        plain("doors", 9, "tests/doors/run.py", "BUILD"),
        asan("mcp", 6, "tests/mcp/run.py", "BUILD", env={"INCORE_NO_NPM": "1"}),
        plain("python", 20, "tests/python/run.py", "BUILD"),
        *both("sql", 10, 20, "tests/sql/run.py", "BUILD/incore"),
        *both("store", 6, 20, "tests/store/run.py", "BUILD"),
        plain("store-postgres", 12, "tests/store/postgres.py", "BUILD", cores=2),
        plain("action", 2, "tests/gate/action.py", "BUILD"),
        plain("gate", 3, "tests/gate/run.py", "BUILD"),
        asan("gate", 6, "tests/gate/run.py", "BUILD", env={"INCORE_NO_NPM": "1"}),
        *both("serve", 12, 23, "tests/serve/run.py", "BUILD"),
        *both("serve-board", 2, 6, "tests/serve/board.py", "BUILD"),
        *both("serve-rules", 1, 2, "tests/serve/rules.py", "BUILD", cores=0),  # waits for clients to be hung up on
        plain("fixtures", 1, "tests/fixtures.py", "BUILD/examples/make_capture", "BUILD/tests/sqtt/make_sqtt"),
        *both("rgp", 4, 12, "tests/formats/rgp.py", "BUILD/incore"),
        *both("chunks", 12, 14, "tests/formats/chunks.py", "BUILD/incore"),
        plain("ascend-fixtures", 1, "tests/ascend_fixtures.py"),
        plain("dump-fixtures", 1, "tests/dump_fixtures.py", "BUILD/examples/paged_attention"),
        plain("insight-mutants", 5, "tests/insight_mutants.py", "BUILD/incore"),
        plain("man", 6, "tests/man_examples.py", "BUILD"),
        plain("bundle", 9, "tests/bundle/run.py", "BUILD"),
        plain("release", 22, "tests/release/run.py", "BUILD"),
        Suite("three-minutes", script("tests/gate/three_minutes.py", "build"), ("release",), 10),
        plain("demo", 5, "tests/demo.py", "BUILD"),
        plain("recipes", 9, "tests/recipes.py", "BUILD"),
        plain("schemas", 36, "tests/schemas.py", "BUILD"),
        plain("opens", 5, "tests/opens/run.py", "BUILD"),
        plain("files", 4, "tests/files/run.py", "BUILD"),
        plain("bad-input", 14, "tests/bad_input.py", "BUILD"),
        asan("bad-input", 18, "tests/bad_input.py", "BUILD", "--no-scale"),
        plain("dump-bad-input", 4, "tests/dump_bad_input.py", "BUILD"),
        asan("dump-bad-input", 12, "tests/dump_bad_input.py", "BUILD", "--no-scale"),
        plain("ascend-reader", 2, "tests/ascend_reader.py", "BUILD"),
        plain("notes", 3, "tests/notes.py", "BUILD"),
        plain("dump-library", 1, "tests/dump_library.py", "BUILD"),
        plain("dump-kill", 2, "tests/fault/dump_kill.py", "BUILD"),
        plain("attacks", 14, "tests/attacks/run.py", "BUILD"),
        plain("profile", 18, "tests/profile/run.py", "BUILD"),
        asan("fault", 130, "tests/fault/run.py", "BUILD"),
        asan("dump-fault", 4, "tests/fault/dump_fault.py", "BUILD"),
        plain("ui", 120, "tests/ui_browser.py", "BUILD/incore", env=two, cores=0),
        plain("ui-firefox", 12, "tests/ui_browser.py", "--firefox", "BUILD/incore"),
        asan("ui", 60, "tests/ui_browser.py", "BUILD/incore", *ASAN_UI, env=two),
        Suite("tsan-dump", programs("build-tsan", "threads", {"TSAN_OPTIONS": "halt_on_error=1:exitcode=99"}), ("tsan-build",), 10),
        Suite("tsan-serve", script("tests/serve/threads.py", "build-tsan", env={"TSAN_OPTIONS": "exitcode=99"}), ("tsan-build",), 60),
    ]


CHECK = set("build runner layers format house unit fuzz golden man schemas fixtures ascend-fixtures dump-fixtures insight insight-cases clean-cases pipes "
            "ui-unit dump-bad-input ascend-reader dump-library".split())


def table(tier):
    if tier == "check":
        return [s for s in everything(True) if s.name in CHECK]
    longer = [plain("release-whole", 900, "tests/release/run.py", "BUILD", "--whole", cores=2),
              Suite("fuzz-long", script("tests/fuzz/run.py", "--seconds", os.environ.get("FUZZ_SECONDS", "180")), cost_s=6300, cores=2),
              Suite("fresh", script("tests/fresh.py", "--soak"), cost_s=2600, cores=2),
              plain("verdict-machines-100", 120, "tests/verdict_machines.py", "BUILD", "100")]
    return everything(False) + (longer if tier == "soak" else [])
