"""From a pattern to an epsilon-free automaton with ordered transitions.

A state is a continuation: what is still to be matched, as a stack of frames. A loop's frame counts the iterations that are complete
and remembers whether the one under way has mapped a row. Following a continuation without reading rows gives its transitions in the order
of preferment (ISO/IEC 19075-5, 7.2): alternatives from left to right, greedy loops iterate before they leave, reluctant ones leave
first. An iteration that maps no row is accepted at its place in that order; it ends the loop once the minimum is reached, and below
it the next iteration goes on. Unrolling `{n,m}` into n copies and m - n optional ones would lose this rule.

The anchor `^` is a dead end except before the first row of a partition, where nothing is mapped yet: such attempts have an initial
state of their own. Behind `$` nothing can be mapped, so that what follows it accepts, at the end of the partition, or is a dead end."""

from __future__ import annotations

from typing import NamedTuple

from ostinato.algebra.pattern import Alternation, Empty, Excluded, PartitionEnd, PartitionStart, Pattern, Repetition, Sequence, Variable
from ostinato.base.errors import UnsupportedError
from ostinato.program.ordered_nfa import ACCEPT, ACCEPT_AT_END, OrderedNfa

MAX_STATES = 20_000
MAX_STEPS = 2_000_000  # frames followed while the automaton is built

DONE = 0  # the continuation with nothing left to match

Frame = tuple[Pattern, int, bool]  # a pattern still to be matched (count -1), or a loop with its count and emptiness


class Place(NamedTuple):
    """A continuation, and whether it stands before the first row of a partition, or behind an anchor `$`."""

    continuation: int
    before_all: bool = False
    behind_all: bool = False


def construct(pattern: Pattern, variable_numbers: dict[str, int]) -> OrderedNfa:
    return _Construction(variable_numbers).run(pattern)


class _Construction:
    """Continuations are numbered: `_frames[c]` is the top frame of continuation c (by number) and the number of what lies below."""

    def __init__(self, variable_numbers: dict[str, int]) -> None:
        self._variable_numbers = variable_numbers
        self._frame_numbers: dict[tuple[int, int, bool], int] = {}
        self._frames: list[Frame] = []
        self._patterns: dict[int, Pattern] = {}  # keeps patterns alive while their identity serves as a key
        self._numbers: dict[tuple[int, int], int] = {}
        self._stacks: list[tuple[int, int]] = [(-1, -1)]
        self._mapped: dict[int, int] = {DONE: DONE}
        self._steps = 0

    def run(self, pattern: Pattern) -> OrderedNfa:
        start = self._push((pattern, -1, False), DONE)
        places, of_partition = [Place(start)], Place(start, before_all=True)
        if self._follow(of_partition) != self._follow(places[0]):
            places.append(of_partition)
        states = {place: number for number, place in enumerate(places)}
        first = [0]
        transitions: list[tuple[int, int]] = []
        for place in places:  # grows while it is walked
            for variable, target in self._follow(place):
                after = Place(target)
                if variable >= 0 and after not in states:
                    states[after] = len(states)
                    places.append(after)
                transitions.append((variable, target if variable < 0 else states[after]))
            first.append(len(transitions))
            if len(states) > MAX_STATES:
                raise _too_large()
        return OrderedNfa(tuple(first), tuple(transitions), 0, states.get(of_partition, 0))

    def _follow(self, place: Place) -> list[tuple[int, int]]:
        """The transitions from a place, best first. What stands behind accepting is never preferred, and a place that was followed before
        offers nothing that is not already there with a higher preference. Accepting at the end comes last: no row can be read there,
        so that its place among the transitions makes no difference."""
        transitions: dict[tuple[int, int], None] = {}
        seen: set[Place] = set()
        waiting = [place]
        accepting = None
        while waiting and accepting != ACCEPT:
            current = waiting.pop()
            if current in seen:
                continue
            seen.add(current)
            self._steps += 1
            if self._steps > MAX_STEPS:
                raise _too_large()
            if current.continuation == DONE:
                accepting = ACCEPT_AT_END if current.behind_all else ACCEPT
                continue
            number, below = self._stacks[current.continuation]
            item, count, empty = self._frames[number]
            if not isinstance(item, Variable):
                waiting.extend(reversed(self._pass(current, item, count, empty, below)))
            elif not current.behind_all:
                transitions[self._variable_numbers[item.name], self._after_row(below)] = None
        return [*transitions, *([accepting] if accepting else [])]

    def _pass(self, place: Place, item: Pattern, count: int, empty: bool, below: int) -> list[Place]:
        """The places that can be reached from a place without reading a row, best first."""
        if isinstance(item, PartitionStart):
            return [place._replace(continuation=below)] if place.before_all else []
        if isinstance(item, PartitionEnd):
            return [place._replace(continuation=below, behind_all=True)]
        return [place._replace(continuation=to) for to in self._expand(item, count, empty, below)]

    def _expand(self, item: Pattern, count: int, empty: bool, below: int) -> list[int]:
        """The continuations that a frame stands for, best first."""
        if isinstance(item, Empty):
            return [below]
        if isinstance(item, Sequence):
            for part in reversed(item.items):
                below = self._push((part, -1, False), below)
            return [below]
        if isinstance(item, Alternation):
            return [self._push((part, -1, False), below) for part in item.items]
        if isinstance(item, Excluded):
            return [self._push((item.item, -1, False), below)]
        assert isinstance(item, Repetition)
        if count < 0:
            return self._iterate_or_leave(item, 0, below)
        complete = count + 1
        if empty and complete >= item.at_least:
            return [below]
        return self._iterate_or_leave(item, complete, below)

    def _iterate_or_leave(self, loop: Repetition, complete: int, below: int) -> list[int]:
        choices = []
        if loop.at_most is None or complete < loop.at_most:
            count = min(complete, loop.at_least) if loop.at_most is None else complete  # more makes no difference to the future
            choices.append(self._push((loop.item, -1, False), self._push((loop, count, True), below)))
        if complete >= loop.at_least:
            choices.append(below)
        return choices if loop.greedy else choices[::-1]

    def _push(self, frame: Frame, below: int) -> int:
        pattern, count, empty = frame
        self._patterns[id(pattern)] = pattern
        key = (id(pattern), count, empty)
        if key not in self._frame_numbers:
            self._frame_numbers[key] = len(self._frames)
            self._frames.append(frame)
        stack = (self._frame_numbers[key], below)
        if stack not in self._numbers:
            self._numbers[stack] = len(self._stacks)
            self._stacks.append(stack)
        return self._numbers[stack]

    def _after_row(self, continuation: int) -> int:
        """The same continuation once a row has been mapped: no iteration under way is empty any more."""
        chain = []
        while continuation not in self._mapped:
            chain.append(continuation)
            continuation = self._stacks[continuation][1]
        result = self._mapped[continuation]
        for stack in reversed(chain):
            item, count, _ = self._frames[self._stacks[stack][0]]
            if isinstance(item, Repetition) and item.at_most is None:
                count = min(count, max(item.at_least - 1, 0))  # this iteration will count, and then the minimum is reached
            result = self._mapped[stack] = self._push((item, count, False), result)
        return result


def _too_large() -> UnsupportedError:
    return UnsupportedError(
        "the pattern is too large",
        detail=f"Its automaton has more than {MAX_STATES} states or more than {MAX_STEPS} steps between rows.",
        hint="Use smaller bounds in {n,m}, nest fewer bounded quantifiers, or list fewer items in PERMUTE.",
    )
