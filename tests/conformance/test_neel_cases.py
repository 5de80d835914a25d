"""The worked cases of nested patterns agree with their meaning; those that are refused say where."""

from __future__ import annotations

import pytest
from tests.conformance.case import Case, Refused
from tests.conformance.compare import verdict
from tests.conformance.engines import ReferenceEngine
from tests.conformance.worked_cases import neel_cases


@pytest.mark.parametrize("case", neel_cases(), ids=lambda case: case.name)
def test_neel_case(case: Case) -> None:
    (outcome,) = ReferenceEngine().run([case])
    assert verdict(case, outcome) == ("agree", "")
    if isinstance(case.expect, Refused):
        assert outcome.error.position is not None
