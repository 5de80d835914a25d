"""What is said beside a text, as the languages of event patterns take it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ostinato.algebra.query import MatchQuery
from ostinato.lang.compile_options import CompileOptions
from ostinato.lang.streams.given_streams import DEFAULT_TIME
from ostinato.lang.streams.known_streams import KnownStreams


def with_options(lower: Callable[..., MatchQuery]) -> Callable[[Any, KnownStreams, CompileOptions], MatchQuery]:
    """`lower` takes a tree, the schemas of streams, and the options that event patterns have, by name."""

    def lowered(tree: Any, streams: KnownStreams, options: CompileOptions) -> MatchQuery:
        return lower(
            tree,
            streams.schemas,
            type_by=options.type_by,
            time=options.time or DEFAULT_TIME,
            output=options.output,
            ties=options.ties,
            composites=streams.composites,
        )

    return lowered
