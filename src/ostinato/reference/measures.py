"""The output of a query: a row per match."""

from __future__ import annotations

from typing import Any

from ostinato.algebra.pattern import variables_of
from ostinato.algebra.policies import Output, Selection
from ostinato.algebra.query import MatchQuery
from ostinato.expr.evaluate import evaluate as value_of
from ostinato.reference.binding import AtMatch, Binding
from ostinato.reference.match import Match
from ostinato.reference.preferred import preferred_matches
from ostinato.reference.runs import run_matches
from ostinato.reference.stream import ordered
from ostinato.reference.totals import totals


def evaluate(query: MatchQuery, rows: list[dict[str, Any]]) -> list[Match]:
    """The matches of a query over rows, by definition."""
    return preferred_matches(query, rows) if query.selection is Selection.PREFERRED else run_matches(query, rows)


def output(query: MatchQuery, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a query returns: its measures; without measures, for every variable the positions of its rows in the input list."""
    matches = evaluate(query, rows)
    if query.output is Output.COUNT:
        return [{"count": len(matches)}]
    if query.output is Output.AGGREGATES:
        return [totals(query, [_binding(query, rows, match) for match in matches])]
    if query.measures is None:
        return [{variable: match.of(variable) for variable in variables_of(query.pattern)} for match in matches]
    return [_measured(query, rows, match) for match in matches]


def _measured(query: MatchQuery, rows: list[dict[str, Any]], match: Match) -> dict[str, Any]:
    binding = _binding(query, rows, match)
    first = {column: rows[match.start][column] for column in query.partition} if query.measured_partition else {}
    return first | {measure.name: value_of(measure.expr, AtMatch(binding)) for measure in query.measures or ()}


def _binding(query: MatchQuery, rows: list[dict[str, Any]], match: Match) -> Binding:
    partition = [row for row in ordered(query, rows) if row.key == match.key]
    index_of = {row.position: index for index, row in enumerate(partition)}
    return Binding(partition, tuple((index_of[position], variable) for position, variable in match.rows), match.number)
