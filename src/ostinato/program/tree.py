"""Nested patterns: sequences, conjunctions, alternatives and negations inside of each other.

What the nesting says about time comes down to two things. Of single events: one stands before another (`Branch.follows`), since all events
of a member of a sequence lie before all events of the next. Of what must not be there: the interval in which it must not (`Limit`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ostinato.program.pattern import Pattern


@dataclass(frozen=True)
class TreeVariable:
    """An event of the pattern, or several where it repeats. Bits and blocks as in `program.elements.Element`; blocks bind it, and have the
    conditions of its own iterations."""

    bit: int
    first_block: int = -1
    later_block: int = -1
    repeats: bool = False


@dataclass(frozen=True)
class TreeTest:
    """A condition on bound variables: a block of scalar code over registers. `equal`: it says no more than that two values are equal, as
    (variable, slot) pairs, and equal values are held alike."""

    block: int
    variables: tuple[int, ...]
    equal: tuple[tuple[int, int], tuple[int, int]] | None = None


@dataclass(frozen=True)
class Limit:
    """One end of an interval: strictly beyond all events of `variables`, or, if it `includes` them, at the first or last of their times.
    Without variables it is the end of the window."""

    variables: tuple[int, ...] = ()
    includes: bool = False

    @property
    def is_window(self) -> bool:
        return not self.variables


@dataclass(frozen=True)
class Group:
    """The variables of a nested expression, with what is nested in it."""

    variables: tuple[int, ...]
    groups: tuple[Group, ...] = ()


@dataclass(frozen=True)
class Branch:
    """One way through the alternatives of an expression. `follows` are pairs (earlier, later) of variables; `tests` are numbers of tests
    that hold where all their variables are bound; `groups` are the expressions nested in it."""

    variables: tuple[int, ...]
    follows: tuple[tuple[int, int], ...] = ()
    tests: tuple[int, ...] = ()
    negations: tuple[NegatedBranch, ...] = ()
    groups: tuple[Group, ...] = ()

    def walk(self) -> Iterator[Branch]:
        """With the negated ones in it."""
        yield self
        for negation in self.negations:
            yield from negation.branch.walk()


@dataclass(frozen=True)
class NegatedBranch:
    """No match of `branch` may lie with all its events between the limits. Its tests may speak of the variables around it; those that the
    conditions of its variables, one by one, speak of are `asked`."""

    branch: Branch
    left: Limit
    right: Limit
    asked: tuple[int, ...] = ()

    @property
    def trails(self) -> bool:
        """Whether it, or a negation in it, looks behind the match as far as the window reaches."""
        return self.right.is_window or any(inner.trails for inner in self.branch.negations)

    @property
    def leads(self) -> bool:
        return self.left.is_window or any(inner.leads for inner in self.branch.negations)

    @property
    def sees_last_instant(self) -> bool:
        """Whether events that are simultaneous with the last one of the match can lie in it."""
        return self.right.includes or any(inner.sees_last_instant for inner in self.branch.negations)


@dataclass(frozen=True)
class TreePattern(Pattern):
    """All matches of nested expressions. `evaluation` is "joins" (variables in an order chosen by what they cost), "iterative" (outer
    events first, nested expressions for each of their combinations), "object cache" or "semantic cache" (the same, with the matches of
    nested expressions kept). Of the tree's variables the first, those that a match shows, are `variables`; the others are negated."""

    tree: tuple[TreeVariable, ...] = ()
    negated: tuple[str, ...] = ()  # the names of the negated ones
    tests: tuple[TreeTest, ...] = ()
    branches: tuple[Branch, ...] = ()
    output: str = "all"
    shown: tuple[int, ...] | None = None  # the variables of the default output; None: all
    by_cost: bool = False  # whether another evaluation is taken where it is expected to look at less
    chains: bool = True  # whether events are found by equal values
    reorders: bool = True  # whether the order of variables follows what it costs
    cuts: bool = True  # whether what was found to be there ends the search for earlier events
    prefilter_bits: tuple[int, ...] = ()  # rows with none of these bits cannot matter

    @property
    def names(self) -> tuple[str, ...]:
        """Of all variables of the tree."""
        return (*self.variables, *self.negated)

    @property
    def selects_events(self) -> bool:
        return True

    @property
    def shown_variables(self) -> tuple[int, ...]:
        return tuple(range(len(self.variables))) if self.shown is None else self.shown

    @property
    def counts_events(self) -> bool:
        """Whether the events that come last in the search may be counted instead of taken: no match is asked for, by nobody."""
        return self.output == "count" and self.evaluation == "joins" and not self.trails

    @property
    def is_decided_by_time(self) -> bool:
        return self.timed_window >= 0 or self.sees_last_instant

    @property
    def trails(self) -> bool:
        """Whether matches wait for what comes behind them."""
        return any(negation.trails for branch in self.branches for negation in branch.negations)

    @property
    def leads(self) -> bool:
        return any(negation.leads for branch in self.branches for negation in branch.negations)

    @property
    def sees_last_instant(self) -> bool:
        return any(negation.sees_last_instant for branch in self.branches for negation in branch.negations)
