"""Patterns that nothing can match are warned about: the words, and the place."""

from __future__ import annotations

import warnings

import pytest
from tests.unit.lang.tpstream.schemas import SCHEMAS

import ostinato as ost

# the text with the place between « and », and what is said to contradict each other
CONTRADICTORY = [
    ("A AS f, B AS f, C AS f PATTERN A before B AND B before C AND «C before A»", "`A before B`, `B before C` and `C before A`"),
    ("A AS f, B AS f PATTERN A before B AND «B meets A»", "`A before B` and `B meets A`"),
    ("A AS f, B AS f, C AS f PATTERN A starts;during B AND B before C AND «C overlaps;meets A»", "`B before C` and `C overlaps;meets A`"),
    ("A AS f AT LEAST 10, B AS f AT MOST 5 PATTERN «A during B»", "how long `A` lasts and how long `B` lasts"),
    ("A AS f AT LEAST 5, B AS f AT MOST 5 PATTERN «A starts;finishes;during B»", "how long `A` lasts and how long `B` lasts"),
    ("A AS f AT MOST 7, B AS f PATTERN «A overlaps[8, 9] B»", "`A overlaps[8, 9] B` and how long `A` lasts"),
    ("A AS f AT LEAST 5, B AS f AT LEAST 5 PATTERN «A before B» WITHIN 10", "how long `B` lasts and WITHIN"),
    ("A AS f AT LEAST 10 PATTERN «A» WITHIN 5", "how long `A` lasts and WITHIN"),
    ("A AS f, B AS f PATTERN «A before[8, 9] B» WITHIN 8", "`A before[8, 9] B` and WITHIN"),
    ("A AS f, B AS f, C AS f PATTERN A before[3, 9] B AND B before[4, 9] C AND «A before[1, 7] C»", "`A before[1, 7] C` contradict"),
]
POSSIBLE = [
    "A AS f, B AS f, C AS f PATTERN A before B AND B before C AND A before C",
    "A AS f AT LEAST 4, B AS f AT MOST 6 PATTERN A during B",
    "A AS f AT LEAST 5, B AS f AT LEAST 5 PATTERN A before B WITHIN 11",
    "A AS f AT LEAST 5 PATTERN A WITHIN 5",
    "A AS f, B AS f PATTERN A before[8, 9] B WITHIN 10",
    "A AS f, B AS f, C AS f PATTERN A before[3, 9] B AND B before[4, 9] C AND A before[1, 8] C",
]


def said_of(text: str, **options: str) -> list[ost.ContradictionWarning]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ost.compile(text, SCHEMAS, language="tpstream", **options)
    return [one.message for one in caught if isinstance(one.message, ost.ContradictionWarning)]


@pytest.mark.parametrize("latency", ["earliest", "final"])
@pytest.mark.parametrize(("marked", "words"), CONTRADICTORY)
def test_warned(marked: str, words: str, latency: str) -> None:
    marked = f"FROM ticks DEFINE {marked}"
    (warning,) = said_of(marked.replace("«", "").replace("»", ""), latency=latency)
    first, _, carets, hint = str(warning).split("\n")
    assert words in first and first.startswith("Nothing can match: ") and f"(line 1, column {marked.index('«') + 1})" in first
    assert carets.count("^") == marked.index("»") - marked.index("«") - 1
    assert hint.startswith("Hint: The query has no results")


@pytest.mark.parametrize("latency", ["earliest", "final"])
@pytest.mark.parametrize("text", POSSIBLE)
def test_not_warned(text: str, latency: str) -> None:
    assert not said_of(f"FROM ticks DEFINE {text}", latency=latency)


def test_a_situation_of_any_length_takes_part_as_it_begins() -> None:
    text = "FROM ticks DEFINE A AS f AT LEAST 0, B AS f AT LEAST 1 PATTERN A met by B WITHIN 1"
    assert not said_of(text, latency="earliest") and not said_of(text.replace(" AT LEAST 0", ""), latency="earliest")
    assert said_of(text, latency="final")


def test_a_window_is_measured_up_to_the_detection() -> None:
    """A match that is reported early may last longer than the window in the end."""
    text = "FROM ticks DEFINE A AS f, B AS f AT LEAST 7 PATTERN A before B WITHIN 8"
    assert said_of(text) and said_of(text, latency="final")
    early = "FROM ticks DEFINE A AS f, B AS f AT MOST 3, C AS f AT LEAST 5 PATTERN A before B AND B during C WITHIN 6"
    assert not said_of(early)


def test_the_plan_says_it_too() -> None:
    with pytest.warns(ost.ContradictionWarning):
        query = ost.compile("FROM ticks DEFINE A AS f, B AS f PATTERN A before B AND A after B WITHIN 9", SCHEMAS, language="tpstream")
    assert "Nothing can match: `A before B` and `A after B` contradict each other" in query.explain()
