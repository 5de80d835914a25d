"""A pattern with its constants taken out: each is a column that the rows of a query have, all with the same value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from ostinato.expr.types import FLOAT, INT, STRING, Kind, Type
from ostinato.expr.typing.physical import to_physical
from ostinato.expr.values.casts import limit
from ostinato.program.code_inputs import COLUMN, POINT
from ostinato.program.column_code import ColumnCode, ColumnOp
from ostinato.program.expansion import HELD, PARAMETER
from ostinato.program.input import Column
from ostinato.program.instances import InstanceAutomaton
from ostinato.program.measure_code import MeasureCode, Point
from ostinato.program.negation import EventPoint, NegatedEvent, Negation
from ostinato.program.opcodes import SPACES, Op, Space, operand, shape
from ostinato.program.pattern import EventPattern, Pattern
from ostinato.program.scalar_code import ScalarCode
from ostinato.program.shapes.canonical_code import canonical
from ostinato.program.verification.scalar_check import binds

NARROW = Type(Kind.INT, bits=32)  # of constants that take part in arithmetic: whether that can fail follows from how large they may be
CALCULATES = ("add", "sub", "mul")
CALCULATED = (Op.ADD_INT, Op.SUB_INT, Op.MUL_INT)
TAKEN_OUT = ("eq", "ne", "lt", "le", "gt", "ge", "in", "add", "sub", "mul", "div")  # calls that take a column where a constant stands
HELD_AS: dict[int, Type] = {Space.INT: INT, Space.FLOAT: FLOAT, Space.STRING: STRING}  # constants of scalar code
LAST_ROW = Point(-1, "LAST", 0, 0)

AnyPattern = TypeVar("AnyPattern", bound=Pattern)


class Parameters:
    """Takes the constants out of one pattern; `values` are what they were, as the engine holds them."""

    def __init__(self) -> None:
        self.columns: list[Column] = []
        self.values: list[Any] = []

    def without_constants(self, pattern: AnyPattern) -> AnyPattern:
        """Constants that decide more than a value (patterns of LIKE, say) stay where they are, and so do those of conditions that have no
        row of their own."""
        pattern = self._rows(pattern)
        pattern = self._blocks(pattern)
        pattern = replace(pattern, measures=self._measures(pattern))
        if isinstance(pattern, EventPattern):
            pattern = replace(pattern, negations=tuple(map(self._negation, pattern.negations)))
        return _renamed(pattern)

    def _add(self, value: Any, type_: Type) -> str:
        name = f"{PARAMETER}{len(self.columns)}"
        self.columns.append(Column(name, type_))
        self.values.append(value)
        return name

    def _rows(self, pattern: AnyPattern) -> AnyPattern:
        return replace(pattern, rows=self._code(pattern.rows, lambda name: name))

    def _code(self, code: ColumnCode, named: Callable[[str], str]) -> ColumnCode:
        """`named`: the name that a column has in the code. A constant is taken out for every use of it: which of them happen to be equal
        does not show."""
        code = canonical(code)
        taken = _taken_out(code)
        ops: list[ColumnOp] = []
        number: dict[int, int] = {}
        for old, op in enumerate(code.ops):
            if old in taken:
                continue
            args = []
            for arg in op.args:
                if arg in taken:
                    calculates = op.op == "call" and op.params[0] in CALCULATES and op.type.kind is Kind.INT
                    ops.append(self._input(code.ops[arg], named, calculates))
                args.append(len(ops) - 1 if arg in taken else number[arg])
            number[old] = len(ops)
            ops.append(replace(op, args=tuple(args)))
        return ColumnCode(tuple(ops), tuple(number[result] for result in code.results))

    def _input(self, op: ColumnOp, named: Callable[[str], str], calculates: bool = False) -> ColumnOp:
        value = to_physical(op.params[0], op.type)
        type_ = narrow(value, op.type) if calculates else op.type
        return ColumnOp("input", (), type_, (named(self._add(value, type_)),))

    def _blocks(self, pattern: AnyPattern) -> AnyPattern:
        """Constants of blocks that bind a row become values of the row."""
        slots = _Slots(self, pattern)
        scalar = pattern.scalar
        a, b = list(scalar.a), list(scalar.b)
        for number, (start, end) in enumerate(scalar.blocks):
            if not binds(scalar, number) and not isinstance(pattern, InstanceAutomaton):  # whose conditions all look at a row
                continue
            for at in range(start, end):
                form = shape(Op(scalar.op[at]))
                calculates = scalar.op[at] in CALCULATED
                a[at] = slots.moved(a[at], calculates) if form[0] != "-" else a[at]
                b[at] = slots.moved(b[at], calculates) if form[1] != "-" else b[at]
        left = replace(scalar, a=tuple(a), b=tuple(b))
        return slots.added(replace(pattern, scalar=_without_unused(left)))

    def _measures(self, pattern: Pattern) -> MeasureCode:
        measures = pattern.measures
        if isinstance(pattern, InstanceAutomaton):
            return measures  # attributes of instances, which have no rows
        if measures.code is None or pattern.rows_per_match != "one" or pattern.output in ("count", "aggregates", "compressed"):
            return measures
        return self._over_matches(measures, everything=True)

    def _over_matches(self, measures: MeasureCode, everything: bool = False) -> MeasureCode:
        """A constant is what the last row of the match has."""
        assert measures.code is not None
        rows = self._code(measures.rows, lambda name: COLUMN + name)
        points = measures.points
        place = points.index(LAST_ROW) if LAST_ROW in points else len(points)
        before = len(self.columns)
        code = _with_shown(measures.code, self, place) if everything else measures.code
        code = self._code(code, lambda name: f"{POINT}{place}:{name}")
        if len(self.columns) > before and place == len(points):
            points = (*points, LAST_ROW)
        return replace(measures, rows=rows, points=points, code=code)

    def _negation(self, negation: Negation) -> Negation:
        items = tuple(self._negated(item, number) for number, item in enumerate(negation.items))
        return replace(negation, items=items, given=self._over_matches(negation.given))

    def _negated(self, item: NegatedEvent, number: int) -> NegatedEvent:
        if item.test is None:
            return item
        own, points = EventPoint(number, 0), item.points
        place = points.index(own) if own in points else len(points)
        before = len(self.columns)
        test = self._code(item.test, lambda name: f"event:{place}:{name}")
        if len(self.columns) > before and place == len(points):
            points = (*points, own)
        return replace(item, test=test, points=points)


def narrow(value: Any, type_: Type) -> Type:
    """The type of a constant that is calculated with."""
    return NARROW if type_.kind is Kind.INT and value in limit(NARROW) else type_


def _with_shown(code: ColumnCode, parameters: Parameters, place: int) -> ColumnCode:
    """Constants that are output as they are."""
    ops = list(code.ops)
    for number in dict.fromkeys(code.results):
        op = ops[number]
        if op.op == "literal" and op.params[0] is not None and op.type.kind in HELD:
            ops[number] = parameters._input(op, lambda name: f"{POINT}{place}:{name}")
    return replace(code, ops=tuple(ops))


def _taken_out(code: ColumnCode) -> set[int]:
    """The constants that are operands of such calls alone."""
    uses: dict[int, list[ColumnOp]] = {}
    for op in code.ops:
        for arg in op.args:
            uses.setdefault(arg, []).append(op)
    return {
        number
        for number, op in enumerate(code.ops)
        if op.op == "literal"
        and op.params[0] is not None
        and op.type.kind in HELD
        and number not in code.results
        and all(use.op == "call" and use.params[0] in TAKEN_OUT for use in uses.get(number, ()))
    }


class _Slots:
    """Further values of a row, for constants of scalar code. Known is what these are held as, and not what they mean: times are numbers."""

    def __init__(self, parameters: Parameters, pattern: Pattern) -> None:
        self._parameters = parameters
        self._first = len(pattern.slots)
        self._constants = pattern.scalar
        self._numbers: dict[tuple[int, Type], int] = {}
        self._columns: list[Column] = []

    def moved(self, word: int, calculates: bool) -> int:
        index, space = divmod(word, SPACES)
        if space not in HELD_AS:
            return word
        constants: dict[int, tuple[Any, ...]] = {
            Space.INT: self._constants.ints, Space.FLOAT: self._constants.floats, Space.STRING: self._constants.strings,
        }  # fmt: skip
        value = constants[space][index]
        type_ = narrow(value, HELD_AS[space]) if calculates else HELD_AS[space]
        if (word, type_) not in self._numbers:
            self._numbers[word, type_] = self._first + len(self._columns)
            self._columns.append(Column(self._parameters._add(value, type_), type_))
        return operand(Space.SLOT, self._numbers[word, type_])

    def added(self, pattern: AnyPattern) -> AnyPattern:
        ops, results = list(pattern.rows.ops), list(pattern.rows.results)
        for column in self._columns:
            results.append(len(ops))
            ops.append(ColumnOp("input", (), column.type, (column.name,)))
        slots = (*pattern.slots, *(column.type for column in self._columns))
        return replace(pattern, rows=ColumnCode(tuple(ops), tuple(results)), slots=slots)


def _without_unused(code: ScalarCode) -> ScalarCode:
    """Constants that nothing reads any more are no part of the form."""
    used: dict[int, dict[int, int]] = {Space.INT: {}, Space.FLOAT: {}, Space.STRING: {}}

    def moved(word: int, is_read: bool) -> int:
        index, space = divmod(word, SPACES)
        if not is_read or space not in used:
            return word
        return operand(Space(space), used[space].setdefault(index, len(used[space])))

    forms = [shape(Op(op)) for op in code.op]
    a = tuple(moved(word, form[0] != "-") for word, form in zip(code.a, forms, strict=True))
    b = tuple(moved(word, form[1] != "-") for word, form in zip(code.b, forms, strict=True))
    return replace(
        code,
        a=a,
        b=b,
        ints=tuple(code.ints[n] for n in used[Space.INT]),
        floats=tuple(code.floats[n] for n in used[Space.FLOAT]),
        strings=tuple(code.strings[n] for n in used[Space.STRING]),
    )


def _renamed(pattern: AnyPattern) -> AnyPattern:
    """What variables are called matters where it is shown."""
    registers = tuple(replace(register, name=f"r{number}") for number, register in enumerate(pattern.registers))
    pattern = replace(pattern, registers=registers, reason="")
    shown = pattern.measures.code is None or pattern.rows_per_match != "one" or pattern.output == "compressed"
    codes = [] if pattern.measures.code is None else [pattern.measures.code, pattern.measures.rows]
    if shown or any(str(op.params[0]).startswith("classifier") for code in codes for op in code.ops if op.op == "input"):
        return pattern
    return replace(pattern, variables=_numbered(pattern))


def _numbered(pattern: Pattern) -> tuple[str, ...]:
    return tuple(f"v{number}" for number in range(len(pattern.variables)))
