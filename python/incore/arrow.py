# SPDX-License-Identifier: Apache-2.0
"""Arrow's C data interface: arrays that libincore made, looked into from Python and handed on without a copy."""
from __future__ import annotations

import ctypes as c
import itertools
from typing import Any, Dict, List, Optional, Tuple

from .errors import Error, Failed
from .native import ArrowArray, ArrowArrayStream, ArrowSchema, text

# Arrow's format -> letter of memoryview and numpy, bytes
NUMBERS = {"L": ("Q", 8), "I": ("I", 4), "S": ("H", 2), "C": ("B", 1), "l": ("q", 8), "g": ("d", 8)}

# What exported structs need to live, by the number in their private_data (from 1: NULL would be 0).
_kept: Dict[int, Any] = {}
_numbers = itertools.count(1)


def _keep(what: Any) -> int:
    number = next(_numbers)
    _kept[number] = what
    return number


class Owned:
    """A struct array and its schema; released when the last view into them is gone."""

    def __init__(self, schema: ArrowSchema, array: ArrowArray):
        self.schema, self.array = schema, array
        fields = [schema.children[i].contents for i in range(schema.n_children)]
        self.names: List[str] = [text(f.name) for f in fields]
        self.formats: List[str] = [text(f.format) for f in fields]
        self.flags: List[int] = [f.flags for f in fields]

    def __del__(self) -> None:
        for struct in (self.array, self.schema):
            if struct.release:
                struct.release(c.byref(struct))

    def __len__(self) -> int:
        return self.array.length

    def _buffer(self, column: int, i: int, size: int) -> memoryview:
        address = self.array.children[column].contents.buffers[i]
        if not address or not size:
            return memoryview(b"")
        raw = (c.c_char * size).from_address(address)
        raw.owner = self  # whoever looks at the memory keeps it
        return memoryview(raw).cast("B")

    def valid(self, column: int) -> Optional[memoryview]:
        """A bit a row, or None: all are there."""
        child = self.array.children[column].contents
        return self._buffer(column, 0, (len(self) + 7) // 8) if child.null_count and child.buffers[0] else None

    def numbers(self, column: int) -> memoryview:
        letter, width = NUMBERS[self.formats[column]]
        return self._buffer(column, 1, len(self) * width).cast(letter)

    def truths(self, column: int) -> List[bool]:
        return bits(self._buffer(column, 1, (len(self) + 7) // 8), len(self))

    def texts(self, column: int) -> List[str]:
        n = len(self)
        ends = self._buffer(column, 1, 4 * (n + 1)).cast("i")
        raw = bytes(self._buffer(column, 2, ends[n])) if n else b""
        return [raw[ends[i]:ends[i + 1]].decode() for i in range(n)]


def bits(raw: memoryview, n: int) -> List[bool]:
    return [bool(raw[i >> 3] >> (i & 7) & 1) for i in range(n)]


# --- handing on ---

def _release(kind: Any) -> Any:
    @c.CFUNCTYPE(None, c.POINTER(kind))
    def release(struct):
        s = struct.contents
        for i in range(s.n_children):
            child = s.children[i]
            if child.contents.release:
                child.contents.release(child)
        number = s.private_data
        c.memset(c.byref(s, kind.release.offset), 0, kind.release.size)
        _kept.pop(number, None)
    return release


# For ever: consumers copy structs, and with them the addresses of these.
_release_array, _release_schema = _release(ArrowArray), _release(ArrowSchema)


def _children(kind: Any, made: List[Any]) -> Any:
    return (c.POINTER(kind) * len(made))(*[c.pointer(m) for m in made])


def share_array(owned: Owned) -> ArrowArray:
    """Structs of their own, which a consumer may move and release, over the same memory."""
    made = []
    for i in range(len(owned.names)):
        child = owned.array.children[i].contents
        made.append(ArrowArray(length=child.length, null_count=child.null_count, offset=child.offset, n_buffers=child.n_buffers,
                               buffers=child.buffers, release=_release_array, private_data=_keep(owned)))
    pointers = _children(ArrowArray, made)
    root = owned.array
    return ArrowArray(length=root.length, null_count=root.null_count, offset=root.offset, n_buffers=root.n_buffers, buffers=root.buffers,
                      n_children=len(made), children=c.cast(pointers, c.POINTER(c.POINTER(ArrowArray))), release=_release_array,
                      private_data=_keep((owned, made, pointers)))


def share_schema(owned: Owned) -> ArrowSchema:
    made = []
    for name, kind, flags in zip(owned.names, owned.formats, owned.flags):
        texts = (name.encode(), kind.encode())
        made.append(ArrowSchema(format=texts[1], name=texts[0], flags=flags, release=_release_schema, private_data=_keep(texts)))
    pointers = _children(ArrowSchema, made)
    return ArrowSchema(format=b"+s", name=b"", n_children=len(made), children=c.cast(pointers, c.POINTER(c.POINTER(ArrowSchema))),
                       release=_release_schema, private_data=_keep((made, pointers)))


@c.CFUNCTYPE(c.c_int, c.POINTER(ArrowArrayStream), c.POINTER(ArrowSchema))
def _stream_schema(stream, out):
    inner = _kept[stream.contents.private_data][1]
    return inner.get_schema(c.byref(inner), out)


@c.CFUNCTYPE(c.c_int, c.POINTER(ArrowArrayStream), c.POINTER(ArrowArray))
def _stream_next(stream, out):
    inner = _kept[stream.contents.private_data][1]
    return inner.get_next(c.byref(inner), out)


@c.CFUNCTYPE(c.c_void_p, c.POINTER(ArrowArrayStream))
def _stream_error(stream):
    inner = _kept[stream.contents.private_data][1]
    message = inner.get_last_error(c.byref(inner))
    _kept[stream.contents.private_data][2][:] = [c.create_string_buffer(message or b"")]
    return c.addressof(_kept[stream.contents.private_data][2][0])


@c.CFUNCTYPE(None, c.POINTER(ArrowArrayStream))
def _stream_release(stream):
    number = stream.contents.private_data
    c.memset(c.byref(stream.contents, ArrowArrayStream.release.offset), 0, ArrowArrayStream.release.size)
    _session, inner, _message = _kept.pop(number)
    if inner.release:
        inner.release(c.byref(inner))


def share_stream(session: Any, inner: ArrowArrayStream) -> ArrowArrayStream:
    """A stream that keeps the session alive, which must outlive it."""
    return ArrowArrayStream(get_schema=_stream_schema, get_next=_stream_next,
                            get_last_error=c.cast(_stream_error, type(inner.get_last_error)), release=_stream_release,
                            private_data=_keep((session, inner, [])))


# --- capsules ---

_NAMES = {ArrowSchema: b"arrow_schema", ArrowArray: b"arrow_array", ArrowArrayStream: b"arrow_array_stream"}
_held: Dict[int, Any] = {}  # structs that capsules point at, by address

# A door of our own: others set types of the shared ctypes.pythonapi.
_python = c.PyDLL(None)
_python.PyCapsule_New.restype = c.py_object
_python.PyCapsule_New.argtypes = [c.c_void_p, c.c_char_p, c.c_void_p]
_python.PyCapsule_GetName.restype = c.c_void_p
_python.PyCapsule_GetName.argtypes = [c.c_void_p]
_python.PyCapsule_GetPointer.restype = c.c_void_p
_python.PyCapsule_GetPointer.argtypes = [c.c_void_p, c.c_void_p]


@c.PYFUNCTYPE(None, c.c_void_p)
def _destroy(capsule):
    """Whoever took the content has set release to NULL; where nobody did, it is released here."""
    struct = _held.pop(_python.PyCapsule_GetPointer(capsule, _python.PyCapsule_GetName(capsule)), None)
    if struct is not None and struct.release:
        struct.release(c.byref(struct))


def capsule(struct: Any) -> Any:
    _held[c.addressof(struct)] = struct
    return _python.PyCapsule_New(c.addressof(struct), _NAMES[type(struct)], c.cast(_destroy, c.c_void_p))


def array_capsules(owned: Owned) -> Tuple[Any, Any]:
    return capsule(share_schema(owned)), capsule(share_array(owned))


def stream_error(stream: ArrowArrayStream) -> Error:
    return Failed(text(stream.get_last_error(c.byref(stream))))
