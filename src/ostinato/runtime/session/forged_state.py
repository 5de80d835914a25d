"""Looks at everything in a snapshot before it becomes a session. Nothing is taken over that the program could not have made: what is
accepted may be the state of another stream, but it is a state."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ostinato.base.errors import OstinatoError, StateError
from ostinato.program.pattern import Pattern
from ostinato.runtime.rows.column_reader import read_columns
from ostinato.runtime.rows.ingest import times_of
from ostinato.runtime.rows.longer_arrays import grown
from ostinato.runtime.rows.reorder import NEVER
from ostinato.runtime.rows.row_state import check_keys, check_rows, check_texts
from ostinato.runtime.session.state_check import ANY, LIMIT, HeldRows, StateCheck

if TYPE_CHECKING:
    from ostinato.runtime.session.session import Session

COUNTERS = ("position", "rows_in", "emitted", "late")
NO_ROWS = np.zeros(0, np.int64)


@contextmanager
def one_error() -> Iterator[None]:
    """Whatever goes wrong with bytes from outside is an error of the snapshot."""
    try:
        yield
    except StateError:
        raise
    except (
        OstinatoError,
        pa.ArrowException,
        ArithmeticError,
        LookupError,
        MemoryError,
        OSError,
        TypeError,
        ValueError,
        AttributeError,
    ) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise StateError("the snapshot is not valid", detail=first, hint="restore one that a session of this query made") from error


def check_scalars(scalars: Any) -> None:
    require = StateCheck({}, HeldRows(NO_ROWS, NO_ROWS, 0), "counters").require
    require(isinstance(scalars, dict), "counters by name")
    optional = [name for name in ("timed_out",) if name in scalars]
    for name in (*COUNTERS, *optional, "horizon", "latest"):
        require(name in scalars, f"a counter {name}")
        value = scalars[name]
        if name == "latest" and value is None:
            continue
        low, high = (0, LIMIT) if name not in ("horizon", "latest") else (NEVER, -(NEVER + 1))
        require(isinstance(value, int) and not isinstance(value, bool) and low <= value <= high, f"a whole number for {name}")


def check_session(session: Session, arrays: dict[str, np.ndarray], texts: int) -> None:
    """All arrays; `texts` is how many strings there are."""
    whole = StateCheck(arrays, HeldRows(NO_ROWS, NO_ROWS, texts), "session")
    rows = check_rows(whole.part("rows."), session)
    whole = StateCheck(arrays, rows, "session")
    evaluated = whole.read_up_to("evaluated")
    whole.require(len(evaluated) <= len(rows.base), "partitions that are known")
    check_texts(whole.part("rows."), session, grown(evaluated, len(rows.base)))
    numbered = whole.array("numbered", np.int64, ANY)
    whole.between(numbered, 0, LIMIT, "numbers of matches")
    if session.report.unmatched is not None:
        whole.read_up_to("unmatched")
    if session.report.timeouts is not None:
        whole.read_up_to("timeouts")
    if session.keys is not None:
        check_keys(whole.part("keys."), session.keys.types, len(rows.base))
    session.matcher.check(whole.part("matcher."))


def checked_table(data: bytes) -> pa.Table:
    table = pa.ipc.open_stream(data).read_all()
    table.validate(full=True)
    return table


def checked_strings(data: bytes) -> pa.Array:
    table = checked_table(data)
    if table.column_names != ["s"] or table.schema.types[0] != pa.large_string():
        raise ValueError("a column of strings expected")
    strings = table.column("s").combine_chunks()
    if strings.null_count or len(strings.unique()) != len(strings):
        raise ValueError("strings that differ expected")
    return strings


def checked_waiting(data: bytes, pattern: Pattern) -> pa.Table:
    """Rows with the columns of the program, and their times as the last column."""
    table = checked_table(data)
    names = [column.name for column in pattern.reads.columns]
    if table.column_names[:-1] != names or table.schema.types[-1] != pa.int64() or not table.num_rows:
        raise ValueError("rows that wait, with their times, expected")
    times = times_of(read_columns(table.select(range(len(names))), pattern), pattern, nulls_allowed=False)
    held = table.column(len(names))
    if times is None or held.null_count or not np.array_equal(times.values, held.to_numpy()):
        raise ValueError("the times of the rows that wait expected")
    return table
