"""The columnar implementation of every function of `expr.typing.functions`, by canonical name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ostinato.expr.types import Type
from ostinato.kernels.vectors import arithmetic, comparison, logic, numbers, strings, times
from ostinato.kernels.vectors.vector import Vector

Function = Callable[[Type, Sequence[Vector]], Vector]

# These decide themselves which failures of their operands matter; a failure of any other function's operand is its own.
LENIENT: dict[str, Function] = {"and": logic.conjunction, "or": logic.disjunction, "coalesce": logic.coalesce}

STRICT: dict[str, Function] = {
    "not": logic.negation,
    "is_null": logic.is_null,
    "is_not_null": logic.is_not_null,
    "is_true": logic.is_true,
    "is_false": logic.is_false,
    "distinct": comparison.distinct,
    "in": comparison.member,
    "greatest": comparison.extreme("gt"),
    "least": comparison.extreme("lt"),
    **{name: comparison.relation(name) for name in comparison.RELATIONS},
    **arithmetic.FUNCTIONS,
    **numbers.FUNCTIONS,
    **strings.FUNCTIONS,
    **times.FUNCTIONS,
}

# A value that is out of range is a failure of these; comparisons, logic and strings have a result for every operand.
CAN_FAIL = frozenset((*arithmetic.FUNCTIONS, *numbers.FUNCTIONS, *times.FUNCTIONS))
