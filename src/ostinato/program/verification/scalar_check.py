"""Verifies scalar code: every operand is there, holds what its operation takes, and is written before it is read."""

from __future__ import annotations

from ostinato.expr.types import Kind, Type
from ostinato.program.instances import InstanceAutomaton
from ostinato.program.opcodes import SIGNATURES, SPACES, Held, Op, Space, Wants, shape, words_read
from ostinato.program.pattern import Pattern
from ostinato.program.scalar_code import ColumnCall, ScalarCode
from ostinato.program.verification.column_check import check_columns
from ostinato.program.verification.function_check import check_signature
from ostinato.program.verification.requirement import require
from ostinato.program.verification.type_check import check_type

MAX_TEMPS = 1 << 20
INT64 = range(-(2**63), 2**63)
KNOWN_OPS = frozenset(int(op) for op in Op)
HELD_AS = {
    Kind.NULL: Held.NULL,
    Kind.FLOAT: Held.FLOAT,
    Kind.STRING: Held.TEXT,
    Kind.LIST: Held.PLACE,
    Kind.OPAQUE: Held.PLACE,
}
CONSTANTS = {Space.INT: Held.WHOLE, Space.FLOAT: Held.FLOAT, Space.STRING: Held.TEXT}


def held_as(type_: Type) -> Held:
    return HELD_AS.get(type_.kind, Held.WHOLE)


def check_scalar(pattern: Pattern) -> None:
    code = pattern.scalar
    length = len(code.op)
    require(len(code.a) == len(code.b) == len(code.c) == length, "operands for every scalar operation")
    require(all(op in KNOWN_OPS for op in code.op), "known scalar operations")
    require(all(number in INT64 for number in (*code.ints, *code.a, *code.b, *code.c)), "numbers that fit 64 bits")
    ends = (0, *(end for _, end in code.blocks))
    chained = all(start == before <= end for before, (start, end) in zip(ends, code.blocks, strict=False))
    require(chained and ends[-1] == length, "scalar blocks one after the other, as long as the code")
    for register in pattern.registers:  # these begin with a number
        kinds = (Kind.INT,) if register.number else (Kind.INT, Kind.FLOAT)
        counts = register.counter or register.number
        require(
            not counts or (register.counter != register.number and register.type.kind in kinds), "registers of numbers that begin with one"
        )
    for function in code.functions:
        if isinstance(function, ColumnCall):
            require(isinstance(pattern, InstanceAutomaton), "columns that automata with instances call")
            check_column_call(function)
        else:
            check_signature(function)
            require(function.compiled, "functions that are compiled, for conditions over the match")
    block = _Block(pattern)
    for start, end in code.blocks:
        block.check(start, end)


def check_column_call(call: ColumnCall) -> None:
    """Its code reads the values that it is called with, and nothing else."""
    require(len(call.takes) > 0 and all(type_.is_computable for type_ in call.takes), "columns of values that scalar code has")
    for type_ in call.takes:
        check_type(type_)
    given = {str(number): type_ for number, type_ in enumerate(call.takes)}
    check_columns(call.columns, "scalar code", given.get)
    require(len(call.columns.results) == 1 and call.returns.is_computable, "columns of one result that scalar code can hold")


def binds(code: ScalarCode, block: int) -> bool:
    """Whether a block brings the registers of a run up to date: those that test only leave them alone."""
    return any(code.op[at] == Op.COPY for at in range(*code.blocks[block]))


def is_block(pattern: Pattern, block: int, binding: bool) -> bool:
    """A block that binds a row copies the registers; one that only tests a run leaves them as they are."""
    if block < 0:
        return block == -1
    return block < len(pattern.scalar.blocks) and binds(pattern.scalar, block) == binding


