"""Conditions that compare a row with a value fixed before: row patterns with a threshold, a band or an equality, and event patterns whose
runs wait for a threshold; beside joins in DuckDB that give the same pairs."""

from __future__ import annotations

from collections.abc import Callable

import duckdb
import numpy as np
import pyarrow as pa

import ostinato as ost
from benchmarks import harness
from benchmarks.harness import Case, Experiment, Options
from benchmarks.one_thread import use_one_thread

WINDOW = 2_000  # in the unit of the time, a row of any key
CLAUSE = """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY key ORDER BY ts MEASURES A.ts AS a, C.ts AS c
    AFTER MATCH SKIP {skip} PATTERN ({pattern}) {within} DEFINE {define})"""
ABOVE_APART = CLAUSE.format(skip="PAST LAST ROW", pattern="A B+? C", within="", define="C AS C.v > 2 * A.v")
ABOVE = CLAUSE.format(skip="TO NEXT ROW", pattern="A B+? C", within="", define="C AS C.v > 2 * A.v")
EQUAL = CLAUSE.format(skip="TO NEXT ROW", pattern="A B*? C", within=f"WITHIN {WINDOW}", define="C AS C.n = A.n")
IN_VAIN = CLAUSE.format(skip="PAST LAST ROW", pattern="A B+ C", within="", define="C AS C.v > 20 * A.v")
BAND = CLAUSE.format(skip="PAST LAST ROW", pattern="A B+ C", within="", define="B AS B.v < 2 * A.v, C AS C.v BETWEEN 2 * A.v AND 2.1 * A.v")
NARROW = CLAUSE.format(skip="PAST LAST ROW", pattern="A B* C", within="", define="C AS C.w BETWEEN A.w + 1e-13 AND A.w + 1e-11")
# The next row above: whatever is twice the least value is above for every ordinary row, and nothing is twice a spike.
ABOVE_BY_ASOF = """SELECT a.key, a.ts AS a, c.ts AS c FROM t a ASOF JOIN (SELECT * FROM t WHERE v > 2 * (SELECT min(v) FROM t)) c
    ON a.key = c.key AND a.second < c.ts WHERE c.v > 2 * a.v"""
EQUAL_BY_ASOF = f"""SELECT a.key, a.ts AS a, c.ts AS c FROM t a ASOF JOIN t c
    ON a.key = c.key AND a.n = c.n AND a.ts < c.ts WHERE c.ts - a.ts <= {WINDOW}"""
PAIRS = "PATTERN SEQ(S a, S b) WHERE skip_till_any_match(a, b) {{ b.price > a.price + 8 }} WITHIN {window} RETURN a.ts AS a, b.ts AS b"
PAIRS_BY_JOIN = "SELECT a.ts AS a, b.ts AS b FROM s a JOIN s b ON b.ts > a.ts AND b.ts <= a.ts + {window} AND b.price > a.price + 8"
SPACING = 50  # rows of a key between two spikes


