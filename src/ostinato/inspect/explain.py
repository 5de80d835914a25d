"""What the planner decided, for people."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from functools import singledispatch

from ostinato.algebra.event_streams import EventQuery
from ostinato.algebra.pattern import is_nested, variables_of
from ostinato.algebra.policies import Selection
from ostinato.algebra.query import Definition, MatchQuery, Unit, When, Within
from ostinato.algebra.situations import MatchIntervals, SituationStream
from ostinato.automata import text as nfa_text
from ostinato.base.errors import UnsupportedError
from ostinato.expr.text import to_text
from ostinato.expr.times.nanoseconds import Duration
from ostinato.expr.times.temporal_text import interval_text
from ostinato.expr.types import Kind
from ostinato.inspect.automaton import text as event_automaton_text
from ostinato.inspect.automaton.automaton import event_automaton
from ostinato.inspect.automaton.picture import to_svg
from ostinato.inspect.interval_plan import interval_plan_text
from ostinato.inspect.nested_tree import nested_tree
from ostinato.inspect.stream_plan import stream_automaton_text, stream_plan_text
from ostinato.plan.classify import classify
from ostinato.plan.gaps import gaps_of
from ostinato.program.analysis.carried_negations import carried
from ostinato.program.analysis.joins import join_of
from ostinato.program.analysis.searches import RunOrder, Search, order_of, searched_transitions
from ostinato.program.instances import InstanceAutomaton
from ostinato.program.intervals import IntervalPattern
from ostinato.program.negation import Negation
from ostinato.program.pattern import EventPattern, Pattern, RowPattern
from ostinato.program.tree import TreePattern


@singledispatch
def plan_text(query: MatchQuery | EventQuery | MatchIntervals | SituationStream, pattern: Pattern, applied: tuple[str, ...]) -> str:
    raise TypeError(f"{type(query).__name__} is no query")


@plan_text.register
def _(query: EventQuery, pattern: Pattern, applied: tuple[str, ...]) -> str:
    assert isinstance(pattern, InstanceAutomaton)
    return stream_plan_text(pattern)


@plan_text.register(MatchIntervals)
@plan_text.register(SituationStream)
def _(query: MatchIntervals | SituationStream, pattern: Pattern, applied: tuple[str, ...]) -> str:
    assert isinstance(pattern, IntervalPattern)
    return interval_plan_text(pattern)


@plan_text.register
def _(query: MatchQuery, pattern: Pattern, applied: tuple[str, ...]) -> str:
    return "\n".join(_plan_lines(query, pattern, applied)) + "\n"


def _plan_lines(query: MatchQuery, pattern: Pattern, applied: tuple[str, ...]) -> Iterator[str]:
    yield f"strategy: {pattern.evaluation} ({pattern.reason})"
    if applied:
        yield f"rewrites: {', '.join(applied)}"
    yield f"partitions: {', '.join(pattern.reads.key_names) or 'none, the stream is one'}"
    if query.within is not None:
        yield f"window: {_window(query, query.within)}"
    if pattern.rows_per_match != "one":
        yield f"rows per match: {pattern.rows_per_match}"
    if pattern.timeouts:
        yield "timeouts: partial matches that their window ended are reported"
    yield f"columns read: {', '.join(c.name for c in pattern.reads.columns)}"
    for variable in variables_of(query.pattern):
        yield from _conditions(query, variable, query.definition(variable))
    if isinstance(pattern, TreePattern):
        # Late: what a process has loaded it compiles at its first use ever, and kernels of nested patterns are the heaviest.
        from ostinato.inspect.nested_plan import nested_plan

        yield from nested_plan(query, pattern)
        return
    if is_nested(query.pattern):
        yield "tree:"
        yield from (f"  {line}" for line in nested_tree(query))
        return
    known = carried(pattern).negations if isinstance(pattern, EventPattern) else ()
    for gap, code in zip(gaps_of(query.pattern), pattern.negations, strict=True):
        for name in gap.negated:
            yield from _conditions(query, f"~{name}", query.definition(name))
        way = CARRIED if code in known else _way(code)
        yield f"~({' '.join(gap.negated)}): {way}"
    if pattern.registers:
        yield f"a run carries: {', '.join(r.name for r in pattern.registers)}"
    if isinstance(pattern, EventPattern) and pattern.evaluation == "runs":
        yield from _run_lines(pattern)
    if isinstance(pattern, RowPattern) and pattern.evaluation == "threads":
        yield from _search_lines(pattern)
    if isinstance(pattern, EventPattern) and pattern.prefilter_bits:
        yield "rows that satisfy no variable's conditions cannot matter: Spark leaves them out before they reach Python"


def _run_lines(pattern: EventPattern) -> Iterator[str]:
    """How the run table spares work: whom an event does not meet, and who is followed as one."""
    if pattern.selection in ("skip_till_next_match", "skip_till_any_match"):
        for number, element in enumerate(pattern.elements):
            join = join_of(pattern, number)
            if join is not None:
                held = pattern.registers[join.register].name
                yield f"runs in {pattern.variables[element.variable]} wait by the value of {held}, which an event must equal"
                continue
            order = order_of(pattern, number)
            if order is not None:
                held = ", ".join(pattern.registers[register].name for register in sorted(order.registers)) or "a constant"
                target = pattern.variables[pattern.elements[order.target].variable]
                yield f"runs in {pattern.variables[element.variable]} wait in the order of {held}: an event for {target} {_asked(order)}"
    yield "equivalent runs: " + ("followed as one" if pattern.merging else "each followed by itself (merging is left out)")


def _asked(order: RunOrder) -> str:
    return f"meets those whose {'bound' if len(order.comparisons) == 1 else 'bounds'} its value satisfies"


def _search_lines(pattern: RowPattern) -> Iterator[str]:
    """Where rows are passed without being visited."""
    if not pattern.search:
        yield "rows are visited one by one (search is left out)"
        return
    shown: dict[str, None] = {}
    for state in range(len(pattern.nfa.first) - 1):
        searches = [search for transition, search in searched_transitions(pattern).items() if transition in pattern.nfa.numbers_of(state)]
        loop = "".join(_sought(pattern, search) for search in searches if search.loop)
        exits = ", ".join(_sought(pattern, search) for search in searches if not search.loop)
        if searches:
            shown[f"searched: the next row for {exits or 'nothing'}, while rows are mapped to {loop}"] = None
    yield from shown


def _sought(pattern: RowPattern, search: Search) -> str:
    name = pattern.variables[search.variable]
    return f"{name} (by a value compared with fixed ones)" if search.comparisons else name


def _conditions(query: MatchQuery, name: str, definition: Definition) -> Iterator[str]:
    if definition.event_type is not None:
        yield f"{name}: static    {query.type_column} = {definition.event_type!r}"
    for part in classify(definition, query.names_of(definition.variable)):
        when = "" if part.when is When.EACH else f" ({part.when.value})"
        yield f"{name}{when}: {part.kind.value:9} {to_text(part.expr)}"


CARRIED = "known by the rows alone: a forbidden event ends the partial matches that wait there, no match is listed for it"


def _way(negation: Negation) -> str:
    """How negated events are looked for, and when it is known that there are none."""
    way = "known by the rows alone: one look per match" if negation.is_static else "each match is compared with the events in its gap"
    ends = [word for word, negated in (("before", negation.leads), ("behind", negation.trails)) if negated]
    if ends:
        way += f"; the gap can lie {' or '.join(ends)} the match, as far as the window reaches"
    return way + ("; matches wait until nothing more can come there" if negation.trails else "")


def _window(query: MatchQuery, within: Within) -> str:
    if within.unit is Unit.EVENTS:
        return f"{within.length} events" + (" of the partition" if query.partition else "")
    own = None if query.time is None else query.schema.type_of(query.time)
    if own is not None and own.kind is Kind.INT:
        return f"{within.length} in the unit of {query.time}"
    if own is not None and own.unit == "ns" and within.length % own.ticks:
        return interval_text(Duration(within.length))
    return str(timedelta(microseconds=within.length // (1 if own is None else own.ticks)))


@singledispatch
def automaton_text(query: MatchQuery | EventQuery | MatchIntervals | SituationStream, pattern: Pattern) -> str:
    raise TypeError(f"{type(query).__name__} is no query")


@automaton_text.register
def _(query: EventQuery, pattern: Pattern) -> str:
    return stream_automaton_text(query)


@automaton_text.register
def _(query: MatchIntervals, pattern: Pattern) -> str:
    raise UnsupportedError("situations are joined, not followed by an automaton", hint='explain("plan") says in which order')


@automaton_text.register
def _(query: SituationStream, pattern: Pattern) -> str:
    raise UnsupportedError("situations are derived, not followed by an automaton", hint='explain("plan") says how')


@automaton_text.register
def _(query: MatchQuery, pattern: Pattern) -> str:
    """Of an event pattern as the paper draws it, from the algebra; of a row pattern as it is executed."""
    _refuse_nested(query)
    if query.selection is not Selection.PREFERRED:
        return event_automaton_text.to_text(event_automaton(query))
    return nfa_text.to_text(pattern.nfa, pattern.labels) if isinstance(pattern, RowPattern) else ""


def automaton_svg(query: MatchQuery | EventQuery | MatchIntervals | SituationStream) -> str:
    if not isinstance(query, MatchQuery) or query.selection is Selection.PREFERRED:
        raise UnsupportedError(
            "only the automaton of an event pattern, such as those of SASE+, is drawn",
            hint='explain("automaton") prints that of other queries',
        )
    _refuse_nested(query)
    return to_svg(event_automaton(query))


def _refuse_nested(query: MatchQuery) -> None:
    if is_nested(query.pattern):
        raise UnsupportedError(
            "a nested pattern is evaluated by searches, not by an automaton", hint='explain("plan") lists its tree and how it is searched'
        )
