"""What EXPLAIN says about queries of every evaluation, and what refusals say."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pyarrow as pa

import ostinato as ost
from ostinato.base.errors import OstinatoError

SCHEMA = pa.schema(
    [
        ("ts", pa.timestamp("us")),
        ("n", pa.int64()),
        ("kind", pa.string()),
        ("k", pa.string()),
        ("v", pa.int64()),
        ("w", pa.float64()),
        ("ns", pa.timestamp("ns")),
    ]
)
SASE = {"type_by": "kind", "time": "ts"}
RISES = "PATTERN SEQ(A+ a[ ], B b) WHERE partition_contiguity(a[ ], b) { [k] AND a[i].v > a[i-1].v } WITHIN 5 minutes"


def row_pattern(pattern: str, define: str, *, measures: str = "COUNT(*) AS c", rest: str = "", order: str = "ts", skip: str = "") -> str:
    clause = f"PARTITION BY k ORDER BY {order} MEASURES {measures} {skip} PATTERN ({pattern}) {rest} DEFINE {define}"
    return f"SELECT * FROM t MATCH_RECOGNIZE ({clause})"


EXPLAINED: dict[str, tuple[str, dict[str, Any]]] = {
    "scan": (row_pattern("A B+ C", "B AS v < PREV(v), C AS v > PREV(v)"), {}),
    "scan in a window, all rows": (
        row_pattern("A B*", "A AS v > 1", rest="WITHIN INTERVAL '90' SECOND", skip="ALL ROWS PER MATCH"),
        {},
    ),
    "threads": (row_pattern("A B+ C", "B AS B.v < A.v, C AS C.v > 2 * A.v"), {}),
    "threads without search": (row_pattern("A B+ C", "B AS B.v >= 0, C AS C.v > 2 * A.v"), {"without": ("search",)}),
    "rewritten": (RISES, SASE),
    "not rewritten": (RISES, SASE | {"without": ("adjacent_rows",)}),
    "compact": ("PATTERN SEQ(A a, B+ b[ ], C c) WHERE skip_till_any_match(a, b[ ], c) { [k] } WITHIN 5 minutes", SASE),
    "runs": ("PATTERN SEQ(A a, B b, C c) WHERE skip_till_next_match(a, b, c) { a.v < b.v AND c.k = a.k } WITHIN 5 minutes", SASE),
    "runs without merging": (
        "PATTERN SEQ(A a, B b, C c) WHERE skip_till_next_match(a, b, c) { a.v < b.v AND c.k = a.k } WITHIN 5 minutes",
        SASE | {"without": ("merging",)},
    ),
    "runs by value": ("PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { b.v = a.v } WITHIN 100 events", SASE),
    "strict contiguity": ("PATTERN SEQ(A a, B b) WHERE strict_contiguity(a, b) { [k] } WITHIN 5 minutes", SASE),
    "negation known by rows": ("PATTERN SEQ(A a, ~(B x), C c) WHERE skip_till_any_match(a, x, c) { [k] } WITHIN 5 minutes", SASE),
    "negation compared": ("PATTERN SEQ(A a, ~(B x), C c) WHERE skip_till_any_match(a, x, c) { x.v > a.v } WITHIN 5 minutes", SASE),
    "negation behind": ("PATTERN SEQ(A a, B b, ~(C x)) WHERE skip_till_next_match(a, b, x) { x.v = a.v } WITHIN 5 minutes", SASE),
    "negation before": ("PATTERN SEQ(~(C x), A a, B b) WHERE skip_till_next_match(x, a, b) { a.v < b.v } WITHIN 5 minutes", SASE),
    "negation before or behind": (
        "PATTERN SEQ(A* a[ ], ~(C x), B* b[ ]) WHERE skip_till_any_match(a[ ], x, b[ ]) { [k] } WITHIN 9 events",
        SASE,
    ),
    "timeouts": ("PATTERN SEQ(A a, B b) WITHIN 5 minutes OUTPUT timeouts", SASE),
    "nested": (
        "PATTERN SEQ(A a, !AND(B x, C y, x.k = y.k = d.k), OR(D d, SEQ(E e, F+ f[ ], f.LEN > 1)), a.v < d.v) WITHIN 5 minutes",
        SASE | {"language": "neel"},
    ),
    "nested, by key": (
        "PATTERN SEQ(A a, SEQ(B b, !(C c, c.k = d.k), D d, b.k = d.k), E e, a.k = b.k = e.k) WITHIN 5 minutes",
        SASE | {"language": "neel", "strategy": "semantic cache"},
    ),
    "nested, counted as a sequence": (
        "PATTERN SEQ(A a, SEQ(B b, C c, b.v > 3)) WITHIN 5 minutes",
        SASE | {"language": "neel", "output": "count"},
    ),
    "nested, counted, not a sequence": (
        "PATTERN SEQ(A a, AND(B b, C c)) WITHIN 5 minutes",
        SASE | {"language": "neel", "output": "count"},
    ),
    "nested, counted, with events compared": (
        "PATTERN SEQ(A a, SEQ(B b, C c, b.v > c.v)) WITHIN 5 minutes",
        SASE | {"language": "neel", "output": "count"},
    ),
    "nested, every choice forced": (
        "PATTERN SEQ(A a, SEQ(B b, C c), !(D x, x.k = a.k), E e, a.k = b.k = e.k) WITHIN 5 minutes",
        SASE
        | {
            "language": "neel",
            "strategy": "object cache",
            "without": ("equality_key", "equality_chains", "join_order", "negation_cut"),
        },
    ),
    "times in nanoseconds": (row_pattern("A B", "B AS v > 1", rest="WITHIN INTERVAL '1' SECOND", order="ns"), {}),
    "counted": ("PATTERN SEQ(A a, B+ b[ ]) WHERE skip_till_any_match(a, b[ ]) { b[i].v > 1 } WITHIN 5 minutes OUTPUT count", SASE),
}

REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "an unknown column": (row_pattern("A B", "B AS volume > 1"), {}),
    "a column that is nearly there": (row_pattern("A B", "B AS B.vv > 1"), {}),
    "an unknown function": (row_pattern("A B", "B AS uper(k) = 'X'"), {}),
    "a function that engines disagree on": (row_pattern("A B", "B AS log(w) > 1"), {}),
    "a function with too many arguments": (row_pattern("A B", "B AS round(w, 1, 2) > 1"), {}),
    "a string where a number belongs": (row_pattern("A B", "B AS v + k > 1"), {}),
    "a condition that is none": (row_pattern("A B", "B AS v"), {}),
    "a definition of no variable": (row_pattern("A B", "X AS v > 1"), {}),
    "skip to a variable that is not there": (row_pattern("A B", "B AS v > 1", skip="AFTER MATCH SKIP TO X"), {}),
    "bounds the wrong way round": (row_pattern("A{3,2}", "A AS v > 1"), {}),
    "a pattern that does not end": (row_pattern("A (B", "B AS v > 1"), {}),
    "a measure twice": (row_pattern("A B", "B AS v > 1", measures="A.v AS x, B.v AS x"), {}),
    "an unknown word of SASE+": ("PATTERN SEQ(A a, B b) WHERE skip_till_some_match(a, b) { a.v > 1 }", SASE),
    "a variable that no component has": ("PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { c.v > 1 }", SASE),
    "a word for a variable": ("PATTERN SEQ(A seq, B b) WITHIN 5 minutes", SASE | {"language": "neel"}),
    "an alternative that may be empty": ("PATTERN SEQ(A a, OR(B? b, A c)) WITHIN 5 minutes", SASE | {"language": "neel"}),
    "a variable twice": ("PATTERN SEQ(A a, B a) WITHIN 5 minutes", SASE),
    "a window of no unit": ("PATTERN SEQ(A a, B b) WITHIN 5 fortnights", SASE),
    "a negation alone": ("PATTERN SEQ(~(A a))", SASE),
    "a trailing negation without a window": ("PATTERN SEQ(A a, ~(B b))", SASE),
    "an unknown output": ("PATTERN SEQ(A a, B b) WITHIN 5 minutes", SASE | {"output": "some"}),
    "an unknown strategy": ("PATTERN SEQ(A a, B b) WITHIN 5 minutes", SASE | {"strategy": "magic"}),
    "a strategy that the query does not allow": (row_pattern("A B", "B AS B.v > A.v"), {"strategy": "compact"}),
    "nothing to leave out": ("PATTERN SEQ(A a, B b) WITHIN 5 minutes", SASE | {"without": ("magic",)}),
    "a rewrite that is needed": ("PATTERN SEQ(A a, B b) WITHIN 5 minutes", SASE | {"without": ("strict_partition",)}),
    "no query at all": ("hello", {}),
}


def explained() -> dict[str, str]:
    return {title: _quietly(text, options).explain() for title, (text, options) in EXPLAINED.items()}


def refused() -> dict[str, str]:
    return {title: _refusal(text, options) for title, (text, options) in REFUSED.items()}


def _refusal(text: str, options: dict[str, Any]) -> str:
    try:
        _quietly(text, options)
    except OstinatoError as error:
        return f"{type(error).__name__}: {error}"
    return "accepted"


def _quietly(text: str, options: dict[str, Any]) -> ost.Query:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ost.compile(text, {"t": SCHEMA}, **options)


SOURCES: dict[str, Callable[[], dict[str, str]]] = {"explained": explained, "refused": refused}
