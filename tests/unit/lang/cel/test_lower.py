"""What the clauses become: attributes, names, types, streams of their own."""

from __future__ import annotations

import pyarrow as pa
import pytest
from tests.property.cel_meaning import lowered, meaning, result_schema
from tests.unit.lang.cel.schemas import SCHEMAS

from ostinato.algebra.event_streams import EventStream, Filter, Fold, Next, Project, streams_of
from ostinato.algebra.text import to_text
from ostinato.lang.cel.language import CEL
from ostinato.lang.compile_options import CompileOptions


def columns(text: str, **options: str) -> list[str]:
    schema = result_schema(lowered(text, SCHEMAS, **options)[-1])
    return [f"{field.name} {field.type}" for field in schema]


def test_the_time_is_no_attribute() -> None:
    assert columns("FROM news") == ["id int64", "score double", "start_ts int64", "end_ts int64"]
    assert columns("SELECT x FROM tick") == ["x int8", "start_ts timestamp[us]", "end_ts timestamp[us]"]


def test_all_forms_of_a_plain_query_are_one() -> None:
    forms = [lowered(text, SCHEMAS) for text in ("SELECT * FROM news", "FROM news", "news", "(news)", "SELECT * FROM (FROM news)", "NEWS;")]
    assert all(form == forms[0] for form in forms)
    assert isinstance(forms[0][0].expression, EventStream)


def test_select_keeps_the_spelling_of_attributes() -> None:
    assert columns("SELECT DEV.ID, Price FROM stock")[:2] == ["id int64", "price int64"]
    assert columns("SELECT *, 1 AS one FROM news")[2] == "one int64"


def test_names_after_next() -> None:
    assert columns("stock NEXT news")[:6] == [
        "id_1 int64",
        "name string",
        "price int64",
        "Dev struct<id: int64>",
        "id int64",
        "score double",
    ]
    assert columns("(SELECT id AS ID FROM stock) NEXT (SELECT id FROM news)")[:2] == ["ID_1 int64", "id int64"]


def test_names_after_fold() -> None:
    found = columns("(SELECT 0 AS n, score, id FROM news) FOLD {TRUE, TRUE, $.n + 1 AS n} (SELECT id, score FROM news)")
    assert found[:5] == ["score_1 double", "id_1 int64", "id int64", "score double", "n int64"]


def test_types_after_fold_hold_all_values() -> None:
    found = columns("(SELECT id AS score, id, x FROM (SELECT id, 1 AS x FROM stock)) FOLD {TRUE, TRUE, $.x + $2.score AS x} news")
    assert found[:5] == ["score_1 double", "id_1 int64", "id int64", "score double", "x double"]
    (query,) = lowered("(SELECT id AS score, id FROM stock) FOLD {TRUE, TRUE} news", SCHEMAS)
    assert (
        isinstance(query.expression, Fold)
        and isinstance(query.expression.first, Project)
        and query.expression.second == lowered("news", SCHEMAS)[0].expression
    )
    assert columns("(SELECT *, x AS low FROM tick) FOLD {TRUE, TRUE, least($.low, $2.x) AS low} tick")[6] == "low int8"


def test_a_name_is_spelled_as_the_first_stream_of_a_fold_does() -> None:
    found = columns("(SELECT id AS ID, score AS Score FROM news) FOLD {$2.id > $.id, TRUE} news")
    assert found[:4] == ["ID_1 int64", "Score_1 double", "ID int64", "Score double"]


def test_an_undecorated_name_of_one_stream() -> None:
    (query,) = lowered("stock NEXT {score > price AND NAME = 'x'} news", SCHEMAS)
    assert "$2.score > CAST($1.price AS DOUBLE) AND $1.name = 'x'" in to_text(query)
    (query,) = lowered("(SELECT *, 1 AS n FROM stock) FOLD {n > 0, $2.id > $.id} stock", SCHEMAS)
    assert "FOLD $1.n > 0" in to_text(query)


def test_durations() -> None:
    text = "FILTER {{DUR {}}} (tick NEXT fine)"
    for written in ("> 10 MINUTES", "> 10 min", "> INTERVAL '10' MINUTE", "> INTERVAL '10 minutes'", "> 600 s"):
        assert "DUR > INTERVAL '00:10:00'" in to_text(lowered(text.format(written), SCHEMAS)[0])
    assert "DUR > INTERVAL '-00:10:00'" in to_text(lowered(text.format("> -10 minutes"), SCHEMAS)[0])
    assert "FILTER DUR > 3 AND dur > 4" in to_text(lowered('FILTER {DUR > 3 AND "dur" > 4} (SELECT price AS dur FROM stock)', SCHEMAS)[0])
    assert columns("SELECT DUR FROM tick")[0] == "dur int64"
    assert columns("tick NEXT fine")[-2:] == ["start_ts timestamp[ns]", "end_ts timestamp[ns]"]


