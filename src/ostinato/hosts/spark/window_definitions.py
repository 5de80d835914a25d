"""What Spark's parser keeps to itself when it writes down a plan: the windows of a WINDOW clause."""

from __future__ import annotations

import json
from typing import Any

NODE = "WithWindowDefinition"


def window_definitions(plan: Any, expected: int) -> list[Any] | None:
    """The definitions of all WINDOW clauses of a plan, as trees; None if not all clauses are found: then one stands where it is not
    looked for, in a subquery of an expression."""
    found, trees = 0, []
    waiting = [plan]
    while waiting:
        part = waiting.pop()
        kind = part.getClass().getSimpleName()
        if kind == NODE:
            found += 1
            definitions = part.windowDefinitions().values().toSeq()
            trees += [json.loads(definitions.apply(number).toJSON()) for number in range(definitions.size())]
        if kind == "UnresolvedWith":
            relations = part.cteRelations()
            waiting += [relations.apply(number)._2() for number in range(relations.size())]
        children = part.children()
        waiting += [children.apply(number) for number in range(children.size())]
    return trees if found == expected else None
