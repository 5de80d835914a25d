"""The golden cases: the worked examples of the papers, of the standard, and small ones computed by hand."""

from __future__ import annotations

import pytest
from tests.conformance.compare import verdict
from tests.conformance.registry import ENGINES
from tests.golden.case_file import golden_cases

CASES = golden_cases()


@pytest.mark.parametrize("name", ENGINES)
def test_golden_cases(name: str) -> None:
    """All cases in one run, because hosts may put many into one job."""
    outcomes = ENGINES[name]().run(CASES)
    wrong = []
    for case, outcome in zip(CASES, outcomes, strict=True):
        result, why = verdict(case, outcome)
        if result != "agree":
            wrong.append(f"{case.name}: {why}")
    assert not wrong, "\n\n".join(wrong)


def test_names_are_unique() -> None:
    assert len({case.name for case in CASES}) == len(CASES) > 90
