"""A pattern as the elements that runs go through, and the orders in which they may."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import product

from ostinato.algebra.pattern import Alternation, Negation, Pattern, Repetition, Sequence, Variable
from ostinato.base.errors import UnsupportedError


@dataclass(frozen=True)
class Element:
    variable: str
    optional: bool
    repeats: bool


@dataclass(frozen=True)
class Line:
    """A plain sequence: the numbers of its elements, and its negations, each with how many of these stand before it."""

    elements: tuple[int, ...] = ()
    negations: tuple[tuple[Negation, int], ...] = ()

    def followed_by(self, other: Line) -> Line:
        moved = tuple((negation, len(self.elements) + before) for negation, before in other.negations)
        return Line(self.elements + other.elements, self.negations + moved)


@dataclass(frozen=True)
class Shape:
    """`elements` are numbered in the order of the text. A pattern with alternatives is one of several `lines`, one without has one."""

    elements: tuple[Element, ...]
    lines: tuple[Line, ...]


def shape_of(pattern: Pattern) -> Shape:
    """Singleton, `+`, `*` and `?` variables in sequence, each name once, and alternatives of such; nothing else has a meaning for runs."""
    elements: list[Element] = []
    lines = _lines(pattern, elements)
    names = [element.variable for element in elements]
    if not names or len(set(names)) < len(names):
        raise UnsupportedError("a pattern for runs names at least one variable, and none twice")
    return Shape(tuple(elements), tuple(lines))


def _lines(pattern: Pattern, elements: list[Element]) -> list[Line]:
    if isinstance(pattern, Negation):
        return [Line(negations=((pattern, 0),))]
    if isinstance(pattern, Sequence):
        parts = [_lines(item, elements) for item in pattern.items]
        return [reduce(Line.followed_by, chosen, Line()) for chosen in product(*parts)]
    if isinstance(pattern, Alternation):
        lines = [line for item in pattern.items for line in _lines(item, elements)]
        if any(all(elements[number].optional for number in line.elements) for line in lines):
            raise UnsupportedError("an alternative must select at least one event", hint="make one of its components mandatory")
        return lines
    elements.append(_element(pattern))
    return [Line((len(elements) - 1,))]


def _element(item: Pattern) -> Element:
    match item:
        case Variable(name):
            return Element(name, optional=False, repeats=False)
        case Repetition(Variable(name), 0 | 1 as at_least, 1 | None as at_most):
            return Element(name, optional=at_least == 0, repeats=at_most is None)
    raise UnsupportedError(
        "only variables with +, * or ?, and alternatives of such, stand in a pattern for runs",
        hint="use MATCH_RECOGNIZE for other patterns",
    )
