"""The random situations of Körber's thesis, section 5.7.1: one event per second with a truth value for each definition. A situation lasts
10 to 100 seconds, the next one begins 10 to 50 after it; both uniform."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

LASTS = (10, 100)
RESTS = (10, 50)


@dataclass(frozen=True)
class Kind:
    """Of situations: how long they last and rest, in seconds, both bounds included."""

    lasts: tuple[int, int] = LASTS
    rests: tuple[int, int] = RESTS


def intervals(seconds: int, kind: Kind, random: np.random.Generator) -> np.ndarray:
    """Starts and ends within so many seconds, a line each."""
    count = 2 + seconds // (sum(kind.lasts) // 2 + sum(kind.rests) // 2) * 2
    rests = random.integers(kind.rests[0], kind.rests[1] + 1, count)
    lasts = random.integers(kind.lasts[0], kind.lasts[1] + 1, count)
    ends = np.cumsum(rests + lasts)
    found = np.stack([ends - lasts, ends], axis=1)
    return found[ends < seconds]


def events(seconds: int, kinds: Mapping[str, Kind], seed: int = 5, first: int = 0) -> tuple[pa.Table, dict[str, np.ndarray]]:
    """A row per second, and the situations in it. Each kind has a generator of its own, so that another one beside it changes nothing."""
    columns: dict[str, np.ndarray] = {"ts": first + np.arange(seconds)}
    known = {}
    for number, (name, kind) in enumerate(kinds.items()):
        known[name] = intervals(seconds, kind, np.random.default_rng((seed, number)))
        steps = np.zeros(seconds + 1, np.int8)
        steps[known[name][:, 0]] += 1
        steps[known[name][:, 1]] -= 1
        columns[name.lower()] = np.cumsum(steps[:-1], dtype=np.int8).astype(bool)
        known[name] = known[name] + first
    return pa.table(columns), known


def defined(names: str | list[str], pattern: str, within: int, returns: str = "") -> str:
    """The query over such events, in which each situation is one of the columns."""
    listed = ", ".join(f"{name} AS {name.lower()}" for name in names)
    return f"FROM s DEFINE {listed} PATTERN {pattern} WITHIN {within} {returns}"
