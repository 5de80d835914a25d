"""The V shape without Ostinato: Python's re over symbols, gaps-and-islands rewrites in DuckDB and Polars, and NumPy by hand.

All give the same matches: `A B+ C+` with B falling and C rising, after a match go on behind its last row. A match that is
directly followed by another fall has used up the row that would be the next A; then the fall's own first row is A, which needs
a fall of two rows at least. Where it has only one, that V is no match, and the next may be: hence the alternation below."""

from __future__ import annotations

import re

import duckdb
import numpy as np
import polars as pl
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
         CASE WHEN lead(starts) OVER w THEN lead(ts_before) OVER w ELSE coalesce(lead(ts) OVER w, ts) END AS end_ts
  FROM borders WINDOW w AS (PARTITION BY key ORDER BY n)
), vees AS (
  SELECT key, price_before AS bottom, fall_ts, before_ts, end_ts, follows, NOT follows OR n - fall_n >= 2 AS certain,
         row_number() OVER (PARTITION BY key ORDER BY n) AS place
  FROM shapes WHERE starts AND d = 1 AND d_before = -1
), decided AS (
  SELECT *, (place - max(CASE WHEN certain THEN place END) OVER w) % 2 = 0 AS is_match
  FROM vees WINDOW w AS (PARTITION BY key ORDER BY place ROWS UNBOUNDED PRECEDING)
), joined AS (
  SELECT *, follows AND coalesce(lag(is_match) OVER (PARTITION BY key ORDER BY place), false) AS used_up FROM decided
)
SELECT key, CASE WHEN used_up THEN fall_ts ELSE before_ts END AS start_ts, bottom, end_ts FROM joined WHERE is_match
"""


def by_duckdb(table: pa.Table) -> pa.Table:
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.register("ticks", table)
        return connection.sql(GAPS_AND_ISLANDS).to_arrow_table()


def by_polars(table: pa.Table) -> pa.Table:
    """The rewrite of DuckDB with Polars' window functions."""

    def by_key(expression: pl.Expr) -> pl.Expr:
        return expression.over("key")

    def before(column: str, rows: int = 1) -> pl.Expr:
        return by_key(pl.col(column).shift(rows))

    change = pl.col("price") - before("price")
    moves = (
        pl.from_arrow(table.select(["key", "ts", "price"]))
        .lazy()
        .with_columns(
            n=by_key(pl.int_range(pl.len())),
            d=change.sign().fill_null(0.0).cast(pl.Int8),
            ts_before=before("ts"),
            price_before=before("price"),
        )
    )
    borders = (
        moves.with_columns(d_before=before("d"), d_after=before("d", -1))
        .with_columns(starts=pl.col("d").ne_missing(pl.col("d_before")))
        .filter(pl.col("starts") | pl.col("d_after").is_null())
    )
    shapes = borders.with_columns(
        fall_n=before("n"),
        fall_ts=before("ts"),
        before_ts=before("ts_before"),
        follows=((before("d_before") == 1) & (before("d_before", 2) == -1)).fill_null(False),
        end_ts=pl.when(before("starts", -1)).then(before("ts_before", -1)).otherwise(pl.coalesce(before("ts", -1), "ts")),
    )
    vees = (
        shapes.filter(pl.col("starts") & (pl.col("d") == 1) & (pl.col("d_before") == -1))
        .with_columns(certain=~pl.col("follows") | (pl.col("n") - pl.col("fall_n") >= 2), place=by_key(pl.int_range(pl.len())))
        .with_columns(is_match=(pl.col("place") - by_key(pl.when("certain").then("place").forward_fill())) % 2 == 0)
        .with_columns(used_up=pl.col("follows") & before("is_match").fill_null(False))
        .filter("is_match")
    )
    return vees.select("key", *_shown_by_polars()).collect(engine="in-memory").to_arrow()


def by_sorted_polars(table: pa.Table) -> pa.Table:
    """As `by_numpy`: rows are sorted by key once, and no window is asked for."""
    change = pl.col("price") - pl.col("price").shift(1)
    ticks = pl.from_arrow(table.select(["key", "ts", "price"])).lazy().sort("key", maintain_order=True)
    islands = (
        ticks.with_columns(
            d=pl.when(pl.col("key") == pl.col("key").shift(1)).then(change.sign()).otherwise(0.0).cast(pl.Int8),
            ts_before=pl.col("ts").shift(1),
            price_before=pl.col("price").shift(1),
            last_ts=pl.col("ts").last(),
        )
        .with_row_index("n")
        .filter(pl.col("d").ne_missing(pl.col("d").shift(1)))
        .with_columns(length=pl.col("n").shift(-1) - pl.col("n"))
        .with_row_index("island")
        .with_columns(
            fall_island=pl.col("island").shift(1),
            fall_length=pl.col("length").shift(1),
            fall_ts=pl.col("ts").shift(1),
            before_ts=pl.col("ts_before").shift(1),
            end_ts=pl.coalesce(pl.col("ts_before").shift(-1), "last_ts"),
            d_before=pl.col("d").shift(1),
        )
    )
    vees = (
        islands.filter((pl.col("d") == 1) & (pl.col("d_before") == -1))
        .with_columns(follows=(pl.col("fall_island") == pl.col("fall_island").shift(1) + 2).fill_null(False))
        .with_row_index("place")
        .with_columns(certain=~pl.col("follows") | (pl.col("fall_length") >= 2))
        .with_columns(is_match=(pl.col("place") - pl.when("certain").then("place").otherwise(0).cum_max()) % 2 == 0)
        .with_columns(used_up=pl.col("follows") & pl.col("is_match").shift(1).fill_null(False))
        .filter("is_match")
    )
    return vees.select("key", *_shown_by_polars()).collect(engine="in-memory").to_arrow()


def _shown_by_polars() -> tuple[pl.Expr, ...]:
    return (
        pl.when("used_up").then("fall_ts").otherwise("before_ts").cast(pl.Int64).alias("start_ts"),
        pl.col("price_before").alias("bottom"),
        pl.col("end_ts").cast(pl.Int64),
    )
