"""What every host relies on: order, lateness, snapshots, errors that do not leave wrong state behind."""

import numpy as np
import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.runtime.session import idle_keys

SCHEMA = pa.schema([("k", pa.string()), ("ts", pa.int64()), ("v", pa.int64())])
RISE = """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(ts) AS t0, LAST(ts) AS t1, COUNT(*) AS n
          PATTERN (A B+) DEFINE B AS v > PREV(v))"""
PAIR = "PATTERN SEQ(T a, T b) WHERE skip_till_next_match(a, b) { [k] and a.v = 1 and b.v = 2 } WITHIN 10 RETURN a.ts AS t0, b.ts AS t1"


def table(*rows):
    return pa.table([pa.array(c, f.type) for c, f in zip(zip(*rows, strict=True), SCHEMA, strict=True)], schema=SCHEMA)


def rises(session, *batches):
    found = [row for batch in batches for row in session.push(batch).to_pylist()]
    return found + session.close().to_pylist()


def test_any_split_gives_the_same_matches():
    rows = [(k, i, int(v)) for i, (k, v) in enumerate(zip("abab" * 6, np.random.default_rng(3).integers(0, 5, 24), strict=True))]
    query = ost.compile(RISE, {"t": SCHEMA})
    whole = rises(query.open(), table(*rows))
    assert len(whole) >= 2
    single = rises(query.open(), *(table(row) for row in rows))
    assert sorted(map(str, single)) == sorted(map(str, whole))


def test_a_batch_is_sorted_and_late_rows_are_counted():
    query = ost.compile(PAIR, {"t": SCHEMA})
    session = query.open(lateness=5)
    first = session.push(table(("a", 9, 2), ("a", 3, 1)))
    second = session.push(table(("a", 2, 9), ("a", 20, 0)))
    third = session.push(table(("a", 1, 1)))
    assert (first.num_rows, second.to_pylist(), third.num_rows) == (0, [{"t0": 3, "t1": 9}], 0)
    assert session.metrics()["late_rows"] == 2
    session.close()


def test_only_advance_releases_rows_of_a_manual_session():
    session = ost.compile(PAIR, {"t": SCHEMA}).open(lateness=None)
    assert session.push(table(("a", 1, 1), ("a", 2, 2))).num_rows == 0
    assert session.advance(2).num_rows == 0
    assert session.advance(3).to_pylist() == [{"t0": 1, "t1": 2}]


def test_time_decides_a_match_in_a_partition_that_receives_nothing():
    text = RISE.replace("DEFINE", "WITHIN 5 DEFINE")
    session = ost.compile(text, {"t": SCHEMA}).open()
    assert session.push(table(("a", 1, 1), ("a", 2, 2))).num_rows == 0
    assert session.advance(6).num_rows == 0
    assert session.advance(7).to_pylist() == [{"k": "a", "t0": 1, "t1": 2, "n": 2}]


def test_snapshot_goes_on_where_it_was_taken():
    query = ost.compile(RISE, {"t": SCHEMA})
    session = query.open()
    session.push(table(("ä", 1, 1), (None, 2, 1), ("ä", 3, 2)))
    again = query.open(snapshot=session.snapshot())
    rest = table((None, 4, 5), ("ä", 5, 3), ("ä", 6, 0))
    assert rises(again, rest) == rises(session, rest)


def test_snapshot_of_another_query_is_refused():
    blob = ost.compile(RISE, {"t": SCHEMA}).open().snapshot()
    with pytest.raises(ost.StateError, match="another query"):
        ost.compile(PAIR, {"t": SCHEMA}).open(snapshot=blob)
    with pytest.raises(ost.StateError, match="damaged"):
        ost.compile(RISE, {"t": SCHEMA}).open(snapshot=blob[:-3])
    with pytest.raises(ost.StateError, match="not a snapshot"):
        ost.compile(RISE, {"t": SCHEMA}).open(snapshot=b"something else")


def test_no_bit_of_a_snapshot_may_change():
    query = ost.compile(RISE, {"t": SCHEMA})
    session = query.open()
    session.push(table(("x", 1, 1), ("x", 2, 2)))
    saved = session.snapshot()
    for at in range(0, len(saved), 7):
        damaged = saved[:at] + bytes([saved[at] ^ 4]) + saved[at + 1 :]
        with pytest.raises(ost.StateError):
            query.open(snapshot=damaged)


