"""A SASE+ tree back to text, one clause a line. Parsing the text gives the same tree."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.expr.reading.parse import OR
from ostinato.lang.events.render_clauses import render_clauses
from ostinato.lang.events.render_expression import render_name, render_operand
from ostinato.lang.events.syntax import Component
from ostinato.lang.sase.syntax import Alternatives, Item, SaseQuery, all_components


def render(tree: SaseQuery) -> str:
    return "\n".join(_clauses(tree))


def _clauses(tree: SaseQuery) -> Iterator[str]:
    yield f"PATTERN SEQ({', '.join(_item(item) for item in tree.items)})"
    body = " and ".join(render_operand(conjunct, OR) for conjunct in tree.conjuncts)
    if tree.strategy is not None:
        yield f"WHERE {tree.strategy.name}({', '.join(_variables(tree.items))}) {{ {body + ' ' if body else ''}}}"
    elif body:
        yield f"WHERE {body}"
    yield from render_clauses(tree.window, tree.returns, tree.composite)
    if tree.output is not None:
        yield f"OUTPUT {tree.output.name}"


def _item(item: Item) -> str:
    if isinstance(item, Component):
        return _component(item)
    if isinstance(item, Alternatives):
        return f"({' | '.join(_branch(branch) for branch in item.branches)})"
    inside = ", ".join(_component(component) for component in item.components)
    return f"~({inside})" if len(item.components) == 1 else f"~(SEQ({inside}))"


def _branch(items: tuple[Item, ...]) -> str:
    shown = ", ".join(_item(item) for item in items)
    return shown if len(items) == 1 else f"SEQ({shown})"


def _component(component: Component) -> str:
    return f"{render_name(component.event_type)}{component.quantifier.value} {_variable(component)}"


def _variable(component: Component) -> str:
    return render_name(component.variable) + ("[ ]" if component.quantifier.is_kleene else "")


def _variables(items: tuple[Item, ...]) -> list[str]:
    return [_variable(component) for component in all_components(items)]
