# SPDX-License-Identifier: Apache-2.0
"""Writes and reads the logs of libincore-cuda, from the description in incore-cuda(7) and src/cuda/log_types.h."""
import struct

START, TEXT, DEVICE, REASONS, CUBIN, SAMPLES, LAUNCHES, COUNTS, TROUBLE, CONTEXT, END = range(1, 12)
LOOK, CONTINUOUS, SERIALISED, EXACT = range(4)
PREFIX = "smsp__pcsamp_warps_issue_stalled_"
TABLE = []
for n in range(256):
    for _ in range(8):
        n = n >> 1 ^ (0x82f63b78 if n & 1 else 0)
    TABLE.append(n)


def crc32c(data):
    c = 0xffffffff
    for b in data:
        c = TABLE[(c ^ b) & 255] ^ c >> 8
    return c ^ 0xffffffff


def text_id(text):
    h = 0xcbf29ce484222325
    for b in text.encode():
        h = (h ^ b) * 0x100000001b3 & (1 << 64) - 1
    return h


class Log:
    def __init__(self, pid=7, mode=CONTINUOUS, launches="", synthetic=1, version=1):
        self.data = struct.pack("<8sIIQQ", b"INCCUDA", version, 0x01020304, pid, 10 ** 18 + pid)
        self.seq, self.known = 0, set()
        self.add(START, struct.pack("<IIIIQ", mode, 130001, 1, synthetic, self.text(launches)))

    def add(self, kind, body, time=0):
        head = struct.pack("<IIQQI", 0x43434e49, kind, len(body), time, self.seq)
        self.data += head + struct.pack("<I", crc32c(head + bytes(4) + body)) + body + bytes(-len(body) % 8)
        self.seq += 1

    def text(self, text):
        if text not in self.known:
            self.known.add(text)
            self.add(TEXT, struct.pack("<Q", text_id(text)) + text.encode())
        return text_id(text)

    def device(self, number=0, name="GPU of the generator", mig=0):
        self.add(DEVICE, struct.pack("<12IQ", number, 132, 64, 32, 9, 0, 1980000, 233472, mig != 0, mig, 0, 0, self.text(name)))

    def context(self, number=1, device=0, period=12):
        self.add(CONTEXT, struct.pack("<4I", number, device, period, 0))

    def reasons(self, names, context=1):
        self.add(REASONS, b"".join(struct.pack("<IIQ", context, i, self.text(PREFIX + n)) for i, n in enumerate(names)))

    def cubin(self, crc, data):
        self.add(CUBIN, struct.pack("<Q", crc) + data)

    def samples(self, pcs, context=1, dropped=0, foreign=0, full=0):
        """pcs: [(crc, function, offset, correlation, {reason: samples})]"""
        body = b"".join(struct.pack("<QQQII", crc, self.text(f), offset, correlation, len(counts)) +
                        b"".join(struct.pack("<II", *x) for x in counts.items()) for crc, f, offset, correlation, counts in pcs)
        total = sum(sum(p[4].values()) for p in pcs)
        self.add(SAMPLES, struct.pack("<IIQQQII", context, len(pcs), total, dropped, foreign, full, 0) + body)

    def launches(self, rows, device=0, context=1):
        """rows: [(kernel, start_ns, end_ns, correlation)]"""
        self.add(LAUNCHES, b"".join(struct.pack("<QQQ4I10I", start, end, self.text(k), device, context, 7, c, 64, 1, 1, 256, 1, 1, 32, 1024, 0, 0)
                                    for k, start, end, c in rows))

    def counts(self, rows):
        """rows: [(crc, function, offset, metric, value)]"""
        self.add(COUNTS, b"".join(struct.pack("<5Q", crc, self.text(f), offset, self.text(m), v) for crc, f, offset, m, v in rows))

    def trouble(self, kind, code, n, text=""):
        self.add(TROUBLE, struct.pack("<IIQ", kind, code, n) + text.encode())

    def end(self):
        self.add(END, b"")
        return self.data


def records(data):
    """[(type, body)] of one run; the checksums are compared."""
    at, out = 32, []
    while at < len(data):
        magic, kind, size, _, seq, crc = struct.unpack_from("<IIQQII", data, at)
        body = data[at + 32:at + 32 + size]
        if magic != 0x43434e49 or len(body) < size:
            break
        assert crc == crc32c(data[at:at + 28] + bytes(4) + body) and seq == len(out), f"record {len(out)} at {at}"
        out.append((kind, body))
        at += 32 + size + -size % 8
    return out


def framed(head, items):
    """A log of these records, with right checksums: [(type, body)]."""
    log = Log()
    log.data, log.seq = head, 0
    for kind, body in items:
        log.add(kind, body)
    return log.data


def sampled(data):
    """Samples of all records: those that issued and those that stalled, by the stand-in's reasons (even ones)."""
    total = 0
    for kind, body in records(data):
        if kind != SAMPLES:
            continue
        _, n, *_ = struct.unpack_from("<II", body)
        at = 40
        for _ in range(n):
            k = struct.unpack_from("<I", body, at + 28)[0]
            at += 32
            for i in range(k):
                reason, count = struct.unpack_from("<II", body, at)
                total += count if reason % 2 == 0 else 0
                at += 8
    return total
