"""Memory of a query over files in order of time: that of its window, whatever the number of rows.

The same queries over 2, 8 and 15 million rows of Parquet, as one file and as many, and of CSV: the peak of the process must not follow the
input. Rows are read in batches of two million, so that the first size is one batch and the others show what stays of a batch. With a
million keys that come and go the peak follows the keys of a batch, not those of the input."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

import ostinato as ost
from benchmarks import harness
from benchmarks.harness import Experiment, Options
from benchmarks.one_thread import use_one_thread
from benchmarks.peak_memory import peak_memory

MILLION = 1_000_000
SIZES = (2, 8, 15)
GROWTH = 1.25  # of the peak from the second size to the last
ROWS_PER_KEY = {"thousand keys": 0, "a key per two rows": 2}
QUERIES = {
    "row pattern": """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.ts AS a, LAST(C.ts) AS c PATTERN (A B+ C+)
        WITHIN INTERVAL '60' SECOND DEFINE B AS p < PREV(p) - 30, C AS p > PREV(p) + 98)""",
    "SASE+": """PATTERN SEQ(A a, B b, C c) WHERE skip_till_next_match(a, b, c) { [k] and b.p > a.p + 80 and c.p > b.p + 10 }
        WITHIN 5 seconds RETURN a.ts AS first, c.ts AS last""",
}


def events_of(first: int, count: int, rows_per_key: int) -> pa.Table:
    generator = np.random.default_rng(first)
    numbers = np.arange(first, first + count)
    kinds = pa.DictionaryArray.from_arrays(pa.array(generator.integers(0, 3, count).astype(np.int8)), ["A", "B", "C"])
    return pa.table(
        {
            "ts": pa.array(1000 * numbers, pa.timestamp("us")),
            "k": numbers // rows_per_key if rows_per_key else generator.integers(0, 1000, count),
            "p": 100 * generator.random(count),
            "type": kinds.cast(pa.string()),
        }
    )


def write(directory: Path, form: str, rows: int, rows_per_key: int) -> str:
    """The path, or the pattern of paths, to read."""
    pieces = (events_of(first, min(MILLION, rows - first), rows_per_key) for first in range(0, rows, MILLION))
    schema = events_of(0, 1, 0).schema
    if form == "files":
        for number, piece in enumerate(pieces):
            pq.write_table(piece, directory / f"part{number:03}.parquet")
        return str(directory / "*.parquet")
    path = directory / f"rows.{form}"
    with pq.ParquetWriter(path, schema) if form == "parquet" else pc.CSVWriter(path, schema) as writer:
        for piece in pieces:
            writer.write_table(piece)
    return str(path)


def work(query: str, path: str) -> Iterator[None]:
    """For the memory measurement: nothing is loaded before."""
    use_one_thread()
    yield
    matched(query, path)


def matched(query: str, path: str) -> int:
    text = QUERIES[query]
    return len(ost.sql(text, t=path) if text.startswith("SELECT") else ost.match(text, t=path, type_by="type", time="ts"))


def measure(experiment: Experiment, query: str, form: str, keys: str, options: Options) -> None:
    peaks: list[float] = []
    for size in SIZES[:1] if options.quick else SIZES:
        rows = options.rows(size * MILLION, 20_000)
        with tempfile.TemporaryDirectory() as directory:
            path = write(Path(directory), form, rows, ROWS_PER_KEY[keys])
            case = experiment.case(f"{query}, {form}, {keys}, {rows:,} rows", rows=rows)
            found = case.compare({"ostinato": partial(matched, query, path)}, options)["ostinato"]
            if options.quick:
                continue
            found.peak_mb, _ = peak_memory("benchmarks.input_memory:work", query=query, path=path)
            peaks.append(found.peak_mb)
    if peaks:
        case.target_megabytes("ostinato", at_most=round(GROWTH * peaks[1]))


def main() -> None:
    options = harness.options(__doc__ or "")
    use_one_thread()
    experiment = Experiment(
        "input_memory",
        "Memory of a query over files",
        "Files in order of time, of growing size. The peak is that of the whole process, with Python, Arrow and the kernels.",
    )
    for query in QUERIES:
        measure(experiment, query, "parquet", "thousand keys", options)
        measure(experiment, query, "parquet", "a key per two rows", options)
    measure(experiment, "row pattern", "files", "thousand keys", options)
    measure(experiment, "row pattern", "csv", "thousand keys", options)
    experiment.save(options)


if __name__ == "__main__":
    main()
