"""Orders by what they are expected to look at."""

from __future__ import annotations

from itertools import permutations
from random import Random

from ostinato.program.analysis.search_cost import MOST_COMPARED, SearchCost, first_orders, first_selectivity
from ostinato.program.intervals import RELATIONS, AllowedRelation, IntervalConstraint


def related(first: int, relations: str, second: int) -> IntervalConstraint:
    return IntervalConstraint(first, second, tuple(AllowedRelation(RELATIONS.index(one)) for one in relations.split(";")))


def looked_at(cost: SearchCost, order: tuple[int, ...]) -> float:
    count, total, chosen = 1.0, 0.0, {order[0]}
    for definition in order[1:]:
        count *= cost.sizes[definition]
        for (a, b), selectivity in zip(cost.pairs, cost.selectivities, strict=True):
            count *= selectivity if definition in (a, b) and {a, b} <= chosen | {definition} else 1.0
        total += count
        chosen.add(definition)
    return total


def is_connected(cost: SearchCost, order: tuple[int, ...]) -> bool:
    return all(any({own, other} == set(pair) for other in order[:at] for pair in cost.pairs) for at, own in enumerate(order) if at)


def test_table_5_3() -> None:
    assert first_selectivity(related(0, "before", 1)) == 0.445
    assert round(first_selectivity(related(0, "meets;overlaps;during", 1)), 6) == 0.0449
    assert first_selectivity(related(0, "before;after;during;contains;overlaps;overlapped by;equals", 1)) < 1.0


def test_no_order_is_cheaper() -> None:
    random = Random(3)
    for _ in range(50):
        count = random.randint(2, 5)
        pairs = tuple((random.randrange(own), own) for own in range(1, count)) + ((0, count - 1),) * (count > 2)
        cost = SearchCost(pairs, [random.uniform(1, 100) for _ in range(count)], [random.random() for _ in pairs])
        for first in range(count):
            every = [(first, *rest) for rest in permutations([n for n in range(count) if n != first])]
            least = min(looked_at(cost, order) for order in every if is_connected(cost, order))
            assert abs(looked_at(cost, cost.order_from(first)) - least) <= 1e-9 * least


def test_what_nothing_relates_comes_last() -> None:
    assert first_orders(4, [related(0, "before", 1), related(2, "equals", 1)]) == ((0, 1, 2, 3), (1, 2, 0, 3), (2, 1, 0, 3), (3, 1, 2, 0))


def test_of_many_the_cheapest_comes_next() -> None:
    count = MOST_COMPARED + 3
    chain = [related(n, "meets" if n % 2 else "before", n + 1) for n in range(count - 1)]
    orders = first_orders(count, chain)
    assert orders[0] == tuple(range(count))
    assert all(sorted(order) == list(range(count)) and order[0] == first for first, order in enumerate(orders))


def test_who_knows_all_others_when_it_has_ended() -> None:
    """What is derived is known when it begins, what is given when it ends."""
    said = {
        "overlaps": (
            True,
            False,
            True,
            True,
        ),  # the second is known to the first, then to a first of which it is given; the other way round
        "before": (False, False, True, True),
        "after": (True, True, False, False),
        "contains": (True, True, True, False),
        "equals": (True, True, True, True),
        "starts;before": (False, False, True, True),
    }
    for relations, (derived, given, first_derived, first_given) in said.items():
        one = related(0, relations, 1)
        assert one.closes(True, True) == (derived, first_derived)
        assert one.closes(False, False) == (given, first_given)
        assert one.closes(False, True) == (derived, first_given)
