# SPDX-License-Identifier: Apache-2.0
"""Op streams in their binary form (incore-opstream(7)), read a second time: not by the code under test."""
import struct

HEAD = struct.Struct("<8sIIQ4BIIIQQ4I4IQQQ4I")
SLOT = struct.Struct("<4BIQQQQII5I5I")
SITE = struct.Struct("<4I")
FORM = struct.Struct("<I4BI8B4BiHBBIHHHHI")
OPND = struct.Struct("<12BI5II5q")
EXEC = struct.Struct("<4I")
TENSOR, PAYLOAD, SIZE_KNOWN, OUTPUT, READ = 1, 2, 4, 8, 16
TILE, GM, SCALAR = 0, 1, 2
DST = 0


class Stream:
    """One core instance: name ("aic", "aiv0", "aiv1"), block, slots by index, ops in order."""


def rows(kind, data, at, n):
    return [kind.unpack_from(data, at + i * kind.size) for i in range(n)], at + n * kind.size


def text_at(strings, offset):
    return strings[offset:strings.index(b"\0", offset)].decode()


def one(data, at):
    h = HEAD.unpack_from(data, at)
    s = Stream()
    s.core = "aic" if h[5] == 0 else f"aiv{h[6]}"
    s.origin, s.block, s.blocks = h[7], h[9], h[10]
    n_slots, n_sites, n_forms, n_opnds, n_ops, n_words, n_strings = h[17:24]
    end = at + h[3]
    slots, p = rows(SLOT, data, at + h[2], n_slots)
    _, p = rows(SITE, data, p, n_sites)
    forms, p = rows(FORM, data, p, n_forms)
    opnds, p = rows(OPND, data, p, n_opnds)
    ops, p = rows(EXEC, data, p, n_ops)
    words = struct.unpack_from(f"<{n_words}Q", data, p)
    strings = data[end - n_strings:end]
    s.slots = {x[0]: {"flags": x[1], "alloc": x[4], "bytes": x[6], "value": x[7], "start": x[8], "shape": list(x[11:11 + x[9]]),
                      "strides": list(x[16:16 + x[9]])} for x in slots}
    s.ops = []
    for form, _, first, _ in ops:
        f = forms[form]
        name, n, at_opnd = text_at(strings, f[0]), f[3], f[5]
        s.ops.append((name, [operand(opnds[at_opnd + k], words[first + k]) for k in range(n)]))
    return s, end


def operand(o, word):
    return {"what": o[0], "role": o[1], "bits": o[3], "slot": o[10], "shape": o[13:18], "stride": o[19:24], "word": word}


def read(path):
    with open(path, "rb") as f:
        data = f.read()
    at, out = 0, []
    while at < len(data):
        s, at = one(data, at)
        out.append(s)
    return out


def touched(o):
    """The set of element offsets (in bytes, with the element's size) that a rectangle of global memory has."""
    offsets = [0]
    for n, stride in zip(o["shape"], o["stride"]):
        offsets = [a + i * stride for a in offsets for i in range(n)]
    start = o["word"] - (1 << 64) if o["word"] >> 63 else o["word"]
    return {start + a * o["bits"] // 8 for a in offsets}, o["bits"] // 8
