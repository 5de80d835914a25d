"""A linear pattern as the list of components that runs go through."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.algebra.pattern import Pattern, Repetition, Sequence, Variable
from ostinato.base.errors import UnsupportedError


@dataclass(frozen=True)
class Component:
    variable: str
    optional: bool
    repeats: bool


def components_of(pattern: Pattern) -> tuple[Component, ...]:
    """Singleton, `+`, `*` and `?` variables in sequence, each name once; nothing else has a meaning for runs."""
    items = pattern.items if isinstance(pattern, Sequence) else (pattern,)
    components = tuple(_component(item) for item in items)
    names = [component.variable for component in components]
    if not names or len(set(names)) < len(names):
        raise UnsupportedError("a pattern for runs names at least one variable, and none twice")
    return components


def _component(item: Pattern) -> Component:
    match item:
        case Variable(name):
            return Component(name, optional=False, repeats=False)
        case Repetition(Variable(name), 0 | 1 as at_least, 1 | None as at_most):
            return Component(name, optional=at_least == 0, repeats=at_most is None)
    raise UnsupportedError("only variables with +, * or ? stand in a pattern for runs", hint="use MATCH_RECOGNIZE for other patterns")
