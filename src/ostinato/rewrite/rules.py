"""The rewrites, in order. Each keeps the meaning and can be left out (`compile(..., without=("adjacent_rows",))`), except those
marked as needed, which make a query executable at all."""

from __future__ import annotations

from ostinato.algebra.query import MatchQuery
from ostinato.rewrite import adjacent_rows, strict_partition

RULES = (
    ("strict_partition", strict_partition.rewrite),  # needed: strict contiguity looks at the whole stream
    ("adjacent_rows", adjacent_rows.rewrite),  # after strict_partition, whose conditions it leaves alone
)
NEEDED = ("strict_partition",)


def rewrite(query: MatchQuery, without: tuple[str, ...] = ()) -> tuple[MatchQuery, tuple[str, ...]]:
    """The rewritten query and the names of the rules that changed it."""
    applied: list[str] = []
    for name, rule in RULES:
        if name in without and name not in NEEDED:
            continue
        changed = rule(query)
        if changed != query:
            applied.append(name)
            query = changed
    return query, tuple(applied)
