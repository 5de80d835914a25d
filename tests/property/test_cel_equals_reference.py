"""Random CEL texts: the engine finds what the reference finds, however rows come."""

from __future__ import annotations

import warnings
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.property.cel_meaning import bag, lowered, result_schema
from tests.property.cel_texts import SCHEMAS, rows, tables, texts

import ostinato as ost
from ostinato.base.errors import UnsupportedError
from ostinato.reference.event_streams import text_rows

CALM = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def compiled(text: str) -> ost.Query:
    """What no engine offers is refused when it is compiled."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ost.compile(text, SCHEMAS, language="cel")
        except UnsupportedError:
            assume(False)
            raise


def expected(text: str, given_rows: dict[str, list[dict[str, Any]]]) -> list[str]:
    return bag(text_rows(lowered(text, SCHEMAS), given_rows))


def found(outputs: list[pa.Table]) -> list[str]:
    return bag(pa.concat_tables(outputs).to_pylist())


def read_by(query: ost.Query) -> set[str]:
    """The streams from outside that a program reads."""
    return {source.stream for reads in query.program.inputs for source in reads.sources if source.operator < 0} | {
        reads.stream for reads in query.program.inputs if not reads.sources
    }


@CALM
@given(texts(), rows())
def test_a_match_over_tables(text, given) -> None:
    query = compiled(text)
    assert query.output_schema == result_schema(lowered(text, SCHEMAS)[-1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = ost.match(text, language="cel", streams=tables(given)).to_arrow()
    assert result.schema == query.output_schema
    assert bag(result.to_pylist()) == expected(text, given)


@CALM
@given(texts(), rows(), st.data())
def test_a_session_over_pieces(text, given, data) -> None:
    """Rows in the order of time, streams in any order within it, cut anywhere, with snapshots between; those of one time in any order."""
    query = compiled(text)
    read = read_by(query)
    ordered = data.draw(_in_time({name: given[name] for name in given if name in read}))
    session = query.open(lateness=0)
    outputs = []
    for name, row in ordered:
        outputs.append(session.push(name, pa.Table.from_pylist([row], SCHEMAS[name])))
        if data.draw(st.integers(0, 5)) == 0:
            session = query.open(snapshot=session.snapshot())
    outputs.append(session.close())
    assert found(outputs) == expected(text, given)


@CALM
@given(texts(), rows(), st.integers(1, 6), st.data())
def test_a_session_out_of_order(text, given, lateness, data) -> None:
    query = compiled(text)
    read = read_by(query)
    ordered = data.draw(_in_time({name: given[name] for name in given if name in read}))
    delayed = sorted(ordered, key=lambda row: _time(row[1]) + data.draw(st.integers(0, lateness)))
    session = query.open(lateness=lateness)
    outputs = [session.push(name, pa.Table.from_pylist([row], SCHEMAS[name])) for name, row in delayed]
    assert found([*outputs, session.close()]) == expected(text, given)


def _time(row: dict[str, Any]) -> int:
    return int(row["ts"] if "ts" in row else row["end_ts"])


def _in_time(given_rows: dict[str, list[dict[str, Any]]]) -> st.SearchStrategy[list[tuple[str, dict[str, Any]]]]:
    """All rows with the names of their streams, by time; in any order within an epoch."""
    named = [(name, row) for name, found_rows in given_rows.items() for row in found_rows]
    return st.permutations(named).map(lambda mixed: sorted(mixed, key=lambda row: _time(row[1])))
