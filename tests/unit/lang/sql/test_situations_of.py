"""SITUATIONS OF: the clause and its columns to the algebra, back to text, and what is wrong with it, and where."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.algebra.situations import SituationStream
from ostinato.base.errors import OstinatoError
from ostinato.lang.sql.parse_situations import parse_situations
from ostinato.lang.sql.render_situations import render_situations

SCHEMA = pa.schema(
    [("ts", pa.int64()), ("day", pa.date32()), ("car", pa.string()), ("speed", pa.float64()), ("wet", pa.bool_()), ("end_ts", pa.int64())]
)
CLAUSE = """PARTITION BY c.car, "day" ORDER BY ts ASC, speed
    DEFINE Fast AS speed > 70 BETWEEN 2 AND 9, "order" AS wet AND speed < PREV(speed, 2) AT LEAST 3
    MEASURES max(speed) - min(speed) AS spread, count(*) AS n, first(Fast.car) AS "MEASURES\""""


def compiled(clause: str, **options: object) -> ost.Query:
    return ost.compile(f"SELECT * FROM SITUATIONS OF cars c ({clause})", {"cars": SCHEMA}, **options)


def test_what_it_means() -> None:
    query = compiled(CLAUSE).algebra
    assert isinstance(query, SituationStream) and query.time == "end_ts"
    assert [one.name for one in query.situations.definitions] == ["Fast", "order"]
    assert query.situations.partition == ("car", "day") and [key.column for key in query.situations.order] == ["ts", "speed"]
    assert query.situations.definitions[0].duration.at_least == 2 and query.situations.definitions[1].duration.at_least == 3


def test_back_to_text() -> None:
    tree = parse_situations(CLAUSE)
    assert parse_situations(render_situations(tree)) == tree


def test_columns() -> None:
    assert compiled(CLAUSE).output_schema == pa.schema(
        [("situation", pa.string()), ("car", pa.string()), ("day", pa.date32()), ("start_ts", pa.int64()), ("end_ts", pa.int64())]
        + [("spread", pa.float64()), ("n", pa.int64()), ("MEASURES", pa.string())]
    )  # fmt: skip


def test_the_stages() -> None:
    query = compiled("ORDER BY ts DEFINE Fast AS speed > 70, Wet AS wet MEASURES max(speed) AS top")
    assert "each situation is a result by itself" in query.explain()
    assert "EACH SITUATION\nMEASURES\n  top" in query.explain("algebra")
    assert "each is reported when it has ended" in query.explain("program") and "then" not in query.explain("program")
    with pytest.raises(OstinatoError, match="derived, not followed"):
        query.explain("automaton")


# the clause with the place between « and », the words of the message, those of the hint
REFUSED = [
    ("«DEFINE» A AS wet", "Expected ORDER BY", "the time of the events"),
    ("«PARTITION» car ORDER BY ts DEFINE A AS wet", "Expected ORDER BY", "the time"),
    ("ORDER BY «t» DEFINE A AS wet", "There is no column t", "Did you mean ts"),
    ("ORDER BY «day» DEFINE A AS wet", "of type date", "Cast it"),
    ("ORDER BY «car» DEFINE A AS wet", "of type string", "Cast it"),
    ("ORDER BY ts «DESC» DEFINE A AS wet", "in the order of time", "ascending"),
    ("PARTITION BY car, «car» ORDER BY ts DEFINE A AS wet", "names `car` twice", "Leave one"),
    ("ORDER BY ts «MEASURES» max(speed) AS top DEFINE A AS wet", "Expected DEFINE", "The order is"),
    ("ORDER BY ts DEFINE A AS «wett»", "There is no column wett", "wet"),
    ("ORDER BY ts DEFINE A AS «speed»", "must be true or false", "Compare"),
    ("ORDER BY ts DEFINE A AS wet, «a AS wet»", "defined twice", "case"),
    ("ORDER BY ts DEFINE «A AT LEAST 5»", "has no condition", "A AS condition"),
    ("ORDER BY ts DEFINE A FROM «cars» AS wet", "FROM cannot stand", "TPStream"),
    ("ORDER BY ts DEFINE A AS wet AT LEAST «5 seconds»", "needs a timestamp", "AT LEAST 5"),
    ("ORDER BY ts DEFINE A AS wet «PATTERN» (A)", "Expected the end", "MEASURES"),
    ("ORDER BY ts DEFINE A AS wet MEASURES «speed» AS x", "a value for each event", "first(speed)"),
    ("ORDER BY ts DEFINE A AS wet MEASURES «max(speed) AS end_ts»", "is called `end_ts`", "Every row has"),
    ("ORDER BY ts DEFINE A AS wet MEASURES max(speed)«»", "Expected AS", "has a name"),
]


@pytest.mark.parametrize(("marked", "message", "hint"), REFUSED)
def test_refused(marked: str, message: str, hint: str) -> None:
    before = "SELECT * FROM SITUATIONS OF cars ("
    start, end = len(before) + marked.index("«"), len(before) + marked.index("»") - 1
    with pytest.raises(OstinatoError) as caught:
        ost.compile(f"{before}{marked.replace('«', '').replace('»', '')})", {"cars": SCHEMA})
    error = caught.value
    assert message in error.message and hint in (error.hint or "")
    assert error.span is not None and error.span.start == start and (start == end or error.span.end == end)


def test_a_partition_by_a_column_that_situations_have() -> None:
    with pytest.raises(OstinatoError, match="has the name of a column that every situation has"):
        compiled("PARTITION BY end_ts ORDER BY ts DEFINE A AS wet")


@pytest.mark.parametrize(
    ("condition", "message", "place"),
    [
        ("ALLEN(a, b)", "takes an interval, relations as a string", "ALLEN(a, b)"),
        ("ALLEN(a, 'meets', b, c)", "takes an interval", "ALLEN(a, 'meets', b, c)"),
        ("ALLEN(a, 'meet', b)", "`meet` is no relation", "meet"),
        ("ALLEN(a, 'before;meets[1, 2]', b)", "`meets` takes no bounds", "meets[1, 2]"),
        ("ALLEN(a, 'before x', b)", "Expected the end", "x"),
        ("ALLEN(a, '', b)", "Expected a relation", "', b)"),
        ("ALLEN(a, 'before[1 event, 2 events]', b)", "Bounds are in time", "1 event"),
        ("ALLEN(a, 'meets', 1 + 2)", "This is no interval", "1 + 2"),
        ("ALLEN((a.x), 'meets', b)", "This is no interval", "(a.x)"),
        ("ALLEN(, 'meets', b)", "lacks an interval", ","),
    ],
)
def test_allen_refuses(condition: str, message: str, place: str) -> None:
    text = f"SELECT * FROM a JOIN b ON {condition}"
    with pytest.raises(OstinatoError) as caught:
        ost.sql(text, a=pa.table({"x": [1]}), b=pa.table({"x": [1]}))
    error = caught.value
    assert message in error.message and error.span is not None
    assert error.span.start == text.index(place, text.index(" ON "))
