"""Blocks of scalar code at an event of a chain, over the registers of an instance."""

from __future__ import annotations

from dataclasses import dataclass, field

from ostinato.expr.nodes import Call, Case, Cast, Expr, Field, Literal, Nav, current, type_of
from ostinato.expr.text import to_text
from ostinato.expr.types import BOOL
from ostinato.plan.column_code import ColumnBuilder
from ostinato.plan.instances.chain import event
from ostinato.plan.instances.made_texts import makes_text, orders_texts
from ostinato.plan.instances.one_event import one_event
from ostinato.plan.row_predicates import RowEmitter
from ostinato.plan.scalar.scalar_assembly import ScalarAssembly
from ostinato.plan.scalar.scalar_functions import rule_for
from ostinato.plan.scalar.scalar_types import can_convert
from ostinato.plan.scalar.scalar_writer import ScalarWriter, not_offered
from ostinato.program.opcodes import NULL_OPERAND, Space, operand
from ostinato.program.scalar_code import ColumnCall, Register


@dataclass
class InstanceRegisters:
    """The values that instances carry, numbered as they are asked for."""

    held: list[Nav] = field(default_factory=list)
    _numbers: dict[Nav, int] = field(default_factory=dict)

    def number(self, nav: Nav) -> int:
        if nav not in self._numbers:
            self._numbers[nav] = len(self.held)
            self.held.append(nav)
        return self._numbers[nav]

    def described(self) -> tuple[Register, ...]:
        return tuple(Register(_named(nav), type_of(nav)) for nav in self.held)


def _named(nav: Nav) -> str:
    body = to_text(nav.body)
    return f"{nav.variable}.{body}" if isinstance(nav.body, Field) else f"{nav.variable}.({body})"


class InstanceBlock(ScalarWriter):
    """The values of event `here` are those of the current row; of the others, what the instance carries. `makes_texts`: instances carry
    texts that their steps have made, and of which nobody knows the order before."""

    def __init__(self, here: int, code: ScalarAssembly, rows: RowEmitter, registers: InstanceRegisters, makes_texts: bool = False) -> None:
        super().__init__(code)
        self._here = event(here)
        self._rows = rows
        self._registers = registers
        self._makes_texts = makes_texts

    def value(self, expr: Expr) -> int:
        if isinstance(expr, Literal):
            return self.code.constant(expr.value, type_of(expr), expr.span)
        one = one_event(expr)
        if one is not None and one.variable == self._here:
            return operand(Space.SLOT, self._rows.slot(current(one.body)))
        if one is not None or isinstance(expr, Nav):
            held = one or expr
            assert isinstance(held, Nav)
            return operand(Space.REGISTER, self._registers.number(held))
        if isinstance(expr, Case):
            return self.case(expr)
        rule = rule_for(expr) if isinstance(expr, Call) and not self._orders_made_texts(expr) else None
        if isinstance(expr, Call) and rule is not None:
            return rule(self, expr)
        if isinstance(expr, Cast) and can_convert(type_of(expr.arg), expr.to):
            return self.value_as(expr.arg, expr.to)
        return self._by_columns(expr)

    def _orders_made_texts(self, expr: Call) -> bool:
        return orders_texts(expr) and (self._makes_texts or any(map(makes_text, expr.args)))

    def _by_columns(self, expr: Expr) -> int:
        """What scalar code has no operation for: column code over the values of the events."""
        foreign = (part for part in expr.walk() if isinstance(part, Call) and part.function is not None and not part.function.compiled)
        if (wrong := next(foreign, None)) is not None or not type_of(expr).is_computable:
            raise not_offered(wrong or expr)
        builder, held = ColumnBuilder(), dict[Nav, int]()

        def resolve(node: Expr) -> int | None:
            one = node if isinstance(node, Nav) else one_event(node)
            if one is None:
                return None
            held.setdefault(one, len(held))
            return builder.input(str(held[one]), type_of(one))

        columns = builder.finish([builder.add(expr, resolve)])
        operands = [self.value(nav) for nav in held] or [NULL_OPERAND]
        return self.code.call(ColumnCall(tuple(map(type_of, held)) or (BOOL,), columns), operands)
