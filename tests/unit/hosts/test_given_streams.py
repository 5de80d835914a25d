"""Streams by name beside options by name: what is passed the wrong way is said, never taken for something else."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.base.errors import OstinatoError, UnknownNameError
from ostinato.hosts.given_streams import OPTIONS, check_options
from ostinato.hosts.spark.session_entry import SparkEngine

ROWS = pa.table({"ts": [1, 2, 3], "v": [1, 2, 3]})
FRAME = ROWS.to_pandas()
PAIR = 'PATTERN SEQ("{0}" a, "{0}" b) WHERE skip_till_next_match(a, b) {{ b.v > a.v }} RETURN a.v AS a, b.v AS b OUTPUT first'
CLAUSE = 'SELECT * FROM "{0}" MATCH_RECOGNIZE (ORDER BY ts MEASURES A.v AS a, B.v AS b PATTERN (A B) DEFINE B AS v > PREV(v))'
NAMES = (
    "time",
    "output",
    "language",
    "lateness",
    "budget",
    "ties",
    "strategy",
    "type_by",
    "dialect",
    "streams",
    "unnamed",
    "text",
    "named",
)


@pytest.mark.parametrize("call", [ost.match, ost.sql])
@pytest.mark.parametrize("value", [FRAME, ROWS, "rows.parquet", pd.Series([1])], ids=["pandas", "arrow", "path", "series"])
def test_a_stream_without_a_name(call, value):
    with pytest.raises(UnknownNameError, match="was passed without a name") as caught:
        call(CLAUSE.format("t"), value)
    assert "by its name" in str(caught.value)


@pytest.mark.parametrize("name", ["time", "output", "language", "lateness", "budget", "ties", "strategy", "type_by"])
@pytest.mark.parametrize("value", [FRAME, ROWS, "ticks/*.parquet", True], ids=["pandas", "arrow", "path", "flag"])
def test_a_stream_that_is_called_like_an_option(name, value):
    if name == "lateness" and isinstance(value, str):
        value = FRAME.v  # a text is a time
    with pytest.raises(OstinatoError, match=f"{name}= is an option") as caught:
        ost.match(PAIR.format(name), **{name: value})
    assert f'streams={{"{name}": ...}}' in str(caught.value)


@pytest.mark.parametrize("told", [{"without": ("equality_key",)}, {"without": "equality_key"}, {"stage": "plan"}, {"writes": True}])
def test_an_option_of_another_call(told):
    with pytest.raises(OstinatoError, match="is no option of this call") as caught:
        ost.match(PAIR.format("t"), t=ROWS, **told)
    assert "ost.compile" in str(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_can_be_passed(name):
    found = ost.match(PAIR.format(name.capitalize()), streams={name: ROWS}).to_arrow().to_pylist()
    assert found[0] == {"a": 1, "b": 2}
    assert ost.sql(CLAUSE.format(name), streams={name: ROWS}).to_arrow().to_pylist() == [{"a": 1, "b": 2}]
    assert ost.compile(PAIR.format(name.capitalize()), {name: ROWS.schema}).explain()
    assert ost.compile(CLAUSE.format(name), {name: ROWS.schema}).explain()


def test_schemas_by_name():
    assert ost.compile(CLAUSE.format("t"), t=ROWS).output_schema == ost.compile(CLAUSE.format("t"), {"t": ROWS.schema}).output_schema
    with pytest.raises(UnknownNameError, match="given twice"):
        ost.compile(CLAUSE.format("t"), {"t": ROWS.schema}, t=ROWS)


@pytest.mark.parametrize("streams", [ROWS, [ROWS], {1: ROWS}], ids=["table", "list", "number"])
def test_streams_is_a_mapping_from_names(streams):
    with pytest.raises(OstinatoError, match="streams="):
        ost.match(PAIR.format("T"), streams=streams)


def test_every_option_of_a_call_is_checked():
    for call in (ost.match, ost.sql, ost.compile, SparkEngine.sql, SparkEngine.match, SparkEngine.match_all, SparkEngine.explain):
        options = set(call.__kwdefaults__) - {"streams", "without", "sandbox"}
        assert options <= set(OPTIONS), call


def test_a_log_of_rules_is_a_directory():
    check_options(rule_log="/data/rules", keys=["k"])
    check_options(rule_log=Path("rules"), keys="k")
    check_options(tail_of="/data/checkpoint")
    with pytest.raises(OstinatoError, match="tail_of= is an option"):
        check_options(tail_of=ROWS)
    with pytest.raises(OstinatoError, match="keys= is an option"):
        check_options(keys=3)
