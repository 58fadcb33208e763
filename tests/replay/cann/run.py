#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does backend msprof do what CANN's tools expect, and say so when they fail? A made-up CANN (stand_in.py) checks every
command line, file and mode; in some cases the generated project is really built (cmake, ninja, g++) and its host program run.

usage: run.py BUILD_DIR [NAME...]     a function of CASES; real dumps below $INCORE_SHARED/data/dump, absent: a visible skip
"""
import concurrent.futures
import csv
import glob
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, os.path.join(ROOT, "tests", "profile"))
import build as make  # noqa: E402

DUMP = os.path.join(ROOT, "tests", "data", "dumps", "own")
SF = os.path.join(ROOT, "examples", "paged_attention", "kernels", "aiv", "sf.cpp")
KERNELS = os.path.join(HERE, "kernels")
REAL = os.path.abspath(os.path.join(os.environ.get("INCORE_SHARED", os.path.join(ROOT, "..", "shared")), "data", "dump"))
PROGRAMS = ("bisheng", "cmake", "msprof", "nm", "c++filt")
SOURCES = ("replay_kernel.cpp", "replay_launch.cpp", "replay_host.cpp", "CMakeLists.txt", "run_collect.sh",
           "insight_trace_config.json")
NONE = 2**64 - 1
RESULT = [0, 0, 0]
TARGETS = {"a2a3": ("dav_2201", "dav-c220", 220, "PTO_NPU_ARCH_A2A3"), "a5": ("dav_3510", "dav-c310", 310, "PTO_NPU_ARCH_A5")}


def check(ok, what):
    RESULT[not ok] += 1
    if not ok:
        print(f"FAIL {what}", flush=True)
    return ok


def equal(got, want, what):
    return check(got == want, f"{what}: {str(got)[:1200]} is not {str(want)[:600]}")


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)
    os.chmod(path, mode)


class Cann:
    """One installation, and the way to run incore with it."""

    def __init__(self, suite, name, target="a2a3", root=None, triplets=("x86_64-linux",), socs=None, **config):
        self.suite, self.dir = suite, os.path.join(suite.tmp, name)
        self.root = root or os.path.join(self.dir, "cann 1")
        self.home = os.path.join(self.root, "latest")
        soc, arch, number, macro = TARGETS[target]
        self.target, self.state, self.n = target, os.path.join(self.dir, "state"), 0
        self.config = {"home": self.home, "arch": arch, "soc": soc, "includes": [], "simulator": suite.simulator,
                       "libraries": [f"{self.home}/lib64", f"{self.home}/devlib"], "source": SF,
                       "kernel_texts": [f"#define __CCE_AICORE__ {number}\n", f"#define {macro}\n", "EVENT_ID7", "PIPE_FIX",
                                        "<cce_aicore_intrinsics.h>"], **config}
        os.makedirs(self.state)
        for d in ("lib64", "devlib", "bin", "include"):
            os.makedirs(os.path.join(self.home, d))
        for t in triplets:
            for s in socs if socs is not None else [soc]:
                write(f"{self.home}/{t}/simulator/{s}/lib/libruntime_camodel.so", "")
            os.makedirs(f"{self.home}/{t}/devlib")
        for t in ("aarch64-linux", "x86_64-linux"):
            if t in triplets:
                self.config["libraries"] += [f"{self.home}/{t}/devlib",
                                             f"{self.home}/{t}/simulator/{self.config['soc']}/lib"]
        self.config["libraries"].append("/old/libraries")
        for p in PROGRAMS:
            write(f"{self.home}/bin/{p}",
                  f'#!/bin/sh\nexec {sys.executable} -S -E "{HERE}/stand_in.py" {p} "$@"\n', 0o755)
        write(f"{self.home}/tools/msopprof/bin/msopprof", "", 0o755)
        write(f"{self.home}/tools/msopprof/lib64/libmsopprof_injection.so", "")
        self.set_env = f"{self.root}/set_env.sh"
        write(self.set_env, f"""# an environment as CANN makes it
