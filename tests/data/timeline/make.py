#!/usr/bin/env python3
"""Makes the timelines of this folder: small ones in the shapes that other tools write, with figures made up here.

usage: make.py [DIR]

proton.json   Triton Proton's intra-kernel trace: a process per block, a thread per warp and line, microseconds of 32-bit floats
torch.json    PyTorch's profiler: numbered lanes named by metadata, nested slices, flows from launch to kernel, counters, instants,
              times since 1970
async.json    begin and end apart, asynchronous operations, steps of flows, a bare array that is not in order of time
async.json.gz  the same as a gzip file
browser.json  what browsers write besides: ids of a process' own, counters of several instances, flows that slices name themselves,
              a mark of no process
iket.json     what CUTLASS' run-iket wrote as JSON at first: names and places in every event
iket_tables.json  what it writes since: tables behind the events, a place for either end of a range, launches of graphs, payloads
packed.pftrace  the same compressed, behind what Perfetto's service writes first
blocks.pftrace  track events as flashinfer's profiler has them written: a group per SM, a track per block and warp group
"""
import decimal
import json
import os
import re
import struct
import sys
import zlib


def f32(v):
    return struct.unpack("f", struct.pack("f", v))[0]


class Exact(str):
    """A number that is written with all its digits."""
    def __new__(cls, value):
        return super().__new__(cls, f"@{value}@")


def proton():
    events = []
    for cta in range(2):
        for warp in range(2):
            at = 1000 * cta + 40 * warp
            for i in range(3):
                for name, line, start, dur in (("loop", 0, 0, 300), ("load", 1, 10, 120), ("mma", 1, 140, 150)):
                    events.append({
                        "args": {"Finalization Time (ns)": 96, "Frequency (MHz)": 1000.0, "call_stack": ["main"]},
                        "cat": "matmul_kernel", "cname": "cq_build_passed", "dur": f32(dur / 1000), "name": name, "ph": "X",
                        "pid": f"matmul_kernel Core{cta * 7} CTA{cta}", "tid": f"warp {warp} (line {line})",
                        "ts": f32((at + 320 * i + start) / 1000)})
    return {"displayTimeUnit": "ns", "traceEvents": events}


def torch():
    base = decimal.Decimal("1721433600123456.789")
    at = lambda ts: Exact(base + decimal.Decimal(str(ts)))
    def x(cat, name, pid, tid, ts, dur, **args):
        return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": at(ts), "dur": dur, "args": args}
    meta = [("process_name", 1200, 0, {"name": "python3"}), ("process_labels", 1200, 0, {"labels": "CPU"}),
            ("process_sort_index", 1200, 0, {"sort_index": 1200}), ("thread_name", 1200, 1200, {"name": "thread 1200 (python3)"}),
            ("process_name", 0, 0, {"name": "python3"}), ("process_labels", 0, 0, {"labels": "GPU 0"}),
            ("process_sort_index", 0, 0, {"sort_index": 5000000}), ("thread_name", 0, 7, {"name": "stream 7 "})]
    events = [{"name": n, "ph": "M", "ts": at(0), "pid": p, "tid": t, "args": a} for n, p, t, a in meta]
    events += [
        x("user_annotation", "ProfilerStep#3", 1200, 1200, 0, 400.0),
        x("cpu_op", "aten::linear", 1200, 1200, 10, 200.5, **{"External id": 17}),
        x("cpu_op", "aten::addmm", 1200, 1200, 20.25, 150, **{"External id": 18}),
        x("cuda_runtime", "cudaLaunchKernel", 1200, 1200, 60, 12.125, correlation=55),
        x("cpu_op", "aten::relu", 1200, 1200, 250, 60),
        x("cuda_runtime", "cudaLaunchKernel", 1200, 1200, 270, 9, correlation=56),
        x("kernel", 'sm90_gemm<"f16">', 0, 7, 90, 180.5, correlation=55, grid=[8, 4, 1]),
        x("kernel", "relu_kernel", 0, 7, 300, 20.25, correlation=56)]
    for i, (ts, to) in enumerate(((60, 90), (270, 300))):
        events.append({"ph": "s", "id": 55 + i, "pid": 1200, "tid": 1200, "ts": at(ts), "cat": "ac2g", "name": "ac2g"})
        events.append({"ph": "f", "id": 55 + i, "pid": 0, "tid": 7, "ts": at(to), "cat": "ac2g", "name": "ac2g", "bp": "e"})
    for ts, v in ((15, 1024), (120, 4096.5), (320, 512)):
        events.append({"ph": "C", "name": "GPU 0 Memory", "pid": 0, "tid": 0, "ts": at(ts), "args": {"MB": v}})
    events.append({"ph": "i", "s": "t", "name": "[memory]", "pid": 1200, "tid": 1200, "ts": at(100), "args": {"Bytes": 64}})
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}], "displayTimeUnit": "ms", "traceEvents": events,
            "traceName": "x.pt.trace.json"}


