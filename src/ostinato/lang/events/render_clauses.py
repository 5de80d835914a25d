"""The clauses WITHIN and RETURN back to text."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.lang.events.parse_clauses import CALLED
from ostinato.lang.events.render_expression import render_expression, render_name
from ostinato.lang.events.syntax import Return
from ostinato.lang.parsed_query import Composite
from ostinato.lang.streams.window import Window


def render_clauses(window: Window | None, returns: tuple[Return, ...], composite: Composite | None) -> Iterator[str]:
    if window is not None:
        yield f"WITHIN {_window(window)}"
    if returns:
        items = ", ".join(_return(item) for item in returns)
        yield f"RETURN {items}" if composite is None else f"RETURN {_event(composite.name)}({items})"


def _window(window: Window) -> str:
    if window.unit is None:
        return window.length
    return f"{window.length} {window.unit}s"


def _event(name: str) -> str:
    return f'"{name}"' if name.lower() in CALLED else render_name(name)


def _return(item: Return) -> str:
    return render_expression(item.expr) + (f" AS {render_name(item.name)}" if item.name is not None else "")
