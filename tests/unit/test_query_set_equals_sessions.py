"""A set returns what its queries return alone, however rows are cut, and whatever comes, goes or is restored in between."""

from __future__ import annotations

import pyarrow as pa
import pytest
from benchmarks.query_sets import made, trades

import ostinato as ost

pytestmark = pytest.mark.filterwarnings("ignore")
QUERIES = 30


@pytest.fixture(scope="module")
def ticks() -> pa.Table:
    """Few symbols, so that one row is of many rules."""
    table = trades(1_500)
    few = [f"S{int(symbol[1:]) % 12}" for symbol in table["symbol"].to_pylist()]
    return table.set_column(1, "symbol", pa.array(few))


@pytest.fixture(scope="module")
def queries(ticks: pa.Table) -> ost.QuerySet:
    return made(QUERIES, ticks)


@pytest.fixture(scope="module")
def alone(ticks: pa.Table, queries: ost.QuerySet) -> dict[str, list[dict]]:
    return {query: _rows([session.push(ticks), session.close()]) for query in queries for session in (queries[query].open(),)}


def _rows(tables: list[pa.Table]) -> list[dict]:
    return sorted((row for table in tables for row in table.to_pylist()), key=str)


def _drive(queries: ost.QuerySet, table: pa.Table, size: int, restored: bool = False) -> dict[str, list[dict]]:
    session = queries.open()
    found: dict[str, list[pa.Table]] = {query: [] for query in queries}
    for number, batch in enumerate(table.to_batches(max_chunksize=size)):
        for query, result in session.push("ticks", batch).items():
            found[query].append(result)
        if restored and number % 3 == 2:
            session = queries.open(snapshot=session.snapshot())
    for query, result in session.close().items():
        found[query].append(result)
    return {query: _rows(tables) for query, tables in found.items()}


def test_the_rules_find_something(alone: dict[str, list[dict]]) -> None:
    assert sum(bool(rows) for rows in alone.values()) > QUERIES // 3


@pytest.mark.parametrize("size", [1, 13, 400, 1_500])
def test_however_rows_are_cut(ticks: pa.Table, queries: ost.QuerySet, alone: dict[str, list[dict]], size: int) -> None:
    assert _drive(queries, ticks, size) == alone


@pytest.mark.parametrize("size", [90, 400])
def test_restored_in_between(ticks: pa.Table, queries: ost.QuerySet, alone: dict[str, list[dict]], size: int) -> None:
    assert _drive(queries, ticks, size, restored=True) == alone


@pytest.mark.parametrize("left", [1, 2, 6])
def test_those_that_are_left_do_not_notice_that_others_go(ticks: pa.Table, alone: dict[str, list[dict]], left: int) -> None:
    queries = made(QUERIES, ticks)
    session = queries.open()
    found: dict[str, list[pa.Table]] = {query: [] for query in queries}
    for number, batch in enumerate(ticks.to_batches(max_chunksize=75)):
        for query, result in session.push("ticks", batch).items():
            found[query].append(result)
        if number == 8:
            for query in list(queries)[: QUERIES - left]:
                queries.remove(query)
    for query, result in session.close().items():
        found[query].append(result)
    for query in queries:
        assert _rows(found[query]) == alone[query]


def test_time_alone_decides(ticks: pa.Table, queries: ost.QuerySet) -> None:
    """A watermark ends what is begun, in partitions that get no rows as well."""
    session, apart = queries.open(), {query: queries[query].open() for query in queries}
    for batch in ticks.to_batches(max_chunksize=300):
        assert _shown(session.push("ticks", batch)) == _shown({query: one.push(batch) for query, one in apart.items()})
        last = batch["ts"][-1].as_py()
        assert _shown(session.advance(last + 1)) == _shown({query: one.advance(last + 1) for query, one in apart.items()})


def _shown(tables: dict[str, pa.Table]) -> dict[str, list[dict]]:
    return {query: _rows([table]) for query, table in tables.items() if table.num_rows}
