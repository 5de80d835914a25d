"""Queries that explode, each under a small budget: run by `test_budgets_hold` in a process of its own, whose memory is limited, so that a
budget that does not hold ends that process and nothing else. Prints a line per query: its name, the kind of error, the memory it took."""

from __future__ import annotations

import resource
import warnings
from collections.abc import Callable
from typing import Any

import pyarrow as pa

import ostinato as ost

LIMIT = 20_000_000  # bytes that a query may take
STEPS = 20_000_000  # that a call may take
ROWS = 400
SCHEMA = pa.schema([("ts", pa.int64()), ("kind", pa.string()), ("v", pa.int64())])
ANY = "PATTERN SEQ(A+ a[ ], A b) WHERE skip_till_any_match(a[ ], b) { %s } %s"
BEHIND = "PATTERN SEQ(A+ a[ ], A b, ~(X x)) WHERE skip_till_any_match(a[ ], b, x) { b.v >= 0 } WITHIN 300 %s"
BEFORE = "PATTERN SEQ(~(X x), A+ a[ ], A b) WHERE skip_till_any_match(x, a[ ], b) { b.v >= 0 } WITHIN 300 %s"
COMPARED = "PATTERN SEQ(A+ a[ ], ~(X x), A b) WHERE skip_till_any_match(a[ ], x, b) { x.v > b.v } WITHIN 300 %s"
BOTH = "PATTERN SEQ(A+ a[ ], ~(X x), A b) WHERE skip_till_any_match(a[ ], x, b) { x.v > b.v AND b.v > a[1].v } WITHIN 300 %s"
SUMS = "PATTERN SEQ(A+ a[ ], X b) WHERE skip_till_any_match(a[ ], b) { b.v > sum(a[].v) }"
ROW_PATTERN = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES %s %s AFTER MATCH SKIP %s PATTERN (A+) DEFINE A AS %s)"

