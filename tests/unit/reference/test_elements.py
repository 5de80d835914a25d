"""Which patterns runs can go through."""

from __future__ import annotations

import pytest

from ostinato.algebra.pattern import Alternation, Empty, Pattern, Repetition, Sequence, Variable
from ostinato.base.errors import UnsupportedError
from ostinato.reference.elements import Element, shape_of

A, B = Variable("a"), Variable("b")


def test_linear_patterns() -> None:
    pattern = Sequence((A, Repetition(B, 1, None), Repetition(Variable("c"), 0, None), Repetition(Variable("d"), 0, 1)))
    assert shape_of(pattern).elements == (
        Element("a", optional=False, repeats=False),
        Element("b", optional=False, repeats=True),
        Element("c", optional=True, repeats=True),
        Element("d", optional=True, repeats=False),
    )


def test_a_single_variable() -> None:
    assert shape_of(A).elements == (Element("a", optional=False, repeats=False),)


def test_alternatives_are_several_sequences() -> None:
    c, d, e = (Variable(name) for name in "cde")
    pattern = Sequence((A, Alternation((B, Sequence((c, Repetition(d, 0, None))))), e))
    assert [element.variable for element in shape_of(pattern).elements] == ["a", "b", "c", "d", "e"]
    assert tuple(line.elements for line in shape_of(pattern).lines) == ((0, 1, 4), (0, 2, 3, 4))


@pytest.mark.parametrize(
    "pattern",
    [
        Alternation((A, Repetition(B, 0, 1))),
        Empty(),
        Sequence(()),
        Sequence((A, A)),
        Repetition(A, 2, 3),
        Repetition(Sequence((A, B)), 1, None),
    ],
)
def test_others_are_refused(pattern: Pattern) -> None:
    with pytest.raises(UnsupportedError):
        shape_of(pattern)
