#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the walls around a kernel and its compiler hold? kernel.cpp tries system calls from an ifunc resolver, a constructor and its entry;
other runs end badly on purpose; sources try to make the compiler read, write or use up what is not theirs. Each is tried as whoever runs
this and, where that is root, as an ordinary user, too. Then: where a wall cannot be built nothing runs.

usage: run.py BUILD_DIR [NAME...]     a function of CASES; CXX: the compiler (g++)
"""
import ctypes
import errno
import glob
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TOKEN = "TOKEN_OF_A_SECRET"
NOBODY = 65534
RESULT = [0, 0, 0]
GOOD = '#include "pto/pto-inst.hpp"\nextern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)\n{\n}\n'


def check(ok, what):
    RESULT[not ok] += 1
    if not ok:
        print(f"FAIL {what}")


def refusing(number, mask=0):
    """For the child: system call `number` (where it has one of the flags `mask`) fails, as on a system that lacks it."""
    load, equal, has, answer = 0x20, 0x15, 0x45, 0x06
    code = [(load, 0, 0, 0), (equal, 0, 3 if mask else 1, number)]
    code += [(load, 0, 0, 16), (has, 0, 1, mask)] if mask else []
    code += [(answer, 0, 0, 0x00050000 | (errno.EPERM if mask else errno.ENOSYS)), (answer, 0, 0, 0x7fff0000)]
    text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *c) for c in code))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(code), ctypes.addressof(text)))
    prctl = ctypes.CDLL(None).prctl

    def install():
        prctl(38, 1, 0, 0, 0)
        if prctl(22, 2, program, 0, 0) != 0:
            os._exit(99)
    install.text = text  # as long as the filter is needed
    return install


class User:
    """One who runs the program: folders, a secret and a process that are theirs, and a cache."""

    def __init__(self, tmp, program, uid):
        self.name = "root" if uid == 0 else f"user {uid}"
        self.program, self.uid = program, uid
        self.tmp = os.path.join(tmp, f"u{uid}")
        for part in ("kernels", "cwd", "cache"):
            os.makedirs(os.path.join(self.tmp, part))
            os.chown(os.path.join(self.tmp, part), uid, -1)
        os.chown(self.tmp, uid, -1)
        self.sleeper = subprocess.Popen(["sleep", "600"], **self.who())
        self.make_victim()

    def who(self):
        if self.uid == os.getuid():
            return {}
        return {"user": self.uid, "group": self.uid, "extra_groups": []}

    def write(self, name, text):
        path = os.path.join(self.tmp, name)
        with open(path, "w") as f:
            f.write(text)
        return path

    def make_victim(self):
        folder = os.path.join(self.tmp, "victim")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        self.secret = self.write("victim/secret.h", f'int x = {TOKEN};\n#error "{TOKEN}"\n')
        for path in (folder, self.secret):
            os.chown(path, self.uid, -1)
        self.victim = self.look()

    def look(self):
        """All that must stay as it is."""
        names = os.listdir(os.path.dirname(self.secret))
        if "secret.h" not in names:
            return names
        st = os.stat(self.secret)
        with open(self.secret) as f:
            return names, st.st_mode, st.st_uid, st.st_mtime, f.read()

    def start(self, source, *words, before=None, cwd="cwd", **env):
        env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "XDG_CACHE_HOME": os.path.join(self.tmp, "cache"), "SECRET": TOKEN,
               **({"CXX": os.environ["CXX"]} if "CXX" in os.environ else {}), **env}
        return subprocess.Popen([self.program, "model", "run", "--core", "aiv", *words, "--", source], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, errors="replace", cwd=os.path.join(self.tmp, cwd), env=env,
                                preexec_fn=before, **self.who())

    def run(self, source, *words, **more):
        with self.start(source, *words, **more) as p:
            out, err = p.communicate(timeout=300)
        return subprocess.CompletedProcess(p.args, p.returncode, out, err)

    def attack(self, number, *words, how=None, **more):
        define = [w for d in (f'VICTIM="{os.path.dirname(self.secret)}"', f"VICTIM_PID={self.sleeper.pid}") for w in ("-D", d)]
        kernel = os.path.join(os.path.dirname(os.path.dirname(self.program)), "kernel.cpp")
        return (how or self.run)(kernel if os.path.exists(kernel) else os.path.join(HERE, "kernel.cpp"), "--json", *define, *words,
                                 "-a", f"0=i64:{number}", **more)

    def harmless(self, what, p, status):
        """It ended as it should, told no secret, left nothing behind."""
        text = p.stdout + p.stderr
        check(p.returncode == status, f"{self.name}: {what}: exit status {p.returncode}, not {status}: {text[:1200]}")
        check(TOKEN not in text, f"{self.name}: {what}: the secret was told: {text[:300]}")
        if self.look() != self.victim:
            check(False, f"{self.name}: {what}: the victim's folder was changed")
            self.make_victim()
        check(self.sleeper.poll() is None, f"{self.name}: {what}: the victim was killed")
        alive = self.survivors()
        check(not alive, f"{self.name}: {what}: something lives on: {alive}")
        for pid in alive:
            os.kill(pid, signal.SIGKILL)

    def work_folders(self):
        return glob.glob(os.path.join(self.tmp, "cache", "incore", "recorder", "work-*"))

    def survivors(self):
        """Processes that run something from this user's cache, by their command line."""
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline") as f:
                    words = f.read()
            except OSError:
                continue
            if self.tmp in words and self.program not in words and int(pid) != os.getpid():
                found[int(pid)] = words
        return found


