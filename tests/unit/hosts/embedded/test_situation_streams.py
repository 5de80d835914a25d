"""Situations as tables in SQL, and as streams that queries of all languages read."""

from __future__ import annotations

from itertools import product

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.algebra.allen import Compare, Relation, Side
from ostinato.base.errors import BudgetError, OstinatoError
from ostinato.program.analysis.output_times import result_times
from ostinato.rules.canonical_text import canonical_text

pytestmark = pytest.mark.filterwarnings("ignore")
NAMES = ("ts", "car", "speed", "wet")
CARS = pa.Table.from_pylist([dict(zip(NAMES, row, strict=True)) for row in (
    (0, 1, 60, False), (1, 1, 80, False), (2, 1, 90, True), (2, 2, 80, False), (3, 2, 70, True), (4, 1, 85, True), (5, 1, 60, True),
    (6, 2, 75, True), (7, 1, 50, False), (8, 2, 60, False), (9, 2, 50, None),
)])  # fmt: skip
PHASES = "SITUATIONS OF cars (PARTITION BY car ORDER BY ts DEFINE Fast AS speed > 70, Wet AS wet MEASURES max(speed) AS top)"
TEXT = "FROM cars PARTITION BY car DEFINE Fast AS speed > 70, Wet AS wet RETURN max(speed) AS top"


def rows(text: str, **options: object) -> list[tuple]:
    run = ost.sql if "SELECT" in text and "PUBLISH" not in text and "CREATE" not in text else ost.match
    return [tuple(row.values()) for row in run(text, cars=CARS, **options).to_arrow().to_pylist()]


def test_a_table_as_any_other() -> None:
    own = rows(f"SELECT * FROM {PHASES}")
    assert own == rows(TEXT) and len(own) == 5
    assert rows(f"SELECT situation, count(*) FROM {PHASES} p WHERE p.end_ts > 3 GROUP BY ALL ORDER BY ALL") == [("Fast", 2), ("Wet", 2)]
    assert rows(f"WITH p AS (SELECT * FROM {PHASES}) SELECT a.car FROM p a JOIN p b USING (car) WHERE ALLEN(a, 'overlaps', b)") == [(1,)]
    assert rows(f"SELECT top FROM {PHASES} ORDER BY ALL", sandbox=True) == [(75,), (75,), (80,), (90,), (90,)]


def test_input_and_output_of_match_recognize() -> None:
    pattern = "PATTERN (A B) DEFINE A AS situation = 'Fast', B AS situation = 'Wet'"
    behind = f"MATCH_RECOGNIZE (PARTITION BY car ORDER BY end_ts, start_ts DESC MEASURES A.top AS a, B.top AS b {pattern})"
    assert sorted(rows(f"SELECT * FROM {PHASES} {behind}")) == [(1, 90, 90), (2, 75, 75)]
    slow = "cars MATCH_RECOGNIZE (PARTITION BY car ORDER BY ts MEASURES A.ts AS ts PATTERN (A) DEFINE A AS speed < 75)"
    found = rows(
        f"SELECT * FROM SITUATIONS OF (SELECT * FROM {slow}) s (PARTITION BY s.car ORDER BY s.ts DEFINE Late AS ts > 1 AND ts < 9)"
    )
    assert found == [("Late", 2, 3, 9)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"{TEXT} PUBLISH p; SELECT car, top FROM FILTER {{DUR > 4 AND situation = 'Wet'}} p", [(1, 90, 2, 7), (2, 75, 3, 8)]),
        (
            f"{TEXT} PUBLISH p; PATTERN SEQ(p a, p b) WHERE [car] AND a.situation <> b.situation WITHIN 3"
            " RETURN a.car AS c, b.start_ts AS s",
            [(1, 2), (2, 3)],
        ),
        (
            f"{TEXT} PUBLISH p; SELECT * FROM p MATCH_RECOGNIZE (ORDER BY end_ts MEASURES A.car AS car PATTERN (A) DEFINE A AS top > 85)",
            [(1,), (1,)],
        ),
        (
            f"CREATE VIEW p AS SELECT * FROM {PHASES}; FROM p DEFINE F AS situation = 'Fast', W AS situation = 'Wet'"
            " PATTERN F before;overlaps[3, 3] W RETURN first(W.car) AS car",
            [(1, 1, 7, 7)],
        ),
        (
            "FROM cars PARTITION BY car DEFINE F AS speed > 70, W AS wet PATTERN F overlaps;finishes W"
            " RETURN first(F.car) AS car PUBLISH m;"
            " PATTERN SEQ(m a, cars b) WHERE a.car = b.car WITHIN 3 RETURN a.car AS car, a.detected_ts AS seen, b.ts AS ts",
            [(1, 5, 7), (2, 8, 9)],
        ),
    ],
    ids=["CEL", "SASE+", "SQL", "a view", "a pattern that is published"],
)
def test_other_queries_read_them(text: str, found: list[tuple]) -> None:
    assert sorted(rows(text)) == found
    query = ost.compile(text, {"cars": CARS.schema})
    again = ost.compile(canonical_text(query), {"cars": CARS.schema}, language=query.language)
    assert [part.algebra for part in again.parts] == [part.algebra for part in query.parts]


