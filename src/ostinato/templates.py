"""Many queries of one text with places for values, `${name}`, the same in all languages: the values are rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ostinato.base.errors import OstinatoError, SchemaError
from ostinato.learned_texts import Follows, Learned, LearnedTexts, following, literals_of, value_of
from ostinato.program.shapes.member import Member
from ostinato.rules.rule import Rule
from ostinato.rules.template import PIECES, filled

MANY = 8  # rows, from which on something is learned

Shaped = Callable[[str], Learned | None]
Row = Mapping[str, Any]


class Template:
    """A text with places for values."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.names = tuple(dict.fromkeys(found["name"] for found in PIECES.finditer(text) if found["name"] is not None))

    def filled(self, values: Row) -> str:
        """A text without places."""
        return filled(self.text, {name: values[name] for name in self.names})

    def rows(self, parameters: Any, id: str) -> pa.Table:
        """The names of queries and the values of their parameters."""
        table = as_table(parameters)
        if len({*table.column_names}) < table.num_columns:
            raise SchemaError("two columns of the table are called alike", hint="Rename one of them")
        missing = [name for name in (id, *self.names) if name not in table.column_names]
        if missing:
            told = ", ".join(self.names) or "none"
            raise SchemaError(f"there is no column {missing[0]!r} for the template", hint=f"Its parameters are: {told}")
        nulls = [name for name in (id, *self.names) if table.column(name).null_count]
        if nulls:
            raise SchemaError(f"a value of {nulls[0]!r} is missing", hint="Leave the row out, or write IS NULL into the template")
        if pc.count_distinct(table.column(id)).as_py() < table.num_rows:
            raise OstinatoError("two rows of the table have the same name", hint=f"Names of queries, in the column {id!r}, differ")
        return table

    def rules(
        self, table: pa.Table, id: str, options: tuple[tuple[str, Any], ...], texts: LearnedTexts | None
    ) -> Iterator[tuple[Rule, tuple[Member, pa.Schema] | None]]:
        """A rule per row, and what it is, where that is known without compiling it; those first. `texts`: None where nothing is learned."""
        rules = [Rule(row[id], self.filled(row), options) for row in table.to_pylist()]
        learned = None
        if texts is not None and len(rules) >= MANY and self.names:
            told, shaped = rules[0].told, texts.shaped
            learned = self.learned(table, lambda text: shaped(text, told))
        apart = np.ones(len(rules), np.bool_) if learned is None else np.asarray(self.apart(table))
        if learned is not None:
            chosen = np.flatnonzero(~apart)
            for row, member in zip(chosen.tolist(), self.members(table.take(pa.array(chosen)), learned), strict=True):
                yield rules[row], (member, learned.output) if member.fits else None
        yield from ((rules[row], None) for row in np.flatnonzero(apart).tolist())

    def learned(self, table: pa.Table, shaped: Shaped) -> Learned | None:
        """What the queries are, if their parameters are no more than constants of one shape: by the first row, and others in its place."""
        first = table.slice(0, 1).to_pylist()[0]
        known = shaped(self.filled(first))
        if known is None or not all(_is_learned(table.schema.field(name).type) for name in self.names):
            return None
        follows: list[Follows] = []
        for number, name in enumerate(self.names):
            instead = _others(first[name], {value for value in first.values() if isinstance(value, str | int | float)})
            own = following(known, number, first[name], ((shaped(self.filled({**first, name: other})), other) for other in instead))
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
        """Flags: rows that are compiled one by one, since a value is no constant of the language, or the same as another, so that less is
        computed."""
        fixed = literals_of(PIECES.sub(lambda found: " " if found["name"] is not None else found[0], self.text))
        literals = [] if fixed is None else [value_of(literal) for literal in fixed[1]]
        flags = pa.repeat(fixed is None, table.num_rows)
        columns = [table.column(name).combine_chunks() for name in self.names]
        for number, column in enumerate(columns):
            is_text = _is_text(column.type)
            compared = column if is_text else column.cast(pa.float64(), safe=False)
            unwritten = pc.match_substring_regex(column, r"[\\\x00]") if is_text else pc.invert(pc.is_finite(compared))
            flags = pc.or_(flags, unwritten)
            for literal in (one for one in literals if isinstance(one, str) == is_text):
                flags = pc.or_(flags, pc.equal(compared, literal))
            for other in (one for one in columns[:number] if _is_text(one.type) == is_text):
                flags = pc.or_(flags, pc.equal(compared, other if is_text else other.cast(pa.float64(), safe=False)))
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
    raise SchemaError(f"the parameters of a template are a {type(parameters).__name__}", hint="Pass an Arrow table")


def _is_text(type_: pa.DataType) -> bool:
    return pa.types.is_string(type_) or pa.types.is_large_string(type_)


def _is_learned(type_: pa.DataType) -> bool:
    """Values of these are constants as they are; times, say, become what the engine holds by compiling."""
    return _is_text(type_) or pa.types.is_integer(type_) or pa.types.is_floating(type_)


def _others(value: Any, taken: set[Any]) -> list[Any]:
    """Values of the same kind that are not there."""
    candidates = (f"{number}{value}" if isinstance(value, str) else value + number for number in range(1, 100))
    free = (candidate for candidate in candidates if candidate not in taken)
    return [next(free), next(free)]
