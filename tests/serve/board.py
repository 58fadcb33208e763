#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of a store (incore view --store): who may ask, what cannot be asked, that captures are named by number alone, that its answers are those of
`incore store`, pairs of captures opened and given up, and a store that is changed, damaged or somebody else's.

usage: board.py BUILD_DIR
"""
import concurrent.futures
import functools
import glob
import json
import os
import shutil
import sqlite3
import subprocess
import sys

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from schema_check import valid  # noqa: E402
from server import DATA, PROGRAM, ROOT, Server, check, comes, folder, tell

PATHS = ["store/series", "store/regressions", "store/history?capture=1", "store/show?capture=1", "store/files?before=1&after=2", "pair/1-9/trace", "pair/1-9/progress",
         "pair/1-9/source?file=0", "trace", "progress", "nothing", "store/nothing"]


def incore(*words):
    return subprocess.run([PROGRAM, *words], cwd=DATA, capture_output=True, text=True, timeout=600)


def nights(tmp):
    """Three nights of two kernels, in files that may be taken away."""
    store, captures = os.path.join(tmp, "nights"), os.path.join(tmp, "captures")
    shutil.copytree(os.path.join(DATA, "h200", "nightly"), captures)
    for i, r in enumerate(("r1", "r2", "r3")):
        p = incore("store", "add", "-q", "--store", store, "-r", r, "--at", f"2026-11-0{i + 1}", *sorted(glob.glob(os.path.join(captures, f"*.{r}.*"))))
        check(p.returncode == 0, p.stderr)
    return store


def body(server, path):
    status, text, _ = server.ask("/api/1/" + path)
    return status, json.loads(text)


@functools.cache
def keeps_to_schema():
    return valid(json.loads(subprocess.run([PROGRAM, "--schema", "store"], capture_output=True, check=True).stdout))


def data(server, path):
    status, answer = body(server, path)
    check(status == 200 and keeps_to_schema()(answer), f"{path}: {status} {str(answer)[:2000]}")
    return answer["data"]


# --- who, and what ---

def check_who(server):
    for path in PATHS:
        for token in ("", "0" * 32):
            status, text, headers = server.ask("/api/1/" + path, token=token)
            check(status == 401 and json.loads(text)["error"]["code"] == "no-token" and headers.get("www-authenticate") == "Bearer", f"{path} without the token: {status}")
        for headers in ({"Host": "evil:80"}, {"Host": "localhost"}, {"Origin": "http://evil"}):
            check(server.ask("/api/1/" + path, headers=headers)[0] == 403, f"{path} with {headers}")
        status, _, headers = server.ask("/api/1/" + path, "POST")
        check(status == 405 and headers.get("allow") == "GET, HEAD", f"POST {path}: {status}")
    for path, kind, word in (("/", b"store.js", "text/html"), ("/store.js", b"", "text/javascript"), ("/store.css", b"", "text/css"), ("/pair/1-9", b"incore.js", "text/html"),
                             ("/pair/../../etc/passwd", b"incore.js", "text/html")):
        status, text, headers = server.ask(path, token="")
        check(status == 200 and kind in text and headers["content-type"].startswith(word) and headers["content-security-policy"].startswith("default-src 'self';"), f"{path}: {status}")
    check(server.ask("/etc/passwd", token="")[0] == 404, "a path of the machine")


def check_refused(server):
    for path, want in [("trace", 404), ("store/nothing", 404), ("store/accept", 404), ("store/accept?kernel=turn&because=x", 404), ("store/history", 400), ("store/history?capture=x", 400), ("store/history?capture=-1", 400), ("store/show?capture=99", 400),
                       ("store/history?capture=18446744073709551615", 400), ("store/series?from=99", 400), ("store/series?kernel=(", 400), ("store/series?figure=x", 400), ("store/regressions?all=2", 400),
                       ("store/series?kernel=a&kernel=b", 400), ("store/files?before=1&after=/etc/passwd", 400), ("pair/1/trace", 404), ("pair/1-x/trace", 404), ("pair/-/trace", 404), ("pair/1-9", 404),
                       ("pair/../../etc-passwd/x", 404), ("pair/1-99/trace", 400), ("pair/99999999999999999999-1/trace", 404), ("pair/1-9/nothing", 404), ("pair/1-9/trace?c=2", 400),
                       ("store/series?kernel=" + "a" * 5000, 414)]:
        status, text, _ = server.ask("/api/1/" + path)
        check(status == want and json.loads(text)["error"]["code"], f"{path[:60]}: {status}, not {want}: {text[:200]}")


# --- the same figures ---

def check_figures(server, store):
    def told(*words):
        return json.loads(incore("store", words[0], "--json", "--store", store, *words[1:]).stdout)["data"]

    gate, rows = told("gate", "--movers", "0"), data(server, "store/series")
    check([rows[k] for k in ("is_passed", "worse", "standing", "no_claim")] == [gate[k] for k in ("is_passed", "worse", "standing", "no_claim")], "the gate")
    by_capture = {s["capture"]: s for s in gate["series"]}
    check(len(rows["series"]) == len(by_capture) and all({k: v for k, v in s.items() if k in by_capture[s["capture"]]} == by_capture[s["capture"]] for s in rows["series"]), "series are those of gate")
    check(data(server, "store/regressions?all=1") == told("regressions", "--all", "--movers", "0"), "regressions are those of the verb")
    for whole in told("history", "--movers", "12")["series"]:
        one = data(server, f"store/history?capture={whole['points'][3]['capture']}")["series"]
        check(one == [whole], f"the history of {whole['kernel']}")
    check(data(server, "store/show?capture=3") == told("show", "--top", "12", "3"), "a capture is that of show")
    check(data(server, "store/series?label=size=2")["series"] == [] and data(server, "store/regressions?kernel=^turn&all=1") == told("regressions", "--all", "--movers", "0", "-k", "^turn"), "filters are options")


def check_thin(tmp):
    """Of a long series points are left out, and never a low, a high or the first mark of a stretch; lists have pages."""
    store = os.path.join(tmp, "long")
    subprocess.run([sys.executable, os.path.join(ROOT, "tests", "store", "many.py"), PROGRAM, os.path.join(DATA, "two_waves"), store, "2400", "1"], check=True)
    whole = json.loads(incore("store", "history", "--json", "--movers", "0", "--store", store).stdout)["data"]["series"][0]
    server = Server("--store", store)
    answer = body(server, "store/history?capture=7")[1]
    one, points = answer["data"]["series"][0], whole["points"]
    check(answer["input"]["total"] == 2400 and len(one["points"]) <= 1500 and all(points[p["index"]] == p for p in one["points"]), "points are those of history")
    kept = {p["index"] for p in one["points"]}
    for k in range(500):
        part = points[2400 * k // 500:2400 * (k + 1) // 500]
        need = {min(part, key=lambda p: p["value"])["index"], max(part, key=lambda p: p["value"])["index"], *[p["index"] for p in part if p["mark"]][:1]}
        check(need <= kept, f"stretch {k} lost {need - kept}")
    check(one["levels"] == whole["levels"] and [c["index"] for c in one["changes"]] == [c["index"] for c in whole["changes"]] and one["changes"], "levels and changes are whole")
    check(data(server, "store/series?from=1")["series"] == [], "a list from its end")
    check(server.end() == 0, server.told[:1000])


# --- pairs ---

def check_pairs(server, captures):
    numbers = {os.path.basename(p["path"]): p["capture"] for s in data(server, "store/history?capture=1")["series"] + data(server, "store/history?capture=5")["series"] for p in s["points"]}
    before, after = numbers["turn.r1.3.incore"], numbers["turn.r2.0.incore"]
    pair = f"pair/{before}-{after}/"
    status, text, _ = server.ask(f"/api/1/{pair}progress")
    check(status == 200 and json.loads(text.splitlines()[-1])["read"] == 2, f"progress of a pair: {text[-200:]}")
    trace = json.loads(server.ask(f"/api/1/{pair}trace")[1])
    check([os.path.basename(c["path"]) for c in trace["captures"]] == ["turn.r1.3.incore", "turn.r2.0.incore"], f"the captures of a pair: {trace['captures']}")
    diff = incore("diff", "--json", *(os.path.join(captures, f"turn.{x}.incore") for x in ("r1.3", "r2.0"))).stdout
    check(server.ask(f"/api/1/{pair}diff?c=0&base=1")[1].decode() == diff, "diff of a pair is that of the verb")
    # more pairs than are kept, at once and again and again: each is answered, none stays
    all_pairs = [(a, b) for a in list(numbers.values())[:4] for b in list(numbers.values())[8:11]]
    ask = lambda p: server.ask(f"/api/1/pair/{p[0]}-{p[1]}/progress")[0]  # noqa: E731
    for p in all_pairs:
        check(ask(p) == 200, f"pair {p}")
    threads = server.settled("task")
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        check(set(pool.map(ask, all_pairs * 2)) == {200}, "pairs asked about at once")
    check(comes(lambda: server.count("task") <= threads + 8), f"threads: {server.count('task')}, and there were {threads}")
    gone = os.path.join(captures, "turn.r2.1.incore")
    os.rename(gone, gone + "x")
    number = numbers["turn.r2.1.incore"]
    files = data(server, f"store/files?before={before}&after={number}")["files"]
    check([f["is_there"] for f in files] == [True, False] and files[1]["path"] == gone, f"files: {files}")
    status, answer = body(server, f"pair/{before}-{number}/trace")
    check(status == 404 and answer["error"]["code"] == "no-file" and gone in answer["error"]["message"], f"a file that is gone: {status} {answer}")
    os.mkfifo(gone)  # a store says where captures are, and is somebody else's
    check(body(server, f"pair/{before}-{number}/trace")[0] in (404, 422), "a pipe in place of a capture")
    os.remove(gone)
    os.rename(gone + "x", gone)


# --- the store itself ---

def check_store(server, store):
    before = os.stat(store).st_mtime_ns, os.path.getsize(store)
    for path in PATHS:
        server.ask("/api/1/" + path)
    check((os.stat(store).st_mtime_ns, os.path.getsize(store)) == before, "asking changes the store")
    total = body(server, "store/series")[1]["input"]["total"]
    incore("store", "add", "-q", "--store", store, "gemm")
    check(body(server, "store/series")[1]["input"]["total"] == total + 1, "what is added is seen")
    db = sqlite3.connect(store)
    db.execute("UPDATE captures SET kernel = '<script>' || char(10) || x'ff' || kernel")
    db.commit()
    db.close()
    status, text, _ = server.ask("/api/1/store/series")
    check(status == 200 and "<script>" in json.loads(text)["data"]["series"][0]["kernel"] and b"\n\xff" not in text, "names of anybody's are text")
    with open(store, "r+b") as f:
        f.seek(4096)
        f.write(b"\xff" * 30000)
    for path in ("store/series", "store/history?capture=1", "pair/2-3/trace"):
        status, answer = body(server, path)
        check(status == 422 and answer["error"]["code"] == "bad-store", f"a damaged store, {path}: {status} {str(answer)[:200]}")
    os.remove(store)
    status, answer = body(server, "store/series")
    check(status == 422 and answer["error"]["code"] == "no-store", f"a store that is gone: {status} {answer}")


def main():
    with folder() as tmp:
        store = nights(tmp)
        server = Server("--store", store)
        check_who(server)
        check_refused(server)
        check_figures(server, store)
        check_pairs(server, os.path.join(tmp, "captures"))
        check_store(server, store)
        check_thin(tmp)
        check(server.end() == 0, f"the server does not end well: {server.told[:4000]}")
    return tell()


if __name__ == "__main__":
    sys.exit(main())
