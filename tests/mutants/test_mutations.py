"""What is planted is a change, leaves the source readable to Python, and is the same for the same seed."""

from __future__ import annotations

import ast

import pytest
from tests.mutants.concerns import BY_PACKAGE, EVERYTHING, concerning
from tests.mutants.mutations import mutations
from tests.mutants.run import PACKAGE, PLANTED, chosen
from tests.mutants.trial import ROOT

SOURCE = b'''LIMIT = 5

def f(x, y):
    """Of 2 numbers, \xc3\xa4."""
    total = x + 1
    if x < y and not y:
        total -= 2
    g(total)
    return total == (x) - y
'''


def test_every_kind_is_found_and_nothing_outside_of_functions() -> None:
    found = {(one.line, one.kind, one.new.strip()) for one in mutations(SOURCE)}
    assert found == {
        (5, "statement deleted", "pass"), (5, "sign flipped", "-"), (5, "constant changed", "2"), (6, "comparison flipped", "<="),
        (6, "and/or exchanged", "or"), (6, "not left out", "(y)"), (7, "statement deleted", "pass"), (7, "constant changed", "3"),
        (8, "statement deleted", "pass"), (9, "comparison flipped", "!="), (9, "sign flipped", ") +"),
    }  # fmt: skip


@pytest.mark.parametrize("folder", PLANTED)
def test_mutants_can_be_read(folder: str) -> None:
    path = max((PACKAGE / folder).rglob("*.py"), key=lambda path: path.stat().st_size)
    source = path.read_bytes()
    found = mutations(source)
    assert len(found) > 20
    for one in found[::7]:
        planted = one.planted(source)
        assert planted != source and ast.parse(planted)


def test_a_seed_chooses_the_same_ones() -> None:
    scan = "src/ostinato/kernels/scan"
    assert chosen(3, 10, scan) == chosen(3, 10, scan) != chosen(4, 10, scan)
    assert {mutant.module.split("/")[0] for mutant in chosen(3, 10, None)} == set(PLANTED)
    assert all(mutant.module.startswith("kernels/scan/") for mutant in chosen(1, 30, scan))


def test_tests_that_concern_a_module_exist() -> None:
    assert all((ROOT / test.partition("::")[0]).exists() for tests in (*BY_PACKAGE.values(), EVERYTHING) for test in tests)
    assert concerning("kernels/scan/scan_dfa.py") == concerning("runtime/scan/scan_matcher.py") != EVERYTHING
    assert concerning("plan/scalar/scalar_block.py") == BY_PACKAGE["plan"] + EVERYTHING


def test_every_package_of_kernels_has_tests_of_its_own() -> None:
    packages = {path.parent.name for path in (PACKAGE / "kernels").glob("*/__init__.py")}
    assert {name for name in packages if concerning(f"kernels/{name}/any.py") == EVERYTHING} == set()
    assert concerning("program/shapes/shape.py") != concerning("program/serde.py")
