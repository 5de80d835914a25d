"""What results take that have no rows (instances, matches of situations), from their arrays to the table that shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from ostinato.expr.types import Kind, Type
from ostinato.program.pattern import Pattern
from ostinato.runtime.matches.finished_instances import FinishedInstances
from ostinato.runtime.rows.string_pool import StringPool

Found = TypeVar("Found", bound=FinishedInstances)
COPIES = 3  # of the arrays: as they are found, put together, and in order


def value_bytes(type_: Type, pool: StringPool) -> int:
    """Of a value with its validity, in arrays and in Arrow."""
    if type_.kind is not Kind.STRING:
        return 17
    return 25 + (pool.strings.nbytes // len(pool) if len(pool) else 0)


def shown_bytes(pattern: Pattern, pool: StringPool) -> int:
    """Of one line of the table that is shown."""
    code = pattern.measures.code
    return 0 if code is None else sum(value_bytes(code.ops[result].type, pool) for result in code.results)


def result_bytes(found: FinishedInstances, pattern: Pattern, pool: StringPool) -> int:
    return COPIES * sum(array.nbytes for array in found.arrays()) + len(found) * shown_bytes(pattern, pool)


def listed(parts: Iterable[Found], pattern: Pattern, pool: StringPool, check: Callable[[int, str], None]) -> list[Found]:
    """All that a call finds. `check` is told of what it takes so far, and in which words to refuse more."""
    found: list[Found] = []
    size = 0
    for part in parts:
        found.append(part)
        size += result_bytes(part, pattern, pool)
        check(size, f"listing {sum(map(len, found)):,} results takes about")
    return found
