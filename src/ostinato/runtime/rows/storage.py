"""Which columns of the stream must be kept with the rows, and which are read once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ostinato.expr.types import Kind, Type
from ostinato.expr.typing.arrow_types import to_arrow
from ostinato.program.analysis.carried_negations import uncarried
from ostinato.program.code_inputs import code_inputs, measure_columns, negation_columns
from ostinato.program.input import Input
from ostinato.program.pattern import EventPattern, Pattern, RowPattern
from ostinato.runtime.rows.keyed_rows import KeyedRows
from ostinato.runtime.rows.opaque_values import OpaqueValues


def stored_columns(pattern: Pattern) -> dict[str, Type]:
    """Inputs of row code and of measures; all columns where whole events or rows are shown."""
    types = {column.name: column.type for column in pattern.reads.data_columns}
    if (pattern.measures.code is None and pattern.output != "count") or pattern.rows_per_match != "one":
        return types
    names = [*code_inputs(pattern.rows), *measure_columns(pattern.measures)]
    names += [name for negation in pattern.negations for name in negation_columns(negation)]
    return {name: types[name] for name in dict.fromkeys(names)}


def needs_positions(pattern: Pattern) -> bool:
    """Whether anybody asks in which order rows of different partitions came: event patterns do, and the default output shows it."""
    return pattern.selects_events or pattern.measures.code is None


def bits_held_as(pattern: Pattern) -> np.dtype:
    """The predicate bits of a row: a byte where they are few, and read by a matcher that takes bytes."""
    takes = (isinstance(pattern, RowPattern) and pattern.evaluation == "scan") or pattern.decides_moments
    return np.dtype(np.uint8 if takes and pattern.bits <= 8 else np.uint64)


def occurrence_columns(pattern: Pattern) -> list[str]:
    """A column for each negation that filters matches and whose events are known by their rows alone; see
    `runtime.negation.occurrences`."""
    if not isinstance(pattern, EventPattern):
        return []
    return [occurrence_column(number) for number, negation in enumerate(uncarried(pattern).negations) if negation.is_static]


def occurrence_column(number: int) -> str:
    return f"occurs:{number}"


def seldom_read(reads: Input, patterns: Sequence[Pattern]) -> set[str]:
    """Columns of which patterns read the rows of matches, and no others: those that only measures ask for."""
    often = {name for pattern in patterns for name in code_inputs(pattern.rows)}
    often |= {name for pattern in patterns for negation in pattern.negations for name in negation_columns(negation)}
    if any(pattern.selects_events or pattern.timed_window >= 0 or pattern.is_timed for pattern in patterns):
        often.add(reads.time_name)
    return {column.name for column in reads.columns} - often


def empty_rows(reads: Input, stored: dict[str, Type], patterns: Sequence[Pattern]) -> KeyedRows:
    """Values lie in arrays as `expr.types` says."""
    positioned = any(map(needs_positions, patterns))
    held = {Kind.FLOAT: np.float64, Kind.BOOL: np.bool_}
    dtypes = {name: held.get(type_.kind, np.int64) for name, type_ in stored.items()}
    rows = KeyedRows(dtypes, reads.time >= 0, positioned, reads.time_name or None, seldom_read(reads, patterns))
    heaps: dict[pa.DataType, OpaqueValues] = {}
    for name, type_ in stored.items():
        if type_.kind is Kind.OPAQUE:
            own = to_arrow(type_)
            rows.opaque[name] = heaps.setdefault(own, OpaqueValues(own))
    return rows
