"""The golden cases on the reference: the worked examples of the papers, of the standard, and small ones computed by hand."""

from __future__ import annotations

import pytest
from tests.conformance.case import Case
from tests.conformance.compare import verdict
from tests.conformance.engines import ReferenceEngine
from tests.golden.case_file import golden_cases

CASES = golden_cases()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_golden_case_on_the_reference(case: Case) -> None:
    (outcome,) = ReferenceEngine().run([case])
    result, why = verdict(case, outcome)
    assert result == "agree", why


def test_names_are_unique() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
