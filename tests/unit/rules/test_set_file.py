"""A set that is saved and loaded is the same set; a file that is anything else is refused with its place."""

from __future__ import annotations

import json
import os

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.test_query_set import SCHEMA, SHAPES, gathered, rows, same_rows, whole_set

import ostinato as ost
from ostinato.rules.column_types import field_name, field_named
from ostinato.rules.json_places import place_in

TEXTS = {**SHAPES, "again": SHAPES["runs"], "reworded": SHAPES["runs"].replace(" WITHIN", "\n\n  WITHIN")}


def same_set(one: ost.QuerySet, other: ost.QuerySet) -> bool:
    return (
        set(one) == set(other)
        and set(one.disabled) == set(other.disabled)
        and one.schemas == other.schemas
        and all(one[id].program == other[id].program for id in one)
    )


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    names=st.lists(st.sampled_from(sorted(TEXTS)), unique=True),
    ids=st.lists(st.text(st.characters(exclude_characters="#/"), min_size=1, max_size=8), unique=True, min_size=20, max_size=20),
    disabled=st.sets(st.sampled_from(sorted(TEXTS))),
)
def test_what_is_saved_is_loaded(names, ids, disabled, tmp_path):
    queries = ost.QuerySet({"t": SCHEMA, "other": SCHEMA})
    queries.sync([{"id": ids[number], "text": TEXTS[name], "enabled": name not in disabled} for number, name in enumerate(names)])
    path = tmp_path / "set.json"
    queries.save(path)
    loaded = ost.QuerySet.load(path)
    assert same_set(queries, loaded)
    before = path.read_text()
    loaded.save(path)
    assert sorted(path.read_text()) == sorted(before) and same_set(queries, ost.QuerySet.load(path))


def test_a_loaded_set_finds_the_same(tmp_path):
    queries = whole_set()
    queries.save(tmp_path / "set.json")
    table = rows(90, 3)
    found = [
        gathered([session.push("t", table), session.close()])
        for session in (queries.open(), ost.QuerySet.load(tmp_path / "set.json").open())
    ]
    assert set(found[0]) == set(found[1]) and all(same_rows(found[0][name], found[1][name]) for name in found[0])


def test_equal_queries_are_written_and_compiled_once(tmp_path):
    queries = ost.QuerySet({"t": SCHEMA})
    for name in ("runs", "again", "reworded"):
        queries.add(name, TEXTS[name])
    queries.add("typed", "PATTERN SEQ(e1 a, e2 b) RETURN a.ts AS a", type_by="kind", time={"t": "ts"})
    queries.save(tmp_path / "set.json")
    stored = json.loads((tmp_path / "set.json").read_text())
    assert [entry["ids"] for entry in stored["queries"]] == [["runs", "again", "reworded"], ["typed"]]
    loaded = ost.QuerySet.load(tmp_path / "set.json")
    assert loaded["runs"] is loaded["again"] is loaded["reworded"] and same_set(queries, loaded)


def test_an_empty_set(tmp_path):
    ost.QuerySet({}).save(tmp_path / "set.json")
    assert len(ost.QuerySet.load(tmp_path / "set.json")) == 0


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("saved") / "set.json"
    queries = whole_set(("runs", "scan", "composed"))
    queries.save(path)
    return path.read_text()


def test_wherever_it_is_cut_off_it_is_refused(saved, tmp_path):
    path = tmp_path / "set.json"
    for cut in [*range(0, len(saved.rstrip()), 37), len(saved.rstrip()) - 1]:
        path.write_text(saved[:cut])
        with pytest.raises(ost.DataError, match=r"set\.json is no query set") as caught:
            ost.QuerySet.load(path)
        assert caught.value.position is not None


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 10_000), letter=st.sampled_from('09azAZ"{}[],:<\n \\'))
def test_a_letter_that_is_changed_is_found_or_changes_nothing(saved, at, letter, tmp_path):
    """What is around the queries has no digest: a name of a stream is another name, and a blank between two things is none of them."""
    at %= len(saved)
    path = tmp_path / "set.json"
    path.write_text(saved[:at] + letter + saved[at + 1 :])
    try:
        loaded = ost.QuerySet.load(path)
    except ost.OstinatoError as error:
        assert "set.json" in str(error) and ("line" in str(error) or error.position is not None)
        return
    original = whole_set(("runs", "scan", "composed"))
    assert set(loaded) == set(original) and all(loaded[id].text == loaded[id].text for id in loaded)
    assert {id: loaded[id].syntax for id in loaded} == {id: original[id].syntax for id in original}


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        ('"version": 1', '"version": 2', "version 2, and this Ostinato reads up to 1", 3),
        ('"version": 1', '"version": true', "no version of the format", 3),
        ('"ostinato query set"', '"something else"', "this is no query set", 1),
        ('"type": "int64"', '"type": "int65"', "no type 'int65'", 6),
        ('"type": "int64"', '"typ": "int64"', "a column with a name and a type", 6),
        ('"count": 3', '"count": 4', "there are 3 queries, and there should be 4", None),
        ('"streams"', '"stream"', "nothing is called 'stream' here", 4),
        ("a.p > 6", "a.p > 7", "is not what was written", None),
        ('"ids": ["runs"]', '"ids": "runs"', "'ids' is not as it should be", None),
    ],
)
def test_damage_is_refused_with_its_place(saved, old, new, message, line, tmp_path):
    assert old in saved
    (tmp_path / "set.json").write_text(saved.replace(old, new, 1))
    with pytest.raises(ost.DataError, match=message) as caught:
        ost.QuerySet.load(tmp_path / "set.json")
    assert "set.json" in caught.value.message and caught.value.position is not None
    assert line is None or caught.value.position[0] == line


