"""The golden cases over several streams: the examples of the paper, and small ones computed by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.conformance.case import Rows
from tests.conformance.compare import verdict
from tests.conformance.streams_case import StreamRows, StreamsCase
from tests.conformance.streams_engines import ENGINES_OF, STREAMS_ENGINES
from tests.golden.streams_case_file import golden_streams_cases

CASES = golden_streams_cases()


@pytest.mark.parametrize("name", STREAMS_ENGINES)
def test_golden_cases(name: str) -> None:
    assert _wrong(name, [case for case in CASES if name in ENGINES_OF[case.language]]) == []


@pytest.mark.parametrize("name", STREAMS_ENGINES)
def test_simultaneous_events_have_no_order(name: str) -> None:
    """In CEL. Rows from the last to the first: engines sort them by their times, and those of one time come the other way round."""
    reversed_cases = [
        replace(case, streams=tuple((stream, StreamRows(given.columns, given.rows[::-1])) for stream, given in case.streams))
        for case in CASES
        if isinstance(case.expect, Rows) and case.language == "cel"
    ]
    assert _wrong(name, reversed_cases) == []


def test_names_are_unique() -> None:
    assert len({case.name for case in CASES}) == len(CASES) > 20


def _wrong(name: str, cases: list[StreamsCase]) -> list[str]:
    outcomes = STREAMS_ENGINES[name]().run(cases)
    found = [(case, *verdict(case, outcome)) for case, outcome in zip(cases, outcomes, strict=True)]
    return [f"{case.name}: {why}" for case, result, why in found if result != "agree"]
