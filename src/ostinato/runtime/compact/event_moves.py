"""What an event may do to a partial match whose last component is known: for conditions that look at one event alone."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.program.analysis.carried_negations import crossed, gap_sets, stages
from ostinato.program.components import Begin
from ostinato.program.pattern import EventPattern


@dataclass(frozen=True)
class State:
    """Where partial matches wait: their last component, which negations they are about to cross (none: they may take further events, or
    begin a component without crossing any), and how many events of each of these have come since."""

    component: int
    gap: tuple[int, ...] = ()
    stage: tuple[int, ...] = ()


@dataclass(frozen=True)
class Move:
    """The event is bound to `component`, and the partial match goes on in state `target`, if it does. UNBOUND: it is none of the match's
    events, but those that wait go to another state."""

    source: int  # START for none
    target: int
    component: int
    completes: bool
    goes_on: bool


START = -1
UNBOUND = -1


class EventMoves:
    """`symbol` is the set of predicate bits that hold for the event. States are numbered so that no move leads to a smaller one; those of
    a component stand together, first the one without a gap."""

    def __init__(self, pattern: EventPattern) -> None:
        self.components = pattern.components
        self._pattern = pattern
        self._entries = pattern.entries
        self._selection = pattern.selection
        self._one_at_a_time = pattern.one_at_a_time or pattern.output == "first"
        self._stops = pattern.output == "first"
        self.all_states: list[State] = []
        self._of_component: list[range] = []
        for number in range(len(pattern.components)):
            first = len(self.all_states)
            self.all_states.append(State(number))
            self.all_states += [State(number, gap, stage) for gap in gap_sets(pattern, number) for stage in stages(pattern, gap)]
            self._of_component.append(range(first, len(self.all_states)))

    def moves(self, symbol: int, number: int) -> tuple[list[Move], bool]:
        """Of the partial matches in a state, what becomes of those that wait there last; and whether they may also stay as they are. Only
        what they may select depends on the state: negation influences no move."""
        state = self.all_states[number]
        targets = self._targets(symbol, state.component)
        stays = self._passes(symbol, state.component, targets)
        found = []
        for target in targets:
            if target == state.component:
                found += [] if state.gap else self._into(number, target)
            elif crossed(self._pattern, state.component, target) == state.gap:
                found += self._into(number, target)
        stage = self._next_stage(symbol, state)
        if stays and stage is not None and stage != state.stage:
            later = self.all_states.index(State(state.component, state.gap, stage))
            found.append(Move(number, later, UNBOUND, completes=False, goes_on=True))
        return found, stays and stage == state.stage

    def _next_stage(self, symbol: int, state: State) -> tuple[int, ...] | None:
        """Of those that ignore the event; None if something forbidden is there now."""
        found = []
        for number, reached in zip(state.gap, state.stage, strict=True):
            items = self._pattern.negations[number].items
            reached += holds(symbol, items[reached].bit)
            if reached == len(items):
                return None
            found.append(reached)
        return tuple(found)

    def starts(self, symbol: int) -> list[Move]:
        begins = [begin.target for begin in self._entries if self._begins(symbol, begin)]
        return [move for target in (begins[:1] if self._one_at_a_time else begins) for move in self._into(START, target)]

    def _targets(self, symbol: int, number: int) -> list[int]:
        """The components that the event may be bound to, a take last; of a deterministic match only the preferred one."""
        component = self.components[number]
        take = [number] if component.repeats and holds(symbol, component.later_bit) else []
        begins = [begin.target for begin in component.begins if self._begins(symbol, begin)]
        return (take + begins)[:1] if self._one_at_a_time else begins + take

    def _begins(self, symbol: int, begin: Begin) -> bool:
        return holds(symbol, self.components[begin.target].first_bit)

    def _passes(self, symbol: int, number: int, targets: list[int]) -> bool:
        """Whether a partial match may ignore the event."""
        if self._selection == "skip_till_any_match":
            return True
        if self._selection != "skip_till_next_match" or (self._one_at_a_time and targets):
            return False
        component = self.components[number]
        if component.repeats:
            return number not in targets
        return not any(begin.nearest and self._begins(symbol, begin) for begin in component.begins)

    def _into(self, source: int, component: int) -> list[Move]:
        """To every state in which the match may then wait; the first of them, which comes last, says whether it is complete."""
        found = []
        for target in reversed(self._of_component[component]):
            if any(self.all_states[target].stage):
                continue  # nothing has come yet
            completes = self.components[component].completes and not self.all_states[target].gap
            goes_on = self._goes_on(target)
            if completes or goes_on:
                found.append(Move(source, target, component, completes, goes_on))
        return found

    def _goes_on(self, number: int) -> bool:
        """Whether a match that has come to this state may select further events from it."""
        state = self.all_states[number]
        component = self.components[state.component]
        if component.completes and self._stops:
            return False
        if state.gap:
            return True
        return component.repeats or any(not crossed(self._pattern, state.component, begin.target) for begin in component.begins)

    @property
    def states(self) -> list[int]:
        """Those in which a partial match may wait, last ones first."""
        return [number for number in reversed(range(len(self.all_states))) if self._goes_on(number)]

    @property
    def bits(self) -> set[int]:
        """The predicates that matter."""
        of_components = (bit for c in self.components for bit in (c.first_bit, c.later_bit))
        forbidden = (item.bit for negation in self._pattern.negations for item in negation.items)
        return {bit for bit in (*of_components, *forbidden) if bit >= 0}


def holds(symbol: int, bit: int) -> bool:
    return bit < 0 or bool(symbol >> bit & 1)
