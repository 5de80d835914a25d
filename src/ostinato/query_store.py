"""The queries of a set: few compiled ones, and many that are rows of shapes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from ostinato.program.constants_table import packed
from ostinato.program.program import Program, alone
from ostinato.program.shapes.member import Member
from ostinato.program.shapes.shape import Shape, Shaped, operator_name, program_of_shape, shaped
from ostinato.query import Query
from ostinato.rules.rule import Rule
from ostinato.runtime.queries.query_table import QueryTable

NO_OPTIONS: Mapping[str, Any] = {}  # the same for all queries
SHARED_FROM = 4  # queries of a shape that are evaluated as one; fewer share rows and conditions with all others instead


class Said(NamedTuple):
    """What somebody has added: a text and the options of `ost.compile`."""

    text: str
    options: Mapping[str, Any]


class Shared(NamedTuple):
    """A query of a shape that many have: it is compiled again when somebody asks for it."""

    said: Said
    member: Member


class NewQuery(NamedTuple):
    """A rule, and what it says: a compiled query, or a row of a shape that is known from others."""

    rule: Rule
    meaning: Query | Member
    output: pa.Schema

    @property
    def said(self) -> Said:
        return Said(self.rule.text, self.rule.told or NO_OPTIONS)

    @property
    def program(self) -> Program:
        """That of the query alone; of a row of a shape with the constants as columns."""
        return self.meaning.program if isinstance(self.meaning, Query) else alone(self.meaning.shape.body)


class ShapeGroup:
    """The queries of a shape. Few are kept as they were compiled."""

    def __init__(self, shape: Shape, output: pa.Schema) -> None:
        self.shape = shape
        self.output = output
        self.few: dict[str, Query] = {}
        self.count = 0

    @property
    def is_shared(self) -> bool:
        return self.count >= SHARED_FROM


class QueryStore:
    """By name, in the order in which they were added. `by_shape`: whether those of a shape are evaluated as one."""

    def __init__(self, by_shape: bool = True) -> None:
        self._by_shape = by_shape
        self._entries: dict[str, Query | Shared] = {}
        self._groups: dict[str, ShapeGroup] = {}
        self._why_not: dict[str, str] = {}  # of those that are no part of a shape

    def __contains__(self, query: object) -> bool:
        return query in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, query: str) -> Query | Shared:
        return self._entries[query]

    def add(self, id: str, query: Query, said: Said) -> Program | Member:
        """As a session takes it."""
        found = shaped(query.program) if self._by_shape and query.around is None else Shaped(None, why_not="shapes are switched off")
        if found.shape is None:
            self._entries[id], self._why_not[id] = query, found.why_not
            return query.program
        group = self._groups.setdefault(found.shape.name, ShapeGroup(found.shape, query.output_schema))
        member = Member(group.shape, found.constants)
        self.add_member(id, member, said)
        if group.is_shared:
            group.few.clear()
            return member
        group.few[id] = query
        return query.program

    def is_shared(self, shape: Shape) -> bool:
        """Whether a further query of the shape is evaluated with others."""
        return shape.name in self._groups and self._groups[shape.name].is_shared

    def add_member(self, id: str, member: Member, said: Said) -> None:
        """Of a shape that is known here."""
        self._entries[id] = Shared(said, member)
        self._groups[member.shape.name].count += 1

    def remove(self, id: str) -> bool:
        """Whether what it returned is perhaps returned by none any more."""
        entry = self._entries.pop(id)
        self._why_not.pop(id, None)
        if isinstance(entry, Shared):
            group = self._groups[entry.member.shape.name]
            group.count -= 1
            group.few.pop(id, None)
            if group.count:
                return False
            del self._groups[entry.member.shape.name]
        return True

    def reword(self, id: str, said: Said, query: Query | None) -> None:
        """Another text that means the same; `query` is what it was compiled to, if it was."""
        entry = self._entries[id]
        if isinstance(entry, Shared):
            self._entries[id] = entry._replace(said=said)
            few = self._groups[entry.member.shape.name].few
            if few.pop(id, None) is not None and query is not None:
                few[id] = query
        elif query is not None:
            self._entries[id] = query

    def outputs(self, without: Collection[str] = ()) -> Iterator[tuple[str, pa.Schema]]:
        """What queries return, of those of a shape once; with the name of a query. `without` are left out."""
        seen = set()
        for id, entry in self._entries.items():
            if id in without:
                continue
            if isinstance(entry, Query):
                yield id, entry.output_schema
            elif entry.member.shape.name not in seen:
                seen.add(entry.member.shape.name)
                yield id, self._groups[entry.member.shape.name].output

    def parts(
        self, compiled: Callable[[str], Query], shared: Callable[[Shape], bool] = lambda shape: True
    ) -> Iterator[tuple[str, Program]]:
        """Programs alone: of each query, and of all queries of a shape where they are evaluated as one. `compiled` gives the query of a
        name; `shared` says of which shapes."""
        together = {name for name, group in self._groups.items() if group.is_shared and shared(group.shape)}
        members: dict[str, tuple[list[str], list[tuple[Any, ...]]]] = {name: ([], []) for name in together}
        for id, entry in self._entries.items():
            if isinstance(entry, Shared) and entry.member.shape.name in together:
                ids, constants = members[entry.member.shape.name]
                ids.append(id)
                constants.append(entry.member.constants)
            else:
                yield id, (entry if isinstance(entry, Query) else compiled(id)).program
        for name, (ids, constants) in members.items():
            called, table = operator_name(name), QueryTable(self._groups[name].shape.parameters)
            table.add_all(ids, constants, 0, 0)
            yield called, program_of_shape(self._groups[name].shape, packed(table.table()), called)

    def kept(self, id: str) -> Query | None:
        """The query as it was compiled, where that is at hand."""
        entry = self._entries[id]
        return entry if isinstance(entry, Query) else self._groups[entry.member.shape.name].few.get(id)

    def explain(self) -> str:
        """Which queries are evaluated as one, and why others are not."""
        lines = []
        for group in self._groups.values():
            constants = ", ".join(str(column.type) for column in group.shape.parameters)
            how = "evaluated as one" if group.is_shared else f"apart, since fewer than {SHARED_FROM}"
            lines.append(f"shape {group.shape.name}: {group.count} queries, constants ({constants}), {how}")
        lines += [f"{id}: by itself, for {reason}" for id, reason in self._why_not.items()]
        return "\n".join(lines) + "\n"
