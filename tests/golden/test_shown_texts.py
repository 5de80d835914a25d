"""EXPLAIN and refusals say what is written down, word by word: `python -m tests.golden.text_file` writes down what they say now."""

from __future__ import annotations

import pytest
from tests.golden.shown_texts import EXPLAINED, SOURCES, refused
from tests.golden.text_file import differences


@pytest.mark.parametrize("name", SOURCES)
def test_texts_are_as_written_down(name: str) -> None:
    found = differences(name, SOURCES[name]())
    assert not found, "\n\n".join(found)


def test_refusals_are_refusals() -> None:
    assert [title for title, text in refused().items() if text == "accepted"] == []


def test_every_evaluation_is_explained() -> None:
    found = "\n".join(SOURCES["explained"]().values())
    assert len(EXPLAINED) >= 15
    assert all(f"strategy: {evaluation} (" in found for evaluation in ("scan", "threads", "runs", "compact"))
