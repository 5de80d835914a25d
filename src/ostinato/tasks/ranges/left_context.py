"""The last rows of each key before a time: what PREV at the first rows of a range looks at."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from ostinato.archive.ordered_rows import OrderedRows, in_order
from ostinato.tasks.ranges.rows_per_key import all_have, last_rows


def left_context(rows: OrderedRows, low: int, high: int | None, count: int) -> pa.Table:
    """Up to `count` rows before `low` of every key that has a row in low <= time < high, in order.

    Row groups are read from `low` backwards until every key is complete; a key that is rare may lead far back."""
    keys = list(rows.reads.key_names)
    found = rows.schema.empty_table()
    if count == 0:
        return found
    wanted = _keys_between(rows, keys, low, high)
    earlier = sorted((group for group in rows.groups if group.low < low), key=lambda group: group.high)
    while earlier and wanted.num_rows:
        watermark = earlier[-1].low  # whoever begins before this is read later
        step = [group for group in earlier if group.high >= watermark]
        earlier = [group for group in earlier if group.high < watermark]
        part = replace(rows, groups=tuple(step))
        tables = list(part.pieces(None, low, again=True))
        found = last_rows(in_order(pa.concat_tables([*tables, found]), rows.reads), keys, count)
        if all_have(found, wanted, keys, count):
            break
    return found


def _keys_between(rows: OrderedRows, keys: list[str], low: int, high: int | None) -> pa.Table:
    """One row per key of the range."""
    names = list(dict.fromkeys([*keys, rows.time]))
    slim = replace(rows, schema=pa.schema([rows.schema.field(name) for name in names]))
    distinct = rows.schema.empty_table().select(keys) if keys else None
    for table in slim.pieces(low, high):
        if distinct is None:
            return table.slice(0, 1).select([rows.time])
        distinct = pa.concat_tables([distinct, table.select(keys)]).group_by(keys).aggregate([]).select(keys)
    return distinct if distinct is not None else rows.schema.empty_table().select([rows.time])
