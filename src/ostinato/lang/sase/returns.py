"""RETURN: the attributes of what is reported, for a match or for all matches together."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.algebra.policies import Output
from ostinato.algebra.query import Measure
from ostinato.base.errors import QuerySyntaxError, UnsupportedError
from ostinato.expr.nodes import AGGREGATES, Expr
from ostinato.expr.typing.infer import infer
from ostinato.expr.unresolved import RawCall
from ostinato.lang.sase.negation import refuse_returned
from ostinato.lang.sase.references import STEPPING, Mention, References
from ostinato.lang.sase.syntax import At, Element, Return, SaseQuery, all_components
from ostinato.lang.streams.composite_event import as_event
from ostinato.lang.streams.stream import Stream

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
        spans = {key: item.span for key, item in zip(measures, tree.returns, strict=True)}
        measures = as_event(tree.composite, stream, output, measures, spans)
    return None if output is Output.COUNT else tuple(measures.values())


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
