"""How the verifier refuses a program."""

from __future__ import annotations

from collections.abc import Mapping

from ostinato.base.errors import StateError


def require(holds: bool, what: str) -> None:
    if not holds:
        raise StateError(f"the program is not valid: it needs {what}")


def require_known(value: object, policies: Mapping[str, tuple[str, ...]]) -> None:
    """Each of these fields has one of its values."""
    for name, known in policies.items():
        require(getattr(value, name) in known, f"a known {name}")
