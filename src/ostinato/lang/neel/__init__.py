"""NEEL: PATTERN SEQ(A a, !AND(B b, C c, b.x = c.x), OR(D d, E e), a.x < d.x) WITHIN ... RETURN ..."""

from ostinato.lang.neel.lower import lower
from ostinato.lang.neel.parse import parse, parse_queries
from ostinato.lang.neel.render import render

__all__ = ["lower", "parse", "parse_queries", "render"]
