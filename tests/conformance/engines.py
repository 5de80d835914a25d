"""Who can run a case. A host joins the suite by one class and one entry in `ENGINES`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from tests.conformance.case import Case, Outcome, Rows

from ostinato import reference
from ostinato.algebra.query import MatchQuery
from ostinato.expr.schema import Schema
from ostinato.expr.types import BOOL, DATE, FLOAT, INT, STRING, TIMESTAMP
from ostinato.lang import sase, sql

TYPES = {"string": STRING, "int": INT, "double": FLOAT, "boolean": BOOL, "timestamp": TIMESTAMP, "date": DATE}


class Engine(Protocol):
    """Runs many cases in one call, so that a host may put many into one job. Errors become outcomes, they are not raised."""

    name: str

    def run(self, cases: Sequence[Case]) -> list[Outcome]: ...


def attempt(answer: Callable[[Case], Any], case: Case) -> Outcome:
    """One case by itself; whatever it raises is its outcome."""
    try:
        return Outcome(found=answer(case))
    except Exception as error:  # a crash is a finding, and is reported with its case
        return Outcome(error=error)


class ReferenceEngine:
    """The meaning itself: text, algebra, definition."""

    name = "reference"

    def run(self, cases: Sequence[Case]) -> list[Outcome]:
        return [attempt(self._answer, case) for case in cases]

    def _answer(self, case: Case) -> Any:
        query = algebra_of(case)
        rows = case.dicts
        found = reference.output(query, rows)
        if case.wants_matches:
            return [{name: [rows[position]["id"] for position in positions] for name, positions in match.items()} for match in found]
        return Rows(output_columns(query), tuple(tuple(row.values()) for row in found))


def algebra_of(case: Case) -> MatchQuery:
    """The query that a case means, with the types of its columns."""
    schema = Schema(tuple((name, TYPES[kind]) for name, kind in case.columns))
    if case.language == "sase":
        return sase.lower(sase.parse(case.text), {case.stream: schema}, **case.options)
    cut = sql.cut(case.text)
    assert cut.bare, "the reference runs nothing around the clause"
    (clause,) = cut.clauses
    return sql.lower(sql.parse_clause(clause.body, clause.offset), schema, case.stream)


def output_columns(query: MatchQuery) -> tuple[str, ...]:
    if query.measures is None:
        return ("count",)
    measured = tuple(measure.name for measure in query.measures)
    return (*query.partition, *measured) if query.measured_partition else measured


ENGINES: dict[str, Callable[[], Engine]] = {"reference": ReferenceEngine}
