"""The first rows of each key behind the windows of a range: what NEXT at the last rows of its matches looks at."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from ostinato.archive.ordered_rows import OrderedRows
from ostinato.kernels.vectors.vector import to_arrow
from ostinato.program.analysis.look_around import look_around
from ostinato.runtime.rows.array_growth import grown
from ostinato.runtime.session.session import Session
from ostinato.tasks.key_codes import with_keys_of
from ostinato.tasks.ranges.rows_per_key import all_have, first_rows


def rows_behind(session: Session, rows: OrderedRows, stop: int | None, before: int | None) -> Iterator[pa.Table]:
    """What a session that has had all rows up to `stop` needs besides, to decide about the matches that start before `before`. To be asked
    for when it has had them: only keys of which such a match may be under way are looked for."""
    if stop is None or before is None or not look_around(session.operator.pattern).after:
        return
    wanted = undecided_keys(session, before)
    if wanted.num_rows:
        yield right_context(rows, stop, wanted, session.operator.pattern.look_ahead)


def undecided_keys(session: Session, before: int) -> pa.Table:
    """The keys with rows that wait for their neighbours, if a match that starts before a time may have these rows."""
    known = np.arange(session.key_count)
    operator = session.operator
    rows, evaluated = operator.rows, grown(operator.evaluated, operator.rows.key_count)[: len(known)]
    waiting = rows.base[known] + rows.length[known] > evaluated
    first = np.minimum(operator.matcher.keep_from(known), evaluated)[waiting]
    known = known[waiting]
    known = known[rows.times[rows.offset[known] + first - rows.base[known]] < before]
    keys = operator.source.keys
    if keys is None:
        return pa.table({"key": known})
    pattern = session.operator.pattern
    return pa.table({pattern.reads.columns[k].name: to_arrow(keys.values(i, known)) for i, k in enumerate(pattern.reads.keys)})


def right_context(rows: OrderedRows, stop: int, wanted: pa.Table, count: int) -> pa.Table:
    """Up to `count` rows from `stop` on of every key in `wanted`, in order.

    Row groups are read onwards until every key is complete; a key that is rare may lead far, one that has ended to the end of the data."""
    keys = list(rows.reads.key_names)
    if keys:
        wanted = wanted.cast(pa.schema([rows.schema.field(name) for name in keys]))
    found = rows.schema.empty_table()
    for table in rows.between(stop, None):
        part = with_keys_of(table, wanted, keys) if keys else table
        found = first_rows(pa.concat_tables([found, part]), keys, count)
        if all_have(found, wanted, keys, count):
            break
    return found
