"""Looks at everything in a snapshot before it becomes a session. Nothing is taken over that the program could not have made: what is
accepted may be the state of another stream, but it is a state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ostinato.base.errors import OstinatoError, StateError
from ostinato.program.input import Input
from ostinato.runtime.queries.query_table import GONE
from ostinato.runtime.rows.array_growth import grown
from ostinato.runtime.rows.column_reader import read_columns
from ostinato.runtime.rows.ingest import times_of
from ostinato.runtime.rows.reorder import NEVER
from ostinato.runtime.session.row_state import check_keys, check_rows, check_slots, check_texts
from ostinato.runtime.session.shape_rows import ShapeRows
from ostinato.runtime.snapshots.state_check import ANY, LIMIT, HeldRows, StateCheck

if TYPE_CHECKING:
    from ostinato.runtime.session.input_rows import InputRows
    from ostinato.runtime.session.pattern_operator import PatternOperator

COUNTERS = ("position", "rows_in", "late")
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


def check_scalars(scalars: Any, inputs: int, operators: int) -> None:
    require = StateCheck({}, HeldRows(NO_ROWS, NO_ROWS, 0), "counters").require
    require(isinstance(scalars, dict), "counters by name")
    for part, count in (("input", inputs), ("operator", operators)):
        for number in range(count):
            found = scalars.get(f"{part}{number}")
            require(isinstance(found, dict), f"counters of {part} {number}")
            _check_counters(found, require, (*COUNTERS, "watermark", "latest") if part == "input" else ("emitted",))


def _check_counters(counters: dict[str, Any], require: Callable[[bool, str], None], wanted: tuple[str, ...]) -> None:
    for name in (*wanted, *(name for name in ("timed_out",) if name in counters)):
        require(name in counters, f"a counter {name}")
        value = counters[name]
        if name == "latest" and value is None:
            continue
        low, high = (0, LIMIT) if name not in ("watermark", "latest") else (NEVER, -(NEVER + 1))
        require(isinstance(value, int) and not isinstance(value, bool) and low <= value <= high, f"a whole number for {name}")


def check_input(source: InputRows, arrays: dict[str, np.ndarray], texts: int) -> HeldRows:
    """Rows and keys; `texts` is how many strings there are. Returns what operators may refer to."""
    whole = StateCheck(arrays, HeldRows(NO_ROWS, NO_ROWS, texts), "input")
    rows = check_rows(whole.part("rows."), source)
    whole = StateCheck(arrays, rows, "input")
    whole.array("source_watermarks", np.int64, max(len(source.reads.sources), 1))
    check_texts(whole.part("rows."), source)
    if isinstance(source, ShapeRows):
        check_queries(whole, source, arrays)
    if source.keys is not None:
        check_keys(whole.part("keys."), source.keys.types, len(rows.base))
    return rows


def check_queries(whole: StateCheck, source: ShapeRows, arrays: dict[str, np.ndarray]) -> None:
    """What is known of the queries of a shape, and the numbers of those that keys are of."""
    count = len(source.queries)
    arrival = whole.array("arrival", np.int64, 1)
    whole.between(arrival, 0, LIMIT, "changes that are counted")
    since, emitted, before = whole.array("queries", np.int64, 3, count)
    gone = np.array([not ids for ids in source.queries.ids], np.bool_)
    whole.require(bool((since[gone] == GONE).all()), "queries that are gone")
    whole.between(since[~gone], 0, int(arrival[0]), "queries that were added")
    whole.between(emitted, 0, LIMIT, "matches that are counted")
    whole.between(before, 0, LIMIT, "rows that are counted")
    whole.between(arrays["keys.column0"][1:], 0, count - 1, "keys of queries that are known")


def check_operator(operator: PatternOperator, arrays: dict[str, np.ndarray], rows: HeldRows) -> None:
    whole = StateCheck(arrays, operator.held(rows), "session")
    evaluated = operator.evaluated  # that of the operator with which it is shared, which was looked at before
    if operator.owns_progress:
        evaluated = whole.read_up_to("evaluated")
        whole.require(len(evaluated) <= len(rows.base), "partitions that are known")
    check_slots(whole, operator, grown(evaluated, len(rows.base)))
    numbered = whole.array("numbered", np.int64, ANY)
    whole.between(numbered, 0, LIMIT, "numbers of matches")
    if operator.report.unmatched is not None:
        whole.read_up_to("unmatched")
    if operator.report.timeouts is not None:
        whole.read_up_to("timeouts")
    operator.matcher.check(whole.part("matcher."))


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


def checked_waiting(data: bytes, reads: Input) -> pa.Table:
    """Rows with the columns of the program, and their times as the last column."""
    table = checked_table(data)
    names = [column.name for column in reads.columns]
    if table.column_names[:-1] != names or table.schema.types[-1] != pa.int64() or not table.num_rows:
        raise ValueError("rows that wait, with their times, expected")
    times = times_of(read_columns(table.select(range(len(names))), reads), reads, nulls_allowed=False)
    held = table.column(len(names))
    if times is None or held.null_count or not np.array_equal(times.values, held.to_numpy()):
        raise ValueError("the times of the rows that wait expected")
    return table
