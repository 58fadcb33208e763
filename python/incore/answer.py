# SPDX-License-Identifier: Apache-2.0
"""Answers and their tables: to print, to walk, for pandas, numpy and whatever takes Arrow."""
from __future__ import annotations

import ctypes as c
import html
import json
import shutil
import textwrap
from typing import Any, Dict, Generic, Iterator, List, NamedTuple, TypeVar

from . import arrow
from .native import ArrowArray, ArrowSchema, Errors, lib, text

SHOWN_ROWS = 20
SHOWN_WIDTH = 132  # where nobody says how wide the screen is
Row = TypeVar("Row")


class Column(NamedTuple):
    name: str
    unit: str
    doc: str


class Batch(Generic[Row]):
    """Rows of typed columns."""

    def __init__(self, owned: arrow.Owned):
        self._owned = owned

    @property
    def names(self) -> List[str]:
        return self._owned.names

    def __len__(self) -> int:
        return len(self._owned)

    def column(self, name: str) -> List[Any]:
        """Its values; None where there is none."""
        if name not in self.names:
            raise KeyError(f"no column {name!r}; there are {', '.join(self.names)}")
        at = self.names.index(name)
        kind = self._owned.formats[at]
        values: List[Any] = (self._owned.truths(at) if kind == "b" else self._owned.texts(at) if kind == "u"
                             else self._owned.numbers(at).tolist())
        valid = self._owned.valid(at)
        return values if valid is None else [v if ok else None for v, ok in zip(values, arrow.bits(valid, len(self)))]

    def __iter__(self) -> Iterator[Row]:
        columns = [self.column(n) for n in self.names]
        return (dict(zip(self.names, row)) for row in zip(*columns))  # type: ignore[misc]

    def __getitem__(self, key: Any) -> Any:
        """A column by name (a list), a row by number (a dict)."""
        return self.column(key) if isinstance(key, str) else {n: self.column(n)[key] for n in self.names}

    def _numpy(self, name: str) -> Any:
        """(values, which are there or None: all). Numbers are not copied."""
        import numpy as np
        at = self.names.index(name)
        kind, valid = self._owned.formats[at], self._owned.valid(at)
        if kind in arrow.NUMBERS:
            values = np.asarray(self._owned.numbers(at))
        else:
            values = np.empty(len(self), dtype=object)
            values[:] = self.column(name)
            valid = None
        return values, None if valid is None else np.array(arrow.bits(valid, len(self)), dtype=bool)

    def to_numpy(self) -> Any:
        """A structured array, a field a column. Numbers with gaps are reals with NaN; texts and truths are objects."""
        import numpy as np
        fields = {}
        for name in self.names:
            values, valid = self._numpy(name)
            fields[name] = values if valid is None else np.where(valid, values.astype(float), np.nan)
        out = np.empty(len(self), dtype=[(name, values.dtype) for name, values in fields.items()])
        for name, values in fields.items():
            out[name] = values
        return out

    def to_pandas(self) -> Any:
        """A DataFrame. Whole numbers with gaps have pandas' nullable types."""
        import pandas as pd
        columns = {}
        for name in self.names:
            values, valid = self._numpy(name)
            if valid is not None and values.dtype.kind in "ui":
                columns[name] = pd.Series(pd.arrays.IntegerArray(values.copy(), ~valid))
            else:
                columns[name] = pd.Series(values) if valid is None else pd.Series(values).where(valid)
        return pd.DataFrame(columns, columns=self.names)

    def __arrow_c_schema__(self) -> Any:
        return arrow.capsule(arrow.share_schema(self._owned))

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        """For pyarrow.record_batch(), polars, duckdb; no copy."""
        return arrow.array_capsules(self._owned)


class Table(Batch[Row]):
    """A list of an answer. `columns` says what each means."""

    def __init__(self, answer: "Answer", number: int):
        self.name = text(lib.incore_table_name(answer._handle, number))
        self.columns: List[Column] = []
        for i in range(lib.incore_column_count(answer._handle, number)):
            column = lib.incore_column(answer._handle, number, i)
            self.columns.append(Column(text(column.name), text(column.unit), text(column.doc)))
        schema, array = ArrowSchema(), ArrowArray()
        with Errors() as e:
            if not lib.incore_table_arrow(answer._handle, number, schema, array, e.ref()):
                e.fail()
        super().__init__(arrow.Owned(schema, array))

    def _shown(self) -> Any:
        """(columns that hold something, texts of their first rows)"""
        n = min(len(self), SHOWN_ROWS)
        shown = [(k, [_cell(v, k.unit) for v in self.column(k.name)[:n]]) for k in self.columns]
        return [(k, cells) for k, cells in shown if any(cells)]

    def __str__(self) -> str:
        if not len(self):
            return f"{self.name or 'values'}: no rows"
        if self.name == "":
            return "\n".join(f"{k.name:<32}{cells[0]}{' ' + k.unit if k.unit else ''}" for k, cells in self._shown())
        lines: List[List[str]] = []
        left_out: List[str] = []
        room = wide = shutil.get_terminal_size((SHOWN_WIDTH, 24)).columns
        for k, cells in self._shown():
            is_number = isinstance(next(v for v in self.column(k.name) if v is not None), (int, float))
            width = max(map(len, [k.name, *cells]))
            if lines and (left_out or width > room):  # the rest after the first that does not fit, in their order
                left_out.append(k.name)
                continue
            room -= width + 2
            lines.append([x.rjust(width) if is_number else x.ljust(width) for x in [k.name, *cells]])
        rows = ["  ".join(row).rstrip() for row in zip(*lines)]
        if len(self) > SHOWN_ROWS:
            rows.append(f"{SHOWN_ROWS} of {len(self)} rows")
        if left_out:
            rows += textwrap.wrap(f"{len(left_out)} more columns: {', '.join(left_out)}", wide, subsequent_indent="  ")
        return "\n".join(rows)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        shown = self._shown()
        head = "".join(f'<th title="{html.escape(k.doc)}">{html.escape(k.name)}{f" ({html.escape(k.unit)})" if k.unit else ""}</th>' for k, _ in shown)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(x)}</td>" for x in row) + "</tr>" for row in zip(*[cells for _, cells in shown]))
        return f"<table><caption>{html.escape(self.name)}: {len(self)} rows</caption><tr>{head}</tr>{body}</table>"


