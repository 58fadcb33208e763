#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays bisheng, cmake, msprof, nm and c++filt for run.py, strictly: a command line, file, mode or variable that is not as
it must be ends the program with status 97 and a line in complaints.txt. What it produces, and how it fails, is in config.json.

usage: stand_in.py PROGRAM [ARGUMENT...]     $STAND_IN: the folder of config.json, calls.txt, complaints.txt
"""
import json
import os
import re
import stat
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
DIR = os.environ["STAND_IN"]
CONFIG = json.load(open(os.path.join(DIR, "config.json")))
HOME = CONFIG["home"]
SUCCESS = "[INFO] Profiling running finished. All task success."
FAILURE = "[WARN] Profiling running finished. May cause generating performance files to fail."
SIX = ("replay_kernel.cpp", "replay_launch.cpp", "replay_host.cpp", "CMakeLists.txt", "run_collect.sh",
       "insight_trace_config.json")


def need(ok, what):
    if ok:
        return
    with open(os.path.join(DIR, "complaints.txt"), "a") as f:
        f.write(f"{sys.argv[1:]}: {what}\n")
    print(f"stand-in: {what}")
    sys.exit(97)


def same(got, want, what):
    need(got == want, f"{what} is {got!r}, not {want!r}")


def mode_of(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


def leave(text, status=0):
    print(text, flush=True)
    sys.exit(status)


# --- bisheng ---

def probe(words):
    same(words[:3], ["-xcce", "--cce-aicore-enable-tl", "--cce-aicore-arch=" + CONFIG["arch"]], "the probe")
    same(words[3] + " " + " ".join(words[5:]), "-c -o /dev/null", "the probe")
    same(open(words[4]).read(), "__biasbuf__ int *p;\n", "the probed source")
    if CONFIG.get("compiler") == "old":
        leave("probe.cpp:1:1: error: unknown type name '__biasbuf__'", 1)
    sys.exit(0)


def gxx(*words):
    p = subprocess.run(["g++", *words])
    if p.returncode:
        sys.exit(p.returncode)


def compile_kernel(source, words):
    """Three passes as the vendor's compiler makes: cube, vector, host; the host's object stays."""
    flags = [w for w in words if w.startswith(("-I", "-D"))]
    if "replay_launch.cpp" in source:
        text = open(source).read()
        made = re.sub(r"replay_entry<<<blocks, nullptr, stream>>>\((.*)\);",
                      r"stand_in_launch(blocks, stream, \1); replay_entry(\1);", text)
        need(made != text, "no launch of replay_entry")
        copy = os.path.join(DIR, "launch.cpp")
        with open(copy, "w") as f:
            f.write('#include <cstdint>\nextern "C" void stand_in_launch(uint32_t, void *, void *, void *);\n' + made)
        gxx("-D__gm__=", "-D__global__=", "-D__aicore__=", "-std=c++17", "-fPIC", *flags, "-c", copy, "-o",
            words[words.index("-o") + 1])
        return
    device = ["-isystem", os.path.join(HERE, "stub", "device"), "-isystem", os.path.join(ROOT, "recorder")]
    for core in ("__DAV_CUBE__", "__DAV_VEC__"):
        gxx("-std=c++20", "-Wno-all", "-Werror", "-fsyntax-only", f"-D{core}", *device, *flags, source)
    gxx("-std=c++17", "-Wall", "-Wextra", "-Werror", "-fPIC", *device, *flags, "-c", source, "-o",
        words[words.index("-o") + 1])


def bisheng(words):
    if any("probe_tile_language" in w for w in words):
        probe(words)
    source = [w for w in words if w.endswith(".cpp")]
    if "-xcce" in words and source:
        for w in ("-fenable-matrix", "--cce-aicore-enable-tl", "--cce-aicore-arch=" + CONFIG["arch"], "-DREGISTER_BASE",
                  "-std=c++17", "-mllvm", "-cce-aicore-stack-size=0x8000"):
            need(w in words, f"{w} is not among the kernel's flags")
        same("-g" in words, bool(CONFIG.get("debug_lines")), "-g")
        compile_kernel(source[0], words)
        return
    if "--cce-fatobj-link" in words:
        words = [w for w in words if w != "--cce-fatobj-link"]
    elif "-o" in words and words[words.index("-o") + 1].endswith("replay_host") and not source:
        for name in "runtime_camodel ascendcl tiling_api platform c_sec nnopbase stdc++ m dl".split():
            need(f"-l{name}" in words, f"the host is not linked with {name}")
        same("-s" in words, not CONFIG.get("debug_lines"), "-s")
    elif source and source[0].endswith("replay_host.cpp"):
        words = ["-Wall", "-Wextra", "-Werror", *words]
    gxx(*words)


# --- cmake ---

def check_project():
    ws = os.getcwd()
    same(mode_of(ws) & 0o022, 0, "group and other bits of the workspace")
    for name in SIX:
        same(mode_of(name), 0o755 if name == "run_collect.sh" else 0o644, f"the mode of {name}")
    same(subprocess.run(["bash", "-n", "run_collect.sh"]).returncode, 0, "the script's syntax")
    config = json.load(open("insight_trace_config.json"))
    same(config["replay"]["soc_version"], CONFIG["soc"], "the configuration's SoC")
    kernel = open("replay_kernel.cpp").read()
    for text in CONFIG["kernel_texts"]:
        need(text in kernel, f"replay_kernel.cpp has no {text!r}")


def cmake(words):
    check_env(["/old/libraries"])
    if words[0] == "--build":
        same(words, ["--build", "build"], "the build")
        mode = CONFIG.get("build", "")
        if mode == "compile":
            print(f"FAILED: replay_kernel.cpp.o\n{CONFIG['source']}:9:2: error: use of undeclared identifier 'TLOAD'")
            leave("ninja: build stopped: subcommand failed.", 1)
        if mode == "link":
            leave("/usr/bin/ld: cannot find -lruntime_camodel\nninja: build stopped: subcommand failed.", 1)
        if mode == "real":
            os.execv("/usr/bin/cmake", ["/usr/bin/cmake", *words])
        if mode != "nothing":
            open("build/libreplay_kernel.so", "w").close()
            open("build/replay_host", "w").close()
        return
    same(words, ["-S", ".", "-B", "build", "-G", "Ninja", "-DAICORE_ARCH=" + CONFIG["arch"],
                 "-DSOC_VERSION=" + CONFIG["soc"], "-DINCLUDE_DIRS=" + ";".join(CONFIG["includes"]),
                 "-DDEBUG_LINES=" + ("ON" if CONFIG.get("debug_lines") else "OFF")], "the configuration")
    check_project()
    if CONFIG.get("cmake") == "fails":
        leave("CMake Error: CMAKE_MAKE_PROGRAM is not set", 1)
    if CONFIG.get("build") == "real":
        os.execv("/usr/bin/cmake", ["/usr/bin/cmake", *words])
    os.makedirs("build")


# --- nm and c++filt ---

def nm(words):
    same(words, ["-D", os.path.join(os.getcwd(), words[-1]) if not os.path.isabs(words[-1]) else words[-1]], "nm")
    need(words[1].endswith("/build/libreplay_kernel.so"), "nm of another file")
    if CONFIG.get("nm") == "fails":
        leave("nm: file format not recognized", 1)
    if CONFIG.get("build") == "real":
        os.execv("/usr/bin/nm", ["nm", *words])
    names = CONFIG.get("symbols", ["replay_entry", "launch_replay"])
    print("                 U aclrtMalloc\n                 w __cxa_finalize")
    for i, name in enumerate(names):
        print(f"{0x1100 + 16 * i:016x} {'TW'[i % 2]} {name}")


def cxxfilt(words):
    same(words, [], "c++filt's arguments")
    calls = [json.loads(line)[0] for line in open(os.path.join(DIR, "calls.txt"))]
    same(calls.count("c++filt"), calls.count("nm"), "the number of c++filt processes")
    if CONFIG.get("c++filt") == "short":
        leave("replay_entry")
    os.execv("/usr/bin/c++filt", ["c++filt"])


# --- msprof ---

HELP = """Options:
   --application=<application>
   --export=<export> --output=<output> --timeout=<timeout>"""


def check_env(libraries):
    same(os.environ.get("CANN_ODD"), "two\nlines=1 \"quoted\"", "a variable of set_env.sh")
    same(os.environ["LD_LIBRARY_PATH"].split(":"), libraries, "LD_LIBRARY_PATH")
    same(os.environ["ASCEND_HOME_PATH"], HOME, "ASCEND_HOME_PATH")


def check_output(path):
    need(os.path.isabs(path), "a relative --output")
    same(mode_of(path), 0o700, "the mode of --output")
    same(os.listdir(path), [], "what --output holds already")
    same(os.stat(path).st_uid, os.getuid(), "the owner of --output")
    same(mode_of(os.path.dirname(path)) & 0o022, 0, "group and other bits of --output's parent")


def artefacts(place):
    import shutil  # slow to load, and most calls do without
    os.makedirs(os.path.dirname(place))
    shutil.copytree(CONFIG["simulator"], place)


def dump(output):
    os.makedirs(os.path.join(output, "OPPROF_20260101_1", "device0", "tmp_dump"))
    with open(os.path.join(output, "OPPROF_20260101_1", "pc_start_addr.txt"), "w") as f:
        f.write("0x1000\n")


def hang():
    child = subprocess.Popen(["sleep", "600"])
    with open(os.path.join(DIR, "pids.tmp"), "w") as f:
        f.write(f"{os.getpid()} {child.pid}")
    os.rename(os.path.join(DIR, "pids.tmp"), os.path.join(DIR, "pids"))
    child.wait()


def stale_and_new(output):
    """A folder with a later name that was made earlier, by another run: it says nothing of this one."""
    artefacts(os.path.join(output, "OPPROF_20990101_9", "simulator"))
    os.utime(os.path.join(output, "OPPROF_20990101_9"), (1000000000, 1000000000))
    artefacts(os.path.join(output, "OPPROF_20260101_1", "simulator"))


def incomplete(output):
    artefacts(os.path.join(output, "OPPROF_20260101_1", "simulator"))
    for folder, _, files in os.walk(output):
        for name in files:
            if "instr_exe" in name:
                os.unlink(os.path.join(folder, name))


def collect(options):
    mode, output = CONFIG.get("collect", "new"), options["output"]
    if "capture" in CONFIG:  # of an application, not of a replay
        same({k: v for k, v in options.items() if k != "output"}, CONFIG["capture"], "options")
        if "application" in options:
            subprocess.run(options["application"].split())
    else:
        same(sorted(options), ["application", "kernel-name", "launch-count", "output", "soc-version", "timeout"], "options")
        same([options[k] for k in ("application", "kernel-name", "launch-count", "soc-version", "timeout")],
             ["./build/replay_host", "replay_entry", str(CONFIG.get("launches", 1)), CONFIG["soc"],
              str(CONFIG.get("minutes", 120))], "options")
    check_output(output)
    calls = [json.loads(line) for line in open(os.path.join(DIR, "calls.txt"))]
    if len([c for c in calls if c[0] == "msprof" and c[-1] != "--help"]) > CONFIG.get("hang_after", 999):
        mode = "hang"
    if CONFIG.get("build") == "real":
        same(subprocess.run([options["application"]]).returncode, 0, "the status of the application")
    run = os.path.join(output, "OPPROF_20260101_1")
    if mode in ("new", "quiet", "status"):
        artefacts(os.path.join(run, "simulator"))
    elif mode == "device":
        for launch in ("10", "2"):
            artefacts(os.path.join(run, "device0", "replay_entry_mix_aic", launch, "simulator"))
        artefacts(os.path.join(run, "device0", "another", "0", "simulator"))
    elif mode == "npu":
        import shutil
        shutil.copytree(CONFIG["device"], os.path.join(run, "device0", "matmul", "0"))
    elif mode == "old":
        dump(output)
    elif mode == "hang":
        hang()
    elif mode == "stale":
        stale_and_new(output)
    elif mode == "incomplete":
        incomplete(output)
    elif mode == "crash":
        os.kill(os.getpid(), 11)
    if mode in ("fails", "status"):
        leave("[ERROR] aclInit 500000 init soc version failed", 3)
    if mode == "quiet":
        leave(FAILURE)
    leave(SUCCESS)


def export(options):
    same(sorted(options), ["export", "output"], "options")
    check_output(options["output"])
    same(open(os.path.join(options["export"], "pc_start_addr.txt")).read(), "0x1000\n", "the start address")
    mode = CONFIG.get("export", "")
    if mode == "fails":
        leave("[ERROR] parse dump failed", 4)
    if mode != "nothing":
        artefacts(os.path.join(options["output"], "OPPROF_20260101_2", "simulator"))
    leave(SUCCESS)


def msprof(words):
    on_device = "device" in CONFIG
    same(words[:2 - on_device], ["op", "simulator"][:2 - on_device], "the first words")
    if words[2:] == ["--help"]:
        leave(CONFIG.get("help", HELP))
    own = [] if "capture" in CONFIG else [os.path.join(os.getcwd(), "build")]
    check_env(["/old/libraries"] if on_device else [*own, *CONFIG["libraries"]])
    options = {}
    for w in words[2 - on_device:]:
        m = re.fullmatch(r"--([a-z-]+)=(.+)", w)
        need(m and m[1] not in options, f"option {w}")
        options[m[1]] = m[2]
    (export if "export" in options else collect)(options)


def main():
    name, words = sys.argv[1], sys.argv[2:]
    with open(os.path.join(DIR, "calls.txt"), "a") as f:
        f.write(json.dumps([name, *words]) + "\n")
    {"bisheng": bisheng, "cmake": cmake, "msprof": msprof, "nm": nm, "c++filt": cxxfilt}[name](words)


if __name__ == "__main__":
    main()
