"""The queries of a session that are rows of shapes' tables."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

import pyarrow as pa

from ostinato.program.constants_table import packed
from ostinato.program.program import Program
from ostinato.program.shapes.member import Member
from ostinato.program.shapes.shape import Shape, operator_name, program_of_shape, with_part
from ostinato.runtime.queries.split import split
from ostinato.runtime.session.graph import Graph
from ostinato.runtime.session.shape_rows import ShapeRows


class SetMembers:
    """Comes and goes without a change of the graph, once the graph has the shape."""

    def __init__(self, graph: Graph, splits: bool = True) -> None:
        """`splits`: results are told apart by names; else those of a shape are one table, with the numbers of queries."""
        self._graph = graph
        self._splits = splits
        self.look()

    def look(self) -> None:
        """The graph has changed."""
        self._of_operator: dict[int, ShapeRows] = {}
        for number, operator in enumerate(self._graph.operators):
            if isinstance(operator.source, ShapeRows):
                self._of_operator[number] = operator.source
        self._rows = list(self._of_operator.values())
        self._latest = {rows.shape: rows for rows in self._rows}  # which takes the queries that come

    def __contains__(self, query: object) -> bool:
        return any(query in rows.queries for rows in self._rows)

    def __iter__(self) -> Iterator[str]:
        return (query for rows in self._rows for query in rows.queries.queries)

    def with_shapes(self, program: Program, members: Collection[Member]) -> Program:
        """With operators for shapes that are not there yet, or whose operators take no more queries now."""
        wanted: dict[str, Shape] = {member.shape.name: member.shape for member in members}
        names = {operator.name for operator in program.operators}
        for shape in wanted.values():
            if shape.name not in self._latest or not self._latest[shape.name].takes_newcomers:
                name = next(name for number in count() if (name := operator_name(shape.name, number)) not in names)
                program = with_part(program, name, program_of_shape(shape, b"", name))
        return program

    def add(self, members: Mapping[str, Member]) -> None:
        of_shapes: dict[str, list[str]] = {}
        for query, member in members.items():
            of_shapes.setdefault(member.shape.name, []).append(query)
        for shape, queries in of_shapes.items():
            self._latest[shape].add(queries, [members[query].constants for query in queries])

    def remove(self, query: str) -> bool:
        """Whether it was one."""
        for rows in self._rows:
            if query in rows.queries:
                rows.queries.remove(query)
                return True
        return False

    def is_shape(self, operator: int) -> bool:
        return operator in self._of_operator

    def split(self, operator: int, found: pa.Table) -> dict[str, pa.Table]:
        pattern = self._graph.operators[operator].pattern
        if not self._splits:
            return {self._graph.program.operators[operator].name: found}
        return split(found, self._of_operator[operator].queries, pattern.measures.code is None)

    def current(self, program: Program) -> Program:
        """With the tables as they are now."""
        inputs = [
            replace(reads, queries=packed(source.queries.table())) if isinstance(source, ShapeRows) else reads
            for reads, source in zip(program.inputs, self._graph.inputs, strict=True)
        ]
        return replace(program, inputs=tuple(inputs))

    def counts(self) -> Iterator[tuple[str, int, int]]:
        """Of each query, its matches, and the partitions in which it has begun something."""
        for rows in self._rows:
            table = rows.queries
            emitted, busy = table.emitted.tolist(), rows.busy_keys().tolist()
            yield from ((query, emitted[number], busy[number]) for number, ids in enumerate(table.ids) for query in ids)

    def counters(self) -> dict[str, Any]:
        """Of the shapes: how many queries there are, and for how many of them rows were taken."""
        return {
            "shapes": len(self._rows),
            "shaped_queries": sum(rows.queries.query_count for rows in self._rows),
            "pairs": sum(rows.pairs for rows in self._rows),
        }
