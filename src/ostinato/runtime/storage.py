"""Which columns of the stream must be kept with the rows, and which are read once."""

from __future__ import annotations

from ostinato.expr.types import Type
from ostinato.program.program import Program


def stored_columns(program: Program) -> dict[str, Type]:
    """Inputs of row code and of measures; all columns where the default output shows whole events."""
    types = {column.name: column.type for column in program.columns}
    if program.measures.code is None and program.output != "count":
        return types
    names = [op.params[0] for op in (*program.rows.ops, *program.measures.rows.ops) if op.op == "input"]
    if program.measures.code is not None:
        inputs = [op.params[0] for op in program.measures.code.ops if op.op == "input"]
        names += [name.split(":", 2)[2] for name in inputs if name.startswith("point:")]
    return {name: types[name] for name in dict.fromkeys(names)}


def needs_positions(program: Program) -> bool:
    """Whether anybody asks in which order rows of different partitions came: event patterns do, and the default output shows it."""
    return program.is_event_pattern or program.measures.code is None
