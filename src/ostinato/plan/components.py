"""A linear pattern as a list of components, for run-based selections."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.algebra.pattern import Empty, Pattern, Repetition, Sequence, Variable
from ostinato.base.errors import UnsupportedError


@dataclass(frozen=True)
class LinearComponent:
    variable: str
    at_least: int
    repeats: bool


def linear_components(pattern: Pattern) -> tuple[LinearComponent, ...]:
    """Refuses what is no sequence of `x`, `x+`, `x*`, `x?` with distinct names."""
    components = _components(pattern)
    names = [component.variable for component in components]
    if len(set(names)) < len(names):
        raise UnsupportedError("a variable stands twice in the pattern", hint="give every component a name of its own")
    if not components:
        raise UnsupportedError("the pattern has no component")
    return components


def _components(pattern: Pattern) -> tuple[LinearComponent, ...]:
    if isinstance(pattern, Variable):
        return (LinearComponent(pattern.name, 1, False),)
    if isinstance(pattern, Sequence):
        return tuple(c for item in pattern.items for c in _components(item))
    if isinstance(pattern, Empty):
        return ()
    if isinstance(pattern, Repetition) and isinstance(pattern.item, Variable):
        form = {(1, None): (1, True), (0, None): (0, True), (0, 1): (0, False), (1, 1): (1, False)}.get((pattern.at_least, pattern.at_most))
        if form is not None:
            return (LinearComponent(pattern.item.name, *form),)
    raise UnsupportedError(
        "under this selection strategy a pattern is a sequence of events, each with +, * or ? at most",
        hint="alternation, groups and counted repetition are offered in SQL row patterns",
    )
