"""One block of scalar code: conditions in the context of a row that is being bound to a variable, then what the run remembers of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum

from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Aggregate, Anchor, Call, Case, Cast, Classifier, Expr, Literal, MatchNumber, Nav, current, type_of
from ostinato.expr.types import STRING
from ostinato.plan.scalar.row_values import as_row_value
from ostinato.plan.scalar.run_registers import LAST, NUMBER, RegisterSet, RunRegister
from ostinato.plan.scalar.running_values import aggregate_value, updated_value
from ostinato.plan.scalar.scalar_assembly import ScalarAssembly
from ostinato.plan.scalar.scalar_functions import rule_for
from ostinato.plan.scalar.scalar_writer import ScalarWriter, not_offered
from ostinato.program.opcodes import NULL_OPERAND, Op, Space, operand


class Kind(Enum):
    """Which row of its variable is being bound."""

    FIRST = "first"
    LATER = "later"
    EACH = "each"
    LEAVING = "leaving"  # none: the run is tested as it stands


class BlockWriter(ScalarWriter):
    """The current row counts as bound already while its conditions are evaluated; `names` are those under which it is known then."""

    def __init__(
        self,
        variable: str,
        names: frozenset[str],
        kind: Kind,
        code: ScalarAssembly,
        registers: RegisterSet,
        slot_of: Callable[[Nav], int],
    ) -> None:
        super().__init__(code)
        self.variable = variable
        self._names = names
        self.kind = kind
        self.registers = registers
        self._slot_of = slot_of
        self._updated: dict[int, int] = {}

    def binds(self, variable: str | None) -> bool:
        """Whether the current row becomes a row of `variable` (None: of the match)."""
        return self.kind is not Kind.LEAVING and (variable is None or variable in self._names)

    @property
    def binds_first(self) -> bool:
        return self.kind is Kind.FIRST

    @property
    def binds_later(self) -> bool:
        return self.kind is Kind.LATER

    def test(self, condition: Expr) -> None:
        super().test(self._at_current(condition))

    def _at_current(self, expr: Expr) -> Expr:
        """Both names of the current row, the match's last and its variable's last, become one."""
        if isinstance(expr, Nav):
            own = expr.anchor is Anchor.LAST and expr.offset == 0 and self.binds(expr.variable)
            return replace(expr, variable=None) if own else expr
        return expr.map_children(self._at_current)

    def bind(self) -> None:
        """Store what later conditions need. Deeper rows of a chain go first: each takes over its neighbour's value. The copy comes last
        before the stores, and also where there are none, because a run that splits needs its registers twice."""
        if self.kind is Kind.LEAVING:
            return
        bound = [register for register in self.registers if self.binds(register.variable) and register.kind != NUMBER]
        changes = [(register, self.updated(register)) for register in bound]
        changes = [(register, source) for register, source in changes if source != self.held(register)]
        if not changes and self.code.block_is_empty:
            return
        self.code.copy()
        for register, source in sorted(changes, key=lambda change: (change[0].kind != LAST, -change[0].depth)):
            self.code.store(register.number, source)

    # Operands

    def held(self, register: RunRegister) -> int:
        return operand(Space.REGISTER, register.number)

    def updated(self, register: RunRegister) -> int:
        """The register's value once the current row is bound."""
        if register.number not in self._updated:
            self._updated[register.number] = updated_value(self, register)
        return self._updated[register.number]

    def row_value(self, body: Expr, shift: int) -> int:
        """A value at the current row, or `shift` rows away from it."""
        if isinstance(body, Classifier):
            return self._classifier(body, shift)
        if isinstance(body, MatchNumber) and shift == 0:
            return self._match_number(body)
        if any(isinstance(part, Classifier | MatchNumber) for part in body.walk()):
            raise UnsupportedError(
                "CLASSIFIER and MATCH_NUMBER together with other values of a row are not offered in a condition",
                hint="Navigate to each by itself",
                span=body.span,
            )
        at_row = Nav(None, Anchor.LAST, 0, shift, body, span=body.span, type=body.type)
        return operand(Space.SLOT, self._slot_of(at_row))

    def _classifier(self, body: Classifier, shift: int) -> int:
        """Of the current row, or of one before it in the match; what comes later is not mapped yet."""
        if shift == 0:
            return self.code.constant(self.variable, STRING)
        if shift > 0:
            return NULL_OPERAND
        return self.held(self.registers.at(Anchor.LAST, None, -shift - 1, Classifier(type=STRING), 0, STRING))

    def _match_number(self, expr: MatchNumber) -> int:
        if self.kind is not Kind.EACH:
            raise UnsupportedError("The number of a match is not known while it is being found", hint="Use it in MEASURES", span=expr.span)
        return self.held(self.registers.match_number())

    def value(self, expr: Expr) -> int:
        if isinstance(expr, Literal):
            return self.code.constant(expr.value, type_of(expr), expr.span)
        if isinstance(expr, Nav):
            if isinstance(expr.body, Classifier) and expr.shift > 0:
                return self._later_classifier(expr)
            return self._place(expr.variable, expr.anchor, expr.offset, expr.body, expr.shift)
        if isinstance(expr, Aggregate):
            return aggregate_value(self, expr)
        if isinstance(expr, Classifier):
            return self._place(expr.variable, expr.anchor, expr.offset, Classifier(type=STRING), 0)
        if isinstance(expr, MatchNumber):
            return self._match_number(expr)
        if isinstance(expr, Case):
            return self.case(expr)
        return self._computed(expr)

    def _later_classifier(self, nav: Nav) -> int:
        """CLASSIFIER behind a row of the match, as far as rows are mapped: all rows up to the current one, which is the last."""
        if nav.anchor is Anchor.FIRST and nav.variable is None:
            return self._place(None, Anchor.FIRST, nav.offset + nav.shift, Classifier(type=STRING), 0)
        if nav.anchor is Anchor.LAST and nav.offset == 0 and self.binds(nav.variable):
            return NULL_OPERAND
        if nav.variable is not None:
            raise UnsupportedError(
                "NEXT(CLASSIFIER(...)) from a row of a variable is not offered in a condition",
                hint="Navigate from the current row, or from FIRST(CLASSIFIER())",
                span=nav.span,
            )
        if nav.shift > nav.offset:
            return NULL_OPERAND
        there = self._place(None, Anchor.LAST, nav.offset, Classifier(type=STRING), 0)
        target = self.code.fresh(Op.MOVE, NULL_OPERAND, 0)
        found = self._place(None, Anchor.LAST, nav.offset - nav.shift, Classifier(type=STRING), 0)
        self.code.select(self.code.compute(Op.IS_NOT_NULL, there), found, target)
        return target

    def _place(self, variable: str | None, anchor: Anchor, offset: int, body: Expr, shift: int) -> int:
        type_ = type_of(body)
        if anchor is Anchor.LAST and self.binds(variable):
            if offset == 0:
                return self.row_value(body, shift)
            return self.held(self.registers.at(anchor, variable, offset - 1, body, shift, type_))
        register = self._first_register(variable, offset, body, shift) if anchor is Anchor.FIRST else None
        if register is None:
            return self.held(self.registers.at(anchor, variable, offset, body, shift, type_))
        if not self.binds(variable):
            return self.held(register)
        return self.updated(register)

    def _first_register(self, variable: str | None, offset: int, body: Expr, shift: int) -> RunRegister:
        return self.registers.at(Anchor.FIRST, variable, offset, body, shift, type_of(body))

    def _computed(self, expr: Expr) -> int:
        """A function of several rows' values where there is a rule for it, else a value of one row, computed as a column."""
        if isinstance(expr, Call) and not self._of_one_row(expr):
            rule = rule_for(expr)
            if rule is not None:
                return rule(self, expr)
        one_row = as_row_value(expr)
        if one_row is not None:
            return self.value(one_row)
        if isinstance(expr, Cast):
            return self.value_as(expr.arg, expr.to)
        raise not_offered(expr)

    def _of_one_row(self, expr: Call) -> bool:
        """Functions that the columns compute more cheaply: everything about the current row alone."""
        found = as_row_value(expr)
        return found is not None and found == current(found.body)
