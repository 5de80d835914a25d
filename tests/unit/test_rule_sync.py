"""A set follows a table of rules: what has changed begins anew, the rest goes on."""

from __future__ import annotations

import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.unit.test_query_set import SHAPES, alone, gathered, rows, same_rows

import ostinato as ost

SCHEMA = pa.schema([("ts", pa.int64()), ("k", pa.string()), ("p", pa.float64()), ("kind", pa.string())])
OVER = "PATTERN SEQ(t a) WHERE skip_till_next_match(a) { a.p > ${limit} and a.k = ${key} } RETURN a.ts AS a"
TEXT = "PATTERN SEQ(t a) WHERE skip_till_next_match(a) { a.p > 3 } RETURN a.ts AS a"
TABLE = [
    {"id": "one", "text": TEXT, "template": None, "parameters": None, "enabled": True},
    {"id": "two", "text": None, "template": "over", "parameters": '{"limit": 2.5, "key": "k1"}', "enabled": None},
    {"id": "off", "text": "no query at all", "template": None, "parameters": None, "enabled": False},
]


def empty() -> ost.QuerySet:
    return ost.QuerySet({"t": SCHEMA})


def _toml(path):
    path.write_text(
        f'[templates]\nover = "{OVER}"\n\n[[rules]]\nid = "one"\ntext = "{TEXT}"\n\n'
        '[[rules]]\nid = "two"\ntemplate = "over"\nparameters = {limit = 2.5, key = "k1"}\n\n'
        '[[rules]]\nid = "off"\ntext = "no query at all"\nenabled = false\n'
    )
    return path


FORMS = {
    "list": lambda path: TABLE,
    "arrow": lambda path: pa.Table.from_pylist(TABLE),
    "batch": lambda path: pa.RecordBatch.from_pylist(TABLE),
    "reader": lambda path: pa.Table.from_pylist(TABLE).to_reader(),
    "pandas": lambda path: pd.DataFrame(TABLE),
    "polars": lambda path: pl.DataFrame(TABLE),
    "parquet": lambda path: pq.write_table(pa.Table.from_pylist(TABLE), path / "r.parquet") or str(path / "r.parquet"),
    "csv": lambda path: pd.DataFrame(TABLE).to_csv(path / "r.csv", index=False) or path / "r.csv",
    "jsonl": lambda path: (path / "r.jsonl").write_text("\n".join(map(json.dumps, TABLE))) and path / "r.jsonl",
    "toml": lambda path: _toml(path / "r.toml"),
}


@pytest.mark.parametrize("form", FORMS)
def test_tables_of_all_forms(form, tmp_path):
    queries = empty()
    changes = queries.sync(FORMS[form](tmp_path), templates={} if form == "toml" else {"over": OVER})
    assert (changes.added, changes.unchanged, queries.disabled) == (("one", "two"), ("off",), ("off",))
    assert queries["two"].program == ost.compile(OVER.replace("${limit}", "2.5").replace("${key}", "'k1'"), {"t": SCHEMA}).program


def test_what_is_untouched_goes_on_and_the_rest_begins_anew():
    first, second = rows(80, 1), rows(160, 3, first=80)
    queries = empty()
    queries.sync([{"id": name, "text": SHAPES[name]} for name in ("runs", "scan", "negation", "strict", "threads")])
    session = queries.open()
    found = [session.push("t", first)]
    changes = queries.sync(
        [
            {"id": "runs", "text": SHAPES["runs"]},
            {"id": "scan", "text": SHAPES["scan"].replace(" MEASURES", "\n  MEASURES")},
            {"id": "negation", "text": SHAPES["runs"]},
            {"id": "strict", "text": SHAPES["strict"], "enabled": False},
            {"id": "compact", "text": SHAPES["compact"]},
        ]
    )
    assert changes.unchanged == ("runs",) and changes.reworded == ("scan",) and changes.changed == ("negation",)
    assert changes.disabled == ("strict",) and changes.added == ("compact",) and changes.removed == ("threads",) and changes
    assert str(changes) == "1 added, 1 changed, 1 removed, 1 disabled, 1 reworded, 1 unchanged"
    assert set(session.queries) == set(queries) == {"runs", "scan", "negation", "compact"}
    later = gathered([session.push("t", second), session.close()])
    together = gathered([*found, later])
    for name in ("runs", "scan"):
        assert same_rows(together[name], alone(SHAPES[name], [first, second])), name
    for name, shape in (("negation", "runs"), ("compact", "compact")):
        assert same_rows(later[name], alone(SHAPES[shape], [second])), name


def test_the_same_table_again_changes_nothing():
    queries = empty()
    queries.sync(TABLE, templates={"over": OVER})
    session = queries.open()
    session.push("t", rows(20, 1))
    before = session.program
    assert not queries.sync(TABLE, templates={"over": OVER}) and session.program is before
    changes = queries.sync([{**TABLE[0], "enabled": False}, {**TABLE[2], "text": TEXT, "enabled": True}])
    assert (changes.disabled, changes.enabled, changes.removed) == (("one",), ("off",), ("two",))
    assert queries.sync([]).removed == ("one", "off") and len(queries) == 0


