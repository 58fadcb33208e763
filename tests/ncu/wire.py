# SPDX-License-Identifier: Apache-2.0
"""The protobuf wire format, writing side: a message is the concatenation of its fields."""
import struct


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def number(field, n):
    return varint(field << 3) + varint(n)


def double(field, x):
    return varint(field << 3 | 1) + struct.pack("<d", x)


def single(field, x):
    return varint(field << 3 | 5) + struct.pack("<f", x)


def block(field, data):
    """Text (str), bytes, or a message that is already written."""
    if isinstance(data, str):
        data = data.encode()
    return varint(field << 3 | 2) + varint(len(data)) + data


def framed(data):
    """A message as it stands in the file: its length before it."""
    return struct.pack("<I", len(data)) + data


def value(x):
    """Inside of a metric's value."""
    if isinstance(x, str):
        return block(1, x)
    return double(3, x) if isinstance(x, float) else number(5, x)
