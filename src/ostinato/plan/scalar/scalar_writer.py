"""Expressions as operands of scalar code, whatever their leaves are."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Call, Case, Expr, Literal, type_of
from ostinato.expr.types import Kind, Type
from ostinato.plan.scalar.scalar_assembly import ScalarAssembly
from ostinato.plan.scalar.scalar_types import convert
from ostinato.program.opcodes import NULL_OPERAND, Op


class ScalarWriter(ABC):
    """Implements `scalar_functions.Translator`."""

    def __init__(self, code: ScalarAssembly) -> None:
        self.code = code

    @abstractmethod
    def value(self, expr: Expr) -> int:
        """The operand that holds it."""

    def value_as(self, expr: Expr, wanted: Type) -> int:
        if isinstance(expr, Literal) and wanted.kind in (Kind.FLOAT, Kind.DECIMAL) and type_of(expr).is_numeric:
            return self.code.constant(expr.value, wanted, expr.span)
        return convert(self.code, self.value(expr), type_of(expr), wanted, expr)

    def test(self, condition: Expr) -> None:
        """Parts of a conjunction one by one: the first that does not hold ends the block."""
        if isinstance(condition, Call) and condition.name == "and":
            for part in condition.args:
                self.test(part)
        else:
            self.code.test(self.value(condition))

    def case(self, expr: Case) -> int:
        wanted = type_of(expr)
        otherwise = NULL_OPERAND if expr.otherwise is None else self.value_as(expr.otherwise, wanted)
        branches = [(self.value(condition), self.value_as(chosen, wanted)) for condition, chosen in expr.branches]
        target = self.code.fresh(Op.MOVE, otherwise, 0)
        for condition, chosen in reversed(branches):
            self.code.select(condition, chosen, target)
        return target


def not_offered(expr: Expr) -> UnsupportedError:
    name = f"{expr.name}()" if isinstance(expr, Call) else type(expr).__name__
    if isinstance(expr, Call) and expr.function is not None:
        return UnsupportedError(
            f"{name} takes columns, and here it would be asked for values of the match one by one",
            hint="Register it with compiled=True; or, if its arguments are values of one event, with strict=True: null for null",
            span=expr.span,
        )
    return UnsupportedError(
        f"{name} over values of several events is not offered in a condition",
        hint="Apply it to each event's own values, and compare the results",
        span=expr.span,
    )
