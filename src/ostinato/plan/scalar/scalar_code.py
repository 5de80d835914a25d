"""Dynamic conditions -> scalar code: blocks that test a row against what a run carries, and then bring the run up to date."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ostinato.expr.nodes import Expr, Nav
from ostinato.plan.scalar.run_registers import RegisterSet
from ostinato.plan.scalar.scalar_assembly import ScalarAssembly
from ostinato.plan.scalar.scalar_block import BlockWriter, Kind
from ostinato.program.scalar_code import Register, ScalarCode


@dataclass(frozen=True)
class _Request:
    variable: str
    conditions: tuple[Expr, ...]
    kind: Kind


class ScalarPlan:
    """Ask for all blocks, then `finish`. What a block must store depends on the conditions of every other one, so that the code is
    written twice: when a block is asked for, to find the registers (and to refuse what cannot be computed), and at the end.

    `names_of` gives all names of a variable's rows; `slot_of` is given a `Nav` at the current row (with its shift) and numbers the
    value column that will hold it."""

    def __init__(self, names_of: Callable[[str], frozenset[str]], slot_of: Callable[[Nav], int]) -> None:
        self._names_of = names_of
        self._slot_of = slot_of
        self._registers = RegisterSet()
        self._requests: list[_Request] = []

    def block(self, variable: str, conditions: Sequence[Expr], kind: str) -> int:
        """The number of a block that is true if all conditions are, and then binds the current row to `variable`. `kind` is "first",
        "later" or "each" binding, or "leaving": test the run as it stands and bind nothing. A leaving block without conditions is -1;
        any other may turn out empty (its range in `ScalarCode.blocks` has no length) if the run need not remember anything."""
        request = _Request(variable, tuple(conditions), Kind(kind))
        if request.kind is Kind.LEAVING and not conditions:
            return -1
        self._write(request, ScalarAssembly())
        self._requests.append(request)
        return len(self._requests) - 1

    def finish(self) -> tuple[ScalarCode, tuple[Register, ...]]:
        """Call it before the row code is finished: stores may ask for slots that no condition reads."""
        known = -1
        while known != len(self._registers):  # keeping one register up to date may take another
            known = len(self._registers)
            code = ScalarAssembly()
            for request in self._requests:
                self._write(request, code)
        return code.finish(), self._registers.described()

    def _write(self, request: _Request, code: ScalarAssembly) -> None:
        names = self._names_of(request.variable)
        writer = BlockWriter(request.variable, names, request.kind, code, self._registers, self._slot_of)
        for condition in request.conditions:
            writer.test(condition)
        writer.bind()
        code.end_block()
