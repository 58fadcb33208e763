#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that change, lead elsewhere or do not fit: links out of a capture, files that shrink while they are mapped, full disks, size
limits, signals while something is written, a manifest of a million waves that are not there.

usage: run.py BUILD_DIR
"""
import glob
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(ROOT, "tests", "data")
sys.path.insert(0, os.path.join(ROOT, "tests", "serve"))
from server import PROGRAM, Server, check, folder, tell  # noqa: E402

BUILD = os.path.abspath(sys.argv[1])
BAD_FILES = os.path.join(BUILD, "tests", "files", "libbad_files.so")
LARGE = 6 << 20  # is mapped
SECRET = "do-not-carry-me-away"


def run(*words, limit=None, **env):
    """Exit status, what it printed, what it said; env names what bad_files.c is to do."""
    full = {**os.environ, **({"LD_PRELOAD": BAD_FILES} if env else {}), **{k: str(v) for k, v in env.items()}}

    def start():
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # also below nohup, which would hide it from us
        if limit:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    p = subprocess.run([PROGRAM, *words], capture_output=True, env=full, preexec_fn=start)
    return p.returncode, p.stdout, p.stderr.decode()


def capture(tmp, name, of="two_waves"):
    """A copy of a capture that may be spoilt."""
    found = glob.glob(os.path.join(DATA, of, "ui_output*"))[0]
    to = os.path.join(tmp, name, os.path.basename(found))
    shutil.copytree(found, to)
    return to


def link_out(path, outside, text=None):
    """The file becomes a link to a copy, or to that text, outside."""
    if text is None:
        shutil.copy(path, outside)
    else:
        with open(outside, "w") as f:
            f.write(text)
    os.unlink(path)
    os.symlink(outside, path)


# --- links ---

def check_links(tmp):
    """Of a source, a wave and an optional file outside nothing is read; links inside, and a link that is the capture, are good."""
    path = capture(tmp, "links")
    plain = run("hot", "--json", path)[1]
    os.rename(f"{path}/occupancy.json", f"{path}/elsewhere.json")
    os.symlink("elsewhere.json", f"{path}/occupancy.json")
    os.rename(f"{path}/code.json", f"{path}/code_too.json")
    os.symlink(f"{path}/code_too.json", f"{path}/code.json")  # an absolute name, of a file inside
    os.symlink(path, f"{tmp}/named")
    rc, out, said = run("hot", "--json", path)
    check((rc, out, said) == (0, plain, ""), f"links inside: {rc} {said}")
    rc, out, said = run("hot", "--json", path, NO_OPENAT2=1)
    check((rc, out, said) == (0, plain, ""), f"links inside, without openat2: {rc} {said}")
    rc, out, said = run("info", f"{tmp}/named")
    check(rc == 0 and not said, f"a link to a capture: {rc} {said}")
    link_out(f"{path}/source_0_add.py", f"{tmp}/secret.py", f"# {SECRET}\n" * 12)
    link_out(f"{path}/se0_sm0_sl0_wv0.json", f"{tmp}/wave.json")
    link_out(f"{path}/wstates1.json", f"{tmp}/states.json")
    for env in ({}, {"NO_OPENAT2": 1}):
        rc, out, said = run("check", "--json", path, **env)
        findings = {f["id"] for f in json.loads(out)["data"]["findings"]} if rc in (0, 1) else set()
        check("link-outside" in findings, f"check does not tell of links: {rc} {said}")
        check("damaged-file" not in findings, "check takes a link for damage")
        check("links 3, waves 1" in run("check", path, **env)[1].decode(), "check does not count the links")
        for words in (["pack", "-o", f"{tmp}/p.incore"], ["report", "-o", f"{tmp}/r.html"], ["export", "--to", "json", "-o", f"{tmp}/e.json"],
                      ["export", "--to", "ui_output", "-o", f"{tmp}/ui"]):
            rc, _, said = run(*words, path, **env)
            check(rc == 0 and "leads out of" in said, f"{words[0]}: {rc} {said}")
        rc, out, said = run("view", "--get", "/api/1/source?file=0", path, **env)
        check(SECRET.encode() not in out, "the server gives the text of a link")
        for made in (f"{tmp}/p.incore", f"{tmp}/r.html", f"{tmp}/e.json", *glob.glob(f"{tmp}/ui/*")):
            with open(made, "rb") as f:
                check(SECRET.encode() not in f.read(), f"{made} has what a link leads to")
        rc, out, said = run("export", "--to", "json", f"{tmp}/p.incore", **env)
        check(SECRET.encode() not in out, "the packed file has what a link leads to")
        shutil.rmtree(f"{tmp}/ui")
    check(run("check", "--strict", path)[0] == 4, "--strict takes a link for nothing")
    rc, out, said = run("hot", "--json", "--follow-links", path)
    check((rc, out, said) == (0, plain, ""), f"--follow-links: {rc} {said}")
    check(SECRET.encode() in run("view", "--follow-links", "--get", "/api/1/source?file=0", path)[1], "--follow-links: no source")
    link_out(f"{path}/code_too.json", f"{tmp}/code.json")
    rc, _, said = run("hot", path)
    check(rc == 3 and "code.json: leads out of" in said, f"code.json outside: {rc} {said}")


def check_other_links(tmp):
    """Side files, raw thread traces, simulator runs, args dumps."""
    path = capture(tmp, "side")
    with open(f"{tmp}/side/1_agent_info.csv", "w") as f:
        f.write("Node_Id,Agent_Type,Name\n0,GPU,gfx950\n")
    link_out(f"{tmp}/side/1_agent_info.csv", f"{tmp}/agent.csv")
    rc, _, said = run("info", path)
    check(rc == 0 and "1_agent_info.csv leads out of" in said, f"side file: {rc} {said}")
    raw = shutil.copytree(os.path.join(DATA, "sqtt_gfx9", "host"), f"{tmp}/raw")
    code = glob.glob(f"{raw}/*.out")
    link_out(code[0], f"{tmp}/code.elf")
    rc, out, said = run("check", raw)
    check("link-outside" in out.decode() and "leads out of" in said, f"code object: {rc} {said}")
    stream = sorted(glob.glob(f"{raw}/*.att"))
    for s in stream:
        link_out(s, f"{tmp}/{os.path.basename(s)}")
    rc, _, said = run("hot", raw)
    check(rc == 3 and "leads out of" in said, f"streams: {rc} {said}")
    rc, _, said = run("hot", stream[0])
    check(rc == 0, f"a stream that is named: {rc} {said}")
    sim = shutil.copytree(os.path.join(DATA, "ascend_matmul"), f"{tmp}/sim")
    events = [os.path.join(d, n) for d, _, names in os.walk(sim) for n in names if n == "visualize_data.bin"][0]
    where = os.path.dirname(events)
    link_out(events, f"{tmp}/events.bin")
    rc, _, said = run("clean", where, "-o", f"{tmp}/cleaned")
    check(rc == 3 and "leads out of" in said and not os.path.exists(f"{tmp}/cleaned"), f"clean: {rc} {said}")
    rc, _, said = run("clean", "--follow-links", where, "-o", f"{tmp}/cleaned")
    check(rc == 0, f"clean --follow-links: {rc} {said}")
    os.rename(where, f"{tmp}/elsewhere")
    os.symlink(f"{tmp}/elsewhere", where)
    above = os.path.dirname(where)
    check(run("hot", above)[0] != 0 and run("hot", "--follow-links", above)[0] == 0, "a simulator directory that is a link")
    dump = shutil.copytree(os.path.join(DATA, "dumps", "own"), f"{tmp}/dump")
    payload = glob.glob(f"{dump}/**/*.bin", recursive=True)[0]
    link_out(payload, f"{tmp}/payload.bin")
    rc, out, said = run("dump", "check", dump)
    check(rc == 1 and "link-outside" in out.decode(), f"dump check: {rc} {out} {said}")
    rc, _, said = run("dump", "export", "--to", "raw", dump, "-o", f"{tmp}/values")
    made = b"".join(open(f, "rb").read() for f in glob.glob(f"{tmp}/values/*.bin"))
    check(not made, f"dump export carries a link's bytes: {rc} {said}")
    check(run("dump", "check", "--follow-links", dump)[0] == 0, "dump check --follow-links")
    for n, name in enumerate(("args.log", "args.bin", "args_dump.json")):
        dump = shutil.copytree(os.path.join(DATA, "dumps", "unclosed"), f"{tmp}/unclosed{n}")
        with open(f"{dump}/args_dump.json", "a"):
            link_out(f"{dump}/{name}", f"{tmp}/out{n}", "precious" if n == 2 else None)
        rc, _, said = run("dump", "repair", dump)
        check(rc == 3 and name in said and (n != 2 or open(f"{tmp}/out2").read() == "precious"), f"dump repair through {name}: {rc} {said}")


# --- files that shrink ---

def make_large(path):
    """Blanks at the end change nothing but the size."""
    with open(path, "ab") as f:
        f.write(b" " * LARGE)


def check_shrinking(tmp):
    path = capture(tmp, "shrinks")
    wave = f"{path}/se0_sm0_sl0_wv0.json"
    for name in ("se0_sm0_sl0_wv0.json", "code.json", "occupancy.json"):
        for verb in ("hot", "check"):
            shutil.copy(f"{path}/{name}", f"{tmp}/kept")
            make_large(f"{path}/{name}")
            check(run(verb, path)[0] == 0, f"{verb}: large {name}")
            rc, _, said = run(verb, path, SHRINK="/" + name)
            read = name != "occupancy.json" or verb != "hot"
            check(rc == (3 if read else 0) and (not read or f"{name}@0: the file became shorter" in said), f"{verb}, {name} shrinks: {rc} {said}")
            shutil.copy(f"{tmp}/kept", f"{path}/{name}")
    make_large(wave)
    rc, _, said = run("pack", path, "-o", f"{tmp}/shrunk.incore", SHRINK="/" + os.path.basename(wave))
    check(rc == 3 and not os.path.exists(f"{tmp}/shrunk.incore"), f"pack: {rc} {said}")
    doc = f"{tmp}/doc.json"
    check(run("export", "--to", "json", capture(tmp, "doc"), "-o", doc)[0] == 0, "export --to json")
    make_large(doc)
    rc, _, said = run("export", "--to", "csv", doc, "-o", f"{tmp}/doc.csv", SHRINK="/doc.json")
    check(rc == 3 and "became shorter" in said and not os.path.exists(f"{tmp}/doc.csv"), f"export: {rc} {said}")
    dump = shutil.copytree(os.path.join(DATA, "dumps", "own"), f"{tmp}/large_dump")
    payload = glob.glob(f"{dump}/**/*.bin", recursive=True)[0]
    os.truncate(payload, LARGE)
    for words in (["show", "-i", "0"], ["export", "--to", "raw", "-o", f"{tmp}/shrunk"]):
        shutil.copy(payload, f"{tmp}/kept")
        rc, _, said = run("dump", *words, dump, SHRINK="/" + os.path.basename(payload))
        check(rc == 3 and "became shorter" in said, f"dump {words[0]}: {rc} {said}")
        shutil.copy(f"{tmp}/kept", payload)
    check(not os.path.exists(f"{tmp}/shrunk"), "dump export leaves what it wrote of a file that shrank")


def check_server(tmp):
    """One capture shrinks while it is read, the other goes on; one that shrinks later is an error, and the server stays."""
    bad, good = capture(tmp, "bad"), capture(tmp, "good", "gemm")
    make_large(f"{bad}/code.json")
    os.environ.update(LD_PRELOAD=BAD_FILES, SHRINK=bad + "/code.json")
    server = Server(bad, good)
    del os.environ["LD_PRELOAD"], os.environ["SHRINK"]
    until = time.monotonic() + 30
    status, body = 409, b""
    while status == 409 and time.monotonic() < until:
        status, body, _ = server.ask("/api/1/code?c=1")
    check(status == 200, f"the other capture: {status} {body!r}")
    status, body, _ = server.ask("/api/1/code?c=0")
    check(status == 422 and b"changed-file" in body, f"the capture that shrank: {status} {body!r}")
    check(server.end() == 0, "the server died")


def check_library(tmp):
    """libincore reads unless it is told to map, and follows links when an option says so."""
    path = capture(tmp, "library")
    program = os.path.join(BUILD, "tests", "lib", "lib_tables")

    def ask(*words, **env):
        p = subprocess.run([program, *words], capture_output=True, text=True, env={**os.environ, "LD_PRELOAD": BAD_FILES, **env})
        return p.returncode, p.stdout, p.stderr
    plain = ask("hot", path, "{}")[1]
    make_large(f"{path}/code.json")
    check(ask("hot", path, "{}", SHRINK="/code.json")[1] == plain, "the library maps a file without being told to")
    rc, out, said = ask("--mapped", "hot", path, "{}", SHRINK="/code.json")
    check(rc == 0 and '"error": "changed-file", "status": 3' in out, f"the library, mapped: {rc} {out[:200]} {said}")
    shutil.copytree(capture(tmp, "again"), path, dirs_exist_ok=True)
    link_out(f"{path}/se0_sm0_sl0_wv0.json", f"{tmp}/wave.json")
    check(ask("hot", path, "{}")[1] != plain, "the library follows a link")
    check(ask("hot", path, '{"follow-links": true}')[1] == plain, "the library does not follow a link when it is told to")


# --- what is written ---

def writers(tmp):
    """Name, words that write it to OUT, a file of it that messages may name."""
    gemm, sim, dump = (os.path.join(DATA, *p) for p in (("gemm",), ("ascend_matmul",), ("dumps", "own")))
    for to in ("ui_output", "json", "csv", "chrome"):
        yield f"export --to {to}", ["export", "--to", to, gemm]
    yield "export --to insight", ["export", "--to", "insight", sim]
    yield "pack", ["pack", gemm]
    yield "report", ["report", gemm]
    yield "hot -o", ["hot", "--json", gemm]
    yield "clean", ["clean", sim]
    yield "clean --copy-raw", ["clean", "--copy-raw", sim]
    yield "dump export", ["dump", "export", "--to", "npy", dump]


def check_signals(tmp):
    """Whatever ends the program in the middle of its writing, nothing stays behind."""
    for name, words in writers(tmp):
        for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            where = os.path.join(tmp, "signals")
            os.mkdir(where)
            rc, _, said = run(*words, "-o", os.path.join(where, "out"), KILL_AFTER=100, KILL_WITH=int(sig))
            check(rc == (130 if sig == signal.SIGINT else -sig), f"{name}, {sig.name}: exit status {rc} {said}")
            check(os.listdir(where) == [], f"{name}, {sig.name} leaves {os.listdir(where)}")
            shutil.rmtree(where)
    where = os.path.join(tmp, "deaf")
    os.mkdir(where)
    p = subprocess.run(["sh", "-c", 'trap "" HUP; exec "$@"', "-", PROGRAM, "pack", os.path.join(DATA, "gemm"), "-o", f"{where}/p.incore"],
                       env={**os.environ, "LD_PRELOAD": BAD_FILES, "KILL_AFTER": "100", "KILL_WITH": "1"}, capture_output=True)
    check(p.returncode == 0 and os.listdir(where) == ["p.incore"], f"nohup: {p.returncode} {p.stderr}")


def check_full(tmp):
    """A full disk and a limit of the file size are called by their names, with the file, and leave nothing."""
    for name, words in writers(tmp):
        where = os.path.join(tmp, "full")
        for env, limit, why in (({"FULL_AFTER": 100}, None, "No space left on device"), ({}, 50, "File too large")):
            os.mkdir(where)
            rc, _, said = run(*words, "-o", os.path.join(where, "out"), limit=limit, **env)
            check(rc == 6 and why in said and where in said, f"{name}: exit status {rc}, not {why} and a file: {said}")
            check(os.listdir(where) == [], f"{name}, {why}: leaves {os.listdir(where)}")
            shutil.rmtree(where)
    gemm = os.path.join(DATA, "gemm")
    for words in (["hot", "--top", "all"], ["export", "--to", "json"], ["pack", "-o", "-"], ["isa"]):
        rc, _, said = run(*words, gemm, FULL_AFTER=100)
        check(rc == 6 and "standard output: cannot write: No space left on device" in said, f"{words}: {rc} {said}")
        with open("/dev/full", "wb") as full:
            p = subprocess.run([PROGRAM, *words, gemm], stdout=full, stderr=subprocess.PIPE, text=True)
        check(p.returncode == 6 and "standard output: cannot write: No space left on device" in p.stderr, f"{words}: {p.returncode} {p.stderr}")
        p = subprocess.Popen([PROGRAM, *words, gemm], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        p.stdout.close()
        said = p.stderr.read()
        check(p.wait() == 0 and not said, f"{words}: a closed pipe: {p.returncode} {said}")


# --- absent waves ---

def check_absent(tmp):
    """A manifest that names a million waves which are not there is answered by one look at the directory."""
    path = capture(tmp, "absent")
    with open(f"{path}/filenames.json") as f:
        manifest = json.load(f)
    waves = manifest["wave_filenames"]["0"]["0"].setdefault("1", {})
    few = 3000
    for i in range(few):
        waves[str(i)] = [f"se0_sm0_sl1_wv{i}.json", 0, 1]
    with open(f"{path}/filenames.json", "w") as f:
        json.dump(manifest, f)
    for verb in ("hot", "check", "waves", "summary", "info"):
        counted = os.path.join(tmp, "counted")
        rc, _, said = run(verb, path, COUNT_FAILED=counted)
        with open(counted) as f:
            n = int(f.read())
        check(rc in (0, 1) and n == 0, f"{verb}: {n} files that are not there were opened; exit status {rc} {said[:200]}")
        check(f"{few} wave files of the manifest are not there" in said, f"{verb} does not tell: {said[:200]}")


TESTS = (check_links, check_other_links, check_shrinking, check_server, check_library, check_signals, check_full, check_absent)


def main():
    only = sys.argv[2:]
    for test in TESTS:
        if not only or any(word in test.__name__ for word in only):
            with folder() as tmp:
                test(tmp)
    return tell()


if __name__ == "__main__":
    sys.exit(main())
