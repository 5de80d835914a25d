"""CEL, Cayuga's language: SELECT ... FROM FILTER {...} (a) NEXT {...} b FOLD {..., ..., ...} c PUBLISH name"""

from ostinato.lang.cel.lower import lower
from ostinato.lang.cel.parse import parse_queries
from ostinato.lang.cel.render import render
from ostinato.lang.cel.separate import separated

__all__ = ["lower", "parse_queries", "render", "separated"]
