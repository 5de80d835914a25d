"""What the operators and inputs of a session have counted."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.runtime.session.input_rows import InputRows
from ostinato.runtime.session.pattern_operator import PatternOperator


def counted(operators: Sequence[PatternOperator], inputs: Sequence[InputRows], threads: int) -> dict[str, int]:
    """Of the rows of all inputs, and of all operators; each evaluation has counters of its own. `threads`: the most that were used."""
    found: dict[str, int] = {}
    for operator in operators:
        for name, value in operator.metrics().items():
            found[name] = found.get(name, 0) + value
    if "derived_batches" in found:
        found["threads"] = threads
    return found | {
        "rows": sum(source.rows_in for source in inputs),
        "late_rows": sum(source.late.count for source in inputs),
        "waiting_rows": sum(source.reorder.waiting_rows for source in inputs),
        "retained_rows": sum(int(source.rows.length.sum()) for source in inputs),
        "keys": sum(source.key_count for source in inputs),
    }
