"""What automata find is what CEL means: however instances are found, rows are cut, mixed up, or the session is saved in between."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.cel_meaning import bag, lowered, meaning, result_schema
from tests.property.cel_texts import SCHEMAS, rows, tables, texts

from ostinato.compiler import compile
from ostinato.hosts import embedded
from ostinato.query import Query
from ostinato.runtime.limits.budget import Budget

LEFT_OUT = ((), ("equality_key",), ("search",), ("equality_key", "search"))
Rows = dict[str, list[dict[str, Any]]]


@pytest.mark.parametrize("without", LEFT_OUT)
@settings(max_examples=25, deadline=None)
@given(texts(), rows())
def test_all_rows_at_once(without: tuple[str, ...], text: str, given: Rows) -> None:
    query = compile(text, SCHEMAS, language="cel", without=without)
    assert bag(found(query, tables(given))) == bag(meaning(text, SCHEMAS, given))


@settings(max_examples=60, deadline=None)
@given(texts(), rows(), st.randoms(use_true_random=False))
def test_any_cut_any_order_and_saved_in_between(text: str, given: Rows, random: Any) -> None:
    """Rows wait until the watermark passes them, and come mixed up before."""
    query = compile(text, SCHEMAS, language="cel")
    session = query.open(lateness=None)
    outputs = []
    for stream, piece, to_come in _shuffled(query, given, random):
        outputs.append(session.push(stream, piece))
        if to_come is not None and random.random() < 0.3:
            outputs.append(session.advance(to_come))
        if random.random() < 0.3:
            session = query.open(snapshot=session.snapshot())
    outputs.append(session.close())
    assert bag(pa.concat_tables(outputs).to_pylist()) == bag(meaning(text, SCHEMAS, given))


@settings(max_examples=40, deadline=None)
@given(texts(), rows(), st.randoms(use_true_random=False))
def test_row_by_row_in_order(text: str, given: Rows, random: Any) -> None:
    """Epochs are cut anywhere, and their rows come in any order; results come in the order of detection."""
    query = compile(text, SCHEMAS, language="cel")
    session = query.open(lateness=0)
    outputs = []
    for stream, row in _in_time(query, given, random):
        outputs.append(session.push(stream, pa.Table.from_pylist([row], SCHEMAS[stream])))
        if random.random() < 0.2:
            session = query.open(snapshot=session.snapshot())
    outputs.append(session.close())
    shown = pa.concat_tables(outputs)
    assert bag(shown.to_pylist()) == bag(meaning(text, SCHEMAS, given))
    ends = shown.column("end_ts").to_pylist()
    assert ends == sorted(ends)


@settings(max_examples=20, deadline=None)
@given(texts(), rows())
def test_in_parts_and_by_the_host(text: str, given: Rows) -> None:
    wanted = bag(meaning(text, SCHEMAS, given))
    lazy = embedded.match(text, language="cel", streams=tables(given), lazy=True)
    assert bag([row for batch in lazy.batches() for row in batch.to_pylist()]) == wanted
    table = embedded.match(text, language="cel", streams=tables(given)).to_arrow()
    assert bag(table.to_pylist()) == wanted
    assert table.schema == result_schema(lowered(text, SCHEMAS)[-1])


def found(query: Query, given: Mapping[str, pa.Table], budget: Budget | None = None) -> list[dict[str, Any]]:
    session = query.open(lateness=None, budget=budget)
    outputs = [session.push(stream, given[stream]) for stream in _read(query)]
    return pa.concat_tables([*outputs, session.close()]).to_pylist()


def _read(query: Query) -> list[str]:
    """The streams from outside."""
    inputs = query.program.inputs
    named = [source.stream for reads in inputs for source in reads.sources if source.operator < 0]
    return list(dict.fromkeys([*named, *(reads.stream for reads in inputs if not reads.sources)]))


def _time(stream: str) -> str:
    return "ts" if "ts" in SCHEMAS[stream].names else "end_ts"


def _shuffled(query: Query, given: Rows, random: Any) -> Iterator[tuple[str, pa.Table, int | None]]:
    """Rows of a stream, and the earliest time of those that have not come yet."""
    waiting = {stream: random.sample(given[stream], len(given[stream])) for stream in _read(query)}
    while any(waiting.values()):
        stream = random.choice([name for name, left in waiting.items() if left])
        count = random.randint(1, 3)
        piece, waiting[stream] = waiting[stream][:count], waiting[stream][count:]
        to_come = min((row[_time(name)] for name, left in waiting.items() for row in left), default=None)
        yield stream, pa.Table.from_pylist(piece, SCHEMAS[stream]), to_come


def _in_time(query: Query, given: Rows, random: Any) -> list[tuple[str, dict[str, Any]]]:
    listed = [(stream, row) for stream in _read(query) for row in given[stream]]
    random.shuffle(listed)
    return sorted(listed, key=lambda one: one[1][_time(one[0])])
