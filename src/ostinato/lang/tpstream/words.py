"""Words of TPStream that are no names, unless they are quoted; and how relations are spelled."""

from __future__ import annotations

from ostinato.algebra.allen import Relation
from ostinato.expr.reading.parse import RESERVED as RESERVED_IN_EXPRESSIONS

CLAUSES = ("FROM", "PARTITION", "DEFINE", "PATTERN", "WITHIN", "RETURN")
RESERVED = RESERVED_IN_EXPRESSIONS | frozenset(CLAUSES)

# `finished by`, `finished_by`, `finishedBy`: the words of a relation, run together
RELATIONS = {relation.value.replace(" ", ""): relation for relation in Relation}
# ... and the first of two, where a space is between them
FIRST_OF_TWO = frozenset(relation.value.partition(" ")[0] for relation in Relation if " " in relation.value)
