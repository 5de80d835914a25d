"""Golden and worked cases on Spark: those of `selection`; in the slow run all golden ones, and all worked ones of some languages."""

from __future__ import annotations

from functools import cache

import pytest
from tests.conformance.case import Case, Outcome
from tests.conformance.compare import verdict
from tests.conformance.one_operator_engine import OneOperatorEngine
from tests.conformance.selection import PATHS, KindsOf, for_batches, for_streams, packed_kinds, stream_kinds
from tests.conformance.spark_engines import SparkBatchEngine
from tests.conformance.spark_stream_engine import OWN, SPARKS, SparkStreamEngine
from tests.conformance.worked_cases import worked_cases
from tests.golden.case_file import golden_cases

from ostinato.base.errors import UnsupportedError

pytestmark = [pytest.mark.spark, pytest.mark.timeout(3600), pytest.mark.usefixtures("spark")]
ALL_OF = ("sase", "neel")
NEVER_FINAL_ON_A_STREAM = ("never final on a stream", "needs an event time", "cannot carry a watermark")


@cache
def every_case() -> list[Case]:
    return [*golden_cases(), *worked_cases()]


def all_cases(kind: str) -> list[Case]:
    return golden_cases() if kind == "golden" else [case for case in worked_cases() if case.language == kind]


def wrong(cases: list[Case], outcomes: list[Outcome]) -> list[str]:
    judged = [(case, *verdict(case, outcome)) for case, outcome in zip(cases, outcomes, strict=True)]
    return [f"{case.name}: {result} {why}" for case, result, why in judged if result != "agree"]


def streamable(cases: list[Case], outcomes: list[Outcome]) -> tuple[list[Case], list[Outcome]]:
    """Without an order in time, or with one count for all, there is nothing that a stream could ever report."""
    kept = [number for number, outcome in enumerate(outcomes) if not _for_good_reason(outcome.error)]
    return [cases[number] for number in kept], [outcomes[number] for number in kept]


def _for_good_reason(error: Exception | None) -> bool:
    return isinstance(error, UnsupportedError) and any(words in error.message for words in NEVER_FINAL_ON_A_STREAM)


@pytest.mark.parametrize("path", PATHS)
def test_batches(path: str) -> None:
    cases = for_batches(every_case())[path]
    found = wrong(cases, SparkBatchEngine(path, path).run(cases))
    assert not found, "\n\n".join(found)


@pytest.mark.parametrize(("source", "kinds_of"), [(OWN, stream_kinds), (SPARKS, packed_kinds)], ids=["own source", "Spark's source"])
def test_streams(source: str, kinds_of: KindsOf) -> None:
    cases = for_streams(every_case(), kinds_of)
    found = wrong(cases, SparkStreamEngine(source).run(cases))
    assert not found, "\n\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("path", [None, "by key", "one partition"])
@pytest.mark.parametrize("kind", ["golden", *ALL_OF])
def test_all_in_batches(kind: str, path: str | None) -> None:
    cases = all_cases(kind)
    found = wrong(cases, SparkBatchEngine("spark", path).run(cases))
    assert not found, "\n\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["golden", *ALL_OF])
def test_all_in_one_stream(kind: str) -> None:
    cases = all_cases(kind)
    kept, outcomes = streamable(cases, OneOperatorEngine().run(cases))
    found = wrong(kept, outcomes)
    assert not found, "\n\n".join(found)
    assert len(kept) > len(cases) * (0.5 if kind == "golden" else 0.7)
    if kind == "sase":  # only a count of all matches is nothing that a stream could report
        assert all("count" in (*case.options.values(), *case.text.split()) for case in cases if case not in kept)


@pytest.mark.slow
def test_golden_cases_as_streams() -> None:
    """Refusals too, as a user gets them."""
    cases = golden_cases()
    kept, outcomes = streamable(cases, SparkStreamEngine(OWN).run(cases))
    assert len(kept) > len(cases) / 2
    found = wrong(kept, outcomes)
    assert not found, "\n\n".join(found)
