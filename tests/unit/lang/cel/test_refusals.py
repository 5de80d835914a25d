"""What is wrong with a text, and where."""

from __future__ import annotations

import pyarrow as pa
import pytest
from tests.property.cel_meaning import lowered
from tests.unit.lang.cel.schemas import SCHEMAS

from ostinato.base.errors import (
    OstinatoError,
    QuerySyntaxError,
    SchemaError,
    TypeMismatchError,
    UnknownNameError,
    UnsupportedError,
)

# text, kind, beginning of the message, column, part of the hint; `^` marks the place
REFUSED = [
    ("^", QuerySyntaxError, "The text has no query", "SELECT ... FROM"),
    ("  -- nothing^", QuerySyntaxError, "The text has no query", "SELECT ... FROM"),
    ("^;", QuerySyntaxError, "Expected a stream, FILTER {...} (...) or a query in parentheses, found `;`", None),
    ("stock;^;news", QuerySyntaxError, "Expected a stream", None),
    ("SELECT *^", QuerySyntaxError, "Expected FROM", "SELECT attributes FROM"),
    ("SELECT ^FROM stock", QuerySyntaxError, "Expected an expression, found `FROM`", None),
    ("stock ^stock", QuerySyntaxError, "Expected the end of the text", "a semicolon ends it"),
    ("(stock^", QuerySyntaxError, "Expected `)`", "in parentheses"),
    ("stock^)", QuerySyntaxError, "Expected the end of the text", None),
    ("FROM ^a.b", QuerySyntaxError, "`a.` begins no name of a stream", "quote one"),
    ("stock NEXT ^SELECT * FROM news", QuerySyntaxError, "SELECT stands inside of a query", "in parentheses"),
    ("SELECT * FROM stock ^WHERE price > 1", UnsupportedError, "WHERE is no clause of CEL", "FILTER {"),
    ("FILTER {price > 1} (stock ^GROUP BY name)", UnsupportedError, "GROUP is no clause of CEL", "FOLD"),
    ("stock PUBLISH ^select", QuerySyntaxError, "Expected a name for the stream, found `select`", 'needs quotes: "select"'),
    ("SELECT price AS ^next FROM stock", QuerySyntaxError, "Expected a name for the attribute", 'needs quotes: "next"'),
    ("^stock; news", QuerySyntaxError, "Query 1 of the text publishes nothing", "PUBLISH"),
    ("stock PUBLISH ^NEWS; news", QuerySyntaxError, "There is already a stream `NEWS`", "another name"),
    ("stock PUBLISH a; news PUBLISH ^A; a", QuerySyntaxError, "The stream `A` is published twice", "once"),
    ("(stock PUBLISH a) NEXT news PUBLISH ^a", QuerySyntaxError, "The stream `a` is published twice", "once"),
    ("^a PUBLISH a", QuerySyntaxError, "The stream `a` is made of itself", "read another one"),
    ("stock NEXT (news NEXT ^b) PUBLISH b", QuerySyntaxError, "The stream `b` is made of itself", "read another one"),
    ("a NEXT news PUBLISH b; FROM ^b PUBLISH a", QuerySyntaxError, "The streams b, a are made of each other", None),
    ("FROM ^stok", UnknownNameError, "There is no stream `stok`", "Did you mean `stock`?"),
    ("FROM ^bonds", UnknownNameError, "There is no stream `bonds`", "Pass it as bonds="),
    ("SELECT x FROM ^timeless", SchemaError, "Stream `timeless` has no time column `ts`", "time="),
    ("stock NEXT ^tick", SchemaError, "Stream `stock` has a time of type integer, stream `tick` one of type timestamp", "can be compared"),
    ("^odd", SchemaError, "Column u has the type dense_union", "Leave the column out"),
    ("SELECT ^u FROM odd", SchemaError, "Column u has the type dense_union", "Leave the column out"),
    ("FILTER ^(stock)", QuerySyntaxError, "Expected `{`", "Conditions stand in braces"),
    ("FILTER {^} (stock)", QuerySyntaxError, "Expected a condition", "FILTER {price > 10}"),
    ("FILTER {^price} (stock)", TypeMismatchError, "A condition must be true or false; this is of type integer", "Compare"),
    ("FILTER {price > 1^, id > 1} (stock)", QuerySyntaxError, "Expected `}`", "AND"),
    ("FILTER {price > ^'x'} (stock)", TypeMismatchError, "integer and string do not go together", "CAST"),
    ("FILTER {^prize > 1} (stock)", UnknownNameError, "The events have no attribute `prize`", "Did you mean `price`?"),
    ("FILTER {^ts > 1} (stock)", UnknownNameError, "The events have no attribute `ts`", "is a time, and no attribute"),
    ("FILTER {^$2.price > 1} (stock)", QuerySyntaxError, "`$2` is known in NEXT and FOLD, and not in FILTER", "write $1"),
    ("FILTER {^$.price > 1} (stock)", QuerySyntaxError, "`$` is known in FOLD, and not in FILTER", "write $1"),
    ("FILTER {DUR > ^10 MINUTES} (stock)", TypeMismatchError, "integer and interval do not go together", "DUR > 10"),
    ("FILTER {DUR > ^10} (tick)", TypeMismatchError, "interval and integer do not go together", "DUR > 10 MINUTES"),
    ("FILTER {DUR > 10 ^years} (tick)", UnsupportedError, "Intervals in years are not offered", "days or weeks"),
    ("SELECT ^$1.price FROM stock", QuerySyntaxError, "SELECT has no decorators", "price_1"),
    ("SELECT ^$x FROM stock", QuerySyntaxError, "`$` is of no attribute", "Decorators are"),
    ("stock NEXT {^$3.id = 1} news", QuerySyntaxError, "`$3` is of no attribute", "Decorators are"),
    ("SELECT ^price + 1 FROM stock", QuerySyntaxError, "This attribute has no name", "AS name"),
    ("SELECT price, ^name AS Price FROM stock", QuerySyntaxError, "Two attributes are called `Price`", "AS"),
    ("SELECT *, ^id FROM stock", QuerySyntaxError, "Two attributes are called `id`", "AS"),
    ("SELECT ^DUR FROM stock", UnsupportedError, "DUR is known in FILTER, and not in SELECT", "FILTER {DUR"),
    ("SELECT ^dev.foo FROM stock", UnknownNameError, "`Dev` has no field", "fields are id"),
    ("SELECT ^avg(price) AS p FROM stock", UnsupportedError, "The aggregate avg cannot stand here", "greatest("),
    ("SELECT ^nothing(price) AS p FROM stock", UnknownNameError, "There is no function nothing", None),
    ("^SELECT price AS end_ts FROM stock", QuerySyntaxError, "`end_ts` is a column in which every result tells its time", "otherwise"),
    ("stock NEXT {^} news", QuerySyntaxError, "Expected a condition", "needs no braces"),
    ("stock NEXT {^id = 1} news", UnknownNameError, "`id` could be that of several events", "$1.id or $2.id"),
    ("stock NEXT {^$.id = 1} news", QuerySyntaxError, "`$` is known in FOLD, and not in NEXT", "$1 and $2"),
    ("stock NEXT {^$1.score = 1} news", UnknownNameError, "`$1` has no attribute `score`", "Attributes: id"),
    ("stock NEXT {^scores = 1} news", UnknownNameError, "No stream here has an attribute `scores`", "Did you mean `score`?"),
    ("stock NEXT {^DUR = 1} news", UnsupportedError, "DUR is known in FILTER, and not in NEXT", "FILTER {DUR"),
    ("stock NEXT stock ^NEXT stock", QuerySyntaxError, "After NEXT two attributes are called `id_1`", "Rename"),
    ("stock FOLD ^news", QuerySyntaxError, "Expected `{`", "FOLD {relevant, step, aggregates}"),
    ("stock ^FOLD {TRUE} stock", QuerySyntaxError, "FOLD takes two conditions", "TRUE for any"),
    ("stock FOLD {TRUE, ^1 AS price} stock", QuerySyntaxError, "A condition is expected here", "TRUE for any"),
    ("stock FOLD {^*, TRUE} stock", QuerySyntaxError, "A condition is expected here", "TRUE for any"),
    ("stock FOLD {TRUE, TRUE, ^1} stock", QuerySyntaxError, "An aggregate has no name", "AS cnt"),
    ("stock FOLD {TRUE, TRUE, ^1 AS n} stock", UnknownNameError, "The first stream has no attribute `n`", "SELECT *, 0 AS n"),
    ("stock FOLD {TRUE, TRUE, ^1 AS price} stock", QuerySyntaxError, "Both streams have the attribute `price`", "Keep it apart"),
    ("stock ^FOLD {TRUE, TRUE} news", SchemaError, "FOLD needs all attributes of its second stream in the first, and `score`", "AS score"),
    ("(SELECT id, name AS score FROM stock) ^FOLD {TRUE, TRUE} news", SchemaError, "`score` is of type string", "CAST(score AS ...)"),
    ("(SELECT *, 0 AS n FROM stock) FOLD {^n > 1, TRUE, 1 AS n} stock", UnknownNameError, "`n` could be that of", "$1.n or $.n"),
    ("(SELECT *, 0 AS n FROM stock) FOLD {TRUE, TRUE, 1 AS n, ^2 AS N} stock", QuerySyntaxError, "Two aggregates change `N`", "one"),
    ("(SELECT *, 0 AS n FROM stock) FOLD {TRUE, TRUE, ^'a' AS n} stock", TypeMismatchError, "`n` begins as a value of type int", "CAST"),
    ("(SELECT *, d AS n FROM tick) FOLD {TRUE, TRUE, $.n * ^$2.d AS n} tick", TypeMismatchError, "decimal(19,18) * decimal(6,2)", "CAST"),
    ("(SELECT *, 1 AS id_1 FROM stock) ^FOLD {TRUE, TRUE} stock", QuerySyntaxError, "After FOLD two attributes are called `id_1`", "Rena"),
]


