"""The V shape without Ostinato: Python's re over symbols, a gaps-and-islands rewrite in DuckDB, and NumPy by hand.

All give the same matches: `A B+ C+` with B falling and C rising, after a match go on behind its last row. A match that is
directly followed by another fall has used up the row that would be the next A; then the fall's own first row is A, which needs
a fall of two rows at least. Where it has only one, that V is no match, and the next may be: hence the alternation below."""

from __future__ import annotations

import re

import duckdb
import numpy as np
import pyarrow as pa

V = re.compile(rb"[dus](d+)u+")


def grouped(table: pa.Table) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows in key order, stable in time: their numbers, prices, and where a key begins."""
    key = table["key"].to_numpy()
    smallest = np.min_scalar_type(int(key.max()))  # up to 65,536 keys NumPy then sorts by radix
    order = np.argsort(key.astype(smallest), kind="stable")
    ordered = key[order]
    first = np.empty(len(key), bool)
    first[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return order, table["price"].to_numpy()[order], first


def directions(price: np.ndarray, first: np.ndarray) -> np.ndarray:
    """-1 falling, 1 rising, 0 unchanged or the first of its key."""
    direction = np.zeros(len(price), np.int8)
    direction[1:] = (price[1:] > price[:-1]).astype(np.int8) - (price[1:] < price[:-1]).astype(np.int8)
    direction[first] = 0
    return direction


def measured(table: pa.Table, order: np.ndarray, price: np.ndarray, start: np.ndarray, bottom: np.ndarray, end: np.ndarray) -> pa.Table:
    ts = table["ts"].cast(pa.int64()).to_numpy()
    return pa.table(
        {
            "key": table["key"].to_numpy()[order[start]],
            "start_ts": ts[order[start]],
            "bottom": price[bottom],
            "end_ts": ts[order[end]],
            "ticks": end - start + 1,
        }
    )


def by_re(table: pa.Table) -> pa.Table:
    order, price, first = grouped(table)
    symbols = np.array([ord("s"), ord("u"), ord("d")], np.uint8)[directions(price, first)]
    spans = np.array([(match.start(), match.end(1), match.end()) for match in V.finditer(symbols.tobytes())], np.int64).reshape(-1, 3)
    return measured(table, order, price, spans[:, 0], spans[:, 1] - 1, spans[:, 2] - 1)


def by_numpy(table: pa.Table) -> pa.Table:
    order, price, first = grouped(table)
    direction = directions(price, first)
    change = np.flatnonzero(direction[1:] != direction[:-1]) + 1
    island = np.concatenate(([0], change))
    length = np.diff(island, append=len(direction))
    kind = direction[island]
    fall = np.flatnonzero((kind[:-1] == -1) & (kind[1:] == 1))
    follows = np.zeros(len(fall), bool)
    follows[1:] = fall[1:] == fall[:-1] + 2
    certain = ~follows | (length[fall] >= 2)
    last_certain = np.maximum.accumulate(np.where(certain, np.arange(len(fall)), 0))
    is_match = (np.arange(len(fall)) - last_certain) % 2 == 0
    used_up = follows.copy()
    used_up[1:] &= is_match[:-1]
    found = fall[is_match]
    start = island[found] - 1 + used_up[is_match]
    return measured(table, order, price, start, island[found + 1] - 1, island[found + 1] + length[found + 1] - 1)


GAPS_AND_ISLANDS = """
WITH moves AS (
  SELECT key, ts, price, lag(ts) OVER w AS ts_before, lag(price) OVER w AS price_before, row_number() OVER w AS n,
         CASE WHEN price < lag(price) OVER w THEN -1 WHEN price > lag(price) OVER w THEN 1 ELSE 0 END AS d
  FROM ticks WINDOW w AS (PARTITION BY key ORDER BY ts)
), neighbours AS (
  SELECT *, lag(d) OVER w AS d_before, lead(d) OVER w AS d_after FROM moves WINDOW w AS (PARTITION BY key ORDER BY n)
), borders AS (  -- the first row of every island, and the last row of the key
  SELECT *, d IS DISTINCT FROM d_before AS starts FROM neighbours WHERE d IS DISTINCT FROM d_before OR d_after IS NULL
), shapes AS (
  SELECT *, lag(n) OVER w AS fall_n, lag(ts) OVER w AS fall_ts, lag(ts_before) OVER w AS before_ts,
         coalesce(lag(d_before) OVER w = 1 AND lag(d_before, 2) OVER w = -1, false) AS follows,
         CASE WHEN lead(starts) OVER w THEN lead(n) OVER w - 1 ELSE coalesce(lead(n) OVER w, n) END AS end_n,
         CASE WHEN lead(starts) OVER w THEN lead(ts_before) OVER w ELSE coalesce(lead(ts) OVER w, ts) END AS end_ts
  FROM borders WINDOW w AS (PARTITION BY key ORDER BY n)
), vees AS (
  SELECT key, price_before AS bottom, fall_n, fall_ts, before_ts, end_n, end_ts, follows, NOT follows OR n - fall_n >= 2 AS certain,
         row_number() OVER (PARTITION BY key ORDER BY n) AS place
  FROM shapes WHERE starts AND d = 1 AND d_before = -1
), decided AS (
  SELECT *, (place - max(CASE WHEN certain THEN place END) OVER w) % 2 = 0 AS is_match
  FROM vees WINDOW w AS (PARTITION BY key ORDER BY place ROWS UNBOUNDED PRECEDING)
), joined AS (
  SELECT *, follows AND coalesce(lag(is_match) OVER (PARTITION BY key ORDER BY place), false) AS used_up FROM decided
)
SELECT key, CASE WHEN used_up THEN fall_ts ELSE before_ts END AS start_ts, bottom, end_ts,
       end_n - CASE WHEN used_up THEN fall_n ELSE fall_n - 1 END + 1 AS ticks
FROM joined WHERE is_match
"""


def by_duckdb(table: pa.Table) -> pa.Table:
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.register("ticks", table)
        return connection.sql(GAPS_AND_ISLANDS).to_arrow_table()
