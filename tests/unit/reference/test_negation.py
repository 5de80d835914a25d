"""Where the gap of a negation begins and ends."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from ostinato.algebra.pattern import Alternation, Negation, Pattern, Repetition, Sequence, Variable
from ostinato.algebra.policies import NullKeys, Output, Selection, Ties
from ostinato.algebra.query import Definition, MatchQuery, OrderKey, Unit, Within
from ostinato.base.errors import UnsupportedError
from ostinato.expr.types import INT, STRING
from ostinato.expr.typing.schema import Schema
from ostinato.reference import evaluate

SCHEMA = Schema((("ts", INT), ("kind", STRING), ("p", STRING)))


A, B, X, Y, Z = map(Variable, "abxyz")
A_THEN_B = Sequence((A, B))


def forbidding(position: int, *kinds: str) -> tuple[int, Negation]:
    """At its place among the parts of a sequence."""
    return position, Negation(Sequence(tuple(Variable(kind.lower()) for kind in kinds)))


def query(*negations: tuple[int, Negation], pattern: Sequence = A_THEN_B, **changes: Any) -> MatchQuery:
    """`A a, B b`, or another pattern of events by the names of their kinds, with negations around and between."""
    parts: list[Pattern] = []
    for place in range(len(pattern.items) + 1):
        parts += [negation for position, negation in negations if position == place]
        parts += pattern.items[place : place + 1]
    plain = MatchQuery(
        "t",
        SCHEMA,
        Sequence(tuple(parts)),
        tuple(Definition(kind.lower(), event_type=kind) for kind in "ABXYZ"),
        Selection.ANY,
        time="ts",
        order=(OrderKey("ts"),),
        within=Within(3),
        type_column="kind",
    )
    return replace(plain, **changes)


def found(asked: MatchQuery, events: str, times: list[int] | None = None) -> list[tuple[int, ...]]:
    """The positions of each match. `events` are kinds, with the partition behind a dot."""
    rows = []
    for number, word in enumerate(events.split()):
        kind, _, p = word.partition(".")
        rows.append({"ts": times[number] if times else number, "kind": kind, "p": p or None})
    return [match.positions for match in evaluate(asked, rows)]


START, MIDDLE, END = (query(forbidding(position, "X")) for position in range(3))


@pytest.mark.parametrize(
    ("asked", "events", "times", "survives"),
    [
        (MIDDLE, "X A B X", None, True),
        (MIDDLE, "A X B", None, False),
        (MIDDLE, "A X B", [1, 1, 1], False),  # by position, whatever the time
        (START, "A X B", None, True),
        (START, "A B X", None, True),
        (START, "X A B", [0, 1, 3], False),  # the window reaches back from the last event
        (START, "X A B", [0, 1, 4], True),
        (START, "X A B", [1, 1, 1], False),
        (END, "X A B", None, True),
        (END, "A X B", None, True),
        (END, "A B X", [0, 2, 3], False),  # and forward from the first
        (END, "A B X", [0, 2, 4], True),
        (END, "A B C X", [0, 1, 2, 3], False),
    ],
)
def test_gap_by_time(asked: MatchQuery, events: str, times: list[int] | None, survives: bool) -> None:
    assert bool(found(asked, events, times)) is survives


@pytest.mark.parametrize(
    ("asked", "events", "times", "survives"),
    [
        (MIDDLE, "A X B", [1, 1, 2], True),
        (MIDDLE, "A X B", [1, 2, 2], True),
        (MIDDLE, "A X B", [1, 2, 3], False),
        (MIDDLE, "A X X X B", [1, 1, 2, 3, 3], False),
        (START, "X A B", [1, 1, 2], True),
        (START, "X X A B", [0, 1, 1, 2], False),
        (START, "X X A B", [0, 2, 2, 4], True),  # the window still reaches back from the last event
        (END, "A B X", [1, 2, 2], True),
        (END, "A B X X", [1, 2, 2, 3], False),
        (END, "A B X X", [0, 3, 3, 4], True),
        (query(forbidding(1, "X", "Y")), "A X Y B", [1, 1, 2, 3], True),
        (query(forbidding(1, "X", "Y")), "A X Y B", [1, 2, 3, 3], True),
        (query(forbidding(1, "X", "Y")), "A X Y B", [1, 2, 3, 4], False),
        (query((1, Negation(Sequence((X, Negation(Y), Z)))), within=None), "A X Y Z B", [0, 1, 1, 2, 3], False),
        (query((1, Negation(Sequence((X, Negation(Y), Z)))), within=None), "A X Y Y Z B", [0, 1, 1, 2, 3, 4], True),
    ],
)
def test_under_epochs_simultaneous_events_are_outside(asked: MatchQuery, events: str, times: list[int], survives: bool) -> None:
    """However the rows of one time are ordered."""
    by_epoch = replace(asked, ties=Ties.EPOCH)
    rows = list(zip(times, events.split(), strict=True))
    for order in permutations(rows):
        ordered = sorted(order, key=lambda row: row[0])
        assert bool(found(by_epoch, " ".join(kind for _, kind in ordered), [time for time, _ in ordered])) is survives


@pytest.mark.parametrize(
    ("position", "events", "survives"),
    [
        (0, "X A B", False),
        (0, "X C A B", False),
        (0, "X C A C B", True),
        (2, "A B C X", False),
        (2, "A C B C X", True),
    ],
)
def test_gap_by_events(position: int, events: str, survives: bool) -> None:
    assert bool(found(query(forbidding(position, "X"), within=Within(4, Unit.EVENTS)), events)) is survives


@pytest.mark.parametrize(
    ("position", "events", "survives"),
    [
        (1, "A.x X.y B.x", True),
        (1, "A.x X.x B.x", False),
        (1, "A.x X B.x", True),  # a null is never selected
        (0, "X.x C.y C.y A.x B.x", False),  # only the partition is counted
        (0, "X.x C.x A.x B.x", True),
        (2, "A.x B.x C.y C X.x", False),
        (2, "A.x B.x C.x X.x", True),
    ],
)
def test_gap_in_a_partition(position: int, events: str, survives: bool) -> None:
    asked = query(forbidding(position, "X"), partition=("p",), null_keys=NullKeys.NEVER, within=Within(3, Unit.EVENTS))
    assert bool(found(asked, events)) is survives


@pytest.mark.parametrize("position", [0, 1])
def test_nothing_selected_before_it_is_the_start(position: int) -> None:
    optional = Sequence((Repetition(A, 0, 1), B))
    asked = query(forbidding(position, "X"), pattern=optional)
    assert found(asked, "X B", [0, 3]) == []
    assert found(asked, "X B", [0, 4]) == [(1,)]


@pytest.mark.parametrize("position", [1, 2])
def test_nothing_selected_after_it_is_the_end(position: int) -> None:
    optional = Sequence((A, Repetition(B, 0, None)))
    asked = query(forbidding(position, "X"), pattern=optional)
    assert found(asked, "A X", [0, 3]) == []
    assert found(asked, "A X", [0, 4]) == [(0,)]


@pytest.mark.parametrize(
    ("selection", "events", "survives"),
    [
        (Selection.ANY, "A X C Y B", False),
        (Selection.NEXT, "A X C Y B", False),
        (Selection.NEXT, "A Y X B", True),
        (Selection.NEXT, "X A Y B", True),  # all of it has to lie in the gap
        (Selection.NEXT, "A X B Y", True),
    ],
)
def test_a_sequence_in_the_gap(selection: Selection, events: str, survives: bool) -> None:
    assert bool(found(query(forbidding(1, "X", "Y"), selection=selection), events, [0] * 5)) is survives


@pytest.mark.parametrize(
    ("selection", "events", "survives"),
    [
        (Selection.STRICT, "X.x Y.x A.x B.x", False),
        (Selection.STRICT, "X.x C.y Y.x A.x B.x", True),
        (Selection.PARTITION, "X.x C.y Y.x A.x B.x", False),
        (Selection.PARTITION, "X.x C.x Y.x A.x B.x", True),
        (Selection.NEXT, "X.x C.x Y.x A.x B.x", False),
        (Selection.NEXT, "X.y Y.y A.x B.x", True),
    ],
)
def test_a_sequence_by_the_selection_of_the_query(selection: Selection, events: str, survives: bool) -> None:
    asked = query(forbidding(0, "X", "Y"), selection=selection, partition=("p",), null_keys=NullKeys.NEVER, within=Within(9))
    assert bool(found(asked, events)) is survives


def test_adjacent_negations_are_independent() -> None:
    both = query(forbidding(1, "X"), forbidding(1, "Y"), within=Within(9))
    assert found(both, "A Y B") == found(both, "A X B") == []
    assert found(both, "A C B") == [(0, 2)]


def test_a_killed_match_drops_and_stops_no_run() -> None:
    asked = query(forbidding(1, "X"), within=Within(9))
    assert found(replace(asked, output=Output.NONOVERLAPPING), "A X A B A B") == [(2, 3), (4, 5)]
    trailing = Sequence((A, Repetition(B, 1, None)))
    end = query(forbidding(2, "X"), pattern=trailing, selection=Selection.NEXT, within=Within(9), output=Output.FIRST)
    assert found(end, "A B X B") == [(0, 1, 3)]


def test_an_end_without_a_window_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="needs a window"):
        found(query(forbidding(2, "X"), within=None), "A B")


def test_row_patterns_have_no_negation() -> None:
    with pytest.raises(UnsupportedError, match="run-based"):
        found(query(forbidding(1, "X"), selection=Selection.PREFERRED), "A B")


# What no language writes yet: the meaning is compositional all the same.


@pytest.mark.parametrize(
    ("item", "events", "survives"),
    [
        (Sequence((X, Negation(Y), Z)), "A X Z B", False),
        (Sequence((X, Negation(Y), Z)), "A X Y Z B", True),
        (Sequence((X, Negation(Y), Z)), "A Y X Z Y B", False),
        (Sequence((X, Negation(Y))), "A X B", False),  # at an end the outer gap bounds it
        (Sequence((X, Negation(Y))), "A X Y B", True),
        (Sequence((X, Negation(Y))), "A X B Y", False),
        (Sequence((Negation(Y), X)), "Y A X B", False),
        (Sequence((Negation(Y), X)), "A Y X B", True),
        (Sequence((X, Negation(Sequence((Y, Negation(Z)))))), "A X Y B", True),
        (Sequence((X, Negation(Sequence((Y, Negation(Z)))))), "A X Y Z B", False),
        (Alternation((X, Y)), "A Y B", False),
        (Alternation((X, Y)), "A Z B", True),
        (Repetition(X, 1, None), "A X X B", False),
    ],
)
def test_negations_inside_a_negation(item: Pattern, events: str, survives: bool) -> None:
    assert bool(found(query((1, Negation(item)), within=None), events)) is survives


@pytest.mark.parametrize(
    ("events", "matches"),
    [
        ("A X B", []),
        ("A Y B", [(0, 2)]),
        ("A X Z", [(0, 2)]),
        ("A Y Z", []),
    ],
)
def test_a_negation_in_an_alternative_speaks_of_that_alone(events: str, matches: list[tuple[int, ...]]) -> None:
    branches = Alternation((Sequence((Negation(X), B)), Sequence((Negation(Y), Z))))
    assert found(query(pattern=Sequence((A, branches))), events) == matches
