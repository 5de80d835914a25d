"""Where the chain of non-overlapping matches enters a range, found without reading everything before it.

AFTER MATCH SKIP PAST LAST ROW and the output nonoverlapping make each match depend on the one before. But chains forget: two
chains that ever stand at the same row go on together. So look back some windows, follow the chain from *every* row at which the
true chain may stand there, and if all of them stand at the same row when they reach the border, that row is the true one,
whatever came before. Where they never meet (`A{2}` on rows that all match keeps its parity for ever), look further back, at last
from the beginning of the data; of the keys whose chains have met nothing more has to be seen, because a chain from further back
is one of those that met."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import pyarrow as pa

from ostinato.archive.ordered_rows import OrderedRows, in_order
from ostinato.archive.row_groups import times_of
from ostinato.program.input import Input
from ostinato.program.pattern import EventPattern, Pattern, RowPattern
from ostinato.program.program import alone
from ostinato.runtime.session.session import Session
from ostinato.tasks.key_codes import key_codes, with_keys_of
from ostinato.tasks.ranges.chain_positions import ChainPositions, overtaken_left_out, positions_at_border
from ostinato.tasks.ranges.left_context import left_context
from ostinato.tasks.ranges.right_context import rows_behind
from ostinato.tasks.ranges.start_marks import END_ROW, ROW, START_ROW, only_rows
from ostinato.tasks.worker import run_session

LOOK_BACK = (2, 4, 8, 16, 32)  # windows
_NO_ROWS = np.zeros(0, np.bool_)


@dataclass(frozen=True)
class Entry:
    """The true chain is the one that begins with the rows from `begin` on (None: all rows), in order, without those that are
    `swallowed`: a match that starts before the range ends with them."""

    begin: int | None
    swallowed: np.ndarray

    def enter(self, tables: Iterable[pa.Table], reads: Input) -> Iterator[pa.Table]:
        """`tables` follow one another and begin at `begin`."""
        seen = 0
        for table in tables:
            swallowed = self.swallowed[seen : seen + table.num_rows]
            seen += table.num_rows
            if swallowed.any():
                kept = np.ones(table.num_rows, np.bool_)
                kept[: len(swallowed)] = ~swallowed
                table = in_order(table, reads).filter(pa.array(kept))
            yield table


def at_time(begin: int | None) -> Entry:
    """Nothing from before matters."""
    return Entry(begin, _NO_ROWS)


def chain_entry(pattern: Pattern, rows: OrderedRows, border: int, back: int) -> Entry:
    """How the chain enters the rows from `border` on. A match that looks at rows before it (`back`) needs them to be there: the
    chain then begins where it was followed from, though it is known at the border."""
    first = min(group.low for group in rows.groups)
    among = None
    swallowed = _NO_ROWS
    for windows in LOOK_BACK:
        begin = border - max(1, windows * pattern.within)
        if begin <= first:
            break
        followed = _follow(pattern, rows, begin, border, back, among)
        swallowed = _either(swallowed, followed.swallowed())
        among = followed.open_keys()
        if not among.num_rows:
            return at_time(begin) if back else Entry(border, swallowed)
    return at_time(None)


@dataclass(frozen=True)
class _Followed:
    """The chains of the rows of a table, in which row `border` is the first that is not before the border. `places` are the rows'
    numbers from the border on, of all rows there are."""

    table: pa.Table
    places: np.ndarray
    names: list[str]
    codes: np.ndarray
    border: int
    positions: ChainPositions

    def open_keys(self) -> pa.Table:
        """Rows of every key whose chains do not meet before the border."""
        is_open = np.zeros(int(self.codes.max()) + 1 if len(self.codes) else 0, np.bool_)
        is_open[self.positions.apart] = True
        return self.table.select(self.names or self.table.column_names[:1]).take(np.flatnonzero(is_open[self.codes]))

    def swallowed(self) -> np.ndarray:
        """Which rows from the border on belong to a match of a chain that is known."""
        met = self.positions.earliest == self.positions.latest
        until = np.zeros(int(self.codes.max()) + 1 if len(self.codes) else 0, np.int64)
        until[self.positions.keys[met]] = self.positions.latest[met]
        numbers = np.arange(self.border, len(self.codes))
        inside = self.places[self.border :][numbers < until[self.codes[self.border :]]]
        rows = np.zeros(int(inside.max()) + 1 if len(inside) else 0, np.bool_)
        rows[inside] = True
        return rows


def _follow(pattern: Pattern, rows: OrderedRows, begin: int, border: int, back: int, among: pa.Table | None) -> _Followed:
    """The chains of all keys (of those in `among`) from `begin` on."""
    names, window = list(rows.reads.key_names), pattern.within
    table = pa.concat_tables([left_context(rows, begin, border + window, back), *rows.between(begin, border + window, again=True)])
    times = times_of(table.column(rows.time)).to_numpy()
    places = np.arange(len(times)) - np.searchsorted(times, border)
    table = table.append_column(ROW, pa.array(places))
    if among is not None and names:
        table = with_keys_of(table, among, names)
        places = table.column(ROW).to_numpy()
        times = times_of(table.column(rows.time)).to_numpy()
    table = table.set_column(table.num_columns - 1, ROW, pa.array(np.arange(table.num_rows)))
    codes = key_codes(table, names)
    start, end = _matches_from_every_row(pattern, rows, table, border, border + window)
    own = (start < len(times)) & (times[np.minimum(start, len(times) - 1)] >= begin)  # NEXT looks at rows behind
    start, end = start[own], end[own]
    if pattern.output == "nonoverlapping":
        _, start, end = overtaken_left_out(codes[start], start, end)
    start, end = start[times[start] < border], end[times[start] < border]
    at_border = int(np.searchsorted(places, 0))
    positions = positions_at_border(codes[start], start, end, times[start] <= begin + window, at_border)
    return _Followed(table, places, names, codes, at_border, positions)


def _matches_from_every_row(pattern: Pattern, rows: OrderedRows, table: pa.Table, border: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
    """First and last rows of the matches that start before the border, whatever came before; the table has the rows before `stop`."""
    session = Session(alone(only_rows(unchained(pattern))), batches_apart=True)
    behind = (_numbered(part, table.num_rows) for part in rows_behind(session, rows, stop, border))
    found = list(run_session(session, chain([table], behind)))
    if not found:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    matches = pa.concat_tables(found)
    return matches.column(START_ROW).to_numpy(), matches.column(END_ROW).to_numpy()


def unchained(pattern: Pattern) -> Pattern:
    """All matches, whatever came before them."""
    if isinstance(pattern, EventPattern):
        return replace(pattern, output="all")
    assert isinstance(pattern, RowPattern)
    return replace(pattern, skip="to next row")


def _numbered(table: pa.Table, first: int) -> pa.Table:
    return table.append_column(ROW, pa.array(np.arange(first, first + table.num_rows)))


def _either(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    both = np.zeros(max(len(a), len(b)), np.bool_)
    both[: len(a)] |= a
    both[: len(b)] |= b
    return both
