# SPDX-License-Identifier: Apache-2.0
"""Why a question failed. One exception a layer; `raise ... from` links them as the library does."""
from __future__ import annotations

from typing import Optional


class Error(Exception):
    """What libincore says, with the place in a file where it knows one."""

    def __init__(self, message: str, code: str = "", path: Optional[str] = None, offset: Optional[int] = None, line: Optional[int] = None,
                 column: Optional[int] = None):
        super().__init__(message)
        self.message, self.code, self.path, self.offset, self.line, self.column = message, code, path, offset, line, column

    def __str__(self) -> str:
        place = self.path or ""
        if self.line:
            place += f":{self.line}:{self.column}"
        elif self.path and self.offset is not None:
            place += f": byte {self.offset}"
        text = f"{place}: {self.message}" if place else self.message
        return f"{text}: {self.__cause__}" if isinstance(self.__cause__, Error) else text


class UsageError(Error, ValueError):
    """The question itself is wrong: no such option, no such value."""


class BadInput(Error):
    """The capture cannot be read."""


class Missing(Error):
    """A program or library that is needed is not there."""


class Failed(Error):
    """The system failed: no memory, no space, a file that cannot be read."""


class Cancelled(Error):
    """The question was ended from outside."""


BY_STATUS = {2: UsageError, 3: BadInput, 4: BadInput, 5: Missing, 6: Failed}