def asynchronous():
    return [
        {"ph": "E", "pid": 1, "tid": 2, "ts": 90},
        {"ph": "B", "pid": 1, "tid": 2, "ts": 10, "name": "outer", "cat": "host"},
        {"ph": "B", "pid": 1, "tid": 2, "ts": 20, "name": "inner", "cat": "host"},
        {"ph": "E", "pid": 1, "tid": 2, "ts": 40},
        {"ph": "b", "pid": 1, "tid": 2, "ts": 15, "id": "0x1", "name": "copy A", "cat": "dma"},
        {"ph": "b", "pid": 1, "tid": 2, "ts": 25, "id": "0x2", "name": "copy B", "cat": "dma"},
        {"ph": "n", "pid": 1, "tid": 2, "ts": 30, "id": "0x2", "name": "half", "cat": "dma"},
        {"ph": "e", "pid": 1, "tid": 2, "ts": 55, "id": "0x1", "name": "copy A", "cat": "dma"},
        {"ph": "e", "pid": 1, "tid": 2, "ts": 60, "id": "0x2", "name": "copy B", "cat": "dma"},
        {"ph": "X", "pid": 2, "tid": 1, "ts": 50, "dur": 5, "name": "first"},
        {"ph": "X", "pid": 2, "tid": 1, "ts": 70, "dur": 5, "name": "second"},
        {"ph": "s", "pid": 1, "tid": 2, "ts": 20, "id": 9, "name": "f", "cat": "flow"},
        {"ph": "t", "pid": 2, "tid": 1, "ts": 52, "id": 9, "name": "f", "cat": "flow"},
        {"ph": "f", "pid": 2, "tid": 1, "ts": 60, "id": 9, "name": "f", "cat": "flow"},
        {"ph": "B", "pid": 2, "tid": 3, "ts": 80, "name": "never ends"},
        {"ph": "N", "pid": 2, "tid": 3, "ts": 81, "id": 4, "name": "object"},
    ]


def iket():
    def loc(cta, warp):
        return {"smId": 10 + cta, "tpcId": 5, "gpcId": 0, "ctaId": [cta, 0, 0], "warpId": warp}
    ranges, markers, lives = [], [], []
    for cta in range(2):
        for warp in range(2):
            at = 900 + 200 * cta
            lives.append({"startTs": at, "endTs": at + 2400, "warpLocation": loc(cta, warp)})
            names = ("mma_main", "mma_k_tile", "ab_wait") if warp else ("tma_main", "tma_k_tile", "tma_issue")
            ranges.append({"rangeName": names[0], "rangeScope": 0, "startTs": at + 96, "endTs": at + 2200, "warpLocs": [loc(cta, warp)],
                           "internalEvents": []})
            for k in range(2):
                ranges.append({"rangeName": names[1], "rangeScope": 0, "startTs": at + 128 + 1024 * k, "endTs": at + 1120 + 1024 * k,
                               "warpLocs": [loc(cta, warp)], "internalEvents": []})
                ranges.append({"rangeName": names[2], "rangeScope": 0, "startTs": at + 160 + 1024 * k, "endTs": at + 800 + 1024 * k,
                               "warpLocs": [loc(cta, warp)], "internalEvents": []})
            markers.append({"markerName": "checkpoint", "timestamp": at + 1500, "location": loc(cta, warp), "payloadType": 0,
                            "payloadVal": 3})
    return {"launches": [{"gridId": 0, "kernelName": "gemm", "ranges": ranges, "markers": markers, "warpLifetimes": lives}]}


