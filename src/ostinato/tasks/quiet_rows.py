"""Rows at which no situation begins, ends or takes anything in, told from the others before they are sent.

Such a row has the truth values of the row before it and of the one behind it. Which rows these are is known where all are in order: a row
of another batch may come between. So what is left out is not lost: its time and its truth values travel beside the other rows, and it is
put back where something may have come between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ostinato.archive.row_groups import times_of


@dataclass(frozen=True)
class SentRows:
    """Rows of one batch, in order of time. `quiet` have times and truth values alone, each time once; none of them has the time of one of
    the other rows."""

    rows: pa.Table
    quiet: pa.Table | None = None


def without_quiet(table: pa.Table, time: str, told: Sequence[str], asked_for: Sequence[str]) -> SentRows:
    """`told` are the columns with truth values; rows with one of those in `asked_for` stay."""
    times = _numbers(table, time)
    if len(times) < 3:
        return SentRows(_in_order(table, times))
    if (times[1:] < times[:-1]).any():
        order = np.argsort(times, kind="stable")
        table, times = table.take(order), times[order]
    words = _words(table, told)
    same = words[1:] == words[:-1]
    left = np.zeros(len(times), np.bool_)
    left[1:-1] = same[1:] & same[:-1]
    for name in asked_for:
        left &= ~_truth(table, name)
    if not left.any():
        return SentRows(table)
    stays = np.flatnonzero(~left)
    behind = times[stays[np.cumsum(~left)[left]]]  # of the next row that stays
    quiet = np.flatnonzero(left)
    quiet = quiet[(times[quiet] > times[quiet - 1]) & (times[quiet] < behind)]
    return SentRows(table.take(stays), table.select([time, *told]).take(quiet))


def put_together(sent: Sequence[SentRows], time: str, seen: int, open_from: int) -> pa.Table:
    """The rows of all batches, as a session is to have them. `seen`: there were rows before up to this time; `open_from`: there may come
    rows of this time and later ones."""
    if all(one.quiet is None for one in sent):
        return pa.concat_tables([one.rows for one in sent])
    in_order = [one for one in sent if one.rows.num_rows]
    meets = _meeting([_ends(one.rows, time) for one in in_order], seen)
    return pa.concat_tables([_with_quiet(one, time, None if met else open_from) for one, met in zip(in_order, meets, strict=True)])


def _meeting(ends: Sequence[tuple[int, int]], seen: int) -> np.ndarray:
    """For each batch, from its first time to its last, whether the times of another one, or earlier rows, meet it."""
    low, high = np.array(ends, np.int64).T
    order = np.lexsort((high, low))
    before = np.maximum.accumulate(np.concatenate([[seen], high[order]]))[:-1]  # the latest time of those that begin earlier
    met = np.zeros(len(low), np.bool_)
    met[order] = low[order] <= before
    met[order[:-1]] |= low[order[1:]] <= high[order[:-1]]
    return met


def _with_quiet(one: SentRows, time: str, since: int | None) -> pa.Table:
    """With those of its quiet rows that are no older; None: with all of them."""
    if one.quiet is None:
        return one.rows
    times = _numbers(one.quiet, time)
    first = 0 if since is None else int(np.searchsorted(times, since))
    if first == len(times):
        return one.rows
    names = one.quiet.schema.names
    back = one.quiet.slice(first)
    columns = [back.column(f.name) if f.name in names else pa.nulls(back.num_rows, f.type) for f in one.rows.schema]
    whole = pa.concat_tables([one.rows, pa.table(columns, schema=one.rows.schema)])
    return _in_order(whole, _numbers(whole, time))


def _in_order(table: pa.Table, times: np.ndarray) -> pa.Table:
    return table.take(np.argsort(times, kind="stable"))


def _ends(rows: pa.Table, time: str) -> tuple[int, int]:
    times = _numbers(rows, time)
    return int(times[0]), int(times[-1])


def _numbers(table: pa.Table, time: str) -> np.ndarray:
    return np.asarray(times_of(table.column(time))).astype(np.int64, copy=False)


def _truth(table: pa.Table, name: str) -> np.ndarray:
    return np.asarray(table.column(name)).astype(np.bool_, copy=False)


def _words(table: pa.Table, told: Sequence[str]) -> np.ndarray:
    """The truth values of each row as bits of one number."""
    words = np.zeros(table.num_rows, np.uint8 if len(told) <= 8 else np.uint64)
    for bit, name in enumerate(told):
        words |= _truth(table, name).astype(words.dtype) << words.dtype.type(bit)
    return words
