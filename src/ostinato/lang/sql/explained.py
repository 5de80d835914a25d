"""EXPLAIN before a statement with MATCH_RECOGNIZE. Tokenizers of hosts take it for a command of theirs, and all that follows for a text."""

from __future__ import annotations

import re

from ostinato.base.errors import UnsupportedError
from ostinato.base.query_text import check_text
from ostinato.base.span import Span
from ostinato.lang.sql.input_table import KEYWORD, SITUATIONS

_SPACE = r"(?:\s|--[^\n]*+|/\*(?>.*?\*/))*+"  # possessive: comments could be put together in very many ways
_EXPLAIN = re.compile(rf"{_SPACE}(?P<word>EXPLAIN)\b{_SPACE}(?P<next>\w+|\(\s*\w+)", re.IGNORECASE | re.DOTALL)
_CLAUSE = re.compile(rf"\b(?:{KEYWORD}\s*\(|{SITUATIONS}\s+OF\b)", re.IGNORECASE)
_STATEMENTS = ("SELECT", "WITH", "FROM", "VALUES", "(SELECT", "(WITH", "(FROM", "(VALUES", "TABLE")


def explained(text: str) -> str | None:
    """The statement that is to be explained, every word in its place; None where nothing is, or where the host has to."""
    found = _EXPLAIN.match(check_text(text))
    if found is None or _CLAUSE.search(text) is None:
        return None
    if re.sub(r"\s", "", found["next"]).upper() not in _STATEMENTS:
        raise UnsupportedError(
            "EXPLAIN takes no options here",
            hint='Write EXPLAIN SELECT ...; for the stages of the query ost.compile(...).explain("program"), on Spark engine.explain(...)',
            span=Span(found.start("word"), found.end("next")),
        ).within(text)
    end = found.end("word")
    return re.sub(r"[^\n]", " ", text[:end]) + text[end:]
