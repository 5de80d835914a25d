"""Nested patterns: sequences, conjunctions, alternatives and negations of one another, with conditions at every level.

A candidate is a way to give events to the variables that are not negated, as the shape of the pattern allows: sequences strictly one after
the other in time, no event twice, one branch of an alternative, none for a member that may be left empty, but one at least in all. It is a
match if all conditions hold and nothing that is negated occurs.
What is negated occurs if it has a candidate among the other events of its room, the stretch of time that its neighbours leave it, which is
in its turn a match there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ostinato.algebra.pattern import Alternation, Conjunction, Negation, Pattern, Repetition, Sequence, Variable, Where, variables_of
from ostinato.algebra.policies import Output, Selection, Ties
from ostinato.algebra.query import MatchQuery, Unit, When
from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Aggregate, Expr, Nav
from ostinato.expr.values.evaluate import evaluate
from ostinato.reference.binding import AtMatch, Binding
from ostinato.reference.match import Match
from ostinato.reference.stream import Row, elapsed, ordered, value_at

# The variables that are bound, each with the indexes of its events: none for a member that selects nothing. A variable of a branch that is
# not taken is not bound.
Candidate = tuple[tuple[str, tuple[int, ...]], ...]
Inside = Callable[[int], bool]  # of the index of an event


def tree_matches(query: MatchQuery, rows: list[dict[str, Any]]) -> list[Match]:
    if query.selection is not Selection.ANY or query.ties is not Ties.EPOCH or query.partition:
        raise UnsupportedError("nested patterns select any events of the stream, strictly in time")
    if query.output not in (Output.ALL, Output.COUNT):
        raise UnsupportedError(f"the output {query.output.value} is not offered for nested patterns", hint="use all or count")
    tree = _Tree(query, ordered(query, rows))
    return [tree.reported(number, match) for number, match in enumerate(sorted(tree.matches(), key=tree.rank), 1)]


@dataclass(frozen=True)
class Room:
    """Where the matches of a part may lie: behind what comes before it, and before what comes after it. None: nothing says how far."""

    behind: Inside | None
    before: Inside | None

    def holds(self, index: int, negation: Negation) -> bool:
        if self.behind is None or self.before is None:
            hint = "add WITHIN a length of time"
            raise UnsupportedError("a negation that can stand at an end of the match needs a window in time", hint=hint, span=negation.span)
        return self.behind(index) and self.before(index)


@dataclass(frozen=True)
class _Tree:
    query: MatchQuery
    stream: list[Row]

    def matches(self) -> list[Candidate]:
        found = (match for match in self.occurrences(self.query.pattern, list(range(len(self.stream)))) if self._fits_the_window(match))
        return [match for match in found if self.holds(self.query.pattern, match, (), self._window(match))]

    # Candidates

    def occurrences(self, pattern: Pattern, events: list[int]) -> list[Candidate]:
        """The candidates that hold an event."""
        return [found for found in self.candidates(pattern, events) if events_of(found)]

    def candidates(self, pattern: Pattern, events: list[int]) -> list[Candidate]:
        """The ways to match the positive parts of the pattern with some of the events."""
        match pattern:
            case Variable(name):
                return [((name, (index,)),) for index in events if self._has_type(name, index)]
            case Repetition(Variable(name), 0 | 1 as at_least, None):
                lists = self._lists([index for index in events if self._has_type(name, index)])
                return [*_left_out(name, at_least), *(((name, chosen),) for chosen in lists)]
            case Repetition(Variable(name) as single, 0, 1):
                return [*_left_out(name, 0), *self.candidates(single, events)]
            case Where(item):
                return self.candidates(item, events)
            case Alternation(items):
                return [found for item in items for found in self.candidates(item, events)]
            case Sequence(items) | Conjunction(items):
                return [sum(chosen, ()) for chosen in self._chosen(pattern, _positive(items), events)]
        raise UnsupportedError(f"{type(pattern).__name__} does not stand in a nested pattern")

    def _lists(self, events: list[int]) -> list[tuple[int, ...]]:
        """All that are not empty, each strictly forward in time."""
        found: list[tuple[int, ...]] = []
        for index in events:
            found += [(*begun, index) for begun in found if self.time(begun[-1]) < self.time(index)]
            found.append((index,))
        return found

    def _chosen(self, pattern: Pattern, items: list[Pattern], events: list[int]) -> list[tuple[Candidate, ...]]:
        chosen: list[tuple[Candidate, ...]] = [()]
        for item in items:
            more = self.candidates(item, events)
            chosen = [(*before, found) for before in chosen for found in more if self._together(pattern, (*before, found))]
        return chosen

    def _together(self, pattern: Pattern, chosen: tuple[Candidate, ...]) -> bool:
        held = [part for part in chosen if events_of(part)]
        if isinstance(pattern, Sequence) and len(held) > 1 and self.end(held[-2]) >= self.start(held[-1]):
            return False
        events = [index for part in held for index in events_of(part)]
        return len(set(events)) == len(events)

    def _has_type(self, variable: str, index: int) -> bool:
        wanted = self.query.definition(variable).event_type
        column = self.query.type_column
        return wanted is None or column is None or bool(value_at(self.stream[index].values, column) == wanted)

    # Conditions and negations

    def holds(self, pattern: Pattern, match: Candidate, around: Candidate, room: Room) -> bool:
        """Whether the candidate is a match of the pattern in its room. `around` is what is bound outside of it: `match` holds the other
        parts of a positive pattern too, `around` the match in which a negated one is looked for."""
        match pattern:
            case Variable():
                return True
            case Repetition(Variable(name)):
                return self._running_conditions_hold(name, (*around, *match))
            case Where(item, conditions):
                bound = (*around, *match)
                return all(self._satisfied(condition, bound) for condition in conditions) and self.holds(item, match, around, room)
            case Alternation(items):
                return all(self.holds(item, match, around, room) for item in items if _taken(item, match))
            case Conjunction(items):
                return self._conjunction_holds(pattern, items, match, around, room)
            case Sequence(items):
                return all(self._member_holds(items, place, match, around, room) for place in range(len(items)))
        raise UnsupportedError(f"{type(pattern).__name__} does not stand in a nested pattern")

    def _conjunction_holds(self, pattern: Conjunction, items: tuple[Pattern, ...], match: Candidate, around: Candidate, room: Room) -> bool:
        """A positive item has the room of the conjunction; what is negated must not occur from its first event to its last,
        if it has some."""
        own = _part(pattern, match)
        if any(not self.holds(item, match, around, room) for item in _positive(items)):
            return False
        if not events_of(own):
            return True
        start, end = self.start(own), self.end(own)
        inner = Room(lambda index: self.time(index) >= start, lambda index: self.time(index) <= end)
        return not any(self.occurs(item, (*around, *match), inner) for item in items if isinstance(item, Negation))

    def _member_holds(self, items: tuple[Pattern, ...], place: int, match: Candidate, around: Candidate, room: Room) -> bool:
        """The room of a member is what its nearest positive neighbours that have events leave it, strictly between them."""
        member, before, after = items[place], _held(items[:place], match), _held(items[place + 1 :], match)
        behind, ahead = room.behind, room.before
        if before:
            end = self.end(before[-1])
            behind = lambda index: self.time(index) > end  # noqa: E731
        if after:
            start = self.start(after[0])
            ahead = lambda index: self.time(index) < start  # noqa: E731
        inner = Room(behind, ahead)
        if isinstance(member, Negation):
            return not self.occurs(member, (*around, *match), inner)
        return self.holds(member, match, around, inner)

    def occurs(self, negation: Negation, around: Candidate, room: Room) -> bool:
        taken = set(events_of(around))
        events = [index for index in range(len(self.stream)) if index not in taken and room.holds(index, negation)]
        return any(self.holds(negation.item, found, around, room) for found in self.occurrences(negation.item, events))

    def _satisfied(self, condition: Expr, bound: Candidate) -> bool:
        """A condition says nothing where one of its variables is not bound, or has none of the events that it speaks of. Counting needs
        none."""
        names, held = {name for name, _ in bound}, {name for name, events in bound if events}
        applies = mentioned(condition) <= names and mentioned(condition, counted=False) <= held
        return not applies or evaluate(condition, AtMatch(self._binding(bound))) is True

    def _running_conditions_hold(self, variable: str, bound: Candidate) -> bool:
        """At every event of a list: it is the last one then, and the last of all that is bound."""
        events = dict(bound)[variable]
        others = tuple(part for part in bound if part[0] != variable)
        for count in range(1, len(events) + 1):
            seen = (*others, (variable, events[:count]))
            whens = (When.EACH, When.FIRST if count == 1 else When.LATER)
            conditions = self.query.definition(variable).conditions
            if not all(self._satisfied(condition.expr, seen) for condition in conditions if condition.when in whens):
                return False
        return True

    def _binding(self, bound: Candidate) -> Binding:
        return Binding(self.stream, tuple((index, name) for name, events in bound for index in events), 1)

    # Times and windows

    @cached_property
    def _times(self) -> list[Any]:
        assert self.query.time is not None
        return [value_at(row.values, self.query.time) for row in self.stream]

    def time(self, index: int) -> Any:
        return self._times[index]

    def start(self, part: Candidate) -> Any:
        return self.time(min(events_of(part)))

    def end(self, part: Candidate) -> Any:
        return self.time(max(events_of(part)))

    def _fits_the_window(self, match: Candidate) -> bool:
        within, first, last = self.query.within, min(events_of(match)), max(events_of(match))
        if within is None:
            return True
        return self._apart(first, last) <= within.length if within.unit is Unit.TIME else last - first + 1 <= within.length

    def _window(self, match: Candidate) -> Room:
        """How far a negation at an end of the match reaches: as far as the match could, with the window that it has."""
        within, first, last = self.query.within, min(events_of(match)), max(events_of(match))
        if within is None or within.unit is Unit.EVENTS:
            return Room(None, None)
        return Room(
            lambda index: index > last or self._apart(index, last) <= within.length,
            lambda index: index < first or self._apart(first, index) <= within.length,
        )

    def _apart(self, first: int, last: int) -> int:
        return elapsed(self.query, self.stream[first], self.stream[last])

    # What is reported

    def rank(self, match: Candidate) -> tuple[Any, ...]:
        """By end, then by the positions of the variables in the order of the text; what is not bound comes last."""
        held = dict(match)
        return self.end(match), [held.get(name) or (len(self.stream),) for name in variables_of(self.query.pattern)]

    def reported(self, number: int, match: Candidate) -> Match:
        named = sorted((index, name) for name, events in match for index in events)
        positions = tuple((self.stream[index].position, name) for index, name in named)
        return Match(positions, (), number, positions[0][0])


def events_of(part: Candidate) -> list[int]:
    return [index for _, events in part for index in events]


def mentioned(condition: Expr, counted: bool = True) -> set[str]:
    """The variables that a condition speaks of; without `counted` those of whose events it asks more than how many there are."""
    nodes = [node for node in condition.walk() if isinstance(node, Nav | Aggregate)]
    if not counted:
        nodes = [node for node in nodes if not (isinstance(node, Aggregate) and node.function == "count")]
    return {node.variable for node in nodes if node.variable is not None}


def _left_out(name: str, at_least: int) -> list[Candidate]:
    return [] if at_least else [((name, ()),)]


def _positive(items: tuple[Pattern, ...]) -> list[Pattern]:
    return [item for item in items if not isinstance(item, Negation)]


def _held(items: tuple[Pattern, ...], match: Candidate) -> list[Candidate]:
    """What the match has of those that are not negated, and have events."""
    parts = [_part(item, match) for item in _positive(items)]
    return [part for part in parts if events_of(part)]


def _part(pattern: Pattern, match: Candidate) -> Candidate:
    names = variables_of(pattern)
    return tuple(bound for bound in match if bound[0] in names)


def _taken(item: Pattern, match: Candidate) -> bool:
    return bool(_part(item, match))
