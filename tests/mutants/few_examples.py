"""A plugin of pytest: random tests try few examples, and always the same ones: a mutant takes a minute, and a seed means something."""

from __future__ import annotations

import pytest
from hypothesis import settings

MOST = 12
_SETTINGS = "_hypothesis_internal_use_settings"  # where Hypothesis looks when a test begins


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        test = getattr(item, "obj", None)
        own = getattr(test, _SETTINGS, None)
        if own is not None:
            setattr(test, _SETTINGS, settings(own, max_examples=min(MOST, own.max_examples), derandomize=True, database=None))
