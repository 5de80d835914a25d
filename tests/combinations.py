"""Which combinations of parameters run by default, where a test walks through all of them: so many that every pair of values occurs. Most
bugs need no more than two; the slow run has every combination."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations

import pytest

MARK = "every_pair"


def leave_to_the_slow_run(items: Iterable[pytest.Item]) -> None:
    tests: dict[Hashable, list[pytest.Function]] = {}
    for item in items:
        if isinstance(item, pytest.Function) and item.get_closest_marker(MARK) and not item.get_closest_marker("slow"):
            tests.setdefault(item.function, []).append(item)
    for test in tests.values():
        chosen = with_every_pair([{name: repr(value) for name, value in item.callspec.params.items()} for item in test])
        for place in set(range(len(test))) - chosen:
            test[place].add_marker(pytest.mark.slow)


def with_every_pair(rows: Sequence[Mapping[str, str]]) -> set[int]:
    """Places of rows that have every pair of values between them; each has the most of what is still missing."""
    pairs = [frozenset(combinations(sorted(row.items()), 2)) for row in rows]
    missing = frozenset().union(*pairs)
    chosen: set[int] = set()
    while missing:
        best = max(range(len(rows)), key=lambda place: len(pairs[place] & missing))
        chosen.add(best)
        missing -= pairs[best]
    return chosen
