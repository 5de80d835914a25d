"""What changes in a running set of queries, on its way to where the set runs: queries that go, and queries that come, as programs."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ostinato.base.errors import StateError
from ostinato.expr.user_function import UserFunction
from ostinato.program import serde
from ostinato.program.constants_table import IDS, packed, unpacked
from ostinato.program.program import Program
from ostinato.program.shapes.member import Member
from ostinato.program.shapes.shape import Shape, is_shape, operator_name, program_of_shape
from ostinato.runtime.queries.query_table import QueryTable

FORMAT, VERSION = "ostinato rule change", 1
NO_COLUMNS = pa.schema([])


@dataclass(frozen=True)
class SetChange:
    """`parts` as a set has them: the program of a query under its name, or that of a shape, with those of its queries that come. A query
    that is `removed` and comes begins anew. `columns` are those that results have from now on."""

    removed: tuple[str, ...]
    parts: tuple[tuple[str, Program], ...]
    columns: pa.Schema = NO_COLUMNS

    @staticmethod
    def of(removed: Iterable[str], added: Mapping[str, Program | Member], columns: pa.Schema = NO_COLUMNS) -> SetChange:
        parts: list[tuple[str, Program]] = []
        members: dict[str, dict[str, Member]] = {}
        for query, own in added.items():
            if isinstance(own, Member):
                members.setdefault(own.shape.name, {})[query] = own
            else:
                parts.append((query, own))
        for name, of_shape in members.items():
            shape = next(iter(of_shape.values())).shape
            table = QueryTable(shape.parameters)
            table.add_all([*of_shape], [member.constants for member in of_shape.values()], 0, 0)
            parts.append((operator_name(name), program_of_shape(shape, packed(table.table()), operator_name(name))))
        return SetChange(tuple(removed), tuple(parts), columns)

    @property
    def added(self) -> dict[str, Program | Member]:
        """As a session takes them."""
        found: dict[str, Program | Member] = {}
        for name, program in self.parts:
            found |= dict(_members(program)) if is_shape(name) else {name: program}
        return found

    def dumps(self) -> bytes:
        """Deterministic: equal changes give equal bytes."""
        parts = {name: base64.b64encode(serde.dumps(program)).decode("ascii") for name, program in self.parts}
        columns = base64.b64encode(self.columns.serialize().to_pybytes()).decode("ascii")
        told = {"format": FORMAT, "version": VERSION, "removed": list(self.removed), "queries": parts, "columns": columns}
        return json.dumps(told, separators=(",", ":"), ensure_ascii=True).encode()

    @staticmethod
    def loads(data: bytes, functions: Mapping[str, UserFunction] | None = None) -> SetChange:
        """`functions` as in `serde.loads`. Programs are verified when they are run."""
        told = _decoded(data)
        try:
            programs = {name: base64.b64decode(text, validate=True) for name, text in told["queries"].items()}
            columns = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(told["columns"], validate=True)))
        except (ValueError, OSError, pa.ArrowException) as error:
            raise StateError("a change of rules is damaged", detail=str(error)) from error
        return SetChange(tuple(told["removed"]), tuple((name, serde.loads(one, functions)) for name, one in programs.items()), columns)


def _decoded(data: bytes) -> dict[str, Any]:
    try:
        told = json.loads(data)
    except ValueError as error:
        raise StateError("a change of rules is damaged", detail=str(error)) from error
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise StateError("this is no change of rules")
    if told.get("version") != VERSION:
        raise StateError(f"a change of rules has version {told.get('version')}, this release reads version {VERSION}")
    match told:
        case {"removed": list(removed), "queries": dict(queries), "columns": str()}:
            is_whole = all(isinstance(one, str) for one in (*removed, *queries.values()))
        case _:
            is_whole = False
    if not is_whole:
        raise StateError("a change of rules is damaged", detail="names of queries and their programs expected")
    return told


def _members(program: Program) -> Iterator[tuple[str, Member]]:
    (reads,), (operator,) = program.inputs, program.operators
    shape = Shape(reads.shape, operator.body)
    table = unpacked(reads.queries, reads.parameters)
    columns = [table.column(column.name).to_pylist() for column in reads.parameters]
    for ids, constants in zip(table.column(IDS).to_pylist(), zip(*columns, strict=True), strict=True):
        yield from ((id, Member(shape, constants)) for id in ids)
