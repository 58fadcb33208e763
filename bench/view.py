#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opening a large capture in the viewer: cold (JSON read, columns written) and warm (columns mapped).

usage: bench/view.py [--incore build/incore] [--capture DIR] [--millions 20] [--dir WHERE]

Budgets (reference host, idle): first progress within 0.3 s; all slices of 20 million ready within 4 s cold; the server's part of a warm
open within 150 ms; memory at most 20 bytes a slice and 64 MB, mapped. What is printed is wall time: look at the load of the machine, too.
"""
import argparse
import glob
import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from replicate import replicate  # noqa: E402


def get(port, token, path):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    c.request("GET", path, headers={"Authorization": f"Bearer {token}"})
    r = c.getresponse()
    body = r.read()
    c.close()
    return r.status, body


VERBS = ["isa", "hot?by=instr&top=all", "hot?by=line&top=all", "check", "waves?bins=240&top=all", "summary"]


def processor_ms(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().split(") ")[1].split()
    return (int(fields[11]) + int(fields[12])) * 1000 // os.sysconf("SC_CLK_TCK")


def opened(program, capture, cache, with_verbs=False):
    """Seconds to the address, to the first progress, to all slices; trace; peak kB."""
    started = time.monotonic()
    p = subprocess.Popen([program, "view", "--no-open", capture], stdout=subprocess.PIPE, text=True, env={**os.environ, "XDG_CACHE_HOME": cache})
    url = p.stdout.readline()
    at_url = time.monotonic() - started
    port, token = int(url.split(":")[2].split("/")[0]), url.split("token=")[1].strip()
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    c.request("GET", "/api/1/progress", headers={"Authorization": f"Bearer {token}"})
    stream = c.getresponse()
    stream.readline()
    at_progress = time.monotonic() - started
    stream.read()
    at_ready = time.monotonic() - started
    trace = json.loads(get(port, token, "/api/1/trace")[1])
    times = []
    for level in (4, 8, 12, 14):
        last = min(59, trace["counts"]["tracks"] - 1)
        from_ = time.monotonic()
        get(port, token, f"/api/1/tile?tracks=0-{last}&level={level}&i=0")
        times.append((time.monotonic() - from_) * 1e3)
    with open(f"/proc/{p.pid}/status") as f:
        rss = {w.split(":")[0]: int(w.split()[1]) for w in f if w.startswith(("VmHWM", "RssAnon"))}
    for question in VERBS if with_verbs else []:
        before = processor_ms(p.pid)
        get(port, token, "/api/1/" + question)
        print(f"  {question}: {processor_ms(p.pid) - before} ms of processor time")
    p.terminate()
    p.wait()
    return at_url, at_progress, at_ready, trace["counts"]["slices"], rss, times


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--incore", default="build/incore")
    a.add_argument("--capture")
    a.add_argument("--millions", type=float, default=20)
    a.add_argument("--dir")
    o = a.parse_args()
    shared = os.environ.get("INCORE_SHARED", os.path.join(HERE, "..", "..", "shared"))
    found = sorted(glob.glob(os.path.join(shared, "data", "amd", "ui_output", "flash_attn_before", "ui_output_*")))
    source = o.capture or (found[0] if found else None)
    if not source:
        sys.exit("name a capture: --capture DIR")
    # the cache is only taken where its path is absolute
    tmp = os.path.abspath(tempfile.mkdtemp(prefix="incore-view-", dir=o.dir))
    try:
        info = json.loads(subprocess.run([o.incore, "view", "--get", "/api/1/trace", source], capture_output=True, check=True).stdout)
        copies = max(1, round(o.millions * 1e6 / info["counts"]["slices"]))
        size = replicate(source, os.path.join(tmp, "ui_output_agent_1_dispatch_1"), copies)
        print(f"{size / 1e6:.0f} MB of JSON, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
        for word in ("cold", "warm", "warm"):
            url, progress, ready, n, rss, tiles = opened(o.incore, tmp, os.path.join(tmp, "cache"))
            print(f"{word}: {n / 1e6:.1f} M slices; address {url:.2f} s, first progress {progress:.2f} s, all there {ready:.2f} s; "
                  f"peak {rss['VmHWM'] / 1024:.0f} MB, of that not mapped {rss['RssAnon'] / 1024:.0f} MB "
                  f"({rss['RssAnon'] * 1024 / n:.1f} B a slice); tiles {' '.join(f'{t:.1f}' for t in tiles)} ms")
        print("what the panels ask:")
        opened(o.incore, tmp, os.path.join(tmp, "cache"), with_verbs=True)
        cache = glob.glob(os.path.join(tmp, "cache", "incore", "*.columns"))
        print(f"columns file: {os.path.getsize(cache[0]) / n:.2f} bytes a slice" if cache
              else "columns file: not kept (the capture is below 16 MB or has more than 400,000 files, or the disk is full)")
    finally:
        shutil.rmtree(tmp)


if __name__ == "__main__":
    main()
