"""Opaque values in sessions: however rows are cut, whatever waits, across snapshots, and not for ever."""

import numpy as np
import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.runtime.rows import opaque_values
from ostinato.runtime.rows.opaque_values import OpaqueValues

STRUCT = pa.struct([("id", pa.int64()), ("note", pa.string())])


def rows(start, end):
    values = [None if i % 7 == 3 else {"id": i % 3, "note": f"n{i}"} for i in range(start, end)]
    tags = pa.array([[i] * (i % 4) for i in range(start, end)], pa.list_(pa.int64()))
    return pa.table({"ts": range(start, end), "v": [i % 5 for i in range(start, end)], "dev": pa.array(values, STRUCT), "tags": tags})


SCHEMA = rows(0, 1).schema
QUERIES = {
    "whole events": "PATTERN SEQ(t a, t+ b[], t c) WHERE skip_till_next_match(a, b[], c) { [dev.id] and a.v = 0 and c.v = 4 } WITHIN 9",
    "returned": "PATTERN SEQ(t a, t b) WHERE skip_till_any_match(a, b) { a.v = 0 and b.v > 0 } WITHIN 5 RETURN a.dev, b.tags, b.dev.note",
    "forbidden": "PATTERN SEQ(t a, ~(t x), t b) WHERE skip_till_any_match(a, x, b) { a.v = 0 and b.v = 3 and x.dev.id = 1 } WITHIN 5",
    "rows": """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY dev.id ORDER BY ts MEASURES LAST(dev) AS d, PREV(FIRST(dev.note)) AS p
        ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN (A B+) DEFINE B AS v > PREV(v))""",
}


@pytest.mark.parametrize("name", QUERIES)
def test_however_rows_come_matches_are_the_same(name):
    query = ost.compile(QUERIES[name], {"t": SCHEMA})
    whole = session_output(query, [rows(0, 60)])
    assert len(whole) > 3
    mixed = np.random.default_rng(1).permutation(60)
    batches = [rows(0, 60).take(pa.array(part)) for part in np.array_split(mixed, 7)]
    assert session_output(query, [rows(i, i + 6) for i in range(0, 60, 6)]) == whole
    assert session_output(query, [rows(i, i + 6) for i in range(0, 60, 6)], stop=True) == whole
    assert session_output(query, batches, lateness=60) == whole
    assert session_output(query, batches, lateness=60, stop=True) == whole


def session_output(query, batches, lateness=0, stop=False):
    """With `stop` a snapshot is taken and restored after every batch."""
    session = query.open(lateness=lateness)
    tables = []
    for batch in batches:
        tables.append(session.push(batch))
        if stop:
            session = query.open(lateness=lateness, snapshot=session.snapshot())
    tables.append(session.close())
    found = [{name: value for name, value in row.items() if name != "match_id"} for row in pa.concat_tables(tables).to_pylist()]
    return sorted(found, key=str)


def test_what_no_row_refers_to_is_forgotten(monkeypatch):
    monkeypatch.setattr(opaque_values, "SWEEP_FROM", 64)
    query = ost.compile(QUERIES["whole events"], {"t": SCHEMA})
    session = query.open()
    kept = []
    for start in range(0, 3000, 30):
        session.push(rows(start, start + 30))
        kept.append(len(session.graph.inputs[0].rows.opaque["dev"]))
    assert max(kept) < 300
    assert len(session.snapshot()) < 20_000


def test_positions_over_several_pieces():
    pool = OpaqueValues(pa.list_(pa.int64()))
    whole = [[i] * (i % 3) for i in range(100)]
    firsts = [pool.add(pa.array(whole[a:b], pool.type)) for a, b in ((0, 70), (70, 71), (71, 100))]
    assert firsts == [0, 70, 71] and len(pool) == 100
    asked = [5, None, 99, 70, 71, 0, 5]
    assert pool.take(pa.array(asked, pa.int64())).to_pylist() == [None if i is None else whole[i] for i in asked]
    assert pool.keep(np.array([99, 3, 99, 70])).tolist() == [2, 0, 2, 1]
    assert pool.take(pa.array([0, 1, 2])).to_pylist() == [whole[3], whole[70], whole[99]]
    again = OpaqueValues(pool.type)
    again.load(pool.state(), np.array([0, 2]))
    assert again.take(pa.array([2, 0])).to_pylist() == [whole[99], whole[3]]
    for state, positions in ((pool.state(), [3]), (pool.state(), [-1]), (pa.table({"v": [1]}), [0])):
        with pytest.raises(ost.StateError, match="damaged"):
            again.load(state, np.array(positions))
    assert OpaqueValues(pool.type).take(pa.array([None, None], pa.int64())).to_pylist() == [None, None]


def test_batches_of_another_form():
    query = ost.compile(QUERIES["returned"], {"t": SCHEMA})
    session = query.open()
    other = rows(0, 10)
    larger = other.set_column(3, "tags", other["tags"].cast(pa.large_list(pa.int64())))
    missing = rows(10, 20).set_column(2, "dev", pa.nulls(10))
    assert len(session.push(larger)) + len(session.push(missing)) > 3
    with pytest.raises(ost.SchemaError, match='column "tags"'):
        session.push(rows(20, 30).set_column(3, "tags", pa.array([{"x": 1}] * 10)))
    with pytest.raises(ost.SchemaError, match=r'no column "dev\.note"'):
        session.push(rows(20, 30).set_column(2, "dev", pa.array([{"id": 1}] * 10)))
