"""Which patterns are warned about when they are compiled."""

from __future__ import annotations

import warnings

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.compiler import compile

EVENTS = pa.schema([("ts", pa.int64()), ("kind", pa.string()), ("x", pa.int64())])
ANY, NEXT = "skip_till_any_match", "skip_till_next_match"


def warned(text: str, **options) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        query = compile(text, {"events": EVENTS}, type_by="kind", **options)
    said = [str(one.message) for one in found if issubclass(one.category, ost.ExplosionWarning)]
    assert ([query.warning] if query.warning else []) == said
    assert all(one.filename == __file__ for one in found)
    return said


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (f"PATTERN SEQ(A a, B+ b[]) WHERE {ANY}(a, b[])", "column 18"),
        (f"PATTERN SEQ(A a, B b) WHERE {ANY}(a, b)", "column 29"),
        ("PATTERN SEQ(A a, B* b[], C c)", "column 18"),
        (f"PATTERN SEQ(A a, B+ b[]) WHERE {ANY}(a, b[]) {{ b[i].x > b[i-1].x }} OUTPUT count", "column 18"),
    ],
)
def test_warned(text, place):
    (said,) = warned(text)
    assert place in said and "Hint: Bound it with WITHIN" in said
    assert warned(text.replace(" OUTPUT count", "") + " WITHIN 10") == []


@pytest.mark.parametrize(
    "text",
    [
        f"PATTERN SEQ(A a, B+ b[]) WHERE {ANY}(a, b[]) OUTPUT count",
        "PATTERN SEQ(A a, B+ b[], C c) OUTPUT count",
        "PATTERN SEQ(A a, B b)",
        "PATTERN SEQ(A a, B+ b[]) WHERE strict_contiguity(a, b[])",
        "PATTERN SEQ(A a, B+ b[]) WHERE partition_contiguity(a, b[]) { [x] }",
        f"PATTERN SEQ(A a) WHERE {ANY}(a)",
    ],
)
def test_not_warned(text):
    assert warned(text) == []


def test_explain_says_it():
    with pytest.warns(ost.ExplosionWarning):
        query = compile("PATTERN SEQ(A+ a[])", {"events": EVENTS}, type_by="kind")
    assert "warning: Partial matches inside `a[ ]` are kept for ever" in query.explain("plan")
