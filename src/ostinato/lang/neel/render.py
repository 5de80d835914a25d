"""A NEEL tree back to text, one clause a line. Parsing the text gives the same tree."""

from __future__ import annotations

from ostinato.expr.nodes import Expr
from ostinato.expr.reading.parse import OR
from ostinato.lang.events.render_clauses import render_clauses
from ostinato.lang.events.render_expression import render_name, render_operand
from ostinato.lang.neel.syntax import Event, Member, NeelQuery, Negated


def render(tree: NeelQuery) -> str:
    return "\n".join((f"PATTERN {_member(tree.pattern)}", *render_clauses(tree.window, tree.returns, tree.composite)))


def _member(member: Member) -> str:
    if isinstance(member, Event):
        return _event(member)
    if isinstance(member, Negated):
        inside = _member(member.item)
        return f"!({inside}, {_conditions(member.conditions)})" if member.conditions else f"!{inside}"
    items = [_member(item) for item in member.members]
    conditions = [_conditions(member.conditions)] if member.conditions else []
    return f"{member.operator.value}({', '.join(items + conditions)})"


def _conditions(conditions: tuple[Expr, ...]) -> str:
    return " AND ".join(render_operand(condition, OR) for condition in conditions)


def _event(event: Event) -> str:
    kind = render_name(event.event_type) + event.quantifier.value
    brackets = "[ ]" if event.quantifier.is_kleene else ""
    return f"{kind} {render_name(event.variable)}{brackets}" if event.named else kind
