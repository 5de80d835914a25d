"""Results that are computed as far as they are read."""

from __future__ import annotations

from itertools import islice

import pyarrow as pa
import pytest

import ostinato as ost

ANY = "PATTERN SEQ(A+ a[ ], A b) WHERE skip_till_any_match(a[ ], b) { %s }"
pytestmark = pytest.mark.filterwarnings("ignore::ostinato.ExplosionWarning")
NOT_LISTED = {
    "compact": ANY % "a[i].v >= 0",
    "runs": ANY % "b.v > a[1].v",
    "negation": "PATTERN SEQ(A+ a[ ], ~(A x), A b) WHERE skip_till_any_match(a[ ], x, b) { x.v > b.v } WITHIN 100",
}


def rows(count: int) -> pa.Table:
    return pa.table({"ts": range(count), "kind": ["A"] * count, "v": range(count)})


def matched(text: str, count: int, **options) -> ost.Result:
    return ost.match(text, t=rows(count), type_by="kind", **options)


def events(batches) -> list[tuple]:
    found = [row for batch in batches for row in batch.to_pylist()]
    return [(tuple(event["seq"] for event in row["a"]), row["b"]["seq"]) for row in found]


@pytest.mark.parametrize("text", NOT_LISTED.values(), ids=list(NOT_LISTED))
def test_more_matches_than_could_be_listed_are_read_one_after_the_other(text: str) -> None:
    found = matched(text, 90, lazy=True, budget=ost.Budget(bytes=8_000_000))
    read = events(islice(found.batches(), 30))
    assert len(set(read)) == len(read) > 1_000
    assert all(a[-1] < b and list(a) == sorted(set(a)) for a, b in read)
    assert [b for _, b in read] == sorted(b for _, b in read)  # by completing event
    with pytest.raises(ost.BudgetError):
        found.to_arrow()


@pytest.mark.parametrize("text", NOT_LISTED.values(), ids=list(NOT_LISTED))
def test_all_of_it_is_what_the_call_gives_at_once(text: str) -> None:
    whole, lazily = matched(text, 12), matched(text, 12, lazy=True)
    assert pa.Table.from_batches(lazily.batches(), lazily.schema).to_pylist() == whole.to_arrow().to_pylist()
    assert lazily.metrics == whole.metrics
    assert lazily.to_arrow().to_pylist() == list(whole) and len(lazily) == len(whole)
    assert repr(lazily) == repr(whole)
    assert sum(batch.num_rows for batch in whole.batches()) == len(whole)


def test_small_pieces_have_every_match_once() -> None:
    """Pieces cut the matches of one event apart."""
    budget = ost.Budget(bytes=3_000_000)
    pieces = list(matched(ANY % "a[i].v >= 0", 15, lazy=True, budget=budget).batches())
    assert len(pieces) > 3
    assert sorted(events(pieces)) == sorted(events(matched(ANY % "a[i].v >= 0", 15).batches()))


def test_errors_come_when_it_is_read() -> None:
    found = ost.match("PATTERN SEQ(A a, A b) WHERE a.v < b.v / 0", t=rows(3), type_by="kind", lazy=True)
    assert found.columns[:3] == ["match_id", "start_ts", "end_ts"]
    assert list(found.batches()) == []
    with pytest.raises(ost.OstinatoError, match="lazy"):
        ost.match("PATTERN SEQ(A a)", t=rows(3), type_by="kind", lazy=rows(3))
    with pytest.raises(ost.OstinatoError, match="lazy"):
        ost.match("SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES COUNT(*) AS n PATTERN (A))", t=rows(3), lazy=True)


def test_a_session_in_parts() -> None:
    query = ost.compile(ANY % "a[i].v >= 0", {"t": rows(1).schema}, type_by="kind")
    session, at_once = query.open(budget=ost.Budget(bytes=3_000_000)), query.open()
    found = [row for table in session.push_in_parts(rows(14)) for row in table.to_pylist()]
    assert len(found) == at_once.push(rows(14)).num_rows
    assert [row for table in session.close_in_parts() for row in table.to_pylist()] == []
    session = query.open(budget=ost.Budget(bytes=100_000))
    with pytest.raises(ost.BudgetError):
        session.push(rows(60))
    with pytest.raises(ost.StateError, match="stopped at an error"):  # it is not used half-way
        session.push(rows(1))
