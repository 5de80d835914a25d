"""Which patterns runs can go through."""

from __future__ import annotations

import pytest

from ostinato.algebra.pattern import Alternation, Empty, Pattern, Repetition, Sequence, Variable
from ostinato.base.errors import UnsupportedError
from ostinato.reference.components import Component, components_of

A, B = Variable("a"), Variable("b")


def test_linear_patterns() -> None:
    pattern = Sequence((A, Repetition(B, 1, None), Repetition(Variable("c"), 0, None), Repetition(Variable("d"), 0, 1)))
    assert components_of(pattern) == (
        Component("a", optional=False, repeats=False),
        Component("b", optional=False, repeats=True),
        Component("c", optional=True, repeats=True),
        Component("d", optional=True, repeats=False),
    )


def test_a_single_variable() -> None:
    assert components_of(A) == (Component("a", optional=False, repeats=False),)


@pytest.mark.parametrize(
    "pattern",
    [Alternation((A, B)), Empty(), Sequence(()), Sequence((A, A)), Repetition(A, 2, 3), Repetition(Sequence((A, B)), 1, None)],
)
def test_others_are_refused(pattern: Pattern) -> None:
    with pytest.raises(UnsupportedError):
        components_of(pattern)
