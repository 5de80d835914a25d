"""Conditions of event patterns: typed, and refused where no event of a list is the one they speak of."""

from __future__ import annotations

from ostinato.base.errors import TypeMismatchError, UnsupportedError
from ostinato.expr.nodes import Expr
from ostinato.expr.types import BOOL, Kind
from ostinato.expr.typing.coerce import coerce
from ostinato.expr.typing.infer import infer
from ostinato.lang.events.references import Mention
from ostinato.lang.events.syntax import At, Component
from ostinato.lang.streams.stream import Stream

FINISHED = (At.LAST, At.ALL)


def condition_of(expr: Expr, stream: Stream, conjunct: Expr) -> Expr:
    typed = infer(expr, stream.schema)
    if typed.type is None or typed.type.kind not in (Kind.BOOL, Kind.NULL):
        raise TypeMismatchError(
            f"A condition must be true or false; this is of type {typed.type}", hint="Compare it with something", span=conjunct.span
        )
    return coerce(typed, BOOL)  # a bare NULL is a condition, too: one that never holds


def stepping_with_later(mention: Mention, last: Component) -> UnsupportedError:
    name = mention.component.variable
    return UnsupportedError(
        f"`{name}{mention.at.value}` is compared with `{last.variable}`, which comes later in the pattern",
        detail=f"When `{last.variable}` is selected, `{name}` is finished, and no element of it is the current one.",
        hint=f"Use {name}[1], {name}[{name}.LEN] or an aggregate over {name}[]",
        span=mention.span,
    )


def stepping_with_finished(mention: Mention) -> UnsupportedError:
    name = mention.component.variable
    return UnsupportedError(
        f"The finished `{name}` is compared with its own elements while they are still being selected",
        detail=f"{name}[i], {name}[i-1] and {name}[..i-1] are checked at every element; {name}.LEN, {name}[{name}.LEN] and aggregates"
        f" over {name}[] only when {name} is complete.",
        hint=f"Use {name}[i-1], or an aggregate over {name}[..i-1]",
        span=mention.span,
    )
