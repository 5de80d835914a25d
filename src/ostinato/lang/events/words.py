"""Words of event patterns that are no names, unless they are quoted."""

from __future__ import annotations

from ostinato.expr.reading.parse import RESERVED as RESERVED_IN_EXPRESSIONS

CLAUSES = ("PATTERN", "WHERE", "WITHIN", "RETURN", "OUTPUT")
RESERVED = RESERVED_IN_EXPRESSIONS | frozenset(("PATTERN", "WITHIN", "RETURN", "OUTPUT"))
RESERVED_IN_PATTERNS = frozenset((*CLAUSES, "SEQ", "AND", "OR", "NOT", "AS"))
