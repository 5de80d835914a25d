"""A body that stands for many queries, as it is evaluated: over rows of events and constants."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TypeVar

from ostinato.expr.types import INT, Kind
from ostinato.program.input import Column, Input
from ostinato.program.pattern import Pattern

PARAMETER = "?"  # before the number of a constant, in the name of its column
HELD = (Kind.BOOL, Kind.INT, Kind.FLOAT, Kind.DECIMAL, Kind.STRING, Kind.DATE, Kind.TIMESTAMP, Kind.INTERVAL)  # kinds of constants
QUERY = f"{PARAMETER}query"  # the number of the query that a row is for

AnyPattern = TypeVar("AnyPattern", bound=Pattern)


@lru_cache(256)  # it is asked for again and again, and what is verified is known by its identity
def expanded(pattern: AnyPattern) -> AnyPattern:
    """As it is evaluated: over rows that have the constants of their query, keyed by its number first."""
    return replace(pattern, reads=expanded_input(pattern.reads))


def expanded_input(reads: Input) -> Input:
    added = (*reads.parameters, Column(QUERY, INT))
    columns = (*reads.columns, *added)
    return replace(reads, columns=columns, keys=(len(columns) - 1, *reads.keys), parameters=added, queries=b"", shape="")
