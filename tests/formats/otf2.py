# SPDX-License-Identifier: Apache-2.0
"""The OTF2 archive as otf2-print reads it: what is entered and left adds up to `waves` and `hot`, to the cycle; every flag that is sent is
received. otf2-estimator says how much room events of such definitions take at most."""
import collections
import glob
import os
import re
import subprocess

EVENT = re.compile(r"(\w+)\s+(\d+)\s+(\d+)\s+(.*)")
REGION = re.compile(r'Region: "(.*)" <(\d+)>')


def otf2_print(results, path, *words):
    p = subprocess.run(["otf2-print", *words, os.path.join(path, "traces.otf2")], capture_output=True, text=True)
    results.check(p.returncode == 0 and not p.stderr, f"otf2-print: {p.stderr[:500]}")
    return p.stdout


class Archive:
    def __init__(self, results, path):
        self.names, self.regions, self.groups = {}, {}, {}
        for line in otf2_print(results, path, "-G").splitlines():
            kind, number, rest = (line.split(None, 2) + ["", "", ""])[:3]
            name = re.search(r'Name: "(.*?)" <', rest)
            if kind == "LOCATION":
                self.names[int(number)] = (name[1], int(re.search(r"Group: .*<(\d+)>", rest)[1]), int(re.search(r"# Events: (\d+)", rest)[1]))
            elif kind == "LOCATION_GROUP":
                self.groups[int(number)] = name[1]
        self.slices, self.bad, self.sent, self.received, self.metrics, self.n = [], [], {}, {}, 0, collections.Counter()
        stacks, last = collections.defaultdict(list), collections.Counter()
        for line in otf2_print(results, path).splitlines():
            m = EVENT.match(line)
            if m:
                self.event(m[1], int(m[2]), int(m[3]), m[4], stacks, last)
        self.bad += [f"location {at} ends inside a region" for at, stack in stacks.items() if stack]
        self.bad += [f"location {at}: {n} events stated, {self.n[at]} there" for at, (_, _, n) in self.names.items() if n != self.n[at]]

    def event(self, kind, at, time, rest, stacks, last):
        if time < last[at]:
            self.bad.append(f"location {at} goes back in time")
        last[at] = time
        self.n[at] += 1
        if kind == "ENTER":
            name, number = REGION.search(rest).groups()
            stacks[at].append((time, name, int(number)))
        elif kind == "LEAVE":
            start, name, number = stacks[at].pop()
            if int(REGION.search(rest)[2]) != number:
                self.bad.append(f"location {at} leaves another region than it entered")
            self.slices.append((self.place(at), name, number, time - start))
        elif kind in ("MPI_SEND", "MPI_RECV"):
            (self.sent if kind == "MPI_SEND" else self.received)[int(re.search(r"Tag: (\d+)", rest)[1])] = time
        elif kind == "METRIC":
            self.metrics += 1

    def place(self, at):
        name, group, _ = self.names[at]
        return f"{self.groups[group]}/{name}"


def check(results, program, capture):
    path, said = program.export("otf2", capture)
    archive = Archive(results, path)
    results.equal(archive.bad[:3], [], f"{capture}: events of otf2")
    work = [s for s in archive.slices if s[1] != "wave"]
    results.equal(len(work), said["instructions"], f"{capture}: instructions")
    results.equal((sorted(archive.sent), len(archive.sent)), (sorted(archive.received), said["links"]), f"{capture}: flags")
    results.check(all(archive.sent[k] <= archive.received[k] for k in archive.sent), f"{capture}: a flag is received before it is sent")
    answer = program.data("waves", "--top", "all", capture)
    sums = collections.defaultdict(collections.Counter)
    for place, name, _, cycles in archive.slices:
        sums[place.split(" #")[0]].update({"wave" if name == "wave" else "work": cycles})
    for w in answer.get("waves", []):
        place = f"se {w['se']}/cu {w['cu']} simd {w['simd']} slot {w['slot']} wave {w['wave']}"
        results.equal((sums[place]["wave"], sums[place]["work"]), (w["duration"], w["duration"] - w["accounting"]["idle"]), f"{capture}: {place}")
    if "waves" in answer:
        rows = collections.Counter()
        for _, name, _, cycles in work:
            rows[name] += cycles
        want = collections.Counter()
        for r in program.data("hot", "--by", "instr", "--top", "all", capture)["rows"]:
            want[r["isa"]] += r["cycles"] - r["buckets"]["idle"]
        results.equal(+rows, +want, f"{capture}: cycles by row")
    else:
        results.equal(sum(n for _, _, _, n in work), sum(r["latency"] + r["stall"] for r in
                                                         program.data("hot", "--by", "instr", "--top", "all", capture)["rows"]),
                      f"{capture}: cycles of pipes")
    return path, archive


def run(results, program):
    for capture in ("two_waves", "gemm", "v31", "ascend_matmul", "ascend_waiting"):
        path, archive = check(results, program, capture)
    p = subprocess.run(["otf2-estimator"], input="set Region 64\nset Location 64\nset Attribute 1\nget Enter\nget Leave\nget Timestamp\nexit\n",
                       capture_output=True, text=True)
    most = {k: int(v) for k, v in re.findall(r"(\w+) (\d+)", p.stdout)}
    if results.check(p.returncode == 0 and "Enter" in most, f"otf2-estimator: {p.stdout} {p.stderr}"):
        # an attribute list is not among what it counts: 16 bytes are more than one takes; a chunk has a head
        room = sum(archive.n.values()) * (most["Enter"] + most["Leave"] + most["Timestamp"] + 40) + len(archive.names) * 4096
        size = sum(os.path.getsize(f) for f in glob.glob(os.path.join(path, "traces", "*.evt")))
        results.check(0 < size <= room, f"events take {size} bytes, more than {room}")