def test_streams_that_last() -> None:
    (query,) = lowered("FROM trade", SCHEMAS)
    assert query.expression == EventStream("trade", query.expression.schema, "end_ts", query.expression.time_type, "start_ts")
    assert columns("trade") == ["z int64", "start_ts int64", "end_ts int64"]
    (said,) = lowered("SELECT z FROM trade", SCHEMAS, time="start_ts")
    (stream,) = streams_of(said.expression)
    assert (stream.time, stream.start) == ("start_ts", None)
    both = {"s": pa.schema([("ts", pa.int64()), ("start_ts", pa.int64()), ("end_ts", pa.int64()), ("x", pa.int64())])}
    assert [field.name for field in result_schema(lowered("SELECT x FROM s", both)[0])] == ["x", "start_ts", "end_ts"]
    (ending,) = lowered("SELECT x FROM s", both, time={"S": "end_ts"})
    (stream,) = streams_of(ending.expression)
    assert (stream.time, stream.start, stream.schema.names) == ("end_ts", "start_ts", ("ts", "x"))


def test_what_is_combined_on_the_right_is_a_query_of_its_own() -> None:
    inner, outer = lowered("news NEXT FILTER {DUR > 1} ((SELECT price FROM stock) NEXT (SELECT name FROM stock))", SCHEMAS)
    assert inner.published is not None and inner.published.startswith("operand ") and isinstance(inner.expression, Filter)
    assert isinstance(outer.expression, Next) and outer.published is None
    assert outer.expression.second == EventStream(
        inner.published, outer.expression.second.schema, "end_ts", outer.expression.second.time_type, "start_ts"
    )
    assert len(lowered("news NEXT (FILTER {price > 1} (SELECT price FROM stock))", SCHEMAS)) == 1


def test_what_publishes_inside_is_a_query_of_its_own() -> None:
    first, second = lowered("SELECT price FROM (SELECT price, name FROM stock NEXT news PUBLISH pair) PUBLISH p", SCHEMAS)
    assert (first.published, second.published) == ("pair", "p")
    assert [stream.name for stream in streams_of(second.expression)] == ["pair"]


def test_hidden_names_are_free() -> None:
    text = 'stock PUBLISH "operand 92"; (SELECT price FROM "operand 92") NEXT ((SELECT name FROM stock) NEXT news)'
    assert [query.published for query in lowered(text, SCHEMAS)] == ["operand 92", "operand 93", None]


def test_queries_are_ordered_by_what_they_read() -> None:
    text = "FROM b PUBLISH c; FROM a PUBLISH b; FROM news PUBLISH a; FROM A PUBLISH unread; FROM c"
    parsed = CEL.parse(text, CompileOptions())
    names = [part.composite.name if part.composite else "" for part in parsed]
    assert names.index("a") < names.index("b") < names.index("c") < names.index("") and "unread" in names
    assert [part.returned for part in parsed] == [name == "" for name in names]


def test_many_queries_that_read_each_other() -> None:
    text = ";".join(f"SELECT id FROM s{number} PUBLISH s{number + 1}" for number in reversed(range(3000))) + "; SELECT id FROM s3000"
    parsed = CEL.parse("SELECT id FROM news PUBLISH s0;" + text, CompileOptions())
    assert [part.reads[0] for part in parsed] == ["news", *(f"s{number}" for number in range(3001))]


def test_time_columns() -> None:
    schemas = {"a": pa.schema([("at", pa.int64()), ("x", pa.int64())]), "b": pa.schema([("ts", pa.int64()), ("y", pa.int64())])}
    rows = {"a": [{"at": 1, "x": 1}], "b": [{"ts": 2, "y": 2}]}
    assert meaning("a NEXT b", schemas, rows, time={"a": "at"}) == [{"x": 1, "y": 2, "start_ts": 1, "end_ts": 2}]


@pytest.mark.parametrize("text", ["a.b", '"a b"', "größe", '"dur"', "$1.x"])
def test_quoted_names(text: str) -> None:
    schemas = {"s": pa.schema([("ts", pa.int64()), (text, pa.int64())])}
    quoted = '"' + text.replace('"', '""') + '"'
    assert result_schema(lowered(f"SELECT {quoted} FROM s", schemas)[0]).names[0] == text
    assert result_schema(lowered(f"s NEXT {{$1.{quoted} > $2.{quoted}}} s", schemas)[0]).names[:2] == [f"{text}_1", text]
