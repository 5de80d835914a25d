"""The transitions of runs: take, begin, ignore, and when a run is a match."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ostinato.algebra.policies import Selection, Ties
from ostinato.algebra.query import MatchQuery, Unit
from ostinato.reference.binding import Binding, admits, may_leave
from ostinato.reference.elements import Element, Line, Shape
from ostinato.reference.match import Match
from ostinato.reference.stream import Row, elapsed, value_at

Run = tuple[tuple[int, int], ...]  # (index in the ordered stream, element number), never empty once started


@dataclass(frozen=True)
class RunTransitions:
    """The transitions that an event offers to a run. `given` are (index in the stream, variable) of a match that the runs add to: its
    partition is theirs, and their conditions may speak of it. `inside`: the events among which the runs are looked for, where it is
    the gap of a negation; None: all of the stream."""

    query: MatchQuery
    stream: list[Row]
    shape: Shape
    given: tuple[tuple[int, str], ...] = ()
    inside: range | None = None

    @property
    def elements(self) -> tuple[Element, ...]:
        return self.shape.elements

    def select(self, run: Run, event: int) -> list[Run]:
        """take first, then begin, the elements in the order of the text. The empty run has begun nothing yet."""
        selected = [(*run, (event, run[-1][1]))] if self.may_take(run, event) else []
        return selected + [(*run, (event, number)) for number in self._next_elements(run) if self.may_begin(run, event, number)]

    def may_take(self, run: Run, event: int) -> bool:
        return bool(run) and self.elements[run[-1][1]].repeats and self._binds(run, event, run[-1][1])

    def may_begin(self, run: Run, event: int, number: int) -> bool:
        return self._may_pass(run, number) and self._binds(run, event, number)

    def may_ignore(self, run: Run, event: int) -> bool:
        if self.expired(run, event):
            return False
        match self.query.selection:
            case Selection.STRICT:
                return False
            case Selection.PARTITION:
                return not self.in_partition(run, event)
            case Selection.ANY:
                return True
        if self.elements[run[-1][1]].repeats:
            return not self.may_take(run, event)
        following = {rest[0] for rest in self._rests(run) if rest}
        return bool(following) and not any(self.may_begin(run, event, number) for number in following)

    def complete(self, run: Run) -> bool:
        """Nothing mandatory is left, and the conditions about the element that the run is in, and about empty ones after it, hold."""
        finished = [rest for rest in self._rests(run) if all(self.elements[number].optional for number in rest)]
        return any(self._may_leave(run, rest) for rest in finished)

    def may_continue(self, run: Run) -> bool:
        """Whether there is anything that a later event could be."""
        return self.elements[run[-1][1]].repeats or bool(self._next_elements(run))

    def expired(self, run: Run, event: int) -> bool:
        within = self.query.within
        if within is None:
            return False
        if within.unit is Unit.TIME:
            return elapsed(self.query, self.stream[run[0][0]], self.stream[event]) > within.length
        return self._counted(run, event) > within.length

    def is_counted_out(self, run: Run, event: int) -> bool:
        """Whether the event is the last that a window of so many events has room for."""
        within = self.query.within
        return within is not None and within.unit is Unit.EVENTS and self._counted(run, event) >= within.length

    def _counted(self, run: Run, event: int) -> int:
        return len([row for row in self.stream[run[0][0] : event + 1] if row.key == self.stream[run[0][0]].key])

    def in_partition(self, run: Run, event: int) -> bool:
        return not (self.given or run) or self.stream[(self.given or run)[0][0]].key == self.stream[event].key

    def _rests(self, run: Run) -> list[tuple[int, ...]]:
        """What lies ahead of the run, for every choice of alternatives that is still open to it."""
        lines = [line.elements for line in self.open_lines(run)]
        return list(dict.fromkeys(line[line.index(run[-1][1]) + 1 :] if run else line for line in lines))

    def open_lines(self, run: Run) -> list[Line]:
        """Those that hold all elements of the run. Alternatives select at least one event, so of a complete run it is one."""
        held = {number for _, number in run}
        return [line for line in self.shape.lines if held <= set(line.elements)]

    def _next_elements(self, run: Run) -> list[int]:
        """The next elements, and those after them as long as what is left out may be empty."""
        found: set[int] = set()
        for rest in self._rests(run):
            for number in rest:
                found.add(number)
                if not self.elements[number].optional:
                    break
        return sorted(found)

    def _binds(self, run: Run, event: int, number: int) -> bool:
        row = self.stream[event]
        if row.key is None or not self.in_partition(run, event):
            return False
        if run and (self.expired(run, event) or self.simultaneous(run[-1][0], event)):
            return False
        return admits(self.query, self.elements[number].variable, self._binding((*run, (event, number))))

    def _may_pass(self, run: Run, number: int) -> bool:
        """The conditions about finished elements that lie before `number`: the one that the run is in, and those left empty. They
        are the same for all open choices: alternatives select at least one event, so none is passed without being taken."""
        rest = next(rest for rest in self._rests(run) if number in rest)
        return self._may_leave(run, rest[: rest.index(number)])

    def _may_leave(self, run: Run, empty: tuple[int, ...]) -> bool:
        left = (*(number for _, number in run[-1:]), *empty)
        return all(may_leave(self.query, self.elements[number].variable, self._binding(run)) for number in left)

    def simultaneous(self, earlier: int, later: int) -> bool:
        """Under `epoch` an event does not follow one of the same time: it cannot be selected after it, and is in no gap beside it. As any
        other, it may be possible to ignore it."""
        time = self.query.time
        if self.query.ties is not Ties.EPOCH or time is None:
            return False
        return value_at(self.stream[earlier].values, time) == value_at(self.stream[later].values, time)

    def _binding(self, run: Run) -> Binding:
        """Physical neighbours are those of the partition, so the rows are numbered there."""
        partition = [index for index in range(len(self.stream)) if self.in_partition(run, index)]
        mapped = tuple((partition.index(index), variable) for index, variable in (*self.given, *self.named(run)))
        return Binding([self.stream[index] for index in partition], mapped, 1)

    def named(self, run: Run) -> tuple[tuple[int, str], ...]:
        return tuple((index, self.elements[number].variable) for index, number in run)

    def preference(self, run: Run) -> tuple[Any, ...]:
        """The earliest positions first, then the one whose earlier elements hold more."""
        held = [0] * len(self.elements)
        for _, number in run:
            held[number] -= 1
        return tuple(index for index, _ in run), tuple(held)

    def rank(self, run: Run) -> tuple[Any, ...]:
        """Output order: by the completing event, then by the positions selected."""
        return run[-1][0], *self.preference(run)

    def report(self, runs: list[Run]) -> list[Match]:
        numbers: dict[Any, int] = {}
        matches = []
        for run in runs:
            first = self.stream[run[0][0]]
            numbers[first.key] = number = numbers.get(first.key, 0) + 1
            named = tuple((self.stream[index].position, variable) for index, variable in self.named(run))
            matches.append(Match(named, first.key or (), number, first.position))
        return matches