def rows(count: int, keys: int, seed: int = 7) -> pa.Table:
    """Values between 1 and 1.9, one in fifty is between 10 and 19. Column n has a value twice, on average; `second` is the time of the
    next row of the key, from which on a row may be the third of a match. Column w is noise between 0 and 1."""
    generator = np.random.default_rng(seed)
    ts = np.arange(count)
    key = ts % keys
    v = np.where(generator.random(count) * SPACING < 1, 10.0, 1.0) * (1 + 0.9 * generator.random(count))
    n = generator.integers(0, max(1, count // keys // 2), count)
    return pa.table({"key": key, "ts": ts, "v": v, "n": n, "second": ts + keys, "w": generator.random(count)})


def prices(count: int, seed: int = 7) -> pa.Table:
    generator = np.random.default_rng(seed)
    return pa.table({"ts": np.arange(count), "price": generator.normal(100, 1.5, count)})


def engine(text: str, table: pa.Table) -> Callable[[], pa.Table]:
    return lambda: ost.sql(text, t=table).to_arrow()


def visiting(text: str, table: pa.Table) -> Callable[[], pa.Table]:
    """Without the search."""

    def run() -> pa.Table:
        session = ost.compile(text, {"t": table.schema}, without=("search",)).open(ordered=True)
        return pa.concat_tables([session.push(table), session.close()])

    return run


def by_duckdb(text: str, **tables: pa.Table) -> Callable[[], pa.Table]:
    def run() -> pa.Table:
        with duckdb.connect(config={"threads": 1}) as connection:
            for name, table in tables.items():
                connection.register(name, table)
            return connection.sql(text).to_arrow_table()

    return run


def same(found: pa.Table) -> tuple[int, int]:
    """How many pairs, and a sum over them."""
    return found.num_rows, int(np.sum(found["a"].to_numpy() * 3 + found["c" if "c" in found.column_names else "b"].to_numpy()))


def row_patterns(options: Options) -> Experiment:
    experiment = Experiment(
        "threshold_rows",
        "Row patterns: conditions over the match are searched",
        "*above*: `A B+? C` with `C AS v > 2 * A.v`, to the next row, so that nearly every row begins a match of some fifty rows; "
        "*above, apart*: past the last row. DuckDB's ASOF join is helped by knowing that a spike is above every "
        "ordinary row. *equal*: `A B*? C` with `C AS n = A.n` within 2,000 rows. *in vain*: greedy, no row is ever above. "
        "*band*: `B AS v < 2 * A.v`, "
        "C in a band that no row is in; *narrow band*: one in which hardly a row is, among values that jump about. "
        "*visiting*: without the search.",
        show=("keys",),
    )
    for count in (10_000, 100_000, 1_000_000, 10_000_000) if not options.quick else (10_000,):
        for keys in (1, 1_000):
            _row_cases(experiment, rows(count, keys), count, keys, options)
    return experiment


def _row_cases(experiment: Experiment, table: pa.Table, count: int, keys: int, options: Options) -> None:
    given = {
        "above": (ABOVE, ABOVE_BY_ASOF),
        "above, apart": (ABOVE_APART, None),
        "equal": (EQUAL, EQUAL_BY_ASOF),
        "in vain": (IN_VAIN, None),
        "band": (BAND, None),
        "narrow band": (NARROW, None),
    }
    for name, (text, rewrite) in given.items():
        case = experiment.case(f"{name}, {count:,} rows, {keys:,} keys", rows=count, keys=keys)
        contenders = {"ostinato": engine(text, table)}
        if rewrite is not None:
            contenders["duckdb"] = by_duckdb(rewrite, t=table)
        if count <= 10_000 and name != "narrow band":
            contenders["visiting"] = visiting(text, table)
        case.compare(contenders, options, same=same)
        if count >= 1_000_000 and keys == 1 and name != "narrow band":
            case.target_rate("ostinato", at_least=3e6)


def event_patterns(options: Options) -> Experiment:
    experiment = Experiment(
        "threshold_events",
        "Event patterns: runs wait in the order of their thresholds",
        "Pairs `b.price > a.price + 8` under skip till any match, all of them listed; DuckDB joins by ranges (windows up to 1,000). "
        "*visiting*: without the search.",
        show=("window",),
    )
    count = options.rows(200_000, 5_000)
    table = prices(count)
    for window in (100, 1_000, 10_000):
        case: Case = experiment.case(f"window {window:,}", rows=count, window=window)
        text = PAIRS.format(window=window)
        contenders = {"ostinato": lambda text=text: ost.match(text, time="ts", s=table).to_arrow()}
        if window <= 1_000:  # the others look at every pair in the window
            contenders["duckdb"] = by_duckdb(PAIRS_BY_JOIN.format(window=window), s=table)
            contenders["visiting"] = lambda text=text: (
                ost.compile(text, {"s": table.schema}, time="ts", without=("search",)).open(ordered=True).push(table)
            )
        case.compare(contenders, options, same=same)
        case.target_seconds("ostinato", at_most=1.0)
    return experiment


def main() -> None:
    options = harness.options("Thresholds, bands and equalities over the match")
    use_one_thread()
    for experiment in (event_patterns, row_patterns):  # each is saved before the next, longer one begins
        experiment(options).save(options)


if __name__ == "__main__":
    main()
