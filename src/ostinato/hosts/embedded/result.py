"""What a query found: a table that shows itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ostinato.base.errors import OstinatoError
from ostinato.hosts.embedded.picture import draw
from ostinato.inspect.plain_values import plain_values

if TYPE_CHECKING:
    import pandas
    import polars
    from matplotlib.axes import Axes

SHOWN_ROWS = 20
SHOWN_CHARACTERS = 60


class Result:
    """The rows that a query gave. `metrics` are the counters of the sessions that ran it: rows read, matches, late rows, and so on."""

    def __init__(self, table: pa.Table, metrics: Mapping[str, int] | None = None, late: pa.Table | None = None) -> None:
        self._table = table
        self._late = late
        self.metrics = dict(metrics or {})

    @property
    def late(self) -> pa.Table:
        """The rows that came too late, with the columns that the query reads and the reason, where they were asked for."""
        if self._late is None:
            raise OstinatoError(
                "late rows were not kept", hint='Say how late rows may come, and keep later ones: lateness=..., late="keep"'
            )
        return self._late

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows piece by piece. A result that was asked for with `lazy=True` is computed by this, as far as it is read."""
        yield from self._table.to_batches()

    @property
    def columns(self) -> list[str]:
        return self.schema.names

    @property
    def schema(self) -> pa.Schema:
        return self._table.schema

    def to_arrow(self) -> pa.Table:
        return self._table

    def to_pandas(self) -> pandas.DataFrame:
        return self._table.to_pandas()

    def to_polars(self) -> polars.DataFrame:
        try:
            import polars
        except ImportError as error:
            raise OstinatoError("to_polars() needs Polars", hint="pip install polars") from error
        frame = polars.from_arrow(self._table)
        assert isinstance(frame, polars.DataFrame)
        return frame

    def plot(self, x: str | None = None, y: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw the matches with Matplotlib: as bars from `start_ts` to `end_ts` where the result has them, else `y` over `x` (by default
        the first column in time, or the first number, and the first number after it)."""
        return draw(self._table, x, y, ax)

    def __len__(self) -> int:
        return self._table.num_rows

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Row by row, as dictionaries; of several columns with one name the last."""
        for batch in self._table.to_batches():
            yield from batch.to_pylist()

    def __repr__(self) -> str:
        rows = [[_shown(value) for value in row] for row in self._first_rows()]
        widths = [max(len(cell) for cell in column) for column in zip(self.columns, *rows, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in [self.columns, *rows]]
        return "\n".join([*lines, self._count()])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join("<tr>" + "".join(f"<td>{escape(_shown(value))}</td>" for value in row) + "</tr>" for row in self._first_rows())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{escape(self._count())}</p>"

    def _first_rows(self) -> list[tuple[Any, ...]]:
        """Not as dictionaries: columns may have the same name."""
        return list(zip(*(plain_values(column) for column in self._table.slice(0, SHOWN_ROWS).columns), strict=True))

    def _count(self) -> str:
        rows = len(self)
        shown = f", the first {SHOWN_ROWS} shown" if rows > SHOWN_ROWS else ""
        return f"[{rows:,} {'row' if rows == 1 else 'rows'}{shown}]"


def _shown(value: Any) -> str:
    text = "null" if value is None else str(value)
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
