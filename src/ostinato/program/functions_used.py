"""Which functions that were added to the language a program calls."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from ostinato.base.errors import OstinatoError
from ostinato.expr.types import Type
from ostinato.expr.user_function import FunctionSignature, UserFunction, linked
from ostinato.program.pattern import Pattern
from ostinato.program.program import Program


def functions_of(program: Program | Pattern) -> dict[str, UserFunction]:
    """By name, which stands for one function alone."""
    found: dict[str, UserFunction] = {}
    for signature in _signatures(program):
        function = linked(signature)
        if found.setdefault(function.name, function) != function:
            hint = "register them under names of their own, and compile the queries again"
            raise OstinatoError(f"different functions are called {function.name}", hint=hint)
    return found


def _signatures(value: object) -> Iterator[FunctionSignature]:
    if isinstance(value, FunctionSignature):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _signatures(item)
    elif dataclasses.is_dataclass(value) and not isinstance(value, Type):
        for field in dataclasses.fields(value):
            yield from _signatures(getattr(value, field.name))
