"""Every golden case on Spark: in batch however the host divides it, shuffled and sorted, and as a stream."""

from __future__ import annotations

import pytest
from tests.conformance.case import Case, Outcome
from tests.conformance.compare import verdict
from tests.conformance.spark_engines import SparkBatchEngine
from tests.conformance.spark_stream_engine import SparkStreamEngine
from tests.golden.case_file import golden_cases

from ostinato.base.errors import UnsupportedError

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]
NEVER_FINAL_ON_A_STREAM = ("never final on a stream", "needs an event time", "cannot carry a watermark")


def wrong(cases: list[Case], outcomes: list[Outcome]) -> list[str]:
    judged = [(case, *verdict(case, outcome)) for case, outcome in zip(cases, outcomes, strict=True)]
    return [f"{case.name}: {result} {why}" for case, result, why in judged if result != "agree"]


@pytest.mark.usefixtures("spark")
def test_batch() -> None:
    cases = golden_cases()
    found = wrong(cases, SparkBatchEngine("spark", None).run(cases))
    assert not found, "\n\n".join(found)


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("path", ["by key", "one partition"])
def test_batch_by_force(path: str) -> None:
    cases = golden_cases()
    found = wrong(cases, SparkBatchEngine(path, path).run(cases))
    assert not found, "\n\n".join(found)


@pytest.mark.usefixtures("spark")
def test_stream() -> None:
    """Without an order in time, or with one count for all, there is nothing that a stream could ever report."""
    cases = golden_cases()
    outcomes = SparkStreamEngine().run(cases)
    refused = [i for i, outcome in enumerate(outcomes) if isinstance(outcome.error, UnsupportedError) and _for_good_reason(outcome.error)]
    assert len(refused) < len(cases) / 10
    kept = [i for i in range(len(cases)) if i not in refused]
    found = wrong([cases[i] for i in kept], [outcomes[i] for i in kept])
    assert not found, "\n\n".join(found)


def _for_good_reason(error: UnsupportedError) -> bool:
    return any(words in error.message for words in NEVER_FINAL_ON_A_STREAM)
