"""How large a plan becomes before Spark has taken it in: common table expressions are put in wherever they are named, and CUBE stands for
all subsets. Spark's planning cannot be interrupted, so a statement of somebody else has to be small."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ostinato.hosts.parse_tree import dictionaries_in

MOST_PARTS = 20_000
MOST_TABLES = 256  # and subqueries
MOST_GROUPINGS = 256
DEFINITIONS = "cteRelations"


@dataclass
class _Size:
    """Of a piece of the tree: its parts, the tables among them, and the names that it has of others."""

    parts: int = 0
    tables: int = 0
    names: list[str] = field(default_factory=list)


def is_too_large(tree: object) -> bool:
    """Of the plan as Spark's parser writes it down."""
    definitions: dict[str, _Size] = {}
    for part in dictionaries_in(tree):
        for entry in part.get(DEFINITIONS) or ():
            own = _size(entry.get("_2"))
            known = definitions.setdefault(str(entry.get("_1")).lower(), own)
            known.parts, known.tables = max(known.parts, own.parts), max(known.tables, own.tables)
            if known is not own:  # of two with one name, both may be meant
                known.names += own.names
    whole = _expanded(_size(tree), definitions)
    return whole.parts > MOST_PARTS or whole.tables > MOST_TABLES or _groupings(tree) > MOST_GROUPINGS


def _size(tree: object) -> _Size:
    found = _Size()
    for part in _without_definitions(tree):
        kind = str(part.get("class", ""))
        found.parts += bool(kind)
        if kind.endswith((".UnresolvedRelation", ".UnresolvedTableValuedFunction", ".UnresolvedInlineTable")):
            found.tables += 1
            found.names.append(str(part.get("multipartIdentifier", "")).strip("[]").lower())
    return found


def _without_definitions(tree: object) -> Iterator[dict[str, Any]]:
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            waiting += [value for name, value in part.items() if name != DEFINITIONS]
        elif isinstance(part, list):
            waiting += part


def _expanded(whole: _Size, definitions: dict[str, _Size]) -> _Size:
    """Names that stand for each other in a circle are counted once: in their scopes they are different tables."""
    done: dict[str, _Size] = {}
    for name in _innermost_first(whole.names, definitions):
        done[name] = _sum(definitions[name], done)
    return _sum(whole, done)


def _innermost_first(names: Iterable[str], definitions: dict[str, _Size]) -> Iterator[str]:
    seen: set[str] = set()
    waiting = [(name, False) for name in dict.fromkeys(names)]
    while waiting:
        name, looked_into = waiting.pop()
        if looked_into:
            yield name
        elif name in definitions and name not in seen:
            seen.add(name)
            waiting.append((name, True))
            waiting += [(inner, False) for inner in dict.fromkeys(definitions[name].names)]


def _sum(own: _Size, done: dict[str, _Size]) -> _Size:
    inner = [done[name] for name in own.names if name in done]
    return _Size(own.parts + sum(size.parts for size in inner), own.tables + sum(size.tables for size in inner))


def _groupings(tree: object) -> int:
    """How many sets a GROUP BY has, those of all of them multiplied."""
    count = 1
    for part in dictionaries_in(tree):
        kind, size = str(part.get("class", "")), int(part.get("num-children") or 0)
        if kind.endswith(".Cube"):
            count *= 1 << min(size, 64)
        elif kind.endswith((".Rollup", ".GroupingSets")):
            count *= size + 1
    return count
