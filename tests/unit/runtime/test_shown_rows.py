"""ALL ROWS PER MATCH in sessions: when rows come, what is kept for them, and which are hidden."""

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.runtime.session import idle_keys

SCHEMA = pa.schema([("k", pa.string()), ("ts", pa.int64()), ("v", pa.int64())])
CLAUSE = """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES COUNT(*) AS n, FINAL COUNT(*) AS rows
            ALL ROWS PER MATCH {form} {skip} PATTERN ({pattern}) {within} DEFINE A AS v = 1, B AS v = 2)"""


def query(pattern="A B", form="WITH UNMATCHED ROWS", skip="", within=""):
    return ost.compile(CLAUSE.format(pattern=pattern, form=form, skip=skip, within=within), {"t": SCHEMA})


def table(*rows):
    return pa.table([pa.array(c, f.type) for c, f in zip(zip(*rows, strict=True), SCHEMA, strict=True)], schema=SCHEMA)


def shown(found):
    return [(row["k"], row["ts"], row["n"], row["rows"]) for row in found.to_pylist()]


def test_a_row_of_no_match_comes_as_soon_as_the_search_has_passed_it():
    session = query().open()
    assert shown(session.push(table(("a", 1, 5), ("a", 2, 1)))) == [("a", 1, None, None)]
    assert shown(session.push(table(("a", 3, 1)))) == [("a", 2, None, None)]
    assert shown(session.push(table(("a", 4, 2), ("b", 4, 1)))) == [("a", 3, 1, 2), ("a", 4, 2, 2)]
    assert shown(session.close()) == [("b", 4, None, None)]


def test_time_decides_that_a_row_is_in_no_match():
    session = query(within="WITHIN 10").open()
    assert session.push(table(("a", 1, 1))).num_rows == 0
    assert shown(session.advance(12)) == [("a", 1, None, None)]
    assert session.close().num_rows == 0


def test_rows_that_a_match_covers_beyond_the_next_start_are_not_shown_again():
    session = query("A B B", skip="AFTER MATCH SKIP TO NEXT ROW").open()
    found = [session.push(table(row)) for row in (("a", 1, 1), ("a", 2, 2), ("a", 3, 2), ("a", 4, 5))]
    assert shown(pa.concat_tables([*found, session.close()])) == [("a", 1, 1, 3), ("a", 2, 2, 3), ("a", 3, 3, 3), ("a", 4, None, None)]


@pytest.mark.parametrize("form", ["", "WITH UNMATCHED ROWS"])
def test_keys_that_are_forgotten_and_come_again(monkeypatch, form):
    monkeypatch.setattr(idle_keys, "FORGET_FROM", 8)
    session = query(within="WITHIN 5", form=form).open()
    found = []
    for i in range(120):
        found.append(session.push(table((f"k{i % 60}", 20 * i, 5), (f"k{i % 60}", 20 * i + 1, 1), (f"k{i % 60}", 20 * i + 2, 2))))
        found.append(session.push(table((f"once{i}", 20 * i + 3, 1))))
    assert session.metrics()["keys"] < 180
    found = shown(pa.concat_tables([*found, session.close()]))
    matched = [row for row in found if row[2] is not None]
    assert len(matched) == 240 and len(found) == (480 if form else 240)
    assert len(set(found)) == len(found)


def test_a_snapshot_knows_which_rows_were_shown():
    compiled = query()
    session = compiled.open()
    session.push(table(("a", 1, 5), ("a", 2, 1)))
    restored = compiled.open(snapshot=session.snapshot())
    assert shown(restored.push(table(("a", 3, 5)))) == [("a", 2, None, None), ("a", 3, None, None)]


def test_a_variable_inside_and_outside_of_an_exclusion():
    compiled = query("A {- (A | B) -} B", form="")
    session = compiled.open()
    found = shown(
        pa.concat_tables(
            [session.push(table(("a", 1, 1), ("a", 2, 1), ("a", 3, 2), ("a", 4, 1), ("a", 5, 2), ("a", 6, 2))), session.close()]
        )
    )
    assert found == [("a", 1, 1, 3), ("a", 3, 3, 3), ("a", 4, 1, 3), ("a", 6, 3, 3)]
    assert compiled.pattern.variables == ("A", "B", "A", "B") and compiled.pattern.hidden == (0, 1)
    assert "hidden A -> " in compiled.explain("automaton") and "hidden B" in compiled.explain("program")


def test_a_quoted_variable_may_be_called_like_a_twin():
    text = """SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES CLASSIFIER() AS c ALL ROWS PER MATCH
              PATTERN (A {- A -} "hidden A") DEFINE A AS TRUE)"""
    found = ost.sql(text, t=table(("a", 1, 1), ("a", 2, 1), ("a", 3, 2)))
    assert [(row["ts"], row["c"]) for row in found] == [(1, "A"), (3, "hidden A")]
