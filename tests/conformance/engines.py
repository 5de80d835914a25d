"""Who can run a case. A host joins the suite by one class and one entry in the registry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import pyarrow as pa
from tests.conformance.case import Case, Outcome, Rows
from tests.conformance.compiled_case import compiled
from tests.conformance.match_times import variables_of

from ostinato import reference
from ostinato.algebra.policies import RowsPerMatch
from ostinato.algebra.query import MatchQuery
from ostinato.expr.types import BOOL, DATE, FLOAT, INT, STRING, TIMESTAMP
from ostinato.expr.typing.schema import Schema
from ostinato.hosts import embedded
from ostinato.lang import sase, sql
from ostinato.query import Query

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
    if case.language != "sql":
        return compiled(case).algebra
    split_statement = sql.split_statement(case.text)
    assert split_statement.bare, "the reference runs nothing around the clause"
    (clause,) = split_statement.clauses
    return sql.lower(sql.parse_clause(clause.body, clause.offset), schema, case.stream)


def output_columns(query: MatchQuery) -> tuple[str, ...]:
    if query.measures is None:
        return ("count",)
    measured = tuple(measure.name for measure in query.measures)
    if query.rows_per_match is not RowsPerMatch.ONE:
        leading = tuple(dict.fromkeys((*query.partition, *(key.column for key in query.order))))
        return (*leading, *measured, *(column for column, _ in query.schema.columns if column not in leading))
    return (*query.partition, *measured) if query.measured_partition else measured


class SessionEngine:
    """The compiled program in a session, rows pushed a few at a time."""

    name = "session"
    batch = 3

    def run(self, cases: Sequence[Case]) -> list[Outcome]:
        return [attempt(self._answer, case) for case in cases]

    def _answer(self, case: Case) -> Any:
        table = case.table
        query = compiled(case)
        session = query.open(lateness=0)
        # without lateness the rows of a stream come in order; within a table they need not
        outputs = [session.push(part) for part in self._parts(query, table)] + [session.close()]
        return table_found(case, pa.concat_tables(outputs))

    def _parts(self, query: Query, table: pa.Table) -> list[pa.Table]:
        order = [(key.column, "descending" if key.descending else "ascending") for key in query.algebra.order]
        if query.algebra.time is None or len(order) > 1:
            return [table]
        table = table.append_column("__row", pa.array(range(table.num_rows), pa.int64()))
        table = table.sort_by([*order, ("__row", "ascending")]).drop_columns(["__row"])
        return [table.slice(start, self.batch) for start in range(0, table.num_rows, self.batch)]


class EmbeddedEngine:
    """The host in this process, over Arrow tables."""

    name = "embedded"

    def run(self, cases: Sequence[Case]) -> list[Outcome]:
        return [attempt(self._answer, case) for case in cases]

    def _answer(self, case: Case) -> Any:
        streams = {case.stream: case.table}
        if case.language == "sql":
            return table_found(case, embedded.sql(case.text, **streams).to_arrow())
        return table_found(case, embedded.match(case.text, language=case.language, **case.options, **streams).to_arrow())


def table_found(case: Case, table: pa.Table) -> Any:
    """The output of a host as a case wants it: event ids by variable, or rows."""
    if not case.wants_matches:
        return Rows(tuple(table.column_names), tuple(tuple(row.values()) for row in table.to_pylist()))
    time = case.options.get("time", "ts")  # the engine's own default
    whole = case.language != "neel" or " RETURN " not in case.text
    found = [variables_of(row, time if time in dict(case.columns) else None, whole) for row in table.to_pylist()]
    ids = table.column("match_id").to_pylist()
    assert len(set(ids)) == len(ids), f"{case.name}: every match has a number of its own, {ids}"
    return [{name: [event["id"] for event in events] for name, events in match.items()} for match in found]