def told(p):
    """The innermost message of an error."""
    try:
        error = json.loads(p.stderr)["error"]
    except (ValueError, KeyError):
        return p.stderr
    return ([error["message"]] + [c["message"] for c in error["causes"]])[-1]


def calls(u):
    """About 110 calls at three moments; then with names of the C library taken by the kernel."""
    for words in ((), ("-D", "OWN_SYMBOLS")):
        p = u.attack(0, *words)
        u.harmless(f"system calls {words}", p, 3)
        check(told(p).startswith("; held "), f"{u.name}: let through {words}: {told(p)}")


def endings(u):
    """Kernels that end badly on purpose; all are one program."""
    p = u.attack(1)
    u.harmless("int 0x80", p, 3)
    check("let through" not in told(p) and "int80" not in told(p), f"{u.name}: int 0x80: {told(p)}")
    began = time.monotonic()
    p = u.attack(2, "--time-limit", "1")
    u.harmless("deaf to signals", p, 3)
    check("did not end within 1 s" in told(p) and time.monotonic() - began < 20, f"{u.name}: deaf to signals: {told(p)}")
    p = u.attack(3)
    u.harmless("memory", p, 3)
    check(told(p).startswith("; held "), f"{u.name}: more memory than the limit: {told(p)}")
    u.harmless("flood of output", u.attack(4), 3)
    u.harmless("crash without handlers", u.attack(5, before=lambda: os.system("ulimit -c unlimited")), 3)
    check(os.listdir(os.path.join(u.tmp, "cwd")) == [], f"{u.name}: a core was left")
    u.harmless("a stream that is none", u.attack(6), 3)
    u.harmless("nothing said", u.attack(7), 3)
    u.harmless("a forged report", u.attack(8), 5)


def survivor(u):
    """A child in a session of its own, with everything closed, lives no longer than the run."""
    u.harmless("a child that stays", u.attack(7, "-D", "SURVIVOR"), 3)


def wait_for(is_so, what):
    until = time.monotonic() + 60
    while not is_so() and time.monotonic() < until:
        time.sleep(0.01)
    check(is_so(), what)


def killed(u):
    """Where the program itself is killed, its kernel and its compiler do not live on."""
    slow = os.path.join(u.tmp, "slow", "bin", "c++")
    os.makedirs(os.path.dirname(slow))
    u.write("slow/bin/c++", "#!/bin/sh\n(sleep 500) &\nsleep 500 # $0\n")
    os.chmod(slow, 0o755)
    u.attack(0)  # so that it is in the cache
    kernel, compiler_ = lambda: u.attack(2, how=u.start), lambda: u.start(u.write("kernels/killed.cpp", GOOD), CXX=slow)
    for what, start, number in (("a kernel", kernel, signal.SIGKILL), ("a compiler", compiler_, signal.SIGTERM),
                                ("a compiler", compiler_, signal.SIGKILL)):
        with start() as p:
            wait_for(u.survivors, f"{u.name}: {what} runs: {p.poll()}")
            p.send_signal(number)
        wait_for(lambda: not u.survivors(), f"{u.name}: {what} lives on: {u.survivors()}")
        check(number == signal.SIGKILL or not u.work_folders(), f"{u.name}: {what}: a work folder is left: {u.work_folders()}")
    for folder in u.work_folders():  # SIGKILL lets nobody clean up
        shutil.rmtree(folder)


