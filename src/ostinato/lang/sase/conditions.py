"""Conjuncts of WHERE to conditions: at which variable, and at which of its events, each is checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ostinato.algebra.query import Condition, When
from ostinato.base.errors import QuerySyntaxError
from ostinato.expr.nodes import Anchor, Expr, Literal, Nav
from ostinato.lang.events.conditions import FINISHED, condition_of, stepping_with_finished, stepping_with_later
from ostinato.lang.events.references import STEPPING, Mention, References
from ostinato.lang.events.syntax import At, Component, Equivalence
from ostinato.lang.sase.negation import place_negated
from ostinato.lang.sase.syntax import Item, Negation, all_components
from ostinato.lang.streams.stream import Stream


def lower_conjuncts(conjuncts: tuple[Expr, ...], items: tuple[Item, ...], stream: Stream) -> dict[str, tuple[Condition, ...]]:
    """The conditions of each variable, negated ones too, in the order of the text."""
    components = all_components(items)
    negation_of = {component: item for item in items if isinstance(item, Negation) for component in item.components}
    placed: dict[str, list[Condition]] = {component.variable: [] for component in components}
    for conjunct in conjuncts:
        refuse_equivalence(conjunct)
        references = References(components, stream)
        resolved = references.resolve(conjunct)
        if references.mentions:
            last, when = place_negated(references.mentions, negation_of) or _place(references.mentions)
            placed[last.variable].append(_condition(resolved, last, when, stream, conjunct))
        else:
            positive = [placed[component.variable] for component in components if component not in negation_of]
            _place_constant(resolved, positive, stream, conjunct)
    return {variable: tuple(conditions) for variable, conditions in placed.items()}


def _place_constant(resolved: Expr, placed: list[list[Condition]], stream: Stream, conjunct: Expr) -> None:
    """A conjunct without a variable holds for every event or for none: `true` is left out, anything else keeps all of them away."""
    typed = condition_of(resolved, stream, conjunct)
    if isinstance(typed, Literal) and typed.value is True:
        return
    for conditions in placed:
        conditions.append(Condition(typed, When.EACH, conjunct.span))


def _condition(resolved: Expr, last: Component, when: When, stream: Stream, conjunct: Expr) -> Condition:
    if when is When.FIRST:
        # The first event is the current one when this is checked: said so, the condition looks at one row only.
        resolved = _rewrite(resolved, lambda node: _first_as_current(node, last.variable))
    return Condition(condition_of(resolved, stream, conjunct), when, conjunct.span)


def _rewrite(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    return change(expr.map_children(lambda child: _rewrite(child, change)))


def _first_as_current(node: Expr, variable: str) -> Expr:
    if isinstance(node, Nav) and node.variable == variable and node.anchor is Anchor.FIRST:
        return replace(node, anchor=Anchor.LAST)
    return node


def _place(mentions: list[Mention]) -> tuple[Component, When]:
    """The variable that is bound last, and the events of it at which the conjunct is checked."""
    last = max(mentions, key=lambda mention: mention.position)
    own = [mention for mention in mentions if mention.position == last.position]
    for mention in mentions:
        if mention.position != last.position and mention.at in STEPPING:
            raise stepping_with_later(mention, last.component)
    if not last.component.quantifier.is_kleene:
        return last.component, When.EACH
    used = {mention.at for mention in own}
    if used & set(STEPPING):
        for mention in own:
            if mention.at in FINISHED:
                raise stepping_with_finished(mention)
        return last.component, When.EACH if used == {At.CURRENT} else When.LATER
    return last.component, When.FIRST if used == {At.FIRST} else When.LEAVING


def refuse_equivalence(expr: Expr) -> None:
    """Inside of an expression it is no value."""
    for node in expr.walk():
        if isinstance(node, Equivalence):
            raise QuerySyntaxError(
                "An equivalence test is a conjunct of its own", hint="Join it to the others with `and` or a comma", span=node.span
            )
