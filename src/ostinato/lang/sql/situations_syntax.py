"""The clause SITUATIONS OF table (...) as it was written."""

from __future__ import annotations

from dataclasses import dataclass, field

from ostinato.base.span import NOWHERE, Span
from ostinato.lang.situations.syntax import Definition, Name, Returned


@dataclass(frozen=True)
class SituationsOf:
    """What stands between the parentheses. `order` is the time; columns behind it order events of one time."""

    definitions: tuple[Definition, ...]
    order: tuple[Name, ...]
    partition: tuple[Name, ...] = ()
    measures: tuple[Returned, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)
