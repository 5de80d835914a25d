"""How much earlier matches are detected than by ISEQ: Fig. 5.11 of Körber's thesis, in the time of the events."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import ostinato as ost
from benchmarks import harness, tpstream_plots
from benchmarks.harness import Case, Experiment, Options
from benchmarks.iseq import Iseq
from benchmarks.one_thread import use_one_thread
from benchmarks.random_situations import Kind, defined, events
from benchmarks.sase_plots import IMAGES

RELATIONS = ("before", "meets", "overlaps", "starts", "during", "equals", "finishes")
RATIOS = {"2:1": (5, 50), "1:1": (10, 100), "1:2": (20, 200)}  # of the lengths of A and B
NEVER_EARLIER = ("equals", "finishes")
WITHIN = 1_000


def waited(table: pa.Table, text: str, latency: str) -> tuple[np.ndarray, np.ndarray]:
    """For each match, by its situations, the time from its first start to its detection."""
    with warnings.catch_warnings(action="ignore"):
        found = ost.match(text, language="tpstream", latency=latency, s=table).to_arrow()
    keys = found.column("a").to_numpy() * table.num_rows + found.column("b").to_numpy()
    return keys, pc.subtract(found.column("detected_ts"), found.column("start_ts")).to_numpy()


def measure(experiment: Experiment, relation: str, ratio: str, seconds: int) -> Case:
    table, known = events(seconds, {"A": Kind(), "B": Kind(lasts=RATIOS[ratio])})
    text = defined("AB", f"A {relation} B", WITHIN, "RETURN first(A.ts) AS a, first(B.ts) AS b")
    early, early_waits = waited(table, text, "earliest")
    final, final_waits = waited(table, text, "final")
    matches, _, iseq_waits = Iseq("AB", [("A", relation, "B")], WITHIN).match(known, detected=True)
    if (matches, iseq_waits) != (len(final), final_waits.sum()):
        raise AssertionError(f"ISEQ finds {matches} matches of {relation}, final mode {len(final)}")
    both = np.isin(early, final)
    if both.sum() != matches:
        raise AssertionError(f"{matches - both.sum()} matches of {relation} are not reported early")
    part = float(early_waits[both].sum() / max(iseq_waits, 1))
    case = experiment.case(
        f"{relation}, {ratio}", rows=seconds, relation=relation, ratio=ratio, matches=matches, **{"part of ISEQ's detection time": part}
    )
    case.record("ostinato", [early_waits[both].mean() if matches else 0.0], note="seconds of event time, mean")
    case.record("ISEQ", [iseq_waits / max(matches, 1)], note="seconds of event time, mean")
    return case


def main() -> None:
    options: Options = harness.options("Detection times beside ISEQ")
    use_one_thread()
    experiment = Experiment(
        "tpstream_latency",
        "Detection time by relation",
        "Fig. 5.11: from the first start of a match to its detection, in the time of the events; two random situations, an event per "
        f"second, within {WITHIN:,} s. Matches are those of ISEQ, which knows a situation when it has ended. *Seconds* are event time.",
        show=("relation", "ratio", "matches", "part of ISEQ's detection time"),
    )
    seconds = options.rows(1_000_000, 100_000)
    for relation in RELATIONS:
        cases = [measure(experiment, relation, ratio, seconds) for ratio in RATIOS]
        for case in cases:
            if relation not in NEVER_EARLIER:
                case.target("ostinato", "ISEQ", at_least=1.01)
    experiment.save(options)
    if not options.quick:
        tpstream_plots.draw_all(options.results, IMAGES if options.results == harness.RESULTS else options.results)


if __name__ == "__main__":
    main()
