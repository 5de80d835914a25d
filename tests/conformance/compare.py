"""Whether an outcome is the expected one."""

from __future__ import annotations

import datetime
import decimal
import math
from typing import Any

from tests.conformance.case import Case, Matches, Outcome, Refused, Rows

from ostinato.base.errors import OstinatoError, UnsupportedError


def verdict(case: Case, outcome: Outcome) -> tuple[str, str]:
    """("agree" | "refused" | "disagree", why). Only UnsupportedError is a clean refusal of a case that has a result."""
    if outcome.error is not None:
        return _raised(case, outcome.error)
    if isinstance(case.expect, Refused):
        return "disagree", f"expected an error, got {outcome.found}"
    if isinstance(case.expect, Matches):
        expected, found = _match_bag(case.expect.found), _match_bag(outcome.found)
        return _same(_distinct(expected), _distinct(found)) if case.expect.distinct else _same(expected, found)
    assert isinstance(outcome.found, Rows)
    found = outcome.found.only(case.expect.columns) if case.expect.chosen else outcome.found
    if found.columns != case.expect.columns:
        return "disagree", f"expected columns {case.expect.columns}, got {found.columns}"
    expected_rows, found_rows = _row_bag(case.expect.found), _row_bag(found.found)
    return _same(_distinct(expected_rows), _distinct(found_rows)) if case.expect.distinct else _same(expected_rows, found_rows)


def _raised(case: Case, error: Exception) -> tuple[str, str]:
    if not isinstance(error, OstinatoError):
        return "disagree", f"crashed: {type(error).__name__}: {error}"
    if isinstance(error, UnsupportedError) and case.expect == Refused():
        return "refused", error.message  # an error is right, but perhaps for another reason
    if isinstance(case.expect, Refused):
        if case.expect.kind not in (None, type(error).__name__) or case.expect.words not in str(error):
            return "disagree", f"expected {case.expect.kind} with {case.expect.words!r}, got {type(error).__name__}: {error}"
        return "agree", ""
    if isinstance(error, UnsupportedError):
        return "refused", error.message
    return "disagree", f"raised {type(error).__name__}: {error}"


def _same(expected: list[Any], found: list[Any]) -> tuple[str, str]:
    if len(expected) == len(found) and all(_equal(a, b) for a, b in zip(expected, found)):
        return "agree", ""
    return "disagree", f"expected {expected}\n     got {found}"


def _match_bag(matches: Any) -> list[Any]:
    return sorted([sorted((name, list(ids)) for name, ids in match.items()) for match in matches], key=repr)


def _distinct(bag: list[Any]) -> list[Any]:
    return [item for place, item in enumerate(bag) if item not in bag[:place]]


def _row_bag(rows: Any) -> list[Any]:
    return sorted([[_plain(value) for value in row] for row in rows], key=lambda row: repr([_rounded(value) for value in row]))


def _plain(value: Any) -> Any:
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.UTC)
    return value


def _rounded(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return f"{float(value):.6g}"


def _equal(expected: Any, found: Any) -> bool:
    if isinstance(expected, list) and isinstance(found, list):
        return len(expected) == len(found) and all(_equal(a, b) for a, b in zip(expected, found))
    if isinstance(expected, bool) != isinstance(found, bool):
        return False
    if isinstance(expected, float) or isinstance(found, float):
        numbers = isinstance(expected, int | float) and isinstance(found, int | float)
        return numbers and math.isclose(expected, found, rel_tol=1e-9, abs_tol=1e-12)
    return bool(expected == found)
