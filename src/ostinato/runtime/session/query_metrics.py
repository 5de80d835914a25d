"""What each query of a set has found, and what it holds. Counted when somebody asks: between that it costs nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from ostinato.program.shapes.shape import is_shape
from ostinato.runtime.session.graph import Graph
from ostinato.runtime.session.pattern_operator import PatternOperator
from ostinato.runtime.session.quarantine import query_of

PARTIAL = (
    "runs",
    "instances",
    "situations",
    "threads",
    "open_attempts",
    "match_nodes",
    "window_starts",
    "starts",
    "kept_results",
)  # as evaluations call them
SHED = "shed_"
SCHEMA = pa.schema(
    [
        ("query_id", pa.string()),
        ("matches", pa.int64()),  # reported so far
        ("partial_matches", pa.int64()),  # begun, and not decided: runs, threads, nodes of the match graph
        ("waiting_matches", pa.int64()),  # complete, and waiting for what time decides
        ("busy_keys", pa.int64()),  # partitions in which something is begun
        ("retained_rows", pa.int64()),  # rows that it may still need; others may need the same
        ("shed", pa.int64()),  # what the budget had no room for
        ("error", pa.string()),  # of a query in quarantine
    ]
)


def query_metrics(graph: Graph, of_shapes: Iterable[tuple[str, int, int]] = ()) -> pa.Table:
    """A line per query. Of a text of several queries all count together, but for the matches. Of queries of a shape, which are evaluated as
    one, only matches and busy keys are known of each; the rest is null."""
    results = {result.query: result.operator for result in graph.program.results if not is_shape(result.query)}
    counted = {query: dict.fromkeys(SCHEMA.names[2:7], 0) for query in results}
    stopped = graph.quarantine.operators(graph.program)
    for number, operator in enumerate(graph.program.operators):
        if number not in stopped and not is_shape(operator.name):
            line = counted[query_of(operator.name)]
            for name, value in _held(graph.operators[number]).items():
                line[name] += value
    errors = graph.quarantine.errors
    lines: list[dict[str, Any]] = [
        {
            "query_id": query,
            "matches": graph.operators[operator].report.emitted,
            **counted[query],
            "error": errors[query].message if query in errors else None,
        }
        for query, operator in results.items()
    ]
    lines += [{"query_id": query, "matches": matches, "busy_keys": busy} for query, matches, busy in of_shapes]
    return pa.Table.from_pylist(lines, SCHEMA)


def _held(operator: PatternOperator) -> dict[str, int]:
    found = operator.matcher.metrics()
    busy = operator.busy_keys()
    rows = operator.rows
    needed = int((rows.base[busy] + rows.length[busy] - operator.kept_from(busy)).clip(0, rows.length[busy]).sum()) if len(busy) else 0
    return {
        "partial_matches": next((found[name] for name in PARTIAL if name in found), 0) + operator.begun_elsewhere,
        "waiting_matches": found.get("waiting_matches", 0),
        "busy_keys": len(busy),
        "retained_rows": needed,
        "shed": sum(value for name, value in found.items() if name.startswith(SHED)),
    }