SOURCES = {  # what a source may try with its compiler; SECRET is a file of the user's in a folder beside
    "include": '#include "SECRET"\n',
    "include by a way up": '#include "../victim/secret.h"\n',
    "include of a link": '#include "linked.h"\n',
    "include of the environment": '#include "/proc/self/environ"\n',
    "include of a password file": '#include "/etc/shadow"\n',
    "include of a standard stream": '#include "/dev/stdin"\n',
    "include of memory": '#include "/proc/self/maps"\n',
    "macro include": '#define P "SECRET"\n#include P\n',
    "include_next": '#include_next "SECRET"\n',
    "embed": 'char x[] = {\n#embed "SECRET"\n};\n',
    "incbin": 'asm(".data\\n.incbin \\"SECRET\\"\\n.text");\n',
    "assembler include": 'asm(".include \\"SECRET\\"");\n',
    "a file from the assembler's end": 'asm(".data\\n.incbin \\"/etc/passwd\\"\\n.text");\n',
    "a large file": 'asm(".data\\n.space 0x60000000, 1\\n.text");\n',
    "memory": "char x[] = {[0 ... 2000000000] = 1};\n",
    "nested include": '#include __FILE__\n',
    "deep template": "template <int N> struct A : A<N + 1> {};\nA<0> a;\n",
    "dump file": '#pragma GCC optimize("-fdump-tree-all=VICTIM/written")\n__attribute__((optimize("dump-tree-all"))) void f() {}\n#error end\n',
    "dependency file": '#pragma GCC dependency "SECRET"\n#error end\n',
    "linker script": 'asm(".section .note.x\\n.ascii \\"INPUT(SECRET)\\"");\nextern int missing;\nint *p = &missing;\n',
}


def compiler(u):
    kernels = os.path.join(u.tmp, "kernels")
    os.symlink(u.secret, os.path.join(kernels, "linked.h"))
    for what, text in SOURCES.items():
        source = u.write("kernels/source.cpp", text.replace("SECRET", u.secret).replace("VICTIM", os.path.dirname(u.secret)) + GOOD)
        u.harmless(f"compiler: {what}", u.run(source), 3)
    p = u.run(u.write("kernels/source.cpp", '#include "SECRET"\n'.replace("SECRET", u.secret) + GOOD))
    check("--include" in p.stderr, f"{u.name}: what may be read is not said: {p.stderr}")
    check(not u.work_folders(), f"{u.name}: work folders are left: {u.work_folders()}")


ASKED = {  # ways to ask whether a file is there; N: of a secret or of nothing
    "has_include": '#if __has_include("N")\n#error there\n#endif\n',
    "has_include in brackets": '#if __has_include(<N>)\n#error there\n#endif\n',
    "has_include by a way up": '#if __has_include("../victim/NAME")\n#error there\n#endif\n',
    "include": '#include "N"\n',
    "incbin": 'asm(".data\\n.incbin \\"N\\"\\n.text");\n',
}


def asked(u):
    """A file of the user's cannot be told from none, where the system grants a root of one's own; elsewhere its text stays hidden."""
    grants = subprocess.run(["unshare", "-m", *(["-U", "-r"] if u.uid else []), "true"], stderr=subprocess.DEVNULL, **u.who()).returncode == 0
    if not grants:
        print(f"SKIP {u.name}: this system grants no namespace of mounts")
        RESULT[2] += 1
    folder = os.path.dirname(u.secret)
    for what, text in ASKED.items() if grants else ():
        said = []
        for name in ("secret.h", "nothing.h"):
            source = u.write("kernels/asked.cpp", text.replace("NAME", name).replace("N", os.path.join(folder, name)) + GOOD)
            p = u.run(source)
            check(TOKEN not in p.stdout + p.stderr, f"{u.name}: asked by {what}: the secret was told")
            said.append((p.returncode, p.stdout, p.stderr.replace(name, "")))
        check(said[0] == said[1], f"{u.name}: asked by {what}: {said}")
    p = u.run(u.write("kernels/asked.cpp", ASKED["has_include"].replace("N", u.secret) + GOOD + "// from the root\n"), cwd="/")
    check(p.returncode == (0 if grants else 3), f"{u.name}: asked from the root folder: {p.stderr}")
    for path in ("/etc/passwd", "/root", "/proc/self/environ", "/dev/mem", "/home") if grants else ():
        u.harmless(f"asked for {path}", u.run(u.write("kernels/asked.cpp", ASKED["has_include"].replace("N", path) + GOOD)), 0)
    source = u.write("kernels/asked.cpp", GOOD + "// without namespaces\n")
    u.harmless("no namespace of mounts", u.run(source, before=refusing(272)), 0)
    u.harmless("include without a namespace of mounts", u.run(u.write("kernels/asked.cpp", f'#include "{u.secret}"\n' + GOOD), before=refusing(272)), 3)


