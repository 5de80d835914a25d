"""Run by itself, with NUMBA_DISABLE_JIT=1, so that a place beyond the end of an array is an error: cases in tables that have to grow."""

from __future__ import annotations

import sys

from tests.conformance.compare import verdict
from tests.conformance.engines import SessionEngine
from tests.conformance.streams_case import worked_streams_cases
from tests.conformance.streams_engines import SessionStreams
from tests.conformance.worked_cases import worked_cases
from tests.golden.case_file import golden_cases
from tests.property.long_matches import all_matches
from tests.property.small_room import small_room


def disagreements(one_of: int) -> list[str]:
    """Among the golden cases, and one of so many worked cases: a quarter of these take half a minute without the compiler."""
    cases = [*golden_cases(), *worked_cases()[::one_of]]
    of_streams = worked_streams_cases("cel")[::one_of]
    with small_room():
        outcomes = [*SessionEngine().run(cases), *SessionStreams().run(of_streams)]
    judged = [(case, *verdict(case, outcome)) for case, outcome in zip([*cases, *of_streams], outcomes, strict=True)]
    return [f"{case.name}: {why}" for case, result, why in judged if result == "disagree"] + longer_ones()


def longer_ones() -> list[str]:
    usual = all_matches()
    with small_room():
        found = all_matches()
    assert len(found) > 40 and all(found.values())
    return [f"{text}: expected {usual[text]}, got {matches}" for text, matches in found.items() if matches != usual[text]]


if __name__ == "__main__":
    found = disagreements(int(sys.argv[1]))
    print("\n\n".join(found) if found else "agree")
    sys.exit(bool(found))
