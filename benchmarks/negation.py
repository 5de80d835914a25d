"""Any-match lists with a negation: counted and compressed with the negation and without it, and by a filter over candidates.

The strategy compact carries the negation along; `runs` finds candidates and filters them, as every strategy did before."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa

import ostinato as ost
from benchmarks import harness
from benchmarks.harness import Experiment
from benchmarks.one_thread import use_one_thread

EVENTS = 100_000
WINDOWS = (10, 20, 40, 80)
FILTERED = 20  # the largest window at which candidates can be listed
TEXT = "PATTERN SEQ(A a, B+ b[ ], %sC c) WHERE skip_till_any_match(a, b[ ], %sc) { a.v >= 0 } WITHIN %d OUTPUT %s"


def events(count: int) -> pa.Table:
    random = np.random.default_rng(1)
    return pa.table({"ts": np.arange(count), "kind": random.choice(list("AABBCX"), count), "v": random.integers(0, 100, count)})


def found(rows: pa.Table, window: int, output: str, negated: bool, strategy: str | None = None) -> pa.Table:
    text = TEXT % (("~(X x), ", "x, ", window, output) if negated else ("", "", window, output))
    with warnings.catch_warnings(action="ignore"):
        return ost.match(text, events=rows, type_by="kind", strategy=strategy).to_arrow()


def matches_of(result: pa.Table) -> int:
    return int(result.column("count")[0].as_py())


def main() -> None:
    options = harness.options(__doc__ or "")
    use_one_thread()
    experiment = Experiment(
        "negation", "Negation inside of any-match lists", "`SEQ(A a, B+ b[], ~(X x), C c)` under skip till any match, counted and as a "
        "compressed result. *carried* is what the planner picks, *without* the same query without the negation, *filtered* lists all "
        "candidates and asks each of them.", show=("window", "output", "matches"),
    )  # fmt: skip
    rows = events(options.rows(EVENTS, 4_000))
    for output in ("count", "compressed"):
        for window in WINDOWS:
            case = experiment.case(f"{output}, window {window}", rows=len(rows), window=window, output=output)
            case.compare({"without": lambda w=window, o=output: found(rows, w, o, False)}, options)
            runs = {"carried": lambda w=window, o=output: found(rows, w, o, True)}
            if output == "count" and window <= FILTERED:
                runs["filtered"] = lambda w=window: found(rows, w, "count", True, "runs")
            measured = case.compare(runs, options, same=matches_of if output == "count" else None)
            case.facts["matches"] = measured["carried"].result
            case.target("carried", "without", at_least=0.5)
    experiment.save(options)


if __name__ == "__main__":
    main()