def test_rows_are_sorted_by_numbers_that_are_none():
    values = pa.table({"f": [1.0, float("nan"), None, 2.0, float("nan")], "n": [1, 9, 3, 4, 5]})
    text = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY {} MEASURES n AS n PATTERN (A) DEFINE A AS TRUE)"
    for order, wanted in [("f, n", [1, 4, 5, 9, 3]), ("f DESC NULLS FIRST, n DESC", [3, 9, 5, 4, 1])]:
        session = ost.compile(text.format(order), {"t": values.schema}).open()
        found = [*session.push(values).to_pylist(), *session.close().to_pylist()]
        assert [row["n"] for row in found] == wanted


def test_a_failed_batch_is_not_built_upon():
    text = RISE.replace("v > PREV(v)", "v + 9223372036854775807 > PREV(v)")
    session = ost.compile(text, {"t": SCHEMA}).open()
    session.push(table(("a", 1, 0)))
    blob = session.snapshot()
    with pytest.raises(ost.DataError):
        session.push(table(("a", 2, 1)))
    with pytest.raises(ost.StateError, match="error in an earlier batch"):
        session.push(table(("a", 3, 0)))
    again = ost.compile(text, {"t": SCHEMA}).open(snapshot=blob)
    assert again.push(table(("a", 3, 0))).num_rows == 0


def test_bad_batches_are_named_and_leave_the_session_usable():
    session = ost.compile(RISE, {"t": SCHEMA}).open()
    with pytest.raises(ost.SchemaError, match='no column "v"'):
        session.push(table(("a", 1, 0)).drop_columns(["v"]))
    with pytest.raises(ost.SchemaError, match="string in this batch"):
        session.push(table(("a", 1, 0)).set_column(2, "v", pa.array(["x"])))
    with pytest.raises(ost.DataError, match="null"):
        session.push(table(("a", None, 0)))
    assert session.push(table(("a", 1, 0), ("a", 2, 1), ("a", 3, 0))).num_rows == 1


def test_empty_input():
    session = ost.compile(RISE, {"t": SCHEMA}).open()
    assert session.push(SCHEMA.empty_table()).num_rows == 0
    closing = session.close()
    assert closing.num_rows == 0 and closing.schema == session.schema
    with pytest.raises(ost.StateError, match="closed"):
        session.push(SCHEMA.empty_table())


def test_idle_keys_are_forgotten(monkeypatch):
    monkeypatch.setattr(idle_keys, "FORGET_FROM", 8)
    session = ost.compile(PAIR, {"t": SCHEMA}).open()
    found = 0
    for i in range(200):
        found += session.push(table((f"k{i}", 20 * i, 1), (f"k{i}", 20 * i + 1, 2), (f"late{i}", 20 * i + 2, 1))).num_rows
        if i % 20 == 0:
            session.advance(20 * i + 15)
    assert found == 200
    assert session.metrics()["keys"] < 200


def test_a_window_over_dates_counts_days():
    days = pa.table({"d": pa.array([0, 1, 4, 5], pa.int32()).cast(pa.date32()), "v": [1, 2, 3, 4]})
    text = """SELECT * FROM t MATCH_RECOGNIZE (ORDER BY d MEASURES COUNT(*) AS n PATTERN (A+) WITHIN INTERVAL '1' DAY DEFINE A AS TRUE)"""
    session = ost.compile(text, {"t": days.schema}).open()
    counted = [*session.push(days).to_pylist(), *session.close().to_pylist()]
    assert [row["n"] for row in counted] == [2, 2]


def test_rows_count_also_where_no_column_is_read():
    query = ost.compile("SELECT * FROM t MATCH_RECOGNIZE (MEASURES COUNT(*) AS n PATTERN (A+) DEFINE A AS TRUE)", {"t": SCHEMA})
    session = query.open()
    session.push(table(("a", 1, 1), ("b", 2, 2)))
    assert session.close().to_pylist() == [{"n": 2}]


def test_rows_that_are_refused_are_not_counted():
    rows = pa.table({"ts": [1, 2, 3], "v": [1, 2, 3]})
    session = ost.compile("PATTERN SEQ(t a) WHERE skip_till_next_match(a) { a.v > 1 }", {"t": rows.schema}).open()
    session.push(rows)
    for wrong in ([1.5, 2.0, 3.0], [7, None, 8]):
        with pytest.raises(ost.OstinatoError):
            session.push(rows.set_column(0, "ts", pa.array(wrong)))
    assert session.metrics()["rows"] == 3