def iket_tables():
    names = ["kernel_e2e", "load", "wait", "mark"]
    places = [{"ctaId": [0, 0, z], "gpcId": -1, "smId": 7 + z, "tpcId": -1, "warpId": w} for z in range(2) for w in range(2)]
    def launch(grid, at):
        ranges, markers, lives = [], [], []
        for place in range(len(places)):
            start = at + 64 * place
            for name, begin, end in ((0, 32, 960), (1, 64, 320), (2, 320, 896)):
                ends = [{"eventId": name + 1, "timestamp": start + begin}, {"eventId": 31, "timestamp": start + end}]
                if name == 1:
                    ends[0].update(payloadType=5, payloadVal=place)
                ranges.append({"endTs": start + end, "internalEvents": ends, "rangeColor": 4294967295, "rangeId": 3638394104 + name,
                               "rangeNameIdx": name, "rangeScope": 0, "rangeType": 2, "startTs": start + begin,
                               "warpLocIdxs": [place, place]})
            markers.append({"color": 4294967295, "locIdx": place, "markerNameIdx": 3, "timestamp": start + 512})
            lives.append({"endTs": start + 992, "locIdx": place, "startTs": start})
        return {"blockDimX": 64, "blockDimY": 1, "blockDimZ": 1, "contextId": 1, "gridDimX": 1, "gridDimY": 1, "gridDimZ": 2,
                "gridId": grid, "kernelName": "moe", "markers": markers, "ranges": ranges, "warpLifetimes": lives}
    at = 1786588981362386720
    return {"graphLaunches": {"graph_exec_1:0": [launch(2, at + 4096)]}, "launches": [launch(1, at)], "locationTable": places,
            "stringTable": names}


def browser():
    def half(ph, pid, ts, cat, name, **more):
        return {"ph": ph, "pid": pid, "tid": 1, "ts": ts, "cat": cat, "name": name, **more}
    def x(pid, ts, dur, name, **more):
        return {"ph": "X", "pid": pid, "tid": 1, "ts": ts, "dur": dur, "cat": "main", "name": name, "args": {}, **more}
    return {"traceEvents": [
        # the same id of two processes, and of two scopes, is not the same operation
        half("b", 1, 0, "net", "get", id2={"local": "0x1"}), half("b", 2, 10, "net", "get", id2={"local": "0x1"}),
        half("e", 1, 30, "net", "get", id2={"local": "0x1"}), half("e", 2, 50, "net", "get", id2={"local": "0x1"}),
        half("b", 1, 60, "io", "read", id="0x2", scope="A"), half("b", 1, 61, "io", "read", id="0x2", scope="B"),
        half("e", 1, 70, "io", "read", id="0x2", scope="A"), half("e", 1, 90, "io", "read", id="0x2", scope="B"),
        half("b", 1, 0, "gpu", "frame", id2={"global": "0x9"}), half("e", 2, 5, "gpu", "frame", id2={"global": "0x9"}),
        half("S", 1, 0, "old", "first", id="0x3"), half("S", 1, 1, "old", "second", id="0x3"),
        half("F", 1, 4, "old", "first", id="0x3"), half("F", 1, 9, "old", "second", id="0x3"),
        {"ph": "C", "pid": 1, "tid": 1, "ts": 0, "name": "queue", "id": 5, "args": {"length": 1}},
        {"ph": "C", "pid": 1, "tid": 1, "ts": 1, "name": "queue", "id": 6, "args": {"length": 2}},
        # one that sends, one that passes on, two that take; what ends where another begins is not the one meant
        x(1, 100, 10, "send", bind_id="0x402", flow_out=True),
        x(2, 120, 80, "outer"), x(2, 120, 10, "before"), x(2, 125, 5, "deeper"),
        x(2, 130, 20, "pass", bind_id="0x402", flow_in=True, flow_out=True),
        x(3, 160, 5, "take", bind_id="0x402", flow_in=True),
        {"ph": "B", "pid": 4, "tid": 1, "ts": 170, "name": "take too", "bind_id": "0x402", "flow_in": True},
        {"ph": "E", "pid": 4, "tid": 1, "ts": 180},
        {"ph": "i", "s": "g", "pid": "", "tid": "", "ts": 190, "name": "Record Window End"}],
        "metadata": {"source": "DevTools"}}


