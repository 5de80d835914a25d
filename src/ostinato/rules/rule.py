"""A rule: a query of a set as it was given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

OPTIONS = ("language", "type_by", "time", "output", "ties", "dialect", "without", "strategy")  # those of `ost.compile`


@dataclass(frozen=True, slots=True)
class Rule:
    """`options` are those of `ost.compile` that were given, in order of their names. One that is not `enabled` is known, and does not
    run."""

    id: str
    text: str
    options: tuple[tuple[str, Any], ...] = ()
    enabled: bool = True

    @property
    def told(self) -> dict[str, Any]:
        """The options as they are passed on."""
        return {name: dict(value) if name == "time" and isinstance(value, tuple) else value for name, value in self.options}


def options_of(given: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """In one form, so that they can be compared: nothing that says nothing, lists as tuples, mappings as pairs."""
    return tuple((name, _frozen(given[name])) for name in sorted(given) if given[name] is not None)


def _frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return tuple(sorted((name, one) for name, one in value.items() if one is not None))
    return tuple(value) if isinstance(value, list | tuple) else value
