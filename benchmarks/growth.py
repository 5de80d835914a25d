"""How cost grows with the window, the number of keys and the number of rows; and how much memory that takes."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

import ostinato as ost
from benchmarks import harness
from benchmarks.harness import Experiment, Options
from benchmarks.one_thread import use_one_thread
from benchmarks.peak_memory import peak_memory
from benchmarks.ticks import random_walk
from benchmarks.v_shape import engine as v_shape

SMALL_BATCH = 1_000
FALL = """PATTERN SEQ(Ticks a, Ticks b) WHERE skip_till_next_match(a, b) { [key] AND a.volume > 990 AND b.volume < 10 }
WITHIN 1 seconds RETURN a.key AS key, b.ts AS ts"""


def rising_run(window: int) -> str:
    """Many runs overlap and live as long as the window lets them."""
    return f"""PATTERN SEQ(Ticks+ a[], Ticks b) WHERE skip_till_next_match(a[], b) {{
        [key] and a[1].volume % 500 = 0 and a[i].price > a[i-1].price and b.volume < 150 }} WITHIN {window} events"""


def count_rising(table: pa.Table, window: int) -> pa.Table:
    return ost.match(rising_run(window), output="count", ticks=table).to_arrow()


def work(kind: str, rows: int, keys: int, window: int = 0) -> Iterator[None]:
    """For the memory measurement: load, then match."""
    use_one_thread()
    table = random_walk(rows, keys)
    yield
    _ = v_shape(table) if kind == "v_shape" else count_rising(table, window)


def grow(name: str, title: str, about: str, cases: list[dict[str, int]], kind: str, options: Options) -> None:
    experiment = Experiment(name, title, about, show=("keys", "window") if kind == "runs" else ("keys",))
    for given in cases:
        rows, keys, window = given["rows"], given["keys"], given.get("window", 0)
        table = random_walk(rows, keys)
        label = f"{rows:,} rows, {keys:,} keys" + (f", window {window:,}" if window else "")
        case = experiment.case(label, rows=rows, keys=keys, window=window)
        run = (
            (lambda table=table: v_shape(table)) if kind == "v_shape" else (lambda table=table, window=window: count_rising(table, window))
        )
        found = case.compare({"ostinato": run}, options)["ostinato"]
        if not options.quick:
            found.peak_mb = peak_memory("benchmarks.growth:work", kind=kind, rows=rows, keys=keys, window=window)[0]
    experiment.save(options)


def small_batches(table: pa.Table) -> None:
    session = ost.compile(FALL, {"ticks": table.schema}).open()
    for start in range(0, table.num_rows, SMALL_BATCH):
        session.push(table.slice(start, SMALL_BATCH))
    session.close()


def grow_text_keys(options: Options) -> None:
    """A session knows every text it has seen; a batch must not pay for them."""
    experiment = Experiment(
        "growth_text_keys",
        "Growth with text keys",
        f"`SEQ(Ticks a, Ticks b)` by key through `query.open()` and `push`, batches of {SMALL_BATCH:,} rows: keys that are texts, and the "
        "same keys as integers.",
        show=("keys",),
    )
    for keys in (100, 10_000, 100_000):
        rows = options.rows(400_000, 20_000)
        integers = random_walk(rows, keys)
        names = pa.array([f"schlüssel {key}" for key in integers.column("key").to_pylist()])
        texts = integers.set_column(0, "key", names)
        case = experiment.case(f"{keys:,} keys", rows=rows, keys=keys)
        case.compare(
            {"ostinato": lambda table=texts: small_batches(table), "integer keys": lambda table=integers: small_batches(table)}, options
        )
    experiment.save(options)


def main() -> None:
    options = harness.options(__doc__ or "")
    use_one_thread()
    scale = options.rows(10, 1)
    rows = [{"rows": n * 100_000 * scale // 10, "keys": 100} for n in (10, 25, 50, 100)]
    grow("growth_rows", "Growth with rows", "V shape through `ost.sql`.", rows, "v_shape", options)
    keys = [{"rows": 200_000 * scale, "keys": n} for n in (1, 100, 10_000, 1_000_000)]
    grow("growth_keys", "Growth with keys", "V shape through `ost.sql`.", keys, "v_shape", options)
    windows = [{"rows": 50_000 * scale, "keys": 2, "window": n} for n in (100, 500, 1_000, 2_000)]
    about = "Overlapping runs: `SEQ(Ticks+ a[], Ticks b)`, rising prices, skip till next match, all counted, window in events of the key."
    grow("growth_window", "Growth with the window", about, windows, "runs", options)
    grow_text_keys(options)


if __name__ == "__main__":
    main()