def environment(u):
    """What the environment or an option says of a compiler's parts puts nothing foreign into it; the same for every user."""
    if u.uid != os.getuid():
        return
    false = os.path.join(u.tmp, "kernels", "false")  # where it may read, so that nothing else stops it
    os.makedirs(os.path.join(false, "plugin"))
    for name in ("cc1plus", "as", "ld", "collect2", "wrapper"):
        os.chmod(u.write(f"kernels/false/{name}", "#!/bin/sh\necho error: TAKEN >&2\nexit 1\n"), 0o755)
    for name in ("stdint.h", "cstdint", "stddef.h"):
        u.write(f"kernels/false/{name}", "#error TAKEN\n")
    u.write("kernels/false/specs", "*cc1plus:\n-DTAKEN\n")
    u.write("kernels/false/options", "-DTAKEN\n")
    code = ('#include <string.h>\n#include <unistd.h>\nextern char *program_invocation_short_name;\n'
            '__attribute__((constructor)) static void taken(void)\n{\n\tif (strcmp(program_invocation_short_name, "incore") != 0)\n'
            '\t\twrite(2, "error: TAKEN\\n", 13), _exit(1);\n}\n')
    library = os.path.join(false, "libmpc.so.3")
    subprocess.run(["cc", "-w", "-D_GNU_SOURCE", "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=code, text=True, check=True)
    option = os.path.join(false, "options")
    source = "#include <cstdint>\n#ifdef TAKEN\n#error TAKEN\n#endif\n" + GOOD + "// "
    variables = {name: false for name in ("COMPILER_PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "LD_LIBRARY_PATH")}
    variables |= {"GCC_EXEC_PREFIX": false + "/", "LD_PRELOAD": library, "DEPENDENCIES_OUTPUT": os.path.join(os.path.dirname(u.secret), "written"),
                  "GCC_COMPARE_DEBUG": "-DTAKEN", "CCC_OVERRIDE_OPTIONS": "+-DTAKEN", "PATH": false + ":/usr/bin:/bin"}
    for name, value in variables.items():
        p = u.run(u.write("kernels/environment.cpp", source + name), **{name: value})
        u.harmless(f"${name}", p, 0)
    for text in (f"-fplugin={library}", f"-wrapper {false}/wrapper", "-wrapper", f"@{option}", f"-specs={false}/specs", f"-B{false}"):
        for word, status in (("--include", 0), ("-D", 3)):
            p = u.run(u.write("kernels/environment.cpp", source + word + text), word, text)
            u.harmless(f"{word} {text}", p, status)
            check("TAKEN" not in p.stderr, f"{u.name}: {word} {text}: {p.stderr}")


def taken(u):
    """A compiler that is not what it was: compiler.c is $CXX."""
    cxx = os.path.join(u.tmp, "toolchain", "bin", f"c++-{u.sleeper.pid}")
    os.makedirs(os.path.dirname(cxx))
    subprocess.run(["cc", "-w", "-o", cxx, os.path.join(HERE, "compiler.c")], check=True)
    shutil.copy("/bin/true", os.path.join(u.tmp, "kernels", "program"))
    p = u.run(u.write("kernels/taken.cpp", GOOD), CXX=cxx)
    u.harmless("a compiler that was taken", p, 6)
    check("error: let through:; held 4" in p.stderr, f"{u.name}: a compiler that was taken: {p.stderr}")


def names(u):
    """Names of sources are no options and no files of options."""
    cwd = os.path.join(u.tmp, "cwd")
    for name in ("-Bsource.cpp", "-fplugin=source.cpp", "-wrapper.cpp", "-specs=source.cpp", "--help.cpp", "@source.cpp", "-o written.cpp", "a b;$(id).cpp"):
        text = GOOD + f"/*\n-o {os.path.dirname(u.secret)}/written\n-B. -include {u.secret}\n*/\n"
        with open(os.path.join(cwd, name), "w") as f:
            f.write(text)
        u.harmless(f"a source named {name}", u.run(name), 0)
        os.unlink(os.path.join(cwd, name))
    check(os.listdir(cwd) == [], f"{u.name}: a compiler wrote beside the source: {os.listdir(cwd)}")


def refusals(u):
    """Without one of the walls nothing is compiled and nothing runs, unless that is asked for."""
    source = u.write("kernels/good.cpp", GOOD)
    for what, filter_ in (("Landlock", refusing(444)), ("a filter", refusing(317))):
        p = u.run(source, before=filter_)
        u.harmless(f"no {what}", p, 5)
        check("--unsafe-native" in p.stderr and what in p.stderr, f"{u.name}: no {what}: {p.stderr}")
    for what, filter_ in (("Landlock fails", refusing(446)), ("capabilities stay", refusing(126))):
        p = u.run(source, before=filter_)
        check(p.returncode in (5, 6), f"{u.name}: {what}, and a kernel is compiled: {p.returncode} {p.stderr}")
    p = u.run(source, "--unsafe-native", before=refusing(444))
    u.harmless("no Landlock, unsafe", p, 0)
    u.harmless("all walls", u.run(source), 0)
    for what, filter_ in (("Landlock fails", refusing(446)), ("capabilities stay", refusing(126))):
        p = u.run(source, before=filter_)
        check(p.returncode in (3, 5), f"{u.name}: {what}, and a kernel runs: {p.returncode} {p.stderr}")
    p = u.run(source, "-D", "AGAIN", before=refusing(56, 0x20000000))
    u.harmless("no namespace of pids", p, 0)
    p = u.attack(0, "--unsafe-native", "-D", "OWN_SYMBOLS")  # the walls are what holds, not this test
    check(not told(p).startswith("; held "), f"{u.name}: nothing gets through where there are no walls: {told(p)}")
    u.make_victim()


def streams(u):
    """Standard streams that are closed: no file takes their place."""
    source = u.write("kernels/streams.cpp", GOOD)
    want = u.run(source).stdout
    for fds in ((0,), (1,), (2,), (0, 2), (0, 1, 2)):
        p = u.run(source, before=lambda f=fds: [os.close(n) for n in f])
        check(p.returncode == (6 if 1 in fds else 0) and p.stdout == ("" if 1 in fds else want),
              f"{u.name}: closed {fds}: {p.returncode} {p.stderr}")
    check(bool(want), "a kernel without ops is answered")


CASES = (calls, endings, survivor, killed, compiler, asked, environment, taken, names, streams, refusals)


def copy_for_all(build, to):
    """What a user needs who may not look into the build's folder."""
    os.makedirs(os.path.join(to, "build"))
    shutil.copy(os.path.join(build, "incore"), os.path.join(to, "build"))
    shutil.copy(os.path.join(HERE, "kernel.cpp"), to)
    for folder in ("recorder", "profiles"):
        shutil.copytree(os.path.join(ROOT, folder), os.path.join(to, folder))
    os.chmod(to, 0o755)
    return os.path.join(to, "build", "incore")


def main():
    build, wanted = os.path.abspath(sys.argv[1]), sys.argv[2:]
    if os.uname().machine != "x86_64":
        print("SKIP the attacks are written for x86-64\n0 passed, 0 failed, 1 skipped")
        return 0
    with tempfile.TemporaryDirectory() as tmp:
        os.chmod(tmp, 0o755)
        program = copy_for_all(build, os.path.join(tmp, "copy"))
        for uid in [os.getuid()] + ([NOBODY] if os.getuid() == 0 else []):
            u = User(tmp, program, uid)
            try:
                for case in CASES:
                    if not wanted or case.__name__ in wanted:
                        case(u)
            finally:
                u.sleeper.kill()
                u.sleeper.wait()
    print(f"{RESULT[0]} passed, {RESULT[1]} failed, {RESULT[2]} skipped")
    return RESULT[1] > 0


if __name__ == "__main__":
    sys.exit(main())
