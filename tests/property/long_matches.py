"""Queries whose matches, threads and runs are long or many, for every evaluation, over a few dozen rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pyarrow as pa

import ostinato as ost

SCHEMA = pa.schema([("ts", pa.int64()), ("kind", pa.string()), ("k", pa.string()), ("v", pa.int64())])
CLAUSE = """SELECT * FROM t MATCH_RECOGNIZE ({keys}ORDER BY ts
  MEASURES FIRST(ts) AS a, LAST(ts) AS b, COUNT(*) AS n PATTERN ({pattern}) DEFINE {define})"""
STATIC, DYNAMIC = "A AS v > 2, B AS v < 9, C AS v > 8", "B AS B.v >= 0, C AS C.v > 2 * A.v"
BANDS = "B AS B.v < A.v + 9, C AS C.v > A.v + 7"
SEQUENCE = "PATTERN SEQ(A a, B+ b[ ], C c) WHERE {selection}(a, b[ ], c) {{ {condition} }} WITHIN {window}"
ROW_PATTERNS = ("A B+ C+", "(A B){2,} C*", "A B*? C")

SQL = [
    CLAUSE.format(keys=keys, pattern=pattern, define=define)
    for keys in ("", "PARTITION BY k ")
    for pattern in ROW_PATTERNS
    for define in (STATIC, DYNAMIC, BANDS)
]
SASE = [
    (SEQUENCE.format(selection=selection, condition=condition, window=window), strategy, output)
    for selection, window in (("skip_till_any_match", 9), ("skip_till_next_match", 40), ("partition_contiguity", 40))
    for condition in ("a.v > 1", "[k] AND b[i].v >= a.v - 5")
    for strategy in (None, "runs", "compact", "backtrack")
    for output in ("all", "nonoverlapping")
]


def events(rows: int = 50) -> pa.Table:
    rng = np.random.default_rng(5)
    kinds = rng.choice(["A", "B", "C"], rows, p=[0.2, 0.65, 0.15])
    columns = [range(rows), kinds, rng.choice(["x", "y", "a longer one"], rows), rng.integers(0, 12, rows)]
    return pa.table([pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)


def all_matches() -> dict[str, list[dict[str, Any]]]:
    found = {text: matches(text, 13) for text in SQL}
    for text, strategy, output in SASE:
        options = {"type_by": "kind", "strategy": strategy, "output": output}
        try:
            found[f"{text} {strategy} {output}"] = matches(text, 13, **options)
        except ost.UnsupportedError:
            continue  # not every evaluation has every condition
    return found


def matches(text: str, at_once: int, **options: Any) -> list[dict[str, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        query = ost.compile(text, {"t": SCHEMA}, **options)
    session, table, found = query.open(lateness=0), events(), []
    for first in range(0, table.num_rows, at_once):
        found += session.push(table.slice(first, at_once)).to_pylist()
        session = query.open(lateness=0, snapshot=session.snapshot())  # what is read back has to find its room, too
    return found + session.close().to_pylist()
