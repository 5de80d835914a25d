"""What the page of TPStream shows is what the reference says."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from tests.docs.examples import ROOT, examples_of
from tests.property.tpstream_meaning import meaning

import ostinato

MATCH = ostinato.match


class _Found:
    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows

    def to_arrow(self) -> pa.Table:
        return pa.Table.from_pylist(self.rows)


def _match(text: str, language: str | None = None, latency: str | None = None, threads: int | None = None, **tables: pa.Table) -> _Found:
    """Texts of several languages have no one definition, and threads no meaning."""
    if language is None:
        return _Found(MATCH(text, latency=latency, **tables).to_arrow().to_pylist())
    return _Found(meaning(text, tables, language=language, latency=latency))


def test_examples_are_what_the_reference_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ostinato, "match", _match)
    examples = examples_of(ROOT / "docs" / "languages" / "tpstream.md")
    names: dict[str, Any] = {"__name__": "example"}
    for example in examples:
        example.run(names)
    assert len(examples) > 7
