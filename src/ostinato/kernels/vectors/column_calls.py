"""Column code that scalar code calls by an address, as it calls functions of users: Python computes it, for one row at a time."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from ostinato.base.errors import DataError
from ostinato.expr.types import Kind, Type
from ostinato.kernels._jit import config
from ostinato.kernels.scalar.arithmetic import HAS_FAILED, IS_NULL, IS_VALUE
from ostinato.kernels.scalar.function_calls import FAILED_HERE, PYTHON_ENTRIES
from ostinato.kernels.scalar.scalar import evaluation_error, function_that_failed
from ostinato.kernels.vectors.evaluate import Evaluator
from ostinato.kernels.vectors.vector import Failure, Vector
from ostinato.program.scalar_code import ColumnCall, ScalarCode

MOST_KNOWN = 1 << 12  # results that are remembered
_ENTRY = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_uint8), ctypes.POINTER(ctypes.c_int64))
_NULL, _FAILED = np.zeros(1, np.bool_), np.ones(1, np.bool_)
_last_failures: dict[ColumnCall, DataError] = {}

Word = tuple[int, int]  # a value as 64 bits, and its flag


class Texts(Protocol):
    """Where texts have their codes."""

    @property
    def strings(self) -> pa.Array: ...

    def codes_of(self, strings: pa.Array) -> np.ndarray: ...


class CalledColumns:
    """`address` is that of the entry, as long as this lives. What Python raises waits in `raised`, since nothing passes through compiled
    code; what could not be computed is a value that failed. `has_grown` is called when a text was made."""

    def __init__(self, call: ColumnCall, texts: Texts, has_grown: Callable[[], None]) -> None:
        self._call = call
        self._texts = texts
        self._has_grown = has_grown
        self._evaluator = Evaluator(call.columns)
        self._known: dict[tuple[Word, ...], Word] = {}
        self.raised: BaseException | None = None
        if config.DISABLE_JIT:
            self._entry: Any = self._called
            self.address = id(self._entry)
            PYTHON_ENTRIES[self.address] = self._entry
        else:
            self._entry = _ENTRY(self._called)
            self.address = ctypes.cast(self._entry, ctypes.c_void_p).value or 0

    def forget(self) -> None:
        """Texts have other codes now."""
        self._known.clear()

    def _called(self, words: Any, flags: Any, result: Any) -> int:
        if self.raised is not None:
            return FAILED_HERE
        try:
            given = tuple((int(words[i]), int(flags[i])) for i in range(len(self._call.takes)))
            if given not in self._known:
                if len(self._known) >= MOST_KNOWN:
                    self._known.clear()
                self._known[given] = self._computed(given)
            result[0], flag = self._known[given]
        except BaseException as raised:
            self.raised = raised
            return FAILED_HERE
        return flag

    def _computed(self, given: tuple[Word, ...]) -> Word:
        try:
            (value,) = self._evaluator.evaluate(1, lambda name: self._vector(self._call.takes[int(name)], *given[int(name)]))
        except DataError as error:
            before = next((word for word in given if word[1] == HAS_FAILED), None)
            _last_failures[self._call] = error
            return before or (0, FAILED_HERE)
        if value.valid is not None and not value.valid[0]:
            return 0, IS_NULL
        return self._word(value), IS_VALUE

    def _vector(self, type_: Type, word: int, flag: int) -> Vector:
        valid = _NULL if flag == IS_NULL else None
        failure = Failure(_FAILED, "A value that it is computed from") if flag == HAS_FAILED else None
        if type_.kind is Kind.STRING:
            known = flag == IS_VALUE
            held = self._texts.strings.slice(word, 1) if known else pa.array([""], pa.large_string())
            return Vector(type_, np.zeros(1, np.int64), valid, held, failure)
        data = np.array([word if flag == IS_VALUE else 0], np.int64)
        if type_.kind is Kind.FLOAT:
            return Vector(type_, data.view(np.float64), valid, None, failure)
        return Vector(type_, data.astype(np.bool_) if type_.kind is Kind.BOOL else data, valid, None, failure)

    def _word(self, value: Vector) -> int:
        if value.type.kind is Kind.STRING:
            (code,) = self._texts.codes_of(value.dictionary.slice(int(value.data[0]), 1))
            self._has_grown()
            return int(code)
        if value.type.kind is Kind.FLOAT:
            return int(value.data.view(np.int64)[0])
        return int(value.data[0])


def error_of(scalar: ScalarCode, code: int) -> DataError:
    """As `evaluation_error`, with what column code has to say."""
    called = function_that_failed(scalar, code)
    known = _last_failures.get(called) if isinstance(called, ColumnCall) else None
    return evaluation_error(scalar, code) if known is None else DataError(known.message, detail=known.detail, hint=known.hint)
