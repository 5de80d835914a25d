"""The canonical text of situations and of patterns of them: one clause a line."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.algebra.allen import Constraint, Related
from ostinato.algebra.input_text import name_text, part_text
from ostinato.algebra.policies import NullKeys
from ostinato.algebra.query import Measure
from ostinato.algebra.situations import Duration, MatchIntervals, SituationDefinition, Situations, SituationStream
from ostinato.expr.text import to_text as expression_text


def interval_clauses(query: MatchIntervals) -> Iterator[str]:
    yield from situation_clauses(query.situations)
    yield from map(_constraint, query.constraints)
    if query.within is not None:
        yield f"WITHIN {query.within.length}"
    yield f"LATENCY {query.latency.value}"
    yield from _measures(query.measures)


def stream_clauses(query: SituationStream) -> Iterator[str]:
    yield from situation_clauses(query.situations)
    yield "EACH SITUATION"
    yield from _measures(query.measures)


def _measures(measures: tuple[Measure, ...]) -> Iterator[str]:
    yield "MEASURES"
    yield from (f"  {name_text(measure.name)} = {expression_text(measure.expr)}" for measure in measures)


def situation_clauses(situations: Situations) -> Iterator[str]:
    columns = ", ".join(f"{name_text(name)} {type_}" for name, type_ in situations.schema.columns)
    yield f"FROM {name_text(situations.stream)} ({columns})"
    yield from map(part_text, situations.parts)
    if situations.partition:
        never = " NULLS NEVER" if situations.null_keys is NullKeys.NEVER else ""
        yield f"PARTITION BY {', '.join(map(name_text, situations.partition))}{never}"
    yield f"TIME {name_text(situations.time)}"
    for definition in situations.definitions:
        yield f"SITUATION {name_text(definition.name)}{_source(definition)}"
        yield f"  {expression_text(definition.condition)}"
        if definition.duration != Duration():
            yield f"  LASTS {_duration(definition.duration)}"


def _source(definition: SituationDefinition) -> str:
    sources = f" OF {', '.join(map(name_text, definition.sources))}" if definition.sources else ""
    return sources + ("" if definition.start is None else f" START {name_text(definition.start)}")


def _duration(duration: Duration) -> str:
    least = () if duration.at_least is None else (f">= {duration.at_least}",)
    most = () if duration.at_most is None else (f"<= {duration.at_most}",)
    return " AND ".join((*least, *most))


def _constraint(constraint: Constraint) -> str:
    relations = "; ".join(map(_related, constraint.allowed))
    return f"RELATE {name_text(constraint.first)} {relations} {name_text(constraint.second)}"


def _related(related: Related) -> str:
    bounds = "" if related.bounds is None else f"[{related.bounds.least}, {related.bounds.most}]"
    return f"{related.relation.value}{bounds}"
