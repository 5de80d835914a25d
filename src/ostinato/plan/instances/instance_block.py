"""Blocks of scalar code at an event of a chain, over the registers of an instance."""

from __future__ import annotations

from dataclasses import dataclass, field

from ostinato.expr.nodes import Call, Case, Cast, Expr, Field, Literal, Nav, current, type_of
from ostinato.expr.text import to_text
from ostinato.plan.instances.chain import event
from ostinato.plan.instances.one_event import one_event
from ostinato.plan.row_predicates import RowEmitter
from ostinato.plan.scalar.scalar_assembly import ScalarAssembly
from ostinato.plan.scalar.scalar_functions import rule_for
from ostinato.plan.scalar.scalar_writer import ScalarWriter, not_offered
from ostinato.program.opcodes import Space, operand
from ostinato.program.scalar_code import Register


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
    """The values of event `here` are those of the current row; of the others, what the instance carries."""

    def __init__(self, here: int, code: ScalarAssembly, rows: RowEmitter, registers: InstanceRegisters) -> None:
        super().__init__(code)
        self._here = event(here)
        self._rows = rows
        self._registers = registers

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
        rule = rule_for(expr) if isinstance(expr, Call) else None
        if isinstance(expr, Call) and rule is not None:
            return rule(self, expr)
        if isinstance(expr, Cast):
            return self.value_as(expr.arg, expr.to)
        raise not_offered(expr)
