"""Event patterns whose events are compared with run after run, although none may take them.

Under skip till next match a run waits until an event satisfies it. What takes an event is paid for: a run moves on as often as its
pattern is long. But where runs neither wait by the value of an equality nor in the order of a bound, or where a condition is left
beside that, an event meets runs that refuse it, and without a window they stay."""

from __future__ import annotations

from ostinato.program.analysis.comparisons import EQ, BlockTests, block_tests
from ostinato.program.analysis.joins import Join, join_of, transitions_of
from ostinato.program.analysis.searches import RunOrder, order_of
from ostinato.program.pattern import EventPattern


def met_in_vain(pattern: EventPattern) -> int | None:
    """A variable for which an event can be compared with all runs that wait, in vain; None if there is none, or nobody wants to know."""
    if pattern.evaluation != "runs" or pattern.selection != "skip_till_next_match" or not pattern.search:
        return None
    for state, waiting in enumerate(pattern.elements):
        join = join_of(pattern, state)
        order = None if join is not None else order_of(pattern, state)
        for target, taken in transitions_of(waiting, state):
            element = pattern.elements[target]
            tests = block_tests(pattern.scalar, element.later_block if taken else element.first_block)
            if tests.asks and not _meets_takers(tests, target, taken, join, order):
                return element.variable
    return None


def _meets_takers(tests: BlockTests, target: int, taken: bool, join: Join | None, order: RunOrder | None) -> bool:
    """Whether the runs that an event meets are those that take it."""
    if tests.unknown:
        return False
    if join is not None:
        asked = (*tests.comparisons, *tests.wider)
        return target in join.slots and len(asked) == 1 and asked[0].relation == EQ
    return order is not None and (order.target, order.taken) == (target, taken) and (
        len(order.comparisons) == len(tests.comparisons) + len(tests.wider)
    )  # fmt: skip
