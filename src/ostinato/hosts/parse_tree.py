"""Statements as the parsers of hosts give them, in JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def dictionaries_in(tree: object) -> Iterator[dict[str, Any]]:
    """All of them, without recursion: the author decides how deep they are nested."""
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
