"""Damaged files give a result or a clear error; nothing else happens."""

import json
import random

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

import ostinato as ost

QUERY = """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY s ORDER BY ts MEASURES COUNT(*) AS n, LAST(v) AS v, LAST(ts) AS ts
    PATTERN (A+) DEFINE A AS v > 1 OR s LIKE 'ü%')"""
TABLE = pa.table({"s": ["ü", "b", None] * 40, "ts": list(range(120)), "v": [0.5, 2.0, None] * 40})


def write_json(table, path):
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in table.to_pylist()), encoding="utf-8")


def damaged(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(changed))
        action = chance.choice(["flip", "cut", "insert", "zero"])
        if action == "flip":
            changed[at] ^= 1 << chance.randrange(8)
        elif action == "cut":
            del changed[at : at + chance.randint(1, 20)]
        elif action == "insert":
            changed[at:at] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 8)))
        else:
            changed[at : at + 8] = bytes(8)
    return bytes(changed) or b"x"


@pytest.mark.parametrize(("write", "suffix"), [(pq.write_table, "parquet"), (pc.write_csv, "csv"), (write_json, "jsonl")])
def test_damaged_files(tmp_path, write, suffix):
    path = tmp_path / f"rows.{suffix}"
    write(TABLE, path)
    assert len(ost.sql(QUERY, t=path)) > 0
    whole = path.read_bytes()
    outcomes = set()
    for seed in range(40):
        path.write_bytes(damaged(whole, random.Random(seed)))
        try:
            outcomes.add(len(ost.sql(QUERY, t=path)) >= 0)
        except ost.OstinatoError as error:
            assert error.message
            outcomes.add("refused")
    assert "refused" in outcomes
