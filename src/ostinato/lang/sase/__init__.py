"""SASE+: PATTERN SEQ(...) WHERE strategy(...) {...} WITHIN ... RETURN ... OUTPUT ..."""

from ostinato.lang.sase.lower import lower
from ostinato.lang.sase.parse import parse
from ostinato.lang.sase.render import render

__all__ = ["lower", "parse", "render"]
