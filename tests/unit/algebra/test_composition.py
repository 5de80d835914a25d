"""Composition of Allen's relations is what intervals of small whole numbers show; path consistency removes nothing that they can be in."""

from __future__ import annotations

from itertools import combinations, product
from random import Random

import pytest

from ostinato.algebra.allen import Compare, Relation, Side
from ostinato.algebra.composition import ANY, RELATIONS, TABLE, composed, inverse, members, path_consistent
from ostinato.algebra.differences import Differences

Interval = tuple[int, int]
INTERVALS: list[Interval] = list(combinations(range(6), 2))  # three of them have six ends


def relation_of(a: Interval, b: Interval) -> int:
    at = {Side.A_START: a[0], Side.A_END: a[1], Side.B_START: b[0], Side.B_END: b[1]}

    def holds(relation: Relation) -> bool:
        return all(at[x] < at[y] if how is Compare.LESS else at[x] == at[y] for x, how, y in relation.comparisons)

    (found,) = (number for number, relation in enumerate(RELATIONS) if holds(relation))
    return found


BETWEEN = {pair: relation_of(*pair) for pair in product(INTERVALS, INTERVALS)}


def test_the_table_is_what_small_intervals_show() -> None:
    shown = [[0] * len(RELATIONS) for _ in RELATIONS]
    for a, b, c in product(INTERVALS, INTERVALS, INTERVALS):
        shown[BETWEEN[a, b]][BETWEEN[b, c]] |= 1 << BETWEEN[a, c]
    assert tuple(map(tuple, shown)) == TABLE


def test_sets_of_relations() -> None:
    for number, relation in enumerate(RELATIONS):
        assert inverse(1 << number) == 1 << RELATIONS.index(relation.inverse)
        assert composed(1 << number, ANY) == composed(ANY, 1 << number) == ANY
    assert list(members(0b1001010)) == [1, 3, 6]
    before, meets = 1, 2
    assert composed(before | meets, meets) == before


@pytest.mark.parametrize("seed", range(40))
def test_path_consistency_keeps_what_intervals_can_be_in(seed: int) -> None:
    """And calls three of them impossible where there are none."""
    random = Random(seed)
    network = {pair: sum(1 << n for n in random.sample(range(13), random.choice((1, 1, 2, 3)))) for pair in ((0, 1), (0, 2), (1, 2))}
    left = path_consistent(network, 3)
    found = [{(0, 1): BETWEEN[a, b], (0, 2): BETWEEN[a, c], (1, 2): BETWEEN[b, c]} for a, b, c in product(INTERVALS, INTERVALS, INTERVALS)]
    held = [one for one in found if all(network[pair] >> relation & 1 for pair, relation in one.items())]
    assert (left is None) == (not held)
    if left is not None:
        for pair, relations in left.items():
            if pair in network:
                assert relations == sum({1 << one[pair] for one in held})


def test_differences_of_times() -> None:
    times = Differences(3)
    assert times.add([(0, 1, -2), (1, 2, -3), (0, 2, -5)])
    assert times.times[0] - times.times[2] >= 5 and times.times[0] - times.times[1] >= 2
    assert times.copy().add([(2, 0, 5)]) and not times.copy().add([(2, 0, 4)])


@pytest.mark.parametrize("seed", range(40))
def test_differences_are_refused_where_a_circle_of_them_is_negative(seed: int) -> None:
    random = Random(seed)
    said = [(*random.sample(range(5), 2), random.randint(-3, 6)) for _ in range(9)]
    times, shortest = Differences(5), [[0 if a == b else 99 for b in range(5)] for a in range(5)]
    for a, b, most in said:
        shortest[a][b] = min(shortest[a][b], most)
    for k, a, b in product(range(5), repeat=3):
        shortest[a][b] = min(shortest[a][b], shortest[a][k] + shortest[k][b])
    possible = all(shortest[a][a] >= 0 for a in range(5))
    assert times.add(said) == possible
    if possible:
        assert all(times.times[b] - times.times[a] <= most for a, b, most in said)
