"""A pattern as elements and what may follow each, for run-based selections."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.algebra.pattern import Alternation, Empty, Negation, Pattern, Repetition, Sequence, Variable, variables_of
from ostinato.base.errors import UnsupportedError
from ostinato.program.elements import Transition

FORMS = {(1, None): (1, True), (0, None): (0, True), (0, 1): (0, False), (1, 1): (1, False)}


@dataclass(frozen=True)
class After:
    """What a run may do behind a place in the pattern: begin one of these elements, or be a match, leaving `passed` empty."""

    transitions: tuple[Transition, ...] = ()
    completes: bool = False
    passed: tuple[int, ...] = ()


@dataclass(frozen=True)
class PlacedElement:
    variable: str
    at_least: int
    repeats: bool
    after: After


@dataclass(frozen=True)
class ElementGraph:
    """Elements in the order of the text; `initial` is what the empty run may do."""

    elements: tuple[PlacedElement, ...]
    initial: After


def element_graph(pattern: Pattern) -> ElementGraph:
    """Refuses what is no sequence of `x`, `x+`, `x*`, `x?` and alternatives of such, with distinct names."""
    names = _leaves(pattern)
    if len(set(names)) < len(names):
        raise UnsupportedError("a variable stands twice in the pattern", hint="give every component a name of its own")
    if not names:
        raise UnsupportedError("the pattern has no component")
    placed: dict[int, PlacedElement] = {}
    initial = _place(pattern, After(completes=True), {name: i for i, name in enumerate(variables_of(pattern))}, placed)
    return ElementGraph(tuple(placed[i] for i in range(len(names))), initial)


def _leaves(pattern: Pattern) -> list[str]:
    if isinstance(pattern, Sequence | Alternation):
        return [name for item in pattern.items for name in _leaves(item)]
    return list(variables_of(pattern))


def _place(pattern: Pattern, after: After, numbers: dict[str, int], placed: dict[int, PlacedElement]) -> After:
    """Puts the elements of `pattern`, which `after` follows, into `placed`; returns what may be done before it."""
    if isinstance(pattern, Empty | Negation):
        return after
    if isinstance(pattern, Sequence):
        for item in reversed(pattern.items):
            after = _place(item, after, numbers, placed)
        return after
    if isinstance(pattern, Alternation):
        return _alternatives([_place(item, after, numbers, placed) for item in pattern.items], after)
    name, at_least, repeats = _leaf(pattern)
    number = numbers[name]
    placed[number] = PlacedElement(name, at_least, repeats, after)
    own = (Transition(number, (), True),)
    if at_least:
        return After(own)
    skipping = tuple(Transition(transition.target, (number, *transition.passed), False) for transition in after.transitions)
    return After(own + skipping, after.completes, (number, *after.passed))


def _alternatives(branches: list[After], after: After) -> After:
    own = {transition.target for transition in after.transitions}
    if any(branch.completes or any(transition.target in own for transition in branch.transitions) for branch in branches):
        raise UnsupportedError("an alternative must select at least one event", hint="make one of its components mandatory")
    return After(tuple(transition for branch in branches for transition in branch.transitions))


def _leaf(pattern: Pattern) -> tuple[str, int, bool]:
    if isinstance(pattern, Variable):
        return pattern.name, 1, False
    if isinstance(pattern, Repetition) and isinstance(pattern.item, Variable):
        form = FORMS.get((pattern.at_least, pattern.at_most))
        if form is not None:
            return pattern.item.name, *form
    raise UnsupportedError(
        "under this selection strategy a pattern is a sequence of events and alternatives, each event with +, * or ? at most",
        hint="groups and counted repetition are offered in SQL row patterns",
    )
