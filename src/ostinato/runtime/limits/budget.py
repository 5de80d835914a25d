"""How much state a query may hold, how long a call may take, and what happens beyond."""

from __future__ import annotations

import warnings
from dataclasses import InitVar, dataclass, field, replace
from enum import Enum

from ostinato.base.errors import BudgetError, OstinatoError
from ostinato.program.instances import InstanceAutomaton
from ostinato.program.intervals import IntervalPattern
from ostinato.program.pattern import EventPattern, Pattern
from ostinato.program.tree import TreePattern
from ostinato.runtime.limits.machine_memory import memory_there_is

SHARE = 4  # a query may take a quarter of the memory there is, unless it is told otherwise
LEAST_SHARE = 64 << 20
MOST_COUNTED = 2**63 - 1
WAYS_OUT = "shorten WITHIN, take OUTPUT count, compressed or first, or raise the budget (ost.Budget)"


class Overflow(Enum):
    ERROR = "error"
    SHED_OLDEST = "shed oldest"


class MemoryShare(int):
    """A limit that nobody gave: a share of the memory of the machine that it was computed on."""


def memory_share(tasks: int = 1) -> MemoryShare:
    """`tasks` run beside one another."""
    return MemoryShare(max(LEAST_SHARE, memory_there_is() // SHARE // tasks))


@dataclass(frozen=True)
class Budget:
    """`runs` counts partial matches (threads of the preferred match included), `bytes` rows that are retained or wait, the match DAG, and
    the matches that are listed at a time; by default a quarter of the memory there is, on Spark divided among the tasks of a worker.
    `steps` bounds the time of one call, see `runtime.limits.steps`. None is unlimited. `overflow` is "error" or "shed oldest"; what is
    listed cannot be shed, nor can time."""

    runs: int | None = 10_000_000
    bytes: int | None = field(default_factory=memory_share)
    overflow: Overflow = Overflow.ERROR
    steps: int | None = 1_000_000_000
    beyond: InitVar[str | None] = None  # what `overflow` was called once

    def __post_init__(self, beyond: str | None) -> None:
        if beyond is not None:
            warnings.warn("Budget(beyond=) is called overflow= now", DeprecationWarning, stacklevel=3)
            object.__setattr__(self, "overflow", beyond)
        for name, limit in (("runs", self.runs), ("bytes", self.bytes), ("steps", self.steps)):
            if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
                raise OstinatoError(f"A budget of {name}={limit!r}", hint="It is a whole number from 1 on, or None for no limit")
        try:
            object.__setattr__(self, "overflow", Overflow(self.overflow))
        except ValueError:
            policies = ", ".join(repr(policy.value) for policy in Overflow)
            raise OstinatoError(f"A budget with overflow={self.overflow!r}", hint=f"It is one of {policies}") from None

    def of_task(self, tasks: int) -> Budget:
        """The same on a worker that runs so many tasks at a time: a limit that was given is that of each task."""
        return replace(self, bytes=memory_share(tasks)) if isinstance(self.bytes, MemoryShare) else self


def over_budget(pattern: Pattern | None, message: str, hint: str = WAYS_OUT) -> BudgetError:
    """The error that names the query."""
    if pattern is None:
        return BudgetError(message, hint=hint)
    if isinstance(pattern, InstanceAutomaton):
        return BudgetError(
            message,
            detail=f"The query reads {pattern.reads.stream}, in {len(pattern.states)} state{'s' * (len(pattern.states) != 1)}.",
            hint=hint,
        )
    if isinstance(pattern, IntervalPattern):
        named = ", ".join(pattern.variables)
        return BudgetError(message, detail=f"The query reads {pattern.reads.stream} for the situations {named}.", hint=hint)
    if isinstance(pattern, EventPattern):
        kind = f"{pattern.selection}, OUTPUT {pattern.output}"
    else:
        kind = "nested pattern" if isinstance(pattern, TreePattern) else "row pattern"
    shown = ", ".join(pattern.labels)
    return BudgetError(message, detail=f"The query reads {pattern.reads.stream or 'a stream'} and binds {shown} ({kind}).", hint=hint)


def too_many_matches(pattern: Pattern) -> BudgetError:
    """Counts are exact, or there is none."""
    return over_budget(
        pattern,
        f"there are more than {MOST_COUNTED:,} matches, or values in them: the count does not fit 64 bits",
        "no budget helps here: shorten WITHIN, add conditions, choose a stricter selection strategy, or take OUTPUT compressed",
    )


def in_words(size: int) -> str:
    """A number of bytes for people."""
    unit = 0
    shown = float(size)
    while shown >= 1000 and unit < 6:
        shown /= 1024
        unit += 1
    return f"{size} bytes" if unit == 0 else f"{shown:.3g} {('KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB')[unit - 1]}"
