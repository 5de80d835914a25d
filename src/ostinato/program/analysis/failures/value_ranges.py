"""Between which whole numbers values lie, as the engine holds them: arithmetic that cannot leave 64 bits cannot fail.

Columns are bounded by their types, constants by themselves, and everything else by what it is computed from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ostinato.expr.types import Kind, Type
from ostinato.expr.typing.physical import to_physical
from ostinato.expr.values.casts import limit
from ostinato.program.column_code import ColumnCode, ColumnOp

LEAST, MOST = -(2**63), 2**63 - 1
WHOLE = (Kind.INT, Kind.DECIMAL)


@dataclass(frozen=True)
class Range:
    """Both ends belong to it."""

    low: int = LEAST
    high: int = MOST

    def __or__(self, other: Range) -> Range:
        return Range(min(self.low, other.low), max(self.high, other.high))

    @property
    def fits(self) -> bool:
        """Whether 64 bits hold all of it."""
        return self.low >= LEAST and self.high <= MOST

    def within(self, outer: range) -> bool:
        return outer.start <= self.low and self.high < outer.stop


ANY = Range()
TRUTH = Range(0, 1)
LENGTH = Range(0, 2**31)  # of a text


def of_type(type_: Type) -> Range:
    """Of what comes in as a column."""
    if type_.kind is Kind.BOOL:
        return TRUTH
    held = limit(type_)
    return Range(held.start, held.stop - 1) if type_.kind in WHOLE else ANY


def added(a: Range, b: Range) -> Range:
    return Range(a.low + b.low, a.high + b.high)


def subtracted(a: Range, b: Range) -> Range:
    return Range(a.low - b.high, a.high - b.low)


def multiplied(a: Range, b: Range) -> Range:
    corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Range(min(corners), max(corners))


def negated(a: Range) -> Range:
    return Range(-a.high, -a.low)


def magnitude(a: Range) -> Range:
    return Range(0 if a.low <= 0 <= a.high else min(abs(a.low), abs(a.high)), max(abs(a.low), abs(a.high)))


def quotient(a: Range) -> Range:
    most = max(abs(a.low), abs(a.high))
    return Range(-most, most)


def remainder(a: Range) -> Range:
    """It has the sign of the dividend."""
    return Range(min(a.low, 0), max(a.high, 0))


COMPUTED: dict[str, Callable[..., Range]] = {"add": added, "sub": subtracted, "mul": multiplied, "neg": negated, "abs": magnitude}
ONE_OF_THEM = ("coalesce", "greatest", "least")


def column_ranges(code: ColumnCode, held: Callable[[str, Type], Range]) -> list[Range]:
    """Of every operation; of one that may leave 64 bits as far as it does. `held`: those of the inputs."""
    found: list[Range] = []
    for op in code.ops:
        found.append(_range(op, [found[arg] for arg in op.args], [code.ops[arg].type for arg in op.args], held))
    return found


def _range(op: ColumnOp, args: list[Range], types: list[Type], held: Callable[[str, Type], Range]) -> Range:
    if not all(arg.fits for arg in args):
        args = [arg if arg.fits else ANY for arg in args]
    if op.op == "input":
        return held(op.params[0], op.type)
    if op.op == "literal":
        return _of_literal(op)
    if op.op == "shift":
        return args[0]
    if op.op == "case":
        values = [*args[1:-1:2], args[-1]] if len(args) % 2 else args[1::2]
        return _any_of(values)
    if op.op == "cast" and op.type.kind in WHOLE and all(type_.kind in WHOLE and type_.scale <= op.type.scale for type_ in types):
        return multiplied(args[0], Range(10 ** (op.type.scale - types[0].scale), 10 ** (op.type.scale - types[0].scale)))
    if op.op != "call":
        return ANY
    name = op.params[0]
    if name in ONE_OF_THEM:
        return _any_of(args)
    if name in ("mod", "length"):
        return remainder(args[0]) if name == "mod" else LENGTH
    if name in COMPUTED and op.type.kind in WHOLE and all(type_.kind in WHOLE for type_ in types):
        return COMPUTED[name](*args)
    return TRUTH if op.type.kind is Kind.BOOL else ANY


def _of_literal(op: ColumnOp) -> Range:
    value = op.params[0]
    if op.type.kind not in WHOLE or value is None:
        return Range(0, 0) if value is None else ANY
    number = int(to_physical(value, op.type))
    return Range(number, number)


def _any_of(ranges: list[Range]) -> Range:
    whole = ranges[0]
    for one in ranges[1:]:
        whole |= one
    return whole