@pytest.mark.parametrize(("marked", "kind", "message", "hint"), REFUSED, ids=[text for text, *_ in REFUSED])
def test_refusals(marked: str, kind: type[OstinatoError], message: str, hint: str | None) -> None:
    text = marked.replace("^", "", 1)
    with pytest.raises(kind) as caught:
        lowered(text, SCHEMAS)
    error = caught.value
    assert error.message.startswith(message), error.message
    assert error.text == text and error.span is not None and error.span.start == marked.index("^"), str(error)
    assert hint is None or hint in (error.hint or ""), error.hint


def test_names_that_differ_in_case_alone() -> None:
    schema = pa.schema([("ts", pa.int64()), ("a", pa.int64()), ("A", pa.int64())])
    assert lowered('SELECT "a" AS x, "A" AS y FROM s', {"s": schema})
    with pytest.raises(UnknownNameError, match="`Ss` could be any of the streams ss, SS"):
        lowered("FROM Ss", {"ss": schema, "SS": schema})
    with pytest.raises(QuerySyntaxError, match="After NEXT two attributes are called `A_1`"):
        lowered("s NEXT s", {"s": schema})


def test_depth_is_bounded() -> None:
    assert lowered("(" * 90 + "stock" + ")" * 90, SCHEMAS)
    with pytest.raises(UnsupportedError, match="More than 100 operators stand inside of each other"):
        lowered("(" * 110 + "stock" + ")" * 110, SCHEMAS)
    with pytest.raises(UnsupportedError, match="More than 100 operators stand inside of each other"):
        lowered("stock" + " NEXT news" * 110, SCHEMAS)


def test_a_time_column_that_is_none() -> None:
    text = pa.schema([("ts", pa.string()), ("x", pa.int64())])
    with pytest.raises(SchemaError, match="The time column `ts` of stream `s` is of type string"):
        lowered("FROM s", {"s": text})
    starts = pa.schema([("start_ts", pa.string()), ("end_ts", pa.int64())])
    with pytest.raises(SchemaError, match="Stream `s` has starts of type string, and times of type integer"):
        lowered("FROM s", {"s": starts})
    with pytest.raises(SchemaError, match=r"has a column `\$DUR`"):
        lowered("FROM s", {"s": pa.schema([("ts", pa.int64()), ("$DUR", pa.int64())])})
