"""What TPStream refuses: the words, and the place."""

from __future__ import annotations

import pytest
from tests.property.tpstream_meaning import lowered, queries_of
from tests.unit.lang.tpstream.schemas import SCHEMAS

from ostinato.base.errors import OstinatoError
from ostinato.compiler import compile

# the text with the place between « and », the words of the message, those of the hint
REFUSED = [
    ("FROM «nothing» DEFINE A AS f PATTERN A", "no stream `nothing`", "Pass it as nothing="),
    ("FROM «tickz» DEFINE A AS f PATTERN A", "no stream `tickz`", "Did you mean `ticks`"),
    ("FROM ticks PARTITION BY «y» DEFINE A AS f PATTERN A", "There is no column y", "The columns are"),
    ("FROM cars PARTITION BY «name» DEFINE A AS on, B FROM engine AS temp > 1 PATTERN A before B", "`engine` has no column", "need it"),
    ("FROM cars PARTITION BY car, «car» DEFINE A AS on PATTERN A", "names `car` twice", "Leave one"),
    ("FROM ticks «PATTERN» A", "Expected DEFINE", "DEFINE A AS"),
    ("FROM ticks DEFINE A AS «y» > 1 PATTERN A", "There is no column y", "The columns are"),
    ("FROM ticks DEFINE A AS f, B AS «A.x» > 1 PATTERN A before B", "There is no column A.x", "single events"),
    ("FROM ticks DEFINE A AS «x» PATTERN A", "must be true or false", "Compare it"),
    ("FROM ticks DEFINE A AS x > «NEXT(x)» PATTERN A", "NEXT cannot stand in DEFINE", "PREV"),
    ("FROM ticks DEFINE A AS x > «max(x)» PATTERN A", "aggregate max cannot stand in DEFINE", "RETURN"),
    ("FROM ticks DEFINE A AS x > PREV(«PREV(x)») PATTERN A", "PREV cannot stand inside PREV", "PREV(x, 2)"),
    ("FROM ticks DEFINE A AS x > PREV(x, «-1») PATTERN A", "a whole number of events back", "PREV(x, 2)"),
    ("FROM ticks DEFINE A AS x > «PREV()» PATTERN A", "PREV takes an expression", "PREV(x, 2)"),
    ("FROM ticks DEFINE «A» PATTERN A", "`A` has no condition", "DEFINE A AS"),
    ("FROM ticks DEFINE A AS f, «a AS NOT f» PATTERN A", "`a` is defined twice", "case"),
    ("FROM ticks DEFINE A AS f AT LEAST «5 seconds» PATTERN A", "needs a timestamp", "AT LEAST 5"),
    ("FROM cars DEFINE A AS on AT MOST «5» PATTERN A", "AT MOST 5 has no unit", "Write a unit"),
    ("FROM cars DEFINE A AS on AT LEAST «5 events» PATTERN A", "Durations are in time", "SECONDS"),
    ("FROM ticks DEFINE A AS f AT LEAST «1.5» PATTERN A", "not a whole number", None),
    ("FROM ticks DEFINE A AS f «BETWEEN 9 AND 2» PATTERN A", "so long and so short", "Turn the bounds round"),
    ("FROM ticks DEFINE A AS f «AT MOST 0» PATTERN A", "lasts longer than this", "ends when it starts"),
    ("FROM ticks DEFINE A AS f AT LEAST 3 «AT» MOST 9 PATTERN A", "one duration", "BETWEEN"),
    ("FROM ticks DEFINE A AS f AT LEAST «4611686018427387904» PATTERN A", "is too long", "2^62"),
    ("FROM cars DEFINE A AS on AT MOST «99999999999 hours» PATTERN A", "AT MOST 99999999999 hours is too long", "2^62"),
    ("FROM ticks DEFINE A AS f AT «ONCE» PATTERN A", "Expected LEAST or MOST", "AT LEAST"),
    ("FROM ticks DEFINE A AS f AT LEAST 2 «parsecs» PATTERN A", "not a unit of time", "seconds"),
    ("FROM cars DEFINE A AS on AT LEAST 2 «months» PATTERN A", "no fixed length", "days"),
    ("FROM ticks DEFINE A AS f, B AS NOT f PATTERN A before «C»", "There is no situation `C`", "Situations are A, B"),
    ("FROM ticks DEFINE Fast AS f, B AS NOT f PATTERN «Fasd» before B", "There is no situation `Fasd`", "Did you mean `Fast`"),
    ("FROM ticks DEFINE A AS f, B AS NOT f PATTERN A «befor» B", "no relation", "Did you mean `before`"),
    ("FROM ticks DEFINE A AS f, B AS NOT f PATTERN A «xyz» B", "no relation", "Relations are before, meets"),
    ("FROM ticks DEFINE A AS f, B AS NOT f PATTERN A «=» B", "Expected a relation", "Relations are"),
    ("FROM ticks DEFINE A AS f, B AS NOT f PATTERN «A before A»", "related to itself", "another name"),
    ("FROM ticks DEFINE A AS f, B AS NOT f PATTERN A «meets[1, 2]» B", "`meets` takes no bounds", "gap"),
    ("FROM ticks DEFINE A AS f, B AS NOT f PATTERN A before[1«]» B", "Expected `,`", "Both bounds"),
    ("FROM ticks DEFINE A AS f, B AS NOT f PATTERN A «before[3, 2]» B", "above the upper", "Turn"),
    ("FROM ticks DEFINE A AS f, B AS NOT f PATTERN A «before[0, 0]» B", "longer than this", "meets"),
    ("FROM ticks DEFINE A AS f, B AS NOT f PATTERN A before[1, «4611686018427387904»] B", "is too long", "2^62"),
    ("FROM cars DEFINE A AS on, B AS NOT on PATTERN A before[«1», 2 s] B", "has no unit", "Write a unit"),
    ("FROM ticks DEFINE A AS f, B AS NOT f PATTERN A before B «OR» A after B", "OR cannot stand in PATTERN", "semicolons"),
    ("FROM ticks DEFINE A AS f, B AS NOT f, «C AS x > 1» PATTERN A before B", "does not relate `C`", "leave the definition out"),
    ("FROM ticks DEFINE A AS f, «B AS NOT f» PATTERN A", "does not relate `B`", "leave the definition out"),
    ("FROM ticks DEFINE A AS f, B AS f, C AS f, D AS f PATTERN A before B AND «C» before D", "Nothing relates `C`", "add a constraint"),
    ("FROM ticks DEFINE A AS f PATTERN A WITHIN «5 events»", "Windows of situations are in time", "MINUTES"),
    ("FROM ticks DEFINE A AS f PATTERN A RETURN «first(A.x)»", "has no name", "AS name"),
    ("FROM ticks DEFINE A AS f PATTERN A RETURN first(A.x) AS a, «last(A.x) AS A»", "Two returned values", "otherwise"),
    ("FROM ticks DEFINE A AS f PATTERN A RETURN «first(A.x) AS start_ts»", "is called `start_ts`", "Every row has"),
    ("FROM ticks DEFINE A AS f PATTERN A RETURN «A.x» AS x", "a value for each event", "first(A.x)"),
    ("FROM ticks DEFINE A AS f PATTERN A RETURN «x» AS x", "a value for each event", "first(A.x)"),
    ("FROM ticks DEFINE A AS f PATTERN A RETURN first(«x») AS x", "of no situation", "A.x"),
    ("FROM ticks DEFINE A AS f PATTERN A RETURN first(«A.y») AS x", "There is no column y", "columns"),
    ("FROM ticks DEFINE A AS f PATTERN A RETURN first(«Z.x») AS x", "There is no situation `Z`", "Situations are"),
    ("FROM ticks DEFINE A AS f PATTERN A RETURN «count(*)» AS x", "of no situation", "count(A.*)"),
    ("FROM ticks DEFINE A AS f PATTERN A RETURN «sum(1)» AS x", "needs a column", "sum(A.x)"),
    ("FROM ticks DEFINE A AS f PATTERN A RETURN «count(DISTINCT A.x)» AS x", "DISTINCT", "count(A.x)"),
    ("FROM ticks DEFINE A AS f PATTERN A RETURN sum(«max(A.x)») AS x", "inside of an aggregate", "single events"),
    ("FROM ticks DEFINE A AS f, B AS NOT f PATTERN A before B RETURN sum(A.x + «B.x») AS x", "two situations", "Aggregate"),
    ("FROM ticks DEFINE A AS f PATTERN A RETURN first(A.x) AS x «WITHIN» 5", "out of place", "in this order"),
    ("FROM cars DEFINE A AS on, B FROM engine AS TRUE PATTERN A before B RETURN first(«B.speed») AS s", "without a column", "temp"),
    ("FROM cars, engine DEFINE A AS «speed» > 1 PATTERN A", "`engine` has no column `speed`", "DEFINE A FROM"),
    ("FROM «jobs» DEFINE A AS car = 1 PATTERN A", "no time column `ts`", "time="),
    ("FROM jobs INTERVAL (begun, «gone») DEFINE A PATTERN A", "There is no column gone", "columns"),
    ("FROM jobs INTERVAL («gone», ended) DEFINE A PATTERN A", "There is no column gone", "columns"),
    ("FROM jobs INTERVAL («day», ended) DEFINE A PATTERN A", "starts in `day` are of type date", "Cast"),
    ("FROM jobs INTERVAL (begun«)» DEFINE A PATTERN A", "Expected `,`", "INTERVAL (begun, ended)"),
    ("FROM jobs INTERVAL (begun, ended), cars DEFINE «A AS car = 1» PATTERN A", "the rows of one last", "A FROM jobs"),
    ("FROM jobs INTERVAL (begun, ended) DEFINE A, B FROM «jobs INTERVAL (ended, begun)» PATTERN A before B", "last in two ways", "once"),
    ("FROM ticks «WHERE» x > 1 DEFINE A AS f PATTERN A", "WHERE is no clause", "part of a definition"),
    ("FROM ticks DEFINE A AS f, B AS f PATTERN A before B«,» B after A", "have AND between them", "AND B meets C"),
    ("FROM ticks DEFINE A AS f, B AS f PATTERN «NOT» A before B", "NOT cannot stand in PATTERN", "semicolons"),
    ("FROM ticks DEFINE A AS f, B AS f PATTERN «(»A before B)", "without parentheses", "AND B meets C"),
    ("FROM cars DEFINE A AS on PATTERN A WITHIN «5»", "WITHIN 5 has no unit", "WITHIN 5 seconds | minutes | hours | days"),
    ("FROM ticks DEFINE A AS f WITHIN «5»", "WITHIN bounds the matches", "AT MOST"),
    ("FROM ticks DEFINE A AS f RETURN «x» AS x", "a value for each event", "first(x)"),
    ("FROM ticks DEFINE A AS f RETURN «sum(1)» AS x", "needs a column", "sum(x)"),
    ("FROM ticks DEFINE A AS f RETURN max(«y») AS x", "There is no column y", "columns"),
    ("FROM ticks DEFINE A AS f RETURN «max(x) AS Situation»", "is called `Situation`", "Every row has situation, start_ts"),
    ("FROM cars PARTITION BY car DEFINE A AS on RETURN «count(*) AS car»", "is called `car`", "situation, car, start_ts"),
    ("FROM ticks DEFINE A AS f, B AS f RETURN max(A.x - «B.x») AS x", "two situations", "Aggregate"),
    ("FROM cars DEFINE A AS on, B FROM engine AS TRUE RETURN first(«speed») AS s", "without a column", "columns"),
    ("FROM ticks DEFINE A AS f PUBLISH «5»", "Expected a name for the stream", None),
    ("FROM ticks DEFINE A AS f PUBLISH a «RETURN» count(*) AS n", "out of place", "in this order"),
    ("FROM cars, «ticks» DEFINE A AS TRUE PATTERN A", "Column `ts` is of type timestamp", "cast or rename"),
]  # fmt: skip


