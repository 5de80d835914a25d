"""Which functions that were added to the language a program calls."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from ostinato.base.errors import OstinatoError
from ostinato.expr.types import Type
from ostinato.expr.user_function import FunctionSignature, UserFunction, linked
from ostinato.program.pattern import Pattern
from ostinato.program.program import Program

PLAIN = (int, str, float, bool, Type, type(None))


def functions_of(program: Program | Pattern) -> dict[str, UserFunction]:
    """By name, which stands for one function alone."""
    found: dict[str, UserFunction] = {}
    for signature in _signatures(program):
        function = linked(signature)
        if found.setdefault(function.name, function) != function:
            raise _different(function)
    return found


def names_called(program: Program) -> set[str]:
    """Also of a program that was read without its functions."""
    return {signature.name for signature in _signatures(program)}


def _signatures(value: object) -> Iterator[FunctionSignature]:
    if isinstance(value, FunctionSignature):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            if type(item) not in PLAIN:
                yield from _signatures(item)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            if type(part := getattr(value, field.name)) not in PLAIN:
                yield from _signatures(part)


class CalledFunctions:
    """Those of several queries: a name stands for one function in all of them, since a snapshot of them knows names alone."""

    def __init__(self) -> None:
        self._functions: dict[str, UserFunction] = {}
        self._callers: dict[str, set[str]] = {}  # by the names of functions

    def check(self, functions: Mapping[str, UserFunction]) -> None:
        for name, function in functions.items():
            if self._functions.get(name, function) != function:
                raise _different(function)

    def join(self, query: str, functions: Mapping[str, UserFunction]) -> None:
        self._functions |= functions
        for name in functions:
            self._callers.setdefault(name, set()).add(query)

    def leave(self, query: str) -> None:
        for name in [name for name, callers in self._callers.items() if query in callers]:
            self._callers[name].discard(query)
            if not self._callers[name]:
                del self._callers[name], self._functions[name]


def _different(function: UserFunction) -> OstinatoError:
    hint = "register them under names of their own, and compile the queries again"
    return OstinatoError(f"different functions are called {function.name}", hint=hint)
