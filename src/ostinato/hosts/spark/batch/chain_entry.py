"""Where the chain of non-overlapping matches stands at the border of a range, found without reading everything before it.

AFTER MATCH SKIP PAST LAST ROW makes each match depend on the one before. But chains forget: two chains that ever stand at the same
row go on together. So look back some windows, follow the chain from *every* row at which the true chain may stand there, and if
all of them stand at the same row when they reach the border, that row is the true one, whatever came before. Where they never
meet (`A{2}` on rows that all match keeps its parity for ever), look further back, at last from the beginning of the data; of the
keys whose chains have met nothing more has to be seen, because a chain from further back is one of those that met."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from ostinato.hosts.spark.batch.key_codes import key_codes, with_keys_of
from ostinato.hosts.spark.batch.left_context import left_context
from ostinato.hosts.spark.batch.ordered_rows import OrderedRows
from ostinato.hosts.spark.batch.row_groups import times_of
from ostinato.hosts.spark.batch.start_marks import END_ROW, ROW, START_ROW, only_rows
from ostinato.hosts.spark.worker import run

LOOK_BACK = (2, 4, 8, 16, 32)  # windows


def settled_from(rows: OrderedRows, border: int, window: int, back: int) -> int | None:
    """A time such that the chain begun there is the true chain from `border` on; None: only the beginning of the data is."""
    first = min(group.low for group in rows.groups)
    open_keys = None
    for windows in LOOK_BACK:
        begin = border - max(1, windows * window)
        if begin <= first:
            return None
        open_keys = _open_keys(rows, begin, border, window, back, open_keys)
        if not open_keys.num_rows:
            return begin
    return None


def _open_keys(rows: OrderedRows, begin: int, border: int, window: int, back: int, among: pa.Table | None) -> pa.Table:
    """Rows of every key (of those in `among`) whose chains from `begin` on do not meet before the border."""
    names = [rows.program.columns[k].name for k in rows.program.keys]
    tables = [left_context(rows, begin, border + window, back), *rows.between(begin, border + window, again=True)]
    table = pa.concat_tables(tables)
    if among is not None and names:
        table = with_keys_of(table, among, names)
    table = table.append_column(ROW, pa.array(np.arange(table.num_rows)))
    times = times_of(table.column(rows.time)).to_numpy()
    codes = key_codes(table, names)
    found = list(run(only_rows(replace(rows.program, skip="to next row")), [table]))
    if not found:
        return table.slice(0, 0)
    matches = pa.concat_tables(found)
    start, end = matches.column(START_ROW).to_numpy(), matches.column(END_ROW).to_numpy()
    own = (times[start] >= begin) & (times[start] < border)
    start, end = start[own], end[own]
    apart = chains_apart(codes[start], start, end, times[start] <= begin + window, int(np.searchsorted(times, border)))
    is_open = np.zeros(int(codes.max()) + 1, np.bool_)
    is_open[apart] = True
    return table.select(names or [rows.time]).take(np.flatnonzero(is_open[codes]))


def chains_apart(keys: np.ndarray, start: np.ndarray, end: np.ndarray, early: np.ndarray, border: int) -> np.ndarray:
    """Given for each start row before row `border` the match that begins there: the keys of which not all chains that begin at an
    `early` start, at the first start after those, or at none, stand at the same row when they reach the border."""
    if not len(start):
        return keys
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
    return groups[low != high]
