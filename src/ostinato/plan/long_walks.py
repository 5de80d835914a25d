"""Row patterns whose attempts can each walk to the end of their partition, in vain: said when a query is compiled."""

from __future__ import annotations

from ostinato.base.errors import OstinatoError
from ostinato.base.span import Span
from ostinato.program.program import Program
from ostinato.program.searches import walked_through


class QuadraticWarning(UserWarning):
    """The time that a query takes can grow with the square of the rows of a partition."""


def long_walk(program: Program, span: Span | None, text: str) -> QuadraticWarning | None:
    """`span` is the pattern's place in the text."""
    if program.within >= 0:
        return None
    found = walked_through(program)
    if found is None:
        return None
    name = program.variables[found]
    error = OstinatoError(
        f"Every start may be followed to the end of its partition: `{name}` takes any row, and what comes behind it cannot be searched",
        hint=f"Bound it with WITHIN, give {name} a condition, or compare values of a row with values of the variables before {name} alone",
        span=span,
        text=text,
    )
    return QuadraticWarning(str(error))
