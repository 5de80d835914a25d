"""The queries of a session that are rows of shapes' tables."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from ostinato.program.program import Program
from ostinato.program.shapes.member import Member
from ostinato.program.shapes.query_table import packed
from ostinato.program.shapes.shape import Shape, shape_names, with_shape
from ostinato.runtime.queries.split import split
from ostinato.runtime.session.graph import Graph
from ostinato.runtime.session.shape_rows import ShapeRows


class SetMembers:
    """Comes and goes without a change of the graph, once the graph has the shape."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.look()

    def look(self) -> None:
        """The graph has changed."""
        self._rows = {source.shape: source for source in self._graph.inputs if isinstance(source, ShapeRows)}
        self._of_operator: dict[int, ShapeRows] = {}
        for number, operator in enumerate(self._graph.operators):
            if isinstance(operator.source, ShapeRows):
                self._of_operator[number] = operator.source

    def __contains__(self, query: object) -> bool:
        return any(query in rows.queries for rows in self._rows.values())

    def __iter__(self) -> Iterator[str]:
        return (query for rows in self._rows.values() for query in rows.queries.queries)

    def with_shapes(self, program: Program, members: Collection[Member]) -> Program:
        """With operators for shapes that are not there yet."""
        known = set(shape_names(program))
        new: dict[str, Shape] = {member.shape.name: member.shape for member in members if member.shape.name not in known}
        for shape in new.values():
            program = with_shape(program, shape, b"")
        return program

    def add(self, members: Mapping[str, Member]) -> None:
        for query, member in members.items():
            self._rows[member.shape.name].add(query, member.constants)

    def remove(self, query: str) -> bool:
        """Whether it was one."""
        for rows in self._rows.values():
            if query in rows.queries:
                rows.queries.remove(query)
                return True
        return False

    def is_shape(self, operator: int) -> bool:
        return operator in self._of_operator

    def split(self, operator: int, found: pa.Table) -> dict[str, pa.Table]:
        pattern = self._graph.operators[operator].pattern
        return split(found, self._of_operator[operator].queries, pattern.measures.code is None)

    def current(self, program: Program) -> Program:
        """With the tables as they are now."""
        inputs = [
            replace(reads, queries=packed(self._rows[reads.shape].queries.table())) if reads.shape else reads for reads in program.inputs
        ]
        return replace(program, inputs=tuple(inputs))

    def counts(self) -> Iterator[tuple[str, int, int]]:
        """Of each query, its matches, and the partitions in which it has begun something."""
        for rows in self._rows.values():
            table = rows.queries
            emitted, busy = table.emitted.tolist(), rows.busy_keys().tolist()
            yield from ((query, emitted[number], busy[number]) for number, ids in enumerate(table.ids) for query in ids)

    def counters(self) -> dict[str, Any]:
        """Of the shapes: how many queries there are, and for how many of them rows were taken."""
        return {
            "shapes": len(self._rows),
            "shaped_queries": sum(rows.queries.query_count for rows in self._rows.values()),
            "pairs": sum(rows.pairs for rows in self._rows.values()),
        }
