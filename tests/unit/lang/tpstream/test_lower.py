"""TPStream trees to the algebra of situations."""

from __future__ import annotations

import pytest
from tests.property.tpstream_meaning import lowered
from tests.unit.lang.tpstream.schemas import SCHEMAS

from ostinato.algebra.policies import Latency, NullKeys
from ostinato.algebra.situations import Duration
from ostinato.algebra.text import to_text

ALL = """\
FROM cars (ts timestamp, car integer, speed double, accel double, on boolean, name string)
PARTITION BY car
TIME ts
SITUATION A
  LAST(accel) > 8.0e0
  LASTS >= 5000000
SITUATION B
  LAST(speed) > PREV(LAST(speed), 2)
  LASTS >= 4000000 AND <= 30000000
RELATE A meets; before[60000000, 300000000] B
WITHIN 300000000
LATENCY final
MEASURES
  id = FIRST(B.car)
  d = MAX(B.speed) - MIN(A.speed)
  n = COUNT(B.*)"""


def test_every_clause() -> None:
    query = lowered(
        "FROM Cars PARTITION BY CAR DEFINE A AS Accel > 8 AT LEAST 5 SECONDS, B AS speed > PREV(speed, 2) BETWEEN 4 s AND 30 s"
        " PATTERN a meets;before[1 min, 5 min];meets b WITHIN 5 MINUTES"
        " RETURN first(B.car) AS id, max(b.speed) - min(A.speed) AS d, count(B.*) AS n",
        SCHEMAS,
        latency="final",
    )
    assert to_text(query) == ALL
    assert query.situations.null_keys is NullKeys.GROUP


def test_latency() -> None:
    text = "FROM ticks DEFINE A AS f PATTERN A"
    assert lowered(text, SCHEMAS).latency is Latency.EARLIEST
    assert lowered(text, SCHEMAS, latency="FINAL").latency is Latency.FINAL


def test_streams_are_merged_and_definitions_read_their_own() -> None:
    query = lowered(
        "FROM cars PARTITION BY car DEFINE A AS speed > 1, B FROM engine AS temp > PREV(temp), C FROM jobs INTERVAL (begun, ended)"
        " PATTERN A before B AND B before C RETURN first(C.kind) AS kind",
        SCHEMAS,
    )
    situations = query.situations
    assert [part.stream for part in situations.parts] == ["cars", "engine", "jobs"]
    assert [(one.name, one.sources, one.start) for one in situations.definitions] == [
        ("A", ("cars",), None), ("B", ("engine",), None), ("C", ("jobs",), "begun"),
    ]  # fmt: skip
    assert [key.column for key in situations.order] == [situations.time, situations.stream_number]
    assert ("ended", situations.time) in situations.parts[2].columns


def test_several_streams_of_from_are_read_as_one() -> None:
    query = lowered("FROM cars, engine DEFINE A AS car = 1, B FROM engine AS temp > 1 PATTERN A before B", SCHEMAS)
    assert [one.sources for one in query.situations.definitions] == [(), ("engine",)]


@pytest.mark.parametrize(
    ("definition", "duration"),
    [
        ("f BETWEEN 2 AND 9", Duration(2, 9)),
        ("x BETWEEN 2 AND 9", Duration()),
        ("x > 1 OR x BETWEEN 2 AND 9", Duration()),
        ("NOT f BETWEEN 2 AND 9", Duration(2, 9)),
        ("f AT MOST 3", Duration(None, 3)),
        ("f AT LEAST 0", Duration(0, None)),
    ],
)
def test_between_is_a_duration_behind_a_complete_condition(definition: str, duration: Duration) -> None:
    query = lowered(f"FROM ticks DEFINE A AS {definition} PATTERN A", SCHEMAS)
    assert query.situations.definitions[0].duration == duration


def test_durations_finer_than_the_times() -> None:
    query = lowered("FROM cars DEFINE A AS on BETWEEN 1500 ns AND 2500 ns PATTERN A", SCHEMAS)
    assert query.situations.definitions[0].duration == Duration(2, 2)
