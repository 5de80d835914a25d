"""Patterns of situations that nothing can match, whatever comes: what is said of them contradicts itself.

Relations, durations, bounds and the window are differences of times. Which of its relations a constraint has is tried out, after those are
gone that no third situation admits. What is called contradictory never matches; what would take too long to try is called nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ostinato.algebra.allen import Compare, Constraint, Related, Side
from ostinato.algebra.composition import RELATIONS, Network, inverse, path_consistent
from ostinato.algebra.differences import Difference, Differences
from ostinato.algebra.policies import Latency
from ostinato.algebra.situations import Duration, MatchIntervals

MOST_INTERVALS = 12  # among which relations are composed: with the cube of their number
MOST_TRIED = 2000  # relations, before nothing is said
NOW = 0  # the time of detection; behind it the start and the end of each situation


@dataclass(frozen=True)
class Contradiction:
    """No match satisfies these together: constraints by their numbers, how long situations last by their names, and the window."""

    constraints: tuple[int, ...]
    durations: tuple[str, ...]
    within: bool


def contradiction(query: MatchIntervals) -> Contradiction | None:
    """As little as contradicts itself; None: nothing is known to."""
    lasting = tuple(one.name for one in query.situations.definitions if one.duration != Duration())
    found = Contradiction(tuple(range(len(query.constraints))), lasting, query.within is not None)
    if not _is_impossible(query, found):
        return None
    for less in _reduced(query, found):
        found = less
    return found


def _reduced(query: MatchIntervals, found: Contradiction) -> Iterator[Contradiction]:
    """Without what is not needed for the contradiction, one thing after the other: first the window (None)."""
    for unneeded in (None, *found.durations, *found.constraints):
        less = Contradiction(
            tuple(number for number in found.constraints if number != unneeded),
            tuple(name for name in found.durations if name != unneeded),
            found.within and unneeded is not None,
        )
        if _is_impossible(query, less):
            found = less
            yield found


def _is_impossible(query: MatchIntervals, said: Contradiction) -> bool:
    constraints = [query.constraints[number] for number in said.constraints]
    options = _possible_relations(query, constraints)
    times = Differences(1 + 2 * len(query.situations.definitions))
    if options is None or not times.add(_of_situations(query, said)):
        return True
    return _Search(query, options).fails(times, 0)


def _possible_relations(query: MatchIntervals, constraints: Sequence[Constraint]) -> list[tuple[Constraint, list[Related]]] | None:
    """The relations of each constraint that others admit, those with few of them first; None: one has none."""
    names = [one.name for one in query.situations.definitions]
    network: Network = {}
    for constraint in constraints:
        i, j = names.index(constraint.first), names.index(constraint.second)
        own = sum({1 << RELATIONS.index(related.relation) for related in constraint.allowed})
        place, bits = ((i, j), own) if i < j else ((j, i), inverse(own))
        network[place] = network.get(place, -1) & bits
    left: Network | None = network | {(j, i): inverse(relations) for (i, j), relations in network.items()}
    if len(names) <= MOST_INTERVALS:
        left = path_consistent(network, len(names))
    if left is None:
        return None
    found = []
    for constraint in constraints:
        allowed = left[names.index(constraint.first), names.index(constraint.second)]
        found.append((constraint, [one for one in constraint.allowed if allowed >> RELATIONS.index(one.relation) & 1]))
    return sorted(found, key=lambda one: len(one[1]))


class _Search:
    """One relation of each constraint, so that there are times for all."""

    def __init__(self, query: MatchIntervals, options: list[tuple[Constraint, list[Related]]]) -> None:
        self._places = {one.name: 1 + 2 * number for number, one in enumerate(query.situations.definitions)}
        self._options = options
        self._tried = 0

    def fails(self, times: Differences, depth: int) -> bool:
        """Whether there are none. That it took too long is no failure."""
        if depth == len(self._options):
            return False
        constraint, related = self._options[depth]
        for one in related:
            self._tried += 1
            further = times.copy()
            if self._tried > MOST_TRIED or (further.add(self._of(constraint, one)) and not self.fails(further, depth + 1)):
                return False
        return True

    def _of(self, constraint: Constraint, related: Related) -> Iterator[Difference]:
        first, second = self._places[constraint.first], self._places[constraint.second]
        at = {Side.A_START: first, Side.A_END: first + 1, Side.B_START: second, Side.B_END: second + 1}
        for left, compare, right in related.relation.comparisons:
            yield at[right], at[left], -1 if compare is Compare.LESS else 0
            if compare is Compare.EQUAL:
                yield at[left], at[right], 0
        if related.bounds is not None:
            begin, end = related.relation.distance
            yield at[begin], at[end], related.bounds.most
            yield at[end], at[begin], -related.bounds.least


def _of_situations(query: MatchIntervals, said: Contradiction) -> Iterator[Difference]:
    """What has to do with one situation alone, or with all of them. A situation that is still open when its match is detected lasts longer
    than until then, and the window is measured up to it."""
    early = query.latency is Latency.EARLIEST
    for number, definition in enumerate(query.situations.definitions):
        start, end = 1 + 2 * number, 2 + 2 * number
        duration = definition.duration if definition.name in said.durations else Duration()
        least = max(duration.at_least or 0, 1)
        yield end, start, -least
        yield NOW, start, -(duration.at_least or 0) if early else 0  # with `AT LEAST 0` it takes part as it begins
        if duration.at_most is not None:
            yield start, end, duration.at_most
        if not early or duration.at_most is not None or definition.start is not None:
            yield NOW, end, 0
        if said.within and query.within is not None:
            yield start, NOW, query.within.length
