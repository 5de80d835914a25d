"""By default a test of many combinations has every pair of values, in fewer tests."""

from __future__ import annotations

from itertools import combinations, product

from tests.combinations import with_every_pair


def test_every_pair_occurs_and_little_else() -> None:
    names = {"place": "abcd", "kind": "xyz", "output": "01234", "strategy": "rs"}
    rows = [dict(zip(names, values, strict=True)) for values in product(*names.values())]
    chosen = [rows[place] for place in with_every_pair(rows)]
    for one, other in combinations(names, 2):
        assert {(row[one], row[other]) for row in chosen} == set(product(names[one], names[other]))
    assert len(chosen) < len(rows) / 4


def test_with_two_parameters_all_are_chosen() -> None:
    rows = [dict(zip("ab", values, strict=True)) for values in product("123", "45")]
    assert with_every_pair(rows) == set(range(6))
