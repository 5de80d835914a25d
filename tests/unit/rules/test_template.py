"""Parameters become constants, whatever is in them."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ostinato as ost
from ostinato.rules.template import filled


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (-3, "(-3)"),
        (1.5, "1.5e0"),
        (Decimal("1.50"), "1.50"),
        (True, "TRUE"),
        ("it's", "'it''s'"),
        (date(2024, 1, 31), "DATE '2024-01-31'"),
        (datetime(2024, 1, 31, 12), "TIMESTAMP '2024-01-31 12:00:00'"),
        (timedelta(minutes=5), "INTERVAL '0 00:05:00' DAY TO SECOND"),
    ],
)
def test_values_are_written_as_constants(value, text):
    if isinstance(value, timedelta):
        assert filled("${x}", {"x": value}).startswith("INTERVAL '")
    else:
        assert filled("a.v > ${x} and ${ x }", {"x": value}) == f"a.v > {text} and {text}"


def test_comments_are_left_alone_and_quotes_have_no_places():
    assert filled("-- ${y}'s\n/* ${z} \" */ ${x} 'text'", {"x": 1}) == "-- ${y}'s\n/* ${z} \" */ 1 'text'"
    with pytest.raises(ost.OstinatoError, match="inside of quotes") as caught:
        filled("a = '${x}'", {"x": 1})
    assert caught.value.position == (1, 6)


def test_places_and_values_have_to_fit():
    with pytest.raises(ost.UnknownNameError, match=r"no value for \$\{y\}"):
        filled("${x} ${y}", {"x": 1})
    with pytest.raises(ost.UnknownNameError, match=r"no place \$\{z\}"):
        filled("${x}", {"x": 1, "z": 2})
    assert filled("${x}", {"x": 1, "z": None}) == "1"  # a column of a table of which another template has a place
    with pytest.raises(ost.OstinatoError, match="is a list"):
        filled("${x}", {"x": [1]})
    with pytest.raises(ost.OstinatoError, match="backslash"):
        filled("${x}", {"x": "a\\'"})


@settings(deadline=None, max_examples=40)
@given(st.text(st.characters(exclude_characters="\\\0", exclude_categories=["Cs"])))
def test_no_text_gets_out_of_its_quotes(text):
    table = pa.table({"ts": [1, 2], "k": pa.array([text, text + "x"], pa.string())})
    query = filled("PATTERN SEQ(t a) WHERE skip_till_next_match(a) { a.k = ${x} } RETURN a.ts AS at", {"x": text})
    assert ost.match(query, t=table).to_arrow().to_pylist() == [{"at": 1}]
