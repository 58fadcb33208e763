#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the server keep to its promises? Answers of verbs equal the command line; a report answers as the server
does; 1,000 hostile requests leave the server up, its memory and its files as they were; signals end it.

usage: run.py BUILD_DIR
"""
import concurrent.futures
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

from accounts import BUCKETS, compare_pipes, compare_waves
from server import DATA, PROGRAM, ROOT, Server, check, comes, folder, skip, tell
from replicate import replicate

NODE = "/usr/bin/node" if os.path.exists("/usr/bin/node") else shutil.which("node")
WRITABLE = os.path.join(tempfile.gettempdir(), f"incore-hostile-{os.getpid()}")  # where a request must not make a file


def ask(*words):
    p = subprocess.run([PROGRAM, *words], capture_output=True)
    return p.returncode, p.stdout


def reply(server, data):
    """The bytes a client that speaks no HTTP gets back."""
    out = b""
    try:
        with server.begin(data) as s:
            s.settimeout(2.0)
            s.shutdown(socket.SHUT_WR)
            while chunk := s.recv(65536):
                out += chunk
    except OSError:
        pass
    return out


# --- answers ---

VERBS = ["info", "check", "hot?by=line&top=all", "hot?by=cause&top=5", "isa", "waves?top=all", "occupancy?bins=24",
         "summary?top=3", "hot?from=0&to=500", "whatif?nothing=1", "whatif"]


def words_of(question):
    name, _, rest = question.partition("?")
    return [name, "--json", *["--nothing" if pair == "nothing=1" else f"--{pair}" for pair in rest.split("&") if pair]]


def check_verbs():
    """Byte for byte what the command line prints, also of captures that are damaged."""
    for fixture in ("gemm", "ascend_matmul", "pc_sampling", "missing_wave", "shell_empty", "sqtt_gfx9", "bad_wave"):
        path = os.path.join(DATA, fixture)
        server = Server(path)
        server.is_ready()
        for question in VERBS:
            rc, told = ask(*words_of(question), path)
            status, body, _ = server.ask("/api/1/" + question)
            if rc in (0, 1):
                check(status == 200 and body == told, f"{fixture}: {question} is not what the command line prints")
            else:
                check(status in (400, 422, 500), f"{fixture}: {question}: exit status {rc}, HTTP {status}")
        check(server.end() == 0, f"{fixture}: SIGTERM does not end the server well")


QUESTIONS = ["tile?tracks=0-1&level=3&i=0", "tile?lanes=0-1,1&kernel=1&level=4&i=0", "found?q=v_&lanes=0-1&level=4&i=0", "tile?tracks=0-1&level=2&i=1&mode=bucket", "tile?tracks=0-1&level=5&i=0&mode=cause",
             "tile?tracks=0-0&level=5&i=0&mode=kernel", "slices?track=0", "slices?track=1&t0=100&t1=700", "at?track=0&slice=6",
             "at?track=1&t=700", "at?track=0&code=7&execution=1", "links?track=0&slice=6", "links?code=7", "links?t0=0&t1=900&tracks=0-1",
             "select?by=row", "select?by=line", "select?by=class&t0=100&t1=900", "select?by=cause", "select?by=class&causes=1",
             "tile?tracks=0-4&level=0&i=1&mode=bucket", "select?by=row&causes=1&t0=40&t1=400", "find?q=v_&w=16",
             "find?q=a&in=source,tracks,kernels", "find?rows=1-4", "histogram?code=7", "code", "counters", "source?file=0",
             *[f"rows?track={i}" for i in range(12)], "rows?track=2&execution=2", "rows?track=1&execution=1&from=3&n=9"]


def check_report(tmp):
    """The page's own core answers with the server's bytes."""
    if not NODE:
        skip("report core: no node")
        return
    for fixture in ("gemm", "ascend_matmul", "ascend_a5", "sqtt_gfx9", "gfx12"):
        path, page, out = os.path.join(DATA, fixture), os.path.join(tmp, "r.html"), os.path.join(tmp, "answers")
        os.makedirs(out, exist_ok=True)
        rc, _ = ask("report", path, "-o", page)
        check(rc == 0, f"{fixture}: no report")
        p = subprocess.run([NODE, os.path.join(ROOT, "tests", "serve", "core.mjs"), page, out, *QUESTIONS], capture_output=True,
                           text=True)
        check(p.returncode == 0, f"{fixture}: core: {p.stderr}")
        for i, question in enumerate(QUESTIONS):
            rc, told = ask("view", "--get", "/api/1/" + question, path)
            made = open(os.path.join(out, str(i)), "rb").read()
            check(made == told or rc == 2 and b"incore.error/1" in made, f"{fixture}: {question}: report and server differ")
        with open(page, "rb") as f:
            first = f.read()
        ask("report", path, "-o", page)
        with open(page, "rb") as f:
            check(f.read() == first, f"{fixture}: the same input gives other bytes")


# --- two captures ---

PAIR = ("repeated/ui_output_agent_1000_dispatch_7", "repeated/ui_output_agent_1000_dispatch_9")
PAIR_QUESTIONS = ["tile?tracks=0-3&level=3&i=0&mode=diff&base=1", "tile?tracks=0-3&level=3&i=0&mode=diff&base=0&c=1", "tile?tracks=0-3&level=2&i=0&mode=class&c=1",
                  "slices?track=1&t0=0&t1=5000&c=1", "at?track=0&t=200&c=1", "select?tracks=0-3&t0=0&t1=5000&by=row&c=1", "code?c=1",
                  "tile?tracks=0-3&level=3&i=0&mode=diff&base=1"]
PAIR_KEPT = ["summary", "summary?c=1", "diff?base=1&by=instr&top=all", "diff?base=0&by=instr&c=1&top=all", "waves?bins=240&c=1&top=all"]


def check_pair(tmp):
    """A report of two captures answers for each of them as the server does."""
    if not NODE:
        return
    paths, page, out = [os.path.join(DATA, p) for p in PAIR], os.path.join(tmp, "pair.html"), os.path.join(tmp, "pair")
    os.makedirs(out, exist_ok=True)
    check(ask("report", *paths, "-o", page)[0] == 0, "pair: no report")
    p = subprocess.run([NODE, os.path.join(ROOT, "tests", "serve", "core.mjs"), page, out, *PAIR_QUESTIONS, *PAIR_KEPT], capture_output=True, text=True)
    check(p.returncode == 0, f"pair: core: {p.stderr}")
    for i, question in enumerate(PAIR_QUESTIONS + PAIR_KEPT):
        told, made = ask("view", "--get", "/api/1/" + question, *paths)[1], open(os.path.join(out, str(i)), "rb").read()
        same = json.loads(made) == json.loads(told) if question in PAIR_KEPT else made == told
        check(same, f"pair: {question}: report and server differ")
    check(p.stdout.split("\n")[len(PAIR_QUESTIONS):-1] == ["200 kept"] * len(PAIR_KEPT), f"pair: not kept: {p.stdout}")


# --- pipes and causes ---

def tiles_of(path, mode, level, tracks, end):
    """The cells of each track over the whole range."""
    rows = [[] for _ in range(tracks)]
    for i in range((end >> level) // 512 + 1):
        for first in range(0, tracks, 64):
            last = min(first + 63, tracks - 1)
            rc, tile = ask("view", "--get", f"/api/1/tile?tracks={first}-{last}&level={level}&i={i}&mode={mode}", path)
            check(rc == 0, f"{path}: no tile {mode} {i}")
            for k in range(last - first + 1):
                cells = tile[32 + k * 2048:32 + (k + 1) * 2048]
                rows[first + k] += [tuple(cells[4 * c:4 * c + 4]) for c in range(512)]
    return rows


def check_pipes():
    """Where instructions of a pipe overlap, tiles and boxes say what `waves` says."""
    for fixture in ("ascend_matmul", "ascend_waiting", "ascend_dump", "ascend_half_dead", "ascend_a5"):
        path = os.path.join(DATA, fixture)
        trace = json.loads(ask("view", "--get", "/api/1/trace", path)[1])
        waves = json.loads(ask("waves", "--json", path)[1])["data"]["pipes"]
        want = {f"{p['core']}/{p['pipe']}": p["accounting"] for p in waves}
        check(len(want) >= 4, f"{fixture}: {len(want)} pipes")
        rows = tiles_of(path, "bucket", 0, len(trace["tracks"]), trace["span"]["end"])
        for track, cells in zip(trace["tracks"], rows):
            name = track[6]
            if name not in want:
                continue  # cache misses and marks are no units
            got = {b: sum(c[1] == 255 and c[0] == k for c in cells) for k, b in enumerate(BUCKETS)}
            check(got == {b: want[name][b] for b in BUCKETS}, f"{fixture}: {name}: {got}, not {want[name]}")
            check(all(c[1] in (0, 255) for c in cells), f"{fixture}: {name}: a cycle that is split")
            del want[name]
        check(not want, f"{fixture}: no lane for {sorted(want)}")
        box = json.loads(ask("view", "--get", "/api/1/select?by=cause", path)[1])
        tracks = tiles_of(path, "cause", 0, len(trace["tracks"]), trace["span"]["end"])
        sums = {r["key"]: r["sum"] for r in box["rows"]}
        for k, cause in enumerate(trace["causes"]):
            cells = sum(c[1] == 255 and c[0] == k for row in tracks for c in row)
            check(sums.get(cause, 0) == cells, f"{fixture}: {cause}: box {sums.get(cause)}, tiles {cells}")


def check_rows():
    """What the code rows of a track cost is what `waves` says of it: in every capture of pipes, and of waves."""
    seen = 0
    for fixture in [f for f in sorted(os.listdir(DATA)) if f.startswith("ascend_")] + ["gemm", "inline", "two_waves", "sqtt_cut"]:
        path = os.path.join(DATA, fixture)
        found = json.loads(ask("waves", "--json", "--top=all", path)[1])["data"]
        compare = compare_pipes if "pipes" in found else compare_waves
        tracks = found.get("pipes", found.get("waves", []))
        compare(lambda question: json.loads(ask("view", "--get", "/api/1/" + question, path)[1]), tracks,
                lambda what, got, want: not check(got == want, f"{fixture}: {what}: {got}, not {want}"))
        seen += len(tracks)
    check(seen >= 40, f"only {seen} tracks")


def check_causes():
    """What a box lost, by cause, adds up to stall and wait, in each row and in all."""
    for fixture in ("gemm", "gfx12", "ascend_matmul"):
        for by in ("class", "row", "line"):
            rc, told = ask("view", "--get", f"/api/1/select?by={by}&causes=1", os.path.join(DATA, fixture))
            box = json.loads(told) if rc == 0 else {"rows": [], "total": {}}
            for row in [*box["rows"], box["total"]]:
                check(sum(row["causes"].values()) == row["stall"] + row["wait"], f"{fixture}: {by}: {row}")
            check(box["total"]["causes"], f"{fixture}: {by}: nothing was lost")
            rc, plain = ask("view", "--get", f"/api/1/select?by={by}", os.path.join(DATA, fixture))
            for row in [*box["rows"], box["total"]]:
                del row["causes"]
            check(json.loads(plain) == box, f"{fixture}: {by}: causes change other figures")


# --- hostility ---

def hostile_requests(server, rng):
    token = server.token
    yield from (("GET", "/api/1/trace", {}, t, (401,)) for t in ["", "x", token[:-1], token + "0", token.upper() + "g", "0" * 32] * 20)
    for host in ["evil.example", f"evil.example:{server.port}", "127.0.0.1", "127.0.0.1:65536", "127.0.0.1:0", f"localhost:{server.port}.evil.example",
                 f"[::1]:{server.port}"] * 15:
        yield "GET", rng.choice(["/", "/api/1/trace"]), {"Host": host}, None, (403,)
    for origin in ["http://evil.example", "null", "https://127.0.0.1", f"https://127.0.0.1:{server.port}", f"http://127.0.0.1:{server.port}.evil"] * 16:
        yield "GET", rng.choice(["/", "/api/1/trace", "/incore.js"]), {"Origin": origin}, None, (403,)
    for path in ["/../../etc/passwd", "/..%2f..%2fetc%2fpasswd", "/api/1/../../../etc/passwd", "/api/1/source?file=../../etc/passwd",
                 "/api/1/source?file=%2e%2e%2fpasswd", "//etc/passwd", "/api/1/%00", "/api/1/trace%0d%0aX: y", "/api/1/tile?tracks=0-99999999999",
                 "/api/1/tile?tracks=0-1&level=99&i=0", "/api/1/tile?tracks=1-0&level=1&i=0", "/api/1/tile?tracks=0-1&level=40&i=99999999999999999999",
                 "/api/1/slices?track=-1", "/api/1/slices?track=0&t0=9&t0=9", "/api/1/at?track=0&t=x", "/api/1/select?tracks=" + "0," * 500,
                 "/api/1/find?q=/((((((a*)*)*)*)*)*$/", "/api/1/find?q=/[/", "/api/1/find?q=", f"/api/1/hot?output={WRITABLE}", "/api/1/hot?o=x",
                 "/api/1/hot?top=-1", "/api/1/hot?by=<script>", "/api/1/diff?noise=/etc", "/api/1/diff?gate=x", "/api/1/isa?range=zz", "/api/1/export?to=chrome",
                 "/api/1/dump", "/api/1/view", "/api/2/trace", "/api/1/", "/api/1", "/favicon.ico", "/incore.js/..", "/%", "/api/1/trace?%zz",
                 "/api/1/trace?c=1", "/api/1/trace?c=4294967296", "/api/1/counters?name=x", "/api/1/histogram?code=4294967295",
                 "/api/1/derived?d=" + "%28" * 900, "/api/1/tile?" + "&".join(f"k{i}=1" for i in range(60))] * 6:
        yield "GET", path, {}, None, (200, 400, 404, 422)
    yield from (("GET", "/api/1/trace?q=" + "a" * n, {}, None, (400, 414, 431)) for n in [4096, 5000, 9000, 20000, 60000] * 6)
    yield from (("GET", "/", {"X-Long": "b" * n}, None, (200, 413, 431)) for n in [8000, 20000, 40000, 200000] * 6)
    yield from ((m, "/api/1/trace", {}, None, (405,)) for m in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"] * 12)


GARBAGE = [b"", b"\0" * 100, b"GET", b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"a" * 500,
           b"GET /api/1/trace HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
           b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\nx",
           b"A" * 70000, b"GET " + b"/" * 70000 + b" HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 5000 + b"\r\n"]


def check_hostile():
    rng = random.Random(7)
    server = Server(os.path.join(DATA, "gemm"))
    check(server.is_ready(), "the server does not get ready")
    server.ask("/api/1/summary")
    files, kilobytes = server.count("fd"), server.kilobytes()
    n = bad = leaked = 0
    for method, path, headers, token, wanted in hostile_requests(server, rng):
        n += 1
        try:
            status, body, _ = server.ask(path, method, headers, token)
        except (OSError, http.client.HTTPException, ValueError):
            status, body = wanted[0], b""  # it hung up, or the client will not send that
        if status not in wanted:
            bad += 1
            print(f"FAIL {method} {path[:60]} {str(headers)[:60]}: {status}, not {wanted}")
        leaked += server.token.encode() in body or b"root:" in body or status == 401 and b"gemm" in body
    for data in GARBAGE * 12:
        n += 1
        leaked += server.token.encode() in reply(server, data)
    check(bad == 0, f"{bad} hostile requests were answered wrongly")
    check(leaked == 0, f"{leaked} answers leak")
    slow = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
    for s in slow:
        s.sendall(b"GET /api/1/trace HTTP/1.1\r\nHost: ")  # and never more
    check(server.ask("/api/1/trace")[0] == 200, "slow clients keep others out")
    for s in slow:
        s.close()
    with concurrent.futures.ThreadPoolExecutor(200) as pool:
        answers = list(pool.map(lambda i: server.ask(f"/api/1/tile?tracks=0-3&level={i % 6}&i=0")[0], range(200)))
    n += 220
    check(answers == [200] * 200, f"200 at once: {sorted(set(answers))}")
    check(n >= 1000, f"only {n} requests")
    check(comes(lambda: server.count("fd") <= files + 4), f"file descriptors grew from {files} to {server.count('fd')}")
    most = 400000 if "ASAN_OPTIONS" in os.environ else 40000  # a sanitizer keeps what is freed
    check(server.kilobytes() <= kilobytes + most, f"memory grew from {kilobytes} to {server.kilobytes()} kB")
    check(server.ask("/api/1/trace")[0] == 200, "the server is gone")
    check(not os.path.exists(WRITABLE), "a request made a file")
    check(server.end(signal.SIGINT) == 0, "SIGINT does not end it well")


def check_headers():
    server = Server(*(os.path.join(DATA, n) for n in ("gemm", "two_waves", "gemm")))
    server.is_ready()
    status, _, headers = server.ask("/", token="")
    check(status == 200 and "default-src 'self'" in headers["content-security-policy"] and
          headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer" and
          headers["cross-origin-resource-policy"] == "same-origin", f"page: {status} {headers}")
    hashes = [c["hash"] for c in json.loads(server.ask("/api/1/trace")[1])["captures"]]
    _, _, headers = server.ask(f"/api/1/tile?h={hashes[0]}&tracks=0-3&level=2&i=0")
    check("immutable" in headers["cache-control"], "tiles may be kept")
    check(server.ask(f"/api/1/tile?h={hashes[1]}&tracks=0-3&level=2&i=0")[0] == 400, "a tile under a wrong hash")
    check(server.ask("/api/1/trace", "HEAD")[:2] == (200, b""), "HEAD")
    rc, told = ask("diff", "--json", os.path.join(DATA, "gemm"), os.path.join(DATA, "gemm"))
    check(rc == 0 and server.ask("/api/1/diff?c=0&base=2")[1] == told, "diff of two captures")
    status, body, _ = server.ask("/api/1/diff?c=0&base=1")
    check(status in (400, 422) and b"not-comparable" in body, "captures that cannot be compared")
    server.end()
    idle = Server("--exit-when-idle", "1", "gemm")
    check(comes(lambda: idle.process.poll() is not None) and idle.end() == 0, "--exit-when-idle")


def opened_hash(path):
    server = Server(path)
    server.is_ready()
    trace = json.loads(server.ask("/api/1/trace")[1])
    tile = server.ask("/api/1/tile?tracks=0-63&level=4&i=0")[1]
    server.end()
    return trace["hash"], trace["counts"]["slices"], tile


def check_cache(tmp):
    """Columns of large captures are kept, used again, made anew for another content, and never trusted."""
    source = os.path.join(DATA, "gemm", "ui_output_agent_1000_dispatch_7")
    capture, cache = os.path.join(tmp, "big", "ui_output_agent_1_dispatch_1"), os.path.join(tmp, "incore")
    os.makedirs(os.path.dirname(capture))
    bytes_of_one = replicate(source, capture, 1)
    shutil.rmtree(capture)
    replicate(source, capture, (17 << 20) // bytes_of_one + 1)
    names = lambda: sorted(n for n in os.listdir(cache) if n.endswith(".columns"))  # noqa: E731
    first = opened_hash(os.path.dirname(capture))
    check(len(names()) == 1 and os.path.exists(os.path.join(cache, "CACHEDIR.TAG")), "no columns were kept")
    kept = os.path.join(cache, names()[0])
    made = os.stat(kept).st_ino
    check(opened_hash(os.path.dirname(capture)) == first and os.stat(kept).st_ino == made, "kept columns were not used again")
    with open(kept, "r+b") as f:
        f.seek(-30, os.SEEK_END)
        f.write(b"\xff" * 20)
    check(opened_hash(os.path.dirname(capture)) == first and os.stat(kept).st_ino != made, "damaged columns were trusted")
    wave = sorted(n for n in os.listdir(capture) if "_wv" in n)[0]
    with open(os.path.join(capture, wave)) as f:
        text = f.read()
    with open(os.path.join(capture, wave), "w") as f:
        f.write(text.replace("[[", "[[  ", 1))  # the same records in other bytes
    os.utime(os.path.join(capture, wave), ns=(1, 1))
    again = opened_hash(os.path.dirname(capture))
    check(again == first and len(names()) == 2, "a changed capture was not read anew")
    shutil.rmtree(os.path.dirname(capture))


EVIL = "</script><img src=x onerror=alert(1)>\u2028<!--"


def check_markup(tmp):
    """Names and sources of a capture stay text wherever they are written."""
    evil = os.path.join(tmp, "evil")
    shutil.copytree(os.path.join(DATA, "gemm"), evil)
    for folder, _, names in os.walk(evil):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as f:
                text = f.read()
            with open(path, "w", encoding="utf-8") as f:
                f.write(text.replace("gemm_f16", json.dumps(EVIL)[1:-1] if name.endswith(".json") else EVIL))
    for name in ("r.html", "r.md"):
        rc, _ = ask("report", evil, "-o", os.path.join(tmp, name))
        with open(os.path.join(tmp, name), encoding="utf-8") as f:
            text = f.read()
        if name == "r.md":  # what stands between fences is text
            text = re.sub(r"^(`{3,})text\n.*?^\1$", "", text, flags=re.M | re.S)
        check(rc == 0 and "<img" not in text and "onerror=alert" in text.replace("\\", ""), f"{name}: markup of a capture")
    page = open(os.path.join(tmp, "r.html"), encoding="utf-8").read()
    check(page.count("<script") == 6 and page.count("</script>") == 6, "a name opened or closed a script")
    rc, told = ask("view", "--get", "/api/1/trace", evil)
    check(rc == 0 and json.loads(told)["input"]["kernel"] == EVIL, "the kernel's name is not what it was")


def check_palette():
    """Pictures of a report and the page have the same colours."""
    hexes = lambda path, pattern: re.findall(r"#[0-9a-f]{6}", re.search(pattern, open(os.path.join(ROOT, path)).read(), re.S)[1])  # noqa: E731
    page = [c for name in ("SLOTS", "BUCKETS") for c in hexes("ui/base/palette.ts", rf"LIGHT_{name} = \[(.*?)\]")]
    check(len(page) == 17 and page == hexes("src/serve/view/colors.c", r"light\[[^]]*\] = \{(.*?)\}"), "colours of the page and of pictures differ")


def check_usage():
    gemm = os.path.join(DATA, "gemm")
    check(ask("view", "--bind", "0.0.0.0", gemm)[0] == 2, "--bind without --remote")
    check(ask("view", "--port", "70000", gemm)[0] == 2, "--port 70000")
    check(ask("view", os.path.join(DATA, "none"))[0] == 3, "no such capture")
    check(ask("view", "--get", "/api/1/nothing", gemm)[0] == 2, "--get of nothing")
    check(ask("view", "--get", "/api/1/hot", os.path.join(DATA, "bad_json"))[0] == 3, "--get of a broken capture")
    check(ask("report", gemm)[0] == 2, "report without -o")


def main():
    with folder() as tmp:
        check_usage()
        check_palette()
        check_verbs()
        check_pipes()
        check_rows()
        check_causes()
        check_headers()
        check_cache(tmp)
        check_report(tmp)
        check_pair(tmp)
        check_markup(tmp)
        check_hostile()
    return tell()


if __name__ == "__main__":
    sys.exit(main())
