"""A function that somebody added to the language: what a query knows of it, and the Python function behind it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ostinato.base.errors import StateError
from ostinato.expr.types import Type


@dataclass(frozen=True)
class FunctionSignature:
    """All that a program carries: never the function itself. `compiled`: it computes with single values and is compiled, so that conditions
    over the match can call it; else it is given whole columns of Arrow. `strict`: null as soon as an argument is."""

    name: str
    takes: tuple[Type, ...]
    returns: Type
    compiled: bool
    strict: bool

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.takes))}) -> {self.returns}"

    @property
    def kind(self) -> str:
        return ("compiled" if self.compiled else "over columns") + (", null for null" if self.strict and not self.compiled else "")


@dataclass(frozen=True, repr=False)
class UserFunction(FunctionSignature):
    """With the Python function. Two are the same only if theirs are. `sandboxed`: texts of others may call it, too."""

    body: Any = field(hash=False)  # a Python function
    sandboxed: bool = False

    def __repr__(self) -> str:  # expressions and operations are told apart by their text
        return f"<function {self} at {id(self.body):#x}>"

    @property
    def signature(self) -> FunctionSignature:
        return FunctionSignature(self.name, self.takes, self.returns, self.compiled, self.strict)


def linked(signature: FunctionSignature) -> UserFunction:
    """The function itself, where somebody has put it into the program."""
    if not isinstance(signature, UserFunction):
        raise not_here(signature)
    return signature


def not_here(signature: FunctionSignature, known: FunctionSignature | None = None) -> StateError:
    found = "which is not registered here" if known is None else f"and here it is {known}, {known.kind}"
    return StateError(
        f"the query needs the function {signature}, {signature.kind}, {found}",
        hint=f'register it before: ost.functions.register("{signature.name}", ...)',
    )
