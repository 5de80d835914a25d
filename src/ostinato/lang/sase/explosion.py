"""Patterns whose state can grow without bound: said when a query is compiled, not when the memory is full."""

from __future__ import annotations

from ostinato.algebra.policies import Output, Selection
from ostinato.algebra.query import MatchQuery
from ostinato.base.errors import OstinatoError
from ostinato.base.span import Span
from ostinato.lang.sase.syntax import SaseQuery

WITHOUT_ENUMERATION = (Output.COUNT, Output.AGGREGATES, Output.COMPRESSED)


class ExplosionWarning(UserWarning):
    """The partial matches of a query, or its matches, can outgrow any memory."""


def explosion(tree: SaseQuery, query: MatchQuery, runs_merge: bool) -> ExplosionWarning | None:
    """`runs_merge`: runs with the same future are one, so that where matches are not enumerated nothing grows with their number."""
    if query.within is not None or (query.output in WITHOUT_ENUMERATION and runs_merge):
        return None
    lists = [component for component in tree.components if component.quantifier.is_kleene]
    if query.selection is Selection.ANY and lists:
        shown = lists[0]
        return _warning(
            tree,
            f"The number of matches can double with every event: `{shown.variable}[ ]` may take it or skip it, and nothing ends a match",
            "Bound it with WITHIN, or use skip_till_next_match",
            shown.span,
        )
    if query.selection is Selection.ANY and len(tree.components) > 1:
        span = tree.strategy.span if tree.strategy is not None else None
        said = "Every partial match is kept for ever: any event may be skipped, and nothing ends a match"
        return _warning(tree, said, "Bound it with WITHIN, or use skip_till_next_match", span)
    if query.selection is Selection.NEXT and lists:
        shown = lists[0]
        said = f"Partial matches inside `{shown.variable}[ ]` are kept for ever: they may skip what they cannot take, and nothing ends them"
        return _warning(tree, said, "Bound it with WITHIN", shown.span)
    return None


def _warning(tree: SaseQuery, message: str, hint: str, span: Span | None) -> ExplosionWarning:
    return ExplosionWarning(str(OstinatoError(message, hint=hint, span=span, text=tree.text)))
