"""Functions of users, compiled: each gets an entry that kernels call by its address, see `function_calls`. Nothing is stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.errors import NumbaError, UnsupportedBytecodeError
from numba.extending import intrinsic

from ostinato.base.errors import UnsupportedError
from ostinato.expr.types import Kind
from ostinato.expr.user_function import UserFunction
from ostinato.expr.values.user_values import single_value
from ostinato.kernels._jit import config, entry_for_c, user_code
from ostinato.kernels.scalar.arithmetic import HAS_FAILED, IS_NULL, IS_VALUE
from ostinato.kernels.scalar.function_calls import FAILED_HERE, PYTHON_ENTRIES

LONGEST = 300  # characters of the compiler's reason

_WORD = ir.IntType(64)
_ENTRY = types.int64(types.CPointer(types.int64), types.CPointer(types.uint8), types.CPointer(types.int64))
_HELD = {Kind.FLOAT: types.float64, Kind.BOOL: types.boolean}
_FITTING: dict[Any, tuple[type, ...]] = {
    types.float64: (types.Float, types.Integer, types.Boolean),
    types.int64: (types.Integer, types.Boolean),
    types.boolean: (types.Boolean,),
}
_COMPILED: WeakKeyDictionary[UserFunction, CompiledFunction] = WeakKeyDictionary()


def compiled(function: UserFunction) -> CompiledFunction:
    """Once for each function, as long as somebody has it."""
    if function not in _COMPILED:
        _COMPILED[function] = CompiledFunction(function)
    return _COMPILED[function]


class CompiledFunction:
    """`address` is that of the entry, as long as this lives."""

    def __init__(self, function: UserFunction) -> None:
        self._body = function.body
        self._takes = [_HELD.get(type_.kind, types.int64) for type_ in function.takes]
        self._refused = np.zeros(len(function.takes), np.int64)  # the arguments with which it failed last
        if config.DISABLE_JIT:
            self._entry: Any = _python_entry(function)
            self.address = id(self._entry)
            PYTHON_ENTRIES[self.address] = self._entry
            return
        returns = _HELD.get(function.returns.kind, types.int64)
        try:
            body = user_code(function.body, tuple(self._takes))
            _check_result(function, body.overloads[tuple(self._takes)].signature.return_type, returns)
            self._entry = entry_for_c(_ENTRY, _entry(body, self._takes, returns, self._refused))
        except (NumbaError, UnsupportedBytecodeError) as error:
            raise _uncompiled(function, _reason(error)) from error
        self.address = int(self._entry.address)

    def cause(self) -> Exception | None:
        """What it raises in Python, where it failed last."""
        try:
            self._body(*(_held(word, kind) for word, kind in zip(self._refused, self._takes, strict=True)))
        except Exception as raised:  # it is what was asked for
            return raised
        return None


def _held(word: np.int64, kind: Any) -> Any:
    if kind is types.float64:
        return float(word.view(np.float64))
    return bool(word) if kind is types.boolean else int(word)


def _check_result(function: UserFunction, found: Any, wanted: Any) -> None:
    found = found.type if isinstance(found, types.Optional) else found
    if not isinstance(found, (types.NoneType, *_FITTING[wanted])):
        raise _uncompiled(function, f"it returns {found}, and {wanted} was said")


def _uncompiled(function: UserFunction, reason: str) -> UnsupportedError:
    return UnsupportedError(
        f"The function {function} cannot be compiled",
        detail=reason,
        hint="It computes with numbers alone, in the part of Python that Numba knows; register it without compiled=True to use columns",
    )


def _reason(error: Exception) -> str:
    """The compiler's first words; the rest is about its own parts."""
    lines = [line.strip() for line in str(error).splitlines()]
    said = [line for line in lines if line and not line.startswith(("Failed in", "- Resolution", "During:", "File", "[", "\x1b"))]
    return " ".join(said[:2])[:LONGEST]


def _entry(body: Any, takes: Sequence[Any], returns: Any, refused: np.ndarray) -> Callable[..., Any]:
    """What kernels call: null where an argument is, failed where one has; then the body."""
    count, kept_at = len(takes), refused.ctypes.data
    arguments, put = _arguments(takes), _put(returns)

    def entry(words, flags, result):
        for i in range(count):
            if flags[i] == HAS_FAILED:
                result[0] = words[i]  # which failure it was
                return HAS_FAILED
        for i in range(count):
            if flags[i] == IS_NULL:
                return IS_NULL
        try:
            return put(result, body(*arguments(words)))
        except Exception:  # the only word for any error that compiled code has
            kept = _memory(kept_at)
            for i in range(count):
                kept[i] = words[i]
            return FAILED_HERE

    return entry


def _arguments(takes: Sequence[Any]) -> Any:
    """Words as a tuple of what the function takes."""
    found = types.Tuple(list(takes))

    @intrinsic
    def arguments(typing, words):
        def generate(context, builder, signature, given):
            values = []
            for i, kind in enumerate(takes):
                word = builder.load(builder.gep(given[0], [ir.Constant(_WORD, i)]))
                if kind is types.float64:
                    word = builder.bitcast(word, ir.DoubleType())
                elif kind is types.boolean:
                    word = builder.icmp_signed("!=", word, ir.Constant(_WORD, 0))
                values.append(word)
            return context.make_tuple(builder, found, values)

        return found(words), generate

    return arguments


def _put(returns: Any) -> Any:
    """What the function returned as a word; None is null."""

    @intrinsic
    def put(typing, result, value):
        def generate(context, builder, signature, given):
            pointer, found = given
            kind, flag = signature.args[1], ir.Constant(_WORD, IS_VALUE)
            if isinstance(kind, types.NoneType):
                return ir.Constant(_WORD, IS_NULL)
            if isinstance(kind, types.Optional):
                held = context.make_helper(builder, kind, found)
                found, kind, flag = held.data, kind.type, builder.zext(held.valid, _WORD)
            word = context.cast(builder, found, kind, returns)
            if returns is types.float64:
                word = builder.bitcast(word, _WORD)
            elif returns is types.boolean:
                word = builder.zext(word, _WORD)
            builder.store(word, pointer)
            return flag

        return types.int64(result, value), generate

    return put


@intrinsic
def _memory(typing, address):
    def generate(context, builder, signature, given):
        return builder.inttoptr(given[0], _WORD.as_pointer())

    return types.CPointer(types.int64)(types.int64), generate


def _python_entry(function: UserFunction) -> Callable[..., int]:
    """The same where nothing is compiled."""
    kinds = [_HELD.get(type_.kind, types.int64) for type_ in function.takes]

    def entry(words: np.ndarray, flags: np.ndarray, result: np.ndarray) -> int:
        own = flags[: len(kinds)].tolist()
        if HAS_FAILED in own:
            result[0] = words[own.index(HAS_FAILED)]
            return HAS_FAILED
        if IS_NULL in own:
            return IS_NULL
        try:
            value = single_value(function, [_held(word, kind) for word, kind in zip(words, kinds, strict=False)])
        except Exception:  # told by its flag, as the compiled one
            return FAILED_HERE
        if value is None:
            return IS_NULL
        result[0] = np.float64(value).view(np.int64) if function.returns.kind is Kind.FLOAT else value
        return IS_VALUE

    return entry
