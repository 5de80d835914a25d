"""The functions that were added to the language in this process, by name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from ostinato.expr.user_function import UserFunction

_REGISTERED: dict[str, UserFunction] = {}  # by their names in lower case
_NUMBERS = count(1)
_state = 0


def add(function: UserFunction) -> None:
    global _state
    _REGISTERED[function.name.lower()] = function
    _state = next(_NUMBERS)


def remove(name: str) -> UserFunction | None:
    global _state
    _state = next(_NUMBERS)
    return _REGISTERED.pop(name.lower(), None)


def state() -> int:
    """Another number whenever a function has come or gone: what was compiled before may mean something else now."""
    return _state


def find(name: str) -> UserFunction | None:
    """Names are looked up without regard to case, as those of all functions."""
    return _REGISTERED.get(name.lower())


def names() -> Iterator[str]:
    return iter([function.name for function in _REGISTERED.values()])