def test_people_may_change_a_query_if_they_leave_out_its_digest(saved, tmp_path):
    stored = json.loads(saved)
    stored["queries"][0]["text"] = SHAPES["runs"].replace("a.p > 6", "a.p > 5").split("\n")
    del stored["queries"][0]["digest"]
    (tmp_path / "set.json").write_text(json.dumps(stored))
    assert "a.p > 5" in ost.QuerySet.load(tmp_path / "set.json")["runs"].text
    stored["queries"][0]["text"] = ["PATTERN SEQ(t a"]
    (tmp_path / "set.json").write_text(json.dumps(stored, indent=1))
    with pytest.raises(ost.DataError, match="'runs' cannot be used") as caught:
        ost.QuerySet.load(tmp_path / "set.json")
    assert caught.value.position is not None and isinstance(caught.value.__cause__, ost.QuerySyntaxError)


def test_other_files_are_refused(tmp_path):
    with pytest.raises(ost.DataError, match="cannot be read"):
        ost.QuerySet.load(tmp_path / "nowhere.json")
    (tmp_path / "bytes").write_bytes(b"{\n\xff\xfe")
    with pytest.raises(ost.DataError, match="line 2, column 1 is no UTF-8"):
        ost.QuerySet.load(tmp_path / "bytes")


def test_a_file_appears_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "set.json"
    whole_set(("runs",)).save(path)
    before = path.read_text()

    def full(handle):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ost.DataError, match="cannot be written"):
        whole_set(("scan", "runs")).save(path)
    assert path.read_text() == before and [one.name for one in tmp_path.iterdir()] == ["set.json"]


SIMPLE = st.sampled_from(
    [pa.int64(), pa.uint8(), pa.string(), pa.large_binary(), pa.timestamp("us", "Europe/Berlin"), pa.timestamp("ns"), pa.date32(),
     pa.decimal128(10, 2), pa.decimal256(40, -3), pa.duration("ms"), pa.binary(16), pa.bool_(), pa.null(), pa.float32()]
)  # fmt: skip
TYPES = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        inner.map(pa.list_),
        inner.map(pa.large_list),
        st.tuples(inner, st.integers(0, 9)).map(lambda given: pa.list_(*given)),
        st.dictionaries(st.text(max_size=4), inner, max_size=3).map(lambda fields: pa.struct(list(fields.items()))),
        st.tuples(st.sampled_from([pa.string(), pa.int32()]), inner).map(lambda given: pa.map_(*given)),
        st.just(pa.dictionary(pa.int32(), pa.string(), True)),
    ),
    max_leaves=6,
)


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), TYPES, st.booleans())
def test_types_of_columns_are_read_as_they_were_written(name, type_, nullable):
    field = pa.field(name, type_, nullable)
    assert field_named(json.loads(json.dumps(field_name(field)))) == field


VALUES = st.recursive(
    st.one_of(st.integers(), st.text(), st.none()), lambda one: st.lists(one) | st.dictionaries(st.text(), one), max_leaves=12
)


@settings(deadline=None)
@given(VALUES, st.sampled_from([None, 1]), st.data())
def test_places_in_json(value, indent, data):
    text, path = json.dumps(value, indent=indent), []
    while isinstance(value, list | dict) and value and data.draw(st.booleans()):
        step = data.draw(st.sampled_from(sorted(value) if isinstance(value, dict) else range(len(value))))
        path.append(step)
        value = value[step]
    span = place_in(text, path)
    assert json.loads(text[span.start : span.end]) == value
