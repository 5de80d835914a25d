"""The text of a query as its language prints it: queries that say the same have the same one."""

from __future__ import annotations

import re

from ostinato.algebra.situations import SituationStream
from ostinato.lang.registry import language_named, language_of
from ostinato.lang.several_languages import SEPARATOR
from ostinato.query import Query

PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def canonical_text(query: Query) -> str:
    """What it is compiled from again. A clause stands in the statement that every dialect reads; where that cannot be written without
    quotes, or there is more around it, the text stays as it was given."""
    several = query.language.split(SEPARATOR)
    if len(several) > 1 and any(language_named(name).is_statement for name in several):
        return query.text
    if language_of(query.text, query.language).is_statement:
        stream = query.pattern.reads.stream
        if query.upstream or query.around is not None or not PLAIN.fullmatch(stream):
            return query.text
        if isinstance(query.algebra, SituationStream):
            return f"SELECT * FROM SITUATIONS OF {stream} (\n{query.syntax}\n)"
        return f"SELECT * FROM {stream} MATCH_RECOGNIZE (\n{query.syntax}\n)"
    return ";\n".join(part.syntax for part in query.parts)
