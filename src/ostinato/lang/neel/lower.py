"""A NEEL tree to the algebra. What the language leaves open is settled in docs/languages/neel.md."""

from __future__ import annotations

from collections.abc import Mapping

from ostinato.algebra.pattern import Alternation, Conjunction, Negation, Pattern, Repetition, Sequence, Variable, Where
from ostinato.algebra.policies import MatchOrder, Output, Selection, Ties
from ostinato.algebra.query import Definition, MatchQuery, Measure, OrderKey
from ostinato.base.errors import OstinatoError, QuerySyntaxError, SchemaError, UnknownNameError, UnsupportedError
from ostinato.expr.nodes import Expr
from ostinato.expr.typing.schema import Schema
from ostinato.lang.events.returns import lower_attributes, refuse_returned
from ostinato.lang.events.syntax import BOUNDS, At, Element, Quantifier, Return
from ostinato.lang.neel.scope import Conditions
from ostinato.lang.neel.syntax import Event, Group, Member, NeelQuery, Negated, Operator, all_events, positive_events
from ostinato.lang.neel.unbounded import refuse_unbounded
from ostinato.lang.streams.choose_stream import choose_stream
from ostinato.lang.streams.given_streams import DEFAULT_TIME, Times
from ostinato.lang.streams.stream import Stream
from ostinato.lang.streams.window import lower_window

OUTPUTS = {"all": Output.ALL, "count": Output.COUNT}


def lower(
    tree: NeelQuery,
    schemas: Mapping[str, Schema],
    type_by: str | None = None,
    time: Times = DEFAULT_TIME,
    output: str | None = None,
    ties: str | None = None,
    composites: Mapping[str, str] | None = None,
) -> MatchQuery:
    """The query that `tree` means over these streams; the arguments are as for the other languages of event patterns."""
    try:
        stream = choose_stream(all_events(tree.pattern), schemas, type_by, time, composites)
        _check_ties(ties)
        return _lower(tree, stream, _output(output))
    except OstinatoError as error:
        error.within(tree.text)
        raise


def _lower(tree: NeelQuery, stream: Stream, output: Output) -> MatchQuery:
    events, positive = all_events(tree.pattern), positive_events(tree.pattern)
    refuse_unbounded(tree)
    conditions = Conditions(events, stream)
    pattern = _pattern(tree.pattern, (), conditions)
    shown, measures = _returned(tree, events, positive, stream, output)
    if measures is None and output is not Output.COUNT and stream.schema.unusable:
        own, type_, hint = stream.schema.unusable[0]
        raise SchemaError(f"Column {own} has the type {type_}, which no match can show", hint=hint)
    running = {name: tuple(found) for name, found in conditions.running.items()}
    return MatchQuery(
        stream=stream.name,
        schema=stream.schema,
        pattern=pattern,
        definitions=tuple(Definition(event.variable, running.get(event.variable, ()), stream.type_of(event)) for event in events),
        selection=Selection.ANY,
        time=stream.time,
        order=tuple(OrderKey(column) for column in (stream.time, stream.stream_number) if column is not None),
        within=lower_window(tree.window, stream.time, stream.time_type),
        output=output,
        ties=Ties.EPOCH,
        type_column=stream.type_column,
        kleene=tuple(event.variable for event in positive if event.quantifier.is_kleene),
        shown=shown,
        listed=MatchOrder.INTERVAL,
        measures=measures,
        parts=stream.parts,
        stream_number=stream.stream_number,
    )


def _pattern(member: Member, around: tuple[Event, ...], conditions: Conditions) -> Pattern:
    """`around` are the variables of everything that encloses the member."""
    if isinstance(member, Event):
        single = Variable(member.variable)
        return single if member.quantifier is Quantifier.ONE else Repetition(single, *BOUNDS[member.quantifier])
    if isinstance(member, Negated):
        own = positive_events(member.item)
        item = _pattern(member.item, (*around, *own), conditions)
        return Negation(_where(item, conditions.lower(member.conditions, own, around)), member.span)
    return _group(member, around, conditions)


def _group(group: Group, around: tuple[Event, ...], conditions: Conditions) -> Pattern:
    own = positive_events(group)
    items = tuple(_pattern(item, (*around, *own), conditions) for item in group.members)
    return _where(_joined(group, items), conditions.lower(group.conditions, own, around))


def _joined(group: Group, items: tuple[Pattern, ...]) -> Pattern:
    if group.operator is Operator.SEQ:
        return Sequence(items)
    return Alternation(items) if group.operator is Operator.OR else Conjunction(items, group.span)


def _where(item: Pattern, conditions: tuple[Expr, ...]) -> Pattern:
    return Where(item, conditions) if conditions else item


def _returned(
    tree: NeelQuery, events: tuple[Event, ...], positive: tuple[Event, ...], stream: Stream, output: Output
) -> tuple[tuple[str, ...], tuple[Measure, ...] | None]:
    """The variables that are shown as a whole, and the attributes, if the text asks for some."""
    whole = [item for item in tree.returns if _is_variable(item)]
    if not tree.returns or (len(whole) == len(tree.returns) and tree.composite is None):
        return tuple(_returned_variable(item, events, positive) for item in whole) or _named(positive), None
    if whole:
        message = "RETURN names whole events, or attributes of them, not both"
        raise UnsupportedError(message, hint="Name the attributes: a.x AS x", span=whole[0].span)
    measures = lower_attributes(tree.returns, events, positive, tree.composite, stream, output)
    return _named(positive), None if output is Output.COUNT else measures


def _named(events: tuple[Event, ...]) -> tuple[str, ...]:
    return tuple(event.variable for event in events if event.named)


def _is_variable(item: Return) -> bool:
    expr = item.expr
    return isinstance(expr, Element) and expr.attribute is None and expr.at in (At.PLAIN, At.ALL) and item.name is None


def _returned_variable(item: Return, events: tuple[Event, ...], positive: tuple[Event, ...]) -> str:
    assert isinstance(item.expr, Element)
    wanted = item.expr.variable.lower()
    found = next((event for event in events if event.named and event.variable.lower() == wanted), None)
    if found is None:
        hint = f"Its variables are {', '.join(_named(positive))}"
        raise UnknownNameError(f"`{item.expr.variable}` is not a variable of the pattern", hint=hint, span=item.span)
    refuse_returned(found, positive, item.span)
    return found.variable


def _output(output: str | None) -> Output:
    name = (output or "all").lower()
    if name in OUTPUTS:
        return OUTPUTS[name]
    if name in (known.value for known in Output):
        raise UnsupportedError(f"output={name!r} is not offered in NEEL", hint="Nested patterns have all matches, or their count")
    raise QuerySyntaxError(f"There is no output format `{name}`", hint=f"One of {', '.join(OUTPUTS)}")


def _check_ties(ties: str | None) -> None:
    if ties is None or ties.lower() == "epoch":
        return
    if ties.lower() != "order":
        raise QuerySyntaxError(f"ties={ties!r} is unknown", hint="ties is 'epoch' in NEEL")
    raise UnsupportedError("NEEL orders events strictly in time", hint="Leave ties= out: it is 'epoch'")
