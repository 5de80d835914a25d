"""The queries of a program, wherever they stand in it: operators of their own, or rows of a shape's table."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from ostinato.program import serde
from ostinato.program.constants_table import IDS, unpacked
from ostinato.program.program import Program
from ostinato.program.query_graphs import query_in
from ostinato.program.shapes.member import Member
from ostinato.program.shapes.shape import Shape, is_shape, shaped

Form = tuple[str, tuple[Any, ...]]


class QueryForms:
    """What each query is, so that it can be compared with one of another program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._plain = {result.query for result in program.results if not is_shape(result.query)}
        self._rows: dict[str, Form] = {}
        for reads in program.inputs:
            if reads.shape:
                table = unpacked(reads.queries, reads.parameters)
                constants = zip(*(table.column(column.name).to_pylist() for column in reads.parameters), strict=True)
                for ids, values in zip(table.column(IDS).to_pylist(), constants, strict=True):
                    self._rows |= dict.fromkeys(ids, (reads.shape, tuple(map(repr, values))))

    @property
    def names(self) -> set[str]:
        return self._plain | self._rows.keys()

    def is_same(self, query: str, other: QueryForms) -> bool:
        if query in self._plain and query in other._plain:
            return query_in(self._program, query) == query_in(other._program, query)
        return self._form(query) == other._form(query)

    def _form(self, query: str) -> Form | None:
        return self._rows[query] if query in self._rows else _shape_form(query_in(self._program, query))


def form_of(own: Program | Member) -> Form:
    """What a query is by itself; equal for those that are the same, whether they are rows of a shape's table or not."""
    if isinstance(own, Member):
        return _row_form(own.shape, own.constants)
    return _shape_form(own) or ("", (sha256(serde.dumps(own)).hexdigest(),))


def _shape_form(program: Program) -> Form | None:
    found = shaped(program)
    return None if found.shape is None else _row_form(found.shape, found.constants)


def _row_form(shape: Shape, constants: Iterable[Any]) -> Form:
    held = (int(value) if isinstance(value, bool) else value for value in constants)
    return shape.name, tuple(map(repr, held))
