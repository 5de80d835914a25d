"""How the verifier refuses a program."""

from __future__ import annotations

from ostinato.base.errors import StateError


def require(holds: bool, what: str) -> None:
    if not holds:
        raise StateError(f"the program is not valid: it needs {what}")
