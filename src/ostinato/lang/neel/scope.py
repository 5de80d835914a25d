"""Which variables a condition may name, and where it is checked."""

from __future__ import annotations

from dataclasses import dataclass, field

from ostinato.algebra.query import Condition, When
from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Expr
from ostinato.lang.events.conditions import FINISHED, condition_of, stepping_with_finished, stepping_with_later
from ostinato.lang.events.references import STEPPING, Mention, References
from ostinato.lang.events.syntax import At
from ostinato.lang.neel.syntax import Event
from ostinato.lang.streams.stream import Stream


@dataclass
class Conditions:
    """Lowers conditions one by one. `running` collects those about each event of a list, by its variable."""

    events: tuple[Event, ...]
    stream: Stream
    running: dict[str, list[Condition]] = field(default_factory=dict)

    def lower(self, conditions: tuple[Expr, ...], own: tuple[Event, ...], around: tuple[Event, ...]) -> tuple[Expr, ...]:
        """`own` are the variables of the expression itself, `around` those of everything that encloses it."""
        found: list[Expr] = []
        for condition in conditions:
            references = References(self.events, self.stream)
            resolved = references.resolve(condition)
            for mention in references.mentions:
                _refuse_hidden(mention, (*own, *around))
            typed = condition_of(resolved, self.stream, condition)
            stepping = [mention for mention in references.mentions if mention.at in STEPPING]
            if stepping:
                when = _when(references.mentions, stepping, own)
                self.running.setdefault(stepping[0].component.variable, []).append(Condition(typed, when, condition.span))
            else:
                found.append(typed)
        return tuple(found)


def _refuse_hidden(mention: Mention, visible: tuple[Event, ...]) -> None:
    if mention.component not in visible:
        name = mention.component.variable
        raise UnsupportedError(
            f"`{name}` is negated, and known inside its negation only",
            detail="Where nothing of it occurs it has no event to speak of.",
            hint=f"Put the condition into the negation: !({mention.component.event_type} {name}, ...)",
            span=mention.span,
        )


def _when(mentions: list[Mention], stepping: list[Mention], own: tuple[Event, ...]) -> When:
    """A condition about the events of a list one by one speaks of one list, and of what stands before it in the text."""
    list_ = stepping[0].component
    if list_ not in own:
        raise UnsupportedError(
            f"`{list_.variable}{stepping[0].at.value}` stands outside of the expression that has `{list_.variable}`",
            hint=f"Put the condition behind the members around `{list_.variable}`, or speak of the whole list: avg({list_.variable}[].x)",
            span=stepping[0].span,
        )
    for mention in mentions:
        if mention.position > stepping[0].position:
            raise stepping_with_later(stepping[0], mention.component)
        if mention.component != list_ and mention.at in STEPPING:
            raise stepping_with_later(mention, list_)
        if mention.component == list_ and mention.at in FINISHED:
            raise stepping_with_finished(mention)
    used = {mention.at for mention in mentions if mention.component == list_}
    return When.EACH if used == {At.CURRENT} else When.LATER
