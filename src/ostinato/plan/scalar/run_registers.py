"""The values that a run must carry so that later conditions can look back: found from the conditions, numbered as they are needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Anchor, Expr
from ostinato.expr.types import FLOAT, INT, Type
from ostinato.program.scalar_code import Register

LAST = "last"  # the value `depth` rows back from the last row of the variable
FIRST = "first"  # the value at the `depth`-th row of the variable
ROWS = "rows"  # how many rows the variable has
COUNT = "count"  # how many of them have a value
SUM = "sum"
MIN = "min"
MAX = "max"
EARLIEST = "earliest"  # first and last value that is not null
LATEST = "latest"
MEAN = "mean"  # Welford's running mean and sum of squared deviations
DEVIATION = "deviation"
NUMBER = "number"  # of the match that is being found; nothing changes it

MOST_VALUES = 5_000  # each costs eight bytes of every run, and a move at every row that a variable takes
ZERO_AT_START = (ROWS, COUNT, MEAN, DEVIATION)


@dataclass(frozen=True)
class RunRegister:
    """`kind` of value over the rows of `variable` (None: all), of `body` at the row moved by `shift`."""

    number: int
    kind: str
    variable: str | None
    body: Expr | None
    shift: int
    depth: int
    type: Type

    @property
    def name(self) -> str:
        of = self.variable or "*"
        if self.kind in (LAST, FIRST):
            return f"{self.kind}({of}, {self.depth})"
        return f"{self.kind}({of})"


class RegisterSet:
    """Equal requests share a register. Bodies are told apart by their text too, because 1, 1.0 and TRUE are equal in Python."""

    def __init__(self) -> None:
        self._found: dict[tuple[object, ...], RunRegister] = {}

    def __iter__(self) -> Iterator[RunRegister]:
        return iter(tuple(self._found.values()))

    def __len__(self) -> int:
        return len(self._found)

    def at(self, anchor: Anchor, variable: str | None, depth: int, body: Expr, shift: int, kind_of: Type) -> RunRegister:
        """The value `depth` rows from an end of the variable, and what is needed to keep it up to date."""
        if anchor is Anchor.FIRST:
            if depth or variable is None:
                self.rows(variable)
            return self._register(FIRST, variable, body, shift, depth, kind_of)
        if not self._has(LAST, variable, body, shift, depth):
            if len(self) + depth > MOST_VALUES:
                raise UnsupportedError(
                    f"A condition looks back {depth:,} rows of a match: a run would carry too many values",
                    hint=f"A run carries at most {MOST_VALUES:,} values; PREV looks back in the partition, as far as you like",
                    span=body.span,
                )
            for nearer in range(depth):
                self._register(LAST, variable, body, shift, nearer, kind_of)
        return self._register(LAST, variable, body, shift, depth, kind_of)

    def rows(self, variable: str | None) -> RunRegister:
        return self._register(ROWS, variable, None, 0, 0, INT)

    def running(self, kind: str, variable: str | None, body: Expr, type_: Type) -> RunRegister:
        if kind in (MEAN, DEVIATION):
            self._register(COUNT, variable, body, 0, 0, INT)
            self._register(MEAN, variable, body, 0, 0, FLOAT)
        return self._register(kind, variable, body, 0, 0, type_)

    def match_number(self) -> RunRegister:
        return self._register(NUMBER, None, None, 0, 0, INT)

    def _has(self, kind: str, variable: str | None, body: Expr, shift: int, depth: int) -> bool:
        return (kind, variable, repr(body), shift, depth) in self._found

    def _register(self, kind: str, variable: str | None, body: Expr | None, shift: int, depth: int, type_: Type) -> RunRegister:
        key = (kind, variable, repr(body), shift, depth)
        if key not in self._found:
            self._found[key] = RunRegister(len(self._found), kind, variable, body, shift, depth, type_)
        return self._found[key]

    def described(self) -> tuple[Register, ...]:
        return tuple(Register(r.name, r.type, r.kind in ZERO_AT_START, r.kind == NUMBER) for r in self)
