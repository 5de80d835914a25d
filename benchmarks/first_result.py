"""How long until the first result: a new query in a warm process, a fresh process, and the first use ever on a machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import ostinato as ost
from benchmarks import harness
from benchmarks.harness import Case, Experiment, Options
from benchmarks.ticks import random_walk

ROWS = 10_000
SHAPES = ("A B+ C+", "A B{2,} C{2,}", "A (B C)+ B", "A B+ C+ B+ C+", "A (B | C){3} B")
FRESH = """
import json, resource, sys, time
start = time.perf_counter()
import ostinato as ost
from benchmarks.first_result import compact_text, sase_text, sql_text
from benchmarks.ticks import random_walk
imported = time.perf_counter()
table = random_walk(10_000, 10)
took = {"import": imported - start}
for language in sys.argv[1:]:
    before = time.perf_counter()
    if language == "SQL":
        ost.sql(sql_text("A B+ C+"), ticks=table).to_arrow()
    else:
        ost.match(compact_text() if language == "compact" else sase_text(900), ticks=table).to_arrow()
    took[f"{language} query"] = time.perf_counter() - before
used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
took["CPU of all processes"] = sum(one.ru_utime + one.ru_stime for one in used)
print(json.dumps(took))
"""


def sql_text(pattern: str) -> str:
    return f"""SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY key ORDER BY ts
        MEASURES FIRST(ts) AS start_ts, LAST(price) AS last_price, COUNT(*) AS ticks
        ONE ROW PER MATCH PATTERN ({pattern}) DEFINE B AS price < PREV(price), C AS price > PREV(price))"""


def sase_text(limit: int) -> str:
    return f"""PATTERN SEQ(Ticks+ a[], Ticks b) WHERE skip_till_next_match(a[], b) {{
        [key] and a[1].volume > {limit} and a[i].price > a[i-1].price and b.volume < 150 }} WITHIN 500 events"""


def compact_text() -> str:
    return """PATTERN SEQ(Ticks a, Ticks b) WHERE skip_till_any_match(a, b) {
        [key] and a.volume > 950 and b.volume < 50 } WITHIN 100 events"""


def in_warm_process(experiment: Experiment, options: Options) -> None:
    """Each text is new to the process; the kernels are not."""
    table = random_walk(ROWS, 10)
    ost.sql(sql_text("A B C"), ticks=table).to_arrow()
    ost.match(sase_text(900), ticks=table).to_arrow()
    for language, texts in (("SQL", [sql_text(shape) for shape in SHAPES]), ("SASE+", [sase_text(990 + n) for n in range(5)])):
        case = experiment.case(f"new {language} query, warm process", rows=ROWS, clock="wall")
        run = ost.sql if language == "SQL" else ost.match
        seconds = [harness.timed(lambda text=text, run=run: run(text, ticks=table).to_arrow(), "wall")[0] for text in texts]
        case.record("ostinato", [max(seconds)], note=f"slowest of {len(texts)} new texts")
        case.target_seconds("ostinato", at_most=1.0)


def in_fresh_process(experiment: Experiment) -> None:
    """A user writes in one language first; then there are both, one after the other in one process."""
    uses = {"SQL": ["SQL"], "SASE+": ["SASE+"], "SASE+, compact": ["compact"], "both languages": ["SQL", "SASE+"]}
    for name, languages in uses.items():
        with tempfile.TemporaryDirectory() as cache:
            case = experiment.case(f"first use ever, {name}: kernels compiled and cached", rows=ROWS, clock="wall")
            _record_fresh(case, cache, languages)
            case.target_seconds("ostinato", at_most=20.0)
            if len(languages) > 1:
                _record_fresh(experiment.case("fresh process, kernels cached", rows=ROWS, clock="wall"), cache, languages)


def _record_fresh(case: Case, cache: str, languages: list[str]) -> None:
    root = Path(__file__).parent.parent
    # Bytecode is stored, as whoever installs a package does it: without it every process compiles a thousand sources.
    variables = {"PYTHONDONTWRITEBYTECODE": "", "NUMBA_CACHE_DIR": cache, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"}
    start = time.perf_counter()
    finished = subprocess.run(
        [sys.executable, "-c", FRESH, *languages], env={**os.environ, **variables}, capture_output=True, text=True, check=True
    )
    total = time.perf_counter() - start
    times = json.loads(finished.stdout.splitlines()[-1])
    case.record("ostinato", [total], note=", ".join(f"{part} {seconds:.2f} s" for part, seconds in times.items()))


def main() -> None:
    options = harness.options(__doc__ or "")
    experiment = Experiment(
        "first_result",
        "First result",
        f"Wall-clock time from query text to Arrow result over {ROWS:,} rows. No code is compiled for a query; "
        "the kernels are compiled once per machine.",
    )
    in_warm_process(experiment, options)
    in_fresh_process(experiment)
    experiment.save(options)


if __name__ == "__main__":
    main()
