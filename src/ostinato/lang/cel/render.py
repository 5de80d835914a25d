"""A CEL tree back to text. Parsing the text gives the same tree."""

from __future__ import annotations

from ostinato.lang.cel.render_expression import render_expression, render_name
from ostinato.lang.cel.syntax import CelQuery, Filter, Fold, Item, Next, Node, Select, StreamName


def render(query: CelQuery) -> str:
    """What publishes by itself stands in parentheses, for the query may publish too."""
    publishes = isinstance(query.body, Select) and query.body.published is not None
    whole = f"SELECT * FROM {_node(query.body)}" if publishes else _whole(query.body)
    return whole + ("" if query.published is None else f"\nPUBLISH {render_name(query.published.name)}")


def _whole(node: Node) -> str:
    """Where nothing stands around it."""
    if not isinstance(node, Select):
        return f"SELECT * FROM {_node(node)}"
    items = "*" if node.items is None else ", ".join(map(_item, node.items))
    published = "" if node.published is None else f" PUBLISH {render_name(node.published.name)}"
    return f"SELECT {items} FROM {_node(node.item)}{published}"


def _node(node: Node) -> str:
    match node:
        case StreamName(name):
            return render_name(name)
        case Filter(condition, item):
            return f"FILTER {{{render_expression(condition)}}} ({_unparenthesised(item)})"
        case Next(first, second, condition):
            braces = "" if condition is None else f" {{{render_expression(condition)}}}"
            return f"{_node(first)} NEXT{braces} {_operand(second)}"
        case Fold(first, second, relevant, step, aggregates):
            items = (render_expression(relevant), render_expression(step), *map(_item, aggregates))
            return f"{_node(first)} FOLD {{{', '.join(items)}}} {_operand(second)}"
    return f"({_whole(node)})"


def _unparenthesised(node: Node) -> str:
    return _whole(node) if isinstance(node, Select) else _node(node)


def _operand(node: Node) -> str:
    """On the right: NEXT and FOLD associate to the left."""
    return f"({_node(node)})" if isinstance(node, Next | Fold) else _node(node)


def _item(item: Item) -> str:
    if item.expr is None:
        return "*"
    return render_expression(item.expr) + ("" if item.name is None else f" AS {render_name(item.name)}")
