"""What an event may do to a partial match whose last component is known: for conditions that look at one event alone."""

from __future__ import annotations

from ostinato.program.program import Begin, Program


class EventMoves:
    """`symbol` is the set of predicate bits that hold for the event, `state` the last component of a partial match."""

    def __init__(self, program: Program) -> None:
        self.components = program.components
        self._entries = program.entries
        self._selection = program.selection
        self._one_at_a_time = program.output in ("first", "successive")  # a start has one match at a time
        self._stops = program.output == "first"

    def targets(self, symbol: int, state: int) -> list[int]:
        """The components that the event may be bound to, a take last; of a deterministic match only the preferred one."""
        component = self.components[state]
        take = [state] if component.repeats and holds(symbol, component.later_bit) else []
        begins = [begin.target for begin in component.begins if self._begins(symbol, begin)]
        return (take + begins)[:1] if self._one_at_a_time else begins + take

    def starts(self, symbol: int) -> list[int]:
        begins = [begin.target for begin in self._entries if self._begins(symbol, begin)]
        return begins[:1] if self._one_at_a_time else begins

    def _begins(self, symbol: int, begin: Begin) -> bool:
        return holds(symbol, self.components[begin.target].first_bit)

    def passes(self, symbol: int, state: int, targets: list[int]) -> bool:
        """Whether a partial match may ignore the event."""
        if self._selection == "skip_till_any_match":
            return True
        if self._selection != "skip_till_next_match" or (self._one_at_a_time and targets):
            return False
        component = self.components[state]
        if component.repeats:
            return state not in targets
        return not any(begin.nearest and self._begins(symbol, begin) for begin in component.begins)

    def goes_on(self, target: int) -> bool:
        """Whether a match that has come to this component may select further events."""
        component = self.components[target]
        return (component.repeats or bool(component.begins)) and not (component.completes and self._stops)

    @property
    def states(self) -> list[int]:
        """The components in which a partial match may wait, last ones first."""
        return [state for state in reversed(range(len(self.components))) if self.goes_on(state)]

    @property
    def bits(self) -> set[int]:
        """The predicates that matter."""
        return {bit for c in self.components for bit in (c.first_bit, c.later_bit) if bit >= 0}


def holds(symbol: int, bit: int) -> bool:
    return bit < 0 or bool(symbol >> bit & 1)
