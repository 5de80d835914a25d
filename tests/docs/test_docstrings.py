"""What the docstrings show works."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
SHOWING = sorted(path for path in (SOURCE / "ostinato").rglob("*.py") if ">>>" in path.read_text(encoding="utf-8"))


def _module(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


def test_the_public_calls_show_an_example():
    assert "ostinato.hosts.embedded.sql" in [_module(path) for path in SHOWING]


@pytest.mark.parametrize("module", [_module(path) for path in SHOWING])
def test_docstrings(module):
    tried = doctest.testmod(import_module(module), optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert tried.attempted > 0
    assert tried.failed == 0
