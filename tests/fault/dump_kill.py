#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a dump survive SIGKILL at any moment? A program records from three threads and is killed; the dump is
repaired; then nothing that a flush had promised may be missing, and nothing that is shown may be wrong.

usage: dump_kill.py BUILD_DIR [KILLS]     200 times TIMES unless told
"""
import concurrent.futures
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

SCALAR_MASK = 0x5555555555555555


def rows_of(number):
    return 48 * 1024 // 8 // 16 if number % 97 == 5 else number % 7


def payload(task_id, slot, rows, columns):
    key = task_id * 1000 + slot * 100000
    return b"".join(struct.pack("<Q", (key + r) & (1 << 64) - 1) * columns for r in range(rows))


def problem_of(record, task_id, number, data, promised):
    """None, or what is wrong with one record that the manifest shows."""
    slot = record["arg_index"]
    if record["kernel"] != "victim" or record["dispatch_id"] != number:
        return "wrong task"
    if promised and record.get("incomplete"):
        return "promised, but incomplete"
    if slot == 2:
        return None if int(record["raw"], 16) == task_id ^ SCALAR_MASK == record["value"] else "wrong scalar"
    shape = [rows_of(number), 16] if slot == 0 else [3, number % 50]
    if record["shape"] != shape or record["strides"] != [shape[1] + 1, 1]:
        return f"wrong shape {record['shape']}"
    if record.get("payload_lost"):
        return "promised, but its payload is lost" if promised else None
    want = payload(task_id, slot, *shape)
    if record["bin_size"] != len(want) or record["truncated"]:
        return f"{record['bin_size']} bytes of {len(want)}"
    at = record["bin_offset"]
    return None if data[at:at + len(want)] == want else "wrong payload"


def check(directory, promises):
    with open(os.path.join(directory, "args_dump.json")) as f:
        manifest = json.load(f)
    with open(os.path.join(directory, "args.bin"), "rb") as f:
        data = f.read()
    if not manifest["repaired"] or manifest["total_args"] != len(manifest["args"]):
        return "not marked as repaired, or a wrong total"
    seen = set()
    for record in manifest["args"]:
        task_id = int(record["task_id"], 16)
        thread, number = task_id >> 32, task_id & 0xffffffff
        why = problem_of(record, task_id, number, data, number <= promises.get(thread, -1))
        if why:
            return f"task {record['task_id']} slot {record['arg_index']}: {why}"
        seen.add((thread, number, record["arg_index"]))
    for thread, last in promises.items():
        for number in range(last + 1):
            for slot in range(3):
                if (thread, number, slot) not in seen:
                    return f"thread {thread} task {number} slot {slot} was flushed and is not there"
    return None


def kill_once(victim, repair, seed, top):
    directory = os.path.join(top, str(seed))
    os.mkdir(directory)
    chance = random.Random(seed)
    with subprocess.Popen([victim, directory, str(seed)], stdout=subprocess.PIPE) as p:
        # every other one is killed after something was promised, on however busy a machine
        told = p.stdout.read(16) if seed % 2 else b""
        time.sleep(chance.choice((0.001, 0.003, 0.006)) * chance.random())
        p.send_signal(signal.SIGKILL)
        told += p.stdout.read()
    if p.returncode != -signal.SIGKILL:
        return f"the victim ended by itself: {p.returncode}", 0
    promises = {}
    for thread, number in struct.iter_unpack("<QQ", told[:len(told) // 16 * 16]):
        promises[thread] = max(number, promises.get(thread, -1))
    if not os.path.exists(os.path.join(directory, "args.log")):  # killed before it was opened
        shutil.rmtree(directory)
        return ("flushed without a log" if promises else None), 0
    before = {n: os.stat(os.path.join(directory, n)).st_size for n in os.listdir(directory)}
    q = subprocess.run([*repair, directory], capture_output=True, text=True)
    after = {n: os.stat(os.path.join(directory, n)).st_size for n in before}
    if q.returncode not in (0, 1):
        return f"repair failed ({q.returncode}): {q.stderr}", 0
    why = check(directory, promises) or (None if before == after else "repair touched its input")
    if not why:
        shutil.rmtree(directory)
    return why, sum(n + 1 for n in promises.values())


def main():
    build = os.path.abspath(sys.argv[1])
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 200 * int(os.environ.get("TIMES", "1"))
    victim = os.path.join(build, "tests", "fault", "dump_victim")
    repair = [os.path.join(build, "incore"), "dump", "repair"]
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    passed = failed = tasks = 0
    with tempfile.TemporaryDirectory(dir=shared) as top, concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS") or 2)) as pool:
        for seed, (why, n) in enumerate(pool.map(lambda s: kill_once(victim, repair, s, top), range(kills))):
            passed, failed, tasks = passed + (not why), failed + bool(why), tasks + n
            if why:
                print(f"FAIL kill {seed}: {why}")
    print(f"{kills} kills, {tasks} flushed tasks checked")
    if tasks < kills:
        print("FAIL too little was flushed for this to mean anything")
        failed += 1
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
