"""Where the chain of non-overlapping matches stands at the border of a range, found without reading everything before it.

AFTER MATCH SKIP PAST LAST ROW makes each match depend on the one before. But chains forget: two chains that ever stand at the same
row go on together. So look back some windows, follow the chain from *every* row at which the true chain may stand there, and if
all of them stand at the same row when they reach the border, that row is the true one, whatever came before. Where they never
meet (`A{2}` on rows that all match keeps its parity for ever), look further back, at last from the beginning of the data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from ostinato.hosts.spark.batch.key_codes import key_codes
from ostinato.hosts.spark.batch.left_context import left_context
from ostinato.hosts.spark.batch.ordered_rows import OrderedRows
from ostinato.hosts.spark.batch.row_groups import times_of
from ostinato.hosts.spark.batch.start_marks import END_ROW, ROW, START_ROW, only_rows
from ostinato.hosts.spark.worker import run

LOOK_BACK = (2, 8, 32)  # windows


def settled_from(rows: OrderedRows, border: int, window: int, back: int) -> int | None:
    """A time such that the chain begun there is the true chain from `border` on; None: only the beginning of the data is."""
    first = min(group.low for group in rows.groups)
    for windows in LOOK_BACK:
        begin = border - max(1, windows * window)
        if begin <= first:
            return None
        if _chains_meet(rows, begin, border, window, back):
            return begin
    return None


def _chains_meet(rows: OrderedRows, begin: int, border: int, window: int, back: int) -> bool:
    tables = [left_context(rows, begin, border + window, back), *rows.between(begin, border + window)]
    table = pa.concat_tables(tables)
    table = table.append_column(ROW, pa.array(np.arange(table.num_rows)))
    times = times_of(table.column(rows.time)).to_numpy()
    codes = key_codes(table, [rows.program.columns[k].name for k in rows.program.keys])
    found = list(run(only_rows(replace(rows.program, skip="to next row")), [table]))
    if not found:
        return True
    matches = pa.concat_tables(found)
    start, end = matches.column(START_ROW).to_numpy(), matches.column(END_ROW).to_numpy()
    own = (times[start] >= begin) & (times[start] < border)
    start, end = start[own], end[own]
    return chains_meet(codes[start], start, end, times[start] <= begin + window, int(np.searchsorted(times, border)))


def chains_meet(keys: np.ndarray, start: np.ndarray, end: np.ndarray, early: np.ndarray, border: int) -> bool:
    """Given for each start row before row `border` the match that begins there: do all chains of a key that begin at an `early`
    start, at the first start after those, or at none, stand at the same row when they reach the border?"""
    if not len(start):
        return True
    stride = int(max(end.max(), border)) + 2
    at = keys * stride + start
    order = np.argsort(at)
    at, keys, end, early = at[order], keys[order], end[order], early[order]
    count = len(at)
    after = np.searchsorted(at, keys * stride + end + 1)
    same_key = (after < count) & (keys[np.minimum(after, count - 1)] == keys)
    # position count + i: the chain's last match before the border was i
    jump = np.concatenate([np.where(same_key, after, count + np.arange(count)), count + np.arange(count)])
    while True:
        further = jump[jump]
        if np.array_equal(further, jump):
            break
        jump = further
    stands = np.maximum(end[jump[:count] - count] + 1, border)
    first_late = ~early & np.concatenate([[True], (keys[1:] != keys[:-1]) | early[:-1]])
    candidate = early | first_late
    groups, place = np.unique(keys[candidate], return_inverse=True)
    low = np.full(len(groups), np.iinfo(np.int64).max)
    high = np.full(len(groups), border)
    np.minimum.at(low, place, stands[candidate])
    np.maximum.at(high, place, stands[candidate])
    # a key without a late start may have a chain that finds no match at all before the border
    has_late = np.zeros(len(groups), bool)
    np.logical_or.at(has_late, np.searchsorted(groups, keys[first_late]), True)
    low[~has_late] = np.minimum(low[~has_late], border)
    return bool(np.all(low == high))
