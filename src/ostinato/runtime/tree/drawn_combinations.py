"""Combinations of events drawn by chance as a search binds them: within a window, in the order that is asked for. What neighbours in time
have in common, values that rise, or a tool that is used at once, they have too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ostinato.program.tree import Branch, TreePattern

DRAWN = 512
ORDERS = 8  # different ones of variables whose order is not asked for
FEWEST = 32  # combinations; where fewer are in order, the order is not looked at


@dataclass(frozen=True)
class Sample:
    """Rows that were drawn, key by key: `places` in the arena; of each row, between which places of the sample its key lies (`begins`,
    `ends`). `events` are, per predicate bit, those of the sample that have it; `window` is how many of the sample a window has."""

    places: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    events: Mapping[int, np.ndarray]
    window: float


@dataclass(frozen=True)
class Drawn:
    """Combinations. `found` has a line per variable, the places of its events in the sample; `near` is whether they lie where chance put
    them, or about there; `earlier` are pairs of variables of which the first has to come before the other."""

    sample: Sample
    lines: Mapping[int, int]
    found: np.ndarray
    near: np.ndarray
    earlier: frozenset[tuple[int, int]]

    def places(self, variables: tuple[int, ...]) -> np.ndarray:
        """Their events in the arena, a combination a line."""
        return np.ascontiguousarray(self.sample.places[self.found[[self.lines[variable] for variable in variables]]].T)

    def in_order(self, variables: tuple[int, ...]) -> np.ndarray:
        """Which combinations have these in a window and in the order that is asked for; all, where they are too few to say anything."""
        kept: np.ndarray = np.logical_and.reduce(self.near[[self.lines[variable] for variable in variables]])
        for one, other in self.earlier:
            if one in variables and other in variables:
                kept &= self.found[self.lines[one]] < self.found[self.lines[other]]
        return kept if np.count_nonzero(kept) >= FEWEST else np.ones(DRAWN, np.bool_)


def drawn_combinations(pattern: TreePattern, branch: Branch, sample: Sample, random: np.random.Generator) -> Drawn:
    """Each is about a window somewhere, every other one around an event of the rarest variable: without that there were few with all of
    them, and without the others few different ones. Each variable has its event where chance puts it, or next to that. Lists and
    variables without events in the sample are left out."""
    tree, events = pattern.tree, sample.events
    inside = [variable for one in branch.walk() for variable in one.variables]
    variables = [variable for variable in inside if not tree[variable].repeats and len(events[tree[variable].bit])]
    lines = {variable: line for line, variable in enumerate(variables)}
    if not variables:
        return Drawn(sample, lines, np.zeros((0, DRAWN), np.int64), np.zeros((0, DRAWN), np.bool_), frozenset())
    earlier = _earlier(branch, variables)
    rarest = min(variables, key=lambda variable: len(events[tree[variable].bit]))
    around = random.integers(len(sample.places), size=DRAWN)
    around[::2] = random.choice(events[tree[rarest].bit], len(around[::2]))
    wanted = _places_by_chance(variables, earlier, random) * sample.window
    wanted += around - np.where(np.arange(DRAWN) % 2 == 0, wanted[lines[rarest]], sample.window / 2)
    found = np.stack([_nearest(events[tree[variable].bit], at) for variable, at in zip(variables, wanted, strict=True)])
    near = (np.abs(found - wanted) <= sample.window / 2) & (found >= sample.begins[around]) & (found < sample.ends[around])
    return Drawn(sample, lines, found, near, frozenset(earlier))


def _earlier(branch: Branch, variables: list[int]) -> set[tuple[int, int]]:
    """Which variables come before which, those that must not be there and their neighbours too."""
    found = set(branch.follows)
    for negation in branch.negations:
        inside = [variable for one in negation.branch.walk() for variable in one.variables]
        found |= {(one, other) for one in negation.left.variables for other in inside if not negation.left.includes}
        found |= {(one, other) for one in inside for other in negation.right.variables if not negation.right.includes}
        found |= _earlier(negation.branch, variables)
    return {(one, other) for one, other in found if one in variables and other in variables}


def _places_by_chance(variables: list[int], earlier: set[tuple[int, int]], random: np.random.Generator) -> np.ndarray:
    """For each variable and combination a place between 0 and 1, in order."""
    places = np.sort(random.random((len(variables), DRAWN)), axis=0)
    found = np.empty_like(places)
    for number in range(ORDERS):
        for line, variable in enumerate(_one_order(variables, earlier, random)):
            found[variables.index(variable), number::ORDERS] = places[line, number::ORDERS]
    return found


def _one_order(variables: list[int], earlier: set[tuple[int, int]], random: np.random.Generator) -> list[int]:
    left, found = set(variables), []
    while left:
        free = sorted(variable for variable in left if not any(other == variable and one in left for one, other in earlier))
        found.append(free[random.integers(len(free))])
        left.discard(found[-1])
    return found


def _nearest(events: np.ndarray, at: np.ndarray) -> np.ndarray:
    after = np.searchsorted(events, at)
    before = events[np.maximum(after - 1, 0)]
    after = events[np.minimum(after, len(events) - 1)]
    return np.where(np.abs(at - before) <= np.abs(after - at), before, after)