@pytest.mark.parametrize(("marked", "message", "hint"), REFUSED)
def test_refused(marked: str, message: str, hint: str | None) -> None:
    start, end = marked.index("«"), marked.index("»") - 1
    with pytest.raises(OstinatoError) as caught:
        queries_of(marked.replace("«", "").replace("»", ""), SCHEMAS)
    error = caught.value
    assert message in error.message
    assert error.span is not None and (error.span.start, error.span.end) == (start, end)
    assert (hint is None) == (error.hint is None) and (hint or "") in (error.hint or "")


def test_options() -> None:
    with pytest.raises(OstinatoError, match="latency='soon' is unknown") as caught:
        lowered("FROM ticks DEFINE A AS f PATTERN A", SCHEMAS, latency="soon")
    assert caught.value.hint == "latency is 'earliest' or 'final'"
    with pytest.raises(OstinatoError, match="No stream was given"):
        lowered("FROM ticks DEFINE A AS f PATTERN A", {})


def test_several_queries() -> None:
    with pytest.raises(OstinatoError, match="Query 1 of the text has no name") as caught:
        compile("FROM ticks DEFINE A AS f; FROM ticks DEFINE A AS f", {"ticks": SCHEMAS["ticks"]})
    assert caught.value.hint == "End it with PUBLISH name"
    with pytest.raises(OstinatoError, match="No later query of the text reads the events `a`"):
        compile("FROM ticks DEFINE A AS f PUBLISH a; FROM ticks DEFINE A AS f", {"ticks": SCHEMAS["ticks"]})
    with pytest.raises(OstinatoError, match="There is already a stream `ticks`"):
        compile("FROM ticks DEFINE A AS f PUBLISH ticks; FROM ticks DEFINE A AS f", {"ticks": SCHEMAS["ticks"]})
