#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the server promises, one by one: where it listens, who may ask, what each answer carries, how large it may be, how many may ask,
what a slow client gets, and that nothing is written or kept.

usage: rules.py BUILD_DIR
"""
import concurrent.futures
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading

from server import DATA, PROGRAM, Server, check, comes, folder, tell

MAX_CONNECTIONS = 256


# --- where, and who ---

def listening(port):
    """Addresses that listen on a port, as the kernel writes them."""
    out = []
    for table in ("tcp", "tcp6"):
        if not os.path.exists(f"/proc/net/{table}"):
            continue
        with open(f"/proc/net/{table}") as f:
            rows = [line.split() for line in f.readlines()[1:]]
        out += [r[1].split(":")[0] for r in rows if r[3] == "0A" and int(r[1].split(":")[1], 16) == port]
    return out


def check_where():
    a, b = Server("gemm"), Server("gemm")
    check(a.is_ready() and b.is_ready(), "a server does not get ready")
    check(listening(a.port) == ["0100007F"], f"it listens on {listening(a.port)}, not on 127.0.0.1 alone")
    check(re.fullmatch(r"[0-9a-f]{32}", a.token) and a.token != b.token, f"tokens {a.token} and {b.token}")
    check(f":{a.port}/#token=" in a.url, "the token is not in the fragment")
    check(a.ask("/api/1/trace", token=b.token)[0] == 401, "the token of another run")
    check(a.end() == 0 and a.token not in a.told, f"SIGTERM: {a.told!r}")
    check(b.end(signal.SIGHUP) == 0, "SIGHUP")
    remote = Server("--bind", "0.0.0.0", "--remote", "gemm")
    check(listening(remote.port) == ["00000000"], "--bind 0.0.0.0")
    check(remote.ask("/api/1/trace", headers={"Host": f"10.0.0.1:{remote.port}"})[0] == 403, "--remote takes any name")
    check(remote.end() == 0 and "ssh -L" in remote.told, f"--remote does not tell of ssh -L: {remote.told!r}")
    p = subprocess.run([PROGRAM, "view", "--bind", "0.0.0.0", "gemm"], cwd=DATA, capture_output=True, text=True)
    check(p.returncode == 2 and "ssh -L" in p.stderr and "--remote" in p.stderr, f"--bind alone: {p.returncode} {p.stderr!r}")


def check_reach(server):
    """A request says what reaches HTTP and nothing else: an option that does not is refused, whatever its value."""
    verbs = json.loads(subprocess.run([PROGRAM, "--help=json"], capture_output=True, check=True).stdout)["verbs"]
    for verb in (v for v in verbs if "http" in v["reach"]):
        taken = []
        for option in verb["options"]:
            if option["group"] == "Common" or "http" in option["reach"]:
                continue
            status, body, _ = server.ask(f"/api/1/{verb['name']}?base=0&{option['name']}=1")
            if status != 400 or json.loads(body)["error"]["code"] != "bad-query":
                taken.append((option["name"], status))
        check(not taken, f"{verb['name']} takes of a request {taken}")
    subs = [f"{verb['name']}_{sub['name']}" for verb in verbs for sub in verb.get("verbs", []) if "http" in sub["reach"]]
    asked = [name for name in subs if server.ask(f"/api/1/{name}")[0] != 404]
    check("store_series" in subs and not asked, f"captures are shown, and a request reaches {asked}, which are about a store")


DATA_PATHS = ["trace", "tile?tracks=0-1&level=3&i=0", "slices?track=0", "at?track=0&t=5", "links?code=7", "select", "find?q=a", "info", "check", "hot", "isa", "waves",
              "occupancy", "summary", "diff?base=0", "histogram?code=7", "counters", "derived", "source?file=0", "code", "progress", "report", "report?base=0", "nothing"]
ASSETS = {"/": "text/html", "/start.js": "text/javascript", "/incore.js": "text/javascript", "/incore.css": "text/css", "/incore.svg": "image/svg+xml"}


def check_who(server):
    for path in DATA_PATHS:
        for token in ("", "0" * 32):
            status, body, headers = server.ask("/api/1/" + path, token=token)
            check(status == 401 and json.loads(body)["error"]["code"] == "no-token" and headers.get("www-authenticate") == "Bearer", f"{path} without the token: {status}")
    for path, kind in ASSETS.items():
        status, _, headers = server.ask(path, token="")
        check(status == 200 and headers["content-type"].startswith(kind), f"{path} needs no token: {status}")
    own = f"127.0.0.1:{server.port}"
    for host, origin, want in [(own, f"http://{own}", 200), (f"localhost:{server.port}", None, 200), (f"localhost:{server.port}", f"http://localhost:{server.port}", 200),
                               (own, f"http://localhost:{server.port}", 403), (own, "http://127.0.0.1", 403), ("localhost", None, 403), (own + ".", None, 403),
                               (own, f"HTTP://{own}", 403), ("127.0.0.1:8080", None, 200), ("localhost:8080", "http://localhost:8080", 200), ("127.0.0.1:8080", f"http://{own}", 403), ("127.0.0.1:65536", None, 403),
                               ("127.0.0.1:", None, 403), ("127.0.0.1:8080x", None, 403), (own, "", 403), ("", None, 403), (f"LOCALHOST:{server.port}", None, 403), (f"0x7f.1:{server.port}", None, 403)]:
        more = {} if origin is None else {"Origin": origin}
        for path in ("/", "/api/1/trace"):
            check(server.ask(path, headers={"Host": host, **more})[0] == want, f"Host {host!r}, Origin {origin!r}: not {want}")


# --- what an answer carries ---

PROMISED = {"x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cross-origin-resource-policy": "same-origin"}


def check_headers(server):
    cases = [("/", {}, 200), ("/api/1/trace", {}, 200), ("/api/1/tile?tracks=0-1&level=3&i=0", {}, 200), ("/api/1/progress", {}, 200), ("/api/1/hot?top=-1", {}, 400),
             ("/api/1/trace", {"token": ""}, 401), ("/", {"headers": {"Host": "evil"}}, 403), ("/none", {}, 404), ("/api/1/none", {}, 404), ("/", {"method": "POST"}, 405),
             ("/api/1/trace?" + "a" * 5000, {}, 414)]
    for path, how, want in cases:
        status, body, headers = server.ask(path, **how)
        check(status == want, f"{path[:40]} {how}: {status}, not {want}")
        check(all(headers.get(k) == v for k, v in PROMISED.items()) and headers.get("content-security-policy", "").startswith("default-src 'self';"), f"{path[:40]} {how}: {headers}")
        check("unsafe-inline" not in headers.get("content-security-policy", "") and "access-control-allow-origin" not in headers, f"{path[:40]}: too open")
        if want >= 400:
            told = json.loads(body)
            check(told["schema"] == "incore.error/1" and told["error"]["code"] and told["error"]["message"], f"{path[:40]} {how}: {body[:200]}")
    trace = json.loads(server.ask("/api/1/trace")[1])
    for path, word in [(f"tile?h={trace['hash']}&tracks=0-1&level=3&i=0", "immutable"), ("tile?tracks=0-1&level=3&i=0", "no-store"), ("trace", "no-store"), ("isa", "no-store")]:
        check(word in server.ask("/api/1/" + path)[2]["cache-control"], f"{path}: {word}")
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT", "TRACE", "PROPFIND"):
        status, _, headers = server.ask("/api/1/trace", method)
        check(status == 405 and headers.get("allow") == "GET, HEAD", f"{method}: {status}")
    for path in ("/", "/api/1/trace", "/api/1/isa"):
        full, head = server.ask(path), server.ask(path, "HEAD")
        check(head[0] == 200 and head[1] == b"" and head[2]["content-length"] == str(len(full[1])), f"HEAD {path}")


# --- how much, and how many ---

def check_limits(server):
    for path in ["slices?track=0&n=4001", "code?n=4001", "tile?tracks=0-64&level=3&i=0", "tile?tracks=0-1&level=41&i=0", "counters?name=x&w=8193", "derived?w=4001", "find?q=a&w=8193",
                 "waves?bins=999999999", "occupancy?bins=100001", "trace?from=99999999", "slices?track=99999999", "trace?c=16", "diff?base=7",
                 "at?track=0&t=18446744073709551616", "hot?" + "&".join(f"a{i}=1" for i in range(200))]:
        status, body, _ = server.ask("/api/1/" + path)
        check(status == 400 and json.loads(body)["error"]["code"], f"{path[:60]}: {status}")
    for n, want in [(4096, (200, 400)), (4097, (414,)), (20000, (414,))]:
        path = "/api/1/find?q=" + "a" * (n - len("/api/1/find?q="))
        check(server.ask(path)[0] in want, f"an address of {n} bytes")
    raw = server.begin(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nX: " + "a" * 200000 + "\r\n\r\n")
    try:
        told = raw.recv(100)
    except OSError:
        told = b""
    raw.close()
    check(told == b"" or re.match(rb"HTTP/1.. 4(13|31|00)", told), f"200,000 bytes of a header: {told!r}")


def check_many(server):
    """No more than so many connections have a thread; those who wait are answered when others have left."""
    files, tasks = server.count("fd"), server.count("task")
    slow = [server.begin() for _ in range(MAX_CONNECTIONS + 40)]
    server.settled("task")
    check(server.count("task") - tasks <= MAX_CONNECTIONS + 2, f"{server.count('task') - tasks} threads for {len(slow)} clients")
    check(server.count("fd") - files <= 3 * MAX_CONNECTIONS + 8, f"{server.count('fd') - files} files for {len(slow)} clients")
    for s in slow:
        s.close()
    with concurrent.futures.ThreadPoolExecutor(200) as pool:
        answers = list(pool.map(lambda i: server.ask(f"/api/1/tile?tracks=0-3&level={i % 6}&i=0")[0], range(200)))
    check(answers == [200] * 200, f"200 at once, after slow ones: {sorted(set(answers))}")
    check(comes(lambda: server.count("fd") <= files + 2 and server.count("task") <= tasks + 1), f"files {files} to {server.count('fd')}, threads {tasks} to {server.count('task')}")


def files_below(*folders):
    return sorted((os.path.join(f, n), os.stat(os.path.join(f, n)).st_mtime_ns) for d in folders for f, _, names in os.walk(d) for n in names)


def check_kept(server, tmp):
    """The same questions again and again cost no memory and leave no file."""
    before = files_below(tmp, DATA)
    questions = ["/api/1/" + p for p in DATA_PATHS] + list(ASSETS) + ["/api/1/find?q=/a*b/", "/api/1/hot?o=x", "/..", "/api/1/trace?c=9", "/api/1/select?by=cause"]
    round_of = lambda: [server.ask(q)[0] for q in questions]  # noqa: E731
    rounds = [(round_of(), server.kilobytes())[1] for _ in range(18)]
    if "ASAN_OPTIONS" not in os.environ:  # a sanitizer keeps what is freed, and tells of leaks itself, at the end
        # what one round left for the next to take comes and goes: what never comes back is the least of several
        least = [min(rounds[:6]), min(rounds[-6:])]
        check(least[1] <= least[0] + 2048, f"memory grew from {least[0]} to {least[1]} kB over {12 * len(questions)} requests: {rounds}")
    check(files_below(tmp, DATA) == before, "a request wrote a file")


class Dribblers:
    """As many clients as there are connections, without the token, each of which says a byte now and then and never ends its head."""

    def __init__(self, server):
        self.clients = [server.begin() for _ in range(MAX_CONNECTIONS)]
        self.gone, self.is_over = set(), threading.Event()
        self.thread = threading.Thread(target=self.dribble)
        self.thread.start()

    def dribble(self):
        while not self.is_over.wait(1):
            for s in self.clients:
                try:
                    s.sendall(b"1")
                except OSError:
                    self.gone.add(s)

    def end(self):
        self.is_over.set()
        self.thread.join()
        for s in self.clients:
            s.close()


def slow_clients(server):
    """One that says nothing, one that never ends its head, one that keeps its line open, one that asks for much and reads nothing."""
    whole = f"GET /incore.js HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n"
    return [server.begin(""), server.begin(), server.begin(whole), server.begin(whole * 100)]


def check_slow(server, files, clients):
    """A stranger who keeps a connection without using it loses it; who has shown the token keeps his, and the others cannot keep him out."""
    check(comes(lambda: server.count("fd") <= files), f"{server.count('fd') - files} of {len(clients)} slow clients are never hung up on")
    for s in clients:
        s.close()
    known = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    ask = lambda: (known.request("GET", "/api/1/trace", headers={"Authorization": f"Bearer {server.token}"}), known.getresponse().read())[1]  # noqa: E731
    told, line = ask(), known.sock
    dribblers = Dribblers(server)
    status = server.ask("/api/1/trace")[0]
    check(status == 200, f"with {MAX_CONNECTIONS} strangers who dribble: {status}")
    check(comes(lambda: len(dribblers.gone) == MAX_CONNECTIONS), f"{MAX_CONNECTIONS - len(dribblers.gone)} of them are never hung up on")
    check(ask() == told and known.sock is line, "who has shown the token lost his connection")
    dribblers.end()
    known.close()


def main():
    with folder() as tmp:
        waiting = Server("gemm")
        check(waiting.is_ready(), "a server does not get ready")
        files = waiting.settled("fd")
        clients = slow_clients(waiting)
        check(comes(lambda: waiting.count("fd") >= files + 4), "slow clients have no connection: this shows nothing")
        server = Server("gemm")
        check(server.is_ready(), "a server does not get ready")
        check_where()
        check_who(server)
        check_reach(server)
        check_headers(server)
        check_limits(server)
        check_kept(server, tmp)
        check_many(server)
        check_slow(waiting, files, clients)
        for name, s in (("the server that was asked", server), ("the one with slow clients", waiting)):
            check(s.end(signal.SIGINT) == 0, f"{name} does not end well: {s.told[:4000]}")
    return tell()


if __name__ == "__main__":
    sys.exit(main())
