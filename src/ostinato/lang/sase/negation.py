"""`~(B b)`: where it stands, what it may be compared with, and what it cannot be used for."""

from __future__ import annotations

from collections.abc import Mapping

from ostinato.algebra.query import When
from ostinato.base.errors import UnsupportedError
from ostinato.lang.events.references import STEPPING, Mention
from ostinato.lang.events.syntax import Component
from ostinato.lang.sase.syntax import Negation, SaseQuery, may_be_empty


def refuse_unbounded(tree: SaseQuery) -> None:
    """At an end, only the window says how far the absence reaches."""
    if tree.window is not None:
        return
    for place, item in enumerate(tree.items):
        if not isinstance(item, Negation):
            continue
        first = may_be_empty(tree.items[:place])
        if first or may_be_empty(tree.items[place:]):
            raise UnsupportedError(
                "A negation that can stand at an end of the match needs a window",
                detail=f"Nothing has to be selected {'before' if first else 'after'} it: without WITHIN the absence has no bound.",
                hint="Add a window, e.g. WITHIN 100 events",
                span=item.span,
            )


def place_negated(mentions: list[Mention], negation_of: Mapping[Component, Negation]) -> tuple[Component, When] | None:
    """A conjunct that mentions a negated variable belongs to it: to the last one, within a negated sequence. None: it mentions none."""
    negated = [mention for mention in mentions if mention.component in negation_of]
    if not negated:
        return None
    last = max(negated, key=lambda mention: mention.position)
    for mention in mentions:
        other = negation_of.get(mention.component)
        if other is not None and other is not negation_of[last.component]:
            raise _two_negations(mention, last)
        if mention.at in STEPPING:
            raise _stepping(mention, last)
    return last.component, When.EACH


def _two_negations(mention: Mention, last: Mention) -> UnsupportedError:
    return UnsupportedError(
        f"`{mention.component.variable}` and `{last.component.variable}` are negated apart from one another and cannot be compared",
        detail="Each negation is looked at by itself; while one is, the other has no event.",
        hint="Compare negated events of one sequence, ~(SEQ(...)), or each with events that are not negated",
        span=mention.span,
    )


def _stepping(mention: Mention, last: Mention) -> UnsupportedError:
    name = mention.component.variable
    return UnsupportedError(
        f"`{name}{mention.at.value}` is compared with `{last.component.variable}`, which is negated",
        detail=f"The absence of `{last.component.variable}` is checked when the match is complete, and no element of `{name}` is"
        " the current one.",
        hint=f"Use {name}[1], {name}[{name}.LEN] or an aggregate over {name}[]",
        span=mention.span,
    )
