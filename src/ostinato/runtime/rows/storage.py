"""Which columns of the stream must be kept with the rows, and which are read once."""

from __future__ import annotations

import numpy as np

from ostinato.expr.typing.arrow_types import to_arrow
from ostinato.expr.typing.types import Kind, Type
from ostinato.program.carried_negations import uncarried
from ostinato.program.inputs import code_inputs, measure_columns, negation_columns
from ostinato.program.program import Program
from ostinato.runtime.rows.keyed_rows import KeyedRows
from ostinato.runtime.rows.opaque_values import OpaqueValues


def stored_columns(program: Program) -> dict[str, Type]:
    """Inputs of row code and of measures; all columns where whole events or rows are shown."""
    types = {column.name: column.type for column in program.data_columns}
    if (program.measures.code is None and program.output != "count") or program.rows_per_match != "one":
        return types
    names = [*code_inputs(program.rows), *measure_columns(program.measures)]
    names += [name for negation in program.negations for name in negation_columns(negation)]
    return {name: types[name] for name in dict.fromkeys(names)}


def needs_positions(program: Program) -> bool:
    """Whether anybody asks in which order rows of different partitions came: event patterns do, and the default output shows it."""
    return program.is_event_pattern or program.measures.code is None


def occurrence_columns(program: Program) -> list[str]:
    """A column for each negation that filters matches and whose events are known by their rows alone; see
    `runtime.negation.occurrences`."""
    return [occurrence_column(number) for number, negation in enumerate(uncarried(program).negations) if negation.is_static]


def occurrence_column(number: int) -> str:
    return f"occurs:{number}"


def empty_rows(program: Program, stored: dict[str, Type]) -> KeyedRows:
    """Values lie in arrays as `expr.typing.types` says."""
    held = {Kind.FLOAT: np.float64, Kind.BOOL: np.bool_}
    time = program.columns[program.time].name if program.time >= 0 else None
    dtypes = {name: held.get(type_.kind, np.int64) for name, type_ in stored.items()}
    rows = KeyedRows(dtypes, len(program.slots), program.time >= 0, needs_positions(program), time)
    for name in occurrence_columns(program):
        rows.arena.declare(name, np.int64)
    rows.opaque = {name: OpaqueValues(to_arrow(type_)) for name, type_ in stored.items() if type_.kind is Kind.OPAQUE}
    return rows
