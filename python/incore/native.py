# SPDX-License-Identifier: Apache-2.0
"""libincore.so through ctypes: its functions, the structs of Arrow's C data interface, its errors as exceptions."""
from __future__ import annotations

import ctypes as c
import glob
import os
from typing import Optional

from .errors import BY_STATUS, Cancelled, Error


class NativeError(c.Structure):
    pass


NativeError._fields_ = [("status", c.c_int), ("code", c.c_char_p), ("message", c.c_char_p), ("path", c.c_char_p), ("offset", c.c_uint64),
                        ("line", c.c_uint32), ("column", c.c_uint32), ("cause", c.POINTER(NativeError))]


class NativeColumn(c.Structure):
    _fields_ = [("name", c.c_char_p), ("unit", c.c_char_p), ("doc", c.c_char_p), ("type", c.c_int)]


class ArrowSchema(c.Structure):
    pass


ArrowSchema._fields_ = [("format", c.c_char_p), ("name", c.c_char_p), ("metadata", c.c_char_p), ("flags", c.c_int64), ("n_children", c.c_int64),
                        ("children", c.POINTER(c.POINTER(ArrowSchema))), ("dictionary", c.POINTER(ArrowSchema)),
                        ("release", c.CFUNCTYPE(None, c.POINTER(ArrowSchema))), ("private_data", c.c_void_p)]


class ArrowArray(c.Structure):
    pass


ArrowArray._fields_ = [("length", c.c_int64), ("null_count", c.c_int64), ("offset", c.c_int64), ("n_buffers", c.c_int64), ("n_children", c.c_int64),
                       ("buffers", c.POINTER(c.c_void_p)), ("children", c.POINTER(c.POINTER(ArrowArray))), ("dictionary", c.POINTER(ArrowArray)),
                       ("release", c.CFUNCTYPE(None, c.POINTER(ArrowArray))), ("private_data", c.c_void_p)]


class ArrowArrayStream(c.Structure):
    pass


ArrowArrayStream._fields_ = [("get_schema", c.CFUNCTYPE(c.c_int, c.POINTER(ArrowArrayStream), c.POINTER(ArrowSchema))),
                             ("get_next", c.CFUNCTYPE(c.c_int, c.POINTER(ArrowArrayStream), c.POINTER(ArrowArray))),
                             ("get_last_error", c.CFUNCTYPE(c.c_char_p, c.POINTER(ArrowArrayStream))),
                             ("release", c.CFUNCTYPE(None, c.POINTER(ArrowArrayStream))), ("private_data", c.c_void_p)]

_FUNCTIONS = {
    "incore_version": (c.c_char_p,),
    "incore_new": (c.c_void_p, c.c_uint, c.POINTER(NativeError)),
    "incore_free": (None, c.c_void_p),
    "incore_cancel": (None, c.c_void_p),
    "incore_question": (c.c_char_p, c.c_size_t),
    "incore_schema": (c.c_void_p, c.c_char_p, c.POINTER(NativeError)),
    "incore_text_free": (None, c.c_void_p),
    "incore_ask": (c.c_void_p, c.c_void_p, c.c_char_p, c.c_char_p, c.c_char_p, c.POINTER(NativeError)),
    "incore_answer_free": (None, c.c_void_p),
    "incore_answer_status": (c.c_int, c.c_void_p),
    "incore_answer_json": (c.c_void_p, c.c_void_p, c.POINTER(c.c_size_t), c.POINTER(NativeError)),
    "incore_warning_count": (c.c_size_t, c.c_void_p),
    "incore_warning": (c.c_char_p, c.c_void_p, c.c_size_t),
    "incore_table_count": (c.c_size_t, c.c_void_p),
    "incore_table_name": (c.c_char_p, c.c_void_p, c.c_size_t),
    "incore_row_count": (c.c_size_t, c.c_void_p, c.c_size_t),
    "incore_column_count": (c.c_size_t, c.c_void_p, c.c_size_t),
    "incore_column": (NativeColumn, c.c_void_p, c.c_size_t, c.c_size_t),
    "incore_table_arrow": (c.c_bool, c.c_void_p, c.c_size_t, c.POINTER(ArrowSchema), c.POINTER(ArrowArray), c.POINTER(NativeError)),
    "incore_slices": (c.c_bool, c.c_void_p, c.c_char_p, c.c_char_p, c.POINTER(ArrowArrayStream), c.POINTER(NativeError)),
    "incore_error_clear": (None, c.POINTER(NativeError)),
}


def _library() -> str:
    """INCORE_LIBRARY, what a wheel carries beside this file, or the system's."""
    beside = glob.glob(os.path.join(glob.escape(os.path.dirname(os.path.abspath(__file__))), "bundle", "lib", "**", "libincore.so.0"), recursive=True)
    return os.environ.get("INCORE_LIBRARY") or (beside[0] if beside else "libincore.so.0")


def _load() -> c.CDLL:
    try:
        library = c.CDLL(_library())
    except OSError as e:
        raise ImportError(f"libincore.so.0 cannot be loaded ({e}); install incore, or name the file in INCORE_LIBRARY") from e
    for name, (result, *arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


lib = _load()


def version() -> str:
    """Of libincore: "0.2.0"."""
    return lib.incore_version().decode()


def text(raw: Optional[bytes]) -> str:
    return raw.decode("utf-8", "replace") if raw else ""


def _exception(e: NativeError) -> Error:
    code = text(e.code)
    kind = Cancelled if code == "cancelled" else BY_STATUS.get(e.status, Error)
    has_offset = e.offset != 2 ** 64 - 1
    out = kind(text(e.message), code, text(e.path) or None, e.offset if has_offset else None, e.line or None, e.column or None)
    if e.cause:
        out.__cause__ = _exception(e.cause.contents)
    return out


class Errors:
    """`with Errors() as e`: hands a NativeError to a call and frees it; e.fail() raises what it says."""

    def __enter__(self) -> "Errors":
        self.native = NativeError()
        return self

    def ref(self):
        return c.byref(self.native)

    def fail(self) -> None:
        raise _exception(self.native)

    def __exit__(self, *unused) -> None:
        lib.incore_error_clear(c.byref(self.native))