class _Block:
    """Follows what the temporaries of a block hold."""

    def __init__(self, pattern: Pattern) -> None:
        self._code = pattern.scalar
        self._slots = [held_as(type_) for type_ in pattern.slots]
        self._registers = [held_as(register.type) for register in pattern.registers]
        self._counts = {
            Space.INT: len(self._code.ints), Space.FLOAT: len(self._code.floats), Space.STRING: len(self._code.strings), Space.NULL: 1,
        }  # fmt: skip
        self._temps: dict[int, Held] = {}

    def check(self, start: int, end: int) -> None:
        self._temps = {}  # what other blocks left in them is of any kind
        copied = False
        for at in range(start, end):
            op = Op(self._code.op[at])
            require((op is Op.STORE) == copied, "scalar blocks that test, copy and store in this order")
            copied = copied or op is Op.COPY
            self._call(at) if op is Op.CALL else self._operation(op, at)

    def _operation(self, op: Op, at: int) -> None:
        signature, form = SIGNATURES[op], shape(op)
        target = self._code.c[at]
        if form[2] == "t":
            require(0 <= target < MAX_TEMPS, "places for scalar results")
        elif form[2] == "r":
            require(0 <= target < len(self._registers), "places for scalar results")
        alike: list[Held] = [self._temporary(target)] if signature.keeps else []
        found: list[Held] = []
        for word, wanted in ((self._code.a[at], signature.a), (self._code.b[at], signature.b)):
            if wanted is None:
                continue
            held = self._held(word)
            found.append(held)
            if wanted is Wants.ALIKE or wanted is Wants.CODES:
                require(wanted is Wants.ALIKE or held is not Held.PLACE, "scalar operands of the kind that is computed with")
                alike.append(held)
            else:
                require(wanted is Wants.ANY or held in (wanted, Held.NULL), "scalar operands of the kind that is computed with")
        kinds = set(alike) - {Held.NULL}
        require(len(kinds) <= 1 and not (signature.a is Wants.CODES and Held.FLOAT in kinds), "scalar operands that are alike")
        self._write(op, target, _result(signature.c, found, next(iter(kinds), Held.NULL), Wants.ANY in (signature.a, signature.b)))

    def _call(self, at: int) -> None:
        index, space = divmod(self._code.a[at], SPACES)
        require(space == Space.FUNCTION and 0 <= index < len(self._code.functions), "calls of functions that it names")
        function, target = self._code.functions[index], self._code.c[at]
        require(0 <= target < MAX_TEMPS, "places for scalar results")
        for word, type_ in zip(words_read(self._code, at)[1:], function.takes, strict=True):
            require(word % SPACES == Space.TEMP, "arguments side by side")
            require(self._held(word) in (held_as(type_), Held.NULL), "arguments that the function takes")
        self._temps[target] = held_as(function.returns)

    def _write(self, op: Op, target: int, held: Held | None) -> None:
        if held is None:
            return
        if op is Op.STORE:
            require(held in (self._registers[target], Held.NULL), "scalar results of the kind that their registers hold")
        else:
            self._temps[target] = held

    def _held(self, word: int) -> Held:
        index, space = divmod(word, SPACES)
        if space == Space.TEMP:
            return self._temporary(index)
        if space in (Space.SLOT, Space.REGISTER):
            kinds = self._slots if space == Space.SLOT else self._registers
            require(0 <= index < len(kinds), "scalar operands that are held somewhere")
            return kinds[index]
        require(
            0 <= index < self._counts.get(Space(space), 0) if space in self._counts else False, "scalar operands that are held somewhere"
        )
        return CONSTANTS.get(Space(space), Held.NULL)

    def _temporary(self, index: int) -> Held:
        require(index in self._temps, "scalar operands that were computed before")
        return self._temps[index]


def _result(wanted: Held | Wants | None, found: list[Held], alike: Held, total: bool) -> Held | None:
    """`total`: the operation has a result also where an operand is null."""
    if wanted is None or isinstance(wanted, Wants):
        return None if wanted is None else alike
    return wanted if total or any(held is not Held.NULL for held in found) else Held.NULL
