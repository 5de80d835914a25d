"""Many queries of one text with parameters, `:name`, the same in all languages: their values are rows of a table."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ostinato.base.errors import OstinatoError, SchemaError
from ostinato.learned_texts import Follows, Learned, following, literals_of, value_of
from ostinato.program.shapes.member import Member

PARAMETER = re.compile(r"'(?:[^']|'')*'|(?<![:\w]):([^\W\d]\w*)")
LEARNED = (pa.types.is_integer, pa.types.is_floating, pa.types.is_string, pa.types.is_large_string)

Values = Mapping[str, Any]
Shaped = Callable[[str], Learned | None]


class Template:
    """A text with parameters."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.names = tuple(dict.fromkeys(found.group(1) for found in PARAMETER.finditer(text) if found.group(1)))

    def filled(self, values: Values) -> str:
        """A text without parameters."""
        return PARAMETER.sub(lambda found: _literal(values[found.group(1)], found.group(1)) if found.group(1) else found.group(), self.text)

    def checked(self, table: pa.Table, id: str) -> None:
        missing = [name for name in (id, *self.names) if name not in table.column_names]
        if missing:
            raise SchemaError(
                f"there is no column {missing[0]!r} for the template", hint=f"its parameters are {', '.join(self.names) or 'none'}"
            )
        if len({*table.column_names}) < table.num_columns:
            raise SchemaError("two columns of the table are called alike", hint="rename one of them")
        nulls = [name for name in (id, *self.names) if table.column(name).null_count]
        if nulls:
            raise SchemaError(f"a value of {nulls[0]!r} is missing", hint="write IS NULL into the template instead")

    def learned(self, table: pa.Table, shaped: Shaped) -> Learned | None:
        """What the queries are, if their parameters are no more than constants of one shape: by the first row, and others in its place."""
        first = table.slice(0, 1).to_pylist()[0]
        known = shaped(self.filled(first))
        if known is None or not all(any(is_kind(table.schema.field(name).type) for is_kind in LEARNED) for name in self.names):
            return None
        follows: list[Follows] = []
        for number, name in enumerate(self.names):
            others = _others(first[name], {value for value in first.values() if isinstance(value, str | int | float)})
            changed = ((shaped(self.filled({**first, name: other})), other) for other in others)
            own = following(known, number, first[name], changed)
            if not own:
                return None
            follows += own
        twice = len({follow.constant for follow in follows}) < len(follows)
        return None if twice else known._replace(follows=tuple(follows))

    def members(self, table: pa.Table, learned: Learned) -> Iterator[Member]:
        """Of every row, in their order."""
        columns: list[Sequence[Any]] = [[constant] * table.num_rows for constant in learned.constants]
        for constant, parameter, negated in learned.follows:
            column = table.column(self.names[parameter])
            if isinstance(learned.constants[constant], float):
                column = column.cast(pa.float64())
            columns[constant] = (pc.negate(column) if negated else column).to_pylist()
        return (Member(learned.shape, constants) for constants in zip(*columns, strict=True))

    def apart(self, table: pa.Table) -> pa.Array:
        """Flags: rows that are compiled one by one, since a value is no literal, or the same as another, so that less is computed."""
        fixed = literals_of(PARAMETER.sub(lambda found: found.group() if not found.group(1) else " ", self.text))
        literals = [] if fixed is None else [value_of(literal) for literal in fixed[1]]
        flags = pa.repeat(fixed is None, table.num_rows)
        for number, name in enumerate(self.names):
            column = table.column(name).combine_chunks()
            is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
            if pa.types.is_floating(column.type):
                flags = pc.or_(flags, pc.invert(pc.is_finite(column)))
            for literal in (one for one in literals if isinstance(one, str) == is_text):
                flags = pc.or_(flags, pc.equal(column if is_text else column.cast(pa.float64(), safe=False), literal))
            for other in self.names[:number]:
                beside = table.column(other).combine_chunks()
                if is_text == (pa.types.is_string(beside.type) or pa.types.is_large_string(beside.type)):
                    flags = pc.or_(flags, pc.equal(column, beside) if is_text else _equal_numbers(column, beside))
        return flags


def as_table(parameters: Any) -> pa.Table:
    """What has Arrow columns: a table, a batch, a frame that gives itself as Arrow."""
    if isinstance(parameters, pa.Table):
        return parameters
    if isinstance(parameters, pa.RecordBatch):
        return pa.Table.from_batches([parameters])
    if isinstance(parameters, Mapping):
        return pa.table(dict(parameters))
    if hasattr(parameters, "__arrow_c_stream__"):
        return pa.table(parameters)
    raise SchemaError(f"the parameters of a template are a {type(parameters).__name__}", hint="pass an Arrow table")


def _equal_numbers(one: pa.Array, other: pa.Array) -> pa.Array:
    return pc.equal(one.cast(pa.float64(), safe=False), other.cast(pa.float64(), safe=False))


def _literal(value: Any, name: str) -> str:
    """As all languages write it."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, float) and not math.isfinite(value):
        raise OstinatoError(f"the parameter {name!r} is {value}, which no language writes", hint="leave the row out")
    if isinstance(value, int | float | Decimal):
        number = str(value) if not isinstance(value, float) or "e" in str(value) else f"{value}e0"  # without an exponent it is a decimal
        return f"({number})" if number.startswith("-") else number
    if isinstance(value, dt.datetime):
        return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
    if isinstance(value, dt.date):
        return f"DATE '{value.isoformat()}'"
    raise OstinatoError(
        f"the parameter {name!r} is a {type(value).__name__}", hint="parameters are numbers, texts, truth values, dates and timestamps"
    )


def _others(value: Any, taken: set[Any]) -> list[Any]:
    """Values of the same kind that are not there."""
    if isinstance(value, str):
        candidates: Iterator[Any] = (f"{number}{value}" for number in range(1, 100))
    else:
        candidates = (value + number for number in range(1, 100))
    free = (candidate for candidate in candidates if candidate not in taken)
    return [next(free), next(free)]
