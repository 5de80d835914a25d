"""Columns that a result has beside those of the variables: no variable may be called like one of them."""

from __future__ import annotations

from typing import Any

from ostinato.algebra.pattern import variables_of
from ostinato.algebra.policies import Output
from ostinato.algebra.query import MatchQuery
from ostinato.base.errors import QuerySyntaxError
from ostinato.lang.parsed_query import ParsedQuery

OF_EVERY_MATCH = ("match_id", "start_ts", "end_ts")


def check_added_columns(parsed: ParsedQuery[Any], query: MatchQuery) -> None:
    """A name in another case is the same one for Spark and DuckDB."""
    if query.measures is not None or query.output is Output.COUNT:
        return
    variables = variables_of(query.pattern) if query.shown is None else query.shown
    taken = next((name for name in variables if name.lower() in OF_EVERY_MATCH), None)
    if taken is not None:
        said = f"A variable cannot be called `{taken}` here: matches have a column of that name"
        raise QuerySyntaxError(said, hint="Give it another name, or RETURN what you need", span=parsed.places.get(taken, parsed.span))
