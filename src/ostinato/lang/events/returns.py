"""The attributes that a RETURN clause names, as measures of a match."""

from __future__ import annotations

from ostinato.algebra.policies import Output
from ostinato.algebra.query import Measure
from ostinato.base.errors import QuerySyntaxError, UnsupportedError
from ostinato.base.span import Span
from ostinato.expr.typing.infer import infer
from ostinato.lang.events.references import STEPPING, Mention, References
from ostinato.lang.events.syntax import At, Component, Element, Return
from ostinato.lang.parsed_query import Composite
from ostinato.lang.streams.composite_event import as_event
from ostinato.lang.streams.stream import Stream


def lower_attributes(
    returns: tuple[Return, ...],
    components: tuple[Component, ...],
    positive: tuple[Component, ...],
    composite: Composite | None,
    stream: Stream,
    output: Output,
) -> tuple[Measure, ...]:
    """`components` are all that the pattern names, `positive` those that a match holds."""
    measures: dict[str, Measure] = {}
    for item in returns:
        references = References(components, stream, counts_matches=output is Output.AGGREGATES)
        measure = _measure(item, references, positive)
        if measure.name.lower() in measures:
            raise QuerySyntaxError(f"Two returned attributes are called `{measure.name}`", hint="Name one of them with AS", span=item.span)
        measures[measure.name.lower()] = measure
    if composite is not None:
        spans = {key: item.span for key, item in zip(measures, returns, strict=True)}
        measures = as_event(composite, stream, output, measures, spans)
    return tuple(measures.values())


def _measure(item: Return, references: References, positive: tuple[Component, ...]) -> Measure:
    resolved = references.resolve(item.expr)
    for mention in references.mentions:
        refuse_returned(mention.component, positive, mention.span)
    for mention in references.mentions:
        if mention.at in STEPPING:
            raise _unfinished(mention)
    stream = references.stream
    return Measure(item.name or _implied_name(item, stream), infer(resolved, stream.schema))


def refuse_returned(component: Component, positive: tuple[Component, ...], span: Span | None) -> None:
    if component not in positive:
        raise UnsupportedError(
            f"`{component.variable}` is negated: a match holds no such event to return",
            hint="Return attributes of the variables that are not negated",
            span=span,
        )


def _unfinished(mention: Mention) -> UnsupportedError:
    name = mention.component.variable
    return UnsupportedError(
        f"RETURN speaks of a finished match: `{name}{mention.at.value}` has no meaning there",
        hint=f"Use {name}[1], {name}[{name}.LEN] or an aggregate over {name}[]",
        span=mention.span,
    )


def _implied_name(item: Return, stream: Stream) -> str:
    """A plain attribute keeps its name; anything else must be given one."""
    if isinstance(item.expr, Element) and item.expr.attribute is not None:
        found = stream.schema.find(item.expr.attribute)
        if found is not None and item.expr.at is not At.ALL:
            return found.removeprefix(stream.schema.root_of(found)).rpartition(".")[2] or found
    raise QuerySyntaxError("This returned value has no name", hint="Name it: ... AS name", span=item.span)
