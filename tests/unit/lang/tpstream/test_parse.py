"""TPStream text to trees, and back."""

from __future__ import annotations

import pytest

from ostinato.algebra.allen import Relation
from ostinato.lang.situations.relations import Bounded
from ostinato.lang.situations.syntax import Lasting, Name, StreamName
from ostinato.lang.streams.window import Window
from ostinato.lang.tpstream.parse import parse
from ostinato.lang.tpstream.recognise import recognise
from ostinato.lang.tpstream.render import render

DRIVERS = """
FROM CarSensors PARTITION BY car_id
DEFINE A AS accel > 8 AT LEAST 5 SECONDS, B AS speed > 70 BETWEEN 4 SECONDS AND 30 SECONDS, C AS accel < -9 AT LEAST 3 SECONDS
PATTERN A meets;overlaps;starts;during B AND B contains;finished by;overlaps;meets C AND A before C
WITHIN 5 MINUTES
RETURN first(B.car_id) AS id, avg(B.speed) AS avg_speed
"""


def test_every_clause() -> None:
    tree = parse(DRIVERS)
    assert tree.streams == (StreamName("CarSensors"),) and tree.partition == (Name("car_id"),)
    assert [definition.name for definition in tree.definitions] == ["A", "B", "C"]
    assert tree.definitions[1].lasting == Lasting(Window("4", "second"), Window("30", "second"))
    assert [bounded.relation for bounded in tree.constraints[1].allowed] == [
        Relation.CONTAINS, Relation.FINISHED_BY, Relation.OVERLAPS, Relation.MEETS,
    ]  # fmt: skip
    assert tree.window == Window("5", "minute") and [item.name for item in tree.returns] == ["id", "avg_speed"]
    assert DRIVERS[tree.span.start : tree.span.end].startswith("A meets") and DRIVERS[: tree.span.end].endswith("A before C")


@pytest.mark.parametrize("relation", Relation)
def test_spellings_of_relations(relation: Relation) -> None:
    words = relation.value.split()
    camel = words[0] + "".join(word.capitalize() for word in words[1:])
    for spelled in (relation.value, "_".join(words), camel, "".join(words), relation.value.upper(), camel.title()):
        (constraint,) = parse(f"FROM t DEFINE A AS x, B AS y PATTERN A {spelled} B").constraints
        assert constraint.allowed == (Bounded(relation),)


def test_metric_bounds() -> None:
    (constraint,) = parse("FROM t DEFINE A AS x, B AS y PATTERN A before[1 min, 5 min];overlapped by[0,3] B").constraints
    assert constraint.allowed == (
        Bounded(Relation.BEFORE, Window("1", "minute"), Window("5", "minute")),
        Bounded(Relation.OVERLAPPED_BY, Window("0", None), Window("3", None)),
    )


def test_situations_may_be_called_like_relations() -> None:
    (constraint,) = parse("FROM t DEFINE before AS x, after AS y PATTERN before before after").constraints
    assert (constraint.first, constraint.allowed, constraint.second) == (Name("before"), (Bounded(Relation.BEFORE),), Name("after"))


@pytest.mark.parametrize(
    ("definition", "lasting", "undecided"),
    [
        ("x > 1 BETWEEN 2 AND 9", True, False),
        ("f BETWEEN 2 AND 9", True, True),
        ("NOT f BETWEEN 2 AND 9", True, True),
        ("(NOT f) BETWEEN 2 AND 9", True, False),
        ("x = 1 AND f BETWEEN 2 AND 9", True, True),
        ("f BETWEEN 2 SECONDS AND 9 SECONDS", True, False),
        ("x BETWEEN 1 AND 2 BETWEEN 2 AND 9", True, False),
        ("x BETWEEN 1 AND 2 AT LEAST 3", True, False),
        ("x NOT BETWEEN 1 AND 2", False, False),
        ("(x BETWEEN 1 AND 2)", False, False),
        ("f AND (x BETWEEN 1 AND 2)", False, False),
        ("x BETWEEN y AND 2", False, False),
        ("f IS NULL BETWEEN 2 AND 9", True, False),
        ("greatest(x, 2) BETWEEN 2 AND 9", True, True),
    ],
)
def test_what_between_can_be(definition: str, lasting: bool, undecided: bool) -> None:
    tree = parse(f"FROM t DEFINE A AS {definition}, B AS y PATTERN A before B")
    assert (tree.definitions[0].lasting is not None, tree.definitions[0].compared is not None) == (lasting, undecided)
    assert parse(render(tree)) == tree


@pytest.mark.parametrize(
    "text",
    [
        DRIVERS,
        "from t define A as x pattern A;",
        'FROM "a.b", c INTERVAL (begun, "end") PARTITION BY k, dev.id, "from"\nDEFINE A AS "pattern" > 1 AT MOST 1.5 SECONDS, '
        'B FROM c AS TRUE, "AND" FROM d INTERVAL (x, y)\nPATTERN A before B AND B overlaps[0 ms, 1 d] "AND"',
        "FROM t DEFINE A AS x > PREV(x, 2) AND extract(hour FROM ts) = 3, B AS x IN (1, 2) OR y LIKE 'a%' PATTERN A equals B "
        "RETURN count(A.*) AS n, sum(A.x * 2) - 1 AS s, CASE WHEN min(A.x) > 1e999 THEN 1 END",
    ],
)
def test_rendered_texts_give_the_same_tree(text: str) -> None:
    tree = parse(text)
    assert parse(render(tree)) == tree


def test_recognised() -> None:
    assert recognise(DRIVERS) and recognise("from t define A as x pattern A")
    assert recognise("FROM t DEFINE A AS x PUBLISH y; PATTERN SEQ(y a)")
    assert not recognise("FROM SITUATIONS OF t (ORDER BY ts DEFINE A AS x)")
    assert not recognise("FROM t MATCH_RECOGNIZE (ORDER BY ts PATTERN (A) DEFINE A AS x > 1)")
    assert not recognise("SELECT * FROM t") and not recognise("FROM t PATTERN x DEFINE y") and not recognise("FROM 'x")
