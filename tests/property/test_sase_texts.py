"""Random SASE+ texts: what the engine finds, in batches of any size, is what the definition says."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.conformance.case import Case, Matches, Outcome, Rows
from tests.conformance.compare import verdict
from tests.conformance.engines import ReferenceEngine, SessionEngine
from tests.property.sase_texts import random_case

SEEDS = 160


class WholeTable(SessionEngine):
    batch = 1_000


def expected(case: Case) -> Case:
    """The case with the result of the definition."""
    (outcome,) = ReferenceEngine().run([case])
    assert outcome.error is None, f"{case.text}\n{outcome.error}"
    return replace(case, expect=outcome.found if isinstance(outcome.found, Rows) else Matches(tuple(outcome.found)))


def disagreements(case: Case, outcomes: list[Outcome]) -> list[str]:
    found = [verdict(case, outcome) for outcome in outcomes]
    return [f"{case.name}: {why}\n{case.text}\n{case.rows}" for result, why in found if result != "agree"]


@pytest.mark.parametrize("first", range(0, SEEDS, 20))
def test_engine_equals_reference(first: int) -> None:
    for seed in range(first, first + 20):
        case = expected(random_case(seed))
        wrong = disagreements(case, [*SessionEngine().run([case]), *WholeTable().run([case])])
        assert not wrong, wrong[0]
