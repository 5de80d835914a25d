"""RETURN: the attributes of what is reported, for a match or for all matches together."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.algebra.policies import Output
from ostinato.algebra.query import Measure
from ostinato.base.errors import QuerySyntaxError, TypeMismatchError, UnsupportedError
from ostinato.expr.nodes import AGGREGATES, Anchor, Expr, Field, Literal, Nav
from ostinato.expr.reading.syntax import RawCall
from ostinato.expr.typing.infer import infer
from ostinato.lang.sase.merge import TYPE_COLUMN
from ostinato.lang.sase.negation import refuse_returned
from ostinato.lang.sase.references import STEPPING, Mention, References
from ostinato.lang.sase.stream import Stream
from ostinato.lang.sase.syntax import At, Composite, Element, Return, SaseQuery, all_components

OVER_ALL_MATCHES = ("count", "sum", "avg", "min", "max")


def lower_returns(tree: SaseQuery, stream: Stream, output: Output) -> tuple[Measure, ...] | None:
    """None: the default output. A count has no attributes; those that the text asks for are checked all the same."""
    if not tree.returns:
        if output is Output.AGGREGATES:
            raise QuerySyntaxError("OUTPUT aggregates needs a RETURN clause", hint="e.g. RETURN count(*) AS matches, avg(a[].x) AS mean")
        return None
    if output is Output.COMPRESSED:
        raise UnsupportedError(
            "Compressed output holds the events of all matches, and no attributes of each",
            hint="Leave RETURN out and compute from the decoded matches, or use OUTPUT all",
            span=tree.returns[0].span,
        )
    measures: dict[str, Measure] = {}
    for item in tree.returns:
        measure = _measure(item, tree, stream, output)
        if measure.name.lower() in measures:
            raise QuerySyntaxError(f"Two returned attributes are called `{measure.name}`", hint="Name one of them with AS", span=item.span)
        measures[measure.name.lower()] = measure
    if tree.composite is not None:
        measures = _of_event(tree.composite, stream, output) | _checked(tree, stream, measures)
    return None if output is Output.COUNT else tuple(measures.values())


def type_column(stream: Stream) -> str:
    """Where a composite event tells its type: as the events do that it is made of."""
    return stream.type_column or TYPE_COLUMN


def _of_event(composite: Composite, stream: Stream, output: Output) -> dict[str, Measure]:
    """What makes a match an event: a type, and the time at which it is complete."""
    if output in (Output.COUNT, Output.AGGREGATES, Output.TIMEOUTS):
        returned = "what did not become a match" if output is Output.TIMEOUTS else "one row about all matches"
        raise UnsupportedError(
            f"OUTPUT {output.value} returns {returned}, and no event `{composite.name}` for each",
            hint="Leave the name of the event out, or use OUTPUT all",
            span=composite.span,
        )
    time = Nav(None, Anchor.LAST, 0, 0, Field(stream.time))
    kind = Measure(type_column(stream), infer(Literal(composite.name), stream.schema))
    return {kind.name.lower(): kind, stream.time.lower(): Measure(stream.time, infer(time, stream.schema))}


def _checked(tree: SaseQuery, stream: Stream, measures: dict[str, Measure]) -> dict[str, Measure]:
    """The attributes beside these two. One may be the time itself."""
    kind, time = type_column(stream), measures.get(stream.time.lower())
    spans = {key: item.span for key, item in zip(measures, tree.returns, strict=True)}
    if kind.lower() in measures:
        raise QuerySyntaxError(
            f"`{kind}` is where the event tells its type", hint="Give the attribute another name with AS", span=spans[kind.lower()]
        )
    if time is not None and (time.expr.type is None or time.expr.type.kind is not stream.time_type.kind):
        raise TypeMismatchError(
            f"`{time.name}` is the time of the event, but this is of type {time.expr.type}",
            hint="Give the attribute another name with AS: without one of this name the event has the time of its last event",
            span=spans[stream.time.lower()],
        )
    return measures


def _measure(item: Return, tree: SaseQuery, stream: Stream, output: Output) -> Measure:
    if output is Output.AGGREGATES:
        _refuse_single(item.expr)
    references = References(all_components(tree.items), stream, counts_matches=output is Output.AGGREGATES)
    resolved = references.resolve(item.expr)
    refuse_returned(references.mentions, tree.components)
    for mention in references.mentions:
        if mention.at in STEPPING:
            raise _unfinished(mention)
    return Measure(item.name or _implied_name(item, stream), infer(resolved, stream.schema))


def _refuse_single(expr: Expr) -> None:
    """Under OUTPUT aggregates there is no one match whose events could be named."""
    for node in _outside_aggregates(expr):
        if isinstance(node, Element):
            raise UnsupportedError(
                "OUTPUT aggregates speaks of all matches together; this is a value of one of them",
                hint="Put it into an aggregate: count(*) counts matches, count(a[]) and sum(a[].x) range over the events of all of them",
                span=node.span,
            )
        if isinstance(node, RawCall) and node.name.lower() in AGGREGATES and node.name.lower() not in OVER_ALL_MATCHES:
            raise UnsupportedError(
                f"{node.name.lower()} over all matches is not offered",
                hint=f"Aggregates over all matches are {', '.join(OVER_ALL_MATCHES)}; return it for each match with OUTPUT all",
                span=node.span,
            )


def _outside_aggregates(expr: Expr) -> Iterator[Expr]:
    yield expr
    if not (isinstance(expr, RawCall) and expr.name.lower() in AGGREGATES):
        for child in expr.children():
            yield from _outside_aggregates(child)


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
