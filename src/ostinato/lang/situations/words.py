"""Words that are no names in definitions of situations, unless they are quoted."""

from __future__ import annotations

from ostinato.expr.reading.parse import RESERVED as RESERVED_IN_EXPRESSIONS

CLAUSES = ("FROM", "PARTITION", "DEFINE", "MEASURES", "PATTERN", "WITHIN", "RETURN", "PUBLISH")
RESERVED = RESERVED_IN_EXPRESSIONS | frozenset(CLAUSES)
