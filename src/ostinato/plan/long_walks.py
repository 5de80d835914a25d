"""Patterns whose attempts can each walk to the end of their partition, in vain: said when a query is compiled."""

from __future__ import annotations

from ostinato.base.errors import OstinatoError
from ostinato.base.span import Span
from ostinato.program.analysis.met_runs import met_in_vain
from ostinato.program.analysis.walks import walked_through
from ostinato.program.pattern import EventPattern, Pattern, RowPattern


class QuadraticWarning(UserWarning):
    """The time that a query takes can grow with the square of the rows of a partition."""


def quadratic(pattern: Pattern, span: Span | None, text: str) -> QuadraticWarning | None:
    """`span` is the pattern's place in the text."""
    if isinstance(pattern, RowPattern):
        return _long_walk(pattern, span, text)
    return _long_wait(pattern, span, text) if isinstance(pattern, EventPattern) else None


def _long_walk(pattern: RowPattern, span: Span | None, text: str) -> QuadraticWarning | None:
    found = walked_through(pattern) if pattern.within < 0 else None
    if found is None:
        return None
    name = pattern.variables[found]
    message = (
        f"Every start may be followed to the end of its partition, in vain: as long as `{name}` can take them, rows are visited one by one"
    )
    way_out = f"let what comes behind {name} compare one value of a row with values of the variables before {name}"
    return _warning(message, way_out, span, text)


def _long_wait(pattern: EventPattern, span: Span | None, text: str) -> QuadraticWarning | None:
    """The same for event patterns, by the runs that wait."""
    found = met_in_vain(pattern) if pattern.within < 0 else None
    if found is None:
        return None
    name = pattern.variables[found]
    message = f"Every event may be compared with all partial matches that wait for `{name}`, in vain: nothing ends them"
    return _warning(message, f"compare one value of {name} with values of the events before it, by =, < or >", span, text)


def _warning(message: str, way_out: str, span: Span | None, text: str) -> QuadraticWarning:
    return QuadraticWarning(str(OstinatoError(message, hint=f"Bound it with WITHIN, or {way_out}", span=span, text=text)))
