"""The worked cases of SASE+ on Spark: in batch however the host divides them, and as streams."""

from __future__ import annotations

import pytest
from tests.conformance.case import Case
from tests.conformance.spark_engines import SparkBatchEngine
from tests.conformance.spark_stream_engine import SparkStreamEngine
from tests.conformance.test_golden_on_spark import NEVER_FINAL_ON_A_STREAM, wrong
from tests.conformance.worked_cases import worked_cases

from ostinato.base.errors import UnsupportedError

pytestmark = [pytest.mark.spark, pytest.mark.timeout(3600)]


def sase_cases(negated: bool = False) -> list[Case]:
    return [case for case in worked_cases() if case.language == "sase" and (not negated or "~" in case.text)]


@pytest.mark.usefixtures("spark")
def test_a_part_of_negation_in_batch() -> None:
    cases = sase_cases(negated=True)[::3]
    found = wrong(cases, SparkBatchEngine("spark", None).run(cases))
    assert not found, "\n\n".join(found)
    assert len(cases) > 30


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("path", [None, "by key", "one partition"])
def test_all_in_batch(path: str | None) -> None:
    cases = sase_cases()
    found = wrong(cases, SparkBatchEngine("spark", path).run(cases))
    assert not found, "\n\n".join(found)
    assert len(cases) == 250


@pytest.mark.usefixtures("spark")
def test_all_as_streams() -> None:
    """Only a count of all matches is nothing that a stream could report."""
    cases = sase_cases()
    outcomes = SparkStreamEngine().run(cases)
    refused = [isinstance(o.error, UnsupportedError) and any(w in o.error.message for w in NEVER_FINAL_ON_A_STREAM) for o in outcomes]
    assert all("count" in (*case.options.values(), *case.text.split()) for case, no in zip(cases, refused, strict=True) if no)
    kept = [number for number, no in enumerate(refused) if not no]
    found = wrong([cases[number] for number in kept], [outcomes[number] for number in kept])
    assert not found, "\n\n".join(found)
    assert len(kept) > 200
