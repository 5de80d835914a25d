"""Texts that are no texts, too long, or cannot be written down: our error at once, that can be printed."""

import pandas as pd
import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.base.query_text import LONGEST, MOST_WORDS, check_text
from ostinato.base.span import Span, caret

HALF = "\ud83d"
ROWS = pa.table({"ts": [1, 2], "v": [1, 2], "s": ["a", "b"]})
CLAUSE = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES A.v AS v PATTERN (A) DEFINE A AS {})"
EVENTS = "PATTERN SEQ(T a) WHERE {}"


def test_lengths():
    assert check_text("x" * LONGEST) and check_text("x " * MOST_WORDS) and check_text(f"'{'% ' * MOST_WORDS}'")
    for text in ("x" * (LONGEST + 1), "(" * (MOST_WORDS + 1)):
        with pytest.raises(ost.UnsupportedError, match="too long"):
            check_text(text)


@pytest.mark.parametrize("call", [ost.sql, ost.match, ost.compile])
@pytest.mark.parametrize(
    "text",
    [
        CLAUSE.format("v IN (" + ",".join(map(str, range(700_000))) + ")"),
        CLAUSE.replace("(A)", f"({'|'.join('A' * 1_000_000)})").format("TRUE"),
        CLAUSE.format("NOT " * 300_000 + "TRUE"),
        CLAUSE.format("(" * 200_000 + "TRUE" + ")" * 200_000),
        EVENTS.format(" and ".join(["a.v > 0"] * 200_000)),
        f"SELECT {'(' * 300_000} FROM t",
    ],
    ids=["in", "alternation", "not", "parentheses", "and", "outside"],
)
def test_bombs_are_refused_by_their_length(call, text):
    """Before anything reads them."""
    with pytest.raises(ost.UnsupportedError, match="too long"):
        call(text, t=ROWS)


@pytest.mark.parametrize("text", [CLAUSE.format(f"s = '{HALF}'"), EVENTS.format(f"a.s = '{HALF}'"), f"SELECT '{HALF}' AS x", HALF])
@pytest.mark.parametrize("call", [ost.sql, ost.match, ost.compile])
def test_half_a_surrogate_pair_in_a_text(call, text):
    with pytest.raises(ost.QuerySyntaxError, match="half a surrogate pair") as caught:
        call(text, t=ROWS)
    assert caught.value.position is not None
    str(caught.value).encode()


def test_half_a_surrogate_pair_elsewhere():
    frame = pd.DataFrame({"ts": [1], "v": [1], "s": [HALF]})
    text = EVENTS.format("a.v > 0")
    for call in (
        lambda: ost.match(text, streams={HALF: ROWS, "t": ROWS}),
        lambda: ost.compile(text, {HALF: ROWS.schema, "t": ROWS.schema}),
        lambda: ost.match(text, t=ROWS, time=HALF),
        lambda: ost.match(text, t=ROWS, time={"t": HALF}),
        lambda: ost.match(text, t=ROWS, output=HALF),
        lambda: ost.match(text, t=ROWS, type_by=HALF),
        lambda: ost.sql(CLAUSE.format("TRUE"), t=ROWS, dialect=HALF),
        lambda: ost.sql(CLAUSE.format("TRUE"), t=f"{HALF}.parquet"),
        lambda: ost.sql(CLAUSE.format("TRUE"), t=frame),
        lambda: ost.sql(CLAUSE.format("TRUE"), t=frame.rename(columns={"s": HALF})),
        lambda: ost.compile(text, t=ROWS).open().push(frame),
        lambda: ost.compile(text, t=ROWS).open().push(HALF, ROWS),
        lambda: ost.compile(text, t=ROWS).explain(HALF),
    ):
        with pytest.raises(ost.OstinatoError) as caught:
            call()
        str(caught.value).encode()


@pytest.mark.parametrize("text", [None, 3, b"SELECT 1", ROWS, "SELECT 1 \0 x"])
@pytest.mark.parametrize("call", [ost.sql, ost.match, ost.compile])
def test_what_is_no_text(call, text):
    with pytest.raises(ost.QuerySyntaxError):
        call(text, t=ROWS)


def test_a_long_line_is_shown_around_the_place():
    text = "a" * 5_000 + "!" + "b" * 5_000
    line, below = caret(text, Span(5_000, 5_001)).split("\n")
    assert len(line) < 500 and line[below.index("^")] == "!"
