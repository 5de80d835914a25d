"""Random conditions of each class of the design: static, neighbour, key and dynamic. Strategies are made once: that is most of
the time that drawing from them takes."""

from __future__ import annotations

from datetime import timedelta
from functools import cache

from hypothesis import strategies as st

from ostinato.expr.nodes import Aggregate, Anchor, Call, Expr, Field, Literal, Nav, current
from ostinato.testing.streams import EPOCH

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
NUMERIC_AGGREGATES = ("count", "sum", "avg", "min", "max", "first", "last", "stddev")

_compare = st.sampled_from(COMPARISONS)
_numeric = st.sampled_from(("v", "w", "v", "w", "m")).map(Field)
_ordered = st.sampled_from(("s", "at")).map(Field)  # values that have an order and no arithmetic
_small = st.integers(0, 3).map(Literal)
_quarter = st.integers(-4, 8).map(lambda quarters: Literal(quarters / 4))


def _call(name: str, *args: Expr) -> Call:
    return Call(name, args)


@cache
def row_bodies() -> st.SearchStrategy[Expr]:
    """Numbers of one row."""
    sums = st.builds(lambda a, b: _call("add", a, b), _numeric, _numeric)
    products = st.builds(lambda a, b: _call("mul", a, b), _numeric, _small)
    return st.one_of(_numeric, _numeric, sums, products)


@cache
def static() -> st.SearchStrategy[Expr]:
    """About the current row alone."""
    at = current
    return st.one_of(
        st.builds(lambda op, c: _call(op, at(Field("v")), c), _compare, _small),
        st.builds(lambda op, c: _call(op, at(Field("w")), c), _compare, _quarter),
        st.builds(lambda op, c: _call(op, at(Field("s")), Literal(c)), _compare, st.sampled_from(("a", "b", "z"))),
        st.builds(lambda op: _call(op, at(Field("v")), at(Field("w"))), _compare),
        st.builds(lambda body, op, c: _call(op, at(body), c), row_bodies(), _compare, _quarter),
        st.builds(lambda op, hours: _call(op, at(Field("at")), Literal(EPOCH + timedelta(hours=hours))), _compare, st.integers(0, 3)),
        st.sampled_from(("v", "w", "s", "m", "at")).map(lambda name: _call("is_null", at(Field(name)))),
    )


@cache
def neighbour() -> st.SearchStrategy[Expr]:
    """About the current row and physical neighbours in its partition."""
    shift = st.sampled_from((-2, -1, -1, 1, 2))
    moved = st.builds(lambda by, body: Nav(None, Anchor.LAST, 0, by, body), shift, row_bodies())
    ordered = st.builds(lambda op, by, body: _call(op, current(body), Nav(None, Anchor.LAST, 0, by, body)), _compare, shift, _ordered)
    return st.one_of(
        st.builds(lambda op, body, other: _call(op, current(body), other), _compare, _numeric, moved),
        ordered,
        shift.map(lambda by: _call("is_null", Nav(None, Anchor.LAST, 0, by, Field("s")))),
    )


@cache
def key(others: tuple[str, ...]) -> st.SearchStrategy[Expr]:
    """Equality with a row of another variable."""
    anchors = st.sampled_from((Anchor.FIRST, Anchor.LAST))
    return st.builds(
        lambda name, anchor, column: _call("eq", current(Field(column)), Nav(name, anchor, 0, 0, Field(column))),
        st.sampled_from(others),
        anchors,
        st.sampled_from(("q", "s", "v", "m", "at")),
    )


@cache
def dynamic(variables: tuple[str | None, ...], shifts: tuple[int, ...] = (0,)) -> st.SearchStrategy[Expr]:
    """About rows of the match so far: FIRST and LAST with offsets, running aggregates."""
    rows = st.builds(
        lambda name, anchor, offset, shift, body: Nav(name, anchor, offset, shift, body),
        st.sampled_from(variables),
        st.sampled_from((Anchor.FIRST, Anchor.LAST)),
        st.sampled_from((0, 0, 1, 2)),
        st.sampled_from(shifts),
        _numeric,
    )
    totals = aggregates(variables)
    compared = st.one_of(current_values(), _small)
    return st.one_of(
        st.builds(lambda op, a, b: _call(op, a, b), _compare, current_values(), rows),
        st.builds(lambda op, a, b: _call(op, a, b), _compare, compared, totals),
        st.builds(
            lambda op, name, anchor, offset, body: _call(op, current(body), Nav(name, anchor, offset, 0, body)),
            _compare,
            st.sampled_from(variables),
            st.sampled_from((Anchor.FIRST, Anchor.LAST)),
            st.sampled_from((0, 1)),
            _ordered,
        ),
        st.builds(
            lambda op, function, name, body: _call(op, current(body), Aggregate(function, name, body)),
            _compare,
            st.sampled_from(("min", "max", "first", "last")),
            st.sampled_from(variables),
            _ordered,
        ),
        rows.map(lambda row: _call("is_null", row)),
    )


@cache
def aggregates(variables: tuple[str | None, ...]) -> st.SearchStrategy[Expr]:
    name = st.sampled_from(variables)
    function = st.sampled_from(NUMERIC_AGGREGATES)
    return st.one_of(name.map(lambda variable: Aggregate("count", variable, None)), st.builds(Aggregate, function, name, _numeric))


@cache
def current_values() -> st.SearchStrategy[Expr]:
    return _numeric.map(current)


def combined(parts: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    """One condition, or a few under AND, OR and NOT: three-valued logic has to come out right."""
    return st.one_of(
        parts,
        parts,
        st.builds(lambda a, b: _call("and", a, b), parts, parts),
        st.builds(lambda a, b: _call("or", a, b), parts, parts),
        parts.map(lambda a: _call("not", a)),
    )
