"""The output of a query: a row per match."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ostinato.algebra.pattern import is_nested, variables_of
from ostinato.algebra.policies import MatchOrder, Output, RowsPerMatch, Selection
from ostinato.algebra.query import MatchQuery
from ostinato.expr.values.evaluate import evaluate as value_of
from ostinato.reference.binding import AtMatch, Binding
from ostinato.reference.match import Match
from ostinato.reference.preferred import preferred_matches
from ostinato.reference.runs import run_matches
from ostinato.reference.stream import ordered, value_at
from ostinato.reference.totals import totals
from ostinato.reference.tree import tree_matches


def evaluate(query: MatchQuery, rows: list[dict[str, Any]]) -> list[Match]:
    """The matches of a query over rows, by definition."""
    if query.selection is Selection.PREFERRED:
        return preferred_matches(query, rows)
    return tree_matches(query, rows) if is_nested(query.pattern) or query.listed is MatchOrder.INTERVAL else run_matches(query, rows)


def output(query: MatchQuery, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a query returns: its measures; without measures, for every variable the positions of its rows in the input list."""
    matches = evaluate(query, rows)
    if query.output is Output.COUNT:
        return [{"count": len(matches)}]
    if query.output is Output.AGGREGATES:
        return [totals(query, [_binding(query, rows, match) for match in matches])]
    if query.measures is None:
        shown = variables_of(query.pattern) if query.shown is None else query.shown
        return [{variable: match.of(variable) for variable in shown} for match in matches]
    if query.rows_per_match is not RowsPerMatch.ONE:
        return every_row(query, rows, matches)
    return [_measured(query, rows, match) for match in matches]


def _measured(query: MatchQuery, rows: list[dict[str, Any]], match: Match) -> dict[str, Any]:
    binding = _binding(query, rows, match)
    first = {column: value_at(rows[match.start], column) for column in query.partition} if query.measured_partition else {}
    shown = first | {measure.name: value_of(measure.expr, AtMatch(binding)) for measure in query.measures or ()}
    return shown | {"timed_out": match.timed_out} if query.timeouts else shown


def every_row(query: MatchQuery, rows: list[dict[str, Any]], matches: list[Match]) -> list[dict[str, Any]]:
    """A row for every row of every match, with the measures as they stand there; for an empty match the row at which it starts. Rows
    that are part of no match come last."""
    found: list[dict[str, Any]] = []
    for match in matches:
        binding = _binding(query, rows, match)
        if not match.rows and query.rows_per_match is not RowsPerMatch.ALL_BUT_EMPTY:
            found.append(_shown(query, rows[match.start], binding))
        for count, (position, _) in enumerate(match.rows, 1):
            if position not in match.hidden:
                found.append(_shown(query, rows[position], replace(binding, mapped=binding.mapped[:count], whole=binding.mapped)))
    if query.rows_per_match is RowsPerMatch.ALL_AND_UNMATCHED:
        covered = {position for match in matches for position in (match.start, *match.positions)}
        found += [_shown(query, row, None) for position, row in enumerate(rows) if position not in covered]
    return found


def _shown(query: MatchQuery, row: dict[str, Any], binding: Binding | None) -> dict[str, Any]:
    """The partition and order columns, the measures, the other columns. Outside of any match measures are null."""
    leading = {column: value_at(row, column) for column in (*query.partition, *(key.column for key in query.order))}
    measured = {measure.name: None if binding is None else value_of(measure.expr, AtMatch(binding)) for measure in query.measures or ()}
    return leading | measured | {column: value for column, value in row.items() if column not in leading}


def _binding(query: MatchQuery, rows: list[dict[str, Any]], match: Match) -> Binding:
    partition = [row for row in ordered(query, rows) if row.key == match.key]
    index_of = {row.position: index for index, row in enumerate(partition)}
    mapped = tuple((index_of[position], variable) for position, variable in match.rows)
    return Binding(partition, mapped, match.number, unions=query.unions)
