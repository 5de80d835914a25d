"""A plugin of pytest: random tests try few examples, and always the same ones: a mutant takes a minute, and a seed means something."""

from __future__ import annotations

import pytest
from tests.examples import limit_examples

MOST = 12


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    limit_examples(items, lambda wanted: min(MOST, wanted), derandomize=True, database=None)
