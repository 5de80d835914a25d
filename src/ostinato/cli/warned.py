"""Warnings on the command line: one message each on stderr, without the Python line that gave rise to them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.text import Text


@contextmanager
def shown_once(errors: Console) -> Iterator[None]:
    """Each text once, however often the query is compiled."""
    seen: set[str] = set()
    with warnings.catch_warnings():
        python_shows = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if not category.__module__.startswith("ostinato"):
                python_shows(message, category, *place, **more)
            elif str(message) not in seen:
                seen.add(str(message))
                first, _, rest = str(message).partition("\n")
                errors.print(Text("warning: ", style="bold yellow").append(first, style="bold"), soft_wrap=True)
                if rest:
                    errors.print(Text(rest), soft_wrap=True)

        warnings.showwarning = show
        yield


@contextmanager
def said_elsewhere() -> Iterator[None]:
    """The plan says the same."""
    from ostinato.lang.situations.contradiction import ContradictionWarning
    from ostinato.lang.streams.explosion import ExplosionWarning
    from ostinato.plan.long_walks import QuadraticWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContradictionWarning)
        warnings.simplefilter("ignore", ExplosionWarning)
        warnings.simplefilter("ignore", QuadraticWarning)
        yield
