"""One query of a text, parsed: its tree, which only its language knows, and what is asked of every tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from ostinato.base.span import NOWHERE, Span

Tree = TypeVar("Tree")


@dataclass(frozen=True)
class Composite:
    """What a query returns is an event of this type."""

    name: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class ParsedQuery(Generic[Tree]):
    """`span` is the place of the text at which the whole pattern is shown, `places` are those of its variables, and `constraints` those of
    what is said between two of them, in their order: warnings and refusals of later stages point there. `reads` are the names that it asks
    for, of streams or of event types; `composite` names the events that it returns, for those after it. `relation` is what the SQL around a
    clause calls its matches. What the text returns is the result of the last query that is `returned`; some that nothing reads, or that
    read the result, may stand beside it."""

    tree: Tree
    span: Span
    places: Mapping[str, Span] = field(default_factory=dict)
    constraints: tuple[Span, ...] = ()
    reads: tuple[str, ...] = ()
    composite: Composite | None = None
    relation: str | None = None
    returned: bool = True
