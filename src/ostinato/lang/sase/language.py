"""SASE+ as an entry of the registry."""

from __future__ import annotations

import re

from ostinato.lang.compile_options import CompileOptions
from ostinato.lang.events.with_options import with_options
from ostinato.lang.language import Language
from ostinato.lang.parsed_query import ParsedQuery
from ostinato.lang.sase.lower import lower
from ostinato.lang.sase.parse import parse_queries
from ostinato.lang.sase.render import render
from ostinato.lang.sase.syntax import SaseQuery, all_components

_BEGINNING = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*PATTERN\b", re.IGNORECASE | re.DOTALL)


def _recognise(text: str) -> bool:
    return _BEGINNING.match(text) is not None


def _parse(text: str, options: CompileOptions) -> tuple[ParsedQuery[SaseQuery], ...]:
    return tuple(_parsed(tree) for tree in parse_queries(text))


def _parsed(tree: SaseQuery) -> ParsedQuery[SaseQuery]:
    components = all_components(tree.items)
    return ParsedQuery(
        tree,
        span=components[0].span if tree.strategy is None else tree.strategy.span,
        places={component.variable: component.span for component in components},
        reads=tuple(component.event_type for component in components),
        composite=tree.composite,
    )


SASE = Language(
    name="sase",
    title="SASE+",
    suffixes=(".sase",),
    sign="begins with PATTERN",
    recognise=_recognise,
    parse=_parse,
    lower=with_options(lower),
    render=render,
    naming="Name them: RETURN Name(a.x, b.y AS z)",
)
