"""The functions that were added to the language in this process, by name."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.expr.user_function import UserFunction

_REGISTERED: dict[str, UserFunction] = {}  # by their names in lower case


def add(function: UserFunction) -> None:
    _REGISTERED[function.name.lower()] = function


def remove(name: str) -> UserFunction | None:
    return _REGISTERED.pop(name.lower(), None)


def find(name: str) -> UserFunction | None:
    """Names are looked up without regard to case, as those of all functions."""
    return _REGISTERED.get(name.lower())


def names() -> Iterator[str]:
    return iter([function.name for function in _REGISTERED.values()])
