"""The definition of what a query means: slow, plain, and held to be right. The engine is tested against it."""

from ostinato.reference.match import Match
from ostinato.reference.measures import evaluate, output

__all__ = ["Match", "evaluate", "output"]
