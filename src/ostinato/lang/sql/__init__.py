"""SQL row pattern recognition: the MATCH_RECOGNIZE clause inside any SQL statement."""

from ostinato.lang.sql.explained import explained
from ostinato.lang.sql.lower import lower
from ostinato.lang.sql.parse import parse_clause
from ostinato.lang.sql.render import render
from ostinato.lang.sql.splice import Spliced
from ostinato.lang.sql.split_statement import Clause, SplitStatement, split_statement
from ostinato.lang.sql.syntax import MatchRecognize
from ostinato.lang.sql.unqualified import unqualified

__all__ = [
    "Clause",
    "MatchRecognize",
    "Spliced",
    "SplitStatement",
    "explained",
    "lower",
    "parse_clause",
    "render",
    "split_statement",
    "unqualified",
]
