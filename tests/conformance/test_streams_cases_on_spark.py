"""Cases over several streams on Spark: those of `streams_selection`; in the slow run all."""

from __future__ import annotations

import pytest
from tests.conformance.case import Outcome
from tests.conformance.compare import verdict
from tests.conformance.spark_streams_engines import SparkStreamsBatch, SparkStreamsLive
from tests.conformance.streams_case import WORKED_STREAMS, StreamsCase, worked_streams_cases
from tests.conformance.streams_engines import ENGINES_OF
from tests.conformance.streams_selection import for_spark

LANGUAGES = [language for language in WORKED_STREAMS if len(ENGINES_OF[language]) > 1]  # that more than the reference runs
pytestmark = [pytest.mark.spark, pytest.mark.timeout(3600), pytest.mark.usefixtures("spark")]


def wrong(cases: list[StreamsCase], outcomes: list[Outcome]) -> list[str]:
    judged = [(case, *verdict(case, outcome)) for case, outcome in zip(cases, outcomes, strict=True)]
    return [f"{case.name}: {result} {why}" for case, result, why in judged if result != "agree"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_batches(language: str) -> None:
    cases = for_spark(worked_streams_cases(language))
    assert len(cases) >= 2
    found = wrong(cases, SparkStreamsBatch(None).run(cases))
    assert not found, "\n\n".join(found)


@pytest.mark.parametrize("language", LANGUAGES)
def test_streams(language: str) -> None:
    """Three of them, since a stream takes ten seconds: batches have all, the slow run has every case."""
    cases = for_spark(worked_streams_cases(language))[:3]
    found = wrong(cases, SparkStreamsLive().run(cases))
    assert not found, "\n\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("path", [None, "one partition"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_all_in_batches(language: str, path: str | None) -> None:
    cases = worked_streams_cases(language)
    found = wrong(cases, SparkStreamsBatch(path).run(cases))
    assert not found, "\n\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_all_as_streams(language: str) -> None:
    cases = worked_streams_cases(language)
    found = wrong(cases, SparkStreamsLive().run(cases))
    assert not found, "\n\n".join(found)
