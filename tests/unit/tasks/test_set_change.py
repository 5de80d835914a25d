"""Changes of a set as bytes."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.base.errors import StateError
from ostinato.program.shapes.query_forms import form_of
from ostinato.tasks.set_change import SetChange

SCHEMA = pa.schema([("ts", pa.int64()), ("k", pa.string()), ("p", pa.float64()), ("b", pa.bool_()), ("at", pa.timestamp("us"))])
TEXT = (
    "PATTERN SEQ(t x, t y) WHERE skip_till_next_match(x, y) {{ [k] and x.p > {0} and x.k = '{1}' and x.b = {2} "
    "and y.at > TIMESTAMP '2026-01-0{3} 00:00:00' }} WITHIN 40 RETURN y.ts AS ts"
)


def some() -> ost.QuerySet:
    queries = ost.QuerySet({"t": SCHEMA})
    for number in range(6):
        queries.add(f"q{number}", TEXT.format(number - 0.5, f"k'{number}".replace("'", "''"), ("true", "false")[number % 2], number + 1))
    queries.add("again", queries["q3"].text)
    queries.add("alone", "PATTERN SEQ(t x) WHERE skip_till_next_match(x) { x.p + x.p > x.ts } RETURN x.ts AS ts")
    return queries


def test_what_comes_back_is_what_was_written():
    told = some().told()
    change = SetChange.of(("gone",), told, pa.schema([("ts", pa.int64())]))
    data = change.dumps()
    read = SetChange.loads(data)
    assert read == change and read.dumps() == data and read.removed == ("gone",) and read.columns.names == ["ts"]
    forms = {query: form_of(own) for query, own in told.items()}
    assert {query: form_of(own) for query, own in read.added.items()} == forms
    assert forms["again"] == forms["q3"] and len(set(forms.values())) == 7
    assert len(read.parts) == 2, "queries of a shape are one part"


def test_a_session_takes_them():
    queries = some()
    session = ost.QuerySet({"t": SCHEMA}).open()
    read = SetChange.loads(SetChange.of((), queries.told()).dumps())
    session.change(read.removed, read.added)
    assert set(session.queries) == set(queries)
    session.change(SetChange.loads(SetChange.of(("q1", "alone"), {}).dumps()).removed, {})
    assert set(session.queries) == set(queries) - {"q1", "alone"}


@pytest.mark.parametrize(
    ("damaged", "message"),
    [
        (lambda data: data[:-3], "damaged"),
        (lambda data: b"[]", "no change of rules"),
        (lambda data: json.dumps({**json.loads(data), "version": 9}).encode(), "version 9"),
        (lambda data: json.dumps({**json.loads(data), "removed": "all"}).encode(), "damaged"),
        (lambda data: json.dumps({**json.loads(data), "queries": {"q": 7}}).encode(), "damaged"),
        (lambda data: json.dumps({**json.loads(data), "queries": {"q": "OSTP"}}).encode(), "not an Ostinato program"),
        (lambda data: json.dumps({**json.loads(data), "columns": "?"}).encode(), "damaged"),
    ],
)
def test_what_is_damaged(damaged, message):
    with pytest.raises(StateError, match=message):
        SetChange.loads(damaged(SetChange.of((), some().told()).dumps()))
