"""The order of preferment, shown on the sequences themselves."""

from __future__ import annotations

import pytest

from ostinato.algebra.pattern import Alternation, Empty, Pattern, Repetition, Sequence, Variable
from ostinato.algebra.policies import Selection, Ties
from ostinato.algebra.query import Condition, Definition, MatchQuery, When
from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Literal
from ostinato.expr.types import INT
from ostinato.expr.typing.infer import infer
from ostinato.expr.typing.schema import Schema
from ostinato.reference import evaluate
from ostinato.reference.preferred import Attempt, Mapped, sequences

A, B = Variable("A"), Variable("B")


def words(pattern: Pattern, *, rows: int = 3) -> list[str]:
    def extend(mapped: Mapped, variable: str) -> bool:
        return len(mapped) < rows

    return ["".join(name for _, name, _ in mapped) for mapped in sequences(pattern, (), Attempt(0, extend, rows))]


@pytest.mark.parametrize(
    ("pattern", "order"),
    [
        (Empty(), [""]),
        (Sequence((A, B)), ["AB"]),
        (Alternation((A, B, Sequence((A, B)))), ["A", "B", "AB"]),
        (Repetition(A, 0, None), ["AAA", "AA", "A", ""]),
        (Repetition(A, 0, None, greedy=False), ["", "A", "AA", "AAA"]),
        (Repetition(A, 1, 2), ["AA", "A"]),
        (Repetition(A, 2, 2), ["AA"]),
        (Repetition(A, 0, 0), [""]),
        (Repetition(Repetition(A, 0, 1), 2, 3), ["AAA", "AA", "A", ""]),
        (Repetition(Repetition(A, 0, 1, greedy=False), 2, 3), ["", "A", "AA", "AAA"]),
        (Repetition(Alternation((B, Empty(), A)), 0, 2), ["BB", "B", "BA", "", "AB", "A", "AA"]),
        (Sequence((Repetition(A, 0, 1), Repetition(B, 0, 1, greedy=False))), ["A", "AB", "", "B"]),
    ],
)
def test_order_of_preferment(pattern: Pattern, order: list[str]) -> None:
    assert words(pattern) == order


def test_nested_loops_of_empty_iterations_end() -> None:
    assert words(Repetition(Repetition(Repetition(A, 0, 1), 0, None), 0, None), rows=2) == ["AA", "A", ""]


def query(**changes: object) -> MatchQuery:
    schema = Schema((("k", INT),))
    return MatchQuery("t", schema, A, (), Selection.PREFERRED, **changes)  # type: ignore[arg-type]


def test_epochs_are_refused() -> None:
    with pytest.raises(UnsupportedError):
        evaluate(query(ties=Ties.EPOCH), [{"k": 1}])


def test_conditions_about_finished_variables_are_refused() -> None:
    true = infer(Literal(True), Schema(()))
    with pytest.raises(UnsupportedError):
        evaluate(
            MatchQuery("t", Schema((("k", INT),)), A, (Definition("A", (Condition(true, When.LEAVING),)),), Selection.PREFERRED), [{"k": 1}]
        )
