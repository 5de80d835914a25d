"""Golden cases on Spark, one of each kind, in the slow run all: in batch however the host divides it, by force, and as streams."""

from __future__ import annotations

import pytest
from tests.conformance.case import Case, Outcome
from tests.conformance.compare import verdict
from tests.conformance.selection import one_of_each
from tests.conformance.spark_engines import SparkBatchEngine
from tests.conformance.spark_stream_engine import SparkStreamEngine
from tests.golden.case_file import golden_cases

from ostinato.base.errors import UnsupportedError

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]
EXTENT = [pytest.param(True, id="one of each kind"), pytest.param(False, id="all", marks=pytest.mark.slow)]
NEVER_FINAL_ON_A_STREAM = ("never final on a stream", "needs an event time", "cannot carry a watermark")


def wrong(cases: list[Case], outcomes: list[Outcome]) -> list[str]:
    judged = [(case, *verdict(case, outcome)) for case, outcome in zip(cases, outcomes, strict=True)]
    return [f"{case.name}: {result} {why}" for case, result, why in judged if result != "agree"]


def streamable(cases: list[Case], outcomes: list[Outcome]) -> tuple[list[Case], list[Outcome]]:
    """Without an order in time, or with one count for all, there is nothing that a stream could ever report."""
    kept = [number for number, outcome in enumerate(outcomes) if not _for_good_reason(outcome.error)]
    return [cases[number] for number in kept], [outcomes[number] for number in kept]


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("few", EXTENT)
def test_batch(few: bool) -> None:
    cases = one_of_each(golden_cases()) if few else golden_cases()
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
@pytest.mark.parametrize("few", EXTENT)
def test_stream(few: bool) -> None:
    cases = one_of_each(golden_cases()) if few else golden_cases()
    kept, outcomes = streamable(cases, SparkStreamEngine().run(cases))
    assert len(kept) > len(cases) / 2
    found = wrong(kept, outcomes)
    assert not found, "\n\n".join(found)


def _for_good_reason(error: Exception | None) -> bool:
    return isinstance(error, UnsupportedError) and any(words in error.message for words in NEVER_FINAL_ON_A_STREAM)
