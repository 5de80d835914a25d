"""Texts that are no texts, too long, or cannot be written down: our error at once, that can be printed."""

import pandas as pd
import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.base.query_text import LONGEST, MOST_QUERIES, MOST_WORDS, check_text
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


def doubled(times, begin="SELECT v AS a FROM t"):
    """Each SELECT says twice what the one inside of it is."""
    for _ in range(times):
        begin = f"SELECT a + a AS a FROM ({begin})"
    return begin


@pytest.mark.parametrize(
    "text",
    [
        doubled(40),
        f"FILTER {{a > 0}} ({doubled(40)})",
        f"t NEXT {{$2.a > 0}} ({doubled(40)})",
        doubled(20, f"({doubled(20)}) NEXT (SELECT v AS b FROM t)"),
        f"(SELECT 1 AS a FROM t) FOLD {{TRUE, TRUE}} ({doubled(40)})",
        f"FILTER {{{' AND '.join(['a > 0'] * 50)}}} ({doubled(12)})",
    ],
    ids=["select", "filter", "second", "first", "fold", "conditions"],
)
@pytest.mark.parametrize("sandbox", [False, True])
def test_bombs_that_grow_when_selects_are_put_into_one_another(text, sandbox):
    with pytest.raises(ost.UnsupportedError, match="too large when what it is computed from is put into it") as caught:
        ost.compile(text, t=ROWS, language="cel", sandbox=sandbox)
    assert caught.value.position is not None and "PUBLISH" in caught.value.hint


def test_what_is_put_into_one_another_may_be_wide():
    names = [f"c{number}" for number in range(300)]
    inner = f"SELECT {', '.join(f'v + {number} AS {name}' for number, name in enumerate(names))} FROM t"
    for _ in range(20):
        inner = f"SELECT * FROM ({inner})"
    query = ost.compile(doubled(8, f"SELECT c7 AS a FROM ({inner})"), t=ROWS, language="cel")
    assert query.output_schema.names == ["a", "start_ts", "end_ts"]


@pytest.mark.parametrize(
    "first, other, language",
    [
        ("PATTERN SEQ(t a) RETURN S{}(a.v AS v)", "PATTERN SEQ(S{} a) RETURN S{}(a.v AS v)", None),
        ("PATTERN AND(t a, t b) WITHIN 1 RETURN S{}(a.v AS v)", "PATTERN SEQ(S{} a) RETURN S{}(a.v AS v)", "neel"),
        ("SELECT v FROM t PUBLISH S{}", "SELECT v FROM S{} PUBLISH S{}", None),
        ("FROM t DEFINE A AS v > 0 RETURN count(*) AS v PUBLISH S{}", "FROM S{} DEFINE A AS v > 0 RETURN count(*) AS v PUBLISH S{}", None),
    ],
    ids=["sase", "neel", "cel", "tpstream"],
)
def test_texts_of_too_many_queries_are_refused(first, other, language):
    """Each is compiled, and asked whether it reads what those before it return."""
    queries = [first.format(0), *(other.format(number - 1, number) for number in range(1, MOST_QUERIES + 1))]
    with pytest.raises(ost.UnsupportedError, match="too many queries") as caught:
        ost.compile(";".join(queries), t=ROWS, language=language)
    assert "QuerySet" in caught.value.hint


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