EVENT_PATTERNS = {
    "compact": (ANY % ("a[i].v >= 0", ""), {}),
    "compact, window": (ANY % ("a[i].v >= 0", "WITHIN 60"), {}),
    "compact, no budget of bytes but that of the machine": (ANY % ("a[i].v >= 0", ""), {"budget": ost.Budget(runs=10_000)}),
    "compact, measures": (ANY % ("a[i].v >= 0", "RETURN count(a[].v) AS n"), {}),
    "runs": (ANY % ("b.v > a[1].v", ""), {}),
    "runs, window": (ANY % ("b.v > a[1].v", "WITHIN 60"), {}),
    "runs, each by itself": (ANY % ("b.v > a[1].v", ""), {"without": ("merging",)}),
    "runs, count": (ANY % ("b.v > sum(a[].v)", "OUTPUT count"), {"without": ("merging",)}),
    "backtrack": (ANY % ("b.v > a[1].v", ""), {"strategy": "backtrack"}),
    "negation behind": (BEHIND % "", {}),
    "negation behind, count": (BEHIND % "OUTPUT count", {}),
    "negation before": (BEFORE % "", {}),
    "negation behind, aggregates": (BEHIND % "RETURN sum(b.v) AS s OUTPUT aggregates", {}),
    "negation before, count": (BEFORE % "OUTPUT count", {}),
    "negation before, aggregates": (BEFORE % "RETURN sum(b.v) AS s OUTPUT aggregates", {}),
    "negation compared": (COMPARED % "", {}),
    "negation compared, count": (COMPARED % "OUTPUT count", {}),
    "negation compared, aggregates": (COMPARED % "RETURN sum(b.v) AS s OUTPUT aggregates", {}),
    "negation and runs, count": (BOTH % "OUTPUT count", {}),
    "runs, aggregates": (ANY % ("b.v > a[1].v", "RETURN sum(a[].v) AS s OUTPUT aggregates"), {}),
    "runs, followed for long": (SUMS, {"budget": ost.Budget(runs=10**9, bytes=None, steps=STEPS // 20)}),
    "backtrack, count": (ANY % ("b.v > a[1].v", "OUTPUT count"), {"strategy": "backtrack"}),
    "count beyond 64 bits": (ANY % ("a[i].v >= 0", "OUTPUT count"), {}),
    "count beyond 64 bits, runs": (ANY % ("b.v > a[1].v", "OUTPUT count"), {}),
    "values beyond 64 bits": (ANY % ("a[i].v >= 0", "RETURN avg(a[].v) AS m OUTPUT aggregates"), {}),
    "negation compared, nonoverlapping": (COMPARED % "OUTPUT nonoverlapping", {}),
    "negation compared, compressed": (COMPARED % "OUTPUT compressed", {}),
}
ROW_PATTERNS = {
    "scan, all rows": ROW_PATTERN % ("COUNT(*) AS n", "ALL ROWS PER MATCH", "TO NEXT ROW", "v >= 0"),
    "scan, running arrays": ROW_PATTERN % ("ARRAY_AGG(A.v) AS held", "ALL ROWS PER MATCH", "PAST LAST ROW", "v >= 0"),
    "scan, arrays": ROW_PATTERN % ("ARRAY_AGG(A.v) AS held", "ONE ROW PER MATCH", "TO NEXT ROW", "v >= 0"),
    "threads, all rows": ROW_PATTERN % ("COUNT(*) AS n", "ALL ROWS PER MATCH", "TO NEXT ROW", "v >= FIRST(A.v)"),
}

NESTED = "PATTERN SEQ(A a, AND(A b, A c), SEQ(A d, A e)) WITHIN 300"
NESTED_NEGATION = "PATTERN SEQ(A a, !AND(X b, A c), SEQ(A d, A e), A f) WITHIN 300"
NESTED_LIST = "PATTERN SEQ(A a, A+ b[], A c) WITHIN 300"
PAIRS_OF_ALL = "SELECT v, v_1, kind FROM t NEXT {$2.v >= 0} t"
CHAINS = "SELECT v, kind, n FROM (SELECT v, kind, 1 AS n FROM t) FOLD {$2.v >= 0, TRUE, $.n + 1 AS n} (SELECT v, kind FROM t)"
SITUATIONS = "FROM t DEFINE A AS v % 2 = 0, B AS v % 2 = 1, C AS v % 3 = 0 PATTERN A before B AND B before C RETURN last(C.kind) AS kind"
OTHER_LANGUAGES: dict[str, tuple[str, int, dict[str, Any]]] = {
    "nested": (NESTED, ROWS, {"language": "neel", "type_by": "kind"}),
    "nested, count": (NESTED, ROWS, {"language": "neel", "type_by": "kind", "output": "count", "strategy": "joins"}),
    "nested, negation": (NESTED_NEGATION, ROWS, {"language": "neel", "type_by": "kind"}),
    "nested, list": (NESTED_LIST, ROWS, {"language": "neel", "type_by": "kind"}),
    "nested, list of a sequence": (NESTED_LIST, ROWS, {"language": "neel", "type_by": "kind", "strategy": "compact"}),
    "instances": (PAIRS_OF_ALL, 100_000, {"language": "cel"}),
    "instances, chains": (CHAINS, 12_000, {"language": "cel"}),
    "situations": (SITUATIONS, 12_000, {"language": "tpstream", "latency": "final"}),
    "situations, earliest": (SITUATIONS, 12_000, {"language": "tpstream", "latency": "earliest"}),
}


def rows(count: int) -> pa.Table:
    return pa.table([pa.array(range(count)), pa.array(["A"] * count), pa.array(range(count))], schema=SCHEMA)


def pushed(text: str, count: int, budget: ost.Budget | None = None, **options: Any) -> None:
    session = ost.compile(text, {"t": SCHEMA}, **options).open(budget=budget or ost.Budget(bytes=LIMIT, steps=STEPS))
    session.push(rows(count))
    session.close()


def waiting() -> None:
    text = "PATTERN SEQ(A a, A b) WHERE skip_till_next_match(a, b) { b.v > 1 } WITHIN 10"
    session = ost.compile(text, {"t": SCHEMA}, type_by="kind").open(lateness=10**9, budget=ost.Budget(bytes=LIMIT))
    for _ in range(100):
        session.push(rows(100_000))


def in_window() -> None:
    text = "PATTERN SEQ(A a, X b) WHERE skip_till_any_match(a, b) { a.v >= 0 } WITHIN 10000000 OUTPUT count"
    pushed(text, 1_000_000, type_by="kind")


def many_batches() -> None:
    """No call lists much, all of them together do."""
    text = "PATTERN SEQ(A a, A b) WHERE skip_till_any_match(a, b) { b.v >= 0 } WITHIN 200"
    ost.match(text, t=rows(100_000), type_by="kind", budget=ost.Budget(bytes=LIMIT))


def of_many_queries() -> None:
    """Every row concerns every query."""
    queries = ost.QuerySet({"t": SCHEMA})
    text = "PATTERN SEQ(t a, t b) WHERE skip_till_next_match(a, b) { a.v >= ${n} and b.v < ${m} } WITHIN 10000000"
    queries.add_all(text, pa.table({"id": [f"q{n}" for n in range(1000)], "n": [0] * 1000, "m": [-n for n in range(1000)]}))
    queries.open(budget=ost.Budget(bytes=LIMIT)).push("t", rows(100_000))


def cases() -> dict[str, Callable[[], None]]:
    found: dict[str, Callable[[], None]] = {"rows that wait": waiting, "starts in a window": in_window, "one large result": many_batches}
    found["rows of many queries"] = of_many_queries
    for name, (text, options) in EVENT_PATTERNS.items():
        found[name] = lambda text=text, options=options: pushed(text, ROWS, type_by="kind", **options)
    for name, text in ROW_PATTERNS.items():
        found[name] = lambda text=text: pushed(text, 12_000)
    for name, (text, count, options) in OTHER_LANGUAGES.items():
        found[name] = lambda text=text, count=count, options=options: pushed(text, count, **options)
    return found


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    warnings.simplefilter("ignore")
    pushed("PATTERN SEQ(A a, A b) WHERE skip_till_next_match(a, b) { b.v > 1 } WITHIN 10", 2, type_by="kind")  # loads what all of them load
    for name, case in cases().items():
        before = peak()
        try:
            case()
            said = "nothing"
        except BaseException as error:
            said = type(error).__name__
            named = "ost.Budget" in str(error) or "budget" in str(error)
            said += "" if named else f" without advice: {error}"
        print(f"{name}|{said}|{peak() - before}", flush=True)


if __name__ == "__main__":
    main()
