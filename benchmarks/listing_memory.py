"""Memory of listing: millions of matches of three events, shown as three numbers or as whole events, beside the size of the result."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

import ostinato as ost
from benchmarks import harness
from benchmarks.harness import Experiment, Options
from benchmarks.one_thread import use_one_thread
from benchmarks.peak_memory import peak_memory

WINDOW = 60  # events
QUERY = """PATTERN SEQ(A a, B b, C c) WHERE skip_till_any_match(a, b, c) {{ {key} b.v > a.v and c.v > b.v }} WITHIN {window}{returned}"""
SHOWN = {"three numbers": " RETURN a.v AS a, b.v AS b, c.v AS c", "whole events": ""}
KEYED = {"one key": "", "100 keys": "[k] and"}


def events_of(count: int, seed: int = 3) -> pa.Table:
    generator = np.random.default_rng(seed)
    kinds = pa.DictionaryArray.from_arrays(pa.array(generator.integers(0, 3, count).astype(np.int32)), ["A", "B", "C"])
    keys, values = generator.integers(0, 100, count), generator.integers(0, 1000, count)
    return pa.table({"ts": np.arange(count), "kind": kinds, "k": keys, "v": values})


def found(keyed: str, shown: str, events: int) -> pa.Table:
    window = WINDOW if keyed == "one key" else 100 * WINDOW
    text = QUERY.format(key=KEYED[keyed], window=window, returned=SHOWN[shown])
    return ost.match(text, events=events_of(events), type_by="kind").to_arrow()


def work(keyed: str, shown: str, events: int) -> Iterator[None]:
    """For the memory measurement: load kernels and events, then match."""
    use_one_thread()
    found(keyed, shown, 1_000)
    events_of(events)
    yield
    found(keyed, shown, events)


def measure(experiment: Experiment, keyed: str, shown: str, events: int, options: Options) -> None:
    case = experiment.case(f"{shown}, {keyed}", rows=events)
    matches = case.compare({"ostinato": lambda: found(keyed, shown, events)}, options)["ostinato"]
    table = found(keyed, shown, events)
    size = table.nbytes / 2**20
    case.facts |= {"matches": table.num_rows, "MB of the result": round(size)}
    if not options.quick:
        matches.peak_mb, loaded = peak_memory("benchmarks.listing_memory:work", keyed=keyed, shown=shown, events=events)
        case.facts["times the result"] = round((matches.peak_mb - loaded) / size, 2)


def main() -> None:
    options = harness.options(__doc__ or "")
    use_one_thread()
    about = "The peak is that of the whole process; beside the result's size stands how much of it came on top of kernels and events."
    experiment = Experiment("listing_memory", "Memory of listing", about, show=("matches", "MB of the result", "times the result"))
    for keyed in KEYED:
        for shown in SHOWN:
            measure(experiment, keyed, shown, options.rows(100_000, 2_000), options)
    experiment.save(options)


if __name__ == "__main__":
    main()