def test_broken_rules_are_all_told_and_nothing_is_changed():
    queries = empty()
    queries.sync(TABLE, templates={"over": OVER})
    session = queries.open()
    broken = [
        {"id": "one", "text": "PATTERN SEQ(t a) WHERE { a.p > } RETURN a.ts AS a"},
        {"id": "two", "template": "under"},
        {"id": "both", "text": TEXT, "template": "over"},
        {"id": "none"},
        {"id": "fine", "text": TEXT},
        {"id": "fine", "text": TEXT},
        {"id": "good", "text": TEXT},
        {"id": "typed", "text": "PATTERN SEQ(t a) RETURN a.k AS a"},
        {"id": "a/b", "text": TEXT},
        {"id": "truth", "text": TEXT, "enabled": "maybe"},
        {"id": None, "text": TEXT},
    ]
    with pytest.raises(ost.RuleError, match="9 of 10 rules cannot be used, and nothing was changed") as caught:
        queries.sync(broken, templates={"over": OVER})
    assert set(caught.value.errors) == {"one", "two", "both", "none", "fine", "typed", "a/b", "truth", "row 11"}
    assert isinstance(caught.value.errors["one"], ost.QuerySyntaxError) and caught.value.errors["one"].position is not None
    assert "two rules 'fine'" in str(caught.value) and list(queries) == ["one", "two"] == list(session.queries)
    assert queries.disabled == ("off",)


def test_columns_that_do_not_fit_together_are_found_before_anything_is_changed():
    queries = empty()
    queries.sync([{"id": "one", "text": TEXT}])
    with pytest.raises(ost.RuleError, match="'two' returns 'a' as string"):
        queries.sync([{"id": "one", "text": TEXT}, {"id": "two", "text": "PATTERN SEQ(t a) RETURN a.k AS a"}])
    changes = queries.sync([{"id": "two", "text": "PATTERN SEQ(t a) RETURN a.k AS a"}])  # the other one is gone
    assert changes.added == ("two",) and queries.output_schema.field("a").type == pa.string()
    queries.add("three", "PATTERN SEQ(t a) RETURN a.k AS a")


def test_options_are_columns():
    queries = empty()
    table = [
        {"id": "typed", "text": "PATTERN SEQ(e1 a, e2 b) RETURN a.ts AS a", "type_by": "kind", "language": "sase", "output": "first"},
        {"id": "timed", "text": TEXT, "time": '{"t": "ts"}'},
        {"id": "plain", "text": SHAPES["runs"], "without": "merging"},
    ]
    queries.sync(table)
    assert queries["typed"].program == ost.compile(table[0]["text"], {"t": SCHEMA}, type_by="kind", output="first").program
    assert not queries.sync(table)
    assert queries.sync([{**table[0], "output": "all"}, *table[1:]]).changed == ("typed",)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([{"id": "x", "text": TEXT, "enabeld": True}], "no column 'enabeld'"),
        ([{"text": TEXT}], "no column 'id'"),
        ({"id": "x"}, "one mapping"),
        (3, "a int is no table"),
        ("rules.txt", "is no file of rules"),
        ("nowhere.csv", "cannot be read"),
    ],
)
def test_what_is_no_table_of_rules_is_refused(given, message):
    with pytest.raises(ost.OstinatoError, match=message):
        empty().sync(given)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("r.jsonl", '{"id": "x", "text": "y"}\n{"id": "x",', "line 2, column 12"),
        ("r.jsonl", "[1]", "line 1, column 1: a rule is an object"),
        ("r.csv", "id,text\na,b,c\n", "line 2: the row has not as many values"),
        ("r.toml", "[[rules]\n", "at line 1"),
        ("r.toml", "[other]\nx = 1\n", "a table 'other'"),
        ("r.toml", "[templates]\nx = 1\n", "templates are texts"),
        ("r.parquet", "nothing", "cannot be read"),
    ],
)
def test_files_that_are_broken_are_refused_with_their_place(name, text, message, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(ost.DataError, match=message):
        empty().sync(tmp_path / name)


def test_a_query_comes_out_of_quarantine_when_it_is_restarted():
    queries = ost.QuerySet({"t": pa.schema([("ts", pa.int64()), ("v", pa.int64())])})
    rule = {"id": "big", "text": "PATTERN SEQ(t a) WHERE skip_till_next_match(a) { a.v * 4611686018427387904 > 0 } RETURN a.ts AS a"}
    queries.sync([rule])
    session = queries.open()
    session.push("t", pa.table({"ts": [1], "v": [3]}))
    assert not queries.sync([rule]) and list(session.quarantined) == ["big"]
    queries.restart("big")
    assert session.quarantined == {}
    assert session.push("t", pa.table({"ts": [2], "v": [1]}))["big"].to_pylist() == [{"a": 2}]


def test_a_session_at_work_is_not_changed():
    queries = empty()
    queries.sync([{"id": "one", "text": TEXT}])
    other, session = queries.open(), queries.open()
    session.subscribe("one", lambda *_: None)
    with session._alone(), pytest.raises(ost.StateError, match="at work in another call"):
        queries.sync([])
    assert list(queries) == ["one"] and other.queries == session.queries == ("one",)
