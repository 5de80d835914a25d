"""SQL row pattern recognition: the MATCH_RECOGNIZE clause inside any SQL statement."""

from ostinato.lang.sql.cut import Clause, Cut, cut
from ostinato.lang.sql.explained import explained
from ostinato.lang.sql.lower import lower
from ostinato.lang.sql.parse import parse_clause
from ostinato.lang.sql.render import render
from ostinato.lang.sql.splice import Spliced
from ostinato.lang.sql.syntax import MatchRecognize
from ostinato.lang.sql.unqualified import unqualified

__all__ = ["Clause", "Cut", "MatchRecognize", "Spliced", "cut", "explained", "lower", "parse_clause", "render", "unqualified"]
