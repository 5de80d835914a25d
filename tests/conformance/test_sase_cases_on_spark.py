"""The worked cases of SASE+ on Spark, one of each kind, in the slow run all: in batch however the host divides them, and as streams."""

from __future__ import annotations

import pytest
from tests.conformance.case import Case
from tests.conformance.selection import one_of_each
from tests.conformance.spark_engines import SparkBatchEngine
from tests.conformance.spark_stream_engine import SparkStreamEngine
from tests.conformance.test_golden_on_spark import EXTENT, streamable, wrong
from tests.conformance.worked_cases import worked_cases

pytestmark = [pytest.mark.spark, pytest.mark.timeout(3600)]


def sase_cases(few: bool = False) -> list[Case]:
    cases = [case for case in worked_cases() if case.language == "sase"]
    return one_of_each(cases) if few else cases


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("few", EXTENT)
def test_batch(few: bool) -> None:
    cases = sase_cases(few)
    found = wrong(cases, SparkBatchEngine("spark", None).run(cases))
    assert not found, "\n\n".join(found)


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("path", ["by key", "one partition"])
def test_batch_by_force(path: str) -> None:
    cases = sase_cases()
    found = wrong(cases, SparkBatchEngine("spark", path).run(cases))
    assert not found, "\n\n".join(found)
    assert len(cases) == 250


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("few", EXTENT)
def test_streams(few: bool) -> None:
    """Only a count of all matches is nothing that a stream could report."""
    cases = sase_cases(few)
    kept, outcomes = streamable(cases, SparkStreamEngine().run(cases))
    assert all("count" in (*case.options.values(), *case.text.split()) for case in cases if case not in kept)
    found = wrong(kept, outcomes)
    assert not found, "\n\n".join(found)
    assert len(kept) > len(cases) * 0.7
