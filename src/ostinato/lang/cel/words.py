"""Words of CEL that are no names, unless they are quoted."""

from __future__ import annotations

from ostinato.expr.reading.parse import RESERVED as RESERVED_IN_EXPRESSIONS

OPERATORS = ("FILTER", "NEXT", "FOLD")
RESERVED = RESERVED_IN_EXPRESSIONS | frozenset((*OPERATORS, "PUBLISH"))
DURATION_WORD = "DUR"  # in a FILTER; elsewhere an attribute may have the name
