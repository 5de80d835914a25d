"""Rows at which no situation begins, ends or takes anything in, told from the others before they are sent.

Such a row has the truth values of the row before it and of the one behind it. Which rows these are is known where all are in order: a row
of another batch may come between. So what is left out is not lost: its time and its truth values travel beside the other rows, and it is
put back where something may have come between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ostinato.archive.row_groups import times_of

HOLDS = "__ostinato_holds_"  # what columns with truth values are called, before a number


@dataclass(frozen=True)
class SentRows:
    """Rows of one batch. `quiet` have times and truth values alone, each time once, and none of them has the time of one of the other
    rows: then all are in order of time."""

    rows: pa.Table
    quiet: pa.Table | None = None


Truth = Mapping[str, np.ndarray]  # of each condition, by the column that has it: where it holds


def with_truth(table: pa.Table, truth: Truth) -> pa.Table:
    """The rows with a column for each condition."""
    for name, holds in truth.items():
        bits = pa.py_buffer(np.packbits(holds, bitorder="little"))
        table = table.append_column(name, pa.Array.from_buffers(pa.bool_(), len(holds), [None, bits]))
    return table


def without_quiet(table: pa.Table, time: str, truth: Truth, asked_for: Sequence[str]) -> SentRows:
    """Rows of which one of the conditions `asked_for` holds stay."""
    times = _numbers(table, time)
    later = times[1:] > times[:-1]
    each_once = bool(later.all())
    if not each_once and (times[1:] < times[:-1]).any():
        order = np.argsort(times, kind="stable")
        table, times, truth = table.take(order), times[order], {name: holds[order] for name, holds in truth.items()}
        later = times[1:] > times[:-1]
    left = _between_equals(_words(truth))
    for name in asked_for:
        left &= ~truth[name]
    if not left.any():
        return SentRows(with_truth(table, truth))
    stays, quiet = np.flatnonzero(~left), left if each_once else _each_time_once(left, later)
    rows = with_truth(table.take(stays), {name: holds[stays] for name, holds in truth.items()})
    held = {name: own for name, holds in truth.items() if (own := holds[quiet]).any()}
    return SentRows(rows, with_truth(_taken(table, time, times, quiet), held))


def _between_equals(words: np.ndarray) -> np.ndarray:
    same = words[1:] == words[:-1]
    found = np.zeros(len(words), np.bool_)
    found[1:-1] = same[1:] & same[:-1]
    return found


def _each_time_once(left: np.ndarray, later: np.ndarray) -> np.ndarray:
    """Of the rows that are left out, the first of each time at which none stays."""
    group = np.concatenate([[0], np.cumsum(later)])
    taken = np.zeros(group[-1] + 1, np.bool_)
    taken[group[~left]] = True
    first = np.concatenate([[True], later])
    return left & first & ~taken[group]


def _taken(table: pa.Table, time: str, times: np.ndarray, chosen: np.ndarray) -> pa.Table:
    """The times of some rows, in their own type."""
    field = table.schema.field(time)
    if field.type == pa.int64() or (pa.types.is_timestamp(field.type) and field.type.unit == "us"):
        return pa.table([pa.array(times[chosen]).view(field.type)], schema=pa.schema([field]))
    return table.select([time]).filter(pa.array(chosen))


def put_together(sent: Sequence[SentRows], time: str, seen: int, open_from: int) -> pa.Table:
    """The rows of all batches, as a session is to have them. `seen`: there were rows before up to this time; `open_from`: there may come
    rows of this time and later ones."""
    if all(one.quiet is None for one in sent):
        return pa.concat_tables([one.rows for one in sent])
    some = [one for one in sent if one.rows.num_rows]
    ends = [_ends(one.rows, time) for one in some]
    found = []
    for one, met, (_, last) in zip(some, _meeting(ends, seen), ends, strict=True):
        found.append(_with_quiet(one, time, None if met else open_from) if met or last > open_from else one.rows)
    return pa.concat_tables(found)


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
    first = 0 if since is None else int(np.searchsorted(_numbers(one.quiet, time), since))
    if first == one.quiet.num_rows:
        return one.rows
    names = one.quiet.schema.names
    back = one.quiet.slice(first)
    columns = [back.column(f.name) if f.name in names else _missing(f, back.num_rows) for f in one.rows.schema]
    whole = pa.concat_tables([one.rows, pa.table(columns, schema=one.rows.schema)])
    return _in_order(whole, _numbers(whole, time))


def _missing(field: pa.Field, count: int) -> pa.Array:
    """What no row carries; a condition that is not among the columns holds nowhere."""
    return pa.repeat(False, count) if field.name.startswith(HOLDS) else pa.nulls(count, field.type)


def _in_order(table: pa.Table, times: np.ndarray) -> pa.Table:
    return table.take(np.argsort(times, kind="stable"))


def _ends(rows: pa.Table, time: str) -> tuple[int, int]:
    times = _numbers(rows, time)
    return int(times.min()), int(times.max())


def _numbers(table: pa.Table, time: str) -> np.ndarray:
    return np.asarray(times_of(table.column(time))).astype(np.int64, copy=False)


def _words(truth: Truth) -> np.ndarray:
    """The truth values of each row as bits of one number."""
    first, *others = truth.values()
    kind = np.dtype(np.uint8 if len(truth) <= 8 else np.uint64)
    words = first.view(np.uint8).astype(kind)
    for bit, holds in enumerate(others, 1):
        words |= holds.view(np.uint8).astype(kind, copy=False) << kind.type(bit)
    return words
