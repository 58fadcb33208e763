#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The server's threads: many clients ask everything at once, while captures are read and after; some hang up. Meant for a program
built with ThreadSanitizer, which tells of every race on stderr; without one it is a test of answers under load.

usage: threads.py BUILD_DIR
"""
import concurrent.futures
import http.client
import json
import os
import sys

from server import DATA, PATIENCE_S, Server, check, folder, tell
from replicate import replicate

BIG_BYTES = 17 << 20  # beyond what the cache is for
TIMES = int(os.environ.get("TIMES", "1"))  # so many times as many questions


def ask(server, question):
    """Status; 0 where the connection was closed."""
    try:
        return server.ask(question if question.startswith("/") else "/api/1/" + question)[0]
    except (OSError, http.client.HTTPException):
        return 0


def hang_up(server, question):
    """Asks, reads a few bytes, and is gone."""
    try:
        with server.begin(f"GET /api/1/{question} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.token}\r\n\r\n") as s:
            return int(s.recv(64).split()[1])
    except (OSError, IndexError):
        return 0


def end(server, name):
    status = server.end()
    check(status == 0, f"{name}: exit status {status}")
    check("ThreadSanitizer" not in server.told, f"{name}:\n{server.told[:8000]}")


WHILE_READING = ["trace", "trace?c=1", "trace?c=2", "progress", "tile?tracks=0-3&level=4&i=0", "tile?c=1&tracks=0-1&level=4&i=0", "code", "info", "counters",
                 "source?file=0&c=1", "hot?by=line&top=all", "hot?c=1&top=3", "/", "/start.js", "/incore.js", "/incore.css"]
AFTER = ["trace", "progress", "code", "code?c=1", "isa", "hot?by=instr&top=all", "hot?by=line&top=all", "check", "summary?c=1&top=3", "waves?top=all&c=1",
         "at?track=0&slice=6", "links?track=0&slice=6", "links?code=7&c=1", "select?by=row&c=1", "select?by=cause&c=1", "find?q=v_&w=16", "histogram?code=7",
         "occupancy?bins=24", "slices?track=1&t0=100&t1=700", "isa?c=1", "diff?c=1&base=2",
         *[f"tile?c={c}&tracks=0-1&level={k}&i=0&mode={m}" for c in (0, 1) for k in (3, 6) for m in ("class", "bucket", "cause", "kernel")],
         *[f"tile?c=1&base={b}&tracks=0-1&level=3&i=0&mode=diff" for b in (1, 2)]]


def all_at_once(server, questions, times):
    """Statuses by question; every seventh client hangs up."""
    jobs = [(i, q) for i in range(times) for q in questions]
    with concurrent.futures.ThreadPoolExecutor(24) as pool:
        return list(pool.map(lambda j: (j[1], hang_up(server, j[1]) if (j[0] + len(j[1])) % 7 == 0 and not j[1].startswith("/") else ask(server, j[1])), jobs))


def watch(server, capture):
    """Asks for the trace without a pause until it is read: some question meets every step of the reading."""
    c = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
    while True:
        c.request("GET", f"/api/1/trace?c={capture}", headers={"Authorization": f"Bearer {server.token}"})
        state = json.loads(c.getresponse().read())["state"]
        if state != "loading":
            c.close()
            return state == "ready"


def unexpected(answers, allowed):
    return sorted({f"{q}: {status}" for q, status in answers if status not in allowed})


def big_capture(tmp):
    source = os.path.join(DATA, "gemm", "ui_output_agent_1000_dispatch_7")
    once = replicate(source, os.path.join(tmp, "once"), 1)
    replicate(source, os.path.join(tmp, "big", "ui_output_agent_1_dispatch_1"), BIG_BYTES // once + 1)
    return os.path.join(tmp, "big")


def main():
    with folder() as tmp:
        captures = [big_capture(tmp), os.path.join(DATA, "gemm"), os.path.join(DATA, "gemm")]
        for name in ("read", "mapped"):
            server = Server(*captures)
            with concurrent.futures.ThreadPoolExecutor(3) as pool:
                watching = [pool.submit(watch, server, c) for c in range(3)]
                bad = unexpected(all_at_once(server, WHILE_READING, 2 * TIMES), (200, 409))
                check(not bad, f"{name}, while reading: {bad}")
                check(server.is_ready(), f"{name}: it never gets ready")
                check(all(w.result() for w in watching), f"{name}: a capture is not ready")
            bad = unexpected(all_at_once(server, AFTER, 2 * TIMES), (200,))
            check(not bad, f"{name}, after: {bad}")
            end(server, name)
        server = Server(*captures)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            asked = pool.submit(all_at_once, server, WHILE_READING[:8], 2)
            end(server, "ended while asked")
            check(not unexpected(asked.result(), (0, 200, 409)), "answers of a server that ends")
    return tell()


if __name__ == "__main__":
    sys.exit(main())