def _cell(value: Any, unit: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if unit == "address":
        return hex(value)
    if isinstance(value, int):
        return str(value) if unit == "row" else f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.1f}"
    return "".join(ch if ch.isprintable() else "\N{REPLACEMENT CHARACTER}" for ch in value)


class Answer:
    """What `incore QUESTION --json` says. Lists are attributes (`answer.rows`), so are single values (`answer.found`); `answer["rows"]` and
    `answer.tables` work for every name."""

    def __init__(self, session: Any, handle: int, question: str):
        self._session, self._handle, self.question = session, handle, question
        names = [text(lib.incore_table_name(handle, i)) for i in range(lib.incore_table_count(handle))]
        self._numbers = {name: i for i, name in enumerate(names)}
        self._made: Dict[str, Table[Any]] = {}

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            lib.incore_answer_free(self._handle)
            self._handle = None

    @property
    def ok(self) -> bool:
        """False for a negative answer: a capture that cannot be trusted, a gate that failed."""
        return lib.incore_answer_status(self._handle) == 0

    @property
    def warnings(self) -> List[str]:
        return [text(lib.incore_warning(self._handle, i)) for i in range(lib.incore_warning_count(self._handle))]

    @property
    def json(self) -> Dict[str, Any]:
        """The whole answer, as the program prints it."""
        n = c.c_size_t()
        with Errors() as e:
            address = lib.incore_answer_json(self._handle, c.byref(n), e.ref())
            if not address:
                e.fail()
            return json.loads(c.string_at(address, n.value))

    @property
    def tables(self) -> List[str]:
        """Names of its lists."""
        return [name for name in self._numbers if name]

    @property
    def scalars(self) -> Dict[str, Any]:
        """Its single values, those that are there."""
        return {k: v for k, v in self._table("")[0].items() if v is not None}

    def _table(self, name: str) -> Table[Any]:
        if name not in self._made:
            if name not in self._numbers:
                raise KeyError(f"no table {name!r}; there are {', '.join(self.tables)}")
            self._made[name] = Table(self, self._numbers[name])
        return self._made[name]

    def __getitem__(self, name: str) -> Table[Any]:
        return self._table(name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._numbers:
            return self._table(name)
        first = self._table("")
        if name in first.names:
            return first.column(name)[0]
        raise AttributeError(f"the answer to {self.question} has neither a table nor a value {name!r}; "
                             f"there are {', '.join([*self.tables, *first.names])}")

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *(n for n in [*self.tables, *self._table("").names] if n.isidentifier())]

    def __str__(self) -> str:
        parts = [str(self._table(""))]
        parts += [f"-- {name} ({len(self._table(name))} rows)\n{self._table(name)}" for name in self.tables if len(self._table(name))]
        return "\n\n".join([*parts, *(f"warning: {w}" for w in self.warnings)])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return "".join(self._table(name)._repr_html_() for name in ["", *self.tables] if len(self._table(name)))

    def to_pandas(self) -> Any:
        """Its first list; `answer["name"].to_pandas()` for another."""
        return self._main().to_pandas()

    def to_numpy(self) -> Any:
        return self._main().to_numpy()

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self._main().__arrow_c_array__(requested_schema)

    def _main(self) -> Table[Any]:
        return self._table(self.tables[0] if self.tables else "")


class Slices:
    """Slices of a capture, a batch a track; read once, as it is walked."""

    def __init__(self, session: Any, stream: Any):
        self._session, self._stream = session, stream

    def __del__(self) -> None:
        stream = getattr(self, "_stream", None)
        if stream is not None and stream.release:
            stream.release(c.byref(stream))

    def _check(self, status: int) -> None:
        if status:
            raise arrow.stream_error(self._stream)

    def __iter__(self) -> Iterator[Batch[Dict[str, Any]]]:
        while self._stream is not None and self._stream.release:
            schema, array = ArrowSchema(), ArrowArray()
            self._check(self._stream.get_next(c.byref(self._stream), c.byref(array)))
            if not array.release:
                break
            self._check(self._stream.get_schema(c.byref(self._stream), c.byref(schema)))
            yield Batch(arrow.Owned(schema, array))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """For pyarrow.RecordBatchReader.from_stream(), polars, duckdb: hands the stream over."""
        if self._stream is None:
            raise ValueError("the slices were handed over already")
        stream, self._stream = self._stream, None
        return arrow.capsule(arrow.share_stream(self._session, stream))

    def to_pandas(self) -> Any:
        import pandas as pd
        return pd.concat([batch.to_pandas() for batch in self], ignore_index=True)

    def to_numpy(self) -> Any:
        import numpy as np
        return np.concatenate([batch.to_numpy() for batch in self])
