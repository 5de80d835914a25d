"""Nested patterns of which nothing is left but events one after the other, each known by its row: `compact` follows them."""

from __future__ import annotations

from dataclasses import fields
from graphlib import TopologicalSorter

from ostinato.program.elements import Element, Transition
from ostinato.program.pattern import EventPattern, Pattern
from ostinato.program.tree import Branch, TreePattern

MOST_ELEMENTS = 31  # two states each, in a bit set
MOST_BITS = 61  # and two more, of time that goes on and of events that are alone at their time
EDGE = -1  # before the first event of a way, and behind the last


def event_sequence(pattern: TreePattern) -> EventPattern | str:
    """The same pattern under skip till any match, or why it is none."""
    against = _against(pattern)
    if against is not None:
        return against
    ways = [_in_order(branch) for branch in pattern.branches]
    follows = {pair for way in ways for pair in zip((EDGE, *way), (*way, EDGE), strict=True)}
    if _paths(follows) != len(ways):
        return "its alternatives depend on each other"
    numbers = {variable: number for number, variable in enumerate(sorted({variable for way in ways for variable in way}))}
    common = {field.name: getattr(pattern, field.name) for field in fields(Pattern)} | {"evaluation": "compact"}
    return EventPattern(
        **common,
        elements=tuple(_element(pattern, variable, numbers, follows) for variable in numbers),
        initial=_following(EDGE, numbers, follows),
        output=pattern.output,
        ties="epoch",
        prefilter_bits=pattern.prefilter_bits,
    )


def _against(pattern: TreePattern) -> str | None:
    used = {variable for branch in pattern.branches for variable in branch.variables}
    if any(branch.negations for branch in pattern.branches):
        return "something must not be there"
    if any(pair not in {*branch.follows} for branch in pattern.branches for pair in _neighbours(branch)):
        return "some of its events come in any order"
    blocks = (block for variable in used for block in (pattern.tree[variable].first_block, pattern.tree[variable].later_block))
    if pattern.registers or any(branch.tests for branch in pattern.branches) or any(block >= 0 for block in blocks):
        return "some conditions look at other events of the match"
    if len(used) > MOST_ELEMENTS or pattern.bits > MOST_BITS:
        return f"it has more than {MOST_ELEMENTS} variables"
    return None


def _in_order(branch: Branch) -> tuple[int, ...]:
    order: TopologicalSorter[int] = TopologicalSorter(dict.fromkeys(branch.variables, ()))
    for earlier, later in branch.follows:
        order.add(later, earlier)
    return tuple(order.static_order())


def _neighbours(branch: Branch) -> list[tuple[int, int]]:
    ordered = _in_order(branch)
    return list(zip(ordered, ordered[1:], strict=False))


def _paths(follows: set[tuple[int, int]]) -> int:
    """From before the first event to behind the last; more than there are ways if some of them could be mixed."""
    known: dict[int, int] = {}

    def behind(variable: int) -> int:
        if variable not in known:
            known[variable] = sum(1 if later == EDGE else behind(later) for earlier, later in follows if earlier == variable)
        return known[variable]

    return sum(behind(later) for earlier, later in follows if earlier == EDGE)


def _following(variable: int, numbers: dict[int, int], follows: set[tuple[int, int]]) -> tuple[Transition, ...]:
    targets = sorted(numbers[later] for earlier, later in follows if earlier == variable and later != EDGE)
    return tuple(Transition(target, (), nearest=place == 0) for place, target in enumerate(targets))


def _element(pattern: TreePattern, variable: int, numbers: dict[int, int], follows: set[tuple[int, int]]) -> Element:
    of = pattern.tree[variable]
    return Element(
        variable=variable,
        at_least=1,
        repeats=of.repeats,
        first_bit=of.bit,
        later_bit=of.bit if of.repeats else -1,
        first_block=-1,
        later_block=-1,
        leaving_block=-1,
        transitions=_following(variable, numbers, follows),
        completes=(variable, EDGE) in follows,
    )
