"""What situations carry so that measures can be computed: running aggregates over their rows, first and last values."""

from __future__ import annotations

from collections.abc import Iterable

from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Aggregate, Anchor, Expr, Nav, type_of
from ostinato.expr.types import INT, Type
from ostinato.plan.row_predicates import RowEmitter
from ostinato.plan.scalar import run_registers as kinds
from ostinato.plan.scalar.run_registers import RegisterSet
from ostinato.plan.scalar.running_values import KEPT
from ostinato.plan.scalar.scalar_assembly import ScalarAssembly
from ostinato.plan.scalar.scalar_block import BlockWriter, Kind
from ostinato.program.scalar_code import Register

COMPUTED = ("avg", "stddev")  # from several registers, into one of their own


def is_of_situation(expr: Expr) -> bool:
    """In a measure: what a situation carries."""
    return isinstance(expr, Aggregate | Nav)


class CarriedValues:
    """`blocks`: for each definition the block that takes a row into its registers, -1 where there are none. `owners`: the definition of
    each register."""

    def __init__(self, names: tuple[str, ...], rows: RowEmitter, leaves: Iterable[Expr]) -> None:
        self._names = names
        self._rows = rows
        self._registers = RegisterSet()
        self._computed: list[Aggregate] = []
        for leaf in leaves:
            self._ask(leaf)
        assembly = ScalarAssembly()
        self.blocks = tuple(self._block(name, assembly) for name in names)
        self.code = assembly.finish()
        named = [*(register.variable for register in self._registers), *(one.variable for one in self._computed)]
        self.owners = tuple(names.index(str(name)) for name in named)

    def _ask(self, leaf: Expr) -> None:
        """Registers for a value and for all that keeps it up to date."""
        body = leaf.body if isinstance(leaf, Aggregate | Nav) else None
        if body is not None and not type_of(body).is_computable:
            raise UnsupportedError(
                f"A situation cannot carry a value of type {type_of(body)}", hint="Return fields of it that are needed", span=leaf.span
            )
        if isinstance(leaf, Aggregate) and leaf.function in COMPUTED:
            assert body is not None
            self._registers.running(kinds.COUNT, leaf.variable, body, INT)
            if leaf.function == "avg":
                self._registers.running(kinds.SUM, leaf.variable, body, type_of(body))
            else:
                self._registers.running(kinds.DEVIATION, leaf.variable, body, type_of(leaf))
            if repr(leaf) not in map(repr, self._computed):
                self._computed.append(leaf)
        else:
            self._held(leaf)

    def _held(self, leaf: Expr) -> tuple[int, Type]:
        if isinstance(leaf, Nav):
            if leaf.anchor is Anchor.FIRST:
                self._registers.rows(leaf.variable)  # tells the first row from the others
            register = self._registers.at(leaf.anchor, leaf.variable, 0, leaf.body, 0, type_of(leaf.body))
        else:
            assert isinstance(leaf, Aggregate)
            if leaf.body is None:
                register = self._registers.rows(leaf.variable)
            else:
                kind = kinds.COUNT if leaf.function == "count" else KEPT[leaf.function]
                register = self._registers.running(kind, leaf.variable, leaf.body, type_of(leaf))
        return register.number, register.type

    def register(self, leaf: Expr) -> tuple[int, Type]:
        """Where the value of a leaf is, and its type."""
        if isinstance(leaf, Aggregate) and leaf.function in COMPUTED:
            return len(self._registers) + [repr(one) for one in self._computed].index(repr(leaf)), type_of(leaf)
        return self._held(leaf)

    def _block(self, name: str, assembly: ScalarAssembly) -> int:
        writer = BlockWriter(name, frozenset({name}), Kind.EACH, assembly, self._registers, self._rows.slot)
        computed = [(n, writer.value(one)) for n, one in enumerate(self._computed) if one.variable == name]
        writer.bind()
        for number, value in computed:
            assembly.store(len(self._registers) + number, value)
        return -1 if assembly.block_is_empty else assembly.end_block()

    def described(self) -> tuple[Register, ...]:
        own = tuple(Register(f"{one.function}({one.variable})", type_of(one)) for one in self._computed)
        return (*self._registers.described(), *own)
