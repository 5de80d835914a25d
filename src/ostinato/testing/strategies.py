"""Hypothesis strategies for whole queries over `streams.SCHEMA`, typed, of both meanings: preferred matches and runs."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from hypothesis import strategies as st

from ostinato.algebra.pattern import Alternation, Pattern, Repetition, Sequence, variables_of
from ostinato.algebra.policies import NullKeys, Output, Selection, Skip, Ties
from ostinato.algebra.query import Condition, Definition, MatchQuery, Measure, OrderKey, Unit, When, Within
from ostinato.expr.nodes import Aggregate, Anchor, Call, Classifier, Expr, Field, Literal, MatchNumber, Nav
from ostinato.expr.typing.infer import infer
from ostinato.testing import predicates
from ostinato.testing.patterns import alternating_patterns, linear_patterns, patterns
from ostinato.testing.streams import KINDS, SCHEMA, streams

__all__ = ["alternating_patterns", "linear_patterns", "patterns", "preferred_queries", "run_queries", "streams"]

_PARTITIONS = st.sampled_from(((), (), ("p",), ("p",), ("p", "q")))
_ORDER = (OrderKey("ts"),)
OF_MATCHES = (Output.ALL, Output.NONOVERLAPPING, Output.FIRST, Output.COUNT)  # outputs that need no measures


def _typed(expr: Expr) -> Expr:
    return infer(expr, SCHEMA)


_time_windows = st.integers(0, 6).map(Within)
_event_windows = st.integers(1, 6).map(lambda length: Within(length, Unit.EVENTS))
_windows = st.one_of(st.none(), st.none(), _time_windows, _event_windows)


def _dynamic(names: tuple[str, ...]) -> st.SearchStrategy[Expr]:
    return predicates.dynamic((None, *names), shifts=(0, 0, 0, -1, 1))


@cache
def _row_conditions(names: tuple[str, ...]) -> st.SearchStrategy[tuple[Condition, ...]]:
    """Of one variable of a row pattern: columnar ones, and dynamic ones about `names`."""
    parts = st.one_of(predicates.static(), predicates.neighbour())
    if names:
        parts = st.one_of(_dynamic(names), _dynamic(names), predicates.key(names), parts)
    return st.lists(predicates.combined(parts).map(lambda expr: Condition(_typed(expr))), max_size=2).map(tuple)


@st.composite
def preferred_queries(draw: st.DrawFn, columnar: bool | None = None) -> MatchQuery:
    """ISO row patterns. `columnar` True: static and neighbour conditions only; False: at least one is dynamic, if there is a variable.
    The measures tell which rows each variable holds, and some more."""
    pattern = draw(patterns(anchors=True))
    names = variables_of(pattern)
    columnar = draw(st.booleans()) if columnar is None else columnar
    conditions = _row_conditions(() if columnar else names)
    definitions = [Definition(name, draw(conditions)) for name in names]
    if names and not columnar:
        sure = Condition(_typed(draw(_dynamic(names))))
        definitions[-1] = Definition(names[-1], (sure, *definitions[-1].conditions))
    return MatchQuery(
        stream="events",
        schema=SCHEMA,
        pattern=pattern,
        definitions=tuple(definitions),
        selection=Selection.PREFERRED,
        time="ts",
        order=_ORDER,
        partition=draw(_PARTITIONS),
        within=draw(st.none() | _time_windows),
        skip=draw(st.sampled_from((Skip.PAST_LAST_ROW, Skip.TO_NEXT_ROW))),
        kleene=names,
        measures=held(names) + draw(measures(names)),
        measured_partition=True,
    )


def held(names: tuple[str, ...]) -> tuple[Measure, ...]:
    """The number of the match, and which rows each variable holds, as a sum of `bit`."""
    rows = (Measure(f"held_{name}", _typed(Aggregate("sum", name, Field("bit")))) for name in names)
    return (Measure("number", _typed(MatchNumber())), *rows)


@cache
def measures(names: tuple[str, ...]) -> st.SearchStrategy[tuple[Measure, ...]]:
    """Navigation, aggregates, the match number and the classifier, over the finished match."""
    variables = st.sampled_from((None, *names))
    anchors = st.sampled_from((Anchor.FIRST, Anchor.LAST))
    columns = st.sampled_from(("ts", "v", "w", "m", "s", "at")).map(Field)
    expressions = st.one_of(
        st.builds(Nav, variables, anchors, st.sampled_from((0, 0, 1)), st.sampled_from((0, 0, -1, 1)), columns),
        predicates.aggregates((None, *names)),
        st.builds(lambda name, column: Aggregate("count", name, column), variables, columns),
        st.just(MatchNumber()),
        st.builds(Classifier, variables, anchors, st.sampled_from((0, 1))),
    )
    return st.lists(expressions, max_size=3).map(
        lambda found: tuple(Measure(f"m{number}", _typed(expr)) for number, expr in enumerate(found, 1))
    )


@st.composite
def run_queries(
    draw: st.DrawFn, selections: tuple[Selection, ...] = (), outputs: tuple[Output, ...] = OF_MATCHES, alternatives: bool | None = None
) -> MatchQuery:
    """SASE+ patterns under a run-based selection, with the conditions that its lowering makes. `alternatives` None: now and then."""
    selection = draw(st.sampled_from(selections or (Selection.STRICT, Selection.PARTITION, Selection.NEXT, Selection.ANY)))
    offered = [output for output in outputs if not (output is Output.FIRST and selection is Selection.ANY)]
    # skip till any match doubles the runs with every event: what it is tried on stays small
    size = 3 if selection is Selection.ANY else 4
    chosen = draw(st.sampled_from((True, False, False))) if alternatives is None else alternatives
    pattern = draw(alternating_patterns(size + 1) if chosen else linear_patterns(size))
    partition = draw(_PARTITIONS)
    typed = draw(st.sampled_from((True, False, False)))
    names = variables_of(pattern)
    definitions = tuple(draw(_run_definition(name, _repeats(pattern, name), names[:number], typed)) for number, name in enumerate(names))
    return MatchQuery(
        stream="events",
        schema=SCHEMA,
        pattern=pattern,
        definitions=definitions,
        selection=selection,
        time="ts",
        order=_ORDER,
        partition=partition,
        null_keys=NullKeys.NEVER,
        within=draw(_windows),
        output=draw(st.sampled_from(offered)),
        ties=draw(st.sampled_from((Ties.ORDER, Ties.ORDER, Ties.EPOCH))),
        type_column="kind" if typed else None,
        kleene=tuple(name for name in names if _repeats(pattern, name)),
    )


def _repeats(pattern: Pattern, name: str) -> bool:
    if isinstance(pattern, Sequence | Alternation):
        return any(_repeats(item, name) for item in pattern.items)
    return isinstance(pattern, Repetition) and pattern.at_most is None and name in variables_of(pattern)


@st.composite
def aggregated_queries(draw: st.DrawFn, selections: tuple[Selection, ...] = ()) -> MatchQuery:
    """The same patterns with aggregates over all matches as output."""
    query = draw(run_queries(selections, (Output.ALL,)))
    names = variables_of(query.pattern)
    function = st.sampled_from(("count", "sum", "avg", "min", "max"))
    columns = st.sampled_from(("v", "w", "m")).map(Field)
    expressions = st.one_of(
        st.just(Aggregate("count", None, None)),
        st.sampled_from(names).map(lambda name: Aggregate("count", name, None)),
        st.builds(Aggregate, function, st.sampled_from(names), columns),
    )
    found = draw(st.lists(expressions, min_size=1, max_size=4))
    measured = tuple(Measure(f"m{number}", _typed(expr)) for number, expr in enumerate(found, 1))
    return replace(query, output=Output.AGGREGATES, measures=measured)


@cache
def _run_definition(name: str, repeats: bool, earlier: tuple[str, ...], typed: bool) -> st.SearchStrategy[Definition]:
    each = [predicates.static()]
    if earlier:
        each += [predicates.key(earlier), predicates.dynamic(earlier)]
    kinds = [st.builds(Condition, predicates.combined(st.one_of(each)))]
    if repeats:
        kinds += [later(name), first(earlier), leaving(name, earlier)]
    condition = st.one_of(kinds).map(lambda condition: Condition(_typed(condition.expr), condition.when))
    event_type = st.sampled_from(KINDS) if typed else st.none()
    return st.builds(Definition, st.just(name), st.lists(condition, max_size=2).map(tuple), event_type)


def first(earlier: tuple[str, ...]) -> st.SearchStrategy[Condition]:
    """`x[1]...`"""
    parts = [predicates.static()] + ([predicates.dynamic(earlier)] if earlier else [])
    return st.builds(Condition, st.one_of(parts), st.just(When.FIRST))


def later(name: str) -> st.SearchStrategy[Condition]:
    """`x[i]` against `x[i-1]`, `x[1]` or an aggregate over `x[..i-1]`."""
    before = st.one_of(
        st.sampled_from(("v", "w")).map(lambda column: Nav(name, Anchor.LAST, 1, 0, Field(column))),
        st.sampled_from(("v", "w")).map(lambda column: Nav(name, Anchor.FIRST, 0, 0, Field(column))),
        st.builds(
            lambda function, column: Aggregate(function, name, Field(column), before=True),
            st.sampled_from(predicates.NUMERIC_AGGREGATES),
            st.sampled_from(("v", "w")),
        ),
    )
    compared = st.builds(lambda op, a, b: Call(op, (a, b)), st.sampled_from(predicates.COMPARISONS), predicates.current_values(), before)
    return st.builds(Condition, predicates.combined(compared), st.just(When.LATER))


def leaving(name: str, earlier: tuple[str, ...]) -> st.SearchStrategy[Condition]:
    """`x.LEN`, `x[x.LEN]` and aggregates over all of `x`."""
    values = st.one_of(predicates.aggregates((name,)), st.just(Nav(name, Anchor.LAST, 0, 0, Field("v"))))
    bounds: list[st.SearchStrategy[Any]] = [st.integers(0, 4).map(Literal)]
    if earlier:
        bounds.append(st.sampled_from(earlier).map(lambda other: Nav(other, Anchor.LAST, 0, 0, Field("v"))))
    compared = st.builds(lambda op, a, b: Call(op, (a, b)), st.sampled_from(predicates.COMPARISONS), values, st.one_of(bounds))
    return st.builds(Condition, compared, st.just(When.LEAVING))
