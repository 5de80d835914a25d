"""SASE+: PATTERN SEQ(...) WHERE strategy(...) {...} WITHIN ... RETURN ... OUTPUT ..."""

from ostinato.lang.sase.lower import lower
from ostinato.lang.sase.parse import parse, parse_queries
from ostinato.lang.sase.render import render

__all__ = ["lower", "parse", "parse_queries", "render"]
