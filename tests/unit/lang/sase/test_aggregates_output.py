"""OUTPUT aggregates: values over all matches together."""

from __future__ import annotations

import pytest
from tests.unit.lang.sase.schemas import EVENTS

from ostinato import reference
from ostinato.algebra.policies import Output
from ostinato.base.errors import OstinatoError, QuerySyntaxError, UnsupportedError
from ostinato.expr.nodes import Aggregate
from ostinato.lang.sase import lower, parse

PATTERN = "PATTERN SEQ(A a, B* b[ ], C? c) "
ROWS = [
    {"id": f"e{n}", "ts": n, "kind": kind, "symbol": "x", "Price": price, "volume": 1.0}
    for n, (kind, price) in enumerate([("A", 1), ("B", 2), ("A", 3), ("B", None), ("C", 5)], 1)
]


def lowered(text: str, **options):
    return lower(parse(PATTERN + text), {"events": EVENTS}, type_by="kind", **options)


def refusal(text: str) -> OstinatoError:
    with pytest.raises(OstinatoError) as caught:
        lowered(text)
    return caught.value


def test_meaning():
    text = "RETURN count(*) AS matches, count(b[]) AS bs, count(b[].price) AS priced, sum(b.price) AS total, avg(a.price) + 1 AS mean, "
    query = lowered(text + "min(c.price) AS low, max(b[].price) AS top OUTPUT aggregates")
    assert query.output is Output.AGGREGATES and query.measures is not None
    assert query.measures[0].expr == Aggregate("count", None, None)
    matches = reference.evaluate(query, ROWS)
    # From a1: a1, a1 b1, a1 b1 b2, and each of the last with c too, since c can begin at e5 only; the run of a3 has no b1.
    bound = [ROWS[position] for match in matches for position in match.of("b")]
    priced = [row["Price"] for row in bound if row["Price"] is not None]
    first = [ROWS[match.of("a")[0]]["Price"] for match in matches]
    assert reference.output(query, ROWS) == [
        {
            "matches": len(matches), "bs": len(bound), "priced": len(priced), "total": sum(priced), "mean": sum(first) / len(first) + 1,
            "low": 5, "top": 2,
        }
    ]  # fmt: skip
    assert len(matches) > 3


def test_no_match():
    query = lowered("RETURN count(*) AS n, count(b[]) AS bs, sum(b[].price) AS total, avg(a.price) AS mean OUTPUT aggregates")
    assert reference.output(query, []) == [{"n": 0, "bs": 0, "total": None, "mean": None}]


def test_as_an_argument():
    assert lowered("RETURN count(*) AS n", output="aggregates").output is Output.AGGREGATES


@pytest.mark.parametrize("value", ["a.price", "b.LEN", "b[1].price", "count(*) + a.price", "b[b.LEN].price"])
def test_values_of_one_match_are_refused(value):
    error = refusal(f"RETURN {value} AS x OUTPUT aggregates")
    assert isinstance(error, UnsupportedError) and error.span is not None
    assert error.message == "OUTPUT aggregates speaks of all matches together; this is a value of one of them"


@pytest.mark.parametrize("function", ["first", "last", "stddev"])
def test_aggregates_without_an_order_over_matches_are_refused(function):
    error = refusal(f"RETURN {function}(b[].price) AS x OUTPUT aggregates")
    assert isinstance(error, UnsupportedError) and error.message == f"{function} over all matches is not offered"


def test_a_return_clause_is_needed():
    assert isinstance(refusal("OUTPUT aggregates"), QuerySyntaxError)


def test_matches_are_counted_under_this_output_only():
    assert isinstance(refusal("RETURN count(*) AS n"), QuerySyntaxError)
