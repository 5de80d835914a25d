"""A TPStream tree back to text, one clause a line. Parsing the text gives the same tree."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.lang.situations.relations import Bounded
from ostinato.lang.situations.render_definition import columns_text, definition_text, length_text, returned_text, stream_text
from ostinato.lang.situations.render_expression import render_name
from ostinato.lang.tpstream.syntax import Constraint, TpstreamQuery


def render(query: TpstreamQuery) -> str:
    return "\n".join(_clauses(query.original or query))


def _clauses(query: TpstreamQuery) -> Iterator[str]:
    partition = f" PARTITION BY {columns_text(query.partition)}" if query.partition else ""
    yield f"FROM {', '.join(map(stream_text, query.streams))}{partition}"
    yield f"DEFINE {', '.join(map(definition_text, query.definitions))}"
    if query.has_pattern:
        alone = "" if query.alone is None else render_name(query.alone.name)
        yield f"PATTERN {alone or ' AND '.join(map(_constraint, query.constraints))}"
    if query.window is not None:
        yield f"WITHIN {length_text(query.window)}"
    if query.returns:
        yield f"RETURN {', '.join(map(returned_text, query.returns))}"
    if query.published is not None:
        yield f"PUBLISH {render_name(query.published.name)}"


def _constraint(constraint: Constraint) -> str:
    relations = ";".join(map(_bounded, constraint.allowed))
    return f"{render_name(constraint.first.name)} {relations} {render_name(constraint.second.name)}"


def _bounded(bounded: Bounded) -> str:
    if bounded.least is None or bounded.most is None:
        return bounded.relation.value
    return f"{bounded.relation.value}[{length_text(bounded.least)}, {length_text(bounded.most)}]"
