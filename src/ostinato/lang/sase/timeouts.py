"""`OUTPUT timeouts`: which queries can be asked what did not complete in time."""

from __future__ import annotations

from ostinato.base.errors import QuerySyntaxError, UnsupportedError
from ostinato.lang.sase.syntax import Negation, SaseQuery


def refuse_timeouts(tree: SaseQuery) -> None:
    span = tree.output.span if tree.output is not None else None
    if tree.window is None:
        raise QuerySyntaxError("OUTPUT timeouts needs WITHIN: without it no run is ever timed out", hint="Add a window", span=span)
    for item in tree.items:
        if isinstance(item, Negation):
            hint = "Leave the negation out, or say what must be missing by a negation at the end of the pattern and OUTPUT all"
            raise UnsupportedError("OUTPUT timeouts is not offered together with a negation", hint=hint, span=item.span)