def varint(v):
    out = b""
    while v > 127:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v])


def number(field, v):
    return varint(field << 3) + varint(v)


def text(field, v):
    v = v if isinstance(v, bytes) else v.encode()
    return varint(field << 3 | 2) + varint(len(v)) + v


def blocks():
    """Names stand in the events; groups are processes, tracks have them as parents; nanoseconds."""
    out = b""
    def packet(body):
        nonlocal out
        out += text(1, body + number(10, 1))
    for sm in range(2):
        packet(text(60, number(1, 100 + sm) + text(3, number(1, 1 + sm) + text(6, f"SM_{sm:03d}"))))
    for block in range(3):
        for group in range(2):
            uuid = 1000 + 2 * block + group
            packet(text(60, number(1, uuid) + text(2, f"blk{block}_g{group}") + number(5, 100 + block % 2)))
            at = 5000 + 700 * block
            for name, kind, when in (("work", 1, 0), ("load", 1, 32), ("load", 2, 256), ("gemm", 1, 256), ("gemm", 2, 640),
                                     ("work", 2, 672), ("done", 3, 680)):
                event = number(9, kind) + number(11, uuid) + (text(23, name) if kind != 2 else b"")
                packet(number(8, at + when) + text(11, event))
    return out


def stored(data):
    """A zlib stream of blocks that are not compressed: the same bytes with every zlib."""
    blocks = [data[i:i + 65535] for i in range(0, len(data), 65535)]
    body = b"".join(struct.pack("<BHH", i + 1 == len(blocks), len(b), len(b) ^ 65535) + b for i, b in enumerate(blocks))
    return b"\x78\x01" + body + struct.pack(">I", zlib.adler32(data))


def gzip_of(data):
    return b"\x1f\x8b\x08" + bytes(6) + b"\xff" + stored(data)[2:-4] + struct.pack("<II", zlib.crc32(data), len(data))


def packed():
    marker = bytes.fromhex("82477a76b28d42ba81dc33326d57a079")
    return text(1, text(36, marker) + number(3, 9999)) + text(1, text(50, stored(blocks())))


def main(out):
    for name, made in (("proton", proton()), ("torch", torch()), ("async", asynchronous()), ("browser", browser()), ("iket", iket()),
                       ("iket_tables", iket_tables())):
        with open(os.path.join(out, name + ".json"), "w") as f:
            f.write(re.sub('"@([^@]*)@"', r"\1", json.dumps(made, indent=1 if name == "iket" else None)) + "\n")
    with open(os.path.join(out, "async.json.gz"), "wb") as f:
        f.write(gzip_of(json.dumps(asynchronous()).encode()))
    for name, made in (("blocks", blocks()), ("packed", packed())):
        with open(os.path.join(out, name + ".pftrace"), "wb") as f:
            f.write(made)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__)))
