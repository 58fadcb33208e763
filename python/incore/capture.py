# SPDX-License-Identifier: Apache-2.0
"""Captures, and questions to them."""
from __future__ import annotations

import json
import os
import threading
from typing import Any, Mapping, Sequence, Tuple, Union

from . import native
from .answer import Answer, Slices
from .errors import UsageError
from .native import Errors, lib
from .questions import DiffAnswer, Questions

Path = Union[str, "os.PathLike[str]"]


class _Session:
    """A struct incore: captures that were read stay open as long as it lives."""

    def __init__(self, threads: int):
        with Errors() as e:
            self.handle = lib.incore_new(threads, e.ref())
            if not self.handle:
                e.fail()

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            lib.incore_free(self.handle)
            self.handle = None

    def ask(self, question: str, paths: Sequence[Path], options: Mapping[str, Any]) -> Tuple[Any, int, str]:
        """What an Answer is made of."""
        words = [os.fspath(p) for p in paths]
        if any("\n" in w for w in words):
            raise UsageError("a path with a line feed in it cannot be asked about")
        with Errors() as e:
            handle = self._run(lambda: lib.incore_ask(self.handle, question.encode(), os.fsencode("\n".join(words)), _options(options), e.ref()))
            if not handle:
                e.fail()
            return self, handle, question

    def slices(self, path: Path, options: Mapping[str, Any]) -> Slices:
        stream = native.ArrowArrayStream()
        with Errors() as e:
            if not self._run(lambda: lib.incore_slices(self.handle, os.fsencode(os.fspath(path)), _options(options), stream, e.ref())):
                e.fail()
        return Slices(self, stream)

    def _run(self, call):
        """In the main thread a signal is only seen between two lines of Python: the call has a thread of its own, so that Ctrl-C ends it."""
        if threading.current_thread() is not threading.main_thread():
            return call()
        out: list = []
        worker = threading.Thread(target=lambda: out.append(call()), daemon=True)
        worker.start()
        try:
            worker.join()
        except BaseException:
            lib.incore_cancel(self.handle)
            worker.join()
            raise
        return out[0]


def _options(options: Mapping[str, Any]) -> bytes:
    """By the long names of the program's options: decoder_compat is --decoder-compat, from_ is --from."""
    def plain(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [str(v) for v in value]
        return value if isinstance(value, (bool, int, str)) else os.fspath(value)
    return json.dumps({k.rstrip("_").replace("_", "-"): plain(v) for k, v in options.items() if v is not None}).encode()


class Capture(Questions):
    """One capture, or a folder of one; nothing is read before the first question. A method a question."""

    def __init__(self, path: Path, threads: int = 0):
        self.path = os.fspath(path)
        self._session = _Session(threads)

    def _ask(self, question: str, options: Mapping[str, Any]) -> Any:
        return self._session.ask(question, [self.path], options)

    def slices(self, **selection: Any) -> Slices:
        """All slices as a stream of batches, one a track; options as of the questions that select tracks (se=0, simd="1-2")."""
        return self._session.slices(self.path, selection)

    def __repr__(self) -> str:
        return f"incore.open({self.path!r})"


def open(path: Path, threads: int = 0) -> Capture:  # noqa: A001 - as the program's users say it
    """A capture to ask; threads 0: one a processor."""
    if not os.path.exists(path):
        raise FileNotFoundError(2, "no such capture", os.fspath(path))
    return Capture(path, threads)


def diff(a: Union[Path, Capture], b: Union[Path, Capture], **options: Any) -> DiffAnswer:
    """Two captures compared, per execution; options as of `incore diff` (by="line", top=5, gate=[...])."""
    first = a if isinstance(a, Capture) else open(a)
    other = b.path if isinstance(b, Capture) else b
    return DiffAnswer(*first._session.ask("diff", [first.path, other], options))


def ask(verb: str, *paths: Path, **options: Any) -> Answer:
    """Any verb of the program that answers, by its name ("dump check"). One that acts says what it did."""
    return Answer(*_Session(0).ask(verb, paths, options))
