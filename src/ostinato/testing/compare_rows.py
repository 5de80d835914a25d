"""Rows compared as a multiset, floats approximately."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


def difference(expected: Sequence[dict[str, Any]], found: Sequence[dict[str, Any]]) -> str:
    """What is missing and what should not be there; empty if the rows are the same."""
    missing: list[Any] = []
    left = list(found)
    for row in expected:
        same = next((number for number, other in enumerate(left) if equal(row, other)), None)
        if same is None:
            missing.append(row)
        else:
            del left[same]
    lines = [f"missing: {row}" for row in missing] + [f"not expected: {row}" for row in left]
    return "\n".join(lines)


def equal(a: Any, b: Any) -> bool:
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, bool) or isinstance(b, bool) or not (isinstance(a, int | float) and isinstance(b, int | float)):
        return bool(a == b)
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12) or (a != a and b != b)
