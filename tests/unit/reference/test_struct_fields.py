"""The definition knows fields of structs, and values that nothing computes with; the engine agrees."""

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.reference import output
from ostinato.reference.stream import value_at

DEVICE = pa.struct([("id", pa.int64()), ("at", pa.struct([("x", pa.float64())]))])
ROWS = [
    {"ts": i, "v": i % 3, "dev": None if i == 4 else {"id": i % 2, "at": None if i == 7 else {"x": float(i)}}, "tags": [i] * (i % 2)}
    for i in range(10)
]
TABLE = pa.Table.from_pylist(ROWS, pa.schema([("ts", pa.int64()), ("v", pa.int64()), ("dev", DEVICE), ("tags", pa.list_(pa.int64()))]))


def test_paths():
    values = {"dev": {"id": 1, "a.b": 2}, "dev.x": 3, "gone": None}
    assert [value_at(values, name) for name in ("dev.id", "dev.a.b", "dev.x", "gone.y")] == [1, 2, 3, None]
    with pytest.raises(KeyError):
        value_at(values, "v.x")


@pytest.mark.parametrize(
    "text",
    [
        """PATTERN SEQ(t a, t b) WHERE skip_till_any_match(a, b) { [dev.id] and b.dev.at.x > a.dev.at.x + 1 } WITHIN 5
            RETURN a.ts AS a, b.dev, b.tags""",
        """PATTERN SEQ(t a, t+ b[]) WHERE skip_till_next_match(a, b[]) { a.v = 0 and b[i].dev.at.x > 2 } WITHIN 4
            RETURN a.dev.id, max(b[].dev.at.x) AS m""",
        """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY dev.id ORDER BY dev.at.x
            MEASURES LAST(dev) AS d, PREV(A.tags) AS p, COUNT(dev.at.x) AS n
            PATTERN (A B*) DEFINE B AS dev.at.x > PREV(dev.at.x) AND v > PREV(v))""",
    ],
)
def test_the_engine_agrees(text):
    query = ost.compile(text, {"t": TABLE.schema})
    found = (ost.sql if "SELECT" in text else ost.match)(text, t=TABLE).to_arrow().to_pylist()
    assert len(found) > 3
    assert sorted(map(str, output(query.algebra, ROWS))) == sorted(map(str, found))
