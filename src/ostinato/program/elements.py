"""The elements of an event pattern."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Transition:
    """An element that a run may begin next. `passed` are the elements that it leaves empty by that, `nearest` says that the
    element stands next in the pattern: under skip till next match an event that can begin it is not ignored."""

    target: int
    passed: tuple[int, ...]
    nearest: bool


@dataclass(frozen=True)
class Element:
    """An element of a pattern, for runs. Blocks are numbers into `ScalarCode.blocks`, -1 none; bits are numbers of
    columnar predicates, -1 none. A row may be bound as the first of the element if bit `first_bit` holds and block
    `first_block` is true, as a later one with `later_*`. The same blocks update the run's registers after they are true.
    `leaving_block` is tested when a run in the element, or one that leaves it empty, begins another or is reported.
    `transitions` are the elements that may come next, nearest first, alternatives in their order; `completes` says that nothing mandatory
    follows, and `passed_at_end` are the elements behind it that a match reported here leaves empty."""

    variable: int
    at_least: int  # 0 or 1
    repeats: bool
    first_bit: int
    later_bit: int
    first_block: int
    later_block: int
    leaving_block: int
    transitions: tuple[Transition, ...] = ()
    completes: bool = False
    passed_at_end: tuple[int, ...] = ()
