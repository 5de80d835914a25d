"""The worked cases of NEEL on Spark, one of each kind, in the slow run all: in ranges of time, by key, in one place, and as streams."""

from __future__ import annotations

import pytest
from tests.conformance.case import Case
from tests.conformance.selection import one_of_each
from tests.conformance.spark_engines import SparkBatchEngine
from tests.conformance.spark_stream_engine import SparkStreamEngine
from tests.conformance.test_golden_on_spark import EXTENT, streamable, wrong
from tests.conformance.worked_cases import neel_cases

pytestmark = [pytest.mark.spark, pytest.mark.timeout(3600)]


def cases_of(few: bool) -> list[Case]:
    return one_of_each(neel_cases()) if few else neel_cases()


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("few", EXTENT)
@pytest.mark.parametrize("path", [None, "one partition"])
def test_batch(path: str | None, few: bool) -> None:
    cases = cases_of(few)
    found = wrong(cases, SparkBatchEngine("spark", path).run(cases))
    assert not found, "\n\n".join(found)


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("few", EXTENT)
def test_streams(few: bool) -> None:
    cases = cases_of(few)
    kept, outcomes = streamable(cases, SparkStreamEngine().run(cases))
    assert kept == cases
    found = wrong(kept, outcomes)
    assert not found, "\n\n".join(found)
