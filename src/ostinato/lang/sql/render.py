"""A parsed clause back to text, one part a line. Parsing the text gives the same tree."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from ostinato.algebra.policies import RowsPerMatch
from ostinato.expr.times.nanoseconds import Duration
from ostinato.expr.times.temporal_text import interval_text
from ostinato.lang.sql.render_expression import folded_variable, plain_or_quoted, render_expression
from ostinato.lang.sql.syntax import (
    Edge,
    Hidden,
    InOrder,
    MatchRecognize,
    Name,
    NoRows,
    OneOf,
    OrderItem,
    PatternTree,
    Permuted,
    Repeated,
    RowVariable,
    SkipTree,
)

ROWS = {
    RowsPerMatch.ONE: "ONE ROW PER MATCH",
    RowsPerMatch.ALL: "ALL ROWS PER MATCH",
    RowsPerMatch.ALL_BUT_EMPTY: "ALL ROWS PER MATCH OMIT EMPTY MATCHES",
    RowsPerMatch.ALL_AND_UNMATCHED: "ALL ROWS PER MATCH WITH UNMATCHED ROWS",
}
QUANTIFIERS = {(0, None): "*", (1, None): "+", (0, 1): "?"}
ALTERNATIVE, ORDERED, SINGLE = range(3)  # how tightly a pattern binds


def render(tree: MatchRecognize) -> str:
    """What stands between the parentheses of MATCH_RECOGNIZE."""
    return "\n".join(_lines(tree))


def _lines(tree: MatchRecognize) -> Iterator[str]:
    if tree.partition:
        yield f"PARTITION BY {', '.join(plain_or_quoted(column.value) for column in tree.partition)}"
    if tree.order:
        yield f"ORDER BY {', '.join(map(_order, tree.order))}"
    if tree.measures:
        yield "MEASURES " + ", ".join(f"{render_expression(m.expr)} AS {plain_or_quoted(m.name.value)}" for m in tree.measures)
    yield ROWS[tree.rows.rows] + (" SHOW TIMEOUT MATCHES" if tree.rows.timeouts else "")
    yield f"AFTER MATCH SKIP {_skip(tree.skip)}"
    yield f"PATTERN ({render_pattern(tree.pattern)})"
    if tree.within is not None:
        length = tree.within.length
        yield f"WITHIN INTERVAL '{interval_text(length)}'" if isinstance(length, timedelta | Duration) else f"WITHIN {length}"
    if tree.subsets:
        yield "SUBSET " + ", ".join(f"{folded_variable(s.name.value)} = ({_variables(s.members)})" for s in tree.subsets)
    yield "DEFINE " + ", ".join(f"{folded_variable(d.variable.value)} AS {render_expression(d.condition)}" for d in tree.definitions)


def _variables(names: tuple[Name, ...]) -> str:
    return ", ".join(folded_variable(name.value) for name in names)


def _skip(skip: SkipTree) -> str:
    if skip.to is None:
        return "TO NEXT ROW" if skip.to_next_row else "PAST LAST ROW"
    return f"TO {'FIRST' if skip.to_first else 'LAST'} {folded_variable(skip.to.value)}"


def _order(item: OrderItem) -> str:
    nulls = {None: "", True: " NULLS FIRST", False: " NULLS LAST"}[item.nulls_first]
    return plain_or_quoted(item.column.value) + (" DESC" if item.descending else "") + nulls


def render_pattern(tree: PatternTree) -> str:
    return _pattern(tree)[0]


def _pattern(tree: PatternTree) -> tuple[str, int]:
    match tree:
        case RowVariable(name):
            return folded_variable(name.value), SINGLE
        case NoRows():
            return "()", SINGLE
        case Edge(start):
            return "^" if start else "$", SINGLE
        case Hidden(item):
            return f"{{- {_pattern(item)[0]} -}}", SINGLE
        case Permuted(items):
            return f"PERMUTE({', '.join(_pattern(item)[0] for item in items)})", SINGLE
        case InOrder(items):
            return " ".join(_inside(item, ORDERED) for item in items), ORDERED
        case OneOf(items):
            return " | ".join(_inside(item, ALTERNATIVE) for item in items), ALTERNATIVE
        case Repeated(item, at_least, at_most, greedy):
            inner = _inside(item, SINGLE - 1)
            if isinstance(item, Repeated):
                inner = f"({inner})"
            return f"{inner}{_quantifier(at_least, at_most)}{'' if greedy else '?'}", SINGLE


def _inside(tree: PatternTree, above: int) -> str:
    text, own = _pattern(tree)
    return text if own > above else f"({text})"


def _quantifier(at_least: int, at_most: int | None) -> str:
    if (at_least, at_most) in QUANTIFIERS:
        return QUANTIFIERS[at_least, at_most]
    if at_least == at_most:
        return f"{{{at_least}}}"
    return f"{{{at_least or ''},{'' if at_most is None else at_most}}}"
