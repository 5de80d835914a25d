"""How many examples random tests try: the number that stands at a test is for the slow run, where nobody waits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import settings

_SETTINGS = "_hypothesis_internal_use_settings"  # where Hypothesis looks when a test begins
SHARE = 4
FEWEST = 10


def by_default(wanted: int) -> int:
    return min(wanted, max(FEWEST, wanted // SHARE))


def limit_examples(items: Iterable[pytest.Item], limit: Callable[[int], int], **more: Any) -> None:
    changed = set()
    for item in items:
        test = getattr(item, "obj", None)
        test = getattr(test, "__func__", test)
        own = getattr(test, _SETTINGS, None)
        if own is not None and test not in changed:  # one function may be several items
            setattr(test, _SETTINGS, settings(own, max_examples=limit(own.max_examples), **more))
            changed.add(test)