[ $# -eq 0 ] || return 9
touch '{self.state}/sourced'
echo 'CANN is set up'
export ASCEND_HOME_PATH='{self.home}'
export PATH="$ASCEND_HOME_PATH/bin:$PATH"
export LD_LIBRARY_PATH=/old/libraries
export CANN_ODD=$'two\\nlines=1 "quoted"'
""")
        self.env = {"PATH": "/usr/bin:/bin", "HOME": self.dir, "LC_ALL": "C.UTF-8", "STAND_IN": self.state,
                    **{k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}}

    def start(self, *words, sf=True, env=None, named=True, verb="replay"):
        self.ws = os.path.join(self.dir, f"ws{self.n}")
        self.n += 1
        write(os.path.join(self.state, "config.json"), json.dumps(self.config))
        for name in ("calls.txt", "complaints.txt", "pids", "sourced"):
            if os.path.exists(os.path.join(self.state, name)):
                os.unlink(os.path.join(self.state, name))
        full = [verb, "--backend", "msprof", "--target", self.target]
        full += ["-o", self.ws] if verb == "replay" else []
        full += ["--cann-set-env", self.set_env] if named else []
        full += ["--dump", DUMP, "--func", "1", "--source", SF] if sf else []
        return subprocess.Popen([self.suite.program, *full, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, errors="replace", cwd=self.dir, env={**self.env, **(env or {})})

    def run(self, *words, **kw):
        p = self.start(*words, **kw)
        out, err = p.communicate(timeout=600)
        return p.returncode, out, err

    def state_text(self, name):
        path = os.path.join(self.state, name)
        return open(path).read() if os.path.exists(path) else ""

    def calls(self):
        return [json.loads(line)[0] for line in self.state_text("calls.txt").splitlines()]

    def good(self, what, *words, warning="", **kw):
        """Runs to the end; the answer's data."""
        rc, out, err = self.run("--json", *words, **kw)
        if not equal((rc, self.state_text("complaints.txt")), (0, ""), f"{what}: {err}"):
            return {"simulator": "", "verdict": "", "is_partial": None}
        answer = json.loads(out)
        warnings = [w if isinstance(w, str) else w["message"] for w in answer.get("warnings", [])]
        if warning:
            check(any(warning in w for w in warnings), f"{what}: no warning {warning!r}: {warnings}")
        else:
            equal(warnings, [], f"{what}: warnings")
        return answer["data"]

    def bad(self, what, status, texts, *words, calls=None, **kw):
        rc, out, err = self.run(*words, **kw)
        equal(rc, status, f"{what}: exit status; {err}")
        equal(self.state_text("complaints.txt"), "", what)
        for t in texts:
            check(t in err, f"{what}: no {t!r} in {err!r}")
        equal(len(err.splitlines()), 1, f"{what}: lines of the message")
        if calls is not None:
            equal(self.calls(), calls, f"{what}: programs started")
        check(not os.path.exists(os.path.join(self.ws, "insight_export")), f"{what}: a result stands there")


PROBES = ["bisheng", "msprof"]
BUILD = PROBES + ["cmake", "cmake"]
SYMBOL = BUILD + ["nm", "c++filt"]
COLLECT = SYMBOL + ["msprof"]


def is_complete(simulator):
    return os.path.exists(f"{simulator}/trace.json") and os.path.exists(f"{simulator}/visualize_data.bin") and \
        bool(glob.glob(f"{glob.escape(simulator)}/core*/*instr_exe*.csv"))


# --- it works ---

def plain(s):
    c = Cann(s, "plain")
    d = c.good("SF of the own dump")
    equal(c.calls(), COLLECT, "programs started")
    check(d["simulator"].startswith(f"{c.ws}/insight_export/OPPROF_") and d["simulator"].endswith("/simulator"), "place")
    if not check(is_complete(d["simulator"]), "artefacts"):
        return
    equal((d["evidence"], d["is_partial"], d["verdict"]), ("vendor-simulator", False, "complete simulator directory"), "d")
    equal([stat.S_IMODE(os.stat(p).st_mode) for p in (f"{c.ws}/insight_export", f"{c.ws}/run_collect.sh")], [0o700, 0o755],
          "modes")
    log = open(f"{c.ws}/logs/collect.log").read().splitlines()
    check(log[0].startswith("$ msprof op simulator --application=./build/replay_host ") and
          log[-1] == "[exit status 0]", f"log: {log}")
    check("evidence=vendor-simulator\n" in open(f"{c.ws}/summary.txt").read(), "summary")
    equal(subprocess.run([s.program, "info", d["simulator"]], capture_output=True).returncode, 0, "incore info of it")


def targets(s):
    for target in TARGETS:
        c = Cann(s, f"target-{target}", target)
        d = c.good(f"target {target}")
        equal(d["target"], target, "target")
        config = json.load(open(f"{c.ws}/insight_trace_config.json"))
        equal(config["replay"], {"hw_block_num": 1, "platform": target, "soc_version": TARGETS[target][0], "timeout": 120,
                                 "launch_count": 1}, "configuration")
        equal([a["index"] for a in config["args"]], [0, 1, 2, 3, 4], "arguments")
        equal(config["args"][4], {"index": 4, "kind": "scalar", "dtype": config["args"][4]["dtype"], "value": 0x3f800000,
                                  "name": config["args"][4]["name"]}, "scalar")
    c = Cann(s, "arch", arch="dav-c220-vec", debug_lines=True, minutes=4, launches=3)
    c.good("stated architecture, lines, minutes and launches", "--aicore-arch", "dav-c220-vec", "-g", "--msprof-timeout", "4",
           "--launch-count", "3")


def limits(s):
    c = Cann(s, "limits")
    for word in ("0", "2881", "3600"):
        c.bad(f"--msprof-timeout {word}", 2, ["1 to 2880 minutes", word], "--msprof-timeout", word, calls=[])
        check(not os.path.exists(c.ws), "a workspace of a refused request")
    c.bad("--launch-count 5001", 2, ["5000"], "--launch-count", "5001", calls=[])
    for option in ("--soc-version", "--aicore-arch"):
        c.bad(f"{option} with shell text", 2, [option, "x;touch y"], option, "x;touch y", calls=[])
    equal(c.state_text("sourced"), "", "the script")


def dry(s):
    c = Cann(s, "dry")
    rc, _, err = c.run("--dry-run")
    equal(rc, 0, f"dry run: {err}")
    equal([n for n in SOURCES if not os.path.exists(f"{c.ws}/{n}")], [], "missing files of the project")
    equal((c.calls(), os.path.exists(f"{c.state}/sourced")), ([], False), "what a dry run started")
    equal(subprocess.run(["bash", "-n", f"{c.ws}/run_collect.sh"]).returncode, 0, "its script")
    rc, _, err = c.run("--dry-run", named=False, env={"PATH": "/nowhere"})
    equal(rc, 0, f"dry run without CANN: {err}")
    words = [s.program, "replay", "--backend", "msprof", "--dry-run", "--dump", DUMP, "--func", "1", "--source", SF]
    for _ in range(3):
        equal(subprocess.run(words, cwd=c.dir, env=c.env, capture_output=True).returncode, 0, "dry run")
    made = glob.glob(f"{glob.escape(c.dir)}/outputs/replay_sf_*")
    equal(len(made), 3, "workspaces of three runs at once")
    equal([n for m in made for n in SOURCES if not os.path.exists(f"{m}/{n}")], [], "missing files")
    c.run("--dry-run", "--soc-version", "dav_9", "--aicore-arch", "dav-c9")
    text = open(f"{c.ws}/run_collect.sh").read()
    check("\nsoc=dav_9\narch=dav-c9\n" in text and f"\nset_env='{c.set_env}'\n" in text, "stated names in a dry run")


def by_hand(s):
    """run_collect.sh does what incore does: the same programs with what they insist on."""
    for mode, n in (("new", 1), ("old", 2)):
        c = Cann(s, f"by-hand-{mode}", collect=mode)
        rc, _, err = c.run("--dry-run")
        p = subprocess.run([f"{c.ws}/run_collect.sh"], capture_output=True, text=True, cwd="/", env=c.env)
        equal((p.returncode, c.state_text("complaints.txt")), (0, ""), f"run_collect.sh: {p.stdout}{p.stderr}")
        equal(c.calls(), ["cmake", "cmake"] + ["msprof"] * n, "programs started by the script")
        check(is_complete(p.stdout.splitlines()[-1]), "what the script names")


def headers(s):
    c = Cann(s, "headers")
    isa = os.path.join(c.dir, "isa")
    os.makedirs(f"{isa}/include")
    os.makedirs(f"{c.dir}/my headers")
    c.config["includes"] = [f"{c.dir}/my headers", f"{isa}/include"]
    c.good("relative folders of headers", "-I", "my headers", "--pto-isa-root", "isa")
    c.bad("a folder of headers that is not there", 3, ["no-such-folder"], "-I", "no-such-folder", calls=PROBES)
    os.makedirs(f"{c.dir}/a;b")
    c.bad("a folder of headers with a semicolon", 3, ["a;b", "semicolon"], "-I", "a;b", calls=PROBES)
    shutil.copytree(os.path.dirname(os.path.dirname(SF)), f"{c.dir}/it$HOME`x`")
    c.bad("a source with shell text in its path", 3, ["dollar sign"], "--func", "1", "--dump", DUMP, "--source",
          f"{c.dir}/it$HOME`x`/aiv/sf.cpp", sf=False, calls=PROBES)


# --- where CANN is ---

def places(s):
    c = Cann(s, "place-home", root=os.path.join(s.tmp, "place-home", "Ascend", "ascend-toolkit"))
    if not (os.path.exists("/usr/local/Ascend") or os.path.exists("/opt/Ascend")):
        c.good("below ~/Ascend", named=False)
        c.bad("nowhere", 5, ["/usr/local/Ascend/ascend-toolkit/set_env.sh", "/opt/Ascend/set_env.sh", "/none/Ascend/set_env.sh",
                             "--backend model"], named=False, env={"HOME": "/none"}, calls=[])
    else:
        RESULT[2] += 1
        print("SKIP a CANN is installed in a usual place: the search for none is left out")
    far = {"HOME": "/none"}
    c.good("$CANN_SET_ENV", named=False, env={**far, "CANN_SET_ENV": c.set_env})
    c.good("$ASCEND_HOME_PATH's parent", named=False, env={**far, "ASCEND_HOME_PATH": c.home})
    c.good("$ASCEND_HOME_PATH", named=False, env={**far, "ASCEND_HOME_PATH": c.root})
    c.good("--cann-home", "--cann-home", c.home, named=False, env=far)
    c.good("a relative script", "--cann-set-env", os.path.relpath(c.set_env, c.dir), named=False, env=far)
    c.bad("a script that is not there", 5, ["/no/set_env.sh", "--cann-set-env"], "--cann-set-env", "/no/set_env.sh",
          named=False, env={"CANN_SET_ENV": c.set_env}, calls=[])
    c.bad("a home without a script", 5, ["/no/set_env.sh", "/no/../set_env.sh"], "--cann-home", "/no", named=False, calls=[])
    write(c.set_env, "echo cannot find python; return 3\n")
    c.bad("a script that fails", 6, [c.set_env, "exit status 3", "cannot find python"], calls=[])
    write(c.set_env, "export PATH\n")
    c.bad("a script that sets nothing", 5, [c.set_env, "ASCEND_HOME_PATH"], calls=[])
    write(c.set_env, "export ASCEND_HOME_PATH=/no/such/place\n")
    c.bad("a home that is not there", 5, ["/no/such/place"], calls=[])


def chips(s):
    c = Cann(s, "chip-several", socs=["Ascend910B1", "Ascend910B4", "Ascend310P"], soc="Ascend910B1")
    os.makedirs(f"{c.home}/x86_64-linux/simulator/Ascend910B/lib")  # sorts first, has no library
    c.good("two chips of a platform", warning="2 chips of this platform have a simulator; Ascend910B1 was taken")
    c.config["soc"] = "Ascend910B4"
    c.config["libraries"][3] = f"{c.home}/x86_64-linux/simulator/Ascend910B4/lib"
    c.good("a stated chip", "--soc-version", "Ascend910B4")
    c.bad("the bare name", 5, ["Ascend910B ", "libruntime_camodel.so", "Ascend910B1, Ascend910B4"], "--soc-version",
          "Ascend910B", calls=[])
    c.bad("a platform without a chip", 5, ["dav_3510", "a5", "Ascend310P"], "--target", "a5", calls=[])
    c = Cann(s, "chip-none", socs=[])
    c.bad("no simulator at all", 5, ["libruntime_camodel.so", "none"], calls=[])
    c = Cann(s, "chip-both", triplets=("aarch64-linux", "x86_64-linux"))
    c.good("both triplets")
    c = Cann(s, "chip-tools", triplets=())
    write(f"{c.home}/tools/simulator/dav_2201/lib/libruntime_camodel.so", "")
    c.config["libraries"].insert(2, f"{c.home}/tools/simulator/dav_2201/lib")
    c.good("tools/simulator")
    c = Cann(s, "chip-word", "a5", socs=["Ascend950PR"], soc="Ascend950PR")
    c.good("a chip by its word")


def preflight(s):
    c = Cann(s, "preflight", compiler="old")
    c.bad("an old compiler", 5, ["__biasbuf__", "too old"], calls=["bisheng"])
    c.config["compiler"] = "new"
    for text in ("Cannot find msopprof", "/x/msopprof does not exist or permission denied", "/x/msopprof is soft link"):
        c.config["help"] = "Options: --application\n[ERROR] " + text
        c.bad(f"help says {text}", 5, ["--help", text.split("msopprof ")[-1]], calls=PROBES)
    c.config["help"] = "msprof: unknown command op"
    c.bad("help without options", 5, ["--application", "unknown command"], calls=PROBES)
    c.config["help"] = "Init platform by driver faild!\nOptions:\n --application"
    c.good("a machine without a device")
    del c.config["help"]
    worker, library = f"{c.home}/tools/msopprof/bin/msopprof", f"{c.home}/tools/msopprof/lib64/libmsopprof_injection.so"
    os.rename(library, library + ".off")
    c.bad("no injection library", 5, [library, "tools/msopt/bin/msopprof"], calls=["bisheng"])
    os.rename(library + ".off", library)
    os.rename(worker, worker + ".off")
    c.bad("no worker", 5, [worker], calls=["bisheng"])
    shutil.move(f"{c.home}/tools/msopprof", f"{c.home}/tools/msopt")
    os.rename(f"{c.home}/tools/msopt/bin/msopprof.off", f"{c.home}/tools/msopt/bin/msopprof")
    c.good("the older place of the worker")
    for name, status in (("msprof", 5), ("bisheng", 5)):
        os.rename(f"{c.home}/bin/{name}", f"{c.home}/bin/{name}.off")
        c.bad(f"no {name}", status, [name, c.set_env])
        os.rename(f"{c.home}/bin/{name}.off", f"{c.home}/bin/{name}")
    write(f"{c.home}/bin/bisheng", "#!/no/interpreter\n", 0o755)
    c.bad("a compiler that cannot be started", 5, ["bisheng", "cannot be started"], calls=[])


# --- the build ---

def build_fails(s):
    c = Cann(s, "build", cmake="fails")
    c.bad("cmake fails", 6, ["cmake of the replay failed", "exit status 1", "logs/cmake.log", "CMAKE_MAKE_PROGRAM"],
          calls=PROBES + ["cmake"])
    c.config["cmake"] = ""
    c.config["build"] = "compile"
    c.bad("a kernel that does not compile", 3, [SF, "does not compile", "'TLOAD'", "logs/build.log"], calls=BUILD)
    c.config["build"] = "link"
    c.bad("a build that fails elsewhere", 6, ["build of the replay failed", "-lruntime_camodel", "logs/build.log"], calls=BUILD)
    c.config["build"] = "nothing"
    c.bad("a build that leaves nothing", 6, ["libreplay_kernel.so"], calls=BUILD)
    c.config["build"] = ""
    c.config["symbols"] = ["launch_replay", "_Z13replay_entry2Ph"]
    c.bad("no symbol", 3, ["libreplay_kernel.so", "replay_entry", "launch_replay, replay_entry2(unsigned char*)"], calls=SYMBOL)
    c.config["symbols"] = ["_Z12replay_entryPhS_", "_Z12replay_entryi", "launch_replay"]
    c.bad("two symbols", 3, ["found 2", "replay_entry(int)"], calls=SYMBOL)
    c.config["symbols"] = []
    c.bad("an empty library", 3, ["none"], calls=SYMBOL)
    del c.config["symbols"]
    c.config["c++filt"] = "short"
    c.bad("c++filt drops a name", 6, ["1 lines for 2 names"], calls=SYMBOL)
    c.config["nm"] = "fails"
    c.bad("nm fails", 6, ["nm", "format not recognized"], calls=BUILD + ["nm"])
    del c.config["nm"]
    os.unlink(f"{c.home}/bin/cmake")
    write(f"{c.home}/bin/cmake", "#!/no/interpreter\n", 0o755)
    c.bad("no cmake", 5, ["cmake", "cannot be started"], calls=PROBES)


# --- collect and export ---

def collect_ends(s):
    c = Cann(s, "collect", collect="fails")
    c.bad("msprof fails", 6, ["exit status 3 and left nothing", "logs/collect.log", "aclInit 500000"], calls=COLLECT)
    c.config["collect"] = "crash"
    c.bad("msprof dies", 6, ["signal 11", "left nothing"], calls=COLLECT)
    c.config["collect"] = "status"
    d = c.good("a failing status with artefacts", warning="msprof ended with exit status 3")
    check(is_complete(d["simulator"]), "artefacts")
    c.config["collect"] = "empty"
    c.bad("success without artefacts", 6, ["no complete simulator directory", "All task success"], calls=COLLECT)
    c.config["collect"] = "incomplete"
    c.bad("artefacts without an instruction table", 6, ["no complete simulator directory"], calls=COLLECT)
    c.config["collect"] = "quiet"
    d = c.good("artefacts without success", warning="does not say that all tasks succeeded; the artefacts are complete")
    check(is_complete(d["simulator"]), "artefacts")
    c.config["collect"] = "stale"
    d = c.good("an older folder with a later name")
    check("/OPPROF_20260101_1/" in d["simulator"], d["simulator"])
    c.config.update(collect="device", launches=2)
    d = c.good("several kernels and launches", "--launch-count", "2", warning="3 launches were recorded")
    equal(d["simulator"], f"{c.ws}/insight_export/OPPROF_20260101_1/simulator", "its place")
    equal(os.readlink(d["simulator"]), "device0/replay_entry_mix_aic/2/simulator", "what it links to")
    check(is_complete(d["simulator"]), "artefacts")


def older(s):
    c = Cann(s, "older", collect="old")
    d = c.good("a CANN that exports in a second step")
    equal(c.calls(), COLLECT + ["msprof"], "programs started")
    equal(os.path.dirname(d["simulator"]), f"{c.ws}/insight_export/OPPROF_20260101_2", "its place")
    c.config["export"] = "fails"
    c.bad("an export that fails", 6, ["export of the replay failed", "exit status 4", "logs/export.log", "parse dump failed"],
          calls=COLLECT + ["msprof"])
    c.config["export"] = "nothing"
    c.bad("an export that leaves nothing", 6, ["no complete simulator directory", "logs/export.log"])


def runs(pid):
    """The process may end between any two looks, also between opening its state and reading it."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone(pids):
    """All of them end; a bound on waiting, no measurement."""
    until = time.monotonic() + 600
    while any(runs(p) for p in pids):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def killed(s):
    for how, status in ((signal.SIGTERM, -15), (signal.SIGKILL, -9), (signal.SIGINT, 130)):
        c = Cann(s, f"killed-{how}", collect="hang")
        p = c.start()
        while p.poll() is None and not c.state_text("pids"):
            time.sleep(0.02)
        pids = c.state_text("pids").split()
        if not equal(len(pids), 2, f"processes of the simulator: {p.stderr.read() if p.poll() is not None else ''}"):
            continue
        p.send_signal(how)
        p.communicate(timeout=600)
        equal(p.returncode, status, f"status after signal {how}")
        check(gone(pids), f"a simulator outlives signal {how}")
        check(not os.path.exists(f"{c.ws}/insight_export"), "a result of a killed run")


def batch(s):
    """A whole build: killed after two kernels of five its lists hold both, no simulator is left, and the rest can follow."""
    c = Cann(s, "batch", hang_after=2)
    make.vectors(f"{c.dir}/many/ptoas", 5)
    p = c.start("--build-dir", "many", "-j1", sf=False, verb="profile")
    while p.poll() is None and not c.state_text("pids"):
        time.sleep(0.02)
    pids = c.state_text("pids").split()
    p.kill()
    out, err = p.communicate(timeout=600)
    equal((len(pids), c.state_text("complaints.txt")), (2, ""), f"processes of the simulator: {out}{err}")
    check(gone(pids), "a simulator outlives the batch")
    lists = glob.glob(f"{glob.escape(c.dir)}/many/kernel_insight_all_funcs_*/manifest_export.csv")
    if not equal(len(lists), 1, "lists"):
        return
    rows = list(csv.DictReader(open(lists[0], newline="")))
    equal([r["func"] for r in rows if r["status"] == "exported"], ["vector_000", "vector_001"], "exported by then")
    c.config["hang_after"] = 999
    rc, out, err = c.run("--build-dir", "many", "-j1", "--resume", sf=False, verb="profile")
    equal((rc, c.state_text("complaints.txt"), c.calls().count("cmake")), (0, "", 6), f"resumed: {out}{err}")
    check("EXPORTED 5/5" in out, out)
    equal(c.calls().count("bisheng"), 1, "probes of the compiler for the whole build")
    roots = len(glob.glob(f"{glob.escape(c.dir)}/many/kernel_insight_all_funcs_*"))
    c.bad("a build without CANN", 5, ["/no/set_env.sh"], "--build-dir", "many", "--cann-home", "/no", sf=False, named=False,
          verb="profile", calls=[])
    equal(len(glob.glob(f"{glob.escape(c.dir)}/many/kernel_insight_all_funcs_*")), roots, "folders of a run that never began")
    c.config["collect"] = "fails"
    rc, out, err = c.run("--build-dir", "many", "-j1", "--func", "vector_003", sf=False, verb="profile")
    equal(rc, 1, f"a kernel that is not exported: {out}{err}")
    check("EXPORTED 0/1" in out, out)


# --- the project is real ---

def real_cann(s, name, **config):
    """None, told: there is no cmake to build with."""
    if not all(os.path.exists(f"/usr/bin/{p}") for p in ("cmake", "ninja", "g++", "nm")):
        RESULT[2] += 1
        print(f"SKIP {name}: cmake, ninja, g++ and nm are needed to build the project")
        return None
    c = Cann(s, name, build="real", **config)
    shutil.copytree(os.path.join(HERE, "stub", "acl"), f"{c.home}/include/acl")
    shared = ["g++", "-shared", "-fPIC", "-O1", "-x", "c++"]
    subprocess.run([*shared, f"-I{c.home}/include", os.path.join(HERE, "stub", "acl_stub.cpp"), "-o",
                    f"{c.home}/lib64/libascendcl.so"], check=True)
    for lib in ("tiling_api", "platform", "c_sec", "nnopbase"):
        subprocess.run([*shared, "/dev/null", "-o", f"{c.home}/lib64/lib{lib}.so"], check=True)
    subprocess.run([*shared, "/dev/null", "-o", f"{c.home}/x86_64-linux/simulator/dav_2201/lib/libruntime_camodel.so"],
                   check=True)
    return c


def hash_of(data):
    h = 14695981039346656037
    for b in data:
        h = (h ^ b) * 1099511628211 % 2**64
    return f"{h:016x}"


def tensor(row, slot, want, what):
    t = row["slots"].get(str(slot), {})
    equal({k: t.get(k) for k in want}, want, f"{what}: descriptor of slot {slot}")
    equal([t.get(k) for k in ("owner", "version", "manual_dep", "space")], [NONE, 0, 0, 1], f"{what}: slot {slot}")


def real_single(s):
    """SF of the own dump, built by cmake and ninja and run: descriptors, contexts and bits as the kernel finds them."""
    c = real_cann(s, "real-single")
    if not c:
        return
    d = c.good("a real build of SF")
    check(is_complete(d["simulator"]), "artefacts")
    rows = json.loads(c.state_text("rows.json") or "{}")
    if not equal((rows.get("blocks"), len(rows.get("aic", [])), len(rows.get("aiv", []))), (1, 1, 1), "rows"):
        return
    row = rows["aiv"][0]
    equal((row["local"], row["global"]), ([0, 1, 0, 0, 0, 0, NONE], [0, 0, 0]), "contexts")
    equal(sorted(row["slots"], key=int), ["0", "1", "2", "3", "4"], "slots")
    equal(row["slots"]["4"], 0x3f800000, "the scale's bits")
    want = {"ndims": 2, "dtype": 0, "contiguous": 1, "shapes": [16, 16, 0, 0, 0], "strides": [16, 1, 0, 0, 0], "extent": 256,
            "start": 0, "size": 1024, "hash": hash_of(open(f"{c.ws}/args/buffer_00.bin", "rb").read())}
    tensor(row, 0, want, "SF")
    tensor(row, 2, {"ndims": 1, "dtype": 0, "shapes": [16, 0, 0, 0, 0], "strides": [1, 0, 0, 0, 0], "extent": 16}, "SF")
    equal(row["slots"]["1"]["hash"], hash_of(bytes(row["slots"]["1"]["size"])), "an output before the kernel")
    check(any(open(f"{c.ws}/args/buffer_00.bin", "rb").read()), "an input of zeros proves nothing")


SPEC = [{"kind": "tensor", "index": 0, "name": "a", "dtype": "UINT16", "shape": [2, 2], "strides": [3, 1], "start_offset": 1,
         "buffer_bytes": 2048, "fill": {"kind": "value", "value": 7}},
        {"kind": "tensor", "index": 1, "name": "b", "dtype": "FLOAT32", "shape": [4], "role": "output"},
        {"kind": "scalar", "index": 2, "name": "c", "dtype": "INT64", "value": -5},
        {"kind": "scalar", "index": 3, "name": "d", "dtype": "FLOAT32", "value": 1.5, "pack_mode": "bits"}]


def real_mix(s):
    """A cube and two vector kernels that share all names, three blocks: rows, lanes and one unit."""
    c = real_cann(s, "real-mix", debug_lines=True)
    if not c:
        return
    write(f"{c.dir}/spec.json", json.dumps({"args": SPEC}))
    sources = [w for n in ("aic/cube.cpp", "aiv/left.cpp", "aiv/right.cpp") for w in ("--source", os.path.join(KERNELS, n))]
    c.good("a real build of a mixed task", "--arg-spec", f"{c.dir}/spec.json", *sources, "--core", "aic,aiv,aiv", "--blocks",
           "3", "-g", sf=False, env={"ACL_DEVICE_ID": "2"})
    rows = json.loads(c.state_text("rows.json") or "{}")
    if not equal((rows.get("blocks"), len(rows.get("aic", [])), len(rows.get("aiv", []))), (3, 3, 6), "rows"):
        return
    equal([r["local"][:2] + r["global"][:1] for r in rows["aic"]], [[b, 3, 0] for b in range(3)], "contexts of the cube")
    equal([r["local"][:2] + r["global"][:1] for r in rows["aiv"]], [[b, 3, lane] for b in range(3) for lane in range(2)],
          "contexts of the vector lanes")
    for r in rows["aic"] + rows["aiv"]:
        equal((r["slots"]["2"], r["slots"]["3"]), (2**64 - 5, 0x3fc00000), "scalars")
        tensor(r, 0, {"ndims": 2, "contiguous": 0, "shapes": [2, 2, 0, 0, 0], "strides": [3, 1, 0, 0, 0], "start": 1,
                      "extent": 5, "size": 2048}, "mix")
        equal(r["slots"]["0"]["addr"], rows["aic"][0]["slots"]["0"]["addr"], "one buffer for all rows")
    equal({r["slots"]["0"]["hash"] for r in rows["aiv"]}, {hash_of(open(f"{c.ws}/args/buffer_00.bin", "rb").read())}, "bytes")
    check(b"\7" in open(f"{c.ws}/args/buffer_00.bin", "rb").read(), "the fill")
    write(f"{c.dir}/broken.cpp", '#include <pto/pto-inst.hpp>\nextern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)\n'
          '{\n\tTNOTHING(args[0]);\n}\n')
    c.bad("a source that does not compile, really", 3, [f"{c.dir}/broken.cpp", "TNOTHING"], "--arg-spec",
          f"{c.dir}/spec.json", "--source", f"{c.dir}/broken.cpp", "--core", "aiv", "-g", sf=False)
    blocked = sources[:4] + ["--source", os.path.join(KERNELS, "aiv", "block.cpp")]
    c.bad("a block of C names in a shared unit", 3, ["block.cpp", "extern \"C\" block"], "--arg-spec", f"{c.dir}/spec.json",
          *blocked, "--core", "aic,aiv,aiv", sf=False)


def recorded(s):
    """Tasks of real dumps, really built: what their kernels find in slots, descriptors and contexts."""
    if not os.path.exists(REAL):
        RESULT[2] += 1
        print(f"SKIP recorded: {REAL} is not there")
        return
    c = real_cann(s, "recorded")
    if not c:
        return
    sample = os.path.join(ROOT, "examples", "paged_attention", "kernels")
    small = os.path.join(REAL, "CaseSmall1_level2")

    def rows_of(what, dump, func, task, source):
        d = c.good(what, "--dump", dump, "--func", func, "--task", task, "--source", source, sf=False)
        check(is_complete(d["simulator"]), f"{what}: artefacts")
        return json.loads(c.state_text("rows.json") or '{"blocks": 0, "aic": [], "aiv": []}')

    rows = rows_of("the tail of SF", small, "1", "0x0000000200000009", f"{sample}/aiv/sf.cpp")
    for row in rows["aiv"]:
        tensor(row, 0, {"ndims": 2, "dtype": 0, "contiguous": 0, "shapes": [16, 1, 0, 0, 0], "strides": [16, 1, 0, 0, 0],
                        "extent": 241}, "tail")
        check(row["slots"]["0"]["size"] >= 1024, "the tail's buffer")
        equal(row["slots"]["4"], 0x3f800000, "the tail's scale")
    rows = rows_of("the last UP", small, "3", "0x000000020000000b", f"{sample}/aiv/up.cpp")
    equal([sorted(map(int, r["slots"])) for r in rows["aiv"]], [[0, 1, 2, 3, 4, 5, 6, 8]], "slots of UP that are not 0")
    equal([r["slots"]["8"] for r in rows["aiv"]], [1], "is_last")
    rows = rows_of("the second QK", small, "0", "0x0000000200000004", f"{sample}/aic/qk.cpp")
    for row in rows["aic"]:
        tensor(row, 1, {"start": 512, "extent": 256}, "QK")
        check(row["slots"]["1"]["size"] >= 1536, "QK's buffer")
    rows = rows_of("48 blocks", os.path.join(REAL, "TestSpmdMultiblockMix_Case1"), "0,1,2", "4",
                   os.path.join(ROOT, "tests", "replay", "kernels", "mix", "lines.cpp"))
    equal((rows["blocks"], [r["local"][:2] for r in rows["aic"]]), (48, [[b, 48] for b in range(48)]), "cube rows")
    equal([r["local"][:2] + r["global"][:1] for r in rows["aiv"]], [[b, 48, lane] for b in range(48) for lane in (0, 1)], "rows")
    equal({r["slots"]["1"] for r in rows["aic"] + rows["aiv"]}, {138}, "the base scalar")


def real_batch(s):
    """Kernels of a build, of every form, really built: the entry that is made around each is C++ for both cores."""
    c = real_cann(s, "real-batch")
    if not c:
        return
    make.put(f"{c.dir}/b/ptoas", "vec", make.VECTOR, make.VECTOR_PTO)
    make.put(f"{c.dir}/b/ptoas", "plain", make.VECTOR, make.VECTOR_PTO, mark="", const="const ")
    make.put(f"{c.dir}/b/ptoas", "mixed", make.MIXED, make.MIXED_PTO)
    rc, out, err = c.run("--build-dir", "b", "-j1", sf=False, verb="profile")
    equal((rc, c.state_text("complaints.txt")), (0, ""), f"real builds: {out}{err}")
    check("EXPORTED 3/3" in out, out)


def capture(s):
    """An application of one's own below msprof: the same driver, and what it left is packed."""
    def cann(name, **config):
        c = Cann(s, "capture-" + name, **config)
        write(f"{c.dir}/app", "#!/bin/sh\necho \"ran $*\" >> ran\n", 0o755)
        options = {"application": f"{c.dir}/app 1 two", "launch-count": "1"}
        c.config["capture"] = options if "device" in config else {**options, "soc-version": c.config["soc"], "timeout": "120"}
        return c

    def take(c, *words, app=("./app", "1", "two")):
        write(os.path.join(c.state, "config.json"), json.dumps(c.config))
        p = subprocess.run([s.program, "capture", "msprof", "--json", "--cann-set-env", c.set_env, "-o", f"{c.dir}/out", *words, "--", *app],
                           capture_output=True, text=True, cwd=c.dir, env=c.env, timeout=300)
        equal(c.state_text("complaints.txt"), "", p.stderr)
        return p.returncode, json.loads(p.stdout)["data"] if p.returncode in (0, 1) else None, p.stderr

    c = cann("plain")
    rc, d, err = take(c)
    if check(rc == 0, f"capture: {err}"):
        equal((d["verdict"], len(d["captures"]), d["soc"]), ("captured", 1, "dav_2201"), "capture")
        equal(open(f"{c.dir}/out/ran").read(), "ran 1 two\n", "the application")
        packed = d["captures"][0]["file"]
        totals = [json.loads(subprocess.run([s.program, "waves", "--json", path], capture_output=True, text=True).stdout)["data"] for path in
                  (os.path.join(c.dir, packed), os.path.join(ROOT, "tests", "data", "ascend_matmul"))]
        equal(totals[0]["totals"] if "totals" in totals[0] else 0, totals[1]["totals"] if "totals" in totals[1] else 0, "totals of it")
        equal(sorted(os.listdir(f"{c.dir}/out")), sorted(["capture.json", "journal", "logs", "ran", os.path.basename(packed)]), "files")
        equal(take(c)[0], 2, "a directory that is used")
    c = cann("kernel", collect="old")
    c.config["capture"].update({"kernel-name": "matmul", "launch-count": "3", "timeout": "4"})
    rc, d, err = take(c, "--kernel", "matmul", "--launches", "3", "--timeout", "4", "--keep-raw")
    check(rc == 0 and len(d["captures"]) == 1 and glob.glob(f"{glob.escape(c.dir)}/out/export/OPPROF_*"), f"an older msprof: {err}")
    c = cann("device", collect="npu", device=os.path.join(ROOT, "tests", "data", "ascend_device", "OPPROF_1"), socs=[])
    rc, d, err = take(c, "--device")
    check(rc == 0 and d["captures"] and d["captures"][0]["file"].endswith("_device.incore") and d["soc"] is None, f"on the device: {rc} {d} {err}")
    for mode, status, words in (("fails", 6, "ended with exit status 3 and left nothing"), ("incomplete", 6, "no complete simulator directory"),
                                ("crash", 6, "signal 11")):
        rc, _, err = take(cann(mode, collect=mode))
        check(rc == status and words in err, f"capture that {mode}: {rc} {err}")
    c = cann("words")
    for words, app, says in ((("--timeout", "0"), ("./app",), "1 to 2880 minutes"), ((), ("./app", "a b"), "which would break"),
                             (("--kernel", "a;b"), ("./app",), "name of a kernel"), ((), ("./none",), "no program ./none")):
        rc, _, err = take(c, *words, app=app)
        check(rc == 2 and says in err and not os.path.exists(f"{c.dir}/out"), f"capture {words} {app}: {rc} {err}")
    rc, d, err = take(c, "--dry-run")
    check(rc == 0 and d["verdict"] == "planned" and not c.calls(), f"a plan: {err}")


# Here g++ has the work: under sanitizers one of them, which also fails, shows what the program does around a real build; in a soak all.
BUILT = [real_mix] if "THIN" in os.environ and os.environ.get("TIMES", "1") == "1" else [real_single, real_mix, real_batch, recorded]
CASES = [plain, capture, targets, limits, dry, by_hand, headers, places, chips, preflight, build_fails, collect_ends, older, killed, batch, *BUILT]


class Suite:
    def __init__(self, build, tmp):
        self.program, self.tmp = os.path.join(os.path.abspath(build), "incore"), tmp
        subprocess.run([self.program, "export", "--to", "insight", os.path.join(ROOT, "tests", "data", "ascend_matmul"), "-o",
                        f"{tmp}/artefacts"], check=True, capture_output=True)
        self.simulator = f"{tmp}/artefacts/simulator"


def main():
    names = sys.argv[2:]
    with tempfile.TemporaryDirectory(prefix="incore-cann-") as tmp:
        suite = Suite(sys.argv[1], os.path.realpath(tmp))
        cases = [c for c in CASES if not names or c.__name__ in names]
        with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS") or 2)) as pool:
            for future in [pool.submit(case, suite) for case in cases]:
                future.result()
    print(f"{RESULT[0]} passed, {RESULT[1]} failed, {RESULT[2]} skipped")
    return RESULT[1] > 0


if __name__ == "__main__":
    sys.exit(main())
