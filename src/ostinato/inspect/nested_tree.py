"""A nested pattern drawn as its text nests: a member a line, with the conditions that stand behind the members."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ostinato.algebra.pattern import Alternation, Conjunction, Empty, Negation, Pattern, Repetition, Sequence, Variable, Where, parts_of
from ostinato.algebra.query import MatchQuery
from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Expr
from ostinato.expr.text import to_text

WORDS = {Sequence: "SEQ", Conjunction: "AND", Alternation: "OR"}


def nested_tree(query: MatchQuery) -> Iterator[str]:
    yield from _lines(query.pattern, query, "", "")


def _lines(pattern: Pattern, query: MatchQuery, first: str, further: str) -> Iterator[str]:
    """`first` stands before the line of the pattern itself, `further` before those of its members."""
    item, conditions, mark = pattern, [], ""
    while isinstance(item, Where | Negation):
        if isinstance(item, Where):
            conditions += [_condition(condition, query) for condition in item.conditions]
        else:
            mark += "!"
        item = item.item
    said = f"  where {', '.join(conditions)}" if conditions else ""
    yield f"{first}{mark}{_name(item, query)}{said}"
    members = () if isinstance(item, Repetition) else parts_of(item)
    for number, member in enumerate(members):
        is_last = number == len(members) - 1
        yield from _lines(member, query, further + ("└ " if is_last else "├ "), further + ("  " if is_last else "│ "))


def _condition(condition: Expr, query: MatchQuery) -> str:
    """The last event of a variable that has one is that event."""
    return re.sub(r"LAST\((\w+)\.(\w+)\)", lambda at: at[0] if at[1] in query.kleene else f"{at[1]}.{at[2]}", to_text(condition))


def _name(item: Pattern, query: MatchQuery) -> str:
    match item:
        case Variable(name):
            return f"{query.definition(name).event_type or query.stream} {name}"
        case Repetition(Variable(name), at_least, at_most):
            mark = "?" if at_most == 1 else "+" if at_least else "*"
            return f"{query.definition(name).event_type or query.stream}{mark} {name}{'' if at_most == 1 else '[ ]'}"
        case Sequence() | Conjunction() | Alternation():
            return WORDS[type(item)]
        case Empty():
            return "nothing"
    raise UnsupportedError(f"{type(item).__name__} does not stand in a nested pattern")
