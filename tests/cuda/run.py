#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""incore capture cuda, capture ncu and libincore-cuda without a GPU: on a stand-in CUDA driver and CUPTI (stand_in.c) that delivers samples, drops,
errors, modules out of order, several devices; applications that fork, exec, crash and are killed.

usage: run.py BUILD_DIR [NAME...]      TIMES=20: as many kills
"""
import concurrent.futures
import glob
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "ncu"), HERE]
import kernels  # noqa: E402
import log as logs  # noqa: E402
import make_report as made  # noqa: E402

DAMAGES = 60 * int(os.environ.get("TIMES", "1"))
KILLS = 20 * int(os.environ.get("TIMES", "1"))
A, B = kernels.scale_rows(), kernels.tiles()


def each_launch(n_pcs):
    """Samples of one launch on the stand-in."""
    return sum(10 * (i + 1) for i in range(n_pcs))


class Place:
    def __init__(self, build, top):
        self.program, self.top, self.out = os.path.join(build, "incore"), top, os.path.join(top, "out")
        self.app = os.path.join(build, "tests", "cuda", "app")
        self.cupti = os.path.join(build, "tests", "cuda", "libcupti-stand-in.so")
        self.library = os.path.join(build, "src", "cuda", "libincore-cuda.so")
        self.cubins = []
        for i, functions in enumerate(([A], [B], kernels.calls())):
            self.cubins.append(os.path.join(top, f"{i}.cubin"))
            with open(self.cubins[-1], "wb") as f:
                f.write(made.Program(i, functions).elf)
        self.a, self.b, self.c = self.cubins
        self.begin = ["device", "0", "GPU of the stand-in", "0", "init", "context", "1", "0"]

    def launch(self, n=20, pcs=8, context=1, kernel=A, cubin=None):
        return ["launch", str(context), kernel.name, cubin or self.a, str(n), str(pcs)]

    def capture(self, *words, app=None, rc=0, options=(), env=None, verb="cuda"):
        """(data of the JSON, text on stderr)"""
        app = app or [self.app, *self.begin, *words]
        cmd = [self.program, "capture", verb, "--json", "-o", self.out, *options, "--", *app]
        p = subprocess.run(cmd, capture_output=True, text=True, cwd=self.top, timeout=120,
                           env={**os.environ, "INCORE_JOBS": "1", "INCORE_DISASM": "none", "CUDA_HOME": self.top, **(env or {})})
        assert p.returncode == rc, f"exit status {p.returncode}, expected {rc}\n{p.stdout[-1500:]}\n{p.stderr[-1500:]}"
        envelope = json.loads(p.stdout) if p.stdout else {"data": None, "warnings": []}
        return envelope["data"], p.stderr + "\n".join(envelope["warnings"])

    def options(self, *more):
        return ["--cupti", self.cupti, *more]

    def take(self, *words, options=(), **more):
        return self.capture(*words, options=self.options(*options), **more)

    def ask(self, verb, path, *words):
        p = subprocess.run([self.program, verb, "--json", *words, path], capture_output=True, text=True, cwd=self.top,
                           env={**os.environ, "INCORE_DISASM": "none"})
        assert p.returncode == 0, p.stderr
        return json.loads(p.stdout)["data"]

    def direct(self, folder, *words, mode="continuous", **more):
        """The application with the library alone."""
        os.makedirs(folder, exist_ok=True)
        return subprocess.Popen([self.app, *self.begin, *words], stdout=subprocess.PIPE, env={
            **os.environ, "CUDA_INJECTION64_PATH": self.library, "INCORE_CUDA_LOG": folder, "INCORE_CUDA_CUPTI": self.cupti,
            "INCORE_CUDA_MODE": mode, **more})


def read(path):
    with open(path, "rb") as f:
        return f.read()


def by_kernel(data):
    return {c["kernel"].split("(")[0]: c for c in data["captures"]}


def same(a, b, what=""):
    assert a == b, f"{what} {a!r} != {b!r}"


# --- what is taken ---

def layout(p):
    """Our declarations are the vendor's: tests/cuda/layout.txt was printed by layout.c with CUPTI's own headers."""
    out = subprocess.run([os.path.join(os.path.dirname(p.app), "layout")], capture_output=True, text=True).stdout
    same(out.splitlines(), read(os.path.join(HERE, "layout.txt")).decode().splitlines())


def two_kernels(p):
    """Samples, launches, overhead; a module that is loaded after its kernel ran."""
    data, _ = p.take("module", "1", p.a, *p.launch(20, 8), *p.launch(5, 6, kernel=B, cubin=p.b), "module", "1", p.b)
    k = by_kernel(data)
    same(k["scale_rows"]["samples"], 20 * each_launch(8))
    same(k["tiles"]["samples"], 5 * each_launch(6))
    same(k["scale_rows"]["launches"], 20)
    same([r["name"] for r in data["runs"]], ["look", "samples"])
    same(data["verdict"], "captured")
    assert abs(data["overhead"] - 2.0) < 0.01, data["overhead"]  # 51,000 ns and 50,000 ns, but the first
    same(sorted(os.listdir(p.out)), ["capture.json", "journal", "look.log", "samples.log", "scale_rows.incore", "tiles.incore"])
    info = p.ask("info", k["scale_rows"]["file"])
    same(info["evidence"], "synthetic")


def by_name(p):
    data, _ = p.take("module", "1", p.a, *p.launch(), "module", "1", p.b, *p.launch(kernel=B, cubin=p.b), options=["--kernel", "^tiles"])
    same(list(by_kernel(data)), ["tiles"])
    _, text = p.take(*p.launch(), options=["--kernel", "nobody", "-o", p.out + "2"], rc=1)
    assert "no launched kernel matches --kernel" in text, text


def exact(p):
    """Also of a second kernel: CUPTI counts only the first function after it was enabled."""
    data, _ = p.take("module", "1", p.a, "module", "1", p.b, *p.launch(3, 4), *p.launch(2, 3, kernel=B, cubin=p.b), *p.launch(2, 4), options=["--exact"])
    k = by_kernel(data)["scale_rows"]
    same((k["is_exact"], k["samples"]), (True, 5 * each_launch(4)))
    rows = [r for r in p.ask("isa", k["file"])["rows"] if r.get("hit")]
    same([r["hit"] for r in rows], [5 * 512] * 4)
    rows = [r for r in p.ask("isa", by_kernel(data)["tiles"]["file"])["rows"] if r.get("hit")]
    same([r["hit"] for r in rows], [2 * 512] * 3)


def listed(p):
    """Kernels and times alone; text."""
    words = ["module", "1", p.a, *p.launch(3, 4), *p.launch(1, 4, kernel=B, cubin=p.b)]
    cmd = [p.program, "capture", "cuda", *p.options("--list"), "-o", p.out, "--", p.app, *p.begin, *words]
    run = subprocess.run(cmd, capture_output=True, text=True)
    same((run.returncode, [" ".join(line.split()[:3]) for line in run.stdout.splitlines()[1:3]]), (0, ["3 350.000 116.667", "1 50.000 50.000"]), run.stderr)
    same(sorted(os.listdir(p.out)), ["capture.json", "journal", "look.log"])


def some_launches(p):
    data, _ = p.take("module", "1", p.a, *p.launch(9, 4), options=["--launch", "2,5-6"])
    same((data["mode"], by_kernel(data)["scale_rows"]["samples"]), ("serialised", 3 * each_launch(4)))


def window(p):
    words = ["module", "1", p.a, *p.launch(3, 4), "wait", "900", *p.launch(7, 4), "wait", "300"]
    data, _ = p.take(*words, options=["--after", "500", "--no-look"])
    same(by_kernel(data)["scale_rows"]["samples"], 7 * each_launch(4))
    assert data["overhead"] is None


def period(p):
    """Given, and from the look: 1.2 ms on 132 SMs of 1.98 GHz give 313.6 million SM cycles: 1,024 would do
    for 200,000 samples, and 4,096 is the shortest that is steady. A kernel of 50 us would have 3,190: it gets the shortest."""
    data, _ = p.take("module", "1", p.a, *p.launch(), options=["--period", "65536"])
    same((data["period_cyc"], data["period_because"]), (65536, None))
    data, _ = p.take("module", "1", p.a, *p.launch(), options=["-o", p.out + "2"])
    same(data["period_cyc"], 4096)
    data, _ = p.take("module", "1", p.a, *p.launch(4), *p.launch(1, kernel=B, cubin=p.b), options=["--kernel", "tiles", "-o", p.out + "3"])
    same(data["period_cyc"], 256)


def drops(p):
    data, _ = p.take("module", "1", p.a, *p.launch(), "drop", "1", "1234", "full", "1", *p.launch())
    k = by_kernel(data)["scale_rows"]
    same((k["dropped"], k["samples"]), (1234, 40 * each_launch(8)))
    notes = [n["code"] for n in p.ask("info", k["file"])["notes"]]
    assert {"dropped-samples", "full-buffer"} <= set(notes), notes


def nothing_sampled(p):
    _, text = p.take("module", "1", p.a, *p.launch(5, 0), rc=6)
    assert "the sampler gave no samples" in text and "shorter period" in text, text
    _, text = p.take("module", "1", p.a, *p.launch(5, 0), "full", "1", "wait", "250", rc=6, options=["-o", p.out + "2"])
    assert "its buffer was full" in text, text


def devices(p):
    """Two GPUs and an instance of MIG: a capture each."""
    words = [p.app, "device", "0", "GPU 0", "0", "device", "1", "GPU 1 MIG", "3", "init", "context", "1", "0", "context", "2", "1",
             "module", "1", p.a, "module", "2", p.a, *p.launch(4, 4), *p.launch(6, 4, 2)]
    data, _ = p.take(app=words)
    same([(c["device"], c["samples"]) for c in data["captures"]], [(1, 6 * each_launch(4)), (0, 4 * each_launch(4))])
    same(sorted(glob.glob(p.out + "/*.incore")), [p.out + "/scale_rows.incore", p.out + "/scale_rows_2.incore"])
    text = json.dumps(p.ask("info", data["captures"][0]["file"]))
    assert "MIG instance 3/0" in text, text


def many_contexts(p):
    words = []
    for i in range(2, 60):
        words += ["context", str(i), "0", *p.launch(1, 4, i), "end", str(i)]
    data, _ = p.take("module", "1", p.a, *p.launch(1, 4), *words)
    same(by_kernel(data)["scale_rows"]["samples"], 59 * each_launch(4))


# --- what goes wrong ---

def no_rights(p):
    for call, code in (("enable", 35), ("configure", 40)):
        _, text = p.take("module", "1", p.a, *p.launch(), env={"STAND_IN_FAIL": f"{call}={code}"}, rc=6, options=["-o", f"{p.out}-{code}"])
        assert "NVreg_RestrictProfilingToAdminUsers" in text, text


def refused(p):
    for i, (fail, says) in enumerate((("subscribe=39", "another profiler"), ("enable=27", "CUPTI refused"), ("count_reasons=7", "stall reasons"))):
        _, text = p.take("module", "1", p.a, *p.launch(), env={"STAND_IN_FAIL": fail}, rc=6, options=["-o", f"{p.out}{i}"])
        assert says in text, text


def refused_later(p):
    data, text = p.take("module", "1", p.a, *p.launch(), "wait", "250", env={"STAND_IN_FAIL": "get_data=9"})
    assert "fetching samples" in text, text
    same(by_kernel(data)["scale_rows"]["samples"], 20 * each_launch(8))


def no_cupti(p):
    if b"__asan_init" in open(p.library, "rb").read():
        return  # Python cannot load a library that needs the sanitizer's runtime first; the plain build has it
    for name in ("libcupti.so", "libcupti.so.12", "libcupti.so.13"):
        bad = os.path.join(p.top, name)
        with open(bad, "w") as f:
            f.write("no library")
    # an application that has no CUPTI loaded; the driver would load us in it
    app = ["sh", "-c", f"exec {sys.executable} -c 'import ctypes; ctypes.CDLL(\"{p.library}\").InitializeInjection()'"]
    _, text = p.capture(app=app, options=["--cupti", bad], rc=6, env={"LD_LIBRARY_PATH": p.top})
    assert "CUPTI could not be loaded" in text and "--cupti" in text, text


def no_cuda(p):
    _, text = p.take(app=["true"], rc=6)
    assert "no process of the application initialised CUDA" in text, text
    _, text = p.take("wait", "1", rc=6, options=["-o", p.out + "2"])
    assert "launched no kernel" in text, text


def app_fails(p):
    data, text = p.take("module", "1", p.a, *p.launch(), "exit", "3", rc=3, options=["--no-look"])
    assert "exit status 3" in text, text
    same(by_kernel(data)["scale_rows"]["samples"], 20 * each_launch(8))


def app_dies(p):
    for how, rc in ((["kill", "11"], 139), (["kill", "9"], 137), (["quit", "4"], 4)):
        data, text = p.take("module", "1", p.a, *p.launch(), "wait", "400", *how, rc=rc, options=["--no-look", "-o", f"{p.out}-{rc}"])
        k = by_kernel(data)["scale_rows"]
        same(k["samples"], 20 * each_launch(8))
        same(data["runs"][0]["unfinished"], 1)
        assert "died" in [n["code"] for n in p.ask("info", k["file"])["notes"]]


def processes(p):
    """A copy by fork has no log; one before CUDA began, and one that execs, have their own."""
    words = [p.app, "device", "0", "GPU", "0", "spawn", "init", "context", "1", "0", "module", "1", p.a, *p.launch(2, 4), "fork", *p.launch(3, 4)]
    data, _ = p.take(app=words)
    same(data["runs"][1]["processes"], 2)
    same([c["samples"] for c in data["captures"]], [5 * each_launch(4)] * 2)
    words = [p.app, *p.begin, "module", "1", p.a, *p.launch(2, 4), "wait", "300", "exec", *p.begin, "module", "1", p.a, *p.launch(4, 4)]
    data, _ = p.take(app=words, options=["-o", p.out + "2"])
    same((data["runs"][1]["processes"], data["runs"][1]["unfinished"]), (2, 1))
    same(sorted(c["samples"] for c in data["captures"]), [2 * each_launch(4), 4 * each_launch(4)])


def interrupted(p):
    """SIGINT: the application is told, and what was taken is packed."""
    cmd = [p.program, "capture", "cuda", "--json", *p.options("--no-look"), "-o", p.out, "--", p.app, *p.begin, "module", "1", p.a, *p.launch(),
           "wait", "60000"]
    run = subprocess.Popen(cmd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not glob.glob(p.out + "/samples/*.cudalog"):
        time.sleep(0.02)
    while logs.sampled(read(glob.glob(p.out + "/samples/*.cudalog")[0])) < 20 * each_launch(8):
        time.sleep(0.02)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=60)
    same(run.returncode, 130, err)
    same(by_kernel(json.loads(out)["data"])["scale_rows"]["samples"], 20 * each_launch(8))


def kills(p):
    """A SIGKILL at any time: what CUPTI was asked for before its last call is in the log, whole."""
    rand = random.Random(1)
    for i in range(KILLS):
        folder, told = os.path.join(p.top, f"k{i}"), os.path.join(p.top, f"told{i}")
        run = p.direct(folder, "module", "1", p.a, *p.launch(40, 8), "wait", "3", "again", STAND_IN_TOLD=told)
        while not os.path.exists(told):
            time.sleep(0.002)
        time.sleep(rand.uniform(0.0, 0.5))
        run.kill()
        run.wait()
        run.stdout.close()
        last = [line.split() for line in read(told).decode().splitlines()][-1]
        data = read(glob.glob(folder + "/*.cudalog")[0])
        got = logs.sampled(data)
        assert got >= int(last[1]), f"kill {i}: {got} samples in the log, {last[1]} were flushed"
        if got:
            k = p.ask("info", glob.glob(folder + "/*.cudalog")[0])
            assert "died" in [n["code"] for n in k["notes"]] or "truncated-log" in [n["code"] for n in k["notes"]]


def full_disk(p):
    """What the log cannot hold is counted, and the application goes on."""
    folder = os.path.join(p.top, "full")
    os.makedirs(folder)
    words = ["module", "1", p.a, *p.launch(400, 16), "wait", "400", "print", "done"]
    run = subprocess.run(["sh", "-c", 'ulimit -f 8; trap "" XFSZ; exec "$@"', "sh", p.app, *p.begin, *words], capture_output=True, text=True, env={
        **os.environ, "CUDA_INJECTION64_PATH": p.library, "INCORE_CUDA_LOG": folder, "INCORE_CUDA_CUPTI": p.cupti, "INCORE_CUDA_MODE": "continuous"})
    same((run.returncode, run.stdout), (0, "done\n"))
    kinds = [k for k, _ in logs.records(read(glob.glob(folder + "/*.cudalog")[0]))]
    assert kinds[0] in (logs.START, logs.TEXT), kinds


def damaged(p):
    """Bytes of records changed, records lost, doubled and moved, under right checksums; and logs cut anywhere: an answer or an error."""
    rand = random.Random(7)
    whole = [read(f) for f in sorted(glob.glob(os.path.join(HERE, "..", "fuzz", "corpus", "cuda", "*")))]
    path = os.path.join(p.top, "x.cudalog")
    for i in range(DAMAGES):
        data = rand.choice(whole)
        items = logs.records(data)
        for _ in range(rand.randint(1, 3)):
            k = rand.randrange(len(items))
            kind, body = items[k]
            how = rand.randrange(5)
            if how == 0:
                items.insert(rand.randrange(len(items)), items.pop(k))
            elif how == 1:
                items.insert(k, items[k])
            elif how == 2 and len(items) > 1:
                del items[k]
            elif how == 3:
                items[k] = (kind, body[:rand.randrange(len(body) + 1)])
            elif body:
                at, n = rand.randrange(len(body)), rand.choice((1, 4, 8))
                items[k] = (kind, body[:at] + rand.choice((b"\xff", b"\x00", b"\x7f", rand.randbytes(1))) * n + body[at + n:])
        data = logs.framed(data[:32], items)
        with open(path, "wb") as f:
            f.write(data[:rand.randrange(len(data))] if i % 4 == 0 else data)
        for verb in ("info", "summary"):
            run = subprocess.run([p.program, verb, path], capture_output=True, env={**os.environ, "INCORE_DISASM": "none"})
            assert run.returncode in (0, 1, 3, 4), f"damage {i}, {verb}: {run.returncode} {run.stderr[-600:]}"


# --- capture ncu ---

def ncu(p, *options, rc=0, app=("true",), sections=("SourceCounters", "LaunchStats", "Occupancy"), **scenario):
    """(data, text, options that the stand-in got)"""
    calls, tool = os.path.join(p.top, "calls"), os.path.join(p.top, "ncu")
    with open(os.path.join(p.top, "scenario.json"), "w") as f:
        json.dump({"calls": calls, "sections": sections, **scenario}, f)
    with open(tool, "w") as f:
        f.write(f"#!/bin/sh\nexec {sys.executable} {HERE}/ncu.py {p.top}/scenario.json \"$@\"\n")
    os.chmod(tool, 0o755)
    p.out += "x"
    data, text = p.capture(app=list(app), options=["--tool", tool, *options], rc=rc, verb="ncu")
    got = [json.loads(line) for line in read(calls).decode().splitlines()] if os.path.exists(calls) else []
    return data, text, got[-1] if got else None


def ncu_report(p):
    report = os.path.join(HERE, "..", "data", "ncu", "several.ncu-rep")
    data, text, got = ncu(p, "--kernel", "a|b", "--launch-skip", "3", "--launch-count", "2", report=report)
    same((data["verdict"], data["version"]), ("captured", "2025.3.1.0"))
    assert len(data["captures"]) > 1 and all(os.path.exists(c["file"]) for c in data["captures"])
    same(sorted(os.listdir(p.out)), sorted(["capture.json", "journal", "ncu.log", *(os.path.basename(c["file"]) for c in data["captures"])]))
    got = [(a, b) for a, b in got if a != "--export"]
    same(got, [("--import-source", "yes"), ("--clock-control", "none"), ("--cache-control", "all"), ("--launch-skip", "3"), ("--launch-count", "2"),
               ("--kernel-name-base", "demangled"), ("--kernel-name", "regex:a|b"), ("--section", "SourceCounters"), ("--section", "LaunchStats"),
               ("--section", "Occupancy")])
    assert "has no section SpeedOfLight" in text, text
    data, _, got = ncu(p, "--set", "full", "--clock-control", "base", "--keep-raw", report=report)
    assert ["--set", "full"] in got and ["--clock-control", "base"] in got and os.path.exists(p.out + "/report.ncu-rep")


def ncu_fails(p):
    data, _, _ = ncu(p, rc=1, says="==WARNING== No kernels were profiled.")
    same(data["verdict"], "nothing")
    _, text, _ = ncu(p, rc=6, status=1, says="==ERROR== ERR_NVGPUCTRPERM - no permission")
    assert "NVreg_RestrictProfilingToAdminUsers" in text, text
    report = os.path.join(HERE, "..", "data", "ncu", "kernel.ncu-rep")
    data, text, _ = ncu(p, rc=3, app=("sh", "-c", "exit 3"), report=report)
    assert "exit status 3" in text and len(data["captures"]) == 1, text
    _, text, _ = ncu(p, rc=6, version_status=1)
    assert "--version" in text, text
    _, text = p.capture(app=["true"], options=["--tool", "/no/such/ncu", "-o", p.out + "y"], rc=5, verb="ncu")
    assert "install Nsight Compute" in text, text
    broken = os.path.join(p.top, "broken")
    with open(broken, "wb") as f:
        f.write(read(report)[:2000])
    ncu(p, rc=3, report=broken)


CASES = [layout, two_kernels, by_name, exact, listed, some_launches, window, period, drops, nothing_sampled, devices, many_contexts, no_rights, refused, refused_later,
         no_cupti, no_cuda, app_fails, app_dies, processes, interrupted, kills, full_disk, damaged, ncu_report, ncu_fails]


def attempt(case, build):
    """What failed, or None."""
    with tempfile.TemporaryDirectory(prefix="incore-cuda-") as top:
        try:
            case(Place(build, top))
            return None
        except AssertionError as e:
            return f"FAIL {case.__name__}: {e}"


def main():
    build, names = os.path.abspath(sys.argv[1]), sys.argv[2:]
    chosen = [c for c in CASES if not names or c.__name__ in names]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:  # they wait for most of their time
        failures = [f for f in pool.map(lambda case: attempt(case, build), chosen) if f]
    for failure in failures:
        print(failure)
    print(f"{len(chosen) - len(failures)} passed, {len(failures)} failed, 0 skipped")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
