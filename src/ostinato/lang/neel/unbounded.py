"""Negations at an end of the match: only a window in time says how far they reach."""

from __future__ import annotations

from ostinato.base.errors import UnsupportedError
from ostinato.lang.neel.syntax import Group, Member, NeelQuery, Negated, Operator, may_be_empty


def refuse_unbounded(tree: NeelQuery) -> None:
    if tree.window is None or tree.window.unit == "event":
        _check(tree.pattern, tree, True, True)


def _check(member: Member, tree: NeelQuery, at_start: bool, at_end: bool) -> None:
    """`at_start`, `at_end`: nothing of the match has to stand before it, or behind it."""
    if isinstance(member, Negated):
        if at_start or at_end:
            raise _unbounded(member, tree, at_start)
        _check(member.item, tree, False, False)
    elif isinstance(member, Group):
        for place, item in enumerate(member.members):
            first, last = _ends(member, place)
            _check(item, tree, at_start and first, at_end and last)


def _ends(group: Group, place: int) -> tuple[bool, bool]:
    """Whether a member can stand at an end of its group. What is negated in AND lies between its first and its last event."""
    if group.operator is Operator.SEQ:
        before, after = group.members[:place], group.members[place + 1 :]
        return all(map(may_be_empty, before)), all(map(may_be_empty, after))
    inside = isinstance(group.members[place], Negated)
    return not inside, not inside


def _unbounded(negated: Negated, tree: NeelQuery, first: bool) -> UnsupportedError:
    side = "before" if first else "after"
    if tree.window is None:
        return UnsupportedError(
            "A negation that can stand at an end of the match needs a window",
            detail=f"Nothing has to be selected {side} it: without WITHIN the absence has no bound.",
            hint="Add a window, e.g. WITHIN 1 hour",
            span=negated.span,
        )
    return UnsupportedError(
        "A negation at an end of the match needs a window in time",
        detail=f"Nothing has to be selected {side} it, and a number of events does not say until when it is absent.",
        hint="Use WITHIN a length of time, or put an event on that side of it",
        span=negated.span,
    )
