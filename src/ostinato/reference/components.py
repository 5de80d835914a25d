"""A pattern as the components that runs go through, and the orders in which they may."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import product

from ostinato.algebra.pattern import Alternation, Negation, Pattern, Repetition, Sequence, Variable
from ostinato.base.errors import UnsupportedError


@dataclass(frozen=True)
class Component:
    variable: str
    optional: bool
    repeats: bool


@dataclass(frozen=True)
class Line:
    """A plain sequence: the numbers of its components, and its negations, each with how many of these stand before it."""

    components: tuple[int, ...] = ()
    negations: tuple[tuple[Negation, int], ...] = ()

    def followed_by(self, other: Line) -> Line:
        moved = tuple((negation, len(self.components) + before) for negation, before in other.negations)
        return Line(self.components + other.components, self.negations + moved)


@dataclass(frozen=True)
class Shape:
    """`components` are numbered in the order of the text. A pattern with alternatives is one of several `lines`, one without has one."""

    components: tuple[Component, ...]
    lines: tuple[Line, ...]


def shape_of(pattern: Pattern) -> Shape:
    """Singleton, `+`, `*` and `?` variables in sequence, each name once, and alternatives of such; nothing else has a meaning for runs."""
    components: list[Component] = []
    lines = _lines(pattern, components)
    names = [component.variable for component in components]
    if not names or len(set(names)) < len(names):
        raise UnsupportedError("a pattern for runs names at least one variable, and none twice")
    return Shape(tuple(components), tuple(lines))


def _lines(pattern: Pattern, components: list[Component]) -> list[Line]:
    if isinstance(pattern, Negation):
        return [Line(negations=((pattern, 0),))]
    if isinstance(pattern, Sequence):
        parts = [_lines(item, components) for item in pattern.items]
        return [reduce(Line.followed_by, chosen, Line()) for chosen in product(*parts)]
    if isinstance(pattern, Alternation):
        lines = [line for item in pattern.items for line in _lines(item, components)]
        if any(all(components[number].optional for number in line.components) for line in lines):
            raise UnsupportedError("an alternative must select at least one event", hint="make one of its components mandatory")
        return lines
    components.append(_component(pattern))
    return [Line((len(components) - 1,))]


def _component(item: Pattern) -> Component:
    match item:
        case Variable(name):
            return Component(name, optional=False, repeats=False)
        case Repetition(Variable(name), 0 | 1 as at_least, 1 | None as at_most):
            return Component(name, optional=at_least == 0, repeats=at_most is None)
    raise UnsupportedError(
        "only variables with +, * or ?, and alternatives of such, stand in a pattern for runs",
        hint="use MATCH_RECOGNIZE for other patterns",
    )
