"""Forcing an evaluation strategy."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ostinato as ost

SCHEMA = pa.schema([("ts", pa.int64()), ("x", pa.int64())])
ROWS = pa.table({"ts": [1, 2, 3], "x": [1, 2, 1]})
EVENTS = "PATTERN SEQ(T a, T b) WHERE b.x > a.x"
COLUMNAR = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES B.x AS x PATTERN (A B) DEFINE B AS x > PREV(x))"
DYNAMIC = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES B.x AS x PATTERN (A B) DEFINE B AS x > A.x)"


def chosen(text: str, strategy: str | None) -> str:
    return ost.compile(text, {"t": SCHEMA}, strategy=strategy).pattern.evaluation


def test_a_strategy_that_fits_is_used() -> None:
    assert chosen(EVENTS, None) == chosen(EVENTS, "runs") == "runs"
    assert chosen(COLUMNAR, None) == "scan"
    assert chosen(COLUMNAR, "threads") == chosen(DYNAMIC, "threads") == "threads"


@pytest.mark.parametrize(
    ("text", "strategy", "reason"),
    [
        (EVENTS, "scan", "it evaluates row patterns"),
        (EVENTS, "joins", "it evaluates nested patterns"),
        (COLUMNAR, "runs", "it evaluates event patterns"),
        (DYNAMIC, "scan", "some conditions look at other rows of the match"),
    ],
)
def test_a_strategy_that_does_not_fit_is_refused_with_the_reason(text: str, strategy: str, reason: str) -> None:
    with pytest.raises(ost.UnsupportedError) as caught:
        chosen(text, strategy)
    assert caught.value.message.startswith(f"the strategy {strategy} cannot evaluate this query: {reason}")


def test_an_unknown_strategy_is_refused_by_name() -> None:
    with pytest.raises(ost.OstinatoError) as caught:
        chosen(EVENTS, "magic")
    assert caught.value.message == 'there is no strategy "magic"'


def test_every_way_in_takes_it() -> None:
    assert len(ost.match(EVENTS, t=ROWS, strategy="runs")) == 1
    with pytest.raises(ost.UnsupportedError):
        ost.match(EVENTS, t=ROWS, strategy="scan")
