"""A SASE+ tree to the algebra. What the language leaves open is settled in docs/languages/sase.md."""

from __future__ import annotations

from collections.abc import Mapping

from ostinato.algebra.pattern import Alternation, Negation, Pattern, Repetition, Sequence, Variable
from ostinato.algebra.policies import NullKeys, Output, Selection, Ties
from ostinato.algebra.query import Condition, Definition, MatchQuery, Measure, OrderKey
from ostinato.base.errors import OstinatoError, QuerySyntaxError, SchemaError, UnsupportedError
from ostinato.expr.nodes import Field
from ostinato.expr.typing.coerce import refuse_opaque
from ostinato.expr.typing.schema import Schema
from ostinato.lang.events.references import find_column
from ostinato.lang.events.syntax import BOUNDS, Component, Equivalence, Quantifier
from ostinato.lang.sase import syntax
from ostinato.lang.sase.conditions import lower_conjuncts
from ostinato.lang.sase.negation import refuse_unbounded
from ostinato.lang.sase.returns import lower_returns
from ostinato.lang.sase.syntax import Alternatives, Item, SaseQuery, all_components
from ostinato.lang.sase.timeouts import refuse_timeouts
from ostinato.lang.streams.choose_stream import choose_stream
from ostinato.lang.streams.given_streams import DEFAULT_TIME, Times
from ostinato.lang.streams.stream import Stream
from ostinato.lang.streams.window import lower_window

DEFAULT_SELECTION = Selection.NEXT
OUTPUTS = {output.value: output for output in Output}


def lower(
    tree: SaseQuery,
    schemas: Mapping[str, Schema],
    type_by: str | None = None,
    time: Times = DEFAULT_TIME,
    output: str | None = None,
    ties: str | None = None,
    composites: Mapping[str, str] | None = None,
) -> MatchQuery:
    """The query that `tree` means over these streams. `output` and `ties` are what the caller asks for beside the text; `composites` are
    those of the streams that are events of earlier queries in the same text, each with its time column."""
    try:
        stream = choose_stream(all_components(tree.items), schemas, type_by, time, composites)
        return _lower(tree, stream, output, ties)
    except OstinatoError as error:
        error.within(tree.text)
        raise


def _lower(tree: SaseQuery, stream: Stream, output: str | None, ties: str | None) -> MatchQuery:
    components = tree.components
    negated = tuple(component for item in tree.items if isinstance(item, syntax.Negation) for component in item.components)
    refuse_unbounded(tree)
    selection = DEFAULT_SELECTION if tree.strategy is None else Selection(tree.strategy.name)
    chosen = _output(tree, output, selection)
    if chosen is Output.TIMEOUTS:
        refuse_timeouts(tree)
    plain = tuple(conjunct for conjunct in tree.conjuncts if not isinstance(conjunct, Equivalence))
    conditions = lower_conjuncts(plain, tree.items, stream)
    measures = lower_returns(tree, stream, chosen)
    partition = _partition(tree, stream)
    _check_shown(measures, chosen, stream)
    return MatchQuery(
        stream=stream.name,
        schema=stream.schema,
        pattern=_sequence(tree.items),
        definitions=tuple(_definition(component, conditions[component.variable], stream) for component in (*components, *negated)),
        selection=selection,
        time=stream.time,
        order=tuple(OrderKey(column) for column in (stream.time, stream.stream_number) if column is not None),
        partition=partition,
        null_keys=NullKeys.NEVER if partition else NullKeys.GROUP,
        within=lower_window(tree.window, stream.time, stream.time_type),
        output=chosen,
        ties=_ties(ties),
        type_column=stream.type_column,
        kleene=tuple(component.variable for component in components if component.quantifier.is_kleene),
        measures=measures,
        parts=stream.parts,
        stream_number=stream.stream_number,
    )


def _check_shown(measures: tuple[Measure, ...] | None, output: Output, stream: Stream) -> None:
    """Whole events are shown with all their attributes, or not at all."""
    if measures is None and output is not Output.COUNT and stream.schema.unusable:
        own, type_, hint = stream.schema.unusable[0]
        raise SchemaError(f"Column {own} has the type {type_}, which no match can show", hint=hint)


def _sequence(items: tuple[Item, ...]) -> Sequence:
    return Sequence(tuple(map(_pattern, items)))


def _pattern(item: Item) -> Pattern:
    if isinstance(item, Alternatives):
        return Alternation(tuple(map(_one_or_sequence, item.branches)))
    if isinstance(item, syntax.Negation):
        return Negation(_one_or_sequence(item.components), item.span)
    return _repeated(item)


def _one_or_sequence(items: tuple[Item, ...]) -> Pattern:
    return _pattern(items[0]) if len(items) == 1 else _sequence(items)


def _repeated(component: Component) -> Pattern:
    variable = Variable(component.variable)
    if component.quantifier is Quantifier.ONE:
        return variable
    return Repetition(variable, *BOUNDS[component.quantifier])


def _definition(component: Component, conditions: tuple[Condition, ...], stream: Stream) -> Definition:
    return Definition(component.variable, conditions, stream.type_of(component))


def _partition(tree: SaseQuery, stream: Stream) -> tuple[str, ...]:
    """All events have these attributes, forbidden ones too."""
    tests = (conjunct for conjunct in tree.conjuncts if isinstance(conjunct, Equivalence))
    named = [attribute for test in tests for attribute in test.attributes]
    components = all_components(tree.items)
    found = {find_column(stream, component, name, span): span for name, span in named for component in components}
    for column, span in found.items():
        refuse_opaque((Field(column, span=span, type=stream.schema.type_of(column)),), "An equivalence test")
    return tuple(found)


def _output(tree: SaseQuery, argument: str | None, selection: Selection) -> Output:
    clause = tree.output
    span = clause.span if clause is not None else None
    if clause is not None and argument is not None and argument.lower() != clause.name:
        raise QuerySyntaxError(f"The text says OUTPUT {clause.name}, the argument output={argument!r}", hint="Give one of them", span=span)
    name = clause.name if clause is not None else (argument or "all").lower()
    if name not in OUTPUTS:
        raise QuerySyntaxError(f"There is no output format `{name}`", hint=f"One of {', '.join(OUTPUTS)}", span=span)
    if OUTPUTS[name] is Output.FIRST and selection is Selection.ANY:
        raise UnsupportedError(
            "One match per start (`first`) is not offered under skip_till_any_match",
            detail="Every event may be skipped there, so no match of a start comes before the others.",
            hint="Use skip_till_next_match, or OUTPUT all | nonoverlapping | count | aggregates",
            span=span if span is not None else (tree.strategy.span if tree.strategy else None),
        )
    return OUTPUTS[name]


def _ties(ties: str | None) -> Ties:
    if ties is None:
        return Ties.ORDER
    if ties.lower() not in ("order", "epoch"):
        raise QuerySyntaxError(f"ties={ties!r} is unknown", hint="ties is 'order' or 'epoch'")
    return Ties(ties.lower())
