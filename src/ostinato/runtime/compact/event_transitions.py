"""What an event may do to a partial match whose last element is known: for conditions that look at one event alone."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.program.analysis.carried_negations import crossed, gap_sets, stages
from ostinato.program.elements import Transition
from ostinato.program.pattern import EventPattern


@dataclass(frozen=True)
class State:
    """Where partial matches wait: their last element, which negations they are about to cross (none: they may take further events, or
    begin an element without crossing any), and how many events of each of these have come since. `fresh`: their last event is of the
    time at hand, and no other of that time may follow it."""

    element: int
    gap: tuple[int, ...] = ()
    stage: tuple[int, ...] = ()
    fresh: bool = False


@dataclass(frozen=True)
class StateTransition:
    """The event is bound to `element`, and the partial match goes on in state `target`, if it does. UNBOUND: it is none of the match's
    events, but those that wait go to another state."""

    source: int  # START for none
    target: int
    element: int
    completes: bool
    continues: bool


START = -1
UNBOUND = -1
LAST_BIT = 62  # of a symbol, which is a signed number


class EventTransitions:
    """`symbol` is the set of predicate bits that hold for the event. States are numbered so that no transition leads to a smaller one;
    those of an element stand together, first the one without a gap.

    Where simultaneous events may not follow one another, an element has two states, and a match that takes an event waits in the fresh one
    until time goes on: that is an event of its own, with a bit that no row has (`epoch_bit`). There a transition may lead from the second
    state of an element to its first. An event that is known to be the only one of its time has another such bit (`alone_bit`), and what
    takes it need not wait."""

    def __init__(self, pattern: EventPattern) -> None:
        self.elements = pattern.elements
        self._pattern = pattern
        self._initial = pattern.initial
        self._selection = pattern.selection
        self._one_at_a_time = pattern.one_at_a_time or pattern.output == "first"
        self._stops = pattern.output == "first"
        self.by_epoch = pattern.by_epoch
        self.epoch_bit = pattern.bits
        self.alone_bit = pattern.bits + 1 if self.by_epoch and pattern.bits + 1 <= LAST_BIT else -1
        self.all_states: list[State] = []
        self._states_of_element: list[range] = []
        for number in range(len(pattern.elements)):
            first = len(self.all_states)
            self.all_states += [State(number, fresh=True)] if self.by_epoch else []
            self.all_states.append(State(number))
            self.all_states += [State(number, gap, stage) for gap in gap_sets(pattern, number) for stage in stages(pattern, gap)]
            self._states_of_element.append(range(first, len(self.all_states)))

    def transitions(self, symbol: int, number: int) -> tuple[list[StateTransition], bool]:
        """Of the partial matches in a state, what becomes of those that wait there last; and whether they may also stay as they are. Only
        what they may select depends on the state: negation influences no transition."""
        state = self.all_states[number]
        if self.by_epoch and (state.fresh or symbol >> self.epoch_bit & 1):
            return self._aged(symbol, state, number)
        targets = self._targets(symbol, state.element)
        stays = self._passes(symbol, state.element, targets)
        found = []
        for target in targets:
            if target == state.element:
                found += [] if state.gap else self._into(symbol, number, target)
            elif crossed(self._pattern, state.element, target) == state.gap:
                found += self._into(symbol, number, target)
        stage = self._next_stage(symbol, state)
        if stays and stage is not None and stage != state.stage:
            later = self.all_states.index(State(state.element, state.gap, stage))
            found.append(StateTransition(number, later, UNBOUND, completes=False, continues=True))
        return found, stays and stage == state.stage

    def _aged(self, symbol: int, state: State, number: int) -> tuple[list[StateTransition], bool]:
        """What is fresh is passed by all events, until time goes on."""
        if not state.fresh or not symbol >> self.epoch_bit & 1:
            return [], True
        return [StateTransition(number, number + 1, UNBOUND, completes=False, continues=True)], False

    def _next_stage(self, symbol: int, state: State) -> tuple[int, ...] | None:
        """Of those that ignore the event; None if something negated is there now."""
        found = []
        for number, reached in zip(state.gap, state.stage, strict=True):
            items = self._pattern.negations[number].items
            reached += holds(symbol, items[reached].bit)
            if reached == len(items):
                return None
            found.append(reached)
        return tuple(found)

    def starts(self, symbol: int) -> list[StateTransition]:
        if self.by_epoch and symbol >> self.epoch_bit & 1:
            return []
        following = [transition.target for transition in self._initial if self._may_begin(symbol, transition)]
        return [
            transition
            for target in (following[:1] if self._one_at_a_time else following)
            for transition in self._into(symbol, START, target)
        ]

    def _targets(self, symbol: int, number: int) -> list[int]:
        """The elements that the event may be bound to, a take last; of a deterministic match only the preferred one."""
        element = self.elements[number]
        take = [number] if element.repeats and holds(symbol, element.later_bit) else []
        following = [transition.target for transition in element.transitions if self._may_begin(symbol, transition)]
        return (take + following)[:1] if self._one_at_a_time else following + take

    def _may_begin(self, symbol: int, transition: Transition) -> bool:
        return holds(symbol, self.elements[transition.target].first_bit)

    def _passes(self, symbol: int, number: int, targets: list[int]) -> bool:
        """Whether a partial match may ignore the event."""
        if self._selection == "skip_till_any_match":
            return True
        if self._selection != "skip_till_next_match" or (self._one_at_a_time and targets):
            return False
        element = self.elements[number]
        if element.repeats:
            return number not in targets
        return not any(transition.nearest and self._may_begin(symbol, transition) for transition in element.transitions)

    def _into(self, symbol: int, source: int, element: int) -> list[StateTransition]:
        """To every state in which the match may then wait; the first of them, which comes last, says whether it is complete."""
        found = []
        waits = self.by_epoch and not (self.alone_bit >= 0 and holds(symbol, self.alone_bit))
        for target in reversed(self._states_of_element[element]):
            if any(self.all_states[target].stage) or self.all_states[target].fresh != waits:
                continue  # nothing has come yet, nor has time gone on
            completes = self.elements[element].completes and not self.all_states[target].gap
            continues = self._goes_on(target)
            if completes or continues:
                found.append(StateTransition(source, target, element, completes, continues))
        return found

    def _goes_on(self, number: int) -> bool:
        """Whether a match that has come to this state may select further events from it."""
        state = self.all_states[number]
        element = self.elements[state.element]
        if element.completes and self._stops:
            return False
        if state.gap:
            return True
        return element.repeats or any(not crossed(self._pattern, state.element, transition.target) for transition in element.transitions)

    @property
    def states(self) -> list[int]:
        """Those in which a partial match may wait, last ones first."""
        return [number for number in reversed(range(len(self.all_states))) if self._goes_on(number)]

    @property
    def bits(self) -> set[int]:
        """The predicates that matter."""
        of_elements = (bit for c in self.elements for bit in (c.first_bit, c.later_bit))
        negated = (item.bit for negation in self._pattern.negations for item in negation.items)
        epoch = (self.epoch_bit, self.alone_bit) if self.by_epoch else ()
        return {bit for bit in (*of_elements, *negated, *epoch) if bit >= 0}

    @property
    def alone(self) -> int:
        """What is added to the bits of an event that is the only one of its time; 0: nothing has to wait, or there is no bit for it."""
        return 1 << self.alone_bit if self.alone_bit >= 0 else 0

    @property
    def fresh_states(self) -> int:
        """As a bit set."""
        return sum(1 << number for number, state in enumerate(self.all_states) if state.fresh)


def holds(symbol: int, bit: int) -> bool:
    return bit < 0 or bool(symbol >> bit & 1)
