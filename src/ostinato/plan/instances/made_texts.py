"""Texts that are made of values of several events: they have a code when they are made, and no place in the order of those that came."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.expr.nodes import Call, Cast, Expr, Literal, type_of
from ostinato.expr.types import Kind
from ostinato.plan.instances.chain import Link
from ostinato.plan.instances.one_event import one_event
from ostinato.plan.scalar.scalar_functions import RULES

ORDERED = ("lt", "le", "gt", "ge", "greatest", "least")


def makes_text(expr: Expr) -> bool:
    """Whether a text comes about that came with no event."""
    if one_event(expr) is not None:
        return False
    made = type_of(expr).kind is Kind.STRING and ((isinstance(expr, Call) and expr.name not in RULES) or isinstance(expr, Cast))
    return made or any(makes_text(part) for part in expr.children() if not isinstance(part, Literal))


def steps_make_texts(links: Sequence[Link]) -> bool:
    """Whether instances carry such."""
    found = (link.repetition for link in links if link.repetition is not None)
    return any(makes_text(value) for step in found for value in (*step.changed.values(), *step.initial.values()))


def orders_texts(expr: Call) -> bool:
    return expr.name in ORDERED and any(type_of(arg).kind is Kind.STRING for arg in expr.args)
