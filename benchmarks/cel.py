"""CEL beside its twins in SASE+, and how its cost grows with the instances that wait.

NEXT is skip till next match, FOLD a Kleene closure with a running aggregate. Times differ, so that simultaneous events, which the languages
treat differently, do not matter."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

import ostinato as ost
from benchmarks import harness
from benchmarks.harness import Experiment, Options
from benchmarks.one_thread import use_one_thread

ROWS = 2_000_000
KEYS = 1_000
CHAIN = """SELECT key, a, b, c FROM (SELECT key AS k0, price AS a FROM FILTER {volume > 900} (ticks))
    NEXT {$2.k1 = $1.k0 AND $2.b > $1.a} (SELECT key AS k1, price AS b FROM ticks)
    NEXT {$2.key = $1.k1 AND $2.c < $1.b} (SELECT key, price AS c FROM ticks)"""
CHAIN_TWIN = """PATTERN SEQ(ticks a, ticks b, ticks c) WHERE skip_till_next_match(a, b, c) {
    [key] and a.volume > 900 and b.price > a.price and c.price < b.price }
    RETURN a.key AS key, a.price AS a, b.price AS b, c.price AS c"""
FALL = """SELECT key, price_1 AS a, price AS b, total FROM FILTER {price < 0.9 * price_1} (
    (SELECT key, price, volume, 0 AS total FROM FILTER {volume > 990} (ticks))
    FOLD {$2.key = $.key AND $2.price < $.price, $.total < 4000, $.total + $2.volume AS total} (SELECT key, price, volume FROM ticks))"""
FALL_TWIN = """PATTERN SEQ(ticks a, ticks+ b[]) WHERE skip_till_next_match(a, b[]) {
    [key] and a.volume > 990 and b[1].price < a.price and b[i].price < b[i-1].price and sum(b[..i-1].volume) < 4000
    and b[b.LEN].price < 0.9 * a.price }
    RETURN a.key AS key, a.price AS a, b[b.LEN].price AS b, sum(b[].volume) AS total"""
WAITING = """SELECT id, v, w FROM FILTER {DUR < %d} ((SELECT id AS owner, v FROM FILTER {kind = 0} (events))
    NEXT {$2.id = $1.owner} (SELECT id, v AS w FROM FILTER {kind = 1} (events)))"""
LINK = "SELECT name, price FROM {reads} NEXT {{$2.name = $1.name AND $2.price > $1.price + {number}}} stock PUBLISH R{number}"
LINK_TWIN = """PATTERN SEQ({reads} a, stock b) WHERE a.name = b.name AND b.price > a.price + {number} WITHIN 100
    RETURN R{number}(a.name AS name, b.price AS price)"""


def ticks(rows: int, keys: int) -> pa.Table:
    random = np.random.default_rng(3)
    price = 100 + np.cumsum(random.normal(0, 0.05, rows)) + random.normal(0, 5, rows)
    return pa.table(
        {"ts": np.arange(rows), "key": random.integers(0, keys, rows), "price": price, "volume": random.integers(0, 1000, rows)}
    )


def matched(text: str, **streams: Any) -> pa.Table:
    with warnings.catch_warnings(action="ignore"):
        return ost.match(text, **streams).to_arrow()


def sums(found: pa.Table) -> dict[str, float]:
    """What both must agree on: how many there are, and the sum of every column."""
    columns = [name for name in found.column_names if name not in ("start_ts", "end_ts")]
    return {"rows": found.num_rows} | {name: round(float(np.sum(found.column(name).to_numpy())), 3) for name in columns}


def compare_twins(options: Options) -> None:
    experiment = Experiment(
        "cel_twins",
        "CEL and its twins",
        "The same matches by CEL and by SASE+, in one run: a chain of two NEXT with skip till next match, a FOLD with a Kleene closure and "
        "a running sum; and the chain where no event is relevant to another key.",
        show=("keys", "matches"),
    )
    rows = ticks(options.rows(ROWS, 20_000), KEYS)
    for name, cel, twin in (("two NEXT", CHAIN, CHAIN_TWIN), ("FOLD", FALL, FALL_TWIN)):
        case = experiment.case(name, rows=len(rows), keys=KEYS)
        found = case.compare(
            {"CEL": lambda text=cel: matched(text, language="cel", ticks=rows), "SASE+": lambda text=twin: matched(text, ticks=rows)},
            options,
            same=sums,
        )
        case.facts["matches"] = found["CEL"].result["rows"]
        case.target("CEL", "SASE+", at_least=1.0)
    experiment.save(options)


def waiting_events(rows: int, window: int) -> pa.Table:
    """Those that begin something wait half a window for the one that has their number."""
    numbers = np.arange(rows) // 2
    kind = np.arange(rows) % 2
    late = np.where(kind == 1, np.maximum(numbers - window // 4, 0), numbers)
    return pa.table({"ts": np.arange(rows), "kind": kind, "id": late, "v": np.arange(rows) % 7})


def grow(options: Options) -> None:
    experiment = Experiment(
        "cel_growth",
        "Growth with the instances that wait",
        "`NEXT {$2.id = $1.owner}` where every other event begins an instance, and the event it waits for comes a while later. With the "
        "index instances are found by their value; `by key` divides the stream by it; without both all that wait are looked at.",
        show=("instances",),
    )
    for window in (100, 1_000, 10_000, 100_000):
        rows = waiting_events(options.rows(400_000, 4_000), window)
        case = experiment.case(f"{window // 4:,} waiting", rows=len(rows), instances=window // 4)
        contenders = {"by key": (), "index": ("equality_key",)}
        if window <= 1_000 or options.quick:
            contenders["all"] = ("equality_key", "search")
        case.compare({name: partial(_grown, rows, window, out) for name, out in contenders.items()}, options, same=len)
    experiment.save(options)


def _grown(rows: pa.Table, window: int, without: tuple[str, ...]) -> pa.Table:
    query = ost.compile(WAITING % window, {"events": rows.schema}, language="cel", without=without)
    session = query.open(lateness=0)
    return pa.concat_tables([session.push("events", rows), session.close()])


def compile_texts(options: Options) -> None:
    """Queries per second, as if they were rows."""
    experiment = Experiment(
        "cel_texts",
        "Compiling long texts",
        "A text in which every query reads what the one before it publishes, compiled to one graph: queries take the place of rows.",
        show=("queries",),
    )
    schema = {"stock": pa.schema([("ts", pa.int64()), ("name", pa.string()), ("price", pa.int64())])}
    for count in (25, 100, 400) if options.quick else (25, 100, 400, 1600):
        case = experiment.case(f"{count:,} queries", rows=count, queries=count)
        texts = {"CEL": chained_text(LINK, count), "SASE+": chained_text(LINK_TWIN, count)}
        case.compare({name: lambda text=text: len(ost.compile(text, schema).program.operators) for name, text in texts.items()}, options)
    experiment.save(options)


def chained_text(link: str, count: int) -> str:
    return "; ".join(link.format(reads=f"R{number - 1}" if number else "stock", number=number) for number in range(count))


def main() -> None:
    options = harness.options(__doc__ or "")
    use_one_thread()
    compare_twins(options)
    grow(options)
    compile_texts(options)


if __name__ == "__main__":
    main()
