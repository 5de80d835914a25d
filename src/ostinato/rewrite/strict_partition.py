"""Strict contiguity is a matter of the whole stream, so its equivalence test cannot group rows: it becomes a condition.

Nothing else changes by leaving the partition out: all runs that are alive contain the latest event, hence belong to one partition,
and a run without gaps counts the same events in the stream as in its partition. A query with negation stays as it is: before and
after a match the window goes on, and there the events of the partition are not those of the stream."""

from __future__ import annotations

from dataclasses import replace

from ostinato.algebra.pattern import variables_of
from ostinato.algebra.policies import Selection
from ostinato.algebra.query import Condition, Definition, MatchQuery
from ostinato.expr.nodes import Anchor, Call, Expr, Field, Nav, current
from ostinato.expr.types import BOOL


def rewrite(query: MatchQuery) -> MatchQuery:
    if query.selection is not Selection.STRICT or not query.partition or query.negations:
        return query
    tests: list[Condition] = []
    for column in query.partition:
        field = Field(column, type=query.schema.type_of(column))
        here = current(field)
        first = Nav(None, Anchor.FIRST, 0, 0, field, type=field.type)
        tests += [Condition(_call("is_not_null", here)), Condition(_call("eq", here, first))]
    definitions = tuple(_with(query.definition(name), tests) for name in variables_of(query.pattern))
    return replace(query, partition=(), definitions=definitions)


def _with(definition: Definition, tests: list[Condition]) -> Definition:
    return replace(definition, conditions=(*tests, *definition.conditions))


def _call(name: str, *args: Expr) -> Call:
    return Call(name, args, type=BOOL)
