# SPDX-License-Identifier: Apache-2.0
"""Which instruction of an accelerator kernel is waiting, and for what.

    import incore
    c = incore.open("capture")
    print(c.hot(by="line", top=5))
    c.hot().rows.to_pandas()
    incore.diff("before", "after")
    incore.ask("dump check", "args_dump").ok

Questions are the verbs of the program `incore`; an answer prints as tables. Figures are computed by libincore alone.
"""
from .answer import Answer, Batch, Slices, Table
from .capture import Capture, ask, diff, open
from .errors import BadInput, Cancelled, Error, Failed, Missing, UsageError
from .native import version
from . import questions

__version__ = version()
__all__ = ["Answer", "BadInput", "Batch", "Cancelled", "Capture", "Error", "Failed", "Missing", "Slices", "Table", "UsageError",
           "__version__", "ask", "diff", "open", "questions", "version"]
