"""Patterns of four to ten situations: Fig. 5.10 of Körber's thesis."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Any

import pyarrow as pa

import ostinato as ost
from benchmarks import harness, tpstream_plots
from benchmarks.harness import Experiment, Options
from benchmarks.iseq import Iseq
from benchmarks.one_thread import use_one_thread
from benchmarks.random_situations import Kind, defined, events
from benchmarks.sase_plots import IMAGES
from ostinato.program.intervals import RELATIONS

KINDS = ("equals", "meets", "chain", "star", "combined")
NAMES = "ABCDEFGHIJ"
COUNTS = (4, 6, 8, 10)
WITHIN = 2_000
MOST_WORK = 20_000_000  # of ISEQ: what takes longer is left out
Constraints = list[tuple[str, str, str]]


def drawn(kind: str, count: int, random: Random) -> Constraints:
    chain = [(NAMES[i], NAMES[i + 1]) for i in range(count - 1)]
    star = [(NAMES[0], NAMES[i + 1]) for i in range(count - 1)]
    pairs = {"star": star, "combined": [*chain[: count // 2], *star[count // 2 :]]}.get(kind, chain)
    return [(a, kind if kind in RELATIONS else random.choice(RELATIONS[:-1]), b) for a, b in pairs]


def matched(table: pa.Table, text: str) -> int:
    with warnings.catch_warnings(action="ignore"):
        return ost.match(text, language="tpstream", latency="final", s=table).to_arrow().num_rows


def patterns(kind: str, options: Options) -> Iterator[tuple[int, Constraints]]:
    random = Random(kind)
    for count in COUNTS[:1] if options.quick else COUNTS:
        for _ in range(1 if kind in RELATIONS or options.quick else 3):
            yield count, drawn(kind, count, random)


def main() -> None:
    options: Options = harness.options("Patterns of four to ten situations")
    use_one_thread()
    experiment = Experiment(
        "tpstream_patterns",
        "Patterns of four to ten situations",
        f"Fig. 5.10: random situations, an event per second, within {WITHIN:,} s. In chains and stars relations are drawn; ISEQ as above.",
        show=("kind", "situations", "pattern", "matches"),
    )
    rows = options.rows(300_000, 20_000)
    table, known = events(rows, dict.fromkeys(NAMES, Kind()))
    columns = {name: table.column(name.lower()).to_numpy() for name in NAMES}
    for kind in KINDS:
        for number, (count, constraints) in enumerate(patterns(kind, options)):
            names = NAMES[:count]
            engine = Iseq(names, constraints, WITHIN)
            matches, work, _ = engine.match({name: known[name] for name in names}, most_work=MOST_WORK)
            if matches > rows or work > MOST_WORK:
                harness.announce(f"  {kind} of {count}: {matches:,} matches, left out")
                continue
            said = " AND ".join(" ".join(one) for one in constraints)
            relations = ", ".join(relation for _, relation, _ in constraints)
            case = experiment.case(
                f"{kind} of {count}, {number + 1}", rows=rows, kind=kind, situations=count, pattern=relations, matches=matches
            )
            text = defined(names, said, WITHIN)
            runs: dict[str, Callable[[], Any]] = {
                "ostinato": partial(matched, table, text),
                "ISEQ": partial(engine.over, {name: columns[name] for name in names}),
            }
            case.compare(runs, options, same=int)
    experiment.save(options)
    if not options.quick:
        tpstream_plots.draw_all(options.results, IMAGES if options.results == harness.RESULTS else options.results)


if __name__ == "__main__":
    main()