def test_sets() -> None:
    queries = ost.QuerySet({"cars": CARS.schema})
    queries.add("text", TEXT)
    queries.add("table", f"SELECT * FROM {PHASES}")
    queries.add("read", f"{TEXT} PUBLISH p; SELECT * FROM FILTER {{DUR > 4}} p")
    session = queries.open(lateness=0)
    outputs = [session.push("cars", CARS.slice(begin, 4)) for begin in range(0, CARS.num_rows, 4)] + [session.close()]
    found = {
        name: sorted(tuple(row.values()) for one in outputs if name in one for row in one[name].to_pylist()) for name in ("text", "table")
    }
    assert found["text"] == found["table"] == sorted(rows(TEXT))
    assert sum(one["read"].num_rows for one in outputs if "read" in one) == 2


def test_how_old_results_can_be() -> None:
    def times(text: str) -> dict[str, int]:
        return result_times(ost.compile(text, {"cars": CARS.schema}).program)

    assert times(TEXT) == {"end_ts": 0}
    assert times("FROM cars DEFINE A AS wet AT MOST 4, B AS wet BETWEEN 2 AND 9") == {"end_ts": 0, "start_ts": 9}


def test_budget() -> None:
    with pytest.raises(BudgetError) as caught:
        rows(TEXT, budget=ost.Budget(runs=1))
    assert "only situations that are open are kept" in (caught.value.hint or "")


def test_previous_events_among_some_of_several_streams() -> None:
    schemas = {"cars": CARS.schema, "rain": pa.schema([("ts", pa.int64()), ("car", pa.int64()), ("mm", pa.int64())])}
    query = ost.compile(
        "FROM cars PARTITION BY car DEFINE F AS speed > 70, R FROM rain AS mm > PREV(mm) PATTERN F overlaps R WITHIN 9", schemas
    )
    assert [part.composite for part in query.parts] == ["events for R", None]
    assert "-- the events of rain" in query.explain("syntax") and canonical_text(query).endswith("WITHIN 9")
    plain = ost.compile("FROM cars, rain DEFINE R AS PREV(car) = 1 PATTERN R", schemas)
    assert len(plain.parts) == 1  # it reads all events that there are
    with pytest.raises(OstinatoError, match="PREV in R would skip the events of other streams") as caught:
        ost.compile("FROM cars DEFINE F AS wet, R FROM rain AS PREV(mm = 1) BETWEEN 2 AND 3 PATTERN F overlaps R WITHIN 9", schemas)
    assert "IS TRUE" in (caught.value.hint or "")


def test_allen_holds_where_its_comparisons_do() -> None:
    """All pairs of short intervals; of every pair one relation holds."""
    intervals = [(start, end) for start in range(4) for end in range(start + 1, 5)]
    pairs = pa.table({
        name: [pair[i // 2][i % 2] for pair in product(intervals, intervals)] for i, name in enumerate(("s", "e", "begun", "ended"))
    })  # fmt: skip
    shown = ", ".join(f"ALLEN((s, e), '{relation.value}', (begun, ended))" for relation in Relation)
    for row, (a, b) in zip(
        ost.sql(f"SELECT {shown} FROM pairs", pairs=pairs).to_arrow().to_pylist(), product(intervals, intervals), strict=True
    ):
        at = dict(zip(Side, (*a, *b), strict=True))
        wanted = [all(at[x] < at[y] if c is Compare.LESS else at[x] == at[y] for x, c, y in relation.comparisons) for relation in Relation]
        assert list(row.values()) == wanted and sum(wanted) == 1
