"""Hypothesis strategies for whole queries over `streams.SCHEMA`, typed, of both meanings: preferred matches and runs."""

from __future__ import annotations

from hypothesis import strategies as st

from ostinato.algebra.pattern import Pattern, Repetition, Sequence, variables_of
from ostinato.algebra.policies import NullKeys, Output, Selection, Skip, Ties
from ostinato.algebra.query import Condition, Definition, MatchQuery, Measure, OrderKey, Unit, When, Within
from ostinato.expr.infer import infer
from ostinato.expr.nodes import Aggregate, Anchor, Call, Classifier, Expr, Field, Literal, MatchNumber, Nav
from ostinato.testing import predicates
from ostinato.testing.patterns import linear_patterns, patterns
from ostinato.testing.streams import KINDS, SCHEMA, streams

__all__ = ["linear_patterns", "patterns", "preferred_queries", "run_queries", "streams"]

_PARTITIONS = st.sampled_from(((), (), ("p",), ("p",), ("p", "q")))
_ORDER = (OrderKey("ts"),)


def _typed(expr: Expr) -> Expr:
    return infer(expr, SCHEMA)


def windows() -> st.SearchStrategy[Within | None]:
    time = st.integers(0, 6).map(lambda length: Within(length))
    events = st.integers(1, 6).map(lambda length: Within(length, Unit.EVENTS))
    return st.one_of(st.none(), st.none(), time, events)


@st.composite
def preferred_queries(draw: st.DrawFn, columnar: bool | None = None, measured: bool = True) -> MatchQuery:
    """ISO row patterns. `columnar` True: static and neighbour conditions only; False: at least dynamic ones are possible."""
    pattern = draw(patterns())
    names = variables_of(pattern)
    columnar = draw(st.booleans()) if columnar is None else columnar
    parts = st.one_of(predicates.static(), predicates.neighbour())
    if not columnar and names:
        parts = st.one_of(parts, predicates.key(names), predicates.dynamic((None, *names), shifts=(0, 0, 0, -1, 1)))
    conditions = st.lists(predicates.combined(parts).map(lambda expr: Condition(_typed(expr))), max_size=2).map(tuple)
    definitions = tuple(Definition(name, draw(conditions)) for name in names)
    within = draw(windows().filter(lambda window: window is None or window.unit is Unit.TIME))
    return MatchQuery(
        stream="events",
        schema=SCHEMA,
        pattern=pattern,
        definitions=definitions,
        selection=Selection.PREFERRED,
        time="ts",
        order=_ORDER,
        partition=draw(_PARTITIONS),
        within=within,
        skip=draw(st.sampled_from(Skip)),
        kleene=names,
        measures=draw(st.none() | measures(names)) if measured else None,
        measured_partition=True,
    )


@st.composite
def measures(draw: st.DrawFn, names: tuple[str, ...]) -> tuple[Measure, ...]:
    """Navigation, aggregates, the match number and the classifier, over the finished match."""
    variables = st.sampled_from((None, *names))
    anchors = st.sampled_from((Anchor.FIRST, Anchor.LAST))
    columns = st.sampled_from(("ts", "v", "w", "s")).map(Field)
    expressions = st.one_of(
        st.builds(Nav, variables, anchors, st.sampled_from((0, 0, 1)), st.sampled_from((0, 0, -1, 1)), columns),
        predicates.aggregates((None, *names)),
        st.builds(lambda name, column: Aggregate("count", name, column), variables, columns),
        st.just(MatchNumber()),
        st.builds(Classifier, variables, anchors, st.sampled_from((0, 1))),
    )
    found = draw(st.lists(expressions, min_size=1, max_size=3))
    return tuple(Measure(f"m{number}", _typed(expr)) for number, expr in enumerate(found, 1))


@st.composite
def run_queries(draw: st.DrawFn, selections: tuple[Selection, ...] = (), outputs: tuple[Output, ...] = tuple(Output)) -> MatchQuery:
    """SASE+ patterns under a run-based selection, with the conditions that its lowering makes."""
    selection = draw(st.sampled_from(selections or (Selection.STRICT, Selection.PARTITION, Selection.NEXT, Selection.ANY)))
    offered = [output for output in outputs if not (output is Output.FIRST and selection is Selection.ANY)]
    # skip till any match doubles the runs with every event: what it is tried on stays small
    pattern = draw(linear_patterns(3 if selection is Selection.ANY else 4))
    partition = draw(_PARTITIONS)
    typed = draw(st.booleans())
    names = variables_of(pattern)
    definitions = tuple(
        draw(_run_definition(name, _repeats(pattern, name), names[:number], typed)) for number, name in enumerate(names)
    )
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
        within=draw(windows()),
        output=draw(st.sampled_from(offered)),
        ties=draw(st.sampled_from((Ties.ORDER, Ties.ORDER, Ties.EPOCH))),
        type_column="kind" if typed else None,
        kleene=tuple(name for name in names if _repeats(pattern, name)),
    )


def _repeats(pattern: Pattern, name: str) -> bool:
    items = pattern.items if isinstance(pattern, Sequence) else (pattern,)
    return any(isinstance(item, Repetition) and item.at_most is None and name in variables_of(item) for item in items)


@st.composite
def _run_definition(draw: st.DrawFn, name: str, repeats: bool, earlier: tuple[str, ...], typed: bool) -> Definition:
    each = [predicates.static()]
    if earlier:
        each += [predicates.key(earlier), predicates.dynamic(earlier)]
    kinds = [st.builds(Condition, predicates.combined(st.one_of(each)))]
    if repeats:
        kinds += [later(name, earlier), first(earlier), leaving(name, earlier)]
    conditions = draw(st.lists(st.one_of(kinds), max_size=3))
    event_type = draw(st.sampled_from(KINDS)) if typed else None
    return Definition(name, tuple(Condition(_typed(each.expr), each.when) for each in conditions), event_type)


def first(earlier: tuple[str, ...]) -> st.SearchStrategy[Condition]:
    """`x[1]...`"""
    parts = [predicates.static()] + ([predicates.dynamic(earlier)] if earlier else [])
    return st.builds(Condition, st.one_of(parts), st.just(When.FIRST))


def later(name: str, earlier: tuple[str, ...]) -> st.SearchStrategy[Condition]:
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
    bounds = [st.integers(0, 4).map(Literal)]
    if earlier:
        bounds.append(st.sampled_from(earlier).map(lambda other: Nav(other, Anchor.LAST, 0, 0, Field("v"))))
    compared = st.builds(lambda op, a, b: Call(op, (a, b)), st.sampled_from(predicates.COMPARISONS), values, st.one_of(bounds))
    return st.builds(Condition, compared, st.just(When.LEAVING))
