"""Queries that begin alike: what is followed once, and what becomes of it when some of them fail, go, or are restored."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.program.verification.verify import verify_pattern
from ostinato.runtime.session.set_session import SetSession

SCHEMA = pa.schema([("ts", pa.int64()), ("k", pa.string()), ("x", pa.int64())])
FALL = "(SELECT k AS k0, x_1 AS high, x, k FROM t FOLD {$2.k = $.k, $2.x < $.x} t)"
RISE = f"{FALL} NEXT {{$2.k1 = $1.k0 AND $2.x1 > $1.x}} (SELECT k AS k1, x AS x1 FROM t)"
TEXTS = {
    "fall": f"SELECT high, x FROM {FALL}",
    "long": f"SELECT high AS h FROM FILTER {{DUR > 1}} ({FALL})",
    "rise": f"SELECT high, x1 FROM {RISE}",
    "recovered": f"SELECT x1 FROM FILTER {{x1 >= high}} ({RISE})",
}


def rows(*listed: tuple[Any, ...]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in listed], SCHEMA)


FIRST = rows((0, "a", 5), (1, "a", 4), (1, "b", 9), (2, "a", 2))
SECOND = rows((3, "a", 6), (4, "b", 8), (5, "b", 9), (6, "a", 5))


def made(texts: dict[str, str], without: tuple[str, ...] = ()) -> ost.QuerySet:
    queries = ost.QuerySet({"t": SCHEMA}, without=without)
    for name, text in texts.items():
        queries.add(name, text, language="cel")
    return queries


def found(tables: dict[str, pa.Table]) -> dict[str, list[str]]:
    return {name: sorted(map(repr, table.to_pylist())) for name, table in tables.items()}


def alone(texts: dict[str, str], *batches: pa.Table) -> list[dict[str, list[str]]]:
    """What each of them returns for each batch."""
    sessions = {name: ost.compile(text, {"t": SCHEMA}, language="cel").open() for name, text in texts.items()}
    each = [{name: session.push(batch) for name, session in sessions.items()} for batch in batches]
    return [found({name: table for name, table in tables.items() if table.num_rows}) for tables in each]


def beginnings(session: SetSession) -> list[list[str]]:
    """The labels of those that go on with each of them."""
    return [[one.rows.label for one in beginning.followers] for beginning in session.graph.beginnings]


def test_a_beginning_is_followed_once() -> None:
    session = made(TEXTS).open()
    assert [found(session.push("t", batch)) for batch in (FIRST, SECOND)] == alone(TEXTS, FIRST, SECOND)
    assert beginnings(session) == [["#begins1/", "fall/", "long/"], ["rise/", "recovered/"]]
    apart = made(TEXTS, ("shared_beginnings",)).open()
    apart.push("t", FIRST), apart.push("t", SECOND)
    assert apart.metrics()["instances_made"] > session.metrics()["instances_made"]
    assert (apart.metrics().get("shared_beginnings"), session.metrics()["shared_beginnings"]) == (None, 2)
    for beginning in session.graph.beginnings:
        verify_pattern(beginning.pattern)


def test_what_a_query_has_begun_is_counted_wherever_it_is_followed() -> None:
    counted = []
    for without in ((), ("shared_beginnings",)):
        session = made(TEXTS, without).open()
        session.push("t", FIRST)
        lines = session.metrics(by="query").to_pylist()
        counted.append({line["query_id"]: (line["matches"], line["partial_matches"], line["busy_keys"]) for line in lines})
    assert counted[0] == counted[1]


def test_snapshots_do_not_show_what_is_shared() -> None:
    for before, after in (((), ("shared_beginnings",)), (("shared_beginnings",), ())):
        session = made(TEXTS, before).open()
        session.push("t", FIRST)
        restored = made(TEXTS, after).open(snapshot=session.snapshot())
        assert found(restored.push("t", SECOND)) == alone(TEXTS, FIRST, SECOND)[1]
        assert len(restored.graph.beginnings) == (0 if after else 2)


def test_those_that_are_left_go_on() -> None:
    queries = made(TEXTS)
    session = queries.open()
    session.push("t", FIRST)
    queries.remove("rise")
    queries.remove("fall")
    left = {name: TEXTS[name] for name in ("long", "recovered")}
    assert found(session.push("t", SECOND)) == alone(left, FIRST, SECOND)[1]
    queries.remove("long")
    queries.remove("recovered")
    assert session.push("t", rows((7, "a", 1))) == {} and session.graph.beginnings == []


def test_a_query_that_comes_later_has_begun_nothing() -> None:
    queries = made(TEXTS)
    session = queries.open()
    session.push("t", FIRST)
    queries.add("late", TEXTS["fall"], language="cel")
    assert found(session.push("t", SECOND)) == alone(TEXTS, FIRST, SECOND)[1] | alone({"late": TEXTS["fall"]}, SECOND)[0]


@pytest.mark.parametrize(
    "broken",
    [
        f"SELECT x FROM FILTER {{x * 4000000000000000000 > 0}} ({FALL})",  # a condition on what is handed on
        f"SELECT x, x * 4000000000000000000 AS big FROM {FALL}",  # what is returned
        f"SELECT x FROM {FALL} NEXT {{$2.x1 * 4000000000000000000 > $1.high}} (SELECT k AS k1, x AS x1 FROM t)",  # on an event behind it
        f"SELECT x FROM {FALL} NEXT {{$2.x1 > $1.x * $1.high * 1000000000000000000}} (SELECT x AS x1 FROM t)",  # where both meet
    ],
)
def test_one_that_fails_leaves_the_others_alone(broken: str) -> None:
    queries = made({**TEXTS, "broken": broken})
    session = queries.open()
    batches = FIRST, SECOND
    assert [found(session.push("t", batch)) for batch in batches] == alone(TEXTS, *batches)
    assert list(session.quarantined) == ["broken"]
    restored = queries.open(snapshot=session.snapshot())
    more = rows((7, "a", 4), (8, "b", 1), (9, "a", 7), (10, "b", 3))
    assert found(restored.push("t", more)) == alone(TEXTS, FIRST, SECOND, more)[2]


def test_an_error_of_the_beginning_is_one_of_all_that_begin_so() -> None:
    fails = "(SELECT k AS k0, x FROM t NEXT {$2.x1 * $1.x * 4000000000000000000 > 0} (SELECT x AS x1 FROM t))"
    texts = {"one": f"SELECT x FROM {fails}", "two": f"SELECT x AS y FROM FILTER {{DUR > 0}} ({fails})"}
    session = made({**TEXTS, **texts}).open()
    assert [found(session.push("t", batch)) for batch in (FIRST, SECOND)] == alone(TEXTS, FIRST, SECOND)
    assert {*session.quarantined} == {*texts}


def test_where_a_budget_sheds_nothing_is_shared() -> None:
    session = made(TEXTS).open(budget=ost.Budget(runs=2, overflow="shed oldest"))
    session.push("t", FIRST)
    assert session.graph.beginnings == []


def test_what_was_not_begun_alike_goes_on_by_itself() -> None:
    session = made(TEXTS).open(budget=ost.Budget(runs=1, overflow="shed oldest"))
    session.push("t", rows((0, "a", 5), (1, "a", 4), (2, "a", 3), (3, "b", 3), (4, "c", 1)))
    restored = made(TEXTS).open(snapshot=session.snapshot(), budget=ost.Budget())
    shed = made(TEXTS, ("shared_beginnings",)).open(snapshot=session.snapshot(), budget=ost.Budget())
    assert found(restored.push("t", rows((5, "a", 6), (6, "c", 0)))) == found(shed.push("t", rows((5, "a", 6), (6, "c", 0))))


def test_queries_of_one_text() -> None:
    text = f"{TEXTS['long']} PUBLISH p; SELECT h, x1 FROM p NEXT (SELECT x1 FROM ({TEXTS['rise']}))"
    query = ost.compile(text, {"t": SCHEMA}, language="cel")
    session = query.open()
    session.push("t", FIRST)
    assert len(session.graph.beginnings) == 1


def test_the_budget_of_a_beginning_is_that_of_a_query() -> None:
    session = made(TEXTS).open(budget=ost.Budget(runs=3))
    session.push("t", rows(*((n, f"key {n}", 5) for n in range(6))))
    assert {*session.quarantined} == {*TEXTS}
    assert "3 instances" in str(session.quarantined["rise"])


def test_explained() -> None:
    assert made(TEXTS).explain().splitlines()[-2:] == [
        "fall, long, recovered, rise: begin alike, the first event and the next are followed as one",
        "recovered, rise: begin alike, the first 3 events are followed as one",
    ]
    assert "alike" not in made(TEXTS, ("shared_beginnings",)).explain()


def test_values_that_nothing_computes_with_are_carried_by_the_beginning() -> None:
    schema = pa.schema([*SCHEMA, ("tags", pa.list_(pa.string()))])
    table = pa.concat_tables([FIRST, SECOND])
    table = table.append_column(schema.field("tags"), pa.array([[f"row {n}"] * (n % 3) if n != 2 else None for n in range(len(table))]))
    fall = FALL.replace("k AS k0, x_1 AS high", "k AS k0, tags_1 AS begun, x_1 AS high").replace("FROM t FOLD", "FROM t FOLD")
    texts = {"begun": f"SELECT begun, x FROM {fall}", "long": f"SELECT begun AS what FROM FILTER {{DUR > 1}} ({fall})"}
    queries = ost.QuerySet({"t": schema})
    sessions = {}
    for name, text in texts.items():
        queries.add(name, text, language="cel")
        sessions[name] = ost.compile(text, {"t": schema}, language="cel").open()
    session = queries.open()
    for number in range(len(table)):
        row = table.slice(number, 1)
        expected = {name: own.push(row) for name, own in sessions.items()}
        assert found(session.push("t", row)) == found({name: one for name, one in expected.items() if one.num_rows})
        assert len(session.graph.beginnings) == 1
        session = queries.open(snapshot=session.snapshot()) if number % 2 else session
