"""The golden cases: the worked examples of the papers, of the standard, and small ones computed by hand."""

from __future__ import annotations

import pytest
from tests.conformance.compare import verdict
from tests.conformance.engines import ENGINES
from tests.golden.case_file import defined_cases, golden_cases

from ostinato.base.errors import UnsupportedError

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


def test_defined_cases_on_the_reference() -> None:
    cases = defined_cases()
    judged = [(case.name, *verdict(case, outcome)) for case, outcome in zip(cases, ENGINES["reference"]().run(cases), strict=True)]
    assert len(judged) > 40
    assert not [f"{name}: {why}" for name, result, why in judged if result != "agree"]


@pytest.mark.parametrize("name", [name for name in ENGINES if name != "reference"])
def test_defined_cases_are_refused_by_hosts(name: str) -> None:
    """Cleanly, whatever the position of the negation: no host may give a wrong result."""
    cases = defined_cases()
    for case, outcome in zip(cases, ENGINES[name]().run(cases), strict=True):
        assert isinstance(outcome.error, UnsupportedError), f"{case.name}: {outcome}"
        assert outcome.error.span is not None and outcome.error.hint is not None, case.name


def test_names_are_unique() -> None:
    cases = CASES + defined_cases()
    assert len({case.name for case in cases}) == len(cases) > 90
